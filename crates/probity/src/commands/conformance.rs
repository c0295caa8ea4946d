//! `probity conformance`: the vectors, through the very functions that the other commands use.

use crate::answer::Answer;
use crate::ui;
use api::ExitCode;
use api::govern::tools::{ConformanceCase, ConformanceReport};
use canon::Reason;
use conformance::Kind;
use control::Fault;
use std::path::PathBuf;

/// Every kind of vector that this program knows.
const KINDS: &[Kind] = &[
    Kind::equal("canonical_json", canon::vectors::canonical_json),
    Kind::equal("scope_match", paths::vectors::scope_match),
    Kind::equal("scope_declare", paths::vectors::scope_declare),
    Kind {
        name: "scope_overlap",
        answer: paths::vectors::scope_overlap,
        accepts: paths::vectors::accepts_scope_overlap,
    },
    Kind::equal("reconciliation", paths::vectors::reconciliation),
    Kind::equal("plan", plan::vectors::plan),
    Kind::equal("evidence", evidence::vectors::evidence),
    Kind::equal("ownership", intent::vectors::ownership),
    Kind::equal("relations", intent::vectors::relations),
    Kind::equal("hygiene_finish", intent::vectors::hygiene_finish),
    Kind::equal("start_decision", intent::vectors::start_decision),
    Kind::equal("finish_status", api::vectors::finish_status),
    Kind::equal("profile", contract::vectors::profile),
    Kind::equal("structural_delta", contract::vectors::structural_delta),
    Kind::equal("contract", contract::vectors::contract),
    Kind::equal("claims", contract::vectors::claims),
    Kind::equal("ledger", ledger::vectors::ledger),
    Kind::equal("ledger_identity", ledger::vectors::ledger_identity),
    Kind::equal("merge", commit::vectors::merge),
];

/// Runs vectors and reports every case.
pub(crate) fn conformance(files: &[PathBuf]) -> Result<Answer, Fault> {
    let report = conformance::run(files, KINDS)
        .map_err(|error| Fault::refused(Reason::JsonSyntax, error.to_string()))?;
    for case in report.results.iter().filter(|case| !case.ok) {
        ui::say(format_args!("{} {} {}: {}", ui::bad("fail"), case.kind, case.id, case.detail));
    }
    ui::say(format_args!(
        "{} passed, {} failed, {} unsupported",
        report.passed, report.failed, report.unsupported
    ));
    let exit_code = if report.all_passed() { ExitCode::Ok } else { ExitCode::Failed };
    let conformance::Report { passed, failed, unsupported, results } = report;
    let case = |conformance::CaseResult { id, kind, ok, detail }| ConformanceCase { id, kind, ok, detail };
    let results = results.into_iter().map(case).collect();
    Ok(Answer::of(exit_code, &ConformanceReport { passed, failed, unsupported, results }))
}
