//! The ledger: what agents know and have decided, reconciled under invariants. Pure: no file, no clock.
//!
//! Owns: candidates, items, transitions, identity of statements, extraction from transcripts.
//! May use: collections, core, documents, paths, prose, scopes.
//! Must not know: a file, a clock, a network, how batches are stored.
//!
//! Agents propose [`ProposedDelta`]s and the reconciler decides. Nothing false or untraceable becomes state, and
//! nothing is dropped silently. A [`Ledger`] is a pure function of the batches it received, in order: replaying them
//! gives the same [`Ledger::digest`].
//!
//! * [`vocabulary`]: kinds, statuses, confidence levels and the transition table.
//! * [`candidate`]: the deltas agents may propose. [`DeltaProposal::read`] parses one from any JSON value.
//! * [`Ledger::reconcile`] and [`Ledger::rehearse`]: one [`CandidateOutcome`] per candidate.
//! * `identity`: decides whether two summaries make the same statement, by the normal form of `prose`.
//! * Queries: [`Ledger::changed_since`], [`Ledger::as_of`], [`Ledger::explain`], [`Ledger::supported_by`],
//!   [`Ledger::conflicts`], [`Ledger::scoreboard`].
//! * [`Ledger::export`]: a context for the next prompt, within a budget; [`Ledger::markdown`]: pages for people.
//! * [`transcript`]: turns from agent session files; [`extract`]: candidates from turns, by rules.
//! * [`model`]: the prompt for a language model, and the checks on its answer.
//! * [`Ledger::suggestions`] and [`Ledger::constraints_touching`]: suggested next steps, and the constraints on a
//!   change.
//! * [`ProjectLedger`]: a ledger with its turns, streams and citations, as the fold of [`wire`] events; [`snapshot`]
//!   stores one.
//! * [`documents`]: items as documents of the commit store; [`merge`]: streams into the ledger.
//! * [`vectors`]: the JSON form of these functions, for `probity conformance`.
//!
//! `ledger` holds the state and its primitives; `item_record`, `name_table`, `sources` and `statements` are its
//! storage; `decide` and `reconcile` are the rules.

pub mod candidate;
pub mod extract;
mod project_ledger;
pub mod snapshot;
pub mod transcript;
pub mod vectors;
pub mod vocabulary;
pub mod wire;

mod conflicts;
mod constraint_scope;
mod contradicted_source;
mod decide;
mod digest;
pub mod documents;
mod export;
mod identity;
mod item_lines;
mod item_record;
mod item_view;
mod ledger;
mod markdown;
pub mod merge;
pub mod model;
mod name_table;
mod outcome;
mod policy;
mod query;
mod read;
mod reconcile;
mod scoreboard;
mod sources;
mod statements;
mod suggest;

pub use candidate::{DeltaProposal, ItemChange, ItemContent, ItemDelta, ProposedDelta, TurnSource};
pub use conflicts::ItemConflict;
pub use constraint_scope::ScopedConstraint;
pub use export::{ExportOptions, ExportedContext, estimate_tokens};
pub use item_record::{ItemId, LedgerSeq};
pub use item_view::{ItemView, SourceView, VersionView};
pub use ledger::Ledger;
pub use markdown::LedgerProjection;
pub use outcome::{CandidateVerdict, MergeCode, RejectCode, VerdictCode, VerdictKind};
pub use policy::ConstraintPolicy;
pub use project_ledger::{Citation, PendingTurn, ProjectLedger, ProjectLedgerError, StreamState};
pub use query::{ExplanationView, LogEntry, PositionCode, PositionError};
pub use read::CandidateDelta;
pub use reconcile::{BatchMode, CandidateOutcome, LedgerFull};
pub use scoreboard::AuthorScore;
pub use suggest::{LedgerSuggestion, SuggestionKind};
pub use vocabulary::{ConfidenceLevel, DeltaKind, ItemKind, ItemStatus, RevisionMode};
