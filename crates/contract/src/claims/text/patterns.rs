//! Statements that a data file lists word by word: the ways of saying a claim that need no grammar of their own.

use super::frames::ClaimStatement;
use super::phrase::has_exception;
use crate::claims::Claim;
use probity_prose::clauses::ParsedSentence;
use probity_prose::lexicon as lx;
use probity_prose::patterns::{PatternGroup, read_groups};
use probity_prose::tokens::TokenKind;
use std::sync::LazyLock;

static GROUPS: LazyLock<Vec<PatternGroup>> =
    LazyLock::new(|| read_groups(include_str!("../../../lexicon/claims.txt")));

/// Finds the listed statements of a sentence.
pub(super) fn listed(sentence: &ParsedSentence<'_>, found: &mut Vec<ClaimStatement>) {
    for group in GROUPS.iter().filter(|group| group.fits(sentence)) {
        let Some(claim) = Claim::of_word(group.name) else { continue };
        for start in 0..sentence.tokens.len() {
            let Some(end) = group.match_at(sentence, start) else { continue };
            // Without production code there may still be tests, scripts and settings.
            let is_narrow = (start..=end).any(|at| {
                sentence.is(at, lx::CODE_KIND) && !sentence.says_any(at, "source | actual | single | real")
            });
            let is_whole = claim != Claim::DocsOnly
                || ends_clause(sentence, end) && (!is_narrow || sentence.has(lx::DOCS));
            if is_whole && !has_exception(sentence, end) {
                found.push(ClaimStatement { start, end, at: start, claim: claim.clone() });
            }
        }
    }
}

/// Whether nothing follows that narrows the statement: "no code was changed *by hand*".
fn ends_clause(sentence: &ParsedSentence<'_>, end: usize) -> bool {
    match sentence.tokens.get(end + 1) {
        None => true,
        Some(token) if matches!(token.kind, TokenKind::Comma | TokenKind::Break | TokenKind::Colon) => true,
        Some(token) => {
            token.class.is(lx::AND | lx::BUT | lx::SUBORDINATOR | lx::MARK | lx::FIRST_PERSON)
                || sentence.says_any(end + 1, "here | at | in")
                    && sentence.says_any(end + 2, "all | this | here")
                || sentence.says(end + 1, "here")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_group_is_a_claim() {
        for group in GROUPS.iter() {
            assert!(Claim::of_word(group.name).is_some(), "{}", group.name);
        }
    }
}
