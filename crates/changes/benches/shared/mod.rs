//! The claim that all racers want.

use probity_intents::registry::{IntentBase, IntentDeclaration, RegistryAction};
use probity_intents::start::{DirtyScopePolicy, OnConflict};
use probity_intents::{IntentId, IntentScope, ScopeEntry};

pub(crate) fn start(intent_id: IntentId) -> RegistryAction {
    RegistryAction::Start {
        declaration: IntentDeclaration {
            intent_id,
            description: "a race".into(),
            expected_effects: Vec::new(),
            scope: IntentScope {
                allowed_files: [ScopeEntry::new("contended")].into(),
                ..IntentScope::default()
            },
            ttl_seconds: 3600,
            lease_seconds: 600,
            base: IntentBase::default(),
            task: None,
        },
        dirty_scope_policy: DirtyScopePolicy::Block,
        on_conflict: OnConflict::Block,
    }
}
