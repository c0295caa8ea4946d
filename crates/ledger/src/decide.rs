//! Deciding about one candidate: what the reconciler looks at before anything changes.
//!
//! [`Ledger::decide`] looks for the first reason to refuse, in the order that the vectors' README fixes, and changes
//! nothing. What it returns is a [`Plan`] that cannot fail.

use crate::candidate::{Change, Content, Delta, Proposal};
use crate::identity::{Meaning, Statement};
use crate::ledger::{Extra, Ledger, Rewording};
use crate::outcome::RejectCode;
use crate::record::ItemId;
use crate::sources::Known;
use crate::words::{Confidence, ItemKind, Mode, Status};
use probity_prose::normal_form::{Normalizer, normal_form};
use std::borrow::Cow;

/// What one candidate will do. Every check is behind it.
#[derive(Debug)]
pub(crate) enum Plan<'a> {
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
pub(crate) enum Alteration<'a> {
    Reword(Rewording<'a>),
    Reweigh(Confidence),
    Resolve { note: &'a str },
    Promote(Option<Confidence>),
}

/// An item that takes the place of another.
#[derive(Debug)]
pub(crate) struct Successor<'a> {
    pub(crate) kind: ItemKind,
    pub(crate) handle: &'a str,
    pub(crate) summary: Cow<'a, str>,
    pub(crate) meaning: Meaning,
    pub(crate) confidence: Confidence,
    /// What becomes of the old item; `None` if it is final already.
    pub(crate) old_status: Option<Status>,
    /// Why a task is reopened.
    pub(crate) reason: Option<&'a str>,
}

/// What the reconciler keeps between two candidates of a batch, to spare allocations.
#[derive(Default)]
pub(crate) struct Desk {
    pub(crate) normalizer: Normalizer,
    pub(crate) sources: Vec<Known>,
}

impl Ledger {
    /// What a candidate will do, or the first reason to refuse it.
    pub(crate) fn decide<'a>(
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
            Delta::Create { handle, content } => self.decide_create(handle, content, &mut desk.normalizer),
            Delta::Change { target, change } => {
                self.decide_change(author, target, change, &mut desk.normalizer)
            }
        }
    }

    /// The item of an earlier delivery of this very delta.
    fn check_key(&self, proposal: &Proposal<'_>) -> Result<Option<ItemId>, RejectCode> {
        let Some(at) = proposal.key.and_then(|key| self.keys.find(key)) else {
            return Ok(None);
        };
        let earlier = *self.keys.value(at);
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
        let turns = &self.sources.turns;
        for source in sources {
            known.push((turns.find(source.turn).ok_or(RejectCode::UnknownTurn)?, source.range));
        }
        Ok(())
    }

    fn decide_create<'a>(
        &self,
        handle: &'a str,
        content: &'a Content<'a>,
        normalizer: &mut Normalizer,
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
        let says_it = |item| normal_form(self.summary(item)) == normal_form(&summary);
        if let Some(item) = taken {
            return if says_it(item) { Ok(restate(item, None)) } else { Err(RejectCode::HandleConflict) };
        }
        let statement = Statement::of(&summary, normalizer);
        let meaning = statement.meaning(kind);
        let says_it = |item| self.record(item).kind == kind && says_it(item);
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
        normalizer: &mut Normalizer,
    ) -> Result<Plan<'a>, RejectCode> {
        let item = self.named(target).ok_or(RejectCode::TargetNotFound)?;
        self.check_target(item, change)?;
        if self.record(item).hardened.is_some() && !self.policy.may_change_hard_constraints(author) {
            return Err(RejectCode::NotAuthorised);
        }
        let plan = self.plan_change(item, change, normalizer)?;
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
        normalizer: &mut Normalizer,
    ) -> Result<Plan<'a>, RejectCode> {
        let now = self.record(item);
        Ok(match *change {
            Change::ReviseDecision { summary, confidence } => {
                let statement = Statement::of(summary, normalizer);
                self.plan_rewording(item, summary, statement, confidence.unwrap_or(now.confidence), None)
            }
            Change::ReviseConstraint { summary, mode } => {
                let statement = Statement::of(summary, normalizer);
                self.plan_rewording(item, summary, statement, now.confidence, mode)
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
                Plan::Succeed { item, new: self.plan_successor(item, change, normalizer)? }
            }
        })
    }

    fn plan_rewording<'a>(
        &self,
        item: ItemId,
        summary: &'a str,
        statement: Statement,
        confidence: Confidence,
        mode: Option<Mode>,
    ) -> Plan<'a> {
        let meaning = statement.meaning(self.record(item).kind);
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
        normalizer: &mut Normalizer,
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
        let says_the_same = || normal_form(self.summary(item)) == normal_form(&summary);
        if matches!(change, Change::CorrectFact { .. }) && says_the_same() {
            return Err(RejectCode::InvalidField);
        }
        let meaning = Statement::of(&summary, normalizer).meaning(kind);
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
