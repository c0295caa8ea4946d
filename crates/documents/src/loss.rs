//! Finds what a merge lost: assertions that hold on their own side but not in the merge, and values that both sides
//! agree on but the merge does not.
//!
//! A document that reads the same on one side and in the merge cannot have lost anything of that side. The commits
//! alone tell which documents may differ, and only those are read, so the cost depends on the documents that both sides
//! wrote, not on the size of the store.

use crate::ancestry::CommitDivergence;
use crate::changed_documents;
use crate::commit::{Commit, CommitId, CommitKind};
use crate::history::{CommitReader, CommitSeq, HistoryError, SeqSet};
use crate::linear_order;
use crate::locus_claims::{self, LocusClaim};
use crate::op::DocumentId;
use crate::path::{DocumentPath, PathStep, read_in};
use crate::state::CommitState;
use crate::state_reader::StateReader;
use crate::value::DocumentValue;
use imbl::ordmap::DiffItem;
use std::collections::{BTreeMap, BTreeSet};

/// The states to judge a merge by, restricted to the documents that may have lost something.
pub(crate) struct MergeStates {
    /// Present when the merge has exactly one base.
    pub(crate) base: Option<CommitState>,
    pub(crate) ours: CommitState,
    pub(crate) theirs: CommitState,
    pub(crate) merged: CommitState,
}

/// The loss at one locus.
#[derive(Debug, Default)]
pub(crate) struct LocusLoss {
    pub(crate) ours: bool,
    pub(crate) theirs: bool,
    pub(crate) causes: BTreeSet<CommitId>,
}

/// The losses of a merge by document and locus.
pub(crate) type MergeLosses = BTreeMap<DocumentId, BTreeMap<DocumentPath, LocusLoss>>;

#[derive(Clone, Copy)]
pub(crate) struct MergeNode {
    pub(crate) seq: CommitSeq,
    pub(crate) ours: CommitSeq,
    pub(crate) theirs: CommitSeq,
}

/// The commits on each side that the other lacks, oldest first.
pub(crate) struct MergeStreams {
    pub(crate) ours: Vec<CommitSeq>,
    pub(crate) theirs: Vec<CommitSeq>,
}

pub(crate) fn streams<C: CommitReader + ?Sized>(
    commits: &C,
    merge: MergeNode,
    apart: &CommitDivergence,
) -> Result<MergeStreams, HistoryError> {
    let ours = stream(commits, merge.ours, &apart.left)?;
    Ok(MergeStreams { ours, theirs: stream(commits, merge.theirs, &apart.right)? })
}

/// Returns the documents of which the merge may have lost something.
pub(crate) fn possibly_lost_documents<C: CommitReader + ?Sized>(
    commits: &C,
    merge: MergeNode,
    streams: &MergeStreams,
) -> Result<BTreeSet<DocumentId>, HistoryError> {
    let ours = changed_documents::between(commits, merge.ours, merge.seq)?;
    let theirs = changed_documents::between(commits, merge.theirs, merge.seq)?;
    // A stream can only lose what it wrote. A loss by both sides requires a difference on both.
    let mut suspects: BTreeSet<DocumentId> = ours.intersection(&theirs).cloned().collect();
    for (stream, changed) in [(&streams.ours, &ours), (&streams.theirs, &theirs)] {
        if changed.is_subset(&suspects) {
            continue;
        }
        for seq in stream {
            let commit = commits.commit(*seq)?;
            suspects.extend(commit.documents().into_iter().filter(|id| changed.contains(*id)).cloned());
        }
    }
    Ok(suspects)
}

/// Reads the four states, restricted to the given documents.
pub(crate) fn sides<C: CommitReader + ?Sized>(
    commits: &C,
    merge: MergeNode,
    apart: &CommitDivergence,
    documents: &BTreeSet<DocumentId>,
) -> Result<MergeStates, HistoryError> {
    let mut reader = StateReader::of(commits, documents);
    // In this order each state can be replayed on top of the previous one where possible.
    let base = match apart.bases.as_slice() {
        [base] => Some(reader.keep(*base)?),
        _ => None,
    };
    let theirs = reader.keep(merge.theirs)?;
    let ours = reader.keep(merge.ours)?;
    let merged = reader.state(merge.seq)?;
    Ok(MergeStates { base, ours, theirs, merged })
}

/// Documents that differ between a side and the merge, with both values.
pub(crate) type DocumentDifferences<'s> =
    BTreeMap<&'s DocumentId, (Option<&'s DocumentValue>, Option<&'s DocumentValue>)>;

pub(crate) fn find<C: CommitReader + ?Sized>(
    commits: &C,
    streams: &MergeStreams,
    sides: &MergeStates,
) -> Result<MergeLosses, HistoryError> {
    let mut losses = MergeLosses::new();
    let ours = changed(&sides.ours, &sides.merged);
    let theirs = changed(&sides.theirs, &sides.merged);
    for seq in &streams.ours {
        lost_by_stream(&*commits.commit(*seq)?, &ours, &mut losses, |loss| loss.ours = true);
    }
    for seq in &streams.theirs {
        lost_by_stream(&*commits.commit(*seq)?, &theirs, &mut losses, |loss| loss.theirs = true);
    }
    for (document, (ours, merged)) in ours {
        let Some((theirs, _)) = theirs.get(document) else { continue };
        for locus in shared_loss(ours, *theirs, merged) {
            let loss = losses.entry(document.clone()).or_default().entry(locus).or_default();
            loss.ours = true;
            loss.theirs = true;
        }
    }
    Ok(losses)
}

/// Returns the documents that differ between a side and the merge.
pub(crate) fn changed<'s>(side: &'s CommitState, merged: &'s CommitState) -> DocumentDifferences<'s> {
    side.documents
        .diff(&merged.documents)
        .map(|item| match item {
            DiffItem::Add(id, merged) => (id, (None, Some(merged))),
            DiffItem::Remove(id, side) => (id, (Some(side), None)),
            DiffItem::Update { old: (id, side), new: (_, merged) } => (id, (Some(side), Some(merged))),
        })
        .collect()
}

/// Returns the mutations that only `top` reaches and that are enabled in its linear order, in that order.
pub(crate) fn stream<C: CommitReader + ?Sized>(
    commits: &C,
    top: CommitSeq,
    only: &[CommitSeq],
) -> Result<Vec<CommitSeq>, HistoryError> {
    let only: SeqSet = only.iter().copied().collect();
    // Nothing of the stream lies below an ancestor that the other side reaches too.
    let mut below = Some(top);
    while let Some(seq) = below.filter(|seq| only.contains(*seq)) {
        below = commits.node(seq)?.parent;
    }
    let listed = linear_order::tail(commits, top, below)?.listed;
    let streamed = listed.iter().filter(|entry| entry.on && entry.node.kind == CommitKind::Mutations);
    Ok(streamed.map(|entry| entry.seq).filter(|seq| only.contains(*seq)).collect())
}

/// Adds the assertions of a commit that hold on its own side and not in the merge.
fn lost_by_stream(
    commit: &Commit,
    changed: &DocumentDifferences<'_>,
    losses: &mut MergeLosses,
    mark: fn(&mut LocusLoss),
) {
    for op in commit.ops() {
        let Some((own, merged)) = changed.get(&op.document) else { continue };
        locus_claims::of_act(&op.act, &mut |locus, claim| {
            if is_lost(claim, read_in(*own, locus), read_in(*merged, locus)) {
                let document = losses.entry(op.document.clone()).or_default();
                let loss = document.entry(locus.to_vec()).or_default();
                mark(loss);
                loss.causes.insert(commit.id());
            }
        });
    }
}

fn is_lost(claim: LocusClaim<'_>, own: Option<&DocumentValue>, merged: Option<&DocumentValue>) -> bool {
    claim.holds(own) && !claim.holds(merged)
}

/// Returns the loci of a document where both sides agree and the merge does not.
fn shared_loss(
    ours: Option<&DocumentValue>,
    theirs: Option<&DocumentValue>,
    merged: Option<&DocumentValue>,
) -> BTreeSet<DocumentPath> {
    let mut found = BTreeSet::new();
    if let Some(value) = ours {
        locus_claims::leaves(value, &mut Vec::new(), &mut |locus, claim| {
            if is_lost(claim, read_in(theirs, locus), read_in(merged, locus)) {
                found.insert(locus.to_vec());
            }
        });
    }
    if let Some(value) = merged {
        locus_claims::leaves(value, &mut Vec::new(), &mut |locus, _| {
            let absent = |end: &usize| {
                read_in(ours, &locus[..*end]).is_none() && read_in(theirs, &locus[..*end]).is_none()
            };
            if let Some(end) = (0..=locus.len()).find(absent)
                && !is_covered(&found, &locus[..end])
            {
                found.insert(locus[..end].to_vec());
            }
        });
    }
    found
}

/// Returns true if the locus or a prefix of it was already found.
fn is_covered(found: &BTreeSet<DocumentPath>, locus: &[PathStep]) -> bool {
    (0..=locus.len()).any(|end| found.contains(&locus[..end]))
}
