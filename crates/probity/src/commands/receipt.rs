//! `probity receipt`: what finished changes left.

use crate::answer::{Answer, path_json};
use crate::ui;
use api::ExitCode;
use clap::Subcommand;
use control::bundles;
use control::contract::receipts::{self, Kept, Receipts};
use control::{Fault, Workspace};
use evidence::CheckStatus;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

#[derive(Debug, Subcommand)]
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

/// Answers a question about receipts.
pub(crate) fn receipt(
    workspace: impl Fn() -> Result<Workspace, Fault>,
    command: ReceiptCommand,
) -> Result<Answer, Fault> {
    match command {
        ReceiptCommand::List => list(&workspace()?),
        ReceiptCommand::Show { receipt, attestation } => show(&workspace()?, &receipt, attestation),
        ReceiptCommand::Verify { receipt, trust, tree } => {
            verify(workspace, &receipt, trust.as_deref(), tree.as_deref())
        }
    }
}

fn list(workspace: &Workspace) -> Result<Answer, Fault> {
    let receipts = Receipts::open(workspace);
    let broken = receipts.broken_links()?;
    let all = receipts.list()?;
    for kept in &all {
        let status = kept.document["outcome"]["status"].as_str().unwrap_or("?");
        let intent = kept.document["intent"]["intent_id"].as_str().unwrap_or("");
        ui::print(format_args!("{:>4}  {}  {status}  {intent}", kept.number, &kept.digest.to_hex()[..16]));
    }
    for problem in &broken {
        ui::print(format_args!("  {} {problem}", ui::bad("chain")));
    }
    if all.is_empty() && broken.is_empty() {
        ui::say(
            "no receipt yet; a finished change leaves one, and so does `probity contract verify --receipt`",
        );
    }
    let row = |kept: &Kept| {
        json!({
            "number": kept.number,
            "digest": kept.digest,
            "previous": kept.document["previous"],
            "at": kept.document["at"],
            "intent_id": kept.document["intent"]["intent_id"],
            "status": kept.document["outcome"]["status"],
            "signed": kept.envelope.is_some(),
        })
    };
    let outcome = if broken.is_empty() { ExitCode::Ok } else { ExitCode::Failed };
    let rows: Vec<Value> = all.iter().map(row).collect();
    Ok(Answer::new("receipt-list", outcome, json!({ "receipts": rows, "broken_links": broken })))
}

fn show(workspace: &Workspace, name: &str, attestation: bool) -> Result<Answer, Fault> {
    let kept = Receipts::open(workspace).find(name)?;
    let attested = receipts::attestation(&kept)?;
    if attestation {
        ui::print(String::from_utf8_lossy(&canon::json::canonical(&attested)));
    } else {
        ui::print(contract::markdown(&kept.document).trim_end());
    }
    let document = json!({
        "number": kept.number,
        "digest": kept.digest,
        "path": path_json(&kept.path),
        "signed": kept.envelope.is_some(),
        "receipt": kept.document,
        "attestation": if attestation { attested } else { Value::Null },
    });
    Ok(Answer::new("receipt-show", ExitCode::Ok, document))
}

fn verify(
    workspace: impl Fn() -> Result<Workspace, Fault>,
    name: &str,
    trust: Option<&Path>,
    tree: Option<&Path>,
) -> Result<Answer, Fault> {
    let file = Path::new(name);
    let (bytes, own) = if file.is_file() {
        let bytes = std::fs::read(file)
            .map_err(|error| Fault::Missing(format!("cannot read {}: {error}", file.display())))?;
        (bytes, None)
    } else {
        let workspace = workspace()?;
        (receipts::bytes(&Receipts::open(&workspace).find(name)?)?, Some(workspace))
    };
    let trust = match (trust, &own) {
        (Some(file), _) => bundles::trust(Some(file))?,
        (None, Some(workspace)) => bundles::own_trust(workspace)?,
        (None, None) => bundles::trust(None)?,
    };
    let mut checked = receipts::check(&bytes, &trust, tree);
    if let Some(workspace) = &own {
        checked.checks.push(receipts::chain_check(&Receipts::open(workspace))?);
    }
    for check in &checked.checks {
        let mark = match check.status {
            CheckStatus::Passed => ui::good("ok  "),
            CheckStatus::Failed => ui::bad("fail"),
            CheckStatus::Skipped => ui::dim("skip"),
        };
        ui::print(format_args!("  {mark} {:<10} {}", check.name, check.detail));
    }
    let passed = checked.passed();
    let codes: Vec<&str> =
        checked.checks.iter().filter_map(|check| check.code).map(canon::Reason::as_str).collect();
    ui::print(if passed { ui::good("PASS") } else { ui::bad("FAIL") });
    if let Some(reason) = checked.checks.iter().find_map(|check| check.code) {
        ui::row("next", reason.next_step());
    }
    let checks: Vec<Value> = checked
        .checks
        .iter()
        .map(|check| {
            json!({ "name": check.name, "status": check.status, "code": check.code, "detail": check.detail })
        })
        .collect();
    let document = json!({
        "outcome": if passed { "PASS" } else { "FAIL" },
        "codes": codes,
        "checks": checks,
        "status": checked.document.map(|document| document["outcome"]["status"].clone()),
    });
    Ok(Answer::new("receipt-verify", if passed { ExitCode::Ok } else { ExitCode::Failed }, document))
}
