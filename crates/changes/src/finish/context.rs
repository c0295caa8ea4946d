//! Collects the tree after a change: its uncommitted changes, their attribution, and the analysis that describes it.

use super::{FinishContext, FinishHandler, committed_aside};
use crate::changed_paths::{self, ChangedPathResolver};
use crate::concurrent_intents::RegistryView;
use probity_analysis::RunId;
use probity_contract::profile;
use probity_core::ReasonCode;
use probity_intents::hygiene::StartSnapshot;
use probity_intents::{ClaimIndex, FinishState, ScopeEntry, hygiene_finish};
use probity_quality::analysis_store::{AnalysisStore, DifferingAnalyses, StoredAnalysis};
use probity_quality::analyze;
use probity_quality::contract::{self as judge, AnalysisSide};
use probity_workspace::ServiceError;
use probity_workspace::progress::ProgressStep;
use probity_workspace::worktree::{ChangesSinceStart, WorktreeStatus};
use std::collections::BTreeSet;

/// How often to start over when the tree changes between the snapshot and the analysis.
const MAX_STATUS_ATTEMPTS: u32 = 3;

impl FinishHandler<'_> {
    /// Takes a snapshot of the tree and analyzes it if the change needs an analysis and one may be made.
    pub(super) fn collect_context(
        &self,
        progress: &(dyn Fn(ProgressStep) + Sync),
    ) -> Result<FinishContext, ServiceError> {
        let runs = AnalysisStore::open(self.workspace);
        for _ in 0..MAX_STATUS_ATTEMPTS {
            let look = WorktreeStatus::observe_since(self.workspace, &self.policy, self.record.as_ref())?;
            let since = self.changes_since_start(&look)?;
            let circumstances = self.shell.command_context()?;
            let seen = RegistryView {
                registry: self.shell.registry(),
                owner: &self.owner,
                context: &circumstances,
                paths: &self.frame,
                kept: &BTreeSet::new(),
            };
            let peers = seen.peers_here(&self.intent.id);
            let witness = ChangedPathResolver {
                workspace: self.workspace,
                status: &look,
                changes: &since,
                paths: &self.frame,
                scope: &self.intent.scope,
                others: ClaimIndex::of_live_peers(&peers),
            };
            let evidence = witness.resolve(&self.evidence)?;
            let (mut dirty, start) = changed_paths::to_repo_changes(&self.frame, &since);
            let aside = self.committed_aside(&since)?;
            committed_aside::add_unclaimed(&mut dirty, &aside);
            let hygiene = hygiene_finish(&FinishState {
                scope: self.intent.scope.clone(),
                evidence: self.frame.to_repo_entries(&evidence),
                dirty,
                start_snapshot: self.intent.base.dirty_snapshot.map(|_| start),
                foreign_intents: peers,
                strict: self.request.strict.unwrap_or(false) || self.policy.change.strict,
            });
            let tree_run = analyze::run_id(&self.policy, &look.snapshot)?;
            // An empty change has no file whose profile could decide, so it always needs its analyses.
            let needed =
                evidence.is_empty() || profile(evidence.iter().map(ScopeEntry::as_bytes)).after_run_required;
            let after = match &self.request.after_run_id {
                Some(name) => Some(runs.find(name)?),
                None => Some(tree_run).filter(|id| needed && runs.has(*id)),
            };
            let (before, after) = self.load_analyses(&runs, after)?;
            if after.is_some() || !needed || !self.request.analyze || hygiene.blocks_finish() {
                let before = match before {
                    Some(stored) => Some(AnalysisSide::of(stored, self.baseline_then(&look, &since)?)),
                    None => None,
                };
                let after = after.map(|stored| AnalysisSide::of(stored, self.baseline_now(&look)));
                return Ok(FinishContext {
                    status: look,
                    changes: since,
                    aside: aside.into_iter().map(|aside| aside.shown).collect(),
                    evidence,
                    hygiene,
                    tree_run,
                    before,
                    after,
                });
            }
            // The next look confirms that this is the analysis of the tree.
            analyze::analyze_seen(self.workspace, &self.policy, &look.snapshot, progress)?;
        }
        Err(ServiceError::refused(
            ReasonCode::TreeUnstable,
            "the tree keeps changing while it is being analyzed",
        ))
    }

    pub(super) fn changes_since_start(
        &self,
        look: &WorktreeStatus,
    ) -> Result<ChangesSinceStart, ServiceError> {
        if let Some(record) = &self.record {
            return look.changes_since(self.workspace, record);
        }
        Ok(ChangesSinceStart {
            start: StartSnapshot::Unreadable,
            ..look.changes_since(self.workspace, &look.state)?
        })
    }

    /// Loads the analyses of both sides as far as they exist and the verdict needs them.
    fn load_analyses(
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
            None => after.and_then(|id| runs.load_and_touch(id)),
        };
        let read = |id| if needs_all || is_compared { runs.load_and_touch(id) } else { runs.recall_head(id) };
        Ok((before.and_then(read), after))
    }
}
