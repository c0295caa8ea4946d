//! Read requests: log, single commits, heads, diffs, states, and why an opcode had no effect.

use super::{commit_of, only_head, resolve, summary};
use crate::fault::OrFault as _;
use crate::store::{CommitStore, CommitView};
use probity_api::documents::{
    CommitDiffAnswer, CommitHeadsAnswer, CommitLogAnswer, CommitLogEntry, CommitShowAnswer,
    DocumentStateAnswer, DocumentTraceAnswer, OpcodeTrace,
};
use probity_core::ReasonCode;
use probity_documents::{CommitId, CommitReader, CommitSeq, CommitState, DocumentEngine, DocumentId, diff};
use probity_workspace::ServiceError;
use serde_json::{Map, Value as Json};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Clone, Default)]
pub struct LogRequest {
    /// Only commits reachable from this one.
    pub from: Option<String>,
    /// Only commits that write this document, given as `attachment/key`.
    pub document: Option<String>,
    pub limit: usize,
}

/// Lists commits, newest first: each comes before the commits it names.
pub fn log(store: &CommitStore, request: &LogRequest) -> Result<CommitLogAnswer, ServiceError> {
    store.read(|view| {
        let refs = refs_of(view)?;
        let heads: BTreeSet<CommitId> = view.heads().or_fault()?.into_iter().collect();
        let wanted = selected_commits(view, request)?;
        let mut commits = Vec::new();
        let mut is_cut = false;
        for seq in wanted {
            if commits.len() == request.limit {
                is_cut = true;
                break;
            }
            let commit = view.commit(seq).or_fault()?;
            commits.push(CommitLogEntry {
                head: heads.contains(&commit.id()),
                refs: refs.get(&commit.id()).cloned().unwrap_or_default(),
                commit: summary(&commit),
            });
        }
        Ok(CommitLogAnswer { commits, total: view.n_commits(), more: is_cut })
    })?
}

/// Selects the commits of a log request, newest first.
fn selected_commits(
    view: &CommitView<'_>,
    request: &LogRequest,
) -> Result<Box<dyn Iterator<Item = CommitSeq>>, ServiceError> {
    let numbers: Box<dyn Iterator<Item = CommitSeq>> = match &request.document {
        Some(document) => {
            let mut writers = view.writers(&document_id(document)?, CommitSeq(0)).or_fault()?;
            writers.reverse();
            Box::new(writers.into_iter())
        }
        None => Box::new((0..view.n_commits()).rev().map(CommitSeq)),
    };
    let Some(from) = &request.from else { return Ok(numbers) };
    let reached: BTreeSet<CommitSeq> = reachable_commits(view, &resolve(view, from)?)?;
    Ok(Box::new(numbers.filter(move |seq| reached.contains(seq))))
}

fn reachable_commits(view: &CommitView<'_>, top: &CommitId) -> Result<BTreeSet<CommitSeq>, ServiceError> {
    let mut reached = BTreeSet::new();
    let mut queue: Vec<CommitSeq> = view.find(top).or_fault()?.into_iter().collect();
    while let Some(seq) = queue.pop() {
        if reached.insert(seq) {
            queue.extend(view.node(seq).or_fault()?.edges());
        }
    }
    Ok(reached)
}

fn refs_of(view: &CommitView<'_>) -> Result<BTreeMap<CommitId, Vec<String>>, ServiceError> {
    let mut refs: BTreeMap<CommitId, Vec<String>> = BTreeMap::new();
    for (name, id) in view.refs().or_fault()? {
        refs.entry(id).or_default().push(name.to_string());
    }
    Ok(refs)
}

/// Returns one commit with its opcodes and the decisions it carries.
pub fn show(store: &CommitStore, name: &str) -> Result<CommitShowAnswer, ServiceError> {
    store.read(|view| {
        let commit = commit_of(view, &resolve(view, name)?)?;
        let id = commit.id();
        let mut decisions = view.decisions().or_fault()?;
        decisions.retain(|record| record.survival == Some(id) || record.merge == id);
        Ok(CommitShowAnswer {
            commit: summary(&commit),
            ops: commit.ops().iter().map(|op| op.to_json(view.schema())).collect(),
            refs: refs_of(view)?.remove(&id).unwrap_or_default(),
            decisions,
        })
    })?
}

pub fn heads(store: &CommitStore) -> Result<CommitHeadsAnswer, ServiceError> {
    store.read(|view| {
        let mut heads = Vec::new();
        for id in view.heads().or_fault()? {
            heads.push(summary(&*commit_of(view, &id)?));
        }
        Ok(CommitHeadsAnswer { heads, total: view.n_commits() })
    })?
}

/// Returns the opcodes that turn the state of `from` into the state of `to`.
pub fn difference(store: &CommitStore, from: &str, to: &str) -> Result<CommitDiffAnswer, ServiceError> {
    store.read(|view| {
        let (from, to) = (resolve(view, from)?, resolve(view, to)?);
        let engine = DocumentEngine::new(view);
        let (before, after) = (engine.state(&from).or_fault()?, engine.state(&to).or_fault()?);
        let ops: Vec<Json> = diff(&before, &after).iter().map(|op| op.to_json(view.schema())).collect();
        let gone: Vec<String> =
            document_names(&before).filter(|(id, _)| after.document(id).is_none()).map(|(_, n)| n).collect();
        Ok(CommitDiffAnswer { from, to, ops, gone })
    })?
}

fn document_names(state: &CommitState) -> impl Iterator<Item = (&DocumentId, String)> {
    state.documents().map(|(id, _)| (id, format!("{}/{}", id.attachment, id.key)))
}

/// Returns the state of a commit or of the only head, or one document of it.
pub fn state(
    store: &CommitStore,
    name: Option<&str>,
    document: Option<&str>,
) -> Result<DocumentStateAnswer, ServiceError> {
    store.read(|view| {
        let id = match name {
            Some(name) => Some(resolve(view, name)?),
            None => only_head(view)?,
        };
        let Some(id) = id else { return Ok(DocumentStateAnswer { commit: None, state: Map::new() }) };
        let engine = DocumentEngine::new(view);
        let Some(document) = document else {
            let state = engine.state(&id).or_fault()?.to_members(view.schema());
            return Ok(DocumentStateAnswer { commit: Some(id), state });
        };
        let document = document_id(document)?;
        let Some(value) = engine.document(&id, &document).or_fault()? else {
            let name = format!("{}/{}", document.attachment, document.key);
            return Err(ServiceError::Missing(format!("there is no document `{name}` at {id}")));
        };
        let json = view.schema().write_document(&document.attachment, &value).or_fault()?;
        let keys = Map::from_iter([(document.key.to_string(), json)]);
        let state = Map::from_iter([(document.attachment.to_string(), Json::Object(keys))]);
        Ok(DocumentStateAnswer { commit: Some(id), state })
    })?
}

/// Traces every opcode on a document through the replay of a commit, with the reason where it had no effect.
pub fn trace(store: &CommitStore, name: &str, document: &str) -> Result<DocumentTraceAnswer, ServiceError> {
    store.read(|view| {
        let id = resolve(view, name)?;
        let document = document_id(document)?;
        let mut traced = Vec::new();
        for entry in DocumentEngine::new(view).trace(&id, &document).or_fault()? {
            let commit = commit_of(view, &entry.commit)?;
            traced.push(OpcodeTrace {
                commit: entry.commit,
                author: commit.stamp().author().to_owned(),
                on: entry.on,
                op: commit.ops()[entry.op].to_json(view.schema()),
                skipped: entry.skipped,
            });
        }
        let name = format!("{}/{}", document.attachment, document.key);
        Ok(DocumentTraceAnswer { commit: id, document: name, trace: traced })
    })?
}

/// Parses `attachment/key`; the key may contain further slashes.
pub fn document_id(text: &str) -> Result<DocumentId, ServiceError> {
    let named = text.split_once('/').filter(|(attachment, key)| !attachment.is_empty() && !key.is_empty());
    let (attachment, key) = named.ok_or_else(|| {
        ServiceError::refused(
            ReasonCode::CommitMisfit,
            format!("`{text}` is not a document: write `attachment/key`"),
        )
    })?;
    Ok(DocumentId::new(attachment, key))
}
