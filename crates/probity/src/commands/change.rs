//! `probity start`, `finish`, `status`, `doctor`: changes in a tree that several agents share.

use super::analysis::watched;
use super::identity::Identity;
use crate::answer::Answer;
use crate::{bytes, ui};
use canon::bytes::escape;
use clap::{Args, ValueEnum};
use contract::StrictnessProfile;
use contract::claims::Claim;
use control::change::{
    self, DetailLevel, DirtyGroup, Evidence, FinishAnswer, FinishRequest, Health, PromoteRequest,
    StartAnswer, StartRequest, StatusAnswer,
};
use control::{Fault, Workspace};
use intent::start::{DirtyScopePolicy, OnConflict, StartStatus};
use intent::{Ownership, Status};
use serde_json::{Value, json};
use std::ffi::OsString;
use std::time::Duration;

/// Declare a change before editing: which paths, and what for
///
/// Answers `active` (edit), `queued` (wait), `blocked` (do not edit, and why) or `needs_analysis`. Paths are literal; a
/// pattern belongs into `--forbid`. The tree is analysed first if no run describes it.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  probity start src/auth.py --intent 'fix the login'\n  \
                        probity start src/auth.py --related tests/test_auth.py --intent 'fix the login' --queue --wait 600")]
pub(crate) struct StartArgs {
    /// A path that the change is about
    #[arg(value_name = "PATH")]
    files: Vec<OsString>,

    /// The same as an option
    #[arg(long = "allowed-files", value_name = "PATH", num_args = 1..)]
    allowed_files: Vec<OsString>,

    /// A further path that it may touch
    #[arg(long = "related", alias = "allowed-related", value_name = "PATH", num_args = 1..)]
    related: Vec<OsString>,

    /// A pattern of what it must not touch; `*` crosses `/`
    #[arg(long = "forbid", alias = "forbidden", value_name = "PATTERN", num_args = 1..)]
    forbid: Vec<OsString>,

    /// What the change is for
    #[arg(long, short = 'm', alias = "description", value_name = "TEXT")]
    intent: String,

    /// What you expect of it
    #[arg(long = "effect", value_name = "TEXT")]
    effects: Vec<String>,

    /// What a conflict with another's claim means
    #[arg(long, value_enum, default_value_t = Conflict::Block)]
    on_conflict: Conflict,

    /// Wait in the queue if others hold the paths; short for `--on-conflict queue`
    #[arg(long)]
    queue: bool,

    /// When queued, wait at most so many seconds until the way is free
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "3600")]
    wait: Option<u64>,

    /// What uncommitted changes in the paths mean
    #[arg(long, value_enum, default_value_t = DirtyScope::Block)]
    dirty_scope_policy: DirtyScope,

    /// Uncommitted changes there are your own; short for `--dirty-scope-policy continue_own_wip`
    #[arg(long)]
    continue_own_wip: bool,

    /// How long the intent may live, in seconds [default: 3600]
    #[arg(long, alias = "ttl-seconds", value_name = "SECONDS")]
    ttl: Option<u64>,

    /// How long its owner may be silent, in seconds [default: 300]
    #[arg(long, alias = "lease-seconds", value_name = "SECONDS")]
    lease: Option<u64>,

    /// How strictly the budget is reckoned; not less than the policy says
    #[arg(long, value_enum)]
    strictness: Option<Strictness>,

    /// Do not analyse: answer `needs_analysis` if no run describes the tree
    #[arg(long)]
    no_analyze: bool,

    /// Your own id for this start: repeated, it gives the same intent
    #[arg(long, value_name = "ID")]
    command_id: Option<String>,

    /// How much the answer says
    #[arg(long, alias = "detail", value_enum, default_value_t = Detail::Summary)]
    detail_level: Detail,

    #[command(flatten)]
    identity: Identity,
}

/// Finish a change: judged by the tree, released with a receipt
///
/// Without `--changed` and `--diff-ref` the tree itself says what changed since the start. The after-run must describe
/// the tree as it is; it is made if there is none.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
#[command(after_help = "Examples:\n  probity finish 0199c2 --changed src/auth.py --owner owner-…\n  \
                        probity finish 0199c2 --diff-ref main --claims-text 'No regressions.'")]
pub(crate) struct FinishArgs {
    /// The intent: its id, or the beginning of it
    #[arg(value_name = "INTENT")]
    intent_id: String,

    /// A path that was created, modified or deleted
    #[arg(long = "changed", alias = "changed-files", value_name = "PATH", num_args = 1..)]
    changed: Vec<OsString>,

    /// Take what differs from this commit, untracked files included
    #[arg(long, value_name = "COMMIT", conflicts_with = "changed")]
    diff_ref: Option<String>,

    /// Take what changed since the start and nobody else holds (the default)
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

/// Show who holds what, who waits, and whose the uncommitted changes are
#[derive(Debug, Args)]
pub(crate) struct StatusArgs {
    /// Show it again whenever it changes, until interrupted
    #[arg(long)]
    watch: bool,

    #[command(flatten)]
    identity: Identity,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Conflict {
    Block,
    Queue,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum DirtyScope {
    Block,
    #[value(name = "continue_own_wip")]
    ContinueOwnWip,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Strictness {
    Ci,
    Strict,
    Relaxed,
}

impl From<Strictness> for StrictnessProfile {
    fn from(strictness: Strictness) -> Self {
        match strictness {
            Strictness::Ci => Self::Ci,
            Strictness::Strict => Self::Strict,
            Strictness::Relaxed => Self::Relaxed,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Detail {
    Summary,
    Normal,
    Full,
}

impl From<Detail> for DetailLevel {
    fn from(detail: Detail) -> Self {
        match detail {
            Detail::Summary => Self::Summary,
            Detail::Normal => Self::Normal,
            Detail::Full => Self::Full,
        }
    }
}

/// Starts a change, and waits for its turn if asked to.
pub(crate) fn start(workspace: &Workspace, args: StartArgs) -> Result<Answer, Fault> {
    let caller = args.identity.caller()?;
    let continues = args.continue_own_wip || args.dirty_scope_policy == DirtyScope::ContinueOwnWip;
    let dirty_scope_policy =
        if continues { DirtyScopePolicy::ContinueOwnWip } else { DirtyScopePolicy::Block };
    let may_queue = args.queue || args.wait.is_some() || args.on_conflict == Conflict::Queue;
    let request = StartRequest {
        command_id: args.command_id,
        description: args.intent,
        expected_effects: args.effects,
        allowed_files: bytes(args.files.into_iter().chain(args.allowed_files).collect()),
        allowed_related: bytes(args.related),
        forbidden: bytes(args.forbid),
        dirty_scope_policy,
        on_conflict: if may_queue { OnConflict::Queue } else { OnConflict::Block },
        ttl_seconds: args.ttl,
        lease_seconds: args.lease,
        strictness: args.strictness.map(Into::into),
        analyze: !args.no_analyze,
        detail_level: args.detail_level.into(),
    };
    let quiet = |_| {};
    let mut answer = change::start(workspace, &caller, &request, &quiet)?;
    let queued = answer.intent_id.clone().filter(|_| answer.status == StartStatus::Queued);
    if let (Some(seconds), Some(intent_id)) = (args.wait, queued) {
        show_start(&answer);
        let promote = PromoteRequest {
            intent_id: intent_id.to_string(),
            dirty_scope_policy,
            strictness: request.strictness,
            analyze: request.analyze,
            detail_level: request.detail_level,
        };
        let patience = Duration::from_secs(seconds);
        answer = change::promote_when_free(workspace, &caller, &promote, patience, &quiet)?;
    }
    show_start(&answer);
    let is_new = args.identity.owner.is_none() && answer.intent_id.is_some();
    if is_new {
        ui::row(
            "owner",
            format_args!(
                "{}  {}",
                ui::bold(caller.handle.secret()),
                ui::dim("give it with --owner, or as PROBITY_OWNER")
            ),
        );
    }
    let mut document = to_json(&answer);
    document["owner"] = if is_new { json!(caller.handle.secret()) } else { Value::Null };
    Ok(Answer { exit_code: answer.exit_code(), document })
}

/// Finishes a change.
pub(crate) fn finish(workspace: &Workspace, args: FinishArgs) -> Result<Answer, Fault> {
    let caller = args.identity.caller()?;
    let evidence = match (args.changed.is_empty(), args.diff_ref) {
        (false, _) => Evidence::ChangedFiles(bytes(args.changed)),
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
        ..FinishRequest::new(args.intent_id, evidence)
    };
    let answer = watched(|watch| change::finish(workspace, &caller, &request, watch))?;
    show_finish(&answer);
    Ok(Answer { exit_code: answer.exit_code, document: to_json(&answer) })
}

/// Widens the scope of an intent.
pub(crate) fn amend(
    workspace: &Workspace,
    intent_id: &str,
    add: Vec<OsString>,
    related: Vec<OsString>,
    why: &str,
    identity: &Identity,
) -> Result<Answer, Fault> {
    let caller = identity.caller()?;
    let answer = change::amend(workspace, &caller, intent_id, &bytes(add), &bytes(related), why)?;
    ui::say(format_args!("{} {}", ui::good("amended"), answer.intent_id));
    for path in answer.allowed_files.iter().chain(&answer.allowed_related) {
        ui::row("added", path);
    }
    show_notices(&answer.notices);
    ui::row("next", answer.next_step);
    Ok(Answer { exit_code: 0, document: to_json(&answer) })
}

/// Shows the state of the tree, once or whenever it changes.
pub(crate) fn status(workspace: &Workspace, args: &StatusArgs) -> Result<Answer, Fault> {
    let caller = args.identity.caller()?;
    let mut answer = change::status(workspace, &caller)?;
    show_status(&answer);
    while args.watch && ui::output_arrived() {
        std::thread::sleep(Duration::from_secs(1));
        let now = change::status(workspace, &caller)?;
        if what_matters(&now) != what_matters(&answer) {
            ui::print("");
            show_status(&now);
        }
        answer = now;
    }
    Ok(Answer { exit_code: 0, document: to_json(&answer) })
}

/// Looks whether everything is there.
pub(crate) fn doctor(workspace: &Workspace) -> Answer {
    let answer = change::doctor(workspace);
    for check in &answer.checks {
        let mark = match check.status {
            Health::Ok => ui::good("ok"),
            Health::Warning => ui::warn("warning"),
            Health::Failed => ui::bad("failed"),
        };
        ui::print_row(check.name, format_args!("{mark}  {}", check.detail));
        if let Some(next_step) = &check.next_step {
            ui::print_row("", format_args!("→ {next_step}"));
        }
    }
    Answer { exit_code: u8::from(answer.status == Health::Failed), document: to_json(&answer) }
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

fn to_json(answer: &impl serde::Serialize) -> Value {
    serde_json::to_value(answer).unwrap_or_default()
}

fn show_start(answer: &StartAnswer) {
    let word = match answer.status {
        StartStatus::Active => ui::good("active"),
        StartStatus::Queued => ui::warn("queued"),
        StartStatus::Blocked => ui::bad("blocked"),
        StartStatus::NeedsAnalysis => ui::warn("needs analysis"),
    };
    let reasons =
        if answer.reasons.is_empty() { String::new() } else { format!(": {}", answer.reasons.join(", ")) };
    ui::say(format_args!("{word}{reasons}"));
    if let Some(id) = &answer.intent_id {
        ui::row("intent", ui::bold(id));
    }
    for neighbour in &answer.workspace.concurrent_intents {
        let paths: Vec<String> =
            neighbour.hard_overlap.iter().chain(&neighbour.soft_overlap).map(ToString::to_string).collect();
        ui::row(
            "held",
            format_args!(
                "{} by {} ({}) since {}: {}",
                paths.join(", "),
                neighbour.agent_label,
                ownership(neighbour.ownership),
                neighbour.declared_at,
                neighbour.intent
            ),
        );
    }
    let dirty = answer.workspace_hygiene.as_ref().map(|hygiene| &hygiene["dirty_in_allowed"]);
    for path in dirty.and_then(Value::as_array).into_iter().flatten() {
        ui::row("dirty", shown_path(path));
    }
    for warning in &answer.warnings {
        let entry = warning.entry.as_ref().map_or_else(String::new, |entry| format!("`{entry}`: "));
        ui::row("warning", format_args!("{entry}{} {}", warning.message, ui::warn(warning.code)));
    }
    if let Some(blast) = &answer.blast_radius {
        ui::row(
            "blast",
            format_args!(
                "{}: {} need these files directly, {} in all",
                blast.radius_level,
                ui::count(blast.direct_dependents_count, "file"),
                blast.transitive_dependents_count
            ),
        );
    }
    show_notices(&answer.notices);
    ui::row("next", &answer.message);
}

fn show_finish(answer: &FinishAnswer) {
    let word = serde_json::to_value(answer.status)
        .ok()
        .and_then(|word| word.as_str().map(str::to_owned))
        .unwrap_or_default();
    let word = if answer.exit_code == 0 { ui::good(&word) } else { ui::bad(&word) };
    let reason = serde_json::to_value(answer.reason).unwrap_or_default();
    ui::say(match reason.as_str() {
        Some(reason) => format!("{word}: {reason}"),
        None => word,
    });
    let hygiene = answer.workspace_hygiene_after.as_ref();
    for (label, field) in
        [("unlisted", "unacknowledged_dirty_in_scope"), ("outside", "unattributed_unscoped_dirty")]
    {
        let paths = hygiene.and_then(|hygiene| hygiene[field].as_array());
        for path in paths.into_iter().flatten() {
            ui::row(label, shown_path(path));
        }
    }
    let overlaps = hygiene.and_then(|hygiene| hygiene["foreign_dirty_overlaps"].as_array());
    for overlap in overlaps.into_iter().flatten() {
        ui::row(
            "shared",
            format_args!(
                "{} with {}",
                shown_path(&overlap["path"]),
                overlap["intent_id"].as_str().unwrap_or_default()
            ),
        );
    }
    if let Some(check) = &answer.scope_check {
        for path in check.unexpected_files.iter().chain(&check.forbidden_touched) {
            ui::row("not allowed", path);
        }
    }
    let regressions = answer.verification.as_ref().and_then(|it| it["intent_regressions"].as_array());
    for id in regressions.into_iter().flatten() {
        ui::row("worse", id.as_str().unwrap_or_default());
    }
    if let Some(receipt) = &answer.receipt {
        ui::row("receipt", ui::dim(receipt["digest"].as_str().unwrap_or_default()));
    }
    show_notices(&answer.notices);
    ui::row("next", &answer.message);
}

fn show_status(answer: &StatusAnswer) {
    if answer.intents.is_empty() {
        ui::print("nobody holds anything");
    }
    for line in &answer.intents {
        let state = match (line.status, line.queue_position) {
            (Status::Queued, Some(place)) => ui::warn(format_args!("waits at {place}")),
            _ => ui::good("holds"),
        };
        let paths: Vec<String> = line.allowed_files.iter().take(3).map(ToString::to_string).collect();
        let more = line.allowed_files.len().saturating_sub(paths.len());
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        ui::print(format_args!("{} {state} {}{more}", ui::bold(&line.agent), paths.join(", ")));
        ui::print_row("for", &line.description);
        ui::print_row("since", format_args!("{} ({})", line.since, span(line.age_seconds)));
        let lease =
            if line.lease_left_seconds == 0 { ui::warn("lapsed") } else { span(line.lease_left_seconds) };
        ui::print_row(
            "lease",
            format_args!(
                "{lease} left, ends in {} {}",
                span(line.life_left_seconds),
                ui::dim(ownership(line.ownership))
            ),
        );
        let tree = if line.is_here { "" } else { ", in another worktree" };
        ui::print_row(
            "intent",
            ui::dim(format_args!("{}, {}{tree}", line.intent_id, ui::count(line.n_dirty, "dirty path"))),
        );
    }
    let dirty = &answer.dirty;
    for (label, group) in [
        ("own", &dirty.own),
        ("others'", &dirty.foreign),
        ("abandoned", &dirty.abandoned),
        ("unclaimed", &dirty.unclaimed),
    ] {
        show_group(label, group);
    }
    show_notices(&answer.notices);
    ui::print_row("next", &answer.next_step);
}

fn show_group(label: &str, group: &DirtyGroup) {
    if group.count > 0 {
        let paths: Vec<String> = group.paths.iter().take(5).map(ToString::to_string).collect();
        let more = group.count - paths.len();
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        ui::print_row("dirty", format_args!("{label}: {}{more}", paths.join(", ")));
    }
}

fn show_notices(notices: &[intent::registry::Notice]) {
    for notice in notices {
        let kind = serde_json::to_value(&notice.kind).unwrap_or_default();
        ui::row(
            "notice",
            format_args!("{} {}", notice.intent_id, ui::warn(kind["kind"].as_str().unwrap_or_default())),
        );
    }
}

/// What makes a status worth showing again: everything but the time that goes by.
fn what_matters(answer: &StatusAnswer) -> Value {
    let intents: Vec<Value> = answer
        .intents
        .iter()
        .map(|line| {
            json!([
                line.intent_id,
                line.status,
                line.ownership,
                line.queue_position,
                line.allowed_files,
                line.n_dirty
            ])
        })
        .collect();
    json!([intents, answer.dirty, answer.head])
}

fn shown_path(path: &Value) -> String {
    canon::bytes::from_json(path).map(|path| escape(&path)).unwrap_or_default()
}

fn ownership(ownership: Ownership) -> &'static str {
    match ownership {
        Ownership::OwnActive => "your own",
        Ownership::OwnStale => "your own, lapsed",
        Ownership::ForeignActive => "active",
        Ownership::ForeignStale => "silent",
        Ownership::Recoverable => "owner gone, recoverable",
        Ownership::Expired => "over",
    }
}

/// A length of time in words.
fn span(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min", seconds / 60),
        _ => format!("{} h {} min", seconds / 3_600, seconds % 3_600 / 60),
    }
}
