//! Relates other open intents to one scope.

use super::hygiene_view::MAX_LISTED_PATHS;
use super::root_mapping::RootMapping;
use crate::registry::view::format_time;
use probity_api::change::{
    ClaimRelationWord, ConcurrentWork, DetailLevel, RelatedIntent, RelatedIntentAction,
};
use probity_intents::registry::{CommandContext, Intent, IntentBase, IntentRegistry};
use probity_intents::{
    ClaimRelation, IntentId, IntentOwner, IntentScope, IntentStatus, Ownership, PeerIntent, RelationKind,
    ScopeOverlap, relations,
};
use std::collections::BTreeSet;

pub(crate) struct RegistryView<'a> {
    pub(crate) registry: &'a IntentRegistry,
    pub(crate) owner: &'a IntentOwner,
    pub(crate) context: &'a CommandContext,
    pub(crate) paths: &'a RootMapping,
    /// Intents that belong to the reader by a handle kept in this worktree.
    pub(crate) kept: &'a BTreeSet<IntentId>,
}

impl RegistryView<'_> {
    /// Returns the open intents that contend with a claim from `base`, except `except`.
    pub(crate) fn contenders(
        &self,
        scope: &IntentScope,
        base: &IntentBase,
        except: Option<&IntentId>,
    ) -> Vec<PeerIntent> {
        let contends = |intent: &&Intent| {
            (intent.status == IntentStatus::Queued || intent.keeps_off(base))
                && intent.relation_to(scope, base) == ClaimRelation::Exclusive
        };
        self.open_intents(except).filter(contends).map(|intent| self.peer(intent)).collect()
    }

    /// Returns the open intents of this working tree except `except`: only they can have made its uncommitted changes.
    pub(crate) fn peers_here(&self, except: &IntentId) -> Vec<PeerIntent> {
        let is_here =
            |intent: &&Intent| intent.base.tree.as_ref().is_none_or(|tree| self.paths.shares_tree(tree));
        // What lands here is finished: it is told apart by its content.
        let is_landing = |intent: &&Intent| intent.status == IntentStatus::Landing;
        let here = self.open_intents(Some(except)).filter(is_here);
        here.filter(|intent| !is_landing(intent)).map(|intent| self.peer(intent)).collect()
    }

    /// Relates all open intents except `except` to a claim on `scope` from `base`, which use the registry's path names.
    pub(crate) fn concurrent_work(
        &self,
        scope: &IntentScope,
        base: &IntentBase,
        except: Option<&IntentId>,
        detail: DetailLevel,
    ) -> ConcurrentWork {
        let mut found = ConcurrentWork::default();
        let mut owners = BTreeSet::new();
        for intent in self.open_intents(except) {
            if intent.status == IntentStatus::Landing && !intent.keeps_off(base) {
                continue;
            }
            let peer = self.peer(intent);
            owners.insert((&intent.owner.token, &intent.owner.host, intent.owner.pid));
            found.stale_count += usize::from(peer.is_live() && peer.ownership == Ownership::ForeignStale);
            let relation = relations(scope, &peer.scope);
            if relation.relation == RelationKind::None {
                continue;
            }
            let claims = intent.relation_to(scope, base);
            let neighbor = self.related_intent(intent, &peer, &relation, claims);
            let conflicts =
                neighbor.relation == RelationKind::EditOverlap && claims == ClaimRelation::Exclusive;
            if conflicts && peer.is_live() && intent.keeps_off(base) {
                found.concurrent_intents.push(neighbor.clone());
            }
            if conflicts && peer.status == IntentStatus::Queued {
                found.queued_context.push(neighbor.clone());
            }
            found.workspace_relations.push(neighbor);
        }
        found.total_agents = owners.len();
        if detail != DetailLevel::Full {
            for list in
                [&mut found.concurrent_intents, &mut found.workspace_relations, &mut found.queued_context]
            {
                list.truncate(MAX_LISTED_PATHS);
            }
        }
        found
    }

    fn open_intents(&self, except: Option<&IntentId>) -> impl Iterator<Item = &Intent> {
        self.registry.open_intents().filter(move |intent| Some(&intent.id) != except)
    }

    pub(crate) fn peer(&self, intent: &Intent) -> PeerIntent {
        PeerIntent {
            intent_id: intent.id.clone(),
            ownership: intent.ownership(self.owner, self.context),
            status: intent.status,
            scope: intent.scope.clone(),
        }
    }

    fn related_intent(
        &self,
        intent: &Intent,
        peer: &PeerIntent,
        relation: &ScopeOverlap,
        claims: ClaimRelation,
    ) -> RelatedIntent {
        let is_of_team = intent.base.line.is_some() && !is_in_tree(self.paths, intent);
        RelatedIntent {
            intent_id: intent.id.clone(),
            agent_label: intent.owner.label.clone(),
            agent_pid: intent.owner.pid,
            intent: intent.description.clone(),
            ownership: peer.ownership,
            relation: relation.relation,
            claims: (is_of_team && relation.conflict).then_some(match claims {
                ClaimRelation::Exclusive => ClaimRelationWord::Exclusive,
                ClaimRelation::Announced => ClaimRelationWord::Announced,
                ClaimRelation::Apart => ClaimRelationWord::OtherLine,
            }),
            host: is_of_team.then(|| intent.owner.host.clone()),
            line: intent.base.line.clone().filter(|_| is_of_team),
            handle_kept: self.kept.contains(&intent.id),
            overlap_type: relation.overlap_type,
            hard_overlap: self.paths.to_workspace_entries(&relation.hard_overlap),
            soft_overlap: self.paths.to_workspace_entries(&relation.soft_overlap),
            excluded: self.paths.to_workspace_entries(&relation.excluded),
            recommended_action: recommended_action(peer, claims),
            declared_at: format_time(intent.declared_at),
            lease_expires_at: format_time(intent.lease(self.context).ends_at()),
            expires_at: format_time(intent.expires_at),
        }
    }
}

fn is_in_tree(paths: &RootMapping, intent: &Intent) -> bool {
    intent.base.tree.as_ref().is_none_or(|tree| paths.shares_tree(tree))
}

/// Never recommends ending another agent's process.
const fn recommended_action(peer: &PeerIntent, claims: ClaimRelation) -> RelatedIntentAction {
    match claims {
        ClaimRelation::Apart => return RelatedIntentAction::NoneOtherLine,
        ClaimRelation::Announced => return RelatedIntentAction::CoordinateBeforeMerge,
        ClaimRelation::Exclusive => {}
    }
    match (peer.status, peer.ownership) {
        (IntentStatus::Landing, _) => RelatedIntentAction::WaitForItsLanding,
        (_, Ownership::OwnActive | Ownership::OwnStale) => RelatedIntentAction::FinishAmendOrClearYourOwn,
        (_, Ownership::Recoverable) => RelatedIntentAction::RecoverOrStartOverIt,
        (_, Ownership::Expired) => RelatedIntentAction::StartOverIt,
        (IntentStatus::Queued, _) => RelatedIntentAction::NoneItWaits,
        (_, Ownership::ForeignStale) => RelatedIntentAction::CoordinateOrWaitForItsEnd,
        (_, Ownership::ForeignActive) => RelatedIntentAction::StopAndCoordinate,
    }
}
