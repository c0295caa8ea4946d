//! The tree at a glance: each file a rectangle, as large as its code, in the color of its health.
//!
//! The layout is squarified: rectangles are laid in rows along the shorter side while that makes them squarer. All in
//! integers, so that every machine draws the same.

use super::{PageSection, grade_class, labels, more};
use crate::run::{AnalysisRun, RunFile};
use maud::{Markup, html};
use probity_paths::RepoPath;
use std::collections::BTreeMap;

const WIDTH: u64 = 1200;
const HEIGHT: u64 = 520;
/// The strip that holds the name of a directory.
const LABEL_HEIGHT: u64 = 18;
const MAX_FILES: usize = 800;
const MIN_GROUPS: usize = 10;
/// What one letter of a label needs.
const LETTER_WIDTH: u64 = 7;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct TreemapRect {
    x: u64,
    y: u64,
    width: u64,
    height: u64,
}

pub(super) fn section(run: &AnalysisRun) -> Option<PageSection> {
    let mut files: Vec<&RunFile> =
        run.files.iter().filter(|file| file.is_analyzed() && file.n_tokens > 0).collect();
    files.sort_by_key(|file| (u32::MAX - file.n_tokens, &file.path));
    let n_all = files.len();
    files.truncate(MAX_FILES);
    if files.is_empty() {
        return None;
    }
    let groups = groups(&files);
    let whole = TreemapRect { x: 0, y: 0, width: WIDTH, height: HEIGHT };
    let sizes: Vec<u64> = groups.iter().map(|(_, files)| n_tokens(files)).collect();
    let body = html! {
        div.scroll {
            svg.treemap viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } role="img" aria-label="Files by size and health" {
                @for ((name, files), place) in groups.iter().zip(layout(&sizes, whole)) {
                    (group(name, files, place))
                }
            }
        }
        (legend())
        (more(n_all, MAX_FILES))
    };
    let lead = html! {
        "Each rectangle is a file, as large as its code. Its color is its own health. "
        span.script { "Click one to see its findings." }
    };
    Some(PageSection { id: "map", title: "Map", lead, body })
}

fn legend() -> Markup {
    let keys = [('a', "from 90"), ('b', "from 75"), ('c', "from 60"), ('d', "from 40"), ('f', "below 40")];
    html! {
        ul.legend { @for (class, says) in keys { li { span class={ "key grade-" (class) } {} (says) } } }
    }
}

fn n_tokens(files: &[&RunFile]) -> u64 {
    files.iter().map(|file| u64::from(file.n_tokens)).sum()
}

/// The files by directory, the largest first. Directories are opened, the largest first, until there are enough of them.
fn groups<'a>(files: &[&'a RunFile]) -> Vec<(String, Vec<&'a RunFile>)> {
    let mut groups: BTreeMap<Vec<u8>, Vec<&RunFile>> = BTreeMap::from([(Vec::new(), files.to_vec())]);
    while groups.len() < MIN_GROUPS {
        let opens = |(directory, files): &(&Vec<u8>, &Vec<&RunFile>)| {
            files.iter().any(|file| child_directory(directory, &file.path) != **directory)
        };
        let largest =
            groups.iter().filter(opens).max_by_key(|(directory, files)| (n_tokens(files), directory.len()));
        let Some(directory) = largest.map(|(directory, _)| directory.clone()) else { break };
        for file in groups.remove(&directory).unwrap_or_default() {
            groups.entry(child_directory(&directory, &file.path)).or_default().push(file);
        }
    }
    let mut groups: Vec<(String, Vec<&RunFile>)> = groups
        .into_iter()
        .map(|(directory, files)| (probity_core::bytes::escape(&directory), files))
        .collect();
    groups.sort_by_key(|(name, files)| (u64::MAX - n_tokens(files), name.clone()));
    groups
}

/// The directory of `path` one step below `directory`, or `directory` itself for its own files.
fn child_directory(directory: &[u8], path: &RepoPath) -> Vec<u8> {
    let start = if directory.is_empty() { 0 } else { directory.len() + 1 };
    let rest = path.as_bytes().get(start..).unwrap_or_default();
    rest.iter()
        .position(|&byte| byte == b'/')
        .map_or(directory.to_vec(), |end| path.as_bytes()[..start + end].to_vec())
}

fn group(name: &str, files: &[&RunFile], place: TreemapRect) -> Markup {
    let has_label = place.height > LABEL_HEIGHT * 3 && place.width > LETTER_WIDTH * 4;
    let label = if has_label { LABEL_HEIGHT } else { 0 };
    let inside = TreemapRect { y: place.y + label, height: place.height - label, ..place };
    let sizes: Vec<u64> = files.iter().map(|file| u64::from(file.n_tokens)).collect();
    html! {
        g {
            @if has_label {
                (label_html(if name.is_empty() { "/" } else { name }, TreemapRect { height: LABEL_HEIGHT, ..place }, "directory"))
            }
            @for (file, place) in files.iter().zip(layout(&sizes, inside)) { (cell(file, place)) }
            rect.frame x=(place.x) y=(place.y) width=(place.width) height=(place.height) {}
        }
    }
}

fn cell(file: &RunFile, place: TreemapRect) -> Markup {
    let TreemapRect { x, y, width, height } = place;
    if width == 0 || height == 0 {
        return Markup::default();
    }
    let score = file.health_milli.unwrap_or(0);
    let path = file.path.to_string();
    html! {
        g class={ "cell grade-" (grade_class(score)) } data-path=(path) {
            title { (path) "\n" (labels::format_number(u64::from(file.n_lines))) " lines, health " (labels::format_milli(score)) }
            rect x=(x) y=(y) width=(width) height=(height) {}
            @if height > 16 && width > LETTER_WIDTH * 5 {
                (label_html(&String::from_utf8_lossy(file.path.file_name()), place, "name"))
            }
        }
    }
}

/// A label, cut to its place.
fn label_html(words: &str, place: TreemapRect, class: &str) -> Markup {
    let room = usize::try_from(place.width.saturating_sub(6) / LETTER_WIDTH).unwrap_or(0);
    let n_letters = words.chars().count();
    let cut: String = if n_letters > room {
        words.chars().take(room.saturating_sub(1)).chain(['…']).collect()
    } else {
        words.to_owned()
    };
    html! { text class=(class) x=(place.x + 4) y=(place.y + 13) { (cut) } }
}

/// Lays out sizes, the largest first, inside a rectangle.
fn layout(sizes: &[u64], mut free: TreemapRect) -> Vec<TreemapRect> {
    let mut places = Vec::with_capacity(sizes.len());
    let mut left: u64 = sizes.iter().sum();
    let mut rest = sizes;
    while !rest.is_empty() {
        let n_row = row_length(rest, left, free);
        let (row, after) = rest.split_at(n_row);
        let sum: u64 = row.iter().sum();
        free = place_row(row, sum, left.max(1), free, &mut places);
        left -= sum;
        rest = after;
    }
    places
}

/// How many of the next sizes make the squarest row.
fn row_length(rest: &[u64], left: u64, free: TreemapRect) -> usize {
    let mut sum = 0;
    let mut best = u128::MAX;
    for (index, &size) in rest.iter().enumerate() {
        sum += size;
        let worst = worst_aspect_ratio(sum, rest[0], size, left, free);
        if worst > best {
            return index;
        }
        best = worst;
    }
    rest.len()
}

/// How far from square the worst rectangle of a row is, in thousandths.
fn worst_aspect_ratio(sum: u64, largest: u64, smallest: u64, left: u64, free: TreemapRect) -> u128 {
    let area = u128::from(free.width) * u128::from(free.height);
    let side = u128::from(free.width.min(free.height)).pow(2).max(1);
    let scaled = |size: u64| (u128::from(size) * area / u128::from(left.max(1))).max(1);
    let square = scaled(sum).pow(2);
    (side * scaled(largest) * 1000 / square).max(square * 1000 / (side * scaled(smallest)))
}

/// Places a row along the shorter side, and gives back what stays free.
fn place_row(
    row: &[u64],
    sum: u64,
    left: u64,
    free: TreemapRect,
    places: &mut Vec<TreemapRect>,
) -> TreemapRect {
    let is_column = free.width >= free.height;
    let (along, across) = if is_column { (free.height, free.width) } else { (free.width, free.height) };
    let depth = across * sum / left;
    let mut before = 0;
    for &size in row {
        let start = along * before / sum.max(1);
        let end = along * (before + size) / sum.max(1);
        before += size;
        places.push(if is_column {
            TreemapRect { x: free.x, y: free.y + start, width: depth, height: end - start }
        } else {
            TreemapRect { x: free.x + start, y: free.y, width: end - start, height: depth }
        });
    }
    if is_column {
        TreemapRect { x: free.x + depth, width: free.width - depth, ..free }
    } else {
        TreemapRect { y: free.y + depth, height: free.height - depth, ..free }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Rectangles lie inside, do not overlap, and are as large as they should be, but for rounding.
        #[test]
        fn a_layout_is_a_partition(mut sizes in prop::collection::vec(1u64..1_000_000, 1..60)) {
            sizes.sort_unstable_by(|a, b| b.cmp(a));
            let whole = TreemapRect { x: 0, y: 0, width: WIDTH, height: HEIGHT };
            let places = layout(&sizes, whole);
            prop_assert_eq!(places.len(), sizes.len());
            for (index, place) in places.iter().enumerate() {
                prop_assert!(place.x + place.width <= WIDTH && place.y + place.height <= HEIGHT);
                for other in &places[..index] {
                    let apart = place.x >= other.x + other.width || other.x >= place.x + place.width
                        || place.y >= other.y + other.height || other.y >= place.y + place.height;
                    prop_assert!(apart || place.width * place.height == 0 || other.width * other.height == 0);
                }
            }
        }
    }

    #[test]
    fn equal_sizes_become_squares() {
        let whole = TreemapRect { x: 0, y: 0, width: 400, height: 400 };
        let places = layout(&[1, 1, 1, 1], whole);
        assert!(places.iter().all(|place| place.width == 200 && place.height == 200), "{places:?}");
    }
}
