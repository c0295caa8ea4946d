//! The addresses of what merges lost: the list, one merge, and decisions about one place.

use crate::page_request::{PageRequest, Shared, ask, document, is_own_form, page};
use crate::pages;
use crate::pages::merge::PlacePreview;
use crate::session::SessionId;
use crate::url_text::FormValues;
use axum::Extension;
use axum::body::Bytes;
use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use probity_core::Digest;
use probity_core::ReasonCode;
use probity_documents::ChosenState;
use probity_review::lost_intents::{
    self, ConflictRequest, FindingAction, FindingOutcome, FindingRequest, conflict_digest,
};
use probity_workspace::ServiceError;
use std::sync::PoisonError;

pub(crate) async fn merges(
    State(state): State<Shared>,
    headers: HeaderMap,
    RawQuery(query): RawQuery,
) -> Response {
    let asked = PageRequest::new(headers, query);
    let found = ask(&state, |state| {
        let workspace = state.workspace()?;
        let working = lost_intents::merge_in_progress(&workspace)?;
        let documents = lost_intents::document_merges(&workspace)?;
        Ok((state.recent_merges(&workspace)?, working, documents))
    })
    .await;
    let frame = asked.frame(&state, "merge");
    match found {
        Ok((range, ..)) if asked.wants_json() => document(&*range),
        Ok((range, working, documents)) => {
            page(StatusCode::OK, pages::merge::merges(&frame, &range, working.as_ref(), &documents))
        }
        Err(fault) => asked.refusal(&frame, &fault),
    }
}

pub(crate) async fn merge(
    State(state): State<Shared>,
    Path(name): Path<String>,
    headers: HeaderMap,
    RawQuery(query): RawQuery,
) -> Response {
    let asked = PageRequest::new(headers, query);
    let found = ask(&state, move |state| lost_intents::merge_audit(&state.workspace()?, &name)).await;
    let place = asked.query.text("place").map(str::to_owned);
    asked.answer(&state, "merge", found, |frame, audit| {
        pages::merge::git_merge(frame, audit, place.as_deref())
    })
}

pub(crate) async fn document_merge(
    State(state): State<Shared>,
    Path(name): Path<String>,
    headers: HeaderMap,
    RawQuery(query): RawQuery,
) -> Response {
    let asked = PageRequest::new(headers, query);
    let found = ask(&state, move |state| lost_intents::document_merge(&state.workspace()?, &name)).await;
    let place = asked.query.text("place").map(str::to_owned);
    asked.answer(&state, "merge", found, |frame, merge| {
        pages::merge::document_merge(frame, merge, place.as_deref())
    })
}

fn nothing_pending() -> ServiceError {
    ServiceError::refused(
        ReasonCode::InputMissing,
        "the document store has one head: nothing waits to be merged",
    )
}

pub(crate) async fn pending_heads(
    State(state): State<Shared>,
    headers: HeaderMap,
    RawQuery(query): RawQuery,
) -> Response {
    let asked = PageRequest::new(headers, query);
    let found = ask(&state, |state| {
        let (pending, _) = lost_intents::pending_merges(&state.workspace()?)?;
        pending.into_iter().next().ok_or_else(nothing_pending)
    })
    .await;
    let place = asked.query.text("place").map(str::to_owned);
    asked.answer(&state, "merge", found, |frame, merge| {
        pages::merge::pending_merge(frame, merge, place.as_deref())
    })
}

const HEADS_SUBJECT: (&str, &str, &str) = ("heads", "reduce", "heads");

pub(crate) async fn heads_preview(
    State(state): State<Shared>,
    Extension(session): Extension<SessionId>,
    headers: HeaderMap,
) -> Response {
    let asked = PageRequest::new(headers, None);
    let (kind, action, merge) = HEADS_SUBJECT;
    let found = ask(&state, |state| {
        let (pending, shown) = lost_intents::pending_merges(&state.workspace()?)?;
        if pending.is_empty() { Err(nothing_pending()) } else { Ok(PlacePreview::of_heads(&pending, &shown)) }
    })
    .await;
    show_preview(&state, &asked, &session, &form_subject(kind, action, merge, ""), found)
}

pub(crate) async fn merge_heads(
    State(state): State<Shared>,
    Extension(session): Extension<SessionId>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let asked = PageRequest::new(headers, None);
    let form = match place_form(&state, &asked, &session, &body, HEADS_SUBJECT) {
        Ok(form) => form,
        Err(refusal) => return *refusal,
    };
    let found = ask(&state, move |state| {
        let _alone = state.decisions.lock().unwrap_or_else(PoisonError::into_inner);
        lost_intents::merge_heads(&state.workspace()?, &form.shown)
    })
    .await;
    let frame = asked.frame(&state, "merge");
    match found {
        Ok(written) => page(StatusCode::OK, pages::merge::heads_merged(&frame, &written)),
        Err(fault) => asked.refusal(&frame, &fault),
    }
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
    State(state): State<Shared>,
    Extension(session): Extension<SessionId>,
    Path((name, action)): Path<(String, String)>,
    headers: HeaderMap,
    RawQuery(query): RawQuery,
) -> Response {
    let asked = PageRequest::new(headers, query);
    let place = asked.query.text("place").unwrap_or_default().to_owned();
    let subject = form_subject("finding", &action, &name, &place);
    let found = ask(&state, move |state| {
        let action: FindingAction = action.parse().map_err(no_such_action)?;
        let workspace = state.workspace()?;
        let audit = lost_intents::merge_audit(&workspace, &name)?;
        let finding = audit.findings.iter().find(|one| one.id == place).ok_or_else(no_such_place)?;
        let restoration = match action {
            FindingAction::Restore => Some(lost_intents::preview_restoration(&workspace, &name, &place)?),
            FindingAction::Accept => None,
        };
        Ok(PlacePreview::of_finding(&audit, finding, action, restoration.as_ref()))
    })
    .await;
    show_preview(&state, &asked, &session, &subject, found)
}

pub(crate) async fn conflict_preview(
    State(state): State<Shared>,
    Extension(session): Extension<SessionId>,
    Path((name, action)): Path<(String, String)>,
    headers: HeaderMap,
    RawQuery(query): RawQuery,
) -> Response {
    let asked = PageRequest::new(headers, query);
    let place = asked.query.text("place").unwrap_or_default().to_owned();
    let subject = form_subject("conflict", &action, &name, &place);
    let found = ask(&state, move |state| {
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
    })
    .await;
    show_preview(&state, &asked, &session, &subject, found)
}

fn show_preview(
    state: &Shared,
    asked: &PageRequest,
    session: &SessionId,
    subject: &str,
    found: Result<PlacePreview, ServiceError>,
) -> Response {
    let frame = asked.frame(state, "merge");
    match found {
        Ok(about) => {
            let token = state.sessions.form_token(session, subject).unwrap_or_default();
            page(StatusCode::OK, pages::merge::preview(&frame, &about, &token))
        }
        Err(fault) => asked.refusal(&frame, &fault),
    }
}

/// What a form about a place says.
struct PlaceForm {
    place: String,
    shown: Digest,
    why: String,
}

/// Reads a form about a place, if this session got it and the page may decide.
fn place_form(
    state: &Shared,
    asked: &PageRequest,
    session: &SessionId,
    body: &Bytes,
    (kind, action, merge): (&str, &str, &str),
) -> Result<PlaceForm, Box<Response>> {
    let frame = asked.frame(state, "merge");
    if state.read_only {
        return Err(Box::new(page(StatusCode::FORBIDDEN, pages::read_only(&frame))));
    }
    let form = FormValues::parse(&String::from_utf8_lossy(body));
    let place = form.text("place").unwrap_or_default().to_owned();
    if !is_own_form(state, session, &form_subject(kind, action, merge, &place), &form) {
        return Err(Box::new(page(StatusCode::FORBIDDEN, pages::foreign_form(&frame))));
    }
    let Some(shown) = form.text("shown").and_then(|text| text.parse().ok()) else {
        let fault = ServiceError::BadInput("the form has no good `shown`".into());
        return Err(Box::new(asked.refusal(&frame, &fault)));
    };
    Ok(PlaceForm { place, shown, why: form.text("why").unwrap_or_default().trim().to_owned() })
}

pub(crate) async fn decide_finding(
    State(state): State<Shared>,
    Extension(session): Extension<SessionId>,
    Path((name, action)): Path<(String, String)>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let asked = PageRequest::new(headers, None);
    let form = match place_form(&state, &asked, &session, &body, ("finding", &action, &name)) {
        Ok(form) => form,
        Err(refusal) => return *refusal,
    };
    let merge = name.clone();
    let found = ask(&state, move |state| {
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
    })
    .await;
    state.forget_merges();
    let frame = asked.frame(&state, "merge");
    match found {
        Ok(FindingOutcome::Accepted(answer)) if asked.wants_json() => document(&*answer),
        Ok(FindingOutcome::Restored(answer)) if asked.wants_json() => document(&*answer),
        Ok(outcome) => page(StatusCode::OK, pages::merge::finding_decided(&frame, &name, &outcome)),
        Err(fault) => asked.refusal(&frame, &fault),
    }
}

pub(crate) async fn decide_conflict(
    State(state): State<Shared>,
    Extension(session): Extension<SessionId>,
    Path((name, action)): Path<(String, String)>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let asked = PageRequest::new(headers, None);
    let form = match place_form(&state, &asked, &session, &body, ("conflict", &action, &name)) {
        Ok(form) => form,
        Err(refusal) => return *refusal,
    };
    let found = ask(&state, move |state| {
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
    })
    .await;
    asked.answer(&state, "merge", found, pages::merge::conflict_decided)
}
