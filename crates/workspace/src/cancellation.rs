//! Cancellation of a call: services ask between two steps whether anyone still waits for the answer.

use crate::ServiceError;
use probity_core::ReasonCode;
use std::fmt;
use std::sync::Arc;

/// Tells whether a call was given up. Clones share it; by default nothing is ever given up.
#[derive(Clone, Default)]
pub struct CancellationToken(Option<Arc<CancelableCall>>);

struct CancelableCall {
    name: &'static str,
    is_given_up: Box<dyn Fn() -> bool + Send + Sync>,
}

impl CancellationToken {
    /// Creates the token of a call; `name` is what its refusal names.
    pub fn new(name: &'static str, is_given_up: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(CancelableCall { name, is_given_up: Box::new(is_given_up) })))
    }

    pub fn is_canceled(&self) -> bool {
        self.0.as_ref().is_some_and(|call| (call.is_given_up)())
    }

    /// Refuses to go on if the call was given up. What it holds is released on the way back, and what it stored is
    /// complete, because Probity writes only whole files and whole events.
    pub fn check(&self) -> Result<(), ServiceError> {
        if self.is_canceled() { Err(self.refusal()) } else { Ok(()) }
    }

    pub fn refusal(&self) -> ServiceError {
        ServiceError::refused(ReasonCode::UsageCancelled, self.0.as_ref().map_or("", |call| call.name))
    }
}

impl fmt::Debug for CancellationToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CancellationToken")
    }
}
