//! Which change left a content at a path, and what it knows of the path.
//!
//! An index tells which bundles and receipts may have; only those are read.

use crate::content_index::ContentIndex;
use crate::run_review::{ScopeFacts, agent_name, command_words, review_amendments, review_gates};
use probity_api::review::{GateFacts, ReviewAmendment};
use probity_changes::registry::IntentService;
use probity_core::{Digest, ReasonCode};
use probity_evidence::{BundleDocument as _, DELTA_FILE, DeltaFile, RecordedChange, StoredManifest, bundle};
use probity_intents::IntentStatus;
use probity_intents::registry::RegistryChange;
use probity_paths::RepoPath;
use probity_quality::contract::receipts::ReceiptStore;
use probity_runner::bundles;
use probity_storage::ports::StorageEngine as _;
use probity_storage::sqlite::SqliteStore;
use probity_workspace::transparency_log::{BUNDLE_LOG, RECEIPT_LOG};
use probity_workspace::{ServiceError, Workspace};

/// The change that left a content, and what let its path in.
#[derive(Debug, Clone)]
pub(crate) struct ContentChange {
    /// The run, or the intent.
    pub(crate) change: String,
    pub(crate) is_run: bool,
    pub(crate) title: String,
    pub(crate) agent: Option<String>,
    pub(crate) reasons: Vec<ReasonCode>,
    /// The clause that let the path in; `None` if none did.
    pub(crate) clause: Option<String>,
    pub(crate) amendment: Option<ReviewAmendment>,
    pub(crate) gates: Vec<GateFacts>,
    pub(crate) log_index: Option<u64>,
    /// The bundle with the current judgment, of a run.
    pub(crate) bundle: Option<String>,
}

/// Finds the last run that left this content at a path, else the last finished intent.
pub(crate) fn change_of_content(
    workspace: &Workspace,
    path: &RepoPath,
    content: &Digest,
) -> Result<Option<ContentChange>, ServiceError> {
    let Some(store) = workspace.state.existing_store()? else { return Ok(None) };
    let index = ContentIndex::open(workspace, &store)?;
    for (run_id, digest) in index.runs(path, content) {
        if let Some(stored) = run_that_left(workspace, run_id, path, content)
            && stored.run_hash == digest
        {
            let judged = current_judgment(workspace, &index, &stored);
            return Ok(Some(run_change(&store, &stored, judged.as_ref().unwrap_or(&stored), path)?));
        }
    }
    let receipts = index.receipts(path, content);
    if receipts.is_empty() { Ok(None) } else { intent_that_left(workspace, &store, path, content, &receipts) }
}

/// Reads the bundle of a run if it left this content.
fn run_that_left(
    workspace: &Workspace,
    run_id: &str,
    path: &RepoPath,
    content: &Digest,
) -> Option<StoredManifest> {
    let directory = workspace.state.evidence().join(run_id);
    let stored = StoredManifest::parse(&bundle::read_manifest(&directory).ok()??).ok()?;
    let details = &stored.manifest.details;
    // A landing, a revert and a new judgment are about what another run made.
    if details.lands.is_some() || details.reverts.is_some() || details.amended_from.is_some() {
        return None;
    }
    if !stored.manifest.delta.iter().flatten().any(|change| change.path == *path) {
        return None;
    }
    let files = bundles::read(&directory).ok()?;
    let delta = DeltaFile::parse(files.get(DELTA_FILE.as_bytes())?).ok()?;
    let after = |change: &RecordedChange| change.after.as_ref().and_then(|side| side.digest);
    let left = delta.changes.iter().any(|change| change.path == *path && after(change) == Some(*content));
    (left && stored.has_its_hash).then_some(stored)
}

/// Returns the judgment of the last amendment of a run, if it was amended.
fn current_judgment(
    workspace: &Workspace,
    index: &ContentIndex,
    first: &StoredManifest,
) -> Option<StoredManifest> {
    let mut judged: Option<StoredManifest> = None;
    loop {
        let run_hash = judged.as_ref().unwrap_or(first).run_hash;
        let Some((run_id, digest)) = index.amendment_of(&run_hash) else { return judged };
        let next = bundles::manifest(workspace, run_id).ok()?;
        // The index is a cache: only a bundle that says the same counts.
        let is_it = next.has_its_hash && next.run_hash == digest;
        if !is_it || next.manifest.details.amended_from != Some(run_hash) {
            return judged;
        }
        judged = Some(next);
    }
}

fn leaf_of(store: &SqliteStore, log: &str, name: &str) -> Result<Option<u64>, ServiceError> {
    match store.log(log).find(name)? {
        Some(seq) => Ok(store.leaf_number(log, seq)?),
        None => Ok(None),
    }
}

/// Describes the run that made a change as its last judgment has it.
fn run_change(
    store: &SqliteStore,
    first: &StoredManifest,
    judged: &StoredManifest,
    path: &RepoPath,
) -> Result<ContentChange, ServiceError> {
    let manifest = &judged.manifest;
    let mut scope = ScopeFacts::of(&manifest.plan.scope, &manifest.amendments);
    let (is_inside, decided) = scope.decide(path);
    let clause = decided.filter(|_| is_inside).and_then(|index| scope.clauses.get(index));
    let amendments = review_amendments(&manifest.amendments);
    Ok(ContentChange {
        change: first.manifest.run_id.clone(),
        is_run: true,
        title: command_words(manifest).unwrap_or_default(),
        agent: agent_name(manifest),
        reasons: manifest.reasons(),
        clause: clause.map(|clause| clause.pattern.clone()),
        amendment: clause.and_then(|clause| amendments.get(clause.amendment?).cloned()),
        gates: review_gates(manifest),
        log_index: leaf_of(store, BUNDLE_LOG, &manifest.run_id)?,
        bundle: Some(manifest.run_id.clone()),
    })
}

const fn is_finished(status: IntentStatus) -> bool {
    matches!(status, IntentStatus::Released | IntentStatus::Landing)
}

fn intent_that_left(
    workspace: &Workspace,
    store: &SqliteStore,
    path: &RepoPath,
    content: &Digest,
    candidates: &[Digest],
) -> Result<Option<ContentChange>, ServiceError> {
    let receipts = ReceiptStore::open(workspace);
    let service = IntentService::open(workspace)?;
    for digest in candidates {
        let Some(receipt) = receipts.by_digest(digest)? else { continue };
        let intent = receipt.head.intent_id().and_then(|id| service.resolve(id).ok());
        let Some(intent) = intent.filter(|intent| is_finished(intent.status)) else { continue };
        let Some(entry) = intent.scope.entries().find(|entry| entry.covers(path.as_bytes())) else {
            continue;
        };
        let released = intent.history.iter().rev().find_map(|seq| match service.event(*seq).ok()??.change {
            RegistryChange::Released { receipt, .. } => receipt,
            _ => None,
        });
        // The receipt counts only if it is the one that the registry names.
        if released != Some(*digest) || !crate::intent_review::left_content(&receipt, path, content) {
            continue;
        }
        let added = intent
            .amendments
            .iter()
            .find(|it| it.allowed_files.contains(entry) || it.allowed_related.contains(entry));
        return Ok(Some(ContentChange {
            change: intent.id.as_str().to_owned(),
            is_run: false,
            title: intent.description.clone(),
            agent: Some(intent.owner.label.clone()),
            reasons: Vec::new(),
            clause: Some(entry.to_string()),
            amendment: added.map(crate::intent_review::review_amendment),
            gates: crate::intent_review::receipt_gates(&receipt),
            log_index: leaf_of(store, RECEIPT_LOG, &receipt.number.to_string())?,
            bundle: None,
        }));
    }
    Ok(None)
}
