//! Starting a change: validate everything, then one compare-and-append grants the claim, gives a place in the queue, or
//! refuses. A refused start leaves nothing behind (law 4).

use super::answer::{self, BlastSummary, Neighbours, ScopeWarning, StartAnswer};
use super::declare;
use super::frame::Frame;
use super::ground::Ground;
use super::neighbours::Seen;
use super::request::{DetailLevel, PromoteRequest, StartRequest};
use super::view::View;
use crate::analyze::{self, Progress};
use crate::contract::{BaselineFile, Side};
use crate::registry::{Caller, Done, Shell, TreeFacts};
use crate::runs::{Runs, Stored};
use crate::{Fault, Workspace, clock};
use contract::StrictnessProfile;
use intent::registry::{Action, Change, Command, Declaration, Intent, Notice, Refusal};
use intent::start::{ClaimState, DirtyScopePolicy, OnConflict, StartNextStep, StartStatus};
use intent::{CommandId, IntentId, IntentScope, Owner, StartDecision, StartState, Status, start_decision};
use paths::RepoPath;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// How long a waiter sleeps at most before it says again that it is alive.
const PULSE: Duration = Duration::from_secs(5);

/// Starts a change.
pub fn start(
    workspace: &Workspace,
    caller: &Caller,
    request: &StartRequest,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<StartAnswer, Fault> {
    declare::check_words(request)?;
    let mut desk = Desk::open(workspace, caller)?;
    let command = command_id(request)?;
    let intent_id = IntentId::parse(command.as_str()).map_err(|error| Fault::Missing(error.to_string()))?;
    let ground = Ground::survey(workspace, request.analyze, progress)?;
    let (scope, warnings) = declare::scope(request, &ground.look.snapshot)?;
    let ask = Ask {
        ground: &ground,
        scope: ground.frame.scope_up(&scope),
        warnings,
        policy: request.dirty_scope_policy,
        on_conflict: request.on_conflict,
        strictness: request.strictness,
        detail: request.detail_level,
        place: None,
    };
    if let Some(known) = desk.known(&intent_id, request, &ask.scope)? {
        return desk.replay(&ask, &known);
    }
    let decision = desk.decision(&ask)?;
    if decision.claim == ClaimState::None {
        return desk.refused(&ask, &decision);
    }
    let declaration = Declaration {
        intent_id: intent_id.clone(),
        description: request.description.clone(),
        expected_effects: request.expected_effects.clone(),
        scope: ask.scope.clone(),
        ttl_seconds: request.ttl_seconds.unwrap_or(declare::TTL_SECONDS),
        lease_seconds: request.lease_seconds.unwrap_or(declare::LEASE_SECONDS),
        base: ground.base(workspace, &ask.scope)?,
    };
    let action = Action::Start {
        declaration,
        dirty_scope_policy: request.dirty_scope_policy,
        on_conflict: request.on_conflict,
    };
    let command = Command { id: command, by: desk.owner.clone(), action };
    desk.claim(&ask, &intent_id, &command)
}

/// Turns a place in the queue into a claim, from the tree as it is now.
pub fn promote(
    workspace: &Workspace,
    caller: &Caller,
    request: &PromoteRequest,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<StartAnswer, Fault> {
    let mut desk = Desk::open(workspace, caller)?;
    desk.promote(request, progress)
}

/// Waits for at most `patience` until the way of a queued intent is free, then promotes it. While it waits, its owner
/// counts as alive.
pub fn promote_when_free(
    workspace: &Workspace,
    caller: &Caller,
    request: &PromoteRequest,
    patience: Duration,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<StartAnswer, Fault> {
    let end = Instant::now().checked_add(patience);
    let mut desk = Desk::open(workspace, caller)?;
    loop {
        let left = end.map_or(PULSE, |end| end.saturating_duration_since(Instant::now()));
        if left.is_zero() || desk.is_free(&request.intent_id)? {
            return desk.promote(request, progress);
        }
        desk.shell.touch(&desk.owner)?;
        desk.shell.wait(left.min(PULSE))?;
    }
}

/// What is asked for, with the ground that it is asked on.
struct Ask<'a> {
    ground: &'a Ground,
    /// As the registry names it.
    scope: IntentScope,
    warnings: Vec<ScopeWarning>,
    policy: DirtyScopePolicy,
    on_conflict: OnConflict,
    strictness: Option<StrictnessProfile>,
    detail: DetailLevel,
    /// The waiting intent that asks, if it is one.
    place: Option<IntentId>,
}

/// One owner at the registry.
struct Desk<'a> {
    workspace: &'a Workspace,
    shell: Shell,
    owner: Owner,
}

impl<'a> Desk<'a> {
    fn open(workspace: &'a Workspace, caller: &Caller) -> Result<Self, Fault> {
        let shell = Shell::open(workspace)?;
        let owner = caller.owner(shell.host())?;
        Ok(Self { workspace, shell, owner })
    }

    /// The intent that this very start led to before, if it did.
    fn known(
        &self,
        id: &IntentId,
        request: &StartRequest,
        scope: &IntentScope,
    ) -> Result<Option<Intent>, Fault> {
        let is_same = |intent: &&Intent| {
            intent.owner.is(&self.owner)
                && with_amendments(scope, intent) == intent.scope
                && intent.description == request.description
        };
        match (self.shell.registry().intent(id), &request.command_id) {
            (Some(intent), _) if is_same(&intent) => Ok(Some(intent.clone())),
            (Some(_), _) => Err(Refusal::CommandIdReused.into()),
            (None, Some(_)) => Ok(None),
            (None, None) => {
                let seen = self.shell.circumstances()?;
                let is_open = |intent: &&Intent| {
                    !intent.status.is_closed() && intent.ownership(&self.owner, &seen).is_own()
                };
                Ok(self.shell.registry().intents().filter(is_open).find(is_same).cloned())
            }
        }
    }

    /// What the start rules say now.
    fn decision(&self, ask: &Ask<'_>) -> Result<StartDecision, Fault> {
        let circumstances = self.shell.circumstances()?;
        let seen = self.seen(&circumstances, &ask.ground.frame);
        Ok(start_decision(&StartState {
            run_available: ask.ground.run.is_some(),
            scope: ask.scope.clone(),
            concurrent_intents: seen.peers(ask.place.as_ref()),
            dirty: ask.ground.dirty(),
            dirty_scope_policy: ask.policy,
            on_conflict: ask.on_conflict,
        }))
    }

    /// Gives the command to the registry; its run is pinned before anybody can hold it.
    fn claim(&mut self, ask: &Ask<'_>, id: &IntentId, command: &Command) -> Result<StartAnswer, Fault> {
        let runs = Runs::open(self.workspace);
        if let Some(stored) = &ask.ground.run {
            runs.pin(stored.run.id, id.as_str())?;
        }
        let tree = TreeFacts { run_available: ask.ground.run.is_some(), dirty: ask.ground.dirty() };
        match self.shell.execute_command(command, &tree) {
            Ok(done) => self.granted(ask, id, done),
            Err(Fault::Intent(refusal)) => {
                if ask.place.is_none() {
                    runs.unpin(id.as_str())?;
                }
                self.refusal(ask, *refusal)
            }
            Err(fault) => Err(fault),
        }
    }

    fn granted(&self, ask: &Ask<'_>, id: &IntentId, done: Done) -> Result<StartAnswer, Fault> {
        let mut decision = self.decision_as(ask, id)?;
        let queued = matches!(done.event.map(|event| event.change), Some(Change::Queued { .. }));
        if queued {
            // Its before-run is the one of the tree at its promotion.
            Runs::open(self.workspace).unpin(id.as_str())?;
        }
        decision.status = if queued { StartStatus::Queued } else { StartStatus::Active };
        decision.edit_allowed = !queued;
        let mut answer = self.compose(ask, &decision, Some(id), done.notices)?;
        answer.idempotent_replay = done.repeated;
        Ok(answer)
    }

    /// The decision as it looks to the intent itself, once it is there.
    fn decision_as(&self, ask: &Ask<'_>, id: &IntentId) -> Result<StartDecision, Fault> {
        let circumstances = self.shell.circumstances()?;
        let seen = self.seen(&circumstances, &ask.ground.frame);
        let mut decision = start_decision(&StartState {
            run_available: true,
            scope: ask.scope.clone(),
            concurrent_intents: seen.peers(Some(id)),
            dirty: ask.ground.dirty(),
            dirty_scope_policy: ask.policy,
            on_conflict: ask.on_conflict,
        });
        let position = self.shell.registry().queue_position(id, &self.owner, &circumstances);
        decision.queue_position = position;
        let status = self.shell.registry().intent(id).map(|intent| intent.status);
        (decision.next_step, decision.claim) = match status {
            Some(Status::Queued) => (StartNextStep::WaitThenPromote, ClaimState::Queued),
            _ => (StartNextStep::EditInScope, ClaimState::Granted),
        };
        if status == Some(Status::Active) {
            decision.reasons.clear();
        }
        Ok(decision)
    }

    fn refused(&self, ask: &Ask<'_>, decision: &StartDecision) -> Result<StartAnswer, Fault> {
        let notices = self.shell.registry().notices(&self.owner);
        self.compose(ask, decision, ask.place.as_ref(), notices)
    }

    /// A refusal that is an answer to a start; any other is a fault of the caller.
    fn refusal(&self, ask: &Ask<'_>, refusal: Refusal) -> Result<StartAnswer, Fault> {
        let (code, next_step) = (refusal.code(), refusal.next_step());
        let (blocked_by, word) = match refusal {
            Refusal::Blocked { decision } => return self.refused(ask, &decision),
            Refusal::QueueAhead { waiters } => (waiters, "queue_or_narrow_scope"),
            Refusal::OverlapsOwn { holder } => ([holder].into(), "finish_own_intent"),
            other => return Err(other.into()),
        };
        let mut decision = self.decision(ask)?;
        decision.status = StartStatus::Blocked;
        decision.edit_allowed = false;
        decision.claim = ClaimState::None;
        decision.blocked_by = blocked_by;
        decision.reasons.clear();
        let mut answer = self.refused(ask, &decision)?;
        answer.reasons = vec![code.to_owned()];
        answer.reason = Some(code.to_owned());
        word.clone_into(&mut answer.next_step);
        answer.message = format!("the start is refused ({code}): {next_step}");
        Ok(answer)
    }

    fn replay(&mut self, ask: &Ask<'_>, known: &Intent) -> Result<StartAnswer, Fault> {
        self.shell.touch(&self.owner)?;
        let mut decision = self.decision_as(ask, &known.id)?;
        decision.status = match known.status {
            Status::Active => StartStatus::Active,
            Status::Queued => StartStatus::Queued,
            status => return Err(Refusal::WrongStatus { intent_id: known.id.clone(), status }.into()),
        };
        decision.edit_allowed = known.status == Status::Active;
        let notices = self.shell.registry().notices(&self.owner);
        let mut answer = self.compose(ask, &decision, Some(&known.id), notices)?;
        answer.idempotent_replay = true;
        answer.run_id = Some(known.base.run_id.clone());
        Ok(answer)
    }

    fn is_free(&mut self, id: &str) -> Result<bool, Fault> {
        self.shell.refresh()?;
        let intent = self.shell.resolve(id)?;
        let circumstances = self.shell.circumstances()?;
        let frame = Frame::of(self.workspace);
        let seen = self.seen(&circumstances, &frame);
        let in_the_way = seen.neighbours(&intent.scope, Some(&intent.id), DetailLevel::Full);
        let first = self.shell.registry().queue_position(&intent.id, &self.owner, &circumstances);
        Ok(in_the_way.concurrent_intents.is_empty() && first.is_none_or(|position| position == 1))
    }

    fn promote(
        &mut self,
        request: &PromoteRequest,
        progress: &(dyn Fn(Progress) + Sync),
    ) -> Result<StartAnswer, Fault> {
        let intent = self.shell.resolve(&request.intent_id)?.clone();
        let ground = Ground::survey(self.workspace, request.analyze, progress)?;
        let ask = Ask {
            ground: &ground,
            scope: intent.scope.clone(),
            warnings: Vec::new(),
            policy: request.dirty_scope_policy,
            on_conflict: OnConflict::Block,
            strictness: request.strictness,
            detail: request.detail_level,
            place: Some(intent.id.clone()),
        };
        if intent.owner.is(&self.owner) && intent.status == Status::Active {
            return self.replay(&ask, &intent);
        }
        if ground.run.is_none() {
            let mut answer = self.refused(&ask, &self.decision(&ask)?)?;
            answer.reasons = vec!["before_run_evicted".into()];
            answer.reason = answer.reasons.first().cloned();
            return Ok(answer);
        }
        let action = Action::Promote {
            intent_id: intent.id.clone(),
            base: ground.base(self.workspace, &ask.scope)?,
            dirty_scope_policy: request.dirty_scope_policy,
        };
        let id = CommandId::parse(clock::run_id()).map_err(|error| Fault::Missing(error.to_string()))?;
        let mut answer = self.claim(&ask, &intent.id, &Command { id, by: self.owner.clone(), action })?;
        if answer.status == StartStatus::Blocked {
            // It keeps its place: what stands in its way is said in the reasons.
            answer.status = StartStatus::Queued;
            answer.claim = ClaimState::Queued;
        }
        Ok(answer)
    }

    fn budget(&self, stored: &Stored, asked: Option<StrictnessProfile>) -> Result<Value, Fault> {
        let baseline = BaselineFile::of_tree(self.workspace)?;
        let side = Side { run: stored.run.clone(), report_digest: stored.report_digest, baseline };
        let policy = self.workspace.policy()?;
        let limits = analyze::gate_rules(&policy)?;
        let rules = super::stricter(policy.contract, asked);
        let budget = crate::contract::budget(&side, &rules, &limits);
        Ok(json!({
            "strictness": rules.strictness(),
            "budgets": budget,
            "gate_preview": { "would_fail": budget.gate_fails_already },
        }))
    }

    fn seen<'s>(&'s self, circumstances: &'s intent::registry::Circumstances, frame: &'s Frame) -> Seen<'s> {
        Seen { registry: self.shell.registry(), owner: &self.owner, circumstances, frame }
    }

    fn compose(
        &self,
        ask: &Ask<'_>,
        decision: &StartDecision,
        id: Option<&IntentId>,
        notices: Vec<Notice>,
    ) -> Result<StartAnswer, Fault> {
        let circumstances = self.shell.circumstances()?;
        let frame = &ask.ground.frame;
        let intent = id.and_then(|id| self.shell.registry().intent(id));
        let looked = decision.status != StartStatus::NeedsAnalysis;
        let seen = self.seen(&circumstances, frame);
        let view = View {
            look: &ask.ground.look,
            frame,
            git_available: self.workspace.git.is_some(),
            detail: ask.detail,
        };
        let scope = frame.scope_down(&ask.scope);
        let run = ask.ground.run.as_ref();
        let shown_run = run.filter(|_| decision.status != StartStatus::Queued);
        let reasons: Vec<String> = decision.reasons.iter().map(word).collect();
        Ok(StartAnswer {
            schema: "probity/start/v1",
            status: decision.status,
            edit_allowed: decision.edit_allowed,
            intent_id: intent.map(|intent| intent.id.clone()),
            token: intent.and_then(|intent| intent.token),
            claim: decision.claim,
            reason: reasons.first().cloned(),
            reasons,
            next_step: word(&decision.next_step),
            message: message(decision),
            user_action_required: !decision.edit_allowed,
            idempotent_replay: false,
            run_id: run.map(|stored| stored.run.id.0.to_string()),
            dirty_scope_policy: ask.policy,
            warnings: ask.warnings.clone(),
            blocked_by: decision.blocked_by.iter().cloned().collect(),
            queue_position: decision.queue_position,
            lease_expires_at: intent.map(|intent| answer::shown(intent.lease(&circumstances).ends_at())),
            expires_at: intent.map(|intent| answer::shown(intent.expires_at)),
            workspace: if looked {
                seen.neighbours(&ask.scope, id, ask.detail)
            } else {
                Neighbours::default()
            },
            workspace_hygiene: looked.then(|| view.start(decision)),
            blast_radius: shown_run.map(|stored| blast(&stored.run, &scope, &view)),
            budget: match shown_run {
                Some(stored) => Some(self.budget(stored, ask.strictness)?),
                None => None,
            },
            scope,
            notices,
        })
    }
}

/// A declared scope with what amendments added to an intent since.
fn with_amendments(declared: &IntentScope, intent: &Intent) -> IntentScope {
    let mut scope = declared.clone();
    for amendment in &intent.amendments {
        scope.allowed_files.extend(amendment.allowed_files.iter().cloned());
        scope.allowed_related.extend(amendment.allowed_related.iter().cloned());
    }
    scope
}

fn command_id(request: &StartRequest) -> Result<CommandId, Fault> {
    let text = request.command_id.clone().unwrap_or_else(clock::run_id);
    CommandId::parse(text).map_err(|error| Fault::refused(canon::Reason::IntentInvalid, error.to_string()))
}

fn word(value: &impl serde::Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(word)) => word,
        _ => String::new(),
    }
}

fn blast(run: &analysis::Run, scope: &IntentScope, view: &View<'_>) -> BlastSummary {
    let paths = scope.entries().filter_map(|entry| RepoPath::parse(entry.as_bytes()).ok()).collect();
    let blast = analysis::blast_radius(run, &paths);
    BlastSummary {
        radius_level: match blast.transitive.len() {
            0..=4 => "low",
            5..=24 => "medium",
            _ => "high",
        },
        direct_dependents_count: blast.direct.len(),
        transitive_dependents_count: blast.transitive.len(),
        clone_siblings_count: blast.clone_siblings.len(),
        cycles_count: blast.cycles.len(),
        direct_dependents: view.list(blast.direct.iter()),
        clone_siblings: view.list(blast.clone_siblings.iter()),
        unknown: view.list(blast.unknown.iter()),
    }
}

fn message(decision: &StartDecision) -> String {
    let holders = decision.blocked_by.len();
    match decision.next_step {
        StartNextStep::AnalyzeThenStart => {
            "no stored run describes the tree as it is: analyse it, then start again".into()
        }
        StartNextStep::WaitThenPromote => {
            let place = decision.queue_position.unwrap_or(1);
            format!("you wait at place {place}: do not edit; promote the intent when those before you have finished")
        }
        StartNextStep::CoordinateAndClean => format!(
            "{holders} live intent(s) of others hold paths of this scope, and it has uncommitted changes: coordinate \
             with their owners, queue, or narrow the scope; do not edit"
        ),
        StartNextStep::CoordinateWithOwner => format!(
            "{holders} live intent(s) of others hold paths of this scope: coordinate with their owners, queue, or \
             narrow the scope; do not edit"
        ),
        StartNextStep::CoordinateWithStaleOwner => format!(
            "{holders} intent(s) of silent owners hold paths of this scope: coordinate, or wait until they are over; \
             do not edit"
        ),
        StartNextStep::CleanDirtyScope => {
            "the scope has uncommitted changes: commit, stash or revert them, or start with continue_own_wip if they \
             are yours"
                .into()
        }
        StartNextStep::EditInScope => "edit inside the declared scope only, then finish".into(),
    }
}
