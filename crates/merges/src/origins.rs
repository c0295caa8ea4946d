//! What only the history knows: which commit made an edit, and whether the other side had it and went on.

use crate::commit_graph::CommitGraph;
use crate::question::{NamedMerge, ResultTree};
use probity_analysis::{Language, read_source_items};
use probity_api::merge_audit::CommitReference;
use probity_merge_audit::{AuditFinding, FindingClass, FourTrees, MergeSide};
use probity_paths::RepoPath;
use probity_snapshot::GitId;
use probity_snapshot::git::{GitLayout, TreeDiffEntry, TreeSide};
use probity_workspace::git_history::CommitCaption;
use probity_workspace::{ServiceError, git, git_history};
use std::collections::{BTreeMap, BTreeSet};
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
/// More bytes of old contents than this are not in memory at the same time.
const MAX_BATCH_BYTES: u64 = 32 << 20;

/// An audited merge, and what is to be explained about it.
pub(crate) struct ExplainedMerge<'a> {
    pub(crate) merge: &'a NamedMerge,
    pub(crate) findings: &'a mut [AuditFinding],
}

/// Where the commits of a side are looked up.
#[derive(Clone, Copy)]
pub(crate) enum HistorySource<'a> {
    /// A history that was read already.
    Graph(&'a CommitGraph),
    /// Git is asked.
    Git,
}

/// How often a text has each sought line that it has, by the numbers of the lines.
type LineCounts = Arc<[(u32, u32)]>;

/// What one commit did to a file: how often each sought line was there before and after.
struct FileCommit {
    id: GitId,
    before: LineCounts,
    after: LineCounts,
}

/// What the commits of one side did to files, newest first.
type SideCommits = BTreeMap<RepoPath, Vec<FileCommit>>;

/// Finds the commits that made each edit of some merges, and marks edits that the other side had and replaced. The number of
/// git processes does not depend on the number of merges.
pub(crate) fn explain_findings(
    layout: &GitLayout,
    history: HistorySource<'_>,
    merges: &mut [ExplainedMerge<'_>],
) -> Result<Vec<Vec<Vec<CommitReference>>>, ServiceError> {
    let sought = SoughtLines::of(merges.iter().flat_map(|merge| merge.findings.iter()));
    let sides = side_commits(layout, history, merges, &sought)?;
    let mut made_by: Vec<Vec<Vec<GitId>>> = Vec::new();
    for (explained, [of_ours, of_theirs]) in merges.iter_mut().zip(&sides) {
        let mut of_merge = Vec::new();
        for finding in explained.findings.iter_mut() {
            let (of_side, of_other) = match finding.side {
                Some(MergeSide::Ours) => (of_ours, of_theirs),
                Some(MergeSide::Theirs) => (of_theirs, of_ours),
                None => {
                    of_merge.push(Vec::new());
                    continue;
                }
            };
            let of_side = of_side.get(&finding.path).map_or(&[][..], Vec::as_slice);
            let of_other = of_other.get(&finding.path).map_or(&[][..], Vec::as_slice);
            of_merge.push(authors_of(finding, of_side, &sought));
            if finding.class == FindingClass::Lost && is_superseded(finding, of_other, &sought) {
                finding.class = FindingClass::Superseded;
            }
        }
        made_by.push(of_merge);
    }
    let wanted: BTreeSet<GitId> = made_by.iter().flatten().flatten().cloned().collect();
    let captions = git_history::captions(layout, &wanted.into_iter().collect::<Vec<_>>())?;
    let by_id: BTreeMap<&GitId, CommitReference> =
        captions.iter().map(|caption| (&caption.id, to_reference(caption))).collect();
    let references = |ids: Vec<GitId>| ids.iter().filter_map(|id| by_id.get(id).cloned()).collect::<Vec<_>>();
    Ok(made_by.into_iter().map(|of_merge| of_merge.into_iter().map(references).collect()).collect())
}

/// Returns the paths whose history on a side matters: those of its own findings, and those of lost edits of the other side,
/// which it may have had and replaced.
fn paths_of_side(findings: &[AuditFinding], side: MergeSide) -> BTreeSet<&RepoPath> {
    let matters = |finding: &&AuditFinding| {
        finding.side == Some(side)
            || (finding.side.is_some() && finding.class == FindingClass::Lost && !finding.kind.is_deletion())
    };
    findings.iter().filter(matters).map(|finding| &finding.path).take(MAX_EXPLAINED_FILES).collect()
}

/// The commits of one side of a merge, newest first, and the paths that matter.
#[derive(Default)]
struct SideHistory<'a> {
    commits: Vec<GitId>,
    paths: BTreeSet<&'a RepoPath>,
}

/// The newest changes of each path.
type PathChanges<'a> = BTreeMap<&'a RepoPath, Vec<(&'a GitId, &'a TreeDiffEntry)>>;

/// Returns what the commits of both sides of each merge did to the files of its findings.
fn side_commits(
    layout: &GitLayout,
    history: HistorySource<'_>,
    merges: &[ExplainedMerge<'_>],
    sought: &SoughtLines,
) -> Result<Vec<[SideCommits; 2]>, ServiceError> {
    let mut commits: BTreeMap<GitId, Vec<GitId>> = BTreeMap::new();
    let mut all_paths: BTreeSet<&RepoPath> = BTreeSet::new();
    let mut sides: Vec<[SideHistory<'_>; 2]> = Vec::new();
    for explained in merges {
        let merge = explained.merge;
        let mut of_merge: [SideHistory<'_>; 2] = Default::default();
        for (side, tip, place) in [(MergeSide::Ours, &merge.ours, 0), (MergeSide::Theirs, &merge.theirs, 1)] {
            let paths = paths_of_side(explained.findings, side);
            if paths.is_empty() {
                continue;
            }
            let listed = match history {
                HistorySource::Graph(graph) => graph.commits_between(tip, &merge.bases, MAX_COMMITS),
                HistorySource::Git => {
                    let named: Vec<&GitId> = merge.bases.iter().chain([tip]).collect();
                    let is_commits =
                        git::peeled(layout, &named)?.iter().all(|object| object.kind == "commit");
                    if is_commits {
                        git_history::commits_between(layout, tip, &merge.bases, MAX_COMMITS)?
                    } else {
                        Vec::new()
                    }
                }
            };
            all_paths.extend(&paths);
            let ids = listed.iter().filter_map(|ids| ids.first().cloned()).collect();
            commits.extend(listed.into_iter().filter_map(|ids| Some((ids.first()?.clone(), ids))));
            of_merge[place] = SideHistory { commits: ids, paths };
        }
        sides.push(of_merge);
    }
    let questions: Vec<Vec<GitId>> = commits.into_values().collect();
    let answers = git_history::path_changes(layout, &questions, &all_paths)?;
    let changes: BTreeMap<&GitId, Vec<TreeDiffEntry>> = questions
        .iter()
        .filter_map(|ids| ids.first())
        .zip(answers)
        .filter(|(_, list)| !list.is_empty())
        .collect();
    let of_side = |side: &SideHistory<'_>| {
        let mut by_path: PathChanges<'_> = BTreeMap::new();
        for id in &side.commits {
            let Some((id, list)) = changes.get_key_value(id) else { continue };
            for entry in list.iter().filter(|entry| side.paths.contains(&entry.path)) {
                let of_path = by_path.entry(&entry.path).or_default();
                if of_path.len() < MAX_COMMITS_PER_FILE {
                    of_path.push((id, entry));
                }
            }
        }
        by_path
    };
    let selected: Vec<[PathChanges<'_>; 2]> =
        sides.iter().map(|of_merge| of_merge.each_ref().map(of_side)).collect();
    let entries = selected.iter().flatten().flat_map(BTreeMap::values).flatten();
    let ids: BTreeSet<&GitId> =
        entries.flat_map(|(_, entry)| [&entry.before, &entry.after]).flatten().map(|(_, id)| id).collect();
    let contents = sought_in_blobs(layout, &ids, sought)?;
    let content = |side: &TreeSide| -> LineCounts {
        side.as_ref().and_then(|(_, id)| contents.get(&id.to_string()).cloned()).unwrap_or_default()
    };
    let commits_of = |by_path: PathChanges<'_>| -> SideCommits {
        let commit = |(id, entry): (&GitId, &TreeDiffEntry)| FileCommit {
            id: id.clone(),
            before: content(&entry.before),
            after: content(&entry.after),
        };
        by_path
            .into_iter()
            .map(|(path, changes)| (path.clone(), changes.into_iter().map(commit).collect()))
            .collect()
    };
    Ok(selected.into_iter().map(|sides| sides.map(commits_of)).collect())
}

/// Calls `each` with every blob that is there and not too large. A bounded number of bytes is in memory at a time.
fn for_each_blob(
    layout: &GitLayout,
    ids: &[String],
    mut each: impl FnMut(&str, &[u8]),
) -> Result<(), ServiceError> {
    let sizes = git_history::blob_sizes(layout, ids)?;
    let mut batches: Vec<Vec<String>> = vec![Vec::new()];
    let mut n_bytes = 0;
    for id in ids {
        let Some(&size) = sizes.get(id).filter(|size| **size < crate::contents::MAX_READ_BYTES) else {
            continue;
        };
        if n_bytes + size > MAX_BATCH_BYTES {
            batches.push(Vec::new());
            n_bytes = 0;
        }
        n_bytes += size;
        batches.last_mut().expect("there is always a batch").push(id.clone());
    }
    for batch in batches {
        for (id, bytes) in git::present_blobs(layout, &batch)? {
            each(&id, &bytes);
        }
    }
    Ok(())
}

/// Counts the sought lines in blobs.
fn sought_in_blobs(
    layout: &GitLayout,
    ids: &BTreeSet<&GitId>,
    sought: &SoughtLines,
) -> Result<BTreeMap<String, LineCounts>, ServiceError> {
    let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
    let mut found = BTreeMap::new();
    for_each_blob(layout, &ids, |id, bytes| {
        found.insert(id.to_owned(), sought.count_in(bytes));
    })?;
    Ok(found)
}

/// The lines whose commits are sought, without the white space around them.
struct SoughtLines {
    numbers: BTreeMap<Vec<u8>, u32>,
    /// True for every length that such a line has: most lines of a file are told apart by that alone.
    lengths: Vec<bool>,
}

impl SoughtLines {
    fn of<'a>(findings: impl Iterator<Item = &'a AuditFinding>) -> Self {
        let mut numbers: BTreeMap<Vec<u8>, u32> = BTreeMap::new();
        let mut lengths: Vec<bool> = Vec::new();
        for line in findings.flat_map(telling_lines) {
            let line = line.as_bytes().trim_ascii();
            let number = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
            numbers.entry(line.to_vec()).or_insert(number);
            lengths.resize(lengths.len().max(line.len() + 1), false);
            lengths[line.len()] = true;
        }
        Self { numbers, lengths }
    }

    /// Returns how often a text has each of the lines that it has, by their numbers.
    fn count_in(&self, text: &[u8]) -> LineCounts {
        let mut counts: BTreeMap<u32, u32> = BTreeMap::new();
        for line in text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii) {
            if self.lengths.get(line.len()).copied().unwrap_or(false)
                && let Some(&number) = self.numbers.get(line)
            {
                *counts.entry(number).or_default() += 1;
            }
        }
        counts.into_iter().collect()
    }

    fn number(&self, line: &str) -> Option<u32> {
        self.numbers.get(line.as_bytes().trim_ascii()).copied()
    }
}

fn n_lines(counts: &[(u32, u32)], number: u32) -> u32 {
    counts.binary_search_by_key(&number, |(line, _)| *line).map_or(0, |at| counts[at].1)
}

/// Lines that say something: not only brackets.
fn telling_lines(finding: &AuditFinding) -> impl Iterator<Item = &String> {
    finding.lost.iter().filter(|line| line.bytes().filter(u8::is_ascii_alphanumeric).count() >= 2)
}

/// Returns the newest commits that introduced the lost lines, or removed those that are back.
fn authors_of(finding: &AuditFinding, commits: &[FileCommit], sought: &SoughtLines) -> Vec<GitId> {
    let mut found: Vec<GitId> = Vec::new();
    for number in telling_lines(finding).filter_map(|line| sought.number(line)) {
        let made = commits.iter().find(|commit| {
            let (before, after) = (n_lines(&commit.before, number), n_lines(&commit.after, number));
            if finding.kind.is_deletion() { before > after } else { after > before }
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
fn is_superseded(finding: &AuditFinding, other: &[FileCommit], sought: &SoughtLines) -> bool {
    let lines: Vec<u32> = telling_lines(finding).filter_map(|line| sought.number(line)).collect();
    if lines.is_empty() || finding.kind.is_deletion() {
        return false;
    }
    lines.iter().all(|&line| {
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
    let languages: BTreeMap<&str, Language> = unchanged
        .iter()
        .filter_map(|(path, id)| Some((id.as_str(), Language::of_file_name(path.file_name())?)))
        .collect();
    let mut open = candidates;
    for_each_blob(layout, &ids, |id, bytes| {
        let Some(&language) = languages.get(id) else { return };
        let mentions = |name: &String| bytes.windows(name.len().max(1)).any(|part| part == name.as_bytes());
        if !open.iter().filter_map(|finding| finding.lost.first()).any(mentions) {
            return;
        }
        match read_source_items(language, bytes, MAX_PARSED_BYTES) {
            // What cannot be parsed may define any name that it mentions.
            None => open.retain(|finding| !finding.lost.first().is_some_and(mentions)),
            Some(items) => {
                let names: BTreeSet<&str> =
                    items.units.iter().filter_map(|unit| unit.name.rsplit('.').next()).collect();
                open.retain(|finding| {
                    finding.lost.first().is_some_and(|name| !names.contains(name.as_str()))
                });
            }
        }
    })?;
    Ok(open)
}

pub(crate) fn to_reference(caption: &CommitCaption) -> CommitReference {
    CommitReference {
        id: caption.id.to_string(),
        author: caption.author.clone(),
        subject: caption.subject.clone(),
    }
}
