//! The only module that starts git (law 12).
//!
//! Every command only reads, fetches nothing and starts no program that the repository configures (see
//! [`probity_snapshot::git::git_command`]). The git binary is chosen by `crate::git_program` (law 8).

use crate::git_failure::{GitFailure, GitFailureCause};
use crate::git_program::git_program;
pub use crate::git_program::worktrees;
use crate::{ServiceError, Workspace};
use probity_core::ReasonCode;
use probity_core::bytes::escape;
use probity_paths::RepoPath;
use probity_process::{
    CaptureError, CaptureLimits, CapturedOutput, JobOutcome, ProcessEnvironment, capture_from,
};
use probity_snapshot::GitId;
use probity_snapshot::git::{
    GitCommand, GitLayout, HeadTree, IndexListing, RefListing, TreeDiffEntry, diff_tree_command, git_command,
    ls_tree_command, parse_diff_tree, parse_ls_tree, refs,
};
use probity_storage::{CacheFile, CacheKind};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Seek, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

/// Time limit for one git query.
const GIT_TIMEOUT: Duration = Duration::from_mins(2);
const MAX_ANSWER_BYTES: usize = 1 << 30;

/// The id of a commit, a NUL, and the answer of `git ls-tree`.
const HEAD_CACHE: CacheKind = CacheKind { name: "head", version: 1 };

/// Attempts per command when the system is short of processes or memory. Retrying is safe because commands only read.
const MAX_GIT_ATTEMPTS: u32 = 5;
const FIRST_RETRY_INTERVAL: Duration = Duration::from_millis(20);

pub(crate) fn run_git(layout: &GitLayout, command: &GitCommand) -> Result<Vec<u8>, GitFailure> {
    match attempt(layout, command, None)? {
        captured if captured.succeeded() => Ok(captured.stdout),
        captured => Err(git_failure(command, &captured)),
    }
}

/// Runs a command with `lines` on standard input.
pub(crate) fn output_of_lines(
    layout: &GitLayout,
    command: &GitCommand,
    lines: &[String],
) -> Result<Vec<u8>, GitFailure> {
    output_of_file(layout, command, (lines.join("\n") + "\n").as_bytes())
}

/// Runs a command with `input` on standard input.
pub(crate) fn output_of_file(
    layout: &GitLayout,
    command: &GitCommand,
    input: &[u8],
) -> Result<Vec<u8>, GitFailure> {
    let questions = || -> io::Result<File> {
        let mut file = tempfile::tempfile()?;
        file.write_all(input)?;
        Ok(file)
    };
    let file = questions().map_err(|error| GitFailure::new(command, GitFailureCause::Io(error), b""))?;
    match attempt(layout, command, Some(&file))? {
        captured if captured.succeeded() => Ok(captured.stdout),
        captured => Err(git_failure(command, &captured)),
    }
}

pub(crate) fn git_failure(command: &GitCommand, captured: &CapturedOutput) -> GitFailure {
    let cause = match captured.outcome {
        JobOutcome::Exited(code) => GitFailureCause::Exit(code),
        JobOutcome::Signalled(signal) => GitFailureCause::Signal(signal),
        ref other => GitFailureCause::BadAnswer(format!("{other:?}")),
    };
    GitFailure::new(command, cause, &captured.stderr)
}

/// Runs a command and retries it after transient failures.
pub(crate) fn attempt(
    layout: &GitLayout,
    command: &GitCommand,
    input: Option<&File>,
) -> Result<CapturedOutput, GitFailure> {
    let mut pause = FIRST_RETRY_INTERVAL;
    for _ in 1..MAX_GIT_ATTEMPTS {
        let result = attempt_once(layout, command, input);
        let is_transient = match &result {
            Ok(captured) => !captured.succeeded() && git_failure(command, captured).is_transient(),
            Err(failure) => failure.is_transient(),
        };
        if !is_transient {
            return result;
        }
        sleep(pause);
        pause *= 4;
    }
    attempt_once(layout, command, input)
}

fn attempt_once(
    layout: &GitLayout,
    command: &GitCommand,
    input: Option<&File>,
) -> Result<CapturedOutput, GitFailure> {
    let environment =
        command.env.iter().fold(ProcessEnvironment::empty(), |all, (name, value)| all.with(name, value));
    let cannot = |error| GitFailure::new(command, GitFailureCause::Io(error), b"");
    let program = git_program(layout).map_err(|error| cannot(error.into()))?;
    let environment = environment.with("PATH", &program.search_path);
    let mut argv = command.argv.clone();
    if let Some(name) = argv.first_mut() {
        *name = program.path.into();
    }
    let limits = CaptureLimits { time: GIT_TIMEOUT, output_bytes: MAX_ANSWER_BYTES };
    let input =
        input.map(|mut file| file.rewind().and_then(|()| file.try_clone())).transpose().map_err(cannot)?;
    tracing::trace!(target: "probity::work", git_processes = 1_u64);
    capture_from(&argv, &environment, Path::new("/"), limits, input).map_err(|error| {
        let cause = match error {
            CaptureError::Io { source, .. } => GitFailureCause::Io(source),
            CaptureError::TimedOut { limit, .. } => GitFailureCause::TimedOut(limit),
            CaptureError::TooMuchOutput { limit_bytes, .. } => GitFailureCause::TooMuchOutput(limit_bytes),
            CaptureError::NoCommand => GitFailureCause::BadAnswer("there is no command".into()),
        };
        GitFailure::new(command, cause, b"")
    })
}

/// Returns the commit id of `HEAD`; `None` without git or without a commit.
pub fn head(workspace: &Workspace) -> Result<Option<String>, ServiceError> {
    let Some(git) = &workspace.git else { return Ok(None) };
    let RefListing::Read { head, refs } = refs(git) else {
        return find_commit(workspace, "HEAD");
    };
    let Some(head) = head else { return Ok(None) };
    let Some(name) = head.strip_prefix("ref: ") else { return Ok(Some(head)) };
    match refs.get(name).filter(|id| !id.starts_with("ref: ")) {
        Some(id) => Ok(Some(id.clone())),
        None => find_commit(workspace, "HEAD"),
    }
}

/// Resolves `revision` to a commit id; `None` if git does not know it.
pub fn find_commit(workspace: &Workspace, revision: &str) -> Result<Option<String>, ServiceError> {
    let Some(git) = &workspace.git else { return Ok(None) };
    Ok(find_commit_in(git, revision)?)
}

/// Resolves `revision` of a repository to a commit id; `None` if git does not know it.
pub(crate) fn find_commit_in(layout: &GitLayout, revision: &str) -> Result<Option<String>, GitFailure> {
    let name = format!("{revision}^{{commit}}");
    // With `--quiet`, exit code 1 means an unknown name; every other failure has another code.
    let command = git_command(layout, &["rev-parse", "--verify", "--quiet", "--end-of-options", &name]);
    let captured = attempt(layout, &command, None)?;
    match captured.outcome {
        JobOutcome::Exited(0) => {}
        JobOutcome::Exited(1) => return Ok(None),
        _ => return Err(git_failure(&command, &captured)),
    }
    let id = String::from_utf8(captured.stdout)
        .map_err(|_| GitFailure::bad_answer(&command, "the commit's id is not text"))?;
    Ok(Some(id.trim_end().to_owned()))
}

/// Resolves `revision` to a commit id and refuses an unknown name.
pub fn commit_id(workspace: &Workspace, revision: &str) -> Result<String, ServiceError> {
    if let Some(id) = find_commit(workspace, revision)? {
        return Ok(id);
    }
    let name = escape(revision.as_bytes());
    Err(match &workspace.git {
        None => no_repository(workspace, revision),
        Some(git) if git.is_shallow() => {
            let detail = format!("git knows no commit `{name}` here; this clone is shallow");
            ServiceError::refused(ReasonCode::GitHistoryMissing, detail)
        }
        Some(_) => unknown_commit(revision),
    })
}

/// Refuses a name that git does not know.
pub fn unknown_commit(revision: &str) -> ServiceError {
    let detail = format!("git knows no commit `{}` here", escape(revision.as_bytes()));
    ServiceError::refused(ReasonCode::InputMissing, detail)
        .with_next_step("check the spelling; `git fetch` gets branches and commits that only the remote has")
}

fn no_repository(workspace: &Workspace, revision: &str) -> ServiceError {
    let (root, name) = (workspace.root.display(), escape(revision.as_bytes()));
    ServiceError::Missing(format!("{root} is not a git repository, so it has no commit `{name}`"))
}

/// Returns the blob ids of commit `id` by path from the root.
pub fn tree_of(workspace: &Workspace, id: &str) -> Result<HeadTree, ServiceError> {
    listed_tree(workspace, id, &tree_listing(workspace, id, &[])?)
}

/// Returns the blob ids of some files at the root in commit `id`, as far as it has them. Git lists nothing else.
pub fn files_at_root(workspace: &Workspace, id: &str, names: &[&str]) -> Result<HeadTree, ServiceError> {
    listed_tree(workspace, id, &tree_listing(workspace, id, names)?)
}

/// Returns the answer of `git ls-tree` about a commit or tree: all its files, or those with these names at the root.
fn tree_listing(workspace: &Workspace, id: &str, names: &[&str]) -> Result<Vec<u8>, ServiceError> {
    let git = workspace.git.as_ref().ok_or_else(|| no_repository(workspace, id))?;
    let mut command = ls_tree_command(git, id);
    let below_top = workspace.below_top();
    let root = Path::new(OsStr::from_bytes(&below_top));
    // The root may lie in a directory whose name begins like an instruction to git.
    command.env.push(("GIT_LITERAL_PATHSPECS".into(), "1".into()));
    command.argv.extend(names.iter().map(|name| root.join(name).into_os_string()));
    run_git(git, &command).map_err(|failure| match failure.cause {
        // A treeless partial clone may have a commit without its tree.
        GitFailureCause::Exit(_) if git.is_partial() => ServiceError::refused(
            ReasonCode::GitObjectMissing,
            format!("{failure} (partial clone: `git ls-tree -r {id}` gets what is missing)"),
        ),
        _ => failure.into(),
    })
}

/// Reads the answer of `git ls-tree`, by path from the root.
fn listed_tree(workspace: &Workspace, id: &str, listed: &[u8]) -> Result<HeadTree, ServiceError> {
    let git = workspace.git.as_ref().ok_or_else(|| no_repository(workspace, id))?;
    let tree = parse_ls_tree(listed)
        .map_err(|error| GitFailure::bad_answer(&ls_tree_command(git, id), error.to_string()))?;
    let prefix = workspace.below_top();
    Ok(if prefix.is_empty() { tree } else { below_prefix(tree, &prefix) })
}

/// Returns the blob ids of `HEAD` by path from the root; empty without git or without a commit.
pub fn head_tree(workspace: &Workspace) -> Result<HeadTree, ServiceError> {
    match head(workspace)? {
        Some(id) => tree_of_head(workspace, &id),
        None => Ok(HeadTree::new()),
    }
}

/// Returns the blob ids of the commit `id` that is checked out. Git is asked once for each such commit: its answer is kept in
/// a cache.
pub fn tree_of_head(workspace: &Workspace, id: &str) -> Result<HeadTree, ServiceError> {
    let cache = CacheFile::new(workspace.state.head_cache(&workspace.root), HEAD_CACHE);
    let known = cache.decode(|body| {
        let listed = body.strip_prefix(id.as_bytes())?.strip_prefix(b"\0")?;
        listed_tree(workspace, id, listed).ok()
    });
    if let Some(known) = known {
        return Ok(known);
    }
    let listed = tree_listing(workspace, id, &[])?;
    let tree = listed_tree(workspace, id, &listed)?;
    workspace.state.while_no_run_is_open(|| {
        // Failing to write a cache only costs time.
        let _ = cache.write(0, |file| {
            file.write_all(id.as_bytes())?;
            file.write_all(b"\0")?;
            file.write_all(&listed)
        });
    });
    Ok(tree)
}

/// Returns the paths that the repository at `place` tracks, committed or staged, relative to the root of the outer
/// tree.
pub fn tracked_paths(layout: &GitLayout, place: &RepoPath) -> Result<BTreeSet<RepoPath>, GitFailure> {
    let staged = git_command(layout, &["ls-files", "-z", "--cached", "--full-name"]);
    let mut names = run_git(layout, &staged)?;
    // `ls-tree HEAD` fails in a repository without a commit.
    let has_commit = match refs(layout) {
        RefListing::Read { refs, .. } => !refs.is_empty(),
        RefListing::NotReadable { .. } => find_commit_in(layout, "HEAD")?.is_some(),
    };
    if has_commit {
        let committed = git_command(layout, &["ls-tree", "-r", "-z", "--name-only", "--full-tree", "HEAD"]);
        names.extend(run_git(layout, &committed)?);
    }
    let names = names.split(|&byte| byte == 0).filter(|name| !name.is_empty());
    let paths: Result<BTreeSet<RepoPath>, _> = names.map(|name| place.join(name)).collect();
    paths.map_err(|error| GitFailure::bad_answer(&staged, error.to_string()))
}

/// Returns the paths in the index, relative to the workspace root; empty without git.
pub fn staged_paths(workspace: &Workspace) -> Result<BTreeSet<RepoPath>, ServiceError> {
    let Some(git) = &workspace.git else { return Ok(BTreeSet::new()) };
    let command = git_command(git, &["ls-files", "-z", "--cached", "--full-name"]);
    let answer = run_git(git, &command)?;
    let names = answer.split(|&byte| byte == 0).filter(|name| !name.is_empty());
    let paths: Result<BTreeSet<RepoPath>, _> = names.map(RepoPath::parse).collect();
    let paths = paths.map_err(|error| GitFailure::bad_answer(&command, error.to_string()))?;
    let prefix = workspace.below_top();
    Ok(if prefix.is_empty() {
        paths
    } else {
        paths.iter().filter_map(|path| relative_to(path, &prefix)).collect()
    })
}

/// Returns everything that the index holds, also what a split index keeps in another file.
pub fn staged_entries(layout: &GitLayout) -> Result<IndexListing, GitFailure> {
    let command = git_command(layout, &["ls-files", "-z", "--stage", "--full-name"]);
    let answer = run_git(layout, &command)?;
    IndexListing::parse_ls_files(&answer).ok_or_else(|| GitFailure::bad_answer(&command, "it is no index"))
}

/// Returns mode and id of every file of a commit or tree, by path from the top of the working tree.
pub fn files_of(layout: &GitLayout, id: &GitId) -> Result<HeadTree, GitFailure> {
    let command = ls_tree_command(layout, &id.to_string());
    let listed = run_git(layout, &command)?;
    parse_ls_tree(&listed).map_err(|error| GitFailure::bad_answer(&command, error.to_string()))
}

/// Returns the commits that `tips` lead to and `known` do not, with their parents. Ids that lead to no commit are left
/// out.
pub fn new_commits(
    layout: &GitLayout,
    tips: &BTreeSet<GitId>,
    known: &BTreeSet<GitId>,
) -> Result<BTreeMap<GitId, Vec<GitId>>, GitFailure> {
    let command = git_command(layout, &["rev-list", "--parents", "--ignore-missing", "--stdin"]);
    let lines: Vec<String> =
        tips.iter().map(ToString::to_string).chain(known.iter().map(|id| format!("^{id}"))).collect();
    let answer = output_of_lines(layout, &command, &lines)?;
    let line_ids = |line: &[u8]| -> Option<(GitId, Vec<GitId>)> {
        let mut ids = line.split(|&byte| byte == b' ').map(GitId::from_hex);
        Some((ids.next()??, ids.collect::<Option<_>>()?))
    };
    let lines = answer.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    let commits: Option<BTreeMap<_, _>> = lines.map(line_ids).collect();
    commits.ok_or_else(|| GitFailure::bad_answer(&command, "it is no list of commits"))
}

/// Returns, for each pair, the paths where the commit differs from the other one; all its paths without another one.
pub fn commit_diffs(
    layout: &GitLayout,
    pairs: &[(&GitId, Option<&GitId>)],
) -> Result<Vec<Vec<TreeDiffEntry>>, GitFailure> {
    if pairs.is_empty() {
        return Ok(Vec::new());
    }
    let command = diff_tree_command(layout);
    let line = |(commit, other): &(&GitId, Option<&GitId>)| match other {
        Some(other) => format!("{commit} {other}"),
        None => commit.to_string(),
    };
    let answer = output_of_lines(layout, &command, &pairs.iter().map(line).collect::<Vec<_>>())?;
    let lists =
        parse_diff_tree(&answer).map_err(|error| GitFailure::bad_answer(&command, error.to_string()))?;
    if lists.len() == pairs.len() {
        Ok(lists)
    } else {
        Err(GitFailure::bad_answer(&command, "it does not answer every question"))
    }
}

/// Returns the best common ancestors of some commits; empty if there is none.
pub fn merge_bases(layout: &GitLayout, commits: &[GitId]) -> Result<Vec<GitId>, GitFailure> {
    let ids: Vec<String> = commits.iter().map(ToString::to_string).collect();
    let words: Vec<&str> =
        ["merge-base", "--all", "--octopus"].into_iter().chain(ids.iter().map(String::as_str)).collect();
    let command = git_command(layout, &words);
    let captured = attempt(layout, &command, None)?;
    // Exit code 1 means that there is none.
    if !matches!(captured.outcome, JobOutcome::Exited(0 | 1)) {
        return Err(git_failure(&command, &captured));
    }
    let lines = captured.stdout.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    let bases: Option<Vec<GitId>> = lines.map(GitId::from_hex).collect();
    bases.ok_or_else(|| GitFailure::bad_answer(&command, "it is no list of commits"))
}

/// Returns whether a reference or `HEAD` leads to a commit.
pub fn is_reachable(layout: &GitLayout, commit: &str) -> Result<bool, GitFailure> {
    let contains = ["for-each-ref", "--count=1", "--contains", commit];
    if !run_git(layout, &git_command(layout, &contains))?.is_empty() {
        return Ok(true);
    }
    let command = git_command(layout, &["merge-base", "--is-ancestor", commit, "HEAD"]);
    Ok(attempt(layout, &command, None)?.succeeded())
}

/// An object that a reference leads to, tags followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PeeledObject {
    /// `commit`, `tree` or `blob`; `missing` if it is not there.
    pub kind: String,
    pub id: Option<GitId>,
}

/// Returns the object that each id leads to.
pub fn peeled(layout: &GitLayout, ids: &[&GitId]) -> Result<Vec<PeeledObject>, GitFailure> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let command = git_command(layout, &["cat-file", "--batch-check=%(objectname) %(objecttype)"]);
    let lines: Vec<String> = ids.iter().map(|id| format!("{id}^{{}}")).collect();
    let answer = String::from_utf8_lossy(&output_of_lines(layout, &command, &lines)?).into_owned();
    let object = |line: &str| {
        let (id, kind) = line.rsplit_once(' ').unwrap_or(("", line));
        PeeledObject { kind: kind.to_owned(), id: GitId::from_hex(id.as_bytes()) }
    };
    let objects: Vec<PeeledObject> = answer.lines().map(object).collect();
    if objects.len() == ids.len() {
        Ok(objects)
    } else {
        Err(GitFailure::bad_answer(&command, "it does not answer every question"))
    }
}

/// Returns the entries below `prefix`, relative to it.
fn below_prefix(tree: HeadTree, prefix: &[u8]) -> HeadTree {
    tree.into_iter().filter_map(|(path, held)| Some((relative_to(&path, prefix)?, held))).collect()
}

/// Returns `path` relative to `prefix`, or `None` if it is outside.
fn relative_to(path: &RepoPath, prefix: &[u8]) -> Option<RepoPath> {
    RepoPath::parse(path.as_bytes().strip_prefix(prefix)?.strip_prefix(b"/")?).ok()
}

/// Returns the contents of the blobs this clone has, leaving out missing ones.
pub fn present_blobs(layout: &GitLayout, ids: &[String]) -> Result<BTreeMap<String, Vec<u8>>, GitFailure> {
    if ids.is_empty() {
        return Ok(BTreeMap::new());
    }
    let command = git_command(layout, &["cat-file", "--batch"]);
    let answer = output_of_lines(layout, &command, ids)?;
    parse_batch(&answer).ok_or_else(|| GitFailure::bad_answer(&command, "it is not a list of blobs"))
}

/// Returns the content of a blob; `None` if this clone lacks it.
pub fn blob(layout: &GitLayout, id: &str) -> Result<Option<Vec<u8>>, GitFailure> {
    Ok(present_blobs(layout, &[id.to_owned()])?.remove(id))
}

/// Returns the contents of committed files by blob id, using one process. Refuses and names the first blob this clone
/// lacks.
pub fn blobs(
    layout: &GitLayout,
    wanted: &[(&RepoPath, String)],
) -> Result<BTreeMap<String, Vec<u8>>, ServiceError> {
    let ids: Vec<String> = wanted.iter().map(|(_, id)| id.clone()).collect();
    let blobs = present_blobs(layout, &ids)?;
    match wanted.iter().filter(|(_, id)| !blobs.contains_key(id)).collect::<Vec<_>>()[..] {
        [] => Ok(blobs),
        [(path, id), ref more @ ..] => Err(missing_content_error(layout, path, id, more.len())),
    }
}

/// Builds the refusal for a blob this clone lacks.
pub fn missing_content_error(layout: &GitLayout, path: &RepoPath, id: &str, n_more: usize) -> ServiceError {
    let why = if layout.is_partial() { "partial clone" } else { "the repository is damaged" };
    let more = if n_more == 0 {
        String::new()
    } else {
        format!(" and the contents of {}", probity_core::text::count(n_more, "more file"))
    };
    let all = if n_more == 0 {
        ""
    } else {
        ", and `git diff COMMIT`, with the commit that is compared with, gets all"
    };
    let detail =
        format!("this clone lacks blob {id} of `{path}`{more} ({why}): `git cat-file -e {id}` gets it{all}");
    ServiceError::refused(ReasonCode::GitObjectMissing, detail)
}

/// Counts the commits reachable from `to` but not from `from`.
pub fn count_commits(layout: &GitLayout, from: &str, to: &str) -> Result<u64, GitFailure> {
    let range = format!("{from}..{to}");
    let command = git_command(layout, &["rev-list", "--count", "--end-of-options", &range]);
    let answer = run_git(layout, &command)?;
    let number = std::str::from_utf8(&answer).ok().and_then(|text| text.trim().parse().ok());
    number.ok_or_else(|| GitFailure::bad_answer(&command, "it is no number"))
}

/// Returns the ids that this clone lacks, using one process.
pub fn absent_blobs(layout: &GitLayout, ids: &[String]) -> Result<Vec<String>, GitFailure> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let command = git_command(layout, &["cat-file", "--batch-check"]);
    let answer = output_of_lines(layout, &command, ids)?;
    let lines = answer.split(|&byte| byte == b'\n');
    Ok(lines.filter_map(missing_id).collect())
}

/// Returns the id on a `<id> missing` line.
fn missing_id(line: &[u8]) -> Option<String> {
    Some(std::str::from_utf8(line).ok()?.strip_suffix(" missing")?.to_owned())
}

/// Parses `cat-file --batch` output: a sequence of `<id> blob <size>LF<content>LF` and `<id> missingLF`.
fn parse_batch(mut answer: &[u8]) -> Option<BTreeMap<String, Vec<u8>>> {
    let mut blobs = BTreeMap::new();
    while !answer.is_empty() {
        let line = answer.iter().position(|&byte| byte == b'\n')?;
        let (head, rest) = (&answer[..line], &answer[line + 1..]);
        if missing_id(head).is_some() {
            answer = rest;
            continue;
        }
        let mut fields = std::str::from_utf8(head).ok()?.split(' ');
        let (id, kind, size) = (fields.next()?, fields.next()?, fields.next()?.parse::<usize>().ok()?);
        let content = rest.get(..size).filter(|_| kind == "blob" && rest.get(size) == Some(&b'\n'))?;
        blobs.insert(id.to_owned(), content.to_vec());
        answer = &rest[size + 1..];
    }
    Some(blobs)
}

#[cfg(test)]
mod tests;
