//! The crate on a real file system, one file per subject. Linux only: the tests create devices, mounts and swaps.

#![cfg(target_os = "linux")]

mod cache;
mod common;
mod delta;
mod elsewhere;
mod git;
mod hostile;
mod layer;
mod restore;
mod unsafe_things;
