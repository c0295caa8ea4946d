//! Chooses the file of a helper program, so that nobody who is judged decides what the judge starts (law 8).
//!
//! A program is looked up on the search path once and then started by its real path. It is passed over if it lies in a
//! directory that the caller excludes, or if other users could have put or changed it there. The user's own directories
//! are ordinary places for programs; since the judged may write to them too, a program that has changed since it was
//! found is not started.

use std::ffi::{OsStr, OsString};
use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

const STICKY: u32 = 0o1000;
const ANY_EXECUTE: u32 = 0o111;
const GROUP_WRITE: u32 = 0o020;
const OTHERS_WRITE: u32 = 0o002;

/// A program that was found, and the identity of its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HelperProgram {
    /// The real path: absolute and without links.
    pub path: PathBuf,
    /// The part of the search path that is neither excluded nor open to others.
    pub search_path: OsString,
    identity: FileIdentity,
}

/// No program may be started.
#[derive(Debug, thiserror::Error)]
pub enum HelperProgramError {
    #[error("there is no {} on PATH", .name.display())]
    NotFound { name: OsString },
    /// There are programs of that name, and none may be used.
    #[error("{} is not used, because {why}, and there is no other on PATH", .path.display())]
    Unusable { path: PathBuf, why: &'static str },
    #[error("{} has changed since this process first used it", .path.display())]
    Changed { path: PathBuf },
}

impl From<HelperProgramError> for io::Error {
    fn from(error: HelperProgramError) -> Self {
        let kind = match error {
            HelperProgramError::NotFound { .. } | HelperProgramError::Unusable { .. } => {
                io::ErrorKind::NotFound
            }
            HelperProgramError::Changed { .. } => io::ErrorKind::PermissionDenied,
        };
        Self::new(kind, error)
    }
}

/// What changes whenever the content of a file or the file itself does.
#[derive(Debug, Clone, PartialEq, Eq)]
struct FileIdentity {
    device: u64,
    inode: u64,
    size: u64,
    changed: (i64, i64),
}

impl FileIdentity {
    fn of(facts: &Metadata) -> Self {
        Self {
            device: facts.dev(),
            inode: facts.ino(),
            size: facts.size(),
            changed: (facts.ctime(), facts.ctime_nsec()),
        }
    }
}

impl HelperProgram {
    /// Finds `name` in the absolute entries of `search_path`, outside of the `excluded` directories, which must be real
    /// paths.
    pub fn find(name: &OsStr, search_path: &OsStr, excluded: &[PathBuf]) -> Result<Self, HelperProgramError> {
        let entries = std::env::split_paths(search_path);
        let real: Vec<PathBuf> = entries
            .filter(|entry| entry.is_absolute())
            .filter_map(|entry| entry.canonicalize().ok())
            .collect();
        let usable: Vec<&PathBuf> =
            real.iter().filter(|entry| reason_against(entry, excluded).is_none()).collect();
        let usable = std::env::join_paths(usable).unwrap_or_default();
        let mut refused = None;
        for entry in &real {
            let Some((path, facts)) = executable(&entry.join(name)) else { continue };
            match reason_against(entry, excluded).or_else(|| reason_against(&path, excluded)) {
                None => {
                    return Ok(Self { path, search_path: usable, identity: FileIdentity::of(&facts) });
                }
                Some(why) => refused = refused.or(Some(HelperProgramError::Unusable { path, why })),
            }
        }
        Err(refused.unwrap_or_else(|| HelperProgramError::NotFound { name: name.to_owned() }))
    }

    /// Checks that the file is still the one that was found.
    pub fn check(&self) -> Result<(), HelperProgramError> {
        let facts = std::fs::metadata(&self.path).ok();
        match facts {
            Some(facts) if FileIdentity::of(&facts) == self.identity => Ok(()),
            _ => Err(HelperProgramError::Changed { path: self.path.clone() }),
        }
    }
}

/// Returns the real path of an executable file.
fn executable(path: &Path) -> Option<(PathBuf, Metadata)> {
    let real = path.canonicalize().ok()?;
    let facts = std::fs::metadata(&real).ok()?;
    (facts.is_file() && facts.mode() & ANY_EXECUTE != 0).then_some((real, facts))
}

fn reason_against(path: &Path, excluded: &[PathBuf]) -> Option<&'static str> {
    if excluded.iter().any(|directory| path.starts_with(directory)) {
        return Some("it lies in a tree of the repository");
    }
    let is_open = path.ancestors().any(|part| {
        // A part that cannot be looked at belongs to nobody we know.
        std::fs::metadata(part).map_or(true, |facts| is_open_to_others(&facts))
    });
    is_open.then_some("other users can change it or a directory above it")
}

/// Returns whether users other than root and this one may replace the file or entries of the directory. Groups that root
/// or this user let in are trusted: package managers install that way.
fn is_open_to_others(facts: &Metadata) -> bool {
    let is_own = facts.uid() == 0 || facts.uid() == rustix::process::geteuid().as_raw();
    if facts.is_dir() && facts.mode() & STICKY != 0 {
        return false;
    }
    facts.mode() & OTHERS_WRITE != 0 || (!is_own && facts.mode() & GROUP_WRITE != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt, symlink};
    use tempfile::TempDir;

    fn place() -> (TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let real = dir.path().canonicalize().unwrap();
        for name in ["one", "two"] {
            fs::create_dir(real.join(name)).unwrap();
            fs::write(real.join(name).join("tool"), "#!/bin/sh\n").unwrap();
            set_mode(&real.join(name).join("tool"), 0o755);
            set_mode(&real.join(name), 0o755);
        }
        (dir, real)
    }

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    fn find(entries: &[PathBuf], excluded: &[PathBuf]) -> Result<HelperProgram, HelperProgramError> {
        HelperProgram::find(OsStr::new("tool"), &std::env::join_paths(entries).unwrap(), excluded)
    }

    #[test]
    fn the_first_program_that_nobody_else_can_change_is_taken() {
        let (_dir, place) = place();
        let entries = [place.join("one"), place.join("two")];
        assert_eq!(find(&entries, &[]).unwrap().path, place.join("one/tool"));
        set_mode(&place.join("one"), 0o777);
        let found = find(&entries, &[]).unwrap();
        assert_eq!((found.path, found.search_path), (place.join("two/tool"), place.join("two").into()));
        set_mode(&place.join("one"), 0o755);
        set_mode(&place.join("one/tool"), 0o757);
        assert_eq!(find(&entries, &[]).unwrap().path, place.join("two/tool"));
    }

    #[test]
    fn a_link_does_not_lead_into_an_excluded_directory_nor_out_of_it() {
        let (_dir, place) = place();
        let excluded = [place.join("one")];
        fs::create_dir(place.join("links")).unwrap();
        symlink(place.join("one/tool"), place.join("links/tool")).unwrap();
        symlink(place.join("one"), place.join("alias")).unwrap();
        for entry in ["one", "links", "alias"] {
            let refused = find(&[place.join(entry)], &excluded).unwrap_err();
            assert!(matches!(refused, HelperProgramError::Unusable { .. }), "{refused}");
        }
        fs::remove_file(place.join("one/tool")).unwrap();
        symlink(place.join("two/tool"), place.join("one/tool")).unwrap();
        assert!(find(&[place.join("one")], &excluded).is_err());
    }

    #[test]
    fn entries_that_depend_on_the_directory_are_passed_over() {
        for entry in ["", ".", "one"] {
            let refused = find(&[PathBuf::from(entry)], &[]).unwrap_err();
            assert!(matches!(refused, HelperProgramError::NotFound { .. }), "{refused}");
        }
    }

    #[test]
    fn a_program_that_was_replaced_is_not_the_one_that_was_found() {
        let (_dir, place) = place();
        let found = find(&[place.join("one")], &[]).unwrap();
        found.check().unwrap();
        fs::rename(place.join("two/tool"), place.join("one/tool")).unwrap();
        assert!(matches!(found.check(), Err(HelperProgramError::Changed { .. })));
    }
}
