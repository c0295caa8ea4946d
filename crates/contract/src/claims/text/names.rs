//! The frame of `only_touched`, and the lists of paths that it names.

use super::frames::ClaimStatement;
use crate::claims::Claim;
use probity_intents::ScopeEntry;
use probity_prose::clauses::ParsedSentence;
use probity_prose::lexicon::{self as lx, WordClass};
use probity_prose::tokens::{Token, TokenKind};
use std::collections::BTreeSet;

/// How far a list may lie from the word that speaks of it.
pub(super) const REACH: usize = 7;

/// Names that are known to be paths or findings, whatever their shape.
#[derive(Debug, Clone, Default)]
pub struct KnownNames<'a> {
    /// Paths of the delta and the directories above them.
    pub paths: BTreeSet<&'a str>,
    /// Findings of either run.
    pub findings: BTreeSet<&'a str>,
}

/// Finds what a sentence says about paths, documentation and findings.
pub(super) struct NameFinder<'s, 'k> {
    pub(super) sentence: &'s ParsedSentence<'s>,
    pub(super) known: &'s KnownNames<'k>,
}

impl NameFinder<'_, '_> {
    /// "Only touched a.py", "a.py is the only file changed".
    pub(super) fn only_touched(&self, at: usize, found: &mut Vec<ClaimStatement>) {
        let sentence = self.sentence;
        if !sentence.is(at, lx::EXCLUSIVE) || at > 0 && sentence.is(at - 1, lx::NEGATION) {
            return;
        }
        let clause = sentence.clause_start(at);
        let before = |class| at > clause && sentence.is(at - 1, class);
        let speaks_of_change = (clause..at).any(|index| sentence.is(index, lx::CHANGE));
        let touches = sentence.is(at + 1, lx::CHANGE_VERB)
            && (!sentence.says(at, "just") || sentence.tokens[at + 1].text.ends_with('s'));
        let touches = touches
            || sentence.is(at + 1, lx::CHANGE_VERB_BASE) && at > clause
            || sentence.is(at + 1, lx::CONTAINMENT_VERB) && speaks_of_change;
        let is_object = before(lx::CHANGE_VERB)
            || before(lx::CONTAINMENT_VERB) && speaks_of_change
            || speaks_of_change && sentence.is(at + 1, lx::PREPOSITION | lx::TO);
        let taken = touches && self.take_list(at, at + 2, found)
            || is_object && self.take_list(at - 1, at + 1, found);
        if taken {
            return;
        }
        let object = if touches { at + 2 } else { at + 1 };
        let is_subject = || !touches && !is_object && at == clause && self.changes_behind_docs(object);
        if let Some(end) = self.readme_and_docs(object).filter(|_| touches || is_object || is_subject()) {
            return found.push(ClaimStatement { start: at, end, at, claim: Claim::DocsOnly });
        }
        if let Some((paths, end)) = self.path_list(at + 1) {
            let named = at > 1
                && sentence.kind(at - 1) == Some(TokenKind::Colon)
                && self.recently(at - 1, lx::CHANGE_VERB);
            if let Some(verb) = self.touched_behind(end).or_else(|| named.then_some(end - 1)) {
                found.push(only(at, verb, at, paths));
            }
        } else if sentence.is(at + 1, lx::FILES | lx::CHANGE | lx::CHANGE_VERB) {
            self.the_only_file(at, found);
        } else {
            self.touched_these_only(at, at, found);
        }
    }

    /// "I modified exactly two files: a.py and b.py".
    pub(super) fn exactly_these(&self, at: usize, found: &mut Vec<ClaimStatement>) {
        let sentence = self.sentence;
        let counts = sentence.kind(at + 1) == Some(TokenKind::Number) || sentence.is(at + 1, lx::NUMERAL);
        let files = (at + 2..at + 4).find(|&index| sentence.is(index, lx::FILES));
        let verb = (at.saturating_sub(2)..at).find(|&index| sentence.is(index, lx::CHANGE_VERB));
        if let (true, Some(files), Some(verb)) = (sentence.says(at, "exactly") && counts, files, verb) {
            self.take_list(verb, files + 1, found);
        }
    }

    /// "Only the docs and the README change here".
    fn changes_behind_docs(&self, from: usize) -> bool {
        (from..from + 12).any(|index| {
            self.sentence.is(index, lx::CHANGE_VERB | lx::CHANGE_VERB_BASE)
                && !self.sentence.is(index, lx::DOCS)
        })
    }

    /// "the README and the docs": a list of documentation without a path that could be checked one by one.
    fn readme_and_docs(&self, from: usize) -> Option<usize> {
        let sentence = self.sentence;
        let (mut index, mut n_docs, mut last) = (from, 0, from);
        while index < from + 12 {
            let is_doc = sentence.is(index, lx::DOCS)
                || sentence.says_any(index, "readme | changelog | guide | tutorial | manual | handbook");
            if is_doc {
                n_docs += 1;
                last = index;
            } else if !sentence.is(index, lx::DETERMINER | lx::AND | lx::PREPOSITION | lx::FILES)
                && sentence.kind(index) != Some(TokenKind::Comma)
                && !sentence.says_any(
                    index,
                    "page | pages | section | sections | install | installation | api | user",
                )
            {
                break;
            }
            index += 1;
        }
        let changes = index > from && sentence.is(index, lx::CHANGE_VERB | lx::CHANGE_VERB_BASE)
            || self.touched_behind(index).is_some();
        let ends =
            index >= sentence.tokens.len() || sentence.kind(index) == Some(TokenKind::Break) || changes;
        (n_docs > 0 && ends).then_some(last)
    }

    /// "I changed a.py only": the paths stand before the word at `end`, and the verb before them.
    fn touched_these_only(&self, end: usize, at: usize, found: &mut Vec<ClaimStatement>) {
        let Some((paths, start)) = self.path_list_before(end) else { return };
        let verb = (start.saturating_sub(2)..start).rev().find(|&index| {
            self.sentence.is(index, lx::CHANGE_VERB)
                || self.sentence.is(index, lx::CHANGE) && self.sentence.is(index + 1, lx::TO)
        });
        let verb = verb.or_else(|| {
            Some(start).filter(|&it| self.sentence.is(it, lx::TO) && self.recently(it, lx::CHANGE))
        });
        if let Some(verb) = verb {
            found.push(only(verb, at, verb, paths));
        }
    }

    /// "I changed a.py and nothing else".
    pub(super) fn and_nothing_else(&self, at: usize, found: &mut Vec<ClaimStatement>) {
        let joined = at > 0
            && (self.sentence.is(at - 1, lx::AND | lx::BUT)
                || self.sentence.kind(at - 1) == Some(TokenKind::Comma));
        if self.sentence.is(at, lx::NOTHING) && self.sentence.says(at + 1, "else") && joined {
            self.touched_these_only(at - 1, at + 1, found);
        }
    }

    /// "The only files I changed are a.py and b.py"; "a.py is the only file that was touched".
    fn the_only_file(&self, at: usize, found: &mut Vec<ClaimStatement>) {
        let sentence = self.sentence;
        let helps = lx::FIRST_PERSON
            | lx::AUXILIARY
            | lx::CHANGE_VERB
            | lx::CHANGE_VERB_BASE
            | lx::THAT
            | lx::PREPOSITION
            | lx::CHANGE
            | lx::FILES
            | lx::TO
            | lx::DETERMINER
            | lx::PRONOUN;
        let mut index = at + 1;
        let mut speaks_of_change = false;
        while index < at + REACH
            && (sentence.is(index, helps) || sentence.kind(index) == Some(TokenKind::Colon))
        {
            if sentence.is(index, lx::NEGATION) {
                return;
            }
            speaks_of_change |= sentence.is(index, lx::CHANGE_VERB | lx::CHANGE);
            index += 1;
        }
        if !speaks_of_change {
            return;
        }
        if let Some((paths, end)) = self.path_list(index) {
            return found.push(only(at, end - 1, at, paths));
        }
        let mut copula = at;
        while copula > 0 && sentence.is(copula - 1, lx::DETERMINER | lx::AUXILIARY) {
            copula -= 1;
        }
        let negated = (copula..at).any(|index| sentence.is(index, lx::NEGATION));
        if let Some((paths, start)) = self.path_list_before(copula).filter(|_| copula < at && !negated) {
            found.push(only(start, index - 1, start, paths));
        }
    }

    /// "Changes are limited to docs/", "the diff stays within src", "all edits are in a.py".
    pub(super) fn limited(&self, at: usize, found: &mut Vec<ClaimStatement>) {
        let sentence = self.sentence;
        if sentence.is(at, lx::LIMITATION) && self.limits_the_change(at, found) {
            return;
        }
        // "Limited to `src/`.": the change is what the text is about.
        if at == 0 && sentence.is(at, lx::LIMITATION) && sentence.is(at + 1, lx::TO) {
            self.take_list(at, at + 2, found);
            return;
        }
        let stays = sentence.is(at, lx::STAY_VERB);
        let is_in = sentence.is(at, lx::AUXILIARY) && sentence.is(at + 1, lx::PREPOSITION);
        if !sentence.is(at, lx::LIMITATION) && !stays && !is_in {
            return;
        }
        let is_added = at > 0 && sentence.is(at - 1, lx::AND);
        let clause = if is_added { 0 } else { sentence.clause_start(at) };
        let is_predicate = |index: usize| {
            is_added && (sentence.tokens[index].class.is_plain() || sentence.is(index, lx::AND))
        };
        let subject = (clause.max(at.saturating_sub(REACH))..at).find(|&index| {
            sentence.is(index, lx::CHANGE) && !sentence.is(index, lx::ALL)
                || stays && sentence.is(index, lx::FIRST_PERSON)
        });
        let Some(subject) = subject else { return };
        let all = (clause..subject).any(|index| sentence.is(index, lx::ALL));
        let negated = (subject..at).any(|index| sentence.is(index, lx::NEGATION));
        if negated
            || is_in && !stays && !all
            || (subject + 1..at).any(|index| !self.helps(index) && !is_predicate(index))
        {
            return;
        }
        if !sentence.is(at + 1, lx::TO | lx::PREPOSITION) {
            return;
        }
        self.take_list(subject, at + 2, found);
        if let Some(docs) = self.docs_from(at + 2) {
            found.push(ClaimStatement { start: subject, end: docs, at, claim: Claim::DocsOnly });
        }
    }

    /// "I limited my changes to a.py".
    fn limits_the_change(&self, at: usize, found: &mut Vec<ClaimStatement>) -> bool {
        let sentence = self.sentence;
        let object = (at + 1..at + 4).find(|&index| sentence.is(index, lx::CHANGE));
        let to =
            object.map(|object| object + 1).filter(|&index| sentence.is(index, lx::TO | lx::PREPOSITION));
        to.is_some_and(|to| self.take_list(at, to + 1, found))
    }

    fn helps(&self, index: usize) -> bool {
        self.sentence.is(
            index,
            lx::AUXILIARY
                | lx::ADVERB
                | lx::EXCLUSIVE
                | lx::PREPOSITION
                | lx::DETERMINER
                | lx::CHANGE
                | lx::THAT
                | lx::FIRST_PERSON
                | lx::CHANGE_VERB,
        )
    }

    /// "Nothing outside src/ was changed", "I did not touch anything except a.py", "no files other than a.py".
    pub(super) fn nothing_else(&self, at: usize, found: &mut Vec<ClaimStatement>) {
        let sentence = self.sentence;
        let than = sentence.reads(at, &["other", "than"])
            || sentence.says(at, "than") && self.recently(at, lx::OTHER);
        let but = sentence.says(at, "but") && at > 0 && sentence.is(at - 1, lx::NOTHING | lx::ANY);
        if !sentence.is(at, lx::OUTSIDE | lx::EXCEPTION) && !than && !but {
            return;
        }
        let mut index = at + 1;
        while sentence.says(index, "than")
            || sentence.says(index, "for")
            || sentence.says(index, "from")
            || sentence.says(index, "of")
        {
            index += 1;
        }
        let (paths, end) = match self.path_list(index) {
            Some((paths, end)) => (Some(paths), end),
            None => match self.docs_from(index) {
                Some(end) => (None, end + 1),
                None => return,
            },
        };
        if at > 0 && sentence.is(at - 1, lx::EVERYTHING) {
            let untouched = (end..end + 4).find(|&index| sentence.is(index, lx::UNTOUCHED));
            let negated = (end..end + 4).any(|index| sentence.is(index, lx::NEGATION));
            if let Some((last, paths)) =
                untouched.zip(paths).filter(|_| !negated && sentence.is(at, lx::OUTSIDE))
            {
                found.push(only(at - 1, last, at - 1, paths));
            }
            return;
        }
        let behind = self.nothing_was_touched(end);
        let Some(none) = self.none_before(at).or(behind) else { return };
        let touched = (none.saturating_sub(2)..at)
            .any(|index| sentence.is(index, lx::CHANGE_VERB | lx::CHANGE_VERB_BASE))
            || self.touched_behind(end).is_some()
            || behind.is_some();
        if !touched {
            return;
        }
        let claim = paths.map_or(Claim::DocsOnly, |paths| Claim::OnlyTouched { paths });
        found.push(ClaimStatement { start: none.min(at), end: end - 1, at: none, claim });
    }

    /// ", no other files were touched" or "nothing was changed" behind a list that ends before `end`.
    fn nothing_was_touched(&self, end: usize) -> Option<usize> {
        let sentence = self.sentence;
        let is_pause = matches!(sentence.kind(end), Some(TokenKind::Comma | TokenKind::Break));
        let from = if is_pause { end + 1 } else { end };
        let noun =
            (from + 1..from + 3).find(|&index| sentence.is(index, lx::FILES) && sentence.is(from, lx::NO));
        let subject = if sentence.is(from, lx::NOTHING) { Some(from) } else { noun };
        subject.filter(|&it| self.touched_behind(it + 1).is_some()).map(|_| from)
    }

    fn recently(&self, at: usize, class: WordClass) -> bool {
        (at.saturating_sub(3)..at).any(|index| self.sentence.is(index, class))
    }

    /// The "no", "nothing" or "did not" that a statement with an exception begins with.
    fn none_before(&self, at: usize) -> Option<usize> {
        let from = at.saturating_sub(REACH + 1);
        (from..at).find(|&index| self.sentence.is(index, lx::NO | lx::NOTHING | lx::NEGATION))
    }

    /// The verb of "… was changed" behind a list that ends before `from`.
    pub(super) fn touched_behind(&self, from: usize) -> Option<usize> {
        let mut index = from;
        while index < from + 4 && self.sentence.is(index, lx::AUXILIARY | lx::ADVERB) {
            index += 1;
        }
        let sentence = self.sentence;
        let ends_with_base = sentence.is(index, lx::CHANGE_VERB_BASE)
            && sentence.tokens.get(index + 1).is_none_or(|next| next.kind != TokenKind::Word);
        (sentence.is(index, lx::CHANGE_VERB) || ends_with_base).then_some(index)
    }

    /// Takes the list of paths from `from` on for a statement that begins at `start`.
    fn take_list(&self, start: usize, from: usize, found: &mut Vec<ClaimStatement>) -> bool {
        let list = self.path_list(from);
        let taken = list.is_some();
        found.extend(list.map(|(paths, end)| only(start, end - 1, start, paths)));
        taken
    }

    /// The paths from `from` on, and the token behind them. A list that goes on with something that is no path cannot be
    /// read to its end, and is none.
    fn path_list(&self, from: usize) -> Option<(BTreeSet<ScopeEntry>, usize)> {
        let (paths, end) = self.paths_from(from)?;
        (!self.goes_on(end)).then_some((paths, end))
    }

    fn paths_from(&self, from: usize) -> Option<(BTreeSet<ScopeEntry>, usize)> {
        let sentence = self.sentence;
        let mut paths = BTreeSet::new();
        let mut index = from;
        let mut end = from;
        loop {
            let token = sentence.tokens.get(index);
            if token.is_some_and(|token| self.is_path(token)) {
                paths.insert(ScopeEntry::new(sentence.tokens[index].text.trim_end_matches('/')));
                end = index + 1;
            } else if token.is_none()
                || !self.joins(index, paths.is_empty())
                    && !self.describes_path(index)
                    && (paths.is_empty() || !self.is_part_name(index))
                || index > end + 4
            {
                break;
            }
            index += 1;
        }
        while sentence.is(end, lx::FILES) || self.is_part_name(end) {
            end += 1;
        }
        (!paths.is_empty()).then_some((paths, end))
    }

    /// "the `billing` package": what kind of thing a path is.
    fn is_part_name(&self, index: usize) -> bool {
        self.sentence
            .says_any(index, "package | packages | crate | crates | component | dir | tree | subtree")
    }

    /// "its test `a_test.py`": words that say what the path behind them is.
    fn describes_path(&self, index: usize) -> bool {
        let sentence = self.sentence;
        let is_word = sentence.kind(index) == Some(TokenKind::Word)
            && (sentence.tokens[index].class.is_plain() || sentence.is(index, lx::TEST | lx::TEST_KIND))
            || self.is_part_name(index);
        let names_path = |at: usize| sentence.tokens.get(at).is_some_and(|token| self.is_path(token));
        let is_led = index > 0
            && (sentence.is(index - 1, lx::DETERMINER | lx::AND | lx::TEST | lx::TEST_KIND)
                || sentence.kind(index - 1) == Some(TokenKind::Comma));
        let leads = names_path(index + 1)
            || names_path(index + 2) && sentence.is(index + 1, lx::PREPOSITION | lx::TEST | lx::FILES)
            || names_path(index + 2)
                && (sentence.says(index + 1, "(") || sentence.kind(index + 1) == Some(TokenKind::Break));
        is_word && is_led && leads
    }

    /// Whether a list goes on behind `end` with something that was not read: "a.py and its test".
    fn goes_on(&self, end: usize) -> bool {
        let sentence = self.sentence;
        let mut index = end;
        while sentence.kind(index) == Some(TokenKind::Comma) || sentence.says(index, "(") {
            index += 1;
        }
        let is_joined = sentence.is(index, lx::AND)
            || sentence.says_any(index, "along | together | alongside")
            || sentence.reads(index, &["as", "well", "as"]);
        if !is_joined {
            return false;
        }
        index += 1;
        if sentence.says_any(index, "whatever | other | others | more | some | several | wherever | a | few")
        {
            return true;
        }
        // A statement of its own has a verb.
        let limit = sentence.tokens.len().min(index + 7);
        let ends = |at: &usize| {
            matches!(sentence.kind(*at), Some(TokenKind::Comma | TokenKind::Break | TokenKind::Colon))
        };
        let behind = (index..limit).find(ends).unwrap_or(limit);
        let speaks = lx::AUXILIARY
            | lx::SUCCESS
            | lx::FAILURE
            | lx::MODAL
            | lx::FIRST_PERSON
            | lx::NO
            | lx::NOTHING
            | lx::NEGATION
            | lx::CHANGE_VERB
            | lx::FIX_VERB
            | lx::VERIFIED
            | lx::PRODUCTION_VERB
            | lx::EVERYTHING;
        index < sentence.tokens.len() && !(index..behind).any(|at| sentence.is(at, speaks))
    }

    /// The paths that end before `end`, and the first token of their list.
    fn path_list_before(&self, end: usize) -> Option<(BTreeSet<ScopeEntry>, usize)> {
        let mut start = end;
        while start > 0 && (self.is_path(&self.sentence.tokens[start - 1]) || self.joins(start - 1, false)) {
            start -= 1;
        }
        let (paths, _) = self.path_list(start)?;
        Some((paths, start))
    }

    /// What may stand between the paths of a list, or before them.
    fn joins(&self, index: usize, is_before: bool) -> bool {
        let sentence = self.sentence;
        if is_before && (sentence.is(index, lx::CHANGE) || sentence.says(index, "one")) {
            return true;
        }
        sentence.is(index, lx::AND | lx::DETERMINER | lx::FILES | lx::ALL | lx::TO)
            || matches!(sentence.kind(index), Some(TokenKind::Comma | TokenKind::Colon))
            || sentence.is(index, lx::PREPOSITION)
            || sentence.says(index, "well")
            || sentence.says(index, "as")
            || sentence.says(index, "two")
            || sentence.kind(index) == Some(TokenKind::Number)
    }

    fn is_path(&self, token: &Token<'_>) -> bool {
        const NAMES: &[&str] = &["Makefile", "Dockerfile", "LICENSE", "Gemfile", "Justfile"];
        let name = token.text;
        if self.known.paths.contains(name) && (token.kind == TokenKind::Literal || token.class.is_plain()) {
            return true;
        }
        if NAMES.contains(&name) {
            return true;
        }
        // `go test ./...` is a command: what stands before its first space is no path.
        let is_command =
            name.split_once(char::is_whitespace).is_some_and(|(word, _)| !word.contains(['/', '.', '\\']));
        if token.kind != TokenKind::Literal || is_command {
            return false;
        }
        if name.contains("://") || name.contains('(') || self.known.findings.contains(name) {
            return false;
        }
        token.is_marked || name.contains('/') || has_extension(name) || name.starts_with('.')
    }
}

fn only(start: usize, end: usize, at: usize, paths: BTreeSet<ScopeEntry>) -> ClaimStatement {
    ClaimStatement { start, end, at, claim: Claim::OnlyTouched { paths } }
}

/// Whether a name ends in an extension, as file names do and version numbers do not.
pub(super) fn has_extension(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(stem, extension)| {
        !stem.is_empty()
            && (1..=8).contains(&extension.len())
            && extension.bytes().all(|byte| byte.is_ascii_alphanumeric())
            && extension.starts_with(|first: char| first.is_ascii_alphabetic())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_no_file() {
        assert!(has_extension("a.py") && has_extension("x.tar.gz"));
        assert!(!has_extension("3.12") && !has_extension("word"));
    }
}
