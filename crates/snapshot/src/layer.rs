//! The tree that a command in a private view left: what was there at the start, changed by the upper layer of its
//! overlay. Only the layer is read, so the cost follows what the command wrote.
//!
//! In an upper layer,
//!
//! * a character device with the number 0 is a *whiteout*: the name is gone;
//! * a directory with the attribute `user.overlay.opaque` hides what was there under its name;
//! * any other directory is merged with the one below it, and any other entry replaces what was there.

use crate::entry_record::{DirId, DirectoryRecord, EntryContent, EntryRecord, ROOT};
use crate::finding::TreeFinding;
use crate::snapshot::Snapshot;
use crate::take::SnapshotOptions;
use crate::tree_root::TreeError;
use crate::walk_selection::WalkSelection;
use crate::{links, merkle, sys};
use probity_core::{Digest, ReasonCode};
use probity_paths::RepoPath;
use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use std::cmp::Ordering;
use std::collections::{BTreeSet, VecDeque};
use std::path::Path;

const OPAQUE_ATTRIBUTE: &str = "user.overlay.opaque";

impl Snapshot {
    /// Returns the snapshot of the tree at `root` as a view shows it whose changes lie in `upper`.
    ///
    /// `self` is the tree without the layer. `options` must be those with which it was taken.
    pub fn with_layer(
        &self,
        upper: &Path,
        root: &Path,
        options: &SnapshotOptions,
    ) -> Result<Self, TreeError> {
        let (layer, opaque) = take(upper, options)?;
        let mut after = merge(self, &layer, &opaque);
        after.started_ns = layer.started_ns;
        links::report_escapes(&mut after, root);
        after.findings.sort_unstable();
        after.findings.dedup();
        after.notes.sort_unstable();
        after.notes.dedup();
        Ok(after)
    }
}

impl Snapshot {
    /// Returns this part of a tree with another part of it: what `part` knows of the directories `whole` is all there is
    /// of them, and its entries replace those of this one.
    #[must_use]
    pub fn united(&self, part: &Self, whole: &[RepoPath]) -> Self {
        let directory = |path: &RepoPath| {
            let (dir, place) = part.find(path.segments())?;
            match dir.records[place].held {
                EntryContent::Directory(id) => id,
                _ => None,
            }
        };
        merge(self, part, &whole.iter().filter_map(directory).collect())
    }
}

/// What a layer says about the tree below it.
#[derive(Debug)]
pub struct LayerNames {
    /// The names that the layer changes; `None` if it hides the whole tree.
    pub selection: Option<WalkSelection>,
    /// Whether there is a symbolic link in the layer. Where links lead depends on the whole tree.
    pub has_links: bool,
}

impl WalkSelection {
    /// Selects what the layer `upper` changes: each of its names, and everything below a name that it hides or replaces.
    pub fn of_layer(upper: &Path, options: &SnapshotOptions) -> Result<LayerNames, TreeError> {
        let (layer, opaque) = take(upper, options)?;
        let has_links = layer.dirs.iter().any(|dir| !dir.targets.is_empty());
        if opaque.contains(&ROOT) {
            return Ok(LayerNames { selection: None, has_links });
        }
        // Directories are numbered alike here and in the snapshot; those that hide are never looked up.
        let below = |held| match held {
            EntryContent::Directory(Some(id)) if !opaque.contains(&id) => Some(id as usize),
            _ => None,
        };
        let names = layer.dirs.iter().map(|dir| {
            dir.records.iter().map(|record| (dir.name(record).into(), below(record.held))).collect()
        });
        Ok(LayerNames { selection: Some(Self::of_nodes(names.collect())), has_links })
    }
}

/// Takes a snapshot of a layer, and the directories of it that hide what is below them.
fn take(upper: &Path, options: &SnapshotOptions) -> Result<(Snapshot, BTreeSet<DirId>), TreeError> {
    let layer = Snapshot::take(upper, options, None)?;
    let opaque = opaque_directories(&layer, upper).map_err(|error| TreeError {
        root: upper.to_owned(),
        reason: ReasonCode::TreeUnavailable,
        detail: error.to_string(),
    })?;
    Ok((layer, opaque))
}

/// Returns the directories of the layer that hide what is below them.
fn opaque_directories(layer: &Snapshot, upper: &Path) -> Result<BTreeSet<DirId>, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut opaque = BTreeSet::new();
    // Each directory with its handle; opened from its parent's, because a path may be too long.
    let mut waiting: Vec<(DirId, OwnedFd)> = vec![(ROOT, rustix::fs::open(upper, flags, Mode::empty())?)];
    while let Some((id, handle)) = waiting.pop() {
        let mut value = [0_u8; 1];
        match rustix::fs::fgetxattr(&handle, OPAQUE_ATTRIBUTE, &mut value) {
            Ok(1) if value == *b"y" => drop(opaque.insert(id)),
            // The kernel writes longer values for marks that hide nothing by themselves.
            Ok(_) | Err(Errno::NODATA | Errno::RANGE | Errno::OPNOTSUPP) => {}
            Err(error) => return Err(error),
        }
        let dir = layer.dir(id);
        for record in &dir.records {
            if let EntryContent::Directory(Some(child)) = record.held {
                waiting.push((child, sys::open_dir(&handle, dir.name(record))?));
            }
        }
    }
    Ok(opaque)
}

/// A directory of the result: what it is in the tree below, and in the layer.
#[derive(Clone, Copy)]
struct MergedDirectory {
    below: Option<DirId>,
    layer: Option<DirId>,
    parent: (DirId, u32),
}

fn merge(below: &Snapshot, layer: &Snapshot, opaque: &BTreeSet<DirId>) -> Snapshot {
    // The root of the tree may be a directory below the one that the overlay covers, and then hide what was there.
    let lower = (!opaque.contains(&ROOT)).then_some(ROOT);
    let root = MergedDirectory { below: lower, layer: Some(ROOT), parent: (ROOT, 0) };
    let mut waiting = VecDeque::from([root]);
    let mut dirs = Vec::new();
    let mut n_dirs: DirId = 1;
    while let Some(next) = waiting.pop_front() {
        let id = DirId::try_from(dirs.len()).expect("both trees have less than 2^31 directories");
        let mut merged = DirectoryBuilder::default();
        let mut subdirectories = Vec::new();
        for child in merged_children(below, layer, next, opaque) {
            let place = merged.add(child.dir, child.place);
            if let EntryContent::Directory(Some(_)) = child.dir.records[child.place].held {
                merged.records[place as usize].held = EntryContent::Directory(Some(n_dirs));
                n_dirs += 1;
                subdirectories.push(MergedDirectory { parent: (id, place), ..child.below_it });
            }
        }
        waiting.extend(subdirectories);
        let mut dir = merged.finish(next.parent);
        merkle::hash_leaf(&mut dir);
        dirs.push(dir);
    }
    merkle::hash_parents(&mut dirs);
    let mut merged = Snapshot {
        started_ns: layer.started_ns,
        git_ids: below.git_ids,
        // A merged directory has the times of the layer, and names from both.
        has_all_names: false,
        dirs,
        findings: Vec::new(),
        notes: Vec::new(),
    };
    merged.findings = remaining_findings(&merged, below, layer);
    merged
}

/// A child of a merged directory.
struct MergedChild<'a> {
    /// The directory whose record is taken, and its place there.
    dir: &'a DirectoryRecord,
    place: usize,
    /// For a directory: what its children are merged from.
    below_it: MergedDirectory,
}

/// Returns the children of a merged directory in the order of their names.
fn merged_children<'a>(
    below: &'a Snapshot,
    layer: &'a Snapshot,
    of: MergedDirectory,
    opaque: &BTreeSet<DirId>,
) -> Vec<MergedChild<'a>> {
    let lower = of.below.map(|id| below.dir(id));
    let upper = of.layer.map(|id| layer.dir(id));
    let (mut at_lower, mut at_upper) = (0, 0);
    let mut children = Vec::new();
    loop {
        let one = lower.and_then(|dir| Some((dir, dir.records.get(at_lower)?)));
        let other = upper.and_then(|dir| Some((dir, dir.records.get(at_upper)?)));
        let order = match (one, other) {
            (None, None) => return children,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some((dir, record)), Some((upper, changed))) => dir.name(record).cmp(upper.name(changed)),
        };
        let subdirectory = |record: Option<(_, &EntryRecord)>| match record?.1.held {
            EntryContent::Directory(id) => id,
            _ => None,
        };
        let (lower_child, upper_child) = (subdirectory(one), subdirectory(other));
        if order == Ordering::Less {
            if let Some((dir, _)) = one {
                let below_it = MergedDirectory { below: lower_child, layer: None, parent: (ROOT, 0) };
                children.push(MergedChild { dir, place: at_lower, below_it });
            }
        } else if let Some((dir, record)) = other
            && !is_whiteout(record)
        {
            let hides = upper_child.is_none_or(|id| opaque.contains(&id));
            let kept = lower_child.filter(|_| order == Ordering::Equal && !hides);
            let below_it = MergedDirectory { below: kept, layer: upper_child, parent: (ROOT, 0) };
            children.push(MergedChild { dir, place: at_upper, below_it });
        }
        at_lower += usize::from(order != Ordering::Greater);
        at_upper += usize::from(order != Ordering::Less);
    }
}

fn is_whiteout(record: &EntryRecord) -> bool {
    record.held == EntryContent::CharDevice(0)
}

/// Returns the findings about entries that are still there and are the same objects. Ways out of the tree are left out:
/// they depend on the whole tree and are looked for again.
fn remaining_findings(merged: &Snapshot, below: &Snapshot, layer: &Snapshot) -> Vec<TreeFinding> {
    let of_whole_tree = [ReasonCode::UnsafeLinkEscapes, ReasonCode::UnsafeHardLink];
    let mut findings = Vec::new();
    for source in [below, layer] {
        for finding in source.findings.iter().filter(|finding| !of_whole_tree.contains(&finding.reason)) {
            let names = || finding.path.as_bytes().split(|byte| *byte == b'/');
            let facts =
                |snapshot: &Snapshot| snapshot.find(names()).map(|(dir, place)| dir.records[place].facts);
            let found = facts(merged);
            if found.is_some() && found == facts(source) {
                findings.push(finding.clone());
            }
        }
    }
    findings
}

/// Collects the children of one directory from several.
#[derive(Default)]
struct DirectoryBuilder {
    names: Vec<u8>,
    records: Vec<EntryRecord>,
    targets: Vec<(u32, Box<[u8]>)>,
    git_ids: Vec<u8>,
}

impl DirectoryBuilder {
    /// Adds the child at `place` of `dir` and returns its new place.
    fn add(&mut self, dir: &DirectoryRecord, place: usize) -> u32 {
        let record = &dir.records[place];
        let start = u32::try_from(self.names.len()).expect("a directory has less than 2^32 bytes of names");
        let new_place = u32::try_from(self.records.len()).expect("a directory has less than 2^32 names");
        self.names.extend_from_slice(dir.name(record));
        self.records.push(EntryRecord { name: (start, record.name.1), ..*record });
        let target = u32::try_from(place).ok().and_then(|place| dir.target(place));
        self.targets.extend(target.map(|target| (new_place, target.into())));
        let git_id_bytes = dir.git_ids.len().checked_div(dir.records.len()).unwrap_or_default();
        self.git_ids.extend_from_slice(&dir.git_ids[place * git_id_bytes..][..git_id_bytes]);
        new_place
    }

    fn finish(self, parent: (DirId, u32)) -> DirectoryRecord {
        DirectoryRecord {
            parent,
            names: self.names.into(),
            records: self.records.into(),
            targets: self.targets.into(),
            git_ids: self.git_ids.into(),
            hash: Digest::from_bytes([0; 32]),
        }
    }
}
