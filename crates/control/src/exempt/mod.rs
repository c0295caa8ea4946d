//! What is no part of D: the sealed build outputs and the directories that were recognized as such, without what must be
//! judged all the same.
//!
//! Never exempt, whatever the patterns say: what git tracked at the start, what a gate executes, and what a gate imports
//! and a package manager would not have done. [`Exemptions`] is plain data and decides; the look-ups on disk are in
//! `marks`, `inputs` and `tracked`.

mod hint;
pub(crate) mod inputs;
pub(crate) mod marks;
pub(crate) mod tracked;

pub use hint::{OutputHint, judged_outputs, output_hint, sources_among};
pub use tracked::TrackedPaths;

use evidence::{RecognizedOutput, Seal};
use paths::{RepoPath, Scope};
use std::collections::{BTreeMap, BTreeSet};
use tree::{Change, Kind, Snapshot};

/// What is no part of D.
#[derive(Debug, Clone, Default)]
pub struct Exemptions {
    /// The sealed patterns.
    pub build_outputs: Scope,
    /// The directories that were recognized by their content.
    pub recognized: Vec<RecognizedOutput>,
    /// What git tracked at the start.
    pub tracked: TrackedPaths,
    /// By gate, what it executes or is given by name.
    pub gate_inputs: BTreeMap<String, BTreeSet<RepoPath>>,
    /// By gate, the directories from which its program imports.
    pub gate_imports: BTreeMap<String, Scope>,
    /// The directories at or below an imported one, as they were at the start.
    pub imported_directories: BTreeSet<RepoPath>,
}

impl Exemptions {
    /// What is exempt under a seal on the tree of the start.
    pub(crate) fn of_seal(
        seal: &Seal,
        tracked: TrackedPaths,
        start: &Snapshot,
    ) -> Result<Self, paths::PatternError> {
        let contents = seal.contents();
        let mut exemptions =
            Self { build_outputs: contents.build_outputs.to_scope()?, tracked, ..Self::default() };
        for (id, settings) in &contents.gate_settings {
            if !settings.inputs.is_empty() {
                exemptions.gate_inputs.insert(id.clone(), settings.inputs.iter().cloned().collect());
            }
            if !settings.imports.is_empty() {
                exemptions.gate_imports.insert(id.clone(), settings.imports.to_scope()?);
            }
        }
        if !exemptions.gate_imports.is_empty() {
            let directories = start.entries().filter(|entry| entry.kind() == Kind::Directory);
            let imported = directories.map(|entry| entry.path().clone());
            exemptions.imported_directories = imported.filter(|path| exemptions.is_imported(path)).collect();
        }
        Ok(exemptions)
    }

    /// Whether anything can be exempt under a seal at all.
    pub(crate) fn are_possible(seal: &Seal) -> bool {
        let contents = seal.contents();
        contents.recognize_outputs || !contents.build_outputs.is_empty()
    }

    /// Whether a path lies where builds write.
    pub fn covers(&self, path: &RepoPath) -> bool {
        self.build_outputs.lets_in(path)
            || self.recognized.iter().any(|output| path.is_covered_by(output.path.as_bytes()))
    }

    /// Whether a path lies where builds write and nobody relies on it: its content of before is not kept.
    pub(crate) fn spares(&self, path: &RepoPath) -> bool {
        self.covers(path) && !self.tracked.may_contain(path) && !self.is_gate_input(path)
    }

    /// Whether a change is no part of D. `by_command` says that it was there before any gate ran: what a gate itself
    /// installs it may import.
    pub fn exempts(&self, change: &Change, by_command: bool) -> bool {
        let path = &change.path;
        self.covers(path)
            && !self.tracked.contains(path, change.before.is_some())
            && !self.is_gate_input(path)
            && !self.is_altered_import(change, by_command)
            && !plan::is_source_in_cache(path)
    }

    /// Why a change that lies where builds write is judged all the same.
    pub fn why_judged(&self, change: &Change, by_command: bool) -> Option<&'static str> {
        if !self.covers(&change.path) || self.exempts(change, by_command) {
            return None;
        }
        Some(if self.tracked.contains(&change.path, change.before.is_some()) {
            "a build output that git tracks"
        } else if self.is_gate_input(&change.path) {
            "a build output that a gate executes"
        } else if plan::is_source_in_cache(&change.path) {
            "source code in a cache, where no tool writes any"
        } else {
            "a build output that a gate imports"
        })
    }

    /// Whether a gate executes a path, is given it by name, or reaches one of those through it.
    pub fn is_gate_input(&self, path: &RepoPath) -> bool {
        let mut inputs = self.gate_inputs.values().flatten();
        inputs.any(|input| input.is_covered_by(path.as_bytes()))
    }

    /// The directory above a path from which the gate `id` imports.
    pub fn import_root(&self, id: &str, path: &RepoPath) -> Option<RepoPath> {
        import_root(self.gate_imports.get(id)?, path)
    }

    fn is_imported(&self, path: &RepoPath) -> bool {
        self.gate_imports.values().any(|scope| import_root(scope, path).is_some())
    }

    fn is_altered_import(&self, change: &Change, by_command: bool) -> bool {
        by_command && self.gate_imports.values().any(|scope| self.alters_import(scope, change))
    }

    /// Whether a change in an imported directory is none that a package manager makes when it adds a package.
    fn alters_import(&self, imports: &Scope, change: &Change) -> bool {
        let Some(root) = import_root(imports, &change.path) else { return false };
        if plan::is_never_imported(&root, &change.path) {
            return false;
        }
        if change.before.is_some() {
            return true;
        }
        let mut above = change.path.parent();
        while let Some(directory) = above {
            if self.imported_directories.contains(&directory) {
                return !plan::takes_packages(&root, &directory);
            }
            above = directory.parent();
        }
        // The imported directory itself is new.
        false
    }
}

/// The topmost directory of `path` (or `path` itself) that the patterns of `imports` name.
fn import_root(imports: &Scope, path: &RepoPath) -> Option<RepoPath> {
    path.lineage().filter_map(|above| RepoPath::parse(above).ok()).find(|above| imports.lets_in(above))
}

#[cfg(test)]
mod tests;
