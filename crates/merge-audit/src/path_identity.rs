//! Which paths of the four trees are one file: equal names, then equal contents, then similar ones.

use crate::hashes::hash_of;
use crate::trees::{
    BASE, FileGroup, FileVersion, FourTrees, OURS, PathVersions, RESULT, THEIRS, is_proven_by_ids,
};
use probity_line_diff::split_lines;
use probity_paths::RepoPath;
use std::collections::{BTreeMap, BTreeSet};

/// Files are one file if at least half of their lines are equal.
const MIN_SIMILARITY_PERCENT: usize = 50;
/// Of files with the same name in a directory of the same name, less is enough.
const MIN_NAMESAKE_PERCENT: usize = 15;
/// More comparisons of contents than this are not made: then only files of the same name are compared.
const MAX_COMPARED_PAIRS: usize = 4_000;

type RenameMap = BTreeMap<RepoPath, RepoPath>;

/// Returns the files whose fate the ids do not prove.
pub(crate) fn unproven_groups(trees: &FourTrees) -> Vec<FileGroup> {
    let unproven: Vec<&RepoPath> =
        trees.iter().filter(|(_, versions)| !is_proven_by_ids(versions)).map(|(path, _)| path).collect();
    if unproven.is_empty() {
        return Vec::new();
    }
    let has_absent = unproven.iter().any(|path| trees[*path].iter().any(Option::is_none));
    let renames: [RenameMap; 3] = if has_absent {
        [OURS, THEIRS, RESULT].map(|version| renames(trees, BASE, version))
    } else {
        Default::default()
    };
    // Files that a side added may have got another name in the result.
    let added_renames: [RenameMap; 2] = if has_absent {
        [OURS, THEIRS].map(|version| {
            let mut found = self::renames(trees, version, RESULT);
            found.retain(|path, _| trees[path][BASE].is_none());
            found
        })
    } else {
        Default::default()
    };
    let mut origins: BTreeMap<&RepoPath, &RepoPath> = BTreeMap::new();
    for map in &renames {
        origins.extend(map.iter().map(|(from, to)| (to, from)));
    }
    let mut seen: BTreeSet<RepoPath> = BTreeSet::new();
    let mut groups = Vec::new();
    for path in unproven {
        let first = origins.get(path).copied().unwrap_or(path).clone();
        if seen.contains(&first) || seen.contains(path) {
            continue;
        }
        let group = group_of(trees, &first, &renames, &added_renames);
        seen.extend(group.paths.iter().flatten().cloned());
        seen.insert(first);
        groups.push(group);
    }
    groups
}

fn group_of(
    trees: &FourTrees,
    first: &RepoPath,
    renames: &[RenameMap; 3],
    added_renames: &[RenameMap; 2],
) -> FileGroup {
    let mut paths: [Option<RepoPath>; 4] = Default::default();
    let is_in =
        |path: &RepoPath, version: usize| trees.get(path).is_some_and(|versions| versions[version].is_some());
    for version in [BASE, OURS, THEIRS, RESULT] {
        paths[version] = if is_in(first, version) {
            Some(first.clone())
        } else if version == BASE {
            None
        } else {
            renames[version - 1].get(first).cloned()
        };
    }
    if paths[BASE].is_none() && paths[RESULT].is_none() {
        paths[RESULT] = added_renames.iter().find_map(|map| map.get(first)).cloned();
    }
    let mut versions: PathVersions = Default::default();
    for (version, path) in paths.iter().enumerate() {
        versions[version] = path.as_ref().and_then(|path| trees[path][version].clone());
    }
    FileGroup { paths, versions }
}

/// Pairs files that are gone in the tree `to` with files that are new there.
fn renames(trees: &FourTrees, from: usize, to: usize) -> RenameMap {
    let of = |there: usize, absent: usize| -> Vec<(&RepoPath, &FileVersion)> {
        let paths = trees.iter().filter(|(_, versions)| versions[absent].is_none());
        paths.filter_map(|(path, versions)| Some((path, versions[there].as_ref()?))).collect()
    };
    let (mut gone, mut new) = (of(from, to), of(to, from));
    let mut found = RenameMap::new();
    take_equal_pairs(&mut gone, &mut new, &mut found);
    let compares_all = gone.len() * new.len() <= MAX_COMPARED_PAIRS;
    let mut scored: Vec<(usize, &RepoPath, &RepoPath)> = Vec::new();
    let gone_names: BTreeSet<&[u8]> = gone.iter().map(|(path, _)| path.file_name()).collect();
    let new_names: BTreeSet<&[u8]> = new.iter().map(|(path, _)| path.file_name()).collect();
    let counted = |path: &RepoPath, version: &FileVersion, others: &BTreeSet<&[u8]>| {
        if compares_all || others.contains(path.file_name()) { line_counts(version) } else { None }
    };
    let new_lines: Vec<Option<LineCounts>> =
        new.iter().map(|(path, version)| counted(path, version, &gone_names)).collect();
    for (path, version) in &gone {
        let Some(lines) = counted(path, version, &new_names) else { continue };
        for ((other, _), other_lines) in new.iter().zip(&new_lines) {
            let Some(other_lines) = other_lines else { continue };
            if compares_all || path.file_name() == other.file_name() {
                let score = similarity_percent(&lines, other_lines);
                let is_namesake = last_segments(path) == last_segments(other);
                let min_percent = if is_namesake { MIN_NAMESAKE_PERCENT } else { MIN_SIMILARITY_PERCENT };
                if score >= min_percent {
                    // Of equally similar files the one with the same name wins.
                    let bonus = usize::from(path.file_name() == other.file_name());
                    scored.push((score * 2 + bonus, path, other));
                }
            }
        }
    }
    scored.sort_by(|left, right| right.0.cmp(&left.0).then((left.1, left.2).cmp(&(right.1, right.2))));
    let mut taken: BTreeSet<&RepoPath> = BTreeSet::new();
    for (_, path, other) in scored {
        if !found.contains_key(path) && taken.insert(other) {
            found.insert(path.clone(), other.clone());
        }
    }
    found
}

fn last_segments(path: &RepoPath) -> (Option<Vec<u8>>, &[u8]) {
    (path.parent().map(|parent| parent.file_name().to_vec()), path.file_name())
}

type PathVersion<'a> = (&'a RepoPath, &'a FileVersion);

/// Pairs files of equal content, each at most once.
fn take_equal_pairs<'a>(
    gone: &mut Vec<PathVersion<'a>>,
    new: &mut Vec<PathVersion<'a>>,
    found: &mut RenameMap,
) {
    let mut by_id: BTreeMap<&str, Vec<&'a RepoPath>> = BTreeMap::new();
    for (path, version) in new.iter().rev() {
        by_id.entry(&version.id).or_default().push(path);
    }
    let mut taken: BTreeSet<&RepoPath> = BTreeSet::new();
    gone.retain(|(path, version)| {
        let Some(other) = by_id.get_mut(&*version.id).and_then(Vec::pop) else { return true };
        found.insert((*path).clone(), other.clone());
        taken.insert(other);
        false
    });
    new.retain(|(path, _)| !taken.contains(path));
}

/// The hashes of the lines of a file that say something, sorted.
struct LineCounts(Vec<u64>);

fn line_counts(version: &FileVersion) -> Option<LineCounts> {
    let lines = split_lines(version.bytes.as_deref()?).into_iter().map(<[u8]>::trim_ascii);
    let mut hashes: Vec<u64> = lines.filter(|line| line.len() > 2).map(hash_of).collect();
    hashes.sort_unstable();
    Some(LineCounts(hashes))
}

fn similarity_percent(left: &LineCounts, right: &LineCounts) -> usize {
    let (LineCounts(left), LineCounts(right)) = (left, right);
    let n_lines = left.len().max(right.len());
    if n_lines == 0 || left.len().min(right.len()) * 100 < n_lines * MIN_NAMESAKE_PERCENT {
        return 0;
    }
    let (mut left_at, mut right_at, mut n_common) = (0, 0, 0);
    while let (Some(one), Some(other)) = (left.get(left_at), right.get(right_at)) {
        n_common += usize::from(one == other);
        left_at += usize::from(one <= other);
        right_at += usize::from(one >= other);
    }
    n_common * 100 / n_lines
}
