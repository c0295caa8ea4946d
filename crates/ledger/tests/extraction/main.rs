//! Extraction by rules: what it finds, and what it must never make of a guess.
//!
//! `corpus` reads transcripts with their gold labels, `score` holds what was found against them, `state` the ledger that
//! results against the ledger that the labels give.

mod corpus;
mod languages;
mod score;
mod state;
mod transcripts;
mod utterances;
