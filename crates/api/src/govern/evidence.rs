//! Answers of `probity evidence`.

use super::delta::PrunedRun;
use crate::document::Answer;
use crate::exit_code::ExitCode;
use crate::system_path::SystemPath;
use probity_core::{Digest, ReasonCode};
use probity_evidence::{BundleCheck, BundleVerdict, RunStatus};
use probity_paths::RepoPath;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeSet;

/// What `probity evidence list` answers: every bundle of the repository, oldest first.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct EvidenceList {
    /// The bundles.
    pub runs: Vec<EvidenceListEntry>,
}

impl Answer for EvidenceList {
    const SCHEMA: &'static str = "probity/evidence-list/v1";
}

/// A bundle of the list.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct EvidenceListEntry {
    /// The run.
    pub run_id: String,
    /// Whether the run passed; null for a bundle that cannot be read.
    pub status: Option<RunStatus>,
    /// The first code that fails the run, or why its bundle cannot be read.
    pub reason: Option<ReasonCode>,
    /// What its manifest says; absent for a bundle that cannot be read.
    #[serde(flatten)]
    pub manifest: Option<EvidenceSummary>,
}

/// What a list tells of a manifest.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct EvidenceSummary {
    /// When the evidence was made, as RFC 3339.
    pub created_at: String,
    /// The hash of the bundle.
    pub run_hash: Digest,
    /// The hash of the bundle before it on the chain.
    pub prev_run_hash: Option<Digest>,
    /// The bundle that this one judged again.
    pub amended_from: Option<Digest>,
    /// The bundle whose out-of-scope changes this one undid.
    pub reverts: Option<Digest>,
    /// The revert of this run.
    pub reverted_by: Option<RunRevert>,
    /// How many older bundles were removed with this one.
    pub pruned: Option<u64>,
    /// Whether the run was in this tree, and not in another worktree.
    pub in_this_tree: bool,
}

/// That a run was reverted, and by what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RunRevert {
    /// The last revert of it.
    pub run_id: String,
    /// The out-of-scope changes of the run that no revert has undone, sorted.
    pub left: Vec<RepoPath>,
}

/// What `probity evidence show` answers: one run.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct EvidenceAnswer {
    /// The run.
    pub run_id: String,
    /// Where its bundle is.
    pub evidence_dir: SystemPath,
    /// The manifest as it was stored (`manifest.v1.json`), with members that a later version may have added: its hash is
    /// over all of them.
    pub manifest: Option<Value>,
    /// The revert of this run.
    pub reverted_by: Option<RunRevert>,
}

impl Answer for EvidenceAnswer {
    const SCHEMA: &'static str = "probity/evidence/v1";
}

/// What `probity evidence verify` answers: each check of one bundle.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct EvidenceVerification {
    /// Whether the bundle proves what it must.
    pub outcome: BundleVerdict,
    /// Why not: sorted, each code once.
    pub codes: BTreeSet<String>,
    /// The checks that were not made, sorted.
    pub skipped: BTreeSet<&'static str>,
    /// Each check in the order in which it was made.
    pub checks: Vec<BundleCheck>,
}

impl Answer for EvidenceVerification {
    const SCHEMA: &'static str = "probity/evidence-verify/v1";
}

/// What `probity evidence chain` answers: each bundle of the chain.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct EvidenceChain {
    /// Whether the chain is whole and every bundle on it sound.
    pub outcome: BundleVerdict,
    /// Why not: sorted, each code once.
    pub codes: BTreeSet<String>,
    /// The bundles from the newest to the oldest, as far as the chain leads.
    pub links: Vec<EvidenceChainLink>,
    /// Where the chain breaks, and which bundles are not on it, in words.
    pub problems: Vec<String>,
    /// How many bundles were removed on the record.
    pub pruned: usize,
}

impl Answer for EvidenceChain {
    const SCHEMA: &'static str = "probity/evidence-chain/v1";
}

/// A bundle of the chain.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct EvidenceChainLink {
    /// The run.
    pub run_id: String,
    /// What speaks against its bundle.
    pub codes: Vec<String>,
}

/// What `probity evidence export` answers: a run as an attestation for other tools.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct EvidenceExport {
    /// The run.
    pub run_id: String,
    /// An in-toto statement, or a DSSE envelope around one. Their form is not ours.
    pub attestation: Value,
}

impl Answer for EvidenceExport {
    const SCHEMA: &'static str = "probity/evidence-export/v1";
}

/// What `probity evidence gc` answers: what was removed, or would be.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct EvidenceRemoval {
    /// Whether nothing was done but told.
    pub dry_run: bool,
    /// The bundles, oldest first.
    pub bundles: Vec<PrunedRun>,
    /// How many bundles of the chain stay.
    pub kept: usize,
    /// How many before-images.
    pub before_images: usize,
    /// How many bytes bundles and before-images had together.
    pub bytes: u64,
    /// Where the evidence of the removal is, if bundles were removed.
    pub evidence_dir: Option<SystemPath>,
}

impl Answer for EvidenceRemoval {
    const SCHEMA: &'static str = "probity/evidence-gc/v1";
}

/// The exit code of what the verifier says.
impl From<BundleVerdict> for ExitCode {
    fn from(verdict: BundleVerdict) -> Self {
        match verdict {
            BundleVerdict::Pass => Self::Ok,
            BundleVerdict::Fail => Self::Failed,
        }
    }
}

/// The exit code of a run.
impl From<RunStatus> for ExitCode {
    fn from(status: RunStatus) -> Self {
        match status {
            RunStatus::Pass => Self::Ok,
            RunStatus::Fail => Self::Failed,
        }
    }
}
