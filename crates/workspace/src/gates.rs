//! Runs the gates of a seal in order, isolated from the agent, and keeps their output (law 8).
//!
//! Output goes to unnamed files, so neither the agent nor the gate can replace or remove the evidence (law 11).

mod private_directory;
mod start_programs;

pub use private_directory::PrivateDirectory;
pub use start_programs::StartPrograms;

use crate::exemptions::gate_inputs::{self, GateInputs};
use crate::{ServiceError, Workspace};
use probity_core::ReasonCode;
use probity_evidence::{PlannedGate, Seal, SealedProgram};
use probity_paths::{RepoPath, Scope};
use probity_policy::{InputUse, StartedTools};
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
    /// Changed files on which the result depends; empty in a governed run, which reports them itself.
    pub changed_inputs: ChangedInputs,
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
    /// Returns whether the gate was not run because what it would run has changed.
    pub fn is_undecided(&self) -> bool {
        self.troubles.iter().any(|(reason, _)| {
            matches!(reason, ReasonCode::GateInputChanged | ReasonCode::GateProgramChanged)
        })
    }

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

/// What a gate was before the change that it judges.
#[derive(Debug, Clone, Copy)]
pub struct HeldGates<'a> {
    /// The programs when the change was started in a shared tree; `None` if only the base commit is known.
    pub programs: Option<&'a StartPrograms>,
    pub changes: &'a HeldChanges,
}

/// What changed since a gate was what it should be.
#[derive(Debug, Clone, Default)]
pub struct HeldChanges {
    /// The paths that changed, by any author.
    pub changed: BTreeSet<RepoPath>,
    /// Those of them that were not there before.
    pub added: BTreeSet<RepoPath>,
    /// Those of them that the change did not declare.
    pub undeclared: BTreeSet<RepoPath>,
    /// What the caller lets the change alter.
    pub grants: Scope,
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
    /// Names the moment with which the present is compared.
    fn since(&self) -> &'static str {
        if self.programs.is_some() { "the change was started" } else { "the base commit" }
    }

    /// Returns what to say if an input that the policy declares for a gate has changed.
    fn changed_input(&self, seal: &Seal, gate: &PlannedGate) -> Option<String> {
        let declared = seal.contents().gate_settings.get(&gate.id)?.declared_inputs.to_scope().ok()?;
        let HeldChanges { changed, grants, .. } = self.changes;
        let path = changed.iter().find(|path| declared.contains(path) && !grants.contains(path))?;
        Some(format!("`{path}` has changed since {}, and the policy calls it an input", self.since()))
    }

    /// Returns what to say if a program of a gate is a changed file of the tree. With the programs of the start this is
    /// known from their digests.
    fn changed_program(&self, root: &Path, programs: &[SealedProgram]) -> Option<String> {
        let HeldChanges { changed, grants, .. } = self.changes;
        let in_tree = |program: &SealedProgram| {
            let below = Path::new(OsStr::from_bytes(program.path.as_bytes())).strip_prefix(root).ok()?;
            RepoPath::parse(below.as_os_str().as_bytes()).ok()
        };
        let mut paths = programs.iter().filter(|_| self.programs.is_none()).filter_map(in_tree);
        let path = paths.find(|path| changed.contains(path) && !grants.contains(path))?;
        Some(format!("`{path}`, which it runs, has changed since {}", self.since()))
    }

    /// Returns how a gate depends on a changed path, and says so.
    fn use_of<'t>(
        &self,
        tools: &'t StartedTools,
        inputs: &BTreeSet<RepoPath>,
        path: &RepoPath,
    ) -> Option<(InputUse<'t>, String)> {
        let used = tools.use_of(Some(inputs), path, self.changes.added.contains(path))?;
        let since = self.since();
        let detail = match used {
            InputUse::Named => format!("`{path}`, which its command names, has changed since {since}"),
            InputUse::Shadow => {
                format!("`{path}` is new since {since}; the gate {}", used.describe())
            }
            InputUse::Module | InputUse::Read { .. } => {
                format!("`{path}` has changed since {since}; the gate {}", used.describe())
            }
        };
        Some((used, detail))
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
        changed_inputs: ChangedInputs::default(),
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
    let changed_inputs = prepared.changed_inputs.clone();
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
        changed_inputs,
    }
}

/// A gate whose programs are those that were sealed.
struct PreparedGate {
    argv: Vec<OsString>,
    environment: ProcessEnvironment,
    changed_inputs: ChangedInputs,
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
        let search_path = match held.and_then(|held| held.programs) {
            Some(programs) => programs.search_path().to_owned(),
            None => environment.get("PATH").unwrap_or_default().to_owned(),
        };
        let file_root = place.confinement.map_or(Path::new("/"), GateConfinement::file_root);
        let found = gate_inputs::look_up(file_root, place.root, gate, &search_path, &BTreeSet::new());
        let started = held.and_then(|held| held.programs);
        let sealed = match started {
            Some(programs) => Some((programs.of_gate(&gate.id).to_vec(), "the change was started")),
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
        let mut changed_inputs = ChangedInputs::default();
        if let Some(held) = held {
            let programs = gate_inputs::without_gate_outputs(seal, place.root, found.programs.clone());
            if let Some(detail) = held.changed_program(place.root, &programs) {
                return Err((ReasonCode::GateProgramChanged, detail));
            }
            changed_inputs = ChangedInputs::of(seal, gate, &held, &found)
                .map_err(|detail| (ReasonCode::GateInputChanged, detail))?;
        }
        let mut argv: Vec<OsString> = gate.run.iter().map(Into::into).collect();
        let own = found.found_program;
        let path = place.search_path(&search_path, own.as_deref());
        if let Some((name, own)) = argv.first_mut().zip(own) {
            *name = own.into();
        }
        Ok(Self { argv, environment: environment.with("PATH", path), changed_inputs })
    }
}

/// The changed files on which the result of a gate depends, although it may run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChangedInputs {
    /// Those that nobody declared or granted.
    pub undeclared: BTreeSet<RepoPath>,
    /// What to say of each of them.
    pub details: Vec<String>,
}

impl ChangedInputs {
    /// Collects the changed inputs of a gate, or says which decides what it runs without being declared: in a shared tree
    /// somebody else may have made that change, and in a pull request its author did, but the gate cannot be believed.
    fn of(
        seal: &Seal,
        gate: &PlannedGate,
        held: &HeldGates<'_>,
        looked_up: &GateInputs,
    ) -> Result<Self, String> {
        let outputs = seal.contents().gate_settings.values().map(|settings| settings.outputs.to_scope());
        let outputs: Vec<Scope> = outputs.flatten().collect();
        let tools = StartedTools::of(&gate.run);
        let executed = probity_policy::executed_words(&gate.run);
        // A file that a command names and only reads is what it judges, so a pull request may change it. In a shared tree the
        // declared scope says whether this change may.
        let is_judged = |used: InputUse<'_>, path: &RepoPath| {
            let is_word = |word: &String| word.trim_start_matches("./").as_bytes() == path.as_bytes();
            used == InputUse::Named && !looked_up.executed.contains(path) && !executed.iter().any(is_word)
        };
        let HeldChanges { changed, undeclared, grants, .. } = held.changes;
        let mut found = Self::default();
        for path in changed.iter().filter(|path| !outputs.iter().any(|scope| scope.contains(path))) {
            let Some((used, detail)) = held.use_of(&tools, &looked_up.inputs, path) else { continue };
            let is_judged = is_judged(used, path);
            if undeclared.contains(path) && !grants.contains(path) {
                if used.decides() && !(is_judged && held.programs.is_none()) {
                    return Err(detail);
                }
                if !is_judged {
                    found.undeclared.insert(path.clone());
                }
            }
            if !is_judged {
                found.details.push(detail);
            }
        }
        Ok(found)
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
        changed_inputs: ChangedInputs::default(),
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
