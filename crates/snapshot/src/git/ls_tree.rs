//! The tree of a commit: the command that lists it, and the parser of its output.
//!
//! The command is data, for the caller to run with crate `process`. It starts nothing that the repository names: no
//! hooks, no file-system monitor, no fetching of missing objects, no configuration from outside the repository, and no
//! environment but its own.

use super::GitLayout;
use crate::git_object::GitId;
use probity_core::bytes::escape;
use probity_paths::RepoPath;
use std::collections::BTreeMap;
use std::ffi::OsString;

/// A git command, ready to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitCommand {
    pub argv: Vec<OsString>,
    /// The complete environment: nothing may be inherited.
    pub env: Vec<(OsString, OsString)>,
    /// The command as a person would type it, for messages: `git ls-tree 5fa51cf`.
    pub summary: String,
}

/// Mode and blob id by path. (The id of a submodule is that of a commit; its mode is 160000.)
pub type HeadTree = BTreeMap<RepoPath, (u32, GitId)>;

/// The mode of a submodule in a git tree.
pub const GITLINK_MODE: u32 = 0o160_000;

/// The output of `git ls-tree` could not be parsed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("record {at} of the answer of `git ls-tree` makes no sense")]
pub struct BadLsTree {
    /// Zero-based index of the record.
    pub at: usize,
}

/// Overrides of repository settings that must have no effect.
const NEUTRAL_GIT_SETTINGS: [&str; 5] = [
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    // Both are caches that anyone can write, and git trusts them about trees.
    "core.commitGraph=false",
    "core.multiPackIndex=false",
    "protocol.allow=never",
];

const GIT_ENVIRONMENT: [(&str, &str); 13] = [
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("GIT_ASKPASS", "/bin/false"),
    ("GIT_ATTR_NOSYSTEM", "1"),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    // Grafts and replace refs would show another history than the one that is pushed.
    ("GIT_GRAFT_FILE", "/dev/null"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_PAGER", "cat"),
    ("GIT_SSH_COMMAND", "/bin/false"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("LC_ALL", "C"),
];

/// Options that only shape the output; messages omit them.
const UNSHOWN_OPTIONS: [&str; 6] = ["-r", "-z", "--full-tree", "--end-of-options", "--verify", "--quiet"];

/// Returns the command that lists every file of a commit or tree, such as `HEAD`.
pub fn ls_tree_command(layout: &GitLayout, revision: &str) -> GitCommand {
    git_command(layout, &["ls-tree", "-r", "-z", "--full-tree", "--end-of-options", revision])
}

/// Builds a plumbing command that starts nothing that the repository names.
pub fn git_command(layout: &GitLayout, arguments: &[&str]) -> GitCommand {
    let mut argv: Vec<OsString> = vec!["git".into(), "--git-dir".into(), layout.git_dir.clone().into()];
    for setting in NEUTRAL_GIT_SETTINGS {
        argv.extend(["-c".into(), setting.into()]);
    }
    argv.extend(arguments.iter().map(OsString::from));
    let env = GIT_ENVIRONMENT.iter().map(|(name, value)| (name.into(), value.into())).collect();
    let shown = arguments.iter().filter(|word| !UNSHOWN_OPTIONS.contains(word));
    let summary = shown.fold("git".to_owned(), |all, word| format!("{all} {}", escape(word.as_bytes())));
    GitCommand { argv, env, summary }
}

/// Parses records of the form `<mode> <type> <id>TAB<path>NUL`.
pub fn parse_ls_tree(answer: &[u8]) -> Result<HeadTree, BadLsTree> {
    let Some(answer) = answer.strip_suffix(b"\0") else {
        return if answer.is_empty() { Ok(HeadTree::new()) } else { Err(BadLsTree { at: 0 }) };
    };
    let records = answer.split(|&byte| byte == 0).enumerate();
    let entries: Vec<_> =
        records.map(|(at, record)| parse_record(record).ok_or(BadLsTree { at })).collect::<Result<_, _>>()?;
    let n_entries = entries.len();
    // Git lists in the order of the names, and a map of sorted entries is built in one pass.
    let tree: HeadTree = entries.into_iter().collect();
    if tree.len() < n_entries {
        return Err(BadLsTree { at: tree.len() });
    }
    Ok(tree)
}

fn parse_record(record: &[u8]) -> Option<(RepoPath, (u32, GitId))> {
    let tab = record.iter().position(|&byte| byte == b'\t')?;
    let (head, path) = (&record[..tab], &record[tab + 1..]);
    let mut fields = head.split(|&byte| byte == b' ');
    let mode = u32::from_str_radix(std::str::from_utf8(fields.next()?).ok()?, 8).ok()?;
    fields.next().filter(|kind| matches!(*kind, b"blob" | b"commit"))?;
    let id = GitId::from_hex(fields.next()?)?;
    fields.next().is_none().then_some(())?;
    Some((RepoPath::parse(path).ok()?, (mode, id)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ID: &str = "ce013625030ba8dba906f756967f9e9ca394464a";

    #[test]
    fn reads_any_name() {
        let answer = format!("100644 blob {ID}\ta\n\tb\0160000 commit {ID}\tsub\0120000 blob {ID}\tl\0");
        let tree = parse_ls_tree(answer.as_bytes()).expect("an answer");
        let shown: Vec<_> = tree.iter().map(|(path, (mode, id))| format!("{path} {mode:o} {id}")).collect();
        assert_eq!(
            shown,
            [format!("a\\n\\tb 100644 {ID}"), format!("l 120000 {ID}"), format!("sub 160000 {ID}")]
        );
        assert_eq!(parse_ls_tree(b""), Ok(HeadTree::new()));
    }

    #[test]
    fn refuses_what_makes_no_sense() {
        for bad in ["x", "100644 blob", "9 blob {ID}\ta\0", "100644 tree {ID}\ta\0", "100644 blob 12\ta\0"] {
            assert!(parse_ls_tree(bad.replace("{ID}", ID).as_bytes()).is_err(), "{bad}");
        }
        let twice = format!("100644 blob {ID}\ta\0100644 blob {ID}\ta\0");
        assert_eq!(parse_ls_tree(twice.as_bytes()), Err(BadLsTree { at: 1 }));
        assert!(parse_ls_tree(format!("100644 blob {ID}\t../a\0").as_bytes()).is_err());
    }

    proptest! {
        #[test]
        fn no_answer_makes_it_panic(answer: Vec<u8>) {
            let _ = parse_ls_tree(&answer);
        }
    }
}
