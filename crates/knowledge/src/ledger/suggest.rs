//! Words the suggested next steps for people.

use super::propose::ledger_of;
use super::service::LedgerService;
use probity_api::ledger::{SuggestedStep, SuggestionsAnswer};
use probity_ledger::{Ledger, LedgerSuggestion, SuggestionKind};
use probity_workspace::{ServiceError, Workspace};

pub fn suggest(workspace: &Workspace, stream: Option<&str>) -> Result<SuggestionsAnswer, ServiceError> {
    let service = LedgerService::open(workspace, stream)?;
    let ledger = ledger_of(service.book(), stream)?;
    let suggestions =
        ledger.suggestions().iter().map(|suggestion| suggestion_view(ledger, suggestion)).collect();
    Ok(SuggestionsAnswer { seq: ledger.head().get(), suggestions })
}

fn suggestion_view(ledger: &Ledger, suggestion: &LedgerSuggestion) -> SuggestedStep {
    let items = suggestion.items.iter().filter_map(|&item| ledger.item(item));
    let (items, summaries) = items.map(|item| (item.handle.to_owned(), item.summary.to_owned())).unzip();
    let why = match suggestion.advice {
        SuggestionKind::Settle => "they contradict each other: supersede one of them",
        SuggestionKind::Decide => "the choice is still open: propose `branch_resolved`",
        SuggestionKind::Confirm => "the guess has support: propose `hypothesis_promoted`, or supersede it",
        SuggestionKind::Remember => "it held up in several turns: write it where every session reads it",
    };
    SuggestedStep { advice: suggestion.advice, items, summaries, turns: suggestion.n_turns, why }
}
