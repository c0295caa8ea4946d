//! Names this clone and its sessions: random names, because paths, host names and boots are copied with images.
//!
//! The file `identity` in the state directory keeps the name of the clone with the place of that directory, and the name
//! of the session with the boot it was made in. A copy of the directory has another place and gets a new name; after a
//! boot there is a new session, and the one before has ended on this machine.

use crate::StateDirectory;
use probity_core::json;
use probity_storage::{FileLock, StoreError, boot, durable};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt;

pub const IDENTITY_FILE: &str = "identity";

/// Held while the identity is made or brought up to date.
pub const IDENTITY_LOCK: &str = "identity.lock";

/// How many ended sessions are remembered: one a boot.
const MAX_ENDED_SESSIONS: usize = 64;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CloneIdentity {
    /// The random name of the clone.
    pub clone: String,
    /// Device and inode of the state directory.
    place: (u64, u64),
    /// The random name of the session.
    pub session: String,
    /// The boot in which the session was made.
    boot: String,
    /// The last sessions that ended on this machine, oldest first.
    ended: Vec<String>,
}

impl CloneIdentity {
    /// Returns the identity of the clone with this state, and makes one if there is none.
    pub fn of(state: &StateDirectory) -> Result<Self, StoreError> {
        let path = state.dir().join(IDENTITY_FILE);
        durable::create_dir(state.dir())?;
        let facts = state.dir().metadata().map_err(StoreError::io_error(state.dir()))?;
        let place = (facts.dev(), facts.ino());
        let read =
            || Ok::<_, StoreError>(durable::read_settings(&path)?.and_then(|bytes| Self::parse(&bytes)));
        let is_current = |known: &Self| *known == known.at(place, boot::boot_id());
        if let Some(known) = read()?.filter(is_current) {
            return Ok(known);
        }
        // One process at a time: a second one would replace the name that the first already uses.
        let _turn = FileLock::take(&state.dir().join(IDENTITY_LOCK))?;
        let known = read()?;
        if let Some(known) = known.clone().filter(is_current) {
            return Ok(known);
        }
        let current = known.map_or_else(|| Self::new(place), |known| known.at(place, boot::boot_id()));
        durable::write(&path, &json::canonical_of(&current))?;
        Ok(current)
    }

    /// Returns the identity that a command finds at `place` in `boot`.
    fn at(&self, place: (u64, u64), boot: &str) -> Self {
        if self.place != place {
            // A copy. The sessions of the original may be running elsewhere.
            return Self::new(place);
        }
        if self.boot == boot {
            return self.clone();
        }
        let mut ended = self.ended.clone();
        ended.push(self.session.clone());
        ended.drain(..ended.len().saturating_sub(MAX_ENDED_SESSIONS));
        Self { session: random_name(), boot: boot.to_owned(), ended, ..self.clone() }
    }

    fn new(place: (u64, u64)) -> Self {
        Self {
            clone: random_name(),
            place,
            session: random_name(),
            boot: boot::boot_id().to_owned(),
            ended: Vec::new(),
        }
    }

    /// Gives the clone a new name, because another machine uses this one.
    pub fn renamed(&self, state: &StateDirectory) -> Result<Self, StoreError> {
        let renamed = Self::new(self.place);
        durable::write(&state.dir().join(IDENTITY_FILE), &json::canonical_of(&renamed))?;
        Ok(renamed)
    }

    pub fn ended_sessions(&self) -> BTreeSet<String> {
        self.ended.iter().cloned().collect()
    }

    pub fn parse(bytes: &[u8]) -> Option<Self> {
        serde_json::from_value(json::parse(bytes).ok()?).ok()
    }
}

/// Makes a name that nobody else has.
pub fn random_name() -> String {
    uuid::Uuid::new_v4().simple().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clone_keeps_its_name_and_a_copy_gets_its_own() {
        let dir = tempfile::tempdir().expect("a directory");
        let (one, copy) = (dir.path().join("one"), dir.path().join("copy"));
        let state = StateDirectory::at(one.clone());
        let first = CloneIdentity::of(&state).expect("is made");
        assert_eq!(CloneIdentity::of(&state).expect("is read"), first);
        std::fs::create_dir(&copy).expect("creates");
        std::fs::copy(one.join(IDENTITY_FILE), copy.join(IDENTITY_FILE)).expect("copies");
        let copied = CloneIdentity::of(&StateDirectory::at(copy)).expect("is made");
        assert_ne!((&copied.clone, &copied.session), (&first.clone, &first.session));
        assert_eq!(copied.ended_sessions(), BTreeSet::new(), "the original may be alive");
    }

    #[test]
    fn those_who_come_at_once_get_one_name() {
        let dir = tempfile::tempdir().expect("a directory");
        let first_look = std::sync::Barrier::new(8);
        let of = || {
            first_look.wait();
            CloneIdentity::of(&StateDirectory::at(dir.path().join("state"))).expect("is made").clone
        };
        let names: BTreeSet<String> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(of)).collect();
            threads.into_iter().map(|thread| thread.join().expect("ends")).collect()
        });
        assert_eq!(names.len(), 1, "{names:?}");
    }

    #[test]
    fn a_boot_ends_the_session_and_nothing_else() {
        let first = CloneIdentity::new((1, 2));
        let next = first.at((1, 2), "another boot");
        assert_eq!((&next.clone, next.place), (&first.clone, first.place));
        assert_ne!(next.session, first.session);
        assert_eq!(next.ended_sessions(), BTreeSet::from([first.session.clone()]));
        let mut last = first;
        for n in 0..100 {
            last = last.at((1, 2), &format!("boot {n}"));
        }
        assert_eq!(last.ended.len(), MAX_ENDED_SESSIONS);
    }
}
