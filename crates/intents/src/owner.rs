//! Who holds an intent, and what a reader may conclude about it.
//!
//! [`ownership`] is a pure judgement: the clock and the look at the process table are arguments. A process of
//! another host is never judged by its pid.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A point in time, in whole seconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Timestamp(pub u64);

impl Timestamp {
    /// The time `seconds` later.
    #[must_use]
    pub const fn plus(self, seconds: u64) -> Self {
        Self(self.0.saturating_add(seconds))
    }
}

/// Who holds an intent: a process of a host, and the token that proves it across processes.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Owner {
    /// The host.
    pub host: String,
    /// The boot of that host, where known.
    pub boot_id: Option<String>,
    /// The process.
    pub pid: u32,
    /// When that process started, in the unit of its host.
    pub pid_start: Option<u64>,
    /// The secret of the owner. Several agents in one process have different tokens.
    pub token: Option<String>,
    /// What people call the agent.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub label: String,
}

impl Owner {
    /// Whether `reader` is the owner `self`: the same token, or the same process if the owner has no token.
    pub fn is(&self, reader: &Self) -> bool {
        match &self.token {
            Some(token) => reader.token.as_ref() == Some(token),
            None => self.process() == reader.process(),
        }
    }

    fn process(&self) -> (&str, Option<&str>, u32, Option<u64>) {
        (&self.host, self.boot_id.as_deref(), self.pid, self.pid_start)
    }
}

/// A promise to be alive, renewed by use.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Lease {
    /// When it was last renewed.
    pub renewed_at: Timestamp,
    /// For how long.
    pub seconds: u64,
}

impl Lease {
    /// Whether the lease still runs.
    pub fn is_fresh(&self, now: Timestamp) -> bool {
        self.ends_at() > now
    }

    /// The first moment at which it no longer runs.
    pub fn ends_at(&self) -> Timestamp {
        self.renewed_at.plus(self.seconds)
    }
}

/// What the reader's host says about a pid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Probe {
    /// Whether a process with that pid exists.
    pub exists: bool,
    /// When that process started, where known.
    pub pid_start: Option<u64>,
}

/// What an intent is to a reader: their own, another agent's, or nobody's any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Ownership {
    /// The reader's own, with a fresh lease.
    OwnActive,
    /// The reader's own; the lease lapsed.
    OwnStale,
    /// Another's, with a fresh lease.
    ForeignActive,
    /// Another's; the lease lapsed, but nothing says that the owner is dead.
    ForeignStale,
    /// Another's, who is dead: the intent may be recovered.
    Recoverable,
    /// Its life time is over, for its owner too.
    Expired,
}

impl Ownership {
    /// Whether another owner stands behind it who may come back any moment.
    pub const fn is_foreign(self) -> bool {
        matches!(self, Self::ForeignActive | Self::ForeignStale)
    }

    /// Whether it is the reader's own.
    pub const fn is_own(self) -> bool {
        matches!(self, Self::OwnActive | Self::OwnStale)
    }
}

/// What of an intent decides its ownership.
#[derive(Debug, Clone, Copy)]
pub struct Held<'a> {
    /// The owner on record.
    pub owner: &'a Owner,
    /// The owner's lease.
    pub lease: Lease,
    /// When the intent ends, whatever its owner does.
    pub expires_at: Option<Timestamp>,
}

/// Judges what an intent is to `reader` at `now`. `probe` is what this host says about the recorded pid; `None` if
/// it could not be asked.
pub fn ownership(held: Held<'_>, reader: &Owner, now: Timestamp, probe: Option<Probe>) -> Ownership {
    let fresh = held.lease.is_fresh(now);
    if held.expires_at.is_none_or(|end| end <= now) {
        Ownership::Expired
    } else if held.owner.is(reader) {
        if fresh { Ownership::OwnActive } else { Ownership::OwnStale }
    } else if is_dead(held.owner, reader, probe) {
        Ownership::Recoverable
    } else if fresh {
        Ownership::ForeignActive
    } else {
        Ownership::ForeignStale
    }
}

/// Whether the reader's host proves that `owner` is gone. What it cannot know counts as alive.
fn is_dead(owner: &Owner, reader: &Owner, probe: Option<Probe>) -> bool {
    let differ = |a: Option<u64>, b: Option<u64>| a.is_some() && b.is_some() && a != b;
    let rebooted = owner.boot_id.is_some() && reader.boot_id.is_some() && owner.boot_id != reader.boot_id;
    owner.host == reader.host
        && (rebooted || probe.is_some_and(|probe| !probe.exists || differ(owner.pid_start, probe.pid_start)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owner(token: Option<&str>) -> Owner {
        Owner { host: "h".into(), pid: 7, token: token.map(Into::into), ..Owner::default() }
    }

    #[test]
    fn a_token_outweighs_the_process() {
        assert!(owner(Some("a")).is(&Owner { pid: 8, ..owner(Some("a")) }));
        assert!(!owner(Some("a")).is(&owner(Some("b"))));
        assert!(!owner(Some("a")).is(&owner(None)));
    }

    #[test]
    fn without_a_token_the_process_is_the_owner() {
        assert!(owner(None).is(&owner(Some("a"))));
        assert!(!owner(None).is(&Owner { pid: 8, ..owner(None) }));
    }

    #[test]
    fn a_lease_that_never_ends_does_not_overflow() {
        assert!(Lease { renewed_at: Timestamp(5), seconds: u64::MAX }.is_fresh(Timestamp(u64::MAX - 1)));
    }
}
