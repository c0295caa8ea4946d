//! Claims: what an author says about a change, checked against the facts.
//!
//! Claims come structured, or are recognised in free text ([`recognise`]); both are judged alike. What an author
//! did not claim is not judged, and what was skipped never counts as passed (law 6).

mod checked;
mod judge;
mod text;

pub use checked::{CheckedClaim, ClaimReport, ClaimVerdict, check_each};
pub use judge::{Judgement, Objection, ObjectionCode, judge};
pub use text::{AssertedClaim, KnownNames, Recognition, recognise};

use crate::profile::Check;
use crate::words::ContractStatus;
use probity_intents::Entry;
use probity_paths::RepoPath;
use probity_policy::GateKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Something that an author says about a change.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "claim", rename_all = "snake_case")]
pub enum Claim {
    /// Every check passed.
    AllChecksPassed,
    /// Only documentation was changed.
    DocsOnly,
    /// A finding is gone.
    Fixed {
        /// Its id.
        finding: String,
    },
    /// Nobody who uses the public interface notices.
    NoApiChange,
    /// Nothing got worse.
    NoRegressions,
    /// Nothing but these paths was changed.
    OnlyTouched {
        /// The paths.
        paths: BTreeSet<Entry>,
    },
    /// The tests pass.
    TestsPass {
        /// Only this gate is meant.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        gate: Option<String>,
    },
    /// The change was verified.
    Verified,
}

impl Claim {
    /// Every word that a claim can have.
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

    /// The claim that a word alone makes; `None` for one that needs more, and for a word that is no claim.
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

    /// The word for the claim.
    pub const fn word(&self) -> &'static str {
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

/// What became of a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GateOutcome {
    /// It ran and passed.
    Passed,
    /// It ran and failed.
    Failed,
    /// It was left out.
    Skipped,
    /// Nobody ran it.
    NotRun,
}

/// A gate and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GateFact {
    /// The gate.
    pub id: String,
    /// What it checks.
    pub kind: GateKind,
    /// What became of it.
    pub result: GateOutcome,
    /// Whether the change needs it to pass.
    #[serde(default = "yes")]
    pub required: bool,
    /// Why, if it did not pass.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
}

fn yes() -> bool {
    true
}

impl GateFact {
    /// Whether the gate neither passed nor failed.
    pub const fn is_open(&self) -> bool {
        matches!(self.result, GateOutcome::Skipped | GateOutcome::NotRun)
    }
}

impl GateOutcome {
    /// Its name for people.
    pub const fn words(self) -> &'static str {
        match self {
            Self::NotRun => "not run",
            Self::Passed | Self::Failed | Self::Skipped => self.word(),
        }
    }

    /// The stable word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
            Self::NotRun => "not_run",
        }
    }
}

/// What two runs say about the public interface. Symbols are written `path::name`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ApiDelta {
    /// Symbols that callers can no longer rely on.
    pub breaks: BTreeSet<String>,
    /// Symbols that are new.
    pub additions: BTreeSet<String>,
}

/// What is known about a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// The verdict.
    pub status: ContractStatus,
    /// Health after minus health before, if known.
    pub health_delta: Option<i64>,
    /// New findings in scope.
    pub intent_regressions: BTreeSet<String>,
    /// New findings outside.
    pub external_regressions: BTreeSet<String>,
    /// The gates.
    pub gates: Vec<GateFact>,
    /// The paths that really changed: D.
    pub delta: BTreeSet<RepoPath>,
    /// The findings of the before-run.
    pub before_findings: BTreeSet<String>,
    /// The findings of the after-run.
    pub after_findings: BTreeSet<String>,
    /// The checks that did not apply.
    pub checks_not_applicable: BTreeSet<Check>,
    /// What became of the public interface; `None` if the runs were not compared.
    #[serde(default)]
    pub api: Option<ApiDelta>,
}

impl Facts {
    /// The names that a text may mention without marking them as names.
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
