//! The patch contract on real runs: what crate `contract` decides, from what crate `analysis` found.
//!
//! [`verify`] is a pure function from a [`Request`] to an [`Answer`]; nothing is read, and nothing is kept. [`present`]
//! verifies the tree as it is now; [`receipts`] keeps what a finished change leaves.

mod convert;
mod json;
pub mod present;
mod receipt;
pub mod receipts;
mod review;

pub use present::Verified;
pub use receipt::{Circumstances, keep};

use analysis::{Comparison, Run, RunId};
use canon::Digest;
use contract::claims::{ApiDelta, Claim, Facts, GateFact, GateOutcome, Judgement, judge, recognise};
use contract::receipt::RunRef;
use contract::{
    Budget, GatePreview, Outcome, Patch, PatchIntent, Rules, Strictness, Verdict, WorsenedSymbol, weigh,
};
use intent::{Entries, Entry, ScopeCheck};
use paths::RepoPath;
use std::collections::BTreeSet;

/// A run of one side of a change.
#[derive(Debug, Clone)]
pub struct Side {
    /// The run.
    pub run: Run,
    /// The digest of its report.
    pub report_digest: Digest,
    /// The digest of the baseline that the tree carried, if it carried one.
    pub baseline: Option<Digest>,
}

/// A gate of the policy, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateRun {
    /// The gate and its result.
    pub fact: GateFact,
    /// Whether it must pass.
    pub required: bool,
}

/// What a verdict is made from.
#[derive(Debug, Clone, Default)]
pub struct Request<'a> {
    /// The intent that the change belongs to, if there is one.
    pub intent: Option<PatchIntent>,
    /// D: the paths that changed.
    pub changed: BTreeSet<RepoPath>,
    /// What the scope check said; `None` without an intent.
    pub scope_check: Option<ScopeCheck>,
    /// The tree before.
    pub before: Option<&'a Side>,
    /// The tree after.
    pub after: Option<&'a Side>,
    /// The id that a run of the tree has as it is now; `None` if nobody looked.
    pub tree_run: Option<RunId>,
    /// The gates that were run, or left out.
    pub gates: Vec<GateRun>,
    /// What the author claims.
    pub claims: Vec<Claim>,
    /// What the author writes.
    pub text: Option<&'a str>,
    /// What the policy says. It must not come from the tree under judgement (law 8).
    pub rules: Rules,
}

/// A verdict, with everything that it rests on.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The verdict.
    pub verdict: Verdict,
    /// What it leads to: what a caller acts on.
    pub outcome: Outcome,
    /// How strictly it was taken.
    pub strictness: Strictness,
    /// The runs.
    pub before: Option<RunRef>,
    /// The runs.
    pub after: Option<RunRef>,
    /// What the runs say together, if they were compared.
    pub comparison: Option<Comparison>,
    /// What became of the public interface, if the runs were compared.
    pub api: Option<ApiDelta>,
    /// What the scope check said.
    pub scope_check: Option<ScopeCheck>,
    /// The structural gates before and after.
    pub gate_previews: (Option<GatePreview>, Option<GatePreview>),
    /// The gates that were run, or left out.
    pub gates: Vec<GateFact>,
    /// The claims that were checked: given and recognised, in this order.
    pub claims: Vec<Claim>,
    /// What the facts say to them.
    pub judgement: Judgement,
    /// How many sentences of the text assert nothing that could be checked.
    pub unchecked_sentences: usize,
    /// D.
    pub changed: BTreeSet<RepoPath>,
    /// The intent's id.
    pub intent_id: Option<String>,
}

/// Judges a change.
pub fn verify(request: &Request<'_>) -> Answer {
    let (before, after) = (request.before, request.after);
    let comparison = before.zip(after).map(|(before, after)| analysis::compare(&before.run, &after.run));
    let patch = patch(request, comparison.as_ref());
    let verdict = contract::verify(&patch);
    let compared = verdict.evaluation().is_some();
    let strictness = request.rules.strictness();
    let mut outcome = weigh(&verdict, patch.after.as_ref(), strictness);
    let failed = |gate: &GateRun| gate.required && gate.fact.result == GateOutcome::Failed;
    if request.gates.iter().any(failed) {
        outcome = outcome.with_failed_gate(strictness);
    }
    let comparison = comparison.filter(|_| compared);
    let api = comparison
        .as_ref()
        .zip(before.zip(after))
        .map(|(comparison, (before, after))| convert::api_delta(comparison, &before.run, &after.run));
    let gates: Vec<GateFact> = request.gates.iter().map(|gate| gate.fact.clone()).collect();
    let checked = check_claims(request, &verdict, comparison.as_ref(), api.as_ref(), &gates);
    Answer {
        outcome: outcome.with_claims(&checked.judgement, request.rules.false_claims()),
        verdict,
        strictness,
        before: before.map(convert::run_ref),
        after: after.map(convert::run_ref),
        comparison,
        api,
        scope_check: request.scope_check.clone(),
        gate_previews: (patch.before_gate, patch.after_gate),
        gates,
        claims: checked.claims,
        judgement: checked.judgement,
        unchecked_sentences: checked.unchecked,
        changed: request.changed.clone(),
        intent_id: request.intent.as_ref().map(|intent| intent.intent_id.to_string()),
    }
}

/// What a change that starts from `side` may cost.
pub fn budget(side: &Side, rules: &Rules) -> Budget {
    let run = convert::plain_run(side);
    let gate = rules.gate_preview(&run);
    contract::budget(&run, rules.strictness(), gate)
}

fn patch(request: &Request<'_>, comparison: Option<&Comparison>) -> Patch {
    let runs = convert::runs(request.before, request.after, comparison);
    let preview = |run: &Option<contract::Run>| run.as_ref().and_then(|run| request.rules.gate_preview(run));
    Patch {
        intent: request.intent.clone(),
        changed_files: request.changed.iter().map(Entry::from).collect::<Entries>(),
        scope_check: request.scope_check.as_ref().map(|check| check.status),
        before_gate: preview(&runs.0),
        after_gate: preview(&runs.1),
        before: runs.0,
        after: runs.1,
        tree_run_id: request.tree_run.map(|id| id.0.to_string()),
        worsened: comparison.map(worsened).unwrap_or_default(),
    }
}

fn worsened(comparison: &Comparison) -> Vec<WorsenedSymbol> {
    let convert = |worsened: &analysis::Worsened| WorsenedSymbol {
        symbol: format!("{}::{}", worsened.path, worsened.symbol),
        metric: worsened.metric.code().to_owned(),
        path: Some(worsened.path.clone()),
        before: worsened.before.into(),
        after: worsened.after.into(),
    };
    comparison.worsened.iter().map(convert).collect()
}

/// The claims of a request and what the facts say to them.
struct Checked {
    claims: Vec<Claim>,
    judgement: Judgement,
    unchecked: usize,
}

fn check_claims(
    request: &Request<'_>,
    verdict: &Verdict,
    comparison: Option<&Comparison>,
    api: Option<&ApiDelta>,
    gates: &[GateFact],
) -> Checked {
    if request.claims.is_empty() && request.text.is_none() {
        return Checked { claims: Vec::new(), judgement: Judgement::default(), unchecked: 0 };
    }
    let facts = facts(request, verdict, comparison, api, gates);
    let recognition = request.text.map(|text| recognise(text, &facts.known_names())).unwrap_or_default();
    let mut claims = request.claims.clone();
    claims.extend(recognition.claims.into_iter().filter(|claim| !request.claims.contains(claim)));
    Checked { judgement: judge(&claims, &facts), claims, unchecked: recognition.unchecked }
}

/// What is known about the change, for claims to be held against.
fn facts(
    request: &Request<'_>,
    verdict: &Verdict,
    comparison: Option<&Comparison>,
    api: Option<&ApiDelta>,
    gates: &[GateFact],
) -> Facts {
    let evaluation = verdict.evaluation();
    let ids = |side: Option<&Side>| -> BTreeSet<String> {
        let findings = side.map(|side| &side.run.findings);
        findings.into_iter().flatten().map(|finding| finding.id.to_string()).collect()
    };
    let mut after_findings = ids(request.after);
    // A finding that goes by another name now is still there.
    after_findings.extend(comparison.iter().flat_map(|it| &it.renamed).map(|(old, _)| old.to_string()));
    let not_applicable = if evaluation.is_some() { &[][..] } else { &verdict.profile.checks_not_applicable };
    Facts {
        status: verdict.status,
        health_delta: evaluation.and_then(|it| it.structural_delta.health_delta),
        intent_regressions: evaluation.map(|it| it.intent_regressions.clone()).unwrap_or_default(),
        external_regressions: evaluation.map(|it| it.external_regressions.clone()).unwrap_or_default(),
        gates: gates.to_vec(),
        delta: request.changed.clone(),
        before_findings: ids(request.before),
        after_findings,
        checks_not_applicable: not_applicable.iter().copied().collect(),
        api: api.cloned(),
    }
}
