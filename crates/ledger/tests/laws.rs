//! The seven invariants of the ledger, on generated candidates.

use probity_ledger::extract::Role;
use probity_ledger::wire::{LedgerEvent, encode};
use probity_ledger::{
    BatchMode, CandidateOutcome, CandidateVerdict, DeltaProposal, ItemId, ItemKind, ItemStatus, ItemView,
    Ledger, ProjectLedger,
};
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

const TURNS: &[&str] = &["t1", "t2", "t3"];
const HANDLES: &[&str] = &["a", "b", "c", "d", "e", "f"];
const SUMMARIES: &[&str] =
    &["Use Redis", "use redis.", "Do not use Redis", "Cache for 5 ms", "Cache for 5ms", "X | Y", "X"];
const KINDS: &[&str] = &[
    "goal_set",
    "decision_made",
    "fact_learned",
    "hypothesis_introduced",
    "constraint_added",
    "task_opened",
    "branch_created",
    "decision_revised",
    "constraint_revised",
    "confidence_changed",
    "task_closed",
    "goal_closed",
    "item_superseded",
    "hypothesis_promoted",
    "branch_resolved",
    "task_reopened",
    "fact_corrected",
];

/// The fields of each kind, so that most candidates are well formed.
fn fields_of(kind: &str) -> &'static [&'static str] {
    match kind {
        "goal_set" | "decision_made" | "fact_learned" | "hypothesis_introduced" => {
            &["handle", "summary", "confidence"]
        }
        "constraint_added" => &["handle", "summary", "hard"],
        "task_opened" => &["handle", "summary"],
        "branch_created" => &["handle", "alternatives"],
        "decision_revised" => &["target", "summary", "confidence"],
        "constraint_revised" => &["target", "summary", "mode"],
        "confidence_changed" | "hypothesis_promoted" => &["target", "confidence"],
        "task_closed" | "goal_closed" => &["target", "resolution"],
        "item_superseded" => &["target", "reason", "by"],
        "branch_resolved" => &["target", "handle", "chosen"],
        "task_reopened" => &["target", "handle", "reason"],
        _ => &["target", "handle", "summary"],
    }
}

fn word(list: &'static [&'static str]) -> impl Strategy<Value = Value> {
    prop::sample::select(list).prop_map(Value::from)
}

fn field(name: &'static str) -> BoxedStrategy<Value> {
    match name {
        "handle" | "target" | "by" => word(HANDLES).boxed(),
        "summary" | "chosen" => word(SUMMARIES).boxed(),
        "confidence" => word(&["low", "medium", "high", "certain"]).boxed(),
        "mode" => word(&["relaxed", "tightened", "amended"]).boxed(),
        "hard" => any::<bool>().prop_map(Value::from).boxed(),
        "alternatives" => Just(json!(["X", "Y"])).boxed(),
        _ => Just(json!("because")).boxed(),
    }
}

fn sources() -> impl Strategy<Value = Value> {
    let source = (word(TURNS), prop::option::of((0u8..3, 1u8..5))).prop_map(|(turn, range)| match range {
        None => json!({ "turn": turn }),
        Some((start, length)) => json!({ "turn": turn, "range": [start, start + length] }),
    });
    prop::collection::vec(source, 0..4).prop_map(Value::from)
}

/// Generates a candidate that is well formed, or nearly.
fn candidate() -> impl Strategy<Value = Value> {
    let key = prop::option::weighted(0.2, word(&["k1", "k2", "k3"]));
    let made = prop::sample::select(KINDS).prop_flat_map(|kind| {
        let fields: Vec<_> = fields_of(kind).iter().map(|&name| (Just(name), field(name))).collect();
        (Just(kind), fields)
    });
    let spoil = prop::option::weighted(
        0.05,
        (prop::sample::select(vec!["kind", "sources", "summary", "extra"]), junk()),
    );
    (made, sources(), key, spoil).prop_map(|((kind, fields), sources, key, spoil)| {
        let mut object = Map::new();
        object.insert("kind".into(), kind.into());
        object.insert("sources".into(), sources);
        object.extend(key.map(|key| ("key".to_owned(), key)));
        object.extend(fields.into_iter().map(|(name, value)| (name.to_owned(), value)));
        object.extend(spoil.map(|(name, value)| (name.to_owned(), value)));
        Value::Object(object)
    })
}

/// Generates any JSON.
fn junk() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,6}".prop_map(Value::from),
        word(KINDS),
        word(TURNS),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        let names = prop::sample::select(vec![
            "kind", "sources", "turn", "range", "handle", "summary", "key", "target",
        ]);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(names, inner, 0..5).prop_map(|members| members
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value))
                .collect()),
        ]
    })
}

fn known_turns() -> Ledger {
    let mut ledger = Ledger::new();
    for turn in TURNS {
        ledger.add_turn(turn);
    }
    ledger
}

fn propose(ledger: &mut Ledger, mode: BatchMode, values: &[Value]) -> Vec<CandidateOutcome> {
    let proposals: Vec<_> = values.iter().map(DeltaProposal::read).collect();
    ledger.reconcile("someone", mode, &proposals).expect("a few inputs always fit")
}

/// Checks the invariants for the step from one state to the next.
fn check_step(before: &BTreeMap<ItemId, Kept>, ledger: &Ledger, outcome: &CandidateOutcome) {
    for id in ledger.ids() {
        let item = ledger.item(id).expect("its own ids name items");
        check_item(ledger, id, &item);
        if let Some(old) = before.get(&id) {
            check_history(old, &item, outcome);
        }
    }
}

fn check_item(ledger: &Ledger, id: ItemId, item: &ItemView<'_>) {
    assert!(!item.sources.is_empty(), "2: every item can be traced");
    assert!(item.sources.iter().all(|source| TURNS.contains(&source.turn)), "2: to known turns");
    assert_eq!(item.versions.last().map(|version| version.summary), Some(item.summary), "5");
    assert!(item.versions.is_sorted_by(|a, b| a.seq < b.seq), "7");
    assert!(item.last_seq <= ledger.head(), "7");
    let pairs: Vec<_> = item.sources.iter().map(|source| (source.turn, source.range)).collect();
    let mut distinct = pairs.clone();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(distinct.len(), pairs.len(), "5: no source twice");
    if let Some(successor) = item.superseded_by {
        let successor =
            ledger.find(successor).and_then(|id| ledger.item(id)).expect("4: links lead somewhere");
        assert!(successor.supersedes.contains(&item.handle), "links have two sides");
        assert!(!item.status.is_live());
    }
    assert!(ledger.successors(id).take(1000).all(|next| next != id), "links form no cycle");
    assert!(ledger.supported_by(item.sources[0].turn).contains(&id));
}

/// The data that must not be lost from one state to the next.
#[derive(Debug, Clone, PartialEq)]
struct Kept {
    kind: ItemKind,
    status: ItemStatus,
    sources: Vec<(String, Option<(u64, u64)>)>,
    versions: Vec<String>,
    last_seq: u64,
}

impl Kept {
    fn of(item: &ItemView<'_>) -> Self {
        Self {
            kind: item.kind,
            status: item.status,
            sources: item.sources.iter().map(|source| (source.turn.to_owned(), source.range)).collect(),
            versions: item.versions.iter().map(|version| version.summary.to_owned()).collect(),
            last_seq: item.last_seq.get(),
        }
    }

    fn all(ledger: &Ledger) -> BTreeMap<ItemId, Self> {
        ledger.ids().filter_map(|id| Some((id, Self::of(&ledger.item(id)?)))).collect()
    }
}

fn check_history(old: &Kept, item: &ItemView<'_>, outcome: &CandidateOutcome) {
    let new = Kept::of(item);
    assert_eq!(old.kind, new.kind, "3: a kind never changes");
    assert!(old.status == new.status || old.status.may_become(new.status), "1: one way only");
    assert!(new.sources.starts_with(&old.sources), "5: sources are only added");
    assert!(new.versions.starts_with(&old.versions), "5: versions are only added");
    if matches!(outcome.verdict, CandidateVerdict::Rejected(_)) {
        assert_eq!(*old, new, "6: a rejected candidate changes nothing");
    }
    let is_stamped = new.last_seq == outcome.seq.get();
    assert!(is_stamped || *old == new, "7: a change is stamped with its input");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(160))]

    #[test]
    fn the_invariants_hold_after_every_step(values in prop::collection::vec(candidate(), 1..40)) {
        let mut ledger = known_turns();
        for (at, value) in values.iter().enumerate() {
            let before = Kept::all(&ledger);
            let outcome = propose(&mut ledger, BatchMode::BestEffort, std::slice::from_ref(value))[0];
            prop_assert_eq!(outcome.seq.get(), at as u64 + 1, "7: every input takes the next position");
            check_step(&before, &ledger, &outcome);
        }
        let inputs: u64 = ledger.scoreboard().iter().map(|score| score.inputs).sum();
        prop_assert_eq!(inputs, ledger.head().get());
    }

    #[test]
    fn replaying_the_log_gives_the_same_state_and_the_same_verdicts(
        values in prop::collection::vec(candidate(), 1..40),
        cut in 0usize..40,
    ) {
        let (head, tail) = values.split_at(cut.min(values.len()));
        let mut book = ProjectLedger::new();
        let mut log = Vec::new();
        let turns = TURNS.iter().map(|&id| LedgerEvent::Turn { id, role: Role::User, text: "", pending: false });
        for event in turns {
            book.apply(&event).expect("a turn always fits");
            log.push(encode(&[event]));
        }
        for (mode, values) in [(BatchMode::BestEffort, head), (BatchMode::Atomic, tail)] {
            let proposals: Vec<_> = values.iter().map(DeltaProposal::read).collect();
            let batch = |proposals, verdicts| LedgerEvent::Batch {
                stream: None, author: "someone", mode, proposals, verdicts,
            };
            let outcomes = book.apply(&batch(proposals.clone(), Vec::new())).expect("a few inputs always fit");
            log.push(encode(&[batch(proposals, outcomes.iter().map(|outcome| outcome.verdict).collect())]));
        }
        let mut replayed = ProjectLedger::new();
        for transaction in &log {
            replayed.replay(transaction).expect("what was written can be read");
        }
        prop_assert_eq!(replayed.digest(), book.digest());
        prop_assert_eq!(replayed.n_decided_otherwise(), 0);
    }

    #[test]
    fn it_does_not_matter_how_best_effort_proposals_are_batched(
        values in prop::collection::vec(candidate(), 1..40),
        cut in 0usize..40,
    ) {
        let mut one_by_one = known_turns();
        for value in &values {
            propose(&mut one_by_one, BatchMode::BestEffort, std::slice::from_ref(value));
        }
        let (head, tail) = values.split_at(cut.min(values.len()));
        let mut batches = known_turns();
        propose(&mut batches, BatchMode::BestEffort, head);
        propose(&mut batches, BatchMode::BestEffort, tail);
        prop_assert_eq!(one_by_one.digest(), batches.digest());
    }

    #[test]
    fn the_state_as_of_a_position_is_the_state_that_was(values in prop::collection::vec(candidate(), 1..30)) {
        let mut ledger = known_turns();
        propose(&mut ledger, BatchMode::BestEffort, &values);
        let mut then = known_turns();
        for n in 0..=values.len() {
            let at = ledger.position(i64::try_from(n).unwrap()).unwrap();
            let recalled: Vec<_> = ledger.as_of(at).map(|item| json!(item)).collect();
            let lived: Vec<_> = then.items().map(|item| json!(item)).collect();
            prop_assert_eq!(recalled, lived, "as of {}", n);
            let changed: Vec<_> = ledger.changed_since(at).iter().map(|&id| ledger.handle(id).to_owned()).collect();
            let mut scanned: Vec<_> = ledger.items().filter(|item| item.last_seq > at).collect();
            scanned.sort_by_key(|item| (item.last_seq, item.handle));
            prop_assert_eq!(changed, scanned.iter().map(|item| item.handle.to_owned()).collect::<Vec<_>>());
            if let Some(value) = values.get(n) {
                propose(&mut then, BatchMode::BestEffort, std::slice::from_ref(value));
            }
        }
    }

    #[test]
    fn an_aborted_batch_leaves_only_its_positions(
        prior in prop::collection::vec(candidate(), 0..30),
        batch in prop::collection::vec(candidate(), 1..12),
        later in prop::collection::vec(candidate(), 0..12),
    ) {
        let mut ledger = known_turns();
        propose(&mut ledger, BatchMode::BestEffort, &prior);
        let mut untouched = ledger.clone();
        let proposals: Vec<_> = batch.iter().map(DeltaProposal::read).collect();
        let rehearsed = ledger.rehearse("someone", BatchMode::Atomic, &proposals).unwrap();
        prop_assert_eq!(ledger.digest(), untouched.digest(), "a rehearsal changes nothing");
        let outcomes = propose(&mut ledger, BatchMode::Atomic, &batch);
        prop_assert_eq!(rehearsed, outcomes.iter().map(|outcome| outcome.verdict).collect::<Vec<_>>());
        if outcomes.iter().all(|outcome| outcome.verdict.took_effect()) {
            propose(&mut untouched, BatchMode::BestEffort, &batch);
            prop_assert_eq!(ledger.digest(), untouched.digest());
        } else {
            prop_assert!(outcomes.iter().all(|outcome| !outcome.verdict.took_effect()));
            // The same positions, used up by inputs that say nothing.
            propose(&mut untouched, BatchMode::BestEffort, &vec![json!(null); batch.len()]);
            let items = |ledger: &Ledger| ledger.items().map(|item| json!(item)).collect::<Vec<_>>();
            prop_assert_eq!(items(&ledger), items(&untouched));
            prop_assert_eq!(
                propose(&mut ledger, BatchMode::BestEffort, &later),
                propose(&mut untouched, BatchMode::BestEffort, &later)
            );
            prop_assert_eq!(items(&ledger), items(&untouched));
            prop_assert_eq!(ledger.conflicts(), untouched.conflicts());
        }
    }

    #[test]
    fn no_json_panics(values in prop::collection::vec(junk(), 1..12)) {
        let mut ledger = known_turns();
        let outcomes = propose(&mut ledger, BatchMode::BestEffort, &values);
        prop_assert_eq!(outcomes.len(), values.len());
    }

    #[test]
    fn open_conflicts_are_exactly_the_active_pairs_that_deny_each_other(values in prop::collection::vec(candidate(), 1..40)) {
        let mut ledger = known_turns();
        propose(&mut ledger, BatchMode::BestEffort, &values);
        for conflict in ledger.conflicts().iter().filter(|conflict| conflict.settled.is_none()) {
            let [older, newer] = [conflict.older, conflict.newer].map(|id| ledger.item(id).expect("it exists"));
            prop_assert_eq!(older.status, ItemStatus::Active);
            prop_assert_eq!(newer.status, ItemStatus::Active);
            let denies = |item: &ItemView<'_>| item.summary.contains("not");
            prop_assert_ne!(denies(&older), denies(&newer));
        }
    }
}
