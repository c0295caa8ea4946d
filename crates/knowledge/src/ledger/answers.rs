//! The parts that answers share.

use probity_api::ledger::ProposalOutcome;
use probity_ledger::{Ledger, Outcome, Proposal, RejectCode, Verdict};
use probity_storage::Torn;

/// What happened besides what was asked for.
#[derive(Debug, Clone, Default)]
pub struct Notices {
    /// A crash had left something at the end of the log, and it was cut off.
    pub torn: Option<Torn>,
}

impl Notices {
    /// The notices in words.
    pub fn words(&self) -> Vec<String> {
        let torn = |torn: &Torn| {
            let Torn { at, n_bytes, kept } = torn;
            format!(
                "the log ended in {n_bytes} bytes of a write that was never acknowledged (byte {at}); they are kept in {}",
                kept.display()
            )
        };
        self.torn.iter().map(torn).collect()
    }
}

/// What became of a proposal that was decided.
pub(super) fn outcome_of(ledger: &Ledger, proposal: &Proposal<'_>, outcome: &Outcome) -> ProposalOutcome {
    let item = outcome.item.and_then(|item| ledger.item(item));
    ProposalOutcome {
        seq: Some(outcome.seq.get()),
        item: item.as_ref().map(|item| item.handle.to_owned()),
        id: item.map(|item| item.id),
        ..outcome_of_verdict(proposal, outcome.verdict)
    }
}

/// What would become of a proposal.
pub(super) fn outcome_of_verdict(proposal: &Proposal<'_>, verdict: Verdict) -> ProposalOutcome {
    let message = match verdict {
        Verdict::Accepted | Verdict::Merged(_) => None,
        Verdict::Rejected(RejectCode::InvalidField) => Some(match proposal.faulty_field() {
            Some(field) => format!("`{field}`: {}", RejectCode::InvalidField.meaning()),
            None => RejectCode::InvalidField.meaning().to_owned(),
        }),
        Verdict::Rejected(code) => Some(code.meaning().to_owned()),
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
