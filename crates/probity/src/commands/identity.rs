//! Who asks: the handle that the first start answered, the name that people see, and the process that means life.

use clap::Args;
use control::Fault;
use control::registry::{Caller, Handle};

/// Who asks.
#[derive(Debug, Args)]
pub(crate) struct Identity {
    /// The owner's handle, as `start` answered it; without one `start` makes a new owner
    #[arg(long, global = true, value_name = "HANDLE", env = "PROBITY_OWNER", hide_env_values = true)]
    pub(crate) owner: Option<String>,

    /// What people call the agent [default: the user]
    #[arg(long, global = true, value_name = "NAME", env = "PROBITY_AGENT")]
    pub(crate) agent: Option<String>,

    /// The process whose end means that the owner is gone; it must have started this one
    #[arg(long, global = true, value_name = "PID", env = "PROBITY_AGENT_PID")]
    pub(crate) agent_pid: Option<u32>,
}

impl Identity {
    /// The caller; somebody new if no handle was given.
    pub(crate) fn caller(&self) -> Result<Caller, Fault> {
        Ok(Caller {
            handle: self.owner.as_deref().map_or_else(|| Ok(Handle::random()), Handle::parse)?,
            label: self.agent.clone().unwrap_or_else(control::user),
            pid: self.agent_pid,
        })
    }
}
