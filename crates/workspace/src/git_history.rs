//! Questions to git about the history of commits.

use crate::git::{output_of_lines, run_git};
use crate::git_failure::GitFailure;
use probity_core::bytes::escape;
use probity_paths::RepoPath;
use probity_snapshot::GitId;
use probity_snapshot::git::{GitCommand, GitLayout, git_command};
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

/// Returns the newest commits that changed `path`, among those that `tip` leads to and `known` do not, newest first.
pub fn commits_of_path(
    layout: &GitLayout,
    tip: &GitId,
    known: &[GitId],
    path: &RepoPath,
    limit: usize,
) -> Result<Vec<Vec<GitId>>, GitFailure> {
    let Ok(name) = std::str::from_utf8(path.as_bytes()) else { return Ok(Vec::new()) };
    let pathspec = format!(":(top,literal){name}");
    let (limit, tip) = (format!("--max-count={limit}"), tip.to_string());
    let excluded: Vec<String> = known.iter().map(|id| format!("^{id}")).collect();
    let mut words = vec!["rev-list", "--topo-order", "--parents", "--no-merges", &limit, &tip];
    words.extend(excluded.iter().map(String::as_str));
    words.extend(["--", &pathspec]);
    let command = git_command(layout, &words);
    let answer = run_git(layout, &command)?;
    let lines = answer.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    lines.map(ids_of_line).collect::<Option<_>>().ok_or_else(|| bad_list(&command))
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
