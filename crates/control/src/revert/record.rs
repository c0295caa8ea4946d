//! The evidence of a revert. It is a run of our own: sealed to the paths that it may undo, observed before and after, and
//! chained like every other one, so that a tree never changes from one bundle to the next without a word (law 3). One
//! that is killed is closed at the next start (law 10).

use super::{Action, Undone};
use crate::attest::{self, Attested, Head, Record, SEAL_FILE};
use crate::judge::{Finding, Severity, Verdict};
use crate::{Fault, Workspace, clock, planning};
use canon::Digest;
use evidence::SecretKey;
use paths::RepoPath;
use plan::{Globs, PackCap, Plan, Seal, SealContents};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use store::durable;
use tree::Snapshot;

/// A revert that is sealed and goes on.
pub(super) struct Sealed {
    seal: Seal,
    key: Option<SecretKey>,
    folder: PathBuf,
    command: Vec<OsString>,
}

impl Sealed {
    /// Seals the undoing of `paths`, changed by the run with the seal `of`, in the tree as it is now. From here on there is
    /// evidence.
    pub(super) fn new(
        workspace: &Workspace,
        of: &Seal,
        paths: &[RepoPath],
        now: &Snapshot,
    ) -> Result<Self, Fault> {
        let seal = Seal::new(contents(of.contents(), paths, now));
        let folder = workspace.state.open_run(&seal.contents().run_id, &workspace.root).folder;
        durable::write(&folder.join(SEAL_FILE), &seal.to_bytes())?;
        let mut command: Vec<OsString> =
            vec!["probity".into(), "revert".into(), (&of.contents().run_id).into()];
        command.extend(paths.iter().map(|path| OsString::from_vec(path.as_bytes().to_vec())));
        Ok(Self { seal, key: attest::signing_key(workspace)?, folder, command })
    }

    /// Leaves the evidence of what became of it.
    pub(super) fn conclude(
        self,
        workspace: &Workspace,
        of: Digest,
        [before, after]: [&Snapshot; 2],
        undone: &[Undone],
    ) -> Result<Attested, Fault> {
        let verdict = verdict(&self.seal, [before, after], undone)?;
        let exit_code = i32::from(!verdict.passed());
        attest::attest(
            workspace,
            &Record {
                seal: &self.seal,
                key: self.key.as_ref(),
                amendments: &[],
                verdict: &verdict,
                before_root: Some(before.root()),
                after_root: Some(after.root()),
                start: Some(before),
                gate_results: &[],
                ref_movements: &[],
                command: Some((&self.command, Some(exit_code))),
                reverts: Some(of),
                containment: &[],
                folder: &self.folder,
                head: Head::OnDisk,
            },
        )
    }
}

/// What is sealed: the policy of the run that is undone, the paths as scope, and no gates.
fn contents(of: &SealContents, paths: &[RepoPath], now: &Snapshot) -> SealContents {
    let plan = Plan {
        packs: Vec::new(),
        gates: Vec::new(),
        skipped_gates: Vec::new(),
        scope: Globs::new(paths::suggest(paths, &planning::names(now).0)),
        pack_cap: PackCap { selected: 0, ..of.plan.pack_cap },
        ..of.plan.clone()
    };
    SealContents {
        run_id: clock::run_id(),
        sealed_at: clock::now(),
        root: now.root(),
        plan,
        grants: Globs::default(),
        gate_settings: BTreeMap::new(),
        ..of.clone()
    }
}

/// What was refused fails it; so does whatever else changed meanwhile, which follows from scope and delta.
fn verdict(seal: &Seal, [before, after]: [&Snapshot; 2], undone: &[Undone]) -> Result<Verdict, Fault> {
    let build_outputs = seal.contents().build_outputs.to_scope()?;
    let (exempt, delta): (Vec<_>, Vec<_>) =
        tree::delta(before, after).into_iter().partition(|change| build_outputs.lets_in(&change.path));
    let refused = undone.iter().filter(|one| one.action == Action::Refused);
    let findings: Vec<Finding> = refused
        .filter_map(|one| {
            let (path, detail) = (Some(one.path.clone()), one.detail.clone());
            Some(Finding { reason: one.reason?, path, detail, severity: Severity::Error })
        })
        .collect();
    let mut reasons: Vec<_> = findings.iter().map(|finding| finding.reason).collect();
    reasons.dedup();
    let exempt = exempt.into_iter().map(|change| change.path).collect();
    Ok(Verdict { delta, exempt, findings, reasons, ..Verdict::default() })
}
