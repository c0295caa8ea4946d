//! Requests and answers as types, shared by every surface, with the registry of codes and the exit codes.
//!
//! Owns: the wire form of every answer, its schema, the one list of stable codes, the exit codes.
//! May use: analysis, contract, core, documents, evidence, intents, languages, ledger, merge-audit, paths, policy.
//! Must not know: files, clocks, processes, databases, or how a surface renders an answer.

#![allow(
    missing_docs,
    reason = "a member whose name says everything has no comment; its schema would only repeat it"
)]

pub mod change;
pub mod codes;
pub mod document;
pub mod documents;
pub mod exit_code;
pub mod explain;
pub mod govern;
mod kept_part;
pub mod ledger;
mod list_cut;
pub mod merge_audit;
pub mod merges;
mod path_claim;
pub mod quality;
pub mod refusal;
pub mod review;
mod system_path;
pub mod vectors;
pub mod work;

pub use document::{Answer, SchemaEntry};
pub use exit_code::ExitCode;
pub use kept_part::KeptPart;
pub use list_cut::LeftOutOfLists;
pub use path_claim::PathClaim;
pub use system_path::SystemPath;

/// The schemas generated from the types of this crate, sorted by name.
pub const SCHEMAS: &[SchemaEntry] = &[
    SchemaEntry::of::<documents::BlobAnswer>(),
    SchemaEntry::of::<documents::BundleTransferAnswer>(),
    SchemaEntry::of::<documents::StoreCheckAnswer>(),
    SchemaEntry::of::<documents::CommitWriteAnswer>(),
    SchemaEntry::of::<documents::CommitDiffAnswer>(),
    SchemaEntry::of::<documents::StoreFlattenAnswer>(),
    SchemaEntry::of::<documents::CommitHeadsAnswer>(),
    SchemaEntry::of::<documents::CommitLogAnswer>(),
    SchemaEntry::of::<documents::CommitRefsAnswer>(),
    SchemaEntry::of::<documents::StoreSchemaAnswer>(),
    SchemaEntry::of::<documents::CommitShowAnswer>(),
    SchemaEntry::of::<documents::DocumentStateAnswer>(),
    SchemaEntry::of::<documents::StoreSyncAnswer>(),
    SchemaEntry::of::<documents::DocumentTraceAnswer>(),
    SchemaEntry::of::<merges::MergeAnalysisAnswer>(),
    SchemaEntry::of::<merge_audit::MergeAuditAnswer>(),
    SchemaEntry::of::<merge_audit::MergeAuditRangeAnswer>(),
    SchemaEntry::of::<merges::MergeDecisionsAnswer>(),
    SchemaEntry::of::<merges::MergeHeadsAnswer>(),
    SchemaEntry::of::<merges::MergePolicyAnswer>(),
    SchemaEntry::of::<merges::MergeReconcileAnswer>(),
    SchemaEntry::of::<merge_audit::GitHooksAnswer>(),
    SchemaEntry::of::<merge_audit::MergeDecisionAnswer>(),
    SchemaEntry::of::<merge_audit::FindingPolicyAnswer>(),
    SchemaEntry::of::<merge_audit::MergeFindingDecisions>(),
    SchemaEntry::of::<merge_audit::MergeReviewAnswer>(),
    SchemaEntry::of::<merge_audit::MergeSurvivalAnswer>(),
    SchemaEntry::of::<explain::CodeExplanation>(),
    SchemaEntry::of::<refusal::RefusalAnswer>(),
    SchemaEntry::of::<govern::amend::AmendAnswer>(),
    SchemaEntry::of::<govern::tools::ShellCompletions>(),
    SchemaEntry::of::<govern::tools::ConformanceReport>(),
    SchemaEntry::of::<govern::delta::DeltaFile>(),
    SchemaEntry::of::<govern::evidence::EvidenceAnswer>(),
    SchemaEntry::of::<govern::evidence::EvidenceChain>(),
    SchemaEntry::of::<govern::evidence::EvidenceExport>(),
    SchemaEntry::of::<govern::evidence::EvidenceRemoval>(),
    SchemaEntry::of::<govern::evidence::EvidenceList>(),
    SchemaEntry::of::<govern::evidence::EvidenceVerification>(),
    SchemaEntry::of::<govern::land::DiscardAnswer>(),
    SchemaEntry::of::<govern::land::EnterAnswer>(),
    SchemaEntry::of::<govern::land::LandAnswer>(),
    SchemaEntry::of::<govern::land::LayerDiffAnswer>(),
    SchemaEntry::of::<govern::log::LogCheckpoint>(),
    SchemaEntry::of::<govern::log::LogConsistency>(),
    SchemaEntry::of::<probity_evidence::InclusionProof>(),
    SchemaEntry::of::<govern::log::LogOverview>(),
    SchemaEntry::of::<govern::log::LogRestart>(),
    SchemaEntry::of::<govern::log::LogWitnessing>(),
    SchemaEntry::of::<govern::path::PathExplanation>(),
    SchemaEntry::of::<govern::setup::InitAnswer>(),
    SchemaEntry::of::<govern::setup::AgentRegistration>(),
    SchemaEntry::of::<govern::setup::AgentRegistrations>(),
    SchemaEntry::of::<govern::setup::SigningKey>(),
    SchemaEntry::of::<govern::tools::LspServerEnd>(),
    SchemaEntry::of::<govern::tools::ManualPage>(),
    SchemaEntry::of::<govern::tools::McpToolList>(),
    SchemaEntry::of::<govern::tools::McpServerEnd>(),
    SchemaEntry::of::<govern::plan::PlanAnswer>(),
    SchemaEntry::of::<govern::delta::PrunedFile>(),
    SchemaEntry::of::<govern::revert::RevertAnswer>(),
    SchemaEntry::of::<govern::run::RunAnswer>(),
    SchemaEntry::of::<govern::plan::ScopeSuggestion>(),
    SchemaEntry::of::<govern::setup::UninstallAnswer>(),
    SchemaEntry::of::<ledger::ChangedItemsAnswer>(),
    SchemaEntry::of::<ledger::CitationAnswer>(),
    SchemaEntry::of::<ledger::ItemExplanation>(),
    SchemaEntry::of::<ledger::ContextAnswer>(),
    SchemaEntry::of::<ledger::GuardAnswer>(),
    SchemaEntry::of::<ledger::ItemHistory>(),
    SchemaEntry::of::<ledger::IngestAnswer>(),
    SchemaEntry::of::<ledger::ItemListAnswer>(),
    SchemaEntry::of::<ledger::LedgerMergeAnswer>(),
    SchemaEntry::of::<ledger::ProposeAnswer>(),
    SchemaEntry::of::<ledger::ReplayAnswer>(),
    SchemaEntry::of::<ledger::ScoresAnswer>(),
    SchemaEntry::of::<ledger::StreamListAnswer>(),
    SchemaEntry::of::<ledger::SuggestionsAnswer>(),
    SchemaEntry::of::<quality::AnalysisRunAnswer>(),
    SchemaEntry::of::<quality::BaselineAnswer>(),
    SchemaEntry::of::<quality::AnalyzeAnswer>(),
    SchemaEntry::of::<quality::BlastRadiusAnswer>(),
    SchemaEntry::of::<quality::PipelineAnswer>(),
    SchemaEntry::of::<quality::ClaimsCheckAnswer>(),
    SchemaEntry::of::<quality::ContractBudgetAnswer>(),
    SchemaEntry::of::<quality::ContractVerifyAnswer>(),
    SchemaEntry::of::<quality::ReceiptListAnswer>(),
    SchemaEntry::of::<quality::ReceiptShowAnswer>(),
    SchemaEntry::of::<quality::ReceiptVerifyAnswer>(),
    SchemaEntry::of::<quality::RunComparison>(),
    SchemaEntry::of::<quality::RunsGcAnswer>(),
    SchemaEntry::of::<quality::RunsListAnswer>(),
    SchemaEntry::of::<review::BoardAnswer>(),
    SchemaEntry::of::<review::ChangeFindings>(),
    SchemaEntry::of::<review::ChangeReview>(),
    SchemaEntry::of::<review::DecisionAnswer>(),
    SchemaEntry::of::<review::LineOriginAnswer>(),
    SchemaEntry::of::<review::ReviewServerEnd>(),
    SchemaEntry::of::<change::DoctorAnswer>(),
    SchemaEntry::of::<change::FinishAnswer>(),
    SchemaEntry::of::<change::IntentAnswer>(),
    SchemaEntry::of::<change::AmendAnswer>(),
    SchemaEntry::of::<change::IntentChangeAnswer>(),
    SchemaEntry::of::<change::IntentListAnswer>(),
    SchemaEntry::of::<change::IntentResetAnswer>(),
    SchemaEntry::of::<change::IntentLogAnswer>(),
    SchemaEntry::of::<change::StartAnswer>(),
    SchemaEntry::of::<change::StatusAnswer>(),
    SchemaEntry::of::<change::TeamChangeAnswer>(),
    SchemaEntry::of::<change::TeamStatusAnswer>(),
    SchemaEntry::of::<change::TeamLandedAnswer>(),
    SchemaEntry::of::<change::TeamLogAcceptedAnswer>(),
    SchemaEntry::of::<work::WorkReport>(),
];
