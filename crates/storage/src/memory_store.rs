//! The ports in memory, for tests and simulation, with injected lost replies and a manual clock.

use crate::StoreError;
use crate::ports::{
    AppendOutcome, EventLog, EventRecord, LeaseStore, MAX_EVENTS_PER_READ, ObjectStore, RefStore,
    StorageEngine, SwapOutcome, check_sizes,
};
use probity_core::Digest;
use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteFate {
    Answered,
    /// Not carried out; the caller gets no reply.
    LostBefore,
    /// Carried out; the caller gets no reply.
    LostAfter,
}

/// Decides the fate of the next write.
type FaultInjector = Box<dyn FnMut() -> WriteFate + Send>;

/// A store in memory. Clones share their content.
#[derive(Clone, Default)]
pub struct MemoryStore {
    shared: Arc<MemoryState>,
}

#[derive(Default)]
struct MemoryState {
    content: Mutex<MemoryContent>,
    grown: Condvar,
}

#[derive(Default)]
struct MemoryContent {
    logs: BTreeMap<String, Vec<EventRecord>>,
    refs: BTreeMap<(String, String), Vec<u8>>,
    leases: BTreeMap<(String, String), Duration>,
    objects: BTreeMap<Digest, Vec<u8>>,
    now: Duration,
    oracle: Option<FaultInjector>,
}

impl MemoryStore {
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes `oracle` decide the fate of each append and swap from now on.
    pub fn inject(&self, oracle: impl FnMut() -> WriteFate + Send + 'static) {
        self.content().oracle = Some(Box::new(oracle));
    }

    pub fn advance(&self, by: Duration) {
        let mut content = self.content();
        content.now = content.now.saturating_add(by);
    }

    fn content(&self) -> MutexGuard<'_, MemoryContent> {
        self.shared.content.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn port(&self, name: &str) -> MemoryPort {
        MemoryPort { memory: self.clone(), name: name.to_owned() }
    }
}

impl std::fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Memory").finish_non_exhaustive()
    }
}

impl StorageEngine for MemoryStore {
    fn log(&self, name: &str) -> Box<dyn EventLog> {
        Box::new(self.port(name))
    }

    fn refs(&self, space: &str) -> Box<dyn RefStore> {
        Box::new(self.port(space))
    }

    fn leases(&self, space: &str) -> Box<dyn LeaseStore> {
        Box::new(self.port(space))
    }

    fn objects(&self) -> Box<dyn ObjectStore> {
        Box::new(self.clone())
    }
}

/// One log or one namespace of the store.
struct MemoryPort {
    memory: MemoryStore,
    name: String,
}

impl MemoryContent {
    fn records(&self, log: &str) -> &[EventRecord] {
        self.logs.get(log).map_or(&[], Vec::as_slice)
    }

    fn find(&self, log: &str, command: &str) -> Option<u64> {
        self.records(log).iter().find(|record| record.command == command).map(|record| record.seq)
    }

    fn next_fate(&mut self) -> WriteFate {
        self.oracle.as_mut().map_or(WriteFate::Answered, |oracle| oracle())
    }
}

fn head(records: &[EventRecord]) -> u64 {
    records.len() as u64
}

impl EventLog for MemoryPort {
    fn head(&self) -> Result<u64, StoreError> {
        Ok(head(self.memory.content().records(&self.name)))
    }

    fn append(&self, expected_head: u64, command: &str, event: &[u8]) -> Result<AppendOutcome, StoreError> {
        check_sizes(command, event)?;
        let mut content = self.memory.content();
        let fate = content.next_fate();
        if fate == WriteFate::LostBefore {
            return Ok(AppendOutcome::Unknown);
        }
        let head = head(content.records(&self.name));
        let answer = match content.find(&self.name, command) {
            Some(at) => AppendOutcome::Known { at },
            None if head != expected_head => AppendOutcome::Moved { head },
            None => {
                let record =
                    EventRecord { seq: head + 1, command: command.to_owned(), event: event.to_owned() };
                content.logs.entry(self.name.clone()).or_default().push(record);
                self.memory.shared.grown.notify_all();
                AppendOutcome::At(head + 1)
            }
        };
        Ok(if fate == WriteFate::LostAfter { AppendOutcome::Unknown } else { answer })
    }

    fn read_after(&self, seq: u64, limit: usize) -> Result<Vec<EventRecord>, StoreError> {
        let content = self.memory.content();
        let behind = usize::try_from(seq).unwrap_or(usize::MAX);
        let records = content.records(&self.name).iter().skip(behind);
        Ok(records.take(limit.min(MAX_EVENTS_PER_READ)).cloned().collect())
    }

    fn find(&self, command: &str) -> Result<Option<u64>, StoreError> {
        Ok(self.memory.content().find(&self.name, command))
    }

    fn watch(&self, seq: u64, wait: Duration) -> Result<u64, StoreError> {
        let end = Instant::now() + wait;
        let mut content = self.memory.content();
        loop {
            let head = head(content.records(&self.name));
            let left = end.saturating_duration_since(Instant::now());
            if head > seq || left.is_zero() {
                return Ok(head);
            }
            let waited = self.memory.shared.grown.wait_timeout(content, left);
            content = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl RefStore for MemoryPort {
    fn get(&self, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.memory.content().refs.get(&(self.name.clone(), name.to_owned())).cloned())
    }

    fn compare_and_set(
        &self,
        name: &str,
        expected: Option<&[u8]>,
        value: Option<&[u8]>,
    ) -> Result<SwapOutcome, StoreError> {
        check_sizes(name, value.unwrap_or_default())?;
        let mut content = self.memory.content();
        let fate = content.next_fate();
        if fate == WriteFate::LostBefore {
            return Ok(SwapOutcome::Unknown);
        }
        let key = (self.name.clone(), name.to_owned());
        let found = content.refs.get(&key).cloned();
        let answer = if found.as_deref() == expected {
            match value {
                Some(value) => content.refs.insert(key, value.to_owned()),
                None => content.refs.remove(&key),
            };
            SwapOutcome::Done
        } else {
            SwapOutcome::Moved { found }
        };
        Ok(if fate == WriteFate::LostAfter { SwapOutcome::Unknown } else { answer })
    }

    fn list(&self) -> Result<Vec<(String, Vec<u8>)>, StoreError> {
        let content = self.memory.content();
        let mine = content.refs.iter().filter(|((space, _), _)| *space == self.name);
        Ok(mine.map(|((_, name), value)| (name.clone(), value.clone())).collect())
    }
}

impl LeaseStore for MemoryPort {
    fn renew(&self, owner: &str, lasts: Duration) -> Result<(), StoreError> {
        check_sizes(owner, &[])?;
        let mut content = self.memory.content();
        let end = content.now.saturating_add(lasts);
        content.leases.insert((self.name.clone(), owner.to_owned()), end);
        Ok(())
    }

    fn end(&self, owner: &str) -> Result<(), StoreError> {
        self.memory.content().leases.remove(&(self.name.clone(), owner.to_owned()));
        Ok(())
    }

    fn running(&self) -> Result<Vec<(String, Duration)>, StoreError> {
        let content = self.memory.content();
        let left = |end: &Duration| end.checked_sub(content.now).filter(|left| !left.is_zero());
        let mine = content.leases.iter().filter(|((space, _), _)| *space == self.name);
        Ok(mine.filter_map(|((_, owner), end)| Some((owner.clone(), left(end)?))).collect())
    }
}

impl ObjectStore for MemoryStore {
    fn put(&self, bytes: &[u8]) -> Result<Digest, StoreError> {
        let digest = Digest::of(bytes);
        self.content().objects.insert(digest, bytes.to_owned());
        Ok(digest)
    }

    fn get(&self, digest: &Digest) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.content().objects.get(digest).cloned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lost_reply_is_told_apart_by_looking() {
        let memory = MemoryStore::new();
        let log = memory.log("l");
        let mut fates = [WriteFate::LostBefore, WriteFate::LostAfter, WriteFate::Answered].into_iter();
        memory.inject(move || fates.next().unwrap_or(WriteFate::Answered));
        assert_eq!(log.append(0, "a", b"1").expect("writes"), AppendOutcome::Unknown);
        assert_eq!(log.find("a").expect("reads"), None);
        assert_eq!(log.append(0, "a", b"1").expect("writes"), AppendOutcome::Unknown);
        assert_eq!(log.find("a").expect("reads"), Some(1));
        assert_eq!(log.append(0, "a", b"1").expect("writes"), AppendOutcome::Known { at: 1 });
    }

    #[test]
    fn a_lease_ends_by_the_clock_of_the_store() {
        let memory = MemoryStore::new();
        let leases = memory.leases("l");
        leases.renew("me", Duration::from_mins(1)).expect("renews");
        memory.advance(Duration::from_secs(59));
        assert_eq!(leases.running().expect("reads"), [("me".to_owned(), Duration::from_secs(1))]);
        memory.advance(Duration::from_secs(1));
        assert_eq!(leases.running().expect("reads"), []);
    }
}
