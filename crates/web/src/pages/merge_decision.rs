//! What a decision about a place of a merge will do, and what it did.

use super::PageFrame;
use super::merge::{HEADS_ADDRESS, document_merge_address, merge_address, short};
use crate::untrusted_text::{SentenceWithCode, Untrusted, glyph};
use crate::url_text::encode;
use maud::{Markup, html};
use probity_api::merge_audit::{MergeAuditAnswer, MergeFinding, MergeSurvivalAnswer};
use probity_api::merges::{ConflictReport, MergeAnalysisAnswer, MergeReconcileAnswer};
use probity_core::bytes::bare_shell_word;
use probity_core::text::count;
use probity_review::lost_intents::{FindingAction, FindingOutcome, conflict_digest, finding_digest};

/// What the preview of a decision about a place says.
pub(crate) struct PlacePreview {
    pub(crate) address: String,
    pub(crate) action: String,
    pub(crate) place: String,
    pub(crate) label: String,
    pub(crate) effects: Vec<String>,
    pub(crate) command: String,
    pub(crate) shown: String,
    /// Whether there is nothing that it could do.
    pub(crate) is_void: bool,
}

impl PlacePreview {
    pub(crate) fn of_finding(
        audit: &MergeAuditAnswer,
        finding: &MergeFinding,
        action: FindingAction,
        restoration: Option<&MergeSurvivalAnswer>,
    ) -> Self {
        let name = audit.merge.as_deref().map_or_else(|| "--working".to_owned(), str::to_owned);
        let (label, effects) = match (action, restoration) {
            (FindingAction::Accept, _) => (
                "The merge stands".to_owned(),
                vec![
                    "The finding is closed: you say that the merge stands without this edit.".to_owned(),
                    "No file and no reference changes.".to_owned(),
                    "The same edit lost in another merge stays open, and shows this decision.".to_owned(),
                ],
            ),
            (FindingAction::Restore, restoration) => {
                let mut effects = Vec::new();
                if let Some(answer) = restoration {
                    effects.extend(
                        answer.by_hand.iter().map(|it| format!("Not possible by itself: {}", it.why)),
                    );
                    if !answer.restored.is_empty() {
                        let short_merge = short(&answer.merge);
                        effects.push(format!(
                            "A commit on top of {short_merge} puts the edit back, on a new branch `probity/survive-{short_merge}-…`."
                        ));
                        effects.push("It was tried: an audit of the result finds the edit, and nothing is broken by it.".into());
                    }
                }
                effects.push("The working tree and every existing reference stay as they are.".into());
                ("Restore".to_owned(), effects)
            }
        };
        Self {
            address: merge_address(audit.merge.as_deref()),
            action: action.as_str().to_owned(),
            place: finding.id.clone(),
            label,
            effects,
            command: format!("probity merge audit {name} --{action} {} --why '…'", finding.id),
            shown: finding_digest(audit, finding).to_string(),
            is_void: restoration.is_some_and(|answer| answer.restored.is_empty()),
        }
    }

    pub(crate) fn of_conflict(
        merge: &MergeAnalysisAnswer,
        conflict: &ConflictReport,
        choose: &str,
        dry_run: &MergeReconcileAnswer,
    ) -> Self {
        let mut effects: Vec<String> =
            dry_run.ops.iter().map(|op| format!("A survival commit writes {op}")).collect();
        if effects.is_empty() {
            effects.push("The merge stands as it is; the decision is recorded.".into());
        }
        let n_others = dry_run.decided.len().saturating_sub(1);
        if n_others > 0 {
            effects
                .push(format!("{} are decided by the policy at the same time.", count(n_others, "conflict")));
        }
        effects.push(format!("{} stay open.", count(dry_run.open.len(), "conflict")));
        effects.extend(dry_run.violations.iter().map(|it| format!("An invariant stays broken: {}", it.why)));
        let resolution =
            format!("[{{\"conflict\": \"{}\", \"choose\": \"{choose}\"}}]", conflict.conflict.id);
        Self {
            address: document_merge_address(merge),
            action: choose.to_owned(),
            place: conflict.conflict.id.clone(),
            label: format!("Choose {choose}"),
            effects,
            command: format!(
                "echo {} | probity merge reconcile {} --resolutions - --why '…'",
                bare_shell_word(resolution.as_bytes()),
                merge.merge
            ),
            shown: conflict_digest(merge, conflict).to_string(),
            is_void: false,
        }
    }

    pub(crate) fn of_heads(pending: &[MergeAnalysisAnswer], shown: &probity_core::Digest) -> Self {
        let n_open: usize = pending.iter().map(|merge| merge.conflicts.len()).sum();
        Self {
            address: HEADS_ADDRESS.to_owned(),
            action: "reduce".to_owned(),
            place: String::new(),
            label: "Merge the heads".to_owned(),
            effects: vec![
                format!("{} written; every head stays in the history.", count(pending.len(), "merge commit")),
                format!("{} stay open: you decide about each of them next.", count(n_open, "conflict")),
                "The merges are the same on every machine.".to_owned(),
            ],
            command: "probity commits reduce".to_owned(),
            shown: shown.to_string(),
            is_void: false,
        }
    }
}

pub(crate) fn preview(frame: &PageFrame, about: &PlacePreview, token: &str) -> Markup {
    let back = format!("{}?place={}", about.address, encode(about.place.as_bytes()));
    let content = html! {
        div { p.crumb { a href="/merge" { "Lost intent" } " / " a href=(back) { "the place" } } h1 { (about.label) } }
        form.card.preview id="preview" method="post" action={ (about.address) "/do/" (about.action) } autocomplete="off" {
            input type="hidden" name="token" value=(token);
            input type="hidden" name="place" value=(about.place);
            input type="hidden" name="shown" value=(about.shown);
            header { h2 { "What happens: " (about.label) } }
            div.body {
                ul.effects { @for effect in &about.effects { li { (glyph("run", "in")) span { (SentenceWithCode(effect)) } } } }
                @if !about.is_void && !about.place.is_empty() { label { "Why (kept with the decision)" input type="text" name="why" required maxlength="2000"; } }
                p.mid { "The same on the command line:" }
                code.cmd tabindex="0" { (Untrusted(&about.command)) }
            }
            footer {
                span.dim { "recorded as " (Untrusted(&frame.person)) }
                a.btn href=(back) data-act="close" { "Cancel" }
                @if frame.read_only { span.dim { "read-only" } } @else if !about.is_void { button.btn.main type="submit" { (about.label) } }
            }
        }
    };
    frame.page(&about.label, content)
}

fn decided(frame: &PageFrame, title: &str, effects: &[String], back: &str) -> Markup {
    let content = html! {
        div { p.crumb { a href="/merge" { "Lost intent" } } h1 { (title) } }
        section.card id="decided" { ul.rows { @for effect in effects { li { (glyph("ok", "in")) span { (SentenceWithCode(effect)) } } } } }
        p { a.btn.main href=(back) { "Back to the merge" } " " a.btn href="/merge" { "To all merges" } }
    };
    frame.page(title, content)
}

pub(crate) fn finding_decided(frame: &PageFrame, merge: &str, outcome: &FindingOutcome) -> Markup {
    let effects = match outcome {
        FindingOutcome::Accepted(answer) => {
            let by = answer.recorded.first();
            vec![
                format!("On record: the merge stands, by {}", by.map_or("", |one| one.by.as_str())),
                format!("The audit of the merge is {} now", answer.audit.outcome),
            ]
        }
        FindingOutcome::Restored(answer) => {
            let mut effects = Vec::new();
            if let (Some(branch), Some(commit)) = (&answer.branch, &answer.commit) {
                effects.push(format!(
                    "Commit `{}` on the new branch `{branch}` puts the edit back; the audit of it is {}",
                    short(commit),
                    answer.audit.outcome
                ));
                effects.push(format!("To have it in your branch: `git merge {branch}`"));
            }
            effects.extend(answer.by_hand.iter().map(|it| format!("{}: {}", it.path, it.why)));
            effects
        }
    };
    decided(frame, "Decided", &effects, &merge_address(Some(merge)))
}

/// The heads are merged; the first merge with conflicts comes next.
pub(crate) fn heads_merged(frame: &PageFrame, written: &[MergeAnalysisAnswer]) -> Markup {
    let effects: Vec<String> = written
        .iter()
        .map(|merge| {
            format!(
                "Merge {} is written, {} open",
                short(&merge.merge.to_string()),
                count(merge.conflicts.len(), "conflict")
            )
        })
        .collect();
    let next = written.iter().find(|merge| !merge.conflicts.is_empty());
    decided(frame, "Merged", &effects, &next.map_or_else(|| "/merge".to_owned(), document_merge_address))
}

pub(crate) fn conflict_decided(frame: &PageFrame, answer: &MergeReconcileAnswer) -> Markup {
    let mut effects: Vec<String> = answer
        .decided
        .iter()
        .map(|it| format!("{}/{} {} is decided ({})", it.attachment, it.key, it.place, it.by))
        .collect();
    match &answer.survival {
        Some(survival) => effects.push(format!("Survival commit {survival} is written")),
        None => effects.push("The merge stands as it is; the decision is recorded".into()),
    }
    effects.push(format!("{} open", count(answer.open.len(), "conflict")));
    decided(frame, "Decided", &effects, &format!("/merge/documents/{}", answer.merge))
}
