//! Tools that start and finish changes and manage intents.

use super::caller_arguments::CallerArguments;
use super::{ToolDefinition, ToolEffect};
use crate::call::ToolCall;
use probity_api::Answer;
use probity_api::change::{DetailLevel, FinishRequest, PromoteRequest, StartRequest};
use probity_changes::registry::view::is_of_this_tree;
use probity_changes::registry::{
    AgentLabel, CLOSED_INTENT_RETENTION_SECONDS, Caller, CallerCredentials, HandleStore, IntentService,
    KeptHandle, OwnerHandle, TreeFacts, admin,
};
use probity_changes::team;
use probity_core::ReasonCode;
use probity_intents::IntentId;
use probity_intents::registry::{RegistryAction, RegistryChange};
use probity_intents::start::DirtyScopePolicy;
use probity_workspace::{ServiceError, Workspace};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::time::Duration;

pub(super) fn tools() -> Vec<ToolDefinition> {
    vec![
        ToolDefinition::new(
            "start_controlled_change",
            ToolEffect::Records,
            "Declare a change before editing. Edit only if the answer says edit_allowed: true; else follow next_step. \
             Keep the owner handle of the answer: later calls in another session need it.",
            start,
        ),
        ToolDefinition::new(
            "finish_controlled_change",
            ToolEffect::Records,
            "Finish a change: hygiene, scope check, verification against the before-run, claims, receipt, release. \
             Without changed_files and diff_ref the tree itself says what changed.",
            finish,
        ),
        ToolDefinition::new(
            "manage_change_intent",
            ToolEffect::Records,
            "Look after intents: list, get, status (of the tree: who holds what, who made the uncommitted changes), promote (from the queue), renew (lease), amend (widen scope, with why), \
             clear (give up), recover (after a crash), landed (in a team: end the wait of finished work that is on the remote), gc.",
            manage_intent,
        ),
    ]
}

fn start(call: &ToolCall, args: CallerArguments<StartRequest>) -> Result<Value, ServiceError> {
    let workspace = call.workspace(args.root.as_deref())?;
    let caller = credentials(call, args.owner.as_deref(), args.agent)?.caller();
    let progress = |step| call.analysis_step(step);
    let mut answer = probity_changes::start(&workspace, &caller, &args.request, &progress)?;
    if let Some(intent_id) = &answer.intent_id {
        remember_handle(call, &caller, intent_id.clone());
    }
    answer.owner = Some(caller.handle.secret().to_owned());
    Ok(answer.to_document())
}

fn finish(call: &ToolCall, args: CallerArguments<FinishRequest>) -> Result<Value, ServiceError> {
    let workspace = call.workspace(args.root.as_deref())?;
    let service = IntentService::open_with(&workspace, &args.request.intent_id)?;
    let caller = caller_for(call, &service, &args.request.intent_id, args.owner.as_deref(), args.agent)?;
    let progress = |step| call.analysis_step(step);
    Ok(probity_changes::finish(&workspace, &caller, &args.request, &progress)?.to_document())
}

probity_core::word_enum! {
    /// What to do with an intent.
    enum IntentAction {
        List = "list",
        Get = "get",
        Status = "status",
        Landed = "landed",
        Promote = "promote",
        Renew = "renew",
        Amend = "amend",
        Clear = "clear",
        Recover = "recover",
        Gc = "gc",
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct IntentRequest {
    action: IntentAction,
    /// For all actions but list, status, landed and gc
    intent_id: Option<String>,
    /// What amend adds
    #[serde(default)]
    allowed_files: Vec<String>,
    #[serde(default)]
    allowed_related: Vec<String>,
    /// Why amend
    why: Option<String>,
    lease_seconds: Option<u64>,
    ttl_seconds: Option<u64>,
    #[serde(default)]
    dirty_scope_policy: DirtyScopePolicy,
    /// promote: maximum time to wait in the queue
    wait_seconds: Option<u64>,
    /// promote: analyze first if no run describes the tree [true]
    #[serde(default = "yes")]
    analyze: bool,
    /// list, status: only the intents of this working tree
    #[serde(default)]
    here: bool,
    #[serde(default)]
    detail_level: DetailLevel,
}

fn yes() -> bool {
    true
}

fn manage_intent(call: &ToolCall, args: CallerArguments<IntentRequest>) -> Result<Value, ServiceError> {
    let CallerArguments { root, owner: given, agent, request } = args;
    let workspace = call.workspace(root.as_deref())?;
    let mut service = match &request.intent_id {
        Some(name) => IntentService::open_with(&workspace, name)?,
        None => IntentService::open(&workspace)?,
    };
    let caller = match (request.action, &request.intent_id) {
        (IntentAction::List | IntentAction::Status | IntentAction::Landed | IntentAction::Gc, _)
        | (_, None) => credentials(call, given.as_deref(), agent)?.caller(),
        (_, Some(intent_id)) => caller_for(call, &service, intent_id, given.as_deref(), agent)?,
    };
    let owner = service.owner_of(&caller)?;
    if given.is_some() {
        service.touch(&owner)?;
    }
    let named = || request.intent_id.clone().ok_or_else(|| usage_error("this action needs intent_id"));
    let resolved = || Ok::<_, ServiceError>(service.resolve(&named()?)?.id.clone());
    let action = match request.action {
        IntentAction::List => {
            let mut answer = service.list(&workspace, &caller, false)?;
            if request.here {
                answer.intents.retain(|view| is_of_this_tree(&workspace, &view.base));
            }
            return Ok(answer.to_document());
        }
        IntentAction::Landed => return Ok(team::landed(&workspace, &caller)?.to_document()),
        IntentAction::Get => return Ok(service.show(&workspace, &caller, &named()?)?.to_document()),
        IntentAction::Status => {
            let mut answer = probity_review::tree_status(&workspace, &caller)?;
            if request.here {
                answer.intents.retain(|line| line.is_here);
            }
            return Ok(answer.to_document());
        }
        IntentAction::Promote => return promote(call, &workspace, &caller, named()?, &request),
        IntentAction::Amend => {
            let why = request.why.as_deref().ok_or_else(|| usage_error("amend needs why"))?;
            let bytes = |texts: &[String]| texts.iter().map(|text| text.clone().into_bytes()).collect();
            let (files, related): (Vec<_>, Vec<_>) =
                (bytes(&request.allowed_files), bytes(&request.allowed_related));
            return Ok(
                probity_changes::amend(&workspace, &caller, &named()?, &files, &related, why)?.to_document()
            );
        }
        IntentAction::Renew => RegistryAction::Renew {
            intent_id: resolved()?,
            lease_seconds: request.lease_seconds.unwrap_or(admin::DEFAULT_LEASE_SECONDS),
            ttl_seconds: request.ttl_seconds,
        },
        IntentAction::Recover => RegistryAction::Recover {
            intent_id: resolved()?,
            lease_seconds: request.lease_seconds.unwrap_or(admin::DEFAULT_LEASE_SECONDS),
            ttl_seconds: request.ttl_seconds.unwrap_or(admin::DEFAULT_TTL_SECONDS),
        },
        IntentAction::Clear => RegistryAction::Clear { intent_id: resolved()? },
        IntentAction::Gc => {
            RegistryAction::Collect { retention_seconds: CLOSED_INTENT_RETENTION_SECONDS, keep_closed: None }
        }
    };
    let done = service.execute(&owner, action, &TreeFacts::default())?;
    if let Some(event) = &done.event {
        HandleStore::of(&workspace).forget_closed(event)?;
        if let RegistryChange::Recovered { intent_id, .. } = &event.change {
            remember_handle(call, &caller, intent_id.clone());
        }
    }
    let mut answer = service.change_answer(&workspace, &caller, &done)?;
    answer.owner = Some(Some(caller.handle.secret().to_owned()));
    Ok(answer.to_document())
}

fn promote(
    call: &ToolCall,
    workspace: &Workspace,
    caller: &Caller,
    intent_id: String,
    asked: &IntentRequest,
) -> Result<Value, ServiceError> {
    let request = PromoteRequest {
        intent_id,
        dirty_scope_policy: asked.dirty_scope_policy,
        strictness: None,
        analyze: asked.analyze,
        detail_level: asked.detail_level,
    };
    let progress = |step| call.analysis_step(step);
    let mut answer = match asked.wait_seconds {
        None => probity_changes::promote(workspace, caller, &request, &progress)?,
        Some(seconds) => {
            let patience = Duration::from_secs(seconds);
            probity_changes::promote_when_free(workspace, caller, &request, patience, &progress)?
        }
    };
    answer.owner = Some(caller.handle.secret().to_owned());
    Ok(answer.to_document())
}

/// Identifies the caller: the owner of the handle, or a new one. On stdio, the server lives as long as its agent.
fn credentials(
    call: &ToolCall,
    owner: Option<&str>,
    agent: Option<String>,
) -> Result<CallerCredentials, ServiceError> {
    Ok(CallerCredentials {
        handle: owner.map(OwnerHandle::parse).transpose()?,
        label: agent.map_or_else(|| AgentLabel::Assumed("agent".into()), AgentLabel::Given),
        pid: call.process(),
    })
}

/// Identifies the caller for an intent. Without a handle, this is the owner who started it in this session.
fn caller_for(
    call: &ToolCall,
    service: &IntentService,
    name: &str,
    owner: Option<&str>,
    agent: Option<String>,
) -> Result<Caller, ServiceError> {
    let kept = call.handles().get(&service.resolve(name)?.id);
    Ok(credentials(call, owner, agent)?.caller_for_intent(kept.as_ref()))
}

fn remember_handle(call: &ToolCall, caller: &Caller, intent_id: IntentId) {
    let label = caller.label.as_str().to_owned();
    call.handles().keep(KeptHandle { intent_id, handle: caller.handle.clone(), label });
}

pub(super) fn into_byte_strings(texts: Vec<String>) -> Vec<Vec<u8>> {
    texts.into_iter().map(String::into_bytes).collect()
}

pub(super) fn usage_error(words: impl Into<String>) -> ServiceError {
    ServiceError::refused(ReasonCode::UsageInvalid, words)
}
