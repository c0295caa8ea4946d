//! Finds directories with an output marker and decides which of them to believe.

use super::Exemptions;
use crate::Workspace;
use probity_core::Digest;
use probity_evidence::{DirectoryMarker, RecognizedOutput};
use probity_paths::RepoPath;
use probity_policy::MarkedDirectory;
use probity_snapshot::git::IgnoreRules;
use probity_snapshot::{Snapshot, SnapshotEntry, SnapshotEntryKind};
use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Larger files are not read as markers.
const MAX_MARK_BYTES: u64 = 64 * 1024;

/// Recognizes build outputs, given the state at the start of a run.
#[derive(Debug)]
pub struct OutputRecognizer {
    at_start: Vec<MarkedDirectory>,
    ignore_rules: Option<IgnoreRules>,
}

impl OutputRecognizer {
    /// Reads the tree at the start. Ignore rules are read now because the command may change them later.
    pub fn at_start(workspace: &Workspace, start: &Snapshot) -> Self {
        let git = workspace.git.as_ref();
        Self {
            at_start: marked_directories(&[&workspace.root], start),
            ignore_rules: git.map(|git| IgnoreRules::read(git, start, &workspace.below_top())),
        }
    }

    /// Returns the build outputs that exist at the start.
    pub fn of_start(&self, exemptions: &Exemptions) -> Vec<RecognizedOutput> {
        let is_kept = |directory: &RepoPath| exemptions.tracked.may_contain(directory);
        probity_policy::recognize_outputs(
            &uncovered_directories(&self.at_start, exemptions),
            &[],
            &is_kept,
            &|_| false,
            &mut |_| false,
        )
    }

    /// Returns the build outputs that exist at the start or at the end, when the contents of the tree are found at `roots`.
    pub fn of_run(
        &mut self,
        roots: &[&Path],
        exemptions: &Exemptions,
        [start, end]: [&Snapshot; 2],
    ) -> Vec<RecognizedOutput> {
        let is_kept = |directory: &RepoPath| exemptions.tracked.may_contain(directory);
        let at_start = uncovered_directories(&self.at_start, exemptions);
        let at_end = uncovered_directories(&marked_directories(roots, end), exemptions);
        let rules = &mut self.ignore_rules;
        let mut is_ignored =
            |directory: &RepoPath| rules.as_mut().is_some_and(|rules| rules.ignores_directory(directory));
        let is_project = |directory: &RepoPath| {
            may_be_made_by_tool(exemptions, start, directory, start.get(directory).is_none())
        };
        probity_policy::recognize_outputs(&at_start, &at_end, &is_kept, &is_project, &mut is_ignored)
    }
}

/// Returns the build outputs of a tree whose earlier state is unknown. The judged agent may have made any mark and any
/// ignore rule, so only directories with a tool's default name count, in a place where that tool makes them.
pub(super) fn of_shared_tree(
    workspace: &Workspace,
    exemptions: &Exemptions,
    tree: &Snapshot,
) -> Vec<RecognizedOutput> {
    let is_kept = |directory: &RepoPath| exemptions.tracked.may_contain(directory);
    let is_project = |directory: &RepoPath| may_be_made_by_tool(exemptions, tree, directory, true);
    let marked = uncovered_directories(&marked_directories(&[&workspace.root], tree), exemptions);
    probity_policy::recognize_outputs(&[], &marked, &is_kept, &is_project, &mut |_| false)
}

/// Files next to which tools create directories with ordinary names (`env`, `target`).
const PROJECT_FILES: [&str; 7] =
    ["pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "Pipfile", "tox.ini", "Cargo.toml"];

/// Returns whether a tool may have created this directory. Hidden directories: anywhere. Others: only if new, at the
/// root or next to a tracked project file, and not shadowing a tracked module.
fn may_be_made_by_tool(
    exemptions: &Exemptions,
    start: &Snapshot,
    directory: &RepoPath,
    is_new: bool,
) -> bool {
    let name = directory.file_name();
    if name.starts_with(b".") {
        return true;
    }
    let parent = directory.parent();
    let is_tracked = |file: &[u8]| {
        let path = match &parent {
            Some(parent) => parent.join(file).ok(),
            None => RepoPath::parse(file).ok(),
        };
        path.is_some_and(|path| exemptions.tracked.contains(&path, start.get(&path).is_some()))
    };
    is_new
        && !is_tracked(&[name, b".py"].concat())
        && (parent.is_none() || PROJECT_FILES.iter().any(|file| is_tracked(file.as_bytes())))
}

/// Returns the marked directories that no sealed pattern already exempts.
fn uncovered_directories(marked: &[MarkedDirectory], exemptions: &Exemptions) -> Vec<MarkedDirectory> {
    let is_covered = |it: &MarkedDirectory| {
        let mark = it.path.join(it.mark.file_name().as_bytes());
        mark.is_ok_and(|mark| exemptions.build_outputs.contains(&mark))
    };
    marked.iter().filter(|it| !is_covered(it)).cloned().collect()
}

/// Returns the directories with a valid marker, never the root of the tree.
fn marked_directories(roots: &[&Path], snapshot: &Snapshot) -> Vec<MarkedDirectory> {
    let of_entry = |entry: SnapshotEntry<'_>| {
        let mark = DirectoryMarker::of_file_name(entry.path().file_name())?;
        let path = entry.path().parent()?;
        probity_policy::is_valid_mark(mark, &content(roots, &entry)?)
            .then_some(MarkedDirectory { path, mark })
    };
    let mut marks: Vec<SnapshotEntry<'_>> = DirectoryMarker::ALL
        .iter()
        .flat_map(|mark| snapshot.entries_named(mark.file_name().as_bytes()))
        .collect();
    marks.sort_unstable_by(|one, other| one.path().cmp(other.path()));
    marks.into_iter().filter_map(of_entry).collect()
}

/// Reads a small file from the first of the roots that has the content of the snapshot: a tree in a view is its layer above
/// the tree below. `None` if none has.
pub(super) fn content(roots: &[&Path], entry: &SnapshotEntry<'_>) -> Option<Vec<u8>> {
    if entry.kind() != SnapshotEntryKind::File || entry.size() > MAX_MARK_BYTES {
        return None;
    }
    let name = OsStr::from_bytes(entry.path().as_bytes());
    roots.iter().find_map(|root| {
        let file = std::fs::File::open(root.join(name)).ok()?;
        let mut bytes = Vec::new();
        file.take(MAX_MARK_BYTES + 1).read_to_end(&mut bytes).ok()?;
        (Some(Digest::of(&bytes)) == entry.digest()).then_some(bytes)
    })
}
