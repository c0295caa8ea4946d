//! `probity contract` and `probity claims`: whether a change stays within its budget and its claims hold.

use super::merge_audit;
use crate::answer::CommandAnswer;
use crate::commands::analysis::with_progress;
use crate::commands::changed_paths::{ChangeMark, change_lines_until, unscoped_change_lines};
use crate::{caller_location, ui};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand, ValueEnum};
use probity_api::ExitCode;
use probity_api::merge_audit::MergeAuditRangeAnswer;
use probity_contract::claims::{CheckedClaim, Claim, ClaimVerdict, GateFact, GateOutcome};
use probity_contract::outputs::{self, VerdictSummary};
use probity_contract::receipt::DeltaEntry;
use probity_contract::{CheckOutcome, CheckResult, ContractReason, ContractStatus};
use probity_core::ReasonCode;
use probity_core::text::short_digest;
use probity_paths::RepoPath;
use probity_policy::{Severity, StrictnessProfile};
use probity_quality::contract::tree_verification::{self, ComparisonBase, VerifyOptions};
use probity_quality::contract::{self as patch, ContractVerification, GateChoice, TreeVerification};
use probity_workspace::{ServiceError, Workspace};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Judge a change: did it make the code worse, inside its scope?
#[derive(Debug, Subcommand)]
#[command(after_help = "Examples:\n  probity contract verify --base origin/main\n  probity contract budget")]
pub(crate) enum ContractCommand {
    /// Show how much headroom a change has before it starts
    #[command(after_help = "Examples:\n  probity contract budget\n  probity contract budget --run last")]
    Budget {
        /// The stored run to start from [default: the tree as it is now]
        #[arg(long, value_name = "RUN")]
        run: Option<String>,
    },

    /// Judge the tree as it is now: did this change make the code worse, inside its scope?
    ///
    /// Without options, the tree is compared with the last commit, so that uncommitted work is judged. For a pull request,
    /// name the branch it goes to with `--base`. The policy comes from that commit, never from the tree that is judged.
    #[command(after_help = "Examples:\n  probity contract verify\n  \
                            probity contract verify --base origin/main --github --sarif probity.sarif\n  \
                            probity contract verify --allow src/auth.py --text review.md")]
    Verify(Box<VerifyArgs>),
}

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub(crate) struct VerifyArgs {
    #[command(flatten)]
    comparison: ComparisonArgs,

    /// A path that the change was declared to touch (may be given several times)
    #[arg(long, value_name = "PATH")]
    allow: Vec<OsString>,

    /// Another path that it may touch
    #[arg(long, value_name = "PATH")]
    related: Vec<OsString>,

    /// What it must not touch (a pattern; `*` crosses `/`)
    #[arg(long, value_name = "PATTERN")]
    forbid: Vec<OsString>,

    /// Others work in this tree too: what lies outside the declared scope is theirs and is reported separately
    #[arg(long, requires = "allow")]
    shared: bool,

    /// The digest of the before-run's report when the change was declared; if it has changed since, the answer is `expired`
    #[arg(long, value_name = "SHA256", requires = "allow")]
    report_digest: Option<String>,

    /// Strictness of the verdict [default: what the policy says]
    #[arg(long, value_enum)]
    strictness: Option<StrictnessWord>,

    /// New findings below this severity do not block
    #[arg(long, value_name = "SEVERITY", value_parser = severity_words())]
    severity_floor: Option<Severity>,

    /// Do not look for edits that merges between the base and the last commit have lost
    #[arg(long)]
    skip_merges: bool,

    /// Keep a receipt
    #[arg(long)]
    receipt: bool,

    /// Print annotations for a GitHub workflow, and append the summary to `$GITHUB_STEP_SUMMARY`
    #[arg(long)]
    github: bool,

    /// Print the summary as Markdown
    #[arg(long)]
    markdown: bool,

    /// Write all findings as SARIF, each with its baselineState
    #[arg(long, value_name = "FILE")]
    sarif: Option<PathBuf>,

    /// Write checks and new findings as `JUnit` XML
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,

    /// Write new findings as a GitLab code quality report
    #[arg(long, value_name = "FILE")]
    gitlab: Option<PathBuf>,
}

/// What the tree is held against, and what is said about it.
#[derive(Debug, Args)]
pub(crate) struct ComparisonArgs {
    /// Compare the tree with this commit or branch [default: the last commit]
    #[arg(long, value_name = "REF", conflicts_with = "before")]
    base: Option<String>,

    /// Compare the tree with this stored run
    #[arg(long, value_name = "RUN")]
    before: Option<String>,

    /// Use this stored run as that of the tree; it must describe the tree as it is now
    #[arg(long, value_name = "RUN")]
    after: Option<String>,

    /// A claim to check: its word, such as `no_regressions`, or the whole claim as JSON
    #[arg(long, value_name = "CLAIM")]
    claim: Vec<String>,

    /// A text whose claims are to be checked: a file, or `-` for standard input
    #[arg(long, value_name = "FILE")]
    text: Option<PathBuf>,

    /// Let the change alter files that decide what a gate runs (a pattern; may be given several times)
    #[arg(long, value_name = "PATTERN")]
    grant: Vec<OsString>,

    /// Skip the gates of the policy; the verdict says so
    #[arg(long)]
    skip_gates: bool,

    /// The profile of the policy whose gates are run [default: the policy's default one]
    #[arg(long, value_name = "PROFILE")]
    profile: Option<String>,

    /// Run the gates up to this tier, if the profile asks for less
    #[arg(long, value_name = "TIER")]
    tier: Option<String>,
}

/// Check what an author says about a change
#[derive(Debug, Subcommand)]
#[command(after_help = "Examples:\n  probity claims check --text review.md")]
pub(crate) enum ClaimsCommand {
    /// Check what an author says about the change in the tree
    ///
    /// Claims are given with --claim, or found in a text. Each is true, false, or unverified if nothing proves it; the
    /// sentences that claim nothing known are listed as not checked.
    #[command(after_help = "Examples:\n  probity claims check --text review.md --base origin/main\n  \
                            echo 'No regressions, docs only.' | probity claims check --text -\n  \
                            probity claims check --claim no_api_change\n  \
                            probity claims check --claim '{\"claim\": \"only_touched\", \"paths\": [\"a.py\"]}'")]
    Check(Box<ComparisonArgs>),
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum StrictnessWord {
    /// What the contract says
    Ci,
    /// Also lower health and worse symbols
    Strict,
    /// New findings are reported and do not block
    Relaxed,
}

impl From<StrictnessWord> for StrictnessProfile {
    fn from(word: StrictnessWord) -> Self {
        match word {
            StrictnessWord::Ci => Self::Ci,
            StrictnessWord::Strict => Self::Strict,
            StrictnessWord::Relaxed => Self::Relaxed,
        }
    }
}

fn severity_words() -> impl TypedValueParser<Value = Severity> {
    PossibleValuesParser::new(Severity::WORDS).try_map(|word| word.parse::<Severity>())
}

pub(crate) fn contract(
    workspace: &Workspace,
    command: ContractCommand,
) -> Result<CommandAnswer, ServiceError> {
    match command {
        ContractCommand::Budget { run } => budget(workspace, run.as_deref()),
        ContractCommand::Verify(arguments) => verify(workspace, *arguments),
    }
}

fn budget(workspace: &Workspace, run: Option<&str>) -> Result<CommandAnswer, ServiceError> {
    let answer = with_progress(|watch| patch::budget_contract(workspace, run, watch))?;
    let budget = &answer.budget;
    let limit = |most: Option<u64>| most.map_or_else(|| "any number".to_owned(), |most| most.to_string());
    ui::print_row("run", short_digest(&budget.run_id));
    ui::print_row("health", budget.current.health.map_or_else(|| "not known".into(), |it| it.to_string()));
    for (severity, most) in &budget.new_findings {
        let now = budget.current.findings.get(severity).copied().unwrap_or(0);
        ui::print_row(&severity.to_string(), format_args!("{now} now, {} more allowed", limit(*most)));
    }
    let loss = match budget.health_loss {
        None => "a lower health is reported, and does not block".to_owned(),
        Some(0) => "the health may not fall".to_owned(),
        Some(most) => format!("the health may fall by {most} at most"),
    };
    ui::print_row("loss", loss);
    let structure = match budget.gate_fails_already {
        Some(true) => {
            "the limits of `[analysis.gates]` are exceeded already; that is not held against a change"
        }
        Some(false) => "the limits of `[analysis.gates]` are kept",
        None => "no limit is set: `[analysis.gates]` in probity.toml sets them",
    };
    ui::print_row("structure", structure);
    show_notes(&answer.notes);
    Ok(CommandAnswer::of(ExitCode::Ok, &answer))
}

fn verify(workspace: &Workspace, arguments: VerifyArgs) -> Result<CommandAnswer, ServiceError> {
    let options = VerifyOptions {
        scope: tree_verification::scope(
            workspace,
            &caller_location::typed_paths(workspace, &arguments.allow)?,
            &caller_location::typed_paths(workspace, &arguments.related)?,
            &caller_location::fnmatches(workspace, &arguments.forbid)?,
        )?,
        shared: arguments.shared,
        report_digest: arguments.report_digest,
        strictness: arguments.strictness.map(Into::into),
        severity_floor: arguments.severity_floor,
        all_findings: arguments.sarif.is_some(),
        ..verify_options(workspace, arguments.comparison)?
    };
    let ContractVerification { mut answer, review, verified } =
        with_progress(|watch| patch::verify_contract(workspace, &options, arguments.receipt, watch))?;
    if let Some(base) = answer.base.as_deref().filter(|_| !arguments.skip_merges) {
        answer.merges = probity_merges::audit_since(workspace, base)?;
    }
    let forms = [
        (&arguments.junit, outputs::junit as fn(&VerdictSummary) -> String),
        (&arguments.gitlab, outputs::gitlab as fn(&VerdictSummary) -> String),
    ];
    for (file, form) in forms {
        write_file(file.as_deref(), || form(&review))?;
    }
    write_file(arguments.sarif.as_deref(), || verified.sarif())?;
    if arguments.github {
        ui::print_document(outputs::github_annotations(&review).trim_end());
        append_summary(&outputs::github_summary(&review))?;
    } else if arguments.markdown {
        ui::print_document(outputs::github_summary(&review).trim_end());
    } else {
        show(&review, &verified);
    }
    if let Some(merges) = answer.merges.as_ref().filter(|merges| !merges.audits.is_empty()) {
        show_merges(merges, arguments.github, arguments.markdown)?;
        if !arguments.github && !arguments.markdown {
            merge_audit::print_range_verdict(merges, answer.verdict.facts.status);
        }
    }
    show_notes(&answer.notes);
    if let Some(receipt) = &answer.receipt {
        ui::print_row("receipt", format_args!("{} {}", receipt.number, receipt.digest));
    }
    // The process is about to exit: freeing a million allocations one by one would only take time.
    std::mem::forget((verified, review));
    Ok(CommandAnswer::of(answer.exit_code(), &answer))
}

/// Shows what the merges since the base lost, in the form that was asked for.
fn show_merges(
    merges: &MergeAuditRangeAnswer,
    for_github: bool,
    as_markdown: bool,
) -> Result<(), ServiceError> {
    let audits: Vec<_> = merges.audits.iter().collect();
    if for_github {
        merge_audit::print_annotations(audits.iter().flat_map(|audit| &audit.findings));
        append_summary(&probity_merges::merge_summary(&audits))?;
    } else if as_markdown {
        ui::print_document(probity_merges::merge_summary(&audits).trim_end());
    } else {
        merge_audit::print_range(merges, false);
    }
    Ok(())
}

pub(crate) fn claims(workspace: &Workspace, command: ClaimsCommand) -> Result<CommandAnswer, ServiceError> {
    let ClaimsCommand::Check(comparison) = command;
    let options = verify_options(workspace, *comparison)?;
    let checked = with_progress(|watch| patch::check_claims(workspace, &options, watch))?;
    let answer = &checked.answer;
    for claim in &checked.claims {
        show_claim(claim);
    }
    if checked.claims.is_empty() {
        ui::print("  nothing was claimed that could be checked");
    }
    let unchecked = &answer.claims.unchecked;
    let n_unchecked = answer.claims.unchecked_sentences;
    if !unchecked.is_empty() {
        ui::print(format_args!("not checked: {}", ui::count_of(n_unchecked, "sentence")));
        for sentence in unchecked.iter().take(MAX_SHOWN_SENTENCES) {
            ui::print(format_args!("  {}", ui::dim(probity_core::bytes::escape(sentence.as_bytes()))));
        }
        if n_unchecked > MAX_SHOWN_SENTENCES {
            ui::print(format_args!("  and {} more (--json lists them)", n_unchecked - MAX_SHOWN_SENTENCES));
        }
    }
    match answer.claims.verdict {
        ClaimVerdict::True => {}
        ClaimVerdict::False => ui::eprint_row("next", ContractReason::FalseClaim.next_step()),
        ClaimVerdict::Unverified => ui::eprint_row("next", ContractReason::UnprovenClaim.next_step()),
    }
    show_notes(&answer.notes);
    Ok(CommandAnswer::of(answer.claims.verdict.into(), answer))
}

/// Maximum number of unchecked sentences listed.
const MAX_SHOWN_SENTENCES: usize = 5;

fn show_claim(claim: &CheckedClaim) {
    let word = format!("{:<10}", claim.verdict.as_str());
    let word = match claim.verdict {
        ClaimVerdict::True => ui::good(word),
        ClaimVerdict::Unverified => ui::warn(word),
        ClaimVerdict::False => ui::bad(word),
    };
    // The quote comes from the author being judged: escaped, so that it cannot control the terminal.
    let quote = probity_core::bytes::escape(claim.quote().as_bytes());
    let reservations = claim.reservations.iter().map(|it| ui::warn(format_args!("but {it}")));
    let because: Vec<String> = claim.objections.iter().cloned().chain(reservations).collect();
    match because.as_slice() {
        [only] if quote.chars().count() + only.chars().count() <= MAX_LINE_CHARS => {
            ui::print(format_args!("  {word}  {quote}  {only}"));
        }
        several => {
            ui::print(format_args!("  {word}  {quote}"));
            for line in several {
                ui::print(format_args!("              {line}"));
            }
        }
    }
}

/// Maximum length of a claim and its reason on one terminal line, beside the verdict.
const MAX_LINE_CHARS: usize = 64;

fn verify_options(workspace: &Workspace, comparison: ComparisonArgs) -> Result<VerifyOptions, ServiceError> {
    let against =
        comparison.base.map(ComparisonBase::Revision).or(comparison.before.map(ComparisonBase::Run));
    let claims = comparison.claim.iter().map(|text| parse_claim(text)).collect::<Result<_, _>>()?;
    let text = comparison.text.as_deref().map(read_text).transpose()?;
    let gates = GateChoice {
        skip: comparison.skip_gates,
        profile: comparison.profile,
        tier: comparison.tier,
        held: None,
    };
    let grants = caller_location::grants(workspace, &comparison.grant)?;
    let after = comparison.after;
    Ok(VerifyOptions { against, after, claims, text, gates, grants, ..VerifyOptions::default() })
}

/// Parses a claim as typed: a single word, or a JSON object.
fn parse_claim(text: &str) -> Result<Claim, ServiceError> {
    if text.trim_start().starts_with('{') {
        return serde_json::from_str(text)
            .map_err(|error| unknown_claim(format!("`{text}` is not a claim: {error}")));
    }
    Claim::of_word(text).ok_or_else(|| {
        unknown_claim(if Claim::WORDS.contains(&text) {
            format!("`{text}` needs more than its word: give the whole claim as JSON")
        } else {
            format!("`{text}` is not a claim; known are {}", Claim::WORDS.join(", "))
        })
    })
}

fn unknown_claim(detail: String) -> ServiceError {
    ServiceError::refused(ReasonCode::InputMissing, detail)
        .with_next_step("`probity claims check --help` shows both forms of a claim")
}

fn read_text(path: &Path) -> Result<String, ServiceError> {
    let bytes = if path == Path::new("-") {
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut std::io::stdin().lock(), &mut bytes).map(|_| bytes)
    } else {
        std::fs::read(path)
    };
    let bytes = bytes.map_err(|error| {
        let detail = format!("cannot read the file `{}`: {error}", path.display());
        ServiceError::refused(ReasonCode::InputMissing, detail)
            .with_next_step("name a file with the text, or `-` to read it from standard input")
    })?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

pub(super) fn write_file(path: Option<&Path>, content: impl FnOnce() -> String) -> Result<(), ServiceError> {
    let Some(path) = path else { return Ok(()) };
    let what = format!("cannot write {}", path.display());
    std::fs::write(path, content()).map_err(|source| ServiceError::System { what, source })
}

/// Appends the page to the job summary that GitHub Actions shows.
pub(crate) fn append_summary(page: &str) -> Result<(), ServiceError> {
    let Some(path) = std::env::var_os("GITHUB_STEP_SUMMARY").filter(|path| !path.is_empty()) else {
        return Ok(());
    };
    let opened = std::fs::OpenOptions::new().append(true).create(true).open(&path);
    let written = opened.and_then(|mut file| std::io::Write::write_all(&mut file, page.as_bytes()));
    let what = format!("cannot write {}", Path::new(&path).display());
    written.map_err(|source| ServiceError::System { what, source })
}

/// Maximum lines per list on a terminal.
const MAX_LIST_LINES: usize = 12;

pub(super) fn show(review: &VerdictSummary, verified: &TreeVerification) {
    let word = review.status.label();
    let word = match review.status {
        ContractStatus::Accepted | ContractStatus::AcceptedWithExternalChanges => ui::good(word),
        ContractStatus::Violated => ui::bad(word),
        ContractStatus::Unverified | ContractStatus::Expired => ui::warn(word),
    };
    let because = review
        .reason
        .map_or_else(String::new, |reason| format!(": {} {}", reason.meaning(), ui::dim(reason.as_str())));
    let is_clean = verified.answer.changed.is_empty();
    let because = if is_clean && because.is_empty() { ": nothing changed".to_owned() } else { because };
    ui::print(format_args!("{word}{because}"));
    if !is_clean {
        ui::print_row("kind", &review.profile);
        ui::print_row("changed", ui::count_of(verified.answer.changed.len(), "path"));
    }
    for line in changed_lines(review, verified) {
        ui::print_row("", line);
    }
    if let (Some(before), Some(after)) = review.health {
        ui::print_row("health", probity_contract::health_change(before, after));
    }
    for CheckResult { check, outcome } in &review.checks {
        let words = outcome.words();
        let words = match outcome {
            CheckOutcome::Passed => ui::good(words),
            CheckOutcome::Failed => ui::bad(words),
            CheckOutcome::Reported | CheckOutcome::NotReached | CheckOutcome::Skipped => ui::warn(words),
            CheckOutcome::NotApplicable => ui::dim(words),
        };
        ui::print(format_args!("  {:<24}{words}", check.description()));
    }
    show_gates(&review.gates, &verified.last_words);
    for finding in review.findings.iter().take(MAX_LIST_LINES) {
        let whose = if finding.is_ours { ui::bad("new") } else { ui::dim("new, outside") };
        let place = finding.path.as_ref().map_or_else(String::new, |it| format!("{it}:{}", finding.lines.0));
        let remark = if finding.is_let_through { ui::dim("  (does not block)") } else { String::new() };
        ui::print(format_args!("  {whose} {} {place}  {}{remark}", finding.severity, finding.message));
    }
    if review.findings.len() > MAX_LIST_LINES {
        ui::print(format_args!("  and {} more (--sarif has all)", review.findings.len() - MAX_LIST_LINES));
    }
    for claim in &review.refuted_claims {
        show_claim(claim);
    }
    for what in &review.let_through {
        ui::print(format_args!("  {} {what}", ui::warn("not blocking:")));
    }
    if let Some(step) = review.next_step {
        ui::eprint_row("next", step);
    }
}

/// Formats the changes: declared paths first, the rest folded by directory.
fn changed_lines(review: &VerdictSummary, verified: &TreeVerification) -> Vec<String> {
    let mark = |entry: &DeltaEntry| match (entry.before, entry.after) {
        (None, Some(_)) => ChangeMark::Added,
        (Some(_), None) => ChangeMark::Deleted,
        // A submodule has no content on either side.
        _ => ChangeMark::Modified,
    };
    let changes: Vec<_> = verified.delta.iter().map(|entry| (mark(entry), &entry.path)).collect();
    if changes.is_empty() {
        return Vec::new();
    }
    if verified.scope.is_none() {
        return unscoped_change_lines(&changes);
    }
    let out_of_scope: BTreeSet<RepoPath> = review.out_of_scope.iter().cloned().collect();
    change_lines_until(&changes, &out_of_scope, "", "all with --json")
}

fn show_gates(gates: &[GateFact], last_words: &[(String, String)]) {
    for gate in gates {
        let word = gate.result.label();
        let word = match gate.result {
            GateOutcome::Passed => ui::good(word),
            GateOutcome::Failed => ui::bad(word),
            GateOutcome::Skipped | GateOutcome::NotRun | GateOutcome::Unverified => ui::warn(word),
        };
        ui::print(format_args!("  gate {:<19}{word}  {}", gate.id, ui::dim(&gate.detail)));
        for (_, words) in last_words.iter().filter(|(id, _)| *id == gate.id) {
            for line in words.lines().rev().take(MAX_LIST_LINES).collect::<Vec<_>>().into_iter().rev() {
                ui::print(format_args!("    {}", ui::dim(probity_core::bytes::escape(line.as_bytes()))));
            }
        }
    }
}

pub(super) fn show_notes(notes: &[String]) {
    for note in notes {
        ui::eprint_row("note", note);
    }
}
