//! Taking a snapshot: the walk, the order of its directories, and what is judged about the whole tree.

use crate::child_entry::WalkContext;
use crate::entry_record::{DirectoryRecord, EntryContent, EntryStat, ROOT};
use crate::finding::{TreeFinding, WalkFinding, WalkLocation};
use crate::git_object::ObjectFormat;
use crate::read::{FileReader, RetryBudget};
use crate::snapshot::{Snapshot, SnapshotNote, join_names};
use crate::tree_root::{TreeError, TreeRoot};
use crate::walk::{self, DirectoryPlace, WalkResult};
use crate::walk_selection::WalkSelection;
use crate::{links, merkle, sys};
use probity_core::ReasonCode;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::SystemTime;

/// What a snapshot is to take in.
#[derive(Debug, Clone, Default)]
pub struct SnapshotOptions {
    /// The top-level names under which Probity keeps its own state: they are no part of the content.
    pub own_state: Vec<Vec<u8>>,
    /// Whether `.git` at the top is content too. It is when the tree is no repository: then nobody else looks there.
    pub dot_git_is_content: bool,
    /// Whether to compute the git blob id of every file, and in which format. It costs a second hash.
    pub git_ids: Option<ObjectFormat>,
    /// How many threads to use; `None` for two per core.
    pub n_threads: Option<usize>,
    /// Grows by the entries that were looked at, while the walk goes on, so that a caller can show progress.
    pub n_entries_seen: Option<Arc<AtomicU64>>,
}

impl Snapshot {
    /// Takes a snapshot of the tree at `root`. What `known` tells is not read again where it still holds; without
    /// it everything is read, and the result is the same.
    pub fn take(root: &Path, options: &SnapshotOptions, known: Option<&Self>) -> Result<Self, TreeError> {
        Self::take_at(&TreeRoot::open(root)?, options, known)
    }

    /// Takes a snapshot of the directory that `root` holds open, wherever its path leads by now.
    pub fn take_at(
        root: &TreeRoot,
        options: &SnapshotOptions,
        known: Option<&Self>,
    ) -> Result<Self, TreeError> {
        Self::take_part(root, options, known, None)
    }

    /// Takes a snapshot of a part of the tree, of all of it without a selection. Nothing is taken from an earlier one.
    pub fn take_selected(
        root: &TreeRoot,
        options: &SnapshotOptions,
        selection: Option<&WalkSelection>,
    ) -> Result<Self, TreeError> {
        Self::take_part(root, options, None, selection)
    }

    /// Returns a snapshot in which nothing was looked at.
    pub fn unseen(options: &SnapshotOptions) -> Self {
        let mut dirs = vec![DirectoryRecord::empty()];
        merkle::hash_leaf(&mut dirs[0]);
        Self {
            started_ns: now_ns(),
            git_ids: options.git_ids,
            has_all_names: false,
            dirs,
            findings: Vec::new(),
            notes: Vec::new(),
        }
    }

    fn take_part(
        root: &TreeRoot,
        options: &SnapshotOptions,
        known: Option<&Self>,
        selection: Option<&WalkSelection>,
    ) -> Result<Self, TreeError> {
        let started_ns = now_ns();
        let real_root = root.path();
        let ground = walk_context(root, options, known, selection).map_err(|error| TreeError {
            root: real_root.to_owned(),
            reason: ReasonCode::TreeUnavailable,
            detail: std::io::Error::from(error).to_string(),
        })?;
        let mut left_out = options.own_state.clone();
        if !options.dot_git_is_content {
            left_out.push(b".git".to_vec());
        }
        let reader = || FileReader::new(options.git_ids);
        let walked = walk::walk(&ground, &left_out, reader, n_threads(options));
        if let Some(finding) =
            walked.findings.iter().find(|finding| matches!(finding.at, WalkLocation::Dir(ROOT)))
        {
            let (reason, detail) = (finding.reason, finding.detail.clone());
            return Err(TreeError { root: real_root.to_owned(), reason, detail });
        }
        let mut snapshot = Self::assemble(walked, started_ns, options.git_ids);
        snapshot.has_all_names &= selection.is_none();
        if ground.root_stat.mount.is_none() {
            snapshot.notes.push(SnapshotNote::NoMountIds);
        }
        links::report_escapes(&mut snapshot, real_root);
        snapshot.findings.sort_unstable();
        snapshot.notes.sort_unstable();
        Ok(snapshot)
    }

    /// Puts the walked directories in order and hashes them.
    fn assemble(walked: WalkResult, started_ns: i64, git_ids: Option<ObjectFormat>) -> Self {
        // The names of a directory that kept changing, or could not be read, may be missing.
        let has_all_names = !walked.findings.iter().any(|found| matches!(found.at, WalkLocation::Dir(_)));
        let findings = walked.findings.into_iter().filter_map(|found| place(found, &walked.places)).collect();
        let mut found: Vec<Option<(EntryStat, DirectoryRecord)>> = Vec::new();
        found.resize_with(walked.places.len(), || None);
        for (id, stat, dir) in walked.dirs {
            found[id as usize] = Some((stat, dir));
        }
        let mut dirs: Vec<DirectoryRecord> =
            found[ROOT as usize].take().map(|(_, dir)| dir).into_iter().collect();
        let mut at = 0;
        while at < dirs.len() {
            for place in 0..dirs[at].records.len() {
                let next = number(dirs.len());
                let record = &mut dirs[at].records[place];
                let EntryContent::Directory(Some(walked_id)) = record.held else { continue };
                let Some((stat, mut dir)) = found[walked_id as usize].take() else {
                    record.held = EntryContent::Directory(None);
                    continue;
                };
                record.facts = (&stat).into();
                record.held = EntryContent::Directory(Some(next));
                dir.parent = (number(at), number(place));
                dirs.push(dir);
            }
            at += 1;
        }
        merkle::hash_parents(&mut dirs);
        Self { dirs, findings, notes: Vec::new(), started_ns, git_ids, has_all_names }
    }
}

fn walk_context<'a>(
    root: &TreeRoot,
    options: &SnapshotOptions,
    known: Option<&'a Snapshot>,
    selection: Option<&'a WalkSelection>,
) -> rustix::io::Result<WalkContext<'a>> {
    let root = root.reopen()?;
    let root_stat = sys::stat_fd(&root)?;
    let git_id_len = options.git_ids.map_or(0, ObjectFormat::id_len);
    let known = known.filter(|_| sys::times_tell(&root));
    let n_entries_seen = options.n_entries_seen.clone();
    let retries = RetryBudget::default();
    let names_show_in_times = known.is_some() && sys::renames_are_stamped(&root);
    Ok(WalkContext {
        root,
        root_stat,
        known,
        names_show_in_times,
        selection,
        git_id_len,
        retries,
        n_entries_seen,
    })
}

/// The walked finding with its path; `None` for the root itself, which was reported before.
fn place(finding: WalkFinding, places: &[DirectoryPlace]) -> Option<TreeFinding> {
    let WalkFinding { at, reason, detail } = finding;
    let (mut names, mut at) = match &at {
        WalkLocation::Dir(id) => (Vec::new(), *id),
        WalkLocation::Child(id, name) => (vec![&**name], *id),
    };
    while at != ROOT {
        names.push(&places[at as usize].name);
        at = places[at as usize].parent;
    }
    (!names.is_empty()).then(|| TreeFinding { path: join_names(&names), reason, detail })
}

fn number(n: usize) -> u32 {
    u32::try_from(n).expect("the walk numbered the directories in 32 bits")
}

pub(crate) fn now_ns() -> i64 {
    let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since_1970.as_nanos()).unwrap_or(i64::MAX)
}

/// More threads than cores: some wait for the disk while others work.
fn n_threads(options: &SnapshotOptions) -> usize {
    let default = || (2 * std::thread::available_parallelism().map_or(1, usize::from)).min(32);
    options.n_threads.unwrap_or_else(default).max(1)
}
