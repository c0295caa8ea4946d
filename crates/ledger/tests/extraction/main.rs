//! Extraction by rules: what it finds, and what it must never make of a guess.
//!
//! `corpus` reads transcripts with gold labels, `score` compares what was found with the labels, and `state` compares
//! the resulting ledger with the one that the labels give.

mod corpus;
mod languages;
mod score;
mod state;
mod transcripts;
mod utterances;
