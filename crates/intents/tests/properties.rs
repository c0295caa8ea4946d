//! The registry under random schedules: invariants that hold after every step.

mod common;

use common::{World, command, declaration, id, owner, promote, release, seen};
use probity_intents::coherence::PathContent;
use probity_intents::registry::{
    CommandDecision, EventSeq, IntentBase, IntentDeclaration, RegistryAction, RegistryChange,
    RegistrySnapshot,
};
use probity_intents::start::{DirtyScopePolicy, OnConflict};
use probity_intents::{
    ClaimRelation, IntentId, IntentRegistry, IntentStatus, ProcessProbe, ReleasedWork, ScopeEntry,
    SharedOverlap, TaskKey, overlap,
};
use probity_paths::RepoPath;
use proptest::prelude::*;

const SCOPES: [&[&str]; 5] = [&["a"], &["a/x"], &["b"], &["a/x", "b"], &["c"]];

#[derive(Debug, Clone)]
struct Step {
    agent: u32,
    intent: usize,
    scope: usize,
    waits: u64,
    queue: bool,
    what: u8,
    dead: bool,
    base: usize,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step =
        (0..4_u32, 0..12_usize, 0..5_usize, 0..50_u64, any::<bool>(), 0..10_u8, any::<bool>(), 0..6_usize)
            .prop_map(|(agent, intent, scope, waits, queue, what, dead, base)| Step {
                agent,
                intent,
                scope,
                waits,
                queue,
                what,
                dead,
                base,
            });
    proptest::collection::vec(step, 1..60)
}

/// Two trees on two lines, with and without announced overlaps.
fn base(n: usize) -> IntentBase {
    let shared = SharedOverlap { exclusive: [ScopeEntry::new("b")].into() };
    IntentBase {
        tree: Some(format!("t{}:", n % 2)),
        line: Some(if n == 5 { "next" } else { "main" }.into()),
        shared: (n >= 2).then_some(shared),
        ..IntentBase::default()
    }
}

fn start(step: &Step, name: &str, on_conflict: OnConflict) -> RegistryAction {
    RegistryAction::Start {
        declaration: IntentDeclaration {
            base: base(step.base),
            task: step.dead.then(|| TaskKey::parse("t-1").expect("a task")),
            ..declaration(name, SCOPES[step.scope])
        },
        dirty_scope_policy: DirtyScopePolicy::Block,
        on_conflict,
    }
}

/// Returns what a release with landing leaves.
fn work(step: &Step) -> ReleasedWork {
    let became = SCOPES[step.scope]
        .iter()
        .map(|path| PathContent { path: RepoPath::parse(path.as_bytes()).expect("a path"), content: None });
    ReleasedWork { became: became.collect(), hold_seconds: Some(60), ..ReleasedWork::default() }
}

fn action(world: &World, step: &Step) -> RegistryAction {
    let name = format!("i{}", step.intent);
    let token = world.registry.intent(&id(&name)).and_then(|intent| intent.token).unwrap_or(EventSeq(0));
    let on_conflict = if step.queue { OnConflict::Queue } else { OnConflict::Block };
    match step.what {
        0..=2 => start(step, &name, on_conflict),
        3 => promote(&name),
        4 => release(&name, token),
        8 => RegistryAction::Release { intent_id: id(&name), token, receipt: None, work: Some(work(step)) },
        9 => RegistryAction::Land { intent_id: id(&name), commit: "c".into(), branch: "main".into() },
        5 => RegistryAction::Renew { intent_id: id(&name), lease_seconds: 60, ttl_seconds: Some(90) },
        6 => RegistryAction::Amend {
            intent_id: id(&name),
            token,
            allowed_files: SCOPES[step.scope].iter().map(ScopeEntry::new).collect(),
            allowed_related: [].into(),
            why: "more".into(),
        },
        _ if step.queue => RegistryAction::Collect { retention_seconds: 200, keep_closed: Some(2) },
        _ => RegistryAction::Recover { intent_id: id(&name), lease_seconds: 60, ttl_seconds: 90 },
    }
}

fn disjoint(registry: &IntentRegistry) -> Result<(), TestCaseError> {
    let active: Vec<_> = registry.intents().filter(|intent| intent.status == IntentStatus::Active).collect();
    for (n, one) in active.iter().enumerate() {
        for other in &active[n + 1..] {
            if !overlap(&one.scope, &other.scope) {
                continue;
            }
            let relation = one.relation_to(&other.scope, &other.base);
            prop_assert_ne!(relation, ClaimRelation::Exclusive, "{} and {}", &one.id, &other.id);
            let told = one.announced.contains(&other.id) && other.announced.contains(&one.id);
            prop_assert_eq!(told, relation == ClaimRelation::Announced, "{} and {}", &one.id, &other.id);
        }
    }
    // Whatever the lines and the trees: one owner works on a task.
    let is_on_task = |intent: &&&probity_intents::registry::Intent| intent.task.is_some();
    let on_task: Vec<_> = active.iter().filter(is_on_task).collect();
    prop_assert!(on_task.len() <= 1, "{:?}", on_task);
    Ok(())
}

/// A landing ends once, and what waits for it keeps other trees of its line off.
fn landings(
    registry: &IntentRegistry,
    log: &[probity_intents::registry::RegistryEvent],
) -> Result<(), TestCaseError> {
    let landed: Vec<_> = log
        .iter()
        .filter_map(|event| match &event.change {
            RegistryChange::Landed { intent_id, .. } => Some(intent_id),
            _ => None,
        })
        .collect();
    for id in &landed {
        let n_times = landed.iter().filter(|other| other == &id).count();
        prop_assert_eq!(n_times, 1, "{} landed several times", id);
    }
    let of = |status| registry.intents().filter(move |intent| intent.status == status);
    for waiting in of(IntentStatus::Landing) {
        for active in of(IntentStatus::Active) {
            let is_foreign = !active.owner.is_same_owner(&waiting.owner);
            let came_later = active.token > waiting.history.last().copied();
            let is_kept_off = overlap(&waiting.scope, &active.scope)
                && waiting.keeps_off(&active.base)
                && waiting.relation_to(&active.scope, &active.base) == ClaimRelation::Exclusive;
            prop_assert!(!(is_foreign && came_later && is_kept_off), "{} beside {}", active.id, waiting.id);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn any_schedule_keeps_claims_apart_and_replays(steps in steps()) {
        let mut world = World::default();
        let mut now = 0;
        for step in &steps {
            now += step.waits;
            let by = owner(&format!("agent{}", step.agent), step.agent + 1);
            let mut circumstances = seen(now);
            if step.dead {
                let dead: Vec<IntentId> = world.registry.intents().map(|intent| intent.id.clone()).collect();
                let probe = ProcessProbe { exists: false, pid_start: None };
                circumstances.probes = dead.into_iter().map(|id| (id, probe)).collect();
            }
            let action = action(&world, step);
            let before = world.registry.clone();
            let name = format!("x{}", world.log.len());
            let asked = command(&name, &by, action);
            match world.registry.decide(&circumstances, &asked) {
                Err(refusal) => {
                    prop_assert!(!refusal.next_step().is_empty());
                    prop_assert_eq!(&world.registry, &before);
                }
                Ok(CommandDecision::Append(event)) => {
                    world.registry.apply(&event);
                    let again = world.registry.decide(&circumstances, &asked);
                    prop_assert_eq!(again, Ok(CommandDecision::Known(event.clone())));
                    world.log.push(*event);
                }
                Ok(_) => {}
            }
            disjoint(&world.registry)?;
            landings(&world.registry, &world.log)?;
        }
        let replayed = IntentRegistry::replay(&world.log);
        prop_assert_eq!(replayed.as_ref(), Ok(&world.registry));
        let cached = serde_json::to_vec(&world.registry.snapshot()).expect("a snapshot serialises");
        let cached: RegistrySnapshot = serde_json::from_slice(&cached).expect("and reads back");
        prop_assert_eq!(&IntentRegistry::from(cached), &world.registry);
        let stored = serde_json::to_vec(&world.log).expect("a log serialises");
        let read: Vec<probity_intents::registry::RegistryEvent> = serde_json::from_slice(&stored).expect("and reads back");
        prop_assert_eq!(read, world.log);
    }
}

#[test]
fn a_thousand_live_intents_do_not_slow_a_start_down() {
    let mut world = World::default();
    for n in 0..1_000_u32 {
        let path = format!("dir{}/file{n}.rs", n % 50);
        let action = common::start(&format!("i{n}"), &[path.as_str()], OnConflict::Block);
        world.run(0, &owner(&format!("a{n}"), n), action).expect("granted");
    }
    let asked = command("c", &owner("late", 5_000), common::start("late", &["dir7"], OnConflict::Block));
    let refusal = world.registry.decide(&seen(1), &asked).expect_err("twenty hold files below it");
    assert_eq!(refusal.code().as_str(), "blocked");
}
