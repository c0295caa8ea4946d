//! Reads evidence: finds, lists and checks bundles.

mod parsed_manifests;
mod reverts;

pub use reverts::RevertIndex;

use probity_api::govern::evidence::{
    EvidenceAnswer, EvidenceList, EvidenceListEntry, EvidenceSummary, EvidenceVerification,
};
use probity_core::{Digest, ReasonCode};
use probity_evidence::{
    BundleCheck, BundleVerdict, BundleVerification, CheckStatus, InclusionProof, ManifestDetails, Seal,
    SecretKey, SignatureRule, SignedCheckpoint, StoredManifest, TrustRequirements, bundle,
};
use probity_snapshot::Snapshot;
use probity_workspace::observe::content_options;
use probity_workspace::run_claims::SEAL_FILE;
use probity_workspace::signing::signing_key;
use probity_workspace::transparency_log::{self, BUNDLE_LOG, LogEntry};
use probity_workspace::{ServiceError, Workspace};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

pub use probity_evidence::{DELTA_FILE, PRUNED_FILE};

pub type BundleFiles = BTreeMap<Vec<u8>, Vec<u8>>;

/// Resolves `name` to a run id: a full id, a unique prefix, or `last` for the last run of this tree.
pub fn find(workspace: &Workspace, name: &str) -> Result<String, ServiceError> {
    if name == "last" {
        return last(workspace)?.ok_or_else(|| {
            ServiceError::refused(ReasonCode::RunUnknown, "there is no run in this tree yet")
                .with_next_step("`probity run --scope 'src/**' -- COMMAND` makes one")
        });
    }
    let runs = workspace.state.bundles()?;
    let mut meant = runs.iter().filter(|id| id.starts_with(name) && !name.is_empty());
    match (meant.next(), meant.next()) {
        (Some(id), None) => Ok(id.clone()),
        (None, _) => {
            let words = runs.iter().map(|id| id.get(..name.len()).unwrap_or(id)).chain(["last"]);
            let hint = probity_policy::did_you_mean(name, words);
            Err(ServiceError::NoSuchRun(format!("no run begins with `{name}`{hint}")))
        }
        (Some(one), Some(other)) => {
            Err(ServiceError::NoSuchRun(format!("`{name}` could be {one} or {other}")))
        }
    }
}

/// Returns the id of the last run of this tree by the log. A damaged bundle counts, whichever tree it is from: an older
/// run must not be taken for the last one.
fn last(workspace: &Workspace) -> Result<Option<String>, ServiceError> {
    // Maintenance runs are not runs that a user would inspect, revert or amend.
    let is_deed = |it: &ManifestDetails| it.reverts.is_some() || it.pruned.is_some() || it.lands.is_some();
    let is_meant = |it: &StoredManifest| is_of(workspace, it) && !is_deed(&it.manifest.details);
    let is_last = |entry: &LogEntry| match listed_manifest(workspace, entry) {
        Some(stored) => is_meant(&stored),
        None => workspace.state.evidence().join(&entry.name).exists(),
    };
    Ok(listed(workspace)?.into_iter().rfind(is_last).map(|entry| entry.name))
}

/// Returns the bundles that the log of the repository lists, oldest first, those that were pruned or lost too.
fn listed(workspace: &Workspace) -> Result<Vec<LogEntry>, ServiceError> {
    let Some(store) = workspace.state.existing_store()? else { return Ok(Vec::new()) };
    Ok(transparency_log::entries(&store, BUNDLE_LOG, 0)?)
}

/// Reads the manifest of a listed bundle; `None` if it is gone or is not the one that was listed.
fn listed_manifest(workspace: &Workspace, entry: &LogEntry) -> Option<StoredManifest> {
    let stored = manifest(workspace, &entry.name).ok()?;
    let is_it = stored.has_its_hash && stored.run_hash == entry.digest;
    (is_it && stored.manifest.run_id == entry.name).then_some(stored)
}

/// Resolves `name` to the bundle with the current judgment of the run: its own, or that of its last amendment. An
/// amended run is judged again in a new bundle, but users keep referring to it by the id of the run.
pub(crate) fn find_judged(workspace: &Workspace, name: &str) -> Result<String, ServiceError> {
    judged_among(workspace, &chained(workspace)?, &find(workspace, name)?)
}

/// Like [`find_judged`], for a run and the bundles that are known already.
pub(crate) fn judged_among(
    workspace: &Workspace,
    chained: &[StoredManifest],
    run_id: &str,
) -> Result<String, ServiceError> {
    let mut run_id = run_id.to_owned();
    let mut run_hash = manifest(workspace, &run_id)?.run_hash;
    for stored in chained {
        if stored.manifest.details.amended_from == Some(run_hash) {
            (run_id, run_hash) = (stored.manifest.run_id.clone(), stored.run_hash);
        }
    }
    Ok(run_id)
}

/// Returns the manifests that the log of the repository lists, oldest first, without pruned ones. A bundle that merely
/// lies in the directory is not among them.
pub fn chained(workspace: &Workspace) -> Result<Vec<StoredManifest>, ServiceError> {
    let listed = listed(workspace)?;
    Ok(listed.iter().filter_map(|entry| listed_manifest(workspace, entry)).collect())
}

/// Returns the newest of what [`chained`] returns.
pub fn newest_chained(workspace: &Workspace, n_bundles: usize) -> Result<Vec<StoredManifest>, ServiceError> {
    let listed = listed(workspace)?;
    let newest = listed.iter().skip(listed.len().saturating_sub(n_bundles));
    Ok(newest.filter_map(|entry| listed_manifest(workspace, entry)).collect())
}

/// Refuses a run that the log of the repository does not list.
pub(crate) fn require_chained(workspace: &Workspace, run_id: &str) -> Result<(), ServiceError> {
    if chained(workspace)?.iter().any(|stored| stored.manifest.run_id == run_id) {
        return Ok(());
    }
    let detail = format!("{run_id} is among the evidence, and the log does not list it");
    Err(ServiceError::refused(ReasonCode::EvidenceNotOnChain, detail))
}

/// Returns whether a run was in this tree rather than in another worktree of the repository.
pub fn is_of(workspace: &Workspace, stored: &StoredManifest) -> bool {
    let tree = stored.manifest.details.tree.as_ref();
    tree.is_none_or(|tree| *tree == probity_workspace::tree_key(&workspace.root))
}

/// A bundle of this tree that passed verification.
pub(crate) struct SoundBundle {
    pub(crate) files: BundleFiles,
    pub(crate) stored: StoredManifest,
}

/// Reads the bundle of a run and refuses it if it is not sound or belongs to another worktree.
pub(crate) fn read_sound_bundle(workspace: &Workspace, run_id: &str) -> Result<SoundBundle, ServiceError> {
    let (verification, files) = verify(&workspace.state.evidence().join(run_id), &own_trust(workspace)?)?;
    if let Some(code) = flaws(&verification).next() {
        let reason = code.parse().unwrap_or(ReasonCode::EvidenceSchemaInvalid);
        return Err(ServiceError::refused(reason, format!("the bundle of {run_id} does not hold together")));
    }
    require_chained(workspace, run_id)?;
    let stored = manifest(workspace, run_id)?;
    if !is_of(workspace, &stored) {
        let detail = format!("run {run_id} was in another worktree of this repository: go there");
        return Err(ServiceError::NoSuchRun(detail));
    }
    Ok(SoundBundle { files, stored })
}

/// Reads the seal from the files of a bundle.
pub(crate) fn seal(files: &BundleFiles, run_id: &str) -> Result<Seal, ServiceError> {
    let seal = files.get(SEAL_FILE.as_bytes()).and_then(|bytes| Seal::parse(bytes).ok());
    seal.ok_or_else(|| {
        ServiceError::refused(ReasonCode::SealDamaged, format!("run {run_id} has no sound seal"))
    })
}

/// Returns the codes that concern the bundle itself: a run may fail while its evidence is sound.
pub fn flaws(verification: &BundleVerification) -> impl Iterator<Item = &String> {
    verification.codes.iter().filter(|code| is_flaw(code))
}

/// Returns whether a code concerns the bundle itself rather than the run it describes.
pub fn is_flaw(code: &str) -> bool {
    ["EVIDENCE.", "JSON.", "LOG.", "SEAL."].iter().any(|family| code.starts_with(family))
}

/// Returns whether a bundle is sound, whatever the verdict on its run.
pub fn is_sound(verification: &BundleVerification) -> bool {
    flaws(verification).next().is_none()
}

/// Requirements for the next bundle on the chain: if the repository has a key, a signature with it.
pub(crate) fn next_trust(key: Option<&SecretKey>) -> TrustRequirements {
    match key {
        None => TrustRequirements { signature: SignatureRule::Ignore, ..TrustRequirements::default() },
        Some(key) => TrustRequirements {
            signature: SignatureRule::Required,
            keys: BTreeMap::from([(key.key_id(), key.public())]),
            ..TrustRequirements::default()
        },
    }
}

/// Requirements for existing bundles: if one is signed, then with the repository's key.
pub fn own_trust(workspace: &Workspace) -> Result<TrustRequirements, ServiceError> {
    let key = signing_key(workspace)?;
    // Bundles from before the key was created have no signature.
    let signature = if key.is_some() { SignatureRule::IfPresent } else { SignatureRule::Ignore };
    Ok(TrustRequirements { signature, ..next_trust(key.as_ref()) })
}

/// Finds the directory of a bundle: `name` as a path if it is a directory, or else as the name of a run.
pub fn locate(
    workspace: impl FnOnce() -> Result<Workspace, ServiceError>,
    name: &Path,
) -> Result<PathBuf, ServiceError> {
    if name.is_dir() {
        return Ok(name.to_owned());
    }
    let Some(run) = name.to_str().filter(|name| !name.contains('/')) else {
        return Err(ServiceError::Missing(format!("there is no directory {}", name.display())));
    };
    let workspace = workspace()?;
    Ok(workspace.state.evidence().join(find(&workspace, run)?))
}

/// Reads a bundle without following links.
pub fn read(dir: &Path) -> Result<BundleFiles, ServiceError> {
    bundle::read_bundle(dir).map_err(|error| read_error(dir, error))
}

fn read_error(dir: &Path, error: bundle::BundleError) -> ServiceError {
    match error.reason() {
        Some(reason) => ServiceError::refused(reason, format!("{}: {error}", dir.display())),
        None => ServiceError::System {
            what: format!("cannot read the bundle {}", dir.display()),
            source: std::io::Error::other(error),
        },
    }
}

/// Verifies a bundle. If its content makes it unreadable, that is the result of the verification.
pub fn verify(
    dir: &Path,
    trust: &TrustRequirements,
) -> Result<(BundleVerification, BundleFiles), ServiceError> {
    if dir.join("manifest.json").symlink_metadata().is_err() {
        // Without a manifest it is not a bundle, so nothing else needs to be read.
        return Ok((probity_evidence::verify(&BundleFiles::new(), trust), BundleFiles::new()));
    }
    match read(dir) {
        Ok(files) => Ok((probity_evidence::verify_bundle(&files, trust), files)),
        Err(ServiceError::Refused { reason, detail, .. }) => {
            let codes = BTreeSet::from([reason.as_str().to_owned()]);
            let check =
                BundleCheck { name: "artifacts", status: CheckStatus::Failed, codes: codes.clone(), detail };
            let skipped = BTreeSet::from(["everything_else"]);
            let verification =
                BundleVerification { verdict: BundleVerdict::Fail, codes, skipped, checks: vec![check] };
            Ok((verification, BundleFiles::new()))
        }
        Err(fault) => Err(fault),
    }
}

/// Reads the manifest of a run without verifying the bundle.
pub fn manifest(workspace: &Workspace, run_id: &str) -> Result<StoredManifest, ServiceError> {
    let dir = workspace.state.evidence().join(run_id);
    parsed_manifests::parse(&manifest_bytes(&dir)?).map_err(|error| {
        ServiceError::refused(ReasonCode::EvidenceSchemaInvalid, format!("{}: {error}", dir.display()))
    })
}

/// Reads the manifest of a bundle, whatever else lies there: a planted one may be a link, a pipe or enormous.
fn manifest_bytes(dir: &Path) -> Result<Vec<u8>, ServiceError> {
    let read = bundle::read_manifest(dir).map_err(|error| read_error(dir, error))?;
    read.ok_or_else(|| {
        let detail = format!("{} has no manifest", dir.display());
        ServiceError::refused(ReasonCode::EvidenceManifestMissing, detail)
    })
}

/// A bundle in a list: its manifest, or why that cannot be read.
#[derive(Debug)]
pub struct ListedBundle {
    pub run_id: String,
    pub stored: Result<StoredManifest, ServiceError>,
    /// Its row in the answer.
    pub entry: EvidenceListEntry,
}

/// Returns every bundle of the repository, oldest first.
pub fn list(workspace: &Workspace) -> Result<Vec<ListedBundle>, ServiceError> {
    let chained = chained(workspace)?;
    let reverts = RevertIndex::of(&chained);
    let hashes: BTreeSet<Digest> = chained.iter().map(|stored| stored.run_hash).collect();
    let listed = |run_id: String| {
        let stored = manifest(workspace, &run_id);
        let mut entry = list_entry(workspace, &reverts, &run_id, &stored);
        let is_own = |it: &StoredManifest| it.has_its_hash && it.manifest.run_id == run_id;
        entry.on_chain =
            stored.as_ref().is_ok_and(|stored| is_own(stored) && hashes.contains(&stored.run_hash));
        ListedBundle { run_id, stored, entry }
    };
    Ok(workspace.state.bundles()?.into_iter().map(listed).collect())
}

pub fn list_answer(listed: &[ListedBundle]) -> EvidenceList {
    EvidenceList { runs: listed.iter().map(|bundle| bundle.entry.clone()).collect() }
}

fn list_entry(
    workspace: &Workspace,
    reverts: &RevertIndex,
    run_id: &str,
    stored: &Result<StoredManifest, ServiceError>,
) -> EvidenceListEntry {
    let run_id = run_id.to_owned();
    let stored = match stored {
        Ok(stored) => stored,
        Err(fault) => {
            let reason = fault.reason();
            return EvidenceListEntry { run_id, status: None, reason, on_chain: false, manifest: None };
        }
    };
    let (facts, details) = (&stored.manifest, &stored.manifest.details);
    EvidenceListEntry {
        run_id,
        status: Some(facts.status()),
        reason: facts.reasons().first().copied(),
        on_chain: false,
        manifest: Some(EvidenceSummary {
            created_at: facts.created_at.clone(),
            run_hash: stored.run_hash,
            prev_run_hash: stored.prev_run_hash,
            amended_from: details.amended_from,
            reverts: details.reverts,
            reverted_by: reverts.reverted_by(stored),
            pruned: details.pruned,
            in_this_tree: is_of(workspace, stored),
        }),
    }
}

/// Returns the manifest of `run` and the answer for surfaces.
pub fn show(workspace: &Workspace, run: &str) -> Result<(StoredManifest, EvidenceAnswer), ServiceError> {
    let run_id = find(workspace, run)?;
    let dir = workspace.state.evidence().join(&run_id);
    let stored = manifest(workspace, &run_id)?;
    let reverted_by = RevertIndex::of(&chained(workspace)?).reverted_by(&stored);
    let as_stored = manifest_bytes(&dir).ok().and_then(|bytes| probity_core::json::parse(&bytes).ok());
    let answer = EvidenceAnswer { run_id, evidence_dir: dir.into(), manifest: as_stored, reverted_by };
    Ok((stored, answer))
}

/// Checks a proof that the bundle in `files` is in a log.
pub fn check_proof(
    files: &BundleFiles,
    proof: &InclusionProof,
    trust: &TrustRequirements,
    checkpoint: Option<&SignedCheckpoint>,
) -> Option<BundleCheck> {
    let stored = StoredManifest::parse(files.get(&b"manifest.json"[..])?).ok()?;
    Some(proof.check(&stored.manifest.run_id, &stored.run_hash, trust, checkpoint))
}

/// Holds a bundle of the repository's evidence against its log: it must be what the log lists under the name of its
/// directory. `None` if it is, or if the bundle is from elsewhere.
pub fn check_listed(
    workspace: &Workspace,
    dir: &Path,
    files: &BundleFiles,
) -> Result<Option<BundleCheck>, ServiceError> {
    let real = |path: &Path| path.canonicalize().ok();
    let name = dir.file_name().and_then(OsStr::to_str).unwrap_or_default();
    let is_own =
        dir.parent().and_then(real).is_some_and(|above| real(&workspace.state.evidence()) == Some(above));
    let stored = files.get(&b"manifest.json"[..]).and_then(|bytes| StoredManifest::parse(bytes).ok());
    let Some(stored) = stored.filter(|_| is_own) else { return Ok(None) };
    let is_it = |entry: &LogEntry| entry.name == name && entry.digest == stored.run_hash;
    if stored.manifest.run_id == name && listed(workspace)?.iter().any(is_it) {
        return Ok(None);
    }
    let code = ReasonCode::EvidenceNotOnChain;
    Ok(Some(BundleCheck {
        name: "log",
        status: CheckStatus::Failed,
        codes: BTreeSet::from([code.as_str().to_owned()]),
        detail: format!("the log of this repository lists another bundle, or none, as {name}"),
    }))
}

/// Combines the verification of a bundle with further checks: of a proof, of a tree, of the log.
pub fn verification_answer(
    verification: &BundleVerification,
    further: impl IntoIterator<Item = BundleCheck>,
) -> EvidenceVerification {
    let mut checks = verification.checks.clone();
    checks.extend(further);
    let codes: BTreeSet<String> = checks.iter().flat_map(|check| check.codes.iter().cloned()).collect();
    EvidenceVerification {
        outcome: if codes.is_empty() { BundleVerdict::Pass } else { BundleVerdict::Fail },
        codes,
        skipped: verification.skipped.clone(),
        checks,
    }
}

/// Reads a trust file. Without one there are no requirements, not even a signature.
pub fn read_trust(path: Option<&Path>) -> Result<TrustRequirements, ServiceError> {
    let Some(path) = path else {
        return Ok(TrustRequirements { signature: SignatureRule::Ignore, ..TrustRequirements::default() });
    };
    let bytes = std::fs::read(path).map_err(|error| {
        ServiceError::Missing(format!("cannot read the trust file {}: {error}", path.display()))
    })?;
    TrustRequirements::parse(&bytes).map_err(|error| {
        ServiceError::refused(ReasonCode::TrustInvalid, format!("{}: {error}", path.display()))
    })
}

/// The comparison of a tree with the one a bundle describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TreeCheck {
    /// The root hash the bundle records for the end of the run.
    pub recorded: Option<Digest>,
    /// The root hash of the tree now.
    pub now: Digest,
}

impl TreeCheck {
    pub fn agrees(&self) -> bool {
        self.recorded == Some(self.now)
    }

    /// Returns the comparison as a check of the bundle.
    pub fn check(&self) -> BundleCheck {
        let code = ReasonCode::EvidenceTreeMismatch.as_str().to_owned();
        let agrees = self.agrees();
        BundleCheck {
            name: "tree",
            status: if agrees { CheckStatus::Passed } else { CheckStatus::Failed },
            codes: if agrees { BTreeSet::new() } else { BTreeSet::from([code]) },
            detail: match self.recorded {
                Some(_) if agrees => "the tree is the one that the bundle describes".into(),
                Some(recorded) => {
                    format!("the bundle describes {recorded}, the tree is {} now", self.now)
                }
                None => "the bundle does not know how the tree was at the end".into(),
            },
        }
    }
}

/// Compares the root hash of `tree` with the bundle in `files`.
pub fn check_tree(files: &BundleFiles, tree: &Path) -> Result<TreeCheck, ServiceError> {
    let workspace = Workspace::find(Some(tree), tree)?;
    let recorded = files
        .get(&b"manifest.json"[..])
        .and_then(|bytes| StoredManifest::parse(bytes).ok())
        .and_then(|stored| stored.manifest.after_root);
    let snapshot = Snapshot::take(&workspace.root, &content_options(&workspace), None)?;
    Ok(TreeCheck { recorded, now: snapshot.root() })
}
