//! The other intents, as they lie to one scope.

use super::frame::Frame;
use super::view::LISTED;
use crate::registry::view::time;
use probity_api::change::{DetailLevel, Neighbour, NeighbourAction, Neighbours};
use probity_intents::registry::{Circumstances, Intent, Registry};
use probity_intents::{
    IntentId, IntentScope, Owner, Ownership, Peer, Relation, RelationKind, Status, relations,
};
use std::collections::BTreeSet;

/// The registry as one owner sees it at one moment.
pub(crate) struct Seen<'a> {
    pub(crate) registry: &'a Registry,
    pub(crate) owner: &'a Owner,
    pub(crate) circumstances: &'a Circumstances,
    pub(crate) frame: &'a Frame,
    /// The intents that are the reader's own by a handle kept in this worktree.
    pub(crate) kept: &'a BTreeSet<IntentId>,
}

impl Seen<'_> {
    /// Every open intent but `except`, as the rules want it.
    pub(crate) fn peers(&self, except: Option<&IntentId>) -> Vec<Peer> {
        self.open(except).map(|intent| self.peer(intent)).collect()
    }

    /// The open intents of this working tree but `except`: only they can have made its dirt.
    pub(crate) fn peers_here(&self, except: &IntentId) -> Vec<Peer> {
        let is_here =
            |intent: &&Intent| intent.base.tree.as_ref().is_none_or(|tree| self.frame.shares_tree(tree));
        self.open(Some(except)).filter(is_here).map(|intent| self.peer(intent)).collect()
    }

    /// How the others lie to `scope` (named as in the registry).
    pub(crate) fn neighbours(
        &self,
        scope: &IntentScope,
        except: Option<&IntentId>,
        detail: DetailLevel,
    ) -> Neighbours {
        let mut found = Neighbours::default();
        let mut owners = BTreeSet::new();
        for intent in self.open(except) {
            let peer = self.peer(intent);
            owners.insert((&intent.owner.token, &intent.owner.host, intent.owner.pid));
            found.stale_count += usize::from(peer.is_live() && peer.ownership == Ownership::ForeignStale);
            let relation = relations(scope, &peer.scope);
            if relation.relation == RelationKind::None {
                continue;
            }
            let neighbour = self.neighbour(intent, &peer, &relation);
            let conflicts = neighbour.relation == RelationKind::EditOverlap;
            if conflicts && peer.is_live() {
                found.concurrent_intents.push(neighbour.clone());
            }
            if conflicts && peer.status == Status::Queued {
                found.queued_context.push(neighbour.clone());
            }
            found.workspace_relations.push(neighbour);
        }
        found.total_agents = owners.len();
        if detail != DetailLevel::Full {
            for list in
                [&mut found.concurrent_intents, &mut found.workspace_relations, &mut found.queued_context]
            {
                list.truncate(LISTED);
            }
        }
        found
    }

    fn open(&self, except: Option<&IntentId>) -> impl Iterator<Item = &Intent> {
        self.registry.open_intents().filter(move |intent| Some(&intent.id) != except)
    }

    /// One intent, as the rules want it.
    pub(crate) fn peer(&self, intent: &Intent) -> Peer {
        Peer {
            intent_id: intent.id.clone(),
            ownership: intent.ownership(self.owner, self.circumstances),
            status: intent.status,
            scope: intent.scope.clone(),
        }
    }

    fn neighbour(&self, intent: &Intent, peer: &Peer, relation: &Relation) -> Neighbour {
        Neighbour {
            intent_id: intent.id.clone(),
            agent_label: intent.owner.label.clone(),
            agent_pid: intent.owner.pid,
            intent: intent.description.clone(),
            ownership: peer.ownership,
            relation: relation.relation,
            handle_kept: self.kept.contains(&intent.id),
            overlap_type: relation.overlap_type,
            hard_overlap: self.frame.entries_down(&relation.hard_overlap),
            soft_overlap: self.frame.entries_down(&relation.soft_overlap),
            excluded: self.frame.entries_down(&relation.excluded),
            recommended_action: action(peer),
            declared_at: time(intent.declared_at),
            lease_expires_at: time(intent.lease(self.circumstances).ends_at()),
            expires_at: time(intent.expires_at),
        }
    }
}

/// What to do about another intent. Never: end its process.
const fn action(peer: &Peer) -> NeighbourAction {
    match (peer.status, peer.ownership) {
        (_, Ownership::OwnActive | Ownership::OwnStale) => NeighbourAction::FinishAmendOrClearYourOwn,
        (_, Ownership::Recoverable) => NeighbourAction::RecoverOrStartOverIt,
        (_, Ownership::Expired) => NeighbourAction::StartOverIt,
        (Status::Queued, _) => NeighbourAction::NoneItWaits,
        (_, Ownership::ForeignStale) => NeighbourAction::CoordinateOrWaitForItsEnd,
        (_, Ownership::ForeignActive) => NeighbourAction::StopAndCoordinate,
    }
}
