//! From four named trees to an answer: read, audit, explain.

use crate::contents::{self, ContentDepth};
use crate::origins::{ExplainedMerge, HistorySource, to_reference};
use crate::question::{NamedMerge, ResultTree};
use crate::{four_trees, origins};
use probity_api::LeftOutOfLists;
use probity_api::merge_audit::{
    AuditBaseKind, CommitReference, FindingClass, MergeAuditAnswer, MergeFinding, MergeSide, SetAside,
    TakenWhole,
};
use probity_merge_audit::{AuditFinding, AuditOptions, AuditReport, FourTrees, audit};
use probity_snapshot::GitId;
use probity_snapshot::git::GitLayout;
use probity_workspace::ServiceError;
use probity_workspace::git_history;
use std::collections::BTreeMap;

/// Audits four named trees.
pub(crate) fn audit_one(
    layout: &GitLayout,
    merge: &NamedMerge,
    depth: ContentDepth,
) -> Result<MergeAuditAnswer, ServiceError> {
    let (trees, report) = report_of(layout, merge, depth)?;
    explain(layout, merge, &trees, report)
}

/// Reads and compares four named trees.
pub(crate) fn report_of(
    layout: &GitLayout,
    merge: &NamedMerge,
    depth: ContentDepth,
) -> Result<(FourTrees, AuditReport), ServiceError> {
    let mut trees = four_trees::read(layout, merge)?;
    contents::fill(layout, &mut [&mut trees], depth)?;
    let options =
        AuditOptions { two_way: merge.bases.is_empty(), checks_breakages: depth == ContentDepth::Everything };
    let report = audit(&trees, options);
    Ok((trees, report))
}

/// Audits a merge whose parents are named in pairs.
pub(crate) fn audit_pairs(
    layout: &GitLayout,
    pairs: &[NamedMerge],
    depth: ContentDepth,
) -> Result<MergeAuditAnswer, ServiceError> {
    let mut answers = Vec::new();
    for pair in pairs {
        answers.push(audit_one(layout, pair, depth)?);
    }
    folded(answers).ok_or_else(|| ServiceError::Missing("there is no merge to audit".to_owned()))
}

/// Makes one answer of those about the pairs of parents of an octopus merge. What another parent has instead explains why an
/// edit is missing, so an edit is lost only if no pair explains it.
fn folded(answers: Vec<MergeAuditAnswer>) -> Option<MergeAuditAnswer> {
    if answers.len() < 2 {
        return answers.into_iter().next();
    }
    // Tells an edit apart from all others: whose it is, and what it did.
    let edit_of = |answer: &MergeAuditAnswer, finding: &MergeFinding| {
        let parent = match finding.side {
            Some(MergeSide::Ours) => answer.ours.clone(),
            Some(MergeSide::Theirs) => answer.theirs.clone(),
            None => String::new(),
        };
        (parent, finding.path.clone(), finding.kind, finding.lost.clone())
    };
    let mut n_pairs_of: BTreeMap<&str, usize> = BTreeMap::new();
    for answer in &answers {
        *n_pairs_of.entry(&answer.ours).or_default() += 1;
        *n_pairs_of.entry(&answer.theirs).or_default() += 1;
    }
    let mut found: BTreeMap<_, (usize, FindingClass)> = BTreeMap::new();
    for answer in &answers {
        let edits: BTreeMap<_, FindingClass> =
            answer.findings.iter().map(|finding| (edit_of(answer, finding), finding.class)).collect();
        for (edit, class) in edits {
            let (n_found, mildest) = found.entry(edit).or_insert((0, class));
            *n_found += 1;
            if !class.is_hard() {
                *mildest = class;
            }
        }
    }
    let mut findings: Vec<MergeFinding> = Vec::new();
    for answer in &answers {
        for finding in &answer.findings {
            let edit = edit_of(answer, finding);
            let n_pairs = n_pairs_of.get(edit.0.as_str()).copied().unwrap_or(1);
            let is_of_side = !edit.0.is_empty();
            if let Some((n_found, class)) = found.remove(&edit)
                && (!is_of_side || finding.class.is_breakage() || n_found == n_pairs)
            {
                // The first parent is ours, all others are theirs.
                let parent_side = if edit.0 == answers[0].ours { MergeSide::Ours } else { MergeSide::Theirs };
                let side = finding.side.map(|_| parent_side);
                findings.push(MergeFinding { class, side, ..finding.clone() });
            }
        }
    }
    let two_way = answers.iter().any(|answer| answer.two_way);
    let mut rest = answers.into_iter();
    let mut folded = rest.next()?;
    for answer in rest {
        folded.set_aside.extend(answer.set_aside);
        folded.unchecked.extend(answer.unchecked);
    }
    // A pair cannot tell whether the result has a file from one parent, or from several with the same content.
    folded.taken_whole.clear();
    folded.set_aside.sort_by(|left, right| left.path.cmp(&right.path));
    folded.set_aside.dedup_by(|left, right| left.path == right.path);
    folded.unchecked.sort_unstable();
    folded.unchecked.dedup();
    folded.outcome = MergeAuditAnswer::outcome_of(&findings);
    folded.two_way = two_way;
    folded.findings = findings;
    Some(folded)
}

/// A merge that was compared.
pub(crate) struct ComparedMerge<'a> {
    pub(crate) merge: &'a NamedMerge,
    pub(crate) trees: &'a FourTrees,
    pub(crate) report: AuditReport,
}

/// Adds what only the history knows: who made an edit, and whether the other side once had it.
pub(crate) fn explain(
    layout: &GitLayout,
    merge: &NamedMerge,
    trees: &FourTrees,
    report: AuditReport,
) -> Result<MergeAuditAnswer, ServiceError> {
    let compared = vec![ComparedMerge { merge, trees, report }];
    let mut answers = explain_all(layout, HistorySource::Git, compared)?;
    Ok(answers.pop().expect("there is one answer for each merge"))
}

/// Like [`explain`], for several merges with few git processes.
pub(crate) fn explain_all(
    layout: &GitLayout,
    history: HistorySource<'_>,
    mut merges: Vec<ComparedMerge<'_>>,
) -> Result<Vec<MergeAuditAnswer>, ServiceError> {
    for ComparedMerge { merge, trees, report } in &mut merges {
        let unconfirmed = std::mem::take(&mut report.unconfirmed);
        report.findings.extend(origins::confirm_dangling(layout, merge, trees, unconfirmed)?);
    }
    let mut explained: Vec<ExplainedMerge<'_>> = merges
        .iter_mut()
        .map(|one| ExplainedMerge { merge: one.merge, findings: &mut one.report.findings })
        .collect();
    let commits = origins::explain_findings(layout, history, &mut explained)?;
    let made: Vec<GitId> = merges.iter().filter_map(|one| one.merge.merge.clone()).collect();
    let captions = git_history::captions(layout, &made)?;
    let merged_by = |id: &GitId| captions.iter().find(|caption| caption.id == *id).map(to_reference);
    let with_commits = merges.into_iter().zip(commits);
    Ok(with_commits
        .map(|(ComparedMerge { merge, report, .. }, commits)| {
            to_answer(merge, report, commits, merge.merge.as_ref().and_then(merged_by))
        })
        .collect())
}

fn to_answer(
    merge: &NamedMerge,
    report: AuditReport,
    commits: Vec<Vec<CommitReference>>,
    merged_by: Option<CommitReference>,
) -> MergeAuditAnswer {
    let with_commits = report.findings.into_iter().zip(commits);
    let findings: Vec<MergeFinding> =
        with_commits.map(|(finding, commits)| to_finding(finding, commits)).collect();
    let merge_name = match (&merge.merge, &merge.result) {
        (Some(id), _) | (None, ResultTree::Object(id)) => Some(id.to_string()),
        (None, ResultTree::Working) => None,
    };
    MergeAuditAnswer {
        merge: merge_name,
        base: match &merge.bases[..] {
            [base] => Some(base.to_string()),
            _ => None,
        },
        base_kind: match merge.bases.len() {
            0 => AuditBaseKind::None,
            1 => AuditBaseKind::Single,
            _ => AuditBaseKind::Virtual,
        },
        ours: merge.ours.to_string(),
        theirs: merge.theirs.to_string(),
        two_way: merge.bases.is_empty(),
        outcome: MergeAuditAnswer::outcome_of(&findings),
        findings,
        taken_whole: report
            .taken_whole
            .into_iter()
            .map(|one| TakenWhole { path: one.path, from: one.from })
            .collect(),
        set_aside: report
            .set_aside
            .into_iter()
            .map(|one| SetAside { path: one.path, reason: one.reason })
            .collect(),
        unchecked: report.unchecked,
        merged_by,
        left_out_of_lists: LeftOutOfLists::default(),
    }
}

fn to_finding(finding: AuditFinding, commits: Vec<CommitReference>) -> MergeFinding {
    let [base, ours, theirs, merged] = finding.versions;
    MergeFinding {
        id: finding.id,
        conflict: String::new(),
        class: finding.class,
        kind: finding.kind,
        side: finding.side,
        path: finding.path,
        entity: finding.entity,
        lines: finding.lines,
        lost: finding.lost,
        cause: finding.cause,
        commits,
        base,
        ours,
        theirs,
        merged,
        ruling: None,
        decision: None,
        decided_before: None,
    }
}
