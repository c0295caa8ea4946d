//! The form of a decision about one place of a merge, and its preview.

use crate::page_request::PageRequest;
use crate::pages;
use crate::pages::merge_decision::PlacePreview;
use crate::url_text::FormValues;
use axum::body::Bytes;
use axum::response::Response;
use probity_core::{Digest, ReasonCode};
use probity_workspace::ServiceError;

pub(crate) fn no_such_place() -> ServiceError {
    ServiceError::refused(ReasonCode::InputMissing, "the merge has no such place: load it again")
}

pub(crate) fn no_such_action<E>(_: E) -> ServiceError {
    ServiceError::refused(ReasonCode::UsageInvalid, "there is no such action")
}

/// What a form about a place must be about.
pub(crate) fn form_subject(kind: &str, action: &str, merge: &str, place: &str) -> String {
    format!("{kind}\0{action}\0{merge}\0{place}")
}

pub(crate) fn show_preview(
    request: &PageRequest,
    subject: &str,
    found: Result<PlacePreview, ServiceError>,
) -> Response {
    request.show("merge", found, |frame, about| {
        pages::merge_decision::preview(frame, &about, &request.form_token(subject))
    })
}

/// What a form about a place says.
pub(crate) struct PlaceForm {
    pub(crate) place: String,
    pub(crate) shown: Digest,
    pub(crate) why: String,
}

/// Reads a form about a place, if this session got it and the page may decide.
pub(crate) fn place_form(
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
