//! Short answers: their meaning stands in the turn before.

use super::super::Role;
use super::super::claims::TurnClaim;
use super::super::dialog::{DialogOffer, OfferKind, OfferOrigin};
use super::{RuleReader, is_whole};
use probity_prose::lexicon::{self as lx, WordClass, contains, is_among, position_of, strip};
use probity_prose::stems::stems;
use probity_prose::words::{Word, strip_openers};

/// The most words of an answer that only names what it chooses.
const MAX_CHOICE_WORDS: usize = 6;

impl RuleReader<'_> {
    /// Returns what a sentence of the user says as an answer, and the words that it has beyond that.
    pub(super) fn answered<'w>(&self, all: &'w [Word]) -> Option<(Vec<Vec<TurnClaim>>, &'w [Word])> {
        if self.role != Role::User || self.sentence.is_question {
            return None;
        }
        let mut words = all;
        while let Some(rest) = strip(words, lx::FILLER).filter(|rest| !rest.is_empty()) {
            words = rest;
        }
        let nothing: &'w [Word] = &[];
        if let Some(claims) = self.picked_from_list(words) {
            return Some((claims, nothing));
        }
        let is_both = words.first().is_some_and(|word| word.lower == "both")
            && (words.len() == 1 || words[0].paused || is_whole(&words[1..], "please | of them | then"));
        if is_both && self.context.offers.is_empty() {
            let rest = if words[0].paused { &words[1..] } else { nothing };
            return Some((vec![vec![TurnClaim::ChooseBoth]], rest));
        }
        if let Some((rank, rest)) = rank_of(words) {
            let listed = || self.context.listed.get(rank).map(|item| item.trim_end_matches('.').to_owned());
            let offer = self.context.offers.get(rank).map(|offer| offer.summary.clone()).or_else(listed);
            return Some((vec![vec![TurnClaim::Pick { rank, summary: offer }]], rest));
        }
        let rest = strip(words, lx::ACCEPTANCE)?;
        let is_end = rest.is_empty() || is_whole(rest, lx::ACCEPTANCE | lx::FILLER);
        let is_paused =
            all.len() > rest.len() && all[all.len() - rest.len() - 1].paused || strip(rest, "but").is_some();
        if !is_end && !is_paused {
            return None;
        }
        // A yes to another question accepts nothing of one's own.
        if self.context.offer_origin == OfferOrigin::Own && self.context.is_asked {
            return None;
        }
        let offer = self.context.offers.last()?;
        let rest = if is_end { nothing } else { rest };
        if self.context.offer_origin == OfferOrigin::List {
            let all = self.context.offers.iter().map(|offer| vec![accepted(offer, words)]);
            return Some((all.collect(), rest));
        }
        Some((vec![vec![accepted(offer, words)]], rest))
    }

    /// "No", "please don't": what was offered or announced is declined.
    pub(super) fn declined(&self, words: &[Word]) -> Option<TurnClaim> {
        let is_no = is_whole(words, lx::REFUSAL);
        if !is_no || self.role != Role::User {
            return None;
        }
        match self.context.offers.last() {
            Some(offer) if self.context.is_asked && offer.kind == OfferKind::Decision => {
                Some(TurnClaim::decision(format!("Decided against: {}", offer.summary)))
            }
            // It answers a question that offered nothing.
            _ if self.context.is_asked => None,
            _ => Some(TurnClaim::WithdrawRecent),
        }
    }

    /// "4 not needed", "1 and 3 yes".
    fn picked_from_list(&self, words: &[Word]) -> Option<Vec<Vec<TurnClaim>>> {
        let listed = &self.context.listed;
        let number =
            |word: &Word| word.lower.parse::<usize>().ok().filter(|n| (1..=listed.len()).contains(n));
        let dropped_first = strip(
            words,
            "skip | drop | without | leave out | not | forget | omit | remove | cut | no need for | minus",
        );
        let mut ranks = Vec::new();
        let mut rest = dropped_first.unwrap_or(words);
        while let Some((first, behind)) = rest.split_first() {
            match number(first) {
                Some(rank) => ranks.push(rank - 1),
                None if !ranks.is_empty() && is_among("and | &", &first.lower) => {}
                None => break,
            }
            rest = behind;
        }
        let is_first = dropped_first.is_some();
        // "Skip 3 days" drops no item: the number stands alone or before a pause.
        let last = words.len().checked_sub(rest.len() + 1).and_then(|last| words.get(last));
        let is_alone = rest.is_empty() || last.is_some_and(|last| last.paused);
        if ranks.is_empty()
            || rest.is_empty() && !is_first
            || rest.len() > MAX_CHOICE_WORDS + 6
            || is_first && !is_alone
        {
            return None;
        }
        let is_dropped = is_first
            || contains(
                &rest[..rest.len().min(3)],
                "not needed | no | skip | drop | out | unnecessary | not | later",
            );
        let is_taken = strip(rest, "yes | ok | please | sure | sounds good | good | fine | do").is_some();
        let claims = ranks.into_iter().map(|rank| {
            let text = listed[rank].trim_end_matches('.').to_owned();
            vec![if is_dropped {
                TurnClaim::Withdraw(text)
            } else {
                TurnClaim::Accept { summary: text, is_task: true }
            }]
        });
        (is_dropped || is_taken).then(|| claims.collect())
    }

    /// "mock server then", "reservations then": a name and nothing else decides.
    pub(super) fn settled_with_then(&self, words: &[Word]) -> Option<Vec<TurnClaim>> {
        let (last, name) = words.split_last()?;
        let is_name = last.lower == "then"
            && (1..=MAX_CHOICE_WORDS).contains(&name.len())
            && self.role == Role::User
            && !name.iter().any(|word| is_among(lx::AUXILIARY | lx::NEGATION | lx::MODAL, &word.lower))
            && strip(name, lx::WORK_VERB).is_none()
            && !is_among("ok | okay | fine | well | good | it | that", &name[0].lower);
        is_name.then(|| {
            let mut decision = self.decided_on(name);
            if let TurnClaim::Decision { revises, .. } = &mut decision {
                // Nobody asked, so it answers an objection to what was decided before.
                *revises = !self.context.is_asked
                    && (self.context.offers.is_empty() || self.context.is_counterproposal);
            }
            vec![TurnClaim::Answer(self.said(name)), decision]
        })
    }

    /// "native", "30 days": a few words answer the question how something should be.
    pub(super) fn answer_to_choice(&self, words: &[Word]) -> Option<TurnClaim> {
        let end = words.iter().position(|word| word.paused).map_or(words.len(), |at| at + 1);
        let name = &words[..end];
        let is_plain = |word: &Word| {
            !is_among(
                lx::AUXILIARY | lx::NEGATION | lx::NO | lx::MODAL | lx::PRONOUN | lx::ACCEPTANCE | lx::FILLER,
                &word.lower,
            ) && !is_among(
                "both | honestly | i | we | you | what | why | how | when | depends | dunno | idea | sure | thanks | later | think",
                &word.lower,
            )
        };
        let is_answer = self.role == Role::User
            && (self.context.asks_for_choice || self.echoes_offer(name))
            && self.begins_sentence(words)
            && (1..=4).contains(&name.len())
            && name.iter().all(is_plain)
            && !name[0].lower.starts_with(|c: char| c.is_ascii_digit())
            && strip(name, lx::WORK_VERB).is_none();
        is_answer.then(|| self.decided_on(name))
    }

    /// Who is asked how something should be and says how it is decides it: "should refunds count?", "they count in their own month".
    pub(super) fn settled_if_asked(&self, fact: TurnClaim) -> TurnClaim {
        match fact {
            TurnClaim::Fact { summary, corrects: false, confirms: false, .. }
                if self.role == Role::User
                    && self.context.asks_for_choice
                    && !self.is_about_past()
                    && !self.sentence.is_translated =>
            {
                TurnClaim::decision(summary)
            }
            fact => fact,
        }
    }

    /// "One retry after 2 minutes, then out": a few words without a verb, as an answer to how it should be.
    pub(super) fn settled_by_fragment(&self, words: &[Word]) -> Option<TurnClaim> {
        let says = |list: WordClass| words.iter().any(|word| is_among(list, &word.lower));
        let is_answer = self.role == Role::User
            && self.context.asks_for_choice
            && self.begins_sentence(words)
            && (2..=9).contains(&words.len())
            && !says(lx::PRONOUN | lx::FIRST_PERSON | lx::AUXILIARY)
            && !says(lx::BELIEF_VERB | lx::HEDGE)
            && strip(words, lx::WORK_VERB | lx::FILLER | lx::NEGATION).is_none()
            && !is_among(
                "why | what | how | when | where | who | which | you | your | depends | thanks | both | later",
                &words[0].lower,
            );
        is_answer.then(|| TurnClaim::decision(self.said(words)))
    }

    /// Returns whether a few words only repeat what the turn before offered: "OIDC".
    fn echoes_offer(&self, name: &[Word]) -> bool {
        let said = stems(&self.slice(name));
        let [offer] = self.context.offers.as_slice() else { return false };
        name.len() <= 3 && !said.is_empty() && said.is_subset(&stems(&offer.summary))
    }

    fn is_about_past(&self) -> bool {
        self.has("was | were | had | did | tested | checked | measured | since | currently | yesterday | last week | so far")
    }

    /// The first words of a sentence name what is chosen: "JWTs, everybody does that".
    pub(super) fn short_answer(&self, words: &[Word]) -> Option<TurnClaim> {
        let end = words.iter().position(|word| word.paused).map_or(words.len(), |at| at + 1);
        let mut name = &words[..end];
        while let [rest @ .., last] = name
            && !rest.is_empty()
            && is_among("obviously | definitely | please | then | clearly | certainly | though", &last.lower)
        {
            name = rest;
        }
        let is_refusal = strip(name, lx::WITHDRAWAL | lx::REFUSAL).is_some()
            || strip(name, "skip | drop | without | not | cut | exclude").is_some();
        let is_answer = self.role == Role::User
            && name.len() <= 4
            && !is_refusal
            && !name.iter().any(|word| is_among(lx::NEGATION | lx::NO | lx::AUXILIARY, &word.lower));
        is_answer.then(|| TurnClaim::Answer(self.said(name)))
    }

    /// "Scratch the label selector", "CSV is out": of two ways, the other one is left.
    pub(super) fn ruled_out(&self, words: &[Word]) -> Option<TurnClaim> {
        let end = words.iter().position(|word| word.paused).map_or(words.len(), |at| at + 1);
        let name = &words[..end];
        let out = strip(name, lx::WITHDRAWAL)
            .or_else(|| strip(name, "drop | skip | not | no"))
            .or_else(|| position_of(name, "is out | are out | is ruled out").map(|at| &name[..at]))?;
        (self.role == Role::User && (1..=4).contains(&out.len())).then(|| TurnClaim::RuleOut(self.slice(out)))
    }

    /// "Several, accounting wants single lines": the reason behind an answer does not make it somebody else's.
    pub(super) fn answer_with_reason(&self) -> Option<TurnClaim> {
        if self.role != Role::User
            || self.sentence.is_question
            || self.modality.is_asserted()
            || !self.context.is_asked
        {
            return None;
        }
        let words = strip_openers(&self.sentence.words);
        let end = words.iter().take(3).position(|word| word.paused)? + 1;
        let name = words.get(..end).filter(|name| name.len() < words.len())?;
        let is_plain = |word: &Word| {
            !is_among(
                lx::NEGATION | lx::NO | lx::AUXILIARY | lx::HEDGE | lx::FILLER | lx::ACCEPTANCE | lx::PRONOUN,
                &word.lower,
            ) && !is_among("if | when | what | why | how | who | i | we | you | maybe", &word.lower)
        };
        name.iter().all(is_plain).then(|| TurnClaim::Answer(self.said(name)))
    }

    /// A few words from the user may answer an open question.
    pub(super) fn answer(&self, words: &[Word]) -> Option<TurnClaim> {
        let is_answer =
            self.role == Role::User && words.len() <= 12 && !self.has("not | no | never | neither");
        is_answer.then(|| TurnClaim::Answer(self.said(words)))
    }

    fn decided_on(&self, name: &[Word]) -> TurnClaim {
        let summary = if strip(name, lx::DECISION_VERB).is_some() {
            self.said(name)
        } else {
            format!("Use {}", self.slice(name))
        };
        TurnClaim::decision(summary)
    }
}

/// What accepting an offer says: "try it" asks for work, whatever was offered.
fn accepted(offer: &DialogOffer, words: &[Word]) -> TurnClaim {
    let is_try = strip(words, "try it | try that | please try | give it a try").is_some();
    TurnClaim::Accept { summary: offer.summary.clone(), is_task: offer.kind == OfferKind::Task || is_try }
}

/// "Second one", "number 1", "option B": the rank, from zero.
fn rank_of(words: &[Word]) -> Option<(usize, &[Word])> {
    const ORDINALS: &[(&str, usize)] = &[
        (
            "the first one | first one | the first | the former | option a | option 1 | number 1 | number one | a | 1",
            0,
        ),
        ("the second one | second one | the second | option b | option 2 | number 2 | number two | b | 2", 1),
        ("the third one | third one | the third | option c | option 3 | number 3 | number three | c | 3", 2),
    ];
    let words =
        strip(words, "go with | take | let us do | let us go with | i would go with | use").unwrap_or(words);
    ORDINALS.iter().find_map(|(phrases, rank)| {
        let rest = strip(words, *phrases)?;
        let is_end = rest.is_empty() || words[words.len() - rest.len() - 1].paused;
        let rest = if rest.is_empty() { rest } else { strip(rest, "please | then").unwrap_or(rest) };
        is_end.then_some((*rank, rest))
    })
}
