//! Answers questions about the tree, in one place for every surface.

use super::answers::{self, FindingLimits};
use super::{
    AnalysisResult, AnalyzeOptions, OtherReport, analyze, analyze_for_summary, capture_baseline,
    changed_since, check_gates, gate_rules, hold_baseline, join_reports, read_baseline, report_subject,
    source,
};
use crate::analysis_store::{AnalysisStore, SummarizedFindings};
use probity_analysis::{
    AnalysisComparison, AnalysisRun, Finding, GateRules, ReportKind, RunFile, RunId, report,
};
use probity_api::SystemPath;
use probity_api::quality::{
    AnalysisRunAnswer, AnalyzeAnswer, BaselineAnswer, BaselineStatus, BlastRadiusAnswer, RunComparison,
    RunsGcAnswer, RunsListAnswer,
};
use probity_contract::BASELINE_FILE;
use probity_core::ReasonCode;
use probity_paths::RepoPath;
use probity_policy::Policy;
use probity_storage::durable;
use probity_workspace::progress::ProgressStep;
use probity_workspace::{ServiceError, Workspace};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

#[derive(Debug, Clone)]
pub struct AnalyzeRequest {
    pub options: AnalyzeOptions,
    /// The Git revision to compare with.
    pub changed_since: Option<String>,
    /// Reports of other tools to join.
    pub reports: Vec<OtherReport>,
    pub report_files: ReportFiles,
    pub limits: FindingLimits,
}

impl AnalyzeRequest {
    /// Returns true if the answer needs no findings but those that it lists.
    fn needs_summary_alone(&self, gates: &GateRules, baseline: Option<&[u8]>) -> bool {
        self.changed_since.is_none()
            && self.reports.is_empty()
            && self.report_files.is_empty()
            && baseline.is_none()
            && *gates == GateRules::default()
    }
}

#[derive(Debug, Clone, Default)]
pub struct ReportFiles {
    /// For people.
    pub html: Option<PathBuf>,
    /// For other tools.
    pub sarif: Option<PathBuf>,
    /// For a pull request.
    pub markdown: Option<PathBuf>,
}

impl ReportFiles {
    const fn is_empty(&self) -> bool {
        self.html.is_none() && self.sarif.is_none() && self.markdown.is_none()
    }
}

/// The answer, and what else people see of the analysis.
#[derive(Debug)]
pub struct TreeAnalysis {
    pub answer: AnalyzeAnswer,
    pub files: Vec<RunFile>,
    /// The most severe findings.
    pub listed: Vec<Finding>,
}

impl OtherReport {
    pub fn read(path: &Path, kind: ReportKind) -> Result<Self, ServiceError> {
        let name = path.display().to_string();
        let bytes = std::fs::read(path)
            .map_err(|error| ServiceError::Missing(format!("cannot read {name}: {error}")))?;
        Ok(Self { name, kind, bytes })
    }
}

/// Analyzes the tree: compares it with a revision, joins reports, evaluates baseline and gates, writes reports.
pub fn analyze_tree(
    workspace: &Workspace,
    request: &AnalyzeRequest,
    progress: &(dyn Fn(ProgressStep) + Sync),
) -> Result<TreeAnalysis, ServiceError> {
    let policy = workspace.load_policy()?.policy;
    let gates = gate_rules(&policy)?;
    let baseline = durable::read(&workspace.root.join(BASELINE_FILE))?;
    let n_listed = request.limits.max_findings.max(answers::MAX_SHOWN_FINDINGS);
    let analyzed = if request.needs_summary_alone(&gates, baseline.as_deref()) {
        analyze_for_summary(workspace, &policy, &request.options, n_listed, progress)?
    } else {
        analyze(workspace, &policy, &request.options, progress)?
    };
    let revision = request.changed_since.as_deref();
    let since = revision
        .map(|revision| changed_since(workspace, &policy, &request.options, revision, &analyzed, progress))
        .transpose()?;
    let mut analyzed = join_reports(workspace, analyzed, &request.reports)?;
    let findings = analyzed.summary.take();
    let findings = findings.unwrap_or_else(|| SummarizedFindings::of(&analyzed.run, n_listed));
    let baseline = hold_baseline(baseline.as_deref(), &analyzed.run);
    let gates = check_gates(&analyzed.run, &gates, &baseline);
    let against = since.as_ref().map(|since| &since.comparison);
    let written = write_reports(workspace, &policy, &request.report_files, &analyzed, against)?;
    let max_noted = request.limits.max_findings;
    let answer = AnalyzeAnswer {
        root: SystemPath::from(workspace.root.as_path()),
        run: answers::run_summary(&analyzed.run, &findings, analyzed.report_digest, request.limits),
        files: answers::tree_file_summary(&analyzed, max_noted),
        parsed: analyzed.n_parsed,
        known: analyzed.is_known,
        baseline: answers::baseline_summary(&baseline),
        gates,
        changed: since.map(|since| answers::revision_comparison(since, &analyzed.run)),
        written,
    };
    Ok(TreeAnalysis { answer, files: analyzed.run.files, listed: findings.listed })
}

/// Writes the requested reports and returns their paths.
fn write_reports(
    workspace: &Workspace,
    policy: &Policy,
    files: &ReportFiles,
    analyzed: &AnalysisResult,
    against: Option<&AnalysisComparison>,
) -> Result<Vec<SystemPath>, ServiceError> {
    let run = &analyzed.run;
    let source = |path: &RepoPath| source(workspace, run, path);
    let is_for_people = files.html.is_some() || files.markdown.is_some();
    let subject =
        if is_for_people { report_subject(workspace, policy) } else { report::ReportSubject::default() };
    let texts = [
        (&files.html, &(|| report::html(run, against, &source, &subject)) as &dyn Fn() -> String),
        (&files.sarif, &|| report::sarif(run, against)),
        (&files.markdown, &|| report::markdown(run, against, &subject)),
    ];
    let mut written = Vec::new();
    for (path, text) in texts {
        let Some(path) = path else { continue };
        std::fs::write(path, text())
            .map_err(ServiceError::system(format!("cannot write {}", path.display())))?;
        written.push(SystemPath::from(path.as_path()));
    }
    Ok(written)
}

/// Returns the files that a change to `files` would affect. Refuses a path that the analysis does not know: leaving
/// it out would make the radius seem smaller than it is.
pub fn blast_radius(
    workspace: &Workspace,
    files: &[Vec<u8>],
    progress: &(dyn Fn(ProgressStep) + Sync),
) -> Result<BlastRadiusAnswer, ServiceError> {
    let paths: BTreeSet<RepoPath> = files
        .iter()
        .map(|file| RepoPath::parse(file))
        .collect::<Result<_, _>>()
        .map_err(|error| ServiceError::refused(ReasonCode::PathInvalid, error.to_string()))?;
    let policy = workspace.load_policy()?.policy;
    let run = analyze(workspace, &policy, &AnalyzeOptions::default(), progress)?.run;
    let blast = probity_analysis::blast_radius(&run, &paths);
    if !blast.unknown.is_empty() {
        let names: Vec<String> = blast.unknown.iter().map(|path| format!("`{path}`")).collect();
        let detail = match names.as_slice() {
            [only] => format!("{only} is not an analyzed file of this tree"),
            several => format!("{} are no analyzed files of this tree", several.join(", ")),
        };
        return Err(ServiceError::refused(ReasonCode::AnalysisPathUnknown, detail));
    }
    Ok(BlastRadiusAnswer {
        run_id: run.id.short(),
        paths,
        direct_dependents: blast.direct,
        transitive_dependents: blast.transitive,
        clone_siblings: blast.clone_siblings,
        cycles: blast.cycles,
        symbols: blast.symbols,
        unknown: blast.unknown,
    })
}

#[derive(Debug, Clone)]
pub struct BaselineCapture {
    pub by: String,
    pub why: String,
}

/// Captures the baseline if requested, and compares it with the current tree.
pub fn baseline(
    workspace: &Workspace,
    capture: Option<&BaselineCapture>,
    progress: &(dyn Fn(ProgressStep) + Sync),
) -> Result<BaselineAnswer, ServiceError> {
    let policy = workspace.load_policy()?.policy;
    let run = analyze(workspace, &policy, &AnalyzeOptions::default(), progress)?.run;
    if let Some(BaselineCapture { by, why }) = capture {
        capture_baseline(workspace, &run, by, why)?;
    }
    let baseline = answers::baseline_summary(&read_baseline(workspace, &run)?);
    let reason =
        (baseline.status == BaselineStatus::Untrusted).then_some(ReasonCode::AnalysisBaselineUntrusted);
    let next_step = reason.map(|reason| reason.next_step().to_owned());
    Ok(BaselineAnswer { run_id: run.id.short(), baseline, reason, next_step })
}

/// Lists the stored analyses, newest first.
pub fn list_runs(workspace: &Workspace) -> Result<RunsListAnswer, ServiceError> {
    let listed = AnalysisStore::open(workspace).list()?;
    Ok(RunsListAnswer { runs: listed.iter().map(answers::stored_run_summary).collect() })
}

/// Returns a stored analysis and the answer that summarizes it.
pub fn show_run(
    workspace: &Workspace,
    name: &str,
    limits: FindingLimits,
) -> Result<(AnalysisRunAnswer, AnalysisRun), ServiceError> {
    let stored = AnalysisStore::open(workspace).load(name)?;
    Ok((answers::analysis_run(&stored.run, stored.report_digest, limits), stored.run))
}

pub fn compare_runs(workspace: &Workspace, before: &str, after: &str) -> Result<RunComparison, ServiceError> {
    let differing = AnalysisStore::open(workspace).load_differing(before, after)?;
    let comparison = differing.compare();
    Ok(RunComparison::new(&differing.before.run, &differing.after.run, comparison))
}

/// Removes all analyses that nobody has pinned except the `keep` newest of them.
pub fn clear_runs(workspace: &Workspace, keep: usize) -> Result<RunsGcAnswer, ServiceError> {
    let removed = AnalysisStore::open(workspace).gc(keep)?;
    Ok(RunsGcAnswer { removed: removed.iter().map(RunId::short).collect() })
}
