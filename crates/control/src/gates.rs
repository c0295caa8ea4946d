//! Running the gates of a seal: in order, apart from the agent, with their words kept (law 8).

use canon::Reason;
use exec::{Ended, Environment, Input, Job, Outcome, Output, Supervisor};
use plan::{PlannedGate, Seal};
use std::fs::File;
use std::path::Path;
use std::time::Duration;

/// More than this from one gate is no log but a runaway program.
const MAX_LOG_BYTES: u64 = 64 * 1024 * 1024;

/// What became of one gate.
#[derive(Debug, Clone)]
pub struct GateResult {
    /// The gate.
    pub gate_id: String,
    /// Whether it passed, failed or did not run.
    pub status: plan::GateStatus,
    /// Its exit code: −1 when its limits ended it, `None` when nothing ran.
    pub exit_code: Option<i32>,
    /// How long it ran.
    pub duration_ms: u64,
    /// Its logs, relative to the run's folder.
    pub log_paths: Vec<String>,
    /// What went wrong, with the codes for it.
    pub troubles: Vec<(Reason, String)>,
}

/// Runs the sealed gates, stopping at the first required one that fails: the rest is skipped, and says so.
pub fn run(
    supervisor: &mut Supervisor,
    seal: &Seal,
    root: &Path,
    folder: &Path,
    watch: &mut dyn FnMut(&GateResult),
) -> std::io::Result<Vec<GateResult>> {
    let gates = &seal.contents().plan.gates;
    let mut results = Vec::new();
    let mut stopped_by: Option<String> = None;
    for (index, gate) in gates.iter().enumerate() {
        let result = match &stopped_by {
            Some(by) => skipped(gate, &format!("not run, because gate `{by}` did not pass")),
            None => run_one(supervisor, seal, gate, index + 1, root, folder)?,
        };
        if gate.required && result.status != plan::GateStatus::Pass && stopped_by.is_none() {
            stopped_by = Some(gate.id.clone());
        }
        watch(&result);
        results.push(result);
    }
    Ok(results)
}

/// All gates of a seal as not run, for one reason.
pub fn skip_all(seal: &Seal, why: &str) -> Vec<GateResult> {
    seal.contents().plan.gates.iter().map(|gate| skipped(gate, why)).collect()
}

fn skipped(gate: &PlannedGate, why: &str) -> GateResult {
    GateResult {
        gate_id: gate.id.clone(),
        status: plan::GateStatus::Skip,
        exit_code: None,
        duration_ms: 0,
        log_paths: Vec::new(),
        troubles: vec![(Reason::GateSkipped, why.into())],
    }
}

fn run_one(
    supervisor: &mut Supervisor,
    seal: &Seal,
    gate: &PlannedGate,
    number: usize,
    root: &Path,
    folder: &Path,
) -> std::io::Result<GateResult> {
    let log_paths = ["stdout", "stderr"].map(|stream| evidence::log_path(number, &gate.id, stream));
    std::fs::create_dir_all(folder.join("logs"))?;
    let settings = seal.contents().gate_settings.get(&gate.id);
    let extra = settings.map_or(&[][..], |settings| &settings.env);
    let environment =
        Environment::allow_listed(extra).with_run(&seal.contents().run_id, root).with_gate(&gate.id);
    let ended = supervisor.run(&Job {
        argv: gate.run.iter().map(Into::into).collect(),
        cwd: root.to_owned(),
        environment,
        stdin: Input::Null,
        output: Output::Files {
            stdout: File::create(folder.join(&log_paths[0]))?,
            stderr: File::create(folder.join(&log_paths[1]))?,
            limit_bytes: MAX_LOG_BYTES,
        },
        timeout: Some(Duration::from_millis(gate.timeout_ms)),
    });
    let troubles = troubles(gate, &ended);
    let status = if troubles.is_empty() { plan::GateStatus::Pass } else { plan::GateStatus::Fail };
    Ok(GateResult {
        gate_id: gate.id.clone(),
        status,
        exit_code: ended.exit_code(),
        duration_ms: ended.duration_ms,
        log_paths: log_paths.into(),
        troubles,
    })
}

fn troubles(gate: &PlannedGate, ended: &Ended) -> Vec<(Reason, String)> {
    let mut troubles = match &ended.outcome {
        Outcome::Exited(0) => Vec::new(),
        Outcome::Exited(code) => vec![(Reason::GateFailed, format!("exit code {code}"))],
        Outcome::Signalled(signal) => vec![(Reason::GateFailed, format!("ended by signal {signal}"))],
        Outcome::TimedOut => {
            let detail = format!("ran longer than {} ms", gate.timeout_ms);
            vec![(Reason::GateFailed, detail.clone()), (Reason::GateTimedOut, detail)]
        }
        Outcome::TooMuchOutput => {
            vec![(Reason::GateFailed, format!("wrote more than {MAX_LOG_BYTES} bytes"))]
        }
        Outcome::Cancelled(signal) => vec![(Reason::GateFailed, format!("cancelled by signal {signal}"))],
        Outcome::NotStarted(why) => {
            vec![(Reason::GateFailed, why.to_string()), (Reason::GateNotStarted, why.to_string())]
        }
    };
    if ended.n_survivors > 0 {
        let detail = format!("{} processes were left behind", ended.n_survivors);
        if troubles.is_empty() {
            troubles.push((Reason::GateFailed, detail.clone()));
        }
        troubles.push((Reason::GateSurvivors, detail));
    }
    troubles
}
