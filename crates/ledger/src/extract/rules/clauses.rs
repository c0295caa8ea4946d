//! Splits a sentence where another clause with a claim of its own begins.

use super::{facts, work};
use probity_prose::lexicon::{self as lx, contains, is_among, position_after, position_of, strip};
use probity_prose::words::{Word, strip_openers};

/// A part of a sentence that may make a claim of its own.
#[derive(Clone, Copy)]
pub(super) struct RuleClause<'s> {
    pub(super) words: &'s [Word],
    /// It continues the clause before: "I'll write it and *set up CI*".
    pub(super) continues: bool,
}

/// The most clauses of a sentence that are read one by one; the last one has the rest. Every clause looks at the whole
/// sentence, so a bound keeps the time linear in its length.
const MAX_CLAUSES: usize = 12;

/// The most words around a joint that decide whether another clause begins there.
const MAX_CLAUSE_WORDS: usize = 24;

/// Splits a sentence where another clause with its own claim begins.
pub(super) fn clauses<'w>(words: &'w [Word], text: &str, is_asserted: bool) -> Vec<RuleClause<'w>> {
    let mut cuts = vec![(0, false)];
    let is_work = strip(strip_openers(words), lx::WORK_START).is_some();
    let own = strip_openers(words);
    let is_report =
        strip(strip(own, "i have | we have | i | we").unwrap_or(own), lx::WORK_PARTICIPLE).is_some();
    let is_choice = contains(words, "or | either | if | shall | should");
    for at in 1..words.len() {
        let rest = &words[at..];
        let joined = strip(rest, "and | but | so | then");
        let starts = |rest: &[Word]| {
            let chosen = strip(rest, "we").and_then(|rest| rest.first());
            strip(rest, lx::CLAUSE_START).is_some()
                || chosen.is_some_and(|verb| {
                    is_among("go | stay | drop | keep | freeze | ship | switch | move | stick", &verb.lower)
                })
        };
        let is_new = if words[at - 1].paused {
            starts(rest) || joined.is_some_and(starts)
        } else {
            joined.is_some_and(|rest| {
                strip(rest, "let us | we will | i will | please | nobody | no one | nothing").is_some()
            }) || is_work && strip(rest, "but do not | but never").is_some()
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
    cuts.extend(cut_behind_done(words));
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
pub(super) fn begins_order(words: &[Word]) -> bool {
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

/// Returns where the result behind a bare report begins: "Done, the worker looks for the id first".
fn cut_behind_done(words: &[Word]) -> Option<(usize, bool)> {
    let first = words.first().filter(|first| first.paused && words.len() > 3)?;
    let is_done = first.lower == "done" || is_among(lx::WORK_PARTICIPLE, &first.lower);
    is_done.then_some((1, false))
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
    let is_back = strip(strip_openers(words), "back to | let us go back to | go back to").is_some();
    let is_joint = |at: &usize| words[*at].lower == "and" || words[at - 1].paused;
    (2..words.len()).filter(is_joint).filter_map(move |at| {
        let right = if words[at].lower == "and" { &words[at + 1..] } else { &words[at..] };
        // Behind the subject there is room for the longest phrase.
        let right = &right[..right.len().min(MAX_SUBJECT_WORDS + 4)];
        let right = right.iter().position(|word| word.paused).map_or(right, |pause| &right[..=pause]);
        let rules = position_of(right, OBLIGED).is_some_and(|place| (1..=MAX_SUBJECT_WORDS).contains(&place));
        let is_stated_before = stated.is_some_and(|end| end <= at) || is_back;
        (is_plain && rules && is_stated_before).then_some((at, false))
    })
}
