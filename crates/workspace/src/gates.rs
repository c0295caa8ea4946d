//! Runs the gates of a seal in order, isolated from the agent, and keeps their output (law 8).
//!
//! Output goes to unnamed files, so neither the agent nor the gate can replace or remove the evidence (law 11).

mod private_directory;

use crate::{ServiceError, Workspace};
use private_directory::PrivateDirectory;
use probity_core::ReasonCode;
use probity_evidence::{PlannedGate, Seal};
use probity_process::{Job, JobInput, JobOutcome, JobOutput, JobReport, ProcessEnvironment, Supervisor};
use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::Path;
use std::time::Duration;

/// Output limit per stream; more comes from a runaway program.
const MAX_LOG_BYTES: u64 = 64 * 1024 * 1024;

/// The result of one gate.
#[derive(Debug, Clone)]
pub struct GateResult {
    pub gate_id: String,
    pub status: probity_evidence::GateStatus,
    /// −1 when a limit ended the gate, `None` when nothing ran.
    pub exit_code: Option<i32>,
    pub duration_ms: u64,
    /// Standard output and standard error, if the gate ran.
    pub logs: Vec<GateLog>,
    /// The causes of failure, each with its code.
    pub troubles: Vec<(ReasonCode, String)>,
}

/// The output of a gate on one stream.
#[derive(Debug, Clone)]
pub struct GateLog {
    /// The path within the bundle.
    pub path: String,
    pub bytes: Vec<u8>,
}

/// The end of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogTail<'a> {
    /// The last lines, without line ends. They are raw: escape them before writing to a terminal.
    pub lines: Vec<&'a [u8]>,
    /// The line count of the whole log.
    pub n_lines: usize,
}

impl GateLog {
    pub fn tail(&self, max_lines: usize) -> LogTail<'_> {
        let text = self.bytes.strip_suffix(b"\n").unwrap_or(&self.bytes);
        let lines = || text.split(|&byte| byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
        let n_lines = if self.bytes.is_empty() { 0 } else { lines().count() };
        LogTail { lines: lines().take(n_lines).skip(n_lines.saturating_sub(max_lines)).collect(), n_lines }
    }
}

impl GateResult {
    /// Returns whether the gate could not even start, which says nothing about the change.
    pub fn could_not_start(&self) -> bool {
        self.troubles.iter().any(|(reason, _)| *reason == ReasonCode::GateNotStarted)
    }

    /// The paths of the logs within the bundle.
    pub fn log_paths(&self) -> Vec<String> {
        self.logs.iter().map(|log| log.path.clone()).collect()
    }
}

/// The directories that gates use.
#[derive(Debug, Clone, Copy)]
pub struct GatePlace<'a> {
    pub root: &'a Path,
    /// Holds output until the gate has ended.
    pub log_directory: &'a Path,
}

/// Returns a callback that announces each gate as it starts.
pub fn announcement<'a>(workspace: &'a Workspace, seal: &'a Seal) -> impl FnMut(&PlannedGate) + 'a {
    let total = seal.contents().plan.gates.len();
    let mut n_started = 0;
    move |gate| {
        n_started += 1;
        workspace.progress.milestone(|| format!("gate {} started, {n_started} of {total}", gate.id));
    }
}

/// Announces the result of a gate that ran.
pub fn announce_end(workspace: &Workspace, result: &GateResult) {
    let word = match result.status {
        probity_evidence::GateStatus::Pass => "passed",
        probity_evidence::GateStatus::Fail => "failed",
        probity_evidence::GateStatus::Skip => return,
    };
    workspace
        .progress
        .milestone(|| format!("gate {} {word} after {} ms", result.gate_id, result.duration_ms));
}

/// Runs the sealed gates and stops at the first required one that does not pass; the rest are reported as skipped.
/// `before` runs before each gate that starts, `after` runs after every gate, skipped ones included.
#[tracing::instrument(name = "gates", skip_all)]
pub fn run(
    supervisor: &mut Supervisor,
    seal: &Seal,
    place: GatePlace<'_>,
    before: &mut dyn FnMut(&PlannedGate),
    after: &mut dyn FnMut(&GateResult) -> Result<(), ServiceError>,
) -> Result<Vec<GateResult>, ServiceError> {
    for left_in in [&std::env::temp_dir(), place.log_directory] {
        private_directory::remove_abandoned(left_in);
    }
    let gates = &seal.contents().plan.gates;
    let mut results = Vec::new();
    let mut stopped_by: Option<String> = None;
    for (index, gate) in gates.iter().enumerate() {
        let result = if let Some(by) = &stopped_by {
            skipped_result(gate, &format!("not run, because gate `{by}` did not pass"))
        } else {
            before(gate);
            run_one(supervisor, seal, gate, index + 1, place)
        };
        if gate.required && result.status != probity_evidence::GateStatus::Pass && stopped_by.is_none() {
            stopped_by = Some(gate.id.clone());
        }
        after(&result)?;
        results.push(result);
    }
    Ok(results)
}

/// Reports every gate of a seal as skipped for the same reason.
pub fn skip_all(seal: &Seal, why: &str) -> Vec<GateResult> {
    seal.contents().plan.gates.iter().map(|gate| skipped_result(gate, why)).collect()
}

fn skipped_result(gate: &PlannedGate, why: &str) -> GateResult {
    GateResult {
        gate_id: gate.id.clone(),
        status: probity_evidence::GateStatus::Skip,
        exit_code: None,
        duration_ms: 0,
        logs: Vec::new(),
        troubles: vec![(ReasonCode::GateSkipped, why.into())],
    }
}

fn run_one(
    supervisor: &mut Supervisor,
    seal: &Seal,
    gate: &PlannedGate,
    number: usize,
    GatePlace { root, log_directory: folder }: GatePlace<'_>,
) -> GateResult {
    let files = nameless_file(folder).and_then(|stdout| Ok([stdout, nameless_file(folder)?]));
    let started = files.and_then(|files| {
        let python_cache = PrivateDirectory::create(root, folder)?;
        Ok((start(supervisor, seal, gate, root, python_cache.path(), &files)?, files))
    });
    let (ended, files) = match started {
        Ok(started) => started,
        Err(error) => return without_logs(gate, &error),
    };
    let read = |stream: &str, file: &mut File| {
        let bytes = read_back(file)?;
        Ok(GateLog { path: probity_evidence::log_path(number, &gate.id, stream), bytes })
    };
    let [mut stdout, mut stderr] = files;
    let logs = read("stdout", &mut stdout).and_then(|log| Ok(vec![log, read("stderr", &mut stderr)?]));
    let mut troubles = failure_reasons(gate, &ended);
    let logs = logs.unwrap_or_else(|error: io::Error| {
        troubles.push((ReasonCode::GateFailed, format!("its output could not be read back: {error}")));
        Vec::new()
    });
    let status = if troubles.is_empty() {
        probity_evidence::GateStatus::Pass
    } else {
        probity_evidence::GateStatus::Fail
    };
    GateResult {
        gate_id: gate.id.clone(),
        status,
        exit_code: ended.exit_code(),
        duration_ms: ended.duration_ms,
        logs,
        troubles,
    }
}

fn start(
    supervisor: &mut Supervisor,
    seal: &Seal,
    gate: &PlannedGate,
    root: &Path,
    python_cache: &Path,
    [stdout, stderr]: &[File; 2],
) -> io::Result<JobReport> {
    let settings = seal.contents().gate_settings.get(&gate.id);
    let extra = settings.map_or(&[][..], |settings| &settings.env);
    let environment = ProcessEnvironment::allow_listed(extra)
        .with_run(&seal.contents().run_id, root)
        .with_gate(&gate.id)
        .with_python_cache(python_cache);
    Ok(supervisor.run(&Job {
        argv: gate.run.iter().map(Into::into).collect(),
        cwd: root.to_owned(),
        environment,
        stdin: JobInput::Null,
        output: JobOutput::Files {
            stdout: stdout.try_clone()?,
            stderr: stderr.try_clone()?,
            limit_bytes: MAX_LOG_BYTES,
        },
        timeout: Some(Duration::from_millis(gate.timeout_ms)),
    }))
}

/// A gate is not started if its output cannot be kept.
fn without_logs(gate: &PlannedGate, error: &io::Error) -> GateResult {
    let detail = format!("could not start: there is no place for its output: {error}");
    GateResult {
        gate_id: gate.id.clone(),
        status: probity_evidence::GateStatus::Fail,
        exit_code: None,
        duration_ms: 0,
        logs: Vec::new(),
        troubles: vec![(ReasonCode::GateNotStarted, detail)],
    }
}

/// Opens an unnamed file in the log directory, or in the system's temporary one if that was destroyed.
fn nameless_file(folder: &Path) -> io::Result<File> {
    tempfile::tempfile_in(folder).or_else(|_| tempfile::tempfile())
}

fn read_back(file: &mut File) -> io::Result<Vec<u8>> {
    file.rewind()?;
    let mut bytes = Vec::new();
    file.take(MAX_LOG_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn failure_reasons(gate: &PlannedGate, ended: &JobReport) -> Vec<(ReasonCode, String)> {
    let mut troubles = match &ended.outcome {
        JobOutcome::Exited(0) => Vec::new(),
        JobOutcome::Exited(code) => vec![(ReasonCode::GateFailed, format!("exit code {code}"))],
        JobOutcome::Signalled(signal) => vec![(ReasonCode::GateFailed, format!("ended by signal {signal}"))],
        JobOutcome::TimedOut => {
            let detail = format!("ran longer than {} ms", gate.timeout_ms);
            vec![(ReasonCode::GateFailed, detail.clone()), (ReasonCode::GateTimedOut, detail)]
        }
        JobOutcome::TooMuchOutput => {
            vec![(ReasonCode::GateFailed, format!("wrote more than {MAX_LOG_BYTES} bytes"))]
        }
        JobOutcome::Cancelled(signal) => {
            vec![(ReasonCode::GateFailed, format!("cancelled by signal {signal}"))]
        }
        JobOutcome::NotStarted(why) => {
            vec![(ReasonCode::GateNotStarted, format!("could not start: {why}"))]
        }
    };
    if ended.n_survivors > 0 {
        let detail = format!("{} processes were left behind", ended.n_survivors);
        if troubles.is_empty() {
            troubles.push((ReasonCode::GateFailed, detail.clone()));
        }
        troubles.push((ReasonCode::GateSurvivors, detail));
    }
    troubles
}
