//! Promotes a queued intent to a claim on the current tree.

use super::{StartAttempt, StartHandler};
use crate::registry::{Caller, IntentService};
use crate::root_mapping::RootMapping;
use crate::start_context::StartContext;
use probity_api::change::{DetailLevel, PromoteRequest, StartAnswer, StartObstacle};
use probity_intents::registry::{RegistryAction, RegistryCommand};
use probity_intents::start::{ClaimState, OnConflict, StartNextStep, StartReason, StartStatus};
use probity_intents::{CommandId, IntentStatus};
use probity_workspace::progress::ProgressStep;
use probity_workspace::{ServiceError, Workspace, clock};
use std::time::{Duration, Instant};

/// How long a waiter sleeps before it renews its sign of life.
const WAITER_HEARTBEAT_INTERVAL: Duration = Duration::from_secs(5);

/// Turns a place in the queue into a claim, based on the current tree.
pub fn promote(
    workspace: &Workspace,
    caller: &Caller,
    request: &PromoteRequest,
    progress: &(dyn Fn(ProgressStep) + Sync),
) -> Result<StartAnswer, ServiceError> {
    let service = IntentService::open_with(workspace, &request.intent_id)?;
    let mut desk = StartHandler::open(workspace, caller, service)?;
    desk.promote(request, progress)
}

/// Waits at most `patience` until nothing blocks a queued intent, then promotes it. Its owner counts as alive while it waits.
pub fn promote_when_free(
    workspace: &Workspace,
    caller: &Caller,
    request: &PromoteRequest,
    patience: Duration,
    progress: &(dyn Fn(ProgressStep) + Sync),
) -> Result<StartAnswer, ServiceError> {
    let end = Instant::now().checked_add(patience);
    let service = IntentService::open_with(workspace, &request.intent_id)?;
    let mut desk = StartHandler::open(workspace, caller, service)?;
    loop {
        let left = end.map_or(WAITER_HEARTBEAT_INTERVAL, |end| end.saturating_duration_since(Instant::now()));
        if left.is_zero() || desk.is_free(&request.intent_id)? {
            return desk.promote(request, progress);
        }
        workspace.cancellation.check()?;
        progress(ProgressStep::Waiting);
        desk.service.touch(&desk.owner)?;
        desk.service.wait(left.min(WAITER_HEARTBEAT_INTERVAL))?;
    }
}

impl StartHandler<'_> {
    fn is_free(&mut self, id: &str) -> Result<bool, ServiceError> {
        self.service.refresh()?;
        let intent = self.service.resolve(id)?;
        let circumstances = self.service.command_context()?;
        let frame = RootMapping::for_workspace(self.workspace);
        let seen = self.registry_view(&circumstances, &frame);
        let in_the_way =
            seen.concurrent_work(&intent.scope, &intent.base, Some(&intent.id), DetailLevel::Full);
        let first = self.service.registry().queue_position(&intent.id, &self.owner, &circumstances);
        let runs = self.service.run_peers(&intent.scope)?;
        Ok(runs.is_empty()
            && in_the_way.concurrent_intents.is_empty()
            && first.is_none_or(|position| position == 1))
    }

    fn promote(
        &mut self,
        request: &PromoteRequest,
        progress: &(dyn Fn(ProgressStep) + Sync),
    ) -> Result<StartAnswer, ServiceError> {
        let intent = self.service.resolve(&request.intent_id)?.clone();
        let ground = StartContext::collect(self.workspace, request.analyze, progress)?;
        let ask = StartAttempt {
            context: &ground,
            tree: self.tree_facts(&ground, &intent.scope),
            scope: intent.scope.clone(),
            warnings: Vec::new(),
            policy: request.dirty_scope_policy,
            on_conflict: OnConflict::Block,
            strictness: request.strictness,
            detail: request.detail_level,
            queued_intent: Some(intent.id.clone()),
        };
        if intent.owner.is_same_owner(&self.owner) && intent.status == IntentStatus::Active {
            return self.replay(&ask, &intent);
        }
        self.land_found(&ask.scope)?;
        if ground.analysis.is_none() {
            let mut answer = self.refused_answer(&ask, &self.decision(&ask)?)?;
            answer.reasons = vec![StartObstacle::Rule(StartReason::BeforeRunEvicted)];
            answer.reason = answer.reasons.first().copied();
            return Ok(answer);
        }
        let action = RegistryAction::Promote {
            intent_id: intent.id.clone(),
            base: ground.base(self.workspace, &ask.scope, self.place(&ground.paths))?,
            dirty_scope_policy: request.dirty_scope_policy,
        };
        let id =
            CommandId::parse(clock::run_id()).map_err(|error| ServiceError::Missing(error.to_string()))?;
        let mut answer =
            self.claim(&ask, &intent.id, &RegistryCommand { id, by: self.owner.clone(), action })?;
        if answer.status == StartStatus::Blocked {
            // It keeps its place; the reasons say what blocks it.
            answer.status = StartStatus::Queued;
            answer.claim = ClaimState::Queued;
            let promote =
                format!("`probity intent promote {}`", self.service.registry().short_id(&intent.id));
            answer.message = if answer.next_step == StartNextStep::CleanDirtyScope {
                format!("still queued, do not edit yet: {}; then {promote}", answer.message)
            } else {
                format!(
                    "still queued, do not edit yet: {promote} when those before you have finished, with `--wait SECONDS` \
                     to wait for it"
                )
            };
        }
        Ok(answer)
    }
}
