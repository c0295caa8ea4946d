//! Deceptive names: those that another system takes for `.git`, and those that a case-folding file system considers
//! equal.

use crate::entry_record::{DirectoryRecord, EntryRecord, SnapshotEntryKind};
use unicode_normalization::UnicodeNormalization;

/// Returns true if another system may take `name` for `.git`: Windows ignores case and trailing dots and spaces, cuts
/// at a colon, splits at a backslash and knows `git~1`; macOS ignores case and some invisible characters. The name
/// `.git` itself does not count.
pub(crate) fn passes_for_git(name: &[u8]) -> bool {
    let may = |byte: &u8| matches!(byte, b'g' | b'G');
    name != b".git"
        && name.len() >= 4
        && name.iter().any(may)
        && (name.split(|&byte| byte == b'\\').any(windows_reads_git) || mac_reads_git(name))
}

fn windows_reads_git(part: &[u8]) -> bool {
    let stem = part.split(|&byte| byte == b':').next().unwrap_or(part);
    let end = stem.iter().rposition(|byte| !matches!(byte, b'.' | b' ')).map_or(0, |last| last + 1);
    [&b".git"[..], b"git~1"].iter().any(|git| stem[..end].eq_ignore_ascii_case(git))
}

fn mac_reads_git(name: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(name) else { return false };
    let mut seen = text.chars().filter(|&character| !is_ignored_by_mac(character));
    ".git".chars().all(|wanted| seen.next().is_some_and(|next| next.eq_ignore_ascii_case(&wanted)))
        && seen.next().is_none()
}

fn is_ignored_by_mac(character: char) -> bool {
    matches!(character,
        '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}')
}

/// Returns the pairs of children that are one object under two spellings of a name, which only happens on a file system
/// that folds names. Hard links also give one object two names, but their link count shows it.
pub(crate) fn name_collisions(dir: &DirectoryRecord) -> Vec<(usize, usize)> {
    let mut objects: Vec<(u64, usize)> = (0..dir.records.len())
        .filter(|&place| is_single(&dir.records[place]))
        .map(|place| (dir.records[place].facts.inode, place))
        .collect();
    objects.sort_unstable();
    let spelling = |place: usize| case_folded(dir.name(&dir.records[place]));
    let twins = objects.windows(2).filter(|pair| pair[0].0 == pair[1].0).map(|pair| (pair[0].1, pair[1].1));
    twins.filter(|&(one, other)| spelling(one) == spelling(other)).collect()
}

/// Returns true if the object can have only one name. An inode of 0 means that it could not be seen.
fn is_single(record: &EntryRecord) -> bool {
    record.facts.inode != 0 && (record.facts.links == 1 || record.held.kind() == SnapshotEntryKind::Directory)
}

/// Returns the form in which folding file systems compare names.
fn case_folded(name: &[u8]) -> Vec<u8> {
    match std::str::from_utf8(name) {
        Ok(text) => text.nfc().flat_map(char::to_lowercase).nfc().collect::<String>().into_bytes(),
        Err(_) => name.to_ascii_lowercase(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry_record::{EntryContent, EntryFacts};

    #[test]
    fn knows_what_other_systems_take_for_git() {
        let names = [
            ".GIT",
            ".Git",
            ".git ",
            ".git.",
            ".git. .",
            "git~1",
            "GIT~1",
            "git~1 .",
            ".git::$INDEX_ALLOCATION",
            ".g\u{200c}it",
            "\u{feff}.GIT",
            "a\\.git",
            ".git\\config",
            "..\\.git\\hooks",
        ];
        for name in names {
            assert!(passes_for_git(name.as_bytes()), "{name:?}");
        }
    }

    #[test]
    fn leaves_honest_names_alone() {
        for name in
            [".git", ".gitignore", ".github", "git", "git~2", ".gi", "x.git", ".git_", " .git", "a\\b"]
        {
            assert!(!passes_for_git(name.as_bytes()), "{name:?}");
        }
        assert!(!passes_for_git(b".git\xff"));
    }

    /// Builds a directory with children of these names, inodes and link counts.
    fn dir(children: &[(&str, u64, u32)]) -> DirectoryRecord {
        let mut names = Vec::new();
        let record = |&(name, inode, links): &(&str, u64, u32)| {
            let start = u32::try_from(names.len()).expect("short");
            names.extend_from_slice(name.as_bytes());
            let facts =
                EntryFacts { device: 1, inode, size: 0, mtime_ns: 0, ctime_ns: 0, links, mode: 0o644 };
            let len = u16::try_from(name.len()).expect("short");
            EntryRecord { name: (start, len), facts, held: EntryContent::File(None) }
        };
        let records = children.iter().map(record).collect();
        DirectoryRecord {
            parent: (0, 0),
            records,
            names: names.into(),
            targets: Box::default(),
            git_ids: Box::default(),
            hash: probity_core::Digest::of(b""),
        }
    }

    #[test]
    fn one_object_under_two_spellings_is_a_collision() {
        assert_eq!(name_collisions(&dir(&[("README", 7, 1), ("Readme", 7, 1), ("x", 8, 1)])), [(0, 1)]);
        assert_eq!(name_collisions(&dir(&[("e\u{301}", 7, 1), ("\u{e9}", 7, 1)])), [(0, 1)]);
    }

    #[test]
    fn two_objects_and_honest_hard_links_are_none() {
        assert_eq!(name_collisions(&dir(&[("README", 7, 1), ("Readme", 8, 1)])), []);
        assert_eq!(name_collisions(&dir(&[("README", 7, 2), ("Readme", 7, 2)])), []);
        assert_eq!(name_collisions(&dir(&[("a", 7, 1), ("b", 7, 1)])), []);
        assert_eq!(name_collisions(&dir(&[("A", 0, 1), ("a", 0, 1)])), []);
    }

    #[test]
    fn folds_case_and_unicode_form() {
        assert_eq!(
            case_folded("Stra\u{df}e/\u{c9}".as_bytes()),
            case_folded("stra\u{df}e/e\u{301}".as_bytes())
        );
        assert_eq!(case_folded(b"A\xff"), b"a\xff");
        assert_ne!(case_folded(b"a"), case_folded(b"b"));
    }
}
