//! The store of typed documents, as surfaces use it: plain requests, plain answers.
//!
//! Owns: the file of a document store, and the requests that write, read, merge and exchange documents.
//! May use: api, core, documents, storage, workspace.
//! Must not know: governed runs, intents, the ledger, how an answer is shown.
//!
//! * [`store`]: commits in a file, for many processes.
//! * [`mod@write`]: making a store, writing documents, merging, reducing, masking, refs, blobs, the schema.
//! * [`read`]: log, single commits, heads, differences, states, and why an opcode had no effect.
//! * [`exchange`]: synchronising, bundles, flattening, checking.
//! * [`merge`]: what a merge lost, what the policy says about it, and making decisions survive.
//!
//! A commit is named by its id, the beginning of it (at least four digits), a ref, or `@` for the only head.

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

/// How many digits of an id name a commit at least.
const MIN_ID_DIGITS: usize = 4;

/// Who makes a commit and what they call it; the time is now.
#[derive(Debug, Clone, Default)]
pub struct CommitMetadata {
    /// Who; the user where nobody is named.
    pub author: Option<String>,
    /// What it is called; each kind of commit has its own default.
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

/// Where a store lies: at a given path, or in the state directory of the tree.
pub fn locate(
    workspace: impl Fn() -> Result<Workspace, ServiceError>,
    given: Option<&Path>,
) -> Result<PathBuf, ServiceError> {
    match given {
        Some(path) => Ok(path.to_owned()),
        None => Ok(workspace()?.state.dir().join("commits.db")),
    }
}

/// Opens the store at a path.
pub fn open(path: &Path) -> Result<CommitStore, ServiceError> {
    if std::fs::symlink_metadata(path).is_err() {
        return Err(ServiceError::refused(
            ReasonCode::CommitNoStore,
            format!("there is no commit store at {}", path.display()),
        ));
    }
    Ok(CommitStore::open(path)?)
}

/// The commit that a name means.
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

/// The head, where there is only one; none in an empty store.
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

/// The commit to build on: the one that is named, or the only head; none in an empty store.
fn parent(view: &CommitView<'_>, on: Option<&str>) -> Result<Option<CommitId>, ServiceError> {
    match on {
        Some(name) => resolve(view, name).map(Some),
        None => only_head(view),
    }
}

/// A commit that is there.
fn commit_of(view: &CommitView<'_>, id: &CommitId) -> Result<std::sync::Arc<Commit>, ServiceError> {
    let seq = view.find(id).or_fault()?.ok_or(HistoryError::Unknown(*id)).or_fault()?;
    view.commit(seq).or_fault()
}

/// The first digits of an id, for people.
pub fn short_id(id: &CommitId) -> String {
    id.to_string()[..10].to_owned()
}

/// A commit without its opcodes.
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

/// An opcode in one line, for people.
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
