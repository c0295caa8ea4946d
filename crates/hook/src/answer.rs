//! The answer in the words of each agent.
//!
//! A refusal says it three times: JSON on standard output, one line on standard error, exit code 2. Silence passes the
//! call. The hook never answers "allow", which would switch the user's own prompts off, and never "ask".

use crate::payload::{AgentDialect, HookEvent};
use serde::Serialize;

/// What the hook decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookDecision {
    /// Nothing to say.
    Silent,
    /// The call must not happen; one line says why.
    Refuse(String),
    /// One line for the model.
    Context(String),
    /// The agent must not end its turn yet; one line says why.
    Continue(String),
}

/// What the process prints and how it ends.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HookAnswer {
    pub stdout: String,
    pub stderr: String,
    pub exit_code: u8,
}

/// The exit code that refuses a call with every agent.
pub const REFUSED_EXIT_CODE: u8 = 2;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct NestedAnswer<'a> {
    hook_specific_output: NestedOutput<'a>,
}

/// Has exactly the members that the agent knows: Codex drops an answer with another one.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct NestedOutput<'a> {
    hook_event_name: &'a str,
    #[serde(flatten)]
    output: FlatAnswer<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FlatAnswer<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    permission_decision: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    permission_decision_reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    additional_context: Option<&'a str>,
}

#[derive(Serialize)]
struct PlainAnswer<'a> {
    decision: &'a str,
    reason: &'a str,
}

#[derive(Serialize)]
struct CursorAnswer<'a> {
    permission: &'a str,
    user_message: &'a str,
    agent_message: &'a str,
}

fn refusal(reason: &str) -> FlatAnswer<'_> {
    FlatAnswer {
        permission_decision: Some("deny"),
        permission_decision_reason: Some(reason),
        additional_context: None,
    }
}

fn context(line: &str) -> FlatAnswer<'_> {
    FlatAnswer { permission_decision: None, permission_decision_reason: None, additional_context: Some(line) }
}

fn json(answer: &impl Serialize) -> String {
    serde_json::to_string(answer).expect("answers have text keys only")
}

impl HookDecision {
    /// Renders the decision for an agent.
    pub fn render(&self, dialect: AgentDialect, event: HookEvent) -> HookAnswer {
        let name = event.name_in(dialect).unwrap_or_default();
        let nested = |output| {
            json(&NestedAnswer { hook_specific_output: NestedOutput { hook_event_name: name, output } })
        };
        let stdout = match (self, dialect) {
            // Cursor has no documented way to add context after a tool.
            (Self::Silent, _) | (Self::Context(_), AgentDialect::Cursor) => return HookAnswer::default(),
            (Self::Refuse(reason), AgentDialect::Claude | AgentDialect::Codex | AgentDialect::Qwen) => {
                nested(refusal(reason))
            }
            (Self::Refuse(reason), AgentDialect::Copilot) => json(&refusal(reason)),
            (Self::Refuse(reason), AgentDialect::Gemini | AgentDialect::OpenCode) => {
                json(&PlainAnswer { decision: "deny", reason })
            }
            (Self::Refuse(reason), AgentDialect::Cursor) => {
                json(&CursorAnswer { permission: "deny", user_message: reason, agent_message: reason })
            }
            (
                Self::Context(line),
                AgentDialect::Claude | AgentDialect::Codex | AgentDialect::Qwen | AgentDialect::Gemini,
            ) => nested(context(line)),
            (Self::Context(line), AgentDialect::Copilot | AgentDialect::OpenCode) => json(&context(line)),
            (Self::Continue(reason), _) => json(&PlainAnswer { decision: "block", reason }),
        };
        match self {
            Self::Refuse(reason) => {
                HookAnswer { stdout, stderr: format!("{reason}\n"), exit_code: REFUSED_EXIT_CODE }
            }
            _ => HookAnswer { stdout, ..HookAnswer::default() },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_speaks_in_three_ways() {
        let answer = HookDecision::Refuse("no".into()).render(AgentDialect::Codex, HookEvent::BeforeTool);
        assert_eq!(
            answer.stdout,
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}"#
        );
        assert_eq!((answer.stderr.as_str(), answer.exit_code), ("no\n", 2));
        let gemini = HookDecision::Refuse("no".into()).render(AgentDialect::Gemini, HookEvent::BeforeTool);
        assert_eq!(gemini.stdout, r#"{"decision":"deny","reason":"no"}"#);
    }

    #[test]
    fn passing_is_silent() {
        for &dialect in AgentDialect::ALL {
            assert_eq!(HookDecision::Silent.render(dialect, HookEvent::BeforeTool), HookAnswer::default());
        }
    }

    #[test]
    fn no_answer_allows_or_asks() {
        for &dialect in AgentDialect::ALL {
            for &event in HookEvent::ALL {
                for decision in [
                    HookDecision::Refuse("r".into()),
                    HookDecision::Context("c".into()),
                    HookDecision::Continue("k".into()),
                ] {
                    let text = decision.render(dialect, event).stdout;
                    assert!(!text.contains("allow") && !text.contains("ask"), "{text}");
                    assert!(text.is_empty() || serde_json::from_str::<serde_json::Value>(&text).is_ok());
                }
            }
        }
    }
}
