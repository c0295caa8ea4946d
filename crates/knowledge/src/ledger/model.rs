//! Reads pending turns with a language model.
//!
//! The model is called without holding the log's lock, one window of turns at a time. Its proposals pass the checks of
//! `probity_ledger::model` and then the reconciler, like all others. If a call fails, the turns of that window and all
//! after it stay pending, and the answer says so: nothing is lost, and no fallback guesses in its place.

use super::fault::OrFault as _;
use super::ingest::{IngestRequest, TurnReader};
use super::propose::ledger_of;
use super::service::LedgerService;
use crate::model::{
    CommandProvider, HttpApi, HttpProvider, ModelClient, ModelError, ModelProvider, ModelQuestion,
    RetryPolicy, UsageBudget,
};
use probity_api::ledger::{IngestAnswer, ModelUsage, ModelUse};
use probity_ledger::model::{ParsedAnswer, TurnText, prompt, read, windows};
use probity_ledger::wire::{LedgerEvent, encode};
use probity_process::ProcessEnvironment;
use probity_workspace::{ServiceError, Workspace};
use std::ffi::OsString;
use std::time::Duration;

#[derive(Debug, Clone)]
pub struct ModelRequest {
    pub at: ModelAt,
    /// The time limit for one answer.
    pub timeout: Duration,
    /// The most attempts per question.
    pub tries: u32,
    /// The most calls, including retries.
    pub calls: u64,
    /// The token budget.
    pub tokens: u64,
}

#[derive(Debug, Clone)]
pub enum ModelAt {
    /// An OpenAI-compatible endpoint.
    OpenAi {
        /// For example `http://gateway.local/v1`.
        url: String,
        model: String,
        key: Option<String>,
    },
    Ollama {
        /// For example `http://localhost:11434`.
        url: String,
        model: String,
    },
    /// A program that reads JSON and writes JSON.
    Command { argv: Vec<OsString> },
}

/// Reads all pending turns, oldest first.
pub(super) fn read_pending(
    workspace: &Workspace,
    service: &mut LedgerService,
    request: &IngestRequest,
    model: &ModelRequest,
    answer: &mut IngestAnswer,
) -> Result<ModelUse, ServiceError> {
    let mut used = ModelUse::default();
    let turns = pending_turns(service);
    let provider = match provider(workspace, model) {
        Ok(provider) => provider,
        Err(trouble) => return Ok(ModelUse { failed: Some(trouble.to_string()), ..used }),
    };
    let patience = RetryPolicy { tries: model.tries.max(1), ..RetryPolicy::default() };
    let mut client =
        ModelClient::new(provider, patience, UsageBudget { calls: model.calls, tokens: model.tokens });
    for window in windows(&turns) {
        let ledger = ledger_of(service.book(), request.stream.as_deref())?;
        let prompt = prompt(ledger, window);
        used.prompt_bytes += prompt.system.len() + prompt.user.len();
        used.turn_bytes += window.iter().map(|turn| turn.text.len()).sum::<usize>();
        let question = ModelQuestion { system: prompt.system, user: prompt.user, schema: prompt.schema };
        match client.ask(&question, |text| read(ledger, window, text)) {
            Ok(found) => propose(service, request, window, found, answer, &mut used)?,
            Err(trouble) => {
                used.failed = Some(trouble.to_string());
                break;
            }
        }
    }
    let spent = client.spent();
    used.usage = ModelUsage {
        calls: spent.calls,
        prompt_tokens: spent.prompt_tokens,
        completion_tokens: spent.completion_tokens,
    };
    Ok(used)
}

fn pending_turns(service: &LedgerService) -> Vec<TurnText> {
    let mut pending: Vec<_> = service.book().pending().iter().collect();
    pending.sort_by_key(|(_, turn)| turn.order);
    pending
        .into_iter()
        .map(|(id, turn)| TurnText { id: id.clone(), role: turn.role, text: turn.text.clone() })
        .collect()
}

fn provider(workspace: &Workspace, model: &ModelRequest) -> Result<Box<dyn ModelProvider>, ModelError> {
    Ok(match &model.at {
        ModelAt::OpenAi { url, model: name, key } => {
            Box::new(HttpProvider::new(HttpApi::OpenAi, url, name, key.clone(), model.timeout)?)
        }
        ModelAt::Ollama { url, model: name } => {
            Box::new(HttpProvider::new(HttpApi::Ollama, url, name, None, model.timeout)?)
        }
        ModelAt::Command { argv } => Box::new(CommandProvider {
            argv: argv.clone(),
            environment: ProcessEnvironment::inherited(),
            cwd: workspace.root.clone(),
            timeout: model.timeout,
        }),
    })
}

/// Proposes the candidates of a window and marks its turns as read. Turns that another process read meanwhile are
/// skipped.
fn propose(
    service: &mut LedgerService,
    request: &IngestRequest,
    window: &[TurnText],
    found: ParsedAnswer,
    answer: &mut IngestAnswer,
    used: &mut ModelUse,
) -> Result<(), ServiceError> {
    let reader = TurnReader { request, author: request.author.as_deref().unwrap_or("model") };
    used.dropped.extend(found.dropped);
    used.weakened += found.n_weakened;
    service.transact(|book| {
        let mut payloads = reader.begin_stream(book);
        for turn in window.iter().filter(|turn| book.pending().contains_key(&turn.id)).collect::<Vec<_>>() {
            let event = LedgerEvent::Read { turn: &turn.id };
            book.apply(&event).or_fault()?;
            let deltas: Vec<_> = found
                .candidates
                .iter()
                .filter(|(id, _)| *id == turn.id)
                .map(|(_, delta)| delta.clone())
                .collect();
            payloads.push(if deltas.is_empty() {
                encode(&[event])
            } else {
                reader.propose(book, reader.author_of(turn.role), &[event], &deltas, answer)?
            });
        }
        Ok((payloads, ()))
    })
}
