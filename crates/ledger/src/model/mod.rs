//! Reading turns with a language model: the question that it is asked, and what its answer is worth.
//!
//! A model proposes; it decides nothing. Its answer is taken apart here, and the same checks apply to it as to the rules:
//! every delta must quote the words of a turn that it comes from, those words must be said and not merely asked, hedged or
//! quoted, and a summary must not deny what they assert. What fails is dropped with a reason, or becomes a hypothesis.
//! Names that a model makes up never reach the ledger: handles are minted here.

mod answer;
mod prompt;

pub use answer::{DropReason, DroppedDelta, ParsedAnswer, read};
pub use prompt::{ExtractionPrompt, TurnText, prompt, windows};

#[cfg(test)]
mod tests;
