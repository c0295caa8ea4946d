//! New, worse and fixed findings of a change, from the contents of its paths: the tree with the old ones against the tree
//! with the new ones.

use crate::change_contents::ChangeContents;
use probity_analysis::{AnalysisComparison, Finding};
use probity_api::review::{ChangeFindings, ChangeReview, FindingChange, FindingNote, PathFate};
use probity_core::text::count;
use probity_paths::RepoPath;
use probity_quality::analyze::{ChangedContent, compare_contents};
use probity_runner::recorded_contents::SideContent;
use probity_workspace::{ServiceError, Workspace};

/// More findings are counted and not listed.
const MAX_FINDINGS: usize = 300;
/// Bytes of both sides that are compared at most.
const MAX_COMPARED_BYTES: usize = 64 * 1024 * 1024;

/// Compares the findings of the tree without and with a change.
#[tracing::instrument(name = "review findings", skip_all)]
pub fn change_findings(
    workspace: &Workspace,
    review: &ChangeReview,
    contents: &ChangeContents,
) -> Result<ChangeFindings, ServiceError> {
    let mut answer = ChangeFindings {
        change: review.change.clone(),
        shown: review.shown,
        findings: Vec::new(),
        left_out: 0,
        health: None,
        notes: Vec::new(),
    };
    if review.findings_known {
        (answer.findings, answer.health) = (review.findings.clone(), review.health);
        return Ok(answer);
    }
    let paths: Vec<&RepoPath> =
        review.paths.iter().filter(|row| row.fate != PathFate::Exempt).map(|row| &row.path).collect();
    let (mut changes, mut n_bytes, mut n_unknown) = (Vec::new(), 0, 0);
    for (path, sides) in paths.iter().zip(contents.all_sides(workspace, &paths)?) {
        let (Ok(before), Ok(after)) = (content(sides.before), content(sides.after)) else {
            n_unknown += 1;
            continue;
        };
        n_bytes += before.as_ref().map_or(0, Vec::len) + after.as_ref().map_or(0, Vec::len);
        changes.push(ChangedContent { path: (*path).clone(), before, after });
    }
    if n_bytes > MAX_COMPARED_BYTES {
        answer.notes.push(format!("the change has {n_bytes} bytes, which is too much to compare findings"));
        return Ok(answer);
    }
    if n_unknown > 0 {
        let paths = count(n_unknown, "path");
        answer.notes.push(format!("{paths} are left out: a content is not kept here, or is no file"));
    }
    let policy = workspace.load_policy()?.policy;
    let compared = compare_contents(workspace, &policy, &changes)?;
    answer.health = compared.health.map(|(before, after)| (i64::from(before), i64::from(after)));
    answer.findings = notes(&compared.comparison, &paths);
    answer.left_out = answer.findings.len().saturating_sub(MAX_FINDINGS);
    answer.findings.truncate(MAX_FINDINGS);
    Ok(answer)
}

/// A side whose content is not known here.
struct UnknownContent;

/// Returns the bytes of a side; `None` if there is no file.
fn content(side: SideContent) -> Result<Option<Vec<u8>>, UnknownContent> {
    match side {
        SideContent::Absent => Ok(None),
        SideContent::Content(bytes) => Ok(Some(bytes)),
        _ => Err(UnknownContent),
    }
}

fn notes(compared: &AnalysisComparison, changed: &[&RepoPath]) -> Vec<FindingNote> {
    let new = compared.regressions.iter().map(|new| note(FindingChange::New, &new.finding, changed));
    let fixed = compared.improvements.iter().map(|fixed| note(FindingChange::Fixed, fixed, changed));
    let worse = compared.worsened.iter().map(|worse| FindingNote {
        change: FindingChange::Worse,
        path: worse.path.clone(),
        line: None,
        severity: "measure".into(),
        message: format!("{}: {} {} \u{2192} {}", worse.symbol, worse.metric, worse.before, worse.after),
    });
    new.flatten().chain(worse).chain(fixed.flatten()).collect()
}

/// Stands a finding at its first place in a changed path, else at its first place.
fn note(change: FindingChange, finding: &Finding, changed: &[&RepoPath]) -> Option<FindingNote> {
    let own = finding.locations.iter().find(|place| changed.contains(&&place.path));
    let place = own.or_else(|| finding.locations.first())?;
    Some(FindingNote {
        change,
        path: place.path.clone(),
        line: Some(place.range.start_line.max(1)),
        severity: finding.severity.to_string(),
        message: match place.symbol.as_str() {
            "" => finding.message.clone(),
            symbol => format!("{symbol}: {}", finding.message),
        },
    })
}
