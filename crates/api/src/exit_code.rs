//! Exit codes of the command line, the same for every command.

use probity_contract::ContractStatus;
use probity_contract::claims::ClaimVerdict;
use probity_intents::registry::CommandRefusal;
use probity_intents::start::StartStatus;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ExitCode {
    Ok,
    /// The verdict fails: a violation, or a run that did not pass.
    Failed,
    /// Refused, blocked, or used wrongly. Nothing was done.
    Refused,
    /// There is no verdict.
    Unverified,
    /// The intent, or the analysis it started from, has expired.
    Expired,
    /// Held by another agent, or with undecided conflicts.
    Conflict,
    /// The machine failed, not the user.
    Internal,
}

impl ExitCode {
    pub const ALL: [Self; 7] = [
        Self::Ok,
        Self::Failed,
        Self::Refused,
        Self::Unverified,
        Self::Expired,
        Self::Conflict,
        Self::Internal,
    ];

    pub const fn number(self) -> u8 {
        match self {
            Self::Ok => 0,
            Self::Failed => 1,
            Self::Refused => 2,
            Self::Unverified => 3,
            Self::Expired => 4,
            Self::Conflict => 5,
            Self::Internal => 70,
        }
    }

    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Failed => "violated or failed",
            Self::Refused => "refused, blocked or wrong usage",
            Self::Unverified => "unverified",
            Self::Expired => "expired",
            Self::Conflict => "conflict, or held by another agent",
            Self::Internal => "internal error",
        }
    }

    /// Returns the meaning of every code on two lines, for help texts.
    pub fn summary() -> String {
        let one = |code: &Self| format!("{} {}", code.number(), code.meaning());
        let line = |codes: &[Self]| codes.iter().map(one).collect::<Vec<_>>().join(" · ");
        let (first, second) = Self::ALL.split_at(3);
        format!("Exit codes: {}\n            {}", line(first), line(second))
    }
}

impl From<ExitCode> for std::process::ExitCode {
    fn from(code: ExitCode) -> Self {
        Self::from(code.number())
    }
}

impl From<ContractStatus> for ExitCode {
    fn from(status: ContractStatus) -> Self {
        match status {
            ContractStatus::Accepted | ContractStatus::AcceptedWithExternalChanges => Self::Ok,
            ContractStatus::Violated => Self::Failed,
            ContractStatus::Unverified => Self::Unverified,
            ContractStatus::Expired => Self::Expired,
        }
    }
}

impl From<ClaimVerdict> for ExitCode {
    fn from(verdict: ClaimVerdict) -> Self {
        match verdict {
            ClaimVerdict::True => Self::Ok,
            ClaimVerdict::Unverified => Self::Unverified,
            ClaimVerdict::False => Self::Failed,
        }
    }
}

impl From<StartStatus> for ExitCode {
    fn from(status: StartStatus) -> Self {
        match status {
            StartStatus::Active => Self::Ok,
            StartStatus::Queued => Self::Conflict,
            StartStatus::Blocked | StartStatus::NeedsAnalysis => Self::Refused,
        }
    }
}

/// Maps expired claims, claims held by another agent, and everything that is blocked or wrong usage.
impl From<&CommandRefusal> for ExitCode {
    fn from(refusal: &CommandRefusal) -> Self {
        match refusal {
            CommandRefusal::Expired { .. } => Self::Expired,
            CommandRefusal::Overlaps { .. }
            | CommandRefusal::TaskTaken { .. }
            | CommandRefusal::OverlapsOwn { .. }
            | CommandRefusal::HeldByOther { .. }
            | CommandRefusal::NotRecoverable { .. }
            | CommandRefusal::StaleToken { .. } => Self::Conflict,
            CommandRefusal::Blocked { .. }
            | CommandRefusal::QueueAhead { .. }
            | CommandRefusal::UnknownIntent { .. }
            | CommandRefusal::IntentExists { .. }
            | CommandRefusal::CommandIdReused
            | CommandRefusal::WrongStatus { .. }
            | CommandRefusal::OutOfBounds { .. }
            | CommandRefusal::EmptyScope => Self::Refused,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_ascending_and_distinct() {
        assert!(ExitCode::ALL.windows(2).all(|pair| pair[0].number() < pair[1].number()));
    }

    #[test]
    fn the_summary_names_every_code() {
        assert_eq!(
            ExitCode::summary(),
            "Exit codes: 0 ok · 1 violated or failed · 2 refused, blocked or wrong usage\n            \
             3 unverified · 4 expired · 5 conflict, or held by another agent · 70 internal error"
        );
    }
}
