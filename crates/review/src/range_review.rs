//! The review of the commits of a range: a pull request.

use crate::file_sides::{FileSides, commit_tree};
use crate::run_review::path_row;
use probity_api::review::{ChangeReview, PathFate, ReviewedKind};
use probity_core::text::count;
use probity_evidence::ChangeKind;
use probity_paths::RepoPath;
use probity_runner::recorded_contents::SideContent;
use probity_snapshot::GitId;
use probity_workspace::{ServiceError, Workspace, git, git_history};
use std::collections::{BTreeMap, BTreeSet};

/// Reviews what differs between two commits.
pub(crate) fn range(workspace: &Workspace, base: &str, head: &str) -> Result<ChangeReview, ServiceError> {
    let Some(layout) = &workspace.git else {
        return Err(ServiceError::Missing("there is no git repository, so there are no commits".into()));
    };
    let (before, after) = (commit_tree(workspace, base)?, commit_tree(workspace, head)?);
    let names: BTreeSet<&RepoPath> = before.keys().chain(after.keys()).collect();
    let changed: Vec<&RepoPath> =
        names.into_iter().filter(|path| before.get(*path) != after.get(*path)).collect();
    let ids: Vec<String> = changed
        .iter()
        .flat_map(|path| [before.get(*path), after.get(*path)])
        .flatten()
        .map(|(_, id)| id.to_string())
        .collect();
    let contents = git::present_blobs(layout, &ids)?;
    let side = |entry: Option<&(u32, GitId)>| match entry {
        None => SideContent::Absent,
        Some((_, id)) => {
            contents.get(&id.to_string()).map_or(SideContent::Lost, |it| SideContent::Content(it.clone()))
        }
    };
    let deleted: BTreeMap<&GitId, &RepoPath> = changed
        .iter()
        .filter(|path| !after.contains_key(**path))
        .filter_map(|path| Some((&before.get(*path)?.1, *path)))
        .collect();
    let mut paths = Vec::new();
    for path in changed {
        let change = match (before.contains_key(path), after.contains_key(path)) {
            (false, _) => ChangeKind::Added,
            (_, false) => ChangeKind::Deleted,
            _ => ChangeKind::Modified,
        };
        let mut row = path_row(path.clone(), change, PathFate::Unjudged);
        let moved =
            after.get(path).filter(|_| change == ChangeKind::Added).and_then(|(_, id)| deleted.get(id));
        row.renamed_from = moved.map(|from| (*from).clone());
        FileSides { before: side(before.get(path)), after: side(after.get(path)) }.describe(&mut row);
        paths.push(row);
    }
    let caption = GitId::from_hex(head.as_bytes())
        .map(|id| git_history::captions(layout, &[id]))
        .transpose()?
        .and_then(|mut captions| captions.pop());
    let n_commits = git::count_commits(layout, base, head)?;
    let title = caption.as_ref().map_or_else(|| "Commits".to_owned(), |caption| caption.subject.clone());
    let short = |id: &str| id.get(..8).unwrap_or(id).to_owned();
    Ok(ChangeReview {
        agent: caption.map(|caption| caption.author),
        base: Some(base.to_owned()),
        paths,
        notes: vec![
            format!(
                "{} {} from {} to {}",
                count(usize::try_from(n_commits).unwrap_or(usize::MAX), "commit"),
                if n_commits == 1 { "leads" } else { "lead" },
                short(base),
                short(head)
            ),
            format!(
                "nothing was declared for this range: `probity contract verify --diff-against {}` judges it",
                short(base)
            ),
        ],
        ..ChangeReview::unjudged(format!("{base}..{head}"), ReviewedKind::Range, title)
    })
}
