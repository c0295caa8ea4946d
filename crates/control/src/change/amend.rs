//! Widening the scope of an intent: on the record, with a reason, and only while the claim is held (law 2).

use super::dirt::Look;
use super::frame::Frame;
use super::request::StartRequest;
use super::declare;
use crate::registry::{Caller, Done, Shell, TreeFacts};
use crate::{Fault, Workspace};
use canon::Reason;
use intent::registry::Action;

/// What an intent is to gain.
#[derive(Debug, Clone, Default)]
pub struct AmendRequest {
    /// The intent: its id, or a unique beginning of it.
    pub intent_id: String,
    /// What `allowed_files` gains.
    pub allowed_files: Vec<Vec<u8>>,
    /// What `allowed_related` gains.
    pub allowed_related: Vec<Vec<u8>>,
    /// Why.
    pub why: String,
}

/// Widens the scope of an intent. What others hold is refused, and nothing changes.
pub fn amend(workspace: &Workspace, caller: &Caller, request: &AmendRequest) -> Result<Done, Fault> {
    let mut shell = Shell::open(workspace)?;
    let owner = caller.owner(shell.host())?;
    let look = Look::take(workspace, &workspace.policy()?)?;
    let declared = StartRequest {
        allowed_files: request.allowed_files.clone(),
        allowed_related: request.allowed_related.clone(),
        ..StartRequest::default()
    };
    let (scope, _) = declare::scope(&declared, &look.snapshot)?;
    let scope = Frame::of(workspace).scope_up(&scope);
    let intent = shell.resolve(&request.intent_id)?;
    let Some(token) = intent.token else {
        let detail = format!("intent {} holds no claim that could grow", intent.id);
        return Err(Fault::refused(Reason::AmendNotAllowed, detail));
    };
    let action = Action::Amend {
        intent_id: intent.id.clone(),
        token,
        allowed_files: scope.allowed_files,
        allowed_related: scope.allowed_related,
        why: request.why.clone(),
    };
    shell.execute(&owner, action, &TreeFacts::default())
}
