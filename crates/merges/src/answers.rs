//! From four named trees to an answer: read, audit, explain.

use crate::contents::{self, ContentDepth};
use crate::origins::to_reference;
use crate::question::{NamedMerge, ResultTree};
use crate::{four_trees, origins};
use probity_api::LeftOutOfLists;
use probity_api::merge_audit::{
    AuditBaseKind, CommitReference, MergeAuditAnswer, MergeFinding, SetAside, TakenWhole,
};
use probity_merge_audit::{AuditFinding, AuditOptions, AuditReport, FourTrees, audit};
use probity_snapshot::git::GitLayout;
use probity_workspace::ServiceError;
use probity_workspace::git_history;

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

/// Adds what only the history knows: who made an edit, and whether the other side once had it.
pub(crate) fn explain(
    layout: &GitLayout,
    merge: &NamedMerge,
    trees: &FourTrees,
    mut report: AuditReport,
) -> Result<MergeAuditAnswer, ServiceError> {
    let confirmed = origins::confirm_dangling(layout, merge, trees, std::mem::take(&mut report.unconfirmed))?;
    report.findings.extend(confirmed);
    let commits = origins::explain_findings(layout, merge, &mut report.findings)?;
    let findings: Vec<MergeFinding> = report
        .findings
        .into_iter()
        .zip(commits)
        .map(|(finding, commits)| to_finding(finding, commits))
        .collect();
    let merged_by = match &merge.merge {
        Some(id) => git_history::captions(layout, std::slice::from_ref(id))?.first().map(to_reference),
        None => None,
    };
    let merge_name = match (&merge.merge, &merge.result) {
        (Some(id), _) | (None, ResultTree::Object(id)) => Some(id.to_string()),
        (None, ResultTree::Working) => None,
    };
    Ok(MergeAuditAnswer {
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
    })
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
