//! Answers about the quality of code: analyses, their comparison, contracts, claims and receipts.

mod analysis_run;
mod analyze;
mod baseline;
mod blast;
mod comparison;
mod contract;
mod pipeline;
mod receipt;

pub use analysis_run::{
    AnalysisRunAnswer, FileSummary, HealthSummary, HotSpot, NotedFile, RunSummary, RunsGcAnswer,
    RunsListAnswer, StoredRunSummary,
};
pub use analyze::{AnalyzeAnswer, ListedFinding, RevisionComparison, TreeFileSummary};
pub use baseline::{BaselineAnswer, BaselineStatus, BaselineSummary};
pub use blast::BlastRadiusAnswer;
pub use comparison::{ComparedRun, RunComparison};
pub use contract::{
    CheckedClaims, ClaimsCheckAnswer, ContractBudgetAnswer, ContractMode, ContractRun, ContractVerifyAnswer,
    FinishVerification, PatchDetails, PatchFacts, PatchVerdict, ReceiptReference, VerdictWord,
};
pub use pipeline::{PipelineAnswer, PipelineBaseRule, PipelineRange, PipelineService};
pub use receipt::{
    ReceiptCheckReport, ReceiptCheckStatus, ReceiptListAnswer, ReceiptOutcome, ReceiptShowAnswer,
    ReceiptSummary, ReceiptVerifyAnswer,
};
