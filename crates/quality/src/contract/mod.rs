//! Applies the patch contract to real analyses: crate `contract` decides on what crate `analysis` found.
//!
//! [`verify`] is a pure function from a [`ContractRequest`] to a [`ContractResult`]; it reads and stores nothing.
//! [`tree_verification`] verifies the current tree; [`receipts`] stores the receipts of finished changes.

mod answers;
mod baseline;
mod convert;
pub mod policy_gates;
mod receipt;
pub mod receipts;
mod review;
pub mod tree_verification;

pub use answers::{ClaimsCheck, ContractVerification, budget_contract, check_claims, verify_contract};
pub use baseline::BaselineFile;
pub use policy_gates::GateChoice;
pub use receipt::{ReceiptContext, save_receipt};
pub use tree_verification::TreeVerification;

use crate::analysis_store::{FindingCounts, StoredAnalysis};
use probity_analysis::{
    AnalysisComparison, AnalysisRun, GateReport, GateRules, RunId, SafeguardLoss, SafeguardLossKind,
};
use probity_contract::claims::{
    ApiDelta, ChangeFacts, CheckedClaim, Claim, ClaimJudgment, ClaimVerdict, GateFact, check_each,
    judge_claims, recognize,
};
use probity_contract::receipt::RunRef;
use probity_contract::{
    ChangeBudget, ContractVerdict, CurrentState, GatePreview, PatchIntent, StrictnessOutcome,
    VerificationInput, WorsenedSymbol, apply_strictness,
};
use probity_core::Digest;
use probity_intents::{ScopeCheck, ScopeEntry, ScopeEntrySet};
use probity_paths::RepoPath;
use probity_policy::{ContractRules, Strictness};
use std::collections::BTreeSet;

/// The analysis of one side of a change.
#[derive(Debug, Clone)]
pub struct AnalysisSide {
    /// If neither claims nor structural gates are checked, this may lack what both sides share
    /// ([`crate::analysis_store::DifferingAnalyses`]), and without a second side everything per file.
    pub run: AnalysisRun,
    pub report_digest: Digest,
    /// Counts all findings of the analysis, even if `run` lacks some of them.
    pub n_findings: FindingCounts,
    /// The baseline in the tree of this side.
    pub baseline: Option<BaselineFile>,
}

impl ContractResult {
    /// Combines the verdicts on all claims: false if any is, else unverified if any is.
    pub fn claims_verdict(&self) -> ClaimVerdict {
        self.claims.iter().map(|claim| claim.verdict).max().unwrap_or(ClaimVerdict::True)
    }
}

impl AnalysisSide {
    pub fn of(stored: StoredAnalysis, baseline: Option<BaselineFile>) -> Self {
        let StoredAnalysis { run, report_digest, n_findings } = stored;
        Self { run, report_digest, n_findings, baseline }
    }
}

#[derive(Debug, Clone, Default)]
pub struct ContractRequest<'a> {
    pub intent: Option<PatchIntent>,
    /// D: the paths that changed.
    pub changed: BTreeSet<RepoPath>,
    /// `None` without an intent.
    pub scope_check: Option<ScopeCheck>,
    pub before: Option<&'a AnalysisSide>,
    pub after: Option<&'a AnalysisSide>,
    /// The id that an analysis of the current tree would have; `None` if the tree was not read.
    pub tree_run: Option<RunId>,
    /// The policy's gates, run or skipped.
    pub gates: Vec<GateFact>,
    pub claims: Vec<Claim>,
    /// The author's text about the change.
    pub text: Option<&'a str>,
    /// Must not come from the tree under judgment (law 8).
    pub rules: ContractRules,
    /// The policy's structural gates, from the same source as `rules`.
    pub limits: GateRules,
    /// True if the policy in the tree demands less than the one that judges.
    pub policy_loosened: bool,
}

/// A verdict with everything it is based on.
#[derive(Debug, Clone)]
pub struct ContractResult {
    pub verdict: ContractVerdict,
    /// The outcome that callers act on.
    pub outcome: StrictnessOutcome,
    pub strictness: Strictness,
    pub before: Option<RunRef>,
    pub after: Option<RunRef>,
    /// `None` if the analyses were not compared.
    pub comparison: Option<AnalysisComparison>,
    /// `None` if the analyses were not compared.
    pub api: Option<ApiDelta>,
    pub scope_check: Option<ScopeCheck>,
    /// Before and after; `None` without an analysis, or if the policy has no structural gates.
    pub structural_gates: (Option<GateReport>, Option<GateReport>),
    /// The policy's gates, run or skipped.
    pub gates: Vec<GateFact>,
    /// Given claims first, then those recognized in the text.
    pub claims: Vec<CheckedClaim>,
    pub judgment: ClaimJudgment,
    /// Sentences of the text without a claim that can be checked.
    pub unchecked_sentences: Vec<String>,
    /// D: the paths that changed.
    pub changed: BTreeSet<RepoPath>,
    pub intent_id: Option<String>,
}

#[tracing::instrument(name = "contract", skip_all)]
pub fn verify(request: &ContractRequest<'_>) -> ContractResult {
    let (before, after) = (request.before, request.after);
    let comparison =
        before.zip(after).map(|(before, after)| probity_analysis::compare(&before.run, &after.run));
    let structural_gates = (
        before.and_then(|side| side.structural_gates(&request.limits)),
        after.and_then(|side| side.structural_gates(&request.limits)),
    );
    let patch = patch(request, comparison.as_ref(), &structural_gates);
    let verdict = probity_contract::verify(&patch);
    let compared = verdict.evaluation().is_some();
    let strictness = request.rules.strictness();
    let outcome = apply_strictness(&verdict, patch.after.as_ref(), strictness)
        .with_gates(&request.gates, strictness.profile)
        .with_policy_loosened(request.policy_loosened, strictness.profile);
    let comparison = comparison.filter(|_| compared);
    let api = comparison
        .as_ref()
        .zip(before.zip(after))
        .map(|(comparison, (before, after))| convert::api_delta(comparison, &before.run, &after.run));
    let checked = evaluate_claims(request, &verdict, comparison.as_ref(), api.as_ref());
    ContractResult {
        outcome: outcome.with_claims(&checked.judgment, request.rules.false_claims()),
        verdict,
        strictness,
        before: before.map(convert::run_ref),
        after: after.map(convert::run_ref),
        comparison,
        api,
        scope_check: request.scope_check.clone(),
        structural_gates,
        gates: request.gates.clone(),
        claims: checked.claims,
        judgment: checked.judgment,
        unchecked_sentences: checked.unchecked,
        changed: request.changed.clone(),
        intent_id: request.intent.as_ref().map(|intent| intent.intent_id.to_string()),
    }
}

/// Returns whether a verdict needs more than the differences: claims may name any finding, and gates count all of them.
pub fn needs_whole_runs(claims: &[Claim], text: Option<&str>, limits: &GateRules) -> bool {
    !claims.is_empty() || text.is_some() || *limits != GateRules::default()
}

/// Returns the budget of a change that starts from `side`.
pub fn budget(side: &AnalysisSide, rules: &ContractRules, limits: &GateRules) -> ChangeBudget {
    let gate = side.structural_gates(limits);
    let counts = side.n_findings.iter().map(|(severity, n)| (*severity, *n));
    let current = CurrentState::new(side.run.health.score().map(Into::into), counts);
    probity_contract::budget(side.run.id.0.to_string(), current, rules.strictness(), preview(gate.as_ref()))
}

fn preview(report: Option<&GateReport>) -> Option<GatePreview> {
    report.map(|report| GatePreview { would_fail: report.would_fail })
}

fn patch(
    request: &ContractRequest<'_>,
    comparison: Option<&AnalysisComparison>,
    gates: &(Option<GateReport>, Option<GateReport>),
) -> VerificationInput {
    let runs = convert::runs(request.before, request.after, comparison);
    VerificationInput {
        intent: request.intent.clone(),
        changed_files: request.changed.iter().map(ScopeEntry::from).collect::<ScopeEntrySet>(),
        scope_check: request.scope_check.as_ref().map(|check| check.status),
        before_gate: preview(gates.0.as_ref()),
        after_gate: preview(gates.1.as_ref()),
        before: runs.0,
        after: runs.1,
        tree_run_id: request.tree_run.map(|id| id.0.to_string()),
        worsened: comparison.map(worsened_symbols).unwrap_or_default(),
    }
}

fn worsened_symbols(comparison: &AnalysisComparison) -> Vec<WorsenedSymbol> {
    let convert = |worsened: &probity_analysis::MetricRegression| WorsenedSymbol {
        symbol: format!("{}::{}", worsened.path, worsened.symbol),
        metric: worsened.metric.as_str().to_owned(),
        path: Some(worsened.path.clone()),
        before: worsened.before.into(),
        after: worsened.after.into(),
    };
    comparison.worsened.iter().map(convert).collect()
}

#[derive(Default)]
struct CheckedClaims {
    claims: Vec<CheckedClaim>,
    judgment: ClaimJudgment,
    unchecked: Vec<String>,
}

fn evaluate_claims(
    request: &ContractRequest<'_>,
    verdict: &ContractVerdict,
    comparison: Option<&AnalysisComparison>,
    api: Option<&ApiDelta>,
) -> CheckedClaims {
    if request.claims.is_empty() && request.text.is_none() {
        return CheckedClaims::default();
    }
    let facts = claim_facts(request, verdict, comparison, api);
    let recognition = request.text.map(|text| recognize(text, &facts.known_names())).unwrap_or_default();
    let describe = |id: &str| {
        let runs = [request.after, request.before];
        let mut findings = runs.into_iter().flatten().flat_map(|side| &side.run.findings);
        findings.find(|finding| finding.id.to_string() == id).map(review::describe_finding)
    };
    let claims = check_each(&request.claims, recognition.claims, &facts, &describe);
    let judgment = judge_claims(claims.iter().map(|checked| &checked.claim), &facts);
    CheckedClaims { claims, judgment, unchecked: recognition.unchecked }
}

/// Collects the facts of the change that claims are checked against.
fn claim_facts(
    request: &ContractRequest<'_>,
    verdict: &ContractVerdict,
    comparison: Option<&AnalysisComparison>,
    api: Option<&ApiDelta>,
) -> ChangeFacts {
    let evaluation = verdict.evaluation();
    let ids = |side: Option<&AnalysisSide>| -> BTreeSet<String> {
        let findings = side.map(|side| &side.run.findings);
        findings.into_iter().flatten().map(|finding| finding.id.to_string()).collect()
    };
    let mut after_findings = ids(request.after);
    // A renamed finding still exists, so its old id counts as present.
    after_findings.extend(comparison.iter().flat_map(|it| &it.renamed).map(|(old, _)| old.to_string()));
    let not_applicable = if evaluation.is_some() { &[][..] } else { &verdict.profile.checks_not_applicable };
    ChangeFacts {
        status: verdict.status,
        health_delta: evaluation.and_then(|it| it.structural_delta.health_delta),
        intent_regressions: evaluation.map(|it| it.intent_regressions.clone()).unwrap_or_default(),
        external_regressions: evaluation.map(|it| it.external_regressions.clone()).unwrap_or_default(),
        gates: request.gates.clone(),
        delta: request.changed.clone(),
        before_findings: ids(request.before),
        after_findings,
        checks_not_applicable: not_applicable.iter().copied().collect(),
        api: api.cloned(),
        tests_lost: comparison.map(tests_lost).unwrap_or_default(),
    }
}

/// Returns the files in which tests were removed or are skipped.
fn tests_lost(comparison: &AnalysisComparison) -> BTreeSet<RepoPath> {
    let is_of_tests = |loss: &&SafeguardLoss| {
        matches!(loss.kind, SafeguardLossKind::TestsRemoved | SafeguardLossKind::TestsSkipped)
    };
    let lost = comparison.safeguards.iter().filter(is_of_tests);
    lost.flat_map(|loss| loss.paths.iter().cloned()).collect()
}

#[cfg(test)]
mod tests;
