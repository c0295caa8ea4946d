//! Statements that are not asserted: ideas, open choices, requests, conditional rules.

use super::super::Role;
use super::super::claims::TurnClaim;
use super::super::dialog::{is_conclusion, offer_of};
use super::RuleReader;
use super::constraints::is_bound_alone;
use crate::vocabulary::ConfidenceLevel;
use probity_prose::lexicon::{self as lx, contains, is_among, position_after, position_of, strip};
use probity_prose::modality::Modality;
use probity_prose::sentences::Sentence;
use probity_prose::stems::stems;
use probity_prose::words::{Word, strip_openers};

/// The most words of an alternative.
const MAX_ALTERNATIVE_WORDS: usize = 9;

/// The same behind "two ways to fix it:".
const MAX_ANNOUNCED_WORDS: usize = 14;

impl RuleReader<'_> {
    pub(super) fn unasserted(&self, words: &[Word]) -> Option<TurnClaim> {
        if let Some(bound) = self.reported_bound(words) {
            return Some(bound);
        }
        // Who needs it may be somebody else: "management insists on it".
        if let Some(needed) = self.still_needed(words).filter(|_| self.modality.is_only_reported()) {
            return Some(needed);
        }
        if let Some(conclusion) = self.concluded(words) {
            return Some(conclusion);
        }
        if let Some(task) = self.check_asked_for(words) {
            return Some(task);
        }
        if let Some(task) = self.request(words) {
            return Some(task);
        }
        if self.is_rule_with_condition() {
            return self.conditional_rule(words);
        }
        let idea = strip(
            words,
            "what if we | what if | how about we | how about | what about | could it be that | could it be | is it possible that",
        );
        // "What about windows?" and "what if a user closes the tab?" ask; they propose nothing.
        let only_asks = self.role == Role::User
            && !self.context.recent.is_empty()
            && (strip(words, "what about").is_some()
                || strip(words, "what if a | what if an | what if the | what if someone | what if somebody")
                    .is_some());
        if let Some(idea) = idea.filter(|_| !only_asks).filter(|idea| {
            (idea.len() > 1 || idea.first().is_some_and(|word| word.lower.len() > 4))
                && !self.modality.is_reported
                && !self.modality.is_unreal
        }) {
            return Some(TurnClaim::Hypothesis {
                summary: self.said(idea),
                confidence: ConfidenceLevel::Low,
            });
        }
        if let Some(idea) =
            strip(words, lx::SUGGESTION).filter(|idea| !idea.is_empty() && self.modality.is_guess())
        {
            return Some(TurnClaim::Hypothesis {
                summary: self.said(idea),
                confidence: ConfidenceLevel::Low,
            });
        }
        if let Some(offer) = offer_of(self.sentence)
            .filter(|_| !(self.modality.is_reported || self.modality.is_unreal))
            .filter(|_| !self.modality.is_question || is_conclusion(self.sentence))
        {
            let is_whole = stems(&offer.summary).len() >= 2;
            return is_whole.then_some(TurnClaim::Hypothesis {
                summary: offer.summary,
                confidence: ConfidenceLevel::Low,
            });
        }
        if let Some(way) = self.way_that_would_help(words) {
            return Some(way);
        }
        if !self.modality.is_guess()
            || words.len() < 3 && !self.sentence.is_translated
            || strip(words, lx::CHATTER).is_some()
            || !self.is_proposition(words)
        {
            return None;
        }
        let is_likely = self.has("probably | likely | i believe | we believe | presumably | should");
        let confidence = if is_likely { ConfidenceLevel::Medium } else { ConfidenceLevel::Low };
        Some(TurnClaim::Hypothesis { summary: self.said(strip_hedge(words)), confidence })
    }

    /// "The contract says max 5 seats": whose limit it is makes no difference to who has to keep it.
    fn reported_bound(&self, words: &[Word]) -> Option<TurnClaim> {
        let says = position_after(
            &words[..words.len().min(6)],
            "says | say | said | says that | say that | said that",
        )?;
        let bound = &words[says..];
        let is_subject = is_among(
            "privacy | gdpr | lawyers | management | boss | product | customer | legal | contract | security | ops | compliance | finance | support | marketing | law | vendor | policy | spec | audit | license",
            &words[says.checked_sub(2)?].lower,
        );
        // "We may" permits and doubts nothing here.
        let modality =
            Modality { is_hedged: self.modality.is_hedged && !self.has("we may | you may"), ..self.modality };
        if self.role != Role::User || !modality.is_only_reported() || !is_subject {
            return None;
        }
        let value = self.bound_alone(bound);
        value.or_else(|| is_bound_alone(bound).then(|| TurnClaim::constraint(self.said(bound), true)))
    }

    /// "Check whether the backup really runs": the question is the work, and no condition.
    fn check_asked_for(&self, words: &[Word]) -> Option<TurnClaim> {
        let only_conditional = Modality { is_conditional: true, ..Modality::default() };
        let asked = strip(
            words,
            "check whether | check if | find out whether | find out if | test whether | test if | verify whether | see whether | see if | look whether",
        )?;
        (self.role == Role::User
            && self.modality == only_conditional
            && asked.len() >= 2
            && self.begins_sentence(words))
        .then(|| TurnClaim::Task(self.said(words)))
    }

    /// "Flow fields would be better for hundreds of units", "an index on the date should bring this down": an agent proposes it.
    fn way_that_would_help(&self, words: &[Word]) -> Option<TurnClaim> {
        const MAX_WAY_WORDS: usize = 14;
        position_of(words, lx::BENEFIT).filter(|at| (1..=MAX_WAY_WORDS).contains(at))?;
        let is_pointer = is_among(lx::PRONOUN | lx::FIRST_PERSON | lx::CONDITION, &words[0].lower)
            || is_among("you | one | either | both | otherwise | then", &words[0].lower);
        (self.role == Role::Assistant
            && self.modality.is_guess()
            && !is_pointer
            && self.begins_sentence(words))
        .then(|| TurnClaim::Hypothesis { summary: self.said(words), confidence: ConfidenceLevel::Low })
    }

    /// "Ops wants Pulumi and they run it, so Pulumi": the reason is somebody else's, the conclusion the author's.
    fn concluded(&self, words: &[Word]) -> Option<TurnClaim> {
        let name = self.name_after_so(words).filter(|_| self.modality.is_only_reported())?;
        Some(TurnClaim::Decision { summary: format!("Use {name}"), revises: true, instead_of: None })
    }

    /// A guess needs something that is guessed: a subject and more, not only a hedge. "Would" alone tells a consequence.
    fn is_proposition(&self, words: &[Word]) -> bool {
        let is_consequence =
            self.has("would") && !self.has(lx::HEDGE | lx::HEDGED_START) && !self.has("might | could | may");
        let is_about_me =
            strip(words, "i am | i have no | you are | i would | wouldn't | what | that is all | i said")
                .is_some();
        self.sentence.is_translated
            || !is_consequence && !is_about_me && stems(&self.sentence.text).len() >= 3 && words.len() >= 4
    }

    /// "If the tests fail, never merge": a rule keeps its condition.
    pub(super) fn is_rule_with_condition(&self) -> bool {
        let modality = self.modality;
        let is_otherwise_open = modality.is_question
            || modality.is_hedged
            || modality.is_reported
            || modality.is_unreal
            || modality.is_undecided;
        let is_rule = self.has("never | always") || self.has("must") && !self.sentence.is_translated;
        modality.is_conditional && !is_otherwise_open && is_rule
    }

    fn conditional_rule(&self, words: &[Word]) -> Option<TurnClaim> {
        let rule = self.constraint(words).or_else(|| self.prohibition(words));
        let rule = rule.or_else(|| {
            let at = position_after(words, "never | always | must")?;
            (at < words.len()).then(|| TurnClaim::constraint(String::new(), true))
        })?;
        match rule {
            TurnClaim::Constraint { hard, .. } => {
                Some(TurnClaim::constraint(self.said(&self.sentence.words), hard))
            }
            _ => None,
        }
    }

    /// "Can you add tests?" is a request for work.
    fn request(&self, words: &[Word]) -> Option<TurnClaim> {
        if let Some(rest) = strip(words, "please | bitte") {
            let is_open = self.modality.is_question || self.modality.is_reported || self.modality.is_unreal;
            let is_work = strip(rest, lx::WORK_VERB).is_some_and(|object| !object.is_empty());
            return (is_work && !is_open && self.role == Role::User)
                .then(|| TurnClaim::Task(self.said(rest)));
        }
        let rest = strip(words, "can you | could you | would you | will you")?;
        let rest = strip(rest, "please | also | maybe also | quickly").unwrap_or(rest);
        let is_work = strip(rest, lx::WORK_VERB).is_some_and(|object| !object.is_empty());
        let only_talks = rest.first().is_none_or(|verb| is_among(lx::SPEECH_REQUEST, &verb.lower));
        let is_task = self.role == Role::User && (is_work || !only_talks && rest.len() > 2);
        let asks_whether =
            self.has("whether | check if | see if | verify if | find out if | look if | test if | know if");
        let is_plain = !(self.modality.is_conditional && !asks_whether
            || self.modality.is_reported
            || self.modality.is_unreal);
        let is_asked_back = self.has("maybe | perhaps | tell me | explain");
        (is_task && is_plain && !is_asked_back).then(|| TurnClaim::Task(self.said(rest)))
    }

    /// Returns alternatives without a decision.
    pub(super) fn branch(&self, words: &[Word]) -> Option<TurnClaim> {
        let modality = self.modality;
        if modality.is_reported || modality.is_unreal {
            return None;
        }
        if let Some(at) = position_after(words, lx::CHOICE_BETWEEN) {
            return self.alternatives(&words[at..], "and").or_else(|| self.alternatives(&words[at..], "or"));
        }
        let options = "options are | the options are | our options are | two options | the choice is";
        if let Some(rest) = strip(words, options) {
            return self.alternatives(rest, "or").or_else(|| self.alternatives(rest, "and"));
        }
        if let Some(rest) = announced_options(words) {
            let has_or = rest.iter().any(|word| word.lower == "or");
            if let Some(several) = self.several_alternatives(rest) {
                return Some(several);
            }
            return self.alternatives_within(rest, if has_or { "or" } else { "and" }, MAX_ANNOUNCED_WORDS);
        }
        let is_open = modality.is_question || modality.is_undecided || modality.is_hedged;
        if let Some(at) = position_after(words, "either") {
            return self.alternatives(&words[at..], "or").filter(|_| is_open || at == 1);
        }
        let has_versus = words.iter().any(|word| matches!(word.lower.as_str(), "vs" | "versus"));
        if has_versus && words.len() <= 14 {
            return self.alternatives(words, "vs").or_else(|| self.alternatives(words, "versus"));
        }
        if modality.is_question
            && let Some(rest) = after_colon(words)
        {
            return self.alternatives(rest, "or");
        }
        if self.has("your choice | your call | up to you | either is fine | either works") {
            return self.alternatives(words, "or");
        }
        if self.role == Role::Assistant
            && let Some(offered) = strip(words, lx::OFFERED_WORK)
        {
            return self.offered_alternatives(words).or_else(|| self.offered_work(offered));
        }
        if self.role == Role::Assistant
            && let Some(rest) = strip(
                words,
                "we can | we could | you can | you could | we can either | we could either | you can either",
            )
            && rest.iter().any(|word| word.lower == "or")
        {
            return self.alternatives(rest, "or");
        }
        if self.has("no strong opinion | do not care | no preference | can not decide | what do you suggest")
        {
            return self.alternatives(words, "or");
        }
        match position_after(words, lx::ASKED_CHOICE) {
            Some(at) if modality.is_question => self.alternatives(&words[at..], "or"),
            None if modality.is_question && words.len() <= 6 => {
                self.alternatives(words, "or").filter(|_| !is_yes_or_no(words))
            }
            None if modality.is_question => {
                let asked = after_question(words).or_else(|| is_fragment(words).then_some(words))?;
                self.alternatives(asked, "or").filter(|_| !is_yes_or_no(words))
            }
            _ => None,
        }
    }

    /// "I can replace it with a mock server or with a route": the names around "or".
    fn offered_alternatives(&self, words: &[Word]) -> Option<TurnClaim> {
        let or = words.iter().position(|word| word.lower == "or")?;
        let joint = words.get(or + 1).map(|word| word.lower.as_str())?;
        let start = words[..or].iter().rposition(|word| word.lower == joint)?;
        let (one, other) = (self.slice(&words[start + 1..or]), self.slice(words.get(or + 2..)?));
        let is_short = |text: &str| (1..=6).contains(&text.split_whitespace().count());
        (is_short(&one) && is_short(&other) && one != other).then(|| TurnClaim::Branch(vec![one, other]))
    }

    /// "I could boost the title, or add a score": two pieces of work.
    fn offered_work(&self, words: &[Word]) -> Option<TurnClaim> {
        let or =
            words.iter().position(|word| word.lower == "or").filter(|&or| or > 1 && words[or - 1].paused)?;
        let rest = &words[or + 1..];
        let end = rest.iter().position(|word| word.paused).map_or(rest.len(), |at| at + 1);
        let is_work = |part: &[Word]| (2..=12).contains(&part.len()) && is_among(lx::VERB, &part[0].lower);
        (is_work(&words[..or]) && is_work(&rest[..end]))
            .then(|| TurnClaim::Branch(vec![self.slice(&words[..or]), self.slice(&rest[..end])]))
    }

    /// "Schema per tenant, a tenant column, or one database each": three or more.
    fn several_alternatives(&self, words: &[Word]) -> Option<TurnClaim> {
        let parts: Vec<&[Word]> = words.split_inclusive(|word| word.paused).collect();
        let (last, front) = parts.split_last()?;
        let last = strip(last, "or")?;
        let is_short = |part: &&[Word]| (1..=MAX_ANNOUNCED_WORDS).contains(&part.len());
        if !(2..=5).contains(&front.len()) || !front.iter().all(is_short) || !is_short(&last) {
            return None;
        }
        let texts: Vec<String> = front.iter().chain([&last]).map(|part| self.slice(part)).collect();
        let distinct: std::collections::BTreeSet<&String> = texts.iter().collect();
        (distinct.len() == texts.len()).then_some(TurnClaim::Branch(texts))
    }

    /// Returns the alternatives left and right of `joint`.
    fn alternatives(&self, words: &[Word], joint: &str) -> Option<TurnClaim> {
        self.alternatives_within(words, joint, MAX_ALTERNATIVE_WORDS)
    }

    fn alternatives_within(&self, words: &[Word], joint: &str, max_words: usize) -> Option<TurnClaim> {
        let at = words.iter().position(|word| word.lower == joint)?;
        let (left, right) = (&words[..at], &words[at + 1..]);
        // The last word on the left may have a comma before the joint.
        let starts = left.iter().rev().skip(1).rev().rposition(|word| word.paused).map_or(0, |at| at + 1);
        // "darken it, which is exactly enough, or go on": the relative clause is no alternative.
        let is_remark =
            left.get(starts).is_some_and(|word| is_among("which | who | because | since | as", &word.lower));
        let left = if is_remark { &left[..starts] } else { left };
        let starts = if is_remark {
            left.iter().rev().skip(1).rev().rposition(|word| word.paused).map_or(0, |at| at + 1)
        } else {
            starts
        };
        let ends = right.iter().position(|word| word.paused).map_or(right.len(), |at| at + 1);
        let stops = right.iter().position(|word| matches!(word.lower.as_str(), "for" | "here" | "as"));
        let (left, right) = (&left[starts..], &right[..ends.min(stops.unwrap_or(right.len()))]);
        let right = strip(right, "we").filter(|_| joint == "or").unwrap_or(right);
        let is_short = |part: &[Word]| !part.is_empty() && part.len() <= max_words;
        let is_rank = |part: &[Word]| {
            matches!(part, [.., last] if last.lower.parse::<usize>().is_ok())
                && contains(words, "sleep over | think about | think over")
        };
        if is_rank(right) {
            return None;
        }
        let (one, other) = (self.slice(left), self.slice(right));
        (is_short(left) && is_short(right) && one != other).then(|| TurnClaim::Branch(vec![one, other]))
    }
}

/// "Should we log denied access? Or leave it": the other alternative stands in a sentence of its own.
pub(in crate::extract) fn asked_choice(question: &Sentence, next: &Sentence) -> Option<TurnClaim> {
    let words = strip_openers(&question.words);
    let asked = strip(words, lx::ASKED_CHOICE | lx::OFFER_TO_DO | lx::OFFER_TO_HAVE)?;
    let other = strip(
        strip_openers(&next.words),
        "or should we | or should i | or shall we | or shall i | or do we | or",
    )?;
    let is_short = |part: &[Word]| (1..=MAX_ALTERNATIVE_WORDS).contains(&part.len());
    let is_plain =
        !asked.iter().any(|word| word.lower == "or") && !is_among("not | no | what", &other.first()?.lower);
    let text = |sentence: &Sentence, part: &[Word]| {
        let (first, last) = (part.first()?, part.last()?);
        sentence.text.get(first.place.start..last.place.end).map(str::to_owned)
    };
    let is_open = question.is_question && is_short(asked) && is_short(other) && is_plain;
    is_open.then(|| Some(TurnClaim::Branch(vec![text(question, asked)?, text(next, other)?]))).flatten()
}

/// "For publishing, npm and crates.io, or internal only?": a question without a verb in front.
fn is_fragment(words: &[Word]) -> bool {
    let near = &words[..words.len().min(5)];
    !near.iter().any(|word| {
        is_among(
            lx::AUXILIARY | lx::MODAL | lx::PRONOUN | lx::FIRST_PERSON | lx::VERB | lx::CONDITION,
            &word.lower,
        ) || is_among("you | why | how | when | where | which | any", &word.lower)
    })
}

/// "I see two ways to move it: replication or a dump".
fn announced_options(words: &[Word]) -> Option<&[Word]> {
    let colon = words.iter().position(|word| word.paused)?;
    let (head, rest) = words.split_at(colon + 1);
    let says = |list: &str| head.iter().any(|word| is_among(list, &word.lower));
    let counts = says("two | three | options | some | possible | choice");
    (counts && says("patterns | designs | fixes | solutions | options | ways | routes | possibilities | approaches | choices | choice | alternatives"))
        .then_some(rest)
}

/// "How should it be stored: in a cookie, or in memory?": the words behind the colon.
fn after_colon(words: &[Word]) -> Option<&[Word]> {
    let has_or = |rest: &[Word]| rest.iter().any(|word| word.lower == "or");
    let at = words.iter().take(12).position(|word| word.paused)?;
    let is_how = is_among("how | which | what | where", &words[0].lower);
    words.get(at + 1..).filter(|rest| is_how && has_or(rest))
}

/// Returns the subject of a question that begins with its verb: "should they expire after 15 or after 60 minutes?".
fn after_question(words: &[Word]) -> Option<&[Word]> {
    let start = words
        .iter()
        .take(4)
        .position(|word| is_among("should | shall | do | does | would | is | are | will", &word.lower))?;
    words.get(start + 3..).filter(|rest| rest.len() >= 3)
}

/// Returns the words after a leading hedge.
fn strip_hedge(words: &[Word]) -> &[Word] {
    let mut rest = words;
    while let Some(stripped) = strip(rest, lx::HEDGED_START).filter(|stripped| stripped.len() >= 2) {
        rest = stripped;
    }
    rest
}

fn is_yes_or_no(words: &[Word]) -> bool {
    words.iter().any(|word| matches!(word.lower.as_str(), "no" | "yes" | "not" | "what" | "something"))
}
