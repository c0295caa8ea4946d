//! Attempts to have the judge start a `git` that the judged can write.
