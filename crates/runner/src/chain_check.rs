//! Checks the evidence of a repository: the log, that every bundle in it is there or was pruned on the record, and the
//! chain from the newest bundle to the first, or to the point before which bundles were pruned.

use crate::bundles::{self, BundleFiles, PRUNED_FILE};
use crate::reserved_space;
use probity_api::govern::delta::{PrunedFile, PrunedRun};
use probity_api::govern::evidence::{EvidenceChain, EvidenceChainLink};
use probity_core::{Digest, ReasonCode, json};
use probity_evidence::{
    BundleVerdict, BundleVerification, ChainPredecessor, Seal, SignatureRule, StoredManifest,
    TrustRequirements,
};
use probity_storage::StoreError;
use probity_storage::sqlite::SqliteStore;
use probity_workspace::run_claims::SEAL_FILE;
use probity_workspace::transparency_log::{self, BUNDLE_LOG, LogEntry};
use probity_workspace::{ServiceError, Workspace};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug)]
pub struct ChainLink {
    pub run_id: String,
    pub run_hash: Digest,
    /// When the evidence was written.
    pub created_at: String,
    pub verification: BundleVerification,
}

#[derive(Debug, Default)]
pub struct ChainReport {
    /// From newest to oldest, as far as the chain leads.
    pub links: Vec<ChainLink>,
    pub breaks: Vec<String>,
    /// Where the log contradicts what is there.
    pub log_problems: Vec<(ReasonCode, String)>,
    /// Bundles that are not part of the chain.
    pub loose: Vec<String>,
    /// The number of bundles pruned on the record.
    pub pruned: usize,
    /// Bundles recorded as pruned that still exist, because the prune was killed.
    pub leftovers: Vec<PrunedRun>,
}

impl ChainReport {
    pub fn answer(&self) -> EvidenceChain {
        let link = |link: &ChainLink| EvidenceChainLink {
            run_id: link.run_id.clone(),
            codes: bundles::flaws(&link.verification).cloned().collect(),
        };
        let links: Vec<EvidenceChainLink> = self.links.iter().map(link).collect();
        let mut problems: Vec<String> = self.breaks.iter().cloned().chain(self.loose_messages()).collect();
        let mut codes: BTreeSet<String> = links.iter().flat_map(|link| link.codes.iter().cloned()).collect();
        if !problems.is_empty() {
            codes.insert(ReasonCode::EvidenceChainBroken.as_str().into());
        }
        for (code, problem) in &self.log_problems {
            codes.insert(code.as_str().into());
            problems.push(problem.clone());
        }
        let outcome = if codes.is_empty() { BundleVerdict::Pass } else { BundleVerdict::Fail };
        EvidenceChain { outcome, codes, links, problems, pruned: self.pruned }
    }

    fn loose_messages(&self) -> impl Iterator<Item = String> {
        self.loose.iter().map(|id| format!("{id} is not on the chain"))
    }

    /// Describes everything that is wrong; empty if the chain is complete and every bundle on it is sound.
    pub fn problems(&self) -> impl Iterator<Item = String> {
        let flawed = self.links.iter().filter_map(|link| {
            let code = bundles::flaws(&link.verification).next()?;
            Some(format!("{}: {code}", link.run_id))
        });
        let log = self.log_problems.iter().map(|(code, problem)| format!("{code}: {problem}"));
        flawed.chain(self.breaks.iter().cloned()).chain(log).chain(self.loose_messages())
    }
}

/// Walks the chain from its head to its end.
pub fn check(workspace: &Workspace, trust: &TrustRequirements) -> Result<ChainReport, ServiceError> {
    // Held throughout: a bundle that is just being added would look loose or missing.
    let _turn = workspace.state.lock_evidence()?;
    let store = workspace.state.existing_store()?;
    let listed = match &store {
        Some(store) => transparency_log::entries(store, BUNDLE_LOG, 0)?,
        None => Vec::new(),
    };
    let reading = workspace.progress.begin("reading bundles");
    let mut walk = ChainWalk::new(workspace, trust)?;
    drop(reading);
    let phase = workspace.progress.begin_counted("checking bundles", walk.left.len());
    let mut next = listed.last().map(|head| head.digest);
    while let Some(hash) = next {
        next = walk.check_link(hash, store.as_ref())?;
        phase.advance();
    }
    if let Some(store) = &store {
        walk.note_log_problem(store.check_leaves(0))?;
    }
    walk.miss_unseen(&listed);
    Ok(walk.into_report())
}

struct ChainWalk<'a> {
    workspace: &'a Workspace,
    trust: &'a TrustRequirements,
    report: ChainReport,
    /// Bundles that the walk has not reached yet.
    left: BTreeMap<Digest, StoredManifest>,
    /// Bundles recorded as pruned.
    removed: BTreeMap<Digest, String>,
    /// Unsigned bundles met since the last signed one; the walk goes back in time.
    unsigned: Vec<String>,
}

impl<'a> ChainWalk<'a> {
    fn new(workspace: &'a Workspace, trust: &'a TrustRequirements) -> Result<Self, ServiceError> {
        let (mut report, mut left) = (ChainReport::default(), BTreeMap::new());
        for run_id in workspace.state.bundles()? {
            match bundles::manifest(workspace, &run_id) {
                Ok(stored) if stored.manifest.run_id == run_id && stored.has_its_hash => {
                    drop(left.insert(stored.run_hash, stored));
                }
                Ok(stored) if stored.manifest.run_id == run_id => {
                    report.breaks.push(format!("{run_id}: its manifest was changed after it was hashed"));
                }
                Ok(stored) => report.breaks.push(format!("{run_id} calls itself {}", stored.manifest.run_id)),
                Err(fault) => report.breaks.push(format!("{run_id}: {fault}")),
            }
        }
        for (run_id, dir) in reserved_space::elsewhere_runs(workspace)? {
            let place = dir.display();
            report
                .breaks
                .push(format!("{run_id} waits at {place}: the next run, amend or revert brings it home"));
        }
        Ok(Self { workspace, trust, report, left, removed: BTreeMap::new(), unsigned: Vec::new() })
    }

    /// Checks the bundle with this run hash and returns the hash of its predecessor.
    fn check_link(
        &mut self,
        hash: Digest,
        store: Option<&SqliteStore>,
    ) -> Result<Option<Digest>, ServiceError> {
        if self.removed.contains_key(&hash) {
            return Ok(None);
        }
        let Some(stored) = self.left.remove(&hash) else {
            self.report.breaks.push(format!("the bundle with run hash {hash} is missing"));
            return Ok(None);
        };
        let StoredManifest { manifest, prev_run_hash, key_id, .. } = stored;
        let follows = prev_run_hash.map_or(ChainPredecessor::Nothing, ChainPredecessor::Run);
        let demands = TrustRequirements { follows: Some(follows), ..self.trust.clone() };
        let dir = self.workspace.state.evidence().join(&manifest.run_id);
        let (verification, files) = bundles::verify(&dir, &demands)?;
        self.note_signature(&manifest.run_id, key_id.is_some());
        let sealed = files.get(SEAL_FILE.as_bytes()).and_then(|bytes| Seal::parse(bytes).ok());
        if let (Some(store), Some(known)) = (store, sealed.and_then(|seal| seal.contents().log)) {
            self.note_log_problem(store.check_head(&known, &format!("the seal of run {}", manifest.run_id)))?;
        }
        if manifest.details.pruned.is_some() && bundles::is_sound(&verification) {
            self.removed.extend(pruned_runs(&files).into_iter().map(|run| (run.run_hash, run.run_id)));
        }
        let (run_id, created_at) = (manifest.run_id, manifest.created_at);
        self.report.links.push(ChainLink { run_id, run_hash: hash, created_at, verification });
        Ok(prev_run_hash)
    }

    /// A log that contradicts what is there is a finding; anything else that goes wrong is a fault.
    fn note_log_problem(&mut self, checked: Result<(), StoreError>) -> Result<(), ServiceError> {
        let code = match &checked {
            Ok(()) => return Ok(()),
            Err(StoreError::Shortened { .. }) => ReasonCode::LogShortened,
            Err(StoreError::Inconsistent { .. }) => ReasonCode::LogInconsistent,
            Err(_) => return Ok(checked?),
        };
        self.report.log_problems.extend(checked.err().map(|error| (code, error.to_string())));
        Ok(())
    }

    /// Reports the bundles that the log lists, that the walk has not met, and that nobody pruned on the record.
    fn miss_unseen(&mut self, listed: &[LogEntry]) {
        let met: BTreeSet<Digest> = self.report.links.iter().map(|link| link.run_hash).collect();
        // Only the old end of an unbroken chain is ever pruned, so whatever is older than a pruned bundle was pruned before
        // it, by a run whose own bundle may be gone by now.
        let n_pruned =
            listed.iter().rposition(|entry| self.removed.contains_key(&entry.digest)).map_or(0, |n| n + 1);
        for LogEntry { name, digest } in &listed[n_pruned..] {
            if !met.contains(digest) && !self.left.contains_key(digest) {
                let problem = format!("the log lists bundle {name}, which is gone");
                self.report.log_problems.push((ReasonCode::LogShortened, problem));
            }
        }
    }

    /// Once a run is signed, every later one must be: an unsigned one was added without the key.
    fn note_signature(&mut self, run_id: &str, is_signed: bool) {
        if !is_signed {
            self.unsigned.push(run_id.to_owned());
        } else if self.trust.signature != SignatureRule::Ignore {
            let forged = self.unsigned.drain(..);
            let told = forged.map(|id| format!("{id} has no signature, but an earlier one has"));
            self.report.breaks.extend(told);
        }
    }

    fn into_report(mut self) -> ChainReport {
        self.report.pruned = self.removed.len();
        for (run_hash, stored) in self.left {
            let run_id = stored.manifest.run_id;
            if self.removed.contains_key(&run_hash) {
                self.report.leftovers.push(PrunedRun { run_id, run_hash });
            } else {
                self.report.loose.push(run_id);
            }
        }
        self.report
    }
}

/// Returns the bundles that a sound bundle records as pruned.
fn pruned_runs(files: &BundleFiles) -> Vec<PrunedRun> {
    let value = files.get(PRUNED_FILE.as_bytes()).and_then(|bytes| json::parse(bytes).ok());
    let file: Option<PrunedFile> = value.and_then(|value| serde_json::from_value(value).ok());
    file.map(|file| file.runs).unwrap_or_default()
}
