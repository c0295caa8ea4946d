//! An attestation of the release in Probity's own form: the packages are made in a governed run of the program that was
//! just built, so that its delta lists every file of the release with its digest.

use super::package_files::{PackageLayout, write_file};
use super::{output, remove, run};
use crate::ChoreResult;
use std::ffi::OsStr;
use std::process::Command;

/// Runs the packaging under Probity, with the directory of the release as the whole tree, and writes the attestation and
/// the key that signed it beside the packages.
pub(super) fn govern_packaging(layout: &PackageLayout, packaging: &[&OsStr]) -> ChoreResult {
    run(probity(layout).args(["keys", "generate"]), "key of this release")?;
    run(
        probity(layout).args(["run", "--scope", "*", "--creates", "--"]).args(packaging),
        "governed packaging",
    )?;
    run(probity(layout).args(["evidence", "verify", "last"]), "evidence")?;
    let attestation = output(probity(layout).args(["evidence", "export", "last"]), "attestation")?;
    let key = output(probity(layout).args(["keys", "show"]), "key")?;
    // A key serves one release: nobody can sign with it later.
    remove(&layout.out.join(".probity"))?;
    let name = format!("probity-{}-{}", layout.version, layout.target);
    write_file(&layout.out.join(format!("{name}.intoto.json")), &attestation)?;
    write_file(&layout.out.join(format!("{name}.key")), &key)
}

fn probity(layout: &PackageLayout) -> Command {
    let mut command = Command::new(&layout.programs[0]);
    command.arg("--root").arg(&layout.out);
    command
}
