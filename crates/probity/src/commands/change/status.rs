//! `probity status` and `probity doctor`.

use super::words::{ownership, show_notices, to_json};
use crate::answer::Answer;
use crate::commands::identity::Identity;
use crate::ui;
use clap::Args;
use control::change::{self, DirtyGroup, Health, StatusAnswer, Watch};
use control::{Fault, Workspace};
use intent::Status;
use serde_json::{Value, json};
use std::time::Duration;

/// Show who holds what, who waits, and whose the uncommitted changes are
#[derive(Debug, Args)]
pub(crate) struct StatusArgs {
    /// Show it again whenever it changes, until interrupted
    #[arg(long)]
    watch: bool,

    #[command(flatten)]
    identity: Identity,
}

/// How long a watcher waits for news of the registry before it looks at the tree again.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// Shows the state of the tree, once or whenever it changes.
pub(crate) fn status(workspace: &Workspace, args: &StatusArgs) -> Result<Answer, Fault> {
    let caller = args.identity.caller()?;
    let mut answer = change::status(workspace, &caller)?;
    show_status(&answer);
    let mut watch = if args.watch { Some(Watch::open(workspace)?) } else { None };
    while let Some(watch) = watch.as_mut().filter(|_| ui::output_arrived()) {
        watch.wait(LOOK_AGAIN)?;
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

/// A length of time in words.
fn span(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min", seconds / 60),
        _ => format!("{} h {} min", seconds / 3_600, seconds % 3_600 / 60),
    }
}
