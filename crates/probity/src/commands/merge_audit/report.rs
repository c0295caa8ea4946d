//! The report of an audit in a terminal.

use crate::{caller_location, ui};
use probity_api::ExitCode;
use probity_api::merge_audit::{
    AuditBaseKind, AuditOutcome, FindingChoice, GateStatus, MergeAuditAnswer, MergeAuditRangeAnswer,
    MergeFinding, MergeSurvivalAnswer, SurvivalGate, UncheckedPart,
};
use probity_api::merges::RulingStatus;
use probity_contract::ContractStatus;
use probity_merges::what_happened;

/// Findings of one merge that the report of a range shows.
const MAX_FINDINGS_IN_RANGE: usize = 12;

pub(super) fn print_survival(answer: &MergeSurvivalAnswer) {
    for id in &answer.restored {
        ui::print_row("restored", ui::good(id));
    }
    for left in &answer.by_hand {
        ui::print_row("by hand", format_args!("{} {}: {}", left.id, left.path, left.why));
    }
    answer.gates.iter().for_each(print_gate);
    match (&answer.branch, &answer.commit) {
        (Some(branch), Some(commit)) => {
            ui::print_row("commit", ui::code(short(commit)));
            ui::print_row("branch", ui::code(branch));
            ui::print_row("next", format_args!("git merge {branch}"));
        }
        _ if answer.restored.is_empty() => {
            ui::print("nothing can be restored by itself; nothing was written");
        }
        _ => ui::print("nothing was written: this is what would be restored"),
    }
    print_still_open(&answer.audit);
}

fn print_gate(gate: &SurvivalGate) {
    let said = match gate.status {
        GateStatus::Pass => ui::good("passed"),
        GateStatus::Fail if gate.fails_without => {
            ui::warn("failed, as it does on the merge without the edits")
        }
        GateStatus::Fail => ui::bad("failed"),
        GateStatus::Skip => ui::warn("did not run"),
    };
    ui::print_row("gate", format_args!("{} {said}", gate.id));
}

pub(super) fn print_still_open(audit: &MergeAuditAnswer) {
    let n_left = audit.findings.iter().filter(|finding| finding.is_open()).count();
    if n_left > 0 {
        ui::print_row("still open", ui::count_of(n_left, "finding"));
    }
}

pub(super) fn short(id: &str) -> &str {
    id.get(..10).unwrap_or(id)
}

fn outcome_text(outcome: AuditOutcome) -> String {
    match outcome {
        AuditOutcome::Clean => ui::good("nothing lost"),
        AuditOutcome::Contested => ui::warn("contested"),
        AuditOutcome::Lost => ui::bad("lost"),
    }
}

pub(super) fn print_short(answer: &MergeAuditAnswer) {
    let name = answer.merge.as_deref().map_or("working tree", short);
    let subject = answer.merged_by.as_ref().map_or("", |commit| commit.subject.as_str());
    let n_open = answer.findings.iter().filter(|finding| finding.is_open()).count();
    let n_accepted = answer.findings.iter().filter(|finding| finding.is_accepted()).count();
    let accepted = if n_accepted > 0 { format!(", {n_accepted} accepted") } else { String::new() };
    let n_contested = answer.findings.len() - n_open - n_accepted;
    let counted = format!("{n_open} lost, {n_contested} contested{accepted}");
    let line = format!("{counted}  {subject}");
    ui::print(format_args!(
        "{}  {}  {}",
        ui::code(name),
        outcome_text(answer.outcome),
        ui::fit_to_terminal(&line, 24)
    ));
}

pub(crate) fn print_range(answer: &MergeAuditRangeAnswer, is_short: bool) {
    for audit in &answer.audits {
        if is_short {
            print_short(audit);
        } else {
            print_findings(audit, MAX_FINDINGS_IN_RANGE);
            ui::print("");
        }
    }
    let n_lost = answer.audits.iter().filter(|audit| audit.outcome == AuditOutcome::Lost).count();
    let n_contested = answer.audits.len() - n_lost;
    ui::print(format_args!(
        "{} in {}: {} lost something, {n_contested} contested, {} without loss",
        ui::count_of(answer.merges, "merge"),
        answer.range,
        ui::format_number(n_lost),
        ui::format_number(answer.proven)
    ));
    let mut lost = answer.audits.iter().filter(|audit| audit.outcome == AuditOutcome::Lost);
    if let Some(merge) = lost.find_map(|audit| audit.merge.as_deref()).filter(|_| !is_short) {
        let audit = format!("{} merge audit {}", caller_location::program_prefix(), short(merge));
        ui::print_row("restore", ui::code(format_args!("{audit} --restore lost")));
        ui::print_row("accept", ui::code(format_args!("{audit} --accept all --why '…'")));
    }
}

/// Says that merges fail a change whose own `status`, printed above them, would not.
pub(crate) fn print_range_verdict(answer: &MergeAuditRangeAnswer, status: ContractStatus) {
    if ExitCode::from(status) == ExitCode::Ok && answer.outcome == AuditOutcome::Lost {
        let why = "the change is accepted, but a merge in it lost edits";
        ui::print_sentence(format_args!("{} {why}", ui::bad("FAIL")));
    }
}

pub(super) fn print_audit(answer: &MergeAuditAnswer) {
    print_findings(answer, usize::MAX);
}

/// Prints an audit with at most `limit` findings, open ones first.
fn print_findings(answer: &MergeAuditAnswer, limit: usize) {
    let name = answer.merge.as_deref().map_or("working tree", short);
    let made_by = answer
        .merged_by
        .as_ref()
        .map_or_else(String::new, |commit| format!("{}: {}", commit.author, commit.subject));
    ui::print(format_args!("{} {} {}", ui::bold("merge"), ui::code(name), ui::fit_to_terminal(&made_by, 17)));
    let base = match (answer.base_kind, &answer.base) {
        (AuditBaseKind::Single, Some(base)) => format!("base {}", short(base)),
        (AuditBaseKind::Virtual, _) => "several bases, merged".to_owned(),
        _ => "no common ancestor: findings are hints".to_owned(),
    };
    ui::print(ui::dim(format_args!(
        "  ours {}  theirs {}  {base}",
        short(&answer.ours),
        short(&answer.theirs)
    )));
    for taken in &answer.taken_whole {
        ui::print(format_args!("  {} was taken whole from {}", taken.path, taken.from));
    }
    let mut shown: Vec<&MergeFinding> = answer.findings.iter().collect();
    if shown.len() > limit {
        shown.sort_by_key(|finding| !finding.is_open());
        shown.truncate(limit);
    }
    for finding in &shown {
        ui::print("");
        print_finding(finding);
    }
    if shown.len() < answer.findings.len() {
        let n_more = ui::count_of(answer.findings.len() - shown.len(), "more finding");
        let next = answer.merge.as_deref().map_or("--working", short);
        ui::print("");
        ui::print(format_args!("and {n_more}: {}", ui::code(format_args!("probity merge audit {next}"))));
    }
    if !answer.set_aside.is_empty() {
        ui::print("");
        for file in &answer.set_aside {
            ui::print(ui::dim(format_args!("  not judged: {} ({})", file.path, file.reason.as_str())));
        }
    }
    for part in &answer.unchecked {
        ui::print(ui::warn(format_args!(
            "  not checked, because too many files changed: {}",
            unchecked_text(*part)
        )));
    }
    if answer.findings.is_empty() {
        ui::print(format_args!("{}", ui::good("every edit of both sides is in the result")));
    }
}

const fn unchecked_text(part: UncheckedPart) -> &'static str {
    match part {
        UncheckedPart::Calls => "calls of one side against definitions of the other",
        UncheckedPart::Moves => "whether lost lines went to another file",
    }
}

fn print_finding(finding: &MergeFinding) {
    let class = match (finding.is_open(), finding.is_accepted()) {
        (true, _) => ui::bad(finding.class),
        (_, true) => ui::good(format_args!("{} (accepted)", finding.class)),
        _ => ui::warn(finding.class),
    };
    let side = finding.side.map_or_else(String::new, |side| format!(" {side}"));
    let line = finding.lines.map_or_else(String::new, |[first, _]| format!(":{first}"));
    let entity = finding.entity.as_ref().map_or_else(String::new, |name| format!(" in {name}"));
    ui::print(format_args!(
        "{class}{side} {}{line}{entity} {}",
        ui::bold(&finding.path),
        ui::dim(&finding.id)
    ));
    ui::print_row("what", what_happened(finding));
    for commit in finding.commits.iter().take(3) {
        ui::print_row(
            "made by",
            format_args!("{} {}: {}", ui::code(short(&commit.id)), commit.author, commit.subject),
        );
    }
    print_decision(finding);
    super::versions::print_versions(finding);
}

fn print_decision(finding: &MergeFinding) {
    if let Some(ruling) = &finding.ruling {
        let said = match (ruling.status, ruling.choose) {
            (RulingStatus::Decided, Some(FindingChoice::Merged)) => "the merge stands".to_owned(),
            (RulingStatus::Decided, choice) => {
                let side = choice.map_or_else(String::new, |choice| choice.to_string());
                format!("{side} is right here: put it back (--restore policy)")
            }
            (RulingStatus::Review, _) => "a person must decide".to_owned(),
            (RulingStatus::Refused, _) => "nobody may accept this: put it back".to_owned(),
        };
        ui::print_row("policy", format_args!("rule {}: {said}", ruling.rule));
    }
    if let Some(decision) = &finding.decision {
        let word = if finding.is_accepted() { "accepted" } else { "restored" };
        ui::print_row(word, format_args!("by {} on {}: {}", decision.by, decision.at, decision.why));
    }
    if let Some(before) = &finding.decided_before {
        let merge = before.merge.as_deref().map_or("another merge", short);
        ui::print_row(
            "before",
            format_args!(
                "{} decided `{}` about the same in {merge}: {} (again: --repeat)",
                before.by, before.chosen, before.why
            ),
        );
    }
}
