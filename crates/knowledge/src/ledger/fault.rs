//! Converts errors of the ledger's rules to `ServiceError`.

use probity_core::ReasonCode;
use probity_ledger::merge::MergeError;
use probity_ledger::{PositionError, ProjectLedgerError};
use probity_workspace::ServiceError;

/// Conversion to `ServiceError`. Both types are foreign here, so the orphan rule forbids `From`.
pub(super) trait IntoFault {
    fn into_fault(self) -> ServiceError;
}

pub(super) trait OrFault<T> {
    fn or_fault(self) -> Result<T, ServiceError>;
}

impl<T, E: IntoFault> OrFault<T> for Result<T, E> {
    fn or_fault(self) -> Result<T, ServiceError> {
        self.map_err(IntoFault::into_fault)
    }
}

impl IntoFault for ProjectLedgerError {
    fn into_fault(self) -> ServiceError {
        let reason = match &self {
            Self::NoStream(_) => ReasonCode::LedgerNoSuchStream,
            Self::Full(_) => ReasonCode::LedgerFull,
            Self::Malformed(_) => ReasonCode::StateDamaged,
        };
        ServiceError::refused(reason, self.to_string())
    }
}

impl IntoFault for PositionError {
    fn into_fault(self) -> ServiceError {
        ServiceError::refused(ReasonCode::LedgerNoSuchPosition, self.to_string())
    }
}

impl IntoFault for MergeError {
    fn into_fault(self) -> ServiceError {
        match self {
            Self::Book(error) => error.into_fault(),
            Self::Choice { .. } | Self::Refused { .. } => {
                ServiceError::refused(ReasonCode::LedgerReviewNeeded, self.to_string())
            }
            Self::Commits(_) => ServiceError::refused(ReasonCode::StateDamaged, self.to_string()),
        }
    }
}
