//! Reports which intent a merge lost, as plain data.
//!
//! Merging itself knows no conflicts. They are reconstructed afterwards, at the finest locus, from what both streams
//! wrote and what the merge reads. No result depends on the merge base; it is only displayed.

use crate::ancestry::{self, MergeBase};
use crate::codec;
use crate::commit::{Commit, CommitId, CommitKind, CommitStamp};
use crate::history::{CommitReader, HistoryError, locate};
use crate::loss::{self, LocusLoss, MergeNode, MergeStates};
use crate::memory_store::AppendError;
use crate::op::DocumentId;
use crate::overlay::CommitOverlay;
use crate::path::{self, DocumentPath, read_in};
use crate::reduce::{TimestampedHead, reduce_heads};
use crate::schema::DocumentSchema;
use crate::state::CommitState;
use crate::value::SharedText;
use probity_core::Digest;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

/// Finds what merges lost and makes decisions about it survive.
#[derive(Debug, Clone, Copy)]
pub struct MergeAnalyzer<'a, C: ?Sized> {
    pub(crate) schema: &'a DocumentSchema,
    pub(crate) commits: &'a C,
}

probity_core::word_enum! {
    /// A side of a merge.
    pub enum MergeSide {
        /// The parent of the merge.
        Ours = "ours",
        /// The target of the merge, whose opcodes replay last.
        Theirs = "theirs",
    }
}

/// The value of a locus in a state: absent (`null`), or `{"some": value}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "WireReading", into = "WireReading")]
pub struct LocusReading(pub Option<Json>);

probity_core::json_schema_of!(
    LocusReading,
    schemars::json_schema!({
        "description": "Null for nothing, or {\"some\": value}",
        "anyOf": [
            { "type": "null" },
            { "type": "object", "required": ["some"], "properties": { "some": true }, "additionalProperties": false }
        ]
    })
);

/// The JSON form of a [`LocusReading`]. A plain `Option` could not distinguish an absent locus from a present nil.
#[derive(Clone, Serialize, Deserialize)]
struct WireReading(Option<PresentValue>);

#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PresentValue {
    some: Json,
}

impl From<WireReading> for LocusReading {
    fn from(wire: WireReading) -> Self {
        Self(wire.0.map(|present| present.some))
    }
}

impl From<LocusReading> for WireReading {
    fn from(reading: LocusReading) -> Self {
        Self(reading.0.map(|some| PresentValue { some }))
    }
}

/// A locus at which intent did not survive a merge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MergeConflict {
    /// Identifies the conflict: 16 hex digits derived from merge, document and locus.
    pub id: String,
    /// The merge commit.
    pub merge: CommitId,
    /// The document's attachment.
    pub attachment: SharedText,
    /// The document's key.
    pub key: SharedText,
    /// The locus, as a path into the document.
    pub path: Json,
    /// The sides whose intent was lost.
    pub lost: Vec<MergeSide>,
    /// The commits whose opcodes made a lost assertion, ascending; empty when the lost value came from a shared commit.
    pub causes: Vec<CommitId>,
    /// The value at the merge base; absent when there is no single base.
    pub base: LocusReading,
    /// The value at the parent.
    pub ours: LocusReading,
    /// The value at the target.
    pub theirs: LocusReading,
    /// The value at the merge.
    pub merged: LocusReading,
}

/// A document with conflicts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MergeDocument {
    /// The document's attachment.
    pub attachment: SharedText,
    /// The document's key.
    pub key: SharedText,
    /// Indexes of its conflicts in [`MergeAnalysis::conflicts`].
    pub conflicts: Vec<usize>,
}

/// Everything that a merge lost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MergeAnalysis {
    merge: CommitId,
    ours: CommitId,
    theirs: CommitId,
    base: Option<CommitId>,
    two_way: bool,
    documents: Vec<MergeDocument>,
    conflicts: Vec<MergeConflict>,
}

impl MergeAnalysis {
    pub const fn merge(&self) -> CommitId {
        self.merge
    }

    pub const fn ours(&self) -> CommitId {
        self.ours
    }

    pub const fn theirs(&self) -> CommitId {
        self.theirs
    }

    /// The only maximal common ancestor, if there is exactly one.
    pub const fn base(&self) -> Option<CommitId> {
        self.base
    }

    /// True when there is no single base to show.
    pub const fn is_two_way(&self) -> bool {
        self.two_way
    }

    pub fn documents(&self) -> &[MergeDocument] {
        &self.documents
    }

    pub fn conflicts(&self) -> &[MergeConflict] {
        &self.conflicts
    }
}

/// The reason a merge could not be analyzed.
#[derive(Debug, thiserror::Error)]
pub enum AnalyzeError {
    #[error("commit {0} is not a merge")]
    NotAMerge(CommitId),
    /// The virtual merge commit was rejected.
    #[error(transparent)]
    Append(#[from] AppendError),
    #[error(transparent)]
    History(#[from] HistoryError),
}

/// An analysis plus the states and conflict loci that reconciliation needs.
pub(crate) struct MergeExamination {
    pub(crate) analysis: MergeAnalysis,
    pub(crate) sides: MergeStates,
    pub(crate) loci: Vec<(DocumentId, DocumentPath)>,
}

impl<'a, C: CommitReader + ?Sized> MergeAnalyzer<'a, C> {
    /// Analyzes merges of a store whose documents follow `schema`.
    pub const fn new(schema: &'a DocumentSchema, commits: &'a C) -> Self {
        Self { schema, commits }
    }

    /// Finds what a merge lost.
    pub fn analyze_merge(&self, merge: &CommitId) -> Result<MergeAnalysis, AnalyzeError> {
        Ok(self.examine(merge, &[])?.analysis)
    }

    /// Finds what a merge would lose, without writing anything.
    ///
    /// Also returns the merge commit it analyzed: append exactly that commit and the analysis holds for the store.
    pub fn analyze_virtual_merge(
        &self,
        ours: CommitId,
        theirs: CommitId,
        stamp: CommitStamp,
    ) -> Result<(Commit, MergeAnalysis), AnalyzeError> {
        let merge = Commit::merge(ours, theirs, stamp);
        let mut overlay = CommitOverlay::new(self.commits);
        overlay.append(merge.clone())?;
        let analysis = MergeAnalyzer::new(self.schema, &overlay).analyze_merge(&merge.id())?;
        Ok((merge, analysis))
    }

    /// Finds what reducing several heads to one would lose, merge by merge, without writing anything.
    ///
    /// A loss is reported only by the merge of the fold where it happened; later merges do not see it.
    pub fn analyze_heads(&self, heads: &[CommitId]) -> Result<Vec<(Commit, MergeAnalysis)>, AnalyzeError> {
        let mut stamped = Vec::with_capacity(heads.len());
        for head in heads {
            stamped.push(TimestampedHead::from(&*self.commits.commit(locate(self.commits, head)?)?));
        }
        let merges = reduce_heads(&stamped);
        let mut overlay = CommitOverlay::new(self.commits);
        for merge in &merges {
            overlay.append(merge.clone())?;
        }
        let analyzer = MergeAnalyzer::new(self.schema, &overlay);
        merges
            .into_iter()
            .map(|merge| {
                let analysis = analyzer.analyze_merge(&merge.id())?;
                Ok((merge, analysis))
            })
            .collect()
    }

    /// Analyzes a merge, and also reads the documents in `besides`, which need not have lost anything.
    pub(crate) fn examine(
        &self,
        id: &CommitId,
        besides: &[DocumentId],
    ) -> Result<MergeExamination, AnalyzeError> {
        let seq = locate(self.commits, id)?;
        let node = self.commits.node(seq)?;
        let (CommitKind::Merge, Some(ours), Some(theirs)) = (node.kind, node.parent, node.target) else {
            return Err(AnalyzeError::NotAMerge(*id));
        };
        let merge = MergeNode { seq, ours, theirs };
        let apart = ancestry::divergence(self.commits, ours, theirs)?;
        let streams = loss::streams(self.commits, merge, &apart)?;
        let mut documents = loss::possibly_lost_documents(self.commits, merge, &streams)?;
        documents.extend(besides.iter().cloned());
        let sides = loss::sides(self.commits, merge, &apart, &documents)?;
        let losses = loss::find(self.commits, &streams, &sides)?;
        let base = match ancestry::to_merge_base(self.commits, &apart.bases)? {
            MergeBase::One(base) => Some(base),
            _ => None,
        };
        let mut examined = MergeExamination {
            analysis: MergeAnalysis {
                merge: *id,
                ours: self.commits.id(ours)?,
                theirs: self.commits.id(theirs)?,
                base,
                two_way: base.is_none(),
                documents: Vec::new(),
                conflicts: Vec::new(),
            },
            sides,
            loci: Vec::new(),
        };
        for (document, lost) in losses {
            self.add_conflicts(&mut examined, &document, lost.into_iter().collect());
        }
        Ok(examined)
    }

    /// Adds the conflicts of one document, ordered by the canonical JSON of their loci.
    fn add_conflicts(
        &self,
        examined: &mut MergeExamination,
        document: &DocumentId,
        lost: Vec<(DocumentPath, LocusLoss)>,
    ) {
        let kind = self
            .schema
            .document_type(&document.attachment)
            .expect("an opcode is only ever read with a schema that has its attachment");
        let mut lost: Vec<_> = lost
            .into_iter()
            .map(|(locus, loss)| {
                let json = path::encode(kind, &locus);
                (probity_core::json::canonical(&json), json, locus, loss)
            })
            .collect();
        lost.sort_by(|a, b| a.0.cmp(&b.0));
        let first = examined.analysis.conflicts.len();
        for (_, json, locus, loss) in lost {
            let conflict = self.conflict(examined, document, json, &locus, loss);
            examined.analysis.conflicts.push(conflict);
            examined.loci.push((document.clone(), locus));
        }
        examined.analysis.documents.push(MergeDocument {
            attachment: document.attachment.clone(),
            key: document.key.clone(),
            conflicts: (first..examined.analysis.conflicts.len()).collect(),
        });
    }

    fn conflict(
        &self,
        examined: &MergeExamination,
        document: &DocumentId,
        json: Json,
        locus: &DocumentPath,
        loss: LocusLoss,
    ) -> MergeConflict {
        let merge = examined.analysis.merge;
        let sides = &examined.sides;
        let reading = |state: &CommitState| self.reading(state, document, locus);
        let losers = [(loss.ours, MergeSide::Ours), (loss.theirs, MergeSide::Theirs)];
        MergeConflict {
            id: conflict_id(merge, document, &json),
            merge,
            attachment: document.attachment.clone(),
            key: document.key.clone(),
            path: json,
            lost: losers.into_iter().filter_map(|(is_lost, side)| is_lost.then_some(side)).collect(),
            causes: loss.causes.into_iter().collect(),
            base: sides.base.as_ref().map_or(LocusReading(None), reading),
            ours: reading(&sides.ours),
            theirs: reading(&sides.theirs),
            merged: reading(&sides.merged),
        }
    }

    fn reading(&self, state: &CommitState, document: &DocumentId, locus: &DocumentPath) -> LocusReading {
        let kind = self.schema.document_type(&document.attachment).map(|kind| path::type_at(kind, locus));
        let value = read_in(state.document(document), locus);
        LocusReading(kind.zip(value).map(|(kind, value)| codec::encode(kind, value)))
    }
}

fn conflict_id(merge: CommitId, document: &DocumentId, path: &Json) -> String {
    let named = json!([merge, *document.attachment, *document.key, path]);
    Digest::of_json(&named).to_hex()[..16].to_owned()
}
