//! A command that may write only to granted places, by Landlock alone: for machines where no view can be built.
//!
//! The role restricts its own process and becomes the command, so there is no process between the supervisor and the
//! command. Restrictions are inherited by everything the command starts, and cannot be taken off.

use crate::{NOT_ENTERED_EXIT_CODE, ViewFailure, ViewReport, WriteGrants, descriptors, privileges};
use landlock::{
    ABI, AccessFs, BitFlags, CompatLevel, Compatible as _, PathBeneath, Ruleset, RulesetAttr as _,
    RulesetCreated, RulesetCreatedAttr as _, RulesetStatus, Scope,
};
use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags};
use std::ffi::OsString;
use std::fs::File;
use std::io::Write as _;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, ExitCode};

/// The first version that refuses to truncate a file: with an earlier one every file could be emptied.
const REQUIRED_ABI: ABI = ABI::V3;

/// Devices that every program may use, and terminals. Those that do not exist are left out.
const DEVICES: [&str; 8] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
    "/dev/ptmx",
    "/dev/pts",
];

/// Runs the role: `GRANTS-FILE COMMAND…`. Returns only if the command was not started.
pub(crate) fn run(arguments: &[OsString]) -> ExitCode {
    let [grants, program, words @ ..] = arguments else {
        return ExitCode::from(2);
    };
    if let Err(failure) = become_command(Path::new(grants), program, words) {
        crate::complain(&failure);
    }
    ExitCode::from(NOT_ENTERED_EXIT_CODE)
}

/// Returns `Ok` if the report tells why the command was not started.
fn become_command(grants: &Path, program: &OsString, words: &[OsString]) -> Result<(), ViewFailure> {
    descriptors::close_inherited()?;
    let text = std::fs::read(grants).map_err(ViewFailure::at("read", grants))?;
    let grants: WriteGrants = serde_json::from_slice(&text).map_err(ViewFailure::at("read", grants))?;
    let report_path = Path::new(&grants.report);
    let mut report_file = File::create(report_path).map_err(ViewFailure::at("write", report_path))?;
    let mut write = |report: &ViewReport| {
        let text = serde_json::to_vec(report).map_err(ViewFailure::at("write", report_path))?;
        report_file.write_all(&text).map_err(ViewFailure::at("write", report_path))
    };
    let restricted = match restrict(&grants) {
        Ok(restricted) => restricted,
        Err(failure) => return write(&ViewReport { failure: Some(failure), ..ViewReport::default() }),
    };
    // Written before the command starts: it may be able to reach the file, and then it is the last to say so.
    write(&restricted)?;
    let error = Command::new(program).args(words).exec();
    let failure = ViewFailure::at("start", Path::new(program))(error);
    rustix::fs::ftruncate(&report_file, 0).map_err(ViewFailure::at("write", report_path))?;
    std::io::Seek::rewind(&mut report_file).map_err(ViewFailure::at("write", report_path))?;
    let text = serde_json::to_vec(&ViewReport { failure: Some(failure), ..restricted })
        .map_err(ViewFailure::at("write", report_path))?;
    report_file.write_all(&text).map_err(ViewFailure::at("write", report_path))
}

fn restrict(grants: &WriteGrants) -> Result<ViewReport, ViewFailure> {
    descriptors::make_stdin_read_only()?;
    privileges::drop_capabilities_if_any()?;
    let scopes = Scope::AbstractUnixSocket | Scope::Signal;
    let (ruleset, has_landlock_scopes) = match create_ruleset(Some(scopes)) {
        Ok(ruleset) => (ruleset, true),
        Err(_) => (create_ruleset(None)?, false),
    };
    let mut ruleset = ruleset;
    for path in grants.writable.iter().map(Path::new) {
        let opened = open(path).map_err(ViewFailure::at("open", path))?;
        ruleset = allow(ruleset, opened, path)?;
    }
    for path in DEVICES.map(Path::new) {
        if let Ok(opened) = open(path) {
            ruleset = allow(ruleset, opened, path)?;
        }
    }
    let status = ruleset.restrict_self().map_err(not_confined)?;
    if status.ruleset != RulesetStatus::FullyEnforced {
        return Err(not_confined(std::io::Error::other("the kernel enforces only a part of the rules")));
    }
    privileges::forbid_typing()?;
    Ok(ViewReport {
        has_landlock_scopes,
        landlock_abi: privileges::kernel_abi(&status.landlock),
        ..ViewReport::default()
    })
}

fn not_confined(error: impl std::error::Error + Send + Sync + 'static) -> ViewFailure {
    ViewFailure::step("confine the command by Landlock")(std::io::Error::other(error))
}

fn create_ruleset(scopes: Option<BitFlags<Scope>>) -> Result<RulesetCreated, ViewFailure> {
    let ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_write(REQUIRED_ABI));
    let ruleset = match scopes {
        Some(scopes) => ruleset.and_then(|ruleset| ruleset.scope(scopes)),
        None => ruleset,
    };
    ruleset.and_then(Ruleset::create).map_err(not_confined)
}

/// Opens a path without following links: a link that somebody puts there must not turn into a grant.
fn open(path: &Path) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    rustix::fs::openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)
}

/// Lets the command write a file, or do anything below a directory but create devices.
fn allow(ruleset: RulesetCreated, opened: OwnedFd, path: &Path) -> Result<RulesetCreated, ViewFailure> {
    let status = rustix::fs::fstat(&opened).map_err(ViewFailure::at("open", path))?;
    let rights = if FileType::from_raw_mode(status.st_mode) == FileType::Directory {
        AccessFs::from_write(REQUIRED_ABI) & !(AccessFs::MakeChar | AccessFs::MakeBlock)
    } else {
        AccessFs::WriteFile | AccessFs::Truncate
    };
    ruleset.add_rule(PathBeneath::new(opened, rights)).map_err(not_confined)
}
