//! Snapshots of a tree, designed to detect even deliberately hidden changes.
//!
//! Owns: snapshots, deltas, facts of git repositories, writing entries back.
//! May use: core, paths.
//! Must not know: what a change was allowed to do.
//!
//! * [`Snapshot`]: every entry of the content zone at one time, with a root hash and findings about unsafe entries.
//! * [`delta()`]: the paths that differ between two snapshots; [`touched`]: those that were only touched.
//! * [`Snapshot::with_layer`]: the tree that a command in a private view left, from the upper layer of its overlay.
//! * [`git`]: facts read from a repository, and the protected zone.
//! * [`restore`]: writing an entry back. [`tree_handle`]: reaching the entries of a tree that is written to.
//!
//! # The two zones
//!
//! *Content* is everything below the root, including ignored files, build outputs, submodules and nested repositories
//! (with their inner `.git`). Only the root's own `.git` and the names under which Probity keeps its state are left
//! out. The *protected zone* is what lies behind that `.git`: see [`git`].
//!
//! # Promises
//!
//! The walk goes from directory handle to directory handle and never follows a link. Names may contain any byte, no
//! path is too long, and nothing is skipped: an entry that cannot be read, or keeps changing, is an entry and a
//! finding. Nothing that belongs to the tree is started, and no setting of git has any influence.
//!
//! # Limits
//!
//! * A change that was undone before the second snapshot leaves no delta; if it left a trace in the times, [`touched`]
//!   reports it.
//! * A snapshot is not one instant. An entry that changes while it is read is read again; one that changes before or
//!   after its turn is seen as it was then. Take snapshots when nobody writes.
//! * A single write that lasts for the whole time a file is read, or a write through a memory map, does not show in its
//!   times; the file may be read half-written, and is read again by the next snapshot.
//! * Owners, extended attributes and access lists are not compared. Changing them changes the ctime: see [`touched`].
//! * Anything behind a mount point is not seen. The permission bits of the root directory are in no snapshot, because it
//!   has no name: [`TreeRoot::mode`] tells them.
//! * Outside Linux, mounts of the same device cannot be distinguished ([`SnapshotNote::NoMountIds`]), and a re-created git
//!   directory is recognized by its inode only.
//!
//! # A snapshot as a cache
//!
//! [`Snapshot::take`] trusts an earlier snapshot about an entry only if type, permission bits, size, mtime, ctime, link
//! count, inode and device are unchanged, and if the entry was last written at least two seconds before that snapshot
//! began. Anything written later, or with a time in the future, is read again. The names in a directory are taken from
//! it by the same rule, on file systems of which it is known that names which come, go or are exchanged change the ctime
//! of their directory. Every entry is asked for its metadata in every snapshot. The result never depends on the earlier
//! snapshot; only the amount of reading does.
//!
//! Content can change without any of these only by writing to the disk below the file system, setting the machine's
//! clock back to a chosen nanosecond, keeping a writable memory map from before the earlier snapshot, or forging that
//! snapshot. It is stored with Probity's state, which agents may not write.

mod certainty;
mod child_entry;
mod deceptive_names;
mod delta;
mod entry;
mod entry_record;
mod finding;
pub mod git;
mod git_object;
mod layer;
mod links;
mod merkle;
mod read;
pub mod restore;
mod snapshot;
mod sys;
mod take;
mod task_pool;
pub mod tree_handle;
mod tree_root;
mod walk;
mod walk_selection;
mod wire;

pub use delta::{EntryState, TouchKind, TouchedEntry, TreeChange, delta, touched};
pub use entry::SnapshotEntry;
pub use entry_record::SnapshotEntryKind;
pub use finding::TreeFinding;
pub use git_object::{GitId, ObjectFormat};
pub use layer::LayerNames;
pub use probity_core::ChangeKind;
pub use snapshot::{Snapshot, SnapshotNote};
pub use take::SnapshotOptions;
pub use tree_root::{RootIdentity, TreeError, TreeRoot};
pub use walk_selection::WalkSelection;
