//! The ports in memory, for tests and simulation, with injected lost replies and a manual clock.

use crate::StoreError;
use crate::ports::{
    AppendOutcome, CutOutcome, EventLog, EventRecord, LeaseStore, LogSnapshot, MAX_EVENTS_PER_READ,
    MAX_NEWS_EVENTS, ObjectStore, RefStore, StorageEngine, SwapOutcome, check_sizes,
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
    /// Still on its way: the caller gets no reply, and the write arrives at [`MemoryStore::deliver_late`].
    Late,
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
    /// Appends that are still on their way: log, expected head, record without a number.
    late: Vec<(String, u64, EventRecord)>,
    /// The snapshots of cuts, by log.
    snapshots: BTreeMap<String, LogSnapshot>,
    /// Commands that must never be carried out, by log.
    voided: std::collections::BTreeSet<(String, String)>,
    is_shared: bool,
    has_no_clock: bool,
}

impl MemoryStore {
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes `oracle` decide the fate of each append and swap from now on.
    pub fn inject(&self, oracle: impl FnMut() -> WriteFate + Send + 'static) {
        self.content().oracle = Some(Box::new(oracle));
    }

    /// Makes the store one of several machines, with leases by its own clock or without any.
    pub fn share(&self, has_clock: bool) {
        let mut content = self.content();
        content.is_shared = true;
        content.has_no_clock = !has_clock;
    }

    /// Lets the writes arrive that were on their way.
    pub fn deliver_late(&self) {
        let mut content = self.content();
        for (log, expected_head, record) in std::mem::take(&mut content.late) {
            content.append(&log, expected_head, &record.command, &record.event);
        }
        self.shared.grown.notify_all();
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

    fn leases(&self, space: &str) -> Option<Box<dyn LeaseStore>> {
        let has_clock = !self.content().has_no_clock;
        has_clock.then(|| Box::new(self.port(space)) as Box<dyn LeaseStore>)
    }

    fn objects(&self) -> Box<dyn ObjectStore> {
        Box::new(self.clone())
    }

    fn is_shared(&self) -> bool {
        self.content().is_shared
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

    fn append(&mut self, log: &str, expected_head: u64, command: &str, event: &[u8]) -> AppendOutcome {
        let head = head(self.records(log));
        let is_void = self.voided.contains(&(log.to_owned(), command.to_owned()));
        match self.find(log, command) {
            Some(at) => AppendOutcome::Known { at },
            None if head != expected_head || is_void => {
                let behind = usize::try_from(expected_head).unwrap_or(usize::MAX);
                let is_cut = self.snapshots.get(log).is_some_and(|cut| cut.at > expected_head);
                let limit = if is_cut { 0 } else { MAX_NEWS_EVENTS };
                let news = self.records(log).iter().skip(behind).take(limit).cloned().collect();
                AppendOutcome::Moved { head, news }
            }
            None => {
                let record =
                    EventRecord { seq: head + 1, command: command.to_owned(), event: event.to_owned() };
                self.logs.entry(log.to_owned()).or_default().push(record);
                AppendOutcome::At(head + 1)
            }
        }
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
        if fate == WriteFate::Late {
            let record = EventRecord { seq: 0, command: command.to_owned(), event: event.to_owned() };
            content.late.push((self.name.clone(), expected_head, record));
            return Ok(AppendOutcome::Unknown);
        }
        let answer = content.append(&self.name, expected_head, command, event);
        self.memory.shared.grown.notify_all();
        Ok(if fate == WriteFate::LostAfter { AppendOutcome::Unknown } else { answer })
    }

    fn read_after(&self, seq: u64, limit: usize) -> Result<Vec<EventRecord>, StoreError> {
        let content = self.memory.content();
        if let Some(cut) = content.snapshots.get(&self.name).filter(|cut| cut.at > seq) {
            return Err(StoreError::Cut { at: cut.at });
        }
        let behind = usize::try_from(seq).unwrap_or(usize::MAX);
        let records = content.records(&self.name).iter().skip(behind);
        Ok(records.take(limit.min(MAX_EVENTS_PER_READ)).cloned().collect())
    }

    fn find(&self, command: &str) -> Result<Option<u64>, StoreError> {
        Ok(self.memory.content().find(&self.name, command))
    }

    fn void(&self, command: &str) -> Result<Option<u64>, StoreError> {
        let mut content = self.memory.content();
        let found = content.find(&self.name, command);
        if found.is_none() {
            content.voided.insert((self.name.clone(), command.to_owned()));
        }
        Ok(found)
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

    /// The events stay in memory, out of every reader's reach.
    fn cut(&self, at: u64, snapshot: &[u8]) -> Result<CutOutcome, StoreError> {
        let mut content = self.memory.content();
        let head = head(content.records(&self.name));
        if content.snapshots.get(&self.name).is_some_and(|cut| cut.at >= at) {
            return Ok(CutOutcome::Older);
        }
        if at > head {
            let why = format!("a log that ends at {head} cannot be cut at {at}");
            return Err(StoreError::Engine { path: self.name.clone().into(), why });
        }
        content.snapshots.insert(self.name.clone(), LogSnapshot { at, bytes: snapshot.to_vec() });
        Ok(CutOutcome::Done)
    }

    fn snapshot(&self) -> Result<Option<LogSnapshot>, StoreError> {
        Ok(self.memory.content().snapshots.get(&self.name).cloned())
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
        if matches!(fate, WriteFate::LostBefore | WriteFate::Late) {
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
    fn a_late_write_is_found_or_made_impossible() {
        let memory = MemoryStore::new();
        let log = memory.log("l");
        let mut fates = [WriteFate::Late, WriteFate::Late].into_iter();
        memory.inject(move || fates.next().unwrap_or(WriteFate::Answered));
        assert_eq!(log.append(0, "a", b"1").expect("writes"), AppendOutcome::Unknown);
        assert_eq!(log.find("a").expect("reads"), None);
        memory.deliver_late();
        assert_eq!(log.void("a").expect("voids"), Some(1));
        assert_eq!(log.append(1, "b", b"2").expect("writes"), AppendOutcome::Unknown);
        assert_eq!(log.void("b").expect("voids"), None);
        memory.deliver_late();
        assert_eq!((log.head().expect("reads"), log.find("b").expect("reads")), (1, None));
    }

    #[test]
    fn a_lease_ends_by_the_clock_of_the_store() {
        let memory = MemoryStore::new();
        let leases = memory.leases("l").expect("a clock");
        leases.renew("me", Duration::from_mins(1)).expect("renews");
        memory.advance(Duration::from_secs(59));
        assert_eq!(leases.running().expect("reads"), [("me".to_owned(), Duration::from_secs(1))]);
        memory.advance(Duration::from_secs(1));
        assert_eq!(leases.running().expect("reads"), []);
    }
}
