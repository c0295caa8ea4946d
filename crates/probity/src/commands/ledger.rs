//! `probity ledger`: propose, ingest, ask, export, merge.

mod args;
mod ask;
mod give;
mod merge;
mod model;
mod table;

pub(crate) use args::LedgerCommand;

use crate::answer::CommandAnswer;
use probity_knowledge::ledger::MergeRequest;
use probity_workspace::{ServiceError, Workspace};

/// Answers a question to the ledger, or gives it something.
pub(crate) fn ledger(workspace: &Workspace, command: LedgerCommand) -> Result<CommandAnswer, ServiceError> {
    match command {
        LedgerCommand::Propose(arguments) => give::propose(workspace, arguments),
        LedgerCommand::Ingest(arguments) => give::ingest(workspace, arguments),
        LedgerCommand::Cite { change, items, author } => give::cite(workspace, &change, &items, author),
        LedgerCommand::Guard { authors, everyone, by } => give::guard(workspace, authors, everyone, by),
        LedgerCommand::Show { filter } => ask::show(workspace, &filter.into()),
        LedgerCommand::AsOf { position, filter } => ask::as_of(workspace, position, &filter.into()),
        LedgerCommand::Changed { since, stream } => ask::changed(workspace, since, stream.name()),
        LedgerCommand::Explain { item, stream } => ask::explain(workspace, &item, stream.name()),
        LedgerCommand::History { item, stream } => ask::history(workspace, &item, stream.name()),
        LedgerCommand::Scores { stream } => ask::scores(workspace, stream.name()),
        LedgerCommand::Replay { since } => ask::replay(workspace, since),
        LedgerCommand::Export(arguments) => ask::export(workspace, arguments),
        LedgerCommand::Merge { stream: None, .. } => merge::list(workspace),
        LedgerCommand::Merge { stream: Some(stream), resolve, by, dry_run } => {
            let by = by.unwrap_or_else(probity_workspace::user);
            let choices = resolve.into_iter().collect();
            merge::merge(workspace, &MergeRequest { stream, by, choices, dry_run })
        }
        LedgerCommand::Suggest { stream } => ask::suggest(workspace, stream.name()),
    }
}
