//! A sentence with its clauses, and which of them its author stands behind.
//!
//! A statement counts only if it is asserted. Questions, requests, wishes, plans, guesses, conditions, the past and
//! the words of other people are not. Each such marker blocks its own clause; those that reach further (if …, I think …,
//! Bob says …) block what follows as well, up to a "but".

use super::lex::{Kind, RawSentence, Token};
use super::lexicon::{self as lx, Class};

/// How far back a word can take part in a statement. It keeps the time linear in clauses without an end.
const LOOK_BACK: usize = 24;

/// A clause: the tokens between two boundaries.
#[derive(Debug, Clone, Copy)]
struct Clause {
    start: usize,
    end: usize,
    opener: Opener,
    has_verb: bool,
}

/// What stands in front of a clause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Opener {
    Nothing,
    Comma,
    And,
    But,
    Because,
    Mark,
}

/// How far a marker reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// Only its clause.
    Clause,
    /// Its clause, and what "and" adds to it.
    Added,
    /// Its clause and what follows.
    Onward,
}

/// Phrases that take back what follows as well.
const ONWARD: &[&[&str]] = &[
    &["not", "sure"],
    &["not", "certain"],
    &["not", "confident"],
    &["not", "know"],
    &["not", "mean"],
    &["not", "confirm"],
    &["not", "guarantee"],
    &["not", "verify"],
    &["not", "say"],
    &["not", "true"],
    &["not", "clear"],
    &["pretty", "sure"],
    &["fairly", "sure"],
    &["fairly", "confident"],
    &["pretty", "confident"],
    &["reasonably", "confident"],
    &["reasonably", "sure"],
    &["no", "idea"],
    &["no", "guarantee"],
    &["no", "claim"],
    &["no", "proof"],
    &["far", "from"],
    &["per", "the"],
    &["required", "that"],
    &["required", "to"],
    &["important", "that"],
    &["necessary", "that"],
    &["essential", "that"],
    &["crucial", "that"],
    &["vital", "that"],
    &["imperative", "that"],
    &["in", "order", "to"],
    &["so", "that"],
    &["as", "long"],
    &["so", "long"],
    &["in", "case"],
    &["as", "soon"],
    &["the", "claim"],
    &["on", "condition"],
    &["in", "theory"],
    &["yet", "to"],
    &["to", "my", "knowledge"],
    &["to", "the", "best"],
    &["would", "like"],
    &["such", "as"],
    &["instead", "of"],
    &["rather", "than"],
    &["up", "to", "you"],
];

/// Phrases that take back their clause.
const HERE: &[&[&str]] = &[
    &["as", "far", "as"],
    &["used", "to"],
    &["have", "to"],
    &["has", "to"],
    &["had", "to"],
    &["is", "to"],
    &["are", "to"],
    &["to", "be"],
    &["to", "make"],
    &["to", "get"],
    &["to", "ensure"],
    &["to", "keep"],
    &["to", "have"],
    &["to", "see"],
    &["to", "verify"],
    &["to", "confirm"],
    &["for", "example"],
    &["for", "instance"],
    &["about", "to"],
    &["prior", "to"],
    &["more", "or", "less"],
    &["at", "best"],
];

/// A sentence that can be asked what it asserts.
pub(super) struct Sentence<'s, 'a> {
    pub(super) tokens: &'s [Token<'a>],
    clauses: Vec<Clause>,
    /// The clause of each token.
    clause_of: Vec<usize>,
    /// The number of negations before each token, in the whole sentence.
    negations: Vec<usize>,
    blocked: Vec<bool>,
    /// The classes of all its words.
    classes: Class,
}

impl<'s, 'a> Sentence<'s, 'a> {
    pub(super) fn new(raw: &'s RawSentence<'a>) -> Self {
        let mut sentence = Self {
            tokens: &raw.tokens,
            clauses: Vec::new(),
            clause_of: Vec::with_capacity(raw.tokens.len()),
            negations: vec![0; raw.tokens.len() + 1],
            blocked: Vec::new(),
            classes: raw.tokens.iter().fold(Class::NONE, |all, token| all | token.class),
        };
        sentence.cut_clauses();
        sentence.count_negations();
        sentence.block_clauses(raw.is_question);
        sentence
    }

    pub(super) fn is(&self, index: usize, class: Class) -> bool {
        self.tokens.get(index).is_some_and(|token| token.class.is(class))
    }

    /// Whether any word of the sentence has one of these classes.
    pub(super) fn has(&self, class: Class) -> bool {
        self.classes.is(class)
    }

    pub(super) fn kind(&self, index: usize) -> Option<Kind> {
        self.tokens.get(index).map(|token| token.kind)
    }

    pub(super) fn says(&self, index: usize, word: &str) -> bool {
        self.tokens.get(index).is_some_and(|token| !token.marked && token.text.eq_ignore_ascii_case(word))
    }

    /// Whether the tokens from `index` on are these words.
    pub(super) fn reads(&self, index: usize, words: &[&str]) -> bool {
        words.iter().enumerate().all(|(offset, word)| self.says(index + offset, word))
    }

    /// Whether the author stands behind a statement that spans `start..=end`, which takes its own negations into
    /// account.
    pub(super) fn asserts(&self, start: usize, end: usize) -> bool {
        let first = self.clause_of[start];
        let last = self.clause_of[end.min(self.tokens.len() - 1)];
        let blocked = (first..=last).any(|clause| self.blocked[clause]);
        !blocked && !self.is_negated_before(start) && !self.is_answered_no(end)
    }

    /// "Verified: no".
    fn is_answered_no(&self, end: usize) -> bool {
        let answer = end + 2;
        let no = self.is(answer, lx::NO | lx::NEG) || self.says(answer, "false") || self.says(answer, "n/a");
        self.kind(end + 1) == Some(Kind::Colon) && no && answer + 1 == self.tokens.len()
    }

    /// Whether a negation stands before `index` in its clause.
    pub(super) fn is_negated_before(&self, index: usize) -> bool {
        self.negations[index] > self.negations[self.clauses[self.clause_of[index]].start]
    }

    /// The first token of the clause of `index`, or as far back as a statement can reach.
    pub(super) fn clause_start(&self, index: usize) -> usize {
        self.clauses[self.clause_of[index]].start.max(index.saturating_sub(LOOK_BACK))
    }

    /// The token behind the clause of `index`.
    pub(super) fn clause_end(&self, index: usize) -> usize {
        self.clauses[self.clause_of[index]].end
    }

    fn cut_clauses(&mut self) {
        let mut start = 0;
        let mut opener = Opener::Nothing;
        for index in 0..self.tokens.len() {
            if let Some(next) = self.boundary(index) {
                if index > start {
                    self.push_clause(start, index, opener);
                }
                opener =
                    if index > start || opener == Opener::Nothing { next } else { opener.max_with(next) };
                start = if self.tokens[index].kind == Kind::Word { index } else { index + 1 };
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

    fn push_clause(&mut self, start: usize, end: usize, opener: Opener) {
        const FINITE: &[&str] =
            &["pass", "passes", "passed", "fail", "fails", "failed", "succeed", "succeeds", "succeeded"];
        let verbs =
            lx::AUX | lx::MODAL | lx::FUTURE | lx::WORSEN | lx::TOUCH | lx::FIX | lx::BRING | lx::VERIFIED;
        let has_verb = (start..end)
            .any(|index| self.is(index, verbs) || FINITE.iter().any(|word| self.says(index, word)));
        self.clauses.push(Clause { start, end, opener, has_verb });
    }

    fn boundary(&self, index: usize) -> Option<Opener> {
        let token = &self.tokens[index];
        match token.kind {
            Kind::Comma => Some(Opener::Comma),
            Kind::Colon | Kind::Break => Some(Opener::Mark),
            Kind::Word if token.class.is(lx::AND) => Some(Opener::And),
            Kind::Word if token.class.is(lx::BUT) => Some(Opener::But),
            Kind::Word if token.class.is(lx::BECAUSE) => Some(Opener::Because),
            _ => None,
        }
    }

    fn count_negations(&mut self) {
        for index in 0..self.tokens.len() {
            let negates = self.is(index, lx::NEG) && !self.reads(index, &["not", "only"])
                || self.is(index, lx::UNABLE)
                || self.is(index, lx::FAIL) && self.is(index + 1, lx::TO);
            self.negations[index + 1] = self.negations[index] + usize::from(negates);
        }
    }

    fn block_clauses(&mut self, is_question: bool) {
        self.blocked = vec![is_question || self.is_wanted() || self.is_crossed_out(); self.clauses.len()];
        let (mut onward, mut added) = (false, false);
        for index in 0..self.clauses.len() {
            let clause = self.clauses[index];
            if clause.opener == Opener::But {
                onward = false;
            }
            let inherits = !clause.has_verb
                && matches!(clause.opener, Opener::And | Opener::Comma)
                && index > 0
                && self.blocked[index - 1];
            added &= clause.opener == Opener::And;
            let reach = self.markers(clause);
            self.blocked[index] |= onward || added || inherits || reach.is_some();
            onward |= reach == Some(Reach::Onward);
            added |= reach == Some(Reach::Added);
            let far = self.reads(clause.start, &["as", "far", "as"]);
            if reach.is_some() && (clause.opener == Opener::Comma && self.trails(clause) || far) {
                self.block_back(index, clause.end == self.tokens.len() && clause.end - clause.start <= 6);
            }
        }
    }

    /// Blocks the clause before `index`, or all of them back to a "but".
    fn block_back(&mut self, index: usize, all: bool) {
        for before in (0..index).rev() {
            self.blocked[before] = true;
            if !all || self.clauses[before].opener == Opener::But {
                break;
            }
        }
    }

    /// Whether a clause behind a comma begins with a marker and so speaks of the clause before it.
    fn trails(&self, clause: Clause) -> bool {
        let first = clause.start;
        self.is(first, lx::CONDITION | lx::MAYBE)
            || self.is(first, lx::SELF) && self.is(first + 1, lx::BELIEF)
            || self.says(first, "as")
            || self.reads(first, &["at", "least"])
            || self.is(first, lx::REPORT)
            || self.is(clause.end.saturating_sub(1), lx::REPORT)
    }

    /// The strongest marker of a clause.
    fn markers(&self, clause: Clause) -> Option<Reach> {
        let mut found = None;
        for index in clause.start..clause.end {
            match self.marker(clause, index) {
                Some(Reach::Onward) => return Some(Reach::Onward),
                Some(Reach::Added) => found = Some(Reach::Added),
                Some(Reach::Clause) => found = found.or(Some(Reach::Clause)),
                None => {}
            }
        }
        found
    }

    fn marker(&self, clause: Clause, index: usize) -> Option<Reach> {
        let token = &self.tokens[index];
        if token.kind != Kind::Word || token.marked {
            return None;
        }
        let first =
            index == clause.start || index == clause.start + 1 && self.is(clause.start, lx::AND | lx::BUT);
        let front = if first { Some(Reach::Onward) } else { Some(Reach::Clause) };
        let class = token.class;
        if class.is(lx::MODAL) {
            return if self.is_polite(index) { None } else { front };
        }
        if class.is(lx::FUTURE) && !self.is_required_check(index) {
            return Some(Reach::Clause);
        }
        if first && self.is_unreal(index) {
            return Some(Reach::Onward);
        }
        if class.is(lx::MAYBE) {
            let vanished = index > 0 && (self.says(index - 1, "longer") || self.says(index - 1, "not"));
            return if vanished { None } else { front };
        }
        if class.is(lx::WANTED) && self.is(index + 1, lx::AUX) && !self.is_reached(index) {
            return Some(Reach::Onward);
        }
        if class.is(lx::BELIEF) && !self.is_expected_result(index) {
            return Some(Reach::Onward);
        }
        if class.is(lx::CONDITION) {
            return self.condition(index, front);
        }
        if class.is(lx::REPORT) && !self.is_own_word(clause, index) && !self.is_measured(index) {
            return Some(Reach::Onward);
        }
        if class.is(lx::REQUEST) && first && !self.is(index + 1, lx::TEST | lx::CHECK | lx::AUX | lx::PASS) {
            return Some(Reach::Added);
        }
        self.phrase(index)
    }

    /// Markers of several words.
    fn phrase(&self, index: usize) -> Option<Reach> {
        let begins = self.is(index, lx::PHRASE);
        let starts = |phrases: &[&[&str]]| begins && phrases.iter().any(|phrase| self.reads(index, phrase));
        if index == 0 && self.reads(0, &["as", "far", "as"]) {
            return Some(Reach::Onward);
        }
        let was = self.is(index, lx::PAST) && !self.is(index + 1, lx::FAIL);
        if starts(ONWARD) {
            Some(Reach::Onward)
        } else if starts(HERE) || was || self.is(index, lx::MENTION) {
            Some(Reach::Clause)
        } else {
            None
        }
    }

    /// "if", "before" and their like; what they leave alone: "even if", "the before-run", "before and after",
    /// "than before".
    fn condition(&self, index: usize, front: Option<Reach>) -> Option<Reach> {
        let even = index > 0 && (self.says(index - 1, "even") || self.is(index - 1, lx::DET));
        let both = self.reads(index, &["before", "and", "after"])
            || self.says(index, "before") && index > 0 && self.says(index - 1, "than");
        let committed =
            self.is(index, lx::CONDITION) && self.says(index, "before") && self.says(index + 1, "committing");
        if even || both || committed { None } else { front }
    }

    /// "the required checks": an adjective, and no plan.
    fn is_required_check(&self, index: usize) -> bool {
        let adjective =
            ["required", "needed", "planned", "pending"].iter().any(|word| self.says(index, word));
        adjective && self.is(index + 1, lx::TEST | lx::CHECK)
    }

    /// "Had all tests passed, …", "After all tests pass, we can …": what did not or has not yet happened.
    fn is_unreal(&self, index: usize) -> bool {
        let inverted = index == 0 && (self.says(0, "had") || self.says(0, "were"));
        inverted || self.says(index, "after") && self.has(lx::MODAL | lx::FUTURE)
    }

    /// "can confirm", "could not find": the modal takes nothing back.
    fn is_polite(&self, index: usize) -> bool {
        let negated = self.says(index + 1, "not");
        let mut verb = if negated { index + 2 } else { index + 1 };
        verb += usize::from(self.is(verb, lx::ADVERB));
        let can = self.says(index, "can");
        if negated {
            (can || self.says(index, "could")) && self.is(verb, lx::BRING)
        } else {
            can && self.is(verb, lx::CONFIRM | lx::REPORT)
        }
    }

    /// "the acceptance criteria are met": what was wanted is there.
    fn is_reached(&self, index: usize) -> bool {
        const REACHED: &[&str] = &["met", "fulfilled", "satisfied", "reached", "achieved", "done"];
        (index + 2..index + 5).any(|at| REACHED.iter().any(|word| self.says(at, word)))
            && !(index + 1..index + 5).any(|at| self.is(at, lx::NEG))
    }

    /// "according to the structural check": the word of a measurement, and of nobody else.
    fn is_measured(&self, index: usize) -> bool {
        const TOOLS: &[&str] = &["probity", "analysis", "analyser", "analyzer", "linter"];
        self.reads(index, &["according", "to"])
            && (index + 2..index + 6).take_while(|&at| self.kind(at) == Some(Kind::Word)).any(|at| {
                self.is(at, lx::CHECK | lx::CI | lx::TEST) || TOOLS.iter().any(|word| self.says(at, word))
            })
    }

    /// "as expected" promises nothing and takes nothing back.
    fn is_expected_result(&self, index: usize) -> bool {
        index > 0 && (self.says(index - 1, "as") || self.is(index - 1, lx::NO))
    }

    /// Whether a verb of saying is the author's own, or a participle behind what it speaks of.
    fn is_own_word(&self, clause: Clause, index: usize) -> bool {
        let before = clause.start.max(index.saturating_sub(LOOK_BACK))..index;
        let told = index > 0 && ["was", "were", "been"].iter().any(|word| self.says(index - 1, word));
        let own = before.clone().rev().take(4).any(|at| self.is(at, lx::SELF)) && !told;
        let passive = before.clone().any(|at| self.is(at, lx::NO | lx::NOTHING | lx::NEG | lx::AUX))
            && self.is(index, lx::PRESENT);
        let noun = index > 0 && self.is(index - 1, lx::DET) && !self.is(index + 1, lx::THAT);
        own || passive || noun && !self.says(index, "claim")
    }

    /// "TODO: …", "Goal: …": what follows is wanted, not said.
    fn is_wanted(&self) -> bool {
        let colon = self.tokens.iter().take(4).position(|token| token.kind == Kind::Colon);
        let label = colon.is_some_and(|colon| (0..colon).any(|index| self.is(index, lx::WANTED)));
        label || self.says(0, "todo") || self.says(0, "fixme")
    }

    fn is_crossed_out(&self) -> bool {
        self.tokens.iter().any(|token| token.class.is(lx::MARK) && token.class.is(lx::FAIL))
    }
}

impl Opener {
    /// Of two marks in a row, the one that says more: ", but" is a "but".
    fn max_with(self, other: Self) -> Self {
        if other == Self::Comma { self } else { other }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_phrase_begins_with_a_word_that_says_so() {
        for phrase in ONWARD.iter().chain(HERE) {
            assert!(lx::class_of(phrase[0]).is(lx::PHRASE), "{phrase:?}");
        }
    }
}
