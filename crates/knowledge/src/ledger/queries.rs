//! Read-only queries on the ledger.

use super::fault::OrFault as _;
use super::propose::ledger_of;
use super::service::LedgerService;
use probity_api::LeftOutOfLists;
use probity_api::ledger::{
    ChangedItemsAnswer, ContextAnswer, ItemExplanation, ItemHistory, ItemListAnswer, LedgerInput, LedgerItem,
    ScoresAnswer,
};
use probity_core::ReasonCode;
use probity_ledger::wire::{LedgerEvent, decode};
use probity_ledger::{
    ExportOptions, ItemId, ItemKind, ItemStatus, ItemView, Ledger, LedgerProjection, LedgerSeq,
    estimate_tokens,
};
use probity_storage::JournalPosition;
use probity_workspace::{ServiceError, Workspace};
use std::collections::BTreeMap;

/// The most characters quoted from a turn if no range selects a part.
const MAX_QUOTE_CHARS: usize = 240;

#[derive(Debug, Clone, Default)]
pub struct ItemFilter {
    /// `None` for the ledger itself.
    pub stream: Option<String>,
    pub kind: Option<ItemKind>,
    pub status: Option<ItemStatus>,
    /// Include superseded and resolved items.
    pub all: bool,
}

impl ItemFilter {
    fn matches(&self, item: &ItemView<'_>) -> bool {
        let is_wanted = self.all || self.status.is_some() || item.status.is_live();
        is_wanted
            && self.kind.is_none_or(|kind| item.kind == kind)
            && self.status.is_none_or(|status| item.status == status)
    }
}

fn list<'l>(
    service: &LedgerService,
    ledger: &'l Ledger,
    at: LedgerSeq,
    items: impl Iterator<Item = ItemView<'l>>,
) -> ItemListAnswer {
    let pair = |older, newer| [ledger.handle(older).to_owned(), ledger.handle(newer).to_owned()];
    let streams = service.book().streams().iter().filter(|(_, stream)| stream.n_batches() > 0);
    ItemListAnswer {
        seq: at.get(),
        items: items.map(|item| LedgerItem::from(&item)).collect(),
        contradictions: ledger
            .open_conflicts()
            .map(|conflict| pair(conflict.older, conflict.newer))
            .collect(),
        pending_turns: service.book().pending().keys().cloned().collect(),
        streams: streams.map(|(name, stream)| (name.clone(), stream.n_batches())).collect(),
        notices: service.notices().messages(),
        left_out_of_lists: LeftOutOfLists::default(),
    }
}

/// Returns the items at the head.
pub fn show(workspace: &Workspace, filter: &ItemFilter) -> Result<ItemListAnswer, ServiceError> {
    let service = LedgerService::open(workspace, filter.stream.as_deref())?;
    let ledger = ledger_of(service.book(), filter.stream.as_deref())?;
    Ok(list(&service, ledger, ledger.head(), ledger.items().filter(|item| filter.matches(item))))
}

/// Returns the items as of `position`.
pub fn as_of(
    workspace: &Workspace,
    position: i64,
    filter: &ItemFilter,
) -> Result<ItemListAnswer, ServiceError> {
    let service = LedgerService::open(workspace, filter.stream.as_deref())?;
    let ledger = ledger_of(service.book(), filter.stream.as_deref())?;
    let at = ledger.position(position).or_fault()?;
    let mut answer = list(&service, ledger, at, ledger.as_of(at).filter(|item| filter.matches(item)));
    let was_open = |conflict: &&probity_ledger::ItemConflict| {
        conflict.raised <= at && conflict.settled.is_none_or(|settled| settled > at)
    };
    let open = ledger.conflicts().iter().filter(was_open);
    answer.contradictions = open
        .map(|conflict| [conflict.older, conflict.newer].map(|item| ledger.handle(item).to_owned()))
        .collect();
    Ok(answer)
}

/// The number of positions [`changed`] looks back by default.
const RECENT_POSITIONS: u64 = 20;

/// Returns the items that changed after `since`, by default within the last 20 positions.
pub fn changed(
    workspace: &Workspace,
    since: Option<i64>,
    stream: Option<&str>,
) -> Result<ChangedItemsAnswer, ServiceError> {
    let service = LedgerService::open(workspace, stream)?;
    let ledger = ledger_of(service.book(), stream)?;
    let lately = || i64::try_from(ledger.head().get().saturating_sub(RECENT_POSITIONS)).unwrap_or(i64::MAX);
    let since = ledger.position(since.unwrap_or_else(lately)).or_fault()?;
    let items = ledger.changed_since(since).into_iter().filter_map(|item| ledger.item(item));
    Ok(ChangedItemsAnswer {
        since: since.get(),
        seq: ledger.head().get(),
        items: items.map(|item| LedgerItem::from(&item)).collect(),
        left_out_of_lists: LeftOutOfLists::default(),
    })
}

pub fn explain(
    workspace: &Workspace,
    name: &str,
    stream: Option<&str>,
) -> Result<ItemExplanation, ServiceError> {
    let service = LedgerService::open(workspace, stream)?;
    let ledger = ledger_of(service.book(), stream)?;
    let item = find(ledger, name)?;
    let explanation = ledger.explain(item).ok_or_else(|| no_such_item(name))?;
    let texts = turn_texts(&service, &explanation.item)?;
    let quote = |source: &probity_ledger::SourceView<'_>| {
        texts.get(source.turn).and_then(|text| quote_of(text, source.range))
    };
    let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
    Ok(ItemExplanation {
        seq: ledger.head().get(),
        quotes: explanation.item.sources.iter().map(quote).collect(),
        handles: owned(&explanation.handles),
        replaced_by: owned(&explanation.replaced_by),
        contradicts: owned(&explanation.contradicts),
        changes: super::change_links::citations_of(service.book(), ledger, item),
        item: LedgerItem::from(&explanation.item),
    })
}

pub(super) fn find(ledger: &Ledger, name: &str) -> Result<ItemId, ServiceError> {
    ledger.find(name).ok_or_else(|| no_such_item(name))
}

fn no_such_item(name: &str) -> ServiceError {
    ServiceError::refused(ReasonCode::LedgerNoSuchItem, format!("the ledger has no item `{name}`"))
}

/// Returns the texts of the turns that an item comes from, as far as the log has them.
fn turn_texts(
    service: &LedgerService,
    item: &ItemView<'_>,
) -> Result<BTreeMap<String, String>, ServiceError> {
    let wanted: Vec<&str> = item.sources.iter().map(|source| source.turn).collect();
    let mut texts = BTreeMap::new();
    service.journal().read_after(&JournalPosition::start(), |payload, _| -> Result<(), ServiceError> {
        if !wanted.iter().any(|turn| contains_bytes(payload, turn.as_bytes())) {
            return Ok(());
        }
        for event in decode(payload).map_err(probity_ledger::ProjectLedgerError::from).or_fault()? {
            if let LedgerEvent::Turn { id, text, .. } = event
                && wanted.contains(&id)
            {
                texts.insert(id.to_owned(), text.to_owned());
            }
        }
        Ok(())
    })?;
    Ok(texts)
}

fn contains_bytes(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len().max(1)).any(|window| window == part)
}

fn quote_of(text: &str, range: Option<(u64, u64)>) -> Option<String> {
    let Some((start, end)) = range else {
        let cut: String = text.chars().take(MAX_QUOTE_CHARS).collect();
        return Some(if cut.len() < text.len() { format!("{cut}…") } else { cut })
            .filter(|quote| !quote.is_empty());
    };
    let (start, end) = (usize::try_from(start).ok()?, usize::try_from(end).ok()?);
    text.get(start..end.min(text.len())).map(str::to_owned)
}

pub fn history(workspace: &Workspace, name: &str, stream: Option<&str>) -> Result<ItemHistory, ServiceError> {
    let service = LedgerService::open(workspace, stream)?;
    let ledger = ledger_of(service.book(), stream)?;
    let item = find(ledger, name)?;
    let view = ledger.item(item).ok_or_else(|| no_such_item(name))?;
    Ok(ItemHistory {
        seq: ledger.head().get(),
        item: LedgerItem::from(&view),
        inputs: ledger.inputs_of(item).map(LedgerInput::from).collect(),
        left_out_of_lists: LeftOutOfLists::default(),
    })
}

/// Counts the verdicts on every author's proposals.
pub fn scores(workspace: &Workspace, stream: Option<&str>) -> Result<ScoresAnswer, ServiceError> {
    let service = LedgerService::open(workspace, stream)?;
    let ledger = ledger_of(service.book(), stream)?;
    Ok(ScoresAnswer { seq: ledger.head().get(), authors: ledger.scoreboard() })
}

#[derive(Debug, Clone, Default)]
pub struct ExportRequest {
    /// `None` for the ledger itself.
    pub stream: Option<String>,
    /// The most tokens in the text.
    pub budget: usize,
    /// The subject of the next prompt.
    pub query: Option<String>,
    /// Export only what changed after this position.
    pub since: Option<i64>,
    /// A page for people instead of a context.
    pub page: Option<LedgerProjection>,
}

/// Renders a context for the next prompt, or a page.
pub fn export(workspace: &Workspace, request: &ExportRequest) -> Result<ContextAnswer, ServiceError> {
    let service = LedgerService::open(workspace, request.stream.as_deref())?;
    let ledger = ledger_of(service.book(), request.stream.as_deref())?;
    let names =
        |items: &[ItemId]| items.iter().map(|&item| ledger.handle(item).to_owned()).collect::<Vec<_>>();
    if let Some(page) = request.page {
        let text = ledger.markdown(page);
        return Ok(ContextAnswer {
            seq: ledger.head().get(),
            tokens: estimate_tokens(&text),
            text,
            items: Vec::new(),
            left_out: Vec::new(),
            hard_left_out: 0,
            left_out_of_lists: LeftOutOfLists::default(),
        });
    }
    let since = request.since.map(|since| ledger.position(since)).transpose().or_fault()?;
    let options = ExportOptions {
        query: request.query.as_deref(),
        since,
        ..ExportOptions::with_budget(request.budget)
    };
    let context = ledger.export(&options);
    Ok(ContextAnswer {
        seq: context.position.get(),
        items: names(&context.shown),
        left_out: names(&context.left_out),
        text: context.text,
        tokens: context.tokens,
        hard_left_out: context.hard_left_out,
        left_out_of_lists: LeftOutOfLists::default(),
    })
}
