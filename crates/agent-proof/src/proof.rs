//! Runs the proof and reports row by row.

use crate::drive::{DriveReport, DriveRequest, drive, version_of};
use crate::launch::settings_file;
use crate::script::{self, ModelScript};
use probity_api::change::{CheckupStatus, DoctorCheckup};
use probity_api::govern::setup::CodingAgent;
use probity_changes::agents::{AgentPermissions, HookMoment, HookProgram, hook_events};
use probity_workspace::ServiceError;
use std::fs;
use std::path::{Path, PathBuf};

/// What to prove.
#[derive(Debug)]
pub struct ProofRequest {
    pub agent: CodingAgent,
    /// The program of the agent; found on `PATH` if not given.
    pub program: Option<PathBuf>,
    /// The main program, which serves MCP.
    pub server: PathBuf,
    pub hook: HookProgram,
    /// What the agent may do without asking.
    pub permissions: AgentPermissions,
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
    let version = version_of(&program);
    let driven = drive(&DriveRequest {
        agent,
        program: &program,
        server: &request.server,
        hook: &request.hook,
        script: ModelScript::GuardedChange,
        permissions: request.permissions,
    })?;
    let Some(driven) = driven else {
        let detail = format!("{agent} cannot be driven without its service");
        let next_step = "try the hook by hand: an undeclared edit must be refused";
        return Ok(vec![warning("program", detail, next_step)]);
    };
    let log = &driven.log;
    let mut rows = vec![row(
        "program",
        log.n_requests > 0,
        &format!("{} {version}, {} turns, {} tools offered", program.display(), log.n_requests, log.n_tools),
        format!("{} {version} never asked the model: {}", program.display(), driven.last_line),
        "start it once by hand and see what it asks for",
    )];
    if log.n_requests > 0 {
        rows.extend(ProofReport { request, driven: &driven }.rows());
        let is_started = driven.result(script::START).contains("edit_allowed");
        if is_started && hook_events(agent).iter().any(|(_, moment)| *moment == HookMoment::Stop) {
            rows.push(forgotten_finish(request, &program)?);
        }
        rows.extend(limits_of(agent));
    }
    Ok(rows)
}

/// Lets the agent end its turn with an open intent.
fn forgotten_finish(request: &ProofRequest, program: &Path) -> Result<DoctorCheckup, ServiceError> {
    let driven = drive(&DriveRequest {
        agent: request.agent,
        program,
        server: &request.server,
        hook: &request.hook,
        script: ModelScript::ForgottenFinish,
        permissions: request.permissions,
    })?;
    let told = driven.map(|driven| driven.log.last_request).unwrap_or_default();
    let n_asked = told.matches("is still open").count();
    Ok(row(
        "stop",
        n_asked > 0,
        "at the end of its turn the agent was asked to finish",
        "at the end of its turn the agent was not asked to finish".to_owned(),
        TRUST_STEP,
    ))
}

const TRUST_STEP: &str = "the program skipped the hook: see what `probity init` says a person must do";

struct ProofReport<'a> {
    request: &'a ProofRequest,
    driven: &'a DriveReport,
}

impl ProofReport<'_> {
    /// Whether the model was told the hook's refusal, and the file is not there.
    fn blocked(&self, name: &'static str, step: usize, file: &str, what: &str) -> DoctorCheckup {
        let result = self.driven.result(step);
        let is_refused = result.contains("probity:");
        let is_there = self.driven.exists(file);
        if !is_refused && !is_there && self.request.permissions == AgentPermissions::AgentDefault {
            let detail = format!("{what} did not happen: {}", shortened(result));
            return warning(name, detail, "the agent's own permissions stopped it before the hook was asked");
        }
        row(
            name,
            is_refused && !is_there,
            &format!("{what} was blocked"),
            format!("{what} was not blocked: {}", shortened(result)),
            TRUST_STEP,
        )
    }

    /// Whether a write that the intent names happened.
    fn passed(
        &self,
        name: &'static str,
        step: usize,
        file: &str,
        content: &str,
        what: &str,
    ) -> DoctorCheckup {
        let result = self.driven.result(step);
        let now = fs::read_to_string(self.driven.repository.join(file)).unwrap_or_default();
        let is_done = now.trim_end() == content;
        if !is_done
            && !result.contains("probity:")
            && self.request.permissions == AgentPermissions::AgentDefault
        {
            let detail = format!("{what} waits for a person: {}", shortened(result));
            return warning(name, detail, "approve edits in the agent, or start it with fewer questions");
        }
        let bad = format!("{what} did not pass: {}", shortened(result));
        row(name, is_done, &format!("{what} passed"), bad, "run `probity doctor`")
    }

    fn rows(&self) -> Vec<DoctorCheckup> {
        let driven = self.driven;
        let told = driven.result(script::UNDECLARED_WRITE);
        let is_told = told.contains("start_controlled_change")
            || driven.result(script::UNDECLARED_SHELL).contains("start_controlled_change");
        let started = driven.result(script::START);
        let is_started = started.contains("edit_allowed");
        let mut rows = vec![
            self.blocked("write", script::UNDECLARED_WRITE, "new.txt", "an undeclared edit"),
            self.blocked("shell", script::UNDECLARED_SHELL, "c.txt", "an undeclared shell write"),
            self.reason(told, is_told),
            self.tools(started, is_started),
        ];
        if is_started {
            let amended = driven.result(script::AMEND);
            rows.push(self.passed(
                "declared",
                script::DECLARED_SHELL,
                "a.txt",
                "declared",
                "a declared edit",
            ));
            let what = "an edit outside the declared files";
            rows.push(self.blocked("scope", script::OUTSIDE_SHELL, "d.txt", what));
            rows.push(row(
                "amend",
                amended.contains("amended") || amended.contains("b.txt"),
                "manage_change_intent widened the change",
                format!("the change could not be widened: {}", shortened(amended)),
                "approve the server `probity` in the agent",
            ));
            rows.push(self.passed(
                "widened",
                script::AMENDED_SHELL,
                "b.txt",
                "amended",
                "an edit of the added file",
            ));
        }
        rows.push(self.disarm());
        if is_started {
            rows.extend(self.finish());
        }
        rows
    }

    fn reason(&self, told: &str, is_told: bool) -> DoctorCheckup {
        let bad = format!("the model was not told why: {}", shortened(told));
        if !is_told && self.request.permissions == AgentPermissions::AgentDefault {
            return warning("reason", bad, "the agent's own permissions answered before the hook was asked");
        }
        row("reason", is_told, "the model was told which call to make", bad, TRUST_STEP)
    }

    fn tools(&self, started: &str, is_started: bool) -> DoctorCheckup {
        let bad = format!("start_controlled_change could not be called: {}", shortened(started));
        let next_step = "approve the server `probity` in the agent";
        if !is_started && self.request.permissions == AgentPermissions::AgentDefault {
            return warning("tools", bad, next_step);
        }
        row("tools", is_started, "start_controlled_change could be called", bad, next_step)
    }

    fn disarm(&self) -> DoctorCheckup {
        let result = self.driven.result(script::DISARM);
        let now =
            fs::read(self.driven.repository.join(settings_file(self.request.agent))).unwrap_or_default();
        // Some agents rewrite their own settings, so only the content that the script writes counts.
        let is_kept = now.trim_ascii() != b"{}";
        let is_asked = self.request.permissions == AgentPermissions::AgentDefault;
        row(
            "disarm",
            is_kept && (is_asked || result.contains("probity:")),
            "the configuration of the guard could not be replaced",
            format!("the configuration of the guard could be replaced: {}", shortened(result)),
            TRUST_STEP,
        )
    }

    fn finish(&self) -> Vec<DoctorCheckup> {
        let finished = self.driven.result(script::FINISH);
        let member = |name: &str| script::member_text(finished, name).unwrap_or_default();
        let is_accepted = finished.contains("accepted");
        let enforcement = member("enforcement");
        vec![
            row(
                "finish",
                is_accepted,
                "finish_controlled_change accepted the change",
                format!("the finish was not accepted: {}", shortened(finished)),
                "run `probity doctor`",
            ),
            row(
                "receipt",
                finished.contains("sha256:") && matches!(enforcement.as_str(), "hook_held" | "managed_hook"),
                &format!("the receipt says {}", enforcement.replace('_', " ")),
                format!("the receipt does not say that the hook held: `{enforcement}`"),
                "run `probity doctor`",
            ),
        ]
    }
}

fn shortened(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(200).collect()
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

fn find_program(agent: CodingAgent) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|dir| dir.join(agent.as_str())).find(|path| path.is_file())
}
