//! What was decided about findings: who accepted or restored which, when and why. One file for each decision.
//!
//! A decision that the merge stands closes its finding for good: the id of a finding depends on the four contents alone.
//! The same edit lost in the same way in another merge is another finding, which shows the earlier decision and stays open.

use probity_api::merge_audit::{
    DecisionRequest, FindingChoice, FindingDecision, MergeAuditAnswer, MergeDecisionAnswer, MergeFinding,
    MergeFindingDecisions,
};
use probity_core::{Digest, ReasonCode};
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
        let why = "it is no file of a decision".to_owned();
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

/// Tells an answer what was decided about its findings.
pub(crate) fn apply(answer: &mut MergeAuditAnswer, decided: &MergeFindingDecisions) {
    for finding in &mut answer.findings {
        finding.conflict = conflict_id(finding);
        let newest_first = || decided.decisions.iter().rev();
        finding.decision = newest_first().find(|one| one.finding == finding.id).cloned();
        if finding.decision.is_none() {
            finding.decided_before = newest_first().find(|one| one.conflict == finding.conflict).cloned();
        }
    }
    answer.outcome = MergeAuditAnswer::outcome_of(&answer.findings);
}

/// Puts on record that findings of an audited merge are accepted as they are.
#[tracing::instrument(name = "accept losses", skip_all)]
pub fn accept(
    workspace: &Workspace,
    audit: &MergeAuditAnswer,
    request: &DecisionRequest,
) -> Result<MergeDecisionAnswer, ServiceError> {
    if request.why.trim().is_empty() {
        let why = "say why the merge may stand without these edits: `--why TEXT`";
        return Err(ServiceError::refused(ReasonCode::UsageInvalid, why));
    }
    let chosen = chosen_findings(audit, request)?;
    let recorded = record(workspace, audit.merge.as_deref(), chosen, FindingChoice::Merged, request)?;
    let mut audit = audit.clone();
    apply(&mut audit, &decisions(workspace)?);
    Ok(MergeDecisionAnswer { recorded, audit })
}

fn chosen_findings<'a>(
    audit: &'a MergeAuditAnswer,
    request: &DecisionRequest,
) -> Result<Vec<&'a MergeFinding>, ServiceError> {
    if request.repeat {
        let was_accepted = |finding: &&MergeFinding| {
            finding.decided_before.as_ref().is_some_and(|one| one.chosen == FindingChoice::Merged)
        };
        return Ok(audit.findings.iter().filter(was_accepted).collect());
    }
    if request.findings.is_empty() {
        return Ok(audit.findings.iter().filter(|finding| finding.is_open()).collect());
    }
    let named = |name: &String| {
        let mut found = audit.findings.iter().filter(|finding| finding.id.starts_with(name.as_str()));
        match (found.next(), found.next()) {
            (Some(finding), None) => Ok(finding),
            (None, _) => Err(ServiceError::Missing(format!("the audit has no finding `{name}`"))),
            (Some(_), Some(_)) => Err(ServiceError::Missing(format!("several findings begin with `{name}`"))),
        }
    };
    request.findings.iter().map(named).collect()
}

/// Writes one decision for each finding.
pub(crate) fn record(
    workspace: &Workspace,
    merge: Option<&str>,
    findings: Vec<&MergeFinding>,
    chosen: FindingChoice,
    request: &DecisionRequest,
) -> Result<Vec<FindingDecision>, ServiceError> {
    let at_ms = clock::now_ms();
    let by = request.by.clone().unwrap_or_else(probity_workspace::user_name);
    let mut recorded = Vec::new();
    for finding in findings {
        let decision = FindingDecision {
            finding: finding.id.clone(),
            conflict: conflict_id(finding),
            merge: merge.map(str::to_owned),
            path: finding.path.clone(),
            entity: finding.entity.clone(),
            chosen,
            by: by.clone(),
            at: clock::text_of_ms(at_ms),
            why: request.why.clone(),
        };
        let name = format!("{at_ms:015}-{}.json", decision.finding);
        let mut bytes =
            serde_json::to_vec_pretty(&decision).expect("a decision is plain data with text keys");
        bytes.push(b'\n');
        durable::write(&directory(workspace).join(name), &bytes)?;
        recorded.push(decision);
    }
    Ok(recorded)
}
