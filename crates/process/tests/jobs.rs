//! Jobs with real processes: how they end, what they see, and that nothing of them stays.

use probity_process::{
    CaptureLimits, Job, JobInput, JobOutcome, JobOutput, JobReport, NotStarted, ProcessEnvironment,
    Supervisor, capture,
};
use std::ffi::OsString;
use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;

/// A directory to work in, a supervisor, and the job's output.
struct Bench {
    directory: TempDir,
    supervisor: Supervisor,
}

impl Bench {
    fn new() -> Self {
        let directory = TempDir::new().expect("a directory to work in");
        Self { directory, supervisor: Supervisor::new().expect("signals can be listened to") }
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    fn job(&self, argv: &[&str]) -> Job {
        let log = |name| File::create(self.path().join(name)).expect("a log file");
        Job {
            argv: argv.iter().map(OsString::from).collect(),
            cwd: self.path().to_owned(),
            environment: ProcessEnvironment::empty().with("PATH", "/usr/bin:/bin"),
            stdin: JobInput::Null,
            output: JobOutput::Files { stdout: log("stdout"), stderr: log("stderr"), limit_bytes: 1 << 20 },
            timeout: Some(probity_testkit::STUCK_TIMEOUT),
        }
    }

    fn run(&mut self, argv: &[&str]) -> JobReport {
        let job = self.job(argv);
        self.supervisor.run(&job)
    }

    fn sh(&mut self, script: &str) -> JobReport {
        self.run(&["sh", "-c", script])
    }

    fn sh_for(&mut self, timeout: Duration, script: &str) -> JobReport {
        let job = Job { timeout: Some(timeout), ..self.job(&["sh", "-c", script]) };
        self.supervisor.run(&job)
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path().join(name)).unwrap_or_default()
    }
}

/// Returns true if a process runs; a zombie does not.
fn runs(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
}

/// Counts the processes that work in this directory. Matching by name would not do, because the same tests may run in
/// another clone.
#[cfg(target_os = "linux")]
fn how_many_work_in(directory: &Path) -> usize {
    let directory = directory.canonicalize().expect("the directory is there");
    let processes = fs::read_dir("/proc").expect("processes can be listed").flatten();
    processes
        .filter(|entry| fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd == directory))
        .count()
}

#[test]
fn the_exit_code_is_the_programs() {
    let mut bench = Bench::new();
    let ended = bench.sh("echo words; echo complaints >&2; exit 7");
    assert_eq!(ended.outcome, JobOutcome::Exited(7));
    assert_eq!(ended.exit_code(), Some(7));
    assert_eq!((bench.read("stdout"), bench.read("stderr")), ("words\n".into(), "complaints\n".into()));
    assert_eq!((ended.survivors, ended.n_survivors), (vec![], 0));
}

#[test]
fn a_signal_is_told_from_an_exit() {
    let ended = Bench::new().sh("kill -9 $$");
    assert_eq!(ended.outcome, JobOutcome::Signalled(9));
    assert_eq!(ended.exit_code(), Some(137));
}

#[test]
fn what_is_not_there_does_not_start() {
    let mut bench = Bench::new();
    let ended = bench.run(&["no-such-program", "x"]);
    assert_eq!(ended.outcome, JobOutcome::NotStarted(NotStarted::NotFound("no-such-program".into())));
    assert_eq!(ended.exit_code(), None);
    assert_eq!(bench.run(&[]).outcome, JobOutcome::NotStarted(NotStarted::NoCommand));
}

#[test]
fn what_is_not_executable_does_not_start() {
    let mut bench = Bench::new();
    let plain = bench.path().join("plain");
    fs::write(&plain, "echo no").unwrap();
    fs::set_permissions(&plain, fs::Permissions::from_mode(0o644)).unwrap();
    let ended = bench.run(&["./plain"]);
    assert_eq!(ended.outcome, JobOutcome::NotStarted(NotStarted::NotExecutable("./plain".into())));
}

#[test]
fn a_missing_folder_is_named() {
    let mut bench = Bench::new();
    let nowhere = bench.path().join("nowhere");
    let job = Job { cwd: nowhere.clone(), ..bench.job(&["true"]) };
    let ended = bench.supervisor.run(&job);
    assert_eq!(ended.outcome, JobOutcome::NotStarted(NotStarted::NoFolder(nowhere)));
}

#[test]
fn the_environment_is_exactly_what_was_given() {
    let mut bench = Bench::new();
    let environment =
        ProcessEnvironment::empty().with_run("run-1", Path::new("/repo")).with_gate("lint").with("B", "2 3");
    let job = Job { environment, ..bench.job(&["/usr/bin/env"]) };
    bench.supervisor.run(&job);
    let seen = bench.read("stdout");
    let mut lines: Vec<&str> = seen.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["B=2 3", "PROBITY_GATE_ID=lint", "PROBITY_REPO_DIR=/repo", "PROBITY_RUN_ID=run-1"]);
}

#[test]
fn a_job_reads_nothing_when_it_shall_not() {
    let mut bench = Bench::new();
    assert_eq!(bench.sh("cat; echo done").outcome, JobOutcome::Exited(0));
    assert_eq!(bench.read("stdout"), "done\n");
}

#[test]
fn a_timeout_ends_the_whole_group_and_keeps_the_output() {
    let mut bench = Bench::new();
    let script =
        "echo begun; (trap '' TERM; sh -c 'echo $PPID > stubborn; while :; do sleep 0.1; done') & sleep 3600";
    let mut timeout = Duration::from_millis(300);
    let ended = loop {
        let ended = bench.sh_for(timeout, script);
        // On a slow machine the time may be over before the script gets that far.
        if !bench.read("stubborn").trim().is_empty() || timeout > probity_testkit::STUCK_TIMEOUT {
            break ended;
        }
        timeout *= 4;
    };
    assert_eq!(ended.outcome, JobOutcome::TimedOut);
    assert_eq!(ended.exit_code(), Some(-1));
    assert_eq!(bench.read("stdout"), "begun\n");
    assert!(ended.n_survivors > 0, "the one that ignores SIGTERM is reported");
    assert!(ended.all_gone);
    assert!(!runs(&bench.read("stubborn")));
}

#[test]
fn too_much_output_ends_the_job() {
    let mut bench = Bench::new();
    let ended = bench.sh("yes");
    assert_eq!(ended.outcome, JobOutcome::TooMuchOutput);
    assert_eq!(ended.exit_code(), Some(-1));
    assert!(bench.read("stdout").starts_with("y\ny\n"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_daemon_that_left_its_session_is_found_and_ended() {
    let mut bench = Bench::new();
    let ended = bench.sh("(setsid sh -c 'echo $$ > daemon; exec sleep 3600' &)
        while ! grep -aqs '^sleep' /proc/$(cat daemon 2>&-)/cmdline; do :; done");
    assert_eq!(ended.outcome, JobOutcome::Exited(0));
    assert_eq!(ended.n_survivors, 1);
    assert_eq!(ended.survivors[0].command, "sleep 3600");
    assert!(ended.survivors[0].ended);
    assert_eq!(ended.survivors[0].pid.to_string(), bench.read("daemon").trim());
    assert!(!runs(&bench.read("daemon")));
}

#[test]
fn who_would_write_later_never_writes() {
    let mut bench = Bench::new();
    let ended = bench.sh("(sleep 3600; echo late > late) & echo $! > writer; exit 0");
    assert_eq!(ended.outcome, JobOutcome::Exited(0));
    assert!(ended.n_survivors > 0 && ended.all_gone);
    assert!(!runs(&bench.read("writer")));
    assert!(!bench.path().join("late").exists());
}

#[test]
fn a_stopped_process_is_ended_too() {
    let mut bench = Bench::new();
    let ended = bench.sh("sleep 3600 & kill -STOP $!; echo $! > stopped");
    assert_eq!(ended.n_survivors, 1);
    assert!(!runs(&bench.read("stopped")));
}

#[cfg(target_os = "linux")]
#[test]
fn a_storm_of_forks_is_ended() {
    let mut bench = Bench::new();
    // Bounded in case this test fails: three generations of five, each sleeping long. The job ends among them.
    let ended = bench
        .sh("f() { echo x >> up; [ $1 -gt 0 ] && for i in 1 2 3 4 5; do f $(($1 - 1)) & done; sleep 3600; }
        f 3 & while [ \"$(wc -l 2>&- < up)\" -lt 10 ] 2>&-; do :; done; exit 3");
    assert_eq!(ended.outcome, JobOutcome::Exited(3));
    assert!(ended.all_gone);
    assert!(ended.n_survivors > 5);
    assert_eq!(how_many_work_in(bench.path()), 0);
}

#[cfg(target_os = "linux")]
#[test]
fn a_process_that_forks_and_leaves_again_and_again_is_ended() {
    let mut bench = Bench::new();
    // Each generation lives for about a millisecond. Bounded in case this test fails.
    let ended = bench
        .sh("touch generation; g() { [ $1 -gt 0 ] && g $(($1 - 1)) & echo $1 >> generation; exit; }
        g 1000000 & while [ \"$(wc -l < generation)\" -lt 20 ]; do :; done");
    assert_eq!(ended.outcome, JobOutcome::Exited(0));
    assert!(ended.all_gone);
    assert_eq!(how_many_work_in(bench.path()), 0);
    assert!(bench.read("generation").lines().count() < 1_000_000, "it would have gone on");
}

#[test]
fn a_helper_beside_a_job_is_left_alone() {
    let mut bench = Bench::new();
    let place = bench.path().to_owned();
    let helper = std::thread::spawn(move || {
        let limits = CaptureLimits { time: probity_testkit::STUCK_TIMEOUT, output_bytes: 100 };
        let environment = ProcessEnvironment::empty().with("PATH", "/usr/bin:/bin");
        let script = "touch helps; while ! [ -e go ]; do sleep 0.02; done; echo whole";
        capture(&["sh", "-c", script], &environment, &place, limits)
    });
    let ended = bench.sh("while ! [ -e helps ]; do :; done; sleep 3600 & exit 0");
    fs::write(bench.path().join("go"), "").unwrap();
    assert_eq!(ended.n_survivors, 1);
    assert_eq!(helper.join().unwrap().unwrap().stdout, b"whole\n");
}

#[cfg(target_os = "linux")]
#[test]
fn what_is_weaker_than_it_could_be_is_said() {
    let bench = Bench::new();
    let containment = bench.supervisor.containment();
    assert!(containment.subreaper, "every Linux has subreapers");
    assert_eq!(containment.cgroup, containment.notes.is_empty());
}

#[test]
fn jobs_of_two_supervisors_leave_each_other_alone() {
    let jobs: Vec<_> = (0..4)
        .map(|number| {
            std::thread::spawn(move || Bench::new().sh(&format!("sleep 0.05; exit {number}")).exit_code())
        })
        .collect();
    let codes: Vec<_> = jobs.into_iter().map(|job| job.join().unwrap()).collect();
    assert_eq!(codes, [Some(0), Some(1), Some(2), Some(3)]);
}
