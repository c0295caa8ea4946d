//! Requests to and answers of the ledger.

mod item;
mod proposal;
mod question;
mod stream;

pub use item::{ItemSource, ItemVersion, LedgerInput, LedgerItem, ReplayedInput};
pub use proposal::{
    CitationAnswer, GuardAnswer, IngestAnswer, ModelUsage, ModelUse, NotUnderstoodLine, ProposalFile,
    ProposalOutcome, ProposeAnswer, ProposeRequest, TurnInput,
};
pub use question::{
    ChangedItemsAnswer, ContextAnswer, ItemExplanation, ItemHistory, ItemListAnswer, ReplayAnswer,
    ScoresAnswer, SuggestedStep, SuggestionsAnswer,
};
pub use stream::{LedgerMergeAnswer, LedgerMergeStatus, LedgerStream, StreamListAnswer};
