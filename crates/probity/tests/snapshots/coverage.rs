//! Every command and tool has a snapshot, and every snapshot has a case.

use crate::client::Client;
use crate::command_list;
use crate::harness::{Form, Scene, fix_environment, snapshot_directory};
use serde_json::json;
use std::fs;
use std::process::Command;

/// The source of every area, which contains the names of its cases.
const AREAS: &[(&str, &str)] = &[
    ("change", include_str!("change.rs")),
    ("documents", include_str!("documents.rs")),
    ("general", include_str!("general.rs")),
    ("govern", include_str!("govern.rs")),
    ("ledger", include_str!("ledger.rs")),
    ("quality", include_str!("quality.rs")),
    ("setup", include_str!("setup.rs")),
    ("tools", include_str!("tools.rs")),
];

/// Returns the commands that the help of `path` lists, without `help` itself.
pub(crate) fn subcommands(path: &[&str]) -> Vec<String> {
    command_list::subcommands(&binary, path)
}

fn binary(path: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_probity"));
    fix_environment(command.args(path), &std::env::temp_dir());
    command
}

/// Returns the area, name and text of every snapshot.
fn snapshots() -> Vec<(String, String, String)> {
    let mut found = Vec::new();
    for area in fs::read_dir(snapshot_directory()).expect("is there").flatten() {
        for file in fs::read_dir(area.path()).expect("is a directory").flatten() {
            let name = file.file_name().into_string().expect("text");
            // A pending difference (`.snap.new`) is not a snapshot yet.
            let Some(name) = name.strip_suffix(".snap") else { continue };
            let text = fs::read_to_string(file.path()).expect("text");
            found.push((area.file_name().into_string().expect("text"), name.to_owned(), text));
        }
    }
    found
}

#[test]
fn every_command_has_snapshots_in_both_forms() {
    let commands = command_list::working_commands(&binary);
    let snapshots = snapshots();
    for form in [Form::Human, Form::Json] {
        let ending = format!(".{}", form.name());
        let lines: Vec<&str> = snapshots
            .iter()
            .filter(|(area, name, _)| area != "help" && name.ends_with(&ending))
            .filter_map(|(_, _, text)| text.lines().find_map(|line| line.strip_prefix("$ probity ")))
            .collect();
        let is_shown = |command: &&String| {
            lines.iter().any(|line| {
                line.strip_prefix(command.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
            })
        };
        let missing: Vec<&String> = commands.iter().filter(|command| !is_shown(command)).collect();
        assert!(missing.is_empty(), "without a snapshot for {form:?}: {missing:?}");
    }
}

#[test]
fn every_tool_has_snapshots_of_an_answer_and_of_a_refusal() {
    let scene = Scene::new("tools", "coverage", Form::Json);
    let mut client = Client::connect(scene.probity(&["mcp"]));
    let listed = client.request("tools/list", &json!({}));
    let tools: Vec<&str> = listed["result"]["tools"]
        .as_array()
        .expect("tools")
        .iter()
        .filter_map(|tool| tool["name"].as_str())
        .collect();
    assert!(!tools.is_empty());
    let snapshots = snapshots();
    for tool in tools {
        for is_error in [false, true] {
            let has = |text: &str| {
                text.contains(&format!("tools/call {tool} "))
                    && text.contains(&format!("is error: {is_error}\n"))
            };
            assert!(
                snapshots.iter().any(|(area, _, text)| area == "tools" && has(text)),
                "{tool} has no snapshot with is error: {is_error}"
            );
        }
    }
}

#[test]
fn every_snapshot_belongs_to_a_case() {
    for (area, name, _) in snapshots() {
        if area == "help" {
            continue;
        }
        let source = AREAS.iter().find(|(known, _)| *known == area).map(|(_, source)| *source);
        let source = source.unwrap_or_else(|| panic!("no test makes snapshots of `{area}`"));
        let name = name.trim_end_matches(".human").trim_end_matches(".json");
        // The name consists of a story and a case, either of which may have several words.
        let words: Vec<&str> = name.split('_').collect();
        let is_literal = |words: &[&str]| source.contains(&format!("\"{}\"", words.join("_")));
        let is_case = (1..words.len()).any(|end| is_literal(&words[..end]) && is_literal(&words[end..]));
        let is_made =
            is_case || is_literal(&words) || source.contains("{agent}_") && name.starts_with("init_agent_");
        assert!(is_made, "{area}/{name}.snap belongs to no case: delete it");
    }
}
