//! States: every document at a commit, by replay.
//!
//! A state is a persistent map: keeping an old one costs what changed since. Reading starts at the nearest snapshot
//! along the parents below which nothing was masked or unmasked, and replays what comes after it.

use crate::apply::{self, Skip};
use crate::codec::{self, Misfit};
use crate::commit::{Commit, Kind};
use crate::history::{Commits, HistoryError, Seq};
use crate::linear::{self, Listed};
use crate::op::{Act, DocumentId, Op};
use crate::schema::Schema;
use crate::value::Value;
use imbl::OrdMap;
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeMap;

/// The documents at a commit.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct State {
    pub(crate) documents: OrdMap<DocumentId, Value>,
}

impl State {
    /// The document, if it exists.
    pub fn document(&self, document: &DocumentId) -> Option<&Value> {
        self.documents.get(document)
    }

    /// Every document, in order.
    pub fn documents(&self) -> impl Iterator<Item = (&DocumentId, &Value)> {
        self.documents.iter()
    }

    /// The documents of one attachment, in order.
    pub(crate) fn of_attachment(&self, attachment: &str) -> impl Iterator<Item = (&DocumentId, &Value)> {
        let first = DocumentId::new(attachment, "");
        self.documents.range(first.clone()..).take_while(move |(id, _)| id.attachment == first.attachment)
    }

    /// The document as JSON, if it exists.
    pub fn document_json(&self, schema: &Schema, document: &DocumentId) -> Option<Json> {
        let kind = schema.document_type(&document.attachment)?;
        Some(codec::encode(kind, self.document(document)?))
    }

    /// All documents as `{attachment: {key: document}}`.
    pub fn to_json(&self, schema: &Schema) -> Json {
        let mut attachments = Map::new();
        for (id, value) in &self.documents {
            let Some(kind) = schema.document_type(&id.attachment) else { continue };
            let keys = attachments.entry(id.attachment.to_string()).or_insert_with(|| json!({}));
            keys[&*id.key] = codec::encode(kind, value);
        }
        Json::Object(attachments)
    }

    /// Reads what [`State::to_json`] wrote.
    pub fn from_json(schema: &Schema, json: &Json) -> Result<Self, Misfit> {
        let wrong = || Misfit::new("a state is {attachment: {key: document}}");
        let mut documents = OrdMap::new();
        for (attachment, keys) in json.as_object().ok_or_else(wrong)? {
            let kind = schema.document_type(attachment).ok_or_else(wrong)?;
            for (key, document) in keys.as_object().ok_or_else(wrong)? {
                let place = |misfit: Misfit| misfit.within(&format!("{attachment}/{key}"));
                let value = codec::decode(schema, kind, document).map_err(place)?;
                documents.insert(DocumentId::new(attachment, key), value);
            }
        }
        Ok(Self { documents })
    }

    /// Replays one opcode of a commit that is on.
    pub(crate) fn apply(&mut self, op: &Op) -> Result<(), Skip> {
        match &op.act {
            Act::Set(value) => {
                self.documents.insert(op.document.clone(), value.clone());
                Ok(())
            }
            Act::At(path, change) => {
                let document = self.documents.get_mut(&op.document).ok_or(Skip::DocumentAbsent)?;
                apply::apply(document, path, change)
            }
        }
    }

    /// Replays one opcode of a commit that is masked.
    pub(crate) fn apply_masked(&mut self, op: &Op) -> Result<(), Skip> {
        let document = self.documents.get_mut(&op.document).ok_or(Skip::DocumentAbsent)?;
        apply::apply_masked(document, &op.act)
    }

    /// Replays a commit; what has nothing to act on is skipped.
    pub(crate) fn replay(&mut self, commit: &Commit, on: bool) {
        for op in commit.ops() {
            let _skipped = if on { self.apply(op) } else { self.apply_masked(op) };
        }
    }
}

/// Reads states from a store, remembering those it was told to keep.
pub(crate) struct Reader<'c, C: ?Sized> {
    commits: &'c C,
    kept: BTreeMap<Seq, State>,
}

impl<'c, C: Commits + ?Sized> Reader<'c, C> {
    pub(crate) fn new(commits: &'c C) -> Self {
        Self { commits, kept: BTreeMap::new() }
    }

    /// The state of a commit, kept for what is read next.
    pub(crate) fn keep(&mut self, top: Seq) -> Result<State, HistoryError> {
        let state = self.state(top)?;
        self.kept.insert(top, state.clone());
        Ok(state)
    }

    /// The state of a commit.
    pub(crate) fn state(&self, top: Seq) -> Result<State, HistoryError> {
        let (mut state, listed) = self.plan(top)?;
        for entry in replayed(&listed) {
            state.replay(&*self.commits.commit(entry.seq)?, entry.on);
        }
        Ok(state)
    }

    /// One document at a commit: only the commits that write it are read.
    pub(crate) fn document(&self, top: Seq, id: &DocumentId) -> Result<Option<Value>, HistoryError> {
        let (snapshot, listed) = self.plan(top)?;
        let Some(oldest) = listed.iter().map(|entry| entry.seq).min() else {
            return Ok(snapshot.document(id).cloned());
        };
        let writers = self.commits.writers(id, oldest)?;
        let mut state = State::default();
        if let Some(value) = snapshot.document(id) {
            state.documents.insert(id.clone(), value.clone());
        }
        for entry in replayed(&listed).filter(|entry| writers.binary_search(&entry.seq).is_ok()) {
            let commit = self.commits.commit(entry.seq)?;
            for op in commit.ops().iter().filter(|op| op.document == *id) {
                let _skipped = if entry.on { state.apply(op) } else { state.apply_masked(op) };
            }
        }
        Ok(state.documents.remove(id))
    }

    /// A snapshot to start from, and what to replay on it.
    fn plan(&self, top: Seq) -> Result<(State, Vec<Listed>), HistoryError> {
        let mut from = Some(top);
        let mut min_distance = 0;
        loop {
            let found = self.nearest_snapshot(from, min_distance)?;
            let (below, state) = found.map_or((None, State::default()), |(seq, state)| (Some(seq), state));
            if below == Some(top) {
                return Ok((state, Vec::new()));
            }
            let tail = linear::tail(self.commits, top, below)?;
            // The snapshot holds unless something that it replayed, or may have replayed, was decided since.
            let Some(seq) = below.filter(|seq| tail.decided_below.iter().any(|decided| decided <= seq))
            else {
                return Ok((state, tail.listed));
            };
            // Doubling the distance keeps all attempts together within twice the cost of the last one.
            min_distance = tail.listed.len();
            from = self.commits.node(seq)?.parent;
        }
    }

    /// The first commit along the parents, at least `min_distance` further on, whose state is known.
    fn nearest_snapshot(
        &self,
        mut from: Option<Seq>,
        min_distance: usize,
    ) -> Result<Option<(Seq, State)>, HistoryError> {
        let mut distance = 0;
        while let Some(seq) = from {
            if distance >= min_distance
                && let Some(state) = self.known(seq)?
            {
                return Ok(Some((seq, state)));
            }
            distance += 1;
            from = self.commits.node(seq)?.parent;
        }
        Ok(None)
    }

    fn known(&self, seq: Seq) -> Result<Option<State>, HistoryError> {
        match self.kept.get(&seq) {
            Some(state) => Ok(Some(state.clone())),
            None => self.commits.snapshot(seq),
        }
    }
}

fn replayed(listed: &[Listed]) -> impl Iterator<Item = &Listed> {
    listed.iter().filter(|entry| entry.node.kind == Kind::Mutations)
}
