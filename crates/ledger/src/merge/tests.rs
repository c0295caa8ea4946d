use super::*;
use crate::candidate::DeltaProposal;
use crate::documents;
use crate::extract::Role;
use crate::outcome::{CandidateVerdict, VerdictCode};
use crate::project_ledger::ProjectLedger;
use crate::reconcile::BatchMode;
use crate::wire::LedgerEvent;
use probity_documents::{DocumentEngine, MemoryCommits};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A project ledger with the stream `s`, both built from deltas.
struct World {
    book: ProjectLedger,
}

impl World {
    fn new(common: &[Value]) -> Self {
        let mut world = Self { book: ProjectLedger::with_stream("s") };
        world
            .book
            .apply(&LedgerEvent::Turn { id: "t", role: Role::User, text: "x", pending: false })
            .expect("applies");
        world.propose(None, common);
        world.book.apply(&LedgerEvent::Fork { stream: "s" }).expect("applies");
        world
    }

    fn propose(&mut self, stream: Option<&str>, deltas: &[Value]) {
        for delta in deltas {
            let mut delta = delta.clone();
            delta["sources"] = json!([{ "turn": "t" }]);
            let proposals = vec![DeltaProposal::read(&delta)];
            let author = stream.unwrap_or("main");
            let mode = BatchMode::BestEffort;
            let event = LedgerEvent::Batch {
                stream,
                author,
                mode,
                proposals,
                verdicts: vec![CandidateVerdict::Accepted],
            };
            let ledger = self.book.ledger(stream).expect("is kept").clone();
            let verdicts = ledger.clone().rehearse(
                author,
                mode,
                match &event {
                    LedgerEvent::Batch { proposals, .. } => proposals,
                    _ => unreachable!("it is a batch"),
                },
            );
            let LedgerEvent::Batch { proposals, .. } = event else { unreachable!("it is a batch") };
            let verdicts = verdicts.expect("there is room");
            self.book
                .apply(&LedgerEvent::Batch { stream, author, mode, proposals, verdicts })
                .expect("applies");
        }
    }

    fn plan(&self, choices: &[(&str, &str)]) -> MergePlan {
        let choices: BTreeMap<_, _> =
            choices.iter().map(|(id, choice)| ((*id).to_owned(), (*choice).to_owned())).collect();
        plan(&self.book, "s", "dee", &choices).expect("can be planned")
    }

    /// Merges with the choice that `pick` makes for every point.
    fn merge(&mut self, pick: impl Fn(&MergePoint) -> String) -> MergePlan {
        let points = self.plan(&[]).points;
        let choices: BTreeMap<_, _> = points.iter().map(|point| (point.id.clone(), pick(point))).collect();
        let plan = plan(&self.book, "s", "dee", &choices).expect("can be planned");
        assert!(plan.is_decided());
        check_commits(&plan, &self.book, &choices);
        self.book.replay(&plan.transaction).expect("replays");
        assert_eq!(self.book.n_decided_otherwise(), 0, "the log says what was planned");
        plan
    }

    fn summary(&self, handle: &str) -> &str {
        let ledger = self.book.main();
        ledger.summary(ledger.find(handle).expect("is there"))
    }

    fn status(&self, handle: &str) -> &'static str {
        let ledger = self.book.main();
        ledger.record(ledger.find(handle).expect("is there")).status.as_str()
    }
}

/// Law 9: the state of the survival commit is the merged ledger, item by item.
fn check_commits(plan: &MergePlan, book: &ProjectLedger, choices: &BTreeMap<String, String>) {
    let schema = documents::schema();
    let mut store = MemoryCommits::new();
    let mut head = None;
    for commit in &plan.commits {
        head = Some(store.append(commit.clone()).expect("appends"));
    }
    let state = DocumentEngine::new(&store).state(&head.expect("there is a base")).expect("replays");
    let mut after = book.clone();
    after.replay(&plan.transaction).expect("replays");
    let whole = documents::documents(&schema, after.main()).to_json(&schema);
    for (key, document) in
        state.to_json(&schema)[documents::ITEM_ATTACHMENT].as_object().into_iter().flatten()
    {
        match whole[documents::ITEM_ATTACHMENT].get(key) {
            Some(served) => assert_eq!(document, served, "{key} with {choices:?}"),
            None => assert_eq!(document["status"], "superseded", "{key}"),
        }
    }
}

fn decision(handle: &str, summary: &str) -> Value {
    json!({ "kind": "decision_made", "handle": handle, "summary": summary, "confidence": "high" })
}

fn revise(target: &str, summary: &str) -> Value {
    json!({ "kind": "decision_revised", "target": target, "summary": summary })
}

fn supersede(target: &str) -> Value {
    json!({ "kind": "item_superseded", "target": target, "reason": "old" })
}

#[test]
fn streams_that_do_not_meet_merge_by_themselves() {
    let mut world = World::new(&[decision("a", "Use A")]);
    world.propose(None, &[decision("b", "Use B")]);
    world.propose(Some("s"), &[decision("c", "Use C"), revise("a", "Use A2")]);
    let plan = world.merge(|point| panic!("nothing is to be decided: {point:?}"));
    assert_eq!(plan.n_proposals, 2);
    assert_eq!((world.summary("c"), world.summary("a")), ("Use C", "Use A2"));
    assert_eq!(world.book.streams()["s"].n_batches(), 0);
}

#[test]
fn what_the_ledger_would_lose_needs_a_choice() {
    let both = |pick: &'static str| {
        let mut world = World::new(&[decision("a", "Use A")]);
        world.propose(None, &[revise("a", "Use our A")]);
        world.propose(Some("s"), &[revise("a", "Use their A")]);
        let plan = world.plan(&[]);
        let point = &plan.points[0];
        assert_eq!((point.kind, point.about.as_str(), plan.points.len()), (PointKind::Lost, "summary", 1));
        assert_eq!(
            (point.ours.as_deref(), point.theirs.as_deref()),
            (Some("Use our A"), Some("Use their A"))
        );
        assert!(!plan.is_decided());
        world.merge(|_| pick.to_owned());
        world.summary("a").to_owned()
    };
    assert_eq!(both("ours"), "Use our A");
    assert_eq!(both("theirs"), "Use their A");
}

#[test]
fn what_the_reconciler_refuses_is_told_and_dropped() {
    let mut world = World::new(&[decision("a", "Use A")]);
    world.propose(None, &[supersede("a")]);
    world.propose(Some("s"), &[revise("a", "Use A2")]);
    let plan = world.merge(|point| {
        assert_eq!(
            (point.kind, point.code.map(VerdictCode::as_str)),
            (PointKind::Refused, Some("terminal_target")),
            "{point:?}"
        );
        "drop".into()
    });
    assert_eq!(plan.points.len(), 1, "{:?}", plan.points);
    assert_eq!((world.summary("a"), world.status("a")), ("Use A", "superseded"));
}

#[test]
fn a_contradiction_is_settled_by_keeping_one() {
    let kept = |pick: &'static str| {
        let mut world = World::new(&[]);
        world.propose(None, &[decision("yes", "Use Redis")]);
        world.propose(Some("s"), &[decision("no", "Do not use Redis")]);
        world.merge(|point| {
            assert_eq!(
                (point.kind, point.item.as_str(), point.about.as_str()),
                (PointKind::Contradiction, "yes", "no")
            );
            pick.to_owned()
        });
        (world.status("yes"), world.status("no"), world.book.main().open_conflicts().count())
    };
    assert_eq!(kept("yes"), ("active", "superseded", 0));
    assert_eq!(kept("no"), ("superseded", "active", 0));
    assert_eq!(kept("both"), ("active", "active", 1));
}

#[test]
fn a_status_that_the_stream_ended_can_be_kept() {
    let kept = |pick: &'static str| {
        let guess = json!({ "kind": "hypothesis_introduced", "handle": "h", "summary": "DNS is slow", "confidence": "low" });
        let mut world = World::new(&[guess]);
        world.propose(None, &[json!({ "kind": "hypothesis_promoted", "target": "h" })]);
        world.propose(Some("s"), &[supersede("h")]);
        world.merge(|point| {
            assert_eq!((point.kind, point.about.as_str()), (PointKind::Lost, "status"), "{point:?}");
            pick.to_owned()
        });
        world.status("h")
    };
    assert_eq!(kept("ours"), "active");
    assert_eq!(kept("theirs"), "superseded");
}

#[test]
fn one_handle_for_two_things_is_told_apart() {
    let mut world = World::new(&[]);
    world.propose(None, &[decision("d1", "Use A")]);
    world.propose(Some("s"), &[decision("d1", "Use B"), revise("d1", "Use B2"), decision("d2", "Use C")]);
    let plan = world.merge(|point| panic!("nothing is to be decided: {point:?}"));
    assert_eq!(plan.renamed, [("d1".to_owned(), "s/d1".to_owned())]);
    assert_eq!(
        (world.summary("d1"), world.summary("s/d1"), world.summary("d2")),
        ("Use A", "Use B2", "Use C")
    );
}

#[test]
fn what_both_said_is_one_item() {
    let mut world = World::new(&[]);
    world.propose(None, &[decision("d1", "Use Redis")]);
    world.propose(Some("s"), &[decision("x7", "use redis.")]);
    world.merge(|point| panic!("nothing is to be decided: {point:?}"));
    let main = world.book.main();
    assert_eq!((main.find("x7"), main.ids().count()), (main.find("d1"), 1));
}

#[test]
fn a_choice_that_is_none_is_refused() {
    let mut world = World::new(&[decision("a", "Use A")]);
    world.propose(None, &[revise("a", "Use our A")]);
    world.propose(Some("s"), &[revise("a", "Use their A")]);
    let id = world.plan(&[]).points[0].id.clone();
    for (id, choice) in [(id.as_str(), "both"), ("zz", "ours"), ("", "ours")] {
        let choices = BTreeMap::from([(id.to_owned(), choice.to_owned())]);
        assert!(
            matches!(plan(&world.book, "s", "dee", &choices), Err(MergeError::Choice { .. })),
            "{id}={choice}"
        );
    }
}

fn delta() -> impl Strategy<Value = Value> {
    let handle = || prop::sample::select(vec!["a", "b", "c", "d"]);
    let text = || prop::sample::select(vec!["Use Redis", "Do not use Redis", "use redis.", "Ship it", "X"]);
    (0..9u8, handle(), handle(), text()).prop_map(|(n, handle, other, text)| match n {
        0..3 => decision(handle, text),
        3 => {
            json!({ "kind": "hypothesis_introduced", "handle": handle, "summary": text, "confidence": "low" })
        }
        4 => revise(handle, text),
        5 => json!({ "kind": "item_superseded", "target": handle, "reason": "r", "by": other }),
        6 => json!({ "kind": "confidence_changed", "target": handle, "confidence": "low" }),
        7 => json!({ "kind": "hypothesis_promoted", "target": handle }),
        _ => json!({ "kind": "branch_created", "handle": handle, "alternatives": ["X", "Y"] }),
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_merge_can_be_decided_and_the_commit_store_agrees(
        common in prop::collection::vec(delta(), 0..8),
        ours in prop::collection::vec(delta(), 0..8),
        theirs in prop::collection::vec(delta(), 1..8),
        pick in 0usize..3,
    ) {
        let mut world = World::new(&common);
        world.propose(None, &ours);
        world.propose(Some("s"), &theirs);
        let points = world.plan(&[]).points;
        let choices: BTreeMap<_, _> = points
            .iter()
            .map(|point| (point.id.clone(), point.choices[pick % point.choices.len()].clone()))
            .collect();
        // Two choices can exclude each other; then the merge is refused and nothing happens.
        if let Ok(plan) = plan(&world.book, "s", "dee", &choices) {
            check_commits(&plan, &world.book, &choices);
            world.book.replay(&plan.transaction).expect("replays");
            prop_assert_eq!(world.book.n_decided_otherwise(), 0);
        }
    }
}
