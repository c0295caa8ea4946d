//! Widens the scope of an intent and records who did it, why and when (law 2).

use super::root_mapping::RootMapping;
use crate::linked_paths::check_file_names;
use crate::registry::{Caller, IntentService, TreeFacts};
use probity_api::change::AmendAnswer;
use probity_intents::registry::{CommandRefusal, RegistryAction};
use probity_intents::{ScopeEntry, ScopeEntrySet};
use probity_scopes::IntentScope as Declared;
use probity_workspace::selection::check_named_paths;
use probity_workspace::{ServiceError, Workspace};

/// Adds literal paths to the scope of one of the caller's active intents.
pub fn amend(
    workspace: &Workspace,
    caller: &Caller,
    intent_id: &str,
    allowed_files: &[Vec<u8>],
    allowed_related: &[Vec<u8>],
    why: &str,
) -> Result<AmendAnswer, ServiceError> {
    probity_evidence::check_reason(why)
        .map_err(|error| ServiceError::refused(error.reason(), error.to_string()))?;
    if allowed_files.is_empty() && allowed_related.is_empty() {
        return Err(CommandRefusal::EmptyScope.into());
    }
    let declared = Declared { allowed_files, allowed_related, forbidden: &[] };
    check_named_paths(workspace, declared)?;
    let frame = RootMapping::for_workspace(workspace);
    let mut shell = IntentService::open_with(workspace, intent_id)?;
    let held: Vec<_> =
        shell.registry().intents().map(|intent| frame.to_workspace_scope(&intent.scope)).collect();
    let held = held.iter().flat_map(|scope| scope.allowed_files.iter().chain(&scope.allowed_related));
    let added: Vec<&[u8]> = allowed_files.iter().chain(allowed_related).map(Vec::as_slice).collect();
    check_file_names(&workspace.root, &added, held.map(ScopeEntry::as_bytes))?;
    let owner = shell.owner_of(caller)?;
    let intent = shell.resolve(intent_id)?;
    let id = intent.id.clone();
    let token = intent.token.ok_or_else(|| CommandRefusal::wrong_status(intent))?;
    let entries = |list: &[Vec<u8>]| -> ScopeEntrySet { list.iter().map(ScopeEntry::new).collect() };
    let (files, related) = (entries(allowed_files), entries(allowed_related));
    let action = RegistryAction::Amend {
        intent_id: id.clone(),
        token,
        allowed_files: frame.to_repo_entries(&files),
        allowed_related: frame.to_repo_entries(&related),
        why: why.to_owned(),
    };
    let done = shell.execute(&owner, action, &TreeFacts::default())?;
    let scope = shell
        .registry()
        .intent(&id)
        .map(|intent| frame.to_workspace_scope(&intent.scope))
        .unwrap_or_default();
    Ok(AmendAnswer {
        intent_id: id,
        allowed_files: files,
        allowed_related: related,
        why: why.to_owned(),
        scope,
        next_step: "edit inside the wider scope, then finish",
        notices: done.notices,
    })
}
