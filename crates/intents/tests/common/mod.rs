//! Shared by the registry's tests: owners, declarations, a log with its registry.

#![allow(dead_code, reason = "each test binary uses its own part")]

use probity_intents::registry::{
    Action, Base, Circumstances, Command, Decision, Declaration, Event, Refusal, Registry, Seq,
};
use probity_intents::start::{DirtyScopePolicy, OnConflict};
use probity_intents::{CommandId, Entry, IntentId, IntentScope, Owner, Timestamp};

pub(crate) fn owner(name: &str, pid: u32) -> Owner {
    Owner {
        host: "h".into(),
        boot_id: Some("b".into()),
        pid,
        pid_start: Some(1),
        token: Some(format!("token-{name}")),
        label: name.into(),
    }
}

pub(crate) fn id(text: &str) -> IntentId {
    IntentId::parse(text).expect("an id")
}

pub(crate) fn scope(paths: &[&str]) -> IntentScope {
    IntentScope { allowed_files: paths.iter().map(Entry::new).collect(), ..IntentScope::default() }
}

pub(crate) fn declaration(intent: &str, paths: &[&str]) -> Declaration {
    Declaration {
        intent_id: id(intent),
        description: "a change".into(),
        expected_effects: Vec::new(),
        scope: scope(paths),
        ttl_seconds: 120,
        lease_seconds: 60,
        base: Base::default(),
    }
}

pub(crate) fn start(intent: &str, paths: &[&str], on_conflict: OnConflict) -> Action {
    Action::Start {
        declaration: declaration(intent, paths),
        dirty_scope_policy: DirtyScopePolicy::Block,
        on_conflict,
    }
}

pub(crate) fn promote(intent: &str) -> Action {
    Action::Promote {
        intent_id: id(intent),
        base: Base { run_id: "later".into(), ..Base::default() },
        dirty_scope_policy: DirtyScopePolicy::Block,
    }
}

pub(crate) fn release(intent: &str, token: Seq) -> Action {
    Action::Release { intent_id: id(intent), token, receipt: None }
}

pub(crate) fn command(name: &str, by: &Owner, action: Action) -> Command {
    Command { id: CommandId::parse(name).expect("an id"), by: by.clone(), action }
}

pub(crate) fn seen(now: u64) -> Circumstances {
    Circumstances { now: Timestamp(now), run_available: true, ..Circumstances::default() }
}

#[derive(Default)]
pub(crate) struct World {
    pub(crate) registry: Registry,
    pub(crate) log: Vec<Event>,
    n_commands: u32,
}

impl World {
    /// Runs a command and stores the event it leads to.
    pub(crate) fn run(&mut self, now: u64, by: &Owner, action: Action) -> Result<Event, Refusal> {
        self.run_in(&seen(now), by, action)
    }

    pub(crate) fn run_in(
        &mut self,
        seen: &Circumstances,
        by: &Owner,
        action: Action,
    ) -> Result<Event, Refusal> {
        self.n_commands += 1;
        let name = format!("c{}", self.n_commands);
        match self.registry.decide(seen, &command(&name, by, action))? {
            Decision::Append(event) => {
                self.registry.check_next(&event).expect("a decided event is the next");
                self.registry.apply(&event);
                self.log.push((*event).clone());
                Ok(*event)
            }
            other => panic!("expected an event, not {other:?}"),
        }
    }
}
