//! The patch contract. Pure: a verdict is a function of recorded inputs (law 7).
//!
//! * [`profile`]: which checks apply to a patch, derived from its changed files.
//! * [`structural_delta`]: what changed between two runs.
//! * [`verify`]: the verdict on a patch, inside its scope.
//! * [`finish_status`]: the answer of the finish pipeline.
//! * [`claims`]: what an author says about a change, against the facts.
//! * [`vectors`]: the JSON form of these functions, for `probity conformance`.

pub mod claims;
mod delta;
pub mod finish;
mod profile;
mod run;
pub mod vectors;
mod verify;
mod words;

pub use delta::{DeltaRefusal, DeltaVerdict, Incomparable, StructuralDelta, structural_delta};
pub use finish::{FinishStatus, Pipeline, finish_status};
pub use profile::{Check, FileClass, Language, Profile, ProfileReport, classify, profile};
pub use run::{Finding, GatePreview, Run, Severity, WorsenedSymbol};
pub use verify::{Evaluated, Evaluation, IntentState, Patch, PatchIntent, Verdict, verify};
pub use words::{BaselineTrigger, ContractReason, ContractStatus};
