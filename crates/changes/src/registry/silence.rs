//! Remembers for a moment that a shared store did not answer: a command that opens the registry several times waits for a
//! silent store once.

use super::IntentService;
use probity_storage::StoreError;
use probity_workspace::ServiceError;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

const SILENCE_TTL: Duration = Duration::from_secs(10);

struct SilentStore {
    database: PathBuf,
    since: Instant,
    store: String,
    why: String,
}

static LAST_SILENCE: Mutex<Option<SilentStore>> = Mutex::new(None);

impl IntentService {
    /// Reads the registry, unless its shared store was silent a moment ago.
    pub(super) fn catch_up_unless_silent(&mut self) -> Result<(), ServiceError> {
        self.unless_silent(Self::catch_up_from_cache)
    }

    /// Asks the store, and notes if it is silent.
    pub(super) fn unless_silent(
        &mut self,
        ask: impl FnOnce(&mut Self) -> Result<(), ServiceError>,
    ) -> Result<(), ServiceError> {
        if !self.is_shared {
            return ask(self);
        }
        let last = || LAST_SILENCE.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(silent) = &*last()
            && silent.database == self.database
            && silent.since.elapsed() < SILENCE_TTL
        {
            let (store, why) = (silent.store.clone(), silent.why.clone());
            return Err(StoreError::Unreachable { store, why }.into());
        }
        let asked = ask(self);
        *last() = match &asked {
            Err(ServiceError::Store(StoreError::Unreachable { store, why })) => Some(SilentStore {
                database: self.database.clone(),
                since: Instant::now(),
                store: store.clone(),
                why: why.clone(),
            }),
            _ => None,
        };
        asked
    }
}
