//! Renders what a merge lost, for `probity commits` and `probity merge`.

use crate::review::chosen_text;
use crate::ui;
use probity_document_store::merge::AnalyzedMerge;
use probity_document_store::short_id;
use probity_documents::{CommitId, ConflictVerdict, LocusReading, MergeConflict, path_text};

const MAX_VALUE_CHARS: usize = 48;

pub(super) fn print_merge(found: &AnalyzedMerge) {
    let analysis = &found.analysis;
    let id = |id: CommitId| ui::code(short_id(&id));
    let would = if found.written { "merge" } else { "would merge" };
    ui::print(format_args!(
        "{would} {} = {} + {}",
        id(analysis.merge()),
        id(analysis.ours()),
        id(analysis.theirs())
    ));
    print_losses(found);
}

pub(crate) fn print_losses(found: &AnalyzedMerge) {
    let analysis = &found.analysis;
    if analysis.is_two_way() {
        ui::print_row("base", ui::dim("there is no single one"));
    }
    for (index, conflict) in analysis.conflicts().iter().enumerate() {
        one_loss(found, index, conflict);
    }
    for ruling in &found.rulings.groups {
        let torn = if ruling.torn { "torn, " } else { "" };
        let words = format!(
            "{}/{}: group {} is {torn}{}",
            ruling.attachment,
            ruling.key,
            ruling.group,
            ruling_text(&ruling.verdict)
        );
        ui::print_row("group", words);
    }
    for violation in &found.violations {
        let words = format!("{}/{} {}", violation.attachment, violation.key, violation.why);
        ui::print_row("violates", ui::bad(words));
    }
    summary(found);
}

fn one_loss(found: &AnalyzedMerge, index: usize, conflict: &MergeConflict) {
    let lost: Vec<&str> = conflict.lost.iter().map(|side| side.as_str()).collect();
    let place = format!("{}/{} {}", conflict.attachment, conflict.key, path_text(&conflict.path));
    let authors = &found.authors[index];
    let by = if authors.is_empty() { String::new() } else { format!(" ({})", authors.join(", ")) };
    ui::print(format_args!(
        "  {} {} lost {}{by}",
        ui::code(&conflict.id[..8]),
        ui::bold(place),
        lost.join(" and ")
    ));
    for (name, reading) in conflict_values(conflict) {
        ui::print(format_args!("      {} {}", ui::dim(format_args!("{name:<7}")), value_text(reading)));
    }
    let (ruling, history) = (&found.rulings.conflicts[index], &found.histories[index]);
    match &history.resolved_by {
        Some(record) => {
            ui::print(format_args!("      {} by {}: {}", ui::good("resolved"), record.by, record.why));
        }
        None if ruling.verdict != ConflictVerdict::Review => {
            ui::print(format_args!("      {} {}", ui::dim("policy "), ruling_text(&ruling.verdict)));
        }
        None => {}
    }
    for record in &history.overrides {
        ui::print(format_args!(
            "      {} a decision by {}: {}",
            ui::warn("overrides"),
            record.by,
            record.why
        ));
    }
    if let (Some(proposal), None) = (&history.proposal, &history.resolved_by) {
        ui::print(format_args!("      {} {}", ui::dim("before "), chosen_text(proposal)));
    }
}

fn summary(found: &AnalyzedMerge) {
    let (n_conflicts, n_open) = (found.analysis.conflicts().len(), found.n_open());
    if n_conflicts == 0 && found.violations.is_empty() && found.rulings.groups.is_empty() {
        ui::print(format_args!("  {} every intent survived", ui::good("ok")));
        return;
    }
    ui::print(format_args!("  {}, {} open", ui::count_of(n_conflicts, "conflict"), n_open));
    if n_open > 0 && found.written {
        let id = short_id(&found.analysis.merge());
        ui::eprint_row(
            "next",
            format_args!("`probity merge reconcile {id}` decides them; without it the merge stands as it is"),
        );
    }
}

pub(crate) fn conflict_values(conflict: &MergeConflict) -> [(&'static str, &LocusReading); 4] {
    [
        ("base", &conflict.base),
        ("ours", &conflict.ours),
        ("theirs", &conflict.theirs),
        ("merged", &conflict.merged),
    ]
}

fn value_text(reading: &LocusReading) -> String {
    let Some(value) = &reading.0 else { return "absent".into() };
    let text = value.to_string();
    match text.char_indices().nth(MAX_VALUE_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

fn ruling_text(verdict: &ConflictVerdict) -> String {
    match verdict {
        ConflictVerdict::Decided(chosen) => format!("decides {}", chosen_text(chosen)),
        ConflictVerdict::Review => "for a person to decide".into(),
        ConflictVerdict::Refused => "refuses the merge".into(),
    }
}
