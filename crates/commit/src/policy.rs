//! Policies: rules as data that decide conflicts before a person is asked.
//!
//! The first rule that matches a conflict speaks; where none matches, or the rule cannot decide this conflict (a
//! maximum of something absent, a sum without a base), a person is asked. A policy decides nothing by itself: it
//! proposes resolutions, and reconciliation checks them like any others.

use crate::analysis::{AnalyzeError, MergeAnalysis, MergeAnalyzer, MergeConflict, Reading, Side};
use crate::ancestry;
use crate::claims;
use crate::codec;
use crate::commit::CommitId;
use crate::history::{Commits, HistoryError, Seq, locate};
use crate::loss;
use crate::op::DocumentId;
use crate::path::{self, Path};
use crate::reconcile::{Chosen, MergeResolution};
use crate::types::Type;
use crate::value::Value;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use std::collections::BTreeMap;

/// Rules, of which the first that matches decides.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    /// The rules.
    pub rules: Vec<Rule>,
}

/// One rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// The attachment, or `*` for all.
    pub attachment: String,
    /// The loci: components as in a path, `"*"` for any one component, `"**"` at the end for any more.
    #[serde(default = "everywhere")]
    pub path: Vec<Json>,
    /// What to do there.
    pub decide: Decide,
}

fn everywhere() -> Vec<Json> {
    vec![Json::from("**")]
}

/// What a rule does with a conflict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decide {
    /// The parent's value.
    Ours,
    /// The target's value.
    Theirs,
    /// The greater of both values.
    Max,
    /// The smaller of both values.
    Min,
    /// Present rather than absent.
    Union,
    /// The base and what each side added to it: for counters.
    Sum,
    /// The side that wrote there last, by time.
    Newest,
    /// Ask a person.
    RequireReview,
    /// The merge may not be published.
    Refuse,
}

/// What a policy says about a conflict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Decided.
    Decided(Chosen),
    /// A person must decide.
    Review,
    /// The merge may not be published.
    Refused,
}

/// What a policy says about one conflict, and by which rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Ruling {
    /// The conflict's id.
    pub conflict: String,
    /// The rank of the rule; none when no rule matched.
    pub rule: Option<usize>,
    /// What it says.
    pub verdict: Verdict,
}

/// What a policy says about a merge: one ruling a conflict, in their order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Rulings(pub Vec<Ruling>);

impl Rulings {
    /// The resolutions of the conflicts that are decided.
    pub fn resolutions(&self, analysis: &MergeAnalysis) -> Vec<MergeResolution> {
        let ruled = analysis.conflicts().iter().zip(&self.0);
        ruled
            .filter_map(|(conflict, ruling)| match &ruling.verdict {
                Verdict::Decided(chosen) => Some(MergeResolution::new(conflict, chosen.clone())),
                _ => None,
            })
            .collect()
    }

    /// How many conflicts a person must decide.
    pub fn n_open(&self) -> usize {
        self.0.iter().filter(|ruling| ruling.verdict == Verdict::Review).count()
    }

    /// Whether a rule refuses the merge.
    pub fn is_refused(&self) -> bool {
        self.0.iter().any(|ruling| ruling.verdict == Verdict::Refused)
    }
}

impl Rule {
    fn matches(&self, conflict: &MergeConflict) -> bool {
        let is_attachment = self.attachment == "*" || *self.attachment == *conflict.attachment;
        is_attachment && conflict.path.as_array().is_some_and(|path| matches_path(&self.path, path))
    }
}

fn matches_path(pattern: &[Json], path: &[Json]) -> bool {
    match (pattern.split_first(), path.split_first()) {
        (None, None) => true,
        (Some((first, [])), _) if first == "**" => true,
        (Some((first, pattern)), Some((component, path))) => {
            (first == "*" || first == component) && matches_path(pattern, path)
        }
        _ => false,
    }
}

/// When each side last wrote at a locus.
type LastWrites = BTreeMap<String, [Option<(i64, CommitId)>; 2]>;

impl<C: Commits + ?Sized> MergeAnalyzer<'_, C> {
    /// Asks a policy about every conflict of a merge.
    pub fn apply_policy(&self, analysis: &MergeAnalysis, policy: &Policy) -> Result<Rulings, AnalyzeError> {
        let matched: Vec<Option<usize>> = analysis
            .conflicts()
            .iter()
            .map(|conflict| policy.rules.iter().position(|rule| rule.matches(conflict)))
            .collect();
        let is_newest =
            |rule: &Option<usize>| rule.is_some_and(|rule| policy.rules[rule].decide == Decide::Newest);
        let last_writes =
            if matched.iter().any(is_newest) { self.last_writes(analysis)? } else { LastWrites::new() };
        let rule_on = |(conflict, rule): (&MergeConflict, Option<usize>)| Ruling {
            conflict: conflict.id.clone(),
            rule,
            verdict: rule.map_or(Verdict::Review, |rule| {
                self.rule_on(policy.rules[rule].decide, conflict, &last_writes)
            }),
        };
        Ok(Rulings(analysis.conflicts().iter().zip(matched).map(rule_on).collect()))
    }

    fn rule_on(&self, decide: Decide, conflict: &MergeConflict, last_writes: &LastWrites) -> Verdict {
        let chosen = match decide {
            Decide::Refuse => return Verdict::Refused,
            Decide::RequireReview => None,
            Decide::Ours => Some(Chosen::Ours),
            Decide::Theirs => Some(Chosen::Theirs),
            Decide::Max => self.greater(conflict, [Chosen::Ours, Chosen::Theirs]),
            Decide::Min => self.greater(conflict, [Chosen::Theirs, Chosen::Ours]),
            Decide::Union => present(conflict),
            Decide::Sum => self.sum(conflict),
            Decide::Newest => last_writes.get(&conflict.id).and_then(newest),
        };
        chosen.map_or(Verdict::Review, Verdict::Decided)
    }

    /// The first choice where ours is the greater value, the second where theirs is.
    fn greater(&self, conflict: &MergeConflict, [ours, theirs]: [Chosen; 2]) -> Option<Chosen> {
        let is_ours = self.value(conflict, &conflict.ours)? >= self.value(conflict, &conflict.theirs)?;
        Some(if is_ours { ours } else { theirs })
    }

    fn sum(&self, conflict: &MergeConflict) -> Option<Chosen> {
        let whole = |reading: &Reading| match self.value(conflict, reading)? {
            Value::Int(number) => Some(i128::from(number)),
            Value::Uint(number) => Some(i128::from(number)),
            _ => None,
        };
        let sum = whole(&conflict.ours)? + whole(&conflict.theirs)? - whole(&conflict.base)?;
        let kind = self.locus(conflict)?.1;
        match kind {
            Type::Integer(integer) => {
                integer.value(sum).map(|value| Chosen::value(&codec::encode(kind, &value)))
            }
            _ => None,
        }
    }

    fn locus(&self, conflict: &MergeConflict) -> Option<(Path, &Type)> {
        let kind = self.schema.document_type(&conflict.attachment)?;
        path::decode_locus(self.schema, kind, &conflict.path).ok()
    }

    fn value(&self, conflict: &MergeConflict, reading: &Reading) -> Option<Value> {
        codec::decode(self.schema, self.locus(conflict)?.1, reading.0.as_ref()?).ok()
    }

    /// When each side last made a claim at, above or below each conflict's locus.
    fn last_writes(&self, analysis: &MergeAnalysis) -> Result<LastWrites, HistoryError> {
        let ours = locate(self.commits, &analysis.ours())?;
        let theirs = locate(self.commits, &analysis.theirs())?;
        let apart = ancestry::apart(self.commits, ours, theirs)?;
        let mut by_document: BTreeMap<DocumentId, Vec<(Path, &str)>> = BTreeMap::new();
        for conflict in analysis.conflicts() {
            let document = DocumentId { attachment: conflict.attachment.clone(), key: conflict.key.clone() };
            let locus = self.locus(conflict).map(|(locus, _)| (locus, conflict.id.as_str()));
            by_document.entry(document).or_default().extend(locus);
        }
        let mut last = LastWrites::new();
        let streams = [(Side::Ours, ours, &apart.left), (Side::Theirs, theirs, &apart.right)];
        for (side, top, only) in streams {
            for seq in loss::stream(self.commits, top, only)? {
                self.note_writes(seq, side, &by_document, &mut last)?;
            }
        }
        Ok(last)
    }

    fn note_writes(
        &self,
        seq: Seq,
        side: Side,
        by_document: &BTreeMap<DocumentId, Vec<(Path, &str)>>,
        last: &mut LastWrites,
    ) -> Result<(), HistoryError> {
        let commit = self.commits.commit(seq)?;
        let time = (commit.stamp().timestamp_ms(), commit.id());
        for op in commit.ops() {
            let Some(loci) = by_document.get(op.document()) else { continue };
            claims::of_act(&op.act, &mut |claimed, _| {
                for (locus, id) in loci {
                    if claimed.starts_with(locus) || locus.starts_with(claimed) {
                        let noted = &mut last.entry((*id).to_owned()).or_default()[side as usize];
                        *noted = (*noted).max(Some(time));
                    }
                }
            });
        }
        Ok(())
    }
}

/// The side that has something, where the other has nothing.
fn present(conflict: &MergeConflict) -> Option<Chosen> {
    match (&conflict.ours.0, &conflict.theirs.0) {
        (Some(_), None) => Some(Chosen::Ours),
        (None, Some(_)) => Some(Chosen::Theirs),
        _ => None,
    }
}

fn newest([ours, theirs]: &[Option<(i64, CommitId)>; 2]) -> Option<Chosen> {
    match (ours, theirs) {
        (None, None) => None,
        (ours, theirs) => Some(if ours > theirs { Chosen::Ours } else { Chosen::Theirs }),
    }
}
