//! Starting and finishing changes, and looking after intents.

use super::words::{Conflict, Detail, DirtyScope, Strictness, optional_rule, rule};
use super::{Effect, Tool};
use crate::call::Call;
use canon::Reason;
use contract::claims::Claim;
use control::change::{self, Evidence, FinishRequest, PromoteRequest, StartRequest};
use control::registry::{
    Caller, Credentials, Handle, Handles, KeptHandle, Label, RETENTION_SECONDS, Shell, TreeFacts, admin,
};
use control::{Fault, Workspace};
use intent::IntentId;
use intent::registry::{Action, Change};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
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
            "Look after intents: list, get, promote (from the queue), renew (lease), amend (widen scope, with why), \
             clear (give up), recover (after a crash), gc.",
            manage,
        ),
    ]
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Start {
    /// Root of the tree [the server's]
    root: Option<String>,
    /// Handle from an earlier answer [a new owner]
    owner: Option<String>,
    /// What people call this agent
    agent: Option<String>,
    /// What the change is for
    intent: String,
    /// Exact paths to be edited; no patterns
    allowed_files: Vec<String>,
    /// Further paths that may be edited
    #[serde(default)]
    allowed_related: Vec<String>,
    /// Patterns that must not be touched
    #[serde(default)]
    forbidden: Vec<String>,
    #[serde(default)]
    expected_effects: Vec<String>,
    on_conflict: Option<Conflict>,
    dirty_scope_policy: Option<DirtyScope>,
    strictness: Option<Strictness>,
    ttl_seconds: Option<u64>,
    lease_seconds: Option<u64>,
    /// Items of the ledger that it implements
    #[serde(default)]
    implements: Vec<String>,
    /// Analyse first if no run describes the tree
    #[serde(default)]
    analyze: bool,
    /// Own id of this start: repeated, it is recognised
    command_id: Option<String>,
    detail_level: Option<Detail>,
}

fn start(call: &Call, args: Start) -> Result<Value, Fault> {
    let workspace = call.workspace(args.root.as_deref())?;
    let caller = credentials(call, args.owner.as_deref(), args.agent)?.caller();
    let request = StartRequest {
        command_id: args.command_id,
        description: args.intent,
        expected_effects: args.expected_effects,
        implements: args.implements,
        allowed_files: bytes(args.allowed_files),
        allowed_related: bytes(args.allowed_related),
        forbidden: bytes(args.forbidden),
        dirty_scope_policy: rule(args.dirty_scope_policy),
        on_conflict: rule(args.on_conflict),
        ttl_seconds: args.ttl_seconds,
        lease_seconds: args.lease_seconds,
        keep_handle: false,
        strictness: optional_rule(args.strictness),
        analyze: args.analyze,
        detail_level: rule(args.detail_level),
    };
    let answer = change::start(&workspace, &caller, &request, &|progress| call.analysis_step(progress))?;
    if let Some(intent_id) = &answer.intent_id {
        remember(call, &caller, intent_id.clone());
    }
    Ok(with_owner(to_json(&answer), &caller))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Finish {
    root: Option<String>,
    /// Handle from the start [the one of this session's start]
    owner: Option<String>,
    agent: Option<String>,
    intent_id: String,
    /// Paths that were changed
    changed_files: Option<Vec<String>>,
    /// Or: everything that differs from this commit
    diff_ref: Option<String>,
    after_run_id: Option<String>,
    #[serde(default)]
    analyze: bool,
    /// Structured claims, for example `{"claim": "no_regressions"}`
    #[serde(default)]
    claims: Vec<Value>,
    /// Text in which claims are looked for
    claims_text: Option<String>,
    review_text: Option<String>,
    strictness: Option<Strictness>,
    /// Unclaimed dirt outside the scope blocks
    strict: Option<bool>,
    /// Leave the gates of the policy out; the verdict says so
    #[serde(default)]
    skip_gates: bool,
    create_receipt: Option<bool>,
    auto_clear: Option<bool>,
    command_id: Option<String>,
    detail_level: Option<Detail>,
}

fn finish(call: &Call, args: Finish) -> Result<Value, Fault> {
    let workspace = call.workspace(args.root.as_deref())?;
    let shell = Shell::open(&workspace)?;
    let caller = caller_for(call, &shell, &args.intent_id, args.owner.as_deref(), args.agent)?;
    let evidence = match (args.changed_files, args.diff_ref) {
        (None, None) => Evidence::Observed,
        (Some(files), None) => Evidence::ChangedFiles(bytes(files)),
        (None, Some(revision)) => Evidence::DiffRef(revision),
        (Some(_), Some(_)) => return Err(usage("give changed_files or diff_ref, not both")),
    };
    let usual = FinishRequest::new(args.intent_id, evidence);
    let request = FinishRequest {
        command_id: args.command_id,
        after_run_id: args.after_run_id,
        analyze: args.analyze,
        claims: args.claims.into_iter().map(claim).collect::<Result<_, _>>()?,
        claims_text: args.claims_text,
        review_text: args.review_text,
        strictness: optional_rule(args.strictness),
        strict: args.strict,
        skip_gates: args.skip_gates,
        create_receipt: args.create_receipt.unwrap_or(usual.create_receipt),
        auto_clear: args.auto_clear.unwrap_or(usual.auto_clear),
        detail_level: rule(args.detail_level),
        ..usual
    };
    let answer = change::finish(&workspace, &caller, &request, &|progress| call.analysis_step(progress))?;
    Ok(to_json(&answer))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Deed {
    List,
    Get,
    Promote,
    Renew,
    Amend,
    Clear,
    Recover,
    Gc,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Manage {
    root: Option<String>,
    owner: Option<String>,
    agent: Option<String>,
    action: Deed,
    /// For all actions but list and gc
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
    dirty_scope_policy: Option<DirtyScope>,
    /// promote: wait so long for the way to be free
    wait_seconds: Option<u64>,
    #[serde(default)]
    analyze: bool,
    detail_level: Option<Detail>,
}

fn manage(call: &Call, args: Manage) -> Result<Value, Fault> {
    let workspace = call.workspace(args.root.as_deref())?;
    let mut shell = Shell::open(&workspace)?;
    let (given, agent) = (args.owner.as_deref(), args.agent.clone());
    let caller = match (&args.action, &args.intent_id) {
        (Deed::List | Deed::Gc, _) | (_, None) => credentials(call, given, agent)?.caller(),
        (_, Some(intent_id)) => caller_for(call, &shell, intent_id, given, agent)?,
    };
    let owner = shell.owner_of(&caller)?;
    if args.owner.is_some() {
        shell.touch(&owner)?;
    }
    let named = || args.intent_id.clone().ok_or_else(|| usage("this action needs intent_id"));
    let action = match args.action {
        Deed::List => {
            let document = json!({
                "intents": shell.views(&owner, false)?,
                "notices": shell.registry().notices(&owner),
            });
            return Ok(super::named("intent-list", document));
        }
        Deed::Get => return Ok(super::named("intent", json!({ "intent": shell.find(&owner, &named()?)? }))),
        Deed::Promote => return promote(call, &workspace, &caller, named()?, &args),
        Deed::Amend => {
            let why = args.why.ok_or_else(|| usage("amend needs why"))?;
            let (files, related) = (bytes(args.allowed_files), bytes(args.allowed_related));
            let answer = change::amend(&workspace, &caller, &named()?, &files, &related, &why)?;
            return Ok(to_json(&answer));
        }
        Deed::Renew => Action::Renew {
            intent_id: shell.resolve(&named()?)?.id.clone(),
            lease_seconds: args.lease_seconds.unwrap_or(admin::LEASE_SECONDS),
            ttl_seconds: args.ttl_seconds,
        },
        Deed::Recover => Action::Recover {
            intent_id: shell.resolve(&named()?)?.id.clone(),
            lease_seconds: args.lease_seconds.unwrap_or(admin::LEASE_SECONDS),
            ttl_seconds: args.ttl_seconds.unwrap_or(admin::TTL_SECONDS),
        },
        Deed::Clear => Action::Clear { intent_id: shell.resolve(&named()?)?.id.clone() },
        Deed::Gc => Action::Collect { retention_seconds: RETENTION_SECONDS },
    };
    let done = shell.execute(&owner, action, &TreeFacts::default())?;
    if let Some(event) = &done.event {
        Handles::of(&workspace).follow(event)?;
        if let Change::Recovered { intent_id, .. } = &event.change {
            remember(call, &caller, intent_id.clone());
        }
    }
    let document = super::named("intent-change", shell.done_document(&owner, &done)?);
    Ok(with_owner(document, &caller))
}

fn promote(
    call: &Call,
    workspace: &Workspace,
    caller: &Caller,
    intent_id: String,
    args: &Manage,
) -> Result<Value, Fault> {
    let request = PromoteRequest {
        intent_id,
        dirty_scope_policy: rule(args.dirty_scope_policy),
        strictness: None,
        analyze: args.analyze,
        detail_level: rule(args.detail_level),
    };
    let progress = |step| call.analysis_step(step);
    let answer = match args.wait_seconds {
        None => change::promote(workspace, caller, &request, &progress)?,
        Some(seconds) => {
            let patience = Duration::from_secs(seconds);
            change::promote_when_free(workspace, caller, &request, patience, &progress)?
        }
    };
    Ok(with_owner(to_json(&answer), caller))
}

pub(super) fn claim(value: Value) -> Result<Claim, Fault> {
    serde_json::from_value(value).map_err(|error| usage(format!("claims: {error}")))
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

fn with_owner(mut document: Value, caller: &Caller) -> Value {
    document["owner"] = caller.handle.secret().into();
    document
}

pub(super) fn bytes(texts: Vec<String>) -> Vec<Vec<u8>> {
    texts.into_iter().map(String::into_bytes).collect()
}

pub(super) fn usage(words: impl Into<String>) -> Fault {
    Fault::refused(Reason::UsageInvalid, words)
}

fn to_json(answer: &impl serde::Serialize) -> Value {
    serde_json::to_value(answer).expect("answers have text keys only")
}
