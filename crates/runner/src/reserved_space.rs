//! Keeps evidence possible on a full disk (law 11).
//!
//! A run reserves space beside its seal and gives it back before its bundle is written, so that a command that fills the
//! disk does not lose its own failure. A bundle that is larger, or whose place was destroyed, goes to the directory for
//! temporary files. The open directory of its run then names that place, until `recover::adopt` brings the bundle home.

use probity_core::{Digest, json};
use probity_storage::{StoreError, durable};
use probity_workspace::{OpenRun, ServiceError, Workspace};
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Holds the reserved space, in the open directory of a run.
const RESERVED_FILE: &str = "reserved";

/// More than the bundle of a run with a thousand changes and short logs needs.
const RESERVED_BYTES: usize = 1 << 20;

/// Names the place of a bundle that could not be written to the state directory.
const ELSEWHERE_FILE: &str = "elsewhere.json";

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BundleElsewhere {
    pub(crate) dir: PathBuf,
    pub(crate) run_hash: Digest,
}

/// Reserves space in the open directory of a run. A disk that has no room for evidence has none for a run.
pub(crate) fn reserve(folder: &Path) -> Result<(), ServiceError> {
    let path = folder.join(RESERVED_FILE);
    let reserved = File::create(&path).and_then(|mut file| {
        let length = RESERVED_BYTES as u64;
        match rustix::fs::fallocate(&file, rustix::fs::FallocateFlags::empty(), 0, length) {
            Err(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::NOSYS) => {
                file.write_all(&vec![0; RESERVED_BYTES])
            }
            done => done.map_err(Into::into),
        }
    });
    reserved.map_err(ServiceError::system("there is no room for the evidence of a run"))
}

/// Gives the space back.
pub(crate) fn release(folder: &Path) {
    // If it is gone already, the guard of the state directory has noticed.
    let _ = fs::remove_file(folder.join(RESERVED_FILE));
}

/// Notes where the bundle of an open run is.
pub(crate) fn note_elsewhere(folder: &Path, dir: &Path, run_hash: Digest) -> Result<(), StoreError> {
    let note = BundleElsewhere { dir: dir.to_owned(), run_hash };
    durable::write(&folder.join(ELSEWHERE_FILE), &json::canonical_of(&note))
}

/// Returns where the bundle of an open run is, if its directory says so.
pub(crate) fn elsewhere(run: &OpenRun) -> Option<BundleElsewhere> {
    let bytes = durable::read(&run.folder.join(ELSEWHERE_FILE)).ok().flatten()?;
    serde_json::from_value(json::parse(&bytes).ok()?).ok()
}

/// Returns the ended runs whose bundle is not on the chain yet, and where it is.
pub(crate) fn elsewhere_runs(workspace: &Workspace) -> Result<Vec<(String, PathBuf)>, ServiceError> {
    let open = workspace.state.open_runs()?;
    Ok(open.into_iter().filter_map(|run| Some((run.run_id.clone(), elsewhere(&run)?.dir))).collect())
}
