//! Reading evidence: finding, listing, checking and exporting bundles.

use crate::observe::content_options;
use crate::{Fault, Workspace};
use canon::{Digest, Reason};
use evidence::{Check, CheckStatus, Follows, StoredManifest, Trust, Verdict, Verification, bundle};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use tree::Snapshot;

/// The files of a bundle by name.
pub type Files = BTreeMap<Vec<u8>, Vec<u8>>;

/// The id of the run that `name` means: a whole id, a beginning that only one has, or `last`.
pub fn find(workspace: &Workspace, name: &str) -> Result<String, Fault> {
    let runs = workspace.state.bundles()?;
    if name == "last" {
        let head = workspace.state.chain()?.head()?.map(|link| link.run_id);
        let last = head.filter(|id| runs.contains(id)).or_else(|| runs.last().cloned());
        return last.ok_or_else(|| Fault::NoSuchRun("there is no run yet".into()));
    }
    let mut meant = runs.into_iter().filter(|id| id.starts_with(name) && !name.is_empty());
    match (meant.next(), meant.next()) {
        (Some(id), None) => Ok(id),
        (None, _) => Err(Fault::NoSuchRun(format!("no run begins with `{name}`"))),
        (Some(one), Some(other)) => Err(Fault::NoSuchRun(format!("`{name}` could be {one} or {other}"))),
    }
}

/// The folder of a bundle: `name` as a path if there is such a folder, else as the name of a run.
pub fn locate(workspace: impl FnOnce() -> Result<Workspace, Fault>, name: &Path) -> Result<PathBuf, Fault> {
    if name.is_dir() {
        return Ok(name.to_owned());
    }
    let Some(run) = name.to_str() else {
        return Err(Fault::NoSuchRun(format!("there is no folder {}", name.display())));
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

/// Reads a trust file.
pub fn trust(path: Option<&Path>) -> Result<Trust, Fault> {
    let Some(path) = path else {
        return Ok(Trust::default());
    };
    let bytes = std::fs::read(path)
        .map_err(Fault::system(format!("cannot read the trust file {}", path.display())))?;
    Trust::parse(&bytes)
        .map_err(|error| Fault::refused(Reason::ConfigInvalid, format!("{}: {error}", path.display())))
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
