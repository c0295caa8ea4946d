//! The steps that the scripted model plays, one tool call each.

use serde_json::{Map, Value};

/// What one step does, in neutral words; the wire format turns it into a tool that the agent offers.
#[derive(Debug, Clone)]
pub(crate) enum ScriptStep {
    Write { path: String, content: &'static str },
    Shell { command: String },
    Tool { name: &'static str, arguments: Map<String, Value> },
}

/// The place of each step in the script.
pub(crate) const UNDECLARED_WRITE: usize = 0;
pub(crate) const UNDECLARED_SHELL: usize = 1;
pub(crate) const START: usize = 2;
pub(crate) const DECLARED_SHELL: usize = 3;
pub(crate) const OUTSIDE_SHELL: usize = 4;
pub(crate) const DISARM: usize = 5;
pub(crate) const FINISH: usize = 6;
pub(crate) const N_STEPS: usize = 7;

fn arguments(members: &[(&str, Value)]) -> Map<String, Value> {
    members.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
}

/// Returns a step. `results` are the answers to the steps before it; the finish needs the handle from the start.
pub(crate) fn step(index: usize, repository: &str, settings: &str, results: &[String]) -> Option<ScriptStep> {
    let text = |text: &str| Value::from(text);
    let shell = |command: &str| Some(ScriptStep::Shell { command: command.to_owned() });
    match index {
        UNDECLARED_WRITE => {
            Some(ScriptStep::Write { path: format!("{repository}/new.txt"), content: "hello\n" })
        }
        UNDECLARED_SHELL => shell("echo undeclared > c.txt"),
        START => Some(ScriptStep::Tool {
            name: "start_controlled_change",
            arguments: arguments(&[
                ("intent", text("probity doctor proves the guard")),
                ("allowed_files", Value::from(vec!["a.txt"])),
                ("agent", text("doctor")),
            ]),
        }),
        DECLARED_SHELL => shell("echo declared > a.txt"),
        OUTSIDE_SHELL => shell("echo outside > d.txt"),
        DISARM => Some(ScriptStep::Shell { command: format!("echo '{{}}' > {settings}") }),
        FINISH => {
            let started = results.get(START).map(String::as_str).unwrap_or_default();
            let member = |name: &str| text(&member_text(started, name).unwrap_or_default());
            Some(ScriptStep::Tool {
                name: "finish_controlled_change",
                arguments: arguments(&[("intent_id", member("intent_id")), ("owner", member("owner"))]),
            })
        }
        _ => None,
    }
}

/// Returns the text of a member in JSON that may be escaped inside another text.
pub(crate) fn member_text(json: &str, name: &str) -> Option<String> {
    let at = json.find(&format!("{name}\\\":")).or_else(|| json.find(&format!("{name}\":")))?;
    let rest = &json[at + name.len()..];
    let value = rest.trim_start_matches(['"', '\\', ':', ' ']);
    let end = value.find(['"', '\\'])?;
    Some(value[..end].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_is_found_in_plain_and_in_escaped_json() {
        assert_eq!(member_text(r#"{"owner":"owner-1","x":1}"#, "owner").as_deref(), Some("owner-1"));
        assert_eq!(
            member_text(r#"[{"text":"{\"owner\": \"owner-1\"}"}]"#, "owner").as_deref(),
            Some("owner-1")
        );
        assert_eq!(member_text("nothing", "owner"), None);
    }
}
