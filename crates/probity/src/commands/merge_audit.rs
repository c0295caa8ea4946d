//! `probity merge audit`: whose edit is not in the result of a git merge, and the commit that puts it back.

use crate::answer::CommandAnswer;
use crate::ui;
use clap::Args;
use probity_api::merge_audit::{
    AuditBaseKind, AuditOutcome, MergeAuditAnswer, MergeAuditRangeAnswer, MergeFinding, MergeSurvivalAnswer,
};
use probity_contract::outputs::{NewFinding, finding_annotations};
use probity_core::ReasonCode;
use probity_merges::{MergeQuestion, SurvivalRequest};
use probity_policy::Severity;
use probity_workspace::{ServiceError, Workspace};

pub(crate) const AUDIT_EXAMPLES: &str = "Examples:\n  probity merge audit HEAD\n  probity merge audit main~200..main\n  \
    probity merge audit --working         # before the merge is committed\n  \
    probity merge audit HEAD --squash feature\n  probity merge audit --rebase ORIG_HEAD HEAD\n  \
    probity merge audit HEAD --restore lost --why 'dropped by mistake'";

/// Longer versions of a place are cut in the report; `--json` has more.
const MAX_SHOWN_LINES: usize = 12;
const DEFAULT_COLUMNS: usize = 80;

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct MergeAuditArgs {
    /// A merge commit, or a range `A..B` of commits
    #[arg(default_value = "HEAD")]
    revision: String,

    /// The merge in progress: the working tree, before it is committed
    #[arg(long, conflicts_with_all = ["squash", "rebase", "cherry_pick", "revert", "trees"])]
    working: bool,

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

    /// Put back the finding with this id, or all that is `lost`, in a commit on a new branch
    #[arg(long, value_name = "ID", conflicts_with_all = ["working", "squash", "rebase", "cherry_pick", "revert", "trees"])]
    restore: Vec<String>,

    /// Why it is restored; part of the commit message
    #[arg(long, value_name = "TEXT", default_value = "", requires = "restore")]
    why: String,

    /// Say what would be restored, and make no branch
    #[arg(long, requires = "restore")]
    dry_run: bool,

    /// Print annotations for GitHub
    #[arg(long)]
    github: bool,

    /// Only say which merges lost something, one line each
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
            _ if self.working => MergeQuestion::Working,
            _ => MergeQuestion::Commit(revision),
        }
    }
}

pub(crate) fn audit(workspace: &Workspace, args: &MergeAuditArgs) -> Result<CommandAnswer, ServiceError> {
    let question = args.question();
    let range = args.revision.split_once("..").filter(|_| matches!(question, MergeQuestion::Commit(_)));
    if !args.restore.is_empty() {
        if range.is_some() {
            return Err(ServiceError::refused(
                ReasonCode::UsageInvalid,
                "`--restore` takes one merge, not a range",
            ));
        }
        return restore(workspace, args);
    }
    if let Some((from, to)) = range {
        let to = if to.is_empty() { "HEAD" } else { to };
        let answer = probity_merges::audit_range(workspace, Some(from).filter(|from| !from.is_empty()), to)?;
        print_range(&answer, args.short);
        if args.github {
            print_annotations(answer.audits.iter().flat_map(|audit| &audit.findings));
        }
        return Ok(CommandAnswer::of(answer.exit_code(), &answer));
    }
    let answer = probity_merges::audit(workspace, &question)?;
    if args.short {
        print_short(&answer);
    } else {
        print_audit(&answer);
    }
    if args.github {
        print_annotations(answer.findings.iter());
    }
    Ok(CommandAnswer::of(answer.exit_code(), &answer))
}

fn restore(workspace: &Workspace, args: &MergeAuditArgs) -> Result<CommandAnswer, ServiceError> {
    let takes_all = args.restore.iter().any(|id| id == "lost" || id == "all");
    let request = SurvivalRequest {
        merge: args.revision.clone(),
        findings: if takes_all { Vec::new() } else { args.restore.clone() },
        why: args.why.clone(),
        author: None,
        dry_run: args.dry_run,
    };
    let answer = probity_merges::restore(workspace, &request)?;
    print_survival(&answer);
    Ok(CommandAnswer::of(answer.exit_code(), &answer))
}

fn print_survival(answer: &MergeSurvivalAnswer) {
    for id in &answer.restored {
        ui::print_row("restored", ui::good(id));
    }
    for left in &answer.by_hand {
        ui::print_row("by hand", format_args!("{} {}: {}", left.id, left.path, left.why));
    }
    match (&answer.branch, &answer.commit) {
        (Some(branch), Some(commit)) => {
            ui::print_row("commit", ui::code(short(commit)));
            ui::print_row("branch", ui::code(branch));
            ui::print_row("next", format_args!("git merge {branch}"));
        }
        _ if answer.restored.is_empty() => {
            ui::print("nothing can be restored by itself; nothing was written");
        }
        _ => ui::print("nothing was written: this is what would be restored"),
    }
    let n_left = answer.audit.findings.iter().filter(|finding| finding.is_open()).count();
    if n_left > 0 {
        ui::print_row("still open", ui::count_of(n_left, "finding"));
    }
}

fn short(id: &str) -> &str {
    id.get(..10).unwrap_or(id)
}

fn outcome_text(outcome: AuditOutcome) -> String {
    match outcome {
        AuditOutcome::Clean => ui::good("nothing lost"),
        AuditOutcome::Contested => ui::warn("contested"),
        AuditOutcome::Lost => ui::bad("lost"),
    }
}

fn print_short(answer: &MergeAuditAnswer) {
    let name = answer.merge.as_deref().map_or("working tree", short);
    let subject = answer.merged_by.as_ref().map_or("", |commit| commit.subject.as_str());
    let n_open = answer.findings.iter().filter(|finding| finding.is_open()).count();
    let counted = format!("{n_open} lost, {} contested", answer.findings.len() - n_open);
    let line = format!("{counted}  {subject}");
    ui::print(format_args!(
        "{}  {}  {}",
        ui::code(name),
        outcome_text(answer.outcome),
        ui::fit_to_terminal(&line, 24)
    ));
}

fn print_range(answer: &MergeAuditRangeAnswer, is_short: bool) {
    for audit in &answer.audits {
        if is_short {
            print_short(audit);
        } else {
            print_audit(audit);
            ui::print("");
        }
    }
    let n_lost = answer.audits.iter().filter(|audit| audit.outcome == AuditOutcome::Lost).count();
    let n_contested = answer.audits.len() - n_lost;
    ui::print(format_args!(
        "{} in {}: {} lost something, {n_contested} contested, {} without loss",
        ui::count_of(answer.merges, "merge"),
        answer.range,
        ui::format_number(n_lost),
        ui::format_number(answer.proven)
    ));
}

fn print_audit(answer: &MergeAuditAnswer) {
    let name = answer.merge.as_deref().map_or("working tree", short);
    let made_by = answer
        .merged_by
        .as_ref()
        .map_or_else(String::new, |commit| format!("{}: {}", commit.author, commit.subject));
    ui::print(format_args!("{} {} {}", ui::bold("merge"), ui::code(name), ui::fit_to_terminal(&made_by, 17)));
    let base = match (answer.base_kind, &answer.base) {
        (AuditBaseKind::Single, Some(base)) => format!("base {}", short(base)),
        (AuditBaseKind::Virtual, _) => "several bases, merged".to_owned(),
        _ => "no common ancestor: findings are hints".to_owned(),
    };
    ui::print(ui::dim(format_args!(
        "  ours {}  theirs {}  {base}",
        short(&answer.ours),
        short(&answer.theirs)
    )));
    for taken in &answer.taken_whole {
        ui::print(format_args!("  {} was taken whole from {}", taken.path, taken.from));
    }
    for finding in &answer.findings {
        ui::print("");
        print_finding(finding);
    }
    if !answer.set_aside.is_empty() {
        ui::print("");
        for file in &answer.set_aside {
            ui::print(ui::dim(format_args!("  not judged: {} ({})", file.path, file.reason.as_str())));
        }
    }
    if answer.findings.is_empty() {
        ui::print(format_args!("{}", ui::good("every edit of both sides is in the result")));
    }
}

fn print_finding(finding: &MergeFinding) {
    let class = if finding.is_open() { ui::bad(finding.class) } else { ui::warn(finding.class) };
    let side = finding.side.map_or_else(String::new, |side| format!(" {side}"));
    let line = finding.lines.map_or_else(String::new, |[first, _]| format!(":{first}"));
    let entity = finding.entity.as_ref().map_or_else(String::new, |name| format!(" in {name}"));
    ui::print(format_args!(
        "{class}{side} {}{line}{entity} {}",
        ui::bold(&finding.path),
        ui::dim(&finding.id)
    ));
    ui::print_row("what", what_happened(finding));
    for commit in finding.commits.iter().take(3) {
        ui::print_row(
            "made by",
            format_args!("{} {}: {}", ui::code(short(&commit.id)), commit.author, commit.subject),
        );
    }
    print_versions(finding);
}

fn what_happened(finding: &MergeFinding) -> String {
    use probity_api::merge_audit::{EditKind, FindingClass, LossCause};
    let name = finding.lost.first().map_or("", String::as_str);
    match finding.class {
        FindingClass::Markers => return "conflict markers were committed".to_owned(),
        FindingClass::DoesNotParse => return "the result does not parse, both sides do".to_owned(),
        FindingClass::Duplicate => return format!("the result defines `{name}` twice"),
        FindingClass::Dangling => return format!("calls `{name}`, which the other side removed"),
        FindingClass::Signature => return format!("calls `{name}` with arguments that no longer fit"),
        _ => {}
    }
    let edit = match finding.kind {
        EditKind::Insert | EditKind::Text => "inserted lines are not in the result",
        EditKind::Update => "changed lines are not in the result",
        EditKind::Delete => "deleted lines are back",
        EditKind::AddEntity => "something new is not in the result",
        EditKind::RemoveEntity => "something that was removed is back",
        EditKind::Import => "an import is not as this side left it",
        EditKind::ImportLost => "an import is gone that the result needs",
        EditKind::Comment => "a comment is not in the result",
        EditKind::AddFile => "a new file is not in the result",
        EditKind::RemoveFile => "a removed file is back",
        EditKind::UpdateFile => "a changed file is not in the result",
        EditKind::RenameFile => "a renamed file has its old name",
        EditKind::Mode => "a changed file mode is not in the result",
        EditKind::Symlink => "a changed link is not in the result",
        EditKind::Submodule => "a moved submodule is not in the result",
        EditKind::Definition | EditKind::Call => "the result is broken",
    };
    let cause = match (finding.class, finding.cause) {
        (FindingClass::Superseded, _) => "the other side had it and went on",
        (FindingClass::TwoWay, _) => "there is no common ancestor",
        (FindingClass::Contested, Some(LossCause::File)) => "the other side removed the file",
        (FindingClass::Contested, _) => "the other side changed the same place",
        (_, Some(LossCause::Conflict)) => "decided in a conflict",
        (_, Some(LossCause::Resolution)) => "both sides merge cleanly here: the resolution dropped it",
        (_, Some(LossCause::File)) => "the file as a whole",
        (_, None) => return edit.to_owned(),
    };
    format!("{edit}; {cause}")
}

/// Prints the four versions below each other; equal ones once.
fn print_versions(finding: &MergeFinding) {
    let versions = [
        ("base", &finding.base),
        ("ours", &finding.ours),
        ("theirs", &finding.theirs),
        ("merged", &finding.merged),
    ];
    if versions.iter().all(|(_, version)| version.is_none()) {
        for line in finding.lost.iter().take(MAX_SHOWN_LINES) {
            ui::print(format_args!("    {}", ui::fit_to_terminal(line, 4)));
        }
        return;
    }
    let columns = ui::terminal_size().map_or(DEFAULT_COLUMNS, |(columns, _)| columns);
    for (index, (name, version)) in versions.iter().enumerate() {
        let text = version.as_ref().map(|version| version.text.as_str());
        let same = versions[..index]
            .iter()
            .find(|(_, other)| other.as_ref().map(|other| other.text.as_str()) == text);
        match (same, text) {
            (Some((other, _)), Some(_)) => {
                ui::print(format_args!("    {} as {other}", ui::dim(format_args!("{name:<6}"))));
            }
            (_, None) => {
                ui::print(format_args!("    {} {}", ui::dim(format_args!("{name:<6}")), ui::dim("nothing")));
            }
            (None, Some(text)) => print_version(name, text, &finding.lost, columns),
        }
    }
}

fn print_version(name: &str, text: &str, lost: &[String], columns: usize) {
    let lines: Vec<&str> = text.lines().collect();
    let indent = lines
        .iter()
        .filter(|line| !line.trim().is_empty())
        .map(|line| line.len() - line.trim_start().len())
        .min();
    for (index, line) in lines.iter().take(MAX_SHOWN_LINES).enumerate() {
        let label = if index == 0 { name } else { "" };
        let shown = line.get(indent.unwrap_or(0)..).unwrap_or(line);
        let shown: String = shown.chars().take(columns.saturating_sub(13)).collect();
        let is_lost = lost.iter().any(|one| one == line);
        let shown = if is_lost { ui::bold(shown) } else { shown };
        let mark = if is_lost { '>' } else { ' ' };
        ui::print(format_args!("    {} {mark} {shown}", ui::dim(format_args!("{label:<6}"))));
    }
    if lines.len() > MAX_SHOWN_LINES {
        ui::print(ui::dim(format_args!("             and {} more lines", lines.len() - MAX_SHOWN_LINES)));
    }
}

fn print_annotations<'a>(findings: impl Iterator<Item = &'a MergeFinding>) {
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
