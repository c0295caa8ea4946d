//! Proposing candidate deltas.

use super::answers::{OutcomeView, item_json};
use super::shell::Shell;
use crate::{Fault, Workspace};
use probity_core::Reason;
use probity_ledger::extract::Role;
use probity_ledger::wire::{Event, encode};
use probity_ledger::{BatchMode, Book, Ledger, Outcome, Proposal};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeSet;

/// The longest text of a turn that is kept; ranges may lead beyond it.
const MAX_TURN_BYTES: usize = 64 << 10;

/// The most deltas of one request.
const MAX_DELTAS: usize = 100_000;

/// Something that was said, so that deltas can name it as their source.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TurnInput {
    /// Its id, unique in the ledger.
    pub id: String,
    /// Who said it.
    #[serde(default = "user", deserialize_with = "role")]
    pub role: Role,
    /// What was said.
    #[serde(default)]
    pub text: String,
}

fn user() -> Role {
    Role::User
}

fn role<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Role, D::Error> {
    let word = String::deserialize(deserializer)?;
    probity_ledger::transcript::role_of(&word)
        .ok_or_else(|| serde::de::Error::custom(format!("`{word}` is no role")))
}

/// What is proposed.
#[derive(Debug, Clone, Default)]
pub struct ProposeRequest {
    /// Who proposes.
    pub author: String,
    /// The stream; `None` for the ledger itself.
    pub stream: Option<String>,
    /// All or nothing.
    pub atomic: bool,
    /// Say what would become of it, and do nothing.
    pub dry_run: bool,
    /// What was said.
    pub turns: Vec<TurnInput>,
    /// The candidates, as JSON.
    pub deltas: Vec<Value>,
}

/// What became of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Proposed {
    /// One for each delta, in order.
    pub outcomes: Vec<OutcomeView>,
    /// The items that were touched, as they are now.
    pub items: Vec<Value>,
    /// The position of the last input.
    pub seq: u64,
    /// Whether nothing was done.
    pub dry_run: bool,
    /// What happened besides.
    pub notices: Vec<String>,
}

impl Proposed {
    /// How many were rejected.
    pub fn n_rejected(&self) -> usize {
        self.outcomes.iter().filter(|outcome| outcome.outcome == "rejected").count()
    }
}

/// Makes `said` a turn of its own, and the source of every delta of the request that names none.
pub fn add_said(request: &mut ProposeRequest, said: &str) {
    let id = crate::clock::run_id();
    for delta in request.deltas.iter_mut().filter(|delta| delta.is_object() && delta.get("sources").is_none())
    {
        delta["sources"] = serde_json::json!([{ "turn": id }]);
    }
    request.turns.push(TurnInput { id, role: Role::User, text: said.to_owned() });
}

/// Proposes deltas; the reconciler decides.
#[tracing::instrument(name = "propose", skip_all)]
pub fn propose(workspace: &Workspace, request: &ProposeRequest) -> Result<Proposed, Fault> {
    check(request)?;
    let mut shell = Shell::open(workspace, request.stream.as_deref())?;
    let stream = request.stream.as_deref();
    let mut proposed = if request.dry_run {
        let mut book = shell.book().clone();
        rehearse(&mut book, request)?
    } else {
        shell.transact(|book| {
            let mut events = begin(book, request);
            let proposals: Vec<_> = request.deltas.iter().map(Proposal::read).collect();
            let (batch, outcomes) = decide(book, stream, &request.author, mode(request), proposals)?;
            let ledger = ledger_of(book, stream)?;
            let answer = answer(ledger, &batch, &outcomes);
            events.push(batch);
            Ok((vec![encode(&events)], answer))
        })?
    };
    proposed.notices = shell.notices().words();
    Ok(proposed)
}

fn check(request: &ProposeRequest) -> Result<(), Fault> {
    if request.deltas.len() > MAX_DELTAS {
        let detail = format!("{} deltas at once, and {MAX_DELTAS} are the most", request.deltas.len());
        return Err(Fault::refused(Reason::LedgerInputInvalid, detail));
    }
    if request.stream.as_deref().is_some_and(|stream| stream.trim().is_empty()) {
        return Err(Fault::refused(Reason::LedgerInputInvalid, "a stream needs a name"));
    }
    if request.author.trim().is_empty() {
        return Err(Fault::refused(Reason::LedgerInputInvalid, "an author needs a name"));
    }
    Ok(())
}

fn mode(request: &ProposeRequest) -> BatchMode {
    if request.atomic { BatchMode::Atomic } else { BatchMode::BestEffort }
}

/// Makes the turns known and begins the stream if it is new; the events for it.
fn begin<'a>(book: &mut Book, request: &'a ProposeRequest) -> Vec<Event<'a>> {
    let mut events = start_stream(book, request.stream.as_deref());
    for turn in &request.turns {
        events.extend(add_turn(book, turn, false));
    }
    events
}

/// The event that begins a stream which is not there yet.
pub(super) fn start_stream<'a>(book: &mut Book, stream: Option<&'a str>) -> Vec<Event<'a>> {
    match stream {
        Some(stream) if !book.streams().contains_key(stream) => {
            let fork = Event::Fork { stream };
            book.apply(&fork).expect("a stream can always begin");
            vec![fork]
        }
        _ => Vec::new(),
    }
}

/// The event that makes a turn known, unless it is known or has no name.
pub(super) fn add_turn<'a>(book: &mut Book, turn: &'a TurnInput, pending: bool) -> Option<Event<'a>> {
    if turn.id.trim().is_empty() || book.main().knows_turn(&turn.id) {
        return None;
    }
    let mut end = turn.text.len().min(MAX_TURN_BYTES);
    while !turn.text.is_char_boundary(end) {
        end -= 1;
    }
    let event = Event::Turn { id: &turn.id, role: turn.role, text: &turn.text[..end], pending };
    book.apply(&event).expect("a turn can always be said");
    Some(event)
}

/// Lets the rules decide, and notes what they decided.
pub(super) fn decide<'a>(
    book: &mut Book,
    stream: Option<&'a str>,
    author: &'a str,
    mode: BatchMode,
    proposals: Vec<Proposal<'a>>,
) -> Result<(Event<'a>, Vec<Outcome>), Fault> {
    let undecided = Event::Batch { stream, author, mode, proposals, verdicts: Vec::new() };
    let outcomes = book.apply(&undecided)?;
    let Event::Batch { proposals, .. } = undecided else { unreachable!("it was just made") };
    let verdicts = outcomes.iter().map(|outcome| outcome.verdict).collect();
    Ok((Event::Batch { stream, author, mode, proposals, verdicts }, outcomes))
}

/// The ledger of a stream that was asked for when the shell was opened.
pub(super) fn ledger_of<'b>(book: &'b Book, stream: Option<&str>) -> Result<&'b Ledger, Fault> {
    book.ledger(stream).ok_or_else(|| {
        Fault::refused(
            Reason::LedgerNoSuchStream,
            format!("there is no stream `{}`", stream.unwrap_or_default()),
        )
    })
}

fn answer(ledger: &Ledger, batch: &Event<'_>, outcomes: &[Outcome]) -> Proposed {
    let Event::Batch { proposals, .. } = batch else { unreachable!("only batches are answered") };
    let views =
        proposals.iter().zip(outcomes).map(|(proposal, outcome)| OutcomeView::new(ledger, proposal, outcome));
    let touched: BTreeSet<_> = outcomes.iter().filter_map(|outcome| outcome.item).collect();
    Proposed {
        outcomes: views.collect(),
        items: touched
            .into_iter()
            .filter_map(|item| ledger.item(item))
            .map(|item| item_json(&item))
            .collect(),
        seq: ledger.head().get(),
        dry_run: false,
        notices: Vec::new(),
    }
}

fn rehearse(book: &mut Book, request: &ProposeRequest) -> Result<Proposed, Fault> {
    begin(book, request);
    let proposals: Vec<_> = request.deltas.iter().map(Proposal::read).collect();
    let stream = request.stream.as_deref();
    let batch = Event::Batch {
        stream,
        author: &request.author,
        mode: mode(request),
        proposals,
        verdicts: Vec::new(),
    };
    let verdicts = book.rehearse(&batch)?;
    let Event::Batch { proposals, .. } = &batch else { unreachable!("it was just made") };
    let views =
        proposals.iter().zip(verdicts).map(|(proposal, verdict)| OutcomeView::of_verdict(proposal, verdict));
    Ok(Proposed {
        outcomes: views.collect(),
        items: Vec::new(),
        seq: ledger_of(book, stream)?.head().get(),
        dry_run: true,
        notices: Vec::new(),
    })
}
