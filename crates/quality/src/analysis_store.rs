//! Stores analyses by run id, and removes those that nobody needs.
//!
//! ```text
//! runs/<run id>          a line of JSON about the analysis, then the analysis itself, compressed in frames
//! runs/pins/<run id>/    one file per holder that needs the analysis, with the holder's name
//! runs/lock              held while analyses are pinned or removed
//! ```
//!
//! Everything read back is checked against the digest in its first line. Saving an analysis again makes it the newest.

mod codec;
mod container;

use container::AnalysisContainer;
use probity_analysis::{AnalysisComparison, AnalysisRun, Finding, FindingOutline, RunId, Severity};
use probity_core::Digest;
use probity_storage::{FileLock, StoreError, durable};
use probity_workspace::StateDirectory;
use probity_workspace::{ServiceError, Workspace, clock};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// How many analyses are kept that nobody has pinned.
pub const MAX_UNPINNED_RUNS: usize = 100;

/// The shortest prefix of a run id that names an analysis.
const MIN_RUN_ID_DIGITS: usize = 4;

#[derive(Debug, Clone)]
pub struct StoredAnalysis {
    pub run: AnalysisRun,
    /// The digest of the stored head.
    pub report_digest: Digest,
    /// Counts all findings of the analysis, even if `run` lacks some of them.
    pub n_findings: FindingCounts,
}

pub type FindingCounts = BTreeMap<Severity, u64>;

impl StoredAnalysis {
    pub fn whole(run: AnalysisRun, report_digest: Digest) -> Self {
        Self { n_findings: count_findings(&run), run, report_digest }
    }
}

/// Must be given a whole analysis.
fn count_findings(run: &AnalysisRun) -> FindingCounts {
    let mut counts = FindingCounts::new();
    for finding in &run.findings {
        *counts.entry(finding.severity).or_default() += 1;
    }
    counts
}

/// What a summary tells of the findings of an analysis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SummarizedFindings {
    pub outline: FindingOutline,
    /// The most severe ones.
    pub listed: Vec<Finding>,
}

impl SummarizedFindings {
    /// Must be given a whole analysis.
    pub fn of(run: &AnalysisRun, n_listed: usize) -> Self {
        let listed = run.most_severe_findings(n_listed).into_iter();
        let listed = listed.map(|index| run.findings[index as usize].clone());
        Self { outline: FindingOutline::of(run), listed: listed.collect() }
    }
}

/// A stored analysis without findings, units and interfaces, but with what a summary tells of its findings.
#[derive(Debug, Clone)]
pub struct SummarizedAnalysis {
    pub head: StoredAnalysis,
    pub findings: SummarizedFindings,
}

/// Two stored analyses reduced to what may differ: files with the same findings, units and interfaces in both are
/// left out. Comparing them gives the same result as comparing the whole analyses, except for the unchanged count.
#[derive(Debug, Clone)]
pub struct DifferingAnalyses {
    pub before: StoredAnalysis,
    pub after: StoredAnalysis,
    /// How many findings were left out of each side.
    pub n_alike: u32,
}

impl DifferingAnalyses {
    /// Compares the whole analyses: findings that were left out count as unchanged.
    pub fn compare(&self) -> AnalysisComparison {
        let mut comparison = probity_analysis::compare(&self.before.run, &self.after.run);
        if comparison.incomparable_because.is_empty() {
            comparison.unchanged += self.n_alike;
        }
        comparison
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnalysisListing {
    pub id: RunId,
    pub about: AnalysisHeader,
    /// When it was last saved, since 1970.
    pub saved: Duration,
    /// Sorted.
    pub holders: Vec<String>,
}

impl AnalysisListing {
    /// Returns the health in points; `None` if no file was analyzed.
    pub fn health(&self) -> Option<u32> {
        (self.about.n_files > 0).then_some(self.about.health_milli / 1000)
    }

    pub fn saved_at(&self) -> String {
        clock::text_of_ms(i64::try_from(self.saved.as_millis()).unwrap_or(i64::MAX))
    }
}

/// The first line of a stored analysis.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AnalysisHeader {
    /// The digest of the head, which contains the digests of the parts.
    pub report_digest: Digest,
    /// The digest of everything after the first line.
    pub body_digest: Digest,
    /// The uncompressed size.
    pub size_bytes: u64,
    /// The name and version of the analyzer.
    pub analyser: String,
    pub health_milli: u32,
    pub n_files: usize,
    pub n_findings: usize,
}

/// The stored analyses of a repository, shared by all of its worktrees.
#[derive(Debug, Clone)]
pub struct AnalysisStore {
    dir: PathBuf,
}

impl AnalysisStore {
    /// Creates nothing on disk; the first save does.
    pub fn open(workspace: &Workspace) -> Self {
        Self { dir: workspace.state.runs() }
    }

    pub fn of(state: &StateDirectory) -> Self {
        Self { dir: state.runs() }
    }

    /// Returns the digest in the first line of every stored analysis, by file name.
    pub(crate) fn digests(&self) -> BTreeMap<String, Digest> {
        let ids = self.ids().unwrap_or_default();
        ids.into_iter().filter_map(|id| Some((id.0.to_hex(), about(&self.path(id))?.report_digest))).collect()
    }

    /// Returns the digest of the analysis in this file, if the file is intact and named after the run in it.
    pub(crate) fn digest_of(&self, name: &str) -> Option<Digest> {
        let id = format!("sha256:{name}").parse().ok().map(RunId)?;
        self.read(id).ok().flatten().map(|stored| stored.report_digest)
    }

    /// Returns whether nobody has pinned the analysis in this file.
    pub(crate) fn is_free(&self, name: &str) -> bool {
        names(&self.dir.join("pins").join(name)).is_ok_and(|pins| pins.is_empty())
    }

    pub fn pin_name(holder: &str) -> String {
        pin_name(holder)
    }

    /// Returns whether a file is a pin: it is named after the holder written in it.
    pub(crate) fn is_pin(path: &Path) -> bool {
        let holder = durable::read(path).ok().flatten().and_then(|bytes| String::from_utf8(bytes).ok());
        holder.is_some_and(|holder| path.file_name().is_some_and(|name| *name == *pin_name(&holder)))
    }

    /// Stores an analysis and removes the oldest ones that nobody needs.
    pub fn save(&self, run: AnalysisRun) -> Result<StoredAnalysis, ServiceError> {
        let (about, file) = container::pack(&run).map_err(ServiceError::system("cannot compress the run"))?;
        durable::write_unsynced(&self.path(run.id), &file)?;
        // The clock that stamps files lags by some milliseconds, so two saves in a row could get the same time.
        self.touch(run.id);
        self.gc(MAX_UNPINNED_RUNS)?;
        Ok(StoredAnalysis::whole(run, about.report_digest))
    }

    /// Loads by a unique prefix of the run id, with or without `sha256:`; `last` is the newest.
    pub fn load(&self, name: &str) -> Result<StoredAnalysis, ServiceError> {
        self.read(self.find(name)?)?
            .ok_or_else(|| ServiceError::NoSuchAnalysis(format!("no stored analysis is called `{name}`")))
    }

    pub fn has(&self, id: RunId) -> bool {
        self.path(id).is_file()
    }

    /// Loads what may differ between two analyses. If both are missing, the error names the earlier one.
    pub fn load_differing(&self, before: &str, after: &str) -> Result<DifferingAnalyses, ServiceError> {
        self.read_differing(self.find(before)?, self.find(after)?)
    }

    fn read_differing(&self, before: RunId, after: RunId) -> Result<DifferingAnalyses, ServiceError> {
        let (old, new) = (self.read_bytes(before)?, self.read_bytes(after)?);
        let (old, new) =
            rayon::join(|| self.open_container(before, &old), || self.open_container(after, &new));
        let (before, after, n_alike) =
            container::differing_analyses(&old?, &new?).ok_or_else(|| self.damaged(after))?;
        Ok(DifferingAnalyses { before, after, n_alike })
    }

    /// Loads an analysis if it is stored and intact, and makes it the newest.
    pub fn load_and_touch(&self, id: RunId) -> Option<StoredAnalysis> {
        let stored = self.read(id).ok().flatten()?;
        self.touch(id);
        Some(stored)
    }

    /// Like [`Self::load_and_touch`], but without findings, units and interfaces: only identity, inputs and health.
    pub fn recall_head(&self, id: RunId) -> Option<StoredAnalysis> {
        let head = self.open_container(id, &self.read_bytes(id).ok()?).ok()?.head_analysis()?;
        self.touch(id);
        Some(head)
    }

    /// Like [`Self::recall_head`], with what a summary tells of the findings.
    pub fn recall_summary(&self, id: RunId, n_listed: usize) -> Option<SummarizedAnalysis> {
        let file = self.read_bytes(id).ok()?;
        let summarized = self.open_container(id, &file).ok()?.summarized_analysis(n_listed)?;
        self.touch(id);
        Some(summarized)
    }

    /// Loads what may differ between two analyses if both are stored and the parts read are intact. Makes both the newest.
    pub fn recall_differing(&self, before: RunId, after: RunId) -> Option<DifferingAnalyses> {
        let differing = self.read_differing(before, after).ok()?;
        self.touch(before);
        self.touch(after);
        Some(differing)
    }

    /// Makes an analysis the newest.
    pub(crate) fn touch(&self, id: RunId) {
        // Errors are ignored: only the order of the list depends on it.
        let _ = File::options()
            .append(true)
            .open(self.path(id))
            .and_then(|file| file.set_modified(SystemTime::now()));
    }

    /// Resolves a unique prefix of a run id, or `last`.
    pub fn find(&self, name: &str) -> Result<RunId, ServiceError> {
        if name == "last" {
            let newest = self.ids_by_time()?.into_iter().next();
            return newest
                .map(|(_, id)| id)
                .ok_or_else(|| ServiceError::NoSuchAnalysis("no analysis is stored yet".into()));
        }
        let prefix = name.strip_prefix("sha256:").unwrap_or(name).to_ascii_lowercase();
        let ids = self.ids()?;
        let found: Vec<RunId> = ids.into_iter().filter(|id| id.0.to_hex().starts_with(&prefix)).collect();
        match found.as_slice() {
            _ if prefix.len() < MIN_RUN_ID_DIGITS => Err(ServiceError::NoSuchAnalysis(format!(
                "`{name}` is too short: give at least {MIN_RUN_ID_DIGITS} digits"
            ))),
            [id] => Ok(*id),
            [] => Err(ServiceError::NoSuchAnalysis(format!("no stored analysis is called `{name}`"))),
            many => Err(ServiceError::NoSuchAnalysis(format!(
                "`{name}` names {} stored runs: give more digits",
                many.len()
            ))),
        }
    }

    /// Lists all analyses, newest first.
    pub fn list(&self) -> Result<Vec<AnalysisListing>, ServiceError> {
        let mut listed = Vec::new();
        for (saved, id) in self.ids_by_time()? {
            // An analysis that was just removed or is damaged is not listed.
            let Some(about) = about(&self.path(id)) else { continue };
            listed.push(AnalysisListing { id, about, saved, holders: self.holders(id)? });
        }
        Ok(listed)
    }

    /// Keeps an analysis for `holder` until it is unpinned, and syncs it to disk.
    pub fn pin(&self, id: RunId, holder: &str) -> Result<(), ServiceError> {
        let _lock = self.lock()?;
        let path = self.path(id);
        let synced = File::open(&path).and_then(|file| durable::sync(&file));
        synced.map_err(|_| {
            ServiceError::NoSuchAnalysis(format!("run {} is not stored any more", id.short()))
        })?;
        durable::sync_dir(&self.dir)?;
        Ok(durable::write(&self.pins(id).join(pin_name(holder)), holder.as_bytes())?)
    }

    /// Removes all pins of `holder`.
    pub fn unpin(&self, holder: &str) -> Result<(), ServiceError> {
        let _lock = self.lock()?;
        for id in self.ids()? {
            durable::remove(&self.pins(id).join(pin_name(holder)))?;
            // A directory with other holders' pins is not empty and stays.
            let _ = std::fs::remove_dir(self.pins(id));
        }
        Ok(())
    }

    /// Returns the holders of an analysis, sorted.
    pub fn holders(&self, id: RunId) -> Result<Vec<String>, ServiceError> {
        let mut holders = Vec::new();
        for name in names(&self.pins(id))? {
            let text = durable::read(&self.pins(id).join(name))?.unwrap_or_default();
            holders.push(String::from_utf8_lossy(&text).into_owned());
        }
        holders.sort();
        Ok(holders)
    }

    /// Removes all analyses that nobody has pinned except the `keep` newest of them. Returns the removed ones, newest first.
    pub fn gc(&self, keep: usize) -> Result<Vec<RunId>, ServiceError> {
        if self.ids()?.len() <= keep {
            return Ok(Vec::new());
        }
        let _lock = self.lock()?;
        let mut free = Vec::new();
        for (_, id) in self.ids_by_time()? {
            if self.holders(id)?.is_empty() {
                free.push(id);
            }
        }
        let gone = free.split_off(keep.min(free.len()));
        for id in &gone {
            durable::remove(&self.path(*id))?;
        }
        Ok(gone)
    }

    fn read(&self, id: RunId) -> Result<Option<StoredAnalysis>, ServiceError> {
        let Some(file) = durable::read(&self.path(id))? else { return Ok(None) };
        let stored = self.open_container(id, &file)?.full_analysis();
        stored.map(Some).ok_or_else(|| self.damaged(id))
    }

    fn read_bytes(&self, id: RunId) -> Result<Vec<u8>, ServiceError> {
        let gone = || ServiceError::NoSuchAnalysis(format!("run {} is not stored any more", id.short()));
        durable::read(&self.path(id))?.ok_or_else(gone)
    }

    fn open_container<'f>(&self, id: RunId, file: &'f [u8]) -> Result<AnalysisContainer<'f>, ServiceError> {
        AnalysisContainer::new(id, file).ok_or_else(|| self.damaged(id))
    }

    fn damaged(&self, id: RunId) -> ServiceError {
        let why = "it is not the run that was stored".into();
        StoreError::Damaged { path: self.path(id), why }.into()
    }

    /// Returns all analyses with the time of their last save, newest first.
    fn ids_by_time(&self) -> Result<Vec<(Duration, RunId)>, ServiceError> {
        let dated = self.ids()?.into_iter().filter_map(|id| Some((saved(&self.path(id))?, id)));
        let mut dated: Vec<(Duration, RunId)> = dated.collect();
        dated.sort_by_key(|&(saved, id)| (std::cmp::Reverse(saved), id));
        Ok(dated)
    }

    fn ids(&self) -> Result<Vec<RunId>, ServiceError> {
        let id = |name: &String| format!("sha256:{name}").parse().ok().map(RunId);
        Ok(names(&self.dir)?.iter().filter_map(id).collect())
    }

    fn lock(&self) -> Result<FileLock, ServiceError> {
        Ok(FileLock::take(&self.dir.join("lock"))?)
    }

    fn path(&self, id: RunId) -> PathBuf {
        self.dir.join(id.0.to_hex())
    }

    fn pins(&self, id: RunId) -> PathBuf {
        self.dir.join("pins").join(id.0.to_hex())
    }
}

fn about(path: &Path) -> Option<AnalysisHeader> {
    let mut line = Vec::new();
    BufReader::new(File::open(path).ok()?).read_until(b'\n', &mut line).ok()?;
    serde_json::from_slice(&line).ok()
}

fn saved(path: &Path) -> Option<Duration> {
    let modified = std::fs::metadata(path).ok()?.modified().ok()?;
    Some(modified.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default())
}

/// A digest, because a holder's name may contain any character.
fn pin_name(holder: &str) -> String {
    Digest::of(holder.as_bytes()).to_hex()[..32].to_owned()
}

/// Lists a directory, which need not exist.
fn names(dir: &Path) -> Result<Vec<String>, ServiceError> {
    let entries = match std::fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(StoreError::Io { path: dir.to_owned(), source }.into()),
    };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    // A dot marks a file that is still being written.
    Ok(names.filter(|name| !name.contains('.')).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use probity_analysis::{AnalysisInput, AnalysisSettings, SourceInput, analyze};
    use probity_paths::RepoPath;
    use std::collections::BTreeMap;

    pub(crate) fn run(text: &str) -> AnalysisRun {
        let path = RepoPath::parse(b"a.py").expect("a path");
        let sources = BTreeMap::from([(path, SourceInput::Bytes(text.as_bytes()))]);
        analyze(&AnalysisInput { sources, ..AnalysisInput::default() }, &AnalysisSettings::default()).run
    }

    fn runs(dir: &Path) -> AnalysisStore {
        AnalysisStore { dir: dir.to_owned() }
    }

    /// Saves analyses so that each is older than the next.
    fn saved(runs: &AnalysisStore, texts: &[&str]) -> Vec<RunId> {
        let save = |(age, text): (u64, &&str)| {
            let id = runs.save(run(text)).expect("saves").run.id;
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000 + age);
            File::options()
                .append(true)
                .open(runs.path(id))
                .and_then(|file| file.set_modified(time))
                .expect("dates");
            id
        };
        (0..).zip(texts).map(save).collect()
    }

    #[test]
    fn a_run_comes_back_by_any_unique_beginning_of_its_id() {
        let dir = tempfile::tempdir().expect("a directory");
        let runs = runs(dir.path());
        let stored = runs.save(run("def f(): pass\n")).expect("saves");
        for name in
            [stored.run.id.short(), stored.run.id.0.to_hex(), stored.run.id.0.to_string(), "last".into()]
        {
            let found = runs.load(&name).expect("is found");
            assert_eq!((&found.run, found.report_digest), (&stored.run, stored.report_digest), "{name}");
        }
        assert!(matches!(runs.load("ffffffff"), Err(ServiceError::NoSuchAnalysis(_))));
        assert!(matches!(runs.load(&stored.run.id.short()[..2]), Err(ServiceError::NoSuchAnalysis(_))));
    }

    #[test]
    fn the_newest_comes_first_and_what_is_pinned_stays() {
        let dir = tempfile::tempdir().expect("a directory");
        let runs = runs(dir.path());
        let ids = saved(&runs, &["a = 1\n", "a = 2\n", "a = 3\n"]);
        let listed: Vec<RunId> = runs.list().expect("lists").iter().map(|listed| listed.id).collect();
        assert_eq!(listed, [ids[2], ids[1], ids[0]]);
        runs.pin(ids[0], "intent 1").expect("pins");
        assert_eq!(runs.gc(1).expect("clears"), [ids[1]]);
        assert_eq!(runs.holders(ids[0]).expect("lists"), ["intent 1"]);
        runs.unpin("intent 1").expect("unpins");
        assert_eq!(runs.gc(0).expect("clears"), [ids[2], ids[0]]);
        assert!(runs.pin(ids[0], "intent 2").is_err());
    }

    #[test]
    fn a_damaged_run_is_told_and_never_believed() {
        let dir = tempfile::tempdir().expect("a directory");
        let runs = runs(dir.path());
        let stored = runs.save(run("a = 1\n")).expect("saves");
        let path = runs.path(stored.run.id);
        let whole = std::fs::read(&path).expect("reads");
        for at in (0..whole.len()).step_by(7) {
            let mut bytes = whole.clone();
            bytes[at] ^= 0x20;
            std::fs::write(&path, bytes).expect("writes");
            assert!(
                runs.load_and_touch(stored.run.id).is_none_or(|found| found.run == stored.run),
                "byte {at}"
            );
        }
        std::fs::write(&path, &whole[..whole.len() / 2]).expect("is cut short");
        assert!(runs.load(&stored.run.id.short()).is_err());
    }
}
