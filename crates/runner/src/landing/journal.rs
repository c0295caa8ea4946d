//! The journal of a landing: what is exchanged with the tree, step by step.
//!
//! A landing has a directory of its own, beside which its steps need nothing:
//!
//! * `exchange/<n>`: before its step the new entry of a path, afterwards the entry that it replaced;
//! * `journal.json`: the steps, in their order. Once it is there, the landing is decided: it is completed, by this process or a later one;
//! * `undo`: the landing met a conflict and is taken back. It is `undo.reserved` before, so that naming it needs no space;
//! * `landed.json`: the journal of a completed landing. From here on `exchange` holds what was there before.
//!
//! A directory without any of these is the work of a process that died before it decided: nothing happened.

use probity_core::json;
use probity_paths::RepoPath;
use probity_snapshot::EntryState;
use probity_snapshot::tree_handle::ObjectIdentity;
use probity_storage::{StoreError, durable};
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::PathBuf;

const JOURNAL_FILE: &str = "journal.json";
const LANDED_FILE: &str = "landed.json";
const UNDO_FILE: &str = "undo";
const UNDO_RESERVED_FILE: &str = "undo.reserved";

/// A landing: all of its steps, in the order in which they are made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LandingJournal {
    pub(crate) run_id: String,
    /// Every path that lands, those that were already as wanted too.
    pub(crate) paths: Vec<RepoPath>,
    pub(crate) steps: Vec<LandingStep>,
}

/// One change of the tree. A step that was made can be recognized by its slot, and be made again without harm.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum LandingStep {
    /// Lets this user write to a directory until its permission bits are set at the end.
    OpenDirectory {
        path: RepoPath,
        before: u32,
        mode: u32,
    },
    /// Moves an entry into its slot.
    Remove {
        path: RepoPath,
        slot: u32,
        before: EntryState,
    },
    /// Exchanges an entry with the one in its slot.
    Replace {
        path: RepoPath,
        slot: u32,
        staged: StagedObject,
        before: EntryState,
        after: EntryState,
    },
    /// Moves an entry out of its slot.
    Add {
        path: RepoPath,
        slot: u32,
        staged: StagedObject,
        after: EntryState,
    },
    MakeDirectory {
        path: RepoPath,
    },
    /// Removes a directory if it is empty.
    RemoveDirectory {
        path: RepoPath,
        before: u32,
    },
    /// Sets the permission bits of a directory; `before` is `None` for a new one.
    SetMode {
        path: RepoPath,
        before: Option<u32>,
        mode: u32,
    },
}

/// The identity of a staged entry, in hexadecimal: inode numbers may be too large for JSON.
/// Empty until the entry is staged.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StagedObject(String);

impl From<ObjectIdentity> for StagedObject {
    fn from(identity: ObjectIdentity) -> Self {
        Self(format!("{:x}:{:x}", identity.device, identity.inode))
    }
}

impl LandingStep {
    pub(crate) const fn path(&self) -> &RepoPath {
        match self {
            Self::OpenDirectory { path, .. }
            | Self::Remove { path, .. }
            | Self::Replace { path, .. }
            | Self::Add { path, .. }
            | Self::MakeDirectory { path }
            | Self::RemoveDirectory { path, .. }
            | Self::SetMode { path, .. } => path,
        }
    }

    /// Returns the former state of the path, and the slot that holds it, if the step took it out of the tree.
    pub(crate) const fn taken_out(&self) -> Option<(&EntryState, u32)> {
        match self {
            Self::Remove { slot, before, .. } | Self::Replace { slot, before, .. } => Some((before, *slot)),
            _ => None,
        }
    }
}

/// How far a landing got.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum LandingProgress {
    /// Nothing in the tree has changed.
    Undecided,
    /// It is to be completed.
    Decided,
    /// It is to be taken back.
    Undoing,
    Landed,
}

/// The directory of a landing.
#[derive(Debug, Clone)]
pub(crate) struct LandingDirectory(PathBuf);

impl LandingDirectory {
    pub(crate) fn at(path: PathBuf) -> Self {
        Self(path)
    }

    /// The directory of the exchanged entries.
    pub(crate) fn exchange(&self) -> PathBuf {
        self.0.join("exchange")
    }

    /// Makes the directory, empty.
    pub(crate) fn create(&self) -> Result<(), StoreError> {
        self.remove()?;
        durable::create_dir(&self.exchange())?;
        let reserved = self.0.join(UNDO_RESERVED_FILE);
        fs::write(&reserved, b"").map_err(StoreError::io_error(&reserved))
    }

    pub(crate) fn progress(&self) -> LandingProgress {
        let has = |name: &str| self.0.join(name).symlink_metadata().is_ok();
        if has(LANDED_FILE) {
            LandingProgress::Landed
        } else if !has(JOURNAL_FILE) {
            LandingProgress::Undecided
        } else if has(UNDO_FILE) {
            LandingProgress::Undoing
        } else {
            LandingProgress::Decided
        }
    }

    /// Decides the landing: it is durable when this returns.
    pub(crate) fn decide(&self, journal: &LandingJournal) -> Result<(), StoreError> {
        durable::write(&self.0.join(JOURNAL_FILE), &json::canonical_of(journal))?;
        // The name of the directory itself.
        self.0.parent().map_or(Ok(()), durable::sync_dir)
    }

    /// Decides that the landing is taken back.
    pub(crate) fn decide_undo(&self) -> Result<(), StoreError> {
        let (from, to) = (self.0.join(UNDO_RESERVED_FILE), self.0.join(UNDO_FILE));
        fs::rename(&from, &to).map_err(StoreError::io_error(&from))?;
        durable::sync_dir(&self.0)
    }

    /// Notes that every step was made and is durable.
    pub(crate) fn complete(&self) -> Result<(), StoreError> {
        let (from, to) = (self.0.join(JOURNAL_FILE), self.0.join(LANDED_FILE));
        fs::rename(&from, &to).map_err(StoreError::io_error(&from))?;
        durable::sync_dir(&self.0)
    }

    /// Reads the journal, of a completed landing too.
    pub(crate) fn read(&self) -> Result<LandingJournal, StoreError> {
        let path = self.0.join(JOURNAL_FILE);
        let path = if path.exists() { path } else { self.0.join(LANDED_FILE) };
        let damaged = |why: String| StoreError::Damaged { path: path.clone(), why };
        let bytes = durable::read(&path)?.ok_or_else(|| damaged("it is missing".to_owned()))?;
        let value = json::parse(&bytes).map_err(|error| damaged(error.to_string()))?;
        serde_json::from_value(value).map_err(|error| damaged(error.to_string()))
    }

    /// Keeps the directory for a person to look at, under a name that nothing reads.
    pub(crate) fn set_aside(&self) -> Result<PathBuf, StoreError> {
        let name = self.0.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let aside = self.0.with_file_name(format!(".kept-{name}"));
        super::layer_store::remove_tree(&aside)?;
        fs::rename(&self.0, &aside).map_err(StoreError::io_error(&self.0))?;
        Ok(aside)
    }

    /// Removes the directory. The journal goes first, so that a kill leaves nothing that looks decided.
    pub(crate) fn remove(&self) -> Result<(), StoreError> {
        for name in [JOURNAL_FILE, LANDED_FILE, UNDO_FILE] {
            durable::remove(&self.0.join(name))?;
        }
        super::layer_store::remove_tree(&self.0)
    }
}
