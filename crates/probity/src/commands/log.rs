//! `probity log`: the append-only log of the repository.

use crate::answer::CommandAnswer;
use crate::ui;
use clap::{Args, Subcommand};
use probity_api::ExitCode;
use probity_evidence::TrustRequirements;
use probity_runner::bundles;
use probity_runner::log_proofs::{self, LogPoint, WitnessRequest};
use probity_runner::log_restart;
use probity_workspace::{ServiceError, Workspace};
use std::path::{Path, PathBuf};

/// Show the log of intents, or query the log of the repository
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:\n  probity log\n  probity log --after 100 --json\n  probity log show"
)]
pub(crate) struct LogArgs {
    #[command(subcommand)]
    command: Option<LogCommand>,
    #[command(flatten)]
    intents: super::intent::IntentLogArgs,
}

/// What can be asked about the log of everything that must not shrink unnoticed.
#[derive(Debug, Subcommand)]
pub(crate) enum LogCommand {
    /// Check the whole log and show its newest entries
    ///
    /// Evidence, receipts, the ledger and the registry of intents are entries of one append-only Merkle log.
    #[command(after_help = "Examples:\n  probity log show\n  probity log show --limit 100")]
    Show {
        /// The maximum number of entries
        #[arg(long, value_name = "N", default_value_t = 10)]
        limit: usize,
    },

    /// Print the head of the log as a checkpoint, signed if there is a key
    #[command(
        after_help = "Examples:\n  probity log checkpoint -o monday.checkpoint\n  probity log checkpoint --size 20"
    )]
    Checkpoint {
        /// For the first N entries instead of all
        #[arg(long, value_name = "N")]
        size: Option<u64>,
        /// Write it to this file
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },

    /// Prove that the log only grew between two checkpoints
    #[command(
        after_help = "Examples:\n  probity log consistency monday.checkpoint friday.checkpoint\n  probity log consistency 20 31 --json > proof.json"
    )]
    Consistency {
        /// The older checkpoint: a file, or a number of entries
        old: String,
        /// The newer checkpoint: a file, or a number of entries
        new: String,
    },

    /// Start the log over after it was shortened or damaged
    ///
    /// For a person who has looked and cannot restore the state directory. The old log and everything that it lists are kept
    /// aside, and the first entry of the new log says why, by whom, and which heads the old one had. Refused while nothing is
    /// wrong, and while a run is open.
    #[command(
        after_help = "Examples:\n  probity log restart --why 'disk failure on Monday, no backup'\n  probity log restart --why 'state copied from another machine' --by ann"
    )]
    Restart {
        /// Why the loss is accepted
        #[arg(long)]
        why: String,
        /// Who accepts it [default: the user's name]
        #[arg(long)]
        by: Option<String>,
    },

    /// Countersign a checkpoint as a witness, if it follows the last one
    ///
    /// The witness keeps the last checkpoint that it countersigned and refuses one that does not follow it. In the
    /// repository it looks for itself; elsewhere it needs the checkpoint and a proof from `probity log consistency --json`.
    #[command(
        after_help = "Examples:\n  probity log witness --key ~/witness.key --memory ~/witness.checkpoint\n  probity log witness --key k --memory old --checkpoint new --proof proof.json"
    )]
    Witness {
        /// The witness's own key; generated if the file does not exist
        #[arg(long, value_name = "FILE")]
        key: PathBuf,
        /// The file that keeps the last countersigned checkpoint
        #[arg(long, value_name = "FILE")]
        memory: PathBuf,
        /// The name of the witness, as trust files will name it
        #[arg(long)]
        name: Option<String>,
        /// A checkpoint from elsewhere instead of this repository's
        #[arg(long, value_name = "FILE")]
        checkpoint: Option<PathBuf>,
        /// The proof that it follows the last one
        #[arg(long, value_name = "FILE", requires = "checkpoint")]
        proof: Option<PathBuf>,
        /// A trust file: one of its keys must have signed the checkpoint
        #[arg(long, value_name = "FILE")]
        trust: Option<PathBuf>,
    },
}

pub(crate) fn log(
    workspace: impl Fn() -> Result<Workspace, ServiceError>,
    arguments: &LogArgs,
) -> Result<CommandAnswer, ServiceError> {
    match &arguments.command {
        None => super::intent::log(&workspace()?, &arguments.intents),
        Some(LogCommand::Show { limit }) => show(&workspace()?, *limit),
        Some(LogCommand::Checkpoint { size, output }) => checkpoint(&workspace()?, *size, output.as_deref()),
        Some(LogCommand::Consistency { old, new }) => consistency(&workspace()?, old, new),
        Some(LogCommand::Restart { why, by }) => restart(&workspace()?, why, by.as_deref()),
        Some(LogCommand::Witness { key, memory, name, checkpoint, proof, trust }) => {
            let trust = match trust {
                Some(file) => bundles::read_trust(Some(file))?,
                None => TrustRequirements::default(),
            };
            let elsewhere = checkpoint.as_deref().map(|checkpoint| (checkpoint, proof.as_deref()));
            let request = WitnessRequest { key, memory, name: name.as_deref(), elsewhere, trust: &trust };
            witness(workspace, &request)
        }
    }
}

fn show(workspace: &Workspace, limit: usize) -> Result<CommandAnswer, ServiceError> {
    let answer = log_proofs::overview(workspace, limit)?;
    for line in &answer.last {
        ui::print(format_args!(
            "{:>8}  {:<9} {:>6}  {}",
            line.index,
            line.log,
            line.seq,
            ui::dim(&line.name)
        ));
    }
    let kinds: Vec<String> = answer.entries.iter().map(|(log, n)| format!("{n} {log}")).collect();
    ui::print_row("origin", &answer.origin);
    ui::print_row("root", answer.head.root);
    for breach in &answer.clone_breaches {
        ui::print_row("warning", format_args!("{} {breach}", ui::bad("in the team:")));
    }
    let entries = entries(answer.head.size);
    ui::print(format_args!("{} {entries} ({}), nothing is missing", ui::good("ok"), kinds.join(", ")));
    Ok(CommandAnswer::of(ExitCode::Ok, &answer))
}

fn checkpoint(
    workspace: &Workspace,
    size: Option<u64>,
    output: Option<&Path>,
) -> Result<CommandAnswer, ServiceError> {
    let answer = log_proofs::checkpoint(workspace, size)?;
    match output {
        Some(file) => {
            log_proofs::write_file(file, answer.checkpoint.as_bytes())?;
            ui::print_row("written", file.display());
        }
        None => ui::print_document(answer.checkpoint.trim_end()),
    }
    Ok(CommandAnswer::of(ExitCode::Ok, &answer))
}

fn consistency(workspace: &Workspace, old: &str, new: &str) -> Result<CommandAnswer, ServiceError> {
    let answer = log_proofs::consistency(workspace, &LogPoint::from(old), &LogPoint::from(new))?;
    answer.hashes.iter().for_each(ui::print);
    let (old, new) = (answer.old.size, answer.new.size);
    ui::print(format_args!("{} the log only grew from {old} to {new} entries", ui::good("PASS")));
    Ok(CommandAnswer::of(ExitCode::Ok, &answer))
}

fn restart(workspace: &Workspace, why: &str, by: Option<&str>) -> Result<CommandAnswer, ServiceError> {
    let by = by.map_or_else(probity_workspace::user_name, ToOwned::to_owned);
    let answer = log_restart::restart(workspace, why, &by)?;
    for problem in &answer.problems {
        ui::print_row("found", problem);
    }
    for (what, old) in [("noted", &answer.noted), ("stored", &answer.stored)] {
        if let Some(old) = old {
            ui::print_row(what, format_args!("{} {}", old.origin, ui::dim(entries(old.head.size))));
        }
    }
    ui::print_row("aside", &answer.aside);
    ui::print_row("origin", &answer.origin);
    ui::print(format_args!("{} the log begins again; its first entry says why", ui::good("ok")));
    Ok(CommandAnswer::of(ExitCode::Ok, &answer))
}

fn entries(size: u64) -> String {
    if size == 1 { "1 entry".to_owned() } else { format!("{size} entries") }
}

fn witness(
    workspace: impl Fn() -> Result<Workspace, ServiceError>,
    request: &WitnessRequest<'_>,
) -> Result<CommandAnswer, ServiceError> {
    let answer = log_proofs::witness(workspace, request)?;
    ui::print_document(answer.checkpoint.trim_end());
    ui::print_row("witness", &answer.witness);
    ui::print_row("public", answer.public);
    ui::print_row(
        "trust",
        format_args!("\"witnesses\": {{ \"{}\": \"{}\" }}", answer.witness, answer.public),
    );
    let before = match answer.before {
        Some(head) => format!("after {}", head.size),
        None => "the first that it has seen".to_owned(),
    };
    ui::print(format_args!("{} countersigned at {} entries, {before}", ui::good("ok"), answer.head.size));
    Ok(CommandAnswer::of(ExitCode::Ok, &answer))
}
