//! `probity start`.

use super::labels::{dimmed_code, ownership_label, parse_seconds, show_notices, word_parser};
use crate::answer::CommandAnswer;
use crate::commands::analysis::with_progress;
use crate::commands::identity::IdentityArgs;
use crate::{caller_location, ui};
use clap::Args;
use probity_api::change::{
    ClaimRelationWord, Coordination, DetailLevel, PromoteRequest, RelatedIntent, RelatedIntentAction,
    StartAnswer, StartObstacle, StartRequest,
};
use probity_changes::registry::Caller;
use probity_core::text::short_id;
use probity_intents::ScopeEntry;
use probity_intents::registry::RefusalCode;
use probity_intents::start::{DirtyScopePolicy, OnConflict, StartReason, StartStatus};
use probity_policy::StrictnessProfile;
use probity_workspace::{ServiceError, Workspace};
use std::ffi::OsString;
use std::time::Duration;

/// Declare a change before editing: which paths, and what for
///
/// Answers `active` (edit), `queued` (wait), `blocked` (do not edit, and why) or `needs_analysis`. Paths are literal;
/// patterns go in `--forbid`. The tree is analyzed first if no run describes it.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
#[command(after_help = "Examples:\n  probity start src/auth.py --intent 'fix the login'\n  \
                        probity start src/auth.py --related tests/test_auth.py -m 'fix it' --queue")]
pub(crate) struct StartArgs {
    /// A path that the change is about
    #[arg(value_name = "PATH")]
    files: Vec<OsString>,

    /// The same paths, as an option
    #[arg(long = "allowed-files", value_name = "PATH", num_args = 1..)]
    allowed_files: Vec<OsString>,

    /// Another path that it may touch
    #[arg(long = "related", alias = "allowed-related", value_name = "PATH", num_args = 1..)]
    related: Vec<OsString>,

    /// A pattern of what it must not touch; `*` crosses `/`
    #[arg(long = "forbid", alias = "forbidden", value_name = "PATTERN", num_args = 1..)]
    forbid: Vec<OsString>,

    /// What the change is for
    #[arg(long, short = 'm', alias = "description", value_name = "TEXT")]
    intent: String,

    /// The effect that you expect
    #[arg(long = "effect", value_name = "TEXT")]
    effects: Vec<String>,

    /// The task that it is for, such as issue-911: only one agent works on a task, whatever the paths
    #[arg(long, value_name = "TASK")]
    task: Option<String>,

    /// In a team: start without asking its store; the claim then binds nobody else, and the receipt says so
    #[arg(long)]
    offline: bool,

    /// An item of the ledger that it implements: its handle or id
    #[arg(long = "implements", value_name = "ITEM")]
    implements: Vec<String>,

    /// What to do if others hold the paths
    #[arg(long, value_parser = word_parser::<OnConflict>(OnConflict::WORDS), default_value_t)]
    on_conflict: OnConflict,

    /// Wait in the queue if others hold the paths; short for `--on-conflict queue`
    #[arg(long)]
    queue: bool,

    /// Maximum time to wait in the queue
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "3600", value_parser = parse_seconds)]
    wait: Option<u64>,

    /// What to do about uncommitted changes in the paths
    #[arg(long, value_parser = word_parser::<DirtyScopePolicy>(DirtyScopePolicy::WORDS), default_value_t)]
    dirty_scope_policy: DirtyScopePolicy,

    /// Uncommitted changes there are your own; short for `--dirty-scope-policy continue_own_wip`
    #[arg(long)]
    continue_own_wip: bool,

    /// How long the intent lasts at most, in seconds [default: 3600]
    #[arg(long, alias = "ttl-seconds", value_name = "SECONDS", value_parser = parse_seconds)]
    ttl: Option<u64>,

    /// How long its owner may stay silent, in seconds [default: 300]
    #[arg(long, alias = "lease-seconds", value_name = "SECONDS", value_parser = parse_seconds)]
    lease: Option<u64>,

    /// How strictly the budget is counted; never less than the policy says
    #[arg(long, value_parser = word_parser::<StrictnessProfile>(StrictnessProfile::WORDS))]
    strictness: Option<StrictnessProfile>,

    /// Do not analyze: answer `needs_analysis` if no run describes the tree
    #[arg(long)]
    no_analyze: bool,

    /// An id of your choice: repeating it returns the same intent
    #[arg(long, value_name = "ID")]
    command_id: Option<String>,

    /// How detailed the answer is
    #[arg(long, alias = "detail", value_parser = word_parser::<DetailLevel>(DetailLevel::WORDS), default_value_t)]
    detail_level: DetailLevel,

    #[command(flatten)]
    identity: IdentityArgs,
}

/// Turn a place in the queue into a claim, based on the tree as it is now
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  probity intent promote 0199c2")]
pub(crate) struct PromoteArgs {
    /// The intent: its id or a prefix of it
    pub(crate) intent: String,

    /// Maximum time to wait in the queue
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "3600", value_parser = parse_seconds)]
    wait: Option<u64>,

    /// Uncommitted changes in the paths are your own
    #[arg(long)]
    continue_own_wip: bool,

    /// Do not analyze: stay in the queue if no run describes the tree
    #[arg(long)]
    no_analyze: bool,

    /// How detailed the answer is
    #[arg(long, alias = "detail", value_parser = word_parser::<DetailLevel>(DetailLevel::WORDS), default_value_t)]
    detail_level: DetailLevel,
}

pub(crate) fn promote(
    workspace: &Workspace,
    args: &PromoteArgs,
    caller: &Caller,
) -> Result<CommandAnswer, ServiceError> {
    let request = PromoteRequest {
        intent_id: args.intent.clone(),
        dirty_scope_policy: dirty_scope(args.continue_own_wip),
        strictness: None,
        analyze: !args.no_analyze,
        detail_level: args.detail_level,
    };
    let answer = with_progress(|watch| match args.wait {
        None => probity_changes::promote(workspace, caller, &request, watch),
        Some(seconds) => {
            let patience = Duration::from_secs(seconds);
            probity_changes::promote_when_free(workspace, caller, &request, patience, watch)
        }
    })?;
    show_start(&answer);
    Ok(CommandAnswer::of(answer.exit_code(), &answer))
}

const fn dirty_scope(continues: bool) -> DirtyScopePolicy {
    if continues { DirtyScopePolicy::ContinueOwnWip } else { DirtyScopePolicy::Block }
}

pub(crate) fn start(workspace: &Workspace, args: StartArgs) -> Result<CommandAnswer, ServiceError> {
    let caller = args.identity.caller()?;
    let dirty_scope_policy =
        if args.continue_own_wip { DirtyScopePolicy::ContinueOwnWip } else { args.dirty_scope_policy };
    let may_queue = args.queue || args.wait.is_some();
    let entries = |list: Vec<Vec<u8>>| list.into_iter().map(ScopeEntry::new).collect();
    let request = StartRequest {
        command_id: args.command_id,
        description: args.intent,
        expected_effects: args.effects,
        task: args.task,
        offline: args.offline,
        implements: args.implements,
        allowed_files: entries(caller_location::typed_paths(
            workspace,
            &[args.files, args.allowed_files].concat(),
        )?),
        allowed_related: entries(caller_location::typed_paths(workspace, &args.related)?),
        forbidden: entries(caller_location::fnmatches(workspace, &args.forbid)?),
        dirty_scope_policy,
        on_conflict: if may_queue { OnConflict::Queue } else { args.on_conflict },
        ttl_seconds: args.ttl,
        lease_seconds: args.lease,
        keep_handle: caller.is_new,
        strictness: args.strictness,
        analyze: !args.no_analyze,
        detail_level: args.detail_level,
    };
    let mut answer = with_progress(|watch| probity_changes::start(workspace, &caller, &request, watch))?;
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
        answer = with_progress(|watch| {
            probity_changes::promote_when_free(workspace, &caller, &promote, patience, watch)
        })?;
    }
    show_start(&answer);
    answer.owner = answer.intent_id.as_ref().and_then(|_| new_handle(&caller));
    Ok(CommandAnswer::of(answer.exit_code(), &answer))
}

/// Prints and returns the handle of a new owner; `None` for a caller that gave its own.
pub(crate) fn new_handle(caller: &Caller) -> Option<String> {
    if !caller.is_new {
        return None;
    }
    let handle = caller.handle.secret();
    let note = "stored for this intent in this worktree; elsewhere pass it with --owner";
    ui::print_row("owner", format_args!("{}  {}", ui::bold(handle), ui::dim(note)));
    Some(handle.to_owned())
}

/// Describes the obstacles. `are_own`: the caller holds the paths itself, under another handle.
fn reason_words(reasons: &[StartObstacle], are_own: bool) -> String {
    let foreign = StartObstacle::Rule(StartReason::ForeignDirtyOverlap);
    let told = reasons.iter().filter(|reason| !are_own || **reason != foreign);
    let words = told.map(|reason| {
        let words = match reason {
            StartObstacle::Rule(StartReason::Coordination) if are_own => "your own intent holds these paths",
            StartObstacle::Rule(StartReason::Coordination) => "others hold these paths",
            StartObstacle::Rule(StartReason::DirtyScope) => "uncommitted changes in these paths",
            StartObstacle::Rule(StartReason::ForeignDirtyOverlap) => "uncommitted changes of another agent",
            StartObstacle::Rule(StartReason::StaleBase) => {
                "others landed changes of these paths that are not here"
            }
            StartObstacle::Registry(RefusalCode::QueueAhead) => "others wait for these paths",
            StartObstacle::Registry(RefusalCode::OverlapsOwn) => "your own intent holds these paths",
            other => other.meaning(),
        };
        format!("{words} {}", dimmed_code(reason.as_str()))
    });
    words.collect::<Vec<_>>().join(", ")
}

/// Names the machine of an intent of another tree, in a team.
fn host_words(neighbor: &RelatedIntent) -> String {
    neighbor.host.as_ref().map_or_else(String::new, |host| format!(" on {host}"))
}

/// Shows what a change in a team has beside it: overlaps that are allowed, and finished work that the tree lacks.
fn show_team(answer: &StartAnswer) {
    let announced = |other: &&RelatedIntent| other.claims == Some(ClaimRelationWord::Announced);
    for neighbor in answer.workspace.workspace_relations.iter().filter(announced) {
        let paths = neighbor.hard_overlap.iter().chain(&neighbor.soft_overlap).collect::<Vec<_>>();
        let (what, whose) = (ui::first_and_more(paths.into_iter()), &neighbor.agent_label);
        ui::print_row(
            "beside",
            format_args!("{whose}{} works on {what}: {}", host_words(neighbor), neighbor.intent),
        );
    }
    for work in &answer.lacking {
        let what = ui::first_and_more(work.paths.iter());
        let place = match (&work.commit, &work.branch) {
            (Some(commit), Some(branch)) => format!("commit {} on {branch}", short_id(commit)),
            _ => "not pushed yet, as far as is known".to_owned(),
        };
        ui::print_row("lacks", format_args!("{what} of {} on {}: {place}", work.agent, work.host));
    }
    if answer.coordination == Some(Coordination::None) {
        ui::print_row("team", ui::warn("not asked: nobody else knows of this change"));
    }
}

fn show_start(answer: &StartAnswer) {
    let word = match answer.status {
        StartStatus::Active => ui::good("active"),
        StartStatus::Queued => ui::warn("queued"),
        StartStatus::Blocked => ui::bad("blocked"),
        StartStatus::NeedsAnalysis => ui::warn("needs analysis"),
    };
    let others = &answer.workspace.concurrent_intents;
    let are_own = !others.is_empty() && others.iter().all(|other| other.handle_kept);
    let reasons = match answer.reasons.as_slice() {
        [] => String::new(),
        reasons => format!(": {}", reason_words(reasons, are_own)),
    };
    ui::print_sentence(format_args!("{word}{reasons}"));
    if let Some(id) = &answer.intent_id {
        ui::print_row("intent", ui::bold(id));
    }
    for neighbor in &answer.workspace.concurrent_intents {
        let paths: Vec<String> =
            neighbor.hard_overlap.iter().chain(&neighbor.soft_overlap).map(ToString::to_string).collect();
        let state = match neighbor.recommended_action {
            RelatedIntentAction::WaitForItsLanding => "finished, and waits for its landing",
            _ => ownership_label(neighbor.ownership, neighbor.handle_kept),
        };
        ui::print_row(
            "held",
            format_args!(
                "{} by {}{} ({state}) since {}: {}",
                paths.join(", "),
                neighbor.agent_label,
                host_words(neighbor),
                neighbor.declared_at,
                neighbor.intent
            ),
        );
    }
    for run in &answer.workspace.concurrent_runs {
        let paths: Vec<String> = run.overlap.iter().map(ToString::to_string).collect();
        ui::print_row(
            "held",
            format_args!("{} by run {} in {} since {}", paths.join(", "), run.run_id, run.root, run.since),
        );
    }
    show_team(answer);
    for path in answer.workspace_hygiene.iter().flat_map(|hygiene| &hygiene.dirty_in_allowed) {
        ui::print_row("dirty", path);
    }
    for constraint in &answer.constraints {
        let hard = if constraint.hard { "hard" } else { "soft" };
        let more = ui::dim(format!("{hard}, {}", constraint.handle));
        ui::print_row("keep to", format_args!("{} {more}", constraint.summary));
    }
    if !answer.implements.is_empty() {
        ui::print_row("implements", answer.implements.join(", "));
    }
    for missing in &answer.missing_paths {
        let meant = match (&missing.suggestion, missing.hint) {
            (_, Some(hint)) => format!("; {hint}"),
            (Some(near), None) => {
                format!("; did you mean {}?", ui::code(caller_location::typed_word(near.as_bytes())))
            }
            (None, None) => String::new(),
        };
        let text = format!("{} does not exist yet: it will be created{meant}", missing.path);
        ui::print_row("new", text);
    }
    for warning in &answer.warnings {
        let entry = warning.entry.as_ref().map_or_else(String::new, |entry| format!("`{entry}`: "));
        ui::print_row("warning", format_args!("{entry}{} {}", warning.message, ui::warn(warning.code)));
    }
    if let Some(blast) = &answer.blast_radius {
        let (direct, all) = (blast.direct_dependents_count, blast.transitive_dependents_count);
        let dependents = if all == 0 {
            "no other file depends on these files".to_owned()
        } else {
            let verb = ui::agreeing_verb(direct, "depends", "depend");
            format!("{} {verb} on these files directly, {all} in all", ui::count_of(direct, "file"))
        };
        ui::print_row("impact", format_args!("{}: {dependents}", blast.radius_level));
    }
    show_notices(&answer.notices);
    ui::print_row("next", &answer.message);
}
