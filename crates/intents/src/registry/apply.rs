//! Applies stored events. Total: an event about an unknown intent only advances the head.

use super::{
    ClosureReason, Intent, IntentDeclaration, IntentLife, IntentRegistry, MAX_REMEMBERED_COMMANDS,
    NoticeKind, OwnerNotice, RegistryChange, RegistryEvent, RegistryHead, owner_key,
};
use crate::coherence::{LineChange, ReleasedWork};
use crate::owner::{IntentOwner, Lease, Timestamp};
use crate::record::{IntentId, IntentStatus};
use crate::relations::relations;
use crate::scope::ScopeEntrySet;
use probity_core::Digest;
use std::collections::BTreeSet;

/// How many paths a notice names.
const MAX_NOTICE_PATHS: usize = 20;

impl IntentRegistry {
    /// Applies the next event of the log.
    pub fn apply(&mut self, event: &RegistryEvent) {
        self.apply_stored(event, event.digest());
    }

    /// Like [`Self::apply`], with the known digest of the event's canonical bytes as stored.
    pub fn apply_stored(&mut self, event: &RegistryEvent, digest: Digest) {
        self.head = RegistryHead { seq: event.seq, digest };
        self.remember(event);
        self.remove_delivered_notices(event);
        if let Some(published) = &event.clone_log {
            self.clone_logs.note(published, event.seq, &event.by);
        }
        match &event.change {
            RegistryChange::Granted { declaration, displaced, passed, announced, lacks } => {
                self.displace(event, displaced, &declaration.intent_id);
                self.count_passes(passed);
                self.open(Intent {
                    token: Some(event.seq),
                    lacked: lacks.clone(),
                    ..declared(event, declaration, IntentStatus::Active)
                });
                self.announce(event, &declaration.intent_id, announced);
            }
            RegistryChange::Queued { declaration } => {
                self.open(Intent {
                    queued_at: Some(event.seq),
                    ..declared(event, declaration, IntentStatus::Queued)
                });
            }
            RegistryChange::Promoted { intent_id, base, displaced, passed, announced, lacks } => {
                self.displace(event, displaced, intent_id);
                self.count_passes(passed);
                self.update_intent(event, intent_id, |intent| {
                    intent.status = IntentStatus::Active;
                    intent.token = Some(event.seq);
                    intent.base = base.clone();
                    intent.lacked.clone_from(lacks);
                    intent.lease.renewed_at = event.at;
                });
                self.announce(event, intent_id, announced);
            }
            RegistryChange::Renewed { intent_id, lease, expires_at } => {
                self.update_intent(event, intent_id, |intent| {
                    intent.lease = *lease;
                    intent.expires_at = *expires_at;
                    intent.life = IntentLife::given_by(event, *expires_at);
                });
            }
            RegistryChange::Amended { intent_id, amendment, displaced, announced } => {
                self.displace(event, displaced, intent_id);
                self.update_intent(event, intent_id, |intent| {
                    intent.scope.allowed_files.extend(amendment.allowed_files.iter().cloned());
                    intent.scope.allowed_related.extend(amendment.allowed_related.iter().cloned());
                    intent.amendments.push(amendment.clone());
                    intent.lease.renewed_at = event.at;
                });
                if let Some(intent) = self.intents.get(intent_id) {
                    self.open.insert(intent_id, &intent.scope);
                }
                self.announce(event, intent_id, announced);
            }
            RegistryChange::Released { intent_id, receipt, work } => {
                self.release(event, intent_id, *receipt, work.as_ref());
            }
            RegistryChange::Landed { intent_id, commit, branch } => {
                self.land(event, intent_id, commit, branch);
            }
            RegistryChange::Cleared { intent_id } => {
                self.notify_owner(event, intent_id, closed(ClosureReason::Cleared, None));
                self.close(event, intent_id, IntentStatus::Cleared);
            }
            RegistryChange::Recovered { intent_id, lease, expires_at } => {
                self.recover(event, intent_id, *lease, *expires_at);
            }
            RegistryChange::Collected { expired, forgotten } => self.collect(event, expired, forgotten),
            RegistryChange::LogAccepted { clone, breach, .. } => self.clone_logs.accept(clone, *breach),
        }
    }

    fn remember(&mut self, event: &RegistryEvent) {
        self.commands.insert(event.command.clone(), event.clone());
        self.command_order.insert(event.seq, event.command.clone());
        if self.command_order.len() > MAX_REMEMBERED_COMMANDS
            && let Some((_, oldest)) = self.command_order.pop_first()
        {
            self.commands.remove(&oldest);
        }
    }

    /// Removes the notices that the event delivers to its owner.
    fn remove_delivered_notices(&mut self, event: &RegistryEvent) {
        let process = IntentOwner { token: None, ..event.by.clone() };
        for key in [owner_key(&event.by), owner_key(&process)] {
            if let Some(waiting) = self.notices.get_mut(&key) {
                waiting.retain(|notice| !event.notices.contains(notice));
                if waiting.is_empty() {
                    self.notices.remove(&key);
                }
            }
        }
    }

    fn open(&mut self, intent: Intent) {
        self.open.insert(&intent.id, &intent.scope);
        self.open_ids.insert(intent.id.clone());
        self.intents.insert(intent.id.clone(), intent);
    }

    fn update_intent(&mut self, event: &RegistryEvent, id: &IntentId, change: impl FnOnce(&mut Intent)) {
        if let Some(intent) = self.intents.get_mut(id) {
            change(intent);
            intent.history.push(event.seq);
        }
    }

    fn close(&mut self, event: &RegistryEvent, id: &IntentId, status: IntentStatus) {
        let Some(intent) = self.intents.get_mut(id).filter(|intent| !intent.status.is_closed()) else {
            return;
        };
        // Whatever ends the wait for a landing: the change was finished.
        let is_landing = intent.status == IntentStatus::Landing;
        intent.status = if is_landing { IntentStatus::Released } else { status };
        intent.closed_at = Some(event.at);
        intent.history.push(event.seq);
        self.open.remove(id, &intent.scope);
        self.open_ids.remove(id);
    }

    /// Closes a finished intent, or lets it wait for its landing; remembers what it made of its paths.
    fn release(
        &mut self,
        event: &RegistryEvent,
        id: &IntentId,
        receipt: Option<Digest>,
        work: Option<&ReleasedWork>,
    ) {
        let Some(intent) = self.intents.get_mut(id).filter(|intent| !intent.status.is_closed()) else {
            return;
        };
        intent.receipt = receipt;
        if let Some(work) = work {
            let change = LineChange {
                intent_id: id.clone(),
                line: intent.base.line.clone().unwrap_or_default(),
                tree: intent.base.tree.clone(),
                agent: intent.owner.label.clone(),
                host: intent.owner.host.clone(),
                receipt,
                commit: work.commit.clone(),
                branch: None,
                became: work.became.iter().map(|entry| (entry.path.clone(), entry.content)).collect(),
                unlisted: if work.n_unlisted == 0 {
                    ScopeEntrySet::new()
                } else {
                    intent.scope.entries().cloned().collect()
                },
            };
            if !change.became.is_empty() {
                self.contents.add(event.seq, change);
            }
        }
        match work.and_then(|work| work.hold_seconds) {
            Some(seconds) => {
                intent.status = IntentStatus::Landing;
                intent.expires_at = event.at.plus_seconds(seconds);
                intent.life = IntentLife { since: event.seq, seconds };
                intent.history.push(event.seq);
            }
            None => self.close(event, id, IntentStatus::Released),
        }
    }

    /// Ends the wait of a finished intent, and tells those whose paths its work changed.
    fn land(&mut self, event: &RegistryEvent, id: &IntentId, commit: &str, branch: &str) {
        self.contents.land(id, commit, branch);
        let Some(change) = self.contents.change_of(id).filter(|change| change.is_on_line()).cloned() else {
            return self.close(event, id, IntentStatus::Released);
        };
        let is_concerned = |other: &&Intent| {
            other.status == IntentStatus::Active
                && other.id != *id
                && other.base.line.as_deref().unwrap_or_default() == change.line
                && !other.base.is_in_tree(change.tree.as_deref())
        };
        let concerned: Vec<(IntentId, NoticeKind)> = self
            .open_intents()
            .filter(is_concerned)
            .filter_map(|other| {
                let held = change.became.keys().filter(|path| other.scope.holds(path.as_bytes()).is_some());
                let paths: Vec<_> = held.take(MAX_NOTICE_PATHS).cloned().collect();
                let kind = NoticeKind::LandedUnder {
                    by: id.clone(),
                    agent: change.agent.clone(),
                    commit: commit.to_owned(),
                    branch: branch.to_owned(),
                    receipt: change.receipt,
                    paths,
                };
                let has_paths = matches!(&kind, NoticeKind::LandedUnder { paths, .. } if !paths.is_empty());
                has_paths.then(|| (other.id.clone(), kind))
            })
            .collect();
        for (other, kind) in concerned {
            self.notify(event, &other, kind);
        }
        self.close(event, id, IntentStatus::Released);
    }

    /// Notes an overlap that is allowed on both sides, and tells the owners of the others.
    fn announce(&mut self, event: &RegistryEvent, id: &IntentId, announced: &BTreeSet<IntentId>) {
        if announced.is_empty() {
            return;
        }
        self.update_announced(id, announced.iter().cloned());
        let Some(scope) = self.intents.get(id).map(|intent| intent.scope.clone()) else { return };
        for other_id in announced {
            self.update_announced(other_id, [id.clone()]);
            let Some(other) = self.intents.get(other_id) else { continue };
            let overlap = relations(&scope, &other.scope);
            let paths = overlap.hard_overlap.into_iter().chain(overlap.soft_overlap);
            let kind = NoticeKind::Overlap {
                by: id.clone(),
                agent: event.by.label.clone(),
                host: event.by.host.clone(),
                paths: paths.take(MAX_NOTICE_PATHS).collect(),
            };
            self.notify_owner(event, other_id, kind);
        }
    }

    fn update_announced(&mut self, id: &IntentId, others: impl IntoIterator<Item = IntentId>) {
        if let Some(intent) = self.intents.get_mut(id) {
            intent.announced.extend(others);
        }
    }

    fn displace(&mut self, event: &RegistryEvent, displaced: &BTreeSet<IntentId>, by: &IntentId) {
        for id in displaced {
            self.notify_owner(event, id, closed(ClosureReason::Displaced, Some(by.clone())));
            self.close(event, id, IntentStatus::Expired);
        }
    }

    fn count_passes(&mut self, passed: &BTreeSet<IntentId>) {
        for id in passed {
            if let Some(waiter) = self.intents.get_mut(id) {
                waiter.passed = waiter.passed.saturating_add(1);
            }
        }
    }

    fn recover(&mut self, event: &RegistryEvent, id: &IntentId, lease: Lease, expires_at: Timestamp) {
        self.notify_owner(event, id, NoticeKind::TakenOver { by: event.by.label.clone() });
        self.update_intent(event, id, |intent| {
            intent.owner = event.by.clone();
            intent.lease = lease;
            intent.expires_at = expires_at;
            intent.life = IntentLife::given_by(event, expires_at);
            if intent.status == IntentStatus::Active {
                intent.token = Some(event.seq);
            }
        });
    }

    fn collect(
        &mut self,
        event: &RegistryEvent,
        expired: &BTreeSet<IntentId>,
        forgotten: &BTreeSet<IntentId>,
    ) {
        for id in expired {
            self.notify_owner(event, id, closed(ClosureReason::Expired, None));
            self.close(event, id, IntentStatus::Expired);
        }
        for id in forgotten {
            self.intents.remove(id);
        }
    }

    /// Leaves a notice for the owner of an intent, unless that owner caused the event.
    fn notify_owner(&mut self, event: &RegistryEvent, id: &IntentId, kind: NoticeKind) {
        if self.intents.get(id).is_some_and(|intent| !intent.owner.is_same_owner(&event.by)) {
            self.notify(event, id, kind);
        }
    }

    /// Leaves a notice for the owner of an intent, also if that owner caused the event: who saw that something landed need
    /// not be who was told.
    fn notify(&mut self, event: &RegistryEvent, id: &IntentId, kind: NoticeKind) {
        if let Some(intent) = self.intents.get(id) {
            let notice = OwnerNotice { seq: event.seq, intent_id: id.clone(), kind };
            self.notices.entry(owner_key(&intent.owner)).or_default().push(notice);
        }
    }
}

const fn closed(why: ClosureReason, by: Option<IntentId>) -> NoticeKind {
    NoticeKind::Closed { why, by }
}

fn declared(event: &RegistryEvent, declaration: &IntentDeclaration, status: IntentStatus) -> Intent {
    Intent {
        id: declaration.intent_id.clone(),
        description: declaration.description.clone(),
        expected_effects: declaration.expected_effects.clone(),
        scope: declaration.scope.clone(),
        status,
        owner: event.by.clone(),
        lease: Lease { renewed_at: event.at, seconds: declaration.lease_seconds },
        expires_at: event.at.plus_seconds(declaration.ttl_seconds),
        life: IntentLife { since: event.seq, seconds: declaration.ttl_seconds },
        declared_at: event.at,
        base: declaration.base.clone(),
        task: declaration.task.clone(),
        token: None,
        queued_at: None,
        passed: 0,
        announced: BTreeSet::new(),
        lacked: BTreeSet::new(),
        receipt: None,
        amendments: Vec::new(),
        history: vec![event.seq],
        closed_at: None,
    }
}
