//! Translates paths between the workspace and the registry.
//!
//! All worktrees of a clone and all roots in it share one registry, so the registry names every path from the top of
//! the working tree. A caller names paths from its own root. If the two are the same, nothing is translated.

use probity_core::bytes::escape;
use probity_intents::{IntentScope, LackingWork, ScopeEntry, ScopeEntrySet};
use probity_paths::RepoPath;
use probity_team::TeamMembership;
use probity_workspace::Workspace;
use probity_workspace::clone_identity::CloneIdentity;
use probity_workspace::git::worktrees;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Returns the name of the working tree of this repository with its top at `top`.
fn tree_name(workspace: &Workspace, top: &Path) -> String {
    let mut named = top.as_os_str().as_bytes().to_vec();
    // The clones of a team may lie at the same path, each on its own machine.
    if let (Ok(Some(_)), Ok(identity)) =
        (TeamMembership::of(&workspace.state), CloneIdentity::of(&workspace.state))
    {
        named.extend([b"\0", identity.clone.as_bytes()].concat());
    }
    probity_core::Digest::of(&named).to_hex()[..16].to_owned()
}

/// Where an intent was started: a working tree of this repository, and the root in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct IntentPlace {
    pub(crate) top: PathBuf,
    pub(crate) root: PathBuf,
}

impl IntentPlace {
    /// Finds the place that `root_name` means; `None` if it is gone, or belongs to another clone.
    pub(crate) fn find(workspace: &Workspace, root_name: &str) -> Option<Self> {
        let (tree, below) = root_name.split_once(':')?;
        let trees = worktrees(&workspace.git.as_ref()?.common_dir);
        let top = trees.into_iter().find(|top| tree_name(workspace, top) == tree)?;
        let root = if below.is_empty() { top.clone() } else { top.join(below) };
        root.is_dir().then_some(Self { top, root })
    }
}

#[derive(Debug, Clone)]
pub(crate) struct RootMapping {
    prefix: Vec<u8>,
    tree: String,
}

impl RootMapping {
    pub(crate) fn for_workspace(workspace: &Workspace) -> Self {
        let top = workspace.git.as_ref().map_or(&workspace.root, |git| &git.root);
        Self { prefix: workspace.below_top(), tree: tree_name(workspace, top) }
    }

    /// Returns the root's name: the working tree and the directory in it.
    pub(crate) fn root_name(&self) -> String {
        format!("{}:{}", self.tree, escape(&self.prefix))
    }

    /// Returns whether `name` belongs to this working tree. Worktrees of a clone share claims but not uncommitted changes.
    pub(crate) fn shares_tree(&self, name: &str) -> bool {
        name.split(':').next() == Some(&self.tree)
    }

    pub(crate) fn to_repo_path(&self, path: &RepoPath) -> RepoPath {
        let joined =
            if self.prefix.is_empty() { None } else { RepoPath::parse(&self.join(path.as_bytes())).ok() };
        joined.unwrap_or_else(|| path.clone())
    }

    /// Translates from the registry; a path outside the root keeps its name.
    pub(crate) fn to_workspace_path(&self, path: &RepoPath) -> RepoPath {
        let below =
            strip_directory(&self.prefix, path.as_bytes()).and_then(|name| RepoPath::parse(name).ok());
        below.unwrap_or_else(|| path.clone())
    }

    pub(crate) fn to_repo_entries(&self, entries: &ScopeEntrySet) -> ScopeEntrySet {
        if self.prefix.is_empty() {
            return entries.clone();
        }
        entries.iter().map(|entry| ScopeEntry::new(self.join(entry.as_bytes()))).collect()
    }

    /// Translates from the registry; entries outside the root keep their names.
    pub(crate) fn to_workspace_entries(&self, entries: &ScopeEntrySet) -> ScopeEntrySet {
        let down = |entry: &ScopeEntry| {
            strip_directory(&self.prefix, entry.as_bytes()).map_or_else(|| entry.clone(), ScopeEntry::new)
        };
        entries.iter().map(down).collect()
    }

    pub(crate) fn to_repo_scope(&self, scope: &IntentScope) -> IntentScope {
        let pattern = |entry: &ScopeEntry| {
            ScopeEntry::new([&literal_pattern(&self.prefix), entry.as_bytes()].join(&b'/'))
        };
        IntentScope {
            allowed_files: self.to_repo_entries(&scope.allowed_files),
            allowed_related: self.to_repo_entries(&scope.allowed_related),
            forbidden: match &*self.prefix {
                b"" => scope.forbidden.clone(),
                _ => scope.forbidden.iter().map(pattern).collect(),
            },
        }
    }

    pub(crate) fn to_workspace_scope(&self, scope: &IntentScope) -> IntentScope {
        let prefix = literal_pattern(&self.prefix);
        let down = |entry: &ScopeEntry| {
            strip_directory(&prefix, entry.as_bytes()).map_or_else(|| entry.clone(), ScopeEntry::new)
        };
        IntentScope {
            allowed_files: self.to_workspace_entries(&scope.allowed_files),
            allowed_related: self.to_workspace_entries(&scope.allowed_related),
            forbidden: scope.forbidden.iter().map(down).collect(),
        }
    }

    /// Translates the paths of work that a tree lacks from the registry.
    pub(crate) fn to_workspace_lacking(&self, lacking: &[LackingWork]) -> Vec<LackingWork> {
        let translated = |work: &LackingWork| LackingWork {
            paths: work.paths.iter().map(|path| self.to_workspace_path(path)).collect(),
            ..work.clone()
        };
        lacking.iter().map(translated).collect()
    }

    fn join(&self, name: &[u8]) -> Vec<u8> {
        [&self.prefix, name].join(&b'/')
    }
}

fn strip_directory<'a>(prefix: &[u8], name: &'a [u8]) -> Option<&'a [u8]> {
    if prefix.is_empty() { None } else { name.strip_prefix(prefix)?.strip_prefix(b"/") }
}

/// Escapes a name to a pattern that matches only that name.
fn literal_pattern(name: &[u8]) -> Vec<u8> {
    let mut pattern = Vec::with_capacity(name.len());
    for &byte in name {
        if b"*?[".contains(&byte) {
            pattern.extend_from_slice(&[b'[', byte, b']']);
        } else {
            pattern.push(byte);
        }
    }
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope(files: &[&str], forbidden: &[&str]) -> IntentScope {
        IntentScope {
            allowed_files: files.iter().map(ScopeEntry::new).collect(),
            forbidden: forbidden.iter().map(ScopeEntry::new).collect(),
            ..IntentScope::default()
        }
    }

    #[test]
    fn a_root_below_the_top_has_its_own_names_and_shares_the_registry() {
        let frame = RootMapping { prefix: b"pkg[1]".to_vec(), tree: String::new() };
        let own = scope(&["a.py", "src/b.py"], &["*.lock"]);
        let shared = frame.to_repo_scope(&own);
        assert_eq!(shared, scope(&["pkg[1]/a.py", "pkg[1]/src/b.py"], &["pkg[[]1]/*.lock"]));
        assert!(shared.forbids(b"pkg[1]/deep/x.lock") && !shared.forbids(b"x.lock"));
        assert_eq!(frame.to_workspace_scope(&shared), own);
        assert_eq!(frame.to_workspace_scope(&scope(&["other/x"], &[])), scope(&["other/x"], &[]));
    }

    #[test]
    fn at_the_top_nothing_is_translated() {
        let frame = RootMapping { prefix: Vec::new(), tree: String::new() };
        let own = scope(&["a.py"], &["*.lock"]);
        assert_eq!((frame.to_repo_scope(&own), frame.to_workspace_scope(&own)), (own.clone(), own));
    }
}
