//! `probity ledger propose`.

use super::{read, show_notices};
use crate::answer::CommandAnswer;
use crate::ui;
use clap::Args;
use probity_api::ExitCode;
use probity_api::ledger::{ProposalFile, ProposalOutcome, ProposeRequest};
use probity_core::ReasonCode;
use probity_knowledge::ledger;
use probity_ledger::{CandidateDelta, VerdictKind};
use probity_workspace::{ServiceError, Workspace};
use serde_json::Value;
use std::path::PathBuf;

const EXAMPLES: &str = "Examples:
  probity ledger propose --said 'We use Postgres for orders.' <<'EOF'
  {\"kind\": \"decision_made\", \"handle\": \"db\", \"confidence\": \"high\",
   \"summary\": \"Use Postgres for orders\"}
  EOF
  probity ledger propose --dry-run deltas.json
  probity ledger propose --stream night-shift --atomic deltas.json";

/// Propose changes to the ledger; the reconciler decides about each
///
/// Reads JSON from a file or from stdin: one candidate delta, a list of them, or an object with `turns` and `deltas`.
/// Every delta must name a known turn as its source; `turns` and `--said` make turns known.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ProposeArgs {
    /// A file with the proposal; `-` for stdin
    #[arg(default_value = "-", value_name = "FILE")]
    file: PathBuf,

    /// Who proposes [default: the user]
    #[arg(long, value_name = "NAME")]
    author: Option<String>,

    /// Propose to a separate stream; a new name starts one
    #[arg(long, value_name = "NAME")]
    stream: Option<String>,

    /// All or nothing
    #[arg(long)]
    atomic: bool,

    /// Show what would become of it, and do nothing
    #[arg(long)]
    dry_run: bool,

    /// What was said: becomes the source of every delta that names none
    #[arg(long, value_name = "TEXT")]
    said: Option<String>,
}

pub(super) fn propose(workspace: &Workspace, args: ProposeArgs) -> Result<CommandAnswer, ServiceError> {
    let mut proposal = proposal_in(&read(&args.file)?)?;
    proposal.atomic |= args.atomic;
    let request = ProposeRequest {
        author: args.author.unwrap_or_else(probity_workspace::user_name),
        stream: args.stream,
        dry_run: args.dry_run,
        said: args.said,
        proposal,
    };
    let proposed = ledger::propose(workspace, &request)?;
    let outcomes = proposed.outcomes.iter().zip(&request.proposal.deltas);
    outcomes.for_each(|(outcome, delta)| show_outcome(outcome, delta));
    show_notices(&proposed.notices);
    ui::eprint_row(
        "seq",
        format_args!("{}{}", proposed.seq, if proposed.dry_run { "  (nothing was done)" } else { "" }),
    );
    let any_rejected = ProposalOutcome::count(&proposed.outcomes, VerdictKind::Rejected) > 0;
    Ok(CommandAnswer::of(if any_rejected { ExitCode::Failed } else { ExitCode::Ok }, &proposed))
}

/// Parses one delta, a list of deltas, or an object with `deltas`.
fn proposal_in(bytes: &[u8]) -> Result<ProposalFile, ServiceError> {
    let invalid = |why: String| ServiceError::refused(ReasonCode::LedgerInputInvalid, why);
    let value = probity_core::json::parse(bytes).map_err(|error| invalid(error.to_string()))?;
    match value {
        Value::Object(members) if members.contains_key("deltas") => {
            serde_json::from_value(Value::Object(members)).map_err(|error| invalid(error.to_string()))
        }
        Value::Array(deltas) => Ok(ProposalFile {
            deltas: deltas.into_iter().map(CandidateDelta::from).collect(),
            ..ProposalFile::default()
        }),
        delta => Ok(ProposalFile { deltas: vec![delta.into()], ..ProposalFile::default() }),
    }
}

fn show_outcome(outcome: &ProposalOutcome, delta: &CandidateDelta) {
    let mark = match outcome.outcome {
        VerdictKind::Accepted => ui::good("accepted"),
        VerdictKind::Merged => ui::warn("merged  "),
        VerdictKind::Rejected => ui::bad("rejected"),
    };
    let what = delta.kind().unwrap_or("?");
    let item = outcome.item.as_deref().map(|item| format!("  {}", ui::bold(item))).unwrap_or_default();
    let code = outcome.code.map(|code| format!("  {code}")).unwrap_or_default();
    let message = outcome.message.as_deref().map(|message| format!(": {message}")).unwrap_or_default();
    let seq = outcome.seq.map_or_else(|| "    ".into(), |seq| format!("{seq:>4}"));
    ui::print(format_args!("{seq}  {mark}  {what}{item}{code}{message}"));
}
