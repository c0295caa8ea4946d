//! `probity finish`.

use super::words::{Detail, Strictness, show_notices, shown_path, to_json};
use crate::answer::Answer;
use crate::commands::analysis::watched;
use crate::commands::changed_paths::{ChangeMark, MarkedPath, folded_lines, listed_lines};
use crate::commands::identity::Identity;
use crate::{place, ui};
use api::ExitCode;
use clap::Args;
use contract::claims::Claim;
use control::change::{self, ChangeAttribution, Evidence, ExternalChange, FinishAnswer, FinishRequest};
use control::{Fault, Workspace};
use intent::hygiene::DirtyStatus;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::ffi::OsString;

/// Finish a change: judged by the tree, released with a receipt
///
/// Without `--changed` and `--diff-ref` the tree itself says which of the declared paths changed since the start. The
/// after-run must describe the tree as it is; it is made if there is none.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
#[command(after_help = "Examples:\n  probity finish\n  probity finish 0199c2 --changed src/auth.py\n  \
                        probity finish 0199c2 --diff-ref main --claims-text 'No regressions.'")]
pub(crate) struct FinishArgs {
    /// The intent: its id, or the beginning of it [default: the only one whose handle is kept in this worktree]
    #[arg(value_name = "INTENT")]
    intent_id: Option<String>,

    /// A path that was created, modified or deleted
    #[arg(long = "changed", alias = "changed-files", value_name = "PATH", num_args = 1..)]
    changed: Vec<OsString>,

    /// Take what differs from this commit, untracked files included
    #[arg(long, value_name = "COMMIT", conflicts_with = "changed")]
    diff_ref: Option<String>,

    /// Take what changed in the declared paths since the start (the default)
    #[arg(long, conflicts_with_all = ["changed", "diff_ref"])]
    observed: bool,

    /// The run of the tree after the change
    #[arg(long, alias = "after-run-id", value_name = "RUN")]
    after_run: Option<String>,

    /// Do not analyse: answer `unverified` if no run describes the tree
    #[arg(long)]
    no_analyze: bool,

    /// A claim about the change, by its word: `no_regressions`, `verified`, `docs_only`, …
    #[arg(long = "claim", value_name = "WORD")]
    claims: Vec<String>,

    /// Text in which claims are looked for
    #[arg(long, value_name = "TEXT")]
    claims_text: Option<String>,

    /// A note for the reviewer; it is not judged
    #[arg(long, value_name = "TEXT")]
    review_text: Option<String>,

    /// Strict finish: what changed outside the scope and nobody claims blocks
    #[arg(long)]
    strict: bool,

    /// How strictly the verdict is taken; not less than the policy says
    #[arg(long, value_enum)]
    strictness: Option<Strictness>,

    /// Leave the gates of the policy out; the verdict and the receipt say so
    #[arg(long)]
    skip_gates: bool,

    /// Leave no receipt
    #[arg(long)]
    no_receipt: bool,

    /// Keep the claim although the change is accepted
    #[arg(long, alias = "no-auto-clear")]
    keep_claim: bool,

    /// Your own id for this finish
    #[arg(long, value_name = "ID")]
    command_id: Option<String>,

    /// How much the answer says
    #[arg(long, alias = "detail", value_enum, default_value_t = Detail::Summary)]
    detail_level: Detail,

    #[command(flatten)]
    identity: Identity,
}

/// Finishes a change.
pub(crate) fn finish(workspace: &Workspace, args: FinishArgs) -> Result<Answer, Fault> {
    let (intent_id, caller) = args.identity.named_or_only(workspace, args.intent_id.as_deref())?;
    let evidence = match (args.changed.is_empty(), args.diff_ref) {
        (false, _) => Evidence::ChangedFiles(place::paths(workspace, &args.changed)?),
        (true, Some(revision)) => Evidence::DiffRef(revision),
        (true, None) => Evidence::Observed,
    };
    let request = FinishRequest {
        command_id: args.command_id,
        after_run_id: args.after_run,
        analyze: !args.no_analyze,
        claims: args.claims.iter().map(|word| claim(word)).collect::<Result<_, _>>()?,
        claims_text: args.claims_text,
        review_text: args.review_text,
        strictness: args.strictness.map(Into::into),
        strict: args.strict.then_some(true),
        skip_gates: args.skip_gates,
        create_receipt: !args.no_receipt,
        auto_clear: !args.keep_claim,
        detail_level: args.detail_level.into(),
        ..FinishRequest::new(intent_id, evidence)
    };
    let answer = watched(|watch| change::finish(workspace, &caller, &request, watch))?;
    show_finish(&answer);
    Ok(Answer { exit_code: answer.exit_code(), document: to_json(&answer) })
}

/// A claim that needs no more than its word.
fn claim(word: &str) -> Result<Claim, Fault> {
    serde_json::from_value(json!({ "claim": word })).map_err(|_| {
        let known = Claim::WORDS.join(", ");
        Fault::refused(
            canon::Reason::IntentInvalid,
            format!("`{word}` is no claim by itself; known: {known}"),
        )
    })
}

fn show_finish(answer: &FinishAnswer) {
    let word = serde_json::to_value(answer.status)
        .ok()
        .and_then(|word| word.as_str().map(str::to_owned))
        .unwrap_or_default();
    let word = words(&word);
    let word = if answer.exit_code() == ExitCode::Ok { ui::good(&word) } else { ui::bad(&word) };
    let reason = serde_json::to_value(answer.reason).unwrap_or_default();
    ui::print(match reason.as_str() {
        Some(reason) => format!("{word}: {}", words(reason)),
        None if answer.nothing_changed() => format!("{word}: nothing changed since the start"),
        None => word,
    });
    show_changes(answer);
    let hygiene = answer.workspace_hygiene_after.as_ref();
    // What violates the scope is named below, once; what is outside of an accepted change is named above.
    let is_named = |path: &Value| {
        let named = canon::bytes::from_json(path).map(intent::Entry::new);
        let check = answer.scope_check.as_ref().zip(named);
        check.is_some_and(|(check, path)| check.unexpected_files.contains(&path))
    };
    let outside = if answer.status.is_accepted() { "" } else { "unattributed_unscoped_dirty" };
    for (label, field) in [("unlisted", "unacknowledged_dirty_in_scope"), ("outside", outside)] {
        let paths = hygiene.and_then(|hygiene| hygiene[field].as_array());
        for path in paths.into_iter().flatten().filter(|path| !is_named(path)) {
            ui::print_row(label, shown_path(path));
        }
    }
    let overlaps = hygiene.and_then(|hygiene| hygiene["foreign_dirty_overlaps"].as_array());
    for overlap in overlaps.into_iter().flatten() {
        ui::print_row(
            "shared",
            format_args!(
                "{} with {}",
                shown_path(&overlap["path"]),
                overlap["intent_id"].as_str().unwrap_or_default()
            ),
        );
    }
    if let Some(check) = &answer.scope_check {
        let forbidden = &check.forbidden_touched;
        for path in check.unexpected_files.iter().filter(|path| !forbidden.contains(*path)) {
            ui::print_row("undeclared", path);
        }
        for path in forbidden {
            ui::print_row("forbidden", path);
        }
    }
    let findings = answer.verification.as_ref().and_then(|it| it["new_findings"].as_array());
    for finding in findings.into_iter().flatten().filter(|finding| finding["in_scope"] == true) {
        let message = finding["message"].as_str().unwrap_or_default();
        ui::print_row(
            "worse",
            format_args!("{}:{} {message}", shown_path(&finding["path"]), finding["line"]),
        );
    }
    let claims = answer.claims.as_ref().and_then(|claims| claims["checked"].as_array());
    for claim in claims.into_iter().flatten().filter(|claim| claim["verdict"] != "true") {
        ui::print_row(claim["verdict"].as_str().unwrap_or("unverified"), claim_words(claim));
    }
    if let Some(receipt) = &answer.receipt {
        ui::print_row("receipt", ui::dim(receipt["digest"].as_str().unwrap_or_default()));
    }
    show_notices(&answer.notices);
    ui::print_row("next", &answer.message);
}

/// The paths of the change, and those outside of an accepted one with whose they are.
fn show_changes(answer: &FinishAnswer) {
    let mark = |status: DirtyStatus| match status {
        DirtyStatus::Added => ChangeMark::Added,
        DirtyStatus::Deleted => ChangeMark::Deleted,
        DirtyStatus::Modified | DirtyStatus::TypeChanged => ChangeMark::Modified,
    };
    for (since_start, remark) in [(true, "in scope"), (false, "in scope, uncommitted since before the start")]
    {
        let changes = answer.changes.iter().filter(|change| change.since_start == since_start);
        let marked: Vec<MarkedPath<'_>> = changes.map(|change| (mark(change.change), &change.path)).collect();
        for line in listed_lines(&marked, &ui::dim(remark), " in scope") {
            ui::print_row("changed", line);
        }
    }
    let Some(external) = &answer.external_changes else { return show_committed(answer) };
    let mut groups: BTreeMap<String, Vec<MarkedPath<'_>>> = BTreeMap::new();
    let known = external.changes.iter().chain(&external.unlisted);
    for change in known.clone() {
        groups.entry(attribution(change)).or_default().push((mark(change.change), &change.path));
    }
    for (whose, marked) in &groups {
        for line in folded_lines(marked, &ui::dim(whose), "", ": `probity status` counts them") {
            ui::print_row("outside", line);
        }
    }
    let more = external.count.saturating_sub(known.count());
    if more > 0 {
        ui::print_row("outside", ui::dim(format_args!("… and {} more", ui::number(more))));
    }
    show_committed(answer);
}

fn show_committed(answer: &FinishAnswer) {
    for path in &answer.committed_outside_scope {
        let remark = ui::dim("outside the scope, committed since the start");
        ui::print_row("committed", format_args!("{path}  {remark}"));
    }
}

/// Whose an uncommitted change is.
fn attribution(change: &ExternalChange) -> String {
    let agent = change.agent.as_deref().unwrap_or("another agent");
    match change.attribution {
        ChangeAttribution::HeldByIntent => format!("held by {agent}"),
        ChangeAttribution::FinishedByIntent => format!("finished by {agent}, not committed yet"),
        ChangeAttribution::BeforeStart => "there before the start".to_owned(),
        ChangeAttribution::Unattributed => "changed since the start by somebody unknown".to_owned(),
    }
}

/// A word of the answer as people read it.
fn words(wire: &str) -> String {
    wire.replace('_', " ")
}

/// What was claimed, and what speaks against it or is missing.
fn claim_words(claim: &Value) -> String {
    let text = |value: &Value| canon::bytes::escape(value.as_str().unwrap_or_default().as_bytes());
    let claimed = if claim["sentence"].is_string() { &claim["sentence"] } else { &claim["claim"] };
    let because = ["objections", "reservations"].iter().filter_map(|field| claim[field].as_array());
    let because: Vec<String> = because.flatten().map(text).collect();
    format!("{}  {}", text(claimed), because.join("; "))
}
