//! Lists of tools: "lint, type check and tests all pass" says that all checks passed.

use super::frames::ClaimStatement;
use super::phrase::has_exception;
use crate::claims::Claim;
use probity_prose::clauses::ParsedSentence;
use probity_prose::lexicon as lx;
use probity_prose::tokens::TokenKind;

/// The fewest tools that stand for all checks. Of two, only what is said counts.
const MIN_TOOLS: usize = 3;

/// The most tokens of one name: "the type checker", "`mypy --strict`".
const MAX_NAME_TOKENS: usize = 4;

/// The most tokens of a whole list, which keeps the time linear.
const MAX_LIST_TOKENS: usize = 24;

/// Finds a list of tools that begins at `at` and of which something good is said.
pub(super) fn all_tools(sentence: &ParsedSentence<'_>, at: usize, found: &mut Vec<ClaimStatement>) {
    let opens = at == 0
        || sentence.clause_start(at) == at
        || sentence.is(at - 1, lx::AND | lx::BUT)
        || matches!(sentence.kind(at - 1), Some(TokenKind::Colon | TokenKind::Break));
    if !opens || at > 0 && sentence.kind(at - 1) == Some(TokenKind::Comma) {
        return;
    }
    let Some(behind) = list_end(sentence, at) else { return };
    let mut index = behind;
    while index < behind + 6
        && (sentence.is(index, lx::AUXILIARY | lx::ADVERB | lx::ALL)
            || matches!(sentence.kind(index), Some(TokenKind::Colon))
            || sentence.says_any(index, "come | came | report | reports"))
    {
        index += 1;
    }
    let is_good =
        sentence.is(index, lx::SUCCESS) || sentence.says_any(index, "happy | satisfied | fine | good");
    if is_good && !has_exception(sentence, index) {
        found.push(ClaimStatement { start: at, end: index, at, claim: Claim::AllChecksPassed });
    }
}

/// Returns the token behind a list of tools, tests among them.
fn list_end(sentence: &ParsedSentence<'_>, at: usize) -> Option<usize> {
    let (mut index, mut n_tools, mut n_tests, mut n_other) = (at, 0, 0, 0);
    loop {
        let start = index;
        while index < start + MAX_NAME_TOKENS && is_name(sentence, index) {
            index += 1;
        }
        let name = start..index;
        if name.is_empty() || index > at + MAX_LIST_TOKENS {
            break;
        }
        let is_test = name.clone().any(|it| sentence.is(it, lx::TEST));
        let is_tool =
            name.clone().any(|it| sentence.is(it, lx::TOOL | lx::CHECK) || sentence.tokens[it].is_marked);
        n_tests += usize::from(is_test);
        n_tools += usize::from(is_tool && !is_test);
        n_other += usize::from(!is_tool && !is_test);
        let mut next = index;
        while sentence.kind(next) == Some(TokenKind::Comma)
            || sentence.is(next, lx::AND)
            || sentence.says(next, "/")
        {
            next += 1;
        }
        if next == index {
            break;
        }
        index = next;
    }
    let is_list = n_tests > 0 && n_tools > 0 && n_other <= 1 && n_tests + n_tools + n_other >= MIN_TOOLS;
    is_list.then_some(index)
}

/// Whether a token may be part of the name of a tool.
fn is_name(sentence: &ParsedSentence<'_>, index: usize) -> bool {
    let Some(token) = sentence.tokens.get(index) else { return false };
    if sentence.is(index, lx::SUCCESS | lx::FAILURE | lx::NEGATION | lx::NO | lx::AND) {
        return false;
    }
    match token.kind {
        TokenKind::Literal => true,
        TokenKind::Word => {
            token.class.is_plain()
                || sentence
                    .is(index, lx::TEST | lx::TEST_KIND | lx::CHECK | lx::DETERMINER | lx::TOOL | lx::CI)
                    && !sentence.is(index, lx::AUXILIARY)
        }
        _ => false,
    }
}
