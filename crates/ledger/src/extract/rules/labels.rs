//! What a heading or a label in front makes of the words behind it.

use super::super::Role;
use super::super::claims::TurnClaim;
use super::super::topics::BlockTopic;
use super::{RuleReader, is_whole};
use crate::vocabulary::ConfidenceLevel;
use probity_prose::lexicon::{self as lx, contains, is_among, starts_with, strip};
use probity_prose::words::{Word, strip_openers};

impl RuleReader<'_> {
    /// An item under a heading has the heading's topic, if it is asserted at all.
    pub(super) fn under(&self, topic: BlockTopic) -> Option<TurnClaim> {
        let words = strip_openers(&self.sentence.words);
        let text = self.said(words);
        if matches!(topic, BlockTopic::Open | BlockTopic::Options) {
            return self.branch(words);
        }
        if topic == BlockTopic::Proposals {
            let is_idea = self.modality.is_asserted() || self.modality.is_guess();
            return is_idea
                .then_some(TurnClaim::Hypothesis { summary: text, confidence: ConfidenceLevel::Low });
        }
        if self.modality.is_guess() {
            return Some(TurnClaim::Hypothesis { summary: text, confidence: ConfidenceLevel::Low });
        }
        let is_rule = topic == BlockTopic::Constraints && self.is_rule_with_condition();
        if !(self.modality.is_asserted() || is_rule) {
            return None;
        }
        Some(match topic {
            BlockTopic::Goals => TurnClaim::Goal(text),
            BlockTopic::Decisions => self.decision_in_a_list(words, text),
            BlockTopic::Constraints => {
                let is_soft = self.has("prefer | should | ideally | avoid | try to");
                TurnClaim::constraint(text, !is_soft)
            }
            BlockTopic::Tasks => TurnClaim::Task(text),
            BlockTopic::Done => TurnClaim::Done(text),
            BlockTopic::Facts => TurnClaim::fact(text, ConfidenceLevel::Medium),
            BlockTopic::Open | BlockTopic::Options | BlockTopic::Proposals => return None,
        })
    }

    /// "Must haves: no data loss, at most 10 minutes of downtime": one claim each.
    pub(super) fn listed(&self) -> Option<Vec<TurnClaim>> {
        let words = strip_openers(&self.sentence.words);
        let label = words.iter().take(8).position(|word| word.paused)?;
        let (head, rest) = words.split_at(label + 1);
        let first = rest.first()?;
        let is_label = self.sentence.text[..first.place.start].trim_end_matches([' ', '*']).ends_with(':');
        let is_rule = is_whole(head, lx::RULE_LABEL)
            || contains(head, "not negotiable | non-negotiable | the rules are | the requirements are");
        let is_wish = is_whole(head, "nice to have | nice to haves | preferences");
        let begins_with_verb = |part: &[Word]| {
            let part = strip(part, "and").unwrap_or(part);
            part.len() > 1 && is_among(lx::VERB, &part[0].lower)
        };
        let is_todo = is_whole(head, "todo | to do | todos | tasks | next | next steps");
        if is_label
            && is_todo
            && self.modality.is_asserted()
            && rest.iter().any(|word| word.paused)
            && rest.split_inclusive(|word| word.paused).all(begins_with_verb)
        {
            let parts = rest.split_inclusive(|word| word.paused);
            let tasks = parts.map(|part| TurnClaim::Task(self.said(strip(part, "and").unwrap_or(part))));
            return Some(tasks.collect());
        }
        if let ([verb], true) = (head, is_label && self.role == Role::User && self.modality.is_asserted())
            && is_among(lx::WORK_VERB, &verb.lower)
            && rest.iter().any(|word| word.paused)
            && !is_whole(rest, lx::ACCEPTANCE | lx::REFUSAL)
        {
            let parts =
                rest.split_inclusive(|word| word.paused).map(|part| strip(part, "and").unwrap_or(part));
            let order = self.said(head);
            let tasks = parts.filter(|part| !part.is_empty());
            return Some(
                tasks.map(|part| TurnClaim::Task(format!("{order} {}", self.slice(part)))).collect(),
            );
        }
        if !is_label || !(is_rule || is_wish) || !self.modality.is_asserted() {
            return None;
        }
        let mut claims = Vec::new();
        for part in rest.split_inclusive(|word| word.paused) {
            let part = strip(part, "and").unwrap_or(part);
            if !part.is_empty() {
                claims.push(TurnClaim::constraint(self.said(part), is_rule));
            }
        }
        Some(claims)
    }

    /// "Decision: …", "TODO: …": the label gives the kind.
    pub(super) fn labeled(&self, words: &[Word]) -> Option<TurnClaim> {
        let label = words.iter().take(6).position(|word| word.paused)?;
        let (head, rest) = words.split_at(label + 1);
        let before = rest
            .first()
            .map(|word| self.sentence.text[..word.place.start].trim_end_matches([' ', '*', '`', '"']))?;
        if !before.ends_with([':', '—', '-']) {
            return None;
        }
        let text = self.said(rest);
        Some(match () {
            () if starts_with(
                head,
                "decision | decided | we decided | final decision | i have made up my mind | we have made up our minds | my decision",
            ) =>
            {
                self.decision(rest).unwrap_or_else(|| TurnClaim::decision(text))
            }
            () if starts_with(head, "preference | soft constraint") => TurnClaim::constraint(text, false),
            () if starts_with(head, lx::RULE_LABEL) => TurnClaim::constraint(text, true),
            () if starts_with(head, lx::TASK_LABEL) => TurnClaim::Task(text),
            () if starts_with(head, "goal | objective | aim | the goal | target | the target") => {
                TurnClaim::Goal(text)
            }
            () if starts_with(head, lx::PROPOSAL_LABEL) => {
                TurnClaim::Hypothesis { summary: text, confidence: ConfidenceLevel::Low }
            }
            () if starts_with(head, "fact | finding | root cause | til | measured | result") => {
                TurnClaim::fact(text, ConfidenceLevel::High)
            }
            () => return None,
        })
    }
}
