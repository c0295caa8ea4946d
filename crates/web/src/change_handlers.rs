//! The addresses of one change: its page, its files, logs, evidence and findings.

use crate::page_request::PageRequest;
use crate::pages;
use crate::review_context::ReviewContext;
use crate::ui_state::UiState;
use crate::url_text::decode;
use axum::extract::Path;
use axum::response::Response;
use probity_workspace::ServiceError;
use std::sync::Arc;

/// Reads a change by the name in its address.
pub(crate) fn read_review(state: &UiState, name: &str) -> Result<ReviewContext, ServiceError> {
    let name = decode(name).and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default();
    let workspace = state.workspace()?;
    // Read first: what is newer than this number is newer than the review.
    let log_size = probity_review::log_size(&workspace)?;
    let name = probity_review::find_change(&workspace, &name)?;
    let (review, contents) = probity_review::review_with_contents(&workspace, &name)?;
    let decisions = probity_review::decisions(&workspace, Some(&review.change))?;
    let findings = state.known_findings(&review);
    Ok(ReviewContext { name, review, contents, decisions, log_size, findings })
}

pub(crate) async fn change(request: PageRequest, Path(name): Path<String>) -> Response {
    if let Some(file) = request.query.text("file").and_then(|file| file.parse().ok()) {
        return one_file(request, name, file).await;
    }
    // The uncommitted work has an entry of its own in the navigation.
    let current = if name == "worktree" { "worktree" } else { "changes" };
    let is_split = request.query.text("view") != Some("unified");
    let found = request.ask(move |state| {
        let context = state.keep_review(read_review(state, &name)?);
        let files = pages::change_files::first_files(&state.workspace()?, &context)?;
        Ok((context, files))
    });
    request.answer_with(
        current,
        found.await,
        |(context, _)| &context.review,
        |frame, (context, files)| pages::change::change(frame, context, files, is_split),
    )
}

pub(crate) async fn file(request: PageRequest, Path((name, file)): Path<(String, usize)>) -> Response {
    one_file(request, name, file).await
}

async fn one_file(request: PageRequest, name: String, file: usize) -> Response {
    let is_split = request.query.text("view") != Some("unified");
    let is_whole = request.query.text("all").is_some();
    let shown = request.query.text("v").map(str::to_owned);
    let found = request.ask(move |state| {
        let kept = shown.and_then(|shown| state.kept_review(&shown));
        let context = match kept {
            // Findings that were compared since stand beside the lines.
            Some(context)
                if context.findings.is_some() || state.known_findings(&context.review).is_none() =>
            {
                context
            }
            _ => state.keep_review(read_review(state, &name)?),
        };
        let sides = pages::change_files::sides_of(&state.workspace()?, &context, file)?;
        Ok((context, sides))
    });
    request.show("changes", found.await, |frame, (context, sides)| {
        pages::change_files::one_file(frame, &context, file, &sides, is_split, is_whole)
    })
}

pub(crate) async fn gate_log(request: PageRequest, Path((name, gate)): Path<(String, usize)>) -> Response {
    let from = request.query.text("from").and_then(|from| from.parse().ok()).unwrap_or(0);
    let found = request.ask(move |state| {
        let context = read_review(state, &name)?;
        let logs = pages::gate_log::read_logs(&state.workspace()?, &context, gate)?;
        Ok((context, logs))
    });
    request.show("changes", found.await, |frame, (context, logs)| {
        pages::gate_log::gate_log(frame, &context, gate, &logs, from)
    })
}

pub(crate) async fn evidence(request: PageRequest, Path(name): Path<String>) -> Response {
    let found = request.ask(move |state| {
        let context = read_review(state, &name)?;
        let bundle = context.review.bundle.as_ref();
        let proof = match bundle {
            Some(bundle) => probity_runner::log_proofs::prove(&state.workspace()?, bundle, None).ok(),
            None => None,
        };
        Ok((context, proof))
    });
    request.show("changes", found.await, |frame, (context, proof)| {
        pages::evidence::evidence(frame, &context.review, proof.as_ref())
    })
}

pub(crate) async fn findings(request: PageRequest, Path(name): Path<String>) -> Response {
    let found = request.ask(move |state| {
        let mut context = read_review(state, &name)?;
        let findings = state.findings(&context)?;
        context.findings = Some(Arc::clone(&findings));
        Ok((context, findings))
    });
    request.answer_with(
        "changes",
        found.await,
        |(_, findings)| &**findings,
        |frame, (context, findings)| pages::findings::findings(frame, &context.review, findings),
    )
}
