//! Renders one bundle for a terminal: the same facts as `summary.md`, in rows.

use crate::commands::changed_paths::{ChangeMark, change_lines, exempt_line};
use crate::commands::evidence::reverted_words;
use crate::ui;
use probity_api::govern::evidence::RunRevert;
use probity_core::ReasonCode;
use probity_core::bytes::escape;
use probity_evidence::{Manifest, ManifestFinding, RecognizedBecause, RecognizedOutput, StoredManifest};
use probity_paths::RepoPath;
use probity_workspace::refs::{describe_movement, recorded_movements};
use std::collections::BTreeSet;

/// Maximum number of lines of one kind; the bundle has all of them.
const MAX_LINES_PER_KIND: usize = 40;

pub(crate) fn show(stored: &StoredManifest, reverted_by: Option<&RunRevert>) {
    let manifest = &stored.manifest;
    let reasons = manifest.reasons();
    let verdict = if reasons.is_empty() { ui::good("PASS") } else { ui::bad("FAIL") };
    ui::print(format_args!("{verdict} {} {}", ui::bold("run"), manifest.run_id));
    print_rows("reason", reasons.iter().map(|reason| format!("{} {}", ui::bad(reason), reason.meaning())));
    if let Some(reverted_by) = reverted_by {
        ui::print_row("since", reverted_words(reverted_by));
    }
    print_facts(stored);
    print_changes(manifest);
    let details = &manifest.details;
    let found = details.protected.iter().chain(&details.unsafe_entries).chain(&details.findings);
    print_rows("found", found.map(finding_text));
    print_rows("gate", manifest.gate_results.iter().map(gate_text));
    print_rows(
        "amended",
        manifest.amendments.iter().map(|it| {
            let globs: Vec<String> = it.add.as_slice().iter().map(|glob| escape(glob)).collect();
            format!("{}, by {}: {}", globs.join("  "), it.by, it.why)
        }),
    );
    print_rows("git ref", recorded_movements(&details.refs).iter().map(describe_movement));
    // Out-of-scope changes need no further action once they are reverted.
    let is_undone = reverted_by.is_some_and(|it| it.left.is_empty());
    let is_open = |reason: &&ReasonCode| !(is_undone && **reason == ReasonCode::ReconUntrackedDelta);
    if let Some(reason) = reasons.iter().find(is_open) {
        ui::print_row("next", reason.next_step());
    } else if is_undone {
        ui::print_row("next", "nothing: what was out of scope is undone");
    }
}

fn print_rows(label: &str, lines: impl Iterator<Item = String>) {
    let lines: Vec<String> = lines.collect();
    for line in lines.iter().take(MAX_LINES_PER_KIND) {
        ui::print_row(label, line);
    }
    if let Some(more) = lines.len().checked_sub(MAX_LINES_PER_KIND).filter(|more| *more > 0) {
        ui::print_row(label, ui::dim(format_args!("… and {more} more, all in the bundle")));
    }
}

fn print_facts(stored: &StoredManifest) {
    let (manifest, details) = (&stored.manifest, &stored.manifest.details);
    ui::print_row("made at", &manifest.created_at);
    if let Some(command) = &details.command {
        let words: Vec<String> = command.argv.iter().map(|word| escape(word.as_bytes())).collect();
        let ended =
            command.exit_code.map_or_else(|| "no exit code".into(), |code| format!("exit code {code}"));
        ui::print_row("command", format_args!("{}  {}", words.join(" "), ui::dim(ended)));
    }
    let scope: Vec<String> = manifest.plan.scope.as_slice().iter().map(|glob| escape(glob)).collect();
    ui::print_row("scope", scope.join("  "));
    let signed = stored.key_id.as_ref().map_or_else(|| "no".into(), |key| format!("by key {key}"));
    ui::print_row("signed", signed);
    ui::print_row("hash", ui::dim(stored.run_hash));
    let of = [("amends", details.amended_from), ("reverts", details.reverts)];
    for (label, hash) in of.into_iter().filter_map(|(label, hash)| Some((label, hash?))) {
        ui::print_row(label, ui::dim(hash));
    }
    if let Some(pruned) = details.pruned {
        ui::print_row("removed", ui::count_of(usize::try_from(pruned).unwrap_or(usize::MAX), "older bundle"));
    }
}

fn print_changes(manifest: &Manifest) {
    let untracked: BTreeSet<RepoPath> = manifest.untracked().unwrap_or_default().into_iter().collect();
    let Some(delta) = &manifest.delta else {
        return ui::print_row("changed", ui::warn("not known"));
    };
    let changes: Vec<_> = delta.iter().map(|change| (ChangeMark::of(change.change), &change.path)).collect();
    for line in change_lines(&changes, &untracked, "") {
        ui::print_row("changed", line);
    }
    if let Some(line) = exempt_line(&manifest.exempt_delta_paths) {
        ui::print_row("outputs", line);
    }
    print_rows("output", manifest.details.recognized_outputs.iter().map(recognized_text));
}

fn recognized_text(output: &RecognizedOutput) -> String {
    let because = match output.because {
        RecognizedBecause::MarkedAtStart => "was there at the start",
        RecognizedBecause::Ignored => "the ignore rules of the start name it",
        RecognizedBecause::ToolName => "the tool uses that name by itself",
    };
    format!("{}/  {}", output.path, ui::dim(format_args!("{}, {because}", output.mark.file_name())))
}

fn finding_text(finding: &ManifestFinding) -> String {
    let path = finding.path.as_ref().map_or_else(String::new, |path| format!("{path}: "));
    format!("{path}{} {}", escape(finding.detail.as_bytes()), ui::dim(&finding.code))
}

fn gate_text(result: &probity_evidence::GateResult) -> String {
    let status = match result.status {
        probity_evidence::GateStatus::Pass => ui::good("pass"),
        probity_evidence::GateStatus::Fail => ui::bad("fail"),
        probity_evidence::GateStatus::Skip => ui::warn("skip"),
    };
    format!("{status} {} {}", result.gate_id, ui::dim(format_args!("{} ms", result.duration_ms)))
}
