//! The files of a session in the state directory: which intents it started, and what it was told.
//!
//! A binding is an empty file named after the intent, created once, so that parallel hooks never lose one; so is the note of a
//! program whose writes the hook does not see. The rest is one small file that is replaced as a whole.

use probity_guard::{
    BOUND_DIR, GuardSnapshot, SESSION_STATE_FILE, SESSIONS_DIR, SessionRecord, SessionState, intent_file,
    session_key, unproven_program_file, unproven_program_of,
};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The longest intent id that is bound; longer ones are never made by Probity.
const MAX_INTENT_ID_BYTES: usize = 100;

/// Who makes the call.
#[derive(Debug, Clone, Default)]
pub struct CallerSession {
    /// The agent's word, so that two agents never share a session.
    pub agent: String,
    pub session: String,
    pub subagent: Option<String>,
}

#[derive(Debug)]
pub struct SessionFiles {
    sessions: PathBuf,
    key: String,
    agent: String,
    /// A session without a name cannot be told from another one, so nothing is kept for it.
    is_named: bool,
}

impl SessionFiles {
    pub(crate) fn new(state_dir: &str, caller: &CallerSession, of_subagent: bool) -> Self {
        let subagent = caller.subagent.as_deref().filter(|_| of_subagent);
        Self {
            sessions: Path::new(state_dir).join(SESSIONS_DIR),
            key: session_key(&caller.agent, &caller.session, subagent),
            agent: caller.agent.clone(),
            is_named: !caller.session.is_empty(),
        }
    }

    fn dir(&self) -> PathBuf {
        self.sessions.join(&self.key)
    }

    pub(crate) fn read(&self) -> SessionRecord {
        if !self.is_named {
            return SessionRecord::default();
        }
        let entries = fs::read_dir(self.dir()).into_iter().flatten().flatten();
        let names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        let mut intents: Vec<String> = names.iter().filter_map(|name| intent_of(name)).collect();
        intents.sort();
        let mut unproven_programs: Vec<String> =
            names.iter().filter_map(|name| unproven_program_of(name)).collect();
        unproven_programs.sort();
        let state = fs::read(self.dir().join(SESSION_STATE_FILE)).map(|bytes| SessionState::parse(&bytes));
        SessionRecord { intents, unproven_programs, state: state.unwrap_or_default() }
    }

    /// Binds an intent to the session; `false` if another session has it, or nothing could be written.
    pub fn bind(&self, intent_id: &str) -> bool {
        if !self.is_named || intent_id.len() > MAX_INTENT_ID_BYTES {
            return false;
        }
        let bound = self.sessions.join(BOUND_DIR);
        if fs::create_dir_all(&bound).is_err() || fs::create_dir_all(self.dir()).is_err() {
            return false;
        }
        let owner = bound.join(intent_file(intent_id));
        // Created only once: the first session keeps the intent.
        let is_new = fs::OpenOptions::new().write(true).create_new(true).open(&owner).is_ok();
        if is_new && fs::write(&owner, &self.key).is_err() {
            return false;
        }
        let is_own = is_new || fs::read_to_string(&owner).is_ok_and(|key| key == self.key);
        is_own && fs::write(self.dir().join(intent_file(intent_id)), "").is_ok()
    }

    /// Notes a program whose writes its command line did not show. A failure is ignored: the tree is judged all the same.
    pub(crate) fn note_unproven(&self, program: &str) {
        if self.is_named && fs::create_dir_all(self.dir()).is_ok() {
            let _ = fs::write(self.dir().join(unproven_program_file(program)), "");
        }
    }

    /// Replaces the state. A failure is ignored: a line would be repeated, nothing more.
    pub fn write(&self, state: &SessionState) {
        let state = SessionState { agent: self.agent.clone(), ..state.clone() };
        if !self.is_named || fs::create_dir_all(self.dir()).is_err() {
            return;
        }
        let temporary = self.dir().join(format!(".{SESSION_STATE_FILE}.{}", std::process::id()));
        if fs::write(&temporary, state.to_bytes()).is_ok() {
            let _ = fs::rename(&temporary, self.dir().join(SESSION_STATE_FILE));
        }
    }

    /// Returns the intents of a snapshot that some session started.
    pub(crate) fn bound_intents(state_dir: &str, snapshot: &GuardSnapshot) -> BTreeSet<String> {
        let bound = Path::new(state_dir).join(SESSIONS_DIR).join(BOUND_DIR);
        let ids = snapshot.intents.iter().map(|intent| &intent.intent_id);
        ids.filter(|id| bound.join(intent_file(id)).symlink_metadata().is_ok()).cloned().collect()
    }
}

/// Returns the intent of a file in a session's directory.
fn intent_of(name: &str) -> Option<String> {
    name.strip_prefix("i-").map(str::to_owned)
}
