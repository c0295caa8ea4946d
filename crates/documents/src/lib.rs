//! Versioned typed documents, and supervised reconciliation of merges. Pure: no file, clock or database.
//!
//! Owns: schemas, typed documents, commits, merge bases, merges and their reconciliation.
//! May use: collections, core.
//! Must not know: where commits are stored, a file, a clock, the ledger.
//!
//! * [`DocumentSchema`], [`ValueType`]: the shape of documents; [`MutationBuilder`] records opcodes checked against it.
//! * [`Commit`]: a content-addressed value. [`CommitReader`] is the port to a store; [`MemoryCommits`] implements it, and
//!   [`CommitOverlay`] adds commits on top of a store without writing.
//! * [`DocumentEngine`]: states, single documents, linear order, merge bases, and the reasons opcodes were skipped.
//! * [`MergeAnalyzer`]: finds the intent that a merge lost ([`MergeAnalysis`]) and builds the survival commit that
//!   applies decisions about it ([`MergeResolution`]).
//! * [`MergePolicy`]: decides conflicts before a person is asked; [`Invariant`]: a condition on the merged state;
//!   [`DecisionRecord`]: who decided what, and why.
//! * [`reduce_heads`]: folds several heads into one, identically in every replica; [`export_bundle`] and
//!   [`import_bundle`] transfer commits between stores.
//!
//! ```
//! use probity_documents::{ConflictChoice, Commit, DocumentEngine, MemoryCommits, MergeAnalyzer, MergeResolution, MutationBuilder, DocumentSchema, CommitStamp};
//! use serde_json::json;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let schema = DocumentSchema::from_json(&json!({
//!     "structs": {"Ticket": [["title", "string"], ["rank", "int64"]]},
//!     "attachments": {"ticket": "Ticket"},
//! }))?;
//! let mut store = MemoryCommits::new();
//! let write = |rank: i64| {
//!     let mut mutations = MutationBuilder::new(&schema);
//!     mutations.document("ticket", "t1").update(&json!([{"field": "rank"}]), &json!(rank))?;
//!     Ok::<_, Box<dyn std::error::Error>>(mutations)
//! };
//! let mut first = MutationBuilder::new(&schema);
//! first.document("ticket", "t1").set(&json!({"title": "one", "rank": 0}))?;
//! let root = store.append(first.commit(None, CommitStamp::new("cy", "create", 1000)?))?;
//!
//! // Two writers change the same field; merging is mechanical, and the target's opcodes replay last.
//! let ours = store.append(write(1)?.commit(Some(root), CommitStamp::new("ann", "raise", 1001)?))?;
//! let theirs = store.append(write(2)?.commit(Some(root), CommitStamp::new("bo", "raise", 1002)?))?;
//! let merge = store.append(Commit::merge(ours, theirs, CommitStamp::new("dee", "merge", 1003)?))?;
//!
//! // Ann's intent did not survive. Decide for it, and make the decision survive.
//! let analyzer = MergeAnalyzer::new(&schema, &store);
//! let analysis = analyzer.analyze_merge(&merge)?;
//! assert_eq!(analysis.conflicts()[0].causes, [ours]);
//! let resolution = MergeResolution::new(&analysis.conflicts()[0], ConflictChoice::Ours);
//! let outcome = analyzer.reconcile(&merge, &[resolution], CommitStamp::new("dee", "keep ann's rank", 1004)?)?;
//! let survival = store.append(outcome.survival.expect("something was decided"))?;
//! let state = DocumentEngine::new(&store).state(&survival)?;
//! assert_eq!(state.to_json(&schema), json!({"ticket": {"t1": {"title": "one", "rank": 1}}}));
//! # Ok(())
//! # }
//! ```

mod analysis;
mod ancestry;
mod apply;
mod assignment;
mod changed_documents;
mod codec;
mod commit;
mod commit_bundle;
mod decision;
mod diff;
mod engine;
mod group;
mod history;
mod invariant;
mod linear_order;
mod locus_claims;
mod loss;
mod memory_store;
mod mutation_builder;
mod op;
mod overlay;
mod path;
mod path_text;
mod policy;
mod reconcile;
mod reduce;
mod refs;
mod schema;
mod schema_json;
mod schema_text;
mod state;
mod state_reader;
mod strategy;
mod value;
pub mod vectors;

pub use analysis::{
    AnalyzeError, LocusReading, MergeAnalysis, MergeAnalyzer, MergeConflict, MergeDocument, MergeSide,
};
pub use ancestry::MergeBase;
pub use apply::SkipReason;
pub use codec::TypeMismatch;
pub use commit::{BadCommitId, BadTime, Commit, CommitError, CommitId, CommitKind, CommitStamp};
pub use commit_bundle::{BundleError, ImportSummary, export_bundle, import_bundle};
pub use decision::{DecidedConflict, DecisionIndex, DecisionRecord};
pub use diff::diff;
pub use engine::{DocumentEngine, OpcodeOutcome};
pub use group::{BoundGroup, GroupDecision, TornGroup};
pub use history::{CommitNode, CommitReader, CommitSeq, HistoryError};
pub use invariant::{BadInvariant, Invariant, InvariantViolation, check_invariants};
pub use memory_store::{AppendError, MemoryCommits, SNAPSHOT_DISTANCE, check_append};
pub use mutation_builder::{DocumentEditor, MutationBuilder};
pub use op::{DocumentId, DocumentOp};
pub use overlay::CommitOverlay;
pub use path::{DocumentPath, PathStep};
pub use path_text::path_text;
pub use policy::{ConflictRuling, ConflictVerdict, GroupRuling, MergePolicy, MergeRule, MergeRulings};
pub use reconcile::{
    ChosenState, ConflictChoice, GivenResolution, MergeReconciliation, MergeResolution, ReconcileCode,
    ReconcileError,
};
pub use reduce::{REDUCER_AUTHOR, TimestampedHead, reduce_heads};
pub use refs::{BadRefName, RefName};
pub use schema::{DocumentSchema, SchemaError};
pub use state::CommitState;
pub use state_reader::StateDelta;
pub use strategy::MergeStrategy;
pub use value::types::{
    EnumDefinition, FieldDefinition, IntegerType, MAX_TYPE_DEPTH, StructDefinition, ValueType,
};
pub use value::xarray::XArray;
pub use value::{DocumentValue, FiniteDouble, SharedText, TypedValue};
