//! Stored analyses: one, and the list of them.

use super::ListedFinding;
use crate::document::Answer;
use probity_analysis::{FileNote, FindingFamily, HealthDimension, JoinedReport, RunId};
use probity_core::Digest;
use probity_paths::RepoPath;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// What a run says, without its files.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RunSummary {
    /// The first eight digits of the run's digest.
    pub run_id: String,
    /// The run's digest, which follows from the tree, the settings and the analyser.
    pub run_digest: RunId,
    /// The digest of what was stored.
    pub report_digest: Digest,
    /// The analyser that made it.
    pub analyser: String,
    /// The health of the tree.
    pub health: HealthSummary,
    /// How many findings there are, listed or not.
    pub n_findings: usize,
    /// How many findings each family has; families without findings have 0.
    pub findings_by_family: BTreeMap<FindingFamily, usize>,
    /// The most severe findings first, as many as were asked for.
    pub findings: Vec<ListedFinding>,
    /// How many lines the analyzed files have.
    pub n_lines: u64,
    /// How many files each language has.
    pub languages: BTreeMap<String, usize>,
    /// The files whose health is worst.
    pub hot_spots: Vec<HotSpot>,
    /// Reports of other tools that joined the run.
    pub joined: Vec<JoinedReport>,
}

/// Health with its dimensions: null scores and no dimensions if no file was analyzed.
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

/// A file with bad health.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct HotSpot {
    /// The file.
    pub path: RepoPath,
    /// From 0 to 100.
    pub health: Option<u32>,
    /// How many lines it has.
    pub n_lines: u32,
    /// How many findings name it.
    pub n_findings: usize,
}

/// Which files a run is about.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct FileSummary {
    /// How many were analyzed.
    pub analyzed: usize,
    /// How many were not read.
    pub skipped: usize,
    /// How many were given up on.
    pub failed: usize,
    /// How many were not analyzed, by reason.
    pub not_analyzed: BTreeMap<String, usize>,
    /// Files that were not read, or not as they are, with what was noted: at most as many as findings are listed.
    pub noted: Vec<NotedFile>,
}

/// A file with something worth telling.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct NotedFile {
    /// The file.
    pub path: RepoPath,
    /// What was noted.
    pub notes: Vec<FileNote>,
}

/// A stored run: the answer of `probity runs show`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct AnalysisRunAnswer {
    /// The run.
    #[serde(flatten)]
    pub run: RunSummary,
    /// Its files.
    pub files: FileSummary,
}

impl Answer for AnalysisRunAnswer {
    const SCHEMA: &'static str = "probity/analysis-run/v1";
}

/// The stored runs, the newest first: the answer of `probity runs list`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RunsListAnswer {
    /// The runs.
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
    /// The run's digest.
    pub run_digest: RunId,
    /// The digest of what was stored.
    pub report_digest: Digest,
    /// The analyser that made it.
    pub analyser: String,
    /// From 0 to 100; null if no file was analyzed.
    pub health: Option<u32>,
    /// How many files were analyzed.
    pub n_files: usize,
    /// How many findings it has.
    pub n_findings: usize,
    /// When it was last saved, in UTC.
    pub saved_at: String,
    /// Who needs it.
    pub pinned_by: Vec<String>,
}

/// What was cleared away: the answer of `probity runs gc`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RunsGcAnswer {
    /// The runs that are gone, by the first eight digits of their digests, the newest first.
    pub removed: Vec<String>,
}

impl Answer for RunsGcAnswer {
    const SCHEMA: &'static str = "probity/runs-gc/v1";
}
