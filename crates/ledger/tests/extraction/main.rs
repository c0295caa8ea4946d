//! Extraction by rules: what it finds, and what it must never make of a guess.
//!
//! `corpus` reads transcripts with gold labels, `score` compares what was found with the labels, `state` compares
//! the resulting ledger with the one that the labels give, and `retractions` asks what is still in force after something was
//! taken back.

mod corpus;
mod languages;
mod retractions;
mod score;
mod state;
mod transcripts;
mod utterances;
