//! Reads a snapshot, and rebuilds the indexes that are not written.

use super::chunks::ChunkReader;
use super::{SnapshotReadError, preamble};
use crate::conflicts::ItemConflict;
use crate::extract::Role;
use crate::identity::StatementKey;
use crate::item_record::{InputEntry, ItemId, ItemRecord, LedgerSeq, VersionRecord};
use crate::ledger::{DeliveredDelta, ItemExtra, Ledger};
use crate::outcome::CandidateVerdict;
use crate::policy::ConstraintPolicy;
use crate::project_ledger::{Citation, PendingTurn, ProjectLedger, StreamState};
use crate::scoreboard::VerdictTally;
use crate::sources::{SourceRecord, TurnSourceChain};
use crate::vocabulary::{ConfidenceLevel, DeltaKind, ItemKind, ItemStatus, RevisionMode};
use probity_core::Digest;
use std::io::Read;
use std::num::NonZeroU32;

const ROLES: &[Role] = &[Role::User, Role::Assistant, Role::System, Role::Tool];

/// Reads a snapshot that [`super::write`] wrote.
pub fn read(from: &mut impl Read) -> Result<ProjectLedger, SnapshotReadError> {
    let mut source = ChunkReader::new(from);
    let expected = preamble();
    if source.bytes(expected.len())? != expected {
        return Err(SnapshotReadError::Form);
    }
    let mut book = read_rest(&mut source)?;
    book.main = read_ledger(&mut source)?;
    Ok(book)
}

fn read_rest(source: &mut ChunkReader<'_, impl Read>) -> Result<ProjectLedger, SnapshotReadError> {
    let mut book = ProjectLedger { n_decided_otherwise: source.number()?, ..ProjectLedger::default() };
    for _ in 0..source.number()? {
        let turn = source.text()?.to_owned();
        let role = source.enum_value(ROLES)?;
        let text = source.text()?.to_owned();
        book.pending.insert(turn, PendingTurn { role, text, order: source.u32_number()? });
    }
    for _ in 0..source.number()? {
        let name = source.text()?.to_owned();
        let mut stream =
            StreamState { base: LedgerSeq(source.u32_number()?), batches: Vec::new(), ledger: None };
        for _ in 0..source.number()? {
            let n = source.u32_number()? as usize;
            stream.batches.push(source.bytes(n)?.to_vec());
        }
        book.streams.insert(name, stream);
    }
    for _ in 0..source.number()? {
        let [change, item, author] =
            [source.text()?.to_owned(), source.text()?.to_owned(), source.text()?.to_owned()];
        book.citations.push(Citation { change, item, author, at: LedgerSeq(source.u32_number()?) });
    }
    Ok(book)
}

struct ListSizes {
    entries: usize,
    items: usize,
    versions: usize,
    texts: usize,
    sources: usize,
    turns: usize,
    handles: usize,
    authors: usize,
}

fn read_ledger(source: &mut ChunkReader<'_, impl Read>) -> Result<Ledger, SnapshotReadError> {
    let mut ledger = Ledger::with_policy(read_policy(source)?);
    let mut size = || source.u32_number().map(|size| size as usize);
    let sizes = ListSizes {
        entries: size()?,
        items: size()?,
        versions: size()?,
        texts: size()?,
        sources: size()?,
        turns: size()?,
        handles: size()?,
        authors: size()?,
    };
    for _ in 0..sizes.texts {
        ledger.texts.push(source.text()?);
    }
    for _ in 0..sizes.authors {
        ledger.authors.add(source.text()?, VerdictTally::default());
    }
    for _ in 0..sizes.items {
        ledger.items.push(read_record(source, &sizes)?);
    }
    read_handles(source, &mut ledger, &sizes)?;
    for _ in 0..sizes.versions {
        ledger.versions.push(read_version(source, &sizes)?);
    }
    read_sources(source, &mut ledger, &sizes)?;
    read_keys(source, &mut ledger, &sizes)?;
    read_extras(source, &mut ledger, &sizes)?;
    read_conflicts(source, &mut ledger, &sizes)?;
    for _ in 0..sizes.entries {
        let entry = read_entry(source, &sizes)?;
        ledger.log(entry.author, entry);
    }
    for item in ledger.ids() {
        if ledger.record(item).status.is_live() {
            ledger.statements.list(item, &ledger.items);
        }
    }
    Ok(ledger)
}

fn read_policy(source: &mut ChunkReader<'_, impl Read>) -> Result<ConstraintPolicy, SnapshotReadError> {
    let Some(n) = source.optional()? else {
        return Ok(ConstraintPolicy::open());
    };
    let names = (0..n).map(|_| source.text().map(str::to_owned)).collect::<Result<Vec<_>, _>>()?;
    Ok(ConstraintPolicy::guard_hard_constraints(names))
}

fn read_item(
    source: &mut ChunkReader<'_, impl Read>,
    sizes: &ListSizes,
) -> Result<Option<ItemId>, SnapshotReadError> {
    Ok(source.number_below(sizes.items + 1)?.checked_sub(1).map(ItemId::new))
}

fn read_some_item(
    source: &mut ChunkReader<'_, impl Read>,
    sizes: &ListSizes,
) -> Result<ItemId, SnapshotReadError> {
    read_item(source, sizes)?.ok_or(SnapshotReadError::Form)
}

fn read_seq(
    source: &mut ChunkReader<'_, impl Read>,
    sizes: &ListSizes,
) -> Result<LedgerSeq, SnapshotReadError> {
    source.number_below(sizes.entries + 1).map(LedgerSeq)
}

fn read_record(
    source: &mut ChunkReader<'_, impl Read>,
    sizes: &ListSizes,
) -> Result<ItemRecord, SnapshotReadError> {
    let meaning = StatementKey { neutral: source.number()?, full: source.number()? };
    let handle = source.number_below(sizes.handles)?;
    let created = read_seq(source, sizes)?;
    let last_version = source.number_below(sizes.versions)?;
    let last_source = source.number_below(sizes.sources.max(1))?;
    let n_sources = source.number_below(sizes.sources + 1)?;
    let first_source = source.number_below(sizes.sources.max(1))?;
    let first_turn = source.number_below(sizes.turns.max(1))?;
    let last_seq = read_seq(source, sizes)?;
    let [superseded_by, first_superseded, last_superseded, next_superseded] = [
        read_item(source, sizes)?,
        read_item(source, sizes)?,
        read_item(source, sizes)?,
        read_item(source, sizes)?,
    ];
    let mut mark = |limit: usize| source.number_below(limit + 1).map(NonZeroU32::new);
    let [promoted, hardened, ended] = [mark(sizes.entries)?, mark(sizes.entries)?, mark(sizes.entries)?];
    let note = mark(sizes.texts)?;
    Ok(ItemRecord {
        meaning,
        handle,
        created,
        last_version,
        last_source,
        n_sources,
        first_source,
        first_turn,
        superseded_by,
        first_superseded,
        last_superseded,
        next_superseded,
        last_seq,
        promoted,
        hardened,
        ended,
        note,
        kind: source.enum_value(ItemKind::ALL)?,
        status: source.enum_value(ItemStatus::ALL)?,
        confidence: source.enum_value(ConfidenceLevel::ALL)?,
    })
}

fn read_handles(
    source: &mut ChunkReader<'_, impl Read>,
    ledger: &mut Ledger,
    sizes: &ListSizes,
) -> Result<(), SnapshotReadError> {
    for _ in 0..sizes.handles {
        let handle = source.text()?.to_owned();
        ledger.handles.add(&handle, read_some_item(source, sizes)?);
    }
    for _ in 0..source.number()? {
        let alias = source.number_below(sizes.handles)?;
        let seq = read_seq(source, sizes)?;
        ledger.aliases.insert((*ledger.handles.value(alias), alias), seq);
    }
    Ok(())
}

fn read_version(
    source: &mut ChunkReader<'_, impl Read>,
    sizes: &ListSizes,
) -> Result<VersionRecord, SnapshotReadError> {
    let seq = read_seq(source, sizes)?;
    let text = source.number_below(sizes.texts)?;
    let previous = source.number_below(sizes.versions)?;
    let confidence = source.enum_value(ConfidenceLevel::ALL)?;
    let mode = source
        .optional()?
        .map(|rank| RevisionMode::ALL.get(rank as usize).copied().ok_or(SnapshotReadError::Form));
    Ok(VersionRecord { seq, text, previous, confidence, mode: mode.transpose()? })
}

fn read_sources(
    source: &mut ChunkReader<'_, impl Read>,
    ledger: &mut Ledger,
    sizes: &ListSizes,
) -> Result<(), SnapshotReadError> {
    for _ in 0..sizes.turns {
        let turn = source.text()?.to_owned();
        let given = TurnSourceChain {
            last: source.number_below(sizes.sources.max(1))?,
            n: source.number_below(sizes.sources + 1)?,
        };
        ledger.sources.turns.add(&turn, given);
    }
    for at in 0..sizes.sources {
        let seq = read_seq(source, sizes)?;
        let item = read_some_item(source, sizes)?;
        let turn = source.number_below(sizes.turns)?;
        let [previous_in_item, previous_in_turn] =
            [source.number_below(sizes.sources)?, source.number_below(sizes.sources)?];
        let range = match source.number()? {
            0 => None,
            length => {
                let start = source.number()?;
                Some((start, start.checked_add(length).ok_or(SnapshotReadError::Form)?))
            }
        };
        let is_first = ledger.record(item).first_source as usize == at;
        let record = SourceRecord { seq, item, turn, range: 0, previous_in_item, previous_in_turn };
        ledger.sources.restore(record, range, is_first);
    }
    Ok(())
}

fn read_keys(
    source: &mut ChunkReader<'_, impl Read>,
    ledger: &mut Ledger,
    sizes: &ListSizes,
) -> Result<(), SnapshotReadError> {
    for _ in 0..source.number()? {
        let key = source.text()?.to_owned();
        let bytes: [u8; 32] = source.bytes(32)?.try_into().map_err(|_| SnapshotReadError::Form)?;
        let fingerprint = Digest::from_bytes(bytes);
        ledger.keys.add(&key, DeliveredDelta { fingerprint, item: read_some_item(source, sizes)? });
    }
    Ok(())
}

fn read_extras(
    source: &mut ChunkReader<'_, impl Read>,
    ledger: &mut Ledger,
    sizes: &ListSizes,
) -> Result<(), SnapshotReadError> {
    for _ in 0..source.number()? {
        let item = read_some_item(source, sizes)?;
        let (tag, first, n) =
            (source.number_below(2)?, source.number_below(sizes.texts)?, source.u32_number()?);
        if first as usize + n as usize > sizes.texts {
            return Err(SnapshotReadError::Form);
        }
        let extra = if tag == 0 {
            ItemExtra::Alternatives { first, n }
        } else {
            ItemExtra::Reopened { reason: first }
        };
        ledger.extras.insert(item, extra);
    }
    Ok(())
}

fn read_conflicts(
    source: &mut ChunkReader<'_, impl Read>,
    ledger: &mut Ledger,
    sizes: &ListSizes,
) -> Result<(), SnapshotReadError> {
    for _ in 0..source.number()? {
        let (older, newer) = (read_some_item(source, sizes)?, read_some_item(source, sizes)?);
        let raised = read_seq(source, sizes)?;
        let settled = source.optional()?.map(LedgerSeq);
        ledger.conflicts.restore(ItemConflict { older, newer, raised, settled });
    }
    Ok(())
}

fn read_entry(
    source: &mut ChunkReader<'_, impl Read>,
    sizes: &ListSizes,
) -> Result<InputEntry, SnapshotReadError> {
    let author = source.number_below(sizes.authors)?;
    let (item, other) = (read_item(source, sizes)?, read_item(source, sizes)?);
    let kind = source
        .optional()?
        .map(|rank| DeltaKind::ALL.get(rank as usize).copied().ok_or(SnapshotReadError::Form));
    let kind = kind.transpose()?;
    let verdict = u8::try_from(source.u32_number()?)
        .ok()
        .and_then(CandidateVerdict::from_number)
        .ok_or(SnapshotReadError::Form)?;
    Ok(InputEntry { author, item, other, kind, verdict })
}
