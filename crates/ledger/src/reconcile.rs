//! The reconciler: the one authority that turns candidates into state.
//!
//! Each candidate is decided (see `decide`) and then applied. The outcome is a pure function of the state, the author
//! and the candidates in their order: no clock, no randomness, and no input that panics.

use crate::candidate::{Content, MAX_ALTERNATIVES, Proposal};
use crate::decide::{Alteration, Desk, Plan, Successor};
use crate::identity::Meaning;
use crate::ledger::{Delivered, Ledger, NewItem};
use crate::outcome::{MergeCode, Outcome, RejectCode, Verdict};
use crate::record::{Entry, ItemId, Seq};
use crate::sources::Known;
use crate::words::{Confidence, ItemKind, Status};

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
        let texts = self.texts.len() + proposals.len().saturating_mul(MAX_ALTERNATIVES + 4);
        let sources = self.sources.len().saturating_add(n_sources.saturating_mul(2));
        let has_room = self.entries.len() + proposals.len() < limit && texts < limit && sources < limit;
        has_room.then_some(()).ok_or(LedgerFull { inputs: proposals.len() })
    }

    fn rule_on(&mut self, author: &str, proposals: &[Proposal<'_>]) -> Vec<Ruling> {
        let mut desk = Desk { normalizer: std::mem::take(&mut self.normalizer), ..Desk::default() };
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
        self.normalizer = desk.normalizer;
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
            self.add_alias(alias, item, seq);
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
