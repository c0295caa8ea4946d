//! `probity amend`: widens the scope of a run, or of an intent.

use crate::answer::CommandAnswer;
use crate::commands::change::show_notices;
use crate::commands::changed_paths::{ChangeMark, change_lines};
use crate::commands::identity::IdentityArgs;
use crate::commands::run::{ways_for_held, ways_forward};
use crate::{caller_location, ui};
use clap::Args;
use probity_api::ExitCode;
use probity_core::bytes::escape;
use probity_evidence::GlobList;
use probity_evidence::Manifest;
use probity_paths::RepoPath;
use probity_runner::amend::{AmendmentEffect, amend as widen};
use probity_workspace::{ServiceError, Workspace};
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

/// Widen the scope of a run or an intent, on the record
///
/// A run in progress takes the amendment at once. A finished run is judged again with the amended scope, and
/// the new verdict gets a bundle of its own; the old one stays as it is. An intent gains literal paths, if nobody else
/// holds them.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  probity amend last --add 'docs/**' --why 'the change needs its manual page'\n  probity amend --intent 0199c2 --add src/util.py --why 'the helper moved'"
)]
pub(crate) struct AmendArgs {
    /// The run: its id, a prefix of it, `last`, or `open` for the run in progress
    #[arg(default_value = "open")]
    run: String,

    /// An intent instead of a run: its id or a prefix of it
    #[arg(long, value_name = "INTENT", conflicts_with = "run")]
    intent: Option<String>,

    /// A pattern to add to the scope; for an intent a literal path
    #[arg(long, value_name = "GLOB", required_unless_present = "related")]
    add: Vec<OsString>,

    /// For an intent: a path that it may touch along the way
    #[arg(long, value_name = "PATH", requires = "intent")]
    related: Vec<OsString>,

    /// Why the scope must grow
    #[arg(long, value_name = "TEXT")]
    why: String,

    /// Who decides this [default: the user]
    #[arg(long, value_name = "NAME", env = "USER", hide_env_values = true)]
    by: Option<String>,

    #[command(flatten)]
    identity: IdentityArgs,
}

pub(crate) fn amend(workspace: &Workspace, args: AmendArgs) -> Result<CommandAnswer, ServiceError> {
    match &args.intent {
        Some(intent) => amend_intent(workspace, intent, &args),
        None => amend_run(workspace, args),
    }
}

fn amend_run(workspace: &Workspace, args: AmendArgs) -> Result<CommandAnswer, ServiceError> {
    let AmendArgs { run, add, why, by, identity, .. } = args;
    let by = by.unwrap_or_else(probity_workspace::user_name);
    let patterns = caller_location::typed_patterns(workspace, &add)?;
    let shown: Vec<String> = patterns.iter().map(|pattern| escape(pattern)).collect();
    let added = format!("{}{}", shown.join("  "), caller_location::typed_remark(workspace, &add));
    let amended =
        widen(workspace, &identity.credentials()?, &run, &patterns, &by, &why).inspect_err(|_| {
            // Printed above the error, so that the caller sees how the patterns were resolved.
            ui::eprint_row("add", &added);
        })?;
    let answer = amended.answer(workspace);
    match &amended {
        AmendmentEffect::Open { run_id, .. } => {
            ui::print(format_args!("{} run {run_id} may now also touch {added}", ui::good("amended")));
        }
        AmendmentEffect::Judged { manifest, attested, amended_from, landing } => {
            let reasons = manifest.reasons();
            let untracked = manifest.untracked().unwrap_or_default();
            let passed = reasons.is_empty();
            let verdict = if passed { ui::good("PASS") } else { ui::bad("FAIL") };
            ui::print(format_args!("{verdict} run {amended_from}, judged again with the amended scope"));
            let n_let_in = n_let_in(&patterns, manifest);
            let paths = format!("{} of the run", ui::count_of(n_let_in, "changed path"));
            ui::print_row("added", format_args!("{added}  {}", ui::dim(format_args!("covers {paths}"))));
            let outside: BTreeSet<RepoPath> = untracked.iter().cloned().collect();
            let delta = manifest.delta.iter().flatten().filter(|change| outside.contains(&change.path));
            let changes: Vec<_> = delta.map(|change| (ChangeMark::of(change.change), &change.path)).collect();
            if !changes.is_empty() {
                for line in change_lines(&changes, &outside, "") {
                    ui::print_row("changed", line);
                }
            }
            for reason in &reasons {
                ui::print_row("reason", format_args!("{} {}", ui::bad(reason), reason.meaning()));
            }
            ui::print_row("evidence", crate::relative_to_cwd(&attested.dir).display());
            if let Some(landing) = landing {
                crate::commands::land::show_landing(landing, true);
            }
            let is_new = |path: &RepoPath| {
                let mut delta = manifest.delta.iter().flatten();
                delta.any(|change| {
                    change.path == *path && change.change == probity_evidence::ChangeKind::Added
                })
            };
            let held = probity_runner::held::held_run_of(workspace, &manifest.run_id)?;
            let ways = match held {
                _ if untracked.is_empty() => Vec::new(),
                Some(run_id) => {
                    ui::print_row("landing", "nothing landed, your tree is as it was");
                    let n_changes = manifest.delta.as_ref().map_or(0, Vec::len);
                    ways_for_held(&run_id, &untracked, n_changes > untracked.len())
                }
                None => ways_forward(&manifest.run_id, &untracked, is_new),
            };
            for step in &ways {
                ui::print_row(step.way.as_str(), ui::code(&step.command));
            }
        }
    }
    Ok(CommandAnswer::of(answer.exit_code(), &answer))
}

fn amend_intent(
    workspace: &Workspace,
    intent: &str,
    args: &AmendArgs,
) -> Result<CommandAnswer, ServiceError> {
    let caller = args.identity.caller_for_name(workspace, intent)?;
    let add = caller_location::typed_paths(workspace, &args.add)?;
    let related = caller_location::typed_paths(workspace, &args.related)?;
    let answer = probity_changes::amend(workspace, &caller, intent, &add, &related, &args.why)?;
    ui::print(format_args!(
        "{} {}",
        ui::good("amended"),
        probity_core::text::short_id(answer.intent_id.as_str())
    ));
    for path in answer.allowed_files.iter().chain(&answer.allowed_related) {
        let file = workspace.root.join(OsStr::from_bytes(path.as_bytes()));
        let note =
            if file.symlink_metadata().is_ok() { "" } else { "does not exist yet: it will be created" };
        ui::print_row("added", format_args!("{path}  {}", ui::dim(note)));
    }
    show_notices(&answer.notices);
    ui::print_row("next", answer.next_step);
    Ok(CommandAnswer::of(ExitCode::Ok, &answer))
}

/// Counts the changed paths of a run that the patterns cover.
fn n_let_in(patterns: &[Vec<u8>], manifest: &Manifest) -> usize {
    let Ok(scope) = GlobList::new(patterns.iter().cloned()).to_scope() else { return 0 };
    manifest.delta.iter().flatten().filter(|change| scope.contains(&change.path)).count()
}
