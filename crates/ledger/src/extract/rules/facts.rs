//! Facts: findings, and plain statements about the project.

use super::super::Role;
use super::super::claims::TurnClaim;
use super::RuleReader;
use crate::vocabulary::ConfidenceLevel;
use probity_prose::lexicon::{self as lx, is_among, position_after, strip};
use probity_prose::stems::stems;
use probity_prose::words::{Word, strip_openers};

impl RuleReader<'_> {
    pub(super) fn fact(&self, words: &[Word]) -> Option<TurnClaim> {
        let told = || {
            let near = &words[..words.len().min(9)];
            position_after(near, lx::TOLD_DISCOVERY).map(|at| &words[at..])
        };
        let found =
            strip(words, lx::DISCOVERY).or_else(told).filter(|rest| rest.len() >= 3 && !is_phrase(rest));
        if self.announces(words) || self.sentence.text.starts_with(['"', '“', '(']) {
            return None;
        }
        let is_lack =
            strip(words, "we do not").is_some() && self.has("at the moment | currently | right now | today");
        let is_practice = is_lack || strip(words, lx::PRACTICE).is_some_and(|rest| rest.len() > 1);
        let said = found.or(Some(words).filter(|words| {
            is_practice
                || !is_opinion(words)
                    && (self.is_statement(words)
                        || is_measured(words)
                        || self.declares(words)
                        || self.is_test_result(words)
                        || self.is_figure_alone(words))
        }))?;
        let corrects = self.revises() || self.has("turns out | in fact");
        let confirms = self.has(lx::CONFIRMATION);
        let is_sure =
            found.is_some() && (confirms || self.has("measured | the logs show | the profiler shows"));
        let confidence = if is_sure { ConfidenceLevel::High } else { ConfidenceLevel::Medium };
        Some(TurnClaim::Fact { summary: self.said(said), confidence, corrects, confirms })
    }

    /// "Looking at the registration code": the agent says what it is about to do.
    fn announces(&self, words: &[Word]) -> bool {
        self.role == Role::Assistant
            && self.begins_sentence(words)
            && is_among(
                "looking | checking | running | reading | investigating | searching | digging | profiling | trying | starting | working | writing | adding | testing | measuring | comparing",
                &words[0].lower,
            )
            && !words
                .iter()
                .take(5)
                .any(|word| is_among("is | are | takes | needs | costs | was", &word.lower))
    }

    /// "The API is rate limited": a subject from the project, a verb, and a complement.
    fn is_statement(&self, words: &[Word]) -> bool {
        let is_ours = matches!(words[0].lower.as_str(), "the" | "our" | "all" | "each" | "every");
        let first = usize::from(is_ours);
        let Some(subject) = words.get(first).filter(|_| words.len() >= 4) else {
            return false;
        };
        let is_idle = is_among(lx::IDLE_SUBJECT, &subject.lower) || is_among(lx::IDLE_START, &words[0].lower);
        let reports_progress = words.last().is_some_and(|word| is_among(lx::PROGRESS, &word.lower));
        let verb =
            words.iter().take(8).skip(first + 1).position(|word| is_among(lx::STATIVE_VERB, &word.lower));
        let has_verb =
            verb.is_some_and(|at| first + at + 2 < words.len()) || is_ours && has_verb_by_form(words);
        has_verb && !is_idle && !reports_progress && (is_ours || self.is_about_a_name(words))
    }

    /// "Paths are computed once", "it pulls in two crates": a subject, a verb and something to know. Of a user only with a figure or
    /// a name, because people talk about more than the project.
    fn declares(&self, words: &[Word]) -> bool {
        if self.sentence.is_translated || !self.begins_sentence(words) || self.is_report_of_work(words) {
            return false;
        }
        let is_agent = self.role == Role::Assistant;
        let first = &words[0].lower;
        let is_specific = self.is_specific(words);
        let is_pointer = is_among("it | they | that | this | these | those | there | you | we", first);
        let is_counted = words.iter().any(|word| is_among(lx::NUMERAL, &word.lower));
        let is_thing = is_among("it | they", first) && is_agent && is_counted && words.len() >= 5;
        let is_idle = is_among(lx::IDLE_START, first) && !(is_pointer && is_specific) && !is_thing
            || is_among(lx::IDLE_SUBJECT, words.get(1).map_or("", |word| &word.lower))
            || is_among("i | let | sorry | understood | noted | agreed | sounds", first);
        let starts_with_verb =
            is_among(lx::VERB, first) && !first.ends_with('s') || is_among(lx::WORK_VERB, first);
        let is_verb = |at: &usize| {
            is_finite(&words[*at]) || is_verb_by_place(words, *at) || is_verb_of_plural(words, *at)
        };
        let verb = (1..words.len().min(9)).find(is_verb);
        let has_complement = verb.is_some_and(|at| at + 1 < words.len());
        let is_plan = self.has("will | let us | i am going | let me | would | should | i would | want | wants | or | alternative");
        let n_subjects = stems(&self.slice(words)).len();
        // "S3 is cheaper", "it is set": a few words about what something is are an opinion or a report.
        let is_copula = verb.is_some_and(|at| is_among("is | are | was | were", &words[at].lower));
        let is_known = words.len() >= 5 && stems(&self.sentence.text).len() >= 3
            || is_agent
                && !is_copula
                && !is_pointer
                && (words.len() >= 4 && n_subjects >= 3
                    || words.len() >= 3 && is_specific && n_subjects >= 2);
        let is_lack = self.is_lack(words);
        has_complement
            && (!is_idle || is_lack)
            && !starts_with_verb
            && !is_plan
            && is_known
            && (is_agent || is_specific || is_lack || self.is_about_a_thing(words))
    }

    /// "There is no local storage for forms".
    fn is_lack(&self, words: &[Word]) -> bool {
        strip(words, "there is no | there are no | there is only one | there is only").is_some_and(|rest| {
            rest.len() >= 2 && strip(rest, lx::IDLE_NO).is_none() && self.role != Role::System
        })
    }

    /// "Agents can see tickets of other teams": a user tells how a thing of the project behaves.
    fn is_about_a_thing(&self, words: &[Word]) -> bool {
        let is_verb = |at: &usize| is_finite(&words[*at]) || is_verb_of_plural(words, *at);
        let verb = (1..words.len().min(7)).find(is_verb);
        let opens = self.role == Role::User
            && self.context.recent.is_empty()
            && words.len() >= 3
            && !self.has("half | partly | partially | mostly | almost");
        let is_cut = verb.is_none_or(|verb| words[..verb].iter().any(|word| word.paused));
        let near = &words[..words.len().min(8)];
        let is_person = |word: &Word| is_among("i | we | you | me | us | your | he | she", &word.lower);
        (words.len() >= 6 || opens)
            && !is_cut
            && !is_among(lx::PREPOSITION, &words[0].lower)
            && !self.has("priority | talked | talk | discussed | discuss | wanted | asked | dropping | thought | read this | you were right")
            && !near.iter().any(is_person)
            && !is_among(lx::WORK_VERB | lx::DECISION_VERB | lx::SETTING_VERB | lx::IDLE_START, &words[0].lower)
            && !self.has("must | has to | have to | needs to | need to | never | always | only | at least | at most | max | instead | rather | please | want | no need")
    }

    /// "`go test ./...` passes", "the suite is green again".
    fn is_test_result(&self, words: &[Word]) -> bool {
        let is_test = |word: &Word| {
            let names = |name: &str| {
                is_among(lx::TEST | lx::CI | lx::TOOL, name) || is_among("integration | test", name)
            };
            word.lower.split_whitespace().any(names)
        };
        let passes = |word: &Word| is_among("pass | passes | passed | green | clean", &word.lower);
        let verb = words.iter().position(passes).filter(|&at| at > 0);
        let is_end = |at: usize| {
            let rest = &words[at + 1..];
            rest.len() <= 3 && !rest.iter().any(|word| is_among("if | when | again", &word.lower))
                || words[at].paused
        };
        verb.is_some_and(|at| at <= 6 && is_end(at) && words[..at].iter().any(is_test))
            && !self.has(lx::INCOMPLETE)
            && !self.has("must | should | need | needs | until | will")
    }

    /// Returns whether the words are the front of their sentence; a piece further on has lost its subject.
    pub(super) fn begins_sentence(&self, words: &[Word]) -> bool {
        let front = strip_openers(&self.sentence.words);
        let before = words.first().map_or("", |word| &self.sentence.text[..word.place.start]);
        let is_behind_colon = before.trim_end_matches([' ', '`', '*', '"']).ends_with(':');
        let is_behind_but = before.trim_end().ends_with("but")
            || matches!(front, [done, ..] if done.paused
                && before.trim_end().ends_with(',')
                && before.split_whitespace().count() == 1
                && (done.lower == "done" || is_among(lx::WORK_PARTICIPLE, &done.lower)));
        is_behind_colon
            || is_behind_but
            || front.first().map(|word| word.place.start) == words.first().map(|word| word.place.start)
    }

    /// "Changed to 2048 px", "scaling added": tells what was done, not how things are.
    fn is_report_of_work(&self, words: &[Word]) -> bool {
        let is_participle = |word: &Word| {
            is_among(lx::WORK_PARTICIPLE, &word.lower)
                || word.lower.strip_suffix("ed").is_some_and(|base| is_among(lx::VERB, base))
                || word
                    .lower
                    .strip_suffix('d')
                    .is_some_and(|base| base.ends_with('e') && is_among(lx::VERB, base))
        };
        let own = strip(words, "i have | i | we have").unwrap_or(words);
        let begins =
            own.first().is_some_and(|word| is_participle(word) || is_among("done | dropped", &word.lower))
                && !is_among("measured | found | tested", &own[0].lower);
        let fragment = words.iter().skip(1).take(2).any(|word| is_participle(word) || word.lower == "done")
            && !words.iter().take(4).any(|word| is_among(lx::AUXILIARY, &word.lower));
        let is = words.iter().take(8).position(|word| is_among("is | are | was | were", &word.lower));
        let ends = is.is_some_and(|is| {
            let rest = &words[is + 1..];
            let rest = strip(rest, "now | also | all | finally | both").unwrap_or(rest);
            let is_place =
                strip(rest, "in | on | there | under").is_some() && self.sentence.text.contains(['`', '/']);
            rest.first().is_some_and(|word| {
                is_among("done | finished | complete | merged | deployed | shipped | live", &word.lower)
            }) || is_place
        });
        self.role == Role::Assistant && (begins || fragment || ends) || begins && self.role == Role::User
    }

    /// Returns whether a statement has a figure, a path, code or a name in it.
    fn is_specific(&self, words: &[Word]) -> bool {
        let text = &self.sentence.text;
        let is_marked = |word: &Word| {
            word.lower.contains(|c: char| c.is_ascii_digit() || matches!(c, '_' | '/'))
                || text.get(word.place.clone()).is_some_and(|it| it.chars().skip(1).any(char::is_uppercase))
        };
        text.contains('`') || words.iter().any(is_marked)
    }

    /// "16.9 fps, mAP 40.8", "11.4 s → 5.2 s", "axe: 0 serious, 9 moderate": figures without a verb.
    fn is_figure_alone(&self, words: &[Word]) -> bool {
        if self.sentence.is_translated
            || !self.begins_sentence(words)
            || self.is_report_of_work(words)
            || is_among(
                "why | what | how | when | where | which | who | make | ok | for | so | then",
                &words[0].lower,
            )
        {
            return false;
        }
        let is_figure = |word: &Word| word.lower.starts_with(|c: char| c.is_ascii_digit());
        let n_figures = words.iter().filter(|word| is_figure(word)).count();
        let first = words.iter().position(is_figure);
        let measures = words.windows(2).any(|pair| {
            is_figure(&pair[0])
                && (is_among(lx::UNIT | lx::TIME_UNIT, &pair[1].lower)
                    || is_among("% | mb | gb | kb | tests | runs | rows | of | fps | products | users | requests | errors | failures | findings | times | lines | files | specs | calls | objects | warnings | ua | ma | mw | hz | px | points | percent | passed | failed | serious | apps | per", &pair[1].lower))
        }) || words.iter().any(|word| is_figure(word) && word.lower.ends_with(|c: char| c.is_alphabetic() || c == '%'));
        let has_order = words
            .first()
            .is_some_and(|word| is_among(lx::WORK_VERB | lx::DECISION_VERB | lx::SETTING_VERB, &word.lower));
        let plans = self.has("i will | we will | let us | i would | would | should | must | need | needs | max | at most | want");
        n_figures > 0
            && (measures
                || n_figures > 1
                || self.role == Role::User
                    && self.context.is_asked
                    && !self.context.asks_for_choice
                    && words.len() >= 3)
            && first.is_some_and(|at| at <= 6)
            && !has_order
            && !plans
            && (2..=24).contains(&words.len())
    }

    /// Returns whether the subject is a name and the statement contains something specific.
    fn is_about_a_name(&self, words: &[Word]) -> bool {
        let text = &self.sentence.text;
        let is_capital = text[words[0].place.start..].starts_with(|c: char| c.is_uppercase() || c == '`');
        let is_marked =
            |word: &Word| word.lower.contains(|c: char| c.is_ascii_digit() || matches!(c, '_' | '/' | '.'));
        let has_inner_capital = text[words[0].place.clone()].chars().skip(1).any(char::is_uppercase);
        let is_simple = words.get(1).is_some_and(|word| is_among(lx::STATIVE_VERB, &word.lower));
        is_capital && (is_simple || has_inner_capital || words.iter().any(is_marked) || text.contains('`'))
    }
}

/// Returns whether a word is a verb that makes a statement.
pub(in crate::extract) fn is_finite(word: &Word) -> bool {
    let lower = word.lower.as_str();
    let base =
        lower.strip_suffix("es").filter(|base| is_among(lx::VERB, base)).or_else(|| lower.strip_suffix('s'));
    let is_third =
        lower.len() > 3 && !lower.ends_with("ss") && base.is_some_and(|base| is_among(lx::VERB, base));
    let past = lower.strip_suffix("ed").unwrap_or("");
    let is_past =
        !past.is_empty() && (is_among(lx::VERB, past) || is_among(lx::VERB, &lower[..lower.len() - 1]));
    is_among(lx::STATIVE_VERB, lower)
        || is_third
        || is_past
        || is_among(
            "does | did | do | goes | went | comes | came | keeps | kept | stays | makes | made | gives | gave | found | lost | pass | fail | wait | depend",
            lower,
        )
}

/// "Requests hang forever": the base form of a verb behind a noun in the plural.
fn is_verb_of_plural(words: &[Word], at: usize) -> bool {
    let noun = words[at - 1].lower.as_str();
    let is_plural = noun.len() > 3
        && noun.ends_with('s')
        && !noun.ends_with("ss")
        && !noun.ends_with("us")
        && !noun.ends_with("is")
        && !words[at - 1].paused;
    is_plural && is_among(lx::VERB, &words[at].lower) && at + 1 < words.len()
}

/// "Terraform wants to destroy it": a word in -s between a subject and an object or a preposition.
fn is_verb_by_place(words: &[Word], at: usize) -> bool {
    let (Some(subject), Some(next)) = (words.get(at - 1), words.get(at + 1)) else { return false };
    let word = words[at].lower.as_str();
    let is_form = word.len() > 4
        && word.ends_with('s')
        && !word.ends_with("ss")
        && !word.ends_with("us")
        && word.chars().all(char::is_alphabetic);
    let is_subject = !subject.paused
        && !subject.lower.ends_with('s')
        && !is_among(lx::DETERMINER | lx::PREPOSITION | lx::ALL | lx::PARTIAL_QUANTIFIER, &subject.lower)
        && !subject.lower.starts_with(|c: char| c.is_ascii_digit());
    let goes_on = (is_among(lx::DETERMINER | lx::PREPOSITION | lx::NUMERAL, &next.lower)
        || is_among("to | all | every | no | each | only | up | out | them | it | not", &next.lower)
        || next.lower.ends_with("ing")
        || next.lower.starts_with(|c: char| c.is_ascii_digit()))
        && !words[at].paused
        && !is_among(lx::TEST | lx::FILES | lx::SYMBOL | lx::FINDING | lx::CHECK, word);
    is_form && is_subject && goes_on
}

/// "That is fine", "backups are hard": an opinion.
fn is_opinion(words: &[Word]) -> bool {
    let is =
        words.iter().take(6).position(|word| matches!(word.lower.as_str(), "is" | "are" | "was" | "were"));
    let has_figure = words.iter().any(|word| word.lower.starts_with(|c: char| c.is_ascii_digit()));
    is.and_then(|is| words.get(is + 1)).is_some_and(|word| is_among(lx::OPINION, &word.lower)) && !has_figure
}

/// "The model confuses …": a singular noun, then a word in -s with an object.
fn has_verb_by_form(words: &[Word]) -> bool {
    let is_verb = |pair: &[Word]| {
        let (noun, verb) = (&pair[0].lower, &pair[1].lower);
        let only_seems = is_among("looks | seems | sounds | feels | appears", verb);
        !only_seems
            && verb.len() > 3
            && verb.ends_with('s')
            && !verb.ends_with("ss")
            && !noun.ends_with('s')
            && !noun.ends_with("ed")
            && noun.len() > 2
            && !pair[0].paused
    };
    let end = words.len().saturating_sub(1).min(6);
    words.len() > 4 && words[1..end.max(1)].windows(2).any(is_verb)
}

/// "I verified that against the list" continues with a phrase, not with a finding.
fn is_phrase(words: &[Word]) -> bool {
    is_among("against | with | in | on | by | at | for | from | to | and | as", &words[0].lower)
}

/// "The outage lasted 42 minutes": a statement with a figure.
fn is_measured(words: &[Word]) -> bool {
    let is_figure = |word: &Word| word.lower.starts_with(|c: char| c.is_ascii_digit());
    let is_ours = is_among("the | our | all | it | on | in | each | every | with", &words[0].lower);
    let has_verb = words.iter().skip(1).take(6).any(|word| is_among(lx::STATIVE_VERB, &word.lower));
    let states = has_verb && !is_among(lx::IDLE_START, &words[0].lower);
    is_ours && words.len() >= 5 && words.iter().skip(2).any(is_figure)
        || states && words.len() >= 4 && words.iter().any(is_figure)
}
