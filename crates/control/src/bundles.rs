//! Reading evidence: finding, listing, checking and exporting bundles.

use crate::observe::content_options;
use crate::{Fault, Workspace, attest};
use canon::{Digest, Reason};
use evidence::{Check, CheckStatus, Follows, StoredManifest, Trust, Verdict, Verification, bundle};
use plan::SignatureRule;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use tree::Snapshot;

/// The files of a bundle by name.
pub type Files = BTreeMap<Vec<u8>, Vec<u8>>;

/// The id of the run that `name` means: a whole id, a beginning that only one has, or `last`, which is the last one of
/// this very tree.
pub fn find(workspace: &Workspace, name: &str) -> Result<String, Fault> {
    let runs = workspace.state.bundles()?;
    if name == "last" {
        let last = runs.into_iter().rfind(|id| manifest(workspace, id).is_ok_and(|it| is_of(workspace, &it)));
        return last.ok_or_else(|| Fault::NoSuchRun("there is no run in this tree yet".into()));
    }
    let mut meant = runs.into_iter().filter(|id| id.starts_with(name) && !name.is_empty());
    match (meant.next(), meant.next()) {
        (Some(id), None) => Ok(id),
        (None, _) => Err(Fault::NoSuchRun(format!("no run begins with `{name}`"))),
        (Some(one), Some(other)) => Err(Fault::NoSuchRun(format!("`{name}` could be {one} or {other}"))),
    }
}

/// Whether a run was in this tree, and not in another worktree of the repository.
pub fn is_of(workspace: &Workspace, stored: &StoredManifest) -> bool {
    let tree = stored.manifest.details.tree.as_ref();
    tree.is_none_or(|tree| *tree == store::tree_key(&workspace.root))
}

/// A bundle of this tree that holds together: something to build on.
pub(crate) struct Sound {
    pub(crate) files: Files,
    pub(crate) stored: StoredManifest,
}

/// Reads the bundle of a run and refuses one that does not hold together, or that is of another worktree.
pub(crate) fn sound(workspace: &Workspace, run_id: &str) -> Result<Sound, Fault> {
    let (verification, files) = verify(&workspace.state.evidence().join(run_id), &own_trust(workspace)?)?;
    let speaks_against =
        |code: &&String| ["EVIDENCE.", "JSON.", "SEAL."].iter().any(|it| code.starts_with(it));
    if let Some(code) = verification.codes.iter().find(speaks_against) {
        let reason = code.parse().unwrap_or(Reason::EvidenceSchemaInvalid);
        return Err(Fault::refused(reason, format!("the bundle of {run_id} does not hold together")));
    }
    let stored = manifest(workspace, run_id)?;
    if !is_of(workspace, &stored) {
        let detail = format!("run {run_id} was in another worktree of this repository: go there");
        return Err(Fault::NoSuchRun(detail));
    }
    Ok(Sound { files, stored })
}

/// What a repository demands of its own bundles: if one is signed, then with its own key.
pub fn own_trust(workspace: &Workspace) -> Result<Trust, Fault> {
    let Some(key) = attest::signing_key(workspace)? else {
        return Ok(Trust { signature: SignatureRule::Ignore, ..Trust::default() });
    };
    Ok(Trust { keys: BTreeMap::from([(key.key_id(), key.public())]), ..Trust::default() })
}

/// The folder of a bundle: `name` as a path if there is such a folder, else as the name of a run.
pub fn locate(workspace: impl FnOnce() -> Result<Workspace, Fault>, name: &Path) -> Result<PathBuf, Fault> {
    if name.is_dir() {
        return Ok(name.to_owned());
    }
    let Some(run) = name.to_str().filter(|name| !name.contains('/')) else {
        return Err(Fault::Missing(format!("there is no folder {}", name.display())));
    };
    let workspace = workspace()?;
    Ok(workspace.state.evidence().join(find(&workspace, run)?))
}

/// Reads a bundle, following no link.
pub fn read(dir: &Path) -> Result<Files, Fault> {
    bundle::read_bundle(dir).map_err(|error| match error.reason() {
        Some(reason) => Fault::refused(reason, format!("{}: {error}", dir.display())),
        None => Fault::System {
            what: format!("cannot read the bundle {}", dir.display()),
            source: std::io::Error::other(error),
        },
    })
}

/// Judges a bundle. One that cannot be read because of what it holds is judged by that.
pub fn verify(dir: &Path, trust: &Trust) -> Result<(Verification, Files), Fault> {
    if !dir.join("manifest.json").exists() {
        // Whatever else lies there, it is no bundle: nothing of it needs to be read.
        return Ok((evidence::verify(&Files::new(), trust), Files::new()));
    }
    match read(dir) {
        Ok(files) => Ok((evidence::verify(&files, trust), files)),
        Err(Fault::Refused { reason, detail }) => {
            let codes = BTreeSet::from([reason.code().to_owned()]);
            let check =
                Check { name: "artifacts", status: CheckStatus::Failed, codes: codes.clone(), detail };
            let skipped = BTreeSet::from(["everything_else"]);
            let verification = Verification { verdict: Verdict::Fail, codes, skipped, checks: vec![check] };
            Ok((verification, Files::new()))
        }
        Err(fault) => Err(fault),
    }
}

/// The manifest of a run, for showing it.
pub fn manifest(workspace: &Workspace, run_id: &str) -> Result<StoredManifest, Fault> {
    let path = workspace.state.evidence().join(run_id).join("manifest.json");
    let bytes = store::durable::read(&path)?.ok_or_else(|| {
        Fault::refused(Reason::EvidenceManifestMissing, format!("{} is missing", path.display()))
    })?;
    StoredManifest::parse(&bytes).map_err(|error| {
        Fault::refused(Reason::EvidenceSchemaInvalid, format!("{}: {error}", path.display()))
    })
}

/// Reads a trust file. Without one nothing is demanded, a signature neither.
pub fn trust(path: Option<&Path>) -> Result<Trust, Fault> {
    let Some(path) = path else {
        return Ok(Trust { signature: SignatureRule::Ignore, ..Trust::default() });
    };
    let bytes = std::fs::read(path)
        .map_err(|error| Fault::Missing(format!("cannot read the trust file {}: {error}", path.display())))?;
    Trust::parse(&bytes)
        .map_err(|error| Fault::refused(Reason::TrustInvalid, format!("{}: {error}", path.display())))
}

/// Whether a tree is the one that a bundle describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TreeCheck {
    /// The root hash that the bundle records for the end of the run.
    pub recorded: Option<Digest>,
    /// The root hash of the tree now.
    pub now: Digest,
}

impl TreeCheck {
    /// Whether they are the same.
    pub fn agrees(&self) -> bool {
        self.recorded == Some(self.now)
    }
}

/// Computes the root hash of `tree` and holds it against the bundle in `files`.
pub fn check_tree(files: &Files, tree: &Path) -> Result<TreeCheck, Fault> {
    let workspace = Workspace::find(Some(tree), tree)?;
    let recorded = files
        .get(&b"manifest.json"[..])
        .and_then(|bytes| StoredManifest::parse(bytes).ok())
        .and_then(|stored| stored.manifest.after_root);
    let snapshot = Snapshot::take(&workspace.root, &content_options(&workspace), None)?;
    Ok(TreeCheck { recorded, now: snapshot.root() })
}

/// One bundle of the chain, checked.
#[derive(Debug)]
pub struct ChainLink {
    /// The run.
    pub run_id: String,
    /// What the verifier says about its bundle.
    pub verification: Verification,
}

/// The whole chain, checked.
#[derive(Debug)]
pub struct ChainReport {
    /// The bundles from the newest to the oldest, as far as the chain leads.
    pub links: Vec<ChainLink>,
    /// Where the chain breaks, in words.
    pub breaks: Vec<String>,
    /// Bundles that do not hang on the chain.
    pub loose: Vec<String>,
}

/// Walks the chain from its head to its first bundle.
pub fn check_chain(workspace: &Workspace, trust: &Trust) -> Result<ChainReport, Fault> {
    let mut report = ChainReport { links: Vec::new(), breaks: Vec::new(), loose: Vec::new() };
    // Held throughout: a bundle that is just being added would look loose or missing.
    let chain = workspace.state.chain()?;
    let mut by_hash = BTreeMap::new();
    for run_id in workspace.state.bundles()? {
        match manifest(workspace, &run_id) {
            Ok(stored) => drop(by_hash.insert(stored.run_hash, (run_id, stored.prev_run_hash))),
            Err(fault) => report.breaks.push(format!("{run_id}: {fault}")),
        }
    }
    let mut next = chain.head()?.map(|link| link.run_hash);
    while let Some(hash) = next {
        let Some((run_id, previous)) = by_hash.remove(&hash) else {
            report.breaks.push(format!("the bundle with run hash {hash} is missing"));
            break;
        };
        let follows = previous.map_or(Follows::Nothing, Follows::Run);
        let demands = Trust { follows: Some(follows), ..trust.clone() };
        let (verification, _) = verify(&workspace.state.evidence().join(&run_id), &demands)?;
        report.links.push(ChainLink { run_id, verification });
        next = previous;
    }
    report.loose = by_hash.into_values().map(|(run_id, _)| run_id).collect();
    Ok(report)
}
