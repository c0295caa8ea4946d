//! The guard in front of agents: what a tool call writes, and whether its session may.
//!
//! Owns: the effects of shell command lines and patches, the snapshot of claims that a hook reads, its decision.
//! May use: core, intents, paths.
//! Must not know: a file system, a clock, a store, the formats of agents.
//!
//! * [`shell`]: which paths a shell command line certainly writes.

pub mod shell;
