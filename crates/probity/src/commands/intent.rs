//! `probity intent …` and `probity log`: the registry of intents.

use crate::answer::CommandAnswer;
use crate::commands::change::{
    PromoteArgs, new_handle, ownership_label, parse_seconds, promote, show_notices,
};
use crate::commands::identity::IdentityArgs;
use crate::ui;
use clap::{Args, Subcommand};
use probity_api::ExitCode;
use probity_api::change::{IntentView, ResetAction};
use probity_changes::registry::view::format_time;
use probity_changes::registry::view::is_of_this_tree;
use probity_changes::registry::{
    CLOSED_INTENT_RETENTION_SECONDS, Caller, CommandResult, HandleStore, IntentService, KeptHandle,
    TreeFacts, admin, audit,
};
use probity_core::bytes::shell_word;
use probity_core::text::short_id;
use probity_intents::registry::{RegistryAction, RegistryChange, RegistryEvent};
use probity_intents::{IntentId, IntentStatus, Ownership};
use probity_workspace::{ServiceError, Workspace};
use std::os::unix::ffi::OsStrExt;

/// Maximum number of events in one answer.
const MAX_EVENTS: usize = 10_000;

/// List, show, renew, recover and clear intents
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  probity intent list\n  probity intent show 0199\n  \
                        probity intent recover 0199 --owner $PROBITY_OWNER")]
pub(crate) struct IntentArgs {
    #[command(flatten)]
    identity: IdentityArgs,

    #[command(subcommand)]
    command: IntentCommand,
}

#[derive(Debug, Subcommand)]
enum IntentCommand {
    /// List who holds what, and who waits
    #[command(after_help = "Examples:\n  probity intent list --all")]
    List {
        /// Also list closed intents
        #[arg(long)]
        all: bool,
        /// Only those of this working tree, not of other worktrees and clones
        #[arg(long)]
        here: bool,
    },
    /// Show one intent in full
    #[command(after_help = "Examples:\n  probity intent show 0199c2")]
    Show {
        /// The intent: its id or a prefix of it
        intent: String,
    },
    /// Turn a place in the queue into a claim, based on the tree as it is now
    Promote(PromoteArgs),
    /// Renew the lease of your own intent
    #[command(after_help = "Examples:\n  probity intent renew 0199c2 --lease 600")]
    Renew {
        /// The intent: its id or a prefix of it
        intent: String,
        /// For how long, in seconds
        #[arg(long, value_name = "SECONDS", value_parser = parse_seconds, default_value_t = admin::DEFAULT_LEASE_SECONDS)]
        lease: u64,
        /// Let the intent live for this many seconds from now [default: its end stays]
        #[arg(long, value_name = "SECONDS", value_parser = parse_seconds)]
        ttl: Option<u64>,
    },
    /// Take over an intent whose owner is gone, or your own after a crash
    #[command(after_help = "Examples:\n  probity intent recover 0199c2")]
    Recover {
        /// The intent: its id or a prefix of it
        intent: String,
        /// How long the new lease runs, in seconds
        #[arg(long, value_name = "SECONDS", value_parser = parse_seconds, default_value_t = admin::DEFAULT_LEASE_SECONDS)]
        lease: u64,
        /// How long the intent may live from now on, in seconds
        #[arg(long, value_name = "SECONDS", value_parser = parse_seconds, default_value_t = admin::DEFAULT_TTL_SECONDS)]
        ttl: u64,
    },
    /// Give up your own intent, or close one that expired or whose owner is gone
    #[command(after_help = "Examples:\n  probity intent clear 0199c2")]
    Clear {
        /// The intent: its id or a prefix of it
        intent: String,
    },
    /// Close expired intents, and forget those closed long ago
    #[command(after_help = "Examples:\n  probity intent gc")]
    Gc {
        /// How long closed intents are kept, in seconds
        #[arg(long, value_name = "SECONDS", value_parser = parse_seconds, default_value_t = CLOSED_INTENT_RETENTION_SECONDS)]
        retention: u64,
    },
    /// Renew your own intents and close abandoned ones; those of live owners are left alone
    #[command(after_help = "Examples:\n  probity intent reset")]
    Reset,
}

impl IntentCommand {
    /// Returns the intent that the command is about, as it was typed.
    fn named_intent(&self) -> Option<&str> {
        match self {
            Self::Promote(args) => Some(&args.intent),
            Self::Show { intent }
            | Self::Renew { intent, .. }
            | Self::Recover { intent, .. }
            | Self::Clear { intent } => Some(intent),
            Self::List { .. } | Self::Gc { .. } | Self::Reset => None,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct IntentLogArgs {
    /// Only the events after this number
    #[arg(long, value_name = "N", default_value_t = 0)]
    after: u64,
    /// The maximum number of events
    #[arg(long, value_name = "N", default_value_t = MAX_EVENTS)]
    limit: usize,
}

/// Reads the log of intents and verifies it from its first event.
pub(crate) fn log(workspace: &Workspace, arguments: &IntentLogArgs) -> Result<CommandAnswer, ServiceError> {
    let answer = audit::read_log(workspace, arguments.after, arguments.limit.min(MAX_EVENTS))?;
    answer.events.iter().for_each(|logged| show_event(&logged.event));
    let n_events = usize::try_from(answer.head.seq.0).unwrap_or(usize::MAX);
    ui::print(format_args!(
        "{} {}, each follows the one before",
        ui::good("ok"),
        ui::count_of(n_events, "event")
    ));
    Ok(CommandAnswer::of(ExitCode::Ok, &answer))
}

const fn change_word(change: &RegistryChange) -> &'static str {
    match change {
        RegistryChange::Granted { .. } => "granted",
        RegistryChange::Queued { .. } => "queued",
        RegistryChange::Promoted { .. } => "promoted",
        RegistryChange::Renewed { .. } => "renewed",
        RegistryChange::Amended { .. } => "amended",
        RegistryChange::Released { .. } => "released",
        RegistryChange::Landed { .. } => "landed",
        RegistryChange::Cleared { .. } => "cleared",
        RegistryChange::Recovered { .. } => "recovered",
        RegistryChange::Collected { .. } => "collected",
        RegistryChange::LogAccepted { .. } => "accepted",
    }
}

fn show_event(event: &RegistryEvent) {
    let kind = change_word(&event.change);
    let about = event.change.intent_id().map_or("", |id| short_id(id.as_str()));
    let line = format!("{:>6}  {}  {kind:<9}  {about:<13}  ", event.seq.0, format_time(event.at));
    let label = ui::fit_to_terminal(&event.by.label, line.chars().count());
    ui::print(format_args!("{line}{}", ui::dim(label)));
}

pub(crate) fn intent(workspace: &Workspace, arguments: &IntentArgs) -> Result<CommandAnswer, ServiceError> {
    let identity = &arguments.identity;
    let mut service = match arguments.command.named_intent() {
        Some(name) => IntentService::open_with(workspace, name)?,
        None => IntentService::open(workspace)?,
    };
    let caller = identity.caller()?;
    if identity.owner.is_some() {
        service.touch(&service.owner_of(&caller)?)?;
    }
    match &arguments.command {
        IntentCommand::List { all, here } => list(workspace, &service, &caller, *all, *here),
        IntentCommand::Promote(args) => {
            let intent_id = service.resolve(&args.intent)?.id.clone();
            promote(workspace, args, &identity.caller_for(workspace, &intent_id)?)
        }
        IntentCommand::Show { intent } => show(workspace, &service, &caller, intent),
        IntentCommand::Renew { intent, lease, ttl } => {
            let intent_id = service.resolve(intent)?.id.clone();
            let caller = identity.caller_for(workspace, &intent_id)?;
            let action = RegistryAction::Renew { intent_id, lease_seconds: *lease, ttl_seconds: *ttl };
            change(workspace, &mut service, &caller, action)
        }
        IntentCommand::Recover { intent, lease, ttl } => {
            let intent_id = service.resolve(intent)?.id.clone();
            let caller = identity.caller_for(workspace, &intent_id)?;
            recover(workspace, &mut service, &caller, &intent_id, (*lease, *ttl))
        }
        IntentCommand::Clear { intent } => {
            let intent_id = service.resolve(intent)?.id.clone();
            let caller = identity.caller_for(workspace, &intent_id)?;
            change(workspace, &mut service, &caller, RegistryAction::Clear { intent_id })
        }
        IntentCommand::Gc { retention } => {
            let action = RegistryAction::Collect { retention_seconds: *retention, keep_closed: None };
            change(workspace, &mut service, &caller, action)
        }
        IntentCommand::Reset => reset(workspace, &mut service, identity),
    }
}

fn list(
    workspace: &Workspace,
    service: &IntentService,
    caller: &Caller,
    all: bool,
    here: bool,
) -> Result<CommandAnswer, ServiceError> {
    let mut answer = service.list(workspace, caller, all)?;
    if here {
        answer.intents.retain(|view| is_of_this_tree(workspace, &view.base));
    }
    if let Some(why) = service.offline() {
        ui::print_row("team", ui::warn(why));
    }
    answer.intents.iter().for_each(|view| show_line(service, view));
    if answer.intents.is_empty() {
        ui::print("no intent is open");
    }
    show_notices(&answer.notices);
    Ok(CommandAnswer::of(ExitCode::Ok, &answer))
}

fn show_line(service: &IntentService, view: &IntentView) {
    let whose = ownership_label(view.ownership, view.handle_kept);
    let state = match (view.status, view.queue_position) {
        (IntentStatus::Active, _) if view.ownership == Ownership::Expired => whose.to_owned(),
        (IntentStatus::Active, _) => format!("active, {whose}"),
        (IntentStatus::Queued, Some(place)) => format!("queued at {place}, {whose}"),
        (IntentStatus::Queued, None) => format!("queued, {whose}"),
        (IntentStatus::Landing, _) if view.ownership == Ownership::Expired => "finished".to_owned(),
        (IntentStatus::Landing, _) => format!("landing, {whose}"),
        (IntentStatus::Released, _) => "finished".to_owned(),
        (IntentStatus::Cleared, _) => "given up".to_owned(),
        (IntentStatus::Expired, _) => "expired".to_owned(),
    };
    // Padded before coloring: escape sequences would count as width.
    let state = format!("{state:<26}");
    let id = format!("{:<13}", service.registry().short_id(&view.intent_id));
    let label = match &view.base.line {
        // In a team the same name may work on several machines.
        Some(line) => format!("{} on {} for {line}", view.owner.label, view.owner.host),
        None => format!("{:<8}", view.owner.label),
    };
    let used = [&id, &state, &label].iter().map(|column| column.chars().count() + 2).sum();
    let paths: Vec<String> = view.scope.allowed_files.iter().take(4).map(ToString::to_string).collect();
    let more = view.scope.allowed_files.len().saturating_sub(paths.len());
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    let paths = ui::fit_to_terminal(&format!("{}{more}", paths.join(", ")), used);
    let state = match view.status {
        IntentStatus::Active => ui::good(state),
        IntentStatus::Queued | IntentStatus::Landing => ui::warn(state),
        _ => ui::dim(state),
    };
    ui::print(format_args!("{id}  {state}  {}  {paths}", ui::bold(label)));
}

fn show(
    workspace: &Workspace,
    service: &IntentService,
    caller: &Caller,
    id: &str,
) -> Result<CommandAnswer, ServiceError> {
    let answer = service.show(workspace, caller, id)?;
    let view = &answer.intent;
    show_line(service, view);
    ui::print_row("intent", &view.intent_id);
    ui::print_row("for", &view.description);
    ui::print_row("declared", &view.declared_at);
    if !view.status.is_closed() {
        ui::print_row(
            "lease",
            match view.lease_expires_in_seconds {
                0 => "lapsed".to_owned(),
                left => format!("{left} s left"),
            },
        );
    }
    ui::print_row("ends", &view.expires_at);
    for entry in view.scope.entries() {
        ui::print_row("scope", entry);
    }
    for amendment in &view.amendments {
        ui::print_row("amended", format_args!("{} by {}: {}", amendment.at, amendment.by, amendment.why));
    }
    let id = service.registry().short_id(&view.intent_id);
    if view.status.is_closed() {
        // A closed intent needs no next step.
    } else if view.ownership == Ownership::Recoverable {
        ui::print_row("next", format_args!("its owner is gone: `probity intent recover {id}`"));
    } else if view.ownership.is_foreign() && !view.handle_kept {
        ui::print_row("next", "coordinate with its owner, queue, or narrow your scope");
    }
    Ok(CommandAnswer::of(ExitCode::Ok, &answer))
}

fn change(
    workspace: &Workspace,
    service: &mut IntentService,
    caller: &Caller,
    action: RegistryAction,
) -> Result<CommandAnswer, ServiceError> {
    let by = service.owner_of(caller)?;
    let done = service.execute(&by, action, &TreeFacts::default())?;
    if let Some(event) = &done.event {
        HandleStore::of(workspace).forget_closed(event)?;
    }
    show_done(&done);
    Ok(CommandAnswer::of(ExitCode::Ok, &service.change_answer(workspace, caller, &done)?))
}

/// Takes over an intent. A new owner's handle is stored and returned: without it nobody could release the intent.
fn recover(
    workspace: &Workspace,
    service: &mut IntentService,
    caller: &Caller,
    intent_id: &IntentId,
    (lease_seconds, ttl_seconds): (u64, u64),
) -> Result<CommandAnswer, ServiceError> {
    let by = service.owner_of(caller)?;
    let action = RegistryAction::Recover { intent_id: intent_id.clone(), lease_seconds, ttl_seconds };
    let done = service.execute(&by, action, &TreeFacts::default())?;
    let kept = caller.is_new.then(|| KeptHandle {
        intent_id: intent_id.clone(),
        handle: caller.handle.clone(),
        label: by.label.clone(),
    });
    let elsewhere =
        HandleStore::keep_recovered(workspace, service.resolve(intent_id.as_str())?, kept.as_ref())?;
    show_done(&done);
    let id = service.registry().short_id(intent_id);
    match elsewhere {
        None => ui::print_row(
            "next",
            format_args!("the intent is yours: edit inside its scope, then `probity finish {id}`"),
        ),
        Some(root) => {
            let go = shell_word(root.as_os_str().as_bytes());
            ui::print_row(
                "next",
                format_args!(
                    "the intent is yours, but its change is in another worktree: \
                     `cd {go} && probity finish {id}`"
                ),
            );
        }
    }
    let mut answer = service.change_answer(workspace, caller, &done)?;
    answer.owner = Some(new_handle(caller));
    Ok(CommandAnswer::of(ExitCode::Ok, &answer))
}

fn show_done(done: &CommandResult) {
    match &done.event {
        Some(event) => show_event(event),
        None => ui::print("there is nothing to do"),
    }
    show_notices(&done.notices);
}

fn reset(
    workspace: &Workspace,
    service: &mut IntentService,
    identity: &IdentityArgs,
) -> Result<CommandAnswer, ServiceError> {
    let handles = HandleStore::of(workspace);
    let answer =
        admin::reset(service, &|service, intent_id| identity.owner_for(workspace, service, intent_id))?;
    for entry in &answer.intents {
        let words = match entry.action {
            ResetAction::Renewed => "renewed",
            ResetAction::Cleared => {
                handles.forget(&entry.intent_id)?;
                "closed"
            }
            ResetAction::Rejected => "left alone",
        };
        ui::print(format_args!(
            "{}  {words:<10}  {}",
            service.registry().short_id(&entry.intent_id),
            entry.next_step.as_deref().unwrap_or_default()
        ));
    }
    if answer.intents.is_empty() {
        ui::print("no intent is open");
    }
    Ok(CommandAnswer::of(ExitCode::Ok, &answer))
}
