//! The words that arguments may be, with their schemas. They are those of the rules; a word the rules do not know does
//! not get here.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How much an answer says.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Detail {
    Summary,
    Normal,
    Full,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DirtyScope {
    Block,
    ContinueOwnWip,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Conflict {
    Block,
    Queue,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Strictness {
    Ci,
    Strict,
    Relaxed,
}

/// The word of the rules for a word of the surface: both are written alike.
pub(crate) fn rule<W: Serialize, R: serde::de::DeserializeOwned + Default>(word: Option<W>) -> R {
    optional_rule(word).unwrap_or_default()
}

/// The same where the rules may be silent.
pub(crate) fn optional_rule<W: Serialize, R: serde::de::DeserializeOwned>(word: Option<W>) -> Option<R> {
    let word = serde_json::to_value(word?).ok()?;
    serde_json::from_value(word).ok()
}
