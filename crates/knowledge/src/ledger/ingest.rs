//! Ingests transcripts: registers every turn and proposes its candidates.
//!
//! Turns are read in order, each against the ledger at that point, so that a revision can target what was just said.
//! Ingesting the same transcript twice, or a longer version of it, changes nothing already known: turns are identified
//! by their ids, and candidates by their keys.

use super::answers::outcome_of;
use super::fault::OrFault as _;
use super::model::ModelRequest;
use super::propose::{add_turn, decide, ledger_of, start_stream, stored_text};
use super::service::{LedgerService, TurnTexts};
use probity_api::ledger::{IngestAnswer, TurnInput};
use probity_core::Digest;
use probity_ledger::extract::{Role, Turn, extract_in_dialog};
use probity_ledger::transcript::{self, Transcript, TranscriptPart, TranscriptTurn};
use probity_ledger::wire::{LedgerEvent, encode};
use probity_ledger::{BatchMode, DeltaProposal, ProjectLedger};
use probity_workspace::{ServiceError, Workspace};
use serde_json::Value;
use std::sync::atomic::Ordering;

const TURNS_PER_TRANSACTION: usize = 500;

/// The most turns before one that are given for its short answers.
const TURNS_OF_CONTEXT: usize = 8;

#[derive(Debug, Clone, Default)]
pub struct IngestRequest {
    /// The author of agent turns; `None` for the name of the program that wrote the transcript.
    pub author: Option<String>,
    /// The author of user turns.
    pub user: String,
    /// `None` for the ledger itself.
    pub stream: Option<String>,
    /// Transcripts, each with a name for messages.
    pub transcripts: Vec<(String, Vec<u8>)>,
    /// Also read the pending turns.
    pub pending: bool,
    /// Reads the turns with a model instead of the rules.
    pub model: Option<ModelRequest>,
}

#[tracing::instrument(name = "ingest", skip_all)]
pub fn ingest(workspace: &Workspace, request: &IngestRequest) -> Result<IngestAnswer, ServiceError> {
    let mut service = LedgerService::open(workspace, request.stream.as_deref())?;
    let mut answer = IngestAnswer::default();
    for (name, bytes) in &request.transcripts {
        let reading = workspace.progress.begin("reading transcripts");
        let transcript = transcript::read(bytes);
        drop(reading);
        let phase = workspace.progress.begin_counted("taking in turns", transcript.parts.len());
        report(&mut answer, name, &transcript);
        let is_known = |part: &TranscriptPart| match part {
            TranscriptPart::Said(said) => service.book().main().knows_turn(&said.id),
            TranscriptPart::Proposed(_) => false,
        };
        // The log is read again only where words can be compared with it.
        let is_comparable = transcript.parts.iter().any(is_known);
        let mut texts = if is_comparable { service.turn_texts()? } else { TurnTexts::new() };
        let author = request.author.as_deref().or(transcript.agent).unwrap_or("agent");
        let reader = TurnReader { request, author };
        for start in (0..transcript.parts.len()).step_by(TURNS_PER_TRANSACTION) {
            let end = transcript.parts.len().min(start + TURNS_PER_TRANSACTION);
            let parts = &transcript.parts[start..end];
            // The turns before give short answers their meaning, also those of the transaction before.
            let before = turns_of(&transcript.parts[start.saturating_sub(TURNS_OF_CONTEXT)..start]);
            service.transact(|book| reader.take_in(book, before, parts, &mut texts, &mut answer))?;
            phase.counter().fetch_add(parts.len() as u64, Ordering::Relaxed);
        }
    }
    if let Some(model) = &request.model {
        answer.model =
            Some(super::model::read_pending(workspace, &mut service, request, model, &mut answer)?);
    } else if request.pending {
        let reader = TurnReader { request, author: request.author.as_deref().unwrap_or("agent") };
        service.transact(|book| reader.take_pending(book, &mut answer))?;
    }
    answer.seq = ledger_of(service.book(), request.stream.as_deref())?.head().get();
    answer.turns_pending = service.book().pending().len();
    answer.notices = service.notices().messages();
    Ok(answer)
}

fn report(answer: &mut IngestAnswer, name: &str, transcript: &Transcript) {
    answer.not_understood.extend(transcript.odd.iter().map(|odd| (name.to_owned(), odd.clone())));
    answer.n_not_understood += transcript.n_odd;
    for (what, n) in &transcript.left_out {
        *answer.left_out.entry(what.clone()).or_default() += n;
    }
}

fn turn_of(said: &TranscriptTurn) -> Turn<'_> {
    Turn { id: &said.id, role: said.role, text: &said.text }
}

fn turns_of(parts: &[TranscriptPart]) -> Vec<Turn<'_>> {
    let mut turns = Vec::new();
    for part in parts {
        if let TranscriptPart::Said(said) = part {
            turns.push(turn_of(said));
        }
    }
    turns
}

/// Reads turns for one request; `author` is the author of agent turns.
pub(super) struct TurnReader<'a> {
    pub(super) request: &'a IngestRequest,
    pub(super) author: &'a str,
}

type EventPayloads = (Vec<Vec<u8>>, ());

impl TurnReader<'_> {
    fn take_in<'t>(
        &self,
        book: &mut ProjectLedger,
        mut before: Vec<Turn<'t>>,
        parts: &'t [TranscriptPart],
        texts: &mut TurnTexts,
        answer: &mut IngestAnswer,
    ) -> Result<EventPayloads, ServiceError> {
        let mut payloads = self.begin_stream(book);
        for part in parts {
            match part {
                TranscriptPart::Said(said) => {
                    let context = &before[before.len().saturating_sub(TURNS_OF_CONTEXT)..];
                    payloads.extend(self.ingest_turn(book, context, said, texts, answer)?);
                    before.push(turn_of(said));
                }
                TranscriptPart::Proposed(delta) => {
                    payloads.push(self.propose(
                        book,
                        self.author,
                        &[],
                        std::slice::from_ref(delta),
                        answer,
                    )?);
                }
            }
        }
        Ok((payloads, ()))
    }

    pub(super) fn begin_stream(&self, book: &mut ProjectLedger) -> Vec<Vec<u8>> {
        let events = start_stream(book, self.request.stream.as_deref());
        if events.is_empty() { Vec::new() } else { vec![encode(&events)] }
    }

    /// Registers and reads a turn; does nothing if the turn is known.
    fn ingest_turn(
        &self,
        book: &mut ProjectLedger,
        before: &[Turn<'_>],
        said: &TranscriptTurn,
        texts: &mut TurnTexts,
        answer: &mut IngestAnswer,
    ) -> Result<Option<Vec<u8>>, ServiceError> {
        let turn = TurnInput { id: said.id.clone(), role: said.role, text: said.text.clone() };
        let stored = Digest::of(stored_text(&said.text).as_bytes());
        let Some(event) = add_turn(book, &turn, self.request.model.is_some()) else {
            answer.turns_known += 1;
            if texts.get(&said.id).is_some_and(|known| *known != stored) {
                answer.turns_conflicting.push(said.id.clone());
            }
            return Ok(None);
        };
        texts.insert(said.id.clone(), stored);
        answer.turns_new += 1;
        if self.request.model.is_some() {
            return Ok(Some(encode(&[event])));
        }
        self.read_turn(book, before, &turn_of(said), event, answer).map(Some)
    }

    /// Reads a turn by the rules and proposes the candidates.
    fn read_turn(
        &self,
        book: &mut ProjectLedger,
        before: &[Turn<'_>],
        turn: &Turn<'_>,
        event: LedgerEvent<'_>,
        answer: &mut IngestAnswer,
    ) -> Result<Vec<u8>, ServiceError> {
        let ledger = ledger_of(book, self.request.stream.as_deref())?;
        let extraction = extract_in_dialog(ledger, before, turn);
        if extraction.n_too_long > 0 {
            *answer.left_out.entry("sentence too long to read".into()).or_default() += extraction.n_too_long;
        }
        let deltas: Vec<Value> = extraction.found.into_iter().map(|extracted| extracted.candidate).collect();
        self.propose(book, self.author_of(turn.role), &[event], &deltas, answer)
    }

    /// Returns the author of a turn.
    pub(super) fn author_of(&self, role: Role) -> &str {
        if role == Role::User { &self.request.user } else { self.author }
    }

    pub(super) fn propose(
        &self,
        book: &mut ProjectLedger,
        author: &str,
        events: &[LedgerEvent<'_>],
        deltas: &[Value],
        answer: &mut IngestAnswer,
    ) -> Result<Vec<u8>, ServiceError> {
        let stream = self.request.stream.as_deref();
        let mut events = events.to_vec();
        if !deltas.is_empty() {
            let proposals: Vec<_> = deltas.iter().map(DeltaProposal::read).collect();
            let (batch, outcomes) = decide(book, stream, author, BatchMode::BestEffort, proposals)?;
            let ledger = ledger_of(book, stream)?;
            if let LedgerEvent::Batch { proposals, .. } = &batch {
                let views = proposals.iter().zip(&outcomes);
                answer
                    .outcomes
                    .extend(views.map(|(proposal, outcome)| outcome_of(ledger, proposal, outcome)));
            }
            events.push(batch);
        }
        Ok(encode(&events))
    }

    /// Reads the pending turns by the rules.
    fn take_pending(
        &self,
        book: &mut ProjectLedger,
        answer: &mut IngestAnswer,
    ) -> Result<EventPayloads, ServiceError> {
        let mut payloads = self.begin_stream(book);
        let mut pending: Vec<_> = book.pending().clone().into_iter().collect();
        pending.sort_by_key(|(_, turn)| turn.order);
        let turns: Vec<_> =
            pending.iter().map(|(id, turn)| Turn { id, role: turn.role, text: &turn.text }).collect();
        for (at, turn) in turns.iter().enumerate() {
            let event = LedgerEvent::Read { turn: turn.id };
            book.apply(&event).or_fault()?;
            let before = &turns[at.saturating_sub(TURNS_OF_CONTEXT)..at];
            payloads.push(self.read_turn(book, before, turn, event, answer)?);
        }
        Ok((payloads, ()))
    }
}
