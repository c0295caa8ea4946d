//! The map of the board: the tree as one horizontal ground, directories in order, the same for every change.
//!
//! Places are ten-thousandths of the width. A directory that a change touches gets a share by the square root of its
//! files; all others together are a sliver.

use probity_api::review::BoardArea;
use probity_paths::{RepoPath, Scope};
use std::collections::{BTreeMap, BTreeSet};

/// The whole width.
pub(crate) const FULL_WIDTH: u32 = 10_000;
/// The least width of a directory that somebody touches.
const MIN_AREA_WIDTH: u32 = 500;
/// The width of everything that nobody touches.
const SLIVER_WIDTH: u32 = 300;
/// More directories than this are joined in the last one.
const MAX_AREAS: usize = 16;
/// The least width of a declared scope.
const MIN_LOT_WIDTH: u32 = 90;
/// A directory with more than this share of all files, in percent, is shown by its own directories.
const OPENED_SHARE_PERCENT: usize = 40;

/// The ground with the files on it.
pub(crate) struct BoardMap {
    pub(crate) areas: Vec<BoardArea>,
    /// The files of each area, sorted.
    files: Vec<Vec<RepoPath>>,
    by_name: BTreeMap<String, usize>,
    opened: BTreeSet<Vec<u8>>,
}

impl BoardMap {
    /// Draws the ground of a tree, wide where `touched` paths are.
    pub(crate) fn new(files: &[RepoPath], touched: &[Vec<u8>]) -> Self {
        let opened = opened_directories(files);
        let mut groups: BTreeMap<Vec<u8>, Vec<RepoPath>> = BTreeMap::new();
        for file in files {
            groups.entry(directory_of(file.as_bytes(), &opened)).or_default().push(file.clone());
        }
        // A name of a directory stands for what is in it.
        let is_directory =
            |path: &[u8]| files.iter().any(|file| file.as_bytes() != path && file.is_covered_by(path));
        let below =
            |path: &Vec<u8>| if is_directory(path) { [path, b"/".as_slice()].concat() } else { path.clone() };
        let wanted: BTreeSet<Vec<u8>> =
            touched.iter().map(|path| directory_of(&below(path), &opened)).collect();
        for name in &wanted {
            groups.entry(name.clone()).or_default();
        }
        let (mut shown, mut rest) = (Vec::new(), Vec::new());
        for (name, files) in groups {
            let is_shown = wanted.contains(&name) || wanted.is_empty();
            if is_shown && shown.len() < MAX_AREAS { shown.push((name, files)) } else { rest.extend(files) }
        }
        let weight = |n: usize| 1 + u32::try_from(n.isqrt()).unwrap_or(FULL_WIDTH);
        let total: u32 = shown.iter().map(|(_, files)| weight(files.len())).sum::<u32>().max(1);
        let sliver = if rest.is_empty() { 0 } else { SLIVER_WIDTH };
        let n_shown = u32::try_from(shown.len()).unwrap_or(1);
        let spare = FULL_WIDTH.saturating_sub(sliver + n_shown * MIN_AREA_WIDTH);
        let mut map = Self { areas: Vec::new(), files: Vec::new(), by_name: BTreeMap::new(), opened };
        let mut start = sliver;
        if sliver > 0 {
            map.push(BoardArea { name: String::new(), start: 0, width: sliver, n_files: rest.len() }, rest);
        }
        for (name, mut files) in shown {
            files.sort();
            let width = MIN_AREA_WIDTH + spare * weight(files.len()) / total;
            let name = probity_core::bytes::escape(&name);
            map.push(BoardArea { name, start, width, n_files: files.len() }, files);
            start += width;
        }
        map
    }

    fn push(&mut self, area: BoardArea, files: Vec<RepoPath>) {
        self.by_name.insert(area.name.clone(), self.areas.len());
        self.areas.push(area);
        self.files.push(files);
    }

    fn area_of(&self, path: &[u8]) -> usize {
        let name = probity_core::bytes::escape(&directory_of(path, &self.opened));
        self.by_name.get(&name).copied().unwrap_or(0)
    }

    /// Returns the place of a path: a known file by its order, another one where it would be.
    pub(crate) fn place(&self, path: &[u8]) -> u32 {
        let index = self.area_of(path);
        let (Some(area), Some(files)) = (self.areas.get(index), self.files.get(index)) else { return 0 };
        let before = files.partition_point(|file| file.as_bytes() < path);
        area.start + area.width * (2 * count(before) + 1) / (2 * count(files.len() + 1)).max(1)
    }

    /// Returns the places of a path and everything below it.
    pub(crate) fn subtree(&self, entry: &[u8]) -> Vec<(u32, u32)> {
        let is_below = |file: &RepoPath| file.is_covered_by(entry);
        self.covered(|file| is_below(file), entry)
    }

    /// Returns the places that a scope covers.
    pub(crate) fn scope(&self, scope: &Scope, patterns: &[Vec<u8>]) -> Vec<(u32, u32)> {
        let mut lots = self.covered(|file| scope.contains(file), b"");
        if lots.is_empty() {
            // A scope of files that do not exist yet: where they would be.
            let stem = |pattern: &Vec<u8>| {
                let end = pattern.iter().position(|byte| b"*?[{".contains(byte)).unwrap_or(pattern.len());
                pattern[..end].to_vec()
            };
            let named = patterns.iter().filter(|pattern| !pattern.starts_with(b"!")).map(stem);
            lots = named
                .filter(|stem| !stem.is_empty())
                .map(|stem| (self.place(&stem), MIN_LOT_WIDTH))
                .collect();
        }
        join(lots)
    }

    fn covered(&self, is_meant: impl Fn(&RepoPath) -> bool, entry: &[u8]) -> Vec<(u32, u32)> {
        let mut lots = Vec::new();
        for (area, files) in self.areas.iter().zip(&self.files) {
            let mut begun: Option<usize> = None;
            for index in 0..=files.len() {
                let is_in = files.get(index).is_some_and(&is_meant);
                match (begun, is_in) {
                    (None, true) => begun = Some(index),
                    (Some(first), false) => {
                        lots.push(lot(area, files.len(), first, index));
                        begun = None;
                    }
                    _ => {}
                }
            }
        }
        if lots.is_empty() && !entry.is_empty() {
            lots.push((self.place(entry).saturating_sub(MIN_LOT_WIDTH / 2), MIN_LOT_WIDTH));
        }
        join(lots)
    }
}

fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX / FULL_WIDTH / 4)
}

/// The lot of the files `first..end` of an area.
fn lot(area: &BoardArea, n_files: usize, first: usize, end: usize) -> (u32, u32) {
    let slots = count(n_files + 1);
    if first == 0 && end == n_files {
        return (area.start, area.width);
    }
    let center = |index: usize| area.start + area.width * (2 * count(index) + 1) / (2 * slots);
    let half = (area.width / (2 * slots)).max(MIN_LOT_WIDTH / 2);
    let start = center(first).saturating_sub(half).max(area.start);
    let stop = (center(end - 1) + half).min(area.start + area.width);
    (start, stop.saturating_sub(start).max(MIN_LOT_WIDTH))
}

/// Joins lots that touch.
fn join(mut lots: Vec<(u32, u32)>) -> Vec<(u32, u32)> {
    lots.sort_unstable();
    let mut joined: Vec<(u32, u32)> = Vec::new();
    for (start, width) in lots {
        match joined.last_mut() {
            Some(last) if start <= last.0 + last.1 => last.1 = last.1.max(start + width - last.0),
            _ => joined.push((start, width)),
        }
    }
    joined
}

/// Returns the directories that are shown by their own directories: those with a large share of all files.
fn opened_directories(files: &[RepoPath]) -> BTreeSet<Vec<u8>> {
    let mut counts: BTreeMap<&[u8], usize> = BTreeMap::new();
    for file in files {
        if let Some(end) = file.as_bytes().iter().position(|byte| *byte == b'/') {
            *counts.entry(&file.as_bytes()[..end]).or_default() += 1;
        }
    }
    let is_large = |n: usize| n * 100 > files.len() * OPENED_SHARE_PERCENT;
    counts.into_iter().filter(|(_, n)| is_large(*n)).map(|(name, _)| name.to_vec()).collect()
}

/// Returns the directory under which a path is shown.
fn directory_of(path: &[u8], opened: &BTreeSet<Vec<u8>>) -> Vec<u8> {
    let mut ends = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(end, _)| end);
    let Some(first) = ends.next() else {
        return if opened.contains(path) { path.to_vec() } else { b".".to_vec() };
    };
    if !opened.contains(&path[..first]) {
        return path[..first].to_vec();
    }
    ends.next().map_or_else(|| path[..first].to_vec(), |second| path[..second].to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(names: &[&str]) -> Vec<RepoPath> {
        names.iter().map(|name| RepoPath::parse(name.as_bytes()).expect("a path")).collect()
    }

    #[test]
    fn the_areas_fill_the_width_in_the_order_of_the_tree() {
        let files = paths(&["README.md", "a/1", "a/2", "b/1", "c/1", "c/2", "c/3"]);
        let map = BoardMap::new(&files, &[b"a/1".to_vec(), b"c/9".to_vec()]);
        let names: Vec<&str> = map.areas.iter().map(|area| area.name.as_str()).collect();
        assert_eq!(names, ["", "a", "c"]);
        let end = map.areas.iter().map(|area| area.start + area.width).max();
        assert!(end.is_some_and(|end| end <= FULL_WIDTH && end > FULL_WIDTH - 100), "{:?}", map.areas);
        assert!(map.place(b"a/1") < map.place(b"a/2") && map.place(b"a/2") < map.place(b"c/1"));
    }

    #[test]
    fn a_scope_stands_where_its_files_are() {
        let files = paths(&["a/1", "a/2", "b/1", "b/2", "b/3"]);
        let touched: Vec<Vec<u8>> = files.iter().map(|file| file.as_bytes().to_vec()).collect();
        let map = BoardMap::new(&files, &touched);
        let scope = Scope::parse(&["b/**"]).expect("a scope");
        let area = &map.areas[map.area_of(b"b/1")];
        assert_eq!(map.scope(&scope, &[]), [(area.start, area.width)]);
        let one = map.subtree(b"b/2");
        assert!(one.len() == 1 && one[0].1 < area.width, "{one:?}");
        let new = Scope::parse(&["b/new.txt"]).expect("a scope");
        assert_eq!(
            map.scope(&new, &[b"b/new.txt".to_vec()]).len(),
            1,
            "a file that is not there yet has a place"
        );
    }
}
