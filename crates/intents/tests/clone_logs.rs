//! Heads that clones publish of their own logs: one that shortens, rewrites or replaces its log is found out by all readers.

mod common;

use common::{World, owner, seen, start};
use probity_core::Digest;
use probity_core::merkle::{self, TreeHead, completed_subtrees, consistency_proof, leaf_hash};
use probity_intents::IntentRegistry;
use probity_intents::clone_logs::{CloneLogBreachKind, CloneLogHead};
use probity_intents::registry::{CommandContext, EVENT_FORM, EventSeq, RegistryAction, RegistryChange};
use probity_intents::start::OnConflict;
use std::collections::BTreeMap;
use std::convert::Infallible;

/// The log of a clone, as its own store keeps it.
#[derive(Default)]
struct OwnLog {
    n_leaves: u64,
    subtrees: BTreeMap<(u32, u64), Digest>,
}

impl OwnLog {
    fn of(leaves: &[&str]) -> Self {
        let mut log = Self::default();
        for leaf in leaves {
            let number = log.n_leaves;
            let Ok(hashes) = completed_subtrees(number, leaf_hash(leaf.as_bytes()), log.lookup());
            for (level, hash) in (0_u32..).zip(hashes) {
                log.subtrees.insert((level, number >> level), hash);
            }
            log.n_leaves += 1;
        }
        log
    }

    fn lookup(&self) -> impl FnMut(u32, u64) -> Result<Digest, Infallible> {
        |level, position| Ok(self.subtrees[&(level, position)])
    }

    fn head(&self) -> TreeHead {
        let Ok(head) = merkle::head(self.n_leaves, self.lookup());
        head
    }

    /// What the clone publishes if its last head had `n_before` leaves.
    fn published(&self, origin: &str, n_before: u64) -> CloneLogHead {
        let Ok(proof) = consistency_proof(n_before, self.n_leaves, self.lookup());
        CloneLogHead {
            clone: "clone-a".into(),
            origin: origin.into(),
            head: self.head(),
            proof: proof.unwrap_or_default(),
        }
    }
}

/// Publishes a head with a start of its own.
fn publish(world: &mut World, published: CloneLogHead) -> EventSeq {
    let name = format!("i{}", world.log.len());
    let context = CommandContext { clone_log: Some(published), ..seen(10) };
    let path = format!("{name}.txt");
    world.run_in(&context, &owner("ann", 7), start(&name, &[&path], OnConflict::Block)).expect("granted").seq
}

fn kind(world: &World) -> Option<CloneLogBreachKind> {
    world.registry.clone_logs().breach_of("clone-a").map(|breach| breach.kind)
}

#[test]
fn a_log_that_grows_contradicts_nothing() {
    let mut world = World::default();
    publish(&mut world, OwnLog::of(&["a", "b", "c"]).published("log", 0));
    publish(&mut world, OwnLog::of(&["a", "b", "c", "d", "e", "f"]).published("log", 3));
    publish(&mut world, OwnLog::of(&["a", "b", "c", "d", "e", "f", "g"]).published("log", 6));
    assert_eq!(kind(&world), None);
    let known = world.registry.clone_logs().get("clone-a").expect("is known");
    assert_eq!((known.head.size, known.seq), (7, EventSeq(3)));
    assert!(world.log.iter().all(|event| event.form == EVENT_FORM), "older programs must not skip it");
}

#[test]
fn every_way_to_lose_entries_is_found_out() {
    let grown = ["a", "b", "c", "d", "e"];
    let cases = [
        (OwnLog::of(&grown[..3]).published("log", 5), CloneLogBreachKind::Shortened),
        (CloneLogHead::of_lost_log("clone-a".into()), CloneLogBreachKind::Shortened),
        // One entry is another one; the proof is that of the forged log.
        (OwnLog::of(&["a", "b", "X", "d", "e", "f"]).published("log", 5), CloneLogBreachKind::Rewritten),
        (OwnLog::of(&["a", "b", "c", "d", "X"]).published("log", 5), CloneLogBreachKind::Rewritten),
        (OwnLog::of(&["a", "b", "c", "d", "e", "f"]).published("other", 5), CloneLogBreachKind::Replaced),
        (OwnLog::of(&["n"]).published("other", 0), CloneLogBreachKind::Replaced),
    ];
    for (published, expected) in cases {
        let mut world = World::default();
        publish(&mut world, OwnLog::of(&grown).published("log", 0));
        let n_after = published.head.size;
        let seq = publish(&mut world, published);
        let breach = world.registry.clone_logs().breach_of("clone-a").expect("is found out").clone();
        assert_eq!((breach.kind, breach.seq, breach.n_before, breach.n_after), (expected, seq, 5, n_after));
    }
}

#[test]
fn a_contradiction_stays_until_somebody_accepts_it() {
    let mut world = World::default();
    publish(&mut world, OwnLog::of(&["a", "b", "c"]).published("log", 0));
    let breach = publish(&mut world, OwnLog::of(&["a", "X", "c"]).published("log", 3));
    // The forged log grows properly from now on.
    publish(&mut world, OwnLog::of(&["a", "X", "c", "d"]).published("log", 3));
    assert_eq!(kind(&world), Some(CloneLogBreachKind::Rewritten));
    let kept = IntentRegistry::from(world.registry.snapshot());
    assert_eq!(kept, world.registry, "a snapshot that stands for cut events keeps it");
    let accept = |breach| RegistryAction::AcceptLog { clone: "clone-a".into(), breach, why: "disk".into() };
    let other = EventSeq(breach.0 + 1);
    let decided = world.registry.decide(&seen(20), &common::command("early", &owner("bo", 8), accept(other)));
    assert_eq!(decided, Ok(probity_intents::registry::CommandDecision::Nothing));
    let event = world.run(20, &owner("bo", 8), accept(breach)).expect("is accepted");
    assert!(matches!(event.change, RegistryChange::LogAccepted { .. }));
    assert_eq!(event.form, EVENT_FORM);
    assert_eq!(kind(&world), None);
    publish(&mut world, OwnLog::of(&["a", "X", "c", "d", "e"]).published("log", 4));
    assert_eq!(kind(&world), None);
}

#[test]
fn names_of_others_are_bounded() {
    let mut world = World::default();
    let long = CloneLogHead { clone: "x".repeat(65), ..OwnLog::of(&["a"]).published("log", 0) };
    publish(&mut world, long);
    assert_eq!(world.registry.clone_logs().iter().count(), 0);
}
