//! Every merge of a range, with a handful of git processes for all of them.

use crate::answers::{ComparedMerge, explain_all};
use crate::commit_graph::CommitGraph;
use crate::contents::{self, ContentDepth};
use crate::four_trees::from_diffs;
use crate::origins::HistorySource;
use crate::question::{NamedMerge, ResultTree, parent_pairs};
use crate::{answers, layout_of};
use probity_api::LeftOutOfLists;
use probity_api::merge_audit::{AuditOutcome, MergeAuditAnswer, MergeAuditRangeAnswer};
use probity_core::bytes::escape;
use probity_merge_audit::{AuditOptions, AuditReport, FourTrees, ItemCache, audit_again, is_proven_by_ids};
use probity_snapshot::GitId;
use probity_snapshot::git::{GitLayout, TreeDiffEntry};
use probity_workspace::{ServiceError, Workspace, git, git_history};
use rayon::prelude::*;
use std::collections::BTreeSet;

/// Merges whose contents are in memory at the same time.
const MERGES_PER_BATCH: usize = 64;
/// Merges of which all changed files are in memory at the same time, unless these are more files than that.
const MERGES_PER_FULL_READING: usize = 8;
const PATHS_PER_READING: usize = 1_000;
/// Merges whose differences are listed by one git process.
const MERGES_PER_LISTING: usize = 2_000;

/// Audits every merge that `to` leads to and `from` does not; without `from`, the whole history.
#[tracing::instrument(name = "audit range", skip_all)]
pub fn audit_range(
    workspace: &Workspace,
    from: Option<&str>,
    to: &str,
) -> Result<MergeAuditRangeAnswer, ServiceError> {
    let layout = layout_of(workspace)?;
    let id = |name: &str| -> Result<GitId, ServiceError> { crate::question::object_id(&layout, name) };
    let tip = id(to)?;
    let known: Vec<GitId> = from.map(id).transpose()?.into_iter().collect();
    let tips = std::slice::from_ref(&tip);
    // One listing serves the bases of all merges, the range, and the commits of each side.
    let graph = CommitGraph::new(git_history::history(&layout, tips, &[])?);
    let in_range = match &known[..] {
        [] => graph.merges_between(&tip, None),
        [from] if graph.contains(from) => graph.merges_between(&tip, Some(from)),
        // What the beginning of the range shares with its end lies below commits that are not listed.
        _ => merges_among(git_history::history(&layout, tips, &known)?),
    };
    let range = match from {
        Some(from) => format!("{}..{}", escape(from.as_bytes()), escape(to.as_bytes())),
        None => escape(to.as_bytes()),
    };
    audit_listed(workspace, &layout, range, &in_range, graph)
}

/// Audits the merges between two commits; `None` if this clone lacks their history.
pub fn audit_between(
    workspace: &Workspace,
    base: &str,
    head: &str,
) -> Result<Option<MergeAuditRangeAnswer>, ServiceError> {
    if workspace.git.as_ref().is_none_or(GitLayout::is_shallow) {
        return Ok(None);
    }
    audit_range(workspace, Some(base), head).map(Some)
}

/// Audits the merges between a commit and the last one of the checked-out branch. `None` if they are the same commit, or if
/// this clone lacks their history.
pub fn audit_since(workspace: &Workspace, base: &str) -> Result<Option<MergeAuditRangeAnswer>, ServiceError> {
    let layout = layout_of(workspace)?;
    let id = |name: &str| crate::question::object_id(&layout, name);
    if layout.is_shallow() || id(base)? == id("HEAD")? {
        return Ok(None);
    }
    audit_between(workspace, base, "HEAD")
}

/// Audits the merges with these ids, as a range is audited.
#[tracing::instrument(name = "audit listed merges", skip_all)]
pub fn audit_merges(workspace: &Workspace, ids: &[GitId]) -> Result<MergeAuditRangeAnswer, ServiceError> {
    let layout = layout_of(workspace)?;
    let wanted: BTreeSet<&GitId> = ids.iter().collect();
    let history = git_history::history(&layout, ids, &[])?;
    let mut listed = merges_among(history.clone());
    listed.retain(|ids| ids.first().is_some_and(|id| wanted.contains(id)));
    let range = format!("{} listed merges", listed.len());
    audit_listed(workspace, &layout, range, &listed, CommitGraph::new(history))
}

fn merges_among(history: Vec<Vec<GitId>>) -> Vec<Vec<GitId>> {
    history.into_iter().filter(|ids| ids.len() > 2).collect()
}

fn audit_listed(
    workspace: &Workspace,
    layout: &GitLayout,
    range: String,
    merges: &[Vec<GitId>],
    mut graph: CommitGraph,
) -> Result<MergeAuditRangeAnswer, ServiceError> {
    let mut audits = Vec::new();
    let mut n_proven = 0;
    for batch in merges.chunks(MERGES_PER_LISTING) {
        let (simple, special) = named_batch(&mut graph, batch);
        let open = unproven_by_listing(layout, &simple)?;
        n_proven += simple.len() - open.len();
        for part in in_parts(&open, MERGES_PER_BATCH, |(_, trees)| n_unproven(trees)) {
            let (found, n_clean) = audit_batch(layout, &graph, part)?;
            n_proven += n_clean;
            audits.extend(found);
        }
        for pairs in &special {
            let answer = answers::audit_pairs(layout, pairs, ContentDepth::Everything)?;
            if answer.findings.is_empty() {
                n_proven += 1;
            } else {
                audits.push(answer);
            }
        }
    }
    crate::decisions::settle(workspace, audits.iter_mut())?;
    let outcome = audits.iter().map(|audit| audit.outcome).max().unwrap_or(AuditOutcome::Clean);
    Ok(MergeAuditRangeAnswer {
        range,
        merges: merges.len(),
        proven: n_proven,
        outcome,
        audits,
        left_out_of_lists: LeftOutOfLists::default(),
    })
}

/// Splits merges into those of two parents with one base, and all others, each as pairs of parents.
fn named_batch(graph: &mut CommitGraph, batch: &[Vec<GitId>]) -> (Vec<NamedMerge>, Vec<Vec<NamedMerge>>) {
    let (mut simple, mut special) = (Vec::new(), Vec::new());
    for ids in batch {
        let Some((merge, parents)) = ids.split_first() else { continue };
        let named = |(ours, theirs): (&GitId, &GitId)| NamedMerge {
            merge: Some(merge.clone()),
            bases: graph.merge_bases(ours, theirs),
            ours: ours.clone(),
            theirs: theirs.clone(),
            result: ResultTree::Object(merge.clone()),
        };
        let mut pairs: Vec<NamedMerge> = parent_pairs(parents).map(named).collect();
        match &pairs[..] {
            [only] if only.bases.len() == 1 => simple.append(&mut pairs),
            _ => special.push(pairs),
        }
    }
    (simple, special)
}

/// Returns the merges that differ from ours in other ways than theirs differ from the base, with their trees.
fn unproven_by_listing<'a>(
    layout: &GitLayout,
    merges: &'a [NamedMerge],
) -> Result<Vec<(&'a NamedMerge, FourTrees)>, ServiceError> {
    let mut pairs: Vec<(&GitId, Option<&GitId>)> = Vec::new();
    for merge in merges {
        pairs.push((&merge.theirs, merge.bases.first()));
        pairs.push((merge.merge.as_ref().unwrap_or(&merge.ours), Some(&merge.ours)));
    }
    let lists = git::commit_diffs(layout, &pairs)?;
    let mut open: Vec<(&NamedMerge, &[TreeDiffEntry])> = Vec::new();
    for (merge, two) in merges.iter().zip(lists.chunks(2)) {
        // Equal lists: the result has theirs wherever theirs changed something, and ours had not.
        if let [theirs, result] = two
            && theirs != result
        {
            open.push((merge, theirs));
        }
    }
    let pairs: Vec<(&GitId, Option<&GitId>)> = open
        .iter()
        .flat_map(|(merge, _)| {
            let result = merge.merge.as_ref().unwrap_or(&merge.ours);
            [(&merge.ours, merge.bases.first()), (result, merge.bases.first())]
        })
        .collect();
    let lists = git::commit_diffs(layout, &pairs)?;
    let mut unproven = Vec::new();
    for ((merge, theirs), two) in open.into_iter().zip(lists.chunks(2)) {
        let [ours, result] = two else { continue };
        let trees = from_diffs(&[ours.clone(), theirs.to_vec(), result.clone()]);
        if trees.values().any(|versions| !is_proven_by_ids(versions)) {
            unproven.push((merge, trees));
        }
    }
    Ok(unproven)
}

/// A merge in which something seems lost, with its trees and what was cut into items for it.
type SuspectMerge<'a> = (&'a NamedMerge, FourTrees, ItemCache);

/// Audits some merges. Returns the answers with findings, and the number of merges without.
fn audit_batch(
    layout: &GitLayout,
    graph: &CommitGraph,
    merges: &[(&NamedMerge, FourTrees)],
) -> Result<(Vec<MergeAuditAnswer>, usize), ServiceError> {
    let mut trees: Vec<FourTrees> = merges.iter().map(|(_, trees)| trees.clone()).collect();
    contents::fill(layout, &mut trees.iter_mut().collect::<Vec<_>>(), ContentDepth::Unproven)?;
    let mut read: Vec<(&NamedMerge, FourTrees)> = merges.iter().map(|(merge, _)| *merge).zip(trees).collect();
    let mut answers = Vec::new();
    while !read.is_empty() {
        let n_next = in_parts(&read, MERGES_PER_FULL_READING, |(_, trees)| trees.len())[0].len();
        let part: Vec<_> = read.drain(..n_next).collect();
        let judged = part.into_par_iter().filter_map(|(merge, trees)| {
            let items = ItemCache::default();
            let report = audit_again(&trees, AuditOptions::default(), &items);
            (!report.findings.is_empty()).then_some((merge, trees, items))
        });
        answers.extend(audit_suspects(layout, graph, judged.collect())?);
    }
    answers.retain(|answer| !answer.findings.is_empty());
    let n_clean = merges.len() - answers.len();
    Ok((answers, n_clean))
}

/// Splits a list into parts of at most `max_length` elements, and of as many paths as may be in memory at the same time. A
/// part has at least one element.
fn in_parts<T>(list: &[T], max_length: usize, n_paths: impl Fn(&T) -> usize) -> Vec<&[T]> {
    let (mut parts, mut start, mut n_open) = (Vec::new(), 0, 0);
    for (at, element) in list.iter().enumerate() {
        let n_more = n_paths(element);
        if at > start && (at - start == max_length || n_open + n_more > PATHS_PER_READING) {
            parts.push(&list[start..at]);
            (start, n_open) = (at, 0);
        }
        n_open += n_more;
    }
    if start < list.len() {
        parts.push(&list[start..]);
    }
    parts
}

fn n_unproven(trees: &FourTrees) -> usize {
    trees.values().filter(|versions| !is_proven_by_ids(versions)).count()
}

/// Drops the contents of an audited merge: what explains its findings needs only paths and ids.
fn without_contents(mut trees: FourTrees) -> FourTrees {
    trees.values_mut().flatten().flatten().for_each(|version| version.bytes = None);
    trees
}

/// Audits merges again with every changed file: what seems lost may have moved.
fn audit_suspects(
    layout: &GitLayout,
    graph: &CommitGraph,
    mut suspects: Vec<SuspectMerge<'_>>,
) -> Result<Vec<MergeAuditAnswer>, ServiceError> {
    let mut trees: Vec<&mut FourTrees> = suspects.iter_mut().map(|(_, trees, _)| trees).collect();
    contents::fill(layout, &mut trees, ContentDepth::Everything)?;
    let options = AuditOptions { two_way: false, checks_breakages: true };
    let (audited, reports): (Vec<(&NamedMerge, FourTrees)>, Vec<AuditReport>) = suspects
        .into_par_iter()
        .map(|(merge, trees, items)| {
            let report = audit_again(&trees, options, &items);
            ((merge, without_contents(trees)), report)
        })
        .unzip();
    let compared = audited.iter().zip(reports);
    let compared = compared.map(|((merge, trees), report)| ComparedMerge { merge, trees, report });
    explain_all(layout, HistorySource::Graph(graph), compared.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_bounded_by_length_and_by_paths() {
        let lengths =
            |list: &[usize]| in_parts(list, 3, |n| *n).iter().map(|part| part.len()).collect::<Vec<_>>();
        assert_eq!(lengths(&[1; 7]), [3, 3, 1]);
        assert_eq!(lengths(&[600, 600, 1, 5_000, 1]), [1, 2, 1, 1]);
        assert_eq!(lengths(&[]), [0; 0]);
    }
}
