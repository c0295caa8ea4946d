//! What is given to the ledger: proposals, transcripts, citations and guardians.

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

/// Reads a role, also by the words that programs use for it in their transcripts.
fn role<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Role, D::Error> {
    let word = String::deserialize(deserializer)?;
    probity_ledger::transcript::parse_role(&word)
        .ok_or_else(|| serde::de::Error::custom(format!("`{word}` is no role")))
}

/// The members of a proposal in a file. A file may also hold one delta, or a list of them.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProposalFile {
    pub deltas: Vec<CandidateDelta>,
    #[serde(default)]
    pub turns: Vec<TurnInput>,
    /// All or nothing.
    #[serde(default)]
    pub atomic: bool,
}

/// What is proposed to the ledger, by whom.
#[derive(Debug, Clone, Default)]
pub struct ProposeRequest {
    pub author: String,
    /// The stream; `None` for the ledger itself.
    pub stream: Option<String>,
    /// Say what would become of it, and do nothing.
    pub dry_run: bool,
    /// What was said: becomes a turn of its own, and the source of every delta that names none.
    pub said: Option<String>,
    pub proposal: ProposalFile,
}

/// What became of one proposal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ProposalOutcome {
    /// Its position; null in a rehearsal.
    pub seq: Option<u64>,
    pub outcome: VerdictKind,
    /// The code of a merge or rejection.
    pub code: Option<VerdictCode>,
    /// The code in words.
    pub message: Option<String>,
    /// The handle of the item.
    pub item: Option<String>,
    /// The id that the engine minted for the item.
    pub id: Option<String>,
}

impl ProposalOutcome {
    /// How many outcomes are of a kind.
    pub fn count(outcomes: &[Self], kind: VerdictKind) -> usize {
        outcomes.iter().filter(|outcome| outcome.outcome == kind).count()
    }
}

/// One outcome for each delta: the answer of `probity ledger propose`.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ProposeAnswer {
    /// One for each delta, in order.
    pub outcomes: Vec<ProposalOutcome>,
    /// The items that were touched, as they are now.
    pub items: Vec<LedgerItem>,
    /// The position of the last input.
    pub seq: u64,
    /// Whether nothing was done.
    pub dry_run: bool,
    /// What happened besides.
    pub notices: Vec<String>,
    #[serde(skip_serializing_if = "LeftOutOfLists::is_empty")]
    pub left_out_of_lists: LeftOutOfLists,
}

impl Answer for ProposeAnswer {
    const SCHEMA: &'static str = "probity/ledger-propose/v1";
}

impl ProposeAnswer {
    /// Cuts its long lists.
    #[must_use]
    pub fn shortened(mut self, limit: usize) -> Self {
        self.left_out_of_lists.cut("outcomes", &mut self.outcomes, limit);
        self.left_out_of_lists.cut("items", &mut self.items, limit);
        self
    }
}

/// What came of taking in transcripts: the answer of `probity ledger ingest`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct IngestAnswer {
    /// The position of the last input.
    pub seq: u64,
    /// How many turns were new.
    pub turns_new: usize,
    /// How many were known, and not read again.
    pub turns_known: usize,
    /// How many wait to be read.
    pub turns_pending: usize,
    /// What became of the candidates, in order.
    pub outcomes: Vec<ProposalOutcome>,
    /// Lines that were not understood, each with the name of its transcript.
    pub not_understood: Vec<NotUnderstoodLine>,
    /// How many lines were not understood in all.
    pub n_not_understood: usize,
    /// How many lines were left out because nobody said them, by what they are.
    pub left_out: BTreeMap<String, usize>,
    /// What asking a model came to, if one was asked.
    pub model: Option<ModelUse>,
    /// What happened besides.
    pub notices: Vec<String>,
}

impl Answer for IngestAnswer {
    const SCHEMA: &'static str = "probity/ledger-ingest/v1";
}

/// A line that was not understood, after the name of its transcript.
pub type NotUnderstoodLine = (String, UnknownLine);

/// What asking a model came to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ModelUse {
    pub usage: ModelUsage,
    /// The size of all questions.
    pub prompt_bytes: usize,
    /// The size of the turns in them.
    pub turn_bytes: usize,
    /// What the model proposed and was not passed on, and why.
    pub dropped: Vec<DroppedDelta>,
    /// How many of its claims were taken for hypotheses.
    pub weakened: usize,
    /// Why it stopped before all turns were read.
    pub failed: Option<String>,
}

/// What was spent on a model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ModelUsage {
    /// How often the model was asked, retries included.
    pub calls: u64,
    /// Tokens of the questions, as the provider counts them.
    pub prompt_tokens: u64,
    /// Tokens of the answers, as the provider counts them.
    pub completion_tokens: u64,
}

/// What a change cites: the answer of `probity ledger cite`.
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
    /// The authors who may; null: everyone.
    pub guardians: Option<Vec<String>>,
}

impl Answer for GuardAnswer {
    const SCHEMA: &'static str = "probity/ledger-guard/v1";
}
