//! Which gates are known to have failed on which content: a gate that failed before a change is not its doing.
//!
//! Only failures are kept, by the run that describes the tree they failed on; a gate that passes there later takes its
//! failure back.

use crate::gates::GateResult;
use crate::{Fault, Workspace, clock};
use analysis::RunId;
use canon::Digest;
use plan::{GateStatus, Plan, PlannedGate};
use std::collections::BTreeSet;
use store::ports::{Refs, Store};

/// The space of pointers from a run and a gate to when it failed there.
const SPACE: &str = "gates";
/// So many failures are kept; the oldest go.
const KEPT: usize = 1_000;

/// The gates of a plan that failed on the content of `run`. Where nothing was ever kept, nothing is made.
pub(super) fn failed_on(workspace: &Workspace, run: RunId, plan: &Plan) -> Result<BTreeSet<String>, Fault> {
    let mut failed = BTreeSet::new();
    if workspace.state.database().symlink_metadata().is_err() {
        return Ok(failed);
    }
    let refs = workspace.state.store()?.refs(SPACE);
    for gate in &plan.gates {
        if refs.get(&name(run, gate))?.is_some() {
            failed.insert(gate.id.clone());
        }
    }
    Ok(failed)
}

/// Keeps what the gates of a plan said to the content of `run`.
pub(super) fn keep(
    workspace: &Workspace,
    run: RunId,
    plan: &Plan,
    results: &[GateResult],
) -> Result<(), Fault> {
    let refs = workspace.state.store()?.refs(SPACE);
    let now = clock::now_ms().to_string();
    for (gate, result) in plan.gates.iter().zip(results) {
        match result.status {
            GateStatus::Fail => set(&*refs, &name(run, gate), Some(now.as_bytes()))?,
            GateStatus::Pass => set(&*refs, &name(run, gate), None)?,
            GateStatus::Skip => {}
        }
    }
    forget(&*refs)
}

/// A loser of a race leaves it to the winner: both saw the same gate on the same content.
fn set(refs: &dyn Refs, name: &str, value: Option<&[u8]>) -> Result<(), Fault> {
    let found = refs.get(name)?;
    if found.is_some() || value.is_some() {
        refs.swap(name, found.as_deref(), value)?;
    }
    Ok(())
}

fn forget(refs: &dyn Refs) -> Result<(), Fault> {
    let mut kept = refs.list()?;
    kept.sort_by(|one, other| (other.1.len(), &other.1).cmp(&(one.1.len(), &one.1)));
    for (name, value) in kept.iter().skip(KEPT) {
        refs.swap(name, Some(value), None)?;
    }
    Ok(())
}

/// A gate on some content. One that runs something else is another gate.
fn name(run: RunId, gate: &PlannedGate) -> String {
    Digest::of_json(&serde_json::json!({ "run": run, "gate": gate.id, "command": gate.run })).to_hex()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(status: GateStatus) -> GateResult {
        GateResult {
            gate_id: "unit".into(),
            status,
            exit_code: None,
            duration_ms: 1,
            logs: Vec::new(),
            troubles: Vec::new(),
        }
    }

    #[test]
    fn a_failure_is_known_until_the_gate_passes_on_the_same_content() {
        let dir = tempfile::tempdir().expect("a directory");
        let workspace = Workspace::find(Some(dir.path()), dir.path()).expect("is found");
        let policy =
            plan::Policy::from_toml("[[gate]]\nid = \"unit\"\nrun = [\"true\"]\n").expect("a policy");
        let plan = crate::planning::plan_of(&policy, &crate::planning::Selection::default()).expect("a plan");
        assert_eq!(plan.gates.len(), 1);
        let [one, other] = [b"one", b"two"].map(|bytes| RunId(Digest::of(bytes)));
        let known = |run| failed_on(&workspace, run, &plan).expect("is read").len();
        assert_eq!(known(one), 0);
        assert!(!workspace.state.database().exists());
        keep(&workspace, one, &plan, &[result(GateStatus::Fail)]).expect("is kept");
        assert_eq!((known(one), known(other)), (1, 0));
        keep(&workspace, one, &plan, &[result(GateStatus::Skip)]).expect("is kept");
        assert_eq!(known(one), 1);
        keep(&workspace, one, &plan, &[result(GateStatus::Pass)]).expect("is kept");
        assert_eq!(known(one), 0);
    }
}
