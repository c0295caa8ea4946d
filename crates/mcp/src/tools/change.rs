//! Starting and finishing changes, and looking after intents.

use super::caller_arguments::CallerArguments;
use super::{Effect, Tool};
use crate::call::Call;
use probity_api::Answer;
use probity_api::change::{DetailLevel, FinishRequest, PromoteRequest, StartRequest};
use probity_changes::registry::{
    Caller, Credentials, Handle, Handles, KeptHandle, Label, RETENTION_SECONDS, Shell, TreeFacts, admin,
};
use probity_core::Reason;
use probity_intents::IntentId;
use probity_intents::registry::{Action, Change};
use probity_intents::start::DirtyScopePolicy;
use probity_workspace::{Fault, Workspace};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::time::Duration;

/// The tools of this module.
pub(super) fn tools() -> Vec<Tool> {
    vec![
        Tool::new(
            "start_controlled_change",
            Effect::Records,
            "Declare a change before editing. Edit only if the answer says edit_allowed: true; else follow next_step. \
             Keep the owner handle of the answer: later calls in another session need it.",
            start,
        ),
        Tool::new(
            "finish_controlled_change",
            Effect::Records,
            "Finish a change: hygiene, scope check, verification against the before-run, claims, receipt, release. \
             Without changed_files and diff_ref the tree itself says what changed.",
            finish,
        ),
        Tool::new(
            "manage_change_intent",
            Effect::Records,
            "Look after intents: list, get, status (of the tree: who holds what, whose the uncommitted changes are), promote (from the queue), renew (lease), amend (widen scope, with why), \
             clear (give up), recover (after a crash), gc.",
            manage,
        ),
    ]
}

fn start(call: &Call, args: CallerArguments<StartRequest>) -> Result<Value, Fault> {
    let workspace = call.workspace(args.root.as_deref())?;
    let caller = credentials(call, args.owner.as_deref(), args.agent)?.caller();
    let progress = |step| call.analysis_step(step);
    let mut answer = probity_changes::start(&workspace, &caller, &args.request, &progress)?;
    if let Some(intent_id) = &answer.intent_id {
        remember(call, &caller, intent_id.clone());
    }
    answer.owner = Some(caller.handle.secret().to_owned());
    Ok(answer.to_document())
}

fn finish(call: &Call, args: CallerArguments<FinishRequest>) -> Result<Value, Fault> {
    let workspace = call.workspace(args.root.as_deref())?;
    let shell = Shell::open(&workspace)?;
    let caller = caller_for(call, &shell, &args.request.intent_id, args.owner.as_deref(), args.agent)?;
    let progress = |step| call.analysis_step(step);
    Ok(probity_changes::finish(&workspace, &caller, &args.request, &progress)?.to_document())
}

probity_core::word_enum! {
    /// What to do with an intent.
    enum IntentAction {
        List = "list",
        Get = "get",
        Status = "status",
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
    /// For all actions but list, status and gc
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
    #[serde(default)]
    detail_level: DetailLevel,
}

fn yes() -> bool {
    true
}

fn manage(call: &Call, args: CallerArguments<IntentRequest>) -> Result<Value, Fault> {
    let CallerArguments { root, owner: given, agent, request } = args;
    let workspace = call.workspace(root.as_deref())?;
    let mut shell = Shell::open(&workspace)?;
    let caller = match (request.action, &request.intent_id) {
        (IntentAction::List | IntentAction::Status | IntentAction::Gc, _) | (_, None) => {
            credentials(call, given.as_deref(), agent)?.caller()
        }
        (_, Some(intent_id)) => caller_for(call, &shell, intent_id, given.as_deref(), agent)?,
    };
    let owner = shell.owner_of(&caller)?;
    if given.is_some() {
        shell.touch(&owner)?;
    }
    let named = || request.intent_id.clone().ok_or_else(|| usage("this action needs intent_id"));
    let resolved = || Ok::<_, Fault>(shell.resolve(&named()?)?.id.clone());
    let action = match request.action {
        IntentAction::List => return Ok(shell.list(&workspace, &caller, false)?.to_document()),
        IntentAction::Get => return Ok(shell.show(&workspace, &caller, &named()?)?.to_document()),
        IntentAction::Status => return Ok(probity_changes::status(&workspace, &caller)?.to_document()),
        IntentAction::Promote => return promote(call, &workspace, &caller, named()?, &request),
        IntentAction::Amend => {
            let why = request.why.as_deref().ok_or_else(|| usage("amend needs why"))?;
            let bytes = |texts: &[String]| texts.iter().map(|text| text.clone().into_bytes()).collect();
            let (files, related): (Vec<_>, Vec<_>) =
                (bytes(&request.allowed_files), bytes(&request.allowed_related));
            return Ok(
                probity_changes::amend(&workspace, &caller, &named()?, &files, &related, why)?.to_document()
            );
        }
        IntentAction::Renew => Action::Renew {
            intent_id: resolved()?,
            lease_seconds: request.lease_seconds.unwrap_or(admin::LEASE_SECONDS),
            ttl_seconds: request.ttl_seconds,
        },
        IntentAction::Recover => Action::Recover {
            intent_id: resolved()?,
            lease_seconds: request.lease_seconds.unwrap_or(admin::LEASE_SECONDS),
            ttl_seconds: request.ttl_seconds.unwrap_or(admin::TTL_SECONDS),
        },
        IntentAction::Clear => Action::Clear { intent_id: resolved()? },
        IntentAction::Gc => Action::Collect { retention_seconds: RETENTION_SECONDS },
    };
    let done = shell.execute(&owner, action, &TreeFacts::default())?;
    if let Some(event) = &done.event {
        Handles::of(&workspace).follow(event)?;
        if let Change::Recovered { intent_id, .. } = &event.change {
            remember(call, &caller, intent_id.clone());
        }
    }
    let mut answer = shell.change_answer(&workspace, &caller, &done)?;
    answer.owner = Some(Some(caller.handle.secret().to_owned()));
    Ok(answer.to_document())
}

fn promote(
    call: &Call,
    workspace: &Workspace,
    caller: &Caller,
    intent_id: String,
    asked: &IntentRequest,
) -> Result<Value, Fault> {
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

/// Who calls: the owner of the handle, or a new one. Through pipes the server lives as long as its agent does.
fn credentials(call: &Call, owner: Option<&str>, agent: Option<String>) -> Result<Credentials, Fault> {
    Ok(Credentials {
        handle: owner.map(Handle::parse).transpose()?,
        label: agent.map_or_else(|| Label::Assumed("agent".into()), Label::Given),
        pid: call.process(),
    })
}

/// Who calls about an intent: without a handle, the owner that started it in this very session.
fn caller_for(
    call: &Call,
    shell: &Shell,
    name: &str,
    owner: Option<&str>,
    agent: Option<String>,
) -> Result<Caller, Fault> {
    let kept = call.handles().get(&shell.resolve(name)?.id);
    Ok(credentials(call, owner, agent)?.caller_for_intent(kept.as_ref()))
}

fn remember(call: &Call, caller: &Caller, intent_id: IntentId) {
    let label = caller.label.as_str().to_owned();
    call.handles().keep(KeptHandle { intent_id, handle: caller.handle.clone(), label });
}

pub(super) fn bytes(texts: Vec<String>) -> Vec<Vec<u8>> {
    texts.into_iter().map(String::into_bytes).collect()
}

pub(super) fn usage(words: impl Into<String>) -> Fault {
    Fault::refused(Reason::UsageInvalid, words)
}
