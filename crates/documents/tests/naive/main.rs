//! Compares the engine with a naive model on random histories.
//!
//! By default this runs a thousand or so histories. To run more, set their number and the first seed:
//! `PROBITY_HISTORIES=100000 PROBITY_FIRST_SEED=1000000 cargo test --release -p probity-documents --test naive`. A
//! failure prints the seed, which gives the same history on every machine.

#![allow(missing_docs, clippy::unwrap_used)]

mod answers;
mod generate;
mod model;
mod types;

use generate::{Rng, scenario};
use model::Model;
use probity_documents::{
    Commit, CommitId, CommitKind, CommitNode, CommitReader, CommitSeq, CommitStamp, CommitState,
    DocumentEngine, DocumentId, DocumentSchema, HistoryError, MemoryCommits, MergeAnalysis, MergeAnalyzer,
    diff,
};
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use std::sync::Arc;

const HISTORIES: u64 = 1200;

#[expect(
    clippy::disallowed_methods,
    reason = "the long mode is asked for from outside; nothing else reads it"
)]
fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().map_or(default, |text| text.parse().expect("a number"))
}

fn for_each_history(default: u64, check: impl Fn(u64, &Json, &mut Model)) {
    let first = setting("PROBITY_FIRST_SEED", 0);
    for seed in first..first + setting("PROBITY_HISTORIES", default) {
        let (given, mut model) = scenario(seed);
        check(seed, &given, &mut model);
    }
}

#[test]
fn answers_every_query_as_the_naive_model_does() {
    for_each_history(HISTORIES, |seed, given, model| {
        let results =
            probity_documents::vectors::merge(given).unwrap_or_else(|why| panic!("seed {seed}: {why}"));
        for (query, result) in types::items(&given["queries"]).iter().zip(types::items(&results["results"])) {
            let expected = answers::answer(model, query);
            assert!(
                same(result, &expected),
                "seed {seed}, query {query}:\n{result}\n{expected}\ncommits {}",
                given["commits"]
            );
        }
    });
}

/// Compares with `1` and `1.0` as equal numbers.
fn same(a: &Json, b: &Json) -> bool {
    match (a, b) {
        (Json::Number(a), Json::Number(b)) => a.as_f64() == b.as_f64(),
        (Json::Array(a), Json::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Json::Object(a), Json::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        _ => a == b,
    }
}

/// A store in which some of another store's commits have snapshots, computed without any snapshot.
struct Sparse<'c> {
    inner: &'c MemoryCommits,
    snapshots: BTreeMap<CommitSeq, CommitState>,
}

impl CommitReader for Sparse<'_> {
    fn find(&self, id: &CommitId) -> Result<Option<CommitSeq>, HistoryError> {
        self.inner.find(id)
    }
    fn end(&self) -> CommitSeq {
        self.inner.end()
    }
    fn node(&self, seq: CommitSeq) -> Result<CommitNode, HistoryError> {
        self.inner.node(seq)
    }
    fn commit(&self, seq: CommitSeq) -> Result<Arc<Commit>, HistoryError> {
        self.inner.commit(seq)
    }
    fn writers(&self, document: &DocumentId, from: CommitSeq) -> Result<Vec<CommitSeq>, HistoryError> {
        self.inner.writers(document, from)
    }
    fn snapshot(&self, seq: CommitSeq) -> Result<Option<CommitState>, HistoryError> {
        Ok(self.snapshots.get(&seq).cloned())
    }
}

/// Loads the commits of a scenario in the given order.
fn load(schema: &DocumentSchema, commits: &[Json], order: &[usize]) -> MemoryCommits {
    let mut ids: BTreeMap<String, CommitId> = BTreeMap::new();
    let mut sealed = Vec::new();
    for json in commits {
        let mut content = json.clone();
        let name = types::text_of(&content["name"]);
        content.as_object_mut().unwrap().remove("name");
        for edge in ["parent", "target"] {
            if let Some(named) = json[edge].as_str() {
                content[edge] = json!(ids[named]);
            }
        }
        let commit = Commit::from_json(schema, &content).unwrap();
        ids.insert(name, commit.id());
        sealed.push(commit);
    }
    let mut store = MemoryCommits::new();
    for index in order {
        store.append(sealed[*index].clone()).unwrap();
    }
    store
}

/// Returns another order in which every commit comes after those that it names.
fn shuffled(rng: &mut Rng, commits: &[Json]) -> Vec<usize> {
    let mut left: Vec<usize> = (0..commits.len()).collect();
    let mut order: Vec<usize> = Vec::new();
    while !left.is_empty() {
        let names: Vec<&Json> = order.iter().map(|index: &usize| &commits[*index]["name"]).collect();
        let is_ready = |index: &usize| {
            ["parent", "target"]
                .iter()
                .all(|edge| commits[*index][edge].is_null() || names.contains(&&commits[*index][edge]))
        };
        let ready: Vec<usize> = (0..left.len()).filter(|at| is_ready(&left[*at])).collect();
        let at = *rng.pick(&ready);
        order.push(left.remove(at));
    }
    order
}

#[test]
fn neither_snapshots_nor_the_order_of_insertion_matter() {
    for_each_history(HISTORIES / 8, |seed, given, _| {
        let schema = DocumentSchema::from_json(&given["schema"]).unwrap();
        let commits = types::items(&given["commits"]);
        let in_order: Vec<usize> = (0..commits.len()).collect();
        let store = load(&schema, commits, &in_order);
        let mut rng = Rng(seed);
        let other = load(&schema, commits, &shuffled(&mut rng, commits));
        assert_eq!(store.heads(), other.heads(), "seed {seed}");
        let mut sparse = Sparse { inner: &store, snapshots: BTreeMap::new() };
        let plain: Vec<(CommitId, CommitState)> = store
            .iter()
            .map(|commit| (commit.id(), DocumentEngine::new(&sparse).state(&commit.id()).unwrap()))
            .collect();
        for (id, state) in &plain {
            if rng.percent(40) {
                sparse.snapshots.insert(store.find(id).unwrap().unwrap(), state.clone());
            }
        }
        for (id, state) in &plain {
            let expected = state.to_json(&schema);
            let is_same = |found: CommitState| found.to_json(&schema) == expected;
            assert!(
                is_same(DocumentEngine::new(&sparse).state(id).unwrap()),
                "seed {seed}: snapshots change {id}"
            );
            assert!(is_same(DocumentEngine::new(&store).state(id).unwrap()), "seed {seed}: {id}");
            assert!(
                is_same(DocumentEngine::new(&other).state(id).unwrap()),
                "seed {seed}: the order changes {id}"
            );
            for (document, value) in state.documents() {
                let found = DocumentEngine::new(&sparse).document(id, document).unwrap();
                assert_eq!(found.as_ref(), Some(value), "seed {seed}: {document:?} at {id}");
            }
        }
    });
}

#[test]
fn a_merge_is_judged_the_same_before_it_is_written() {
    for_each_history(HISTORIES / 8, |seed, given, _| {
        let schema = DocumentSchema::from_json(&given["schema"]).unwrap();
        let commits = types::items(&given["commits"]);
        let store = load(&schema, commits, &(0..commits.len()).collect::<Vec<_>>());
        for (index, merge) in
            store.iter().enumerate().filter(|(_, commit)| commit.kind() == CommitKind::Merge)
        {
            let before = load(&schema, commits, &(0..index).collect::<Vec<_>>());
            let (ours, theirs) = (merge.parent().unwrap(), merge.target().unwrap());
            let (again, analysis) = MergeAnalyzer::new(&schema, &before)
                .analyze_virtual_merge(ours, theirs, merge.stamp().clone())
                .unwrap();
            assert_eq!(again.id(), merge.id());
            let written = MergeAnalyzer::new(&schema, &store).analyze_merge(&merge.id()).unwrap();
            assert_eq!(analysis, written, "seed {seed}");
            let copy: MergeAnalysis =
                serde_json::from_value(serde_json::to_value(&analysis).unwrap()).unwrap();
            assert_eq!(copy, analysis, "seed {seed}: an analysis is plain data");
        }
    });
}

#[test]
fn replaying_a_difference_gives_the_other_state() {
    for_each_history(HISTORIES / 8, |seed, given, _| {
        let schema = DocumentSchema::from_json(&given["schema"]).unwrap();
        let commits = types::items(&given["commits"]);
        let store = load(&schema, commits, &(0..commits.len()).collect::<Vec<_>>());
        let states: Vec<CommitState> =
            store.iter().map(|commit| DocumentEngine::new(&store).state(&commit.id()).unwrap()).collect();
        let mut rng = Rng(seed);
        let (a, b) = (rng.pick(&states), rng.pick(&states));
        if a.documents().any(|(id, _)| b.document(id).is_none()) {
            return; // A document cannot be deleted.
        }
        let stamp = CommitStamp::new("ann", "", 0).unwrap();
        let mut fresh = MemoryCommits::new();
        let first = Commit::mutations(&schema, None, diff(&CommitState::default(), a), stamp.clone());
        let first = fresh.append(first).unwrap();
        let second = Commit::mutations(&schema, Some(first), diff(a, b), stamp);
        let second = fresh.append(second).unwrap();
        assert_eq!(DocumentEngine::new(&fresh).state(&second).unwrap(), *b, "seed {seed}");
    });
}
