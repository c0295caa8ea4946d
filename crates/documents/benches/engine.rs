//! Benchmarks of the engine: commits with an up-to-date state, cold reads, and merges with their analysis.
//!
//! `cargo bench -p probity-documents` measures; `cargo test --benches` runs everything once.

#![allow(missing_docs, clippy::unwrap_used)]

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use probity_documents::{
    CommitId, CommitOverlay, CommitStamp, DocumentEngine, DocumentId, DocumentSchema, MemoryCommits,
    MergeAnalyzer, MutationBuilder, reduce_heads,
};
use serde_json::{Value as Json, json};
use std::hint::black_box;

fn schema() -> DocumentSchema {
    DocumentSchema::from_json(&json!({
        "structs": {"Ticket": [["title", "string"], ["rank", "int64"], ["labels", "set<string>"]]},
        "attachments": {"ticket": "Ticket", "tags": "set<string>", "feed": "xarray<string>"},
    }))
    .unwrap()
}

fn stamp(time: usize) -> CommitStamp {
    CommitStamp::new("ann", "bench", i64::try_from(time).unwrap()).unwrap()
}

fn commit(
    store: &mut MemoryCommits,
    schema: &DocumentSchema,
    parent: Option<CommitId>,
    time: usize,
    record: impl FnOnce(&mut MutationBuilder<'_>),
) -> CommitId {
    let mut mutations = MutationBuilder::new(schema);
    record(&mut mutations);
    store.append(mutations.commit(parent, stamp(time))).unwrap()
}

fn create(mutations: &mut MutationBuilder<'_>, n_documents: usize) {
    for number in 0..n_documents {
        let ticket = json!({"title": "first", "rank": 0, "labels": ["blue", "red"]});
        mutations.document("ticket", &format!("t{number}")).set(&ticket).unwrap();
    }
}

fn rank_of(mutations: &mut MutationBuilder<'_>, number: usize, rank: usize) {
    let path = json!([{"field": "rank"}]);
    mutations.document("ticket", &format!("t{number}")).update(&path, &json!(rank)).unwrap();
}

/// Builds a chain of one-field updates over 100 documents.
fn chain(schema: &DocumentSchema, length: usize) -> (MemoryCommits, CommitId) {
    let mut store = MemoryCommits::new();
    let mut head = commit(&mut store, schema, None, 0, |m| create(m, 100));
    for number in 1..length {
        head = commit(&mut store, schema, Some(head), number, |m| rank_of(m, number % 100, number));
    }
    (store, head)
}

fn commits(criterion: &mut Criterion) {
    let schema = schema();
    let mut group = criterion.benchmark_group("commit one field, state kept current");
    group.throughput(Throughput::Elements(1000)).sample_size(20);
    for length in [1, 10_000, 100_000] {
        let (mut store, mut head) = chain(&schema, length);
        let mut number = length;
        group.bench_function(format!("after {length} commits"), |bencher| {
            bencher.iter(|| {
                for _ in 0..1000 {
                    head =
                        commit(&mut store, &schema, Some(head), number, |m| rank_of(m, number % 100, number));
                    number += 1;
                }
            });
        });
    }
    group.finish();
}

fn reads(criterion: &mut Criterion) {
    let schema = schema();
    let (store, _) = chain(&schema, 100_000);
    // One before the last snapshot: the longest distance from a kept state.
    let far = store.iter().nth(99_839).unwrap().id();
    let document = DocumentId::new("ticket", "t42");
    criterion.bench_function("cold read of one document after 100000 commits", |bencher| {
        bencher.iter(|| DocumentEngine::new(&store).document(black_box(&far), &document).unwrap());
    });
    criterion.bench_function("cold read of the state of 100 documents after 100000 commits", |bencher| {
        bencher.iter(|| DocumentEngine::new(&store).state(black_box(&far)).unwrap());
    });
    let mut store = MemoryCommits::new();
    let mut head = commit(&mut store, &schema, None, 0, |m| {
        m.document("tags", "k").set(&json!([])).unwrap();
    });
    for number in 0..10_000 {
        let members = json!([format!("tag {number}")]);
        head = commit(&mut store, &schema, Some(head), number, |m| {
            m.document("tags", "k").union_in_set(&json!([]), &members).unwrap();
        });
    }
    let document = DocumentId::new("tags", "k");
    criterion.bench_function("read of a set after 10000 unions", |bencher| {
        bencher.iter(|| DocumentEngine::new(&store).document(black_box(&head), &document).unwrap());
    });
}

fn inserts(criterion: &mut Criterion) {
    let schema = schema();
    criterion.bench_function("10000 inserts at the front of an xarray", |bencher| {
        bencher.iter(|| {
            let mut store = MemoryCommits::new();
            let empty = json!({"order": [], "elements": {}});
            let root = commit(&mut store, &schema, None, 0, |m| {
                m.document("feed", "k").set(&empty).unwrap();
            });
            commit(&mut store, &schema, Some(root), 1, |m| {
                let mut before = "END".to_owned();
                for number in 0..10_000 {
                    let position = format!("p{number}");
                    let value = json!("x");
                    m.document("feed", "k").insert_in_xarray(&json!([]), &before, &position, &value).unwrap();
                    before = position;
                }
            })
        });
    });
}

/// Builds two heads that each wrote 10,000 documents, one commit per document, 1,000 of them in the same field.
fn two_streams(schema: &DocumentSchema) -> (MemoryCommits, CommitId, CommitId) {
    let mut store = MemoryCommits::new();
    let root = commit(&mut store, schema, None, 0, |m| create(m, 20_000));
    let (mut ours, mut theirs) = (root, root);
    for number in 0..10_000 {
        ours = commit(&mut store, schema, Some(ours), number, |m| rank_of(m, number, 1));
        theirs = commit(&mut store, schema, Some(theirs), number, |m| {
            if number < 1000 {
                rank_of(m, number, 2);
            } else {
                let (path, title): (Json, Json) = (json!([{"field": "title"}]), json!("theirs"));
                m.document("ticket", &format!("t{number}")).update(&path, &title).unwrap();
            }
        });
    }
    (store, ours, theirs)
}

fn merges(criterion: &mut Criterion) {
    let schema = schema();
    let (store, ours, theirs) = two_streams(&schema);
    let mut group = criterion.benchmark_group("merge");
    group.sample_size(20);
    group.bench_function("merge and analyze 10000 documents written by both, 1000 conflicts", |bencher| {
        bencher.iter_batched(
            || stamp(1),
            |stamp| {
                let analyzer = MergeAnalyzer::new(&schema, &store);
                let (_, analysis) = analyzer.analyze_virtual_merge(ours, theirs, stamp).unwrap();
                assert_eq!(analysis.conflicts().len(), 1000);
            },
            BatchSize::SmallInput,
        );
    });
    group.bench_function("reduce two heads", |bencher| {
        bencher.iter(|| {
            let heads: Vec<_> = store.heads().iter().map(|id| store.get(id).unwrap().into()).collect();
            let mut overlay = CommitOverlay::new(&store);
            for merge in reduce_heads(&heads) {
                overlay.append(merge).unwrap();
            }
        });
    });
    group.finish();
}

criterion_group!(benches, commits, reads, inserts, merges);
criterion_main!(benches);
