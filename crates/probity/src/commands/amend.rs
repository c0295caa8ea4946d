//! `probity amend`.

use crate::answer::CommandAnswer;
use crate::commands::identity::IdentityArgs;
use crate::commands::run::ways_forward;
use crate::{caller_location, ui};
use probity_core::bytes::escape;
use probity_evidence::GlobList;
use probity_evidence::Manifest;
use probity_paths::RepoPath;
use probity_runner::amend::{AmendmentEffect, amend as widen};
use probity_workspace::{ServiceError, Workspace};
use std::ffi::OsString;

pub(crate) fn amend(
    workspace: &Workspace,
    run: &str,
    add: &[OsString],
    by: Option<String>,
    why: &str,
    identity: &IdentityArgs,
) -> Result<CommandAnswer, ServiceError> {
    let by = by.unwrap_or_else(probity_workspace::user_name);
    let patterns = caller_location::typed_patterns(workspace, add)?;
    let shown: Vec<String> = patterns.iter().map(|pattern| escape(pattern)).collect();
    let added = format!("{}{}", shown.join("  "), caller_location::typed_remark(workspace, add));
    let amended = widen(workspace, &identity.credentials()?, run, &patterns, &by, why).inspect_err(|_| {
        // Printed above the error, so that the caller sees how the patterns were resolved.
        ui::eprint_row("add", &added);
    })?;
    let answer = amended.answer(workspace);
    match &amended {
        AmendmentEffect::Open { run_id, .. } => {
            ui::print(format_args!("{} run {run_id} may now also touch {added}", ui::good("amended")));
        }
        AmendmentEffect::Judged { manifest, attested, amended_from } => {
            let reasons = manifest.reasons();
            let untracked = manifest.untracked().unwrap_or_default();
            let passed = reasons.is_empty();
            let verdict = if passed { ui::good("PASS") } else { ui::bad("FAIL") };
            ui::print(format_args!("{verdict} run {amended_from}, judged again with the amended scope"));
            let n_let_in = n_let_in(&patterns, manifest);
            let paths = format!("{} of the run", ui::count_of(n_let_in, "changed path"));
            ui::print_row("added", format_args!("{added}  {}", ui::dim(format_args!("lets in {paths}"))));
            for path in &untracked {
                ui::print_row("changed", format_args!("{path}  {}", ui::bad("out of scope")));
            }
            for reason in &reasons {
                ui::print_row("reason", format_args!("{} {}", ui::bad(reason), reason.meaning()));
            }
            ui::print_row("evidence", crate::relative_to_cwd(&attested.dir).display());
            let is_new = |path: &RepoPath| {
                let mut delta = manifest.delta.iter().flatten();
                delta.any(|change| {
                    change.path == *path && change.change == probity_evidence::ChangeKind::Added
                })
            };
            let ways = if untracked.is_empty() {
                Vec::new()
            } else {
                ways_forward(&manifest.run_id, &untracked, is_new)
            };
            for step in &ways {
                ui::print_row(step.way.as_str(), ui::code(&step.command));
            }
        }
    }
    Ok(CommandAnswer::of(answer.exit_code(), &answer))
}

/// Counts the changed paths of a run that the patterns cover.
fn n_let_in(patterns: &[Vec<u8>], manifest: &Manifest) -> usize {
    let Ok(scope) = GlobList::new(patterns.iter().cloned()).to_scope() else { return 0 };
    manifest.delta.iter().flatten().filter(|change| scope.contains(&change.path)).count()
}
