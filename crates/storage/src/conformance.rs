//! One test suite for every engine: it exercises the promises of [`crate::ports`].
//!
//! It uses names of its own, so it may run on a store that is in use. What it writes stays there.

use crate::StoreError;
use crate::ports::{
    AppendOutcome, CutOutcome, EventLog, EventsSince, LeaseStore, LogSnapshot, MAX_VALUE_BYTES, RefStore,
    StorageEngine, SwapOutcome,
};
use probity_core::Digest;
use std::fmt::Debug;
use std::time::Duration;

/// Bound on waiting for an event that is certain to arrive, generous enough for a busy machine with a slow disk.
const NEWS_TIMEOUT: Duration = Duration::from_mins(5);

#[derive(Debug, thiserror::Error)]
pub enum ConformanceError {
    #[error("{promise}: {found}")]
    Broken { promise: &'static str, found: String },
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Checks an engine against every promise. `name` keeps the data of several runs apart.
pub fn check(store: &dyn StorageEngine, name: &str) -> Result<(), ConformanceError> {
    let named = |part: &str| format!("{name}-{part}");
    log_is_a_sequence(&*store.log(&named("log")))?;
    log_compares(&*store.log(&named("compare")))?;
    logs_are_apart(&*store.log(&named("one")), &*store.log(&named("other")))?;
    log_has_bounds(&*store.log(&named("bounds")))?;
    one_racer_wins(store, &named("race"))?;
    watchers_are_woken(store, &named("watch"))?;
    refs_compare(&*store.refs(&named("refs")))?;
    refs_are_apart(&*store.refs(&named("space")), &*store.refs(&named("other-space")))?;
    objects_are_their_digests(store)?;
    two_handles_see_each_other(store, &named("handles"))?;
    a_reader_goes_on_from_a_known_event(&*store.log(&named("since")))?;
    a_voided_command_is_settled(&*store.log(&named("void")))?;
    a_cut_log_goes_on(&*store.log(&named("cut")))?;
    match store.leases(&named("leases")) {
        Some(leases) => leases_run_and_end(&*leases),
        None => Ok(()),
    }
}

/// What one handle wrote, every other handle reads at once.
fn two_handles_see_each_other(store: &dyn StorageEngine, name: &str) -> Result<(), ConformanceError> {
    let (one, other) = (store.log(name), store.log(name));
    for round in 0..3 {
        one.append(round * 2, &format!("one-{round}"), b"1")?;
        expect("another handle reads the new head", &other.head()?, &(round * 2 + 1))?;
        let answer = other.append(round * 2 + 1, &format!("other-{round}"), b"2")?;
        expect("another handle appends to it", &answer, &AppendOutcome::At(round * 2 + 2))?;
        expect("and the first handle reads that", &one.head()?, &(round * 2 + 2))?;
    }
    Ok(())
}

/// Whether a store compares the known event itself or leaves that to the reader, another event is never taken for it.
fn a_reader_goes_on_from_a_known_event(log: &dyn EventLog) -> Result<(), ConformanceError> {
    for seq in 0..4 {
        log.append(seq, &format!("c{}", seq + 1), b"event")?;
    }
    let numbers = |seq, command, limit| -> Result<(bool, Vec<u64>), StoreError> {
        let number = |record: &crate::ports::EventRecord| record.seq;
        Ok(match log.read_since(seq, command, limit)? {
            EventsSince::After(records) => (true, records.iter().map(number).collect()),
            EventsSince::Including(records) => {
                let is_known = records.first().is_some_and(|first| first.command == command);
                (is_known, records.iter().skip(1).map(number).collect())
            }
        })
    };
    expect("what follows a known event is read", &numbers(2, "c2", 10)?, &(true, vec![3, 4]))?;
    expect("nothing follows the last event", &numbers(4, "c4", 10)?, &(true, vec![]))?;
    expect("another event is not taken for it", &numbers(2, "c1", 10)?.0, &false)?;
    expect("an event that never was is not taken for it", &numbers(2, "none", 10)?.0, &false)?;
    expect("an event behind the end is not there", &numbers(9, "c9", 10)?, &(false, vec![]))
}

fn a_voided_command_is_settled(log: &dyn EventLog) -> Result<(), ConformanceError> {
    log.append(0, "a", b"a")?;
    expect("a command that was carried out cannot be voided", &log.void("a")?, &Some(1))?;
    expect("a command that was not carried out is voided", &log.void("b")?, &None)?;
    expect("voiding is no event", &log.head()?, &1)?;
    expect("the log goes on", &log.append(1, "c", b"c")?, &AppendOutcome::At(2))?;
    let read: Vec<u64> = log.read_after(0, 10)?.into_iter().map(|record| record.seq).collect();
    expect("events are numbered without gaps", &read, &vec![1, 2])
}

/// What is cut off is in the snapshot, and nothing else changes: numbers, commands, and the events behind the cut.
fn a_cut_log_goes_on(log: &dyn EventLog) -> Result<(), ConformanceError> {
    for seq in 0..5 {
        log.append(seq, &format!("c{}", seq + 1), b"event")?;
    }
    expect("a log that was not cut has no snapshot", &log.snapshot()?, &None)?;
    let state = vec![7; MAX_VALUE_BYTES + 1];
    let outcome = log.cut(3, &state)?;
    if outcome == CutOutcome::Kept {
        let n_kept = log.read_after(0, 10)?.len();
        return expect("an engine that cuts nothing keeps everything", &n_kept, &5);
    }
    expect("a log is cut", &outcome, &CutOutcome::Done)?;
    let snapshot = LogSnapshot { at: 3, bytes: state };
    expect("the snapshot is read back, however large", &log.snapshot()?, &Some(snapshot))?;
    expect("a cut moves no head", &log.head()?, &5)?;
    let behind: Vec<u64> = log.read_after(3, 10)?.into_iter().map(|record| record.seq).collect();
    expect("events behind the cut are there", &behind, &vec![4, 5])?;
    let before = match log.read_after(0, 10) {
        Ok(records) => records.len() == 5,
        Err(StoreError::Cut { at }) => at == 3,
        Err(error) => return Err(error.into()),
    };
    expect("events before the cut are there, or are said to be cut", &before, &true)?;
    expect("a command before the cut is known", &log.find("c2")?, &Some(2))?;
    expect("and not taken again", &log.append(5, "c2", b"x")?, &AppendOutcome::Known { at: 2 })?;
    expect("the same cut is made once", &log.cut(3, b"other")?, &CutOutcome::Older)?;
    expect("an older cut changes nothing", &log.cut(2, b"older")?, &CutOutcome::Older)?;
    expect("the log goes on", &log.append(5, "c6", b"event")?, &AppendOutcome::At(6))?;
    expect("a later cut replaces it", &log.cut(6, b"later")?, &CutOutcome::Done)?;
    let snapshot = LogSnapshot { at: 6, bytes: b"later".to_vec() };
    expect("its snapshot counts", &log.snapshot()?, &Some(snapshot))?;
    expect("there is nothing behind it", &log.read_after(6, 10)?, &Vec::new())?;
    let ahead = log.cut(7, b"ahead");
    expect("what is not there yet cannot be cut", &ahead.is_err(), &true)
}

fn expect<T: PartialEq + Debug>(
    promise: &'static str,
    found: &T,
    wanted: &T,
) -> Result<(), ConformanceError> {
    if found == wanted {
        Ok(())
    } else {
        Err(ConformanceError::Broken { promise, found: format!("{found:?} instead of {wanted:?}") })
    }
}

fn log_is_a_sequence(log: &dyn EventLog) -> Result<(), ConformanceError> {
    expect("an empty log ends at 0", &log.head()?, &0)?;
    expect("an empty log has no events", &log.read_after(0, 10)?, &Vec::new())?;
    let events: [&[u8]; 3] = [b"one", b"", b"\xff\0three"];
    for (event, seq) in events.iter().zip(1..) {
        let appended = log.append(seq - 1, &format!("c{seq}"), event)?;
        expect("events are numbered from 1", &appended, &AppendOutcome::At(seq))?;
    }
    expect("the head is the last event", &log.head()?, &3)?;
    let read = |after, limit| -> Result<Vec<(u64, Vec<u8>)>, ConformanceError> {
        Ok(log.read_after(after, limit)?.into_iter().map(|record| (record.seq, record.event)).collect())
    };
    let all: Vec<(u64, Vec<u8>)> = (1..).zip(events.map(<[u8]>::to_vec)).collect();
    expect("events are read back in order, byte for byte", &read(0, 10)?, &all)?;
    expect("reading goes on behind a number", &read(1, 10)?, &all[1..].to_vec())?;
    expect("reading stops at the limit", &read(0, 2)?, &all[..2].to_vec())?;
    expect("there is nothing behind the head", &read(3, 10)?, &Vec::new())?;
    expect("there is nothing far behind the head", &read(1 << 40, 10)?, &Vec::new())?;
    let commands: Vec<String> = log.read_after(0, 10)?.into_iter().map(|record| record.command).collect();
    expect("every event has its command", &commands, &["c1", "c2", "c3"].map(String::from).to_vec())
}

fn log_compares(log: &dyn EventLog) -> Result<(), ConformanceError> {
    log.append(0, "a", b"a")?;
    let moved = "an append behind another head is refused";
    for behind in [0, 7] {
        let AppendOutcome::Moved { head, news } = log.append(behind, "b", b"b")? else {
            return Err(ConformanceError::Broken { promise: moved, found: "it was taken".into() });
        };
        expect(moved, &head, &1)?;
        let is_news =
            news.iter().zip(behind + 1..).all(|(record, seq)| record.seq == seq && record.seq <= head);
        expect("a refused append brings the events after the expected head", &is_news, &true)?;
    }
    expect("a refused append leaves nothing", &log.head()?, &1)?;
    expect("a refused command is not known", &log.find("b")?, &None)?;
    expect("a command is found", &log.find("a")?, &Some(1))?;
    let known = "a command is taken once";
    expect(known, &log.append(1, "a", b"again")?, &AppendOutcome::Known { at: 1 })?;
    expect(known, &log.append(0, "a", b"again")?, &AppendOutcome::Known { at: 1 })?;
    expect("a refused command may come again", &log.append(1, "b", b"b")?, &AppendOutcome::At(2))
}

fn logs_are_apart(one: &dyn EventLog, other: &dyn EventLog) -> Result<(), ConformanceError> {
    one.append(0, "a", b"1")?;
    expect("a log knows nothing of another", &other.head()?, &0)?;
    expect("a log knows no commands of another", &other.append(0, "a", b"2")?, &AppendOutcome::At(1))
}

fn log_has_bounds(log: &dyn EventLog) -> Result<(), ConformanceError> {
    let largest = vec![7; MAX_VALUE_BYTES];
    expect("the largest event is taken", &log.append(0, "large", &largest)?, &AppendOutcome::At(1))?;
    let too_large = log.append(1, "larger", &[largest, vec![7]].concat());
    let refused = matches!(too_large, Err(StoreError::TooLarge { .. }));
    expect("a larger event is refused", &refused, &true)?;
    expect("a refused event leaves nothing", &log.head()?, &1)
}

/// Lets several threads append to the same head: one wins each round, and every event gets its own number.
fn one_racer_wins(store: &dyn StorageEngine, name: &str) -> Result<(), ConformanceError> {
    const RACERS: u64 = 4;
    const ROUNDS: u64 = 25;
    let race = |racer: u64| -> Result<u64, StoreError> {
        let log = store.log(name);
        let mut won = 0;
        for round in 0..ROUNDS {
            let answer = log.append(round, &format!("{racer}-{round}"), &racer.to_be_bytes())?;
            won += u64::from(answer == AppendOutcome::At(round + 1));
            log.watch(round, NEWS_TIMEOUT)?;
        }
        Ok(won)
    };
    let won = std::thread::scope(|scope| {
        let racers: Vec<_> = (0..RACERS).map(|racer| scope.spawn(move || race(racer))).collect();
        racers.into_iter().map(|racer| racer.join().unwrap_or(Ok(u64::MAX / RACERS))).sum::<Result<u64, _>>()
    })?;
    expect("one racer wins each round", &won, &ROUNDS)?;
    expect("the losers leave nothing", &store.log(name).head()?, &ROUNDS)
}

fn watchers_are_woken(store: &dyn StorageEngine, name: &str) -> Result<(), ConformanceError> {
    let log = store.log(name);
    expect("a watch ends without news", &log.watch(0, Duration::from_millis(5))?, &0)?;
    let seen = std::thread::scope(|scope| {
        let watcher = scope.spawn(|| store.log(name).watch(0, NEWS_TIMEOUT));
        let appended = log.append(0, "news", b"news");
        appended.and(watcher.join().unwrap_or(Ok(0)))
    })?;
    expect("a watch sees what is appended", &seen, &1)?;
    expect("a watch answers at once what it missed", &log.watch(0, NEWS_TIMEOUT)?, &1)
}

fn refs_compare(refs: &dyn RefStore) -> Result<(), ConformanceError> {
    expect("a pointer is not there at first", &refs.get("head")?, &None)?;
    expect("a pointer is made", &refs.compare_and_set("head", None, Some(b"a"))?, &SwapOutcome::Done)?;
    let found = Some(b"a".to_vec());
    let moved = "a pointer that stands elsewhere is left there";
    expect(
        moved,
        &refs.compare_and_set("head", None, Some(b"b"))?,
        &SwapOutcome::Moved { found: found.clone() },
    )?;
    expect(
        moved,
        &refs.compare_and_set("head", Some(b"b"), None)?,
        &SwapOutcome::Moved { found: found.clone() },
    )?;
    expect(moved, &refs.get("head")?, &found)?;
    expect("a pointer moves", &refs.compare_and_set("head", Some(b"a"), Some(b"\0"))?, &SwapOutcome::Done)?;
    expect("a pointer is read back", &refs.get("head")?, &Some(vec![0]))?;
    refs.compare_and_set("b", None, Some(b"2"))?;
    let listed = [("b".to_owned(), b"2".to_vec()), ("head".to_owned(), vec![0])];
    expect("pointers are listed by name", &refs.list()?, &listed.to_vec())?;
    expect("a pointer is taken away", &refs.compare_and_set("head", Some(b"\0"), None)?, &SwapOutcome::Done)?;
    expect("a pointer that was taken away is gone", &refs.get("head")?, &None)
}

fn refs_are_apart(one: &dyn RefStore, other: &dyn RefStore) -> Result<(), ConformanceError> {
    one.compare_and_set("a", None, Some(b"1"))?;
    expect("a space knows nothing of another", &other.get("a")?, &None)?;
    expect("a space lists nothing of another", &other.list()?, &Vec::new())
}

fn objects_are_their_digests(store: &dyn StorageEngine) -> Result<(), ConformanceError> {
    let objects = store.objects();
    for bytes in [Vec::new(), b"content".to_vec(), vec![0xff; 70_000]] {
        let digest = objects.put(&bytes)?;
        expect("an object is named by its digest", &digest, &Digest::of(&bytes))?;
        expect("keeping twice is no harm", &objects.put(&bytes)?, &digest)?;
        expect("an object is read back", &objects.get(&digest)?, &Some(bytes))?;
    }
    expect("what was never kept is not there", &objects.get(&Digest::of(b"never kept"))?, &None)
}

fn leases_run_and_end(leases: &dyn LeaseStore) -> Result<(), ConformanceError> {
    let owners = || -> Result<Vec<String>, StoreError> {
        Ok(leases.running()?.into_iter().map(|(owner, _)| owner).collect())
    };
    expect("nobody is alive at first", &owners()?, &Vec::new())?;
    leases.renew("b", Duration::from_mins(10))?;
    leases.renew("a", Duration::from_mins(10))?;
    leases.renew("over", Duration::ZERO)?;
    expect("those who renewed are alive", &owners()?, &vec!["a".to_owned(), "b".to_owned()])?;
    let longest = leases.running()?.into_iter().map(|(_, left)| left).max();
    expect("no lease outlasts its promise", &(longest <= Some(Duration::from_mins(10))), &true)?;
    leases.renew("a", Duration::from_mins(100))?;
    let longest = leases.running()?.into_iter().map(|(_, left)| left).max();
    expect("renewing prolongs", &(longest > Some(Duration::from_mins(10))), &true)?;
    leases.end("a")?;
    leases.end("nobody")?;
    expect("who ends is gone", &owners()?, &vec!["b".to_owned()])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory_store::MemoryStore;
    use crate::ports::{EventRecord, ObjectStore};

    #[test]
    fn memory_keeps_every_promise() {
        check(&MemoryStore::new(), "t").expect("keeps them");
    }

    /// An engine that does not compare: the bug that would grant a claim twice.
    struct CarelessStore(MemoryStore);

    struct CarelessLog(Box<dyn EventLog>);

    impl StorageEngine for CarelessStore {
        fn log(&self, name: &str) -> Box<dyn EventLog> {
            Box::new(CarelessLog(self.0.log(name)))
        }
        fn refs(&self, space: &str) -> Box<dyn RefStore> {
            self.0.refs(space)
        }
        fn leases(&self, space: &str) -> Option<Box<dyn LeaseStore>> {
            self.0.leases(space)
        }
        fn objects(&self) -> Box<dyn ObjectStore> {
            self.0.objects()
        }
    }

    impl EventLog for CarelessLog {
        fn head(&self) -> Result<u64, StoreError> {
            self.0.head()
        }
        fn append(&self, _: u64, command: &str, event: &[u8]) -> Result<AppendOutcome, StoreError> {
            self.0.append(self.0.head()?, command, event)
        }
        fn read_after(&self, seq: u64, limit: usize) -> Result<Vec<EventRecord>, StoreError> {
            self.0.read_after(seq, limit)
        }
        fn find(&self, command: &str) -> Result<Option<u64>, StoreError> {
            self.0.find(command)
        }
        fn void(&self, command: &str) -> Result<Option<u64>, StoreError> {
            self.0.void(command)
        }
        fn watch(&self, seq: u64, wait: Duration) -> Result<u64, StoreError> {
            self.0.watch(seq, wait)
        }
    }

    #[test]
    fn an_engine_that_does_not_compare_is_found_out() {
        let breach = check(&CarelessStore(MemoryStore::new()), "t").expect_err("is found out");
        assert!(
            matches!(breach, ConformanceError::Broken { promise, .. } if promise.contains("another head")),
            "{breach}"
        );
    }
}
