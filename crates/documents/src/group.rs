//! Bound groups: parts of a document that only make sense together, such as coordinates.
//!
//! A merge works part by part, so it can combine one side's `x` with the other side's `y`, which nobody wrote. A group
//! whose merged value equals neither side is *torn*, even if no single part was lost. A group is decided as a whole:
//! every part is taken from the chosen side.

use crate::analysis::{AnalyzeError, MergeAnalyzer, MergeConflict, MergeExamination, MergeSide};
use crate::commit::CommitId;
use crate::history::CommitReader;
use crate::loss::{MergeStates, changed};
use crate::op::DocumentId;
use crate::path::{self, DocumentPath, read_in};
use crate::schema::DocumentSchema;
use crate::strategy::MergeStrategy;
use crate::value::{DocumentValue, SharedText};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// Parts of an attachment's documents that are decided together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BoundGroup {
    /// The attachment whose documents have the group.
    pub attachment: String,
    /// The parts, as paths.
    pub paths: Vec<Json>,
    /// The strategy: `ours`, `theirs`, `newest`, `require_review` or `refuse`. Any other strategy does not name a side,
    /// so a person is asked.
    pub decide: MergeStrategy,
}

/// A group of one document, decided for one side.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GroupDecision {
    pub attachment: SharedText,
    pub key: SharedText,
    pub paths: Vec<Json>,
    /// The side that every part is taken from.
    pub side: MergeSide,
}

/// A group whose merged value equals neither side.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TornGroup {
    /// Index of the group in the policy.
    pub group: usize,
    pub attachment: SharedText,
    pub key: SharedText,
}

impl BoundGroup {
    /// Decodes the paths of the group; `None` if the schema lacks one.
    pub(crate) fn loci(&self, schema: &DocumentSchema) -> Option<Vec<DocumentPath>> {
        loci(schema, &self.attachment, &self.paths)
    }

    /// Returns true if the conflict is about a part of the group.
    pub(crate) fn covers(&self, conflict: &MergeConflict) -> bool {
        let components = |path: &Json| path.as_array().cloned().unwrap_or_default();
        let locus = components(&conflict.path);
        *self.attachment == *conflict.attachment
            && self.paths.iter().any(|path| locus.starts_with(&components(path)))
    }
}

fn loci(schema: &DocumentSchema, attachment: &str, paths: &[Json]) -> Option<Vec<DocumentPath>> {
    let kind = schema.document_type(attachment)?;
    paths.iter().map(|json| path::decode(schema, kind, json).ok().map(|(path, _)| path)).collect()
}

impl GroupDecision {
    pub(crate) fn document(&self) -> DocumentId {
        DocumentId { attachment: self.attachment.clone(), key: self.key.clone() }
    }

    /// Returns the document and its parts; `None` if the schema lacks one.
    pub(crate) fn places(&self, schema: &DocumentSchema) -> Option<(DocumentId, Vec<DocumentPath>)> {
        Some((self.document(), loci(schema, &self.attachment, &self.paths)?))
    }
}

impl<C: CommitReader + ?Sized> MergeAnalyzer<'_, C> {
    /// Returns the groups that the merge combined from both sides, ordered by group and document.
    pub fn torn_groups(
        &self,
        merge: &CommitId,
        groups: &[BoundGroup],
    ) -> Result<Vec<TornGroup>, AnalyzeError> {
        Ok(self.torn_in(&self.examine(merge, &[])?, groups))
    }

    pub(crate) fn torn_in(&self, examined: &MergeExamination, groups: &[BoundGroup]) -> Vec<TornGroup> {
        let sides = &examined.sides;
        let (ours, theirs) = (changed(&sides.ours, &sides.merged), changed(&sides.theirs, &sides.merged));
        let mut torn = Vec::new();
        for (index, group) in groups.iter().enumerate() {
            let Some(loci) = group.loci(self.schema) else { continue };
            let documents = ours.keys().filter(|id| theirs.contains_key(**id));
            for id in documents.filter(|id| *id.attachment == *group.attachment) {
                if is_torn(sides, id, &loci) {
                    let (attachment, key) = (id.attachment.clone(), id.key.clone());
                    torn.push(TornGroup { group: index, attachment, key });
                }
            }
        }
        torn
    }
}

fn is_torn(sides: &MergeStates, document: &DocumentId, loci: &[DocumentPath]) -> bool {
    let differs = |side: Option<&DocumentValue>| {
        let merged = sides.merged.document(document);
        loci.iter().any(|locus| read_in(side, locus) != read_in(merged, locus))
    };
    differs(sides.ours.document(document)) && differs(sides.theirs.document(document))
}
