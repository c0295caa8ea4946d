//! What an agent does when its hook fails: each way to fail, on the real program.
//!
//! The hook is replaced by a small script, installed exactly as Probity installs its own. A cell that stays open is one that
//! the agent's own design leaves open.

use crate::drive::{DriveRequest, drive};
use crate::script::ModelScript;
use probity_api::govern::setup::CodingAgent;
use probity_changes::agents::{AgentPermissions, HookProgram};
use probity_workspace::ServiceError;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

probity_core::word_enum! {
    /// How a hook ends.
    pub enum HookFailure {
        /// It refuses, as Probity does.
        Deny = "deny",
        /// It ends with exit code 1.
        Crash = "crash",
        /// It is killed.
        Kill = "kill",
        /// Its program is not there.
        Missing = "missing",
        /// It prints text that is no answer, and ends well.
        Garbage = "garbage",
        /// It takes longer than the agent waits.
        Timeout = "timeout",
    }
}

/// What happened to the calls of the script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailureCell {
    pub failure: HookFailure,
    /// Whether no call had an effect.
    pub is_blocked: bool,
    /// What the model was told about the first call.
    pub told: String,
}

impl HookFailure {
    /// Returns whether Probity's installation closes this for an agent. The rest is the agent's own design.
    pub fn is_closed(self, agent: CodingAgent) -> bool {
        match self {
            Self::Deny | Self::Crash | Self::Kill | Self::Missing | Self::Garbage => true,
            // `onFailure` of Claude Code; the plugin in OpenCode has a time limit of its own; elsewhere `timeout` ends the hook.
            Self::Timeout => {
                matches!(agent, CodingAgent::Claude | CodingAgent::OpenCode) || has_timeout_program()
            }
        }
    }

    /// Returns the script that stands for the hook.
    const fn script(self) -> &'static str {
        match self {
            Self::Deny => {
                r#"case "$1" in
gemini|opencode) printf '{"decision":"deny","reason":"probity: refused"}' ;;
copilot) printf '{"permissionDecision":"deny","permissionDecisionReason":"probity: refused"}' ;;
*) printf '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"probity: refused"}}' ;;
esac
echo 'probity: refused' >&2
exit 2"#
            }
            Self::Crash | Self::Missing => "exit 1",
            Self::Kill => "kill -KILL $$",
            Self::Garbage => "echo 'this is no answer'",
            Self::Timeout => "sleep 60",
        }
    }
}

/// Returns whether the program that ends a frozen hook is on `PATH`.
fn has_timeout_program() -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|dir| dir.join("timeout").is_file())
}

/// Drives an agent whose hook fails in one way.
pub fn hook_failure(
    agent: CodingAgent,
    program: &Path,
    server: &Path,
    failure: HookFailure,
) -> Result<Option<FailureCell>, ServiceError> {
    let directory = tempfile::tempdir().map_err(ServiceError::system("cannot create a directory"))?;
    let path = directory.path().join("probity-hook");
    if failure != HookFailure::Missing {
        // Only the gating event fails: a session that cannot start shows nothing.
        let text =
            format!("#!/bin/sh\ncat > /dev/null\n[ \"$2\" = before ] || exit 0\n{}\n", failure.script());
        fs::write(&path, text)
            .and_then(|()| fs::set_permissions(&path, fs::Permissions::from_mode(0o755)))
            .map_err(ServiceError::system("cannot write a hook"))?;
    }
    let driven = drive(&DriveRequest {
        agent,
        program,
        server,
        hook: &HookProgram::small(&path),
        script: ModelScript::TwoEdits,
        permissions: AgentPermissions::Bypassed,
    })?;
    let Some(driven) = driven else { return Ok(None) };
    if driven.log.results.len() < 2 {
        return Err(ServiceError::Missing(format!("{agent} did not play the script: {}", driven.last_line)));
    }
    let told = driven.result(0).split_whitespace().collect::<Vec<_>>().join(" ");
    Ok(Some(FailureCell {
        failure,
        is_blocked: !driven.exists("new.txt") && !driven.exists("c.txt"),
        told: told.chars().take(100).collect(),
    }))
}
