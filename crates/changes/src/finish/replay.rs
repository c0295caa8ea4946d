//! Repeats the answer of an accepted finish for a caller who lost it.
//!
//! The answer is stored before the claim is released. If the process dies in between, the intent is still open and
//! the next finish is an ordinary one; the stored answer is never read.

use crate::finish_evidence::FinishEvidence;
use crate::registry::IntentService;
use probity_api::change::{DetailLevel, ExternalChange, FinishAnswer, FinishRequest, FinishReview};
use probity_contract::claims::Claim;
use probity_core::Digest;
use probity_intents::registry::Intent;
use probity_intents::{IntentOwner, IntentStatus, ScopeEntry};
use probity_policy::StrictnessProfile;
use probity_storage::ports::{RefStore, StorageEngine, SwapOutcome};
use probity_workspace::{ServiceError, Workspace};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Refs from an intent to the stored answer of its finish.
const FINISH_ANSWER_SPACE: &str = "finish";

pub(super) fn keep(
    workspace: &Workspace,
    intent: &Intent,
    (request, evidence): (&FinishRequest, &FinishEvidence),
    answer: &FinishAnswer,
) -> Result<(), ServiceError> {
    let unlisted = answer.external_changes.as_ref().map_or(&[][..], |external| &external.unlisted);
    let kept = KeptFinish {
        answer: Cow::Borrowed(answer),
        review: Cow::Borrowed(&answer.review),
        unlisted: Cow::Borrowed(unlisted),
    };
    let bytes = serde_json::to_vec(&kept).expect("answers have text keys only");
    let kept = workspace.state.objects().put_unsynced(&bytes)?;
    let pointer = format!("{} {kept}", digest(request, evidence));
    let refs = refs(workspace)?;
    let mut found = refs.get(intent.id.as_str())?;
    // Only the holder of the claim gets here, so this ends after one or two attempts.
    while let SwapOutcome::Moved { found: other } =
        refs.compare_and_set(intent.id.as_str(), found.as_deref(), Some(pointer.as_bytes()))?
    {
        found = other;
    }
    Ok(())
}

/// Returns the stored answer if this same finish of a finished intent came from this owner.
pub(super) fn recall(
    workspace: &Workspace,
    shell: &IntentService,
    owner: &IntentOwner,
    request: &FinishRequest,
    evidence: &FinishEvidence,
) -> Result<Option<FinishAnswer>, ServiceError> {
    let Ok(intent) = shell.resolve(&request.intent_id) else { return Ok(None) };
    let is_finished = matches!(intent.status, IntentStatus::Released | IntentStatus::Landing);
    if !is_finished || !intent.owner.is_same_owner(owner) {
        return Ok(None);
    }
    let pointer = refs(workspace)?.get(intent.id.as_str())?;
    let pointer = pointer.and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default();
    let Some((asked, kept)) = pointer.split_once(' ') else { return Ok(None) };
    if asked != digest(request, evidence).to_string() {
        return Ok(None);
    }
    let kept = kept.parse().ok().and_then(|digest| workspace.state.objects().get(&digest).ok().flatten());
    let kept = kept.and_then(|bytes| serde_json::from_slice::<KeptFinish<'_>>(&bytes).ok());
    Ok(kept.map(|kept| {
        let mut answer = kept.answer.into_owned();
        answer.idempotent_replay = true;
        answer.review = kept.review.into_owned();
        if let Some(external) = &mut answer.external_changes {
            external.unlisted = kept.unlisted.into_owned();
        }
        answer
    }))
}

fn refs(workspace: &Workspace) -> Result<Box<dyn RefStore>, ServiceError> {
    Ok(workspace.state.store()?.refs(FINISH_ANSWER_SPACE))
}

/// A stored answer with the parts that only the surfaces show.
#[derive(Serialize, Deserialize)]
struct KeptFinish<'a> {
    #[serde(flatten)]
    answer: Cow<'a, FinishAnswer>,
    #[serde(default)]
    review: Cow<'a, FinishReview>,
    #[serde(default)]
    unlisted: Cow<'a, [ExternalChange]>,
}

/// Identifies a finish by everything in the request except options that only affect how it is carried out.
#[derive(Serialize)]
struct FinishIdentity<'a> {
    command_id: &'a Option<String>,
    evidence: EvidenceIdentity<'a>,
    after_run_id: &'a Option<String>,
    claims: &'a [Claim],
    claims_text: &'a Option<String>,
    review_text: &'a Option<String>,
    strictness: Option<StrictnessProfile>,
    strict: Option<bool>,
    skip_gates: bool,
    create_receipt: bool,
    detail_level: DetailLevel,
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum EvidenceIdentity<'a> {
    ChangedFiles(&'a [ScopeEntry]),
    DiffRef(&'a str),
    Observed,
}

fn digest(request: &FinishRequest, evidence: &FinishEvidence) -> Digest {
    let identity = FinishIdentity {
        command_id: &request.command_id,
        evidence: match evidence {
            FinishEvidence::ChangedFiles(files) => EvidenceIdentity::ChangedFiles(files),
            FinishEvidence::DiffRef(revision) => EvidenceIdentity::DiffRef(revision),
            FinishEvidence::Observed => EvidenceIdentity::Observed,
        },
        after_run_id: &request.after_run_id,
        claims: &request.claims,
        claims_text: &request.claims_text,
        review_text: &request.review_text,
        strictness: request.strictness,
        strict: request.strict,
        skip_gates: request.skip_gates,
        create_receipt: request.create_receipt,
        detail_level: request.detail_level,
    };
    Digest::of_json(&serde_json::to_value(&identity).expect("a request has text keys only"))
}
