//! The ports on references of a git remote: `refs/probity/<repository>/log/<name>` and `…/ref/<space>/<name>`.
//!
//! An append is a push that moves a reference from the commit the caller saw to its child; if the reference moved, the
//! push is refused and nothing is written. The remote has no clock that the rules could use, so there are no leases:
//! readers observe. Every read asks the remote first (one `ls-remote`), except for events that are known to be there
//! already, because an event never changes.

use crate::git_chain::{ChainEntry, message, parse};
use crate::names::{decoded_name, encoded_name};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use probity_snapshot::git::GitLayout;
use probity_storage::ports::{
    AppendOutcome, EventLog, EventRecord, LeaseStore, MAX_EVENTS_PER_READ, MAX_NEWS_EVENTS, ObjectStore,
    RefStore, StorageEngine, SwapOutcome, check_sizes,
};
use probity_storage::{ObjectFiles, StoreError};
use probity_workspace::clock;
use probity_workspace::git_transport::{GitTransport, PushOutcome, RefMove, shown_remote};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How many events the end of a log is read with.
const TAIL_EVENTS: usize = 64;
/// How often voiding a command is tried while others append.
const MAX_VOID_ATTEMPTS: usize = 20;
/// How often a pointer is moved while others move it.
const MAX_SWAP_ATTEMPTS: usize = 20;
/// How often a waiting command asks the remote. Hosts limit questions.
const WATCH_INTERVAL: Duration = Duration::from_secs(2);
/// How often a waiting command looks at what this process itself wrote meanwhile.
const OWN_WRITE_INTERVAL: Duration = Duration::from_millis(20);

#[derive(Debug, Clone)]
pub struct GitRemoteStore {
    shared: Arc<SharedRemote>,
}

#[derive(Debug)]
struct SharedRemote {
    transport: GitTransport,
    /// `refs/probity/<repository>/`
    prefix: String,
    objects: PathBuf,
    state: Mutex<RemoteState>,
}

/// What this process knows of the remote.
#[derive(Debug, Default)]
struct RemoteState {
    /// The references that are in our repository.
    local: Option<BTreeMap<String, String>>,
    tails: BTreeMap<String, LogTail>,
    /// When the remote was last asked.
    asked_at: Option<Instant>,
}

/// The end of a log.
#[derive(Debug, Clone, Default)]
struct LogTail {
    /// The last commit; `None` if the log is empty.
    id: Option<String>,
    index: u64,
    head: u64,
    /// The last events, oldest first.
    records: Vec<EventRecord>,
}

impl GitRemoteStore {
    pub fn open(
        judged: &GitLayout,
        directory: PathBuf,
        remote: &str,
        repository: &str,
    ) -> Result<Self, StoreError> {
        let objects = directory.with_file_name("objects");
        let transport = GitTransport::open(judged, directory, remote)?;
        let prefix = format!("refs/probity/{repository}/");
        let shared = SharedRemote { transport, prefix, objects, state: Mutex::default() };
        Ok(Self { shared: Arc::new(shared) })
    }

    fn port(&self, kind: &str, name: &str) -> GitPort {
        let reference = format!("{}{kind}/{}", self.shared.prefix, encoded_name(name));
        GitPort { remote: self.shared.clone(), reference }
    }
}

impl StorageEngine for GitRemoteStore {
    fn log(&self, name: &str) -> Box<dyn EventLog> {
        Box::new(self.port("log", name))
    }

    fn refs(&self, space: &str) -> Box<dyn RefStore> {
        Box::new(self.port("ref", space))
    }

    fn leases(&self, _: &str) -> Option<Box<dyn LeaseStore>> {
        None
    }

    /// Objects stay on this machine: what an intent keeps for its finish is needed only where it was started.
    fn objects(&self) -> Box<dyn ObjectStore> {
        Box::new(ObjectFiles::new(self.shared.objects.clone()))
    }

    fn is_shared(&self) -> bool {
        true
    }
}

struct GitPort {
    remote: Arc<SharedRemote>,
    reference: String,
}

impl SharedRemote {
    fn state(&self) -> MutexGuard<'_, RemoteState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn damaged(&self, why: String) -> StoreError {
        StoreError::Damaged { path: PathBuf::from(shown_remote(self.transport.remote())), why }
    }

    /// Asks the remote for its references and brings those here that are not.
    fn sync(&self, state: &mut RemoteState) -> Result<(), StoreError> {
        let there = self.transport.remote_refs(&self.prefix)?;
        state.asked_at = Some(Instant::now());
        let here = match state.local.take() {
            Some(local) => local,
            None => self.transport.local_refs(&self.prefix)?,
        };
        let is_log = |name: &str| name[self.prefix.len()..].starts_with("log/");
        if let Some(lost) = here.keys().find(|name| is_log(name) && !there.contains_key(*name)) {
            let why = format!("`{lost}` is gone: the remote lost the log of the team");
            return Err(StoreError::Shortened {
                path: PathBuf::from(shown_remote(self.transport.remote())),
                why,
            });
        }
        for log_wanted in [true, false] {
            let new: Vec<&str> = there
                .iter()
                .filter(|(name, id)| here.get(*name) != Some(*id) && is_log(name) == log_wanted)
                .map(|(name, _)| name.as_str())
                .collect();
            if !new.is_empty() {
                self.transport.fetch(&new, !log_wanted)?;
            }
        }
        state.local = Some(there);
        Ok(())
    }

    /// Returns the end of a log as it was at the last [`Self::sync`].
    fn tail(&self, state: &mut RemoteState, reference: &str) -> Result<LogTail, StoreError> {
        let id = state.local.as_ref().and_then(|local| local.get(reference)).cloned();
        if let Some(known) = state.tails.get(reference).filter(|known| known.id == id) {
            return Ok(known.clone());
        }
        let Some(id) = id else { return Ok(LogTail::default()) };
        let entries = self.entries(&id, TAIL_EVENTS)?;
        let last = entries.last().ok_or_else(|| self.damaged(format!("`{reference}` has no commit")))?;
        let (index, head) = (last.index, last.seq);
        let records = entries.into_iter().filter_map(|entry| entry.record).collect();
        let tail = LogTail { id: Some(id), index, head, records };
        state.tails.insert(reference.to_owned(), tail.clone());
        Ok(tail)
    }

    /// Reads the last `limit` commits of a chain, oldest first.
    fn entries(&self, id: &str, limit: usize) -> Result<Vec<ChainEntry>, StoreError> {
        let commits = self.transport.chain(id, 0, limit)?;
        let commits = commits.ok_or_else(|| self.damaged(format!("commit {id} is missing")))?;
        let mut entries: Vec<ChainEntry> =
            commits.iter().map(parse).collect::<Result<_, _>>().map_err(|why| self.damaged(why))?;
        entries.reverse();
        Ok(entries)
    }
}

impl GitPort {
    fn synced(&self) -> Result<LogTail, StoreError> {
        let mut state = self.remote.state();
        self.remote.sync(&mut state)?;
        self.remote.tail(&mut state, &self.reference)
    }

    /// Returns the events after `seq` of a log that ends with `tail`.
    fn events(&self, tail: &LogTail, seq: u64, limit: usize) -> Result<Vec<EventRecord>, StoreError> {
        let limit = limit.min(MAX_EVENTS_PER_READ);
        let Some(id) = tail.id.as_ref().filter(|_| seq < tail.head) else { return Ok(Vec::new()) };
        let is_in_tail = tail.records.first().is_some_and(|first| first.seq <= seq + 1);
        let records = if is_in_tail {
            tail.records.clone()
        } else {
            // Commits without an event take a place, but no number: the count is an upper bound.
            let n_commits = usize::try_from(tail.index - seq).unwrap_or(usize::MAX);
            self.remote.entries(id, n_commits)?.into_iter().filter_map(|entry| entry.record).collect()
        };
        let after: Vec<EventRecord> =
            records.into_iter().filter(|record| record.seq > seq).take(limit).collect();
        match after.iter().zip(seq + 1..).find(|(record, expected)| record.seq != *expected) {
            Some((_, missing)) => Err(self.remote.damaged(format!("event {missing} is gone"))),
            None => Ok(after),
        }
    }

    fn find_in(&self, tail: &LogTail, command: &str) -> Result<Option<u64>, StoreError> {
        if let Some(known) = tail.records.iter().find(|record| record.command == command) {
            return Ok(Some(known.seq));
        }
        if tail.records.first().is_none_or(|first| first.seq == 1) {
            return Ok(None);
        }
        let Some(id) = &tail.id else { return Ok(None) };
        let all = self.remote.entries(id, usize::try_from(tail.index).unwrap_or(usize::MAX))?;
        let found = all.into_iter().filter_map(|entry| entry.record).find(|record| record.command == command);
        Ok(found.map(|record| record.seq))
    }

    /// Pushes a commit behind `tail`.
    fn push(
        &self,
        state: &mut RemoteState,
        tail: &LogTail,
        command: &str,
        event: Option<&[u8]>,
    ) -> Result<PushOutcome, StoreError> {
        let seq = tail.head + u64::from(event.is_some());
        let text = message(tail.index + 1, seq, command, event);
        let commit = self.remote.transport.write_commit(tail.id.as_deref(), clock::now_seconds(), &text)?;
        let moved = RefMove { name: self.reference.clone(), from: tail.id.clone(), to: commit.clone() };
        let outcome = self.remote.transport.push(&[moved])?;
        if outcome == PushOutcome::Done {
            state.local.get_or_insert_default().insert(self.reference.clone(), commit.clone());
            let mut records = tail.records.clone();
            if let Some(event) = event {
                records.push(EventRecord { seq, command: command.to_owned(), event: event.to_owned() });
            }
            let tail = LogTail { id: Some(commit), index: tail.index + 1, head: seq, records };
            state.tails.insert(self.reference.clone(), tail);
        }
        Ok(outcome)
    }
}

impl EventLog for GitPort {
    fn head(&self) -> Result<u64, StoreError> {
        Ok(self.synced()?.head)
    }

    /// The end that this process saw last is compared by the push itself, without asking before.
    fn append(&self, expected_head: u64, command: &str, event: &[u8]) -> Result<AppendOutcome, StoreError> {
        check_sizes(command, event)?;
        let mut state = self.remote.state();
        let mut tail = match &state.local {
            Some(_) => self.remote.tail(&mut state, &self.reference)?,
            None => LogTail::default(),
        };
        if tail.head != expected_head || tail.id.is_none() {
            self.remote.sync(&mut state)?;
            tail = self.remote.tail(&mut state, &self.reference)?;
        }
        if let Some(at) = self.find_in(&tail, command)? {
            return Ok(AppendOutcome::Known { at });
        }
        if tail.head == expected_head {
            match self.push(&mut state, &tail, command, Some(event))? {
                PushOutcome::Done => return Ok(AppendOutcome::At(tail.head + 1)),
                PushOutcome::Unknown => return Ok(AppendOutcome::Unknown),
                PushOutcome::Moved => {
                    self.remote.sync(&mut state)?;
                    tail = self.remote.tail(&mut state, &self.reference)?;
                }
            }
        }
        if let Some(at) = self.find_in(&tail, command)? {
            return Ok(AppendOutcome::Known { at });
        }
        let news = self.events(&tail, expected_head, MAX_NEWS_EVENTS)?;
        Ok(AppendOutcome::Moved { head: tail.head, news })
    }

    /// Events that are here are served without asking the remote, if there are as many as wanted: they never change.
    fn read_after(&self, seq: u64, limit: usize) -> Result<Vec<EventRecord>, StoreError> {
        let known = {
            let mut state = self.remote.state();
            match &state.local {
                Some(_) => self.remote.tail(&mut state, &self.reference)?,
                None => LogTail::default(),
            }
        };
        let n_known = usize::try_from(known.head.saturating_sub(seq)).unwrap_or(usize::MAX);
        let tail = if n_known >= limit { known } else { self.synced()? };
        self.events(&tail, seq, limit)
    }

    fn find(&self, command: &str) -> Result<Option<u64>, StoreError> {
        self.find_in(&self.synced()?, command)
    }

    /// A push that is still on its way compares the end of the log, so a commit behind it keeps it out.
    fn void(&self, command: &str) -> Result<Option<u64>, StoreError> {
        let mut state = self.remote.state();
        for _ in 0..MAX_VOID_ATTEMPTS {
            self.remote.sync(&mut state)?;
            let tail = self.remote.tail(&mut state, &self.reference)?;
            if let Some(at) = self.find_in(&tail, command)? {
                return Ok(Some(at));
            }
            if self.push(&mut state, &tail, command, None)? == PushOutcome::Done {
                return Ok(None);
            }
        }
        let why = "it is not known whether the last write arrives".into();
        Err(StoreError::Unreachable { store: shown_remote(self.remote.transport.remote()), why })
    }

    fn watch(&self, seq: u64, wait: Duration) -> Result<u64, StoreError> {
        let end = Instant::now() + wait;
        loop {
            let head = self.head_lately()?;
            let left = end.saturating_duration_since(Instant::now());
            if head > seq || left.is_zero() {
                return Ok(head);
            }
            std::thread::sleep(OWN_WRITE_INTERVAL.min(left));
        }
    }
}

impl GitPort {
    /// Returns the head as it was at most [`WATCH_INTERVAL`] ago.
    fn head_lately(&self) -> Result<u64, StoreError> {
        let mut state = self.remote.state();
        if state.asked_at.is_none_or(|at| at.elapsed() > WATCH_INTERVAL) {
            self.remote.sync(&mut state)?;
        }
        Ok(self.remote.tail(&mut state, &self.reference)?.head)
    }
}

/// The value of a pointer is the message of a commit without a parent. One that was taken away has an empty message of
/// its own, so that a reference never disappears.
const NO_VALUE: &str = "-";

impl GitPort {
    fn value_of(&self, id: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let commits = self.remote.transport.chain(id, 0, 1)?.unwrap_or_default();
        let Some(commit) = commits.first() else {
            return Err(self.remote.damaged(format!("commit {id} is missing")));
        };
        // The first line only makes every commit another one.
        let text = commit.message.lines().nth(1).unwrap_or(NO_VALUE);
        if text == NO_VALUE {
            return Ok(None);
        }
        let decoded = STANDARD.decode(text.trim_start_matches('='));
        decoded.map(Some).map_err(|error| self.remote.damaged(format!("commit {id}: {error}")))
    }

    fn pointer(&self, name: &str) -> String {
        format!("{}/{}", self.reference, encoded_name(name))
    }
}

impl RefStore for GitPort {
    fn get(&self, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let mut state = self.remote.state();
        self.remote.sync(&mut state)?;
        let id = state.local.as_ref().and_then(|local| local.get(&self.pointer(name))).cloned();
        id.map_or(Ok(None), |id| self.value_of(&id))
    }

    fn compare_and_set(
        &self,
        name: &str,
        expected: Option<&[u8]>,
        value: Option<&[u8]>,
    ) -> Result<SwapOutcome, StoreError> {
        check_sizes(name, value.unwrap_or_default())?;
        let reference = self.pointer(name);
        let mut state = self.remote.state();
        for _ in 0..MAX_SWAP_ATTEMPTS {
            self.remote.sync(&mut state)?;
            let from = state.local.as_ref().and_then(|local| local.get(&reference)).cloned();
            let found = from.as_ref().map_or(Ok(None), |id| self.value_of(id))?;
            if found.as_deref() != expected {
                return Ok(SwapOutcome::Moved { found });
            }
            let text =
                value.map_or_else(|| NO_VALUE.to_owned(), |value| format!("={}", STANDARD.encode(value)));
            let unique = clock::run_id();
            let transport = &self.remote.transport;
            let to = transport.write_commit(None, clock::now_seconds(), &format!("{unique}\n{text}"))?;
            // Pointers have no common history, so the comparison alone protects them.
            let moved = RefMove { name: reference.clone(), from, to: to.clone() };
            match transport.push(&[moved])? {
                PushOutcome::Done => {
                    state.local.get_or_insert_default().insert(reference, to);
                    return Ok(SwapOutcome::Done);
                }
                PushOutcome::Unknown => return Ok(SwapOutcome::Unknown),
                PushOutcome::Moved => {}
            }
        }
        let why = "it refuses every write and shows no other one".into();
        Err(StoreError::Unreachable { store: shown_remote(self.remote.transport.remote()), why })
    }

    fn list(&self) -> Result<Vec<(String, Vec<u8>)>, StoreError> {
        let mut state = self.remote.state();
        self.remote.sync(&mut state)?;
        let prefix = format!("{}/", self.reference);
        let mut found = Vec::new();
        for (reference, id) in state.local.iter().flatten() {
            let name = reference.strip_prefix(&prefix).and_then(decoded_name);
            if let (Some(name), Some(value)) = (name, self.value_of(id)?) {
                found.push((name, value));
            }
        }
        found.sort();
        Ok(found)
    }
}
