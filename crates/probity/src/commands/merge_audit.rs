//! `probity merge audit`: whose edit is not in the result of a git merge.

use crate::answer::CommandAnswer;
use crate::ui;
use clap::Args;
use probity_api::merge_audit::{MergeAuditAnswer, MergeFinding};
use probity_merges::MergeQuestion;
use probity_workspace::{ServiceError, Workspace};

pub(crate) const AUDIT_EXAMPLES: &str = "Examples:\n  probity merge audit HEAD\n  probity merge audit main~200..main\n  \
    probity merge audit --working         # before the merge is committed\n  \
    probity merge audit HEAD --squash feature\n  probity merge audit --rebase ORIG_HEAD HEAD\n  \
    probity merge audit --trees BASE OURS THEIRS RESULT";

#[derive(Debug, Args)]
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
    if let Some((from, to)) = args
        .revision
        .split_once("..")
        .filter(|_| args.question() == MergeQuestion::Commit(args.revision.clone()))
    {
        let from = Some(from).filter(|from| !from.is_empty());
        let to = if to.is_empty() { "HEAD" } else { to };
        let answer = probity_merges::audit_range(workspace, from, to)?;
        for audit in &answer.audits {
            print_audit(audit);
        }
        ui::print(format_args!("{} merges, {} without loss", answer.merges, answer.proven));
        return Ok(CommandAnswer::of(answer.exit_code(), &answer));
    }
    let answer = probity_merges::audit(workspace, &args.question())?;
    print_audit(&answer);
    Ok(CommandAnswer::of(answer.exit_code(), &answer))
}

fn print_audit(answer: &MergeAuditAnswer) {
    answer.findings.iter().for_each(print_finding);
}

fn print_finding(finding: &MergeFinding) {
    ui::print(format_args!("{} {} {}", finding.class, finding.kind, finding.path));
}
