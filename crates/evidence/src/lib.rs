//! Evidence that a run did what it was allowed to do, and that nobody touched that evidence since.
//!
//! Owns: the formats of plans, seals, amendments, bundles and receipts, and the verifier of all of them.
//! May use: core, paths.
//! Must not know: policies, intents, contracts, git, how a run is made.
//!
//! Everything is pure except [`bundle`], the one module that reads and writes files.
//!
//! * [`Plan`]: what a run may touch and what must pass, with a hash over all of it.
//! * [`Seal`]: the plan and everything else that judges the run, fixed by one hash; [`seal_check`] holds a run to it.
//! * [`Amendment`]: the one way in which a sealed scope grows (law 2).
//! * [`Manifest`]: the facts of a run; [`Manifest::assemble`] turns them into the files of a bundle.
//! * [`verify`]: judges a bundle against what the caller demands ([`Trust`]). It works on any bytes.
//! * [`SecretKey`], [`PublicKey`]: Ed25519, so that a key that verifies cannot forge.
//! * [`attest`]: a run as in-toto statement in a DSSE envelope, for other tools.
//! * [`receipt`]: checks the receipt of a finished change offline.
//! * [`summary`]: the page for people.
//! * [`bundle`]: bundles on disk: whole or not at all.
//! * [`vectors`]: the JSON form of the verifier, for `probity conformance`.

mod amend;
mod assemble;
pub mod attest;
pub mod bundle;
mod byte_string;
mod checks;
mod details;
mod globs;
mod judge;
mod keys;
mod manifest;
mod plan;
pub mod receipt;
mod recognized;
mod seal;
mod seal_check;
pub mod summary;
mod trust;
pub mod vectors;
mod verify;
mod wire;

pub use amend::{AmendPolicy, Amendment, AmendmentError, Permission, amended_scope};
pub use assemble::{AssembleError, Bundle};
pub use byte_string::ByteString;
pub use details::{Budget, Command, Details, Finding, RefChange, Tool};
pub use globs::Globs;
pub use keys::{KeyError, PublicKey, SecretKey};
pub use manifest::{Change, Manifest, ReadError, StoredManifest, log_path};
pub use plan::{PackCap, Plan, PlannedGate};
pub use probity_core::ChangeKind;
pub use recognized::{Mark, RecognizedBecause, RecognizedOutput};
pub use seal::{Enforcement, GateSettings, RefsRule, Seal, SealContents, SealDamaged};
pub use seal_check::{GateStatus, Observed, SealCheck, seal_check};
pub use trust::{Follows, SignatureRule, Trust, TrustError};
pub use verify::{Check, CheckStatus, Verdict, Verification, verify};
pub use wire::{GateResult, Status};
