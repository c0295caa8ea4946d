//! The answer of `probity why`: how a line came to be allowed where it is.

use crate::document::Answer;
use probity_paths::RepoPath;
use schemars::JsonSchema;
use serde::Serialize;

/// Why a line is there: the chain from the line to the log.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct LineOriginAnswer {
    /// The revision that was asked about: a commit, or `worktree`.
    pub revision: String,
    pub path: RepoPath,
    /// The line, counted from 1.
    pub line: usize,
    /// The text of the line, without its end.
    pub text: String,
    /// The answer in one sentence.
    pub answer: String,
    /// The steps, from the line to the log.
    pub steps: Vec<OriginStep>,
    /// The change that let the line in, if one is known.
    pub change: Option<String>,
}

impl Answer for LineOriginAnswer {
    const SCHEMA: &'static str = "probity/why/v1";
}

probity_core::word_enum! {
    /// What a step is about.
    pub enum OriginStepKind {
        /// The commit that brought the line.
        Commit = "commit",
        /// The run or intent that made the change.
        Change = "change",
        /// The clause of the scope that let it in.
        Clause = "clause",
        /// The amendment that added the clause, and who approved it.
        Amendment = "amendment",
        /// The process or tool that wrote it.
        Process = "process",
        /// The gates that looked at it.
        Gates = "gates",
        /// What merges did with it.
        Merges = "merges",
        /// The decision that it was made under.
        Ledger = "ledger",
        /// The entry of the log that proves it.
        Proof = "proof",
    }
}

probity_core::word_enum! {
    /// What is known of a step.
    pub enum OriginKnowledge {
        /// It is known.
        Known = "known",
        /// It is known, and something is wrong with it.
        Alarming = "alarming",
        /// It is not known; the detail says why.
        Unknown = "unknown",
        /// There is nothing to know.
        None = "none",
    }
}

/// One step of the chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OriginStep {
    pub step: OriginStepKind,
    pub knowledge: OriginKnowledge,
    /// The answer of this step.
    pub answer: String,
    /// More about it, or why it is not known.
    pub detail: String,
    /// What it names: a commit, a run, an intent, an item of the ledger.
    pub name: Option<String>,
}
