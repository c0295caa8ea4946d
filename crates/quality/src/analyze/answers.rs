//! Turns analyses into answers, in one form for every surface.

use super::{AnalysisResult, BaselineState, ChangedSince};
use crate::analysis_store::{AnalysisListing, SummarizedFindings};
use probity_analysis::{AnalysisRun, FileNote, FindingOutline, Health, HealthDimension, RunFile};
use probity_api::quality::{
    AnalysisRunAnswer, BaselineStatus, BaselineSummary, FileSummary, HealthSummary, HotSpot, ListedFinding,
    NotedFile, RevisionComparison, RunComparison, RunSummary, StoredRunSummary, TreeFileSummary,
};
use probity_core::Digest;
use std::collections::BTreeMap;

const MAX_HOT_SPOTS: usize = 10;

/// How many findings a summary for people shows.
pub const MAX_SHOWN_FINDINGS: usize = 10;

/// Limits the findings in an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FindingLimits {
    /// How many findings, most severe first; also how many files with notes.
    pub max_findings: usize,
    /// How many locations per finding: a copy may have a hundred.
    pub max_locations: usize,
}

impl FindingLimits {
    pub const fn with_all_locations(max_findings: usize) -> Self {
        Self { max_findings, max_locations: usize::MAX }
    }
}

pub fn analysis_run(run: &AnalysisRun, report_digest: Digest, limits: FindingLimits) -> AnalysisRunAnswer {
    AnalysisRunAnswer {
        run: run_summary(run, &SummarizedFindings::of(run, limits.max_findings), report_digest, limits),
        files: file_summary(run, limits.max_findings),
    }
}

/// Summarizes an analysis without its files. Its own findings may be left out of `run`.
pub(super) fn run_summary(
    run: &AnalysisRun,
    findings: &SummarizedFindings,
    report_digest: Digest,
    limits: FindingLimits,
) -> RunSummary {
    let SummarizedFindings { outline, listed } = findings;
    let listed = listed.iter().take(limits.max_findings).cloned();
    RunSummary {
        run_id: run.id.short(),
        run_digest: run.id,
        report_digest,
        analyser: run.analyser.clone(),
        health: health(&run.health),
        n_findings: outline.n_findings,
        findings_by_family: outline.by_family.clone(),
        findings: listed.map(|finding| ListedFinding::new(finding, limits.max_locations)).collect(),
        n_lines: run.files.iter().map(|file| u64::from(file.n_lines)).sum(),
        languages: languages(run),
        hot_spots: hot_spots(run, outline).into_iter().map(hot_spot).collect(),
        joined: run.joined.clone(),
    }
}

fn file_summary(run: &AnalysisRun, max_noted: usize) -> FileSummary {
    let (analyzed, skipped, failed) = run.file_counts();
    let noted = |file: &RunFile| NotedFile { path: file.path.clone(), notes: file.notes.clone() };
    FileSummary {
        analyzed,
        skipped,
        failed,
        not_analyzed: not_analyzed(run).into_iter().map(|(reason, n)| (reason.to_owned(), n)).collect(),
        noted: self::files_with_notes(&run.files, max_noted).map(noted).collect(),
    }
}

pub(super) fn tree_file_summary(analyzed: &AnalysisResult, max_noted: usize) -> TreeFileSummary {
    TreeFileSummary {
        files: file_summary(&analyzed.run, max_noted),
        left_out: analyzed.left_out.clone(),
        unreadable: analyzed.unreadable.clone(),
    }
}

fn health(health: &Health) -> HealthSummary {
    let points = health.dimensions.iter().map(|part| (part.dimension, part.score_milli / 1000));
    let dimensions: BTreeMap<HealthDimension, u32> = points.collect();
    HealthSummary {
        score: health.score(),
        score_milli: health.known_milli(),
        grade: health.grade(),
        dimensions,
    }
}

/// Counts the files that were not analyzed, by reason.
pub fn not_analyzed(run: &AnalysisRun) -> BTreeMap<&'static str, usize> {
    let mut counts = BTreeMap::new();
    for file in run.files.iter().filter(|file| !file.is_analyzed()) {
        *counts.entry(file.notes.first().map_or("empty", |note| note.as_str())).or_default() += 1;
    }
    counts
}

/// Returns files that were not read, or not in full, with their notes; at most `limit`, sorted by path.
pub fn files_with_notes(files: &[RunFile], limit: usize) -> impl Iterator<Item = &RunFile> {
    files.iter().filter(|file| !file.notes.is_empty()).take(limit)
}

/// Counts the files in unsupported languages, by extension.
pub fn unread_extensions(files: &[RunFile]) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for file in files.iter().filter(|file| file.notes.contains(&FileNote::UnknownLanguage)) {
        let name = String::from_utf8_lossy(file.path.file_name()).into_owned();
        let extension = name.rsplit_once('.').map_or(name.as_str(), |(_, extension)| extension);
        *counts.entry(extension.to_owned()).or_default() += 1;
    }
    counts
}

fn languages(run: &AnalysisRun) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for file in run.files.iter().filter(|file| file.is_analyzed()) {
        let name = file.language.map_or("", |language| language.name());
        *counts.entry(name.to_owned()).or_default() += 1;
    }
    counts
}

/// Returns the files with the worst health and their number of findings; tests come last, because nothing depends on them.
fn hot_spots<'a>(run: &'a AnalysisRun, outline: &FindingOutline) -> Vec<(&'a RunFile, usize)> {
    let n_findings = |index: u32| {
        let found = outline.by_file.binary_search_by_key(&index, |(file, _)| *file);
        found.map_or(0, |at| outline.by_file[at].1 as usize)
    };
    let mut files: Vec<(&RunFile, usize)> = (0..)
        .zip(&run.files)
        .filter(|(_, file)| file.health_milli.is_some_and(|health| health < 100_000))
        .map(|(index, file)| (file, n_findings(index)))
        .collect();
    files.sort_by_cached_key(|(file, n_findings)| {
        (probity_analysis::is_test_path(&file.path), file.health_milli, std::cmp::Reverse(*n_findings))
    });
    files.truncate(MAX_HOT_SPOTS);
    files
}

fn hot_spot((file, n_findings): (&RunFile, usize)) -> HotSpot {
    HotSpot {
        path: file.path.clone(),
        health: file.health_milli.map(|milli| milli / 1000),
        n_lines: file.n_lines,
        n_findings,
    }
}

pub(super) fn revision_comparison(since: ChangedSince, after: &AnalysisRun) -> RevisionComparison {
    RevisionComparison {
        comparison: RunComparison::new(&since.before.run, after, since.comparison),
        revision: since.revision,
        changed_files: since.changed,
    }
}

pub fn baseline_summary(state: &BaselineState) -> BaselineSummary {
    let (status, why, novelty) = match state {
        BaselineState::Missing => (BaselineStatus::Missing, None, None),
        BaselineState::Untrusted { why, .. } => (BaselineStatus::Untrusted, Some(why.clone()), None),
        BaselineState::Held { novelty, .. } => (BaselineStatus::Held, None, Some(novelty)),
    };
    BaselineSummary {
        status,
        why,
        new: novelty.map(|novelty| novelty.new.clone()),
        n_known: novelty.map(|novelty| novelty.n_known),
        n_gone: novelty.map(|novelty| novelty.n_gone),
        digest: state.baseline().map(probity_analysis::Baseline::digest),
        history: state.baseline().map(|baseline| baseline.history.clone()),
    }
}

pub(crate) fn stored_run_summary(listed: &AnalysisListing) -> StoredRunSummary {
    StoredRunSummary {
        run_id: listed.id.short(),
        run_digest: listed.id,
        report_digest: listed.about.report_digest,
        analyser: listed.about.analyser.clone(),
        health: listed.health(),
        n_files: listed.about.n_files,
        n_findings: listed.about.n_findings,
        saved_at: listed.saved_at(),
        pinned_by: listed.holders.clone(),
    }
}
