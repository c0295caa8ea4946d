//! What git takes from an index beside its entries: the trees that it computed earlier (`TREE`), which the next commit holds
//! wherever they are called valid, and the places of the entries (`IEOT`, `EOIE`), by which several threads read a large
//! index. Git believes all of them; here each is held against the entries.

use super::index_entries::{IndexEntry, SPARSE_DIR_MODE};
use crate::git_object::{GitId, ObjectFormat};
use std::collections::BTreeMap;

/// Longer paths, and more levels, are in no tree that can be checked out.
const MAX_PATH_BYTES: usize = 4096;

/// Something in an index that its entries contradict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexContradiction {
    /// A directory of the tree, with a slash behind it, or an entry; empty for the whole index.
    pub path: Vec<u8>,
    /// The tree that the next commit would hold there.
    pub tree: Option<GitId>,
}

/// Where the entries of an index are in its file.
#[derive(Debug, Default)]
pub(super) struct EntryPlaces {
    pub(super) starts: Vec<usize>,
    pub(super) end: usize,
}

/// Splits the bytes behind the entries into extensions: name and content; `None` if they are none.
pub(super) fn extensions(mut bytes: &[u8]) -> Option<Vec<(&[u8], &[u8])>> {
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let (name, rest) = bytes.split_at_checked(4)?;
        let size = usize::try_from(u32::from_be_bytes(*rest.first_chunk()?)).ok()?;
        let (content, rest) = rest[4..].split_at_checked(size)?;
        found.push((name, content));
        bytes = rest;
    }
    Some(found)
}

/// Returns what the entries contradict.
pub(super) fn contradictions(
    entries: &BTreeMap<Vec<u8>, IndexEntry>,
    extensions: &[(&[u8], &[u8])],
    places: &EntryPlaces,
    format: ObjectFormat,
) -> Vec<IndexContradiction> {
    let whole = || IndexContradiction { path: Vec::new(), tree: None };
    let mut found = Vec::new();
    for (name, content) in extensions {
        match *name {
            b"TREE" => match claimed_trees(content, format, entries.len()) {
                Some(claims) if claims.is_empty() => {}
                Some(claims) => found.extend(false_claims(&claims, entries, format)),
                None => found.push(whole()),
            },
            b"IEOT" if !is_true_offset_table(content, places) => found.push(whole()),
            b"EOIE" if number(content, 0) != u32::try_from(places.end).ok() => found.push(whole()),
            _ => {}
        }
    }
    found
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|bytes| u32::from_be_bytes(*bytes))
}

/// Blocks of entries: the place of the first one, and how many there are.
fn is_true_offset_table(content: &[u8], places: &EntryPlaces) -> bool {
    let Some((_version, blocks)) = content.split_at_checked(4) else { return false };
    let mut next = 0_usize;
    for block in blocks.chunks(8) {
        let (Some(offset), Some(n)) = (number(block, 0), number(block, 4)) else { return false };
        if places.starts.get(next).copied() != usize::try_from(offset).ok() {
            return false;
        }
        next = next.saturating_add(usize::try_from(n).unwrap_or(usize::MAX));
    }
    next == places.starts.len()
}

/// A directory of which git believes to know the tree.
struct ClaimedTree {
    path: Vec<u8>,
    n_entries: usize,
    tree: GitId,
}

/// Parses nodes of the form `<name>NUL<entries> <subtrees>LF<id>`, parents first; a negative number of entries means that
/// the tree is not known, and there is no id. Returns `None` for anything that git does not write.
fn claimed_trees(mut bytes: &[u8], format: ObjectFormat, n_entries: usize) -> Option<Vec<ClaimedTree>> {
    let mut claims = Vec::new();
    // The length of the path of each open directory, and how many directories in it are to come.
    let mut open: Vec<(usize, usize)> = Vec::new();
    let mut path = Vec::new();
    let mut n_nodes = 0;
    while !bytes.is_empty() {
        n_nodes += 1;
        let end = bytes.iter().position(|&byte| byte == 0)?;
        let name = &bytes[..end];
        let rest = &bytes[end + 1..];
        let line_end = rest.iter().position(|&byte| byte == b'\n')?;
        let line = std::str::from_utf8(&rest[..line_end]).ok()?;
        let (count, children) = line.split_once(' ')?;
        let (count, children): (i64, usize) = (count.parse().ok()?, children.parse().ok()?);
        bytes = &rest[line_end + 1..];
        while open.last().is_some_and(|(_, left)| *left == 0) {
            open.pop();
        }
        match open.last_mut() {
            None if n_nodes == 1 && name.is_empty() => path.clear(),
            Some((len, left)) if !name.is_empty() && !name.contains(&b'/') => {
                *left -= 1;
                path.truncate(*len);
                path.extend_from_slice(name);
                path.push(b'/');
            }
            _ => return None,
        }
        // More directories than files are left over from files that are gone; there is no reason for many.
        if path.len() > MAX_PATH_BYTES || n_nodes > 2 * n_entries + 10_000 {
            return None;
        }
        if let Ok(n_entries) = usize::try_from(count) {
            let (id, rest) = bytes.split_at_checked(format.id_len())?;
            bytes = rest;
            claims.push(ClaimedTree { path: path.clone(), n_entries, tree: GitId::from_bytes(id)? });
        }
        open.push((path.len(), children));
    }
    Some(claims)
}

/// Returns the claims that differ from the trees of the entries.
fn false_claims(
    claims: &[ClaimedTree],
    entries: &BTreeMap<Vec<u8>, IndexEntry>,
    format: ObjectFormat,
) -> Vec<IndexContradiction> {
    let mut wanted: BTreeMap<&[u8], &ClaimedTree> = BTreeMap::new();
    let mut found = Vec::new();
    let told =
        |claim: &ClaimedTree| IndexContradiction { path: claim.path.clone(), tree: Some(claim.tree.clone()) };
    for claim in claims {
        if wanted.insert(&claim.path, claim).is_some() {
            found.push(told(claim));
        }
    }
    let mut check = |path: &[u8], tree: &GitId, n_entries: usize| {
        if let Some(claim) = wanted.remove(path).filter(|it| it.tree != *tree || it.n_entries != n_entries) {
            found.push(told(claim));
        }
    };
    for_each_tree(entries, format, &mut check);
    // Trees of directories that no entry is in.
    found.extend(wanted.into_values().map(told));
    found
}

/// A directory whose entries are being collected.
struct OpenTree {
    /// Length of its path, with the slash behind it.
    len: usize,
    content: Vec<u8>,
    n_entries: usize,
}

/// Calls `tell` with the path, the id and the number of entries of every directory. Entries are sorted by their whole
/// paths, which is the order of names in trees.
fn for_each_tree(
    entries: &BTreeMap<Vec<u8>, IndexEntry>,
    format: ObjectFormat,
    tell: &mut dyn FnMut(&[u8], &GitId, usize),
) {
    let mut open = vec![OpenTree { len: 0, content: Vec::new(), n_entries: 0 }];
    let mut last: &[u8] = &[];
    for (path, entry) in entries.iter().filter(|(path, _)| path.len() <= MAX_PATH_BYTES) {
        while open.last().is_some_and(|tree| path.get(..tree.len) != last.get(..tree.len)) {
            close(&mut open, last, format, tell);
        }
        let (name, is_dir) = match path.strip_suffix(b"/").filter(|_| entry.mode == SPARSE_DIR_MODE) {
            Some(name) => (name, true),
            None => (&path[..], false),
        };
        let from = open.last().map_or(0, |tree| tree.len);
        for at in (from..name.len()).filter(|&at| name[at] == b'/') {
            open.push(OpenTree { len: at + 1, content: Vec::new(), n_entries: 0 });
        }
        if is_dir {
            tell(path, &entry.id, 1);
        }
        if let Some(tree) = open.last_mut() {
            tree.n_entries += 1;
            add_row(&mut tree.content, entry.mode, &name[tree.len..], &entry.id);
        }
        last = path;
    }
    while !open.is_empty() {
        close(&mut open, last, format, tell);
    }
}

fn close(
    open: &mut Vec<OpenTree>,
    last: &[u8],
    format: ObjectFormat,
    tell: &mut dyn FnMut(&[u8], &GitId, usize),
) {
    let Some(tree) = open.pop() else { return };
    let id = GitId::of_tree(format, &tree.content);
    tell(&last[..tree.len], &id, tree.n_entries);
    if let Some(above) = open.last_mut() {
        above.n_entries += tree.n_entries;
        add_row(&mut above.content, SPARSE_DIR_MODE, &last[above.len..tree.len - 1], &id);
    }
}

fn add_row(content: &mut Vec<u8>, mode: u32, name: &[u8], id: &GitId) {
    match mode {
        0o100_644 => content.extend_from_slice(b"100644 "),
        SPARSE_DIR_MODE => content.extend_from_slice(b"40000 "),
        mode => content.extend_from_slice(format!("{mode:o} ").as_bytes()),
    }
    content.extend_from_slice(name);
    content.push(0);
    content.extend_from_slice(id.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn listing(paths: &[&str]) -> BTreeMap<Vec<u8>, IndexEntry> {
        let id = GitId::of_blob(ObjectFormat::Sha1, b"hello\n");
        paths.iter().map(|path| (path.as_bytes().to_vec(), IndexEntry::new(0o100_644, id.clone()))).collect()
    }

    fn trees(paths: &[&str]) -> BTreeMap<String, (String, usize)> {
        let mut found = BTreeMap::new();
        for_each_tree(&listing(paths), ObjectFormat::Sha1, &mut |path, id, n| {
            found.insert(String::from_utf8_lossy(path).into_owned(), (id.to_string(), n));
        });
        found
    }

    #[test]
    fn trees_are_those_that_git_writes() {
        // `git write-tree` says so.
        let found = trees(&["a", "d.x", "d/e/f", "d/g", "d0"]);
        assert_eq!(found["d/e/"], ("10731d0b170b98481a00bdca161e874e0ab93377".to_owned(), 1));
        assert_eq!(found["d/"], ("09497255e53644d78555563cd4ff89a5cb974ea6".to_owned(), 2));
        assert_eq!(found[""], ("1371dd13051888e1398d15b660b88e29e9286cb1".to_owned(), 5));
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes: Vec<u8>, starts: Vec<usize>, end: usize) {
            let places = EntryPlaces { starts, end };
            for name in [b"TREE", b"IEOT", b"EOIE"] {
                contradictions(&listing(&["a", "b/c"]), &[(name, &bytes)], &places, ObjectFormat::Sha1);
            }
            let _ = extensions(&bytes);
        }
    }
}
