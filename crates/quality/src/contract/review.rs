//! Summarizes a verdict for reviewers, for the formats of CI services.

use super::ContractResult;
use probity_analysis::FindingRegression;
use probity_contract::ContractReason;
use probity_contract::PatchEvaluation;
use probity_contract::claims::ClaimVerdict;
use probity_contract::outputs::{NewFinding, VerdictSummary};
use probity_contract::receipt::check_results;
use probity_core::text::short_digest;
use probity_paths::RepoPath;

impl ContractResult {
    pub fn review(&self) -> VerdictSummary {
        let short = |run: &probity_contract::receipt::RunRef| short_digest(&run.run_id).to_owned();
        let health =
            |run: &Option<probity_contract::receipt::RunRef>| run.as_ref().and_then(|run| run.health);
        VerdictSummary {
            status: self.outcome.status,
            reason: self.outcome.reason,
            next_step: self.outcome.reason.map(probity_contract::ContractReason::next_step),
            blocking: reason_meanings(&self.outcome.blocking_violations),
            let_through: reason_meanings(&self.outcome.let_through),
            profile: self.verdict.profile.profile.words(),
            runs: (self.before.as_ref().map(short), self.after.as_ref().map(short)),
            health: (health(&self.before), health(&self.after)),
            checks: check_results(
                &self.verdict,
                &self.outcome.let_through,
                self.scope_check.as_ref(),
                &self.gates,
            ),
            gates: self.gates.clone(),
            out_of_scope: self.out_of_scope(),
            findings: self.new_findings(),
            api_breaks: self.api.iter().flat_map(|api| &api.breaks).cloned().collect(),
            refuted_claims: self
                .claims
                .iter()
                .filter(|claim| claim.verdict != ClaimVerdict::True)
                .cloned()
                .collect(),
        }
    }

    /// Returns changed paths that were not declared or are forbidden.
    fn out_of_scope(&self) -> Vec<RepoPath> {
        let check = self.scope_check.as_ref();
        let entries =
            check.into_iter().flat_map(|check| check.unexpected_files.union(&check.forbidden_touched));
        entries.filter_map(|entry| RepoPath::parse(entry.as_bytes()).ok()).collect()
    }

    /// Returns the new findings: first those that count against the change, then by severity.
    pub(super) fn new_findings(&self) -> Vec<NewFinding> {
        let regressions = self.comparison.iter().flat_map(|it| &it.regressions);
        let mut found: Vec<NewFinding> = regressions.map(|new| self.new_finding(new)).collect();
        found.sort_by(|a, b| {
            let rank = |it: &NewFinding| (!it.is_ours, it.is_let_through, std::cmp::Reverse(it.severity));
            rank(a).cmp(&rank(b)).then_with(|| (&a.path, a.lines, &a.id).cmp(&(&b.path, b.lines, &b.id)))
        });
        found
    }

    fn new_finding(&self, new: &FindingRegression) -> NewFinding {
        let finding = &new.finding;
        let id = finding.id.to_string();
        // Without external regressions every finding belongs to the change.
        let is_ours =
            |it: &PatchEvaluation| it.external_regressions.is_empty() || it.intent_regressions.contains(&id);
        let place = finding.locations.first();
        NewFinding {
            rule: finding.family.as_str().to_owned(),
            severity: finding.severity,
            message: finding.message.clone(),
            path: place.map(|place| place.path.clone()),
            lines: place.map_or((1, 1), |place| line_range(&place.range)),
            is_ours: self.verdict.evaluation().is_some_and(is_ours),
            is_let_through: self.outcome.findings_let_through.contains_key(&id),
            id,
        }
    }
}

fn reason_meanings(reasons: &[ContractReason]) -> Vec<String> {
    reasons.iter().map(|reason| reason.meaning().to_owned()).collect()
}

/// Returns the location and message of a finding in one line.
pub(super) fn describe_finding(finding: &probity_analysis::Finding) -> String {
    match finding.locations.first() {
        Some(place) => format!("{}:{} {}", place.path, place.range.start_line.max(1), finding.message),
        None => finding.message.clone(),
    }
}

/// Returns the lines of a range. A range that ends at the start of a line does not include that line.
fn line_range(range: &probity_analysis::SourceRange) -> (u32, u32) {
    let first = range.start_line.max(1);
    let last = if range.end_column <= 1 { range.end_line.saturating_sub(1) } else { range.end_line };
    (first, last.max(first))
}
