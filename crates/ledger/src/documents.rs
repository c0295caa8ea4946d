//! Items as documents of the commit store, and the inputs of a ledger as a stream of commits.
//!
//! An item is a document under its first handle; every other handle is a document that names the first. Sources and
//! superseded items are grow-only sets, so that streams can join them; everything else is a field of its own, so that a
//! merge can lose one field without the others. A commit holds the changes of consecutive inputs by one author. Its
//! time is its position in the ledger, because only the sequence defines the order.
//!
//! Law: the state of the last commit of a ledger equals [`documents`] of that ledger.

use crate::item_record::{ItemId, LedgerSeq};
use crate::item_view::ItemView;
use crate::ledger::Ledger;
use crate::vocabulary::{ConfidenceLevel, ItemKind, ItemStatus};
use probity_core::json;
use probity_documents::{Commit, CommitId, CommitStamp, CommitState, DocumentSchema, diff};
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

pub const ITEM_ATTACHMENT: &str = "item";

/// The attachment of every handle of an item but the first.
pub const ALIAS_ATTACHMENT: &str = "alias";

/// Maps a handle to its name in the commit store.
pub(crate) type HandleNaming<'n> = &'n dyn Fn(&str) -> String;

pub fn schema() -> DocumentSchema {
    let words = |words: Vec<&str>| json!(words);
    DocumentSchema::from_json(&json!({
        "enums": {
            "Kind": words(ItemKind::ALL.iter().map(|kind| kind.as_str()).collect()),
            "Status": words(ItemStatus::ALL.iter().map(|status| status.as_str()).collect()),
            "Confidence": words(ConfidenceLevel::ALL.iter().map(|tier| tier.as_str()).collect()),
        },
        "structs": {
            "Item": [
                ["kind", "Kind"],
                ["status", "Status"],
                ["summary", "string"],
                ["confidence", "Confidence"],
                ["hard", "bool"],
                ["alternatives", "vector<string>"],
                ["sources", "set<string>"],
                ["supersedes", "set<string>"],
                ["superseded_by", "optional<string>"],
                ["note", "optional<string>"],
            ],
        },
        "attachments": { "item": "Item", "alias": "string" },
    }))
    .expect("the schema is written here and is sound")
}

/// Returns the documents of a whole ledger at its head.
pub fn documents(schema: &DocumentSchema, ledger: &Ledger) -> CommitState {
    documents_at(schema, ledger, &ledger.ids().collect(), ledger.head(), &str::to_owned)
}

/// Returns the documents of the given items and of their other handles, as of a position.
pub(crate) fn documents_at(
    schema: &DocumentSchema,
    ledger: &Ledger,
    items: &BTreeSet<ItemId>,
    at: LedgerSeq,
    naming: HandleNaming<'_>,
) -> CommitState {
    let (mut of_items, mut of_aliases) = (Map::new(), Map::new());
    for &id in items {
        let Some(item) = ledger.item_at(id, at) else { continue };
        of_items.insert(naming(item.handle), document(&item, naming));
        for alias in ledger.aliases_at(id, at) {
            of_aliases.insert(naming(alias), naming(item.handle).into());
        }
    }
    let attachments = [(ITEM_ATTACHMENT, of_items), (ALIAS_ATTACHMENT, of_aliases)]
        .into_iter()
        .filter(|(_, keys)| !keys.is_empty());
    let json: Map<String, Value> =
        attachments.map(|(name, keys)| (name.to_owned(), Value::Object(keys))).collect();
    CommitState::from_json(schema, &Value::Object(json))
        .expect("documents are made by the schema's own words")
}

fn document(item: &ItemView<'_>, naming: HandleNaming<'_>) -> Value {
    let optional = |text: Option<String>| text.map(|some| PresentText { some });
    // A source is one text: JSON with the turn and, if present, the range.
    let sources: BTreeSet<String> = item
        .sources
        .iter()
        .map(|source| match source.range {
            None => json!([source.turn]).to_string(),
            Some((start, end)) => json!([source.turn, start, end]).to_string(),
        })
        .collect();
    let supersedes: BTreeSet<String> = item.supersedes.iter().map(|old| naming(old)).collect();
    json::to_value(&ItemDocument {
        kind: item.kind,
        status: item.status,
        summary: item.summary,
        confidence: item.confidence,
        hard: item.hard,
        alternatives: &item.alternatives,
        sources,
        supersedes,
        superseded_by: optional(item.superseded_by.map(naming)),
        note: optional(item.note.map(str::to_owned)),
    })
}

/// An item in the form that [`schema`] describes.
#[derive(Serialize)]
struct ItemDocument<'a> {
    kind: ItemKind,
    status: ItemStatus,
    summary: &'a str,
    confidence: ConfidenceLevel,
    hard: bool,
    alternatives: &'a [&'a str],
    sources: BTreeSet<String>,
    supersedes: BTreeSet<String>,
    superseded_by: Option<PresentText>,
    note: Option<PresentText>,
}

#[derive(Serialize)]
struct PresentText {
    some: String,
}

/// Returns the commits for the inputs after `since`, oldest first; each is the parent of the next.
pub(crate) fn named_commits(
    schema: &DocumentSchema,
    ledger: &Ledger,
    since: LedgerSeq,
    parent: CommitId,
    label: &str,
    naming: HandleNaming<'_>,
) -> Vec<Commit> {
    let mut commits = Vec::new();
    let mut parent = parent;
    let mut from = since;
    while from < ledger.head() {
        let to = ledger.end_of_author_run(from);
        let touched = ledger.touched_between(from, to);
        let [before, after] = [from, to].map(|at| documents_at(schema, ledger, &touched, at, naming));
        let ops = diff(&before, &after);
        if !ops.is_empty() {
            let stamp = stamp(ledger.author_of(to), label, to);
            let commit = Commit::mutations(schema, Some(parent), ops, stamp);
            parent = commit.id();
            commits.push(commit);
        }
        from = to;
    }
    commits
}

/// Returns a commit without a parent that holds the given documents.
pub(crate) fn base_commit(schema: &DocumentSchema, state: &CommitState, at: LedgerSeq) -> Commit {
    Commit::mutations(schema, None, diff(&CommitState::default(), state), stamp("ledger", "base", at))
}

/// Returns the stamp of a commit, with its position in place of a time.
pub(crate) fn stamp(author: &str, label: &str, at: LedgerSeq) -> CommitStamp {
    let position = i64::from(at.0);
    CommitStamp::new(author, label, position)
        .expect("a 32-bit position is a time that every reader agrees on")
}

impl Ledger {
    /// Returns the handles besides the first that an item had at a position.
    fn aliases_at(&self, item: ItemId, at: LedgerSeq) -> impl Iterator<Item = &str> {
        let aliases = self.aliases.range((item, 0)..=(item, u32::MAX));
        aliases.filter(move |(_, seq)| **seq <= at).map(|(&(_, alias), _)| self.handles.name(alias))
    }

    /// Returns the last position after `from` up to which all inputs have the same author.
    fn end_of_author_run(&self, from: LedgerSeq) -> LedgerSeq {
        let first = from.0 as usize;
        let author = self.entries[first].author;
        let n = self.entries[first..].iter().take_while(|entry| entry.author == author).count();
        LedgerSeq(from.0 + crate::name_table::count(n))
    }

    /// Returns the items that the inputs between two positions affected.
    pub(crate) fn touched_between(&self, from: LedgerSeq, to: LedgerSeq) -> BTreeSet<ItemId> {
        let entries = &self.entries[from.0 as usize..to.0 as usize];
        let effective = entries.iter().filter(|entry| entry.took_effect());
        effective.flat_map(|entry| [entry.item, entry.other]).flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BatchMode, DeltaProposal};
    use probity_documents::{DocumentEngine, MemoryCommits};
    use proptest::prelude::*;

    fn delta() -> impl Strategy<Value = Value> {
        let handle = || prop::sample::select(vec!["a", "b", "c", "d"]);
        let text = || prop::sample::select(vec!["Use Redis", "Do not use Redis", "use redis.", "Ship it"]);
        (0..8u8, handle(), handle(), text(), prop::sample::select(vec!["t1", "t2"])).prop_map(
            |(n, handle, other, text, turn)| {
                let mut delta = match n {
                    0 | 1 => json!({ "kind": "decision_made", "handle": handle, "summary": text, "confidence": "high" }),
                    2 => json!({ "kind": "constraint_added", "handle": handle, "summary": text, "hard": true }),
                    3 => json!({ "kind": "branch_created", "handle": handle, "alternatives": ["X", "Y"] }),
                    4 => json!({ "kind": "decision_revised", "target": handle, "summary": text }),
                    5 => json!({ "kind": "item_superseded", "target": handle, "reason": "r", "by": other }),
                    6 => json!({ "kind": "branch_resolved", "target": handle, "handle": other, "chosen": "X" }),
                    _ => json!({ "kind": "confidence_changed", "target": handle, "confidence": "low" }),
                };
                delta["sources"] = json!([{ "turn": turn }]);
                delta
            },
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn the_state_of_the_last_commit_is_the_ledger(
            inputs in prop::collection::vec((delta(), prop::sample::select(vec!["ann", "bob"])), 1..30),
            cut in 0usize..30,
        ) {
            let mut ledger = Ledger::new();
            for turn in ["t1", "t2"] {
                ledger.add_turn(turn);
            }
            for (value, author) in &inputs {
                ledger.reconcile(author, BatchMode::BestEffort, &[DeltaProposal::read(value)]).expect("there is room");
            }
            let schema = schema();
            let since = LedgerSeq(u32::try_from(cut.min(inputs.len())).expect("small"));
            let all = ledger.ids().collect();
            let mut store = MemoryCommits::new();
            let base = base_commit(&schema, &documents_at(&schema, &ledger, &all, since, &str::to_owned), since);
            let mut head = store.append(base).expect("appends");
            for commit in named_commits(&schema, &ledger, since, head, "main", &str::to_owned) {
                head = store.append(commit).expect("appends");
            }
            let state = DocumentEngine::new(&store).state(&head).expect("replays");
            prop_assert_eq!(state.to_json(&schema), documents(&schema, &ledger).to_json(&schema));
        }
    }
}
