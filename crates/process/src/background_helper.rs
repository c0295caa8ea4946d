//! A small helper program that stays as long as its owner needs it.

use crate::ProcessEnvironment;
use crate::helper_processes::HelperProcess;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::ffi::OsStr;
use std::io::{self, Read as _};
use std::os::fd::AsFd as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::time::Duration;

/// A running helper. Dropping it ends the helper.
pub struct BackgroundHelper(HelperProcess);

impl BackgroundHelper {
    /// Starts a helper and waits until it has written something to its standard output, or has ended without.
    pub fn start(
        argv: &[impl AsRef<OsStr>],
        environment: &ProcessEnvironment,
        limit: Duration,
    ) -> io::Result<Self> {
        let (program, arguments) = argv.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let mut command = Command::new(program);
        command.args(arguments).env_clear().envs(environment.iter()).process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut helper = HelperProcess::start(&mut command)?;
        let Some(stdout) = helper.child().stdout.as_mut() else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        let limit = Timespec::try_from(limit).map_err(io::Error::other)?;
        let n_ready = poll(&mut [PollFd::new(&stdout.as_fd(), PollFlags::IN)], Some(&limit))?;
        if n_ready == 0 {
            return Err(io::ErrorKind::TimedOut.into());
        }
        if stdout.read(&mut [0; 64])? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(Self(helper))
    }

    /// The id of the process.
    pub fn pid(&mut self) -> u32 {
        self.0.child().id()
    }
}
