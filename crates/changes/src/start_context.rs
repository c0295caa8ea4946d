//! Collects the starting point of a change: the current tree, its analysis, and the base recorded for the finish.

use super::root_mapping::RootMapping;
use probity_core::ReasonCode;
use probity_intents::IntentScope;
use probity_intents::registry::IntentBase;
use probity_paths::RepoPath;
use probity_quality::analysis_store::AnalysisStore;
use probity_quality::analyze;
use probity_quality::contract::{self as judge, AnalysisSide, BaselineFile};
use probity_workspace::gates::StartPrograms;
use probity_workspace::judging_policy::{JudgingPolicy, policy_at_start};
use probity_workspace::progress::ProgressStep;
use probity_workspace::refs::RefFacts;
use probity_workspace::worktree::StartRecord;
use probity_workspace::worktree::WorktreeStatus;
use probity_workspace::{LoadedPolicy, ServiceError, Workspace};
use std::collections::BTreeSet;

/// How often to start over when the tree changes between the snapshot and the analysis.
const MAX_STATUS_ATTEMPTS: u32 = 3;

#[derive(Debug)]
pub(crate) struct StartContext {
    pub(crate) paths: RootMapping,
    pub(crate) status: WorktreeStatus,
    pub(crate) analysis: Option<AnalysisSide>,
    /// The policy that the tree was read with, which is also kept for the finish.
    pub(crate) policy: LoadedPolicy,
    /// What to say about a policy in the tree that is not the one in force.
    pub(crate) policy_note: Option<String>,
}

impl StartContext {
    /// Reads the tree and finds its analysis; with `analyze`, makes one if there is none.
    #[tracing::instrument(name = "survey", skip_all)]
    pub(crate) fn collect(
        workspace: &Workspace,
        analyze: bool,
        progress: &(dyn Fn(ProgressStep) + Sync),
    ) -> Result<Self, ServiceError> {
        let frame = RootMapping::for_workspace(workspace);
        let runs = AnalysisStore::open(workspace);
        let JudgingPolicy { loaded, note: policy_note } = policy_at_start(workspace)?;
        let policy = &loaded.policy;
        // An analysis that the caller made describes the tree under the policy in the tree.
        let analyze = analyze || policy_note.is_some();
        // Without gates, a start needs only the head of an analysis.
        let needs_all = judge::needs_whole_runs(&[], None, &analyze::gate_rules(policy)?);
        for _ in 0..MAX_STATUS_ATTEMPTS {
            let (look, run): (_, Result<_, ServiceError>) =
                WorktreeStatus::observe_beside(workspace, policy, |tree| {
                    let id = analyze::run_id(policy, tree)?;
                    Ok(if needs_all { runs.load_and_touch(id) } else { runs.recall_head(id) })
                })?;
            let run = run?;
            if run.is_some() || !analyze {
                let baseline = BaselineFile::of_tree(workspace)?;
                let run = run.map(|stored| AnalysisSide::of(stored, baseline));
                return Ok(Self { paths: frame, status: look, analysis: run, policy: loaded, policy_note });
            }
            // The next look confirms that this is the analysis of the tree.
            analyze::analyze_seen(workspace, policy, &look.snapshot, progress)?;
        }
        Err(ServiceError::refused(
            ReasonCode::TreeUnstable,
            "the tree keeps changing while it is being analyzed",
        ))
    }

    pub(crate) fn dirty_repo_paths(&self) -> BTreeSet<RepoPath> {
        self.status.state.dirty.keys().map(|path| self.paths.to_repo_path(path)).collect()
    }

    /// Returns the base of a change of `scope` at a place (tree and line), and stores what its finish will need.
    pub(crate) fn base(
        &self,
        workspace: &Workspace,
        scope: &IntentScope,
        place: IntentBase,
    ) -> Result<IntentBase, ServiceError> {
        let objects = workspace.state.objects();
        let content = |entry: &probity_intents::ScopeEntry| {
            let path = RepoPath::parse(entry.as_bytes()).ok()?;
            let digest = self.status.snapshot.get(&path)?.digest()?;
            Some((path, digest))
        };
        let policy = match &self.policy.source {
            Some(source) => Some((source.is_json, objects.put(&source.bytes)?)),
            None => None,
        };
        let refs = match &workspace.git {
            Some(layout) => Some(objects.put(&RefFacts::gather(layout).to_bytes())?),
            None => None,
        };
        let programs = if self.policy.policy.gates.is_empty() {
            None
        } else {
            Some(objects.put(&StartPrograms::find(workspace, &self.policy.policy).to_bytes())?)
        };
        let record = StartRecord {
            policy,
            refs,
            programs,
            scope: self.paths.to_workspace_scope(scope).entries().filter_map(content).collect(),
            ..self.status.state.clone()
        };
        let kept = objects.put(&record.to_bytes())?;
        let run = self.analysis.as_ref();
        Ok(IntentBase {
            run_id: run.map(|side| side.run.id.0.to_string()).unwrap_or_default(),
            report_digest: run.map(|side| side.report_digest.to_string()),
            head: record.head,
            snapshot_root: Some(self.status.snapshot.root()),
            dirty_snapshot: Some(kept),
            ..place
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use probity_core::Digest;
    use std::fs;
    use std::path::Path;

    #[test]
    fn the_policy_that_is_kept_is_the_one_that_the_tree_was_looked_at_with() {
        let dir = tempfile::tempdir().expect("a directory");
        let policy = "[analysis]\nexclude = [\"old/**\"]\n";
        let file = dir.path().join("probity.toml");
        fs::write(&file, policy).expect("writes");
        fs::write(dir.path().join("a.py"), "def f():\n    pass\n").expect("writes");
        let workspace = Workspace::find(Some(dir.path()), Path::new("/")).expect("is found");
        // The agent under judgment rewrites the file while the tree is analyzed.
        let rewrite = |_: ProgressStep| fs::write(&file, "[analysis]\nexclude = [\"**\"]\n").expect("writes");
        let ground = StartContext::collect(&workspace, true, &rewrite).expect("is seen");
        let run = ground.analysis.as_ref().expect("is analyzed");
        let loaded = analyze::settings(&ground.policy.policy.analysis).expect("settings");
        assert_eq!(run.run.settings, loaded);
        let base = ground.base(&workspace, &IntentScope::default(), IntentBase::default()).expect("is kept");
        let kept = base.dirty_snapshot.and_then(|kept| workspace.state.objects().get(&kept).expect("reads"));
        let record = StartRecord::parse(&kept.expect("is there")).expect("a record");
        assert_eq!(record.policy, Some((false, Digest::of(policy.as_bytes()))));
    }
}
