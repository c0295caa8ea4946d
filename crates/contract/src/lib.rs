//! The patch contract. Pure: a verdict is a function of recorded inputs (law 7).
//!
//! Owns: verification profiles, structural deltas, verdicts on patches, judgment of claims, what receipts say.
//! May use: core, evidence, intents, languages, paths, policy, prose.
//! Must not know: a file, a clock, git, how a receipt is stored or signed.
//!
//! * [`profile`]: the checks that apply to a patch, derived from its changed files.
//! * [`structural_delta`]: what changed between two analysis runs.
//! * [`verify`]: the verdict on a patch within its scope.
//! * [`finish_status`]: the outcome of the finish pipeline.
//! * [`claims`]: what an author says about a change, checked against the facts.
//! * [`apply_strictness`]: the consequence of a verdict under a strictness; [`budget`]: the headroom of a change before
//!   it starts.
//! * [`receipt`]: the document that a finished change leaves; `markdown`: the same for a pull request.
//! * [`outputs`]: a review in the formats of CI services.
//! * [`vectors`]: runs these functions on conformance vectors, for `probity conformance`.

mod budget;
pub mod claims;
mod delta;
pub mod finish;
mod markdown;
pub mod outputs;
mod profile;
pub mod receipt;
mod run;
mod status;
mod strictness;
pub mod vectors;
mod verify;

pub use budget::{ChangeBudget, CurrentState, budget};
pub use delta::{DeltaRefusal, DeltaVerdict, IncomparableReason, StructuralDelta, structural_delta};
pub use finish::{FinishStatus, PipelineOutcome, finish_status};
pub use markdown::{health_change, receipt_markdown};
pub use profile::{
    BASELINE_FILE, CheckOutcome, CheckResult, ContractCheck, FileClass, ProfileReport, VerificationProfile,
    classify_file, profile,
};
pub use run::{ContractFinding, GatePreview, RunFacts, WorsenedSymbol};
pub use status::{BaselineTrigger, ContractReason, ContractStatus};
pub use strictness::{StrictnessOutcome, apply_strictness};
pub use verify::{
    BaselineAbuse, ContractVerdict, DeltaSummary, EvaluationOutcome, HealthLoss, IntentState,
    PatchEvaluation, PatchIntent, VerdictFacts, VerificationInput, verify,
};
