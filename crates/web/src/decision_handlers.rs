//! The addresses of the decisions about a change: what each will do, and doing it.

use crate::change_handlers::read_review;
use crate::page_request::PageRequest;
use crate::pages;
use crate::url_text::FormValues;
use axum::body::Bytes;
use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use probity_api::review::{ChangeReview, DecisionAction};
use probity_paths::RepoPath;
use probity_review::DecisionRequest;
use probity_workspace::ServiceError;
use std::sync::PoisonError;

/// What a form of an action must be about.
fn form_subject(change: &str, action: DecisionAction) -> String {
    format!("{action}\0{change}")
}

pub(crate) async fn preview(request: PageRequest, Path((name, action)): Path<(String, String)>) -> Response {
    let found = request.ask(move |state| Ok(state.keep_review(read_review(state, &name)?)));
    let found = found.await.and_then(|context| {
        let option = find_option(&context.review, &action)?.clone();
        Ok((context, option))
    });
    request.show("changes", found, |frame, (context, option)| {
        let token = request.form_token(&form_subject(&context.review.change, option.action));
        let id = probity_workspace::clock::run_id();
        pages::preview::preview(frame, &context.review, &option, &token, &id)
    })
}

fn find_option<'r>(
    review: &'r ChangeReview,
    action: &str,
) -> Result<&'r probity_api::review::DecisionOption, ServiceError> {
    review.options.iter().find(|option| option.action.as_str() == action).ok_or_else(|| {
        ServiceError::refused(
            probity_core::ReasonCode::DecisionTooLate,
            format!("`{action}` is not possible while the change is {}", review.state),
        )
    })
}

pub(crate) async fn decide(
    request: PageRequest,
    Path((name, action)): Path<(String, String)>,
    body: Bytes,
) -> Response {
    let Ok(action) = action.parse::<DecisionAction>() else {
        return (StatusCode::NOT_FOUND, "there is no such action\n").into_response();
    };
    let subject = |form: &FormValues| form_subject(form.text("change").unwrap_or_default(), action);
    let form = match request.own_form("changes", &body, subject) {
        Ok(form) => form,
        Err(refusal) => return *refusal,
    };
    let found = request.ask(move |state| {
        let _alone = state.decisions.lock().unwrap_or_else(PoisonError::into_inner);
        let request = decision_request(&form, action, &state.person)?;
        let answer = probity_review::decide(&state.workspace()?, &request)?;
        state.forget_board();
        Ok(answer)
    });
    request.answer("changes", found.await, |frame, answer| pages::preview::decided(frame, &name, answer))
}

fn decision_request(
    form: &FormValues,
    action: DecisionAction,
    person: &str,
) -> Result<DecisionRequest, ServiceError> {
    let bad = |what: &str| ServiceError::BadInput(format!("the form has no good `{what}`"));
    let shown = form.text("shown").and_then(|text| text.parse().ok()).ok_or_else(|| bad("shown"))?;
    let paths: Result<Vec<RepoPath>, _> = form.all("path").map(RepoPath::parse).collect();
    let add = form.bytes("add").unwrap_or_default().split(|byte| *byte == b'\n');
    let add = add.map(|line| line.trim_ascii().to_vec()).filter(|line| !line.is_empty());
    let id = form.text("id").filter(|id| !id.is_empty() && id.len() <= 64).ok_or_else(|| bad("id"))?;
    Ok(DecisionRequest {
        change: form.text("change").unwrap_or_default().to_owned(),
        action,
        by: person.to_owned(),
        shown,
        id: id.to_owned(),
        why: form.text("why").map(str::trim).filter(|why| !why.is_empty()).map(str::to_owned),
        paths: paths.map_err(|_| bad("path"))?,
        add: add.collect(),
    })
}
