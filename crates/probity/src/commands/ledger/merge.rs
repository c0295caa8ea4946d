//! `probity ledger merge`: merges a stream into the ledger, or lists the streams.

use crate::answer::CommandAnswer;
use crate::ui;
use clap::Args;
use probity_api::ExitCode;
use probity_api::ledger::LedgerMergeStatus;
use probity_knowledge::ledger::{self, MergeRequest};
use probity_workspace::{ServiceError, Workspace};

/// Merge a stream into the ledger, or list the streams
///
/// What was proposed to the stream is proposed to the ledger again. Intent that the ledger would lose, proposals that
/// the reconciler refuses, and contradictions are points: each needs a choice, and nothing happens before.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  probity ledger merge\n  probity ledger merge codex\n  \
                        probity ledger merge codex --resolve 3f9a01bc=ours")]
pub(crate) struct MergeArgs {
    /// The stream
    stream: Option<String>,

    /// A choice for a point, as `ID=CHOICE`; the answer lists points and choices
    #[arg(long, value_name = "ID=CHOICE", value_parser = choice)]
    resolve: Vec<(String, String)>,

    /// Who decides [default: the user]
    #[arg(long, value_name = "NAME")]
    by: Option<String>,

    /// Show what would happen, and do nothing
    #[arg(long)]
    dry_run: bool,
}

pub(super) fn merge(workspace: &Workspace, args: MergeArgs) -> Result<CommandAnswer, ServiceError> {
    let Some(stream) = args.stream else { return list(workspace) };
    let by = args.by.unwrap_or_else(probity_workspace::user_name);
    let choices = args.resolve.into_iter().collect();
    merge_stream(workspace, &MergeRequest { stream, by, choices, dry_run: args.dry_run })
}

fn choice(text: &str) -> Result<(String, String), String> {
    let (id, choice) = text.split_once('=').ok_or("it is ID=CHOICE")?;
    Ok((id.to_owned(), choice.to_owned()))
}

fn list(workspace: &Workspace) -> Result<CommandAnswer, ServiceError> {
    let answer = ledger::streams(workspace)?;
    for stream in &answer.streams {
        let open = match stream.batches {
            0 => ui::dim("merged"),
            1 => "1 batch".to_owned(),
            n => format!("{n} batches"),
        };
        ui::print(format_args!("  {}  from {}  {open}", ui::bold(&stream.name), stream.base));
    }
    if answer.streams.is_empty() {
        ui::eprint("no streams; `probity ledger propose --stream NAME` begins one");
    }
    Ok(CommandAnswer::of(ExitCode::Ok, &answer))
}

fn merge_stream(workspace: &Workspace, request: &MergeRequest) -> Result<CommandAnswer, ServiceError> {
    let merged = ledger::merge(workspace, request)?;
    let mark = match merged.status {
        LedgerMergeStatus::Merged => ui::good("merged"),
        LedgerMergeStatus::Review => ui::bad("review needed"),
        LedgerMergeStatus::Planned => ui::warn("planned"),
    };
    ui::print(format_args!("{mark} {}: {}", merged.stream, ui::count_of(merged.proposals, "proposal")));
    for (from, to) in &merged.renamed {
        ui::print_row("renamed", format_args!("{from} is called {to} in the ledger"));
    }
    for point in &merged.points {
        let chosen = point.chosen.as_deref().map_or_else(|| ui::warn("undecided"), ui::good);
        let code = point.code.map(|code| format!(" ({code})")).unwrap_or_default();
        ui::print(format_args!(
            "  {}  {} {} {}{code}  {chosen}",
            ui::bold(&point.id),
            point.kind,
            point.item,
            point.about
        ));
        for (label, text) in [("ledger", &point.ours), ("stream", &point.theirs)] {
            if let Some(text) = text {
                ui::print_row(label, text.split_whitespace().collect::<Vec<_>>().join(" "));
            }
        }
        if point.chosen.is_none() {
            let ways =
                point.choices.iter().map(|choice| ui::code(format_args!("--resolve {}={choice}", point.id)));
            ui::print_row("choose", ways.collect::<Vec<_>>().join("  "));
        }
    }
    merged.notices.iter().for_each(|notice| ui::eprint_row("notice", ui::warn(notice)));
    ui::eprint_row("seq", merged.seq);
    let needs_review = merged.status == LedgerMergeStatus::Review;
    Ok(CommandAnswer::of(if needs_review { ExitCode::Conflict } else { ExitCode::Ok }, &merged))
}
