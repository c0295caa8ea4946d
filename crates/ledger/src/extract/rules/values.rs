//! Another value or name for something that was said before: "make it 10 seconds", "vitest, not jest".

use super::super::Role;
use super::super::claims::TurnClaim;
use super::RuleReader;
use probity_prose::lexicon::{self as lx, contains, is_among, position_after, strip};
use probity_prose::words::{Word, strip_openers};

impl RuleReader<'_> {
    /// "Make it 10 seconds", "change that to 250": a value for what was said last.
    pub(super) fn value_alone(&self, words: &[Word]) -> Option<TurnClaim> {
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

    /// "The customer moved it, we have until Monday now": the day in the place of an earlier one.
    pub(super) fn moved_date(&self, words: &[Word]) -> Option<TurnClaim> {
        const MOVES: &str =
            "moved | slipped | postponed | extended | delayed | pushed | rescheduled | brought forward";
        const DAYS: &str = "monday | tuesday | wednesday | thursday | friday | saturday | sunday";
        let is_move = self.role == Role::User && !self.sentence.is_question && self.has(MOVES);
        let mut days = words.iter().filter(|word| is_among(DAYS, &word.lower));
        let (day, None) = (days.next()?, days.next()) else { return None };
        is_move.then(|| TurnClaim::NewDate(self.slice(std::slice::from_ref(day))))
    }

    /// "Then 250 kB is the limit": another bound for what was said before.
    pub(super) fn bound_alone(&self, words: &[Word]) -> Option<TurnClaim> {
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
    pub(super) fn contrast(&self, words: &[Word]) -> Option<TurnClaim> {
        let is_not = |word: &Word| word.lower == "not";
        let in_front = words.iter().position(is_not).filter(|not| (1..=2).contains(not));
        let not = in_front.or_else(|| words.iter().rposition(is_not)).filter(|&not| not > 0)?;
        let end = words[not..].iter().position(|word| word.paused).map_or(words.len(), |at| not + at + 1);
        let (left, old) = (&words[..not], words.get(not + 1..end)?);
        let is_name = |word: &Word| {
            !is_among(lx::MODAL | lx::INTENTION | lx::PREPOSITION | lx::ADVERB | lx::RETRACTION, &word.lower)
                && !is_among("edit | update | anymore | really | why | if", &word.lower)
        };
        let is_bare =
            not <= 2 && old.len() <= 2 && self.begins_sentence(words) && left.iter().chain(old).all(is_name);
        if !(left[not - 1].paused || is_bare) || !(1..=3).contains(&old.len()) {
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

    /// "404 not 403", "vitest not jest": without anything that it changes, it answers or says how it is to be.
    pub(super) fn stated_contrast(&self, words: &[Word]) -> Vec<TurnClaim> {
        let is_alone = words
            .iter()
            .position(|word| word.lower == "not")
            .is_some_and(|not| (1..=2).contains(&not) && !is_among(lx::PREPOSITION, &words[0].lower));
        match self
            .contrast(words)
            .filter(|_| self.role == Role::User && is_alone && self.begins_sentence(words))
        {
            Some(TurnClaim::Contrast { new, old }) => {
                let has_figure = |text: &str| text.contains(|c: char| c.is_ascii_digit());
                let said = if has_figure(&new) && has_figure(&old) {
                    TurnClaim::constraint(format!("{new}, not {old}"), true)
                } else {
                    TurnClaim::decision(format!("Use {new}"))
                };
                vec![TurnClaim::Answer(new), said]
            }
            _ => Vec::new(),
        }
    }

    /// "Priya's on leave, make it Tomasz": the reason names what is replaced.
    pub(super) fn renamed_value(&self, words: &[Word]) -> Option<TurnClaim> {
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
    pub(super) fn preference_over(&self, words: &[Word]) -> Option<TurnClaim> {
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

    /// "Not release-2.1, release-2.2".
    pub(super) fn named_otherwise(&self, words: &[Word]) -> Option<TurnClaim> {
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
    pub(super) fn outdated(&self, words: &[Word]) -> Option<TurnClaim> {
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
}
