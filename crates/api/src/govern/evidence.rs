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

/// The answer of `probity evidence list`: every bundle of the repository, oldest first.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct EvidenceList {
    pub runs: Vec<EvidenceListEntry>,
}

impl Answer for EvidenceList {
    const SCHEMA: &'static str = "probity/evidence-list/v1";
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct EvidenceListEntry {
    pub run_id: String,
    /// Whether the run passed; null if the bundle cannot be read.
    pub status: Option<RunStatus>,
    /// The first code that fails the run, or why the bundle cannot be read.
    pub reason: Option<ReasonCode>,
    /// Whether the chain of this repository leads to the bundle. One that merely lies there proves nothing.
    pub on_chain: bool,
    /// Facts from its manifest; absent if the bundle cannot be read.
    #[serde(flatten)]
    pub manifest: Option<EvidenceSummary>,
}

/// The part of a manifest that a list shows.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct EvidenceSummary {
    /// The creation time of the evidence, in RFC 3339.
    pub created_at: String,
    /// The hash of the bundle.
    pub run_hash: Digest,
    /// The hash of the bundle before it on the chain.
    pub prev_run_hash: Option<Digest>,
    /// The bundle that this one judged again.
    pub amended_from: Option<Digest>,
    /// The bundle whose out-of-scope changes this one reverted.
    pub reverts: Option<Digest>,
    pub reverted_by: Option<RunRevert>,
    /// The number of older bundles removed along with this one.
    pub pruned: Option<u64>,
    /// Whether the run was in this tree, not in another worktree.
    pub in_this_tree: bool,
}

/// The revert of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RunRevert {
    /// The last revert of the run.
    pub run_id: String,
    /// Out-of-scope changes of the run that no revert has undone, sorted.
    pub left: Vec<RepoPath>,
}

/// The answer of `probity evidence show`: one run.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct EvidenceAnswer {
    pub run_id: String,
    /// The directory of its bundle.
    pub evidence_dir: SystemPath,
    /// The stored manifest (`manifest.v1.json`), including members that a later version may have added: its hash
    /// covers all of them.
    pub manifest: Option<Value>,
    pub reverted_by: Option<RunRevert>,
}

impl Answer for EvidenceAnswer {
    const SCHEMA: &'static str = "probity/evidence/v1";
}

/// The answer of `probity evidence verify`: each check of one bundle.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct EvidenceVerification {
    /// Whether the bundle proves what it must.
    pub outcome: BundleVerdict,
    /// The codes of the failures, sorted and without duplicates.
    pub codes: BTreeSet<String>,
    /// The checks that were not made, sorted.
    pub skipped: BTreeSet<&'static str>,
    /// The checks, in the order in which they were made.
    pub checks: Vec<BundleCheck>,
}

impl Answer for EvidenceVerification {
    const SCHEMA: &'static str = "probity/evidence-verify/v1";
}

/// The answer of `probity evidence chain`: each bundle of the chain.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct EvidenceChain {
    /// Whether the chain is intact and every bundle on it is sound.
    pub outcome: BundleVerdict,
    /// The codes of the failures, sorted and without duplicates.
    pub codes: BTreeSet<String>,
    /// The bundles from newest to oldest, as far as the chain leads.
    pub links: Vec<EvidenceChainLink>,
    /// Breaks in the chain and bundles that are not on it, in sentences.
    pub problems: Vec<String>,
    /// The number of bundles whose removal is recorded.
    pub pruned: usize,
}

impl Answer for EvidenceChain {
    const SCHEMA: &'static str = "probity/evidence-chain/v1";
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct EvidenceChainLink {
    pub run_id: String,
    /// The codes of its failures.
    pub codes: Vec<String>,
}

/// The answer of `probity evidence export`: a run as an attestation for other tools.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct EvidenceExport {
    pub run_id: String,
    /// An in-toto statement, or a DSSE envelope around one. Their format is defined elsewhere.
    pub attestation: Value,
}

impl Answer for EvidenceExport {
    const SCHEMA: &'static str = "probity/evidence-export/v1";
}

/// The answer of `probity evidence gc`: what was removed or would be.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct EvidenceRemoval {
    pub dry_run: bool,
    /// The removed bundles, oldest first.
    pub bundles: Vec<PrunedRun>,
    /// The number of bundles that stay on the chain.
    pub kept: usize,
    /// The number of removed before-images.
    pub before_images: usize,
    /// Removed layers whose changes can no longer land, because their evidence is gone.
    pub layers: usize,
    /// The size of the removed bundles and before-images.
    pub bytes: u64,
    /// The directory of the evidence of the removal, if bundles were removed.
    pub evidence_dir: Option<SystemPath>,
}

impl Answer for EvidenceRemoval {
    const SCHEMA: &'static str = "probity/evidence-gc/v1";
}

impl From<BundleVerdict> for ExitCode {
    fn from(verdict: BundleVerdict) -> Self {
        match verdict {
            BundleVerdict::Pass => Self::Ok,
            BundleVerdict::Fail => Self::Failed,
        }
    }
}

impl From<RunStatus> for ExitCode {
    fn from(status: RunStatus) -> Self {
        match status {
            RunStatus::Pass => Self::Ok,
            RunStatus::Fail => Self::Failed,
        }
    }
}
