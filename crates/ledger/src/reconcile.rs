//! The reconciler: the only code that turns candidates into state.
//!
//! Each candidate is decided (see `decide`) and then applied. The outcome is a pure function of the state, the author
//! and the candidates in order: no clock, no randomness, and no input that panics.

use crate::candidate::{DeltaProposal, ItemContent, MAX_ALTERNATIVES};
use crate::decide::{CandidatePlan, ItemAlteration, ReconcileScratch, SuccessorItem};
use crate::identity::StatementKey;
use crate::item_record::{InputEntry, ItemId, LedgerSeq};
use crate::ledger::{DeliveredDelta, Ledger, NewItem};
use crate::outcome::{CandidateVerdict, MergeCode, RejectCode};
use crate::sources::KnownSource;
use crate::vocabulary::{ConfidenceLevel, ItemKind, ItemStatus};

/// The position of one candidate in the ledger, and the verdict on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CandidateOutcome {
    pub seq: LedgerSeq,
    pub verdict: CandidateVerdict,
    /// The item it touched, or the new item for a successor. `None` if rejected.
    pub item: Option<ItemId>,
}

/// The effect of one rejected candidate on the rest of its batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BatchMode {
    /// The others keep their effect.
    BestEffort,
    /// None of them takes effect; each still gets its position.
    Atomic,
}

/// The ledger has no room for another batch: its positions and ids are 32-bit numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the ledger is full: it cannot number {inputs} more inputs")]
pub struct LedgerFull {
    pub inputs: usize,
}

/// A verdict with the items it is about.
#[derive(Debug, Clone, Copy)]
struct CandidateRuling {
    verdict: CandidateVerdict,
    item: Option<ItemId>,
    other: Option<ItemId>,
}

impl CandidateRuling {
    const fn rejected(code: RejectCode) -> Self {
        Self { verdict: CandidateVerdict::Rejected(code), item: None, other: None }
    }
}

impl Ledger {
    /// Reconciles the candidates of one author, in order. Each gets its own position and outcome.
    pub fn reconcile(
        &mut self,
        author: &str,
        mode: BatchMode,
        proposals: &[DeltaProposal<'_>],
    ) -> Result<Vec<CandidateOutcome>, LedgerFull> {
        self.check_room(proposals)?;
        let mark = (mode == BatchMode::Atomic).then(|| self.open_journal());
        let mut rulings = self.rule_on(author, proposals);
        let is_rejected = |ruling: &CandidateRuling| matches!(ruling.verdict, CandidateVerdict::Rejected(_));
        match mark {
            Some(mark) if rulings.iter().any(is_rejected) => {
                self.roll_back(mark);
                for ruling in rulings.iter_mut().filter(|ruling| !is_rejected(ruling)) {
                    *ruling = CandidateRuling::rejected(RejectCode::BatchAborted);
                }
            }
            _ => self.close_journal(),
        }
        Ok(self.log_rulings(author, proposals, &rulings))
    }

    /// Returns what [`Self::reconcile`] would decide, without changing the ledger.
    pub fn rehearse(
        &mut self,
        author: &str,
        mode: BatchMode,
        proposals: &[DeltaProposal<'_>],
    ) -> Result<Vec<CandidateVerdict>, LedgerFull> {
        self.check_room(proposals)?;
        let mark = self.open_journal();
        let rulings = self.rule_on(author, proposals);
        self.roll_back(mark);
        let mut verdicts: Vec<_> = rulings.iter().map(|ruling| ruling.verdict).collect();
        if mode == BatchMode::Atomic && verdicts.iter().any(|verdict| !verdict.took_effect()) {
            for verdict in verdicts.iter_mut().filter(|verdict| verdict.took_effect()) {
                *verdict = CandidateVerdict::Rejected(RejectCode::BatchAborted);
            }
        }
        Ok(verdicts)
    }

    /// Refuses a batch that could exhaust the 32-bit ids in the worst case.
    fn check_room(&self, proposals: &[DeltaProposal<'_>]) -> Result<(), LedgerFull> {
        let limit = u32::MAX as usize / 2;
        let n_sources: usize = proposals.iter().flat_map(|proposal| &proposal.sources).map(Vec::len).sum();
        let texts = self.texts.len() + proposals.len().saturating_mul(MAX_ALTERNATIVES + 4);
        let sources = self.sources.len().saturating_add(n_sources.saturating_mul(2));
        let has_room = self.entries.len() + proposals.len() < limit && texts < limit && sources < limit;
        has_room.then_some(()).ok_or(LedgerFull { inputs: proposals.len() })
    }

    fn rule_on(&mut self, author: &str, proposals: &[DeltaProposal<'_>]) -> Vec<CandidateRuling> {
        let mut desk = ReconcileScratch {
            normalizer: std::mem::take(&mut self.normalizer),
            ..ReconcileScratch::default()
        };
        let mut rulings = Vec::with_capacity(proposals.len());
        let mut seq = self.head();
        for proposal in proposals {
            seq.0 += 1;
            desk.sources.clear();
            rulings.push(match self.decide(author, proposal, &mut desk) {
                Ok(plan) => self.carry_out(plan, proposal, &desk.sources, seq),
                Err(code) => CandidateRuling::rejected(code),
            });
        }
        self.normalizer = desk.normalizer;
        rulings
    }

    fn log_rulings(
        &mut self,
        author: &str,
        proposals: &[DeltaProposal<'_>],
        rulings: &[CandidateRuling],
    ) -> Vec<CandidateOutcome> {
        let author = self.author(author);
        let mut outcomes = Vec::with_capacity(rulings.len());
        for (proposal, &CandidateRuling { verdict, item, other }) in proposals.iter().zip(rulings) {
            self.log(author, InputEntry { author, item, other, kind: proposal.kind, verdict });
            outcomes.push(CandidateOutcome { seq: self.head(), verdict, item });
        }
        outcomes
    }

    // Applying. Nothing below can fail.

    fn carry_out(
        &mut self,
        plan: CandidatePlan<'_>,
        proposal: &DeltaProposal<'_>,
        sources: &[KnownSource],
        seq: LedgerSeq,
    ) -> CandidateRuling {
        let (verdict, item, other) = self.apply(plan, sources, seq);
        if let Some(key) =
            proposal.key.filter(|_| verdict != CandidateVerdict::Merged(MergeCode::Redelivered))
        {
            // Only well-formed proposals reach this point, so there is always a fingerprint.
            if let Some(fingerprint) = proposal.fingerprint() {
                self.remember_key(key, DeliveredDelta { fingerprint, item });
            }
        }
        CandidateRuling { verdict, item: Some(item), other }
    }

    fn apply(
        &mut self,
        plan: CandidatePlan<'_>,
        sources: &[KnownSource],
        seq: LedgerSeq,
    ) -> (CandidateVerdict, ItemId, Option<ItemId>) {
        let duplicate = CandidateVerdict::Merged(MergeCode::Duplicate);
        match plan {
            CandidatePlan::Redelivered { item } => {
                (CandidateVerdict::Merged(MergeCode::Redelivered), item, None)
            }
            CandidatePlan::Create { kind, handle, content, summary, meaning } => {
                let item = self.create(kind, handle, content, &summary, meaning, seq);
                self.add_sources(item, sources, seq);
                (CandidateVerdict::Accepted, item, None)
            }
            CandidatePlan::Restate { item, alias, confidence, hard } => {
                self.restate(item, alias, confidence, hard, seq);
                self.add_sources(item, sources, seq);
                (duplicate, item, None)
            }
            CandidatePlan::Repeat { item } => {
                self.add_sources(item, sources, seq);
                (duplicate, item, None)
            }
            CandidatePlan::Succeed { item, new } => {
                let successor = self.succeed(item, &new, sources, seq);
                (CandidateVerdict::Accepted, successor, Some(item))
            }
            CandidatePlan::Supersede { item, reason, by } => {
                self.add_sources(item, sources, seq);
                self.close_item(item, ItemStatus::Superseded, Some(reason), seq);
                if let Some(by) = by {
                    self.link_successor(item, by, seq);
                }
                (CandidateVerdict::Accepted, item, by)
            }
            CandidatePlan::Alter { item, how } => {
                self.alter(item, &how, seq);
                self.add_sources(item, sources, seq);
                (CandidateVerdict::Accepted, item, None)
            }
        }
    }

    fn alter(&mut self, item: ItemId, how: &ItemAlteration<'_>, seq: LedgerSeq) {
        match *how {
            ItemAlteration::Reword(ref rewording) => self.reword(item, rewording, seq),
            ItemAlteration::Reweigh(confidence) => self.set_confidence(item, confidence, seq),
            ItemAlteration::Resolve { note } => self.close_item(item, ItemStatus::Resolved, Some(note), seq),
            ItemAlteration::Promote(confidence) => {
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
        content: &ItemContent<'_>,
        summary: &str,
        meaning: StatementKey,
        seq: LedgerSeq,
    ) -> ItemId {
        let status = match kind {
            ItemKind::Hypothesis | ItemKind::Branch => ItemStatus::Tentative,
            _ => ItemStatus::Active,
        };
        let (confidence, hard) = (content.confidence(), content.is_hard());
        let item = self.add_item(&NewItem { kind, status, handle, summary, meaning, confidence, hard }, seq);
        if let ItemContent::Branch { alternatives } = content {
            self.add_alternatives(item, alternatives);
        }
        item
    }

    /// Merges a restatement: it may raise the confidence but never lowers it, and never softens a hard constraint.
    fn restate(
        &mut self,
        item: ItemId,
        alias: Option<&str>,
        confidence: ConfidenceLevel,
        hard: bool,
        seq: LedgerSeq,
    ) {
        if let Some(alias) = alias {
            self.add_alias(alias, item, seq);
        }
        if hard && self.record(item).hardened.is_none() {
            self.harden(item, seq);
        }
        if confidence > self.record(item).confidence {
            self.set_confidence(item, confidence, seq);
        }
    }

    fn succeed(
        &mut self,
        item: ItemId,
        new: &SuccessorItem<'_>,
        sources: &[KnownSource],
        seq: LedgerSeq,
    ) -> ItemId {
        self.add_sources(item, sources, seq);
        if let Some(status) = new.old_status {
            self.close_item(item, status, None, seq);
        }
        let successor = self.add_item(
            &NewItem {
                kind: new.kind,
                status: ItemStatus::Active,
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
        self.link_successor(item, successor, seq);
        successor
    }
}
