//! `probity ledger`: propose, ingest, ask, export, merge.

mod as_of;
mod changed;
mod cite;
mod explain;
mod export;
mod guard;
mod history;
mod ingest;
mod item_table;
mod merge;
mod model;
mod propose;
mod replay;
mod scores;
mod show;
mod suggest;

use crate::answer::CommandAnswer;
use crate::ui;
use clap::{Args, Subcommand};
use probity_api::ledger::LedgerInput;
use probity_core::ReasonCode;
use probity_knowledge::ledger::ItemFilter;
use probity_ledger::{DeltaKind, ItemKind, ItemStatus};
use probity_workspace::{ServiceError, Workspace};
use std::io::Read;
use std::path::Path;

/// Maximum size of an input file, or of stdin.
const MAX_INPUT_BYTES: u64 = 1 << 30;

/// Keep what agents know and decided: propose, ingest, ask, export
#[derive(Debug, Subcommand)]
#[command(
    after_help = "Examples:\n  probity ledger ingest session.jsonl\n  probity ledger show\n  probity ledger export --budget 1500"
)]
pub(crate) enum LedgerCommand {
    Propose(propose::ProposeArgs),
    Ingest(ingest::IngestArgs),
    Cite(cite::CiteArgs),
    Guard(guard::GuardArgs),
    Show(show::ShowArgs),
    Changed(changed::ChangedArgs),
    Explain(explain::ExplainArgs),
    History(history::HistoryArgs),
    AsOf(as_of::AsOfArgs),
    Scores(scores::ScoresArgs),
    Replay(replay::ReplayArgs),
    Export(export::ExportArgs),
    Merge(merge::MergeArgs),
    Suggest(suggest::SuggestArgs),
}

/// Which ledger is meant.
#[derive(Debug, Args)]
struct StreamArgs {
    /// A stream instead of the ledger itself
    #[arg(long, value_name = "NAME")]
    stream: Option<String>,
}

impl StreamArgs {
    fn name(&self) -> Option<&str> {
        self.stream.as_deref()
    }
}

#[derive(Debug, Args)]
struct FilterArgs {
    /// Only items of this kind
    #[arg(long, value_name = "KIND", value_parser = str::parse::<ItemKind>)]
    kind: Option<ItemKind>,

    /// Only items with this status
    #[arg(long, value_name = "STATUS", value_parser = str::parse::<ItemStatus>)]
    status: Option<ItemStatus>,

    /// Also show superseded and resolved items
    #[arg(long)]
    all: bool,

    #[command(flatten)]
    stream: StreamArgs,
}

impl From<FilterArgs> for ItemFilter {
    fn from(arguments: FilterArgs) -> Self {
        let FilterArgs { kind, status, all, stream } = arguments;
        Self { stream: stream.stream, kind, status, all }
    }
}

pub(crate) fn ledger(workspace: &Workspace, command: LedgerCommand) -> Result<CommandAnswer, ServiceError> {
    match command {
        LedgerCommand::Propose(args) => propose::propose(workspace, args),
        LedgerCommand::Ingest(args) => ingest::ingest(workspace, args),
        LedgerCommand::Cite(args) => cite::cite(workspace, args),
        LedgerCommand::Guard(args) => guard::guard(workspace, args),
        LedgerCommand::Show(args) => show::show(workspace, args),
        LedgerCommand::Changed(args) => changed::changed(workspace, &args),
        LedgerCommand::Explain(args) => explain::explain(workspace, &args),
        LedgerCommand::History(args) => history::history(workspace, &args),
        LedgerCommand::AsOf(args) => as_of::as_of(workspace, args),
        LedgerCommand::Scores(args) => scores::scores(workspace, &args),
        LedgerCommand::Replay(args) => replay::replay(workspace, &args),
        LedgerCommand::Export(args) => export::export(workspace, args),
        LedgerCommand::Merge(args) => merge::merge(workspace, args),
        LedgerCommand::Suggest(args) => suggest::suggest(workspace, &args),
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the kind of a proposed delta; empty if the input named no known kind.
fn kind_of(input: &LedgerInput) -> &'static str {
    input.kind.map_or("", DeltaKind::as_str)
}

fn code_of(input: &LedgerInput) -> String {
    input.code.map(|code| format!(" ({code})")).unwrap_or_default()
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
