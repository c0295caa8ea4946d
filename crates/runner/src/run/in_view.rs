//! Runs the command and the gates in a private view, and brings what passed into the tree.
//!
//! The command writes to a layer, the gates to one above it. Nothing in the tree changes before the verdict. The layer
//! of a run that did not pass stays, held, until a person decides (law 16).

use super::commit_import::import_commits;
use super::sealing::StartedRun;
use super::{
    ExecutionOutcome, RunEvent, RunRequest, changed_paths, is_seen, keep_memory_private, run_command,
};
use crate::attest::{
    self, BundleInputs, ChainHeadSource, ExecutionRecord, MaintenanceOperation, SealedRun, TreeRecord,
    WrittenBundle,
};
use crate::landing::{self, LandingOutcome, LandingPlan};
use crate::reserved_space;
use crate::run_verdict::{GateWrites, RunVerdict};
use crate::view::{GateView, MergedTree, RunView};
use probity_api::govern::enforcement::{ImportedBranch, LandingObstacle, LandingReport};
use probity_api::govern::run::{FindingSeverity, RefMovement, RunFinding};
use probity_changes::claims;
use probity_core::ReasonCode;
use probity_evidence::{GateStatus, GlobList, LandingRecord, LandingState, Seal, SealContents};
use probity_paths::RepoPath;
use probity_policy::CommitRule;
use probity_process::{JobOutcome, Supervisor};
use probity_snapshot::{Snapshot, TreeChange};
use probity_storage::{FileLock, durable};
use probity_workspace::amendment_journal::AmendmentJournal;
use probity_workspace::gates::{self, GatePlace, GateResult};
use probity_workspace::observe::{WorkspaceObservation, WorkspaceObserver};
use probity_workspace::outgoing::OutgoingChanges;
use probity_workspace::run_claims::SEAL_FILE;
use probity_workspace::{ServiceError, Workspace, clock};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// How often gates run if the tree changes under them.
const MAX_GATE_ROUNDS: usize = 3;

/// What is known of a run in a view alone.
pub(super) struct ViewOutcome {
    pub(super) notes: Vec<(ReasonCode, String)>,
    /// Whether the tree kept changing while the gates ran.
    base_moves: bool,
}

/// What the gates did.
#[derive(Default)]
struct GateRound {
    results: Vec<GateResult>,
    writes: Vec<GateWrites>,
    /// The tree with the layer of the gates.
    end: Option<Snapshot>,
}

/// Runs the command and the gates in views.
pub(super) fn execute(
    workspace: &Workspace,
    observer: &WorkspaceObserver<'_>,
    request: &RunRequest,
    begun: &StartedRun<'_>,
    view: &RunView<'_>,
    watch: &mut dyn FnMut(RunEvent<'_>),
) -> Result<ExecutionOutcome, ServiceError> {
    keep_memory_private();
    let mut supervisor = Supervisor::new().map_err(ServiceError::system("cannot supervise processes"))?;
    // Given back when the command has ended: a view in which to judge its layer needs room on a disk that it filled.
    reserved_space::reserve(view.directory())?;
    // Law 13: a tree that cannot be observed before cannot be judged after, so nothing runs.
    let (command, amendments) = if is_seen(&begun.start, &begun.exemptions) {
        let (ended, asked) = run_command(&mut supervisor, workspace, request, begun)?;
        (Some(ended), asked)
    } else {
        (None, AmendmentJournal::default())
    };
    watch(RunEvent::CommandEnded);
    reserved_space::release(view.directory());
    let _phase = workspace.progress.begin("checking what changed");
    let upper = landing::upper_of_root(workspace, view.directory());
    let mut late_start = match &begun.lazy {
        Some(look) => Some(look.complete(workspace, observer, begun, &upper)?),
        None => None,
    };
    let has_git_files = view.has_git_files();
    if let Some(late) = late_start.as_mut().filter(|_| has_git_files) {
        late.zone = observer.zone();
    }
    let start_content = late_start.as_ref().map_or(&begun.start.content, |late| &late.content);
    // Git's own files are read as the view shows them, and so is what a gate names.
    let needs_mount = has_git_files || !begun.seal.contents().plan.gates.is_empty();
    let merged = if needs_mount { Some(MergedTree::open(view)?) } else { None };
    let mut end = match &merged {
        Some(merged) if has_git_files => {
            let zone = late_start.as_ref().and_then(|late| late.zone.as_ref());
            observer.observe_view(&begun.start, start_content, zone, &upper, merged.root())?
        }
        // What is not in the layer is as it was.
        None if view.is_untouched() => observer.with_content(&begun.start, start_content.clone()),
        _ => observer.with_content(&begun.start, observer.layered(start_content, &upper)?),
    };
    let changed_by_command = match &late_start {
        Some(late) => {
            let changes = probity_snapshot::delta(&late.content, &end.content);
            changes.into_iter().map(|change| change.path).collect()
        }
        None => changed_paths(&begun.start, &end),
    };
    let mut notes: Vec<(ReasonCode, String)> = view
        .home()
        .made_settings()
        .into_iter()
        .map(|path| {
            let path = path.display();
            let detail = format!("`{path}` was made during the run: it decides what an agent executes later");
            (ReasonCode::ProtectedChanged, detail)
        })
        .collect();
    let mut base_moves = false;
    let round = match command.as_ref().map(|ended| &ended.outcome) {
        None | Some(JobOutcome::Cancelled(_) | JobOutcome::NotStarted(_)) => GateRound {
            results: gates::skip_all(&begun.seal, "the command did not finish"),
            ..GateRound::default()
        },
        Some(_) if begun.seal.contents().plan.gates.is_empty() => GateRound::default(),
        Some(_) => {
            let judged = JudgedLayer {
                observer,
                begun,
                view,
                merged: merged.as_ref().expect("it is open if there are gates"),
                end: &end,
                changed: &changed_by_command,
            };
            let (round, moves) = judged.run_gates(workspace, &mut supervisor, watch)?;
            base_moves = moves;
            round
        }
    };
    if let Some(after_gates) = &round.end {
        let written = probity_snapshot::delta(&end.content, after_gates);
        let (outputs, dropped): (Vec<_>, Vec<_>) =
            written.iter().partition(|change| is_declared(&round.writes, &changed_by_command, &change.path));
        adopt_outputs(&view.gate_upper(), &upper, &outputs)?;
        if !outputs.is_empty() {
            end.content = observer.layered(&begun.start.content, &upper)?;
        }
        notes.extend(dropped.first().map(|first| {
            let paths = probity_core::text::count(dropped.len(), "path");
            (ReasonCode::ViewGateWrites, format!("{paths}, the first is {}", first.path))
        }));
    }
    let containment = supervisor.containment().notes;
    Ok(ExecutionOutcome {
        command,
        amendments,
        changed_by_command,
        // References and the index stay in the layer, so nothing can leave with them.
        outgoing: OutgoingChanges::default(),
        gate_results: round.results,
        gate_writes: round.writes,
        end,
        containment,
        in_view: Some(ViewOutcome { notes, base_moves }),
        late_start,
    })
}

/// Returns whether only gates wrote a path, each as declared.
fn is_declared(gates: &[GateWrites], by_command: &BTreeSet<RepoPath>, path: &RepoPath) -> bool {
    let mut writers = gates.iter().filter(|gate| gate.changed.contains(path)).peekable();
    !by_command.contains(path) && writers.peek().is_some() && writers.all(|gate| gate.outputs.contains(path))
}

/// The layer of a command that has ended.
struct JudgedLayer<'a> {
    observer: &'a WorkspaceObserver<'a>,
    begun: &'a StartedRun<'a>,
    view: &'a RunView<'a>,
    merged: &'a MergedTree,
    end: &'a WorkspaceObservation,
    changed: &'a BTreeSet<RepoPath>,
}

impl JudgedLayer<'_> {
    /// Runs the gates, again if the tree below the layer changed meanwhile. Returns whether it still did in the end.
    fn run_gates(
        &self,
        workspace: &Workspace,
        supervisor: &mut Supervisor,
        watch: &mut dyn FnMut(RunEvent<'_>),
    ) -> Result<(GateRound, bool), ServiceError> {
        let mut base = self.observer.content(Some(&self.begun.start.content))?;
        let mut n_rounds = 0;
        loop {
            let round = self.run_gates_once(workspace, supervisor, watch)?;
            n_rounds += 1;
            let now = self.observer.content(Some(&base))?;
            let moves = now.root() != base.root();
            if !moves || n_rounds == MAX_GATE_ROUNDS || supervisor.cancelled().is_some() {
                return Ok((round, moves));
            }
            base = now;
        }
    }

    fn run_gates_once(
        &self,
        workspace: &Workspace,
        supervisor: &mut Supervisor,
        watch: &mut dyn FnMut(RunEvent<'_>),
    ) -> Result<GateRound, ServiceError> {
        let seal = &self.begun.seal;
        self.view.reset_gates()?;
        let upper = self.view.gate_upper();
        let confinement = GateView { view: self.view, file_root: self.merged.root() };
        let phase = workspace.progress.begin_counted("running gates", seal.contents().plan.gates.len());
        let mut writes = Vec::new();
        let mut last = self.end.content.clone();
        let mut after = |result: &GateResult| {
            phase.advance();
            watch(RunEvent::Gate(result));
            if result.status != GateStatus::Skip {
                let now = self.observer.layered(&self.end.content, &upper)?;
                let changed = probity_snapshot::delta(&last, &now).into_iter().map(|change| change.path);
                let outputs = self.begun.scopes.outputs_of(&result.gate_id);
                writes.push(GateWrites { outputs, changed: changed.collect() });
                last = now;
            }
            Ok(())
        };
        let mut before = gates::announcement(workspace, seal);
        let place = GatePlace {
            confinement: Some(&confinement),
            root: &workspace.root,
            log_directory: &self.begun.folder,
            changed_since_seal: Some(self.changed),
        };
        let results = gates::run(supervisor, seal, place, &mut before, &mut after)?;
        Ok(GateRound { results, writes, end: Some(last) })
    }
}

/// Moves declared outputs of gates from their layer to the one that lands. Deletions are left out.
fn adopt_outputs(from: &Path, to: &Path, outputs: &[&TreeChange]) -> Result<(), ServiceError> {
    for change in outputs.iter().filter(|change| change.after.is_some()) {
        let name = Path::new(OsStr::from_bytes(change.path.as_bytes()));
        let failed = ServiceError::system(format!("cannot keep the gate output {}", change.path));
        adopt_entry(from, to, name).map_err(failed)?;
    }
    Ok(())
}

fn adopt_entry(from: &Path, to: &Path, name: &Path) -> io::Result<()> {
    let (source, target) = (from.join(name), to.join(name));
    let mut missing: Vec<&Path> = name.ancestors().skip(1).filter(|above| !to.join(above).is_dir()).collect();
    missing.reverse();
    for above in missing {
        fs::create_dir(to.join(above))?;
        fs::set_permissions(to.join(above), fs::metadata(from.join(above))?.permissions())?;
    }
    if fs::symlink_metadata(&source)?.is_dir() {
        if !target.is_dir() {
            fs::create_dir(&target)?;
        }
        return fs::set_permissions(&target, fs::metadata(&source)?.permissions());
    }
    fs::rename(source, target)
}

/// Returns what becomes of the layer of a judged run, before anything lands: evidence says no more than this.
/// `is_git_untouched` if neither git's directory nor a reference changed in the view.
pub(super) fn held_record(
    verdict: &RunVerdict,
    changes: &[TreeChange],
    is_git_untouched: bool,
) -> LandingRecord {
    let mut paths: Vec<RepoPath> = changes.iter().map(|change| change.path.clone()).collect();
    paths.sort();
    paths.dedup();
    // A layer without a change has nothing to decide about, however the run ended.
    let is_empty = paths.is_empty() && (verdict.passed() || is_git_untouched);
    LandingRecord { state: if is_empty { LandingState::None } else { LandingState::Held }, paths }
}

/// A judged run with evidence.
pub(super) struct AttestedRun<'a> {
    pub(super) begun: &'a StartedRun<'a>,
    pub(super) verdict: &'a RunVerdict,
    pub(super) changes: &'a [TreeChange],
    pub(super) end: &'a Snapshot,
    /// The sealed scope with its amendments.
    pub(super) scope: GlobList,
    pub(super) attested: &'a WrittenBundle,
    /// The references that moved in the view.
    pub(super) ref_movements: &'a [RefMovement],
}

/// Lands the layer of a run that passed; the layer of any other run is held.
pub(super) fn conclude(
    workspace: &Workspace,
    request: &RunRequest,
    view: &RunView<'_>,
    outcome: &ViewOutcome,
    held: &LandingRecord,
    run: &AttestedRun<'_>,
) -> Result<(LandingReport, Option<ReasonCode>), ServiceError> {
    let report = |state, conflicts| LandingReport {
        state,
        paths: held.paths.clone(),
        conflicts,
        imported: Vec::new(),
    };
    if held.state == LandingState::None {
        view.remove()?;
        return Ok((report(LandingState::None, Vec::new()), None));
    }
    view.keep_layer_only();
    if !run.verdict.passed() {
        return Ok((report(LandingState::Held, Vec::new()), None));
    }
    let refused = |state, obstacles: Vec<LandingObstacle>| {
        let reason = obstacles.first().map_or(ReasonCode::LandConflict, |obstacle| obstacle.code);
        attest_landing(workspace, run, state, &held.paths, &obstacles, &[])?;
        Ok((report(state, obstacles), Some(reason)))
    };
    let whole = |code, detail: String| {
        let path = held.paths.first().cloned();
        path.into_iter().map(|path| LandingObstacle { path, code, detail: detail.clone() }).collect()
    };
    if !run.begun.uncertain.is_empty() {
        let obstacle = |path: &RepoPath| LandingObstacle {
            path: path.clone(),
            code: ReasonCode::LandStartUnknown,
            detail: "others changed it or its directory since the run began".to_owned(),
        };
        let conflicts = run.begun.uncertain.iter().map(obstacle).collect();
        return refused(LandingState::Conflict, conflicts);
    }
    if outcome.base_moves {
        let detail = format!("the gates ran {MAX_GATE_ROUNDS} times, and the tree changed each time");
        return refused(LandingState::Held, whole(ReasonCode::LandBaseMoves, detail));
    }
    if let Some(intent) = &request.intent
        && let Err(lost) = claims::carried_intent(workspace, &request.credentials, intent.intent_id.as_str())
    {
        return refused(LandingState::Held, whole(ReasonCode::LandFailed, lost.to_string()));
    }
    let plan = LandingPlan {
        run_id: &run.begun.seal.contents().run_id,
        layer: view.directory().to_owned(),
        start: &run.begun.start.content,
        changes: run.changes,
    };
    let _phase = workspace.progress.begin("landing the changes");
    match landing::land(workspace, &plan) {
        Ok(LandingOutcome::Landed { paths }) => {
            let imported = match run.begun.commits {
                CommitRule::Leave => Vec::new(),
                CommitRule::Import => {
                    let scope = run.scope.to_scope()?;
                    import_commits(workspace, view.directory(), run.ref_movements, &scope, run.end)
                }
            };
            attest_landing(workspace, run, LandingState::Landed, &paths, &[], &imported)?;
            view.remove()?;
            let conflicts = Vec::new();
            Ok((LandingReport { state: LandingState::Landed, paths, conflicts, imported }, None))
        }
        Ok(LandingOutcome::Conflict { conflicts }) => {
            let obstacle = |conflict: landing::LandingConflict| LandingObstacle {
                path: conflict.path,
                code: conflict.reason,
                detail: conflict.detail,
            };
            refused(LandingState::Conflict, conflicts.into_iter().map(obstacle).collect())
        }
        // Nothing happened, or everything was taken back.
        Err(ServiceError::Refused { reason, detail, .. }) => {
            refused(LandingState::Held, whole(reason, detail))
        }
        Err(fault) => refused(LandingState::Held, whole(ReasonCode::LandFailed, fault.to_string())),
    }
}

/// Writes the second link: that the changes of the run are in the tree now, or why they are not.
fn attest_landing(
    workspace: &Workspace,
    run: &AttestedRun<'_>,
    state: LandingState,
    paths: &[RepoPath],
    obstacles: &[LandingObstacle],
    imported: &[ImportedBranch],
) -> Result<WrittenBundle, ServiceError> {
    let like = run.begun.seal.contents();
    let mut plan = like.plan.clone();
    plan.gates = Vec::new();
    plan.skipped_gates = Vec::new();
    plan.scope = run.scope.clone();
    let seal = Seal::new(SealContents {
        run_id: clock::run_id(),
        sealed_at: clock::now(),
        plan,
        confinement: None,
        ..like.clone()
    });
    let run_id = &seal.contents().run_id;
    let open = workspace.state.open_view_run(run_id, &workspace.root);
    let lock = FileLock::try_take(&open.lock, &format!("landing {run_id}"));
    durable::write(&open.folder.join(SEAL_FILE), &seal.to_bytes())?;
    let has_landed = state == LandingState::Landed;
    let verdict = if has_landed {
        RunVerdict {
            delta: run.verdict.delta.clone(),
            exempt: run.verdict.exempt.clone(),
            recognized: run.verdict.recognized.clone(),
            ..RunVerdict::default()
        }
    } else {
        let finding = |obstacle: &LandingObstacle| RunFinding {
            reason: obstacle.code,
            path: Some(obstacle.path.clone()),
            detail: obstacle.detail.clone(),
            severity: FindingSeverity::Error,
        };
        let reasons: BTreeSet<ReasonCode> = obstacles.iter().map(|obstacle| obstacle.code).collect();
        RunVerdict {
            findings: obstacles.iter().map(finding).collect(),
            reasons: reasons.into_iter().collect(),
            ..RunVerdict::default()
        }
    };
    let taken_over = |branch: &&ImportedBranch| branch.n_commits.is_some();
    let movements: Vec<RefMovement> = imported
        .iter()
        .filter(taken_over)
        .filter_map(|branch| {
            let is_it =
                |movement: &&RefMovement| movement.repository.is_none() && movement.name == branch.name;
            run.ref_movements.iter().find(is_it)
        })
        .cloned()
        .collect();
    let start_root = run.begun.start.content.root();
    let command: Vec<std::ffi::OsString> = vec!["probity".into(), "land".into(), like.run_id.clone().into()];
    let written = attest::attest(
        workspace,
        &BundleInputs {
            sealed: SealedRun {
                seal: &seal,
                key: run.begun.key.as_ref(),
                amendments: &[],
                folder: &open.folder,
            },
            tree: TreeRecord {
                verdict: &verdict,
                before_root: Some(start_root),
                after_root: Some(if has_landed { run.end.root() } else { start_root }),
                start: Some(&run.begun.start.content),
                ref_movements: &movements,
            },
            execution: ExecutionRecord {
                command: Some((&command, Some(i32::from(!has_landed)))),
                did: Some(MaintenanceOperation::Land(run.attested.run_hash)),
                gate_results: &[],
                containment: &[],
                landing: Some(LandingRecord { state, paths: paths.to_vec() }),
            },
            head: ChainHeadSource::OnDisk,
        },
    );
    drop(lock);
    let _ = fs::remove_file(&open.lock);
    written
}
