//! The cost of a start and a finish among a thousand live intents.

use criterion::{Criterion, criterion_group, criterion_main};
use probity_intents::hygiene::{DirtyEntry, DirtyStatus, StartSnapshot};
use probity_intents::registry::{Action, Base, Circumstances, Command, Decision, Declaration};
use probity_intents::start::{DirtyScopePolicy, OnConflict};
use probity_intents::{
    CommandId, Entry, FinishState, IntentId, IntentScope, Owner, Registry, Timestamp, hygiene_finish,
};
use std::hint::black_box;

fn start(name: &str, path: &str) -> Command {
    let declaration = Declaration {
        intent_id: IntentId::parse(name).expect("an id"),
        description: "a change".into(),
        expected_effects: Vec::new(),
        scope: IntentScope { allowed_files: [Entry::new(path)].into(), ..IntentScope::default() },
        ttl_seconds: 3600,
        lease_seconds: 300,
        base: Base::default(),
    };
    Command {
        id: CommandId::parse(format!("c-{name}")).expect("an id"),
        by: Owner { host: "h".into(), token: Some(name.into()), ..Owner::default() },
        action: Action::Start {
            declaration,
            dirty_scope_policy: DirtyScopePolicy::Block,
            on_conflict: OnConflict::Block,
        },
    }
}

fn a_thousand() -> Registry {
    let seen = Circumstances { run_available: true, ..Circumstances::default() };
    let mut registry = Registry::default();
    for n in 0..1_000 {
        let command = start(&format!("i{n}"), &format!("dir{}/file{n}.rs", n % 50));
        if let Ok(Decision::Append(event)) = registry.decide(&seen, &command) {
            registry.apply(&event);
        }
    }
    registry
}

fn among_a_thousand(criterion: &mut Criterion) {
    let registry = a_thousand();
    let seen = Circumstances { run_available: true, ..Circumstances::default() };
    let free = start("late", "elsewhere/x.rs");
    criterion.bench_function("start among 1,000 live intents, granted", |bench| {
        bench.iter(|| registry.decide(black_box(&seen), black_box(&free)));
    });
    let taken = start("late", "dir7");
    criterion.bench_function("start among 1,000 live intents, blocked by 20", |bench| {
        bench.iter(|| registry.decide(black_box(&seen), black_box(&taken)));
    });
    let dirty: Vec<DirtyEntry> = (0..1_000)
        .map(|n| DirtyEntry {
            path: probity_paths::RepoPath::parse(format!("dir{}/file{n}.rs", n % 50).as_bytes())
                .expect("a path"),
            status: DirtyStatus::Modified,
            digest: None,
        })
        .collect();
    let reader = Owner { host: "h".into(), token: Some("me".into()), ..Owner::default() };
    let state = FinishState {
        scope: IntentScope { allowed_files: [Entry::new("mine")].into(), ..IntentScope::default() },
        evidence: [Entry::new("mine")].into(),
        start_snapshot: Some(StartSnapshot::Available { entries: dirty.clone() }),
        dirty,
        foreign_intents: registry.peers(&reader, &Circumstances { now: Timestamp(1), ..seen.clone() }, None),
        strict: true,
    };
    criterion.bench_function("hygiene of 1,000 dirty paths and 1,000 intents", |bench| {
        bench.iter(|| hygiene_finish(black_box(&state)));
    });
}

criterion_group!(benches, among_a_thousand);
criterion_main!(benches);
