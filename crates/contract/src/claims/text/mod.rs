//! Recognizes claims in free text.
//!
//! `prose` cuts the text into sentences of classified words and says which clauses are asserted at all; a frame for each
//! claim ([`api`], [`frames`], [`regressions`], [`verified`], [`names`], [`docs`], [`findings`]) looks for statements,
//! [`patterns`] for those that a data file lists, [`tools`] for lists of checks. [`templates`] reads a label or question
//! together with its answer. Everything is bounded look-around on tokens, so the time is linear.

mod api;
mod docs;
mod findings;
mod frames;
mod names;
mod patterns;
mod phrase;
mod regressions;
mod templates;
mod tools;
mod verified;

pub use names::KnownNames;

use crate::claims::Claim;
use frames::{ClaimStatement, StatementTopic};
use probity_prose::clauses::ParsedSentence;
use probity_prose::lexicon::{self as lx, WordClass, class_of};
use probity_prose::markdown::{BlockForm, MarkdownBlock, blocks};
use probity_prose::sentences::{SemicolonRole, is_question, sentences};
use probity_prose::tokens::{TokenKind, is_mark, tokenize};
use std::collections::BTreeSet;

/// What a text claims, and how much of it was not understood as a claim.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClaimRecognition {
    /// The claims that the author asserts, in order of appearance, each once.
    pub claims: Vec<AssertedClaim>,
    /// How many sentences there are.
    pub sentences: usize,
    /// The sentences that assert no claim that is known. They are not checked (law 6).
    pub unchecked: Vec<String>,
}

impl ClaimRecognition {
    /// The claims without their sentences.
    pub fn into_claims(self) -> Vec<Claim> {
        self.claims.into_iter().map(|asserted| asserted.claim).collect()
    }
}

/// A claim, and the sentence that makes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AssertedClaim {
    /// What is claimed.
    pub claim: Claim,
    /// The first sentence that says so, as its author wrote it.
    pub sentence: String,
}

/// Finds the claims that the author of `text` asserts.
pub fn recognize(text: &str, known: &KnownNames<'_>) -> ClaimRecognition {
    let mut recognizer = ClaimRecognizer::new(known);
    let blocks = blocks(text);
    for (at, block) in blocks.iter().enumerate() {
        if block.form != (BlockForm::CheckBox { done: false }) {
            recognizer.block(text, block);
            recognizer.listed_paths(text, block, &blocks[at + 1..]);
        }
    }
    recognizer.drop_what_is_denied();
    recognizer.recognition
}

struct ClaimRecognizer<'k, 'n> {
    known: &'k KnownNames<'n>,
    recognition: ClaimRecognition,
    seen: BTreeSet<Claim>,
    /// What the sentence before was about.
    topic: Option<StatementTopic>,
    /// What the heading above is about.
    heading_topic: Option<StatementTopic>,
    /// Whether the heading above announces plans and wishes.
    is_plan: bool,
    /// Whether the list that follows was announced as a plan: "Plan:".
    is_planned_list: bool,
    /// The heading, label or question that the next sentence may answer.
    prompt: Option<String>,
    /// The sentence before.
    before: String,
    /// Whether a sentence says that tests fail, so that others speak of a part of them.
    admits_failure: bool,
}

impl<'k, 'n> ClaimRecognizer<'k, 'n> {
    fn new(known: &'k KnownNames<'n>) -> Self {
        Self {
            known,
            recognition: ClaimRecognition::default(),
            seen: BTreeSet::new(),
            topic: None,
            heading_topic: None,
            is_plan: false,
            is_planned_list: false,
            prompt: None,
            before: String::new(),
            admits_failure: false,
        }
    }

    /// "The only files with changes are" and a list of paths below it.
    fn listed_paths(&mut self, text: &str, block: &MarkdownBlock, below: &[MarkdownBlock]) {
        let Some(lead) = block.lines.last().map(|line| text[line.clone()].trim_end()) else { return };
        let is_lead = block.form == BlockForm::Paragraph
            && (lead.ends_with(':') || lead.ends_with(" are") || lead.ends_with(" is"));
        if !is_lead || self.is_plan {
            return;
        }
        let items = below.iter().take_while(|block| block.form == BlockForm::Item);
        let paths: Vec<&str> = items
            .filter_map(|item| item.lines.first())
            .map(|line| text[line.clone()].split([' ', ':']).next().unwrap_or_default())
            .collect();
        let start = lead.rfind(['.', '!', '?']).map_or(0, |end| end + 1);
        let whole = format!("{} {}", lead[start..].trim().trim_end_matches(':'), paths.join(", "));
        let tokens = tokenize(&whole);
        let sentence = ParsedSentence::new(&tokens, false);
        let claims = statements_of(&sentence, self.known);
        for claim in claims.into_iter().filter(|_| !paths.is_empty()) {
            if matches!(&claim, Claim::OnlyTouched { paths: found } if found.len() == paths.len())
                && self.seen.insert(claim.clone())
            {
                self.recognition.claims.push(AssertedClaim { claim, sentence: excerpt(lead) });
            }
        }
    }

    /// A text that says that tests fail does not claim that all pass.
    fn drop_what_is_denied(&mut self) {
        if self.admits_failure {
            self.take_back(|claim| matches!(claim, Claim::TestsPass { gate: None } | Claim::AllChecksPassed));
        }
    }

    fn take_back(&mut self, is_taken_back: impl Fn(&Claim) -> bool) {
        let claims = std::mem::take(&mut self.recognition.claims);
        let (gone, kept): (Vec<_>, Vec<_>) =
            claims.into_iter().partition(|asserted| is_taken_back(&asserted.claim));
        self.recognition.claims = kept;
        for asserted in gone {
            self.seen.remove(&asserted.claim);
            self.recognition.unchecked.push(asserted.sentence);
        }
    }

    fn block(&mut self, text: &str, block: &MarkdownBlock) {
        let mut opens_paragraph = block.form != BlockForm::TableRow;
        if !matches!(block.form, BlockForm::Item | BlockForm::CheckBox { .. }) {
            self.is_planned_list = false;
        }
        for line in statements_of_lines(text, block) {
            for range in sentences(&line, SemicolonRole::EndsClause) {
                if is_correction(&line[range.clone()]) {
                    self.correct(&line[range.start..]);
                }
                let behind = line[range.end..].trim_start();
                self.sentence(&line[range.clone()], block.form, std::mem::take(&mut opens_paragraph));
                self.ticked(&line[range], behind);
            }
        }
    }

    fn sentence(&mut self, text: &str, form: BlockForm, opens_paragraph: bool) {
        let tokens = tokenize(text);
        if tokens.is_empty() {
            return;
        }
        let sentence = ParsedSentence::new(&tokens, is_question(text));
        let own_topic = (0..tokens.len()).rev().find_map(|index| frames::topic_of(&sentence, index));
        if form == BlockForm::Heading {
            self.is_plan = sentence.has(lx::WISH_LABEL);
            let is_testing = (0..tokens.len()).any(|index| sentence.says_any(index, "testing | tested"));
            self.heading_topic = own_topic.or(is_testing.then_some(StatementTopic::Tests));
        }
        let topic = self.topic.filter(|_| !opens_paragraph);
        self.topic = own_topic.or(topic);
        let mut claims: Vec<Claim> = Vec::new();
        if !self.is_plan && !self.is_planned_list && !is_labeled_plan(&sentence) {
            let mut statements = statements(&sentence, topic.or(self.heading_topic), self.known);
            statements.retain(|statement| sentence.asserts(statement.start, statement.end));
            statements.sort_by_key(|statement| statement.at);
            claims = self.answered(text, form);
            self.admits_failure |= admits_failure(&sentence, topic.or(self.heading_topic));
            claims.extend(self.closed_list(text, &sentence));
            if closes_list(&sentence)
                && let Some((label, list)) = self.before.split_once(": ")
                && tokenize(label).iter().any(|token| {
                    token.class.is(lx::CHANGE_VERB | lx::FILES | lx::CHANGE)
                        || token.text.eq_ignore_ascii_case("scope")
                })
            {
                let whole = format!(
                    "I changed {} and nothing else",
                    list.trim_end_matches('.').replace(" plus ", " and ")
                );
                let tokens = tokenize(&whole);
                let whole = ParsedSentence::new(&tokens, false);
                claims.extend(statements_of(&whole, self.known));
            }
            claims.extend(statements.into_iter().map(|statement| statement.claim));
        }
        if templates::is_prompt(text) && sentence.has(lx::WISH_LABEL) {
            self.is_planned_list = true;
        }
        let is_prompt = form == BlockForm::Heading || templates::is_prompt(text);
        if is_prompt {
            self.prompt = Some(text.to_owned());
        } else if !matches!(form, BlockForm::CheckBox { .. }) {
            self.prompt = None;
        }
        text.clone_into(&mut self.before);
        let source = excerpt(text);
        self.recognition.sentences += 1;
        if claims.is_empty() {
            self.recognition.unchecked.push(source.clone());
        }
        for claim in claims {
            if self.seen.insert(claim.clone()) {
                let sentence = source.clone();
                self.recognition.claims.push(AssertedClaim { claim, sentence });
            }
        }
    }

    /// "I edited a.py and b.py. No other files were changed.", in one sentence or two.
    fn closed_list(&self, text: &str, sentence: &ParsedSentence<'_>) -> Vec<Claim> {
        let halves =
            text.split_once("; ").filter(|(_, end)| closes_list(&ParsedSentence::new(&tokenize(end), false)));
        let list = match halves {
            Some((list, _)) => list,
            None if closes_list(sentence) && !self.before.contains(": ") => self.before.as_str(),
            None => return Vec::new(),
        };
        let whole = format!("{}, and nothing else", list.trim_end_matches('.'));
        let tokens = tokenize(&whole);
        statements_of(&ParsedSentence::new(&tokens, false), self.known)
    }

    /// What a sentence claims as an answer: to the prompt before it, or to its own label.
    fn answered(&self, text: &str, form: BlockForm) -> Vec<Claim> {
        if form == BlockForm::Heading {
            return Vec::new();
        }
        let bare = text.trim_matches(['|', ' ', '*', '_']);
        let prompted = self.prompt.as_deref().zip(templates::answer_of(&tokenize(bare)));
        let labeled = || {
            let (label, answer) = templates::split_label(bare)?;
            Some((label, templates::answer_of(&tokenize(answer))?))
        };
        prompted
            .or_else(labeled)
            .map_or(Vec::new(), |(prompt, answer)| templates::claims(prompt, answer, self.known))
    }

    /// "All tests passing? ✅": a mark alone is no sentence, but an answer.
    fn ticked(&mut self, question: &str, behind: &str) {
        let is_ticked = tokenize(behind.get(..behind.ceil_char_boundary(1)).unwrap_or_default())
            .first()
            .is_some_and(|mark| mark.class.is(lx::MARK) && mark.class.is(lx::SUCCESS));
        if !is_ticked || !is_question(question) || self.is_plan || self.is_planned_list {
            return;
        }
        for claim in templates::claims(question, templates::PromptAnswer::Yes, self.known) {
            if self.seen.insert(claim.clone()) {
                self.recognition.claims.push(AssertedClaim { claim, sentence: excerpt(question) });
            }
        }
    }

    /// Takes back what a correction is about: "Edit: two tests fail".
    fn correct(&mut self, correction: &str) {
        let tokens = tokenize(correction);
        let sentence = ParsedSentence::new(&tokens, false);
        let about_checks = sentence.has(lx::TEST | lx::CHECK | lx::CI | lx::FAILURE | lx::REGRESSION);
        let about_interface = sentence.has(lx::INTERFACE | lx::CALLERS | lx::COMPATIBLE)
            || (0..tokens.len()).any(|index| sentence.says(index, "breaking"));
        let about_paths = sentence.has(lx::FILES | lx::CHANGE_VERB)
            || tokens.iter().any(|token| token.kind == TokenKind::Literal);
        let is_taken_back = |claim: &Claim| match claim {
            Claim::TestsPass { .. } | Claim::AllChecksPassed | Claim::NoRegressions | Claim::Verified => {
                about_checks
            }
            Claim::NoApiChange => about_interface,
            Claim::OnlyTouched { .. } | Claim::DocsOnly => about_paths,
            Claim::Fixed { .. } => false,
        };
        self.take_back(is_taken_back);
        // "Wait, that is not right" means what was said just before.
        let denies = (0..tokens.len()).any(|at| {
            sentence.reads(at, &["not", "right"])
                || sentence.reads(at, &["not", "true"])
                || sentence.reads(at, &["too", "soon"])
                || sentence.reads(at, &["no", "longer"])
                || sentence.says_any(at, "wrong | incorrect | mistaken | misread | anymore | premature")
        });
        if denies || is_bare_denial(&sentence) {
            let before = excerpt(&self.before);
            let claims = &self.recognition.claims;
            let is_before = claims.iter().any(|it| it.sentence == before);
            // A correction may be added further down.
            let meant =
                claims.last().map_or(&before, |last| if is_before { &before } else { &last.sentence });
            let last: BTreeSet<Claim> =
                claims.iter().filter(|it| it.sentence == *meant).map(|it| it.claim.clone()).collect();
            self.take_back(|claim| last.contains(claim));
        }
    }
}

/// "Edit: it's not", "Update: they don't": a denial without a subject of its own.
fn is_bare_denial(sentence: &ParsedSentence<'_>) -> bool {
    let Some(colon) = (0..4).find(|&at| sentence.kind(at) == Some(TokenKind::Colon)) else { return false };
    let helps = lx::THIRD_PERSON | lx::PRONOUN | lx::AUXILIARY | lx::ADVERB;
    let denial = (colon + 1..colon + 5).find(|&at| !sentence.is(at, helps) || sentence.is(at, lx::NEGATION));
    denial.is_some_and(|at| {
        let ends = sentence
            .tokens
            .get(at + 1)
            .is_none_or(|next| matches!(next.kind, TokenKind::Comma | TokenKind::Break));
        sentence.is(at, lx::NEGATION) && ends
    })
}

/// Whether a sentence asserts that tests fail: "two specs are red", "tests: 3 failed".
fn admits_failure(sentence: &ParsedSentence<'_>, topic: Option<StatementTopic>) -> bool {
    let is_about_tests = sentence.has(lx::TEST) || topic == Some(StatementTopic::Tests);
    let fails = |at: usize| {
        let before = at.wrapping_sub(1);
        let is_predicate = sentence.says_any(at, "fail | fails")
            && (sentence.is(before, lx::TEST | lx::ADVERB | lx::NUMERAL) || sentence.says(before, "still"))
            || sentence.says_any(at, "red | failing | broken")
                && (sentence.is(before, lx::AUXILIARY) || sentence.says(before, "still"))
                && (sentence.clause_start(at)..at).any(|index| sentence.is(index, lx::TEST | lx::NUMERAL));
        let is_counted = sentence.says_any(at, "failed | failing | failures")
            && sentence.kind(before) == Some(TokenKind::Number)
            && !sentence.is(before, lx::NO);
        (is_predicate || is_counted) && sentence.asserts(at, at)
    };
    is_about_tests
        && !sentence.has(lx::FIX_VERB | lx::NO | lx::NOTHING)
        && (0..sentence.tokens.len()).any(fails)
}

/// "Next steps: get the suite green".
fn is_labeled_plan(sentence: &ParsedSentence<'_>) -> bool {
    let colon = sentence.tokens.iter().take(6).position(|token| token.kind == TokenKind::Colon);
    let plans = |at: usize| {
        sentence.is(at, lx::WISH_LABEL)
            || sentence.reads(at, &["next", "steps"])
            || sentence.says_any(at, "todo | todos | remaining | plan | followup | follow-up | goal | goals | wip | idea | proposal")
    };
    colon.is_some_and(|colon| (0..colon).any(plans) && !(0..colon).any(|at| sentence.is(at, lx::TEST)))
}

/// "Nothing else.", "No other files."
fn closes_list(sentence: &ParsedSentence<'_>) -> bool {
    let n = sentence.tokens.iter().filter(|token| token.kind == TokenKind::Word).count();
    let says_none = |at: usize| {
        sentence.reads(at, &["nothing", "else"])
            || sentence.reads(at, &["no", "others"])
            || sentence.reads(at, &["no", "other"]) && sentence.is(at + 2, lx::FILES | lx::CHANGE)
    };
    n <= 6 && (0..sentence.tokens.len()).any(|at| says_none(at) && sentence.asserts(at, at))
}

/// Whether a sentence corrects what was said before it.
fn is_correction(sentence: &str) -> bool {
    let tokens = tokenize(sentence);
    let Some(first) = tokens.first() else { return false };
    let says = |words: &str| words.split(" | ").any(|word| first.text.eq_ignore_ascii_case(word));
    let is_label = tokens.iter().take(4).any(|token| token.kind == TokenKind::Colon);
    let is_paused = tokens.get(1).is_some_and(|token| token.kind == TokenKind::Comma);
    says("edit | edited | correction | erratum | update") && is_label
        || says("scratch | strike | sorry | oops | wait") && tokens.len() > 1 && (!is_label || is_paused)
}

/// The lines of a block, those that go on with the one before joined to it.
fn statements_of_lines(text: &str, block: &MarkdownBlock) -> Vec<String> {
    let mut joined: Vec<String> = Vec::new();
    for range in &block.lines {
        let line = &text[range.clone()];
        match joined.last_mut().filter(|before| !starts_new_statement(before, line)) {
            Some(before) => {
                before.push(' ');
                before.push_str(line);
            }
            None => joined.push(line.to_owned()),
        }
    }
    joined
}

/// Whether a line begins a statement of its own although the one before had no full stop.
fn starts_new_statement(before: &str, line: &str) -> bool {
    let last = before.split_whitespace().next_back().unwrap_or_default();
    let goes_on = last.ends_with([',', ':', '.', '!', '?', '…'])
        || class_of(last).is(lx::AND | lx::OR | lx::PREPOSITION | lx::DETERMINER | lx::AUXILIARY);
    let first = line.split_whitespace().next().unwrap_or_default().trim_start_matches(['*', '_']);
    let is_name = first == "I" || first.starts_with("I'") || first.contains(|it: char| it.is_ascii_digit());
    !goes_on && !is_name && first.starts_with(|it: char| it.is_uppercase() || is_mark(it))
}

/// The longest sentence that is quoted back. A text without a full stop would otherwise be repeated whole.
const MAX_SENTENCE_BYTES: usize = 400;

/// A sentence as its author wrote it, with single spaces.
fn excerpt(sentence: &str) -> String {
    let mut excerpt = String::new();
    for word in sentence.split_whitespace() {
        if !excerpt.is_empty() {
            excerpt.push(' ');
        }
        excerpt.push_str(word);
        if excerpt.len() > MAX_SENTENCE_BYTES {
            excerpt.truncate(excerpt.floor_char_boundary(MAX_SENTENCE_BYTES));
            excerpt.push('…');
            break;
        }
    }
    excerpt
}

/// The claims that a sentence asserts about paths.
fn statements_of(sentence: &ParsedSentence<'_>, known: &KnownNames<'_>) -> Vec<Claim> {
    let mut found = statements(sentence, None, known);
    found.retain(|it| matches!(it.claim, Claim::OnlyTouched { .. }) && sentence.asserts(it.start, it.end));
    found.into_iter().map(|statement| statement.claim).collect()
}

/// Every statement of a sentence, asserted or not.
fn statements(
    sentence: &ParsedSentence<'_>,
    topic: Option<StatementTopic>,
    known: &KnownNames<'_>,
) -> Vec<ClaimStatement> {
    let names = names::NameFinder { sentence, known };
    let mut found = Vec::new();
    let mut each = |class: WordClass, frame: &dyn Fn(usize, &mut Vec<ClaimStatement>)| {
        if sentence.has(class) {
            (0..sentence.tokens.len()).for_each(|at| frame(at, &mut found));
        }
    };
    each(lx::TEST, &|at, found| frames::tests(sentence, at, found));
    each(lx::CHECK | lx::CI, &|at, found| frames::checks(sentence, at, found));
    each(lx::CHECK, &|at, found| frames::named_gate(sentence, at, found));
    each(lx::SUCCESS | lx::FAILURE, &|at, found| frames::everything(sentence, at, topic, found));
    each(lx::SUCCESS | lx::FAILURE, &|at, found| frames::tally(sentence, at, found));
    each(lx::MARK, &|at, found| frames::marked(sentence, at, found));
    each(lx::REGRESSION | lx::FINDING | lx::WORSENING_VERB | lx::NOTHING | lx::QUALITY, &|at, found| {
        regressions::regressions(sentence, at, found);
    });
    each(lx::VERIFIED | lx::VERIFICATION | lx::CHANGE, &|at, found| verified::verified(sentence, at, found));
    each(lx::INTERFACE | lx::COMPATIBLE | lx::CALLERS | lx::PUBLIC | lx::FAILURE, &|at, found| {
        api::unchanged(sentence, at, found);
    });
    each(lx::EXCLUSIVE, &|at, found| names.only_touched(at, found));
    each(lx::CHANGE_VERB, &|at, found| names.exactly_these(at, found));
    each(lx::CHANGE | lx::STAY_VERB | lx::LIMITATION, &|at, found| names.limited(at, found));
    each(lx::NO | lx::NOTHING | lx::NEGATION | lx::EVERYTHING, &|at, found| names.nothing_else(at, found));
    each(lx::NOTHING, &|at, found| names.and_nothing_else(at, found));
    each(lx::DOCS, &|at, found| names.docs_only(at, found));
    (0..sentence.tokens.len()).for_each(|at| names.fixed(at, &mut found));
    patterns::listed(sentence, &mut found);
    if sentence.has(lx::TEST) && sentence.has(lx::TOOL | lx::CHECK | lx::AND) {
        let n_found = found.len();
        (0..sentence.tokens.len()).for_each(|at| tools::all_tools(sentence, at, &mut found));
        // The list says more than its tests alone.
        let lists: Vec<_> = found[n_found..].iter().map(|list| (list.start, list.end)).collect();
        let is_listed = |statement: &ClaimStatement| {
            lists.iter().any(|&(start, end)| statement.start >= start && statement.end <= end)
        };
        found.retain(|it| !matches!(it.claim, Claim::TestsPass { .. }) || !is_listed(it));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unchecked(text: &str) -> Vec<String> {
        recognize(text, &KnownNames::default()).unchecked
    }

    #[test]
    fn a_sentence_is_quoted_as_it_was_written() {
        let text =
            "# Notes\n\n* I didn't touch `src/a.py`;\n  really (I  swear)! Why?\n---\nDone: **so** far";
        let expected = ["Notes", "I didn't touch `src/a.py`; really (I swear)!", "Why?", "Done: **so** far"];
        assert_eq!(unchecked(text), expected);
        let long = unchecked(&"wörd ".repeat(1000));
        assert!(long[0].ends_with('…') && long[0].len() < 500, "{}", long[0].len());
    }

    #[test]
    fn a_wrapped_line_goes_on_and_a_new_statement_does_not() {
        assert_eq!(unchecked("the old\nparser"), ["the old parser"]);
        assert_eq!(unchecked("The parser is old\nNew code reads"), ["The parser is old", "New code reads"]);
    }

    #[test]
    fn markdown_that_says_nothing_is_left_out() {
        assert_eq!(unchecked("- [ ] open\n- [x] done\n- ~~gone~~ here"), ["done", "~~gone~~ here"]);
    }
}
