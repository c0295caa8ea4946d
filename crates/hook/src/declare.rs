//! Calls the main program where the small one must not: to declare a change for a first edit, and to read the ledger at the
//! start of a session.

use crate::machine::FileWorld;
use crate::payload::AgentDialect;
use probity_guard::{GuardRefusal, GuardWorld, RefusalCode};
use probity_process::{CaptureError, CaptureLimits, CapturedOutput, ProcessEnvironment, capture};
use serde_json::Value;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long the main program may take. The hook's own deadline for slow events is longer.
const MAIN_PROGRAM_TIMEOUT: Duration = Duration::from_secs(6);
const MAX_OUTPUT_BYTES: usize = 1024 * 1024;

/// The longest ledger context that is given to a session, in bytes.
const MAX_CONTEXT_BYTES: usize = 4_000;
/// The same as the ledger counts it.
const CONTEXT_BUDGET_TOKENS: &str = "900";

/// Returns the main program: beside this one, else found on `PATH`.
fn main_program() -> PathBuf {
    let beside = std::env::current_exe().ok().and_then(|own| {
        let path = own.parent()?.join("probity");
        path.is_file().then_some(path)
    });
    beside.unwrap_or_else(|| PathBuf::from("probity"))
}

/// Runs the main program on a tree.
fn run_main_program(root: &str, words: &[&str]) -> Result<CapturedOutput, CaptureError> {
    crate::deadline::extend();
    let program = main_program();
    let argv: Vec<&OsStr> = [program.as_os_str(), "--root".as_ref(), root.as_ref()]
        .into_iter()
        .chain(words.iter().map(AsRef::as_ref))
        .collect();
    let limits = CaptureLimits { time: MAIN_PROGRAM_TIMEOUT, output_bytes: MAX_OUTPUT_BYTES };
    capture(&argv, &ProcessEnvironment::inherited(), Path::new(root), limits)
}

/// Starts an intent for the paths of a first edit and binds it to the session.
pub(crate) fn start_intent(
    dialect: AgentDialect,
    root: &str,
    paths: &[String],
    world: &FileWorld,
) -> Result<(), GuardRefusal> {
    let failed = |why: &str| {
        let reason = format!("no intent could be started for {}: {why}", paths.join(", "));
        GuardRefusal::new(RefusalCode::NoIntent, reason)
    };
    let intent = "declared by the first edit of a session";
    let mut words = vec!["--json", "start", "--agent", dialect.as_str(), "--intent", intent, "--"];
    words.extend(paths.iter().map(String::as_str));
    let output = run_main_program(root, &words).map_err(|error| failed(&error.to_string()))?;
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let intent_id = answer.get("intent_id").and_then(Value::as_str);
    let is_allowed = answer.get("edit_allowed") == Some(&Value::Bool(true));
    if let (Some(intent_id), true, Some(tree)) = (intent_id, is_allowed, world.tree_of(root)) {
        world.session_files(&tree).bind(intent_id);
        return Ok(());
    }
    let why = answer.get("message").or_else(|| answer.get("error")).and_then(Value::as_str);
    Err(failed(why.unwrap_or("`probity start` did not allow it")))
}

/// Returns the ledger's context for a session, with a leading blank; empty if there is none.
pub(crate) fn ledger_context(root: &str) -> String {
    let output = run_main_program(root, &["ledger", "export", "--budget", CONTEXT_BUDGET_TOKENS]);
    let Ok(output) = output.map(|output| output.stdout) else { return String::new() };
    let text = String::from_utf8_lossy(&output);
    let text = text.trim();
    // An empty ledger has a title only.
    if text.lines().count() < 2 {
        return String::new();
    }
    let mut end = text.len().min(MAX_CONTEXT_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("\n\n{}", &text[..end])
}
