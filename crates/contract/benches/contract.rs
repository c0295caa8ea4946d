//! Benchmarks for the time budgets of this crate: a verdict on large runs, claims in a large text.

use criterion::{Criterion, criterion_group, criterion_main};
use probity_contract::claims::{KnownNames, recognize};
use probity_contract::{ContractFinding, IntentState, PatchIntent, RunFacts, VerificationInput, verify};
use probity_intents::{IntentScope, ScopeCheckStatus, ScopeEntry};
use probity_paths::RepoPath;
use probity_policy::Severity;
use std::hint::black_box;

fn run(id: &str, findings: std::ops::Range<u32>) -> RunFacts {
    let finding = |n: u32| ContractFinding {
        id: format!("dup:{:08x}", n.wrapping_mul(2_654_435_761)),
        severity: Severity::Warning,
        paths: [RepoPath::parse(format!("src/dir{}/file{n}.rs", n % 100).as_bytes()).expect("a path")].into(),
    };
    RunFacts {
        run_id: id.into(),
        report_digest: Some("digest".into()),
        settings: "s".into(),
        analyser: "1".into(),
        health: Some(90),
        baseline_digest: None,
        findings: findings.map(finding).collect(),
    }
}

fn verify_large_runs(criterion: &mut Criterion) {
    let patch = |after| VerificationInput {
        intent: Some(PatchIntent {
            intent_id: probity_intents::IntentId::parse("i-1").expect("an id"),
            status: IntentState::Active,
            report_digest: Some("digest".into()),
            scope: IntentScope {
                allowed_files: (0..20).map(|n| ScopeEntry::new(format!("src/dir{n}/*.rs"))).collect(),
                ..IntentScope::default()
            },
        }),
        changed_files: [ScopeEntry::new("src/dir1/file1.rs")].into(),
        scope_check: Some(ScopeCheckStatus::Clean),
        before: Some(run("before", 0..100_000)),
        after: Some(after),
        tree_run_id: None,
        worsened: Vec::new(),
        before_gate: None,
        after_gate: None,
    };
    let few = patch(run("after", 50..100_050));
    criterion.bench_function("verify, 100,000 findings each, 50 new", |bench| {
        bench.iter(|| verify(black_box(&few)));
    });
    let all = patch(run("after", 100_000..200_000));
    criterion.bench_function("verify, 100,000 findings each, all new", |bench| {
        bench.iter(|| verify(black_box(&all)));
    });
}

fn claims_in_a_large_text(criterion: &mut Criterion) {
    const SENTENCES: &str = "I only touched `src/a.py` and src/b.py, and all tests pass. The parser was split into two \
        modules because it had grown too large; no regressions were introduced, as far as I can tell. Fixed dup:12ab. ";
    let prose = SENTENCES.repeat(1_000_000 / SENTENCES.len() + 1);
    let hostile = ["no test or regression and ", "only says verified ", "“ ", "](", "a.py only ", "F12 "]
        .map(|piece| piece.repeat(170_000 / piece.len()))
        .join("\n\n");
    let mut group = criterion.benchmark_group("claims, 1 MB");
    group.sample_size(20);
    group
        .bench_function("prose", |bench| bench.iter(|| recognize(black_box(&prose), &KnownNames::default())));
    group.bench_function("hostile", |bench| {
        bench.iter(|| recognize(black_box(&hostile), &KnownNames::default()));
    });
    group.finish();
}

criterion_group!(benches, verify_large_runs, claims_in_a_large_text);
criterion_main!(benches);
