//! Reads the changes that a bundle records.

use crate::bundles::{BundleFiles, DELTA_FILE};
use probity_api::govern::delta::{DeltaFile, EntryKind, RecordedChange, RecordedSide};
use probity_core::{ReasonCode, json};
use probity_snapshot::{EntryState, SnapshotEntryKind, TreeChange};
use probity_workspace::ServiceError;

/// What is wrong with a recorded change, or why its path is left alone.
pub(crate) type RecordedFault = (ReasonCode, String);

pub(crate) fn read_delta(files: &BundleFiles, run_id: &str) -> Result<DeltaFile, ServiceError> {
    let unknown = || {
        ServiceError::refused(
            ReasonCode::ReconSnapshotMissing,
            format!("run {run_id} does not know what it changed"),
        )
    };
    let bytes = files.get(DELTA_FILE.as_bytes()).ok_or_else(unknown)?;
    let value = json::parse(bytes).map_err(|error| ServiceError::refused(error.reason, error.to_string()))?;
    serde_json::from_value(value).map_err(|error| {
        ServiceError::refused(ReasonCode::EvidenceSchemaInvalid, format!("{DELTA_FILE}: {error}"))
    })
}

/// Returns a recorded change as the comparison of two trees gives it.
pub(crate) fn tree_change(recorded: &RecordedChange) -> Result<TreeChange, RecordedFault> {
    Ok(TreeChange {
        path: recorded.path.clone(),
        change: recorded.change,
        before: recorded.before.as_ref().map(side_of).transpose()?,
        after: recorded.after.as_ref().map(side_of).transpose()?,
    })
}

pub(crate) fn side_of(recorded: &RecordedSide) -> Result<EntryState, RecordedFault> {
    let size = recorded.size.parse().map_err(|_| damaged_delta())?;
    let kind = match recorded.kind {
        EntryKind::File => SnapshotEntryKind::File,
        EntryKind::Directory => SnapshotEntryKind::Directory,
        EntryKind::Symlink => SnapshotEntryKind::Symlink,
        EntryKind::Fifo => SnapshotEntryKind::Fifo,
        EntryKind::Socket => SnapshotEntryKind::Socket,
        EntryKind::CharDevice => SnapshotEntryKind::CharDevice,
        EntryKind::BlockDevice => SnapshotEntryKind::BlockDevice,
    };
    Ok(EntryState { kind, mode: mode_of(recorded)?, size, digest: recorded.digest })
}

pub(crate) fn mode_of(recorded: &RecordedSide) -> Result<u32, RecordedFault> {
    u32::from_str_radix(&recorded.mode, 8).map_err(|_| damaged_delta())
}

fn damaged_delta() -> RecordedFault {
    (ReasonCode::EvidenceSchemaInvalid, format!("{DELTA_FILE} has a side that is none"))
}
