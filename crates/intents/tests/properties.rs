//! The registry under random schedules: invariants that hold after every step.

mod common;

use common::{World, command, id, owner, promote, release, seen, start};
use probity_intents::registry::{CommandDecision, EventSeq, RegistryAction, RegistrySnapshot};
use probity_intents::start::OnConflict;
use probity_intents::{IntentId, IntentRegistry, IntentStatus, ProcessProbe, ScopeEntry, overlap};
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
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = (0..4_u32, 0..12_usize, 0..5_usize, 0..50_u64, any::<bool>(), 0..8_u8, any::<bool>())
        .prop_map(|(agent, intent, scope, waits, queue, what, dead)| Step {
            agent,
            intent,
            scope,
            waits,
            queue,
            what,
            dead,
        });
    proptest::collection::vec(step, 1..60)
}

fn action(world: &World, step: &Step) -> RegistryAction {
    let name = format!("i{}", step.intent);
    let token = world.registry.intent(&id(&name)).and_then(|intent| intent.token).unwrap_or(EventSeq(0));
    let on_conflict = if step.queue { OnConflict::Queue } else { OnConflict::Block };
    match step.what {
        0..=2 => start(&name, SCOPES[step.scope], on_conflict),
        3 => promote(&name),
        4 => release(&name, token),
        5 => RegistryAction::Renew { intent_id: id(&name), lease_seconds: 60, ttl_seconds: Some(90) },
        6 => RegistryAction::Amend {
            intent_id: id(&name),
            token,
            allowed_files: SCOPES[step.scope].iter().map(ScopeEntry::new).collect(),
            allowed_related: [].into(),
            why: "more".into(),
        },
        _ if step.queue => RegistryAction::Collect { retention_seconds: 200 },
        _ => RegistryAction::Recover { intent_id: id(&name), lease_seconds: 60, ttl_seconds: 90 },
    }
}

fn disjoint(registry: &IntentRegistry) -> Result<(), TestCaseError> {
    let active: Vec<_> = registry.intents().filter(|intent| intent.status == IntentStatus::Active).collect();
    for (n, one) in active.iter().enumerate() {
        for other in &active[n + 1..] {
            prop_assert!(!overlap(&one.scope, &other.scope), "{} and {}", one.id, other.id);
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
        let action = start(&format!("i{n}"), &[path.as_str()], OnConflict::Block);
        world.run(0, &owner(&format!("a{n}"), n), action).expect("granted");
    }
    let asked = command("c", &owner("late", 5_000), start("late", &["dir7"], OnConflict::Block));
    let refusal = world.registry.decide(&seen(1), &asked).expect_err("twenty hold files below it");
    assert_eq!(refusal.code().as_str(), "blocked");
}
