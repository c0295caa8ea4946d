//! The review of the findings of a git merge: put an edit back, or let the merge stand.

use super::screen::{ReviewItem, ReviewOffer, ReviewScreen};
use super::{DecisionWriter, run};
use probity_api::merge_audit::{
    FindingChoice, FindingChoices, MergeAuditAnswer, MergeFinding, MergeReviewAnswer, VersionExcerpt,
};
use probity_core::bytes::escape;
use probity_documents::ConflictChoice;
use probity_merges::what_happened;
use probity_workspace::{ServiceError, Workspace};

/// Runs the review of a git merge; `None` if the user left without writing.
pub(crate) fn review_git_merge(
    workspace: &Workspace,
    audit: &MergeAuditAnswer,
) -> Result<Option<MergeReviewAnswer>, ServiceError> {
    run(screen_of(audit), &GitDecisions { workspace, audit })
}

fn screen_of(audit: &MergeAuditAnswer) -> ReviewScreen {
    let short = |id: &str| id.get(..10).unwrap_or(id).to_owned();
    let name = audit.merge.as_deref().map_or_else(|| "working tree".to_owned(), short);
    let title = format!("git merge {name} = {} + {}", short(&audit.ours), short(&audit.theirs));
    let mut findings: Vec<&MergeFinding> =
        audit.findings.iter().filter(|finding| finding.decision.is_none()).collect();
    findings.sort_by_key(|finding| !finding.is_open());
    let items = findings.into_iter().map(review_item).collect();
    let mut screen = ReviewScreen::new(title, items, !audit.two_way);
    screen.label = "Restore lost edits";
    screen
}

fn review_item(finding: &MergeFinding) -> ReviewItem {
    let line = finding.lines.map_or_else(String::new, |[first, _]| format!(":{first}"));
    let entity = finding.entity.as_ref().map_or_else(String::new, |name| format!(" in {name}"));
    let side = finding.side.map_or("", |side| side.as_str());
    let by = finding.commits.first().map_or_else(String::new, |commit| format!(" ({})", commit.author));
    let before = finding.decided_before.as_ref();
    let note = match before {
        Some(before) => format!("{} decided `{}` about the same before: r", before.by, before.chosen),
        None => what_happened(finding),
    };
    let excerpt = |version: &Option<VersionExcerpt>| version.as_ref().map(|version| shown(&version.text));
    let lost_edit = finding.restoring_choice().map(to_conflict_choice);
    ReviewItem {
        id: finding.id.clone(),
        values: [&finding.base, &finding.ours, &finding.theirs, &finding.merged].map(excerpt),
        typed: None,
        offer: lost_edit.map_or(ReviewOffer::MergedOnly, ReviewOffer::LostEdit),
        place: shown(&format!("{} {}{line}{entity}", finding.class, finding.path)),
        lost: shown(&format!("{side}{by}")),
        note: Some(shown(&note)),
        proposal: before.map(|before| to_conflict_choice(before.chosen)),
        ruled: finding.ruling.as_ref().and_then(|ruling| ruling.choose).map(to_conflict_choice),
        chosen: None,
    }
}

/// Makes untrusted text safe for the terminal, line by line.
fn shown(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(|line| escape(line.replace('\t', "    ").as_bytes())).collect();
    lines.join("\n")
}

const fn to_conflict_choice(choice: FindingChoice) -> ConflictChoice {
    match choice {
        FindingChoice::Ours => ConflictChoice::Ours,
        FindingChoice::Theirs => ConflictChoice::Theirs,
        FindingChoice::Merged => ConflictChoice::Merged,
    }
}

/// Decisions about the findings of a git merge.
struct GitDecisions<'a> {
    workspace: &'a Workspace,
    audit: &'a MergeAuditAnswer,
}

impl GitDecisions<'_> {
    fn decide(
        &self,
        screen: &ReviewScreen,
        subject: Option<String>,
        why: String,
        dry_run: bool,
    ) -> Result<MergeReviewAnswer, ServiceError> {
        let to_choice = |(id, chosen): (&str, &ConflictChoice)| {
            let choice = match chosen {
                ConflictChoice::Ours => FindingChoice::Ours,
                ConflictChoice::Theirs => FindingChoice::Theirs,
                // The screen offers nothing else for an edit.
                _ => FindingChoice::Merged,
            };
            (id.to_owned(), choice)
        };
        let choices = screen.choices().map(to_choice).collect();
        let choices = FindingChoices { choices, subject, why, by: None, override_policy: false, dry_run };
        probity_merges::decide(self.workspace, self.audit, &choices)
    }
}

impl DecisionWriter for GitDecisions<'_> {
    type Written = MergeReviewAnswer;

    fn preview(&self, screen: &ReviewScreen) -> Result<Vec<String>, String> {
        let why = "preview".to_owned();
        let answer = self.decide(screen, None, why, true).map_err(|fault| fault.to_string())?;
        let mut lines: Vec<String> = Vec::new();
        if let Some(survival) = &answer.survival {
            lines.extend(survival.restored.iter().map(|id| format!("restores {id}")));
            lines.extend(survival.by_hand.iter().map(|left| format!("by hand  {}: {}", left.id, left.why)));
        }
        lines.extend(answer.recorded.iter().map(|one| format!("accepts  {} {}", one.finding, one.path)));
        if lines.is_empty() {
            lines.push("nothing: the merge stands as it is".into());
        }
        Ok(lines)
    }

    fn write(
        &self,
        screen: &ReviewScreen,
        label: String,
        why: String,
    ) -> Result<MergeReviewAnswer, ServiceError> {
        self.decide(screen, Some(label), why, false)
    }
}
