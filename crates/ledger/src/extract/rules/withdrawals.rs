//! Work that is not wanted after all, rules that are lifted, findings that were wrong.

use super::super::Role;
use super::super::claims::TurnClaim;
use super::RuleReader;
use probity_prose::lexicon::{self as lx, contains, is_among, position_after, position_of, strip};
use probity_prose::words::Word;

impl RuleReader<'_> {
    /// "Drop the retry", "no retry needed": asked-for work that is not wanted.
    pub(super) fn dropped<'s>(&self, words: &'s [Word]) -> Option<TurnClaim> {
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
        // "Drop the Dockerfile one, Sam has it": a reason follows the pause.
        let until_pause = |object: &'s [Word]| {
            let end = object.iter().position(|word| word.paused).map_or(object.len(), |at| at + 1);
            let named = &object[..end];
            named
                .split_last()
                .filter(|(last, named)| last.lower == "one" && !named.is_empty())
                .map_or(named, |(_, named)| named)
        };
        let object =
            object.or_else(unneeded).map(until_pause).filter(|object| (1..=6).contains(&object.len()))?;
        (self.role == Role::User).then(|| TurnClaim::DropTask(self.slice(object)))
    }

    /// "Let's leave them, they work": what was announced is not wanted.
    pub(super) fn left_alone(&self, words: &[Word]) -> Option<TurnClaim> {
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
    pub(super) fn postponed(&self, words: &[Word]) -> Option<TurnClaim> {
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
    pub(super) fn permission(&self, words: &[Word]) -> Option<TurnClaim> {
        let rest = strip(
            words,
            "you may | you can | you are allowed to | feel free to | you can now | you may now",
        )?;
        (self.role == Role::User && !rest.is_empty()).then(|| TurnClaim::Permit(self.said(rest)))
    }

    /// "Raw SQL is allowed in reports": lifts the rule that forbade it.
    pub(super) fn lifted_ban(&self, words: &[Word]) -> Option<TurnClaim> {
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
    pub(super) fn kept_as_is(&self, words: &[Word]) -> Option<TurnClaim> {
        let front = words.split_last().map_or(words, |(_, front)| front);
        let last = front.iter().rposition(|word| word.paused).map_or(words, |pause| &words[pause + 1..]);
        if let [name @ .., stays] = last
            && is_among("stay | stays", &stays.lower)
            && (1..=3).contains(&name.len())
            && self.role == Role::User
            && !name.iter().any(|word| word.paused || is_among(lx::FIRST_PERSON, &word.lower))
        {
            if is_among(lx::PRONOUN, &name[0].lower) {
                return Some(TurnClaim::Keep { about: String::new(), summary: self.said(words) });
            }
            return Some(TurnClaim::Keep { about: self.slice(name), summary: self.said(last) });
        }
        if let Some([it]) = strip(words, "keep | we keep | let us keep | better keep")
            && is_among("it | them | that", &it.lower)
            && self.role == Role::User
        {
            return Some(TurnClaim::Keep { about: String::new(), summary: self.said(words) });
        }
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

    /// "Turns out the bank still needs SOAP": what was to be removed is not.
    pub(super) fn still_needed(&self, words: &[Word]) -> Option<TurnClaim> {
        let at = position_after(
            words,
            "still need | still needs | still use | still uses | still call | still calls | still read | still reads | still rely on | still relies on | still pay for | still pays for | insist on | insists on | depend on | depends on",
        )?;
        let object = words.get(at..)?;
        let end = object.iter().position(|word| word.paused).map_or(object.len(), |at| at + 1);
        let is_told = self.role == Role::User && !self.sentence.is_question && (1..=8).contains(&end);
        is_told
            .then(|| TurnClaim::StillNeeded { about: self.slice(&object[..end]), summary: self.said(words) })
    }

    /// "It isn't DNS", "then the decoder isn't the cause": what was believed is wrong.
    pub(super) fn refuted(&self, words: &[Word]) -> Option<TurnClaim> {
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
    pub(super) fn refuted_by_trial(&self, words: &[Word]) -> Option<TurnClaim> {
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

    /// "Just saw it again on node 3", "still leaking after an hour": what the agent called done is not.
    pub(super) fn relapse(&self, words: &[Word]) -> Option<TurnClaim> {
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

    pub(super) fn withdrawal(&self, all: &[Word], words: &[Word]) -> Option<TurnClaim> {
        let bare = [
            "scratch that",
            "never mind",
            "nevermind",
            "forget it",
            "forget that",
            "i take that back",
            "strike that",
        ];
        if bare.iter().any(|phrase| strip(all, *phrase).is_some_and(<[Word]>::is_empty)) {
            return Some(TurnClaim::Withdraw(String::new()));
        }
        if let Some(rest) = strip(words, lx::WITHDRAWAL).or_else(|| strip(all, "never mind")) {
            // A reason follows the pause.
            let about = rest.iter().position(|word| word.paused).map_or(rest, |pause| &rest[..=pause]);
            // "We dropped the idea in today's meeting": where it was dropped is not what was dropped.
            let occasion = position_of(
                about,
                "in today's | in the meeting | in the call | in the standup | in yesterday's | yesterday | today",
            );
            let about = occasion.filter(|&at| at > 0).map_or(about, |at| &about[..at]);
            return (!about.is_empty()).then(|| TurnClaim::Withdraw(self.said(about)));
        }
        let near = &words[..words.len().min(7)];
        if let Some(at) = position_after(near, "decided against | voted against | rejected | vetoed") {
            let rest = &words[at..];
            let about = rest.iter().position(|word| word.paused).map_or(rest, |pause| &rest[..=pause]);
            return (!about.is_empty() && self.role == Role::User)
                .then(|| TurnClaim::Withdraw(self.said(about)));
        }
        let is_unneeded = strip(
            words,
            "not needed | no longer needed | not necessary | no longer necessary | not required | no longer required | not relevant | unnecessary | obsolete | not worth it",
        );
        if is_unneeded.is_some() && self.role == Role::User && self.begins_sentence(words) {
            return (!self.context.is_asked).then_some(TurnClaim::WithdrawRecent);
        }
        let at = position_of(words, lx::OBSOLETE)?;
        // "The sensors send UTC, the dashboard was wrong": what stands before the pause is something else.
        let start = words[..at].iter().rposition(|word| word.paused).map_or(0, |pause| pause + 1);
        (at > start).then(|| TurnClaim::Withdraw(self.slice(&words[start..at])))
    }
}
