//! Attempts to hide a change by replacing the root or its mode.
