//! The registry, rule by rule.

mod common;

use common::{World, command, id, owner, promote, release, scope, seen, start};
use probity_intents::registry::{
    ClosureReason, CommandContext, CommandDecision, CommandRefusal, EventSeq, NoticeKind, RegistryAction,
    RegistryChange,
};
use probity_intents::start::OnConflict::{Block, Queue};
use probity_intents::{IntentRegistry, IntentStatus, Ownership, ProcessProbe, ScopeEntry, Timestamp};

const DEAD: ProcessProbe = ProcessProbe { exists: false, pid_start: None };

fn code<T: std::fmt::Debug>(result: Result<T, CommandRefusal>) -> &'static str {
    result.expect_err("should be refused").code().as_str()
}

#[test]
fn the_registry_of_a_team_keeps_few_closed_intents() {
    let (mut world, ann) = (World::default(), owner("ann", 1));
    for n in 0..20 {
        let id = format!("i{n}");
        let granted = world.run(10, &ann, start(&id, &["a"], Block)).expect("granted");
        world.run(10, &ann, release(&id, granted.seq)).expect("released");
    }
    assert_eq!(world.registry.n_forgettable(5), 15);
    let collect = RegistryAction::Collect { retention_seconds: u64::MAX, keep_closed: Some(5) };
    world.run(11, &ann, collect).expect("collected");
    let kept: Vec<&str> = world.registry.intents().map(|intent| intent.id.as_str()).collect();
    assert_eq!(kept, ["i15", "i16", "i17", "i18", "i19"], "the newest");
    assert_eq!(world.registry.n_forgettable(5), 0);
}

#[test]
fn a_claim_is_granted_and_a_blocked_start_leaves_nothing() {
    let (a, b) = (owner("a", 1), owner("b", 2));
    let mut world = World::default();
    let granted = world.run(0, &a, start("i-a", &["pkg"], Block)).expect("granted");
    assert_eq!(granted.seq, EventSeq(1));
    let before = world.registry.clone();
    assert_eq!(code(world.run(1, &b, start("i-b", &["pkg/x.py"], Block))), "blocked");
    assert_eq!(world.registry, before);
    assert!(world.registry.intent(&id("i-b")).is_none());
}

#[test]
fn a_finish_needs_the_token_of_its_grant() {
    let a = owner("a", 1);
    let mut world = World::default();
    let granted = world.run(0, &a, start("i-a", &["p"], Block)).expect("granted");
    assert_eq!(code(world.run(1, &a, release("i-a", EventSeq(99)))), "stale_token");
    world.run(2, &a, release("i-a", granted.seq)).expect("released");
    assert_eq!(world.registry.intent(&id("i-a")).map(|it| it.status), Some(IntentStatus::Released));
}

#[test]
fn recovery_makes_the_old_token_worthless_even_for_the_same_owner() {
    let (before, after) = (owner("a", 1), owner("a", 9));
    let mut world = World::default();
    let granted = world.run(0, &before, start("i-a", &["p"], Block)).expect("granted");
    let recover = RegistryAction::Recover { intent_id: id("i-a"), lease_seconds: 60, ttl_seconds: 120 };
    let recovered = world.run(1, &after, recover).expect("recovered");
    assert_eq!(code(world.run(2, &before, release("i-a", granted.seq))), "stale_token");
    world.run(3, &after, release("i-a", recovered.seq)).expect("released");
}

#[test]
fn a_repeated_command_is_answered_as_before_and_changes_nothing() {
    let a = owner("a", 1);
    let mut world = World::default();
    let first = world.run(0, &a, start("i-a", &["p"], Block)).expect("granted");
    let before = world.registry.clone();
    let again = command("c1", &owner("a", 7), start("i-a", &["p"], Block));
    assert_eq!(world.registry.decide(&seen(50), &again), Ok(CommandDecision::Known(Box::new(first))));
    let other = command("c1", &a, start("i-x", &["q"], Block));
    assert_eq!(code(world.registry.decide(&seen(50), &other)), "command_id_reused");
    assert_eq!(world.registry, before);
}

#[test]
fn who_comes_first_is_served_first() {
    let (a, b, c, d) = (owner("a", 1), owner("b", 2), owner("c", 3), owner("d", 4));
    let mut world = World::default();
    let held = world.run(0, &a, start("i-a", &["p"], Block)).expect("granted");
    world.run(1, &b, start("i-b", &["p"], Queue)).expect("queued");
    world.run(2, &c, start("i-c", &["p"], Queue)).expect("queued");
    assert_eq!(world.registry.queue_position(&id("i-b"), &c, &seen(3)), Some(1));
    assert_eq!(world.registry.queue_position(&id("i-c"), &c, &seen(3)), Some(2));
    world.run(3, &a, release("i-a", held.seq)).expect("released");
    assert_eq!(code(world.run(4, &c, promote("i-c"))), "queue_ahead");
    assert_eq!(code(world.run(4, &d, start("i-d", &["p/x"], Block))), "queue_ahead");
    let promoted = world.run(5, &b, promote("i-b")).expect("promoted");
    assert_eq!(world.registry.intent(&id("i-b")).map(|it| it.base.run_id.as_str()), Some("later"));
    world.run(6, &b, release("i-b", promoted.seq)).expect("released");
    world.run(7, &c, promote("i-c")).expect("promoted");
}

#[test]
fn a_newcomer_may_take_the_free_part_of_a_waiter_that_is_blocked_elsewhere_but_not_for_ever() {
    let (a, b, c) = (owner("a", 1), owner("b", 2), owner("c", 3));
    let mut world = World::default();
    world.run(0, &a, start("i-a", &["p"], Block)).expect("granted");
    world.run(0, &b, start("i-b", &["p", "q"], Queue)).expect("queued");
    for round in 0..probity_intents::registry::MAX_QUEUE_PASSES {
        let name = format!("i-c{round}");
        let granted = world.run(1, &c, start(&name, &["q"], Block)).expect("may pass");
        world.run(1, &c, release(&name, granted.seq)).expect("released");
    }
    assert_eq!(code(world.run(2, &c, start("i-last", &["q"], Block))), "queue_ahead");
}

#[test]
fn a_silent_waiter_keeps_its_place_and_loses_its_turn() {
    let (a, b, c) = (owner("a", 1), owner("b", 2), owner("c", 3));
    let mut world = World::default();
    let held = world.run(0, &a, start("i-a", &["p"], Block)).expect("granted");
    world.run(0, &b, start("i-b", &["p"], Queue)).expect("queued");
    world.run(10, &a, release("i-a", held.seq)).expect("released");
    assert_eq!(code(world.run(59, &c, start("i-c", &["p"], Block))), "queue_ahead");
    world.run(60, &c, start("i-c2", &["p"], Block)).expect("the lease of the waiter is over");
    assert_eq!(world.registry.intent(&id("i-b")).map(|it| it.status), Some(IntentStatus::Queued));
}

#[test]
fn the_claim_of_a_dead_owner_gives_way_and_its_owner_is_told_once() {
    let (a, b) = (owner("a", 1), owner("b", 2));
    let mut world = World::default();
    let held = world.run(0, &a, start("i-a", &["p"], Block)).expect("granted");
    let mut circumstances = seen(1);
    circumstances.probes.insert(id("i-a"), DEAD);
    let granted = world.run_in(&circumstances, &b, start("i-b", &["p"], Block)).expect("granted");
    assert!(
        matches!(&granted.change, RegistryChange::Granted { displaced, .. } if displaced.contains(&id("i-a")))
    );
    assert_eq!(code(world.run(2, &a, release("i-a", held.seq))), "wrong_status");
    let told = NoticeKind::Closed { why: ClosureReason::Displaced, by: Some(id("i-b")) };
    assert_eq!(world.registry.notices(&a)[0].kind, told);
    let next = world.run(3, &a, start("i-a2", &["q"], Block)).expect("granted");
    assert_eq!(next.notices[0].kind, told);
    assert!(world.registry.notices(&a).is_empty());
}

#[test]
fn a_lapse_is_told_at_the_next_call() {
    let a = owner("a", 1);
    let mut world = World::default();
    world.run(0, &a, start("i-a", &["p"], Block)).expect("granted");
    let renew = || RegistryAction::Renew { intent_id: id("i-a"), lease_seconds: 60, ttl_seconds: Some(120) };
    let renewed = world.run(70, &a, renew()).expect("renewed");
    assert!(matches!(renewed.notices[0].kind, NoticeKind::LeaseLapsed { since } if since.0 == 60));
    assert!(world.run(80, &a, renew()).expect("renewed").notices.is_empty());
}

#[test]
fn a_lease_that_the_store_knows_to_run_is_no_lapse() {
    let (a, b) = (owner("a", 1), owner("b", 2));
    let mut world = World::default();
    world.run(0, &a, start("i-a", &["p"], Block)).expect("granted");
    let intent = world.registry.intent(&id("i-a")).expect("is there").clone();
    let used = CommandContext { leases: [(id("i-a"), 30)].into(), ..seen(100) };
    assert_eq!(intent.ownership(&b, &seen(100)), Ownership::ForeignStale);
    assert_eq!(intent.ownership(&b, &used), Ownership::ForeignActive);
    assert_eq!(intent.lease(&used).ends_at(), Timestamp(130));
    let renew = RegistryAction::Renew { intent_id: id("i-a"), lease_seconds: 60, ttl_seconds: None };
    assert_eq!(world.run_in(&used, &a, renew).expect("renewed").notices, []);
}

#[test]
fn a_scope_grows_by_an_amendment_with_a_reason() {
    let (a, b) = (owner("a", 1), owner("b", 2));
    let mut world = World::default();
    let held = world.run(0, &a, start("i-a", &["p"], Block)).expect("granted");
    world.run(0, &b, start("i-b", &["r"], Block)).expect("granted");
    let amend = |path: &str| RegistryAction::Amend {
        intent_id: id("i-a"),
        token: held.seq,
        allowed_files: [ScopeEntry::new(path)].into(),
        allowed_related: scope(&[]).allowed_related,
        why: "the helper moved".into(),
    };
    assert_eq!(code(world.run(1, &a, amend("r/x"))), "overlaps");
    world.run(2, &a, amend("q")).expect("amended");
    assert_eq!(code(world.run(3, &b, start("i-b2", &["q"], Block))), "blocked");
    let intent = world.registry.intent(&id("i-a")).expect("known");
    assert_eq!((intent.amendments.len(), intent.amendments[0].why.as_str()), (1, "the helper moved"));
    world.run(4, &a, release("i-a", held.seq)).expect("the token is still the one of the grant");
    world.run(5, &b, start("i-b3", &["q"], Block)).expect("free again");
}

#[test]
fn what_is_over_is_collected_and_later_forgotten() {
    let a = owner("a", 1);
    let mut world = World::default();
    let held = world.run(0, &a, start("i-a", &["p"], Block)).expect("granted");
    assert_eq!(code(world.run(120, &a, release("i-a", held.seq))), "expired");
    let collect = || RegistryAction::Collect { retention_seconds: 100, keep_closed: None };
    world.run(120, &owner("gc", 5), collect()).expect("collected");
    assert_eq!(world.registry.intent(&id("i-a")).map(|it| it.status), Some(IntentStatus::Expired));
    assert_eq!(world.registry.notices(&a).len(), 1);
    let nothing = world.registry.decide(&seen(121), &command("gc2", &owner("gc", 5), collect()));
    assert_eq!(nothing, Ok(CommandDecision::Nothing));
    world.run(220, &owner("gc", 5), collect()).expect("forgotten");
    assert!(world.registry.intent(&id("i-a")).is_none());
}

#[test]
fn nobody_clears_recovers_or_overlaps_what_is_held() {
    let (a, b) = (owner("a", 1), owner("b", 2));
    let mut world = World::default();
    world.run(0, &a, start("i-a", &["p"], Block)).expect("granted");
    assert_eq!(code(world.run(1, &b, RegistryAction::Clear { intent_id: id("i-a") })), "held_by_other");
    let recover = RegistryAction::Recover { intent_id: id("i-a"), lease_seconds: 60, ttl_seconds: 120 };
    assert_eq!(code(world.run(1, &b, recover)), "not_recoverable");
    assert_eq!(code(world.run(1, &a, start("i-a2", &["p/x"], Block))), "overlaps_own");
    assert_eq!(code(world.run(1, &b, promote("i-a"))), "held_by_other");
    assert_eq!(code(world.run(1, &a, promote("i-a"))), "wrong_status");
    assert_eq!(code(world.run(1, &a, promote("i-z"))), "unknown_intent");
}

#[test]
fn a_log_that_was_touched_does_not_replay() {
    let a = owner("a", 1);
    let mut world = World::default();
    let held = world.run(0, &a, start("i-a", &["p"], Block)).expect("granted");
    world.run(1, &a, release("i-a", held.seq)).expect("released");
    assert_eq!(IntentRegistry::replay(&world.log).as_ref(), Ok(&world.registry));
    let mut forged = world.log.clone();
    forged[0].by.label = "somebody else".into();
    assert!(IntentRegistry::replay(&forged).is_err());
    assert!(IntentRegistry::replay(&world.log[1..]).is_err());
}
