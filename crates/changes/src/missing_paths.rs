//! Finds declared paths that do not exist: usually files to be created, sometimes typos.

use probity_api::change::MissingPath;
use probity_intents::{IntentScope, ScopeEntry};
use probity_paths::RepoPath;
use probity_workspace::worktree::WorktreeStatus;

/// Returns the declared paths that are neither in the tree nor in its commit. Suggestions never name a build output
/// or an ignored file.
pub(super) fn missing_paths(look: &WorktreeStatus, scope: &IntentScope) -> Vec<MissingPath> {
    let declared = scope.allowed_files.iter().chain(&scope.allowed_related);
    let is_missing = |entry: &&ScopeEntry| {
        RepoPath::parse(entry.as_bytes()).is_ok_and(|path| {
            look.snapshot.get(&path).is_none()
                && !look.state.dirty.contains_key(&path)
                && !look.leaves_out(&path)
        })
    };
    let missing: Vec<&ScopeEntry> = declared.filter(is_missing).collect();
    if missing.is_empty() {
        return Vec::new();
    }
    let sources = look.sources();
    let one = |entry: &ScopeEntry| {
        let text = std::str::from_utf8(entry.as_bytes()).ok();
        let known = sources.iter().filter_map(|path| std::str::from_utf8(path.as_bytes()).ok());
        let nearest = text.and_then(|text| probity_policy::nearest_path(text, known));
        MissingPath {
            path: entry.clone(),
            suggestion: nearest.and_then(|path| RepoPath::parse(path.as_bytes()).ok()),
            hint: text.and_then(probity_policy::brace_hint),
        }
    };
    missing.into_iter().map(one).collect()
}
