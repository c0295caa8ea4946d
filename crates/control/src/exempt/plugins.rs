//! The entry points of packages that lie in a tree: where they name plugins, programs load code that they name.

use super::marks;
use paths::RepoPath;
use std::collections::BTreeSet;
use std::path::Path;
use tree::{Entry, Kind, Snapshot};

/// The lists of entry points in a snapshot that name plugins. One that cannot be read counts as naming some (law 13).
pub(crate) fn plugin_lists(root: &Path, snapshot: &Snapshot) -> BTreeSet<RepoPath> {
    let names_plugins = |entry: &Entry<'_>| {
        entry.kind() != Kind::Directory
            && plan::is_entry_points_file(entry.path())
            && marks::content(root, entry).is_none_or(|content| plan::declares_plugins(&content))
    };
    snapshot.entries().filter(names_plugins).map(|entry| entry.path().clone()).collect()
}
