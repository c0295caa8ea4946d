//! The decisions on record: who accepted or restored which finding, when and why. One file for each decision.

use probity_api::merge_audit::{
    DecisionRequest, FindingChoice, FindingDecision, MergeFinding, MergeFindingDecisions,
};
use probity_core::Digest;
use probity_storage::{StoreError, durable};
use probity_workspace::{ServiceError, Workspace, clock};
use std::path::{Path, PathBuf};

/// Larger files are no decisions.
const MAX_DECISION_BYTES: u64 = 1 << 20;

fn directory(workspace: &Workspace) -> PathBuf {
    workspace.state.dir().join("merge-decisions")
}

fn read_error(path: &Path) -> impl FnOnce(std::io::Error) -> ServiceError {
    let what = format!("cannot read {}", path.display());
    |source| ServiceError::System { what, source }
}

/// Returns all decisions about findings of git merges, oldest first.
pub fn decisions(workspace: &Workspace) -> Result<MergeFindingDecisions, ServiceError> {
    let place = directory(workspace);
    let entries = match std::fs::read_dir(&place) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Ok(MergeFindingDecisions::default());
        }
        Err(error) => return Err(read_error(&place)(error)),
    };
    let mut files: Vec<PathBuf> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|end| end == "json"))
        .collect();
    files.sort();
    let mut decisions = Vec::new();
    for file in files {
        decisions.push(read_decision(&file)?);
    }
    Ok(MergeFindingDecisions { decisions })
}

fn read_decision(file: &Path) -> Result<FindingDecision, ServiceError> {
    let facts = file.symlink_metadata().map_err(read_error(file))?;
    if !facts.is_file() || facts.len() > MAX_DECISION_BYTES {
        let why = "it is not a decision file".to_owned();
        return Err(StoreError::Damaged { path: file.to_owned(), why }.into());
    }
    let bytes = std::fs::read(file).map_err(read_error(file))?;
    serde_json::from_slice(&bytes)
        .map_err(|error| StoreError::Damaged { path: file.to_owned(), why: error.to_string() }.into())
}

/// Names the edit and what it met, whatever the merge: the same in every merge that loses the same edit in the same way.
pub(crate) fn conflict_id(finding: &MergeFinding) -> String {
    let mut parts: Vec<&str> = vec![finding.kind.as_str(), finding.entity.as_deref().unwrap_or("")];
    parts.extend(finding.lost.iter().map(String::as_str));
    for version in [&finding.base, &finding.ours, &finding.theirs, &finding.merged] {
        parts.push("\0");
        parts.push(version.as_ref().map_or("", |version| &version.text));
    }
    let mut text = parts.join("\n").into_bytes();
    text.extend(finding.path.as_bytes());
    Digest::of(&text).to_hex()[..16].to_owned()
}

/// Writes one decision for each finding.
pub(crate) fn record(
    workspace: &Workspace,
    merge: Option<&str>,
    findings: Vec<&MergeFinding>,
    chosen: FindingChoice,
    request: &DecisionRequest,
) -> Result<Vec<FindingDecision>, ServiceError> {
    let recorded: Vec<FindingDecision> =
        findings.into_iter().map(|finding| decision_of(merge, finding, chosen, request)).collect();
    write_decisions(workspace, &recorded)?;
    Ok(recorded)
}

pub(crate) fn decision_of(
    merge: Option<&str>,
    finding: &MergeFinding,
    chosen: FindingChoice,
    request: &DecisionRequest,
) -> FindingDecision {
    FindingDecision {
        finding: finding.id.clone(),
        conflict: conflict_id(finding),
        merge: merge.map(str::to_owned),
        path: finding.path.clone(),
        entity: finding.entity.clone(),
        chosen,
        by: request.by.clone().unwrap_or_else(probity_workspace::user_name),
        at: clock::text_of_ms(clock::now_ms()),
        why: request.why.clone(),
    }
}

pub(crate) fn write_decisions(
    workspace: &Workspace,
    decisions: &[FindingDecision],
) -> Result<(), ServiceError> {
    let at_ms = clock::now_ms();
    for decision in decisions {
        let name = format!("{at_ms:015}-{}.json", decision.finding);
        let mut bytes = serde_json::to_vec_pretty(decision).expect("a decision is plain data with text keys");
        bytes.push(b'\n');
        durable::write(&directory(workspace).join(name), &bytes)?;
    }
    Ok(())
}
