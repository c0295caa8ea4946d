//! What waits for a person beside changes: edits that merges lost, and contradictions of the ledger.

use crate::lost_intents::DocumentMerges;
use probity_api::merge_audit::{MergeAuditAnswer, MergeAuditRangeAnswer, MergeFinding};
use probity_api::review::{BoardNeed, NeedKind};
use probity_core::text::count;
use probity_knowledge::ledger::{self, ItemFilter};
use probity_workspace::{ServiceError, Workspace};
use std::collections::BTreeSet;

/// Contradictions that are named one by one.
const MAX_CONTRADICTIONS: usize = 3;
/// Authors that are named.
const MAX_AUTHORS: usize = 2;

/// Everything that waits beside changes.
#[derive(Debug, Clone, Default)]
pub struct UndecidedFacts {
    pub needs: Vec<BoardNeed>,
    /// Edits that merges lost and nobody decided about.
    pub n_lost: usize,
    pub n_contradictions: usize,
}

/// Returns what merges lost and what the ledger contradicts, as long as nobody decided.
pub fn undecided(
    workspace: &Workspace,
    range: &MergeAuditRangeAnswer,
    documents: &DocumentMerges,
) -> Result<UndecidedFacts, ServiceError> {
    let mut facts = UndecidedFacts::default();
    for audit in &range.audits {
        let open: Vec<&MergeFinding> =
            audit.findings.iter().filter(|finding| finding.is_undecided()).collect();
        facts.n_lost += open.len();
        facts.needs.extend(lost_in_merge(audit, &open));
    }
    let written = documents.written.iter().map(|merge| (merge.open, format!("documents/{}", merge.merge)));
    let pending = documents.pending.iter().map(|merge| (merge.conflicts.len(), String::new()));
    for (n_open, change) in written.chain(pending).filter(|(n_open, _)| *n_open > 0) {
        let is_pending = change.is_empty();
        facts.n_lost += n_open;
        facts.needs.push(BoardNeed {
            kind: NeedKind::Lost,
            change,
            who: "The document store".into(),
            sentence: format!("has {} that nobody decided", count(n_open, "conflict")),
            paths: Vec::new(),
            note: if is_pending { "heads that are not merged" } else { "in a written merge" }.into(),
            since: None,
            action: None,
        });
    }
    let listed = ledger::show(workspace, &ItemFilter::default())?;
    facts.n_contradictions = listed.contradictions.len();
    for pair in listed.contradictions.iter().take(MAX_CONTRADICTIONS) {
        let [one, other] = pair;
        facts.needs.push(BoardNeed {
            kind: NeedKind::Contradiction,
            change: one.clone(),
            who: one.clone(),
            sentence: format!("says the opposite of {other}"),
            paths: Vec::new(),
            note: "both are in force".into(),
            since: None,
            action: None,
        });
    }
    Ok(facts)
}

fn lost_in_merge(audit: &MergeAuditAnswer, open: &[&MergeFinding]) -> Option<BoardNeed> {
    let merge = audit.merge.clone()?;
    if open.is_empty() {
        return None;
    }
    let authors: BTreeSet<&str> =
        open.iter().filter_map(|finding| finding.commits.first()).map(|one| one.author.as_str()).collect();
    let mut names: Vec<&str> = authors.iter().copied().take(MAX_AUTHORS).collect();
    if authors.len() > MAX_AUTHORS {
        names.push("others");
    }
    let whose = if names.is_empty() { String::new() } else { format!(" of {}", names.join(", ")) };
    let paths: BTreeSet<_> = open.iter().map(|finding| finding.path.clone()).collect();
    let title = audit.merged_by.as_ref().map(|by| by.subject.clone());
    Some(BoardNeed {
        kind: NeedKind::Lost,
        who: title.unwrap_or_else(|| format!("Merge {}", merge.get(..8).unwrap_or(&merge))),
        sentence: format!("dropped {}{whose} in", count(open.len(), "edit")),
        change: merge,
        paths: paths.into_iter().collect(),
        note: format!("{} of {} open", open.len(), count(audit.findings.len(), "place")),
        since: None,
        action: None,
    })
}
