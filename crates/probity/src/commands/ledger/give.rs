//! What is given to the ledger.

use super::args::{IngestArgs, ProposeArgs};
use super::table;
use crate::answer::Answer;
use crate::ui;
use probity_api::ExitCode;
use probity_core::Reason;
use probity_knowledge::ledger::{self, IngestRequest, ModelUse, OutcomeView, ProposeRequest, TurnInput};
use probity_workspace::{Fault, Workspace};
use serde_json::{Value, json};
use std::io::Read;
use std::path::Path;

/// The most that is read from a file or from stdin.
const MAX_INPUT_BYTES: u64 = 1 << 30;

pub(super) fn propose(workspace: &Workspace, arguments: ProposeArgs) -> Result<Answer, Fault> {
    let bytes = read(&arguments.file)?;
    let mut request = request_of(&bytes)?;
    request.author = arguments.author.unwrap_or_else(probity_workspace::user);
    request.stream = arguments.stream;
    request.atomic |= arguments.atomic;
    request.dry_run = arguments.dry_run;
    if let Some(said) = arguments.said {
        ledger::add_said(&mut request, &said);
    }
    let proposed = ledger::propose(workspace, &request)?;
    proposed.outcomes.iter().zip(&request.deltas).for_each(|(outcome, delta)| show_outcome(outcome, delta));
    show_notices(&proposed.notices);
    ui::row(
        "seq",
        format_args!("{}{}", proposed.seq, if proposed.dry_run { "  (nothing was done)" } else { "" }),
    );
    let failed = proposed.n_rejected() > 0;
    Ok(answer("ledger-propose", failed, &proposed))
}

/// One delta, a list of them, or `{"turns", "deltas", "atomic"}`.
fn request_of(bytes: &[u8]) -> Result<ProposeRequest, Fault> {
    let invalid = |why: String| Fault::refused(Reason::LedgerInputInvalid, why);
    let value = probity_core::json::parse(bytes).map_err(|error| invalid(error.to_string()))?;
    let mut request = ProposeRequest::default();
    match value {
        Value::Array(deltas) => request.deltas = deltas,
        Value::Object(mut members) if members.contains_key("deltas") => {
            if let Some(name) =
                members.keys().find(|name| !["deltas", "turns", "atomic"].contains(&name.as_str()))
            {
                return Err(invalid(format!("there is no member `{name}`: there are turns, deltas, atomic")));
            }
            let turns = members.remove("turns").unwrap_or_else(|| json!([]));
            request.turns = serde_json::from_value::<Vec<TurnInput>>(turns)
                .map_err(|error| invalid(format!("turns: {error}")))?;
            request.atomic = members.get("atomic").and_then(Value::as_bool).unwrap_or(false);
            match members.remove("deltas") {
                Some(Value::Array(deltas)) => request.deltas = deltas,
                _ => return Err(invalid("`deltas` must be a list".into())),
            }
        }
        delta => request.deltas = vec![delta],
    }
    Ok(request)
}

fn show_outcome(outcome: &OutcomeView, delta: &Value) {
    let mark = match outcome.outcome {
        "accepted" => ui::good("accepted"),
        "merged" => ui::warn("merged  "),
        _ => ui::bad("rejected"),
    };
    let what = delta["kind"].as_str().unwrap_or("?");
    let item = outcome.item.as_deref().map(|item| format!("  {}", ui::bold(item))).unwrap_or_default();
    let code = outcome.code.map(|code| format!("  {code}")).unwrap_or_default();
    let message = outcome.message.as_deref().map(|message| format!(": {message}")).unwrap_or_default();
    let seq = outcome.seq.map_or_else(|| "    ".into(), |seq| format!("{seq:>4}"));
    ui::print(format_args!("{seq}  {mark}  {what}{item}{code}{message}"));
}

pub(super) fn ingest(workspace: &Workspace, arguments: IngestArgs) -> Result<Answer, Fault> {
    let mut request = IngestRequest {
        author: arguments.author,
        user: arguments.user.unwrap_or_else(probity_workspace::user),
        stream: arguments.stream,
        pending: arguments.pending,
        model: arguments.model.request()?,
        ..IngestRequest::default()
    };
    let files = arguments.files;
    if files.is_empty() && !arguments.pending {
        request.transcripts.push(("stdin".into(), read(Path::new("-"))?));
    }
    for file in files {
        request.transcripts.push((file.display().to_string(), read(&file)?));
    }
    let ingested = ledger::ingest(workspace, &request)?;
    let count = |word: &str| ingested.outcomes.iter().filter(|outcome| outcome.outcome == word).count();
    ui::print(format_args!(
        "{} new, {} known; {} accepted, {} merged, {} rejected",
        ui::count(ingested.turns_new, "turn"),
        ingested.turns_known,
        count("accepted"),
        count("merged"),
        count("rejected"),
    ));
    for outcome in ingested.outcomes.iter().filter(|outcome| outcome.outcome == "rejected") {
        ui::print_row(
            "rejected",
            format_args!("{} {}", outcome.seq.unwrap_or(0), outcome.message.as_deref().unwrap_or("")),
        );
    }
    for (what, n) in &ingested.left_out {
        ui::row("left out", format_args!("{n} × {what}"));
    }
    for (name, odd) in &ingested.not_understood {
        ui::row("odd", format_args!("{name}:{}: {}", odd.line, odd.why));
    }
    if ingested.turns_pending > 0 {
        ui::row("pending", format_args!("{} not read yet", ui::count(ingested.turns_pending, "turn")));
        ui::row("next", ui::code("probity ledger ingest --pending"));
    }
    let failed = show_model(ingested.model.as_ref());
    show_notices(&ingested.notices);
    Ok(answer("ledger-ingest", failed, &ingested))
}

/// Shows what a model did, and says whether it failed.
fn show_model(model: Option<&ModelUse>) -> bool {
    let Some(model) = model else { return false };
    let usage = &model.usage;
    ui::row(
        "model",
        format_args!(
            "{}, {} + {} tokens",
            ui::count(usize::try_from(usage.calls).unwrap_or(usize::MAX), "call"),
            usage.prompt_tokens,
            usage.completion_tokens
        ),
    );
    for dropped in &model.dropped {
        ui::row("dropped", format_args!("{} {}: {}", dropped.why, dropped.kind, dropped.words));
    }
    if let Some(why) = &model.failed {
        ui::row("failed", format_args!("{} {}", ui::bad(Reason::LedgerModelFailed), why));
        ui::row("next", Reason::LedgerModelFailed.next_step());
    }
    model.failed.is_some()
}

pub(super) fn guard(
    workspace: &Workspace,
    authors: Vec<String>,
    everyone: bool,
    by: Option<String>,
) -> Result<Answer, Fault> {
    let change = match (authors.is_empty(), everyone) {
        (false, _) => Some(Some(authors)),
        (true, true) => Some(None),
        (true, false) => None,
    };
    let guarded = ledger::guard(workspace, change, &by.unwrap_or_else(probity_workspace::user))?;
    match &guarded.guardians {
        None => ui::print("everyone may change hard constraints"),
        Some(names) => ui::print(format_args!("only {} may change hard constraints", names.join(", "))),
    }
    Ok(answer("ledger-guard", false, &guarded))
}

pub(super) fn cite(
    workspace: &Workspace,
    change: &str,
    items: &[String],
    author: Option<String>,
) -> Result<Answer, Fault> {
    let citations = ledger::cite(workspace, change, items, &author.unwrap_or_else(probity_workspace::user))?;
    for citation in &citations {
        ui::print(format_args!("{} implements {}", citation.change, ui::bold(&citation.item)));
    }
    Ok(answer("ledger-cite", false, &json!({ "change": change, "citations": citations })))
}

fn show_notices(notices: &[String]) {
    for notice in notices {
        ui::row("notice", ui::warn(notice));
    }
}

pub(super) fn answer(name: &str, failed: bool, document: &impl serde::Serialize) -> Answer {
    let document = serde_json::to_value(document).expect("answers are texts, numbers and lists");
    Answer::new(name, if failed { ExitCode::Failed } else { ExitCode::Ok }, document)
}

/// Reads a file, or stdin for `-`.
fn read(path: &Path) -> Result<Vec<u8>, Fault> {
    let cannot = |error: std::io::Error| Fault::Missing(format!("cannot read {}: {error}", path.display()));
    let mut bytes = Vec::new();
    let read = if path == Path::new("-") {
        std::io::stdin().lock().take(MAX_INPUT_BYTES + 1).read_to_end(&mut bytes)
    } else {
        std::fs::File::open(path).and_then(|file| file.take(MAX_INPUT_BYTES + 1).read_to_end(&mut bytes))
    };
    read.map_err(cannot)?;
    if bytes.len() as u64 > MAX_INPUT_BYTES {
        let detail = format!("{} is larger than {MAX_INPUT_BYTES} bytes", path.display());
        return Err(Fault::refused(Reason::LedgerInputInvalid, detail));
    }
    Ok(bytes)
}

/// Shows the items of a list, and what is to know about the ledger besides.
pub(super) fn show_list(list: &ledger::ItemList) {
    table::items(&list.items);
    table::contradictions(&list.contradictions);
    for (stream, n) in &list.streams {
        ui::row("stream", format_args!("{stream}: not merged yet, {}", ui::count(*n, "transaction")));
    }
    if !list.pending_turns.is_empty() {
        ui::row("pending", format_args!("{} not read yet", ui::count(list.pending_turns.len(), "turn")));
    }
}
