//! Shows the state of a shared tree: who holds what, who waits, and who made which uncommitted changes.

use super::concurrent_intents::RegistryView;
use super::hygiene_view::MAX_LISTED_PATHS;
use super::root_mapping::{IntentPlace, RootMapping};
use super::uncommitted_work::{self, FinishedWork};
use crate::registry::view::format_time;
use crate::registry::{Caller, HandleStore, IntentService};
use probity_api::SystemPath;
use probity_api::change::{
    Coordination, DirtyGroup, DirtySummary, FinishedGroup, HeldLayerLine, IntentLine, RunLine, RunWorkGroup,
    StatusAnswer,
};
use probity_core::bytes::bare_shell_word;
use probity_core::text::{count, short_id};
use probity_intents::registry::{CommandContext, Intent, IntentRegistry};
use probity_intents::{ClaimIndex, IntentId, IntentOwner, IntentStatus, Ownership, PeerIntent};
use probity_paths::RepoPath;
use probity_policy::Policy;
use probity_quality::analysis_store::AnalysisStore;
use probity_quality::analyze;
use probity_snapshot::Snapshot;
use probity_workspace::held_layers::{HeldLayer, held_layers};
use probity_workspace::run_claims::{self, OpenRunClaim};
use probity_workspace::transparency_log;
use probity_workspace::worktree::WorktreeStatus;
use probity_workspace::{ServiceError, Workspace};
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::Duration;

/// Adds a path to a group; only the first paths are listed.
fn add_path(group: &mut DirtyGroup, path: &RepoPath) {
    group.count += 1;
    if group.paths.len() < MAX_LISTED_PATHS {
        group.paths.push(path.clone());
    }
}

/// Waits for registry events. Changes to the files themselves send no event, so a watcher must look again after each wait.
#[derive(Debug)]
pub struct StatusWatcher(IntentService);

impl StatusWatcher {
    pub fn open(workspace: &Workspace) -> Result<Self, ServiceError> {
        IntentService::open(workspace).map(Self)
    }

    /// Waits at most `wait`; returns whether there are new events.
    pub fn wait(&mut self, wait: Duration) -> Result<bool, ServiceError> {
        let before = self.0.registry().head();
        self.0.wait(wait)?;
        Ok(self.0.registry().head() != before)
    }
}

/// What a governed run that ended left among the uncommitted changes.
#[derive(Debug, Clone)]
pub struct RunWork {
    pub run_id: String,
    pub agent: Option<String>,
    /// Whether the run passed, or somebody landed its held changes.
    pub accepted: bool,
    pub paths: BTreeSet<RepoPath>,
}

/// Answers questions about runs that ended. Evidence is read by a crate above this one.
pub trait RunRecords {
    /// Finds the runs that left these paths as they are. No path is in two of the answers.
    fn work_among(&self, paths: &BTreeSet<RepoPath>) -> Result<Vec<RunWork>, ServiceError>;

    /// Returns whether a held layer has changes in scope that the tree does not have yet.
    fn holds_part_in_scope(&self, run_id: &str, tree: &Snapshot) -> bool;
}

/// Without `records`, the work of runs is not told from other unclaimed changes.
pub fn status(
    workspace: &Workspace,
    caller: &Caller,
    records: Option<&dyn RunRecords>,
) -> Result<StatusAnswer, ServiceError> {
    transparency_log::check_lists(&workspace.state)?;
    let policy = workspace.load_policy()?.policy;
    let look = WorktreeStatus::observe(workspace, &policy)?;
    status_of(workspace, caller, &policy, &look, records)
}

/// Returns the status of a tree that the caller has observed.
#[tracing::instrument(name = "status", skip_all)]
pub fn status_of(
    workspace: &Workspace,
    caller: &Caller,
    policy: &Policy,
    look: &WorktreeStatus,
    records: Option<&dyn RunRecords>,
) -> Result<StatusAnswer, ServiceError> {
    let shell = IntentService::open(workspace)?;
    let owner = shell.owner_of(caller)?;
    shell.touch(&owner)?;
    let frame = RootMapping::for_workspace(workspace);
    let run_id = analyze::run_id(policy, &look.snapshot)?;
    let team = RegistryPart::read(workspace, caller, &shell, &owner, false)?;
    let local = if shell.is_shared() { Some(IntentService::open_local(workspace)?) } else { None };
    let local = match &local {
        Some(local) => Some(RegistryPart::read(workspace, caller, local, &owner, true)?),
        None => None,
    };
    let parts: Vec<&RegistryPart<'_>> = std::iter::once(&team).chain(&local).collect();
    let kept: BTreeSet<IntentId> = parts.iter().flat_map(|part| part.kept.iter().cloned()).collect();
    let here: Vec<PeerIntent> = parts.iter().flat_map(|part| part.peers_here(&frame)).collect();
    let finished = FinishedWork::of(workspace, shell.registry(), &frame);
    let DirtyAttribution { summary: mut dirty, counts, unclaimed } =
        attribute_dirty_paths(look, &frame, &here, &kept, finished);
    add_run_work(workspace, &mut dirty, unclaimed, records)?;
    for group in &mut dirty.finished {
        let all_listed = group.changed.count == group.changed.paths.len();
        let paths = group.changed.paths.iter();
        group.commit_command = if all_listed {
            uncommitted_work::commit_command(workspace, paths, &group.description)
        } else {
            None
        };
    }
    let intents: Vec<IntentLine> =
        parts.iter().flat_map(|part| part.lines(workspace, &frame, &counts)).collect();
    let top = workspace.git.as_ref().map_or(&workspace.root, |git| &git.root);
    let run_line = |run: OpenRunClaim| RunLine {
        is_here: run.root.starts_with(top),
        root: SystemPath::from(&*run.root),
        run_id: run.claim.run_id,
        scope: run.scope,
        since: run.since,
        pid: run.pid,
    };
    let runs: Vec<RunLine> = run_claims::open_runs(&workspace.state)?.into_iter().map(run_line).collect();
    let held = held_lines(workspace)?;
    Ok(StatusAnswer {
        head: look.state.head.clone(),
        run_id: run_id.0.to_string(),
        run_available: AnalysisStore::open(workspace).has(run_id),
        next_step: {
            let has_turn = |line: &IntentLine| parts.iter().any(|part| part.has_turn(&line.intent_id));
            let last_held = held.last().map(|layer| LastHeldLayer {
                layer,
                holds_part_in_scope: records
                    .is_none_or(|records| records.holds_part_in_scope(&layer.run_id, &look.snapshot)),
            });
            let step = next_step(shell.registry(), &has_turn, &intents, &runs, last_held, &dirty);
            match look.undecided_note(|_| true) {
                Some(note) => format!("{step}; {note}"),
                None => step,
            }
        },
        intents,
        runs,
        held,
        offline: shell.offline().map(str::to_owned),
        dirty,
        notices: shell.registry().notices(&owner),
    })
}

/// The open intents of one registry, as a reader sees them. A clone in a team has two: the team's, and its own for changes
/// that were started without asking the store of the team.
struct RegistryPart<'a> {
    service: &'a IntentService,
    owner: &'a IntentOwner,
    context: CommandContext,
    kept: BTreeSet<IntentId>,
    usable: BTreeSet<IntentId>,
    /// In order of their declaration.
    open: Vec<&'a Intent>,
}

impl<'a> RegistryPart<'a> {
    fn read(
        workspace: &Workspace,
        caller: &Caller,
        service: &'a IntentService,
        owner: &'a IntentOwner,
        only_uncoordinated: bool,
    ) -> Result<Self, ServiceError> {
        let handles = HandleStore::of(workspace);
        let usable = handles.usable_handles(service.registry()).into_iter();
        let open = service.registry().open_intents();
        let mut open: Vec<&Intent> =
            open.filter(|intent| !only_uncoordinated || intent.base.is_uncoordinated).collect();
        open.sort_by_key(|intent| (intent.declared_at, &intent.id));
        Ok(Self {
            service,
            owner,
            context: service.command_context()?,
            kept: handles.own_intents(service.registry(), caller),
            usable: usable.map(|kept| kept.intent_id).collect(),
            open,
        })
    }

    /// Returns whether nobody stands before a queued intent any more.
    fn has_turn(&self, id: &IntentId) -> bool {
        self.service.registry().has_turn(id, self.owner, &self.context)
    }

    fn view<'s>(&'s self, paths: &'s RootMapping) -> RegistryView<'s> {
        RegistryView {
            registry: self.service.registry(),
            owner: self.owner,
            context: &self.context,
            paths,
            kept: &self.kept,
        }
    }

    /// Returns the intents that can have made uncommitted changes of this working tree.
    fn peers_here(&self, frame: &RootMapping) -> Vec<PeerIntent> {
        let seen = self.view(frame);
        let is_meant = |intent: &&&Intent| is_here(intent, frame) && intent.status != IntentStatus::Landing;
        self.open.iter().filter(is_meant).map(|intent| seen.peer(intent)).collect()
    }

    fn lines(
        &self,
        workspace: &Workspace,
        frame: &RootMapping,
        n_dirty: &BTreeMap<IntentId, usize>,
    ) -> Vec<IntentLine> {
        let (seen, owner) = (self.view(frame), self.owner);
        let left = |end: u64| end.saturating_sub(self.context.now.0);
        let line = |intent: &&Intent| IntentLine {
            intent_id: intent.id.clone(),
            status: intent.status,
            ownership: intent.ownership(owner, &self.context),
            agent: intent.owner.label.clone(),
            owner: (&intent.owner).into(),
            handle_kept: self.usable.contains(&intent.id),
            is_yours: intent.ownership(owner, &self.context).is_own()
                || is_kept(&seen.peer(intent), &self.kept),
            description: intent.description.clone(),
            allowed_files: frame.to_workspace_entries(&intent.scope.allowed_files),
            since: format_time(intent.declared_at),
            age_seconds: self.context.now.0.saturating_sub(intent.declared_at.0),
            lease_left_seconds: left(intent.lease(&self.context).ends_at().0),
            life_left_seconds: left(intent.ends_at(&self.context).0),
            queue_position: self.service.registry().queue_position(&intent.id, owner, &self.context),
            n_dirty: n_dirty.get(&intent.id).copied().unwrap_or(0),
            is_here: is_here(intent, frame),
            root: root_elsewhere(workspace, intent, frame).map(Into::into),
            task: intent.task.clone(),
            line: intent.base.line.clone(),
            coordination: intent.base.is_uncoordinated.then_some(Coordination::None),
        };
        self.open.iter().map(line).collect()
    }
}

fn is_here(intent: &Intent, frame: &RootMapping) -> bool {
    intent.base.tree.as_ref().is_none_or(|tree| frame.shares_tree(tree))
}

/// Returns the root that an intent was started from, if it is in another working tree of this clone.
fn root_elsewhere(workspace: &Workspace, intent: &Intent, frame: &RootMapping) -> Option<PathBuf> {
    let tree = intent.base.tree.as_ref().filter(|tree| !frame.shares_tree(tree))?;
    IntentPlace::find(workspace, tree).map(|place| place.root)
}

/// Returns the layers that nobody uses, so that they wait for a decision.
fn held_lines(workspace: &Workspace) -> Result<Vec<HeldLayerLine>, ServiceError> {
    let layers = held_layers(workspace)?.into_iter().filter(|layer| !layer.is_in_use);
    let line = |layer: HeldLayer| HeldLayerLine {
        run_id: layer.run_id,
        n_entries: layer.size.n_entries,
        bytes: layer.size.bytes,
    };
    Ok(layers.map(line).collect())
}

/// The uncommitted changes by intent.
struct DirtyAttribution {
    summary: DirtySummary,
    counts: BTreeMap<IntentId, usize>,
    /// The paths that are in no group of the summary.
    unclaimed: BTreeSet<RepoPath>,
}

fn attribute_dirty_paths(
    look: &WorktreeStatus,
    frame: &RootMapping,
    here: &[PeerIntent],
    kept: &BTreeSet<IntentId>,
    mut finished: FinishedWork<'_>,
) -> DirtyAttribution {
    let claims = ClaimIndex::of(here);
    let mut summary = DirtySummary { count: look.state.dirty.len(), ..DirtySummary::default() };
    let mut counts = BTreeMap::new();
    let mut unclaimed = BTreeSet::new();
    let mut done: BTreeMap<IntentId, FinishedGroup> = BTreeMap::new();
    for (path, entry) in &look.state.dirty {
        let name = frame.to_repo_path(path);
        let holders = claims.holders(name.as_bytes());
        // A queued intent has not edited: only a claim attributes a change (law 5).
        for (id, _) in holders.iter().filter(|(_, (peer, _))| peer.status == IntentStatus::Active) {
            *counts.entry((*id).clone()).or_default() += 1;
        }
        let active =
            || holders.values().map(|(peer, _)| peer).filter(|peer| peer.status == IntentStatus::Active);
        let is_own = |peer: &&&PeerIntent| peer.ownership.is_own() || is_kept(peer, kept);
        let group = if active().any(|peer| is_own(&peer)) {
            &mut summary.own
        } else if active().any(|peer| peer.ownership.is_foreign()) {
            &mut summary.foreign
        } else if active().next().is_some() {
            &mut summary.abandoned
        } else if let Some(intent) = finished.of_path(entry) {
            let group = done.entry(intent.id.clone()).or_insert_with(|| FinishedGroup {
                intent_id: intent.id.clone(),
                agent: intent.owner.label.clone(),
                description: intent.description.clone(),
                commit_command: None,
                changed: DirtyGroup::default(),
            });
            &mut group.changed
        } else {
            unclaimed.insert(path.clone());
            continue;
        };
        add_path(group, path);
    }
    summary.finished = done.into_values().collect();
    DirtyAttribution { summary, counts, unclaimed }
}

/// Tells the work of runs from the changes that nobody is known for.
fn add_run_work(
    workspace: &Workspace,
    summary: &mut DirtySummary,
    mut unclaimed: BTreeSet<RepoPath>,
    records: Option<&dyn RunRecords>,
) -> Result<(), ServiceError> {
    let found = match records {
        Some(records) if !unclaimed.is_empty() => records.work_among(&unclaimed)?,
        _ => Vec::new(),
    };
    for work in found {
        let mut changed = DirtyGroup::default();
        for path in &work.paths {
            unclaimed.remove(path);
            add_path(&mut changed, path);
        }
        let message = format!("Work of run {}", short_id(&work.run_id));
        let commit_command = work
            .accepted
            .then(|| uncommitted_work::commit_command(workspace, work.paths.iter(), &message))
            .flatten();
        summary.runs.push(RunWorkGroup {
            run_id: work.run_id,
            agent: work.agent,
            accepted: work.accepted,
            commit_command,
            changed,
        });
    }
    for path in &unclaimed {
        add_path(&mut summary.unclaimed, path);
    }
    Ok(())
}

/// Returns whether a seemingly foreign, unexpired intent belongs to the reader by a handle kept in this worktree.
fn is_kept(peer: &PeerIntent, kept: &BTreeSet<IntentId>) -> bool {
    peer.ownership.is_foreign() && kept.contains(&peer.intent_id)
}

/// The newest layer that waits for a decision.
#[derive(Clone, Copy)]
struct LastHeldLayer<'a> {
    layer: &'a HeldLayerLine,
    /// Whether some of its changes are in scope and not in the tree.
    holds_part_in_scope: bool,
}

fn next_step(
    registry: &IntentRegistry,
    has_turn: &dyn Fn(&IntentLine) -> bool,
    intents: &[IntentLine],
    runs: &[RunLine],
    last_held: Option<LastHeldLayer<'_>>,
    dirty: &DirtySummary,
) -> String {
    let short = |line: &IntentLine| registry.short_id(&line.intent_id).to_owned();
    let finish = |line: &IntentLine| match &line.root {
        None => format!("`probity finish {}`", short(line)),
        Some(root) => {
            let root = bare_shell_word(root.0.as_os_str().as_bytes());
            format!("`cd {root} && probity finish {}`", short(line))
        }
    };
    let own = |status| intents.iter().find(|line| line.is_yours && line.status == status);
    let is_landing = |line: &IntentLine| line.status == IntentStatus::Landing;
    let is_lapsed = |line: &&IntentLine| line.is_yours && line.lease_left_seconds == 0 && !is_landing(line);
    let lapsed = intents.iter().find(is_lapsed);
    if let Some(line) = lapsed {
        format!("your lease lapsed: `probity intent renew {}`, or {}", short(line), finish(line))
    } else if let Some(line) = own(IntentStatus::Active) {
        format!("edit inside your scope, then {}", finish(line))
    } else if let Some(line) = own(IntentStatus::Queued) {
        let promote = format!("`probity intent promote {}`", short(line));
        if has_turn(line) {
            format!("it is your turn: {promote}")
        } else {
            format!("you are queued: {promote} when those before you have finished")
        }
    } else if let Some(line) = own(IntentStatus::Landing).filter(|line| line.is_here) {
        format!(
            "push the finished work of {}, then `probity team landed`: until then it keeps others off its paths",
            short(line)
        )
    } else if let Some(gone) = intents.iter().find(|line| line.ownership == Ownership::Recoverable) {
        let id = short(gone);
        format!(
            "an owner is gone: `probity intent recover {id}` takes over its work, `probity intent clear {id}` ends it"
        )
    } else if let Some(line) = intents.iter().find(|line| line.handle_kept && line.is_here) {
        format!(
            "several agents work in this worktree: name yourself with `--agent`, as in `probity status --agent {}`",
            bare_shell_word(line.agent.as_bytes())
        )
    } else if let Some(run) = runs.iter().find(|run| run.is_here) {
        // Uncommitted changes may be the run's work, and a commit or a stash would be attributed to the run.
        let id = short_id(&run.run_id);
        format!(
            "run {id} works in this tree: leave its files alone until it has ended; `probity evidence show {id}` then \
             says what it changed"
        )
    } else if let Some(group) = dirty.finished.first() {
        let how = group.commit_command.as_ref().map(|command| format!("`{command}`"));
        let how = how.unwrap_or_else(|| count(group.changed.count, "path"));
        format!("commit the finished work of {}: {how}", group.agent)
    } else if let Some(LastHeldLayer { layer, holds_part_in_scope }) = last_held {
        let id = short_id(&layer.run_id);
        let way_in = if holds_part_in_scope {
            format!("`probity land {id} --in-scope` lands those in scope")
        } else {
            format!("`probity amend {id} --add PATTERN --why '…'` widens the scope for them")
        };
        format!(
            "decide about the held changes: `probity diff {id}` shows them, {way_in}, `probity discard {id}` drops them"
        )
    } else if let Some(work) = dirty.runs.first() {
        let id = short_id(&work.run_id);
        match &work.commit_command {
            Some(command) => format!("commit the work of run {id}: `{command}`"),
            None if work.accepted => {
                format!("commit the work of run {id}: {}", count(work.changed.count, "path"))
            }
            None => format!(
                "run {id} failed and left changes: `probity evidence show {id}` says why, `probity revert {id}` undoes \
                 those out of scope"
            ),
        }
    } else if dirty.unclaimed.count > 0 {
        "uncommitted changes belong to no intent: commit, stash or revert them before a start on those paths"
            .to_owned()
    } else {
        "`probity start` declares a change".to_owned()
    }
}
