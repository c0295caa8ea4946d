//! `cargo xtask agents`: installs the real programs of coding agents from npm into a cache of its own and puts each of them
//! through a trial: `probity doctor --prove` with and without permission prompts, hooks that fail in every way, and a
//! governed run. A short trial of two agents belongs to `cargo xtask test`.
//!
//! The programs run with an empty home directory below the cache, so that nothing of the developer is read or changed. An
//! agent that cannot be installed is skipped by name.

use crate::{ChoreResult, build, target};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// An agent with its package. The version is fixed: npm picks an older one by itself if the installed Node is old.
struct AgentPackage {
    agent: &'static str,
    package: &'static str,
    version: &'static str,
    /// The program below `node_modules`.
    program: &'static str,
}

const AGENT_PACKAGES: &[AgentPackage] = &[
    AgentPackage {
        agent: "claude",
        package: "@anthropic-ai/claude-code",
        version: "2.1.327",
        program: ".bin/claude",
    },
    AgentPackage { agent: "codex", package: "@openai/codex", version: "0.169.0", program: ".bin/codex" },
    AgentPackage {
        agent: "gemini",
        package: "@google/gemini-cli",
        version: "0.61.0",
        program: ".bin/gemini",
    },
    AgentPackage {
        agent: "copilot",
        package: "@github/copilot",
        version: "1.0.102",
        program: ".bin/copilot",
    },
    AgentPackage { agent: "qwen", package: "@qwen-code/qwen-code", version: "0.24.4", program: ".bin/qwen" },
    AgentPackage {
        agent: "opencode",
        package: "opencode-ai",
        version: "1.18.33",
        // Its install script is not run, and the program is in the package of the platform.
        program: "opencode-linux-x64/bin/opencode",
    },
];

/// The agents of the short trial, which belongs to the tests of the project.
const SHORT_TRIAL: [&str; 2] = ["claude", "codex"];
/// Ways to fail that need no waiting.
const QUICK_FAILURES: [&str; 3] = ["crash", "kill", "missing"];

/// The programs of this project that a trial needs.
struct TrialPrograms {
    main: PathBuf,
    hook_failures: PathBuf,
    governed_run: PathBuf,
    cache: PathBuf,
}

impl TrialPrograms {
    /// Builds everything in one call, so that the same features are chosen for all.
    fn build() -> Result<Self, String> {
        let main = build("dev")?;
        let debug = target().join("debug");
        Ok(Self {
            main,
            hook_failures: debug.join("examples/hook_failures"),
            governed_run: debug.join("examples/governed_run"),
            cache: target().join("agents"),
        })
    }
}

/// Puts every agent, or the named ones, through the whole trial.
pub fn agents(only: &[String]) -> ChoreResult {
    let programs = TrialPrograms::build()?;
    let mut broken = Vec::new();
    for package in
        AGENT_PACKAGES.iter().filter(|it| only.is_empty() || only.iter().any(|name| name == it.agent))
    {
        match install(&programs.cache, package) {
            Err(why) => println!("{:<9} skipped: {why}", package.agent),
            Ok(program) => {
                let trial = AgentTrial::new(&programs, package, &program)?;
                let is_good = [
                    trial.prove("permission prompts off", &[])?,
                    trial.prove("permissions by default", &["--ask"])?,
                    trial.fail_hooks(&[])?,
                    trial.govern_run()?,
                ];
                if is_good.contains(&false) {
                    broken.push(package.agent);
                }
            }
        }
    }
    conclude(&broken)
}

/// The short trial: the guard and the quick failures on two agents. Without npm or its registry it is skipped by name,
/// but fails on the machine of the continuous integration.
pub fn short_trial() -> ChoreResult {
    let programs = TrialPrograms::build()?;
    let mut broken = Vec::new();
    for package in AGENT_PACKAGES.iter().filter(|it| SHORT_TRIAL.contains(&it.agent)) {
        match install(&programs.cache, package) {
            Err(why) if std::env::var_os("CI").is_some() => {
                return Err(format!("{} cannot be installed: {why}", package.agent));
            }
            Err(why) => eprintln!("    skipped: {} cannot be installed: {why}", package.agent),
            Ok(program) => {
                let trial = AgentTrial::new(&programs, package, &program)?;
                let is_good = [
                    trial.prove("permission prompts off", &[])?,
                    trial.fail_hooks(&QUICK_FAILURES)?,
                    trial.govern_run()?,
                ];
                if is_good.contains(&false) {
                    broken.push(package.agent);
                }
            }
        }
    }
    conclude(&broken)
}

fn conclude(broken: &[&str]) -> ChoreResult {
    if broken.is_empty() {
        Ok(())
    } else {
        Err(format!("the guard does not stand with {}", broken.join(", ")))
    }
}

/// Installs a package unless that version is there; returns the program.
fn install(cache: &Path, package: &AgentPackage) -> Result<PathBuf, String> {
    let dir = cache.join(package.agent);
    let program = dir.join("node_modules").join(package.program);
    let manifest = dir.join("node_modules").join(package.package).join("package.json");
    let installed: Value =
        fs::read(&manifest).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
    if installed["version"] == package.version && program.exists() {
        return Ok(program);
    }
    fs::create_dir_all(&dir).map_err(|error| error.to_string())?;
    fs::write(dir.join("package.json"), "{\"private\": true}\n").map_err(|error| error.to_string())?;
    let done = Command::new("npm")
        .args(["install", "--no-audit", "--no-fund", "--loglevel=error", "--fetch-retries=1"])
        .arg(format!("{}@{}", package.package, package.version))
        .current_dir(&dir)
        .stdout(Stdio::null())
        .output()
        .map_err(|error| format!("npm: {error}"))?;
    if !done.status.success() {
        let text = String::from_utf8_lossy(&done.stderr).into_owned();
        return Err(text.lines().next().unwrap_or("npm failed").to_owned());
    }
    if program.exists() {
        Ok(program)
    } else {
        Err(format!("{} has no program for this platform", package.package))
    }
}

/// One agent in an empty home directory and an empty project.
struct AgentTrial<'a> {
    programs: &'a TrialPrograms,
    package: &'a AgentPackage,
    program: &'a Path,
    home: PathBuf,
    project: PathBuf,
    /// Where throw-away repositories are made. Claude Code trusts what is below a trusted directory.
    repositories: PathBuf,
}

impl<'a> AgentTrial<'a> {
    fn new(
        programs: &'a TrialPrograms,
        package: &'a AgentPackage,
        program: &'a Path,
    ) -> Result<Self, String> {
        let place = |name: &str| programs.cache.join(name).join(package.agent);
        let trial = Self {
            programs,
            package,
            program,
            home: place("home"),
            project: place("project"),
            repositories: place("repositories"),
        };
        for dir in [&trial.home, &trial.project, &trial.repositories] {
            if dir.exists() {
                fs::remove_dir_all(dir).map_err(|error| error.to_string())?;
            }
            fs::create_dir_all(dir).map_err(|error| error.to_string())?;
        }
        if package.agent == "claude" {
            // What a person does once in the dialog: trust the directory.
            let place = Value::from(trial.repositories.to_string_lossy());
            let trust = format!("{{\"projects\":{{{place}:{{\"hasTrustDialogAccepted\":true}}}}}}");
            fs::write(trial.home.join(".claude.json"), trust).map_err(|error| error.to_string())?;
        }
        Ok(trial)
    }

    /// Returns a command with the home directory of the trial.
    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(&self.project)
            .env("HOME", &self.home)
            .env("TMPDIR", &self.repositories)
            .env("XDG_CONFIG_HOME", self.home.join(".config"))
            .env("XDG_DATA_HOME", self.home.join(".local/share"))
            .env("XDG_STATE_HOME", self.home.join(".local/state"))
            .env("XDG_CACHE_HOME", self.home.join(".cache"));
        command
    }

    /// Lets `probity doctor` drive the agent and prints its rows; returns whether nothing failed.
    fn prove(&self, title: &str, words: &[&str]) -> Result<bool, String> {
        let AgentPackage { agent, version, .. } = self.package;
        let run = |words: &[&str]| {
            let mut command = self.command(&self.programs.main);
            command.arg("--root").arg(&self.project).arg("--json").args(words);
            command.stderr(Stdio::null()).output().map_err(|error| error.to_string())
        };
        Command::new("git")
            .args(["init", "-q"])
            .current_dir(&self.project)
            .status()
            .map_err(|error| format!("git: {error}"))?;
        run(&["init", "--agent", agent])?;
        let program = self.program.to_string_lossy();
        let doctor = ["doctor", "--agent", agent, "--prove", "--program", &program];
        let output = run(&[&doctor[..], words].concat())?;
        let answer: Value = serde_json::from_slice(&output.stdout)
            .map_err(|error| format!("{agent}: `doctor` answered no JSON: {error}"))?;
        println!("{agent} {version}: the guard, {title}");
        for check in answer["checks"].as_array().into_iter().flatten() {
            let text = |name: &str| check[name].as_str().unwrap_or_default().to_owned();
            println!("  {:<10} {:<8} {}", text("name"), text("status"), text("detail"));
        }
        // Fewer rows mean that the program was never asked anything.
        Ok(answer["status"] != "failed" && answer["checks"].as_array().is_some_and(|checks| checks.len() > 4))
    }

    /// Lets hooks fail in every way, or in the named ones.
    fn fail_hooks(&self, failures: &[&str]) -> Result<bool, String> {
        println!("{} {}: a hook that fails", self.package.agent, self.package.version);
        let status = self
            .command(&self.programs.hook_failures)
            .arg(self.package.agent)
            .args([self.program, &self.programs.main])
            .args(failures)
            .status()
            .map_err(|error| error.to_string())?;
        Ok(status.success())
    }

    /// Lets the agent work on a task in a governed run.
    fn govern_run(&self) -> Result<bool, String> {
        println!("{} {}: `probity run --agent --task`", self.package.agent, self.package.version);
        if self.package.agent == "opencode" {
            println!(
                "  skipped: at its first start in a project it writes to git's directory and to its own settings"
            );
            return Ok(true);
        }
        let status = self
            .command(&self.programs.governed_run)
            .arg(self.package.agent)
            .args([self.program, &self.programs.main])
            .status()
            .map_err(|error| error.to_string())?;
        Ok(status.success())
    }
}
