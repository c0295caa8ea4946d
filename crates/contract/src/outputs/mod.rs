//! A review in the formats of CI services. Each is a pure function of a [`VerdictSummary`].
//!
//! * [`github_summary`], [`github_annotations`]: the page of a job, and annotations of the changed files.
//! * [`finding_annotations`]: the same annotations for findings alone.
//! * [`junit`]: checks and new findings as test cases. [`gitlab`]: new findings as a code quality report.
//!
//! Text from the tree is untrusted: every format escapes it. Lists are bounded and state what they omit.

mod github;
mod gitlab;
mod junit;

pub use github::{finding_annotations, github_annotations, github_summary};
pub use gitlab::gitlab;
pub use junit::junit;

use crate::claims::{CheckedClaim, GateFact};
use crate::profile::CheckResult;
use crate::status::{ContractReason, ContractStatus};
use probity_paths::RepoPath;
use probity_policy::Severity;
use schemars::JsonSchema;
use serde::{Serialize, Serializer};

/// A new finding with its location.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NewFinding {
    /// The finding's id.
    pub id: String,
    /// The rule that it breaks.
    pub rule: String,
    /// The severity.
    pub severity: Severity,
    /// The problem, in a sentence.
    pub message: String,
    /// The file, if there is one.
    pub path: Option<RepoPath>,
    /// First and last line, from 1. Documents contain the first.
    #[serde(rename = "line", serialize_with = "first_line")]
    #[schemars(with = "u32")]
    pub lines: (u32, u32),
    /// True if it counts against the change; otherwise something outside the change caused it.
    #[serde(rename = "in_scope")]
    pub is_ours: bool,
    /// True if it does not block.
    #[serde(rename = "let_through")]
    pub is_let_through: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes members by reference")]
fn first_line<S: Serializer>(lines: &(u32, u32), serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u32(lines.0)
}

impl NewFinding {
    fn blocks(&self) -> bool {
        self.is_ours && !self.is_let_through
    }

    /// Returns location and message in one line.
    pub fn describe(&self) -> String {
        match &self.path {
            Some(path) => format!("{path}:{} {}", self.lines.0, self.message),
            None => self.message.clone(),
        }
    }

    fn shown_path(&self) -> String {
        self.path.as_ref().map_or_else(String::new, ToString::to_string)
    }
}

/// A verdict as a reviewer reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerdictSummary {
    /// The status that the caller acts on.
    pub status: ContractStatus,
    /// The reason, unless accepted.
    pub reason: Option<ContractReason>,
    pub next_step: Option<&'static str>,
    /// Everything that blocks, in plain words.
    pub blocking: Vec<String>,
    /// Violations that do not block, in plain words.
    pub let_through: Vec<String>,
    /// The kind of change, in plain words.
    pub profile: String,
    /// Short ids of the runs before and after.
    pub runs: (Option<String>, Option<String>),
    /// The health before and after.
    pub health: (Option<i64>, Option<i64>),
    pub checks: Vec<CheckResult>,
    pub gates: Vec<GateFact>,
    /// Changed paths that were not declared or are forbidden.
    pub out_of_scope: Vec<RepoPath>,
    /// New findings: those that count against the change first, then by severity.
    pub findings: Vec<NewFinding>,
    /// Public symbols that callers can no longer rely on.
    pub api_breaks: Vec<String>,
    /// Claims that are false or unproven.
    pub refuted_claims: Vec<CheckedClaim>,
}
