//! Determines which runs were reverted, from the evidence of the reverts.

use probity_api::govern::evidence::RunRevert;
use probity_core::Digest;
use probity_evidence::{Manifest, StoredManifest};
use probity_paths::RepoPath;
use std::collections::{BTreeMap, BTreeSet};

/// The reverts of a repository by the hash of the reverted run, oldest first.
#[derive(Debug, Default)]
pub struct RevertIndex {
    of: BTreeMap<Digest, Vec<Manifest>>,
}

impl RevertIndex {
    /// Finds the reverts among the bundles of the chain.
    pub fn of(chained: &[StoredManifest]) -> Self {
        let mut of: BTreeMap<Digest, Vec<Manifest>> = BTreeMap::new();
        for StoredManifest { manifest, .. } in chained {
            if let Some(reverted) = manifest.details.reverts {
                of.entry(reverted).or_default().push(manifest.clone());
            }
        }
        Self { of }
    }

    /// Returns how the run was reverted; `None` if no revert had an effect.
    pub fn reverted_by(&self, run: &StoredManifest) -> Option<RunRevert> {
        let reverts = self.of.get(&run.run_hash)?;
        let undone: BTreeSet<RepoPath> = reverts.iter().flat_map(undone_by).collect();
        let mut left = run.manifest.untracked().unwrap_or_default();
        left.retain(|path| !undone.contains(path));
        // A revert that refused everything had no effect. One that found everything already undone is named only if no
        // other revert changed something.
        let mut with_effect = reverts.iter().filter(|revert| undone_by(revert).next().is_some());
        let has_changed = |revert: &&Manifest| revert.delta.as_ref().is_some_and(|delta| !delta.is_empty());
        let named = with_effect.clone().rfind(has_changed).or_else(|| with_effect.next())?;
        Some(RunRevert { run_id: named.run_id.clone(), left })
    }
}

/// The paths that a revert was given and did not refuse.
fn undone_by(revert: &Manifest) -> impl Iterator<Item = RepoPath> {
    /// `probity revert RUN`, before the paths.
    const N_WORDS_BEFORE_PATHS: usize = 3;
    let words = revert.details.command.as_ref().map(|command| command.argv.as_slice()).unwrap_or_default();
    let refused: BTreeSet<&RepoPath> =
        revert.details.findings.iter().filter_map(|finding| finding.path.as_ref()).collect();
    let paths =
        words.iter().skip(N_WORDS_BEFORE_PATHS).filter_map(|word| RepoPath::parse(word.as_bytes()).ok());
    paths.filter(move |path| !refused.contains(path))
}
