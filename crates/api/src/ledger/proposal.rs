//! Requests and answers for what the ledger takes in: proposals, transcripts, citations and guardians.

use super::LedgerItem;
use crate::document::Answer;
use crate::list_cut::LeftOutOfLists;
use probity_ledger::extract::Role;
use probity_ledger::model::DroppedDelta;
use probity_ledger::transcript::UnknownLine;
use probity_ledger::{CandidateDelta, Citation, VerdictCode, VerdictKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Something that was said, so that deltas can name it as their source.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TurnInput {
    /// Unique in the ledger
    pub id: String,
    /// user, assistant, system or tool (default: user)
    #[serde(default = "user", deserialize_with = "role")]
    #[schemars(with = "Option<String>")]
    pub role: Role,
    #[serde(default)]
    pub text: String,
}

const fn user() -> Role {
    Role::User
}

/// Parses a role, including the names that programs use for it in their transcripts.
fn role<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Role, D::Error> {
    let word = String::deserialize(deserializer)?;
    probity_ledger::transcript::parse_role(&word)
        .ok_or_else(|| serde::de::Error::custom(format!("`{word}` is no role")))
}

/// The members of a proposal file. A file may also hold a single delta or a list of them.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProposalFile {
    pub deltas: Vec<CandidateDelta>,
    #[serde(default)]
    pub turns: Vec<TurnInput>,
    #[serde(default)]
    pub atomic: bool,
}

/// A proposal to the ledger, with its author.
#[derive(Debug, Clone, Default)]
pub struct ProposeRequest {
    pub author: String,
    /// The stream; `None` for the ledger itself.
    pub stream: Option<String>,
    /// Reports what would happen, and does nothing.
    pub dry_run: bool,
    /// Text that becomes a turn, and the source of every delta that names none.
    pub said: Option<String>,
    pub proposal: ProposalFile,
}

/// The outcome of one proposal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ProposalOutcome {
    /// Its position; null in a dry run.
    pub seq: Option<u64>,
    pub outcome: VerdictKind,
    /// The code of a merge or rejection.
    pub code: Option<VerdictCode>,
    /// The meaning of the code.
    pub message: Option<String>,
    pub item: Option<String>,
    /// The id that the ledger assigned to the item.
    pub id: Option<String>,
}

impl ProposalOutcome {
    /// Counts the outcomes of a kind.
    pub fn count(outcomes: &[Self], kind: VerdictKind) -> usize {
        outcomes.iter().filter(|outcome| outcome.outcome == kind).count()
    }
}

/// The outcome of each delta: the answer of `probity ledger propose`.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ProposeAnswer {
    /// One entry per delta, in order.
    pub outcomes: Vec<ProposalOutcome>,
    /// The items touched, in their new state.
    pub items: Vec<LedgerItem>,
    /// The position of the last input.
    pub seq: u64,
    pub dry_run: bool,
    /// Other events worth knowing.
    pub notices: Vec<String>,
    #[serde(skip_serializing_if = "LeftOutOfLists::is_empty")]
    pub left_out_of_lists: LeftOutOfLists,
}

impl Answer for ProposeAnswer {
    const SCHEMA: &'static str = "probity/ledger-propose/v1";
}

impl ProposeAnswer {
    /// Shortens its long lists.
    #[must_use]
    pub fn shortened(mut self, limit: usize) -> Self {
        self.left_out_of_lists.cut("outcomes", &mut self.outcomes, limit);
        self.left_out_of_lists.cut("items", &mut self.items, limit);
        self
    }
}

/// The result of ingesting transcripts: the answer of `probity ledger ingest`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct IngestAnswer {
    /// The position of the last input.
    pub seq: u64,
    pub turns_new: usize,
    /// The number of turns already known, which were not read again.
    pub turns_known: usize,
    /// The known turns that came with other words this time. The words that came first stay.
    pub turns_conflicting: Vec<String>,
    /// The number of turns still to be read.
    pub turns_pending: usize,
    /// The outcomes of the candidates, in order.
    pub outcomes: Vec<ProposalOutcome>,
    /// Lines that could not be parsed, each with the name of its transcript.
    pub not_understood: Vec<NotUnderstoodLine>,
    /// The number of lines that could not be parsed.
    pub n_not_understood: usize,
    /// Counts of lines that no participant said, by kind; they are ignored.
    pub left_out: BTreeMap<String, usize>,
    /// The use of a model, if one was asked.
    pub model: Option<ModelUse>,
    /// Other events worth knowing.
    pub notices: Vec<String>,
}

impl Answer for IngestAnswer {
    const SCHEMA: &'static str = "probity/ledger-ingest/v1";
}

/// A line that could not be parsed, with the name of its transcript.
pub type NotUnderstoodLine = (String, UnknownLine);

/// The use of a model, and its result.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ModelUse {
    pub usage: ModelUsage,
    /// The size of all prompts.
    pub prompt_bytes: usize,
    /// The size of the turns in the prompts.
    pub turn_bytes: usize,
    /// Deltas of the model that were dropped, with the reason.
    pub dropped: Vec<DroppedDelta>,
    /// The number of its claims that were weakened to hypotheses.
    pub weakened: usize,
    /// Why it stopped before reading all turns.
    pub failed: Option<String>,
}

/// The cost of using a model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ModelUsage {
    /// The number of calls, retries included.
    pub calls: u64,
    /// Tokens of the prompts, as counted by the provider.
    pub prompt_tokens: u64,
    /// Tokens of the completions, as counted by the provider.
    pub completion_tokens: u64,
}

/// The citations of a change: the answer of `probity ledger cite`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CitationAnswer {
    /// The id of an intent or a run.
    pub change: String,
    pub citations: Vec<Citation>,
}

impl Answer for CitationAnswer {
    const SCHEMA: &'static str = "probity/ledger-cite/v1";
}

/// Who may change hard constraints: the answer of `probity ledger guard`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct GuardAnswer {
    /// The authors who may; null for everyone.
    pub guardians: Option<Vec<String>>,
}

impl Answer for GuardAnswer {
    const SCHEMA: &'static str = "probity/ledger-guard/v1";
}
