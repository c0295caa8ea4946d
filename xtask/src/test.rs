//! `cargo xtask test`: what the project promises about itself, in one command; and the long modes.

use crate::{Chore, cargo, docs};

/// Every check, in the order in which they are likely to fail.
pub fn test() -> Chore {
    cargo("formatting", &["fmt", "--all", "--check"], &[])?;
    cargo("lints", &["clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"], &[])?;
    cargo("tests", &["test", "--workspace", "--quiet"], &[])?;
    cargo("vectors", &["run", "--quiet", "--package", "probity", "--", "conformance", "conformance"], &[])?;
    cargo("api docs", &["doc", "--workspace", "--no-deps", "--quiet"], &[("RUSTDOCFLAGS", "-D warnings")])?;
    docs::check()
}

/// The kill test with its long setting: the normal tests run the same code with fewer kills.
pub fn kill() -> Chore {
    cargo(
        "kills",
        &["test", "--package", "probity", "--test", "end_to_end", "kills", "--", "--nocapture"],
        &[("PROBITY_KILLS", "1000")],
    )
}
