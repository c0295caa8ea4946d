//! Parses a candidate from JSON. Every value yields a proposal; the reconciler decides what becomes of it.
//!
//! Unexpected and missing fields are invalid, and so are wrong types: nothing is coerced.

use crate::candidate::{
    DeltaProposal, ItemChange, ItemContent, ItemDelta, MAX_SOURCES, TurnSource, is_blank,
};
use crate::vocabulary::{ConfidenceLevel, DeltaKind, RevisionMode};
use serde::Deserialize;
use serde_json::{Map, Value};

type InvalidFieldName = &'static str;

/// A candidate delta as its author sent it: any JSON. The reconciler rejects an invalid one at its position and with a
/// code, so that one bad delta does not stop the others.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct CandidateDelta(Value);

probity_core::json_schema_of!(CandidateDelta, schemars::json_schema!(true));

impl CandidateDelta {
    /// Returns the kind that it names, known or not.
    pub fn kind(&self) -> Option<&str> {
        self.0.get("kind").and_then(Value::as_str)
    }

    /// Parses the delta. If the member `sources` is absent, the turn `said` becomes the source.
    pub fn read<'a>(&'a self, said: Option<&'a str>) -> DeltaProposal<'a> {
        let mut proposal = DeltaProposal::read(&self.0);
        if let Some(turn) = said
            && self.0.as_object().is_some_and(|members| !members.contains_key("sources"))
        {
            proposal.sources = Some(vec![TurnSource::turn(turn)]);
        }
        proposal
    }
}

impl From<Value> for CandidateDelta {
    fn from(delta: Value) -> Self {
        Self(delta)
    }
}

impl<'a> DeltaProposal<'a> {
    /// Parses a proposal from any JSON value.
    pub fn read(value: &'a Value) -> Self {
        let Some(object) = value.as_object() else {
            return Self {
                key: None,
                kind: None,
                sources: Some(Vec::new()),
                delta: Err("kind"),
                contradicts_source: false,
            };
        };
        let kind = object.get("kind").and_then(Value::as_str).and_then(|kind| kind.parse().ok());
        let (sources, well_formed) = read_sources(object.get("sources"));
        let delta = match kind {
            None => Err("kind"),
            Some(_) if !well_formed => Err("sources"),
            Some(_) if has_bad_key(object) => Err("key"),
            Some(kind) => read_delta(object, kind),
        };
        let key = object.get("key").and_then(Value::as_str);
        Self { key, kind, sources, delta, contradicts_source: false }
    }
}

fn has_bad_key(object: &Map<String, Value>) -> bool {
    object.get("key").is_some_and(|key| key.as_str().is_none_or(is_blank))
}

/// Returns the readable sources (`None` if there is a value without any source in it), and whether all of them are well
/// formed. A turn that is not a string is read as a blank id, which is never known.
fn read_sources(value: Option<&Value>) -> (Option<Vec<TurnSource<'_>>>, bool) {
    let list = match value {
        None | Some(Value::Null) => return (Some(Vec::new()), true),
        Some(Value::Array(list)) => list,
        Some(_) => return (None, false),
    };
    let mut well_formed = list.len() <= MAX_SOURCES;
    let mut sources = Vec::with_capacity(list.len().min(MAX_SOURCES));
    for entry in list.iter().take(MAX_SOURCES) {
        let (source, is_good) = read_source(entry);
        sources.extend(source);
        well_formed &= is_good;
    }
    let unreadable = sources.is_empty() && !list.is_empty();
    ((!unreadable).then_some(sources), well_formed)
}

fn read_source(entry: &Value) -> (Option<TurnSource<'_>>, bool) {
    let Some(object) = entry.as_object() else {
        return (None, false);
    };
    let turn = object.get("turn").and_then(Value::as_str).unwrap_or("");
    let range = object.get("range").map(read_range);
    let has_extra = object.keys().any(|name| name != "turn" && name != "range");
    (Some(TurnSource { turn, range: range.flatten() }), !has_extra && range != Some(None))
}

fn read_range(value: &Value) -> Option<(u64, u64)> {
    match value.as_array()?.as_slice() {
        [start, end] => {
            let range = (start.as_u64()?, end.as_u64()?);
            (range.0 < range.1).then_some(range)
        }
        _ => None,
    }
}

fn read_delta(object: &Map<String, Value>, kind: DeltaKind) -> Result<ItemDelta<'_>, InvalidFieldName> {
    let common = ["kind", "sources", "key"].iter().filter(|name| object.contains_key(**name)).count();
    let mut fields = FieldReader { object, used: common };
    let delta = fields.delta(kind)?;
    if fields.used != object.len() {
        return Err("extra");
    }
    match delta.fault() {
        None => Ok(delta),
        Some(field) => Err(field),
    }
}

/// Takes fields out of an object and counts them, to detect unexpected ones.
struct FieldReader<'a> {
    object: &'a Map<String, Value>,
    used: usize,
}

impl<'a> FieldReader<'a> {
    fn take(&mut self, name: &str) -> Option<&'a Value> {
        let value = self.object.get(name)?;
        self.used += 1;
        Some(value)
    }

    fn text(&mut self, name: InvalidFieldName) -> Result<&'a str, InvalidFieldName> {
        self.take(name).and_then(Value::as_str).ok_or(name)
    }

    fn optional_text(&mut self, name: InvalidFieldName) -> Result<Option<&'a str>, InvalidFieldName> {
        self.take(name).map(|value| value.as_str().ok_or(name)).transpose()
    }

    fn confidence(&mut self) -> Result<ConfidenceLevel, InvalidFieldName> {
        self.optional_confidence()?.ok_or("confidence")
    }

    fn optional_confidence(&mut self) -> Result<Option<ConfidenceLevel>, InvalidFieldName> {
        let word = self.optional_text("confidence")?;
        word.map(|word| word.parse::<ConfidenceLevel>().map_err(|_| "confidence")).transpose()
    }

    fn mode(&mut self) -> Result<Option<RevisionMode>, InvalidFieldName> {
        self.optional_text("mode")?.map(|word| word.parse::<RevisionMode>().map_err(|_| "mode")).transpose()
    }

    fn alternatives(&mut self) -> Result<Vec<&'a str>, InvalidFieldName> {
        let list = self.take("alternatives").and_then(Value::as_array).ok_or("alternatives")?;
        list.iter().map(|value| value.as_str().ok_or("alternatives")).collect()
    }

    fn delta(&mut self, kind: DeltaKind) -> Result<ItemDelta<'a>, InvalidFieldName> {
        match self.content(kind)? {
            Some(content) => Ok(ItemDelta::Create { handle: self.text("handle")?, content }),
            None => Ok(ItemDelta::Change { target: self.text("target")?, change: self.change(kind)? }),
        }
    }

    fn content(&mut self, kind: DeltaKind) -> Result<Option<ItemContent<'a>>, InvalidFieldName> {
        Ok(Some(match kind {
            DeltaKind::GoalSet => {
                ItemContent::Goal { summary: self.text("summary")?, confidence: self.confidence()? }
            }
            DeltaKind::DecisionMade => {
                ItemContent::Decision { summary: self.text("summary")?, confidence: self.confidence()? }
            }
            DeltaKind::FactLearned => {
                ItemContent::Fact { summary: self.text("summary")?, confidence: self.confidence()? }
            }
            DeltaKind::HypothesisIntroduced => {
                ItemContent::Hypothesis { summary: self.text("summary")?, confidence: self.confidence()? }
            }
            DeltaKind::ConstraintAdded => {
                let hard = self.take("hard").and_then(Value::as_bool).ok_or("hard")?;
                ItemContent::Constraint { summary: self.text("summary")?, hard }
            }
            DeltaKind::TaskOpened => ItemContent::Task { summary: self.text("summary")? },
            DeltaKind::BranchCreated => ItemContent::Branch { alternatives: self.alternatives()? },
            _ => return Ok(None),
        }))
    }

    fn change(&mut self, kind: DeltaKind) -> Result<ItemChange<'a>, InvalidFieldName> {
        Ok(match kind {
            DeltaKind::DecisionRevised => ItemChange::ReviseDecision {
                summary: self.text("summary")?,
                confidence: self.optional_confidence()?,
            },
            DeltaKind::ConstraintRevised => {
                ItemChange::ReviseConstraint { summary: self.text("summary")?, mode: self.mode()? }
            }
            DeltaKind::ConfidenceChanged => ItemChange::Confidence { confidence: self.confidence()? },
            DeltaKind::TaskClosed => ItemChange::CloseTask { resolution: self.text("resolution")? },
            DeltaKind::GoalClosed => ItemChange::CloseGoal { resolution: self.text("resolution")? },
            DeltaKind::ItemSuperseded => {
                ItemChange::Supersede { reason: self.text("reason")?, by: self.optional_text("by")? }
            }
            DeltaKind::HypothesisPromoted => ItemChange::Promote { confidence: self.optional_confidence()? },
            DeltaKind::BranchResolved => ItemChange::ResolveBranch {
                handle: self.text("handle")?,
                chosen: self.text("chosen")?,
                confidence: self.optional_confidence()?,
            },
            DeltaKind::TaskReopened => {
                ItemChange::ReopenTask { handle: self.text("handle")?, reason: self.text("reason")? }
            }
            DeltaKind::FactCorrected => ItemChange::CorrectFact {
                handle: self.text("handle")?,
                summary: self.text("summary")?,
                confidence: self.optional_confidence()?,
            },
            _ => return Err("kind"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn fault(value: &Value) -> Option<&'static str> {
        DeltaProposal::read(value).faulty_field()
    }

    #[test]
    fn reads_a_good_one() {
        let value = json!({"kind": "task_opened", "handle": "k", "summary": "Docs", "sources": [{"turn": "t1"}], "key": "1"});
        let proposal = DeltaProposal::read(&value);
        assert_eq!(proposal.faulty_field(), None);
        assert_eq!(proposal.key, Some("1"));
        assert_eq!(proposal.sources, Some(vec![TurnSource::turn("t1")]));
    }

    #[test]
    fn names_the_field_that_is_wrong() {
        let base = json!({"kind": "fact_learned", "handle": "f", "summary": "x", "confidence": "high", "sources": [{"turn": "t1"}]});
        let with = |name: &str, value: Value| {
            let mut changed = base.clone();
            changed[name] = value;
            changed
        };
        assert_eq!(fault(&base), None);
        for (name, value) in [
            ("handle", json!(7)),
            ("summary", json!(null)),
            ("confidence", json!("High")),
            ("key", json!("")),
            ("key", json!(null)),
            ("sources", json!("t1")),
            ("sources", json!(["t1"])),
            ("sources", json!([{"turn": "t1", "page": 3}])),
            ("sources", json!([{"turn": "t1", "range": [3, 3]}])),
            ("sources", json!([{"turn": "t1", "range": [-1, 3]}])),
            ("sources", json!([{"turn": "t1", "range": [0, 1.5]}])),
            ("sources", json!([{"turn": "t1", "range": [0]}])),
        ] {
            assert_eq!(fault(&with(name, value)), Some(name), "{name}");
        }
        assert_eq!(fault(&with("status", json!("active"))), Some("extra"));
        assert_eq!(fault(&json!([1])), Some("kind"));
    }
}
