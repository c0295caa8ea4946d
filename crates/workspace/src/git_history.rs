//! Questions to git about the history of commits.

use crate::git::{attempt, output_of_file, output_of_lines, run_git};
use crate::git_failure::GitFailure;
use crate::{ServiceError, Workspace};
use probity_core::bytes::escape;
use probity_paths::RepoPath;
use probity_snapshot::GitId;
use probity_snapshot::git::{
    GitCommand, GitLayout, TreeDiffEntry, diff_tree_command, git_command, parse_diff_tree,
};
use std::collections::{BTreeMap, BTreeSet};

/// A commit with what people know it by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitCaption {
    pub id: GitId,
    pub author: String,
    /// The first line of the message.
    pub subject: String,
}

fn ids_of_line(line: &[u8]) -> Option<Vec<GitId>> {
    line.split(|&byte| byte == b' ').map(GitId::from_hex).collect()
}

fn bad_list(command: &GitCommand) -> GitFailure {
    GitFailure::bad_answer(command, "it is no list of commits")
}

/// Returns every commit that `tips` lead to and `known` do not, with its parents, children first.
pub fn history(layout: &GitLayout, tips: &[GitId], known: &[GitId]) -> Result<Vec<Vec<GitId>>, GitFailure> {
    let command = git_command(layout, &["rev-list", "--topo-order", "--parents", "--stdin"]);
    let lines: Vec<String> =
        tips.iter().map(ToString::to_string).chain(known.iter().map(|id| format!("^{id}"))).collect();
    let answer = output_of_lines(layout, &command, &lines)?;
    let lines = answer.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    lines.map(ids_of_line).collect::<Option<_>>().ok_or_else(|| bad_list(&command))
}

/// Returns the parents of a commit; none of what is no commit.
pub fn parents(layout: &GitLayout, commit: &GitId) -> Result<Vec<GitId>, GitFailure> {
    let command = git_command(layout, &["rev-list", "--parents", "--no-walk", "--stdin"]);
    let answer = output_of_lines(layout, &command, &[commit.to_string()])?;
    let ids = answer.split(|&byte| byte == b'\n').find(|line| !line.is_empty()).map(ids_of_line);
    let ids = ids.map_or(Some(Vec::new()), |ids| ids).ok_or_else(|| bad_list(&command))?;
    Ok(ids.into_iter().skip(1).collect())
}

/// Returns the newest commits that `tip` leads to and `known` do not, without merges, each with its parent, newest first. At
/// most `limit` of them.
pub fn commits_between(
    layout: &GitLayout,
    tip: &GitId,
    known: &[GitId],
    limit: usize,
) -> Result<Vec<Vec<GitId>>, GitFailure> {
    let limit = format!("--max-count={limit}");
    let command =
        git_command(layout, &["rev-list", "--topo-order", "--parents", "--no-merges", &limit, "--stdin"]);
    let mut lines = vec![tip.to_string()];
    lines.extend(known.iter().map(|id| format!("^{id}")));
    let answer = output_of_lines(layout, &command, &lines)?;
    let lines = answer.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    lines.map(ids_of_line).collect::<Option<_>>().ok_or_else(|| bad_list(&command))
}

/// Returns what commits, each given with its parent, did to some paths. Paths that are no text are left out.
pub fn path_changes(
    layout: &GitLayout,
    commits: &[Vec<GitId>],
    paths: &BTreeSet<&RepoPath>,
) -> Result<Vec<Vec<TreeDiffEntry>>, GitFailure> {
    let specs: Vec<String> = paths
        .iter()
        .filter_map(|path| Some(format!(":(top,literal){}", std::str::from_utf8(path.as_bytes()).ok()?)))
        .collect();
    if specs.is_empty() || commits.is_empty() {
        return Ok(vec![Vec::new(); commits.len()]);
    }
    let mut command = diff_tree_command(layout);
    command.argv.push("--".into());
    command.argv.extend(specs.into_iter().map(Into::into));
    let questions: Vec<String> =
        commits.iter().map(|ids| ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")).collect();
    let answer = output_of_lines(layout, &command, &questions)?;
    let lists =
        parse_diff_tree(&answer).map_err(|error| GitFailure::bad_answer(&command, error.to_string()))?;
    if lists.len() == commits.len() {
        Ok(lists)
    } else {
        Err(GitFailure::bad_answer(&command, "it does not answer every question"))
    }
}

/// Returns authors and subjects, in the order of the ids.
pub fn captions(layout: &GitLayout, ids: &[GitId]) -> Result<Vec<CommitCaption>, GitFailure> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let format = "--format=tformat:%H%x00%an%x00%s";
    let command =
        git_command(layout, &["rev-list", "--no-walk=unsorted", "--no-commit-header", format, "--stdin"]);
    let lines: Vec<String> = ids.iter().map(ToString::to_string).collect();
    let answer = output_of_lines(layout, &command, &lines)?;
    let caption = |line: &[u8]| {
        let mut fields = line.splitn(3, |&byte| byte == 0);
        let id = GitId::from_hex(fields.next()?)?;
        let mut text = || Some(String::from_utf8_lossy(fields.next()?).into_owned());
        Some(CommitCaption { id, author: text()?, subject: text()? })
    };
    let lines = answer.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    lines.map(caption).collect::<Option<_>>().ok_or_else(|| bad_list(&command))
}

/// Returns the sizes of the blobs that this clone has, by id.
pub fn blob_sizes(layout: &GitLayout, ids: &[String]) -> Result<BTreeMap<String, u64>, GitFailure> {
    if ids.is_empty() {
        return Ok(BTreeMap::new());
    }
    let command = git_command(layout, &["cat-file", "--batch-check=%(objectname) %(objectsize)"]);
    let answer = output_of_lines(layout, &command, ids)?;
    let text = String::from_utf8_lossy(&answer);
    let size = |line: &str| {
        let (id, size) = line.split_once(' ')?;
        Some((id.to_owned(), size.parse().ok()?))
    };
    // The size of a missing object is the word `missing`.
    Ok(text.lines().filter_map(size).collect())
}

/// Resolves a name to the id of a commit or tree; `None` if git does not know it.
pub fn find_tree_or_commit(layout: &GitLayout, name: &str) -> Result<Option<GitId>, GitFailure> {
    for suffix in ["^{commit}", "^{tree}"] {
        let full = format!("{name}{suffix}");
        let command = git_command(layout, &["rev-parse", "--verify", "--quiet", "--end-of-options", &full]);
        match run_git(layout, &command) {
            Ok(answer) => {
                let id = GitId::from_hex(answer.trim_ascii_end());
                return id.map(Some).ok_or_else(|| GitFailure::bad_answer(&command, escape(&answer)));
            }
            Err(failure) if matches!(failure.cause, crate::GitFailureCause::Exit(1)) => {}
            Err(failure) => return Err(failure),
        }
    }
    Ok(None)
}

/// Returns the paths in the index, from the top of the working tree.
pub fn index_paths(layout: &GitLayout) -> Result<BTreeSet<RepoPath>, GitFailure> {
    let command = git_command(layout, &["ls-files", "-z", "--cached", "--full-name"]);
    let answer = run_git(layout, &command)?;
    let names = answer.split(|&byte| byte == 0).filter(|name| !name.is_empty());
    let paths: Result<BTreeSet<RepoPath>, _> = names.map(RepoPath::parse).collect();
    paths.map_err(|error| GitFailure::bad_answer(&command, error.to_string()))
}

/// Returns the address of a remote of this repository; `None` if it has no remote of that name.
pub fn remote_address(git: &GitLayout, name: &str) -> Result<Option<String>, ServiceError> {
    let command = git_command(git, &["config", "--get", &format!("remote.{name}.url")]);
    let captured = attempt(git, &command, None)?;
    let address = String::from_utf8_lossy(&captured.stdout).trim_end().to_owned();
    Ok(Some(address).filter(|address| captured.succeeded() && !address.is_empty()))
}

/// Returns the branch that the checked out one follows, without the name of its remote; `None` if it follows none.
pub fn upstream_branch(workspace: &Workspace) -> Result<Option<String>, ServiceError> {
    let (Some(git), Some(branch)) = (&workspace.git, current_branch(workspace)?) else { return Ok(None) };
    let name = format!("refs/heads/{branch}");
    let command = git_command(git, &["for-each-ref", "--format=%(upstream)", "--", &name]);
    let answer = run_git(git, &command)?;
    let upstream = String::from_utf8_lossy(&answer).trim_end().to_owned();
    let branch = upstream.strip_prefix("refs/remotes/").and_then(|rest| rest.split_once('/'));
    Ok(branch.map(|(_, branch)| branch.to_owned()))
}

/// Returns the branches of remotes as this clone last saw them: name of the remote and the branch, and its commit.
pub fn remote_branches(layout: &GitLayout) -> Result<Vec<(String, GitId)>, GitFailure> {
    let command =
        git_command(layout, &["for-each-ref", "--format=%(objectname) %(refname:lstrip=2)", "refs/remotes/"]);
    let answer = run_git(layout, &command)?;
    let text = String::from_utf8_lossy(&answer);
    let branch = |line: &str| {
        let (id, name) = line.split_once(' ')?;
        Some((name.to_owned(), GitId::from_hex(id.as_bytes())?)).filter(|(name, _)| !name.ends_with("/HEAD"))
    };
    Ok(text.lines().filter_map(branch).collect())
}

/// Returns whether the checked out commit contains another. In a shallow clone an older one may be missing; then the answer
/// is no.
pub fn head_contains(layout: &GitLayout, commit: &GitId) -> Result<bool, GitFailure> {
    let command = git_command(layout, &["merge-base", "--is-ancestor", &commit.to_string(), "HEAD"]);
    Ok(attempt(layout, &command, None)?.succeeded())
}

/// Returns at most `limit` of the newest commits that `tip` leads to and `known` does not, newest first; `None` if this
/// clone lacks `known`.
pub fn newest_commits(
    layout: &GitLayout,
    tip: &GitId,
    known: &GitId,
    limit: usize,
) -> Result<Option<Vec<GitId>>, GitFailure> {
    if find_tree_or_commit(layout, &known.to_string())?.is_none() {
        return Ok(None);
    }
    let limit = format!("--max-count={limit}");
    let command = git_command(layout, &["rev-list", &limit, &tip.to_string(), &format!("^{known}")]);
    let answer = run_git(layout, &command)?;
    let lines = answer.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    lines.map(GitId::from_hex).collect::<Option<_>>().map(Some).ok_or_else(|| bad_list(&command))
}

/// Returns the ids of the blobs that some commits have at some paths, from the top of the repository: for each commit, the
/// paths that it has. A path with a line break cannot be asked for.
pub fn blobs_at(
    layout: &GitLayout,
    commits: &[GitId],
    paths: &BTreeSet<RepoPath>,
) -> Result<Vec<BTreeMap<RepoPath, String>>, GitFailure> {
    let command = git_command(layout, &["cat-file", "--batch-check=%(objectname) %(objecttype)"]);
    let paths: Vec<&RepoPath> = paths.iter().filter(|path| !path.as_bytes().contains(&b'\n')).collect();
    let asked = |commit: &GitId| {
        let name = commit.to_string();
        paths.iter().map(move |path| [name.as_bytes(), b":", path.as_bytes()].concat())
    };
    let mut questions = Vec::new();
    for question in commits.iter().flat_map(asked) {
        questions.extend(question);
        questions.push(b'\n');
    }
    let answer = output_of_file(layout, &command, &questions)?;
    let mut answers = answer.split(|&byte| byte == b'\n');
    let mut found = Vec::with_capacity(commits.len());
    for _ in commits {
        let mut blobs = BTreeMap::new();
        for &path in &paths {
            let line = String::from_utf8_lossy(answers.next().unwrap_or_default()).into_owned();
            // Of a path that is not there the answer repeats the question, and ends with `missing`.
            if let Some((id, "blob")) = line.split_once(' ') {
                blobs.insert(path.clone(), id.to_owned());
            }
        }
        found.push(blobs);
    }
    Ok(found)
}

/// Returns the name of the branch that is checked out; `None` without git or on a commit of no branch.
pub fn current_branch(workspace: &Workspace) -> Result<Option<String>, ServiceError> {
    let Some(git) = &workspace.git else { return Ok(None) };
    let captured = attempt(git, &git_command(git, &["symbolic-ref", "--quiet", "--short", "HEAD"]), None)?;
    let name = String::from_utf8_lossy(&captured.stdout).trim_end().to_owned();
    Ok(Some(name).filter(|name| captured.succeeded() && !name.is_empty()))
}
