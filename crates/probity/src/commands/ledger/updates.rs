//! `probity ledger` commands that write.

use super::args::{IngestArgs, ProposeArgs};
use super::item_table;
use crate::answer::CommandAnswer;
use crate::ui;
use probity_api::ExitCode;
use probity_api::ledger::{ItemListAnswer, ModelUse, ProposalFile, ProposalOutcome, ProposeRequest};
use probity_core::ReasonCode;
use probity_knowledge::ledger::{self, IngestRequest};
use probity_ledger::{CandidateDelta, VerdictKind};
use probity_workspace::{ServiceError, Workspace};
use serde_json::Value;
use std::io::Read;
use std::path::Path;

/// Maximum size of an input file, or of stdin.
const MAX_INPUT_BYTES: u64 = 1 << 30;

pub(super) fn propose(workspace: &Workspace, arguments: ProposeArgs) -> Result<CommandAnswer, ServiceError> {
    let mut proposal = proposal_in(&read(&arguments.file)?)?;
    proposal.atomic |= arguments.atomic;
    let request = ProposeRequest {
        author: arguments.author.unwrap_or_else(probity_workspace::user_name),
        stream: arguments.stream,
        dry_run: arguments.dry_run,
        said: arguments.said,
        proposal,
    };
    let proposed = ledger::propose(workspace, &request)?;
    let outcomes = proposed.outcomes.iter().zip(&request.proposal.deltas);
    outcomes.for_each(|(outcome, delta)| show_outcome(outcome, delta));
    show_notices(&proposed.notices);
    ui::eprint_row(
        "seq",
        format_args!("{}{}", proposed.seq, if proposed.dry_run { "  (nothing was done)" } else { "" }),
    );
    let any_rejected = ProposalOutcome::count(&proposed.outcomes, VerdictKind::Rejected) > 0;
    Ok(CommandAnswer::of(exit_code(any_rejected), &proposed))
}

/// Parses one delta, a list of deltas, or an object with `deltas`.
fn proposal_in(bytes: &[u8]) -> Result<ProposalFile, ServiceError> {
    let invalid = |why: String| ServiceError::refused(ReasonCode::LedgerInputInvalid, why);
    let value = probity_core::json::parse(bytes).map_err(|error| invalid(error.to_string()))?;
    match value {
        Value::Object(members) if members.contains_key("deltas") => {
            serde_json::from_value(Value::Object(members)).map_err(|error| invalid(error.to_string()))
        }
        Value::Array(deltas) => Ok(ProposalFile {
            deltas: deltas.into_iter().map(CandidateDelta::from).collect(),
            ..ProposalFile::default()
        }),
        delta => Ok(ProposalFile { deltas: vec![delta.into()], ..ProposalFile::default() }),
    }
}

const fn exit_code(failed: bool) -> ExitCode {
    if failed { ExitCode::Failed } else { ExitCode::Ok }
}

fn show_outcome(outcome: &ProposalOutcome, delta: &CandidateDelta) {
    let mark = match outcome.outcome {
        VerdictKind::Accepted => ui::good("accepted"),
        VerdictKind::Merged => ui::warn("merged  "),
        VerdictKind::Rejected => ui::bad("rejected"),
    };
    let what = delta.kind().unwrap_or("?");
    let item = outcome.item.as_deref().map(|item| format!("  {}", ui::bold(item))).unwrap_or_default();
    let code = outcome.code.map(|code| format!("  {code}")).unwrap_or_default();
    let message = outcome.message.as_deref().map(|message| format!(": {message}")).unwrap_or_default();
    let seq = outcome.seq.map_or_else(|| "    ".into(), |seq| format!("{seq:>4}"));
    ui::print(format_args!("{seq}  {mark}  {what}{item}{code}{message}"));
}

pub(super) fn ingest(workspace: &Workspace, arguments: IngestArgs) -> Result<CommandAnswer, ServiceError> {
    let mut request = IngestRequest {
        author: arguments.author,
        user: arguments.user.unwrap_or_else(probity_workspace::user_name),
        stream: arguments.stream,
        pending: arguments.pending,
        model: arguments.model.into_request()?,
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
    let count = |kind| ProposalOutcome::count(&ingested.outcomes, kind);
    ui::print(format_args!(
        "{} new, {} known; {} accepted, {} merged, {} rejected",
        ui::count_of(ingested.turns_new, "turn"),
        ingested.turns_known,
        count(VerdictKind::Accepted),
        count(VerdictKind::Merged),
        count(VerdictKind::Rejected),
    ));
    for outcome in ingested.outcomes.iter().filter(|outcome| outcome.outcome == VerdictKind::Rejected) {
        ui::print_row(
            "rejected",
            format_args!("{} {}", outcome.seq.unwrap_or(0), outcome.message.as_deref().unwrap_or("")),
        );
    }
    for (what, n) in &ingested.left_out {
        ui::eprint_row("left out", format_args!("{n} × {what}"));
    }
    for (name, odd) in &ingested.not_understood {
        ui::eprint_row("odd", format_args!("{name}:{}: {}", odd.line, odd.why));
    }
    if ingested.turns_pending > 0 {
        ui::eprint_row(
            "pending",
            format_args!("{} not read yet", ui::count_of(ingested.turns_pending, "turn")),
        );
        ui::eprint_row("next", ui::code("probity ledger ingest --pending"));
    }
    let failed = show_model(ingested.model.as_ref());
    show_notices(&ingested.notices);
    Ok(CommandAnswer::of(exit_code(failed), &ingested))
}

/// Shows what a model did; returns whether it failed.
fn show_model(model: Option<&ModelUse>) -> bool {
    let Some(model) = model else { return false };
    let usage = &model.usage;
    ui::eprint_row(
        "model",
        format_args!(
            "{}, {} + {} tokens",
            ui::count_of(usize::try_from(usage.calls).unwrap_or(usize::MAX), "call"),
            usage.prompt_tokens,
            usage.completion_tokens
        ),
    );
    for dropped in &model.dropped {
        ui::eprint_row("dropped", format_args!("{} {}: {}", dropped.why, dropped.kind, dropped.words));
    }
    if let Some(why) = &model.failed {
        ui::eprint_row("failed", format_args!("{} {}", ui::bad(ReasonCode::LedgerModelFailed), why));
        ui::eprint_row("next", ReasonCode::LedgerModelFailed.next_step());
    }
    model.failed.is_some()
}

pub(super) fn guard(
    workspace: &Workspace,
    authors: Vec<String>,
    everyone: bool,
    by: Option<String>,
) -> Result<CommandAnswer, ServiceError> {
    let change = match (authors.is_empty(), everyone) {
        (false, _) => Some(Some(authors)),
        (true, true) => Some(None),
        (true, false) => None,
    };
    let guarded = ledger::guard(workspace, change, &by.unwrap_or_else(probity_workspace::user_name))?;
    match &guarded.guardians {
        None => ui::print("everyone may change hard constraints"),
        Some(names) => ui::print(format_args!("only {} may change hard constraints", names.join(", "))),
    }
    Ok(CommandAnswer::of(ExitCode::Ok, &guarded))
}

pub(super) fn cite(
    workspace: &Workspace,
    change: &str,
    items: &[String],
    author: Option<String>,
) -> Result<CommandAnswer, ServiceError> {
    let cited = ledger::cite(workspace, change, items, &author.unwrap_or_else(probity_workspace::user_name))?;
    for citation in &cited.citations {
        ui::print(format_args!("{} implements {}", citation.change, ui::bold(&citation.item)));
    }
    Ok(CommandAnswer::of(ExitCode::Ok, &cited))
}

fn show_notices(notices: &[String]) {
    for notice in notices {
        ui::eprint_row("notice", ui::warn(notice));
    }
}

/// Reads a file, or stdin for `-`.
fn read(path: &Path) -> Result<Vec<u8>, ServiceError> {
    let cannot =
        |error: std::io::Error| ServiceError::Missing(format!("cannot read {}: {error}", path.display()));
    let mut bytes = Vec::new();
    let read = if path == Path::new("-") {
        std::io::stdin().lock().take(MAX_INPUT_BYTES + 1).read_to_end(&mut bytes)
    } else {
        std::fs::File::open(path).and_then(|file| file.take(MAX_INPUT_BYTES + 1).read_to_end(&mut bytes))
    };
    read.map_err(cannot)?;
    if bytes.len() as u64 > MAX_INPUT_BYTES {
        let detail = format!("{} is larger than {MAX_INPUT_BYTES} bytes", path.display());
        return Err(ServiceError::refused(ReasonCode::LedgerInputInvalid, detail));
    }
    Ok(bytes)
}

/// Shows the items, their contradictions, unmerged streams and unread turns.
pub(super) fn show_list(list: &ItemListAnswer) {
    show_notices(&list.notices);
    item_table::print_items(&list.items);
    item_table::print_contradictions(&list.contradictions);
    for (stream, n) in &list.streams {
        ui::eprint_row(
            "stream",
            format_args!("{stream}: not merged yet, {}", ui::count_of(*n, "transaction")),
        );
    }
    if !list.pending_turns.is_empty() {
        ui::eprint_row(
            "pending",
            format_args!("{} not read yet", ui::count_of(list.pending_turns.len(), "turn")),
        );
    }
}
