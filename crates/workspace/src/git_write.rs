//! Writes objects and one new branch. Nothing that exists is changed: no index, no working tree, no existing reference.

use crate::ServiceError;
use crate::git::{output_of_file, run_git};
use crate::git_failure::GitFailure;
use probity_paths::RepoPath;
use probity_snapshot::GitId;
use probity_snapshot::git::{GitCommand, GitLayout, git_command};

/// A path of a new tree: mode and blob, or removed.
pub type TreeChange = (RepoPath, Option<(u32, GitId)>);

/// Who writes a commit, and what it says.
#[derive(Debug, Clone)]
pub struct CommitText {
    pub author: String,
    pub email: String,
    pub message: String,
}

fn id_of(command: &GitCommand, answer: &[u8]) -> Result<GitId, GitFailure> {
    GitId::from_hex(answer.trim_ascii_end())
        .ok_or_else(|| GitFailure::bad_answer(command, "it is no object id"))
}

/// Stores a blob as it is: no filter takes part.
pub fn write_blob(layout: &GitLayout, bytes: &[u8]) -> Result<GitId, GitFailure> {
    let command = git_command(layout, &["hash-object", "-w", "--no-filters", "--stdin"]);
    let answer = output_of_file(layout, &command, bytes)?;
    id_of(&command, &answer)
}

/// Stores the tree of a commit with some paths changed, through an index of its own.
pub fn write_tree(layout: &GitLayout, commit: &GitId, changes: &[TreeChange]) -> Result<GitId, ServiceError> {
    let directory = tempfile::tempdir().map_err(ServiceError::system("cannot make a temporary directory"))?;
    let index = directory.path().join("index");
    let with_index = |words: &[&str]| {
        let mut command = git_command(layout, words);
        command.env.push(("GIT_INDEX_FILE".into(), index.clone().into()));
        command
    };
    run_git(layout, &with_index(&["read-tree", &commit.to_string()]))?;
    let mut lines = Vec::new();
    for (path, entry) in changes {
        // The form `<mode> SP <id> TAB <path>`; mode 0 removes.
        let line = match entry {
            Some((mode, id)) => format!("{mode:o} {id}\t"),
            None => format!("0 {}\t", "0".repeat(layout.object_format.id_len() * 2)),
        };
        lines.extend(line.into_bytes());
        lines.extend(path.as_bytes());
        lines.push(0);
    }
    output_of_file(layout, &with_index(&["update-index", "-z", "--index-info"]), &lines)?;
    let command = with_index(&["write-tree"]);
    let answer = run_git(layout, &command)?;
    Ok(id_of(&command, &answer)?)
}

/// Stores a commit with one parent.
pub fn write_commit(
    layout: &GitLayout,
    tree: &GitId,
    parent: &GitId,
    text: &CommitText,
) -> Result<GitId, GitFailure> {
    let (tree, parent) = (tree.to_string(), parent.to_string());
    let mut command = git_command(layout, &["commit-tree", &tree, "-p", &parent]);
    for (name, value) in [("NAME", &text.author), ("EMAIL", &text.email)] {
        for role in ["AUTHOR", "COMMITTER"] {
            command.env.push((format!("GIT_{role}_{name}").into(), value.into()));
        }
    }
    let answer = output_of_file(layout, &command, text.message.as_bytes())?;
    id_of(&command, &answer)
}

/// Makes a branch; fails if there is one of this name.
pub fn create_branch(layout: &GitLayout, name: &str, commit: &GitId) -> Result<(), GitFailure> {
    let (reference, id) = (format!("refs/heads/{name}"), commit.to_string());
    let none = "0".repeat(layout.object_format.id_len() * 2);
    run_git(layout, &git_command(layout, &["update-ref", &reference, &id, &none]))?;
    Ok(())
}
