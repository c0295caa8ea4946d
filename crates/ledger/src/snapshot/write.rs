//! Writes a snapshot.

use super::chunks::ChunkWriter;
use super::preamble;
use crate::item_record::{ItemId, ItemRecord};
use crate::ledger::{ItemExtra, Ledger};
use crate::project_ledger::ProjectLedger;
use std::io::{self, Write};

/// Writes a project ledger. The states of streams are omitted: they are rebuilt from the log.
pub fn write(book: &ProjectLedger, to: &mut impl Write) -> io::Result<()> {
    let mut sink = ChunkWriter::new(to);
    sink.bytes(&preamble());
    put_rest(&mut sink, book);
    put_ledger(&mut sink, &book.main);
    sink.finish()
}

/// Writes everything but the main ledger.
pub(crate) fn write_rest(book: &ProjectLedger, to: &mut impl Write) -> io::Result<()> {
    let mut sink = ChunkWriter::new(to);
    put_rest(&mut sink, book);
    sink.finish()
}

fn put_rest(sink: &mut ChunkWriter<'_, impl Write>, book: &ProjectLedger) {
    sink.number(book.n_decided_otherwise);
    sink.len(book.pending.len());
    for (turn, pending) in &book.pending {
        sink.text(turn);
        sink.number(pending.role as u8);
        sink.text(&pending.text);
        sink.number(pending.order);
    }
    sink.len(book.streams.len());
    for (name, stream) in &book.streams {
        sink.text(name);
        sink.number(stream.base.0);
        sink.len(stream.batches.len());
        for batch in &stream.batches {
            sink.len(batch.len());
            sink.bytes(batch);
        }
    }
    sink.len(book.citations.len());
    for citation in &book.citations {
        sink.text(&citation.change);
        sink.text(&citation.item);
        sink.text(&citation.author);
        sink.number(citation.at.0);
    }
}

fn put_ledger(sink: &mut ChunkWriter<'_, impl Write>, ledger: &Ledger) {
    put_policy(sink, ledger);
    // The sizes of all lists come first, so that the reader can check indexes as it goes.
    let sizes = [
        ledger.entries.len(),
        ledger.items.len(),
        ledger.versions.len(),
        ledger.texts.len(),
        ledger.sources.len(),
        ledger.sources.turns.len() as usize,
        ledger.handles.len() as usize,
        ledger.authors.len() as usize,
    ];
    for size in sizes {
        sink.len(size);
    }
    ledger.texts.iter().for_each(|text| sink.text(text));
    ledger.authors.iter().for_each(|(author, _)| sink.text(author));
    ledger.items.iter().for_each(|record| put_record(sink, record));
    for (handle, &item) in ledger.handles.iter() {
        sink.text(handle);
        put_item(sink, Some(item));
    }
    sink.len(ledger.aliases.len());
    for (&(_, alias), seq) in &ledger.aliases {
        sink.number(alias);
        sink.number(seq.0);
    }
    for version in &ledger.versions {
        sink.number(version.seq.0);
        sink.number(version.text);
        sink.number(version.previous);
        sink.number(version.confidence as u8);
        sink.optional(version.mode.map(|mode| mode as u8));
    }
    put_sources(sink, ledger);
    put_keys(sink, ledger);
    put_extras(sink, ledger);
    sink.len(ledger.conflicts().len());
    for conflict in ledger.conflicts() {
        put_item(sink, Some(conflict.older));
        put_item(sink, Some(conflict.newer));
        sink.number(conflict.raised.0);
        sink.optional(conflict.settled.map(|seq| seq.0));
    }
    for entry in &ledger.entries {
        sink.number(entry.author);
        put_item(sink, entry.item);
        put_item(sink, entry.other);
        sink.optional(entry.kind.map(|kind| kind as u8));
        sink.number(entry.verdict.number());
    }
}

fn put_policy(sink: &mut ChunkWriter<'_, impl Write>, ledger: &Ledger) {
    let guardians: Option<Vec<&str>> = ledger.policy.guardians().map(Iterator::collect);
    sink.optional(guardians.as_ref().map(|guardians| guardians.len() as u64));
    guardians.into_iter().flatten().for_each(|author| sink.text(author));
}

/// Writes zero for `None`: items count from one.
fn put_item(sink: &mut ChunkWriter<'_, impl Write>, item: Option<ItemId>) {
    sink.len(item.map_or(0, |item| item.at() + 1));
}

fn put_record(sink: &mut ChunkWriter<'_, impl Write>, record: &ItemRecord) {
    sink.number(record.meaning.neutral);
    sink.number(record.meaning.full);
    let numbers = [
        record.handle,
        record.created.0,
        record.last_version,
        record.last_source,
        record.n_sources,
        record.first_source,
        record.first_turn,
        record.last_seq.0,
    ];
    for number in numbers {
        sink.number(number);
    }
    let links =
        [record.superseded_by, record.first_superseded, record.last_superseded, record.next_superseded];
    for item in links {
        put_item(sink, item);
    }
    let marks = [record.promoted, record.hardened, record.ended, record.note];
    for mark in marks {
        sink.number(mark.map_or(0, std::num::NonZeroU32::get));
    }
    for word in [record.kind as u8, record.status as u8, record.confidence as u8] {
        sink.number(word);
    }
}

fn put_sources(sink: &mut ChunkWriter<'_, impl Write>, ledger: &Ledger) {
    for (turn, given) in ledger.sources.turns.iter() {
        sink.text(turn);
        sink.number(given.last);
        sink.number(given.n);
    }
    for source in ledger.sources.all() {
        sink.number(source.seq.0);
        put_item(sink, Some(source.item));
        sink.number(source.turn);
        sink.number(source.previous_in_item);
        sink.number(source.previous_in_turn);
        let range = ledger.sources.range(source);
        sink.number(range.map_or(0, |(start, end)| end - start));
        if let Some((start, _)) = range {
            sink.number(start);
        }
    }
}

fn put_keys(sink: &mut ChunkWriter<'_, impl Write>, ledger: &Ledger) {
    sink.len(ledger.keys.len() as usize);
    for (key, delivered) in ledger.keys.iter() {
        sink.text(key);
        sink.bytes(delivered.fingerprint.as_bytes());
        put_item(sink, Some(delivered.item));
    }
}

fn put_extras(sink: &mut ChunkWriter<'_, impl Write>, ledger: &Ledger) {
    sink.len(ledger.extras.len());
    for (&item, extra) in &ledger.extras {
        put_item(sink, Some(item));
        let (tag, first, n) = match *extra {
            ItemExtra::Alternatives { first, n } => (0_u32, first, n),
            ItemExtra::Reopened { reason } => (1, reason, 1),
        };
        for number in [tag, first, n] {
            sink.number(number);
        }
    }
}
