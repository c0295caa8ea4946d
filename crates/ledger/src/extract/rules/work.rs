//! Tasks: what is to be done, what was done, what is no longer wanted, what has to be done again.

use super::super::claims::Claim;
use super::super::lexicon::{DID, DOING, IS_DONE};
use super::super::sentences::Word;
use super::super::{Role, is_among, strip, strip_any};
use super::{Reader, is_order, position_of};

const ASKED_FOR: &str = "\
    please | i need you to | i want you to | we need to | we still need to | we have to | \
    we still have to | i need to | i have to | remember to | need to | still need to | next step is to | \
    the next step is to | next i will | next we will | i am going to | let me | i will also | i will now | \
    i will | we will also";

const WITHDRAWN: &str = "\
    forget about | forget | scrap | never mind | cancel | we no longer need | we do not need | \
    we no longer use | i do not need | i no longer need | no need for | abandon | we are abandoning | let us forget about | let us scrap | let us drop | \
    let us cancel | let us abandon | drop the idea of | we can drop | we are dropping | \
    drop the requirement | drop the plan | drop the task";

const OBSOLETE: &str = "\
    is obsolete | is no longer needed | are no longer needed | is off the table | is cancelled | is moot | \
    no longer applies | no longer apply | is dead | is no longer required";

const BROKEN_AGAIN: &str = "\
    is broken again | still fails | is failing again | are failing again | regressed | is back | broke again";

const NOT_QUITE: &str = "\
    not | will be | to be | half | partly | partially | mostly | some of | yet | once | except";

/// Participles of what is not done.
const NOT_DONE: &str = "delayed | blocked | failed | needed | required | expected | planned | limited | used | supposed | allowed | \
    deprecated | outdated | affected | stopped | started | reserved | interested | tired | confused | related | based";

impl Reader<'_> {
    pub(super) fn task_asked_for(&self, words: &[Word]) -> Option<Claim> {
        let rest = strip_any(words, ASKED_FOR)?;
        let begun = strip_any(rest, "start by | begin by | start with | begin with")
            .filter(|rest| rest.first().is_some_and(|verb| verb.lower.ends_with("ing")));
        if let Some(rest) = begun.filter(|rest| rest.len() > 1) {
            return Some(Claim::Task(self.said(rest)));
        }
        let is_task = strip_any(rest, DOING).is_some_and(|object| !object.is_empty());
        (is_task && !self.has("let me know | let me check | let me see | let me look"))
            .then(|| Claim::Task(self.said(rest)))
    }

    /// "Let's add tests"; from a user also the bare order.
    pub(super) fn task(&self, words: &[Word]) -> Option<Claim> {
        let willed = strip_any(words, "let us | we will | we are going to");
        let said = willed.or(Some(words).filter(|_| self.role != Role::Assistant))?;
        let object = strip_any(said, DOING)?;
        (!object.is_empty() && is_order(object)).then(|| Claim::Task(self.said(said)))
    }

    pub(super) fn withdrawal(&self, all: &[Word], words: &[Word]) -> Option<Claim> {
        let bare = [
            "scratch that",
            "never mind",
            "nevermind",
            "forget it",
            "forget that",
            "i take that back",
            "strike that",
        ];
        if bare.iter().any(|phrase| strip(all, phrase).is_some_and(<[Word]>::is_empty)) {
            return Some(Claim::Withdraw(String::new()));
        }
        if let Some(rest) = strip_any(words, WITHDRAWN).or_else(|| strip(all, "never mind")) {
            // What follows a pause is the reason.
            let about = rest.iter().position(|word| word.paused).map_or(rest, |pause| &rest[..=pause]);
            return (!about.is_empty()).then(|| Claim::Withdraw(self.said(about)));
        }
        let at = position_of(words, OBSOLETE)?;
        (at > 0).then(|| Claim::Withdraw(self.slice(&words[..at])))
    }

    pub(super) fn reopening(&self, words: &[Word]) -> Option<Claim> {
        let asked = "reopen | let us reopen | we need to reopen | i am reopening | we have to reopen";
        let about = match strip_any(words, asked) {
            Some(rest) => rest,
            None => &words[..position_of(words, BROKEN_AGAIN)?],
        };
        (!about.is_empty()).then(|| Claim::Reopen { about: self.slice(about), reason: self.said(words) })
    }

    pub(super) fn done(&self, words: &[Word]) -> Option<Claim> {
        if self.has(NOT_QUITE) {
            return None;
        }
        let is_word = strip_any(words, "all done | done | finished | completed | fixed | shipped | merged");
        if is_word.is_some_and(|rest| rest.len() <= 1 && words.len() <= 3) {
            return Some(Claim::Done(String::new()));
        }
        if let Some(rest) = strip_any(words, "done with | finished with") {
            return (!rest.is_empty()).then(|| Claim::Done(self.said(rest)));
        }
        let is_working = words.len() <= 5
            && words.last().is_some_and(|word| is_among("works | work | passes | pass", &word.lower));
        if let Some((_, subject)) = words.split_last().filter(|_| is_working && words.len() > 1) {
            return Some(Claim::Done(self.slice(subject)));
        }
        self.did(words).or_else(|| self.is_done(words)).or_else(|| self.was_done(words))
    }

    /// "Masking done", "counters moved to Redis", "redirects: implemented and tested": nothing but the participle.
    fn was_done(&self, words: &[Word]) -> Option<Claim> {
        let at = (1..words.len().min(7)).find(|&at| {
            strip_any(&words[at..], DID).is_some()
                || matches!(words[at].lower.as_str(), "done" | "works" | "passes")
        })?;
        let has_other_verb = words[..at].iter().any(|word| is_among("is | are | was | were | has | have | had | i | we | you | he | she | they | to | be | who | that", &word.lower));
        (!has_other_verb && words.len() <= 16).then(|| Claim::Done(self.slice(words)))
    }

    /// "I've added tests", "Fixed the login bug".
    fn did(&self, words: &[Word]) -> Option<Claim> {
        let own = "i have just | i have now | i have also | i have | we have now | we have | i just | i also | i | we just | we also | we";
        let said = strip_any(words, own).unwrap_or(words);
        let object = strip_any(said, DID)?;
        let is_noun = strip_any(object, "to | by | from | that").is_some();
        (!object.is_empty() && !is_noun).then(|| Claim::Done(self.said(said)))
    }

    /// "The goal is met", "that is it for the project".
    pub(super) fn reached(&self, words: &[Word]) -> Option<Claim> {
        let is_over = self.has("goal is met | goal is reached | goal is achieved | goal reached | goal achieved | goal met | reached the goal | reached our goal | met the goal | met our goal | it for the project | project is done | project is finished | project is complete");
        (is_over && !self.has(NOT_QUITE) && !words.is_empty()).then_some(Claim::Reached)
    }

    /// "The parser is done", "tests are green".
    fn is_done(&self, words: &[Word]) -> Option<Claim> {
        let at = words
            .iter()
            .position(|word| matches!(word.lower.as_str(), "is" | "are" | "was" | "were" | "now"))?;
        let rest = &words[at + 1..];
        let rest = strip_any(rest, "now | finally | all | also | already").unwrap_or(rest);
        let ends = strip_any(rest, IS_DONE).is_some_and(|tail| tail.len() <= 3);
        let is_near = (1..=8).contains(&at);
        if let [participle] = rest
            && is_near
            && participle.lower.ends_with("ed")
            && !is_among(NOT_DONE, &participle.lower)
        {
            return Some(Claim::Done(self.said(words)));
        }
        (is_near && ends).then(|| Claim::Done(self.slice(&words[..at])))
    }
}

/// Whether a part of a sentence says that something is done.
pub(super) fn looks_done(words: &[Word]) -> bool {
    let Some(at) = words.iter().position(|word| matches!(word.lower.as_str(), "is" | "are" | "was" | "were"))
    else {
        return words.len() > 1
            && words.last().is_some_and(|word| matches!(word.lower.as_str(), "works" | "passes" | "done"));
    };
    let rest = &words[at + 1..];
    let is_participle =
        matches!(rest, [word] if word.lower.ends_with("ed") && !is_among(NOT_DONE, &word.lower));
    at > 0 && (is_participle || strip_any(rest, IS_DONE).is_some_and(<[Word]>::is_empty))
}
