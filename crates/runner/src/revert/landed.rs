//! Undoes a run whose changes landed: everything that it landed goes back, from what the landing took out of the tree.
//! Unlike the revert of a run in the tree itself, this is all or nothing, and concerns what was in scope.

use super::{ref_notes, seal_maintenance_run, staged, verdict};
use crate::attest::MaintenanceOperation;
use crate::held::entry_state;
use crate::landing::{LandingConflict, LandingOutcome, LandingReversal};
use crate::{bundles, recover, run};
use probity_api::govern::revert::{PathRevert, RevertAction, RevertAnswer};
use probity_api::govern::run::RefMovement;
use probity_changes::claims;
use probity_core::{Digest, ReasonCode};
use probity_evidence::{LandingState, Seal, StoredManifest};
use probity_paths::RepoPath;
use probity_snapshot::{Snapshot, TreeChange};
use probity_workspace::observe::WorkspaceObserver;
use probity_workspace::refs::recorded_movements;
use probity_workspace::{ServiceError, Workspace};
use std::collections::{BTreeMap, BTreeSet};

/// A landing of a run, and what undoes it.
pub(super) struct UndoableLanding {
    /// The bundle that the revert names: that of the run, or that of the landing of a part.
    run_id: String,
    reversal: LandingReversal,
}

/// Returns the landings of a run, the newest first. `whole` undoes the landing of all that was left of its changes:
/// parts may have landed before it.
pub(super) fn landings(
    workspace: &Workspace,
    run_id: &str,
    whole: Option<LandingReversal>,
) -> Result<Vec<UndoableLanding>, ServiceError> {
    let mut landings: Vec<UndoableLanding> =
        whole.into_iter().map(|reversal| UndoableLanding { run_id: run_id.to_owned(), reversal }).collect();
    let parts = landed_parts(workspace, run_id)?;
    let has_parts = !parts.is_empty();
    for part in parts {
        // That of the whole is kept under the name of the run, and is there already.
        if let Some(reversal) = LandingReversal::find(workspace, &part)? {
            landings.push(UndoableLanding { run_id: part, reversal });
        }
    }
    if landings.is_empty() && has_parts {
        let detail = format!("what run {run_id} landed is no longer kept, so it cannot be undone");
        return Err(ServiceError::refused(ReasonCode::RevertNoBeforeImage, detail));
    }
    Ok(landings)
}

/// Returns the bundles of landings of a run that were not undone, the newest first; if all were, the newest.
fn landed_parts(workspace: &Workspace, run_id: &str) -> Result<Vec<String>, ServiceError> {
    let chained = bundles::chained(workspace)?;
    let reverts = bundles::RevertIndex::of(&chained);
    // A landing names the judgment that it landed: that of the run, or of an amendment.
    let mut judgments = BTreeSet::new();
    let mut next = Some(bundles::manifest(workspace, run_id)?);
    while let Some(stored) = next {
        judgments.insert(stored.run_hash);
        let from = stored.manifest.details.amended_from;
        next = from.and_then(|from| chained.iter().find(|stored| stored.run_hash == from).cloned());
    }
    let is_part = |stored: &&StoredManifest| {
        let details = &stored.manifest.details;
        let has_landed = details.landing.as_ref().is_some_and(|it| it.state == LandingState::Landed);
        has_landed && details.lands.is_some_and(|lands| judgments.contains(&lands))
    };
    let mut parts: Vec<&StoredManifest> = chained.iter().filter(is_part).collect();
    parts.reverse();
    let newest = parts.first().copied();
    parts.retain(|part| reverts.reverted_by(part).is_none());
    let meant = if parts.is_empty() { newest.into_iter().collect() } else { parts };
    Ok(meant.into_iter().map(|part| part.manifest.run_id.clone()).collect())
}

/// Undoes the landings of the run `run_id`, each of them whole or not at all, and ends at one that is refused.
pub(super) fn revert_landings(
    workspace: &Workspace,
    run_id: &str,
    landings: Vec<UndoableLanding>,
    only: &[RepoPath],
    dry_run: bool,
) -> Result<RevertAnswer, ServiceError> {
    let has_path = |landing: &UndoableLanding, path: &RepoPath| {
        landing.reversal.changes.iter().any(|change| change.path == *path)
    };
    if let Some(path) = only.iter().find(|path| !landings.iter().any(|landing| has_path(landing, path))) {
        let detail = format!("run {run_id} did not land `{path}`");
        return Err(ServiceError::refused(ReasonCode::PathInvalid, detail));
    }
    let mut answer: Option<RevertAnswer> = None;
    for landing in landings {
        let meant: Vec<RepoPath> = only.iter().filter(|path| has_path(&landing, path)).cloned().collect();
        if meant.is_empty() && !only.is_empty() {
            continue;
        }
        let UndoableLanding { run_id: name, reversal } = landing;
        let bundle = bundles::read_sound_bundle(workspace, &name)?;
        let undone =
            LandedRun { run_id: &name, bundle, reversal, only: &meant, dry_run }.revert(workspace)?;
        let is_refused = undone.n_with(RevertAction::Refused) > 0;
        answer = Some(match answer {
            None => RevertAnswer { run_id: run_id.to_owned(), ..undone },
            Some(mut whole) => {
                whole.paths.extend(undone.paths);
                whole.refs.extend(undone.refs);
                whole.evidence_dir = undone.evidence_dir.or(whole.evidence_dir);
                whole.staged = staged::find(workspace, &[], &whole.paths);
                whole
            }
        });
        if is_refused {
            break;
        }
    }
    // Every path is one of a landing, and there is at least one.
    answer.ok_or_else(|| {
        let detail = format!("run {run_id} landed nothing");
        ServiceError::refused(ReasonCode::RevertNoBeforeImage, detail)
    })
}

/// Returns the references that moved in the repository when the run landed: the branches whose commits were imported.
/// Others moved in the view alone.
fn imported_movements(workspace: &Workspace, run_hash: Digest) -> Result<Vec<RefMovement>, ServiceError> {
    let is_landing = |stored: &&StoredManifest| {
        let details = &stored.manifest.details;
        let has_landed = details.landing.as_ref().is_some_and(|it| it.state == LandingState::Landed);
        has_landed && details.lands == Some(run_hash)
    };
    let chained = bundles::chained(workspace)?;
    let landing = chained.iter().rfind(is_landing);
    Ok(landing.map(|stored| recorded_movements(&stored.manifest.details.refs)).unwrap_or_default())
}

/// A run that landed, and what is to be undone of it.
struct LandedRun<'a> {
    run_id: &'a str,
    bundle: bundles::SoundBundle,
    reversal: LandingReversal,
    /// Only these paths, all of which landed; all if empty.
    only: &'a [RepoPath],
    dry_run: bool,
}

impl LandedRun<'_> {
    fn revert(mut self, workspace: &Workspace) -> Result<RevertAnswer, ServiceError> {
        let seal = bundles::seal(&self.bundle.files, self.run_id)?;
        let _lock = run::take_tree(workspace, &format!("reverting run {}", self.run_id))?;
        recover::close_interrupted(workspace, true)?;
        let observer = WorkspaceObserver::new(workspace);
        let now = observer.content(None)?;
        let is_meant = |change: &&TreeChange| self.only.is_empty() || self.only.contains(&change.path);
        let meant: Vec<TreeChange> = self.reversal.changes.iter().filter(is_meant).cloned().collect();
        let pending: Vec<RepoPath> = meant
            .iter()
            .filter(|change| entry_state(&now, &change.path) != change.after)
            .map(|change| change.path.clone())
            .collect();
        // A caller who names a path has decided about it; otherwise paths that someone works on are left alone (law 5).
        let holders =
            if self.only.is_empty() { claims::path_holders(workspace, &pending)? } else { BTreeMap::new() };
        let held = |path: &RepoPath| {
            let detail = holders.get(path)?.clone();
            Some((path.clone(), (ReasonCode::RevertHeld, detail)))
        };
        let mut refused: BTreeMap<RepoPath, (ReasonCode, String)> = pending.iter().filter_map(held).collect();
        let changed = |change: &&TreeChange| {
            pending.contains(&change.path) && entry_state(&now, &change.path) != change.before
        };
        for change in meant.iter().filter(changed) {
            let why = (ReasonCode::RevertChangedSince, "it is not what the run landed".to_owned());
            refused.entry(change.path.clone()).or_insert(why);
        }
        let evidence_dir = if self.dry_run || pending.is_empty() {
            None
        } else {
            Some(self.undo(workspace, &observer, &seal, &now, &pending, &mut refused)?)
        };
        let paths = meant.iter().map(|change| describe(change, &pending, &refused)).collect::<Vec<_>>();
        let staged = staged::find(workspace, &[], &paths);
        let undone: BTreeSet<RepoPath> = meant.iter().map(|change| change.path.clone()).collect();
        let imported = imported_movements(workspace, self.bundle.stored.run_hash)?;
        Ok(RevertAnswer {
            root: workspace.root.clone().into(),
            run_id: self.run_id.to_owned(),
            dry_run: self.dry_run,
            landed: true,
            paths,
            kept: Vec::new(),
            left: Vec::new(),
            refs: ref_notes::notes(workspace, &imported, &undone),
            staged,
            evidence_dir,
        })
    }

    /// Exchanges the entries, unless a path is refused, and leaves evidence.
    fn undo(
        &mut self,
        workspace: &Workspace,
        observer: &WorkspaceObserver<'_>,
        seal: &Seal,
        now: &Snapshot,
        pending: &[RepoPath],
        refused: &mut BTreeMap<RepoPath, (ReasonCode, String)>,
    ) -> Result<probity_api::SystemPath, ServiceError> {
        let deed = seal_maintenance_run(workspace, seal, pending, now)?;
        if refused.is_empty() {
            let outcome = self.reversal.land(workspace, deed.run_id(), now, pending)?;
            if let LandingOutcome::Conflict { conflicts } = outcome {
                let why = |conflict: LandingConflict| {
                    (conflict.path, (ReasonCode::RevertChangedSince, conflict.detail))
                };
                refused.extend(conflicts.into_iter().map(why));
            }
        }
        let after = observer.content(Some(now))?;
        let meant = self.reversal.changes.iter().filter(|change| pending.contains(&change.path));
        let undone: Vec<PathRevert> = meant.map(|change| describe(change, pending, refused)).collect();
        let verdict = verdict(seal, [now, &after], &undone)?;
        let did = MaintenanceOperation::Revert(self.bundle.stored.run_hash);
        Ok(deed.conclude(workspace, did, [now, &after], &verdict)?.dir.into())
    }
}

fn describe(
    change: &TreeChange,
    pending: &[RepoPath],
    refused: &BTreeMap<RepoPath, (ReasonCode, String)>,
) -> PathRevert {
    let path = change.path.clone();
    let restored = if change.after.is_some() { RevertAction::Restored } else { RevertAction::Removed };
    let (action, reason, detail) = if let Some((reason, detail)) = refused.get(&path) {
        (RevertAction::Refused, Some(*reason), detail.clone())
    } else if !pending.contains(&path) {
        (RevertAction::AlreadyUndone, None, String::new())
    } else if refused.is_empty() {
        (restored, None, String::new())
    } else {
        let detail = "it was left, because other paths of the run cannot be undone".to_owned();
        (RevertAction::Refused, Some(ReasonCode::RevertChangedSince), detail)
    };
    PathRevert { path, action, reason, detail }
}
