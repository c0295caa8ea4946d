//! What this machine has seen of the intents in a shared store without a clock.
//!
//! No clocks are compared. A reader notes, by its own time since boot, when it first saw the last event of an intent and the
//! event that gave it its life. The owner is silent for this reader when nothing new came for the length of the lease,
//! and the life is over when the reader watched for all of it. That is late, and never wrong: who looks for the first
//! time, or after a boot, begins with the whole time.

use probity_core::json;
use probity_intents::IntentId;
use probity_intents::registry::{EventSeq, Intent, IntentRegistry};
use probity_storage::durable;
use probity_workspace::ServiceError;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

#[derive(Debug, Default)]
pub(super) struct IntentObservations {
    noted: Mutex<NotedIntents>,
    /// Where the notes are kept for later commands; `None` in simulations.
    path: Option<PathBuf>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct NotedIntents {
    /// The boot that the times count from.
    boot: String,
    intents: BTreeMap<IntentId, NotedIntent>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct NotedIntent {
    last_event: EventSeq,
    seen_at_ms: u64,
    life_event: EventSeq,
    life_seen_at_ms: u64,
}

/// How long leases and lives still last, in seconds, for this reader.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ObservedTimes {
    pub(super) leases: BTreeMap<IntentId, u64>,
    pub(super) lives: BTreeMap<IntentId, u64>,
}

impl IntentObservations {
    /// Keeps the notes in a file, and begins with those that are there.
    pub(super) fn keep_in(&mut self, path: PathBuf) {
        let read = durable::read(&path).ok().flatten().and_then(|bytes| json::parse(&bytes).ok());
        let noted = read.and_then(|value| serde_json::from_value(value).ok()).unwrap_or_default();
        self.noted = Mutex::new(noted);
        self.path = Some(path);
    }

    /// Notes what is new in the registry, and returns how long each open intent still has.
    pub(super) fn observe(
        &self,
        registry: &IntentRegistry,
        (boot, since_boot): (String, Duration),
    ) -> Result<ObservedTimes, ServiceError> {
        let now_ms = u64::try_from(since_boot.as_millis()).unwrap_or(u64::MAX);
        let mut noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        let before = noted.clone();
        if noted.boot != boot {
            *noted = NotedIntents { boot, intents: BTreeMap::new() };
        }
        noted.intents.retain(|id, _| registry.intent(id).is_some_and(|intent| !intent.status.is_closed()));
        let mut times = ObservedTimes { leases: BTreeMap::new(), lives: BTreeMap::new() };
        for intent in registry.open_intents() {
            let note = noted.note(intent, now_ms);
            let left = |seconds: u64, since_ms: u64| {
                let left_ms = seconds.saturating_mul(1_000).saturating_sub(now_ms.saturating_sub(since_ms));
                Some(left_ms.div_ceil(1_000)).filter(|left| *left > 0)
            };
            times
                .leases
                .extend(left(intent.lease.seconds, note.seen_at_ms).map(|left| (intent.id.clone(), left)));
            times.lives.extend(
                left(intent.life.seconds, note.life_seen_at_ms).map(|left| (intent.id.clone(), left)),
            );
        }
        if let Some(path) = self.path.as_ref().filter(|_| *noted != before) {
            durable::write_unsynced(path, &json::canonical_of(&*noted))?;
        }
        Ok(times)
    }
}

impl NotedIntents {
    fn note(&mut self, intent: &Intent, now_ms: u64) -> NotedIntent {
        let last_event = intent.history.last().copied().unwrap_or(EventSeq(0));
        let fresh = || NotedIntent {
            last_event,
            seen_at_ms: now_ms,
            life_event: intent.life.since,
            life_seen_at_ms: now_ms,
        };
        let note = self.intents.entry(intent.id.clone()).or_insert_with(fresh);
        if note.last_event != last_event {
            (note.last_event, note.seen_at_ms) = (last_event, now_ms);
        }
        if note.life_event != intent.life.since {
            (note.life_event, note.life_seen_at_ms) = (intent.life.since, now_ms);
        }
        note.clone()
    }
}
