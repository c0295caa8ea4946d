//! Stored analyses: named by their content, kept while someone needs them, cleared away otherwise.
//!
//! ```text
//! runs/<run id>          a line of JSON about the run, then the run itself, compressed file by file
//! runs/pins/<run id>/    who needs the run: one file for each holder, with its name
//! runs/lock              held while runs are pinned or cleared away
//! ```
//!
//! What is read back is held against the digest in its first line. Saving a run again makes it the newest.

mod codec;
mod container;

use container::AnalysisContainer;
use probity_analysis::{AnalysisComparison, AnalysisRun, RunId, Severity};
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

/// So many runs that nobody needs are kept by themselves.
pub const MAX_UNPINNED_RUNS: usize = 100;

/// The least digits of a run id that name a run.
const MIN_RUN_ID_DIGITS: usize = 4;

/// A run that is stored.
#[derive(Debug, Clone)]
pub struct StoredAnalysis {
    /// The run.
    pub run: AnalysisRun,
    /// The digest of what was stored.
    pub report_digest: Digest,
    /// How many findings the whole run has, by severity; also where the run here lacks some of them.
    pub n_findings: FindingCounts,
}

/// How many findings there are, by severity.
pub type FindingCounts = BTreeMap<Severity, u64>;

impl StoredAnalysis {
    /// A whole run.
    pub fn whole(run: AnalysisRun, report_digest: Digest) -> Self {
        Self { n_findings: count_findings(&run), run, report_digest }
    }
}

/// Counts the findings of a whole run.
fn count_findings(run: &AnalysisRun) -> FindingCounts {
    let mut counts = FindingCounts::new();
    for finding in &run.findings {
        *counts.entry(finding.severity).or_default() += 1;
    }
    counts
}

/// Two stored runs as far as they may differ: findings, units and interfaces of files where all of that is the same in
/// both are left out. Comparing them gives what comparing the whole runs gives, but for the number of what is unchanged.
#[derive(Debug, Clone)]
pub struct DifferingAnalyses {
    /// The earlier run.
    pub before: StoredAnalysis,
    /// The later run.
    pub after: StoredAnalysis,
    /// How many findings were left out of each.
    pub n_alike: u32,
}

impl DifferingAnalyses {
    /// What the whole runs say together.
    pub fn compare(&self) -> AnalysisComparison {
        let mut comparison = probity_analysis::compare(&self.before.run, &self.after.run);
        if comparison.incomparable_because.is_empty() {
            comparison.unchanged += self.n_alike;
        }
        comparison
    }
}

/// What a list tells of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnalysisListing {
    /// The run.
    pub id: RunId,
    /// What its first line says.
    pub about: AnalysisHeader,
    /// When it was last saved, since 1970.
    pub saved: Duration,
    /// Who needs it, sorted.
    pub holders: Vec<String>,
}

impl AnalysisListing {
    /// Its health in points; `None` if no file was analyzed.
    pub fn health(&self) -> Option<u32> {
        (self.about.n_files > 0).then_some(self.about.health_milli / 1000)
    }

    /// When it was last saved, in words.
    pub fn saved_at(&self) -> String {
        clock::text_of_ms(i64::try_from(self.saved.as_millis()).unwrap_or(i64::MAX))
    }
}

/// The first line of a stored run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AnalysisHeader {
    /// The digest of the run's head, which names the digests of its parts.
    pub report_digest: Digest,
    /// The digest of everything that follows the first line.
    pub body_digest: Digest,
    /// How many bytes it has when it is unpacked.
    pub size_bytes: u64,
    /// The analyser that made it.
    pub analyser: String,
    /// Its health in thousandths.
    pub health_milli: u32,
    /// How many files were analysed.
    pub n_files: usize,
    /// How many findings it has.
    pub n_findings: usize,
}

/// The stored runs of a repository, shared by all of its worktrees.
#[derive(Debug, Clone)]
pub struct AnalysisStore {
    dir: PathBuf,
}

impl AnalysisStore {
    /// The runs of a workspace. Nothing is created until one is saved.
    pub fn open(workspace: &Workspace) -> Self {
        Self { dir: workspace.state.runs() }
    }

    /// The runs below a state directory.
    pub fn of(state: &StateDirectory) -> Self {
        Self { dir: state.runs() }
    }

    /// The digest of every stored run as its first line tells it, by file name.
    pub(crate) fn digests(&self) -> BTreeMap<String, Digest> {
        let ids = self.ids().unwrap_or_default();
        ids.into_iter().filter_map(|id| Some((id.0.to_hex(), about(&self.path(id))?.report_digest))).collect()
    }

    /// The digest of the run in the file of that name, if the file holds together and the run is the one it is named after.
    pub(crate) fn digest_of(&self, name: &str) -> Option<Digest> {
        let id = format!("sha256:{name}").parse().ok().map(RunId)?;
        self.read(id).ok().flatten().map(|stored| stored.report_digest)
    }

    /// Whether nobody needs the run in the file of that name.
    pub(crate) fn is_free(&self, name: &str) -> bool {
        names(&self.dir.join("pins").join(name)).is_ok_and(|pins| pins.is_empty())
    }

    /// The name of the file that pins a run for `holder`.
    pub fn pin_name(holder: &str) -> String {
        pin_name(holder)
    }

    /// Whether a file is a pin: named after the holder that is written in it.
    pub(crate) fn is_pin(path: &Path) -> bool {
        let holder = durable::read(path).ok().flatten().and_then(|bytes| String::from_utf8(bytes).ok());
        holder.is_some_and(|holder| path.file_name().is_some_and(|name| *name == *pin_name(&holder)))
    }

    /// Keeps a run, and clears away the oldest ones that nobody needs.
    pub fn save(&self, run: AnalysisRun) -> Result<StoredAnalysis, ServiceError> {
        let (about, file) = container::pack(&run).map_err(ServiceError::system("cannot compress the run"))?;
        durable::write_unsynced(&self.path(run.id), &file)?;
        // The clock that stamps files is some milliseconds late: two runs in a row would have no order.
        self.touch(run.id);
        self.gc(MAX_UNPINNED_RUNS)?;
        Ok(StoredAnalysis::whole(run, about.report_digest))
    }

    /// The run that a unique beginning of its id names, with or without `sha256:`; `last` is the newest.
    pub fn load(&self, name: &str) -> Result<StoredAnalysis, ServiceError> {
        self.read(self.find(name)?)?
            .ok_or_else(|| ServiceError::NoSuchAnalysis(format!("no stored run is called `{name}`")))
    }

    /// Whether there is a run with this very id.
    pub fn has(&self, id: RunId) -> bool {
        self.path(id).is_file()
    }

    /// Two runs by name, as far as they may differ. The fault of a run that is not there is told for the earlier one first.
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

    /// The run with this very id, if it is there and whole. It is the newest from now on.
    pub fn load_and_touch(&self, id: RunId) -> Option<StoredAnalysis> {
        let stored = self.read(id).ok().flatten()?;
        self.touch(id);
        Some(stored)
    }

    /// The same of a run without its findings, units and interfaces: who it is, what it was made from, its health.
    pub fn recall_head(&self, id: RunId) -> Option<StoredAnalysis> {
        let head = self.open_container(id, &self.read_bytes(id).ok()?).ok()?.head_analysis()?;
        self.touch(id);
        Some(head)
    }

    /// Two runs as far as they may differ, if both are there and what is read of them is whole. They are the newest from
    /// now on.
    pub fn recall_differing(&self, before: RunId, after: RunId) -> Option<DifferingAnalyses> {
        let differing = self.read_differing(before, after).ok()?;
        self.touch(before);
        self.touch(after);
        Some(differing)
    }

    /// Makes a run the newest.
    pub(crate) fn touch(&self, id: RunId) {
        // Only the order of the list hangs on it.
        let _ = File::options()
            .append(true)
            .open(self.path(id))
            .and_then(|file| file.set_modified(SystemTime::now()));
    }

    /// The id that a unique beginning names.
    pub fn find(&self, name: &str) -> Result<RunId, ServiceError> {
        if name == "last" {
            let newest = self.ids_by_time()?.into_iter().next();
            return newest
                .map(|(_, id)| id)
                .ok_or_else(|| ServiceError::NoSuchAnalysis("no run is stored yet".into()));
        }
        let prefix = name.strip_prefix("sha256:").unwrap_or(name).to_ascii_lowercase();
        let ids = self.ids()?;
        let found: Vec<RunId> = ids.into_iter().filter(|id| id.0.to_hex().starts_with(&prefix)).collect();
        match found.as_slice() {
            _ if prefix.len() < MIN_RUN_ID_DIGITS => Err(ServiceError::NoSuchAnalysis(format!(
                "`{name}` is too short: give at least {MIN_RUN_ID_DIGITS} digits"
            ))),
            [id] => Ok(*id),
            [] => Err(ServiceError::NoSuchAnalysis(format!("no stored run is called `{name}`"))),
            many => Err(ServiceError::NoSuchAnalysis(format!(
                "`{name}` names {} stored runs: give more digits",
                many.len()
            ))),
        }
    }

    /// All runs, the newest first.
    pub fn list(&self) -> Result<Vec<AnalysisListing>, ServiceError> {
        let mut listed = Vec::new();
        for (saved, id) in self.ids_by_time()? {
            // A run that was cleared away a moment ago, or is damaged, is not offered.
            let Some(about) = about(&self.path(id)) else { continue };
            listed.push(AnalysisListing { id, about, saved, holders: self.holders(id)? });
        }
        Ok(listed)
    }

    /// Keeps a run for `holder` until it is unpinned, and makes sure that it is on disk.
    pub fn pin(&self, id: RunId, holder: &str) -> Result<(), ServiceError> {
        let _lock = self.lock()?;
        let path = self.path(id);
        let synced = File::open(&path).and_then(|file| file.sync_all());
        synced.map_err(|_| {
            ServiceError::NoSuchAnalysis(format!("run {} is not stored any more", id.short()))
        })?;
        durable::sync_dir(&self.dir)?;
        Ok(durable::write(&self.pins(id).join(pin_name(holder)), holder.as_bytes())?)
    }

    /// Gives up all runs that `holder` needed.
    pub fn unpin(&self, holder: &str) -> Result<(), ServiceError> {
        let _lock = self.lock()?;
        for id in self.ids()? {
            durable::remove(&self.pins(id).join(pin_name(holder)))?;
            // A folder that others still use is not empty and stays.
            let _ = std::fs::remove_dir(self.pins(id));
        }
        Ok(())
    }

    /// Who needs a run, sorted.
    pub fn holders(&self, id: RunId) -> Result<Vec<String>, ServiceError> {
        let mut holders = Vec::new();
        for name in names(&self.pins(id))? {
            let text = durable::read(&self.pins(id).join(name))?.unwrap_or_default();
            holders.push(String::from_utf8_lossy(&text).into_owned());
        }
        holders.sort();
        Ok(holders)
    }

    /// Clears away all runs that nobody needs but the `keep` newest of them. Returns what is gone, the newest first.
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

    /// All runs with the time when they were last saved, the newest first.
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

/// The first line of a stored run.
fn about(path: &Path) -> Option<AnalysisHeader> {
    let mut line = Vec::new();
    BufReader::new(File::open(path).ok()?).read_until(b'\n', &mut line).ok()?;
    serde_json::from_slice(&line).ok()
}

fn saved(path: &Path) -> Option<Duration> {
    let modified = std::fs::metadata(path).ok()?.modified().ok()?;
    Some(modified.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default())
}

/// A file name for a holder, whatever it is called.
fn pin_name(holder: &str) -> String {
    Digest::of(holder.as_bytes()).to_hex()[..32].to_owned()
}

/// The names in a folder that need not exist.
fn names(dir: &Path) -> Result<Vec<String>, ServiceError> {
    let entries = match std::fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(StoreError::Io { path: dir.to_owned(), source }.into()),
    };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    // A dot marks what is still being written.
    Ok(names.filter(|name| !name.contains('.')).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use probity_analysis::{AnalysisInput, AnalysisSettings, SourceInput, analyze};
    use probity_paths::RepoPath;
    use std::collections::BTreeMap;

    /// The run of a tree with one file.
    pub(crate) fn run(text: &str) -> AnalysisRun {
        let path = RepoPath::parse(b"a.py").expect("a path");
        let sources = BTreeMap::from([(path, SourceInput::Bytes(text.as_bytes()))]);
        analyze(&AnalysisInput { sources, ..AnalysisInput::default() }, &AnalysisSettings::default()).run
    }

    fn runs(dir: &Path) -> AnalysisStore {
        AnalysisStore { dir: dir.to_owned() }
    }

    /// Saves runs so that each is older than the next.
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
