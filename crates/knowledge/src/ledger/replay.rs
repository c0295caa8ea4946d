//! Reading the whole log again: the proof that the state is what the log says.

use super::cache;
use super::fault::OrFault as _;
use super::shell::Shell;
use probity_core::Digest;
use probity_ledger::Book;
use probity_storage::Position;
use probity_workspace::{Fault, Workspace};
use serde::Serialize;
use serde_json::{Value, json};

/// The most inputs that are listed.
const MAX_LISTED: usize = 10_000;

/// What replaying the log came to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Replayed {
    /// The position of the last input.
    pub seq: u64,
    /// The digest of the log.
    pub log_digest: Digest,
    /// The digest of the state that follows from it.
    pub state_digest: Digest,
    /// How many transactions there are.
    pub transactions: u64,
    /// The size of the log.
    pub log_bytes: u64,
    /// Whether the snapshot says the same; `None` when there is none that could be used.
    pub snapshot_agrees: Option<bool>,
    /// How many inputs this version decides otherwise than the one that took them in.
    pub decided_otherwise: u64,
    /// The inputs after the position that was asked for, at most 10,000.
    pub inputs: Vec<Value>,
}

/// Replays the log from its beginning, checking every frame, and lists the inputs after `since`.
pub fn replay(workspace: &Workspace, since: Option<i64>) -> Result<Replayed, Fault> {
    let folder = workspace.state.ledger();
    let journal = Shell::journal_at(&folder);
    let mut book = Book::new();
    let mut transactions = 0;
    let end = journal.read_after(&Position::start(), |payload, _| -> Result<(), Fault> {
        transactions += 1;
        book.replay(payload).or_fault()
    })?;
    let state_digest = book.digest();
    let inputs = match since {
        None => Vec::new(),
        Some(since) => inputs_after(&book, since)?,
    };
    Ok(Replayed {
        seq: book.main().head().get(),
        log_digest: end.chain,
        state_digest,
        transactions,
        log_bytes: end.bytes,
        snapshot_agrees: cache::agrees(&folder, &journal)?,
        decided_otherwise: book.n_decided_otherwise(),
        inputs,
    })
}

fn inputs_after(book: &Book, since: i64) -> Result<Vec<Value>, Fault> {
    let ledger = book.main();
    let since = ledger.position(since).or_fault()?;
    let entries = ledger.entries_after(since).take(MAX_LISTED);
    Ok(entries
        .map(|entry| {
            json!({
                "seq": entry.seq,
                "author": entry.author,
                "kind": entry.kind,
                "outcome": entry.verdict.word(),
                "code": entry.verdict.code(),
                "item": entry.item.map(|item| ledger.handle(item)),
            })
        })
        .collect())
}
