//! The patch contract on real runs: what crate `contract` decides, from what crate `analysis` found.
//!
//! [`verify`] is a pure function from a [`ContractRequest`] to an [`ContractResult`]; nothing is read, and nothing is kept. [`tree_verification`]
//! verifies the tree as it is now; [`receipts`] keeps what a finished change leaves.

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
use probity_analysis::{AnalysisComparison, AnalysisRun, GateReport, GateRules, RunId};
use probity_contract::claims::{
    ApiDelta, ChangeFacts, CheckedClaim, Claim, ClaimJudgment, ClaimVerdict, GateFact, check_each,
    judge_claims, recognise,
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

/// A run of one side of a change.
#[derive(Debug, Clone)]
pub struct AnalysisSide {
    /// The run. Where neither claims nor structural gates are to be checked, it may lack what both sides have alike
    /// ([`crate::analysis_store::DifferingAnalyses`]), and without a second side all that files have.
    pub run: AnalysisRun,
    /// The digest of its report.
    pub report_digest: Digest,
    /// How many findings the whole run has, by severity.
    pub n_findings: FindingCounts,
    /// The baseline that the tree carried, if it carried one.
    pub baseline: Option<BaselineFile>,
}

impl ContractResult {
    /// What the facts say to all claims together: false if one is, else unverified if one is.
    pub fn claims_verdict(&self) -> ClaimVerdict {
        self.claims.iter().map(|claim| claim.verdict).max().unwrap_or(ClaimVerdict::True)
    }
}

impl AnalysisSide {
    /// A stored run with the baseline of its tree.
    pub fn of(stored: StoredAnalysis, baseline: Option<BaselineFile>) -> Self {
        let StoredAnalysis { run, report_digest, n_findings } = stored;
        Self { run, report_digest, n_findings, baseline }
    }
}

/// What a verdict is made from.
#[derive(Debug, Clone, Default)]
pub struct ContractRequest<'a> {
    /// The intent that the change belongs to, if there is one.
    pub intent: Option<PatchIntent>,
    /// D: the paths that changed.
    pub changed: BTreeSet<RepoPath>,
    /// What the scope check said; `None` without an intent.
    pub scope_check: Option<ScopeCheck>,
    /// The tree before.
    pub before: Option<&'a AnalysisSide>,
    /// The tree after.
    pub after: Option<&'a AnalysisSide>,
    /// The id that a run of the tree has as it is now; `None` if nobody looked.
    pub tree_run: Option<RunId>,
    /// The gates of the policy that were run, or left out.
    pub gates: Vec<GateFact>,
    /// What the author claims.
    pub claims: Vec<Claim>,
    /// What the author writes.
    pub text: Option<&'a str>,
    /// What the policy says. It must not come from the tree under judgement (law 8).
    pub rules: ContractRules,
    /// The structural gates of the policy, from the same place.
    pub limits: GateRules,
}

/// A verdict, with everything that it rests on.
#[derive(Debug, Clone)]
pub struct ContractResult {
    /// The verdict.
    pub verdict: ContractVerdict,
    /// What it leads to: what a caller acts on.
    pub outcome: StrictnessOutcome,
    /// How strictly it was taken.
    pub strictness: Strictness,
    /// The runs.
    pub before: Option<RunRef>,
    /// The runs.
    pub after: Option<RunRef>,
    /// What the runs say together, if they were compared.
    pub comparison: Option<AnalysisComparison>,
    /// What became of the public interface, if the runs were compared.
    pub api: Option<ApiDelta>,
    /// What the scope check said.
    pub scope_check: Option<ScopeCheck>,
    /// What the structural gates say before and after; `None` without a run, or if the policy has none.
    pub structural_gates: (Option<GateReport>, Option<GateReport>),
    /// The gates of the policy that were run, or left out.
    pub gates: Vec<GateFact>,
    /// The claims that were checked: given and recognised, in this order.
    pub claims: Vec<CheckedClaim>,
    /// What the facts say to them together.
    pub judgement: ClaimJudgment,
    /// The sentences of the text that assert nothing that could be checked.
    pub unchecked_sentences: Vec<String>,
    /// D.
    pub changed: BTreeSet<RepoPath>,
    /// The intent's id.
    pub intent_id: Option<String>,
}

/// Judges a change.
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
        .with_gates(&request.gates, strictness.profile);
    let comparison = comparison.filter(|_| compared);
    let api = comparison
        .as_ref()
        .zip(before.zip(after))
        .map(|(comparison, (before, after))| convert::api_delta(comparison, &before.run, &after.run));
    let checked = evaluate_claims(request, &verdict, comparison.as_ref(), api.as_ref());
    ContractResult {
        outcome: outcome.with_claims(&checked.judgement, request.rules.false_claims()),
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
        judgement: checked.judgement,
        unchecked_sentences: checked.unchecked,
        changed: request.changed.clone(),
        intent_id: request.intent.as_ref().map(|intent| intent.intent_id.to_string()),
    }
}

/// Whether a verdict looks at more of its runs than what differs: claims may name any finding, and gates count all of them.
pub fn needs_whole_runs(claims: &[Claim], text: Option<&str>, limits: &GateRules) -> bool {
    !claims.is_empty() || text.is_some() || *limits != GateRules::default()
}

/// What a change that starts from `side` may cost.
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

/// The claims of a request and what the facts say to them.
#[derive(Default)]
struct CheckedClaims {
    claims: Vec<CheckedClaim>,
    judgement: ClaimJudgment,
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
    let recognition = request.text.map(|text| recognise(text, &facts.known_names())).unwrap_or_default();
    let describe = |id: &str| {
        let runs = [request.after, request.before];
        let mut findings = runs.into_iter().flatten().flat_map(|side| &side.run.findings);
        findings.find(|finding| finding.id.to_string() == id).map(review::describe_finding)
    };
    let claims = check_each(&request.claims, recognition.claims, &facts, &describe);
    let judgement = judge_claims(claims.iter().map(|checked| &checked.claim), &facts);
    CheckedClaims { claims, judgement, unchecked: recognition.unchecked }
}

/// What is known about the change, for claims to be held against.
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
    // A finding that goes by another name now is still there.
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
    }
}

#[cfg(test)]
mod tests;
