//! What a later policy demands less of than an earlier one.
//!
//! The policy of the starting commit judges a change, so a change cannot loosen its own rules. But the next change is
//! judged by what this one leaves, so a person should see it.

use crate::contract_rules::{FalseClaims, StrictnessProfile};
use crate::policy::Policy;
use serde_json::{Map, Value};

impl Policy {
    /// Returns in which ways `later` demands less, in words.
    pub fn loosened_by(&self, later: &Self) -> Vec<String> {
        let mut found = Vec::new();
        for gate in self.gates.iter().filter(|gate| gate.required) {
            match later.gates.iter().find(|other| other.id == gate.id) {
                None => found.push(format!("gate `{}` is gone", gate.id)),
                Some(other) if !other.required => {
                    found.push(format!("gate `{}` is no longer required", gate.id));
                }
                Some(other) if other.run != gate.run => {
                    found.push(format!("gate `{}` runs another command", gate.id));
                }
                Some(_) => {}
            }
        }
        self.loosened_contract(later, &mut found);
        if later.change.allow_skip_gates && !self.change.allow_skip_gates {
            found.push("gates may be skipped".to_owned());
        }
        if self.change.strict && !later.change.strict {
            found.push("`[change] strict` is off".to_owned());
        }
        let section = |policy: &Self| match serde_json::to_value(&policy.analysis) {
            Ok(Value::Object(section)) => section,
            _ => Map::new(),
        };
        loosened_settings(&section(self), &section(later), &mut found);
        found
    }

    fn loosened_contract(&self, later: &Self, found: &mut Vec<String>) {
        const fn rank(profile: StrictnessProfile) -> u8 {
            match profile {
                StrictnessProfile::Relaxed => 0,
                StrictnessProfile::Ci => 1,
                StrictnessProfile::Strict => 2,
            }
        }
        let (old, new) = (&self.contract, &later.contract);
        if rank(new.strictness) < rank(old.strictness) {
            found.push(format!("the strictness falls to `{}`", new.strictness.as_str()));
        } else if new.strictness().severity_floor > old.strictness().severity_floor {
            found.push("the severity floor rises".to_owned());
        }
        if old.false_claims() == FalseClaims::Violate && new.false_claims() == FalseClaims::Report {
            found.push("false claims no longer violate".to_owned());
        }
    }
}

/// Compares settings of the analysis: lists that leave files out must not grow, limits must not rise, and what is
/// checked must stay so.
fn loosened_settings(old: &Map<String, Value>, new: &Map<String, Value>, found: &mut Vec<String>) {
    for (key, later) in new {
        let earlier = old.get(key);
        let is_looser = match (earlier, later) {
            (_, Value::Object(_)) => false,
            (Some(earlier), later) if earlier == later => false,
            (earlier, Value::Array(later)) => {
                let known = earlier.and_then(Value::as_array);
                later.iter().any(|item| known.is_none_or(|known| !known.contains(item)))
            }
            (Some(Value::Number(earlier)), Value::Number(later)) => earlier.as_u64() < later.as_u64(),
            _ => true,
        };
        if is_looser {
            found.push(format!("`[analysis] {key}` lets more pass"));
        }
    }
    let gates = |section: &Map<String, Value>| match section.get("gates") {
        Some(Value::Object(gates)) => gates.clone(),
        _ => Map::new(),
    };
    let (old, new) = (gates(old), gates(new));
    for (key, earlier) in &old {
        let is_looser = match (earlier.as_u64(), new.get(key).map(Value::as_u64)) {
            (_, None) => true,
            // Health has a floor, everything else a ceiling.
            (Some(earlier), Some(Some(later))) if key == "health" => later < earlier,
            (Some(earlier), Some(Some(later))) => later > earlier,
            _ => new.get(key) != Some(earlier),
        };
        if is_looser {
            found.push(format!("`[analysis.gates] {key}` lets more pass"));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Policy;

    fn loosened(earlier: &str, later: &str) -> Vec<String> {
        let read = |text: &str| Policy::from_toml(text).expect("a policy");
        read(earlier).loosened_by(&read(later))
    }

    #[test]
    fn what_a_policy_demands_less_of_is_named() {
        let gate = "[[gate]]\nid = \"unit\"\nrun = [\"pytest\"]\n";
        assert_eq!(loosened(gate, ""), ["gate `unit` is gone"]);
        assert_eq!(
            loosened(gate, &format!("{gate}required = false\n")),
            ["gate `unit` is no longer required"]
        );
        let floor = "[contract]\nseverity_floor = \"critical\"\n";
        assert_eq!(loosened("", floor), ["the severity floor rises"]);
        assert_eq!(
            loosened("[contract]\nstrictness = \"strict\"\n", ""),
            ["the strictness falls to `ci`", "false claims no longer violate"]
        );
        let exclude = "[analysis]\nexclude = [\"src/**\"]\n";
        assert_eq!(loosened("", exclude), ["`[analysis] exclude` lets more pass"]);
        let gates = |health: u32| format!("[analysis.gates]\nhealth = {health}\n");
        assert_eq!(loosened(&gates(80), &gates(70)), ["`[analysis.gates] health` lets more pass"]);
        let none: [String; 0] = [];
        assert_eq!(loosened(&gates(70), &gates(80)), none);
        assert_eq!(loosened(floor, ""), none);
        assert_eq!(loosened("", gate), none);
    }
}
