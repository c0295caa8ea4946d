//! Labels and questions with their answers: "**Breaking changes:** None", "Does this break the API? No".
//!
//! A prompt alone says nothing, and neither does an answer. Together they are one statement: a prompt that is affirmed
//! says what it says, and one that is denied says that there is none of it.

use super::frames::ClaimStatement;
use super::names::KnownNames;
use crate::claims::Claim;
use probity_prose::clauses::ParsedSentence;
use probity_prose::lexicon as lx;
use probity_prose::sentences::is_question;
use probity_prose::tokens::{Token, TokenKind, tokenize};

/// The longest prompt that is kept, in tokens. What is longer is a sentence and no label.
const MAX_PROMPT_TOKENS: usize = 20;

/// How a prompt was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PromptAnswer {
    Yes,
    No,
    /// "Passing", "all green".
    Passed,
    /// "Untouched", "same as before".
    Unchanged,
}

/// Returns the answer that the tokens begin with, and how many of them it takes.
///
/// "No idea", "not yet" and "yes, but" answer nothing that could be relied on.
pub(super) fn answer_of(tokens: &[Token<'_>]) -> Option<PromptAnswer> {
    let sentence = ParsedSentence::new(tokens, false);
    let first = usize::from(sentence.says(0, "a") && sentence.kind(1) == Some(TokenKind::Colon)) * 2;
    let no = sentence.says_any(first, "no | none | nope | nothing | n") || sentence.says(first, "n/a");
    let yes = sentence.says_any(first, "yes | yep | yeah | y | true | correct | confirmed")
        || sentence.is(first, lx::MARK) && sentence.is(first, lx::SUCCESS);
    let limit = tokens.len().min(first + 12);
    let is_weak = (first + 1..limit).any(|index| {
        sentence.is(index, lx::BUT | lx::EXCEPTION | lx::HEDGE | lx::BELIEF_VERB | lx::CONDITION | lx::MODAL)
            || sentence.says_any(index, "only | yet | mostly | partially | partly | known | idea | almost")
    });
    let is_alone = tokens.len() == first + 1
        || tokens
            .get(first + 1)
            .is_some_and(|next| matches!(next.kind, TokenKind::Comma | TokenKind::Break | TokenKind::Colon))
        || sentence.is(first + 1, lx::MARK)
        || sentence
            .says_any(first + 1, "at | of | needed | required | expected | breaking | api | this | changes");
    let result =
        first + usize::from(sentence.is(first, lx::ALL | lx::EVERYTHING) || sentence.says(first, "build"));
    let passed = sentence.is(result, lx::SUCCESS)
        && !sentence.is(result, lx::MARK)
        && tokens.get(result + 1).is_none_or(|next| next.kind != TokenKind::Word || next.class.is(lx::MARK));
    match () {
        () if is_weak => None,
        () if passed => Some(PromptAnswer::Passed),
        () if sentence.is(first, lx::UNTOUCHED | lx::SAMENESS)
            && (is_alone || sentence.says(first + 1, "as")) =>
        {
            Some(PromptAnswer::Unchanged)
        }
        () if yes && is_alone => Some(PromptAnswer::Yes),
        () if no && is_alone => Some(PromptAnswer::No),
        () => None,
    }
}

/// Returns what a prompt and its answer claim.
pub(super) fn claims(prompt: &str, answer: PromptAnswer, known: &KnownNames<'_>) -> Vec<Claim> {
    let prompt = prompt.trim_end_matches(['?', ':', '*', ' ', '_']);
    let tokens = tokenize(prompt);
    if tokens.is_empty() || tokens.len() > MAX_PROMPT_TOKENS {
        return Vec::new();
    }
    let sentence = ParsedSentence::new(&tokens, false);
    match answer {
        PromptAnswer::Yes => {
            let mut statements = super::statements(&sentence, None, known);
            statements.retain(|statement| sentence.asserts(statement.start, statement.end));
            statements.into_iter().map(|statement: ClaimStatement| statement.claim).collect()
        }
        PromptAnswer::No => denied(&sentence).into_iter().collect(),
        PromptAnswer::Unchanged => {
            let is_interface =
                sentence.has(lx::INTERFACE | lx::COMPATIBLE) && !sentence.has(lx::DOCS | lx::TEST);
            if is_interface { vec![Claim::NoApiChange] } else { Vec::new() }
        }
        // What a list of tools says is read as one statement elsewhere.
        PromptAnswer::Passed if is_test_command(&tokens) => vec![Claim::TestsPass { gate: None }],
        PromptAnswer::Passed if sentence.has(lx::TOOL) => Vec::new(),
        PromptAnswer::Passed if sentence.has(lx::TEST) => vec![Claim::TestsPass { gate: None }],
        PromptAnswer::Passed if sentence.has(lx::CI) => vec![Claim::AllChecksPassed],
        PromptAnswer::Passed => Vec::new(),
    }
}

/// "`./gradlew test`": a command and nothing else, that runs the tests.
fn is_test_command(tokens: &[Token<'_>]) -> bool {
    let is_test = |word: &str| {
        matches!(word, "test" | "tests" | "pytest" | "jest" | "vitest" | "rspec" | "phpunit" | "tox")
    };
    matches!(tokens, [command] if command.is_marked && command.text.split([' ', ':', '/']).any(is_test))
}

/// Returns what is claimed by denying the prompt.
fn denied(sentence: &ParsedSentence<'_>) -> Option<Claim> {
    let has = |words: &str| (0..sentence.tokens.len()).any(|index| sentence.says_any(index, words));
    if sentence.has(lx::NEGATION | lx::NO | lx::WITHOUT) {
        return None;
    }
    let breaks = has("break | breaks | breaking | broken | breakage | breakages | bc");
    let is_test = sentence.has(lx::TEST);
    let changes = sentence.has(lx::CHANGE_VERB | lx::CHANGE_VERB_BASE | lx::REMOVAL_VERB)
        || has("changes | change | impact | removals | breaks");
    if breaks && !is_test
        || has("incompatible | incompatibility | incompatibilities")
        || changes && sentence.has(lx::INTERFACE) && !sentence.has(lx::DOCS)
        || changes && sentence.has(lx::CALLERS)
    {
        return Some(Claim::NoApiChange);
    }
    if sentence.has(lx::REGRESSION)
        || has("worse | regress | regressed") && sentence.has(lx::ANY)
        || sentence.has(lx::FINDING) && sentence.has(lx::ADDITIONAL)
    {
        return Some(Claim::NoRegressions);
    }
    if is_test && has("failing | failed | failures | fail | fails | broken") {
        return Some(Claim::TestsPass { gate: None });
    }
    let is_code = sentence.has(lx::CODE) && changes && !sentence.has(lx::CALLERS | lx::INTERFACE);
    is_code.then_some(Claim::DocsOnly)
}

/// Splits "Label: answer" at its mark; both parts have tokens.
pub(super) fn split_label(text: &str) -> Option<(&str, &str)> {
    let marks = [": ", ":** ", ":* ", "?** ", "? ", " | ", " — ", " – ", " -> ", " → "];
    let (at, mark) = marks.iter().filter_map(|mark| text.find(mark).map(|at| (at, *mark))).min()?;
    let (label, answer) = (text[..at].trim_matches(['*', '_', '|', ' ']), &text[at + mark.len()..]);
    let answer = answer.trim_matches(['*', '_', '|', ' ', '`']);
    (label.contains(char::is_alphanumeric) && !answer.is_empty()).then_some((label, answer))
}

/// Whether a sentence asks or labels what comes next: "Breaking changes:", "**API changes**", "Does it break anything?".
pub(super) fn is_prompt(text: &str) -> bool {
    let trimmed = text.trim_end();
    let is_bold = trimmed.len() > 4 && trimmed.starts_with("**") && trimmed.ends_with("**");
    is_question(trimmed) || trimmed.trim_end_matches(['*', '_']).ends_with(':') || is_bold
}
