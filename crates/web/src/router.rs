//! The addresses of the page, and what each of them calls.

use crate::assets;
use crate::events::{self, MAX_MISSED_ENTRIES};
use crate::knowledge_handlers;
use crate::lost_intent_handlers as lost;
use crate::page_event::PageEvent;
use crate::page_request::{PageRequest, Shared, page};
use crate::pages;
use crate::request_guard::guard;
use crate::review_context::ReviewContext;
use crate::ui_state::UiState;
use crate::url_text::{FormValues, decode};
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Router, middleware};
use probity_api::review::{ChangeReview, DecisionAction};
use probity_paths::RepoPath;
use probity_review::DecisionRequest;
use probity_workspace::ServiceError;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

/// The largest body of a request: a form with its paths.
const MAX_BODY_BYTES: usize = 64 * 1024;

pub(crate) fn router(state: Shared) -> Router {
    Router::new()
        .route("/", get(|| async { redirect("/board") }))
        .route("/enter", get(enter))
        .route("/board", get(board))
        .route("/c", get(changes))
        .route("/c/{change}", get(change))
        .route("/c/{change}/f/{file}", get(file))
        .route("/c/{change}/log/{gate}", get(gate_log))
        .route("/c/{change}/evidence", get(evidence))
        .route("/c/{change}/findings", get(findings))
        .route("/c/{change}/do/{action}", get(preview).post(decide))
        .route("/merge", get(lost::merges))
        .route("/merge/heads", get(lost::pending_heads))
        .route("/merge/heads/do/reduce", get(lost::heads_preview).post(lost::merge_heads))
        .route("/merge/{merge}", get(lost::merge))
        .route("/merge/{merge}/do/{action}", get(lost::finding_preview).post(lost::decide_finding))
        .route("/merge/documents/{merge}", get(lost::document_merge))
        .route(
            "/merge/documents/{merge}/do/{action}",
            get(lost::conflict_preview).post(lost::decide_conflict),
        )
        .route("/ledger", get(knowledge_handlers::ledger))
        .route("/ledger/{handle}", get(knowledge_handlers::ledger_item))
        .route(
            "/ledger/{handle}/do/keep",
            get(knowledge_handlers::contradiction_preview).post(knowledge_handlers::settle_contradiction),
        )
        .route("/code", get(knowledge_handlers::code))
        .route("/why/{revision}", get(why))
        .route("/log", get(log))
        .route("/events", get(event_stream))
        .route("/find", get(find))
        .route("/csp", post(violation).get(violations))
        .route("/s/{asset}", get(asset))
        .fallback(|| async { (StatusCode::NOT_FOUND, "there is no such page\n") })
        .layer(DefaultBodyLimit::max(MAX_BODY_BYTES))
        .layer(middleware::from_fn_with_state(Arc::clone(&state), guard))
        .with_state(state)
}

fn redirect(address: &str) -> Response {
    let location = HeaderValue::from_str(address).unwrap_or(HeaderValue::from_static("/board"));
    (StatusCode::SEE_OTHER, [(header::LOCATION, location)]).into_response()
}

async fn enter(request: PageRequest) -> Response {
    let session = request.state.sessions.enter(request.query.text("t").unwrap_or_default());
    let Ok(Some(session)) = session else { return pages::entry::used_up() };
    let cookie =
        format!("{}={}; HttpOnly; SameSite=Strict; Path=/", request.state.cookie_name(), session.as_str());
    let mut answer = page(StatusCode::OK, pages::entry::entered());
    let headers = answer.headers_mut();
    headers
        .insert(header::SET_COOKIE, HeaderValue::from_str(&cookie).unwrap_or(HeaderValue::from_static("")));
    // Not a redirect: a browser that was sent here by another site would not show the cookie on it.
    headers.insert("refresh", HeaderValue::from_static("0; url=/board"));
    answer
}

async fn board(request: PageRequest) -> Response {
    if matches!(request.query.text("show"), Some("landed" | "all")) {
        return redirect("/c");
    }
    let found = request.ask(|state| state.board().map(|board| (*board).clone())).await;
    request.answer("board", found, pages::board::board)
}

async fn changes(request: PageRequest) -> Response {
    let found = request.ask(|state| {
        let workspace = state.workspace()?;
        let finished = probity_review::finished_changes(&workspace, pages::lists::MAX_LISTED_CHANGES)?;
        Ok((finished, state.board()?))
    });
    request.show("changes", found.await, |frame, (finished, board)| {
        pages::lists::changes(frame, &finished, &board)
    })
}

fn read_review(state: &UiState, name: &str) -> Result<ReviewContext, ServiceError> {
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

async fn change(request: PageRequest, Path(name): Path<String>) -> Response {
    if let Some(file) = request.query.text("file").and_then(|file| file.parse().ok()) {
        return one_file(request, name, file).await;
    }
    let is_split = request.query.text("view") != Some("unified");
    let found = request.ask(move |state| {
        let context = state.keep_review(read_review(state, &name)?);
        let files = pages::change_files::first_files(&state.workspace()?, &context)?;
        Ok((context, files))
    });
    request.answer_with(
        "changes",
        found.await,
        |(context, _)| &context.review,
        |frame, (context, files)| pages::change::change(frame, context, files, is_split),
    )
}

async fn file(request: PageRequest, Path((name, file)): Path<(String, usize)>) -> Response {
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

async fn gate_log(request: PageRequest, Path((name, gate)): Path<(String, usize)>) -> Response {
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

async fn evidence(request: PageRequest, Path(name): Path<String>) -> Response {
    let found = request.ask(move |state| {
        let context = read_review(state, &name)?;
        let proof = probity_runner::log_proofs::prove(&state.workspace()?, &context.review.change, None).ok();
        Ok((context, proof))
    });
    request.show("changes", found.await, |frame, (context, proof)| {
        pages::evidence::evidence(frame, &context.review, proof.as_ref())
    })
}

async fn findings(request: PageRequest, Path(name): Path<String>) -> Response {
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

/// What a form of an action must be about.
fn form_subject(change: &str, action: DecisionAction) -> String {
    format!("{action}\0{change}")
}

async fn preview(request: PageRequest, Path((name, action)): Path<(String, String)>) -> Response {
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

async fn decide(request: PageRequest, Path((name, action)): Path<(String, String)>, body: Bytes) -> Response {
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

/// A place in a file, such as `src/a.rs:3`.
fn place_of(text: &str) -> Option<(RepoPath, usize)> {
    let (path, line) = text.rsplit_once(':')?;
    Some((RepoPath::parse(path.as_bytes()).ok()?, line.parse().ok()?))
}

async fn why(request: PageRequest, Path(revision): Path<String>) -> Response {
    let path = request.query.bytes("path").and_then(|path| RepoPath::parse(path).ok());
    let line = request.query.text("line").and_then(|line| line.parse().ok());
    let (Some(path), Some(line)) = (path, line) else {
        let fault = ServiceError::BadInput("the address names no path and line".into());
        return request.refusal("changes", &fault);
    };
    let found = request.ask(move |state| {
        let workspace = state.workspace()?;
        let answer = probity_review::line_origin(&workspace, Some(&revision), &path, line)?;
        let (first, lines) = probity_review::lines_around(&workspace, &answer, pages::why::LINES_AROUND)?;
        Ok((answer, first, lines))
    });
    request.answer_with(
        "changes",
        found.await,
        |(answer, ..)| answer,
        |frame, (answer, first, lines)| pages::why::why(frame, answer, *first, lines),
    )
}

async fn log(request: PageRequest) -> Response {
    let from: Option<u64> = request.query.text("from").and_then(|from| from.parse().ok());
    let found = request.ask(move |state| {
        let workspace = state.workspace()?;
        let size = probity_review::log_size(&workspace)?;
        let page = pages::lists::LOG_PAGE_LINES;
        let from = from.unwrap_or(size.saturating_sub(page));
        let lines = probity_review::log_feed(&workspace, from, usize::try_from(page).unwrap_or(0))?;
        Ok((size, from, lines))
    });
    request
        .show("log", found.await, |frame, (size, from, lines)| pages::lists::log(frame, size, from, &lines))
}

async fn event_stream(request: PageRequest) -> Response {
    // Heard from now on, so that nothing falls between what was missed and what comes.
    let events = request.state.events.subscribe();
    let last = request.headers.get("last-event-id").and_then(|value| value.to_str().ok());
    let from: Option<u64> = last.or(request.query.text("from")).and_then(|from| from.parse().ok());
    let missed = request.ask(move |state| {
        let workspace = state.workspace()?;
        let size = probity_review::log_size(&workspace)?;
        let from = from.unwrap_or(size);
        if from > size || size - from > MAX_MISSED_ENTRIES {
            return Ok(PageEvent::Resync { size });
        }
        let n_missed = usize::try_from(size - from).unwrap_or(0);
        let lines = Arc::new(probity_review::log_feed(&workspace, from, n_missed)?);
        Ok(PageEvent::Log { size, lines })
    });
    match missed.await {
        Ok(missed) => events::stream(&missed, events).into_response(),
        Err(fault) => (StatusCode::INTERNAL_SERVER_ERROR, fault.to_string()).into_response(),
    }
}

async fn find(request: PageRequest) -> Response {
    let wanted = request.query.text("q").unwrap_or_default().trim().to_owned();
    if let Some((path, line)) = place_of(&wanted) {
        return redirect(&format!(
            "/why/worktree?path={}&line={line}",
            crate::url_text::encode(path.as_bytes())
        ));
    }
    let found = request.ask(move |state| probity_review::find_change(&state.workspace()?, &wanted)).await;
    request.respond("changes", found, |_, name| redirect(&pages::change_address(&name.address())))
}

async fn violation(State(state): State<Shared>) -> StatusCode {
    let n_seen = state.n_violations.fetch_add(1, Ordering::Relaxed) + 1;
    tracing::warn!(n_seen, "a browser reports content that the policy of the page forbids");
    StatusCode::NO_CONTENT
}

/// How often a browser found something that the policy of the page forbids.
async fn violations(State(state): State<Shared>) -> String {
    state.n_violations.load(Ordering::Relaxed).to_string()
}

async fn asset(Path(name): Path<String>) -> Response {
    let Some(asset) = assets::find(&format!("/s/{name}")) else {
        return (StatusCode::NOT_FOUND, "there is no such file\n").into_response();
    };
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(asset.media_type)),
        (header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=31536000, immutable")),
    ];
    (headers, Body::from(asset.content)).into_response()
}
