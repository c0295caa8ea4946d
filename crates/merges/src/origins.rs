//! What only the history knows: which commit made an edit, and whether the other side had it and went on.

use crate::question::{NamedMerge, ResultTree};
use probity_analysis::{Language, read_source_items};
use probity_api::merge_audit::CommitReference;
use probity_merge_audit::{AuditFinding, EditKind, FindingClass, FourTrees, MergeSide};
use probity_paths::RepoPath;
use probity_snapshot::GitId;
use probity_snapshot::git::{GitLayout, TreeDiffEntry, TreeSide};
use probity_workspace::git_history::CommitCaption;
use probity_workspace::{ServiceError, git, git_history};
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// At most this many commits of a side are looked at, the newest.
const MAX_COMMITS: usize = 3_000;
/// At most this many versions of one file are read.
const MAX_COMMITS_PER_FILE: usize = 60;
/// Of more files than this the commits are not sought.
const MAX_EXPLAINED_FILES: usize = 300;
/// At most this many files that nobody changed are searched for a definition.
const MAX_SEARCHED_FILES: usize = 20_000;
const MAX_PARSED_BYTES: u64 = 1 << 20;

/// One commit's change of a file.
struct FileCommit {
    id: GitId,
    before: Arc<[u64]>,
    after: Arc<[u64]>,
}

/// Finds the commits that made each edit, and marks edits that the other side had and replaced.
pub(crate) fn explain_findings(
    layout: &GitLayout,
    merge: &NamedMerge,
    findings: &mut [AuditFinding],
) -> Result<Vec<Vec<CommitReference>>, ServiceError> {
    let paths: BTreeSet<&RepoPath> = findings
        .iter()
        .filter(|finding| finding.side.is_some())
        .map(|finding| &finding.path)
        .take(MAX_EXPLAINED_FILES)
        .collect();
    let of_ours = file_commits(layout, merge, &merge.ours, &paths)?;
    let of_theirs = file_commits(layout, merge, &merge.theirs, &paths)?;
    let mut commits: Vec<Vec<GitId>> = Vec::new();
    for finding in findings.iter_mut() {
        let (of_side, of_other) = match finding.side {
            Some(MergeSide::Ours) => (&of_ours, &of_theirs),
            Some(MergeSide::Theirs) => (&of_theirs, &of_ours),
            None => {
                commits.push(Vec::new());
                continue;
            }
        };
        let of_side = of_side.get(&finding.path).map_or(&[][..], Vec::as_slice);
        let of_other = of_other.get(&finding.path).map_or(&[][..], Vec::as_slice);
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

/// What the commits of one side did to files, newest first.
type SideCommits = BTreeMap<RepoPath, Vec<FileCommit>>;

/// Returns what the commits of one side did to some files.
fn file_commits(
    layout: &GitLayout,
    merge: &NamedMerge,
    tip: &GitId,
    paths: &BTreeSet<&RepoPath>,
) -> Result<SideCommits, ServiceError> {
    let named: Vec<&GitId> = merge.bases.iter().chain([tip]).collect();
    if paths.is_empty() || git::peeled(layout, &named)?.iter().any(|object| object.kind != "commit") {
        return Ok(SideCommits::new());
    }
    let changes = git_history::path_changes(layout, tip, &merge.bases, paths, MAX_COMMITS)?;
    let mut by_path: BTreeMap<RepoPath, Vec<(GitId, TreeDiffEntry)>> = BTreeMap::new();
    for (id, list) in changes {
        for entry in list {
            let of_path = by_path.entry(entry.path.clone()).or_default();
            if of_path.len() < MAX_COMMITS_PER_FILE {
                of_path.push((id.clone(), entry));
            }
        }
    }
    let ids: BTreeSet<String> = by_path
        .values()
        .flatten()
        .flat_map(|(_, entry)| [&entry.before, &entry.after])
        .flatten()
        .map(|(_, id)| id.to_string())
        .collect();
    let ids: Vec<String> = ids.into_iter().collect();
    let sizes = git_history::blob_sizes(layout, &ids)?;
    let small: Vec<String> = ids
        .into_iter()
        .filter(|id| sizes.get(id).is_some_and(|size| *size < crate::contents::MAX_READ_BYTES))
        .collect();
    let blobs: BTreeMap<String, Arc<[u64]>> = git::present_blobs(layout, &small)?
        .into_iter()
        .map(|(id, bytes)| (id, line_hashes(&bytes).into()))
        .collect();
    let content = |side: &TreeSide| -> Arc<[u64]> {
        side.as_ref().and_then(|(_, id)| blobs.get(&id.to_string()).cloned()).unwrap_or_default()
    };
    let commit_of = |(id, entry): (GitId, TreeDiffEntry)| FileCommit {
        id,
        before: content(&entry.before),
        after: content(&entry.after),
    };
    let of_path = |(path, changes): (RepoPath, Vec<(GitId, TreeDiffEntry)>)| {
        (path, changes.into_iter().map(commit_of).collect())
    };
    Ok(by_path.into_iter().map(of_path).collect())
}

/// Hashes the lines of a text without the white space around them, sorted: each is asked for many times.
fn line_hashes(text: &[u8]) -> Vec<u64> {
    let mut hashes: Vec<u64> = text.split(|&byte| byte == b'\n').map(line_hash).collect();
    hashes.sort_unstable();
    hashes
}

fn line_hash(line: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    line.trim_ascii().hash(&mut hasher);
    hasher.finish()
}

fn n_lines(hashes: &[u64], line: &str) -> usize {
    let wanted = line_hash(line.as_bytes());
    let start = hashes.partition_point(|hash| *hash < wanted);
    hashes[start..].iter().take_while(|hash| **hash == wanted).count()
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
