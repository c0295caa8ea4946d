//! One request for a page, and the answers to it: a page, or a document for programs.

use crate::pages::{self, PageFrame};
use crate::request_guard::cookie;
use crate::session::SessionId;
use crate::ui_state::UiState;
use crate::url_text::FormValues;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use maud::Markup;
use probity_api::Answer;
use probity_core::Digest;
use probity_workspace::ServiceError;
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

/// Runs a question on the services where it may block.
pub(crate) async fn ask<T: Send + 'static>(
    state: &Shared,
    question: impl FnOnce(&UiState) -> Result<T, ServiceError> + Send + 'static,
) -> Result<T, ServiceError> {
    let _place = state.questions.acquire().await;
    let shared = Arc::clone(state);
    let answer = tokio::task::spawn_blocking(move || question(&shared)).await;
    answer.unwrap_or_else(|error| {
        Err(ServiceError::System {
            what: "the question was not answered".into(),
            source: std::io::Error::other(error),
        })
    })
}

/// What a handler needs of a request.
#[derive(Debug, Clone)]
pub(crate) struct PageRequest {
    pub(crate) headers: HeaderMap,
    pub(crate) query: FormValues,
}

impl PageRequest {
    pub(crate) fn new(headers: HeaderMap, query: Option<String>) -> Self {
        Self { headers, query: FormValues::parse(&query.unwrap_or_default()) }
    }

    pub(crate) fn wants_json(&self) -> bool {
        let accept =
            self.headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
        accept.contains("application/json") && !accept.contains("text/html")
    }

    pub(crate) fn frame(&self, state: &UiState, current: &'static str) -> PageFrame {
        let theme = cookie(&self.headers, "probity_theme").filter(|word| matches!(*word, "light" | "dark"));
        let mut frame = PageFrame::new(state, current);
        frame.theme = theme.map(str::to_owned);
        frame
    }

    /// Answers with a document or a page; a refusal is a page, too.
    pub(crate) fn answer<A: Answer>(
        &self,
        state: &Shared,
        current: &'static str,
        found: Result<A, ServiceError>,
        show: impl FnOnce(&PageFrame, &A) -> Markup,
    ) -> Response {
        let frame = self.frame(state, current);
        match found {
            Ok(answer) if self.wants_json() => document(&answer),
            Ok(answer) => page(StatusCode::OK, show(&frame, &answer)),
            Err(fault) => self.refusal(&frame, &fault),
        }
    }

    pub(crate) fn refusal(&self, frame: &PageFrame, fault: &ServiceError) -> Response {
        let status = match fault.exit_code() {
            probity_api::ExitCode::Conflict => StatusCode::CONFLICT,
            probity_api::ExitCode::Internal => StatusCode::INTERNAL_SERVER_ERROR,
            _ if fault.code() == "DECISION.TOO_LATE" => StatusCode::CONFLICT,
            _ => StatusCode::UNPROCESSABLE_ENTITY,
        };
        if self.wants_json() {
            return (status, document(&fault.answer())).into_response();
        }
        page(status, pages::refusal(frame, fault))
    }
}

/// Returns whether this session got the form, for this subject. Digests are compared, so the time tells nothing.
pub(crate) fn is_own_form(state: &UiState, session: &SessionId, subject: &str, form: &FormValues) -> bool {
    state.sessions.form_token(session, subject).is_some_and(|expected| {
        Digest::of(expected.as_bytes()) == Digest::of(form.bytes("token").unwrap_or_default())
    })
}
