//! Runs this crate's functions on conformance vectors: `profile`, `structural_delta`, `contract`,
//! `finish_status`, `claims`.

use crate::claims::{ChangeFacts, Claim, judge_claims, recognize};
use crate::delta::structural_delta as compare;
use crate::finish::{PipelineOutcome, ReceiptOutcome, finish_status as answer};
use crate::profile::{VerificationProfile, profile as derive};
use crate::run::{ContractFinding, RunFacts};
use crate::status::{ContractReason, ContractStatus};
use crate::verify::{IntentState, PatchIntent, VerificationInput, verify};
use probity_intents::hygiene::FinishBlockReason;
use probity_intents::{ScopeCheckStatus, ScopeEntry, ScopeEntrySet};
use probity_paths::RepoPath;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::BTreeSet;

pub fn profile(given: &Value) -> Result<Value, String> {
    #[derive(Deserialize)]
    struct Given {
        changed_files: ScopeEntrySet,
    }
    let Given { changed_files } = read(given)?;
    Ok(json!(derive(changed_files.iter().map(ScopeEntry::as_bytes))))
}

/// A run as vectors write it: some kinds omit what plays no part.
#[derive(Deserialize)]
struct WireRun {
    run_id: String,
    report_digest: Option<String>,
    settings: String,
    analyser: String,
    health: Option<i64>,
    baseline_digest: Option<String>,
    findings: Vec<WireFinding>,
}

/// A finding as vectors write it, without a severity: it plays no part in any of them.
#[derive(Deserialize)]
struct WireFinding {
    id: String,
    #[serde(default)]
    paths: BTreeSet<RepoPath>,
}

impl From<WireRun> for RunFacts {
    fn from(wire: WireRun) -> Self {
        let finding = |wire: WireFinding| ContractFinding {
            id: wire.id,
            severity: probity_policy::Severity::default(),
            paths: wire.paths,
        };
        Self {
            run_id: wire.run_id,
            report_digest: wire.report_digest,
            settings: wire.settings,
            analyser: wire.analyser,
            health: wire.health,
            baseline_digest: wire.baseline_digest,
            findings: wire.findings.into_iter().map(finding).collect(),
        }
    }
}

pub fn structural_delta(given: &Value) -> Result<Value, String> {
    #[derive(Deserialize)]
    struct Given {
        before: WireRun,
        after: WireRun,
        profile: VerificationProfile,
    }
    let Given { before, after, profile } = read(given)?;
    Ok(json!(compare(&before.into(), &after.into(), profile)))
}

pub fn contract(given: &Value) -> Result<Value, String> {
    #[derive(Deserialize)]
    struct Given {
        intent: Option<PatchIntent>,
        changed_files: ScopeEntrySet,
        scope_check: Option<ScopeCheckStatus>,
        before: Option<WireRun>,
        after: Option<WireRun>,
        tree_run_id: Option<String>,
        worsened: Vec<crate::run::WorsenedSymbol>,
        before_gate: Option<crate::run::GatePreview>,
        after_gate: Option<crate::run::GatePreview>,
    }
    let given: Given = read(given)?;
    let verdict = verify(&VerificationInput {
        intent: given.intent,
        changed_files: given.changed_files,
        scope_check: given.scope_check,
        before: given.before.map(RunFacts::from),
        after: given.after.map(RunFacts::from),
        tree_run_id: given.tree_run_id,
        worsened: given.worsened,
        before_gate: given.before_gate,
        after_gate: given.after_gate,
    });
    Ok(json!(verdict.facts()))
}

/// Answers a vector of kind `finish_status`, except for the exit code, which the surfaces own.
pub fn finish_status(given: &Value) -> Result<crate::FinishStatus, String> {
    #[derive(Deserialize)]
    struct HygieneInput {
        blocks_finish: bool,
        finish_block_reason: Option<FinishBlockReason>,
        dirty_outside_scope: BTreeSet<RepoPath>,
    }
    #[derive(Deserialize)]
    struct ScopeCheckInput {
        status: ScopeCheckStatus,
    }
    #[derive(Deserialize)]
    struct VerdictInput {
        status: ContractStatus,
        reason: Option<ContractReason>,
    }
    #[derive(Deserialize)]
    struct Given {
        intent_status: IntentState,
        hygiene: Option<HygieneInput>,
        scope_check: Option<ScopeCheckInput>,
        verify: Option<VerdictInput>,
        receipt: Option<ReceiptOutcome>,
        auto_clear: bool,
    }
    let given: Given = read(given)?;
    let pipeline = if given.intent_status == IntentState::Queued {
        PipelineOutcome::Queued
    } else {
        let hygiene = given.hygiene.ok_or("an active intent needs `hygiene`")?;
        if hygiene.blocks_finish {
            PipelineOutcome::HygieneBlocks(hygiene.finish_block_reason.ok_or("blocked without a reason")?)
        } else {
            match given.scope_check.ok_or("the pipeline reaches `scope_check`")?.status {
                ScopeCheckStatus::Expired => PipelineOutcome::ScopeCheckExpired,
                ScopeCheckStatus::Violated => PipelineOutcome::ScopeCheckViolated,
                ScopeCheckStatus::Clean | ScopeCheckStatus::Expanded => {
                    let VerdictInput { status, reason } =
                        given.verify.ok_or("the pipeline reaches `verify`")?;
                    if status.is_accepted() {
                        PipelineOutcome::Accepted {
                            externally_changed: status == ContractStatus::AcceptedWithExternalChanges,
                            receipt: given.receipt.unwrap_or(ReceiptOutcome::Skipped),
                            dirty_outside_scope: hygiene.dirty_outside_scope,
                        }
                    } else {
                        PipelineOutcome::NotAccepted { status, reason }
                    }
                }
            }
        }
    };
    Ok(answer(&pipeline, given.auto_clear))
}

pub fn claims(given: &Value) -> Result<Value, String> {
    #[derive(Deserialize)]
    struct Given {
        claims: Vec<Claim>,
        text: Option<String>,
        facts: ChangeFacts,
    }
    let Given { claims, text, facts } = read(given)?;
    let recognized =
        text.map(|text| recognize(&text, &facts.known_names())).unwrap_or_default().into_claims();
    let judgment = judge_claims(claims.iter().chain(&recognized), &facts);
    Ok(json!({
        "recognised": recognized,
        "valid": judgment.is_valid(),
        "violations": judgment.violations,
        "warnings": judgment.warnings,
    }))
}

fn read<T: DeserializeOwned>(given: &Value) -> Result<T, String> {
    T::deserialize(given).map_err(|error| error.to_string())
}
