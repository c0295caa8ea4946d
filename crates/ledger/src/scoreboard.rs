//! The quality of each author's proposals: verdicts counted by code.

use crate::outcome::{CandidateVerdict, MergeCode, RejectCode};
use std::collections::BTreeMap;

const N_MERGE_CODES: usize = MergeCode::ALL.len();
const N_REJECT_CODES: usize = RejectCode::ALL.len();

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct VerdictTally {
    accepted: u64,
    merged: [u64; N_MERGE_CODES],
    rejected: [u64; N_REJECT_CODES],
}

impl VerdictTally {
    pub(crate) fn count(&mut self, verdict: CandidateVerdict) {
        match verdict {
            CandidateVerdict::Accepted => self.accepted += 1,
            CandidateVerdict::Merged(code) => self.merged[code as usize] += 1,
            CandidateVerdict::Rejected(code) => self.rejected[code as usize] += 1,
        }
    }
}

/// The counts of one author.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct AuthorScore {
    /// The author; empty for an anonymous one.
    pub author: String,
    /// The number of inputs.
    pub inputs: u64,
    /// Inputs that changed the state.
    pub accepted: u64,
    /// Inputs that repeated existing state.
    pub merged: u64,
    /// Inputs that were rejected.
    pub rejected: u64,
    /// Rejected per thousand inputs, rounded down; `None` without inputs.
    pub rejection_rate_permille: Option<u64>,
    /// Merges and rejections by code; codes that did not occur are omitted.
    pub codes: BTreeMap<&'static str, u64>,
}

impl AuthorScore {
    pub(crate) fn of(author: &str, tally: &VerdictTally) -> Self {
        let merged: u64 = tally.merged.iter().sum();
        let rejected: u64 = tally.rejected.iter().sum();
        let inputs = tally.accepted + merged + rejected;
        let by_merge = MergeCode::ALL.iter().zip(tally.merged).map(|(code, n)| (code.as_str(), n));
        let by_rejection = RejectCode::ALL.iter().zip(tally.rejected).map(|(code, n)| (code.as_str(), n));
        Self {
            author: author.to_owned(),
            inputs,
            accepted: tally.accepted,
            merged,
            rejected,
            rejection_rate_permille: (rejected * 1000).checked_div(inputs),
            codes: by_merge.chain(by_rejection).filter(|&(_, n)| n > 0).collect(),
        }
    }
}
