//! `probity ledger ingest`.

use super::model::ModelArgs;
use super::{read, show_notices};
use crate::answer::CommandAnswer;
use crate::ui;
use clap::Args;
use probity_api::ExitCode;
use probity_api::ledger::{ModelUse, NotUnderstoodLine, ProposalOutcome};
use probity_core::ReasonCode;
use probity_knowledge::ledger::{self, IngestRequest};
use probity_ledger::VerdictKind;
use probity_workspace::{ServiceError, Workspace};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "Examples:
  probity ledger ingest ~/.claude/projects/*/*.jsonl
  probity ledger ingest ~/.codex/sessions/*/*/*/*.jsonl --stream codex
  echo '{\"id\": \"1\", \"role\": \"user\", \"text\": \"Use tabs\"}' | probity ledger ingest";

/// Import what was said: sessions of coding agents, or JSON lines
///
/// Reads session files of Claude Code, Codex, Gemini CLI, Copilot CLI and Qwen Code, and what `opencode export` prints.
/// Lines are recognized by their shape. Taking in the same file again, or a longer version of it, adds only what is
/// new. Lines that are not understood are reported, never guessed at.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct IngestArgs {
    /// Transcripts; `-` or nothing for stdin
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Who speaks for the agent [default: the program that wrote the transcript]
    #[arg(long, value_name = "NAME")]
    author: Option<String>,

    /// Who speaks for the user [default: the user]
    #[arg(long, value_name = "NAME")]
    user: Option<String>,

    /// Import into a separate stream; a new name starts one
    #[arg(long, value_name = "NAME")]
    stream: Option<String>,

    /// Read the turns that are still pending, instead of stdin
    #[arg(long)]
    pending: bool,

    #[command(flatten)]
    model: ModelArgs,
}

pub(super) fn ingest(workspace: &Workspace, args: IngestArgs) -> Result<CommandAnswer, ServiceError> {
    let mut request = IngestRequest {
        author: args.author,
        user: args.user.unwrap_or_else(probity_workspace::user_name),
        stream: args.stream,
        pending: args.pending,
        model: args.model.into_request()?,
        ..IngestRequest::default()
    };
    let files = args.files;
    if files.is_empty() && !args.pending {
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
    for turn in &ingested.turns_conflicting {
        ui::print_row(
            "conflict",
            format_args!("turn {turn} is known with other words; what it said first stays"),
        );
    }
    for (what, n) in &ingested.left_out {
        ui::eprint_row("left out", format_args!("{n} × {what}"));
    }
    show_odd_lines(&ingested.not_understood);
    if ingested.turns_pending > 0 {
        ui::eprint_row(
            "pending",
            format_args!("{} not read yet", ui::count_of(ingested.turns_pending, "turn")),
        );
        ui::eprint_row("next", ui::code("probity ledger ingest --pending"));
    }
    let failed = show_model(ingested.model.as_ref());
    show_notices(&ingested.notices);
    Ok(CommandAnswer::of(if failed { ExitCode::Failed } else { ExitCode::Ok }, &ingested))
}

/// Shows the lines that were not understood, one row for each kind with the first place.
fn show_odd_lines(lines: &[NotUnderstoodLine]) {
    let mut kinds: BTreeMap<&str, (usize, String)> = BTreeMap::new();
    for (name, odd) in lines {
        // Where a parser stopped does not make another kind.
        let kind = odd.why.split(" at line ").next().unwrap_or_default();
        let first = || (0, format!("{name}:{}", odd.line));
        kinds.entry(kind).or_insert_with(first).0 += 1;
    }
    for (kind, (n, first)) in kinds {
        match n {
            1 => ui::eprint_row("not read", format_args!("{first}: {kind}")),
            n => ui::eprint_row("not read", format_args!("{n} × {kind}, the first at {first}")),
        }
    }
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
