//! `probity ledger`: propose, ingest, ask, export, merge.

mod args;
mod item_table;
mod merge;
mod model;
mod queries;
mod updates;

pub(crate) use args::LedgerCommand;

use crate::answer::CommandAnswer;
use probity_knowledge::ledger::MergeRequest;
use probity_workspace::{ServiceError, Workspace};

pub(crate) fn ledger(workspace: &Workspace, command: LedgerCommand) -> Result<CommandAnswer, ServiceError> {
    match command {
        LedgerCommand::Propose(arguments) => updates::propose(workspace, arguments),
        LedgerCommand::Ingest(arguments) => updates::ingest(workspace, arguments),
        LedgerCommand::Cite { change, items, author } => updates::cite(workspace, &change, &items, author),
        LedgerCommand::Guard { authors, everyone, by } => updates::guard(workspace, authors, everyone, by),
        LedgerCommand::Show { filter } => queries::show(workspace, &filter.into()),
        LedgerCommand::AsOf { position, filter } => queries::as_of(workspace, position, &filter.into()),
        LedgerCommand::Changed { since, stream } => queries::changed(workspace, since, stream.name()),
        LedgerCommand::Explain { item, stream } => queries::explain(workspace, &item, stream.name()),
        LedgerCommand::History { item, stream } => queries::history(workspace, &item, stream.name()),
        LedgerCommand::Scores { stream } => queries::scores(workspace, stream.name()),
        LedgerCommand::Replay { since } => queries::replay(workspace, since),
        LedgerCommand::Export(arguments) => queries::export(workspace, arguments),
        LedgerCommand::Merge { stream: None, .. } => merge::list(workspace),
        LedgerCommand::Merge { stream: Some(stream), resolve, by, dry_run } => {
            let by = by.unwrap_or_else(probity_workspace::user_name);
            let choices = resolve.into_iter().collect();
            merge::merge(workspace, &MergeRequest { stream, by, choices, dry_run })
        }
        LedgerCommand::Suggest { stream } => queries::suggest(workspace, stream.name()),
    }
}
