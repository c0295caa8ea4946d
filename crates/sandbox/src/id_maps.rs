//! The user and group ids of a view: the same as outside.

use crate::{ID_MAP_ROLE, ViewFailure};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};

/// Maps ids after the process has entered its user namespace.
pub(crate) enum IdMapper {
    /// An ordinary user may map only the own ids, and does so itself.
    OwnIds { user: u32, group: u32 },
    /// Root maps every id it has, or files of other owners could not be touched in the view. That must be written by a
    /// process that stayed outside.
    AllIds(Child),
}

impl IdMapper {
    /// Prepares the maps. Must run before the user namespace is entered.
    pub(crate) fn prepare() -> Result<Self, ViewFailure> {
        let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
        if !user.is_root() {
            return Ok(Self::OwnIds { user: user.as_raw(), group: group.as_raw() });
        }
        let writer = Command::new("/proc/self/exe")
            .arg(ID_MAP_ROLE)
            .arg(std::process::id().to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::inherit())
            .spawn();
        writer.map(Self::AllIds).map_err(ViewFailure::step("start the process that maps user ids"))
    }

    /// Writes the maps. Must run after the user namespace was entered.
    pub(crate) fn write(self) -> Result<(), ViewFailure> {
        match self {
            Self::OwnIds { user, group } => {
                write_file(Path::new("/proc/self/setgroups"), "deny")?;
                write_file(Path::new("/proc/self/uid_map"), &format!("{user} {user} 1"))?;
                write_file(Path::new("/proc/self/gid_map"), &format!("{group} {group} 1"))
            }
            Self::AllIds(mut writer) => {
                let step = "have the user ids mapped";
                if let Some(mut stdin) = writer.stdin.take() {
                    stdin.write_all(b"\n").map_err(ViewFailure::step(step))?;
                }
                let status = writer.wait().map_err(ViewFailure::step(step))?;
                let failed =
                    || std::io::Error::other(format!("the process that maps them ended with {status}"));
                status.success().then_some(()).ok_or_else(failed).map_err(ViewFailure::step(step))
            }
        }
    }
}

/// Runs the role [`ID_MAP_ROLE`]: waits for a byte, then maps every id of this process to itself in the namespace of
/// the process whose number is the argument.
pub(crate) fn run_writer(arguments: &[OsString]) -> ExitCode {
    let result = match arguments {
        [process] => write_all_ids(&Path::new("/proc").join(process)),
        _ => return ExitCode::from(2),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            crate::complain(&failure);
            ExitCode::FAILURE
        }
    }
}

fn write_all_ids(process: &Path) -> Result<(), ViewFailure> {
    let mut signal = [0];
    std::io::stdin().read_exact(&mut signal).map_err(ViewFailure::step("wait for the new user namespace"))?;
    for name in ["uid_map", "gid_map"] {
        let own = PathBuf::from("/proc/self").join(name);
        let map = fs::read_to_string(&own).map_err(ViewFailure::at("read", &own))?;
        write_file(&process.join(name), &identity_map(&map))?;
    }
    Ok(())
}

/// Returns the map that gives a child namespace the ids of this one, from this one's own map.
fn identity_map(own: &str) -> String {
    let mut map = String::new();
    for row in own.lines() {
        if let [first, _, count] = row.split_whitespace().collect::<Vec<_>>()[..] {
            // Writing to a string does not fail.
            let _ = writeln!(map, "{first} {first} {count}");
        }
    }
    map
}

fn write_file(path: &Path, text: &str) -> Result<(), ViewFailure> {
    fs::write(path, text).map_err(ViewFailure::at("write", path))
}

#[cfg(test)]
mod tests {
    use super::identity_map;

    #[test]
    fn a_child_namespace_gets_the_ids_of_its_parent() {
        assert_eq!(identity_map("         0          0 4294967295\n"), "0 0 4294967295\n");
        assert_eq!(identity_map("0 1000 1\n1 100000 65536\n"), "0 0 1\n1 1 65536\n");
    }
}
