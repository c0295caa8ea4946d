//! Classifies the files of a snapshot for an analysis: sources, governance files, and directories left out.
//!
//! Build outputs named by the policy are left out, and so are directories that tools mark as their own: caches
//! (`CACHEDIR.TAG`), virtual environments (`pyvenv.cfg`), `node_modules`, `__pycache__` and nested repositories'
//! `.git`. This depends on the tree alone, so two checkouts of one tree give the same analysis.

use probity_analysis::{AnalysisSettings, FileNote, PathRole, RunId, RunIdentity, SourceSelection};
use probity_contract::FileClass;
use probity_core::Digest;
use probity_paths::{RepoPath, Scope};
use probity_snapshot::{Snapshot, SnapshotEntryKind};
use std::collections::BTreeSet;

/// Names of directories that tools create.
const TOOL_FOLDERS: [&[u8]; 3] = [b"node_modules", b"__pycache__", b".git"];

/// Files with which a tool marks a directory as its own.
const TOOL_MARKS: [&[u8]; 2] = [b"CACHEDIR.TAG", b"pyvenv.cfg"];

#[derive(Debug, Clone)]
pub(super) struct SourceFile {
    pub path: RepoPath,
    pub content: Digest,
    pub size_bytes: u64,
    /// The reason if the file is not read.
    pub skip: Option<FileNote>,
}

/// The files of a tree by their role in an analysis; each list is sorted by path.
#[derive(Debug, Default)]
pub(super) struct ClassifiedFiles {
    pub sources: Vec<SourceFile>,
    pub governance: Vec<(RepoPath, Digest)>,
    pub others: BTreeSet<RepoPath>,
    pub unreadable: Vec<RepoPath>,
    /// Directories that were left out as a whole.
    pub left_out: BTreeSet<RepoPath>,
}

/// An entry of a tree, on disk or in Git.
pub(super) struct TreeEntry {
    pub path: RepoPath,
    pub content: Option<Digest>,
    pub size_bytes: u64,
}

impl ClassifiedFiles {
    pub(super) fn of_snapshot(snapshot: &Snapshot, outputs: &Scope, selection: &SourceSelection<'_>) -> Self {
        let files = snapshot.entries().filter(|entry| entry.kind() == SnapshotEntryKind::File);
        let seen = files.map(|entry| TreeEntry {
            path: entry.path().clone(),
            content: entry.digest(),
            size_bytes: entry.size(),
        });
        Self::classify(&seen.collect::<Vec<_>>(), outputs, selection)
    }

    /// Classifies files, which must be sorted by path.
    pub(super) fn classify(seen: &[TreeEntry], outputs: &Scope, selection: &SourceSelection<'_>) -> Self {
        let marked: BTreeSet<RepoPath> = seen
            .iter()
            .filter(|file| TOOL_MARKS.contains(&file.path.file_name()))
            .filter_map(|file| file.path.parent())
            .collect();
        let mut files = Self::default();
        for file in seen {
            match tool_folder(&file.path, &marked) {
                Some(directory) => {
                    files.left_out.insert(directory);
                }
                None if outputs.contains(&file.path) => {
                    files.left_out.extend(file.path.parent());
                }
                None => files.add(file, selection),
            }
        }
        files.left_out = topmost(&files.left_out);
        files
    }

    fn add(&mut self, file: &TreeEntry, selection: &SourceSelection<'_>) {
        let class = probity_contract::classify_file(file.path.as_bytes());
        let part = selection.path_role(&file.path);
        match (class, part, file.content) {
            (FileClass::State, ..) => {}
            (FileClass::Governance, _, Some(content)) => self.governance.push((file.path.clone(), content)),
            (_, PathRole::Source(_), Some(content)) => self.add_source(file, content, None),
            (_, PathRole::NotRead(note), Some(content)) => self.add_source(file, content, Some(note)),
            (FileClass::Governance, ..) | (_, PathRole::Source(_) | PathRole::NotRead(_), None) => {
                self.unreadable.push(file.path.clone());
            }
            (_, PathRole::Asset, _) => {
                self.others.insert(file.path.clone());
            }
            (_, PathRole::Document, _) => {}
        }
    }

    fn add_source(&mut self, file: &TreeEntry, content: Digest, skip: Option<FileNote>) {
        self.sources.push(SourceFile { path: file.path.clone(), content, size_bytes: file.size_bytes, skip });
    }

    /// Returns the id that the analysis of these files will have, without analyzing them.
    pub(super) fn run_id(&self, settings: &AnalysisSettings) -> RunId {
        let identity = RunIdentity {
            sources: self.sources.iter().map(|file| (&file.path, file.content)).collect(),
            governance: self.governance.iter().map(|(path, content)| (path, *content)).collect(),
            others: self.others.iter().collect(),
        };
        identity.id(settings)
    }
}

/// Returns the outermost directory above `path` that a tool made.
fn tool_folder(path: &RepoPath, marked: &BTreeSet<RepoPath>) -> Option<RepoPath> {
    // A fast exit: most trees have no such directory, and walking up from each path would dominate the cost.
    if marked.is_empty() && !path.segments().any(|name| TOOL_FOLDERS.contains(&name)) {
        return None;
    }
    let mut found = None;
    let mut at = path.parent();
    while let Some(directory) = at {
        at = directory.parent();
        if TOOL_FOLDERS.contains(&directory.file_name()) || marked.contains(&directory) {
            found = Some(directory);
        }
    }
    found
}

/// Returns the directories that are not inside another one of the set.
fn topmost(folders: &BTreeSet<RepoPath>) -> BTreeSet<RepoPath> {
    let is_inside = |directory: &RepoPath| {
        let mut at = directory.parent();
        while let Some(parent) = at {
            if folders.contains(&parent) {
                return true;
            }
            at = parent.parent();
        }
        false
    };
    folders.iter().filter(|directory| !is_inside(directory)).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> RepoPath {
        RepoPath::parse(text.as_bytes()).expect("a path")
    }

    fn sorted(paths: &[&str], outputs: &[&str]) -> ClassifiedFiles {
        let mut seen: Vec<TreeEntry> = paths
            .iter()
            .map(|text| TreeEntry { path: path(text), content: Some(Digest::of(b"x")), size_bytes: 1 })
            .collect();
        seen.sort_by(|a, b| a.path.cmp(&b.path));
        let settings = AnalysisSettings::default();
        let selection = SourceSelection::new(&settings).expect("sound patterns");
        ClassifiedFiles::classify(&seen, &Scope::parse(outputs).expect("sound patterns"), &selection)
    }

    fn sources(files: &ClassifiedFiles) -> Vec<String> {
        files.sources.iter().map(|file| file.path.to_string()).collect()
    }

    #[test]
    fn what_tools_made_is_left_out_and_named() {
        let files = sorted(
            &[
                "src/a.rs",
                "target/CACHEDIR.TAG",
                "target/debug/build/x.rs",
                "web/node_modules/x/i.js",
                "env/pyvenv.cfg",
                "env/lib/y.py",
                "gen/out/z.py",
            ],
            &["gen/out/**"],
        );
        assert_eq!(sources(&files), ["src/a.rs"]);
        let left_out: Vec<String> = files.left_out.iter().map(ToString::to_string).collect();
        assert_eq!(left_out, ["env", "gen/out", "target", "web/node_modules"]);
    }

    #[test]
    fn every_file_has_one_part() {
        let files = sorted(
            &["a.py", "b.swift", "Cargo.toml", "data.json", "README.md", "probity.baseline.json"],
            &[],
        );
        assert_eq!(sources(&files), ["a.py", "b.swift"]);
        assert_eq!(files.governance[0].0, path("Cargo.toml"));
        assert_eq!(files.others, BTreeSet::from([path("data.json")]));
    }

    #[test]
    fn a_document_does_not_make_another_run_but_an_asset_does() {
        let id = |paths: &[&str]| sorted(paths, &[]).run_id(&AnalysisSettings::default());
        assert_eq!(id(&["a.js"]), id(&["a.js", "README.md", "docs/x.md"]));
        assert_ne!(id(&["a.js"]), id(&["a.js", "data.json"]));
    }
}
