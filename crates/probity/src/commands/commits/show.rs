//! Renders commits, documents and merges for people.

use crate::review::chosen_text;
use crate::ui;
use probity_api::documents::{
    CommitDiffAnswer, CommitHeadsAnswer, CommitLogAnswer, CommitLogEntry, CommitRefsAnswer, CommitShowAnswer,
    CommitSummary, DocumentStateAnswer, DocumentTraceAnswer, StoreCheckAnswer, StoreSyncAnswer,
    TransferCounts,
};
use probity_document_store::merge::AnalyzedMerge;
use probity_document_store::{op_text, short_id};
use probity_documents::{ConflictVerdict, LocusReading, MergeConflict, path_text};

const MAX_VALUE_CHARS: usize = 48;

pub(super) fn print_log(answer: &CommitLogAnswer) {
    for CommitLogEntry { commit, head, refs } in &answer.commits {
        let marks = match (*head, refs.is_empty()) {
            (false, true) => String::new(),
            (true, true) => ui::good(" (head)"),
            (false, false) => ui::warn(format_args!(" ({})", refs.join(", "))),
            (true, false) => ui::good(format_args!(" (head, {})", refs.join(", "))),
        };
        print_commit_line(commit, &marks);
    }
    if answer.more {
        ui::eprint(format_args!("{} commits in all; `--limit` shows more", answer.total));
    } else if answer.total == 0 {
        ui::eprint("no commit yet; begin with `probity commits put ATTACHMENT/KEY VALUE`");
    }
}

fn print_commit_line(commit: &CommitSummary, marks: &str) {
    ui::print(format_args!(
        "{}  {}  {:<9}  {:<12}  {}{marks}",
        ui::code(short_id(&commit.id)),
        ui::dim(&commit.time),
        commit.kind,
        commit.author,
        commit.label,
    ));
}

pub(super) fn print_heads(answer: &CommitHeadsAnswer) {
    for commit in &answer.heads {
        print_commit_line(commit, "");
    }
    if answer.heads.len() > 1 {
        ui::eprint_row("next", "`probity commits reduce --dry-run` says what merging them would lose");
    }
}

pub(super) fn print_commit(answer: &CommitShowAnswer) {
    let commit = &answer.commit;
    ui::print_row("commit", ui::code(commit.id));
    ui::print_row("type", commit.kind);
    for (name, id) in [("parent", commit.parent), ("target", commit.target)] {
        if let Some(id) = id {
            ui::print_row(name, id);
        }
    }
    ui::print_row("author", &commit.author);
    ui::print_row("time", &commit.time);
    ui::print_row("label", &commit.label);
    answer.ops.iter().for_each(|op| ui::print_row("op", op_text(op)));
    for record in &answer.decisions {
        let decided = ui::count_of(record.decisions.len(), "conflict");
        ui::print_row("decided", format_args!("{decided} by {}: {}", record.by, record.why));
    }
}

pub(super) fn print_difference(answer: &CommitDiffAnswer) {
    answer.ops.iter().for_each(|op| ui::print(op_text(op)));
    for gone in &answer.gone {
        ui::print(format_args!("{} {gone}", ui::warn("not there:")));
    }
    if answer.ops.is_empty() && answer.gone.is_empty() {
        ui::eprint("no difference");
    }
}

pub(super) fn print_state(answer: &DocumentStateAnswer) {
    for (attachment, keys) in &answer.state {
        for (key, document) in keys.as_object().into_iter().flatten() {
            ui::print(format_args!("{} {document}", ui::bold(format_args!("{attachment}/{key}"))));
        }
    }
    if answer.state.is_empty() {
        ui::eprint("no document yet; begin with `probity commits put ATTACHMENT/KEY VALUE`");
    }
}

pub(super) fn print_trace(answer: &DocumentTraceAnswer) {
    for entry in &answer.trace {
        let mark = match (entry.skipped, entry.on) {
            (None, true) => ui::good("applied"),
            (None, false) => ui::warn("listed as disabled"),
            (Some(skip), _) => ui::warn(format_args!("skipped: {}", skip.meaning())),
        };
        ui::print(format_args!("{}  {}  {mark}", ui::code(short_id(&entry.commit)), op_text(&entry.op)));
    }
}

pub(super) fn print_refs(answer: &CommitRefsAnswer) {
    for entry in &answer.refs {
        ui::print(format_args!("{}  {}", ui::code(short_id(&entry.commit)), entry.name));
    }
    if answer.refs.is_empty() {
        ui::eprint("no ref; `probity commits ref NAME COMMIT` makes one");
    }
}

pub(super) fn transfer(counts: &TransferCounts) -> String {
    format!(
        "{}, {}, {}",
        ui::count_of(counts.commits, "commit"),
        ui::count_of(counts.blobs, "blob"),
        ui::count_of(counts.decisions, "decision")
    )
}

pub(super) fn print_sync(answer: &StoreSyncAnswer) {
    ui::print(format_args!("pulled  {}", transfer(&answer.pulled)));
    ui::print(format_args!("pushed  {}", transfer(&answer.pushed)));
    let heads = answer.heads.len();
    if heads > 1 {
        ui::eprint_row("next", format_args!("{heads} heads: `probity commits reduce` merges them"));
    }
}

pub(super) fn print_check(answer: &StoreCheckAnswer) {
    let counts = format!(
        "{}, {}, {}",
        ui::count_of(answer.commits as usize, "commit"),
        ui::count_of(answer.states, "kept state"),
        ui::count_of(answer.blobs, "blob")
    );
    if answer.sound {
        ui::print(format_args!("{} {counts}: everything is as it was written", ui::good("sound")));
        return;
    }
    ui::print(format_args!("{} {counts}", ui::bad("damaged")));
    for damage in &answer.findings {
        let place = damage.commit.map(|id| format!("commit {id}: ")).unwrap_or_default();
        ui::print(format_args!("  {place}{}", damage.why));
    }
    ui::eprint_row(
        "next",
        "make a new store and fill it from a replica: `probity commits init`, then `probity commits sync`",
    );
}

pub(super) fn print_merge(found: &AnalyzedMerge) {
    let analysis = &found.analysis;
    let id = |id: probity_documents::CommitId| ui::code(probity_document_store::short_id(&id));
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
        let id = probity_document_store::short_id(&found.analysis.merge());
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

pub(crate) fn value_text(reading: &LocusReading) -> String {
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
