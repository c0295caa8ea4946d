//! Shared by the registry's tests: owners, declarations, a log with its registry.

#![allow(dead_code, reason = "each test binary uses its own part")]

use probity_intents::registry::{
    CommandContext, CommandDecision, CommandRefusal, EventSeq, IntentBase, IntentDeclaration, IntentRegistry,
    RegistryAction, RegistryCommand, RegistryEvent,
};
use probity_intents::start::{DirtyScopePolicy, OnConflict};
use probity_intents::{CommandId, IntentId, IntentOwner, IntentScope, ScopeEntry, Timestamp};

pub(crate) fn owner(name: &str, pid: u32) -> IntentOwner {
    IntentOwner {
        host: "h".into(),
        boot_id: Some("b".into()),
        pid,
        pid_start: Some(1),
        token: Some(format!("token-{name}")),
        label: name.into(),
        ..IntentOwner::default()
    }
}

pub(crate) fn id(text: &str) -> IntentId {
    IntentId::parse(text).expect("an id")
}

pub(crate) fn scope(paths: &[&str]) -> IntentScope {
    IntentScope { allowed_files: paths.iter().map(ScopeEntry::new).collect(), ..IntentScope::default() }
}

pub(crate) fn declaration(intent: &str, paths: &[&str]) -> IntentDeclaration {
    IntentDeclaration {
        intent_id: id(intent),
        description: "a change".into(),
        expected_effects: Vec::new(),
        scope: scope(paths),
        ttl_seconds: 120,
        lease_seconds: 60,
        base: IntentBase::default(),
        task: None,
    }
}

pub(crate) fn start(intent: &str, paths: &[&str], on_conflict: OnConflict) -> RegistryAction {
    RegistryAction::Start {
        declaration: declaration(intent, paths),
        dirty_scope_policy: DirtyScopePolicy::Block,
        on_conflict,
    }
}

pub(crate) fn promote(intent: &str) -> RegistryAction {
    RegistryAction::Promote {
        intent_id: id(intent),
        base: IntentBase { run_id: "later".into(), ..IntentBase::default() },
        dirty_scope_policy: DirtyScopePolicy::Block,
    }
}

pub(crate) fn release(intent: &str, token: EventSeq) -> RegistryAction {
    RegistryAction::Release { intent_id: id(intent), token, receipt: None, work: None }
}

pub(crate) fn command(name: &str, by: &IntentOwner, action: RegistryAction) -> RegistryCommand {
    RegistryCommand { id: CommandId::parse(name).expect("an id"), by: by.clone(), action }
}

pub(crate) fn seen(now: u64) -> CommandContext {
    CommandContext { now: Timestamp(now), run_available: true, ..CommandContext::default() }
}

#[derive(Default)]
pub(crate) struct World {
    pub(crate) registry: IntentRegistry,
    pub(crate) log: Vec<RegistryEvent>,
    n_commands: u32,
}

impl World {
    /// Runs a command and stores the event it leads to.
    pub(crate) fn run(
        &mut self,
        now: u64,
        by: &IntentOwner,
        action: RegistryAction,
    ) -> Result<RegistryEvent, CommandRefusal> {
        self.run_in(&seen(now), by, action)
    }

    pub(crate) fn run_in(
        &mut self,
        seen: &CommandContext,
        by: &IntentOwner,
        action: RegistryAction,
    ) -> Result<RegistryEvent, CommandRefusal> {
        self.n_commands += 1;
        let name = format!("c{}", self.n_commands);
        match self.registry.decide(seen, &command(&name, by, action))? {
            CommandDecision::Append(event) => {
                self.registry.check_next(&event).expect("a decided event is the next");
                self.registry.apply(&event);
                self.log.push((*event).clone());
                Ok(*event)
            }
            other => panic!("expected an event, not {other:?}"),
        }
    }
}
