//! Candidate deltas: proposals, as they were made. Nothing in them is trusted yet (invariant 6).
//!
//! A [`ProposedDelta`] borrows its texts from whoever proposes, so that reading a million of them copies nothing. A
//! [`DeltaProposal`] is a candidate, or whatever could be read of something that is none: the reconciler gives that its
//! position and its code too.

use crate::vocabulary::{ConfidenceLevel, DeltaKind, ItemKind, RevisionMode};
use probity_core::Digest;
use probity_core::digest::DigestHasher;

/// The longest text a candidate may carry.
pub const MAX_TEXT_BYTES: usize = 1 << 20;

/// How many sources one candidate may name.
pub const MAX_SOURCES: usize = 4096;

/// How many alternatives a branch may have.
pub const MAX_ALTERNATIVES: usize = 256;

/// Where something was said: a turn, and perhaps which part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TurnSource<'a> {
    /// The id of the turn.
    pub turn: &'a str,
    /// The bytes from start to before end.
    pub range: Option<(u64, u64)>,
}

impl<'a> TurnSource<'a> {
    /// A whole turn.
    pub const fn turn(turn: &'a str) -> Self {
        Self { turn, range: None }
    }
}

/// A proposed change to the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProposedDelta<'a> {
    /// Recognises a redelivery of the same delta.
    pub key: Option<&'a str>,
    /// Where it comes from.
    pub sources: Vec<TurnSource<'a>>,
    /// What is proposed.
    pub delta: ItemDelta<'a>,
}

/// What a candidate proposes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ItemDelta<'a> {
    /// A new item under a handle of the proposer's choice.
    Create {
        /// The name that later deltas use for the item.
        handle: &'a str,
        /// What it says.
        content: ItemContent<'a>,
    },
    /// A change to an item that exists.
    Change {
        /// A handle of the item.
        target: &'a str,
        /// What changes.
        change: ItemChange<'a>,
    },
}

/// What a new item says.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields are those of the delta kinds and mean what they say")]
pub enum ItemContent<'a> {
    Goal { summary: &'a str, confidence: ConfidenceLevel },
    Decision { summary: &'a str, confidence: ConfidenceLevel },
    Fact { summary: &'a str, confidence: ConfidenceLevel },
    Hypothesis { summary: &'a str, confidence: ConfidenceLevel },
    Constraint { summary: &'a str, hard: bool },
    Task { summary: &'a str },
    Branch { alternatives: Vec<&'a str> },
}

/// What changes about an item.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields are those of the delta kinds and mean what they say")]
pub enum ItemChange<'a> {
    ReviseDecision { summary: &'a str, confidence: Option<ConfidenceLevel> },
    ReviseConstraint { summary: &'a str, mode: Option<RevisionMode> },
    Confidence { confidence: ConfidenceLevel },
    CloseTask { resolution: &'a str },
    CloseGoal { resolution: &'a str },
    Supersede { reason: &'a str, by: Option<&'a str> },
    Promote { confidence: Option<ConfidenceLevel> },
    ResolveBranch { handle: &'a str, chosen: &'a str, confidence: Option<ConfidenceLevel> },
    ReopenTask { handle: &'a str, reason: &'a str },
    CorrectFact { handle: &'a str, summary: &'a str, confidence: Option<ConfidenceLevel> },
}

/// A candidate, or what could be read of something that is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeltaProposal<'a> {
    pub(crate) key: Option<&'a str>,
    pub(crate) kind: Option<DeltaKind>,
    /// `None`: something is named as a source, but nothing could be read of it.
    pub(crate) sources: Option<Vec<TurnSource<'a>>>,
    /// The delta, or the name of the field that is wrong.
    pub(crate) delta: Result<ItemDelta<'a>, &'static str>,
}

impl<'a> From<ProposedDelta<'a>> for DeltaProposal<'a> {
    fn from(candidate: ProposedDelta<'a>) -> Self {
        let kind = Some(candidate.delta.kind());
        let delta = match candidate.invalid_field() {
            None => Ok(candidate.delta),
            Some(field) => Err(field),
        };
        Self { key: candidate.key, kind, sources: Some(candidate.sources), delta }
    }
}

impl DeltaProposal<'_> {
    /// The field that is missing, extra or wrong, if one is.
    pub fn faulty_field(&self) -> Option<&'static str> {
        self.delta.as_ref().err().copied()
    }

    /// The handle or target that the delta is about; empty if it could not be read.
    pub(crate) fn subject_handle(&self) -> &str {
        match &self.delta {
            Ok(ItemDelta::Create { handle, .. }) => handle,
            Ok(ItemDelta::Change { target, .. }) => target,
            Err(_) => "",
        }
    }

    /// The item that the delta would end or promote: the one whose status it changes.
    pub(crate) fn ended_item(&self) -> Option<&str> {
        match &self.delta {
            Ok(ItemDelta::Change { target, change }) => match change {
                ItemChange::ReviseDecision { .. }
                | ItemChange::ReviseConstraint { .. }
                | ItemChange::Confidence { .. } => None,
                _ => Some(target),
            },
            _ => None,
        }
    }

    /// The words that the delta brings, if it brings any.
    pub(crate) fn main_text(&self) -> Option<&str> {
        let mut words = None;
        if let Ok(delta) = &self.delta {
            delta.each_text(&mut |name, text| {
                if !matches!(name, "handle" | "target" | "by") {
                    words = words.or(Some(text));
                }
            });
        }
        words
    }

    /// Tells this delta from every other: a digest over all that it says.
    pub(crate) fn fingerprint(&self) -> Option<Digest> {
        let delta = self.delta.as_ref().ok()?;
        let mut print = FingerprintWriter::default();
        print.word(delta.kind().as_str());
        print.delta(delta);
        for source in self.sources.iter().flatten() {
            print.text(source.turn);
            let (start, end) = source.range.unwrap_or((0, 0));
            print.0.update(&start.to_be_bytes());
            print.0.update(&end.to_be_bytes());
        }
        Some(print.0.finish())
    }
}

impl ProposedDelta<'_> {
    /// The first field whose value is not allowed.
    fn invalid_field(&self) -> Option<&'static str> {
        let blank_key = self.key.is_some_and(is_blank);
        blank_key.then_some("key").or_else(|| invalid_sources(&self.sources)).or_else(|| self.delta.fault())
    }
}

fn invalid_sources(sources: &[TurnSource<'_>]) -> Option<&'static str> {
    let empty_range = |source: &TurnSource<'_>| source.range.is_some_and(|(start, end)| start >= end);
    (sources.len() > MAX_SOURCES || sources.iter().any(empty_range)).then_some("sources")
}

impl<'a> ItemDelta<'a> {
    /// The kind of the delta.
    pub const fn kind(&self) -> DeltaKind {
        match self {
            Self::Create { content, .. } => match content {
                ItemContent::Goal { .. } => DeltaKind::GoalSet,
                ItemContent::Decision { .. } => DeltaKind::DecisionMade,
                ItemContent::Fact { .. } => DeltaKind::FactLearned,
                ItemContent::Hypothesis { .. } => DeltaKind::HypothesisIntroduced,
                ItemContent::Constraint { .. } => DeltaKind::ConstraintAdded,
                ItemContent::Task { .. } => DeltaKind::TaskOpened,
                ItemContent::Branch { .. } => DeltaKind::BranchCreated,
            },
            Self::Change { change, .. } => change.kind(),
        }
    }

    /// The first field whose value is not allowed: blank or too long, or alternatives that are none.
    pub(crate) fn fault(&self) -> Option<&'static str> {
        let mut fault = None;
        self.each_text(&mut |name, text| {
            if fault.is_none() && (is_blank(text) || text.len() > MAX_TEXT_BYTES) {
                fault = Some(name);
            }
        });
        if let Self::Create { content: ItemContent::Branch { alternatives }, .. } = self {
            fault = fault.or_else(|| (!are_alternatives(alternatives)).then_some("alternatives"));
        }
        fault
    }

    fn each_text(&self, look: &mut impl FnMut(&'static str, &'a str)) {
        match self {
            Self::Create { handle, content } => {
                look("handle", handle);
                content.each_text(look);
            }
            Self::Change { target, change } => {
                look("target", target);
                change.each_text(look);
            }
        }
    }
}

impl<'a> ItemContent<'a> {
    /// The kind of the new item.
    pub const fn item_kind(&self) -> ItemKind {
        match self {
            Self::Goal { .. } => ItemKind::Goal,
            Self::Decision { .. } => ItemKind::Decision,
            Self::Fact { .. } => ItemKind::Fact,
            Self::Hypothesis { .. } => ItemKind::Hypothesis,
            Self::Constraint { .. } => ItemKind::Constraint,
            Self::Task { .. } => ItemKind::Task,
            Self::Branch { .. } => ItemKind::Branch,
        }
    }

    /// How sure a new item of this content is.
    pub const fn confidence(&self) -> ConfidenceLevel {
        match self {
            Self::Goal { confidence, .. }
            | Self::Decision { confidence, .. }
            | Self::Fact { confidence, .. }
            | Self::Hypothesis { confidence, .. } => *confidence,
            Self::Constraint { hard: true, .. } => ConfidenceLevel::Certain,
            Self::Constraint { hard: false, .. } | Self::Task { .. } => ConfidenceLevel::High,
            Self::Branch { .. } => ConfidenceLevel::Medium,
        }
    }

    /// Whether it is a constraint that nothing may break.
    pub const fn is_hard(&self) -> bool {
        matches!(self, Self::Constraint { hard: true, .. })
    }

    fn each_text(&self, look: &mut impl FnMut(&'static str, &'a str)) {
        match self {
            Self::Goal { summary, .. }
            | Self::Decision { summary, .. }
            | Self::Fact { summary, .. }
            | Self::Hypothesis { summary, .. }
            | Self::Constraint { summary, .. }
            | Self::Task { summary } => look("summary", summary),
            Self::Branch { alternatives } => {
                for alternative in alternatives {
                    look("alternatives", alternative);
                }
            }
        }
    }
}

impl<'a> ItemChange<'a> {
    const fn kind(&self) -> DeltaKind {
        match self {
            Self::ReviseDecision { .. } => DeltaKind::DecisionRevised,
            Self::ReviseConstraint { .. } => DeltaKind::ConstraintRevised,
            Self::Confidence { .. } => DeltaKind::ConfidenceChanged,
            Self::CloseTask { .. } => DeltaKind::TaskClosed,
            Self::CloseGoal { .. } => DeltaKind::GoalClosed,
            Self::Supersede { .. } => DeltaKind::ItemSuperseded,
            Self::Promote { .. } => DeltaKind::HypothesisPromoted,
            Self::ResolveBranch { .. } => DeltaKind::BranchResolved,
            Self::ReopenTask { .. } => DeltaKind::TaskReopened,
            Self::CorrectFact { .. } => DeltaKind::FactCorrected,
        }
    }

    /// The only kind of item that it applies to; `None` for all kinds.
    pub(crate) const fn target_kind(&self) -> Option<ItemKind> {
        match self {
            Self::ReviseDecision { .. } => Some(ItemKind::Decision),
            Self::ReviseConstraint { .. } => Some(ItemKind::Constraint),
            Self::CloseTask { .. } | Self::ReopenTask { .. } => Some(ItemKind::Task),
            Self::CloseGoal { .. } => Some(ItemKind::Goal),
            Self::Promote { .. } => Some(ItemKind::Hypothesis),
            Self::ResolveBranch { .. } => Some(ItemKind::Branch),
            Self::CorrectFact { .. } => Some(ItemKind::Fact),
            Self::Confidence { .. } | Self::Supersede { .. } => None,
        }
    }

    /// The handle of the successor that it makes.
    pub(crate) const fn successor_handle(&self) -> Option<&'a str> {
        match self {
            Self::ResolveBranch { handle, .. }
            | Self::ReopenTask { handle, .. }
            | Self::CorrectFact { handle, .. } => Some(handle),
            _ => None,
        }
    }

    fn each_text(&self, look: &mut impl FnMut(&'static str, &'a str)) {
        if let Some(handle) = self.successor_handle() {
            look("handle", handle);
        }
        match self {
            Self::ReviseDecision { summary, .. }
            | Self::ReviseConstraint { summary, .. }
            | Self::CorrectFact { summary, .. } => look("summary", summary),
            Self::CloseTask { resolution } | Self::CloseGoal { resolution } => look("resolution", resolution),
            Self::ReopenTask { reason, .. } => look("reason", reason),
            Self::ResolveBranch { chosen, .. } => look("chosen", chosen),
            Self::Supersede { reason, by } => {
                look("reason", reason);
                if let Some(by) = by {
                    look("by", by);
                }
            }
            Self::Confidence { .. } | Self::Promote { .. } => {}
        }
    }

    /// The closed words that it carries, so that a fingerprint tells them apart.
    fn each_word(&self, look: &mut impl FnMut(&'static str)) {
        match self {
            Self::ReviseDecision { confidence, .. }
            | Self::Promote { confidence }
            | Self::ResolveBranch { confidence, .. }
            | Self::CorrectFact { confidence, .. } => confidence.iter().for_each(|tier| look(tier.as_str())),
            Self::Confidence { confidence } => look(confidence.as_str()),
            Self::ReviseConstraint { mode, .. } => mode.iter().for_each(|mode| look(mode.as_str())),
            _ => {}
        }
    }
}

/// Whether a text has nothing in it that one could see.
pub(crate) fn is_blank(text: &str) -> bool {
    let is_invisible = |c: char| {
        c.is_whitespace() || c.is_control() || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}')
    };
    text.chars().all(is_invisible)
}

fn are_alternatives(alternatives: &[&str]) -> bool {
    let mut sorted = alternatives.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    (2..=MAX_ALTERNATIVES).contains(&alternatives.len()) && sorted.len() == alternatives.len()
}

/// Writes a delta for hashing, so that no two deltas are written alike.
#[derive(Default)]
struct FingerprintWriter(DigestHasher);

impl FingerprintWriter {
    fn word(&mut self, word: &'static str) {
        self.text(word);
    }

    fn text(&mut self, text: &str) {
        self.0.update(&(text.len() as u64).to_be_bytes());
        self.0.update(text.as_bytes());
    }

    fn delta(&mut self, delta: &ItemDelta<'_>) {
        delta.each_text(&mut |name, text| {
            self.word(name);
            self.text(text);
        });
        match delta {
            ItemDelta::Create { content, .. } => {
                self.word(content.confidence().as_str());
                self.word(if content.is_hard() { "hard" } else { "soft" });
            }
            ItemDelta::Change { change, .. } => change.each_word(&mut |word| self.word(word)),
        }
        self.word("sources");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decision<'a>(handle: &'a str, summary: &'a str) -> ProposedDelta<'a> {
        let content = ItemContent::Decision { summary, confidence: ConfidenceLevel::High };
        ProposedDelta {
            key: None,
            sources: vec![TurnSource::turn("t1")],
            delta: ItemDelta::Create { handle, content },
        }
    }

    #[test]
    fn the_fingerprint_sees_every_part() {
        let print = |candidate: ProposedDelta<'_>| DeltaProposal::from(candidate).fingerprint();
        let base = print(decision("d", "Use Redis"));
        assert!(base.is_some());
        assert_eq!(base, print(decision("d", "Use Redis")));
        assert_ne!(base, print(decision("d", "use Redis")));
        assert_ne!(base, print(decision("dU", "se Redis")));
        let mut ranged = decision("d", "Use Redis");
        ranged.sources[0].range = Some((0, 5));
        assert_ne!(base, print(ranged));
    }

    #[test]
    fn names_the_field_that_is_wrong() {
        let fault = |candidate: ProposedDelta<'_>| DeltaProposal::from(candidate).faulty_field();
        assert_eq!(fault(decision("d", "Use Redis")), None);
        assert_eq!(fault(decision(" ", "Use Redis")), Some("handle"));
        assert_eq!(fault(decision("d", "\u{200b}\n")), Some("summary"));
        let mut backwards = decision("d", "Use Redis");
        backwards.sources[0].range = Some((5, 5));
        assert_eq!(fault(backwards), Some("sources"));
    }
}
