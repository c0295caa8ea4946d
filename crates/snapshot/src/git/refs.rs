//! The refs of a repository, read from its files.
//!
//! Where git could read another value than is read here, or one that no file below `refs` holds, nothing is read: what
//! git pushes is what *it* reads.

use super::GitLayout;
use super::git_files::{self, DirectoryVisitor, VisitedEntry};
use super::layout::RefStorage;
use crate::entry_record::SnapshotEntryKind;
use crate::git_object::GitId;
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
        Err(why) => RefListing::NotReadable { why: format!("the refs could not be read: {why}") },
    }
}

type HeadAndRefs = (Option<String>, BTreeMap<String, String>);

/// Why refs cannot be read.
#[derive(Debug, thiserror::Error)]
enum RefReadError {
    #[error(transparent)]
    System(#[from] Errno),
    #[error("line {line} of packed-refs is none that git writes")]
    PackedLine { line: usize },
    #[error("packed-refs has {name} twice")]
    PackedTwice { name: String },
    #[error("{name} is a link to `{target}`, which is no ref")]
    Link { name: String, target: String },
}

fn read(layout: &GitLayout) -> Result<HeadAndRefs, RefReadError> {
    let mut refs = BTreeMap::new();
    match git_files::read(&layout.common_dir.join("packed-refs"), MAX_PACKED_BYTES) {
        Err(Errno::NOENT) => {}
        packed => read_packed(&packed?, &mut refs)?,
    }
    read_loose(&layout.common_dir, &mut refs)?;
    if layout.is_linked() {
        read_loose(&layout.git_dir, &mut refs)?;
    }
    let head = read_ref(&git_files::open_dir(&layout.git_dir)?, b"HEAD")?;
    Ok((head, refs))
}

/// Parses lines like `<id> <name>`. Comments start with `#`; lines with `^` give the commit of a tag.
///
/// Git searches the file by halves, so that which of two lines with one name it finds depends on the others; and it
/// takes any blank for the one after the id.
fn read_packed(packed: &[u8], refs: &mut BTreeMap<String, String>) -> Result<(), RefReadError> {
    for (at, line) in packed.split(|&byte| byte == b'\n').enumerate() {
        if line.is_empty() || line.starts_with(b"#") || line.starts_with(b"^") {
            continue;
        }
        let n_digits = line.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
        let (id, rest) = line.split_at(n_digits);
        let name = rest.strip_prefix(b" ").filter(|name| !name.is_empty() && GitId::from_hex(id).is_some());
        let name = name.ok_or(RefReadError::PackedLine { line: at + 1 })?;
        if refs.insert(escape(name), escape(id)).is_some() {
            return Err(RefReadError::PackedTwice { name: escape(name) });
        }
    }
    Ok(())
}

/// Reads the files below `refs`; they take precedence over packed refs.
fn read_loose(git_dir: &Path, refs: &mut BTreeMap<String, String>) -> Result<(), RefReadError> {
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
    error: Option<RefReadError>,
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
        self.error = Some(error.into());
    }
}

/// Reads a ref's file; an old kind of symbolic ref is a link to another. Git follows any other link, to a file or a
/// directory of refs.
fn read_ref(dir: &OwnedFd, name: &[u8]) -> Result<Option<String>, RefReadError> {
    match git_files::read_at(dir, name, MAX_REF_BYTES) {
        Ok(text) => Ok(Some(escape(text.trim_ascii()))),
        Err(Errno::LOOP) => {
            let target = crate::sys::read_link(dir, name)?;
            if !is_ref_name(&target) {
                return Err(RefReadError::Link { name: escape(name), target: escape(&target) });
            }
            Ok(Some(format!("ref: {}", escape(&target))))
        }
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn is_ref_name(name: &[u8]) -> bool {
    name.starts_with(b"refs/")
        && name.split(|&byte| byte == b'/').all(|part| !part.is_empty() && !part.starts_with(b"."))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "ce013625030ba8dba906f756967f9e9ca394464a";
    const OTHER: &str = "5fa51cf0e1ce013625030ba8dba906f756967f9e";

    fn packed(text: &str) -> Result<BTreeMap<String, String>, String> {
        let mut refs = BTreeMap::new();
        read_packed(text.as_bytes(), &mut refs).map_err(|error| error.to_string())?;
        Ok(refs)
    }

    #[test]
    fn packed_refs_are_read_as_git_writes_them() {
        let text =
            format!("# pack-refs with: peeled sorted \n{ID} refs/heads/a\n{ID} refs/tags/v\n^{OTHER}\n");
        let names: Vec<String> = packed(&text).expect("is sound").into_keys().collect();
        assert_eq!(names, ["refs/heads/a", "refs/tags/v"]);
    }

    #[test]
    fn packed_refs_that_git_reads_otherwise_are_refused() {
        let twice = format!("{ID} refs/heads/a\n{OTHER} refs/heads/a\n");
        assert!(packed(&twice).is_err_and(|why| why.contains("twice")));
        for line in
            [format!("{ID}\trefs/heads/a"), format!("{} refs/heads/a", ID.to_uppercase()), format!("{ID} ")]
        {
            assert!(packed(&format!("{line}\n")).is_err_and(|why| why.contains("line 1")), "{line}");
        }
    }
}
