//! `cargo xtask agents`: installs the real programs of coding agents from npm into a cache of its own and lets
//! `probity doctor --prove` drive each of them.
//!
//! The programs run with an empty home directory below the cache, so that nothing of the developer is read or changed. An
//! agent that cannot be installed is skipped by name.

use crate::{ChoreResult, build, cargo, target};
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
        version: "2.1.325",
        program: ".bin/claude",
    },
    AgentPackage { agent: "codex", package: "@openai/codex", version: "0.166.0", program: ".bin/codex" },
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

/// Proves the hook on every agent, or on the named ones.
pub fn agents(only: &[String]) -> ChoreResult {
    let binary = build("dev")?;
    cargo("build the hook", &["build", "--quiet", "--package", "probity-hook"], &[])?;
    let cache = target().join("agents");
    let mut broken = Vec::new();
    for package in
        AGENT_PACKAGES.iter().filter(|it| only.is_empty() || only.iter().any(|name| name == it.agent))
    {
        match install(&cache, package) {
            Err(why) => println!("{:<9} skipped: {why}", package.agent),
            Ok(program) => {
                if !prove(&binary, &cache, package, &program)? {
                    broken.push(package.agent);
                }
            }
        }
    }
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
        .args(["install", "--no-audit", "--no-fund", "--loglevel=error"])
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

/// Drives one agent and prints its rows; returns whether nothing failed.
fn prove(binary: &Path, cache: &Path, package: &AgentPackage, program: &Path) -> Result<bool, String> {
    let home = cache.join("home").join(package.agent);
    let project = cache.join("project").join(package.agent);
    for dir in [&home, &project] {
        if dir.exists() {
            fs::remove_dir_all(dir).map_err(|error| error.to_string())?;
        }
        fs::create_dir_all(dir).map_err(|error| error.to_string())?;
    }
    let run = |words: &[&str]| {
        Command::new(binary)
            .arg("--root")
            .arg(&project)
            .args(["--json"])
            .args(words)
            .env("HOME", &home)
            .env("XDG_CONFIG_HOME", home.join(".config"))
            .env("XDG_DATA_HOME", home.join(".local/share"))
            .env("XDG_STATE_HOME", home.join(".local/state"))
            .env("XDG_CACHE_HOME", home.join(".cache"))
            .stderr(Stdio::null())
            .output()
            .map_err(|error| error.to_string())
    };
    let _ = Command::new("git").args(["init", "-q"]).current_dir(&project).status();
    run(&["init", "--agent", package.agent])?;
    let program = program.to_string_lossy();
    let output = run(&["doctor", "--agent", package.agent, "--prove", "--program", &program])?;
    let answer: Value = serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("{}: `doctor` answered no JSON: {error}", package.agent))?;
    println!("{} {}", package.agent, package.version);
    for check in answer["checks"].as_array().into_iter().flatten() {
        let text = |name: &str| check[name].as_str().unwrap_or_default().to_owned();
        println!("  {:<10} {:<8} {}", text("name"), text("status"), text("detail"));
    }
    Ok(answer["status"] != "failed" && answer["checks"].as_array().is_some_and(|checks| checks.len() > 2))
}
