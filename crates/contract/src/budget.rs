//! The budget of a change before it starts: the headroom that the tree has.

use crate::run::GatePreview;
use probity_policy::{Severity, Strictness, StrictnessProfile};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// The limits of a change. `None` means unlimited.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ChangeBudget {
    /// The analysis run that it is computed from.
    pub run_id: String,
    /// Maximum number of new findings in scope, by severity.
    pub new_findings: BTreeMap<Severity, Option<u64>>,
    /// Maximum loss of health.
    pub health_loss: Option<u64>,
    /// True if symbols in scope may get worse.
    pub may_worsen_symbols: bool,
    /// The current state of the tree.
    pub current: CurrentState,
    /// True if the gates already fail. This restricts nothing: a failure that existed before is not charged
    /// to the change.
    pub gate_fails_already: Option<bool>,
}

/// The state of a tree in numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CurrentState {
    /// The health, if known.
    pub health: Option<i64>,
    /// Number of findings, by severity.
    pub findings: BTreeMap<Severity, u64>,
}

impl CurrentState {
    /// Combines a health and finding counts; severities without a count get zero.
    pub fn new(health: Option<i64>, findings: impl IntoIterator<Item = (Severity, u64)>) -> Self {
        let mut all: BTreeMap<Severity, u64> = Severity::ALL.iter().map(|&severity| (severity, 0)).collect();
        all.extend(findings);
        Self { health, findings: all }
    }
}

/// Computes the budget of a change that starts from a run.
pub fn budget(
    run_id: String,
    current: CurrentState,
    strictness: Strictness,
    gate: Option<GatePreview>,
) -> ChangeBudget {
    let relaxed = strictness.profile == StrictnessProfile::Relaxed;
    let strict = strictness.profile == StrictnessProfile::Strict;
    let free = |severity| relaxed || strictness.severity_floor.is_some_and(|floor| severity < floor);
    let limit = |severity| (severity, if free(severity) { None } else { Some(0) });
    ChangeBudget {
        run_id,
        new_findings: Severity::ALL.iter().copied().map(limit).collect(),
        health_loss: strict.then_some(0),
        may_worsen_symbols: !strict,
        current,
        gate_fails_already: gate.map(|gate| gate.would_fail),
    }
}
