//! Ownership of an intent: who holds it, and what a reader may conclude about its owner.
//!
//! [`ownership`] is pure: the clock and the process probe are arguments. A process proves death only to a reader of the
//! same session: host names are copied with images, and a boot says nothing about another machine.

use probity_core::Digest;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A point in time, in whole seconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Timestamp(pub u64);

impl Timestamp {
    #[must_use]
    pub const fn plus_seconds(self, seconds: u64) -> Self {
        Self(self.0.saturating_add(seconds))
    }
}

/// The holder of an intent: a process on a host, and a token that proves ownership across processes.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct IntentOwner {
    /// The host name.
    pub host: String,
    /// Identifies the host's current boot, if known.
    pub boot_id: Option<String>,
    /// The process id.
    pub pid: u32,
    /// When the process started, in the host's own unit.
    pub pid_start: Option<u64>,
    /// The session of the clone that the owner works in: a random name, made at the first use after a boot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The owner's secret. Several agents in one process have different tokens.
    pub token: Option<String>,
    /// The agent's name for people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub label: String,
}

/// Returns the digest of an owner's handle: the only form of the secret that may reach a log.
pub fn handle_digest(secret: &str) -> String {
    Digest::of(format!("probity/owner/v1\0{secret}").as_bytes()).to_string()
}

impl IntentOwner {
    /// Returns true if `reader` is this owner: same token, or same process if the owner has no token.
    pub fn is_same_owner(&self, reader: &Self) -> bool {
        match &self.token {
            Some(token) => reader.token.as_ref() == Some(token),
            None => self.process() == reader.process(),
        }
    }

    fn process(&self) -> (&str, Option<&str>, u32, Option<u64>) {
        (&self.host, self.boot_id.as_deref(), self.pid, self.pid_start)
    }
}

/// Proof of life for a limited time, renewed by use.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Lease {
    /// When it was last renewed.
    pub renewed_at: Timestamp,
    /// How long it lasts from then on.
    pub seconds: u64,
}

impl Lease {
    pub fn is_fresh(&self, now: Timestamp) -> bool {
        self.ends_at() > now
    }

    /// Returns the first moment at which the lease has lapsed.
    pub fn ends_at(&self) -> Timestamp {
        self.renewed_at.plus_seconds(self.seconds)
    }
}

/// What the reader's host knows about a pid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessProbe {
    pub exists: bool,
    /// When that process started, if known.
    pub pid_start: Option<u64>,
}

/// How an intent relates to a reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Ownership {
    /// The reader's own, with a fresh lease.
    OwnActive,
    /// The reader's own, with a lapsed lease.
    OwnStale,
    /// Another owner's, with a fresh lease.
    ForeignActive,
    /// Another owner's with a lapsed lease, but nothing proves that the owner is dead.
    ForeignStale,
    /// Another owner's, who is dead: the intent may be recovered.
    Recoverable,
    /// Past its lifetime, also for its owner.
    Expired,
}

impl Ownership {
    /// Returns true if another owner holds the intent and may return at any moment.
    pub const fn is_foreign(self) -> bool {
        matches!(self, Self::ForeignActive | Self::ForeignStale)
    }

    pub const fn is_own(self) -> bool {
        matches!(self, Self::OwnActive | Self::OwnStale)
    }
}

/// The facts about an intent that decide its ownership.
#[derive(Debug, Clone, Copy)]
pub struct OwnershipFacts<'a> {
    pub owner: &'a IntentOwner,
    pub lease: Lease,
    /// When the intent ends, regardless of its owner.
    pub expires_at: Option<Timestamp>,
    /// Whether the reader's machine knows that the owner's session is over.
    pub has_session_ended: bool,
}

/// Decides how an intent relates to `reader` at `now`. `probe` is what this host knows about the recorded
/// pid; `None` if it could not be checked.
pub fn ownership(
    held: OwnershipFacts<'_>,
    reader: &IntentOwner,
    now: Timestamp,
    probe: Option<ProcessProbe>,
) -> Ownership {
    let fresh = held.lease.is_fresh(now);
    if held.expires_at.is_none_or(|end| end <= now) {
        Ownership::Expired
    } else if held.owner.is_same_owner(reader) {
        if fresh { Ownership::OwnActive } else { Ownership::OwnStale }
    } else if held.has_session_ended || is_dead(held.owner, reader, probe) {
        Ownership::Recoverable
    } else if fresh {
        Ownership::ForeignActive
    } else {
        Ownership::ForeignStale
    }
}

/// Returns true if the reader's host proves that `owner` is gone. Without proof an owner counts as alive.
fn is_dead(owner: &IntentOwner, reader: &IntentOwner, probe: Option<ProcessProbe>) -> bool {
    let differ = |a: Option<u64>, b: Option<u64>| a.is_some() && b.is_some() && a != b;
    let is_gone = probe.is_some_and(|probe| !probe.exists || differ(owner.pid_start, probe.pid_start));
    match (&owner.session, &reader.session) {
        (Some(owner_session), Some(own_session)) => {
            owner.host == reader.host && owner_session == own_session && is_gone
        }
        // Owners without a session are of one machine and of a version that knew no other.
        (None, None) => {
            let rebooted =
                owner.boot_id.is_some() && reader.boot_id.is_some() && owner.boot_id != reader.boot_id;
            owner.host == reader.host && (rebooted || is_gone)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owner(token: Option<&str>) -> IntentOwner {
        IntentOwner { host: "h".into(), pid: 7, token: token.map(Into::into), ..IntentOwner::default() }
    }

    #[test]
    fn a_token_outweighs_the_process() {
        assert!(owner(Some("a")).is_same_owner(&IntentOwner { pid: 8, ..owner(Some("a")) }));
        assert!(!owner(Some("a")).is_same_owner(&owner(Some("b"))));
        assert!(!owner(Some("a")).is_same_owner(&owner(None)));
    }

    #[test]
    fn without_a_token_the_process_is_the_owner() {
        assert!(owner(None).is_same_owner(&owner(Some("a"))));
        assert!(!owner(None).is_same_owner(&IntentOwner { pid: 8, ..owner(None) }));
    }

    #[test]
    fn only_a_reader_of_the_same_session_can_prove_a_death() {
        let of = |session: Option<&str>, boot: &str| IntentOwner {
            session: session.map(Into::into),
            boot_id: Some(boot.into()),
            ..owner(Some("a"))
        };
        let gone = Some(ProcessProbe { exists: false, pid_start: None });
        assert!(is_dead(&of(Some("s"), "b"), &of(Some("s"), "b"), gone));
        for (theirs, own) in [(Some("s"), Some("t")), (Some("s"), None), (None, Some("s"))] {
            assert!(!is_dead(&of(theirs, "b"), &of(own, "b"), gone), "{theirs:?} {own:?}");
            assert!(!is_dead(&of(theirs, "b"), &of(own, "another"), None), "{theirs:?} {own:?}");
        }
        assert!(!is_dead(&of(Some("s"), "b"), &of(Some("s"), "another"), None), "a boot proves nothing");
    }

    #[test]
    fn a_lease_that_never_ends_does_not_overflow() {
        assert!(Lease { renewed_at: Timestamp(5), seconds: u64::MAX }.is_fresh(Timestamp(u64::MAX - 1)));
    }
}
