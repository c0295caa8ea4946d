//! The four ports that the rules need from a database. They hide the engine below them.
//!
//! The promises are few, so that both an embedded and a distributed engine can keep them: no transaction spans two
//! ports, time is the store's own, and a reply may be lost. [`crate::conformance`] checks every engine.

use crate::StoreError;
use probity_core::Digest;
use std::time::Duration;

/// The largest event or pointer value: what a distributed engine accepts in one request, with room to spare.
pub const MAX_VALUE_BYTES: usize = 1024 * 1024;
pub const MAX_NAME_BYTES: usize = 256;
pub const MAX_EVENTS_PER_READ: usize = 10_000;
/// How many events a refused append brings along at most.
pub const MAX_NEWS_EVENTS: usize = 64;

/// An engine, which provides the ports. Logs and spaces of different names are independent.
pub trait StorageEngine: Send + Sync {
    /// Returns the log of that name, which is empty until the first append.
    fn log(&self, name: &str) -> Box<dyn EventLog>;
    fn refs(&self, space: &str) -> Box<dyn RefStore>;
    /// Returns the leases of that name; `None` for an engine without a clock, whose readers observe instead.
    fn leases(&self, space: &str) -> Option<Box<dyn LeaseStore>>;
    fn objects(&self) -> Box<dyn ObjectStore>;

    /// Whether several machines use the store. Then no machine's clock, boot or host name means anything in it.
    fn is_shared(&self) -> bool {
        false
    }
}

/// A numbered sequence of events that only grows. Numbers start at 1; the head of an empty log is 0.
pub trait EventLog: Send + Sync {
    /// Returns the number of the last event.
    fn head(&self) -> Result<u64, StoreError>;

    /// Appends `event` if the head is still `expected_head`. `command` is the caller's identifier for this write; a log
    /// accepts each one once.
    fn append(&self, expected_head: u64, command: &str, event: &[u8]) -> Result<AppendOutcome, StoreError>;

    /// Returns the events after `seq`, in order and without gaps: at most `limit`, and at most [`MAX_EVENTS_PER_READ`]. Events
    /// that were cut off are [`StoreError::Cut`]; [`Self::snapshot`] stands for them.
    fn read_after(&self, seq: u64, limit: usize) -> Result<Vec<EventRecord>, StoreError>;

    /// Reads on for a reader who knows that `command` wrote event `seq`: the events after it, and a proof that it is still
    /// there. An engine that can compare the command need not send the event again.
    fn read_since(&self, seq: u64, command: &str, limit: usize) -> Result<EventsSince, StoreError> {
        let _ = command;
        Ok(EventsSince::Including(self.read_after(seq.saturating_sub(1), limit)?))
    }

    /// Returns the number of the event appended with that command.
    fn find(&self, command: &str) -> Result<Option<u64>, StoreError>;

    /// Makes sure that a command whose reply was lost is either known or never carried out: a write may still be on its
    /// way. Returns the number of its event if there is one.
    fn void(&self, command: &str) -> Result<Option<u64>, StoreError>;

    /// Waits up to `wait` for an event after `seq`, then returns the head.
    fn watch(&self, seq: u64, wait: Duration) -> Result<u64, StoreError>;

    /// Lets `snapshot` stand for the events up to `at`, which the log may forget: reading before the cut then fails with
    /// [`StoreError::Cut`]. Commands stay known until the cut after this one. An engine with room for all events keeps them.
    fn cut(&self, at: u64, snapshot: &[u8]) -> Result<CutOutcome, StoreError> {
        let _ = (at, snapshot);
        Ok(CutOutcome::Kept)
    }

    /// Returns the snapshot of the last cut.
    fn snapshot(&self) -> Result<Option<LogSnapshot>, StoreError> {
        Ok(None)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CutOutcome {
    /// The snapshot stands for the events up to it.
    Done,
    /// Another writer cut the log there or later; nothing was written.
    Older,
    /// This engine keeps every event; nothing was written.
    Kept,
}

/// What stands for the events up to a number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogSnapshot {
    pub at: u64,
    pub bytes: Vec<u8>,
}

/// What [`EventLog::read_since`] read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EventsSince {
    /// The store compared the known event; these follow it.
    After(Vec<EventRecord>),
    /// These begin with the event that has the known number, for the reader to compare.
    Including(Vec<EventRecord>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AppendOutcome {
    /// The event is durable and has this number.
    At(u64),
    /// Another writer appended first; nothing was written. `news` are the first events after the expected head, at most
    /// [`MAX_NEWS_EVENTS`]; an engine may leave them out.
    Moved { head: u64, news: Vec<EventRecord> },
    /// The log already has an event with this command; nothing was written.
    Known { at: u64 },
    /// The reply was lost, and the event may or may not be written. [`EventLog::find`] tells.
    Unknown,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventRecord {
    pub seq: u64,
    pub command: String,
    pub event: Vec<u8>,
}

/// Named pointers, moved by compare-and-set.
pub trait RefStore: Send + Sync {
    fn get(&self, name: &str) -> Result<Option<Vec<u8>>, StoreError>;

    /// Moves a pointer from `expected` to `value`; `None` means that the pointer does not exist.
    fn compare_and_set(
        &self,
        name: &str,
        expected: Option<&[u8]>,
        value: Option<&[u8]>,
    ) -> Result<SwapOutcome, StoreError>;

    /// Returns every pointer, sorted by name.
    fn list(&self) -> Result<Vec<(String, Vec<u8>)>, StoreError>;
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SwapOutcome {
    /// The pointer has the new value, durably.
    Done,
    /// The pointer did not have the expected value; nothing was written.
    Moved { found: Option<Vec<u8>> },
    /// The reply was lost; read the pointer to find out.
    Unknown,
}

pub trait ObjectStore: Send + Sync {
    /// Stores `bytes` durably under their digest; storing them twice is harmless.
    fn put(&self, bytes: &[u8]) -> Result<Digest, StoreError>;

    /// Reads an object. Content that does not match its digest is an error.
    fn get(&self, digest: &Digest) -> Result<Option<Vec<u8>>, StoreError>;
}

/// Records which owners are alive, by the store's clock: no client's clock extends or ends a lease.
pub trait LeaseStore: Send + Sync {
    /// Makes the lease of `owner` last `lasts` from now.
    fn renew(&self, owner: &str, lasts: Duration) -> Result<(), StoreError>;

    /// Like [`Self::renew`], for an owner that never had a lease: an engine need not look for one.
    fn begin(&self, owner: &str, lasts: Duration) -> Result<(), StoreError> {
        self.renew(owner, lasts)
    }

    fn end(&self, owner: &str) -> Result<(), StoreError>;

    /// Returns every lease that may still run, with the longest time it can have left, sorted by owner. A lease may last
    /// longer than promised, never shorter: nothing may rely on its end for safety.
    fn running(&self) -> Result<Vec<(String, Duration)>, StoreError>;
}

/// Refuses values above the limits before they are written.
pub fn check_sizes(name: &str, value: &[u8]) -> Result<(), StoreError> {
    let bounds = [("a name", name.len(), MAX_NAME_BYTES), ("a value", value.len(), MAX_VALUE_BYTES)];
    match bounds.into_iter().find(|(_, bytes, most)| bytes > most) {
        Some((what, bytes, most)) => Err(StoreError::TooLarge { what, bytes, most }),
        None => Ok(()),
    }
}
