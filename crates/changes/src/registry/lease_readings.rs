//! What the leases and lives of a shared store were a moment ago, so that one command asks for them once.
//!
//! A reading counts for the same end of the log and for less than a second. The renewal of a life appends an
//! event, so a decision from an older reading would lose the comparison of its append.

use probity_intents::IntentId;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

const READING_TTL: Duration = Duration::from_secs(1);

/// The leases, and the lives if the store has any, by owner with the seconds left.
type Readings = (BTreeMap<String, u64>, Option<BTreeMap<String, u64>>);
/// A boot, and the time since then.
type Uptime = (String, Duration);

#[derive(Debug, Default)]
pub(super) struct LeaseReadings(Mutex<Option<LeaseReading>>);

#[derive(Debug)]
struct LeaseReading {
    head: u64,
    at: Uptime,
    found: Readings,
}

/// The life and the lease that an appended event gave.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct BegunLife {
    pub(super) intent_id: IntentId,
    pub(super) life: u64,
    pub(super) lease: u64,
}

impl LeaseReadings {
    fn kept(&self) -> MutexGuard<'_, Option<LeaseReading>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn known(&self, head: u64, now: &Uptime) -> Option<Readings> {
        let kept = self.kept();
        let reading = kept.as_ref().filter(|reading| reading.head == head && reading.at.0 == now.0)?;
        let age = now.1.checked_sub(reading.at.1)?;
        (age < READING_TTL).then(|| reading.found.clone())
    }

    pub(super) fn keep(&self, head: u64, at: Uptime, found: Readings) {
        *self.kept() = Some(LeaseReading { head, at, found });
    }

    pub(super) fn forget(&self) {
        *self.kept() = None;
    }

    /// Continues a reading when this process appended the event after `head`.
    pub(super) fn go_on(&self, head: u64, begun: Option<BegunLife>) {
        let mut kept = self.kept();
        let Some(reading) = kept.as_mut().filter(|reading| reading.head == head) else { return };
        reading.head += 1;
        if let Some(BegunLife { intent_id, life, lease }) = begun {
            reading.found.0.insert(intent_id.as_str().to_owned(), lease);
            if let Some(lives) = &mut reading.found.1 {
                lives.insert(intent_id.as_str().to_owned(), life);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Uptime {
        ("boot".into(), Duration::from_secs(seconds))
    }

    #[test]
    fn a_reading_counts_for_its_end_of_the_log_boot_and_moment() {
        let readings = LeaseReadings::default();
        let found: Readings = (BTreeMap::from([("i".to_owned(), 5)]), None);
        readings.keep(7, at(100), found.clone());
        assert_eq!(readings.known(7, &at(100)), Some(found));
        assert_eq!(readings.known(8, &at(100)), None);
        assert_eq!(readings.known(7, &at(101)), None, "too old");
        assert_eq!(readings.known(7, &at(99)), None, "the machine was resumed from an older image");
        assert_eq!(readings.known(7, &("other".into(), at(100).1)), None);
        readings.forget();
        assert_eq!(readings.known(7, &at(100)), None);
    }

    #[test]
    fn an_own_event_adds_what_it_gave() {
        let readings = LeaseReadings::default();
        readings.keep(7, at(1), (BTreeMap::new(), Some(BTreeMap::new())));
        let intent_id = IntentId::parse("i-1").expect("an id");
        readings.go_on(7, Some(BegunLife { intent_id, life: 60, lease: 5 }));
        let one = |seconds| BTreeMap::from([("i-1".to_owned(), seconds)]);
        assert_eq!(readings.known(8, &at(1)), Some((one(5), Some(one(60)))));
        readings.go_on(7, None);
        assert!(readings.known(8, &at(1)).is_some(), "an event of another place changes nothing");
    }
}
