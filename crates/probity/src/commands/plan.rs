//! `probity plan`: what would be sealed, and suggestions for a smaller scope.

use crate::answer::{Answer, Outcome};
use crate::cli::Selection;
use crate::{bytes, ui};
use canon::bytes::escape;
use control::planning::{self, Proposed};
use control::{Fault, Workspace};
use serde_json::json;
use std::ffi::OsString;

/// Shows the plan, or suggests a scope.
pub(crate) fn plan(
    workspace: &Workspace,
    selection: Selection,
    suggest: Vec<OsString>,
    suggest_from: Option<&str>,
) -> Result<Answer, Fault> {
    if !suggest.is_empty() || suggest_from.is_some() {
        let patterns = planning::suggest(workspace, &bytes(suggest), suggest_from)?;
        let shown: Vec<String> = patterns.iter().map(|pattern| escape(pattern)).collect();
        shown.iter().for_each(ui::print);
        return Ok(Answer::new("suggest", Outcome::Ok, json!({ "scope": shown })));
    }
    let proposed = planning::of_tree(workspace, &selection.into())?;
    show(&proposed);
    let preview = &proposed.preview;
    let document = json!({
        "plan": preview.plan,
        "plan_hash": preview.plan.hash(),
        "coverage": preview.coverage,
        "warnings": preview.warnings,
        "build_outputs": proposed.build_outputs,
        "proposed_build_outputs": proposed.proposals.iter().map(|proposal| &proposal.pattern).collect::<Vec<_>>(),
    });
    Ok(Answer::new("plan", Outcome::Ok, document))
}

fn show(proposed: &Proposed) {
    let preview = &proposed.preview;
    let plan = &preview.plan;
    ui::print_row("profile", format_args!("{} (tier {})", plan.profile, plan.tier));
    if !plan.packs.is_empty() {
        ui::print_row("packs", plan.packs.join(", "));
    }
    for pattern in plan.scope.as_slice() {
        ui::print_row("scope", escape(pattern));
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
    for pattern in proposed.build_outputs.as_slice() {
        ui::print_row("exempt", escape(pattern));
    }
    for proposal in &proposed.proposals {
        let line = format!("{} could be a build output: {}", proposal.pattern, proposal.because);
        ui::print_row("hint", ui::dim(line));
    }
    for warning in &preview.warnings {
        let pattern = warning.pattern.as_ref().map_or_else(String::new, |pattern| format!("`{pattern}`: "));
        ui::print_row(
            "warning",
            format_args!("{pattern}{} {}", warning.code.meaning(), ui::warn(warning.code)),
        );
    }
    ui::print_row("plan hash", ui::dim(plan.hash()));
}
