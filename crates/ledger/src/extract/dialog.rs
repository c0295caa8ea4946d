//! What the turns before leave open for the next one: offers, questions and numbered lists that a short answer resolves.

use super::sentences::sentences_of;
use super::topics::{BlockTopic, TopicBlock, blocks};
use super::{Role, Turn};
use probity_prose::lexicon::{
    self as lx, contains, is_among, position_after, position_of, starts_with, strip,
};
use probity_prose::markdown::BlockForm;
use probity_prose::sentences::Sentence;
use probity_prose::words::{Word, strip_openers};

/// The most turns that are looked at for an offer.
const MAX_TURNS_BACK: usize = 3;

/// The most words of an offer.
const MAX_OFFER_WORDS: usize = 40;

/// What accepting an offer makes of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OfferKind {
    /// Somebody offered to do it.
    Task,
    /// Somebody proposed to have it so.
    Decision,
}

/// Something that the next turn may accept or decline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DialogOffer {
    pub(super) kind: OfferKind,
    pub(super) summary: String,
}

/// Where the offers of a dialog come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum OfferOrigin {
    /// What the other one said.
    #[default]
    Other,
    /// A list of proposals of the other one: accepting means all of them.
    List,
    /// The speaker made them and waited for the other one.
    Own,
}

/// What the turns before this one leave open.
#[derive(Debug, Default)]
pub(super) struct DialogContext {
    /// The offers of the last turn of somebody else, in order.
    pub(super) offers: Vec<DialogOffer>,
    /// The items of its last list.
    pub(super) listed: Vec<String>,
    /// The questions in its last list, by their place.
    pub(super) questions: Vec<String>,
    pub(super) offer_origin: OfferOrigin,
    /// Whether it ended with a question.
    pub(super) is_asked: bool,
    /// Whether that question asked how something should be.
    pub(super) asks_for_choice: bool,
    /// Its only offer is a way that it calls better than what was said before.
    pub(super) is_counterproposal: bool,
    /// Its last statement, for a "fix it" of the next turn.
    pub(super) last_said: Option<String>,
    /// The ids of the turns before, the last first.
    pub(super) recent: Vec<String>,
    /// Those of them that somebody else said.
    pub(super) of_others: Vec<String>,
}

impl DialogContext {
    /// Reads the turns before `turn`, oldest first.
    pub(super) fn of(before: &[Turn<'_>], turn: &Turn<'_>) -> Self {
        let mut context = Self::default();
        let said = before.iter().rev().filter(|earlier| earlier.role != Role::Tool);
        for earlier in said.take(MAX_TURNS_BACK) {
            let is_first = context.recent.is_empty();
            context.recent.push(earlier.id.to_owned());
            if earlier.role != turn.role {
                context.of_others.push(earlier.id.to_owned());
            }
            if earlier.role == turn.role && (is_first || !context.offers.is_empty()) {
                continue;
            }
            let left = read(earlier);
            // What one asked oneself earlier is open too, if the other only answered.
            if context.offers.is_empty() {
                context.offers = left.offers;
                let is_own = earlier.role == turn.role;
                context.offer_origin = if is_own { OfferOrigin::Own } else { left.offer_origin };
            }
            if context.listed.is_empty() && earlier.role != turn.role {
                context.listed = left.listed;
                context.questions = left.questions;
            }
            if is_first {
                context.last_said = left.last_said;
                context.is_counterproposal = left.is_counterproposal;
            }
            context.is_asked |= left.is_asked && is_first;
            context.asks_for_choice |= left.asks_for_choice && is_first;
        }
        context
    }
}

fn read(turn: &Turn<'_>) -> DialogContext {
    let mut left = DialogContext::default();
    let mut proposal = None;
    let mut proposed = Vec::new();
    let mut is_just_asked = false;
    for block in blocks(turn.text) {
        let (sentences, _) = sentences_of(turn.text, &block);
        if matches!(block.form, BlockForm::Item | BlockForm::CheckBox { .. }) {
            left.listed.extend(sentences.first().map(|sentence| sentence.text.clone()));
            let asked = sentences.iter().find(|sentence| sentence.is_question);
            left.questions.extend(asked.map(|sentence| sentence.text.clone()));
        }
        if let (Some(first), true) = (sentences.first(), is_proposal(&block)) {
            let summary = capitalized(&first.text, strip_openers(&first.words));
            proposed.extend((!summary.is_empty()).then_some(DialogOffer { kind: OfferKind::Task, summary }));
        }
        for (at, sentence) in sentences.iter().enumerate() {
            // "It can be read as a stream. Shall I?" offers what was said before.
            let is_bare = sentence.is_question
                && strip(strip_openers(&sentence.words), lx::OFFER_TO_DO).is_some_and(<[Word]>::is_empty);
            if let Some(before) = at.checked_sub(1).filter(|_| is_bare) {
                let summary = capitalized(&sentences[before].text, strip_openers(&sentences[before].words));
                left.offers.push(DialogOffer { kind: OfferKind::Task, summary });
            }
            let offer = offer_of(sentence).map(|mut offer| {
                // "Shall I write it?" means what was spoken of just before.
                if let Some(before) = at.checked_sub(1).filter(|_| is_pronoun_only(&offer.summary)) {
                    offer.summary =
                        format!("{}: {}", offer.summary, sentences[before].text.trim_end_matches('.'));
                }
                offer
            });
            left.offers.extend(offer);
            proposal = proposal_of(sentence).or(proposal);
            if !sentence.is_question && (3..=25).contains(&sentence.words.len()) {
                left.last_said = Some(sentence.text.trim_end_matches(['.', ':', '!']).to_owned());
            }
            // One remark may follow the question: "Should files be compressed? It costs 20 % of the time."
            let was_just_asked = std::mem::replace(&mut is_just_asked, sentence.is_question);
            let choice = sentence.is_question && asks_for_choice(&sentence.words);
            left.asks_for_choice = choice || left.asks_for_choice && was_just_asked && !sentence.is_question;
            left.is_asked = sentence.is_question || was_just_asked && left.is_asked;
        }
    }
    if left.offers.is_empty() && turn.role == Role::Assistant {
        left.is_counterproposal = proposal.is_some();
        left.offers.extend(proposal);
    }
    if proposed.len() > 1 && turn.role == Role::Assistant {
        left.offer_origin = OfferOrigin::List;
        left.offers = proposed;
    }
    left
}

fn is_proposal(block: &TopicBlock) -> bool {
    block.form == BlockForm::Item && block.topic == Some(BlockTopic::Proposals)
}

/// "Which one do you want?", "should they expire?", "how should it be stored?".
fn asks_for_choice(words: &[Word]) -> bool {
    contains(
        words,
        "should | shall | do you want | prefer | or | rather | would you | ok with | what do you think",
    )
}

/// "A note in the docs would be cheaper": a way that nobody offers to take, and that a plain yes accepts.
pub(super) fn proposal_of(sentence: &Sentence) -> Option<DialogOffer> {
    let words = strip_openers(&sentence.words);
    let proposes = contains(
        words,
        "would be better | would be cheaper | would be simpler | would be safer | would be enough | would do | would work | would help | would solve | would fix | would avoid | is cheaper | is simpler | is safer | best to | worth",
    ) || contains(words, lx::BENEFIT);
    let is_short = (3..=MAX_OFFER_WORDS).contains(&words.len());
    let is_pointer = words.first().is_some_and(|word| is_among("it | that | this | i | they", &word.lower));
    // What it is good for is no part of it.
    let way = position_of(words, lx::BENEFIT).filter(|&at| at > 1).map_or(words, |at| &words[..at]);
    (proposes && is_short && !is_pointer && !sentence.is_question)
        .then(|| DialogOffer { kind: OfferKind::Decision, summary: capitalized(&sentence.text, way) })
}

/// "Write it", "do that": says nothing without what came before.
pub(super) fn is_pronoun_only(summary: &str) -> bool {
    let words: Vec<_> = summary.split_whitespace().collect();
    words.len() == 1
        || words.len() <= 3
            && words
                .iter()
                .any(|word| is_among("it | that | this | them | both | those", &word.to_lowercase()))
}

/// "Then a composite key for tickets and fresh ids for the rest?": a proposal in the form of a question without a verb.
pub(super) fn is_conclusion(sentence: &Sentence) -> bool {
    let Some(rest) = strip(&sentence.words, "then | so | so then") else { return false };
    let is_verb = |word: &Word| {
        is_among(lx::AUXILIARY | lx::MODAL | lx::PRONOUN | lx::FIRST_PERSON, &word.lower)
            || is_among("you | what | why | how | which | who | when | where | not | no", &word.lower)
    };
    sentence.is_question && rest.len() >= 4 && !rest.iter().take(4).any(is_verb)
}

/// Returns what a sentence offers.
pub(super) fn offer_of(sentence: &Sentence) -> Option<DialogOffer> {
    let words = strip_openers(&sentence.words);
    let offer = |kind, rest: &[Word]| {
        let end = rest.iter().rposition(|word| !is_among("now | then | too | here | ok", &word.lower))? + 1;
        let rest = &rest[..end];
        ((1..=MAX_OFFER_WORDS).contains(&rest.len()))
            .then(|| DialogOffer { kind, summary: capitalized(&sentence.text, rest) })
    };
    if is_conclusion(sentence) {
        return offer(OfferKind::Decision, words);
    }
    if sentence.is_question {
        if let Some(rest) = strip(words, lx::OFFER_TO_DO) {
            return offer(OfferKind::Task, rest);
        }
        if let Some(rest) = strip(words, lx::OFFER_TO_HAVE) {
            return offer(OfferKind::Decision, rest);
        }
        let is_bare_work = strip(words, lx::WORK_VERB).is_some_and(|rest| !rest.is_empty());
        return if is_bare_work { offer(OfferKind::Task, words) } else { None };
    }
    let proposed = || {
        let (head, rest) = words.split_at(words.iter().take(4).position(|word| word.paused)? + 1);
        starts_with(head, lx::PROPOSAL_LABEL).then_some(rest)
    };
    if let Some(rest) = proposed() {
        return offer(OfferKind::Task, rest);
    }
    if let Some(rest) = strip(words, lx::OFFERED_WORK) {
        return offer(OfferKind::Task, rest);
    }
    let near = &words[..words.len().min(10)];
    let at = position_after(near, lx::OFFERED_WAY)?;
    offer(OfferKind::Decision, &words[at..])
}

/// Returns the text of some words, up to the first reason, with an initial capital.
fn capitalized(text: &str, words: &[Word]) -> String {
    let (Some(first), Some(last)) = (words.first(), words.last()) else { return String::new() };
    let slice = text[first.place.start..last.place.end.max(first.place.start)].trim();
    let slice = slice.trim_end_matches(['?', '.', ',', ' ']);
    let mut chars = slice.chars();
    match chars.next() {
        Some(first) => first.to_uppercase().chain(chars).collect(),
        None => String::new(),
    }
}
