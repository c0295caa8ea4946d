//! Build-output directories that identify themselves by a marker file.

use probity_paths::RepoPath;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The marker file that identifies a directory as a build output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub enum DirectoryMarker {
    /// Marks a cache directory.
    #[serde(rename = "CACHEDIR.TAG")]
    CacheDirectory,
    /// Marks a Python virtual environment.
    #[serde(rename = "pyvenv.cfg")]
    VirtualEnvironment,
}

/// Why a marker file was accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RecognizedBecause {
    /// The marker existed before the run.
    MarkedAtStart,
    /// The ignore rules at the start of the run cover the directory.
    Ignored,
    /// The directory has the tool's default name.
    ToolName,
}

/// A directory recognized as a build output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RecognizedOutput {
    /// The directory.
    pub path: RepoPath,
    /// The marker file found in it.
    pub mark: DirectoryMarker,
    /// Why the marker was accepted. An agent can create a marker, so a marker alone is not enough.
    pub because: RecognizedBecause,
}

impl DirectoryMarker {
    pub const ALL: [Self; 2] = [Self::CacheDirectory, Self::VirtualEnvironment];

    pub fn of_file_name(name: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().find(|mark| mark.file_name().as_bytes() == name)
    }

    pub const fn file_name(self) -> &'static str {
        match self {
            Self::CacheDirectory => "CACHEDIR.TAG",
            Self::VirtualEnvironment => "pyvenv.cfg",
        }
    }
}
