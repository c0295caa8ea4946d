//! The words of a verdict: status, reasons, and what to do about them. They are promises; they never change.

use serde::{Deserialize, Serialize};

/// The verdict in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ContractStatus {
    /// Nothing got worse.
    Accepted,
    /// Nothing in scope got worse; something outside did.
    AcceptedWithExternalChanges,
    /// The patch breaks the contract.
    Violated,
    /// There is not enough to judge by.
    Unverified,
    /// The ground on which the intent was declared is gone.
    Expired,
}

impl ContractStatus {
    /// Whether the patch is accepted, with or without changes of others.
    pub const fn is_accepted(self) -> bool {
        matches!(self, Self::Accepted | Self::AcceptedWithExternalChanges)
    }

    /// The stable word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::AcceptedWithExternalChanges => "accepted_with_external_changes",
            Self::Violated => "violated",
            Self::Unverified => "unverified",
            Self::Expired => "expired",
        }
    }

    /// The exit code of the command line.
    pub const fn exit_code(self) -> u8 {
        match self {
            Self::Accepted | Self::AcceptedWithExternalChanges => 0,
            Self::Violated => 1,
            Self::Unverified => 3,
            Self::Expired => 4,
        }
    }

    /// Whether there is no verdict at all.
    pub const fn is_open(self) -> bool {
        matches!(self, Self::Unverified | Self::Expired)
    }
}

/// A sign that the baseline was moved to hide something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BaselineTrigger {
    /// It changed together with source code.
    BaselineChangedWithFunctionalCode,
    /// It changed while there are regressions, whosever they are.
    BaselineUpdatedWhileRegressionsPresent,
    /// It changed and nobody declared anything.
    BaselineUpdatedWithoutIntent,
    /// It changed and a failing gate passes.
    CiGreenedByAcceptingDebt,
}

impl BaselineTrigger {
    pub(crate) const ALL: [Self; 4] = [
        Self::BaselineChangedWithFunctionalCode,
        Self::BaselineUpdatedWhileRegressionsPresent,
        Self::BaselineUpdatedWithoutIntent,
        Self::CiGreenedByAcceptingDebt,
    ];

    /// The stable word.
    pub const fn code(self) -> &'static str {
        match self {
            Self::BaselineChangedWithFunctionalCode => "baseline_changed_with_functional_code",
            Self::BaselineUpdatedWhileRegressionsPresent => "baseline_updated_while_regressions_present",
            Self::BaselineUpdatedWithoutIntent => "baseline_updated_without_intent",
            Self::CiGreenedByAcceptingDebt => "ci_greened_by_accepting_debt",
        }
    }
}

/// Why the status is what it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the words of the contract; `next_step` says what to do")]
pub enum ContractReason {
    IntentNotActive,
    StateArtifactMutation,
    ReportDigestMismatch,
    NoBeforeRun,
    NoAfterRun,
    AfterRunRequiredForGovernance,
    AfterRunNotNew,
    AfterRunStale,
    IncomparableRuns,
    StructuralRegressions,
    GateFailures,
    ScopeViolation,
    BaselineAbuse(BaselineTrigger),
}

impl ContractReason {
    const PLAIN: [Self; 12] = [
        Self::IntentNotActive,
        Self::StateArtifactMutation,
        Self::ReportDigestMismatch,
        Self::NoBeforeRun,
        Self::NoAfterRun,
        Self::AfterRunRequiredForGovernance,
        Self::AfterRunNotNew,
        Self::AfterRunStale,
        Self::IncomparableRuns,
        Self::StructuralRegressions,
        Self::GateFailures,
        Self::ScopeViolation,
    ];

    /// What to do about it.
    pub const fn next_step(self) -> &'static str {
        match self {
            Self::IntentNotActive => "promote the intent, then verify again",
            Self::StateArtifactMutation => "undo the change to the baseline or to Probity's own state",
            Self::ReportDigestMismatch => "analyze the tree, then start a new intent on that run",
            Self::NoBeforeRun => {
                "name the run that the change started from with `--before`, or a commit with `--base`"
            }
            Self::NoAfterRun => "analyze the tree after the change and name that run",
            Self::AfterRunRequiredForGovernance => {
                "analyze after the change: configuration can change every result"
            }
            Self::AfterRunNotNew => "analyze again after the edit: both names mean the same run",
            Self::AfterRunStale => "analyze again: the tree changed after the run that was named",
            Self::IncomparableRuns => "analyze both trees with the same settings and version",
            Self::StructuralRegressions => {
                "fix the new findings; if the team accepts them, raise `severity_floor` in the base branch's policy"
            }
            Self::GateFailures => "fix what makes the gate fail",
            Self::ScopeViolation => {
                "revert what was not declared, or declare it: with `--allow`, or `probity amend` for an intent"
            }
            Self::BaselineAbuse(_) => {
                "move the baseline in a change of its own, with an intent and no regressions"
            }
        }
    }
}

impl std::fmt::Display for ContractReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::IntentNotActive => "intent_not_active",
            Self::StateArtifactMutation => "state_artifact_mutation",
            Self::ReportDigestMismatch => "report_digest_mismatch",
            Self::NoBeforeRun => "no_before_run",
            Self::NoAfterRun => "no_after_run",
            Self::AfterRunRequiredForGovernance => "after_run_required_for_governance",
            Self::AfterRunNotNew => "after_run_not_new",
            Self::AfterRunStale => "after_run_stale",
            Self::IncomparableRuns => "incomparable_runs",
            Self::StructuralRegressions => "structural_regressions",
            Self::GateFailures => "gate_failures",
            Self::ScopeViolation => "scope_violation",
            Self::BaselineAbuse(trigger) => return write!(f, "baseline_abuse:{}", trigger.code()),
        })
    }
}

/// A word that is no reason of the contract.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no reason of the contract")]
pub struct UnknownReason(String);

impl std::str::FromStr for ContractReason {
    type Err = UnknownReason;

    fn from_str(word: &str) -> Result<Self, UnknownReason> {
        let abuse = BaselineTrigger::ALL.map(Self::BaselineAbuse);
        Self::PLAIN
            .into_iter()
            .chain(abuse)
            .find(|reason| reason.to_string() == word)
            .ok_or_else(|| UnknownReason(word.to_owned()))
    }
}

impl Serialize for ContractReason {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ContractReason {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_reads_back() {
        let abuse = BaselineTrigger::ALL.map(ContractReason::BaselineAbuse);
        for reason in ContractReason::PLAIN.into_iter().chain(abuse) {
            assert_eq!(reason.to_string().parse(), Ok(reason));
        }
    }
}
