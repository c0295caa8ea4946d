//! Finds ways out of the tree: symbolic links whose target is outside, and hard links with a name outside.
//!
//! A link is followed by its text alone, through links inside the tree, as the system would. It leaves the tree if it
//! climbs above the root or names an absolute path that does not start with the root's. An absolute link into the root
//! is inside, and noted. Links that form a cycle or lead to nothing do not leave the tree.

use crate::entry_record::{DirId, EntryContent, ROOT, SnapshotEntryKind};
use crate::finding::TreeFinding;
use crate::snapshot::{Snapshot, SnapshotNote};
use probity_core::{ReasonCode, bytes};
use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Number of links that the system follows in one path.
const MAX_SYMLINKS: usize = 40;

/// Maximum number of names in a path after expanding all links; a longer one counts as leaving the tree.
const MAX_PATH_NAMES: usize = 4096;

/// Reports every way out.
pub(crate) fn report_escapes(snapshot: &mut Snapshot, root: &Path) {
    let (mut findings, mut notes) = (Vec::new(), Vec::new());
    symlinks(snapshot, root.as_os_str().as_bytes(), &mut findings, &mut notes);
    hard_links(snapshot, &mut findings);
    snapshot.findings.extend(findings);
    snapshot.notes.extend(notes);
}

/// The names that the tree shows for one object.
#[derive(Default)]
struct HardLinkNames {
    links: u32,
    found: Vec<(DirId, usize)>,
}

/// Reports the files that have more names than the tree shows.
fn hard_links(snapshot: &Snapshot, findings: &mut Vec<TreeFinding>) {
    let mut objects: BTreeMap<(u64, u64), HardLinkNames> = BTreeMap::new();
    for (id, dir) in (0..).zip(&snapshot.dirs) {
        for (place, record) in dir.records.iter().enumerate() {
            if record.facts.links > 1 && record.held.kind() != SnapshotEntryKind::Directory {
                let names = objects.entry((record.facts.device, record.facts.inode)).or_default();
                names.links = names.links.max(record.facts.links);
                names.found.push((id, place));
            }
        }
    }
    for HardLinkNames { links, found } in
        objects.values().filter(|names| names.found.len() < names.links as usize)
    {
        for &(id, place) in found {
            findings.push(TreeFinding {
                path: snapshot.path(id, place),
                reason: ReasonCode::UnsafeHardLink,
                detail: format!("{links} names, {} of them in the tree", found.len()),
            });
        }
    }
}

fn symlinks(
    snapshot: &Snapshot,
    root: &[u8],
    findings: &mut Vec<TreeFinding>,
    notes: &mut Vec<SnapshotNote>,
) {
    for (id, dir) in (0..).zip(&snapshot.dirs) {
        for (place, target) in &dir.targets {
            let path = || snapshot.path(id, *place as usize);
            match LinkWalker::new(snapshot, root, id).follow(target) {
                LinkDestination::Out => findings.push(TreeFinding {
                    path: path(),
                    reason: ReasonCode::UnsafeLinkEscapes,
                    detail: format!("it points to `{}`", bytes::escape(target)),
                }),
                LinkDestination::Inside if target.first() == Some(&b'/') => {
                    notes.push(SnapshotNote::AbsoluteLinkInside(path()));
                }
                LinkDestination::Inside => {}
            }
        }
    }
}

#[derive(Debug, PartialEq)]
enum LinkDestination {
    Inside,
    Out,
}

/// Follows the text of links.
struct LinkWalker<'a> {
    snapshot: &'a Snapshot,
    root: &'a [u8],
    /// The directories below the root down to here. `None` for something that is not a directory of the snapshot, below
    /// which only names can follow.
    at: Vec<Option<DirId>>,
    /// The remaining names, the next one last.
    ahead: Vec<&'a [u8]>,
}

impl<'a> LinkWalker<'a> {
    fn new(snapshot: &'a Snapshot, root: &'a [u8], dir: DirId) -> Self {
        let mut at = Vec::new();
        let mut above = dir;
        while above != ROOT {
            at.push(Some(above));
            above = snapshot.dir(above).parent.0;
        }
        at.reverse();
        Self { snapshot, root, at, ahead: Vec::new() }
    }

    fn follow(mut self, target: &'a [u8]) -> LinkDestination {
        let mut n_links = 1;
        if !self.enter(target) {
            return LinkDestination::Out;
        }
        for _ in 0..MAX_PATH_NAMES {
            match self.ahead.pop() {
                None => return LinkDestination::Inside,
                Some(b"" | b".") => {}
                Some(b"..") if self.at.is_empty() => return LinkDestination::Out,
                Some(b"..") => drop(self.at.pop()),
                Some(name) => match self.step(name) {
                    None => {}
                    // The system gives up here, so nothing can be written through this link.
                    Some(_) if n_links == MAX_SYMLINKS => return LinkDestination::Inside,
                    Some(target) => {
                        n_links += 1;
                        if !self.enter(target) {
                            return LinkDestination::Out;
                        }
                    }
                },
            }
        }
        LinkDestination::Out
    }

    /// Moves to `name`. If it is a link, does not move and returns the link's target.
    fn step(&mut self, name: &[u8]) -> Option<&'a [u8]> {
        let here = self.at.last().copied().unwrap_or(Some(ROOT));
        let dir = here.map(|id| self.snapshot.dir(id));
        let found = dir.and_then(|dir| Some((dir, dir.find(name)?)));
        let held = found.map(|(dir, place)| (dir, place, dir.records[place].held));
        match held {
            Some((dir, place, EntryContent::Symlink(Some(_)))) => dir.target(u32::try_from(place).ok()?),
            Some((_, _, EntryContent::Directory(id))) => {
                self.at.push(id);
                None
            }
            _ => {
                self.at.push(None);
                None
            }
        }
    }

    /// Queues the names of `target`; returns false if it is absolute and not below the root.
    fn enter(&mut self, target: &'a [u8]) -> bool {
        let mut names: Vec<&[u8]> = target.split(|&byte| byte == b'/').collect();
        if target.first() == Some(&b'/') {
            names.retain(|name| !matches!(*name, b"" | b"."));
            let root: Vec<&[u8]> =
                self.root.split(|&byte| byte == b'/').filter(|name| !name.is_empty()).collect();
            if !names.starts_with(&root) {
                return false;
            }
            names.drain(..root.len());
            self.at.clear();
        }
        self.ahead.extend(names.into_iter().rev());
        true
    }
}
