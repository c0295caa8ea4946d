//! Claims: what an author says about a change, checked against the facts.
//!
//! Claims come structured, or are recognized in free text ([`recognize`]); both are judged alike. What an
//! author did not claim is not judged, and what was skipped never counts as passed (law 6).

mod checked;
mod judge;
mod text;

pub use checked::{CheckedClaim, ClaimReport, ClaimVerdict, check_each};
pub use judge::{ClaimJudgment, ClaimObjection, ObjectionCode, judge_claims};
pub use text::{AssertedClaim, ClaimRecognition, KnownNames, recognize};

use crate::profile::ContractCheck;
use crate::status::ContractStatus;
use probity_intents::ScopeEntry;
use probity_paths::RepoPath;
use probity_policy::GateKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// A statement by an author about a change.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "claim", rename_all = "snake_case")]
pub enum Claim {
    /// Every check passed.
    AllChecksPassed,
    /// Only documentation changed.
    DocsOnly,
    /// A finding is gone.
    Fixed {
        /// The finding's id.
        finding: String,
    },
    /// No public symbol was removed or changed.
    NoApiChange,
    /// Nothing got worse.
    NoRegressions,
    /// No other paths changed.
    OnlyTouched {
        /// The paths.
        paths: BTreeSet<ScopeEntry>,
    },
    /// The tests pass.
    TestsPass {
        /// Restricts the claim to this gate.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        gate: Option<String>,
    },
    /// The change was verified.
    Verified,
}

impl Claim {
    pub const WORDS: [&'static str; 8] = [
        "all_checks_passed",
        "docs_only",
        "fixed",
        "no_api_change",
        "no_regressions",
        "only_touched",
        "tests_pass",
        "verified",
    ];

    /// Returns the claim that a word alone makes; `None` if the claim needs more, or for an unknown word.
    pub fn of_word(word: &str) -> Option<Self> {
        match word {
            "all_checks_passed" => Some(Self::AllChecksPassed),
            "docs_only" => Some(Self::DocsOnly),
            "no_api_change" => Some(Self::NoApiChange),
            "no_regressions" => Some(Self::NoRegressions),
            "tests_pass" => Some(Self::TestsPass { gate: None }),
            "verified" => Some(Self::Verified),
            _ => None,
        }
    }

    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::AllChecksPassed => "all_checks_passed",
            Self::DocsOnly => "docs_only",
            Self::Fixed { .. } => "fixed",
            Self::NoApiChange => "no_api_change",
            Self::NoRegressions => "no_regressions",
            Self::OnlyTouched { .. } => "only_touched",
            Self::TestsPass { .. } => "tests_pass",
            Self::Verified => "verified",
        }
    }
}

probity_core::word_enum! {
    /// What became of a gate.
    pub enum GateOutcome {
        /// It ran and passed.
        Passed = "passed",
        /// It ran and failed.
        Failed = "failed",
        /// It was left out.
        Skipped = "skipped",
        /// Nobody ran it.
        NotRun = "not_run",
        /// It was not run, because the change itself decides what it would run.
        Unverified = "unverified",
    }
}

/// A gate and its outcome.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GateFact {
    /// The gate's id.
    pub id: String,
    /// What it checks.
    pub kind: GateKind,
    /// The outcome.
    pub result: GateOutcome,
    /// True if the change needs the gate to pass.
    #[serde(default = "yes")]
    pub required: bool,
    /// Explanation if it did not pass, and changed files on which its result depends.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
    /// The changed files that decide what it runs, unless they were declared or granted.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub changed_inputs: BTreeSet<RepoPath>,
}

fn yes() -> bool {
    true
}

impl GateFact {
    /// Returns true if the gate neither passed nor failed.
    pub const fn is_open(&self) -> bool {
        matches!(self.result, GateOutcome::Skipped | GateOutcome::NotRun | GateOutcome::Unverified)
    }
}

impl GateOutcome {
    pub const fn label(self) -> &'static str {
        match self {
            Self::NotRun => "not run",
            Self::Passed | Self::Failed | Self::Skipped | Self::Unverified => self.as_str(),
        }
    }
}

/// Changes of the public interface between two runs. Symbols are written `path::name`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ApiDelta {
    /// Symbols that callers can no longer rely on.
    pub breaks: BTreeSet<String>,
    /// New symbols.
    pub additions: BTreeSet<String>,
}

/// The facts that claims are checked against.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeFacts {
    pub status: ContractStatus,
    /// Health after minus health before, if known.
    pub health_delta: Option<i64>,
    /// New findings in scope.
    pub intent_regressions: BTreeSet<String>,
    /// New findings outside the scope.
    pub external_regressions: BTreeSet<String>,
    pub gates: Vec<GateFact>,
    /// The paths that really changed (D).
    pub delta: BTreeSet<RepoPath>,
    pub before_findings: BTreeSet<String>,
    pub after_findings: BTreeSet<String>,
    pub checks_not_applicable: BTreeSet<ContractCheck>,
    /// Changes of the public interface; `None` if the runs were not compared.
    #[serde(default)]
    pub api: Option<ApiDelta>,
    /// Files in which tests were removed or are skipped.
    #[serde(default)]
    pub tests_lost: BTreeSet<RepoPath>,
}

impl ChangeFacts {
    /// Returns the names that a text may mention without marking them as names.
    pub fn known_names(&self) -> KnownNames<'_> {
        let texts = self.delta.iter().filter_map(|path| std::str::from_utf8(path.as_bytes()).ok());
        let with_folders = |path| {
            std::iter::successors(Some(path), |path: &&str| path.rsplit_once('/').map(|(folder, _)| folder))
        };
        let ids = self.before_findings.iter().chain(&self.after_findings).chain(&self.intent_regressions);
        KnownNames {
            paths: texts.flat_map(with_folders).collect(),
            findings: ids.chain(&self.external_regressions).map(String::as_str).collect(),
        }
    }
}
