//! Decides which paths are not part of the delta: sealed build outputs and recognized output directories, minus
//! everything that must be judged anyway.
//!
//! Never exempt, whatever the patterns say: paths git tracked at the start, files a gate executes, imported files that
//! a package manager would not have written, and code that programs load by name. [`Exemptions`] is plain data and
//! decides; `output_markers`, `gate_inputs`, `plugins` and `tracked_paths` look things up on disk.

pub mod gate_inputs;
mod output_hint;
pub mod output_markers;
pub mod plugins;
pub mod tracked_paths;

pub use output_hint::{OutputHint, judged_outputs, output_hint, sources_among};
pub use tracked_paths::TrackedPaths;

use crate::Workspace;
use output_markers::OutputRecognizer;
use probity_api::govern::path::{JudgedBecause, OutputRule};
use probity_evidence::{DirectoryMarker, RecognizedOutput, Seal};
use probity_paths::{RepoPath, Scope};
use probity_policy::Policy;
use probity_snapshot::git::HeadTree;
use probity_snapshot::{Snapshot, SnapshotEntryKind, TreeChange};
use std::collections::{BTreeMap, BTreeSet};

/// The paths that are not part of the delta.
#[derive(Debug, Clone, Default)]
pub struct Exemptions {
    /// The sealed patterns.
    pub build_outputs: Scope,
    /// Directories recognized by their content.
    pub recognized: Vec<RecognizedOutput>,
    /// Paths git tracked at the start.
    pub tracked: TrackedPaths,
    /// By gate id, the files it executes or names in its command.
    pub gate_inputs: BTreeMap<String, BTreeSet<RepoPath>>,
    /// By gate id, the paths that the policy calls its inputs.
    pub declared_inputs: BTreeMap<String, Scope>,
    /// By gate id, the directories its program imports from.
    pub gate_imports: BTreeMap<String, Scope>,
    /// The imported directories and everything below them, as of the start.
    pub imported_directories: BTreeSet<RepoPath>,
    /// Entry-point files in the tree that declare plugins, at the start or at the end.
    pub plugin_lists: BTreeSet<RepoPath>,
}

impl Exemptions {
    /// Exempts the patterns of a policy. `committed` is the tree of HEAD, `None` if git gave no answer.
    fn of_patterns(
        workspace: &Workspace,
        policy: &Policy,
        committed: Option<&HeadTree>,
        tree: &Snapshot,
    ) -> Result<Self, probity_paths::PatternError> {
        let settings = &policy.workspace;
        // Asking git is needless where nothing can be exempt.
        let tracked = if settings.recognize_outputs || !settings.build_outputs.is_empty() {
            TrackedPaths::of(workspace, committed, tree)
        } else {
            TrackedPaths::default()
        };
        Ok(Self { build_outputs: settings.build_outputs.to_scope()?, tracked, ..Self::default() })
    }

    /// Exempts the patterns of a policy and the output directories recognized at the start. The recognizer is returned
    /// for the end of the run; `None` if the policy turns recognition off.
    pub fn at_start(
        workspace: &Workspace,
        policy: &Policy,
        committed: Option<&HeadTree>,
        start: &Snapshot,
    ) -> Result<(Self, Option<OutputRecognizer>), probity_paths::PatternError> {
        let mut exemptions = Self::of_patterns(workspace, policy, committed, start)?;
        let recognition =
            policy.workspace.recognize_outputs.then(|| OutputRecognizer::at_start(workspace, start));
        if let Some(recognition) = &recognition {
            exemptions.recognized = recognition.of_start(&exemptions);
        }
        Ok((exemptions, recognition))
    }

    /// Exempts the patterns of a policy and the output directories recognized in a tree that several agents share.
    pub fn in_shared_tree(
        workspace: &Workspace,
        policy: &Policy,
        committed: &HeadTree,
        tree: &Snapshot,
    ) -> Result<Self, probity_paths::PatternError> {
        let mut exemptions = Self::of_patterns(workspace, policy, Some(committed), tree)?;
        if policy.workspace.recognize_outputs {
            exemptions.recognized = output_markers::of_shared_tree(workspace, &exemptions, tree);
        }
        Ok(exemptions)
    }

    /// Returns whether a seal allows any exemption.
    pub fn are_possible(seal: &Seal) -> bool {
        let contents = seal.contents();
        contents.recognize_outputs || !contents.build_outputs.is_empty()
    }

    /// Adds the inputs and imports of the sealed gates.
    pub fn with_gates(mut self, seal: &Seal, start: &Snapshot) -> Result<Self, probity_paths::PatternError> {
        for (id, settings) in &seal.contents().gate_settings {
            if !settings.inputs.is_empty() {
                self.gate_inputs.insert(id.clone(), settings.inputs.iter().cloned().collect());
            }
            if !settings.declared_inputs.is_empty() {
                self.declared_inputs.insert(id.clone(), settings.declared_inputs.to_scope()?);
            }
            if !settings.imports.is_empty() {
                self.gate_imports.insert(id.clone(), settings.imports.to_scope()?);
            }
        }
        if !self.gate_imports.is_empty() {
            self.imported_directories = self.find_imported_directories(start);
        }
        Ok(self)
    }

    /// Returns whether a path is in a build output.
    pub fn covers(&self, path: &RepoPath) -> bool {
        self.build_outputs.contains(path)
            || self.recognized.iter().any(|output| path.is_covered_by(output.path.as_bytes()))
    }

    /// Returns whether a path is in a build output that nobody relies on, so that no before-image is kept.
    pub fn is_disposable(&self, path: &RepoPath) -> bool {
        self.covers(path)
            && !self.tracked.may_contain(path)
            && !self.is_gate_input(path)
            && !probity_policy::is_entry_points_file(path)
    }

    /// Returns whether a path is exempt, as far as the path alone can tell.
    pub fn exempts_path(&self, path: &RepoPath) -> bool {
        self.is_disposable(path)
            && probity_policy::code_in_output(path).is_none()
            && !self.is_module_of_environment(path)
    }

    /// Returns the rule that makes a path a build output.
    pub fn rule_for(&self, path: &RepoPath) -> Option<OutputRule> {
        if self.build_outputs.contains(path) {
            let pattern = self.build_outputs.decision(path)?.pattern.as_bytes().to_vec();
            return Some(OutputRule::BuildOutputs { pattern: probity_core::bytes::escape(&pattern) });
        }
        let output = self.recognized.iter().find(|output| path.is_covered_by(output.path.as_bytes()))?;
        let mark = output.mark.file_name().to_owned();
        Some(OutputRule::Recognized { directory: output.path.clone(), mark })
    }

    /// Returns why a path in a build output is judged anyway.
    pub fn why_path_judged(&self, path: &RepoPath) -> Option<JudgedBecause> {
        if !self.covers(path) {
            return None;
        }
        if self.tracked.may_contain(path) {
            Some(JudgedBecause::Tracked)
        } else if self.is_gate_input(path) {
            Some(JudgedBecause::GateInput)
        } else if probity_policy::code_in_output(path).is_some() || self.is_module_of_environment(path) {
            Some(JudgedBecause::CodeInOutput)
        } else {
            None
        }
    }

    /// Returns whether a change is exempt. `by_command` means that it was made before any gate ran: a gate may import
    /// what it installed.
    pub fn exempts(&self, change: &TreeChange, by_command: bool) -> bool {
        let path = &change.path;
        self.covers(path)
            && !self.tracked.contains(path, change.before.is_some())
            && !self.is_gate_input(path)
            && !self.is_altered_import(change, by_command)
            && !self.plugin_lists.contains(path)
            && !self.is_module_of_environment(path)
            && probity_policy::code_in_output(path).is_none()
    }

    /// Returns why a change in a build output is judged anyway.
    pub fn why_judged(&self, change: &TreeChange, by_command: bool) -> Option<&'static str> {
        if !self.covers(&change.path) || self.exempts(change, by_command) {
            return None;
        }
        Some(if self.tracked.contains(&change.path, change.before.is_some()) {
            "a build output that git tracks"
        } else if self.is_gate_input(&change.path) {
            "a build output that a gate executes"
        } else if let Some(why) = probity_policy::code_in_output(&change.path) {
            why
        } else if self.is_module_of_environment(&change.path) {
            "source code in a virtual environment, where no tool writes any"
        } else if self.plugin_lists.contains(&change.path) {
            "entry points that name plugins, which programs load by themselves"
        } else {
            "a build output that a gate imports"
        })
    }

    fn is_module_of_environment(&self, path: &RepoPath) -> bool {
        let mut environments =
            self.recognized.iter().filter(|output| output.mark == DirectoryMarker::VirtualEnvironment);
        environments.any(|output| {
            path.is_covered_by(output.path.as_bytes())
                && probity_policy::is_module_of_environment(&output.path, path)
        })
    }

    /// Returns whether a path is a gate input or a directory above one.
    pub fn is_gate_input(&self, path: &RepoPath) -> bool {
        let mut inputs = self.gate_inputs.values().flatten();
        inputs.any(|input| input.is_covered_by(path.as_bytes()))
    }

    /// Returns the directory at or above a path that the gate `id` imports from.
    pub fn import_root(&self, id: &str, path: &RepoPath) -> Option<RepoPath> {
        self.root_among(self.gate_imports.get(id)?, path)
    }

    /// Returns the topmost build output at or above `path` that `imports` matches. A source directory that happens to
    /// have such a name (`deps`) does not count.
    fn root_among(&self, imports: &Scope, path: &RepoPath) -> Option<RepoPath> {
        let lineage: Vec<RepoPath> =
            path.ancestors_and_self().filter_map(|above| RepoPath::parse(above).ok()).collect();
        let mut steps = lineage.iter().zip(lineage.iter().skip(1).chain([path]));
        steps
            .find(|(above, next)| imports.contains(above) && self.covers(next))
            .map(|(above, _)| above.clone())
    }

    /// Returns the directories of the start that match an import pattern, and everything below them.
    fn find_imported_directories(&self, start: &Snapshot) -> BTreeSet<RepoPath> {
        let mut found = BTreeSet::new();
        // Entries are sorted, so parents come before their children.
        for entry in start.entries().filter(|entry| entry.kind() == SnapshotEntryKind::Directory) {
            let path = entry.path();
            let is_below = || path.parent().is_some_and(|parent| found.contains(&parent));
            if is_below() || self.gate_imports.values().any(|imports| imports.contains(path)) {
                found.insert(path.clone());
            }
        }
        found
    }

    fn is_altered_import(&self, change: &TreeChange, by_command: bool) -> bool {
        by_command && self.gate_imports.values().any(|scope| self.alters_import(scope, change))
    }

    /// Returns whether a change in an imported directory is one that adding a package would not make.
    fn alters_import(&self, imports: &Scope, change: &TreeChange) -> bool {
        let Some(root) = self.root_among(imports, &change.path) else { return false };
        if probity_policy::is_never_imported(&root, &change.path) {
            return false;
        }
        if change.before.is_some() {
            return true;
        }
        let mut above = change.path.parent();
        while let Some(directory) = above.filter(|directory| directory.is_covered_by(root.as_bytes())) {
            if self.imported_directories.contains(&directory) {
                return !probity_policy::takes_packages(&root, &directory);
            }
            above = directory.parent();
        }
        // The imported directory itself is new.
        false
    }
}

#[cfg(test)]
mod tests;
