//! Rules for the claims of a sentence. The first rule that matches wins; a sentence that matches no rule claims
//! nothing.
//!
//! Rules see words, never raw text, and return the author's own words: a summary is a piece of the sentence, with its
//! negations, numbers and names unchanged.
//!
//! * `clauses`: where a sentence is split. `labels`: headings and labels. `answers`: short answers to the turn before.
//! * `decisions`, `constraints`, `goals`; `work`: tasks and their results; `facts`: findings and statements.
//! * `values`: another value for something known. `withdrawals`: what does not hold any longer. `unasserted`: ideas, choices
//!   and requests. `speech`: the words of a summary.

mod answers;
mod clauses;
mod constraints;
mod decisions;
mod facts;
mod goals;
mod labels;
mod speech;
mod unasserted;
mod values;
mod withdrawals;
mod work;

use super::Role;
use super::claims::TurnClaim;
use super::dialog::DialogContext;
use super::topics::TopicBlock;
use clauses::{RuleClause, clauses};
use probity_prose::lexicon::{self as lx, PhraseSet, contains, is_among, position_of, starts_with, strip};
use probity_prose::markdown::BlockForm;
use probity_prose::modality::Modality;
use probity_prose::sentences::Sentence;
use probity_prose::words::{Word, strip_openers};

/// A sentence, and what it claims: each claim is a list of readings, of which the first that finds its target wins.
pub(super) struct ReadSentence {
    pub(super) sentence: Sentence,
    pub(super) claims: Vec<Vec<TurnClaim>>,
    /// The person at the keyboard said it.
    pub(super) is_user: bool,
    /// It stands in a list of answers to the questions of the turn before.
    pub(super) is_answer: bool,
}

/// Whether the sentences around one doubt it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SentenceDoubt {
    /// The next one takes it back or doubts it.
    pub(super) by_next: bool,
    /// The one before is an idea that this one only elaborates.
    pub(super) by_previous: bool,
}

/// Returns whether a sentence only puts an idea forward, so that the next one elaborates it.
pub(super) fn is_idea(sentence: &Sentence) -> bool {
    let words = strip_openers(&sentence.words);
    strip(words, lx::IDEA_START).is_some() && (sentence.is_question || Modality::of(sentence).is_hedged)
}

pub(super) use answers::numbered_answer;
pub(super) use facts::is_finite;
pub(super) use unasserted::asked_choice;
pub(super) use work::{ends_work, tells_cause};

/// Returns all claims of a sentence, in order.
pub(super) fn claims(
    sentence: &Sentence,
    block: &TopicBlock,
    role: Role,
    doubt: SentenceDoubt,
    context: &DialogContext,
) -> Vec<Vec<TurnClaim>> {
    let main = without_comment(sentence);
    let sentence = main.as_ref().unwrap_or(sentence);
    let planned = (role == Role::Assistant).then(|| work_of_thought(sentence)).flatten();
    let mut modality = Modality::of(planned.as_ref().unwrap_or(sentence));
    modality.is_question &= !(role == Role::User && only_seeks_assent(sentence));
    modality.is_hedged |= doubt.by_next;
    let is_concrete = sentence.words.iter().any(|word| word.lower.contains(|c: char| c.is_ascii_digit()));
    let commits =
        contains(&sentence.words, "let us | let me | we will | i will | decided | so | please | must");
    modality.is_hedged |= doubt.by_previous && !is_concrete && !commits;
    modality.is_conditional &= behind_occasion(strip_openers(&sentence.words)).is_none();
    let reader = RuleReader { sentence, modality, role, context };
    // A sentence that announces a list claims nothing itself, except that something is done.
    if block.form == BlockForm::Paragraph && sentence.text.ends_with([':', '：']) {
        let is_done = |claim: &TurnClaim| {
            matches!(claim, TurnClaim::Done(_) | TurnClaim::AllDone | TurnClaim::AskedWorkDone)
        };
        let done = |clause| reader.clause(clause).into_iter().filter(is_done).collect();
        return clauses(&sentence.words, &sentence.text, false).into_iter().map(done).collect();
    }
    if let Some(listed) = reader.listed() {
        return listed.into_iter().map(|claim| vec![claim]).collect();
    }
    if let BlockForm::CheckBox { done } = block.form {
        let text = reader.said(&sentence.words);
        return vec![vec![if done { TurnClaim::Done(text) } else { TurnClaim::Task(text) }]];
    }
    if let Some(topic) = block.topic.filter(|_| block.form == BlockForm::Item) {
        return vec![reader.under(topic).into_iter().collect()];
    }
    let words = what_holds(&sentence.words);
    let is_asserted = reader.modality.is_asserted();
    if let Some((mut claims, rest)) = reader.answered(words) {
        claims.extend(
            clauses(rest, &sentence.text, is_asserted).into_iter().map(|clause| reader.clause(clause)),
        );
        return claims;
    }
    if let Some(claim) = reader.declined(words) {
        return vec![vec![claim]];
    }
    if let Some(answer) = reader.answer_with_reason() {
        return vec![vec![answer]];
    }
    clauses(words, &sentence.text, is_asserted).into_iter().map(|clause| reader.clause(clause)).collect()
}

/// Returns a rule without the remark about it: "a tenant must never see that, it's the one thing that would kill us".
fn without_comment(sentence: &Sentence) -> Option<Sentence> {
    let words = &sentence.words;
    let is_comment = |at: &usize| {
        words[at - 1].paused && strip(&words[*at..], "that is | that would | it is | that was").is_some()
    };
    let at = (4..words.len()).find(is_comment)?;
    let is_rule = contains(&words[..at], "must | never | always | has to | have to");
    if !is_rule || Modality::of(sentence).is_asserted() {
        return None;
    }
    let end = words[at - 1].place.end;
    let text = sentence.text.get(..end)?;
    let length = sentence.range.len().min(end);
    let main = Sentence::new(text, sentence.range.start..sentence.range.start + length);
    Modality::of(&main).is_asserted().then_some(main)
}

/// "After the talk with Anna we settled on one repository": when it was decided is no condition.
fn behind_occasion(words: &[Word]) -> Option<&[Word]> {
    const MAX_OCCASION_WORDS: usize = 10;
    strip(words, "after | in | at | during")?;
    let at = position_of(
        words,
        "we settled on | we decided | we agreed | we chose | we picked | i decided | we have decided | we have agreed",
    )?;
    (at <= MAX_OCCASION_WORDS).then(|| &words[at..])
}

/// "I'll list the resources, then propose which go where": what an agent promises to think over is work, and no doubt.
fn work_of_thought(sentence: &Sentence) -> Option<Sentence> {
    let is_thought =
        |word: &Word| is_among("propose | suggest | recommend | evaluate | explore | consider", &word.lower);
    strip(strip_openers(&sentence.words), "i will | i am going to | let me | i will now | i will also")?;
    let mut planned = sentence.clone();
    for word in planned.words.iter_mut().filter(|word| is_thought(word)) {
        "write".clone_into(&mut word.lower);
    }
    Some(planned)
}

/// "Nothing of it leaves this machine, ok?": a statement, whatever the tag.
fn only_seeks_assent(sentence: &Sentence) -> bool {
    let [before @ .., tag] = sentence.words.as_slice() else { return false };
    is_among("ok | okay | alright", &tag.lower)
        && before.last().is_some_and(|word| word.paused)
        && before.len() >= 3
        && !contains(
            &before[..3],
            "can | could | should | shall | is | are | do | does | would | will | what | how | why",
        )
}

/// Returns the words after the last correction: "rename it, no wait, keep the name".
fn what_holds(words: &[Word]) -> &[Word] {
    let held = |at: usize| strip(&words[at..], lx::SECOND_THOUGHT).filter(|_| words[at - 1].paused);
    (1..words.len()).rev().find_map(held).unwrap_or(words)
}

struct RuleReader<'s> {
    sentence: &'s Sentence,
    modality: Modality,
    role: Role,
    context: &'s DialogContext,
}

impl RuleReader<'_> {
    /// Returns the possible claims of a clause, likeliest first.
    fn clause(&self, clause: RuleClause<'_>) -> Vec<TurnClaim> {
        let all = clause.words;
        let words = self.behind_reaction(strip_openers(all));
        let words = behind_occasion(words).unwrap_or(words);
        if words.is_empty()
            || strip(words, lx::OPENER).is_some_and(<[Word]>::is_empty)
                && self.withdrawal(all, words).is_none()
        {
            return Vec::new();
        }
        if let Some(branch) = self.branch(words) {
            return vec![branch];
        }
        if let Some(verdict) = self.verdict_on_named(words) {
            return vec![verdict];
        }
        if !self.modality.is_asserted() && !self.is_before_condition(all) {
            return self.unasserted(words).into_iter().collect();
        }
        if clause.continues {
            return vec![TurnClaim::Task(self.said(words))];
        }
        if let Some(verdict) = self.verdict_on_named(words) {
            return vec![verdict];
        }
        if let Some(labeled) = self.labeled(words) {
            return vec![labeled];
        }
        if let Some(readings) = self.settled_with_then(words) {
            return readings;
        }
        // The first ones need a known item; without one, the sentence makes another claim.
        let about_known = [
            self.short_answer(words),
            self.ruled_out(words),
            self.value_alone(words),
            self.moved_date(words),
            self.bound_alone(words),
            self.contrast(words),
            self.renamed_value(words),
            self.preference_over(words),
            self.dropped(words),
            self.left_alone(words),
            self.postponed(words),
            self.permission(words),
            self.lifted_ban(words),
            self.kept_as_is(words),
            self.still_needed(words),
            self.refuted(words),
            self.refuted_by_trial(words),
            self.relapse(words),
            self.named_otherwise(words),
            self.outdated(words),
            self.withdrawal(all, words),
            self.reopening(words),
            self.reached(words),
            self.done_ranks(words),
            self.all_done(words),
            self.done(words),
            self.report(words),
            self.bare_done(words),
        ];
        let on_its_own = self
            .prohibition(words)
            .or_else(|| self.settled(words))
            .or_else(|| self.constraint(words))
            .or_else(|| self.goal(words))
            .or_else(|| self.task_asked_for(words))
            .or_else(|| self.begun(words))
            .or_else(|| self.decision(words))
            .or_else(|| self.task(words))
            .or_else(|| self.answer_to_choice(words))
            .or_else(|| self.fact(words).map(|fact| self.settled_if_asked(fact)))
            .or_else(|| self.settled_by_fragment(words))
            .or_else(|| self.answer(words));
        let contrast = self.stated_contrast(words);
        about_known.into_iter().flatten().chain(contrast).chain(on_its_own).collect()
    }

    /// "Fine, take which": a user's reaction in front says nothing of its own.
    fn behind_reaction<'w>(&self, words: &'w [Word]) -> &'w [Word] {
        let reaction = strip(words, lx::FILLER | lx::ACCEPTANCE)
            .filter(|rest| !rest.is_empty() && words[words.len() - rest.len() - 1].paused);
        if self.role == Role::User { reaction.map_or(words, strip_openers) } else { words }
    }

    /// Returns whether a clause stands before another one that alone holds on a condition: "no panics here, log it if the
    /// header is missing". A condition at the front applies to everything behind it.
    fn is_before_condition(&self, clause: &[Word]) -> bool {
        let unconditional = Modality { is_conditional: false, ..self.modality };
        let all = &self.sentence.words;
        let (Some(first), Some(last)) = (clause.first(), clause.last()) else { return false };
        let begins =
            all.first().is_some_and(|word| word.place == first.place) || self.begins_sentence(clause);
        let conditions = lx::CONDITION | lx::SENTENCE_CONDITION;
        unconditional.is_asserted()
            && begins
            && last.paused
            && clause.len() < all.len()
            && !contains(clause, conditions)
            && !starts_with(strip_openers(clause), lx::OPENING_CONDITION)
    }

    /// Returns whether the sentence says that it changes an earlier statement.
    fn revises(&self) -> bool {
        self.has(lx::REVISION)
    }

    /// Returns whether the sentence contains one of the phrases.
    fn has(&self, phrases: impl PhraseSet) -> bool {
        contains(&self.sentence.words, phrases)
    }
}

/// Returns whether the words are exactly one of `phrases`.
fn is_whole(words: &[Word], phrases: impl PhraseSet) -> bool {
    phrases.match_length(words) == Some(words.len())
}

/// Returns whether the words after a verb are its object: "port 8080 is taken" is not an order.
fn is_order(object: &[Word]) -> bool {
    !object.iter().take(3).any(|word| {
        is_among(
            "is | are | was | were | has | takes | goes | went | comes | came | needs | wants | fails | must",
            &word.lower,
        )
    })
}
