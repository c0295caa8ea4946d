//! How a sentence as a whole is meant: asserted, or only asked, supposed, hoped, hedged, reported.
//!
//! The lexicon sections used here are broad on purpose. A sentence that might be hedged is treated as hedged: missing a
//! statement is cheap, taking a guess for a decision is not (law 14). For single clauses see `clauses`.

use crate::lexicon::{self as lx, contains, is_among, starts_with};
use crate::sentences::Sentence;
use crate::words::{Word, strip_openers};

/// The properties that keep a sentence from being an assertion of its author.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::struct_excessive_bools, reason = "a sentence can be all of these at once")]
pub struct Modality {
    pub is_question: bool,
    /// Its author doubts it.
    pub is_hedged: bool,
    pub is_conditional: bool,
    /// Somebody else is reported to say or want it.
    pub is_reported: bool,
    /// It is counterfactual, a wish or an example.
    pub is_unreal: bool,
    /// It is said to be undecided.
    pub is_undecided: bool,
}

impl Modality {
    pub fn of(sentence: &Sentence) -> Self {
        let words = &sentence.words;
        let has = |section| contains(words, section);
        Self {
            is_question: sentence.is_question || asks_without_mark(words) || has(lx::QUESTION),
            is_hedged: has(lx::HEDGE | lx::DOUBT) || has_doubtful_modal(words),
            is_conditional: has(lx::CONDITION | lx::SENTENCE_CONDITION)
                || starts_with(words, lx::OPENING_CONDITION),
            is_reported: is_reported(words) || is_mostly_quoted(words),
            is_unreal: has(lx::UNREAL) || regrets(words),
            is_undecided: has(lx::UNDECIDED),
        }
    }

    /// Returns whether the author plainly says it.
    pub fn is_asserted(self) -> bool {
        self == Self::default()
    }

    /// Returns whether somebody else is reported to say or want it, and nothing else keeps it from being asserted.
    pub fn is_only_reported(self) -> bool {
        self == Self { is_reported: true, ..Self::default() }
    }

    /// Returns whether the author offers it as a guess or an idea.
    pub fn is_guess(self) -> bool {
        self == Self { is_hedged: true, ..Self::default() }
    }
}

/// Returns whether a short sentence retracts or doubts the one before it.
pub fn doubts_what_came_before(sentence: &Sentence) -> bool {
    let words = &sentence.words;
    let starts_in_doubt =
        starts_with(words, "or | maybe | perhaps | unless | only if | if | assuming | pending");
    words.len() <= 7 && (contains(words, lx::AFTERTHOUGHT) || starts_in_doubt && words.len() <= 5)
}

fn is_mostly_quoted(words: &[Word]) -> bool {
    !words.is_empty() && words.iter().filter(|word| word.quoted).count() * 3 > words.len() * 2
}

/// "Should we use it" without a question mark.
fn asks_without_mark(words: &[Word]) -> bool {
    const INVERTED: &str =
        "should | shall | would | could | can | do | does | did | is | are | was | will | have | has";
    match strip_openers(words) {
        [first, second, ..] => {
            is_among(INVERTED, &first.lower)
                && is_among("we | i | you | it | they | that | this | there", &second.lower)
        }
        _ => false,
    }
}

/// "might", "could" and "would" express doubt; so does "may", except as a permission ("admins may deploy").
fn has_doubtful_modal(words: &[Word]) -> bool {
    let may = |pair: &[Word]| {
        pair[1].lower == "may" && is_among("we | i | it | that | this | they | there | which", &pair[0].lower)
    };
    words.iter().any(|word| is_among("might | could | would", &word.lower)) || words.windows(2).any(may)
}

/// "We should have used it", but not "functions should have docs".
fn regrets(words: &[Word]) -> bool {
    words.windows(3).any(|window| {
        let participle = window[2].lower.as_str();
        is_among("should | would | could | might", &window[0].lower)
            && window[1].lower == "have"
            && (participle.ends_with("ed")
                || is_among("been | gone | done | chosen | picked | taken | written", participle))
    })
}

/// "Bob says we should …", "the client wants …", "the docs recommend …".
fn is_reported(words: &[Word]) -> bool {
    // The author's own words, and words before a noun or an infinitive.
    const NOBODY_ELSE: &str = "i | we | let | you | to | not | the | a | an | nobody | one | and | then";
    let reports = |(at, word): (usize, &Word)| {
        let subject = words[..at].iter().rev().find(|word| !is_among(lx::ADVERB_BEFORE_REPORT, &word.lower));
        is_among(lx::REPORTING_VERB | lx::ATTITUDE_VERB, &word.lower)
            && subject.is_some_and(|subject| !is_among(NOBODY_ELSE, &subject.lower))
    };
    words.iter().enumerate().skip(1).take(8).any(reports) || contains(words, "according to")
}
