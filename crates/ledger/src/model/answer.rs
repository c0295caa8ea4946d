//! Parses a model's answer and keeps the deltas that may be proposed.

use super::prompt::TurnText;
use crate::extract::{Role, SpeakerStance, stance};
use crate::ledger::Ledger;
use crate::vocabulary::DeltaKind;
use probity_core::Digest;
use probity_prose::normal_form::count_negations;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

const MAX_DELTAS: usize = 500;

#[derive(Debug, Clone, PartialEq, Default)]
pub struct ParsedAnswer {
    /// Candidates, ready for [`crate::DeltaProposal::read`], each with its turn.
    pub candidates: Vec<(String, Value)>,
    pub dropped: Vec<DroppedDelta>,
    /// How many deltas became hypotheses because the turn only guesses them.
    pub n_weakened: usize,
}

probity_core::word_enum! {
    pub enum DropReason {
        /// It cannot be parsed.
        Malformed = "malformed",
        /// It names a turn that the model was not shown.
        UnknownTurn = "unknown_turn",
        /// Its quote is not in the turn.
        QuoteNotFound = "quote_not_found",
        /// The turn does not say it, or only asks or supposes it.
        NotSaid = "not_said",
        /// It denies what its quote asserts, or vice versa.
        Polarity = "polarity",
    }
}

/// A delta of an answer that is not proposed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DroppedDelta {
    /// The kind of delta, as far as it could be read.
    pub kind: String,
    /// Why it is not proposed.
    pub why: DropReason,
    /// The text of the delta.
    pub words: String,
}

/// Parses an answer. An answer that is not a list of deltas is an error; a worthless delta is only dropped.
pub fn read(ledger: &Ledger, turns: &[TurnText], answer: &str) -> Result<ParsedAnswer, String> {
    let value = parse(answer)?;
    let deltas = value.get("deltas").and_then(Value::as_array).ok_or("there is no list `deltas` in it")?;
    let mut reader = AnswerReader { ledger, turns, names: BTreeMap::new(), read: ParsedAnswer::default() };
    for delta in deltas.iter().take(MAX_DELTAS) {
        if let Err(why) = reader.read_delta(delta) {
            let text = |name: &str| delta.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
            let words = [text("summary"), text("quote")].into_iter().find(|words| !words.is_empty());
            let words = words.unwrap_or_default().chars().take(200).collect();
            reader.read.dropped.push(DroppedDelta { kind: text("kind"), why, words });
        }
    }
    Ok(reader.read)
}

/// Parses the JSON of an answer, which models often wrap in a code fence.
fn parse(answer: &str) -> Result<Value, String> {
    let inside = answer.trim().strip_prefix("```json").or_else(|| answer.trim().strip_prefix("```"));
    let text = inside.and_then(|text| text.trim_end().strip_suffix("```")).unwrap_or(answer);
    serde_json::from_str(text.trim()).map_err(|error| format!("it is not JSON: {error}"))
}

struct AnswerReader<'a> {
    ledger: &'a Ledger,
    turns: &'a [TurnText],
    /// The handles that the answer uses for its own items, with the minted ones.
    names: BTreeMap<String, String>,
    read: ParsedAnswer,
}

impl AnswerReader<'_> {
    fn read_delta(&mut self, delta: &Value) -> Result<(), DropReason> {
        let fields = delta.as_object().ok_or(DropReason::Malformed)?;
        let text = |name: &str| fields.get(name).and_then(Value::as_str);
        let kind = text("kind").and_then(|kind| kind.parse().ok()).ok_or(DropReason::Malformed)?;
        let turns = self.turns;
        let turn = turns
            .iter()
            .find(|turn| Some(turn.id.as_str()) == text("turn"))
            .ok_or(DropReason::UnknownTurn)?;
        let quote =
            text("quote").filter(|quote| !quote.trim().is_empty()).ok_or(DropReason::QuoteNotFound)?;
        let start = turn.text.find(quote).ok_or(DropReason::QuoteNotFound)?;
        let range = start..start + quote.len();
        let stance =
            if turn.role == Role::Tool { SpeakerStance::NotSaid } else { stance(&turn.text, &range) };
        let claimed = kind;
        let kind = match stance {
            SpeakerStance::Asserted => kind,
            SpeakerStance::Guessed
                if kind == DeltaKind::HypothesisIntroduced || kind == DeltaKind::BranchCreated =>
            {
                kind
            }
            SpeakerStance::Guessed if is_claim(kind) => DeltaKind::HypothesisIntroduced,
            // An open choice is by nature asked or undecided.
            SpeakerStance::NotSaid if kind == DeltaKind::BranchCreated && turn.role != Role::Tool => kind,
            SpeakerStance::Guessed | SpeakerStance::NotSaid => return Err(DropReason::NotSaid),
        };
        let is_same_polarity =
            |summary: &str| (count_negations(summary) == 0) == (count_negations(quote) == 0);
        if text("summary").is_some_and(|summary| !is_same_polarity(summary)) {
            return Err(DropReason::Polarity);
        }
        let mut candidate = self.candidate(kind, fields, turn, [range.start, range.end])?;
        if kind != claimed {
            candidate["confidence"] = "low".into();
        }
        self.read.n_weakened += usize::from(kind != claimed);
        self.read.candidates.push((turn.id.clone(), candidate));
        Ok(())
    }

    fn candidate(
        &mut self,
        kind: DeltaKind,
        fields: &Map<String, Value>,
        turn: &TurnText,
        range: [usize; 2],
    ) -> Result<Value, DropReason> {
        let mut candidate = Map::new();
        candidate.insert("kind".into(), kind.as_str().into());
        for &name in fields_of(kind) {
            if let Some(value) = self.field(kind, name, fields)? {
                candidate.insert(name.into(), value);
            }
        }
        candidate.insert("sources".into(), json!([{ "turn": turn.id, "range": range }]));
        // The same delta from the same words gets the same key, whatever the model calls it.
        let mut said = candidate.clone();
        said.remove("handle");
        let print = Digest::of_json(&Value::Object(said)).to_hex();
        let (key, minted) =
            (format!("model:{}:{}", turn.id, &print[..16]), format!("{}:{}", turn.id, &print[..8]));
        if candidate.contains_key("handle") {
            if let Some(local) = fields.get("handle").and_then(Value::as_str) {
                self.names.insert(local.to_owned(), minted.clone());
            }
            candidate.insert("handle".into(), minted.into());
        }
        candidate.insert("key".into(), key.into());
        Ok(Value::Object(candidate))
    }

    fn field(
        &self,
        kind: DeltaKind,
        name: &'static str,
        fields: &Map<String, Value>,
    ) -> Result<Option<Value>, DropReason> {
        let given = fields.get(name).filter(|value| !value.is_null());
        match (name, given) {
            ("handle", _) => Ok(Some(Value::Null)),
            ("target" | "by", Some(value)) => {
                let handle = value.as_str().ok_or(DropReason::Malformed)?;
                let named = self
                    .names
                    .get(handle)
                    .map(String::as_str)
                    .or_else(|| self.ledger.find(handle).map(|_| handle));
                // Invented handles are left for the reconciler, which rejects them at their position and with a code.
                Ok(Some(named.unwrap_or(handle).into()))
            }
            ("confidence", None) if kind == DeltaKind::HypothesisIntroduced => Ok(Some("low".into())),
            ("confidence", None) if is_claim(kind) => Ok(Some("medium".into())),
            ("hard", None) => Ok(Some(false.into())),
            (_, given) => Ok(given.cloned()),
        }
    }
}

/// Returns whether a delta of this kind claims that something is the case.
const fn is_claim(kind: DeltaKind) -> bool {
    matches!(
        kind,
        DeltaKind::GoalSet | DeltaKind::DecisionMade | DeltaKind::FactLearned | DeltaKind::ConstraintAdded
    )
}

const fn fields_of(kind: DeltaKind) -> &'static [&'static str] {
    match kind {
        DeltaKind::GoalSet
        | DeltaKind::DecisionMade
        | DeltaKind::FactLearned
        | DeltaKind::HypothesisIntroduced => &["handle", "summary", "confidence"],
        DeltaKind::ConstraintAdded => &["handle", "summary", "hard"],
        DeltaKind::TaskOpened => &["handle", "summary"],
        DeltaKind::BranchCreated => &["handle", "alternatives"],
        DeltaKind::DecisionRevised => &["target", "summary", "confidence"],
        DeltaKind::ConstraintRevised => &["target", "summary", "mode"],
        DeltaKind::ConfidenceChanged | DeltaKind::HypothesisPromoted => &["target", "confidence"],
        DeltaKind::TaskClosed | DeltaKind::GoalClosed => &["target", "resolution"],
        DeltaKind::ItemSuperseded => &["target", "reason", "by"],
        DeltaKind::BranchResolved => &["target", "handle", "chosen", "confidence"],
        DeltaKind::TaskReopened => &["target", "handle", "reason"],
        DeltaKind::FactCorrected => &["target", "handle", "summary", "confidence"],
    }
}
