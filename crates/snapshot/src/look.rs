//! Inspects one child of a directory and produces its record, reusing earlier results where they still hold.

use crate::finding::{At, Finding};
use crate::names;
use crate::read::{self, Patience, Reader, Trouble};
use crate::record::{Dir, Facts, Held, Kind, Record, Stat};
use crate::snapshot::Snapshot;
use crate::sys::{self, Listed};
use probity_core::{Digest, Reason};
use rustix::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// The facts about the tree that apply to every entry of a walk.
pub(crate) struct Ground<'a> {
    pub(crate) root: OwnedFd,
    pub(crate) root_stat: Stat,
    /// The earlier snapshot; `None` where the times of files are not reliable.
    pub(crate) known: Option<&'a Snapshot>,
    pub(crate) git_id_len: usize,
    pub(crate) patience: Patience,
    /// Counts the inspected entries.
    pub(crate) n_entries_seen: Option<Arc<AtomicU64>>,
}

impl Ground<'_> {
    /// Returns true if an entry is on another mount, or is a directory of another file system. (The device of a plain
    /// file says nothing: on an overlay it may differ.)
    pub(crate) fn is_foreign(&self, stat: &Stat) -> bool {
        match (self.root_stat.mount, stat.mount) {
            (Some(root), Some(here)) if root != here => true,
            _ => stat.kind == Kind::Directory && stat.device != self.root_stat.device,
        }
    }

    /// Returns true if an earlier `record` still gives the content of an entry that now has `stat`.
    fn still_holds(&self, known: &Snapshot, record: &Record, stat: &Stat) -> bool {
        record.held.digest().is_some()
            && record.held.kind() == stat.kind
            && record.facts == Facts::from(stat)
            && record.is_older_than(known.settled_ns())
            && (stat.kind == Kind::Symlink || self.git_id_len == 0 || known.git_id_len() == self.git_id_len)
    }
}

/// The records of some children of a directory.
#[derive(Default)]
pub(crate) struct Part {
    pub(crate) records: Vec<Record>,
    pub(crate) targets: Vec<(u32, Box<[u8]>)>,
    pub(crate) git_ids: Vec<u8>,
    /// The directories to enter, by index of the record.
    pub(crate) subdirs: Vec<(u32, Stat)>,
    pub(crate) findings: Vec<Finding>,
    /// True if a name was gone when it was inspected: the listing is out of date.
    pub(crate) is_stale: bool,
}

/// One child to inspect.
pub(crate) struct Child<'a> {
    pub(crate) dir: BorrowedFd<'a>,
    pub(crate) dir_id: u32,
    pub(crate) name: &'a [u8],
    pub(crate) listed: Listed,
    /// The directory in the known snapshot, and the index of the child there.
    pub(crate) known: Option<(&'a Dir, usize)>,
}

/// The result of inspecting a child.
struct Seen {
    stat: Stat,
    held: Held,
    target: Option<Box<[u8]>>,
}

impl Seen {
    fn unread(stat: Stat) -> Self {
        Self { stat, held: Held::unread(&stat), target: None }
    }
}

impl Part {
    /// Inspects `child` and records it, together with any problem.
    pub(crate) fn look(&mut self, ground: &Ground<'_>, reader: &mut Reader, child: &Child<'_>) {
        let start = self.git_ids.len();
        let seen = ground.patience.settle(|| {
            self.git_ids.truncate(start);
            self.see(ground, reader, child)
        });
        let seen = match seen {
            Ok(seen) => seen,
            Err(Trouble::Gone) => {
                self.is_stale = true;
                return;
            }
            Err(trouble) => {
                self.git_ids.truncate(start);
                self.report(child, trouble.reason(), trouble.to_string());
                let kind = child.listed.kind.unwrap_or(Kind::File);
                let unknown = Stat::unknown(kind, ground.root_stat.device);
                Seen::unread(sys::stat_at(child.dir, child.name).unwrap_or(unknown))
            }
        };
        self.git_ids.resize(start + ground.git_id_len, 0);
        let place = u32::try_from(self.records.len()).expect("a part has few names");
        if let Some(target) = seen.target {
            self.targets.push((place, target));
        }
        if self.judge(ground, child, &seen.stat) && seen.stat.kind == Kind::Directory {
            self.subdirs.push((place, seen.stat));
        }
        let name = (child.listed.offset, child.listed.len);
        self.records.push(Record { name, facts: Facts::from(&seen.stat), held: seen.held });
    }

    /// Inspects the child once. An unknown file is opened directly, because its handle gives all that a stat would.
    fn see(&mut self, ground: &Ground<'_>, reader: &mut Reader, child: &Child<'_>) -> Result<Seen, Trouble> {
        if child.known.is_none() && child.listed.kind == Some(Kind::File) {
            return self.file(reader, child);
        }
        let stat = sys::stat_at(child.dir, child.name)?;
        if let Some(seen) = self.recall(ground, child, stat) {
            return Ok(seen);
        }
        match stat.kind {
            Kind::File => self.file(reader, child),
            Kind::Symlink => {
                let (stat, target) = read::link(child.dir, child.name)?;
                let held = Held::Symlink(Some(Digest::of(&target)));
                Ok(Seen { stat, held, target: Some(target.into()) })
            }
            _ => Ok(Seen::unread(stat)),
        }
    }

    fn file(&mut self, reader: &mut Reader, child: &Child<'_>) -> Result<Seen, Trouble> {
        let (stat, digest) = reader.file(child.dir, child.name, &mut self.git_ids)?;
        Ok(Seen { stat, held: Held::File(Some(digest)), target: None })
    }

    /// Reuses known content if the entry is unchanged.
    fn recall(&mut self, ground: &Ground<'_>, child: &Child<'_>, stat: Stat) -> Option<Seen> {
        let (dir, place) = child.known?;
        let record = &dir.records[place];
        if !ground.still_holds(ground.known?, record, &stat) {
            return None;
        }
        if stat.kind == Kind::File && ground.git_id_len > 0 {
            self.git_ids.extend_from_slice(&dir.git_ids[place * ground.git_id_len..][..ground.git_id_len]);
        }
        let target = dir.target(u32::try_from(place).ok()?).map(Into::into);
        Some(Seen { stat, held: record.held, target })
    }

    /// Reports what is unsafe to judge; returns true if the entry is on the tree's own mount.
    fn judge(&mut self, ground: &Ground<'_>, child: &Child<'_>, stat: &Stat) -> bool {
        match stat.kind {
            Kind::Fifo => self.report(child, Reason::UnsafeFifo, String::new()),
            Kind::Socket => self.report(child, Reason::UnsafeSocket, String::new()),
            Kind::CharDevice | Kind::BlockDevice => {
                self.report(child, Reason::UnsafeDevice, stat.kind.name().to_owned());
            }
            Kind::File | Kind::Directory | Kind::Symlink => {}
        }
        if names::passes_for_git(child.name) {
            self.report(child, Reason::UnsafeGitLookAlike, String::new());
        }
        let is_foreign = ground.is_foreign(stat);
        if is_foreign {
            let what = if stat.kind == Kind::Directory { "it was not looked into" } else { "" };
            self.report(child, Reason::UnsafeMountPoint, what.to_owned());
        }
        !is_foreign
    }

    fn report(&mut self, child: &Child<'_>, reason: Reason, detail: String) {
        self.findings.push(Finding { at: At::Child(child.dir_id, child.name.into()), reason, detail });
    }
}
