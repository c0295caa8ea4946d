//! Installs the browser of the tests of the review page.

use crate::ChoreResult;
use std::process::Command;

/// Debian's packages: the browser and its `WebDriver` server, always of the same version.
const PACKAGES: &[&str] = &["chromium", "chromium-driver"];

pub(crate) fn install() -> ChoreResult {
    let words = ["install", "-y", "--no-install-recommends"];
    let status = Command::new("apt-get").args(words).args(PACKAGES).status();
    let status = status.map_err(|error| format!("apt-get could not be started: {error}"))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("apt-get could not install {}", PACKAGES.join(" and ")))
    }
}
