//! The `[contract]` section of a policy: how strictly a change is judged, and the consequence of a false claim.

use probity_core::Severity;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

probity_core::word_enum! {
    /// A named strictness level.
    #[derive(Default)]
    pub enum StrictnessProfile {
        /// Exactly what the contract says.
        #[default]
        Ci = "ci",
        /// Stricter than the contract.
        Strict = "strict",
        /// Quality is reported but does not block.
        Relaxed = "relaxed",
    }
}

/// How strictly a change is judged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Strictness {
    /// The strictness level.
    pub profile: StrictnessProfile,
    /// New findings below this severity do not block. `None`: all block.
    pub severity_floor: Option<Severity>,
}

/// The consequence of a false claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FalseClaims {
    /// It is reported next to the verdict.
    Report,
    /// It turns an accepted change into a violated one.
    Violate,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ContractRules {
    pub strictness: StrictnessProfile,
    /// New findings below this severity do not block; by default `warning`, and `info` under `strict`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub severity_floor: Option<Severity>,
    /// Consequence of a false claim; by default `violate` under `strict` and `report` otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub false_claims: Option<FalseClaims>,
}

impl ContractRules {
    /// Returns true if the section says nothing. It is then omitted, so that the policy keeps the digest it
    /// had before the section existed.
    pub fn is_silent(&self) -> bool {
        *self == Self::default()
    }

    pub fn strictness(&self) -> Strictness {
        // Findings of taste (`info`) are reported, and block only under `strict`.
        let usual = match self.strictness {
            StrictnessProfile::Strict => Severity::Info,
            StrictnessProfile::Ci | StrictnessProfile::Relaxed => Severity::Warning,
        };
        Strictness { profile: self.strictness, severity_floor: Some(self.severity_floor.unwrap_or(usual)) }
    }

    pub fn false_claims(&self) -> FalseClaims {
        let strict = self.strictness == StrictnessProfile::Strict;
        self.false_claims.unwrap_or(if strict { FalseClaims::Violate } else { FalseClaims::Report })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_false_claim_violates_where_the_policy_says_so_or_is_strict() {
        let strict = ContractRules { strictness: StrictnessProfile::Strict, ..ContractRules::default() };
        assert_eq!(ContractRules::default().false_claims(), FalseClaims::Report);
        assert_eq!(strict.false_claims(), FalseClaims::Violate);
        let said = ContractRules { false_claims: Some(FalseClaims::Report), ..strict };
        assert_eq!(said.false_claims(), FalseClaims::Report);
    }
}
