//! Attempts to get out of a private view, or out of the directories that Landlock grants, through the binary, as root and
//! as an ordinary user.
//!
//! Every case compares everything outside of Probity's own state, byte for byte, with what was there before and what
//! is expected to land. A case counts only if its command ran.

#![cfg(target_os = "linux")]

mod agents_at_once;
mod fixture;
mod git;
mod landlock_level;
mod machine;
mod own_state;
mod processes_and_services;
mod shapes_of_change;
mod writes_outside;
