//! Runs this crate's functions on conformance vectors of kind `plan`.

use crate::{PlanRequest, Policy, compute_plan};
use probity_core::{Digest, bytes};
use probity_evidence::{Amendment, GateStatus, GlobList, RunObservation, SealCheck, seal_check};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

pub fn plan(given: &Value) -> Result<Value, String> {
    match given["op"].as_str() {
        Some("compute") => answer_compute(given),
        Some("seal_check") => answer_seal_check(given),
        other => Err(format!("unknown `op`: {other:?}")),
    }
}

#[derive(Deserialize)]
struct GivenRequest {
    profile: String,
    changed_files: GlobList,
    tier: Option<String>,
    #[serde(default)]
    packs: Vec<String>,
    #[serde(default)]
    scope: GlobList,
}

fn answer_compute(given: &Value) -> Result<Value, String> {
    let policy = Policy::from_json(&given["policy"]).map_err(|error| error.to_string())?;
    let request: GivenRequest = read(&given["request"])?;
    let request = PlanRequest {
        profile: request.profile,
        changed_files: request.changed_files.as_slice().to_vec(),
        tier: request.tier,
        packs: request.packs,
        scope: request.scope,
    };
    Ok(match compute_plan(&policy, &request) {
        Ok(plan) => json!({ "plan": plan.to_json(), "plan_hash": plan.hash() }),
        Err(error) => json!({ "error": error.reason().as_str() }),
    })
}

#[derive(Deserialize)]
struct GivenSeal {
    plan: Value,
    plan_hash: Digest,
}

#[derive(Deserialize)]
struct GivenEvidence {
    plan: Value,
    policy_versions: Value,
    gate_results: Vec<GivenResult>,
    workspace_delta_paths: GlobList,
    #[serde(default)]
    amendments: Vec<Amendment>,
}

#[derive(Deserialize)]
struct GivenResult {
    gate_id: String,
    status: GateStatus,
}

fn answer_seal_check(given: &Value) -> Result<Value, String> {
    let seal: GivenSeal = read(&given["seal"])?;
    let evidence: GivenEvidence = read(&given["evidence"])?;
    let results: Vec<_> = evidence.gate_results.into_iter().map(|it| (it.gate_id, it.status)).collect();
    let observed = RunObservation {
        plan: &evidence.plan,
        policy_versions: &evidence.policy_versions,
        gate_results: &results,
        workspace_delta_paths: evidence.workspace_delta_paths.as_slice(),
        amendments: &evidence.amendments,
    };
    let SealCheck { codes, missing_gates, scope_violations } =
        seal_check(&seal.plan, seal.plan_hash, &observed);
    let violations: Vec<Value> = scope_violations.iter().map(|path| bytes::to_json(path)).collect();
    Ok(json!({ "codes": codes, "missing_gates": missing_gates, "scope_violations": violations }))
}

fn read<T: DeserializeOwned>(value: &Value) -> Result<T, String> {
    serde_json::from_value(value.clone()).map_err(|error| error.to_string())
}
