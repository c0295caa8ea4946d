//! A review in the forms that CI services read. Each form is a pure function of a [`Review`].
//!
//! * [`github_summary`], [`github_annotations`]: the page of a job, and marks in the changed files.
//! * [`junit`]: checks and new findings as test cases. [`gitlab`]: new findings as a code quality report.
//!
//! Words of the tree are hostile: every form escapes them. Lists are bounded, and say what they leave out.

mod github;
mod gitlab;
mod junit;

pub use github::{github_annotations, github_summary};
pub use gitlab::gitlab;
pub use junit::junit;

use crate::claims::{CheckedClaim, GateFact};
use crate::profile::CheckResult;
use crate::words::{ContractReason, ContractStatus};
use probity_paths::RepoPath;
use probity_policy::Severity;
use schemars::JsonSchema;
use serde::{Serialize, Serializer};

/// A new finding, where a reader can find it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NewFinding {
    /// Its id.
    pub id: String,
    /// What kind of finding it is.
    pub rule: String,
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong, in a sentence.
    pub message: String,
    /// The file, if there is one.
    pub path: Option<RepoPath>,
    /// The first and the last of its lines, from 1. Documents tell the first.
    #[serde(rename = "line", serialize_with = "first_line")]
    #[schemars(with = "u32")]
    pub lines: (u32, u32),
    /// Whether it counts against the change; else something outside of the change caused it.
    #[serde(rename = "in_scope")]
    pub is_ours: bool,
    /// Whether it is let through.
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

    /// Where it is and what is wrong, in one line.
    pub fn describe(&self) -> String {
        match &self.path {
            Some(path) => format!("{path}:{} {}", self.lines.0, self.message),
            None => self.message.clone(),
        }
    }

    /// The file in text, whatever its bytes.
    fn shown_path(&self) -> String {
        self.path.as_ref().map_or_else(String::new, ToString::to_string)
    }
}

/// What a reviewer is told about a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Review {
    /// The status that the caller acts on.
    pub status: ContractStatus,
    /// Why, unless it is accepted.
    pub reason: Option<ContractReason>,
    /// What to do about it.
    pub next_step: Option<&'static str>,
    /// Everything that blocks, in words.
    pub blocking: Vec<String>,
    /// What is let through, in words.
    pub let_through: Vec<String>,
    /// What kind of change it is, in words.
    pub profile: String,
    /// The runs, as people see their ids.
    pub runs: (Option<String>, Option<String>),
    /// The health before and after.
    pub health: (Option<i64>, Option<i64>),
    /// Every check with what became of it.
    pub checks: Vec<CheckResult>,
    /// The gates of the policy.
    pub gates: Vec<GateFact>,
    /// Changed paths that were not declared, or are forbidden.
    pub out_of_scope: Vec<RepoPath>,
    /// The new findings: what counts against the change first, then the worst.
    pub findings: Vec<NewFinding>,
    /// Public symbols that callers can no longer rely on.
    pub api_breaks: Vec<String>,
    /// Claims that are false or unproven.
    pub refuted_claims: Vec<CheckedClaim>,
}
