//! Merging streams into the ledger.

use super::shell::Shell;
use crate::{Fault, Workspace};
use probity_core::{Digest, Reason};
use probity_ledger::merge::{MergeError, MergePlan, Point, plan};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// What is to be merged, and what was decided about it.
#[derive(Debug, Clone, Default)]
pub struct MergeRequest {
    /// The stream.
    pub stream: String,
    /// Who decides.
    pub by: String,
    /// Choices, by the ids of the points that they decide.
    pub choices: BTreeMap<String, String>,
    /// Say what would happen, and do nothing.
    pub dry_run: bool,
}

/// What became of a merge.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Merged {
    /// `merged`, `review` when points are undecided, `planned` for a dry run.
    pub status: &'static str,
    /// The stream.
    pub stream: String,
    /// What needs a choice, with the choices that were made.
    pub points: Vec<Point>,
    /// Handles of the stream that are called otherwise in the ledger.
    pub renamed: Vec<(String, String)>,
    /// How many proposals of the stream are in the ledger now, or would be.
    pub proposals: usize,
    /// The position of the last input.
    pub seq: u64,
    /// What the merge of the two streams of commits lost, as `probity merge analyze` tells it.
    pub analysis: Value,
    /// The last commit: the merge, or the one that makes the decisions survive.
    pub commit: Option<String>,
    /// The object that holds all commits of the merge, as a bundle; none when nothing was merged.
    pub commits_object: Option<Digest>,
    /// What happened besides.
    pub notices: Vec<String>,
}

/// Merges a stream if every point is decided; says what is to be decided otherwise.
#[tracing::instrument(name = "merge", skip_all)]
pub fn merge(workspace: &Workspace, request: &MergeRequest) -> Result<Merged, Fault> {
    let mut shell = Shell::open(workspace, Some(&request.stream))?;
    let mut answer = shell.transact(|book| {
        let plan = plan(book, &request.stream, &request.by, &request.choices)?;
        let goes_through = plan.is_decided() && !request.dry_run;
        let mut payloads = Vec::new();
        if goes_through {
            book.replay(&plan.transaction)?;
            payloads.push(plan.transaction.clone());
        }
        let status = match (plan.is_decided(), request.dry_run) {
            (false, _) => "review",
            (true, true) => "planned",
            (true, false) => "merged",
        };
        let bundle = goes_through.then(|| probity_documents::export(&plan.commits));
        let object = bundle.map(|bundle| workspace.state.objects().put(&bundle)).transpose()?;
        Ok((payloads, answer(request, plan, status, object, book.main().head().get())))
    })?;
    answer.notices = shell.notices().words();
    Ok(answer)
}

fn answer(
    request: &MergeRequest,
    plan: MergePlan,
    status: &'static str,
    object: Option<Digest>,
    seq: u64,
) -> Merged {
    Merged {
        status,
        stream: request.stream.clone(),
        renamed: plan.renamed,
        proposals: plan.n_proposals,
        seq,
        analysis: plan.analysis.map_or(Value::Null, |analysis| {
            serde_json::to_value(analysis).expect("an analysis is texts and lists")
        }),
        commit: plan.commits.last().map(|commit| commit.id().to_string()),
        commits_object: object,
        points: plan.points,
        notices: Vec::new(),
    }
}

/// A stream of the ledger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StreamView {
    /// Its name.
    pub name: String,
    /// The position of the ledger that it began at.
    pub base: u64,
    /// How many batches were proposed to it since.
    pub batches: usize,
}

/// The streams, by name.
pub fn streams(workspace: &Workspace) -> Result<Vec<StreamView>, Fault> {
    let shell = Shell::open(workspace, None)?;
    let view = |(name, stream): (&String, &probity_ledger::Stream)| StreamView {
        name: name.clone(),
        base: stream.base.get(),
        batches: stream.n_batches(),
    };
    Ok(shell.book().streams().iter().map(view).collect())
}

impl From<MergeError> for Fault {
    fn from(error: MergeError) -> Self {
        match error {
            MergeError::Book(error) => error.into(),
            MergeError::Choice { .. } | MergeError::Refused { .. } => {
                Self::refused(Reason::LedgerReviewNeeded, error.to_string())
            }
            MergeError::Commits(_) => Self::refused(Reason::StateDamaged, error.to_string()),
        }
    }
}
