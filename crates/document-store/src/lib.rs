//! The store of typed documents as every surface uses it: plain requests, plain answers.
//!
//! Owns: the file of a document store, and the requests that write, read, merge and exchange documents.
//! May use: api, core, documents, storage, workspace.
//! Must not know: governed runs, intents, the ledger, how an answer is shown.
//!
//! * [`store`]: commits in a file, for many processes.
//! * [`mod@write`]: create a store; write documents, merges, masks, refs, blobs and the schema.
//! * [`read`]: log, single commits, heads, diffs, states, and why an opcode had no effect.
//! * [`exchange`]: synchronization, bundles, flattening, checking.
//! * [`merge`]: what a merge lost, how the policy rules on it, and decisions that survive.
//!
//! A commit is named by its id, a prefix of it (at least four digits), a ref, or `@` for the only head.

pub mod exchange;
mod fault;
pub mod merge;
pub mod read;
pub mod store;
pub mod write;

use crate::fault::OrFault as _;
use crate::store::CommitView;
pub use crate::store::{CommitStore, SyncDirection};
use probity_api::documents::CommitSummary;
use probity_core::ReasonCode;
use probity_documents::{
    BadTime, Commit, CommitId, CommitReader, CommitStamp, HistoryError, RefName, path_text,
};
use probity_workspace::{ServiceError, Workspace, clock};
use serde_json::Value as Json;
use std::path::{Path, PathBuf};

/// The shortest prefix of an id that names a commit.
const MIN_ID_DIGITS: usize = 4;

/// Author and label of a new commit; its time is now.
#[derive(Debug, Clone, Default)]
pub struct CommitMetadata {
    /// Defaults to the current user.
    pub author: Option<String>,
    /// Each kind of commit has its own default.
    pub label: Option<String>,
}

impl CommitMetadata {
    fn stamp(&self, default_label: &str) -> Result<CommitStamp, ServiceError> {
        let author = self.author();
        let label = self.label.as_deref().unwrap_or(default_label);
        CommitStamp::new(&author, label, clock::now_ms()).map_err(|BadTime(time)| {
            ServiceError::refused(ReasonCode::CommitMisfit, format!("the clock says {time} ms"))
        })
    }

    fn author(&self) -> String {
        self.author.clone().unwrap_or_else(probity_workspace::user_name)
    }
}

/// Returns the path of the store: the given one, or its place in the tree's state directory.
pub fn locate(
    workspace: impl Fn() -> Result<Workspace, ServiceError>,
    given: Option<&Path>,
) -> Result<PathBuf, ServiceError> {
    match given {
        Some(path) => Ok(path.to_owned()),
        None => Ok(workspace()?.state.dir().join("commits.db")),
    }
}

pub fn open(path: &Path) -> Result<CommitStore, ServiceError> {
    if std::fs::symlink_metadata(path).is_err() {
        return Err(ServiceError::refused(
            ReasonCode::CommitNoStore,
            format!("there is no commit store at {}", path.display()),
        ));
    }
    Ok(CommitStore::open(path)?)
}

/// Resolves a commit name (see the crate docs).
pub fn resolve(view: &CommitView<'_>, name: &str) -> Result<CommitId, ServiceError> {
    let unknown = |why: String| ServiceError::refused(ReasonCode::CommitUnknown, why);
    if name == "@" {
        return only_head(view)?.ok_or_else(|| unknown("the store has no commit yet".into()));
    }
    if let Ok(name) = name.parse::<RefName>()
        && let Some(id) = view.resolve(&name).or_fault()?
    {
        return Ok(id);
    }
    if name.len() < MIN_ID_DIGITS || !name.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(unknown(format!("`{name}` is neither a ref nor the beginning of a commit id")));
    }
    match view.with_prefix(&name.to_ascii_lowercase()).or_fault()?.as_slice() {
        [id] => Ok(*id),
        [] => Err(unknown(format!("no commit begins with `{name}`"))),
        _ => Err(unknown(format!("several commits begin with `{name}`"))),
    }
}

/// Returns the only head, `None` in an empty store; refuses several heads.
fn only_head(view: &CommitView<'_>) -> Result<Option<CommitId>, ServiceError> {
    match view.heads().or_fault()?.as_slice() {
        [] => Ok(None),
        [head] => Ok(Some(*head)),
        several => {
            let names: Vec<String> = several.iter().map(short_id).collect();
            let why = format!("the store has {} heads: {}", names.len(), names.join(", "));
            Err(ServiceError::refused(ReasonCode::CommitSeveralHeads, why))
        }
    }
}

/// Returns the commit to build on: the named one or the only head; `None` in an empty store.
fn parent(view: &CommitView<'_>, on: Option<&str>) -> Result<Option<CommitId>, ServiceError> {
    match on {
        Some(name) => resolve(view, name).map(Some),
        None => only_head(view),
    }
}

/// Returns a commit that must exist.
fn commit_of(view: &CommitView<'_>, id: &CommitId) -> Result<std::sync::Arc<Commit>, ServiceError> {
    let seq = view.find(id).or_fault()?.ok_or(HistoryError::Unknown(*id)).or_fault()?;
    view.commit(seq).or_fault()
}

/// Returns the first ten digits of an id, for people.
pub fn short_id(id: &CommitId) -> String {
    id.to_string()[..10].to_owned()
}

fn summary(commit: &Commit) -> CommitSummary {
    let stamp = commit.stamp();
    CommitSummary {
        id: commit.id(),
        kind: commit.kind(),
        parent: commit.parent(),
        target: commit.target(),
        author: stamp.author().to_owned(),
        label: stamp.label().to_owned(),
        timestamp: stamp.timestamp_ms(),
        time: clock::text_of_ms(stamp.timestamp_ms()),
        documents: commit.documents().iter().map(|id| format!("{}/{}", id.attachment, id.key)).collect(),
    }
}

/// Formats an opcode on one line, for people.
pub fn op_text(op: &Json) -> String {
    let text = |name: &str| op[name].as_str().unwrap_or_default();
    let path = path_text(&op["path"]);
    let value = op.get("value").map(|value| format!(" {value}")).unwrap_or_default();
    let position = op.get("position").and_then(Json::as_str).map(|p| format!(" <{p}>")).unwrap_or_default();
    let before =
        op.get("before").and_then(Json::as_str).map(|b| format!(" before <{b}>")).unwrap_or_default();
    let place = if path.is_empty() { String::new() } else { format!(" {path}") };
    format!("{} {}/{}{place}{position}{before}{value}", text("op"), text("attachment"), text("key"))
}

#[cfg(test)]
mod tests;
