//! The answer of `probity explain PATH`.

use crate::document::Answer;
use probity_evidence::ChangeKind;
use probity_paths::RepoPath;
use schemars::JsonSchema;
use serde::Serialize;

/// What `probity explain PATH` answers: what the policy and a run say about a path.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PathExplanation {
    /// The run that is asked; null if there is none in this tree yet.
    pub run_id: Option<String>,
    /// The path.
    pub path: RepoPath,
    /// What the policy of the tree says about it now.
    pub now: PathStanding,
    /// Whether the sealed scope and its amendments let it in; null without a run.
    pub in_scope: Option<bool>,
    /// The pattern that decided, if one matched.
    pub decided_by: Option<String>,
    /// Who added that pattern and why, if it is an amendment.
    pub amended: Option<String>,
    /// How the run changed it, if it did.
    pub change: Option<ChangeKind>,
    /// Whether the run changed it as a build output, and so not as part of the delta.
    pub exempt: bool,
}

impl Answer for PathExplanation {
    const SCHEMA: &'static str = "probity/explain/v1";
}

/// Where a path stands under the policy of the tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PathStanding {
    /// What is there; null if the path does not exist.
    pub kind: Option<PathKind>,
    /// Whether git tracks it, or something in it; null if git gave no answer, or there is no repository.
    pub tracked: Option<bool>,
    /// What protects it.
    pub protected_by: Option<ProtectionRule>,
    /// The rule by which it counts as what builds write.
    pub output_rule: Option<OutputRule>,
    /// Why it is judged although such a rule names it.
    pub judged_because: Option<JudgedBecause>,
    /// Whether it is a build output, and so no part of the delta of a run.
    pub exempt: bool,
    /// The packs of the policy that let it in.
    pub packs: Vec<String>,
}

probity_core::word_enum! {
    /// What is at a path.
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

/// Why no scope lets a run change a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "rule", rename_all = "snake_case")]
pub enum ProtectionRule {
    /// A pattern of the policy, or one that protects policies and Probity's state everywhere.
    Pattern {
        /// The pattern.
        pattern: String,
    },
    /// It is one of git's own files.
    GitDirectory,
}

/// The rule by which a path counts as what builds write.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "rule", rename_all = "snake_case")]
pub enum OutputRule {
    /// A pattern of `build_outputs` in the policy.
    BuildOutputs {
        /// The pattern.
        pattern: String,
    },
    /// A directory that says itself what it is.
    Recognized {
        /// The directory.
        directory: RepoPath,
        /// The file in it that says so.
        mark: String,
    },
}

probity_core::word_enum! {
    /// Why a path is judged although a rule counts it as what builds write.
    pub enum JudgedBecause {
        /// Git tracks it, or something in it.
        Tracked = "tracked",
        /// A gate executes it, or is given it by name.
        GateInput = "gate_input",
        /// It is code where no build tool writes any.
        CodeInOutput = "code_in_output",
    }
}
