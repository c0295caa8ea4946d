//! Exit codes of the command line, the same for every command.

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ExitCode {
    /// As asked.
    Ok,
    /// With a verdict that fails: violated, or a run that did not pass.
    Failed,
    /// Refused, blocked, or used wrongly. Nothing was done.
    Refused,
    /// Without a verdict.
    Unverified,
    /// The intent, or what it started from, is over.
    Expired,
    /// Held by somebody else, or with conflicts that nobody has decided.
    Conflict,
    /// The machine, and not the user, is at fault.
    Internal,
}

impl ExitCode {
    /// Every exit code, in the order of their numbers.
    pub const ALL: [Self; 7] = [
        Self::Ok,
        Self::Failed,
        Self::Refused,
        Self::Unverified,
        Self::Expired,
        Self::Conflict,
        Self::Internal,
    ];

    /// The number that the process ends with.
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

    /// What it means, for the help text.
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

    /// All of them in one line, for help texts.
    pub fn summary() -> String {
        let one = |code: Self| format!("{} {}", code.number(), code.meaning());
        Self::ALL.map(one).join(" · ")
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
            "0 ok · 1 violated or failed · 2 refused, blocked or wrong usage · 3 unverified · 4 expired · \
             5 conflict, or held by another agent · 70 internal error"
        );
    }
}
