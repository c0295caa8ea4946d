//! Commands of ours that run in a view: one that tests it, and one that only keeps it.

use std::ffi::OsString;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::ExitCode;

const PROBE_FILE: &str = ".probity-self-test";

/// Exit code of a probe that could write outside.
const WROTE_OUTSIDE: u8 = 1;
/// Exit code of a probe that could not write inside.
const NOT_WRITTEN_INSIDE: u8 = 2;

/// Runs the role [`crate::PROBE_ROLE`]: `INSIDE OUTSIDE…`.
pub(crate) fn run(arguments: &[OsString]) -> ExitCode {
    let [inside, outside @ ..] = arguments else {
        return ExitCode::from(NOT_WRITTEN_INSIDE);
    };
    if outside.iter().any(|directory| can_write(Path::new(directory))) {
        return ExitCode::from(WROTE_OUTSIDE);
    }
    if can_write(Path::new(inside)) { ExitCode::SUCCESS } else { ExitCode::from(NOT_WRITTEN_INSIDE) }
}

/// Returns whether a file can be made in a directory.
pub(crate) fn can_write(directory: &Path) -> bool {
    std::fs::write(directory.join(PROBE_FILE), "").is_ok()
}

/// Runs the role [`crate::HOLD_ROLE`].
pub(crate) fn hold() -> ExitCode {
    let mut stdout = std::io::stdout();
    let told = stdout.write_all(b"ready\n").and_then(|()| stdout.flush());
    // Whatever arrives has no meaning; the end of the input ends the view.
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
    if told.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
