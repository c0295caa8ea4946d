//! Attempts to change what a gate runs.
