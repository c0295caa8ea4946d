//! A structural analysis of the tree: which files, their facts from the cache or from their bytes, and the run.
//!
//! A tree whose run is stored is not analysed again: the run's id follows from the snapshot alone. Otherwise only
//! files whose content was never seen are read. Either way the run is the same, byte by byte.

mod cache;
mod commit;
mod files;

pub use commit::analyze_commit;

use crate::observe::Observer;
use crate::runs::{Runs, Stored};
use crate::{Fault, Workspace};
use analysis::{Analysis, FactsKey, FileFacts, Input, Note, Run, Selection, Settings, Source};
use cache::Facts;
use canon::{Digest, Reason};
use files::{Files, SourceFile};
use paths::RepoPath;
use plan::Policy;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How often a tree that changes while it is read is looked at again.
const ATTEMPTS: u32 = 3;

/// How an analysis is done. None of it is part of the run.
#[derive(Debug, Clone, Copy, Default)]
pub struct AnalyzeOptions {
    /// How many threads; one a core if absent.
    pub n_threads: Option<usize>,
    /// Whether to read everything anew, whatever is known.
    pub cold: bool,
}

/// What an analysis is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// Looking at the tree.
    Looking,
    /// Reading files: how many of how many.
    Reading(usize, usize),
    /// Looking across files.
    Comparing,
    /// Keeping the run.
    Storing,
}

/// An analysis and how it was done.
#[derive(Debug)]
pub struct Analyzed {
    /// The run.
    pub run: Run,
    /// The digest of the run's bytes.
    pub report_digest: Digest,
    /// How many files were parsed for it; none, if the run or their facts were known.
    pub n_parsed: usize,
    /// Whether the very run was stored already.
    pub is_known: bool,
    /// Folders that were left out whole: what builds and tools made.
    pub left_out: Vec<RepoPath>,
    /// Files that the system did not let be read.
    pub unreadable: Vec<RepoPath>,
}

/// Analyses the tree of `workspace` and keeps the run.
pub fn analyze(
    workspace: &Workspace,
    options: &AnalyzeOptions,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<Analyzed, Fault> {
    analyze_with(workspace, &workspace.policy()?, options, progress)
}

/// The same under a policy that does not come from the tree: one that judges it.
pub fn analyze_with(
    workspace: &Workspace,
    policy: &Policy,
    options: &AnalyzeOptions,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<Analyzed, Fault> {
    with_work(workspace, policy, options, progress, &BTreeMap::new(), tree_as_it_is)
}

fn tree_as_it_is(work: &Work<'_>) -> Result<Analyzed, Fault> {
    work.run()
}

/// Does work on threads of its own. `committed` is content that is not on disk.
fn with_work(
    workspace: &Workspace,
    policy: &Policy,
    options: &AnalyzeOptions,
    progress: &(dyn Fn(Progress) + Sync),
    committed: &BTreeMap<RepoPath, Vec<u8>>,
    job: impl FnOnce(&Work<'_>) -> Result<Analyzed, Fault> + Send,
) -> Result<Analyzed, Fault> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(options.n_threads.unwrap_or(0)).build();
    let pool = pool.map_err(|error| Fault::System {
        what: "cannot start threads".into(),
        source: std::io::Error::other(error),
    })?;
    let settings = settings(&policy.analysis)?;
    let work = Work {
        workspace,
        options,
        settings: &settings,
        outputs: policy.workspace.build_outputs.to_scope()?,
        progress,
        committed,
    };
    pool.install(|| job(&work))
}

/// The settings of an analysis: those of the policy, and the analyser's own where the policy is silent.
pub fn settings(rules: &plan::AnalysisRules) -> Result<Settings, Fault> {
    let said = serde_json::to_value(rules).expect("rules have text keys and whole numbers only");
    let settings: Settings = serde_json::from_value(said)
        .map_err(|error| Fault::refused(Reason::ConfigInvalid, format!("[analysis]: {error}")))?;
    Selection::new(&settings)?;
    Ok(settings)
}

struct Work<'a> {
    workspace: &'a Workspace,
    options: &'a AnalyzeOptions,
    settings: &'a Settings,
    outputs: paths::Scope,
    progress: &'a (dyn Fn(Progress) + Sync),
    /// Content that is not on disk, because it is of a commit.
    committed: &'a BTreeMap<RepoPath, Vec<u8>>,
}

/// A file is no longer what the snapshot saw.
struct Changed(RepoPath);

impl Work<'_> {
    fn run(&self) -> Result<Analyzed, Fault> {
        let runs = Runs::open(self.workspace);
        let observer = Observer::new(self.workspace);
        let mut changed = None;
        for _ in 0..ATTEMPTS {
            (self.progress)(Progress::Looking);
            let snapshot = observer.content(None)?;
            observer.remember(&snapshot);
            let files = Files::of_snapshot(&snapshot, &self.outputs, &Selection::new(self.settings)?);
            let id = files.run_id(self.settings);
            if !self.options.cold
                && let Some(stored) = runs.recall(id)
            {
                return Ok(analyzed(stored, files, 0, true));
            }
            match self.analysis(&files) {
                Ok((run, n_parsed)) => {
                    (self.progress)(Progress::Storing);
                    return Ok(analyzed(runs.save(run)?, files, n_parsed, false));
                }
                Err(Changed(path)) => changed = Some(path),
            }
        }
        let path = changed.map_or_else(String::new, |path| path.to_string());
        Err(Fault::refused(Reason::TreeUnstable, format!("`{path}` changes while the tree is analysed")))
    }

    /// Analyses files, or says which one is no longer what it was.
    fn analysis(&self, files: &Files) -> Result<(Run, usize), Changed> {
        let path = self.workspace.state.facts();
        let cache = if self.options.cold { Facts::empty(path) } else { Facts::open(path) };
        let read = self.read(files, &cache)?;
        let governance = self.governance(files)?;
        (self.progress)(Progress::Comparing);
        let new: Vec<(Digest, Arc<FileFacts>)> = read
            .iter()
            .filter(|read| read.is_new)
            .filter_map(|read| Some((read.key?, Arc::clone(&read.facts))))
            .collect();
        let n_parsed = new.len();
        let needed: Vec<Digest> = read.iter().filter_map(|read| read.key).collect();
        let sources =
            files.sources.iter().zip(&read).map(|(file, read)| (file.path.clone(), source(file, read)));
        let input = Input {
            sources: sources.collect(),
            governance: governance.iter().map(|(path, bytes)| (path.clone(), bytes.as_slice())).collect(),
            others: files.others.clone(),
        };
        let (Analysis { run, .. }, ()) =
            rayon::join(|| analysis::analyse(&input, self.settings), || cache.add(&new, &needed));
        Ok((run, n_parsed))
    }

    /// The facts of every source, in the order of the sources.
    fn read(&self, files: &Files, cache: &Facts) -> Result<Vec<Read>, Changed> {
        let n_done = AtomicUsize::new(0);
        let total = files.sources.len();
        let one = |file: &SourceFile| {
            let read = self.read_one(file, cache);
            let done = n_done.fetch_add(1, Ordering::Relaxed) + 1;
            (self.progress)(Progress::Reading(done, total));
            read
        };
        files.sources.par_iter().map(one).collect()
    }

    fn read_one(&self, file: &SourceFile, cache: &Facts) -> Result<Read, Changed> {
        let key = FactsKey::of(&file.path, file.content, self.settings).filter(|_| file.skip.is_none());
        let Some(facts_key) = key else { return Ok(Read::default()) };
        if file.size_bytes > self.settings.max_file_bytes {
            let facts = FileFacts { notes: vec![Note::TooLarge], ..FileFacts::default() };
            return Ok(Read { facts: Arc::new(facts), ..Read::default() });
        }
        let key = Some(cache::key(&facts_key));
        if let Some(facts) = key.and_then(|key| cache.get(&key)) {
            return Ok(Read { key, facts, is_new: false });
        }
        let bytes = self.content(&file.path, file.content)?;
        let facts = analysis::read(facts_key.language, &bytes, self.settings.max_file_bytes);
        Ok(Read { key, facts: Arc::new(facts), is_new: true })
    }

    /// The bytes of a file. They are held against the digest that they must have, so that nothing else can slip in.
    fn content(&self, path: &RepoPath, digest: Digest) -> Result<Vec<u8>, Changed> {
        if let Some(bytes) = self.committed.get(path) {
            return Ok(bytes.clone());
        }
        let bytes = std::fs::read(self.workspace.root.join(OsStr::from_bytes(path.as_bytes())));
        bytes.ok().filter(|bytes| Digest::of(bytes) == digest).ok_or_else(|| Changed(path.clone()))
    }

    fn governance(&self, files: &Files) -> Result<BTreeMap<RepoPath, Vec<u8>>, Changed> {
        let read = |(path, digest): &(RepoPath, Digest)| Ok((path.clone(), self.content(path, *digest)?));
        files.governance.par_iter().map(read).collect()
    }
}

/// The facts of one source.
#[derive(Default)]
struct Read {
    /// Their key in the cache, if they belong there.
    key: Option<Digest>,
    facts: Arc<FileFacts>,
    is_new: bool,
}

fn source(file: &SourceFile, read: &Read) -> Source<'static> {
    match file.skip {
        Some(note) => Source::Skipped { content: file.content, note },
        None => Source::Known { content: file.content, facts: Arc::clone(&read.facts) },
    }
}

fn analyzed(stored: Stored, files: Files, n_parsed: usize, is_known: bool) -> Analyzed {
    Analyzed {
        run: stored.run,
        report_digest: stored.report_digest,
        n_parsed,
        is_known,
        left_out: files.left_out.into_iter().collect(),
        unreadable: files.unreadable,
    }
}

#[cfg(test)]
mod tests;
