//! Turns decisions about conflicts into a survival commit, a child of the merge.
//!
//! All decisions are checked before any is written, and all are written before anything is returned: a rejected
//! reconciliation leaves nothing behind.

use crate::analysis::{AnalyzeError, MergeAnalyzer, MergeConflict, MergeExamination, MergeSide};
use crate::assignment::{AssignmentError, AssignmentWriter, RestoreSource};
use crate::codec::{self, TypeMismatch};
use crate::commit::{Commit, CommitId, CommitStamp};
use crate::diff;
use crate::group::GroupDecision;
use crate::history::{CommitReader, HistoryError};
use crate::op::DocumentId;
use crate::path::{self, DocumentPath, PathStep, read_in};
use crate::schema::DocumentSchema;
use crate::state::CommitState;
use crate::value::{DocumentValue, SharedText};
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};

/// The choice made for a conflict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Json", into = "Json")]
pub enum ConflictChoice {
    /// The value at the merge's parent.
    Ours,
    /// The value at the merge's target.
    Theirs,
    /// The value at the base.
    Base,
    /// The merged value: nothing is written.
    Merged,
    /// `null` for absence, or `{"some": value}`.
    Value(Json),
    /// Anything else; reconciliation rejects it.
    Unknown(Json),
}

probity_core::json_schema_of!(
    ConflictChoice,
    schemars::json_schema!({ "description": "`ours`, `theirs`, `base`, `merged`, null for absence, or {\"some\": value}" })
);

impl ConflictChoice {
    /// Chooses a new value.
    pub fn value(value: &Json) -> Self {
        Self::Value(json!({ "some": value }))
    }

    /// Chooses absence.
    pub const fn absence() -> Self {
        Self::Value(Json::Null)
    }
}

probity_core::word_enum! {
    /// A state of a conflict that can be chosen as a whole.
    pub enum ChosenState {
        /// What the parent of the merge has.
        Ours = "ours",
        /// What the target of the merge has.
        Theirs = "theirs",
        /// What the base has.
        Base = "base",
        /// What the merge has.
        Merged = "merged",
    }
}

impl From<ChosenState> for ConflictChoice {
    fn from(state: ChosenState) -> Self {
        match state {
            ChosenState::Ours => Self::Ours,
            ChosenState::Theirs => Self::Theirs,
            ChosenState::Base => Self::Base,
            ChosenState::Merged => Self::Merged,
        }
    }
}

impl From<Json> for ConflictChoice {
    fn from(json: Json) -> Self {
        if let Some(state) = json.as_str().and_then(|word| word.parse::<ChosenState>().ok()) {
            return state.into();
        }
        match json {
            Json::Object(mut members) if members.len() == 1 && members.contains_key("value") => {
                Self::Value(members["value"].take())
            }
            other => Self::Unknown(other),
        }
    }
}

impl From<ConflictChoice> for Json {
    fn from(chosen: ConflictChoice) -> Self {
        match chosen {
            ConflictChoice::Ours => ChosenState::Ours.as_str().into(),
            ConflictChoice::Theirs => ChosenState::Theirs.as_str().into(),
            ConflictChoice::Base => ChosenState::Base.as_str().into(),
            ConflictChoice::Merged => ChosenState::Merged.as_str().into(),
            ConflictChoice::Value(value) => json!({ "value": value }),
            ConflictChoice::Unknown(json) => json,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MergeResolution {
    attachment: SharedText,
    key: SharedText,
    path: Json,
    #[serde(default = "nothing")]
    choose: ConflictChoice,
    /// The merge whose analysis reported the conflict; defaults to the one being reconciled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    of: Option<CommitId>,
}

/// Makes a resolution without a choice fail like one with an unknown choice.
const fn nothing() -> ConflictChoice {
    ConflictChoice::Unknown(Json::Null)
}

impl MergeResolution {
    pub fn new(conflict: &MergeConflict, chosen: ConflictChoice) -> Self {
        Self {
            attachment: conflict.attachment.clone(),
            key: conflict.key.clone(),
            path: conflict.path.clone(),
            choose: chosen,
            of: Some(conflict.merge),
        }
    }

    pub const fn chosen(&self) -> &ConflictChoice {
        &self.choose
    }

    /// Returns the locus in human-readable form.
    pub fn write_assignments(&self) -> String {
        format!("{}/{} {}", self.attachment, self.key, crate::path_text(&self.path))
    }

    pub fn is_about(&self, conflict: &MergeConflict) -> bool {
        self.of.is_none_or(|of| of == conflict.merge)
            && (&self.attachment, &self.key, &self.path)
                == (&conflict.attachment, &conflict.key, &conflict.path)
    }
}

/// A decision as it is given: about a conflict by its id, or about a place.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(from = "Json")]
pub enum GivenResolution {
    /// The beginning of a conflict's id, and what is chosen.
    Named {
        /// The beginning of the id.
        conflict: String,
        /// What is chosen.
        choose: ConflictChoice,
    },
    /// Attachment, key and path of the conflict, and what is chosen.
    Placed(MergeResolution),
    /// Something else, which reconciliation refuses; why it cannot be read.
    Unknown(String),
}

probity_core::json_schema_of!(GivenResolution, schemars::json_schema!(true));

impl From<Json> for GivenResolution {
    fn from(mut json: Json) -> Self {
        if let Some(conflict) = json.get("conflict").and_then(Json::as_str) {
            let conflict = conflict.to_owned();
            let choose =
                json.get_mut("choose").map_or_else(nothing, |choose| ConflictChoice::from(choose.take()));
            return Self::Named { conflict, choose };
        }
        match serde_json::from_value(json) {
            Ok(resolution) => Self::Placed(resolution),
            Err(error) => Self::Unknown(error.to_string()),
        }
    }
}

/// What a reconciliation came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergeReconciliation {
    /// The survival commit, to be appended; none when the merge needs no change.
    pub survival: Option<Commit>,
    /// The documents with decisions applied. All others are as in the merge.
    pub documents: CommitState,
}

/// The reason a reconciliation is rejected. Nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum ReconcileError {
    #[error("commit {0} is not a merge")]
    NotAMerge(CommitId),
    #[error("resolution {0} is about a conflict of another merge")]
    ForeignConflict(usize),
    #[error("resolution {0} names no conflict of the merge")]
    UnknownConflict(usize),
    #[error("resolution {0} is about a conflict that was resolved before")]
    DuplicateResolution(usize),
    #[error("resolution {0} chooses the base of a merge that has no single one")]
    NoBase(usize),
    #[error("resolution {0} chooses nothing that is known")]
    InvalidChoice(usize),
    #[error("resolution {index}: value{misfit}")]
    InvalidValue { index: usize, misfit: TypeMismatch },
    #[error("resolution {0} decides a part of what resolution {1} decides")]
    OverlappingResolutions(usize, usize),
    /// A document, a field or an index cannot be absent.
    #[error("resolution {0} removes what cannot be absent")]
    CannotRemove(usize),
    #[error("resolution {0} has no place in the merged state")]
    Unplaceable(usize),
    #[error(transparent)]
    History(#[from] HistoryError),
}

probity_core::code_enum! {
    /// The codes of rejected reconciliations.
    pub enum ReconcileCode {
        NotAMerge = "not_a_merge",
            "the commit is not a merge",
            "`probity commits log` shows the type of every commit";
        ForeignConflict = "foreign_conflict",
            "a resolution is about a conflict of another merge",
            "`probity merge analyze` lists the conflicts with their ids";
        UnknownConflict = "unknown_conflict",
            "a resolution names no conflict of the merge",
            "`probity merge analyze` lists the conflicts with their ids";
        DuplicateResolution = "duplicate_resolution",
            "two resolutions are about one conflict",
            "leave one of them out";
        NoBase = "no_base",
            "a resolution chooses the base of a merge that has no single base",
            "choose `ours`, `theirs` or a value";
        InvalidChoice = "invalid_choice",
            "a resolution has no known form",
            "choose `base`, `ours`, `theirs`, `merged` or a value";
        InvalidValue = "invalid_value",
            "the chosen value does not fit the schema",
            "`probity commits schema` shows what fits";
        OverlappingResolutions = "overlapping_resolutions",
            "one resolution decides a part of what another decides",
            "leave one of them out";
        CannotRemove = "cannot_remove",
            "a resolution removes a document, a field or an element that cannot be absent",
            "choose a value";
        Unplaceable = "unplaceable",
            "the chosen value has no place in the merged state",
            "resolve the conflict of its container first";
    }
}

impl ReconcileError {
    /// Returns the stable code; none when the history could not be read.
    pub const fn code(&self) -> Option<ReconcileCode> {
        Some(match self {
            Self::NotAMerge(_) => ReconcileCode::NotAMerge,
            Self::ForeignConflict(_) => ReconcileCode::ForeignConflict,
            Self::UnknownConflict(_) => ReconcileCode::UnknownConflict,
            Self::DuplicateResolution(_) => ReconcileCode::DuplicateResolution,
            Self::NoBase(_) => ReconcileCode::NoBase,
            Self::InvalidChoice(_) => ReconcileCode::InvalidChoice,
            Self::InvalidValue { .. } => ReconcileCode::InvalidValue,
            Self::OverlappingResolutions(..) => ReconcileCode::OverlappingResolutions,
            Self::CannotRemove(_) => ReconcileCode::CannotRemove,
            Self::Unplaceable(_) => ReconcileCode::Unplaceable,
            Self::History(_) => return None,
        })
    }
}

impl From<AnalyzeError> for ReconcileError {
    fn from(error: AnalyzeError) -> Self {
        match error {
            AnalyzeError::NotAMerge(id) => Self::NotAMerge(id),
            AnalyzeError::History(error) => Self::History(error),
            AnalyzeError::Append(error) => Self::History(HistoryError::Store(error.into())),
        }
    }
}

/// The value that a locus must have after reconciliation.
struct LocusAssignment {
    /// Index of the resolution.
    resolution: usize,
    /// Index of the conflict's locus.
    conflict: usize,
    value: Option<DocumentValue>,
    source: RestoreSource,
}

impl<C: CommitReader + ?Sized> MergeAnalyzer<'_, C> {
    /// Makes decisions about a merge survive: checks them, applies them and returns the survival commit.
    ///
    /// The commit carries `stamp` and is not appended here.
    pub fn reconcile(
        &self,
        merge: &CommitId,
        resolutions: &[MergeResolution],
        stamp: CommitStamp,
    ) -> Result<MergeReconciliation, ReconcileError> {
        self.reconcile_groups(merge, resolutions, &[], stamp)
    }

    /// Like [`MergeAnalyzer::reconcile`], with groups decided as a whole: every part of a group comes from its side.
    pub fn reconcile_groups(
        &self,
        merge: &CommitId,
        resolutions: &[MergeResolution],
        groups: &[GroupDecision],
        stamp: CommitStamp,
    ) -> Result<MergeReconciliation, ReconcileError> {
        let bound: Vec<DocumentId> = groups.iter().map(GroupDecision::document).collect();
        let mut examined = self.examine(merge, &bound)?;
        let conflicts = self.name_conflicts(merge, &examined, resolutions)?;
        let mut decrees = self.decrees(&examined, resolutions, &conflicts)?;
        for (index, group) in (resolutions.len()..).zip(groups) {
            self.assign_group(&mut examined, &mut decrees, index, group)?;
        }
        check_overlaps(&examined, &decrees)?;
        let decided: BTreeSet<DocumentId> =
            decrees.iter().map(|decree| examined.loci[decree.conflict].0.clone()).collect();
        let placed = place(&examined, decrees)?;
        let ops = diff::diff(&examined.sides.merged, &placed);
        let mut documents = examined.sides.merged.restricted(&decided);
        if ops.is_empty() {
            return Ok(MergeReconciliation { survival: None, documents });
        }
        let survival = Commit::mutations(self.schema, Some(*merge), ops, stamp);
        documents.replay(&survival, true);
        Ok(MergeReconciliation { survival: Some(survival), documents })
    }

    /// Assigns every part of a group; resolutions of its parts for the same side are absorbed.
    fn assign_group(
        &self,
        examined: &mut MergeExamination,
        decrees: &mut Vec<LocusAssignment>,
        index: usize,
        group: &GroupDecision,
    ) -> Result<(), ReconcileError> {
        let places = group.places(self.schema).ok_or(ReconcileError::UnknownConflict(index))?;
        let (state, source) = match group.side {
            MergeSide::Ours => (&examined.sides.ours, RestoreSource::Ours),
            MergeSide::Theirs => (&examined.sides.theirs, RestoreSource::Theirs),
        };
        let (document, loci) = places;
        for locus in loci {
            let is_inside = |decree: &LocusAssignment| {
                let (other, inner) = &examined.loci[decree.conflict];
                *other == document && inner.starts_with(&locus)
            };
            if let Some(other) = decrees.iter().find(|d| is_inside(d) && d.source != source) {
                return Err(ReconcileError::OverlappingResolutions(other.resolution, index));
            }
            decrees.retain(|decree| !is_inside(decree));
            let value = read_in(state.document(&document), &locus).cloned();
            decrees.push(LocusAssignment { resolution: index, conflict: examined.loci.len(), value, source });
            examined.loci.push((document.clone(), locus));
        }
        Ok(())
    }

    /// Returns the index of the conflict that each resolution is about.
    fn name_conflicts(
        &self,
        merge: &CommitId,
        examined: &MergeExamination,
        resolutions: &[MergeResolution],
    ) -> Result<Vec<usize>, ReconcileError> {
        let by_locus: BTreeMap<_, _> =
            examined.loci.iter().enumerate().map(|(rank, locus)| (locus, rank)).collect();
        let mut named = Vec::with_capacity(resolutions.len());
        for (index, resolution) in resolutions.iter().enumerate() {
            let locus = resolution.locus(self.schema).ok_or(ReconcileError::UnknownConflict(index))?;
            if let Some(other) = resolution.of.filter(|other| other != merge) {
                return Err(if self.has_conflict(&other, &locus)? {
                    ReconcileError::ForeignConflict(index)
                } else {
                    ReconcileError::UnknownConflict(index)
                });
            }
            named.push(*by_locus.get(&locus).ok_or(ReconcileError::UnknownConflict(index))?);
        }
        let mut seen = BTreeSet::new();
        match named.iter().position(|conflict| !seen.insert(*conflict)) {
            Some(index) => Err(ReconcileError::DuplicateResolution(index)),
            None => Ok(named),
        }
    }

    fn has_conflict(
        &self,
        merge: &CommitId,
        locus: &(DocumentId, DocumentPath),
    ) -> Result<bool, ReconcileError> {
        match self.examine(merge, &[]) {
            Ok(examined) => Ok(examined.loci.contains(locus)),
            Err(AnalyzeError::NotAMerge(_) | AnalyzeError::History(HistoryError::Unknown(_))) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns the assignment of each resolution, in their order; `merged` assigns nothing.
    fn decrees(
        &self,
        examined: &MergeExamination,
        resolutions: &[MergeResolution],
        conflicts: &[usize],
    ) -> Result<Vec<LocusAssignment>, ReconcileError> {
        let sides = &examined.sides;
        let mut decrees = Vec::new();
        for (index, (resolution, conflict)) in resolutions.iter().zip(conflicts).enumerate() {
            let (document, locus) = &examined.loci[*conflict];
            let read = |state: &CommitState| read_in(state.document(document), locus).cloned();
            let (source, value) = match &resolution.choose {
                ConflictChoice::Merged => continue,
                ConflictChoice::Ours => (RestoreSource::Ours, read(&sides.ours)),
                ConflictChoice::Theirs => (RestoreSource::Theirs, read(&sides.theirs)),
                ConflictChoice::Base => {
                    (RestoreSource::Base, read(sides.base.as_ref().ok_or(ReconcileError::NoBase(index))?))
                }
                ConflictChoice::Value(json) => {
                    let value = self.chosen_value(document, locus, json);
                    (
                        RestoreSource::First,
                        value.map_err(|misfit| ReconcileError::InvalidValue { index, misfit })?,
                    )
                }
                ConflictChoice::Unknown(_) => return Err(ReconcileError::InvalidChoice(index)),
            };
            decrees.push(LocusAssignment { resolution: index, conflict: *conflict, value, source });
        }
        Ok(decrees)
    }

    fn chosen_value(
        &self,
        document: &DocumentId,
        locus: &DocumentPath,
        json: &Json,
    ) -> Result<Option<DocumentValue>, TypeMismatch> {
        if json.is_null() {
            return Ok(None);
        }
        let some =
            json.as_object().filter(|members| members.len() == 1).and_then(|members| members.get("some"));
        let some = some.ok_or_else(|| TypeMismatch::new("this is neither null nor {\"some\": value}"))?;
        let kind = self.schema.document_type(&document.attachment);
        let kind = kind.ok_or_else(|| TypeMismatch::new("the attachment is unknown"))?;
        let value = codec::decode_in_any_order(self.schema, path::type_at(kind, locus), some)?;
        match locus.last() {
            Some(PathStep::Element(element)) if *element != value => {
                Err(TypeMismatch::new("a member of a set can only be itself"))
            }
            _ => Ok(Some(value)),
        }
    }
}

impl MergeResolution {
    /// Returns the document and locus; `None` if the schema has no such place.
    fn locus(&self, schema: &DocumentSchema) -> Option<(DocumentId, DocumentPath)> {
        let kind = schema.document_type(&self.attachment)?;
        let (locus, _) = path::decode_locus(schema, kind, &self.path).ok()?;
        Some((DocumentId { attachment: self.attachment.clone(), key: self.key.clone() }, locus))
    }
}

/// Rejects an assignment to a part of what another one assigns.
fn check_overlaps(examined: &MergeExamination, decrees: &[LocusAssignment]) -> Result<(), ReconcileError> {
    let mut loci: Vec<_> =
        decrees.iter().map(|decree| (&examined.loci[decree.conflict], decree.resolution)).collect();
    loci.sort();
    // Everything that sorts between a locus and a part of it is a part of it too, so comparing neighbors is enough.
    for pair in loci.windows(2) {
        let [((outer_document, outer), whole), ((document, inner), part)] = pair else { continue };
        if outer_document == document && inner.starts_with(outer) {
            return Err(ReconcileError::OverlappingResolutions(*part, *whole));
        }
    }
    Ok(())
}

/// Writes the values, then the absences, each in the order of conflicts.
fn place(
    examined: &MergeExamination,
    mut decrees: Vec<LocusAssignment>,
) -> Result<CommitState, ReconcileError> {
    decrees.sort_by_key(|decree| (decree.value.is_none(), decree.conflict));
    let mut placing = AssignmentWriter::new(&examined.sides);
    for decree in decrees {
        let (document, locus) = &examined.loci[decree.conflict];
        let placed = match decree.value {
            Some(value) => placing.value(document, locus, value, decree.source),
            None => placing.absence(document, locus),
        };
        placed.map_err(|unplaced| match unplaced {
            AssignmentError::CannotRemove => ReconcileError::CannotRemove(decree.resolution),
            AssignmentError::Unplaceable => ReconcileError::Unplaceable(decree.resolution),
        })?;
    }
    Ok(placing.working)
}
