//! The frame of `docs_only`: nothing but documentation.

use super::frames::ClaimStatement;
use super::names::NameFinder;
use crate::claims::Claim;
use probity_prose::lexicon as lx;
use probity_prose::tokens::TokenKind;

impl NameFinder<'_, '_> {
    /// "Documentation only", "docs-only change", "only touches documentation".
    pub(super) fn docs_only(&self, at: usize, found: &mut Vec<ClaimStatement>) {
        let sentence = self.sentence;
        if !sentence.is(at, lx::DOCS) || sentence.tokens[at].is_marked {
            return;
        }
        let mut last = at;
        while sentence.is(last + 1, lx::CHANGE | lx::FILES | lx::DOCS) {
            last += 1;
        }
        let mut add = |start, end| found.push(ClaimStatement { start, end, at, claim: Claim::DocsOnly });
        let start = sentence.clause_start(at);
        if (start.max(at.saturating_sub(3))..at)
            .any(|index| sentence.says_any(index, "almost | nearly | mostly | largely"))
        {
            return;
        }
        if sentence.is(last + 1, lx::EXCLUSIVE) {
            if self.ends_docs(last + 2) {
                add(at, last + 1);
            }
            return;
        }
        let pure = at > 0 && sentence.says(at - 1, "pure");
        if pure && last > at && self.ends_docs(last + 1) {
            return add(at - 1, last);
        }
        let from = start.max(at.saturating_sub(4));
        let Some(word) = (from..at).rev().find(|&index| sentence.is(index, lx::EXCLUSIVE)) else { return };
        let between = (word + 1..at).all(|index| {
            sentence.is(index, lx::DETERMINER | lx::CHANGE_VERB | lx::PREPOSITION | lx::AUXILIARY | lx::FILES)
                || sentence.is(index, lx::CHANGE_VERB_BASE) && word > start
                || sentence.is(index, lx::CONTAINMENT_VERB)
                || sentence.tokens[index].class.is_plain() && index + 1 == at
        });
        let negated = word > 0 && sentence.is(word - 1, lx::NEGATION);
        let touched = (start..at)
            .any(|index| sentence.is(index, lx::CHANGE_VERB | lx::CHANGE_VERB_BASE | lx::AUXILIARY));
        let whole = word == 0 && last + 1 == sentence.tokens.len();
        let behind = self.touched_behind(last + 1);
        if between
            && !negated
            && (touched || behind.is_some() || last > at || whole)
            && self.ends_docs(behind.map_or(last, |it| it) + 1)
        {
            add(word, behind.unwrap_or(last));
        }
    }

    /// Documentation as the object of a statement that begins at `from`; its last token.
    pub(super) fn docs_from(&self, from: usize) -> Option<usize> {
        let sentence = self.sentence;
        let at = (from..from + 3).find(|&index| !sentence.is(index, lx::DETERMINER))?;
        let end = if sentence.is(at + 1, lx::CHANGE | lx::FILES) { at + 1 } else { at };
        (sentence.is(at, lx::DOCS) && !sentence.tokens[at].is_marked && self.ends_docs(end + 1))
            .then_some(end)
    }

    /// Whether nothing follows that takes more than documentation in: "docs and code".
    fn ends_docs(&self, index: usize) -> bool {
        let sentence = self.sentence;
        let Some(token) = sentence.tokens.get(index) else { return true };
        let listed = sentence.is(index, lx::AND | lx::OR) || token.kind == TokenKind::Comma;
        if listed {
            let next = index + 1;
            let speaks_on = sentence.is(
                next,
                lx::NO
                    | lx::NOTHING
                    | lx::FIRST_PERSON
                    | lx::DETERMINER
                    | lx::ALL
                    | lx::TEST
                    | lx::PRONOUN
                    | lx::AND
                    | lx::BUT
                    | lx::AUXILIARY
                    | lx::EVERYTHING
                    | lx::SUBORDINATOR,
            );
            return speaks_on || next >= sentence.tokens.len();
        }
        !matches!(token.kind, TokenKind::Word | TokenKind::Literal)
            || token.class.is(lx::AUXILIARY
                | lx::BUT
                | lx::SUBORDINATOR
                | lx::PREPOSITION
                | lx::CHANGE
                | lx::CHANGE_VERB
                | lx::MARK
                | lx::PRONOUN)
            || sentence.says(index, "yes")
    }
}
