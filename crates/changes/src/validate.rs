//! Checks a declaration before anything is written.

use crate::linked_paths::check_file_names;
use probity_api::change::{ScopeWarning, StartRequest};
use probity_core::ReasonCode;
use probity_intents::{IntentScope, ScopeEntry};
use probity_paths::RepoPath;
use probity_scopes::{DeclarationField, ScopeDiagnostic, TreeNames};
use probity_snapshot::Snapshot;
use probity_workspace::ServiceError;
use probity_workspace::selection::{check_declaration, names};
use std::path::Path;

const MAX_TEXT_BYTES: usize = 10_000;
const MAX_EFFECTS: usize = 100;

pub(crate) fn check_words(request: &StartRequest) -> Result<(), ServiceError> {
    let refuse = |detail: &str| Err(ServiceError::refused(ReasonCode::IntentInvalid, detail));
    if request.description.trim().is_empty() {
        return refuse("an intent says what the change is for");
    }
    if request.description.len() > MAX_TEXT_BYTES {
        return refuse("what the change is for is longer than 10,000 bytes");
    }
    let effects = &request.expected_effects;
    if effects.len() > MAX_EFFECTS || effects.iter().any(|effect| effect.len() > MAX_TEXT_BYTES) {
        return refuse("there are more than 100 expected effects, or one is longer than 10,000 bytes");
    }
    Ok(())
}

/// Returns the declared scope and warnings about doubtful entries. An impossible entry is refused with the rule it breaks.
pub(crate) fn validate_scope(
    root: &Path,
    request: &StartRequest,
    snapshot: &Snapshot,
) -> Result<(IntentScope, Vec<ScopeWarning>), ServiceError> {
    let (files, dirs) = names(snapshot);
    let bytes = |list: &[ScopeEntry]| list.iter().map(|entry| entry.as_bytes().to_vec()).collect::<Vec<_>>();
    let (allowed, related) = (bytes(&request.allowed_files), bytes(&request.allowed_related));
    let forbidden = bytes(&request.forbidden);
    let declared = probity_scopes::IntentScope {
        allowed_files: &allowed,
        allowed_related: &related,
        forbidden: &forbidden,
    };
    let warnings = check_declaration(declared, &TreeNames::new(files.iter(), dirs.iter()))?;
    let entry = |remark: &ScopeDiagnostic| {
        let list = match remark.field {
            DeclarationField::AllowedRelated => &request.allowed_related,
            DeclarationField::Forbidden => &request.forbidden,
            DeclarationField::AllowedFiles | DeclarationField::Scope => &request.allowed_files,
        };
        remark.index.and_then(|index| list.get(index))
    };
    if request.allowed_files.is_empty() {
        return Err(probity_intents::registry::CommandRefusal::EmptyScope.into());
    }
    let declared: Vec<&[u8]> = allowed.iter().chain(&related).map(Vec::as_slice).collect();
    // Such a claim would grant nothing: no finish sees these files, and a run protects them.
    let is_own = |name: &&[u8]| {
        [&b".git"[..], b".probity"].contains(&name.split(|&byte| byte == b'/').next().unwrap_or_default())
    };
    if let Some(name) = declared.iter().copied().find(is_own) {
        let name = probity_core::bytes::escape(name);
        let detail = format!("`{name}` is not part of the tree, so a change to it cannot be declared");
        return Err(ServiceError::refused(ReasonCode::PathInvalid, detail));
    }
    check_file_names(root, &declared, files.iter().map(RepoPath::as_bytes))?;
    let warn = |warning: &ScopeDiagnostic| ScopeWarning {
        code: warning.code,
        field: warning.field.name(),
        entry: entry(warning).cloned(),
        message: warning.code.meaning(),
    };
    let entries = |list: &[ScopeEntry]| list.iter().cloned().collect();
    let scope = IntentScope {
        allowed_files: entries(&request.allowed_files),
        allowed_related: entries(&request.allowed_related),
        forbidden: entries(&request.forbidden),
    };
    Ok((scope, warnings.iter().map(warn).collect()))
}
