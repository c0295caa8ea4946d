//! The digest of a ledger state: two ledgers with the same digest answer every query alike, now and later.
//!
//! The state is written as canonical JSON Lines and hashed line by line, so that a million items are never held in
//! memory as JSON at once.

use crate::item_record::LedgerSeq;
use crate::item_view::ItemView;
use crate::ledger::Ledger;
use crate::outcome::{VerdictCode, VerdictKind};
use crate::project_ledger::ProjectLedger;
use crate::snapshot;
use crate::vocabulary::DeltaKind;
use probity_core::digest::DigestHasher;
use probity_core::{Digest, json};
use serde::Serialize;

#[derive(Serialize)]
#[serde(untagged)]
enum StateLine<'a> {
    Head {
        head: LedgerSeq,
    },
    Turn {
        turn: &'a str,
    },
    Item {
        item: ItemView<'a>,
    },
    Handle {
        name: &'a str,
        of: &'a str,
    },
    Key {
        key: &'a str,
        delta: Digest,
        of: &'a str,
    },
    Conflict {
        conflict: [&'a str; 2],
        raised: LedgerSeq,
        settled: Option<LedgerSeq>,
    },
    Input {
        author: &'a str,
        kind: Option<DeltaKind>,
        outcome: VerdictKind,
        code: Option<VerdictCode>,
        of: Option<&'a str>,
    },
}

impl ProjectLedger {
    pub fn digest(&self) -> Digest {
        let mut hasher = DigestHasher::default();
        hasher.update(self.main.digest().as_bytes());
        let mut rest = Vec::new();
        snapshot::write_rest(self, &mut rest).expect("memory takes every byte");
        hasher.update(&rest);
        hasher.finish()
    }
}

impl Ledger {
    /// Returns the digest of everything in the ledger.
    pub fn digest(&self) -> Digest {
        let mut hasher = DigestHasher::default();
        self.each_line(|line| {
            hasher.update(&json::canonical_of(&line));
            hasher.update(b"\n");
        });
        hasher.finish()
    }

    /// Visits the lines of the state: the head, turns, items, handles, keys, conflicts, inputs.
    fn each_line<'a>(&'a self, mut write: impl FnMut(StateLine<'a>)) {
        write(StateLine::Head { head: self.head() });
        self.sources.turns.iter().for_each(|(turn, _)| write(StateLine::Turn { turn }));
        self.items().for_each(|item| write(StateLine::Item { item }));
        for (handle, &item) in self.handles.iter() {
            write(StateLine::Handle { name: handle, of: self.handle(item) });
        }
        for (key, delivered) in self.keys.iter() {
            let of = self.handle(delivered.item);
            write(StateLine::Key { key, delta: delivered.fingerprint, of });
        }
        for conflict in self.conflicts() {
            write(StateLine::Conflict {
                conflict: [self.handle(conflict.older), self.handle(conflict.newer)],
                raised: conflict.raised,
                settled: conflict.settled,
            });
        }
        for entry in &self.entries {
            write(StateLine::Input {
                author: self.authors.name(entry.author),
                kind: entry.kind,
                outcome: entry.verdict.kind(),
                code: entry.verdict.code(),
                of: entry.item.map(|item| self.handle(item)),
            });
        }
    }
}
