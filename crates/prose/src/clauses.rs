//! Splits a sentence into clauses, and finds those that its author asserts.
//!
//! A statement counts only if it is asserted. Questions, requests, wishes, plans, guesses, conditions, the past and
//! reported speech are not. Each such marker blocks its own clause; those that reach further (if …, I think …, Bob says
//! …) also block what follows, up to a "but".

use crate::lexicon::{self as lx, PhraseSet, WordClass};
use crate::negation::count_before;
use crate::tokens::{Token, TokenKind};

/// The most words a statement can reach back. The bound keeps the time linear for clauses without an end.
const LOOK_BACK: usize = 24;

const HEDGES: WordClass = lx::HEDGE.or(lx::CLAUSE_HEDGE);
const CONDITIONS: WordClass = lx::CONDITION.or(lx::TEMPORAL_CONDITION);
const REPORTS: WordClass = lx::REPORTING_VERB.or(lx::STATEMENT_VERB);

/// The tokens between two boundaries.
#[derive(Debug, Clone, Copy)]
struct SentenceClause {
    start: usize,
    end: usize,
    opener: ClauseOpener,
    has_verb: bool,
}

/// The mark or conjunction before a clause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ClauseOpener {
    Nothing,
    Comma,
    And,
    But,
    Because,
    Mark,
}

/// The reach of a marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ClauseReach {
    Clause,
    /// Its clause, and what "and" adds to it.
    Added,
    /// Its clause and everything after it.
    Onward,
}

/// A sentence that can be queried for what it asserts.
#[derive(Debug)]
pub struct ParsedSentence<'a> {
    pub tokens: &'a [Token<'a>],
    clauses: Vec<SentenceClause>,
    /// The clause of each token.
    clause_of: Vec<usize>,
    /// The number of negations before each token, in the whole sentence.
    negations: Vec<usize>,
    blocked: Vec<bool>,
    /// The classes of all its words.
    classes: WordClass,
}

impl<'a> ParsedSentence<'a> {
    pub fn new(tokens: &'a [Token<'a>], is_question: bool) -> Self {
        let mut sentence = Self {
            tokens,
            clauses: Vec::new(),
            clause_of: Vec::with_capacity(tokens.len()),
            negations: count_before(tokens),
            blocked: Vec::new(),
            classes: tokens.iter().fold(WordClass::NONE, |all, token| all | token.class),
        };
        sentence.cut_clauses();
        sentence.block_clauses(is_question);
        sentence
    }

    pub fn is(&self, index: usize, class: WordClass) -> bool {
        self.tokens.get(index).is_some_and(|token| token.class.is(class))
    }

    pub fn has(&self, class: WordClass) -> bool {
        self.classes.is(class)
    }

    pub fn kind(&self, index: usize) -> Option<TokenKind> {
        self.tokens.get(index).map(|token| token.kind)
    }

    /// Returns whether the token at `index` is this word, in any case, and not a name.
    pub fn says(&self, index: usize, word: &str) -> bool {
        self.tokens.get(index).is_some_and(|token| !token.is_marked && token.text.eq_ignore_ascii_case(word))
    }

    /// Returns whether the token at `index` is one of the words of a list (`one | another`).
    pub fn says_any(&self, index: usize, words: &str) -> bool {
        words.split(" | ").any(|word| self.says(index, word))
    }

    /// Returns whether the tokens from `index` on are these words.
    pub fn reads(&self, index: usize, words: &[&str]) -> bool {
        words.iter().enumerate().all(|(offset, word)| self.says(index + offset, word))
    }

    /// Returns whether the author asserts a statement that spans `start..=end`. The caller handles negations within it.
    pub fn asserts(&self, start: usize, end: usize) -> bool {
        let first = self.clause_of[start];
        let last = self.clause_of[end.min(self.tokens.len() - 1)];
        let blocked = (first..=last).any(|clause| self.blocked[clause]);
        !blocked && !self.is_negated_before(start) && !self.is_answered_no(end)
    }

    /// "Verified: no".
    fn is_answered_no(&self, end: usize) -> bool {
        let answer = end + 2;
        let no =
            self.is(answer, lx::NO | lx::NEGATION) || self.says(answer, "false") || self.says(answer, "n/a");
        self.kind(end + 1) == Some(TokenKind::Colon) && no && answer + 1 == self.tokens.len()
    }

    /// Returns whether a negation precedes `index` in its clause.
    pub fn is_negated_before(&self, index: usize) -> bool {
        self.negations[index] > self.negations[self.clauses[self.clause_of[index]].start]
    }

    /// Returns the first token of the clause of `index`, or the farthest that a statement can reach back.
    pub fn clause_start(&self, index: usize) -> usize {
        self.clauses[self.clause_of[index]].start.max(index.saturating_sub(LOOK_BACK))
    }

    /// Returns the index after the last token of the clause of `index`.
    pub fn clause_end(&self, index: usize) -> usize {
        self.clauses[self.clause_of[index]].end
    }

    fn cut_clauses(&mut self) {
        let mut start = 0;
        let mut opener = ClauseOpener::Nothing;
        for index in 0..self.tokens.len() {
            if let Some(next) = self.boundary(index) {
                if index > start {
                    self.push_clause(start, index, opener);
                }
                opener = if index > start || opener == ClauseOpener::Nothing {
                    next
                } else {
                    opener.max_with(next)
                };
                start = if self.tokens[index].kind == TokenKind::Word { index } else { index + 1 };
            }
            self.clause_of.push(self.clauses.len());
        }
        if start < self.tokens.len() || self.clauses.is_empty() {
            self.push_clause(start.min(self.tokens.len()), self.tokens.len(), opener);
        }
        // Marks between two clauses belong to the one before them.
        let last = self.clauses.len() - 1;
        for clause in &mut self.clause_of {
            *clause = (*clause).min(last);
        }
    }

    fn push_clause(&mut self, start: usize, end: usize, opener: ClauseOpener) {
        let verbs = lx::AUXILIARY
            | lx::MODAL
            | lx::INTENTION
            | lx::WORSENING_VERB
            | lx::CHANGE_VERB
            | lx::FIX_VERB
            | lx::PRODUCTION_VERB
            | lx::VERIFIED
            | lx::FINITE_RESULT;
        let has_verb = (start..end).any(|index| self.is(index, verbs));
        self.clauses.push(SentenceClause { start, end, opener, has_verb });
    }

    fn boundary(&self, index: usize) -> Option<ClauseOpener> {
        let token = &self.tokens[index];
        match token.kind {
            TokenKind::Comma => Some(ClauseOpener::Comma),
            TokenKind::Colon | TokenKind::Break => Some(ClauseOpener::Mark),
            TokenKind::Word if token.class.is(lx::AND) => Some(ClauseOpener::And),
            TokenKind::Word if token.class.is(lx::BUT) => Some(ClauseOpener::But),
            TokenKind::Word if token.class.is(lx::SUBORDINATOR) => Some(ClauseOpener::Because),
            _ => None,
        }
    }

    fn block_clauses(&mut self, is_question: bool) {
        self.blocked = vec![is_question || self.is_wanted() || self.is_crossed_out(); self.clauses.len()];
        let (mut onward, mut added) = (false, false);
        for index in 0..self.clauses.len() {
            let clause = self.clauses[index];
            if clause.opener == ClauseOpener::But {
                onward = false;
            }
            let inherits = !clause.has_verb
                && matches!(clause.opener, ClauseOpener::And | ClauseOpener::Comma)
                && index > 0
                && self.blocked[index - 1];
            added &= clause.opener == ClauseOpener::And;
            let reach = self.markers(clause);
            self.blocked[index] |= onward || added || inherits || reach.is_some();
            onward |= reach == Some(ClauseReach::Onward);
            added |= reach == Some(ClauseReach::Added);
            let far = self.reads(clause.start, &["as", "far", "as"]);
            if reach.is_some() && (clause.opener == ClauseOpener::Comma && self.trails(clause) || far) {
                self.block_back(index, clause.end == self.tokens.len() && clause.end - clause.start <= 6);
            }
        }
    }

    /// Blocks the clause before `index`, or all of them back to a "but".
    fn block_back(&mut self, index: usize, all: bool) {
        for before in (0..index).rev() {
            self.blocked[before] = true;
            if !all || self.clauses[before].opener == ClauseOpener::But {
                break;
            }
        }
    }

    /// Returns whether a clause after a comma is a marker for the clause before it.
    fn trails(&self, clause: SentenceClause) -> bool {
        let first = clause.start;
        self.is(first, CONDITIONS | HEDGES)
            || self.is(first, lx::FIRST_PERSON) && self.is(first + 1, lx::BELIEF_VERB)
            || self.says(first, "as")
            || self.reads(first, &["at", "least"])
            || self.is(first, REPORTS)
            || self.is(clause.end.saturating_sub(1), REPORTS)
    }

    /// Returns the strongest marker of a clause.
    fn markers(&self, clause: SentenceClause) -> Option<ClauseReach> {
        let mut found = None;
        for index in clause.start..clause.end {
            match self.marker(clause, index) {
                Some(ClauseReach::Onward) => return Some(ClauseReach::Onward),
                Some(ClauseReach::Added) => found = Some(ClauseReach::Added),
                Some(ClauseReach::Clause) => found = found.or(Some(ClauseReach::Clause)),
                None => {}
            }
        }
        found
    }

    fn marker(&self, clause: SentenceClause, index: usize) -> Option<ClauseReach> {
        let token = &self.tokens[index];
        if token.kind != TokenKind::Word || token.is_marked {
            return None;
        }
        let first =
            index == clause.start || index == clause.start + 1 && self.is(clause.start, lx::AND | lx::BUT);
        let front = if first { Some(ClauseReach::Onward) } else { Some(ClauseReach::Clause) };
        let class = token.class;
        if class.is(lx::MODAL) {
            return if self.is_polite(index) { None } else { front };
        }
        if class.is(lx::INTENTION) && !self.is_required_check(index) && !self.is_denied_need(index) {
            return Some(ClauseReach::Clause);
        }
        if first && self.is_unreal(index) {
            return Some(ClauseReach::Onward);
        }
        if class.is(HEDGES) {
            let vanished = index > 0 && (self.says(index - 1, "longer") || self.says(index - 1, "not"));
            return if vanished { None } else { front };
        }
        if class.is(lx::WISH_LABEL) && self.is(index + 1, lx::AUXILIARY) && !self.is_reached(index) {
            return Some(ClauseReach::Onward);
        }
        if class.is(lx::BELIEF_VERB) && !self.is_expected_result(index) {
            return Some(ClauseReach::Onward);
        }
        if class.is(CONDITIONS) {
            return self.condition(index, front);
        }
        let is_tool_report = || {
            let from = clause.start.max(index.saturating_sub(3));
            (from..index).any(|at| self.is(at, lx::MEASURING_TOOL)) && !self.is(index + 1, lx::THAT)
        };
        if class.is(REPORTS)
            && !self.is_own_word(clause, index)
            && !self.is_measured(index)
            && !is_tool_report()
        {
            return Some(ClauseReach::Onward);
        }
        if class.is(lx::REQUEST_VERB)
            && first
            && (self.says(index, "please")
                || !self.is(index + 1, lx::TEST | lx::CHECK | lx::AUXILIARY | lx::SUCCESS))
        {
            return Some(ClauseReach::Added);
        }
        self.phrase(index)
    }

    /// Matches markers of several words.
    fn phrase(&self, index: usize) -> Option<ClauseReach> {
        let starts = |phrases: WordClass| phrases.match_length(&self.tokens[index..]).is_some();
        if index == 0 && self.reads(0, &["as", "far", "as"]) {
            return Some(ClauseReach::Onward);
        }
        let was = self.is(index, lx::PAST_ADVERB) && !self.is(index + 1, lx::FAILURE);
        let not_obliged = self.says_any(index, "have | has | had | to")
            && (index.saturating_sub(4)..index).any(|at| self.is(at, lx::NEGATION | lx::NO));
        let points_back = self.reads(index, &["so", "that"]) && self.is(index + 2, lx::FINDING);
        if starts(lx::ONWARD_RETRACTION) && !points_back {
            Some(ClauseReach::Onward)
        } else if starts(lx::CLAUSE_RETRACTION) && !not_obliged || was || self.is(index, lx::EXAMPLE) {
            Some(ClauseReach::Clause)
        } else {
            None
        }
    }

    /// Matches "if", "before" and the like, except in "even if", "the before-run", "before and after", "than before".
    fn condition(&self, index: usize, front: Option<ClauseReach>) -> Option<ClauseReach> {
        let even = index > 0 && (self.says(index - 1, "even") || self.is(index - 1, lx::DETERMINER));
        let both = self.reads(index, &["before", "and", "after"])
            || self.says(index, "before") && index > 0 && self.says(index - 1, "than");
        let committed =
            self.is(index, CONDITIONS) && self.says(index, "before") && self.says(index + 1, "committing");
        // "as before", "what it was before": nothing follows that would have to come first.
        let compares = self.says(index, "before")
            && self.kind(index + 1).is_none_or(|kind| matches!(kind, TokenKind::Comma | TokenKind::Break))
            && index > 0
            && self.says_any(index - 1, "were | was | as | did | they | it | had");
        // "once this is merged and CI is green" has not happened.
        let reaches_on = self.says_any(index, "once | until | unless | if");
        let front =
            if reaches_on && front == Some(ClauseReach::Clause) { Some(ClauseReach::Added) } else { front };
        if even || both || committed || compares { None } else { front }
    }

    /// "the required checks": an adjective, not a plan.
    fn is_required_check(&self, index: usize) -> bool {
        let adjective =
            ["required", "needed", "planned", "pending"].iter().any(|word| self.says(index, word));
        adjective && self.is(index + 1, lx::TEST | lx::CHECK)
    }

    /// "callers will not notice", "need not change", "no changes needed": nobody intends anything.
    fn is_denied_need(&self, index: usize) -> bool {
        let will_not = self.says(index, "will")
            && self.is(index + 1, lx::NEGATION)
            && self
                .says_any(index + 2, "notice | break | see | need | affect | change | require | feel | be");
        let needs = self.says_any(index, "need | needs | needed | require | requires | required");
        let is_denied = index.checked_sub(1).is_some_and(|before| self.is(before, lx::NEGATION))
            || self.is(index + 1, lx::NEGATION | lx::NO)
            || (index.saturating_sub(4)..index).any(|before| self.is(before, lx::NO));
        will_not || needs && is_denied
    }

    /// "Had all tests passed, …", "After all tests pass, we can …": it did not happen, or not yet.
    fn is_unreal(&self, index: usize) -> bool {
        let inverted = index == 0 && (self.says(0, "had") || self.says(0, "were"));
        inverted || self.says(index, "after") && self.has(lx::MODAL | lx::INTENTION)
    }

    /// "can confirm", "could not find": the modal does not weaken the statement.
    fn is_polite(&self, index: usize) -> bool {
        let negated = self.says(index + 1, "not");
        let mut verb = if negated { index + 2 } else { index + 1 };
        verb += usize::from(self.is(verb, lx::ADVERB));
        let can = self.says(index, "can");
        if negated {
            (can || self.says(index, "could")) && self.is(verb, lx::PRODUCTION_VERB)
        } else {
            can && self.is(verb, lx::CONFIRMATION_VERB | REPORTS)
        }
    }

    /// "the acceptance criteria are met": a goal was reached.
    fn is_reached(&self, index: usize) -> bool {
        (index + 2..index + 5).any(|at| self.is(at, lx::REACHED))
            && !(index + 1..index + 5).any(|at| self.is(at, lx::NEGATION))
    }

    /// "according to the structural check": reports a measurement, not a person.
    fn is_measured(&self, index: usize) -> bool {
        self.reads(index, &["according", "to"])
            && (index + 2..index + 6)
                .take_while(|&at| self.kind(at) == Some(TokenKind::Word))
                .any(|at| self.is(at, lx::CHECK | lx::CI | lx::TEST | lx::MEASURING_TOOL))
    }

    /// "as expected" neither promises nor weakens anything.
    fn is_expected_result(&self, index: usize) -> bool {
        index > 0 && (self.says(index - 1, "as") || self.is(index - 1, lx::NO))
    }

    /// Returns whether a verb of saying is the author's own, a passive participle, or a noun.
    fn is_own_word(&self, clause: SentenceClause, index: usize) -> bool {
        let before = clause.start.max(index.saturating_sub(LOOK_BACK))..index;
        let told = index > 0 && ["was", "were", "been"].iter().any(|word| self.says(index - 1, word));
        let own = before.clone().rev().take(4).any(|at| self.is(at, lx::FIRST_PERSON)) && !told;
        let passive =
            before.clone().any(|at| self.is(at, lx::NO | lx::NOTHING | lx::NEGATION | lx::AUXILIARY))
                && self.is(index, lx::PRESENCE);
        let noun = index > 0 && self.is(index - 1, lx::DETERMINER) && !self.is(index + 1, lx::THAT);
        // "I said that all tests pass" tells of an earlier statement, often a wrong one.
        let own = own && !self.says_any(index, "said | claimed | wrote | stated");
        own || passive || noun && !self.says(index, "claim")
    }

    /// "TODO: …", "Goal: …": what follows is wanted, not asserted.
    fn is_wanted(&self) -> bool {
        let colon = self.tokens.iter().take(4).position(|token| token.kind == TokenKind::Colon);
        let is_wish = |index| self.is(index, lx::WISH_LABEL);
        // A test plan says what was tested.
        let is_test_plan = |colon: usize| (0..colon).any(|index| self.is(index, lx::TEST));
        let label = colon.is_some_and(|colon| (0..colon).any(is_wish) && !is_test_plan(colon));
        label || self.says(0, "todo") || self.says(0, "fixme")
    }

    fn is_crossed_out(&self) -> bool {
        self.tokens.iter().any(|token| token.class.is(lx::MARK) && token.class.is(lx::FAILURE))
    }
}

impl ClauseOpener {
    /// Returns the stronger of two consecutive marks: ", but" is a "but".
    fn max_with(self, other: Self) -> Self {
        if other == Self::Comma { self } else { other }
    }
}
