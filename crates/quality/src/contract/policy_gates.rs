//! Runs the policy's gates on a change in the tree, independently of the agent under judgment (law 8), or lists them
//! as skipped (law 6).
//!
//! A gate that writes to the tree changes what is judged. Its writes are reported, and an analysis that no longer
//! describes the tree is then stale.

use crate::analyze;
use probity_analysis::RunId;
use probity_contract::claims::{GateFact, GateOutcome};
use probity_evidence::{GateStatus, Plan, Seal};
use probity_paths::{RepoPath, Scope};
use probity_policy::Policy;
use probity_process::Supervisor;
use probity_workspace::gates::{self, GatePlace, GateResult, HeldChanges, HeldGates, StartPrograms};
use probity_workspace::observe::WorkspaceObserver;
use probity_workspace::progress::ProgressStep;
use probity_workspace::selection::{PlanSelection, compute_plan};
use probity_workspace::worktree::WorktreeStatus;
use probity_workspace::{ServiceError, Workspace, clock};
use std::collections::BTreeSet;

const MAX_LOG_TAIL_BYTES: usize = 2_000;
/// The most changed inputs that the explanation of a result names; `changed_inputs` has all of them.
const MAX_SHOWN_INPUTS: usize = 3;

#[derive(Debug, Clone, Default)]
pub struct GateChoice {
    /// Skips all gates, which is reported with the verdict.
    pub skip: bool,
    /// The policy's default profile if absent.
    pub profile: Option<String>,
    /// The minimum tier; profile and packs may require a higher one.
    pub tier: Option<String>,
    /// What the gates must still be, if the change was started before.
    pub held: Option<HeldChange>,
}

/// What is known of the gates before the change.
#[derive(Debug, Clone)]
pub struct HeldChange {
    /// The programs of the gates when the change was started; `None` if it is compared with a commit.
    pub programs: Option<StartPrograms>,
    pub changes: HeldChanges,
}

#[derive(Debug, Clone, Default)]
pub struct GateAnswers {
    /// Every gate of the plan in order, then those that its tier excludes.
    pub facts: Vec<GateFact>,
    /// The failed gates' ids with the tail of their output.
    pub last_words: Vec<(String, String)>,
    /// The ids of the gates that could not start.
    pub not_started: BTreeSet<String>,
    /// Paths that gates wrote, except declared outputs and build outputs.
    pub written: BTreeSet<RepoPath>,
    /// The id that an analysis of the tree would have after the gates; `None` if none ran.
    pub tree_run: Option<RunId>,
}

/// Plans the gates for the changed paths and runs them in the tree.
pub fn run(
    workspace: &Workspace,
    policy: &Policy,
    choice: &GateChoice,
    changed: &BTreeSet<RepoPath>,
    worktree: &WorktreeStatus,
    progress: &(dyn Fn(ProgressStep) + Sync),
) -> Result<GateAnswers, ServiceError> {
    if policy.gates.is_empty() {
        return Ok(GateAnswers::default());
    }
    let plan = compute_plan(
        policy,
        &PlanSelection {
            changed: changed.iter().map(|path| path.as_bytes().to_vec()).collect(),
            profile: choice.profile.clone(),
            tier: choice.tier.clone(),
            ..PlanSelection::default()
        },
    )?;
    let seal =
        Seal::new(policy.seal_contents(plan, &clock::run_id(), &clock::now(), worktree.snapshot.root()));
    let results = if choice.skip {
        gates::skip_all(&seal, "it was left out")
    } else {
        run_sealed(workspace, &seal, choice.held.as_ref(), progress)?
    };
    let plan = &seal.contents().plan;
    let mut answers = GateAnswers {
        facts: facts(policy, plan, &results, choice),
        last_words: results.iter().filter_map(last_words).collect(),
        not_started: results
            .iter()
            .filter(|result| result.could_not_start())
            .map(|result| result.gate_id.clone())
            .collect(),
        ..GateAnswers::default()
    };
    if results.iter().any(|result| result.status != GateStatus::Skip) {
        let after = WorkspaceObserver::new(workspace).content(Some(&worktree.snapshot))?;
        answers.tree_run = Some(analyze::run_id(policy, &after)?);
        let declared = declared_outputs(policy, plan)?;
        let exemptions = worktree.exemptions_after(workspace, policy, &after)?;
        let is_expected = |change: &probity_snapshot::TreeChange| {
            declared.iter().any(|scope| scope.contains(&change.path)) || exemptions.exempts(change, false)
        };
        let delta = probity_snapshot::delta(&worktree.snapshot, &after).into_iter();
        answers.written = delta.filter(|change| !is_expected(change)).map(|change| change.path).collect();
    }
    Ok(answers)
}

fn run_sealed(
    workspace: &Workspace,
    seal: &Seal,
    held: Option<&HeldChange>,
    progress: &(dyn Fn(ProgressStep) + Sync),
) -> Result<Vec<GateResult>, ServiceError> {
    let total = seal.contents().plan.gates.len();
    if total == 0 {
        return Ok(Vec::new());
    }
    let mut supervisor = Supervisor::new().map_err(ServiceError::system("cannot supervise processes"))?;
    let mut which = 1;
    workspace.cancellation.check()?;
    progress(ProgressStep::Gate(which, total));
    let mut after = |result: &GateResult| {
        gates::announce_end(workspace, result);
        which += 1;
        if which <= total {
            workspace.cancellation.check()?;
            progress(ProgressStep::Gate(which, total));
        }
        Ok(())
    };
    let place = GatePlace {
        confinement: None,
        root: &workspace.root,
        log_directory: workspace.state.dir(),
        changed_since_seal: None,
    };
    let held = held.map(|held| HeldGates { programs: held.programs.as_ref(), changes: &held.changes });
    let mut before = gates::announcement(workspace, seal);
    gates::run_held(&mut supervisor, seal, place, held, &mut before, &mut after)
}

fn facts(policy: &Policy, plan: &Plan, results: &[GateResult], choice: &GateChoice) -> Vec<GateFact> {
    // Since a start, nobody else is there to review it. A commit range is reviewed by people, who can grant it.
    let is_range = choice.held.as_ref().is_some_and(|held| held.programs.is_none());
    let kind = |id: &str| policy.gate(id).map_or(probity_policy::GateKind::Lint, probity_policy::Gate::kind);
    let of_result = |(gate, result): (&probity_evidence::PlannedGate, &GateResult)| GateFact {
        id: gate.id.clone(),
        kind: kind(&gate.id),
        result: match result.status {
            GateStatus::Pass => GateOutcome::Passed,
            GateStatus::Fail if is_range && result.is_undecided() => GateOutcome::Unverified,
            GateStatus::Fail => GateOutcome::Failed,
            GateStatus::Skip if choice.skip => GateOutcome::Skipped,
            GateStatus::Skip => GateOutcome::NotRun,
        },
        required: gate.required,
        detail: detail(result),
        changed_inputs: if is_range { result.changed_inputs.undeclared.clone() } else { BTreeSet::new() },
    };
    let below_tier = plan.skipped_gates.iter().map(|id| GateFact {
        id: id.clone(),
        kind: kind(id),
        result: GateOutcome::Skipped,
        // The plan excludes it.
        required: false,
        detail: format!("its tier is above {}", plan.tier),
        changed_inputs: BTreeSet::new(),
    });
    plan.gates.iter().zip(results).map(of_result).chain(below_tier).collect()
}

/// Explains a result: why the gate did not pass, or else on which changed files its result depends.
fn detail(result: &GateResult) -> String {
    if let Some((_, detail)) = result.troubles.first() {
        return detail.clone();
    }
    let details = &result.changed_inputs.details;
    let more = details.len().saturating_sub(MAX_SHOWN_INPUTS);
    let shown = details[..details.len() - more].join("; ");
    if more > 0 { format!("{shown}; and {more} more files on which it depends") } else { shown }
}

/// Returns the tail of a failed gate's output.
fn last_words(result: &GateResult) -> Option<(String, String)> {
    if result.status != GateStatus::Fail {
        return None;
    }
    let log = result.logs.iter().rev().find(|log| !log.bytes.is_empty())?;
    let tail = &log.bytes[log.bytes.len().saturating_sub(MAX_LOG_TAIL_BYTES)..];
    Some((result.gate_id.clone(), String::from_utf8_lossy(tail).trim_end().to_owned()))
}

/// Returns the outputs that the gates of a plan declare.
fn declared_outputs(policy: &Policy, plan: &Plan) -> Result<Vec<Scope>, ServiceError> {
    let declared = plan.gates.iter().filter_map(|gate| policy.gate(&gate.id)).map(|gate| &gate.outputs);
    Ok(declared.map(probity_evidence::GlobList::to_scope).collect::<Result<_, _>>()?)
}
