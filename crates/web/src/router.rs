//! The addresses of the page, and what each of them calls.

use crate::assets;
use crate::change_handlers;
use crate::decision_handlers;
use crate::document_merge_handlers as documents;
use crate::events::{self, MAX_MISSED_ENTRIES};
use crate::git_merge_handlers as merges;
use crate::knowledge_handlers;
use crate::page_event::PageEvent;
use crate::page_request::{PageRequest, Shared, page};
use crate::pages;
use crate::request_guard::guard;
use axum::body::Body;
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Router, middleware};
use probity_paths::RepoPath;
use probity_workspace::ServiceError;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The largest body of a request: a form with its paths.
const MAX_BODY_BYTES: usize = 64 * 1024;

pub(crate) fn router(state: Shared) -> Router {
    Router::new()
        .route("/", get(|| async { redirect("/board") }))
        .route("/enter", get(enter))
        .route("/board", get(board))
        .route("/c", get(changes))
        .route("/c/{change}", get(change_handlers::change))
        .route("/c/{change}/f/{file}", get(change_handlers::file))
        .route("/c/{change}/log/{gate}", get(change_handlers::gate_log))
        .route("/c/{change}/evidence", get(change_handlers::evidence))
        .route("/c/{change}/findings", get(change_handlers::findings))
        .route("/c/{change}/do/{action}", get(decision_handlers::preview).post(decision_handlers::decide))
        .route("/merge", get(merges::merges))
        .route("/merge/heads", get(documents::pending_heads))
        .route("/merge/heads/do/reduce", get(documents::heads_preview).post(documents::merge_heads))
        .route("/merge/{merge}", get(merges::merge))
        .route("/merge/{merge}/do/{action}", get(merges::finding_preview).post(merges::decide_finding))
        .route("/merge/documents/{merge}", get(documents::document_merge))
        .route(
            "/merge/documents/{merge}/do/{action}",
            get(documents::conflict_preview).post(documents::decide_conflict),
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
        let from = from.unwrap_or(size.saturating_sub(page)).min(size);
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

fn why_address(path: &RepoPath, line: usize) -> String {
    format!("/why/worktree?path={}&line={line}", crate::url_text::encode(path.as_bytes()))
}

async fn find(request: PageRequest) -> Response {
    let wanted = request.query.text("q").unwrap_or_default().trim().to_owned();
    if let Some((path, line)) = place_of(&wanted) {
        return redirect(&why_address(&path, line));
    }
    let found = request.ask(move |state| {
        let workspace = state.workspace()?;
        // A file without a line is asked about from its first line on.
        let path = RepoPath::parse(wanted.as_bytes()).ok();
        if let Some(path) = path.filter(|path| probity_review::is_file(&workspace, path)) {
            return Ok(why_address(&path, 1));
        }
        let name = probity_review::find_change(&workspace, &wanted)?;
        Ok(pages::change_address(&name.address()))
    });
    request.respond("changes", found.await, |_, address| redirect(&address))
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
