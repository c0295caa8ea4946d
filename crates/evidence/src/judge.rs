//! The rules that the writer of a manifest and its verifier share, so that they cannot drift apart.

use crate::GateResult;
use canon::Reason;
use plan::GateStatus;

/// What the results of one required gate say against it: every result counts, not the last.
pub(crate) fn gate_reasons(gate: &str, results: &[GateResult]) -> Vec<Reason> {
    let mut of_gate = results.iter().filter(|result| result.gate_id == gate).peekable();
    if of_gate.peek().is_none() {
        return vec![Reason::GateMissing];
    }
    let mut reasons: Vec<Reason> = of_gate.filter_map(result_reason).collect();
    reasons.sort_unstable();
    reasons.dedup();
    reasons
}

fn result_reason(result: &GateResult) -> Option<Reason> {
    match (result.status, result.exit_code) {
        (GateStatus::Pass, Some(0)) => None,
        (GateStatus::Skip, _) => Some(Reason::GateSkipped),
        // A pass without the exit code 0 is a claim without its proof.
        (GateStatus::Pass | GateStatus::Fail, _) => Some(Reason::GateFailed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(status: GateStatus, exit_code: Option<i64>) -> GateResult {
        GateResult { gate_id: "lint".into(), status, exit_code, duration_ms: 1, log_paths: Vec::new() }
    }

    #[test]
    fn every_result_counts() {
        let pass = result(GateStatus::Pass, Some(0));
        let fail = result(GateStatus::Fail, Some(1));
        let skip = result(GateStatus::Skip, None);
        assert_eq!(gate_reasons("lint", std::slice::from_ref(&pass)), []);
        assert_eq!(gate_reasons("lint", &[fail.clone(), pass.clone()]), [Reason::GateFailed]);
        assert_eq!(
            gate_reasons("lint", &[skip, fail, pass.clone()]),
            [Reason::GateFailed, Reason::GateSkipped]
        );
        assert_eq!(gate_reasons("test", &[pass]), [Reason::GateMissing]);
    }

    #[test]
    fn a_pass_needs_the_exit_code_0() {
        assert_eq!(gate_reasons("lint", &[result(GateStatus::Pass, Some(1))]), [Reason::GateFailed]);
        assert_eq!(gate_reasons("lint", &[result(GateStatus::Pass, None)]), [Reason::GateFailed]);
    }
}
