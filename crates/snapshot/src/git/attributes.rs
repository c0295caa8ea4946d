//! The git attributes that affect how a file is stored in a commit: `text`, `eol`, `ident`, `filter` and
//! `working-tree-encoding`, from the tree's `.gitattributes` files and from `info/attributes`.
//!
//! They are only read. No filter is ever started (law 8).

use super::ignore::IgnoreRule;
use super::{GitLayout, git_files};
use probity_paths::{RepoPath, Scope};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

const MAX_ATTRIBUTES_BYTES: u64 = 1024 * 1024;
const ATTRIBUTES_FILE: &str = ".gitattributes";
/// Macros may refer to macros; this bounds the recursion.
const MAX_MACRO_DEPTH: usize = 8;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum AttributeState {
    Set,
    Unset,
    Unspecified,
    Value(String),
}

/// The attributes of one file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FileAttributes {
    states: BTreeMap<String, AttributeState>,
}

impl FileAttributes {
    pub(super) fn get(&self, name: &str) -> Option<&AttributeState> {
        self.states.get(name).filter(|state| **state != AttributeState::Unspecified)
    }

    #[cfg(test)]
    pub(super) fn set(&mut self, name: &str, state: AttributeState) {
        self.states.insert(name.to_owned(), state);
    }

    fn value(&self, name: &str) -> Option<&str> {
        match self.get(name) {
            Some(AttributeState::Value(value)) => Some(value),
            _ => None,
        }
    }

    /// Returns the name of the filter that the file passes through, if any.
    pub fn filter(&self) -> Option<&str> {
        self.value("filter")
    }

    /// Returns true if these attributes convert line endings, idents or the encoding.
    pub fn converts(&self) -> bool {
        ["text", "crlf", "eol", "ident", "working-tree-encoding"].iter().any(|name| self.get(name).is_some())
    }

    /// Returns the encoding in the working tree, if it differs from that in commits.
    pub fn encoding(&self) -> Option<&str> {
        self.value("working-tree-encoding").filter(|name| !name.eq_ignore_ascii_case("utf-8"))
    }
}

/// The attributes of a working tree, read on demand.
#[derive(Debug)]
pub struct WorktreeAttributes {
    root: PathBuf,
    /// Lines by directory, for the directories asked for so far; the lines of `info/attributes` override them.
    by_dir: BTreeMap<Vec<u8>, Vec<AttributeLine>>,
    info: Vec<AttributeLine>,
    macros: BTreeMap<String, Vec<(String, AttributeState)>>,
}

#[derive(Debug)]
struct AttributeLine {
    pattern: Scope,
    states: Vec<(String, AttributeState)>,
}

impl WorktreeAttributes {
    pub fn new(layout: &GitLayout) -> Self {
        let off = |name: &str| (name.to_owned(), AttributeState::Unset);
        let binary = vec![off("diff"), off("merge"), off("text")];
        let mut attributes = Self {
            root: layout.root.clone(),
            by_dir: BTreeMap::new(),
            info: Vec::new(),
            macros: BTreeMap::from([("binary".to_owned(), binary)]),
        };
        attributes.info = attributes.read(b"", &layout.common_dir.join("info/attributes"));
        attributes
    }

    /// Returns the attributes of the file at `path`, given from the top of the working tree.
    pub fn of(&mut self, path: &RepoPath) -> FileAttributes {
        let bytes = path.as_bytes();
        let dirs: Vec<&[u8]> = std::iter::once(&bytes[..0])
            .chain((0..bytes.len()).filter(|&at| bytes[at] == b'/').map(|at| &bytes[..at]))
            .collect();
        for dir in &dirs {
            if !self.by_dir.contains_key(*dir) {
                let file = self.root.join(OsStr::from_bytes(dir)).join(ATTRIBUTES_FILE);
                let lines = self.read(dir, &file);
                self.by_dir.insert(dir.to_vec(), lines);
            }
        }
        let mut found = FileAttributes::default();
        let in_dirs = dirs.iter().filter_map(|dir| self.by_dir.get(*dir)).flatten();
        for line in in_dirs.chain(&self.info).filter(|line| line.pattern.contains(path)) {
            for (name, state) in &line.states {
                self.apply(&mut found, name, state, MAX_MACRO_DEPTH);
            }
        }
        found
    }

    fn apply(&self, found: &mut FileAttributes, name: &str, state: &AttributeState, depth: usize) {
        found.states.insert(name.to_owned(), state.clone());
        if *state == AttributeState::Set && depth > 0 {
            for (name, state) in self.macros.get(name).into_iter().flatten() {
                self.apply(found, name, state, depth - 1);
            }
        }
    }

    /// Reads one file whose patterns are relative to `dir`. Malformed lines are ignored.
    fn read(&mut self, dir: &[u8], file: &Path) -> Vec<AttributeLine> {
        let text = git_files::read(file, MAX_ATTRIBUTES_BYTES).unwrap_or_default();
        let mut lines = Vec::new();
        for line in text.split(|&byte| byte == b'\n') {
            let line = line.trim_ascii();
            if line.is_empty() || line.starts_with(b"#") {
                continue;
            }
            let Some((pattern, states)) = split_pattern(line) else { continue };
            let states: Vec<(String, AttributeState)> =
                String::from_utf8_lossy(states).split_ascii_whitespace().map(parse_state).collect();
            if let Some(name) = pattern.strip_prefix(b"[attr]") {
                // Git accepts macro definitions only at the top.
                if dir.is_empty() {
                    self.macros.insert(String::from_utf8_lossy(name).into_owned(), states);
                }
            } else if let Some(pattern) = scope_of(dir, &pattern) {
                lines.push(AttributeLine { pattern, states });
            }
        }
        lines
    }
}

/// Splits a line into its pattern and the rest. A pattern in double quotes may contain spaces and escapes.
fn split_pattern(line: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let Some(quoted) = line.strip_prefix(b"\"") else {
        let end = line.iter().position(u8::is_ascii_whitespace).unwrap_or(line.len());
        return Some((line[..end].to_vec(), &line[end..]));
    };
    let (mut pattern, mut at) = (Vec::new(), 0);
    loop {
        match *quoted.get(at)? {
            b'"' => return Some((pattern, &quoted[at + 1..])),
            b'\\' => {
                at += 1;
                pattern.push(match *quoted.get(at)? {
                    b't' => b'\t',
                    b'n' => b'\n',
                    digit @ b'0'..=b'3' => {
                        let octal = quoted.get(at + 1..at + 3)?;
                        at += 2;
                        let digits = std::str::from_utf8(octal).ok()?;
                        (digit - b'0') << 6 | u8::from_str_radix(digits, 8).ok()?
                    }
                    other => other,
                });
            }
            byte => pattern.push(byte),
        }
        at += 1;
    }
}

/// Converts a pattern to a scope. Negative patterns are not allowed here, and one for directories matches no file.
fn scope_of(dir: &[u8], pattern: &[u8]) -> Option<Scope> {
    if pattern.starts_with(b"!") {
        return None;
    }
    let rule = IgnoreRule::parse(dir, pattern).filter(|rule| !rule.dirs_only)?;
    Scope::parse(&[&rule.pattern]).ok()
}

fn parse_state(word: &str) -> (String, AttributeState) {
    match (word.strip_prefix('-'), word.strip_prefix('!'), word.split_once('=')) {
        (Some(name), ..) => (name.to_owned(), AttributeState::Unset),
        (_, Some(name), _) => (name.to_owned(), AttributeState::Unspecified),
        (_, _, Some((name, value))) => (name.to_owned(), AttributeState::Value(value.to_owned())),
        _ => (word.to_owned(), AttributeState::Set),
    }
}
