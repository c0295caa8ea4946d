//! `probity land`: brings held changes into the tree, all of them or a part, and leaves evidence of it.
//!
//! A part is judged as a whole of its own: its gates run on exactly what would land. All changes of a run that passed
//! need no gates again unless the tree below them has changed since they were judged.

use super::layer_writer::LayerContents;
use super::{HeldRun, entry_state, gate_view, rebase, share_tree};
use crate::attest::{
    self, BundleInputs, ChainHeadSource, ExecutionRecord, MaintenanceOperation, SealedRun, TreeRecord,
    WrittenBundle,
};
use crate::landing::{self, LandingConflict, LandingOutcome, LandingPlan, LayerView, layer_store};
use crate::recover;
use crate::recovered_landing::seal_contents;
use crate::run_verdict::RunVerdict;
use probity_api::govern::enforcement::LandingObstacle;
use probity_api::govern::land::LandAnswer;
use probity_api::govern::run::{FindingSeverity, RunFinding};
use probity_core::ReasonCode;
use probity_evidence::{GateStatus, GlobList, LandingRecord, LandingState, Seal, SecretKey};
use probity_paths::RepoPath;
use probity_snapshot::{Snapshot, TreeChange};
use probity_storage::{FileLock, durable};
use probity_workspace::gates::GateResult;
use probity_workspace::observe::WorkspaceObserver;
use probity_workspace::run_claims::SEAL_FILE;
use probity_workspace::selection::names;
use probity_workspace::{OpenRun, ServiceError, Workspace, signing};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

/// Which changes land.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LandSelection {
    All,
    /// Those that the sealed scope and its amendments cover.
    InScope,
    Only(Vec<RepoPath>),
}

#[derive(Debug, Clone)]
pub struct LandRequest<'a> {
    /// The run: its id, the beginning of it, or `last`.
    pub run: &'a str,
    pub selection: LandSelection,
    /// Whether to merge the changes with those that the tree has since the start of the run.
    pub rebase: bool,
}

/// Lands held changes.
pub fn land(workspace: &Workspace, request: &LandRequest<'_>) -> Result<LandAnswer, ServiceError> {
    recover::adopt_all(workspace)?;
    let _tree = share_tree(workspace)?;
    recover::close_interrupted(workspace, false)?;
    let held = HeldRun::find(workspace, request.run)?;
    let _layer = layer_store::lock_layer(workspace, &held.run_id, "land")?;
    let observer = WorkspaceObserver::new(workspace);
    let now = observer.content(None)?;
    let mut selected = select(&held, &request.selection)?;
    if request.selection == LandSelection::InScope {
        selected = not_landed_yet(&held, &now, selected)?;
    }
    let mut attempt = LandingAttempt::prepare(workspace, &observer, &held, now, selected, request)?;
    attempt.conflicts = attempt.merge_with_tree()?;
    if attempt.conflicts.is_empty() {
        attempt.judge_by_gates()?;
    }
    let state = attempt.land()?;
    attempt.conclude(state)
}

/// Returns the changes that are meant, and those that are left.
fn select(held: &HeldRun, selection: &LandSelection) -> Result<Vec<TreeChange>, ServiceError> {
    let manifest = &held.bundle.stored.manifest;
    let protected: BTreeSet<&RepoPath> =
        manifest.details.protected.iter().filter_map(|finding| finding.path.as_ref()).collect();
    match selection {
        LandSelection::All => {
            if let Some(reason) = manifest.reasons().first() {
                let detail = format!(
                    "run {} did not pass ({}), so its changes do not land as a whole",
                    held.run_id,
                    reason.meaning()
                );
                let id = &held.run_id;
                let step = if *reason == ReasonCode::ReconUntrackedDelta {
                    format!(
                        "land a part: `probity land {id} --in-scope`, or `--only PATH`; or widen the scope with `probity amend`"
                    )
                } else {
                    format!(
                        "`probity land {id} --in-scope` lands what is in scope once its gates pass; or `probity discard {id}`"
                    )
                };
                return Err(ServiceError::refused(*reason, detail).with_next_step(step));
            }
            Ok(held.changes.clone())
        }
        LandSelection::InScope => {
            let (scope, _) = held.scope()?;
            let is_inside =
                |change: &TreeChange| scope.contains(&change.path) && !protected.contains(&change.path);
            let (inside, outside): (Vec<_>, Vec<_>) = held.changes.iter().cloned().partition(is_inside);
            // Content that moved out of the scope would be lost if only its deletion landed.
            let moved: BTreeSet<_> = outside.iter().filter_map(|change| change.after?.digest).collect();
            let is_move = |change: &TreeChange| {
                let content =
                    change.before.filter(|_| change.after.is_none()).filter(|before| before.size > 0);
                content.and_then(|before| before.digest).is_some_and(|digest| moved.contains(&digest))
            };
            Ok(inside.into_iter().filter(|change| !is_move(change)).collect())
        }
        LandSelection::Only(paths) => {
            let is_meant = |path: &RepoPath| paths.iter().any(|only| path.is_covered_by(only.as_bytes()));
            if let Some(path) = protected.iter().find(|path| is_meant(path)) {
                let detail = format!("`{path}` is protected and does not land");
                return Err(ServiceError::refused(ReasonCode::ProtectedChanged, detail));
            }
            let has_change =
                |path: &RepoPath| held.changes.iter().any(|it| it.path.is_covered_by(path.as_bytes()));
            if let Some(path) = paths.iter().find(|path| !has_change(path)) {
                let detail = format!("run {} did not change `{path}`", held.run_id);
                return Err(ServiceError::refused(ReasonCode::PathInvalid, detail)
                    .with_next_step(format!("`probity diff {}` shows what it changed", held.run_id)));
            }
            Ok(held.changes.iter().filter(|change| is_meant(&change.path)).cloned().collect())
        }
    }
}

/// Returns whether a held run has changes in scope that `tree` does not have yet. Where that cannot be told, it has: a
/// landing then says what is wrong.
pub fn holds_part_in_scope(workspace: &Workspace, run_id: &str, tree: &Snapshot) -> bool {
    let waits = || {
        let held = HeldRun::find(workspace, run_id)?;
        let in_scope = select(&held, &LandSelection::InScope)?;
        Ok::<_, ServiceError>(in_scope.iter().any(|change| entry_state(tree, &change.path) != change.after))
    };
    waits().unwrap_or(true)
}

/// Returns the changes in scope that the tree does not have yet; refuses if there are none.
fn not_landed_yet(
    held: &HeldRun,
    now: &Snapshot,
    in_scope: Vec<TreeChange>,
) -> Result<Vec<TreeChange>, ServiceError> {
    let has_any = !in_scope.is_empty();
    let rest: Vec<TreeChange> =
        in_scope.into_iter().filter(|change| entry_state(now, &change.path) != change.after).collect();
    if !rest.is_empty() {
        return Ok(rest);
    }
    let id = &held.run_id;
    let detail = if has_any {
        format!("what run {id} holds in its scope is in the tree already")
    } else {
        format!("run {id} holds no change in its scope that could land without the others")
    };
    let step = format!(
        "`probity diff {id}` shows what is held; `probity amend {id} --add PATTERN --why '…'` widens the scope, \
         `probity discard {id}` drops what is held"
    );
    Err(ServiceError::refused(ReasonCode::ReconUntrackedDelta, detail).with_next_step(step))
}

/// A landing on its way to its evidence.
struct LandingAttempt<'a> {
    workspace: &'a Workspace,
    observer: &'a WorkspaceObserver<'a>,
    held: &'a HeldRun,
    request: &'a LandRequest<'a>,
    now: Snapshot,
    changes: Vec<TreeChange>,
    /// Changes of build outputs, which nobody judges; they land with the whole.
    exempt: Vec<TreeChange>,
    merged: BTreeMap<RepoPath, Vec<u8>>,
    conflicts: Vec<LandingConflict>,
    gate_results: Vec<GateResult>,
    seal: Seal,
    key: Option<SecretKey>,
    open: OpenRun,
    _lock: FileLock,
}

impl<'a> LandingAttempt<'a> {
    /// Seals the landing. From here on there is evidence.
    fn prepare(
        workspace: &'a Workspace,
        observer: &'a WorkspaceObserver<'a>,
        held: &'a HeldRun,
        now: Snapshot,
        changes: Vec<TreeChange>,
        request: &'a LandRequest<'a>,
    ) -> Result<Self, ServiceError> {
        let scope = match &request.selection {
            LandSelection::Only(_) => {
                let paths: Vec<RepoPath> = changes.iter().map(|change| change.path.clone()).collect();
                GlobList::new(probity_scopes::suggest(&paths, &names(&now).0))
            }
            LandSelection::All | LandSelection::InScope => held.scope()?.1,
        };
        let is_part = request.selection != LandSelection::All;
        let has_moved = held.bundle.stored.manifest.before_root != Some(now.root());
        let contents = seal_contents(workspace, held.seal.contents(), scope, &now, is_part || has_moved)?;
        let seal = Seal::new(contents);
        let run_id = &seal.contents().run_id;
        let open = workspace.state.open_view_run(run_id, &workspace.root);
        let lock = layer_store::lock_layer(workspace, run_id, "land")?;
        durable::write(&open.folder.join(SEAL_FILE), &seal.to_bytes())?;
        let exempt = if is_part { Vec::new() } else { exempt_changes(workspace, observer, held, &now)? };
        Ok(Self {
            workspace,
            observer,
            held,
            request,
            now,
            changes,
            exempt,
            merged: BTreeMap::new(),
            conflicts: Vec::new(),
            gate_results: Vec::new(),
            seal,
            key: signing::signing_key(workspace)?,
            open,
            _lock: lock,
        })
    }

    fn run_id(&self) -> &str {
        &self.seal.contents().run_id
    }

    fn is_whole(&self) -> bool {
        self.request.selection == LandSelection::All
    }

    fn layer_view(&self) -> Result<LayerView<'_>, ServiceError> {
        let upper = landing::upper_of_root(self.workspace, &self.held.layer);
        LayerView::open(&upper, &self.now)
            .map_err(ServiceError::system(format!("cannot open {}", upper.display())))
    }

    /// Merges the changes with the tree if that was asked for; returns what cannot be merged.
    fn merge_with_tree(&mut self) -> Result<Vec<LandingConflict>, ServiceError> {
        if !self.request.rebase {
            return Ok(Vec::new());
        }
        let layer = self.layer_view()?;
        let rebased = rebase::rebase(self.workspace, self.held, &layer, &self.now, &self.changes)?;
        drop(layer);
        self.changes = rebased.changes;
        self.merged = rebased.merged;
        Ok(rebased.conflicts)
    }

    /// Writes the changes into a layer of their own, unless the held layer has exactly them.
    fn write_layer(&self) -> Result<bool, ServiceError> {
        if self.is_whole() && self.merged.is_empty() {
            return Ok(false);
        }
        let layer = self.layer_view()?;
        let contents = LayerContents { source: &layer, tree: &self.now, merged: &self.merged };
        let upper = landing::upper_of_root(self.workspace, &self.workspace.state.layer(self.run_id()));
        contents.write(&upper, &self.changes)?;
        Ok(true)
    }

    /// Runs the sealed gates on what would land.
    fn judge_by_gates(&mut self) -> Result<(), ServiceError> {
        if self.seal.contents().plan.gates.is_empty() {
            return Ok(());
        }
        let layer_id = if self.write_layer()? { self.run_id().to_owned() } else { self.held.run_id.clone() };
        let changed = self.changes.iter().map(|change| change.path.clone()).collect();
        self.gate_results =
            gate_view::run_gates(self.workspace, &self.seal, &layer_id, &changed, &self.open.folder)?;
        Ok(())
    }

    /// Returns whether a required gate kept the changes from landing.
    fn is_stopped_by_gates(&self) -> bool {
        let passed = |id: &str| {
            self.gate_results.iter().any(|result| result.gate_id == id && result.status == GateStatus::Pass)
        };
        !self.seal.contents().plan.required_gates().all(passed)
    }

    fn land(&mut self) -> Result<LandingState, ServiceError> {
        if !self.conflicts.is_empty() {
            return Ok(LandingState::Conflict);
        }
        if self.is_stopped_by_gates() {
            return Ok(LandingState::Held);
        }
        // Merged contents are not in the held layer.
        let is_merged = !self.merged.is_empty();
        let own_layer = self.workspace.state.layer(self.run_id());
        if is_merged && !own_layer.exists() {
            self.write_layer()?;
        }
        let mut changes = self.changes.clone();
        changes.extend(self.exempt.iter().cloned());
        changes.sort_by(|one, other| one.path.cmp(&other.path));
        let is_held_layer = self.is_whole() && !is_merged;
        let plan = LandingPlan {
            run_id: if is_held_layer { &self.held.run_id } else { self.run_id() },
            layer: if is_merged { own_layer } else { self.held.layer.clone() },
            start: &self.now,
            changes: &changes,
        };
        match landing::land(self.workspace, &plan)? {
            LandingOutcome::Landed { .. } => Ok(LandingState::Landed),
            LandingOutcome::Conflict { conflicts } => {
                self.conflicts = conflicts;
                Ok(LandingState::Conflict)
            }
        }
    }

    /// Writes the evidence, and removes the layers that are not needed any more.
    fn conclude(self, state: LandingState) -> Result<LandAnswer, ServiceError> {
        let landed: BTreeSet<&RepoPath> = self.changes.iter().map(|change| &change.path).collect();
        let left: Vec<RepoPath> = match state {
            LandingState::Landed => {
                // Earlier landings may have brought other parts into the tree.
                let is_left = |change: &&TreeChange| {
                    !landed.contains(&change.path) && entry_state(&self.now, &change.path) != change.after
                };
                self.held.changes.iter().filter(is_left).map(|change| change.path.clone()).collect()
            }
            _ => self.held.changes.iter().map(|change| change.path.clone()).collect(),
        };
        let written = self.attest(state)?;
        if state == LandingState::Landed && left.is_empty() {
            layer_store::remove_layer(self.workspace, &self.held.run_id)?;
        }
        layer_store::remove_layer(self.workspace, self.run_id())?;
        let gate_results: Vec<_> = self.gate_results.iter().map(attest::gate_result).collect();
        let mut reasons: BTreeSet<ReasonCode> =
            self.conflicts.iter().map(|conflict| conflict.reason).collect();
        if state == LandingState::Held {
            reasons.insert(ReasonCode::GateFailed);
        }
        let obstacle = |conflict: &LandingConflict| LandingObstacle {
            path: conflict.path.clone(),
            code: conflict.reason,
            detail: conflict.detail.clone(),
        };
        Ok(LandAnswer {
            root: self.workspace.root.clone().into(),
            run_id: self.held.run_id.clone(),
            state,
            reason: reasons.first().copied(),
            reasons: reasons.into_iter().collect(),
            paths: self.changes.iter().map(|change| change.path.clone()).collect(),
            left,
            merged: self.merged.keys().cloned().collect(),
            conflicts: self.conflicts.iter().map(obstacle).collect(),
            gate_results,
            evidence_dir: Some(written.dir.into()),
        })
    }

    fn attest(&self, state: LandingState) -> Result<WrittenBundle, ServiceError> {
        let has_landed = state == LandingState::Landed;
        let after = if has_landed { self.observer.content(Some(&self.now))? } else { self.now.clone() };
        let paths: BTreeSet<&RepoPath> = self.changes.iter().map(|change| &change.path).collect();
        let delta: Vec<TreeChange> = probity_snapshot::delta(&self.now, &after)
            .into_iter()
            .filter(|change| paths.contains(&change.path))
            .collect();
        let finding = |conflict: &LandingConflict| RunFinding {
            reason: conflict.reason,
            path: Some(conflict.path.clone()),
            detail: conflict.detail.clone(),
            severity: FindingSeverity::Error,
        };
        let reasons: BTreeSet<ReasonCode> = self.conflicts.iter().map(|conflict| conflict.reason).collect();
        let manifest = &self.held.bundle.stored.manifest;
        let is_exempt =
            |change: &&TreeChange| has_landed && manifest.exempt_delta_paths.contains(&change.path);
        let verdict = RunVerdict {
            delta,
            exempt: self.exempt.iter().filter(is_exempt).map(|change| change.path.clone()).collect(),
            recognized: manifest.details.recognized_outputs.clone(),
            findings: self.conflicts.iter().map(finding).collect(),
            reasons: reasons.into_iter().collect(),
            ..RunVerdict::default()
        };
        let is_same = verdict.delta.is_empty() && verdict.exempt.is_empty();
        let after_root = if is_same { self.now.root() } else { after.root() };
        attest::attest(
            self.workspace,
            &BundleInputs {
                sealed: SealedRun {
                    seal: &self.seal,
                    key: self.key.as_ref(),
                    amendments: &[],
                    folder: &self.open.folder,
                },
                tree: TreeRecord {
                    verdict: &verdict,
                    before_root: Some(self.now.root()),
                    after_root: Some(after_root),
                    start: Some(&self.now),
                    ref_movements: &[],
                },
                execution: ExecutionRecord {
                    command: Some((&self.command(), Some(i32::from(!has_landed)))),
                    did: Some(MaintenanceOperation::Land(self.held.bundle.stored.run_hash)),
                    gate_results: &self.gate_results,
                    containment: &[],
                    landing: Some(LandingRecord {
                        state,
                        paths: self.changes.iter().map(|change| change.path.clone()).collect(),
                    }),
                },
                head: ChainHeadSource::OnDisk,
            },
        )
    }

    fn command(&self) -> Vec<OsString> {
        let mut command: Vec<OsString> = vec!["probity".into(), "land".into(), (&self.held.run_id).into()];
        match &self.request.selection {
            LandSelection::All => {}
            LandSelection::InScope => command.push("--in-scope".into()),
            LandSelection::Only(paths) => {
                command.push("--only".into());
                command.extend(paths.iter().map(|path| OsString::from_vec(path.as_bytes().to_vec())));
            }
        }
        command.extend(self.request.rebase.then(|| OsString::from("--rebase")));
        command
    }
}

/// Returns the changes of build outputs, as the layer has them against the tree as it is now.
fn exempt_changes(
    workspace: &Workspace,
    observer: &WorkspaceObserver<'_>,
    held: &HeldRun,
    now: &Snapshot,
) -> Result<Vec<TreeChange>, ServiceError> {
    let exempt: BTreeSet<&RepoPath> = held.bundle.stored.manifest.exempt_delta_paths.iter().collect();
    if exempt.is_empty() {
        return Ok(Vec::new());
    }
    let after = observer.layered(now, &landing::upper_of_root(workspace, &held.layer))?;
    let changes = probity_snapshot::delta(now, &after).into_iter();
    Ok(changes.filter(|change| exempt.contains(&change.path)).collect())
}
