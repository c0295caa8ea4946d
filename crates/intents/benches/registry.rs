//! The cost of a start and a finish among a thousand live intents.

use criterion::{Criterion, criterion_group, criterion_main};
use probity_intents::hygiene::{DirtyEntry, DirtyStatus, StartSnapshot};
use probity_intents::registry::{
    CommandContext, CommandDecision, IntentBase, IntentDeclaration, RegistryAction, RegistryCommand,
};
use probity_intents::start::{DirtyScopePolicy, OnConflict};
use probity_intents::{
    CommandId, FinishState, IntentId, IntentOwner, IntentRegistry, IntentScope, ScopeEntry, Timestamp,
    hygiene_finish,
};
use std::hint::black_box;

fn start(name: &str, path: &str) -> RegistryCommand {
    let declaration = IntentDeclaration {
        intent_id: IntentId::parse(name).expect("an id"),
        description: "a change".into(),
        expected_effects: Vec::new(),
        scope: IntentScope { allowed_files: [ScopeEntry::new(path)].into(), ..IntentScope::default() },
        ttl_seconds: 3600,
        lease_seconds: 300,
        base: IntentBase::default(),
        task: None,
    };
    RegistryCommand {
        id: CommandId::parse(format!("c-{name}")).expect("an id"),
        by: IntentOwner { host: "h".into(), token: Some(name.into()), ..IntentOwner::default() },
        action: RegistryAction::Start {
            declaration,
            dirty_scope_policy: DirtyScopePolicy::Block,
            on_conflict: OnConflict::Block,
        },
    }
}

fn a_thousand() -> IntentRegistry {
    let seen = CommandContext { run_available: true, ..CommandContext::default() };
    let mut registry = IntentRegistry::default();
    for n in 0..1_000 {
        let command = start(&format!("i{n}"), &format!("dir{}/file{n}.rs", n % 50));
        if let Ok(CommandDecision::Append(event)) = registry.decide(&seen, &command) {
            registry.apply(&event);
        }
    }
    registry
}

fn among_a_thousand(criterion: &mut Criterion) {
    let registry = a_thousand();
    let seen = CommandContext { run_available: true, ..CommandContext::default() };
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
    let reader = IntentOwner { host: "h".into(), token: Some("me".into()), ..IntentOwner::default() };
    let state = FinishState {
        scope: IntentScope { allowed_files: [ScopeEntry::new("mine")].into(), ..IntentScope::default() },
        evidence: [ScopeEntry::new("mine")].into(),
        start_snapshot: Some(StartSnapshot::Available { entries: dirty.clone() }),
        dirty,
        foreign_intents: registry.peers(&reader, &CommandContext { now: Timestamp(1), ..seen.clone() }, None),
        strict: true,
    };
    criterion.bench_function("hygiene of 1,000 dirty paths and 1,000 intents", |bench| {
        bench.iter(|| hygiene_finish(black_box(&state)));
    });
}

criterion_group!(benches, among_a_thousand);
criterion_main!(benches);
