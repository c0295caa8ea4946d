//! Before-images: the content that a run could destroy and nobody else keeps.
//!
//! Git holds what is committed. What was dirty or untracked when a run started is kept by us, so that an out-of-scope
//! change can be undone exactly. Whether git holds a content is decided by its blob id, which the snapshot computed from
//! the bytes: neither the index nor any stat information is asked.

use crate::{Fault, Workspace};
use exec::{Environment, Limits, capture_from};
use paths::{RepoPath, Scope};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{Seek, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use store::Objects;
use tree::git::{GitCommand, GitLayout, HeadTree, Refs, git_command, ls_tree_command, parse_ls_tree, refs};
use tree::{Entry, Kind, Snapshot};

/// A larger file is not kept; undoing a change to it needs the user's own copy.
pub(crate) const MAX_KEPT_BYTES: u64 = 256 * 1024 * 1024;

/// Asking git for a list or a blob takes this long at the most.
const PATIENCE: Duration = Duration::from_mins(2);
const MAX_LIST_BYTES: usize = 1 << 30;

/// Keeps what git does not hold; returns the paths that are in no safe place now, because they are too large or changed
/// while they were being copied. Build outputs are no part of D, so nothing there is ever undone.
pub(crate) fn keep(
    workspace: &Workspace,
    snapshot: &Snapshot,
    build_outputs: &Scope,
) -> Result<BTreeSet<RepoPath>, Fault> {
    let held = committed(workspace);
    let objects = workspace.state.before_images();
    let mut not_kept = BTreeSet::new();
    for entry in snapshot.entries() {
        if build_outputs.lets_in(entry.path()) || is_held(&held, &entry) {
            continue;
        }
        if !keep_entry(workspace, &objects, &entry, MAX_KEPT_BYTES)? {
            not_kept.insert(entry.path().clone());
        }
    }
    Ok(not_kept)
}

/// Whether git holds exactly this content under some path of HEAD.
fn is_held(held: &HeadTree, entry: &Entry<'_>) -> bool {
    let Some(id) = entry.git_id() else {
        return false;
    };
    held.get(entry.path()).is_some_and(|(_, committed)| *committed == id)
}

/// Keeps one entry of up to `limit` bytes, if there is anything to keep; says whether its content is safe.
fn keep_entry(
    workspace: &Workspace,
    objects: &Objects,
    entry: &Entry<'_>,
    limit: u64,
) -> Result<bool, Fault> {
    let Some(digest) = entry.digest() else {
        return Ok(true);
    };
    if objects.has(&digest, entry.size()) {
        return Ok(true);
    }
    let bytes = match entry.kind() {
        Kind::Symlink => entry.link_target().map(<[u8]>::to_vec),
        Kind::File if entry.size() <= limit => {
            // Whatever is read is held against the digest, so a swapped parent cannot smuggle anything in.
            std::fs::read(workspace.root.join(OsStr::from_bytes(entry.path().as_bytes()))).ok()
        }
        _ => None,
    };
    match bytes {
        // A file that changed since the snapshot is not the content that is wanted.
        Some(bytes) if canon::Digest::of(&bytes) == digest => {
            objects.put_unsynced(&bytes)?;
            Ok(true)
        }
        _ => Ok(false),
    }
}

/// The blob ids of HEAD by path from the root; empty without git, without commits, or if git does not answer: then
/// everything is kept.
pub(crate) fn committed(workspace: &Workspace) -> HeadTree {
    tree_of(workspace, "HEAD").unwrap_or_default()
}

/// The blob ids of a commit or tree by path from the root; `None` if git does not know it or does not answer.
pub(crate) fn tree_of(workspace: &Workspace, revision: &str) -> Option<HeadTree> {
    let git = workspace.git.as_ref()?;
    let tree = parse_ls_tree(&ask(&ls_tree_command(git, revision))?).ok()?;
    let prefix = workspace.below_top();
    Some(if prefix.is_empty() { tree } else { below_prefix(tree, &prefix) })
}

/// The id of the commit that `HEAD` stands for; `None` without git or without a commit.
pub(crate) fn head(workspace: &Workspace) -> Option<String> {
    let Refs::Read { head, refs } = refs(workspace.git.as_ref()?) else {
        return commit_id(workspace, "HEAD");
    };
    let head = head?;
    let Some(name) = head.strip_prefix("ref: ") else { return Some(head) };
    refs.get(name).filter(|id| !id.starts_with("ref: ")).cloned().or_else(|| commit_id(workspace, "HEAD"))
}

/// The id of the commit that `revision` stands for; `None` if git knows none.
pub(crate) fn commit_id(workspace: &Workspace, revision: &str) -> Option<String> {
    let revision = format!("{revision}^{{commit}}");
    let git = workspace.git.as_ref()?;
    let answer = ask(&git_command(git, &["rev-parse", "--verify", "--end-of-options", &revision]))?;
    Some(String::from_utf8(answer).ok()?.trim_end().to_owned())
}

/// The part of the tree below a folder, as seen from there.
fn below_prefix(tree: HeadTree, prefix: &[u8]) -> HeadTree {
    let inside =
        |path: RepoPath| RepoPath::parse(path.as_bytes().strip_prefix(prefix)?.strip_prefix(b"/")?).ok();
    tree.into_iter().filter_map(|(path, held)| Some((inside(path)?, held))).collect()
}

/// The content of a blob, if git holds it.
pub(crate) fn blob(layout: &GitLayout, id: &str) -> Option<Vec<u8>> {
    ask(&git_command(layout, &["cat-file", "blob", id]))
}

/// The contents of many blobs by their ids, from one process. A blob that git does not hold is a fault.
pub(crate) fn blobs(layout: &GitLayout, ids: &[String]) -> Result<BTreeMap<String, Vec<u8>>, Fault> {
    let unanswered = || Fault::Missing("git does not give the files of the commit".into());
    if ids.is_empty() {
        return Ok(BTreeMap::new());
    }
    let mut questions = tempfile::tempfile().map_err(Fault::system("cannot make a temporary file"))?;
    let asked = questions.write_all((ids.join("\n") + "\n").as_bytes()).and_then(|()| questions.rewind());
    asked.map_err(Fault::system("cannot write a temporary file"))?;
    let answer = ask_from(&git_command(layout, &["cat-file", "--batch"]), Some(questions));
    parse_batch(&answer.ok_or_else(unanswered)?).ok_or_else(unanswered)
}

/// Reads the answer of `cat-file --batch`: `<id> blob <size>LF<content>LF`, again and again.
fn parse_batch(mut answer: &[u8]) -> Option<BTreeMap<String, Vec<u8>>> {
    let mut blobs = BTreeMap::new();
    while !answer.is_empty() {
        let line = answer.iter().position(|&byte| byte == b'\n')?;
        let mut fields = std::str::from_utf8(&answer[..line]).ok()?.split(' ');
        let (id, kind, size) = (fields.next()?, fields.next()?, fields.next()?.parse::<usize>().ok()?);
        let rest = &answer[line + 1..];
        let content = rest.get(..size).filter(|_| kind == "blob" && rest.get(size) == Some(&b'\n'))?;
        blobs.insert(id.to_owned(), content.to_vec());
        answer = &rest[size + 1..];
    }
    Some(blobs)
}

/// Where to look for git: not below the tree or the git directory, where the judged may have put another (law 8).
fn search_path(argv: &[std::ffi::OsString]) -> std::ffi::OsString {
    let git_dir = argv.iter().skip_while(|word| *word != "--git-dir").nth(1).map(Path::new);
    let tree = git_dir.and_then(Path::parent);
    let is_ours = |folder: &PathBuf| {
        let real = folder.canonicalize().unwrap_or_else(|_| folder.clone());
        folder.is_absolute() && !tree.is_some_and(|tree| real.starts_with(tree))
    };
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::join_paths(std::env::split_paths(&path).filter(is_ours)).unwrap_or_default()
}

/// Runs a question to git; `None` if it has no answer.
fn ask(command: &GitCommand) -> Option<Vec<u8>> {
    ask_from(command, None)
}

/// The same with questions in a file.
fn ask_from(command: &GitCommand, questions: Option<File>) -> Option<Vec<u8>> {
    let environment =
        command.env.iter().fold(Environment::empty(), |all, (name, value)| all.with(name, value));
    let environment = environment.with("PATH", search_path(&command.argv));
    let limits = Limits { time: PATIENCE, output_bytes: MAX_LIST_BYTES };
    let captured = capture_from(&command.argv, &environment, Path::new("/"), limits, questions).ok()?;
    captured.succeeded().then_some(captured.stdout)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use tree::Options;

    #[test]
    fn a_file_is_kept_up_to_the_limit_and_a_larger_one_is_said_not_to_be() {
        let dir = tempfile::tempdir().expect("a directory");
        for size in [9, 10, 11] {
            fs::write(dir.path().join(size.to_string()), vec![b'x'; size]).expect("writes");
        }
        let workspace = Workspace::find(Some(dir.path()), dir.path()).expect("is found");
        let snapshot = Snapshot::take(dir.path(), &Options::default(), None).expect("is seen");
        let objects = workspace.state.before_images();
        for entry in snapshot.entries() {
            let is_kept = keep_entry(&workspace, &objects, &entry, 10).expect("keeps");
            let copy = entry.digest().and_then(|digest| objects.get(&digest).expect("reads"));
            assert_eq!(
                (is_kept, copy.is_some()),
                (entry.size() <= 10, entry.size() <= 10),
                "{}",
                entry.path()
            );
        }
    }

    #[test]
    fn what_changed_since_the_snapshot_is_not_kept_under_its_digest() {
        let dir = tempfile::tempdir().expect("a directory");
        fs::write(dir.path().join("a"), "then").expect("writes");
        let workspace = Workspace::find(Some(dir.path()), dir.path()).expect("is found");
        let snapshot = Snapshot::take(dir.path(), &Options::default(), None).expect("is seen");
        fs::write(dir.path().join("a"), "now!").expect("writes");
        let not_kept = keep(&workspace, &snapshot, &Scope::default()).expect("keeps");
        assert_eq!(not_kept.len(), 1);
        assert_eq!(workspace.state.before_images().list().expect("lists"), []);
    }
}
