//! Short answers: their meaning stands in the turn before.

use super::super::Role;
use super::super::claims::TurnClaim;
use super::super::dialog::{DialogContext, DialogOffer, OfferKind, OfferOrigin};
use super::clauses::begins_order;
use super::{RuleReader, is_whole};
use probity_prose::lexicon::{self as lx, WordClass, contains, is_among, position_of, strip};
use probity_prose::modality::Modality;
use probity_prose::sentences::Sentence;
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
        if let Some(claims) = self.ordered_by_rank(words) {
            return Some((claims, nothing));
        }
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
        let other = strip(words, "the other one | the other option | other one | the other way");
        if let Some(rest) =
            other.filter(|rest| rest.is_empty() || is_whole(rest, "then | please | instead | then please"))
        {
            return Some((vec![vec![TurnClaim::PickOther]], &rest[rest.len()..]));
        }
        // "Yes" in front is no filler where something was offered.
        let is_plain_yes = is_yes_with_manner(all) && !self.context.offers.is_empty();
        let words = if is_plain_yes { all } else { words };
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
        let Some(offer) = self.context.offers.last() else {
            let claim = self.told_way(words)?;
            return Some((vec![vec![claim]], if is_end { nothing } else { rest }));
        };
        let rest = if is_end || is_plain_yes { nothing } else { rest };
        if self.context.offer_origin == OfferOrigin::List {
            let all = self.context.offers.iter().map(|offer| vec![accepted(offer, words)]);
            return Some((all.collect(), rest));
        }
        Some((vec![vec![accepted(offer, words)]], rest))
    }

    /// "Do it", behind "yes, by checking the small days first": the way that was just told becomes work.
    fn told_way(&self, words: &[Word]) -> Option<TurnClaim> {
        strip(
            words,
            "do it | do that | yes do it | yes do that | ok do it | ok do that | please do | go for it | do so",
        )?;
        let told = self.context.last_said.as_ref()?;
        let way = ["Yes, by ", "Yes: ", "Yes, ", "By "].iter().find_map(|front| told.strip_prefix(front))?;
        Some(TurnClaim::Accept { summary: way.to_owned(), is_task: true })
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

    /// "Fix 1 and 2, skip 3 with a note": orders about items of the last list.
    fn ordered_by_rank(&self, words: &[Word]) -> Option<Vec<Vec<TurnClaim>>> {
        const MAX_TAIL_WORDS: usize = 6;
        let listed = &self.context.listed;
        let rank = |word: &Word| {
            word.lower.parse::<usize>().ok().filter(|n| (1..=listed.len()).contains(n)).map(|n| n - 1)
        };
        let mut claims = Vec::new();
        for part in words.split_inclusive(|word| word.paused) {
            let part = strip(part, "and | but | then").unwrap_or(part);
            let (verb, rest) = part.split_first()?;
            let n_named = rest.iter().take_while(|word| rank(word).is_some() || word.lower == "and").count();
            let (named, tail) = rest.split_at(n_named);
            let is_order = is_among(lx::WORK_VERB, &verb.lower) || verb.lower == "skip";
            let is_tail = tail.first().is_none_or(|first| is_among(lx::PREPOSITION, &first.lower))
                && tail.len() <= MAX_TAIL_WORDS;
            if !is_order || !is_tail || !named.iter().any(|word| rank(word).is_some()) {
                return None;
            }
            let is_dropped = is_among("skip | drop | remove | cut", &verb.lower) && tail.is_empty();
            for rank in named.iter().filter_map(rank) {
                let item = listed[rank].trim_end_matches('.');
                claims.push(vec![if is_dropped {
                    TurnClaim::Withdraw(item.to_owned())
                } else {
                    let order = self.said(std::slice::from_ref(verb));
                    TurnClaim::Task(format!("{order} {item} {}", self.slice(tail)).trim_end().to_owned())
                }]);
            }
        }
        (!claims.is_empty()).then_some(claims)
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
        let is_change = is_among("actually | instead", &last.lower);
        let is_bare = |word: &Word| {
            !is_among(lx::VERB | lx::STATIVE_VERB | lx::PRONOUN | lx::FIRST_PERSON, &word.lower)
        };
        let is_name = (last.lower == "then" || is_change && name.len() <= 3 && name.iter().all(is_bare))
            && (1..=MAX_CHOICE_WORDS).contains(&name.len())
            && self.role == Role::User
            && !name.iter().any(|word| is_among(lx::AUXILIARY | lx::NEGATION | lx::MODAL, &word.lower))
            && strip(name, lx::WORK_VERB).is_none()
            && !(begins_order(name)
                && is_among("it | them | all | both | everything | those", &name[1].lower))
            && !is_among("ok | okay | fine | well | good | it | that", &name[0].lower);
        is_name.then(|| {
            let mut decision = self.decided_on(name);
            if let TurnClaim::Decision { revises, .. } = &mut decision {
                // Nobody asked, so it answers an objection to what was decided before.
                *revises = is_change
                    || !self.context.is_asked
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

    /// Returns the decision for a fragment: a name is used, more words say themselves what is meant.
    fn decided_on_fragment(&self, name: &[Word]) -> TurnClaim {
        if name.len() <= 2 { self.decided_on(name) } else { TurnClaim::decision(self.said(name)) }
    }

    /// "Key: yes", "remote cache: no, security": the label names one of the things that were listed or offered.
    pub(super) fn verdict_on_named(&self, words: &[Word]) -> Option<TurnClaim> {
        const MAX_LABEL_WORDS: usize = 4;
        let label = words.iter().take(MAX_LABEL_WORDS).position(|word| word.paused)? + 1;
        let (head, verdict) = words.split_at(label);
        let first = verdict.first()?;
        let is_label =
            self.sentence.text[..first.place.start].trim_end_matches([' ', '*', '`']).ends_with(':');
        let end = verdict.iter().position(|word| word.paused).map_or(verdict.len(), |at| at + 1);
        let is_yes = is_whole(&verdict[..end], lx::ACCEPTANCE | lx::FILLER);
        let is_no = is_whole(&verdict[..end], lx::REFUSAL);
        if self.role != Role::User || self.sentence.is_question || !is_label || !(is_yes || is_no) {
            return None;
        }
        let said = stems(&self.slice(head));
        let offered = self.context.offers.iter().map(|offer| offer.summary.as_str());
        let listed = self.context.listed.iter().map(|item| item.trim_end_matches('.'));
        let is_meant = |item: &&str| !said.is_empty() && said.is_subset(&stems(item));
        let meant = listed.chain(offered).filter(is_meant).min_by_key(|item| item.len())?.to_owned();
        Some(if is_yes {
            TurnClaim::Accept { summary: meant, is_task: true }
        } else {
            TurnClaim::decision(format!("Decided against: {meant}"))
        })
    }

    fn decided_on(&self, name: &[Word]) -> TurnClaim {
        let summary = if strip(name, lx::DECISION_VERB | lx::NO).is_some() {
            self.said(name)
        } else {
            format!("Use {}", self.slice(name))
        };
        TurnClaim::decision(summary)
    }
}

/// "Yes, concurrently" says how; it decides nothing of its own.
fn is_yes_with_manner(words: &[Word]) -> bool {
    matches!(words, [yes, manner] if is_among("yes | yeah | yep | yup | sure", &yes.lower)
        && yes.paused
        && manner.lower.ends_with("ly"))
}

/// What accepting an offer says: "try it" asks for work, whatever was offered.
fn accepted(offer: &DialogOffer, words: &[Word]) -> TurnClaim {
    let is_try = strip(words, "try it | try that | please try | give it a try").is_some();
    TurnClaim::Accept { summary: offer.summary.clone(), is_task: offer.kind == OfferKind::Task || is_try }
}

/// "2. fixed, accounting needs that": an item of a list that answers the question of the same number.
pub(in crate::extract) fn numbered_answer(
    sentence: &Sentence,
    context: &DialogContext,
) -> Option<Vec<Vec<TurnClaim>>> {
    let modality = Modality::of(sentence);
    let reader = RuleReader { sentence, modality, role: Role::User, context };
    let is_open = modality.is_question || modality.is_hedged || modality.is_undecided || modality.is_unreal;
    let words = strip_openers(&sentence.words);
    let words = strip(words, "no | yes | yeah | nope").filter(|rest| !rest.is_empty()).unwrap_or(words);
    let end = words.iter().position(|word| word.paused).map_or(words.len(), |at| at + 1);
    let name = words.get(..end)?;
    let is_short =
        (1..=MAX_CHOICE_WORDS + 3).contains(&name.len()) && !is_whole(name, lx::ACCEPTANCE | lx::REFUSAL);
    (is_short && !is_open)
        .then(|| vec![vec![TurnClaim::Answer(reader.said(name)), reader.decided_on_fragment(name)]])
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
