//! Strictness, budgets and receipts.

use probity_contract::claims::{
    ChangeFacts, Claim, ClaimJudgment, GateFact, GateOutcome, check_each, judge_claims,
};
use probity_contract::outputs::NewFinding;
use probity_contract::receipt::{
    ChangeEnforcement, DeltaEntry, ReceiptInput, ReceiptIntent, RunRef, check_results, receipt,
};
use probity_contract::{
    CheckOutcome, CheckResult, ContractCheck, ContractFinding, ContractReason, ContractStatus,
    ContractVerdict, CurrentState, GatePreview, IntentState, PatchIntent, RunFacts, VerificationInput,
    apply_strictness, budget, receipt_markdown, verify,
};
use probity_evidence::receipt::{ReceiptError, attested, statement, verify as verify_receipt};
use probity_intents::{IntentScope, ScopeCheckStatus, ScopeEntry, Timestamp, scope_check};
use probity_paths::RepoPath;
use probity_policy::{FalseClaims, GateKind, Severity, Strictness, StrictnessProfile};
use serde_json::{Value, json};
use std::collections::BTreeSet;

fn path(text: &str) -> RepoPath {
    RepoPath::parse(text.as_bytes()).expect("a path")
}

fn run(id: &str, health: i64, findings: &[(&str, Severity, &str)]) -> RunFacts {
    let finding = |(id, severity, at): &(&str, Severity, &str)| ContractFinding {
        id: (*id).into(),
        severity: *severity,
        paths: [path(at)].into(),
    };
    RunFacts {
        run_id: id.into(),
        report_digest: Some("r".into()),
        settings: "s".into(),
        analyser: "1".into(),
        health: Some(health),
        baseline_digest: None,
        findings: findings.iter().map(finding).collect(),
    }
}

fn scope() -> IntentScope {
    IntentScope { allowed_files: [ScopeEntry::new("src/a.py")].into(), ..IntentScope::default() }
}

fn patch(after: RunFacts, scope_check: ScopeCheckStatus) -> VerificationInput {
    VerificationInput {
        intent: Some(PatchIntent {
            intent_id: probity_intents::IntentId::parse("i-1").expect("an id"),
            status: IntentState::Active,
            report_digest: Some("r".into()),
            scope: scope(),
        }),
        changed_files: [ScopeEntry::new("src/a.py")].into(),
        scope_check: Some(scope_check),
        before: Some(run("before", 90, &[])),
        after: Some(after),
        tree_run_id: None,
        worsened: Vec::new(),
        before_gate: Some(GatePreview { would_fail: false }),
        after_gate: Some(GatePreview { would_fail: false }),
    }
}

fn strictness(profile: StrictnessProfile, severity_floor: Option<Severity>) -> Strictness {
    Strictness { profile, severity_floor }
}

#[test]
fn a_check_that_was_made_is_not_among_those_that_do_not_apply() {
    let mut patch =
        patch(run("after", 88, &[("F2", Severity::Critical, "src/a.py")]), ScopeCheckStatus::Clean);
    // Documentation needs no analysis, but here one exists, and it found something.
    patch.changed_files = [ScopeEntry::new("README.md")].into();
    let verdict = verify(&patch);
    let results = check_results(&verdict, &[], None, &[]);
    let failed = CheckResult { check: ContractCheck::StructuralDelta, outcome: CheckOutcome::Failed };
    assert!(results.contains(&failed), "{results:?}");
    let report = verdict.profile.with_results(&results);
    assert_eq!(
        report.checks_performed,
        [
            ContractCheck::ProfileClassification,
            ContractCheck::StructuralDelta,
            ContractCheck::GateComparison,
            ContractCheck::WorsenedSymbols
        ]
    );
    assert_eq!(
        report.checks_not_applicable,
        [ContractCheck::ScopeCheck, ContractCheck::ForbiddenPaths, ContractCheck::PolicyGates]
    );
}

#[test]
fn a_budget_names_the_severities_that_findings_have() {
    let current = CurrentState::new(Some(90), []);
    let budget = budget("run".into(), current, strictness(StrictnessProfile::Ci, None), None);
    let names: Vec<String> = budget.new_findings.keys().map(ToString::to_string).collect();
    assert_eq!(names, ["info", "warning", "critical"]);
}

#[test]
fn relaxed_accepts_and_names_what_it_lets_through() {
    let patch = patch(run("after", 88, &[("F2", Severity::Critical, "src/a.py")]), ScopeCheckStatus::Clean);
    let verdict = verify(&patch);
    let ci = apply_strictness(&verdict, patch.after.as_ref(), Strictness::default());
    assert_eq!((ci.status, ci.let_through.len()), (ContractStatus::Violated, 0));
    let relaxed =
        apply_strictness(&verdict, patch.after.as_ref(), strictness(StrictnessProfile::Relaxed, None));
    assert_eq!(relaxed.status, ContractStatus::Accepted);
    assert_eq!(relaxed.let_through, [ContractReason::StructuralRegressions]);
    assert_eq!(relaxed.findings_let_through.get("F2"), Some(&Severity::Critical));
}

#[test]
fn relaxed_never_lets_a_broken_scope_through() {
    let patch = patch(run("after", 90, &[]), ScopeCheckStatus::Violated);
    let relaxed =
        apply_strictness(&verify(&patch), patch.after.as_ref(), strictness(StrictnessProfile::Relaxed, None));
    assert_eq!(relaxed.status, ContractStatus::Violated);
    assert_eq!(relaxed.blocking_violations, [ContractReason::ScopeViolation]);
}

#[test]
fn a_severity_floor_lets_lesser_findings_through_and_no_others() {
    let floor = strictness(StrictnessProfile::Ci, Some(Severity::Warning));
    let info = patch(run("after", 90, &[("F1", Severity::Info, "src/a.py")]), ScopeCheckStatus::Clean);
    assert_eq!(apply_strictness(&verify(&info), info.after.as_ref(), floor).status, ContractStatus::Accepted);
    let both = [("F1", Severity::Info, "src/a.py"), ("F2", Severity::Warning, "src/a.py")];
    let both = patch(run("after", 90, &both), ScopeCheckStatus::Clean);
    let outcome = apply_strictness(&verify(&both), both.after.as_ref(), floor);
    assert_eq!(outcome.status, ContractStatus::Violated);
    assert_eq!(outcome.findings_let_through.keys().collect::<Vec<_>>(), ["F1"]);
}

#[test]
fn strict_blocks_what_the_contract_only_reports() {
    let patch = patch(run("after", 88, &[]), ScopeCheckStatus::Clean);
    let verdict = verify(&patch);
    assert_eq!(verdict.status, ContractStatus::Accepted);
    let strict =
        apply_strictness(&verdict, patch.after.as_ref(), strictness(StrictnessProfile::Strict, None));
    assert_eq!(
        (strict.status, strict.reason),
        (ContractStatus::Violated, Some(ContractReason::HealthRegression))
    );
}

#[test]
fn a_budget_says_what_may_be_added() {
    let current = CurrentState::new(Some(77), [(Severity::Warning, 1)]);
    let floor = strictness(StrictnessProfile::Ci, Some(Severity::Warning));
    let budget = budget("now".into(), current, floor, Some(GatePreview { would_fail: true }));
    assert_eq!(budget.new_findings[&Severity::Info], None);
    assert_eq!(budget.new_findings[&Severity::Critical], Some(0));
    let findings = [0, 1, 0];
    assert_eq!(budget.current.findings.into_values().collect::<Vec<_>>(), findings, "none is left out");
    assert_eq!((budget.current.health, budget.gate_fails_already), (Some(77), Some(true)));
}

fn facts(verdict: &ContractVerdict) -> ChangeFacts {
    ChangeFacts {
        status: verdict.status,
        health_delta: Some(-2),
        intent_regressions: [].into(),
        external_regressions: [].into(),
        gates: vec![],
        delta: [path("src/a.py")].into(),
        before_findings: [].into(),
        after_findings: [].into(),
        checks_not_applicable: [].into(),
        api: None,
        tests_lost: std::collections::BTreeSet::new(),
    }
}

fn sample() -> Value {
    let patch = patch(run("after", 88, &[]), ScopeCheckStatus::Clean);
    let verdict = verify(&patch);
    let claims = [Claim::NoRegressions];
    let intent = ReceiptIntent {
        intent_id: probity_intents::IntentId::parse("i-1").expect("an id"),
        description: "Split the *parser* <script>".into(),
        agent: "agent".into(),
        scope: scope(),
        amendments: vec![],
        coordination: None,
        line: None,
        overlaps: vec![],
    };
    let run_ref = |run: &RunFacts| RunRef {
        run_id: run.run_id.clone(),
        report_digest: run.report_digest.clone(),
        health: run.health,
    };
    receipt(&ReceiptInput {
        at: Timestamp(1_000),
        intent: Some(&intent),
        before: patch.before.as_ref().map(run_ref).as_ref(),
        after: patch.after.as_ref().map(run_ref).as_ref(),
        delta: &[DeltaEntry {
            path: path("src/a.py"),
            before: None,
            after: Some(probity_core::Digest::of(b"x")),
        }],
        hygiene: None,
        scope_check: Some(&scope_check(&scope(), &patch.changed_files)),
        verdict: &verdict,
        outcome: &apply_strictness(&verdict, patch.after.as_ref(), Strictness::default()),
        gates: &[GateFact {
            id: "e2e".into(),
            kind: GateKind::Test,
            result: GateOutcome::Skipped,
            required: true,
            detail: "it was left out".into(),
            changed_inputs: BTreeSet::new(),
        }],
        claims: &check_each(&claims, Vec::new(), &facts(&verdict), &|_| None),
        judgment: &judge_claims(&claims, &facts(&verdict)),
        unchecked_sentences: 3,
        baseline_health: Some(91),
        guard: ChangeEnforcement::HookHeld,
        unproven_programs: &["python3".to_owned()],
        strictness: Strictness::default(),
        api: None,
        new_findings: &[NewFinding {
            id: "clone:7aaf#2".into(),
            rule: "clone".into(),
            severity: Severity::Info,
            message: "copy of <b>f</b>".into(),
            path: Some(path("src/a.py")),
            lines: (12, 20),
            is_ours: true,
            is_let_through: true,
        }],
        previous: None,
        log: None,
    })
}

#[test]
fn a_receipt_shows_every_check_and_both_health_deltas() {
    let receipt = sample();
    assert_eq!(receipt["schema"], "probity/receipt/v1");
    assert_eq!(receipt["health"], json!({"score": 88, "delta": -3, "patch_health_delta": -2}));
    assert_eq!(receipt["checks"].as_array().map(Vec::len), Some(7));
    assert_eq!(receipt["checks"][6], json!({"check": "policy_gates", "outcome": "skipped"}));
    assert_eq!(receipt["checks"][3], json!({"check": "structural_delta", "outcome": "passed"}));
    let kinds: Vec<&Value> =
        receipt["decision_points"].as_array().into_iter().flatten().map(|point| &point["kind"]).collect();
    assert_eq!(kinds, ["health_lost", "false_claim", "gate_not_run"]);
    let not_made = receipt["claims"]["not_made"].as_array().expect("a list");
    assert!(not_made.contains(&json!("tests_pass")) && !not_made.contains(&json!("no_regressions")));
}

#[test]
fn a_receipt_that_was_changed_is_noticed() {
    let mut receipt = sample();
    assert!(verify_receipt(&receipt).is_ok());
    receipt["health"]["score"] = json!(99);
    assert!(matches!(verify_receipt(&receipt), Err(ReceiptError::Digest { .. })));
    assert_eq!(verify_receipt(&json!({"schema": "other"})), Err(ReceiptError::Schema));
    assert_eq!(verify_receipt(&json!({"schema": "probity/receipt/v1"})), Err(ReceiptError::NoDigest));
}

#[test]
fn a_receipt_reads_well_and_the_words_of_others_have_no_effect() {
    let page = receipt_markdown(&sample());
    assert!(page.starts_with("## Probity: accepted\n"));
    assert!(page.contains("Split the \\*parser\\* &lt;script&gt; `i-1`, by agent"));
    assert!(page.contains("| Health | 90 → 88 (−2) |"), "{page}");
    assert!(page.contains("| Health against the baseline | −3 |"), "{page}");
    assert!(page.contains("- info `src/a.py:12` copy of &lt;b&gt;f&lt;/b&gt; (let through)"), "{page}");
    assert!(!page.contains("clone:7aaf"), "{page}");
    assert!(page.contains("- new findings: **passed**"));
    assert!(page.contains("- `e2e`: **skipped**"));
    assert!(page.contains("- **false** no regressions: the health fell by 2"), "{page}");
    assert!(page.contains("- D-2 false claim: no\\_regressions: the health fell by 2"), "{page}");
}

#[test]
fn a_receipt_of_an_earlier_version_still_verifies_and_shows_what_it_has() {
    let mut receipt = sample();
    let members = receipt.as_object_mut().expect("an object");
    for new in ["new_findings", "new_findings_left_out", "digest"] {
        members.remove(new);
    }
    receipt["claims"]["checked"] = json!([{ "claim": "no_regressions" }]);
    receipt["verdict"]["intent_regressions"] = json!(["clone:7aaf#2"]);
    receipt["digest"] = json!(probity_core::Digest::of_json(&receipt));
    assert!(verify_receipt(&receipt).is_ok());
    let page = receipt_markdown(&receipt);
    assert!(page.contains("- `clone:7aaf#2`") && page.contains("**False claims**"), "{page}");
}

#[test]
fn a_health_that_stayed_is_no_zero() {
    let mut receipt = sample();
    receipt["health"]["score"] = json!(90);
    receipt["health"]["delta"] = json!(0);
    let page = receipt_markdown(&receipt);
    assert!(page.contains("| Health | 90 (no change) |"), "{page}");
    assert!(page.contains("| Health against the baseline | no change |"), "{page}");
}

#[test]
fn a_receipt_is_a_statement_about_itself_and_the_files_it_left() {
    let statement = statement(&sample()).expect("a statement");
    let names: Vec<&Value> =
        statement["subject"].as_array().into_iter().flatten().map(|subject| &subject["name"]).collect();
    assert_eq!(names, ["probity-receipt", "src/a.py"]);
    assert_eq!(attested(&statement), Ok(sample()));
    let mut forged = statement.clone();
    forged["subject"][1]["name"] = json!("src/b.py");
    assert_eq!(attested(&forged), Err(ReceiptError::Statement));
    let mut forged = statement;
    forged["predicate"]["health"]["score"] = json!(100);
    assert!(matches!(attested(&forged), Err(ReceiptError::Digest { .. })));
}

#[test]
fn policy_decides_what_a_false_claim_leads_to() {
    let patch = patch(run("after", 88, &[]), ScopeCheckStatus::Clean);
    let verdict = verify(&patch);
    let outcome = apply_strictness(&verdict, patch.after.as_ref(), Strictness::default());
    let judgment = judge_claims(&[Claim::NoRegressions], &facts(&verdict));
    let reported = outcome.clone().with_claims(&judgment, FalseClaims::Report);
    assert_eq!(
        (reported.status, reported.let_through),
        (ContractStatus::Accepted, vec![ContractReason::FalseClaim])
    );
    let violated = outcome.clone().with_claims(&judgment, FalseClaims::Violate);
    assert_eq!(
        (violated.status, violated.reason),
        (ContractStatus::Violated, Some(ContractReason::FalseClaim))
    );
    assert_eq!(outcome.clone().with_claims(&ClaimJudgment::default(), FalseClaims::Violate), outcome);
}

#[test]
fn an_unproven_claim_leaves_a_change_unverified_and_never_violates_it() {
    let patch = patch(run("after", 90, &[]), ScopeCheckStatus::Clean);
    let verdict = verify(&patch);
    let outcome = apply_strictness(&verdict, patch.after.as_ref(), Strictness::default());
    let judgment = judge_claims(&[Claim::TestsPass { gate: None }], &facts(&verdict));
    let reported = outcome.clone().with_claims(&judgment, FalseClaims::Report);
    assert_eq!(
        (reported.status, reported.let_through),
        (ContractStatus::Accepted, vec![ContractReason::UnprovenClaim])
    );
    let open = outcome.with_claims(&judgment, FalseClaims::Violate);
    assert_eq!((open.status, open.reason), (ContractStatus::Unverified, Some(ContractReason::UnprovenClaim)));
}

fn gate(result: GateOutcome, required: bool) -> GateFact {
    GateFact {
        id: "unit".into(),
        kind: GateKind::Test,
        result,
        required,
        detail: String::new(),
        changed_inputs: BTreeSet::new(),
    }
}

#[test]
fn gates_lead_to_what_the_strictness_says_and_nothing_is_hidden() {
    let patch = patch(run("after", 90, &[]), ScopeCheckStatus::Clean);
    let verdict = verify(&patch);
    let (failed, left_out) = (ContractReason::GateFailures, ContractReason::GatesNotRun);
    for (result, required, profile, blocks, named) in [
        (GateOutcome::Passed, true, StrictnessProfile::Strict, None, None),
        (GateOutcome::Failed, true, StrictnessProfile::Ci, Some(failed), None),
        (GateOutcome::Failed, true, StrictnessProfile::Relaxed, None, Some(failed)),
        (GateOutcome::Failed, false, StrictnessProfile::Strict, None, None),
        (GateOutcome::Skipped, true, StrictnessProfile::Ci, None, Some(left_out)),
        (GateOutcome::NotRun, true, StrictnessProfile::Strict, Some(left_out), None),
        (GateOutcome::Skipped, false, StrictnessProfile::Strict, None, None),
    ] {
        let outcome = apply_strictness(&verdict, patch.after.as_ref(), strictness(profile, None))
            .with_gates(&[gate(result, required)], profile);
        assert_eq!(outcome.reason, blocks, "{result:?} {profile:?}");
        assert_eq!(outcome.status == ContractStatus::Violated, blocks.is_some());
        assert_eq!(outcome.let_through, named.into_iter().collect::<Vec<_>>(), "{result:?} {profile:?}");
    }
}
