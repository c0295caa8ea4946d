//! Extracts candidate deltas from turns, by rules: no model, no gate, no state of its own.
//!
//! A turn is read sentence by sentence; `prose` determines how each is meant. `topics` finds what each heading
//! announces, `rules` what a sentence claims, and `target_resolution` the known item it is about: a live item of the
//! ledger, or one from earlier in the turn, so that a revision can target what was just said. Hedged, asked, supposed,
//! reported or quoted text never becomes a decision, a fact, a goal or a constraint; at most a hypothesis. `dialog` keeps what
//! the turns before leave open, and `retraction` withdraws what a turn takes back itself.

mod claims;
mod dialog;
mod options;
mod retraction;
mod rules;
mod sentences;
mod stance;
mod target_resolution;
mod topics;

use crate::ledger::Ledger;
use dialog::DialogContext;
use probity_prose::markdown::BlockForm;
use probity_prose::modality::doubts_what_came_before;
use probity_prose::sentences::Sentence;
use rules::ReadSentence;
use serde_json::Value;
pub(crate) use stance::{SpeakerStance, stance};
use target_resolution::TargetResolver;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The person at the keyboard. Imperatives are orders.
    User,
    Assistant,
    /// The operator who configured the agent.
    System,
    /// Output of a tool. Nobody says it, so nothing is extracted from it.
    Tool,
}

#[derive(Debug, Clone, Copy)]
pub struct Turn<'a> {
    pub id: &'a str,
    pub role: Role,
    /// Markdown.
    pub text: &'a str,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ExtractedCandidate {
    /// Ready for [`crate::DeltaProposal::read`]. Its key makes a second extraction from the same turn a redelivery.
    pub candidate: Value,
    pub sentence: String,
}

/// The candidates of a turn.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TurnExtraction {
    pub found: Vec<ExtractedCandidate>,
    /// The number of sentences that are too long to be read.
    pub n_too_long: usize,
}

/// Extracts candidates from a turn, against the current ledger. The turn must be added to the ledger before the
/// candidates are proposed.
pub fn extract(ledger: &Ledger, turn: &Turn<'_>) -> TurnExtraction {
    extract_in_dialog(ledger, &[], turn)
}

/// Like [`extract`], with the turns before this one, oldest first: a short answer means what they offered. Only the last few
/// are looked at.
pub fn extract_in_dialog(ledger: &Ledger, before: &[Turn<'_>], turn: &Turn<'_>) -> TurnExtraction {
    if turn.role == Role::Tool {
        return TurnExtraction::default();
    }
    let context = DialogContext::of(before, turn);
    let (mut read, n_too_long) = read_turn(turn, &context);
    retraction::correct_by_asterisk(turn, &mut read);
    retraction::take_back(&mut read, context.is_asked);
    let mut targets = TargetResolver::of(ledger, &context.recent, &context.of_others);
    let read_causes = read
        .iter()
        .find(|read| rules::tells_cause(&read.sentence))
        .map(|read| (read.sentence.text.clone(), read.sentence.range.clone()));
    let mut found = Vec::new();
    let mut finding = None;
    let ended = read
        .iter()
        .take(MAX_SENTENCES_TO_AN_END)
        .find(|read| turn.role == Role::Assistant && rules::ends_work(&read.sentence))
        .map(|read| (read.sentence.text.clone(), read.sentence.range.clone()));
    for ReadSentence { sentence, claims, .. } in read {
        for readings in claims {
            let name = target_resolution::TargetName { turn: turn.id, n: found.len() + 1 };
            let mut drafts =
                readings.into_iter().map(|claim| targets.candidates(claim, name, &sentence.range));
            let candidates = drafts.find(|candidates| !candidates.is_empty()).unwrap_or_default();
            if finding.is_none() && candidates.iter().any(|candidate| candidate["kind"] == "fact_learned") {
                finding = Some((sentence.text.clone(), sentence.range.clone()));
            }
            let sentence = || sentence.text.clone();
            found.extend(
                candidates
                    .into_iter()
                    .map(|candidate| ExtractedCandidate { candidate, sentence: sentence() }),
            );
        }
        targets.hear(&sentence.text);
    }
    if let Some((sentence, range)) = ended.filter(|_| !closes(&found)) {
        let name = target_resolution::TargetName { turn: turn.id, n: found.len() + 1 };
        let closed = targets.close_only_asked(&sentence, name, &range);
        found.extend(
            closed.into_iter().map(|candidate| ExtractedCandidate { candidate, sentence: sentence.clone() }),
        );
    }
    let cause = read_causes.filter(|_| turn.role == Role::Assistant);
    if let Some((sentence, range)) = cause {
        let name = target_resolution::TargetName { turn: turn.id, n: found.len() + 1 };
        let closed = targets.close_search_for_cause(&sentence, name, &range);
        found.extend(
            closed.into_iter().map(|candidate| ExtractedCandidate { candidate, sentence: sentence.clone() }),
        );
    }
    if let Some((sentence, range)) = finding.filter(|_| turn.role == Role::Assistant) {
        let name = target_resolution::TargetName { turn: turn.id, n: found.len() + 1 };
        let closed = targets.close_investigation(&sentence, name, &range);
        found.extend(
            closed.into_iter().map(|candidate| ExtractedCandidate { candidate, sentence: sentence.clone() }),
        );
    }
    TurnExtraction { found, n_too_long }
}

/// How far into a turn its report of finished work begins.
const MAX_SENTENCES_TO_AN_END: usize = 2;

fn closes(found: &[ExtractedCandidate]) -> bool {
    found.iter().any(|found| found.candidate["kind"] == "task_closed")
}

/// Returns the sentences of a turn with what each claims, and the number of those that are too long to be read.
fn read_turn(turn: &Turn<'_>, context: &DialogContext) -> (Vec<ReadSentence>, usize) {
    let mut n_too_long = 0;
    let mut read = Vec::new();
    let is_user = turn.role == Role::User;
    let mut n_items = 0;
    for block in options::gather(turn.text, topics::blocks(turn.text)) {
        let (mut sentences, n_long) = sentences::sentences_of(turn.text, &block);
        n_too_long += n_long;
        // A sentence in a language without readable words says nothing.
        sentences.retain(|sentence| !sentence.words.is_empty());
        if let (Some(alternatives), false) = (options::of(turn.text, &block), sentences.is_empty()) {
            let claims = vec![vec![claims::TurnClaim::Branch(alternatives)]];
            read.push(ReadSentence { sentence: sentences.swap_remove(0), claims, is_user, is_answer: false });
            continue;
        }
        let is_item = block.form == BlockForm::Item;
        let is_answer = is_user && is_item && context.questions.get(n_items).is_some();
        n_items += usize::from(is_item);
        let claims: Vec<_> = (0..sentences.len())
            .map(|at| {
                if let Some(branch) =
                    sentences.get(at + 1).and_then(|next| rules::asked_choice(&sentences[at], next))
                {
                    return vec![vec![branch]];
                }
                let answer = || rules::numbered_answer(&sentences[at], context);
                if let Some(claims) = (is_answer && at == 0).then(answer).flatten() {
                    return claims;
                }
                let doubt = rules::SentenceDoubt {
                    by_next: sentences.get(at + 1).is_some_and(doubts_what_came_before),
                    by_previous: at > 0 && rules::is_idea(&sentences[at - 1]),
                };
                let corrected = retraction::corrected_text(&sentences[at])
                    .map(|text| Sentence::new(&text, sentences[at].range.clone()));
                let sentence = corrected.as_ref().unwrap_or(&sentences[at]);
                rules::claims(sentence, &block, turn.role, doubt, context)
            })
            .collect();
        let pairs = sentences.into_iter().zip(claims);
        read.extend(pairs.map(|(sentence, claims)| ReadSentence { sentence, claims, is_user, is_answer }));
    }
    (read, n_too_long)
}
