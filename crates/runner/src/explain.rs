//! Explains one path under the policy and a finished run: is it protected, exempt, in scope, and did it change?

mod path_standing;

pub use path_standing::standing;

use crate::bundles;
use probity_api::codes::KnownCode;
use probity_api::govern::path::PathExplanation;
use probity_core::ReasonCode;
use probity_core::bytes::escape;
use probity_paths::RepoPath;
use probity_workspace::{ServiceError, Workspace};

/// Returns the codes that `word` names, ignoring case; empty if it does not look like a code. A word that looks like a
/// code but names none is refused with the nearest one.
pub fn codes(word: &str) -> Result<Vec<KnownCode>, ServiceError> {
    let known = probity_api::codes::find(word);
    if !known.is_empty() {
        return Ok(known);
    }
    let hint = probity_policy::did_you_mean(word, probity_api::codes::all().map(|code| code.entry.code));
    // Only reasons have a recognizable form, `FAMILY.NAME`; any other word may be meant as a path.
    let is_like_a_reason = word.split_once('.').is_some_and(|(family, _)| {
        let prefix = |reason: &ReasonCode| reason.as_str().split_once('.').map(|(it, _)| it);
        ReasonCode::ALL.iter().any(|reason| prefix(reason) == Some(family))
    });
    if word.contains('/') || word != word.to_uppercase() || (!is_like_a_reason && hint.is_empty()) {
        return Ok(Vec::new());
    }
    Err(ServiceError::refused(ReasonCode::InputMissing, format!("there is no code `{word}`{hint}"))
        .with_next_step("docs/reasons.md lists all codes"))
}

/// Explains `path` under the policy and the run `run`. If there is no run at all, `last` gives the policy's part alone.
pub fn path(workspace: &Workspace, run: &str, path: &[u8]) -> Result<PathExplanation, ServiceError> {
    let path = RepoPath::parse(path)
        .map_err(|error| ServiceError::refused(ReasonCode::PathInvalid, error.to_string()))?;
    let now = standing(workspace, &path)?;
    let run_id = match bundles::find(workspace, run) {
        Err(fault) if run == "last" && fault.reason() == Some(ReasonCode::RunUnknown) => {
            let (run_id, in_scope, decided_by, amended, change) = (None, None, None, None, None);
            return Ok(PathExplanation {
                run_id,
                path,
                now,
                in_scope,
                decided_by,
                amended,
                change,
                exempt: false,
            });
        }
        found => found?,
    };
    let manifest = bundles::manifest(workspace, &run_id)?.manifest;
    let scope = probity_evidence::amended_scope(&manifest.plan.scope, &manifest.amendments)?;
    let decision = scope.decision(&path);
    let decided_by = decision.as_ref().map(|decision| escape(decision.pattern.as_bytes()));
    let amended = decision.and_then(|decision| {
        let by = manifest.amendments.iter().find(|amendment| {
            amendment.add.as_slice().iter().any(|pattern| pattern == decision.pattern.as_bytes())
        })?;
        Some(format!("{}: {}", by.by, by.why))
    });
    let delta = manifest.delta.as_deref().unwrap_or_default();
    Ok(PathExplanation {
        now,
        in_scope: Some(scope.contains(&path)),
        decided_by,
        amended,
        change: delta.iter().find(|change| change.path == path).map(|change| change.change),
        exempt: manifest.exempt_delta_paths.contains(&path),
        run_id: Some(run_id),
        path,
    })
}
