//! `probity plan`: shows the plan that a run would seal, and suggests a smaller scope.

use crate::answer::CommandAnswer;
use crate::caller_location::Selection;
use crate::{caller_location, ui};
use clap::Args;
use probity_api::ExitCode;
use probity_core::bytes::escape;
use probity_runner::planning::{self, ProposedPlan};
use probity_workspace::{ServiceError, Workspace};
use std::ffi::OsString;

/// More exempt patterns than this are only counted; the policy lists them.
const MAX_EXEMPT_ROWS: usize = 6;

/// Show what would be sealed, and how much the scope covers
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  probity plan --scope 'src/auth/**'\n  probity plan --suggest src/auth/login.py src/auth/token.py\n  probity plan --suggest-from last"
)]
pub(crate) struct PlanArgs {
    #[command(flatten)]
    selection: Selection,

    /// Propose a minimal scope for these paths
    #[arg(long, value_name = "PATH", num_args = 1..)]
    suggest: Vec<OsString>,

    /// Propose a minimal scope for what an earlier run changed
    #[arg(long, value_name = "RUN", conflicts_with = "suggest")]
    suggest_from: Option<String>,
}

pub(crate) fn plan(workspace: &Workspace, args: PlanArgs) -> Result<CommandAnswer, ServiceError> {
    let PlanArgs { selection, suggest, suggest_from } = args;
    if !suggest.is_empty() || suggest_from.is_some() {
        let suggested = planning::suggest(
            workspace,
            &caller_location::typed_paths(workspace, &suggest)?,
            suggest_from.as_deref(),
        )?;
        // Printed relative to the caller's directory, to be typed there; the document has paths from the root.
        for pattern in &suggested.patterns {
            ui::print(escape(&workspace.working_directory.to_typed(pattern)));
        }
        let left_out = suggested.n_outputs_left_out;
        if left_out > 0 {
            ui::eprint(match left_out {
                1 => "1 path that looks like a build output is left out".to_owned(),
                many => {
                    format!("{} paths that look like build outputs are left out", ui::format_number(many))
                }
            });
        }
        if suggested.patterns.is_empty() && left_out == 0 {
            ui::eprint("the run changed nothing, so there is no scope to suggest");
        }
        return Ok(CommandAnswer::of(ExitCode::Ok, &suggested.answer(workspace)));
    }
    let remark = caller_location::typed_remark(workspace, &selection.scope);
    let proposed = planning::propose_plan(workspace, &caller_location::selection(workspace, selection)?)?;
    show(&proposed, &remark);
    Ok(CommandAnswer::of(ExitCode::Ok, &proposed.answer(workspace)))
}

/// Shows in one line which build outputs the policy does not exempt yet.
fn show_proposals(proposed: &ProposedPlan) {
    let mut ecosystems: Vec<&str> = proposed.proposals.iter().map(|proposal| proposal.ecosystem).collect();
    ecosystems.dedup();
    if !ecosystems.is_empty() {
        let patterns = ui::count_of(proposed.proposals.len(), "more pattern");
        let command = if proposed.has_policy { "probity init --dry-run" } else { "probity init" };
        let line = format!("{patterns} for build outputs ({}): {command}", ecosystems.join(", "));
        ui::print_row("hint", ui::dim(line));
    }
}

fn show(proposed: &ProposedPlan, typed_remark: &str) {
    let preview = &proposed.preview;
    let plan = &preview.plan;
    ui::print_row("profile", format_args!("{} (tier {})", plan.profile, plan.tier));
    if !plan.packs.is_empty() {
        ui::print_row("packs", plan.packs.join(", "));
    }
    let last = plan.scope.as_slice().len().saturating_sub(1);
    for (index, pattern) in plan.scope.as_slice().iter().enumerate() {
        let remark = if index == last { typed_remark } else { "" };
        ui::print_row("scope", format_args!("{}{remark}", escape(pattern)));
    }
    if plan.scope.is_empty() {
        ui::print_row("scope", "nothing may change");
    }
    let coverage = preview.coverage;
    ui::print_row("covers", format_args!("{} of {} files", coverage.covered, coverage.files));
    for gate in &plan.gates {
        let required = if gate.required { "required" } else { "optional" };
        ui::print_row(
            "gate",
            format_args!(
                "{} {}",
                gate.id,
                ui::dim(format_args!("{} {required}  $ {}", gate.tier, gate.run.join(" ")))
            ),
        );
    }
    for gate in &plan.skipped_gates {
        ui::print_row("gate", format_args!("{gate} {}", ui::dim("skipped: above the tier")));
    }
    let exempt = proposed.build_outputs.as_slice();
    if exempt.len() <= MAX_EXEMPT_ROWS {
        for pattern in exempt {
            ui::print_row("outputs", escape(pattern));
        }
    } else {
        let patterns = ui::count_of(exempt.len(), "pattern");
        ui::print_row("outputs", format_args!("{patterns} of `build_outputs` in the policy"));
    }
    show_proposals(proposed);
    for warning in &preview.warnings {
        let pattern = warning.pattern.as_ref().map_or_else(String::new, |pattern| format!("`{pattern}`: "));
        ui::print_row(
            "warning",
            format_args!("{pattern}{} {}", warning.code.meaning(), ui::warn(warning.code)),
        );
    }
    ui::print_row("plan hash", ui::dim(plan.hash()));
}
