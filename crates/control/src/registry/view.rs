//! The registry as one reader sees it: what every surface shows of an intent.

use super::{Done, Shell};
use crate::{Fault, clock};
use intent::registry::{Amendment, Base, Circumstances, Event, Intent, Refusal, Seq};
use intent::{IntentId, IntentScope, Owner, Ownership, Status, Timestamp};
use serde::Serialize;
use serde_json::{Value, json};

/// An intent as a reader sees it.
#[derive(Debug, Clone, Serialize)]
pub struct IntentView {
    /// Its id.
    pub intent_id: IntentId,
    /// What the record says about its life.
    pub status: Status,
    /// How it lies to the reader.
    pub ownership: Ownership,
    /// Whether it is the reader's own.
    pub is_own: bool,
    /// Whether it is the reader's own by a handle kept in this worktree.
    pub handle_kept: bool,
    /// What it is for.
    pub description: String,
    /// What its owner expects of it.
    pub expected_effects: Vec<String>,
    /// What it may touch, amendments included.
    pub scope: IntentScope,
    /// Who holds it.
    pub owner: OwnerView,
    /// What people call its owner; the same as `owner.label`.
    pub agent: String,
    /// For how long its owner has promised to be alive.
    pub lease_seconds: u64,
    /// How long that still lasts; 0 if it lapsed.
    pub lease_expires_in_seconds: u64,
    /// When it was declared.
    pub declared_at: String,
    /// When it ends, whatever its owner does.
    pub expires_at: String,
    /// When it was closed.
    pub closed_at: Option<String>,
    /// Where it starts from.
    pub base: Base,
    /// The fencing token; `None` while it waits.
    pub fencing_token: Option<Seq>,
    /// Its place in the queue while it waits.
    pub queue_position: Option<usize>,
    /// How its scope grew.
    pub amendments: Vec<AmendmentView>,
    /// The numbers of the events that changed it.
    pub history: Vec<Seq>,
}

/// Who holds an intent, without what proves it.
#[derive(Debug, Clone, Serialize)]
pub struct OwnerView {
    /// What people call the agent.
    pub label: String,
    /// The host.
    pub host: String,
    /// The process, if one was named.
    pub pid: Option<u32>,
}

/// A widening of a scope.
#[derive(Debug, Clone, Serialize)]
pub struct AmendmentView {
    /// The event that did it.
    pub seq: Seq,
    /// When.
    pub at: String,
    /// Who.
    pub by: String,
    /// Why.
    pub why: String,
    /// What was added to `allowed_files`.
    pub allowed_files: intent::Entries,
    /// What was added to `allowed_related`.
    pub allowed_related: intent::Entries,
}

impl From<&Owner> for OwnerView {
    fn from(owner: &Owner) -> Self {
        let pid = Some(owner.pid).filter(|&pid| pid != 0);
        Self { label: owner.label.clone(), host: owner.host.clone(), pid }
    }
}

impl From<&Amendment> for AmendmentView {
    fn from(amendment: &Amendment) -> Self {
        Self {
            seq: amendment.seq,
            at: time(amendment.at),
            by: amendment.by.label.clone(),
            why: amendment.why.clone(),
            allowed_files: amendment.allowed_files.clone(),
            allowed_related: amendment.allowed_related.clone(),
        }
    }
}

impl Shell {
    /// Every intent as `reader` sees it, by id; closed ones only if asked for.
    pub fn views(&self, reader: &Owner, closed_too: bool) -> Result<Vec<IntentView>, Fault> {
        let seen = self.circumstances()?;
        let view = |intent| self.view(intent, reader, &seen);
        Ok(if closed_too {
            self.registry.intents().map(view).collect()
        } else {
            self.registry.open_intents().map(view).collect()
        })
    }

    /// One intent as `reader` sees it. Any beginning of its id will do that no other has.
    pub fn find(&self, reader: &Owner, id: &str) -> Result<IntentView, Fault> {
        let intent = self.resolve(id)?;
        Ok(self.view(intent, reader, &self.circumstances()?))
    }

    /// What was done, as every surface tells it.
    pub fn done_document(&self, by: &Owner, done: &Done) -> Result<Value, Fault> {
        let event = done.event.as_ref();
        let id = event.and_then(|event| event.change.intent_id());
        let view = id.map(|id| self.find(by, id.as_str())).transpose()?;
        Ok(json!({
            "status": if event.is_some() { "done" } else { "nothing_to_do" },
            "intent": view,
            "event": event.map(event_json),
            "notices": done.notices,
        }))
    }

    /// The intent whose id is `id` or begins with it.
    pub fn resolve(&self, id: &str) -> Result<&Intent, Fault> {
        let mut found = self.registry.intents().filter(|intent| intent.id.as_str().starts_with(id));
        match (found.next(), found.next()) {
            (Some(one), _) if one.id.as_str() == id => Ok(one),
            (Some(one), None) if !id.is_empty() => Ok(one),
            (Some(_), Some(_)) if !id.is_empty() => {
                Err(Fault::Missing(format!("more than one intent begins with `{id}`")))
            }
            _ => match IntentId::parse(id) {
                Ok(intent_id) => Err(Refusal::UnknownIntent { intent_id }.into()),
                Err(error) => Err(Fault::Missing(error.to_string())),
            },
        }
    }

    fn view(&self, intent: &Intent, reader: &Owner, seen: &Circumstances) -> IntentView {
        let ownership = intent.ownership(reader, seen);
        let lease = intent.lease(seen);
        IntentView {
            intent_id: intent.id.clone(),
            status: intent.status,
            ownership,
            is_own: intent.owner.is(reader),
            handle_kept: false,
            description: intent.description.clone(),
            expected_effects: intent.expected_effects.clone(),
            scope: intent.scope.clone(),
            owner: (&intent.owner).into(),
            agent: intent.owner.label.clone(),
            lease_seconds: lease.seconds,
            lease_expires_in_seconds: lease.ends_at().0.saturating_sub(seen.now.0),
            declared_at: time(intent.declared_at),
            expires_at: time(intent.expires_at),
            closed_at: intent.closed_at.map(time),
            base: intent.base.clone(),
            fencing_token: intent.token,
            queue_position: self.registry.queue_position(&intent.id, reader, seen),
            amendments: intent.amendments.iter().map(Into::into).collect(),
            history: intent.history.clone(),
        }
    }
}

/// A time as people and programs read it.
pub fn time(at: Timestamp) -> String {
    clock::rfc3339(at.0)
}

/// An event with its digest, and its time in words.
pub fn event_json(event: &Event) -> Value {
    let mut value = json!(event);
    value["digest"] = json!(event.digest());
    value["at_utc"] = time(event.at).into();
    value
}
