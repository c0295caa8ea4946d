//! Attempts to carry an out-of-scope change out by a commit, a reference or the index alone.
