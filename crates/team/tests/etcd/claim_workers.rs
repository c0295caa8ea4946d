//! Threads that claim and release paths by compare-and-append, as machines of a team would, and record every call.

use probity_storage::ports::{AppendOutcome, EventLog, EventRecord, StorageEngine};
use probity_testkit::history::{
    Call, CallKind, CallOutcome, ClaimEvent, SearchVerdict, judge_by_search, judge_by_witness,
};
use probity_testkit::wait_until;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

const MAX_SEARCH_STEPS: usize = 2_000_000;
/// How long a worker that was refused waits for an event at most.
const REFUSED_WAIT: Duration = Duration::from_millis(50);

pub(crate) struct ClaimRun {
    n_workers: usize,
    /// The turn to append, which all processes of one machine share.
    turn: Option<Mutex<()>>,
    is_waiting: bool,
    paths: Vec<String>,
    began: Instant,
    is_over: AtomicBool,
    n_events: AtomicU64,
    calls: Mutex<Vec<Call>>,
}

impl ClaimRun {
    pub(crate) fn new(n_workers: usize, paths: &[&str]) -> Self {
        Self {
            n_workers,
            turn: None,
            is_waiting: false,
            paths: paths.iter().map(|path| (*path).to_owned()).collect(),
            began: Instant::now(),
            is_over: AtomicBool::new(false),
            n_events: AtomicU64::new(0),
            calls: Mutex::default(),
        }
    }

    /// Has the workers append one after the other, as processes of one machine do.
    pub(crate) fn on_one_machine(self) -> Self {
        Self { turn: Some(Mutex::default()), ..self }
    }

    /// Has the workers wait for the next event after a refusal, as those who wait for a path do.
    pub(crate) fn waiting(self) -> Self {
        Self { is_waiting: true, ..self }
    }

    pub(crate) fn n_events(&self) -> u64 {
        self.n_events.load(Ordering::SeqCst)
    }

    /// Waits until this many more events are acknowledged.
    pub(crate) fn wait_for_events(&self, more: u64) {
        let wanted = self.n_events() + more;
        wait_until("claims go on", || self.n_events() >= wanted);
    }

    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    pub(crate) fn calls(&self) -> Vec<Call> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Lets workers claim while `meanwhile` runs. Each has a store of its own, as each machine does.
pub(crate) fn run_workers<S: StorageEngine>(
    run: &ClaimRun,
    store: impl Fn(usize) -> S + Sync,
    meanwhile: impl FnOnce(),
) {
    std::thread::scope(|scope| {
        for n in 0..run.n_workers {
            let store = &store;
            scope.spawn(move || work(run, n, &*store(n).log("claims")));
        }
        // Also if it panics: workers that go on would keep the test from failing.
        let _end = EndOfRun(run);
        meanwhile();
    });
}

struct EndOfRun<'r>(&'r ClaimRun);

impl Drop for EndOfRun<'_> {
    fn drop(&mut self) {
        self.0.is_over.store(true, Ordering::SeqCst);
    }
}

/// The state that the events lead to: who holds what, as which event.
#[derive(Default)]
struct Held {
    head: u64,
    paths: BTreeMap<String, u64>,
}

impl Held {
    fn apply(&mut self, record: &EventRecord) {
        if record.seq != self.head + 1 {
            return;
        }
        self.head = record.seq;
        let event = parse(record);
        match event.kind {
            CallKind::Claim => self.paths.insert(event.path, event.seq),
            CallKind::Release => self.paths.remove(&event.path),
        };
    }

    fn catch_up(&mut self, log: &dyn EventLog) -> bool {
        let Ok(records) = log.read_after(self.head, 10_000) else { return false };
        for record in &records {
            self.apply(record);
        }
        true
    }
}

fn work(run: &ClaimRun, n: usize, log: &dyn EventLog) {
    let (by, mut held, mut round) = (format!("w{n}"), Held::default(), 0);
    while !run.is_over.load(Ordering::SeqCst) {
        round += 1;
        let path = run.paths[(n + round) % run.paths.len()].clone();
        let claimed = call(run, log, &mut held, &by, CallKind::Claim, &path, 0, round);
        if run.is_waiting && matches!(claimed, CallOutcome::Refused(_)) {
            // A watch that fails only wakes the worker early.
            let _ = log.watch(held.head, REFUSED_WAIT);
        }
        if let CallOutcome::Done(token) = claimed {
            // A claim that nobody ends would stop all others.
            loop {
                let outcome = call(run, log, &mut held, &by, CallKind::Release, &path, token, round);
                if outcome != CallOutcome::Unknown || run.is_over.load(Ordering::SeqCst) {
                    break;
                }
            }
        }
    }
}

#[expect(clippy::too_many_arguments, reason = "one call with all that it records")]
fn call(
    run: &ClaimRun,
    log: &dyn EventLog,
    held: &mut Held,
    by: &str,
    kind: CallKind,
    path: &str,
    token: u64,
    round: usize,
) -> CallOutcome {
    let began = run.now();
    let outcome = execute(log, run.turn.as_ref(), held, by, kind, path, token, round);
    let call = Call { by: by.into(), kind, path: path.into(), began, ended: run.now(), outcome };
    run.calls.lock().unwrap_or_else(PoisonError::into_inner).push(call);
    if matches!(outcome, CallOutcome::Done(_)) {
        run.n_events.fetch_add(1, Ordering::SeqCst);
    }
    outcome
}

#[expect(clippy::too_many_arguments, reason = "one call with all that it needs")]
fn execute(
    log: &dyn EventLog,
    turn: Option<&Mutex<()>>,
    held: &mut Held,
    by: &str,
    kind: CallKind,
    path: &str,
    token: u64,
    round: usize,
) -> CallOutcome {
    // A release that is tried again is the same command.
    let command = format!("{by}-{round}-{}", if kind == CallKind::Claim { "claim" } else { "release" });
    let event = format!("{by} {} {path} {token}", if kind == CallKind::Claim { "claim" } else { "release" });
    let mut may_be_written = kind == CallKind::Release;
    let mut own_turn = None;
    let mut is_fresh = false;
    loop {
        if !is_fresh && !held.catch_up(log) {
            return CallOutcome::Unknown;
        }
        is_fresh = false;
        let current = held.paths.get(path).copied();
        let is_refused = match kind {
            CallKind::Claim => current.is_some(),
            CallKind::Release => current != Some(token),
        };
        if is_refused {
            if may_be_written {
                match log.void(&command) {
                    Ok(Some(at)) => return CallOutcome::Done(at),
                    Ok(None) => {}
                    Err(_) => return CallOutcome::Unknown,
                }
            }
            return CallOutcome::Refused(held.head);
        }
        if let (None, Some(turn)) = (&own_turn, turn) {
            own_turn = turn.try_lock().ok();
            if own_turn.is_none() {
                own_turn = Some(turn.lock().unwrap_or_else(PoisonError::into_inner));
                // Others appended meanwhile.
                continue;
            }
        }
        match log.append(held.head, &command, event.as_bytes()) {
            Ok(AppendOutcome::At(at) | AppendOutcome::Known { at }) => return CallOutcome::Done(at),
            Ok(AppendOutcome::Moved { head, news }) => {
                for record in &news {
                    held.apply(record);
                }
                is_fresh = held.head == head;
            }
            Ok(AppendOutcome::Unknown) => may_be_written = true,
            Err(_) => return CallOutcome::Unknown,
        }
    }
}

fn parse(record: &EventRecord) -> ClaimEvent {
    let text = String::from_utf8(record.event.clone()).expect("is text");
    let words: Vec<&str> = text.split(' ').collect();
    ClaimEvent {
        seq: record.seq,
        by: words[0].into(),
        kind: if words[1] == "claim" { CallKind::Claim } else { CallKind::Release },
        path: words[2].into(),
        token: words[3].parse().expect("a number"),
    }
}

/// Has both judges look at what happened; returns the number of events.
pub(crate) fn judged(run: &ClaimRun, log: &dyn EventLog) -> usize {
    let n_events = judged_by_witness(run, log);
    for (path, verdict) in judge_by_search(&run.calls(), MAX_SEARCH_STEPS) {
        assert_eq!(verdict, SearchVerdict::Sound, "{path}");
    }
    n_events
}

/// Holds the calls against the log alone. The search remembers a set of calls per step, which does not fit into memory for
/// the hundreds of thousands of refusals of a measurement.
pub(crate) fn judged_by_witness(run: &ClaimRun, log: &dyn EventLog) -> usize {
    let mut records: Vec<EventRecord> = Vec::new();
    loop {
        let page = log.read_after(records.len() as u64, 10_000).expect("reads");
        if page.is_empty() {
            break;
        }
        records.extend(page);
    }
    let events: Vec<ClaimEvent> = records.iter().map(parse).collect();
    assert_eq!(judge_by_witness(&run.calls(), &events), Vec::<String>::new());
    events.len()
}
