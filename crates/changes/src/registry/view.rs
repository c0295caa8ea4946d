//! Shows the registry as one reader sees it; every surface shows the same.

use super::{Caller, CommandResult, HandleStore, IntentService};
use probity_api::change::{
    AmendmentView, IntentAnswer, IntentChangeAnswer, IntentChangeStatus, IntentListAnswer, IntentView,
    LoggedEvent,
};
use probity_intents::registry::{
    CommandContext, CommandRefusal, Intent, IntentAmendment, IntentBase, RegistryEvent,
};
use probity_intents::{IntentId, IntentOwner, Timestamp};
use probity_workspace::{ServiceError, Workspace, clock};
use std::collections::BTreeSet;

/// The number of intents that a refused, ambiguous id names.
const MAX_NAMED_INTENTS: usize = 5;

struct ViewerContext {
    owner: IntentOwner,
    /// Intents that belong to the reader by a handle kept in this worktree.
    kept: BTreeSet<IntentId>,
    context: CommandContext,
}

fn amendment_view(amendment: &IntentAmendment) -> AmendmentView {
    AmendmentView {
        seq: amendment.seq,
        at: format_time(amendment.at),
        by: amendment.by.label.clone(),
        why: amendment.why.clone(),
        allowed_files: amendment.allowed_files.clone(),
        allowed_related: amendment.allowed_related.clone(),
    }
}

impl IntentService {
    /// Returns every intent as `caller` sees it, by id; closed ones only on request.
    pub fn list(
        &self,
        workspace: &Workspace,
        caller: &Caller,
        closed_too: bool,
    ) -> Result<IntentListAnswer, ServiceError> {
        let reader = self.viewer_context(workspace, caller)?;
        let mut intents = self.views(&reader, closed_too);
        if self.is_shared {
            // Changes that were started without asking the store of the team are known to this clone alone.
            let local = Self::open_local(workspace)?;
            let views = local.views(&local.viewer_context(workspace, caller)?, closed_too);
            intents.extend(views.into_iter().filter(|view| view.base.is_uncoordinated));
            intents.sort_by(|one, other| one.intent_id.cmp(&other.intent_id));
        }
        Ok(IntentListAnswer { intents, notices: self.registry.notices(&reader.owner) })
    }

    fn views(&self, reader: &ViewerContext, closed_too: bool) -> Vec<IntentView> {
        let view = |intent| self.intent_view(intent, reader);
        if closed_too {
            self.registry.intents().map(view).collect()
        } else {
            self.registry.open_intents().map(view).collect()
        }
    }

    /// Returns one intent as `caller` sees it. `id` may be any unambiguous prefix.
    pub fn show(
        &self,
        workspace: &Workspace,
        caller: &Caller,
        id: &str,
    ) -> Result<IntentAnswer, ServiceError> {
        let intent = self.resolve(id)?;
        Ok(IntentAnswer { intent: self.intent_view(intent, &self.viewer_context(workspace, caller)?) })
    }

    pub fn change_answer(
        &self,
        workspace: &Workspace,
        caller: &Caller,
        done: &CommandResult,
    ) -> Result<IntentChangeAnswer, ServiceError> {
        let event = done.event.as_ref();
        let id = event.and_then(|event| event.change.intent_id());
        let is_done = event.is_some();
        Ok(IntentChangeAnswer {
            status: if is_done { IntentChangeStatus::Done } else { IntentChangeStatus::NothingToDo },
            intent: match id {
                Some(id) => Some(self.show(workspace, caller, id.as_str())?.intent),
                None => None,
            },
            event: event.cloned().map(logged_event),
            notices: done.notices.clone(),
            owner: None,
        })
    }

    fn viewer_context(&self, workspace: &Workspace, caller: &Caller) -> Result<ViewerContext, ServiceError> {
        Ok(ViewerContext {
            owner: self.owner_of(caller)?,
            kept: HandleStore::of(workspace).own_intents(&self.registry, caller),
            context: self.command_context()?,
        })
    }

    /// Returns the intent whose id is `id` or is the only one to begin with it.
    pub fn resolve(&self, id: &str) -> Result<&Intent, ServiceError> {
        let meant = || self.registry.intents().filter(|intent| intent.id.as_str().starts_with(id));
        let mut found = meant();
        match (found.next(), found.next()) {
            (Some(one), _) if one.id.as_str() == id => Ok(one),
            (Some(one), None) if !id.is_empty() => Ok(one),
            (Some(_), Some(_)) if !id.is_empty() => {
                Err(ServiceError::Missing(self.ambiguous_id(id, meant())))
            }
            _ => match IntentId::parse(id) {
                Ok(intent_id) => Err(CommandRefusal::UnknownIntent { intent_id }.into()),
                Err(error) => Err(ServiceError::Missing(error.to_string())),
            },
        }
    }

    /// Lists the intents whose ids begin with `id`: open ones first, then the latest.
    fn ambiguous_id<'i>(&self, id: &str, meant: impl Iterator<Item = &'i Intent>) -> String {
        let mut meant: Vec<&Intent> = meant.collect();
        meant.sort_by_key(|intent| (intent.status.is_closed(), std::cmp::Reverse(intent.declared_at)));
        let named = meant.iter().take(MAX_NAMED_INTENTS).map(|intent| {
            let short = self.registry.short_id(&intent.id);
            let state = if intent.status.is_closed() { "closed" } else { "open" };
            format!("`{short}` ({state}, {}: {})", intent.owner.label, intent.description)
        });
        let mut named: Vec<String> = named.collect();
        if let Some(more) = meant.len().checked_sub(MAX_NAMED_INTENTS).filter(|more| *more > 0) {
            named.push(format!("{more} more"));
        }
        format!("`{id}` begins the ids of {} intents, give more of one: {}", meant.len(), named.join(", "))
    }

    fn intent_view(&self, intent: &Intent, reader: &ViewerContext) -> IntentView {
        let ViewerContext { owner, kept, context: seen } = reader;
        let ownership = intent.ownership(owner, seen);
        let lease = intent.lease(seen);
        IntentView {
            intent_id: intent.id.clone(),
            status: intent.status,
            ownership,
            is_own: intent.owner.is_same_owner(owner),
            handle_kept: kept.contains(&intent.id),
            description: intent.description.clone(),
            expected_effects: intent.expected_effects.clone(),
            scope: intent.scope.clone(),
            owner: (&intent.owner).into(),
            agent: intent.owner.label.clone(),
            lease_seconds: lease.seconds,
            lease_expires_in_seconds: lease.ends_at().0.saturating_sub(seen.now.0),
            declared_at: format_time(intent.declared_at),
            expires_at: format_time(intent.expires_at),
            closed_at: intent.closed_at.map(format_time),
            base: intent.base.clone(),
            task: intent.task.clone(),
            fencing_token: intent.token,
            queue_position: self.registry.queue_position(&intent.id, owner, seen),
            amendments: intent.amendments.iter().map(amendment_view).collect(),
            history: intent.history.clone(),
        }
    }
}

/// Returns whether an intent that began from `base` is one of this working tree.
pub fn is_of_this_tree(workspace: &Workspace, base: &IntentBase) -> bool {
    let frame = crate::RootMapping::for_workspace(workspace);
    base.tree.as_ref().is_none_or(|tree| frame.shares_tree(tree))
}

pub fn format_time(at: Timestamp) -> String {
    clock::format_rfc3339(at.0)
}

pub fn logged_event(event: RegistryEvent) -> LoggedEvent {
    LoggedEvent { digest: event.digest(), at_utc: format_time(event.at), event }
}
