//! Runs the command and the gates in the tree itself, observing after each.

use super::sealing::StartedRun;
use super::{
    ExecutionOutcome, RunEvent, RunRequest, changed_paths, is_seen, keep_memory_private, run_command,
};
use crate::landlock_level::LandlockGates;
use crate::run_verdict::GateWrites;
use probity_evidence::GateStatus;
use probity_process::{JobOutcome, Supervisor};
use probity_workspace::amendment_journal::AmendmentJournal;
use probity_workspace::gates::{self, GateConfinement, GatePlace, GateResult};
use probity_workspace::observe::WorkspaceObserver;
use probity_workspace::{ServiceError, Workspace};

/// Runs the command and the gates, observing after each.
pub(super) fn execute(
    workspace: &Workspace,
    observer: &WorkspaceObserver<'_>,
    request: &RunRequest,
    begun: &StartedRun<'_>,
    watch: &mut dyn FnMut(RunEvent<'_>),
) -> Result<ExecutionOutcome, ServiceError> {
    keep_memory_private();
    let mut supervisor = Supervisor::new().map_err(ServiceError::system("cannot supervise processes"))?;
    // Law 13: a tree that cannot be observed before cannot be judged after, so nothing runs.
    let (command, asked) = if is_seen(&begun.start, &begun.exemptions) {
        let (ended, asked) = run_command(&mut supervisor, workspace, request, begun)?;
        (Some(ended), asked)
    } else {
        (None, AmendmentJournal::default())
    };
    watch(RunEvent::CommandEnded);
    // Only now, because the terminal belongs to the command while it runs.
    let _phase = workspace.progress.begin("checking what changed");
    let middle = observer.observe(Some(&begun.start))?;
    let mut outgoing = begun.start.outgoing(&middle, workspace);
    let mut changed_by_command = changed_paths(&begun.start, &middle);
    changed_by_command.extend(outgoing.changes.keys().cloned());
    let mut has_moved = false;
    let mut gate_writes = Vec::new();
    let mut end = middle;
    let gate_results = match command.as_ref().map(|ended| &ended.outcome) {
        None | Some(JobOutcome::Cancelled(_) | JobOutcome::NotStarted(_)) => {
            gates::skip_all(&begun.seal, "the command did not finish")
        }
        Some(_) => {
            let phase =
                workspace.progress.begin_counted("running gates", begun.seal.contents().plan.gates.len());
            let mut after = |result: &GateResult| {
                phase.advance();
                watch(RunEvent::Gate(result));
                // Without declared outputs, it does not matter which gate wrote what: one observation at the end is
                // enough.
                if result.status != GateStatus::Skip && begun.scopes.has_gate_outputs() {
                    let now = observer.observe(Some(&end))?;
                    let outputs = begun.scopes.outputs_of(&result.gate_id);
                    gate_writes.push(GateWrites { outputs, changed: changed_paths(&end, &now) });
                    has_moved |= end.git_moved(&now);
                    end = now;
                }
                Ok(())
            };
            let mut before = gates::announcement(workspace, &begun.seal);
            let landlock = begun.enforcement.landlock.as_ref().map(|level| LandlockGates {
                level,
                root: &workspace.root,
                folder: &begun.folder,
            });
            let place = GatePlace {
                confinement: landlock.as_ref().map(|gates| gates as &dyn GateConfinement),
                root: &workspace.root,
                log_directory: &begun.folder,
                changed_since_seal: Some(&changed_by_command),
            };
            gates::run(&mut supervisor, &begun.seal, place, &mut before, &mut after)?
        }
    };
    let gates_ran = gate_results.iter().any(|result| result.status != GateStatus::Skip);
    if gates_ran && gate_writes.is_empty() {
        let now = observer.observe(Some(&end))?;
        has_moved |= end.git_moved(&now);
        end = now;
    }
    if has_moved {
        outgoing = begun.start.outgoing(&end, workspace);
    }
    let containment = supervisor.containment().notes;
    Ok(ExecutionOutcome {
        command,
        amendments: asked,
        changed_by_command,
        outgoing,
        gate_results,
        gate_writes,
        end,
        containment,
        in_view: None,
        late_start: None,
    })
}
