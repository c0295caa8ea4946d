//! Reads the contents that an audit needs, with one git process per batch.

use probity_merge_audit::{FourTrees, is_proven_by_ids};
use probity_snapshot::git::GitLayout;
use probity_workspace::{ServiceError, git, git_history};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Larger files are not read: they are listed as such.
pub(crate) const MAX_READ_BYTES: u64 = 4 << 20;
/// With more changed files than this, only those that need it are read.
const MAX_READ_PATHS: usize = 1_500;

/// Which contents are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ContentDepth {
    /// Only files whose fate the ids do not prove.
    Unproven,
    /// All changed files, to find code that moved and calls that broke.
    Everything,
}

/// Returns the ids of the contents that are wanted and not there yet.
fn wanted(trees: &FourTrees, depth: ContentDepth) -> BTreeSet<String> {
    let reads_all = depth == ContentDepth::Everything && trees.len() <= MAX_READ_PATHS;
    // A file that is not everywhere may have another path where it is missing: usually with the same name.
    let names: BTreeSet<&[u8]> = trees
        .iter()
        .filter(|(_, versions)| !is_proven_by_ids(versions) && versions.iter().any(Option::is_none))
        .map(|(path, _)| path.file_name())
        .collect();
    let paths = trees
        .iter()
        .filter(|(path, versions)| {
            reads_all || !is_proven_by_ids(versions) || names.contains(path.file_name())
        })
        .map(|(_, versions)| versions);
    let versions =
        paths.flatten().flatten().filter(|version| version.bytes.is_none() && !version.is_submodule());
    versions.map(|version| version.id.to_string()).collect()
}

/// Reads the contents of many audits at once.
pub(crate) fn fill(
    layout: &GitLayout,
    all: &mut [&mut FourTrees],
    depth: ContentDepth,
) -> Result<(), ServiceError> {
    let ids: BTreeSet<String> = all.iter().flat_map(|trees| wanted(trees, depth)).collect();
    if ids.is_empty() {
        return Ok(());
    }
    let ids: Vec<String> = ids.into_iter().collect();
    let sizes = git_history::blob_sizes(layout, &ids)?;
    let small: Vec<String> =
        ids.into_iter().filter(|id| sizes.get(id).is_some_and(|size| *size < MAX_READ_BYTES)).collect();
    let blobs: BTreeMap<String, Arc<[u8]>> =
        git::present_blobs(layout, &small)?.into_iter().map(|(id, bytes)| (id, bytes.into())).collect();
    for version in all.iter_mut().flat_map(|trees| trees.values_mut()).flatten().flatten() {
        if version.bytes.is_none()
            && let Some(bytes) = blobs.get(&*version.id)
        {
            version.bytes = Some(Arc::clone(bytes));
        }
    }
    Ok(())
}
