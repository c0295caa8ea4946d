//! Process 1 of a view: gives up its privileges, starts the command, reaps what is orphaned, and ends with the command.
//! The kernel then ends every other process of the view.

use crate::{
    CommandEnd, NOT_ENTERED_EXIT_CODE, NetworkAccess, ViewFailure, ViewReport, loopback, mounts, privileges,
    probe,
};
use rustix::process::{DumpableBehavior, Signal, WaitOptions};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, ExitCode};

/// What the entrance tells process 1.
#[derive(Serialize, Deserialize)]
pub(crate) struct InitRequest {
    pub(crate) network: NetworkAccess,
    /// Directories that must not be writable.
    pub(crate) outside: Vec<OsString>,
    pub(crate) working_directory: OsString,
    /// Number of the descriptor on which the report is expected.
    pub(crate) report_descriptor: i32,
}

/// Runs the role: `REQUEST COMMAND…`.
pub(crate) fn run(arguments: &[OsString]) -> ExitCode {
    let [request, program, words @ ..] = arguments else {
        return ExitCode::from(2);
    };
    let request = request.to_str().and_then(|text| serde_json::from_str::<InitRequest>(text).ok());
    let Some(request) = request else {
        return ExitCode::from(2);
    };
    let Ok(mut reports) = take_descriptor(request.report_descriptor) else {
        return ExitCode::from(2);
    };
    let report = match run_command(&request, program, words) {
        Ok(report) => report,
        Err(failure) => ViewReport { failure: Some(failure), ..ViewReport::default() },
    };
    let end = report.end;
    // The entrance reports an answer that is missing.
    let _ = serde_json::to_vec(&report).map(|text| reports.write_all(&text));
    match end {
        Some(CommandEnd::Exited(code)) => ExitCode::from(u8::try_from(code).unwrap_or(u8::MAX)),
        _ => ExitCode::from(NOT_ENTERED_EXIT_CODE),
    }
}

/// Opens an inherited descriptor again, so that the command does not inherit it, and closes the inherited one.
fn take_descriptor(number: i32) -> std::io::Result<File> {
    let opened = File::options().write(true).open(format!("/proc/self/fd/{number}"))?;
    nix::unistd::close(number)?;
    Ok(opened)
}

fn run_command(
    request: &InitRequest,
    program: &OsString,
    words: &[OsString],
) -> Result<ViewReport, ViewFailure> {
    let step = "prepare the first process of the view";
    // The entrance may be killed, and the view must not outlive it.
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL)).map_err(ViewFailure::step(step))?;
    mounts::mount_process_table()?;
    if request.network == NetworkAccess::Off {
        loopback::set_up()?;
    }
    // Entered only now: the directory that was current before the mounts is the real one.
    let directory = Path::new(&request.working_directory);
    std::env::set_current_dir(directory).map_err(ViewFailure::at("enter", directory))?;
    privileges::drop_capabilities()?;
    let scopes = privileges::restrict_scopes();
    privileges::forbid_typing()?;
    // With the privileges of the command, in the view in which it is about to start.
    if let Some(directory) = request.outside.iter().map(Path::new).find(|path| probe::can_write(path)) {
        let error = std::io::Error::other("a test wrote to it");
        return Err(ViewFailure::at("keep the command from writing outside of its view, in", directory)(
            error,
        ));
    }
    let started = Command::new(program).args(words).spawn();
    // From here on the command cannot look into this process.
    let hidden = rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable);
    hidden.map_err(ViewFailure::step(step))?;
    let command = started.map_err(ViewFailure::at("start", Path::new(program)))?;
    let end = wait_for(command.id())?;
    Ok(ViewReport {
        end: Some(end),
        has_landlock_scopes: scopes.is_enforced,
        landlock_abi: scopes.abi,
        ..ViewReport::default()
    })
}

/// Reaps every process that ends, until the one with this number has.
fn wait_for(process: u32) -> Result<CommandEnd, ViewFailure> {
    let step = "wait for the command";
    loop {
        let waited = match rustix::process::wait(WaitOptions::empty()) {
            Err(rustix::io::Errno::INTR) | Ok(None) => continue,
            Err(error) => return Err(ViewFailure::step(step)(error)),
            Ok(Some(waited)) => waited,
        };
        if u32::try_from(waited.0.as_raw_nonzero().get()) != Ok(process) {
            continue;
        }
        if let Some(code) = waited.1.exit_status() {
            return Ok(CommandEnd::Exited(code));
        }
        if let Some(signal) = waited.1.terminating_signal() {
            return Ok(CommandEnd::Signaled(signal));
        }
    }
}
