//! Private views of a tree. A command that runs in a view sees the user's files and can change them, but its changes
//! go into a layer of their own: nothing reaches the real tree.
//!
//! Owns: the namespaces and mounts of a view, and the privileges of a command in it.
//! May use: no other crate of ours.
//! Must not know: what a run, a scope or a policy is.
//!
//! A view is made by starting the own program again in two hidden roles, so that no code runs between `fork` and
//! `exec` and none of it is unsafe:
//!
//! 1. [`ENTRANCE_ROLE`] reads the [`ViewPlan`], enters new user, mount, pid and ipc namespaces and builds the mounts.
//! 2. [`INIT_ROLE`] is process 1 of the view. It mounts `/proc`, gives up every privilege, and starts the command. When
//!    the command ends, so does process 1, and the kernel ends all processes of the view with it.
//!
//! Where no view can be had, [`GRANTS_ROLE`] confines a command in the real tree: Landlock refuses every write outside of
//! the directories of its [`WriteGrants`]. Permission bits, owners, times and attributes are not covered by that.
//!
//! The program must hand these roles to [`run_role`] before it starts any thread.
//!
//! # Promises
//!
//! * The only writable places are the overlays and writable directories of the plan and private, empty `/tmp`,
//!   `/var/tmp`, `/run` and `/dev`. Everything else is read-only.
//! * No command starts in a view in which one of the directories that the plan names as `outside` can be written to.
//! * The command holds no descriptor but its standard streams, and no capability; it cannot gain one. Files behind the
//!   standard streams are copied: it cannot open them.
//! * Unix sockets on which somebody listened when the view was built cannot be reached by their path, also after they were
//!   renamed in their directory; abstract sockets and signals do not leave the view where Landlock can restrict them ([`ViewReport::has_landlock_scopes`]).
//! * The terminal cannot be made to type (`TIOCSTI`).
//!
//! # Limits
//!
//! * A mount below the target of an overlay makes the view impossible: the kernel refuses such a lower layer.
//! * The lower layer is live. What others change in the real tree meanwhile may or may not be seen in the view.
//! * A Unix socket that appears after the view was built can be reached, unless it lies in a private directory; so can one
//!   that was moved to another directory, or bound in another namespace.

#![cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "a view exists on Linux only"))]

#[cfg(target_os = "linux")]
mod descriptors;
#[cfg(target_os = "linux")]
mod entrance;
#[cfg(target_os = "linux")]
mod id_maps;
#[cfg(target_os = "linux")]
mod init;
#[cfg(target_os = "linux")]
mod loopback;
mod mount_table;
#[cfg(target_os = "linux")]
mod mounts;
mod plan;
#[cfg(target_os = "linux")]
mod privileges;
#[cfg(target_os = "linux")]
mod probe;
#[cfg(target_os = "linux")]
mod standard_streams;
mod unix_sockets;
#[cfg(target_os = "linux")]
mod write_grants;

pub use plan::{
    CommandEnd, LayerBelow, NetworkAccess, OverlayMount, ScratchOverlays, ViewFailure, ViewPlan, ViewReport,
    WriteGrants,
};
use std::ffi::OsString;
use std::process::ExitCode;

/// First argument of a program that enters a view: `PROGRAM ENTRANCE_ROLE PLAN-FILE COMMAND…`.
pub const ENTRANCE_ROLE: &str = "__view-entrance";

/// First argument of a program that is process 1 of a view. Only the entrance starts it.
pub const INIT_ROLE: &str = "__view-init";

/// First argument of a program that writes the id maps of the entrance. Only the entrance starts it.
pub const ID_MAP_ROLE: &str = "__view-id-maps";

/// First argument of a program that stays in a view as its command, so that others can look into it: it writes a line
/// to its standard output when the view is complete, and ends with its standard input.
pub const HOLD_ROLE: &str = "__view-hold";

/// First argument of a program that tests a view as its command: `PROGRAM PROBE_ROLE INSIDE OUTSIDE…`, directories. It
/// succeeds if it can write in the first and in no other.
pub const PROBE_ROLE: &str = "__view-probe";

/// First argument of a program that confines itself and becomes a command, without a view: `PROGRAM GRANTS_ROLE
/// GRANTS-FILE COMMAND…`. The file holds [`WriteGrants`].
pub const GRANTS_ROLE: &str = "__write-grants";

/// The running program, wherever its file is hidden; for the two roles that are commands of a view.
pub const OWN_PROGRAM: &str = "/proc/self/exe";

/// Exit code of the entrance if the command was not started. The report says why; the code alone is no proof, since a
/// command can end with it as well.
pub const NOT_ENTERED_EXIT_CODE: u8 = 125;

/// Runs one of the hidden roles if the arguments (without the program's name) name one; the program ends with the
/// returned code.
#[cfg(target_os = "linux")]
pub fn run_role(arguments: &[OsString]) -> Option<ExitCode> {
    let (role, rest) = arguments.split_first()?;
    match role.to_str()? {
        ENTRANCE_ROLE => Some(entrance::run(rest)),
        INIT_ROLE => Some(init::run(rest)),
        ID_MAP_ROLE => Some(id_maps::run_writer(rest)),
        HOLD_ROLE => Some(probe::hold()),
        PROBE_ROLE => Some(probe::run(rest)),
        GRANTS_ROLE => Some(write_grants::run(rest)),
        _ => None,
    }
}

/// There are no views on this system, so there are no roles.
#[cfg(not(target_os = "linux"))]
pub fn run_role(_arguments: &[OsString]) -> Option<ExitCode> {
    None
}

/// Returns the number of sockets that a view which is built now covers.
#[cfg(target_os = "linux")]
pub fn n_masked_sockets() -> Result<usize, ViewFailure> {
    Ok(mounts::masked_sockets(&unix_sockets::reachable_sockets()?).len())
}

/// There are no views on this system, so nothing is covered.
#[cfg(not(target_os = "linux"))]
pub fn n_masked_sockets() -> Result<usize, ViewFailure> {
    Ok(0)
}

/// Returns the first mount point below `directory`, which no overlay can cover then.
pub fn mount_below(directory: &std::path::Path) -> Option<std::path::PathBuf> {
    let table = std::fs::read("/proc/self/mountinfo").ok()?;
    let mut points = mount_table::mount_entries(&table).into_iter().map(|entry| entry.mount_point);
    points.find(|point| point != directory && point.starts_with(directory))
}

/// Says on standard error why a role failed. The report of the entrance is the regular way; this is for what happens
/// before there is one.
#[cfg(target_os = "linux")]
#[expect(clippy::print_stderr, reason = "a role has no other way to tell what is wrong with its own files")]
fn complain(failure: &ViewFailure) {
    eprintln!("probity: view: {failure}");
}
