//! The same finish again: what an accepted one answered is kept, so that whoever lost the reply gets it once more.
//!
//! The answer is kept before the claim is given back. If the process dies in between, the intent is still open and the
//! next finish is an ordinary one; nobody asks for the answer of a finish that did not happen.

use crate::change::{Evidence, FinishAnswer, FinishRequest};
use crate::registry::Shell;
use crate::{Fault, Workspace};
use canon::{Digest, bytes};
use intent::registry::Intent;
use intent::{Owner, Status};
use serde_json::{Value, json};
use store::ports::{Refs, Store, Swapped};

/// The space of pointers from an intent to what its finish answered.
const SPACE: &str = "finish";

/// Keeps what a finish is about to answer.
pub(super) fn keep(
    workspace: &Workspace,
    intent: &Intent,
    request: &FinishRequest,
    answer: &FinishAnswer,
) -> Result<(), Fault> {
    let bytes = serde_json::to_vec(answer).expect("answers have text keys only");
    let kept = workspace.state.objects().put_unsynced(&bytes)?;
    let pointer = format!("{} {kept}", digest(request));
    let refs = refs(workspace)?;
    let mut found = refs.get(intent.id.as_str())?;
    // Only the holder of the claim gets here, so this ends after a turn or two.
    while let Swapped::Moved { found: other } =
        refs.swap(intent.id.as_str(), found.as_deref(), Some(pointer.as_bytes()))?
    {
        found = other;
    }
    Ok(())
}

/// What this very finish of a finished intent answered, if it was this owner's.
pub(super) fn recall(
    workspace: &Workspace,
    shell: &Shell,
    owner: &Owner,
    request: &FinishRequest,
) -> Result<Option<FinishAnswer>, Fault> {
    let Ok(intent) = shell.resolve(&request.intent_id) else { return Ok(None) };
    if intent.status != Status::Released || !intent.owner.is(owner) {
        return Ok(None);
    }
    let pointer = refs(workspace)?.get(intent.id.as_str())?;
    let pointer = pointer.and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default();
    let Some((asked, kept)) = pointer.split_once(' ') else { return Ok(None) };
    if asked != digest(request).to_string() {
        return Ok(None);
    }
    let kept = kept.parse().ok().and_then(|digest| workspace.state.objects().get(&digest).ok().flatten());
    let answer = kept.and_then(|bytes| serde_json::from_slice::<FinishAnswer>(&bytes).ok());
    Ok(answer.map(|answer| FinishAnswer { idempotent_replay: true, ..answer }))
}

fn refs(workspace: &Workspace) -> Result<Box<dyn Refs>, Fault> {
    Ok(workspace.state.store()?.refs(SPACE))
}

/// What makes it the same finish: everything that was asked.
fn digest(request: &FinishRequest) -> Digest {
    let evidence = match &request.evidence {
        Evidence::ChangedFiles(files) => {
            json!({ "changed_files": files.iter().map(|file| bytes::to_json(file)).collect::<Vec<Value>>() })
        }
        Evidence::DiffRef(revision) => json!({ "diff_ref": revision }),
        Evidence::Observed => json!("observed"),
    };
    Digest::of_json(&json!({
        "command_id": request.command_id,
        "evidence": evidence,
        "after_run_id": request.after_run_id,
        "claims": request.claims,
        "claims_text": request.claims_text,
        "review_text": request.review_text,
        "strictness": request.strictness,
        "strict": request.strict,
        "skip_gates": request.skip_gates,
        "create_receipt": request.create_receipt,
        "detail_level": request.detail_level,
    }))
}
