//! Coherence of several trees: how claims from different trees relate, and whether a tree has what others finished.
//!
//! A claim keeps others from editing at the same time. It does not help someone who starts afterwards from a base that
//! lacks the work. So a release says what each path became, the registry keeps the last value of each path per line, and
//! a start compares its own bytes with them. Contents are compared by digest, so that no history is needed.

use crate::base::{IntentBase, SharedOverlap};
use crate::record::{EventSeq, IntentId};
use crate::relations::relations;
use crate::scope::{IntentScope, ScopeEntrySet};
use probity_core::Digest;
use probity_paths::RepoPath;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// How many paths a release lists.
pub const MAX_RELEASED_PATHS: usize = 2_000;
/// How many bytes their names have together: an event must fit into one value of a store.
const MAX_RELEASED_PATH_BYTES: usize = 128 * 1024;
/// How many paths of all lines the registry remembers; the oldest changes are forgotten first.
pub const MAX_REMEMBERED_PATHS: usize = 10_000;

/// How two overlapping claims relate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ClaimRelation {
    /// Only one of them can be active.
    Exclusive,
    /// Both can be active, and each is told of the other.
    Announced,
    /// They are for different lines.
    Apart,
}

/// Decides how two claims with overlapping scopes relate. Symmetric.
pub fn claim_relation(one: (&IntentScope, &IntentBase), other: (&IntentScope, &IntentBase)) -> ClaimRelation {
    if !one.1.is_apart_from(other.1) {
        return ClaimRelation::Exclusive;
    }
    if !one.1.is_on_line_of(other.1) {
        return ClaimRelation::Apart;
    }
    let (Some(ours), Some(theirs)) = (&one.1.shared, &other.1.shared) else {
        return ClaimRelation::Exclusive;
    };
    let overlap = relations(one.0, other.0);
    let entries = || overlap.hard_overlap.iter().chain(&overlap.soft_overlap);
    let stays_exclusive = |shared: &SharedOverlap| entries().any(|entry| shared.is_exclusive(entry));
    if stays_exclusive(ours) || stays_exclusive(theirs) {
        ClaimRelation::Exclusive
    } else {
        ClaimRelation::Announced
    }
}

/// What a path became: its content, or that it is gone.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PathContent {
    /// The path, from the top of the repository.
    pub path: RepoPath,
    /// Digest of its content; null if it is gone.
    pub content: Option<Digest>,
}

/// What a finished change left, told to other trees with the release.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReleasedWork {
    /// What its paths became, by path.
    pub became: Vec<PathContent>,
    /// The number of further paths that are not listed. Its scope then stands for them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub n_unlisted: u64,
    /// The commit that has these contents, if they were committed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// For how many seconds the claim keeps other trees off until the work has arrived on its line; absent if it ends
    /// at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hold_seconds: Option<u64>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
const fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl ReleasedWork {
    /// Lists what paths became, at most [`MAX_RELEASED_PATHS`].
    pub fn of_paths(contents: BTreeMap<RepoPath, Option<Digest>>) -> Self {
        let (n_paths, mut n_bytes) = (contents.len(), 0);
        let fits = |(path, _): &(RepoPath, Option<Digest>)| {
            n_bytes += path.as_bytes().len();
            n_bytes <= MAX_RELEASED_PATH_BYTES
        };
        let listed = contents.into_iter().take(MAX_RELEASED_PATHS).take_while(fits);
        let became: Vec<PathContent> = listed.map(|(path, content)| PathContent { path, content }).collect();
        let n_unlisted = (n_paths - became.len()) as u64;
        Self { became, n_unlisted, ..Self::default() }
    }
}

/// A finished change as the registry remembers it: those of its paths that no later change of the line has replaced.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LineChange {
    pub intent_id: IntentId,
    pub line: String,
    /// The working tree in which it was made.
    pub tree: Option<String>,
    pub agent: String,
    pub host: String,
    pub receipt: Option<Digest>,
    /// The commit that has the contents, and the branch of the remote on which somebody saw it.
    pub commit: Option<String>,
    pub branch: Option<String>,
    /// The contents, by path.
    #[serde(with = "content_list")]
    pub became: BTreeMap<RepoPath, Option<Digest>>,
    /// Its scope, if it changed more paths than a release lists.
    pub unlisted: ScopeEntrySet,
}

/// Stores contents as a list: not every path is a text, as the keys of an object must be.
mod content_list {
    use super::{BTreeMap, Digest, PathContent, RepoPath};
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(
        contents: &BTreeMap<RepoPath, Option<Digest>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(
            contents.iter().map(|(path, content)| PathContent { path: path.clone(), content: *content }),
        )
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<BTreeMap<RepoPath, Option<Digest>>, D::Error> {
        let list = Vec::<PathContent>::deserialize(deserializer)?;
        Ok(list.into_iter().map(|entry| (entry.path, entry.content)).collect())
    }
}

impl LineChange {
    /// Returns whether the work has arrived on its line.
    pub fn is_on_line(&self) -> bool {
        self.branch.as_ref() == Some(&self.line)
    }
}

/// The last known contents of paths, per line. Bounded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LineContents {
    /// By the event that released them.
    changes: BTreeMap<EventSeq, LineChange>,
    /// The change that has the last content of a path, by line and path.
    latest: BTreeMap<(String, RepoPath), EventSeq>,
}

impl LineContents {
    /// Returns what is remembered, by the event that released it.
    pub(crate) fn to_list(&self) -> Vec<(EventSeq, LineChange)> {
        self.changes.iter().map(|(seq, change)| (*seq, change.clone())).collect()
    }

    pub(crate) fn from_list(list: Vec<(EventSeq, LineChange)>) -> Self {
        let mut contents = Self::default();
        for (seq, change) in list {
            contents.index(seq, &change);
            contents.changes.insert(seq, change);
        }
        contents
    }

    fn index(&mut self, seq: EventSeq, change: &LineChange) {
        let places = change.became.keys().map(|path| ((change.line.clone(), path.clone()), seq));
        self.latest.extend(places);
    }

    /// Adds a finished change; what it changed replaces earlier values.
    pub(crate) fn add(&mut self, seq: EventSeq, change: LineChange) {
        for path in change.became.keys() {
            if let Some(earlier) = self.latest.get(&(change.line.clone(), path.clone())).copied() {
                self.forget_path(earlier, path);
            }
        }
        self.index(seq, &change);
        self.changes.insert(seq, change);
        while self.latest.len() > MAX_REMEMBERED_PATHS || self.changes.len() > MAX_REMEMBERED_PATHS {
            let Some((_, oldest)) = self.changes.pop_first() else { return };
            for path in oldest.became.into_keys() {
                self.latest.remove(&(oldest.line.clone(), path));
            }
        }
    }

    fn forget_path(&mut self, seq: EventSeq, path: &RepoPath) {
        let Some(change) = self.changes.get_mut(&seq) else { return };
        change.became.remove(path);
        if change.became.is_empty() && change.unlisted.is_empty() {
            self.changes.remove(&seq);
        }
    }

    /// Notes where the work of an intent arrived.
    pub(crate) fn land(&mut self, id: &IntentId, commit: &str, branch: &str) {
        for change in self.changes.values_mut().filter(|change| change.intent_id == *id) {
            change.commit = Some(commit.to_owned());
            change.branch = Some(branch.to_owned());
        }
    }

    pub(crate) fn change_of(&self, id: &IntentId) -> Option<&LineChange> {
        self.changes.values().find(|change| change.intent_id == *id)
    }

    /// Returns the change with the last content of each path of a line that `scope` covers, oldest change first, each
    /// with these paths.
    fn covered_by<'s>(
        &'s self,
        scope: &'s IntentScope,
        base: &'s IntentBase,
    ) -> impl Iterator<Item = (&'s LineChange, Vec<&'s RepoPath>)> {
        let is_of_line = |change: &LineChange| base.line.as_deref().unwrap_or_default() == change.line;
        self.changes.values().filter(move |change| is_of_line(change)).filter_map(move |change| {
            let is_covered = |path: &&RepoPath| scope.holds(path.as_bytes()).is_some();
            let paths: Vec<&RepoPath> = change.became.keys().filter(is_covered).collect();
            let unlisted = IntentScope { allowed_files: change.unlisted.clone(), ..IntentScope::default() };
            let may_be_unlisted = !change.unlisted.is_empty() && crate::relations::overlap(scope, &unlisted);
            (!paths.is_empty() || may_be_unlisted).then_some((change, paths))
        })
    }
}

/// What a tree has: contents and commits, as far as they were asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TreeContents {
    /// The content of each path; `None` if it is not there.
    pub contents: BTreeMap<RepoPath, Option<Digest>>,
    /// The commits that the checked out one contains.
    pub commits: BTreeSet<String>,
}

/// What to ask a tree about a scope.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TreeQuestion {
    pub paths: BTreeSet<RepoPath>,
    pub commits: BTreeSet<String>,
}

/// Work of another tree that a base lacks.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LackingWork {
    /// The intent whose work it is.
    pub intent_id: IntentId,
    /// The name of its owner for people.
    pub agent: String,
    /// The machine of its owner, as it calls itself.
    pub host: String,
    /// The paths whose content differs; empty if the change had too many paths to list.
    pub paths: Vec<RepoPath>,
    /// The commit that has it, if one is known.
    pub commit: Option<String>,
    /// The branch of the remote on which that commit was seen; null if the work has not arrived anywhere yet.
    pub branch: Option<String>,
    /// Digest of its receipt.
    pub receipt: Option<Digest>,
    /// Whether a fetch from the line brings it. If not, nothing can be done here but to know of it.
    pub is_on_line: bool,
}

/// The last contents of the paths of a scope, as far as others made them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BaseQuestion<'a> {
    pub(crate) scope: &'a IntentScope,
    pub(crate) base: &'a IntentBase,
}

impl LineContents {
    pub(crate) fn question(&self, asked: BaseQuestion<'_>) -> TreeQuestion {
        let mut question = TreeQuestion::default();
        for (change, paths) in self.made_by_others(asked) {
            question.paths.extend(paths.into_iter().cloned());
            question.commits.extend(change.commit.clone());
        }
        question
    }

    /// Returns the work of other trees that `own` lacks: its content differs, and its commit is not contained.
    pub(crate) fn lacking(&self, asked: BaseQuestion<'_>, own: &TreeContents) -> Vec<LackingWork> {
        let lacks = |(change, paths): (&LineChange, Vec<&RepoPath>)| {
            if change.commit.as_ref().is_some_and(|commit| own.commits.contains(commit)) {
                return None;
            }
            let is_other = |path: &&RepoPath| own.contents.get(*path) != change.became.get(*path);
            let paths: Vec<RepoPath> = paths.into_iter().filter(is_other).cloned().collect();
            (!paths.is_empty() || !change.unlisted.is_empty()).then(|| LackingWork {
                intent_id: change.intent_id.clone(),
                agent: change.agent.clone(),
                host: change.host.clone(),
                is_on_line: change.is_on_line() && !paths.is_empty(),
                paths,
                commit: change.commit.clone(),
                branch: change.branch.clone(),
                receipt: change.receipt,
            })
        };
        self.made_by_others(asked).filter_map(lacks).collect()
    }

    fn made_by_others<'s>(
        &'s self,
        asked: BaseQuestion<'s>,
    ) -> impl Iterator<Item = (&'s LineChange, Vec<&'s RepoPath>)> {
        self.covered_by(asked.scope, asked.base)
            .filter(move |(change, _)| !asked.base.is_in_tree(change.tree.as_deref()))
    }
}

probity_core::word_enum! {
    /// What happens to a start whose base lacks work that is on the line.
    #[derive(Default)]
    pub enum StaleBaseRule {
        /// It is refused.
        #[default]
        Block = "block",
        /// It is granted with a warning.
        Warn = "warn",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scope::ScopeEntry;
    use proptest::prelude::*;

    fn base(tree: &str, line: &str, exclusive: Option<&[&str]>) -> IntentBase {
        IntentBase {
            tree: Some(tree.into()),
            line: Some(line.into()),
            shared: exclusive
                .map(|patterns| SharedOverlap { exclusive: patterns.iter().map(ScopeEntry::new).collect() }),
            ..IntentBase::default()
        }
    }

    fn scope(path: &str) -> IntentScope {
        IntentScope { allowed_files: [ScopeEntry::new(path)].into(), ..IntentScope::default() }
    }

    fn relation(path: &str, one: &IntentBase, other: &IntentBase) -> ClaimRelation {
        claim_relation((&scope(path), one), (&scope(path), other))
    }

    #[test]
    fn claims_relate_by_tree_then_line_then_what_both_sides_say() {
        let announce = Some(&["migrations/**", "*.lock"][..]);
        let (one, two) = (base("t1:", "main", announce), base("t2:", "main", announce));
        assert_eq!(relation("a", &one, &two), ClaimRelation::Announced);
        for path in ["migrations/7.sql", "migrations", "Cargo.lock", "deep/x.lock"] {
            assert_eq!(relation(path, &one, &two), ClaimRelation::Exclusive, "{path}");
        }
        assert_eq!(relation("a", &one, &base("t1:sub", "other", announce)), ClaimRelation::Exclusive);
        assert_eq!(relation("a", &one, &base("t2:", "other", None)), ClaimRelation::Apart);
        assert_eq!(relation("a", &one, &base("t2:", "main", None)), ClaimRelation::Exclusive);
        assert_eq!(relation("a", &one, &IntentBase::default()), ClaimRelation::Exclusive);
    }

    fn change(n: u64, line: &str, paths: &[&str]) -> LineChange {
        LineChange {
            intent_id: IntentId::parse(format!("i{n}")).expect("an id"),
            line: line.into(),
            tree: Some("t1".into()),
            agent: String::new(),
            host: String::new(),
            receipt: None,
            commit: None,
            branch: None,
            became: paths
                .iter()
                .map(|path| {
                    let content = Digest::of(format!("{n}").as_bytes());
                    (RepoPath::parse(path.as_bytes()).expect("a path"), Some(content))
                })
                .collect(),
            unlisted: ScopeEntrySet::new(),
        }
    }

    #[test]
    fn the_memory_is_bounded_and_forgets_the_oldest_first() {
        let mut contents = LineContents::default();
        let paths: Vec<String> = (0..=MAX_REMEMBERED_PATHS).map(|n| format!("p{n}")).collect();
        for (n, path) in paths.iter().enumerate() {
            contents.add(EventSeq(n as u64 + 1), change(n as u64, "main", &[path]));
        }
        assert_eq!(contents.latest.len(), MAX_REMEMBERED_PATHS);
        let asked = |scope: &IntentScope| {
            let base = base("t2", "main", None);
            contents.question(BaseQuestion { scope, base: &base }).paths.len()
        };
        assert_eq!((asked(&scope("p0")), asked(&scope("p1"))), (0, 1));
    }

    proptest! {
        /// The memory answers as the whole history would: the last change of each path decides.
        #[test]
        fn only_the_last_content_of_a_path_counts(
            history in proptest::collection::vec((0..3_usize, 0..2_usize, any::<bool>()), 1..20), own in 0..20_u64,
        ) {
            let (paths, lines) = (["a", "a/x", "b"], ["main", "next"]);
            let mut contents = LineContents::default();
            let mut last = BTreeMap::new();
            for (n, (path, line, lands)) in history.iter().enumerate() {
                let n = n as u64;
                contents.add(EventSeq(n + 1), change(n, lines[*line], &[paths[*path]]));
                if *lands {
                    contents.land(&IntentId::parse(format!("i{n}")).expect("an id"), "c", lines[*line]);
                }
                last.insert((*path, *line), (n, *lands));
            }
            prop_assert_eq!(&LineContents::from_list(contents.to_list()), &contents);
            for (path, name) in paths.iter().enumerate() {
                let own_content = Some(Digest::of(format!("{own}").as_bytes()));
                let tree = TreeContents {
                    contents: paths.iter().map(|it| (RepoPath::parse(it.as_bytes()).expect("a path"), own_content)).collect(),
                    commits: BTreeSet::new(),
                };
                let exact = IntentScope { allowed_files: [ScopeEntry::new(name)].into(), forbidden: [ScopeEntry::new("a/x")].into(), ..IntentScope::default() };
                let asked = if path == 0 { &exact } else { &scope(name) };
                let base = base("t2", "main", None);
                let found = contents.lacking(BaseQuestion { scope: asked, base: &base }, &tree);
                let expected = last.get(&(path, 0)).filter(|(n, _)| *n != own);
                prop_assert_eq!(found.len(), usize::from(expected.is_some()), "{}", name);
                prop_assert_eq!(found.first().map(|work| work.is_on_line), expected.map(|(_, lands)| *lands));
                let same_tree = IntentBase { tree: Some("t1:sub".into()), ..base.clone() };
                let of_its_own = contents.lacking(BaseQuestion { scope: asked, base: &same_tree }, &tree);
                prop_assert!(of_its_own.is_empty());
            }
        }
    }
}
