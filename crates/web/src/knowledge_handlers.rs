//! The addresses of the ledger and of the health of the code.

use crate::page_request::{PageRequest, Shared, ask, document, is_own_form, page};
use crate::pages;
use crate::pages::code::{CodeFacts, MAX_LISTED_FINDINGS, MAX_TREND_POINTS};
use crate::pages::ledger::LedgerQuestion;
use crate::session::SessionId;
use crate::url_text::FormValues;
use axum::Extension;
use axum::body::Bytes;
use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use probity_analysis::FindingFamily;
use probity_knowledge::ledger::{self, ItemFilter};
use probity_quality::analysis_store::AnalysisStore;
use probity_quality::analyze::FindingLimits;
use probity_quality::analyze::answers::analysis_run;
use probity_review::ContradictionRequest;
use probity_workspace::{ServiceError, Workspace};
use std::sync::PoisonError;

fn ledger_question(asked: &PageRequest) -> LedgerQuestion {
    LedgerQuestion {
        kind: asked.query.text("kind").and_then(|kind| kind.parse().ok()),
        stream: asked.query.text("stream").filter(|stream| !stream.is_empty()).map(str::to_owned),
        since: asked.query.text("since").and_then(|since| since.parse().ok()),
        all: asked.query.text("all").is_some(),
    }
}

pub(crate) async fn ledger(
    State(state): State<Shared>,
    headers: HeaderMap,
    RawQuery(query): RawQuery,
) -> Response {
    let asked = PageRequest::new(headers, query);
    let question = ledger_question(&asked);
    let wanted = question.clone();
    let found = ask(&state, move |state| {
        let workspace = state.workspace()?;
        let filter = ItemFilter { stream: wanted.stream.clone(), all: wanted.all, ..ItemFilter::default() };
        let listed = ledger::show(&workspace, &filter)?;
        let stream = wanted.stream.as_deref();
        let since = wanted.since.map(|since| ledger::changed(&workspace, Some(since), stream));
        Ok((listed, since.transpose()?))
    })
    .await;
    let frame = asked.frame(&state, "ledger");
    match found {
        Ok((_, Some(changed))) if asked.wants_json() => document(&changed),
        Ok((listed, _)) if asked.wants_json() => document(&listed),
        Ok((listed, changed)) => {
            page(StatusCode::OK, pages::ledger::ledger(&frame, &question, &listed, changed.as_ref()))
        }
        Err(fault) => asked.refusal(&frame, &fault),
    }
}

pub(crate) async fn ledger_item(
    State(state): State<Shared>,
    Path(handle): Path<String>,
    headers: HeaderMap,
    RawQuery(query): RawQuery,
) -> Response {
    let asked = PageRequest::new(headers, query);
    let question = ledger_question(&asked);
    let stream = question.stream.clone();
    let found =
        ask(&state, move |state| ledger::explain(&state.workspace()?, &handle, stream.as_deref())).await;
    asked.answer(&state, "ledger", found, |frame, explained| pages::ledger::item(frame, &question, explained))
}

/// What a form about a contradiction must be about.
fn form_subject(keep: &str, drop: &str) -> String {
    format!("contradiction\0{keep}\0{drop}")
}

pub(crate) async fn contradiction_preview(
    State(state): State<Shared>,
    Extension(session): Extension<SessionId>,
    Path(keep): Path<String>,
    headers: HeaderMap,
    RawQuery(query): RawQuery,
) -> Response {
    let asked = PageRequest::new(headers, query);
    let drop = asked.query.text("over").unwrap_or_default().to_owned();
    let token = state.sessions.form_token(&session, &form_subject(&keep, &drop)).unwrap_or_default();
    let found =
        ask(&state, move |state| probity_review::contradiction(&state.workspace()?, &keep, &drop)).await;
    let frame = asked.frame(&state, "ledger");
    match found {
        Ok(found) => page(StatusCode::OK, pages::ledger::preview(&frame, &found, &token)),
        Err(fault) => asked.refusal(&frame, &fault),
    }
}

pub(crate) async fn settle_contradiction(
    State(state): State<Shared>,
    Extension(session): Extension<SessionId>,
    Path(keep): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let asked = PageRequest::new(headers, None);
    let frame = asked.frame(&state, "ledger");
    if state.read_only {
        return page(StatusCode::FORBIDDEN, pages::read_only(&frame));
    }
    let form = FormValues::parse(&String::from_utf8_lossy(&body));
    let drop = form.text("over").unwrap_or_default().to_owned();
    if !is_own_form(&state, &session, &form_subject(&keep, &drop), &form) {
        return page(StatusCode::FORBIDDEN, pages::foreign_form(&frame));
    }
    let found = ask(&state, move |state| {
        let _alone = state.decisions.lock().unwrap_or_else(PoisonError::into_inner);
        let shown = form.text("shown").and_then(|text| text.parse().ok());
        let shown = shown.ok_or_else(|| ServiceError::BadInput("the form has no good `shown`".into()))?;
        let why = form.text("why").unwrap_or_default().trim().to_owned();
        let request = ContradictionRequest { keep, drop, by: state.person.clone(), why, shown };
        let answer = probity_review::settle_contradiction(&state.workspace()?, &request)?;
        Ok((request, answer))
    })
    .await;
    match found {
        Ok((_, answer)) if asked.wants_json() => document(&answer),
        Ok((request, _)) => page(StatusCode::OK, pages::ledger::settled(&frame, &request)),
        Err(fault) => asked.refusal(&frame, &fault),
    }
}

fn code_facts(workspace: &Workspace) -> Result<Option<CodeFacts>, ServiceError> {
    let store = AnalysisStore::open(workspace);
    let mut listed = store.list()?;
    listed.truncate(MAX_TREND_POINTS);
    let Some(newest) = listed.first() else { return Ok(None) };
    let stored = store.load(&newest.id.0.to_hex())?;
    let limits = FindingLimits::with_all_locations(MAX_LISTED_FINDINGS);
    let answer = analysis_run(&stored.run, stored.report_digest, limits);
    let before = listed.get(1).filter(|before| before.about.analyser == newest.about.analyser);
    let moved = match before {
        Some(before) => {
            let differing = store.load_differing(&before.id.0.to_hex(), &newest.id.0.to_hex())?;
            Some(differing.compare()).filter(|moved| moved.incomparable_because.is_empty())
        }
        None => None,
    };
    Ok(Some(CodeFacts { answer, listed, moved }))
}

pub(crate) async fn code(
    State(state): State<Shared>,
    headers: HeaderMap,
    RawQuery(query): RawQuery,
) -> Response {
    let asked = PageRequest::new(headers, query);
    let family: Option<FindingFamily> = asked.query.text("family").and_then(|family| family.parse().ok());
    let found = ask(&state, |state| code_facts(&state.workspace()?)).await;
    let frame = asked.frame(&state, "code");
    match found {
        Ok(Some(facts)) if asked.wants_json() => document(&facts.answer),
        Ok(Some(facts)) => page(StatusCode::OK, pages::code::code(&frame, &facts, family)),
        Ok(None) if asked.wants_json() => {
            asked.refusal(&frame, &ServiceError::NoSuchAnalysis("no run is stored yet".into()))
        }
        Ok(None) => page(StatusCode::OK, pages::code::nothing_stored(&frame)),
        Err(fault) => asked.refusal(&frame, &fault),
    }
}
