//! Detects whether Probity's own state was tampered with while a command ran.
//!
//! The state directory is not part of the content, so nothing else would notice what an agent plants or rewrites there.
//! Runs in other worktrees of the repository may write here at the same time, but their writes can be explained: a file
//! is on the chain, is named by its own digest, is a sound seal, or its owner vouches for it. Unfinished writes are
//! complete a moment later, so unexplained files are checked again. Everything else is a change of a protected path.

use crate::attest::ChainHeadSource;
use crate::before_images::MAX_KEPT_BYTES;
use crate::bundles;
use probity_core::merkle::TreeHead;
use probity_core::{Digest, json};
use probity_evidence::{Seal, SecretKey, TrustRequirements};
use probity_storage::ports::StorageEngine as _;
use probity_storage::{FileLock, Journal, durable};
use probity_workspace::run_claims::{self, SEAL_FILE};
use probity_workspace::state_files::{FileFate, StateFiles, StateMark, is_unfinished, name_parts};
use probity_workspace::transparency_log::{
    self, BUNDLE_LOG, DECISION_LOG, INTENT_LOG, LEDGER_LOG, LogEntry, RECEIPT_LOG,
};
use probity_workspace::{CHECKPOINT_FILE, DATABASE_FILE, OpenRun, ServiceError, StateDirectory, is_tree_key};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{DirEntryExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Further checks of unexplained changes, and the pause before each.
const MAX_RECHECKS: usize = 40;
const RECHECK_INTERVAL: Duration = Duration::from_millis(25);
/// The largest seal or receipt of another run that is read. A governed command may have planted it.
const MAX_DOCUMENT_BYTES: u64 = 64 * 1024 * 1024;

/// Inode, size and change time.
type FileStamp = (u64, u64, i64, i64);

/// The state directory at the start of a command.
#[derive(Debug)]
pub(crate) struct StateGuard {
    state: StateDirectory,
    run: OpenRun,
    /// The head of the log, the number of bundles in it, and the last of them.
    log: TreeHead,
    n_bundles: u64,
    head: Option<LogEntry>,
    /// The requirements for further bundles on the chain.
    trust: TrustRequirements,
    listing: StateListing,
    /// The records of the owners of other files.
    owners: Vec<Box<dyn StateMark>>,
}

impl StateGuard {
    /// Records the state directory for `run`. The evidence is locked, so no bundle is half written. With a `key`, every bundle added from now on must be signed. `owners` vouch for files that do not
    /// belong to runs.
    pub(crate) fn capture(
        state: &StateDirectory,
        run: &OpenRun,
        _locked: &FileLock,
        key: Option<&SecretKey>,
        owners: &[&dyn StateFiles],
    ) -> Result<Self, ServiceError> {
        let (state, run) = (state.clone(), run.clone());
        // First, because opening a database touches its files.
        let owners = owners.iter().map(|owner| owner.mark(&state)).collect();
        let store = state.store()?;
        let log = store.log_head()?.map_or_else(TreeHead::empty, |head| head.tree);
        let (n_bundles, head) = (store.log(BUNDLE_LOG).head()?, transparency_log::last(&store, BUNDLE_LOG)?);
        drop(store);
        let listing = StateListing::read(state.dir());
        let trust = bundles::next_trust(key);
        Ok(Self { state, run, log, n_bundles, head, trust, listing, owners })
    }

    /// Returns the predecessor for this run's bundle: the head on disk, if it leads back to the recorded one.
    pub(crate) fn head_to_trust(&self) -> ChainHeadSource {
        let _turn = self.state.lock_evidence().ok();
        match self.new_links().filter(|_| self.log_has_grown()) {
            Some(_) => ChainHeadSource::OnDisk,
            None => ChainHeadSource::Remembered(self.head.clone()),
        }
    }

    /// Returns the changed files that nothing explains, relative to the state directory.
    pub(crate) fn touched(&self) -> Vec<PathBuf> {
        self.touched_after(|| std::thread::sleep(RECHECK_INTERVAL))
    }

    /// Calls `pause` before each further check.
    fn touched_after(&self, mut pause: impl FnMut()) -> Vec<PathBuf> {
        let mut touched = self.unexplained(&BTreeSet::new());
        for _ in 0..MAX_RECHECKS {
            // Stored content gets its name when it is whole, so a second look finds nothing else, and it may be large.
            let settled: BTreeSet<PathBuf> =
                touched.iter().filter(|name| is_stored_content(name)).cloned().collect();
            if settled.len() == touched.len() {
                break;
            }
            pause();
            let again = self.unexplained(&settled);
            touched.retain(|name| again.contains(name));
        }
        touched.into_iter().collect()
    }

    /// Returns the changed files that nothing explains. Those in `settled` were found so before and are not looked at again.
    fn unexplained(&self, settled: &BTreeSet<PathBuf>) -> BTreeSet<PathBuf> {
        // Bundles are written and listed under this lock, so none is half written now.
        let _turn = self.state.lock_evidence().ok();
        let now = StateListing::read(self.state.dir());
        let changed = self.listing.changes(&now);
        let new_links = if changed.is_empty() { Some(BTreeSet::new()) } else { self.new_links() };
        let log_has_grown = changed.is_empty() || (new_links.is_some() && self.log_has_grown());
        let is_explained = |name: &Path, fate: FileFate| {
            if settled.contains(name) {
                return false;
            }
            if is_of_log(name) && !log_has_grown {
                return false;
            }
            self.is_ours(name)
                || self.explains_itself(name, fate, new_links.as_ref())
                || self.owners.iter().any(|owner| owner.explains(&self.state, name, fate))
        };
        let mut unexplained: BTreeSet<PathBuf> = changed
            .iter()
            .filter(|(name, fate)| !is_explained(name, **fate))
            .map(|(name, _)| name.clone())
            .collect();
        // A directory that another run has no more use for goes; none is ever replaced.
        let replaced = self.listing.directories.iter().filter(|(name, before)| {
            let after = now.directories.get(*name);
            after.is_some_and(|after| after != *before) || (after.is_none() && changed.contains_key(*name))
        });
        unexplained.extend(replaced.map(|(name, _)| name.clone()));
        if !now.directories.contains_key(Path::new("")) {
            unexplained.insert(PathBuf::new());
        }
        unexplained
    }

    /// Returns whether this process writes the file while the command runs. Its lock and stat cache are not among
    /// those.
    fn is_ours(&self, name: &Path) -> bool {
        let path = self.state.dir().join(name);
        path.starts_with(&self.run.folder) && !run_claims::is_fixed(&path)
    }

    /// Returns whether runs make this change in the normal course of their work.
    fn explains_itself(&self, name: &Path, fate: FileFate, new_links: Option<&BTreeSet<String>>) -> bool {
        let path = self.state.dir().join(name);
        match name_parts(name).unwrap_or_default().as_slice() {
            ["evidence.lock"] => is_plain_file(&path),
            [CHECKPOINT_FILE] => {
                fate != FileFate::Gone
                    && transparency_log::note_is_true(&self.state, self.trust.keys.values().next())
            }
            ["evidence", id, ..] => {
                fate == FileFate::New && new_links.is_some_and(|links| links.contains(*id))
            }
            // A temporary file at the first listing has its final name by now.
            ["before" | "objects", .., file] if fate == FileFate::Gone => is_unfinished(file),
            // Two runs that store the same content at once replace each other's file, which still matches its name.
            ["before" | "objects", ..] => is_named_by_content(&path),
            // A run elsewhere that began, continues, or ended and removed its directory. Seals and claims are never
            // rewritten.
            ["open", ..] if path.starts_with(&self.run.folder) => false,
            ["open", id, ..] => {
                let is_rewritten = fate == FileFate::Changed && run_claims::is_fixed(&path);
                fate == FileFate::Gone || (!is_rewritten && self.has_sound_seal(id))
            }
            ["locks", ..] => path != self.run.lock && (fate == FileFate::Gone || is_plain_file(&path)),
            // Landings on other trees. One on this tree would be completed by the next start, unjudged.
            ["landings", landing, ..] => landing.split_once('.').is_some_and(|(run_id, tree)| {
                let is_known = new_links.is_some_and(|links| links.contains(run_id))
                    || self.state.bundles().is_ok_and(|bundles| bundles.iter().any(|id| id == run_id))
                    || self.state.open_runs().is_ok_and(|runs| runs.iter().any(|run| run.run_id == run_id));
                is_known && !self.run.lock.ends_with(tree)
            }),
            // Caches may be deleted at any time.
            ["cache", _] if fate == FileFate::Gone => true,
            // Stat caches are written by runs on their tree.
            ["cache", file] if is_tree_key(file) => {
                path != self.run.cache && self.ran_elsewhere(&path, new_links)
            }
            _ => false,
        }
    }

    fn has_sound_seal(&self, open: &str) -> bool {
        let seal = self.state.dir().join("open").join(open).join(SEAL_FILE);
        read_planted(&seal, MAX_DOCUMENT_BYTES).is_some_and(|bytes| Seal::parse(&bytes).is_ok())
    }

    /// Returns whether a run on the tree of this stat cache was open meanwhile, or any run finished.
    fn ran_elsewhere(&self, cache: &Path, new_links: Option<&BTreeSet<String>>) -> bool {
        new_links.is_some_and(|links| !links.is_empty())
            || self.state.open_runs().is_ok_and(|runs| runs.iter().any(|run| run.cache == cache))
    }

    /// Returns the runs added to the log; `None` if one of them has no sound bundle that names the one before it.
    fn new_links(&self) -> Option<BTreeSet<String>> {
        let store = self.state.existing_store().ok()??;
        let mut links = BTreeSet::new();
        let mut before = self.head.as_ref().map(|head| head.digest);
        for LogEntry { name, digest } in transparency_log::entries(&store, BUNDLE_LOG, self.n_bundles).ok()? {
            if self.manifest_link(&name)? != (digest, before) {
                return None;
            }
            before = Some(digest);
            links.insert(name);
        }
        Some(links)
    }

    /// Returns whether the log has only grown, by entries whose content is there. Bundles and intents are checked apart.
    fn log_has_grown(&self) -> bool {
        let check = || -> Option<bool> {
            let store = self.state.existing_store().ok()??;
            store.check_head(&self.log, "the start of the run").ok()?;
            store.check_leaves(self.log.size).ok()?;
            let new = store.leaves_after(self.log.size, usize::MAX).ok()?;
            Some(new.iter().all(|listed| {
                let leaf = &listed.leaf;
                let digest = || std::str::from_utf8(&leaf.event).ok()?.parse().ok();
                match leaf.log.as_str() {
                    BUNDLE_LOG | INTENT_LOG | DECISION_LOG => true,
                    RECEIPT_LOG => digest().is_some_and(|digest| self.has_receipt(&leaf.name, digest)),
                    LEDGER_LOG => digest().is_some_and(|digest| self.has_ledger(&leaf.name, digest)),
                    _ => false,
                }
            }))
        };
        check().unwrap_or(false)
    }

    fn has_receipt(&self, number: &str, digest: Digest) -> bool {
        let path = number.parse().map(|number| self.state.receipt(number));
        let document = path.ok().and_then(|path| json::parse(&read_planted(&path, MAX_DOCUMENT_BYTES)?).ok());
        document.is_some_and(|document| probity_evidence::receipt::verify(&document) == Ok(digest))
    }

    fn has_ledger(&self, name: &str, digest: Digest) -> bool {
        let entry = LogEntry { name: name.to_owned(), digest };
        let journal = Journal::at(self.state.ledger().join("log"));
        transparency_log::journal_position(&entry).is_some_and(|end| journal.has(&end).unwrap_or(false))
    }

    /// Returns the run hash of a bundle and that of its predecessor.
    fn manifest_link(&self, run_id: &str) -> Option<(Digest, Option<Digest>)> {
        // A bundle that is not sound is not a link, whatever it claims.
        let (verification, files) = bundles::verify(&self.state.evidence().join(run_id), &self.trust).ok()?;
        if !bundles::is_sound(&verification) {
            return None;
        }
        let manifest = json::parse(files.get(&b"manifest.json"[..])?).ok()?;
        let hash = manifest.get("run_hash")?.as_str()?.parse().ok()?;
        let previous = match manifest.get("prev_run_hash")?.as_str() {
            None => None,
            Some(text) => Some(text.parse().ok()?),
        };
        Some((hash, previous))
    }
}

/// Returns whether a file holds the log or its noted head.
fn is_of_log(name: &Path) -> bool {
    name.to_str().is_some_and(|name| name == CHECKPOINT_FILE || name.starts_with(DATABASE_FILE))
}

fn is_named_by_content(path: &Path) -> bool {
    let parts: Vec<OsString> = path.iter().rev().take(2).map(OsString::from).collect();
    let name: String = parts.iter().rev().map(|part| part.to_string_lossy()).collect();
    read_planted(path, MAX_KEPT_BYTES).is_some_and(|bytes| Digest::of(&bytes).to_hex() == name)
}

/// Returns whether a path is a plain file; a lock is never anything else.
fn is_plain_file(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|facts| facts.is_file())
}

/// Reads a file that a governed command may have planted: a pipe does not block, and a link is not followed.
fn read_planted(path: &Path, max_bytes: u64) -> Option<Vec<u8>> {
    durable::read_at_most(path, max_bytes).ok().flatten()
}

/// Returns whether a file is content under its final name, which is given when the content is whole.
fn is_stored_content(name: &Path) -> bool {
    matches!(name_parts(name).unwrap_or_default().as_slice(), ["before" | "objects", .., file] if !is_unfinished(file))
}

/// Returns whether an entry belongs to a collection that grows with every run. Its content is covered by the log or by
/// its own name, so a listing takes its name and inode alone: what is added, removed or replaced shows, what is
/// rewritten in place is found by its verification. The cost of a run must not grow with the
/// number of runs before it.
fn is_in_history(name: &Path) -> bool {
    let mut parts = name.components();
    let collection = parts.next().map(|part| part.as_os_str().as_encoded_bytes());
    matches!(collection, Some(b"evidence" | b"receipts" | b"before" | b"objects")) && parts.next().is_some()
}

/// The entries of a state directory at one moment.
#[derive(Debug, Default)]
struct StateListing {
    files: BTreeMap<PathBuf, FileStamp>,
    /// The device and inode of every directory, the state directory itself under an empty name.
    directories: BTreeMap<PathBuf, (u64, u64)>,
    /// By directory, names and inodes of what belongs to the history, in the order of the file system: they are many, and
    /// as long as nothing changes they are only compared as a whole.
    history: BTreeMap<PathBuf, Vec<(OsString, u64)>>,
}

impl StateListing {
    /// Stamps every file and every directory below `dir`, and `dir` itself if it is no link. Bundles are not entered. An
    /// unreadable directory shows as missing files. Layers, and entries that landings exchanged, are left out: they are
    /// many, and a landing compares them with recorded digests.
    fn read(dir: &Path) -> Self {
        let mut listing = Self::default();
        let top = fs::symlink_metadata(dir).ok().filter(fs::Metadata::is_dir);
        listing.directories.extend(top.map(|facts| (PathBuf::new(), (facts.dev(), facts.ino()))));
        let mut n_examined: u64 = 0;
        let mut folders = vec![PathBuf::new()];
        while let Some(folder) = folders.pop() {
            let is_of_bundles = folder.as_os_str() == "evidence";
            let is_of_history = is_in_history(&folder.join("entry"));
            let mut history = Vec::new();
            for entry in fs::read_dir(dir.join(&folder)).into_iter().flatten().flatten() {
                let is_directory = || entry.file_type().is_ok_and(|kind| kind.is_dir());
                if is_of_history && (is_of_bundles || !is_directory()) {
                    history.push((entry.file_name(), entry.ino()));
                    continue;
                }
                n_examined += 1;
                let Ok(facts) = entry.metadata() else { continue };
                let name = folder.join(entry.file_name());
                if !facts.is_dir() {
                    let stamp = (facts.ino(), facts.size(), facts.ctime(), facts.ctime_nsec());
                    listing.files.insert(name, stamp);
                } else if folder.as_os_str() != "layers" && !name.ends_with("exchange") {
                    listing.directories.insert(name.clone(), (facts.dev(), facts.ino()));
                    folders.push(name);
                }
            }
            if !history.is_empty() {
                listing.history.insert(folder, history);
            }
        }
        tracing::trace!(target: "probity::work", state_entries = n_examined);
        listing
    }

    /// Returns what became of the files, and of what belongs to the history, until `later`.
    fn changes(&self, later: &Self) -> BTreeMap<PathBuf, FileFate> {
        let mut changes = file_fates(&self.files, &later.files);
        let folders: BTreeSet<&PathBuf> = self.history.keys().chain(later.history.keys()).collect();
        for folder in folders {
            let (before, after) = (self.history.get(folder), later.history.get(folder));
            if before != after {
                let by_name = |entries: Option<&Vec<(OsString, u64)>>| -> BTreeMap<PathBuf, u64> {
                    entries.into_iter().flatten().map(|(name, inode)| (folder.join(name), *inode)).collect()
                };
                changes.extend(file_fates(&by_name(before), &by_name(after)));
            }
        }
        changes
    }
}

/// Returns the names whose stamps differ.
fn file_fates<T: PartialEq>(
    before: &BTreeMap<PathBuf, T>,
    after: &BTreeMap<PathBuf, T>,
) -> BTreeMap<PathBuf, FileFate> {
    let gone = before.keys().filter(|name| !after.contains_key(*name)).map(|name| (name, FileFate::Gone));
    let others = after.iter().filter_map(|(name, stamp)| match before.get(name) {
        None => Some((name, FileFate::New)),
        Some(known) if known != stamp => Some((name, FileFate::Changed)),
        Some(_) => None,
    });
    gone.chain(others).map(|(name, fate)| (name.clone(), fate)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state() -> (tempfile::TempDir, StateDirectory) {
        let dir = tempfile::tempdir().expect("a directory");
        let state = StateDirectory::at(dir.path().join("state"));
        for run in [own_run(&state), state.open_run("r2", Path::new("/other"))] {
            fs::create_dir_all(&run.folder).expect("creates");
            fs::write(run.folder.join(SEAL_FILE), "sealed").expect("writes");
        }
        for file in [state.cache(Path::new(TREE)), state.tree_lock(Path::new(TREE))] {
            fs::create_dir_all(file.parent().expect("a parent")).expect("creates");
            fs::write(file, "mine").expect("writes");
        }
        state.before_images().put(b"before").expect("keeps");
        (dir, state)
    }

    const TREE: &str = "/tree";

    fn own_run(state: &StateDirectory) -> OpenRun {
        state.open_run("r1", Path::new(TREE))
    }

    fn touched(change: impl FnOnce(&StateDirectory)) -> Vec<PathBuf> {
        let (_dir, state) = state();
        let guard = StateGuard::capture(
            &state,
            &own_run(&state),
            &state.lock_evidence().expect("is free"),
            None,
            &[&OneFile],
        )
        .expect("is read");
        change(&state);
        guard.touched().into_iter().map(|name| state.dir().join(name)).collect()
    }

    /// Returns whether rewriting the file at `place` is noticed.
    fn notices(place: impl Fn(&StateDirectory) -> PathBuf) -> bool {
        let mut expected = Vec::new();
        let found = touched(|state| {
            fs::create_dir_all(place(state).parent().expect("a parent")).expect("creates");
            fs::write(place(state), "forged").expect("writes");
            expected.push(place(state));
        });
        assert!(found.is_empty() || found == expected, "{found:?}");
        !found.is_empty()
    }

    /// An owner of one file, which may do anything to it.
    #[derive(Debug)]
    struct OneFile;

    impl StateFiles for OneFile {
        fn mark(&self, _state: &StateDirectory) -> Box<dyn StateMark> {
            Box::new(Self)
        }
    }

    impl StateMark for OneFile {
        fn explains(&self, _state: &StateDirectory, name: &Path, _fate: FileFate) -> bool {
            name == Path::new("theirs")
        }
    }

    #[test]
    fn an_owner_vouches_for_its_own_files_alone() {
        assert!(!notices(|state| state.dir().join("theirs")));
        assert!(notices(|state| state.dir().join("theirs.too")));
    }

    #[test]
    fn nothing_happened() {
        assert_eq!(touched(|_| {}), Vec::<PathBuf>::new());
    }

    #[test]
    fn a_planted_file_is_found() {
        assert!(notices(|state| state.dir().join("payload")));
    }

    #[test]
    fn a_rewritten_seal_is_found_whosever_it_is() {
        assert!(notices(|state| own_run(state).folder.join(SEAL_FILE)));
        assert!(notices(|state| own_run(state).folder.join(run_claims::CLAIM_FILE)));
        assert!(notices(|state| state.open_run("r2", Path::new("/other")).folder.join(SEAL_FILE)));
    }

    #[test]
    fn the_own_lock_and_stat_cache_are_guarded() {
        assert!(notices(|state| state.cache(Path::new(TREE))));
        assert!(notices(|state| state.tree_lock(Path::new(TREE))));
        assert!(touched(|state| drop(fs::remove_file(state.tree_lock(Path::new(TREE))))).len() == 1);
    }

    #[test]
    fn the_stat_cache_of_a_tree_where_nothing_ran_is_guarded() {
        assert!(notices(|state| state.cache(Path::new("/idle"))));
        assert!(!notices(|state| state.cache(Path::new("/other"))), "a run goes on there");
    }

    #[test]
    fn before_images_cannot_be_taken_away() {
        let kept = |state: &StateDirectory| state.before_images().put(b"before").expect("keeps").to_hex();
        let taken = touched(|state| {
            let name = kept(state);
            fs::remove_file(state.dir().join("before").join(&name[..2]).join(&name[2..])).expect("removes");
        });
        assert_eq!(taken.len(), 1);
    }

    #[test]
    fn locks_of_other_trees_may_come_and_go() {
        assert!(!notices(|state| state.tree_lock(Path::new("/other"))));
    }

    #[test]
    fn what_is_only_just_being_written_is_looked_at_again() {
        let (_dir, state) = state();
        let guard = StateGuard::capture(
            &state,
            &own_run(&state),
            &state.lock_evidence().expect("is free"),
            None,
            &[&OneFile],
        )
        .expect("is read");
        let unfinished = state.dir().join("before/unfinished.tmp");
        fs::write(&unfinished, "x").expect("writes");
        let mut looks = 0;
        let found = guard.touched_after(|| {
            looks += 1;
            if looks == 4 {
                fs::remove_file(&unfinished).expect("removes");
            }
        });
        assert_eq!((found, looks), (Vec::<PathBuf>::new(), 4));
    }

    #[test]
    fn a_forged_entry_of_the_log_is_found() {
        for (log, name) in [(BUNDLE_LOG, "r0"), (RECEIPT_LOG, "1"), (LEDGER_LOG, "16-99"), ("other", "x")] {
            let forged = touched(|state| {
                let store = state.store().expect("opens");
                transparency_log::append(&store, log, name, &Digest::of(b"forged")).expect("appends");
            });
            // A short write-ahead log stays beside the database when the store is closed.
            let is_of_database = |path: &PathBuf| {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                name.starts_with(DATABASE_FILE)
            };
            assert!(forged.iter().any(is_of_database), "{log}: {forged:?}");
            assert!(forged.iter().any(|path| path.ends_with(CHECKPOINT_FILE)), "{log}: {forged:?}");
        }
    }

    #[test]
    fn a_bundle_costs_one_name_and_still_cannot_be_taken_away_or_replaced() {
        let plant = |state: &StateDirectory, id: &str| {
            let bundle = state.evidence().join(id);
            fs::create_dir_all(&bundle).expect("creates");
            for file in ["manifest.json", "seal.json", "delta.json"] {
                fs::write(bundle.join(file), id).expect("writes");
            }
            bundle
        };
        let (_dir, state) = state();
        let old: Vec<PathBuf> = (0..50).map(|number| plant(&state, &format!("old-{number}"))).collect();
        let listing = StateListing::read(state.dir());
        assert_eq!(listing.history[Path::new("evidence")].len(), old.len());
        assert!(!listing.files.keys().any(|name| name.starts_with("evidence")));
        assert_eq!(listing.directories.keys().filter(|name| name.starts_with("evidence")).count(), 1);

        let run = own_run(&state);
        let turn = state.lock_evidence().expect("is free");
        let guard = StateGuard::capture(&state, &run, &turn, None, &[]).expect("is read");
        drop(turn);
        fs::remove_dir_all(&old[7]).expect("removes");
        fs::rename(&old[8], state.dir().join("aside")).expect("renames");
        plant(&state, "old-8");
        plant(&state, "new");
        let touched = guard.touched();
        for name in ["evidence/old-7", "evidence/old-8", "evidence/new"] {
            assert!(touched.contains(&PathBuf::from(name)), "{name}: {touched:?}");
        }
    }

    #[test]
    fn objects_must_have_their_own_digest() {
        assert!(touched(|state| drop(state.before_images().put(b"another"))).is_empty());
        assert!(notices(|state| state.dir().join("before/zz")));
    }
}
