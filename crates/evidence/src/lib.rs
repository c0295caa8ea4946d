//! Evidence of what a run did: its formats, and the verifier that decides offline whether the evidence is
//! intact and the run kept to its plan.
//!
//! Owns: the formats of plans, seals, amendments, bundles and receipts, and the verifier of all of them.
//! May use: core, paths.
//! Must not know: policies, intents, contracts, git, how a run is made.
//!
//! Everything is pure except [`bundle`], the only module that reads and writes files.
//!
//! * [`Plan`]: what a run may touch and which gates must pass, identified by one hash.
//! * [`Seal`]: the plan and everything else that judges the run, fixed by one hash; [`seal_check`] compares a
//!   run with it.
//! * [`Amendment`]: the only way a sealed scope can grow (law 2).
//! * [`Manifest`]: the facts of a run; [`Manifest::assemble`] turns them into the files of a bundle.
//! * [`verify_bundle`]: judges a bundle against the caller's requirements ([`TrustRequirements`]), and its parts against
//!   each other; [`verify()`] judges a bare manifest. Both accept arbitrary bytes.
//! * [`SecretKey`], [`PublicKey`]: Ed25519. Asymmetric, so that a verifier cannot forge.
//! * [`attest`]: a run as an in-toto statement in a DSSE envelope, for other tools.
//! * [`checkpoint`]: signed heads of the log. [`InclusionProof`]: proves to a stranger that a bundle is in it.
//! * [`receipt`]: checks the receipt of a finished change offline.
//! * [`summary`]: the Markdown page for people.
//! * [`bundle`]: reads bundles from disk and writes them atomically.
//! * [`vectors`]: runs the verifier on conformance vectors, for `probity conformance`.

mod amend;
mod assemble;
pub mod attest;
pub mod bundle;
mod byte_string;
mod change_place;
pub mod checkpoint;
mod checks;
mod delta_record;
mod details;
mod gate_rules;
mod globs;
mod inclusion_proof;
mod keys;
mod manifest;
mod manifest_v1;
mod part_checks;
mod plan;
pub mod receipt;
mod recognized_outputs;
mod seal;
mod seal_check;
pub mod summary;
mod trust;
pub mod vectors;
mod verify;

pub use amend::{AmendPermission, AmendPolicy, Amendment, AmendmentError, amended_scope, check_reason};
use assemble::SUMMARY_FILE;
pub use assemble::{AssembleError, EvidenceBundle};
pub use byte_string::ByteString;
pub use change_place::ChangePlace;
pub use checkpoint::{CheckpointError, SignedCheckpoint, TreeCheckpoint};
pub use checks::{BundleCheck, CheckStatus};
pub use delta_record::{
    BundleDocument, DELTA_FILE, DeltaFile, EntryKind, PRUNED_FILE, PrunedFile, PrunedRun, RecordedChange,
    RecordedSide,
};
pub use details::{
    BudgetUsage, GovernedCommand, LandingRecord, LandingState, ManifestDetails, ManifestFinding, RefChange,
    ToolVersion,
};
pub use globs::GlobList;
pub use inclusion_proof::{BUNDLE_LOG, InclusionProof};
pub use keys::{KeyError, PublicKey, SecretKey};
pub use manifest::{Manifest, ManifestChange, ReadError, StoredManifest, log_path};
pub use manifest_v1::{GateResult, RunStatus};
pub use plan::{PackCap, Plan, PlannedGate};
pub use probity_core::ChangeKind;
pub use recognized_outputs::{DirectoryMarker, RecognizedBecause, RecognizedOutput};
pub use seal::{
    EnforcementLevel, GateSettings, LazyStart, RefsRule, SEAL_FILE, Seal, SealContents, SealDamaged,
    SealedProgram, SignatureRule, StartLook,
};
pub use seal_check::{GateStatus, RunObservation, SealCheck, seal_check};
pub use trust::{ChainPredecessor, TrustError, TrustRequirements};
pub use verify::{BundleVerdict, BundleVerification, verify, verify_bundle};
