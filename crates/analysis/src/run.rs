//! A run: one analysis of one tree.
//!
//! The id of a run is the digest of everything that decided it: the path and content of each source file and of each
//! governance file, the paths that an import may mean, the settings and the analyser. Where the tree lay, when it was read, how many
//! threads worked and what was cached are no part of it, nor of anything else in a run.

use crate::api::ApiItem;
use crate::facts::{Access, FactsKey, FileFacts, Note, UnitKind};
use crate::finding::Finding;
use crate::health::Health;
use crate::join::Joined;
use crate::language::Language;
use crate::settings::{ANALYSER, Settings};
use probity_core::Digest;
use probity_core::digest::Hasher;
use probity_paths::RepoPath;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A source file as the caller has it.
#[derive(Debug, Clone)]
pub enum Source<'a> {
    /// Its bytes.
    Bytes(&'a [u8]),
    /// The digest of its bytes, and the facts that an earlier analysis took from them: see [`FactsKey::of`].
    Known {
        /// The digest of the bytes.
        content: Digest,
        /// The facts.
        facts: Arc<FileFacts>,
    },
    /// The digest of its bytes, and why they are not read: see [`Selection`](crate::Selection).
    Skipped {
        /// The digest of the bytes.
        content: Digest,
        /// Why they are not read.
        note: Note,
    },
}

/// A tree to be analysed.
#[derive(Debug, Clone, Default)]
pub struct Input<'a> {
    /// The files to analyse. Those of an unknown language are listed as not analysed.
    pub sources: BTreeMap<RepoPath, Source<'a>>,
    /// Build and CI configuration: part of what identifies the run, and read for the names of packages.
    pub governance: BTreeMap<RepoPath, &'a [u8]>,
    /// Other paths of the tree: an import of one of them is not dangling.
    pub others: BTreeSet<RepoPath>,
}

/// What an analysis yields.
#[derive(Debug, Clone)]
pub struct Analysis {
    /// The run.
    pub run: Run,
    /// The facts of every file that was read, for a cache.
    pub facts: BTreeMap<RepoPath, (FactsKey, Arc<FileFacts>)>,
}

impl FactsKey {
    /// The key of the facts of a file, or `None` if its language is unknown.
    pub fn of(path: &RepoPath, content: Digest, settings: &Settings) -> Option<Self> {
        let language = Language::of_file_name(path.file_name())?;
        Some(Self { content, language, analyser: ANALYSER.to_owned(), max_bytes: settings.max_file_bytes })
    }
}

/// The name of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct RunId(pub Digest);

impl RunId {
    /// The first eight hex digits, as people see them.
    pub fn short(&self) -> String {
        probity_core::words::short_digest(&self.0.to_hex()).to_owned()
    }
}

/// One file of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunFile {
    /// Its path.
    pub path: RepoPath,
    /// The digest of its bytes.
    pub content: Digest,
    /// Its language, if it is one that the analyser reads.
    pub language: Option<Language>,
    /// How many lines it has; 0 if it was not read.
    pub n_lines: u32,
    /// How many tokens it has.
    pub n_tokens: u32,
    /// What is worth telling about it.
    pub notes: Vec<Note>,
    /// Its own health in thousandths, if it was read.
    pub health_milli: Option<u32>,
}

impl RunFile {
    /// Whether the file was analysed, at least in part.
    pub fn is_analysed(&self) -> bool {
        self.health_milli.is_some()
    }
}

/// What was measured of one unit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Measured {
    /// The index of its file.
    pub file: u32,
    /// Its name; empty for the file itself.
    pub symbol: String,
    /// What it is.
    pub kind: UnitKind,
    /// Who may use it.
    pub access: Access,
    /// Decisions plus one.
    pub cyclomatic: u32,
    /// Cognitive complexity.
    pub cognitive: u32,
    /// The deepest nesting of control flow.
    pub nesting: u32,
    /// The line that it begins in.
    pub line: u32,
    /// Its lines.
    pub lines: u32,
    /// Its parameters.
    pub parameters: u32,
    /// For a class: groups of methods with nothing in common.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub lcom4: Option<u32>,
    /// For a class: how many other classes of the project it names.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub coupling: Option<u32>,
    /// The fingerprint of what it says, in hex.
    pub content: String,
}

/// One file needs another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dependency {
    /// The index of the file that needs.
    pub from: u32,
    /// The index of the file that is needed.
    pub to: u32,
    /// The names of the needed file that the needing one uses.
    pub names: Vec<String>,
}

/// One structural analysis of a tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// Its name.
    pub id: RunId,
    /// The analyser that made it.
    pub analyser: String,
    /// What it was told to look for.
    pub settings: Settings,
    /// All source files, in order of their paths.
    pub files: Vec<RunFile>,
    /// The governance files that are part of its identity.
    pub governance: BTreeMap<String, Digest>,
    /// The health of the tree.
    pub health: Health,
    /// The findings, by family and place.
    pub findings: Vec<Finding>,
    /// What was measured, by file and place.
    pub units: Vec<Measured>,
    /// Which files need which, sorted.
    pub dependencies: Vec<Dependency>,
    /// Files that need each other to load.
    pub cycles: Vec<Vec<u32>>,
    /// Files that share a clone.
    pub siblings: Vec<(u32, u32)>,
    /// The public interface, sorted by path and symbol.
    pub api: Vec<ApiItem>,
    /// Reports of other tools that joined in; empty for most runs.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub joined: Vec<Joined>,
}

impl Run {
    /// The file with this index.
    pub(crate) fn path(&self, file: u32) -> &RepoPath {
        &self.files[file as usize].path
    }

    /// How many files were analysed, left out, and given up on.
    pub fn file_counts(&self) -> (usize, usize, usize) {
        let analysed = self.files.iter().filter(|file| file.is_analysed()).count();
        let skipped = self.files.iter().filter(|file| file.notes.iter().any(|note| note.is_skip())).count();
        (analysed, skipped, self.files.len() - analysed - skipped)
    }
}

/// Everything that decides a run.
#[derive(Debug, Clone)]
pub struct Identity<'a> {
    /// Each source file and its content, sorted by path.
    pub sources: Vec<(&'a RepoPath, Digest)>,
    /// Each governance file and its content, sorted by path.
    pub governance: Vec<(&'a RepoPath, Digest)>,
    /// The other paths of the tree, sorted: whether an import dangles depends on them.
    pub others: Vec<&'a RepoPath>,
}

impl Identity<'_> {
    /// The id of the run of this tree, which can so be told before the tree is analysed.
    pub fn id(&self, settings: &Settings) -> RunId {
        let others = self.others.iter().map(|path| format!("{path}\n"));
        RunId(Digest::of_json(&json!({
            "analyser": ANALYSER,
            "governance": manifest(&self.governance),
            "others": digest(others),
            "settings": settings,
            "sources": manifest(&self.sources),
        })))
    }
}

/// The digest of a list as `sha256sum` prints it.
fn manifest(files: &[(&RepoPath, Digest)]) -> Digest {
    digest(files.iter().map(|(path, content)| format!("{}  {path}\n", content.to_hex())))
}

fn digest(lines: impl Iterator<Item = String>) -> Digest {
    let mut hasher = Hasher::default();
    lines.for_each(|line| hasher.update(line.as_bytes()));
    hasher.finish()
}
