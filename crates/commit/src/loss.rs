//! What a merge lost: the assertions of either stream that hold on their own side and not in the merge, and what both
//! sides agree on and the merge does not.
//!
//! A document that reads the same on a side and in the merge can have lost nothing of that side. States share what
//! they have in common, so finding the others costs what the streams wrote, not the size of the store.

use crate::ancestry::Apart;
use crate::claims::{self, Claim};
use crate::commit::{CommitId, Kind};
use crate::history::{Commits, HistoryError, Seq, SeqSet};
use crate::linear;
use crate::op::DocumentId;
use crate::path::{Path, Step, read_in};
use crate::state::{Reader, State};
use crate::value::Value;
use imbl::ordmap::DiffItem;
use std::collections::{BTreeMap, BTreeSet};

/// The states that a merge is judged by.
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

/// Reads the four states.
pub(crate) fn sides<C: Commits + ?Sized>(
    commits: &C,
    merge: Merge,
    apart: &Apart,
) -> Result<Sides, HistoryError> {
    let mut reader = Reader::new(commits);
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

/// Finds everything that the merge lost.
pub(crate) fn find<C: Commits + ?Sized>(
    commits: &C,
    merge: Merge,
    apart: &Apart,
    sides: &Sides,
) -> Result<Losses, HistoryError> {
    let mut losses = Losses::new();
    let ours = changed(&sides.ours, &sides.merged);
    let theirs = changed(&sides.theirs, &sides.merged);
    for seq in stream(commits, merge.ours, &apart.left)? {
        lost_by_stream(commits, seq, &sides.ours, sides, &ours, &mut losses, |loss| loss.ours = true)?;
    }
    for seq in stream(commits, merge.theirs, &apart.right)? {
        lost_by_stream(commits, seq, &sides.theirs, sides, &theirs, &mut losses, |loss| loss.theirs = true)?;
    }
    for document in ours.intersection(&theirs) {
        for locus in shared_loss(document, sides) {
            let loss = losses.entry((*document).clone()).or_default().entry(locus).or_default();
            loss.ours = true;
            loss.theirs = true;
        }
    }
    Ok(losses)
}

/// The documents that read differently in two states.
fn changed<'s>(a: &'s State, b: &'s State) -> BTreeSet<&'s DocumentId> {
    a.documents
        .diff(&b.documents)
        .map(|item| match item {
            DiffItem::Add(id, _) | DiffItem::Remove(id, _) | DiffItem::Update { old: (id, _), .. } => id,
        })
        .collect()
}

/// The mutations that only `top` reaches and that are on in its linear order, in that order.
fn stream<C: Commits + ?Sized>(commits: &C, top: Seq, only: &[Seq]) -> Result<Vec<Seq>, HistoryError> {
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

fn lost_by_stream<C: Commits + ?Sized>(
    commits: &C,
    seq: Seq,
    side: &State,
    sides: &Sides,
    changed: &BTreeSet<&DocumentId>,
    losses: &mut Losses,
    mark: fn(&mut Loss),
) -> Result<(), HistoryError> {
    let commit = commits.commit(seq)?;
    for op in commit.ops().iter().filter(|op| changed.contains(&op.document)) {
        let own = side.document(&op.document);
        let merged = sides.merged.document(&op.document);
        claims::of_act(&op.act, &mut |locus, claim| {
            if is_lost(claim, read_in(own, locus), read_in(merged, locus)) {
                let document = losses.entry(op.document.clone()).or_default();
                let loss = document.entry(locus.to_vec()).or_default();
                mark(loss);
                loss.causes.insert(commit.id());
            }
        });
    }
    Ok(())
}

/// An assertion is lost when it holds on its side and not in the merge.
fn is_lost(claim: Claim<'_>, own: Option<&Value>, merged: Option<&Value>) -> bool {
    claim.holds(own) && !claim.holds(merged)
}

/// The loci of a document at which both sides agree and the merge does not.
fn shared_loss(document: &DocumentId, sides: &Sides) -> BTreeSet<Path> {
    let ours = sides.ours.document(document);
    let theirs = sides.theirs.document(document);
    let merged = sides.merged.document(document);
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
