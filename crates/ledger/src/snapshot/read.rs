//! Reading a snapshot back, and building the indexes that are not written.

use super::stream::Source;
use super::{NotThis, preamble};
use crate::book::{Book, Citation, PendingTurn, Stream};
use crate::conflicts::Conflict;
use crate::extract::Role;
use crate::identity::Meaning;
use crate::ledger::{Delivered, Extra, Ledger};
use crate::outcome::Verdict;
use crate::policy::Policy;
use crate::record::{Entry, ItemId, Record, Seq, Version};
use crate::scoreboard::Tally;
use crate::sources::{Given, SourceRecord};
use crate::words::{Confidence, DeltaKind, ItemKind, Mode, Status};
use probity_core::Digest;
use std::io::Read;
use std::num::NonZeroU32;

const ROLES: &[Role] = &[Role::User, Role::Assistant, Role::System, Role::Tool];

/// Reads what [`super::write`] wrote.
pub fn read(from: &mut impl Read) -> Result<Book, NotThis> {
    let mut source = Source::new(from);
    let expected = preamble();
    if source.bytes(expected.len())? != expected {
        return Err(NotThis::Form);
    }
    let mut book = read_rest(&mut source)?;
    book.main = read_ledger(&mut source)?;
    Ok(book)
}

fn read_rest(source: &mut Source<'_, impl Read>) -> Result<Book, NotThis> {
    let mut book = Book { n_decided_otherwise: source.number()?, ..Book::default() };
    for _ in 0..source.number()? {
        let turn = source.text()?.to_owned();
        let role = source.word(ROLES)?;
        let text = source.text()?.to_owned();
        book.pending.insert(turn, PendingTurn { role, text, order: source.small()? });
    }
    for _ in 0..source.number()? {
        let name = source.text()?.to_owned();
        let mut stream = Stream { base: Seq(source.small()?), batches: Vec::new(), ledger: None };
        for _ in 0..source.number()? {
            let n = source.small()? as usize;
            stream.batches.push(source.bytes(n)?.to_vec());
        }
        book.streams.insert(name, stream);
    }
    for _ in 0..source.number()? {
        let [change, item, author] =
            [source.text()?.to_owned(), source.text()?.to_owned(), source.text()?.to_owned()];
        book.citations.push(Citation { change, item, author, at: Seq(source.small()?) });
    }
    Ok(book)
}

/// How long the lists of a ledger are.
struct Sizes {
    entries: usize,
    items: usize,
    versions: usize,
    texts: usize,
    sources: usize,
    turns: usize,
    handles: usize,
    authors: usize,
}

fn read_ledger(source: &mut Source<'_, impl Read>) -> Result<Ledger, NotThis> {
    let mut ledger = Ledger::with_policy(read_policy(source)?);
    let mut size = || source.small().map(|size| size as usize);
    let sizes = Sizes {
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
        ledger.authors.add(source.text()?, Tally::default());
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

fn read_policy(source: &mut Source<'_, impl Read>) -> Result<Policy, NotThis> {
    let Some(n) = source.optional()? else {
        return Ok(Policy::open());
    };
    let names = (0..n).map(|_| source.text().map(str::to_owned)).collect::<Result<Vec<_>, _>>()?;
    Ok(Policy::guard_hard_constraints(names))
}

fn read_item(source: &mut Source<'_, impl Read>, sizes: &Sizes) -> Result<Option<ItemId>, NotThis> {
    Ok(source.below(sizes.items + 1)?.checked_sub(1).map(ItemId::new))
}

fn read_some_item(source: &mut Source<'_, impl Read>, sizes: &Sizes) -> Result<ItemId, NotThis> {
    read_item(source, sizes)?.ok_or(NotThis::Form)
}

fn read_seq(source: &mut Source<'_, impl Read>, sizes: &Sizes) -> Result<Seq, NotThis> {
    source.below(sizes.entries + 1).map(Seq)
}

fn read_record(source: &mut Source<'_, impl Read>, sizes: &Sizes) -> Result<Record, NotThis> {
    let meaning = Meaning { neutral: source.number()?, full: source.number()? };
    let handle = source.below(sizes.handles)?;
    let created = read_seq(source, sizes)?;
    let last_version = source.below(sizes.versions)?;
    let last_source = source.below(sizes.sources.max(1))?;
    let n_sources = source.below(sizes.sources + 1)?;
    let first_source = source.below(sizes.sources.max(1))?;
    let first_turn = source.below(sizes.turns.max(1))?;
    let last_seq = read_seq(source, sizes)?;
    let [superseded_by, first_superseded, last_superseded, next_superseded] = [
        read_item(source, sizes)?,
        read_item(source, sizes)?,
        read_item(source, sizes)?,
        read_item(source, sizes)?,
    ];
    let mut mark = |limit: usize| source.below(limit + 1).map(NonZeroU32::new);
    let [promoted, hardened, ended] = [mark(sizes.entries)?, mark(sizes.entries)?, mark(sizes.entries)?];
    let note = mark(sizes.texts)?;
    Ok(Record {
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
        kind: source.word(ItemKind::ALL)?,
        status: source.word(Status::ALL)?,
        confidence: source.word(Confidence::ALL)?,
    })
}

fn read_handles(
    source: &mut Source<'_, impl Read>,
    ledger: &mut Ledger,
    sizes: &Sizes,
) -> Result<(), NotThis> {
    for _ in 0..sizes.handles {
        let handle = source.text()?.to_owned();
        ledger.handles.add(&handle, read_some_item(source, sizes)?);
    }
    for _ in 0..source.number()? {
        let alias = source.below(sizes.handles)?;
        let seq = read_seq(source, sizes)?;
        ledger.aliases.insert((*ledger.handles.value(alias), alias), seq);
    }
    Ok(())
}

fn read_version(source: &mut Source<'_, impl Read>, sizes: &Sizes) -> Result<Version, NotThis> {
    let seq = read_seq(source, sizes)?;
    let text = source.below(sizes.texts)?;
    let previous = source.below(sizes.versions)?;
    let confidence = source.word(Confidence::ALL)?;
    let mode = source.optional()?.map(|rank| Mode::ALL.get(rank as usize).copied().ok_or(NotThis::Form));
    Ok(Version { seq, text, previous, confidence, mode: mode.transpose()? })
}

fn read_sources(
    source: &mut Source<'_, impl Read>,
    ledger: &mut Ledger,
    sizes: &Sizes,
) -> Result<(), NotThis> {
    for _ in 0..sizes.turns {
        let turn = source.text()?.to_owned();
        let given = Given { last: source.below(sizes.sources.max(1))?, n: source.below(sizes.sources + 1)? };
        ledger.sources.turns.add(&turn, given);
    }
    for at in 0..sizes.sources {
        let seq = read_seq(source, sizes)?;
        let item = read_some_item(source, sizes)?;
        let turn = source.below(sizes.turns)?;
        let [previous_in_item, previous_in_turn] =
            [source.below(sizes.sources)?, source.below(sizes.sources)?];
        let range = match source.number()? {
            0 => None,
            length => {
                let start = source.number()?;
                Some((start, start.checked_add(length).ok_or(NotThis::Form)?))
            }
        };
        let is_first = ledger.record(item).first_source as usize == at;
        let record = SourceRecord { seq, item, turn, range: 0, previous_in_item, previous_in_turn };
        ledger.sources.restore(record, range, is_first);
    }
    Ok(())
}

fn read_keys(source: &mut Source<'_, impl Read>, ledger: &mut Ledger, sizes: &Sizes) -> Result<(), NotThis> {
    for _ in 0..source.number()? {
        let key = source.text()?.to_owned();
        let bytes: [u8; 32] = source.bytes(32)?.try_into().map_err(|_| NotThis::Form)?;
        let fingerprint = Digest::from_bytes(bytes);
        ledger.keys.add(&key, Delivered { fingerprint, item: read_some_item(source, sizes)? });
    }
    Ok(())
}

fn read_extras(
    source: &mut Source<'_, impl Read>,
    ledger: &mut Ledger,
    sizes: &Sizes,
) -> Result<(), NotThis> {
    for _ in 0..source.number()? {
        let item = read_some_item(source, sizes)?;
        let (tag, first, n) = (source.below(2)?, source.below(sizes.texts)?, source.small()?);
        if first as usize + n as usize > sizes.texts {
            return Err(NotThis::Form);
        }
        let extra =
            if tag == 0 { Extra::Alternatives { first, n } } else { Extra::Reopened { reason: first } };
        ledger.extras.insert(item, extra);
    }
    Ok(())
}

fn read_conflicts(
    source: &mut Source<'_, impl Read>,
    ledger: &mut Ledger,
    sizes: &Sizes,
) -> Result<(), NotThis> {
    for _ in 0..source.number()? {
        let (older, newer) = (read_some_item(source, sizes)?, read_some_item(source, sizes)?);
        let raised = read_seq(source, sizes)?;
        let settled = source.optional()?.map(Seq);
        ledger.conflicts.restore(Conflict { older, newer, raised, settled });
    }
    Ok(())
}

fn read_entry(source: &mut Source<'_, impl Read>, sizes: &Sizes) -> Result<Entry, NotThis> {
    let author = source.below(sizes.authors)?;
    let (item, other) = (read_item(source, sizes)?, read_item(source, sizes)?);
    let kind = source.optional()?.map(|rank| DeltaKind::ALL.get(rank as usize).copied().ok_or(NotThis::Form));
    let kind = kind.transpose()?;
    let verdict = u8::try_from(source.small()?).ok().and_then(Verdict::from_number).ok_or(NotThis::Form)?;
    Ok(Entry { author, item, other, kind, verdict })
}
