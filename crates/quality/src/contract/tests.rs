//! Tests the contract on analyses of real code without a repository.

use super::*;
use crate::analysis_store::AnalysisStore;
use probity_analysis::{AnalysisInput, AnalysisSettings, SourceInput, analyze};
use probity_contract::{BaselineTrigger, ContractReason, ContractStatus, IntentState};
use probity_intents::{IntentId, IntentScope};
use probity_policy::StrictnessProfile;
use std::collections::BTreeMap;

/// Returns a function with too many parameters, which is one finding.
fn long(name: &str) -> String {
    format!("def {name}(a, b, c, d, e, f, g, h, i, j, k, l):\n    return a.{name}(b)\n\n\n")
}

const FINE: &str = "def fine(a):\n    return a.fine()\n\n\n";

fn path(name: &str) -> RepoPath {
    RepoPath::parse(name.as_bytes()).expect("a path")
}

fn side(files: &[(&str, &str)]) -> AnalysisSide {
    let sources: BTreeMap<RepoPath, SourceInput<'_>> =
        files.iter().map(|(name, text)| (path(name), SourceInput::Bytes(text.as_bytes()))).collect();
    let run =
        analyze(&AnalysisInput { sources, ..AnalysisInput::default() }, &AnalysisSettings::default()).run;
    let digest = run.id.0;
    AnalysisSide::of(StoredAnalysis::whole(run, digest), None)
}

fn request<'a>(before: &'a AnalysisSide, after: &'a AnalysisSide, changed: &[&str]) -> ContractRequest<'a> {
    ContractRequest {
        changed: changed.iter().map(|name| path(name)).collect(),
        before: Some(before),
        after: Some(after),
        tree_run: Some(after.run.id),
        ..ContractRequest::default()
    }
}

/// Like `request`, for a change that declared some files.
fn declared<'a>(
    before: &'a AnalysisSide,
    after: &'a AnalysisSide,
    changed: &[&str],
    allowed: &[&str],
) -> ContractRequest<'a> {
    let scope = IntentScope {
        allowed_files: allowed.iter().map(|name| ScopeEntry::new(*name)).collect(),
        ..IntentScope::default()
    };
    let request = request(before, after, changed);
    let entries: ScopeEntrySet = request.changed.iter().map(ScopeEntry::from).collect();
    ContractRequest {
        scope_check: Some(probity_intents::scope_check(&scope, &entries)),
        intent: Some(PatchIntent {
            intent_id: IntentId::parse("mine").expect("an id"),
            status: IntentState::Active,
            report_digest: Some(before.report_digest.to_string()),
            scope,
        }),
        ..request
    }
}

fn status(request: &ContractRequest<'_>) -> (ContractStatus, Option<String>) {
    let answer = verify(request);
    (answer.outcome.status, answer.outcome.reason.map(|reason| reason.to_string()))
}

fn is(status: ContractStatus, reason: &str) -> (ContractStatus, Option<String>) {
    (status, Some(reason.to_owned()))
}

#[test]
fn a_new_finding_counts_where_it_was_declared_and_is_told_apart_elsewhere() {
    let before = side(&[("a.py", FINE), ("b.py", FINE)]);
    let worse = [FINE, &long("f")].concat();
    let (mine, others) = (
        side(&[("a.py", &worse), ("b.py", FINE)]),
        side(&[("a.py", "def fine(a):\n    return 2\n"), ("b.py", &worse)]),
    );
    let violated = is(ContractStatus::Violated, "structural_regressions");
    assert_eq!(status(&request(&before, &mine, &["a.py"])), violated);
    assert_eq!(status(&declared(&before, &mine, &["a.py"], &["a.py"])), violated);
    let external = (ContractStatus::AcceptedWithExternalChanges, None);
    assert_eq!(status(&declared(&before, &others, &["a.py"], &["a.py"])), external);
    // If nothing was declared, every changed path is part of the delta.
    assert_eq!(status(&request(&before, &others, &["a.py", "b.py"])), violated);
}

#[test]
fn a_renamed_function_takes_its_old_finding_along() {
    let renamed = long("old").replace("def old", "def new");
    let (before, after) = (side(&[("a.py", &long("old"))]), side(&[("a.py", &renamed)]));
    let answer = verify(&declared(&before, &after, &["a.py"], &["a.py"]));
    assert_eq!(answer.outcome.status, ContractStatus::Accepted);
    assert_eq!(answer.comparison.expect("was compared").regressions, []);
}

#[test]
fn code_that_cannot_be_read_and_modules_that_are_gone_violate() {
    let uses = "from .b import fine\n\n\ndef use():\n    return fine(1)\n";
    let before = side(&[("p/__init__.py", ""), ("p/a.py", uses), ("p/b.py", FINE)]);
    let broken = side(&[("p/__init__.py", ""), ("p/a.py", "def use(:\n    return (\n"), ("p/b.py", FINE)]);
    let gone = side(&[("p/__init__.py", ""), ("p/a.py", uses)]);
    let violated = is(ContractStatus::Violated, "structural_regressions");
    assert_eq!(status(&declared(&before, &broken, &["p/a.py"], &["p/a.py"])), violated);
    assert_eq!(status(&declared(&before, &gone, &["p/b.py"], &["p/b.py"])), violated);
}

#[test]
fn runs_that_do_not_fit_say_why() {
    let (before, after) = (side(&[("a.py", FINE)]), side(&[("a.py", "def fine(a):\n    return 2\n")]));
    let asked = || declared(&before, &after, &["a.py"], &["a.py"]);
    let unverified = |reason| is(ContractStatus::Unverified, reason);
    assert_eq!(status(&asked()), (ContractStatus::Accepted, None));
    let stale = ContractRequest { tree_run: Some(before.run.id), ..asked() };
    assert_eq!(status(&stale), unverified("after_run_stale"));
    assert_eq!(status(&ContractRequest { after: None, ..asked() }), unverified("no_after_run"));
    assert_eq!(status(&ContractRequest { before: None, ..asked() }), unverified("no_before_run"));
    let same = ContractRequest { after: Some(&before), ..asked() };
    assert_eq!(status(&same), unverified("after_run_not_new"));
    // Permission bits change, and no content: the tree has the analysis of its base.
    let same_content = ContractRequest { after: Some(&before), tree_run: Some(before.run.id), ..asked() };
    assert_eq!(status(&same_content), (ContractStatus::Accepted, None));
    let mut other = after.clone();
    other.run.settings.parameters += 1;
    assert_eq!(status(&ContractRequest { after: Some(&other), ..asked() }), unverified("incomparable_runs"));
    let mut moved = before.clone();
    moved.report_digest = Digest::of(b"another report");
    let moved = ContractRequest { before: Some(&moved), ..asked() };
    assert_eq!(status(&moved), is(ContractStatus::Expired, "report_digest_mismatch"));
}

#[test]
fn a_matter_of_taste_is_told_and_blocks_only_where_everything_does() {
    let taste = "def f(a, b, c, d, e, f, g, h):\n    return a.f(b)\n\n\n";
    let (before, after) = (side(&[("a.py", FINE)]), side(&[("a.py", &[FINE, taste].concat())]));
    let asked = || declared(&before, &after, &["a.py"], &["a.py"]);
    let answer = verify(&asked());
    assert_eq!(answer.outcome.status, ContractStatus::Accepted);
    assert_eq!(answer.outcome.findings_let_through.len(), 1);
    let strict = ContractRules { strictness: StrictnessProfile::Strict, ..ContractRules::default() };
    let violated = is(ContractStatus::Violated, "structural_regressions");
    assert_eq!(status(&ContractRequest { rules: strict, ..asked() }), violated);
    let floor =
        ContractRules { severity_floor: Some(probity_policy::Severity::Info), ..ContractRules::default() };
    assert_eq!(status(&ContractRequest { rules: floor, ..asked() }), violated);
}

#[test]
fn what_is_let_through_is_named() {
    let (before, after) = (side(&[("a.py", FINE)]), side(&[("a.py", &[FINE, &long("f")].concat())]));
    let rules = ContractRules { strictness: StrictnessProfile::Relaxed, ..ContractRules::default() };
    let answer = verify(&ContractRequest { rules, ..declared(&before, &after, &["a.py"], &["a.py"]) });
    assert_eq!(answer.outcome.status, ContractStatus::Accepted);
    let regressions = ContractReason::StructuralRegressions;
    assert_eq!(answer.outcome.let_through, [regressions]);
    assert_eq!(answer.outcome.findings_let_through.len(), 1);
}

#[test]
fn a_structural_gate_that_failed_before_is_not_held_against_a_change() {
    let limits = GateRules { parameters: Some(7), ..GateRules::default() };
    let before = side(&[("a.py", &long("f"))]);
    let after = side(&[("a.py", &[FINE, &long("f")].concat())]);
    let still = ContractRequest { limits: limits.clone(), ..declared(&before, &after, &["a.py"], &["a.py"]) };
    let answer = verify(&still);
    assert_eq!(answer.outcome.status, ContractStatus::Accepted);
    let fails = |report: &Option<GateReport>| report.as_ref().is_some_and(|report| report.would_fail);
    assert!(fails(&answer.structural_gates.0) && fails(&answer.structural_gates.1));
    let clean = side(&[("a.py", FINE)]);
    let worse = ContractRequest { limits, ..declared(&clean, &after, &["a.py"], &["a.py"]) };
    let violations = verify(&worse).verdict.contract_violations;
    assert_eq!(violations, [ContractReason::StructuralRegressions, ContractReason::GateFailures]);
}

#[test]
fn a_baseline_that_moves_along_with_code_is_abuse() {
    let (mut before, mut after) =
        (side(&[("a.py", FINE)]), side(&[("a.py", "def fine(a):\n    return 2\n")]));
    before.baseline = Some(BaselineFile::new(b"one".to_vec()));
    after.baseline = Some(BaselineFile::new(b"two".to_vec()));
    let answer = verify(&declared(&before, &after, &["a.py"], &["a.py"]));
    let trigger = BaselineTrigger::BaselineChangedWithFunctionalCode;
    assert_eq!(answer.verdict.contract_violations, [trigger.into()]);
}

#[test]
fn claims_are_held_against_what_was_found() {
    let before = side(&[("a.py", &[FINE, &long("f"), &long("g")].concat())]);
    let after = side(&[("a.py", &[FINE, &long("g")].concat())]);
    let finding = |symbol: &str| {
        let found = before
            .run
            .findings
            .iter()
            .find(|it| it.message.contains(symbol) || it.locations[0].symbol == symbol);
        found.expect("a finding").id.to_string()
    };
    let claim = |symbol: &str| Claim::Fixed { finding: finding(symbol) };
    let asked = |claims| ContractRequest { claims, ..declared(&before, &after, &["a.py"], &["a.py"]) };
    assert!(verify(&asked(vec![claim("f"), Claim::NoRegressions])).judgment.is_valid());
    assert!(!verify(&asked(vec![claim("g")])).judgment.is_valid());
    assert!(!verify(&asked(vec![Claim::NoApiChange])).judgment.is_valid());
    let text = ContractRequest { text: Some("No regressions. I feel good about it."), ..asked(vec![]) };
    let answer = verify(&text);
    let checked: Vec<_> = answer.claims.iter().map(|it| (&it.claim, it.sentence.as_deref())).collect();
    assert_eq!(checked, [(&Claim::NoRegressions, Some("No regressions."))]);
    assert_eq!(answer.unchecked_sentences, ["I feel good about it."]);
    let still = verify(&ContractRequest { text: Some(&format!("Fixed {}.", finding("g"))), ..asked(vec![]) });
    assert_eq!(still.claims_verdict(), ClaimVerdict::False);
    assert!(still.claims[0].objection_summary().starts_with("still there: a.py:"), "{:?}", still.claims);
}

#[test]
fn runs_without_what_they_have_alike_give_the_same_document() {
    let dir = tempfile::tempdir().expect("a directory");
    let workspace = probity_workspace::Workspace::find(Some(dir.path()), dir.path()).expect("is found");
    let runs = AnalysisStore::open(&workspace);
    let before = side(&[("a.py", FINE), ("b.py", &long("b")), ("c.py", &long("c"))]);
    let after = side(&[("a.py", &[FINE, &long("f")].concat()), ("b.py", &long("b")), ("c.py", &long("d"))]);
    let stored = [&before, &after].map(|side| runs.save(side.run.clone()).expect("saves"));
    let [old, new] = stored.map(|stored| AnalysisSide::of(stored, None));
    let differing = runs.load_differing(&before.run.id.short(), &after.run.id.short()).expect("loads");
    assert_eq!(differing.n_alike, 1);
    let [thin_old, thin_new] =
        [differing.before, differing.after].map(|stored| AnalysisSide::of(stored, None));
    assert!(thin_new.run.findings.len() < new.run.findings.len());
    for allowed in [["a.py", "c.py"], ["b.py", "c.py"]] {
        let document =
            |answer: &ContractResult| probity_core::json::to_value(&answer.patch_verdict(&answer.review()));
        let whole = document(&verify(&declared(&old, &new, &["a.py", "c.py"], &allowed)));
        let thin = document(&verify(&declared(&thin_old, &thin_new, &["a.py", "c.py"], &allowed)));
        assert_eq!(thin, whole);
    }
}
