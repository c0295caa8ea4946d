//! What `probity run` shows a person: the events of a run, and its report.

use crate::commands::changed_paths::{ChangeMark, change_lines, exempt_line};
use crate::ui;
use probity_api::govern::enforcement::ConfinementReport;
use probity_api::govern::run::{FileRename, FindingSeverity, RunAnswer, RunFinding, RunLedger, WayForward};
use probity_core::ReasonCode;
use probity_core::bytes::escape;
use probity_evidence::{EnforcementLevel, LandingState};
use probity_paths::RepoPath;
use probity_runner::recover::ClosedRun;
use probity_runner::run::{RunEvent, RunReport};
use probity_workspace::Workspace;
use probity_workspace::exemptions::{OutputHint, judged_outputs, output_hint};
use probity_workspace::refs::{describe_movement, shown_name, shown_value};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of changes listed with the commit or index that has them.
const MAX_SHOWN_PLACES: usize = 20;

/// Maximum number of renames listed; the evidence has all of them.
const MAX_SHOWN_RENAMES: usize = 40;

/// Maximum number of entries listed that were only touched; the evidence has all of them.
const MAX_TOUCHED_SHOWN: usize = 5;

/// Number of trailing log lines shown for a failed gate.
const MAX_LOG_LINES: usize = 10;

/// Longer log lines are truncated.
const MAX_LOG_LINE_CHARS: usize = 240;

fn show_closed(closed: &ClosedRun) {
    ui::say_sentence(format_args!(
        "{} run {} was interrupted; it is closed as FAIL, evidence in {}",
        ui::warn("!"),
        closed.run_id,
        closed.dir.display()
    ));
    if closed.orphans.is_empty() {
        return;
    }
    let names: Vec<String> =
        closed.orphans.iter().map(|orphan| format!("{} ({})", orphan.program, orphan.pid)).collect();
    let pids: Vec<String> = closed.orphans.iter().map(|orphan| orphan.pid.to_string()).collect();
    ui::say_sentence(format_args!(
        "{} processes of it still run: {}. What they write is taken for the work of this run: stop this one, \
         `kill {}`, then run again",
        ui::warn("!"),
        names.join(", "),
        pids.join(" ")
    ));
}

pub(super) fn show_event(workspace: &Workspace, event: &RunEvent<'_>, typed_remark: &str) {
    match event {
        RunEvent::Closed(closed) => show_closed(closed),
        RunEvent::Sealed { seal, coverage, warnings, confinement, degraded } => {
            let contents = seal.contents();
            ui::eprint(format_args!(
                "{} {}",
                ui::bold("probity run"),
                ui::dim(format_args!("{}  in {}", contents.run_id, workspace.root.display()))
            ));
            show_confinement(confinement, *degraded);
            if let Some(intent_id) = &contents.intent_id {
                ui::eprint_row("intent", intent_id);
            }
            let scope: Vec<String> =
                contents.plan.scope.as_slice().iter().map(|pattern| escape(pattern)).collect();
            if scope.is_empty() {
                ui::eprint_row("scope", "nothing may change");
            } else {
                let covers = coverage.map(|it| format!("   covers {} of {} files", it.covered, it.files));
                let covers = ui::dim(covers.unwrap_or_default());
                ui::eprint_row("scope", format_args!("{}{covers}{typed_remark}", scope.join("  ")));
            }
            if !contents.plan.gates.is_empty() {
                let gates: Vec<&str> = contents.plan.gates.iter().map(|gate| gate.id.as_str()).collect();
                ui::eprint_row("gates", gates.join(", "));
            }
            ui::eprint_hash_row("sealed", seal.hash());
            for warning in *warnings {
                let pattern =
                    warning.pattern.as_ref().map_or_else(String::new, |pattern| format!("`{pattern}`: "));
                ui::eprint_row(
                    "warning",
                    format_args!("{pattern}{} {}", warning.code.meaning(), ui::warn(warning.code)),
                );
            }
        }
        RunEvent::OwnClaims(claims) => {
            for claim in *claims {
                let paths: Vec<String> = claim.paths.iter().map(ToString::to_string).collect();
                let whose = ui::dim(format_args!("your own intent {} ({})", claim.intent_id, claim.agent));
                ui::eprint_row("claimed", format_args!("{}  {whose}", paths.join(", ")));
            }
        }
        RunEvent::OutOfSight(paths) => {
            for path in *paths {
                let why = "is not there in the private view, whose /tmp, /var/tmp and /run are empty: use a path elsewhere";
                ui::eprint_row("warning", format_args!("`{}` {why}", path.display()));
            }
        }
        RunEvent::CommandEnded => ui::reset_terminal(),
        RunEvent::Gate(result) => {
            let status = match result.status {
                probity_evidence::GateStatus::Pass => ui::good("pass"),
                probity_evidence::GateStatus::Fail => ui::bad("fail"),
                probity_evidence::GateStatus::Skip => ui::warn("skip"),
            };
            ui::eprint_row(
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

/// Says how firmly the command is kept in its scope; a weaker level than the strongest is explained.
fn show_confinement(confinement: &ConfinementReport, degraded: Option<&str>) {
    let level = confinement.level;
    let what = match &confinement.view {
        Some(view) => {
            let sockets = ui::count_of(view.masked_sockets, "socket");
            format!("tree, home and /tmp are private; network {}; {sockets} masked", confinement.network)
        }
        None if level == EnforcementLevel::Landlock => {
            "writes outside of the directories of the scope are refused; the rest is found afterwards"
                .to_owned()
        }
        None => "changes are found afterwards".to_owned(),
    };
    ui::eprint_row("enforce", format_args!("{level}   {}", ui::dim(what)));
    if let Some(why) = degraded {
        ui::eprint_row("warning", format_args!("{why} {}", ui::warn(ReasonCode::EnforceDegraded)));
    }
}

fn change_mark(change: probity_snapshot::ChangeKind) -> ChangeMark {
    match change {
        probity_snapshot::ChangeKind::Added => ChangeMark::Added,
        probity_snapshot::ChangeKind::Modified => ChangeMark::Modified,
        probity_snapshot::ChangeKind::Deleted => ChangeMark::Deleted,
    }
}

pub(super) fn show(report: &RunReport, answer: &RunAnswer) {
    let verdict = &report.verdict;
    let untracked: BTreeSet<RepoPath> = verdict.untracked.iter().cloned().collect();
    let fate = match report.landing.state {
        LandingState::Held | LandingState::Conflict => ", held",
        LandingState::Landed | LandingState::None => "",
    };
    show_changes(report, &answer.renames, &untracked, fate);
    for line in place_lines(verdict.placed.iter().map(|(path, placed)| (path, placed.describe_place()))) {
        ui::eprint_row("", line);
    }
    let judged = judged_outputs(&report.seal, &verdict.untracked);
    if judged > 0 {
        let paths = ui::count_of(judged, "path");
        let why = "judged anyway: git tracks them, or programs execute or load them";
        ui::eprint_row("note", format_args!("{paths} out of scope in build outputs, {why}"));
    }
    if let Some(line) = exempt_line(&verdict.exempt) {
        ui::eprint_row("outputs", line);
    }
    show_ref_movements(report);
    // Why a rename failed is of interest after a failure only; the evidence has it always.
    let is_left_out = |finding: &&RunFinding| match finding.reason {
        ReasonCode::ReconUntrackedDelta => true,
        ReasonCode::ViewNoDirRename => report.command_exit_code == Some(0),
        _ => false,
    };
    let others = report.verdict.findings.iter().filter(|finding| !is_left_out(finding));
    let (touched, others): (Vec<_>, Vec<_>) =
        others.partition(|finding| finding.reason == ReasonCode::TreeTouched);
    for finding in others {
        show_finding(finding);
    }
    for finding in touched.iter().take(MAX_TOUCHED_SHOWN) {
        show_finding(finding);
    }
    if touched.len() > MAX_TOUCHED_SHOWN {
        ui::eprint_row("note", ui::dim("… and more entries that were only touched, all in the evidence"));
    }
    if let Some(learned) = &answer.ledger {
        ui::eprint_row("ledger", ledger_words(learned));
    }
    ui::eprint_row("evidence", crate::relative_to_cwd(&report.attested.dir).display());
    for obstacle in &report.landing.conflicts {
        let code = ui::bad(obstacle.code);
        if matches!(obstacle.code, ReasonCode::LandConflict | ReasonCode::LandUnsafe) {
            ui::eprint_row("conflict", format_args!("{}: {} {code}", obstacle.path, obstacle.detail));
        } else {
            ui::eprint_row("refused", format_args!("{} {code}", obstacle.detail));
        }
    }
    if report.passed() {
        let what = match (report.verdict.delta.is_empty(), report.landing.state) {
            (true, _) => "nothing changed",
            (false, LandingState::Landed) => "every change is inside the sealed scope and landed",
            (false, _) => "every change is inside the sealed scope",
        };
        ui::eprint(format_args!("{} {what}", ui::good("PASS")));
        show_next_steps(answer);
        return;
    }
    show_failed_logs(report);
    show_reasons(&report.reasons());
    if matches!(report.landing.state, LandingState::Held | LandingState::Conflict) {
        ui::eprint_row("landing", "nothing landed, your tree is as it was");
    } else if report.confinement.view.is_none() && !report.verdict.delta.is_empty() {
        ui::eprint_row("tree", "what the command changed is in your tree");
    }
    if let Some(hint) = output_hint(&report.seal, &report.verdict.untracked) {
        ui::eprint_row("hint", hint_words(&hint));
    }
    show_next_steps(answer);
}

/// Says which changes are only committed or staged, and where; many in one place are counted.
fn place_lines<'a>(placed: impl Iterator<Item = (&'a RepoPath, String)>) -> Vec<String> {
    let mut by_place: BTreeMap<String, Vec<&RepoPath>> = BTreeMap::new();
    for (path, place) in placed {
        by_place.entry(place).or_default().push(path);
    }
    let mut lines = Vec::new();
    for (place, paths) in &by_place {
        match paths.as_slice() {
            few @ ([_] | [_, _] | [_, _, _]) => {
                lines.extend(few.iter().map(|path| format!("{path} is {}", ui::dim(place))));
            }
            [first, rest @ ..] => {
                let more = ui::format_number(rest.len());
                lines.push(format!("{first} and {more} more are {}", ui::dim(place)));
            }
            [] => {}
        }
    }
    if let Some(more) = lines.len().checked_sub(MAX_SHOWN_PLACES).filter(|more| *more > 0) {
        lines.truncate(MAX_SHOWN_PLACES);
        lines.push(ui::dim(format_args!("… and {} more, all in the evidence", ui::format_number(more))));
    }
    lines
}

/// Lists the changes: all that are in scope first, so that the edit that was asked for is not below others.
fn show_changes(report: &RunReport, renames: &[FileRename], untracked: &BTreeSet<RepoPath>, fate: &str) {
    let told: BTreeSet<&RepoPath> = renames.iter().flat_map(|it| [&it.from, &it.to]).collect();
    let changes: Vec<_> = report
        .verdict
        .delta
        .iter()
        .filter(|change| !told.contains(&change.path))
        .map(|change| (change_mark(change.change), &change.path))
        .collect();
    let (outside, inside): (Vec<_>, Vec<_>) =
        changes.into_iter().partition(|(_, path)| untracked.contains(path));
    let (renamed_outside, renamed_inside): (Vec<_>, Vec<_>) =
        renames.iter().partition(|it| untracked.contains(&it.from) || untracked.contains(&it.to));
    let show_rows = |changes: &[_]| {
        for line in change_lines(changes, untracked, fate) {
            ui::eprint_row("changed", line);
        }
    };
    if !inside.is_empty() {
        show_rows(&inside);
    }
    show_renames(&renamed_inside, untracked, fate);
    show_renames(&renamed_outside, untracked, fate);
    if !outside.is_empty() || (inside.is_empty() && renames.is_empty()) {
        show_rows(&outside);
    }
}

/// Lists the references that moved, and what became of commits that were made in a view.
fn show_ref_movements(report: &RunReport) {
    let is_in_view = report.confinement.view.is_some();
    let place = if is_in_view { "in the view: " } else { "" };
    for movement in &report.ref_movements {
        ui::eprint_row("git ref", format_args!("{place}{}", describe_movement(movement)));
    }
    for branch in &report.landing.imported {
        let note = branch.note.as_ref().map_or_else(String::new, |note| format!(": {note}"));
        let name = shown_name(&branch.name);
        match branch.n_commits {
            // Its commits came with another branch.
            Some(0) => {
                let target = shown_value(&branch.after);
                ui::eprint_row("imported", format_args!("{name}, now at {target}{note}"));
            }
            Some(n_commits) => {
                let commits = ui::count_of(n_commits, "commit");
                ui::eprint_row("imported", format_args!("{name}, {commits}{note}"));
            }
            None => ui::eprint_row("kept out", format_args!("commits of {name}{note}")),
        }
    }
    if !is_in_view || report.ref_movements.is_empty() || !report.landing.imported.is_empty() {
        return;
    }
    let words = match report.landing.state {
        LandingState::Landed | LandingState::None => {
            "made in the private view, and gone with it: only files land, so commit them yourself; \
             `commits = \"import\"` under `[git]` in probity.toml takes over an agent's commits"
        }
        LandingState::Held | LandingState::Conflict => {
            "made in the private view; your own branches have not moved"
        }
    };
    ui::eprint_row("commits", words);
}

fn show_next_steps(answer: &RunAnswer) {
    for step in &answer.next_steps {
        let is_sentence = step.way == WayForward::Next;
        let words = if is_sentence { step.command.clone() } else { ui::code(&step.command) };
        ui::eprint_row(step.way.as_str(), words);
    }
}

/// Explains why a run failed, with the codes to search for.
fn show_reasons(reasons: &[ReasonCode]) {
    let words = |reason: &ReasonCode| format!("{} {}", reason.meaning(), ui::bad(reason));
    // Skipped gates are a consequence of another failure, so they come last.
    let (skipped, causes): (Vec<&ReasonCode>, Vec<&ReasonCode>) =
        reasons.iter().partition(|reason| **reason == ReasonCode::GateSkipped);
    for (index, reason) in causes.into_iter().chain(skipped).enumerate() {
        match index {
            0 => ui::say_sentence(format_args!("{} {}", ui::bad("FAIL"), words(reason))),
            _ => ui::eprint_row("also", words(reason)),
        }
    }
}

/// Shows one row per rename. Both paths count, so both verdicts are shown where they differ.
fn show_renames(renames: &[&FileRename], untracked: &BTreeSet<RepoPath>, fate: &str) {
    let verdict = |path: &RepoPath| {
        if untracked.contains(path) { ui::bad("out of scope") } else { ui::dim("in scope") }
    };
    for FileRename { from, to } in renames.iter().take(MAX_SHOWN_RENAMES) {
        let verdicts = if untracked.contains(from) == untracked.contains(to) {
            verdict(to)
        } else {
            format!("{} → {}", verdict(from), verdict(to))
        };
        ui::eprint_row("renamed", format_args!("{from} → {to}  {verdicts}{}", ui::dim(fate)));
    }
    if let Some(more) = renames.len().checked_sub(MAX_SHOWN_RENAMES).filter(|more| *more > 0) {
        ui::eprint_row("renamed", ui::dim(format_args!("… and {more} more, all in the evidence")));
    }
}

fn hint_words(hint: &OutputHint) -> String {
    let OutputHint { n_outputs, n_untracked, names, without_policy } = hint;
    let (some, all) = (ui::format_number(*n_outputs), ui::format_number(*n_untracked));
    let advice = if *without_policy {
        "`probity init` writes a policy that exempts them"
    } else {
        "`probity init --dry-run` shows patterns for `build_outputs` in your policy"
    };
    format!("{some} of {all} out-of-scope paths look like build outputs ({}): {advice}", names.join(", "))
}

/// Shows the last lines of failed gates' logs, and the path of the whole log.
fn show_failed_logs(report: &RunReport) {
    let failed =
        report.gate_results.iter().filter(|result| result.status == probity_evidence::GateStatus::Fail);
    for log in failed.flat_map(|result| &result.logs).filter(|log| !log.bytes.is_empty()) {
        let path = report.attested.dir.join(&log.path);
        let tail = log.tail(MAX_LOG_LINES);
        let extent = if tail.n_lines > tail.lines.len() {
            format!("the last {} of {} lines", tail.lines.len(), ui::format_number(tail.n_lines))
        } else {
            ui::count_of(tail.n_lines, "line")
        };
        ui::eprint_row(
            "log",
            format_args!("{}  {}", crate::relative_to_cwd(&path).display(), ui::dim(extent)),
        );
        for line in &tail.lines {
            ui::eprint(format_args!("            {}", ui::dim(shown_line(line))));
        }
    }
}

/// Formats a log line for the terminal: escaped, because its author is being judged, and truncated.
fn shown_line(line: &[u8]) -> String {
    let text = escape(line);
    match text.char_indices().nth(MAX_LOG_LINE_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

fn show_finding(finding: &RunFinding) {
    let label = match finding.severity {
        FindingSeverity::Error => "found",
        FindingSeverity::Note => "note",
    };
    let path = finding.path.as_ref().map_or_else(String::new, |path| format!("{path}: "));
    let detail = if finding.detail.is_empty() { finding.reason.meaning() } else { &finding.detail };
    let code = match finding.severity {
        FindingSeverity::Error => ui::bad(finding.reason),
        FindingSeverity::Note => ui::dim(finding.reason),
    };
    ui::eprint_row(label, format_args!("{path}{detail} {code}"));
}

fn ledger_words(learned: &RunLedger) -> String {
    match &learned.problem {
        Some(problem) => format!("{} {problem}", ui::warn("!")),
        None => format!(
            "{}, {} new, {} accepted",
            ui::count_of(learned.sessions, "session"),
            ui::count_of(learned.turns, "turn"),
            learned.accepted
        ),
    }
}
