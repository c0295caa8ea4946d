//! Proposes candidate deltas.

use super::answers::{outcome_of, outcome_of_verdict};
use super::fault::OrFault as _;
use super::service::LedgerService;
use probity_api::LeftOutOfLists;
use probity_api::ledger::{LedgerItem, ProposeAnswer, ProposeRequest, TurnInput};
use probity_core::ReasonCode;
use probity_ledger::extract::Role;
use probity_ledger::wire::{LedgerEvent, encode};
use probity_ledger::{BatchMode, CandidateOutcome, DeltaProposal, Ledger, ProjectLedger};
use probity_workspace::{ServiceError, Workspace};
use std::collections::BTreeSet;

/// The longest turn text that is stored; ranges may extend beyond it.
const MAX_TURN_BYTES: usize = 64 << 10;

const MAX_DELTAS: usize = 100_000;

/// A request with the turn that its `said` becomes.
struct ProposalContext<'a> {
    request: &'a ProposeRequest,
    said: Option<TurnInput>,
}

#[tracing::instrument(name = "propose", skip_all)]
pub fn propose(workspace: &Workspace, request: &ProposeRequest) -> Result<ProposeAnswer, ServiceError> {
    check(request)?;
    let mut service = LedgerService::open(workspace, request.stream.as_deref())?;
    let said = request.said.clone().map(|text| TurnInput {
        id: probity_workspace::clock::run_id(),
        role: Role::User,
        text,
    });
    let proposing = ProposalContext { request, said };
    let mut proposed = if request.dry_run {
        let mut book = service.book().clone();
        proposing.rehearse(&mut book)?
    } else {
        service.transact(|book| proposing.propose(book))?
    };
    proposed.notices = service.notices().messages();
    Ok(proposed)
}

fn check(request: &ProposeRequest) -> Result<(), ServiceError> {
    if request.proposal.deltas.len() > MAX_DELTAS {
        let detail =
            format!("{} deltas at once, and {MAX_DELTAS} are the most", request.proposal.deltas.len());
        return Err(ServiceError::refused(ReasonCode::LedgerInputInvalid, detail));
    }
    if request.stream.as_deref().is_some_and(|stream| stream.trim().is_empty()) {
        return Err(ServiceError::refused(ReasonCode::LedgerInputInvalid, "a stream needs a name"));
    }
    if request.author.trim().is_empty() {
        return Err(ServiceError::refused(ReasonCode::LedgerInputInvalid, "an author needs a name"));
    }
    Ok(())
}

/// Returns the event that creates a stream, if it does not exist yet.
pub(super) fn start_stream<'a>(book: &mut ProjectLedger, stream: Option<&'a str>) -> Vec<LedgerEvent<'a>> {
    match stream {
        Some(stream) if !book.streams().contains_key(stream) => {
            let fork = LedgerEvent::Fork { stream };
            book.apply(&fork).expect("a stream can always begin");
            vec![fork]
        }
        _ => Vec::new(),
    }
}

/// Returns the part of a turn's text that is stored.
pub(super) fn stored_text(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_TURN_BYTES)]
}

/// Returns the event that registers a turn, unless it is known or has no id.
pub(super) fn add_turn<'a>(
    book: &mut ProjectLedger,
    turn: &'a TurnInput,
    pending: bool,
) -> Option<LedgerEvent<'a>> {
    if turn.id.trim().is_empty() || book.main().knows_turn(&turn.id) {
        return None;
    }
    let event = LedgerEvent::Turn { id: &turn.id, role: turn.role, text: stored_text(&turn.text), pending };
    book.apply(&event).expect("a turn can always be said");
    Some(event)
}

/// Reconciles a batch and returns its event with the verdicts.
pub(super) fn decide<'a>(
    book: &mut ProjectLedger,
    stream: Option<&'a str>,
    author: &'a str,
    mode: BatchMode,
    proposals: Vec<DeltaProposal<'a>>,
) -> Result<(LedgerEvent<'a>, Vec<CandidateOutcome>), ServiceError> {
    let mut batch = LedgerEvent::Batch { stream, author, mode, proposals, verdicts: Vec::new() };
    let outcomes = book.apply(&batch).or_fault()?;
    if let LedgerEvent::Batch { verdicts, .. } = &mut batch {
        verdicts.extend(outcomes.iter().map(|outcome| outcome.verdict));
    }
    Ok((batch, outcomes))
}

/// Returns the main ledger, or that of the stream with which the service was opened.
pub(super) fn ledger_of<'b>(
    book: &'b ProjectLedger,
    stream: Option<&str>,
) -> Result<&'b Ledger, ServiceError> {
    book.ledger(stream).ok_or_else(|| {
        ServiceError::refused(
            ReasonCode::LedgerNoSuchStream,
            format!("there is no stream `{}`", stream.unwrap_or_default()),
        )
    })
}

impl ProposalContext<'_> {
    fn propose(&self, book: &mut ProjectLedger) -> Result<(Vec<Vec<u8>>, ProposeAnswer), ServiceError> {
        let stream = self.request.stream.as_deref();
        let mut events = self.begin(book);
        let (batch, outcomes) = decide(book, stream, &self.request.author, self.mode(), self.proposals())?;
        let answer = answer(ledger_of(book, stream)?, &self.proposals(), &outcomes);
        events.push(batch);
        Ok((vec![encode(&events)], answer))
    }

    fn rehearse(&self, book: &mut ProjectLedger) -> Result<ProposeAnswer, ServiceError> {
        self.begin(book);
        let stream = self.request.stream.as_deref();
        let batch = LedgerEvent::Batch {
            stream,
            author: &self.request.author,
            mode: self.mode(),
            proposals: self.proposals(),
            verdicts: Vec::new(),
        };
        let verdicts = book.rehearse(&batch).or_fault()?;
        let proposals = self.proposals();
        let outcomes = proposals.iter().zip(verdicts);
        Ok(ProposeAnswer {
            outcomes: outcomes.map(|(proposal, verdict)| outcome_of_verdict(proposal, verdict)).collect(),
            items: Vec::new(),
            seq: ledger_of(book, stream)?.head().get(),
            dry_run: true,
            notices: Vec::new(),
            left_out_of_lists: LeftOutOfLists::default(),
        })
    }

    fn proposals(&self) -> Vec<DeltaProposal<'_>> {
        let said = self.said.as_ref().map(|turn| turn.id.as_str());
        let turns = || self.request.proposal.turns.iter().chain(&self.said);
        let text_of = |id: &str| turns().find(|turn| turn.id == id).map(|turn| turn.text.as_str());
        let deltas = self.request.proposal.deltas.iter();
        deltas.map(|delta| delta.read(said).compared_with_sources(text_of)).collect()
    }

    const fn mode(&self) -> BatchMode {
        if self.request.proposal.atomic { BatchMode::Atomic } else { BatchMode::BestEffort }
    }

    /// Registers the turns, creates the stream if it is new, and returns the events.
    fn begin(&self, book: &mut ProjectLedger) -> Vec<LedgerEvent<'_>> {
        let mut events = start_stream(book, self.request.stream.as_deref());
        for turn in self.request.proposal.turns.iter().chain(&self.said) {
            events.extend(add_turn(book, turn, false));
        }
        events
    }
}

fn answer(ledger: &Ledger, proposals: &[DeltaProposal<'_>], outcomes: &[CandidateOutcome]) -> ProposeAnswer {
    let views =
        proposals.iter().zip(outcomes).map(|(proposal, outcome)| outcome_of(ledger, proposal, outcome));
    let touched: BTreeSet<_> = outcomes.iter().filter_map(|outcome| outcome.item).collect();
    ProposeAnswer {
        outcomes: views.collect(),
        items: touched
            .into_iter()
            .filter_map(|item| ledger.item(item))
            .map(|item| LedgerItem::from(&item))
            .collect(),
        seq: ledger.head().get(),
        dry_run: false,
        notices: Vec::new(),
        left_out_of_lists: LeftOutOfLists::default(),
    }
}
