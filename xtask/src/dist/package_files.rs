//! The files that every package has: programs, manual page, completions.

use crate::ChoreResult;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What packages are made of, and where they go.
pub(super) struct PackageLayout {
    pub(super) version: String,
    pub(super) target: String,
    /// `probity` and `probity-hook`.
    pub(super) programs: [PathBuf; 2],
    /// Trees of packages in the making.
    pub(super) work: PathBuf,
    /// Finished packages.
    pub(super) out: PathBuf,
}

/// The shells, and where each looks for completions below the shared directory.
const COMPLETIONS: [(&str, &str); 3] = [
    ("bash", "bash-completion/completions/probity"),
    ("zsh", "zsh/site-functions/_probity"),
    ("fish", "fish/vendor_completions.d/probity.fish"),
];

impl PackageLayout {
    /// Installs programs, manual page and completions below a directory.
    pub(super) fn install_below(&self, tree: &Path, bin: &str, share: &str) -> ChoreResult {
        for program in &self.programs {
            copy_program(program, &tree.join(bin))?;
        }
        let share = tree.join(share);
        write_file(&share.join("man/man1/probity.1"), &self.answer(&["man"])?)?;
        for (shell, place) in COMPLETIONS {
            write_file(&share.join(place), &self.answer(&["completions", shell])?)?;
        }
        Ok(())
    }

    /// Returns what the built program prints.
    fn answer(&self, arguments: &[&str]) -> Result<String, String> {
        let output = Command::new(&self.programs[0])
            .args(arguments)
            .output()
            .map_err(|error| format!("{}: {error}", self.programs[0].display()))?;
        if !output.status.success() {
            return Err(format!("`probity {}` failed", arguments.join(" ")));
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

pub(super) fn copy_program(program: &Path, directory: &Path) -> ChoreResult {
    let copy = || -> std::io::Result<()> {
        fs::create_dir_all(directory)?;
        let place = directory.join(program.file_name().unwrap_or_default());
        fs::copy(program, &place)?;
        fs::set_permissions(&place, fs::Permissions::from_mode(0o755))
    };
    copy().map_err(|error| format!("{}: {error}", program.display()))
}

pub(super) fn write_file(path: &Path, text: &str) -> ChoreResult {
    let write = || -> std::io::Result<()> {
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(path, text)
    };
    write().map_err(|error| format!("{}: {error}", path.display()))
}
