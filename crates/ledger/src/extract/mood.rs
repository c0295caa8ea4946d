//! How something is said: asserted, or only asked, supposed, hoped, hedged, reported.
//!
//! The lists are wide on purpose. A sentence that merely might be hedged is treated as hedged: missing a statement is
//! cheap, canonising a guess is not (law 14).

use super::is_among;
use super::sentences::{Sentence, Word};

/// What keeps a sentence from being an assertion of its author.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::struct_excessive_bools, reason = "a sentence can be all of these at once")]
pub(super) struct Mood {
    /// It is a question.
    pub(super) asks: bool,
    /// It is doubted by its author.
    pub(super) hedged: bool,
    /// It holds on a condition only.
    pub(super) conditional: bool,
    /// Somebody else is reported to say or want it.
    pub(super) reported: bool,
    /// It is about a past that was not, a wish, an example.
    pub(super) unreal: bool,
    /// It is said to be undecided.
    pub(super) undecided: bool,
}

impl Mood {
    /// Whether the author plainly says it.
    pub(super) const fn asserts(self) -> bool {
        !(self.asks || self.hedged || self.conditional || self.reported || self.unreal || self.undecided)
    }

    /// Whether the author offers it as a guess or an idea.
    pub(super) const fn guesses(self) -> bool {
        self.hedged && !(self.asks || self.conditional || self.reported || self.unreal || self.undecided)
    }

    pub(super) fn of(sentence: &Sentence) -> Self {
        let plain = plain_text(&sentence.words);
        let has = |phrases: &str| has_any(&plain, phrases);
        Self {
            asks: sentence.asks || asks_without_mark(&sentence.words) || has(ASKING),
            hedged: has(HEDGES) || has_doubtful_modal(&sentence.words),
            conditional: has(CONDITIONS) || starts_with(&sentence.words, OPENING_CONDITIONS),
            reported: is_reported(&sentence.words) || is_all_quoted(&sentence.words),
            unreal: has(UNREAL) || regrets(&sentence.words),
            undecided: has(UNDECIDED),
        }
    }

    /// Whether a short sentence after another takes that one back or doubts it.
    pub(super) fn doubts_what_came_before(sentence: &Sentence) -> bool {
        let plain = plain_text(&sentence.words);
        // Signs are written without spaces: a few words can be a long sentence.
        let is_short =
            sentence.words.len() <= 7 && (!sentence.foreign || sentence.text.chars().count() <= 24);
        let takes_back = has_any(&plain, AFTERTHOUGHTS);
        let starts_in_doubt =
            starts_with(&sentence.words, "or | maybe | perhaps | unless | only if | if | assuming | pending");
        is_short && (takes_back || starts_in_doubt && sentence.words.len() <= 5)
    }
}

/// The words in one line with a space before and after each, so that phrases are found as whole words.
pub(super) fn plain_text(words: &[Word]) -> String {
    let mut plain = String::from(" ");
    for word in words.iter().filter(|word| !word.quoted) {
        plain.push_str(&word.lower);
        plain.push(' ');
    }
    plain
}

/// Whether one of the phrases (`one | another`) is said.
pub(super) fn has_any(plain: &str, phrases: &str) -> bool {
    phrases.split(" | ").any(|phrase| {
        let is_whole = |at: usize| plain[..at].ends_with(' ') && plain[at + phrase.len()..].starts_with(' ');
        plain.match_indices(phrase).any(|(at, _)| is_whole(at))
    })
}

/// Whether the words begin with one of the phrases.
fn starts_with(words: &[Word], phrases: &str) -> bool {
    super::strip_any(words, phrases).is_some()
}

fn is_all_quoted(words: &[Word]) -> bool {
    !words.is_empty() && words.iter().filter(|word| word.quoted).count() * 3 > words.len() * 2
}

/// "Should we use it" without a question mark.
fn asks_without_mark(words: &[Word]) -> bool {
    let words = super::strip_openers(words);
    let is_pronoun =
        |word: &str| matches!(word, "we" | "i" | "you" | "it" | "they" | "that" | "this" | "there");
    match words {
        [first, second, ..] => {
            let is_auxiliary = matches!(
                first.lower.as_str(),
                "should"
                    | "shall"
                    | "would"
                    | "could"
                    | "can"
                    | "do"
                    | "does"
                    | "did"
                    | "is"
                    | "are"
                    | "was"
                    | "will"
                    | "have"
                    | "has"
            );
            is_auxiliary && is_pronoun(&second.lower)
        }
        _ => false,
    }
}

/// "might", "could" and "would" doubt; "may" does unless it permits ("admins may deploy").
fn has_doubtful_modal(words: &[Word]) -> bool {
    let is_doubtful = |word: &Word| matches!(word.lower.as_str(), "might" | "could" | "would");
    let may = |pair: &[Word]| {
        pair[1].lower == "may"
            && matches!(
                pair[0].lower.as_str(),
                "we" | "i" | "it" | "that" | "this" | "they" | "there" | "which"
            )
    };
    words.iter().any(is_doubtful) || words.windows(2).any(may)
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
    let own = ["i", "we", "let", "you"];
    words.iter().enumerate().skip(1).take(8).any(|(at, word)| {
        let subject = words[..at].iter().rev().find(|word| !is_among(ADVERBS, &word.lower));
        let is_own = subject.is_none_or(|subject| own.contains(&subject.lower.as_str()));
        let is_verb = is_among(REPORTING, &word.lower);
        is_verb
            && !is_own
            && !matches!(
                subject.map(|subject| subject.lower.as_str()),
                Some("to" | "not" | "the" | "a" | "an" | "nobody" | "one" | "and" | "then")
            )
    }) || has_any(&plain_text(words), "according to")
}

const ADVERBS: &str = "\
    would | will | should | could | might | can | also | just | always | once | already | still | has | have | had | apparently | really | did | does";

const REPORTING: &str = "\
    said | says | say | wrote | writes | suggested | suggests | suggest | recommended | recommends | \
    recommend | asked | asks | wants | wanted | claims | claimed | thinks | thought | believes | argues | \
    argued | insists | insisted | mentioned | mentions | proposed | proposes | hopes | hoped | prefers | \
    preferred | told | tells | advises | advised | asserts | expects | expected | wondered | wonders | \
    reckons | feels | swears | warned | warns | pitched";

const HEDGES: &str = "\
    maybe | perhaps | probably | possibly | potentially | presumably | arguably | supposedly | allegedly | \
    hopefully | likely | unlikely | tentatively | conceivably | i think | i guess | i suppose | i suspect | \
    i believe | i assume | i feel like | i reckon | i imagine | i doubt | i bet | i hope | we think | \
    we guess | we hope | we suspect | we believe | we assume | not sure | unsure | not certain | \
    uncertain | not convinced | not positive | no idea | i wonder | wondering | not 100% | leaning | \
    inclined | tempted | toying | considering | consider | thinking about | thinking of | thinking we | \
    thinking that | kind of | sort of | kinda | sorta | more or less | or something | or so | or whatever | \
    something like | seems | seem | appears | looks like | look like | feels like | sounds like | \
    worth exploring | worth trying | worth considering | worth a try | worth a shot | one option | \
    an option | another option | one idea | an idea | one possibility | a possibility | one approach | \
    in theory | theoretically | my hunch | a hunch | my guess | best guess | my gut | gut feeling | imo | \
    imho | afaik | iirc | ish | apparently | what about | how about | what if | we should | i should | \
    you should | ought to | you may want | may want to | might want to | if anything | eventually | \
    at some point | someday | one day | sooner or later | we will see | let us see | see how it goes | \
    up in the air | on the fence | just an idea | just a thought | thinking out loud | spitballing | \
    brainstorming | for the sake of argument | devil's advocate | not necessarily | in principle | \
    roughly speaking | can try | could try | try out | experiment with | experimenting with | play with | \
    playing with | explore | exploring | evaluate | evaluating | look into | looking into | i am afraid | \
    unclear | as far as i know | if i remember | if i recall | give it a try | give it a shot | \
    hypothetically | interim | proposal | propose | proposing | suggest | suggesting | suggestion | \
    recommend | recommendation";

const CONDITIONS: &str = "\
    if | unless | in case | assuming | provided | as long as | so long as | suppose | supposing | \
    depending on | depends on whether | whether | contingent | subject to | pending | on condition | \
    in the event | only when | even if | otherwise | given that | should that | until then";

const OPENING_CONDITIONS: &str = "\
    when | once | as soon as | whenever | after | given | without | were we | had we";

const ASKING: &str = "\
    any thoughts | what do you think | do you think | wdyt | thoughts | any objections | any idea | \
    does anyone | right or wrong | i ask | tell me whether | tell me if | let me know if | \
    let me know whether | the question is | question is whether";

const UNREAL: &str = "\
    used to | were going to | was going to | i wish | \
    if only | imagine | let us say | let us assume | let us pretend | say we | for example | for instance | \
    as an example | e.g | pretend | in a perfect world | in an ideal world | in another life | \
    just kidding | jk | joking | kidding | almost | nearly | would love | would rather | \
    supposed to | meant to | instead of saying | as if | like saying | back then | back in | previously | \
    the old team | in the old days | formerly | my old job | my last job | years ago | last year | in my previous | in my last | lol | haha | famous last words";

const UNDECIDED: &str = "\
    not decided | have not decided | has not decided | undecided | not yet decided | to be decided | tbd | \
    tba | to be determined | up for debate | open question | still open | nothing decided | no decision | \
    not final | not settled | yet to decide | need to decide | have to decide | must decide | \
    cannot decide | can not decide | not agreed | jury is still out | torn between | deciding between | \
    choose between | choosing between | not a decision | do not quote me | no commitment | not committed | \
    not committing | did not decide | have not agreed | did not agree | not ready to | before deciding | \
    before we decide | do not think | do not believe | nobody said | no one said | never said | \
    did not say | not saying | not suggesting | not proposing | i refuse";

const AFTERTHOUGHTS: &str = "\
    just kidding | jk | or not | or maybe not | not sure | we will see | let us see | i guess | i think | \
    just a thought | thoughts | what do you think | wdyt | do not know | dunno | no idea | kidding | \
    joking | just an idea | only an idea | to be confirmed | tbc | nothing is decided | undecided | tbd | \
    i am not convinced | hard to say | who knows | could be wrong | might be wrong | pending approval | \
    or so i hope | no wait";
