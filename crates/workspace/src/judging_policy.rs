//! The policy that judges a change: that of the commit it starts from (law 8).
//!
//! The judged can write the file in the tree, also before the start. A file that differs from the commit is told and has no
//! effect. Where the commit has no policy yet, the file in the tree may demand more than nothing and let nothing pass.

use crate::own_files::{JSON_POLICY_FILE, POLICY_FILE};
use crate::workspace::PolicySource;
use crate::{LoadedPolicy, ServiceError, Workspace, git};
use probity_core::json;
use probity_paths::RepoPath;
use probity_snapshot::git::{GITLINK_MODE, HeadTree};

/// A policy and what to say about the file in the tree.
#[derive(Debug, Default)]
pub struct JudgingPolicy {
    pub loaded: LoadedPolicy,
    pub note: Option<String>,
}

/// Returns the policy for a change that starts now.
pub fn policy_at_start(workspace: &Workspace) -> Result<JudgingPolicy, ServiceError> {
    let Some(commit) = git::head(workspace)? else {
        return Ok(JudgingPolicy { loaded: workspace.load_policy()?, note: None });
    };
    let in_tree = workspace.policy_source()?;
    // Asked of git each time: the judged could write a cache.
    let policy_files = git::files_at_root(workspace, &commit, &[POLICY_FILE, JSON_POLICY_FILE])?;
    if let Some(committed) = committed_policy(workspace, &policy_files)? {
        let note = (in_tree.as_ref() != Some(&committed)).then(|| {
            let name = committed.file_name();
            format!("{name} differs from the commit; the committed one judges this change")
        });
        let policy = committed.parse(&workspace.root)?;
        return Ok(JudgingPolicy { loaded: LoadedPolicy { policy, source: Some(committed) }, note });
    }
    let Some(source) = in_tree else { return Ok(JudgingPolicy::default()) };
    let whole = source.parse(&workspace.root)?;
    let policy = whole.demands_only();
    let name = source.file_name();
    let note = if policy == whole {
        format!(
            "{name} is not committed yet; it judges this change, because it only adds to what no policy demands"
        )
    } else {
        format!(
            "{name} is not committed yet; its gates and protected paths count, but what it lets pass (`build_outputs`, \
             `[analysis]`, a lower strictness, `allow_skip_gates`) counts only once it is committed"
        )
    };
    let source = PolicySource { is_json: true, bytes: json::canonical(&policy.to_json()) };
    Ok(JudgingPolicy { loaded: LoadedPolicy { policy, source: Some(source) }, note: Some(note) })
}

/// Returns the policy of a commit with the given files.
pub fn committed_policy(
    workspace: &Workspace,
    tree: &HeadTree,
) -> Result<Option<PolicySource>, ServiceError> {
    for name in [POLICY_FILE, JSON_POLICY_FILE] {
        if let Some(bytes) = committed_file(workspace, tree, name)? {
            return Ok(Some(PolicySource { is_json: name == JSON_POLICY_FILE, bytes }));
        }
    }
    Ok(None)
}

/// Returns the content of a file at the root in a commit with the given files.
pub fn committed_file(
    workspace: &Workspace,
    tree: &HeadTree,
    name: &str,
) -> Result<Option<Vec<u8>>, ServiceError> {
    let found = RepoPath::parse(name.as_bytes()).ok().and_then(|path| {
        let (_, id) = tree.get(&path).filter(|(mode, _)| *mode != GITLINK_MODE)?;
        Some((id.to_string(), path))
    });
    let Some(((id, path), git)) = found.zip(workspace.git.as_ref()) else { return Ok(None) };
    Ok(git::blobs(git, &[(&path, id.clone())])?.remove(&id))
}
