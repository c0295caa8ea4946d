//! Whether Probity's own state was touched while a command ran.
//!
//! The state directory is no part of the content, so nothing else would notice what an agent plants or rewrites there.
//! Runs in other worktrees of the same repository may write here at the same time; what they write explains itself: it
//! hangs on the chain, has its own digest as its name, or is a seal that holds together. Everything else is a change of
//! a protected path.

use canon::{Digest, json};
use plan::Seal;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use store::{Link, State};

/// The longest chain of bundles that runs elsewhere can have added while one run went on.
const MAX_NEW_LINKS: usize = 100_000;

/// What tells two states of a file of ours apart.
type Mark = (u64, u64, i64, i64);

/// The state directory as it was when a command started.
#[derive(Debug)]
pub(crate) struct Guard {
    state: State,
    run_id: String,
    head: Option<Link>,
    files: BTreeMap<PathBuf, Mark>,
}

impl Guard {
    /// Remembers the state directory. `head` is the head of the chain.
    pub(crate) fn set(state: &State, run_id: &str, head: Option<Link>) -> Self {
        Self { state: state.clone(), run_id: run_id.into(), head, files: list(state.dir()) }
    }

    /// The head of the chain when the guard was set.
    pub(crate) fn head(&self) -> Option<&Link> {
        self.head.as_ref()
    }

    /// The files that changed and do not explain themselves, relative to the state directory.
    pub(crate) fn touched(&self) -> Vec<PathBuf> {
        let now = list(self.state.dir());
        let names: BTreeSet<&PathBuf> = self.files.keys().chain(now.keys()).collect();
        let differs = |name: &PathBuf| self.files.get(name) != now.get(name);
        let changed: Vec<&PathBuf> = names.into_iter().filter(|name| differs(name)).collect();
        let new_links = self.new_links();
        let is_explained = |name: &Path| {
            let is_new = !self.files.contains_key(name);
            self.is_ours(name) || self.explains_itself(name, is_new, new_links.as_ref())
        };
        changed.into_iter().filter(|name| !is_explained(name)).cloned().collect()
    }

    /// What this very process writes while the command runs, and what may be deleted or forged without effect.
    fn is_ours(&self, name: &Path) -> bool {
        let own_run = Path::new("open").join(&self.run_id);
        let seal = own_run.join("seal.json");
        (name.starts_with(own_run) && name != seal) || name.starts_with("cache") || name.starts_with("locks")
    }

    fn explains_itself(&self, name: &Path, is_new: bool, new_links: Option<&BTreeSet<String>>) -> bool {
        let parts: Vec<&std::ffi::OsStr> = name.iter().collect();
        let first = parts.first().and_then(|part| part.to_str()).unwrap_or_default();
        let id = parts.get(1).and_then(|part| part.to_str()).unwrap_or_default();
        match first {
            "chain.json" | "chain.lock" => new_links.is_some() || name == Path::new("chain.lock"),
            "evidence" => is_new && new_links.is_some_and(|links| links.contains(id)),
            "objects" => is_new && is_named_by_content(&self.state.dir().join(name)),
            // A run elsewhere that began, or that ended and took its folder away.
            "open" => !is_new || self.has_sound_seal(id),
            _ => false,
        }
    }

    fn has_sound_seal(&self, run_id: &str) -> bool {
        fs::read(self.state.open_run(run_id).join("seal.json")).is_ok_and(|bytes| Seal::parse(&bytes).is_ok())
    }

    /// The runs that were added to the chain, or `None` if the chain does not lead back to its old head.
    fn new_links(&self) -> Option<BTreeSet<String>> {
        let mut links = BTreeSet::new();
        let Ok(head) = self.state.chain().and_then(|chain| chain.head()) else {
            return None;
        };
        let mut at = head;
        for _ in 0..MAX_NEW_LINKS {
            if at == self.head {
                return Some(links);
            }
            let link = at?;
            let (hash, previous) = self.manifest_link(&link.run_id)?;
            if hash != link.run_hash {
                return None;
            }
            links.insert(link.run_id);
            at = match previous {
                None => None,
                Some(hash) if self.head.as_ref().is_some_and(|head| head.run_hash == hash) => {
                    self.head.clone()
                }
                Some(hash) => Some(Link { run_id: self.run_with(hash)?, run_hash: hash }),
            };
        }
        None
    }

    /// The run hash of a bundle and the one before it.
    fn manifest_link(&self, run_id: &str) -> Option<(Digest, Option<Digest>)> {
        let bytes = fs::read(self.state.evidence().join(run_id).join("manifest.json")).ok()?;
        let manifest = json::parse(&bytes).ok()?;
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
        fs::create_dir_all(state.open_run("r1")).expect("creates");
        fs::write(state.open_run("r1").join("seal.json"), "sealed").expect("writes");
        state.objects().put(b"before").expect("keeps");
        (dir, state)
    }

    fn touched(change: impl FnOnce(&State)) -> Vec<PathBuf> {
        let (_dir, state) = state();
        let guard = Guard::set(&state, "r1", None);
        change(&state);
        guard.touched()
    }

    #[test]
    fn nothing_happened() {
        assert_eq!(touched(|_| {}), Vec::<PathBuf>::new());
    }

    #[test]
    fn a_planted_file_is_found() {
        let planted = touched(|state| fs::write(state.dir().join("payload"), "x").expect("writes"));
        assert_eq!(planted, [PathBuf::from("payload")]);
    }

    #[test]
    fn a_rewritten_seal_is_found() {
        let rewritten =
            touched(|state| fs::write(state.open_run("r1").join("seal.json"), "forged").expect("writes"));
        assert_eq!(rewritten, [PathBuf::from("open/r1/seal.json")]);
    }

    #[test]
    fn a_forged_chain_is_found() {
        let forged = touched(|state| {
            let link = Link { run_id: "r0".into(), run_hash: Digest::of(b"forged") };
            state.chain().expect("opens").advance(&link).expect("moves");
        });
        assert_eq!(forged, [PathBuf::from("chain.json")]);
    }

    #[test]
    fn objects_must_have_their_own_digest() {
        assert!(touched(|state| drop(state.objects().put(b"another"))).is_empty());
        let forged = touched(|state| fs::write(state.dir().join("objects/zz"), "x").expect("writes"));
        assert_eq!(forged, [PathBuf::from("objects/zz")]);
    }
}
