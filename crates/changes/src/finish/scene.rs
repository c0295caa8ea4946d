//! The tree after a change, and what it says: the dirt, whose it is, and the run that describes it.

use super::{FinishContext, FinishHandler};
use crate::evidence::{self, ChangedPathResolver};
use crate::neighbours::RegistryView;
use probity_analysis::RunId;
use probity_contract::profile;
use probity_core::ReasonCode;
use probity_intents::hygiene::StartSnapshot;
use probity_intents::{ClaimIndex, FinishState, ScopeEntry, hygiene_finish};
use probity_quality::analyze::{self, AnalyzeOptions};
use probity_quality::contract::{self as judge, AnalysisSide};
use probity_quality::runs::{AnalysisStore, DifferingAnalyses, StoredAnalysis};
use probity_workspace::ServiceError;
use probity_workspace::progress::ProgressStep;
use probity_workspace::worktree::{ChangesSinceStart, WorktreeStatus};
use std::collections::BTreeSet;

/// How often a tree that moves between look and analysis is looked at again.
const ATTEMPTS: u32 = 3;

impl FinishHandler<'_> {
    /// Looks at the tree; analyses it if the change needs a run and one may be made.
    pub(super) fn scene(
        &self,
        progress: &(dyn Fn(ProgressStep) + Sync),
    ) -> Result<FinishContext, ServiceError> {
        let runs = AnalysisStore::open(self.workspace);
        for _ in 0..ATTEMPTS {
            let look = WorktreeStatus::take(self.workspace, &self.policy)?;
            let since = self.since(&look)?;
            let circumstances = self.shell.circumstances()?;
            let seen = RegistryView {
                registry: self.shell.registry(),
                owner: &self.owner,
                circumstances: &circumstances,
                frame: &self.frame,
                kept: &BTreeSet::new(),
            };
            let peers = seen.peers_here(&self.intent.id);
            let witness = ChangedPathResolver {
                workspace: self.workspace,
                look: &look,
                since: &since,
                frame: &self.frame,
                scope: &self.intent.scope,
                others: ClaimIndex::live(&peers),
            };
            let evidence = witness.paths(&self.evidence)?;
            let (dirty, start) = evidence::up(&self.frame, &since);
            let hygiene = hygiene_finish(&FinishState {
                scope: self.intent.scope.clone(),
                evidence: self.frame.entries_up(&evidence),
                dirty,
                start_snapshot: self.intent.base.dirty_snapshot.map(|_| start),
                foreign_intents: peers,
                strict: self.request.strict.unwrap_or(false) || self.policy.change.strict,
            });
            let tree_run = analyze::run_id(&self.policy, &look.snapshot)?;
            // A change of nothing is told by its runs: there is no file to have a profile.
            let needed =
                evidence.is_empty() || profile(evidence.iter().map(ScopeEntry::as_bytes)).after_run_required;
            let after = match &self.request.after_run_id {
                Some(name) => Some(runs.find(name)?),
                None => Some(tree_run).filter(|id| needed && runs.has(*id)),
            };
            let (before, after) = self.stored(&runs, after)?;
            if after.is_some() || !needed || !self.request.analyze || hygiene.blocks_finish() {
                let before = match before {
                    Some(stored) => Some(AnalysisSide::of(stored, self.baseline_then(&look, &since)?)),
                    None => None,
                };
                let after = after.map(|stored| AnalysisSide::of(stored, self.baseline_now(&look)));
                return Ok(FinishContext { look, since, evidence, hygiene, tree_run, before, after });
            }
            analyze::analyze(self.workspace, &self.policy, &AnalyzeOptions::default(), progress)?;
        }
        Err(ServiceError::refused(ReasonCode::TreeUnstable, "the tree changes while it is analysed"))
    }

    pub(super) fn since(&self, look: &WorktreeStatus) -> Result<ChangesSinceStart, ServiceError> {
        if let Some(record) = &self.record {
            return look.since(self.workspace, record);
        }
        Ok(ChangesSinceStart { start: StartSnapshot::Unreadable, ..look.since(self.workspace, &look.state)? })
    }

    /// The runs of both sides, as far as they are there and the verdict needs them.
    fn stored(
        &self,
        runs: &AnalysisStore,
        after: Option<RunId>,
    ) -> Result<(Option<StoredAnalysis>, Option<StoredAnalysis>), ServiceError> {
        let before = self.intent.base.run_id.parse().ok().map(RunId);
        let (claims, text) = (&self.request.claims, self.request.claims_text.as_deref());
        let needs_all = judge::needs_whole_runs(claims, text, &analyze::gate_rules(&self.policy)?);
        if let (Some(before), Some(after), false) = (before, after, needs_all)
            && let Some(DifferingAnalyses { before, after, .. }) = runs.recall_differing(before, after)
        {
            return Ok((Some(before), Some(after)));
        }
        let is_compared = after.is_some();
        let after = match &self.request.after_run_id {
            Some(name) => Some(runs.load(name)?),
            None => after.and_then(|id| runs.recall(id)),
        };
        let read = |id| if needs_all || is_compared { runs.recall(id) } else { runs.recall_head(id) };
        Ok((before.and_then(read), after))
    }
}
