//! The events of a log, and transactions of them.

use super::proposal::{proposal, put_proposal};
use super::{MalformedTransaction, WireReader, put_len, put_text};
use crate::candidate::DeltaProposal;
use crate::extract::Role;
use crate::outcome::CandidateVerdict;
use crate::reconcile::BatchMode;

/// The version of this format, the first byte of a transaction.
const TRANSACTION_VERSION: u8 = 1;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LedgerEvent<'a> {
    /// From now on only these authors may change a hard constraint; `None` for everyone.
    Policy { guardians: Option<Vec<&'a str>> },
    Turn {
        id: &'a str,
        role: Role,
        /// The text, possibly truncated.
        text: &'a str,
        /// It still has to be read for candidates.
        pending: bool,
    },
    /// A pending turn was read.
    Read { turn: &'a str },
    Batch {
        /// `None` for the ledger itself.
        stream: Option<&'a str>,
        author: &'a str,
        mode: BatchMode,
        proposals: Vec<DeltaProposal<'a>>,
        /// The verdicts at that time, so that a version that decides differently is noticed.
        verdicts: Vec<CandidateVerdict>,
    },
    /// A stream begins at the head of the ledger.
    Fork { stream: &'a str },
    /// The whole stream is in the ledger now; it continues from here.
    Merged { stream: &'a str },
    /// A change was made under an item.
    Cite {
        /// The id of an intent or a run.
        change: &'a str,
        item: &'a str,
        author: &'a str,
    },
}

const ROLES: &[Role] = &[Role::User, Role::Assistant, Role::System, Role::Tool];
const MODES: &[BatchMode] = &[BatchMode::BestEffort, BatchMode::Atomic];

pub fn encode(events: &[LedgerEvent<'_>]) -> Vec<u8> {
    let mut out = vec![TRANSACTION_VERSION];
    put_len(&mut out, events.len());
    for event in events {
        put_event(&mut out, event);
    }
    out
}

/// Parses a transaction that [`encode`] wrote.
pub fn decode(bytes: &[u8]) -> Result<Vec<LedgerEvent<'_>>, MalformedTransaction> {
    let mut reader = WireReader::new(bytes);
    let wrong = reader.malformed();
    if reader.byte()? != TRANSACTION_VERSION {
        return Err(wrong);
    }
    let events = (0..reader.count()?).map(|_| event(&mut reader)).collect::<Result<_, _>>()?;
    if reader.is_done() { Ok(events) } else { Err(reader.malformed()) }
}

fn put_event(out: &mut Vec<u8>, event: &LedgerEvent<'_>) {
    match event {
        LedgerEvent::Policy { guardians } => {
            out.extend([0, u8::from(guardians.is_some())]);
            if let Some(guardians) = guardians {
                put_len(out, guardians.len());
                for author in guardians {
                    put_text(out, author);
                }
            }
        }
        LedgerEvent::Turn { id, role, text, pending } => {
            out.extend([1, rank(ROLES, role), u8::from(*pending)]);
            put_text(out, id);
            put_text(out, text);
        }
        LedgerEvent::Read { turn } => put_named(out, 2, turn),
        LedgerEvent::Batch { stream, author, mode, proposals, verdicts } => {
            out.extend([3, rank(MODES, mode)]);
            // The name of a stream is never blank.
            put_text(out, stream.unwrap_or(""));
            put_text(out, author);
            put_len(out, proposals.len());
            for (proposal, verdict) in proposals.iter().zip(verdicts) {
                put_proposal(out, proposal);
                out.push(verdict.number());
            }
        }
        LedgerEvent::Fork { stream } => put_named(out, 4, stream),
        LedgerEvent::Merged { stream } => put_named(out, 5, stream),
        LedgerEvent::Cite { change, item, author } => {
            put_named(out, 6, change);
            put_text(out, item);
            put_text(out, author);
        }
    }
}

fn put_named(out: &mut Vec<u8>, tag: u8, name: &str) {
    out.push(tag);
    put_text(out, name);
}

#[expect(clippy::cast_possible_truncation, reason = "vocabularies have a few dozen words")]
fn rank<T: PartialEq>(all: &[T], word: &T) -> u8 {
    all.iter().position(|known| known == word).expect("a word stands in its vocabulary") as u8
}

fn event<'a>(reader: &mut WireReader<'a>) -> Result<LedgerEvent<'a>, MalformedTransaction> {
    let wrong = reader.malformed();
    Ok(match reader.byte()? {
        0 => LedgerEvent::Policy {
            guardians: if reader.enum_value(&[false, true])? { Some(reader.texts()?) } else { None },
        },
        1 => {
            let (role, pending) = (reader.enum_value(ROLES)?, reader.enum_value(&[false, true])?);
            LedgerEvent::Turn { id: reader.text()?, role, text: reader.text()?, pending }
        }
        2 => LedgerEvent::Read { turn: reader.text()? },
        3 => batch(reader)?,
        4 => LedgerEvent::Fork { stream: reader.text()? },
        5 => LedgerEvent::Merged { stream: reader.text()? },
        6 => LedgerEvent::Cite { change: reader.text()?, item: reader.text()?, author: reader.text()? },
        _ => return Err(wrong),
    })
}

fn batch<'a>(reader: &mut WireReader<'a>) -> Result<LedgerEvent<'a>, MalformedTransaction> {
    let mode = reader.enum_value(MODES)?;
    let stream = Some(reader.text()?).filter(|stream| !stream.is_empty());
    let author = reader.text()?;
    let n = reader.count()?;
    let (mut proposals, mut verdicts) = (Vec::with_capacity(n), Vec::with_capacity(n));
    for _ in 0..n {
        proposals.push(proposal(reader)?);
        let wrong = reader.malformed();
        verdicts.push(CandidateVerdict::from_number(reader.byte()?).ok_or(wrong)?);
    }
    Ok(LedgerEvent::Batch { stream, author, mode, proposals, verdicts })
}
