//! `probity commits`: the versioned store of typed documents.

mod blob;
mod bundle;
mod check;
mod diff;
mod flatten;
mod heads;
mod init;
mod log;
mod losses;
mod mask;
mod merge;
mod put;
mod reduce;
mod refs;
mod schema;
mod show;
mod state;
mod sync;
mod update;

pub(crate) use losses::{conflict_values, print_losses};

use crate::answer::CommandAnswer;
use crate::ui;
use clap::{Args, Subcommand};
use probity_api::ExitCode;
use probity_api::documents::{CommitSummary, CommitWriteAnswer, TransferCounts};
use probity_document_store::{CommitMetadata, CommitStore, locate, open, short_id};
use probity_workspace::{ServiceError, Workspace};
use serde_json::Value;
use std::io::Read;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "Examples:\n  probity commits init --schema tickets.schema\n  \
    probity commits put ticket/t1 '{\"title\": \"one\", \"rank\": 0}'\n  \
    probity commits update ticket/t1 rank 3\n  probity commits log\n  probity commits state\n\n\
    A commit is named by its id, a prefix of it, a ref, or `@` for the only head.";

/// Keep typed documents with their history: write, read, merge, sync
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CommitsArgs {
    #[command(flatten)]
    place: StoreArgs,

    #[command(subcommand)]
    command: CommitsCommand,
}

/// Where the store lies.
#[derive(Debug, Args)]
pub(crate) struct StoreArgs {
    /// The file of the store [default: `commits.db` in the state directory of the tree]
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) store: Option<PathBuf>,
}

/// Who makes a commit, and what it is called.
#[derive(Debug, Args)]
pub(crate) struct CommitMetadataArgs {
    /// The author [default: the user]
    #[arg(long, value_name = "NAME")]
    author: Option<String>,

    /// A label for the commit
    #[arg(long, short = 'm', value_name = "TEXT")]
    label: Option<String>,
}

impl From<CommitMetadataArgs> for CommitMetadata {
    fn from(signed: CommitMetadataArgs) -> Self {
        Self { author: signed.author, label: signed.label }
    }
}

#[derive(Debug, Subcommand)]
enum CommitsCommand {
    Init(init::InitArgs),
    Schema(schema::SchemaArgs),
    Put(put::PutArgs),
    Update(update::UpdateArgs),
    Log(log::LogArgs),
    Show(show::ShowArgs),
    Heads(heads::HeadsArgs),
    Diff(diff::DiffArgs),
    State(state::StateArgs),
    Merge(merge::MergeArgs),
    Reduce(reduce::ReduceArgs),
    /// Remove the effect of a commit
    #[command(after_help = "Examples:\n  probity commits disable 3f2a -m 'wrong price'")]
    Disable(mask::MaskArgs),
    /// Restore the effect of a disabled commit
    #[command(after_help = "Examples:\n  probity commits enable 3f2a")]
    Enable(mask::MaskArgs),
    Ref(refs::RefArgs),
    Sync(sync::SyncArgs),
    Export(bundle::ExportArgs),
    Import(bundle::ImportArgs),
    Flatten(flatten::FlattenArgs),
    Blob(blob::BlobArgs),
    Check(check::CheckArgs),
}

pub(crate) fn commits(
    workspace: impl Fn() -> Result<Workspace, ServiceError>,
    arguments: CommitsArgs,
) -> Result<CommandAnswer, ServiceError> {
    let given = arguments.place.store;
    let open = || open_at(&workspace, given.as_deref());
    match arguments.command {
        CommitsCommand::Init(args) => init::init(workspace, given, args),
        CommitsCommand::Schema(args) => schema::schema(&mut open()?, args),
        CommitsCommand::Put(args) => put::put(&open()?, args),
        CommitsCommand::Update(args) => update::update(&open()?, args),
        CommitsCommand::Log(args) => log::log(&open()?, args),
        CommitsCommand::Show(args) => show::show(&open()?, &args),
        CommitsCommand::Heads(_) => heads::heads(&open()?),
        CommitsCommand::Diff(args) => diff::diff(&open()?, &args),
        CommitsCommand::State(args) => state::state(&open()?, &args),
        CommitsCommand::Merge(args) => merge::merge(&open()?, args),
        CommitsCommand::Reduce(args) => reduce::reduce(&open()?, &args),
        CommitsCommand::Disable(args) => mask::mask(&open()?, args, false),
        CommitsCommand::Enable(args) => mask::mask(&open()?, args, true),
        CommitsCommand::Ref(args) => refs::refs(&open()?, &args),
        CommitsCommand::Sync(args) => sync::sync(&open()?, &args),
        CommitsCommand::Export(args) => bundle::export(&open()?, &args),
        CommitsCommand::Import(args) => bundle::import(&open()?, &args),
        CommitsCommand::Flatten(args) => flatten::flatten(&open()?, args),
        CommitsCommand::Blob(args) => blob::blob(&open()?, &args),
        CommitsCommand::Check(_) => check::check(&open()?),
    }
}

fn print_written_commit(answer: &CommitWriteAnswer) -> CommandAnswer {
    let commit = &answer.commit;
    ui::print(format_args!("{} {}", ui::code(short_id(&commit.id)), commit.label));
    success(answer)
}

fn print_commit_line(commit: &CommitSummary, marks: &str) {
    ui::print(format_args!(
        "{}  {}  {:<9}  {:<12}  {}{marks}",
        ui::code(short_id(&commit.id)),
        ui::dim(&commit.time),
        commit.kind,
        commit.author,
        commit.label,
    ));
}

fn transfer(counts: &TransferCounts) -> String {
    format!(
        "{}, {}, {}",
        ui::count_of(counts.commits, "commit"),
        ui::count_of(counts.blobs, "blob"),
        ui::count_of(counts.decisions, "decision")
    )
}

fn success(answer: &impl probity_api::Answer) -> CommandAnswer {
    CommandAnswer::of(ExitCode::Ok, answer)
}

/// Reads a file, or stdin for `-`.
pub(crate) fn read_input(file: &Path) -> Result<Vec<u8>, ServiceError> {
    let missing =
        |error: std::io::Error| ServiceError::Missing(format!("cannot read {}: {error}", file.display()));
    if file == Path::new("-") {
        let mut bytes = Vec::new();
        std::io::stdin().read_to_end(&mut bytes).map_err(missing)?;
        return Ok(bytes);
    }
    std::fs::read(file).map_err(missing)
}

pub(crate) fn json_of(bytes: &[u8]) -> Result<Value, ServiceError> {
    probity_core::json::parse(bytes).map_err(|error| {
        let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(60)]).into_owned();
        ServiceError::refused(
            error.reason,
            format!("`{shown}` is not JSON (byte {}); text needs quotes: '\"text\"'", error.at),
        )
    })
}

pub(crate) fn list_of(bytes: &[u8]) -> Result<Vec<Value>, ServiceError> {
    match json_of(bytes)? {
        Value::Array(items) => Ok(items),
        _ => Err(ServiceError::refused(probity_core::ReasonCode::CommitMisfit, "a list is expected: [ … ]")),
    }
}

fn parse_document_name(document: &str) -> Result<(String, String), ServiceError> {
    match document.split_once('/') {
        Some((attachment, key)) if !attachment.is_empty() && !key.is_empty() => {
            Ok((attachment.to_owned(), key.to_owned()))
        }
        _ => Err(ServiceError::refused(
            probity_core::ReasonCode::CommitMisfit,
            format!("`{document}` is not a document: write `attachment/key`"),
        )),
    }
}

pub(crate) fn open_at(
    workspace: impl Fn() -> Result<Workspace, ServiceError>,
    given: Option<&Path>,
) -> Result<CommitStore, ServiceError> {
    open(&locate(workspace, given)?)
}
