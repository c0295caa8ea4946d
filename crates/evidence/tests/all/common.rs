//! A run to test with: two changes, one of them with a non-UTF-8 name, two gates, one amendment.

use probity_core::Digest;
use probity_evidence::{
    Amendment, BudgetUsage, ChangeKind, GateResult, GateStatus, GlobList, GovernedCommand, Manifest,
    ManifestChange, ManifestDetails, ManifestFinding, PackCap, Plan, PlannedGate, RefChange, SecretKey,
    ToolVersion, TrustRequirements,
};
use probity_paths::RepoPath;
use std::collections::BTreeMap;

pub(crate) fn path(name: &[u8]) -> RepoPath {
    RepoPath::parse(name).expect("a path")
}

pub(crate) fn plan() -> Plan {
    let gate = |id: &str, run: &[&str], timeout_ms, required| PlannedGate {
        id: id.into(),
        tier: "T0".into(),
        run: run.iter().map(|&word| word.into()).collect(),
        timeout_ms,
        required,
    };
    Plan {
        version: Plan::PLAN_VERSION.into(),
        profile: "team".into(),
        policy_versions: [("policy".into(), "3".into())].into_iter().collect(),
        packs: Vec::new(),
        tier: "T0".into(),
        gates: vec![
            gate("lint", &["ruff", "check", "src/"], 30_000, true),
            gate("size", &["sizecheck"], 120_000, false),
        ],
        skipped_gates: Vec::new(),
        scope: GlobList::new(["src/**", "!src/gen/**"]),
        pack_cap: PackCap { cap: None, selected: 0 },
    }
}

pub(crate) fn key() -> SecretKey {
    SecretKey::from_random(&[42; 32])
}

pub(crate) fn change(name: &[u8]) -> ManifestChange {
    let (before, after) = (None, Some(Digest::of(name)));
    ManifestChange { path: path(name), change: ChangeKind::Added, before, after, place: None }
}

pub(crate) fn gate(id: &str, status: GateStatus, exit_code: Option<i64>) -> GateResult {
    let log_paths = if status == GateStatus::Skip { vec![] } else { vec![format!("logs/{id}.stdout")] };
    GateResult { gate_id: id.into(), status, exit_code, duration_ms: 12, log_paths }
}

pub(crate) fn manifest() -> Manifest {
    Manifest {
        run_id: "0190c1a2-0000-7000-8000-000000000001".into(),
        created_at: "2026-03-01T10:00:05Z".into(),
        plan: plan(),
        amendments: vec![
            Amendment::new(
                GlobList::new(["docs/a.md"]),
                "ada",
                "the page names the option",
                "2026-03-01T10:00:03Z",
            )
            .expect("an amendment"),
        ],
        before_root: Some(Digest::of(b"before")),
        after_root: Some(Digest::of(b"after")),
        delta: Some(vec![change(b"src/a.py"), change(b"src/\xff`\n.py"), change(b"docs/a.md")]),
        exempt_delta_paths: vec![path(b"target/debug/a")],
        gate_results: vec![gate("lint", GateStatus::Pass, Some(0)), gate("size", GateStatus::Fail, Some(1))],
        other_reasons: Vec::new(),
        details: details(),
    }
}

fn details() -> ManifestDetails {
    ManifestDetails {
        tool: Some(ToolVersion { name: "probity".into(), version: "0.1.0".into() }),
        started_at: Some("2026-03-01T10:00:00Z".into()),
        enforcement_detail: Some("two snapshots".into()),
        seal_hash: Some(Digest::of(b"seal")),
        policy_digest: Some(Digest::of(b"policy")),
        build_outputs: GlobList::new(["target/**"]),
        command: Some(GovernedCommand {
            argv: vec!["agent".into(), b"--name=\xff".as_slice().into()],
            exit_code: Some(0),
            log_paths: Vec::new(),
        }),
        budgets: BTreeMap::from([("wall_ms".into(), BudgetUsage { limit: Some(60_000), used: 5_000 })]),
        findings: vec![ManifestFinding {
            code: "SCOPE.BROAD".into(),
            path: Some(path(b"src")),
            detail: "the scope covers | most of `the` tree".into(),
        }],
        refs: vec![RefChange {
            name: "refs/heads/main".into(),
            before: None,
            after: Some("c0ffee".into()),
            repository: None,
        }],
        gate_delta_paths: vec![path(b"src/a.py")],
        ..ManifestDetails::default()
    }
}

pub(crate) fn artifacts() -> BTreeMap<String, Vec<u8>> {
    BTreeMap::from([
        ("logs/lint.stdout".into(), b"ok\n".to_vec()),
        ("logs/size.stdout".into(), b"\xff\x00too big\n".to_vec()),
    ])
}

/// The requirements of a caller who knows the run.
pub(crate) fn trust() -> TrustRequirements {
    TrustRequirements {
        profile: Some("team".into()),
        plan_hash: Some(plan().hash()),
        follows: Some(probity_evidence::ChainPredecessor::Nothing),
        required_gates: vec!["lint".into()],
        signature: probity_evidence::SignatureRule::Required,
        enforcement: probity_evidence::EnforcementLevel::Observe,
        keys: BTreeMap::from([(key().key_id(), key().public())]),
        witnesses: BTreeMap::new(),
        required_witnesses: 0,
    }
}
