//! Deserializes snapshots. A stored snapshot whose parts contradict each other is refused as a whole, so that no bytes
//! can make a snapshot panic later.
//!
//! The hashes of directories are read, not recomputed: the cache file that holds a snapshot has its own checksum.

use crate::entry_record::{DirectoryRecord, EntryContent, ROOT};
use crate::finding::TreeFinding;
use crate::git_object::ObjectFormat;
use crate::snapshot::{Snapshot, SnapshotNote};
use probity_paths::name_error;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

/// A snapshot as it was read, with the members of [`Snapshot`] in their order.
#[derive(Deserialize)]
pub(crate) struct StoredSnapshot {
    started_ns: i64,
    git_ids: Option<ObjectFormat>,
    has_all_names: bool,
    dirs: Vec<DirectoryRecord>,
    findings: Vec<TreeFinding>,
    notes: Vec<SnapshotNote>,
}

/// What was read does not hang together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the stored snapshot is damaged")]
pub(crate) struct DamagedSnapshot;

impl<'de> Deserialize<'de> for Snapshot {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        StoredSnapshot::deserialize(deserializer)?.try_into().map_err(D::Error::custom)
    }
}

impl TryFrom<StoredSnapshot> for Snapshot {
    type Error = DamagedSnapshot;

    fn try_from(stored: StoredSnapshot) -> Result<Self, DamagedSnapshot> {
        let StoredSnapshot { started_ns, git_ids, has_all_names, dirs, findings, notes } = stored;
        let git_id_len = git_ids.map_or(0, ObjectFormat::id_len);
        let is_sound = hang_together(&dirs) && dirs.iter().all(|dir| is_sound(dir, git_id_len));
        is_sound
            .then_some(Self { started_ns, git_ids, has_all_names, dirs, findings, notes })
            .ok_or(DamagedSnapshot)
    }
}

/// Whether the `n`-th record that is a directory stands for the `n`-th directory below the root, and is its parent.
fn hang_together(dirs: &[DirectoryRecord]) -> bool {
    let mut parents = vec![(ROOT, 0)];
    for (dir, id) in dirs.iter().zip(0..) {
        if parents.get(id as usize) != Some(&dir.parent) {
            return false;
        }
        for (record, place) in dir.records.iter().zip(0..) {
            match record.held {
                EntryContent::Directory(Some(child)) if child as usize != parents.len() => return false,
                EntryContent::Directory(Some(_)) => parents.push((id, place)),
                _ => {}
            }
        }
    }
    !dirs.is_empty() && parents.len() == dirs.len()
}

/// Whether the names follow each other without a gap and in order, and every list fits the records.
fn is_sound(dir: &DirectoryRecord, git_id_len: usize) -> bool {
    let (mut last, mut rest) = (&b""[..], &*dir.names);
    for record in &dir.records {
        let Some((name, others)) = rest.split_at_checked(record.name.1.into()) else {
            return false;
        };
        let is_next = record.name.0 as usize == dir.names.len() - rest.len() && name > last;
        if !is_next || record.facts.mode > 0o7777 || name.contains(&b'/') || name_error(name).is_some() {
            return false;
        }
        (last, rest) = (name, others);
    }
    let links = dir
        .records
        .iter()
        .zip(0..)
        .filter(|(record, _)| matches!(record.held, EntryContent::Symlink(Some(_))));
    rest.is_empty()
        && dir.git_ids.len() == dir.records.len() * git_id_len
        && links.map(|(_, place)| place).eq(dir.targets.iter().map(|(place, _)| *place))
}
