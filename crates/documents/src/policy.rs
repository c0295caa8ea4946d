//! Merge policies: rules that decide conflicts before a person is asked.
//!
//! The first rule that matches a conflict decides it. Where none matches, or the rule cannot decide (a maximum of
//! something absent, a sum without a base), a person is asked. A policy only proposes resolutions; reconciliation
//! checks them like any others.

use crate::analysis::{AnalyzeError, LocusReading, MergeAnalysis, MergeAnalyzer, MergeConflict, MergeSide};
use crate::ancestry;
use crate::codec;
use crate::commit::CommitId;
use crate::group::{BoundGroup, GroupDecision};
use crate::history::{CommitReader, CommitSeq, HistoryError, locate};
use crate::invariant::{Invariant, check_invariants};
use crate::locus_claims;
use crate::loss;
use crate::op::DocumentId;
use crate::path::{self, DocumentPath};
use crate::reconcile::{ConflictChoice, MergeResolution};
use crate::schema::DocumentSchema;
use crate::state::CommitState;
use crate::strategy::MergeStrategy;
use crate::value::types::ValueType;
use crate::value::{DocumentValue, SharedText};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use std::collections::BTreeMap;

/// Rules, of which the first match decides; groups decided as a whole; and invariants checked after the merge.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MergePolicy {
    /// Rules in order of precedence.
    #[serde(default)]
    pub rules: Vec<MergeRule>,
    /// Groups; they take precedence over rules.
    #[serde(default)]
    pub groups: Vec<BoundGroup>,
    /// Conditions that the merged state must fulfill.
    #[serde(default)]
    pub invariants: Vec<Invariant>,
}

/// One rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MergeRule {
    /// The attachment, or `*` for all.
    pub attachment: String,
    /// The loci: components as in a path, `"*"` for any one component, `"**"` at the end for any number.
    #[serde(default = "everywhere")]
    pub path: Vec<Json>,
    /// The strategy for matching conflicts.
    pub decide: MergeStrategy,
}

fn everywhere() -> Vec<Json> {
    vec![Json::from("**")]
}

/// The verdict of a policy on a conflict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ConflictVerdict {
    Decided(ConflictChoice),
    /// A person must decide.
    Review,
    /// The merge must not be published.
    Refused,
}

/// A verdict on one conflict, and the rule that gave it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ConflictRuling {
    /// The conflict's id.
    pub conflict: String,
    /// Index of the rule; none when no rule matched.
    pub rule: Option<usize>,
    /// Index of the group that the conflict belongs to, if any.
    pub group: Option<usize>,
    pub verdict: ConflictVerdict,
}

/// A verdict on a group of one document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct GroupRuling {
    /// Index of the group.
    pub group: usize,
    pub attachment: SharedText,
    pub key: SharedText,
    /// True when the merge combined the group from both sides.
    pub torn: bool,
    pub verdict: ConflictVerdict,
}

/// The verdicts of a policy on a merge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MergeRulings {
    /// One per conflict, in their order.
    pub conflicts: Vec<ConflictRuling>,
    /// One per group and document that is torn or has a conflict.
    pub groups: Vec<GroupRuling>,
}

impl MergeRulings {
    /// Returns the groups that are decided.
    pub fn group_decisions(&self, policy: &MergePolicy) -> Vec<GroupDecision> {
        let side = |verdict: &ConflictVerdict| match verdict {
            ConflictVerdict::Decided(ConflictChoice::Ours) => Some(MergeSide::Ours),
            ConflictVerdict::Decided(ConflictChoice::Theirs) => Some(MergeSide::Theirs),
            _ => None,
        };
        let decided = |ruling: &GroupRuling| {
            Some(GroupDecision {
                attachment: ruling.attachment.clone(),
                key: ruling.key.clone(),
                paths: policy.groups.get(ruling.group)?.paths.clone(),
                side: side(&ruling.verdict)?,
            })
        };
        self.groups.iter().filter_map(decided).collect()
    }

    /// Returns resolutions for the conflicts that are decided.
    pub fn resolutions(&self, analysis: &MergeAnalysis) -> Vec<MergeResolution> {
        let ruled = analysis.conflicts().iter().zip(&self.conflicts);
        ruled
            .filter_map(|(conflict, ruling)| match &ruling.verdict {
                ConflictVerdict::Decided(chosen) => Some(MergeResolution::new(conflict, chosen.clone())),
                _ => None,
            })
            .collect()
    }

    /// Counts the questions left for a person; a group is one question, whatever its number of conflicts.
    pub fn n_open(&self) -> usize {
        let alone =
            self.conflicts.iter().filter(|ruling| ruling.group.is_none()).map(|ruling| &ruling.verdict);
        let groups = self.groups.iter().map(|ruling| &ruling.verdict);
        alone.chain(groups).filter(|verdict| **verdict == ConflictVerdict::Review).count()
    }

    /// Returns true if a rule or group refuses the merge.
    pub fn is_refused(&self) -> bool {
        let conflicts = self.conflicts.iter().map(|ruling| &ruling.verdict);
        conflicts
            .chain(self.groups.iter().map(|ruling| &ruling.verdict))
            .any(|v| *v == ConflictVerdict::Refused)
    }
}

impl MergePolicy {
    /// Checks that rules, groups and invariants fit a schema.
    pub fn check(&self, schema: &DocumentSchema) -> Result<(), String> {
        for (index, rule) in self.rules.iter().enumerate() {
            if rule.attachment != "*" && schema.document_type(&rule.attachment).is_none() {
                return Err(format!("rule {index}: no attachment `{}`", rule.attachment));
            }
        }
        for (index, group) in self.groups.iter().enumerate() {
            if group.paths.is_empty() || group.loci(schema).is_none() {
                return Err(format!("group {index}: the schema has no such parts of `{}`", group.attachment));
            }
        }
        let checked = check_invariants(schema, &CommitState::default(), &self.invariants);
        checked.map(drop).map_err(|error| error.to_string())
    }

    /// Returns the first rule that matches a conflict.
    fn rule_for(&self, conflict: &MergeConflict) -> Option<usize> {
        self.rules.iter().position(|rule| rule.matches(conflict))
    }
}

impl MergeRule {
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

/// The last write of each side at a locus, keyed by the name given to the locus.
type LastWrites = BTreeMap<String, [Option<(i64, CommitId)>; 2]>;

/// Named loci by document.
type NamedLoci = BTreeMap<DocumentId, Vec<(DocumentPath, String)>>;

impl<C: CommitReader + ?Sized> MergeAnalyzer<'_, C> {
    /// Applies a policy to every conflict and every group of a merge.
    pub fn apply_policy(
        &self,
        analysis: &MergeAnalysis,
        policy: &MergePolicy,
    ) -> Result<MergeRulings, AnalyzeError> {
        let mut groups = self.groups_of(analysis, policy)?;
        let last_writes = self.last_writes(analysis, policy, &groups)?;
        for ruling in &mut groups {
            let decide = policy.groups[ruling.group].decide;
            ruling.verdict = rule_on_group(decide, last_writes.get(&group_name(ruling)));
        }
        let rule_on = |conflict: &MergeConflict| {
            let of_group = |ruling: &&GroupRuling| {
                (&ruling.attachment, &ruling.key) == (&conflict.attachment, &conflict.key)
                    && policy.groups[ruling.group].covers(conflict)
            };
            let group = groups.iter().find(of_group);
            let rule = if group.is_some() { None } else { policy.rule_for(conflict) };
            let verdict = match (group, rule) {
                (Some(ruling), _) => ruling.verdict.clone(),
                (None, Some(rule)) => self.rule_on(policy.rules[rule].decide, conflict, &last_writes),
                (None, None) => ConflictVerdict::Review,
            };
            ConflictRuling {
                conflict: conflict.id.clone(),
                rule,
                group: group.map(|ruling| ruling.group),
                verdict,
            }
        };
        Ok(MergeRulings { conflicts: analysis.conflicts().iter().map(rule_on).collect(), groups })
    }

    /// Returns the groups that are torn or have a conflict, still undecided.
    fn groups_of(
        &self,
        analysis: &MergeAnalysis,
        policy: &MergePolicy,
    ) -> Result<Vec<GroupRuling>, AnalyzeError> {
        if policy.groups.is_empty() {
            return Ok(Vec::new());
        }
        let mut found: BTreeMap<(usize, SharedText, SharedText), bool> = BTreeMap::new();
        for (index, group) in policy.groups.iter().enumerate() {
            for conflict in analysis.conflicts().iter().filter(|conflict| group.covers(conflict)) {
                found.insert((index, conflict.attachment.clone(), conflict.key.clone()), false);
            }
        }
        for torn in self.torn_groups(&analysis.merge(), &policy.groups)? {
            found.insert((torn.group, torn.attachment, torn.key), true);
        }
        let ruling = |((group, attachment, key), torn)| GroupRuling {
            group,
            attachment,
            key,
            torn,
            verdict: ConflictVerdict::Review,
        };
        Ok(found.into_iter().map(ruling).collect())
    }

    fn rule_on(
        &self,
        decide: MergeStrategy,
        conflict: &MergeConflict,
        last_writes: &LastWrites,
    ) -> ConflictVerdict {
        let chosen = match decide {
            MergeStrategy::Refuse => return ConflictVerdict::Refused,
            MergeStrategy::RequireReview => None,
            MergeStrategy::Ours => Some(ConflictChoice::Ours),
            MergeStrategy::Theirs => Some(ConflictChoice::Theirs),
            MergeStrategy::Max => self.greater(conflict, [ConflictChoice::Ours, ConflictChoice::Theirs]),
            MergeStrategy::Min => self.greater(conflict, [ConflictChoice::Theirs, ConflictChoice::Ours]),
            MergeStrategy::Union => present_side(conflict),
            MergeStrategy::Sum => self.sum(conflict),
            MergeStrategy::Newest => last_writes.get(&conflict.id).and_then(newest),
        };
        chosen.map_or(ConflictVerdict::Review, ConflictVerdict::Decided)
    }

    /// Returns the first choice if ours is the larger value, the second if theirs is.
    fn greater(
        &self,
        conflict: &MergeConflict,
        [ours, theirs]: [ConflictChoice; 2],
    ) -> Option<ConflictChoice> {
        let is_ours = self.value(conflict, &conflict.ours)? >= self.value(conflict, &conflict.theirs)?;
        Some(if is_ours { ours } else { theirs })
    }

    fn sum(&self, conflict: &MergeConflict) -> Option<ConflictChoice> {
        let whole = |reading: &LocusReading| match self.value(conflict, reading)? {
            DocumentValue::Int(number) => Some(i128::from(number)),
            DocumentValue::Uint(number) => Some(i128::from(number)),
            _ => None,
        };
        let sum = whole(&conflict.ours)? + whole(&conflict.theirs)? - whole(&conflict.base)?;
        let kind = self.locus(conflict)?.1;
        match kind {
            ValueType::Integer(integer) => {
                integer.value(sum).map(|value| ConflictChoice::value(&codec::encode(kind, &value)))
            }
            _ => None,
        }
    }

    fn locus(&self, conflict: &MergeConflict) -> Option<(DocumentPath, &ValueType)> {
        let kind = self.schema.document_type(&conflict.attachment)?;
        path::decode_locus(self.schema, kind, &conflict.path).ok()
    }

    fn value(&self, conflict: &MergeConflict, reading: &LocusReading) -> Option<DocumentValue> {
        codec::decode(self.schema, self.locus(conflict)?.1, reading.0.as_ref()?).ok()
    }

    /// Returns when each side last made a claim at, above or below the loci that are decided by time.
    fn last_writes(
        &self,
        analysis: &MergeAnalysis,
        policy: &MergePolicy,
        groups: &[GroupRuling],
    ) -> Result<LastWrites, HistoryError> {
        let wanted = self.decided_by_time(analysis, policy, groups);
        let mut last = LastWrites::new();
        if wanted.is_empty() {
            return Ok(last);
        }
        let ours = locate(self.commits, &analysis.ours())?;
        let theirs = locate(self.commits, &analysis.theirs())?;
        let apart = ancestry::divergence(self.commits, ours, theirs)?;
        let streams = [(MergeSide::Ours, ours, &apart.left), (MergeSide::Theirs, theirs, &apart.right)];
        for (side, top, only) in streams {
            for seq in loss::stream(self.commits, top, only)? {
                self.note_writes(seq, side, &wanted, &mut last)?;
            }
        }
        Ok(last)
    }

    fn decided_by_time(
        &self,
        analysis: &MergeAnalysis,
        policy: &MergePolicy,
        groups: &[GroupRuling],
    ) -> NamedLoci {
        let mut wanted = NamedLoci::new();
        let is_newest = |rule: usize| policy.rules[rule].decide == MergeStrategy::Newest;
        for conflict in analysis.conflicts().iter().filter(|c| policy.rule_for(c).is_some_and(is_newest)) {
            let document = DocumentId { attachment: conflict.attachment.clone(), key: conflict.key.clone() };
            let locus = self.locus(conflict).map(|(locus, _)| (locus, conflict.id.clone()));
            wanted.entry(document).or_default().extend(locus);
        }
        for ruling in
            groups.iter().filter(|ruling| policy.groups[ruling.group].decide == MergeStrategy::Newest)
        {
            let document = DocumentId { attachment: ruling.attachment.clone(), key: ruling.key.clone() };
            let loci = policy.groups[ruling.group].loci(self.schema).unwrap_or_default();
            let named = loci.into_iter().map(|locus| (locus, group_name(ruling)));
            wanted.entry(document).or_default().extend(named);
        }
        wanted
    }

    fn note_writes(
        &self,
        seq: CommitSeq,
        side: MergeSide,
        wanted: &NamedLoci,
        last: &mut LastWrites,
    ) -> Result<(), HistoryError> {
        let commit = self.commits.commit(seq)?;
        let time = (commit.stamp().timestamp_ms(), commit.id());
        for op in commit.ops() {
            let Some(loci) = wanted.get(op.document()) else { continue };
            locus_claims::of_act(&op.act, &mut |claimed, _| {
                for (locus, name) in loci {
                    if claimed.starts_with(locus) || locus.starts_with(claimed) {
                        let noted = &mut last.entry(name.clone()).or_default()[side as usize];
                        *noted = (*noted).max(Some(time));
                    }
                }
            });
        }
        Ok(())
    }
}

/// Names a group of a document. Conflict ids are hex digits, so the two kinds of name never collide.
fn group_name(ruling: &GroupRuling) -> String {
    format!("group {} {} {}", ruling.group, ruling.attachment, ruling.key)
}

/// Decides a group for one side; strategies that name no side leave it to a person.
fn rule_on_group(decide: MergeStrategy, writes: Option<&[Option<(i64, CommitId)>; 2]>) -> ConflictVerdict {
    let chosen = match decide {
        MergeStrategy::Refuse => return ConflictVerdict::Refused,
        MergeStrategy::Ours => Some(ConflictChoice::Ours),
        MergeStrategy::Theirs => Some(ConflictChoice::Theirs),
        MergeStrategy::Newest => writes.and_then(newest),
        _ => None,
    };
    chosen.map_or(ConflictVerdict::Review, ConflictVerdict::Decided)
}

/// Returns the side that has a value where the other has none.
fn present_side(conflict: &MergeConflict) -> Option<ConflictChoice> {
    match (&conflict.ours.0, &conflict.theirs.0) {
        (Some(_), None) => Some(ConflictChoice::Ours),
        (None, Some(_)) => Some(ConflictChoice::Theirs),
        _ => None,
    }
}

fn newest([ours, theirs]: &[Option<(i64, CommitId)>; 2]) -> Option<ConflictChoice> {
    match (ours, theirs) {
        (None, None) => None,
        (ours, theirs) => Some(if ours > theirs { ConflictChoice::Ours } else { ConflictChoice::Theirs }),
    }
}
