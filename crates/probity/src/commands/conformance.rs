//! `probity conformance`: the vectors, through the very functions that the other commands use.

use crate::answer::Answer;
use crate::ui;
use probity_api::ExitCode;
use probity_api::govern::tools::{ConformanceCase, ConformanceReport};
use probity_conformance::Kind;
use probity_core::Reason;
use probity_workspace::Fault;
use std::path::PathBuf;

/// Every kind of vector that this program knows.
const KINDS: &[Kind] = &[
    Kind::equal("canonical_json", probity_core::vectors::canonical_json),
    Kind::equal("scope_match", probity_paths::vectors::scope_match),
    Kind::equal("scope_declare", probity_paths::vectors::scope_declare),
    Kind {
        name: "scope_overlap",
        answer: probity_paths::vectors::scope_overlap,
        accepts: probity_paths::vectors::accepts_scope_overlap,
    },
    Kind::equal("reconciliation", probity_paths::vectors::reconciliation),
    Kind::equal("plan", probity_policy::vectors::plan),
    Kind::equal("evidence", probity_evidence::vectors::evidence),
    Kind::equal("ownership", probity_intents::vectors::ownership),
    Kind::equal("relations", probity_intents::vectors::relations),
    Kind::equal("hygiene_finish", probity_intents::vectors::hygiene_finish),
    Kind::equal("start_decision", probity_intents::vectors::start_decision),
    Kind::equal("finish_status", probity_api::vectors::finish_status),
    Kind::equal("profile", probity_contract::vectors::profile),
    Kind::equal("structural_delta", probity_contract::vectors::structural_delta),
    Kind::equal("contract", probity_contract::vectors::contract),
    Kind::equal("claims", probity_contract::vectors::claims),
    Kind::equal("ledger", probity_ledger::vectors::ledger),
    Kind::equal("ledger_identity", probity_ledger::vectors::ledger_identity),
    Kind::equal("merge", probity_documents::vectors::merge),
];

/// Runs vectors and reports every case.
pub(crate) fn conformance(files: &[PathBuf]) -> Result<Answer, Fault> {
    let report = probity_conformance::run(files, KINDS)
        .map_err(|error| Fault::refused(Reason::JsonSyntax, error.to_string()))?;
    for case in report.results.iter().filter(|case| !case.ok) {
        ui::say(format_args!("{} {} {}: {}", ui::bad("fail"), case.kind, case.id, case.detail));
    }
    ui::say(format_args!(
        "{} passed, {} failed, {} unsupported",
        report.passed, report.failed, report.unsupported
    ));
    let exit_code = if report.all_passed() { ExitCode::Ok } else { ExitCode::Failed };
    let probity_conformance::Report { passed, failed, unsupported, results } = report;
    let case =
        |probity_conformance::CaseResult { id, kind, ok, detail }| ConformanceCase { id, kind, ok, detail };
    let results = results.into_iter().map(case).collect();
    Ok(Answer::of(exit_code, &ConformanceReport { passed, failed, unsupported, results }))
}
