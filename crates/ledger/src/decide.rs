//! Decides about one candidate, before anything changes.
//!
//! [`Ledger::decide`] finds the first reason to refuse, in the order defined by the README of the vectors, and changes
//! nothing. The [`CandidatePlan`] it returns cannot fail.

use crate::candidate::{DeltaProposal, ItemChange, ItemContent, ItemDelta};
use crate::identity::{NormalizedStatement, StatementKey};
use crate::item_record::ItemId;
use crate::ledger::{ItemExtra, ItemRewording, Ledger};
use crate::outcome::RejectCode;
use crate::sources::KnownSource;
use crate::vocabulary::{ConfidenceLevel, ItemKind, ItemStatus, RevisionMode};
use probity_prose::normal_form::{Normalizer, normal_form};
use std::borrow::Cow;

/// The effect of one candidate that passed every check.
#[derive(Debug)]
pub(crate) enum CandidatePlan<'a> {
    Redelivered {
        item: ItemId,
    },
    Create {
        kind: ItemKind,
        handle: &'a str,
        content: &'a ItemContent<'a>,
        summary: Cow<'a, str>,
        meaning: StatementKey,
    },
    /// A statement that an item already makes; `alias` is a new handle for that item.
    Restate {
        item: ItemId,
        alias: Option<&'a str>,
        confidence: ConfidenceLevel,
        hard: bool,
    },
    /// A change that only adds sources.
    Repeat {
        item: ItemId,
    },
    Alter {
        item: ItemId,
        how: ItemAlteration<'a>,
    },
    Supersede {
        item: ItemId,
        reason: &'a str,
        by: Option<ItemId>,
    },
    Succeed {
        item: ItemId,
        new: SuccessorItem<'a>,
    },
}

/// A change to a single item.
#[derive(Debug)]
pub(crate) enum ItemAlteration<'a> {
    Reword(ItemRewording<'a>),
    Reweigh(ConfidenceLevel),
    Resolve { note: &'a str },
    Promote(Option<ConfidenceLevel>),
}

/// An item that replaces another.
#[derive(Debug)]
pub(crate) struct SuccessorItem<'a> {
    pub(crate) kind: ItemKind,
    pub(crate) handle: &'a str,
    pub(crate) summary: Cow<'a, str>,
    pub(crate) meaning: StatementKey,
    pub(crate) confidence: ConfidenceLevel,
    /// The new status of the old item; `None` if that is final already.
    pub(crate) old_status: Option<ItemStatus>,
    /// Why a task is reopened.
    pub(crate) reason: Option<&'a str>,
}

/// Buffers reused across the candidates of a batch, to avoid allocations.
#[derive(Default)]
pub(crate) struct ReconcileScratch {
    pub(crate) normalizer: Normalizer,
    pub(crate) sources: Vec<KnownSource>,
}

impl Ledger {
    /// Returns the effect of a candidate, or the first reason to refuse it.
    pub(crate) fn decide<'a>(
        &self,
        author: &str,
        proposal: &'a DeltaProposal<'a>,
        desk: &mut ReconcileScratch,
    ) -> Result<CandidatePlan<'a>, RejectCode> {
        if let Some(item) = self.check_key(proposal)? {
            return Ok(CandidatePlan::Redelivered { item });
        }
        if proposal.kind.is_none() {
            return Err(RejectCode::UnknownKind);
        }
        self.check_sources(proposal, &mut desk.sources)?;
        let delta = proposal.delta.as_ref().map_err(|_| RejectCode::InvalidField)?;
        if proposal.contradicts_source {
            return Err(RejectCode::ContradictsSource);
        }
        match delta {
            ItemDelta::Create { handle, content } => {
                self.decide_create(handle, content, &mut desk.normalizer)
            }
            ItemDelta::Change { target, change } => {
                self.decide_change(author, target, change, &mut desk.normalizer)
            }
        }
    }

    /// Returns the item of an earlier delivery of the same delta.
    fn check_key(&self, proposal: &DeltaProposal<'_>) -> Result<Option<ItemId>, RejectCode> {
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

    fn check_sources(
        &self,
        proposal: &DeltaProposal<'_>,
        known: &mut Vec<KnownSource>,
    ) -> Result<(), RejectCode> {
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
        content: &'a ItemContent<'a>,
        normalizer: &mut Normalizer,
    ) -> Result<CandidatePlan<'a>, RejectCode> {
        let kind = content.item_kind();
        let restate = |item, alias| CandidatePlan::Restate {
            item,
            alias,
            confidence: content.confidence(),
            hard: content.is_hard(),
        };
        let taken = self.find_by_handle(handle);
        if let Some(item) = taken {
            self.check_taken(item, kind)?;
        }
        let summary = summary_of(content);
        let says_it = |item| normal_form(self.summary(item)) == normal_form(&summary);
        if let Some(item) = taken {
            return if says_it(item) { Ok(restate(item, None)) } else { Err(RejectCode::HandleConflict) };
        }
        let statement = NormalizedStatement::of(&summary, normalizer);
        let meaning = statement.meaning(kind);
        let says_it = |item| self.record(item).kind == kind && says_it(item);
        Ok(match self.statements.find(meaning, &self.items, says_it) {
            Some(item) => restate(item, Some(handle)),
            None => CandidatePlan::Create { kind, handle, content, summary, meaning },
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
        change: &'a ItemChange<'a>,
        normalizer: &mut Normalizer,
    ) -> Result<CandidatePlan<'a>, RejectCode> {
        let item = self.find_by_handle(target).ok_or(RejectCode::TargetNotFound)?;
        self.check_target(item, change)?;
        if self.record(item).hardened.is_some() && !self.policy.may_change_hard_constraints(author) {
            return Err(RejectCode::NotAuthorised);
        }
        let plan = self.plan_change(item, change, normalizer)?;
        match change.successor_handle() {
            Some(handle) if self.find_by_handle(handle).is_some() => Err(RejectCode::HandleConflict),
            _ => Ok(plan),
        }
    }

    /// Checks that the target has the kind and status that the change requires.
    fn check_target(&self, item: ItemId, change: &ItemChange<'_>) -> Result<(), RejectCode> {
        let record = self.record(item);
        if change.target_kind().is_some_and(|kind| kind != record.kind) {
            return Err(RejectCode::WrongKind);
        }
        match (change, record.status) {
            (ItemChange::ReopenTask { .. }, ItemStatus::Resolved) if record.superseded_by.is_none() => Ok(()),
            (ItemChange::ReopenTask { .. }, ItemStatus::Tentative | ItemStatus::Active)
            | (ItemChange::Promote { .. }, ItemStatus::Active) => Err(RejectCode::InvalidTransition),
            (_, ItemStatus::Superseded | ItemStatus::Resolved) => Err(RejectCode::TerminalTarget),
            (_, ItemStatus::Tentative | ItemStatus::Active) => Ok(()),
        }
    }

    fn plan_change<'a>(
        &self,
        item: ItemId,
        change: &'a ItemChange<'a>,
        normalizer: &mut Normalizer,
    ) -> Result<CandidatePlan<'a>, RejectCode> {
        let now = self.record(item);
        Ok(match *change {
            ItemChange::ReviseDecision { summary, confidence } => {
                let statement = NormalizedStatement::of(summary, normalizer);
                self.plan_rewording(item, summary, statement, confidence.unwrap_or(now.confidence), None)
            }
            ItemChange::ReviseConstraint { summary, mode } => {
                let statement = NormalizedStatement::of(summary, normalizer);
                self.plan_rewording(item, summary, statement, now.confidence, mode)
            }
            ItemChange::Confidence { confidence } if confidence == now.confidence => {
                CandidatePlan::Repeat { item }
            }
            ItemChange::Confidence { confidence } => {
                CandidatePlan::Alter { item, how: ItemAlteration::Reweigh(confidence) }
            }
            ItemChange::CloseTask { resolution } | ItemChange::CloseGoal { resolution } => {
                CandidatePlan::Alter { item, how: ItemAlteration::Resolve { note: resolution } }
            }
            ItemChange::Supersede { reason, by } => CandidatePlan::Supersede {
                item,
                reason,
                by: by.map(|by| self.check_by(item, by)).transpose()?,
            },
            ItemChange::Promote { confidence } => {
                CandidatePlan::Alter { item, how: ItemAlteration::Promote(confidence) }
            }
            ItemChange::ResolveBranch { .. }
            | ItemChange::ReopenTask { .. }
            | ItemChange::CorrectFact { .. } => {
                CandidatePlan::Succeed { item, new: self.plan_successor(item, change, normalizer)? }
            }
        })
    }

    fn plan_rewording<'a>(
        &self,
        item: ItemId,
        summary: &'a str,
        statement: NormalizedStatement,
        confidence: ConfidenceLevel,
        mode: Option<RevisionMode>,
    ) -> CandidatePlan<'a> {
        let meaning = statement.meaning(self.record(item).kind);
        // The old text is only fetched if the meaning is the same: most revisions say something else.
        let says_the_same = meaning == self.record(item).meaning
            && (summary == self.summary(item) || normal_form(summary) == normal_form(self.summary(item)));
        if !says_the_same {
            return CandidatePlan::Alter {
                item,
                how: ItemAlteration::Reword(ItemRewording { summary, meaning, confidence, mode }),
            };
        }
        if confidence == self.record(item).confidence {
            CandidatePlan::Repeat { item }
        } else {
            CandidatePlan::Alter { item, how: ItemAlteration::Reweigh(confidence) }
        }
    }

    fn check_by(&self, item: ItemId, by: &str) -> Result<ItemId, RejectCode> {
        let by = self.find_by_handle(by).ok_or(RejectCode::TargetNotFound)?;
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
        change: &'a ItemChange<'a>,
        normalizer: &mut Normalizer,
    ) -> Result<SuccessorItem<'a>, RejectCode> {
        let now = self.record(item);
        let (kind, handle, summary, confidence, old_status, reason) = match *change {
            ItemChange::ResolveBranch { handle, chosen, confidence } => {
                if !self.alternatives(item).any(|alternative| alternative == chosen) {
                    return Err(RejectCode::InvalidField);
                }
                let confidence = confidence.unwrap_or(ConfidenceLevel::High);
                (
                    ItemKind::Decision,
                    handle,
                    Cow::Borrowed(chosen),
                    confidence,
                    Some(ItemStatus::Resolved),
                    None,
                )
            }
            ItemChange::CorrectFact { handle, summary, confidence } => {
                let confidence = confidence.unwrap_or(now.confidence);
                (
                    ItemKind::Fact,
                    handle,
                    Cow::Borrowed(summary),
                    confidence,
                    Some(ItemStatus::Superseded),
                    None,
                )
            }
            ItemChange::ReopenTask { handle, reason } => {
                let summary = Cow::Owned(self.summary(item).to_owned());
                (ItemKind::Task, handle, summary, now.confidence, None, Some(reason))
            }
            _ => return Err(RejectCode::InvalidTransition),
        };
        let says_the_same = || normal_form(self.summary(item)) == normal_form(&summary);
        if matches!(change, ItemChange::CorrectFact { .. }) && says_the_same() {
            return Err(RejectCode::InvalidField);
        }
        let meaning = NormalizedStatement::of(&summary, normalizer).meaning(kind);
        Ok(SuccessorItem { kind, handle, summary, meaning, confidence, old_status, reason })
    }

    pub(crate) fn alternatives(&self, item: ItemId) -> impl Iterator<Item = &str> {
        let (first, n) = match self.extras.get(&item) {
            Some(&ItemExtra::Alternatives { first, n }) => (first, n),
            _ => (0, 0),
        };
        (first..first + n).map(|text| self.texts.get(text))
    }
}

/// Returns the summary of a new item. For a branch it is made from the alternatives.
fn summary_of<'a>(content: &ItemContent<'a>) -> Cow<'a, str> {
    match content {
        ItemContent::Goal { summary, .. }
        | ItemContent::Decision { summary, .. }
        | ItemContent::Fact { summary, .. }
        | ItemContent::Hypothesis { summary, .. }
        | ItemContent::Constraint { summary, .. }
        | ItemContent::Task { summary } => Cow::Borrowed(summary),
        ItemContent::Branch { alternatives } => Cow::Owned(alternatives.join(" | ")),
    }
}
