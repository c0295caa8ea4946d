//! `cargo xtask bench hook`: one call of the hook beside starting `/bin/true` and beside hooks that are scripts, in one run.
//!
//! Every program is started through the same shell, as agents do, in turns, so that other work on the machine hits all alike.

use crate::{ChoreResult, cargo, target};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const ROUNDS: usize = 300;

/// A hook in Python as people write it: reads the payload, looks at the path, answers.
const PYTHON_HOOK: &str = r#"
import json, pathlib, sys
payload = json.load(sys.stdin)
path = pathlib.Path(payload["tool_input"].get("file_path", ""))
if path.suffix == ".txt" and not path.name.startswith("allowed"):
    json.dump({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny",
               "permissionDecisionReason": f"{path} is not declared"}}, sys.stdout)
    print(f"{path} is not declared", file=sys.stderr)
    sys.exit(2)
"#;

/// The same in JavaScript.
const NODE_HOOK: &str = r#"
const fs = require("fs"), path = require("path")
const payload = JSON.parse(fs.readFileSync(0, "utf8"))
const file = payload.tool_input.file_path || ""
if (path.extname(file) === ".txt" && !path.basename(file).startsWith("allowed")) {
  process.stdout.write(JSON.stringify({ hookSpecificOutput: { hookEventName: "PreToolUse",
    permissionDecision: "deny", permissionDecisionReason: file + " is not declared" } }))
  process.stderr.write(file + " is not declared\n")
  process.exit(2)
}
"#;

struct HookCase {
    name: &'static str,
    command: String,
    payload: PathBuf,
    exit_code: i32,
}

/// Measures and prints the table.
pub fn hook() -> ChoreResult {
    cargo("build the hook", &["build", "--release", "--quiet", "--package", "probity-hook"], &[])?;
    let place = std::env::temp_dir().join(format!("probity-bench-hook-{}", std::process::id()));
    let result = measure(&target().join("release/probity-hook"), &place);
    let _ = fs::remove_dir_all(&place);
    result
}

fn measure(hook: &Path, place: &Path) -> ChoreResult {
    let failed = |error: std::io::Error| error.to_string();
    let tree = place.join("tree");
    fs::create_dir_all(tree.join(".git")).map_err(failed)?;
    fs::write(tree.join("probity.toml"), "").map_err(failed)?;
    let payload = |name: &str, tool: &str, input: &str| -> Result<PathBuf, String> {
        let text = format!(
            r#"{{"session_id":"s","cwd":"{}","hook_event_name":"PreToolUse","tool_name":"{tool}","tool_input":{input}}}"#,
            tree.display()
        );
        fs::write(place.join(name), text).map_err(failed)?;
        Ok(place.join(name))
    };
    let edit = payload(
        "edit.json",
        "Write",
        &format!(r#"{{"file_path":"{}/a.txt","content":"x"}}"#, tree.display()),
    )?;
    let read = payload("read.json", "Bash", r#"{"command":"cargo test 2>&1 | grep -v warning | tail -20"}"#)?;
    let script = |name: &str, text: &str| -> Result<String, String> {
        fs::write(place.join(name), text).map_err(failed)?;
        Ok(place.join(name).display().to_string())
    };
    let python = script("hook.py", PYTHON_HOOK)?;
    let node = script("hook.js", NODE_HOOK)?;
    let hook = format!("{} claude before", hook.display());
    let case = |name, command: String, payload: &PathBuf, exit_code| HookCase {
        name,
        command,
        payload: payload.clone(),
        exit_code,
    };
    let mut cases = vec![
        case("/bin/true", "/bin/true".into(), &edit, 0),
        case("probity-hook, passes", hook.clone(), &read, 0),
        case("probity-hook, refuses", hook, &edit, 2),
        case("Python", format!("python3 {python}"), &edit, 2),
        case("Node", format!("node {node}"), &edit, 2),
    ];
    cases.retain(|case| {
        let is_there = run(case).is_ok();
        if !is_there {
            println!("{} cannot be started here", case.name);
        }
        is_there
    });
    let mut times: Vec<Vec<Duration>> = vec![Vec::new(); cases.len()];
    for _ in 0..ROUNDS {
        for (case, times) in cases.iter().zip(&mut times) {
            times.push(run(case)?);
        }
    }
    println!("{ROUNDS} rounds, milliseconds through `/bin/sh -c`");
    println!("{:<24} {:>8} {:>8} {:>14} {:>14}", "", "p50", "p99", "p50 over true", "p99 over true");
    let mut base = [0.0, 0.0];
    for (index, (case, times)) in cases.iter().zip(&mut times).enumerate() {
        times.sort_unstable();
        let at =
            |percent: usize| times[(times.len() * percent / 100).min(times.len() - 1)].as_secs_f64() * 1e3;
        let [p50, p99] = [at(50), at(99)];
        if index == 0 {
            base = [p50, p99];
        }
        println!("{:<24} {p50:>8.2} {p99:>8.2} {:>14.2} {:>14.2}", case.name, p50 - base[0], p99 - base[1]);
    }
    Ok(())
}

fn run(case: &HookCase) -> Result<Duration, String> {
    let input = fs::File::open(&case.payload).map_err(|error| error.to_string())?;
    let began = Instant::now();
    let status = Command::new("/bin/sh")
        .args(["-c", &case.command])
        .stdin(input)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .map_err(|error| error.to_string())?;
    let took = began.elapsed();
    if status.code() == Some(case.exit_code) {
        Ok(took)
    } else {
        Err(format!("{} ended with {status}, not with {}", case.name, case.exit_code))
    }
}
