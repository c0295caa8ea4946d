//! Seeing a tree, whatever those who work in it do to hide.
//!
//! Owns: snapshots, deltas, facts of git repositories, writing entries back.
//! May use: core, paths.
//! Must not know: what a change was allowed to do.
//!
//! * [`Snapshot`]: every entry of the content zone at one time, with a root hash and what was found unsafe.
//! * [`delta()`]: the paths that differ between two snapshots; [`touched`]: those that were only touched.
//! * [`git`]: facts read from a repository, and the protected zone.
//! * [`restore`]: writing an entry back.
//!
//! # The two zones
//!
//! *Content* is everything below the root, ignored files, build outputs, submodules and nested repositories (with their
//! inner `.git`) included. Left out are exactly the root's own `.git` and the names under which Probity keeps its
//! state. The *protected zone* is what lies behind that `.git`: see [`git`].
//!
//! # What it promises
//!
//! The walk goes from directory handle to directory handle and never follows a link. Any byte may be in a name, no
//! path is too long, nothing is skipped: what cannot be read, or does not come to rest, is an entry and a finding.
//! Nothing that belongs to the tree is started, and no setting of git has a say.
//!
//! # What it cannot see
//!
//! * A change that was undone before the second snapshot leaves no delta; if it left a trace in the times, [`touched`]
//!   tells.
//! * A snapshot is not one instant. An entry that changes while it is looked at is read again; one that changes
//!   before or after its turn is seen as it was then. Take snapshots when nobody writes.
//! * A single write that is under way for the whole time a file is read, or a write through a memory map, does not
//!   show in its times; the file may be read half-written, and is read again by the next snapshot.
//! * Owners, extended attributes and access lists are not compared. Changing them changes the ctime: see [`touched`].
//! * What lies behind a mount point, and the permission bits of the root directory itself.
//! * Outside Linux mounts of the same device are not told apart ([`Note::NoMountIds`]), and a git directory made again
//!   is told by its inode only.
//!
//! # A snapshot as a cache
//!
//! [`Snapshot::take`] believes an earlier snapshot about an entry only if type, permission bits, size, mtime, ctime, link
//! count, inode and device are what they were, and if the entry was last written two seconds or more before that
//! snapshot began: what was written later, or carries a time in the future, is read again. So whoever keeps the last
//! snapshot need not read what did not change; a snapshot without it reads everything and is the same.
//!
//! What this cannot see: content that changed although none of these did. For that one must write to the disk below the
//! file system, set the machine's clock back to a chosen nanosecond, keep a writable memory map of the file from before
//! the last snapshot, or forge the kept snapshot. It is kept with Probity's state, which agents may not write.

mod delta;
mod entry;
mod finding;
pub mod git;
mod links;
mod look;
mod merkle;
mod names;
mod object;
mod pool;
mod read;
mod record;
pub mod restore;
mod snapshot;
mod sys;
mod walk;
mod wire;

pub use delta::{Change, Side, Touch, Touched, delta, touched};
pub use entry::Entry;
pub use finding::TreeFinding;
pub use object::{GitId, ObjectFormat};
pub use probity_core::ChangeKind;
pub use record::Kind;
pub use snapshot::{Note, Options, Snapshot, TreeError};
