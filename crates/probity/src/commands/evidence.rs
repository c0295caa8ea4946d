//! `probity evidence`: list, show, verify, chain, export.

use crate::answer::{Answer, Outcome, path_json};
use crate::cli::{EvidenceCommand, ExportFormat};
use crate::ui;
use canon::Reason;
use control::bundles::{self, TreeCheck};
use control::{Fault, Workspace};
use evidence::{Check, CheckStatus, Status, Trust, Verdict, Verification};
use serde_json::{Value, json};
use std::path::Path;

/// Answers a question about evidence.
pub(crate) fn evidence(
    workspace: impl Fn() -> Result<Workspace, Fault>,
    command: EvidenceCommand,
) -> Result<Answer, Fault> {
    match command {
        EvidenceCommand::List => list(&workspace()?),
        EvidenceCommand::Show { run } => show(&workspace()?, &run),
        EvidenceCommand::Verify { bundle, trust, tree } => {
            let dir = bundles::locate(&workspace, &bundle)?;
            let trust = match (trust, workspace()) {
                (Some(file), _) => bundles::trust(Some(&file))?,
                // A bundle of this very repository is held to its own key.
                (None, Ok(here)) if dir.starts_with(here.state.evidence()) => bundles::own_trust(&here)?,
                (None, _) => bundles::trust(None)?,
            };
            verify(&dir, &trust, tree.as_deref())
        }
        EvidenceCommand::Chain { trust } => chain(&workspace()?, trust.as_deref()),
        EvidenceCommand::Export { run, format } => export(&workspace()?, &run, format),
    }
}

fn list(workspace: &Workspace) -> Result<Answer, Fault> {
    let mut runs = Vec::new();
    for run_id in workspace.state.bundles()? {
        let stored = match bundles::manifest(workspace, &run_id) {
            Ok(stored) => stored,
            Err(fault) => {
                ui::print(format_args!("{run_id}  {}", ui::bad(&fault)));
                runs.push(json!({ "run_id": run_id, "status": null, "reason": fault.reason() }));
                continue;
            }
        };
        let manifest = &stored.manifest;
        let (status, mark) = match manifest.status() {
            Status::Pass => ("pass", ui::good("PASS")),
            Status::Fail => ("fail", ui::bad("FAIL")),
        };
        let reason = manifest.reasons().first().map_or("", |reason| reason.code());
        let elsewhere = if bundles::is_of(workspace, &stored) { "" } else { "  (another worktree)" };
        let amends = if manifest.details.amended_from.is_some() { "  (amended)" } else { "" };
        let changed = manifest.delta.as_ref().map_or_else(|| "?".into(), |delta| delta.len().to_string());
        ui::print(format_args!(
            "{run_id}  {}  {mark}  {changed:>4} changed  {reason}{amends}{elsewhere}",
            manifest.created_at
        ));
        runs.push(json!({
            "run_id": run_id,
            "created_at": manifest.created_at,
            "status": status,
            "reason": manifest.reasons().first(),
            "run_hash": stored.run_hash,
            "prev_run_hash": stored.prev_run_hash,
            "amended_from": manifest.details.amended_from,
            "in_this_tree": bundles::is_of(workspace, &stored),
        }));
    }
    if runs.is_empty() {
        ui::say("no run yet; begin with `probity run --scope 'src/**' -- COMMAND`");
    }
    Ok(Answer::new("evidence-list", Outcome::Ok, json!({ "runs": runs })))
}

fn show(workspace: &Workspace, run: &str) -> Result<Answer, Fault> {
    let run_id = bundles::find(workspace, run)?;
    let dir = workspace.state.evidence().join(&run_id);
    let stored = bundles::manifest(workspace, &run_id)?;
    ui::print(evidence::summary::render(&stored.manifest).trim_end());
    let manifest =
        std::fs::read(dir.join("manifest.json")).ok().and_then(|bytes| canon::json::parse(&bytes).ok());
    Ok(Answer::new(
        "evidence",
        Outcome::Ok,
        json!({ "run_id": run_id, "evidence_dir": path_json(&dir), "manifest": manifest }),
    ))
}

fn verify(dir: &Path, trust: &Trust, tree: Option<&Path>) -> Result<Answer, Fault> {
    let (verification, files) = bundles::verify(dir, trust)?;
    let tree = tree.map(|tree| bundles::check_tree(&files, tree)).transpose()?;
    let mut checks: Vec<Value> = verification.checks.iter().map(check_json).collect();
    ui::print(format_args!("{} {}", ui::bold("bundle"), crate::shown(dir).display()));
    verification.checks.iter().for_each(show_check);
    if let Some(tree) = tree {
        show_tree(tree);
        checks.push(tree_json(tree));
    }
    let passed = verification.verdict == Verdict::Pass && tree.is_none_or(|tree| tree.agrees());
    let mut codes: Vec<String> = verification.codes.iter().cloned().collect();
    if tree.is_some_and(|tree| !tree.agrees())
        && !codes.contains(&Reason::EvidenceTreeMismatch.code().to_owned())
    {
        codes.push(Reason::EvidenceTreeMismatch.code().into());
        codes.sort();
    }
    if passed {
        ui::print(format_args!("{} the bundle is sound, and the run it tells of passed", ui::good("PASS")));
    } else {
        ui::print(format_args!("{} {}", ui::bad("FAIL"), codes.join(", ")));
    }
    show_next(&codes);
    let document = json!({
        "outcome": if passed { "PASS" } else { "FAIL" },
        "codes": codes,
        "skipped": verification.skipped,
        "checks": checks,
    });
    Ok(Answer::new("evidence-verify", if passed { Outcome::Ok } else { Outcome::Failed }, document))
}

fn show_check(check: &Check) {
    let (mark, detail) = match check.status {
        CheckStatus::Passed => (ui::good("ok  "), what_passed(check.name)),
        CheckStatus::Failed => (ui::bad("fail"), check.detail.as_str()),
        CheckStatus::Skipped => (ui::dim("skip"), "not demanded: a trust file can demand it"),
    };
    let codes = check.codes.iter().fold(String::new(), |all, code| all + code + " ");
    ui::print(format_args!("  {mark} {:<14} {codes}{}", check.name, ui::dim(detail)));
}

/// What it means that a check was passed, for people.
fn what_passed(name: &str) -> &'static str {
    match name {
        "manifest" => "it is strict JSON, and every field is what it must be",
        "canonical" => "its bytes are the one canonical form",
        "run_hash" => "its hash, computed again, is the recorded one",
        "artifacts" => "exactly the listed files are there, each with its hash",
        "plan" => "the plan has its recorded hash, and the scope is the plan's",
        "policy" => "the policy versions are the plan's",
        "seal" => "the plan is the one that you demand",
        "profile" => "the profile is the one that you demand",
        "reconciliation" => "U, computed again from scope and delta, is empty as recorded",
        "gates" => "every required gate ran and passed",
        "status" => "the status follows from the facts",
        "chain" => "it follows the run that you demand",
        "signature" => "one of your keys signed it",
        _ => "",
    }
}

fn show_next(codes: &[String]) {
    if let Some(reason) = codes.first().and_then(|code| code.parse::<Reason>().ok()) {
        ui::print_row("next", reason.next_step());
    }
}

fn check_json(check: &Check) -> Value {
    json!({ "name": check.name, "status": check.status, "codes": check.codes, "detail": check.detail })
}

fn show_tree(tree: TreeCheck) {
    let mark = if tree.agrees() { ui::good("ok  ") } else { ui::bad("fail") };
    ui::print(format_args!("  {mark} {:<14} {}", "tree", ui::dim(tree_detail(tree))));
}

fn tree_detail(tree: TreeCheck) -> String {
    match tree.recorded {
        Some(_) if tree.agrees() => "the tree is the one that the bundle describes".into(),
        Some(recorded) => format!("the bundle describes {recorded}, the tree is {} now", tree.now),
        None => "the bundle does not know how the tree was at the end".into(),
    }
}

fn tree_json(tree: TreeCheck) -> Value {
    json!({
        "name": "tree",
        "status": if tree.agrees() { "passed" } else { "failed" },
        "codes": if tree.agrees() { json!([]) } else { json!([Reason::EvidenceTreeMismatch]) },
        "detail": tree_detail(tree),
    })
}

fn chain(workspace: &Workspace, trust: Option<&Path>) -> Result<Answer, Fault> {
    let trust = match trust {
        Some(file) => bundles::trust(Some(file))?,
        None => bundles::own_trust(workspace)?,
    };
    let report = bundles::check_chain(workspace, &trust)?;
    let mut codes = std::collections::BTreeSet::new();
    let mut links = Vec::new();
    for link in &report.links {
        let broken = integrity(&link.verification);
        let mark = if broken.is_empty() { ui::good("ok  ") } else { ui::bad("fail") };
        ui::print(format_args!("  {mark} {}  {}", link.run_id, broken.join(", ")));
        links.push(json!({ "run_id": link.run_id, "codes": broken }));
        codes.extend(broken);
    }
    let problems = report
        .breaks
        .iter()
        .cloned()
        .chain(report.loose.iter().map(|id| format!("{id} does not hang on the chain")));
    let problems: Vec<String> = problems.collect();
    if !problems.is_empty() {
        codes.insert(Reason::EvidenceChainBroken.code().into());
    }
    for problem in &problems {
        ui::print(format_args!("  {} {problem}", ui::bad("fail")));
    }
    let passed = codes.is_empty();
    let shown = if passed { ui::good("PASS") } else { ui::bad("FAIL") };
    ui::print(format_args!("{shown} {} on the chain", ui::count(report.links.len(), "bundle")));
    let codes: Vec<String> = codes.into_iter().collect();
    show_next(&codes);
    let document = json!({
        "outcome": if passed { "PASS" } else { "FAIL" },
        "codes": codes,
        "links": links,
        "problems": problems,
    });
    Ok(Answer::new("evidence-chain", if passed { Outcome::Ok } else { Outcome::Failed }, document))
}

/// The codes that speak against the bundle itself: a run may fail, and its evidence still be sound.
fn integrity(verification: &Verification) -> Vec<String> {
    let about_bundle =
        |code: &&String| ["EVIDENCE.", "JSON.", "SEAL."].iter().any(|family| code.starts_with(family));
    verification.codes.iter().filter(about_bundle).cloned().collect()
}

fn export(workspace: &Workspace, run: &str, format: ExportFormat) -> Result<Answer, Fault> {
    let run_id = bundles::find(workspace, run)?;
    let signed = format == ExportFormat::Dsse;
    let document = control::export::attestation(workspace, &run_id, signed)?;
    ui::print(String::from_utf8_lossy(&canon::json::canonical(&document)));
    Ok(Answer::new("evidence-export", Outcome::Ok, json!({ "run_id": run_id, "attestation": document })))
}
