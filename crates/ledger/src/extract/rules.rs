//! What a sentence claims. The first rule that fits speaks; a sentence that no rule fits says nothing.
//!
//! Rules see words, never raw text, and give back the author's own words: a summary is a piece of the sentence, with
//! its negations, numbers and names as they were said.

use super::blocks::{Block, Form, Topic};
use super::claims::Claim;
use super::lexicon::{
    DECIDED, DECIDING, DID, DOING, IDLE_NO, IDLE_PROHIBITIONS, IDLE_SUBJECTS, IS_DONE, REVISING, RULING,
    STATING,
};
use super::mood::{Mood, contains, plain_text};
use super::sentences::{Sentence, Word};
use super::{Role, strip, strip_any, strip_openers};
use crate::words::{Confidence, Mode};

/// Everything that a sentence claims, in order.
pub(super) fn claims(sentence: &Sentence, block: &Block, role: Role, is_doubted: bool) -> Vec<Claim> {
    let mut mood = Mood::of(sentence);
    mood.hedged |= is_doubted;
    let reader = Reader { sentence, mood, role };
    if let Form::Box { done } = block.form {
        let text = reader.said(&sentence.words);
        return if done { vec![Claim::Done(text)] } else { vec![Claim::Task(text)] };
    }
    if let Some(topic) = block.topic.filter(|_| block.form == Form::Item) {
        return reader.under(topic).into_iter().collect();
    }
    clauses(&sentence.words).into_iter().filter_map(|words| reader.clause(words)).collect()
}

/// Cuts a sentence where another clause with a claim of its own begins.
fn clauses(words: &[Word]) -> Vec<&[Word]> {
    const STARTS: &[&str] = &[
        "let us",
        "we will",
        "i will",
        "do not",
        "never",
        "always",
        "please",
        "we must",
        "we need to",
        "we are going",
        "make sure",
        "it must",
        "they must",
        "use",
        "add",
        "fix",
        "write",
        "then we will",
        "we cannot",
        "it turns out",
    ];
    let mut cuts = vec![0];
    for at in 1..words.len() {
        let rest = &words[at..];
        let joined = strip_any(rest, &["and", "but", "so", "then"]);
        let starts = |rest: &[Word]| strip_any(rest, STARTS).is_some();
        let is_cut = if words[at - 1].paused {
            starts(rest) || joined.is_some_and(starts)
        } else {
            joined.is_some_and(|rest| strip_any(rest, &["let us", "we will", "i will", "please"]).is_some())
        };
        if is_cut && at - cuts.last().copied().unwrap_or(0) > 1 {
            cuts.push(at);
        }
    }
    cuts.push(words.len());
    cuts.windows(2).map(|pair| &words[pair[0]..pair[1]]).collect()
}

struct Reader<'s> {
    sentence: &'s Sentence,
    mood: Mood,
    role: Role,
}

impl Reader<'_> {
    /// An item under a heading is what the heading says, if it is asserted at all.
    fn under(&self, topic: Topic) -> Option<Claim> {
        let words = strip_openers(&self.sentence.words);
        let text = self.said(words);
        if topic == Topic::Open {
            return self.branch(words);
        }
        if self.mood.guesses() {
            return Some(Claim::Hypothesis { summary: text, confidence: Confidence::Low });
        }
        if !self.mood.asserts() && !(topic == Topic::Constraints && self.is_rule_with_condition()) {
            return None;
        }
        Some(match topic {
            Topic::Goals => Claim::Goal(text),
            Topic::Decisions => {
                return self
                    .decision(words)
                    .or_else(|| self.prohibition(words))
                    .map(as_decision)
                    .or_else(|| Some(decided(text)));
            }
            Topic::Constraints => {
                let is_soft = self.has(&["prefer", "should", "ideally", "avoid", "try to"]);
                Claim::Constraint { summary: text, hard: !is_soft, revises: None }
            }
            Topic::Tasks => Claim::Task(text),
            Topic::Done => Claim::Done(text),
            Topic::Facts => Claim::Fact {
                summary: text,
                confidence: Confidence::Medium,
                corrects: false,
                confirms: false,
            },
            Topic::Open => return None,
        })
    }

    fn clause(&self, all: &[Word]) -> Option<Claim> {
        let words = strip_openers(all);
        if words.is_empty() {
            return None;
        }
        if let Some(branch) = self.branch(words) {
            return Some(branch);
        }
        if !self.mood.asserts() {
            return self.unasserted(words);
        }
        self.labelled(words)
            .or_else(|| self.withdrawal(all, words))
            .or_else(|| self.reopening(words))
            .or_else(|| self.done(words))
            .or_else(|| self.prohibition(words))
            .or_else(|| self.constraint(words))
            .or_else(|| self.goal(words))
            .or_else(|| self.task_asked_for(words))
            .or_else(|| self.decision(words))
            .or_else(|| self.task(words))
            .or_else(|| self.fact(words))
    }

    // What is not asserted.

    fn unasserted(&self, words: &[Word]) -> Option<Claim> {
        if let Some(task) = self.request(words) {
            return Some(task);
        }
        if self.is_rule_with_condition() {
            return self.constraint(words).or_else(|| self.prohibition(words)).map(|claim| match claim {
                Claim::Constraint { hard, revises, .. } => {
                    Claim::Constraint { summary: self.said(words), hard, revises }
                }
                other => other,
            });
        }
        let idea = strip_any(words, &["what if we", "what if", "how about we", "how about", "what about"]);
        if let Some(idea) =
            idea.filter(|idea| idea.len() > 1 && !self.mood.reported && !self.mood.conditional)
        {
            return Some(Claim::Hypothesis { summary: self.said(idea), confidence: Confidence::Low });
        }
        if !self.mood.guesses() || words.len() < 3 {
            return None;
        }
        let is_likely = self.has(&["probably", "likely", "i believe", "we believe", "presumably", "should"]);
        let confidence = if is_likely { Confidence::Medium } else { Confidence::Low };
        Some(Claim::Hypothesis { summary: self.said(strip_hedge(words)), confidence })
    }

    /// "If the tests fail, never merge": a rule keeps its condition.
    fn is_rule_with_condition(&self) -> bool {
        let mood = self.mood;
        let only_conditional =
            mood.conditional && !(mood.asks || mood.hedged || mood.reported || mood.unreal || mood.undecided);
        only_conditional && self.has(&["must", "never", "always", "must not", "do not ever"])
    }

    /// "Can you add tests?" asks for something to be done.
    fn request(&self, words: &[Word]) -> Option<Claim> {
        let rest = strip_any(words, &["can you", "could you", "would you", "will you"])?;
        let rest = strip_any(rest, &["please"]).unwrap_or(rest);
        let is_task =
            self.role == Role::User && strip_any(rest, DOING).is_some_and(|object| !object.is_empty());
        let is_plain = !(self.mood.conditional || self.mood.reported || self.mood.unreal);
        (is_task && is_plain && !self.has(&["maybe", "perhaps", "tell me", "explain"]))
            .then(|| Claim::Task(self.said(rest)))
    }

    /// Alternatives between which nothing is decided.
    fn branch(&self, words: &[Word]) -> Option<Claim> {
        let mood = self.mood;
        if mood.reported || mood.unreal {
            return None;
        }
        let between = [
            "choose between",
            "choosing between",
            "deciding between",
            "decide between",
            "torn between",
            "choice between",
            "pick between",
        ];
        if let Some(at) = position_after(words, &between) {
            return self.alternatives(&words[at..], "and").or_else(|| self.alternatives(&words[at..], "or"));
        }
        if let Some(rest) = strip_any(
            words,
            &["options are", "the options are", "our options are", "two options", "the choice is"],
        ) {
            return self.alternatives(rest, "or").or_else(|| self.alternatives(rest, "and"));
        }
        let is_open = mood.asks || mood.undecided || mood.hedged;
        if let Some(at) = position_after(words, &["either"]) {
            return self
                .alternatives(&words[at..], "or")
                .filter(|_| is_open || starts_plain(words, "either"));
        }
        let has_versus = words.iter().any(|word| matches!(word.lower.as_str(), "vs" | "versus"));
        if has_versus && words.len() <= 14 {
            return self.alternatives(words, "vs").or_else(|| self.alternatives(words, "versus"));
        }
        let asked = strip_any(
            words,
            &[
                "should we use",
                "should we go with",
                "do we use",
                "do we want",
                "shall we use",
                "should it be",
                "do we go with",
                "should i use",
                "are we using",
                "is it",
            ],
        );
        match asked {
            Some(asked) if mood.asks => self.alternatives(asked, "or"),
            _ if mood.asks && words.len() <= 6 => {
                self.alternatives(words, "or").filter(|_| !is_yes_or_no(words))
            }
            _ => None,
        }
    }

    /// What stands left and right of `joint`.
    fn alternatives(&self, words: &[Word], joint: &str) -> Option<Claim> {
        let at = words.iter().position(|word| word.lower == joint)?;
        let (left, right) = (&words[..at], &words[at + 1..]);
        let end = right
            .iter()
            .position(|word| word.paused || matches!(word.lower.as_str(), "for" | "here" | "as"))
            .map_or(right.len(), |at| if right[at].paused { at + 1 } else { at });
        let start =
            left.iter().rposition(|word| word.paused && word.lower != "options").map_or(0, |at| at + 1);
        let (left, right) = (&left[start.min(left.len())..], &right[..end]);
        let is_short = |part: &[Word]| !part.is_empty() && part.len() <= 6;
        let (one, other) = (self.slice(left), self.slice(right));
        (is_short(left) && is_short(right) && one != other).then(|| Claim::Branch(vec![one, other]))
    }

    // What is asserted.

    fn labelled(&self, words: &[Word]) -> Option<Claim> {
        let label = words.iter().take(4).position(|word| word.paused)?;
        let (head, rest) = words.split_at(label + 1);
        let head: Vec<_> = head.iter().map(|word| word.lower.as_str()).collect();
        if rest.is_empty()
            || !self.sentence.text[..rest[0].place.start]
                .trim_end_matches([' ', '*', '`', '"'])
                .ends_with([':', '—', '-'])
        {
            return None;
        }
        let text = self.said(rest);
        Some(match head.join(" ").as_str() {
            "decision" | "decided" | "we decided" | "final decision" => {
                self.decision(rest).unwrap_or_else(|| decided(text))
            }
            "constraint" | "hard constraint" | "rule" | "hard rule" | "requirement" | "hard requirement"
            | "non-negotiable" => Claim::Constraint { summary: text, hard: true, revises: None },
            "preference" | "soft constraint" => {
                Claim::Constraint { summary: text, hard: false, revises: None }
            }
            "todo" | "task" | "next step" | "next" | "next up" | "action item" | "follow-up" | "action"
            | "still to do" => Claim::Task(text),
            "goal" | "objective" | "aim" | "the goal" => Claim::Goal(text),
            "fact" | "finding" | "root cause" | "til" | "measured" | "result" => {
                Claim::Fact { summary: text, confidence: Confidence::High, corrects: false, confirms: false }
            }
            _ => return None,
        })
    }

    fn withdrawal(&self, all: &[Word], words: &[Word]) -> Option<Claim> {
        let bare = [
            "scratch that",
            "never mind",
            "nevermind",
            "forget it",
            "forget that",
            "i take that back",
            "strike that",
        ];
        if bare.iter().any(|phrase| strip(all, phrase).is_some_and(|rest| rest.is_empty())) {
            return Some(Claim::Withdraw(String::new()));
        }
        let phrases = [
            "forget about",
            "forget",
            "scrap",
            "never mind",
            "cancel",
            "we no longer need",
            "we do not need",
            "we no longer use",
            "abandon",
            "we are abandoning",
            "let us forget about",
            "let us scrap",
            "let us drop",
            "let us cancel",
            "let us abandon",
            "drop the idea of",
            "we can drop",
            "we are dropping",
            "drop the requirement",
            "drop the plan",
            "drop the task",
        ];
        if let Some(rest) = strip_any(words, &phrases).or_else(|| strip_any(all, &["never mind"])) {
            return (!rest.is_empty()).then(|| Claim::Withdraw(self.said(rest)));
        }
        let obsolete = [
            "is obsolete",
            "is no longer needed",
            "are no longer needed",
            "is off the table",
            "is cancelled",
            "is moot",
            "no longer applies",
            "no longer apply",
            "is dead",
            "is no longer required",
        ];
        let at = position_of(words, &obsolete)?;
        (at > 0).then(|| Claim::Withdraw(self.slice(&words[..at])))
    }

    fn reopening(&self, words: &[Word]) -> Option<Claim> {
        if let Some(rest) = strip_any(
            words,
            &["reopen", "let us reopen", "we need to reopen", "i am reopening", "we have to reopen"],
        ) {
            return (!rest.is_empty())
                .then(|| Claim::Reopen { about: self.said(rest), reason: self.said(words) });
        }
        let at = position_of(
            words,
            &[
                "is broken again",
                "still fails",
                "is failing again",
                "are failing again",
                "regressed",
                "is back",
                "broke again",
            ],
        )?;
        (at > 0).then(|| Claim::Reopen { about: self.slice(&words[..at]), reason: self.said(words) })
    }

    fn done(&self, words: &[Word]) -> Option<Claim> {
        if self.has(&[
            "not",
            "will be",
            "to be",
            "half",
            "partly",
            "partially",
            "mostly",
            "some of",
            "yet",
            "once",
            "except",
        ]) {
            return None;
        }
        let is_bare = words.len() <= 2
            && matches!(
                words[0].lower.as_str(),
                "done" | "finished" | "completed" | "fixed" | "shipped" | "merged"
            );
        if is_bare || self.has(&["all done"]) && words.len() <= 3 {
            return Some(Claim::Done(String::new()));
        }
        if let Some(rest) = strip_any(words, &["done with", "finished with"]) {
            return (!rest.is_empty()).then(|| Claim::Done(self.said(rest)));
        }
        let own = strip_any(
            words,
            &[
                "i have just",
                "i have now",
                "i have",
                "we have now",
                "we have",
                "i just",
                "i",
                "we just",
                "we",
            ],
        );
        let rest = strip_any(own.unwrap_or(words), DID);
        let is_report = own.is_some() || self.role == Role::Assistant || strip_any(words, DID).is_some();
        if let Some(rest) = rest.filter(|rest| is_report && !rest.is_empty()) {
            let did = &own.unwrap_or(words)[..own.unwrap_or(words).len() - rest.len()];
            let is_noun = strip_any(rest, &["to", "by", "from", "that"]).is_some();
            return (!is_noun && !did.is_empty()).then(|| Claim::Done(self.said(own.unwrap_or(words))));
        }
        let at = words
            .iter()
            .position(|word| matches!(word.lower.as_str(), "is" | "are" | "was" | "were" | "now"))?;
        let rest = strip_any(&words[at + 1..], &["now", "finally", "all", "also", "already"])
            .unwrap_or(&words[at + 1..]);
        let ends = strip_any(rest, IS_DONE).is_some_and(|tail| tail.len() <= 3);
        (at > 0 && at <= 8 && ends).then(|| Claim::Done(self.slice(&words[..at])))
    }

    /// "Do not …", "let us not …", "we will not …".
    fn prohibition(&self, words: &[Word]) -> Option<Claim> {
        if let Some(rest) = strip_any(
            words,
            &[
                "let us not",
                "we will not",
                "we are not going to",
                "i will not",
                "we decided not to",
                "we have decided not to",
                "we agreed not to",
                "decided not to",
            ],
        ) {
            return (rest.len() > 1).then(|| self.decided_against(rest));
        }
        if let Some(rest) = strip_any(
            words,
            &[
                "we decided against",
                "we have decided against",
                "decided against",
                "we are not using",
                "no more",
            ],
        ) {
            return (!rest.is_empty()).then(|| Claim::Decision {
                summary: format!("Do not use {}", self.slice(rest)),
                revises: self.revises(),
                instead_of: None,
            });
        }
        let rest = strip_any(
            words,
            &["do not ever", "do not", "please do not", "you must not", "never ever", "never"],
        )?;
        if let Some(task) = strip_any(words, &["do not forget to", "please do not forget to"]) {
            return (!task.is_empty()).then(|| Claim::Task(self.said(task)));
        }
        let is_idle = rest.is_empty() || strip_any(rest, IDLE_PROHIBITIONS).is_some();
        (!is_idle).then(|| Claim::Constraint { summary: self.said(words), hard: true, revises: None })
    }

    fn decided_against(&self, rest: &[Word]) -> Claim {
        Claim::Decision {
            summary: format!("Do not {}", self.slice(rest)),
            revises: self.revises(),
            instead_of: None,
        }
    }

    fn constraint(&self, words: &[Word]) -> Option<Claim> {
        if let Some(change) = self.constraint_change(words) {
            return Some(change);
        }
        let hard = |summary| Some(Claim::Constraint { summary, hard: true, revises: None });
        if let Some(rest) =
            strip_any(words, &["make sure that", "make sure", "ensure that", "ensure", "see to it that"])
        {
            return if rest.len() > 1 { hard(self.said(rest)) } else { None };
        }
        if strip_any(words, &["always"]).is_some_and(|rest| rest.len() > 1) {
            return hard(self.said(words));
        }
        if let Some(rest) = strip_any(words, &["no"]) {
            let is_rule = rest.len() <= 8 && !rest.is_empty() && strip_any(rest, IDLE_NO).is_none();
            let has_verb =
                rest.iter().any(|word| matches!(word.lower.as_str(), "is" | "was" | "will" | "did" | "has"));
            return if is_rule && !has_verb && !words[0].paused { hard(self.said(words)) } else { None };
        }
        let plain = plain_text(words);
        let has = |phrases: &[&str]| phrases.iter().any(|phrase| contains(&plain, phrase));
        let is_strong = has(&[
            "must",
            "have to be",
            "has to be",
            "needs to be",
            "need to be",
            "is required",
            "are required",
            "is mandatory",
            "is not allowed",
            "are not allowed",
            "is forbidden",
            "are forbidden",
            "is prohibited",
            "is banned",
            "are banned",
            "off limits",
            "non-negotiable",
            "is a must",
            "hard requirement",
            "hard limit",
            "under no circumstances",
            "at all times",
            "has to work",
            "has to run",
            "has to support",
            "has to stay",
            "needs to work",
            "needs to support",
            "needs to stay",
            "needs to run",
            "have to support",
            "have to stay",
            "need to support",
            "need to stay",
            "not permitted",
        ]);
        let is_about_self = strip_any(
            words,
            &[
                "i must",
                "i must say",
                "i have to",
                "you must be",
                "it must be",
                "it must have",
                "that must",
                "this must",
                "there must",
            ],
        )
        .is_some();
        if is_strong && !is_about_self && words.len() > 2 {
            return hard(self.said(words));
        }
        if let Some(rest) = position_after(words, &["can not"]).map(|at| &words[at..]) {
            let is_rule = strip_any(rest, RULING).is_some() && strip_any(words, &["i"]).is_none();
            return if is_rule { hard(self.said(words)) } else { None };
        }
        let is_bounded = strip_any(words, &["keep", "limit", "cap", "stay"]).is_some()
            && has(&[
                "under",
                "below",
                "within",
                "at most",
                "above",
                "at least",
                "less than",
                "to",
                "no more than",
            ])
            && words.iter().any(|word| word.lower.starts_with(|c: char| c.is_ascii_digit()));
        if is_bounded {
            return hard(self.said(words));
        }
        let is_preference = strip_any(
            words,
            &["prefer", "we prefer", "i prefer", "avoid", "try to avoid", "ideally", "try to"],
        )
        .is_some();
        let is_norm = words.len() > 3
            && words.iter().skip(1).any(|word| word.lower == "should")
            && strip_any(words, &["we", "i", "you", "it", "that", "this", "they"]).is_none();
        ((is_preference || is_norm) && words.len() > 1).then(|| Claim::Constraint {
            summary: self.said(words),
            hard: false,
            revises: None,
        })
    }

    /// "Allow GPL code in tests", "make that 200 ms".
    fn constraint_change(&self, words: &[Word]) -> Option<Claim> {
        let mode = if self.has(&["relax", "loosen", "allow", "exception", "except for"]) {
            Mode::Relaxed
        } else if self.has(&["tighten", "stricter", "restrict"]) {
            Mode::Tightened
        } else {
            Mode::Amended
        };
        let rest = strip_any(
            words,
            &[
                "relax",
                "loosen",
                "tighten",
                "make that",
                "change that to",
                "change it to",
                "allow",
                "we can allow",
                "let us allow",
                "let us relax",
                "let us tighten",
                "make an exception for",
            ],
        )?;
        (!rest.is_empty()).then(|| Claim::Constraint {
            summary: self.said(words),
            hard: false,
            revises: Some(mode),
        })
    }

    fn goal(&self, words: &[Word]) -> Option<Claim> {
        let stated = strip_any(
            words,
            &[
                "the goal is to",
                "our goal is to",
                "the goal is",
                "our goal is",
                "my goal is to",
                "my goal is",
                "the objective is to",
                "the objective is",
                "the aim is to",
                "our aim is to",
                "the project is",
                "this project is",
                "the mission is to",
                "the mission is",
            ],
        );
        if let Some(rest) = stated.filter(|rest| !rest.is_empty()) {
            return Some(Claim::Goal(self.said(rest)));
        }
        let build =
            ["build", "create", "make", "ship", "launch", "develop", "write", "release", "rewrite", "port"];
        let wanted = strip_any(
            words,
            &[
                "we want to",
                "i want to",
                "we are trying to",
                "i am trying to",
                "let us",
                "we need to",
                "i need to",
            ],
        );
        let is_wanted = wanted.is_some_and(|rest| {
            strip_any(rest, &build)
                .and_then(|rest| strip_any(rest, &["a", "an", "our own", "our"]))
                .is_some_and(|rest| !rest.is_empty())
        });
        if let Some(rest) = wanted.filter(|_| {
            is_wanted
                && !self.has(&["test", "tests", "pr", "ticket", "list", "copy", "helper", "function", "note"])
        }) {
            return Some(Claim::Goal(self.said(rest)));
        }
        let ongoing = strip_any(words, &["we are", "i am"])?;
        let is_ongoing = strip_any(
            ongoing,
            &[
                "building a",
                "building an",
                "creating a",
                "making a",
                "developing a",
                "building",
                "designing a",
                "writing a",
            ],
        )
        .is_some_and(|rest| !rest.is_empty());
        is_ongoing.then(|| Claim::Goal(self.said(ongoing)))
    }

    fn task_asked_for(&self, words: &[Word]) -> Option<Claim> {
        let rest = strip_any(
            words,
            &[
                "please",
                "i need you to",
                "i want you to",
                "we need to",
                "we still need to",
                "we have to",
                "we still have to",
                "i need to",
                "i have to",
                "remember to",
                "need to",
                "still need to",
                "next step is to",
                "the next step is to",
                "next i will",
                "next we will",
                "i am going to",
                "let me",
                "i will also",
                "i will now",
                "i will",
                "we will also",
            ],
        )?;
        let is_task = strip_any(rest, DOING).is_some_and(|object| !object.is_empty());
        (is_task && !self.has(&["let me know", "let me check", "let me see"]))
            .then(|| Claim::Task(self.said(rest)))
    }

    fn decision(&self, words: &[Word]) -> Option<Claim> {
        if let Some(rest) = strip_any(words, &["we", "i"])
            .and_then(|rest| strip_any(rest, DECIDED))
            .or_else(|| strip_any(words, DECIDED))
        {
            let picks = words[..words.len() - rest.len()].last().is_some_and(|word| {
                matches!(word.lower.as_str(), "on" | "chose" | "picked" | "for" | "with" | "chosen" | "using")
            });
            let keeps = self.has(&["are dropping", "are keeping", "are moving", "are switching"]);
            return (!rest.is_empty()).then(|| match () {
                () if picks => self.decided(format!("Use {}", self.slice(rest)), rest),
                () if keeps => {
                    self.decided(self.said(strip_any(words, &["we are", "i am"]).unwrap_or(words)), rest)
                }
                () => {
                    self.decided(self.said(strip_any(rest, &["we will", "we", "to"]).unwrap_or(rest)), rest)
                }
            });
        }
        if let Some(rest) = strip_any(
            words,
            &[
                "going with",
                "sticking with",
                "let us go with",
                "we will go with",
                "i will go with",
                "go with",
                "let us go for",
            ],
        ) {
            return (!rest.is_empty()).then(|| self.decided(format!("Use {}", self.slice(rest)), rest));
        }
        if let [.., before, last] = words {
            if before.lower == "it" && last.lower == "is" && (3..=6).contains(&words.len()) {
                return Some(self.decided(format!("Use {}", self.slice(&words[..words.len() - 2])), words));
            }
        }
        let willed = strip_any(
            words,
            &["we will", "let us", "we are going to", "i will", "we shall", "we are now going to"],
        );
        let is_order = self.role != Role::Assistant;
        let said = willed.or(Some(words).filter(|_| is_order))?;
        let said = strip_any(said, &["just", "simply", "definitely", "always", "now", "only", "also"])
            .unwrap_or(said);
        let object = strip_any(said, DECIDING)?;
        let is_split =
            strip_any(said, &["make", "split", "log", "drop", "put", "leave"]).is_some() && willed.is_none();
        (!object.is_empty() && !is_split).then(|| self.decided(self.said(said), object))
    }

    fn decided(&self, summary: String, object: &[Word]) -> Claim {
        let instead = position_after(object, &["instead of", "rather than", "in place of"])
            .map(|at| self.slice(&object[at..]));
        let replaced =
            strip_any(self.sentence.words.as_slice(), &["replace", "let us replace", "we will replace"])
                .and_then(|rest| {
                    rest.iter()
                        .position(|word| matches!(word.lower.as_str(), "with" | "by"))
                        .map(|at| self.slice(&rest[..at]))
                });
        let from = position_after(object, &["from"])
            .filter(|_| self.has(&["switch from", "migrate from", "move from"]));
        let left = from.and_then(|at| {
            let rest = &object[at..];
            rest.iter().position(|word| word.lower == "to").map(|end| self.slice(&rest[..end]))
        });
        Claim::Decision { summary, revises: self.revises(), instead_of: instead.or(replaced).or(left) }
    }

    fn task(&self, words: &[Word]) -> Option<Claim> {
        let willed = strip_any(words, &["let us", "we will", "we are going to"]);
        let is_order = self.role == Role::User || self.role == Role::System;
        let said = willed.or(Some(words).filter(|_| is_order))?;
        let object = strip_any(said, DOING)?;
        (!object.is_empty() && words.len() >= 2).then(|| Claim::Task(self.said(said)))
    }

    fn fact(&self, words: &[Word]) -> Option<Claim> {
        let found = strip_any(
            words,
            &[
                "it turns out that",
                "it turns out",
                "turns out that",
                "turns out",
                "i found out that",
                "i found that",
                "we found that",
                "we found out that",
                "i discovered that",
                "we discovered that",
                "i learned that",
                "we learned that",
                "found that",
                "discovered that",
                "learned that",
                "til",
                "i noticed that",
                "i noticed",
                "we measured",
                "i measured",
                "the root cause is",
                "the root cause was",
                "root cause is",
                "it is confirmed that",
                "i confirmed that",
                "we confirmed that",
                "i verified that",
                "i checked and",
                "i can confirm that",
                "note that",
                "confirmed that",
                "verified that",
                "we saw that",
                "i see that",
                "the logs show that",
                "the logs show",
                "the profiler shows that",
                "the profiler shows",
                "you were right",
                "you are right",
            ],
        );
        let corrects = self.revises() || self.has(&["turns out", "in fact"]);
        let confirms = self.has(&[
            "confirmed",
            "confirm",
            "verified",
            "indeed",
            "you were right",
            "you are right",
            "root cause",
            "proved",
            "proven",
        ]);
        if let Some(rest) = found.filter(|rest| rest.len() >= 3) {
            let confidence = if confirms || self.has(&["measured", "the logs show", "the profiler shows"]) {
                Confidence::High
            } else {
                Confidence::Medium
            };
            return Some(Claim::Fact { summary: self.said(rest), confidence, corrects, confirms });
        }
        self.is_statement(words).then(|| Claim::Fact {
            summary: self.said(words),
            confidence: Confidence::Medium,
            corrects,
            confirms,
        })
    }

    /// "The API is rate limited": a subject of the project's, a verb, and something to say.
    fn is_statement(&self, words: &[Word]) -> bool {
        let is_article = matches!(words[0].lower.as_str(), "the" | "our" | "all" | "each" | "every");
        let first = if is_article { 1 } else { 0 };
        let Some(subject) = words.get(first) else {
            return false;
        };
        let is_name =
            self.sentence.text[words[0].place.start..].starts_with(|c: char| c.is_uppercase() || c == '`');
        let is_idle =
            IDLE_SUBJECTS.contains(&subject.lower.as_str()) || IDLE_STARTS.contains(&words[0].lower.as_str());
        let verb =
            words.iter().take(8).skip(first + 1).position(|word| STATING.contains(&word.lower.as_str()));
        let has_verb = verb.is_some_and(|at| first + 1 + at + 1 < words.len());
        let is_specific = is_article
            || words.iter().any(|word| {
                word.lower.contains(|c: char| c.is_ascii_digit() || c == '_' || c == '/' || c == '.')
            })
            || self.sentence.text.contains('`')
            || starts_as_name(&self.sentence.text, words);
        (is_article || is_name) && !is_idle && !reports_progress && has_verb && is_specific && words.len() >= 4
    }

    fn revises(&self) -> bool {
        self.has(REVISING)
    }

    fn has(&self, phrases: &[&str]) -> bool {
        let plain = plain_text(&self.sentence.words);
        phrases.iter().any(|phrase| contains(&plain, phrase))
    }

    /// The words as they were said, tidied to a summary: a capital at the front, no afterthoughts, no reasons.
    fn said(&self, words: &[Word]) -> String {
        let end =
            words.iter().skip(1).position(|word| word.lower == "because").map_or(words.len(), |at| at + 1);
        let mut words = &words[..end];
        while let [rest @ .., last] = words {
            let is_tail = matches!(
                last.lower.as_str(),
                "instead" | "then" | "please" | "too" | "ok" | "okay" | "thanks" | "now"
            );
            if !is_tail || rest.is_empty() {
                break;
            }
            words = rest;
        }
        let slice = self.slice(words);
        let mut chars = slice.chars();
        match chars.next() {
            Some(first) if first.is_lowercase() && !slice.contains("::") => {
                first.to_uppercase().chain(chars).collect()
            }
            _ => slice,
        }
    }

    /// The text from the first word to the last, with the marks that belong to them.
    fn slice(&self, words: &[Word]) -> String {
        let (Some(first), Some(last)) = (words.first(), words.last()) else {
            return String::new();
        };
        let text = &self.sentence.text;
        let (mut start, mut end) = (first.place.start, last.place.end.max(first.place.start));
        while text[..start].ends_with(['`', '"', '(', '.', '-', '“']) {
            start -= text[..start].chars().next_back().map_or(1, char::len_utf8);
        }
        while text[end..].starts_with(['`', '"', ')', '”']) {
            end += text[end..].chars().next().map_or(1, char::len_utf8);
        }
        let slice = text[start..end]
            .trim_matches(|c: char| c.is_whitespace() || c == '*')
            .trim_start_matches(['-', '—', '.']);
        unmatched(slice.trim_start())
    }
}

/// Sentence openings that point at something else than the project.
const IDLE_STARTS: &[&str] = &[
    "i",
    "you",
    "it",
    "that",
    "this",
    "there",
    "here",
    "he",
    "she",
    "they",
    "these",
    "those",
    "what",
    "who",
    "why",
    "how",
    "when",
    "where",
    "which",
    "we",
    "nothing",
    "something",
    "everything",
    "anything",
    "nobody",
    "everyone",
    "someone",
    "thanks",
    "yes",
    "no",
    "not",
    "if",
    "let",
    "please",
    "my",
    "your",
    "his",
    "her",
    "their",
    "looks",
    "sounds",
    "see",
    "one",
    "both",
    "either",
    "neither",
    "some",
    "any",
    "great",
    "good",
    "nice",
    "sure",
    "ok",
    "okay",
    "now",
    "then",
    "today",
    "tomorrow",
    "yesterday",
];

/// What says how far some work is, which is no fact to keep.
const PROGRESS: &[&str] = &["done", "finished", "ready", "complete", "completed", "merged", "progress"];

fn starts_as_name(text: &str, words: &[Word]) -> bool {
    let first = &text[words[0].place.clone()];
    first.chars().skip(1).any(char::is_uppercase)
        || words.get(1).is_some_and(|word| {
            matches!(
                word.lower.as_str(),
                "is" | "uses"
                    | "requires"
                    | "supports"
                    | "takes"
                    | "returns"
                    | "runs"
                    | "has"
                    | "does"
                    | "needs"
                    | "drops"
                    | "only"
            )
        })
}

/// Takes off a bracket or mark that lost its partner.
fn unmatched(slice: &str) -> String {
    let mut slice = slice;
    for (open, close) in [('(', ')'), ('"', '"'), ('“', '”'), ('`', '`')] {
        let n_open = slice.matches(open).count();
        let n_close = slice.matches(close).count();
        let is_odd = if open == close { n_open % 2 == 1 } else { n_open != n_close };
        if is_odd {
            slice = slice.trim_start_matches(open).trim_end_matches(close);
        }
    }
    slice.to_owned()
}

fn decided(summary: String) -> Claim {
    Claim::Decision { summary, revises: false, instead_of: None }
}

/// Under "Decisions" a prohibition is a decision.
fn as_decision(claim: Claim) -> Claim {
    match claim {
        Claim::Constraint { summary, .. } => decided(summary),
        other => other,
    }
}

/// The words after a hedge at the front.
fn strip_hedge(words: &[Word]) -> &[Word] {
    let hedges = [
        "maybe",
        "perhaps",
        "probably",
        "possibly",
        "i think that",
        "i think",
        "i guess",
        "i suspect that",
        "i suspect",
        "i believe",
        "i suppose",
        "presumably",
        "apparently",
        "it seems that",
        "it seems",
        "my guess is that",
        "my guess is",
    ];
    let mut rest = words;
    while let Some(stripped) = strip_any(rest, &hedges).filter(|stripped| stripped.len() >= 2) {
        rest = stripped;
    }
    rest
}

fn starts_plain(words: &[Word], phrase: &str) -> bool {
    strip(words, phrase).is_some()
}

fn is_yes_or_no(words: &[Word]) -> bool {
    words.iter().any(|word| matches!(word.lower.as_str(), "no" | "yes" | "not" | "what" | "something"))
}

/// Where the first of `phrases` begins.
fn position_of(words: &[Word], phrases: &[&str]) -> Option<usize> {
    (0..words.len()).find(|&at| strip_any(&words[at..], phrases).is_some())
}

/// Where the words after the first of `phrases` begin.
fn position_after(words: &[Word], phrases: &[&str]) -> Option<usize> {
    (0..words.len()).find_map(|at| strip_any(&words[at..], phrases).map(|rest| words.len() - rest.len()))
}
