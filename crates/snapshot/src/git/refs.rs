//! The refs of a repository, read from its files.

use super::GitLayout;
use super::git_files::{self, DirectoryVisitor, VisitedEntry};
use super::layout::RefStorage;
use crate::entry_record::SnapshotEntryKind;
use probity_core::bytes::escape;
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::path::Path;

const MAX_REF_BYTES: u64 = 64 * 1024;
const MAX_PACKED_BYTES: u64 = 1024 * 1024 * 1024;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RefListing {
    Read {
        /// The content of `HEAD`: `ref: refs/heads/…`, or an id; `None` if it is missing.
        head: Option<String>,
        /// The content of each ref: an id, or `ref: …` for a symbolic ref. Names that are not valid text are escaped.
        refs: BTreeMap<String, String>,
    },
    /// They are stored in an unsupported format, or could not be read.
    NotReadable { why: String },
}

/// Reads `HEAD` and all refs: packed, loose, and in a linked worktree its own.
pub fn refs(layout: &GitLayout) -> RefListing {
    if let RefStorage::Other(name) = &layout.ref_storage {
        return RefListing::NotReadable {
            why: format!("refs are kept as `{name}`, which is not readable here"),
        };
    }
    match read(layout) {
        Ok((head, refs)) => RefListing::Read { head, refs },
        Err(error) => RefListing::NotReadable { why: format!("the refs could not be read: {error}") },
    }
}

type HeadAndRefs = (Option<String>, BTreeMap<String, String>);

fn read(layout: &GitLayout) -> Result<HeadAndRefs, Errno> {
    let mut refs = BTreeMap::new();
    match git_files::read(&layout.common_dir.join("packed-refs"), MAX_PACKED_BYTES) {
        Err(Errno::NOENT) => {}
        packed => read_packed(&packed?, &mut refs),
    }
    read_loose(&layout.common_dir, &mut refs)?;
    if layout.is_linked() {
        read_loose(&layout.git_dir, &mut refs)?;
    }
    let head = read_ref(&git_files::open_dir(&layout.git_dir)?, b"HEAD")?;
    Ok((head, refs))
}

/// Parses lines like `<id> <name>`. Comments start with `#`; lines with `^` give the commit of a tag.
fn read_packed(packed: &[u8], refs: &mut BTreeMap<String, String>) {
    for line in
        packed.split(|&byte| byte == b'\n').filter(|line| !line.starts_with(b"#") && !line.starts_with(b"^"))
    {
        if let Some(space) = line.iter().position(|&byte| byte == b' ') {
            refs.insert(escape(&line[space + 1..]), escape(&line[..space]));
        }
    }
}

/// Reads the files below `refs`; they take precedence over packed refs.
fn read_loose(git_dir: &Path, refs: &mut BTreeMap<String, String>) -> Result<(), Errno> {
    let top = match git_files::open_dir(&git_dir.join("refs")) {
        Err(Errno::NOENT) => return Ok(()),
        top => top?,
    };
    let mut loose = LooseRefVisitor { refs, error: None };
    git_files::walk(top, &mut loose);
    loose.error.map_or(Ok(()), Err)
}

struct LooseRefVisitor<'a> {
    refs: &'a mut BTreeMap<String, String>,
    error: Option<Errno>,
}

impl DirectoryVisitor for LooseRefVisitor<'_> {
    fn on_directory(&mut self, _path: &[u8], _names: &[&[u8]]) {}

    fn on_entry(&mut self, seen: &VisitedEntry<'_>) -> bool {
        if seen.stat.kind != SnapshotEntryKind::Directory && !seen.name.ends_with(b".lock") {
            match read_ref(seen.dir, seen.name) {
                Ok(value) => {
                    let name = [b"refs/", seen.path].concat();
                    self.refs.extend(value.map(|value| (escape(&name), value)));
                }
                Err(error) => self.error = Some(error),
            }
        }
        true
    }

    fn on_error(&mut self, _path: &[u8], error: Errno) {
        self.error = Some(error);
    }
}

/// Reads a ref's file; an old kind of symbolic ref is a link to another.
fn read_ref(dir: &OwnedFd, name: &[u8]) -> Result<Option<String>, Errno> {
    match git_files::read_at(dir, name, MAX_REF_BYTES) {
        Ok(text) => Ok(Some(escape(text.trim_ascii()))),
        Err(Errno::LOOP) => Ok(Some(format!("ref: {}", escape(&crate::sys::read_link(dir, name)?)))),
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(error),
    }
}
