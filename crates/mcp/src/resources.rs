//! Resources: runs, receipts and evidence that an agent, or the person behind it, may want to read in full.

use probity_api::Answer as _;
use probity_quality::analysis_store::AnalysisStore;
use probity_quality::analyze::{self, FindingLimits};
use probity_quality::contract::receipts::ReceiptStore;
use probity_runner::bundles;
use probity_workspace::{ServiceError, Workspace};
use rmcp::model::{ErrorData, ReadResourceResult, Resource, ResourceContents, ResourceTemplate};
use std::path::Path;

/// The number of resources listed per kind; every one can be read by its id.
const MAX_LISTED_RESOURCES: usize = 20;

/// A kind of resource: `probity://<kind>/<id>`.
struct ResourceKind {
    name: &'static str,
    description: &'static str,
    /// Returns the ids, newest first.
    ids: fn(&Workspace) -> Result<Vec<String>, ServiceError>,
    /// Reads the document of an id or of a prefix of one.
    read: fn(&Workspace, &str) -> Result<String, ServiceError>,
}

const RESOURCE_KINDS: [ResourceKind; 3] = [
    ResourceKind {
        name: "evidence",
        description: "The manifest of a governed run",
        ids: evidence_ids,
        read: evidence,
    },
    ResourceKind { name: "run", description: "A structural analysis in full", ids: run_ids, read: run },
    ResourceKind { name: "receipt", description: "The receipt of a change", ids: receipt_ids, read: receipt },
];

fn run_ids(workspace: &Workspace) -> Result<Vec<String>, ServiceError> {
    let listed = AnalysisStore::open(workspace).list()?;
    Ok(listed.into_iter().map(|listed| listed.id.short()).collect())
}

fn run(workspace: &Workspace, name: &str) -> Result<String, ServiceError> {
    let (answer, _) = analyze::show_run(workspace, name, FindingLimits::with_all_locations(usize::MAX))?;
    Ok(answer.to_document().to_string())
}

fn receipt_ids(workspace: &Workspace) -> Result<Vec<String>, ServiceError> {
    let kept = ReceiptStore::open(workspace).list()?;
    Ok(kept.iter().rev().map(|receipt| receipt.number.to_string()).collect())
}

fn receipt(workspace: &Workspace, name: &str) -> Result<String, ServiceError> {
    Ok(ReceiptStore::open(workspace).find(name)?.document.to_string())
}

fn evidence_ids(workspace: &Workspace) -> Result<Vec<String>, ServiceError> {
    let mut runs = workspace.state.bundles()?;
    runs.reverse();
    Ok(runs)
}

fn evidence(workspace: &Workspace, name: &str) -> Result<String, ServiceError> {
    let run_id = bundles::find(workspace, name)?;
    let files = bundles::read(&workspace.state.evidence().join(run_id))?;
    let manifest = files.get(b"manifest.json".as_slice()).cloned().unwrap_or_default();
    Ok(String::from_utf8_lossy(&manifest).into_owned())
}

/// Lists the newest resources of each kind.
pub(crate) fn list(root: &Path) -> Result<Vec<Resource>, ErrorData> {
    let workspace = Workspace::find(Some(root), root).map_err(|fault| not_found_error(&fault))?;
    let mut resources = Vec::new();
    for kind in &RESOURCE_KINDS {
        let ids = (kind.ids)(&workspace).map_err(|fault| not_found_error(&fault))?;
        resources.extend(ids.into_iter().take(MAX_LISTED_RESOURCES).map(|id| {
            Resource::new(format!("probity://{}/{id}", kind.name), id)
                .with_description(kind.description)
                .with_mime_type("application/json")
        }));
    }
    Ok(resources)
}

/// Returns the URI template of each kind.
pub(crate) fn templates() -> Vec<ResourceTemplate> {
    RESOURCE_KINDS
        .iter()
        .map(|kind| {
            ResourceTemplate::new(format!("probity://{}/{{id}}", kind.name), kind.name)
                .with_description(kind.description)
                .with_mime_type("application/json")
        })
        .collect()
}

pub(crate) fn read(root: &Path, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let unknown = || ErrorData::resource_not_found(format!("there is no resource {uri}"), None);
    let (kind, id) = uri.strip_prefix("probity://").and_then(|it| it.split_once('/')).ok_or_else(unknown)?;
    let kind = RESOURCE_KINDS.iter().find(|known| known.name == kind).ok_or_else(unknown)?;
    let workspace = Workspace::find(Some(root), root).map_err(|fault| not_found_error(&fault))?;
    let text = (kind.read)(&workspace, id).map_err(|fault| not_found_error(&fault))?;
    let contents = ResourceContents::text(text, uri).with_mime_type("application/json");
    Ok(ReadResourceResult::new(vec![contents]))
}

/// Keeps the document of a refusal: its reason and next step are in the data.
fn not_found_error(fault: &ServiceError) -> ErrorData {
    ErrorData::resource_not_found(fault.to_string(), Some(fault.answer().to_document()))
}
