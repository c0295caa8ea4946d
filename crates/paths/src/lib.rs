//! Paths of a tree and what a scope says about them. Pure: no file is ever touched here.
//!
//! * [`RepoPath`]: a path relative to the sealed root, as bytes.

mod repo_path;

pub use repo_path::{PathError, RepoPath};
