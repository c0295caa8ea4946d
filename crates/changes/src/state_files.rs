//! Decides which writes to the state directory agents can honestly make while a command is governed.

use crate::registry::{audit, guard_file, handles, pending};
use probity_guard::GuardSnapshot;
use probity_intents::IntentStatus;
use probity_intents::registry::{Intent, RegistryHead};
use probity_quality::analysis_store::AnalysisStore;
use probity_quality::contract::receipts::ReceiptStore;
use probity_team::TEAM_FILE;
use probity_workspace::clone_identity::{IDENTITY_FILE, IDENTITY_LOCK};
use probity_workspace::git_transport::GitTransport;
use probity_workspace::state_files::{FileFate, StateFiles, StateMark, is_unfinished, name_parts};
use probity_workspace::{DATABASE_FILE, HANDLES_DIR, StateDirectory};
use std::path::Path;

/// The registry of intents, its cache, kept handles, receipts, and pins of analyses that intents need.
#[derive(Debug)]
pub struct ChangeFiles;

impl StateFiles for ChangeFiles {
    fn mark(&self, state: &StateDirectory) -> Box<dyn StateMark> {
        let is_in_team = state.dir().join(TEAM_FILE).exists();
        Box::new(ChangeMark { intents: audit::log_head(state), is_in_team, guard: guard_file::read(state) })
    }
}

/// The end of the registry log at the first look.
#[derive(Debug)]
struct ChangeMark {
    intents: RegistryHead,
    /// Whether the registry is in the store of a team: what follows from its log cannot be checked here then.
    is_in_team: bool,
    /// The claims that hooks read.
    guard: Option<GuardSnapshot>,
}

impl StateMark for ChangeMark {
    fn explains(&self, state: &StateDirectory, name: &Path, fate: FileFate) -> bool {
        let path = state.dir().join(name);
        match name_parts(name).unwrap_or_default().as_slice() {
            [IDENTITY_LOCK] => true,
            // Made at the first use of a clone, and never changed in the same boot.
            [IDENTITY_FILE] => fate == FileFate::New,
            // Another process was still making the identity at the first look.
            [name] if fate == FileFate::Gone && is_unfinished(name) && name.starts_with(IDENTITY_FILE) => {
                true
            }
            // What this clone read of its team; the store itself is elsewhere.
            ["team", rest @ ..] => self.is_in_team && explains_team_file(&path, rest, fate),
            // Another process was still creating a database at the first look.
            [name] if fate == FileFate::Gone && is_unfinished_database(name) => true,
            // The log may only have grown.
            ["store.sqlite" | "store.sqlite-wal" | "store.sqlite-shm"] => {
                audit::leads_back(state, self.intents)
            }
            ["cache", "intents"] => fate == FileFate::Gone || audit::cache_is_true(state),
            // A kept handle must be that of its intent's owner, and is removed when its intent closes.
            [HANDLES_DIR, .., file] if fate == FileFate::Gone => {
                is_unfinished(file) || self.is_in_team || audit::log_head(state) != self.intents
            }
            [HANDLES_DIR, ..] => {
                audit::read_registry(state).is_some_and(|registry| handles::is_sound(&path, &registry))
            }
            // The snapshot follows the registry, and hooks keep the records of their sessions.
            [probity_guard::GUARD_FILE] => {
                let registry = if self.is_in_team { None } else { audit::read_registry(state) };
                let has_grown = audit::log_head(state) != self.intents;
                fate != FileFate::Gone
                    && guard_file::is_true(state, self.guard.as_ref(), registry.as_ref(), has_grown)
            }
            [probity_guard::SESSIONS_DIR, ..] => true,
            ["receipts", file] => self.explains_receipt(state, file, fate),
            ["runs", "pins", run, pin] => fate == FileFate::Gone && !self.is_needed(state, run, pin),
            _ => false,
        }
    }
}

impl ChangeMark {
    /// A new receipt must belong to a finish in the registry log, and none may be rewritten or removed.
    fn explains_receipt(&self, state: &StateDirectory, file: &str, fate: FileFate) -> bool {
        let receipts = ReceiptStore::of(state);
        match (file, fate) {
            ("lock", _) => true,
            (_, FileFate::New) => receipts.digest_in_chain(file).is_some_and(|digest| {
                self.is_in_team || audit::receipts_after(state, self.intents.seq).contains(&digest)
            }),
            (unfinished, FileFate::Gone) => is_unfinished(unfinished),
            _ => false,
        }
    }

    /// Returns whether a claim needs a pin. Nobody needs the pins of a refused or queued start.
    fn is_needed(&self, state: &StateDirectory, run: &str, pin: &str) -> bool {
        let Some(registry) = audit::read_registry(state) else { return self.intents.seq.0 > 0 };
        let needed = |intent: &Intent| {
            intent.status == IntentStatus::Active
                && intent.base.run_id.ends_with(run)
                && AnalysisStore::pin_name(intent.id.as_str()) == pin
        };
        registry.open_intents().any(needed)
    }
}

/// Returns whether commands of a clone in a team make this change below its directory. The repository there is only fed by
/// git: what would lead git elsewhere, or name programs, is nothing that it writes.
fn explains_team_file(path: &Path, rest: &[&str], fate: FileFate) -> bool {
    match rest {
        ["git", "config"] => GitTransport::is_own_config(path),
        ["git", "HEAD" | "FETCH_HEAD" | "packed-refs" | "packed-refs.lock"] | ["git", "refs", ..] => true,
        ["git", "objects", directory, _] => {
            *directory == "pack" || directory.len() == 2 && directory.bytes().all(|it| it.is_ascii_hexdigit())
        }
        ["git", ..] => false,
        // Releases that wait; one that was sent is gone.
        ["pending", file] => {
            fate == FileFate::Gone || is_unfinished(file) || pending::is_waiting_release(path)
        }
        _ => true,
    }
}

fn is_unfinished_database(name: &str) -> bool {
    name.strip_prefix(DATABASE_FILE).is_some_and(|rest| rest.starts_with(".new"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::{IntentService, LocalHost, TreeFacts};
    use probity_intents::registry::{IntentBase, IntentDeclaration, RegistryAction};
    use probity_intents::start::{DirtyScopePolicy, OnConflict};
    use probity_intents::{IntentId, IntentOwner, IntentScope, ScopeEntry};
    use probity_storage::memory_store::MemoryStore;
    use probity_storage::ports::{EventRecord, StorageEngine};
    use std::fs;
    use std::sync::Arc;

    /// Returns the log of two starts.
    fn two_starts() -> Vec<EventRecord> {
        let memory = MemoryStore::new();
        let mut shell = IntentService::on_store(&memory, Arc::new(LocalHost));
        for n in 0..2 {
            let declaration = IntentDeclaration {
                intent_id: IntentId::parse(format!("i-{n}")).expect("an id"),
                description: String::new(),
                expected_effects: Vec::new(),
                scope: IntentScope {
                    allowed_files: [ScopeEntry::new(format!("f{n}"))].into(),
                    ..IntentScope::default()
                },
                ttl_seconds: 600,
                lease_seconds: 60,
                base: IntentBase::default(),
                task: None,
            };
            let action = RegistryAction::Start {
                declaration,
                dirty_scope_policy: DirtyScopePolicy::Block,
                on_conflict: OnConflict::Block,
            };
            let owner = IntentOwner { token: Some("a".into()), ..IntentOwner::default() };
            let tree = TreeFacts { run_available: true, ..TreeFacts::default() };
            shell.execute(&owner, action, &tree).expect("granted");
        }
        memory.log("intents").read_after(0, 9).expect("reads")
    }

    /// Returns whether `change`, done after the mark, explains the fate of the file `name`.
    fn explains(name: &str, change: impl FnOnce(&StateDirectory)) -> bool {
        let dir = tempfile::tempdir().expect("a directory");
        let state = StateDirectory::at(dir.path().to_owned());
        fs::create_dir_all(dir.path().join("cache")).expect("creates");
        let mark = ChangeFiles.mark(&state);
        change(&state);
        mark.explains(&state, Path::new(name), FileFate::New)
    }

    #[test]
    fn intents_may_go_on_meanwhile_and_nobody_may_rewrite_their_log() {
        let records = two_starts();
        let append = |state: &StateDirectory, n: usize| {
            let log = state.store().expect("opens").log("intents");
            let at = log.head().expect("reads");
            log.append(at, &records[n].command, &records[n].event).expect("appends");
        };
        assert!(explains(DATABASE_FILE, |state| append(state, 0)));
        assert!(explains(DATABASE_FILE, |state| {
            append(state, 0);
            append(state, 1);
        }));
        assert!(!explains(DATABASE_FILE, |state| append(state, 1)), "an event that follows nothing");
        assert!(!explains(DATABASE_FILE, |state| fs::write(state.database(), "planted").expect("writes")));
        let plant = |state: &StateDirectory| fs::write(state.registry_cache(), "planted").expect("writes");
        assert!(!explains("cache/intents", plant));
    }

    #[test]
    fn a_planted_receipt_or_handle_is_not_explained() {
        assert!(!explains("receipts/1.json", |_| {}));
        assert!(!explains("handles/tree/planted", |_| {}));
        assert!(!explains("payload", |_| {}));
    }
}
