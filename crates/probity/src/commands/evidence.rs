//! `probity evidence`: list, show, verify, chain, export.

use crate::answer::{Answer, path_json};
use crate::cli::{EvidenceCommand, ExportFormat};
use crate::progress::meter;
use crate::ui;
use api::ExitCode;
use canon::Reason;
use control::bundles::{self, RevertedBy, Reverts, TreeCheck};
use control::prune::{self, Keep};
use control::{Fault, Workspace};
use evidence::{Check, CheckStatus, Details, Status, StoredManifest, Trust, Verdict};
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
        EvidenceCommand::Gc { keep, older_than, dry_run } => {
            // The command line lets exactly one of the two through.
            let keep = keep.map(Keep::Newest).or(older_than.map(Keep::YoungerThan));
            gc(&workspace()?, keep.unwrap_or(Keep::Newest(usize::MAX)), dry_run)
        }
    }
}

fn list(workspace: &Workspace) -> Result<Answer, Fault> {
    let mut runs = Vec::new();
    let reverts = Reverts::of(workspace)?;
    for run_id in workspace.state.bundles()? {
        let stored = match bundles::manifest(workspace, &run_id) {
            Ok(stored) => stored,
            Err(fault) => {
                ui::print(format_args!("{}  {}", canon::words::short_id(&run_id), ui::bad(&fault)));
                runs.push(json!({ "run_id": run_id, "status": null, "reason": fault.reason() }));
                continue;
            }
        };
        let manifest = &stored.manifest;
        let (status, mark) = match manifest.status() {
            Status::Pass => ("pass", ui::good("PASS")),
            Status::Fail => ("fail", ui::bad("FAIL")),
        };
        let reason = manifest.reasons().first().map_or("", |reason| reason.as_str());
        let elsewhere = if bundles::is_of(workspace, &stored) { "" } else { "  (another worktree)" };
        let story = story(&manifest.details, manifest.amendments.is_empty());
        let reverted_by = reverts.reverted_by(&stored);
        let reverted =
            reverted_by.as_ref().map_or_else(String::new, |it| format!("  ({})", reverted_words(it)));
        let changed = manifest.delta.as_ref().map_or_else(|| "?".into(), |delta| delta.len().to_string());
        let short = canon::words::short_id(&run_id);
        let used = short.len() + manifest.created_at.len() + "    PASS  0000 changed  ".len();
        let rest = ui::fit(&format!("{reason}{story}{reverted}{elsewhere}"), used);
        ui::print(format_args!("{short}  {}  {mark}  {changed:>4} changed  {rest}", manifest.created_at));
        runs.push(json!({
            "run_id": run_id,
            "created_at": manifest.created_at,
            "status": status,
            "reason": manifest.reasons().first(),
            "run_hash": stored.run_hash,
            "prev_run_hash": stored.prev_run_hash,
            "amended_from": manifest.details.amended_from,
            "reverts": manifest.details.reverts,
            "reverted_by": reverted_by,
            "pruned": manifest.details.pruned,
            "in_this_tree": bundles::is_of(workspace, &stored),
        }));
    }
    if runs.is_empty() {
        ui::say("no run yet; begin with `probity run --scope 'src/**' -- COMMAND`");
    }
    Ok(Answer::new("evidence-list", ExitCode::Ok, json!({ "runs": runs })))
}

/// How a run was reverted, in words.
pub(crate) fn reverted_words(reverted: &RevertedBy) -> String {
    match reverted.left.len() {
        0 => format!("reverted by run {}", reverted.run_id),
        left => format!("partly reverted by run {}, {} left", reverted.run_id, ui::count(left, "path")),
    }
}

/// What a bundle is, if it is not simply that of a run.
fn story(details: &Details, is_unamended: bool) -> &'static str {
    match (details.reverts, details.amended_from) {
        _ if details.pruned.is_some() => "  (gc)",
        (Some(_), _) => "  (revert)",
        (None, Some(_)) if is_unamended => "  (amendment refused)",
        (None, Some(_)) => "  (amended)",
        (None, None) => "",
    }
}

fn show(workspace: &Workspace, run: &str) -> Result<Answer, Fault> {
    let run_id = bundles::find(workspace, run)?;
    let dir = workspace.state.evidence().join(&run_id);
    let stored = bundles::manifest(workspace, &run_id)?;
    let reverted_by = Reverts::of(workspace)?.reverted_by(&stored);
    super::evidence_show::show(&stored, reverted_by.as_ref());
    let manifest =
        std::fs::read(dir.join("manifest.json")).ok().and_then(|bytes| canon::json::parse(&bytes).ok());
    Ok(Answer::new(
        "evidence",
        ExitCode::Ok,
        json!({
            "run_id": run_id,
            "evidence_dir": path_json(&dir),
            "manifest": manifest,
            "reverted_by": reverted_by,
        }),
    ))
}

fn verify(dir: &Path, trust: &Trust, tree: Option<&Path>) -> Result<Answer, Fault> {
    let phase = meter().begin("checking the bundle");
    let (verification, files) = bundles::verify(dir, trust)?;
    let tree = tree.map(|tree| bundles::check_tree(&files, tree)).transpose()?;
    drop(phase);
    let mut checks: Vec<Value> = verification.checks.iter().map(check_json).collect();
    ui::print(format_args!("{} {}", ui::bold("bundle"), crate::shown(dir).display()));
    let n_required = n_required_gates(&files, trust);
    verification.checks.iter().for_each(|check| show_check(check, n_required));
    if let Some(tree) = tree {
        show_tree(tree);
        checks.push(tree_json(tree));
    }
    let passed = verification.verdict == Verdict::Pass && tree.is_none_or(|tree| tree.agrees());
    let mut codes: Vec<String> = verification.codes.iter().cloned().collect();
    if tree.is_some_and(|tree| !tree.agrees())
        && !codes.contains(&Reason::EvidenceTreeMismatch.as_str().to_owned())
    {
        codes.push(Reason::EvidenceTreeMismatch.as_str().into());
        codes.sort();
    }
    if passed {
        ui::print(format_args!("{} the evidence is intact, and the run it records passed", ui::good("PASS")));
    } else if bundles::is_sound(&verification) && tree.is_none_or(|tree| tree.agrees()) {
        // Two facts: nobody touched the bundle, and what it tells is a failure.
        let failed = ui::bad(codes.join(", "));
        ui::print(format_args!(
            "{} the evidence is intact; the run it records failed: {failed}",
            ui::bad("FAIL")
        ));
    } else {
        let flaws: Vec<&String> = codes.iter().filter(|code| bundles::is_flaw(code)).collect();
        let (shown, rest): (Vec<&String>, Vec<&String>) = codes.iter().partition(|code| flaws.contains(code));
        let join = |codes: &[&String]| codes.iter().map(|it| it.as_str()).collect::<Vec<_>>().join(", ");
        let run = if rest.is_empty() {
            String::new()
        } else {
            format!("; the run it records failed: {}", join(&rest))
        };
        let what = "the evidence does not prove what it must";
        ui::print(format_args!("{} {what}: {}{run}", ui::bad("FAIL"), ui::bad(join(&shown))));
    }
    show_next(&codes);
    let document = json!({
        "outcome": if passed { "PASS" } else { "FAIL" },
        "codes": codes,
        "skipped": verification.skipped,
        "checks": checks,
    });
    Ok(Answer::new("evidence-verify", if passed { ExitCode::Ok } else { ExitCode::Failed }, document))
}

/// How many gates the recorded plan and the caller require; `None` where that cannot be read.
fn n_required_gates(files: &bundles::Files, trust: &Trust) -> Option<usize> {
    let stored = StoredManifest::parse(files.get(&b"manifest.json"[..])?).ok()?;
    Some(stored.manifest.plan.required_gates().count() + trust.required_gates.len())
}

fn show_check(check: &Check, n_required_gates: Option<usize>) {
    let (mark, detail) = match check.status {
        CheckStatus::Passed if check.name == "gates" && n_required_gates == Some(0) => {
            (ui::good("ok  "), "no gate was required")
        }
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
        "manifest" => "it is strict JSON, and every field is valid",
        "canonical" => "its bytes are in canonical form",
        "run_hash" => "its hash, computed again, is the recorded one",
        "artifacts" => "exactly the listed files are there, each with its hash",
        "plan" => "the plan has the recorded hash and the recorded scope",
        "policy" => "the policy versions are those of the plan",
        "seal" => "the plan is the one that you require",
        "profile" => "the profile is the one that you require",
        "reconciliation" => "no changed path is out of scope, computed again",
        "gates" => "every required gate ran and passed",
        "status" => "the status follows from the facts",
        "chain" => "it follows the run that you require",
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
    let report = control::chain::check(workspace, &trust)?;
    let mut codes = std::collections::BTreeSet::new();
    let mut links = Vec::new();
    for link in &report.links {
        let broken: Vec<String> = bundles::flaws(&link.verification).cloned().collect();
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
        codes.insert(Reason::EvidenceChainBroken.as_str().into());
    }
    for problem in &problems {
        ui::print(format_args!("  {} {problem}", ui::bad("fail")));
    }
    let passed = codes.is_empty();
    let shown = if passed { ui::good("PASS") } else { ui::bad("FAIL") };
    ui::print(format_args!("{shown} {} on the chain", ui::count(report.links.len(), "bundle")));
    if report.pruned > 0 {
        let removed = ui::count(report.pruned, "older bundle");
        ui::print_row("before", ui::dim(format_args!("{removed} removed on the record by `evidence gc`")));
    }
    let codes: Vec<String> = codes.into_iter().collect();
    show_next(&codes);
    let document = json!({
        "outcome": if passed { "PASS" } else { "FAIL" },
        "codes": codes,
        "links": links,
        "problems": problems,
        "pruned": report.pruned,
    });
    Ok(Answer::new("evidence-chain", if passed { ExitCode::Ok } else { ExitCode::Failed }, document))
}

fn export(workspace: &Workspace, run: &str, format: ExportFormat) -> Result<Answer, Fault> {
    let run_id = bundles::find(workspace, run)?;
    let signed = format == ExportFormat::Dsse;
    let document = control::export::attestation(workspace, &run_id, signed)?;
    ui::print(String::from_utf8_lossy(&canon::json::canonical(&document)));
    Ok(Answer::new("evidence-export", ExitCode::Ok, json!({ "run_id": run_id, "attestation": document })))
}

fn gc(workspace: &Workspace, keep: Keep, dry_run: bool) -> Result<Answer, Fault> {
    let report = prune::prune(workspace, keep, dry_run)?;
    let verb = if dry_run { "would be removed" } else { "removed" };
    for run in &report.bundles {
        ui::print_row(if dry_run { "remove" } else { "removed" }, &run.run_id);
    }
    ui::print(format_args!(
        "{} and {} {verb}, {} kB; {} stay",
        ui::count(report.bundles.len(), "bundle"),
        ui::count(report.n_images, "before-image"),
        report.bytes.div_ceil(1000),
        ui::count(report.kept, "bundle"),
    ));
    if let Some(attested) = &report.attested {
        ui::print_row("evidence", crate::shown(&attested.dir).display());
    }
    let document = json!({
        "dry_run": dry_run,
        "bundles": report.bundles,
        "kept": report.kept,
        "before_images": report.n_images,
        "bytes": report.bytes,
        "evidence_dir": report.attested.as_ref().map(|attested| path_json(&attested.dir)),
    });
    Ok(Answer::new("evidence-gc", ExitCode::Ok, document))
}
