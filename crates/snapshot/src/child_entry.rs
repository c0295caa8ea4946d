//! Inspects one child of a directory and produces its record, reusing earlier results where they still hold.

use crate::deceptive_names;
use crate::entry_record::{
    DirectoryRecord, EntryContent, EntryFacts, EntryRecord, EntryStat, SnapshotEntryKind,
};
use crate::finding::{WalkFinding, WalkLocation};
use crate::read::{self, EntryReadError, FileReader, RetryBudget};
use crate::snapshot::Snapshot;
use crate::sys::{self, ListedName};
use crate::walk_selection::WalkSelection;
use probity_core::{Digest, ReasonCode};
use rustix::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// The facts about the tree that apply to every entry of a walk.
pub(crate) struct WalkContext<'a> {
    pub(crate) root: OwnedFd,
    pub(crate) root_stat: EntryStat,
    /// The earlier snapshot; `None` where the times of files are not reliable.
    pub(crate) known: Option<&'a Snapshot>,
    /// Whether names that come, go or are exchanged show in the times of their directory.
    pub(crate) names_show_in_times: bool,
    /// The part of the tree to look at; `None` for all of it.
    pub(crate) selection: Option<&'a WalkSelection>,
    pub(crate) git_id_len: usize,
    pub(crate) retries: RetryBudget,
    /// Counts the inspected entries.
    pub(crate) n_entries_seen: Option<Arc<AtomicU64>>,
}

impl WalkContext<'_> {
    /// Returns true if an entry is on another mount, or is a directory of another file system. (The device of a plain
    /// file says nothing: on an overlay it may differ.)
    pub(crate) fn is_foreign(&self, stat: &EntryStat) -> bool {
        match (self.root_stat.mount, stat.mount) {
            (Some(root), Some(here)) if root != here => true,
            _ => stat.kind == SnapshotEntryKind::Directory && stat.device != self.root_stat.device,
        }
    }

    /// Returns true if an earlier `record` still gives the content of an entry that now has `stat`.
    fn still_holds(&self, known: &Snapshot, record: &EntryRecord, stat: &EntryStat) -> bool {
        record.held.digest().is_some()
            && record.held.kind() == stat.kind
            && record.facts == EntryFacts::from(stat)
            && record.is_older_than(known.settled_ns())
            && (stat.kind == SnapshotEntryKind::Symlink
                || self.git_id_len == 0
                || known.git_id_len() == self.git_id_len)
    }
}

/// The records of some children of a directory.
#[derive(Default)]
pub(crate) struct DirectoryPart {
    pub(crate) records: Vec<EntryRecord>,
    pub(crate) targets: Vec<(u32, Box<[u8]>)>,
    pub(crate) git_ids: Vec<u8>,
    /// The directories to enter, by index of the record.
    pub(crate) subdirs: Vec<(u32, EntryStat)>,
    pub(crate) findings: Vec<WalkFinding>,
    /// True if a name was gone when it was inspected: the listing is out of date.
    pub(crate) is_stale: bool,
}

/// One child to inspect.
pub(crate) struct ChildEntry<'a> {
    pub(crate) dir: BorrowedFd<'a>,
    pub(crate) dir_id: u32,
    pub(crate) name: &'a [u8],
    pub(crate) listed: ListedName,
    /// The directory in the known snapshot, and the index of the child there.
    pub(crate) known: Option<(&'a DirectoryRecord, usize)>,
}

/// The result of inspecting a child.
struct ChildObservation {
    stat: EntryStat,
    held: EntryContent,
    target: Option<Box<[u8]>>,
}

impl ChildObservation {
    fn unread(stat: EntryStat) -> Self {
        Self { stat, held: EntryContent::unread(&stat), target: None }
    }
}

impl DirectoryPart {
    /// Inspects `child` and records it, together with any problem.
    pub(crate) fn inspect(
        &mut self,
        ground: &WalkContext<'_>,
        reader: &mut FileReader,
        child: &ChildEntry<'_>,
    ) {
        let start = self.git_ids.len();
        let seen = ground.retries.retry_while_changing(|| {
            self.git_ids.truncate(start);
            self.inspect_once(ground, reader, child)
        });
        let seen = match seen {
            Ok(seen) => seen,
            Err(EntryReadError::Gone) => {
                self.is_stale = true;
                return;
            }
            Err(trouble) => {
                self.git_ids.truncate(start);
                self.report(child, trouble.reason(), trouble.to_string());
                let kind = child.listed.kind.unwrap_or(SnapshotEntryKind::File);
                let unknown = EntryStat::unknown(kind, ground.root_stat.device);
                ChildObservation::unread(sys::stat_at(child.dir, child.name).unwrap_or(unknown))
            }
        };
        self.git_ids.resize(start + ground.git_id_len, 0);
        let place = u32::try_from(self.records.len()).expect("a part has few names");
        if let Some(target) = seen.target {
            self.targets.push((place, target));
        }
        if self.report_unsafe(ground, child, &seen.stat) && seen.stat.kind == SnapshotEntryKind::Directory {
            self.subdirs.push((place, seen.stat));
        }
        let name = (child.listed.offset, child.listed.len);
        self.records.push(EntryRecord { name, facts: EntryFacts::from(&seen.stat), held: seen.held });
    }

    /// Inspects the child once. An unknown file is opened directly, because its handle gives all that a stat would.
    fn inspect_once(
        &mut self,
        ground: &WalkContext<'_>,
        reader: &mut FileReader,
        child: &ChildEntry<'_>,
    ) -> Result<ChildObservation, EntryReadError> {
        if child.known.is_none() && child.listed.kind == Some(SnapshotEntryKind::File) {
            return self.read_file(reader, child);
        }
        let stat = sys::stat_at(child.dir, child.name)?;
        if let Some(seen) = self.reuse_known(ground, child, stat) {
            return Ok(seen);
        }
        match stat.kind {
            SnapshotEntryKind::File => self.read_file(reader, child),
            SnapshotEntryKind::Symlink => {
                let (stat, target) = read::link(child.dir, child.name)?;
                let held = EntryContent::Symlink(Some(Digest::of(&target)));
                Ok(ChildObservation { stat, held, target: Some(target.into()) })
            }
            _ => Ok(ChildObservation::unread(stat)),
        }
    }

    fn read_file(
        &mut self,
        reader: &mut FileReader,
        child: &ChildEntry<'_>,
    ) -> Result<ChildObservation, EntryReadError> {
        let (stat, digest) = reader.file(child.dir, child.name, &mut self.git_ids)?;
        Ok(ChildObservation { stat, held: EntryContent::File(Some(digest)), target: None })
    }

    /// Reuses known content if the entry is unchanged.
    fn reuse_known(
        &mut self,
        ground: &WalkContext<'_>,
        child: &ChildEntry<'_>,
        stat: EntryStat,
    ) -> Option<ChildObservation> {
        let (dir, place) = child.known?;
        let record = &dir.records[place];
        if !ground.still_holds(ground.known?, record, &stat) {
            return None;
        }
        if stat.kind == SnapshotEntryKind::File && ground.git_id_len > 0 {
            self.git_ids.extend_from_slice(&dir.git_ids[place * ground.git_id_len..][..ground.git_id_len]);
        }
        let target = dir.target(u32::try_from(place).ok()?).map(Into::into);
        Some(ChildObservation { stat, held: record.held, target })
    }

    /// Reports what is unsafe to judge; returns true if the entry is on the tree's own mount.
    fn report_unsafe(&mut self, ground: &WalkContext<'_>, child: &ChildEntry<'_>, stat: &EntryStat) -> bool {
        match stat.kind {
            SnapshotEntryKind::Fifo => self.report(child, ReasonCode::UnsafeFifo, String::new()),
            SnapshotEntryKind::Socket => self.report(child, ReasonCode::UnsafeSocket, String::new()),
            SnapshotEntryKind::CharDevice | SnapshotEntryKind::BlockDevice => {
                self.report(child, ReasonCode::UnsafeDevice, stat.kind.name().to_owned());
            }
            SnapshotEntryKind::File | SnapshotEntryKind::Directory | SnapshotEntryKind::Symlink => {}
        }
        if deceptive_names::passes_for_git(child.name) {
            self.report(child, ReasonCode::UnsafeGitLookAlike, String::new());
        }
        let is_foreign = ground.is_foreign(stat);
        if is_foreign {
            let what = if stat.kind == SnapshotEntryKind::Directory { "it was not looked into" } else { "" };
            self.report(child, ReasonCode::UnsafeMountPoint, what.to_owned());
        }
        !is_foreign
    }

    fn report(&mut self, child: &ChildEntry<'_>, reason: ReasonCode, detail: String) {
        self.findings.push(WalkFinding {
            at: WalkLocation::Child(child.dir_id, child.name.into()),
            reason,
            detail,
        });
    }
}
