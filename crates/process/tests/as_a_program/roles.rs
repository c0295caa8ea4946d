//! The two roles in which the test starts itself again, and the commands for them.

use probity_process::{Job, JobInput, JobOutput, ProcessEnvironment, Supervisor};
use rustix::process::{getpgrp, ioctl_tiocsctty, setsid};
use rustix::termios::{LocalModes, isatty, tcgetattr, tcgetpgrp};
use std::io::stdin;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// If set, the supervisor gives its job the usual time to exit. Otherwise it gives more time than any test waits,
/// because the result must not depend on how fast a job is.
pub(crate) const USUAL_GRACE: &str = "PROBITY_TEST_USUAL_GRACE";

/// Returns the command that starts this test as a supervisor.
pub(crate) fn supervisor_of(script: &str) -> Vec<String> {
    let me = std::env::current_exe().expect("this test has a path");
    let me = me.to_str().expect("its path is text").to_owned();
    [me.as_str(), "--supervise", "sh", "-c", script].map(str::to_owned).to_vec()
}

/// Runs a job on its own standard input and output, then prints the result line by line.
#[expect(clippy::print_stdout, reason = "the test that started this reads it")]
pub(crate) fn supervise(command: &[String]) {
    let mut supervisor = Supervisor::new().expect("signals can be listened to");
    if std::env::var_os(USUAL_GRACE).is_none() {
        supervisor = supervisor.with_grace(probity_testkit::STUCK_TIMEOUT * 2);
    }
    let job = |argv: &[String]| Job {
        argv: argv.iter().map(Into::into).collect(),
        cwd: std::env::current_dir().expect("there is a current directory"),
        environment: ProcessEnvironment::inherited(),
        stdin: JobInput::Inherit,
        output: JobOutput::Inherit,
        timeout: None,
    };
    let ended = supervisor.run(&job(command));
    println!("outcome={:?} gone={}", ended.outcome, ended.all_gone);
    println!("cancelled={:?}", supervisor.cancelled());
    println!("next={:?}", supervisor.run(&job(&["true".to_owned()])).outcome);
    if isatty(stdin()) {
        let modes = tcgetattr(stdin()).expect("a terminal has modes");
        let is_mine = tcgetpgrp(stdin()).is_ok_and(|holder| holder == getpgrp());
        println!("mine={is_mine} echo={}", modes.local_modes.contains(LocalModes::ECHO));
    }
    println!("evidence written");
}

/// Makes standard input its controlling terminal and replaces itself with another program.
pub(crate) fn in_terminal(command: &[String]) {
    setsid().expect("the test started this without a group of its own");
    ioctl_tiocsctty(stdin()).expect("standard input is a free terminal");
    let (program, arguments) = command.split_first().expect("a program to become");
    panic!("{program}: {}", Command::new(program).args(arguments).exec());
}
