//! Finds out whether a hook stood in front of the session that worked on an intent (law 13).

use crate::agents::{CLAUDE_MANAGED_SETTINGS, starts_hook};
use probity_api::change::ChangeEnforcement;
use probity_api::govern::setup::CodingAgent;
use probity_guard::{
    BOUND_DIR, CONFIGURATION_FILES, MAX_UNPROVEN_PROGRAMS, SESSION_STATE_FILE, SESSIONS_DIR, SessionState,
    configuration_digest, intent_file, program_identity, unproven_program_of,
};
use probity_intents::IntentId;
use probity_storage::durable;
use probity_workspace::Workspace;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// The largest record of a session that is read.
const MAX_SESSION_FILE_BYTES: u64 = 1024 * 1024;
/// The largest settings of an agent that are read.
const MAX_SETTINGS_BYTES: u64 = 64 * 1024 * 1024;

/// What is known of the hook in front of the session that worked on an intent.
#[derive(Debug, Default)]
pub(crate) struct SessionGuard {
    pub(crate) enforcement: ChangeEnforcement,
    /// Programs that the session ran and whose writes the hook could not see.
    pub(crate) unproven_programs: Vec<String>,
}

/// Returns what kept the session of an intent to its scope. What cannot be read counts for nothing.
pub(crate) fn of_intent(workspace: &Workspace, intent_id: &IntentId) -> SessionGuard {
    let sessions = workspace.state.dir().join(SESSIONS_DIR);
    // Agents can write these files: a pipe must not block, and nothing large is read.
    let read = |path: &Path| durable::read_at_most(path, MAX_SESSION_FILE_BYTES).ok().flatten();
    let bound = read(&sessions.join(BOUND_DIR).join(intent_file(intent_id.as_str())));
    let Some(key) = bound.and_then(|bytes| String::from_utf8(bytes).ok()) else {
        return SessionGuard::default();
    };
    let session = sessions.join(key);
    let state = read(&session.join(SESSION_STATE_FILE));
    let state = state.map(|bytes| SessionState::parse(&bytes)).unwrap_or_default();
    if state.configuration.is_empty() {
        return SessionGuard::default();
    }
    let names = fs::read_dir(&session).into_iter().flatten().flatten();
    let mut unproven_programs: Vec<String> =
        names.filter_map(|entry| unproven_program_of(entry.file_name().to_str()?)).collect();
    unproven_programs.sort();
    unproven_programs.truncate(MAX_UNPROVEN_PROGRAMS);
    SessionGuard { enforcement: enforcement(workspace, &state), unproven_programs }
}

fn enforcement(workspace: &Workspace, state: &SessionState) -> ChangeEnforcement {
    if is_replaced(state) {
        return ChangeEnforcement::HookBroken;
    }
    let is_claude = state.agent == CodingAgent::Claude.as_str();
    if is_claude && fs::read_to_string(CLAUDE_MANAGED_SETTINGS).is_ok_and(|text| starts_hook(&text)) {
        return ChangeEnforcement::ManagedHook;
    }
    let top = workspace.git.as_ref().map_or(&workspace.root, |git| &git.root);
    let home = std::env::var_os("HOME").unwrap_or_default();
    let read = |&(is_home, name): &(bool, &str)| {
        let base = if is_home { Path::new(&home) } else { top.as_path() };
        durable::read_users_file(&base.join(name), MAX_SETTINGS_BYTES)
    };
    let now = configuration_digest(&CONFIGURATION_FILES.iter().map(read).collect::<Vec<_>>());
    if state.is_altered || now != state.configuration {
        ChangeEnforcement::HookBroken
    } else {
        ChangeEnforcement::HookHeld
    }
}

/// Returns whether the program of the hook is not the one that answered the first event of the session.
fn is_replaced(state: &SessionState) -> bool {
    let now = fs::metadata(&state.program)
        .map(|facts| program_identity(facts.size(), facts.ino(), (facts.ctime(), facts.ctime_nsec())));
    !state.program.is_empty() && now.ok().as_ref() != Some(&state.program_identity)
}
