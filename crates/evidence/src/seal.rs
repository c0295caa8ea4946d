//! The seal of a run: everything that will judge it, fixed by one hash before the first edit (law 2).
//!
//! A seal is canonical JSON and holds its own hash. [`Seal::parse`] accepts exactly the bytes that
//! [`Seal::to_bytes`] writes for the same contents, so a seal that was touched is a damaged one.

use crate::{AmendPolicy, Globs, Plan, SignatureRule};
use probity_core::{Digest, Reason, json};
use probity_paths::RepoPath;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The form of the document.
const SCHEMA: &str = "probity/seal/v1";

/// What is sealed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SealContents {
    /// The run.
    pub run_id: String,
    /// When it was sealed, as RFC 3339.
    pub sealed_at: String,
    /// What may be touched and what must pass.
    pub plan: Plan,
    /// The identity of the whole policy.
    pub policy_digest: Digest,
    /// The root hash of the start snapshot.
    pub root: Digest,
    /// Paths that are not part of the delta.
    pub build_outputs: Globs,
    /// Whether directories that say themselves that they are caches or virtual environments are build outputs too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub recognize_outputs: bool,
    /// Paths that no change may touch.
    pub protected: Globs,
    /// Protected paths that this run may change all the same.
    pub grants: Globs,
    /// What a changed git reference means.
    pub refs: RefsRule,
    /// Settings of the plan's gates that are not part of the plan, by gate id.
    pub gate_settings: BTreeMap<String, GateSettings>,
    /// Whether the profile demands a signature.
    pub signature: SignatureRule,
    /// When the scope may be amended.
    pub amend: AmendPolicy,
    /// How strongly the scope is enforced while the run goes on.
    pub enforcement: Enforcement,
}

/// Settings of a gate that are not part of the plan.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct GateSettings {
    /// Names of variables that it gets from the caller's environment.
    pub env: Vec<String>,
    /// What it may write in the tree.
    pub outputs: Globs,
    /// Paths of the tree that it executes or is given by name, links on the way to them included. They are never exempt.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<RepoPath>,
    /// Directories from which its program imports: only packages that are added there are exempt.
    #[serde(default, skip_serializing_if = "Globs::is_empty")]
    pub imports: Globs,
}

/// What a git reference that changed during a run means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RefsRule {
    /// It is recorded in the evidence.
    #[default]
    Record,
    /// It is a violation, as a protected path is.
    Protect,
}

probity_core::word_enum! {
    /// How strongly a scope is enforced while a run goes on (law 13).
    #[derive(Default)]
    pub enum Enforcement {
        /// Changes are seen afterwards.
        #[default]
        Observe = "observe",
        /// The agent's own hooks ask before each edit.
        Hook = "hook",
        /// The system refuses writes outside.
        Sandbox = "sandbox",
        /// The run works on a copy; what is outside never arrives.
        Overlay = "overlay",
    }
}

/// Sealed contents. They can be read and not changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seal {
    contents: SealContents,
    hash: Digest,
}

/// A seal that is not what was written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the seal is damaged: {0}")]
pub struct SealDamaged(String);

impl SealDamaged {
    /// The stable code.
    pub const fn reason(&self) -> Reason {
        Reason::SealDamaged
    }
}

impl Seal {
    /// Seals `contents`.
    pub fn new(contents: SealContents) -> Self {
        let hash = Digest::of_json(&Value::Object(unsealed(&contents)));
        Self { contents, hash }
    }

    /// What is sealed.
    pub const fn contents(&self) -> &SealContents {
        &self.contents
    }

    /// The hash over everything that is sealed.
    pub const fn hash(&self) -> Digest {
        self.hash
    }

    /// The document, as it is stored.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut members = unsealed(&self.contents);
        members.insert("seal_hash".into(), self.hash.to_string().into());
        json::canonical(&Value::Object(members))
    }

    /// Reads a document and verifies its hash and form.
    pub fn parse(bytes: &[u8]) -> Result<Self, SealDamaged> {
        let value = json::parse(bytes).map_err(|error| SealDamaged(error.to_string()))?;
        let contents = serde_json::from_value(value).map_err(|error| SealDamaged(error.to_string()))?;
        let seal = Self::new(contents);
        // Written again, the contents must give the same bytes: then schema, hashes and form are right at once,
        // and no field is there that nobody looked at.
        if seal.to_bytes() != bytes {
            return Err(SealDamaged("its bytes are not those that its contents give".into()));
        }
        Ok(seal)
    }
}

/// The members of the document that the seal's hash covers.
fn unsealed(contents: &SealContents) -> Map<String, Value> {
    let json = serde_json::to_value(contents).expect("a seal has text keys and whole numbers only");
    let Value::Object(mut members) = json else {
        unreachable!("a struct is written as an object");
    };
    members.insert("schema".into(), SCHEMA.into());
    members.insert("plan_hash".into(), contents.plan.hash().to_string().into());
    members
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PackCap, PlannedGate};
    use proptest::prelude::*;

    fn seal() -> Seal {
        let lint = PlannedGate {
            id: "lint".into(),
            tier: "T0".into(),
            run: vec!["ruff".into()],
            timeout_ms: 120_000,
            required: true,
        };
        let plan = Plan {
            version: Plan::VERSION.into(),
            profile: "team".into(),
            policy_versions: Map::new(),
            packs: Vec::new(),
            tier: "T0".into(),
            gates: vec![lint],
            skipped_gates: vec!["deep".into()],
            scope: Globs::new(["src/**"]),
            pack_cap: PackCap { cap: None, selected: 0 },
        };
        let settings = GateSettings {
            env: vec!["CI".into()],
            outputs: Globs::new([".ruff_cache/**"]),
            ..GateSettings::default()
        };
        Seal::new(SealContents {
            run_id: "run-1".into(),
            sealed_at: "2026-03-01T10:00:00Z".into(),
            plan,
            policy_digest: Digest::of(b"policy"),
            root: Digest::of(b"tree"),
            build_outputs: Globs::new(["target/**"]),
            recognize_outputs: false,
            protected: Globs::default(),
            grants: Globs::default(),
            refs: RefsRule::default(),
            gate_settings: BTreeMap::from([("lint".into(), settings)]),
            signature: SignatureRule::Required,
            amend: AmendPolicy::default(),
            enforcement: Enforcement::default(),
        })
    }

    #[test]
    fn what_was_sealed_is_read_back() {
        assert_eq!(Seal::parse(&seal().to_bytes()), Ok(seal()));
    }

    #[test]
    fn a_new_hash_over_changed_contents_is_another_seal() {
        let mut contents = seal().contents().clone();
        contents.plan.scope = Globs::new(["**"]);
        assert_ne!(Seal::new(contents).hash(), seal().hash());
    }

    #[test]
    fn refuses_fields_that_nobody_looks_at() {
        let mut value = json::parse(&seal().to_bytes()).expect("JSON");
        value["note"] = "hello".into();
        value.as_object_mut().expect("an object").remove("seal_hash");
        value["seal_hash"] = Digest::of_json(&value).to_string().into();
        assert!(Seal::parse(&json::canonical(&value)).is_err());
    }

    proptest! {
        #[test]
        fn any_changed_byte_is_damage(position: prop::sample::Index, flip in 1u8..) {
            let mut bytes = seal().to_bytes();
            let index = position.index(bytes.len());
            bytes[index] ^= flip;
            prop_assert_eq!(Seal::parse(&bytes).map_err(|error| error.reason()), Err(Reason::SealDamaged));
        }
    }
}
