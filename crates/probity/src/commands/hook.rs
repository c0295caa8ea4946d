//! `probity hook`: answers an agent's hook. `main` calls it before the command line is parsed; here is its help.

use super::change::word_parser;
use crate::answer::CommandAnswer;
use clap::Args;
use probity_core::ReasonCode;
use probity_hook::payload::{AgentDialect, HookEvent};
use probity_workspace::ServiceError;

/// Answer an agent's hook: refuse edits that were not declared
///
/// Reads the agent's payload from stdin. Silence and exit code 0 let the call pass; a refusal is JSON in the agent's form
/// on stdout, one line on stderr and exit code 2. `probity init --agent` installs it; agents start the smaller program
/// `probity-hook` with the same arguments if it is installed.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  probity hook claude before")]
pub(crate) struct HookArgs {
    /// The agent that calls
    #[arg(value_name = "AGENT", value_parser = word_parser::<AgentDialect>(AgentDialect::WORDS))]
    agent: AgentDialect,

    /// The event at which it calls
    #[arg(value_name = "EVENT", value_parser = word_parser::<HookEvent>(HookEvent::WORDS), default_value = "before")]
    event: HookEvent,
}

/// Refuses global options: the real hook is answered before they are read.
pub(crate) fn hook(args: &HookArgs) -> Result<CommandAnswer, ServiceError> {
    let detail =
        format!("`hook` takes no option before it: call `probity hook {} {}`", args.agent, args.event);
    Err(ServiceError::refused(ReasonCode::UsageInvalid, detail))
}
