//! What a policy says about the contract: how strictly a verdict is taken, and what a false claim leads to.

use probity_core::Severity;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

probity_core::word_enum! {
    /// A named strictness.
    #[derive(Default)]
    pub enum StrictnessProfile {
        /// What the contract says.
        #[default]
        Ci = "ci",
        /// More than the contract says.
        Strict = "strict",
        /// Quality is reported and does not block.
        Relaxed = "relaxed",
    }
}

/// How strict a verdict is taken.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Strictness {
    /// The profile.
    pub profile: StrictnessProfile,
    /// New findings below this severity do not block. `None`: all do.
    pub severity_floor: Option<Severity>,
}

/// What a false claim leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FalseClaims {
    /// It is reported beside the verdict.
    Report,
    /// It makes an accepted change violated.
    Violate,
}

/// The `[contract]` of a policy.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ContractRules {
    /// The profile of strictness.
    pub strictness: StrictnessProfile,
    /// New findings below this severity do not block.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub severity_floor: Option<Severity>,
    /// What a false claim leads to; by default it violates under `strict` and is reported otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub false_claims: Option<FalseClaims>,
}

impl ContractRules {
    /// Whether nothing is said: then the policy is the same as one that was written before there was a contract.
    pub fn is_silent(&self) -> bool {
        *self == Self::default()
    }

    /// How strictly a verdict is taken.
    pub const fn strictness(&self) -> Strictness {
        Strictness { profile: self.strictness, severity_floor: self.severity_floor }
    }

    /// What a false claim leads to.
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
