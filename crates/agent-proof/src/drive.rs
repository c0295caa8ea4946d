//! Runs an agent's real program once in a throw-away repository, against the scripted model.

use crate::launch::{
    AgentInvocation, codex_settings, launch, model_variables, project_settings, settings_file,
};
use crate::model_server::{ModelLog, ModelServer};
use crate::script::ModelScript;
use probity_api::govern::setup::CodingAgent;
use probity_changes::agents::{AgentPermissions, HookProgram, RegistrationWish, register};
use probity_process::{CaptureLimits, ProcessEnvironment, capture};
use probity_workspace::{ServiceError, Workspace};
use serde_json::{Map, Value};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long an agent may take for the whole script.
const AGENT_TIMEOUT: Duration = Duration::from_mins(10);
/// How long a helper such as git may take.
const SETUP_TIMEOUT: Duration = Duration::from_mins(1);
const MAX_OUTPUT_BYTES: usize = 16 * 1024 * 1024;

/// How to drive an agent.
#[derive(Debug)]
pub struct DriveRequest<'a> {
    pub agent: CodingAgent,
    pub program: &'a Path,
    /// The main program, which serves MCP.
    pub server: &'a Path,
    pub hook: &'a HookProgram,
    pub script: ModelScript,
    pub permissions: AgentPermissions,
}

/// What one drive left behind.
#[derive(Debug)]
pub struct DriveReport {
    _directory: tempfile::TempDir,
    pub repository: PathBuf,
    pub log: ModelLog,
    /// The last line that the program printed on stderr, or why it did not end.
    pub last_line: String,
}

impl DriveReport {
    /// Returns the answer that the model got for a step; empty if the script did not get there.
    pub fn result(&self, index: usize) -> &str {
        self.log.results.get(index).map(String::as_str).unwrap_or_default()
    }

    pub fn exists(&self, name: &str) -> bool {
        self.repository.join(name).exists()
    }
}

/// Drives an agent; `None` if Probity cannot start it.
pub fn drive(request: &DriveRequest<'_>) -> Result<Option<DriveReport>, ServiceError> {
    let agent = request.agent;
    let directory = tempfile::tempdir().map_err(ServiceError::system("cannot create a directory"))?;
    let repository = directory.path().join("repository");
    prepare(&repository)?;
    let place = repository.to_string_lossy().into_owned();
    let model = ModelServer::start(request.script, agent, &place)
        .map_err(ServiceError::system("cannot serve the scripted model"))?;
    let invocation = AgentInvocation {
        program: request.program,
        repository: &place,
        url: &model.url,
        server: &request.server.to_string_lossy(),
        permissions: request.permissions,
    };
    let Some(launch) = launch(agent, &invocation) else { return Ok(None) };
    let workspace = Workspace::find(Some(&repository), &repository)?;
    register(&workspace, agent, request.hook, RegistrationWish::Register, false)?;
    if let Some(extra) = project_settings(agent, &model.url) {
        merge_settings(&repository.join(settings_file(agent)), extra)?;
    }
    commit(&repository)?;
    let mut environment = agent_environment(request.server, &repository);
    for (name, value) in &launch.variables {
        environment = environment.with(name, value);
    }
    let limits = CaptureLimits { time: AGENT_TIMEOUT, output_bytes: MAX_OUTPUT_BYTES };
    let ended = capture(&launch.argv, &environment, &repository, limits);
    let last_line = ended.map_or_else(|error| error.to_string(), |output| last_line(&output.stderr));
    Ok(Some(DriveReport { _directory: directory, repository, log: model.log(), last_line }))
}

/// What a governed run of an agent left behind.
#[derive(Debug)]
pub struct GovernedRunReport {
    /// The answer of `probity run --json`.
    pub answer: Value,
    pub log: ModelLog,
    /// The content of the declared file.
    pub declared: String,
    /// Whether the file outside of the scope is in the tree.
    pub has_outside: bool,
    /// What the run printed for people.
    pub words: String,
}

/// Lets an agent work on a task below `probity run --agent --task` in a view. `home` is a home directory for this alone: Codex
/// is led to the model by a file in it.
pub fn governed_run(
    agent: CodingAgent,
    program: &Path,
    server: &Path,
    hook: &HookProgram,
    home: &Path,
) -> Result<GovernedRunReport, ServiceError> {
    let directory = tempfile::tempdir().map_err(ServiceError::system("cannot create a directory"))?;
    let repository = directory.path().join("repository");
    prepare(&repository)?;
    let place = repository.to_string_lossy().into_owned();
    let model = ModelServer::start(ModelScript::GovernedRun, agent, &place)
        .map_err(ServiceError::system("cannot serve the scripted model"))?;
    let workspace = Workspace::find(Some(&repository), &repository)?;
    register(&workspace, agent, hook, RegistrationWish::Register, false)?;
    if let Some(extra) = project_settings(agent, &model.url) {
        merge_settings(&repository.join(settings_file(agent)), extra)?;
    }
    commit(&repository)?;
    let mut environment = agent_environment(server, &repository);
    for (name, value) in model_variables(agent, &model.url) {
        environment = environment.with(name, value);
    }
    if agent == CodingAgent::Codex {
        let fault = || ServiceError::system("cannot write Codex's settings");
        fs::create_dir_all(home.join(".codex")).map_err(fault())?;
        fs::write(home.join(".codex/config.toml"), codex_settings(&model.url, &place)).map_err(fault())?;
    }
    let task = "Write the word into a.txt. Remember: we never use tabs in a.txt.";
    let argv: [&OsStr; 12] = [
        server.as_os_str(),
        "--json".as_ref(),
        "run".as_ref(),
        "--agent".as_ref(),
        agent.as_str().as_ref(),
        "--task".as_ref(),
        task.as_ref(),
        "--scope".as_ref(),
        "a.txt".as_ref(),
        "--program".as_ref(),
        program.as_os_str(),
        "--enforce=overlay".as_ref(),
    ];
    let limits = CaptureLimits { time: AGENT_TIMEOUT, output_bytes: MAX_OUTPUT_BYTES };
    let output = capture(&argv, &environment, &repository, limits)
        .map_err(|error| ServiceError::Missing(error.to_string()))?;
    Ok(GovernedRunReport {
        answer: serde_json::from_slice(&output.stdout).unwrap_or_default(),
        log: model.log(),
        declared: fs::read_to_string(repository.join("a.txt")).unwrap_or_default(),
        has_outside: repository.join("d.txt").exists(),
        words: String::from_utf8_lossy(&output.stderr).into_owned(),
    })
}

fn last_line(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("no message").trim().to_owned()
}

fn first_line(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim().to_owned()
}

/// Returns what the program says about its version.
pub(crate) fn version_of(program: &Path) -> String {
    let limits = CaptureLimits { time: SETUP_TIMEOUT, output_bytes: MAX_OUTPUT_BYTES };
    let words = [program.as_os_str(), "--version".as_ref()];
    capture(&words, &ProcessEnvironment::inherited(), Path::new("/"), limits)
        .map(|output| first_line(&output.stdout))
        .unwrap_or_default()
}

/// Returns the user's environment with the repository as working directory and the scripted model within reach.
fn agent_environment(server: &Path, repository: &Path) -> ProcessEnvironment {
    // OpenCode believes PWD. The model is on the loopback address, which no proxy reaches.
    ProcessEnvironment::inherited()
        .with("PATH", search_path(server))
        .with("PWD", repository)
        .with("no_proxy", "127.0.0.1,localhost")
        .with("NO_PROXY", "127.0.0.1,localhost")
}

/// Puts the directory of the main program first, so that the agent finds `probity mcp`.
fn search_path(server: &Path) -> std::ffi::OsString {
    let dirs = server.parent().map(Path::to_owned).into_iter();
    let inherited = std::env::var_os("PATH").unwrap_or_default();
    std::env::join_paths(dirs.chain(std::env::split_paths(&inherited))).unwrap_or(inherited)
}

fn git(repository: &Path, words: &[&str]) -> Result<(), ServiceError> {
    let limits = CaptureLimits { time: SETUP_TIMEOUT, output_bytes: MAX_OUTPUT_BYTES };
    let who = ["-c", "user.name=probity", "-c", "user.email=probity@localhost", "-c", "commit.gpgSign=false"];
    let argv: Vec<&str> = ["git"].into_iter().chain(who).chain(words.iter().copied()).collect();
    let done = capture(&argv, &ProcessEnvironment::inherited(), repository, limits);
    match done {
        Ok(output) if output.succeeded() => Ok(()),
        Ok(output) => {
            Err(ServiceError::Missing(format!("`git {}`: {}", words[0], last_line(&output.stderr))))
        }
        Err(error) => Err(ServiceError::Missing(error.to_string())),
    }
}

fn prepare(repository: &Path) -> Result<(), ServiceError> {
    let fault = || ServiceError::system("cannot prepare the throw-away repository");
    fs::create_dir_all(repository).map_err(fault())?;
    fs::write(repository.join("a.txt"), "one\n").map_err(fault())?;
    fs::write(repository.join("b.txt"), "alpha\n").map_err(fault())?;
    git(repository, &["init", "-q"])?;
    commit(repository)
}

fn commit(repository: &Path) -> Result<(), ServiceError> {
    git(repository, &["add", "-A"])?;
    git(repository, &["commit", "-q", "-m", "proof"])
}

/// Adds members to a JSON file of the throw-away repository.
fn merge_settings(path: &Path, extra: Map<String, Value>) -> Result<(), ServiceError> {
    let fault = || ServiceError::system(format!("cannot write {}", path.display()));
    let text = fs::read(path).map_err(fault())?;
    let mut settings: Map<String, Value> = serde_json::from_slice(&text).unwrap_or_default();
    settings.extend(extra);
    fs::write(path, Value::Object(settings).to_string()).map_err(fault())
}
