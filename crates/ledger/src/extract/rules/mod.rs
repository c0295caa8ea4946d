//! Rules for the claims of a sentence. The first rule that matches wins; a sentence that matches no rule claims
//! nothing.
//!
//! Rules see words, never raw text, and return the author's own words: a summary is a piece of the sentence, with its
//! negations, numbers and names unchanged.
//!
//! * `answers`: short answers to the turn before. `unasserted`: ideas, choices and requests. `commitments`: decisions, constraints, goals.
//! * `work`: tasks and their results. `facts`: findings and statements. `speech`: the words of a summary.

mod answers;
mod commitments;
mod facts;
mod speech;
mod unasserted;
mod work;

use super::Role;
use super::claims::TurnClaim;
use super::dialog::DialogContext;
use super::topics::{BlockTopic, TopicBlock};
use crate::vocabulary::ConfidenceLevel;
use probity_prose::lexicon::{
    self as lx, PhraseSet, contains, is_among, position_after, position_of, starts_with, strip,
};
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
    let mut modality = Modality::of(sentence);
    modality.is_question &= !(role == Role::User && only_seeks_assent(sentence));
    modality.is_hedged |= doubt.by_next;
    let is_concrete = sentence.words.iter().any(|word| word.lower.contains(|c: char| c.is_ascii_digit()));
    let commits =
        contains(&sentence.words, "let us | let me | we will | i will | decided | so | please | must");
    modality.is_hedged |= doubt.by_previous && !is_concrete && !commits;
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

/// A part of a sentence that may make a claim of its own.
#[derive(Clone, Copy)]
struct RuleClause<'s> {
    words: &'s [Word],
    /// It continues the clause before: "I'll write it and *set up CI*".
    continues: bool,
}

/// The most clauses of a sentence that are read one by one; the last one has the rest. Every clause looks at the whole
/// sentence, so a bound keeps the time linear in its length.
const MAX_CLAUSES: usize = 12;

/// The most words around a joint that decide whether another clause begins there.
const MAX_CLAUSE_WORDS: usize = 24;

/// Splits a sentence where another clause with its own claim begins.
fn clauses<'w>(words: &'w [Word], text: &str, is_asserted: bool) -> Vec<RuleClause<'w>> {
    let mut cuts = vec![(0, false)];
    let is_work = strip(strip_openers(words), lx::WORK_START).is_some();
    let own = strip_openers(words);
    let is_report =
        strip(strip(own, "i have | we have | i | we").unwrap_or(own), lx::WORK_PARTICIPLE).is_some();
    let is_choice = contains(words, "or | either | if | shall | should");
    for at in 1..words.len() {
        let rest = &words[at..];
        let joined = strip(rest, "and | but | so | then");
        let starts = |rest: &[Word]| strip(rest, lx::CLAUSE_START).is_some();
        let is_new = if words[at - 1].paused {
            starts(rest) || joined.is_some_and(starts)
        } else {
            joined.is_some_and(|rest| {
                strip(rest, "let us | we will | i will | please | nobody | no one | nothing").is_some()
            })
        };
        let is_new = is_new || !is_choice && words[at - 1].paused && begins_order(joined.unwrap_or(rest));
        let continues = is_work
            && (strip(rest, "and").is_some_and(|rest| strip(rest, lx::WORK_VERB).is_some())
                || words[at - 1].paused
                    && strip(rest, "then | and then").is_some_and(|rest| {
                        strip(rest, lx::WORK_VERB).is_some_and(|object| !object.is_empty())
                    })
                || words[at - 1].paused && strip(rest, lx::WORK_VERB).is_some_and(|object| object.len() > 1));
        let is_new = is_new
            || is_report && strip(rest, "and").is_some_and(|rest| strip(rest, lx::WORK_PARTICIPLE).is_some());
        if (is_new || continues)
            && (at - cuts.last().map_or(0, |cut| cut.0) > 1
                || is_new && at == 1 && is_order_alone(&words[0]) && begins_order(rest))
        {
            cuts.push((at, continues && !is_new));
        }
    }
    cuts.extend(cuts_of_reports(words).chain(cuts_of_rules(words)));
    cuts.extend(cut_behind_report(words, text));
    cuts.extend(cut_behind_ban(words));
    cuts.extend(cuts_of_listed_facts(words, text));
    cuts.extend(cuts_before_but(words).filter(|_| is_asserted));
    cuts.extend(cut_before_explanation(words, text));
    cuts.extend(cut_before_conditional_order(words));
    cuts.extend(cut_before_choice(words));
    cuts.sort_unstable();
    cuts.dedup_by_key(|cut| cut.0);
    cuts.truncate(MAX_CLAUSES);
    let ends = cuts.iter().skip(1).map(|cut| cut.0).chain([words.len()]);
    cuts.iter()
        .zip(ends)
        .map(|(&(start, continues), end)| RuleClause { words: &words[start..end], continues })
        .collect()
}

/// "Fix, add the table as tests": one word that orders by itself.
fn is_order_alone(word: &Word) -> bool {
    is_among("fix | merge | commit | deploy | ship | revert | go | done | yes | ok", &word.lower)
}

/// "mark the old one as deprecated": a verb in its base form and the beginning of an object.
fn begins_order(words: &[Word]) -> bool {
    let words = strip(words, "also | please | just | then | maybe also").unwrap_or(words);
    let (Some(verb), Some(object)) = (words.first(), words.get(1)) else { return false };
    let is_object = is_among(lx::DETERMINER, &object.lower)
        || is_among("it | them | both | all | every | everything | one | that", &object.lower);
    is_among(lx::VERB, &verb.lower) && !verb.lower.ends_with("ed") && is_object && !verb.paused
}

/// Returns where another result is reported: "the node is up, k3s is installed".
fn cuts_of_reports(words: &[Word]) -> impl Iterator<Item = (usize, bool)> + '_ {
    let is_joint = |at: &usize| words[at - 1].paused || words[*at].lower == "and";
    (2..words.len().saturating_sub(1)).filter(is_joint).filter_map(|at| {
        let start = if words[at].lower == "and" { at + 1 } else { at };
        let far = at.saturating_sub(MAX_CLAUSE_WORDS);
        let near = &words[far..at];
        let before = near.iter().rposition(|word| word.paused).map_or(0, |pause| pause + 1);
        let (left, right) = (&near[before..], &words[start..words.len().min(start + MAX_CLAUSE_WORDS)]);
        let left = if left.is_empty() { near } else { left };
        let right = right.iter().position(|word| word.paused).map_or(right, |pause| &right[..=pause]);
        (work::looks_done(left) && (work::looks_done(right) || right.len() > 3)).then_some((at, false))
    })
}

/// Returns where the result of a report begins: "Reproduced: 11 of 50 runs fail", "I checked DNS: SPF is wrong".
fn cut_behind_report(words: &[Word], text: &str) -> Option<(usize, bool)> {
    let own = strip(words, "i have | i | we have | we").unwrap_or(words);
    let is_report = strip(own, lx::WORK_PARTICIPLE).is_some()
        || strip(own, "done | found | looked | searched | tried").is_some();
    let at = (1..words.len().min(8)).find(|&at| follows_colon(words, at, text))?;
    is_report.then_some((at, false))
}

/// Returns where the other half of a contrast begins: "it pings by itself, but the client turns that off".
fn cuts_before_but(words: &[Word]) -> impl Iterator<Item = (usize, bool)> + '_ {
    let is_joint = |at: &usize| words[at - 1].paused && words[*at].lower == "but";
    (3..words.len().saturating_sub(4)).filter(is_joint).filter_map(|at| {
        let near = &words[at + 1..words.len().min(at + MAX_CLAUSE_WORDS)];
        let subject = near.first().filter(|word| !is_among(lx::PREPOSITION | lx::NEGATION, &word.lower))?;
        let has_verb = near.iter().skip(1).take(5).any(facts::is_finite);
        (has_verb && !is_among("if | when | only | still | then", &subject.lower)).then_some((at, false))
    })
}

/// Returns where a statement is explained by a condition: "The cause is the timeout: if nothing is sent, the proxy closes".
fn cut_before_explanation(words: &[Word], text: &str) -> Option<(usize, bool)> {
    let is_start = |at: &usize| words[at - 1].paused && is_among("if | when | once", &words[*at].lower);
    let at = (4..words.len()).find(|at| {
        is_start(at) && follows_colon(words, *at, text)
            || words[at - 1].paused && words[*at].lower == "otherwise"
    })?;
    Some((at, false))
}

/// Returns where a choice behind a piece of work begins: "remove it and use dataloader".
fn cut_before_choice(words: &[Word]) -> Option<(usize, bool)> {
    let own = strip_openers(words);
    strip(own, lx::WORK_VERB).filter(|object| !object.is_empty())?;
    let first = words.len() - own.len();
    let is_choice = |at: &usize| {
        words[*at].lower == "and"
            && strip(&words[at + 1..], "use | keep | switch to | go with")
                .is_some_and(|rest| !rest.is_empty())
    };
    let at = (first + 2..words.len()).find(is_choice)?;
    Some((at, false))
}

/// Returns where an order with a condition of its own begins: "no panics in there, log and go on if the header is missing".
fn cut_before_conditional_order(words: &[Word]) -> Option<(usize, bool)> {
    let condition = words.iter().position(|word| is_among("if | unless | when", &word.lower))?;
    let pause = words[..condition].iter().rposition(|word| word.paused)?;
    let order = &words[pause + 1..condition];
    let is_order = order.len() >= 2
        && is_among(lx::VERB, &order[0].lower)
        && !order.iter().any(|word| is_among(lx::AUXILIARY | lx::PRONOUN, &word.lower));
    (is_order && pause > 1).then_some((pause + 1, false))
}

/// Returns where the choice behind a refused one begins: "so no Kafka, Redis streams it is".
fn cut_behind_ban(words: &[Word]) -> Option<(usize, bool)> {
    let first = words.len() - strip_openers(words).len();
    let pause = words
        .iter()
        .position(|word| word.paused)
        .filter(|pause| (1..=4).contains(&pause.wrapping_sub(first)))?;
    let last = words.last()?;
    let is_choice = is_among("then | instead | please", &last.lower)
        || words.len() > 1 && last.lower == "is" && words[words.len() - 2].lower == "it";
    (words[first].lower == "no" && is_choice && words.len() - pause <= 7).then_some((pause + 1, false))
}

/// Returns whether a colon stands right before a word.
fn follows_colon(words: &[Word], at: usize, text: &str) -> bool {
    text[..words[at].place.start].trim_end_matches([' ', '`', '*', '"']).ends_with(':')
}

/// Returns where the parts of a list of statements begin: "SPF lists the old provider, DKIM is fine, and DMARC is missing".
fn cuts_of_listed_facts(words: &[Word], text: &str) -> Vec<(usize, bool)> {
    const VERBS: &str =
        "is | are | was | were | has | have | needs | need | takes | uses | lists | fails | works";
    let begins = (1..words.len().min(8)).find(|&at| follows_colon(words, at, text)).unwrap_or(0);
    let joints: Vec<usize> = (begins + 1..words.len()).filter(|&at| words[at - 1].paused).collect();
    let starts: Vec<usize> =
        joints.iter().map(|&at| if is_among("and | but", &words[at].lower) { at + 1 } else { at }).collect();
    let ends = joints.iter().skip(1).copied().chain([words.len()]);
    let says = |part: &[Word]| {
        let verb = part.iter().take(5).position(|word| is_among(VERBS, &word.lower));
        verb.is_some_and(|verb| verb > 0 && verb + 1 < part.len())
            && !is_among("it | that | this | which | who | they | we | i | you | there", &part[0].lower)
    };
    let parts_say = starts.iter().zip(ends).all(|(&start, end)| start < end && says(&words[start..end]));
    let first = joints.first().copied().unwrap_or(words.len());
    let is_list = joints.len() >= 2 && joints.len() <= 4 && parts_say && says(&words[begins..first]);
    let is_plain = !contains(words, "if | unless | when | whether | because | although");
    if is_list && is_plain { starts.into_iter().map(|at| (at, false)).collect() } else { Vec::new() }
}

/// Returns where another rule begins: "it must be fast, and the data has to stay here". A condition applies to all of
/// it.
fn cuts_of_rules(words: &[Word]) -> impl Iterator<Item = (usize, bool)> + '_ {
    const OBLIGED: &str = "must | has to | have to | needs to | need to | may not | we can not";
    /// The most words before the verb of another rule.
    const MAX_SUBJECT_WORDS: usize = 7;
    let is_plain = !contains(words, "if | unless | when | whether");
    let stated = position_after(words, "must | has to | have to | needs to | is | are | will | can not");
    let is_joint = |at: &usize| words[*at].lower == "and" || words[at - 1].paused;
    (2..words.len()).filter(is_joint).filter_map(move |at| {
        let right = if words[at].lower == "and" { &words[at + 1..] } else { &words[at..] };
        // Behind the subject there is room for the longest phrase.
        let right = &right[..right.len().min(MAX_SUBJECT_WORDS + 4)];
        let right = right.iter().position(|word| word.paused).map_or(right, |pause| &right[..=pause]);
        let rules = position_of(right, OBLIGED).is_some_and(|place| (1..=MAX_SUBJECT_WORDS).contains(&place));
        let is_stated_before = stated.is_some_and(|end| end <= at);
        (is_plain && rules && is_stated_before).then_some((at, false))
    })
}

struct RuleReader<'s> {
    sentence: &'s Sentence,
    modality: Modality,
    role: Role,
    context: &'s DialogContext,
}

impl RuleReader<'_> {
    /// An item under a heading has the heading's topic, if it is asserted at all.
    fn under(&self, topic: BlockTopic) -> Option<TurnClaim> {
        let words = strip_openers(&self.sentence.words);
        let text = self.said(words);
        if matches!(topic, BlockTopic::Open | BlockTopic::Options) {
            return self.branch(words);
        }
        if topic == BlockTopic::Proposals {
            let is_idea = self.modality.is_asserted() || self.modality.is_guess();
            return is_idea
                .then_some(TurnClaim::Hypothesis { summary: text, confidence: ConfidenceLevel::Low });
        }
        if self.modality.is_guess() {
            return Some(TurnClaim::Hypothesis { summary: text, confidence: ConfidenceLevel::Low });
        }
        let is_rule = topic == BlockTopic::Constraints && self.is_rule_with_condition();
        if !(self.modality.is_asserted() || is_rule) {
            return None;
        }
        Some(match topic {
            BlockTopic::Goals => TurnClaim::Goal(text),
            BlockTopic::Decisions => self.decision_in_a_list(words, text),
            BlockTopic::Constraints => {
                let is_soft = self.has("prefer | should | ideally | avoid | try to");
                TurnClaim::constraint(text, !is_soft)
            }
            BlockTopic::Tasks => TurnClaim::Task(text),
            BlockTopic::Done => TurnClaim::Done(text),
            BlockTopic::Facts => TurnClaim::fact(text, ConfidenceLevel::Medium),
            BlockTopic::Open | BlockTopic::Options | BlockTopic::Proposals => return None,
        })
    }

    /// Returns the possible claims of a clause, likeliest first.
    fn clause(&self, clause: RuleClause<'_>) -> Vec<TurnClaim> {
        let all = clause.words;
        let words = self.behind_reaction(strip_openers(all));
        if words.is_empty()
            || strip(words, lx::OPENER).is_some_and(<[Word]>::is_empty)
                && self.withdrawal(all, words).is_none()
        {
            return Vec::new();
        }
        if let Some(branch) = self.branch(words) {
            return vec![branch];
        }
        if !self.modality.is_asserted() && !self.is_before_condition(all) {
            return self.unasserted(words).into_iter().collect();
        }
        if clause.continues {
            return vec![TurnClaim::Task(self.said(words))];
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
        about_known.into_iter().flatten().chain(on_its_own).collect()
    }

    /// "Several, accounting wants single lines": the reason behind an answer does not make it somebody else's.
    fn answer_with_reason(&self) -> Option<TurnClaim> {
        if self.role != Role::User
            || self.sentence.is_question
            || self.modality.is_asserted()
            || !self.context.is_asked
        {
            return None;
        }
        let words = strip_openers(&self.sentence.words);
        let end = words.iter().take(3).position(|word| word.paused)? + 1;
        let name = words.get(..end).filter(|name| name.len() < words.len())?;
        let is_plain = |word: &Word| {
            !is_among(
                lx::NEGATION | lx::NO | lx::AUXILIARY | lx::HEDGE | lx::FILLER | lx::ACCEPTANCE | lx::PRONOUN,
                &word.lower,
            ) && !is_among("if | when | what | why | how | who | i | we | you | maybe", &word.lower)
        };
        name.iter().all(is_plain).then(|| TurnClaim::Answer(self.said(name)))
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

    /// "Must haves: no data loss, at most 10 minutes of downtime": one claim each.
    fn listed(&self) -> Option<Vec<TurnClaim>> {
        let words = strip_openers(&self.sentence.words);
        let label = words.iter().take(8).position(|word| word.paused)?;
        let (head, rest) = words.split_at(label + 1);
        let first = rest.first()?;
        let is_label = self.sentence.text[..first.place.start].trim_end_matches([' ', '*']).ends_with(':');
        let is_rule = is_whole(head, lx::RULE_LABEL)
            || contains(head, "not negotiable | non-negotiable | the rules are | the requirements are");
        let is_wish = is_whole(head, "nice to have | nice to haves | preferences");
        let begins_with_verb = |part: &[Word]| {
            let part = strip(part, "and").unwrap_or(part);
            part.len() > 1 && is_among(lx::VERB, &part[0].lower)
        };
        let is_todo = is_whole(head, "todo | to do | todos | tasks | next | next steps");
        if is_label
            && is_todo
            && self.modality.is_asserted()
            && rest.iter().any(|word| word.paused)
            && rest.split_inclusive(|word| word.paused).all(begins_with_verb)
        {
            let parts = rest.split_inclusive(|word| word.paused);
            let tasks = parts.map(|part| TurnClaim::Task(self.said(strip(part, "and").unwrap_or(part))));
            return Some(tasks.collect());
        }
        if let ([verb], true) = (head, is_label && self.role == Role::User && self.modality.is_asserted())
            && is_among(lx::WORK_VERB, &verb.lower)
            && rest.iter().any(|word| word.paused)
        {
            let parts =
                rest.split_inclusive(|word| word.paused).map(|part| strip(part, "and").unwrap_or(part));
            let order = self.said(head);
            let tasks = parts.filter(|part| !part.is_empty());
            return Some(
                tasks.map(|part| TurnClaim::Task(format!("{order} {}", self.slice(part)))).collect(),
            );
        }
        if !is_label || !(is_rule || is_wish) || !self.modality.is_asserted() {
            return None;
        }
        let mut claims = Vec::new();
        for part in rest.split_inclusive(|word| word.paused) {
            let part = strip(part, "and").unwrap_or(part);
            if !part.is_empty() {
                claims.push(TurnClaim::constraint(self.said(part), is_rule));
            }
        }
        Some(claims)
    }

    /// "Decision: …", "TODO: …": the label gives the kind.
    fn labeled(&self, words: &[Word]) -> Option<TurnClaim> {
        let label = words.iter().take(6).position(|word| word.paused)?;
        let (head, rest) = words.split_at(label + 1);
        let before = rest
            .first()
            .map(|word| self.sentence.text[..word.place.start].trim_end_matches([' ', '*', '`', '"']))?;
        if !before.ends_with([':', '—', '-']) {
            return None;
        }
        let text = self.said(rest);
        Some(match () {
            () if starts_with(head, "decision | decided | we decided | final decision") => {
                self.decision(rest).unwrap_or_else(|| TurnClaim::decision(text))
            }
            () if starts_with(head, "preference | soft constraint") => TurnClaim::constraint(text, false),
            () if starts_with(head, lx::RULE_LABEL) => TurnClaim::constraint(text, true),
            () if starts_with(head, lx::TASK_LABEL) => TurnClaim::Task(text),
            () if starts_with(head, "goal | objective | aim | the goal | target | the target") => {
                TurnClaim::Goal(text)
            }
            () if starts_with(head, lx::PROPOSAL_LABEL) => {
                TurnClaim::Hypothesis { summary: text, confidence: ConfidenceLevel::Low }
            }
            () if starts_with(head, "fact | finding | root cause | til | measured | result") => {
                TurnClaim::fact(text, ConfidenceLevel::High)
            }
            () => return None,
        })
    }

    /// The first words of a sentence name what is chosen: "JWTs, everybody does that".
    fn short_answer(&self, words: &[Word]) -> Option<TurnClaim> {
        let end = words.iter().position(|word| word.paused).map_or(words.len(), |at| at + 1);
        let mut name = &words[..end];
        while let [rest @ .., last] = name
            && !rest.is_empty()
            && is_among("obviously | definitely | please | then | clearly | certainly | though", &last.lower)
        {
            name = rest;
        }
        let is_refusal = strip(name, lx::WITHDRAWAL | lx::REFUSAL).is_some()
            || strip(name, "skip | drop | without | not | cut | exclude").is_some();
        let is_answer = self.role == Role::User
            && name.len() <= 4
            && !is_refusal
            && !name.iter().any(|word| is_among(lx::NEGATION | lx::NO | lx::AUXILIARY, &word.lower));
        is_answer.then(|| TurnClaim::Answer(self.said(name)))
    }

    /// "Scratch the label selector", "CSV is out": of two ways, the other one is left.
    fn ruled_out(&self, words: &[Word]) -> Option<TurnClaim> {
        let end = words.iter().position(|word| word.paused).map_or(words.len(), |at| at + 1);
        let name = &words[..end];
        let out = strip(name, lx::WITHDRAWAL)
            .or_else(|| strip(name, "drop | skip | not | no"))
            .or_else(|| position_of(name, "is out | are out | is ruled out").map(|at| &name[..at]))?;
        (self.role == Role::User && (1..=4).contains(&out.len())).then(|| TurnClaim::RuleOut(self.slice(out)))
    }

    /// "Make it 10 seconds", "change that to 250": a value for what was said last.
    fn value_alone(&self, words: &[Word]) -> Option<TurnClaim> {
        let rest = strip(
            words,
            "make it | make that | make them | change it to | change that to | set it to | better",
        )?;
        let end = rest.iter().position(|word| word.paused).map_or(rest.len(), |at| at + 1);
        let value = &rest[..end];
        let has_figure = value.iter().any(|word| word.lower.starts_with(|c: char| c.is_ascii_digit()));
        (self.role == Role::User && has_figure && value.len() <= 5)
            .then(|| TurnClaim::SetValue(self.slice(value)))
    }

    /// "Then 250 kB is the limit": another bound for what was said before.
    fn bound_alone(&self, words: &[Word]) -> Option<TurnClaim> {
        let last = words.split_last().map_or(words, |(_, front)| {
            front.iter().rposition(|word| word.paused).map_or(words, |pause| &words[pause + 1..])
        });
        let words = strip(last, "fine | ok | okay | then | fine then | ok then").unwrap_or(last);
        let words = strip(words, "then").unwrap_or(words);
        let has_unit = |value: &[Word]| matches!(value, [figure, unit] if figure.lower.starts_with(|c: char| c.is_ascii_digit()) && is_among(lx::UNIT | lx::TIME_UNIT, &unit.lower));
        if let [value @ .., last] = words
            && is_among("please | then | instead", &last.lower)
            && has_unit(value)
            && self.role == Role::User
        {
            return Some(TurnClaim::SetBound(self.slice(value)));
        }
        let is = words.iter().take(5).position(|word| is_among("is | will be", &word.lower))?;
        let names_bound = strip(&words[is + 1..], "fine | ok | okay | enough | better | plenty").is_some() || strip(&words[is + 1..], "the | our | now the | now our").is_some_and(|rest| {
            matches!(rest, [bound, behind @ ..] if is_among("limit | max | maximum | cap | budget | target | goal | ceiling", &bound.lower)
                && behind.first().is_none_or(|word| is_among("we | they | i | you | that | allowed", &word.lower)))
        });
        let value = &words[..is];
        let is_figure =
            value.first().is_some_and(|word| word.lower.starts_with(|c: char| c.is_ascii_digit()));
        (self.role == Role::User && is_figure && names_bound && value.len() <= 3)
            .then(|| TurnClaim::SetBound(self.slice(value)))
    }

    /// "30 days now, not 90", "vitest, not jest": what it names last was said before.
    fn contrast(&self, words: &[Word]) -> Option<TurnClaim> {
        let not = words.iter().rposition(|word| word.lower == "not").filter(|&not| not > 0)?;
        let (left, old) = (&words[..not], &words[not + 1..]);
        if !left[not - 1].paused || !(1..=3).contains(&old.len()) {
            return None;
        }
        let start = left[..not - 1].iter().rposition(|word| word.paused).map_or(0, |pause| pause + 1);
        let left = strip_openers(&left[start..]);
        let new = strip(
            left,
            "it is | they are | we use | use | make it | that is | it should be | take | go with | we are at",
        )
        .unwrap_or(left);
        let is = new.iter().rposition(|word| is_among("is | are", &word.lower));
        let mut new = is.map_or(new, |is| &new[is + 1..]);
        while let [rest @ .., last] = new
            && is_among("now | then | please | instead", &last.lower)
        {
            new = rest;
        }
        let is_plain = |part: &[Word]| {
            !part.iter().any(|word| {
                is_among(lx::AUXILIARY | lx::STATIVE_VERB | lx::NEGATION | lx::PRONOUN, &word.lower)
            })
        };
        ((1..=4).contains(&new.len()) && is_plain(new) && is_plain(old))
            .then(|| TurnClaim::Contrast { new: self.slice(new), old: self.slice(old) })
    }

    /// "Priya's on leave, make it Tomasz": the reason names what is replaced.
    fn renamed_value(&self, words: &[Word]) -> Option<TurnClaim> {
        let at = position_after(words, "make it | make that").filter(|&at| at > 3 && words[at - 3].paused)?;
        let rest = words.get(at..)?;
        let end = rest.iter().position(|word| word.paused).map_or(rest.len(), |at| at + 1);
        let (new, old) = (self.slice(&rest[..end]), self.slice(&words[..1]));
        let old = old.trim_end_matches("'s").trim_end_matches("’s");
        let is_name = |text: &str| text.starts_with(char::is_uppercase);
        (self.role == Role::User && (1..=3).contains(&end) && is_name(&new) && is_name(old))
            .then(|| TurnClaim::Contrast { new, old: old.to_owned() })
    }

    /// "I'd rather have memcached than redis".
    fn preference_over(&self, words: &[Word]) -> Option<TurnClaim> {
        let rest = strip(
            words,
            "i would rather have | i would rather use | i would rather | i prefer | we prefer | rather | i want rather",
        )?;
        let than = rest
            .iter()
            .position(|word| is_among("than | over | to", &word.lower))
            .filter(|&than| (1..=3).contains(&than))?;
        let old = &rest[than + 1..];
        let end = old.iter().position(|word| word.paused).map_or(old.len(), |at| at + 1);
        (self.role == Role::User && (1..=3).contains(&end))
            .then(|| TurnClaim::Contrast { new: self.slice(&rest[..than]), old: self.slice(&old[..end]) })
    }

    /// "Drop the retry", "no retry needed": asked-for work that is not wanted.
    fn dropped(&self, words: &[Word]) -> Option<TurnClaim> {
        let object = strip(words, "drop | leave out | cut | skip | cancel | remove | undo");
        let unneeded = || {
            let no = position_after(words, "no | no need for | no need to")?;
            let rest = words.get(no..)?;
            let end = rest
                .iter()
                .position(|word| is_among("needed | necessary | required | anymore", &word.lower))?;
            Some(&rest[..end])
        };
        let is_taken = self.role == Role::User
            && !self.sentence.is_question
            && contains(
                words,
                "already on it | already doing it | already doing that | has one already | have one already | already has one | already have one | already did that | already did it | beat me to it | took care of it | taken care of",
            );
        if is_taken {
            return Some(TurnClaim::DropTask(String::new()));
        }
        let object = object.or_else(unneeded).filter(|object| (1..=6).contains(&object.len()))?;
        (self.role == Role::User).then(|| TurnClaim::DropTask(self.slice(object)))
    }

    /// "Let's leave them, they work": what was announced is not wanted.
    fn left_alone(&self, words: &[Word]) -> Option<TurnClaim> {
        let words = strip(words, "thanks but | no but | but").unwrap_or(words);
        let rest = strip(words, "let us leave | leave | let us keep | let us not touch | do not touch")?;
        let (first, behind) = rest.split_first()?;
        let is_end = first.paused
            || behind.is_empty()
            || strip(behind, "as is | as it is | as they are | alone | be | out | then").is_some();
        (self.role == Role::User && is_among("it | them | that | those | this", &first.lower) && is_end)
            .then_some(TurnClaim::WithdrawRecent)
    }

    /// "Park it", "leave it in for now": the work that was asked for last is not wanted now.
    fn postponed(&self, words: &[Word]) -> Option<TurnClaim> {
        let put_off = strip(
            words,
            "park | let us park | shelve | let us shelve | postpone | let us postpone | defer | let us defer | hold off on | let us hold off on | let us not do",
        );
        let kept = || strip(words, "leave | let us leave | keep | let us keep");
        let is_put_off = put_off.is_some();
        let (first, behind) = put_off.or_else(kept)?.split_first()?;
        let is_kept = || strip(behind, "in | for now | there | where it is | in place | as is").is_some();
        let is_end = if is_put_off { true } else { !first.paused && is_kept() };
        (self.role == Role::User && is_among("it | them | that | those | this", &first.lower) && is_end)
            .then(|| TurnClaim::DropTask(String::new()))
    }

    /// "You may touch checkout": lifts a rule.
    fn permission(&self, words: &[Word]) -> Option<TurnClaim> {
        let rest = strip(
            words,
            "you may | you can | you are allowed to | feel free to | you can now | you may now",
        )?;
        (self.role == Role::User && !rest.is_empty()).then(|| TurnClaim::Permit(self.said(rest)))
    }

    /// "Raw SQL is allowed in reports": lifts the rule that forbade it.
    fn lifted_ban(&self, words: &[Word]) -> Option<TurnClaim> {
        let at = position_of(
            words,
            "may stay | may be | can stay | can be | may use | can use | is allowed | are allowed | is ok | are ok | is okay | are okay | is fine | are fine | is permitted | are permitted",
        )?;
        let subject = &words[..at];
        let is_pointer = subject.first().is_none_or(|word| {
            is_among("it | that | this | these | those | everything | all | no | not", &word.lower)
        });
        let begins = self.sentence.words.first().is_some_and(|word| is_among(lx::FILLER, &word.lower));
        let ends = words.last().is_some_and(|word| word.lower == "then");
        let is_permission =
            !contains(words, "may stay | may be | can stay | can be | may use | can use") || ends;
        (self.role == Role::User && !is_pointer && is_permission && subject.len() <= 4).then(|| {
            TurnClaim::Lift {
                about: self.slice(subject),
                summary: self.said(words),
                answers: (begins || ends) && !contains(words, "is fine | are fine"),
            }
        })
    }

    /// "Leave the name", "leave it required": what was to be changed stays as it is.
    fn kept_as_is(&self, words: &[Word]) -> Option<TurnClaim> {
        let rest = strip(words, "leave | let us leave | let us keep | keep | better leave")?;
        let end = rest.iter().position(|word| word.paused).map_or(rest.len(), |at| at + 1);
        let object = &rest[..end];
        let has_figure = object.iter().any(|word| word.lower.contains(|c: char| c.is_ascii_digit()));
        let is_left = words[0].lower == "leave" || words.len() > 2 && words[2].lower == "leave";
        let about = match object {
            [it, state] if is_left && is_among("it | them | that", &it.lower) => {
                if is_among("at | in | to | out | for | there", &state.lower) {
                    return None;
                }
                String::new()
            }
            [it, article, _] if is_among("it | them", &it.lower) && is_among("a | an", &article.lower) => {
                String::new()
            }
            [first, ..] if !is_among("it | them | that | this | in", &first.lower) => self.slice(object),
            _ => return None,
        };
        (self.role == Role::User && object.len() <= 5 && !has_figure)
            .then(|| TurnClaim::Keep { about, summary: self.said(words) })
    }

    /// "It isn't DNS", "then the decoder isn't the cause": what was believed is wrong.
    fn refuted(&self, words: &[Word]) -> Option<TurnClaim> {
        let words = strip(words, "then | so then | so").unwrap_or(words);
        let named = strip(words, "it is not | that is not | this is not | it was not").map(|rest| {
            let end = rest.iter().position(|word| word.paused).map_or(rest.len(), |at| at + 1);
            &rest[..end]
        });
        let named = named.or_else(|| {
            let at = position_of(words, "is not the | was not the | is not it | are not the")?;
            let is_cause = contains(
                &words[at..words.len().min(at + 5)],
                "cause | problem | culprit | reason | issue | is not it | bottleneck",
            );
            is_cause.then_some(&words[..at])
        })?;
        let is_name = (1..=4).contains(&named.len())
            && !is_among(
                "a | clear | sure | so | very | that | about | for | possible | worth | only | just | fixed",
                &named[0].lower,
            );
        is_name.then(|| TurnClaim::Refute(self.slice(named)))
    }

    /// "Disabled the loader, still slow": what was taken for the cause is none.
    fn refuted_by_trial(&self, words: &[Word]) -> Option<TurnClaim> {
        let tried = strip(
            words,
            "i removed | removed | i disabled | disabled | i turned off | turned off | i deleted | deleted | i replaced | replaced",
        )?;
        let end = tried
            .iter()
            .position(|word| is_among("and | but", &word.lower))
            .or_else(|| tried.iter().position(|word| word.paused).map(|pause| pause + 1))?;
        let object = strip(&tried[..end], "the | our").unwrap_or(&tried[..end]);
        let is_same =
            contains(&tried[end..], "still | no change | no difference | same error | same problem");
        (self.role == Role::User && is_same && (1..=3).contains(&object.len()))
            .then(|| TurnClaim::Refute(self.slice(object)))
    }

    /// "Not release-2.1, release-2.2".
    fn named_otherwise(&self, words: &[Word]) -> Option<TurnClaim> {
        let rest = strip(words, "not")?;
        let end = rest.iter().position(|word| word.paused)? + 1;
        let (old, new) = rest.split_at(end);
        let new = strip(new, "but | i meant | i mean").unwrap_or(new);
        let is_plain = |part: &[Word]| {
            (1..=3).contains(&part.len())
                && !part.iter().any(|word| {
                    is_among(
                        lx::AUXILIARY | lx::STATIVE_VERB | lx::NEGATION | lx::PRONOUN | lx::FIRST_PERSON,
                        &word.lower,
                    )
                })
        };
        (self.role == Role::User && is_plain(old) && is_plain(new))
            .then(|| TurnClaim::Contrast { new: self.slice(new), old: self.slice(old) })
    }

    /// "18 is end of life, 20 and up": another figure, because the old one does no longer do.
    fn outdated(&self, words: &[Word]) -> Option<TurnClaim> {
        let is_figure = |word: &Word| word.lower.starts_with(|c: char| c.is_ascii_digit());
        let [old, is, ..] = words else { return None };
        let pause = words.iter().position(|word| word.paused).filter(|pause| (2..=5).contains(pause))?;
        let new = words.get(pause + 1).filter(|word| is_figure(word))?;
        let is_bad = contains(
            &words[2..=pause],
            "eol | dead | deprecated | outdated | old | too old | too low | too high | too little | too much | not enough | end of life",
        );
        (self.role == Role::User && is_figure(old) && is.lower == "is" && is_bad).then(|| {
            TurnClaim::Contrast {
                new: self.slice(std::slice::from_ref(new)),
                old: self.slice(std::slice::from_ref(old)),
            }
        })
    }

    /// "Just saw it again on node 3", "still leaking after an hour": what the agent called done is not.
    fn relapse(&self, words: &[Word]) -> Option<TurnClaim> {
        let says = contains(
            words,
            "still | happened again | saw it again | seen it again | it is back | came back | again on | again in | again today",
        );
        let is_short = (2..=14).contains(&words.len());
        let is_other = contains(
            words,
            "still need | still needs | still want | still have to | still good | still fine | still works | still open | still true | is still | are still",
        );
        (self.role == Role::User && says && is_short && !is_other && !self.sentence.is_question)
            .then_some(TurnClaim::Relapse)
    }

    /// A few words from the user may answer an open question.
    fn answer(&self, words: &[Word]) -> Option<TurnClaim> {
        let is_answer =
            self.role == Role::User && words.len() <= 12 && !self.has("not | no | never | neither");
        is_answer.then(|| TurnClaim::Answer(self.said(words)))
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
