//! `probity run`: runs one command under one sealed scope and judges it by what it did to the tree.
//!
//! The order is the guarantee: observe, seal, run, observe, gates, observe, judge, attest. The start snapshot, the
//! seal, the signing key and the head of the chain stay in this process's memory while the command runs; files on disk
//! are never read back as truth. Once sealed, every run leaves evidence, even if Probity itself fails (law 11).

mod commit_import;
mod in_tree;
mod in_view;
mod lazy_start;
mod sealing;

use crate::amendment_channel::AmendmentChannel;
use crate::attest::{self, BundleInputs, ExecutionRecord, SealedRun, TreeRecord, WrittenBundle};
use crate::enforcement::{Enforcement, EnforcementRequest};
use crate::landing::{layer_store, upper_of_root};
use crate::recover::{self, ClosedRun};
use crate::run_verdict::{
    GateWrites, ObservedExecution, ObservedTree, RunRules, RunVerdict, VerdictInputs, is_blind, judge,
    renames,
};
use crate::view::{self, ViewRole};
use in_view::{AttestedRun, ViewOutcome};
use lazy_start::LateStart;
use probity_api::PathClaim;
use probity_api::govern::enforcement::{ConfinementReport, LandingReport};
use probity_api::govern::plan::{PlanWarning, ScopeCoverage};
use probity_api::govern::run::{NextCommand, OutgoingChange, RefMovement, RunAnswer};
use probity_changes::claims::CarriedIntent;
use probity_changes::registry::CallerCredentials;
use probity_core::ReasonCode;
use probity_evidence::{Amendment, RunStatus, Seal};
use probity_paths::RepoPath;
use probity_policy::{AmendmentTiming, Policy};
use probity_process::{Job, JobInput, JobOutput, JobReport, ProcessEnvironment, Supervisor};
use probity_snapshot::SnapshotEntryKind;
use probity_storage::{FileLock, LockError};
use probity_workspace::amendment_journal::AmendmentJournal;
use probity_workspace::exemptions::Exemptions;
use probity_workspace::gates::GateResult;
use probity_workspace::observe::{WorkspaceObservation, WorkspaceObserver};
use probity_workspace::outgoing::{OutgoingChanges, PlacedChange};
use probity_workspace::selection::PlanSelection;
use probity_workspace::state_files::StateFiles;
use probity_workspace::{ServiceError, Workspace, clock};
pub(crate) use sealing::contents_of;
use sealing::{StartedRun, seal_run};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Time a run in a view waits for a process that has the tree for itself for a moment.
const SHARE_TIMEOUT: Duration = Duration::from_secs(2);

/// The command to run, and its scope.
#[derive(Debug)]
pub struct RunRequest {
    /// The input for the plan.
    pub selection: PlanSelection,
    /// Protected paths that the command may change.
    pub grants: Vec<Vec<u8>>,
    /// Identifies the caller, whose own claims are not conflicts.
    pub credentials: CallerCredentials,
    /// The intent that the run carries out, if any; it must still be the caller's when the changes land.
    pub intent: Option<CarriedIntent>,
    pub command: Vec<OsString>,
    pub cwd: PathBuf,
    /// Standard output is reserved for data, so the command's output goes to standard error.
    pub stdout_is_data: bool,
    /// How firmly the command is to be kept in its scope.
    pub enforcement: EnforcementRequest,
}

/// An event that a surface may show during a run.
#[derive(Debug)]
pub enum RunEvent<'a> {
    /// A run that was killed earlier has been closed.
    Closed(&'a ClosedRun),
    /// The scope is sealed and the command is about to start.
    Sealed {
        seal: &'a Seal,
        /// `None` if the files were not counted.
        coverage: Option<ScopeCoverage>,
        warnings: &'a [PlanWarning],
        confinement: &'a ConfinementReport,
        /// Why nothing stronger confines the command although any level was welcome.
        degraded: Option<&'a str>,
    },
    /// The caller itself holds paths of the scope through these intents.
    OwnClaims(&'a [PathClaim]),
    /// Words of the command that name files which the view does not show.
    OutOfSight(&'a [PathBuf]),
    CommandEnded,
    Gate(&'a GateResult),
}

/// The result of a run.
#[derive(Debug)]
pub struct RunReport {
    pub seal: Seal,
    /// The amendments granted during the run.
    pub amendments: Vec<Amendment>,
    pub verdict: RunVerdict,
    /// Doubts about the scope.
    pub warnings: Vec<PlanWarning>,
    /// The number of files the scope covered; `None` if they were not counted.
    pub coverage: Option<ScopeCoverage>,
    pub gate_results: Vec<GateResult>,
    pub ref_movements: Vec<RefMovement>,
    pub index_changed: bool,
    pub command_exit_code: Option<i32>,
    pub attested: WrittenBundle,
    /// What confined the command.
    pub confinement: ConfinementReport,
    /// What became of the changes.
    pub landing: LandingReport,
    /// Why the changes of a run that passed did not land.
    pub landing_reason: Option<ReasonCode>,
    /// The caller's own intents that hold paths of the scope.
    pub own_claims: Vec<PathClaim>,
}

impl RunReport {
    /// Returns whether the run passed and, in a view, its changes landed.
    pub fn passed(&self) -> bool {
        self.verdict.passed() && self.landing_reason.is_none()
    }

    /// Returns why the run did not pass or land.
    pub fn reasons(&self) -> Vec<ReasonCode> {
        self.verdict.reasons.iter().copied().chain(self.landing_reason).collect()
    }

    /// Builds the answer for programs; the surface supplies `next_steps`, because it knows how they are typed.
    pub fn answer(&self, workspace: &Workspace, next_steps: Vec<NextCommand>) -> RunAnswer {
        let contents = self.seal.contents();
        let verdict = &self.verdict;
        RunAnswer {
            root: workspace.root.clone().into(),
            status: if self.passed() { RunStatus::Pass } else { RunStatus::Fail },
            reason: self.reasons().first().copied(),
            reasons: self.reasons(),
            run_id: contents.run_id.clone(),
            intent_id: contents.intent_id.clone(),
            scope: contents.plan.scope.clone(),
            amendments: self.amendments.clone(),
            plan_hash: contents.plan.hash(),
            seal_hash: self.seal.hash(),
            coverage: self.coverage,
            warnings: self.warnings.clone(),
            workspace_delta_paths: verdict.delta.iter().map(|change| change.path.clone()).collect(),
            untracked_delta_paths: verdict.untracked.clone(),
            exempt_delta_paths: verdict.exempt.clone(),
            recognized_outputs: verdict.recognized.clone(),
            gate_delta_paths: verdict.by_gates.clone(),
            findings: verdict.findings.clone(),
            gate_results: self.gate_results.iter().map(attest::gate_result).collect(),
            ref_movements: self.ref_movements.clone(),
            outgoing_changes: outgoing_changes(verdict),
            renames: renames(&verdict.delta),
            index_changed: self.index_changed,
            evidence_dir: self.attested.dir.clone().into(),
            run_hash: self.attested.run_hash,
            signed_by: self.attested.key_id.clone(),
            enforcement: contents.enforcement,
            confinement: self.confinement.clone(),
            landing: self.landing.clone(),
            command_exit_code: self.command_exit_code,
            own_claims: self.own_claims.clone(),
            next_steps,
            ledger: None,
        }
    }
}

/// Returns the changes of the delta that the working tree does not show.
fn outgoing_changes(verdict: &RunVerdict) -> Vec<OutgoingChange> {
    let change = |(path, placed): (&RepoPath, &PlacedChange)| OutgoingChange {
        path: path.clone(),
        place: placed.place.clone(),
    };
    verdict.placed.iter().map(change).collect()
}

/// Governs one command from declaration to evidence. `owners` vouch for what other services write to the state
/// directory meanwhile.
#[tracing::instrument(name = "run", skip_all)]
pub fn run(
    workspace: &Workspace,
    request: &RunRequest,
    owners: &[&dyn StateFiles],
    watch: &mut dyn FnMut(RunEvent<'_>),
) -> Result<RunReport, ServiceError> {
    Workspace::require_process_table()?;
    // Before the first helper: whatever a program started here leaves behind stays below this process, so that it cannot
    // amend the run as a stranger. Where this is not possible, the containment of the run says so.
    let _ = probity_process::adopt_orphans();
    let run_id = clock::run_id();
    let policy = workspace.load_policy()?.policy;
    let rules = match request.enforcement.agent {
        Some(agent) => policy.enforce.for_agent(agent.as_str()),
        None => policy.enforce.clone(),
    };
    let enforcement = Enforcement::choose(workspace, &rules, request.enforcement, &run_id)?;
    let layer = enforcement.view.is_some().then(|| workspace.state.layer(&run_id));
    let mut is_sealed = false;
    let mut watch = |event: RunEvent<'_>| {
        is_sealed |= matches!(event, RunEvent::Sealed { .. });
        watch(event);
    };
    let ended = run_at_level(workspace, request, owners, &policy, &run_id, enforcement, &mut watch);
    let Some(layer) = layer else { return ended };
    // A run that was refused leaves no layer. One that could not be judged or landed does: it is somebody's work.
    if ended.is_err() && !is_sealed {
        let _ = view::remove_layer(&layer);
        return ended;
    }
    let flushed = layer_store::flush_layer(&layer);
    ended.and_then(|report| flushed.map(|()| report))
}

/// Governs one command at the chosen level of enforcement.
fn run_at_level(
    workspace: &Workspace,
    request: &RunRequest,
    owners: &[&dyn StateFiles],
    policy: &Policy,
    run_id: &str,
    enforcement: Enforcement<'_>,
    watch: &mut dyn FnMut(RunEvent<'_>),
) -> Result<RunReport, ServiceError> {
    let is_in_view = enforcement.view.is_some();
    let holder = format!("run {run_id}");
    // Runs in views share the tree; each holds the lock of its own layer.
    let own_lock = if is_in_view { Some(RunLock::take(workspace, run_id, &holder)?) } else { None };
    let _lock = if is_in_view { share_tree(workspace)? } else { take_tree(workspace, &holder)? };
    // No before-image that this run relies on may be removed while it is active.
    let _images = FileLock::share(&workspace.state.before_lock())?;
    for closed in recover::close_interrupted(workspace, !is_in_view)? {
        watch(RunEvent::Closed(&closed));
    }
    let observer = WorkspaceObserver::new(workspace);
    let mut begun = seal_run(workspace, &observer, request, owners, policy, run_id, enforcement)?;
    watch(RunEvent::Sealed {
        seal: &begun.seal,
        coverage: begun.coverage(),
        warnings: &begun.preview.warnings,
        confinement: &begun.confinement,
        degraded: begun.enforcement.degraded.as_deref(),
    });
    if !begun.own_claims.is_empty() {
        watch(RunEvent::OwnClaims(&begun.own_claims));
    }
    let out_of_sight = begun.enforcement.view.as_ref().map(|view| view.out_of_sight(&request.command));
    if let Some(paths) = out_of_sight.filter(|paths| !paths.is_empty()) {
        watch(RunEvent::OutOfSight(&paths));
    }
    let acted = match &begun.enforcement.view {
        Some(view) => in_view::execute(workspace, &observer, request, &begun, view, watch),
        None => in_tree::execute(workspace, &observer, request, &begun, watch),
    };
    let concluded = acted.and_then(|mut acted| {
        if let Some(late) = acted.late_start.take() {
            begun.complete(late);
        }
        judge_and_attest(workspace, &observer, request, &begun, acted)
    });
    let concluded = concluded.map_err(|fault| leave_evidence(workspace, &begun, fault));
    drop(own_lock);
    concluded
}

/// The lock of a run in a view, which shows that the run is alive. Its file goes with it.
struct RunLock {
    path: PathBuf,
    _lock: FileLock,
}

impl RunLock {
    fn take(workspace: &Workspace, run_id: &str, holder: &str) -> Result<Self, ServiceError> {
        let path = workspace.state.layer_lock(run_id);
        let holder = format!("{holder}, process {}", std::process::id());
        let lock = FileLock::try_take(&path, &holder).map_err(|error| match error {
            LockError::Held { holder } => ServiceError::Held { holder },
            LockError::Store(error) => error.into(),
        })?;
        Ok(Self { path, _lock: lock })
    }
}

impl Drop for RunLock {
    fn drop(&mut self) {
        // A file that stays does no harm: nobody holds it.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Closes a run that could not be judged and adds the location of its evidence to the error.
fn leave_evidence(workspace: &Workspace, begun: &StartedRun<'_>, fault: ServiceError) -> ServiceError {
    // What went wrong after the evidence was written changes nothing about it.
    let has_evidence = |bundles: Vec<String>| bundles.iter().any(|id| *id == begun.seal.contents().run_id);
    if workspace.state.bundles().is_ok_and(has_evidence) {
        return fault;
    }
    let detail = format!("it could not be judged: {fault}");
    let closed = recover::record_unjudged(
        workspace,
        &begun.seal,
        begun.key.as_ref(),
        &begun.folder,
        (&detail, &[]),
        begun.head_to_trust(),
    );
    match closed {
        Ok(attested) => ServiceError::Unjudged { evidence: attested.dir, source: Box::new(fault) },
        // The run stays open, and the next start closes it.
        Err(_) => fault,
    }
}

/// The outcome of the command and the gates.
struct ExecutionOutcome {
    /// `None` if the command was withheld.
    command: Option<JobReport>,
    amendments: AmendmentJournal,
    changed_by_command: BTreeSet<RepoPath>,
    outgoing: OutgoingChanges,
    gate_results: Vec<GateResult>,
    gate_writes: Vec<GateWrites>,
    end: WorkspaceObservation,
    containment: Vec<String>,
    /// What is known of a run in a view alone.
    in_view: Option<ViewOutcome>,
    /// What is known of the start after a lazy look.
    late_start: Option<LateStart>,
}

/// Returns the content paths that differ between two observations.
fn changed_paths(before: &WorkspaceObservation, after: &WorkspaceObservation) -> BTreeSet<RepoPath> {
    before.delta(after).into_iter().map(|change| change.path).collect()
}

/// Judges the run and writes the evidence.
#[expect(
    clippy::too_many_lines,
    reason = "one step after the other: every fact of the run goes into its bundle"
)]
fn judge_and_attest(
    workspace: &Workspace,
    observer: &WorkspaceObserver<'_>,
    request: &RunRequest,
    begun: &StartedRun<'_>,
    mut acted: ExecutionOutcome,
) -> Result<RunReport, ServiceError> {
    let _phase = workspace.progress.begin("writing the evidence");
    let StartedRun { start, preview, seal, scopes, not_kept, key, folder, own_claims, .. } = begun;
    let in_view = acted.in_view.take();
    let upper = begun.enforcement.view.as_ref().map(|view| upper_of_root(workspace, view.directory()));
    let roots: Vec<&Path> = upper.as_deref().into_iter().chain([&*workspace.root]).collect();
    let exemptions = begun.exemptions_at(&roots, &acted.end);
    let touched_state = begun.touched_state();
    // The tree itself is as it was if the command ran in a view.
    if begun.lazy.is_none() {
        observer.remember(if in_view.is_some() { &start.content } else { &acted.end.content });
    }
    let changes = start.delta(&acted.end);
    let touched_from = begun.layered_start.as_ref().unwrap_or(&start.content);
    let mut touched = probity_snapshot::touched(touched_from, &acted.end.content);
    if in_view.is_some() {
        // The kernel leaves marks of its own on the directories of a layer.
        let is_directory = |path: &RepoPath| {
            acted.end.content.get(path).is_some_and(|it| it.kind() == SnapshotEntryKind::Directory)
        };
        touched.retain(|entry| !is_directory(&entry.path));
    }
    let mut notes = begun.notes.clone();
    notes.extend(in_view.iter().flat_map(|it| it.notes.clone()));
    notes.extend(acted.amendments.refusals());
    let scope = probity_evidence::amended_scope(&seal.contents().plan.scope, &acted.amendments.granted)?;
    let mut zone_changes = start.zone_changes(&acted.end);
    zone_changes.extend(observer.state_changes(&touched_state));
    let ref_movements = start.ref_movements(&acted.end);
    let verdict = judge(&VerdictInputs {
        rules: RunRules {
            scope: &scope,
            exemptions: &exemptions,
            protected: &scopes.protected,
            grants: &scopes.grants,
            refs: seal.contents().refs,
            gates: &seal.contents().plan.gates,
        },
        tree: ObservedTree {
            changes: &changes,
            touched: &touched,
            changed_by_command: &acted.changed_by_command,
            found_at_start: start.content.findings(),
            found_at_end: acted.end.content.findings(),
            zone_changes: &zone_changes,
            ref_movements: &ref_movements,
            root_changes: &start.root_changes(&acted.end),
            new_repositories: &start.new_repositories(&acted.end),
            outgoing: &acted.outgoing,
            not_kept,
        },
        execution: ObservedExecution {
            command: acted.command.as_ref(),
            notes: &notes,
            gate_results: &acted.gate_results,
            gate_writes: &acted.gate_writes,
        },
    });
    let root_of = |seen: &WorkspaceObservation| is_seen(seen, &exemptions).then(|| seen.content.root());
    let command_exit_code = acted.command.as_ref().and_then(JobReport::exit_code);
    let is_git_untouched = zone_changes.is_empty() && ref_movements.is_empty();
    let held = in_view.as_ref().map(|_| in_view::held_record(&verdict, &changes, is_git_untouched));
    let attested = attest::attest(
        workspace,
        &BundleInputs {
            sealed: SealedRun { seal, key: key.as_ref(), amendments: &acted.amendments.granted, folder },
            tree: TreeRecord {
                verdict: &verdict,
                before_root: root_of(start),
                after_root: root_of(&acted.end),
                start: Some(&start.content),
                ref_movements: &ref_movements,
            },
            execution: ExecutionRecord {
                command: Some((&request.command, command_exit_code)),
                did: None,
                gate_results: &acted.gate_results,
                containment: &acted.containment,
                landing: held.clone(),
            },
            head: begun.head_to_trust(),
        },
    )?;
    let (landing, landing_reason) = match (&begun.enforcement.view, in_view, held) {
        (Some(view), Some(outcome), Some(held)) => {
            let mut scope = seal.contents().plan.scope.clone();
            for amendment in &acted.amendments.granted {
                scope.extend(&amendment.add);
            }
            let run = AttestedRun {
                begun,
                verdict: &verdict,
                changes: &changes,
                end: &acted.end.content,
                scope,
                attested: &attested,
                ref_movements: &ref_movements,
            };
            in_view::conclude(workspace, request, view, &outcome, &held, &run)?
        }
        _ => (LandingReport::default(), None),
    };
    Ok(RunReport {
        amendments: acted.amendments.granted,
        verdict,
        warnings: preview.warnings.clone(),
        coverage: begun.coverage(),
        gate_results: acted.gate_results,
        ref_movements,
        index_changed: start.index_differs(&acted.end),
        command_exit_code,
        attested,
        confinement: begun.confinement.clone(),
        landing,
        landing_reason,
        own_claims: own_claims.clone(),
        seal: seal.clone(),
    })
}

/// Keeps other processes of this user from reading or writing our memory, which holds the start snapshot and the seal.
/// Root still can.
fn keep_memory_private() {
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
}

/// Locks the tree exclusively. `what` is shown to a process that finds the tree locked. Waits only for a process that
/// closes an interrupted run there.
#[tracing::instrument(name = "lock tree", skip_all)]
pub(crate) fn take_tree(workspace: &Workspace, what: &str) -> Result<FileLock, ServiceError> {
    let holder = format!("{what}, process {}", std::process::id());
    let lock = workspace.state.tree_lock(&workspace.root);
    FileLock::take_from_sharers(&lock, &holder, recover::CLOSER_TIMEOUT).map_err(|error| match error {
        LockError::Held { holder } => ServiceError::Held { holder },
        LockError::Store(error) => error.into(),
    })
}

/// Shares the lock of the tree: runs in views and landings do not exclude each other by it, but a run in the tree itself
/// excludes them.
fn share_tree(workspace: &Workspace) -> Result<FileLock, ServiceError> {
    let lock = workspace.state.tree_lock(&workspace.root);
    FileLock::share_within(&lock, SHARE_TIMEOUT).map_err(|error| match error {
        LockError::Held { holder } => ServiceError::Held { holder },
        LockError::Store(error) => error.into(),
    })
}

#[tracing::instrument(name = "command", skip_all)]
fn run_command(
    supervisor: &mut Supervisor,
    workspace: &Workspace,
    request: &RunRequest,
    begun: &StartedRun<'_>,
) -> Result<(JobReport, AmendmentJournal), ServiceError> {
    let contents = begun.seal.contents();
    let may_amend = probity_policy::may_amend(contents.amend, AmendmentTiming::During, false).is_ok();
    let channel = AmendmentChannel::open(&begun.folder, may_amend)
        .map_err(ServiceError::system("cannot listen for amendments"))?;
    let is_view = begun.enforcement.view.is_some();
    let (guard, value) =
        probity_changes::run_guard_variable(workspace, &contents.run_id, &contents.plan.scope, is_view);
    let job = Job {
        argv: request.command.clone(),
        cwd: request.cwd.clone(),
        environment: ProcessEnvironment::inherited()
            .with_run(&contents.run_id, &workspace.root)
            .with(guard, value),
        stdin: JobInput::Inherit,
        output: if request.stdout_is_data { JobOutput::ToStderr } else { JobOutput::Inherit },
        timeout: None,
    };
    let ended = match (&begun.enforcement.view, &begun.enforcement.landlock) {
        (Some(view), _) => view.run(supervisor, ViewRole::Command, begun.enforcement.network, job)?.0,
        (None, Some(landlock)) => landlock.run(supervisor, &begun.grants, &begun.folder, job)?,
        (None, None) => supervisor.run(&job),
    };
    Ok((ended, channel.close()))
}

/// Returns whether everything that is not disposable could be observed.
fn is_seen(observation: &WorkspaceObservation, exemptions: &Exemptions) -> bool {
    let mut blind = observation.content.findings().iter().filter(|found| is_blind(found.reason));
    blind.all(|found| exemptions.is_disposable(&found.path))
}
