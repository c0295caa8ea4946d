//! `cargo xtask book`: builds the pages under `docs` into a site with mdBook.

use crate::audit::tool;
use crate::{ChoreResult, root, target};
use std::process::Command;

pub fn book() -> ChoreResult {
    let mdbook = tool("mdbook")?;
    let place = target().join("book");
    let status = Command::new(mdbook)
        .arg("build")
        .arg(root().join("docs"))
        .arg("--dest-dir")
        .arg(&place)
        .status()
        .map_err(|error| format!("mdbook: {error}"))?;
    if !status.success() {
        return Err("the book does not build, see above".into());
    }
    eprintln!("── the book is in {}", place.join("index.html").display());
    Ok(())
}
