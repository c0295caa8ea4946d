//! The crate on a real file system, one file a subject. Linux only: the tests make devices, mounts and swaps.

#![cfg(target_os = "linux")]

mod cache;
mod common;
mod delta;
mod elsewhere;
mod git;
mod hostile;
mod restore;
mod unsafe_things;
