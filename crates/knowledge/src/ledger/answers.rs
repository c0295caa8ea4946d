//! Parts that several answers share.

use probity_api::ledger::ProposalOutcome;
use probity_ledger::{CandidateOutcome, CandidateVerdict, DeltaProposal, Ledger, RejectCode};
use probity_storage::TornTail;

/// Side effects that the user should know about.
#[derive(Debug, Clone, Default)]
pub struct LedgerNotices {
    /// An incomplete write at the end of the log, left by a crash and cut off.
    pub torn: Option<TornTail>,
    /// The number of bytes at the end of the log that are no complete write, found by a reader.
    pub n_torn_bytes: u64,
}

impl LedgerNotices {
    pub fn messages(&self) -> Vec<String> {
        let torn = |torn: &TornTail| {
            let TornTail { at, n_bytes, kept } = torn;
            format!(
                "the log ended in {n_bytes} bytes of a write that was never acknowledged (byte {at}); they are kept in {}",
                kept.display()
            )
        };
        let unread = (self.torn.is_none() && self.n_torn_bytes > 0)
            .then(|| format!("torn end, {} bytes: a write that was never acknowledged", self.n_torn_bytes));
        self.torn.iter().map(torn).chain(unread).collect()
    }
}

/// Returns the outcome of a reconciled proposal.
pub(super) fn outcome_of(
    ledger: &Ledger,
    proposal: &DeltaProposal<'_>,
    outcome: &CandidateOutcome,
) -> ProposalOutcome {
    // A view of the item would list all its sources for each outcome.
    let id = outcome.item.and_then(|item| ledger.assigned_id(item));
    ProposalOutcome {
        seq: Some(outcome.seq.get()),
        item: outcome.item.filter(|_| id.is_some()).map(|item| ledger.handle(item).to_owned()),
        id,
        ..outcome_of_verdict(proposal, outcome.verdict)
    }
}

/// Returns the outcome that a proposal would have.
pub(super) fn outcome_of_verdict(proposal: &DeltaProposal<'_>, verdict: CandidateVerdict) -> ProposalOutcome {
    let message = match verdict {
        CandidateVerdict::Accepted | CandidateVerdict::Merged(_) => None,
        CandidateVerdict::Rejected(RejectCode::InvalidField) => Some(match proposal.faulty_field() {
            Some(field) => format!("`{field}`: {}", RejectCode::InvalidField.meaning()),
            None => RejectCode::InvalidField.meaning().to_owned(),
        }),
        CandidateVerdict::Rejected(code) => Some(code.meaning().to_owned()),
    };
    ProposalOutcome {
        seq: None,
        outcome: verdict.kind(),
        code: verdict.code(),
        message,
        item: None,
        id: None,
    }
}
