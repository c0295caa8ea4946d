//! Git as a source of facts, read from its files. It is never the judge: its index, ignore rules, filters and
//! configuration decide nothing, and no program is started here.
//!
//! * [`GitLayout`]: where a repository keeps its parts.
//! * [`protected_snapshot`], [`zone_delta`]: the protected zone: what lies in the git directory, and what changed there.
//! * [`refs()`]: the branches, tags and other refs, and `HEAD`.
//! * [`index_state`]: whether the index is whole. What it says is never asked.
//! * [`IgnoreRules`]: which untracked paths git passes over.
//! * [`ls_tree_command`], [`parse_ls_tree`]: the tree of a commit, by a command that someone else runs.

mod files;
mod ignore;
mod index;
mod layout;
mod ls_tree;
mod refs;
mod rules;
mod zone;

pub use ignore::IgnoreRules;
pub use index::{IndexState, index_is_sound, index_state};
pub use layout::{GitLayout, RefStorage};
pub use ls_tree::{
    BadLsTree, GITLINK_MODE, GitCommand, HeadTree, git_command, ls_tree_command, parse_ls_tree,
};
pub use refs::{Refs, refs};
pub use zone::{ZoneChange, ZoneClass, ZoneEntry, ZoneSnapshot, protected_snapshot, zone_delta};
