//! Stored analyses: a single run and the list of runs.

use super::ListedFinding;
use crate::document::Answer;
use probity_analysis::{FileNote, FindingFamily, HealthDimension, JoinedReport, RunId};
use probity_core::Digest;
use probity_paths::RepoPath;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// A run without its files.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RunSummary {
    /// The first eight digits of the run's digest.
    pub run_id: String,
    /// The run's digest, derived from the tree, the settings and the analyzer.
    pub run_digest: RunId,
    /// The digest of the stored report.
    pub report_digest: Digest,
    /// The analyzer that produced it.
    pub analyser: String,
    pub health: HealthSummary,
    /// The number of findings, listed or not.
    pub n_findings: usize,
    /// The number of findings by family; 0 for families without findings.
    pub findings_by_family: BTreeMap<FindingFamily, usize>,
    /// The most severe findings, up to the requested number.
    pub findings: Vec<ListedFinding>,
    /// The number of lines in the analyzed files.
    pub n_lines: u64,
    /// The number of files by language.
    pub languages: BTreeMap<String, usize>,
    /// The files with the worst health.
    pub hot_spots: Vec<HotSpot>,
    /// Reports of other tools that were joined to the run.
    pub joined: Vec<JoinedReport>,
}

/// Health with its dimensions; the scores are null and the dimensions empty if no file was analyzed.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct HealthSummary {
    /// From 0 to 100, rounded down.
    pub score: Option<u32>,
    /// From 0 to 100,000.
    pub score_milli: Option<u32>,
    /// `A`, `B`, `C`, `D` or `F`.
    pub grade: Option<char>,
    /// Points from 0 to 100 by dimension.
    pub dimensions: BTreeMap<HealthDimension, u32>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct HotSpot {
    pub path: RepoPath,
    /// From 0 to 100.
    pub health: Option<u32>,
    pub n_lines: u32,
    /// The number of findings that name it.
    pub n_findings: usize,
}

/// The files covered by a run.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct FileSummary {
    pub analyzed: usize,
    pub skipped: usize,
    /// Files whose analysis was given up.
    pub failed: usize,
    /// Counts of files that were not analyzed, by reason.
    pub not_analyzed: BTreeMap<String, usize>,
    /// Files that were not read, or only partly, with notes: at most as many as listed findings.
    pub noted: Vec<NotedFile>,
}

/// A file with notes.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct NotedFile {
    pub path: RepoPath,
    pub notes: Vec<FileNote>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct AnalysisRunAnswer {
    #[serde(flatten)]
    pub run: RunSummary,
    pub files: FileSummary,
}

impl Answer for AnalysisRunAnswer {
    const SCHEMA: &'static str = "probity/analysis-run/v1";
}

/// The stored runs, the newest first: the answer of `probity runs list`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RunsListAnswer {
    pub runs: Vec<StoredRunSummary>,
}

impl Answer for RunsListAnswer {
    const SCHEMA: &'static str = "probity/runs-list/v1";
}

/// A run in the list of stored runs.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct StoredRunSummary {
    /// The first eight digits of the run's digest.
    pub run_id: String,
    pub run_digest: RunId,
    /// The digest of the stored report.
    pub report_digest: Digest,
    /// The analyzer that produced it.
    pub analyser: String,
    /// From 0 to 100; null if no file was analyzed.
    pub health: Option<u32>,
    /// The number of analyzed files.
    pub n_files: usize,
    pub n_findings: usize,
    /// The time at which it was last saved, in UTC.
    pub saved_at: String,
    /// Records that still need the run.
    pub pinned_by: Vec<String>,
}

/// The removed runs: the answer of `probity runs gc`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RunsGcAnswer {
    /// The first eight digits of each removed run's digest, newest first.
    pub removed: Vec<String>,
}

impl Answer for RunsGcAnswer {
    const SCHEMA: &'static str = "probity/runs-gc/v1";
}
