//! Paths of the machine in answers.

use serde::{Serialize, Serializer};
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// A path on the machine. In JSON it is text, or hex if its bytes are not UTF-8.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SystemPath(pub PathBuf);

impl From<&Path> for SystemPath {
    fn from(path: &Path) -> Self {
        Self(path.to_owned())
    }
}

impl From<PathBuf> for SystemPath {
    fn from(path: PathBuf) -> Self {
        Self(path)
    }
}

/// Formats the path for people; bytes that are not plain text are escaped.
impl fmt::Display for SystemPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&probity_core::bytes::escape(self.0.as_os_str().as_bytes()))
    }
}

impl Serialize for SystemPath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        probity_core::bytes::to_json(self.0.as_os_str().as_bytes()).serialize(serializer)
    }
}

probity_core::json_schema_of!(SystemPath, probity_core::schema::bytes());
