//! Two judges of recorded histories of claims.
//!
//! [`judge_by_witness`] takes the log for the order of things: it is one chain, every acknowledgement is in it, real time never
//! contradicts it, every refusal was true of a state between its call and its answer, and no path is held twice.
//! [`judge_by_search`] trusts nothing: per path it searches for any order of the calls that one lock could have shown (Wing and
//! Gong, with Lowe's memory), where calls without an answer may have happened or not. Only both together see every kind of breach.

use std::collections::{BTreeMap, BTreeSet, HashSet};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallKind {
    Claim,
    Release,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallOutcome {
    /// Done, as event number.
    Done(u64),
    /// Refused, as of the event with this number.
    Refused(u64),
    /// The caller never learned.
    Unknown,
}

/// One call, with the times of one clock for all callers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    pub by: String,
    pub kind: CallKind,
    pub path: String,
    pub began: u64,
    pub ended: u64,
    pub outcome: CallOutcome,
}

/// An event of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimEvent {
    pub seq: u64,
    pub by: String,
    pub kind: CallKind,
    pub path: String,
    /// The claim that a release ends.
    pub token: u64,
}

/// Returns every breach that the log, from its first event on, proves.
pub fn judge_by_witness(history: &[Call], log: &[ClaimEvent]) -> Vec<String> {
    let mut breaches = Vec::new();
    let mut held: BTreeMap<&str, u64> = BTreeMap::new();
    // The events at which each path changed hands, with whether it was held afterwards.
    let mut changes: BTreeMap<&str, Vec<(u64, bool)>> = BTreeMap::new();
    for (event, expected) in log.iter().zip(1..) {
        if event.seq != expected {
            return vec![format!("event {} stands at place {expected}", event.seq)];
        }
        match event.kind {
            CallKind::Claim => {
                if let Some(token) = held.insert(&event.path, event.seq) {
                    breaches.push(format!("{} is granted as {expected} and held as {token}", event.path));
                }
            }
            CallKind::Release => {
                if held.remove(&*event.path) != Some(event.token) {
                    breaches.push(format!("event {expected} releases a claim of somebody else"));
                }
            }
        }
        changes.entry(&event.path).or_default().push((expected, event.kind == CallKind::Claim));
    }
    let was_held = |path: &str, at: u64| {
        let before = changes.get(path).map_or(&[][..], Vec::as_slice);
        before.iter().take_while(|(seq, _)| *seq <= at).last().is_some_and(|(_, is_held)| *is_held)
    };
    let mut answered = BTreeSet::new();
    let mut ends: Vec<(u64, u64)> = Vec::new();
    let mut calls: Vec<&Call> = history.iter().collect();
    calls.sort_by_key(|call| call.began);
    for call in &calls {
        match call.outcome {
            CallOutcome::Done(seq) => {
                ends.push((call.ended, seq));
                let event = usize::try_from(seq).ok().and_then(|seq| log.get(seq.checked_sub(1)?));
                let is_there = event.is_some_and(|event| {
                    (&event.by, event.kind, &event.path) == (&call.by, call.kind, &call.path)
                });
                if !is_there {
                    breaches.push(format!("acknowledged and not in the log: {call:?}"));
                }
                if !answered.insert(seq) {
                    breaches.push(format!("two answers for one event: {call:?}"));
                }
            }
            CallOutcome::Refused(seq) => {
                ends.push((call.ended, seq));
                if call.kind == CallKind::Claim && !was_held(&call.path, seq) {
                    breaches.push(format!("refused what was free: {call:?}"));
                }
            }
            CallOutcome::Unknown => {}
        }
    }
    ends.sort_unstable();
    let (mut latest, mut ended) = (0, ends.iter().peekable());
    for call in &calls {
        while let Some((_, seq)) = ended.next_if(|(at, _)| *at < call.began) {
            latest = latest.max(*seq);
        }
        let is_past = match call.outcome {
            CallOutcome::Done(seq) => seq <= latest,
            CallOutcome::Refused(seq) => seq < latest,
            CallOutcome::Unknown => false,
        };
        if is_past {
            breaches.push(format!("answered from before event {latest}: {call:?}"));
        }
    }
    breaches
}

/// What the search found for one path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchVerdict {
    Sound,
    Breach,
    /// The search was given up.
    TooLong,
}

/// Judges each path without the log.
pub fn judge_by_search(history: &[Call], max_steps: usize) -> BTreeMap<String, SearchVerdict> {
    let mut paths: BTreeMap<String, Vec<&Call>> = BTreeMap::new();
    for call in history {
        paths.entry(call.path.clone()).or_default().push(call);
    }
    paths.into_iter().map(|(path, calls)| (path, search(calls, max_steps))).collect()
}

/// The first call that is not placed, the calls beyond it that are, and who holds the lock.
type SearchFrontier<'c> = (usize, BTreeSet<usize>, Option<&'c str>);

/// Searches for an order that a lock could have shown.
fn search(mut calls: Vec<&Call>, max_steps: usize) -> SearchVerdict {
    calls.sort_by_key(|call| call.began);
    let end = |call: &Call| if call.outcome == CallOutcome::Unknown { u64::MAX } else { call.ended };
    let n_needed = calls.iter().filter(|call| end(call) < u64::MAX).count();
    let mut seen: HashSet<SearchFrontier<'_>> = HashSet::new();
    let mut stack: Vec<(SearchFrontier<'_>, usize)> = vec![((0, BTreeSet::new(), None), 0)];
    let mut n_steps = 0;
    while let Some(((low, beyond, holder), n_placed)) = stack.pop() {
        if n_placed == n_needed {
            return SearchVerdict::Sound;
        }
        n_steps += 1;
        if n_steps > max_steps {
            return SearchVerdict::TooLong;
        }
        let mut horizon = u64::MAX;
        let mut options = Vec::new();
        for (n, call) in calls.iter().enumerate().skip(low) {
            if call.began > horizon {
                break;
            }
            if !beyond.contains(&n) {
                options.push(n);
                horizon = horizon.min(end(call));
            }
        }
        for n in options.into_iter().rev().filter(|n| calls[*n].began <= horizon) {
            let Ok(after) = holder_after(holder, calls[n]) else { continue };
            let (mut low, mut beyond) = (low, beyond.clone());
            beyond.insert(n);
            while beyond.remove(&low) {
                low += 1;
            }
            let frontier = (low, beyond, after);
            if seen.insert(frontier.clone()) {
                stack.push((frontier, n_placed + usize::from(end(calls[n]) < u64::MAX)));
            }
        }
    }
    SearchVerdict::Breach
}

/// A lock with that holder does not answer a call in that way.
struct ImpossibleOutcome;

/// Returns who holds the lock after a call.
fn holder_after<'c>(holder: Option<&'c str>, call: &'c Call) -> Result<Option<&'c str>, ImpossibleOutcome> {
    let by = &*call.by;
    let (is_possible, after) = match (call.kind, call.outcome) {
        (CallKind::Claim, CallOutcome::Refused(_)) => (holder.is_some(), holder),
        (CallKind::Claim, _) => (holder.is_none(), Some(by)),
        (CallKind::Release, CallOutcome::Refused(_)) => (holder != Some(by), holder),
        (CallKind::Release, _) => (holder == Some(by), None),
    };
    if is_possible { Ok(after) } else { Err(ImpossibleOutcome) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sound history: processes in turn claim and release one path, and others are refused meanwhile.
    fn sound(n_rounds: u64) -> (Vec<Call>, Vec<ClaimEvent>) {
        let (mut history, mut log) = (Vec::new(), Vec::new());
        for round in 0..n_rounds {
            let by = format!("p{}", round % 3);
            let (claim, release, at) = (2 * round + 1, 2 * round + 2, round * 100);
            let call = |by: &str, kind, began: u64, ended: u64, outcome| Call {
                by: by.into(),
                kind,
                path: "a".into(),
                began,
                ended,
                outcome,
            };
            history.push(call(&by, CallKind::Claim, at, at + 20, CallOutcome::Done(claim)));
            history.push(call("q", CallKind::Claim, at + 30, at + 40, CallOutcome::Refused(claim)));
            history.push(call(&by, CallKind::Release, at + 50, at + 60, CallOutcome::Done(release)));
            for (seq, kind) in [(claim, CallKind::Claim), (release, CallKind::Release)] {
                log.push(ClaimEvent { seq, by: by.clone(), kind, path: "a".into(), token: claim });
            }
        }
        (history, log)
    }

    fn found(history: &[Call], log: &[ClaimEvent]) -> (bool, bool) {
        let search = judge_by_search(history, 100_000);
        (!judge_by_witness(history, log).is_empty(), search.values().any(|v| *v == SearchVerdict::Breach))
    }

    #[test]
    fn a_sound_history_passes_and_a_lost_call_may_have_happened_or_not() {
        let (history, log) = sound(30);
        assert_eq!(found(&history, &log), (false, false));
        let (mut lost, log) = sound(30);
        lost[6].outcome = CallOutcome::Unknown;
        assert_eq!(found(&lost, &log), (false, false));
        let never = Call { by: "z".into(), outcome: CallOutcome::Unknown, ..lost[3].clone() };
        lost.push(never);
        assert_eq!(found(&lost, &log), (false, false));
    }

    #[test]
    fn wrong_histories_are_found() {
        // Granted twice.
        let (mut history, mut log) = sound(9);
        history[4].outcome = CallOutcome::Done(4);
        log.insert(
            3,
            ClaimEvent { seq: 4, by: "q".into(), kind: CallKind::Claim, path: "a".into(), token: 4 },
        );
        (5..).zip(&mut log[4..]).for_each(|(seq, event)| event.seq = seq);
        assert_eq!(found(&history, &log), (true, true), "a double grant");
        // Acknowledged, and never written: only the log shows it.
        let (history, mut log) = sound(9);
        log.truncate(16);
        assert!(found(&history, &log).0, "a lost acknowledgement");
        // Refused although it was free, long after the release.
        let (mut history, log) = sound(9);
        history[1].outcome = CallOutcome::Refused(2);
        (history[1].began, history[1].ended) = (70, 80);
        assert_eq!(found(&history, &log), (true, true), "a refusal of what was free");
        // Answered from the past: a refusal as of an event that is known to be over.
        let (mut history, log) = sound(9);
        (history[1].began, history[1].ended) = (150, 155);
        assert!(found(&history, &log).0, "a stale refusal");
        // A release by somebody who does not hold it.
        let (mut history, mut log) = sound(9);
        (history[5].by, log[3].by) = ("q".into(), "q".into());
        log[3].token = 1;
        assert_eq!(found(&history, &log), (true, true), "a release of another's claim");
    }
}
