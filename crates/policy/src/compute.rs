//! Computes the plan from policy and request: a pure function, so that anyone can recompute it.

use crate::check;
use crate::error::PlanError;
use crate::gate::Gate;
use crate::policy::{Policy, PolicyPack, PolicyProfile};
use crate::tier::Tier;
use probity_evidence::{GlobList, PackCap, Plan, PlannedGate};
use probity_paths::RepoPath;
use std::collections::BTreeSet;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PlanRequest {
    pub profile: String,
    /// Files known to change; they select packs.
    pub changed_files: Vec<Vec<u8>>,
    /// A higher tier than profile and packs require, if wanted.
    pub tier: Option<String>,
    /// Packs to include regardless of the changed files.
    pub packs: Vec<String>,
    /// Patterns that come last in R.
    pub scope: GlobList,
}

pub fn compute_plan(policy: &Policy, request: &PlanRequest) -> Result<Plan, PlanError> {
    policy.check()?;
    let profile = policy.profile(&request.profile).ok_or_else(|| PlanError::UnknownProfile {
        asked: request.profile.clone(),
        known: policy.profiles.iter().map(|profile| profile.id.clone()).collect(),
    })?;
    let changed = changed_paths(request)?;
    check::scope(&request.scope, || "the requested scope".into())?;
    let packs = choose_packs(policy, request, &changed)?;
    let pack_cap = cap(profile, &packs)?;
    let tier = highest_tier(profile, request, &packs)?;
    let (gates, skipped_gates) = choose_gates(policy, &packs, &tier);
    Ok(Plan {
        version: Plan::PLAN_VERSION.into(),
        profile: profile.id.clone(),
        policy_versions: policy.versions.clone(),
        packs: ids(&packs),
        tier: tier.to_string(),
        gates,
        skipped_gates,
        scope: planned_scope(request, &packs),
        pack_cap,
    })
}

fn changed_paths(request: &PlanRequest) -> Result<Vec<RepoPath>, PlanError> {
    let paths = request.changed_files.iter().map(|path| RepoPath::parse(path));
    paths.collect::<Result<_, _>>().map_err(PlanError::InvalidPath)
}

/// Returns the packs that are named or needed, strongest first.
fn choose_packs<'a>(
    policy: &'a Policy,
    request: &PlanRequest,
    changed: &[RepoPath],
) -> Result<Vec<&'a PolicyPack>, PlanError> {
    let named: BTreeSet<&str> = request.packs.iter().map(String::as_str).collect();
    if let Some(unknown) = request.packs.iter().find(|id| policy.packs.iter().all(|pack| pack.id != **id)) {
        return Err(PlanError::UnknownPack {
            asked: unknown.clone(),
            known: ids(&policy.packs.iter().collect::<Vec<_>>()),
        });
    }
    let mut chosen = Vec::new();
    for pack in &policy.packs {
        if named.contains(pack.id.as_str()) || is_needed(pack, changed)? {
            chosen.push(pack);
        }
    }
    chosen.sort_by(|a, b| b.precedence.cmp(&a.precedence).then_with(|| a.id.cmp(&b.id)));
    Ok(chosen)
}

fn is_needed(pack: &PolicyPack, changed: &[RepoPath]) -> Result<bool, PlanError> {
    let globs = pack.when.as_ref().unwrap_or(&pack.scope);
    let when = check::scope(globs, || format!("`when` of pack `{}`", pack.id))?;
    Ok(changed.iter().any(|path| when.contains(path)))
}

fn cap(profile: &PolicyProfile, packs: &[&PolicyPack]) -> Result<PackCap, PlanError> {
    let selected = packs.len() as u64;
    match profile.pack_cap {
        Some(cap) if selected > cap => Err(PlanError::PackCapExceeded { cap, packs: ids(packs) }),
        cap => Ok(PackCap { cap, selected }),
    }
}

fn highest_tier(
    profile: &PolicyProfile,
    request: &PlanRequest,
    packs: &[&PolicyPack],
) -> Result<Tier, PlanError> {
    let mut highest = check::tier(&profile.tier, || format!("profile `{}`", profile.id))?;
    for pack in packs {
        highest = highest.max(check::tier(&pack.gate_tier, || format!("pack `{}`", pack.id))?);
    }
    let asked = request.tier.as_deref().map(|text| check::tier(text, || "the request".into())).transpose()?;
    Ok(highest.max(asked.unwrap_or_else(Tier::lowest)))
}

/// Returns the gates of the plan, and the ids of those above the tier. A gate that no pack names belongs to
/// every plan.
fn choose_gates(policy: &Policy, packs: &[&PolicyPack], tier: &Tier) -> (Vec<PlannedGate>, Vec<String>) {
    let names = |pack: &PolicyPack, gate: &Gate| pack.gates.contains(&gate.id);
    let belongs = |gate: &Gate| {
        packs.iter().any(|pack| names(pack, gate)) || !policy.packs.iter().any(|pack| names(pack, gate))
    };
    let (runs, skipped): (Vec<&Gate>, Vec<&Gate>) = policy
        .gates
        .iter()
        .filter(|gate| belongs(gate))
        .partition(|gate| Tier::parse(&gate.tier).is_some_and(|of_gate| of_gate <= *tier));
    (runs.into_iter().map(planned_gate).collect(), skipped.into_iter().map(|gate| gate.id.clone()).collect())
}

fn planned_gate(gate: &Gate) -> PlannedGate {
    PlannedGate {
        id: gate.id.clone(),
        tier: gate.tier.clone(),
        run: gate.run.clone(),
        timeout_ms: gate.timeout_ms,
        required: gate.required,
    }
}

/// Builds R: the weakest pack first, the request last, because the last match decides.
fn planned_scope(request: &PlanRequest, packs: &[&PolicyPack]) -> GlobList {
    let mut scope = GlobList::default();
    for pack in packs.iter().rev() {
        scope.extend(&pack.scope);
    }
    scope.extend(&request.scope);
    scope.without_repeats()
}

fn ids(packs: &[&PolicyPack]) -> Vec<String> {
    packs.iter().map(|pack| pack.id.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    /// A policy and a request with an error in every place where one is possible.
    fn wrong() -> (Value, PlanRequest) {
        let policy = json!({
            "packs": [
                {"id": "a", "scope": ["src/"], "gates": ["nobody"]},
                {"id": "b", "scope": ["b/**"], "when": ["**"]},
                {"id": "b", "scope": ["c/**"], "when": ["**"]},
            ],
            "gates": [{"id": "lint", "tier": "1", "run": ["x"]}],
            "profiles": [{"id": "team", "pack_cap": 1}],
        });
        let request = PlanRequest {
            profile: "Team".into(),
            changed_files: vec![b"/etc/passwd".to_vec()],
            tier: Some("high".into()),
            packs: vec!["nobody".into()],
            scope: GlobList::new(["src/**.py"]),
        };
        (policy, request)
    }

    fn code(policy: &Value, request: &PlanRequest) -> &'static str {
        let policy = Policy::from_json(policy).expect("a policy");
        compute_plan(&policy, request).map_or_else(|error| error.reason().as_str(), |_| "a plan")
    }

    #[test]
    fn errors_come_in_their_order() {
        let (mut policy, mut request) = wrong();
        let mut found = vec![code(&policy, &request)];
        let mut then = |policy: &Value, request: &PlanRequest| found.push(code(policy, request));
        policy["packs"][2]["id"] = "c".into();
        then(&policy, &request);
        policy["packs"][0]["gates"] = json!(["lint"]);
        then(&policy, &request);
        policy["gates"][0]["tier"] = "T1".into();
        then(&policy, &request);
        policy["packs"][0]["scope"] = json!(["src/**"]);
        then(&policy, &request);
        request.profile = "team".into();
        then(&policy, &request);
        request.changed_files = vec![b"x".to_vec()];
        then(&policy, &request);
        request.scope = GlobList::new(["src/**"]);
        then(&policy, &request);
        request.packs = vec!["a".into()];
        then(&policy, &request);
        policy["profiles"][0]["pack_cap"] = 3.into();
        then(&policy, &request);
        request.tier = None;
        then(&policy, &request);
        let expected = [
            "PLAN.DUPLICATE_ID",
            "PLAN.UNKNOWN_GATE",
            "PLAN.BAD_TIER",
            "SCOPE.TRAILING_SLASH",
            "PLAN.UNKNOWN_PROFILE",
            "PATH.INVALID",
            "SCOPE.DOUBLE_STAR_IN_SEGMENT",
            "PLAN.UNKNOWN_PACK",
            "PLAN.PACK_CAP_EXCEEDED",
            "PLAN.BAD_TIER",
            "a plan",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn packs_gates_and_profiles_have_names_of_their_own() {
        let policy = json!({
            "packs": [{"id": "x", "scope": []}], "gates": [{"id": "x", "run": ["x"]}], "profiles": [{"id": "x"}],
        });
        assert_eq!(code(&policy, &PlanRequest { profile: "x".into(), ..PlanRequest::default() }), "a plan");
    }

    #[test]
    fn a_pack_may_only_exclude() {
        let policy = json!({
            "packs": [
                {"id": "code", "scope": ["src/**"]},
                {"id": "keys", "scope": ["!src/keys/**"], "when": ["**"], "precedence": 9},
            ],
            "profiles": [{"id": "team"}],
        });
        let policy = Policy::from_json(&policy).expect("a policy");
        let request = PlanRequest {
            profile: "team".into(),
            changed_files: vec![b"src/a".to_vec()],
            ..PlanRequest::default()
        };
        let plan = compute_plan(&policy, &request).expect("a plan");
        assert_eq!(plan.scope, GlobList::new(["src/**", "!src/keys/**"]));
    }
}
