//! `probity run --agent AGENT --task TEXT`: the command line of the agent, and what the ledger keeps of its session.

use probity_api::govern::run::RunLedger;
use probity_api::govern::setup::CodingAgent;
use probity_api::ledger::ProposalOutcome;
use probity_changes::agents::{AgentPermissions, task_command, task_variables};
use probity_core::ReasonCode;
use probity_knowledge::ledger::{self, IngestRequest, agent_sessions};
use probity_ledger::VerdictKind;
use probity_policy::{EnforceRules, EnforcementChoice};
use probity_workspace::{ServiceError, Workspace};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// An agent that a run starts itself.
pub(crate) struct AgentTask {
    pub(crate) agent: CodingAgent,
    pub(crate) command: Vec<OsString>,
    pub(crate) level: EnforcementChoice,
}

fn refused(detail: String) -> ServiceError {
    ServiceError::refused(ReasonCode::UsageInvalid, detail)
}

impl AgentTask {
    /// An agent without permission prompts needs a view around it. Only who asks for `observe` goes without one, and then
    /// the agent keeps its own permissions.
    pub(crate) fn new(
        task: &str,
        agent: Option<&str>,
        program: Option<PathBuf>,
        enforce: Option<EnforcementChoice>,
    ) -> Result<Self, ServiceError> {
        let known = || CodingAgent::WORDS.join(", ");
        let name = agent.unwrap_or_default();
        let agent: CodingAgent = name.parse().map_err(|_| {
            refused(format!("`--task` needs an agent that Probity can start, not `{name}`: {}", known()))
        })?;
        let (level, permissions) = match enforce {
            Some(EnforcementChoice::Observe) => (EnforcementChoice::Observe, AgentPermissions::EditsAccepted),
            Some(level @ EnforcementChoice::Landlock) => (level, AgentPermissions::EditsAccepted),
            Some(EnforcementChoice::Auto | EnforcementChoice::Overlay) | None => {
                (EnforcementChoice::Overlay, AgentPermissions::Bypassed)
            }
        };
        let program = match program {
            Some(program) => program,
            None => on_path(agent).ok_or_else(|| {
                refused(format!("{agent} is not on PATH; install it, or name its program with `--program`"))
            })?,
        };
        let words = task_command(agent, &program, task, permissions).ok_or_else(|| {
            refused(format!("{agent} cannot be started for a task; give its command after `--`"))
        })?;
        let is_root = rustix::process::geteuid().is_root();
        let variables: Vec<OsString> = task_variables(agent, permissions, is_root)
            .iter()
            .map(|(name, value)| format!("{name}={value}").into())
            .collect();
        let command = if variables.is_empty() {
            words
        } else {
            std::iter::once("env".into()).chain(variables).chain(words).collect()
        };
        if level == EnforcementChoice::Overlay {
            create_agent_state(agent)
                .map_err(ServiceError::system("cannot create the agent's own directory"))?;
        }
        Ok(Self { agent, command, level })
    }

    /// Lets the ledger read what was said since `began`. A failure does not change the verdict of the run.
    pub(crate) fn remember(&self, workspace: &Workspace, began: SystemTime) -> RunLedger {
        self.read_sessions(workspace, began)
            .unwrap_or_else(|problem| RunLedger { problem: Some(problem), ..RunLedger::default() })
    }

    fn read_sessions(&self, workspace: &Workspace, began: SystemTime) -> Result<RunLedger, String> {
        let home = std::env::var_os("HOME").ok_or("HOME is not set, so the session was not found")?;
        let sessions = agent_sessions(self.agent, Path::new(&home), began, &workspace.root)?;
        if sessions.is_empty() {
            return Err(format!("{} left no session that names this tree", self.agent));
        }
        let request = IngestRequest {
            user: probity_workspace::user_name(),
            transcripts: sessions
                .into_iter()
                .map(|(path, bytes)| (path.display().to_string(), bytes))
                .collect(),
            ..IngestRequest::default()
        };
        let ingested = ledger::ingest(workspace, &request).map_err(|error| error.to_string())?;
        Ok(RunLedger {
            sessions: request.transcripts.len(),
            turns: ingested.turns_new,
            accepted: ProposalOutcome::count(&ingested.outcomes, VerdictKind::Accepted),
            problem: None,
        })
    }
}

/// Directories in which agents insist on writing at their start. What they write there is thrown away with the view.
const SCRATCH_DIRECTORIES: [&str; 2] = ["~/.cache", "~/.local/state"];

/// Creates what an agent that never ran has not created yet. In a view the home directory is read-only, so that it could
/// keep no session there.
fn create_agent_state(agent: CodingAgent) -> std::io::Result<()> {
    let Some(home) = std::env::var_os("HOME").map(PathBuf::from) else { return Ok(()) };
    let state = EnforceRules::default().for_agent(agent.as_str()).persist;
    for path in state.into_iter().chain(SCRATCH_DIRECTORIES.map(str::to_owned)) {
        let Some(path) = path.strip_prefix("~/").map(|below| home.join(below)) else { continue };
        if path.symlink_metadata().is_ok() {
            continue;
        }
        if path.extension().is_some_and(|it| it == "json") {
            std::fs::write(&path, "{}\n")?;
        } else {
            std::fs::create_dir_all(&path)?;
        }
    }
    Ok(())
}

fn on_path(agent: CodingAgent) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|dir| dir.join(agent.as_str())).find(|path| path.is_file())
}
