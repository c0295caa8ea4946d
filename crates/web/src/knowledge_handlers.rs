//! The addresses of the ledger and of the health of the code.

use crate::page_request::{PageRequest, document, page};
use crate::pages;
use crate::pages::code::{CodeFacts, MAX_LISTED_FINDINGS, MAX_TREND_POINTS};
use crate::pages::ledger::LedgerQuestion;
use crate::url_text::FormValues;
use axum::body::Bytes;
use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::Response;
use probity_analysis::FindingFamily;
use probity_knowledge::ledger::{self, ItemFilter};
use probity_quality::analysis_store::AnalysisStore;
use probity_quality::analyze::FindingLimits;
use probity_quality::analyze::answers::analysis_run;
use probity_review::ContradictionRequest;
use probity_workspace::{ServiceError, Workspace};
use std::sync::PoisonError;

fn ledger_question(request: &PageRequest) -> LedgerQuestion {
    LedgerQuestion {
        kind: request.query.text("kind").and_then(|kind| kind.parse().ok()),
        stream: request.query.text("stream").filter(|stream| !stream.is_empty()).map(str::to_owned),
        since: request.query.text("since").and_then(|since| since.parse().ok()),
        all: request.query.text("all").is_some(),
    }
}

pub(crate) async fn ledger(request: PageRequest) -> Response {
    let question = ledger_question(&request);
    let wanted = question.clone();
    let found = request.ask(move |state| {
        let workspace = state.workspace()?;
        let filter = ItemFilter { stream: wanted.stream.clone(), all: wanted.all, ..ItemFilter::default() };
        let listed = ledger::show(&workspace, &filter)?;
        let stream = wanted.stream.as_deref();
        let since = wanted.since.map(|since| ledger::changed(&workspace, Some(since), stream));
        Ok((listed, since.transpose()?))
    });
    request.respond("ledger", found.await, |frame, (listed, changed)| match changed {
        Some(changed) if request.wants_json() => document(&changed),
        None if request.wants_json() => document(&listed),
        changed => page(StatusCode::OK, pages::ledger::ledger(frame, &question, &listed, changed.as_ref())),
    })
}

pub(crate) async fn ledger_item(request: PageRequest, Path(handle): Path<String>) -> Response {
    let question = ledger_question(&request);
    let stream = question.stream.clone();
    let found =
        request.ask(move |state| ledger::explain(&state.workspace()?, &handle, stream.as_deref())).await;
    request.answer("ledger", found, |frame, explained| pages::ledger::item(frame, &question, explained))
}

/// What a form about a contradiction must be about.
fn form_subject(keep: &str, drop: &str) -> String {
    format!("contradiction\0{keep}\0{drop}")
}

pub(crate) async fn contradiction_preview(request: PageRequest, Path(keep): Path<String>) -> Response {
    let drop = request.query.text("over").unwrap_or_default().to_owned();
    let token = request.form_token(&form_subject(&keep, &drop));
    let found =
        request.ask(move |state| probity_review::contradiction(&state.workspace()?, &keep, &drop)).await;
    request.show("ledger", found, |frame, found| pages::ledger::preview(frame, &found, &token))
}

pub(crate) async fn settle_contradiction(
    request: PageRequest,
    Path(keep): Path<String>,
    body: Bytes,
) -> Response {
    let subject = |form: &FormValues| form_subject(&keep, form.text("over").unwrap_or_default());
    let form = match request.own_form("ledger", &body, subject) {
        Ok(form) => form,
        Err(refusal) => return *refusal,
    };
    let found = request.ask(move |state| {
        let _alone = state.decisions.lock().unwrap_or_else(PoisonError::into_inner);
        let shown = form.text("shown").and_then(|text| text.parse().ok());
        let shown = shown.ok_or_else(|| ServiceError::BadInput("the form has no good `shown`".into()))?;
        let drop = form.text("over").unwrap_or_default().to_owned();
        let why = form.text("why").unwrap_or_default().trim().to_owned();
        let request = ContradictionRequest { keep, drop, by: state.person.clone(), why, shown };
        let answer = probity_review::settle_contradiction(&state.workspace()?, &request)?;
        Ok((request, answer))
    });
    request.answer_with(
        "ledger",
        found.await,
        |(_, answer)| answer,
        |frame, (request, _)| pages::ledger::settled(frame, request),
    )
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

pub(crate) async fn code(request: PageRequest) -> Response {
    let family: Option<FindingFamily> = request.query.text("family").and_then(|family| family.parse().ok());
    let found = request.ask(|state| code_facts(&state.workspace()?)).await;
    request.respond("code", found, |frame, facts| match facts {
        Some(facts) if request.wants_json() => document(&facts.answer),
        Some(facts) => page(StatusCode::OK, pages::code::code(frame, &facts, family)),
        None if request.wants_json() => {
            request.refusal("code", &ServiceError::NoSuchAnalysis("no analysis is stored yet".into()))
        }
        None => page(StatusCode::OK, pages::code::nothing_stored(frame)),
    })
}
