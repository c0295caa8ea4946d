//! The steps that the scripted model plays, one tool call each.

use serde_json::{Map, Value};

/// What one step does, in neutral words; the wire format turns it into a tool that the agent offers.
#[derive(Debug, Clone)]
pub(crate) enum ScriptStep {
    Write { path: String, content: &'static str },
    Shell { command: String },
    Tool { name: &'static str, arguments: Map<String, Value> },
}

/// What the scripted model does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelScript {
    /// Undeclared edits, a declaration, a declared edit, one outside, an amendment, an attempt on the configuration of the
    /// guard, the finish.
    GuardedChange,
    /// An edit and a shell write, which a hook must stop.
    TwoEdits,
    /// A declaration that is never finished.
    ForgottenFinish,
    /// Inside `probity run`: a write in scope, one outside, and words about both.
    GovernedRun,
}

/// The place of each step of [`ModelScript::GuardedChange`].
pub(crate) const UNDECLARED_WRITE: usize = 0;
pub(crate) const UNDECLARED_SHELL: usize = 1;
pub(crate) const START: usize = 2;
pub(crate) const DECLARED_SHELL: usize = 3;
pub(crate) const OUTSIDE_SHELL: usize = 4;
pub(crate) const AMEND: usize = 5;
pub(crate) const AMENDED_SHELL: usize = 6;
pub(crate) const DISARM: usize = 7;
pub(crate) const FINISH: usize = 8;

/// Where a script plays.
#[derive(Debug, Clone)]
pub(crate) struct ScriptPlace {
    pub(crate) repository: String,
    /// The file that installs the guard, relative to the repository.
    pub(crate) settings: &'static str,
}

fn tool(name: &'static str, members: &[(&str, Value)]) -> ScriptStep {
    let arguments = members.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    ScriptStep::Tool { name, arguments }
}

fn shell(command: &str) -> ScriptStep {
    ScriptStep::Shell { command: command.to_owned() }
}

impl ModelScript {
    /// Returns a step; `None` after the last one. `results` are the answers to the steps before it: later calls need the
    /// handle from the start.
    pub(crate) fn step(self, index: usize, place: &ScriptPlace, results: &[String]) -> Option<ScriptStep> {
        match self {
            Self::GuardedChange => guarded_change(index, place, results),
            Self::TwoEdits => match index {
                0 => Some(write_new(place)),
                1 => Some(shell("echo undeclared > c.txt")),
                _ => None,
            },
            Self::ForgottenFinish => (index == 0).then(start_change),
            Self::GovernedRun => match index {
                0 => Some(shell("echo governed > a.txt")),
                1 => Some(shell("echo outside > d.txt")),
                _ => None,
            },
        }
    }

    /// Returns the last words of the model.
    pub(crate) const fn last_words(self) -> &'static str {
        match self {
            Self::GovernedRun => "Decision: a.txt keeps one line per entry. We will not use tabs in it.",
            Self::GuardedChange | Self::TwoEdits | Self::ForgottenFinish => "Done.",
        }
    }
}

fn write_new(place: &ScriptPlace) -> ScriptStep {
    ScriptStep::Write { path: format!("{}/new.txt", place.repository), content: "hello\n" }
}

fn start_change() -> ScriptStep {
    tool(
        "start_controlled_change",
        &[
            ("intent", Value::from("probity doctor proves the guard")),
            ("allowed_files", Value::from(vec!["a.txt"])),
            ("agent", Value::from("doctor")),
        ],
    )
}

fn guarded_change(index: usize, place: &ScriptPlace, results: &[String]) -> Option<ScriptStep> {
    let text = |text: &str| Value::from(text);
    let started = results.get(START).map(String::as_str).unwrap_or_default();
    let member = |name: &str| text(&member_text(started, name).unwrap_or_default());
    let step = match index {
        UNDECLARED_WRITE => write_new(place),
        UNDECLARED_SHELL => shell("echo undeclared > c.txt"),
        START => start_change(),
        DECLARED_SHELL => shell("echo declared > a.txt"),
        OUTSIDE_SHELL => shell("echo outside > d.txt"),
        AMEND => tool(
            "manage_change_intent",
            &[
                ("action", text("amend")),
                ("intent_id", member("intent_id")),
                ("owner", member("owner")),
                ("allowed_files", Value::from(vec!["b.txt"])),
                ("why", text("the same words are in b.txt")),
            ],
        ),
        AMENDED_SHELL => shell("echo amended > b.txt"),
        DISARM => shell(&format!("echo '{{}}' > {}", place.settings)),
        FINISH => tool(
            "finish_controlled_change",
            &[("intent_id", member("intent_id")), ("owner", member("owner"))],
        ),
        _ => return None,
    };
    Some(step)
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
