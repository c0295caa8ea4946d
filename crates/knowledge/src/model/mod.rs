//! Asks a language model for a structured answer, within limits of time, cost and trust.
//!
//! Owns: asking a language model within bounds of time, calls and tokens.
//! May use: process.
//! Must not know: what the question or the answer is about.
//!
//! * [`ModelProvider`]: answers a [`ModelQuestion`]. [`HttpProvider`] is an OpenAI-compatible or Ollama endpoint,
//!   [`CommandProvider`] a program that reads JSON and writes JSON.
//! * [`ModelClient`]: a provider with timeouts, retries and a budget of calls and tokens.
//! * [`ModelError`]: why there is no answer, and whether a retry may help.
//!
//! An incomplete answer counts as none. The caller reads the keys, and they appear in no message.
//!
//! There is no TLS here: it would add a second cryptography stack to a binary that makes no other connection. Models on
//! this machine or in a trusted network are called over plain `http`; for `https` use a command, such as `curl`, or a
//! gateway.

mod client;
mod command;
mod http;

pub use client::{ModelClient, RetryPolicy, UsageBudget};
pub use command::CommandProvider;
pub use http::{HttpApi, HttpProvider};

use serde::Serialize;
use serde_json::Value;

pub(crate) const MAX_ANSWER_BYTES: usize = 4 << 20;

#[derive(Debug, Clone, PartialEq)]
pub struct ModelQuestion {
    /// The role and instructions.
    pub system: String,
    /// The input to work on.
    pub user: String,
    /// The JSON Schema of the answer.
    pub schema: Value,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelReply {
    /// JSON, if the model followed the instructions.
    pub text: String,
    pub usage: ProviderUsage,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct ProviderUsage {
    /// Calls to the model, including retries.
    pub calls: u64,
    /// Tokens of the questions, as the provider counts them.
    pub prompt_tokens: u64,
    /// Tokens of the answers, as the provider counts them.
    pub completion_tokens: u64,
}

impl ProviderUsage {
    fn add(&mut self, other: Self) {
        self.calls += other.calls;
        self.prompt_tokens += other.prompt_tokens;
        self.completion_tokens += other.completion_tokens;
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// It cannot be called with this configuration.
    #[error("the model cannot be asked: {0}")]
    Unusable(String),
    /// It could not be reached, or the connection broke.
    #[error("the model could not be reached: {0}")]
    Unreachable(String),
    #[error("the model did not answer within {0} ms")]
    TimedOut(u128),
    #[error("the model answered with status {status}: {words}")]
    Refused {
        status: u16,
        /// The beginning of the response.
        words: String,
        /// The delay that the provider asks for.
        wait_ms: Option<u64>,
    },
    /// The answer is missing or incomplete.
    #[error("the model's answer is of no use: {0}")]
    BadAnswer(String),
    #[error("the budget is used up: {0}")]
    Budget(String),
}

impl ModelError {
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Unreachable(_) | Self::TimedOut(_) | Self::BadAnswer(_) => true,
            Self::Refused { status, .. } => matches!(status, 408 | 409 | 425 | 429 | 500..=599),
            Self::Unusable(_) | Self::Budget(_) => false,
        }
    }
}

pub trait ModelProvider {
    /// Asks once.
    fn ask(&self, question: &ModelQuestion) -> Result<ModelReply, ModelError>;
}

/// Returns the beginning of a text, for messages.
pub(crate) fn excerpt(bytes: &[u8]) -> String {
    let text: String = String::from_utf8_lossy(bytes).chars().take(200).collect();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
