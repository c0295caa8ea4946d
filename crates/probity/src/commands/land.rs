//! `probity land`, `discard`, `diff` and `enter`: decisions about changes that wait in a layer.

use crate::answer::CommandAnswer;
use crate::{caller_location, ui};
use clap::Args;
use probity_api::ExitCode;
use probity_api::govern::land::{LandAnswer, LayerChange};
use probity_core::ReasonCode;
use probity_evidence::{ChangeKind, LandingState};
use probity_paths::RepoPath;
use probity_runner::held::{self, LandRequest, LandSelection};
use probity_workspace::{ServiceError, Workspace};
use std::collections::BTreeSet;
use std::ffi::OsString;

/// Maximum number of paths listed one by one.
const MAX_LISTED_PATHS: usize = 40;

/// Bring held changes of a run into the tree, all or nothing
///
/// Without an option, this lands all changes of a run that passed, or that passes now that it is amended. A part of the
/// changes is judged on its own: the gates of the run's policy check exactly that part before it lands.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  probity land last\n  probity land last --in-scope\n  probity land 0199c2 --only README.md docs\n  probity land last --rebase"
)]
pub(crate) struct LandArgs {
    /// The run: its id, a prefix of it, or `last`
    run: String,

    /// Only the changes that are in scope; content that moved out of the scope stays where it was
    #[arg(long, conflicts_with = "only")]
    in_scope: bool,

    /// Only the changes at and below these paths
    #[arg(long, value_name = "PATH", num_args = 1..)]
    only: Vec<OsString>,

    /// Merge the changes with what has changed in the tree since the run began
    #[arg(long)]
    rebase: bool,
}

/// Drop the held changes of a run; they never reached the tree
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  probity discard last --dry-run\n  probity discard 0199c2")]
pub(crate) struct DiscardArgs {
    /// The run: its id, a prefix of it, or `last`
    run: String,

    /// Show what would be dropped, and do nothing
    #[arg(long)]
    dry_run: bool,
}

/// Show what a run changed, even while it is still running
///
/// The layer of the run is compared with the tree as it is now. Build outputs are counted; name a path to see them.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  probity diff open\n  probity diff last src/auth\n  probity diff 0199c2 --stat"
)]
pub(crate) struct DiffArgs {
    /// The run: its id, a prefix of it, `last`, or `open` for the run in progress
    #[arg(default_value = "open")]
    run: String,

    /// Only these paths
    paths: Vec<OsString>,

    /// Only count the changed lines
    #[arg(long)]
    stat: bool,
}

/// Run a shell or a command in a view of held changes
///
/// It sees the tree with the changes of the run. What it writes is discarded when it ends.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  probity enter last\n  probity enter 0199c2 -- cargo test")]
pub(crate) struct EnterArgs {
    /// The run: its id, a prefix of it, or `last`
    run: String,

    /// The command [default: your shell]
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

pub(crate) fn land(workspace: &Workspace, args: &LandArgs) -> Result<CommandAnswer, ServiceError> {
    let selection = if args.in_scope {
        LandSelection::InScope
    } else if args.only.is_empty() {
        LandSelection::All
    } else {
        LandSelection::Only(typed_paths(workspace, &args.only)?)
    };
    let phase = workspace.progress.begin("landing the changes");
    let request = LandRequest { run: &args.run, selection, rebase: args.rebase };
    let answer = held::land(workspace, &request)?;
    drop(phase);
    show_landing(&answer, !args.rebase);
    Ok(CommandAnswer::of(answer.exit_code(), &answer))
}

/// Prints what became of held changes; a merge is proposed if `may_rebase`.
pub(crate) fn show_landing(answer: &LandAnswer, may_rebase: bool) {
    let run = &answer.run_id;
    let paths = ui::count_of(answer.paths.len(), "path");
    match answer.state {
        LandingState::Landed => ui::print(format_args!("{} {paths} of run {run}", ui::good("landed"))),
        LandingState::None => ui::print(format_args!("run {run} has nothing to land")),
        LandingState::Conflict => {
            ui::print(format_args!(
                "{} nothing of run {run} landed, the tree is as it was",
                ui::bad("CONFLICT")
            ));
        }
        LandingState::Held => {
            ui::print(format_args!("{} nothing of run {run} landed, the tree is as it was", ui::bad("HELD")));
        }
    }
    if answer.state == LandingState::Landed {
        for path in answer.paths.iter().take(MAX_LISTED_PATHS) {
            if answer.merged.contains(path) {
                ui::print_row("landed", format_args!("{path}  {}", ui::dim("merged with the tree")));
            } else {
                ui::print_row("landed", path);
            }
        }
        for path in answer.left.iter().take(MAX_LISTED_PATHS) {
            ui::print_row("held", path);
        }
    }
    for conflict in answer.conflicts.iter().take(MAX_LISTED_PATHS) {
        ui::print_row(
            "conflict",
            format_args!("{}  {} {}", conflict.path, conflict.detail, ui::bad(conflict.code)),
        );
    }
    for gate in &answer.gate_results {
        ui::print_row("gate", format_args!("{}  {}", gate.gate_id, gate.status));
    }
    if let Some(dir) = &answer.evidence_dir {
        ui::print_row("evidence", crate::relative_to_cwd(&dir.0).display());
    }
    let probity = caller_location::program_prefix();
    let has_conflict = answer.conflicts.iter().any(|conflict| conflict.code == ReasonCode::LandConflict);
    if has_conflict && may_rebase {
        ui::print_row("next", ui::code(format_args!("{probity} land {run} --rebase")));
        return;
    }
    if has_conflict {
        ui::print_row(
            "next",
            "undo the edit of these lines in the tree and land again, or discard the changes of the run",
        );
    }
    if !answer.left.is_empty() {
        ui::print_row("look", ui::code(format_args!("{probity} diff {run}")));
        ui::print_row("discard", ui::code(format_args!("{probity} discard {run}")));
    }
}

pub(crate) fn discard(workspace: &Workspace, args: &DiscardArgs) -> Result<CommandAnswer, ServiceError> {
    let answer = held::discard(workspace, &args.run, args.dry_run)?;
    let verb = if args.dry_run { "would drop" } else { "dropped" };
    let size = ui::disk_space(answer.bytes);
    ui::print(format_args!("{verb} the held changes of run {} ({size})", answer.run_id));
    Ok(CommandAnswer::of(ExitCode::Ok, &answer))
}

pub(crate) fn diff(workspace: &Workspace, args: &DiffArgs) -> Result<CommandAnswer, ServiceError> {
    let only = typed_paths(workspace, &args.paths)?;
    let phase = workspace.progress.begin("comparing the changes with the tree");
    let answer = held::layer_diff(workspace, &args.run, &only)?;
    drop(phase);
    // A renamed file is told once, at its new name, as git does.
    let renamed: BTreeSet<&RepoPath> =
        answer.changes.iter().filter_map(|change| change.renamed_from.as_ref()).collect();
    for change in answer.changes.iter().filter(|change| !renamed.contains(&change.path)) {
        if args.stat {
            show_count(change);
        } else {
            let from = change.renamed_from.as_ref();
            let former = from.and_then(|from| answer.changes.iter().find(|change| change.path == *from));
            show_change(change, former);
        }
    }
    if answer.n_outputs_left_out > 0 {
        let outputs = ui::format_number(answer.n_outputs_left_out);
        ui::eprint_row(
            "outputs",
            format_args!("build outputs not shown: {outputs}; name a path to see them"),
        );
    }
    if answer.changes.is_empty() && answer.n_outputs_left_out == 0 {
        ui::print(format_args!("run {} changes nothing here", answer.run_id));
    } else if args.stat {
        let told = || answer.changes.iter().filter(|change| !renamed.contains(&change.path));
        let total = |count: fn(&LayerChange) -> usize| told().map(count).sum::<usize>();
        let (added, removed) = (total(|change| change.lines_added), total(|change| change.lines_removed));
        let paths = ui::count_of(answer.changes.len(), "path");
        let lines = ui::count_of(added, "line");
        ui::print(format_args!("{paths}, {lines} added, {removed} removed"));
    }
    Ok(CommandAnswer::of(ExitCode::Ok, &answer))
}

fn show_count(change: &LayerChange) {
    let mark = match change.change {
        ChangeKind::Added => "+",
        ChangeKind::Deleted => "-",
        ChangeKind::Modified => "~",
    };
    let lines = if change.is_binary {
        "binary".to_owned()
    } else {
        format!("+{} -{}", change.lines_added, change.lines_removed)
    };
    match &change.renamed_from {
        Some(from) => ui::print_row("renamed", format_args!("{from} → {}", change.path)),
        None => ui::print_row(mark, format_args!("{}  {}", change.path, ui::dim(lines))),
    }
}

/// Prints a change as git does: a header, then hunks. `former` is the deletion of the path that a file was renamed from.
fn show_change(change: &LayerChange, former: Option<&LayerChange>) {
    let path = &change.path;
    let old = change.renamed_from.as_ref().unwrap_or(path);
    ui::print(ui::bold(format_args!("diff --probity a/{old} b/{path}")));
    if change.renamed_from.is_some() {
        ui::print(format_args!("rename from {old}"));
        ui::print(format_args!("rename to {path}"));
    }
    let before = former.map_or(&change.before, |former| &former.before);
    match (before, &change.after) {
        (None, Some(after)) => ui::print(format_args!("new {after}")),
        (Some(before), None) => ui::print(format_args!("deleted {before}")),
        (Some(before), Some(after)) if before != after => {
            ui::print(format_args!("old {before}"));
            ui::print(format_args!("new {after}"));
        }
        _ => {}
    }
    if change.is_binary {
        ui::print("binary files differ");
    }
    let Some(hunks) = change.hunks.as_deref().filter(|hunks| !hunks.is_empty()) else { return };
    let side = |state: &Option<String>, prefix: &str| {
        if state.is_some() { format!("{prefix}/{path}") } else { "/dev/null".to_owned() }
    };
    ui::print(format_args!("--- {}", side(&change.before, "a")));
    ui::print(format_args!("+++ {}", side(&change.after, "b")));
    for line in hunks.lines() {
        match line.as_bytes().first() {
            Some(b'+') => ui::print(ui::good(line)),
            Some(b'-') => ui::print(ui::bad(line)),
            Some(b'@') => ui::print(ui::dim(line)),
            _ => ui::print(line),
        }
    }
}

pub(crate) fn enter(
    workspace: &Workspace,
    args: &EnterArgs,
    json: bool,
) -> Result<CommandAnswer, ServiceError> {
    let answer = held::enter(workspace, &args.run, &args.command, json)?;
    let exit_code = if answer.command_exit_code == Some(0) { ExitCode::Ok } else { ExitCode::Failed };
    Ok(CommandAnswer::of(exit_code, &answer))
}

fn typed_paths(workspace: &Workspace, paths: &[OsString]) -> Result<Vec<RepoPath>, ServiceError> {
    let typed = caller_location::typed_paths(workspace, paths)?;
    let parsed: Result<Vec<RepoPath>, _> = typed.iter().map(|path| RepoPath::parse(path)).collect();
    parsed.map_err(|error| ServiceError::refused(ReasonCode::PathInvalid, error.to_string()))
}
