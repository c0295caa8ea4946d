//! A program as a model: it reads `{"system", "user", "schema"}` from standard input and writes its answer, or
//! `{"text", "usage": {"prompt_tokens", "completion_tokens"}}`, to standard output.

use crate::model::{
    MAX_ANSWER_BYTES, ModelError, ModelProvider, ModelQuestion, ModelReply, ProviderUsage, excerpt,
};
use probity_process::{CaptureError, CaptureLimits, JobOutcome, ProcessEnvironment};
use serde_json::{Value, json};
use std::ffi::OsString;
use std::io::{Seek, Write};
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Clone)]
pub struct CommandProvider {
    /// The program and its arguments, run without a shell.
    pub argv: Vec<OsString>,
    pub environment: ProcessEnvironment,
    pub cwd: PathBuf,
    pub timeout: Duration,
}

impl ModelProvider for CommandProvider {
    fn ask(&self, question: &ModelQuestion) -> Result<ModelReply, ModelError> {
        let asked = json!({ "system": question.system, "user": question.user, "schema": question.schema });
        let broken = |error: std::io::Error| ModelError::Unusable(error.to_string());
        // A file instead of a pipe: a program that does not read cannot block us.
        let mut stdin = tempfile::tempfile().map_err(broken)?;
        stdin.write_all(asked.to_string().as_bytes()).and_then(|()| stdin.rewind()).map_err(broken)?;
        let limits = CaptureLimits { time: self.timeout, output_bytes: MAX_ANSWER_BYTES };
        let captured =
            probity_process::capture_from(&self.argv, &self.environment, &self.cwd, limits, Some(stdin))
                .map_err(|error| model_error(&error))?;
        if captured.outcome != JobOutcome::Exited(0) {
            let words = excerpt(&captured.stderr);
            let words = if words.is_empty() { "it wrote nothing to stderr" } else { &words };
            return Err(ModelError::Unreachable(format!("the command {}: {words}", captured.outcome)));
        }
        let text = String::from_utf8(captured.stdout)
            .map_err(|_| ModelError::BadAnswer("it is not UTF-8".into()))?;
        Ok(parse_reply(text))
    }
}

fn model_error(error: &CaptureError) -> ModelError {
    match error {
        CaptureError::TimedOut { limit, .. } => ModelError::TimedOut(limit.as_millis()),
        CaptureError::TooMuchOutput { .. } => ModelError::BadAnswer(error.to_string()),
        CaptureError::NoCommand | CaptureError::Io { .. } => ModelError::Unusable(error.to_string()),
    }
}

fn parse_reply(text: String) -> ModelReply {
    let usage = |value: &Value, name: &str| value["usage"][name].as_u64().unwrap_or(0);
    match serde_json::from_str::<Value>(&text) {
        Ok(value) if value["text"].is_string() => ModelReply {
            text: value["text"].as_str().unwrap_or_default().to_owned(),
            usage: ProviderUsage {
                calls: 1,
                prompt_tokens: usage(&value, "prompt_tokens"),
                completion_tokens: usage(&value, "completion_tokens"),
            },
        },
        _ => ModelReply { text, usage: ProviderUsage { calls: 1, ..ProviderUsage::default() } },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(script: &str) -> Result<ModelReply, ModelError> {
        ask_within(script, probity_testkit::STUCK_TIMEOUT)
    }

    fn ask_within(script: &str, timeout: Duration) -> Result<ModelReply, ModelError> {
        let command = CommandProvider {
            argv: ["sh", "-c", script].map(OsString::from).to_vec(),
            environment: ProcessEnvironment::inherited(),
            cwd: std::env::temp_dir(),
            timeout,
        };
        command.ask(&ModelQuestion { system: "s".into(), user: "say hi".into(), schema: json!({}) })
    }

    #[test]
    fn a_program_reads_the_question_and_writes_the_answer() {
        let reply = ask("grep -q 'say hi' && echo '{\"deltas\": []}'").expect("answers");
        assert_eq!(reply.text.trim(), "{\"deltas\": []}");
        let counted = ask("echo '{\"text\": \"{}\", \"usage\": {\"prompt_tokens\": 7}}'").expect("answers");
        assert_eq!((counted.text.as_str(), counted.usage.prompt_tokens), ("{}", 7));
    }

    #[test]
    fn a_program_that_fails_hangs_or_is_missing_is_trouble() {
        assert!(
            matches!(ask("echo no >&2; exit 3"), Err(ModelError::Unreachable(why)) if why.contains("no"))
        );
        assert_eq!(ask_within("sleep 3600", Duration::from_millis(100)), Err(ModelError::TimedOut(100)));
        assert!(matches!(ask("printf '\\377'"), Err(ModelError::BadAnswer(_))));
        let missing = CommandProvider {
            argv: vec!["/no/such/program".into()],
            environment: ProcessEnvironment::inherited(),
            cwd: std::env::temp_dir(),
            timeout: Duration::from_secs(1),
        };
        let question = ModelQuestion { system: String::new(), user: String::new(), schema: json!({}) };
        assert!(matches!(missing.ask(&question), Err(ModelError::Unusable(_))));
    }
}
