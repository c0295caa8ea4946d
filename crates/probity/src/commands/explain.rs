//! `probity explain`: describes a reason code, or what the policy and a run say about a path.

use crate::answer::CommandAnswer;
use crate::{caller_location, ui};
use clap::Args;
use probity_api::ExitCode;
use probity_api::govern::path::{
    JudgedBecause, OutputRule, PathExplanation, PathKind, PathStanding, ProtectionRule,
};
use probity_workspace::{ServiceError, Workspace};
use std::ffi::OsString;

/// Explain a reason code, or how a path is judged
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  probity explain RECON.UNTRACKED_DELTA\n  probity explain src/auth/login.py --run last"
)]
pub(crate) struct ExplainArgs {
    /// A reason code, or a path of the tree
    what: OsString,

    /// For a path: the run whose scope and delta are meant
    #[arg(long, default_value = "last", value_name = "RUN")]
    run: String,
}

pub(crate) fn explain(
    workspace: impl Fn() -> Result<Workspace, ServiceError>,
    args: &ExplainArgs,
) -> Result<CommandAnswer, ServiceError> {
    let ExplainArgs { what, run } = args;
    let codes = what.to_str().map(probity_runner::explain::codes).transpose()?.unwrap_or_default();
    if let Some(answer) = probity_api::explain::CodeExplanation::new(&codes) {
        for code in &codes {
            let family = ui::dim(format_args!("({})", code.family.title));
            ui::print(format_args!("{} {family}", ui::bold(code.entry.code)));
            ui::print(format_args!("  {}", code.entry.meaning));
            ui::print(format_args!("  next: {}", code.entry.next_step));
        }
        return Ok(CommandAnswer::of(ExitCode::Ok, &answer));
    }
    let workspace = workspace()?;
    let story =
        probity_runner::explain::path(&workspace, run, &caller_location::typed_path(&workspace, what)?)?;
    ui::print(ui::bold(&story.path));
    for sentence in sentences(&story.now) {
        ui::print(format_args!("  {sentence}"));
    }
    show_run(&story);
    Ok(CommandAnswer::of(ExitCode::Ok, &story))
}

/// Describes in plain sentences how the current policy treats a path.
fn sentences(now: &PathStanding) -> Vec<String> {
    let tracked = now.tracked;
    let what = match now.kind {
        None if tracked == Some(true) => "does not exist in the tree, although git tracks it".to_owned(),
        None => "does not exist in the tree".to_owned(),
        Some(kind) => {
            let kind = match kind {
                PathKind::File => "a file",
                PathKind::Directory => "a directory",
                PathKind::Symlink => "a symbolic link",
                PathKind::Special => "a special file",
            };
            let by_git = match tracked {
                Some(true) if now.kind == Some(PathKind::Directory) => " with files that git tracks",
                Some(true) => " that git tracks",
                Some(false) => " that git does not track",
                None => "",
            };
            format!("{kind}{by_git}")
        }
    };
    let rule = now.output_rule.as_ref().map(|rule| match rule {
        OutputRule::BuildOutputs { pattern } => format!("`{pattern}` of `build_outputs`"),
        OutputRule::Recognized { directory, mark } => {
            format!("{directory}/, a directory recognized by its {mark}")
        }
    });
    let standing = match (&now.protected_by, now.exempt, rule) {
        (Some(ProtectionRule::GitDirectory), ..) => {
            format!(
                "{}: it is one of git's own files, and no scope lets a run change it",
                ui::bad("protected")
            )
        }
        (Some(ProtectionRule::Pattern { pattern }), ..) => {
            format!("{} by `{pattern}`: no scope lets a run change it, only `--grant`", ui::bad("protected"))
        }
        (None, true, Some(rule)) => {
            format!("{} by {rule}: a change is recorded and not judged", ui::warn("exempt"))
        }
        (None, _, Some(rule)) => {
            let because = match now.judged_because {
                Some(JudgedBecause::Tracked) if tracked.is_none() => {
                    "git could not say whether it is tracked"
                }
                Some(JudgedBecause::Tracked) => "git tracks it",
                Some(JudgedBecause::GateInput) => "a gate executes it",
                Some(JudgedBecause::CodeInOutput) => "it is source code in a cache, where no tool writes any",
                None => "it is not a build output",
            };
            format!("judged, although it is in {rule}: {because}")
        }
        (None, _, None) => "judged: a change must be in the scope of its run".to_owned(),
    };
    let packs = match now.packs.as_slice() {
        [] => String::new(),
        packs => format!("; in {} {}", if packs.len() == 1 { "pack" } else { "packs" }, packs.join(", ")),
    };
    vec![what, format!("{standing}{packs}")]
}

fn show_run(story: &PathExplanation) {
    let (Some(run_id), Some(in_scope)) = (&story.run_id, story.in_scope) else {
        return ui::print(format_args!("  {}", ui::dim("there is no run in this tree yet")));
    };
    ui::print(ui::dim(format_args!("in run {run_id}")));
    // The scope has no say about a build output.
    if story.exempt {
        return ui::print("  changed, and not judged because it is a build output");
    }
    if story.now.exempt && story.change.is_none() {
        return ui::print("  not changed by the run");
    }
    let place = if in_scope { ui::good("in scope") } else { ui::bad("out of scope") };
    let by =
        story.decided_by.as_ref().map_or_else(|| "no pattern matches it".into(), |by| format!("by `{by}`"));
    ui::print(format_args!("  {place}, {by}"));
    if let Some(amended) = &story.amended {
        ui::print(format_args!("  added by an amendment of {amended}"));
    }
    match story.change {
        Some(change) => ui::print(format_args!("  {change} by the run")),
        None => ui::print("  not changed by the run"),
    }
}
