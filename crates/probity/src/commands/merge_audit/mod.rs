//! `probity merge audit`: whose edit is not in the result of a git merge, and the commit that puts it back.

mod report;
mod versions;

pub(super) use report::{print_range, print_range_verdict};

use crate::answer::CommandAnswer;
use crate::ui;
use clap::Args;
use probity_api::merge_audit::{
    AuditOutcome, DecisionRequest, FindingDecision, MergeAuditAnswer, MergeDecisionAnswer, MergeFinding,
    MergeFindingDecisions, MergeSurvivalAnswer,
};
use probity_contract::outputs::{NewFinding, finding_annotations};
use probity_core::ReasonCode;
use probity_merges::{MergeQuestion, SurvivalRequest, merge_sarif, merge_summary, what_happened};
use probity_policy::Severity;
use probity_workspace::{ServiceError, Workspace};
use std::io::IsTerminal;
use std::path::PathBuf;

pub(crate) const AUDIT_EXAMPLES: &str = "Examples:\n  probity merge audit HEAD\n  probity merge audit main~200..main\n  \
    probity merge audit --working         # before the merge is committed\n  \
    probity merge audit HEAD --squash feature\n  probity merge audit --rebase ORIG_HEAD HEAD\n  \
    probity merge audit HEAD --restore lost --why 'dropped by mistake'\n  \
    probity merge audit HEAD --accept 6b1f0c2d --why 'the feature was withdrawn'";

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct MergeAuditArgs {
    /// A merge commit, or a range `A..B` of commits
    #[arg(default_value = "HEAD")]
    revision: String,

    /// The merge in progress: the working tree, before it is committed
    #[arg(long, conflicts_with_all = ["squash", "rebase", "cherry_pick", "revert", "trees"])]
    working: bool,

    /// For a git hook: the merge that is about to be committed; says nothing if there is none
    #[arg(long, conflicts_with_all = ["working", "squash", "rebase", "cherry_pick", "revert", "trees"])]
    before_commit: bool,

    /// The revision is a squash of this branch
    #[arg(long, value_name = "TIP", conflicts_with_all = ["rebase", "cherry_pick", "revert", "trees"])]
    squash: Option<String>,

    /// A branch before and after it was rebased
    #[arg(long, num_args = 2, value_names = ["OLD", "NEW"], conflicts_with_all = ["cherry_pick", "revert", "trees"])]
    rebase: Option<Vec<String>>,

    /// The revision is a cherry-pick of this commit
    #[arg(long, value_name = "COMMIT", conflicts_with_all = ["revert", "trees"])]
    cherry_pick: Option<String>,

    /// The revision takes this commit back
    #[arg(long, value_name = "COMMIT", conflicts_with = "trees")]
    revert: Option<String>,

    /// Four commits or trees
    #[arg(long, num_args = 4, value_names = ["BASE", "OURS", "THEIRS", "RESULT"])]
    trees: Option<Vec<String>>,

    /// Put back the finding with this id, all that is `lost`, or all that the `policy` wants back, in a commit on a new branch
    #[arg(long, value_name = "ID", conflicts_with_all = ["working", "squash", "rebase", "cherry_pick", "revert", "trees"])]
    restore: Vec<String>,

    /// Put on record that the merge stands without the finding with this id, or without `all` that are open
    #[arg(long, value_name = "ID", conflicts_with = "restore")]
    accept: Vec<String>,

    /// Review the findings in the terminal, choose for each, then write
    #[arg(long, conflicts_with_all = ["restore", "accept", "repeat", "before_commit", "short", "markdown", "github", "sarif"])]
    review: bool,

    /// Also accept what the policy refuses
    #[arg(long, requires = "accept")]
    override_policy: bool,

    /// Accept again what was accepted in another merge that lost the same edit in the same way
    #[arg(long, conflicts_with_all = ["restore", "accept"])]
    repeat: bool,

    /// Why it is restored or accepted; goes on the record
    #[arg(long, value_name = "TEXT", default_value = "")]
    why: String,

    /// Show what would be restored, and create no branch
    #[arg(long, requires = "restore")]
    dry_run: bool,

    /// Make the branch without running the gates of the policy
    #[arg(long, requires = "restore")]
    skip_gates: bool,

    /// Print annotations for a GitHub workflow, and append the summary to `$GITHUB_STEP_SUMMARY`
    #[arg(long)]
    github: bool,

    /// Print the summary for a pull request, as Markdown
    #[arg(long)]
    markdown: bool,

    /// Write the findings as SARIF 2.1.0
    #[arg(long, value_name = "FILE")]
    sarif: Option<PathBuf>,

    /// Print one line for each merge that lost something
    #[arg(long)]
    short: bool,
}

impl MergeAuditArgs {
    fn question(&self) -> MergeQuestion {
        let revision = self.revision.clone();
        match (&self.squash, &self.rebase, &self.cherry_pick, &self.revert, &self.trees) {
            (Some(tip), ..) => MergeQuestion::Squash { squash: revision, tip: tip.clone() },
            (_, Some(two), ..) => MergeQuestion::Rebase { old: two[0].clone(), new: two[1].clone() },
            (_, _, Some(source), ..) => {
                MergeQuestion::CherryPick { picked: revision, source: source.clone() }
            }
            (_, _, _, Some(source), _) => MergeQuestion::Revert { revert: revision, source: source.clone() },
            (.., Some(four)) => MergeQuestion::Trees([0, 1, 2, 3].map(|at| four[at].clone())),
            _ if self.working => MergeQuestion::Working { theirs: None },
            _ => MergeQuestion::Commit(revision),
        }
    }
}

pub(crate) fn audit(workspace: &Workspace, args: &MergeAuditArgs) -> Result<CommandAnswer, ServiceError> {
    if args.before_commit {
        return audit_before_commit(workspace, args);
    }
    let question = args.question();
    let range = args.revision.split_once("..").filter(|_| matches!(question, MergeQuestion::Commit(_)));
    let decides = args.review || args.repeat || !args.accept.is_empty() || !args.restore.is_empty();
    if decides && range.is_some() {
        let why = "a decision is about one merge, not about a range: name the merge";
        return Err(ServiceError::refused(ReasonCode::UsageInvalid, why));
    }
    if !args.restore.is_empty() {
        return restore(workspace, args);
    }
    if let Some((from, to)) = range {
        let to = if to.is_empty() { "HEAD" } else { to };
        let answer = probity_merges::audit_range(workspace, Some(from).filter(|from| !from.is_empty()), to)?;
        if !args.markdown {
            report::print_range(&answer, args.short);
        }
        write_outputs(args, &answer.audits.iter().collect::<Vec<_>>())?;
        return Ok(CommandAnswer::of(answer.exit_code(), &answer));
    }
    let answer = probity_merges::audit(workspace, &question)?;
    if args.review {
        return review(workspace, &answer);
    }
    if decides {
        return accept(workspace, args, &answer);
    }
    if args.short {
        report::print_short(&answer);
    } else if !args.markdown {
        report::print_audit(&answer);
    }
    write_outputs(args, &[&answer])?;
    Ok(CommandAnswer::of(answer.exit_code(), &answer))
}

/// Audits the merge that git is about to commit. Without one there is nothing to say.
fn audit_before_commit(workspace: &Workspace, args: &MergeAuditArgs) -> Result<CommandAnswer, ServiceError> {
    let answer = probity_merges::audit_before_commit(workspace, merged_head())?;
    for audit in answer.audits.iter().filter(|audit| !audit.findings.is_empty()) {
        report::print_audit(audit);
    }
    if answer.outcome == AuditOutcome::Lost {
        ui::eprint(
            "the merge is not committed: put the edits back, or say why it stands without them: \
             probity merge audit --working --accept ID --why TEXT",
        );
    }
    write_outputs(args, &answer.audits.iter().collect::<Vec<_>>())?;
    Ok(CommandAnswer::of(answer.exit_code(), &answer))
}

/// Returns the other side of a merge without conflicts, which git tells its hooks in the name of a variable.
fn merged_head() -> Option<String> {
    let mut heads =
        std::env::vars_os().filter_map(|(name, _)| Some(name.to_str()?.strip_prefix("GITHEAD_")?.to_owned()));
    let first = heads.next()?;
    heads.next().is_none().then_some(first)
}

/// Writes or removes the git hooks.
pub(crate) fn set_hooks(workspace: &Workspace, installs: bool) -> Result<CommandAnswer, ServiceError> {
    let answer = if installs {
        let program = std::env::current_exe()
            .map_err(|source| ServiceError::System { what: "this program has no path".to_owned(), source })?;
        probity_merges::install_git_hooks(workspace, &program)?
    } else {
        probity_merges::remove_git_hooks(workspace)?
    };
    let word = if answer.installed { "installed" } else { "removed" };
    for hook in &answer.hooks {
        ui::print_row(word, hook);
    }
    if answer.hooks.is_empty() {
        ui::print("there is no hook of ours; nothing was removed");
    }
    Ok(CommandAnswer::of(probity_api::ExitCode::Ok, &answer))
}

/// Writes what other programs read.
fn write_outputs(args: &MergeAuditArgs, audits: &[&MergeAuditAnswer]) -> Result<(), ServiceError> {
    if let Some(path) = &args.sarif {
        let what = format!("cannot write {}", path.display());
        std::fs::write(path, merge_sarif(audits)).map_err(|source| ServiceError::System { what, source })?;
    }
    if args.markdown {
        ui::print_document(merge_summary(audits).trim_end());
    }
    if args.github {
        print_annotations(audits.iter().flat_map(|audit| &audit.findings));
        super::contract::append_summary(&merge_summary(audits))?;
    }
    Ok(())
}

fn accept(
    workspace: &Workspace,
    args: &MergeAuditArgs,
    audit: &MergeAuditAnswer,
) -> Result<CommandAnswer, ServiceError> {
    let takes_all = args.repeat || args.accept.iter().any(|id| id == "all");
    let request = DecisionRequest {
        findings: if takes_all { Vec::new() } else { args.accept.clone() },
        repeat: args.repeat,
        override_policy: args.override_policy,
        why: args.why.clone(),
        by: None,
    };
    let answer = probity_merges::accept(workspace, audit, &request)?;
    print_recorded(&answer);
    Ok(CommandAnswer::of(answer.audit.exit_code(), &answer))
}

fn print_recorded(answer: &MergeDecisionAnswer) {
    answer.recorded.iter().for_each(print_accepted);
    if answer.recorded.is_empty() {
        ui::print("there is nothing to accept; nothing was recorded");
    }
    report::print_still_open(&answer.audit);
}

fn print_accepted(decision: &FindingDecision) {
    ui::print_row(
        "accepted",
        format_args!("{} {}: {}", ui::good(&decision.finding), decision.path, decision.why),
    );
}

/// Prints or sets the rules that decide about findings before a person is asked.
pub(crate) fn policy(workspace: &Workspace, set: Option<&[u8]>) -> Result<CommandAnswer, ServiceError> {
    let answer = match set {
        Some(json) => probity_merges::set_finding_policy(workspace, json)?,
        None => probity_merges::finding_policy(workspace)?,
    };
    let policy = &answer.policy;
    ui::print_json_text(&serde_json::to_string_pretty(policy).expect("a policy has text keys only"));
    if policy.rules.is_empty() {
        ui::eprint("the policy is empty: every lost edit is for a person to decide");
    }
    Ok(CommandAnswer::of(probity_api::ExitCode::Ok, &answer))
}

/// Prints every decision about findings of git merges.
pub(crate) fn decisions(workspace: &Workspace) -> Result<CommandAnswer, ServiceError> {
    let answer: MergeFindingDecisions = probity_merges::decisions(workspace)?;
    for decision in &answer.decisions {
        let merge = decision.merge.as_deref().map_or("working tree", report::short);
        ui::print(format_args!(
            "{}  {}  merge {}  {}",
            ui::dim(&decision.at),
            ui::bold(&decision.by),
            ui::code(merge),
            decision.why
        ));
        let entity = decision.entity.as_ref().map_or_else(String::new, |name| format!(" in {name}"));
        ui::print(format_args!("    {}{entity}: {}", decision.path, ui::good(decision.chosen)));
    }
    if answer.decisions.is_empty() {
        ui::eprint("nothing was decided yet");
    }
    Ok(CommandAnswer::of(probity_api::ExitCode::Ok, &answer))
}

/// Lets a person decide in the terminal.
fn review(workspace: &Workspace, audit: &MergeAuditAnswer) -> Result<CommandAnswer, ServiceError> {
    if !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() {
        let why = "a review needs a terminal: use --restore and --accept instead";
        return Err(ServiceError::refused(ReasonCode::UsageInvalid, why));
    }
    if audit.findings.iter().all(|finding| finding.decision.is_some()) {
        report::print_audit(audit);
        ui::print("there is nothing to decide");
        return Ok(CommandAnswer::of(audit.exit_code(), audit));
    }
    let Some(answer) = crate::review::review_git_merge(workspace, audit)? else {
        ui::eprint("nothing was written; the merge stands as it is");
        return Ok(CommandAnswer::of(audit.exit_code(), audit));
    };
    if let Some(survival) = &answer.survival {
        report::print_survival(survival);
    }
    for decision in &answer.recorded {
        print_accepted(decision);
    }
    let code = answer.survival.as_ref().map_or(probity_api::ExitCode::Ok, MergeSurvivalAnswer::exit_code);
    Ok(CommandAnswer::of(code, &answer))
}

fn restore(workspace: &Workspace, args: &MergeAuditArgs) -> Result<CommandAnswer, ServiceError> {
    let takes_all = args.restore.iter().any(|id| id == "lost" || id == "all");
    let mut findings = if takes_all { Vec::new() } else { args.restore.clone() };
    if findings.iter().any(|id| id == "policy") {
        let audit = probity_merges::audit(workspace, &args.question())?;
        findings.retain(|id| id != "policy");
        findings.extend(audit.wanted_by_policy().map(|finding| finding.id.clone()));
        if findings.is_empty() {
            ui::print("the policy wants no edit of this merge back; nothing was written");
            return Ok(CommandAnswer::of(audit.exit_code(), &audit));
        }
    }
    let request = SurvivalRequest {
        merge: args.revision.clone(),
        findings,
        subject: None,
        why: args.why.clone(),
        author: None,
        dry_run: args.dry_run,
        skip_gates: args.skip_gates,
    };
    let answer = probity_merges::restore(workspace, &request)?;
    report::print_survival(&answer);
    Ok(CommandAnswer::of(answer.exit_code(), &answer))
}

pub(super) fn print_annotations<'a>(findings: impl Iterator<Item = &'a MergeFinding>) {
    let to_annotation = |finding: &MergeFinding| NewFinding {
        id: finding.id.clone(),
        rule: format!("merge {}", finding.class),
        severity: if finding.is_open() { Severity::Critical } else { Severity::Warning },
        message: what_happened(finding),
        path: Some(finding.path.clone()),
        lines: finding.lines.map_or((1, 1), |[first, last]| (first, last)),
        is_ours: true,
        is_let_through: !finding.is_open(),
    };
    let annotations: Vec<NewFinding> = findings.map(to_annotation).collect();
    if !annotations.is_empty() {
        ui::print_document(&finding_annotations(&annotations));
    }
}
