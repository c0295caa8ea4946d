//! Rules that bind future work.

use super::super::Role;
use super::super::claims::{RuleChange, TurnClaim};
use super::RuleReader;
use crate::vocabulary::RevisionMode;
use probity_prose::lexicon::{self as lx, contains, is_among, position_after, position_of, strip};
use probity_prose::words::Word;

impl RuleReader<'_> {
    pub(super) fn constraint(&self, words: &[Word]) -> Option<TurnClaim> {
        if let Some(change) = self.constraint_change(words) {
            return Some(change);
        }
        if let Some(rest) = strip(words, "make sure that | make sure | ensure that | ensure | see to it that")
        {
            return (rest.len() > 1).then(|| TurnClaim::constraint(self.said(rest), true));
        }
        if let Some(rule) = self.rule_of_user(words) {
            return Some(rule);
        }
        // An agent that says "right, no admin page" repeats an instruction.
        let repeats = self.role == Role::Assistant && strip(words, "no").is_some();
        // What an agent says must be so is an observation, unless it says that it must.
        let is_agent = self.role == Role::Assistant;
        let binds = !is_agent
            || strip(words, "only").is_some()
            || contains(words, "must | may only | only may | has to | have to | never | always");
        // "No QIF" as an answer decides.
        if !is_agent && self.context.is_asked && strip(words, "no").is_some() && is_ban(words) {
            return Some(TurnClaim::decision(self.said(words)));
        }
        let hard = !repeats
            && binds
            && (is_hard_rule(words)
                || !is_agent && says_never(words)
                || !is_agent && (is_bound_alone(words) || is_deadline(words)));
        let soft = !hard && !is_agent && is_preference(words);
        let change = if self.revises() { RuleChange::Replaces } else { RuleChange::New };
        (hard || soft).then(|| TurnClaim::Constraint { summary: self.said(words), hard, change })
    }

    /// "I don't want ML", "under 50 ms is the rule", "photos only over wifi".
    pub(super) fn rule_of_user(&self, words: &[Word]) -> Option<TurnClaim> {
        if self.role == Role::Assistant {
            return None;
        }
        let unwanted =
            strip(words, "i do not want any | i do not want | we do not want any | we do not want");
        let is_unwanted = unwanted.is_some_and(|rest| {
            (1..=6).contains(&rest.len())
                && !is_among("to | you | it | that | this | them | us | me", &rest[0].lower)
        });
        // Said out of the blue, "keep Firefox working" preserves something; as an answer it chooses.
        let is_preserved = self.context.offers.is_empty()
            && !self.context.is_asked
            && strip(words, "keep").is_some_and(|rest| {
                !is_among("it | that | them | this | using | going", &rest[0].lower)
                    && contains(rest, "working | running | in both | in sync | compatible | intact | the same | unchanged | stable")
            });
        let is_never = strip(words, "let us never | we never").is_some_and(|rest| rest.len() > 1);
        let names_rule = contains(words, "is the rule | is our rule | is a rule | is the law here")
            && words.len() > 4
            && !contains(words, "what | which | if");
        (is_unwanted || is_preserved || is_never || names_rule || is_restriction(words))
            .then(|| TurnClaim::constraint(self.said(words), true))
    }

    /// "Allow GPL code in tests", "make that 200 ms".
    pub(super) fn constraint_change(&self, words: &[Word]) -> Option<TurnClaim> {
        let rest = strip(words, lx::RULE_CHANGE)?;
        let mode = match () {
            () if self.has("relax | loosen | allow | exception | except for") => RevisionMode::Relaxed,
            () if self.has("tighten | stricter | restrict") => RevisionMode::Tightened,
            () => RevisionMode::Amended,
        };
        (!rest.is_empty()).then(|| TurnClaim::Constraint {
            summary: self.said(words),
            hard: false,
            change: RuleChange::Changes(mode),
        })
    }
}

fn is_hard_rule(words: &[Word]) -> bool {
    if strip(words, "no").is_some() {
        return is_ban(words);
    }
    let is_strong =
        contains(words, lx::OBLIGATION) && strip(words, lx::IDLE_OBLIGATION).is_none() && words.len() > 2;
    let can_not = position_after(words, "can not").map(|at| &words[at..]);
    let forbids = can_not.is_some_and(|rest| {
        strip(rest, lx::FORBIDDEN_VERB).is_some_and(|object| !object.is_empty())
            || strip(rest, "change | break | move | go away | disappear | grow | slip").is_some()
    }) && !is_among("i | that | it | this", &words[0].lower)
        && !contains(words, "properly | correctly | reliably | at all | yet | anymore");
    let is_bounded = strip(words, "keep | limit | cap | stay").is_some()
        && contains(words, lx::BOUND)
        && words.iter().any(|word| word.lower.starts_with(|c: char| c.is_ascii_digit()));
    let is_always = strip(words, "always").is_some_and(|rest| rest.len() > 1)
        || words.split_last().is_some_and(|(last, rest)| {
            last.lower == "always" && rest.len() > 2 && rest[rest.len() - 1].paused
        });
    let is_narrow = strip(words, "only").is_some_and(|rest| {
        contains(rest, "may be | may | is permitted | are permitted | is allowed | are allowed")
            && rest.len() > 3
    });
    let is_without = strip(words, "without").is_some_and(|rest| {
        rest.len() > 1
            && is_among(
                "touching | changing | breaking | adding | using | losing | modifying",
                &rest[0].lower,
            )
    });
    let is_fixed = contains(words, lx::IMMOVABLE) && words.len() > 3;
    is_narrow
        || is_without
        || is_fixed
        || has_to(words)
        || binds_everyone(words)
        || is_strong
        || forbids
        || is_bounded
        || is_always
}

/// "Accuracy drop max 1 point", "average current below 8 µA": a limit without a verb.
pub(super) fn is_bound_alone(words: &[Word]) -> bool {
    let is_figure = |word: &Word| word.lower.starts_with(|c: char| c.is_ascii_digit());
    let at = position_after(
        words,
        "max | maximum | at most | no more than | never more than | not more than | below | under | at least | minimum",
    );
    let has_verb = words.iter().any(|word| is_among(lx::STATIVE_VERB, &word.lower) || word.lower == "got")
        || strip(words, "i want | we want").is_some();
    let at = at.or_else(|| {
        strip(words, "acceptable up to | ok up to | fine up to | allowed up to")
            .map(|rest| words.len() - rest.len())
    });
    at.is_some_and(|at| words.get(at..).is_some_and(|rest| rest.iter().take(2).any(is_figure)))
        && !has_verb
        && (3..=14).contains(&words.len())
}

/// "Photos only over wifi", "C++17 only": a thing, and the only way that it may be.
fn is_restriction(words: &[Word]) -> bool {
    let Some(only) = words.iter().position(|word| word.lower == "only") else { return false };
    let (left, right) = (&words[..only], &words[only + 1..]);
    let end = right.iter().position(|word| is_among("when | because | if | since | though", &word.lower));
    let right = &right[..end.unwrap_or(right.len())];
    let is_verb = |word: &Word| {
        is_among(lx::AUXILIARY | lx::STATIVE_VERB | lx::MODAL | lx::NEGATION | lx::PRONOUN, &word.lower)
            || is_among(lx::WORK_VERB | lx::DECISION_VERB, &word.lower)
    };
    let is_short =
        left.len() <= 4 && right.len() <= 6 && words.len() >= 2 && (!left.is_empty() || right.len() >= 2);
    let is_way = right.is_empty()
        || words[only].paused
        || right.first().is_some_and(|word| is_among(lx::PREPOSITION, &word.lower));
    is_short
        && is_way
        && !left.iter().chain(right).any(is_verb)
        && left.last().is_none_or(|word| !word.paused)
}

/// "The old links need to keep working": the subject is a thing, not a person.
fn has_to(words: &[Word]) -> bool {
    let at = position_of(words, "has to | have to | needs to | need to | is to stay | are to stay");
    let is_person =
        strip(words, "i | we | you | they | he | she | that | this | then | someone | somebody").is_some();
    let is_ours = |at: usize| {
        let near = &words[at.saturating_sub(2)..at];
        near.iter().any(|word| is_among("i | we | you | they", &word.lower))
    };
    at.is_some_and(|at| (1..=8).contains(&at) && words.len() > at + 2 && !is_ours(at))
        && !is_person
        && !contains(words, "wait | did not")
}

/// "Files never leave the browser", "amounts never as floats".
fn says_never(words: &[Word]) -> bool {
    let Some(never) = words.iter().position(|word| word.lower == "never") else { return false };
    let subject = &words[..never];
    let Some(next) = words.get(never + 1) else { return false };
    let is_person = |word: &Word| {
        is_among(
            "i | we | it | they | that | this | he | she | you | there | which | who | had | have | has | was | were | is | are | did | almost",
            &word.lower,
        )
    };
    let is_past = next.lower.ends_with("ed")
        || is_among("been | got | had | was | were | again | worked | saw | made | done", &next.lower);
    (1..=4).contains(&subject.len()) && words.len() - never >= 3 && !subject.iter().any(is_person) && !is_past
}

/// "Nobody deploys on Saturday", "each token works exactly once".
fn binds_everyone(words: &[Word]) -> bool {
    let is_nobody = strip(words, "nobody | no one").is_some_and(|rest| {
        rest.len() > 1
            && rest[0].lower.ends_with('s')
            && !matches!(
                rest[0].lower.as_str(),
                "is" | "was"
                    | "has"
                    | "knows"
                    | "cares"
                    | "uses"
                    | "pastes"
                    | "likes"
                    | "dares"
                    | "needs"
                    | "wants"
                    | "reads"
                    | "notices"
                    | "complains"
                    | "remembers"
                    | "understands"
            )
    });
    let is_permitted = strip(words, "nobody | no one | none").is_some_and(|rest| {
        contains(rest, "is allowed | are allowed | may | is permitted") && rest.len() > 3
    });
    let is_nothing = strip(words, "nothing").is_some_and(|rest| {
        contains(rest, "leaves | goes to | goes into | gets | may | is to | is allowed") && rest.len() > 2
    });
    let keeps = position_of(
        words,
        "keep working | keeps working | stay working | keeps its | keep their | stays compatible",
    )
    .is_some_and(|at| at > 0);
    let is_each = strip(words, "each | every").is_some()
        && contains(words, "exactly | only | at most | at least | no more than");
    is_nobody || is_permitted || is_nothing || keeps || is_each
}

/// "No runtime dependencies": a ban without a verb.
fn is_ban(words: &[Word]) -> bool {
    let has_verb =
        words.iter().any(|word| matches!(word.lower.as_str(), "is" | "was" | "will" | "did" | "has"));
    let end = words.iter().position(|word| word.paused).map_or(words.len(), |at| at + 1).max(1);
    let words = &words[..end];
    let rest = &words[1..];
    (1..=8).contains(&rest.len())
        && rest[0].lower != "no"
        && strip(rest, lx::IDLE_NO).is_none()
        && !has_verb
        && !words[0].paused
}

/// "They need it by Monday", "the demo is on Friday": a date that binds.
fn is_deadline(words: &[Word]) -> bool {
    const DAYS: &str =
        "monday | tuesday | wednesday | thursday | friday | saturday | sunday | tomorrow | tonight | noon";
    let at = position_after(words, "by | before | no later than | until | due");
    let is_day = at.is_some_and(|at| {
        words.get(at..).is_some_and(|rest| rest.iter().take(2).any(|word| is_among(DAYS, &word.lower)))
    });
    is_day
        && contains(words, "need | needs | must | has to | have to | due | deadline | expects | wants")
        && words.len() <= 14
}

fn is_preference(words: &[Word]) -> bool {
    let prefers =
        strip(words, "prefer | we prefer | i prefer | avoid | try to avoid | ideally | try to").is_some();
    let has_should = words.iter().skip(1).any(|word| word.lower == "should");
    let is_norm =
        has_should && words.len() > 3 && strip(words, "we | i | you | it | that | this | they").is_none();
    (prefers || is_norm) && words.len() > 1
}
