//! Payloads and nested repositories in places where git does not look.
