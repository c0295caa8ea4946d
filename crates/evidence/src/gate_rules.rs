//! Rules for gate results, shared by the writer of a manifest and its verifier so that the two cannot diverge.

use crate::{GateResult, GateStatus};
use probity_core::ReasonCode;
use std::collections::{BTreeMap, BTreeSet};

/// Returns the failure reasons of the required gates, with the gates each applies to. Every result of a gate
/// counts, not only the last: a later pass does not hide an earlier failure.
pub(crate) fn gate_reasons<'a>(
    required: impl IntoIterator<Item = &'a str>,
    results: &[GateResult],
) -> BTreeMap<ReasonCode, BTreeSet<&'a str>> {
    let mut by_gate: BTreeMap<&str, Vec<&GateResult>> = BTreeMap::new();
    for result in results {
        by_gate.entry(&result.gate_id).or_default().push(result);
    }
    let mut found: BTreeMap<ReasonCode, BTreeSet<&str>> = BTreeMap::new();
    for gate in required {
        let of_gate = by_gate.get(gate);
        let missing = of_gate.is_none().then_some(ReasonCode::GateMissing);
        for reason in of_gate.into_iter().flatten().filter_map(|result| result_reason(result)).chain(missing)
        {
            found.entry(reason).or_default().insert(gate);
        }
    }
    found
}

fn result_reason(result: &GateResult) -> Option<ReasonCode> {
    match (result.status, result.exit_code) {
        (GateStatus::Pass, Some(0)) => None,
        (GateStatus::Skip, _) => Some(ReasonCode::GateSkipped),
        // A pass must be backed by exit code 0.
        (GateStatus::Pass | GateStatus::Fail, _) => Some(ReasonCode::GateFailed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(status: GateStatus, exit_code: Option<i64>) -> GateResult {
        GateResult { gate_id: "lint".into(), status, exit_code, duration_ms: 1, log_paths: Vec::new() }
    }

    fn reasons(results: &[GateResult]) -> Vec<ReasonCode> {
        gate_reasons(["lint"], results).into_keys().collect()
    }

    #[test]
    fn every_result_counts() {
        let pass = result(GateStatus::Pass, Some(0));
        let fail = result(GateStatus::Fail, Some(1));
        let skip = result(GateStatus::Skip, None);
        assert_eq!(reasons(std::slice::from_ref(&pass)), []);
        assert_eq!(reasons(&[fail.clone(), pass.clone()]), [ReasonCode::GateFailed]);
        assert_eq!(reasons(&[skip, fail, pass]), [ReasonCode::GateFailed, ReasonCode::GateSkipped]);
        assert_eq!(reasons(&[]), [ReasonCode::GateMissing]);
    }

    #[test]
    fn a_pass_needs_the_exit_code_0() {
        assert_eq!(reasons(&[result(GateStatus::Pass, Some(1))]), [ReasonCode::GateFailed]);
        assert_eq!(reasons(&[result(GateStatus::Pass, None)]), [ReasonCode::GateFailed]);
    }
}
