//! Claims of several trees: announced overlaps, landing, stale bases, and events of a newer form.

mod common;

use common::{World, command, declaration, id, owner, seen};
use probity_core::Digest;
use probity_intents::coherence::{PathContent, StaleBaseRule, TreeContents};
use probity_intents::registry::{
    CommandContext, CommandDecision, CommandRefusal, EVENT_FORM, EventSeq, IntentBase, IntentDeclaration,
    NoticeKind, RegistryAction, RegistryChange, RegistryEvent,
};
use probity_intents::start::{DirtyScopePolicy, OnConflict, StartReason};
use probity_intents::{
    IntentOwner, IntentStatus, ProcessProbe, ReleasedWork, ScopeEntry, SharedOverlap, TaskKey,
};
use probity_paths::RepoPath;

fn base(tree: &str, announces: bool) -> IntentBase {
    IntentBase {
        tree: Some(format!("{tree}:")),
        line: Some("main".into()),
        shared: announces.then(|| SharedOverlap { exclusive: [ScopeEntry::new("*.lock")].into() }),
        ..IntentBase::default()
    }
}

fn start_from(base: IntentBase, intent: &str, paths: &[&str]) -> RegistryAction {
    RegistryAction::Start {
        declaration: IntentDeclaration { base, ..declaration(intent, paths) },
        dirty_scope_policy: DirtyScopePolicy::Block,
        on_conflict: OnConflict::Block,
    }
}

fn path(name: &str) -> RepoPath {
    RepoPath::parse(name.as_bytes()).expect("a path")
}

fn content(text: &str) -> Digest {
    Digest::of(text.as_bytes())
}

fn release(
    intent: &str,
    token: EventSeq,
    became: &[(&str, &str)],
    hold_seconds: Option<u64>,
) -> RegistryAction {
    let became =
        became.iter().map(|(name, text)| PathContent { path: path(name), content: Some(content(text)) });
    RegistryAction::Release {
        intent_id: id(intent),
        token,
        receipt: Some(Digest::of(b"receipt")),
        work: Some(ReleasedWork { became: became.collect(), hold_seconds, ..ReleasedWork::default() }),
    }
}

fn land(intent: &str, commit: &str, branch: &str) -> RegistryAction {
    RegistryAction::Land { intent_id: id(intent), commit: commit.into(), branch: branch.into() }
}

/// A context in which the tree has this content of `a`.
fn with_content(now: u64, text: &str) -> CommandContext {
    let contents = [(path("a"), Some(content(text)))].into();
    CommandContext { tree: TreeContents { contents, ..TreeContents::default() }, ..seen(now) }
}

fn ann() -> IntentOwner {
    owner("ann", 1)
}

fn ben() -> IntentOwner {
    owner("ben", 2)
}

fn status(world: &World, intent: &str) -> Option<IntentStatus> {
    world.registry.intent(&id(intent)).map(|intent| intent.status)
}

#[test]
fn an_announced_overlap_is_granted_and_both_are_told() {
    let mut world = World::default();
    world.run(0, &ann(), start_from(base("t1", true), "i-1", &["a", "x.lock"])).expect("is granted");
    let event = world.run(1, &ben(), start_from(base("t2", true), "i-2", &["a"])).expect("is announced");
    assert_eq!(event.form, EVENT_FORM);
    let RegistryChange::Granted { announced, .. } = &event.change else { panic!("{event:?}") };
    assert_eq!(*announced, [id("i-1")].into());
    let told = world.registry.notices(&ann());
    let NoticeKind::Overlap { by, agent, paths, .. } = &told[0].kind else { panic!("{told:?}") };
    assert_eq!((by, agent.as_str(), paths.len()), (&id("i-2"), "ben", 1));
    for (one, other) in [("i-1", "i-2"), ("i-2", "i-1")] {
        let intent = world.registry.intent(&id(one)).expect("is there");
        assert_eq!(intent.announced, [id(other)].into());
    }
    // An exclusive pattern, the same tree, and a side that does not announce: each is refused.
    for (base, paths) in
        [(base("t3", true), &["x.lock"][..]), (base("t1", true), &["a"]), (base("t3", false), &["a"])]
    {
        let refused = world.run(2, &owner("cy", 3), start_from(base, "i-3", paths));
        assert!(matches!(refused, Err(CommandRefusal::Blocked { .. })), "{refused:?}");
    }
}

#[test]
fn a_task_is_exclusive_whatever_the_paths_lines_and_announcements() {
    let mut world = World::default();
    let with_task = |tree: &str, line: &str, intent: &str, paths: &[&str]| RegistryAction::Start {
        declaration: IntentDeclaration {
            base: IntentBase { line: Some(line.into()), ..base(tree, true) },
            task: Some(TaskKey::parse("issue-911").expect("a task")),
            ..declaration(intent, paths)
        },
        dirty_scope_policy: DirtyScopePolicy::Block,
        on_conflict: OnConflict::Block,
    };
    let granted = world.run(0, &ann(), with_task("t1", "main", "i-1", &["a"])).expect("is granted");
    for line in ["main", "release"] {
        let refused = world.run(1, &ben(), with_task("t2", line, "i-2", &["b"]));
        assert!(matches!(refused, Err(CommandRefusal::TaskTaken { .. })), "{refused:?}");
    }
    world.run(2, &ann(), release("i-1", granted.seq, &[("a", "1")], Some(60))).expect("lands");
    let refused = world.run(3, &ben(), with_task("t2", "main", "i-3", &["b"]));
    assert!(matches!(refused, Err(CommandRefusal::TaskTaken { .. })), "until it has landed: {refused:?}");
    world.run(3, &ann(), with_task("t1", "main", "i-4", &["b"])).expect("its owner goes on with it");
}

/// Finishes `a` in tree t1 with a wait for its landing.
fn finished() -> World {
    let mut world = World::default();
    let granted = world.run(0, &ann(), start_from(base("t1", false), "i-1", &["a"])).expect("is granted");
    world.run(1, &ann(), release("i-1", granted.seq, &[("a", "new")], Some(100))).expect("is finished");
    world
}

#[test]
fn what_lands_keeps_other_trees_off_but_not_its_own() {
    let mut world = finished();
    assert_eq!(status(&world, "i-1"), Some(IntentStatus::Landing));
    let refused = world.run_in(&with_content(2, "new"), &ben(), start_from(base("t2", false), "i-2", &["a"]));
    assert!(matches!(refused, Err(CommandRefusal::Blocked { .. })), "{refused:?}");
    world.run(2, &ben(), start_from(base("t1", false), "i-3", &["a"])).expect("its own tree has the work");
    let mut elsewhere = finished();
    let other_line = IntentBase { line: Some("next".into()), ..base("t2", false) };
    elsewhere.run(2, &ben(), start_from(other_line, "i-4", &["a"])).expect("another line is apart");
}

#[test]
fn a_landing_outlives_the_process_of_its_owner_and_ends_with_its_time() {
    let mut world = finished();
    let probe = ProcessProbe { exists: false, pid_start: None };
    let dead = CommandContext { probes: [(id("i-1"), probe)].into(), ..with_content(50, "new") };
    let start = start_from(base("t2", false), "i-2", &["a"]);
    assert!(world.run_in(&dead, &ben(), start.clone()).is_err(), "finished work needs no process");
    let event = world.run_in(&with_content(101, "new"), &ben(), start).expect("its time is over");
    assert!(
        matches!(&event.change, RegistryChange::Granted { displaced, .. } if displaced.contains(&id("i-1")))
    );
    assert_eq!(status(&world, "i-1"), Some(IntentStatus::Released), "it was finished all the same");
}

#[test]
fn landing_is_once() {
    let mut world = finished();
    world.run(2, &ben(), land("i-1", "c1", "main")).expect("anybody can see it");
    assert_eq!(status(&world, "i-1"), Some(IntentStatus::Released));
    let again = world.registry.decide(&seen(3), &command("again", &ben(), land("i-1", "c2", "main")));
    assert_eq!(again, Ok(CommandDecision::Nothing));
    let mut pushed = finished();
    pushed.run(2, &ann(), land("i-1", "c1", "topic")).expect("is on a branch");
    pushed.run(3, &ann(), land("i-1", "c2", "main")).expect("and later on its line");
    let again = pushed.registry.decide(&seen(3), &command("again", &ben(), land("i-1", "c3", "main")));
    assert_eq!(again, Ok(CommandDecision::Nothing));
    let active = world.run(4, &ann(), start_from(base("t1", false), "i-5", &["b"])).expect("is granted");
    let refused = world.run(5, &ben(), land("i-5", "c1", "main"));
    assert!(matches!(refused, Err(CommandRefusal::WrongStatus { .. })), "{refused:?} {active:?}");
}

#[test]
fn a_start_on_a_stale_base_is_never_silent() {
    let mut world = finished();
    world.run(2, &ann(), land("i-1", "c1", "main")).expect("lands");
    let ask = |name: &str| start_from(base("t2", false), name, &["a"]);
    let refused = world.run_in(&with_content(3, "old"), &ben(), ask("i-2"));
    let Err(CommandRefusal::Blocked { decision }) = refused else { panic!("{refused:?}") };
    assert_eq!(decision.reasons, [StartReason::StaleBase]);
    assert_eq!(
        (decision.lacking[0].agent.as_str(), &decision.lacking[0].commit),
        ("ann", &Some("c1".into()))
    );
    // Equal bytes, or a commit that contains it, is no stale base.
    world.run_in(&with_content(3, "new"), &ben(), ask("i-3")).expect("has the content");
    let mut contained = with_content(3, "newer");
    contained.tree.commits.insert("c1".into());
    let mut world = finished();
    world.run(2, &ann(), land("i-1", "c1", "main")).expect("lands");
    world.run_in(&contained, &ben(), ask("i-4")).expect("has the commit");
    // By policy it is a warning, which the log keeps.
    let mut world = finished();
    world.run(2, &ann(), land("i-1", "c1", "main")).expect("lands");
    let warned = CommandContext { stale_base: StaleBaseRule::Warn, ..with_content(3, "old") };
    let event = world.run_in(&warned, &ben(), ask("i-5")).expect("is warned");
    assert!(matches!(&event.change, RegistryChange::Granted { lacks, .. } if lacks.contains(&id("i-1"))));
    // Work that never arrived cannot be fetched: the start is told of it.
    let mut world = finished();
    let event = world.run_in(&with_content(200, "old"), &ben(), ask("i-6")).expect("its time is over");
    assert!(matches!(&event.change, RegistryChange::Granted { lacks, .. } if lacks.contains(&id("i-1"))));
}

#[test]
fn who_lands_under_others_is_told_to_them_and_moves_their_base() {
    let mut world = World::default();
    let first = world.run(0, &ann(), start_from(base("t1", true), "i-1", &["a"])).expect("is granted");
    world.run(0, &ben(), start_from(base("t2", true), "i-2", &["a"])).expect("is announced");
    world.run(1, &ann(), release("i-1", first.seq, &[("a", "new")], Some(60))).expect("is finished");
    let mine = world.registry.intent(&id("i-2")).expect("is there").clone();
    let tree = with_content(1, "mine").tree;
    assert_eq!(world.registry.landed_under(&mine, &tree, StaleBaseRule::Block), [], "it has not landed");
    world.run(2, &ben(), land("i-1", "c1", "main")).expect("ben sees it himself");
    let told = world.registry.notices(&ben());
    let NoticeKind::LandedUnder { commit, receipt, paths, .. } = &told[0].kind else { panic!("{told:?}") };
    assert_eq!((commit.as_str(), receipt.is_some(), paths.as_slice()), ("c1", true, &[path("a")][..]));
    let moved = world.registry.landed_under(&mine, &tree, StaleBaseRule::Block);
    assert_eq!(moved.iter().map(|work| &work.intent_id).collect::<Vec<_>>(), [&id("i-1")]);
    let rebased = TreeContents { commits: ["c1".to_owned()].into(), ..tree };
    assert_eq!(world.registry.landed_under(&mine, &rebased, StaleBaseRule::Block), []);
}

#[test]
fn an_event_of_one_machine_keeps_its_first_form() {
    let mut world = World::default();
    let granted = world.run(0, &ann(), common::start("i-1", &["a"], OnConflict::Block)).expect("is granted");
    let released = world.run(1, &ann(), common::release("i-1", granted.seq)).expect("is released");
    for event in [&granted, &released] {
        let text = serde_json::to_string(event).expect("JSON");
        assert!(!text.contains("form") && !text.contains("announced") && !text.contains("work"), "{text}");
    }
    let mut unknown = serde_json::to_value(&released).expect("JSON");
    unknown["change"]["news"] = 1.into();
    assert!(serde_json::from_value::<RegistryEvent>(unknown).is_err(), "an unknown member is never skipped");
}
