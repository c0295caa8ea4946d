//! `cargo xtask check`: what a developer runs while writing: formatting, tidy, lints and tests of one crate.

use crate::tidy::crates::CrateGraph;
use crate::{ChoreResult, cargo, tidy};

/// Checks one crate and lints those that use it.
pub fn check(name: &str) -> ChoreResult {
    let graph = CrateGraph::read()?;
    let users: Vec<&str> = graph
        .iter()
        .map(|(user, _)| user)
        .filter(|user| *user != name && graph.closure(user).contains(name))
        .collect();
    if !graph.iter().any(|(known, _)| known == name) {
        return Err(format!("there is no crate `{name}` below crates/"));
    }
    cargo("formatting", &["fmt", "--all", "--check"], &[])?;
    tidy::tidy()?;
    let packages: Vec<String> = std::iter::once(name).chain(users).map(package_name).collect();
    let mut lints = vec!["clippy", "--quiet", "--all-targets"];
    for package in &packages {
        lints.extend(["--package", package]);
    }
    lints.extend(["--", "-D", "warnings"]);
    cargo("lints", &lints, &[])?;
    cargo("tests", &["test", "--quiet", "--package", &packages[0]], &[("INSTA_UPDATE", "no")])
}

fn package_name(directory: &str) -> String {
    match directory {
        "probity" | "xtask" => directory.to_owned(),
        other => format!("probity-{other}"),
    }
}
