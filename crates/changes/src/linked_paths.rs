//! Declared paths that are not the only name of their file: those beyond a symbolic link, and hard links.
//!
//! Claims are compared by name, so that of two overlapping ones exactly one is granted. That holds only if a file has
//! one name: a path beyond a symbolic link is refused with the real one, as git does, and the names of a hard-linked
//! file are claimed together or not at all.

use probity_core::ReasonCode;
use probity_core::bytes::escape;
use probity_workspace::ServiceError;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::Metadata;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Refuses `declared` paths that name a file of `root` in a second way. `names` are the other paths that may be names
/// of the same files.
pub(crate) fn check_file_names<'n>(
    root: &Path,
    declared: &[&[u8]],
    names: impl Iterator<Item = &'n [u8]>,
) -> Result<(), ServiceError> {
    let mut linked: BTreeMap<(u64, u64), &[u8]> = BTreeMap::new();
    for path in declared {
        check_directories(root, path)?;
        let facts = facts_of(root, path).filter(|facts| facts.is_file() && facts.nlink() > 1);
        linked.extend(facts.map(|facts| ((facts.dev(), facts.ino()), *path)));
    }
    if linked.is_empty() {
        return Ok(());
    }
    let declared: BTreeSet<&[u8]> = declared.iter().copied().collect();
    for other in names.filter(|other| !declared.contains(other)) {
        let facts = facts_of(root, other).filter(|facts| facts.nlink() > 1);
        if let Some(path) = facts.and_then(|facts| linked.get(&(facts.dev(), facts.ino()))) {
            return Err(ServiceError::refused(
                ReasonCode::ScopeHardLink,
                format!("`{}` is the same file as `{}`: declare both", escape(path), escape(other)),
            ));
        }
    }
    Ok(())
}

fn facts_of(root: &Path, path: &[u8]) -> Option<Metadata> {
    root.join(OsStr::from_bytes(path)).symlink_metadata().ok()
}

/// Refuses a path one of whose directories is a symbolic link.
fn check_directories(root: &Path, path: &[u8]) -> Result<(), ServiceError> {
    let ends = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
    for end in ends {
        let directory = &path[..end];
        if !facts_of(root, directory).is_some_and(|facts| facts.is_symlink()) {
            continue;
        }
        let real = root.join(OsStr::from_bytes(directory)).canonicalize().ok();
        let inside = real.as_ref().and_then(|real| real.strip_prefix(root.canonicalize().ok()?).ok());
        let advice = match inside {
            Some(inside) => {
                let real = inside.join(OsStr::from_bytes(&path[end + 1..]));
                format!("its real name is `{}`", escape(real.as_os_str().as_bytes()))
            }
            None => "it leads out of the tree".to_owned(),
        };
        return Err(ServiceError::refused(
            ReasonCode::ScopeBeyondLink,
            format!("`{}` is beyond the symbolic link `{}`; {advice}", escape(path), escape(directory)),
        ));
    }
    Ok(())
}
