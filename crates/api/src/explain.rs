//! Answers of `probity explain`.

use crate::codes::KnownCode;
use crate::document::Answer;
use schemars::JsonSchema;
use serde::Serialize;

/// The meaning of a code: the answer of `probity explain CODE`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CodeExplanation {
    pub code: &'static str,
    /// What happened.
    pub meaning: &'static str,
    /// What to do about it.
    pub next_step: &'static str,
    /// The topic of the code: the heading of its table in the list of codes.
    pub family: &'static str,
    /// Meanings of the same word in other families.
    pub also: Vec<OtherMeaning>,
}

/// The meaning of the same word in another family.
#[derive(Debug, Serialize, JsonSchema)]
pub struct OtherMeaning {
    pub family: &'static str,
    /// What happened.
    pub meaning: &'static str,
    /// What to do about it.
    pub next_step: &'static str,
}

impl CodeExplanation {
    /// Explains the first of `codes`, with the others beside it; `None` if there are none.
    pub fn new(codes: &[KnownCode]) -> Option<Self> {
        let (first, others) = codes.split_first()?;
        let also = others.iter().map(|code| OtherMeaning {
            family: code.family.title,
            meaning: code.entry.meaning,
            next_step: code.entry.next_step,
        });
        Some(Self {
            code: first.entry.code,
            meaning: first.entry.meaning,
            next_step: first.entry.next_step,
            family: first.family.title,
            also: also.collect(),
        })
    }
}

impl Answer for CodeExplanation {
    const SCHEMA: &'static str = "probity/reason/v1";
}
