//! Seeing a tree, whatever those who work in it do to hide.
//!
//! * [`Snapshot`]: every entry of the content zone at one time, with a root hash.
//! * [`delta`]: the paths that differ between two snapshots.

pub mod cache;
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

pub use delta::{Change, ChangeKind, Side, delta, touched};
pub use entry::Entry;
pub use finding::TreeFinding;
pub use object::{GitId, ObjectFormat};
pub use record::Kind;
pub use snapshot::{Note, Options, Snapshot, TreeError};
pub use wire::BadSnapshot;
