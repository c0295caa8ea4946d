//! The caller's identity: its owner handle, its display name, and the process whose end means that it is gone.

use clap::Args;
use probity_changes::registry::{
    AgentLabel, Caller, CallerCredentials, HandleStore, IntentService, OwnerHandle,
};
use probity_intents::{IntentId, IntentOwner};
use probity_workspace::{ServiceError, Workspace};

/// Heading of the options that identify the caller.
const CALLER_OPTIONS: &str = "Caller";

/// Who asks.
#[derive(Debug, Args)]
pub(crate) struct IdentityArgs {
    /// The owner's handle, as `start` printed it [default: the one kept in this worktree for the named intent; `start`
    /// makes a new owner]
    #[arg(long, global = true, help_heading = CALLER_OPTIONS, value_name = "HANDLE", env = "PROBITY_OWNER", hide_env_values = true)]
    pub(crate) owner: Option<String>,

    /// The agent's display name [default: the name the owner started with, else the user]
    #[arg(long, global = true, help_heading = CALLER_OPTIONS, value_name = "NAME", env = "PROBITY_AGENT", hide_env_values = true)]
    pub(crate) agent: Option<String>,

    /// The process whose exit means that the owner is gone; it must be an ancestor of this one
    #[arg(long, global = true, help_heading = CALLER_OPTIONS, value_name = "PID", env = "PROBITY_AGENT_PID", hide_env_values = true)]
    pub(crate) agent_pid: Option<u32>,
}

impl IdentityArgs {
    pub(crate) fn credentials(&self) -> Result<CallerCredentials, ServiceError> {
        Ok(CallerCredentials {
            handle: self.owner.as_deref().map(OwnerHandle::parse).transpose()?,
            label: self
                .agent
                .clone()
                .map_or_else(|| AgentLabel::Assumed(probity_workspace::user_name()), AgentLabel::Given),
            pid: self.agent_pid,
        })
    }

    /// Returns the caller of a command that names no intent; a new owner if no handle was given.
    pub(crate) fn caller(&self) -> Result<Caller, ServiceError> {
        Ok(self.credentials()?.caller())
    }

    /// Returns the caller of a command about an intent: with the given handle, else the one stored in this worktree.
    pub(crate) fn caller_for(
        &self,
        workspace: &Workspace,
        intent: &IntentId,
    ) -> Result<Caller, ServiceError> {
        let credentials = self.credentials()?;
        let kept =
            if credentials.handle.is_some() { None } else { HandleStore::of(workspace).get(intent)? };
        Ok(credentials.caller_for_intent(kept.as_ref()))
    }

    /// Like [`Self::caller_for`], for an intent named by a prefix of its id.
    pub(crate) fn caller_for_name(&self, workspace: &Workspace, name: &str) -> Result<Caller, ServiceError> {
        let intent = IntentService::open_with(workspace, name)?.resolve(name)?.id.clone();
        self.caller_for(workspace, &intent)
    }

    /// Returns the named intent, or the only one that can be meant, and its caller.
    pub(crate) fn named_or_only(
        &self,
        workspace: &Workspace,
        name: Option<&str>,
    ) -> Result<(IntentId, Caller), ServiceError> {
        let intent = match name {
            Some(name) => IntentService::open_with(workspace, name)?.resolve(name)?.id.clone(),
            None => HandleStore::of(workspace).only_intent(workspace, &self.credentials()?)?,
        };
        let caller = self.caller_for(workspace, &intent)?;
        Ok((intent, caller))
    }

    /// Returns the owner to record for a command about an intent.
    pub(crate) fn owner_for(
        &self,
        workspace: &Workspace,
        service: &IntentService,
        intent: &IntentId,
    ) -> Result<IntentOwner, ServiceError> {
        service.owner_of(&self.caller_for(workspace, intent)?)
    }
}
