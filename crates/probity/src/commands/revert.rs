//! `probity revert`.

use crate::answer::CommandAnswer;
use crate::commands::changed_paths::output_line;
use crate::{caller_location, ui};
use clap::Args;
use probity_api::govern::revert::{PathRevert, RevertAction, RevertAnswer, StagedChanges};
use probity_core::ReasonCode;
use probity_paths::RepoPath;
use probity_runner::revert::revert as undo;
use probity_workspace::{ServiceError, Workspace};
use std::collections::BTreeMap;
use std::ffi::OsString;

/// Maximum number of paths listed one by one.
const MAX_LISTED_PATHS: usize = 40;
/// Maximum number of paths listed one by one that are refused with the same words.
const MAX_LIKE_REFUSALS: usize = 5;

/// Undo the out-of-scope changes of a run, or what it landed
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  probity revert last --dry-run\n  probity revert last README.md")]
pub(crate) struct RevertArgs {
    /// The run: its id, a prefix of it, or `last`
    run: String,

    /// Only these paths, also if they were in scope
    paths: Vec<OsString>,

    /// Show what would be done, and do nothing
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn revert(workspace: &Workspace, args: &RevertArgs) -> Result<CommandAnswer, ServiceError> {
    let dry_run = args.dry_run;
    let only = caller_location::typed_paths(workspace, &args.paths)?;
    let only: Result<Vec<RepoPath>, _> = only.iter().map(|path| RepoPath::parse(path)).collect();
    let only = only.map_err(|error| ServiceError::refused(ReasonCode::PathInvalid, error.to_string()))?;
    let phase = workspace.progress.begin("undoing the changes");
    let answer = undo(workspace, &args.run, &only, dry_run)?;
    drop(phase);
    // What was refused comes first. Build outputs are counted: a virtual environment must not hide the one file that
    // matters.
    let (outputs, mut listed): (Vec<&PathRevert>, Vec<&PathRevert>) = answer
        .paths
        .iter()
        .partition(|one| one.reason.is_none() && probity_policy::output_root(&one.path).is_some());
    listed.sort_by_key(|one| one.reason.is_none());
    // One commit may refuse thousands of paths with the same words.
    let mut like: BTreeMap<&str, usize> = BTreeMap::new();
    for one in listed.iter().filter(|one| one.reason.is_some()) {
        *like.entry(&one.detail).or_default() += 1;
    }
    let mut n_rows = 0;
    let mut n_hidden = 0;
    let mut shown: BTreeMap<&str, usize> = BTreeMap::new();
    for one in &listed {
        let rank = shown.entry(&one.detail).or_default();
        *rank += 1;
        if one.reason.is_some() && *rank > MAX_LIKE_REFUSALS {
            continue;
        }
        if n_rows == MAX_LISTED_PATHS {
            n_hidden += 1;
            continue;
        }
        n_rows += 1;
        let Some(reason) = one.reason else {
            ui::print_row(action_label(one.action, dry_run), &one.path);
            continue;
        };
        ui::print_row("refused", format_args!("{}  {} {}", one.path, one.detail, ui::bad(reason)));
        let more = like[one.detail.as_str()] - *rank;
        if *rank == MAX_LIKE_REFUSALS && more > 0 {
            ui::print_row(
                "",
                ui::dim(format_args!("… and {} more in the same way", ui::format_number(more))),
            );
        }
    }
    if n_hidden > 0 {
        ui::print_row("", ui::dim(format_args!("… and {} more", ui::format_number(n_hidden))));
    }
    let mut outputs: Vec<RepoPath> = outputs.into_iter().map(|one| one.path.clone()).collect();
    outputs.sort();
    if let Some(line) = output_line(&outputs, if dry_run { "would be undone" } else { "undone" }) {
        ui::print_row("outputs", line);
    }
    for path in &answer.left {
        ui::print_row(
            "skipped",
            format_args!("{path}  {}", ui::warn("not restored: protected; check it and undo it by hand")),
        );
    }
    for note in &answer.refs {
        ui::print_row("git ref", &note.detail);
        if let Some(command) = &note.command {
            ui::print_row("", format_args!("to take that back and keep the files: {}", ui::code(command)));
        }
    }
    show_staged(&answer.staged);
    if answer.paths.is_empty() {
        let why = if answer.kept.is_empty() { "no" } else { "no out-of-scope" };
        ui::print_sentence(format_args!(
            "nothing to undo: {why} change of run {} is in the tree",
            answer.run_id
        ));
        show_kept(&answer);
        if let Some(held) = probity_runner::held::held_run_of(workspace, &answer.run_id)? {
            let command = format!("{} discard {held}", caller_location::program_prefix());
            ui::print_row("discard", format_args!("{}  drops the changes that are held", ui::code(command)));
        }
        return Ok(CommandAnswer::of(answer.exit_code(), &answer));
    }
    let (refused, already) =
        (answer.n_with(RevertAction::Refused), answer.n_with(RevertAction::AlreadyUndone));
    let what = match (answer.landed, only.is_empty()) {
        (true, _) => "landed change",
        (false, true) => "out-of-scope change",
        (false, false) => "change",
    };
    let done = ui::count_of(answer.paths.len() - refused - already, what);
    let verb = if dry_run { "would be undone" } else { "undone" };
    let before = if already == 0 { String::new() } else { format!(", {already} already undone") };
    ui::print(format_args!("{done} {verb}{before}, {refused} refused"));
    show_kept(&answer);
    if let Some(dir) = &answer.evidence_dir {
        ui::print_row("evidence", crate::relative_to_cwd(&dir.0).display());
    }
    Ok(CommandAnswer::of(answer.exit_code(), &answer))
}

const fn action_label(action: RevertAction, dry_run: bool) -> &'static str {
    match (action, dry_run) {
        (RevertAction::Restored, false) => "restored",
        (RevertAction::Restored, true) => "restore",
        (RevertAction::Removed, false) => "removed",
        (RevertAction::Removed, true) => "remove",
        (RevertAction::AlreadyUndone, _) => "as before",
        (RevertAction::Refused, _) => "refused",
    }
}

/// Says that changes in scope stay, and how to undo one of them.
fn show_kept(answer: &RevertAnswer) {
    let [first, rest @ ..] = answer.kept.as_slice() else { return };
    let more = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
    ui::print_row("kept", format_args!("{first}{more}  {}", ui::dim("in scope")));
    let command = format!(
        "{} revert {} {}",
        caller_location::program_prefix(),
        answer.run_id,
        caller_location::typed_word(first.as_bytes())
    );
    ui::print_row("", format_args!("to undo that, too: {}", ui::code(command)));
}

/// Lists reverted paths that are still staged: the index is left to the user.
fn show_staged(staged: &StagedChanges) {
    if staged.unknown {
        ui::print_row("staged", ui::warn("not known: git's index could not be read; see `git status`"));
    }
    let [first, rest @ ..] = staged.paths.as_slice() else { return };
    let more = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
    let what = "still staged in git's index, which a revert leaves alone";
    ui::print_row("staged", format_args!("{first}{more}  {}", ui::warn(what)));
    let command = staged.command.as_deref().unwrap_or("git restore --staged -- PATHS");
    ui::print_row("", format_args!("to unstage: {}", ui::code(command)));
}
