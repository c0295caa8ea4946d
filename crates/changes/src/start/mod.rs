//! Starts a change: validates everything, then one compare-and-append grants the claim, queues the intent, or
//! refuses. A refused start leaves nothing behind (law 4).

mod promote;
mod report;

pub use promote::{promote, promote_when_free};
pub(crate) use report::lacking_words;

use super::concurrent_intents::RegistryView;
use super::root_mapping::RootMapping;
use super::start_context::StartContext;
use super::validate;
use crate::landing;
use crate::registry::{
    BaseProbe, Caller, CommandResult, HandleStore, IntentService, KeptHandle, TreeFacts, admin,
};
use crate::team_context::TeamContext;
use probity_api::change::{DetailLevel, ScopeWarning, StartAnswer, StartObstacle, StartRequest};
use probity_core::ReasonCode;
use probity_intents::registry::{
    CommandContext, CommandRefusal, Intent, IntentBase, IntentDeclaration, RegistryAction, RegistryChange,
    RegistryCommand,
};
use probity_intents::start::{ClaimState, DirtyScopePolicy, OnConflict, StartNextStep, StartStatus};
use probity_intents::{
    CommandId, IntentId, IntentOwner, IntentScope, IntentStatus, LackingWork, PeerIntent, StartDecision,
    StartState, TaskKey, start_decision,
};
use probity_knowledge::ledger;
use probity_policy::StrictnessProfile;
use probity_quality::analysis_store::AnalysisStore;
use probity_workspace::progress::ProgressStep;
use probity_workspace::{ServiceError, Workspace, clock};
use std::collections::BTreeSet;
use std::sync::Arc;

#[tracing::instrument(name = "start", skip_all)]
pub fn start(
    workspace: &Workspace,
    caller: &Caller,
    request: &StartRequest,
    progress: &(dyn Fn(ProgressStep) + Sync),
) -> Result<StartAnswer, ServiceError> {
    validate::check_words(request)?;
    let task = request.task.clone().map(TaskKey::parse).transpose();
    let task =
        task.map_err(|error| ServiceError::refused(ReasonCode::IntentInvalid, format!("the task: {error}")))?;
    // Cited items must exist before anything is claimed (law 4).
    ledger::check_items(workspace, &request.implements)?;
    let mut desk = if request.offline {
        StartHandler::open_offline(workspace, caller)?
    } else {
        let service = IntentService::open(workspace)?;
        // An old state proves nothing about others, so it neither grants nor blocks.
        service.require_store()?;
        StartHandler::open(workspace, caller, service)?
    };
    let command = command_id(request)?;
    let intent_id =
        IntentId::parse(command.as_str()).map_err(|error| ServiceError::Missing(error.to_string()))?;
    let ground = StartContext::collect(workspace, request.analyze, progress)?;
    let (scope, warnings) = validate::validate_scope(&workspace.root, request, &ground.status.snapshot)?;
    if !request.offline {
        crate::team::check_joined(workspace, &ground.policy.policy.team)?;
    }
    let scope = ground.paths.to_repo_scope(&scope);
    let ask = StartAttempt {
        context: &ground,
        tree: desk.tree_facts(&ground, &scope),
        scope,
        warnings,
        policy: request.dirty_scope_policy,
        on_conflict: request.on_conflict,
        strictness: request.strictness,
        detail: request.detail_level,
        queued_intent: None,
    };
    if let Some(known) = desk.find_repeated_start(&intent_id, request, &ask.scope)? {
        return desk.replay(&ask, &known);
    }
    desk.land_found(&ask.scope)?;
    let decision = desk.decision(&ask)?;
    if decision.claim == ClaimState::None {
        return desk.refused_answer(&ask, &decision);
    }
    let declaration = IntentDeclaration {
        intent_id: intent_id.clone(),
        description: request.description.clone(),
        expected_effects: request.expected_effects.clone(),
        scope: ask.scope.clone(),
        ttl_seconds: request.ttl_seconds.unwrap_or(admin::DEFAULT_TTL_SECONDS),
        lease_seconds: request.lease_seconds.unwrap_or(admin::DEFAULT_LEASE_SECONDS),
        base: ground.base(workspace, &ask.scope, desk.place(&ground.paths))?,
        task,
    };
    let action = RegistryAction::Start {
        declaration,
        dirty_scope_policy: request.dirty_scope_policy,
        on_conflict: request.on_conflict,
    };
    let command = RegistryCommand { id: command, by: desk.owner.clone(), action };
    // Kept before the claim, so that a kill in between never leaves a claim that nobody can release.
    let handles = request.keep_handle.then(|| HandleStore::of(workspace));
    if let Some(handles) = &handles {
        let (handle, label) = (caller.handle.clone(), desk.owner.label.clone());
        handles.keep(&KeptHandle { intent_id: intent_id.clone(), handle, label })?;
    }
    let mut answer = desk.claim(&ask, &intent_id, &command)?;
    if let Some(handles) = &handles {
        if answer.claim == ClaimState::None {
            handles.forget(&intent_id)?;
        }
        handles.prune(desk.service.registry(), &desk.service.command_context()?)?;
    }
    if answer.claim != ClaimState::None && !request.implements.is_empty() {
        let cited = ledger::cite(workspace, intent_id.as_str(), &request.implements, &desk.owner.label)?;
        answer.implements = cited.citations.into_iter().map(|citation| citation.item).collect();
    }
    Ok(answer)
}

struct StartAttempt<'a> {
    context: &'a StartContext,
    tree: TreeFacts,
    /// In the registry's path names.
    scope: IntentScope,
    warnings: Vec<ScopeWarning>,
    policy: DirtyScopePolicy,
    on_conflict: OnConflict,
    strictness: Option<StrictnessProfile>,
    detail: DetailLevel,
    /// The queued intent, if this is its promotion.
    queued_intent: Option<IntentId>,
}

struct StartHandler<'a> {
    workspace: &'a Workspace,
    service: IntentService,
    owner: IntentOwner,
    /// Intents that belong to the caller by a handle kept in this worktree.
    kept: BTreeSet<IntentId>,
    team: Option<TeamContext>,
    /// Whether the store of the team is not asked.
    is_uncoordinated: bool,
    /// Finished changes whose landing was seen.
    landed: Vec<IntentId>,
}

impl<'a> StartHandler<'a> {
    fn open(workspace: &'a Workspace, caller: &Caller, service: IntentService) -> Result<Self, ServiceError> {
        let owner = service.owner_of(caller)?;
        let kept = HandleStore::of(workspace).own_intents(service.registry(), caller);
        let team = TeamContext::of(workspace)?;
        let is_uncoordinated = team.is_some() && !service.is_shared();
        Ok(Self { workspace, service, owner, kept, team, is_uncoordinated, landed: Vec::new() })
    }

    /// Opens a start that does not ask the store of the team.
    fn open_offline(workspace: &'a Workspace, caller: &Caller) -> Result<Self, ServiceError> {
        let mut handler = Self::open(workspace, caller, IntentService::open_local(workspace)?)?;
        if handler.team.is_none() && workspace.load_policy()?.policy.team.repository.is_none() {
            let detail =
                "this clone is in no team, so a start asks nobody else anyway: leave `--offline` out";
            return Err(ServiceError::refused(ReasonCode::TeamInvalid, detail));
        }
        handler.is_uncoordinated = true;
        Ok(handler)
    }

    /// Returns where the change is made and what it is for.
    fn place(&self, paths: &RootMapping) -> IntentBase {
        let team = self.team.as_ref();
        IntentBase {
            tree: Some(paths.root_name()),
            line: team.and_then(|team| team.line.clone()),
            shared: team.filter(|_| !self.is_uncoordinated).and_then(TeamContext::shared_overlap),
            is_uncoordinated: self.is_uncoordinated,
            ..IntentBase::default()
        }
    }

    fn tree_facts(&self, context: &StartContext, scope: &IntentScope) -> TreeFacts {
        let base = self.team.as_ref().map(|team| -> Arc<dyn BaseProbe> {
            Arc::new(team.tree_base(self.workspace, &context.status, &context.paths, scope))
        });
        TreeFacts {
            run_available: context.analysis.is_some(),
            dirty: context.dirty_repo_paths(),
            base,
            stale_base: self.team.as_ref().map(TeamContext::stale_base).unwrap_or_default(),
        }
    }

    /// Ends the wait of finished work on these paths that this clone sees on the remote.
    fn land_found(&mut self, scope: &IntentScope) -> Result<(), ServiceError> {
        let Some(team) = self.team.as_ref().filter(|_| !self.is_uncoordinated) else { return Ok(()) };
        let landed = landing::land_found_in(self.workspace, team, &mut self.service, &self.owner, scope)?;
        self.landed = landed.into_iter().map(|change| change.intent_id).collect();
        Ok(())
    }

    /// Returns the intent that an earlier execution of this same start led to.
    fn find_repeated_start(
        &self,
        id: &IntentId,
        request: &StartRequest,
        scope: &IntentScope,
    ) -> Result<Option<Intent>, ServiceError> {
        let is_same = |intent: &&Intent| {
            intent.owner.is_same_owner(&self.owner)
                && with_amendments(scope, intent) == intent.scope
                && intent.description == request.description
        };
        match (self.service.registry().intent(id), &request.command_id) {
            (Some(intent), _) if is_same(&intent) => Ok(Some(intent.clone())),
            (Some(_), _) => Err(CommandRefusal::CommandIdReused.into()),
            (None, Some(_)) => Ok(None),
            (None, None) => {
                let seen = self.service.command_context()?;
                let is_own = |intent: &&Intent| intent.ownership(&self.owner, &seen).is_own();
                Ok(self.service.registry().open_intents().filter(is_own).find(is_same).cloned())
            }
        }
    }

    fn decision(&self, ask: &StartAttempt<'_>) -> Result<StartDecision, ServiceError> {
        let circumstances = self.service.command_context()?;
        let seen = self.registry_view(&circumstances, &ask.context.paths);
        Ok(start_decision(&StartState {
            run_available: ask.context.analysis.is_some(),
            scope: ask.scope.clone(),
            concurrent_intents: self.peers(&seen, &ask.scope, ask.queued_intent.as_ref())?,
            dirty: ask.context.dirty_repo_paths(),
            dirty_scope_policy: ask.policy,
            on_conflict: ask.on_conflict,
            lacking: self.lacking(ask)?,
            stale_base: ask.tree.stale_base,
        }))
    }

    /// Executes the command in the registry; its analysis is pinned before anyone can hold the claim.
    fn claim(
        &mut self,
        ask: &StartAttempt<'_>,
        id: &IntentId,
        command: &RegistryCommand,
    ) -> Result<StartAnswer, ServiceError> {
        let runs = AnalysisStore::open(self.workspace);
        if let Some(side) = &ask.context.analysis {
            runs.pin(side.run.id, id.as_str())?;
        }
        match self.service.execute_command(command, &ask.tree) {
            Ok(done) => self.granted_answer(ask, id, done),
            Err(ServiceError::Intent(refusal)) => {
                if ask.queued_intent.is_none() {
                    runs.unpin(id.as_str())?;
                }
                self.refusal_answer(ask, *refusal)
            }
            Err(fault) => Err(fault),
        }
    }

    fn granted_answer(
        &self,
        ask: &StartAttempt<'_>,
        id: &IntentId,
        done: CommandResult,
    ) -> Result<StartAnswer, ServiceError> {
        let mut decision = self.decision_for_intent(ask, id)?;
        let queued = matches!(done.event.map(|event| event.change), Some(RegistryChange::Queued { .. }));
        if queued {
            // A queued intent gets its before-analysis from the tree at its promotion.
            AnalysisStore::open(self.workspace).unpin(id.as_str())?;
        }
        decision.status = if queued { StartStatus::Queued } else { StartStatus::Active };
        decision.edit_allowed = !queued;
        let mut answer = self.build_answer(ask, &decision, Some(id), done.notices)?;
        answer.idempotent_replay = done.repeated;
        Ok(answer)
    }

    /// Returns the decision from the view of the new intent itself.
    fn decision_for_intent(
        &self,
        ask: &StartAttempt<'_>,
        id: &IntentId,
    ) -> Result<StartDecision, ServiceError> {
        let circumstances = self.service.command_context()?;
        let seen = self.registry_view(&circumstances, &ask.context.paths);
        let mut decision = start_decision(&StartState {
            run_available: true,
            scope: ask.scope.clone(),
            concurrent_intents: self.peers(&seen, &ask.scope, Some(id))?,
            dirty: ask.context.dirty_repo_paths(),
            dirty_scope_policy: ask.policy,
            on_conflict: ask.on_conflict,
            lacking: self.lacking(ask)?,
            stale_base: ask.tree.stale_base,
        });
        let position = self.service.registry().queue_position(id, &self.owner, &circumstances);
        decision.queue_position = position;
        let status = self.service.registry().intent(id).map(|intent| intent.status);
        (decision.next_step, decision.claim) = match status {
            Some(IntentStatus::Queued) => (StartNextStep::WaitThenPromote, ClaimState::Queued),
            _ => (StartNextStep::EditInScope, ClaimState::Granted),
        };
        if status == Some(IntentStatus::Active) {
            decision.reasons.clear();
        }
        Ok(decision)
    }

    fn refused_answer(
        &self,
        ask: &StartAttempt<'_>,
        decision: &StartDecision,
    ) -> Result<StartAnswer, ServiceError> {
        let notices = self.service.registry().notices(&self.owner);
        self.build_answer(ask, decision, ask.queued_intent.as_ref(), notices)
    }

    /// Turns a refusal that belongs in a start's answer into one; any other is returned as an error.
    fn refusal_answer(
        &self,
        ask: &StartAttempt<'_>,
        refusal: CommandRefusal,
    ) -> Result<StartAnswer, ServiceError> {
        let (code, advice) = (refusal.code(), refusal.next_step());
        let (blocked_by, step) = match refusal {
            CommandRefusal::Blocked { decision } => return self.refused_answer(ask, &decision),
            CommandRefusal::QueueAhead { waiters } => (waiters, StartNextStep::QueueOrNarrowScope),
            CommandRefusal::OverlapsOwn { holder } => ([holder].into(), StartNextStep::FinishOwnIntent),
            other => return Err(other.into()),
        };
        let mut decision = self.decision(ask)?;
        decision.status = StartStatus::Blocked;
        decision.edit_allowed = false;
        decision.claim = ClaimState::None;
        decision.blocked_by = blocked_by;
        decision.reasons.clear();
        let mut answer = self.refused_answer(ask, &decision)?;
        answer.reasons = vec![StartObstacle::Registry(code)];
        answer.reason = answer.reasons.first().copied();
        answer.next_step = step;
        answer.message = format!("{}: {advice}", code.meaning());
        Ok(answer)
    }

    fn replay(&mut self, ask: &StartAttempt<'_>, known: &Intent) -> Result<StartAnswer, ServiceError> {
        self.service.touch(&self.owner)?;
        let mut decision = self.decision_for_intent(ask, &known.id)?;
        decision.status = match known.status {
            IntentStatus::Active => StartStatus::Active,
            IntentStatus::Queued => StartStatus::Queued,
            _ => return Err(CommandRefusal::wrong_status(known).into()),
        };
        decision.edit_allowed = known.status == IntentStatus::Active;
        let notices = self.service.registry().notices(&self.owner);
        let mut answer = self.build_answer(ask, &decision, Some(&known.id), notices)?;
        answer.idempotent_replay = true;
        answer.run_id = Some(known.base.run_id.clone());
        Ok(answer)
    }

    /// Returns the open intents and governed runs that a start must consider.
    fn peers(
        &self,
        seen: &RegistryView<'_>,
        scope: &IntentScope,
        except: Option<&IntentId>,
    ) -> Result<Vec<PeerIntent>, ServiceError> {
        let base = self.place(seen.paths);
        Ok(seen.contenders(scope, &base, except).into_iter().chain(self.service.run_peers(scope)?).collect())
    }

    /// Returns the work of other trees that this one lacks; for a start that asks nobody, as far as it was last known.
    fn lacking(&self, ask: &StartAttempt<'_>) -> Result<Vec<LackingWork>, ServiceError> {
        self.service.lacking(&ask.scope, &self.place(&ask.context.paths), &ask.tree)
    }

    fn registry_view<'s>(
        &'s self,
        circumstances: &'s CommandContext,
        frame: &'s RootMapping,
    ) -> RegistryView<'s> {
        RegistryView {
            registry: self.service.registry(),
            owner: &self.owner,
            context: circumstances,
            paths: frame,
            kept: &self.kept,
        }
    }
}

/// Adds an intent's later amendments to a declared scope.
fn with_amendments(declared: &IntentScope, intent: &Intent) -> IntentScope {
    let mut scope = declared.clone();
    for amendment in &intent.amendments {
        scope.allowed_files.extend(amendment.allowed_files.iter().cloned());
        scope.allowed_related.extend(amendment.allowed_related.iter().cloned());
    }
    scope
}

fn command_id(request: &StartRequest) -> Result<CommandId, ServiceError> {
    let text = request.command_id.clone().unwrap_or_else(clock::run_id);
    CommandId::parse(text)
        .map_err(|error| ServiceError::refused(ReasonCode::IntentInvalid, error.to_string()))
}
