//! Which documents can read differently at two commits, found without reading a document.
//!
//! A document is what the commits that write it make of it, in their order, each on or off. So where two replays have
//! the same commits of a document in the same order, on and off alike, it reads the same. This costs what lies between
//! the two commits, however many documents the store has.

use crate::commit::Kind;
use crate::history::{Commits, HistoryError, Seq};
use crate::linear::{self, Listed};
use crate::op::DocumentId;
use std::collections::{BTreeMap, BTreeSet};

/// Commits of a replay, and whether each is on.
type Replayed = Vec<(Seq, bool)>;

/// The documents that may read differently at `a` and at `b`.
pub(crate) fn between<C: Commits + ?Sized>(
    commits: &C,
    a: Seq,
    b: Seq,
) -> Result<BTreeSet<DocumentId>, HistoryError> {
    let (a, b) = replays(commits, a, b)?;
    // What both begin and end with changes nothing about whether the rest is the same.
    let n_first = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
    let (a, b) = (&a[n_first..], &b[n_first..]);
    let n_last = a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count();
    let sides = [&a[..a.len() - n_last], &b[..b.len() - n_last]];
    commits.read_ahead(&sides.concat().iter().map(|entry| entry.0).collect::<Vec<Seq>>())?;
    let mut written: BTreeMap<DocumentId, [Replayed; 2]> = BTreeMap::new();
    for (side, listed) in sides.into_iter().enumerate() {
        for entry in listed {
            for document in commits.commit(entry.0)?.documents() {
                match written.get_mut(document) {
                    Some(sides) => sides[side].push(*entry),
                    None => written.entry(document.clone()).or_default()[side].push(*entry),
                }
            }
        }
    }
    Ok(written.into_iter().filter(|(_, [a, b])| a != b).map(|(document, _)| document).collect())
}

/// The ends of two replays that begin alike.
fn replays<C: Commits + ?Sized>(commits: &C, a: Seq, b: Seq) -> Result<(Replayed, Replayed), HistoryError> {
    let mut below = common_parent(commits, a, b)?;
    loop {
        let (left, right) = (linear::tail(commits, a, below)?, linear::tail(commits, b, below)?);
        let mut decided = left.decided_below.iter().chain(&right.decided_below);
        let Some(seq) = below.filter(|seq| decided.any(|decided| decided <= seq)) else {
            return Ok((mutations(&left.listed), mutations(&right.listed)));
        };
        // Something further down is masked differently: begin there. Doubling the way keeps all attempts together
        // within twice the cost of the last one.
        below = ancestor(commits, seq, left.listed.len().max(right.listed.len()).max(1))?;
    }
}

fn mutations(listed: &[Listed]) -> Replayed {
    let mutations = listed.iter().filter(|entry| entry.node.kind == Kind::Mutations);
    mutations.map(|entry| (entry.seq, entry.on)).collect()
}

/// The newest commit that both reach along the parents: both orders begin with its order.
fn common_parent<C: Commits + ?Sized>(commits: &C, a: Seq, b: Seq) -> Result<Option<Seq>, HistoryError> {
    let (mut a, mut b) = (Some(a), Some(b));
    // Parents have smaller numbers, so whichever is newer cannot be what both reach.
    while let (Some(left), Some(right)) = (a, b) {
        if left == right {
            return Ok(a);
        }
        if left > right {
            a = commits.node(left)?.parent;
        } else {
            b = commits.node(right)?.parent;
        }
    }
    Ok(None)
}

/// The commit that is the given number of steps away along the parents.
fn ancestor<C: Commits + ?Sized>(commits: &C, seq: Seq, n_steps: usize) -> Result<Option<Seq>, HistoryError> {
    let mut at = Some(seq);
    for _ in 0..n_steps {
        let Some(seq) = at else { break };
        at = commits.node(seq)?.parent;
    }
    Ok(at)
}
