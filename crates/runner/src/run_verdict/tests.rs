//! Properties of the verdict over arbitrary cases, and one test for each rule that is easy to lose.

use super::*;
use probity_evidence::ChangePlace;
use probity_evidence::GateStatus;
use probity_paths::Scope;
use probity_snapshot::SnapshotEntryKind;
use probity_workspace::gates::ChangedInputs;
use proptest::prelude::*;
use std::collections::BTreeSet;

/// An owned form of the verdict's inputs.
#[derive(Debug, Clone)]
struct World {
    scope: Vec<&'static str>,
    build_outputs: Vec<&'static str>,
    gate_outputs: Vec<&'static str>,
    protected: Vec<&'static str>,
    grants: Vec<&'static str>,
    refs: RefsRule,
    gates: Vec<PlannedGate>,
    changes: Vec<TreeChange>,
    touched: Vec<TouchedEntry>,
    changed_by_command: BTreeSet<RepoPath>,
    found_at_start: Vec<TreeFinding>,
    found_at_end: Vec<TreeFinding>,
    ref_movements: Vec<RefMovement>,
    command: Option<JobReport>,
    gate_results: Vec<GateResult>,
    not_kept: BTreeSet<RepoPath>,
    outgoing: OutgoingChanges,
}

impl Default for World {
    /// A run that changed nothing and passes.
    fn default() -> Self {
        Self {
            scope: vec!["src/**"],
            build_outputs: Vec::new(),
            gate_outputs: Vec::new(),
            protected: Vec::new(),
            grants: Vec::new(),
            refs: RefsRule::Record,
            gates: Vec::new(),
            changes: Vec::new(),
            touched: Vec::new(),
            changed_by_command: BTreeSet::new(),
            found_at_start: Vec::new(),
            found_at_end: Vec::new(),
            ref_movements: Vec::new(),
            command: Some(ended(JobOutcome::Exited(0))),
            gate_results: Vec::new(),
            not_kept: BTreeSet::new(),
            outgoing: OutgoingChanges::default(),
        }
    }
}

impl World {
    fn judge(&self) -> RunVerdict {
        judge(&VerdictInputs {
            rules: RunRules {
                scope: &scope(&self.scope),
                exemptions: &exemptions(&self.build_outputs),
                protected: &scope(&self.protected),
                grants: &scope(&self.grants),
                refs: self.refs,
                gates: &self.gates,
            },
            tree: ObservedTree {
                changes: &self.changes,
                touched: &self.touched,
                changed_by_command: &self.changed_by_command,
                found_at_start: &self.found_at_start,
                found_at_end: &self.found_at_end,
                zone_changes: &[],
                ref_movements: &self.ref_movements,
                root_changes: &[],
                new_repositories: &[],
                outgoing: &self.outgoing,
                not_kept: &self.not_kept,
            },
            execution: ObservedExecution {
                command: self.command.as_ref(),
                notes: &[],
                gate_results: &self.gate_results,
                gate_writes: &self.gate_writes(),
            },
        })
    }

    /// One gate wrote everything the command did not.
    fn gate_writes(&self) -> Vec<GateWrites> {
        let changed = self.changes.iter().map(|change| change.path.clone());
        let changed = changed.filter(|path| !self.changed_by_command.contains(path)).collect();
        vec![GateWrites { outputs: scope(&self.gate_outputs), changed }]
    }

    /// Adds changes of these paths by the command.
    fn changing(paths: &[&str]) -> Self {
        let touched: BTreeSet<RepoPath> = paths.iter().map(|name| path(name)).collect();
        let changes = touched.iter().cloned().map(change).collect();
        Self { changes, changed_by_command: touched, ..Self::default() }
    }
}

fn scope(patterns: &[&str]) -> Scope {
    probity_evidence::GlobList::new(patterns.iter().map(|pattern| pattern.as_bytes().to_vec()))
        .to_scope()
        .expect("patterns")
}

fn exemptions(build_outputs: &[&str]) -> Exemptions {
    Exemptions { build_outputs: scope(build_outputs), ..Exemptions::default() }
}

fn path(name: &str) -> RepoPath {
    RepoPath::parse(name.as_bytes()).expect("a path")
}

fn change(path: RepoPath) -> TreeChange {
    TreeChange { path, change: ChangeKind::Modified, before: None, after: None }
}

fn found(name: &str, reason: ReasonCode) -> TreeFinding {
    TreeFinding { path: path(name), reason, detail: String::new() }
}

fn ended(outcome: JobOutcome) -> JobReport {
    JobReport { outcome, duration_ms: 1, survivors: Vec::new(), n_survivors: 0, all_gone: true }
}

fn gate(id: &str, required: bool) -> PlannedGate {
    PlannedGate {
        id: id.into(),
        tier: "T0".into(),
        run: vec!["make".into(), id.into()],
        timeout_ms: 1000,
        required,
    }
}

fn result(id: &str, troubles: Vec<(ReasonCode, String)>) -> GateResult {
    let status = if troubles.is_empty() { GateStatus::Pass } else { GateStatus::Fail };
    GateResult {
        gate_id: id.into(),
        status,
        exit_code: Some(0),
        duration_ms: 1,
        logs: Vec::new(),
        troubles,
        changed_inputs: ChangedInputs::default(),
    }
}

fn failed(id: &str) -> GateResult {
    result(id, vec![(ReasonCode::GateFailed, "exit code 1".into())])
}

fn reasons(world: &World) -> Vec<ReasonCode> {
    world.judge().reasons
}

#[test]
fn nothing_wrong_passes_without_a_word() {
    let verdict = World::changing(&["src/a"]).judge();
    assert!(verdict.passed());
    assert_eq!(verdict.findings, []);
}

#[test]
fn a_command_that_was_withheld_did_not_pass() {
    let world = World { command: None, ..World::default() };
    assert_eq!(reasons(&world), [ReasonCode::RunCommandNotStarted]);
}

#[test]
fn a_required_gate_without_an_answer_is_missing() {
    let world = World { gates: vec![gate("test", true)], ..World::default() };
    assert_eq!(reasons(&world), [ReasonCode::GateMissing]);
    let optional = World { gates: vec![gate("test", false)], ..World::default() };
    assert!(optional.judge().passed());
}

#[test]
fn only_a_required_gate_fails_the_run() {
    let with = |required| World {
        gates: vec![gate("test", required)],
        gate_results: vec![failed("test")],
        ..World::default()
    };
    assert_eq!(reasons(&with(true)), [ReasonCode::GateFailed]);
    let verdict = with(false).judge();
    assert!(verdict.passed());
    assert_eq!(verdict.findings.len(), 1, "it is said all the same");
}

#[test]
fn a_protected_path_fails_the_run_in_scope_and_as_a_build_output_but_not_when_granted() {
    let mut world = World::changing(&["src/policy"]);
    world.protected = vec!["src/policy"];
    assert_eq!(reasons(&world), [ReasonCode::ProtectedChanged]);
    world.build_outputs = vec!["src/**"];
    assert_eq!(reasons(&world), [ReasonCode::ProtectedChanged]);
    world.grants = vec!["src/policy"];
    assert!(world.judge().passed());
}

#[test]
fn what_a_gate_may_write_the_command_may_not() {
    let mut world = World::changing(&["report"]);
    world.gate_outputs = vec!["report"];
    assert_eq!(reasons(&world), [ReasonCode::ReconUntrackedDelta]);
    world.changed_by_command.clear();
    assert!(world.judge().passed());
}

#[test]
fn what_was_unsafe_before_is_noted_and_what_cannot_be_seen_fails() {
    let old = |reason| World {
        found_at_start: vec![found("link", reason)],
        found_at_end: vec![found("link", reason)],
        ..World::default()
    };
    assert!(old(ReasonCode::UnsafeLinkEscapes).judge().passed());
    assert_eq!(reasons(&old(ReasonCode::TreeUnavailable)), [ReasonCode::TreeUnavailable]);
    let new = World { found_at_start: Vec::new(), ..old(ReasonCode::UnsafeLinkEscapes) };
    assert_eq!(reasons(&new), [ReasonCode::UnsafeLinkEscapes]);
}

#[test]
fn a_moved_reference_fails_only_where_references_are_protected() {
    let movement = RefMovement::new(None, "HEAD", None, Some("x".into()));
    let world = World { ref_movements: vec![movement], ..World::default() };
    assert!(world.judge().passed());
    assert_eq!(reasons(&World { refs: RefsRule::Protect, ..world }), [ReasonCode::ProtectedChanged]);
}

#[test]
fn a_reference_of_a_repository_in_the_build_outputs_is_not_protected() {
    let movement = |at: &str| RefMovement::new(Some(path(at)), "HEAD", Some("x".into()), Some("y".into()));
    let world = |at| World {
        build_outputs: vec!["out/**"],
        refs: RefsRule::Protect,
        ref_movements: vec![movement(at)],
        ..World::default()
    };
    assert!(world("out/clone").judge().passed());
    assert_eq!(reasons(&world("dep")), [ReasonCode::ProtectedChanged]);
}

#[test]
fn a_content_that_left_one_path_for_one_other_is_a_rename() {
    let side = |text: &str| {
        Some(EntryState {
            kind: SnapshotEntryKind::File,
            mode: 0o644,
            size: text.len() as u64,
            digest: Some(probity_core::Digest::of(text.as_bytes())),
        })
    };
    let gone = |at: &str, text: &str| TreeChange {
        path: path(at),
        change: ChangeKind::Deleted,
        before: side(text),
        after: None,
    };
    let came = |at: &str, text: &str| TreeChange {
        path: path(at),
        change: ChangeKind::Added,
        before: None,
        after: side(text),
    };
    let found = renames(&[gone("a", "1"), came("b", "1"), came("x", "2"), gone("y", ""), came("z", "")]);
    assert_eq!(found, [FileRename { from: path("a"), to: path("b") }]);
    // Among equal files nobody can tell which one went where.
    assert_eq!(renames(&[gone("a", "1"), gone("b", "1"), came("c", "1")]), []);
    assert_eq!(renames(&[gone("a", "1"), came("b", "1"), came("c", "1")]), []);
}

#[test]
fn processes_that_cannot_be_ended_fail_the_run_even_if_none_can_be_named() {
    let mut command = ended(JobOutcome::Exited(0));
    command.all_gone = false;
    assert_eq!(reasons(&World { command: Some(command), ..World::default() }), [ReasonCode::RunSurvivors]);
}

#[test]
fn a_change_that_cannot_be_undone_is_pointed_out() {
    let mut world = World::changing(&["big", "src/big"]);
    world.not_kept = [path("big"), path("src/big")].into();
    let verdict = world.judge();
    let noted: Vec<_> =
        verdict.findings.iter().filter(|said| said.reason == ReasonCode::RevertNoBeforeImage).collect();
    assert_eq!(noted.len(), 1, "in scope there is nothing to undo");
}

const PATTERNS: &[&str] =
    &["**", "src/**", "!src/gen/**", "*.md", "a", "src/a", "out/**", "!out/keep", "src/*/x"];

fn patterns() -> impl Strategy<Value = Vec<&'static str>> {
    prop::collection::vec(prop::sample::select(PATTERNS), 0..4)
}

fn a_path() -> impl Strategy<Value = RepoPath> {
    let part = || prop::sample::select(vec!["a", "x", "src", "gen", "out", "keep", "r.md"]);
    prop::collection::vec(part(), 1..4).prop_map(|parts| path(&parts.join("/")))
}

fn findings() -> impl Strategy<Value = Vec<TreeFinding>> {
    let reason = prop::sample::select(vec![
        ReasonCode::UnsafeLinkEscapes,
        ReasonCode::UnsafeHardLink,
        ReasonCode::TreeUnavailable,
        ReasonCode::TreeUnstable,
    ]);
    let one =
        (a_path(), reason).prop_map(|(path, reason)| TreeFinding { path, reason, detail: String::new() });
    prop::collection::vec(one, 0..3)
}

fn outcome() -> impl Strategy<Value = Option<JobReport>> {
    prop::sample::select(vec![
        None,
        Some(ended(JobOutcome::Exited(0))),
        Some(ended(JobOutcome::Exited(3))),
        Some(ended(JobOutcome::Signalled(9))),
        Some(ended(JobOutcome::Cancelled(2))),
    ])
}

prop_compose! {
    fn world()(
        lists in [patterns(), patterns(), patterns(), patterns(), patterns()],
        changed in prop::collection::btree_map(a_path(), any::<(bool, bool)>(), 0..8),
        found_at_start in findings(),
        found_at_end in findings(),
        command in outcome(),
        gates in prop::collection::btree_map("[a-c]", any::<(bool, Option<bool>)>(), 0..3),
        protects_refs in any::<bool>(),
        ref_moved in any::<bool>(),
    ) -> World {
        let [scope, build_outputs, gate_outputs, protected, grants] = lists;
        let movement = RefMovement::new(None, "HEAD", None, None);
        let answer = |(id, (_, passes)): (&String, &(bool, Option<bool>))| {
            passes.map(|passes| if passes { result(id, Vec::new()) } else { failed(id) })
        };
        World {
            scope, build_outputs, gate_outputs, protected, grants,
            refs: if protects_refs { RefsRule::Protect } else { RefsRule::Record },
            gate_results: gates.iter().filter_map(answer).collect(),
            gates: gates.iter().map(|(id, (required, _))| gate(id, *required)).collect(),
            changes: changed.keys().cloned().map(change).collect(),
            changed_by_command: changed.iter().filter(|(_, (by, _))| *by).map(|(path, _)| path.clone()).collect(),
            not_kept: changed.iter().filter(|(_, (_, lost))| *lost).map(|(path, _)| path.clone()).collect(),
            outgoing: OutgoingChanges::default(),
            touched: Vec::new(),
            found_at_start, found_at_end, command,
            ref_movements: if ref_moved { vec![movement] } else { Vec::new() },
        }
    }
}

/// The paths that fail a run, with their reasons.
fn errors(verdict: &RunVerdict) -> BTreeSet<(ReasonCode, Option<RepoPath>)> {
    let errors = verdict.findings.iter().filter(|said| said.severity == FindingSeverity::Error);
    errors.map(|said| (said.reason, said.path.clone())).collect()
}

proptest! {
    #[test]
    fn every_change_ends_in_exactly_one_place(world in world()) {
        let verdict = world.judge();
        let lets_in = scope(&world.scope);
        let delta: BTreeSet<&RepoPath> = verdict.delta.iter().map(|change| &change.path).collect();
        for change in &world.changes {
            let path = &change.path;
            let places = [
                verdict.exempt.contains(path),
                delta.contains(path) && lets_in.contains(path),
                verdict.untracked.contains(path),
            ];
            prop_assert_eq!(places.iter().filter(|is_there| **is_there).count(), 1, "{} {:?}", path, places);
        }
        prop_assert_eq!(verdict.delta.len() + verdict.exempt.len(), world.changes.len());
    }

    #[test]
    fn a_run_passes_exactly_when_no_finding_is_an_error(world in world()) {
        let verdict = world.judge();
        let said: BTreeSet<ReasonCode> = errors(&verdict).into_iter().map(|(reason, _)| reason).collect();
        let reasons: BTreeSet<ReasonCode> = verdict.reasons.iter().copied().collect();
        prop_assert_eq!(verdict.passed(), said.is_empty());
        prop_assert_eq!(reasons.len(), verdict.reasons.len(), "a reason is listed twice");
        prop_assert_eq!(reasons, said);
    }

    #[test]
    fn only_a_command_that_ended_well_with_every_change_in_scope_passes(world in world()) {
        let verdict = world.judge();
        if verdict.passed() {
            prop_assert_eq!(world.command.map(|ended| ended.outcome), Some(JobOutcome::Exited(0)));
            prop_assert!(verdict.untracked.is_empty());
            for gate in world.gates.iter().filter(|gate| gate.required) {
                let passed = world.gate_results.iter().any(|result| result.gate_id == gate.id && result.status == GateStatus::Pass);
                prop_assert!(passed, "{} is required", gate.id);
            }
        }
    }

    #[test]
    fn a_further_build_output_never_adds_an_error(world in world(), more in prop::sample::select(PATTERNS)) {
        prop_assume!(!more.starts_with('!'));
        let mut wider = world.clone();
        wider.build_outputs.push(more);
        let (before, after) = (errors(&world.judge()), errors(&wider.judge()));
        prop_assert!(after.is_subset(&before), "{:?} is new", after.difference(&before));
    }

    #[test]
    fn a_wider_scope_lets_in_more_and_changes_nothing_else(world in world(), more in prop::sample::select(PATTERNS)) {
        prop_assume!(!more.starts_with('!'));
        let mut wider = world.clone();
        wider.scope.push(more);
        let (before, after) = (world.judge(), wider.judge());
        let rest = |verdict: &RunVerdict| {
            let mut all = errors(verdict);
            all.retain(|(reason, _)| *reason != ReasonCode::ReconUntrackedDelta);
            all
        };
        prop_assert!(after.untracked.iter().all(|path| before.untracked.contains(path)));
        prop_assert_eq!(&after.exempt, &before.exempt);
        prop_assert_eq!(rest(&after), rest(&before));
    }

    #[test]
    fn the_order_of_what_was_observed_does_not_matter(world in world()) {
        let mut reversed = world.clone();
        reversed.changes.reverse();
        reversed.found_at_start.reverse();
        reversed.found_at_end.reverse();
        reversed.gate_results.reverse();
        let (one, other) = (world.judge(), reversed.judge());
        prop_assert_eq!(errors(&one), errors(&other));
        prop_assert_eq!(one.passed(), other.passed());
    }

    #[test]
    fn the_same_case_gets_the_same_verdict(world in world()) {
        let (one, other) = (world.judge(), world.judge());
        prop_assert_eq!(one.findings, other.findings);
        prop_assert_eq!(one.reasons, other.reasons);
    }
}

#[test]
fn what_was_only_touched_is_noted_and_fails_nothing() {
    let touched = |name: &str| TouchedEntry { path: path(name), touch: TouchKind::Attributes };
    let world = World {
        build_outputs: vec!["target/**"],
        touched: vec![touched("docs/d.md"), touched("target/x")],
        ..World::default()
    };
    let verdict = world.judge();
    assert!(verdict.passed());
    let noted: Vec<_> = verdict.findings.iter().map(|found| (found.reason, found.severity)).collect();
    assert_eq!(noted, [(ReasonCode::TreeTouched, FindingSeverity::Note)]);
    assert_eq!(verdict.findings[0].path, Some(path("docs/d.md")));
}

#[test]
fn a_flood_of_touched_entries_is_counted() {
    let touched = (0..MAX_LISTED_TOUCHED_ENTRIES + 7)
        .map(|n| TouchedEntry { path: path(&format!("f{n}")), touch: TouchKind::Replaced })
        .collect();
    let verdict = World { touched, ..World::default() }.judge();
    assert_eq!(verdict.findings.len(), MAX_LISTED_TOUCHED_ENTRIES + 1);
    assert!(verdict.findings[MAX_LISTED_TOUCHED_ENTRIES].detail.starts_with("7 more"));
}

#[test]
fn an_output_is_exempt_only_for_the_gate_that_declared_it() {
    let writes = |outputs: &[&'static str], name: &str| GateWrites {
        outputs: scope(outputs),
        changed: BTreeSet::from([path(name)]),
    };
    let is_exempt = |gate_writes: &[GateWrites]| {
        let world = World::default();
        let (all, none) = (scope(&world.scope), scope(&[]));
        let case = VerdictInputs {
            rules: RunRules {
                scope: &all,
                exemptions: &Exemptions::default(),
                protected: &none,
                grants: &none,
                refs: RefsRule::Record,
                gates: &[],
            },
            tree: ObservedTree {
                changes: &[change(path("report"))],
                touched: &[],
                changed_by_command: &BTreeSet::new(),
                found_at_start: &[],
                found_at_end: &[],
                zone_changes: &[],
                ref_movements: &[],
                root_changes: &[],
                new_repositories: &[],
                outgoing: &OutgoingChanges::default(),
                not_kept: &BTreeSet::new(),
            },
            execution: ObservedExecution {
                command: world.command.as_ref(),
                notes: &[],
                gate_results: &[],
                gate_writes,
            },
        };
        judge(&case).exempt == [path("report")]
    };
    assert!(is_exempt(&[writes(&["report"], "report"), writes(&[], "other")]));
    assert!(!is_exempt(&[writes(&["report"], "other"), writes(&[], "report")]));
    assert!(!is_exempt(&[writes(&["report"], "report"), writes(&[], "report")]));
    assert!(!is_exempt(&[]));
}

#[test]
fn what_is_only_committed_or_staged_is_judged_and_never_exempt() {
    let placed = |place| PlacedChange { before: None, after: None, place };
    let index = || ChangePlace::Index { repository: None };
    let commit = ChangePlace::Commit {
        commit: "5fa51cf0e1aa".into(),
        reference: "refs/heads/x".into(),
        repository: None,
    };
    let mut world = World::changing(&["src/a", "out/b", "out/c"]);
    world.build_outputs = vec!["out/**"];
    world.protected = vec!["src/locked"];
    for (name, place) in [("docs/d", commit), ("src/a", index()), ("src/locked", index()), ("out/e", index())]
    {
        world.outgoing.changes.insert(path(name), placed(place));
    }
    for name in ["out/b", "docs/old"] {
        world.outgoing.staged_as_in_tree.insert(path(name), placed(index()));
    }
    let verdict = world.judge();
    let delta: Vec<String> = verdict.delta.iter().map(|change| change.path.to_string()).collect();
    assert_eq!(delta, ["docs/d", "out/b", "out/e", "src/a", "src/locked"]);
    assert_eq!(verdict.untracked, [path("docs/d"), path("out/b"), path("out/e")]);
    assert_eq!(verdict.exempt, [path("out/c")]);
    let placed: Vec<&RepoPath> = verdict.placed.keys().collect();
    assert_eq!(placed, [&path("docs/d"), &path("out/b"), &path("out/e"), &path("src/locked")]);
    assert_eq!(verdict.reasons, [ReasonCode::ReconUntrackedDelta, ReasonCode::ProtectedChanged]);
    assert!(verdict.findings[0].detail.contains("in commit"), "{:?}", verdict.findings[0]);
}
