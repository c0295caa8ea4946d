//! Runs the proof and reports row by row.

use crate::launch::{launch, project_settings, settings_file};
use crate::model_server::{ModelLog, ModelServer};
use crate::script;
use probity_api::change::{CheckupStatus, DoctorCheckup};
use probity_api::govern::setup::CodingAgent;
use probity_changes::agents::{HookProgram, RegistrationWish, register};
use probity_process::{CaptureLimits, ProcessEnvironment, capture};
use probity_workspace::{ServiceError, Workspace};
use serde_json::{Map, Value};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long an agent may take for the whole script.
const PROOF_TIMEOUT: Duration = Duration::from_mins(3);
/// How long a helper such as git may take.
const SETUP_TIMEOUT: Duration = Duration::from_secs(30);
const MAX_OUTPUT_BYTES: usize = 16 * 1024 * 1024;

/// What to prove.
#[derive(Debug)]
pub struct ProofRequest {
    pub agent: CodingAgent,
    /// The program of the agent; found on `PATH` if not given.
    pub program: Option<PathBuf>,
    /// The main program, which serves MCP.
    pub server: PathBuf,
    pub hook: HookProgram,
}

fn row(name: &'static str, is_good: bool, good: &str, bad: String, next_step: &str) -> DoctorCheckup {
    if is_good {
        return DoctorCheckup { name, status: CheckupStatus::Ok, detail: good.to_owned(), next_step: None };
    }
    DoctorCheckup { name, status: CheckupStatus::Failed, detail: bad, next_step: Some(next_step.to_owned()) }
}

fn warning(name: &'static str, detail: String, next_step: &str) -> DoctorCheckup {
    DoctorCheckup { name, status: CheckupStatus::Warning, detail, next_step: Some(next_step.to_owned()) }
}

/// Runs the agent's real program in a throw-away repository with the user's own configuration and reports what was
/// blocked.
pub fn prove(request: &ProofRequest) -> Result<Vec<DoctorCheckup>, ServiceError> {
    let agent = request.agent;
    let Some(program) = request.program.clone().or_else(|| find_program(agent)) else {
        let detail = format!("{agent} is not on PATH");
        return Ok(vec![warning("program", detail, "install it, or name it with `--program`")]);
    };
    let dir = tempfile::tempdir().map_err(ServiceError::system("cannot create a directory"))?;
    let repository = dir.path().join("repository");
    let version = version_of(&program, dir.path());
    prepare(&repository)?;
    let place = repository.to_string_lossy().into_owned();
    let settings = settings_file(agent);
    let server = ModelServer::start(&place, settings)
        .map_err(ServiceError::system("cannot serve the scripted model"))?;
    let Some(launch) = launch(agent, &program, &place, &server.url, &request.server.to_string_lossy()) else {
        let detail = format!("{agent} cannot be driven without its service");
        return Ok(vec![warning(
            "program",
            detail,
            "try the hook by hand: an undeclared edit must be refused",
        )]);
    };
    let workspace = Workspace::find(Some(&repository), &repository)?;
    register(&workspace, agent, &request.hook, RegistrationWish::Register, false)?;
    if let Some(extra) = project_settings(agent, &server.url) {
        merge_settings(&repository.join(settings), extra)?;
    }
    commit(&repository)?;
    let mut environment = ProcessEnvironment::inherited().with("PATH", search_path(&request.server));
    // The model is on the loopback address, which no proxy reaches.
    for name in ["no_proxy", "NO_PROXY"] {
        environment = environment.with(name, "127.0.0.1,localhost");
    }
    for (name, value) in &launch.variables {
        environment = environment.with(name, value);
    }
    let limits = CaptureLimits { time: PROOF_TIMEOUT, output_bytes: MAX_OUTPUT_BYTES };
    let ended = capture(&launch.argv, &environment, &repository, limits);
    let log = server.log();
    let mut rows = vec![row(
        "program",
        log.n_requests > 0,
        &format!("{} {version}, {} turns, {} tools offered", program.display(), log.n_requests, log.n_tools),
        format!(
            "{} {version} never asked the model: {}",
            program.display(),
            ended.as_ref().map_or_else(ToString::to_string, |output| last_line(&output.stderr))
        ),
        "start it once by hand and see what it asks for",
    )];
    if log.n_requests > 0 {
        rows.extend(report(agent, &repository, &log));
    }
    Ok(rows)
}

fn report(agent: CodingAgent, repository: &Path, log: &ModelLog) -> Vec<DoctorCheckup> {
    let result = |index: usize| log.results.get(index).map(String::as_str).unwrap_or_default();
    let exists = |name: &str| repository.join(name).exists();
    let is_refused = |index: usize| result(index).contains("probity:");
    let trust = "the program skipped the hook: see what `probity init` says a person must do";
    let seen = |index: usize| -> String { result(index).chars().take(160).collect() };
    let is_started = result(script::START).contains("edit_allowed");
    let mut rows = vec![
        row(
            "write",
            is_refused(script::UNDECLARED_WRITE) && !exists("new.txt"),
            "an undeclared edit was blocked",
            format!("an undeclared edit was not blocked: {}", seen(script::UNDECLARED_WRITE)),
            trust,
        ),
        row(
            "shell",
            is_refused(script::UNDECLARED_SHELL) && !exists("c.txt"),
            "an undeclared shell write was blocked",
            format!("an undeclared shell write was not blocked: {}", seen(script::UNDECLARED_SHELL)),
            trust,
        ),
        row(
            "reason",
            result(script::UNDECLARED_WRITE).contains("start_controlled_change"),
            "the model was told which call to make",
            format!("the model was not told why: {}", seen(script::UNDECLARED_WRITE)),
            trust,
        ),
        row(
            "tools",
            is_started,
            "start_controlled_change could be called",
            format!("start_controlled_change could not be called: {}", seen(script::START)),
            "approve the server `probity` in the agent",
        ),
    ];
    if is_started {
        let declared = fs::read_to_string(repository.join("a.txt")).unwrap_or_default();
        rows.push(row(
            "declared",
            declared == "declared\n",
            "a declared edit passed",
            format!("a declared edit did not pass: {}", seen(script::DECLARED_SHELL)),
            "run `probity doctor`",
        ));
        rows.push(row(
            "scope",
            is_refused(script::OUTSIDE_SHELL) && !exists("d.txt"),
            "an edit outside the declared files was blocked",
            format!("an edit outside was not blocked: {}", seen(script::OUTSIDE_SHELL)),
            trust,
        ));
    }
    let now = fs::read(repository.join(settings_file(agent))).unwrap_or_default();
    rows.push(row(
        "disarm",
        // Some agents rewrite their own settings, so only the content that the script writes counts.
        now.trim_ascii() != b"{}" && is_refused(script::DISARM),
        "the configuration of the guard could not be replaced",
        format!("the configuration of the guard could be replaced: {}", seen(script::DISARM)),
        trust,
    ));
    if is_started {
        let finished = result(script::FINISH);
        rows.push(row(
            "finish",
            finished.contains("accepted"),
            "finish_controlled_change accepted the change",
            format!("the finish was not accepted: {}", finished.chars().take(300).collect::<String>()),
            "run `probity doctor`",
        ));
    }
    rows.extend(limits_of(agent));
    rows
}

/// Names what no hook can close with this agent.
fn limits_of(agent: CodingAgent) -> Option<DoctorCheckup> {
    let (detail, next_step) = match agent {
        CodingAgent::Claude => (
            "project settings are read again during a session: a program that the agent runs can disarm the hook",
            "`probity init --agent claude --managed` as root, or Claude Code's own sandbox",
        ),
        CodingAgent::Codex => (
            "trust was bypassed here; in your project Codex skips the hook until it is reviewed; keystrokes to an open \
             shell reach no hook",
            "trust the project and review the hook with `/hooks`",
        ),
        CodingAgent::Copilot => (
            "trust was given here with --trust-folder; elsewhere Copilot CLI skips the hook until the directory is trusted",
            "trust the directory",
        ),
        CodingAgent::Gemini => {
            ("a sub-agent looks like its parent", "nothing to do: it works under the same intents")
        }
        CodingAgent::OpenCode => (
            "a plugin that cannot be loaded is skipped without a word",
            "repeat this proof after every update of OpenCode",
        ),
        CodingAgent::Qwen | CodingAgent::Cursor => return None,
    };
    Some(warning("limits", detail.to_owned(), next_step))
}

fn last_line(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("no message").trim().to_owned()
}

fn first_line(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim().to_owned()
}

fn find_program(agent: CodingAgent) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|dir| dir.join(agent.as_str())).find(|path| path.is_file())
}

fn version_of(program: &Path, dir: &Path) -> String {
    let limits = CaptureLimits { time: SETUP_TIMEOUT, output_bytes: MAX_OUTPUT_BYTES };
    let words = [program.as_os_str(), "--version".as_ref()];
    capture(&words, &ProcessEnvironment::inherited(), dir, limits)
        .map(|output| first_line(&output.stdout))
        .unwrap_or_default()
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
