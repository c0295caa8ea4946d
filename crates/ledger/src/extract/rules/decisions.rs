//! Choices: what is decided, and what takes the place of an earlier decision.

use super::super::Role;
use super::super::claims::TurnClaim;
use super::{RuleReader, is_order};
use probity_prose::lexicon::{
    self as lx, contains, is_among, position_after, position_of, starts_with, strip,
};
use probity_prose::words::Word;

impl RuleReader<'_> {
    /// "Do not …", "let us not …", "we will not …".
    pub(super) fn prohibition(&self, words: &[Word]) -> Option<TurnClaim> {
        let revises = self.revises();
        let against = |summary| Some(TurnClaim::Decision { summary, revises, instead_of: None });
        if let Some(rest) = strip(words, lx::DECISION_AGAINST_ACTION) {
            return if rest.len() > 1 { against(self.denied("Do not", words, rest)) } else { None };
        }
        if let Some(rest) = strip(words, lx::DECISION_AGAINST) {
            return if rest.is_empty() { None } else { against(self.denied("Do not use", words, rest)) };
        }
        if let Some(task) = strip(words, "do not forget to | please do not forget to") {
            return (!task.is_empty()).then(|| TurnClaim::Task(self.said(task)));
        }
        let rest = strip(words, "do not ever | do not | please do not | you must not | never ever | never")?;
        let is_idle = rest.is_empty() || strip(rest, lx::IDLE_PROHIBITION).is_some();
        (!is_idle).then(|| TurnClaim::constraint(self.said(words), true))
    }

    /// Returns the text of a prohibition. In another language it keeps all of its own words, including the negation.
    fn denied(&self, not: &str, words: &[Word], rest: &[Word]) -> String {
        if self.sentence.is_translated { self.said(words) } else { format!("{not} {}", self.slice(rest)) }
    }

    /// Returns the text of a choice; adds an English verb unless it has one or is in another language.
    fn chosen(&self, rest: &[Word]) -> String {
        let has_verb = strip(rest, lx::DECISION_VERB).is_some();
        if self.sentence.is_translated || has_verb {
            self.said(rest)
        } else {
            format!("Use {}", self.slice(rest))
        }
    }

    /// "Redis is the way to go", "a plain log will do", "Ghent has to wait", "we agreed with support that …".
    pub(super) fn settled(&self, words: &[Word]) -> Option<TurnClaim> {
        // "We'll do rendering on the server" settles nothing about "we".
        let names = |at: usize| {
            !words[..at].iter().any(|word| is_among(lx::PRONOUN | lx::FIRST_PERSON, &word.lower))
                && words[0].lower != "you"
        };
        if let Some(at) = position_of(words, lx::SETTLEMENT)
            .filter(|&at| (1..=6).contains(&at) && self.role == Role::User && names(at))
        {
            return Some(self.decided(self.chosen(&words[..at]), words));
        }
        // "Nightly is fine": one of two ways that were spoken of.
        let is_choice = |at: usize| {
            (1..=4).contains(&at)
                && !words[..at].iter().any(|word| word.lower.starts_with(|c: char| c.is_ascii_digit()))
                && !words[..at]
                    .iter()
                    .any(|word| is_among(lx::PRONOUN | lx::TEST | lx::CI | lx::DETERMINER, &word.lower))
        };
        if self.role == Role::User
            && !self.context.recent.is_empty()
            && let Some(at) = position_of(words, "is fine | are fine").filter(|&at| is_choice(at))
        {
            return Some(self.decided(self.chosen(&words[..at]), words));
        }
        if let Some(at) =
            position_of(words, "has to wait | have to wait | can wait").filter(|at| (1..=5).contains(at))
        {
            return Some(TurnClaim::decision(self.said(&words[..words.len().min(at + 3)])));
        }
        if let Some(at) = position_of(words, "instead of | rather than")
            .filter(|at| (1..=4).contains(at) && self.role == Role::User && is_order(words))
        {
            return Some(self.decided(self.chosen(&words[..at]), words));
        }
        if let Some(claim) = self.instead(words) {
            return Some(claim);
        }
        let agreed = strip(
            words,
            "we have agreed | we agreed | we have decided | we decided | it was agreed | it was decided",
        )?;
        let that = agreed.iter().take(5).position(|word| word.lower == "that")?;
        let rest = &agreed[that + 1..];
        (rest.len() > 2).then(|| self.decided(self.said(rest), rest))
    }

    /// "Instead of Django we will use Rails".
    fn instead(&self, words: &[Word]) -> Option<TurnClaim> {
        let rest = strip(words, "instead of | rather than")?;
        let at = position_of(rest, "we will | let us | we are").filter(|at| (1..=5).contains(at))?;
        match self.decision(&rest[at..])? {
            TurnClaim::Decision { summary, revises, .. } => {
                Some(TurnClaim::Decision { summary, revises, instead_of: Some(self.slice(&rest[..at])) })
            }
            _ => None,
        }
    }

    /// Under "Decisions" a prohibition is a decision, and so is a phrase without a verb.
    pub(super) fn decision_in_a_list(&self, words: &[Word], text: String) -> TurnClaim {
        match self.decision(words).or_else(|| self.prohibition(words)) {
            Some(TurnClaim::Constraint { summary, .. }) => TurnClaim::decision(summary),
            Some(claim @ TurnClaim::Decision { .. }) => claim,
            _ => TurnClaim::decision(text),
        }
    }

    pub(super) fn decision(&self, words: &[Word]) -> Option<TurnClaim> {
        if let Some(plan) = self.changed_plan(words).or_else(|| self.replaced_by_name(words)) {
            return Some(plan);
        }
        if self.is_correction(words) || self.is_narrowed(words) || self.is_left(words) {
            return Some(TurnClaim::decision(self.said(words)));
        }
        if self.is_appointed(words)
            || self.is_appointment(words)
            || self.is_order_of_work(words)
            || self.is_for_all(words)
        {
            return Some(self.decided(self.said(words), words));
        }
        if let Some(again) = self.decided_anew(words) {
            return Some(again);
        }
        let own = strip(words, "we | i").unwrap_or(words);
        if let Some(rest) = strip(own, lx::REPORTED_DECISION)
            .filter(|rest| !rest.is_empty() && !is_among("and | or | up", &rest[0].lower))
        {
            return Some(self.decided(self.what_was_decided(words, own, rest), rest));
        }
        let going = "going with | sticking with | we go with | we go for | let us go with | we will go with | i will go with | go with | let us go for";
        if let Some(rest) = strip(words, going).filter(|rest| !rest.is_empty()) {
            return Some(self.decided(self.chosen(rest), rest));
        }
        if let [name @ .., it, is] = words
            && (it.lower.as_str(), is.lower.as_str()) == ("it", "is")
            && (1..=4).contains(&name.len())
            && self.role != Role::Assistant
        {
            return Some(self.decided(format!("Use {}", self.slice(name)), words));
        }
        if let Some(name) = self.name_after_so(words) {
            return Some(self.decided(format!("Use {name}"), words));
        }
        let present = strip(words, "we").filter(|rest| {
            self.role == Role::User
                && rest.len() > 1
                && starts_with(rest, "drop | freeze | ship | postpone | skip | switch to | move to | stick with | stick to | stay on | stay with | go back to | go to")
        });
        if let Some(rest) = present {
            return Some(self.decided(self.said(rest), &rest[1..]));
        }
        let willed = strip(words, "we will | let us | we are going to | i will | we shall")
            .filter(|_| self.role != Role::Assistant || strip(words, "i will").is_none());
        let said = willed.or(Some(words).filter(|_| self.role != Role::Assistant))?;
        let said = strip(said, "just | simply | definitely | always | now | only | also").unwrap_or(said);
        let firm = willed.filter(|_| strip(words, "we will | let us | we shall").is_some());
        let unknown = || {
            firm.and_then(|_| said.split_first())
                .filter(|(verb, _)| !is_vague(verb))
                .map(|(_, object)| object)
        };
        let is_user = self.role != Role::Assistant;
        if let Some(object) = strip(said, lx::SETTING_VERB).filter(|object| {
            is_user && !object.is_empty() && is_order(object) && !(object.len() == 1 && is_pronoun(object))
        }) {
            return Some(self.set_anew(said, object));
        }
        let is_policy = |object: &&[Word]| {
            let is_all = strip(object, "everything | all | every | any | each | only").is_some();
            is_all && is_user
        };
        let object = strip(said, lx::DECISION_VERB)
            .or_else(|| strip(said, lx::WORK_VERB).filter(is_policy))
            .or_else(unknown)?;
        // As bare orders these are work, not choices.
        let is_work = willed.is_none()
            && strip(said, "leave it at | leave them at | leave that at").is_none()
            && !self.revises()
            && !is_policy(&object)
            && (strip(said, "make | split | log | drop | put | leave | deploy to | deploy on").is_some()
                || strip(said, "take").is_some() && said.len() > 3);
        let has_figure = object.iter().any(|word| word.lower.starts_with(|c: char| c.is_ascii_digit()));
        (!object.is_empty() && !is_work && is_order(object) && (!is_pronoun(object) || has_figure))
            .then(|| self.decided(self.said(said), object))
    }

    /// "The queue will be RabbitMQ": a user says what a thing of the project becomes.
    fn is_appointed(&self, words: &[Word]) -> bool {
        let at = position_of(words, "will be | will become | will use | will run on | will live in");
        self.role == Role::User
            && self.begins_sentence(words)
            && at.is_some_and(|at| (1..=4).contains(&at) && words.len() > at + 2 && words.len() <= at + 9)
            && !words.iter().take(at.unwrap_or(0)).any(|word| {
                is_among(lx::PRONOUN | lx::FIRST_PERSON | lx::PREPOSITION, &word.lower)
                    || is_among("you | instead | rather", &word.lower)
            })
            && !contains(words, lx::COMPLETION | lx::FAILURE | lx::OPINION)
            && !contains(words, "able to | back | late | soon | there | slow | fast | happy")
    }

    /// "Prod tonight", "we deploy on thursday": when something goes out.
    fn is_appointment(&self, words: &[Word]) -> bool {
        const DAYS: &str = "today | tonight | tomorrow | monday | tuesday | wednesday | thursday | friday | saturday | sunday";
        const RELEASES: &str = "prod | production | rollout | roll-out | release | deploy | launch | ship | merge | go-live | cut-over";
        let near = &words[..words.len().min(4)];
        let is_day = words.iter().any(|word| is_among(DAYS, &word.lower))
            || contains(words, "next week | next month | on the");
        let is_past = words.iter().any(|word| {
            is_among(
                "is | are | was | were | failed | broke | since | when | before | after | if | why | did",
                &word.lower,
            )
        });
        self.role == Role::User
            && (2..=8).contains(&words.len())
            && near.iter().any(|word| is_among(RELEASES, &word.lower))
            && is_day
            && !is_past
    }

    /// "Back to blue", "we do Windows after all", "the launch slipped to June 17": it was decided otherwise before.
    fn decided_anew(&self, words: &[Word]) -> Option<TurnClaim> {
        if self.role != Role::User {
            return None;
        }
        let back = strip(
            words,
            "back to | put it back to | set it back to | change it back to | put them back to | let us go back to | go back to | switch back to | revert to | return to",
        );
        let is_back = back.is_some_and(|rest| (1..=7).contains(&rest.len()));
        let is_after_all = position_of(words, "after all").is_some_and(|at| {
            let before = &words[..at];
            at > 1
                && words.len() - at <= 8
                && !contains(before, lx::NEGATION | lx::NO | lx::DISCOVERY)
                && !contains(before, "is | are | was | were | needs | has")
        });
        let moved = position_after(
            words,
            "slipped to | moved to | pushed to | postponed to | delayed to | pushed back to | rescheduled to | is now on",
        )
        .filter(|&at| at <= 6);
        let is_date = |word: &Word| {
            word.lower.starts_with(|c: char| c.is_ascii_digit())
                || is_among(
                    "monday | tuesday | wednesday | thursday | friday | saturday | sunday | january | february | march | april | may | june | july | august | september | october | november | december | next | q1 | q2 | q3 | q4",
                    &word.lower,
                )
        };
        let is_moved = moved.is_some_and(|at| words[at..].iter().take(3).any(is_date));
        let summary = || match position_of(words, "after all").filter(|_| is_after_all) {
            Some(at) => self.said(&words[..at]),
            None => self.said(strip(words, "let us").unwrap_or(words)),
        };
        (is_back || is_after_all || is_moved).then(|| TurnClaim::Decision {
            summary: summary(),
            revises: true,
            instead_of: None,
        })
    }

    /// "So rabbit", "then just instead": a name, after what was said against the one before.
    fn replaced_by_name(&self, words: &[Word]) -> Option<TurnClaim> {
        let all = &self.sentence.words;
        let so = strip(all, "so | ok so | then | so then")
            .filter(|rest| rest.len() == words.len() || rest.len() <= 4)?;
        let (last, front) = so.split_last()?;
        let is_instead = is_among("instead", &last.lower);
        let name = if is_instead { front } else { so };
        let is_plain = |word: &Word| {
            !is_among(
                lx::AUXILIARY
                    | lx::STATIVE_VERB
                    | lx::NEGATION
                    | lx::NO
                    | lx::PRONOUN
                    | lx::FIRST_PERSON
                    | lx::FILLER
                    | lx::ACCEPTANCE
                    | lx::OPENER
                    | lx::WORK_VERB
                    | lx::DECISION_VERB,
                &word.lower,
            ) && !is_among("what | why | how | far | much | long | we | you | that | the", &word.lower)
        };
        let is_name = (1..=if is_instead { 3 } else { 2 }).contains(&name.len()) && name.iter().all(is_plain);
        let lead = all[all.len() - so.len() - 1].lower.as_str();
        let is_alone = lead == "so" || is_instead || lead == "then" && !self.context.is_asked;
        (self.role == Role::User && is_name && is_alone && !self.context.recent.is_empty()).then(|| {
            TurnClaim::Decision {
                summary: format!("Use {}", self.slice(name)),
                revises: !self.context.is_asked,
                instead_of: None,
            }
        })
    }

    /// "Feature flags are per tenant, not global": a user says how it is to be instead of what was said.
    fn is_correction(&self, words: &[Word]) -> bool {
        let not = words.iter().rposition(|word| word.lower == "not");
        let is_contrast = not.is_some_and(|not| {
            not > 3 && words[not - 1].paused && (1..=3).contains(&(words.len() - not - 1))
        });
        self.role == Role::User
            && is_contrast
            && words.len() <= 16
            && words.iter().take(5).any(|word| is_among("is | are", &word.lower))
            && !is_among("it | that | this | there | i | we | you", &words[0].lower)
    }

    /// "Just 08", as an answer to a proposal.
    fn is_narrowed(&self, words: &[Word]) -> bool {
        self.role == Role::User
            && (!self.context.offers.is_empty() || self.context.asks_for_choice)
            && strip(words, "just | only").is_some_and(|rest| {
                (1..=3).contains(&rest.len())
                    && !rest.iter().any(|word| is_among(lx::AUXILIARY | lx::VERB | lx::PRONOUN, &word.lower))
            })
    }

    /// "Leave tags".
    fn is_left(&self, words: &[Word]) -> bool {
        self.role == Role::User
            && strip(words, "leave").is_some_and(|rest| {
                let end = rest.iter().position(|word| word.paused).map_or(rest.len(), |at| at + 1);
                (1..=3).contains(&end)
                    && end == rest.len()
                    && !is_among("it | that | them | this | me | us | you | in | out", &rest[0].lower)
            })
    }

    /// "Then I keep our trap", "instead of a lint rule I block all hosts": an agent chooses another way.
    fn changed_plan(&self, words: &[Word]) -> Option<TurnClaim> {
        if self.role != Role::Assistant {
            return None;
        }
        let using =
            strip(words, "i am using | i am now using | i use | i went with | i am going with | using");
        if let Some((last, object)) = using.and_then(<[Word]>::split_last)
            && last.lower == "instead"
            && !object.is_empty()
        {
            return Some(TurnClaim::Decision {
                summary: format!("Use {}", self.slice(object)),
                revises: true,
                instead_of: None,
            });
        }
        let own = strip(words, "i").filter(|_| {
            let before = words.first().map_or("", |word| &self.sentence.text[..word.place.start]);
            let front = before.trim().to_lowercase();
            front.ends_with("then") || front.ends_with("so")
        })?;
        let object = strip(own, "keep | use | take | go with | stay with | leave | return to | go back to")?;
        (!object.is_empty()).then(|| TurnClaim::Decision {
            summary: self.said(own),
            revises: true,
            instead_of: None,
        })
    }

    /// "30 days everywhere": a value without a verb, for all cases.
    fn is_for_all(&self, words: &[Word]) -> bool {
        let is_all = contains(
            words,
            "everywhere | for everyone | for all of them | for all users | every time | each time | then out",
        );
        let is_verb = |word: &Word| {
            is_among(lx::AUXILIARY | lx::STATIVE_VERB | lx::PRONOUN | lx::NEGATION, &word.lower)
        };
        self.role == Role::User
            && is_all
            && (2..=9).contains(&words.len())
            && self.begins_sentence(words)
            && !words.iter().any(is_verb)
            && !is_among(lx::PREPOSITION, &words[0].lower)
    }

    /// "Combobox first": what comes first.
    fn is_order_of_work(&self, words: &[Word]) -> bool {
        let end = words.iter().position(|word| word.paused).map_or(words.len(), |at| at + 1);
        let own = &words[..end];
        let own = own.split_last().filter(|(last, _)| last.lower == "please").map_or(own, |(_, own)| own);
        let Some((last, subject)) = own.split_last() else { return false };
        let is_verb = |word: &Word| {
            is_among(
                lx::AUXILIARY | lx::STATIVE_VERB | lx::WORK_VERB | lx::NEGATION | lx::PRONOUN,
                &word.lower,
            )
        };
        self.role == Role::User
            && last.lower == "first"
            && (1..=3).contains(&subject.len())
            && !subject.iter().any(is_verb)
            && !is_among(lx::VERB, &subject[0].lower)
            && !is_among("the | at | from | me | legal", &subject[subject.len() - 1].lower)
    }

    /// "The team knows Postgres better, so Postgres": the name behind the last "so".
    pub(super) fn name_after_so(&self, words: &[Word]) -> Option<String> {
        let so =
            words.iter().rposition(|word| word.lower == "so").filter(|&so| so > 0 && words[so - 1].paused)?;
        let name = &words[so + 1..];
        let is_verb = |word: &Word| {
            is_among(lx::AUXILIARY | lx::STATIVE_VERB | lx::NEGATION | lx::NO | lx::PRONOUN, &word.lower)
        };
        let is_name = (1..=3).contains(&name.len()) && !name.iter().any(is_verb) && self.role == Role::User;
        is_name.then(|| self.slice(name))
    }

    /// "Raise the limit to 20": replaces the decision about the same subject, if there is one.
    fn set_anew(&self, said: &[Word], object: &[Word]) -> TurnClaim {
        let summary = self.said(said);
        match self.decided(summary.clone(), object) {
            TurnClaim::Decision { revises, instead_of: None, .. } => {
                TurnClaim::Decision { instead_of: Some(summary.clone()), summary, revises }
            }
            claim => claim,
        }
    }

    fn what_was_decided(&self, words: &[Word], own: &[Word], rest: &[Word]) -> String {
        let last = &own[own.len() - rest.len() - 1].lower;
        if matches!(last.as_str(), "on" | "chose" | "picked" | "for" | "with" | "chosen" | "using") {
            return self.chosen(rest);
        }
        match strip(words, "we are | i am") {
            Some(doing) => self.said(doing),
            None => self.said(strip(rest, "we will | we | to").unwrap_or(rest)),
        }
    }

    fn decided(&self, summary: String, object: &[Word]) -> TurnClaim {
        let instead = position_after(object, "instead of | rather than | in place of")
            .map(|at| self.slice(&object[at..]));
        let until = |words: &[Word], ends: &str| {
            let end = words.iter().position(|word| is_among(ends, &word.lower))?;
            Some(self.slice(&words[..end]))
        };
        let replaced =
            || until(strip(&self.sentence.words, "replace | let us replace | we will replace")?, "with | by");
        let left = || {
            let is_move = self.has("switch from | migrate from | move from");
            until(&object[position_after(object, "from").or(Some(0)).filter(|_| is_move)?..], "to")
        };
        TurnClaim::Decision {
            summary,
            revises: self.revises(),
            instead_of: instead.or_else(replaced).or_else(left),
        }
    }
}

/// Verbs after "we will" or "let's" that commit to nothing, or to work.
fn is_vague(verb: &Word) -> bool {
    let is_work = strip(std::slice::from_ref(verb), lx::WORK_VERB).is_some();
    is_work || is_among(lx::VAGUE_VERB, &verb.lower) || !verb.lower.chars().all(char::is_alphabetic)
}

/// "Use that here" decides nothing that a later reader could understand.
fn is_pronoun(object: &[Word]) -> bool {
    object.first().is_some_and(|word| is_among("that | it | this | them | those | these | both", &word.lower))
}
