//! Secrets in evidence, and files that others can read.
