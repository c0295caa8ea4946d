//! Finds entry-point files of packages in a tree; programs load the plugins declared there.

use super::output_markers;
use probity_paths::RepoPath;
use probity_snapshot::{Snapshot, SnapshotEntry, SnapshotEntryKind};
use std::collections::BTreeSet;
use std::path::Path;

/// Returns the entry-point files that declare plugins. An unreadable one counts as declaring some (law 13).
pub fn plugin_lists(roots: &[&Path], snapshot: &Snapshot) -> BTreeSet<RepoPath> {
    let names_plugins = |entry: &SnapshotEntry<'_>| {
        entry.kind() != SnapshotEntryKind::Directory
            && probity_policy::is_entry_points_file(entry.path())
            && output_markers::content(roots, entry)
                .is_none_or(|content| probity_policy::declares_plugins(&content))
    };
    let entries = snapshot.entries_named(probity_policy::ENTRY_POINTS_FILE).into_iter();
    entries.filter(names_plugins).map(SnapshotEntry::into_path).collect()
}
