//! Write requests: stores, documents, merges, masks, refs, blobs and the schema.

use super::{CommitMetadata, parent, resolve, summary};
use crate::fault::OrFault as _;
use crate::store::CommitStore;
use probity_api::documents::{BlobAnswer, CommitRef, CommitRefsAnswer, CommitWriteAnswer, StoreSchemaAnswer};
use probity_core::{Digest, ReasonCode};
use probity_documents::{Commit, CommitId, DocumentSchema, MutationBuilder, RefName};
use probity_workspace::ServiceError;
use serde_json::{Value as Json, json};
use std::path::Path;

/// Creates a store with a schema, given in its readable or its JSON form.
pub fn init(path: &Path, schema: &[u8]) -> Result<StoreSchemaAnswer, ServiceError> {
    let store = CommitStore::create(path, &parse_schema(schema)?)?;
    Ok(schema_answer(&store, true))
}

/// Returns the schema in both forms.
pub fn schema(store: &CommitStore) -> StoreSchemaAnswer {
    schema_answer(store, false)
}

/// Replaces the schema with a compatible successor.
pub fn evolve(store: &mut CommitStore, schema: &[u8]) -> Result<StoreSchemaAnswer, ServiceError> {
    store.evolve(&parse_schema(schema)?)?;
    Ok(schema_answer(store, true))
}

fn schema_answer(store: &CommitStore, written: bool) -> StoreSchemaAnswer {
    StoreSchemaAnswer {
        path: store.path().to_string_lossy().into_owned(),
        version: store.schema().version(),
        definitions: store.schema().to_json(),
        text: store.schema().to_text(),
        written,
    }
}

fn parse_schema(bytes: &[u8]) -> Result<DocumentSchema, ServiceError> {
    let wrong = |why: String| ServiceError::refused(ReasonCode::CommitSchema, why);
    let text = std::str::from_utf8(bytes).map_err(|error| wrong(error.to_string()))?;
    if text.trim_start().starts_with('{') {
        let json = probity_core::json::parse(bytes).map_err(|error| wrong(error.to_string()))?;
        return DocumentSchema::from_json(&json).or_fault();
    }
    DocumentSchema::parse(text).or_fault()
}

/// The content of a write request.
#[derive(Debug, Clone)]
pub enum DocumentWrite {
    Put {
        attachment: String,
        key: String,
        value: Json,
    },
    /// One opcode at a path in its readable form.
    Update {
        op: String,
        attachment: String,
        key: String,
        path: String,
        value: Json,
    },
    Ops(Vec<Json>),
}

/// Writes a commit on top of the named commit or the only head.
pub fn write(
    store: &CommitStore,
    on: Option<&str>,
    write: &DocumentWrite,
    by: &CommitMetadata,
) -> Result<CommitWriteAnswer, ServiceError> {
    let mut mutations = MutationBuilder::new(store.schema());
    for op in opcodes(store.schema(), write)? {
        mutations.record(&op).or_fault()?;
    }
    let default_label = match write {
        DocumentWrite::Put { attachment, key, .. } => format!("put {attachment}/{key}"),
        DocumentWrite::Update { attachment, key, path, .. } => format!("update {attachment}/{key} {path}"),
        DocumentWrite::Ops(ops) => format!("{} opcodes", ops.len()),
    };
    let parent = store.read(|view| parent(view, on))??;
    append(store, mutations.commit(parent, by.stamp(default_label.trim_end())?))
}

fn opcodes(schema: &DocumentSchema, write: &DocumentWrite) -> Result<Vec<Json>, ServiceError> {
    Ok(match write {
        DocumentWrite::Ops(ops) => ops.clone(),
        DocumentWrite::Put { attachment, key, value } => {
            vec![json!({ "op": "document_set", "attachment": attachment, "key": key, "value": value })]
        }
        DocumentWrite::Update { op, attachment, key, path, value } => {
            let path = schema.parse_path(attachment, path).or_fault()?;
            vec![json!({ "op": op, "attachment": attachment, "key": key, "path": path, "value": value })]
        }
    })
}

fn append(store: &CommitStore, commit: Commit) -> Result<CommitWriteAnswer, ServiceError> {
    let answer = CommitWriteAnswer { commit: summary(&commit) };
    store.append(commit)?;
    Ok(answer)
}

/// Merges `theirs` into `ours`. Only the merge commit is written; its state is computed by replay.
#[tracing::instrument(name = "merge", skip_all)]
pub fn merge(
    store: &CommitStore,
    ours: &str,
    theirs: &str,
    by: &CommitMetadata,
) -> Result<CommitId, ServiceError> {
    let (ours, theirs) =
        store.read(|view| Ok::<_, ServiceError>((resolve(view, ours)?, resolve(view, theirs)?)))??;
    Ok(store.append(Commit::merge(ours, theirs, by.stamp("merge")?))?)
}

/// Disables the effect of a commit, or enables it again.
pub fn mask(
    store: &CommitStore,
    target: &str,
    on: Option<&str>,
    enable: bool,
    by: &CommitMetadata,
) -> Result<CommitWriteAnswer, ServiceError> {
    let (parent, target) =
        store.read(|view| Ok::<_, ServiceError>((parent(view, on)?, resolve(view, target)?)))??;
    let commit = if enable {
        Commit::enable(parent, target, by.stamp("enable")?)
    } else {
        Commit::disable(parent, target, by.stamp("disable")?)
    };
    append(store, commit)
}

/// Merges all heads into one, and returns the new merges in order.
pub fn reduce(store: &CommitStore) -> Result<Vec<CommitId>, ServiceError> {
    Ok(store.reduce()?)
}

#[expect(
    clippy::redundant_closure_for_method_calls,
    reason = "the method is not general enough over its lifetime"
)]
pub fn refs(store: &CommitStore) -> Result<CommitRefsAnswer, ServiceError> {
    let refs = store.read(|view| view.refs())?.or_fault()?;
    let refs = refs.into_iter().map(|(name, commit)| CommitRef { name: name.to_string(), commit }).collect();
    Ok(CommitRefsAnswer { refs })
}

/// Points a ref at a commit, or removes it.
pub fn set_ref(store: &CommitStore, name: &str, to: Option<&str>) -> Result<CommitRefsAnswer, ServiceError> {
    let name: RefName = name.parse().map_err(|error: probity_documents::BadRefName| {
        ServiceError::refused(ReasonCode::CommitMisfit, error.to_string())
    })?;
    store.write(|writing| {
        let expected = writing.view().resolve(&name)?;
        if expected.is_none() && to.is_none() {
            let why = format!("there is no ref `{name}` to delete");
            return Ok(Err(ServiceError::refused(ReasonCode::CommitUnknown, why)));
        }
        // A bad name is refused by `resolve`, not by the store, so its error passes through the transaction as a
        // value.
        let to = match to.map(|to| resolve(writing.view(), to)).transpose() {
            Ok(to) => to,
            Err(fault) => return Ok(Err(fault)),
        };
        writing.set_ref(&name, expected, to)?;
        Ok(Ok(()))
    })??;
    refs(store)
}

pub fn put_blob(store: &CommitStore, bytes: &[u8]) -> Result<BlobAnswer, ServiceError> {
    Ok(BlobAnswer { blob: store.put_blob(bytes)?, size_bytes: bytes.len() })
}

pub fn get_blob(store: &CommitStore, digest: &str) -> Result<(BlobAnswer, Vec<u8>), ServiceError> {
    let missing = || ServiceError::Missing(format!("there is no blob `{digest}`"));
    let blob: Digest = digest.parse().map_err(|_| missing())?;
    let bytes = store.read(|view| view.blob(&blob))?.or_fault()?.ok_or_else(missing)?;
    Ok((BlobAnswer { blob, size_bytes: bytes.len() }, bytes))
}
