//! The newest entries of the log in words.

use probity_api::review::{DecisionRecord, LogFeedLine};
use probity_changes::registry::IntentService;
use probity_changes::registry::view::format_time;
use probity_core::json;
use probity_core::text::short_id;
use probity_intents::registry::{RegistryChange, RegistryEvent};
use probity_runner::bundles;
use probity_storage::ListedLeaf;
use probity_workspace::transparency_log::{BUNDLE_LOG, DECISION_LOG, INTENT_LOG, LEDGER_LOG, RECEIPT_LOG};
use probity_workspace::{ServiceError, Workspace};
use serde::Deserialize;

/// Returns the number of entries in the log.
pub fn log_size(workspace: &Workspace) -> Result<u64, ServiceError> {
    Ok(match workspace.state.existing_store()? {
        Some(store) => store.log_size()?,
        None => 0,
    })
}

/// Returns the entries from number `from` on, at most `limit`, oldest first.
pub fn log_feed(workspace: &Workspace, from: u64, limit: usize) -> Result<Vec<LogFeedLine>, ServiceError> {
    let Some(store) = workspace.state.existing_store()? else { return Ok(Vec::new()) };
    let leaves = store.leaves_after(from, limit)?;
    let intents = if leaves.iter().any(|leaf| leaf.leaf.log == INTENT_LOG) {
        Some(IntentService::open(workspace)?)
    } else {
        None
    };
    Ok(leaves.iter().map(|leaf| line(workspace, intents.as_ref(), leaf)).collect())
}

fn line(workspace: &Workspace, intents: Option<&IntentService>, listed: &ListedLeaf) -> LogFeedLine {
    let leaf = &listed.leaf;
    let plain = |words: String| LogFeedLine {
        index: listed.number,
        log: leaf.log.clone(),
        who: None,
        words,
        at: None,
        change: None,
    };
    match leaf.log.as_str() {
        BUNDLE_LOG => bundle_line(workspace, &leaf.name, plain(String::new())),
        INTENT_LOG => {
            let event =
                json::parse(&leaf.event).ok().and_then(|value| RegistryEvent::deserialize(&value).ok());
            match event {
                Some(event) => intent_line(intents, &event, plain(String::new())),
                None => plain(format!("event {} of the registry", leaf.seq)),
            }
        }
        RECEIPT_LOG => plain(format!("receipt {} was written", leaf.name)),
        LEDGER_LOG => plain("the ledger grew".into()),
        DECISION_LOG => {
            let record =
                json::parse(&leaf.event).ok().and_then(|value| DecisionRecord::deserialize(&value).ok());
            match record {
                Some(record) => LogFeedLine {
                    words: format!("decided: {}, {}", record.action.phrase(), short_id(&record.change)),
                    who: Some(record.by),
                    at: Some(record.at),
                    change: Some(record.change),
                    ..plain(String::new())
                },
                None => plain("a decision that cannot be read".into()),
            }
        }
        other => plain(format!("{other}: {}", leaf.name)),
    }
}

fn bundle_line(workspace: &Workspace, run_id: &str, line: LogFeedLine) -> LogFeedLine {
    let change = Some(run_id.to_owned());
    let Ok(stored) = bundles::manifest(workspace, run_id) else {
        return LogFeedLine {
            words: format!("run {} was judged; its bundle is gone", short_id(run_id)),
            ..line
        };
    };
    let manifest = &stored.manifest;
    let details = &manifest.details;
    let verdict = match crate::run_review::why_not_passed(manifest) {
        None => "passed".to_owned(),
        Some(why) => format!("did not pass: {why}"),
    };
    let words = if details.lands.is_some() {
        if manifest.reasons().is_empty() {
            "held changes landed".to_owned()
        } else {
            format!("held changes did not land: the part {verdict}")
        }
    } else if details.reverts.is_some() {
        "a run was undone".to_owned()
    } else if details.pruned.is_some() {
        "old evidence was removed".to_owned()
    } else if details.amended_from.is_some() {
        format!("judged again after an amendment: {verdict}")
    } else {
        format!("run {} {verdict}", short_id(run_id))
    };
    // What Probity itself did is told without a name.
    let is_own = details.lands.is_some() || details.reverts.is_some() || details.pruned.is_some();
    LogFeedLine {
        words,
        who: crate::run_review::agent_name(manifest).filter(|_| !is_own),
        at: Some(manifest.created_at.clone()),
        change,
        ..line
    }
}

fn intent_line(service: Option<&IntentService>, event: &RegistryEvent, line: LogFeedLine) -> LogFeedLine {
    let id = event.change.intent_id();
    let about = id.and_then(|id| service?.registry().intent(id)).map(|intent| intent.description.clone());
    let about = about.or_else(|| id.map(|id| short_id(id.as_str()).to_owned())).unwrap_or_default();
    let words = match &event.change {
        RegistryChange::Granted { .. } => format!("started: {about}"),
        RegistryChange::Queued { .. } => format!("queued: {about}"),
        RegistryChange::Promoted { .. } => format!("left the queue: {about}"),
        RegistryChange::Renewed { .. } => "renewed its lease".to_owned(),
        RegistryChange::Amended { amendment, .. } => format!("widened its scope: {}", amendment.why),
        RegistryChange::Released { .. } => format!("finished: {about}"),
        RegistryChange::Landed { branch, .. } => format!("landed on {branch}: {about}"),
        RegistryChange::Cleared { .. } => format!("gave up: {about}"),
        RegistryChange::Recovered { .. } => format!("took over: {about}"),
        RegistryChange::Collected { .. } => "closed old intents were removed".to_owned(),
        RegistryChange::LogAccepted { clone, why, .. } => {
            format!("accepted the log of clone {}: {why}", short_id(clone))
        }
    };
    LogFeedLine {
        words,
        who: Some(event.by.label.clone()),
        at: Some(format_time(event.at)),
        change: id.map(|id| id.as_str().to_owned()),
        ..line
    }
}
