//! Tasks: opened, done, dropped and reopened work.

use super::super::Role;
use super::super::claims::TurnClaim;
use super::super::dialog::is_pronoun_only;
use super::{RuleReader, is_order};
use probity_prose::lexicon::{self as lx, contains, is_among, position_of, strip};
use probity_prose::modality::Modality;
use probity_prose::sentences::Sentence;
use probity_prose::words::{Word, strip_openers};

impl RuleReader<'_> {
    pub(super) fn task_asked_for(&self, words: &[Word]) -> Option<TurnClaim> {
        let rest = strip(words, lx::TASK_REQUEST)?;
        let begun = strip(rest, "start by | begin by | start with | begin with")
            .filter(|rest| rest.first().is_some_and(|verb| verb.lower.ends_with("ing")));
        if let Some(rest) = begun.filter(|rest| rest.len() > 1) {
            return Some(TurnClaim::Task(self.said(rest)));
        }
        let is_promise = self.role == Role::Assistant
            && strip(words, "i will | i am going to | let me | i will also | i will now").is_some()
            && rest.first().is_some_and(|verb| {
                is_among(lx::VERB, &verb.lower)
                    && !is_among("see | be | have | need | know | wait | think | hope | guess | say | look | check | do | try | ask | leave | keep | let", &verb.lower)
            });
        let is_task = strip(rest, lx::WORK_VERB).is_some_and(|object| {
            !object.is_empty() || is_among("investigate | debug | benchmark", &rest[0].lower)
        }) || is_promise && rest.len() > 1;
        (is_task && !self.has("let me know | let me check | let me see | let me look"))
            .then(|| TurnClaim::Task(self.said(rest)))
    }

    /// "I'm adding a table and hooking it in": work that has begun.
    pub(super) fn begun(&self, words: &[Word]) -> Option<TurnClaim> {
        let rest = strip(words, "i am | i am now | we are now")?;
        let (verb, object) = rest.split_first()?;
        let base = verb.lower.strip_suffix("ing")?;
        let is_verb = is_among(lx::VERB, base)
            || is_among(lx::VERB, &format!("{base}e"))
            || base.len() > 3 && base.get(..base.len() - 1).is_some_and(|base| is_among(lx::VERB, base));
        let is_work = is_verb
            && !is_among("going | thinking | wondering | asking | trying | looking | using", &verb.lower);
        (self.role == Role::Assistant && is_work && !object.is_empty())
            .then(|| TurnClaim::Task(self.said(rest)))
    }

    /// "Let's add tests"; from a user also the bare imperative.
    pub(super) fn task(&self, words: &[Word]) -> Option<TurnClaim> {
        if let [verb] = words
            && self.role == Role::User
            && is_among(
                "commit | merge | deploy | ship | push | rebase | release | publish | fix",
                &verb.lower,
            )
        {
            let said = self.said(words);
            let antecedent = self.context.last_said.as_ref().filter(|_| verb.lower == "fix");
            return Some(TurnClaim::Task(
                antecedent.map_or(said.clone(), |before| format!("{said}: {before}")),
            ));
        }
        let willed = strip(words, "let us | we will | we are going to");
        let said = willed.or(Some(words).filter(|_| self.role != Role::Assistant))?;
        let is_bare = willed.is_none()
            && self.role == Role::User
            && words.len() > 2
            && super::clauses::begins_order(said)
            && strip(said, lx::DECISION_VERB).is_none()
            && strip(said, "ignore | compute | let | hate | wish | mind | forget | remember | see").is_none();
        let is_bare = is_bare || willed.is_none() && self.is_bare_order(said);
        let again = strip(said, "do").filter(|rest| {
            self.role == Role::User
                && (2..=6).contains(&rest.len())
                && !is_among("it | that | this | not | you | we | i | they", &rest[0].lower)
                && contains(rest, "too | as well | next")
        });
        if willed.is_none() && again.is_some() {
            return Some(TurnClaim::Task(self.said(said)));
        }
        let object = strip(said, lx::WORK_VERB).or_else(|| said.get(1..).filter(|_| is_bare))?;
        (!object.is_empty() && is_order(object))
            .then(|| TurnClaim::Task(self.with_antecedent(&self.said(said))))
    }

    /// "Propagate deadlines": the base form of a verb and its object, and no other verb.
    fn is_bare_order(&self, words: &[Word]) -> bool {
        let Some((verb, object)) = words.split_first() else { return false };
        let is_verb = |word: &Word| {
            super::facts::is_finite(word) && !word.lower.ends_with("ed")
                || is_among(lx::AUXILIARY | lx::MODAL | lx::NEGATION, &word.lower)
        };
        self.role == Role::User
            && self.begins_sentence(words)
            && is_among(lx::VERB, &verb.lower)
            && !verb.paused
            && !verb.lower.ends_with('s')
            && !verb.lower.ends_with("ed")
            && (1..=10).contains(&object.len())
            && object.iter().any(|word| word.lower.starts_with(char::is_alphabetic))
            && !object.iter().any(is_verb)
            && strip(words, lx::DECISION_VERB | lx::SETTING_VERB).is_none()
            && !is_among(
                "let | see | look | wait | think | remember | forget | ignore | check | question | note | time | test | try | work | sort | stop | start | code | cost | point | agree | welcome | back | default | rate | launch | frame | order | budget | bound | cover | balance | group | issue | model | name | own | type | view | version",
                &verb.lower,
            )
    }

    /// "Fix it" says nothing to a later reader, so it takes the statement before with it.
    fn with_antecedent(&self, summary: &str) -> String {
        let is_whole_change = summary.split_whitespace().next().is_some_and(|verb| {
            is_among("ship | merge | push | commit | deploy | release | tag | publish", &verb.to_lowercase())
        });
        let antecedent = self.context.last_said.as_ref().filter(|_| !is_whole_change).filter(|_| {
            let is_one = summary.split_whitespace().count() == 2
                && summary
                    .split_whitespace()
                    .next_back()
                    .is_some_and(|word| is_among("one | some | those", word));
            self.role == Role::User && (is_one || summary.contains(' ') && is_pronoun_only(summary))
        });
        antecedent.map_or_else(|| summary.to_owned(), |before| format!("{summary}: {before}"))
    }

    /// "1 and 2 are finished".
    pub(super) fn done_ranks(&self, words: &[Word]) -> Option<TurnClaim> {
        let end = words.iter().position(|word| is_among("is | are", &word.lower))?;
        let rest = strip(&words[end + 1..], "now | both | all").unwrap_or(&words[end + 1..]);
        let numbers = words[..end].iter().filter(|word| word.lower != "and");
        let ranks: Option<Vec<usize>> =
            numbers.map(|word| word.lower.parse::<usize>().ok()?.checked_sub(1)).collect();
        let is_done = strip(rest, lx::COMPLETION).is_some();
        let ranks = ranks
            .filter(|ranks| (1..=9).contains(&ranks.len()) && is_done && self.role == Role::Assistant)?;
        Some(TurnClaim::DoneRanks(ranks))
    }

    /// "Both done", "all three are in".
    pub(super) fn all_done(&self, words: &[Word]) -> Option<TurnClaim> {
        if self.role == Role::Assistant && is_whole_work_done(words) && !self.has(lx::INCOMPLETE) {
            return Some(TurnClaim::AllDone);
        }
        let rest = strip(
            words,
            "both | all | all of them | all of it | everything | all three | all four | all done | both done",
        )?;
        let rest = strip(rest, "are | is | now | have been").unwrap_or(rest);
        let is_done = rest.is_empty() && words.len() > 1
            || strip(rest, lx::COMPLETION)
                .is_some_and(|tail| tail.len() <= 2 || words.iter().any(|word| word.paused));
        (is_done && words.len() <= 14 && !self.has(lx::INCOMPLETE)).then_some(TurnClaim::AllDone)
    }

    /// "Fixed, one request again", "Implemented": the work that was asked for last, without its name.
    pub(super) fn bare_done(&self, words: &[Word]) -> Option<TurnClaim> {
        let (first, rest) = words.split_first()?;
        let is_done = self.role == Role::Assistant
            && (is_among(lx::WORK_PARTICIPLE, &first.lower) || first.lower == "done")
            && (rest.is_empty() || first.paused)
            && !self.has(lx::INCOMPLETE);
        // "Done: write the limiter" tells itself what is done, and the rest of it is not.
        let is_label = self.sentence.text[first.place.end..].trim_start_matches(['*', '`']).starts_with(':');
        is_done.then(|| if is_label { TurnClaim::Done(String::new()) } else { TurnClaim::AskedWorkDone })
    }

    /// A statement of the agent that may report the end of a task: `target_resolution` knows whether one is open.
    pub(super) fn report(&self, words: &[Word]) -> Option<TurnClaim> {
        let is_report = self.role == Role::Assistant
            && !self.has(lx::INCOMPLETE)
            && !self.has("i will | i am | we will | let me | fails | failing | failed | still | need | needs | next | would | should | can | could | if | cannot")
            && words.len() >= 2;
        is_report.then(|| TurnClaim::Report(self.slice(words)))
    }

    pub(super) fn reopening(&self, words: &[Word]) -> Option<TurnClaim> {
        let asked = "reopen | let us reopen | we need to reopen | i am reopening | we have to reopen";
        let about = match strip(words, asked) {
            Some(rest) => rest,
            None => &words[..position_of(words, lx::BROKEN_AGAIN)?],
        };
        (!about.is_empty()).then(|| TurnClaim::Reopen { about: self.slice(about), reason: self.said(words) })
    }

    pub(super) fn done(&self, words: &[Word]) -> Option<TurnClaim> {
        if self.has(lx::INCOMPLETE) {
            return None;
        }
        let is_word = strip(words, "all done | done | finished | completed | fixed | shipped | merged");
        // In front of what else is told, it means what was asked for last.
        let is_front = words.last().is_some_and(|word| word.paused) && self.role == Role::Assistant;
        if !is_front && is_word.is_some_and(|rest| rest.len() <= 1 && words.len() <= 3) {
            return Some(TurnClaim::Done(String::new()));
        }
        if let Some(rest) = strip(words, "done with | finished with") {
            return (!rest.is_empty()).then(|| TurnClaim::Done(self.said(rest)));
        }
        let is_working = words.len() <= 5
            && words.last().is_some_and(|word| is_among("works | work | passes | pass", &word.lower));
        if let Some((_, subject)) = words.split_last().filter(|_| is_working && words.len() > 1) {
            return Some(TurnClaim::Done(self.slice(subject)));
        }
        self.did(words).or_else(|| self.is_done(words)).or_else(|| self.was_done(words))
    }

    /// "Masking done", "counters moved to Redis", "redirects: implemented and tested": a participle without a subject.
    fn was_done(&self, words: &[Word]) -> Option<TurnClaim> {
        let at = (1..words.len().min(7)).find(|&at| {
            strip(&words[at..], lx::WORK_PARTICIPLE).is_some()
                || matches!(words[at].lower.as_str(), "done" | "works" | "passes")
        })?;
        let has_other_verb = words[..at].iter().any(|word| is_among("is | are | was | were | has | have | had | i | we | you | he | she | they | to | be | who | that", &word.lower));
        (!has_other_verb && words.len() <= 16).then(|| TurnClaim::Done(self.slice(words)))
    }

    /// "I've added tests", "Fixed the login bug".
    fn did(&self, words: &[Word]) -> Option<TurnClaim> {
        let own = "i have just | i have now | i have also | i have | we have now | we have | i just | i also | i | we just | we also | we";
        let said = strip(words, own).unwrap_or(words);
        let object = strip(said, lx::WORK_PARTICIPLE)?;
        let is_noun = strip(object, "to | by | from | that").is_some();
        (!object.is_empty() && !is_noun).then(|| TurnClaim::Done(self.said(said)))
    }

    /// "The goal is met", "that is it for the project".
    pub(super) fn reached(&self, words: &[Word]) -> Option<TurnClaim> {
        let is_over = self.has("target met | target reached | the goal reached | that is the milestone | closing this | we are done | we are done with | goal is met | goal is reached | goal is achieved | goal reached | goal achieved | goal met | reached the goal | reached our goal | met the goal | met our goal | it for the project | project is done | project is finished | project is complete");
        (is_over && !self.has(lx::INCOMPLETE) && !words.is_empty()).then_some(TurnClaim::Reached)
    }

    /// "The parser is done", "tests are green".
    fn is_done(&self, words: &[Word]) -> Option<TurnClaim> {
        let at = words
            .iter()
            .position(|word| matches!(word.lower.as_str(), "is" | "are" | "was" | "were" | "now"))?;
        let rest = &words[at + 1..];
        let rest = strip(rest, "now | finally | all | also | already").unwrap_or(rest);
        let ends = strip(rest, lx::COMPLETION).is_some_and(|tail| tail.len() <= 3);
        let is_near = (1..=8).contains(&at);
        if let [participle] = rest
            && is_near
            && participle.lower.ends_with("ed")
            && !is_among(lx::UNFINISHED_PARTICIPLE, &participle.lower)
        {
            return Some(TurnClaim::Done(self.said(words)));
        }
        (is_near && ends).then(|| TurnClaim::Done(self.slice(&words[..at])))
    }
}

/// "Then that is the cause", "root cause: the pool is too small".
pub(in crate::extract) fn tells_cause(sentence: &Sentence) -> bool {
    !sentence.is_question
        && Modality::of(sentence).is_asserted()
        && !contains(&sentence.words, lx::INCOMPLETE | lx::NO)
        && contains(
            &sentence.words,
            "the cause | root cause | that explains | this explains | explains why | that is why | this is why | the reason is | the culprit is",
        )
}

/// Returns whether a sentence of an agent reports finished work: "Turned off.", "Migration written", "Readers are switched".
pub(in crate::extract) fn ends_work(sentence: &Sentence) -> bool {
    const MAX_SUBJECT_WORDS: usize = 4;
    let words = strip_openers(&sentence.words);
    let own = strip(words, "i have now | i have also | i have | we have | i also | i").unwrap_or(words);
    let is_participle = |word: &Word| {
        let regular = word.lower.strip_suffix("ed").unwrap_or("");
        is_among(lx::WORK_PARTICIPLE, &word.lower)
            || !regular.is_empty()
                && !is_among(lx::UNFINISHED_PARTICIPLE, &word.lower)
                && (is_among(lx::VERB, regular)
                    || is_among(lx::VERB, &word.lower[..word.lower.len() - 1])
                    || regular.len() > 2
                        && regular.get(..regular.len() - 1).is_some_and(|base| is_among(lx::VERB, base)))
    };
    let Some(first) = own.first() else { return false };
    let begins = is_participle(first) || first.lower == "done";
    let at = own.iter().take(MAX_SUBJECT_WORDS + 1).position(is_participle);
    let subject = at.map_or(own, |at| &own[..at]);
    let is_fragment = at.is_some_and(|at| at > 0)
        && !subject
            .iter()
            .any(|word| is_among(lx::AUXILIARY | lx::PRONOUN | lx::MODAL | lx::PREPOSITION, &word.lower));
    let is = own.iter().take(MAX_SUBJECT_WORDS + 3).position(|word| is_among("is | are", &word.lower));
    let is_state = is.filter(|&is| is > 0).is_some_and(|is| {
        let rest = strip(&own[is + 1..], "now | also | all | finally | both").unwrap_or(&own[is + 1..]);
        rest.first().is_some_and(is_participle) || strip(rest, "in | there | done | in place").is_some()
    });
    !sentence.is_question
        && Modality::of(sentence).is_asserted()
        && !contains(&sentence.words, lx::INCOMPLETE)
        && !contains(&sentence.words, "so far | still | will | can | cannot | need | needs")
        && (begins || is_fragment || is_state)
}

/// "The implementation is complete": all of the work, whatever it was.
fn is_whole_work_done(words: &[Word]) -> bool {
    let subject = strip(
        words,
        "the implementation | implementation | the change | all changes | the changes | the work | the refactoring | the migration | the feature",
    );
    let state = subject.and_then(|rest| strip(rest, "is now | are now | is | are"));
    state.is_some_and(|rest| {
        strip(rest, "complete | finished | done | in place | ready").is_some_and(|tail| tail.len() <= 2)
    })
}

/// Returns whether a part of a sentence says that something is done.
pub(super) fn looks_done(words: &[Word]) -> bool {
    let Some(at) = words.iter().position(|word| matches!(word.lower.as_str(), "is" | "are" | "was" | "were"))
    else {
        return words.len() > 1
            && words.last().is_some_and(|word| matches!(word.lower.as_str(), "works" | "passes" | "done"));
    };
    let rest = &words[at + 1..];
    let is_participle = matches!(rest, [word] if word.lower.ends_with("ed") && !is_among(lx::UNFINISHED_PARTICIPLE, &word.lower));
    at > 0 && (is_participle || strip(rest, lx::COMPLETION).is_some_and(<[Word]>::is_empty))
}
