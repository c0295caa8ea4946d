//! What a person might want to do next about the ledger, in words.

use super::propose::ledger_of;
use super::shell::Shell;
use probity_ledger::{Advice, Ledger, Suggestion};
use probity_workspace::{Fault, Workspace};
use serde::Serialize;

/// One suggestion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Suggested {
    /// `settle`, `decide`, `confirm` or `remember`.
    pub advice: Advice,
    /// Handles of the items that it is about.
    pub items: Vec<String>,
    /// What they say.
    pub summaries: Vec<String>,
    /// The number of turns that speak for it.
    pub turns: usize,
    /// Why, and what to do.
    pub why: &'static str,
}

/// All suggestions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Suggestions {
    /// The position of the last input.
    pub seq: u64,
    /// The most urgent first.
    pub suggestions: Vec<Suggested>,
}

/// Suggests what to settle, decide, confirm and remember.
pub fn suggest(workspace: &Workspace, stream: Option<&str>) -> Result<Suggestions, Fault> {
    let shell = Shell::open(workspace, stream)?;
    let ledger = ledger_of(shell.book(), stream)?;
    let suggestions = ledger.suggestions().iter().map(|suggestion| in_words(ledger, suggestion)).collect();
    Ok(Suggestions { seq: ledger.head().get(), suggestions })
}

fn in_words(ledger: &Ledger, suggestion: &Suggestion) -> Suggested {
    let items = suggestion.items.iter().filter_map(|&item| ledger.item(item));
    let (items, summaries) = items.map(|item| (item.handle.to_owned(), item.summary.to_owned())).unzip();
    let why = match suggestion.advice {
        Advice::Settle => "they contradict each other: supersede one of them",
        Advice::Decide => "the choice is still open: propose `branch_resolved`",
        Advice::Confirm => "the guess has support: propose `hypothesis_promoted`, or supersede it",
        Advice::Remember => "it held up in several turns: write it where every session reads it",
    };
    Suggested { advice: suggestion.advice, items, summaries, turns: suggestion.n_turns, why }
}
