//! The record of a tree when an intent starts, from which the finish computes everything that changed since.
//!
//! Most paths equal the commit, so the record holds only the commit's id and the paths that differ from it or that it
//! does not contain. The format has one NUL-terminated entry per path, so names may contain any byte:
//!
//! ```text
//! probity/dirty-snapshot/v1 <commit or -> <toml, json or -> <digest of the policy or -> NUL
//! <what> <digest or -> <path> NUL          what: added, modified, deleted, type_changed, aside, scope, output
//! <what> <digest> NUL                      what: refs, programs
//! ```

use probity_core::Digest;
use probity_intents::hygiene::{DirtyEntry, DirtyStatus};
use probity_paths::RepoPath;
use std::collections::{BTreeMap, BTreeSet};

const SCHEMA: &str = "probity/dirty-snapshot/v1";

/// The tree at a start, relative to its commit.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StartRecord {
    /// `None` if there was no commit.
    pub head: Option<String>,
    /// The policy at the start, as a stored object, and whether it is JSON. The judged agent may change the file later.
    pub policy: Option<(bool, Digest)>,
    /// The paths that differed from the commit.
    pub dirty: BTreeMap<RepoPath, DirtyEntry>,
    /// Paths outside git: ignored files and nested repositories.
    pub aside: BTreeMap<RepoPath, Option<Digest>>,
    /// The digests of the files in scope, so that the receipt can name both sides.
    pub scope: BTreeMap<RepoPath, Digest>,
    /// The output directories that were recognized by their marker.
    pub outputs: BTreeSet<RepoPath>,
    /// The git references, as a stored object; `None` in records that were made before they were kept.
    pub refs: Option<Digest>,
    /// The programs of the gates, as a stored object; `None` without gates, and in older records.
    pub programs: Option<Digest>,
}

impl StartRecord {
    pub fn to_bytes(&self) -> Vec<u8> {
        let policy = match self.policy {
            Some((is_json, digest)) => format!("{} {digest}", if is_json { "json" } else { "toml" }),
            None => "- -".to_owned(),
        };
        let head = self.head.as_deref().unwrap_or("-");
        let mut bytes = format!("{SCHEMA} {head} {policy}\0").into_bytes();
        for entry in self.dirty.values() {
            push(&mut bytes, status_word(entry.status), entry.digest, &entry.path);
        }
        for (path, digest) in &self.aside {
            push(&mut bytes, "aside", *digest, path);
        }
        for (path, digest) in &self.scope {
            push(&mut bytes, "scope", Some(*digest), path);
        }
        for path in &self.outputs {
            push(&mut bytes, "output", None, path);
        }
        for (what, digest) in [("refs", self.refs), ("programs", self.programs)] {
            bytes.extend(digest.map(|digest| format!("{what} {digest}\0").into_bytes()).unwrap_or_default());
        }
        bytes
    }

    /// Parses a record; `None` if the bytes are not one.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let mut lines = bytes.strip_suffix(b"\0")?.split(|&byte| byte == 0);
        let first = std::str::from_utf8(lines.next()?).ok()?.strip_prefix(SCHEMA)?.strip_prefix(' ')?;
        let (head, policy) = first.split_once(' ')?;
        let policy = match policy.split_once(' ')? {
            ("-", "-") => None,
            ("json", digest) => Some((true, digest.parse().ok()?)),
            ("toml", digest) => Some((false, digest.parse().ok()?)),
            _ => return None,
        };
        let mut record = Self { head: (head != "-").then(|| head.to_owned()), policy, ..Self::default() };
        for line in lines {
            let mut parts = line.splitn(3, |&byte| byte == b' ');
            let what = std::str::from_utf8(parts.next()?).ok()?;
            let digest = match parts.next()? {
                b"-" => None,
                digits => Some(std::str::from_utf8(digits).ok()?.parse::<Digest>().ok()?),
            };
            let Some(path) = parts.next() else {
                match what {
                    "refs" => record.refs = Some(digest?),
                    "programs" => record.programs = Some(digest?),
                    _ => return None,
                }
                continue;
            };
            let path = RepoPath::parse(path).ok()?;
            match what {
                "aside" => drop(record.aside.insert(path, digest)),
                "scope" => drop(record.scope.insert(path, digest?)),
                "output" => drop(record.outputs.insert(path)),
                _ => {
                    let status = parse_status(what)?;
                    record.dirty.insert(path.clone(), DirtyEntry { path, status, digest });
                }
            }
        }
        Some(record)
    }

    /// Returns whether a directory existed at the start and was no recognized output then. A marker that appeared in it
    /// since is not believed: it would hide changes to what was there.
    pub(super) fn had_plain_directory(&self, directory: &RepoPath) -> bool {
        let is_below = |path: &RepoPath| path.is_covered_by(directory.as_bytes());
        !self.outputs.contains(directory) && self.dirty.keys().chain(self.aside.keys()).any(is_below)
    }

    /// Returns the entry at `path`, if the record has one.
    pub(super) fn value(&self, path: &RepoPath) -> Option<DirtyEntry> {
        let aside = || {
            let digest = *self.aside.get(path)?;
            Some(DirtyEntry { path: path.clone(), status: DirtyStatus::Added, digest })
        };
        self.dirty.get(path).cloned().or_else(aside)
    }
}

fn push(bytes: &mut Vec<u8>, what: &str, digest: Option<Digest>, path: &RepoPath) {
    let digest = digest.map_or_else(|| "-".to_owned(), |digest| digest.to_string());
    bytes.extend_from_slice(format!("{what} {digest} ").as_bytes());
    bytes.extend_from_slice(path.as_bytes());
    bytes.push(0);
}

const STATUSES: [(DirtyStatus, &str); 4] = [
    (DirtyStatus::Added, "added"),
    (DirtyStatus::Modified, "modified"),
    (DirtyStatus::Deleted, "deleted"),
    (DirtyStatus::TypeChanged, "type_changed"),
];

fn status_word(status: DirtyStatus) -> &'static str {
    STATUSES.iter().find(|(known, _)| *known == status).map_or("modified", |(_, word)| word)
}

fn parse_status(word: &str) -> Option<DirtyStatus> {
    STATUSES.iter().find(|(_, known)| *known == word).map(|(status, _)| *status)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn records() -> impl Strategy<Value = StartRecord> {
        let name = proptest::collection::vec(1_u8..=255, 1..6);
        let item = (name, 0..5_usize, proptest::option::of(any::<u8>()));
        let objects = proptest::option::of(any::<u8>());
        (proptest::option::of("[0-9a-f]{40}"), proptest::collection::vec(item, 0..8), objects).prop_map(
            |(head, items, object)| {
                let object = object.map(|byte| Digest::of(&[byte]));
                let mut record = StartRecord {
                    head,
                    policy: Some((true, Digest::of(b"p"))),
                    refs: object,
                    programs: object,
                    ..StartRecord::default()
                };
                for (name, what, content) in items {
                    let Ok(path) = RepoPath::parse(&name) else { continue };
                    let digest = content.map(|byte| Digest::of(&[byte]));
                    match STATUSES.get(what) {
                        None if digest.is_none() => drop(record.outputs.insert(path)),
                        None => drop(record.aside.insert(path, digest)),
                        Some(&(status, _)) => {
                            record.dirty.insert(path.clone(), DirtyEntry { path, status, digest });
                        }
                    }
                }
                record
            },
        )
    }

    proptest! {
        #[test]
        fn reads_back_what_was_kept(record in records()) {
            prop_assert_eq!(StartRecord::parse(&record.to_bytes()), Some(record));
        }

        #[test]
        fn no_bytes_make_it_panic(bytes: Vec<u8>) {
            let _ = StartRecord::parse(&bytes);
        }
    }
}
