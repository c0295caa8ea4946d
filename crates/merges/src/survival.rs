//! Survival commits: lost edits put back on a new branch. The working tree and every existing reference stay as they are.

use crate::answers::{audit_one, explain, report_of};
use crate::contents::ContentDepth;
use crate::decision_log::record;
use crate::layout_of;
use crate::origins::{ExplainedMerge, HistorySource, explain_findings};
use crate::question::{MergeQuestion, NamedMerge, ResultTree, named_merges};
use crate::survival_gates::{check_gates, run_gates};
use probity_api::merge_audit::{
    DecisionRequest, FindingChoice, MergeAuditAnswer, MergeFinding, MergeSurvivalAnswer, UnrestoredFinding,
};
use probity_core::ReasonCode;
use probity_merge_audit::{
    AuditFinding, AuditReport, BASE, EditKind, FindingClass, FourTrees, MergeSide, OURS, RESULT, THEIRS,
    restore_edit,
};
use probity_paths::RepoPath;
use probity_snapshot::GitId;
use probity_snapshot::git::GitLayout;
use probity_workspace::git_write::{self, CommitText, TreeChange};
use probity_workspace::{ServiceError, Workspace};
use std::collections::{BTreeMap, BTreeSet};

/// What to restore.
#[derive(Debug, Clone)]
pub struct SurvivalRequest {
    /// A merge commit.
    pub merge: String,
    /// Ids of findings, or beginnings of them. Empty: everything that is lost.
    pub findings: Vec<String>,
    /// The subject of the commit; without it, one that names the files.
    pub subject: Option<String>,
    pub why: String,
    /// Defaults to the current user.
    pub author: Option<String>,
    pub dry_run: bool,
    /// Make the branch without running the gates of the project.
    pub skip_gates: bool,
}

/// A file of the new tree; `None` if it is removed.
type NewFile = Option<(u32, Vec<u8>)>;

/// Puts lost edits of a merge back, checks the result by a second audit, and makes a branch of it.
#[tracing::instrument(name = "restore lost edits", skip_all)]
pub fn restore(
    workspace: &Workspace,
    request: &SurvivalRequest,
) -> Result<MergeSurvivalAnswer, ServiceError> {
    let layout = layout_of(workspace)?;
    let merges = named_merges(workspace, &layout, &MergeQuestion::Commit(request.merge.clone()))?;
    let [merge] = &merges[..] else {
        let why =
            "a merge of more than two parents cannot be restored as a whole: audit its parents one by one";
        return Err(ServiceError::refused(ReasonCode::InputInvalid, why));
    };
    let ResultTree::Object(result) = merge.result.clone() else {
        return Err(ServiceError::refused(ReasonCode::InputInvalid, "commit the merge first"));
    };
    let (trees, mut report) = report_of(&layout, merge, ContentDepth::Everything)?;
    let chosen = chosen_findings(&layout, merge, &mut report.findings, &request.findings)?;
    let mut files: BTreeMap<RepoPath, NewFile> = BTreeMap::new();
    let (mut restored, mut by_hand) = (Vec::new(), Vec::new());
    // Edits of a file come before its rename: they are put into the file where the result has it.
    let (renames, edits): (Vec<_>, Vec<_>) =
        chosen.iter().partition(|finding| finding.kind == EditKind::RenameFile);
    for finding in edits.into_iter().chain(renames) {
        match restored_file(&trees, &files, finding) {
            Some(changed) => {
                files.extend(changed);
                restored.push(finding.id.clone());
            }
            None => by_hand.push(UnrestoredFinding {
                id: finding.id.clone(),
                path: finding.path.clone(),
                why: match finding.kind {
                    EditKind::Move => "move it by hand: its lines are in the result, at another place",
                    _ => "the merge rewrote the same lines: edit the file, both texts are in the audit",
                }
                .to_owned(),
            }),
        }
    }
    if restored.is_empty() {
        let audit = explain(&layout, merge, &trees, report)?;
        return Ok(MergeSurvivalAnswer {
            merge: result.to_string(),
            branch: None,
            commit: None,
            restored,
            by_hand,
            gates: Vec::new(),
            audit,
            written: false,
        });
    }
    let changed: BTreeSet<RepoPath> = files.keys().cloned().collect();
    let tree = write_files(&layout, &result, files)?;
    let after = NamedMerge { merge: None, result: ResultTree::Object(tree.clone()), ..merge.clone() };
    let audit = audit_one(&layout, &after, ContentDepth::Everything)?;
    check(&audit, &chosen, &restored)?;
    let mut answer = MergeSurvivalAnswer {
        merge: result.to_string(),
        branch: None,
        commit: None,
        restored,
        by_hand,
        gates: Vec::new(),
        audit,
        written: false,
    };
    if request.dry_run {
        return Ok(answer);
    }
    if !request.skip_gates {
        answer.gates = run_gates(workspace, &layout, &result, &tree, &changed)?;
        check_gates(&answer.gates)?;
    }
    let author = request.author.clone().unwrap_or_else(probity_workspace::user_name);
    let text = CommitText {
        email: format!("{}@localhost", author.replace(' ', ".")),
        message: message(&result, &answer.restored, &chosen, request),
        author,
    };
    let decided = restored_findings(&layout, merge, &trees, &chosen, &answer)?;
    let commit = git_write::write_commit(&layout, &tree, &result, &text)?;
    // The commit tells the branch apart: a second restoration of the same merge gets another one.
    let branch = format!("probity/survive-{}-{}", &result.to_string()[..10], &commit.to_string()[..6]);
    // The branch comes after everything that git does: until then a kill leaves only objects that nothing refers to.
    git_write::create_branch(&layout, &branch, &commit)?;
    answer.branch = Some(branch);
    answer.commit = Some(commit.to_string());
    answer.written = true;
    record_restored(workspace, &answer.merge, &decided, request)?;
    Ok(answer)
}

/// Returns the findings that are restored, as an audit tells them.
fn restored_findings(
    layout: &GitLayout,
    merge: &NamedMerge,
    trees: &FourTrees,
    chosen: &[AuditFinding],
    answer: &MergeSurvivalAnswer,
) -> Result<Vec<MergeFinding>, ServiceError> {
    let restored = chosen.iter().filter(|finding| answer.restored.contains(&finding.id)).cloned().collect();
    let report = AuditReport { findings: restored, ..AuditReport::default() };
    Ok(explain(layout, merge, trees, report)?.findings)
}

/// Puts on record whose edits were restored, so that the same loss in another merge shows it.
fn record_restored(
    workspace: &Workspace,
    merge: &str,
    restored: &[MergeFinding],
    request: &SurvivalRequest,
) -> Result<(), ServiceError> {
    let by = DecisionRequest {
        why: request.why.clone(),
        by: request.author.clone(),
        ..DecisionRequest::default()
    };
    for (side, choice) in [(MergeSide::Ours, FindingChoice::Ours), (MergeSide::Theirs, FindingChoice::Theirs)]
    {
        let of_side = restored.iter().filter(|finding| finding.side == Some(side)).collect();
        record(workspace, Some(merge), of_side, choice, &by)?;
    }
    Ok(())
}

fn chosen_findings(
    layout: &GitLayout,
    merge: &NamedMerge,
    findings: &mut [AuditFinding],
    wanted: &[String],
) -> Result<Vec<AuditFinding>, ServiceError> {
    // The history may tell that the other side replaced the edit: such findings are restored only by name.
    let mut merges = [ExplainedMerge { merge, findings: &mut *findings }];
    explain_findings(layout, HistorySource::Git, &mut merges)?;
    if wanted.is_empty() {
        return Ok(findings.iter().filter(|finding| finding.class == FindingClass::Lost).cloned().collect());
    }
    let mut chosen = Vec::new();
    for name in wanted {
        let mut named = findings.iter().filter(|finding| finding.id.starts_with(name.as_str()));
        match (named.next(), named.next()) {
            (Some(finding), None) => chosen.push(finding.clone()),
            (None, _) => return Err(ServiceError::Missing(format!("the audit has no finding `{name}`"))),
            (Some(_), Some(_)) => {
                return Err(ServiceError::Missing(format!("several findings begin with `{name}`")));
            }
        }
    }
    Ok(chosen)
}

/// Returns the files that hold a restored edit. Edits of one file add up.
fn restored_file(
    trees: &FourTrees,
    done: &BTreeMap<RepoPath, NewFile>,
    finding: &AuditFinding,
) -> Option<Vec<(RepoPath, NewFile)>> {
    let version = if finding.side? == MergeSide::Ours { OURS } else { THEIRS };
    let side = trees.get(&finding.path).and_then(|versions| versions[version].as_ref());
    let whole = || Some((side?.mode, side?.bytes.as_ref()?.to_vec()));
    match finding.kind {
        EditKind::AddFile | EditKind::UpdateFile => {
            return Some(vec![(finding.path.clone(), Some(whole()?))]);
        }
        EditKind::RemoveFile => return Some(vec![(finding.result_path.clone()?, None)]),
        EditKind::Symlink | EditKind::Submodule | EditKind::Definition | EditKind::Call | EditKind::Move => {
            return None;
        }
        _ => {}
    }
    let path = finding.result_path.clone()?;
    let result = trees.get(&path)?[RESULT].as_ref()?;
    let current = match done.get(&path) {
        Some(file) => file.clone()?,
        None => (result.mode, result.bytes.as_ref()?.to_vec()),
    };
    if finding.kind == EditKind::Mode {
        return Some(vec![(path, Some((side?.mode, current.1)))]);
    }
    if finding.kind == EditKind::RenameFile {
        return Some(vec![(path, None), (finding.path.clone(), Some(current))]);
    }
    let base = base_text(trees, finding, &path);
    let text =
        restore_edit(&base, side?.bytes.as_ref()?, &current.1, finding.place.version, finding.place.lines)?;
    Some(vec![(path, Some((current.0, text)))])
}

/// The base may have the file under the path of the side or of the result.
fn base_text(trees: &FourTrees, finding: &AuditFinding, result_path: &RepoPath) -> Vec<u8> {
    let of = |path: &RepoPath| trees.get(path)?[BASE].as_ref()?.bytes.as_ref().map(|bytes| bytes.to_vec());
    of(&finding.path).or_else(|| of(result_path)).unwrap_or_default()
}

fn write_files(
    layout: &GitLayout,
    commit: &GitId,
    files: BTreeMap<RepoPath, NewFile>,
) -> Result<GitId, ServiceError> {
    let mut changes: Vec<TreeChange> = Vec::new();
    for (path, file) in files {
        let entry = match file {
            Some((mode, bytes)) => Some((mode, git_write::write_blob(layout, &bytes)?)),
            None => None,
        };
        changes.push((path, entry));
    }
    git_write::write_tree(layout, commit, &changes)
}

/// Refuses a survival commit that does not do what it says, or breaks something.
fn check(audit: &MergeAuditAnswer, chosen: &[AuditFinding], restored: &[String]) -> Result<(), ServiceError> {
    let refused = |why: String| Err(ServiceError::refused(ReasonCode::InputInvalid, why));
    for finding in chosen.iter().filter(|finding| restored.contains(&finding.id)) {
        let is_there = audit.findings.iter().any(|other| {
            other.side == finding.side
                && other.kind == finding.kind
                && other.path == finding.path
                && other.lost == finding.lost
        });
        if is_there {
            return refused(format!("finding {} would still be lost, so nothing was written", finding.id));
        }
    }
    let broken = audit.findings.iter().find(|finding| {
        matches!(
            finding.class,
            FindingClass::DoesNotParse | FindingClass::Duplicate | FindingClass::Signature
        ) && !chosen.iter().any(|one| one.class == finding.class && one.path == finding.path)
    });
    match broken {
        Some(finding) => refused(format!(
            "with the lost edits `{}` would be broken ({}), so nothing was written: restore them one by one",
            finding.path, finding.class
        )),
        None => Ok(()),
    }
}

fn message(merge: &GitId, restored: &[String], chosen: &[AuditFinding], request: &SurvivalRequest) -> String {
    let mut paths: Vec<String> = chosen
        .iter()
        .filter(|finding| restored.contains(&finding.id))
        .map(|finding| finding.path.to_string())
        .collect();
    paths.sort();
    paths.dedup();
    let given = request.subject.as_deref().map(str::trim).filter(|subject| !subject.is_empty());
    let subject = match &paths[..] {
        _ if given.is_some() => given.unwrap_or_default().to_owned(),
        [path] if path.len() <= 50 => format!("Restore edits of {path}"),
        _ => format!("Restore edits lost in {}", &merge.to_string()[..10]),
    };
    let why = &request.why;
    let reason = if why.is_empty() { String::new() } else { format!("{why}\n\n") };
    let ids: Vec<&str> = restored.iter().map(String::as_str).collect();
    format!("{subject}\n\n{reason}Probity-Merge: {merge}\nProbity-Restores: {}\n", ids.join(" "))
}
