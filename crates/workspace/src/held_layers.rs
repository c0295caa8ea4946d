//! The layers of runs in views that neither landed nor were discarded, and the space they take.

use crate::{ServiceError, Workspace};
use probity_storage::FileLock;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The unit of `st_blocks`, whatever the file system.
const BLOCK_BYTES: u64 = 512;

/// A layer that is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldLayer {
    pub run_id: String,
    pub directory: PathBuf,
    pub size: LayerSize,
    /// Whether a process uses it: the run goes on, or somebody works in the view.
    pub is_in_use: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LayerSize {
    /// The space that its files take.
    pub bytes: u64,
    /// Entries that are no directories; a deletion is one, too.
    pub n_entries: u64,
}

/// Returns the layers of this repository, oldest first.
pub fn held_layers(workspace: &Workspace) -> Result<Vec<HeldLayer>, ServiceError> {
    let mut layers = Vec::new();
    for run_id in workspace.state.layers()? {
        let directory = workspace.state.layer(&run_id);
        let lock = workspace.state.layer_lock(&run_id);
        let is_in_use = lock.exists() && FileLock::poll(&lock)?.is_none();
        let size = layer_size(&directory.join("upper"));
        layers.push(HeldLayer { run_id, directory, size, is_in_use });
    }
    Ok(layers)
}

/// Adds up the entries of a layer. What cannot be read is not counted.
pub fn layer_size(upper: &Path) -> LayerSize {
    let mut size = LayerSize::default();
    let mut waiting = vec![upper.to_owned()];
    while let Some(directory) = waiting.pop() {
        for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
            let Ok(facts) = entry.metadata() else { continue };
            if facts.is_dir() {
                waiting.push(entry.path());
            } else {
                size.n_entries += 1;
                size.bytes += facts.blocks() * BLOCK_BYTES;
            }
        }
    }
    size
}
