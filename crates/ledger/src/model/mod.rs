//! Reading turns with a language model: the prompt, and the checks on the answer.
//!
//! A model proposes; it decides nothing. Its answer is checked here by the same standards as the rules: every delta
//! must quote words of the turn it comes from, those words must be asserted and not merely asked, hedged or quoted, and
//! the summary must not deny what they assert. A delta that fails is dropped with a reason or becomes a hypothesis.
//! Handles invented by a model never reach the ledger: they are minted here.

mod answer;
mod prompt;

pub use answer::{DropReason, DroppedDelta, ParsedAnswer, read};
pub use prompt::{ExtractionPrompt, TurnText, prompt, windows};

#[cfg(test)]
mod tests;
