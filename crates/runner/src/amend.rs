//! Widens a scope on the record (law 2): during a run, or afterwards as a new judgment of the same facts.

use crate::attest::{self, ChainHeadSource, WrittenBundle};
use crate::held::{self, LandRequest, LandSelection};
use crate::{amendment_channel, bundles, recover};
use probity_api::govern::amend::{AmendAnswer, AmendStatus, AmendedRunJudgment};
use probity_api::govern::enforcement::LandingReport;
use probity_api::govern::land::LandAnswer;
use probity_changes::claims;
use probity_changes::registry::CallerCredentials;
use probity_core::ReasonCode;
use probity_evidence::{Amendment, GlobList, Manifest};
use probity_policy::{AmendmentTiming, may_amend};
use probity_storage::{FileLock, LockError, durable};
use probity_workspace::OpenRun;
use probity_workspace::{ServiceError, Workspace, clock, run_claims, signing};
use rustix::process::Pid;

#[derive(Debug)]
pub enum AmendmentEffect {
    /// A running run took it.
    Open { run_id: String, amendment: Amendment },
    /// A finished run was judged again.
    Judged {
        /// The recorded facts, with the amendment.
        manifest: Box<Manifest>,
        attested: WrittenBundle,
        /// The run that was judged again.
        amended_from: String,
        /// What became of its held changes, if it passes now.
        landing: Option<Box<LandAnswer>>,
    },
}

impl AmendmentEffect {
    pub fn answer(&self, workspace: &Workspace) -> AmendAnswer {
        let root = workspace.root.clone().into();
        match self {
            Self::Open { run_id, amendment } => AmendAnswer {
                root,
                status: AmendStatus::Amended,
                run_id: run_id.clone(),
                amendment: Some(amendment.clone()),
                judgment: None,
            },
            Self::Judged { manifest, attested, amended_from, landing } => {
                let reasons = manifest.reasons();
                AmendAnswer {
                    root,
                    status: if reasons.is_empty() { AmendStatus::Pass } else { AmendStatus::Fail },
                    run_id: manifest.run_id.clone(),
                    amendment: None,
                    judgment: Some(AmendedRunJudgment {
                        reason: reasons.first().copied(),
                        reasons,
                        amended_from: amended_from.clone(),
                        amendments: manifest.amendments.clone(),
                        untracked_delta_paths: manifest.untracked().unwrap_or_default(),
                        evidence_dir: attested.dir.clone().into(),
                        run_hash: attested.run_hash,
                        landing: landing.as_deref().map(|landing| LandingReport {
                            state: landing.state,
                            paths: landing.paths.clone(),
                            conflicts: landing.conflicts.clone(),
                            imported: Vec::new(),
                        }),
                    }),
                }
            }
        }
    }
}

/// Amends the scope of `run`: an id, a prefix of one, `last`, or `open`.
pub fn amend(
    workspace: &Workspace,
    credentials: &CallerCredentials,
    run: &str,
    add: &[Vec<u8>],
    by: &str,
    why: &str,
) -> Result<AmendmentEffect, ServiceError> {
    // Checked before anything is asked or written: an invalid pattern must not get on the record.
    let added = GlobList::new(add.iter().cloned()).to_scope()?;
    // A run whose bundle waits elsewhere has ended, although its open directory is still there.
    recover::adopt_all(workspace)?;
    if let Some(open) = open_run(workspace, run)? {
        // A running run must not grow into paths that other agents hold. The lock stops new claims until it has grown.
        let _alone = run_claims::lock_claims(&workspace.state)?;
        claims::check_run(workspace, credentials, &added)?;
        let granted = amendment_channel::request_amendment(&open.folder, add, by, why);
        return match granted {
            Ok(amendment) => Ok(AmendmentEffect::Open { run_id: open.run_id, amendment }),
            Err(amendment_channel::ChannelError::Refused { reason, detail }) => {
                Err(ServiceError::refused(reason, detail))
            }
            Err(amendment_channel::ChannelError::Unreachable { path, source }) => Err(ServiceError::System {
                what: format!("cannot reach the run at {}", path.display()),
                source,
            }),
        };
    }
    if run == "open" {
        return Err(ServiceError::NoSuchRun(
            "no run is going on in this tree; name a finished one to judge it again".into(),
        ));
    }
    let run_id = bundles::find_judged(workspace, run)?;
    land_if_passed(workspace, judge_again(workspace, &run_id, add, by, why)?)
}

/// Returns the running run of this tree, if `run` means it.
fn open_run(workspace: &Workspace, run: &str) -> Result<Option<OpenRun>, ServiceError> {
    let lock = workspace.state.tree_lock(&workspace.root);
    let is_meant = |open: &OpenRun| open.lock == lock && (run == "open" || open.run_id.starts_with(run));
    Ok(workspace.state.open_runs()?.into_iter().rfind(is_meant))
}

/// Returns whether this process descends from the supervisor of a running run: a judged process must not widen the
/// scope of another run either.
fn is_inside_a_run(workspace: &Workspace) -> Result<bool, ServiceError> {
    let own = rustix::process::getpid();
    let holders = workspace.state.open_runs()?.into_iter().filter_map(|run| {
        let text = std::fs::read_to_string(&run.lock).ok()?;
        Pid::from_raw(text.rsplit(' ').next()?.trim().parse().ok()?)
    });
    Ok(holders.into_iter().any(|supervisor| !run_claims::comes_from_outside(own, supervisor)))
}

/// Judges the recorded facts of a finished run under its amended scope. The old bundle is kept unchanged.
fn judge_again(
    workspace: &Workspace,
    run_id: &str,
    add: &[Vec<u8>],
    by: &str,
    why: &str,
) -> Result<AmendmentEffect, ServiceError> {
    let bundles::SoundBundle { files, stored } = bundles::read_sound_bundle(workspace, run_id)?;
    let seal = bundles::seal(&files, run_id)?;
    let amendment = Amendment::new(GlobList::new(add.iter().cloned()), by, why, &clock::now())
        .map_err(|error| ServiceError::refused(error.reason(), error.to_string()))?;
    let allowed = may_amend(seal.contents().amend, AmendmentTiming::After, is_inside_a_run(workspace)?);

    let mut manifest = stored.manifest;
    match allowed {
        Ok(()) => manifest.amendments.push(amendment.not_before(manifest.amendments.last())),
        // A request to widen a scope is never dropped silently (law 3): the refusal becomes part of the chain.
        Err(reason) => manifest.details.findings.push(refusal(reason, &amendment)),
    }
    manifest.run_id = clock::run_id();
    manifest.created_at = clock::now();
    manifest.details.amended_from = Some(stored.run_hash);
    // Out-of-scope findings are derived again from the manifest itself.
    manifest.details.findings.retain(|finding| finding.code != ReasonCode::ReconUntrackedDelta.as_str());
    let kept = files.into_iter().filter_map(|(name, bytes)| Some((String::from_utf8(name).ok()?, bytes)));
    let artifacts = kept.filter(|(name, _)| name != "manifest.json" && name != "summary.md").collect();
    let key = signing::signing_key(workspace)?;
    let open = OpenJudgment::begin(workspace, &manifest.run_id)?;
    let attested = attest::publish(workspace, &manifest, artifacts, key.as_ref(), ChainHeadSource::OnDisk)?;
    open.end(&attested)?;
    allowed.map_err(|reason| ServiceError::refused(reason, reason.meaning()))?;
    let (manifest, amended_from) = (Box::new(manifest), run_id.into());
    Ok(AmendmentEffect::Judged { manifest, attested, amended_from, landing: None })
}

/// Lands the held changes of a run that passes with its wider scope.
fn land_if_passed(workspace: &Workspace, effect: AmendmentEffect) -> Result<AmendmentEffect, ServiceError> {
    let AmendmentEffect::Judged { manifest, attested, amended_from, .. } = effect else { return Ok(effect) };
    let first = held::first_judged(workspace, amended_from.clone())?;
    let is_held = workspace.state.layer(&first).join("upper").is_dir();
    let landing = if manifest.reasons().is_empty() && is_held {
        let request = LandRequest { run: &manifest.run_id, selection: LandSelection::All, rebase: false };
        Some(Box::new(held::land(workspace, &request)?))
    } else {
        None
    };
    Ok(AmendmentEffect::Judged { manifest, attested, amended_from, landing })
}

/// A judgment of known facts on its way to its bundle. While its directory exists, the next start that finds its lock
/// free chains a bundle that was written before a kill. It does not use the lock of the tree: nothing in the tree is
/// read, so a run may be active there.
struct OpenJudgment {
    run: OpenRun,
    _lock: FileLock,
}

impl OpenJudgment {
    fn begin(workspace: &Workspace, run_id: &str) -> Result<Self, ServiceError> {
        let run = workspace.state.open_run(run_id, &workspace.root.join(run_id));
        let holder = format!("amendment {run_id}, process {}", std::process::id());
        // Before the directory, so that anyone who finds that finds the lock taken.
        let lock = FileLock::try_take(&run.lock, &holder).map_err(|error| match error {
            LockError::Held { holder } => ServiceError::Held { holder },
            LockError::Store(error) => error.into(),
        })?;
        durable::create_dir(&run.folder)?;
        Ok(Self { run, _lock: lock })
    }

    fn end(self, written: &WrittenBundle) -> Result<(), ServiceError> {
        attest::end_open_run(&self.run.folder, written);
        // The lock's name is unique to this judgment, so nobody waits for it.
        Ok(durable::remove(&self.run.lock)?)
    }
}

fn refusal(reason: ReasonCode, amendment: &Amendment) -> probity_evidence::ManifestFinding {
    let patterns: Vec<String> =
        amendment.add.as_slice().iter().map(|pattern| probity_core::bytes::escape(pattern)).collect();
    let Amendment { by, why, .. } = amendment;
    let detail = format!("refused to add {}, asked by {by}: {why}", patterns.join(" "));
    probity_evidence::ManifestFinding::note(reason.as_str().into(), None, &detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_judgment_on_its_way_is_not_taken_for_a_killed_run() {
        let dir = tempfile::tempdir().expect("a directory");
        let workspace = Workspace::find(Some(dir.path()), dir.path()).expect("a tree");
        let open = OpenJudgment::begin(&workspace, "r1").expect("begins");
        let folder = open.run.folder.clone();
        // A run may start on the tree meanwhile, and does not take this for its own.
        let _tree = crate::run::take_tree(&workspace, "run r2").expect("is free");
        assert!(recover::close_interrupted(&workspace, true).expect("looks").is_empty());
        assert!(folder.exists(), "it goes on");
        assert!(
            open_run(&workspace, "open").expect("looks").is_none(),
            "and is no run that could be amended"
        );
        // Killed: its lock is free, and the next start closes it.
        drop(open);
        recover::close_interrupted(&workspace, true).expect("closes");
        assert!(!folder.exists(), "it was closed");
    }
}
