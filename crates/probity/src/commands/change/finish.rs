//! `probity finish`.

use super::labels::{dimmed_code, show_notices, word_parser};
use crate::answer::CommandAnswer;
use crate::commands::analysis::with_progress;
use crate::commands::changed_paths::{ChangeMark, MarkedPath, folded_lines, listed_lines};
use crate::commands::identity::IdentityArgs;
use crate::{caller_location, ui};
use clap::Args;
use probity_api::ExitCode;
use probity_api::change::{
    ChangeAttribution, ChangeEnforcement, DetailLevel, ExternalChange, FailedGate, FinishAnswer,
    FinishRequest, RefutedClaim,
};
use probity_contract::ContractStatus;
use probity_contract::claims::Claim;
use probity_intents::ScopeEntry;
use probity_intents::hygiene::DirtyStatus;
use probity_paths::RepoPath;
use probity_policy::StrictnessProfile;
use probity_workspace::refs::shown_name;
use probity_workspace::{ServiceError, Workspace};
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
    /// The intent: its id or a prefix of it [default: the only one whose handle is kept in this worktree]
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

    /// Do not analyze: answer `unverified` if no run describes the tree
    #[arg(long)]
    no_analyze: bool,

    /// A claim about the change, by its word: `no_regressions`, `verified`, `docs_only`, …
    #[arg(long = "claim", value_name = "WORD")]
    claims: Vec<String>,

    /// Text to search for claims
    #[arg(long, value_name = "TEXT")]
    claims_text: Option<String>,

    /// A note for the reviewer; it is not judged
    #[arg(long, value_name = "TEXT")]
    review_text: Option<String>,

    /// Strict finish: a change outside the scope that nobody claims blocks it
    #[arg(long)]
    strict: bool,

    /// How strict the verdict is; never less than the policy says
    #[arg(long, value_parser = word_parser::<StrictnessProfile>(StrictnessProfile::WORDS))]
    strictness: Option<StrictnessProfile>,

    /// Skip the gates of the policy, if the policy has `allow_skip_gates`; exit code 3, and every answer says so
    #[arg(long)]
    skip_gates: bool,

    /// Leave no receipt
    #[arg(long)]
    no_receipt: bool,

    /// Keep the claim although the change is accepted
    #[arg(long, alias = "no-auto-clear")]
    keep_claim: bool,

    /// An id of your choice: repeating it returns the same answer
    #[arg(long, value_name = "ID")]
    command_id: Option<String>,

    /// How detailed the answer is
    #[arg(long, alias = "detail", value_parser = word_parser::<DetailLevel>(DetailLevel::WORDS), default_value_t)]
    detail_level: DetailLevel,

    #[command(flatten)]
    identity: IdentityArgs,
}

pub(crate) fn finish(workspace: &Workspace, args: FinishArgs) -> Result<CommandAnswer, ServiceError> {
    let (intent_id, caller) = args.identity.named_or_only(workspace, args.intent_id.as_deref())?;
    let changed_files = if args.changed.is_empty() {
        None
    } else {
        Some(
            caller_location::typed_paths(workspace, &args.changed)?
                .into_iter()
                .map(ScopeEntry::new)
                .collect(),
        )
    };
    let request = FinishRequest {
        changed_files,
        diff_ref: args.diff_ref,
        command_id: args.command_id,
        after_run_id: args.after_run,
        analyze: !args.no_analyze,
        claims: args.claims.iter().map(|word| claim(word)).collect::<Result<_, _>>()?,
        claims_text: args.claims_text,
        review_text: args.review_text,
        strictness: args.strictness,
        strict: args.strict.then_some(true),
        skip_gates: args.skip_gates,
        create_receipt: !args.no_receipt,
        auto_clear: !args.keep_claim,
        detail_level: args.detail_level,
        ..FinishRequest::new(intent_id)
    };
    let answer = with_progress(|watch| probity_changes::finish(workspace, &caller, &request, watch))?;
    show_finish(&answer);
    Ok(CommandAnswer::of(answer.exit_code(), &answer))
}

/// Parses a claim that needs no parameters.
fn claim(word: &str) -> Result<Claim, ServiceError> {
    Claim::of_word(word).ok_or_else(|| {
        let known = Claim::WORDS.join(", ");
        ServiceError::refused(
            probity_core::ReasonCode::IntentInvalid,
            format!("`{word}` is not a claim by itself; known: {known}"),
        )
    })
}

/// Number of trailing log lines shown for a failed gate.
const MAX_LOG_LINES: usize = 10;

const fn status_words(status: ContractStatus) -> &'static str {
    match status {
        ContractStatus::Accepted => "accepted",
        ContractStatus::AcceptedWithExternalChanges => "accepted, with changes outside the scope",
        ContractStatus::Violated => "violated",
        ContractStatus::Unverified => "unverified",
        ContractStatus::Expired => "expired",
    }
}

fn show_finish(answer: &FinishAnswer) {
    let word = match answer.status {
        status if status.is_accepted() && !answer.skipped_gates.is_empty() => "accepted without its gates",
        status => status_words(status),
    };
    let word = if answer.exit_code() == ExitCode::Ok { ui::good(word) } else { ui::bad(word) };
    let hygiene = answer.workspace_hygiene_after.as_ref();
    let block_reason = hygiene.and_then(|hygiene| hygiene.finish_block_reason);
    ui::print_sentence(match (answer.reason, block_reason) {
        (Some(reason), Some(why)) => format!("{word}: {} {}", why.meaning(), dimmed_code(reason.as_str())),
        (Some(reason), None) => format!("{word}: {} {}", reason.meaning(), dimmed_code(reason.as_str())),
        (None, _) if answer.nothing_changed() => format!("{word}: nothing changed since the start"),
        (None, _) => word,
    });
    if answer.idempotent_replay {
        ui::print_row("already", "this change was already finished; this is the answer from then");
    }
    show_changes(answer);
    // Scope violations are listed once, below; paths outside an accepted change are already listed above.
    let is_named = |path: &RepoPath| violates_scope(answer, path);
    if let Some(hygiene) = hygiene {
        for path in hygiene.unacknowledged_dirty_in_scope.iter().filter(|path| !is_named(path)) {
            ui::print_row("unlisted", path);
        }
        let outside = hygiene.unattributed_unscoped_dirty.iter();
        for path in outside.filter(|path| !answer.status.is_accepted() && !is_named(path)) {
            ui::print_row("outside", path);
        }
        for overlap in &hygiene.foreign_dirty_overlaps {
            ui::print_row("shared", format_args!("{} with {}", overlap.path, overlap.intent_id));
        }
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
    for finding in &answer.review.worse {
        let path = finding.path.as_ref().map_or_else(String::new, ToString::to_string);
        ui::print_row("worse", format_args!("{path}:{} {}", finding.line, finding.message));
    }
    answer.failed_gates.iter().for_each(show_failed_gate);
    for gate in &answer.skipped_gates {
        ui::print_row("skipped", format_args!("gate {gate} did not run"));
    }
    for claim in &answer.review.refuted_claims {
        ui::print_row(claim.verdict.as_str(), claim_words(claim));
    }
    if let Some(words) = guard_words(answer.enforcement) {
        ui::print_row("guard", words);
    }
    if !answer.unproven_programs.is_empty() {
        let programs = answer.unproven_programs.join(", ");
        ui::print_row(
            "",
            format_args!("it could not see what {programs} wrote; that was judged from the tree"),
        );
    }
    if let Some(receipt) = &answer.receipt {
        ui::print_row("receipt", ui::dim(receipt.digest));
    }
    show_notices(&answer.notices);
    ui::print_row("next", &answer.message);
}

/// Says what stood in front of the agent; nothing if nothing did.
fn guard_words(enforcement: ChangeEnforcement) -> Option<String> {
    match enforcement {
        ChangeEnforcement::AfterTheFact => None,
        ChangeEnforcement::HookBroken => {
            Some(ui::bad("the agent's hook was reconfigured while it worked (hook broken)"))
        }
        ChangeEnforcement::HookHeld => Some("the agent's hook stood (hook held)".to_owned()),
        ChangeEnforcement::ManagedHook => Some("the agent's hook stood (managed hook)".to_owned()),
    }
}

/// Returns whether the change touched a path that its intent does not allow.
fn violates_scope(answer: &FinishAnswer, path: &RepoPath) -> bool {
    let entry = ScopeEntry::from(path);
    answer.scope_check.as_ref().is_some_and(|check| {
        check.unexpected_files.contains(&entry) || check.forbidden_touched.contains(&entry)
    })
}

fn show_failed_gate(gate: &FailedGate) {
    let required = if gate.required { "" } else { " (not required)" };
    let detail = if gate.detail.is_empty() { String::new() } else { format!(": {}", gate.detail) };
    // The detail of a gate that did not start says so itself.
    let (word, detail) =
        if gate.started { (ui::bad("failed"), detail) } else { (ui::bad(&gate.detail), String::new()) };
    ui::print_row("gate", format_args!("{} {word}{required}{detail}", gate.id));
    let lines: Vec<&str> = gate.log_tail.lines().collect();
    for line in lines.iter().skip(lines.len().saturating_sub(MAX_LOG_LINES)) {
        ui::print_row("", ui::dim(probity_core::bytes::escape(line.as_bytes())));
    }
}

/// Lists the changed paths; for an accepted change also the ones outside its scope, with their owners.
fn show_changes(answer: &FinishAnswer) {
    let mark = |status: DirtyStatus| match status {
        DirtyStatus::Added => ChangeMark::Added,
        DirtyStatus::Deleted => ChangeMark::Deleted,
        DirtyStatus::Modified | DirtyStatus::TypeChanged => ChangeMark::Modified,
    };
    for (since_start, remark) in [(true, "in scope"), (false, "in scope, uncommitted since before the start")]
    {
        let changes = answer.changes.iter().filter(|change| change.since_start == since_start);
        let changes = changes.filter(|change| !violates_scope(answer, &change.path));
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
        ui::print_row("outside", ui::dim(format_args!("… and {} more", ui::format_number(more))));
    }
    show_committed(answer);
}

fn show_committed(answer: &FinishAnswer) {
    let elsewhere = &answer.committed_elsewhere;
    let is_elsewhere = |path: &RepoPath| elsewhere.iter().any(|change| change.path == *path);
    for path in answer.committed_outside_scope.iter().filter(|path| !is_elsewhere(path)) {
        let remark = ui::dim("outside the scope, committed since the start");
        ui::print_row("committed", format_args!("{path}  {remark}"));
    }
    for change in elsewhere {
        let reference = shown_name(&change.reference);
        let agent = change.agent.as_deref().unwrap_or("another agent");
        let whose = match change.attribution {
            ChangeAttribution::HeldByIntent => format!("; held by {agent}"),
            ChangeAttribution::FinishedByIntent => format!("; finished by {agent}"),
            ChangeAttribution::OtherWorktree => ", which another worktree has checked out".to_owned(),
            _ => String::new(),
        };
        let remark = format!("outside the scope, only committed ({reference}{whose})");
        ui::print_row("committed", format_args!("{}  {}", change.path, ui::dim(remark)));
    }
}

/// Names the owner of an uncommitted change.
fn attribution(change: &ExternalChange) -> String {
    let agent = change.agent.as_deref().unwrap_or("another agent");
    match change.attribution {
        ChangeAttribution::HeldByIntent => format!("held by {agent}"),
        ChangeAttribution::FinishedByIntent => format!("finished by {agent}, not committed yet"),
        ChangeAttribution::BeforeStart => "there before the start".to_owned(),
        ChangeAttribution::OtherWorktree => "in another worktree".to_owned(),
        ChangeAttribution::Unattributed => "changed since the start, author unknown".to_owned(),
    }
}

fn claim_words(claim: &RefutedClaim) -> String {
    let text = |text: &str| probity_core::bytes::escape(text.as_bytes());
    format!("{}  {}", text(&claim.claimed), text(&claim.because))
}
