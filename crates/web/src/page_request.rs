//! One request for a page, and the answers to it: a page, or a document for programs.

use crate::pages::{self, PageFrame};
use crate::request_guard::cookie;
use crate::session::SessionId;
use crate::ui_state::UiState;
use crate::url_text::FormValues;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use maud::Markup;
use probity_api::Answer;
use probity_core::Digest;
use probity_workspace::ServiceError;
use std::convert::Infallible;
use std::sync::Arc;

pub(crate) type Shared = Arc<UiState>;

pub(crate) fn page(status: StatusCode, markup: Markup) -> Response {
    let html = HeaderValue::from_static("text/html; charset=utf-8");
    (status, [(header::CONTENT_TYPE, html)], markup.into_string()).into_response()
}

pub(crate) fn document<A: Answer>(answer: &A) -> Response {
    let json = HeaderValue::from_static("application/json");
    ([(header::CONTENT_TYPE, json)], answer.to_document().to_string()).into_response()
}

/// What a handler needs of a request, beside the parts of its address.
#[derive(Debug, Clone)]
pub(crate) struct PageRequest {
    pub(crate) state: Shared,
    pub(crate) headers: HeaderMap,
    pub(crate) query: FormValues,
    /// Absent at the few addresses that need no session.
    session: Option<SessionId>,
}

impl FromRequestParts<Shared> for PageRequest {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &Shared) -> Result<Self, Infallible> {
        Ok(Self {
            state: Arc::clone(state),
            headers: parts.headers.clone(),
            query: FormValues::parse(parts.uri.query().unwrap_or_default()),
            session: parts.extensions.get::<SessionId>().cloned(),
        })
    }
}

impl PageRequest {
    /// Runs a question on the services where it may block.
    pub(crate) async fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&UiState) -> Result<T, ServiceError> + Send + 'static,
    ) -> Result<T, ServiceError> {
        let _place = self.state.questions.acquire().await;
        let shared = Arc::clone(&self.state);
        let answer = tokio::task::spawn_blocking(move || question(&shared)).await;
        answer.unwrap_or_else(|error| {
            Err(ServiceError::System {
                what: "the question was not answered".into(),
                source: std::io::Error::other(error),
            })
        })
    }

    pub(crate) fn wants_json(&self) -> bool {
        let accept =
            self.headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
        accept.contains("application/json") && !accept.contains("text/html")
    }

    fn frame(&self, current: &'static str) -> PageFrame {
        let theme = cookie(&self.headers, "probity_theme").filter(|word| matches!(*word, "light" | "dark"));
        let mut frame = PageFrame::new(&self.state, current);
        frame.theme = theme.map(str::to_owned);
        frame
    }

    /// Answers with what `respond` makes of the value; a refusal is a page or a document, too.
    pub(crate) fn respond<T>(
        &self,
        current: &'static str,
        found: Result<T, ServiceError>,
        respond: impl FnOnce(&PageFrame, T) -> Response,
    ) -> Response {
        match found {
            Ok(value) => respond(&self.frame(current), value),
            Err(fault) => self.refusal(current, &fault),
        }
    }

    /// Answers with a page.
    pub(crate) fn show<T>(
        &self,
        current: &'static str,
        found: Result<T, ServiceError>,
        show: impl FnOnce(&PageFrame, T) -> Markup,
    ) -> Response {
        self.respond(current, found, |frame, value| page(StatusCode::OK, show(frame, value)))
    }

    /// Answers with a document or a page, as the request wants it.
    pub(crate) fn answer<A: Answer>(
        &self,
        current: &'static str,
        found: Result<A, ServiceError>,
        show: impl FnOnce(&PageFrame, &A) -> Markup,
    ) -> Response {
        self.answer_with(current, found, |answer| answer, show)
    }

    /// Answers with the document in what was found, or with a page of all of it.
    pub(crate) fn answer_with<T, A: Answer>(
        &self,
        current: &'static str,
        found: Result<T, ServiceError>,
        answer: impl FnOnce(&T) -> &A,
        show: impl FnOnce(&PageFrame, &T) -> Markup,
    ) -> Response {
        self.respond(current, found, |frame, value| {
            if self.wants_json() {
                document(answer(&value))
            } else {
                page(StatusCode::OK, show(frame, &value))
            }
        })
    }

    pub(crate) fn refusal(&self, current: &'static str, fault: &ServiceError) -> Response {
        let status = match fault.exit_code() {
            probity_api::ExitCode::Conflict => StatusCode::CONFLICT,
            probity_api::ExitCode::Internal => StatusCode::INTERNAL_SERVER_ERROR,
            _ if fault.code() == "DECISION.TOO_LATE" => StatusCode::CONFLICT,
            _ => StatusCode::UNPROCESSABLE_ENTITY,
        };
        if self.wants_json() {
            return (status, document(&fault.answer())).into_response();
        }
        page(status, pages::refusal(&self.frame(current), fault))
    }

    /// Returns the token that a form of this session about `subject` must bring.
    pub(crate) fn form_token(&self, subject: &str) -> String {
        let token =
            self.session.as_ref().and_then(|session| self.state.sessions.form_token(session, subject));
        token.unwrap_or_default()
    }

    /// Reads a form, if the page may decide and this session got the form, about the subject that it names.
    pub(crate) fn own_form(
        &self,
        current: &'static str,
        body: &[u8],
        subject: impl FnOnce(&FormValues) -> String,
    ) -> Result<FormValues, Box<Response>> {
        if self.state.read_only {
            let refusal = pages::read_only(&self.frame(current));
            return Err(Box::new(page(StatusCode::FORBIDDEN, refusal)));
        }
        let form = FormValues::parse(&String::from_utf8_lossy(body));
        let expected = self.form_token(&subject(&form));
        let given = form.bytes("token").unwrap_or_default();
        // Digests are compared, so the time tells nothing. Without a session there is no token to match.
        if expected.is_empty() || Digest::of(expected.as_bytes()) != Digest::of(given) {
            let refusal = pages::foreign_form(&self.frame(current));
            return Err(Box::new(page(StatusCode::FORBIDDEN, refusal)));
        }
        Ok(form)
    }
}
