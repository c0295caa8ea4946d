//! Errors of the engine and of the store, as faults of a command.

use crate::store::CommitsError;
use probity_core::Reason;
use probity_documents::{AnalyzeError, HistoryError, Misfit, SchemaError};
use probity_storage::StoreError;
use probity_workspace::Fault;

/// An error of the engine that is a fault of a command. Both types are foreign here, so `From` cannot say it.
pub(crate) trait IntoFault {
    fn into_fault(self) -> Fault;
}

/// A result whose error becomes a fault.
pub(crate) trait OrFault<T> {
    fn or_fault(self) -> Result<T, Fault>;
}

impl<T, E: IntoFault> OrFault<T> for Result<T, E> {
    fn or_fault(self) -> Result<T, Fault> {
        self.map_err(IntoFault::into_fault)
    }
}

impl IntoFault for HistoryError {
    fn into_fault(self) -> Fault {
        match self {
            Self::Unknown(id) => Fault::refused(Reason::CommitUnknown, format!("there is no commit {id}")),
            Self::Damaged { id, why } => {
                Fault::refused(Reason::CommitDamaged, format!("commit {id} is damaged: {why}"))
            }
            Self::Store(error) => match error.downcast::<StoreError>() {
                Ok(error) => Fault::Store(*error),
                Err(error) => Fault::refused(Reason::CommitDamaged, error.to_string()),
            },
        }
    }
}

impl From<CommitsError> for Fault {
    fn from(error: CommitsError) -> Self {
        let reason = match error {
            CommitsError::Store(error) => return error.into(),
            CommitsError::History(error) => return error.into_fault(),
            CommitsError::Exists(_) => Reason::CommitStoreExists,
            CommitsError::Schema(_) | CommitsError::SchemaMoved { .. } => Reason::CommitSchema,
            CommitsError::Name(_) | CommitsError::Misfit(_) => Reason::CommitMisfit,
            CommitsError::RefMoved { .. } => Reason::CommitRefMoved,
            CommitsError::Bundle { .. } => Reason::CommitBundle,
            CommitsError::Append(_) | CommitsError::MissingBlob { .. } => Reason::CommitNotAppended,
            CommitsError::Unknown => Reason::CommitOutcomeUnknown,
        };
        Self::refused(reason, error.to_string())
    }
}

impl IntoFault for SchemaError {
    fn into_fault(self) -> Fault {
        Fault::refused(Reason::CommitSchema, self.to_string())
    }
}

impl IntoFault for Misfit {
    fn into_fault(self) -> Fault {
        Fault::refused(Reason::CommitMisfit, self.to_string())
    }
}

impl IntoFault for AnalyzeError {
    fn into_fault(self) -> Fault {
        match self {
            Self::NotAMerge(id) => Fault::refused(Reason::MergeNone, format!("commit {id} is no merge")),
            Self::Append(error) => CommitsError::from(error).into(),
            Self::History(error) => error.into_fault(),
        }
    }
}
