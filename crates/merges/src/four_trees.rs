//! Reads which paths differ in four trees. Contents come later, and only where they matter.

use crate::question::{NamedMerge, ResultTree};
use probity_line_diff::{LineAlignment, ThreeWayTexts};
use probity_merge_audit::{BASE, FileVersion, FourTrees, OURS, PathVersions, RESULT, THEIRS};
use probity_paths::RepoPath;
use probity_snapshot::GitId;
use probity_snapshot::git::{GitLayout, HeadTree, TreeDiffEntry, TreeSide};
use probity_workspace::{ServiceError, git, git_history};
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::sync::Arc;

const FILE_MODE: u32 = 0o100_644;
const EXECUTABLE_MODE: u32 = 0o100_755;
const SYMLINK_MODE: u32 = 0o120_000;

pub(crate) fn version_of(side: &TreeSide) -> Option<FileVersion> {
    side.as_ref().map(|(mode, id)| FileVersion { mode: *mode, id: id.to_string().into(), bytes: None })
}

/// Returns the paths that are not the same in all four trees.
pub(crate) fn read(layout: &GitLayout, merge: &NamedMerge) -> Result<FourTrees, ServiceError> {
    match (&merge.bases[..], &merge.result) {
        ([base], ResultTree::Object(result))
            if is_commits(layout, &[base, &merge.ours, &merge.theirs, result])? =>
        {
            let pairs = [(&merge.ours, Some(base)), (&merge.theirs, Some(base)), (result, Some(base))];
            let lists = git::commit_diffs(layout, &pairs)?;
            Ok(from_diffs(&lists))
        }
        (bases, result) => {
            let ours = git::files_of(layout, &merge.ours)?;
            let theirs = git::files_of(layout, &merge.theirs)?;
            let (base, contents) = virtual_base(layout, bases, 0)?;
            match result {
                ResultTree::Object(result) => {
                    let mut trees = from_listings([&base, &ours, &theirs, &git::files_of(layout, result)?]);
                    give_contents(&mut trees, &contents);
                    Ok(trees)
                }
                ResultTree::Working => {
                    let mut trees = from_listings([&base, &ours, &theirs, &HeadTree::new()]);
                    give_contents(&mut trees, &contents);
                    read_working(layout, &mut trees)?;
                    Ok(trees)
                }
            }
        }
    }
}

fn is_commits(layout: &GitLayout, ids: &[&GitId]) -> Result<bool, ServiceError> {
    Ok(git::peeled(layout, ids)?.iter().all(|object| object.kind == "commit"))
}

/// Builds the trees from the differences of ours, theirs and the result to the base.
pub(crate) fn from_diffs(lists: &[Vec<TreeDiffEntry>]) -> FourTrees {
    let mut trees = FourTrees::new();
    let mut seen: BTreeMap<&RepoPath, [bool; 4]> = BTreeMap::new();
    for (list, version) in lists.iter().zip([OURS, THEIRS, RESULT]) {
        for entry in list {
            let versions = trees.entry(entry.path.clone()).or_default();
            versions[BASE] = version_of(&entry.before);
            versions[version] = version_of(&entry.after);
            seen.entry(&entry.path).or_default()[version] = true;
        }
    }
    for (path, versions) in &mut trees {
        let changed = seen.get(path).copied().unwrap_or_default();
        let base = versions[BASE].clone();
        for version in [OURS, THEIRS, RESULT].into_iter().filter(|&version| !changed[version]) {
            versions[version].clone_from(&base);
        }
    }
    trees
}

fn from_listings(listings: [&HeadTree; 4]) -> FourTrees {
    let paths: BTreeSet<&RepoPath> = listings.iter().flat_map(|tree| tree.keys()).collect();
    let mut trees = FourTrees::new();
    for path in paths {
        let entries = listings.map(|tree| tree.get(path));
        if entries.iter().any(|entry| *entry != entries[0]) {
            let versions: PathVersions = entries.map(|entry| version_of(&entry.cloned()));
            trees.insert(path.clone(), versions);
        }
    }
    trees
}

type BlobContents = BTreeMap<Arc<str>, Arc<[u8]>>;

fn give_contents(trees: &mut FourTrees, contents: &BlobContents) {
    for version in trees.values_mut().flatten().flatten() {
        if let Some(bytes) = contents.get(&version.id) {
            version.bytes = Some(Arc::clone(bytes));
        }
    }
}

/// Histories that cross more often than this are followed no further: the first of several bases holds.
const MAX_BASE_DEPTH: usize = 8;

/// Merges several bases into one tree, as git's own strategy does. Where they conflict, the lines of their own base hold,
/// which may be a merge of several, too.
fn virtual_base(
    layout: &GitLayout,
    bases: &[GitId],
    depth: usize,
) -> Result<(HeadTree, BlobContents), ServiceError> {
    let Some((first, rest)) = bases.split_first() else { return Ok(Default::default()) };
    let mut tree = git::files_of(layout, first)?;
    let mut contents = BlobContents::new();
    let rest = if depth < MAX_BASE_DEPTH { rest } else { &[] };
    for base in rest {
        let other = git::files_of(layout, base)?;
        let ancestors = git::merge_bases(layout, &[first.clone(), base.clone()])?;
        let (ancestor, below) = virtual_base(layout, &ancestors, depth + 1)?;
        contents.extend(below);
        let paths: BTreeSet<RepoPath> = tree.keys().chain(other.keys()).cloned().collect();
        for path in paths {
            let [left, right, below] = [&tree, &other, &ancestor].map(|tree| tree.get(&path).cloned());
            let merged = if left == right || right == below {
                left
            } else if left == below {
                right
            } else {
                merged_blob(layout, [below.clone(), left, right], &mut contents)?.or(below)
            };
            match merged {
                Some(entry) => tree.insert(path, entry),
                None => tree.remove(&path),
            };
        }
    }
    Ok((tree, contents))
}

/// Merges three blobs, with the lines of the first where the others contradict each other; `None` if one is missing.
fn merged_blob(
    layout: &GitLayout,
    sides: [Option<(u32, GitId)>; 3],
    contents: &mut BlobContents,
) -> Result<Option<(u32, GitId)>, ServiceError> {
    let [Some((_, base)), Some((mode, ours)), Some((_, theirs))] = sides else { return Ok(None) };
    let mut texts = Vec::new();
    for id in [&base, &ours, &theirs] {
        let known = contents.get(id.to_string().as_str()).map(|bytes| bytes.to_vec());
        let text = match known {
            Some(text) => Some(text),
            None => git::blob(layout, &id.to_string())?,
        };
        let Some(text) = text else { return Ok(None) };
        texts.push(text);
    }
    let three = ThreeWayTexts::new(&texts[0], &texts[1], &texts[2]);
    let (merged, _) = three.merge_or_base(LineAlignment::Anchored);
    let id = GitId::of_blob(layout.object_format, &merged);
    contents.insert(id.to_string().into(), merged.into());
    Ok(Some((mode, id)))
}

/// Reads the result from disk: the files that differ, and those that the index has besides.
fn read_working(layout: &GitLayout, trees: &mut FourTrees) -> Result<(), ServiceError> {
    let staged = git_history::index_paths(layout)?;
    for path in staged {
        trees.entry(path).or_default();
    }
    for (path, versions) in trees.iter_mut() {
        versions[RESULT] = working_version(layout, path);
    }
    // What was only in the index and is the same everywhere else does not matter.
    trees.retain(|_, versions| versions.iter().any(Option::is_some));
    Ok(())
}

fn working_version(layout: &GitLayout, path: &RepoPath) -> Option<FileVersion> {
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    let place = layout.root.join(std::ffi::OsStr::from_bytes(path.as_bytes()));
    let facts = place.symlink_metadata().ok()?;
    let (mode, bytes) = if facts.file_type().is_symlink() {
        (SYMLINK_MODE, std::fs::read_link(&place).ok()?.into_os_string().into_vec())
    } else if facts.is_file() && facts.size() < crate::contents::MAX_READ_BYTES {
        let is_executable = facts.permissions().mode() & 0o100 != 0;
        (if is_executable { EXECUTABLE_MODE } else { FILE_MODE }, std::fs::read(&place).ok()?)
    } else {
        return None;
    };
    let id = GitId::of_blob(layout.object_format, &bytes);
    Some(FileVersion { mode, id: id.to_string().into(), bytes: Some(bytes.into()) })
}
