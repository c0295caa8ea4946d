//! The reconciler: the one authority that turns candidates into state (seed 002).
//!
//! Each candidate is decided and then applied. [`decide`](Ledger::decide) looks, in the order that the vectors'
//! README fixes, for the first reason to refuse; it changes nothing. What it returns is a plan that cannot fail.
//! The outcome is a pure function of the state, the author and the candidates in their order: no clock, no
//! randomness, and no input that panics.

use crate::candidate::{Change, Content, Delta, MAX_ALTERNATIVES, Proposal};
use crate::identity::{Meaning, Normaliser, normal_form};
use crate::ledger::{Delivered, Extra, Ledger, NewItem, Rewording};
use crate::outcome::{MergeCode, Outcome, RejectCode, Verdict};
use crate::record::{Entry, ItemId, Seq};
use crate::sources::Known;
use crate::words::{Confidence, ItemKind, Mode, Status};
use std::borrow::Cow;

/// What happens to a batch when one of its candidates is rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BatchMode {
    /// The others keep their effect.
    BestEffort,
    /// None of them has an effect; each still takes its position.
    Atomic,
}

/// The ledger has no room for another batch: its positions and ids are 32-bit numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the ledger is full: it cannot number {inputs} more inputs")]
pub struct LedgerFull {
    /// How many inputs the batch has.
    pub inputs: usize,
}

/// What one candidate will do. Every check is behind it.
#[derive(Debug)]
enum Plan<'a> {
    Redelivered {
        item: ItemId,
    },
    Create {
        kind: ItemKind,
        handle: &'a str,
        content: &'a Content<'a>,
        summary: Cow<'a, str>,
        meaning: Meaning,
    },
    /// Another statement of what an item says; `alias` is its new name.
    Restate {
        item: ItemId,
        alias: Option<&'a str>,
        confidence: Confidence,
        hard: bool,
    },
    /// A change that changes nothing but the sources.
    Repeat {
        item: ItemId,
    },
    Alter {
        item: ItemId,
        how: Alteration<'a>,
    },
    Supersede {
        item: ItemId,
        reason: &'a str,
        by: Option<ItemId>,
    },
    Succeed {
        item: ItemId,
        new: Successor<'a>,
    },
}

/// A change that concerns one item alone.
#[derive(Debug)]
enum Alteration<'a> {
    Reword(Rewording<'a>),
    Reweigh(Confidence),
    Resolve { note: &'a str },
    Promote(Option<Confidence>),
}

/// An item that takes the place of another.
#[derive(Debug)]
struct Successor<'a> {
    kind: ItemKind,
    handle: &'a str,
    summary: Cow<'a, str>,
    meaning: Meaning,
    confidence: Confidence,
    /// What becomes of the old item; `None` if it is final already.
    old_status: Option<Status>,
    /// Why a task is reopened.
    reason: Option<&'a str>,
}

/// A verdict with the items it is about.
#[derive(Debug, Clone, Copy)]
struct Ruling {
    verdict: Verdict,
    item: Option<ItemId>,
    other: Option<ItemId>,
}

impl Ruling {
    const fn rejected(code: RejectCode) -> Self {
        Self { verdict: Verdict::Rejected(code), item: None, other: None }
    }
}

/// What the reconciler keeps between two candidates of a batch, to spare allocations.
#[derive(Default)]
struct Desk {
    normaliser: Normaliser,
    sources: Vec<Known>,
}

impl Ledger {
    /// Reconciles the candidates of one author, in order. Each gets its own position and outcome.
    pub fn reconcile(
        &mut self,
        author: &str,
        mode: BatchMode,
        proposals: &[Proposal<'_>],
    ) -> Result<Vec<Outcome>, LedgerFull> {
        self.check_room(proposals)?;
        let mark = (mode == BatchMode::Atomic).then(|| self.open_journal());
        let mut rulings = self.rule_on(author, proposals);
        let is_rejected = |ruling: &Ruling| matches!(ruling.verdict, Verdict::Rejected(_));
        match mark {
            Some(mark) if rulings.iter().any(is_rejected) => {
                self.roll_back(mark);
                for ruling in rulings.iter_mut().filter(|ruling| !is_rejected(ruling)) {
                    *ruling = Ruling::rejected(RejectCode::BatchAborted);
                }
            }
            _ => self.close_journal(),
        }
        Ok(self.log_rulings(author, proposals, &rulings))
    }

    /// Says what [`Self::reconcile`] would decide, and leaves everything as it was.
    pub fn rehearse(
        &mut self,
        author: &str,
        mode: BatchMode,
        proposals: &[Proposal<'_>],
    ) -> Result<Vec<Verdict>, LedgerFull> {
        self.check_room(proposals)?;
        let mark = self.open_journal();
        let rulings = self.rule_on(author, proposals);
        self.roll_back(mark);
        let mut verdicts: Vec<_> = rulings.iter().map(|ruling| ruling.verdict).collect();
        if mode == BatchMode::Atomic && verdicts.iter().any(|verdict| !verdict.took_effect()) {
            for verdict in verdicts.iter_mut().filter(|verdict| verdict.took_effect()) {
                *verdict = Verdict::Rejected(RejectCode::BatchAborted);
            }
        }
        Ok(verdicts)
    }

    /// Refuses a batch that could use up the 32-bit ids, whatever is in it.
    fn check_room(&self, proposals: &[Proposal<'_>]) -> Result<(), LedgerFull> {
        let limit = u32::MAX as usize / 2;
        let n_sources: usize = proposals.iter().flat_map(|proposal| &proposal.sources).map(Vec::len).sum();
        let texts = self.texts.len() as usize + proposals.len().saturating_mul(MAX_ALTERNATIVES + 4);
        let sources = self.sources.len().saturating_add(n_sources.saturating_mul(2));
        let has_room = self.entries.len() + proposals.len() < limit && texts < limit && sources < limit;
        has_room.then_some(()).ok_or(LedgerFull { inputs: proposals.len() })
    }

    fn rule_on(&mut self, author: &str, proposals: &[Proposal<'_>]) -> Vec<Ruling> {
        let mut desk = Desk { normaliser: std::mem::take(&mut self.normaliser), sources: Vec::new() };
        let mut rulings = Vec::with_capacity(proposals.len());
        let mut seq = self.head();
        for proposal in proposals {
            seq.0 += 1;
            desk.sources.clear();
            rulings.push(match self.decide(author, proposal, &mut desk) {
                Ok(plan) => self.carry_out(plan, proposal, &desk.sources, seq),
                Err(code) => Ruling::rejected(code),
            });
        }
        self.normaliser = desk.normaliser;
        rulings
    }

    fn log_rulings(&mut self, author: &str, proposals: &[Proposal<'_>], rulings: &[Ruling]) -> Vec<Outcome> {
        let author = self.author(author);
        let mut outcomes = Vec::with_capacity(rulings.len());
        for (proposal, &Ruling { verdict, item, other }) in proposals.iter().zip(rulings) {
            self.log(author, Entry { author, item, other, kind: proposal.kind, verdict });
            outcomes.push(Outcome { seq: self.head(), verdict, item });
        }
        outcomes
    }

    // Deciding: the first failure is the code.

    fn decide<'a>(
        &self,
        author: &str,
        proposal: &'a Proposal<'a>,
        desk: &mut Desk,
    ) -> Result<Plan<'a>, RejectCode> {
        if let Some(item) = self.check_key(proposal)? {
            return Ok(Plan::Redelivered { item });
        }
        if proposal.kind.is_none() {
            return Err(RejectCode::UnknownKind);
        }
        self.check_sources(proposal, &mut desk.sources)?;
        match proposal.delta.as_ref().map_err(|_| RejectCode::InvalidField)? {
            Delta::Create { handle, content } => self.decide_create(handle, content, &mut desk.normaliser),
            Delta::Change { target, change } => {
                self.decide_change(author, target, change, &mut desk.normaliser)
            }
        }
    }

    /// The item of an earlier delivery of this very delta.
    fn check_key(&self, proposal: &Proposal<'_>) -> Result<Option<ItemId>, RejectCode> {
        let Some(at) = proposal.key.and_then(|key| self.keys.find(key)) else {
            return Ok(None);
        };
        let earlier = self.delivered[at as usize];
        if proposal.fingerprint() == Some(earlier.fingerprint) {
            Ok(Some(earlier.item))
        } else {
            Err(RejectCode::KeyConflict)
        }
    }

    fn check_sources(&self, proposal: &Proposal<'_>, known: &mut Vec<Known>) -> Result<(), RejectCode> {
        let sources = proposal.sources.as_ref().ok_or(RejectCode::InvalidField)?;
        if sources.is_empty() {
            return Err(RejectCode::MissingProvenance);
        }
        for source in sources {
            let turn = self.sources.turns.find(source.turn).ok_or(RejectCode::UnknownTurn)?;
            known.push((turn, source.range));
        }
        Ok(())
    }

    fn decide_create<'a>(
        &self,
        handle: &'a str,
        content: &'a Content<'a>,
        normaliser: &mut Normaliser,
    ) -> Result<Plan<'a>, RejectCode> {
        let kind = content.item_kind();
        let restate = |item, alias| Plan::Restate {
            item,
            alias,
            confidence: content.confidence(),
            hard: content.is_hard(),
        };
        let taken = self.named(handle);
        if let Some(item) = taken {
            self.check_taken(item, kind)?;
        }
        let summary = summary_of(content);
        normaliser.read(&summary);
        if let Some(item) = taken {
            let is_same = normal_form(self.summary(item)) == normaliser.normal();
            return if is_same { Ok(restate(item, None)) } else { Err(RejectCode::HandleConflict) };
        }
        let meaning = normaliser.meaning(kind);
        let says_it =
            |item| self.record(item).kind == kind && normal_form(self.summary(item)) == normaliser.normal();
        Ok(match self.statements.find(meaning, &self.items, says_it) {
            Some(item) => restate(item, Some(handle)),
            None => Plan::Create { kind, handle, content, summary, meaning },
        })
    }

    fn check_taken(&self, item: ItemId, kind: ItemKind) -> Result<(), RejectCode> {
        let record = self.record(item);
        if record.kind != kind {
            return Err(RejectCode::KindConflict);
        }
        if !record.status.is_live() {
            return Err(RejectCode::TerminalTarget);
        }
        Ok(())
    }

    fn decide_change<'a>(
        &self,
        author: &str,
        target: &str,
        change: &'a Change<'a>,
        normaliser: &mut Normaliser,
    ) -> Result<Plan<'a>, RejectCode> {
        let item = self.named(target).ok_or(RejectCode::TargetNotFound)?;
        self.check_target(item, change)?;
        if self.record(item).hardened.is_some() && !self.policy.may_change_hard_constraints(author) {
            return Err(RejectCode::NotAuthorised);
        }
        let plan = self.plan_change(item, change, normaliser)?;
        match change.successor_handle() {
            Some(handle) if self.named(handle).is_some() => Err(RejectCode::HandleConflict),
            _ => Ok(plan),
        }
    }

    /// The kind and status that a change asks of its target.
    fn check_target(&self, item: ItemId, change: &Change<'_>) -> Result<(), RejectCode> {
        let record = self.record(item);
        if change.target_kind().is_some_and(|kind| kind != record.kind) {
            return Err(RejectCode::WrongKind);
        }
        match (change, record.status) {
            (Change::ReopenTask { .. }, Status::Resolved) if record.superseded_by.is_none() => Ok(()),
            (Change::ReopenTask { .. }, Status::Tentative | Status::Active)
            | (Change::Promote { .. }, Status::Active) => Err(RejectCode::InvalidTransition),
            (_, Status::Superseded | Status::Resolved) => Err(RejectCode::TerminalTarget),
            (_, Status::Tentative | Status::Active) => Ok(()),
        }
    }

    fn plan_change<'a>(
        &self,
        item: ItemId,
        change: &'a Change<'a>,
        normaliser: &mut Normaliser,
    ) -> Result<Plan<'a>, RejectCode> {
        let now = self.record(item);
        Ok(match *change {
            Change::ReviseDecision { summary, confidence } => {
                self.plan_rewording(item, summary, confidence.unwrap_or(now.confidence), None, normaliser)
            }
            Change::ReviseConstraint { summary, mode } => {
                self.plan_rewording(item, summary, now.confidence, mode, normaliser)
            }
            Change::Confidence { confidence } if confidence == now.confidence => Plan::Repeat { item },
            Change::Confidence { confidence } => Plan::Alter { item, how: Alteration::Reweigh(confidence) },
            Change::CloseTask { resolution } | Change::CloseGoal { resolution } => {
                Plan::Alter { item, how: Alteration::Resolve { note: resolution } }
            }
            Change::Supersede { reason, by } => {
                Plan::Supersede { item, reason, by: by.map(|by| self.check_by(item, by)).transpose()? }
            }
            Change::Promote { confidence } => Plan::Alter { item, how: Alteration::Promote(confidence) },
            Change::ResolveBranch { .. } | Change::ReopenTask { .. } | Change::CorrectFact { .. } => {
                Plan::Succeed { item, new: self.plan_successor(item, change, normaliser)? }
            }
        })
    }

    fn plan_rewording<'a>(
        &self,
        item: ItemId,
        summary: &'a str,
        confidence: Confidence,
        mode: Option<Mode>,
        normaliser: &mut Normaliser,
    ) -> Plan<'a> {
        normaliser.read(summary);
        let meaning = normaliser.meaning(self.record(item).kind);
        // The old text is only fetched when its meaning is the same: most revisions say something else.
        let is_same_text = meaning == self.record(item).meaning && summary == self.summary(item);
        if !is_same_text {
            return Plan::Alter {
                item,
                how: Alteration::Reword(Rewording { summary, meaning, confidence, mode }),
            };
        }
        if confidence == self.record(item).confidence {
            Plan::Repeat { item }
        } else {
            Plan::Alter { item, how: Alteration::Reweigh(confidence) }
        }
    }

    fn check_by(&self, item: ItemId, by: &str) -> Result<ItemId, RejectCode> {
        let by = self.named(by).ok_or(RejectCode::TargetNotFound)?;
        if by == item {
            return Err(RejectCode::InvalidLink);
        }
        if !self.record(by).status.is_live() {
            return Err(RejectCode::TerminalTarget);
        }
        Ok(by)
    }

    fn plan_successor<'a>(
        &self,
        item: ItemId,
        change: &'a Change<'a>,
        normaliser: &mut Normaliser,
    ) -> Result<Successor<'a>, RejectCode> {
        let now = self.record(item);
        let (kind, handle, summary, confidence, old_status, reason) = match *change {
            Change::ResolveBranch { handle, chosen, confidence } => {
                if !self.alternatives(item).any(|alternative| alternative == chosen) {
                    return Err(RejectCode::InvalidField);
                }
                let confidence = confidence.unwrap_or(Confidence::High);
                (ItemKind::Decision, handle, Cow::Borrowed(chosen), confidence, Some(Status::Resolved), None)
            }
            Change::CorrectFact { handle, summary, confidence } => {
                let confidence = confidence.unwrap_or(now.confidence);
                (ItemKind::Fact, handle, Cow::Borrowed(summary), confidence, Some(Status::Superseded), None)
            }
            Change::ReopenTask { handle, reason } => {
                let summary = Cow::Owned(self.summary(item).to_owned());
                (ItemKind::Task, handle, summary, now.confidence, None, Some(reason))
            }
            _ => return Err(RejectCode::InvalidTransition),
        };
        normaliser.read(&summary);
        let says_the_same = || normal_form(self.summary(item)) == normaliser.normal();
        if matches!(change, Change::CorrectFact { .. }) && says_the_same() {
            return Err(RejectCode::InvalidField);
        }
        let meaning = normaliser.meaning(kind);
        Ok(Successor { kind, handle, summary, meaning, confidence, old_status, reason })
    }

    /// The alternatives of a branch, as they were given.
    pub(crate) fn alternatives(&self, item: ItemId) -> impl Iterator<Item = &str> {
        let (first, n) = match self.extras.get(&item) {
            Some(&Extra::Alternatives { first, n }) => (first, n),
            _ => (0, 0),
        };
        (first..first + n).map(|text| self.texts.get(text))
    }

    // Applying: nothing here can fail.

    fn carry_out(&mut self, plan: Plan<'_>, proposal: &Proposal<'_>, sources: &[Known], seq: Seq) -> Ruling {
        let (verdict, item, other) = self.apply(plan, sources, seq);
        if let Some(key) = proposal.key.filter(|_| verdict != Verdict::Merged(MergeCode::Redelivered)) {
            // Only well-formed proposals get here, so there always is a fingerprint.
            if let Some(fingerprint) = proposal.fingerprint() {
                self.remember_key(key, Delivered { fingerprint, item });
            }
        }
        Ruling { verdict, item: Some(item), other }
    }

    fn apply(&mut self, plan: Plan<'_>, sources: &[Known], seq: Seq) -> (Verdict, ItemId, Option<ItemId>) {
        let duplicate = Verdict::Merged(MergeCode::Duplicate);
        match plan {
            Plan::Redelivered { item } => (Verdict::Merged(MergeCode::Redelivered), item, None),
            Plan::Create { kind, handle, content, summary, meaning } => {
                let item = self.create(kind, handle, content, &summary, meaning, seq);
                self.add_sources(item, sources, seq);
                (Verdict::Accepted, item, None)
            }
            Plan::Restate { item, alias, confidence, hard } => {
                self.restate(item, alias, confidence, hard, seq);
                self.add_sources(item, sources, seq);
                (duplicate, item, None)
            }
            Plan::Repeat { item } => {
                self.add_sources(item, sources, seq);
                (duplicate, item, None)
            }
            Plan::Succeed { item, new } => {
                let successor = self.succeed(item, &new, sources, seq);
                (Verdict::Accepted, successor, Some(item))
            }
            Plan::Supersede { item, reason, by } => {
                self.add_sources(item, sources, seq);
                self.end(item, Status::Superseded, Some(reason), seq);
                if let Some(by) = by {
                    self.link(item, by, seq);
                }
                (Verdict::Accepted, item, by)
            }
            Plan::Alter { item, how } => {
                self.alter(item, &how, seq);
                self.add_sources(item, sources, seq);
                (Verdict::Accepted, item, None)
            }
        }
    }

    fn alter(&mut self, item: ItemId, how: &Alteration<'_>, seq: Seq) {
        match *how {
            Alteration::Reword(ref rewording) => self.reword(item, rewording, seq),
            Alteration::Reweigh(confidence) => self.set_confidence(item, confidence, seq),
            Alteration::Resolve { note } => self.end(item, Status::Resolved, Some(note), seq),
            Alteration::Promote(confidence) => {
                let news = confidence.filter(|&confidence| confidence != self.record(item).confidence);
                if let Some(confidence) = news {
                    self.set_confidence(item, confidence, seq);
                }
                self.promote(item, seq);
            }
        }
    }

    fn create(
        &mut self,
        kind: ItemKind,
        handle: &str,
        content: &Content<'_>,
        summary: &str,
        meaning: Meaning,
        seq: Seq,
    ) -> ItemId {
        let status = match kind {
            ItemKind::Hypothesis | ItemKind::Branch => Status::Tentative,
            _ => Status::Active,
        };
        let (confidence, hard) = (content.confidence(), content.is_hard());
        let item = self.add_item(&NewItem { kind, status, handle, summary, meaning, confidence, hard }, seq);
        if let Content::Branch { alternatives } = content {
            self.add_alternatives(item, alternatives);
        }
        item
    }

    /// Confidence is raised by a restatement and never lowered; a hard constraint said again stays hard.
    fn restate(&mut self, item: ItemId, alias: Option<&str>, confidence: Confidence, hard: bool, seq: Seq) {
        if let Some(alias) = alias {
            self.add_handle(alias, item);
        }
        if hard && self.record(item).hardened.is_none() {
            self.harden(item, seq);
        }
        if confidence > self.record(item).confidence {
            self.set_confidence(item, confidence, seq);
        }
    }

    fn succeed(&mut self, item: ItemId, new: &Successor<'_>, sources: &[Known], seq: Seq) -> ItemId {
        self.add_sources(item, sources, seq);
        if let Some(status) = new.old_status {
            self.end(item, status, None, seq);
        }
        let successor = self.add_item(
            &NewItem {
                kind: new.kind,
                status: Status::Active,
                handle: new.handle,
                summary: &new.summary,
                meaning: new.meaning,
                confidence: new.confidence,
                hard: false,
            },
            seq,
        );
        self.add_sources(successor, sources, seq);
        if let Some(reason) = new.reason {
            self.add_reopening(successor, reason);
        }
        self.link(item, successor, seq);
        successor
    }
}

/// The summary of a new item. A branch's is its alternatives.
fn summary_of<'a>(content: &Content<'a>) -> Cow<'a, str> {
    match content {
        Content::Goal { summary, .. }
        | Content::Decision { summary, .. }
        | Content::Fact { summary, .. }
        | Content::Hypothesis { summary, .. }
        | Content::Constraint { summary, .. }
        | Content::Task { summary } => Cow::Borrowed(summary),
        Content::Branch { alternatives } => Cow::Owned(alternatives.join(" | ")),
    }
}
