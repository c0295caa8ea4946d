//! Differences between commits: the command that lists them, and the parser of its output.

use super::GitLayout;
use super::ls_tree::{GitCommand, git_command};
use crate::git_object::GitId;
use probity_paths::RepoPath;

/// Mode and blob id of a path on one side; `None` if it is not there.
pub type TreeSide = Option<(u32, GitId)>;

/// A path that differs between two trees of git.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeDiffEntry {
    pub path: RepoPath,
    pub before: TreeSide,
    pub after: TreeSide,
}

/// The output of `git diff-tree` could not be parsed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("record {at} of the answer of `git diff-tree` makes no sense")]
pub struct BadDiffTree {
    /// Zero-based index of the record.
    pub at: usize,
}

/// Returns the command that reads lines of `<commit> <other>` and lists the paths where the commit differs from the
/// other one; a line of one commit alone lists all its paths. No diff program, filter or rename detection takes part.
pub fn diff_tree_command(layout: &GitLayout) -> GitCommand {
    let shape = ["--raw", "--no-abbrev", "--no-renames", "--no-ext-diff", "--ignore-submodules=none"];
    let arguments = ["diff-tree", "--stdin", "--always", "--root", "-r", "-z"];
    git_command(layout, &[&arguments[..], &shape[..]].concat())
}

/// Parses one list per line of the question: `<commit>NUL`, then records of
/// `:<mode> <mode> <id> <id> <letter>NUL<path>NUL`.
pub fn parse_diff_tree(answer: &[u8]) -> Result<Vec<Vec<TreeDiffEntry>>, BadDiffTree> {
    let mut lists: Vec<Vec<TreeDiffEntry>> = Vec::new();
    let Some(answer) = answer.strip_suffix(b"\0") else {
        return if answer.is_empty() { Ok(lists) } else { Err(BadDiffTree { at: 0 }) };
    };
    let mut records = answer.split(|&byte| byte == 0).enumerate();
    while let Some((at, record)) = records.next() {
        let bad = BadDiffTree { at };
        if let Some(sides) = record.strip_prefix(b":") {
            let (before, after) = parse_sides(sides).ok_or(bad.clone())?;
            let (_, path) = records.next().ok_or(bad.clone())?;
            let path = RepoPath::parse(path).map_err(|_| bad.clone())?;
            lists.last_mut().ok_or(bad)?.push(TreeDiffEntry { path, before, after });
        } else {
            GitId::from_hex(record).ok_or(bad)?;
            lists.push(Vec::new());
        }
    }
    Ok(lists)
}

fn parse_sides(sides: &[u8]) -> Option<(TreeSide, TreeSide)> {
    let fields: Vec<&[u8]> = sides.split(|&byte| byte == b' ').collect();
    let [mode_before, mode_after, before, after, _letter] = fields[..] else { return None };
    let side = |mode: &[u8], id: &[u8]| {
        let mode = u32::from_str_radix(std::str::from_utf8(mode).ok()?, 8).ok()?;
        let id = GitId::from_hex(id)?;
        Some((mode != 0).then_some((mode, id)))
    };
    Some((side(mode_before, before)?, side(mode_after, after)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ID: &str = "ce013625030ba8dba906f756967f9e9ca394464a";
    const NULL: &str = "0000000000000000000000000000000000000000";

    #[test]
    fn reads_one_list_per_question() {
        let answer = format!(
            "{ID}\0:000000 100644 {NULL} {ID} A\0a\n b\0:100644 000000 {ID} {NULL} D\0c\0{ID}\0{ID}\0:100644 100755 {ID} {ID} M\0x\0"
        );
        let lists = parse_diff_tree(answer.as_bytes()).expect("an answer");
        let shown: Vec<Vec<String>> = lists
            .iter()
            .map(|list| {
                let mode = |side: &TreeSide| side.as_ref().map_or(0, |(mode, _)| *mode);
                let one =
                    |it: &TreeDiffEntry| format!("{} {:o} {:o}", it.path, mode(&it.before), mode(&it.after));
                list.iter().map(one).collect()
            })
            .collect();
        let none: Vec<String> = Vec::new();
        assert_eq!(
            shown,
            [
                vec!["a\\n b 0 100644".to_owned(), "c 100644 0".to_owned()],
                none,
                vec!["x 100644 100755".to_owned()]
            ]
        );
        assert_eq!(parse_diff_tree(b""), Ok(Vec::new()));
    }

    #[test]
    fn refuses_what_makes_no_sense() {
        for bad in [
            "x".to_owned(),
            format!(":000000 100644 {NULL} {ID} A\0a\0"),
            format!("{ID}\0:000000 100644 {NULL} {ID} A\0"),
            format!("{ID}\0:000000 100644 {NULL} A\0a\0"),
            format!("{ID}\0:000000 100644 {NULL} {ID} A\0../a\0"),
        ] {
            assert!(parse_diff_tree(bad.as_bytes()).is_err(), "{bad:?}");
        }
    }

    proptest! {
        #[test]
        fn no_answer_makes_it_panic(answer: Vec<u8>) {
            let _ = parse_diff_tree(&answer);
        }
    }
}
