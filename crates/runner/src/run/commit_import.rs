//! Takes over the commits that a run made in its view, after its content has landed (`[git] commits = "import"`).

use crate::landing::overlay_target;
use probity_api::govern::enforcement::ImportedBranch;
use probity_api::govern::run::RefMovement;
use probity_paths::{RepoPath, Scope};
use probity_snapshot::Snapshot;
use probity_workspace::Workspace;
use probity_workspace::git_import::{
    BranchImport, ImportRules, MAX_IMPORTED_BRANCHES, MovedBranch, import_branch,
};
use std::path::{Path, PathBuf};

const BRANCHES: &str = "refs/heads/";

/// Imports the branches that moved in the view whose layer is in `layer`. `tree` is what was judged and has landed.
pub(super) fn import_commits(
    workspace: &Workspace,
    layer: &Path,
    movements: &[RefMovement],
    scope: &Scope,
    tree: &Snapshot,
) -> Vec<ImportedBranch> {
    let Some(git) = &workspace.git else { return Vec::new() };
    let objects = layer_objects(workspace, layer, &git.common_dir);
    let prefix = workspace.below_top();
    let may_change = |path: &RepoPath| {
        let below = if prefix.is_empty() {
            Some(path.as_bytes())
        } else {
            path.as_bytes().strip_prefix(&*prefix).and_then(|name| name.strip_prefix(b"/"))
        };
        below.and_then(|name| RepoPath::parse(name).ok()).is_some_and(|path| scope.contains(&path))
    };
    let rules = ImportRules { tree, may_change: &may_change };
    let is_branch = |it: &&RefMovement| it.repository.is_none() && it.name.starts_with(BRANCHES);
    let mut imported: Vec<ImportedBranch> = Vec::new();
    for movement in movements.iter().filter(is_branch) {
        let Some(after) = &movement.after else { continue };
        let branch = MovedBranch { name: &movement.name, before: movement.before.as_deref(), after };
        let result = if imported.len() < MAX_IMPORTED_BRANCHES {
            import_branch(workspace, git, objects.as_deref(), branch, &rules)
        } else {
            Ok(BranchImport::Refused(format!("more than {MAX_IMPORTED_BRANCHES} branches moved")))
        };
        let (n_commits, note) = match result {
            Ok(BranchImport::Imported { n_commits, index_kept }) => {
                (Some(n_commits), index_kept.map(str::to_owned))
            }
            Ok(BranchImport::Refused(why)) => (None, Some(why)),
            // The content has landed: what git refuses is told and fails nothing.
            Err(failure) => (None, Some(failure.to_string())),
        };
        imported.push(ImportedBranch {
            name: movement.name.clone(),
            before: movement.before.clone(),
            after: after.clone(),
            n_commits,
            note,
        });
    }
    imported
}

/// Returns the object store of the layer, if the command wrote to one.
fn layer_objects(workspace: &Workspace, layer: &Path, common_dir: &Path) -> Option<PathBuf> {
    let git_layer = match common_dir.strip_prefix(overlay_target(workspace)) {
        Ok(below) => layer.join("upper").join(below),
        Err(_) => layer.join("git/upper"),
    };
    let objects = git_layer.join("objects");
    objects.symlink_metadata().is_ok().then_some(objects)
}
