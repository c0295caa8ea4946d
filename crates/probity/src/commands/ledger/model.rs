//! The arguments that choose the model for reading turns.

use clap::{Args, ValueEnum};
use probity_core::ReasonCode;
use probity_knowledge::ledger::{ModelAt, ModelRequest};
use probity_workspace::ServiceError;
use std::ffi::OsString;
use std::time::Duration;

#[derive(Debug, Args)]
#[command(next_help_heading = "Reading with a model")]
pub(crate) struct ModelArgs {
    /// The name of the model
    #[arg(long, value_name = "NAME", requires = "model_url")]
    model: Option<String>,

    /// Its address, as `http://gateway.local/v1` or `http://localhost:11434`
    #[arg(long, value_name = "URL", requires = "model", conflicts_with = "model_command")]
    model_url: Option<String>,

    /// The protocol of the model server
    #[arg(long, value_enum, default_value_t = ApiArg::Openai)]
    model_api: ApiArg,

    /// The variable that holds the key
    #[arg(long, value_name = "VARIABLE", default_value = "OPENAI_API_KEY")]
    model_key_env: String,

    /// A program that reads `{"system", "user", "schema"}` and writes the answer
    #[arg(long, value_name = "PROGRAM")]
    model_command: Option<OsString>,

    /// An argument of that program
    #[arg(long, value_name = "ARGUMENT", requires = "model_command", allow_hyphen_values = true)]
    model_arg: Vec<OsString>,

    /// The maximum time for one answer, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    model_timeout: u64,

    /// The maximum number of attempts for one question
    #[arg(long, value_name = "N", default_value_t = 3)]
    model_tries: u32,

    /// The maximum number of calls
    #[arg(long, value_name = "N", default_value_t = 200)]
    model_calls: u64,

    /// The maximum number of tokens to spend
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    model_tokens: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ApiArg {
    /// `POST URL/chat/completions`
    Openai,
    /// `POST URL/api/chat`
    Ollama,
}

impl ModelArgs {
    /// Returns the model to ask, if one is named.
    pub(crate) fn into_request(self) -> Result<Option<ModelRequest>, ServiceError> {
        let at = match (self.model_command, self.model_url, self.model) {
            (Some(program), _, _) => {
                let argv = std::iter::once(program).chain(self.model_arg).collect();
                ModelAt::Command { argv }
            }
            (None, Some(url), Some(model)) => match self.model_api {
                ApiArg::Openai => ModelAt::OpenAi { url, model, key: read_key(&self.model_key_env)? },
                ApiArg::Ollama => ModelAt::Ollama { url, model },
            },
            _ => return Ok(None),
        };
        Ok(Some(ModelRequest {
            at,
            timeout: Duration::from_secs(self.model_timeout),
            tries: self.model_tries,
            calls: self.model_calls,
            tokens: self.model_tokens,
        }))
    }
}

fn read_key(variable: &str) -> Result<Option<String>, ServiceError> {
    match std::env::var(variable) {
        Ok(key) => Ok(Some(key)),
        Err(std::env::VarError::NotPresent) => Ok(None),
        Err(std::env::VarError::NotUnicode(_)) => {
            Err(ServiceError::refused(ReasonCode::LedgerInputInvalid, format!("{variable} is no text")))
        }
    }
}
