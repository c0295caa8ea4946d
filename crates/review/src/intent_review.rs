//! The review of an intent: its receipt if it is finished, else its part of the uncommitted work.

use crate::file_sides::{FileSides, commit_content, present_content};
use crate::run_review::{cited_items, path_row};
use crate::worktree_review;
use probity_api::review::{
    ChangeReview, ClaimFact, FindingChange, FindingNote, GateFacts, PathFate, ReviewAmendment, ReviewClause,
    ReviewPath, ReviewReason, ReviewState, ReviewedKind,
};
use probity_changes::registry::IntentService;
use probity_changes::registry::view::format_time;
use probity_core::Digest;
use probity_evidence::{BundleCheck, ChangeKind, CheckStatus};
use probity_intents::registry::{Intent, IntentAmendment, RegistryChange};
use probity_intents::{IntentStatus, Ownership, ScopeEntry, ScopeEntrySet};
use probity_paths::RepoPath;
use probity_quality::contract::receipts::{ReceiptStore, StoredReceipt};
use probity_runner::recorded_contents::SideContent;
use probity_workspace::{ServiceError, Workspace, git};
use serde::Deserialize;
use std::collections::BTreeSet;

/// The members of a receipt that a reviewer sees. Everything in it is covered by its digest.
#[derive(Debug, Deserialize)]
struct ReceiptFacts {
    #[serde(default)]
    delta: Vec<RecordedPath>,
    outcome: OutcomeFacts,
    #[serde(default)]
    gates: Vec<ReceiptGate>,
    claims: ReceiptClaims,
    #[serde(default)]
    new_findings: Vec<ReceiptFinding>,
    health: ReceiptHealth,
    enforcement: String,
}

/// A path of a receipt with the digests of both contents.
#[derive(Debug, Deserialize)]
pub(crate) struct RecordedPath {
    pub(crate) path: RepoPath,
    before: Option<Digest>,
    after: Option<Digest>,
}

#[derive(Debug, Deserialize)]
struct OutcomeFacts {
    status: String,
    #[serde(default)]
    reason: Option<String>,
}

#[derive(Debug, Deserialize)]
struct ReceiptGate {
    id: String,
    result: String,
    #[serde(default)]
    required: bool,
    #[serde(default)]
    detail: String,
}

#[derive(Debug, Deserialize)]
struct ReceiptClaims {
    checked: Vec<ReceiptClaim>,
}

#[derive(Debug, Deserialize)]
struct ReceiptClaim {
    claim: String,
    sentence: Option<String>,
    verdict: String,
    #[serde(default)]
    objections: Vec<String>,
    #[serde(default)]
    reservations: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct ReceiptFinding {
    path: Option<RepoPath>,
    line: Option<u32>,
    severity: String,
    message: String,
}

#[derive(Debug, Deserialize)]
struct ReceiptHealth {
    score: Option<i64>,
    patch_health_delta: Option<i64>,
}

/// Finds the receipt of an intent through the event that released it.
fn receipt_of(
    service: &IntentService,
    store: &ReceiptStore,
    intent: &Intent,
) -> Result<Option<StoredReceipt>, ServiceError> {
    if !matches!(intent.status, IntentStatus::Released | IntentStatus::Landing) {
        return Ok(None);
    }
    for seq in intent.history.iter().rev() {
        if let Some(RegistryChange::Released { receipt, .. }) = service.event(*seq)?.map(|event| event.change)
        {
            return receipt.map(|digest| store.by_digest(&digest)).transpose().map(Option::flatten);
        }
    }
    Ok(None)
}

fn facts_of(receipt: &StoredReceipt) -> Option<ReceiptFacts> {
    ReceiptFacts::deserialize(&receipt.document).ok()
}

/// Returns the paths that the receipt of an intent names; `None` if it has none yet.
pub(crate) fn recorded_delta(
    store: &ReceiptStore,
    workspace: &Workspace,
    id: &str,
) -> Result<Option<Vec<RecordedPath>>, ServiceError> {
    let service = IntentService::open(workspace)?;
    let receipt = receipt_of(&service, store, service.resolve(id)?)?;
    Ok(receipt.and_then(|receipt| facts_of(&receipt)).map(|facts| facts.delta))
}

/// Returns the commit that an intent began from.
pub(crate) fn base_commit(workspace: &Workspace, id: &str) -> Result<Option<String>, ServiceError> {
    Ok(IntentService::open(workspace)?.resolve(id)?.base.head.clone())
}

/// Returns both contents of a path, each only if it has the recorded digest.
pub(crate) fn recorded_sides(workspace: &Workspace, base: Option<&str>, entry: &RecordedPath) -> FileSides {
    let in_commit = |commit: Option<&str>| {
        commit.map_or(SideContent::Lost, |commit| {
            commit_content(workspace, commit, &entry.path).unwrap_or(SideContent::Lost)
        })
    };
    let side = |digest: Option<Digest>, places: &[&dyn Fn() -> SideContent]| {
        let Some(digest) = digest else { return SideContent::Absent };
        let is_it =
            |found: &SideContent| matches!(found, SideContent::Content(bytes) if Digest::of(bytes) == digest);
        let found = places.iter().map(|place| place()).find(is_it);
        let kept = || workspace.state.before_images().get(&digest).ok().flatten().map(SideContent::Content);
        found.or_else(kept).unwrap_or(SideContent::Lost)
    };
    let now = || present_content(workspace, &entry.path);
    let before = side(entry.before, &[&|| in_commit(base), &now]);
    let head = git::head(workspace).ok().flatten();
    let after = side(entry.after, &[&now, &|| in_commit(head.as_deref())]);
    FileSides { before, after }
}

fn clause(entry: &ScopeEntry, excludes: bool) -> ReviewClause {
    let mark = if excludes { "!" } else { "" };
    ReviewClause { pattern: format!("{mark}{entry}"), excludes, amendment: None, n_decided: 0, owner: None }
}

/// Returns the scope of an intent, clause by clause, with the entries behind each.
fn clauses_of(intent: &Intent) -> (Vec<ReviewClause>, Vec<ScopeEntry>) {
    let added_by = |entry: &ScopeEntry| {
        let adds = |set: &ScopeEntrySet| set.contains(entry);
        intent.amendments.iter().position(|it| adds(&it.allowed_files) || adds(&it.allowed_related))
    };
    let entries: Vec<ScopeEntry> = intent.scope.entries().cloned().collect();
    let mut clauses: Vec<ReviewClause> = entries
        .iter()
        .map(|entry| ReviewClause { amendment: added_by(entry), ..clause(entry, false) })
        .collect();
    clauses.extend(intent.scope.forbidden.iter().map(|entry| clause(entry, true)));
    (clauses, entries)
}

/// Reviews an intent.
pub(crate) fn intent(workspace: &Workspace, id: &str) -> Result<ChangeReview, ServiceError> {
    let service = IntentService::open(workspace)?;
    let intent = service.resolve(id)?;
    let receipt = receipt_of(&service, &ReceiptStore::open(workspace), intent)?;
    let facts = receipt.as_ref().and_then(facts_of);
    let (mut clauses, entries) = clauses_of(intent);
    let mut notes = Vec::new();
    let mut paths = match &facts {
        Some(facts) => recorded_paths(workspace, intent, &facts.delta),
        None if intent.status.is_closed() => {
            notes.push("it was closed without a receipt: what it changed is not known".to_owned());
            Vec::new()
        }
        None => {
            let held = |path: &RepoPath| intent.scope.holds(path.as_bytes()).is_some();
            worktree_review::dirty_rows(workspace, &held)?
        }
    };
    for row in &mut paths {
        let by = entries.iter().position(|entry| entry.covers(row.path.as_bytes()));
        row.clause = by;
        row.fate = if by.is_some() && !intent.scope.forbids(row.path.as_bytes()) {
            PathFate::Inside
        } else {
            PathFate::Outside
        };
        if let Some(clause) = by.and_then(|by| clauses.get_mut(by)) {
            clause.n_decided += 1;
        }
    }
    let is_accepted = receipt.as_ref().is_none_or(|receipt| receipt.head.status().is_accepted());
    let reader = service.owner_of(&worktree_review::reader())?;
    let is_left = intent.ownership(&reader, &service.command_context()?) == Ownership::Recoverable;
    let state = match intent.status {
        IntentStatus::Active if is_left => ReviewState::Recoverable,
        IntentStatus::Active => ReviewState::Editing,
        IntentStatus::Queued => ReviewState::Queued,
        IntentStatus::Released | IntentStatus::Landing if is_accepted => ReviewState::Landed,
        IntentStatus::Released | IntentStatus::Landing => ReviewState::Failed,
        IntentStatus::Cleared | IntentStatus::Expired => ReviewState::Undone,
    };
    let health = facts.as_ref().and_then(|facts| {
        let (score, delta) = (facts.health.score?, facts.health.patch_health_delta?);
        Some((score - delta, score))
    });
    Ok(ChangeReview {
        agent: Some(intent.owner.label.clone()),
        machine: Some(intent.owner.host.clone()),
        began_at: Some(format_time(intent.declared_at)),
        ended_at: intent.closed_at.map(format_time),
        base: intent.base.head.clone(),
        state,
        reasons: reasons_of(facts.as_ref(), state),
        enforcement: facts.as_ref().map(|facts| facts.enforcement.clone()),
        clauses,
        paths,
        amendments: amendments_of(intent),
        gates: facts.as_ref().map(gates_of).unwrap_or_default(),
        claims: facts.as_ref().map(claims_of).unwrap_or_default(),
        findings: facts.as_ref().map(findings_of).unwrap_or_default(),
        findings_known: facts.as_ref().is_some_and(|facts| facts.health.score.is_some()),
        health,
        checks: receipt.as_ref().map(receipt_checks).unwrap_or_default(),
        decisions_cited: cited_items(workspace, &[intent.id.as_str()]),
        notes,
        ..ChangeReview::unjudged(
            intent.id.as_str().to_owned(),
            ReviewedKind::Intent,
            intent.description.clone(),
        )
    })
}

fn recorded_paths(workspace: &Workspace, intent: &Intent, delta: &[RecordedPath]) -> Vec<ReviewPath> {
    let mut rows = Vec::new();
    for entry in delta {
        let change = match (&entry.before, &entry.after) {
            (None, _) => ChangeKind::Added,
            (_, None) => ChangeKind::Deleted,
            _ => ChangeKind::Modified,
        };
        let sides = recorded_sides(workspace, intent.base.head.as_deref(), entry);
        let mut row = path_row(entry.path.clone(), change, PathFate::Inside);
        row.in_tree = Some(present_content(workspace, &entry.path) == sides.after);
        sides.describe(&mut row);
        rows.push(row);
    }
    rows
}

/// Counts the paths that the change of a receipt touched.
pub(crate) fn n_recorded_paths(receipt: &StoredReceipt) -> usize {
    receipt.document["delta"].as_array().map_or(0, Vec::len)
}

/// Returns the contents that the change of a receipt left, with their paths.
pub(crate) fn left_contents(receipt: &StoredReceipt) -> Vec<(RepoPath, Digest)> {
    let delta = facts_of(receipt).map(|facts| facts.delta).unwrap_or_default();
    delta.into_iter().filter_map(|entry| Some((entry.path, entry.after?))).collect()
}

/// Returns whether the change of a receipt left this content at a path.
pub(crate) fn left_content(receipt: &StoredReceipt, path: &RepoPath, content: &Digest) -> bool {
    let facts = facts_of(receipt);
    facts.is_some_and(|facts| {
        facts.delta.iter().any(|entry| entry.path == *path && entry.after == Some(*content))
    })
}

/// Returns the gates that a receipt names.
pub(crate) fn receipt_gates(receipt: &StoredReceipt) -> Vec<GateFacts> {
    facts_of(receipt).as_ref().map(gates_of).unwrap_or_default()
}

fn reasons_of(facts: Option<&ReceiptFacts>, state: ReviewState) -> Vec<ReviewReason> {
    let Some(facts) = facts.filter(|_| state == ReviewState::Failed) else { return Vec::new() };
    let code = facts.outcome.reason.clone().unwrap_or_else(|| facts.outcome.status.clone());
    let meaning = format!("the change finished as {}", facts.outcome.status);
    vec![ReviewReason { code, meaning, next_step: "read the receipt: `probity receipt show`".into() }]
}

fn amendments_of(intent: &Intent) -> Vec<ReviewAmendment> {
    intent.amendments.iter().map(review_amendment).collect()
}

pub(crate) fn review_amendment(amendment: &IntentAmendment) -> ReviewAmendment {
    let added: BTreeSet<String> =
        amendment.allowed_files.iter().chain(&amendment.allowed_related).map(ToString::to_string).collect();
    ReviewAmendment {
        by: amendment.by.label.clone(),
        why: amendment.why.clone(),
        at: format_time(amendment.at),
        added: added.into_iter().collect(),
    }
}

fn gates_of(facts: &ReceiptFacts) -> Vec<GateFacts> {
    let one = |gate: &ReceiptGate| GateFacts {
        id: gate.id.clone(),
        status: gate.result.clone(),
        passed: gate.result == "passed",
        required: gate.required,
        duration_ms: None,
        exit_code: None,
        logs: Vec::new(),
        detail: gate.detail.clone(),
    };
    facts.gates.iter().map(one).collect()
}

fn claims_of(facts: &ReceiptFacts) -> Vec<ClaimFact> {
    let one = |claim: &ReceiptClaim| ClaimFact {
        sentence: claim.sentence.clone().unwrap_or_else(|| claim.claim.clone()),
        claim: claim.claim.clone(),
        verdict: claim.verdict.clone(),
        holds: match claim.verdict.as_str() {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        },
        facts: claim.objections.iter().chain(&claim.reservations).cloned().collect(),
    };
    facts.claims.checked.iter().map(one).collect()
}

fn findings_of(facts: &ReceiptFacts) -> Vec<FindingNote> {
    let one = |finding: &ReceiptFinding| {
        Some(FindingNote {
            change: FindingChange::New,
            path: finding.path.clone()?,
            line: finding.line,
            severity: finding.severity.clone(),
            message: finding.message.clone(),
        })
    };
    facts.new_findings.iter().filter_map(one).collect()
}

fn receipt_checks(receipt: &StoredReceipt) -> Vec<BundleCheck> {
    let passed = |name, detail: String| BundleCheck {
        name,
        status: CheckStatus::Passed,
        codes: BTreeSet::new(),
        detail,
    };
    // Reading a receipt checks its digest, and it was found through the digest that the log lists.
    vec![
        passed("receipt", format!("receipt {} has the digest {}", receipt.number, receipt.digest)),
        passed("log", "the log of the repository lists this digest".into()),
    ]
}
