//! What a view is made of, and what its entrance reports. Plain data, exchanged as JSON between processes of the same
//! program; paths are `OsString`s because JSON text cannot hold every path.

use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::path::Path;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ViewPlan {
    /// Trees that can be changed without being changed, in the order in which they are mounted.
    pub overlays: Vec<OverlayMount>,
    /// Directories whose changes are thrown away. Their overlays are mounted before the others.
    pub scratch: ScratchOverlays,
    /// Directories and files that stay writable, and whose changes are real.
    pub writable: Vec<OsString>,
    /// Directories and files that are read-only, and visible even where they lie in a private directory such as `/tmp`.
    pub visible: Vec<OsString>,
    /// Parts of `writable` that are read-only all the same.
    pub read_only: Vec<OsString>,
    /// Directories that appear empty and files that appear empty.
    pub hidden: Vec<OsString>,
    pub network: NetworkAccess,
    /// Directories that must not be writable. The command starts only if a last test finds that none of them is.
    pub outside: Vec<OsString>,
    /// Where the command starts.
    pub working_directory: OsString,
    /// The file in which the entrance leaves its [`ViewReport`].
    pub report: OsString,
}

/// A directory whose changes go into an upper layer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OverlayMount {
    /// The directory that is covered; also the lowest layer.
    pub target: OsString,
    /// The layer of an ended view between `target` and `upper`, which is only read.
    pub below: Option<LayerBelow>,
    /// Receives every change. On the same file system as `work`.
    pub upper: OsString,
    /// Empty; the kernel works in it.
    pub work: OsString,
}

/// Overlays whose layers nobody needs when the view has ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScratchOverlays {
    /// The directories that are covered.
    pub targets: Vec<OsString>,
    /// An empty directory for the layers: they lie in memory, or in the directory itself where the kernel keeps no
    /// attributes of files in memory (before 6.6).
    pub place: OsString,
}

/// The layer of an overlay whose view has ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LayerBelow {
    pub upper: OsString,
    pub work: OsString,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NetworkAccess {
    On,
    /// Only a loopback device of the view's own.
    Off,
}

/// What a command may write, in the tree itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WriteGrants {
    /// Directories, with everything below them, and files. They exist, and no part of their paths is a link.
    pub writable: Vec<OsString>,
    /// The file in which a [`ViewReport`] is left before the command starts.
    pub report: OsString,
}

/// What became of a view.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ViewReport {
    /// Why the command was not started; `None` if it was.
    pub failure: Option<ViewFailure>,
    /// How the command ended; `None` if the view was ended before it.
    pub end: Option<CommandEnd>,
    /// The listening sockets that were covered.
    pub n_masked_sockets: usize,
    /// Whether abstract sockets and signals are confined to the view.
    pub has_landlock_scopes: bool,
    /// The version of Landlock that the kernel offers.
    pub landlock_abi: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CommandEnd {
    Exited(i32),
    Signaled(i32),
}

/// A step on the way into a view that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("cannot {step}{}: {cause}", place(.path.as_deref()))]
pub struct ViewFailure {
    /// Completes "cannot …".
    pub step: String,
    pub path: Option<OsString>,
    /// The system's own words.
    pub cause: String,
    /// The system's error number, for telling causes apart.
    pub errno: Option<i32>,
}

fn place(path: Option<&std::ffi::OsStr>) -> String {
    path.map(|path| format!(" {}", Path::new(path).display())).unwrap_or_default()
}

impl ViewFailure {
    pub(crate) fn new(step: &str, path: Option<&Path>, cause: &std::io::Error) -> Self {
        Self {
            step: step.to_owned(),
            path: path.map(|path| path.as_os_str().to_owned()),
            cause: cause.to_string(),
            errno: cause.raw_os_error(),
        }
    }

    /// Returns a function for `map_err` of a step that concerns no path.
    pub(crate) fn step<E: Into<std::io::Error>>(step: &str) -> impl FnOnce(E) -> Self {
        move |cause| Self::new(step, None, &cause.into())
    }

    /// Returns a function for `map_err` of a step that concerns `path`.
    pub(crate) fn at<E: Into<std::io::Error>>(step: &str, path: &Path) -> impl FnOnce(E) -> Self {
        move |cause| Self::new(step, Some(path), &cause.into())
    }
}
