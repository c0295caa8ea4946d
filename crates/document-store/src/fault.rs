//! Maps errors of the document engine and of the store to `ServiceError`.

use crate::store::CommitsError;
use probity_core::ReasonCode;
use probity_documents::{AnalyzeError, HistoryError, SchemaError, TypeMismatch};
use probity_storage::StoreError;
use probity_workspace::ServiceError;

/// An error that maps to a [`ServiceError`]. Both types are foreign to this crate, so `From` is not possible.
pub(crate) trait IntoFault {
    fn into_fault(self) -> ServiceError;
}

pub(crate) trait OrFault<T> {
    fn or_fault(self) -> Result<T, ServiceError>;
}

impl<T, E: IntoFault> OrFault<T> for Result<T, E> {
    fn or_fault(self) -> Result<T, ServiceError> {
        self.map_err(IntoFault::into_fault)
    }
}

impl IntoFault for HistoryError {
    fn into_fault(self) -> ServiceError {
        match self {
            Self::Unknown(id) => {
                ServiceError::refused(ReasonCode::CommitUnknown, format!("there is no commit {id}"))
            }
            Self::Damaged { id, why } => {
                ServiceError::refused(ReasonCode::CommitDamaged, format!("commit {id} is damaged: {why}"))
            }
            Self::Store(error) => match error.downcast::<StoreError>() {
                Ok(error) => ServiceError::Store(*error),
                Err(error) => ServiceError::refused(ReasonCode::CommitDamaged, error.to_string()),
            },
        }
    }
}

impl From<CommitsError> for ServiceError {
    fn from(error: CommitsError) -> Self {
        let reason = match error {
            CommitsError::Store(error) => return error.into(),
            CommitsError::History(error) => return error.into_fault(),
            CommitsError::Exists(_) => ReasonCode::CommitStoreExists,
            CommitsError::Schema(_) | CommitsError::SchemaMoved { .. } => ReasonCode::CommitSchema,
            CommitsError::Name(_) | CommitsError::Misfit(_) => ReasonCode::CommitMisfit,
            CommitsError::RefMoved { .. } => ReasonCode::CommitRefMoved,
            CommitsError::Bundle { .. } => ReasonCode::CommitBundle,
            CommitsError::Append(_) | CommitsError::MissingBlob { .. } => ReasonCode::CommitNotAppended,
            CommitsError::Unknown => ReasonCode::CommitOutcomeUnknown,
        };
        Self::refused(reason, error.to_string())
    }
}

impl IntoFault for SchemaError {
    fn into_fault(self) -> ServiceError {
        ServiceError::refused(ReasonCode::CommitSchema, self.to_string())
    }
}

impl IntoFault for TypeMismatch {
    fn into_fault(self) -> ServiceError {
        ServiceError::refused(ReasonCode::CommitMisfit, self.to_string())
    }
}

impl IntoFault for AnalyzeError {
    fn into_fault(self) -> ServiceError {
        match self {
            Self::NotAMerge(id) => {
                ServiceError::refused(ReasonCode::MergeNone, format!("commit {id} is not a merge"))
            }
            Self::Append(error) => CommitsError::from(error).into(),
            Self::History(error) => error.into_fault(),
        }
    }
}
