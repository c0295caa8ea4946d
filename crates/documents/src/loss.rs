//! What a merge lost: the assertions of either stream that hold on their own side and not in the merge, and what both
//! sides agree on and the merge does not.
//!
//! A document that reads the same on a side and in the merge can have lost nothing of that side. Which documents that
//! cannot be said of follows from the commits alone, and only those are read: the cost is that of the documents that both
//! sides wrote, not that of the store.

use crate::ancestry::Apart;
use crate::claims::{self, Claim};
use crate::commit::{Commit, CommitId, Kind};
use crate::history::{Commits, HistoryError, Seq, SeqSet};
use crate::linear;
use crate::op::DocumentId;
use crate::path::{Path, Step, read_in};
use crate::state::{Reader, State};
use crate::touched;
use crate::value::Value;
use imbl::ordmap::DiffItem;
use std::collections::{BTreeMap, BTreeSet};

/// The states that a merge is judged by: the documents of it that can have lost something, no others.
pub(crate) struct Sides {
    /// Present when the merge has exactly one base.
    pub(crate) base: Option<State>,
    pub(crate) ours: State,
    pub(crate) theirs: State,
    pub(crate) merged: State,
}

/// What was lost at one locus.
#[derive(Debug, Default)]
pub(crate) struct Loss {
    pub(crate) ours: bool,
    pub(crate) theirs: bool,
    pub(crate) causes: BTreeSet<CommitId>,
}

/// What a merge lost, by document and locus.
pub(crate) type Losses = BTreeMap<DocumentId, BTreeMap<Path, Loss>>;

/// A merge: its own number, its parent and its target.
#[derive(Clone, Copy)]
pub(crate) struct Merge {
    pub(crate) seq: Seq,
    pub(crate) ours: Seq,
    pub(crate) theirs: Seq,
}

/// What each side wrote that the other does not have, oldest first.
pub(crate) struct Streams {
    pub(crate) ours: Vec<Seq>,
    pub(crate) theirs: Vec<Seq>,
}

/// Finds both streams.
pub(crate) fn streams<C: Commits + ?Sized>(
    commits: &C,
    merge: Merge,
    apart: &Apart,
) -> Result<Streams, HistoryError> {
    let ours = stream(commits, merge.ours, &apart.left)?;
    Ok(Streams { ours, theirs: stream(commits, merge.theirs, &apart.right)? })
}

/// The documents that the merge can have lost something of.
pub(crate) fn suspects<C: Commits + ?Sized>(
    commits: &C,
    merge: Merge,
    streams: &Streams,
) -> Result<BTreeSet<DocumentId>, HistoryError> {
    let ours = touched::between(commits, merge.ours, merge.seq)?;
    let theirs = touched::between(commits, merge.theirs, merge.seq)?;
    // Lost by a stream is only what it wrote; lost by both what reads differently on both sides.
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

/// Reads the four states, of the given documents.
pub(crate) fn sides<C: Commits + ?Sized>(
    commits: &C,
    merge: Merge,
    apart: &Apart,
    documents: &BTreeSet<DocumentId>,
) -> Result<Sides, HistoryError> {
    let mut reader = Reader::of(commits, documents);
    // In this order each state is replayed on top of the one before, as far as that is possible.
    let base = match apart.bases.as_slice() {
        [base] => Some(reader.keep(*base)?),
        _ => None,
    };
    let theirs = reader.keep(merge.theirs)?;
    let ours = reader.keep(merge.ours)?;
    let merged = reader.state(merge.seq)?;
    Ok(Sides { base, ours, theirs, merged })
}

/// A document on a side and in the merge, where the two differ.
pub(crate) type Changed<'s> = BTreeMap<&'s DocumentId, (Option<&'s Value>, Option<&'s Value>)>;

/// Finds everything that the merge lost.
pub(crate) fn find<C: Commits + ?Sized>(
    commits: &C,
    streams: &Streams,
    sides: &Sides,
) -> Result<Losses, HistoryError> {
    let mut losses = Losses::new();
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

/// The documents that read differently on a side and in the merge.
pub(crate) fn changed<'s>(side: &'s State, merged: &'s State) -> Changed<'s> {
    side.documents
        .diff(&merged.documents)
        .map(|item| match item {
            DiffItem::Add(id, merged) => (id, (None, Some(merged))),
            DiffItem::Remove(id, side) => (id, (Some(side), None)),
            DiffItem::Update { old: (id, side), new: (_, merged) } => (id, (Some(side), Some(merged))),
        })
        .collect()
}

/// The mutations that only `top` reaches and that are on in its linear order, in that order.
pub(crate) fn stream<C: Commits + ?Sized>(
    commits: &C,
    top: Seq,
    only: &[Seq],
) -> Result<Vec<Seq>, HistoryError> {
    let only: SeqSet = only.iter().copied().collect();
    // Below an ancestor that the other side reaches too there is nothing of the stream.
    let mut below = Some(top);
    while let Some(seq) = below.filter(|seq| only.contains(*seq)) {
        below = commits.node(seq)?.parent;
    }
    let listed = linear::tail(commits, top, below)?.listed;
    let streamed = listed.iter().filter(|entry| entry.on && entry.node.kind == Kind::Mutations);
    Ok(streamed.map(|entry| entry.seq).filter(|seq| only.contains(*seq)).collect())
}

/// Adds the assertions of a commit that hold on its own side and not in the merge.
fn lost_by_stream(commit: &Commit, changed: &Changed<'_>, losses: &mut Losses, mark: fn(&mut Loss)) {
    for op in commit.ops() {
        let Some((own, merged)) = changed.get(&op.document) else { continue };
        claims::of_act(&op.act, &mut |locus, claim| {
            if is_lost(claim, read_in(*own, locus), read_in(*merged, locus)) {
                let document = losses.entry(op.document.clone()).or_default();
                let loss = document.entry(locus.to_vec()).or_default();
                mark(loss);
                loss.causes.insert(commit.id());
            }
        });
    }
}

/// An assertion is lost when it holds on its side and not in the merge.
fn is_lost(claim: Claim<'_>, own: Option<&Value>, merged: Option<&Value>) -> bool {
    claim.holds(own) && !claim.holds(merged)
}

/// The loci of a document at which both sides agree and the merge does not.
fn shared_loss(ours: Option<&Value>, theirs: Option<&Value>, merged: Option<&Value>) -> BTreeSet<Path> {
    let mut found = BTreeSet::new();
    if let Some(value) = ours {
        claims::leaves(value, &mut Vec::new(), &mut |locus, claim| {
            if is_lost(claim, read_in(theirs, locus), read_in(merged, locus)) {
                found.insert(locus.to_vec());
            }
        });
    }
    if let Some(value) = merged {
        claims::leaves(value, &mut Vec::new(), &mut |locus, _| {
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

/// Whether the locus or a shorter one was found already.
fn is_covered(found: &BTreeSet<Path>, locus: &[Step]) -> bool {
    (0..=locus.len()).any(|end| found.contains(&locus[..end]))
}
