//! Maintenance runs: what Probity itself does to a tree or to its evidence leaves evidence too. Such a run is sealed
//! before it begins, observed, and chained like every other, so that the chain records every change Probity makes (law
//! 3). One that is killed is closed at the next start (law 10).

use crate::attest::{
    self, BundleInputs, ChainHeadSource, ExecutionRecord, MaintenanceOperation, SealedRun, TreeRecord,
    WrittenBundle,
};
use crate::run_verdict::RunVerdict;
use probity_evidence::{EnforcementLevel, GlobList, PackCap, Plan, Seal, SealContents, SecretKey};
use probity_snapshot::Snapshot;
use probity_storage::durable;
use probity_workspace::run_claims::SEAL_FILE;
use probity_workspace::{ServiceError, Workspace, clock, signing};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

/// A sealed maintenance run in progress.
pub(crate) struct MaintenanceRun {
    seal: Seal,
    key: Option<SecretKey>,
    folder: PathBuf,
    command: Vec<OsString>,
}

impl MaintenanceRun {
    /// Seals a maintenance run that may touch `scope` in the tree `now`, under the policy of `like`. From here on there
    /// is evidence.
    pub(crate) fn seal(
        workspace: &Workspace,
        like: &SealContents,
        scope: GlobList,
        now: &Snapshot,
        command: Vec<OsString>,
    ) -> Result<Self, ServiceError> {
        let mut contents = maintenance_contents(like, scope, now);
        contents.log = workspace.state.store()?.log_head()?.map(|head| head.tree);
        let seal = Seal::new(contents);
        let folder = workspace.state.open_run(&seal.contents().run_id, &workspace.root).folder;
        durable::write(&folder.join(SEAL_FILE), &seal.to_bytes())?;
        Ok(Self { seal, key: signing::signing_key(workspace)?, folder, command })
    }

    pub(crate) fn run_id(&self) -> &str {
        &self.seal.contents().run_id
    }

    /// Writes the evidence of its outcome.
    pub(crate) fn conclude(
        self,
        workspace: &Workspace,
        did: MaintenanceOperation<'_>,
        [before, after]: [&Snapshot; 2],
        verdict: &RunVerdict,
    ) -> Result<WrittenBundle, ServiceError> {
        let exit_code = i32::from(!verdict.passed());
        attest::attest(
            workspace,
            &BundleInputs {
                sealed: SealedRun {
                    seal: &self.seal,
                    key: self.key.as_ref(),
                    amendments: &[],
                    folder: &self.folder,
                },
                tree: TreeRecord {
                    verdict,
                    before_root: Some(before.root()),
                    after_root: Some(after.root()),
                    start: Some(before),
                    ref_movements: &[],
                },
                execution: ExecutionRecord {
                    command: Some((&self.command, Some(exit_code))),
                    did: Some(did),
                    gate_results: &[],
                    containment: &[],
                    landing: None,
                },
                head: ChainHeadSource::OnDisk,
            },
        )
    }
}

/// Builds a seal with the policy, the scope, and no gates.
fn maintenance_contents(like: &SealContents, scope: GlobList, now: &Snapshot) -> SealContents {
    let plan = Plan {
        packs: Vec::new(),
        gates: Vec::new(),
        skipped_gates: Vec::new(),
        scope,
        pack_cap: PackCap { selected: 0, ..like.plan.pack_cap },
        ..like.plan.clone()
    };
    SealContents {
        run_id: clock::run_id(),
        sealed_at: clock::now(),
        root: now.root(),
        start: None,
        plan,
        grants: GlobList::default(),
        gate_settings: BTreeMap::new(),
        // It works in the tree itself.
        enforcement: EnforcementLevel::Observe,
        confinement: None,
        ..like.clone()
    }
}
