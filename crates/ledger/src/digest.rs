//! The digest of a state: two ledgers with one digest answer every question alike, now and later.
//!
//! The state is written as canonical JSON, one line for each thing, and hashed line by line: a million items never
//! stand in memory as JSON at once.

use crate::ledger::Ledger;
use probity_core::digest::Hasher;
use probity_core::{Digest, json};
use serde_json::{Value, json};

impl Ledger {
    /// The digest of everything in the ledger.
    pub fn digest(&self) -> Digest {
        let mut hasher = Hasher::default();
        self.each_line(|line| {
            hasher.update(&json::canonical(line));
            hasher.update(b"\n");
        });
        hasher.finish()
    }

    /// Hands out the lines of the state: the head, turns, items, handles, keys, conflicts, inputs.
    fn each_line(&self, mut write: impl FnMut(&Value)) {
        write(&json!({ "head": self.head() }));
        self.sources.turns.iter().for_each(|(turn, _)| write(&json!({ "turn": turn })));
        self.items().for_each(|item| write(&json!({ "item": item })));
        for (handle, &item) in self.handles.iter() {
            write(&json!({ "name": handle, "of": self.handle(item) }));
        }
        for (key, delivered) in self.keys.iter() {
            let of = self.handle(delivered.item);
            write(&json!({ "key": key, "delta": delivered.fingerprint, "of": of }));
        }
        for conflict in self.conflicts() {
            let (older, newer) = (self.handle(conflict.older), self.handle(conflict.newer));
            write(&json!({
                "conflict": [older, newer],
                "raised": conflict.raised,
                "settled": conflict.settled,
            }));
        }
        for entry in &self.entries {
            write(&json!({
                "author": self.authors.name(entry.author),
                "kind": entry.kind,
                "outcome": entry.verdict.word(),
                "code": entry.verdict.code(),
                "of": entry.item.map(|item| self.handle(item)),
            }));
        }
    }
}
