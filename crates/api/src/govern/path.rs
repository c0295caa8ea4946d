//! The answer of `probity explain PATH`.

use crate::document::Answer;
use probity_evidence::ChangeKind;
use probity_paths::RepoPath;
use schemars::JsonSchema;
use serde::Serialize;

/// The answer of `probity explain PATH`: what the policy and a run say about a path.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PathExplanation {
    /// The run consulted; null if this tree has none yet.
    pub run_id: Option<String>,
    pub path: RepoPath,
    /// The treatment of the path under the present policy.
    pub now: PathStanding,
    /// Whether the sealed scope and its amendments allow it; null without a run.
    pub in_scope: Option<bool>,
    /// The pattern that decided, if one matched.
    pub decided_by: Option<String>,
    /// Who added that pattern and why, if it came from an amendment.
    pub amended: Option<String>,
    /// How the run changed it, if it did.
    pub change: Option<ChangeKind>,
    /// Whether the run changed it as a build output, which is not part of the delta.
    pub exempt: bool,
}

impl Answer for PathExplanation {
    const SCHEMA: &'static str = "probity/explain/v1";
}

/// The treatment of a path under the policy of the tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PathStanding {
    /// The type of the entry; null if the path does not exist.
    pub kind: Option<PathKind>,
    /// Whether git tracks it or something in it; null without a repository or an answer from git.
    pub tracked: Option<bool>,
    /// The rule that protects it.
    pub protected_by: Option<ProtectionRule>,
    /// The rule that makes it a build output.
    pub output_rule: Option<OutputRule>,
    /// Why it is judged although such a rule matches it.
    pub judged_because: Option<JudgedBecause>,
    /// Whether it is a build output, which is not part of the delta of a run.
    pub exempt: bool,
    /// The packs of the policy that allow it.
    pub packs: Vec<String>,
}

probity_core::word_enum! {
    /// The type of a path.
    pub enum PathKind {
        /// A file.
        File = "file",
        /// A directory.
        Directory = "directory",
        /// A symbolic link.
        Symlink = "symlink",
        /// A device, a socket or the like.
        Special = "special",
    }
}

/// Why no scope allows a run to change a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "rule", rename_all = "snake_case")]
pub enum ProtectionRule {
    /// A pattern of the policy, or one of the patterns that always protect policies and Probity's state.
    Pattern { pattern: String },
    /// It is one of git's own files.
    GitDirectory,
}

/// The rule that makes a path a build output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "rule", rename_all = "snake_case")]
pub enum OutputRule {
    /// A pattern of `build_outputs` in the policy.
    BuildOutputs { pattern: String },
    /// A directory that contains a marker of its tool.
    Recognized {
        directory: RepoPath,
        /// The file in it that serves as the marker.
        mark: String,
    },
}

probity_core::word_enum! {
    /// Why a path is judged although a rule makes it a build output.
    pub enum JudgedBecause {
        /// Git tracks it, or something in it.
        Tracked = "tracked",
        /// A gate executes it or names it as an argument.
        GateInput = "gate_input",
        /// It is code in a place where no build tool writes code.
        CodeInOutput = "code_in_output",
    }
}
