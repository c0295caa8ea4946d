//! Refusals of the ledger's rules, as faults of a command.

use probity_core::Reason;
use probity_ledger::merge::MergeError;
use probity_ledger::{BookError, PositionError};
use probity_workspace::Fault;

/// An error of the rules that is a fault of a command. Both types are foreign here, so `From` cannot say it.
pub(super) trait IntoFault {
    fn into_fault(self) -> Fault;
}

/// A result whose error becomes a fault.
pub(super) trait OrFault<T> {
    fn or_fault(self) -> Result<T, Fault>;
}

impl<T, E: IntoFault> OrFault<T> for Result<T, E> {
    fn or_fault(self) -> Result<T, Fault> {
        self.map_err(IntoFault::into_fault)
    }
}

impl IntoFault for BookError {
    fn into_fault(self) -> Fault {
        let reason = match &self {
            Self::NoStream(_) => Reason::LedgerNoSuchStream,
            Self::Full(_) => Reason::LedgerFull,
            Self::Malformed(_) => Reason::StateDamaged,
        };
        Fault::refused(reason, self.to_string())
    }
}

impl IntoFault for PositionError {
    fn into_fault(self) -> Fault {
        Fault::refused(Reason::LedgerNoSuchPosition, self.to_string())
    }
}

impl IntoFault for MergeError {
    fn into_fault(self) -> Fault {
        match self {
            Self::Book(error) => error.into_fault(),
            Self::Choice { .. } | Self::Refused { .. } => {
                Fault::refused(Reason::LedgerReviewNeeded, self.to_string())
            }
            Self::Commits(_) => Fault::refused(Reason::StateDamaged, self.to_string()),
        }
    }
}
