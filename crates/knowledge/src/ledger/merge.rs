//! Merges streams into the ledger.

use super::fault::OrFault as _;
use super::service::LedgerService;
use probity_api::ledger::{LedgerMergeAnswer, LedgerMergeStatus, LedgerStream, StreamListAnswer};
use probity_core::Digest;

use probity_ledger::merge::{MergePlan, plan};
use probity_workspace::{ServiceError, Workspace};
use std::collections::BTreeMap;

#[derive(Debug, Clone, Default)]
pub struct MergeRequest {
    pub stream: String,
    /// The person who makes the decisions.
    pub by: String,
    /// Choices, by the ids of their points.
    pub choices: BTreeMap<String, String>,
    /// Only report what would happen.
    pub dry_run: bool,
}

/// Merges a stream if every point is decided; otherwise reports the points to decide.
#[tracing::instrument(name = "merge", skip_all)]
pub fn merge(workspace: &Workspace, request: &MergeRequest) -> Result<LedgerMergeAnswer, ServiceError> {
    let mut service = LedgerService::open(workspace, Some(&request.stream))?;
    let mut answer = service.transact(|book| {
        let plan = plan(book, &request.stream, &request.by, &request.choices).or_fault()?;
        let goes_through = plan.is_decided() && !request.dry_run;
        let mut payloads = Vec::new();
        if goes_through {
            book.replay(&plan.transaction).or_fault()?;
            payloads.push(plan.transaction.clone());
        }
        let status = match (plan.is_decided(), request.dry_run) {
            (false, _) => LedgerMergeStatus::Review,
            (true, true) => LedgerMergeStatus::Planned,
            (true, false) => LedgerMergeStatus::Merged,
        };
        let bundle = goes_through.then(|| probity_documents::export_bundle(&plan.commits));
        let object = bundle.map(|bundle| workspace.state.objects().put(&bundle)).transpose()?;
        Ok((payloads, answer(request, plan, status, object, book.main().head().get())))
    })?;
    answer.notices = service.notices().messages();
    Ok(answer)
}

fn answer(
    request: &MergeRequest,
    plan: MergePlan,
    status: LedgerMergeStatus,
    object: Option<Digest>,
    seq: u64,
) -> LedgerMergeAnswer {
    LedgerMergeAnswer {
        status,
        stream: request.stream.clone(),
        renamed: plan.renamed,
        proposals: plan.n_proposals,
        seq,
        analysis: plan.analysis,
        commit: plan.commits.last().map(|commit| commit.id().to_string()),
        commits_object: object,
        points: plan.points,
        notices: Vec::new(),
    }
}

pub fn streams(workspace: &Workspace) -> Result<StreamListAnswer, ServiceError> {
    let service = LedgerService::open(workspace, None)?;
    let view = |(name, stream): (&String, &probity_ledger::StreamState)| LedgerStream {
        name: name.clone(),
        base: stream.base.get(),
        batches: stream.n_batches(),
    };
    Ok(StreamListAnswer { streams: service.book().streams().iter().map(view).collect() })
}
