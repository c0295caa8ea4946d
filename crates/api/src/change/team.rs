//! Answers of `probity team`.

use crate::document::Answer;
use probity_intents::IntentId;
use schemars::JsonSchema;
use serde::Serialize;

probity_core::word_enum! {
    /// What became of the membership of a clone.
    pub enum TeamChange {
        /// A team was made, and this clone is in it.
        Made = "made",
        /// This clone joined.
        Joined = "joined",
        /// This clone left.
        Left = "left",
    }
}

/// What became of the membership of this clone: the answer of `probity team init`, `join` and `leave`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct TeamChangeAnswer {
    pub change: TeamChange,
    /// The name of the repository in the team's store.
    pub repository: String,
    /// Where the team keeps its claims.
    pub remote: String,
    /// The branch that changes are for.
    pub line: Option<String>,
    pub next_step: String,
}

impl Answer for TeamChangeAnswer {
    const SCHEMA: &'static str = "probity/team-change/v1";
}

/// What landed: the answer of `probity team landed`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct TeamLandedAnswer {
    /// Finished changes whose work was found on a branch of the remote.
    pub landed: Vec<LandedChange>,
    /// Finished changes that still wait, and keep other trees off.
    pub waiting: Vec<WaitingChange>,
    pub next_step: String,
}

impl Answer for TeamLandedAnswer {
    const SCHEMA: &'static str = "probity/team-landed/v1";
}

/// A finished change whose work arrived on a branch of the remote.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct LandedChange {
    pub intent_id: IntentId,
    /// The name of its owner for people.
    pub agent: String,
    /// The commit that has the work.
    pub commit: String,
    /// The branch, without the name of the remote.
    pub branch: String,
}

/// A finished change whose work was not found on a branch of the remote yet.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct WaitingChange {
    pub intent_id: IntentId,
    /// The name of its owner for people.
    pub agent: String,
    /// The machine of its owner, as it calls itself.
    pub host: String,
    /// The branch that it is for.
    pub line: Option<String>,
    /// Whether it was made in this working tree.
    pub is_here: bool,
    /// For how long it still waits at most, in seconds.
    pub left_seconds: u64,
}

/// The team of this clone, and whether its store can be reached: the answer of `probity team status`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct TeamStatusAnswer {
    /// The team; null if this clone is in none.
    pub team: Option<TeamView>,
    pub next_step: String,
}

impl Answer for TeamStatusAnswer {
    const SCHEMA: &'static str = "probity/team-status/v1";
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct TeamView {
    /// The name of the repository in the team's store.
    pub repository: String,
    /// What the team keeps its claims in: `git` or `etcd`.
    pub store: &'static str,
    /// Where the team keeps its claims: the git remote, or the members of the etcd.
    pub remote: String,
    /// The branch that changes are for.
    pub line: Option<String>,
    /// Why the store could not be asked, and how old the shown state is; null if it answered.
    pub unreachable: Option<String>,
    /// The time that one question to the store took, in milliseconds.
    pub round_trip_ms: Option<u64>,
    /// The number of the last event in the log.
    pub head: u64,
    /// The number of open intents in all clones.
    pub n_open: usize,
    /// The number of open intents of this working tree.
    pub n_open_here: usize,
    /// The number of finished changes in all clones that wait for their landing.
    pub n_landing: usize,
    /// Releases that wait until the store can be reached.
    pub n_pending: usize,
    /// The members of the etcd; none for a git remote.
    pub members: Vec<TeamStoreMember>,
    /// What an administrator of the store should know.
    pub warnings: Vec<TeamWarning>,
    /// The clones of the team.
    pub clones: Vec<TeamClone>,
}

/// A member of the etcd that a team uses.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct TeamStoreMember {
    pub endpoint: String,
    /// Its version; null if it does not answer.
    pub version: Option<String>,
    pub is_leader: bool,
    /// The time that one question to it took, in milliseconds; null if it does not answer.
    pub round_trip_ms: Option<u64>,
    /// Why it does not answer.
    pub silent: Option<String>,
}

/// What is not as it should be with a store that still works.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct TeamWarning {
    pub what: String,
    pub next_step: String,
}

/// A clone that joined.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct TeamClone {
    /// Its random name.
    pub clone: String,
    /// The machine that it is on, as that machine calls itself.
    pub host: String,
    /// When it joined, or was first used after a boot, by the clock of that machine.
    pub since: String,
    /// Whether it is this clone.
    pub is_here: bool,
    /// The number of its open intents.
    pub n_open: usize,
    /// The number of entries of its own log (evidence, receipts, ledger) when it last wrote an event; null if it published none.
    pub n_log_entries: Option<u64>,
}

/// A contradiction in the log of a clone that was taken as known: the answer of `probity team accept-log`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct TeamLogAcceptedAnswer {
    /// The random name of the clone.
    pub clone: String,
    /// What its log showed.
    pub accepted: String,
    pub why: String,
}

impl Answer for TeamLogAcceptedAnswer {
    const SCHEMA: &'static str = "probity/team-log-accepted/v1";
}
