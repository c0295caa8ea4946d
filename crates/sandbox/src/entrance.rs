//! The role that enters the namespaces of a view, builds its mounts, starts process 1 and waits for it.

use crate::id_maps::IdMapper;
use crate::init::InitRequest;
use crate::{
    CommandEnd, INIT_ROLE, NOT_ENTERED_EXIT_CODE, NetworkAccess, ViewFailure, ViewPlan, ViewReport,
    descriptors, mounts, privileges, standard_streams, unix_sockets,
};
use nix::sched::CloneFlags;
use rustix::fd::AsRawFd as _;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use std::ffi::OsString;
use std::fs::File;
use std::io::{Seek as _, Write as _};
use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Signals that reach the command directly, because it is in the same process group. The entrance outlives them, to
/// report how the command ended.
const SIGNALS_FOR_COMMAND: [i32; 4] = [SIGINT, SIGQUIT, SIGTERM, SIGHUP];

/// Room for a report; what it does not fill stays blank.
const REPORT_BYTES: usize = 4096;

/// Runs the role: `PLAN-FILE COMMAND…`.
pub(crate) fn run(arguments: &[OsString]) -> ExitCode {
    let [plan, command @ ..] = arguments else {
        return ExitCode::from(2);
    };
    match enter(Path::new(plan), command) {
        Ok(Some(CommandEnd::Exited(code))) => ExitCode::from(u8::try_from(code).unwrap_or(u8::MAX)),
        Ok(Some(CommandEnd::Signaled(signal))) => {
            // Ends this process as the command ended; the code is for signals that do not end one.
            let _ = signal_hook::low_level::emulate_default_handler(signal);
            ExitCode::from(u8::try_from(128 + signal).unwrap_or(u8::MAX))
        }
        Ok(None) => ExitCode::from(NOT_ENTERED_EXIT_CODE),
        Err(failure) => {
            crate::complain(&failure);
            ExitCode::from(NOT_ENTERED_EXIT_CODE)
        }
    }
}

/// Returns how the command ended, or `None` if it was not started; the report says why.
fn enter(plan: &Path, command: &[OsString]) -> Result<Option<CommandEnd>, ViewFailure> {
    descriptors::close_inherited()?;
    let text = std::fs::read(plan).map_err(ViewFailure::at("read", plan))?;
    let plan: ViewPlan = serde_json::from_slice(&text).map_err(ViewFailure::at("read", plan))?;
    // Opened now, because its path may be hidden in the view.
    let report_path = Path::new(&plan.report);
    let mut report_file = File::create(report_path).map_err(ViewFailure::at("write", report_path))?;
    // Takes its room now: the command may fill the disk.
    report_file.write_all(&[b' '; REPORT_BYTES]).map_err(ViewFailure::at("write", report_path))?;
    let mut report = ViewReport::default();
    // Looked for now: a network namespace of its own shows no socket, and a user namespace hides whose they are.
    if let Err(failure) = unix_sockets::reachable_sockets()
        .and_then(|sockets| enter_namespaces(&plan).map(|()| sockets))
        .and_then(|sockets| mounts::build(&plan, &sockets))
        .map(|n_masked_sockets| report.n_masked_sockets = n_masked_sockets)
        .and_then(|()| run_init(&plan, command, &mut report))
    {
        report.failure = Some(failure);
    }
    let text = serde_json::to_vec(&report).map_err(ViewFailure::at("write", report_path))?;
    let written = report_file.rewind().and_then(|()| report_file.write_all(&text));
    written.map_err(ViewFailure::at("write", report_path))?;
    Ok(report.end)
}

fn enter_namespaces(plan: &ViewPlan) -> Result<(), ViewFailure> {
    let mut flags = CloneFlags::CLONE_NEWUSER
        | CloneFlags::CLONE_NEWNS
        | CloneFlags::CLONE_NEWPID
        | CloneFlags::CLONE_NEWIPC;
    flags.set(CloneFlags::CLONE_NEWNET, plan.network == NetworkAccess::Off);
    let id_mapper = IdMapper::prepare()?;
    nix::sched::unshare(flags).map_err(ViewFailure::step("enter new namespaces"))?;
    id_mapper.write()
}

/// Starts process 1 with the command and waits for its end.
fn run_init(plan: &ViewPlan, command: &[OsString], report: &mut ViewReport) -> Result<(), ViewFailure> {
    let step = "start the first process of the view";
    for signal in SIGNALS_FOR_COMMAND {
        // A handler, unlike an ignored signal, is not inherited by the command.
        signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false)))
            .map_err(ViewFailure::step(step))?;
    }
    let (mut reader, writer) = std::io::pipe().map_err(ViewFailure::step(step))?;
    rustix::io::fcntl_setfd(&writer, rustix::io::FdFlags::empty()).map_err(ViewFailure::step(step))?;
    let request = InitRequest {
        network: plan.network,
        outside: plan.outside.clone(),
        working_directory: plan.working_directory.clone(),
        report_descriptor: writer.as_raw_fd(),
    };
    let request = serde_json::to_string(&request).map_err(ViewFailure::step(step))?;
    privileges::keep_capabilities_across_exec()?;
    // This path leads to the running program wherever its file is hidden.
    let mut init = Command::new("/proc/self/exe");
    init.arg(INIT_ROLE).arg(request).args(command);
    let mut relays = standard_streams::connect(&mut init)?;
    let started = init.spawn();
    // Holds ends of pipes that only the command must have.
    drop(init);
    let mut init = started.map_err(ViewFailure::step(step))?;
    drop(writer);
    let answer = relays.copy_beside(&mut reader);
    let ended = init.wait().map_err(ViewFailure::step(step))?;
    relays.finish().map_err(ViewFailure::step("copy the output of the command"))?;
    let answer = answer.map_err(ViewFailure::step(step))?;
    if answer.is_empty() {
        let error = std::io::Error::other(format!("it ended with {ended} and reported nothing"));
        return Err(ViewFailure::step(step)(error));
    }
    let answer: ViewReport = serde_json::from_slice(&answer).map_err(ViewFailure::step(step))?;
    *report = ViewReport { n_masked_sockets: report.n_masked_sockets, ..answer };
    Ok(())
}
