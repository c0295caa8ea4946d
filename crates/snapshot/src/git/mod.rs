//! Git as a source of facts, read from its files. It never decides about a run, and no program is started here.
//!
//! * [`GitLayout`]: the locations of a repository's parts.
//! * [`protected_snapshot`], [`zone_delta`]: the protected zone, that is, the git directory, and what changed there.
//! * [`refs()`]: the branches, tags and other refs, and `HEAD`.
//! * [`index_state`]: the integrity of the index.
//! * [`IndexEntries`]: index entries of filtered files that cannot be computed here, and of files that a sparse
//!   checkout leaves out. They are used for nothing else.
//! * [`WorktreeAttributes`], [`stored_id`], [`LfsPointer`]: what git would store for a working file, without starting a filter.
//! * [`IgnoreRules`]: the untracked paths that git ignores.
//! * [`ls_tree_command`], [`parse_ls_tree`]: the tree of a commit, by a command that the caller runs.
//! * [`diff_tree_command`], [`parse_diff_tree`]: the paths that differ between commits, likewise.
//! * [`IndexListing`]: everything that the index would put into a commit.

mod attributes;
mod config;
mod diff_tree;
mod git_files;
mod ignore;
mod index;
mod index_entries;
mod index_tables;
mod layout;
mod ls_tree;
mod refs;
mod stored_form;
mod zone;
mod zone_rules;

pub use attributes::{FileAttributes, WorktreeAttributes};
pub use config::{AutoCrlf, WorktreeSettings};
pub use diff_tree::{BadDiffTree, TreeDiffEntry, TreeSide, diff_tree_command, parse_diff_tree};
pub use ignore::{IgnorePattern, IgnoreRules, ignore_patterns};
pub use index::{IndexState, index_is_sound, index_state};
pub use index_entries::{IndexEntries, IndexEntry, IndexListing, SPARSE_DIR_MODE};
pub use index_tables::IndexContradiction;
pub use layout::{GitLayout, RefStorage};
pub use ls_tree::{
    BadLsTree, GITLINK_MODE, GitCommand, HeadTree, git_command, ls_tree_command, parse_ls_tree,
};
pub use refs::{RefListing, refs};
pub use stored_form::{LfsPointer, stored_id};
pub use zone::{ZoneChange, ZoneClass, ZoneEntry, ZoneSnapshot, protected_snapshot, zone_delta};
