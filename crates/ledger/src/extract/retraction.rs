//! Statements that are taken back in the turn that makes them: "Set the limit to 100. No, make that 250."
//!
//! A sentence that begins with a retraction mark withdraws the last firm statement before it in the same turn, unless what
//! follows reaffirms it. A number or a name behind the mark takes the place of the one in the statement. Without a statement
//! before it in the turn, a mark is about the turns before: `target_resolution` finds what it withdraws.

use super::Turn;
use super::claims::{RuleChange, TurnClaim};
use super::rules::{ReadSentence, is_finite};
use probity_prose::lexicon::{self as lx, contains, is_among, position_of, starts_with, strip};
use probity_prose::negation::denies;
use probity_prose::sentences::Sentence;
use probity_prose::stems::stems;
use probity_prose::words::Word;

/// The longest replacement that only gives a value, in words.
const MAX_VALUE_WORDS: usize = 5;

/// How far back a mark reaches in its turn.
const MAX_SENTENCES_BACK: usize = 8;

/// Withdraws what the sentences of a turn take back from each other.
///
/// `is_asked` says that the turn before ended with a question, so that a "no" answers it.
pub(super) fn take_back(sentences: &mut [ReadSentence], is_asked: bool) {
    for at in 0..sentences.len() {
        name_after_withdrawal(sentences, at);
        revise_after_comparison(sentences, at);
        replace_after_objection(sentences, at);
        let chained = || value_after_mark(sentences, at);
        let Some(behind) = behind_mark(&sentences[at].sentence).or_else(chained) else { continue };
        let answers = is_asked && at == 0 || sentences[at].is_answer;
        if answers && is_plain_no(&sentences[at].sentence) {
            continue;
        }
        let behind = behind.to_vec();
        let near = at.saturating_sub(MAX_SENTENCES_BACK);
        // "Three weeks is too long. Forget it": in front of an order stands its reason.
        let is_order = takes_back_work(&sentences[at].sentence);
        let is_meant = |claim: &TurnClaim| {
            is_firm(claim) && !(is_order && matches!(claim, TurnClaim::Fact { .. } | TurnClaim::Answer(_)))
        };
        let says = |earlier: &ReadSentence| earlier.claims.iter().flatten().any(is_meant);
        let before = sentences[near..at].iter().rposition(says).map(|found| near + found);
        let Some(target) = before else {
            take_back_earlier(&mut sentences[at..], &behind);
            continue;
        };
        if is_reaffirmed(&sentences[target].sentence, &sentences[at..], &behind) {
            sentences[at].claims.retain(|readings| !readings.iter().any(is_withdrawal));
            continue;
        }
        let withdrawn = std::mem::take(&mut sentences[target].claims);
        let is_answer = withdrawn.iter().flatten().any(|claim| matches!(claim, TurnClaim::Answer(_)));
        if let Some(name) =
            name_behind(&sentences[at].sentence, &behind).filter(|_| is_answer).map(str::to_owned)
        {
            sentences[at].claims =
                vec![vec![TurnClaim::Answer(name.clone()), TurnClaim::decision(format!("Use {name}"))]];
            continue;
        }
        let replacement =
            last_firm(&withdrawn).and_then(|old| replaced(old, &sentences[at].sentence, &behind));
        let kept = withdrawn_part(withdrawn, &sentences[at].sentence);
        sentences[target].claims = kept;
        sentences[at].claims.retain(|readings| !readings.iter().any(is_withdrawal));
        if let Some(claim) = replacement {
            sentences[at].claims = vec![vec![claim]];
        }
    }
}

/// "Forget it", "undo that": takes back what is to be done, not what is so.
fn takes_back_work(sentence: &Sentence) -> bool {
    let mut words = sentence.words.as_slice();
    while let Some(rest) = strip(words, lx::FILLER).filter(|rest| !rest.is_empty()) {
        words = rest;
    }
    starts_with(
        words,
        "forget it | forget that | never mind | nevermind | undo | revert | roll that back | roll it back | drop that | drop it | cancel that | skip that | cut that | do not bother",
    )
}

/// "The 12th is a holiday. The 13th", "debug is too noisy, info": a name or figure alone, behind what is said against another one.
fn replace_after_objection(sentences: &mut [ReadSentence], at: usize) {
    let read = &sentences[at];
    if !read.is_user || read.sentence.is_question || read.sentence.is_translated {
        return;
    }
    let words = &read.sentence.words;
    let last_pause = words.iter().take(words.len().saturating_sub(1)).rposition(|word| word.paused);
    let own = last_pause
        .and_then(|pause| Some((subject_of(words)?, named_alone(&read.sentence, &words[pause + 1..])?)));
    let before = || {
        let before = at.checked_sub(1).map(|before| &sentences[before])?;
        let is_whole = !before.sentence.is_question && behind_mark(&before.sentence).is_none();
        let old = subject_of(&before.sentence.words).filter(|_| is_whole)?;
        Some((old, named_alone(&read.sentence, words)?))
    };
    let Some((old, new)) = own.or_else(before) else { return };
    let has_figure = |text: &str| text.contains(|c: char| c.is_ascii_digit());
    if has_figure(&old) != has_figure(&new) || old.eq_ignore_ascii_case(&new) {
        return;
    }
    let contrast = TurnClaim::Contrast { new, old };
    match sentences[at].claims.last_mut() {
        Some(readings) => readings.insert(0, contrast),
        None => sentences[at].claims.push(vec![contrast]),
    }
}

/// Returns the few words in front of the verb of a statement.
fn subject_of(words: &[Word]) -> Option<String> {
    const MAX_SUBJECT_WORDS: usize = 3;
    let words = strip(words, lx::FILLER).filter(|rest| !rest.is_empty()).unwrap_or(words);
    let words = strip(words, lx::DETERMINER).unwrap_or(words);
    let is_figure = words.first()?.lower.starts_with(|c: char| c.is_ascii_digit());
    let is_verb =
        |at: &usize| is_finite(&words[*at]) || is_figure && *at == 1 && words[1].lower.ends_with('s');
    let verb = (0..words.len().min(MAX_SUBJECT_WORDS + 1)).find(is_verb)?;
    let subject = &words[..verb];
    let is_plain = |word: &Word| {
        !is_among(
            lx::PRONOUN | lx::FIRST_PERSON | lx::PREPOSITION | lx::DETERMINER | lx::NEGATION,
            &word.lower,
        ) && word.lower != "you"
            && !word.paused
    };
    let is_subject = !subject.is_empty() && subject.iter().all(is_plain) && words.len() > verb + 1;
    is_subject.then(|| subject.iter().map(|word| word.lower.as_str()).collect::<Vec<_>>().join(" "))
}

/// Returns a name or figure, if it is all that some words say.
fn named_alone(sentence: &Sentence, words: &[Word]) -> Option<String> {
    let name = strip(words, "the | then | so | rather | better | it is | it is now | we use")
        .filter(|rest| !rest.is_empty())
        .unwrap_or(words);
    let is_verb = |word: &Word| is_finite(word) || is_among(lx::VERB | lx::OPINION | lx::ADVERB, &word.lower);
    let said = name_behind(sentence, name)?;
    let is_all = name.iter().rev().skip(1).all(|word| !word.paused);
    (is_all && !name.iter().any(is_verb)).then(|| said.to_owned())
}

/// "Retry 3 times. No, 5. Hm, 4": a figure alone right behind a mark corrects once more.
fn value_after_mark(sentences: &[ReadSentence], at: usize) -> Option<&[Word]> {
    let before = at.checked_sub(1).filter(|&before| before > 0)?;
    behind_mark(&sentences[before].sentence)?;
    let value = strip(&sentences[at].sentence.words, lx::FILLER)?;
    let is_value = value.len() <= 2
        && value.first().is_some_and(|word| word.lower.starts_with(|c: char| c.is_ascii_digit()));
    is_value.then_some(value)
}

/// "*per batch": in a chat an asterisk in front corrects what one just wrote.
pub(super) fn correct_by_asterisk(turn: &Turn<'_>, sentences: &mut [ReadSentence]) {
    const MAX_WORDS: usize = 4;
    let Some(text) = turn.text.trim().strip_prefix('*') else { return };
    let [read] = sentences else { return };
    let is_correction = read.is_user
        && !text.contains(['*', '\n'])
        && text.starts_with(|c: char| c.is_alphanumeric() || c == '`')
        && read.sentence.words.len() <= MAX_WORDS;
    if is_correction {
        let meant = TurnClaim::Meant(text.trim_end_matches(['.', '!']).to_owned());
        match read.claims.first_mut() {
            Some(readings) => readings.push(meant),
            None => read.claims.push(vec![meant]),
        }
    }
}

fn is_plain_no(sentence: &Sentence) -> bool {
    sentence.words.first().is_some_and(|word| is_among("no | nope | nah | nein | non", &word.lower))
}

/// "Memcached would be the better fit. Let's take Memcached.": a comparison with what was decided before comes first.
fn revise_after_comparison(sentences: &mut [ReadSentence], at: usize) {
    let Some(before) = at.checked_sub(1).filter(|&before| before == 0 && sentences[before].is_user) else {
        return;
    };
    let is_excessive =
        starts_with(&sentences[before].sentence.words, "too | that is too | overkill | way too")
            && sentences[before].sentence.words.len() <= 4;
    let compares = is_excessive
        || contains(
            &sentences[before].sentence.words,
            "better | simpler | cheaper | safer | faster | makes more sense | too expensive | too slow | too much",
        );
    let is_said = |claim: &TurnClaim| is_firm(claim) && !matches!(claim, TurnClaim::Answer(_));
    if !compares || sentences[before].claims.iter().flatten().any(is_said) {
        return;
    }
    let mut is_replaced = false;
    for claim in sentences[at].claims.iter_mut().flatten() {
        match claim {
            TurnClaim::Decision { revises, .. } => {
                *revises = true;
                is_replaced = true;
            }
            TurnClaim::Constraint { change, .. } if *change == RuleChange::New => {
                *change = RuleChange::Replaces;
                is_replaced = true;
            }
            _ => {}
        }
    }
    // "Too much. Only public functions need them": the limit takes the place of what goes too far.
    let limits = starts_with(&sentences[at].sentence.words, "only | just");
    if is_excessive && limits && !is_replaced {
        let sentence = &sentences[at].sentence.text;
        sentences[at].claims = vec![vec![TurnClaim::Decision {
            summary: sentence.trim_end_matches('.').to_owned(),
            revises: true,
            instead_of: None,
        }]];
    }
}

/// "We are not doing Mailgun after all. SES.": a name behind a withdrawal decides.
fn name_after_withdrawal(sentences: &mut [ReadSentence], at: usize) {
    let ends = |claim: &TurnClaim| match claim {
        TurnClaim::Withdraw(_) | TurnClaim::TakeBack(_) | TurnClaim::WithdrawRecent => true,
        TurnClaim::Decision { summary, .. } | TurnClaim::Constraint { summary, .. } => denies(summary),
        _ => false,
    };
    let Some(before) = at.checked_sub(1) else { return };
    let is_ended = sentences[before].claims.iter().flatten().any(ends);
    let is_firm_already = sentences[at]
        .claims
        .iter()
        .flatten()
        .any(|claim| is_firm(claim) && !matches!(claim, TurnClaim::Answer(_) | TurnClaim::Fact { .. }));
    if !is_ended || is_firm_already || sentences[at].sentence.is_question {
        return;
    }
    let words = sentences[at].sentence.words.clone();
    if let Some(name) = name_behind(&sentences[at].sentence, &words).filter(|_| words.len() <= 5) {
        let claim = TurnClaim::decision(format!("Use {name}"));
        sentences[at].claims = vec![vec![claim]];
    }
}

/// Returns a sentence with the value of its own correction: "upgrade to 5.3, err, 5.2 of course".
pub(super) fn corrected_text(sentence: &Sentence) -> Option<String> {
    let words = &sentence.words;
    let (at, rest) = (2..words.len()).find_map(|at| {
        let rest = strip(&words[at..], lx::SLIP).filter(|_| words[at - 1].paused)?;
        Some((at, rest))
    })?;
    let end = rest.iter().position(|word| word.paused).map_or(rest.len(), |pause| pause + 1);
    let value = &rest[..end];
    let has_figure =
        |words: &[Word]| words.iter().any(|word| word.lower.contains(|c: char| c.is_ascii_digit()));
    let is_unit = |word: &Word| is_among(lx::UNIT | lx::TIME_UNIT, &word.lower);
    if let [unit] = value
        && is_unit(unit)
        && is_unit(&words[at - 1])
        && has_figure(&words[..at])
    {
        let left = sentence.text.get(..words[at - 1].place.start)?;
        return Some(format!("{left}{}", sentence.text.get(unit.place.clone())?));
    }
    if let Some(named) = corrected_name(sentence, at, value) {
        return Some(named);
    }
    let begins = has_figure(&value[..value.len().min(3)]) && !contains(value, "in | of the | with");
    if value.is_empty() || value.len() > MAX_VALUE_WORDS || !begins || !has_figure(&words[..at]) {
        return None;
    }
    let left = sentence.text.get(..words[at - 1].place.end)?;
    let right = sentence.text.get(value[0].place.start..value[value.len() - 1].place.end)?;
    with_number(left, right)
}

/// "Put the config in TOML, er, YAML, like the other services": the name behind the slip stands for the one before it.
fn corrected_name(sentence: &Sentence, slip: usize, value: &[Word]) -> Option<String> {
    let text = &sentence.text;
    let ([name], old) = (value, &sentence.words[slip - 1]) else { return None };
    let is_slip = is_among("err | er | eh | sorry | oops | correction | i", &sentence.words[slip].lower);
    let is_name = |word: &Word| {
        let said = text.get(word.place.clone()).unwrap_or_default();
        said.starts_with(char::is_uppercase) || text[..word.place.start].ends_with('`')
    };
    let marked = |word: &Word| {
        let is_code = text[..word.place.start].ends_with('`');
        word.place.start - usize::from(is_code)..word.place.end + usize::from(is_code)
    };
    if !is_slip || slip < 2 || !is_name(name) || !is_name(old) {
        return None;
    }
    let (left, new) = (text.get(..marked(old).start)?, text.get(marked(name))?);
    Some(format!("{left}{new}{}", text.get(marked(name).end..)?))
}

/// Keeps what a partial withdrawal does not mean: "Scratch the print one" after two tasks.
fn withdrawn_part(withdrawn: Vec<Vec<TurnClaim>>, mark: &Sentence) -> Vec<Vec<TurnClaim>> {
    let said = stems(&mark.text);
    let is_meant = |readings: &Vec<TurnClaim>| {
        readings.iter().filter_map(TurnClaim::summary).any(|it| !stems(it).is_disjoint(&said))
    };
    if withdrawn.len() > 1 && withdrawn.iter().any(is_meant) {
        return withdrawn.into_iter().filter(|readings| !is_meant(readings)).collect();
    }
    let part = |readings: &Vec<TurnClaim>| {
        let claim = readings.iter().find(|claim| is_firm(claim))?;
        let rest = without_conjunct(claim.summary()?, &said)?;
        Some(vec![claim.with_summary(rest)])
    };
    withdrawn.iter().filter_map(part).collect()
}

/// Removes the part of a list that shares words with `said`: "Add a dark mode and a print style sheet".
pub(super) fn without_conjunct(summary: &str, said: &std::collections::BTreeSet<String>) -> Option<String> {
    let (left, right) = summary.split_once(" and ")?;
    let shares = |part: &str| stems(part).intersection(said).count();
    let (in_left, in_right) = (shares(left), shares(right));
    match (in_left, in_right) {
        (0, 1..) => Some(left.trim_end_matches(',').to_owned()),
        (1.., 0) => {
            let verb = left.split_whitespace().next()?;
            let rest = right.trim_start();
            Some(format!("{verb} {rest}"))
        }
        _ => None,
    }
}

/// A mark without a statement before it in the turn: what was said in the turns before is withdrawn, or revised by what follows.
fn take_back_earlier(sentences: &mut [ReadSentence], behind: &[Word]) {
    if let Some(value) = value_alone(&sentences[0], behind) {
        sentences[0].claims = vec![vec![TurnClaim::SetValue(value)]];
        return;
    }
    if is_denial(&sentences[0].sentence) && sentences[0].is_user || is_void(&sentences[0].sentence) {
        sentences[0].claims.insert(0, vec![TurnClaim::DenyLast]);
        return;
    }
    if let Some(readings) = changed_mind_about(&sentences[0], behind) {
        sentences[0].claims = vec![readings];
        return;
    }
    let about: Vec<&str> = sentences.iter().take(2).map(|read| read.sentence.text.as_str()).collect();
    let about = about.join(" ");
    for sentence in sentences.iter_mut().take(2) {
        for claim in sentence.claims.iter_mut().flatten() {
            match claim {
                TurnClaim::Decision { revises, summary, .. } if !denies(summary) => {
                    *revises = true;
                    return;
                }
                TurnClaim::Constraint { change, summary, .. }
                    if *change == RuleChange::New && !denies(summary) =>
                {
                    *change = RuleChange::Replaces;
                    return;
                }
                // What the author says behind a mark is how it is to be.
                TurnClaim::Fact { summary, .. } if !denies(summary) && sentence.is_user => {
                    let summary = std::mem::take(summary);
                    *claim = TurnClaim::Decision { summary, revises: true, instead_of: None };
                    return;
                }
                TurnClaim::WithdrawRecent | TurnClaim::SetValue(_) => return,
                _ => {}
            }
        }
        if let Some(readings) = sentence.claims.iter_mut().find(|readings| readings.iter().any(is_withdrawal))
        {
            readings.push(TurnClaim::TakeBack(about));
            return;
        }
    }
    let Some(mark) = sentences.first_mut() else { return };
    match name_behind(&mark.sentence, behind) {
        // "Correction: 311 pass" of an agent decides nothing.
        Some(name) if mark.is_user && !is_swap(&mark.sentence) => {
            let claim =
                TurnClaim::Decision { summary: format!("Use {name}"), revises: true, instead_of: None };
            // "I meant users_tmp": it stands where the other name stood, if there is one like it.
            mark.claims = vec![vec![TurnClaim::Meant(name.to_owned()), claim]];
        }
        // "Other way round, green is staging"
        _ if mark.is_user && is_swap(&mark.sentence) && behind.len() >= MIN_SWAPPED_WORDS => {
            let text = mark.sentence.text.get(behind[0].place.start..behind[behind.len() - 1].place.end);
            let summary = text.unwrap_or(&mark.sentence.text).to_owned();
            mark.claims =
                vec![vec![TurnClaim::TakeBack(summary.clone())], vec![TurnClaim::decision(summary)]];
        }
        _ => {
            // "Undo it" asks for nothing beyond what it takes back.
            if takes_back_work(&mark.sentence) && behind.is_empty() {
                mark.claims
                    .retain(|readings| !readings.iter().any(|claim| matches!(claim, TurnClaim::Task(_))));
            }
            mark.claims.insert(0, vec![TurnClaim::TakeBack(about)]);
        }
    }
}

/// "Not true, the login test fails", "it didn't": what was just reported is not so.
fn is_denial(sentence: &Sentence) -> bool {
    starts_with(&sentence.words, DENIALS)
}

/// "That number was from a warm cache": what was measured does not count.
fn is_void(sentence: &Sentence) -> bool {
    let named = strip(&sentence.words, "that | this | the | my").and_then(<[Word]>::split_first);
    named.is_some_and(|(thing, rest)| {
        is_among("number | figure | measurement | result | benchmark | claim | statement | conclusion | value", &thing.lower)
            && starts_with(rest, "was from | is from | was wrong | is wrong | was for | is worthless | was worthless | does not count | was on | is meaningless")
    })
}

const DENIALS: &str =
    "not true | not correct | it did not | it does not | it has not | they did not | they do not | it is not";

/// "I've changed my mind about Gradle: Maven": what it is about, and the name that takes its place.
fn changed_mind_about(mark: &ReadSentence, behind: &[Word]) -> Option<Vec<TurnClaim>> {
    let rest = strip(behind, "about the | about | on the | regarding").filter(|_| mark.is_user)?;
    let end = rest.iter().position(|word| word.paused).map_or(rest.len(), |at| at + 1);
    let (named, new) = rest.split_at(end);
    let text = &mark.sentence.text;
    let old = text.get(named.first()?.place.start..named.last()?.place.end)?.to_owned();
    let withdrawn = TurnClaim::Withdraw(old.clone());
    Some(match name_behind(&mark.sentence, new).map(str::to_owned) {
        Some(name) => {
            let decision =
                TurnClaim::Decision { summary: format!("Use {name}"), revises: true, instead_of: None };
            vec![TurnClaim::Contrast { new: name, old }, withdrawn, decision]
        }
        None => vec![withdrawn],
    })
}

/// The fewest words that say how the parts stand after an exchange: "green is staging".
const MIN_SWAPPED_WORDS: usize = 3;

/// "Other way round": what was said holds with its parts exchanged.
fn is_swap(mark: &Sentence) -> bool {
    contains(&mark.words, "way round | way around | vice versa")
}

/// Returns the figure that stands alone behind a mark of the user: "no, 8".
fn value_alone(mark: &ReadSentence, behind: &[Word]) -> Option<String> {
    let end = behind.iter().position(|word| word.paused).map_or(behind.len(), |at| at + 1);
    let value = &behind[..end];
    let is_value = mark.is_user
        && (1..=2).contains(&value.len())
        && value[0].lower.starts_with(|c: char| c.is_ascii_digit())
        && value.get(1).is_none_or(|unit| is_among(lx::UNIT | lx::TIME_UNIT, &unit.lower));
    let (first, last) = (value.first()?, value.last()?);
    is_value.then(|| mark.sentence.text.get(first.place.start..last.place.end).map(str::to_owned)).flatten()
}

/// Returns the name that stands alone behind a mark: "I changed my mind, Vitest please".
fn name_behind<'s>(mark: &'s Sentence, behind: &[Word]) -> Option<&'s str> {
    let end = behind.iter().position(|word| word.paused).map_or(behind.len(), |at| at + 1);
    let mut value = &behind[..end];
    while let [rest @ .., last] = value
        && is_among("please | then | instead | it | is", &last.lower)
    {
        value = rest;
    }
    let is_plain = |word: &Word| {
        !is_among(
            lx::AUXILIARY | lx::NEGATION | lx::WORK_VERB | lx::STATIVE_VERB | lx::PRONOUN | lx::NO,
            &word.lower,
        ) && !is_among("the | a | i | we | only | you | what | why | how", &word.lower)
    };
    let is_order = is_among(
        "leave | keep | skip | drop | forget | stop | cancel | revert | undo",
        &value.first()?.lower,
    );
    let is_all = is_among(lx::ALL, &value[0].lower);
    let is_name = (1..=3).contains(&value.len()) && value.iter().all(is_plain) && !is_order && !is_all;
    is_name.then(|| mark.text.get(value[0].place.start..value[value.len() - 1].place.end)).flatten()
}

/// Returns the words behind a retraction mark that a sentence begins with.
pub(super) fn behind_mark(sentence: &Sentence) -> Option<&[Word]> {
    let mut words = sentence.words.as_slice();
    while let Some(rest) = strip(words, lx::FILLER).filter(|rest| !rest.is_empty()) {
        words = rest;
    }
    // "No, revert that".
    let denied = strip(words, "no | nope | nah | sorry").filter(|rest| strip(rest, lx::RETRACTION).is_some());
    let words = denied.unwrap_or(words);
    if let Some(rest) = strip(words, lx::RETRACTION) {
        return Some(strip(rest, "i mean | make that | rather | then | so").unwrap_or(rest));
    }
    if is_void(sentence) {
        return Some(&words[words.len()..]);
    }
    if let Some(rest) = strip(words, "i was too").and_then(|rest| rest.get(1..)) {
        return Some(rest);
    }
    if let Some(rest) =
        strip(words, DENIALS).filter(|rest| rest.is_empty() || words[words.len() - rest.len() - 1].paused)
    {
        return Some(rest);
    }
    let (first, rest) = words.split_first()?;
    let is_pause = first.paused || rest.is_empty();
    match first.lower.as_str() {
        "not" if sentence.is_translated && is_pause => Some(rest),
        "no" | "nope" | "nah" if is_pause => {
            Some(strip(rest, "make that | make it | i mean").unwrap_or(rest))
        }
        "wait" | "stop" | "moment" if !starts_with(rest, "for | until | till | with | on") => Some(rest),
        "edit" | "correction" | "erratum" | "update" | "typo" if is_pause => {
            Some(strip(rest, "i meant | i mean | it is | should be").unwrap_or(rest))
        }
        "sorry" | "err" | "er" | "oops" if is_pause && !rest.is_empty() => Some(rest),
        "leave" if words.len() < sentence.words.len() && rest.len() > 1 => Some(&rest[rest.len()..]),
        "actually" if is_change_of_mind(rest) => Some(rest),
        _ => None,
    }
}

/// "Actually don't", "actually, leave it", "actually GraphQL might be better".
fn is_change_of_mind(rest: &[Word]) -> bool {
    starts_with(
        rest,
        "do not | no | not | never | leave | keep | make | use | let us | skip | drop | better | forget | go with | stick | we will | i will | i would | hold | wait | cancel | scratch",
    ) || contains(rest, "might be better | would be better | is better | makes more sense | instead | rather")
        || rest.len() <= 3
}

fn is_firm(claim: &TurnClaim) -> bool {
    matches!(
        claim,
        TurnClaim::Goal(_)
            | TurnClaim::Decision { .. }
            | TurnClaim::Constraint { .. }
            | TurnClaim::Task(_)
            | TurnClaim::Fact { .. }
            | TurnClaim::Accept { .. }
            | TurnClaim::Answer(_)
    )
}

const fn is_withdrawal(claim: &TurnClaim) -> bool {
    matches!(claim, TurnClaim::Withdraw(_))
}

fn last_firm(claims: &[Vec<TurnClaim>]) -> Option<&TurnClaim> {
    claims.iter().rev().flatten().find(|claim| is_firm(claim))
}

/// Returns whether what follows a mark says the statement again: "So Node 20 stays."
fn is_reaffirmed(statement: &Sentence, after: &[ReadSentence], behind: &[Word]) -> bool {
    let meant = stems(&statement.text);
    // What stays is named beside the word that says so: "eu-central-1, the data has to stay in Germany" keeps no region.
    let is_kept = |sentence: &Sentence, part: &[Word]| {
        let (Some(first), Some(last)) = (part.first(), part.last()) else { return false };
        let said = stems(sentence.text.get(first.place.start..last.place.end).unwrap_or_default());
        let shared = meant.intersection(&said).count();
        let keeps = contains(
            part,
            "stays | stay | it is | still stands | remains | after all | as planned | keep it | it holds | is fine",
        );
        keeps && shared * 2 >= meant.len().clamp(1, 4) && shared > 0
    };
    let again = |sentence: &Sentence| {
        let said = stems(&sentence.text);
        let is_name = sentence.words.len() <= 4 && !said.is_empty() && said.is_subset(&meant);
        let mut parts = sentence.words.split_inclusive(|word| word.paused);
        (is_name || parts.any(|part| is_kept(sentence, part))) && !denies(&sentence.text)
    };
    let keeps_all =
        starts_with(behind, "it is fine | that is fine | it does | it works | that works | all good");
    keeps_all || after.iter().take(4).any(|read| again(&read.sentence))
}

/// Returns the statement with a value behind the mark in place of its own. Each part up to a pause may give it: "no, 3000 is taken,
/// make it 3100".
fn replaced(old: &TurnClaim, mark: &Sentence, behind: &[Word]) -> Option<TurnClaim> {
    let summary = old.summary()?;
    let is_new = |text: &String| text != summary;
    let mut parts = behind.split_inclusive(|word| word.paused);
    parts
        .find_map(|part| value_in(summary, mark, part).filter(is_new))
        .map(|summary| old.with_summary(summary))
}

fn value_in(summary: &str, mark: &Sentence, part: &[Word]) -> Option<String> {
    let value = strip(part, "make it | make that | so | then | it is | it should be | rather | use | take")
        .unwrap_or(part);
    if value.is_empty() || value.len() > MAX_VALUE_WORDS {
        return None;
    }
    let text = mark.text.get(value[0].place.start..value[value.len() - 1].place.end)?;
    let has_number = |text: &str| text.contains(|c: char| c.is_ascii_digit());
    if has_number(text) && has_number(summary) {
        return with_number(summary, text);
    }
    let is_verb = |word: &Word| {
        is_among(
            lx::STATIVE_VERB | lx::WORK_VERB | lx::DECISION_VERB | lx::AUXILIARY | lx::NEGATION,
            &word.lower,
        )
    };
    let is_name = value.len() <= 3 && !value.iter().any(is_verb) && !has_number(text);
    if !is_name || position_of(value, "the | it | that | this | we | i").is_some() {
        return None;
    }
    with_name(summary, text)
}

/// Replaces the last number of a text by the number of another one: "by the 14th" with "the 18th".
pub(super) fn with_number(summary: &str, value: &str) -> Option<String> {
    let is_number = |word: &&str| word.contains(|c: char| c.is_ascii_digit());
    let new = value.split_whitespace().find(is_number)?.trim_end_matches([',', '.', ';', '!']);
    let mut words: Vec<&str> = summary.split(' ').collect();
    let at = words.iter().rposition(|word| word.contains(|c: char| c.is_ascii_digit()))?;
    // "2ms" takes a new unit with it; "30 seconds" keeps its own.
    words[at] = new;
    Some(words.join(" "))
}

/// Replaces the last name of a text: a word in capitals that does not begin it.
fn with_name(summary: &str, value: &str) -> Option<String> {
    let words: Vec<&str> = summary.split(' ').collect();
    let is_name = |word: &str| word.starts_with(|c: char| c.is_uppercase() || c == '`');
    let at = (1..words.len()).rev().find(|&at| is_name(words[at]))?;
    let mut words: Vec<String> = words.into_iter().map(str::to_owned).collect();
    value.clone_into(&mut words[at]);
    Some(words.join(" "))
}
