//! Finds the session files that an agent wrote while it worked in a tree.

use probity_api::govern::setup::CodingAgent;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// How deep session files lie below an agent's directory.
const MAX_DEPTH: usize = 5;
/// The most files that are looked at.
const MAX_FILES: usize = 20_000;
/// The largest session file that is read.
const MAX_SESSION_BYTES: u64 = 256 * 1024 * 1024;

/// Returns where an agent keeps its sessions below the home directory, and how the files end; `None` if they are no
/// files that can be read.
const fn session_place(agent: CodingAgent) -> Option<(&'static str, &'static str)> {
    match agent {
        CodingAgent::Claude => Some((".claude/projects", ".jsonl")),
        CodingAgent::Codex => Some((".codex/sessions", ".jsonl")),
        CodingAgent::Gemini => Some((".gemini/tmp", ".jsonl")),
        CodingAgent::Copilot => Some((".copilot/session-state", "events.jsonl")),
        CodingAgent::Qwen => Some((".qwen/projects", ".jsonl")),
        // OpenCode and Cursor keep sessions in databases of their own.
        CodingAgent::OpenCode | CodingAgent::Cursor => None,
    }
}

/// Returns the session files of an agent that were written since a time and name the tree, with their content.
///
/// # Errors
///
/// Returns why sessions of this agent cannot be found.
pub fn agent_sessions(
    agent: CodingAgent,
    home: &Path,
    since: SystemTime,
    root: &Path,
) -> Result<Vec<(PathBuf, Vec<u8>)>, String> {
    let Some((place, ending)) = session_place(agent) else {
        return Err(format!("{agent} keeps its sessions in a database, which Probity does not read"));
    };
    let mut found = Vec::new();
    let mut n_seen = 0;
    collect(&home.join(place), ending, since, 0, &mut n_seen, &mut found);
    found.sort();
    let names_root = |bytes: &[u8]| {
        let root = root.to_string_lossy();
        bytes.windows(root.len()).any(|window| window == root.as_bytes())
    };
    let read =
        |path: PathBuf| fs::read(&path).ok().filter(|bytes| names_root(bytes)).map(|bytes| (path, bytes));
    Ok(found.into_iter().filter_map(read).collect())
}

fn collect(
    dir: &Path,
    ending: &str,
    since: SystemTime,
    depth: usize,
    n_seen: &mut usize,
    found: &mut Vec<PathBuf>,
) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        *n_seen += 1;
        if *n_seen > MAX_FILES {
            return;
        }
        let (path, Ok(facts)) = (entry.path(), entry.metadata()) else { continue };
        if facts.is_dir() && depth < MAX_DEPTH {
            collect(&path, ending, since, depth + 1, n_seen, found);
        } else if facts.is_file()
            && facts.len() <= MAX_SESSION_BYTES
            && path.to_string_lossy().ends_with(ending)
            && facts.modified().is_ok_and(|at| at >= since)
        {
            found.push(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_of_another_tree_or_time_are_not_taken() {
        let home = tempfile::tempdir().expect("a directory");
        let dir = home.path().join(".codex/sessions/2026/01/01");
        fs::create_dir_all(&dir).expect("creates");
        fs::write(dir.join("rollout-a.jsonl"), r#"{"cwd":"/work/tree"}"#).expect("writes");
        fs::write(dir.join("rollout-b.jsonl"), r#"{"cwd":"/work/other"}"#).expect("writes");
        fs::write(dir.join("notes.txt"), "/work/tree").expect("writes");
        let since = |time| agent_sessions(CodingAgent::Codex, home.path(), time, Path::new("/work/tree"));
        let found = since(SystemTime::UNIX_EPOCH).expect("a known agent");
        assert_eq!(found.len(), 1);
        assert!(found[0].0.ends_with("rollout-a.jsonl"));
        let later = SystemTime::now() + std::time::Duration::from_hours(1);
        assert!(since(later).expect("a known agent").is_empty());
        assert!(agent_sessions(CodingAgent::OpenCode, home.path(), later, Path::new("/")).is_err());
    }
}
