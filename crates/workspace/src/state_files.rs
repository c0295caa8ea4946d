//! How the owners of files in the state directory vouch for what happens to them.
//!
//! Other processes write to the state directory while a command is governed. Each owner knows what its own code does to
//! its files; the guard of the directory asks the owners, and knows none of their formats.

use crate::StateDirectory;
use std::fmt::Debug;
use std::path::Path;

/// What became of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileFate {
    /// It was not there before.
    New,
    /// It is there, and not as it was.
    Changed,
    /// It is not there any more.
    Gone,
}

/// The files that one owner keeps in the state directory.
pub trait StateFiles {
    /// Remembers what is needed to tell the owner's own writes from others, as it is now.
    fn mark(&self, state: &StateDirectory) -> Box<dyn StateMark>;
}

/// What an owner remembers of its files from an earlier moment.
pub trait StateMark: Debug {
    /// Whether the fate of the file `name`, relative to the state directory, is what the owner's own code does. Never true
    /// for a file of another owner.
    fn explains(&self, state: &StateDirectory, name: &Path, fate: FileFate) -> bool;
}

/// The parts of a name below the state directory; `None` if one is no text, as in no name of ours.
pub fn name_parts(name: &Path) -> Option<Vec<&str>> {
    name.iter().map(|part| part.to_str()).collect()
}

/// Whether a name is that of a file that is still being written.
pub fn is_unfinished(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|extension| extension == "tmp")
}
