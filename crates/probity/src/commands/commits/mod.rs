//! `probity commits`: the versioned store of typed documents.

mod args;
mod show;

pub(crate) use args::{CommitMetadataArgs, CommitsArgs, StoreArgs};
pub(crate) use show::{conflict_values, print_losses};

use crate::answer::CommandAnswer;
use crate::ui;
use args::CommitsCommand;
use probity_api::ExitCode;
use probity_api::documents::{BundleTransferAnswer, CommitWriteAnswer};
use probity_api::merges::MergeHeadsAnswer;
use probity_document_store::write::DocumentWrite;
use probity_document_store::{
    CommitStore, SyncDirection, exchange, locate, merge, open, read, short_id, write,
};
use probity_workspace::{ServiceError, Workspace};
use serde_json::Value;
use std::io::Read;
use std::path::Path;

pub(crate) fn commits(
    workspace: impl Fn() -> Result<Workspace, ServiceError>,
    arguments: CommitsArgs,
) -> Result<CommandAnswer, ServiceError> {
    let given = arguments.place.store;
    if let CommitsCommand::Init { path, schema } = arguments.command {
        let path = locate(workspace, path.or(given).as_deref())?;
        let answer = write::init(&path, &read_input(&schema)?)?;
        ui::print(format_args!(
            "{} a commit store at {}",
            ui::good("made"),
            crate::relative_to_cwd(&path).display()
        ));
        return Ok(success(&answer));
    }
    let mut store = open(&locate(workspace, given.as_deref())?)?;
    match arguments.command {
        CommitsCommand::Schema { set: Some(file) } => {
            let answer = write::evolve(&mut store, &read_input(&file)?)?;
            ui::print_document(answer.text.trim_end());
            Ok(success(&answer))
        }
        command => answer(&store, command),
    }
}

fn answer(store: &CommitStore, command: CommitsCommand) -> Result<CommandAnswer, ServiceError> {
    match command {
        CommitsCommand::Log { from, document, limit } => {
            let answer = read::log(store, &read::LogRequest { from, document, limit })?;
            show::print_log(&answer);
            Ok(success(&answer))
        }
        CommitsCommand::Show { commit } => {
            let answer = read::show(store, &commit)?;
            show::print_commit(&answer);
            Ok(success(&answer))
        }
        CommitsCommand::Heads => {
            let answer = read::heads(store)?;
            show::print_heads(&answer);
            Ok(success(&answer))
        }
        CommitsCommand::Diff { from, to } => {
            let answer = read::difference(store, &from, &to)?;
            show::print_difference(&answer);
            Ok(success(&answer))
        }
        CommitsCommand::State { commit, document: Some(document), why: true } => {
            let answer = read::trace(store, commit.as_deref().unwrap_or("@"), &document)?;
            show::print_trace(&answer);
            Ok(success(&answer))
        }
        CommitsCommand::State { commit, document, .. } => {
            let answer = read::state(store, commit.as_deref(), document.as_deref())?;
            show::print_state(&answer);
            Ok(success(&answer))
        }
        CommitsCommand::Merge { ours, theirs, dry_run, signed } => {
            merge_two(store, ours, theirs, dry_run, signed)
        }
        CommitsCommand::Reduce { dry_run } => reduce(store, dry_run),
        CommitsCommand::Ref { name, commit, delete } => {
            let answer = match name {
                Some(name) if delete => write::set_ref(store, &name, None)?,
                Some(name) => write::set_ref(store, &name, Some(commit.as_deref().unwrap_or("@")))?,
                None => write::refs(store)?,
            };
            show::print_refs(&answer);
            Ok(success(&answer))
        }
        CommitsCommand::Schema { .. } => {
            let answer = write::schema(store);
            ui::print_document(answer.text.trim_end());
            Ok(success(&answer))
        }
        CommitsCommand::Blob { what } => blob(store, &what),
        other => change(store, other),
    }
}

fn change(store: &CommitStore, command: CommitsCommand) -> Result<CommandAnswer, ServiceError> {
    match command {
        CommitsCommand::Put { document, value, on, signed } => {
            let (attachment, key) = parse_document_name(&document)?;
            let value = match value {
                Some(text) => json_of(text.as_bytes())?,
                None => json_of(&read_input(Path::new("-"))?)?,
            };
            Ok(print_written_commit(&write::write(
                store,
                on.as_deref(),
                &DocumentWrite::Put { attachment, key, value },
                &signed.into(),
            )?))
        }
        CommitsCommand::Update { document, path, value, op, ops, on, signed } => {
            let what = match (ops, document) {
                (Some(file), _) => DocumentWrite::Ops(list_of(&read_input(&file)?)?),
                (None, document) => {
                    let (attachment, key) = parse_document_name(&document.unwrap_or_default())?;
                    let value = json_of(value.unwrap_or_default().as_bytes())?;
                    DocumentWrite::Update { op, attachment, key, path: path.unwrap_or_default(), value }
                }
            };
            Ok(print_written_commit(&write::write(store, on.as_deref(), &what, &signed.into())?))
        }
        CommitsCommand::Disable { commit, on, signed } => {
            Ok(print_written_commit(&write::mask(store, &commit, on.as_deref(), false, &signed.into())?))
        }
        CommitsCommand::Enable { commit, on, signed } => {
            Ok(print_written_commit(&write::mask(store, &commit, on.as_deref(), true, &signed.into())?))
        }
        CommitsCommand::Sync { other, pull, push } => {
            let direction = match (pull, push) {
                (true, _) => SyncDirection::Pull,
                (_, true) => SyncDirection::Push,
                _ => SyncDirection::Both,
            };
            let answer = exchange::sync(store, &other, direction)?;
            show::print_sync(&answer);
            Ok(success(&answer))
        }
        CommitsCommand::Export { file } => Ok(print_transfer(&exchange::export(store, &file)?, "written to")),
        CommitsCommand::Import { file } => Ok(print_transfer(&exchange::import(store, &file)?, "taken from")),
        CommitsCommand::Flatten { commit, into, signed } => {
            let answer = exchange::flatten(store, &commit, &into, &signed.into())?;
            ui::print(format_args!(
                "{} {} into {}",
                ui::good("flattened"),
                ui::count_of(answer.documents, "document"),
                into.display()
            ));
            Ok(success(&answer))
        }
        _ => check(store),
    }
}

fn merge_two(
    store: &CommitStore,
    ours: String,
    theirs: String,
    dry_run: bool,
    signed: CommitMetadataArgs,
) -> Result<CommandAnswer, ServiceError> {
    let which = if dry_run {
        merge::MergeSelector::Virtual { ours, theirs }
    } else {
        merge::MergeSelector::Written(write::merge(store, &ours, &theirs, &signed.into())?.to_string())
    };
    let found = merge::analyze(store, &which)?;
    show::print_merge(&found);
    Ok(success(&found.to_answer()))
}

fn reduce(store: &CommitStore, dry_run: bool) -> Result<CommandAnswer, ServiceError> {
    let found = if dry_run {
        merge::analyze_heads(store)?
    } else {
        merge::analyze_all(store, &write::reduce(store)?)?
    };
    if found.is_empty() {
        ui::print("one head, or none: there is nothing to reduce");
    }
    found.iter().for_each(show::print_merge);
    let merges = found.iter().map(merge::AnalyzedMerge::to_answer).collect();
    Ok(success(&MergeHeadsAnswer::new(!dry_run, merges)))
}

fn print_written_commit(answer: &CommitWriteAnswer) -> CommandAnswer {
    let commit = &answer.commit;
    ui::print(format_args!("{} {}", ui::code(short_id(&commit.id)), commit.label));
    success(answer)
}

fn print_transfer(answer: &BundleTransferAnswer, words: &str) -> CommandAnswer {
    let known = answer.moved.known;
    let known = if known > 0 {
        format!(" ({known} {} there already)", ui::agreeing_verb(known, "was", "were"))
    } else {
        String::new()
    };
    ui::print(format_args!("{} {words} {}{known}", show::transfer(&answer.moved), answer.file));
    success(answer)
}

fn blob(store: &CommitStore, what: &Path) -> Result<CommandAnswer, ServiceError> {
    let named = what.to_str().filter(|text| text.starts_with("sha256:"));
    let Some(digest) = named else {
        let answer = write::put_blob(store, &read_input(what)?)?;
        ui::print(answer.blob);
        return Ok(success(&answer));
    };
    let (answer, bytes) = write::get_blob(store, digest)?;
    if !ui::stdout_is_for_json() {
        ui::print_bytes(&bytes);
    }
    Ok(success(&answer))
}

fn check(store: &CommitStore) -> Result<CommandAnswer, ServiceError> {
    let answer = exchange::check(store)?;
    show::print_check(&answer);
    Ok(CommandAnswer::of(if answer.sound { ExitCode::Ok } else { ExitCode::Failed }, &answer))
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
            format!("`{shown}` is no JSON (byte {}); text needs quotes: '\"text\"'", error.at),
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
    let id = read::document_id(document)?;
    Ok((id.attachment.to_string(), id.key.to_string()))
}

pub(crate) fn open_at(
    workspace: impl Fn() -> Result<Workspace, ServiceError>,
    given: Option<&Path>,
) -> Result<CommitStore, ServiceError> {
    open(&locate(workspace, given)?)
}
