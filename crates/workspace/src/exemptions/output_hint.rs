//! Detects violations that are mostly build outputs, where a policy helps more than a wider scope.

use probity_evidence::Seal;
use probity_paths::{RepoPath, Scope};
use probity_policy::{OutputLook, Policy};
use std::collections::BTreeMap;

const MAX_NAMED_OUTPUTS: usize = 3;

/// Out-of-scope paths that look like build outputs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputHint {
    /// Paths that look like build outputs.
    pub n_outputs: usize,
    /// All out-of-scope paths.
    pub n_untracked: usize,
    /// The names of the outputs, those with most paths first; a trailing `…` means there are more.
    pub names: Vec<String>,
    /// The run had no policy, so `probity init` would help.
    pub without_policy: bool,
}

/// Counts the out-of-scope paths in sealed build outputs. They are judged because git tracks them or a gate relies on
/// them.
pub fn judged_outputs(seal: &Seal, untracked: &[RepoPath]) -> usize {
    let outputs = sealed_outputs(seal);
    untracked.iter().filter(|path| outputs.contains(path)).count()
}

fn sealed_outputs(seal: &Seal) -> Scope {
    // Sealed patterns were already parsed once, so this cannot fail.
    seal.contents().build_outputs.to_scope().unwrap_or_default()
}

/// Returns a hint if most out-of-scope paths look like build outputs that no sealed pattern covers.
pub fn output_hint(seal: &Seal, untracked: &[RepoPath]) -> Option<OutputHint> {
    let look = OutputLook::of(untracked);
    let outputs = sealed_outputs(seal);
    let mut counts: BTreeMap<RepoPath, usize> = BTreeMap::new();
    for root in untracked.iter().filter(|path| !outputs.contains(path)).filter_map(|path| look.root_of(path))
    {
        *counts.entry(root).or_default() += 1;
    }
    let n_outputs: usize = counts.values().sum();
    if n_outputs * 2 <= untracked.len() {
        return None;
    }
    let mut by_name: BTreeMap<String, usize> = BTreeMap::new();
    for (root, count) in counts {
        *by_name.entry(probity_core::bytes::escape(root.file_name())).or_default() += count;
    }
    let mut names: Vec<(String, usize)> = by_name.into_iter().collect();
    names.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
    let more = (names.len() > MAX_NAMED_OUTPUTS).then(|| "…".to_owned());
    let names = names.into_iter().take(MAX_NAMED_OUTPUTS).map(|(name, _)| name).chain(more).collect();
    let without_policy = seal.contents().policy_digest == Policy::default().digest();
    Some(OutputHint { n_outputs, n_untracked: untracked.len(), names, without_policy })
}

/// Returns the paths that do not look like build outputs, and the number of those that do.
pub fn sources_among(paths: &[RepoPath]) -> (Vec<RepoPath>, usize) {
    let look = OutputLook::of(paths);
    let sources: Vec<RepoPath> = paths.iter().filter(|path| !look.is_output(path)).cloned().collect();
    let n_outputs = paths.len() - sources.len();
    (sources, n_outputs)
}
