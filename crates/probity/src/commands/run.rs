//! `probity run`: what a person and a program are told about a governed run.

use crate::answer::{Answer, Outcome, path_json};
use crate::cli::Selection;
use crate::commands::identity::Identity;
use crate::ui;
use canon::bytes::{escape, shell_word};
use control::judge::{Finding, Rename, Severity, renames};
use control::run::{Event, RunReport, RunRequest, run as govern};
use control::{Fault, Workspace};
use paths::RepoPath;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

/// So many changed paths are listed one by one.
const MAX_SHOWN: usize = 40;

/// So many entries that were only touched are shown to a person; the evidence has them all.
const MAX_TOUCHED_SHOWN: usize = 5;

/// Runs a command under a sealed scope.
pub(crate) fn run(
    workspace: &Workspace,
    selection: Selection,
    grant: Vec<OsString>,
    identity: &Identity,
    command: Vec<OsString>,
    cwd: PathBuf,
    json: bool,
) -> Result<Answer, Fault> {
    let request = RunRequest {
        credentials: identity.credentials()?,
        selection: selection.into(),
        grants: grant.into_iter().map(OsStringExt::into_vec).collect(),
        command,
        cwd,
        stdout_is_data: json,
    };
    let report = govern(workspace, &request, &mut |event| show_event(&event))?;
    show(&report);
    let outcome = if report.verdict.passed() { Outcome::Ok } else { Outcome::Failed };
    Ok(Answer::new("run", outcome, to_json(&report)))
}

/// The document that programs rely on.
fn to_json(report: &RunReport) -> Value {
    let contents = report.seal.contents();
    let delta: Vec<_> = report.verdict.delta.iter().map(|change| &change.path).collect();
    json!({
        "status": if report.verdict.passed() { "pass" } else { "fail" },
        "reason": report.verdict.reasons.first(),
        "reasons": report.verdict.reasons,
        "run_id": report.seal.contents().run_id,
        "scope": contents.plan.scope,
        "amendments": report.amendments,
        "plan_hash": contents.plan.hash(),
        "seal_hash": report.seal.hash(),
        "coverage": report.coverage,
        "warnings": report.warnings,
        "workspace_delta_paths": delta,
        "untracked_delta_paths": report.verdict.untracked,
        "exempt_delta_paths": report.verdict.exempt,
        "gate_delta_paths": report.verdict.by_gates,
        "findings": report.verdict.findings,
        "gate_results": report.gate_results.iter().map(gate_json).collect::<Vec<_>>(),
        "ref_movements": report.ref_movements,
        "renames": renames(&report.verdict.delta),
        "index_changed": report.index_changed,
        "evidence_dir": path_json(&report.attested.dir),
        "run_hash": report.attested.run_hash,
        "signed_by": report.attested.key_id,
        "enforcement": contents.enforcement,
        "command_exit_code": report.command_exit_code,
        "own_claims": report.own_claims,
        "next_steps": next_steps(report).iter().map(|(way, command)| json!({ "way": way, "command": command })).collect::<Vec<_>>(),
    })
}

fn gate_json(result: &control::gates::GateResult) -> Value {
    json!({
        "gate_id": result.gate_id,
        "status": result.status,
        "exit_code": result.exit_code,
        "duration_ms": result.duration_ms,
        "log_paths": result.log_paths(),
    })
}

fn show_event(event: &Event<'_>) {
    match event {
        Event::Closed(closed) => ui::say(format_args!(
            "{} run {} was interrupted; it is closed as FAIL, evidence in {}",
            ui::warn("!"),
            closed.run_id,
            closed.dir.display()
        )),
        Event::Sealed(seal, coverage, warnings) => {
            let contents = seal.contents();
            ui::say(format_args!("{} {}", ui::bold("probity run"), ui::dim(&contents.run_id)));
            let scope: Vec<String> =
                contents.plan.scope.as_slice().iter().map(|pattern| escape(pattern)).collect();
            let covers = format!("covers {} of {} files", coverage.covered, coverage.files);
            ui::row("scope", format_args!("{}   {}", scope.join("  "), ui::dim(covers)));
            if !contents.plan.gates.is_empty() {
                let gates: Vec<&str> = contents.plan.gates.iter().map(|gate| gate.id.as_str()).collect();
                ui::row("gates", gates.join(", "));
            }
            ui::row("sealed", ui::dim(seal.hash()));
            for warning in *warnings {
                let pattern =
                    warning.pattern.as_ref().map_or_else(String::new, |pattern| format!("`{pattern}`: "));
                ui::row(
                    "warning",
                    format_args!("{pattern}{} {}", warning.code.meaning(), ui::warn(warning.code)),
                );
            }
        }
        Event::OwnClaims(claims) => {
            for claim in *claims {
                let paths: Vec<String> = claim.paths.iter().map(ToString::to_string).collect();
                let whose = ui::dim(format_args!("your own intent {} ({})", claim.intent_id, claim.agent));
                ui::row("claimed", format_args!("{}  {whose}", paths.join(", ")));
            }
        }
        Event::CommandEnded => {}
        Event::Gate(result) => {
            let status = match result.status {
                plan::GateStatus::Pass => ui::good("pass"),
                plan::GateStatus::Fail => ui::bad("fail"),
                plan::GateStatus::Skip => ui::warn("skip"),
            };
            ui::row(
                "gate",
                format_args!(
                    "{status} {} {}",
                    result.gate_id,
                    ui::dim(format_args!("{} ms", result.duration_ms))
                ),
            );
        }
    }
}

fn show(report: &RunReport) {
    let untracked: BTreeSet<_> = report.verdict.untracked.iter().collect();
    let renames = renames(&report.verdict.delta);
    show_renames(&renames, &untracked);
    let told: BTreeSet<&RepoPath> = renames.iter().flat_map(|it| [&it.from, &it.to]).collect();
    // What is out of scope comes first, so that a long list cannot push it out.
    let (out, inside): (Vec<_>, Vec<_>) = report
        .verdict
        .delta
        .iter()
        .filter(|change| !told.contains(&change.path))
        .partition(|change| untracked.contains(&change.path));
    for change in out.into_iter().chain(inside).take(MAX_SHOWN) {
        let mark = match change.change {
            tree::ChangeKind::Added => "+",
            tree::ChangeKind::Modified => "~",
            tree::ChangeKind::Deleted => "-",
        };
        let is_out = untracked.contains(&change.path);
        let place = if is_out { ui::bad("out of scope") } else { ui::dim("in scope") };
        ui::row("changed", format_args!("{mark} {}  {place}", change.path));
    }
    match report.verdict.delta.len() {
        0 => ui::row("changed", ui::dim("nothing")),
        all if all - told.len() > MAX_SHOWN => {
            let more = all - told.len() - MAX_SHOWN;
            ui::row("changed", ui::dim(format_args!("… and {more} more, all in the evidence")));
        }
        _ => {}
    }
    if !report.verdict.exempt.is_empty() {
        ui::row(
            "exempt",
            format_args!(
                "{} changed, no part of the delta",
                ui::count(report.verdict.exempt.len(), "build output")
            ),
        );
    }
    for movement in &report.ref_movements {
        ui::row("git ref", movement.describe());
    }
    let others =
        report.verdict.findings.iter().filter(|finding| finding.reason != canon::Reason::ReconUntrackedDelta);
    let (touched, others): (Vec<_>, Vec<_>) =
        others.partition(|finding| finding.reason == canon::Reason::TreeTouched);
    for finding in others {
        show_finding(finding);
    }
    for finding in touched.iter().take(MAX_TOUCHED_SHOWN) {
        show_finding(finding);
    }
    if touched.len() > MAX_TOUCHED_SHOWN {
        ui::row("note", ui::dim("… and more entries that were only touched, all in the evidence"));
    }
    ui::row("evidence", crate::shown(&report.attested.dir).display());
    if report.verdict.passed() {
        let what = if report.verdict.delta.is_empty() {
            "nothing changed"
        } else {
            "every change is inside the sealed scope"
        };
        ui::say(format_args!("{} {what}", ui::good("PASS")));
        return;
    }
    show_failed_logs(report);
    let codes: Vec<&str> = report.verdict.reasons.iter().map(|reason| reason.code()).collect();
    ui::say(format_args!("{} {}", ui::bad("FAIL"), codes.join(", ")));
    for (way, command) in next_steps(report) {
        ui::row(way, ui::code(command));
    }
}

/// Each rename in one row. Both paths count, so both verdicts are told where they differ.
fn show_renames(renames: &[Rename], untracked: &BTreeSet<&RepoPath>) {
    let verdict = |path: &RepoPath| {
        if untracked.contains(path) { ui::bad("out of scope") } else { ui::dim("in scope") }
    };
    for Rename { from, to } in renames.iter().take(MAX_SHOWN) {
        let verdicts = if untracked.contains(from) == untracked.contains(to) {
            verdict(to)
        } else {
            format!("{} → {}", verdict(from), verdict(to))
        };
        ui::row("renamed", format_args!("{from} → {to}  {verdicts}"));
    }
    if let Some(more) = renames.len().checked_sub(MAX_SHOWN).filter(|more| *more > 0) {
        ui::row("renamed", ui::dim(format_args!("… and {more} more, all in the evidence")));
    }
}

/// Where the words of failed gates are.
fn show_failed_logs(report: &RunReport) {
    let failed = report.gate_results.iter().filter(|result| result.status == plan::GateStatus::Fail);
    for log in failed.flat_map(control::gates::GateResult::log_paths) {
        let path = report.attested.dir.join(log);
        if std::fs::metadata(&path).is_ok_and(|facts| facts.len() > 0) {
            ui::row("log", crate::shown(&path).display());
        }
    }
}

fn show_finding(finding: &Finding) {
    let label = match finding.severity {
        Severity::Error => "found",
        Severity::Note => "note",
    };
    let path = finding.path.as_ref().map_or_else(String::new, |path| format!("{path}: "));
    let detail = if finding.detail.is_empty() { finding.reason.meaning() } else { &finding.detail };
    let code = match finding.severity {
        Severity::Error => ui::bad(finding.reason),
        Severity::Note => ui::dim(finding.reason),
    };
    ui::row(label, format_args!("{path}{detail} {code}"));
}

/// The ways on after a violation, as commands to copy.
fn next_steps(report: &RunReport) -> Vec<(&'static str, String)> {
    let Some(first) = report.verdict.reasons.first() else {
        return Vec::new();
    };
    if report.verdict.untracked.is_empty() {
        return vec![("next", first.next_step().to_owned())];
    }
    let id = &report.seal.contents().run_id;
    let findings = report.verdict.findings.iter();
    let protected: BTreeSet<&RepoPath> = findings
        .filter(|finding| finding.reason == canon::Reason::ProtectedChanged)
        .filter_map(|finding| finding.path.as_ref())
        .collect();
    // No scope lifts the protection of a path, so only the others are worth proposing.
    let plain: Vec<RepoPath> =
        report.verdict.untracked.iter().filter(|path| !protected.contains(path)).cloned().collect();
    if plain.is_empty() {
        return vec![("revert", format!("probity revert {id}")), ("next", first.next_step().to_owned())];
    }
    let patterns = paths::suggest(&plain, &[]);
    let flags = |flag: &str| {
        let words: Vec<String> =
            patterns.iter().map(|pattern| format!("{flag} {}", shell_word(pattern))).collect();
        words.join(" ")
    };
    vec![
        ("expand", format!("probity amend {id} {} --why '…'", flags("--add"))),
        ("revert", format!("probity revert {id}")),
        ("split", format!("probity run {} -- …", flags("--scope"))),
    ]
}
