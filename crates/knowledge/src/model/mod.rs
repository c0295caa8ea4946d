//! Asks a language model for a structured answer, and never waits, spends or believes without bounds.
//!
//! Owns: asking a language model within bounds of time, calls and tokens.
//! May use: process.
//! Must not know: what the question or the answer is about.
//!
//! * [`ModelProvider`]: something that answers a [`ModelQuestion`]. [`HttpProvider`] is an OpenAI-compatible or Ollama endpoint,
//!   [`CommandProvider`] a program that reads JSON and writes JSON.
//! * [`ModelClient`]: a provider with patience (timeout, retries with pauses) and a budget of calls and tokens.
//! * [`Trouble`]: why there is no answer, and whether trying again may help.
//!
//! Nothing here knows what the answer is about. A half answer is no answer. Keys are read by the caller and appear in no
//! message.
//!
//! There is no TLS here: it would bring a second cryptography stack into a binary that speaks to nobody else. Models on
//! this machine or in a trusted network are asked over plain `http`; for `https` there is the command, which may well be
//! `curl`, or a gateway.

mod client;
mod command;
mod http;

pub use client::{ModelClient, RetryPolicy, UsageBudget};
pub use command::CommandProvider;
pub use http::{HttpApi, HttpProvider};

use serde::Serialize;
use serde_json::Value;

/// The longest answer that is read.
pub(crate) const MAX_ANSWER_BYTES: usize = 4 << 20;

/// What a model is asked.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelQuestion {
    /// What it is and what it must do.
    pub system: String,
    /// What it is to look at.
    pub user: String,
    /// The JSON Schema of the answer.
    pub schema: Value,
}

/// What it answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelReply {
    /// The answer: JSON, if the model did as it was told.
    pub text: String,
    /// What it cost.
    pub usage: ProviderUsage,
}

/// What was spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct ProviderUsage {
    /// How often the model was asked, retries included.
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

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// It cannot be asked like this at all.
    #[error("the model cannot be asked: {0}")]
    Unusable(String),
    /// It could not be reached, or the connection broke.
    #[error("the model could not be reached: {0}")]
    Unreachable(String),
    /// It took too long.
    #[error("the model did not answer within {0} ms")]
    TimedOut(u128),
    /// It refused.
    #[error("the model answered with status {status}: {words}")]
    Refused {
        /// The status.
        status: u16,
        /// The first words of the answer.
        words: String,
        /// How long it asks to be left alone.
        wait_ms: Option<u64>,
    },
    /// The answer is none, or not whole.
    #[error("the model's answer is of no use: {0}")]
    BadAnswer(String),
    /// The budget is used up.
    #[error("the budget is used up: {0}")]
    Budget(String),
}

impl ModelError {
    /// Whether trying again may help.
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Unreachable(_) | Self::TimedOut(_) | Self::BadAnswer(_) => true,
            Self::Refused { status, .. } => matches!(status, 408 | 409 | 425 | 429 | 500..=599),
            Self::Unusable(_) | Self::Budget(_) => false,
        }
    }
}

/// Something that answers questions.
pub trait ModelProvider {
    /// Asks once.
    fn ask(&self, question: &ModelQuestion) -> Result<ModelReply, ModelError>;
}

/// The beginning of a text, for messages.
pub(crate) fn excerpt(bytes: &[u8]) -> String {
    let text: String = String::from_utf8_lossy(bytes).chars().take(200).collect();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
