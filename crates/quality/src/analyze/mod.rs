//! Analyzes the structure of a tree: selects files, gets their facts from the cache or their bytes, builds the analysis.
//!
//! A tree whose analysis is stored is not analyzed again: the run id follows from the snapshot alone. Otherwise only
//! files with unknown content are read. Either way the result is the same, byte for byte.

pub mod answers;
mod baseline;
pub(crate) mod cache;
mod commit;
mod content_comparison;
mod files;
mod request;
mod revision;
mod subject;

pub use answers::FindingLimits;
pub use baseline::{BASELINE_FILE, BaselineState, capture_baseline, hold_baseline, read_baseline};
pub use commit::analyze_commit;
pub use content_comparison::{ChangedContent, ContentComparison, compare_contents};
pub use request::{
    AnalyzeRequest, BaselineCapture, ReportFiles, TreeAnalysis, analyze_tree, baseline, blast_radius,
    clear_runs, compare_runs, list_runs, show_run,
};
pub use revision::{ChangedSince, changed_since};
pub use subject::report_subject;

use crate::analysis_store::{AnalysisStore, StoredAnalysis, SummarizedAnalysis, SummarizedFindings};
use cache::FactsCache;
use files::{ClassifiedFiles, SourceFile};
use probity_analysis::{
    AnalysisInput, AnalysisOutput, AnalysisRun, AnalysisSettings, ExternalReport, FactsKey, FileFacts,
    FileNote, GateBaseline, GateReport, GateRules, ReportKind, RunId, SourceInput, SourceSelection,
};
use probity_core::{Digest, ReasonCode};
use probity_paths::RepoPath;
use probity_policy::Policy;
use probity_snapshot::Snapshot;
use probity_workspace::observe::WorkspaceObserver;
use probity_workspace::progress::ProgressStep;
use probity_workspace::{ServiceError, Workspace};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How often to start over when the tree changes while it is read.
const MAX_ANALYSIS_ATTEMPTS: u32 = 3;

/// Options that do not affect the result.
#[derive(Debug, Clone, Copy, Default)]
pub struct AnalyzeOptions {
    /// One per core if absent.
    pub n_threads: Option<usize>,
    /// Whether to ignore stored analyses and cached facts.
    pub cold: bool,
}

/// A report of another tool to join to an analysis.
#[derive(Debug, Clone)]
pub struct OtherReport {
    /// Names the report in errors.
    pub name: String,
    pub kind: ReportKind,
    pub bytes: Vec<u8>,
}

#[derive(Debug)]
pub struct AnalysisResult {
    pub run: AnalysisRun,
    pub report_digest: Digest,
    /// How many files were parsed; 0 if the analysis or all facts were known.
    pub n_parsed: usize,
    /// Whether this analysis was already stored.
    pub is_known: bool,
    /// What a summary tells of the findings, if `run` lacks findings, units and interfaces because nobody asked for them.
    pub summary: Option<SummarizedFindings>,
    /// Directories that were left out as a whole because builds or tools made them.
    pub left_out: Vec<RepoPath>,
    pub unreadable: Vec<RepoPath>,
}

/// Analyzes the tree of `workspace` under a policy and stores the result.
#[tracing::instrument(name = "analyze", skip_all)]
pub fn analyze(
    workspace: &Workspace,
    policy: &Policy,
    options: &AnalyzeOptions,
    progress: &(dyn Fn(ProgressStep) + Sync),
) -> Result<AnalysisResult, ServiceError> {
    TreeAnalyzer::new(workspace, policy, options, progress)?.run_on_pool(|it| it.analyze_worktree(None))
}

/// Analyzes a tree that the caller has just looked at, and stores the result. If it has changed since, it is looked at
/// again: the caller confirms that the analysis is the one of its tree.
#[tracing::instrument(name = "analyze", skip_all)]
pub fn analyze_seen(
    workspace: &Workspace,
    policy: &Policy,
    seen: &Snapshot,
    progress: &(dyn Fn(ProgressStep) + Sync),
) -> Result<AnalysisResult, ServiceError> {
    let options = AnalyzeOptions::default();
    TreeAnalyzer::new(workspace, policy, &options, progress)?
        .run_on_pool(|it| it.analyze_worktree(Some(seen)))
}

/// Like [`analyze`], but of a stored analysis reads only what a summary that lists `n_listed` findings tells.
#[tracing::instrument(name = "analyze", skip_all)]
fn analyze_for_summary(
    workspace: &Workspace,
    policy: &Policy,
    options: &AnalyzeOptions,
    n_listed: usize,
    progress: &(dyn Fn(ProgressStep) + Sync),
) -> Result<AnalysisResult, ServiceError> {
    let analyzer = TreeAnalyzer::new(workspace, policy, options, progress)?;
    TreeAnalyzer { n_listed: Some(n_listed), ..analyzer }.run_on_pool(|it| it.analyze_worktree(None))
}

/// Joins reports of other tools to an analysis and stores the result.
pub fn join_reports(
    workspace: &Workspace,
    analyzed: AnalysisResult,
    reports: &[OtherReport],
) -> Result<AnalysisResult, ServiceError> {
    if reports.is_empty() {
        return Ok(analyzed);
    }
    let reports: Vec<ExternalReport<'_>> = reports
        .iter()
        .map(|report| ExternalReport { name: &report.name, kind: report.kind, bytes: &report.bytes })
        .collect();
    let plain = analyzed.run.clone();
    let bytes = |path: &RepoPath| source(workspace, &plain, path);
    let root = workspace.root.as_os_str().as_bytes();
    let run = probity_analysis::join_reports(analyzed.run, &reports, root, &bytes)
        .map_err(|error| ServiceError::BadInput(error.to_string()))?;
    let StoredAnalysis { run, report_digest, .. } = AnalysisStore::open(workspace).save(run)?;
    Ok(AnalysisResult { run, report_digest, ..analyzed })
}

pub fn gate_rules(policy: &Policy) -> Result<GateRules, ServiceError> {
    let said =
        serde_json::to_value(&policy.analysis.gates).expect("rules have text keys and whole numbers only");
    serde_json::from_value(said).map_err(|error| invalid_config("[analysis.gates]", &error))
}

/// Evaluates an analysis against structural gates and a baseline.
pub(crate) fn check_gates(run: &AnalysisRun, rules: &GateRules, baseline: &BaselineState) -> GateReport {
    let known = match baseline {
        BaselineState::Missing => GateBaseline::Nothing,
        BaselineState::Held { novelty, .. } => GateBaseline::Baseline(novelty),
        BaselineState::Untrusted { why, .. } => GateBaseline::Untrusted(why),
    };
    probity_analysis::check_gates(run, rules, known)
}

/// Returns the bytes of a file of `run`, for reports that show code; `None` if the tree no longer has them.
pub fn source(workspace: &Workspace, run: &AnalysisRun, path: &RepoPath) -> Option<Vec<u8>> {
    let at = run.files.binary_search_by(|file| file.path.cmp(path)).ok()?;
    read_content(&workspace.root, path, run.files[at].content)
}

fn invalid_config(place: &str, error: &serde_json::Error) -> ServiceError {
    ServiceError::refused(ReasonCode::ConfigInvalid, format!("{place}: {error}"))
}

/// Returns the id that the analysis of a tree has under a policy, without analyzing it.
pub fn run_id(policy: &Policy, snapshot: &Snapshot) -> Result<RunId, ServiceError> {
    let settings = settings(&policy.analysis)?;
    let outputs = policy.workspace.build_outputs.to_scope()?;
    Ok(ClassifiedFiles::of_snapshot(snapshot, &outputs, &SourceSelection::new(&settings)?).run_id(&settings))
}

/// Returns the policy's analysis settings, with the analyzer's defaults where the policy has none.
pub fn settings(rules: &probity_policy::AnalysisRules) -> Result<AnalysisSettings, ServiceError> {
    let mut said = serde_json::to_value(rules).expect("rules have text keys and whole numbers only");
    said.as_object_mut().and_then(|said| said.remove("gates"));
    let settings: AnalysisSettings =
        serde_json::from_value(said).map_err(|error| invalid_config("[analysis]", &error))?;
    SourceSelection::new(&settings)?;
    Ok(settings)
}

struct TreeAnalyzer<'a> {
    workspace: &'a Workspace,
    options: &'a AnalyzeOptions,
    settings: AnalysisSettings,
    outputs: probity_paths::Scope,
    progress: &'a (dyn Fn(ProgressStep) + Sync),
    /// How many findings the caller lists, if it needs no others.
    n_listed: Option<usize>,
}

struct RunLookup {
    stored: StoredAnalysis,
    n_parsed: usize,
    is_known: bool,
    summary: Option<SummarizedFindings>,
}

enum AnalysisFailure {
    /// A file no longer has the content that the snapshot saw.
    Changed(RepoPath),
    Fault(ServiceError),
}

impl From<ServiceError> for AnalysisFailure {
    fn from(fault: ServiceError) -> Self {
        Self::Fault(fault)
    }
}

impl From<AnalysisFailure> for ServiceError {
    fn from(failed: AnalysisFailure) -> Self {
        match failed {
            AnalysisFailure::Fault(fault) => fault,
            AnalysisFailure::Changed(path) => Self::refused(
                ReasonCode::TreeUnstable,
                format!("`{path}` changes while the tree is analyzed"),
            ),
        }
    }
}

/// Reads the bytes of a file with this content; `None` if they are gone.
type ContentReader<'a> = dyn Fn(&RepoPath, Digest) -> Option<Vec<u8>> + Sync + 'a;

impl<'a> TreeAnalyzer<'a> {
    fn new(
        workspace: &'a Workspace,
        policy: &Policy,
        options: &'a AnalyzeOptions,
        progress: &'a (dyn Fn(ProgressStep) + Sync),
    ) -> Result<Self, ServiceError> {
        let settings = settings(&policy.analysis)?;
        Ok(Self {
            workspace,
            options,
            settings,
            outputs: policy.workspace.build_outputs.to_scope()?,
            progress,
            n_listed: None,
        })
    }

    /// Runs `work` on the requested number of threads.
    fn run_on_pool<T: Send>(
        &self,
        work: impl Fn(&Self) -> Result<T, ServiceError> + Sync,
    ) -> Result<T, ServiceError> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(self.options.n_threads.unwrap_or(0)).build();
        let pool = pool.map_err(|error| ServiceError::System {
            what: "cannot start threads".into(),
            source: std::io::Error::other(error),
        })?;
        let span = tracing::Span::current();
        pool.install(|| span.in_scope(|| work(self)))
    }

    /// Reports a step, unless the caller has given up.
    fn begin_step(&self, step: ProgressStep) -> Result<(), ServiceError> {
        self.workspace.cancellation.check()?;
        (self.progress)(step);
        Ok(())
    }

    fn analyze_worktree(&self, mut seen: Option<&Snapshot>) -> Result<AnalysisResult, ServiceError> {
        let runs = AnalysisStore::open(self.workspace);
        let observer = WorkspaceObserver::new(self.workspace);
        let mut n_attempts = 0;
        loop {
            n_attempts += 1;
            self.begin_step(ProgressStep::Looking)?;
            let looked;
            let snapshot = if let Some(seen) = seen.take() {
                seen
            } else {
                looked = observer.content(None)?;
                &looked
            };
            let selection = SourceSelection::new(&self.settings)?;
            // Loading the cache takes long, so it runs in parallel with classifying the files.
            let (files, cache) = rayon::join(
                || ClassifiedFiles::of_snapshot(snapshot, &self.outputs, &selection),
                || self.cache(),
            );
            let contents = |path: &RepoPath, digest| read_content(&self.workspace.root, path, digest);
            let (found, ()) = rayon::join(
                || self.find_or_analyze(&files, cache, &runs, &contents),
                || observer.remember_if_free(snapshot),
            );
            match found {
                Err(AnalysisFailure::Changed(_)) if n_attempts < MAX_ANALYSIS_ATTEMPTS => {}
                found => return Ok(analysis_result(found?, files)),
            }
        }
    }

    /// Returns the stored analysis of these files, or makes and stores it.
    fn find_or_analyze(
        &self,
        files: &ClassifiedFiles,
        cache: FactsCache,
        runs: &AnalysisStore,
        contents: &ContentReader<'_>,
    ) -> Result<RunLookup, AnalysisFailure> {
        let known = if self.options.cold { None } else { self.recall(files.run_id(&self.settings), runs) };
        if let Some(known) = known {
            return Ok(known);
        }
        let (run, n_parsed) = self.analysis(files, cache, contents)?;
        self.begin_step(ProgressStep::Storing)?;
        let stored = runs.save(run).map_err(AnalysisFailure::Fault)?;
        Ok(RunLookup { stored, n_parsed, is_known: false, summary: None })
    }

    /// Returns the stored analysis, or as much of it as the caller needs.
    #[tracing::instrument(name = "recall", skip_all)]
    fn recall(&self, id: RunId, runs: &AnalysisStore) -> Option<RunLookup> {
        let known = |stored, summary| Some(RunLookup { stored, n_parsed: 0, is_known: true, summary });
        if let Some(n_listed) = self.n_listed
            && let Some(SummarizedAnalysis { head, findings }) = runs.recall_summary(id, n_listed)
        {
            return known(head, Some(findings));
        }
        known(runs.load_and_touch(id)?, None)
    }

    fn cache(&self) -> FactsCache {
        let path = self.workspace.state.facts();
        if self.options.cold { FactsCache::empty(path) } else { FactsCache::open(path) }
    }

    /// Analyzes files, or fails with the file that has changed.
    #[tracing::instrument(name = "analyze files", skip_all)]
    fn analysis(
        &self,
        files: &ClassifiedFiles,
        cache: FactsCache,
        contents: &ContentReader<'_>,
    ) -> Result<(AnalysisRun, usize), AnalysisFailure> {
        let read = self.read(files, &cache, contents)?;
        let governance = governance(files, contents)?;
        self.begin_step(ProgressStep::Comparing)?;
        let new: Vec<(Digest, Arc<FileFacts>)> = read
            .iter()
            .filter(|read| read.is_new)
            .filter_map(|read| Some((read.key?, Arc::clone(&read.facts))))
            .collect();
        let n_parsed = new.len();
        tracing::trace!(target: "probity::work", files_parsed = n_parsed as u64);
        let needed: Vec<Digest> = read.iter().filter_map(|read| read.key).collect();
        let sources =
            files.sources.iter().zip(&read).map(|(file, read)| (file.path.clone(), known_source(file, read)));
        let input = AnalysisInput {
            sources: sources.collect(),
            governance: governance.iter().map(|(path, bytes)| (path.clone(), bytes.as_slice())).collect(),
            others: files.others.clone(),
        };
        let is_given_up = || self.workspace.cancellation.is_canceled();
        let (output, ()) = rayon::join(
            || probity_analysis::analyze_unless(&input, &self.settings, &is_given_up),
            || cache.add(&new, &needed),
        );
        // Freeing a million small allocations takes as long as storing the analysis, so it happens in the background.
        drop(input);
        rayon::spawn(move || drop((read, new, cache)));
        match output {
            Some(AnalysisOutput { run, .. }) => Ok((run, n_parsed)),
            None => Err(self.workspace.cancellation.refusal().into()),
        }
    }

    /// Returns the facts of every source, in the order of the sources.
    fn read(
        &self,
        files: &ClassifiedFiles,
        cache: &FactsCache,
        contents: &ContentReader<'_>,
    ) -> Result<Vec<SourceFacts>, AnalysisFailure> {
        let n_done = AtomicUsize::new(0);
        let total = files.sources.len();
        let one = |file: &SourceFile| {
            let read = self.read_one(file, cache, contents);
            let done = n_done.fetch_add(1, Ordering::Relaxed) + 1;
            self.begin_step(ProgressStep::Reading(done, total))?;
            read
        };
        // Files to parse come first: a large file started last would keep one thread busy alone.
        let (known, new): (Vec<usize>, Vec<usize>) =
            (0..total).partition(|&at| self.is_known(&files.sources[at], cache));
        let order: Vec<usize> = new.into_iter().chain(known).collect();
        let read: Result<Vec<(usize, SourceFacts)>, AnalysisFailure> =
            order.par_iter().with_max_len(8).map(|&at| Ok((at, one(&files.sources[at])?))).collect();
        let mut read = read?;
        read.sort_unstable_by_key(|(at, _)| *at);
        Ok(read.into_iter().map(|(_, read)| read).collect())
    }

    fn is_known(&self, file: &SourceFile, cache: &FactsCache) -> bool {
        let key = FactsKey::of(&file.path, file.content, &self.settings);
        key.is_none_or(|key| file.skip.is_some() || cache.has(&cache::key(&key)))
    }

    fn read_one(
        &self,
        file: &SourceFile,
        cache: &FactsCache,
        contents: &ContentReader<'_>,
    ) -> Result<SourceFacts, AnalysisFailure> {
        let key = FactsKey::of(&file.path, file.content, &self.settings).filter(|_| file.skip.is_none());
        let Some(facts_key) = key else { return Ok(SourceFacts::default()) };
        if file.size_bytes > self.settings.max_file_bytes {
            let facts = FileFacts { notes: vec![FileNote::TooLarge], ..FileFacts::default() };
            return Ok(SourceFacts { facts: Arc::new(facts), ..SourceFacts::default() });
        }
        let key = Some(cache::key(&facts_key));
        if let Some(facts) = key.and_then(|key| cache.get(&key)) {
            return Ok(SourceFacts { key, facts, is_new: false });
        }
        let bytes =
            contents(&file.path, file.content).ok_or_else(|| AnalysisFailure::Changed(file.path.clone()))?;
        let facts = probity_analysis::read_facts(facts_key.language, &bytes, self.settings.max_file_bytes);
        Ok(SourceFacts { key, facts: Arc::new(facts), is_new: true })
    }
}

fn governance(
    files: &ClassifiedFiles,
    contents: &ContentReader<'_>,
) -> Result<BTreeMap<RepoPath, Vec<u8>>, AnalysisFailure> {
    let read = |(path, digest): &(RepoPath, Digest)| {
        let bytes = contents(path, *digest).ok_or_else(|| AnalysisFailure::Changed(path.clone()))?;
        Ok((path.clone(), bytes))
    };
    files.governance.par_iter().map(read).collect()
}

#[derive(Default)]
struct SourceFacts {
    /// The cache key, if the facts belong in the cache.
    key: Option<Digest>,
    facts: Arc<FileFacts>,
    is_new: bool,
}

fn known_source(file: &SourceFile, read: &SourceFacts) -> SourceInput<'static> {
    match file.skip {
        Some(note) => SourceInput::Skipped { content: file.content, note },
        None => SourceInput::Known { content: file.content, facts: Arc::clone(&read.facts) },
    }
}

/// Reads a file and checks it against the snapshot's digest, so that no other content can slip in.
fn read_content(root: &Path, path: &RepoPath, digest: Digest) -> Option<Vec<u8>> {
    let bytes = std::fs::read(root.join(OsStr::from_bytes(path.as_bytes())));
    bytes.ok().filter(|bytes| Digest::of(bytes) == digest)
}

fn analysis_result(found: RunLookup, files: ClassifiedFiles) -> AnalysisResult {
    AnalysisResult {
        run: found.stored.run,
        report_digest: found.stored.report_digest,
        n_parsed: found.n_parsed,
        is_known: found.is_known,
        summary: found.summary,
        left_out: files.left_out.into_iter().collect(),
        unreadable: files.unreadable,
    }
}

#[cfg(test)]
mod tests;
