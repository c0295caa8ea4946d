//! What merges lost, of git and of the document store, and decisions about it: the functions that the command line calls,
//! for a person who was shown one place.

use probity_api::LeftOutOfLists;
use probity_api::merge_audit::{
    AuditOutcome, DecisionRequest, MergeAuditAnswer, MergeAuditRangeAnswer, MergeDecisionAnswer,
    MergeFinding, MergeSurvivalAnswer,
};
use probity_api::merges::{ConflictReport, MergeAnalysisAnswer, MergeReconcileAnswer};
use probity_core::{Digest, ReasonCode, json};
use probity_document_store::merge::{self, AnalyzedMerge, MergeSelector, ReconcileRequest};
use probity_document_store::read::{LogRequest, log};
use probity_document_store::{CommitMetadata, CommitStore, write};
use probity_documents::{ChosenState, CommitKind, ConflictChoice, GivenResolution};
use probity_merges::{MergeQuestion, SurvivalRequest};
use probity_snapshot::GitId;
use probity_workspace::{ServiceError, Workspace, git, git_history};

/// The name of the merge that is in progress in the working tree.
pub const WORKING_MERGE: &str = "working";
/// The newest merges of the current commit that are audited for the list.
pub const MAX_AUDITED_MERGES: usize = 50;
/// The newest commits of the document store among which merges are looked for.
const MAX_LOOKED_AT_COMMITS: usize = 200;

probity_core::word_enum! {
    /// What a person does about a finding of a git merge.
    pub enum FindingAction {
        /// The merge stands without the edit.
        Accept = "accept",
        /// The edit is put back by a survival commit on a branch of its own.
        Restore = "restore",
    }
}

/// A decision about one finding.
#[derive(Debug, Clone)]
pub struct FindingRequest {
    /// A merge commit, or [`WORKING_MERGE`].
    pub merge: String,
    /// The id of the finding.
    pub finding: String,
    pub action: FindingAction,
    pub by: String,
    pub why: String,
    /// The digest of what the person was shown.
    pub shown: Digest,
}

/// What became of a decision about a finding.
#[derive(Debug, Clone)]
pub enum FindingOutcome {
    Accepted(Box<MergeDecisionAnswer>),
    Restored(Box<MergeSurvivalAnswer>),
}

/// A decision about one conflict of a document merge.
#[derive(Debug, Clone)]
pub struct ConflictRequest {
    pub merge: String,
    /// The id of the conflict.
    pub conflict: String,
    pub choose: ChosenState,
    pub by: String,
    pub why: String,
    /// The digest of what the person was shown.
    pub shown: Digest,
}

/// Merges of the document store.
#[derive(Debug, Clone, Default)]
pub struct DocumentMerges {
    /// What reducing the heads to one would lose.
    pub pending: Vec<MergeAnalysisAnswer>,
    /// The newest written merges that lost something, newest first.
    pub written: Vec<MergeAnalysisAnswer>,
}

/// Audits the newest merges that the current commit has.
pub fn recent_merges(workspace: &Workspace) -> Result<MergeAuditRangeAnswer, ServiceError> {
    let nothing = MergeAuditRangeAnswer {
        range: "HEAD".to_owned(),
        merges: 0,
        proven: 0,
        outcome: AuditOutcome::Clean,
        audits: Vec::new(),
        left_out_of_lists: LeftOutOfLists::default(),
    };
    let Some(layout) = &workspace.git else { return Ok(nothing) };
    let Some(tip) = git::head(workspace)?.and_then(|head| GitId::from_hex(head.as_bytes())) else {
        return Ok(nothing);
    };
    let history = git_history::history(layout, &[tip], &[])?;
    let merges = history.into_iter().filter(|ids| ids.len() > 2).filter_map(|ids| ids.into_iter().next());
    let merges: Vec<GitId> = merges.take(MAX_AUDITED_MERGES).collect();
    if merges.is_empty() { Ok(nothing) } else { probity_merges::audit_merges(workspace, &merges) }
}

/// Returns the audit of the merge in progress, if there is one.
pub fn merge_in_progress(workspace: &Workspace) -> Result<Option<MergeAuditAnswer>, ServiceError> {
    if workspace.git.is_none() {
        return Ok(None);
    }
    Ok(probity_merges::audit_before_commit(workspace, None)?.audits.pop())
}

/// Audits one merge: a commit, or [`WORKING_MERGE`].
pub fn merge_audit(workspace: &Workspace, name: &str) -> Result<MergeAuditAnswer, ServiceError> {
    let question = match name {
        WORKING_MERGE => MergeQuestion::Working { theirs: None },
        commit => MergeQuestion::Commit(commit.to_owned()),
    };
    probity_merges::audit(workspace, &question)
}

/// The digest of what is shown of a finding: the edit and what was decided about it.
pub fn finding_digest(audit: &MergeAuditAnswer, finding: &MergeFinding) -> Digest {
    Digest::of(&json::canonical_of(&(&audit.merge, &finding.id, &finding.decision)))
}

/// The digest of what is shown of a conflict.
pub fn conflict_digest(merge: &MergeAnalysisAnswer, conflict: &ConflictReport) -> Digest {
    let decided = conflict.resolved_by.as_ref().map(|decision| (&decision.by, &decision.at));
    Digest::of(&json::canonical_of(&(merge.merge, &conflict.conflict.id, decided)))
}

fn too_late(what: &str) -> ServiceError {
    let detail = format!("{what} is not what you were shown: somebody decided about it since");
    ServiceError::refused(ReasonCode::DecisionTooLate, detail)
}

fn check_why(why: &str) -> Result<(), ServiceError> {
    probity_evidence::check_reason(why)
        .map_err(|error| ServiceError::refused(error.reason(), error.to_string()))
}

fn survival_request(request: &FindingRequest, dry_run: bool) -> SurvivalRequest {
    SurvivalRequest {
        merge: request.merge.clone(),
        findings: vec![request.finding.clone()],
        subject: None,
        why: request.why.clone(),
        author: Some(request.by.clone()),
        dry_run,
        // A supervisor of gates takes care of every child of the process, and a server has others.
        skip_gates: true,
    }
}

/// Returns what restoring a finding would write, and writes no reference.
pub fn preview_restoration(
    workspace: &Workspace,
    merge: &str,
    finding: &str,
) -> Result<MergeSurvivalAnswer, ServiceError> {
    let request = SurvivalRequest {
        merge: merge.to_owned(),
        findings: vec![finding.to_owned()],
        subject: None,
        why: String::new(),
        author: None,
        dry_run: true,
        skip_gates: true,
    };
    probity_merges::restore(workspace, &request)
}

/// Carries out a decision about a finding, if it is still what the person was shown.
pub fn decide_finding(
    workspace: &Workspace,
    request: &FindingRequest,
) -> Result<FindingOutcome, ServiceError> {
    check_why(&request.why)?;
    let audit = merge_audit(workspace, &request.merge)?;
    let finding = audit.findings.iter().find(|finding| finding.id == request.finding);
    let finding = finding.ok_or_else(|| too_late("the audit of this merge"))?;
    if finding_digest(&audit, finding) != request.shown {
        return Err(too_late("the finding"));
    }
    match request.action {
        FindingAction::Accept => {
            let decision = DecisionRequest {
                findings: vec![request.finding.clone()],
                repeat: false,
                override_policy: false,
                why: request.why.clone(),
                by: Some(request.by.clone()),
            };
            let answer = probity_merges::accept(workspace, &audit, &decision)?;
            Ok(FindingOutcome::Accepted(Box::new(answer)))
        }
        FindingAction::Restore => {
            let answer = probity_merges::restore(workspace, &survival_request(request, false))?;
            Ok(FindingOutcome::Restored(Box::new(answer)))
        }
    }
}

/// Opens the document store of the tree; `None` if it has none.
fn document_store(workspace: &Workspace) -> Result<Option<CommitStore>, ServiceError> {
    let path = workspace.state.dir().join("commits.db");
    if path.symlink_metadata().is_err() {
        return Ok(None);
    }
    probity_document_store::open(&path).map(Some)
}

fn required_store(workspace: &Workspace) -> Result<CommitStore, ServiceError> {
    document_store(workspace)?.ok_or_else(|| {
        ServiceError::refused(ReasonCode::CommitNoStore, "this tree has no document store".to_owned())
    })
}

/// Lists the merges of the document store that lost something, or would.
pub fn document_merges(workspace: &Workspace) -> Result<DocumentMerges, ServiceError> {
    let Some(store) = document_store(workspace)? else { return Ok(DocumentMerges::default()) };
    let newest = log(&store, &LogRequest { limit: MAX_LOOKED_AT_COMMITS, ..LogRequest::default() })?;
    let merges = newest.commits.iter().filter(|entry| entry.commit.kind == CommitKind::Merge);
    let merges: Vec<_> = merges.map(|entry| entry.commit.id).collect();
    let lost = |found: Vec<AnalyzedMerge>| {
        let answers = found.iter().map(AnalyzedMerge::to_answer);
        answers.filter(|answer| !answer.conflicts.is_empty()).collect()
    };
    Ok(DocumentMerges {
        pending: lost(merge::analyze_heads(&store)?),
        written: lost(merge::analyze_all(&store, &merges)?),
    })
}

/// Returns what merging the heads of the document store would lose, and the digest of what is shown of it.
pub fn pending_merges(workspace: &Workspace) -> Result<(Vec<MergeAnalysisAnswer>, Digest), ServiceError> {
    let Some(store) = document_store(workspace)? else { return Ok((Vec::new(), Digest::of(b""))) };
    let pending: Vec<MergeAnalysisAnswer> =
        merge::analyze_heads(&store)?.iter().map(AnalyzedMerge::to_answer).collect();
    let merges: Vec<String> = pending.iter().map(|answer| answer.merge.to_string()).collect();
    Ok((pending, Digest::of(&json::canonical_of(&merges))))
}

/// Merges the heads of the document store, if they are still those that the person was shown. The merges are the same
/// everywhere; what they lose is decided place by place afterwards, on record.
pub fn merge_heads(workspace: &Workspace, shown: &Digest) -> Result<Vec<MergeAnalysisAnswer>, ServiceError> {
    let (pending, now) = pending_merges(workspace)?;
    if pending.is_empty() || now != *shown {
        return Err(too_late("the document store"));
    }
    let store = required_store(workspace)?;
    let written = merge::analyze_all(&store, &write::reduce(&store)?)?;
    Ok(written.iter().map(AnalyzedMerge::to_answer).collect())
}

/// Analyzes one written merge of the document store.
pub fn document_merge(workspace: &Workspace, name: &str) -> Result<MergeAnalysisAnswer, ServiceError> {
    let which = MergeSelector::Written(name.to_owned());
    Ok(merge::analyze(&required_store(workspace)?, &which)?.to_answer())
}

fn reconcile_request(request: &ConflictRequest, dry_run: bool) -> ReconcileRequest {
    let choose = ConflictChoice::from(request.choose);
    ReconcileRequest {
        merge: request.merge.clone(),
        resolutions: vec![GivenResolution::Named { conflict: request.conflict.clone(), choose }],
        dry_run,
        by: CommitMetadata { author: Some(request.by.clone()), label: None },
        why: request.why.clone(),
        ..ReconcileRequest::default()
    }
}

/// Returns what a decision about a conflict would write, and writes nothing.
pub fn preview_conflict(
    workspace: &Workspace,
    request: &ConflictRequest,
) -> Result<MergeReconcileAnswer, ServiceError> {
    let store = required_store(workspace)?;
    Ok(merge::reconcile(&store, &reconcile_request(request, true))?.to_answer())
}

/// Carries out a decision about a conflict, if it is still what the person was shown.
pub fn decide_conflict(
    workspace: &Workspace,
    request: &ConflictRequest,
) -> Result<MergeReconcileAnswer, ServiceError> {
    check_why(&request.why)?;
    let found = document_merge(workspace, &request.merge)?;
    let conflict = found.conflicts.iter().find(|report| report.conflict.id == request.conflict);
    let conflict = conflict.ok_or_else(|| too_late("the merge"))?;
    if conflict_digest(&found, conflict) != request.shown {
        return Err(too_late("the conflict"));
    }
    let store = required_store(workspace)?;
    Ok(merge::reconcile(&store, &reconcile_request(request, false))?.to_answer())
}
