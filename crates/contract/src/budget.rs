//! The budget of a change before it starts: what headroom the tree has.

use crate::run::GatePreview;
use probity_policy::{Severity, Strictness, StrictnessProfile};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// What a change may cost. `None` means that there is no limit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Budget {
    /// The run that it is reckoned from.
    pub run_id: String,
    /// How many new findings of each severity may appear in scope.
    pub new_findings: BTreeMap<Severity, Option<u64>>,
    /// How far the health may fall.
    pub health_loss: Option<u64>,
    /// Whether symbols in scope may get worse.
    pub may_worsen_symbols: bool,
    /// What the tree has now.
    pub current: CurrentState,
    /// Whether the gates fail already. It withholds nothing: a gate that failed before is not this patch's.
    pub gate_fails_already: Option<bool>,
}

/// What a run says in numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CurrentState {
    /// The health, if it could be told.
    pub health: Option<i64>,
    /// How many findings there are, by severity.
    pub findings: BTreeMap<Severity, u64>,
}

impl CurrentState {
    /// A health and how many findings of which severity; those that are not named there are none of.
    pub fn new(health: Option<i64>, findings: impl IntoIterator<Item = (Severity, u64)>) -> Self {
        let mut all: BTreeMap<Severity, u64> = Severity::ALL.iter().map(|&severity| (severity, 0)).collect();
        all.extend(findings);
        Self { health, findings: all }
    }
}

/// Reckons the budget of a change that starts from a run.
pub fn budget(
    run_id: String,
    current: CurrentState,
    strictness: Strictness,
    gate: Option<GatePreview>,
) -> Budget {
    let relaxed = strictness.profile == StrictnessProfile::Relaxed;
    let strict = strictness.profile == StrictnessProfile::Strict;
    let free = |severity| relaxed || strictness.severity_floor.is_some_and(|floor| severity < floor);
    let limit = |severity| (severity, if free(severity) { None } else { Some(0) });
    Budget {
        run_id,
        new_findings: Severity::ALL.iter().copied().map(limit).collect(),
        health_loss: strict.then_some(0),
        may_worsen_symbols: !strict,
        current,
        gate_fails_already: gate.map(|gate| gate.would_fail),
    }
}
