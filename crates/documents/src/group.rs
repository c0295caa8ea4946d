//! Bound groups: parts of a document that only make sense together, as the coordinates of a place.
//!
//! A merge works part by part, so it can put together what nobody wrote: one side's `x` with the other side's `y`. A
//! group that reads in the merge as on neither side is *torn*, whether or not any single part was lost. A group is
//! decided as a whole, for one side, and every part of it is then taken from there.

use crate::analysis::{AnalyzeError, Examined, MergeAnalyzer, MergeConflict, Side};
use crate::commit::CommitId;
use crate::history::Commits;
use crate::loss::{Sides, changed};
use crate::op::DocumentId;
use crate::path::{self, Path, read_in};
use crate::policy::Decide;
use crate::schema::Schema;
use crate::value::{Text, Value};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// Parts of the documents of an attachment that are decided together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// The attachment.
    pub attachment: String,
    /// The parts, as paths.
    pub paths: Vec<Json>,
    /// How the group is decided: `ours`, `theirs`, `newest`, `require_review` or `refuse`. Other ways do not name a
    /// side, so a person is asked.
    pub decide: Decide,
}

/// A group of a document, decided for one side.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GroupDecision {
    /// The attachment.
    pub attachment: Text,
    /// The key.
    pub key: Text,
    /// The parts.
    pub paths: Vec<Json>,
    /// Where every part is taken from.
    pub side: Side,
}

/// A group that reads in a merge as on neither side.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TornGroup {
    /// The rank of the group.
    pub group: usize,
    /// The attachment of the document.
    pub attachment: Text,
    /// The key of the document.
    pub key: Text,
}

impl Group {
    /// The paths of the group, if the schema has them.
    pub(crate) fn loci(&self, schema: &Schema) -> Option<Vec<Path>> {
        loci(schema, &self.attachment, &self.paths)
    }

    /// Whether a conflict is about a part of the group.
    pub(crate) fn holds(&self, conflict: &MergeConflict) -> bool {
        let components = |path: &Json| path.as_array().cloned().unwrap_or_default();
        let locus = components(&conflict.path);
        *self.attachment == *conflict.attachment
            && self.paths.iter().any(|path| locus.starts_with(&components(path)))
    }
}

fn loci(schema: &Schema, attachment: &str, paths: &[Json]) -> Option<Vec<Path>> {
    let kind = schema.document_type(attachment)?;
    paths.iter().map(|json| path::decode(schema, kind, json).ok().map(|(path, _)| path)).collect()
}

impl GroupDecision {
    /// The document that is meant.
    pub(crate) fn document(&self) -> DocumentId {
        DocumentId { attachment: self.attachment.clone(), key: self.key.clone() }
    }

    /// The document and the parts that are meant, if the schema has them.
    pub(crate) fn places(&self, schema: &Schema) -> Option<(DocumentId, Vec<Path>)> {
        Some((self.document(), loci(schema, &self.attachment, &self.paths)?))
    }
}

impl<C: Commits + ?Sized> MergeAnalyzer<'_, C> {
    /// The groups that the merge put together from both sides, in the order of groups and documents.
    pub fn torn_groups(&self, merge: &CommitId, groups: &[Group]) -> Result<Vec<TornGroup>, AnalyzeError> {
        Ok(self.torn_in(&self.examine(merge, &[])?, groups))
    }

    pub(crate) fn torn_in(&self, examined: &Examined, groups: &[Group]) -> Vec<TornGroup> {
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

fn is_torn(sides: &Sides, document: &DocumentId, loci: &[Path]) -> bool {
    let differs = |side: Option<&Value>| {
        let merged = sides.merged.document(document);
        loci.iter().any(|locus| read_in(side, locus) != read_in(merged, locus))
    };
    differs(sides.ours.document(document)) && differs(sides.theirs.document(document))
}
