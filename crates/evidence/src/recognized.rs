//! Build outputs that say themselves what they are, as evidence names them.

use probity_paths::RepoPath;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The file that says what its directory is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub enum Mark {
    /// A cache directory.
    #[serde(rename = "CACHEDIR.TAG")]
    CacheDirectory,
    /// A virtual environment of Python.
    #[serde(rename = "pyvenv.cfg")]
    VirtualEnvironment,
}

/// Why a mark was believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RecognizedBecause {
    /// The directory had its mark before the run.
    MarkedAtStart,
    /// The ignore rules of the start name the directory.
    Ignored,
    /// The directory has the name that the tool uses by itself.
    ToolName,
}

/// A directory that was recognized as a build output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RecognizedOutput {
    /// The directory.
    pub path: RepoPath,
    /// Its mark.
    pub mark: Mark,
    /// Why the mark was believed.
    pub because: RecognizedBecause,
}

impl Mark {
    /// The mark that a file of this name would be.
    pub fn of_file_name(name: &[u8]) -> Option<Self> {
        match name {
            b"CACHEDIR.TAG" => Some(Self::CacheDirectory),
            b"pyvenv.cfg" => Some(Self::VirtualEnvironment),
            _ => None,
        }
    }

    /// The name of the file.
    pub const fn file_name(self) -> &'static str {
        match self {
            Self::CacheDirectory => "CACHEDIR.TAG",
            Self::VirtualEnvironment => "pyvenv.cfg",
        }
    }
}
