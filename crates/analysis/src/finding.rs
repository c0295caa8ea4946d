//! Findings: what is wrong, where, and under which id.
//!
//! An id is derived from the subject of a finding, never from its location: the name of a symbol, or the
//! content of a copy. Equal subjects are numbered: `…#2` is the second. Moving or reformatting code therefore
//! keeps ids, and a third copy of a known clone is a new finding next to the known one.

use crate::facts::SourceRange;
use probity_core::Digest;
pub use probity_core::Severity;
use probity_paths::RepoPath;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The id of a finding: `<family>:<16 hex digits>#<number>`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct FindingId(String);

impl FindingId {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the id without its number.
    pub fn subject(&self) -> &str {
        self.0.split('#').next().unwrap_or(&self.0)
    }
}

/// Restores a stored id.
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
    /// The kind of a finding.
    pub enum FindingFamily {
        /// A callable, class or file that repeats another.
        Clone = "clone",
        /// Statements that repeat others.
        CloneBlock = "clone_block",
        /// A callable with too many decisions, or too hard to follow.
        Complexity = "complexity",
        Length = "length",
        Parameters = "parameters",
        Nesting = "nesting",
        /// A file that depends on too many others.
        Coupling = "coupling",
        /// A class whose methods have nothing in common.
        Cohesion = "cohesion",
        /// Files that need each other to load.
        Cycle = "cycle",
        /// An import of a project file that does not exist.
        DanglingImport = "dangling_import",
        /// Code that nothing uses.
        DeadCode = "dead_code",
        /// Branches of one conditional that do the same.
        DuplicatedBranches = "duplicated_branches",
        /// A file that the grammar cannot parse completely.
        ParseError = "parse_error",
        /// A callable with many decisions that tests hardly cover.
        Untested = "untested",
        /// A finding of another tool.
        External = "external",
    }
}

/// How certain a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// Often wrong.
    Low,
    /// Wrong if code is used in ways that analysis cannot see.
    Medium,
    /// Read directly from the code.
    High,
}

/// How similar copies are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CloneType {
    /// Type 1: the same except for layout and comments.
    Exact,
    /// Type 2: the same except for a consistent renaming and literals.
    Renamed,
    /// Type 3: some statements were added, removed or changed.
    Near,
}

/// A location of a finding.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct CodeLocation {
    /// The file.
    pub path: RepoPath,
    /// The range within the file.
    pub range: SourceRange,
    /// The enclosing unit; empty for the file itself.
    pub symbol: String,
}

/// A finding of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// The id.
    pub id: FindingId,
    /// The kind of finding.
    pub family: FindingFamily,
    /// The severity.
    pub severity: Severity,
    /// How certain it is.
    pub confidence: Confidence,
    /// The problem, in a sentence.
    pub message: String,
    /// The locations; the first is the one the finding is about.
    pub locations: Vec<CodeLocation>,
    /// Digest of the code it is about: unchanged if the code was only moved or renamed.
    pub content: Digest,
    /// The measured value, if there is one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub value: Option<u32>,
    /// For clones: how similar the copies are.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub clone_type: Option<CloneType>,
    /// For a finding of another tool: the tool and its rule, `tool/rule`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rule: Option<String>,
}

/// A finding without a number.
#[derive(Debug, Clone)]
pub(crate) struct FindingDraft {
    pub family: FindingFamily,
    pub severity: Severity,
    pub confidence: Confidence,
    pub message: String,
    pub locations: Vec<CodeLocation>,
    /// The text that the id is derived from.
    pub subject: String,
    pub content: u64,
    pub value: Option<u32>,
    pub clone_type: Option<CloneType>,
    /// For copies that were edited: how much of them is equal, in percent.
    pub similarity: Option<u32>,
    /// For clones: the number of the copy. Other findings are numbered automatically.
    pub number: Option<u32>,
    pub rule: Option<String>,
}

impl FindingDraft {
    pub(crate) fn new(
        family: FindingFamily,
        severity: Severity,
        subject: String,
        locations: Vec<CodeLocation>,
    ) -> Self {
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
            similarity: None,
            number: None,
            rule: None,
        }
    }
}

/// Assigns ids: sorted by location, equal subjects are numbered from 1.
pub(crate) fn assign_ids(mut drafts: Vec<FindingDraft>) -> Vec<Finding> {
    drafts.sort_by(|a, b| {
        (a.family, &a.locations, &a.subject, a.number).cmp(&(b.family, &b.locations, &b.subject, b.number))
    });
    let mut seen: BTreeMap<(FindingFamily, Digest), u32> = BTreeMap::new();
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

fn finding(draft: FindingDraft, subject: Digest, number: u32) -> Finding {
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
