//! The crate on a real file system, one file a subject.

mod cache;
mod common;
mod delta;
mod elsewhere;
mod git;
mod hostile;
mod restore;
mod unsafe_things;
