//! How good an author's proposals are: what became of them, counted by code.

use crate::ledger::Ledger;
use crate::outcome::{CandidateVerdict, MergeCode, RejectCode};
use std::collections::BTreeMap;

const N_MERGE_CODES: usize = MergeCode::ALL.len();
const N_REJECT_CODES: usize = RejectCode::ALL.len();

/// What became of an author's inputs.
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

/// One line of the scoreboard.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct AuthorScore {
    /// Who proposed; empty for the nameless.
    pub author: String,
    /// How many inputs there were.
    pub inputs: u64,
    /// How many changed the state.
    pub accepted: u64,
    /// How many said what was there already.
    pub merged: u64,
    /// How many were refused.
    pub rejected: u64,
    /// Refused among all, in thousandths, rounded down; `None` without inputs.
    pub rejection_rate_permille: Option<u64>,
    /// Merges and rejections by code; codes that did not occur are left out.
    pub codes: BTreeMap<&'static str, u64>,
}

impl AuthorScore {
    fn of(author: &str, tally: &VerdictTally) -> Self {
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

impl Ledger {
    /// One score for each author, in the order of their first input.
    pub fn scoreboard(&self) -> Vec<AuthorScore> {
        self.authors.iter().map(|(author, tally)| AuthorScore::of(author, tally)).collect()
    }
}
