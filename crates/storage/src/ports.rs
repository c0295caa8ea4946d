//! What the rules ask of a database: four ports, and nothing above them knows which engine is below.
//!
//! The promises are few, so that an embedded engine and a distributed one can both keep them: there is no transaction across two ports, time is the store's own, and a reply may be lost. Every engine is held to
//! [`crate::conformance`].

use crate::StoreError;
use probity_core::Digest;
use std::time::Duration;

/// The largest event or pointer that is taken: what a distributed engine takes in one request, with room to spare.
pub const MAX_VALUE_BYTES: usize = 1024 * 1024;
/// The longest name of a log, a pointer, a command or an owner.
pub const MAX_NAME_BYTES: usize = 256;
/// The most records that one reading gives.
pub const MAX_EVENTS_PER_READ: usize = 10_000;

/// An engine: where the ports come from. Logs, pointers and leases of different names know nothing of each other.
pub trait StorageEngine: Send + Sync {
    /// The log of that name, empty until something is appended.
    fn log(&self, name: &str) -> Box<dyn EventLog>;
    /// The pointers of that space.
    fn refs(&self, space: &str) -> Box<dyn RefStore>;
    /// The leases of that space.
    fn leases(&self, space: &str) -> Box<dyn LeaseStore>;
    /// The objects.
    fn objects(&self) -> Box<dyn ObjectStore>;
}

/// A numbered sequence of events that only grows. The first has number 1; an empty log ends at 0.
pub trait EventLog: Send + Sync {
    /// The number of the last event.
    fn head(&self) -> Result<u64, StoreError>;

    /// Appends `event` if the log still ends at `expected_head`. `command` is the caller's own id for this write: one
    /// log takes it once.
    fn append(&self, expected_head: u64, command: &str, event: &[u8]) -> Result<AppendOutcome, StoreError>;

    /// The events behind `seq` in order and without a gap, at most `limit` of them and at most [`MAX_EVENTS_PER_READ`].
    fn read_after(&self, seq: u64, limit: usize) -> Result<Vec<EventRecord>, StoreError>;

    /// Where the event with that command stands.
    fn find(&self, command: &str) -> Result<Option<u64>, StoreError>;

    /// Waits until the log ends behind `seq`, at most for `wait`; then says where it ends.
    fn watch(&self, seq: u64, wait: Duration) -> Result<u64, StoreError>;
}

/// The answer to an append.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AppendOutcome {
    /// The event is durable and has this number.
    At(u64),
    /// Somebody else appended first; nothing was written.
    Moved {
        /// Where the log ends now.
        head: u64,
    },
    /// An event with this command stands there already; nothing was written.
    Known {
        /// Where.
        at: u64,
    },
    /// The reply was lost: it may be written or not. [`EventLog::find`] tells.
    Unknown,
}

/// An event as it was stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventRecord {
    /// Its number.
    pub seq: u64,
    /// The command it was appended with.
    pub command: String,
    /// Its bytes.
    pub event: Vec<u8>,
}

/// Named pointers that move by compare-and-set.
pub trait RefStore: Send + Sync {
    /// Where a pointer stands.
    fn get(&self, name: &str) -> Result<Option<Vec<u8>>, StoreError>;

    /// Moves a pointer from `expected` to `value`; `None` is a pointer that is not there.
    fn compare_and_set(
        &self,
        name: &str,
        expected: Option<&[u8]>,
        value: Option<&[u8]>,
    ) -> Result<SwapOutcome, StoreError>;

    /// Every pointer, by name.
    fn list(&self) -> Result<Vec<(String, Vec<u8>)>, StoreError>;
}

/// The answer to a swap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SwapOutcome {
    /// The pointer stands there now, durably.
    Done,
    /// It was not where it was expected; nothing was written.
    Moved {
        /// Where it stands.
        found: Option<Vec<u8>>,
    },
    /// The reply was lost: look where the pointer stands.
    Unknown,
}

/// Content-addressed bytes.
pub trait ObjectStore: Send + Sync {
    /// Keeps `bytes` durably under their digest. Keeping them twice is no harm.
    fn put(&self, bytes: &[u8]) -> Result<Digest, StoreError>;

    /// Reads an object back. What is not its digest any more is damage, not content.
    fn get(&self, digest: &Digest) -> Result<Option<Vec<u8>>, StoreError>;
}

/// Who is alive, by the clock of the store: nobody's own clock prolongs or ends a lease.
pub trait LeaseStore: Send + Sync {
    /// Lets the lease of `owner` run for `lasts` from now on.
    fn renew(&self, owner: &str, lasts: Duration) -> Result<(), StoreError>;

    /// Ends the lease of `owner`.
    fn end(&self, owner: &str) -> Result<(), StoreError>;

    /// Every lease that runs, by owner, and how long it still does.
    fn running(&self) -> Result<Vec<(String, Duration)>, StoreError>;
}

/// Refuses what is larger than every engine takes, before it is written.
pub(crate) fn check_sizes(name: &str, value: &[u8]) -> Result<(), StoreError> {
    let bounds = [("a name", name.len(), MAX_NAME_BYTES), ("a value", value.len(), MAX_VALUE_BYTES)];
    match bounds.into_iter().find(|(_, bytes, most)| bytes > most) {
        Some((what, bytes, most)) => Err(StoreError::TooLarge { what, bytes, most }),
        None => Ok(()),
    }
}
