//! `probity amend`.

use crate::answer::{Answer, Outcome, path_json};
use crate::commands::identity::Identity;
use crate::{place, ui};
use canon::bytes::escape;
use control::amend::{Amended, amend as widen};
use control::{Fault, Workspace};
use serde_json::json;
use std::ffi::OsString;

/// Widens a scope on the record.
pub(crate) fn amend(
    workspace: &Workspace,
    run: &str,
    add: &[OsString],
    by: Option<String>,
    why: &str,
    identity: &Identity,
) -> Result<Answer, Fault> {
    let by = by.unwrap_or_else(control::user);
    match widen(workspace, &identity.credentials()?, run, &place::patterns(workspace, add)?, &by, why)? {
        Amended::Open { run_id, amendment } => {
            let patterns: Vec<String> =
                amendment.add.as_slice().iter().map(|pattern| escape(pattern)).collect();
            ui::print(format_args!(
                "{} run {run_id} may now also touch {}",
                ui::good("amended"),
                patterns.join("  ")
            ));
            let document = json!({ "status": "amended", "run_id": run_id, "amendment": amendment });
            Ok(Answer::new("amend", Outcome::Ok, document).about(workspace))
        }
        Amended::Judged { manifest, attested, amended_from } => {
            let reasons = manifest.reasons();
            let untracked = manifest.untracked().unwrap_or_default();
            let passed = reasons.is_empty();
            let verdict = if passed { ui::good("PASS") } else { ui::bad("FAIL") };
            ui::print(format_args!("{verdict} run {amended_from}, judged again with the amended scope"));
            for path in &untracked {
                ui::print_row("changed", format_args!("{path}  {}", ui::bad("out of scope")));
            }
            for reason in &reasons {
                ui::print_row("reason", format_args!("{} {}", ui::bad(reason), reason.meaning()));
            }
            ui::print_row("evidence", crate::shown(&attested.dir).display());
            let document = json!({
                "status": if passed { "pass" } else { "fail" },
                "reason": reasons.first(),
                "reasons": reasons,
                "run_id": manifest.run_id,
                "amended_from": amended_from,
                "amendments": manifest.amendments,
                "untracked_delta_paths": untracked,
                "evidence_dir": path_json(&attested.dir),
                "run_hash": attested.run_hash,
            });
            Ok(Answer::new("amend", if passed { Outcome::Ok } else { Outcome::Failed }, document)
                .about(workspace))
        }
    }
}
