//! `probity run`: runs one command under one sealed scope and judges it by what it did to the tree.
//!
//! The order is the guarantee: observe, seal, run, observe, gates, observe, judge, attest. The start snapshot, the
//! seal, the signing key and the head of the chain stay in this process's memory while the command runs; files on disk
//! are never read back as truth. Once sealed, every run leaves evidence, even if Probity itself fails (law 11).

use crate::amendment_channel::AmendmentChannel;
use crate::attest::{self, BundleInputs, ExecutionRecord, SealedRun, TreeRecord, WrittenBundle};
use crate::planning;
use crate::recover::{self, ClosedRun};
use crate::run_verdict::{
    GateWrites, ObservedExecution, ObservedTree, RunRules, RunVerdict, VerdictInputs, is_blind, judge,
    renames,
};
use crate::state_guard::StateGuard;
use crate::{before_images, coverage, reserved_space};
use probity_api::PathClaim;
use probity_api::govern::plan::{PlanWarning, ScopeCoverage};
use probity_api::govern::run::{NextCommand, OutgoingChange, RefMovement, RunAnswer};
use probity_changes::claims;
use probity_changes::registry::CallerCredentials;
use probity_core::ReasonCode;
use probity_core::merkle::TreeHead;
use probity_evidence::{
    AmendPermission, Amendment, GateStatus, GlobList, Plan, RunStatus, Seal, SealContents, SecretKey,
    SignatureRule,
};
use probity_paths::{PatternError, RepoPath, Scope};
use probity_policy::Policy;
use probity_process::{Job, JobInput, JobOutcome, JobOutput, JobReport, ProcessEnvironment, Supervisor};
use probity_storage::{FileLock, LockError, durable};
use probity_workspace::amendment_journal::AmendmentJournal;
use probity_workspace::exemptions::output_markers::OutputRecognizer;
use probity_workspace::exemptions::{Exemptions, gate_inputs, plugins};
use probity_workspace::gates::{self, GatePlace, GateResult};
use probity_workspace::observe::{WorkspaceObservation, WorkspaceObserver};
use probity_workspace::outgoing::{OutgoingChanges, PlacedChange};
use probity_workspace::own_files::{JSON_POLICY_FILE, POLICY_FILE, STATE_DIR_NAME};
use probity_workspace::selection::{PlanPreview, PlanSelection};
use probity_workspace::state_files::StateFiles;
use probity_workspace::{ServiceError, Workspace, clock, git};
use probity_workspace::{run_claims, signing};
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::PathBuf;

/// The command to run, and its scope.
#[derive(Debug)]
pub struct RunRequest {
    /// The input for the plan.
    pub selection: PlanSelection,
    /// Protected paths that the command may change.
    pub grants: Vec<Vec<u8>>,
    /// Identifies the caller, whose own claims are not conflicts.
    pub credentials: CallerCredentials,
    pub command: Vec<OsString>,
    pub cwd: PathBuf,
    /// Standard output is reserved for data, so the command's output goes to standard error.
    pub stdout_is_data: bool,
}

/// An event that a surface may show during a run.
#[derive(Debug)]
pub enum RunEvent<'a> {
    /// A run that was killed earlier has been closed.
    Closed(&'a ClosedRun),
    /// The scope is sealed and the command is about to start.
    Sealed(&'a Seal, ScopeCoverage, &'a [PlanWarning]),
    /// The caller itself holds paths of the scope through these intents.
    OwnClaims(&'a [PathClaim]),
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
    /// The number of files the scope covered.
    pub coverage: ScopeCoverage,
    pub gate_results: Vec<GateResult>,
    pub ref_movements: Vec<RefMovement>,
    pub index_changed: bool,
    pub command_exit_code: Option<i32>,
    pub attested: WrittenBundle,
    /// The caller's own intents that hold paths of the scope.
    pub own_claims: Vec<PathClaim>,
}

impl RunReport {
    /// Builds the answer for programs; the surface supplies `next_steps`, because it knows how they are typed.
    pub fn answer(&self, workspace: &Workspace, next_steps: Vec<NextCommand>) -> RunAnswer {
        let contents = self.seal.contents();
        let verdict = &self.verdict;
        RunAnswer {
            root: workspace.root.clone().into(),
            status: if verdict.passed() { RunStatus::Pass } else { RunStatus::Fail },
            reason: verdict.reasons.first().copied(),
            reasons: verdict.reasons.clone(),
            run_id: contents.run_id.clone(),
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
            command_exit_code: self.command_exit_code,
            own_claims: self.own_claims.clone(),
            next_steps,
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
    // Before the first helper: whatever a program started here leaves behind stays below this process, so that it cannot
    // amend the run as a stranger. Where this is not possible, the containment of the run says so.
    let _ = probity_process::adopt_orphans();
    let run_id = clock::run_id();
    let _lock = take_tree(workspace, &format!("run {run_id}"))?;
    // No before-image that this run relies on may be removed while it is active.
    let _images = FileLock::share(&workspace.state.before_lock())?;
    for closed in recover::close_interrupted(workspace)? {
        watch(RunEvent::Closed(&closed));
    }
    let observer = WorkspaceObserver::new(workspace);
    let begun = seal_run(workspace, &observer, request, owners, &run_id)?;
    watch(RunEvent::Sealed(&begun.seal, begun.preview.coverage, &begun.preview.warnings));
    if !begun.own_claims.is_empty() {
        watch(RunEvent::OwnClaims(&begun.own_claims));
    }
    let concluded = execute(workspace, &observer, request, &begun, watch)
        .and_then(|acted| judge_and_attest(workspace, &observer, request, &begun, acted));
    concluded.map_err(|fault| leave_evidence(workspace, &begun, fault))
}

/// Closes a run that could not be judged and adds the location of its evidence to the error.
fn leave_evidence(workspace: &Workspace, begun: &StartedRun, fault: ServiceError) -> ServiceError {
    let detail = format!("it could not be judged: {fault}");
    let closed = recover::record_unjudged(
        workspace,
        &begun.seal,
        begun.key.as_ref(),
        &begun.folder,
        &detail,
        begun.guard.head_to_trust(),
    );
    match closed {
        Ok(attested) => ServiceError::Unjudged { evidence: attested.dir, source: Box::new(fault) },
        // The run stays open, and the next start closes it.
        Err(_) => fault,
    }
}

/// Everything known before the command starts.
struct StartedRun {
    start: WorkspaceObservation,
    preview: PlanPreview,
    seal: Seal,
    scopes: SealedScopes,
    exemptions: Exemptions,
    /// Recognizes build outputs at the end; `None` if the policy turns recognition off.
    recognition: Option<RefCell<OutputRecognizer>>,
    /// Paths without a before-image.
    not_kept: BTreeSet<RepoPath>,
    key: Option<SecretKey>,
    folder: PathBuf,
    guard: StateGuard,
    own_claims: Vec<PathClaim>,
}

impl StartedRun {
    /// Returns the exemptions at the end, where new build outputs and new plugin lists may exist.
    fn exemptions_at(&self, workspace: &Workspace, end: &WorkspaceObservation) -> Cow<'_, Exemptions> {
        let own = &self.exemptions;
        let recognized = self.recognition.as_ref().map_or_else(
            || own.recognized.clone(),
            |recognition| {
                recognition.borrow_mut().of_run(workspace, own, [&self.start.content, &end.content])
            },
        );
        let mut plugin_lists = own.plugin_lists.clone();
        if Exemptions::are_possible(&self.seal) {
            plugin_lists.extend(plugins::plugin_lists(&workspace.root, &end.content));
        }
        if recognized == own.recognized && plugin_lists == own.plugin_lists {
            return Cow::Borrowed(own);
        }
        Cow::Owned(Exemptions { recognized, plugin_lists, ..own.clone() })
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
}

/// Observes, plans, copies before-images and seals. The seal is on disk before anything runs.
#[tracing::instrument(name = "begin", skip_all)]
fn seal_run(
    workspace: &Workspace,
    observer: &WorkspaceObserver<'_>,
    request: &RunRequest,
    owners: &[&dyn StateFiles],
    run_id: &str,
) -> Result<StartedRun, ServiceError> {
    let _phase = workspace.progress.begin("preparing the run");
    let policy = workspace.load_policy()?.policy;
    let start = observer.observe(None)?;
    let committed = git::head_tree(workspace).ok();
    let (exemptions, recognition) =
        Exemptions::at_start(workspace, &policy, committed.as_ref(), &start.content)?;
    let preview = planning::preview(&policy, &request.selection, &start.content, &exemptions)?;
    coverage::require_coverage(
        &workspace.working_directory,
        &request.selection,
        &preview,
        &start.content,
        &exemptions,
    )?;
    let log = workspace.state.store()?.log_head()?.map(|head| head.tree);
    let seal = seal(workspace, &policy, preview.plan.clone(), request, run_id, &start, log)?;
    let scopes = SealedScopes::of(&seal)?;
    // Checked once before the long work, and again under the claims lock.
    claims::check_run(workspace, &request.credentials, &preview.scope)?;
    let mut exemptions = exemptions.with_gates(&seal, &start.content)?;
    if Exemptions::are_possible(&seal) {
        exemptions.plugin_lists = plugins::plugin_lists(&workspace.root, &start.content);
    }
    let recognition = recognition.map(RefCell::new);
    refuse_unsafe_scope(workspace, &preview.scope, &exemptions, &start)?;
    let not_kept = before_images::keep_before_images(
        workspace,
        committed.unwrap_or_default(),
        &start.content,
        &exemptions,
    )?;
    let key = signing::signing_key(workspace)?;
    if seal.contents().signature == SignatureRule::Required && key.is_none() {
        let detail = format!("profile `{}` requires signed evidence", seal.contents().plan.profile);
        return Err(ServiceError::refused(ReasonCode::KeyMissing, detail));
    }
    let turn = workspace.state.lock_evidence()?;
    let open = workspace.state.open_run(run_id, &workspace.root);
    let own_claims = {
        let _alone = run_claims::lock_claims(&workspace.state)?;
        let own_claims = claims::check_run(workspace, &request.credentials, &preview.scope)?;
        run_claims::publish_run_claim(workspace, &open, &seal.contents().plan.scope)?;
        own_claims
    };
    probity_changes::refresh_guard(workspace)?;
    durable::write(&open.folder.join(run_claims::SEAL_FILE), &seal.to_bytes())?;
    reserved_space::reserve(&open.folder)?;
    let guard = StateGuard::capture(&workspace.state, &open, &turn, key.as_ref(), owners)?;
    let folder = open.folder;
    Ok(StartedRun {
        start,
        preview,
        seal,
        scopes,
        exemptions,
        recognition,
        not_kept,
        key,
        folder,
        guard,
        own_claims,
    })
}

/// Runs the command and the gates, observing after each.
fn execute(
    workspace: &Workspace,
    observer: &WorkspaceObserver<'_>,
    request: &RunRequest,
    begun: &StartedRun,
    watch: &mut dyn FnMut(RunEvent<'_>),
) -> Result<ExecutionOutcome, ServiceError> {
    keep_memory_private();
    let mut supervisor = Supervisor::new().map_err(ServiceError::system("cannot supervise processes"))?;
    // Law 13: a tree that cannot be observed before cannot be judged after, so nothing runs.
    let (command, asked) = if is_seen(&begun.start, &begun.exemptions) {
        let (ended, asked) = run_command(&mut supervisor, workspace, request, begun)?;
        (Some(ended), asked)
    } else {
        (None, AmendmentJournal::default())
    };
    watch(RunEvent::CommandEnded);
    // Only now, because the terminal belongs to the command while it runs.
    let _phase = workspace.progress.begin("checking what changed");
    let middle = observer.observe(Some(&begun.start))?;
    let mut outgoing = begun.start.outgoing(&middle, workspace);
    let mut changed_by_command = changed_paths(&begun.start, &middle);
    changed_by_command.extend(outgoing.changes.keys().cloned());
    let mut has_moved = false;
    let mut gate_writes = Vec::new();
    let mut end = middle;
    let gate_results = match command.as_ref().map(|ended| &ended.outcome) {
        None | Some(JobOutcome::Cancelled(_) | JobOutcome::NotStarted(_)) => {
            gates::skip_all(&begun.seal, "the command did not run to its end")
        }
        Some(_) => {
            let phase =
                workspace.progress.begin_counted("running gates", begun.seal.contents().plan.gates.len());
            let mut after = |result: &GateResult| {
                phase.advance();
                watch(RunEvent::Gate(result));
                // Without declared outputs, it does not matter which gate wrote what: one observation at the end is
                // enough.
                if result.status != GateStatus::Skip && begun.scopes.has_gate_outputs() {
                    let now = observer.observe(Some(&end))?;
                    let outputs = begun.scopes.outputs_of(&result.gate_id);
                    gate_writes.push(GateWrites { outputs, changed: changed_paths(&end, &now) });
                    has_moved |= end.git_moved(&now);
                    end = now;
                }
                Ok(())
            };
            let mut before = gates::announcement(workspace, &begun.seal);
            let place = GatePlace {
                root: &workspace.root,
                log_directory: &begun.folder,
                changed_since_seal: Some(&changed_by_command),
            };
            gates::run(&mut supervisor, &begun.seal, place, &mut before, &mut after)?
        }
    };
    let gates_ran = gate_results.iter().any(|result| result.status != GateStatus::Skip);
    if gates_ran && gate_writes.is_empty() {
        let now = observer.observe(Some(&end))?;
        has_moved |= end.git_moved(&now);
        end = now;
    }
    if has_moved {
        outgoing = begun.start.outgoing(&end, workspace);
    }
    let containment = supervisor.containment().notes.clone();
    Ok(ExecutionOutcome {
        command,
        amendments: asked,
        changed_by_command,
        outgoing,
        gate_results,
        gate_writes,
        end,
        containment,
    })
}

/// Returns the content paths that differ between two observations.
fn changed_paths(before: &WorkspaceObservation, after: &WorkspaceObservation) -> BTreeSet<RepoPath> {
    before.delta(after).into_iter().map(|change| change.path).collect()
}

/// Judges the run and writes the evidence.
fn judge_and_attest(
    workspace: &Workspace,
    observer: &WorkspaceObserver<'_>,
    request: &RunRequest,
    begun: &StartedRun,
    acted: ExecutionOutcome,
) -> Result<RunReport, ServiceError> {
    let _phase = workspace.progress.begin("writing the evidence");
    let StartedRun { start, preview, seal, scopes, not_kept, key, folder, guard, own_claims, .. } = begun;
    let exemptions = begun.exemptions_at(workspace, &acted.end);
    let touched = guard.touched();
    observer.remember(&acted.end.content);
    let scope = probity_evidence::amended_scope(&seal.contents().plan.scope, &acted.amendments.granted)?;
    let mut zone_changes = start.zone_changes(&acted.end);
    zone_changes.extend(observer.state_changes(&touched));
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
            changes: &start.delta(&acted.end),
            touched: &probity_snapshot::touched(&start.content, &acted.end.content),
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
            refused_amendments: &acted.amendments.refusals(),
            gate_results: &acted.gate_results,
            gate_writes: &acted.gate_writes,
        },
    });
    let root_of = |seen: &WorkspaceObservation| is_seen(seen, &exemptions).then(|| seen.content.root());
    let command_exit_code = acted.command.as_ref().and_then(JobReport::exit_code);
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
            },
            head: guard.head_to_trust(),
        },
    )?;
    Ok(RunReport {
        amendments: acted.amendments.granted,
        verdict,
        warnings: preview.warnings.clone(),
        coverage: preview.coverage,
        gate_results: acted.gate_results,
        ref_movements,
        index_changed: start.index_differs(&acted.end),
        command_exit_code,
        attested,
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

/// Refuses a scope that contains a link out of the tree: writes through it could not be observed.
fn refuse_unsafe_scope(
    workspace: &Workspace,
    scope: &Scope,
    exemptions: &Exemptions,
    start: &WorkspaceObservation,
) -> Result<(), ServiceError> {
    let leads_out = |reason| matches!(reason, ReasonCode::UnsafeLinkEscapes | ReasonCode::UnsafeHardLink);
    let found = start.content.findings().iter().find(|found| {
        leads_out(found.reason) && scope.contains(&found.path) && !exemptions.covers(&found.path)
    });
    found.map_or(Ok(()), |found| {
        let (path, meaning) = (&found.path, found.reason.meaning());
        let excluded = workspace.working_directory.to_typed(&[b"!", path.as_bytes()].concat());
        let excluded = probity_core::bytes::escape(&excluded);
        let detail =
            format!("`{path}` is in the scope, but {meaning}; leave it out with `--scope '{excluded}'`");
        Err(ServiceError::refused(found.reason, detail))
    })
}

#[tracing::instrument(name = "seal", skip_all)]
fn seal(
    workspace: &Workspace,
    policy: &Policy,
    plan: Plan,
    request: &RunRequest,
    run_id: &str,
    start: &WorkspaceObservation,
    log: Option<TreeHead>,
) -> Result<Seal, ServiceError> {
    let mut contents = contents_of(workspace, policy, plan, run_id, &start.content);
    contents.log = log;
    contents.grants = GlobList::new(request.grants.iter().cloned());
    contents.grants.to_scope()?;
    Ok(Seal::new(contents))
}

/// Builds the contents of a seal under a policy, without the caller's grants.
pub(crate) fn contents_of(
    workspace: &Workspace,
    policy: &Policy,
    plan: Plan,
    run_id: &str,
    start: &probity_snapshot::Snapshot,
) -> SealContents {
    let mut contents = policy.seal_contents(plan, run_id, &clock::now(), start.root());
    // A policy protects itself, at the root and in every directory that it would turn into a root: write access to it
    // would mean widening every later run.
    let roots = [POLICY_FILE.to_owned(), JSON_POLICY_FILE.to_owned(), format!("{STATE_DIR_NAME}/**")];
    contents.protected.extend(&GlobList::new(roots.map(|name| format!("**/{name}"))));
    let environments = gate_inputs::virtual_environments(start);
    for gate in &contents.plan.gates {
        let settings = contents.gate_settings.entry(gate.id.clone()).or_default();
        let environment = ProcessEnvironment::allow_listed(&settings.env);
        let search_path = environment.get("PATH").unwrap_or_default();
        let found = gate_inputs::look_up(&workspace.root, gate, search_path, &environments);
        settings.inputs = found.inputs.into_iter().collect();
        settings.programs = found.programs;
        // Where nothing can be exempt, everything is judged, imported or not.
        if contents.recognize_outputs || !contents.build_outputs.is_empty() {
            settings.imports = found.imports;
        }
    }
    contents
}

#[tracing::instrument(name = "command", skip_all)]
fn run_command(
    supervisor: &mut Supervisor,
    workspace: &Workspace,
    request: &RunRequest,
    begun: &StartedRun,
) -> Result<(JobReport, AmendmentJournal), ServiceError> {
    let contents = begun.seal.contents();
    let may_amend = contents.amend.during == AmendPermission::Allow;
    let channel = AmendmentChannel::open(&begun.folder, may_amend)
        .map_err(ServiceError::system("cannot listen for amendments"))?;
    let ended = supervisor.run(&Job {
        argv: request.command.clone(),
        cwd: request.cwd.clone(),
        environment: ProcessEnvironment::inherited().with_run(&contents.run_id, &workspace.root),
        stdin: JobInput::Inherit,
        output: if request.stdout_is_data { JobOutput::ToStderr } else { JobOutput::Inherit },
        timeout: None,
    });
    Ok((ended, channel.close()))
}

struct SealedScopes {
    gate_outputs: BTreeMap<String, Scope>,
    protected: Scope,
    grants: Scope,
}

impl SealedScopes {
    fn of(seal: &Seal) -> Result<Self, ServiceError> {
        let contents = seal.contents();
        let ready = |globs: &GlobList| globs.to_scope();
        let outputs =
            contents.gate_settings.iter().map(|(id, settings)| Ok((id.clone(), ready(&settings.outputs)?)));
        Ok(Self {
            gate_outputs: outputs.collect::<Result<_, PatternError>>()?,
            protected: ready(&contents.protected)?,
            grants: ready(&contents.grants)?,
        })
    }

    fn has_gate_outputs(&self) -> bool {
        self.gate_outputs.values().any(|outputs| !outputs.patterns().is_empty())
    }

    /// Returns the outputs that a gate declared.
    fn outputs_of(&self, gate: &str) -> Scope {
        self.gate_outputs.get(gate).cloned().unwrap_or_default()
    }
}

/// Returns whether everything that is not disposable could be observed.
fn is_seen(observation: &WorkspaceObservation, exemptions: &Exemptions) -> bool {
    let mut blind = observation.content.findings().iter().filter(|found| is_blind(found.reason));
    blind.all(|found| exemptions.is_disposable(&found.path))
}
