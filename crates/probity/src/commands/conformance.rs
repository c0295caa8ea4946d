//! `probity conformance`: runs the vectors through the same functions that the other commands use.

use crate::answer::CommandAnswer;
use crate::ui;
use clap::Args;
use probity_api::ExitCode;
use probity_api::govern::tools::{ConformanceCase, ConformanceReport};
use probity_conformance::VectorKind;
use probity_core::ReasonCode;
use probity_workspace::ServiceError;
use std::path::PathBuf;

const VECTOR_KINDS: &[VectorKind] = &[
    VectorKind::equal("canonical_json", probity_core::vectors::canonical_json),
    VectorKind::equal("scope_match", probity_scopes::vectors::scope_match),
    VectorKind::equal("scope_declare", probity_scopes::vectors::scope_declare),
    VectorKind {
        name: "scope_overlap",
        answer: probity_scopes::vectors::scope_overlap,
        accepts: probity_scopes::vectors::accepts_scope_overlap,
    },
    VectorKind::equal("reconciliation", probity_scopes::vectors::reconciliation),
    VectorKind::equal("plan", probity_policy::vectors::plan),
    VectorKind::equal("evidence", probity_evidence::vectors::evidence),
    VectorKind::equal("ownership", probity_intents::vectors::ownership),
    VectorKind::equal("relations", probity_intents::vectors::relations),
    VectorKind::equal("hygiene_finish", probity_intents::vectors::hygiene_finish),
    VectorKind::equal("start_decision", probity_intents::vectors::start_decision),
    VectorKind::equal("finish_status", probity_api::vectors::finish_status),
    VectorKind::equal("profile", probity_contract::vectors::profile),
    VectorKind::equal("structural_delta", probity_contract::vectors::structural_delta),
    VectorKind::equal("contract", probity_contract::vectors::contract),
    VectorKind::equal("claims", probity_contract::vectors::claims),
    VectorKind::equal("ledger", probity_ledger::vectors::ledger),
    VectorKind::equal("ledger_identity", probity_ledger::vectors::ledger_identity),
    VectorKind::equal("merge", probity_documents::vectors::merge),
];

/// Run conformance vectors against this program
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  probity conformance conformance/")]
pub(crate) struct ConformanceArgs {
    /// Vector files, or directories of them
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
}

pub(crate) fn conformance(args: &ConformanceArgs) -> Result<CommandAnswer, ServiceError> {
    let report = probity_conformance::run(&args.files, VECTOR_KINDS)
        .map_err(|error| ServiceError::refused(ReasonCode::JsonSyntax, error.to_string()))?;
    for case in report.results.iter().filter(|case| !case.ok) {
        ui::eprint(format_args!("{} {} {}: {}", ui::bad("fail"), case.kind, case.id, case.detail));
    }
    ui::eprint(format_args!(
        "{} passed, {} failed, {} unsupported",
        report.passed, report.failed, report.unsupported
    ));
    let exit_code = if report.all_passed() { ExitCode::Ok } else { ExitCode::Failed };
    let probity_conformance::VectorReport { passed, failed, unsupported, results } = report;
    let case =
        |probity_conformance::CaseResult { id, kind, ok, detail }| ConformanceCase { id, kind, ok, detail };
    let results = results.into_iter().map(case).collect();
    Ok(CommandAnswer::of(exit_code, &ConformanceReport { passed, failed, unsupported, results }))
}
