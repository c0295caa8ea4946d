//! What a session is for.

use super::super::Role;
use super::super::claims::TurnClaim;
use super::RuleReader;
use probity_prose::lexicon::{self as lx, contains, is_among, strip};
use probity_prose::words::Word;

impl RuleReader<'_> {
    pub(super) fn goal(&self, words: &[Word]) -> Option<TurnClaim> {
        if let Some(rest) = named_goal(words).or_else(|| wanted_thing(words)) {
            return Some(TurnClaim::Goal(self.said(rest)));
        }
        if let Some(rest) = self.wanted_first(words) {
            return Some(TurnClaim::Goal(self.said(rest)));
        }
        if let Some(rest) = strip(words, lx::GOAL).filter(|rest| !rest.is_empty()) {
            return Some(TurnClaim::Goal(self.said(rest)));
        }
        let wanted = strip(
            words,
            "we want to | i want to | we are trying to | i am trying to | let us | we need to | i need to",
        );
        let builds = |rest: &[Word]| {
            let made = strip(
                rest,
                "build | create | make | ship | launch | develop | write | release | rewrite | port",
            );
            made.and_then(|made| strip(made, "a | an | our own | our")).is_some_and(|rest| !rest.is_empty())
        };
        let is_small = self.has("test | tests | pr | ticket | list | copy | helper | function | note");
        if let Some(rest) = wanted.filter(|rest| builds(rest) && !is_small) {
            return Some(TurnClaim::Goal(self.said(rest)));
        }
        let ongoing = strip(words, "we are | i am").filter(|_| self.role != Role::Assistant)?;
        let is_making =
            strip(ongoing, "building | creating a | making a | developing a | designing a | writing a");
        is_making.is_some_and(|rest| !rest.is_empty()).then(|| TurnClaim::Goal(self.said(ongoing)))
    }

    /// What a user wants in the first turn is the goal of the session: "I want all serious ones gone before the release".
    pub(super) fn wanted_first<'w>(&self, words: &'w [Word]) -> Option<&'w [Word]> {
        if self.role != Role::User || !self.context.recent.is_empty() {
            return None;
        }
        let rest = strip(
            words,
            "i want | we want | i would like | we need | i need | we would like | i want to have | i would like to have | we are replacing | we are moving | we are migrating | we are trying to | i want to have | i am trying to | i would be happy with | would be happy with | we would be happy with | the plan is to | it would be great if | it would be nice if | ideally | hoping to | we hope to | trying to | help me | we are about to | what i am after is | what i want is | what we need is | what i need is | get",
        )?;
        let rest = strip(rest, "to have | to get | to").unwrap_or(rest);
        let is_request = strip(rest, "you | know | help | understand").is_some();
        let is_pointer = is_among("this | that | it", &rest.first()?.lower);
        let has_figure = rest.iter().any(|word| word.lower.starts_with(|c: char| c.is_ascii_digit()));
        // "I want it stable" says how it should be.
        let is_quality =
            is_pointer && (rest.len() == 2 || rest.len() > 3 && rest[1].lower == "to" || has_figure);
        ((rest.len() >= 3 && !is_pointer || is_quality) && !is_request).then_some(rest)
    }
}

/// "The goal for this week is to …", "our aim is …".
fn named_goal(words: &[Word]) -> Option<&[Word]> {
    let named = strip(words, "the | our | my | main | the main").unwrap_or(words);
    let after = strip(named, "goal | aim | objective | target | purpose | mission")?;
    let is = after.iter().take(7).position(|word| word.lower == "is")?;
    let rest = &after[is + 1..];
    let rest = strip(rest, "to").unwrap_or(rest);
    let is_over = strip(rest, "met | reached | achieved | done | not | still | clear").is_some();
    (!rest.is_empty() && !is_over).then_some(rest)
}

/// "We want a classifier that …", "I was asked to …", "migrating off the old host".
fn wanted_thing(words: &[Word]) -> Option<&[Word]> {
    let asked = strip(
        words,
        "i was asked to | we were asked to | we have been asked to | my job is to | our job is to",
    );
    let wanted = || {
        let rest = strip(words, "we want | i want | we need")?;
        let is_thing = strip(rest, "a | an").is_some() && rest.len() > 4;
        let is_for = rest.iter().any(|word| matches!(word.lower.as_str(), "that" | "which" | "for" | "to"));
        (is_thing && is_for).then_some(rest)
    };
    let doing = || {
        strip(words, "moving off | moving to | moving away from | migrating | replacing | rewriting | building | porting")
            .filter(|rest| (1..=10).contains(&rest.len()) && !contains(rest, "is | are | was | takes | will"))
            .map(|_| words)
    };
    asked.filter(|rest| rest.len() > 1).or_else(wanted).or_else(doing)
}
