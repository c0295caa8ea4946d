//! What only the history knows: which commit made an edit, and whether the other side had it and went on.

use crate::question::{NamedMerge, ResultTree};
use probity_analysis::{Language, read_source_items};
use probity_api::merge_audit::CommitReference;
use probity_merge_audit::{AuditFinding, EditKind, FindingClass, FourTrees, MergeSide};
use probity_paths::RepoPath;
use probity_snapshot::GitId;
use probity_snapshot::git::GitLayout;
use probity_workspace::git_history::CommitCaption;
use probity_workspace::{ServiceError, git, git_history};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

/// At most this many commits of a side are read for one file.
const MAX_COMMITS_PER_FILE: usize = 60;
/// At most this many files that nobody changed are searched for a definition.
const MAX_SEARCHED_FILES: usize = 20_000;
const MAX_PARSED_BYTES: u64 = 1 << 20;

/// One commit's change of a file.
struct FileCommit {
    id: GitId,
    before: Vec<u8>,
    after: Vec<u8>,
}

/// Finds the commits that made each edit, and marks edits that the other side had and replaced.
pub(crate) fn explain_findings(
    layout: &GitLayout,
    merge: &NamedMerge,
    findings: &mut [AuditFinding],
) -> Result<Vec<Vec<CommitReference>>, ServiceError> {
    let mut known: BTreeMap<(MergeSide, RepoPath), Vec<FileCommit>> = BTreeMap::new();
    let mut commits: Vec<Vec<GitId>> = Vec::new();
    for finding in findings.iter_mut() {
        let Some(side) = finding.side else {
            commits.push(Vec::new());
            continue;
        };
        let other = if side == MergeSide::Ours { MergeSide::Theirs } else { MergeSide::Ours };
        for one in [side, other] {
            let key = (one, finding.path.clone());
            if let Entry::Vacant(place) = known.entry(key) {
                let tip = if one == MergeSide::Ours { &merge.ours } else { &merge.theirs };
                place.insert(file_commits(layout, merge, tip, &finding.path)?);
            }
        }
        let of_side = &known[&(side, finding.path.clone())];
        let of_other = &known[&(other, finding.path.clone())];
        if finding.class == FindingClass::Lost && is_superseded(finding, of_other) {
            finding.class = FindingClass::Superseded;
        }
        commits.push(authors_of(finding, of_side));
    }
    let wanted: BTreeSet<GitId> = commits.iter().flatten().cloned().collect();
    let captions = git_history::captions(layout, &wanted.into_iter().collect::<Vec<_>>())?;
    let by_id: BTreeMap<&GitId, CommitReference> =
        captions.iter().map(|caption| (&caption.id, to_reference(caption))).collect();
    let lists = commits.iter().map(|ids| ids.iter().filter_map(|id| by_id.get(id).cloned()).collect());
    Ok(lists.collect())
}

/// Returns what the commits of one side did to a file, newest first.
fn file_commits(
    layout: &GitLayout,
    merge: &NamedMerge,
    tip: &GitId,
    path: &RepoPath,
) -> Result<Vec<FileCommit>, ServiceError> {
    if git::peeled(layout, &[tip])?.iter().any(|object| object.kind != "commit") {
        return Ok(Vec::new());
    }
    let bases: Vec<GitId> = merge.bases.clone();
    if git::peeled(layout, &bases.iter().collect::<Vec<_>>())?.iter().any(|object| object.kind != "commit") {
        return Ok(Vec::new());
    }
    let commits = git_history::commits_of_path(layout, tip, &bases, path, MAX_COMMITS_PER_FILE)?;
    let pairs: Vec<(&GitId, Option<&GitId>)> =
        commits.iter().filter_map(|ids| Some((ids.first()?, ids.get(1)))).collect();
    // History simplification shows parents that are no parents in the graph: the diff to them is what matters here.
    let lists = git::commit_diffs(layout, &pairs)?;
    let mut changes = Vec::new();
    for ((id, _), list) in pairs.iter().zip(&lists) {
        let Some(entry) = list.iter().find(|entry| entry.path == *path) else { continue };
        changes.push(((*id).clone(), entry.before.clone(), entry.after.clone()));
    }
    let ids: BTreeSet<String> = changes
        .iter()
        .flat_map(|(_, before, after)| [before, after])
        .flatten()
        .map(|(_, id)| id.to_string())
        .collect();
    let blobs = git::present_blobs(layout, &ids.into_iter().collect::<Vec<_>>())?;
    let content = |side: &Option<(u32, GitId)>| {
        side.as_ref().and_then(|(_, id)| blobs.get(&id.to_string()).cloned()).unwrap_or_default()
    };
    Ok(changes
        .iter()
        .map(|(id, before, after)| FileCommit {
            id: id.clone(),
            before: content(before),
            after: content(after),
        })
        .collect())
}

fn n_lines(text: &[u8], line: &str) -> usize {
    let wanted = line.trim().as_bytes();
    text.split(|&byte| byte == b'\n').filter(|other| other.trim_ascii() == wanted).count()
}

/// Lines that say something: not only brackets.
fn telling_lines(finding: &AuditFinding) -> impl Iterator<Item = &String> {
    finding.lost.iter().filter(|line| line.bytes().filter(u8::is_ascii_alphanumeric).count() >= 2)
}

fn is_deletion(finding: &AuditFinding) -> bool {
    matches!(finding.kind, EditKind::Delete | EditKind::RemoveEntity | EditKind::RemoveFile)
}

/// Returns the newest commits that introduced the lost lines, or removed those that are back.
fn authors_of(finding: &AuditFinding, commits: &[FileCommit]) -> Vec<GitId> {
    let mut found: Vec<GitId> = Vec::new();
    for line in telling_lines(finding) {
        let made = commits.iter().find(|commit| {
            let (before, after) = (n_lines(&commit.before, line), n_lines(&commit.after, line));
            if is_deletion(finding) { before > after } else { after > before }
        });
        if let Some(commit) = made
            && !found.contains(&commit.id)
        {
            found.push(commit.id.clone());
        }
    }
    found
}

/// Returns true if the other side once had every lost line and replaced it.
fn is_superseded(finding: &AuditFinding, other: &[FileCommit]) -> bool {
    let lines: Vec<&String> = telling_lines(finding).collect();
    if lines.is_empty() || is_deletion(finding) {
        return false;
    }
    lines.iter().all(|line| {
        let had = other.iter().any(|commit| n_lines(&commit.after, line) > n_lines(&commit.before, line));
        let dropped = other.iter().any(|commit| n_lines(&commit.before, line) > n_lines(&commit.after, line));
        had && dropped
    })
}

/// Keeps the calls whose name no file of the result defines, not even one that nobody changed.
pub(crate) fn confirm_dangling(
    layout: &GitLayout,
    merge: &NamedMerge,
    trees: &FourTrees,
    candidates: Vec<AuditFinding>,
) -> Result<Vec<AuditFinding>, ServiceError> {
    let (false, ResultTree::Object(result)) = (candidates.is_empty(), &merge.result) else {
        return Ok(Vec::new());
    };
    let languages: BTreeSet<Option<Language>> =
        candidates.iter().map(|finding| Language::of_file_name(finding.path.file_name())).collect();
    let files = git::files_of(layout, result)?;
    let unchanged: Vec<(RepoPath, String)> = files
        .into_iter()
        .filter(|(path, _)| !trees.contains_key(path))
        .filter(|(path, _)| languages.contains(&Language::of_file_name(path.file_name())))
        .map(|(path, (_, id))| (path, id.to_string()))
        .take(MAX_SEARCHED_FILES)
        .collect();
    let ids: Vec<String> = unchanged.iter().map(|(_, id)| id.clone()).collect();
    let blobs = git::present_blobs(layout, &ids)?;
    let is_defined = |finding: &AuditFinding| {
        let Some(name) = finding.lost.first() else { return true };
        unchanged.iter().any(|(path, id)| {
            let (Some(bytes), Some(language)) = (blobs.get(id), Language::of_file_name(path.file_name()))
            else {
                return false;
            };
            let mentions = bytes.windows(name.len()).any(|part| part == name.as_bytes());
            mentions
                && read_source_items(language, bytes, MAX_PARSED_BYTES).is_none_or(|items| {
                    items.units.iter().any(|unit| unit.name.rsplit('.').next() == Some(name))
                })
        })
    };
    Ok(candidates.into_iter().filter(|finding| !is_defined(finding)).collect())
}

pub(crate) fn to_reference(caption: &CommitCaption) -> CommitReference {
    CommitReference {
        id: caption.id.to_string(),
        author: caption.author.clone(),
        subject: caption.subject.clone(),
    }
}
