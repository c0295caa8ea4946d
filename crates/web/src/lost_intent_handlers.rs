//! The addresses of what merges lost: the list, one merge, and decisions about one place.

use crate::page_request::{PageRequest, document, page};
use crate::pages;
use crate::pages::merge_decision::PlacePreview;
use crate::url_text::FormValues;
use axum::body::Bytes;
use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::Response;
use probity_core::Digest;
use probity_core::ReasonCode;
use probity_documents::ChosenState;
use probity_review::lost_intents::{
    self, ConflictRequest, FindingAction, FindingOutcome, FindingRequest, conflict_digest,
};
use probity_workspace::ServiceError;
use std::sync::PoisonError;

pub(crate) async fn merges(request: PageRequest) -> Response {
    let found = request.ask(|state| {
        let workspace = state.workspace()?;
        let working = lost_intents::merge_in_progress(&workspace)?;
        let documents = lost_intents::document_merges(&workspace)?;
        Ok((state.recent_merges(&workspace)?, working, documents))
    });
    request.answer_with(
        "merge",
        found.await,
        |(range, ..)| &**range,
        |frame, (range, working, documents)| pages::merge::merges(frame, range, working.as_ref(), documents),
    )
}

pub(crate) async fn merge(request: PageRequest, Path(name): Path<String>) -> Response {
    let found = request.ask(move |state| lost_intents::merge_audit(&state.workspace()?, &name)).await;
    let place = request.query.text("place");
    request.answer("merge", found, |frame, audit| pages::merge_place::git_merge(frame, audit, place))
}

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

fn no_such_place() -> ServiceError {
    ServiceError::refused(ReasonCode::InputMissing, "the merge has no such place: load it again")
}

fn no_such_action<E>(_: E) -> ServiceError {
    ServiceError::refused(ReasonCode::UsageInvalid, "there is no such action")
}

/// What a form about a place must be about.
fn form_subject(kind: &str, action: &str, merge: &str, place: &str) -> String {
    format!("{kind}\0{action}\0{merge}\0{place}")
}

pub(crate) async fn finding_preview(
    request: PageRequest,
    Path((name, action)): Path<(String, String)>,
) -> Response {
    let place = request.query.text("place").unwrap_or_default().to_owned();
    let subject = form_subject("finding", &action, &name, &place);
    let found = request.ask(move |state| {
        let action: FindingAction = action.parse().map_err(no_such_action)?;
        let workspace = state.workspace()?;
        let audit = lost_intents::merge_audit(&workspace, &name)?;
        let finding = audit.findings.iter().find(|one| one.id == place).ok_or_else(no_such_place)?;
        let restoration = match action {
            FindingAction::Restore => Some(lost_intents::preview_restoration(&workspace, &name, &place)?),
            FindingAction::Accept => None,
        };
        Ok(PlacePreview::of_finding(&audit, finding, action, restoration.as_ref()))
    });
    show_preview(&request, &subject, found.await)
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

fn show_preview(request: &PageRequest, subject: &str, found: Result<PlacePreview, ServiceError>) -> Response {
    request.show("merge", found, |frame, about| {
        pages::merge_decision::preview(frame, &about, &request.form_token(subject))
    })
}

/// What a form about a place says.
struct PlaceForm {
    place: String,
    shown: Digest,
    why: String,
}

/// Reads a form about a place, if this session got it and the page may decide.
fn place_form(
    request: &PageRequest,
    body: &Bytes,
    (kind, action, merge): (&str, &str, &str),
) -> Result<PlaceForm, Box<Response>> {
    let place_of = |form: &FormValues| form.text("place").unwrap_or_default().to_owned();
    let form = request.own_form("merge", body, |form| form_subject(kind, action, merge, &place_of(form)))?;
    let Some(shown) = form.text("shown").and_then(|text| text.parse().ok()) else {
        let fault = ServiceError::BadInput("the form has no good `shown`".into());
        return Err(Box::new(request.refusal("merge", &fault)));
    };
    let why = form.text("why").unwrap_or_default().trim().to_owned();
    Ok(PlaceForm { place: place_of(&form), shown, why })
}

pub(crate) async fn decide_finding(
    request: PageRequest,
    Path((name, action)): Path<(String, String)>,
    body: Bytes,
) -> Response {
    let form = match place_form(&request, &body, ("finding", &action, &name)) {
        Ok(form) => form,
        Err(refusal) => return *refusal,
    };
    let merge = name.clone();
    let found = request.ask(move |state| {
        let _alone = state.decisions.lock().unwrap_or_else(PoisonError::into_inner);
        let request = FindingRequest {
            merge,
            finding: form.place,
            action: action.parse().map_err(no_such_action)?,
            by: state.person.clone(),
            why: form.why,
            shown: form.shown,
        };
        lost_intents::decide_finding(&state.workspace()?, &request)
    });
    let found = found.await;
    request.state.forget_merges();
    request.respond("merge", found, |frame, outcome| match outcome {
        FindingOutcome::Accepted(answer) if request.wants_json() => document(&*answer),
        FindingOutcome::Restored(answer) if request.wants_json() => document(&*answer),
        outcome => page(StatusCode::OK, pages::merge_decision::finding_decided(frame, &name, &outcome)),
    })
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
