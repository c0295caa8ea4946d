//! What a team must know about its etcd before it trusts it: which team and cluster it is, versions, members, space and
//! rights.

use super::gateway::Gateway;
use super::layout::{foreign_probe, meta};
use super::log::{RANGE, TXN};
use super::wire::{
    AlarmAnswer, AlarmQuestion, Compare, EmptyQuestion, MemberListAnswer, RangeAnswer, RangeQuestion,
    StatusAnswer, TxnAnswer, TxnOperation, TxnQuestion,
};
use probity_core::json;
use probity_storage::StoreError;
use probity_workspace::clone_identity::random_name;
use serde::{Deserialize, Serialize};
use std::time::Instant;

const META_FORM: u32 = 1;
/// The first versions without known loss of data or of watch events, by minor version: older ones are refused.
const SAFE_VERSIONS: [(u32, u32, u32); 3] = [(3, 4, 31), (3, 5, 13), (3, 6, 0)];
/// The part of the usual quota of 2 GiB at which `doctor` warns.
const WARNED_BYTES: u64 = 1_400 * 1024 * 1024;

/// Which team uses a prefix.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TeamMeta {
    form: u32,
    team: String,
}

/// Names the store so that another one, or an old copy of it, is noticed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EtcdIdentity {
    pub team: String,
    pub cluster: String,
}

/// What one member says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EtcdMember {
    pub endpoint: String,
    pub state: EtcdMemberState,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EtcdMemberState {
    Answered { version: String, is_leader: bool, round_trip_ms: u64, bytes: u64 },
    Silent { why: String },
}

/// What an administrator should know, with the way out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EtcdWarning {
    pub what: String,
    pub next_step: &'static str,
}

/// Makes the team known under its prefix, or finds the one that is there.
pub(super) fn establish(gateway: &Gateway, namespace: &str) -> Result<EtcdIdentity, StoreError> {
    let key = meta(namespace);
    let fresh = TeamMeta { form: META_FORM, team: random_name() };
    let value = String::from_utf8_lossy(&json::canonical_of(&fresh)).into_owned();
    let question = TxnQuestion {
        compare: vec![Compare::absent(&*key)],
        success: vec![TxnOperation::put(&*key, value)],
        failure: Vec::new(),
    };
    let _: TxnAnswer = gateway.read(TXN, &question)?;
    identify(gateway, namespace)
}

/// Returns which team and cluster this is.
pub(super) fn identify(gateway: &Gateway, namespace: &str) -> Result<EtcdIdentity, StoreError> {
    let question = RangeQuestion { key: meta(namespace).into(), ..RangeQuestion::default() };
    let answer: RangeAnswer = gateway.read(RANGE, &question)?;
    let Some(found) = answer.kvs.first() else {
        let why = format!("nobody made a team under `/probity/{namespace}/`: `probity team init` makes it");
        return Err(gateway.unfit(why));
    };
    let meta: TeamMeta = serde_json::from_slice(&found.value.0)
        .map_err(|error| gateway.unfit(format!("`/probity/{namespace}/meta` is none of ours: {error}")))?;
    if meta.form != META_FORM {
        return Err(gateway.unfit("a newer version of Probity made this team".to_owned()));
    }
    Ok(EtcdIdentity { team: meta.team, cluster: answer.header.cluster_id })
}

/// Asks every member; refuses if a version is known to lose data.
pub(super) fn members(gateway: &Gateway) -> Result<Vec<EtcdMember>, StoreError> {
    let mut members = Vec::new();
    for (at, endpoint) in gateway.endpoints().iter().enumerate() {
        let began = Instant::now();
        let state = match gateway.member::<StatusAnswer>(at, "/v3/maintenance/status") {
            Ok(status) => {
                if let Some(why) = unsafe_version(&status.version) {
                    return Err(StoreError::Unfit { store: endpoint.clone(), why });
                }
                EtcdMemberState::Answered {
                    is_leader: !status.leader.is_empty() && status.leader == status.header.member_id,
                    version: status.version,
                    round_trip_ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
                    bytes: status.db_size.0,
                }
            }
            Err(StoreError::Unreachable { why, .. }) => EtcdMemberState::Silent { why },
            Err(error) => return Err(error),
        };
        members.push(EtcdMember { endpoint: endpoint.clone(), state });
    }
    Ok(members)
}

/// Returns what is not as it should be, although claims can be made.
pub(super) fn warnings(
    gateway: &Gateway,
    namespace: &str,
    has_user: bool,
    members: &[EtcdMember],
) -> Result<Vec<EtcdWarning>, StoreError> {
    let mut warnings = Vec::new();
    let mut warn = |what: String, next_step| warnings.push(EtcdWarning { what, next_step });
    for member in members {
        match &member.state {
            EtcdMemberState::Silent { why } => warn(
                format!("{} does not answer: {why}", member.endpoint),
                "start that member, or take it out of `endpoints`",
            ),
            EtcdMemberState::Answered { bytes, .. } if *bytes > WARNED_BYTES => warn(
                format!("{} has {} MiB", member.endpoint, bytes / (1024 * 1024)),
                "start the members with `--auto-compaction-retention=1h`, and defragment them",
            ),
            EtcdMemberState::Answered { .. } => {}
        }
    }
    let alarms: AlarmAnswer = gateway.read("/v3/maintenance/alarm", &AlarmQuestion { action: "GET" })?;
    for alarm in &alarms.alarms {
        warn(
            format!("a member raised the alarm {}", alarm.alarm),
            "have an administrator compact, defragment each member, then `etcdctl alarm disarm`",
        );
    }
    // The list of members is closed to users without rights on the whole store; then nothing is known about it.
    let listed = gateway.read::<MemberListAnswer>("/v3/cluster/member/list", &EmptyQuestion {});
    if listed.is_ok_and(|listed| listed.members.len() == 1) {
        warn("there is a single member: its disk is the only copy".into(), "run three members");
    }
    if has_user {
        let question = RangeQuestion { key: foreign_probe(namespace).into(), ..RangeQuestion::default() };
        if gateway.read::<RangeAnswer>(RANGE, &question).is_ok() {
            warn(
                format!("the team's user can read more than `/probity/{namespace}/`"),
                "give it a role for that prefix only",
            );
        }
    } else if gateway.endpoints().iter().any(|endpoint| endpoint.starts_with("https://")) {
        warn(
            "everyone who reaches the members can read and write all claims: rights are off".into(),
            "make a user for the prefix, switch on `etcdctl auth enable`, and name it in `[team] user`",
        );
    }
    Ok(warnings)
}

/// Returns why a version of etcd must not be used.
fn unsafe_version(version: &str) -> Option<String> {
    let mut numbers = version.split(['.', '-', '+']).map(|part| part.parse::<u32>().ok());
    let mut next = || numbers.next().flatten();
    let (Some(major), Some(minor), Some(patch)) = (next(), next(), next()) else {
        return Some(format!("its version `{version}` cannot be read"));
    };
    let safe = SAFE_VERSIONS.iter().rev().find(|safe| (safe.0, safe.1) <= (major, minor));
    let is_safe = safe.is_some_and(|safe| (major, minor) > (safe.0, safe.1) || patch >= safe.2);
    (!is_safe).then(|| {
        format!("etcd {version} is known to lose data or events: use 3.5.13 or later, or 3.4.31 or later")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_that_lose_data_are_refused() {
        for bad in ["3.3.27", "3.4.23", "3.5.0", "3.5.12", "2.3.8", "", "3.5"] {
            assert!(unsafe_version(bad).is_some(), "{bad}");
        }
        for good in ["3.4.31", "3.5.13", "3.5.30", "3.6.0", "3.6.1-rc.0", "3.7.0", "4.0.0"] {
            assert_eq!(unsafe_version(good), None, "{good}");
        }
    }
}
