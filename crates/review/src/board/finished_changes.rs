//! The changes that ended.

use super::lanes::{empty_lane, run_title};
use crate::run_review::{agent_name, run_state, why_not_passed};
use probity_api::review::{BoardLane, LaneState, ReviewState, ReviewedKind};
use probity_changes::registry::IntentService;
use probity_changes::registry::view::format_time;
use probity_core::Digest;
use probity_evidence::StoredManifest;
use probity_intents::IntentStatus;
use probity_intents::registry::Intent;
use probity_quality::contract::receipts::ReceiptStore;
use probity_runner::bundles;
use probity_workspace::{ServiceError, Workspace};
use std::collections::{BTreeMap, BTreeSet};

/// Returns the changes that ended, newest first: runs by the log, and closed intents.
pub fn finished_changes(workspace: &Workspace, limit: usize) -> Result<Vec<BoardLane>, ServiceError> {
    let mut lanes = ended_runs(workspace, limit)?;
    lanes.extend(closed_intents(workspace, limit)?);
    lanes.sort_by(|one, other| other.since.cmp(&one.since));
    lanes.truncate(limit);
    Ok(lanes)
}

fn ended_runs(workspace: &Workspace, limit: usize) -> Result<Vec<BoardLane>, ServiceError> {
    let chained = bundles::chained(workspace)?;
    let held: BTreeSet<String> = workspace.state.layers()?.into_iter().collect();
    let is_run = |details: &probity_evidence::ManifestDetails| {
        details.lands.is_none()
            && details.reverts.is_none()
            && details.pruned.is_none()
            && details.amended_from.is_none()
    };
    let judged = last_judgments(&chained);
    let runs = chained.iter().rev().filter(|stored| is_run(&stored.manifest.details)).take(limit);
    let lane = |first: &StoredManifest| {
        let stored = judged.get(&first.run_hash).copied().unwrap_or(first);
        let manifest = &stored.manifest;
        let run_id = &first.manifest.run_id;
        let state = match run_state(stored, held.contains(run_id), &chained) {
            ReviewState::Held => LaneState::Held,
            ReviewState::Ready => LaneState::Ready,
            ReviewState::Landed => LaneState::Landed,
            ReviewState::Undone => LaneState::Undone,
            _ => LaneState::Failed,
        };
        BoardLane {
            agent: agent_name(manifest),
            since: Some(manifest.created_at.clone()),
            n_paths: manifest.delta.as_ref().map_or(0, Vec::len),
            n_outside: manifest.untracked().map_or(0, |paths| paths.len()),
            reason: manifest.reasons().first().map(|reason| reason.as_str().to_owned()),
            reason_words: why_not_passed(manifest),
            ..empty_lane(run_id.clone(), ReviewedKind::Run, run_title(manifest, run_id), state)
        }
    };
    Ok(runs.map(lane).collect())
}

/// Returns, for the hash of the first bundle of each amended run, its last bundle: that one judges the run.
fn last_judgments(chained: &[StoredManifest]) -> BTreeMap<Digest, &StoredManifest> {
    let mut first_hash: BTreeMap<Digest, Digest> = BTreeMap::new();
    let mut judged: BTreeMap<Digest, &StoredManifest> = BTreeMap::new();
    for stored in chained {
        if let Some(from) = stored.manifest.details.amended_from {
            let first = first_hash.get(&from).copied().unwrap_or(from);
            first_hash.insert(stored.run_hash, first);
            judged.insert(first, stored);
        }
    }
    judged
}

fn closed_intents(workspace: &Workspace, limit: usize) -> Result<Vec<BoardLane>, ServiceError> {
    let service = IntentService::open(workspace)?;
    let mut closed: Vec<_> =
        service.registry().intents().filter(|intent| intent.status.is_closed()).collect();
    closed.sort_by_key(|intent| std::cmp::Reverse(intent.closed_at));
    let receipts = ReceiptStore::open(workspace);
    Ok(closed.into_iter().take(limit).map(|intent| closed_intent(intent, &receipts)).collect())
}

fn closed_intent(intent: &Intent, receipts: &ReceiptStore) -> BoardLane {
    let state = match intent.status {
        IntentStatus::Released => LaneState::Landed,
        _ => LaneState::Undone,
    };
    let title = intent.description.clone();
    let mut lane = empty_lane(intent.id.as_str().to_owned(), ReviewedKind::Intent, title, state);
    lane.agent = Some(intent.owner.label.clone());
    lane.machine = Some(intent.owner.host.clone());
    lane.since = intent.closed_at.map(format_time);
    lane.scope = intent.scope.allowed_files.iter().map(ToString::to_string).collect();
    let receipt = intent.receipt.and_then(|digest| receipts.by_digest(&digest).ok().flatten());
    if let Some(receipt) = receipt {
        lane.n_paths = crate::intent_review::n_recorded_paths(&receipt);
        if !receipt.head.status().is_accepted() {
            lane.state = LaneState::Failed;
        }
    }
    lane
}
