//! Before the command starts: observes, plans and seals.

use super::RunRequest;
use super::lazy_start::{LateStart, LazyLook};
use crate::attest::ChainHeadSource;
use crate::enforcement::Enforcement;
use crate::landlock_level::TreeGrants;
use crate::state_guard::StateGuard;
use crate::{before_images, coverage, landing, planning, reserved_space, view};
use probity_api::PathClaim;
use probity_api::govern::enforcement::ConfinementReport;
use probity_api::govern::plan::ScopeCoverage;
use probity_changes::claims;
use probity_changes::registry::AgentLabel;
use probity_core::{ReasonCode, json};
use probity_evidence::{GlobList, LazyStart, Plan, Seal, SealContents, SecretKey, SignatureRule};
use probity_paths::{PatternError, RepoPath, Scope};
use probity_policy::{CommitRule, Policy};
use probity_process::ProcessEnvironment;
use probity_snapshot::Snapshot;
use probity_snapshot::git::HeadTree;
use probity_storage::{FileLock, durable};
use probity_workspace::exemptions::output_markers::OutputRecognizer;
use probity_workspace::exemptions::{Exemptions, gate_inputs, plugins};
use probity_workspace::observe::{WorkspaceObservation, WorkspaceObserver, beside};
use probity_workspace::own_files::{JSON_POLICY_FILE, POLICY_FILE, STATE_DIR_NAME};
use probity_workspace::selection::{self, PlanPreview};
use probity_workspace::state_files::StateFiles;
use probity_workspace::{ServiceError, Workspace, clock, git};
use probity_workspace::{run_claims, signing};
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Everything known before the command starts.
pub(super) struct StartedRun<'a> {
    pub(super) start: WorkspaceObservation,
    pub(super) preview: PlanPreview,
    pub(super) seal: Seal,
    pub(super) scopes: SealedScopes,
    pub(super) exemptions: Exemptions,
    /// Recognizes build outputs at the end; `None` if the policy turns recognition off.
    pub(super) recognition: Option<RefCell<OutputRecognizer>>,
    /// Paths without a before-image.
    pub(super) not_kept: BTreeSet<RepoPath>,
    pub(super) key: Option<SecretKey>,
    pub(super) folder: PathBuf,
    /// Watches the state directory; `None` if the command cannot reach it.
    guard: Option<StateGuard>,
    pub(super) enforcement: Enforcement<'a>,
    pub(super) confinement: ConfinementReport,
    /// What becomes of commits that are made in a view.
    pub(super) commits: CommitRule,
    /// What the command may write in the tree, at the level `landlock`.
    pub(super) grants: TreeGrants,
    /// The start snapshot with the directories that were copied into the layer first, if there is a view.
    pub(super) layered_start: Option<Snapshot>,
    /// What is known of the tree if it was not walked.
    pub(super) lazy: Option<LazyLook>,
    /// Changed paths that may have been something else at the start.
    pub(super) uncertain: Vec<RepoPath>,
    /// Remarks that fail nothing.
    pub(super) notes: Vec<(ReasonCode, String)>,
    pub(super) own_claims: Vec<PathClaim>,
}

impl StartedRun<'_> {
    /// Adds what is known of the start now that the command has ended.
    pub(super) fn complete(&mut self, late: LateStart) {
        self.start.content = late.content;
        self.start.add_zone(late.zone);
        self.layered_start = Some(late.layered);
        self.exemptions = late.exemptions;
        self.recognition = late.recognition;
        self.uncertain = late.uncertain;
        let is_unknown = |path: &RepoPath| (ReasonCode::LandStartUnknown, path.to_string());
        self.notes.extend(self.uncertain.iter().map(is_unknown));
    }

    /// Returns how many files the scope covers, if the tree was looked at.
    pub(super) fn coverage(&self) -> Option<ScopeCoverage> {
        self.lazy.is_none().then_some(self.preview.coverage)
    }

    /// Returns the exemptions at the end, where new build outputs and new plugin lists may exist. The contents of the
    /// tree are found at `roots` then.
    pub(super) fn exemptions_at(&self, roots: &[&Path], end: &WorkspaceObservation) -> Cow<'_, Exemptions> {
        let own = &self.exemptions;
        let recognized = self.recognition.as_ref().map_or_else(
            || own.recognized.clone(),
            |recognition| recognition.borrow_mut().of_run(roots, own, [&self.start.content, &end.content]),
        );
        let mut plugin_lists = own.plugin_lists.clone();
        if Exemptions::are_possible(&self.seal) {
            plugin_lists.extend(plugins::plugin_lists(roots, &end.content));
        }
        if recognized == own.recognized && plugin_lists == own.plugin_lists {
            return Cow::Borrowed(own);
        }
        Cow::Owned(Exemptions { recognized, plugin_lists, ..own.clone() })
    }

    /// Returns the files of our own state that were touched during the run.
    pub(super) fn touched_state(&self) -> Vec<PathBuf> {
        self.guard.as_ref().map(StateGuard::touched).unwrap_or_default()
    }

    /// Returns the predecessor for this run's bundle.
    pub(super) fn head_to_trust(&self) -> ChainHeadSource {
        self.guard.as_ref().map_or(ChainHeadSource::OnDisk, StateGuard::head_to_trust)
    }
}

/// Observes, plans, copies before-images and seals. The seal is on disk before anything runs.
#[tracing::instrument(name = "begin", skip_all)]
pub(super) fn seal_run<'a>(
    workspace: &'a Workspace,
    observer: &WorkspaceObserver<'_>,
    request: &RunRequest,
    owners: &[&dyn StateFiles],
    policy: &Policy,
    run_id: &str,
    enforcement: Enforcement<'a>,
) -> Result<StartedRun<'a>, ServiceError> {
    let _phase = workspace.progress.begin("preparing the run");
    let StartObservation { mut lazy, start, committed, exemptions, recognition, preview } =
        observe_start(workspace, observer, request, policy, &enforcement)?;
    let mut notes: Vec<(ReasonCode, String)> = Vec::new();
    notes.extend(enforcement.degraded.iter().map(|why| (ReasonCode::EnforceDegraded, why.clone())));
    let (layered_start, precopied) = match &enforcement.view {
        Some(view) => {
            let upper = landing::upper_of_root(workspace, view.directory());
            let (layered, precopied) =
                copy_into_layer(workspace, observer, lazy.as_mut(), &start.content, &preview.scope, &upper)?;
            (Some(layered), precopied)
        }
        None => (None, view::PrecopiedDirectories::default()),
    };
    notes.extend(precopied.too_large.iter().map(|directory| {
        let detail = format!("`{directory}` or a directory in it cannot be renamed in the view (EXDEV)");
        (ReasonCode::ViewNoDirRename, detail)
    }));
    let grants = enforcement
        .landlock
        .as_ref()
        .map(|landlock| landlock.tree_grants(workspace, &preview.scope, &exemptions, &start.content));
    let grants = grants.unwrap_or_default();
    let confinement = enforcement.report(workspace, &precopied, &grants);
    let sealed_start = lazy.as_ref().map(|look| look.sealed(start.index_digest()));
    let facts = SealedFacts { run_id, start: &start, lazy: sealed_start, confinement: &confinement };
    let seal = seal(workspace, policy, preview.plan.clone(), request, facts)?;
    let scopes = SealedScopes::of(&seal)?;
    // Checked once before the long work, and again under the claims lock.
    claims::check_run(workspace, &request.credentials, &preview.scope)?;
    let mut exemptions = exemptions.with_gates(&seal, &start.content)?;
    if Exemptions::are_possible(&seal) {
        exemptions.plugin_lists = plugins::plugin_lists(&[&workspace.root], &start.content);
    }
    let recognition = recognition.map(RefCell::new);
    refuse_unsafe_scope(workspace, &preview.scope, &exemptions, &start)?;
    let not_kept = match &enforcement.view {
        // What a view changes is in its layer: the tree keeps its content.
        Some(_) => BTreeSet::new(),
        None => before_images::keep_before_images(
            workspace,
            committed.unwrap_or_default(),
            &start.content,
            &exemptions,
        )?,
    };
    let key = signing::signing_key(workspace)?;
    if seal.contents().signature == SignatureRule::Required && key.is_none() {
        let detail = format!("profile `{}` requires signed evidence", seal.contents().plan.profile);
        return Err(ServiceError::refused(ReasonCode::KeyMissing, detail));
    }
    let turn = workspace.state.lock_evidence()?;
    let open = match &enforcement.view {
        Some(_) => workspace.state.open_view_run(run_id, &workspace.root),
        None => workspace.state.open_run(run_id, &workspace.root),
    };
    let own_claims = {
        let _alone = run_claims::lock_claims(&workspace.state)?;
        let own_claims = claims::check_run(workspace, &request.credentials, &preview.scope)?;
        run_claims::publish_run_claim(workspace, &open, &seal.contents().plan.scope)?;
        own_claims
    };
    probity_changes::refresh_guard(workspace)?;
    durable::write(&open.folder.join(run_claims::SEAL_FILE), &seal.to_bytes())?;
    reserved_space::reserve(&open.folder)?;
    let guard = match &enforcement.view {
        // The state directory is hidden in a view.
        Some(_) => None,
        None => Some(StateGuard::capture(&workspace.state, &open, &turn, key.as_ref(), owners)?),
    };
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
        enforcement,
        confinement,
        commits: policy.git.commits,
        grants,
        layered_start,
        lazy,
        uncertain: Vec::new(),
        notes,
        own_claims,
    })
}

/// What is known of the tree before the command starts.
struct StartObservation {
    /// `None` if the tree was walked.
    lazy: Option<LazyLook>,
    start: WorkspaceObservation,
    /// The files of the commit; `None` if git gave no answer or was not asked.
    committed: Option<HeadTree>,
    exemptions: Exemptions,
    recognition: Option<OutputRecognizer>,
    preview: PlanPreview,
}

/// Observes the tree, or as little of it as will do, and plans.
fn observe_start(
    workspace: &Workspace,
    observer: &WorkspaceObserver<'_>,
    request: &RunRequest,
    policy: &Policy,
    enforcement: &Enforcement<'_>,
) -> Result<StartObservation, ServiceError> {
    // No landing changes the tree while it is read.
    let quiet = FileLock::share(&workspace.state.landing_lock(&workspace.root))?;
    let lazy = match &enforcement.view {
        Some(view) => LazyLook::choose(workspace, observer, policy, &request.selection, view)?,
        None => None,
    };
    let (start, committed) = match lazy {
        Some(_) => (observer.observe_unseen(), None),
        None => beside(|| git::head_tree(workspace).ok(), || observer.observe(None)),
    };
    let start = start?;
    drop(quiet);
    let (exemptions, recognition) = if lazy.is_some() {
        (Exemptions::default(), None)
    } else {
        Exemptions::at_start(workspace, policy, committed.as_ref(), &start.content)?
    };
    let names = match &lazy {
        Some(look) => (look.files.clone(), look.directories.clone()),
        None => selection::names(&start.content),
    };
    let preview = planning::preview(policy, &request.selection, names, &exemptions)?;
    coverage::require_coverage(
        &workspace.working_directory,
        &request.selection,
        &preview,
        &start.content,
        &exemptions,
    )?;
    Ok(StartObservation { lazy, start, committed, exemptions, recognition, preview })
}

/// Copies directories of the scope into the layer. Returns the tree that is known, with the layer.
fn copy_into_layer(
    workspace: &Workspace,
    observer: &WorkspaceObserver<'_>,
    lazy: Option<&mut LazyLook>,
    start: &Snapshot,
    scope: &Scope,
    upper: &Path,
) -> Result<(Snapshot, view::PrecopiedDirectories), ServiceError> {
    if let Some(look) = lazy {
        return look.precopy(workspace, observer, upper, scope);
    }
    let covered = view::covered_directories(scope, start);
    let precopied = view::precopy(&workspace.root, upper, covered, start)?;
    Ok((observer.layered(start, upper)?, precopied))
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

/// What is sealed of the moment.
struct SealedFacts<'a> {
    run_id: &'a str,
    start: &'a WorkspaceObservation,
    /// What is sealed instead of a root hash.
    lazy: Option<LazyStart>,
    confinement: &'a ConfinementReport,
}

#[tracing::instrument(name = "seal", skip_all)]
fn seal(
    workspace: &Workspace,
    policy: &Policy,
    plan: Plan,
    request: &RunRequest,
    facts: SealedFacts<'_>,
) -> Result<Seal, ServiceError> {
    let confinement = facts.confinement;
    let mut contents = contents_of(workspace, policy, plan, facts.run_id, &facts.start.content);
    if let Some(start) = facts.lazy {
        contents.root = start.digest(contents.policy_digest);
        contents.start = Some(start);
    }
    contents.log = workspace.state.store()?.log_head()?.map(|head| head.tree);
    contents.enforcement = confinement.level;
    contents.confinement = Some(json::to_value(confinement));
    contents.intent_id = request.intent.as_ref().map(|intent| intent.intent_id.to_string());
    contents.agent = match &request.credentials.label {
        AgentLabel::Given(name) => Some(name.clone()),
        // The user's name says nothing about who works.
        AgentLabel::Assumed(_) => None,
    };
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
        let found = gate_inputs::look_up(Path::new("/"), &workspace.root, gate, search_path, &environments);
        settings.inputs = found.inputs.into_iter().collect();
        settings.programs = found.programs;
        // Where nothing can be exempt, everything is judged, imported or not.
        if contents.recognize_outputs || !contents.build_outputs.is_empty() {
            settings.imports = found.imports;
        }
    }
    contents
}

pub(super) struct SealedScopes {
    gate_outputs: BTreeMap<String, Scope>,
    pub(super) protected: Scope,
    pub(super) grants: Scope,
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

    pub(super) fn has_gate_outputs(&self) -> bool {
        self.gate_outputs.values().any(|outputs| !outputs.patterns().is_empty())
    }

    /// Returns the outputs that a gate declared.
    pub(super) fn outputs_of(&self, gate: &str) -> Scope {
        self.gate_outputs.get(gate).cloned().unwrap_or_default()
    }
}
