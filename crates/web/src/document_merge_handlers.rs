//! The addresses of what merges of documents lost, and decisions about one conflict.

use crate::page_request::PageRequest;
use crate::pages;
use crate::pages::merge_decision::PlacePreview;
use crate::place_form::{form_subject, no_such_action, no_such_place, place_form, show_preview};
use axum::body::Bytes;
use axum::extract::Path;
use axum::response::Response;
use probity_core::ReasonCode;
use probity_documents::ChosenState;
use probity_review::lost_intents::{self, ConflictRequest, conflict_digest};
use probity_workspace::ServiceError;
use std::sync::PoisonError;

pub(crate) async fn document_merge(request: PageRequest, Path(name): Path<String>) -> Response {
    let found = request.ask(move |state| lost_intents::document_merge(&state.workspace()?, &name)).await;
    let place = request.query.text("place");
    request.answer("merge", found, |frame, merge| pages::merge_place::document_merge(frame, merge, place))
}

fn nothing_pending() -> ServiceError {
    ServiceError::refused(
        ReasonCode::InputMissing,
        "the document store has one head: nothing waits to be merged",
    )
}

pub(crate) async fn pending_heads(request: PageRequest) -> Response {
    let found = request.ask(|state| {
        let (pending, _) = lost_intents::pending_merges(&state.workspace()?)?;
        pending.into_iter().next().ok_or_else(nothing_pending)
    });
    let found = found.await;
    let place = request.query.text("place");
    request.answer("merge", found, |frame, merge| pages::merge_place::pending_merge(frame, merge, place))
}

const HEADS_SUBJECT: (&str, &str, &str) = ("heads", "reduce", "heads");

pub(crate) async fn heads_preview(request: PageRequest) -> Response {
    let (kind, action, merge) = HEADS_SUBJECT;
    let found = request.ask(|state| {
        let (pending, shown) = lost_intents::pending_merges(&state.workspace()?)?;
        if pending.is_empty() { Err(nothing_pending()) } else { Ok(PlacePreview::of_heads(&pending, &shown)) }
    });
    show_preview(&request, &form_subject(kind, action, merge, ""), found.await)
}

pub(crate) async fn merge_heads(request: PageRequest, body: Bytes) -> Response {
    let form = match place_form(&request, &body, HEADS_SUBJECT) {
        Ok(form) => form,
        Err(refusal) => return *refusal,
    };
    let found = request.ask(move |state| {
        let _alone = state.decisions.lock().unwrap_or_else(PoisonError::into_inner);
        lost_intents::merge_heads(&state.workspace()?, &form.shown)
    });
    request.show("merge", found.await, |frame, written| pages::merge_decision::heads_merged(frame, &written))
}

pub(crate) async fn conflict_preview(
    request: PageRequest,
    Path((name, action)): Path<(String, String)>,
) -> Response {
    let place = request.query.text("place").unwrap_or_default().to_owned();
    let subject = form_subject("conflict", &action, &name, &place);
    let found = request.ask(move |state| {
        let choose: ChosenState = action.parse().map_err(no_such_action)?;
        let workspace = state.workspace()?;
        let merge = lost_intents::document_merge(&workspace, &name)?;
        let report = merge.conflicts.iter().find(|one| one.conflict.id == place);
        let report = report.ok_or_else(no_such_place)?;
        let request = ConflictRequest {
            merge: name,
            conflict: place,
            choose,
            by: state.person.clone(),
            why: String::new(),
            shown: conflict_digest(&merge, report),
        };
        let dry_run = lost_intents::preview_conflict(&workspace, &request)?;
        Ok(PlacePreview::of_conflict(&merge, report, choose.as_str(), &dry_run))
    });
    show_preview(&request, &subject, found.await)
}

pub(crate) async fn decide_conflict(
    request: PageRequest,
    Path((name, action)): Path<(String, String)>,
    body: Bytes,
) -> Response {
    let form = match place_form(&request, &body, ("conflict", &action, &name)) {
        Ok(form) => form,
        Err(refusal) => return *refusal,
    };
    let found = request.ask(move |state| {
        let _alone = state.decisions.lock().unwrap_or_else(PoisonError::into_inner);
        let request = ConflictRequest {
            merge: name,
            conflict: form.place,
            choose: action.parse().map_err(no_such_action)?,
            by: state.person.clone(),
            why: form.why,
            shown: form.shown,
        };
        lost_intents::decide_conflict(&state.workspace()?, &request)
    });
    request.answer("merge", found.await, pages::merge_decision::conflict_decided)
}
