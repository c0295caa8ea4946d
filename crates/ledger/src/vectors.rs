//! The JSON form of this crate's functions: kinds `ledger` and `ledger_identity`.

use crate::{BatchMode, CandidateOutcome, DeltaProposal, ItemView, Ledger, SourceView, VersionView};
use probity_prose::normal_form::normal_form;
use serde_json::{Value, json};

pub fn ledger(given: &Value) -> Result<Value, String> {
    let mut ledger = Ledger::new();
    for turn in list(given, "turns")? {
        ledger.add_turn(turn.as_str().ok_or("`turns` must be texts")?);
    }
    for delta in list(given, "prior")? {
        propose(&mut ledger, BatchMode::BestEffort, std::slice::from_ref(delta))?;
    }
    let mode = match given.get("mode").and_then(Value::as_str) {
        Some("best_effort") => BatchMode::BestEffort,
        Some("atomic") => BatchMode::Atomic,
        _ => return Err("`mode` must be `best_effort` or `atomic`".into()),
    };
    let outcomes = propose(&mut ledger, mode, list(given, "deltas")?)?;
    let mut answer = json!({
        "outcomes": outcomes.iter().map(|outcome| outcome_json(&ledger, outcome)).collect::<Vec<_>>(),
        "head": ledger.head(),
        "items": ledger.items().map(|item| item_json(&item)).collect::<Vec<_>>(),
    });
    if let Some(since) = given.get("changed_since").filter(|since| !since.is_null()) {
        answer["changed"] = changed(&ledger, since.as_i64().ok_or("`changed_since` must be an integer")?);
    }
    Ok(answer)
}

fn propose(ledger: &mut Ledger, mode: BatchMode, deltas: &[Value]) -> Result<Vec<CandidateOutcome>, String> {
    let proposals: Vec<_> = deltas.iter().map(DeltaProposal::read).collect();
    ledger.reconcile("", mode, &proposals).map_err(|error| error.to_string())
}

fn outcome_json(ledger: &Ledger, outcome: &CandidateOutcome) -> Value {
    json!({
        "seq": outcome.seq,
        "outcome": outcome.verdict.kind(),
        "code": outcome.verdict.code(),
        "item": outcome.item.map(|item| ledger.handle(item)),
    })
}

/// Returns the fields of an item that the vectors compare.
fn item_json(item: &ItemView<'_>) -> Value {
    let source = |source: &SourceView<'_>| match source.range {
        None => json!({ "turn": source.turn }),
        Some((start, end)) => json!({ "turn": source.turn, "range": [start, end] }),
    };
    let version = |version: &VersionView<'_>| json!({ "seq": version.seq, "summary": version.summary, "confidence": version.confidence });
    json!({
        "handle": item.handle,
        "kind": item.kind,
        "status": item.status,
        "summary": item.summary,
        "confidence": item.confidence,
        "sources": item.sources.iter().map(source).collect::<Vec<_>>(),
        "supersedes": item.supersedes,
        "superseded_by": item.superseded_by,
        "last_seq": item.last_seq,
        "versions": item.versions.iter().map(version).collect::<Vec<_>>(),
    })
}

fn changed(ledger: &Ledger, since: i64) -> Value {
    match ledger.position(since) {
        Ok(since) => {
            let items = ledger.changed_since(since);
            json!({ "items": items.iter().map(|&item| ledger.handle(item)).collect::<Vec<_>>() })
        }
        Err(error) => json!({ "error": error.code() }),
    }
}

pub fn ledger_identity(given: &Value) -> Result<Value, String> {
    let text = |name: &str| {
        given.get(name).and_then(Value::as_str).ok_or_else(|| format!("`{name}` must be a text"))
    };
    let is_same_kind = text("kind_a")? == text("kind_b")?;
    Ok(json!({ "same": is_same_kind && normal_form(text("a")?) == normal_form(text("b")?) }))
}

fn list<'a>(given: &'a Value, name: &str) -> Result<&'a [Value], String> {
    given
        .get(name)
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .ok_or_else(|| format!("`{name}` must be a list"))
}
