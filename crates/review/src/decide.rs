//! Decisions of a person, carried out by the functions that the command line calls.
//!
//! A decision names what the person was shown. If that is not what stands now, nothing is done: it is too late. It is
//! on the log of the repository before anything happens, with the person who made it.

use crate::change_name::{ChangeName, find_change};
use probity_api::change::{DetailLevel, PromoteRequest};
use probity_api::govern::amend::AmendStatus;
use probity_api::govern::land::LandAnswer;
use probity_api::govern::revert::RevertAction;
use probity_api::review::{ChangeReview, DecisionAction, DecisionAnswer, DecisionOption, DecisionRecord};
use probity_changes::registry::{
    AgentLabel, Caller, CallerCredentials, HandleStore, IntentService, KeptHandle, TreeFacts, admin,
};
use probity_core::text::count;
use probity_core::{Digest, ReasonCode, json};
use probity_evidence::LandingState;
use probity_intents::IntentId;
use probity_intents::registry::RegistryAction;
use probity_intents::start::DirtyScopePolicy;
use probity_paths::RepoPath;
use probity_runner::held::{self, LandRequest, LandSelection};
use probity_runner::{amend, revert};
use probity_storage::ports::{AppendOutcome, StorageEngine as _};
use probity_workspace::transparency_log::DECISION_LOG;
use probity_workspace::{ServiceError, Workspace, clock};
use serde::Deserialize;

/// Attempts to append a decision while others append theirs.
const MAX_APPEND_ATTEMPTS: usize = 20;

/// What a person wants.
#[derive(Debug, Clone)]
pub struct DecisionRequest {
    /// The change, by any of its names.
    pub change: String,
    pub action: DecisionAction,
    /// The person.
    pub by: String,
    /// The digest of what was shown.
    pub shown: Digest,
    /// Names this decision: the same one is carried out once.
    pub id: String,
    pub why: Option<String>,
    /// The chosen paths, for a part.
    pub paths: Vec<RepoPath>,
    /// The patterns or paths to add, for an amendment.
    pub add: Vec<Vec<u8>>,
}

/// Carries out a decision.
pub fn decide(workspace: &Workspace, request: &DecisionRequest) -> Result<DecisionAnswer, ServiceError> {
    let name = find_change(workspace, &request.change)?;
    let review = crate::review(workspace, &name)?;
    if review.shown != request.shown {
        let detail = format!(
            "something newer stands: the change is {} now, and not what you were shown",
            review.state
        );
        return Err(ServiceError::refused(ReasonCode::DecisionTooLate, detail));
    }
    let offered = review.options.iter().find(|option| option.action == request.action);
    let Some(offered) = offered else {
        let detail = format!("`{}` is not possible while the change is {}", request.action, review.state);
        return Err(ServiceError::refused(ReasonCode::DecisionTooLate, detail));
    };
    check_words(offered, request)?;
    let record = DecisionRecord {
        change: review.change.clone(),
        action: request.action,
        by: request.by.clone(),
        at: clock::format_rfc3339(clock::now_seconds()),
        shown: request.shown,
        why: request.why.clone(),
        paths: request.paths.clone(),
    };
    let bytes = json::canonical_of(&record);
    write_record(workspace, &request.id, &bytes)?;
    let (is_done, effects) = carry_out(workspace, &name, &review, request)?;
    Ok(DecisionAnswer { record, digest: Digest::of(&bytes), is_done, effects })
}

fn check_words(offered: &DecisionOption, request: &DecisionRequest) -> Result<(), ServiceError> {
    if offered.needs_why {
        let why = request.why.as_deref().unwrap_or_default();
        probity_evidence::check_reason(why)
            .map_err(|error| ServiceError::refused(error.reason(), error.to_string()))?;
    }
    let is_part = matches!(request.action, DecisionAction::LandOnly);
    if is_part && request.paths.is_empty() {
        return Err(ServiceError::refused(ReasonCode::UsageInvalid, "choose at least one path"));
    }
    if request.action == DecisionAction::Amend && request.add.is_empty() {
        return Err(ServiceError::refused(ReasonCode::UsageInvalid, "name what the scope is to gain"));
    }
    Ok(())
}

/// Appends the decision to its log; the same decision is refused a second time.
fn write_record(workspace: &Workspace, id: &str, bytes: &[u8]) -> Result<(), ServiceError> {
    let log = workspace.state.store()?.log(DECISION_LOG);
    for _ in 0..MAX_APPEND_ATTEMPTS {
        match log.append(log.head()?, id, bytes)? {
            AppendOutcome::At(_) => return Ok(()),
            AppendOutcome::Unknown if log.find(id)?.is_some() => return Ok(()),
            AppendOutcome::Moved { .. } | AppendOutcome::Unknown => {}
            AppendOutcome::Known { .. } => {
                let detail = "this decision was made already: load the page again";
                return Err(ServiceError::refused(ReasonCode::DecisionTooLate, detail));
            }
        }
    }
    Err(ServiceError::refused(ReasonCode::StateBusy, "the log is busy: decide again"))
}

/// Returns the decisions about a change, oldest first; about all changes without one.
pub fn decisions(workspace: &Workspace, change: Option<&str>) -> Result<Vec<DecisionRecord>, ServiceError> {
    let Some(store) = workspace.state.existing_store()? else { return Ok(Vec::new()) };
    let records = store.log(DECISION_LOG).read_after(0, usize::MAX)?;
    let read = |bytes: &[u8]| DecisionRecord::deserialize(&json::parse(bytes).ok()?).ok();
    let all = records.iter().filter_map(|record| read(&record.event));
    Ok(all.filter(|it| change.is_none_or(|change| it.change == change)).collect())
}

fn carry_out(
    workspace: &Workspace,
    name: &ChangeName,
    review: &ChangeReview,
    request: &DecisionRequest,
) -> Result<(bool, Vec<String>), ServiceError> {
    let run = review.change.as_str();
    let land = |selection, rebase| {
        let answer = held::land(workspace, &LandRequest { run, selection, rebase })?;
        Ok(landing_words(&answer))
    };
    match request.action {
        DecisionAction::Land => land(LandSelection::All, false),
        DecisionAction::LandInScope => land(LandSelection::InScope, false),
        DecisionAction::LandOnly => land(LandSelection::Only(request.paths.clone()), false),
        DecisionAction::Rebase => land(LandSelection::All, true),
        DecisionAction::Discard => {
            let answer = held::discard(workspace, run, false)?;
            let n_landed = review.paths.iter().filter(|path| path.in_tree == Some(true)).count();
            let n_held = review.paths.len() - n_landed;
            let mut effects = vec![format!(
                "the held changes of {} were dropped; the tree never had them",
                count(n_held, "path")
            )];
            if n_landed > 0 {
                effects.push(format!("{} that landed before stayed in the tree", count(n_landed, "path")));
            }
            tracing::debug!(entries = answer.n_entries, "the layer is removed");
            Ok((true, effects))
        }
        DecisionAction::Revert => {
            let answer = revert::revert(workspace, run, &[], false)?;
            let refused = answer.n_with(RevertAction::Refused);
            let mut effects = vec![format!("{} undone", count(answer.paths.len() - refused, "path"))];
            let left = answer.paths.iter().filter(|path| path.action == RevertAction::Refused);
            effects.extend(left.map(|path| format!("{} was left alone: {}", path.path, path.detail)));
            Ok((refused == 0, effects))
        }
        DecisionAction::Amend => amend_change(workspace, name, review, request),
        DecisionAction::Clear | DecisionAction::Recover | DecisionAction::Promote => {
            change_intent(workspace, run, request)
        }
    }
}

fn landing_words(answer: &LandAnswer) -> (bool, Vec<String>) {
    let paths = count(answer.paths.len(), "path");
    let mut effects = match answer.state {
        LandingState::Landed => vec![format!("{paths} landed")],
        LandingState::None => vec!["there was nothing to land".into()],
        LandingState::Held => vec!["nothing landed, the tree is as it was: a gate did not pass".into()],
        LandingState::Conflict => vec!["nothing landed, the tree is as it was: there are conflicts".into()],
    };
    effects.extend(answer.conflicts.iter().map(|it| format!("{}: {} ({})", it.path, it.detail, it.code)));
    effects.extend(answer.gate_results.iter().map(|gate| format!("gate {}: {}", gate.gate_id, gate.status)));
    if !answer.left.is_empty() && answer.state == LandingState::Landed {
        let stays = if answer.left.len() == 1 { "stays" } else { "stay" };
        effects.push(format!("{} {stays} held", count(answer.left.len(), "path")));
    }
    (matches!(answer.state, LandingState::Landed | LandingState::None), effects)
}

/// The credentials of the person who decides.
fn credentials(by: &str) -> CallerCredentials {
    CallerCredentials { handle: None, label: AgentLabel::Assumed(by.to_owned()), pid: None }
}

/// The person as the owner of an intent, if the intent's handle is kept in this worktree.
fn caller_for(workspace: &Workspace, intent: &IntentId, by: &str) -> Result<Caller, ServiceError> {
    let kept = HandleStore::of(workspace).get(intent)?;
    Ok(credentials(by).caller_for_intent(kept.as_ref()))
}

fn amend_change(
    workspace: &Workspace,
    name: &ChangeName,
    review: &ChangeReview,
    request: &DecisionRequest,
) -> Result<(bool, Vec<String>), ServiceError> {
    let why = request.why.as_deref().unwrap_or_default();
    if let ChangeName::Intent(id) = name {
        let intent = IntentService::open(workspace)?.resolve(id)?.id.clone();
        let caller = caller_for(workspace, &intent, &request.by)?;
        let answer = probity_changes::amend(workspace, &caller, id, &request.add, &[], why)?;
        let added: Vec<String> = answer.allowed_files.iter().map(ToString::to_string).collect();
        return Ok((true, vec![format!("the scope gained {}", added.join(", "))]));
    }
    let effect =
        amend::amend(workspace, &credentials(&request.by), &review.change, &request.add, &request.by, why)?;
    let answer = effect.answer(workspace);
    let mut effects = vec![match answer.status {
        AmendStatus::Amended => "the run goes on with the wider scope".to_owned(),
        AmendStatus::Pass => "the scope is wider on record, and the run passes with it".to_owned(),
        AmendStatus::Fail => "the run still fails with the wider scope".to_owned(),
    }];
    let judgment = answer.judgment.as_ref();
    effects
        .extend(judgment.iter().flat_map(|it| &it.reasons).map(|code| format!("{code}: {}", code.meaning())));
    if let Some(landing) = judgment.and_then(|judgment| judgment.landing.as_ref()) {
        effects.push(
            match landing.state {
                LandingState::Landed => "what was held of it landed: the tree has it",
                LandingState::Held => "what it changed stays held",
                LandingState::Conflict => "what it changed stays held: the tree changed at the same paths",
                LandingState::None => "nothing had to land",
            }
            .to_owned(),
        );
    }
    Ok((answer.status != AmendStatus::Fail, effects))
}

fn change_intent(
    workspace: &Workspace,
    id: &str,
    request: &DecisionRequest,
) -> Result<(bool, Vec<String>), ServiceError> {
    let mut service = IntentService::open(workspace)?;
    let intent_id = service.resolve(id)?.id.clone();
    let caller = caller_for(workspace, &intent_id, &request.by)?;
    if request.action == DecisionAction::Promote {
        let promotion = PromoteRequest {
            intent_id: id.to_owned(),
            dirty_scope_policy: DirtyScopePolicy::default(),
            strictness: None,
            analyze: true,
            detail_level: DetailLevel::default(),
        };
        let answer = probity_changes::promote(workspace, &caller, &promotion, &|_| {})?;
        let words = if answer.edit_allowed { "the intent has its claim" } else { "the intent still waits" };
        return Ok((answer.edit_allowed, vec![words.to_owned()]));
    }
    let by = service.owner_of(&caller)?;
    let action = match request.action {
        DecisionAction::Recover => RegistryAction::Recover {
            intent_id: intent_id.clone(),
            lease_seconds: admin::DEFAULT_LEASE_SECONDS,
            ttl_seconds: admin::DEFAULT_TTL_SECONDS,
        },
        _ => RegistryAction::Clear { intent_id: intent_id.clone() },
    };
    let done = service.execute(&by, action, &TreeFacts::default())?;
    let handles = HandleStore::of(workspace);
    if request.action == DecisionAction::Recover && caller.is_new {
        handles.keep(&KeptHandle { intent_id, handle: caller.handle, label: by.label })?;
        return Ok((true, vec!["the intent is yours: its handle is kept in this worktree".into()]));
    }
    if let Some(event) = &done.event {
        handles.forget_closed(event)?;
    }
    Ok((done.event.is_some(), vec!["the intent is closed, and its paths are free".into()]))
}
