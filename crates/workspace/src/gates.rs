//! Runs the gates of a seal in order, isolated from the agent, and keeps their output (law 8).
//!
//! Output goes to unnamed files, so neither the agent nor the gate can replace or remove the evidence (law 11).

mod private_directory;
mod start_programs;

pub use private_directory::PrivateDirectory;
pub use start_programs::StartPrograms;

use crate::exemptions::gate_inputs;
use crate::{ServiceError, Workspace};
use probity_core::ReasonCode;
use probity_evidence::{PlannedGate, Seal, SealedProgram};
use probity_paths::RepoPath;
use probity_process::{Job, JobInput, JobOutcome, JobOutput, JobReport, ProcessEnvironment, Supervisor};
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
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

/// A private view in which gates run.
pub trait GateConfinement: std::fmt::Debug {
    /// Runs a job of a gate.
    fn run(&self, supervisor: &mut Supervisor, job: Job) -> io::Result<JobReport>;

    /// Leads to the root of the file system that gates see.
    fn file_root(&self) -> &Path;
}

/// The directories that gates use.
#[derive(Debug, Clone, Copy)]
pub struct GatePlace<'a> {
    /// The view; `None` if gates run in the tree itself.
    pub confinement: Option<&'a dyn GateConfinement>,
    pub root: &'a Path,
    /// Holds output until the gate has ended.
    pub log_directory: &'a Path,
    /// The paths that changed since the gates were sealed; `None` if they were sealed just now.
    pub changed_since_seal: Option<&'a BTreeSet<RepoPath>>,
}

/// What a gate was when its change was started in a shared tree.
#[derive(Debug, Clone, Copy)]
pub struct HeldGates<'a> {
    pub programs: &'a StartPrograms,
    /// The paths that changed since the start.
    pub changed: &'a BTreeSet<RepoPath>,
    /// Those of them that the change did not declare.
    pub undeclared: &'a BTreeSet<RepoPath>,
}

impl GatePlace<'_> {
    /// Returns the search path of a gate. A directory of the tree stays only if the judged cannot have put a program
    /// there: nothing in it changed since the seal, or, without that knowledge, the gate's own program is in it.
    fn search_path(&self, search_path: &OsStr, own_program: Option<&Path>) -> OsString {
        let is_kept = |entry: &PathBuf| {
            let real = entry.canonicalize().unwrap_or_else(|_| entry.clone());
            let Ok(below) = real.strip_prefix(self.root) else { return true };
            let Some(changed) = self.changed_since_seal else {
                return own_program.is_some_and(|program| program.parent() == Some(entry));
            };
            let directory = below.as_os_str().as_bytes();
            !directory.is_empty() && !changed.iter().any(|path| path.is_covered_by(directory))
        };
        let kept = std::env::split_paths(search_path).filter(is_kept);
        std::env::join_paths(kept).unwrap_or_default()
    }
}

impl HeldGates<'_> {
    /// Returns what to say if an input that the policy declares for a gate has changed.
    fn changed_input(&self, seal: &Seal, gate: &PlannedGate) -> Option<String> {
        let declared = seal.contents().gate_settings.get(&gate.id)?.declared_inputs.to_scope().ok()?;
        let path = self.changed.iter().find(|path| declared.contains(path))?;
        Some(format!("`{path}` has changed since the change was started, and the policy calls it an input"))
    }
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
pub fn run(
    supervisor: &mut Supervisor,
    seal: &Seal,
    place: GatePlace<'_>,
    before: &mut dyn FnMut(&PlannedGate),
    after: &mut dyn FnMut(&GateResult) -> Result<(), ServiceError>,
) -> Result<Vec<GateResult>, ServiceError> {
    run_held(supervisor, seal, place, None, before, after)
}

/// Like [`run`], but holds each gate to what it was when the change was started.
#[tracing::instrument(name = "gates", skip_all)]
pub fn run_held(
    supervisor: &mut Supervisor,
    seal: &Seal,
    place: GatePlace<'_>,
    held: Option<HeldGates<'_>>,
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
            run_one(supervisor, seal, gate, index + 1, (place, held))
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
    (place, held): (GatePlace<'_>, Option<HeldGates<'_>>),
) -> GateResult {
    let GatePlace { root, log_directory: folder, .. } = place;
    if let Some(detail) = held.and_then(|held| held.changed_input(seal, gate)) {
        return not_started(gate, ReasonCode::GateInputChanged, &detail);
    }
    let prepared = match PreparedGate::of(seal, gate, place, held) {
        Ok(prepared) => prepared,
        Err((reason, detail)) => return not_started(gate, reason, &detail),
    };
    let files = nameless_file(folder).and_then(|stdout| Ok([stdout, nameless_file(folder)?]));
    let started = files.and_then(|files| {
        let python_cache = PrivateDirectory::create(root, folder)?;
        Ok((start(supervisor, seal, gate, prepared, place, python_cache.path(), &files)?, files))
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

/// A gate whose programs are those that were sealed.
struct PreparedGate {
    argv: Vec<OsString>,
    environment: ProcessEnvironment,
}

impl PreparedGate {
    /// Looks up the programs of a gate again, or says which is not the sealed one.
    fn of(
        seal: &Seal,
        gate: &PlannedGate,
        place: GatePlace<'_>,
        held: Option<HeldGates<'_>>,
    ) -> Result<Self, (ReasonCode, String)> {
        let settings = seal.contents().gate_settings.get(&gate.id);
        let extra = settings.map_or(&[][..], |settings| &settings.env);
        let environment = ProcessEnvironment::allow_listed(extra);
        // The one who finishes may have another search path than the one who started.
        let search_path = match held {
            Some(held) => held.programs.search_path().to_owned(),
            None => environment.get("PATH").unwrap_or_default().to_owned(),
        };
        let file_root = place.confinement.map_or(Path::new("/"), GateConfinement::file_root);
        let found = gate_inputs::look_up(file_root, place.root, gate, &search_path, &BTreeSet::new());
        let sealed = match held {
            Some(held) => Some((held.programs.of_gate(&gate.id).to_vec(), "the change was started")),
            None => place.changed_since_seal.map(|_| {
                let programs = settings.map_or_else(Vec::new, |settings| settings.programs.clone());
                (programs, "the run was sealed")
            }),
        };
        if let Some((sealed, since)) = sealed {
            let [sealed, found] = [sealed, found.programs.clone()]
                .map(|programs| gate_inputs::without_gate_outputs(seal, place.root, programs));
            check_programs(&sealed, &found, since)
                .map_err(|detail| (ReasonCode::GateProgramChanged, detail))?;
        }
        // A run fails for a change outside of its scope. Here somebody else may have made it, but the gate cannot be believed.
        let is_output = |path: &RepoPath| {
            let outputs = seal.contents().gate_settings.values().map(|settings| settings.outputs.to_scope());
            outputs.flatten().any(|scope| scope.contains(path))
        };
        let is_named = |path: &&RepoPath| found.inputs.contains(*path) && !is_output(path);
        let named = held.and_then(|held| held.undeclared.iter().find(is_named));
        if let Some(path) = named {
            let detail =
                format!("`{path}`, which its command names, has changed since the change was started");
            return Err((ReasonCode::GateInputChanged, detail));
        }
        let mut argv: Vec<OsString> = gate.run.iter().map(Into::into).collect();
        let own = found.found_program;
        let path = place.search_path(&search_path, own.as_deref());
        if let Some((name, own)) = argv.first_mut().zip(own) {
            *name = own.into();
        }
        Ok(Self { argv, environment: environment.with("PATH", path) })
    }
}

/// Compares the programs that would run with the sealed ones. `since` is when those were sealed.
fn check_programs(sealed: &[SealedProgram], found: &[SealedProgram], since: &str) -> Result<(), String> {
    let other = found.iter().find(|program| !sealed.contains(program));
    if let Some(program) = other {
        let known = sealed.iter().any(|sealed| sealed.path == program.path);
        let what = if known { "has changed" } else { "would run and is not what would have run" };
        return Err(format!("{} {what} since {since}", program.path));
    }
    match sealed.iter().find(|program| !found.contains(program)) {
        Some(program) => Err(format!("{} would no longer run, as it did when {since}", program.path)),
        None => Ok(()),
    }
}

fn start(
    supervisor: &mut Supervisor,
    seal: &Seal,
    gate: &PlannedGate,
    prepared: PreparedGate,
    place: GatePlace<'_>,
    python_cache: &Path,
    [stdout, stderr]: &[File; 2],
) -> io::Result<JobReport> {
    let environment = prepared
        .environment
        .with_run(&seal.contents().run_id, place.root)
        .with_gate(&gate.id)
        .with_python_cache(python_cache);
    let job = Job {
        argv: prepared.argv,
        cwd: place.root.to_owned(),
        environment,
        stdin: JobInput::Null,
        output: JobOutput::Files {
            stdout: stdout.try_clone()?,
            stderr: stderr.try_clone()?,
            limit_bytes: MAX_LOG_BYTES,
        },
        timeout: Some(Duration::from_millis(gate.timeout_ms)),
    };
    match place.confinement {
        Some(confinement) => confinement.run(supervisor, job),
        None => Ok(supervisor.run(&job)),
    }
}

/// A gate is not started if its output cannot be kept.
fn without_logs(gate: &PlannedGate, error: &io::Error) -> GateResult {
    let detail = format!("could not start: there is no place for its output: {error}");
    not_started(gate, ReasonCode::GateNotStarted, &detail)
}

fn not_started(gate: &PlannedGate, reason: ReasonCode, detail: &str) -> GateResult {
    GateResult {
        gate_id: gate.id.clone(),
        status: probity_evidence::GateStatus::Fail,
        exit_code: None,
        duration_ms: 0,
        logs: Vec::new(),
        troubles: vec![(reason, detail.to_owned())],
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
