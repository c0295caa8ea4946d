//! What every surface says: requests and answers as types, the registry of codes, and the exit codes.
//!
//! Owns: the wire form of every answer, its schema, the one list of stable codes, the exit codes.
//! May use: canon, commit, contract, intent, ledger.
//! Must not know: files, clocks, processes, databases, or how a surface renders an answer.

pub mod codes;
pub mod document;
pub mod exit;
pub mod explain;
mod system_path;

pub use document::{Answer, SchemaEntry};
pub use exit::ExitCode;
pub use system_path::SystemPath;

/// The schemas that are generated from the types of this crate, in the order of their names.
pub const SCHEMAS: &[SchemaEntry] = &[SchemaEntry::of::<explain::CodeExplanation>()];
