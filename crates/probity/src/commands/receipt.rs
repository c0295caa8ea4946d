//! `probity receipt`: the receipts of finished changes.

use crate::answer::CommandAnswer;
use crate::ui;
use clap::Subcommand;
use probity_api::ExitCode;
use probity_api::quality::{ReceiptCheckStatus, ReceiptOutcome};
use probity_quality::contract::receipts::{self, ReceiptStore};
use probity_runner::bundles;
use probity_workspace::{ServiceError, Workspace};
use std::path::{Path, PathBuf};

/// List, show and check the receipts of changes
#[derive(Debug, Subcommand)]
#[command(after_help = "Examples:\n  probity receipt list\n  probity receipt show last")]
pub(crate) enum ReceiptCommand {
    /// List the receipts of this repository, newest last
    #[command(after_help = "Examples:\n  probity receipt list")]
    List,

    /// Show one receipt as Markdown, for a pull request
    #[command(
        after_help = "Examples:\n  probity receipt show last\n  probity receipt show 7 --attestation > receipt.dsse.json"
    )]
    Show {
        /// The receipt: its number, the beginning of its digest, its intent, or `last`
        #[arg(default_value = "last")]
        receipt: String,

        /// Print it as an in-toto statement; in its signed envelope if it has one
        #[arg(long)]
        attestation: bool,
    },

    /// Check a receipt offline, trusting nothing in it
    #[command(after_help = "Examples:\n  probity receipt verify last\n  \
                            probity receipt verify receipt.dsse.json --trust keys.json --tree .")]
    Verify {
        /// A file (a receipt or its envelope), or a receipt of this repository: number, digest, intent, or `last`
        #[arg(default_value = "last")]
        receipt: String,

        /// A trust file (JSON, `probity/trust/v1`): the keys that count
        #[arg(long, value_name = "FILE")]
        trust: Option<PathBuf>,

        /// Compare the files of this tree with those that the change left
        #[arg(long, value_name = "DIR")]
        tree: Option<PathBuf>,
    },
}

pub(crate) fn receipt(
    workspace: impl Fn() -> Result<Workspace, ServiceError>,
    command: ReceiptCommand,
) -> Result<CommandAnswer, ServiceError> {
    match command {
        ReceiptCommand::List => list(&workspace()?),
        ReceiptCommand::Show { receipt, attestation } => show(&workspace()?, &receipt, attestation),
        ReceiptCommand::Verify { receipt, trust, tree } => {
            verify(workspace, &receipt, trust.as_deref(), tree.as_deref())
        }
    }
}

fn list(workspace: &Workspace) -> Result<CommandAnswer, ServiceError> {
    let answer = receipts::list_receipts(workspace)?;
    for receipt in &answer.receipts {
        ui::print(format_args!(
            "{:>4}  {}  {}  {}",
            receipt.number,
            &receipt.digest.to_hex()[..16],
            receipt.status.label(),
            receipt.intent_id.as_deref().unwrap_or_default()
        ));
    }
    for problem in &answer.broken_links {
        ui::print(format_args!("  {} {problem}", ui::bad("chain")));
    }
    if answer.receipts.is_empty() && answer.broken_links.is_empty() {
        ui::eprint(
            "no receipt yet; a finished change leaves one, and so does `probity contract verify --receipt`",
        );
    }
    let exit_code = if answer.broken_links.is_empty() { ExitCode::Ok } else { ExitCode::Failed };
    Ok(CommandAnswer::of(exit_code, &answer))
}

fn show(workspace: &Workspace, name: &str, attestation: bool) -> Result<CommandAnswer, ServiceError> {
    let answer = receipts::show_receipt(workspace, name, attestation)?;
    match &answer.attestation {
        Some(attested) => {
            ui::print_json_text(&String::from_utf8_lossy(&probity_core::json::canonical(attested)));
        }
        None => ui::print_document(probity_contract::receipt_markdown(&answer.receipt).trim_end()),
    }
    Ok(CommandAnswer::of(ExitCode::Ok, &answer))
}

fn verify(
    workspace: impl Fn() -> Result<Workspace, ServiceError>,
    name: &str,
    trust: Option<&Path>,
    tree: Option<&Path>,
) -> Result<CommandAnswer, ServiceError> {
    let file = Path::new(name);
    let (bytes, own) = if file.is_file() {
        let bytes = receipts::read_file(file)
            .map_err(|error| ServiceError::Missing(format!("cannot read {}: {error}", file.display())))?;
        (bytes, None)
    } else {
        let workspace = workspace()?;
        (receipts::signed_bytes(&ReceiptStore::open(&workspace).find(name)?)?, Some(workspace))
    };
    let trust = match (trust, &own) {
        (Some(file), _) => bundles::read_trust(Some(file))?,
        (None, Some(workspace)) => bundles::own_trust(workspace)?,
        (None, None) => bundles::read_trust(None)?,
    };
    let answer = receipts::verify_receipt(&bytes, &trust, tree, own.as_ref())?;
    for check in &answer.checks {
        let mark = match check.status {
            ReceiptCheckStatus::Passed => ui::good("ok  "),
            ReceiptCheckStatus::Failed => ui::bad("fail"),
            ReceiptCheckStatus::Skipped => ui::dim("skip"),
        };
        ui::print(format_args!("  {mark} {:<10} {}", check.name, check.detail));
    }
    let (word, exit_code) = match answer.outcome {
        ReceiptOutcome::Pass => (ui::good("PASS"), ExitCode::Ok),
        ReceiptOutcome::Fail => (ui::bad("FAIL"), ExitCode::Failed),
    };
    ui::print(word);
    if let Some(reason) = answer.codes.first() {
        ui::eprint_row("next", reason.next_step());
    }
    Ok(CommandAnswer::of(exit_code, &answer))
}
