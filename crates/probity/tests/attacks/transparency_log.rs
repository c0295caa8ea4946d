//! Attempts to shorten or rewrite a log without being noticed.
