//! Conflicts between governed runs and intents.
//!
//! A run claims the patterns of its sealed scope, an intent claims literal paths. Whether they overlap is
//! decided on the patterns; in doubt they do. The start rules see a conflicting run as one more live foreign
//! intent that holds exactly the contested entries, so it blocks, queues and is named like an intent.

use crate::owner::Ownership;
use crate::record::{IntentId, IntentStatus, PeerIntent};
use crate::scope::{IntentScope, ScopeEntry, ScopeEntrySet};
use probity_paths::{RepoPath, Scope};
use probity_scopes::{ScopeClaim, overlap};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunClaim {
    pub run_id: String,
    /// The run's root, relative to the top of the working tree; empty at the top.
    pub prefix: Vec<u8>,
    /// What the run may touch, relative to its root.
    pub scope: Scope,
}

impl RunClaim {
    /// Returns the entries of an intent's scope (relative to the top of the working tree) that the run may
    /// touch, wholly or in part. `is_file` identifies entries that cannot have anything below them.
    pub fn contested_entries(
        &self,
        scope: &IntentScope,
        is_file: &dyn Fn(&ScopeEntry) -> bool,
    ) -> ScopeEntrySet {
        let run = ScopeClaim { scope: self.scope.clone(), ..ScopeClaim::default() };
        let meets = |entry: &&ScopeEntry| match self.claim_of(entry, is_file(entry)) {
            // Patterns too complex to decide count as overlapping: claims are refused in doubt.
            Some(claim) => !matches!(overlap(&claim, &run), Ok(None)),
            None => false,
        };
        scope.entries().filter(meets).cloned().collect()
    }

    /// Returns the run as a peer for the start rules, if it conflicts with `scope`.
    pub fn as_peer(&self, scope: &IntentScope, is_file: &dyn Fn(&ScopeEntry) -> bool) -> Option<PeerIntent> {
        let allowed_files = self.contested_entries(scope, is_file);
        if allowed_files.is_empty() {
            return None;
        }
        Some(PeerIntent {
            intent_id: IntentId::parse(self.run_id.clone()).ok()?,
            ownership: Ownership::ForeignActive,
            status: IntentStatus::Active,
            scope: IntentScope { allowed_files, ..IntentScope::default() },
        })
    }

    /// Returns the part of the run's root that an entry claims; `None` if the entry is outside.
    fn claim_of(&self, entry: &ScopeEntry, is_file: bool) -> Option<ScopeClaim> {
        let name = entry.as_bytes();
        let below = match &*self.prefix {
            b"" => name,
            prefix if entry.covers(prefix) => {
                return Some(ScopeClaim { scope: Scope::parse(&["**"]).ok()?, ..ScopeClaim::default() });
            }
            prefix => name.strip_prefix(prefix)?.strip_prefix(b"/")?,
        };
        let path = RepoPath::parse(below).ok()?;
        Some(if is_file { ScopeClaim::name(&path) } else { ScopeClaim::subtree(&path) })
    }
}

/// Returns the active intents whose scope the run may touch, with the contested entries.
pub fn run_conflicts<'p>(
    run: &RunClaim,
    peers: impl IntoIterator<Item = &'p PeerIntent>,
    is_file: &dyn Fn(&ScopeEntry) -> bool,
) -> Vec<(&'p PeerIntent, ScopeEntrySet)> {
    let live = peers.into_iter().filter(|peer| peer.status == IntentStatus::Active);
    let contested = live.map(|peer| (peer, run.contested_entries(&peer.scope, is_file)));
    contested.filter(|(_, entries)| !entries.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coherence::StaleBaseRule;
    use crate::start::{DirtyScopePolicy, OnConflict, StartState, StartStatus, start_decision};
    use std::collections::BTreeSet;

    fn run(prefix: &str, globs: &[&str]) -> RunClaim {
        let scope = Scope::parse(globs).expect("a scope");
        RunClaim { run_id: "run-1".into(), prefix: prefix.into(), scope }
    }

    fn scope(files: &[&str], related: &[&str]) -> IntentScope {
        let entries = |names: &[&str]| names.iter().map(ScopeEntry::new).collect();
        IntentScope {
            allowed_files: entries(files),
            allowed_related: entries(related),
            ..IntentScope::default()
        }
    }

    fn contested(run: &RunClaim, files: &[&str]) -> Vec<String> {
        let is_file = |entry: &ScopeEntry| entry.as_bytes().ends_with(b".py");
        run.contested_entries(&scope(files, &[]), &is_file).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_run_meets_the_entries_that_its_patterns_let_in() {
        let run = run("", &["src/**", "!src/gen/**", "!src/b.py"]);
        assert_eq!(contested(&run, &["src/a.py", "docs/d.md"]), ["src/a.py"]);
        assert_eq!(contested(&run, &["src/b.py", "src/gen"]), ["src/gen"]);
        assert_eq!(contested(&run, &["src/gen/x.py"]), Vec::<String>::new());
        assert_eq!(contested(&run, &["src"]), ["src"], "a directory holds what lies below");
    }

    #[test]
    fn a_run_below_the_top_has_its_own_names() {
        let run = run("pkg", &["src/a.py"]);
        assert_eq!(contested(&run, &["pkg/src/a.py", "src/a.py"]), ["pkg/src/a.py"]);
        assert_eq!(contested(&run, &["pkg", "pkg2/src/a.py"]), ["pkg"]);
    }

    #[test]
    fn a_run_without_a_scope_is_in_nobodys_way() {
        assert_eq!(contested(&run("", &[]), &["src/a.py", "src"]), Vec::<String>::new());
    }

    #[test]
    fn related_paths_count_too() {
        let run = run("", &["docs/**"]);
        let contested = run.contested_entries(&scope(&["src/a.py"], &["docs/d.md"]), &|_| true);
        assert_eq!(contested, [ScopeEntry::new("docs/d.md")].into());
    }

    #[test]
    fn a_run_blocks_or_queues_a_start_as_an_intent_does() {
        let wanted = scope(&["src/a.py"], &[]);
        let peer = run("", &["src/**"]).as_peer(&wanted, &|_| true).expect("is in the way");
        for (on_conflict, status) in
            [(OnConflict::Block, StartStatus::Blocked), (OnConflict::Queue, StartStatus::Queued)]
        {
            let decision = start_decision(&StartState {
                run_available: true,
                scope: wanted.clone(),
                concurrent_intents: vec![peer.clone()],
                dirty: BTreeSet::new(),
                dirty_scope_policy: DirtyScopePolicy::Block,
                on_conflict,
                lacking: Vec::new(),
                stale_base: StaleBaseRule::Block,
            });
            assert_eq!(decision.status, status);
        }
        assert_eq!(run("", &["docs/**"]).as_peer(&wanted, &|_| true), None);
    }
}
