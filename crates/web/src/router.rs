//! The addresses of the page, and what each of them calls.

use crate::assets;
use crate::events::{self, MAX_MISSED_ENTRIES};
use crate::knowledge_handlers;
use crate::lost_intent_handlers as lost;
use crate::page_event::PageEvent;
use crate::page_request::{PageRequest, Shared, ask, document, is_own_form, page};
use crate::pages;
use crate::request_guard::guard;
use crate::review_context::ReviewContext;
use crate::session::SessionId;
use crate::ui_state::UiState;
use crate::url_text::{FormValues, decode};
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, Path, RawQuery, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Extension, Router, middleware};
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

async fn enter(State(state): State<Shared>, RawQuery(query): RawQuery) -> Response {
    let values = FormValues::parse(&query.unwrap_or_default());
    let session = state.sessions.enter(values.text("t").unwrap_or_default());
    let Ok(Some(session)) = session else { return pages::entry::used_up() };
    let cookie = format!("{}={}; HttpOnly; SameSite=Strict; Path=/", state.cookie_name(), session.as_str());
    let mut answer = page(StatusCode::OK, pages::entry::entered());
    let headers = answer.headers_mut();
    headers
        .insert(header::SET_COOKIE, HeaderValue::from_str(&cookie).unwrap_or(HeaderValue::from_static("")));
    // Not a redirect: a browser that was sent here by another site would not show the cookie on it.
    headers.insert("refresh", HeaderValue::from_static("0; url=/board"));
    answer
}

async fn board(State(state): State<Shared>, headers: HeaderMap, RawQuery(query): RawQuery) -> Response {
    let asked = PageRequest::new(headers, query);
    if matches!(asked.query.text("show"), Some("landed" | "all")) {
        return redirect("/c");
    }
    let found = ask(&state, |state| state.board().map(|board| (*board).clone())).await;
    asked.answer(&state, "board", found, pages::board::board)
}

async fn changes(State(state): State<Shared>, headers: HeaderMap, RawQuery(query): RawQuery) -> Response {
    let asked = PageRequest::new(headers, query);
    let found = ask(&state, |state| {
        let workspace = state.workspace()?;
        let finished = probity_review::finished_changes(&workspace, pages::lists::MAX_LISTED_CHANGES)?;
        Ok((finished, state.board()?))
    })
    .await;
    let frame = asked.frame(&state, "changes");
    match found {
        Ok((finished, board)) => page(StatusCode::OK, pages::lists::changes(&frame, &finished, &board)),
        Err(fault) => asked.refusal(&frame, &fault),
    }
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

async fn change(
    State(state): State<Shared>,
    Path(name): Path<String>,
    headers: HeaderMap,
    RawQuery(query): RawQuery,
) -> Response {
    let asked = PageRequest::new(headers, query);
    if let Some(file) = asked.query.text("file").and_then(|file| file.parse().ok()) {
        return one_file(state, name, file, asked).await;
    }
    let is_split = asked.query.text("view") != Some("unified");
    let found = ask(&state, move |state| {
        let context = state.keep_review(read_review(state, &name)?);
        let files = pages::change::first_files(&state.workspace()?, &context)?;
        Ok((context, files))
    })
    .await;
    let frame = asked.frame(&state, "changes");
    match found {
        Ok((context, _)) if asked.wants_json() => document(&context.review),
        Ok((context, files)) => {
            page(StatusCode::OK, pages::change::change(&frame, &context, &files, is_split))
        }
        Err(fault) => asked.refusal(&frame, &fault),
    }
}

async fn file(
    State(state): State<Shared>,
    Path((name, file)): Path<(String, usize)>,
    headers: HeaderMap,
    RawQuery(query): RawQuery,
) -> Response {
    one_file(state, name, file, PageRequest::new(headers, query)).await
}

async fn one_file(state: Shared, name: String, file: usize, asked: PageRequest) -> Response {
    let is_split = asked.query.text("view") != Some("unified");
    let is_whole = asked.query.text("all").is_some();
    let shown = asked.query.text("v").map(str::to_owned);
    let found = ask(&state, move |state| {
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
        let sides = pages::change::sides_of(&state.workspace()?, &context, file)?;
        Ok((context, sides))
    })
    .await;
    let frame = asked.frame(&state, "changes");
    match found {
        Ok((context, sides)) => {
            page(StatusCode::OK, pages::change::one_file(&frame, &context, file, &sides, is_split, is_whole))
        }
        Err(fault) => asked.refusal(&frame, &fault),
    }
}

async fn gate_log(
    State(state): State<Shared>,
    Path((name, gate)): Path<(String, usize)>,
    headers: HeaderMap,
    RawQuery(query): RawQuery,
) -> Response {
    let asked = PageRequest::new(headers, query);
    let from = asked.query.text("from").and_then(|from| from.parse().ok()).unwrap_or(0);
    let found = ask(&state, move |state| {
        let context = read_review(state, &name)?;
        let logs = pages::gate_log::read_logs(&state.workspace()?, &context, gate)?;
        Ok((context, logs))
    })
    .await;
    let frame = asked.frame(&state, "changes");
    match found {
        Ok((context, logs)) => {
            page(StatusCode::OK, pages::gate_log::gate_log(&frame, &context, gate, &logs, from))
        }
        Err(fault) => asked.refusal(&frame, &fault),
    }
}

async fn evidence(
    State(state): State<Shared>,
    Path(name): Path<String>,
    headers: HeaderMap,
    RawQuery(query): RawQuery,
) -> Response {
    let asked = PageRequest::new(headers, query);
    let found = ask(&state, move |state| {
        let context = read_review(state, &name)?;
        let proof = probity_runner::log_proofs::prove(&state.workspace()?, &context.review.change, None).ok();
        Ok((context, proof))
    })
    .await;
    let frame = asked.frame(&state, "changes");
    match found {
        Ok((context, proof)) => {
            page(StatusCode::OK, pages::evidence::evidence(&frame, &context.review, proof.as_ref()))
        }
        Err(fault) => asked.refusal(&frame, &fault),
    }
}

async fn findings(
    State(state): State<Shared>,
    Path(name): Path<String>,
    headers: HeaderMap,
    RawQuery(query): RawQuery,
) -> Response {
    let asked = PageRequest::new(headers, query);
    let found = ask(&state, move |state| {
        let mut context = read_review(state, &name)?;
        let findings = state.findings(&context)?;
        context.findings = Some(Arc::clone(&findings));
        Ok((context, findings))
    })
    .await;
    let frame = asked.frame(&state, "changes");
    match found {
        Ok((_, findings)) if asked.wants_json() => document(&*findings),
        Ok((context, findings)) => {
            page(StatusCode::OK, pages::findings::findings(&frame, &context.review, &findings))
        }
        Err(fault) => asked.refusal(&frame, &fault),
    }
}

/// What a form of an action must be about.
fn form_subject(change: &str, action: DecisionAction) -> String {
    format!("{action}\0{change}")
}

async fn preview(
    State(state): State<Shared>,
    Extension(session): Extension<SessionId>,
    Path((name, action)): Path<(String, String)>,
    headers: HeaderMap,
    RawQuery(query): RawQuery,
) -> Response {
    let asked = PageRequest::new(headers, query);
    let found = ask(&state, move |state| Ok(state.keep_review(read_review(state, &name)?))).await;
    let frame = asked.frame(&state, "changes");
    let found = found.and_then(|context| {
        let option = find_option(&context.review, &action)?;
        let token = state.sessions.form_token(&session, &form_subject(&context.review.change, option.action));
        let id = probity_workspace::clock::run_id();
        Ok(pages::preview::preview(&frame, &context.review, option, &token.unwrap_or_default(), &id))
    });
    match found {
        Ok(markup) => page(StatusCode::OK, markup),
        Err(fault) => asked.refusal(&frame, &fault),
    }
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

async fn decide(
    State(state): State<Shared>,
    Extension(session): Extension<SessionId>,
    Path((name, action)): Path<(String, String)>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let asked = PageRequest::new(headers, None);
    let frame = asked.frame(&state, "changes");
    if state.read_only {
        return page(StatusCode::FORBIDDEN, pages::read_only(&frame));
    }
    let form = FormValues::parse(&String::from_utf8_lossy(&body));
    let Ok(action) = action.parse::<DecisionAction>() else {
        return (StatusCode::NOT_FOUND, "there is no such action\n").into_response();
    };
    let change = form.text("change").unwrap_or_default().to_owned();
    if !is_own_form(&state, &session, &form_subject(&change, action), &form) {
        return page(StatusCode::FORBIDDEN, pages::foreign_form(&frame));
    }
    let found = ask(&state, move |state| {
        let _alone = state.decisions.lock().unwrap_or_else(PoisonError::into_inner);
        let request = decision_request(&form, change, action, &state.person)?;
        let answer = probity_review::decide(&state.workspace()?, &request)?;
        state.forget_board();
        Ok(answer)
    })
    .await;
    asked.answer(&state, "changes", found, |frame, answer| pages::preview::decided(frame, &name, answer))
}

fn decision_request(
    form: &FormValues,
    change: String,
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
        change,
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

async fn why(
    State(state): State<Shared>,
    Path(revision): Path<String>,
    headers: HeaderMap,
    RawQuery(query): RawQuery,
) -> Response {
    let asked = PageRequest::new(headers, query);
    let path = asked.query.bytes("path").and_then(|path| RepoPath::parse(path).ok());
    let line = asked.query.text("line").and_then(|line| line.parse().ok());
    let (Some(path), Some(line)) = (path, line) else {
        let fault = ServiceError::BadInput("the address names no path and line".into());
        return asked.refusal(&asked.frame(&state, "changes"), &fault);
    };
    let found = ask(&state, move |state| {
        let workspace = state.workspace()?;
        let answer = probity_review::line_origin(&workspace, Some(&revision), &path, line)?;
        let (first, lines) = probity_review::lines_around(&workspace, &answer, pages::why::LINES_AROUND)?;
        Ok((answer, first, lines))
    })
    .await;
    let frame = asked.frame(&state, "changes");
    match found {
        Ok((answer, ..)) if asked.wants_json() => document(&answer),
        Ok((answer, first, lines)) => page(StatusCode::OK, pages::why::why(&frame, &answer, first, &lines)),
        Err(fault) => asked.refusal(&frame, &fault),
    }
}

async fn log(State(state): State<Shared>, headers: HeaderMap, RawQuery(query): RawQuery) -> Response {
    let asked = PageRequest::new(headers, query);
    let from: Option<u64> = asked.query.text("from").and_then(|from| from.parse().ok());
    let found = ask(&state, move |state| {
        let workspace = state.workspace()?;
        let size = probity_review::log_size(&workspace)?;
        let page = pages::lists::LOG_PAGE_LINES;
        let from = from.unwrap_or(size.saturating_sub(page));
        let lines = probity_review::log_feed(&workspace, from, usize::try_from(page).unwrap_or(0))?;
        Ok((size, from, lines))
    })
    .await;
    let frame = asked.frame(&state, "log");
    match found {
        Ok((size, from, lines)) => page(StatusCode::OK, pages::lists::log(&frame, size, from, &lines)),
        Err(fault) => asked.refusal(&frame, &fault),
    }
}

async fn event_stream(
    State(state): State<Shared>,
    headers: HeaderMap,
    RawQuery(query): RawQuery,
) -> Response {
    // Heard from now on, so that nothing falls between what was missed and what comes.
    let events = state.events.subscribe();
    let asked = PageRequest::new(headers, query);
    let last = asked.headers.get("last-event-id").and_then(|value| value.to_str().ok());
    let from: Option<u64> = last.or(asked.query.text("from")).and_then(|from| from.parse().ok());
    let missed = ask(&state, move |state| {
        let workspace = state.workspace()?;
        let size = probity_review::log_size(&workspace)?;
        let from = from.unwrap_or(size);
        if from > size || size - from > MAX_MISSED_ENTRIES {
            return Ok(PageEvent::Resync { size });
        }
        let n_missed = usize::try_from(size - from).unwrap_or(0);
        let lines = Arc::new(probity_review::log_feed(&workspace, from, n_missed)?);
        Ok(PageEvent::Log { size, lines })
    })
    .await;
    match missed {
        Ok(missed) => events::stream(&missed, events).into_response(),
        Err(fault) => (StatusCode::INTERNAL_SERVER_ERROR, fault.to_string()).into_response(),
    }
}

async fn find(State(state): State<Shared>, headers: HeaderMap, RawQuery(query): RawQuery) -> Response {
    let asked = PageRequest::new(headers, query);
    let wanted = asked.query.text("q").unwrap_or_default().trim().to_owned();
    if let Some((path, line)) = place_of(&wanted) {
        return redirect(&format!(
            "/why/worktree?path={}&line={line}",
            crate::url_text::encode(path.as_bytes())
        ));
    }
    let name = wanted.clone();
    let found = ask(&state, move |state| probity_review::find_change(&state.workspace()?, &name)).await;
    match found {
        Ok(name) => redirect(&pages::change_address(&name.address())),
        Err(fault) => asked.refusal(&asked.frame(&state, "changes"), &fault),
    }
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
