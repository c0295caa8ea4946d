//! Parses the evidence that a finish gives.

use probity_api::change::FinishRequest;
use probity_core::ReasonCode;
use probity_intents::ScopeEntry;
use probity_workspace::ServiceError;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FinishEvidence {
    ChangedFiles(Vec<ScopeEntry>),
    /// Everything that differs from a commit, untracked files included.
    DiffRef(String),
    /// Changes in the scope since the start.
    Observed,
}

impl FinishEvidence {
    /// Refuses a request with more than one kind of evidence.
    pub(crate) fn of(request: &FinishRequest) -> Result<Self, ServiceError> {
        match (&request.changed_files, &request.diff_ref) {
            (None, None) => Ok(Self::Observed),
            (Some(files), None) => Ok(Self::ChangedFiles(files.clone())),
            (None, Some(revision)) => Ok(Self::DiffRef(revision.clone())),
            (Some(_), Some(_)) => Err(ServiceError::refused(
                ReasonCode::UsageInvalid,
                "give changed_files or diff_ref, not both",
            )),
        }
    }
}
