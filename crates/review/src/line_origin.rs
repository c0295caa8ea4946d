//! Why a line is there: from the line to the commit, the change, the clause that let it in, and the log.
//!
//! Git tells which commit brought a line, through renames and moves. Which change made that commit is known by content:
//! a run or a receipt that left exactly the content that the commit has. What nothing tells is said to be not known.

use crate::change_of_content::{ContentChange, change_of_content};
use probity_api::review::{LineOriginAnswer, OriginKnowledge, OriginStep, OriginStepKind};
use probity_core::text::{count, short_id};
use probity_core::{Digest, ReasonCode};
use probity_line_diff::{LineAlignment, line_changes, split_lines};
use probity_paths::RepoPath;
use probity_runner::recorded_contents::{SideContent, tree_content};
use probity_workspace::git_blame::{BlamedLine, blame_line};
use probity_workspace::worktree::from_top;
use probity_workspace::{ServiceError, Workspace, git};

/// The revision that means the files as they are.
const WORKTREE: &str = "worktree";

/// Explains why a line of `path` is there, at a revision or in the tree as it is.
#[tracing::instrument(name = "why", skip_all)]
pub fn line_origin(
    workspace: &Workspace,
    revision: Option<&str>,
    path: &RepoPath,
    line: usize,
) -> Result<LineOriginAnswer, ServiceError> {
    let revision = revision.filter(|revision| *revision != WORKTREE);
    let commit = revision.map(|revision| git::commit_id(workspace, revision)).transpose()?;
    let content = content_at(workspace, commit.as_deref(), path)?;
    let lines = split_lines(&content);
    let Some(text) = line.checked_sub(1).and_then(|index| lines.get(index)) else {
        let detail = format!("`{path}` has {}, and no line {line}", count(lines.len(), "line"));
        return Err(ServiceError::refused(ReasonCode::InputMissing, detail)
            .with_next_step("name a line that the file has; the first one is 1"));
    };
    let text = String::from_utf8_lossy(text).trim_end().to_owned();
    let blamed = blame(workspace, commit.as_deref(), path, line, &content)?;
    let made = match &blamed {
        LineCommit::Known(blamed) => committed_change(workspace, blamed)?,
        _ => change_of_content(workspace, path, &Digest::of(&content))?,
    };
    let mut steps = vec![commit_step(&blamed)];
    match &made {
        None => steps.extend(unknown_steps(&blamed)),
        Some(made) => steps.extend(known_steps(workspace, made)),
    }
    let answer = sentence(&blamed, made.as_ref());
    let change = made.map(|made| made.change);
    let revision = commit.unwrap_or_else(|| WORKTREE.to_owned());
    Ok(LineOriginAnswer { revision, path: path.clone(), line, text, answer, steps, change })
}

/// Returns the lines around the line of an answer, and the number of the first of them.
pub fn lines_around(
    workspace: &Workspace,
    answer: &LineOriginAnswer,
    n_around: usize,
) -> Result<(usize, Vec<String>), ServiceError> {
    let commit = Some(answer.revision.as_str()).filter(|revision| *revision != WORKTREE);
    let content = content_at(workspace, commit, &answer.path)?;
    let first = answer.line.saturating_sub(n_around).max(1);
    let text = |line: &&[u8]| String::from_utf8_lossy(line).trim_end().to_owned();
    let lines = split_lines(&content);
    Ok((first, lines.iter().skip(first - 1).take(2 * n_around + 1).map(text).collect()))
}

/// What git says of a line.
enum LineCommit {
    Known(BlamedLine),
    /// The line differs from the commit.
    Uncommitted,
    /// Why git does not know.
    Unknown(&'static str),
}

/// Finds the commit of a line. For the tree as it is, an unchanged line is looked up in the commit; no filter of the
/// repository is run for that.
fn blame(
    workspace: &Workspace,
    commit: Option<&str>,
    path: &RepoPath,
    line: usize,
    content: &[u8],
) -> Result<LineCommit, ServiceError> {
    let Some(layout) = &workspace.git else {
        return Ok(LineCommit::Unknown("this tree is not a git repository"));
    };
    let (commit, line) = if let Some(commit) = commit {
        (commit.to_owned(), line)
    } else {
        let Some(head) = git::head(workspace)? else { return Ok(LineCommit::Uncommitted) };
        let SideContent::Content(committed) = crate::file_sides::commit_content(workspace, &head, path)?
        else {
            return Ok(LineCommit::Uncommitted);
        };
        match line_before(&committed, content, line) {
            Some(line) => (head, line),
            None => return Ok(LineCommit::Uncommitted),
        }
    };
    let Some(top) = from_top(workspace, path) else {
        return Ok(LineCommit::Unknown("the path is not below the top of the working tree"));
    };
    Ok(match blame_line(layout, &commit, &top, line)? {
        Some(blamed) => LineCommit::Known(blamed),
        None => LineCommit::Unknown("git does not know this line"),
    })
}

/// Returns the number that an unchanged line had before; `None` if it is new.
fn line_before(before: &[u8], after: &[u8], line: usize) -> Option<usize> {
    let index = line.checked_sub(1)?;
    let mut shift = 0_isize;
    for change in line_changes(&split_lines(before), &split_lines(after), LineAlignment::Shortest) {
        if change.after.contains(&index) {
            return None;
        }
        if change.after.start > index {
            break;
        }
        let signed = |n: usize| isize::try_from(n).unwrap_or(isize::MAX);
        shift += signed(change.before.len()) - signed(change.after.len());
    }
    Some(index.saturating_add_signed(shift) + 1)
}

fn content_at(workspace: &Workspace, commit: Option<&str>, path: &RepoPath) -> Result<Vec<u8>, ServiceError> {
    let side = match commit {
        Some(commit) => crate::file_sides::commit_content(workspace, commit, path)?,
        None => tree_content(&workspace.root, path),
    };
    match side {
        SideContent::Content(bytes) if probity_line_diff::is_binary(&bytes) => {
            Err(ServiceError::refused(ReasonCode::InputInvalid, format!("`{path}` is not text")))
        }
        SideContent::Content(bytes) => Ok(bytes),
        _ => Err(ServiceError::Missing(format!("there is no file `{path}` there"))),
    }
}

fn step(step: OriginStepKind, knowledge: OriginKnowledge, answer: impl Into<String>) -> OriginStep {
    OriginStep { step, knowledge, answer: answer.into(), detail: String::new(), name: None }
}

fn unknown(kind: OriginStepKind, answer: &str, why: &str) -> OriginStep {
    OriginStep { detail: why.to_owned(), ..step(kind, OriginKnowledge::Unknown, answer) }
}

fn commit_step(blamed: &LineCommit) -> OriginStep {
    match blamed {
        LineCommit::Known(BlamedLine { commit, author, subject, path, line }) => OriginStep {
            detail: format!("by {author}, as line {line} of {path}: {subject}"),
            name: Some(commit.clone()),
            ..step(
                OriginStepKind::Commit,
                OriginKnowledge::Known,
                format!("commit {}", commit.get(..8).unwrap_or(commit)),
            )
        },
        LineCommit::Uncommitted => OriginStep {
            detail: "it is in the working tree only".into(),
            ..step(OriginStepKind::Commit, OriginKnowledge::None, "not committed yet")
        },
        LineCommit::Unknown(why) => unknown(OriginStepKind::Commit, "no commit is known", why),
    }
}

/// Finds the change that left the content which the commit has at the path.
fn committed_change(
    workspace: &Workspace,
    blamed: &BlamedLine,
) -> Result<Option<ContentChange>, ServiceError> {
    let below = workspace.below_top();
    let path = if below.is_empty() {
        Some(blamed.path.clone())
    } else {
        let rest =
            blamed.path.as_bytes().strip_prefix(below.as_slice()).and_then(|rest| rest.strip_prefix(b"/"));
        rest.and_then(|rest| RepoPath::parse(rest).ok())
    };
    let Some(path) = path else { return Ok(None) };
    match crate::file_sides::commit_content(workspace, &blamed.commit, &path)? {
        SideContent::Content(bytes) => change_of_content(workspace, &path, &Digest::of(&bytes)),
        _ => Ok(None),
    }
}

fn unknown_steps(blamed: &LineCommit) -> Vec<OriginStep> {
    let why = match blamed {
        LineCommit::Known(_) => {
            "no run and no receipt left the content that this commit has: it was made without Probity, or several \
             changes were committed together"
        }
        _ => "no run and no receipt left the file as it is now",
    };
    let not_without = "the change is not known";
    vec![
        unknown(OriginStepKind::Change, "no run or intent is known", why),
        unknown(OriginStepKind::Clause, "not known", not_without),
        unknown(OriginStepKind::Gates, "not known", not_without),
        unknown(OriginStepKind::Proof, "not known", not_without),
    ]
}

fn known_steps(workspace: &Workspace, made: &ContentChange) -> Vec<OriginStep> {
    let mut steps = vec![change_step(made)];
    steps.push(match &made.clause {
        Some(clause) => step(OriginStepKind::Clause, OriginKnowledge::Known, format!("let in by {clause}")),
        None => OriginStep {
            detail: "it is outside the scope that was declared".into(),
            ..step(OriginStepKind::Clause, OriginKnowledge::Alarming, "no clause let it in")
        },
    });
    steps.push(match &made.amendment {
        Some(amendment) => OriginStep {
            detail: format!("{}, at {}", amendment.why, amendment.at),
            ..step(OriginStepKind::Amendment, OriginKnowledge::Known, format!("amended by {}", amendment.by))
        },
        None => step(OriginStepKind::Amendment, OriginKnowledge::None, "declared at the start, not amended"),
    });
    steps.push(match (&made.agent, made.is_run) {
        (Some(agent), true) => OriginStep {
            detail: made.title.clone(),
            ..step(OriginStepKind::Process, OriginKnowledge::Known, format!("a process of {agent}"))
        },
        _ => unknown(
            OriginStepKind::Process,
            "not known",
            "tool calls in a shared tree are not recorded line by line",
        ),
    });
    steps.push(gates_step(made));
    steps.push(unknown(
        OriginStepKind::Merges,
        "not looked at",
        "the line is there, so no merge dropped it; `probity merge audit` tells what a merge dropped",
    ));
    steps.push(match crate::run_review::cited_items(workspace, &[&made.change]).as_slice() {
        [] => step(OriginStepKind::Ledger, OriginKnowledge::None, "the change cites no item of the ledger"),
        items => OriginStep {
            name: items.first().cloned(),
            ..step(OriginStepKind::Ledger, OriginKnowledge::Known, format!("under {}", items.join(", ")))
        },
    });
    steps.push(match made.log_index {
        Some(index) => OriginStep {
            detail: match &made.bundle {
                Some(bundle) => format!("`probity evidence prove {bundle}` makes the proof"),
                None => "`probity receipt verify` checks the receipt".to_owned(),
            },
            ..step(OriginStepKind::Proof, OriginKnowledge::Known, format!("entry {index} of the log"))
        },
        None => unknown(OriginStepKind::Proof, "not known", "the log does not list it"),
    });
    steps
}

fn change_step(made: &ContentChange) -> OriginStep {
    let who = made.agent.as_deref().unwrap_or("somebody");
    let kind = if made.is_run { "run" } else { "intent" };
    let (knowledge, verdict) = match made.reasons.first() {
        None => (OriginKnowledge::Known, "it passed".to_owned()),
        Some(reason) => (OriginKnowledge::Alarming, format!("it did not pass: {reason}")),
    };
    OriginStep {
        detail: format!("{}; {verdict}", made.title),
        name: Some(made.change.clone()),
        ..step(OriginStepKind::Change, knowledge, format!("{kind} {} of {who}", short_id(&made.change)))
    }
}

fn gates_step(made: &ContentChange) -> OriginStep {
    let n_passed = made.gates.iter().filter(|gate| gate.passed).count();
    let failed: Vec<&str> =
        made.gates.iter().filter(|gate| !gate.passed).map(|gate| gate.id.as_str()).collect();
    if made.gates.is_empty() {
        return step(OriginStepKind::Gates, OriginKnowledge::None, "no gate was sealed");
    }
    let knowledge = if failed.is_empty() { OriginKnowledge::Known } else { OriginKnowledge::Alarming };
    OriginStep {
        detail: if failed.is_empty() { String::new() } else { format!("not passed: {}", failed.join(", ")) },
        ..step(
            OriginStepKind::Gates,
            knowledge,
            format!("{n_passed} of {} passed", count(made.gates.len(), "gate")),
        )
    }
}

fn sentence(blamed: &LineCommit, made: Option<&ContentChange>) -> String {
    let Some(made) = made else {
        return match blamed {
            LineCommit::Known(blamed) => {
                format!("{} committed it; which change made it is not known", blamed.author)
            }
            _ => "it is not committed, and no change is known that made it".to_owned(),
        };
    };
    let kind = if made.is_run { "run" } else { "intent" };
    let who = made.agent.as_deref().unwrap_or("somebody");
    let id = short_id(&made.change);
    match (&made.clause, &made.amendment) {
        (Some(clause), Some(amendment)) => {
            format!("{who} made it in {kind} {id}, let in by {clause}, which {} added", amendment.by)
        }
        (Some(clause), None) => format!("{who} made it in {kind} {id}, let in by {clause}"),
        (None, _) => format!("{who} made it in {kind} {id}, and nothing that was declared let it in"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unchanged_line_is_found_before() {
        let (before, after) = (b"a\nb\nc\n".as_slice(), b"new\na\nB\nc\n".as_slice());
        let found: Vec<Option<usize>> = (1..=4).map(|line| line_before(before, after, line)).collect();
        assert_eq!(found, [None, Some(1), None, Some(3)]);
    }
}
