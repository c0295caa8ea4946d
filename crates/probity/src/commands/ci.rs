//! `probity ci`: judges the change that a pipeline has checked out.

use crate::answer::CommandAnswer;
use crate::commands::analysis::with_progress;
use crate::commands::contract::{StrictnessWord, append_summary, show, show_notes, write_file};
use crate::commands::merge_audit;
use crate::{caller_location, ui};
use clap::Args;
use probity_api::merge_audit::{AuditOutcome, MergeAuditRangeAnswer};
use probity_api::quality::{PipelineAnswer, PipelineRange, PipelineService};
use probity_contract::outputs;
use probity_core::text::short_digest;
use probity_quality::contract::tree_verification::{ComparisonBase, VerifyOptions};
use probity_quality::contract::{self as patch, ContractVerification, GateChoice};
use probity_quality::pipeline::{self, PipelineVariables};
use probity_workspace::{ServiceError, Workspace};
use std::ffi::OsString;
use std::path::PathBuf;

/// Judge the change that a pipeline has checked out
///
/// Base and head are found from the variables of GitHub Actions, GitLab CI, Bitbucket, Azure Pipelines, Buildkite,
/// Travis, Woodpecker and Jenkins; elsewhere the base is where the checkout left the default branch of `origin`. The
/// policy is that of the branch that the change goes to, so a change cannot loosen its own rules. On GitHub, findings
/// are printed as annotations and the summary is added to the page of the job.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  probity ci\n  probity ci --sarif probity.sarif --junit probity.xml\n  \
                        probity ci --base origin/main --claims")]
pub(crate) struct CiArgs {
    /// The branch or commit that the change goes to [default: what the pipeline says]
    #[arg(long, value_name = "REF")]
    base: Option<String>,

    /// Check the description of the request against the facts, where the service provides it
    #[arg(long)]
    claims: bool,

    /// Write all findings as SARIF, each with its baselineState
    #[arg(long, value_name = "FILE")]
    sarif: Option<PathBuf>,

    /// Write checks and new findings as `JUnit` XML
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,

    /// Write new findings as a GitLab code quality report
    #[arg(long, value_name = "FILE")]
    gitlab: Option<PathBuf>,

    /// Write the summary as Markdown, for a comment on the request
    #[arg(long, value_name = "FILE")]
    summary: Option<PathBuf>,

    /// Strictness of the verdict [default: what the policy says]
    #[arg(long, value_enum)]
    strictness: Option<StrictnessWord>,

    /// The profile of the policy whose gates are run [default: the policy's default one]
    #[arg(long, value_name = "PROFILE")]
    profile: Option<String>,

    /// Let the change alter files that decide what a gate runs (a pattern; may be given several times)
    #[arg(long, value_name = "PATTERN")]
    grant: Vec<OsString>,

    /// Skip the gates of the policy; the verdict says so
    #[arg(long)]
    skip_gates: bool,

    /// Do not look for edits that merges of the change have lost
    #[arg(long)]
    skip_merges: bool,
}

pub(crate) fn ci(workspace: &Workspace, arguments: CiArgs) -> Result<CommandAnswer, ServiceError> {
    let said = pipeline_variables();
    let range = pipeline::find_range(workspace, &said, arguments.base.as_deref())?;
    show_range(&range);
    let merges = if arguments.skip_merges { None } else { audited_merges(workspace, &range)? };
    let options = VerifyOptions {
        against: Some(ComparisonBase::Revision(range.base.clone())),
        policy_from: Some(range.policy_from.clone()),
        text: said.text.filter(|_| arguments.claims),
        strictness: arguments.strictness.map(Into::into),
        gates: GateChoice { skip: arguments.skip_gates, profile: arguments.profile, tier: None, held: None },
        grants: caller_location::grants(workspace, &arguments.grant)?,
        all_findings: arguments.sarif.is_some(),
        ..VerifyOptions::default()
    };
    let ContractVerification { answer, review, verified } =
        with_progress(|watch| patch::verify_contract(workspace, &options, false, watch))?;
    let summary = || {
        let lost: Vec<_> = merges.iter().flat_map(|merges| &merges.audits).collect();
        let merges = if lost.is_empty() { String::new() } else { probity_merges::merge_summary(&lost) };
        format!("{}{merges}", outputs::github_summary(&review))
    };
    write_file(arguments.junit.as_deref(), || outputs::junit(&review))?;
    write_file(arguments.gitlab.as_deref(), || outputs::gitlab(&review))?;
    write_file(arguments.sarif.as_deref(), || verified.sarif())?;
    write_file(arguments.summary.as_deref(), summary)?;
    show(&review, &verified);
    if range.service == PipelineService::GithubActions {
        ui::print_document(outputs::github_annotations(&review).trim_end());
        append_summary(&summary())?;
    }
    if let Some(merges) = &merges {
        show_merges(merges, range.service);
        merge_audit::print_range_verdict(merges, answer.verdict.facts.status);
    }
    show_notes(&answer.notes);
    let answer = PipelineAnswer { pipeline: range, contract: answer, merges };
    Ok(CommandAnswer::of(answer.exit_code(), &answer))
}

/// Reads the environment, and the event file that GitHub names in it.
fn pipeline_variables() -> PipelineVariables {
    let event = std::env::var_os("GITHUB_EVENT_PATH").and_then(|path| std::fs::read(path).ok());
    pipeline::read(|name| std::env::var(name).ok(), event.as_deref())
}

/// Audits the merges on the way from base to head; `None` if this clone lacks their history.
fn audited_merges(
    workspace: &Workspace,
    range: &PipelineRange,
) -> Result<Option<MergeAuditRangeAnswer>, ServiceError> {
    probity_merges::audit_between(workspace, &range.base, &range.head)
}

fn show_range(range: &PipelineRange) {
    let base = format_args!("{} ({})", short_digest(&range.base), range.base_name);
    ui::print_row("base", base);
    ui::print_row("head", short_digest(&range.head));
}

fn show_merges(merges: &MergeAuditRangeAnswer, service: PipelineService) {
    match (merges.merges, merges.outcome) {
        (0, _) => {}
        (n, AuditOutcome::Clean) => {
            ui::print_row("merges", format_args!("{}, nothing lost", ui::count_of(n, "merge")));
        }
        _ => merge_audit::print_range(merges, false),
    }
    if service == PipelineService::GithubActions {
        merge_audit::print_annotations(merges.audits.iter().flat_map(|audit| &audit.findings));
    }
}
