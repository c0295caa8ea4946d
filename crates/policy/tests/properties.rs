//! Properties of planning on random policies: the same input gives the same plan, the order of packs does not
//! matter, and asking for less never lowers anything.

use probity_evidence::{GlobList, Plan};
use probity_policy::{PlanError, PlanRequest, Policy, compute_plan};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Few names and patterns, so that packs share files, gates and precedence.
fn pack(index: usize) -> impl Strategy<Value = Value> {
    let globs =
        prop::collection::vec(prop::sample::select(vec!["a/**", "b/**", "!a/x", "**/x", "*.md"]), 0..4);
    let gates = prop::sample::subsequence(vec!["g0", "g1", "g2", "g3"], 0..4);
    (globs.clone(), globs, gates, 0..3i64, 0..12u32).prop_map(
        move |(scope, when, gates, precedence, tier)| {
            json!({
                "id": format!("p{index}"), "scope": scope, "when": when, "gates": gates,
                "precedence": precedence, "gate_tier": format!("T{tier}"),
            })
        },
    )
}

fn packs() -> impl Strategy<Value = Vec<Value>> {
    (pack(0), pack(1), pack(2), pack(3)).prop_map(|(a, b, c, d)| vec![a, b, c, d])
}

fn policy(packs: &[Value]) -> Policy {
    let gate =
        |index: usize| json!({"id": format!("g{index}"), "tier": format!("T{}", index * 4), "run": ["x"]});
    Policy::from_json(&json!({
        "packs": packs,
        "gates": (0..5).map(gate).collect::<Vec<_>>(),
        "profiles": [{"id": "team", "tier": "T1", "pack_cap": 3}],
    }))
    .expect("a policy")
}

fn request() -> impl Strategy<Value = PlanRequest> {
    let files = prop::collection::vec(prop::sample::select(vec!["a/x", "a/y", "b/x", "c", "c.md"]), 0..4);
    let named = prop::sample::subsequence(vec!["p0".to_owned(), "p3".to_owned()], 0..2);
    let tier = prop::option::of((0..15u32).prop_map(|tier| format!("T{tier}")));
    (files, named, tier).prop_map(|(files, packs, tier)| PlanRequest {
        profile: "team".into(),
        changed_files: files.into_iter().map(Vec::from).collect(),
        tier,
        packs,
        scope: GlobList::new(["b/x"]),
    })
}

fn number(tier: &str) -> u32 {
    tier[1..].parse().expect("a small tier")
}

proptest! {
    #[test]
    fn the_order_of_packs_and_files_does_not_matter(
        (packs, shuffled) in packs().prop_flat_map(|packs| (Just(packs.clone()), Just(packs).prop_shuffle())),
        request in request(),
    ) {
        let mut turned = request.clone();
        turned.changed_files.reverse();
        turned.packs.reverse();
        prop_assert_eq!(compute_plan(&policy(&packs), &request), compute_plan(&policy(&shuffled), &turned));
    }

    #[test]
    fn a_plan_is_read_back_as_it_was_written(packs in packs(), request in request()) {
        if let Ok(plan) = compute_plan(&policy(&packs), &request) {
            let read: Plan = serde_json::from_value(plan.to_json()).expect("a plan");
            prop_assert_eq!(read.hash(), plan.hash());
            prop_assert_eq!(read, plan);
        }
    }

    #[test]
    fn no_gate_is_lost_and_none_runs_above_the_tier(packs in packs(), request in request()) {
        let policy = policy(&packs);
        let Ok(plan) = compute_plan(&policy, &request) else { return Ok(()) };
        let is_named = |pack: &probity_policy::PolicyPack, id: &str| pack.gates.iter().any(|gate| gate == id);
        for gate in &policy.gates {
            let free = policy.packs.iter().all(|pack| !is_named(pack, &gate.id));
            let chosen = policy.packs.iter().any(|pack| plan.packs.contains(&pack.id) && is_named(pack, &gate.id));
            let runs = plan.gates.iter().any(|planned| planned.id == gate.id);
            let skipped = plan.skipped_gates.contains(&gate.id);
            prop_assert_eq!(runs || skipped, free || chosen);
            prop_assert_eq!(runs, (free || chosen) && number(&gate.tier) <= number(&plan.tier));
        }
    }

    #[test]
    fn packs_are_never_dropped(packs in packs(), request in request()) {
        match compute_plan(&policy(&packs), &request) {
            Ok(plan) => prop_assert!(request.packs.iter().all(|pack| plan.packs.contains(pack))),
            Err(error) => {
                let refused = matches!(error, PlanError::PackCapExceeded { cap: 3, ref packs } if packs.len() > 3);
                prop_assert!(refused, "{error}");
            }
        }
    }

    #[test]
    fn asking_for_less_lowers_nothing(packs in packs(), request in request()) {
        let policy = policy(&packs);
        let silent = PlanRequest { tier: None, ..request.clone() };
        let (Ok(asked), Ok(silent)) = (compute_plan(&policy, &request), compute_plan(&policy, &silent)) else { return Ok(()) };
        prop_assert!(number(&asked.tier) >= number(&silent.tier));
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in r#"[\[\]a-z="' \n{}0-9.,#]{0,80}"#) {
        let _ = Policy::from_toml(&text);
    }
}
