//! Candidate deltas as agents propose them. Nothing in them is trusted yet (invariant 6).
//!
//! A [`ProposedDelta`] borrows its texts from the caller, so reading a million of them copies nothing. A
//! [`DeltaProposal`] is a candidate or the readable parts of an invalid one, because the reconciler gives invalid input
//! a position and a code too.

use crate::vocabulary::{ConfidenceLevel, DeltaKind, ItemKind, RevisionMode};
use probity_core::Digest;
use probity_core::digest::DigestHasher;
use probity_prose::normal_form::normal_form;

pub const MAX_TEXT_BYTES: usize = 1 << 20;

pub const MAX_SOURCES: usize = 4096;

pub const MAX_ALTERNATIVES: usize = 256;

/// A turn, and optionally a byte range within it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TurnSource<'a> {
    pub turn: &'a str,
    /// Start (inclusive) and end (exclusive), in bytes.
    pub range: Option<(u64, u64)>,
}

impl<'a> TurnSource<'a> {
    pub const fn turn(turn: &'a str) -> Self {
        Self { turn, range: None }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProposedDelta<'a> {
    /// Identifies a redelivery of the same delta.
    pub key: Option<&'a str>,
    pub sources: Vec<TurnSource<'a>>,
    pub delta: ItemDelta<'a>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ItemDelta<'a> {
    /// A new item under a handle that the proposer chooses.
    Create {
        handle: &'a str,
        content: ItemContent<'a>,
    },
    Change {
        target: &'a str,
        change: ItemChange<'a>,
    },
}

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

/// A candidate, or the readable parts of an invalid one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeltaProposal<'a> {
    pub(crate) key: Option<&'a str>,
    pub(crate) kind: Option<DeltaKind>,
    /// `None` if `sources` is present but unreadable.
    pub(crate) sources: Option<Vec<TurnSource<'a>>>,
    /// The delta, or the name of the invalid field.
    pub(crate) delta: Result<ItemDelta<'a>, &'static str>,
    /// The words that it cites say the opposite; see [`Self::compared_with_sources`].
    pub(crate) contradicts_source: bool,
}

impl<'a> From<ProposedDelta<'a>> for DeltaProposal<'a> {
    fn from(candidate: ProposedDelta<'a>) -> Self {
        let kind = Some(candidate.delta.kind());
        let delta = match candidate.invalid_field() {
            None => Ok(candidate.delta),
            Some(field) => Err(field),
        };
        Self { key: candidate.key, kind, sources: Some(candidate.sources), delta, contradicts_source: false }
    }
}

impl DeltaProposal<'_> {
    /// Returns the field that is missing, unexpected or invalid.
    pub fn faulty_field(&self) -> Option<&'static str> {
        self.delta.as_ref().err().copied()
    }

    /// Returns the handle or target of the delta; empty if it could not be read.
    pub(crate) fn subject_handle(&self) -> &str {
        match &self.delta {
            Ok(ItemDelta::Create { handle, .. }) => handle,
            Ok(ItemDelta::Change { target, .. }) => target,
            Err(_) => "",
        }
    }

    /// Returns the item whose status the delta would change by ending or promoting it.
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

    /// Returns the text that the delta adds, if any.
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

    /// Returns a digest over the whole content of the delta.
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
    /// Returns the first field whose value is not allowed.
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

    /// Returns the first field whose value is blank, too long, or not a valid list of alternatives.
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

    pub(crate) fn each_text(&self, look: &mut impl FnMut(&'static str, &'a str)) {
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

    /// Returns the initial confidence of an item with this content.
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

    /// Returns the only kind of item that the change applies to; `None` for any kind.
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

    /// Returns the handle of the successor that the change creates.
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

    /// Visits the vocabulary words in the change, so that a fingerprint covers them.
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

/// Returns whether a text has no visible character.
pub(crate) fn is_blank(text: &str) -> bool {
    let is_invisible = |c: char| {
        c.is_whitespace() || c.is_control() || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}')
    };
    text.chars().all(is_invisible)
}

/// Returns whether a list offers a choice: two or more that say different things. "Redis" and "redis." are one.
fn are_alternatives(alternatives: &[&str]) -> bool {
    if !(2..=MAX_ALTERNATIVES).contains(&alternatives.len()) {
        return false;
    }
    let mut sorted: Vec<String> = alternatives.iter().map(|alternative| normal_form(alternative)).collect();
    sorted.sort_unstable();
    sorted.dedup();
    sorted.len() == alternatives.len()
}

/// Serializes a delta for hashing, unambiguously: different deltas give different bytes.
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
