//! `probity team`.

use crate::answer::CommandAnswer;
use crate::ui;
use clap::{Args, Subcommand};
use probity_api::ExitCode;
use probity_api::change::{TeamChange, TeamChangeAnswer, TeamClone, TeamStoreMember, TeamView};
use probity_changes::registry::{AgentLabel, CallerCredentials};
use probity_changes::team::{self, TeamInit, TeamInitStore};
use probity_core::text::short_id;
use probity_workspace::{ServiceError, Workspace};
use std::path::PathBuf;

/// Share claims with other clones through the git remote or etcd
#[derive(Debug, Subcommand)]
#[command(
    after_help = "Examples:\n  probity team init --git origin\n  probity team join\n  probity team status"
)]
pub(crate) enum TeamCommand {
    Init(TeamInitArgs),

    /// Join the team that `probity.toml` names
    #[command(after_help = "Examples:\n  probity team join")]
    Join,

    /// Show the team, its clones, and whether its store can be reached
    #[command(after_help = "Examples:\n  probity team status")]
    Status,

    /// Look for finished work on the remote's branches, and release the claims of what has landed
    #[command(
        after_help = "Examples:\n  git push && probity team landed\n  git fetch && probity team landed"
    )]
    Landed,

    /// Accept that the log of a clone contradicts what it published, with the reason
    ///
    /// Every clone publishes the head of its own log (evidence, receipts, ledger) with its claims. One whose log was shortened,
    /// rewritten or begun again is named by `probity team status` and `probity doctor` in every clone, until somebody who
    /// looked at it accepts that.
    #[command(
        name = "accept-log",
        after_help = "Examples:\n  probity team accept-log 3f2a91c0 --why 'disk failure, restored from Monday'"
    )]
    AcceptLog {
        /// The clone, by the beginning of its name
        clone: String,
        /// What explains the contradiction
        #[arg(long)]
        why: String,
    },

    /// Leave the team: claims of this clone count on this machine only
    #[command(after_help = "Examples:\n  probity team leave")]
    Leave,
}

/// Create a team, write it to `probity.toml`, and join it
#[derive(Debug, Args)]
#[command(
    group = clap::ArgGroup::new("store").required(true),
    after_help = "Examples:\n  probity team init --git origin\n  \
                  probity team init --git https://example.org/repository.git --line main\n  \
                  probity team init --etcd https://etcd-1:2379 --ca ca.pem --user team-a"
)]
pub(crate) struct TeamInitArgs {
    /// The git remote that keeps the claims, below `refs/probity`: its name here, or an address
    #[arg(long, value_name = "REMOTE", group = "store")]
    git: Option<String>,

    /// The members of the etcd that keeps the claims, with commas between them
    #[arg(long, value_name = "URL", group = "store", value_delimiter = ',')]
    etcd: Vec<String>,

    /// A file with the authorities that the members' certificates are held against [default: those of the system]
    #[arg(long, value_name = "FILE", requires = "etcd")]
    ca: Option<PathBuf>,

    /// The user of etcd; its password is in the file that `PROBITY_TEAM_PASSWORD_FILE` names
    #[arg(long, value_name = "NAME", requires = "etcd")]
    user: Option<String>,

    /// The part of etcd that the team owns, below `/probity` [default: the name of the user, or `team`]
    #[arg(long, value_name = "NAME", requires = "etcd")]
    namespace: Option<String>,

    /// The branch that changes are for [default: the current one]
    #[arg(long, value_name = "BRANCH")]
    line: Option<String>,
}

impl TeamInitArgs {
    fn request(self) -> TeamInit {
        let store = match self.git {
            Some(remote) => TeamInitStore::Git { remote },
            None => TeamInitStore::Etcd {
                endpoints: self.etcd,
                ca: self.ca,
                user: self.user,
                namespace: self.namespace,
            },
        };
        TeamInit { store, line: self.line }
    }
}

pub(crate) fn team(workspace: &Workspace, command: TeamCommand) -> Result<CommandAnswer, ServiceError> {
    match command {
        TeamCommand::Init(args) => Ok(show_change(&team::init(workspace, &args.request())?)),
        TeamCommand::Join => Ok(show_change(&team::join(workspace)?)),
        TeamCommand::Leave => Ok(show_change(&team::leave(workspace)?)),
        TeamCommand::Landed => landed(workspace),
        TeamCommand::AcceptLog { clone, why } => accept_log(workspace, &clone, &why),
        TeamCommand::Status => {
            let answer = team::status(workspace)?;
            match &answer.team {
                Some(view) => show_team(view),
                None => ui::print_row("team", "none"),
            }
            ui::print_row("next", &answer.next_step);
            let is_unreachable = answer.team.as_ref().is_some_and(|view| view.unreachable.is_some());
            let exit_code = if is_unreachable { ExitCode::Unverified } else { ExitCode::Ok };
            Ok(CommandAnswer::of(exit_code, &answer))
        }
    }
}

/// Shows what landed. The caller needs no intent: anybody can see it.
fn landed(workspace: &Workspace) -> Result<CommandAnswer, ServiceError> {
    let label = AgentLabel::Assumed(probity_workspace::user_name());
    let caller = CallerCredentials { handle: None, label, pid: None }.caller();
    let answer = team::landed(workspace, &caller)?;
    for change in &answer.landed {
        let (id, commit) = (short_id(change.intent_id.as_str()), short_id(&change.commit));
        ui::print_row(
            "landed",
            format_args!("{id} of {}: commit {commit} on {}", change.agent, ui::good(&change.branch)),
        );
    }
    for change in &answer.waiting {
        let id = short_id(change.intent_id.as_str());
        let place = if change.is_here { "this tree" } else { &change.host };
        let minutes = change.left_seconds / 60;
        ui::print_row(
            "waiting",
            format_args!("{id} of {}, in {place}, for {minutes} minutes at most", change.agent),
        );
    }
    ui::print_row("next", &answer.next_step);
    Ok(CommandAnswer::of(ExitCode::Ok, &answer))
}

fn accept_log(workspace: &Workspace, clone: &str, why: &str) -> Result<CommandAnswer, ServiceError> {
    let label = AgentLabel::Assumed(probity_workspace::user_name());
    let caller = CallerCredentials { handle: None, label, pid: None }.caller();
    let answer = team::accept_log(workspace, &caller, clone, why)?;
    ui::print_row("accepted", &answer.accepted);
    ui::print_row("why", &answer.why);
    Ok(CommandAnswer::of(ExitCode::Ok, &answer))
}

fn show_change(answer: &TeamChangeAnswer) -> CommandAnswer {
    let done = match answer.change {
        TeamChange::Made => "made, and joined",
        TeamChange::Joined => "joined",
        TeamChange::Left => "left",
    };
    ui::print_row("team", ui::good(done));
    ui::print_row("store", &answer.remote);
    if let Some(line) = &answer.line {
        ui::print_row("line", line);
    }
    ui::print_row("next", &answer.next_step);
    CommandAnswer::of(ExitCode::Ok, answer)
}

fn show_team(view: &TeamView) {
    match view.members.len() {
        0 => ui::print_row("store", &view.remote),
        // The rows of the members have the addresses.
        n => ui::print_row("store", format_args!("{} of {}", view.store, ui::count_of(n, "member"))),
    }
    match (&view.unreachable, view.round_trip_ms) {
        (Some(why), _) => ui::print_row("", format_args!("{} {why}", ui::bad("unreachable:"))),
        (None, Some(ms)) => ui::print_row("", format_args!("{} in {ms} ms", ui::good("answered"))),
        (None, None) => {}
    }
    for (n, member) in view.members.iter().enumerate() {
        ui::print_row(if n == 0 { "members" } else { "" }, member_words(member));
    }
    for warning in &view.warnings {
        ui::print_row("warning", format_args!("{}: {}", warning.what, warning.next_step));
    }
    if let Some(line) = &view.line {
        ui::print_row("line", line);
    }
    let (open, here) = (ui::count_of(view.n_open, "open intent"), view.n_open_here);
    let events = ui::count_of(usize::try_from(view.head).unwrap_or(usize::MAX), "event");
    ui::print_row("log", format_args!("{events}, {open}, {here} of this tree"));
    if view.n_landing > 0 {
        ui::print_row("landing", ui::count_of(view.n_landing, "finished change"));
    }
    if view.n_pending > 0 {
        ui::print_row(
            "pending",
            format_args!("{} waiting for the store", ui::count_of(view.n_pending, "release")),
        );
    }
    for (n, clone) in view.clones.iter().enumerate() {
        ui::print_row(if n == 0 { "clones" } else { "" }, clone_words(clone));
    }
}

fn member_words(member: &TeamStoreMember) -> String {
    let TeamStoreMember { endpoint, version, is_leader, round_trip_ms, silent } = member;
    let leads = if *is_leader { ", leader" } else { "" };
    match (version, round_trip_ms, silent) {
        (Some(version), Some(ms), _) => format!("{endpoint} {version}{leads}, answered in {ms} ms"),
        (_, _, Some(why)) => format!("{endpoint} is silent: {why}"),
        _ => endpoint.clone(),
    }
}

fn clone_words(clone: &TeamClone) -> String {
    let here = if clone.is_here { ", this one" } else { "" };
    let name = probity_core::text::short_id(&clone.clone);
    let log = match clone.n_log_entries {
        None => String::new(),
        Some(1) => ", 1 log entry".to_owned(),
        Some(n) => format!(", {n} log entries"),
    };
    format!("{name} on {}, since {}, {} open{log}{here}", clone.host, clone.since, clone.n_open)
}
