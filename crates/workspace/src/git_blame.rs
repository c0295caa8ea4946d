//! Which commit brought a line, by git's own history: through renames, and through moves within a file.

use crate::GitFailure;
use crate::git::run_git;
use probity_paths::RepoPath;
use probity_snapshot::git::{GitLayout, git_command};

/// Where a line of a commit comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlamedLine {
    pub commit: String,
    pub author: String,
    /// The first line of the message.
    pub subject: String,
    /// The path that the line had then, from the top of the working tree.
    pub path: RepoPath,
    /// The number that it had then, from 1.
    pub line: usize,
}

/// Asks which commit brought line `line` of `path` (from the top of the working tree) in `commit`. `None` if git does not
/// know the line.
pub fn blame_line(
    layout: &GitLayout,
    commit: &str,
    path: &RepoPath,
    line: usize,
) -> Result<Option<BlamedLine>, GitFailure> {
    // Git takes paths as text here; another name has no answer rather than a wrong one.
    let Ok(name) = std::str::from_utf8(path.as_bytes()) else { return Ok(None) };
    let range = format!("{line},{line}");
    // No commit is left out by a setting of the repository, and no program of it converts a file.
    let words = [
        "blame",
        "--porcelain",
        "-M",
        "--no-textconv",
        "--ignore-revs-file=",
        "-L",
        &range,
        commit,
        "--",
        name,
    ];
    let command = git_command(layout, &words);
    let answer = run_git(layout, &command)?;
    Ok(parse_porcelain(&answer))
}

fn parse_porcelain(answer: &[u8]) -> Option<BlamedLine> {
    let mut lines = answer.split(|byte| *byte == b'\n');
    let head = String::from_utf8_lossy(lines.next()?).into_owned();
    let mut words = head.split(' ');
    let commit =
        words.next().filter(|id| id.len() >= 40 && id.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
    let line = words.next()?.parse().ok()?;
    let (mut author, mut subject, mut path) = (String::new(), String::new(), None);
    for fact in lines.take_while(|fact| !fact.starts_with(b"\t")) {
        if let Some(name) = fact.strip_prefix(b"author ") {
            author = String::from_utf8_lossy(name).into_owned();
        } else if let Some(text) = fact.strip_prefix(b"summary ") {
            subject = String::from_utf8_lossy(text).into_owned();
        } else if let Some(name) = fact.strip_prefix(b"filename ") {
            path = RepoPath::parse(name).ok();
        }
    }
    Some(BlamedLine { commit: commit.to_owned(), author, subject, path: path?, line })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_of_git_is_read() {
        let id = "0123456789abcdef0123456789abcdef01234567";
        let text = format!(
            "{id} 7 9 1\nauthor Ann Lee\nauthor-mail <a@x>\nsummary Add a limit\nprevious x y\nfilename src/old.rs\n\tlet limit = 3;\n"
        );
        let found = parse_porcelain(text.as_bytes()).expect("is read");
        assert_eq!((found.commit.as_str(), found.author.as_str(), found.line), (id, "Ann Lee", 7));
        assert_eq!((found.subject.as_str(), found.path.to_string().as_str()), ("Add a limit", "src/old.rs"));
        assert_eq!(parse_porcelain(b"fatal: no such path\n"), None);
    }
}
