//! The crate on a real file system, one file a subject.

mod cache;
mod common;
mod delta;
mod git;
mod restore;
mod unsafe_things;
