//! Whether Probity's own state was touched while a command ran.
//!
//! The state directory is no part of the content, so nothing else would notice what an agent plants or rewrites there.
//! Runs in other worktrees of the same repository may write here at the same time; what they write explains itself: it
//! hangs on the chain, has its own digest as its name, or is a seal that holds together. What they have only begun to
//! write is finished a moment later, so whatever is not explained is looked at again. Everything else is a change of a
//! protected path.

use crate::attest::{Head, SEAL_FILE};
use crate::contract::receipts::Receipts;
use crate::registry::{audit, handles};
use crate::runs::Runs;
use crate::{bundles, claims};
use probity_core::chain::ChainHead;
use probity_core::{Digest, json};
use probity_evidence::{Seal, SecretKey, Trust};
use probity_storage::{HANDLES, HashChain, OpenRun, Position, State};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The longest chain of bundles that runs elsewhere can have added while one run went on.
const MAX_NEW_LINKS: usize = 100_000;

/// How often what is not explained is looked at again, and how long after each look.
const LOOKS: usize = 40;
const PAUSE: Duration = Duration::from_millis(25);

/// What tells two states of a file of ours apart.
type Mark = (u64, u64, i64, i64);

/// What became of a file of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    New,
    Changed,
    Gone,
}

/// The state directory as it was when a command started.
#[derive(Debug)]
pub(crate) struct Guard {
    state: State,
    run: OpenRun,
    head: Option<ChainHead<String>>,
    /// What a further bundle on the chain must prove.
    trust: Trust,
    /// Where the log of intents ended.
    intents: probity_intents::registry::Head,
    files: BTreeMap<PathBuf, Mark>,
    /// The digests of the stored runs.
    runs: BTreeMap<String, Digest>,
    /// Where the log of the ledger ended.
    ledger: Option<Position>,
}

impl Guard {
    /// Remembers the state directory for `run`. `head` is the head of the chain, which is locked: no bundle is half there.
    /// Whoever adds a bundle while there is a `key` must have signed it.
    pub(crate) fn set(
        state: &State,
        run: &OpenRun,
        _locked: &HashChain<String>,
        head: Option<ChainHead<String>>,
        key: Option<&SecretKey>,
    ) -> Self {
        let (state, run) = (state.clone(), run.clone());
        // First, because opening a database touches its files.
        let intents = audit::head(&state);
        let files = list(state.dir());
        let runs = Runs::of(&state).digests();
        let ledger = crate::ledger::end_of_log(&state.ledger());
        Self { state, run, head, trust: bundles::next_trust(key), intents, files, runs, ledger }
    }

    /// What the bundle of this run follows: the head on disk, if it leads back to the one when the guard was set.
    pub(crate) fn head_to_trust(&self) -> Head {
        let chain = self.state.chain().ok();
        match self.new_links(chain.as_ref()) {
            Some(_) => Head::OnDisk,
            None => Head::Remembered(self.head.clone()),
        }
    }

    /// The files that changed and do not explain themselves, relative to the state directory.
    pub(crate) fn touched(&self) -> Vec<PathBuf> {
        self.touched_after(|| std::thread::sleep(PAUSE))
    }

    /// Calls `pause` before it looks again.
    fn touched_after(&self, mut pause: impl FnMut()) -> Vec<PathBuf> {
        let mut touched = self.unexplained();
        for _ in 0..LOOKS {
            if touched.is_empty() {
                break;
            }
            pause();
            let again = self.unexplained();
            touched.retain(|name| again.contains(name));
        }
        touched
    }

    fn unexplained(&self) -> Vec<PathBuf> {
        // Bundles are written and chained under this lock: while we hold it, none is half there.
        let chain = self.state.chain().ok();
        let now = list(self.state.dir());
        let names: BTreeSet<&PathBuf> = self.files.keys().chain(now.keys()).collect();
        let differs = |name: &PathBuf| self.files.get(name) != now.get(name);
        let changed: Vec<&PathBuf> = names.into_iter().filter(|name| differs(name)).collect();
        let new_links = self.new_links(chain.as_ref());
        let is_explained = |name: &Path| {
            let fate = match (self.files.contains_key(name), now.contains_key(name)) {
                (false, _) => Fate::New,
                (true, true) => Fate::Changed,
                (true, false) => Fate::Gone,
            };
            self.is_ours(name) || self.explains_itself(name, fate, new_links.as_ref())
        };
        changed.into_iter().filter(|name| !is_explained(name)).cloned().collect()
    }

    /// What this very process writes while the command runs. Its own lock and stat cache it does not.
    fn is_ours(&self, name: &Path) -> bool {
        let path = self.state.dir().join(name);
        path.starts_with(&self.run.folder) && !claims::is_fixed(&path)
    }

    fn explains_itself(&self, name: &Path, fate: Fate, new_links: Option<&BTreeSet<String>>) -> bool {
        let path = self.state.dir().join(name);
        let parts: Vec<&std::ffi::OsStr> = name.iter().collect();
        let first = parts.first().and_then(|part| part.to_str()).unwrap_or_default();
        let id = parts.get(1).and_then(|part| part.to_str()).unwrap_or_default();
        match first {
            "chain.lock" | "store.lock" => true,
            // A database that somebody was just making when we first looked.
            _ if fate == Fate::Gone && is_unfinished_database(first) => true,
            // Intents go on while a command runs. Their log may only have grown.
            "store.sqlite" | "store.sqlite-wal" | "store.sqlite-shm" => {
                audit::leads_back(&self.state, self.intents)
            }
            "cache" if path == self.state.registry_cache() => {
                fate == Fate::Gone || audit::cache_is_true(&self.state)
            }
            "cache" if id == "intents.head" => fate == Fate::Gone || audit::note_is_true(&self.state),
            "chain.json" => new_links.is_some(),
            "evidence" => fate == Fate::New && new_links.is_some_and(|links| links.contains(id)),
            // What somebody was just keeping when we first looked is kept under another name now.
            "before" | "objects" if fate == Fate::Gone => {
                path.extension().is_some_and(|extension| extension == "tmp")
            }
            // Two runs that keep the same content at once replace each other's file: it is still what its name says.
            "before" | "objects" => is_named_by_content(&path),
            // A run elsewhere that began, goes on, or ended and took its folder away. No seal or claim is ever rewritten.
            "open" if path.starts_with(&self.run.folder) => false,
            "open" => {
                let is_rewritten = fate == Fate::Changed && claims::is_fixed(&path);
                fate == Fate::Gone || (!is_rewritten && self.has_sound_seal(id))
            }
            // Agents propose while they are governed: the log may grow, and nothing else.
            "ledger" => {
                fate != Fate::Gone
                    && self
                        .ledger
                        .is_some_and(|end| crate::ledger::has_grown_from(&self.state.ledger(), id, &end))
            }
            "runs" => self.is_explained_run(name, fate),
            "cache" if path == self.state.facts() => {
                fate == Fate::Gone || crate::analyze::cache::is_whole(&path)
            }
            // Agents start and finish changes while they are governed. A kept handle is the one of its intent's owner, and
            // goes when its intent does.
            HANDLES if fate == Fate::Gone => {
                path.extension().is_some_and(|extension| extension == "tmp")
                    || audit::head(&self.state) != self.intents
            }
            HANDLES => {
                let registry = audit::registry(&self.state);
                registry.is_some_and(|registry| handles::is_sound(&path, &registry))
            }
            "receipts" => self.is_explained_receipt(id, fate),
            "locks" => path != self.run.lock,
            // A stat cache is written by a run on its tree, and may go at any time.
            "cache" => fate == Fate::Gone || (path != self.run.cache && self.ran_elsewhere(&path, new_links)),
            _ => false,
        }
    }

    /// Changes are finished while a command runs. A new receipt is the one of a finish in the log of intents, and none is
    /// rewritten or removed.
    fn is_explained_receipt(&self, name: &str, fate: Fate) -> bool {
        let receipts = Receipts::of(&self.state);
        match (name, fate) {
            ("head.lock", _) => true,
            ("head.json", Fate::New | Fate::Changed) => receipts.is_whole(),
            (_, Fate::New) => receipts
                .digest_in_chain(name)
                .is_some_and(|digest| audit::receipts_after(&self.state, self.intents.seq).contains(&digest)),
            (unfinished, Fate::Gone) => {
                Path::new(unfinished).extension().is_some_and(|extension| extension == "tmp")
            }
            _ => false,
        }
    }

    /// Analyses go on while a command runs. A stored run is what its name says, never becomes another one under the same
    /// name, and is cleared away only if nobody needs it; a pin names its holder, and goes when its intent does. Whether a
    /// run or a fact is honest cannot be told here: whoever can write them can write the tree, too.
    fn is_explained_run(&self, name: &Path, fate: Fate) -> bool {
        let runs = Runs::of(&self.state);
        let parts: Vec<&str> = name.iter().filter_map(|part| part.to_str()).collect();
        match (parts.as_slice(), fate) {
            (["runs", "lock"], _) => true,
            (["runs", unfinished], Fate::Gone) if unfinished.contains('.') => true,
            (["runs", id], Fate::Gone) => runs.is_free(id),
            (["runs", id], Fate::New) => runs.digest_of(id).is_some(),
            (["runs", id], Fate::Changed) => {
                let known = self.runs.get(*id);
                known.is_some() && runs.digest_of(id).as_ref() == known
            }
            (["runs", "pins", _, unfinished], Fate::Gone) if unfinished.contains('.') => true,
            (["runs", "pins", run, pin], Fate::Gone) => !self.is_needed(run, pin),
            (["runs", "pins", _, _], _) => Runs::is_pin(&self.state.dir().join(name)),
            _ => false,
        }
    }

    /// Whether a claim counts on a pin. What a refused start or one that only waits had pinned, nobody needs.
    fn is_needed(&self, run: &str, pin: &str) -> bool {
        let Some(registry) = audit::registry(&self.state) else { return self.intents.seq.0 > 0 };
        let needed = |intent: &probity_intents::registry::Intent| {
            intent.status == probity_intents::Status::Active
                && intent.base.run_id.ends_with(run)
                && Runs::pin_name(intent.id.as_str()) == pin
        };
        registry.open_intents().any(needed)
    }

    fn has_sound_seal(&self, open: &str) -> bool {
        let seal = self.state.dir().join("open").join(open).join(SEAL_FILE);
        fs::read(seal).is_ok_and(|bytes| Seal::parse(&bytes).is_ok())
    }

    /// Whether a run on the tree with this stat cache went on meanwhile, or some run came to its end.
    fn ran_elsewhere(&self, cache: &Path, new_links: Option<&BTreeSet<String>>) -> bool {
        new_links.is_some_and(|links| !links.is_empty())
            || self.state.open_runs().is_ok_and(|runs| runs.iter().any(|run| run.cache == cache))
    }

    /// The runs that were added to the chain, or `None` if the chain does not lead back to its old head.
    fn new_links(&self, chain: Option<&HashChain<String>>) -> Option<BTreeSet<String>> {
        let mut links = BTreeSet::new();
        let mut at = chain?.head().ok()?;
        for _ in 0..MAX_NEW_LINKS {
            if at == self.head {
                return Some(links);
            }
            let link = at?;
            let (hash, previous) = self.manifest_link(&link.id)?;
            if hash != link.digest {
                return None;
            }
            if !links.insert(link.id) {
                return None;
            }
            at = match previous {
                None => None,
                Some(hash) if self.head.as_ref().is_some_and(|head| head.digest == hash) => self.head.clone(),
                Some(hash) => Some(ChainHead { id: self.run_with(hash)?, digest: hash }),
            };
        }
        None
    }

    /// The run hash of a bundle and the one before it.
    fn manifest_link(&self, run_id: &str) -> Option<(Digest, Option<Digest>)> {
        // A bundle that does not hold together is no link, whatever it says about itself.
        let (verification, files) = bundles::verify(&self.state.evidence().join(run_id), &self.trust).ok()?;
        if !bundles::is_sound(&verification) {
            return None;
        }
        let manifest = json::parse(files.get(&b"manifest.json"[..])?).ok()?;
        let hash = manifest.get("run_hash")?.as_str()?.parse().ok()?;
        let previous = match manifest.get("prev_run_hash")?.as_str() {
            None => None,
            Some(text) => Some(text.parse().ok()?),
        };
        Some((hash, previous))
    }

    fn run_with(&self, hash: Digest) -> Option<String> {
        let runs = self.state.bundles().ok()?;
        runs.into_iter().rev().find(|id| self.manifest_link(id).is_some_and(|(found, _)| found == hash))
    }
}

fn is_unfinished_database(name: &str) -> bool {
    name.strip_prefix(probity_storage::DATABASE).is_some_and(|rest| rest.starts_with(".new"))
}

fn is_named_by_content(path: &Path) -> bool {
    let parts: Vec<OsString> = path.iter().rev().take(2).map(OsString::from).collect();
    let name: String = parts.iter().rev().map(|part| part.to_string_lossy()).collect();
    fs::read(path).is_ok_and(|bytes| Digest::of(&bytes).to_hex() == name)
}

/// Every file below `dir` with what tells its states apart. Our own files are few and flat, and a folder that cannot
/// be listed shows as missing files.
fn list(dir: &Path) -> BTreeMap<PathBuf, Mark> {
    let mut files = BTreeMap::new();
    let mut folders = vec![dir.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let Ok(facts) = entry.metadata() else { continue };
            if facts.is_dir() {
                folders.push(path);
            } else if let Ok(name) = path.strip_prefix(dir) {
                files.insert(name.to_owned(), (facts.ino(), facts.size(), facts.ctime(), facts.ctime_nsec()));
            }
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state() -> (tempfile::TempDir, State) {
        let dir = tempfile::tempdir().expect("a directory");
        let state = State::at(dir.path().join("state"));
        for run in [own_run(&state), state.open_run("r2", Path::new("/other"))] {
            fs::create_dir_all(&run.folder).expect("creates");
            fs::write(run.folder.join(SEAL_FILE), "sealed").expect("writes");
        }
        for file in [state.cache(Path::new(TREE)), state.tree_lock(Path::new(TREE))] {
            fs::create_dir_all(file.parent().expect("a parent")).expect("creates");
            fs::write(file, "mine").expect("writes");
        }
        state.before_images().put(b"before").expect("keeps");
        (dir, state)
    }

    const TREE: &str = "/tree";

    fn own_run(state: &State) -> OpenRun {
        state.open_run("r1", Path::new(TREE))
    }

    fn touched(change: impl FnOnce(&State)) -> Vec<PathBuf> {
        let (_dir, state) = state();
        let guard = Guard::set(&state, &own_run(&state), &state.chain().expect("opens"), None, None);
        change(&state);
        guard.touched().into_iter().map(|name| state.dir().join(name)).collect()
    }

    /// Whether rewriting the file at `place` is noticed.
    fn notices(place: impl Fn(&State) -> PathBuf) -> bool {
        let mut expected = Vec::new();
        let found = touched(|state| {
            fs::create_dir_all(place(state).parent().expect("a parent")).expect("creates");
            fs::write(place(state), "forged").expect("writes");
            expected.push(place(state));
        });
        assert!(found.is_empty() || found == expected, "{found:?}");
        !found.is_empty()
    }

    #[test]
    fn intents_may_go_on_meanwhile_and_nobody_may_rewrite_their_log() {
        use probity_storage::ports::Store;
        let memory = probity_storage::memory::Memory::new();
        let mut source = crate::registry::Shell::over(&memory, std::sync::Arc::new(crate::registry::Machine));
        for n in 0..2 {
            source
                .execute(
                    &probity_intents::Owner { token: Some("a".into()), ..probity_intents::Owner::default() },
                    probity_intents::registry::Action::Start {
                        declaration: probity_intents::registry::Declaration {
                            intent_id: probity_intents::IntentId::parse(format!("i-{n}")).expect("an id"),
                            description: String::new(),
                            expected_effects: Vec::new(),
                            scope: probity_intents::IntentScope {
                                allowed_files: [probity_intents::Entry::new(format!("f{n}"))].into(),
                                ..probity_intents::IntentScope::default()
                            },
                            ttl_seconds: 600,
                            lease_seconds: 60,
                            base: probity_intents::registry::Base::default(),
                        },
                        dirty_scope_policy: probity_intents::start::DirtyScopePolicy::Block,
                        on_conflict: probity_intents::start::OnConflict::Block,
                    },
                    &crate::registry::TreeFacts { run_available: true, ..Default::default() },
                )
                .expect("granted");
        }
        let records = memory.log("intents").read_after(0, 9).expect("reads");
        let append = |state: &State, n: usize| {
            let log = state.store().expect("opens").log("intents");
            let at = log.head().expect("reads");
            log.append(at, &records[n].command, &records[n].event).expect("appends");
        };
        assert!(touched(|state| append(state, 0)).is_empty());
        assert!(
            touched(|state| {
                append(state, 0);
                append(state, 1);
            })
            .is_empty()
        );
        assert!(!touched(|state| append(state, 1)).is_empty(), "an event that follows nothing");
        assert!(!touched(|state| fs::write(state.database(), "planted").expect("writes")).is_empty());
        assert!(!touched(|state| fs::write(state.registry_cache(), "planted").expect("writes")).is_empty());
    }

    #[test]
    fn analyses_may_go_on_meanwhile_and_no_run_becomes_another() {
        let stored = |state: &State, text: &str| {
            let run = Runs::of(state).save(crate::runs::tests::run(text)).expect("saves").run;
            state.runs().join(run.id.0.to_hex())
        };
        assert!(touched(|state| drop(stored(state, "a = 1\n"))).is_empty(), "a new run");
        assert!(notices(|state| state.runs().join("00".repeat(32))), "no run at all");
        assert!(notices(|state| state.runs().join("pins").join("00".repeat(32)).join("planted")));
        let renamed = touched(|state| {
            fs::rename(stored(state, "a = 1\n"), state.runs().join("00".repeat(32))).expect("renames");
        });
        assert_eq!(renamed.len(), 1, "a run under the name of another: {renamed:?}");
        let (_dir, state) = state();
        let (kept, pinned) = (stored(&state, "a = 1\n"), stored(&state, "a = 2\n"));
        let id = probity_analysis::RunId(
            format!("sha256:{}", pinned.file_name().expect("a name").to_string_lossy())
                .parse()
                .expect("an id"),
        );
        Runs::of(&state).pin(id, "intent-1").expect("pins");
        let guard = Guard::set(&state, &own_run(&state), &state.chain().expect("opens"), None, None);
        stored(&state, "a = 1\n");
        assert!(guard.touched().is_empty(), "the same run saved again");
        fs::remove_file(&kept).expect("removes");
        assert!(guard.touched().is_empty(), "cleared away");
        fs::remove_file(&pinned).expect("removes");
        assert_eq!(guard.touched().len(), 1, "a run that an intent needs");
    }

    #[test]
    fn facts_may_be_added_and_nothing_else() {
        assert!(notices(State::facts));
        assert!(
            touched(|state| fs::write(state.facts(), crate::analyze::cache::FACTS_CACHE.first_line())
                .expect("writes"))
            .is_empty()
        );
    }

    #[test]
    fn nothing_happened() {
        assert_eq!(touched(|_| {}), Vec::<PathBuf>::new());
    }

    #[test]
    fn a_planted_file_is_found() {
        assert!(notices(|state| state.dir().join("payload")));
    }

    #[test]
    fn a_rewritten_seal_is_found_whosever_it_is() {
        assert!(notices(|state| own_run(state).folder.join(SEAL_FILE)));
        assert!(notices(|state| own_run(state).folder.join(claims::CLAIM_FILE)));
        assert!(notices(|state| state.open_run("r2", Path::new("/other")).folder.join(SEAL_FILE)));
    }

    #[test]
    fn the_own_lock_and_stat_cache_are_guarded() {
        assert!(notices(|state| state.cache(Path::new(TREE))));
        assert!(notices(|state| state.tree_lock(Path::new(TREE))));
        assert!(touched(|state| drop(fs::remove_file(state.tree_lock(Path::new(TREE))))).len() == 1);
    }

    #[test]
    fn the_stat_cache_of_a_tree_where_nothing_ran_is_guarded() {
        assert!(notices(|state| state.cache(Path::new("/idle"))));
        assert!(!notices(|state| state.cache(Path::new("/other"))), "a run goes on there");
    }

    #[test]
    fn before_images_cannot_be_taken_away() {
        let kept = |state: &State| state.before_images().put(b"before").expect("keeps").to_hex();
        let taken = touched(|state| {
            let name = kept(state);
            fs::remove_file(state.dir().join("before").join(&name[..2]).join(&name[2..])).expect("removes");
        });
        assert_eq!(taken.len(), 1);
    }

    #[test]
    fn locks_of_other_trees_may_come_and_go() {
        assert!(!notices(|state| state.tree_lock(Path::new("/other"))));
    }

    #[test]
    fn what_is_only_just_being_written_is_looked_at_again() {
        let (_dir, state) = state();
        let guard = Guard::set(&state, &own_run(&state), &state.chain().expect("opens"), None, None);
        let unfinished = state.dir().join("before/unfinished.tmp");
        fs::write(&unfinished, "x").expect("writes");
        let mut looks = 0;
        let found = guard.touched_after(|| {
            looks += 1;
            if looks == 4 {
                fs::remove_file(&unfinished).expect("removes");
            }
        });
        assert_eq!((found, looks), (Vec::<PathBuf>::new(), 4));
    }

    #[test]
    fn a_forged_chain_is_found() {
        let forged = touched(|state| {
            let mut chain = state.chain().expect("opens");
            chain.advance(&"r0".into(), Digest::of(b"forged")).expect("moves");
        });
        assert_eq!(forged.len(), 1);
        assert!(forged[0].ends_with("chain.json"));
    }

    #[test]
    fn objects_must_have_their_own_digest() {
        assert!(touched(|state| drop(state.before_images().put(b"another"))).is_empty());
        assert!(notices(|state| state.dir().join("before/zz")));
    }
}
