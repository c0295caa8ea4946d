//! The walk: from the handle of the root to the records of every directory.
//!
//! Each directory is opened relative to its parent's handle, without following a link, so no path is too long and no
//! swapped parent can lead the walk elsewhere. It is listed, its children are inspected, and if it changed meanwhile it
//! is listed again. Large directories are shared between the threads.

use crate::child_entry::{ChildEntry, DirectoryPart, WalkContext};
use crate::entry_record::{DirId, DirectoryRecord, EntryContent, EntryFacts, EntryRecord, EntryStat, ROOT};
use crate::finding::{WalkFinding, WalkLocation};
use crate::read::{EntryReadError, FileReader, MAX_READ_ATTEMPTS};
use crate::sys::{self, DirectoryNames};
use crate::task_pool::{self, TaskQueue};
use crate::walk_selection::SelectedNames;
use crate::{deceptive_names, merkle};
use probity_core::{Digest, ReasonCode, bytes};
use rustix::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Number of children that one thread inspects before another may take the next.
const CHILDREN_PER_PART: usize = 64;

/// Maximum number of handles waiting for their subdirectories. Beyond that a directory is opened again from the root.
const MAX_WAITING_HANDLES: usize = 100;

const LISTING_BYTES: usize = 64 * 1024;

/// What a walk brings home.
pub(crate) struct WalkResult {
    /// The directories that could be listed, each with its number.
    pub(crate) dirs: Vec<(DirId, EntryStat, DirectoryRecord)>,
    /// The parent and name of each directory, by number.
    pub(crate) places: Vec<DirectoryPlace>,
    pub(crate) findings: Vec<WalkFinding>,
}

pub(crate) struct DirectoryPlace {
    pub(crate) parent: DirId,
    pub(crate) name: Box<[u8]>,
}

/// Walks the tree below `ground.root`, leaving out the names in `left_out` at the top.
pub(crate) fn walk(
    context: &WalkContext<'_>,
    left_out: &[Vec<u8>],
    make_reader: impl Fn() -> FileReader,
    n_threads: usize,
) -> WalkResult {
    let walk =
        TreeWalk { ground: context, left_out, places: Mutex::default(), n_handles: AtomicUsize::new(0) };
    walk.places().push(DirectoryPlace { parent: ROOT, name: Box::default() });
    let known = context.known.map(|_| ROOT);
    let selected = context.selection.map(|_| 0);
    let stat = context.root_stat;
    let first = WalkTask::Visit(DirectoryVisit { dir: ROOT, parent: None, stat, known, selected });
    let workers = (0..n_threads).map(|_| WalkWorker::new(make_reader())).collect();
    let workers = task_pool::run(workers, first, |worker, task, queue| walk.work(worker, task, queue));
    let mut walked = WalkResult { dirs: Vec::new(), places: Vec::new(), findings: Vec::new() };
    for worker in workers {
        walked.dirs.extend(worker.dirs);
        walked.findings.extend(worker.findings);
    }
    walked.places = std::mem::take(&mut walk.places());
    walked
}

struct TreeWalk<'a> {
    ground: &'a WalkContext<'a>,
    left_out: &'a [Vec<u8>],
    places: Mutex<Vec<DirectoryPlace>>,
    n_handles: AtomicUsize,
}

/// The state of one thread.
struct WalkWorker {
    reader: FileReader,
    listing: Vec<u8>,
    dirs: Vec<(DirId, EntryStat, DirectoryRecord)>,
    findings: Vec<WalkFinding>,
}

impl WalkWorker {
    fn new(reader: FileReader) -> Self {
        let listing = Vec::with_capacity(LISTING_BYTES);
        Self { reader, listing, dirs: Vec::new(), findings: Vec::new() }
    }

    /// Reports a directory that could not be read.
    fn report(&mut self, dir: DirId, trouble: EntryReadError) {
        let (at, reason, detail) = (WalkLocation::Dir(dir), trouble.reason(), trouble.to_string());
        self.findings.push(WalkFinding { at, reason, detail });
    }
}

/// An open directory, counted as long as it lives.
struct DirectoryHandle<'a> {
    fd: OwnedFd,
    n_handles: &'a AtomicUsize,
}

impl Drop for DirectoryHandle<'_> {
    fn drop(&mut self) {
        self.n_handles.fetch_sub(1, Ordering::Relaxed);
    }
}

enum WalkTask<'a> {
    Visit(DirectoryVisit<'a>),
    Part(Arc<DirectoryListing<'a>>, usize),
}

/// A directory to open and list.
struct DirectoryVisit<'a> {
    dir: DirId,
    /// The parent's handle; without it the path is opened again from the root.
    parent: Option<Arc<DirectoryHandle<'a>>>,
    /// The metadata from the parent's listing.
    stat: EntryStat,
    known: Option<DirId>,
    /// The names of the selection; `None` for all.
    selected: Option<usize>,
}

struct OpenDirectory<'a> {
    dir: DirId,
    handle: Arc<DirectoryHandle<'a>>,
    stat: EntryStat,
    known: Option<DirId>,
    selected: Option<usize>,
    attempt: u32,
}

/// A directory whose children are being inspected.
struct DirectoryListing<'a> {
    visited: OpenDirectory<'a>,
    names: DirectoryNames,
    /// The finished parts, each with its number.
    done: Mutex<Vec<(usize, DirectoryPart)>>,
}

impl DirectoryListing<'_> {
    fn n_parts(&self) -> usize {
        self.names.listed.len().div_ceil(CHILDREN_PER_PART)
    }
}

impl<'a> TreeWalk<'a> {
    fn work(&'a self, worker: &mut WalkWorker, task: WalkTask<'a>, queue: &TaskQueue<WalkTask<'a>>) {
        match task {
            WalkTask::Visit(visit) => self.visit(worker, &visit, queue),
            WalkTask::Part(listing, number) => self.process_part(worker, &listing, number, queue),
        }
    }

    fn places(&self) -> MutexGuard<'_, Vec<DirectoryPlace>> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens a directory and checks that it is the one its parent listed.
    fn visit(&'a self, worker: &mut WalkWorker, visit: &DirectoryVisit<'a>, queue: &TaskQueue<WalkTask<'a>>) {
        let mut expected = visit.stat;
        let opened = self.ground.retries.retry_while_changing(|| self.open(visit, &mut expected));
        match opened {
            Ok((_, stat)) if self.ground.is_foreign(&stat) => {
                let (at, detail) =
                    (WalkLocation::Dir(visit.dir), "it was mounted during the walk".to_owned());
                worker.findings.push(WalkFinding { at, reason: ReasonCode::UnsafeMountPoint, detail });
            }
            Ok((fd, stat)) => {
                self.n_handles.fetch_add(1, Ordering::Relaxed);
                let handle = Arc::new(DirectoryHandle { fd, n_handles: &self.n_handles });
                let DirectoryVisit { dir, known, selected, .. } = *visit;
                let opened = OpenDirectory { dir, handle, stat, known, selected, attempt: 0 };
                self.list(worker, opened, queue);
            }
            Err(trouble) => worker.report(visit.dir, trouble),
        }
    }

    /// Opens a directory once. If another object has taken its place, that one is expected next time.
    fn open(
        &self,
        visit: &DirectoryVisit<'a>,
        expected: &mut EntryStat,
    ) -> Result<(OwnedFd, EntryStat), EntryReadError> {
        if visit.dir == ROOT {
            return Ok((sys::open_dir(&self.ground.root, b".")?, self.ground.root_stat));
        }
        let (parent, name) = {
            let places = self.places();
            let place = &places[visit.dir as usize];
            (place.parent, place.name.clone())
        };
        let reopened;
        let parent = if let Some(handle) = &visit.parent {
            handle.fd.as_fd()
        } else {
            reopened = self.reopen(parent)?;
            reopened.as_fd()
        };
        let fd = sys::open_dir(parent, &name)?;
        let stat = sys::stat_fd(&fd)?;
        if stat.is_same_object(expected) {
            return Ok((fd, stat));
        }
        *expected = sys::stat_at(parent, &name)?;
        Err(EntryReadError::Changed)
    }

    /// Opens a directory again, name by name from the root.
    fn reopen(&self, dir: DirId) -> Result<OwnedFd, EntryReadError> {
        let mut names = Vec::new();
        {
            let places = self.places();
            let mut at = dir;
            while at != ROOT {
                names.push(places[at as usize].name.clone());
                at = places[at as usize].parent;
            }
        }
        let mut fd = sys::open_dir(&self.ground.root, b".")?;
        while let Some(name) = names.pop() {
            fd = sys::open_dir(&fd, &name)?;
        }
        Ok(fd)
    }

    /// Lists a directory and schedules its children.
    fn list(&'a self, worker: &mut WalkWorker, visited: OpenDirectory<'a>, queue: &TaskQueue<WalkTask<'a>>) {
        let names = match self.unchanged_names(&visited) {
            Some(names) => Ok(names),
            None if visited.attempt == 0 => sys::list(&visited.handle.fd, &mut worker.listing),
            None => sys::list_again(&visited.handle.fd, &mut worker.listing),
        };
        let mut names = match names {
            Ok(names) => names,
            Err(error) => return worker.report(visited.dir, error.into()),
        };
        if visited.dir == ROOT {
            names.leave_out(self.left_out);
        }
        if let Some(selected) = self.selected_names(visited.selected) {
            names.keep(selected);
        }
        let listing = Arc::new(DirectoryListing { visited, names, done: Mutex::default() });
        match listing.n_parts() {
            0 => self.finish(worker, &listing, Vec::new(), queue),
            1 => self.process_part(worker, &listing, 0, queue),
            n => queue.push((0..n).rev().map(|number| WalkTask::Part(Arc::clone(&listing), number))),
        }
    }

    /// Returns the names in a directory that has not changed since the earlier snapshot; `None` if it must be listed. Its
    /// children are inspected all the same: what is written to them does not show in the directory.
    fn unchanged_names(&self, visited: &OpenDirectory<'a>) -> Option<DirectoryNames> {
        let known =
            self.ground.known.filter(|known| self.ground.names_show_in_times && known.has_all_names)?;
        // The root has no record of its own. A listing that was out of date is not repeated from memory.
        let id = visited.known.filter(|id| *id != ROOT && visited.attempt == 0)?;
        let dir = known.dir(id);
        let record = &known.dir(dir.parent.0).records[dir.parent.1 as usize];
        let is_same = record.facts == EntryFacts::from(&visited.stat);
        (is_same && record.is_older_than(known.settled_ns())).then(|| DirectoryNames::of_known(dir))
    }

    /// Inspects some of the children; the thread that finishes the last part finishes the directory.
    fn process_part(
        &'a self,
        worker: &mut WalkWorker,
        listing: &Arc<DirectoryListing<'a>>,
        number: usize,
        queue: &TaskQueue<WalkTask<'a>>,
    ) {
        let part = self.inspect_part(worker, listing, number);
        let mut done = listing.done.lock().unwrap_or_else(PoisonError::into_inner);
        done.push((number, part));
        if done.len() == listing.n_parts() {
            let mut parts = std::mem::take(&mut *done);
            drop(done);
            parts.sort_unstable_by_key(|(number, _)| *number);
            self.finish(worker, listing, parts.into_iter().map(|(_, part)| part).collect(), queue);
        }
    }

    /// Inspects one part of the children, in step with what is known about them.
    fn inspect_part(
        &self,
        worker: &mut WalkWorker,
        listing: &DirectoryListing<'a>,
        number: usize,
    ) -> DirectoryPart {
        let start = number * CHILDREN_PER_PART;
        let end = listing.names.listed.len().min(start + CHILDREN_PER_PART);
        let known = self.known_dir(listing.visited.known);
        let mut next = known.map_or(0, |known| {
            let first = listing.names.name(listing.names.listed[start]);
            known.records.partition_point(|record| known.name(record) < first)
        });
        let mut part = DirectoryPart::default();
        for &listed in &listing.names.listed[start..end] {
            let name = listing.names.name(listed);
            let known = known.and_then(|known| {
                while known.records.get(next).is_some_and(|record| known.name(record) < name) {
                    next += 1;
                }
                let record = known.records.get(next)?;
                (known.name(record) == name).then_some((known, next))
            });
            let (dir, dir_id) = (listing.visited.handle.fd.as_fd(), listing.visited.dir);
            let child = ChildEntry { dir, dir_id, name, listed, known };
            part.inspect(self.ground, &mut worker.reader, &child);
        }
        if let Some(n_entries_seen) = &self.ground.n_entries_seen {
            n_entries_seen.fetch_add((end - start) as u64, Ordering::Relaxed);
        }
        part
    }

    /// Builds the directory from its parts, or lists it again if it changed meanwhile.
    fn finish(
        &'a self,
        worker: &mut WalkWorker,
        listing: &Arc<DirectoryListing<'a>>,
        parts: Vec<DirectoryPart>,
        queue: &TaskQueue<WalkTask<'a>>,
    ) {
        let now = sys::stat_fd(&listing.visited.handle.fd);
        if now != Ok(listing.visited.stat) || parts.iter().any(|part| part.is_stale) {
            if listing.visited.attempt + 1 < MAX_READ_ATTEMPTS {
                self.ground.retries.pause(listing.visited.attempt);
                let again = OpenDirectory {
                    stat: now.unwrap_or(listing.visited.stat),
                    handle: Arc::clone(&listing.visited.handle),
                    attempt: listing.visited.attempt + 1,
                    ..listing.visited
                };
                return self.list(worker, again, queue);
            }
            worker.report(listing.visited.dir, EntryReadError::Changed);
        }
        let (mut dir, subdirs) = join_parts(&listing.names, parts, &mut worker.findings);
        report_collisions(&dir, listing.visited.dir, &mut worker.findings);
        self.descend(&listing.visited, &mut dir, subdirs, queue);
        merkle::hash_leaf(&mut dir);
        worker.dirs.push((listing.visited.dir, listing.visited.stat, dir));
    }

    /// Numbers every subdirectory and schedules its visit.
    fn descend(
        &'a self,
        at: &OpenDirectory<'a>,
        dir: &mut DirectoryRecord,
        subdirs: Vec<(u32, EntryStat)>,
        queue: &TaskQueue<WalkTask<'a>>,
    ) {
        let few = self.n_handles.load(Ordering::Relaxed) < MAX_WAITING_HANDLES;
        let known = self.known_dir(at.known);
        let mut visits = Vec::with_capacity(subdirs.len());
        for (place, stat) in subdirs {
            let place = place as usize;
            let name: Box<[u8]> = dir.name(&dir.records[place]).into();
            let known = known.and_then(|known| match known.records[known.find(&name)?].held {
                EntryContent::Directory(id) => id,
                _ => None,
            });
            let selected = self.selected_names(at.selected).and_then(|names| *names.get(&name)?);
            let id = self.add_place(DirectoryPlace { parent: at.dir, name });
            dir.records[place].held = EntryContent::Directory(Some(id));
            let parent = few.then(|| Arc::clone(&at.handle));
            visits.push(WalkTask::Visit(DirectoryVisit { dir: id, parent, stat, known, selected }));
        }
        queue.push(visits.into_iter().rev());
    }

    fn add_place(&self, place: DirectoryPlace) -> DirId {
        let mut places = self.places();
        places.push(place);
        DirId::try_from(places.len() - 1).expect("a tree has less than 2^32 directories")
    }

    fn selected_names(&self, selected: Option<usize>) -> Option<&'a SelectedNames> {
        Some(self.ground.selection?.names(selected?))
    }

    fn known_dir(&self, id: Option<DirId>) -> Option<&'a DirectoryRecord> {
        Some(self.ground.known?.dir(id?))
    }
}

/// Joins the parts of a directory. Its names are copied in order, without those that were left out.
fn join_parts(
    names: &DirectoryNames,
    parts: Vec<DirectoryPart>,
    findings: &mut Vec<WalkFinding>,
) -> (DirectoryRecord, Vec<(u32, EntryStat)>) {
    let n_records = parts.iter().map(|part| part.records.len()).sum();
    let mut records: Vec<EntryRecord> = Vec::with_capacity(n_records);
    let mut bytes = Vec::with_capacity(names.bytes.len());
    let (mut targets, mut git_ids, mut subdirs) = (Vec::new(), Vec::new(), Vec::new());
    for part in parts {
        let base = to_u32(records.len());
        for record in part.records {
            let start = to_u32(bytes.len());
            bytes.extend_from_slice(&names.bytes[record.name.0 as usize..][..usize::from(record.name.1)]);
            records.push(EntryRecord { name: (start, record.name.1), ..record });
        }
        targets.extend(part.targets.into_iter().map(|(at, target)| (base + at, target)));
        subdirs.extend(part.subdirs.into_iter().map(|(at, stat)| (base + at, stat)));
        git_ids.extend_from_slice(&part.git_ids);
        findings.extend(part.findings);
    }
    let dir = DirectoryRecord {
        parent: (ROOT, 0),
        names: bytes.into(),
        records: records.into(),
        targets: targets.into(),
        git_ids: git_ids.into(),
        hash: Digest::from_bytes([0; 32]),
    };
    (dir, subdirs)
}

fn to_u32(n: usize) -> u32 {
    u32::try_from(n).expect("a listing has at most 2^32 bytes of names")
}

fn report_collisions(dir: &DirectoryRecord, id: DirId, findings: &mut Vec<WalkFinding>) {
    for (one, other) in deceptive_names::name_collisions(dir) {
        let name = |place: usize| dir.name(&dir.records[place]);
        for (this, that) in [(one, other), (other, one)] {
            let detail = format!("the file system takes it for `{}`", bytes::escape(name(that)));
            let at = WalkLocation::Child(id, name(this).into());
            findings.push(WalkFinding { at, reason: ReasonCode::UnsafeNameCollision, detail });
        }
    }
}
