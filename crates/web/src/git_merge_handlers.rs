//! The addresses of what merges of git lost: the list, one merge, and decisions about one finding.

use crate::page_request::{PageRequest, document, page};
use crate::pages;
use crate::pages::merge_decision::PlacePreview;
use crate::place_form::{form_subject, no_such_action, no_such_place, place_form, show_preview};
use axum::body::Bytes;
use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::Response;
use probity_review::lost_intents::{self, FindingAction, FindingOutcome, FindingRequest};
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
