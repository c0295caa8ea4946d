//! Attempts to weaken the policy or the gates of a shared change.
