//! Ways out of the tree: symbolic links whose target leaves it, and hard links with a name outside.
//!
//! A link is followed by its text alone, through links inside the tree, as the system would. It leaves the tree if
//! it climbs above the root or names an absolute path that does not begin with the root's. A link that leads into
//! the root's own path is inside, and noted. Links that lead in circles or to nothing leave nowhere.

use crate::finding::TreeFinding;
use crate::record::{DirId, Held, Kind};
use crate::snapshot::{Note, Snapshot};
use canon::{Reason, bytes};
use paths::RepoPath;
use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// How many links the system follows in one path.
const MAX_LINKS: usize = 40;

/// How many names a path may have, all links written out, before it is given up as leaving the tree.
const MAX_STEPS: usize = 16 * 1024;

/// Reports every way out.
pub(crate) fn judge(snapshot: &mut Snapshot, root: &Path) {
    let (mut findings, mut notes) = (Vec::new(), Vec::new());
    symlinks(snapshot, root.as_os_str().as_bytes(), &mut findings, &mut notes);
    hard_links(snapshot, &mut findings);
    snapshot.findings.extend(findings);
    snapshot.notes.extend(notes);
}

/// The names that the tree shows for one object.
#[derive(Default)]
struct Names {
    links: u32,
    found: Vec<(DirId, usize)>,
}

/// Reports the files that have more names than the tree shows.
fn hard_links(snapshot: &Snapshot, findings: &mut Vec<TreeFinding>) {
    let mut objects: BTreeMap<(u64, u64), Names> = BTreeMap::new();
    for (id, dir) in (0..).zip(&snapshot.dirs) {
        for (place, record) in dir.records.iter().enumerate() {
            if record.facts.links > 1 && record.held.kind() != Kind::Directory {
                let names = objects.entry((record.facts.device, record.facts.inode)).or_default();
                names.links = names.links.max(record.facts.links);
                names.found.push((id, place));
            }
        }
    }
    for Names { links, found } in objects.values().filter(|names| names.found.len() < names.links as usize) {
        for &(id, place) in found {
            findings.push(TreeFinding {
                path: snapshot.path(id, place),
                reason: Reason::UnsafeHardLink,
                detail: format!("{links} names, {} of them in the tree", found.len()),
            });
        }
    }
}

fn symlinks(snapshot: &Snapshot, root: &[u8], findings: &mut Vec<TreeFinding>, notes: &mut Vec<Note>) {
    for (id, dir) in (0..).zip(&snapshot.dirs) {
        for (place, target) in &dir.targets {
            let path = || snapshot.path(id, *place as usize);
            let home = path().parent();
            let home = home.iter().flat_map(RepoPath::segments).collect();
            match follow(snapshot, root, home, target) {
                Way::Out => findings.push(TreeFinding {
                    path: path(),
                    reason: Reason::UnsafeLinkEscapes,
                    detail: format!("it points to `{}`", bytes::escape(target)),
                }),
                Way::Inside if target.first() == Some(&b'/') => notes.push(Note::AbsoluteLinkInside(path())),
                Way::Inside => {}
            }
        }
    }
}

/// Where a link leads.
#[derive(Debug, PartialEq)]
enum Way {
    Inside,
    Out,
}

/// Follows `target` from the directory `at`.
fn follow<'a>(snapshot: &'a Snapshot, root: &[u8], mut at: Vec<&'a [u8]>, target: &'a [u8]) -> Way {
    let mut ahead = Vec::new();
    let mut n_links = 1;
    if !enter(root, target, &mut at, &mut ahead) {
        return Way::Out;
    }
    for _ in 0..MAX_STEPS {
        let Some(name) = ahead.pop() else { return Way::Inside };
        match name {
            b"" | b"." => {}
            b".." => {
                if at.pop().is_none() {
                    return Way::Out;
                }
            }
            name => match link_at(snapshot, &at, name) {
                None => at.push(name),
                Some(_) if n_links == MAX_LINKS => return Way::Inside,
                Some(target) => {
                    n_links += 1;
                    if !enter(root, target, &mut at, &mut ahead) {
                        return Way::Out;
                    }
                }
            },
        }
    }
    Way::Out
}

/// Puts the names of `target` ahead, the first on top; `false` if it is absolute and not below the root.
fn enter<'a>(root: &[u8], target: &'a [u8], at: &mut Vec<&'a [u8]>, ahead: &mut Vec<&'a [u8]>) -> bool {
    let mut names: Vec<&[u8]> = target.split(|&byte| byte == b'/').collect();
    if target.first() == Some(&b'/') {
        names.retain(|name| !matches!(*name, b"" | b"."));
        let root: Vec<&[u8]> = root.split(|&byte| byte == b'/').filter(|name| !name.is_empty()).collect();
        if !names.starts_with(&root) {
            return false;
        }
        names.drain(..root.len());
        at.clear();
    }
    ahead.extend(names.into_iter().rev());
    true
}

/// The target of the link `name` in the directory `at`, if it is one.
fn link_at<'a>(snapshot: &'a Snapshot, at: &[&[u8]], name: &[u8]) -> Option<&'a [u8]> {
    let (dir, place) = snapshot.find(at.iter().copied().chain([name]))?;
    matches!(dir.records[place].held, Held::Symlink(_)).then(|| dir.target(u32::try_from(place).ok()?))?
}
