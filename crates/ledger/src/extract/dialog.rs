//! What the turns before leave open for the next one: offers, questions and numbered lists that a short answer resolves.

use super::sentences::sentences_of;
use super::topics::blocks;
use super::{Role, Turn};
use probity_prose::lexicon::{self as lx, is_among, position_after, strip};
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

/// What the turns before this one leave open.
#[derive(Debug, Default)]
pub(super) struct DialogContext {
    /// The offers of the last turn of somebody else, in order.
    pub(super) offers: Vec<DialogOffer>,
    /// The items of its last list.
    pub(super) listed: Vec<String>,
    /// Whether it ended with a question.
    pub(super) is_asked: bool,
    /// The ids of the turns before, the last first.
    pub(super) recent: Vec<String>,
}

impl DialogContext {
    /// Reads the turns before `turn`, oldest first.
    pub(super) fn of(before: &[Turn<'_>], turn: &Turn<'_>) -> Self {
        let mut context = Self::default();
        let said = before.iter().rev().filter(|earlier| earlier.role != Role::Tool);
        for earlier in said.take(MAX_TURNS_BACK) {
            let is_first = context.recent.is_empty();
            context.recent.push(earlier.id.to_owned());
            if earlier.role == turn.role && (is_first || !context.offers.is_empty()) {
                continue;
            }
            let (offers, listed, is_asked) = read(earlier);
            // What one asked oneself earlier is open too, if the other only answered.
            if context.offers.is_empty() {
                context.offers = offers;
            }
            if context.listed.is_empty() && earlier.role != turn.role {
                context.listed = listed;
            }
            context.is_asked |= is_asked && is_first;
        }
        context
    }
}

fn read(turn: &Turn<'_>) -> (Vec<DialogOffer>, Vec<String>, bool) {
    let (mut offers, mut listed) = (Vec::new(), Vec::new());
    let mut is_asked = false;
    for block in blocks(turn.text) {
        let (sentences, _) = sentences_of(turn.text, &block);
        if matches!(block.form, BlockForm::Item | BlockForm::CheckBox { .. }) {
            listed.extend(sentences.first().map(|sentence| sentence.text.clone()));
        }
        for (at, sentence) in sentences.iter().enumerate() {
            let offer = offer_of(sentence).map(|mut offer| {
                // "Shall I write it?" means what was spoken of just before.
                if let Some(before) = at.checked_sub(1).filter(|_| is_pronoun_only(&offer.summary)) {
                    offer.summary =
                        format!("{}: {}", offer.summary, sentences[before].text.trim_end_matches('.'));
                }
                offer
            });
            offers.extend(offer);
            is_asked = sentence.is_question;
        }
    }
    (offers, listed, is_asked)
}

/// "Write it", "do that": says nothing without what came before.
pub(super) fn is_pronoun_only(summary: &str) -> bool {
    let words: Vec<_> = summary.split_whitespace().collect();
    words.len() <= 3
        && words.iter().any(|word| is_among("it | that | this | them | both | those", &word.to_lowercase()))
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
