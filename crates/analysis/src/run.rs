//! A run: one analysis of one tree.
//!
//! The id of a run is the digest of everything that determines it: path and content of each source and
//! governance file, the other paths that an import may refer to, the settings and the analyzer. Location of
//! the tree, time, number of threads and cached facts are not part of it, nor of anything else in a run.

use crate::api::ApiItem;
use crate::facts::{AccessLevel, FileFacts, FileNote, SafeguardCounts, UnitKind};
use crate::finding::Finding;
use crate::health::Health;
use crate::language::Language;
use crate::references::FileReference;
use crate::settings::{ANALYZER, AnalysisSettings};
use probity_core::Digest;
use probity_core::digest::DigestHasher;
use probity_paths::RepoPath;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A source file as supplied by the caller.
#[derive(Debug, Clone)]
pub enum SourceInput<'a> {
    Bytes(&'a [u8]),
    /// The digest of its bytes, and the facts that an earlier analysis extracted from them: see [`FactsKey::of`].
    Known {
        content: Digest,
        facts: Arc<FileFacts>,
    },
    /// The digest of its bytes, and why they are not read: see [`SourceSelection`](crate::SourceSelection).
    Skipped {
        content: Digest,
        note: FileNote,
    },
}

#[derive(Debug, Clone, Default)]
pub struct AnalysisInput<'a> {
    /// The files to analyze. Those of an unknown language are listed as not analyzed.
    pub sources: BTreeMap<RepoPath, SourceInput<'a>>,
    /// Build and CI configuration: part of the run's identity, and read for package names.
    pub governance: BTreeMap<RepoPath, &'a [u8]>,
    /// Other paths of the tree: an import of one of them is not dangling.
    pub others: BTreeSet<RepoPath>,
}

#[derive(Debug, Clone)]
pub struct AnalysisOutput {
    pub run: AnalysisRun,
    /// The facts of every file that was read, for a cache.
    pub facts: BTreeMap<RepoPath, (FactsKey, Arc<FileFacts>)>,
}

/// Identifies facts: equal keys mean equal facts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FactsKey {
    /// Digest of the file's bytes.
    pub content: Digest,
    /// The language it was read as.
    pub language: Language,
    /// Version of the analyzer.
    pub analyser: String,
    /// The size limit, because it decides whether a file is read at all.
    pub max_bytes: u64,
}

impl FactsKey {
    /// Returns the key of a file's facts, or `None` if its language is unknown.
    pub fn of(path: &RepoPath, content: Digest, settings: &AnalysisSettings) -> Option<Self> {
        let language = Language::of_file_name(path.file_name())?;
        Some(Self { content, language, analyser: ANALYZER.to_owned(), max_bytes: settings.max_file_bytes })
    }
}

/// The id of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct RunId(pub Digest);

impl RunId {
    /// Returns the first eight hex digits, as shown to people.
    pub fn short(&self) -> String {
        probity_core::text::short_digest(&self.0.to_hex()).to_owned()
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunFile {
    pub path: RepoPath,
    /// Digest of its bytes.
    pub content: Digest,
    /// Its language, if it is one that is analyzed.
    pub language: Option<Language>,
    /// Number of lines; 0 if it was not read.
    pub n_lines: u32,
    pub n_tokens: u32,
    pub notes: Vec<FileNote>,
    /// Its own health in thousandths, if it was read.
    pub health_milli: Option<u32>,
    #[serde(default)]
    pub safeguards: SafeguardCounts,
}

impl RunFile {
    /// Returns true if the file was analyzed, at least in part.
    pub fn is_analyzed(&self) -> bool {
        self.health_milli.is_some()
    }
}

/// The measurements of one unit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnitMeasurements {
    /// Index of its file.
    pub file: u32,
    /// Empty for the file itself.
    pub symbol: String,
    pub kind: UnitKind,
    pub access: AccessLevel,
    /// Decisions plus one.
    pub cyclomatic: u32,
    pub cognitive: u32,
    /// Deepest nesting of control flow.
    pub nesting: u32,
    /// First line.
    pub line: u32,
    /// Number of lines.
    pub lines: u32,
    /// Number of parameters.
    pub parameters: u32,
    /// For a class: groups of methods with nothing in common.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub lcom4: Option<u32>,
    /// For a class: number of other project classes it names.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub coupling: Option<u32>,
    /// Fingerprint of its content, in hex.
    pub content: String,
}

/// A dependency of one file on another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileDependency {
    /// Index of the dependent file.
    pub from: u32,
    /// Index of the file it depends on.
    pub to: u32,
    /// The names of the latter that the former uses.
    pub names: Vec<String>,
}

/// One structural analysis of a tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnalysisRun {
    pub id: RunId,
    pub analyser: String,
    pub settings: AnalysisSettings,
    /// All source files, by path.
    pub files: Vec<RunFile>,
    /// The governance files that are part of its identity.
    pub governance: BTreeMap<String, Digest>,
    pub health: Health,
    /// The findings, by family and location.
    pub findings: Vec<Finding>,
    /// The measurements, by file and location.
    pub units: Vec<UnitMeasurements>,
    /// Sorted.
    pub dependencies: Vec<FileDependency>,
    /// Files that need each other to load.
    pub cycles: Vec<Vec<u32>>,
    /// Files that share a clone.
    pub siblings: Vec<(u32, u32)>,
    /// The public interface, sorted by path and symbol.
    pub api: Vec<ApiItem>,
    /// What the files refer to without declaring it, by file.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub references: Vec<FileReference>,
    /// Joined reports of other tools; empty for most runs.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub joined: Vec<JoinedReport>,
}

probity_core::word_enum! {
    /// The format of a report.
    pub enum ReportFormat {
        Sarif = "sarif",
        Lcov = "lcov",
        Cobertura = "cobertura",
    }
}

probity_core::word_enum! {
    /// Why an entry of a report is omitted.
    pub enum LeftOut {
        /// According to the report it is not a failure, is gone, or was accepted by a person.
        Suppressed = "suppressed",
        /// It has no location, or its location is not the path of a file.
        NoPlace = "no_place",
        /// It is outside the root of this tree.
        OutsideTree = "outside_tree",
        /// Coverage of a file that is not in the run.
        UnknownFile = "unknown_file",
    }
}

/// A report joined to a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JoinedReport {
    /// The format.
    pub format: ReportFormat,
    /// Digest of its bytes.
    pub content: Digest,
    /// The tools that it names.
    pub tools: Vec<String>,
    /// Number of findings, or of files with coverage, that were taken.
    pub n_taken: u32,
    /// Number of omitted entries, by reason.
    pub left_out: BTreeMap<LeftOut, u32>,
}

impl JoinedReport {
    pub(crate) fn new(format: ReportFormat, bytes: &[u8]) -> Self {
        Self { format, content: Digest::of(bytes), tools: Vec::new(), n_taken: 0, left_out: BTreeMap::new() }
    }

    pub(crate) fn leave_out(&mut self, why: LeftOut) {
        *self.left_out.entry(why).or_default() += 1;
    }
}

impl AnalysisRun {
    pub(crate) fn path(&self, file: u32) -> &RepoPath {
        &self.files[file as usize].path
    }

    /// Returns the numbers of analyzed, skipped and failed files.
    pub fn file_counts(&self) -> (usize, usize, usize) {
        let analyzed = self.files.iter().filter(|file| file.is_analyzed()).count();
        let skipped = self.files.iter().filter(|file| file.notes.iter().any(|note| note.is_skip())).count();
        (analyzed, skipped, self.files.len() - analyzed - skipped)
    }
}

/// Everything that determines a run's id.
#[derive(Debug, Clone)]
pub struct RunIdentity<'a> {
    /// Source files with their digests, sorted by path.
    pub sources: Vec<(&'a RepoPath, Digest)>,
    /// Governance files with their digests, sorted by path.
    pub governance: Vec<(&'a RepoPath, Digest)>,
    /// The other paths of the tree, sorted: whether an import is dangling depends on them.
    pub others: Vec<&'a RepoPath>,
}

impl RunIdentity<'_> {
    /// Computes the id of the run, without analyzing the tree.
    pub fn id(&self, settings: &AnalysisSettings) -> RunId {
        let others = self.others.iter().map(|path| format!("{path}\n"));
        RunId(Digest::of_json(&json!({
            "analyser": ANALYZER,
            "governance": manifest(&self.governance),
            "others": digest(others),
            "settings": settings,
            "sources": manifest(&self.sources),
        })))
    }
}

/// Hashes a list in the format of `sha256sum`.
fn manifest(files: &[(&RepoPath, Digest)]) -> Digest {
    digest(files.iter().map(|(path, content)| format!("{}  {path}\n", content.to_hex())))
}

fn digest(lines: impl Iterator<Item = String>) -> Digest {
    let mut hasher = DigestHasher::default();
    lines.for_each(|line| hasher.update(line.as_bytes()));
    hasher.finish()
}
