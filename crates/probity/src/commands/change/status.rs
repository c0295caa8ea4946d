//! `probity status`.

use super::alternate_screen::AlternateScreen;
use super::labels::{ownership_label, show_notices};
use super::raw_keyboard::RawKeyboard;
use crate::answer::CommandAnswer;
use crate::commands::identity::IdentityArgs;
use crate::ui::{self, TerminalText};
use clap::Args;
use probity_api::ExitCode;
use probity_api::change::{Coordination, DirtyGroup, DirtySummary, IntentLine, StatusAnswer};
use probity_changes::StatusWatcher;
use probity_core::text::short_id;
use probity_evidence::GlobList;
use probity_intents::{IntentId, IntentStatus, Ownership, ScopeEntrySet};
use probity_workspace::{ServiceError, Workspace};
use std::time::{Duration, Instant};

/// Show who holds what, who waits, and the uncommitted changes
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  probity status\n  probity status --watch")]
pub(crate) struct StatusArgs {
    /// Show it again whenever it changes; `q`, Esc or Ctrl-C ends it
    #[arg(long)]
    watch: bool,

    /// Only the intents of this working tree, not those of other worktrees and clones
    #[arg(long)]
    here: bool,

    #[command(flatten)]
    identity: IdentityArgs,
}

impl StatusArgs {
    pub(crate) const fn reports_once(&self) -> bool {
        !self.watch
    }
}

/// Maximum wait for registry events before the worktree is checked again.
const LOOK_AGAIN_INTERVAL: Duration = Duration::from_secs(1);
/// Separates successive statuses where they cannot be redrawn in place.
const SEPARATOR: &str = "────────";
/// Time between two checks for a pressed key.
const KEY_INTERVAL: Duration = Duration::from_millis(100);

/// Shows the status once; with `--watch`, again whenever it changes.
pub(crate) fn status(workspace: &Workspace, args: &StatusArgs) -> Result<CommandAnswer, ServiceError> {
    let caller = args.identity.caller()?;
    // Opened before anything is shown, so that a key pressed immediately counts.
    let keyboard = if args.watch { RawKeyboard::open() } else { None };
    let look = || -> Result<StatusAnswer, ServiceError> {
        let mut answer = probity_review::tree_status(workspace, &caller)?;
        answer.intents.retain(|line| line.is_here || !args.here);
        Ok(answer)
    };
    let mut answer = look()?;
    let screen = keyboard.is_some().then(AlternateScreen::open).flatten();
    show_again(screen.as_ref(), workspace, &answer);
    if args.watch {
        let mut watch = StatusWatcher::open(workspace)?;
        while ui::output_arrived() && !wait_for_news(&mut watch, keyboard.as_ref())? {
            let now = look()?;
            let is_news = what_matters(&now) != what_matters(&answer);
            if screen.is_none() && is_news {
                ui::print(ui::dim(SEPARATOR));
            }
            if screen.is_some() || is_news {
                show_again(screen.as_ref(), workspace, &now);
            }
            answer = now;
        }
    }
    if screen.is_some() {
        // Closing the screen erases it, so the last status is printed again to stay visible.
        drop(screen);
        show_status(&answer);
    }
    Ok(CommandAnswer::of(ExitCode::Ok, &answer))
}

/// Redraws the status on the screen, or prints it below the previous one.
fn show_again(screen: Option<&AlternateScreen>, workspace: &Workspace, answer: &StatusAnswer) {
    let Some(screen) = screen else { return show_status(answer) };
    let lines = ui::collect_lines(|| {
        ui::print(ui::dim(format_args!("probity status  in {}", workspace.root.display())));
        show_status(answer);
    });
    screen.show(&lines, &TerminalText::of_line(ui::dim("watching; press q to quit"), 0));
}

/// Waits for registry events, or until the worktree is due for a check; returns whether the user wants to leave.
fn wait_for_news(watch: &mut StatusWatcher, keyboard: Option<&RawKeyboard>) -> Result<bool, ServiceError> {
    let Some(keyboard) = keyboard else { return watch.wait(LOOK_AGAIN_INTERVAL).map(|_| false) };
    let end = Instant::now() + LOOK_AGAIN_INTERVAL;
    while Instant::now() < end {
        if keyboard.wants_to_leave(Duration::ZERO) {
            return Ok(true);
        }
        if watch.wait(KEY_INTERVAL)? {
            break;
        }
    }
    Ok(false)
}

fn show_status(answer: &StatusAnswer) {
    if answer.intents.is_empty() && answer.runs.is_empty() {
        ui::print("no change is open");
    }
    if let Some(why) = &answer.offline {
        ui::print_row("team", ui::warn(why));
    }
    for line in &answer.intents {
        let state = match (line.status, line.queue_position) {
            (IntentStatus::Queued, Some(place)) => ui::warn(format_args!("queued at position {place} for")),
            (IntentStatus::Landing, _) => ui::warn("finished, and waits for the landing of"),
            _ => ui::good("holds"),
        };
        let paths: Vec<String> = line.allowed_files.iter().take(3).map(ToString::to_string).collect();
        ui::print(format_args!(
            "{} {state} {}",
            ui::bold(&line.agent),
            shortened_list(&paths, line.allowed_files.len())
        ));
        ui::print_row("for", &line.description);
        if let Some(task) = &line.task {
            ui::print_row("task", task);
        }
        if let Some(branch) = &line.line {
            ui::print_row("line", format_args!("{branch}, on {}", line.owner.host));
        }
        ui::print_row("since", format_args!("{} ({} ago)", line.since, format_seconds(line.age_seconds)));
        let lease = match line.lease_left_seconds {
            _ if line.status == IntentStatus::Landing => "until it has landed".to_owned(),
            0 => ui::warn("lapsed"),
            left => format!("{} left", format_seconds(left)),
        };
        ui::print_row(
            "lease",
            format_args!(
                "{lease}, expires in {}  {}",
                format_seconds(line.life_left_seconds),
                ui::dim(ownership_label(line.ownership, line.is_yours))
            ),
        );
        let mut notes = Vec::new();
        if line.n_dirty > 0 {
            notes.push(ui::count_of(line.n_dirty, "uncommitted path"));
        }
        if !line.is_here {
            notes.push(match &line.root {
                Some(root) => format!("in {root}"),
                None if line.line.is_some() => "in another clone or worktree".to_owned(),
                None => "in another worktree".to_owned(),
            });
        }
        if line.coordination == Some(Coordination::None) {
            notes.push("the team was not asked".to_owned());
        }
        if line.handle_kept {
            notes.push("handle kept here".to_owned());
        }
        let notes = if notes.is_empty() { String::new() } else { format!("  {}", notes.join(", ")) };
        ui::print_row("intent", ui::dim(format_args!("{}{notes}", line.intent_id)));
    }
    for run in &answer.runs {
        let scope: Vec<String> =
            run.scope.as_slice().iter().take(3).map(|pattern| probity_core::bytes::escape(pattern)).collect();
        let scope = if scope.is_empty() {
            "nothing".to_owned()
        } else {
            shortened_list(&scope, run.scope.as_slice().len())
        };
        ui::print(format_args!("{} may touch {scope}", ui::bold("a governed run")));
        let place = if run.is_here { String::new() } else { format!(" in {}", run.root) };
        ui::print_row("since", format_args!("{}{place}, process {}", run.since, run.pid));
        ui::print_row("run", ui::dim(&run.run_id));
    }
    for layer in &answer.held {
        let size = ui::disk_space(layer.bytes);
        ui::print_row("held", format_args!("the changes of run {} ({size})", layer.run_id));
    }
    let dirty = &answer.dirty;
    for (label, group) in [
        ("yours", &dirty.own),
        ("held by others", &dirty.foreign),
        ("held by an intent whose owner is gone", &dirty.abandoned),
    ] {
        show_group(label, group);
    }
    for group in &dirty.finished {
        let label = format!("finished by {}, not committed yet", group.agent);
        show_group(&label, &group.changed);
    }
    for group in &dirty.runs {
        let agent = group.agent.as_ref().map_or_else(String::new, |agent| format!(" ({agent})"));
        let fate = if group.accepted { "not committed yet" } else { "which failed" };
        show_group(&format!("from run {}{agent}, {fate}", short_id(&group.run_id)), &group.changed);
    }
    show_group("in no intent", &dirty.unclaimed);
    show_notices(&answer.notices);
    ui::print_row("next", &answer.next_step);
}

fn show_group(label: &str, group: &DirtyGroup) {
    if group.count > 0 {
        let paths: Vec<String> = group.paths.iter().take(5).map(ToString::to_string).collect();
        ui::print_row("changed", format_args!("{}  {}", shortened_list(&paths, group.count), ui::dim(label)));
    }
}

/// Joins the first items of a list, with the number of the remaining ones.
fn shortened_list(first: &[String], count: usize) -> String {
    match count.saturating_sub(first.len()) {
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
    }
}

type IntentNews<'a> = (&'a IntentId, IntentStatus, Ownership, Option<usize>, &'a ScopeEntrySet, usize);

/// The parts of a status whose change is worth showing: everything but elapsed time.
#[derive(PartialEq, Eq)]
struct StatusNews<'a> {
    intents: Vec<IntentNews<'a>>,
    runs: Vec<(&'a str, &'a GlobList)>,
    dirty: &'a DirtySummary,
    head: Option<&'a str>,
}

fn what_matters(answer: &StatusAnswer) -> StatusNews<'_> {
    fn intent(line: &IntentLine) -> IntentNews<'_> {
        (&line.intent_id, line.status, line.ownership, line.queue_position, &line.allowed_files, line.n_dirty)
    }
    StatusNews {
        intents: answer.intents.iter().map(intent).collect(),
        runs: answer.runs.iter().map(|run| (run.run_id.as_str(), &run.scope)).collect(),
        dirty: &answer.dirty,
        head: answer.head.as_deref(),
    }
}

fn format_seconds(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min", seconds / 60),
        _ => format!("{} h {} min", seconds / 3_600, seconds % 3_600 / 60),
    }
}
