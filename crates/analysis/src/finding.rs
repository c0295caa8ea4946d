//! Findings: what is wrong, where, and under which name it is known.
//!
//! An id comes from what the finding is about, never from where it stands: the name of a symbol, or the content of a
//! copy. Equal ones are counted: `…#2` is the second. So moving, reformatting or shifting code keeps ids, and a third
//! copy of a known clone is a new finding beside the one that was known.

use crate::facts::Range;
use probity_core::Digest;
pub use probity_core::Severity;
use probity_paths::RepoPath;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The name of a finding: `<family>:<16 hex digits>#<number>`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct FindingId(String);

impl FindingId {
    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// An id that was stored.
impl From<String> for FindingId {
    fn from(id: String) -> Self {
        Self(id)
    }
}

impl std::fmt::Display for FindingId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

probity_core::word_enum! {
    /// What a finding is about.
    pub enum Family {
        /// A callable, class or file that repeats another.
        Clone = "clone",
        /// Statements that repeat others.
        CloneBlock = "clone_block",
        /// A callable with too many decisions, or too hard to follow.
        Complexity = "complexity",
        /// A callable that is too long.
        Length = "length",
        /// A callable with too many parameters.
        Parameters = "parameters",
        /// A callable whose control flow nests too deeply.
        Nesting = "nesting",
        /// A file that depends on too many others.
        Coupling = "coupling",
        /// A class whose methods have nothing in common.
        Cohesion = "cohesion",
        /// Files that need each other to load.
        Cycle = "cycle",
        /// An import of a project file that is not there.
        DanglingImport = "dangling_import",
        /// Code that nothing uses.
        DeadCode = "dead_code",
        /// Branches of one conditional that do the same.
        DuplicatedBranches = "duplicated_branches",
        /// A file with places that the grammar cannot read.
        ParseError = "parse_error",
        /// A callable with many decisions that tests hardly run.
        Untested = "untested",
        /// What another tool found.
        External = "external",
    }
}

/// How sure a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// May well be wrong.
    Low,
    /// Wrong where code is reached in ways that cannot be seen.
    Medium,
    /// Read from the code itself.
    High,
}

/// How alike copies are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CloneType {
    /// Type 1: the same but for layout and comments.
    Exact,
    /// Type 2: the same but for a consistent renaming, and for literals.
    Renamed,
    /// Type 3: some statements were added, removed or changed.
    Near,
}

/// A place that a finding speaks of.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Location {
    /// The file.
    pub path: RepoPath,
    /// Where in the file.
    pub range: Range,
    /// The unit that the place is in; empty for the file itself.
    pub symbol: String,
}

/// A finding of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// Its name.
    pub id: FindingId,
    /// What it is about.
    pub family: Family,
    /// How much it matters.
    pub severity: Severity,
    /// How sure it is.
    pub confidence: Confidence,
    /// What is wrong, in a sentence.
    pub message: String,
    /// The places, the one that the finding is about first.
    pub locations: Vec<Location>,
    /// The content it is about: equal when the code was only moved or renamed.
    pub content: Digest,
    /// What was measured, where something was.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub value: Option<u32>,
    /// For clones: how alike the copies are.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub clone_type: Option<CloneType>,
    /// For a finding of another tool: the tool and its rule, `tool/rule`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rule: Option<String>,
}

/// A finding that has no number yet.
#[derive(Debug, Clone)]
pub(crate) struct Draft {
    pub family: Family,
    pub severity: Severity,
    pub confidence: Confidence,
    pub message: String,
    pub locations: Vec<Location>,
    /// What the id is made from.
    pub subject: String,
    pub content: u64,
    pub value: Option<u32>,
    pub clone_type: Option<CloneType>,
    /// For clones: which copy this is. Others are counted.
    pub number: Option<u32>,
    pub rule: Option<String>,
}

impl Draft {
    pub(crate) fn new(family: Family, severity: Severity, subject: String, locations: Vec<Location>) -> Self {
        Self {
            family,
            severity,
            confidence: Confidence::High,
            message: String::new(),
            locations,
            subject,
            content: 0,
            value: None,
            clone_type: None,
            number: None,
            rule: None,
        }
    }
}

/// Gives drafts their ids: sorted by place, equal subjects are numbered from 1.
pub(crate) fn number(mut drafts: Vec<Draft>) -> Vec<Finding> {
    drafts.sort_by(|a, b| {
        (a.family, &a.locations, &a.subject, a.number).cmp(&(b.family, &b.locations, &b.subject, b.number))
    });
    let mut seen: BTreeMap<(Family, Digest), u32> = BTreeMap::new();
    drafts
        .into_iter()
        .map(|draft| {
            let subject = Digest::of(draft.subject.as_bytes());
            let counter = seen.entry((draft.family, subject)).or_default();
            *counter += 1;
            let number = draft.number.unwrap_or(*counter);
            finding(draft, subject, number)
        })
        .collect()
}

fn finding(draft: Draft, subject: Digest, number: u32) -> Finding {
    let id = FindingId(format!("{}:{}#{number}", draft.family.as_str(), &subject.to_hex()[..16]));
    Finding {
        id,
        family: draft.family,
        severity: draft.severity,
        confidence: draft.confidence,
        message: draft.message,
        locations: draft.locations,
        content: Digest::of(&draft.content.to_be_bytes()),
        value: draft.value,
        clone_type: draft.clone_type,
        rule: draft.rule,
    }
}
