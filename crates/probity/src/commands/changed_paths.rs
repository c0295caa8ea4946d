//! Lists changed paths for people: paths in scope one by one, many others folded by directory, so that neither group
//! hides the other.

use crate::ui;
use probity_evidence::ChangeKind;
use probity_paths::RepoPath;
use probity_policy::OutputLook;
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of in-scope changes listed one by one.
const MAX_IN_SCOPE_ROWS: usize = 40;
/// Maximum number of rows for changes out of scope; more changes are folded by directory.
const MAX_OUT_OF_SCOPE_ROWS: usize = 20;
const MAX_NAMED_OUTPUTS: usize = 8;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChangeMark {
    Added,
    Modified,
    Deleted,
}

impl ChangeMark {
    pub(crate) const fn of(change: ChangeKind) -> Self {
        match change {
            ChangeKind::Added => Self::Added,
            ChangeKind::Modified => Self::Modified,
            ChangeKind::Deleted => Self::Deleted,
        }
    }

    const fn letter(self) -> char {
        match self {
            Self::Added => '+',
            Self::Modified => '~',
            Self::Deleted => '-',
        }
    }
}

pub(crate) type MarkedPath<'a> = (ChangeMark, &'a RepoPath);

/// Formats the changes of a run: those in scope first, then the rest. `fate` follows each verdict.
pub(crate) fn change_lines(
    changes: &[MarkedPath<'_>],
    untracked: &BTreeSet<RepoPath>,
    fate: &str,
) -> Vec<String> {
    change_lines_until(changes, untracked, fate, "all in the evidence")
}

/// Like [`change_lines`]; `where_all_are` says where to find the paths that are not listed.
pub(crate) fn change_lines_until(
    changes: &[MarkedPath<'_>],
    untracked: &BTreeSet<RepoPath>,
    fate: &str,
    where_all_are: &str,
) -> Vec<String> {
    if changes.is_empty() {
        return vec![ui::dim("nothing")];
    }
    let (out, inside): (Vec<_>, Vec<_>) =
        changes.iter().copied().partition(|(_, path)| untracked.contains(path));
    let rest = format!(", {where_all_are}");
    let mut lines =
        listed_lines(&inside, &ui::dim(format_args!("in scope{fate}")), &format!(" in scope{rest}"));
    lines.extend(folded_lines(&out, &ui::bad(format_args!("out of scope{fate}")), " out of scope", &rest));
    lines
}

/// Formats one line per path followed by `remark`; paths beyond the limit are counted, followed by `rest`.
pub(crate) fn listed_lines(changes: &[MarkedPath<'_>], remark: &str, rest: &str) -> Vec<String> {
    let shown = changes.iter().take(MAX_IN_SCOPE_ROWS);
    let mut lines: Vec<String> =
        shown.map(|(mark, path)| format!("{} {path}  {remark}", mark.letter())).collect();
    let more = changes.len().saturating_sub(MAX_IN_SCOPE_ROWS);
    if more > 0 {
        lines.push(ui::dim(format_args!("… and {} more{rest}", ui::format_number(more))));
    }
    lines
}

/// Formats many paths in few lines, folded by directory, each followed by `remark`. Paths beyond the limit are counted;
/// `what` describes them and `rest` says where to find them.
pub(crate) fn folded_lines(changes: &[MarkedPath<'_>], remark: &str, what: &str, rest: &str) -> Vec<String> {
    let rows = fold(changes);
    let shown = rows.iter().take(MAX_OUT_OF_SCOPE_ROWS);
    let mut lines: Vec<String> = shown.map(|row| format!("{}  {remark}", row.to_line())).collect();
    let hidden: usize = rows.iter().skip(MAX_OUT_OF_SCOPE_ROWS).map(PathRow::n_paths).sum();
    if hidden > 0 {
        let n_rows = ui::format_number(rows.len() - MAX_OUT_OF_SCOPE_ROWS);
        lines.push(ui::dim(format_args!(
            "… and {} more{what} in {n_rows} more places{rest}",
            ui::format_number(hidden)
        )));
    }
    lines
}

/// Formats changes without a declared scope, folded by directory if there are many.
pub(crate) fn unscoped_change_lines(changes: &[MarkedPath<'_>]) -> Vec<String> {
    if changes.is_empty() {
        return vec![ui::dim("nothing")];
    }
    let rows = fold(changes);
    let mut lines: Vec<String> = rows.iter().take(MAX_OUT_OF_SCOPE_ROWS).map(PathRow::to_line).collect();
    let hidden: usize = rows.iter().skip(MAX_OUT_OF_SCOPE_ROWS).map(PathRow::n_paths).sum();
    if hidden > 0 {
        lines.push(ui::dim(format_args!("… and {} more", ui::format_number(hidden))));
    }
    lines
}

/// Summarizes the exempt paths in one line: how many, and where.
pub(crate) fn exempt_line(exempt: &[RepoPath]) -> Option<String> {
    output_line(exempt, "changed, not judged")
}

/// Summarizes build outputs, sorted by path, in one line: how many, what became of them, and where.
pub(crate) fn output_line(exempt: &[RepoPath], what: &str) -> Option<String> {
    if exempt.is_empty() {
        return None;
    }
    let look = OutputLook::of(exempt);
    let mut roots: BTreeMap<Vec<u8>, (usize, BTreeSet<RepoPath>)> = BTreeMap::new();
    for path in exempt {
        let root = look.root_of(path).unwrap_or_else(|| top_of(path));
        let (count, places) = roots.entry(root.file_name().to_vec()).or_default();
        *count += 1;
        places.insert(root);
    }
    let mut named: Vec<(usize, String)> =
        roots.into_values().map(|(count, places)| (count, place_words(count, &places, exempt))).collect();
    named.sort_by(|one, other| other.0.cmp(&one.0).then_with(|| one.1.cmp(&other.1)));
    let more = named.len().saturating_sub(MAX_NAMED_OUTPUTS);
    let mut words: Vec<String> = named.into_iter().take(MAX_NAMED_OUTPUTS).map(|(_, words)| words).collect();
    if more > 0 {
        words.push(format!("{more} more"));
    }
    let paths = if exempt.len() == 1 { "build output" } else { "build outputs" };
    Some(format!("{} {paths} {what}: {}", ui::format_number(exempt.len()), ui::dim(words.join(", "))))
}

/// Formats `.venv/ 1,204` or `__pycache__/ 30 in 4 directories`; a single file by its path.
fn place_words(count: usize, places: &BTreeSet<RepoPath>, exempt: &[RepoPath]) -> String {
    let Some(first) = places.first() else { return String::new() };
    let is_file = exempt.binary_search(first).is_ok();
    match (places.len(), is_file) {
        (1, true) => first.to_string(),
        (1, false) if count == 1 => {
            let only = exempt.iter().find(|path| path.is_covered_by(first.as_bytes()));
            only.unwrap_or(first).to_string()
        }
        (1, false) => format!("{first}/ {}", ui::format_number(count)),
        (n, is_file) => {
            let name = probity_core::bytes::escape(first.file_name());
            let slash = if is_file { "" } else { "/" };
            format!("{name}{slash} {} in {} places", ui::format_number(count), ui::format_number(n))
        }
    }
}

fn top_of(path: &RepoPath) -> RepoPath {
    let top = path.segments().next().and_then(|name| RepoPath::parse(name).ok());
    top.unwrap_or_else(|| path.clone())
}

/// A path, or a directory that represents every change below it.
#[derive(Debug, PartialEq, Eq)]
enum PathRow<'a> {
    Path(ChangeMark, &'a RepoPath),
    Directory(Vec<u8>, Vec<MarkedPath<'a>>),
}

impl<'a> PathRow<'a> {
    fn n_paths(&self) -> usize {
        match self {
            Self::Path(..) => 1,
            Self::Directory(_, inside) => inside.len(),
        }
    }

    fn to_line(&self) -> String {
        match self {
            Self::Path(mark, path) => format!("{} {path}", mark.letter()),
            Self::Directory(directory, inside) => {
                let first = inside[0].0;
                let mark =
                    if inside.iter().all(|(mark, _)| *mark == first) { first } else { ChangeMark::Modified };
                let count = ui::format_number(inside.len());
                format!("{} {}/  {count} paths", mark.letter(), probity_core::bytes::escape(directory))
            }
        }
    }

    /// Returns the direct children of the directory.
    fn unfolded(&self) -> Vec<Self> {
        let Self::Directory(directory, inside) = self else { return Vec::new() };
        let depth = if directory.is_empty() { 0 } else { directory.split(|&byte| byte == b'/').count() };
        let mut children: BTreeMap<Vec<u8>, Vec<MarkedPath<'a>>> = BTreeMap::new();
        for (mark, path) in inside {
            let child = path.ancestors_and_self().nth(depth).unwrap_or(path.as_bytes());
            children.entry(child.to_vec()).or_default().push((*mark, path));
        }
        let row = |(name, inside): (Vec<u8>, Vec<MarkedPath<'a>>)| match inside.as_slice() {
            [(mark, path)] => Self::Path(*mark, path),
            _ => Self::Directory(name, inside),
        };
        children.into_iter().map(row).collect()
    }
}

/// Folds many paths into few rows. Build outputs stay folded; source directories are expanded while there is room,
/// those with the fewest entries first. Sources come before build outputs.
fn fold<'a>(paths: &[MarkedPath<'a>]) -> Vec<PathRow<'a>> {
    if paths.len() <= MAX_OUT_OF_SCOPE_ROWS {
        return paths.iter().map(|(mark, path)| PathRow::Path(*mark, path)).collect();
    }
    let look = OutputLook::of(paths.iter().map(|(_, path)| *path));
    let is_output = |row: &PathRow<'_>| match row {
        PathRow::Path(_, path) => look.is_output(path),
        PathRow::Directory(directory, inside) => {
            look.root_of(inside[0].1).is_some_and(|root| root.as_bytes().len() <= directory.len())
        }
    };
    let mut rows = PathRow::Directory(Vec::new(), paths.to_vec()).unfolded();
    loop {
        let room = (MAX_OUT_OF_SCOPE_ROWS + 1).saturating_sub(rows.len());
        let opened = rows.iter().enumerate().filter(|(_, row)| !is_output(row));
        let opened = opened
            .map(|(at, row)| (row.unfolded(), at))
            .filter(|(inner, _)| !inner.is_empty() && inner.len() <= room);
        let Some((inner, at)) = opened.min_by_key(|(inner, at)| (inner.len(), *at)) else { break };
        rows.splice(at..=at, inner);
    }
    rows.sort_by_key(is_output);
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(name: &str) -> RepoPath {
        RepoPath::parse(name.as_bytes()).expect("a path")
    }

    fn words(paths: &[RepoPath]) -> Vec<String> {
        let marked: Vec<MarkedPath<'_>> = paths.iter().map(|path| (ChangeMark::Added, path)).collect();
        fold(&marked).iter().map(PathRow::to_line).collect()
    }

    #[test]
    fn few_paths_are_listed_as_they_are() {
        assert_eq!(words(&["a/b", "c"].map(path)), ["+ a/b", "+ c"]);
    }

    #[test]
    fn build_outputs_stay_folded_and_sources_are_opened() {
        let mut paths: Vec<RepoPath> = (0..30).map(|n| path(&format!(".venv/lib/{n}/x.py"))).collect();
        paths.extend(["src/a/b.py", "src/a/c.py", "src/d.py"].map(path));
        paths.extend((0..30).map(|n| path(&format!("web/{n}.js"))));
        assert_eq!(
            words(&paths),
            ["+ src/a/b.py", "+ src/a/c.py", "+ src/d.py", "+ web/  30 paths", "+ .venv/  30 paths"]
        );
    }

    #[test]
    fn every_path_is_in_one_row() {
        let paths: Vec<RepoPath> = (0..500).map(|n| path(&format!("d{}/e{}/f{n}", n % 7, n % 31))).collect();
        let marked: Vec<MarkedPath<'_>> = paths.iter().map(|path| (ChangeMark::Modified, path)).collect();
        let rows = fold(&marked);
        assert_eq!(rows.iter().map(PathRow::n_paths).sum::<usize>(), 500);
        assert!(rows.len() <= MAX_OUT_OF_SCOPE_ROWS);
    }

    #[test]
    fn exempt_paths_are_counted_by_what_wrote_them() {
        let mut paths: Vec<RepoPath> =
            [".coverage", "a/__pycache__/x.pyc", "b/__pycache__/y.pyc", "node_modules/a/i.js", "odd/x"]
                .map(path)
                .to_vec();
        paths.extend((0..1200).map(|n| path(&format!(".venv/{n}"))));
        paths.sort();
        let line = exempt_line(&paths).expect("a line");
        for part in [
            "1,205 build outputs",
            ".venv/ 1,200",
            "__pycache__/ 2 in 2 places",
            "node_modules/a/i.js",
            "odd/x",
            ".coverage",
        ] {
            assert!(line.contains(part), "no `{part}` in {line}");
        }
        assert_eq!(exempt_line(&[]), None);
    }
}
