//! What the policy of the tree says about one path now, whatever a run did.

use crate::exempt::{Exemptions, JudgedBecause, OutputRule, TrackedPaths};
use crate::observe::Observer;
use crate::planning::{Selection, plan_of};
use crate::{Fault, Workspace, clock, git, run};
use canon::bytes::escape;
use evidence::{Plan, Seal};
use paths::RepoPath;
use plan::Policy;
use serde::Serialize;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// What is at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PathKind {
    /// A file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Symlink,
    /// A device, a socket or the like.
    Special,
}

/// Why no scope lets a run change a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "rule", rename_all = "snake_case")]
pub enum ProtectionRule {
    /// A pattern of the policy, or one that protects policies and Probity's state everywhere.
    Pattern {
        /// The pattern.
        pattern: String,
    },
    /// It is one of git's own files.
    GitDirectory,
}

/// Where a path stands under the policy of the tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PathStanding {
    /// What is there; `None` if the path does not exist.
    pub kind: Option<PathKind>,
    /// Whether git tracks it, or something in it; `None` if git gave no answer, or there is no repository.
    pub tracked: Option<bool>,
    /// What protects it.
    pub protected_by: Option<ProtectionRule>,
    /// The rule by which it counts as what builds write.
    pub output_rule: Option<OutputRule>,
    /// Why it is judged although such a rule names it.
    pub judged_because: Option<JudgedBecause>,
    /// Whether it is a build output, and so no part of the delta of a run.
    pub exempt: bool,
    /// The packs of the policy that let it in.
    pub packs: Vec<String>,
}

/// Where `path` stands.
pub fn standing(workspace: &Workspace, path: &RepoPath) -> Result<PathStanding, Fault> {
    let policy = workspace.policy()?;
    let snapshot = Observer::new(workspace).content(None)?;
    let committed = git::head_tree(workspace).ok();
    let (exemptions, _) = Exemptions::at_start(workspace, &policy, committed.as_ref(), &snapshot)?;
    // Which gates run depends on what changes: those that a change of this path would run.
    let contents =
        run::contents_of(workspace, &policy, plan_for(&policy, path)?, &clock::run_id(), &snapshot);
    let seal = Seal::new(contents);
    let exemptions = exemptions.with_gates(&seal, &snapshot)?;
    let protected = seal.contents().protected.to_scope()?;
    let pattern = protected.decision(path).filter(|_| protected.lets_in(path));
    let is_git_file = path.segments().any(|name| name == b".git");
    let protected_by = if is_git_file {
        Some(ProtectionRule::GitDirectory)
    } else {
        pattern.map(|it| ProtectionRule::Pattern { pattern: escape(it.pattern.as_bytes()) })
    };
    let tracked = workspace.git.is_some().then(|| TrackedPaths::of(workspace, committed.as_ref(), &snapshot));
    let tracked = match tracked {
        Some(TrackedPaths::Known(paths)) => Some(paths.contains(path)),
        Some(TrackedPaths::Unknown) | None => None,
    };
    let mut packs = Vec::new();
    for pack in &policy.packs {
        if pack.scope.to_scope()?.lets_in(path) {
            packs.push(pack.id.clone());
        }
    }
    Ok(PathStanding {
        kind: kind(workspace, path),
        tracked,
        protected_by,
        output_rule: exemptions.rule_for(path),
        judged_because: exemptions.why_path_judged(path),
        exempt: exemptions.exempts_path(path),
        packs,
    })
}

/// The plan for a change of `path`; where that needs more to be said, the plan for no change in particular.
fn plan_for(policy: &Policy, path: &RepoPath) -> Result<Plan, Fault> {
    let profile = policy.default_profile().or_else(|| policy.profiles.first().map(|it| it.id.as_str()));
    let selection = Selection { profile: profile.map(str::to_owned), ..Selection::default() };
    let of_path = Selection { changed: vec![path.as_bytes().to_vec()], ..selection.clone() };
    plan_of(policy, &of_path).or_else(|_| plan_of(policy, &selection))
}

fn kind(workspace: &Workspace, path: &RepoPath) -> Option<PathKind> {
    let facts = workspace.root.join(OsStr::from_bytes(path.as_bytes())).symlink_metadata().ok()?;
    Some(match facts.file_type() {
        it if it.is_file() => PathKind::File,
        it if it.is_dir() => PathKind::Directory,
        it if it.is_symlink() => PathKind::Symlink,
        _ => PathKind::Special,
    })
}
