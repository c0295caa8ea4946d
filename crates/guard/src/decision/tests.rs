use super::*;
use crate::snapshot::{GuardBytes, GuardRules, GuardedRun};
use probity_intents::{IntentScope, ScopeEntry};

struct TestWorld {
    tree: GovernedTree,
    links: Vec<(&'static str, &'static str)>,
}

impl ShellWorld for TestWorld {
    fn home(&self) -> &'static str {
        "/home/u"
    }

    fn is_directory(&self, _: &str) -> bool {
        false
    }
}

impl GuardWorld for TestWorld {
    fn resolve(&self, path: &str) -> String {
        let link = self.links.iter().find(|(link, _)| *link == path);
        link.map_or_else(|| path.to_owned(), |(_, target)| (*target).to_owned())
    }

    fn tree_of(&self, path: &str) -> Option<Rc<GovernedTree>> {
        (path == self.tree.root || path.starts_with(&format!("{}/", self.tree.root)))
            .then(|| Rc::new(self.tree.clone()))
    }

    fn session_tree(&self) -> Option<Rc<GovernedTree>> {
        Some(Rc::new(self.tree.clone()))
    }

    fn guard_programs(&self) -> Vec<String> {
        vec!["/opt/bin/probity-hook".into(), "/opt/bin/probity".into()]
    }

    fn is_foreign_process(&self, pid: u32) -> bool {
        pid == 7
    }

    fn now(&self) -> u64 {
        1_000
    }
}

fn intent(id: &str, agent: &str, files: &[&str]) -> GuardedIntent {
    GuardedIntent {
        intent_id: id.into(),
        agent: agent.into(),
        owner: None,
        scope: IntentScope {
            allowed_files: files.iter().map(ScopeEntry::new).collect(),
            forbidden: [ScopeEntry::new("*.lock")].into(),
            ..IntentScope::default()
        },
        is_active: true,
        started_at: 900,
        expires_at: 1_600,
    }
}

/// A tree in which this session has the intent `mine`, another one has `his`.
fn world() -> TestWorld {
    let mut snapshot = GuardSnapshot::new(GuardRules {
        build_outputs: vec![GuardBytes(b"target/**".to_vec())],
        protected: vec![GuardBytes(b"ci/**".to_vec())],
        ..GuardRules::default()
    });
    snapshot.intents = vec![
        intent("mine", "ann", &["src/a.rs", "src/new/b.rs", "Cargo.lock"]),
        intent("his", "ben", &["lib"]),
    ];
    let tree = GovernedTree {
        run: None,
        root: "/repo".into(),
        state_dir: "/repo/.git/probity".into(),
        snapshot: Ok(snapshot),
        session: SessionRecord { intents: vec!["mine".into()], ..SessionRecord::default() },
        subagent: None,
        bound: ["mine".to_owned(), "his".to_owned()].into(),
    };
    TestWorld { tree, links: vec![("/tmp/link", "/repo/lib/x.rs"), ("/repo/src/a.rs", "/repo/src/a.rs")] }
}

fn snapshot(world: &mut TestWorld) -> &mut GuardSnapshot {
    world.tree.snapshot.as_mut().expect("readable")
}

fn verdict(world: &TestWorld, path: &str, kind: WriteKind) -> Option<RefusalCode> {
    let effects =
        ToolCallEffects { writes: vec![PathWrite { path: path.into(), kind }], ..Default::default() };
    match decide(&effects, world) {
        GuardVerdict::Pass => None,
        GuardVerdict::Refuse(refusal) => {
            assert!(refusal.reason.chars().count() <= MAX_REASON_CHARS, "{}", refusal.reason);
            assert!(!refusal.reason.contains('\n'));
            Some(refusal.code)
        }
        GuardVerdict::Declare { .. } => Some(RefusalCode::NotUnderstood),
    }
}

#[test]
fn only_declared_names_pass() {
    let world = world();
    let entry = |path: &str| verdict(&world, path, WriteKind::Entry);
    assert_eq!(entry("/repo/src/a.rs"), None);
    assert_eq!(entry("/repo/src/b.rs"), Some(RefusalCode::OutOfScope));
    assert_eq!(entry("/repo/src"), Some(RefusalCode::OutOfScope));
    assert_eq!(entry("/repo/lib/x.rs"), Some(RefusalCode::HeldByOther));
    assert_eq!(entry("/repo/Cargo.lock"), Some(RefusalCode::Forbidden));
    assert_eq!(entry("/repo/ci/run.sh"), Some(RefusalCode::Forbidden));
    assert_eq!(entry("/repo/target/debug/x"), None);
    assert_eq!(entry("/tmp/x"), None);
    assert_eq!(entry("/repo/.git/COMMIT_EDITMSG"), None);
}

#[test]
fn a_link_does_not_lead_around_the_guard() {
    assert_eq!(verdict(&world(), "/tmp/link", WriteKind::Entry), Some(RefusalCode::HeldByOther));
}

#[test]
fn directories_are_created_on_the_way_to_a_declared_file() {
    let world = world();
    assert_eq!(verdict(&world, "/repo/src/new", WriteKind::Directory), None);
    assert_eq!(verdict(&world, "/repo/other", WriteKind::Directory), Some(RefusalCode::OutOfScope));
}

#[test]
fn the_whole_tree_and_wildcards_need_single_names() {
    let world = world();
    assert_eq!(verdict(&world, "/repo", WriteKind::Subtree), Some(RefusalCode::OutOfScope));
    assert_eq!(verdict(&world, "/", WriteKind::Subtree), Some(RefusalCode::OutOfScope));
    assert_eq!(verdict(&world, "/repo/src/*.rs", WriteKind::Pattern), Some(RefusalCode::OutOfScope));
    assert_eq!(verdict(&world, "/repo/target/*.o", WriteKind::Pattern), None);
    assert_eq!(verdict(&world, "/repo/target", WriteKind::Subtree), None);
    assert_eq!(verdict(&world, "/tmp/*.o", WriteKind::Pattern), None);
}

#[test]
fn guarded_files_are_refused_even_in_scope() {
    let mut world = world();
    snapshot(&mut world).intents.push(intent("mine", "ann", &["probity.toml", ".claude/settings.json"]));
    for path in ["/repo/probity.toml", "/repo/.claude/settings.json", "/home/u/.claude/settings.json"] {
        assert_eq!(verdict(&world, path, WriteKind::Entry), Some(RefusalCode::Guarded), "{path}");
    }
    assert_eq!(verdict(&world, "/repo/.git/probity", WriteKind::Subtree), Some(RefusalCode::Guarded));
}

#[test]
fn without_an_intent_the_policy_decides() {
    let mut world = world();
    world.tree.session = SessionRecord::default();
    assert_eq!(verdict(&world, "/repo/src/z.rs", WriteKind::Entry), Some(RefusalCode::NoIntent));
    snapshot(&mut world).rules.without_intent = WithoutIntent::Allow;
    assert_eq!(verdict(&world, "/repo/src/z.rs", WriteKind::Entry), None);
    assert_eq!(verdict(&world, "/repo/lib/x.rs", WriteKind::Entry), Some(RefusalCode::HeldByOther));
    snapshot(&mut world).rules.without_intent = WithoutIntent::Declare;
    let effects = ToolCallEffects {
        writes: vec![PathWrite { path: "/repo/src/z.rs".into(), kind: WriteKind::Entry }],
        ..Default::default()
    };
    let declared = GuardVerdict::Declare { root: "/repo".into(), paths: vec!["src/z.rs".into()] };
    assert_eq!(decide(&effects, &world), declared);
}

#[test]
fn an_unbound_intent_counts_only_for_a_session_without_one() {
    let mut world = world();
    world.tree.bound.remove("his");
    assert_eq!(verdict(&world, "/repo/lib", WriteKind::Entry), Some(RefusalCode::HeldByOther));
    world.tree.session = SessionRecord::default();
    assert_eq!(verdict(&world, "/repo/lib", WriteKind::Entry), None);
    world.tree.bound.remove("mine");
    assert_eq!(verdict(&world, "/repo/lib", WriteKind::Entry), Some(RefusalCode::HeldByOther), "two owners");
}

#[test]
fn a_subagent_works_under_its_parent_unless_the_policy_says_otherwise() {
    let mut world = world();
    world.tree.subagent = Some(SessionRecord::default());
    assert_eq!(verdict(&world, "/repo/src/a.rs", WriteKind::Entry), None);
    snapshot(&mut world).rules.subagents = SubagentRule::Own;
    assert_eq!(verdict(&world, "/repo/src/a.rs", WriteKind::Entry), Some(RefusalCode::HeldByOther));
}

#[test]
fn an_expired_intent_neither_allows_nor_holds() {
    let mut world = world();
    snapshot(&mut world).intents.iter_mut().for_each(|intent| intent.expires_at = 1_000);
    assert_eq!(verdict(&world, "/repo/src/a.rs", WriteKind::Entry), Some(RefusalCode::NoIntent));
    assert_eq!(verdict(&world, "/repo/lib/x.rs", WriteKind::Entry), Some(RefusalCode::NoIntent));
}

#[test]
fn a_queued_intent_does_not_allow_yet() {
    let mut world = world();
    snapshot(&mut world).intents[0].is_active = false;
    assert_eq!(verdict(&world, "/repo/src/a.rs", WriteKind::Entry), Some(RefusalCode::Queued));
}

#[test]
fn a_foreign_run_holds_what_it_claims() {
    let mut world = world();
    let run = |pid| GuardedRun {
        run_id: "r".into(),
        prefix: GuardBytes(Vec::new()),
        scope: vec![GuardBytes(b"gen/**".to_vec())],
        pid,
    };
    snapshot(&mut world).runs = vec![run(7)];
    assert_eq!(verdict(&world, "/repo/gen/x", WriteKind::Entry), Some(RefusalCode::HeldByOther));
    snapshot(&mut world).runs = vec![run(8)];
    assert_eq!(verdict(&world, "/repo/gen/x", WriteKind::Entry), Some(RefusalCode::OutOfScope));
}

#[test]
fn a_damaged_snapshot_refuses_every_write_in_its_tree() {
    let mut world = world();
    world.tree.snapshot = Err("cut short".into());
    assert_eq!(verdict(&world, "/repo/src/a.rs", WriteKind::Entry), Some(RefusalCode::GuardDamaged));
    assert_eq!(verdict(&world, "/tmp/x", WriteKind::Entry), None);
}

#[test]
fn in_a_governed_run_its_sealed_scope_counts_and_nothing_is_declared() {
    let mut world = world();
    let scope = vec![GuardBytes(b"src/**".to_vec()), GuardBytes(b"!src/gen/**".to_vec())];
    let rules = snapshot(&mut world).rules.clone();
    let mut run = RunGuard::new("run-1", "/repo", b"", scope, rules);
    run.is_view = true;
    assert_eq!(RunGuard::parse(&run.to_text()), Ok(run.clone()));
    world.tree.run = Some(run.clone());
    let entry = |path: &str| verdict(&world, path, WriteKind::Entry);
    assert_eq!(entry("/repo/src/any.rs"), None);
    assert_eq!(entry("/repo/src/gen/x.rs"), Some(RefusalCode::OutOfScope));
    assert_eq!(entry("/repo/docs/a.md"), Some(RefusalCode::OutOfScope));
    assert_eq!(entry("/repo/ci/run.sh"), Some(RefusalCode::Forbidden));
    assert_eq!(entry("/repo/.claude/settings.json"), Some(RefusalCode::Guarded));
    assert_eq!(entry("/repo/target/debug/x"), None);
    assert_eq!(verdict(&world, "/repo/src/deep", WriteKind::Subtree), None);
    assert_eq!(verdict(&world, "/repo", WriteKind::Subtree), Some(RefusalCode::OutOfScope));
    assert_eq!(verdict(&world, "/repo/*.rs", WriteKind::Pattern), Some(RefusalCode::OutOfScope));
    // A run below the top counts its patterns from there.
    run.prefix = GuardBytes(b"app".to_vec());
    world.tree.run = Some(run);
    assert_eq!(verdict(&world, "/repo/app/src/a.rs", WriteKind::Entry), None);
    assert_eq!(verdict(&world, "/repo/src/a.rs", WriteKind::Entry), Some(RefusalCode::OutOfScope));
}

#[test]
fn a_scope_too_long_for_a_variable_is_left_to_the_run() {
    let scope = (0..20_000).map(|number| GuardBytes(format!("src/{number}.rs").into_bytes())).collect();
    let text = RunGuard::new("run-1", "/repo", b"", scope, GuardRules::default()).to_text();
    assert!(text.len() < 1_000, "{}", text.len());
    assert_eq!(RunGuard::parse(&text).expect("reads").scope, None);
    assert!(RunGuard::parse("{}").is_err());
}
