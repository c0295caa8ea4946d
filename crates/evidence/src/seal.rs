//! The seal of a run: everything that will judge it, fixed by one hash before the first edit (law 2).
//!
//! A seal is canonical JSON and contains its own hash. [`Seal::parse`] accepts exactly the bytes that
//! [`Seal::to_bytes`] writes for the same contents, so any modification is detected as damage.

use crate::{AmendPolicy, ByteString, GlobList, Plan};
use probity_core::merkle::TreeHead;
use probity_core::{Digest, ReasonCode, json};
use probity_paths::RepoPath;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The file of a bundle, and of an open run, that holds its seal.
pub const SEAL_FILE: &str = "seal.json";

const SEAL_SCHEMA: &str = "probity/seal/v1";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SealContents {
    pub run_id: String,
    /// In RFC 3339.
    pub sealed_at: String,
    pub plan: Plan,
    /// Digest of the whole policy.
    pub policy_digest: Digest,
    /// Root hash of the start snapshot; after a lazy look, the digest of `start` and the policy.
    pub root: Digest,
    /// What is sealed of the start if the tree was not walked; absent if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<LazyStart>,
    /// Paths excluded from the delta.
    pub build_outputs: GlobList,
    /// True if directories that a marker file identifies as a cache or a virtual environment are build outputs too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub recognize_outputs: bool,
    /// Paths that no change may touch.
    pub protected: GlobList,
    /// Protected paths that this run may change nevertheless.
    pub grants: GlobList,
    pub refs: RefsRule,
    /// Settings of the plan's gates that are not part of the plan, by gate id.
    pub gate_settings: BTreeMap<String, GateSettings>,
    /// The profile's requirement for a signature.
    pub signature: SignatureRule,
    pub amend: AmendPolicy,
    /// How strongly the scope is enforced during the run.
    pub enforcement: EnforcementLevel,
    /// What confines the command, and the known limits of that; facts of the machine that no check relies on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confinement: Option<Value>,
    /// The intent that the run carries out, if it names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intent_id: Option<String>,
    /// The name of the agent, if the caller of the run gave one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The head of the log when the run was sealed; absent in seals from before the log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<TreeHead>,
}

/// The start of a run in a view whose tree was not walked. What the run changed is compared with the tree below its
/// layer, as far as the times there show that it is what it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LazyStart {
    /// The commit that is checked out; absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<String>,
    /// Digest of git's index; absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<Digest>,
    /// Device and inode of the root directory.
    pub root_identity: String,
}

impl LazyStart {
    /// Returns what stands in the place of a root hash.
    pub fn digest(&self, policy: Digest) -> Digest {
        Digest::of_json(&serde_json::to_value((self, policy)).expect("it has text keys only"))
    }
}

probity_core::word_enum! {
    /// How the tree was looked at when a run began, other than by a walk.
    pub enum StartLook {
        /// What the run changed was looked at afterwards, in the tree below its layer.
        Lazy = "lazy",
    }
}

impl SealContents {
    /// Returns how the tree was looked at; `None` if it was walked.
    pub fn start_look(&self) -> Option<StartLook> {
        self.start.as_ref().map(|_| StartLook::Lazy)
    }

    /// Returns whether the start is sealed as such a run must: without a walk only in a view, and never where the evidence
    /// must be signed.
    pub(crate) fn has_fitting_start(&self) -> bool {
        self.start.as_ref().is_none_or(|start| {
            self.enforcement == EnforcementLevel::Overlay
                && self.signature != SignatureRule::Required
                && self.root == start.digest(self.policy_digest)
        })
    }
}

/// Settings of a gate that are not part of the plan.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct GateSettings {
    /// Names of environment variables passed on from the caller.
    pub env: Vec<String>,
    /// Paths in the tree that the gate may write.
    pub outputs: GlobList,
    /// Tree paths that the gate executes or takes as arguments, including links on the way to them. They are
    /// never exempt, or an agent could change what the gate runs unseen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<RepoPath>,
    /// Directories from which the gate's program imports. Only packages added there are exempt.
    #[serde(default, skip_serializing_if = "GlobList::is_empty")]
    pub imports: GlobList,
    /// Tree paths that the policy calls inputs of the gate. A change of one fails the run.
    #[serde(default, skip_serializing_if = "GlobList::is_empty")]
    pub declared_inputs: GlobList,
    /// The files that the system executes when the gate starts: programs and interpreters. The gate runs only if they
    /// are the same then.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<SealedProgram>,
}

/// An executable file as it was when the run was sealed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SealedProgram {
    /// Its real path.
    pub path: ByteString,
    pub digest: Digest,
}

/// The consequence of a git reference changing during a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RefsRule {
    /// The change is recorded in the evidence.
    #[default]
    Record,
    /// The change is a violation, as for a protected path.
    Protect,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SignatureRule {
    /// A valid signature is required.
    Required,
    /// A signature is optional, but must be valid if present.
    #[default]
    IfPresent,
    /// Signatures are not checked.
    Ignore,
}

probity_core::word_enum! {
    /// How strongly a scope is enforced while a run goes on (law 13).
    #[derive(Default)]
    pub enum EnforcementLevel {
        /// Changes are seen afterwards.
        #[default]
        Observe = "observe",
        /// The agent's own hooks ask before each edit.
        Hook = "hook",
        /// The kernel refuses writes outside of the directories of the scope.
        Landlock = "landlock",
        /// The command works in a private view; only what passes lands.
        Overlay = "overlay",
    }
}

/// Sealed contents, immutable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seal {
    contents: SealContents,
    hash: Digest,
}

/// A seal whose bytes are not those that were written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the seal is damaged: {0}")]
pub struct SealDamaged(String);

impl SealDamaged {
    pub const fn reason(&self) -> ReasonCode {
        ReasonCode::SealDamaged
    }
}

impl Seal {
    pub fn new(contents: SealContents) -> Self {
        let hash = Digest::of_json(&Value::Object(unsealed(&contents)));
        Self { contents, hash }
    }

    pub const fn contents(&self) -> &SealContents {
        &self.contents
    }

    pub const fn hash(&self) -> Digest {
        self.hash
    }

    /// Serializes the seal, including its hash.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut members = unsealed(&self.contents);
        members.insert("seal_hash".into(), self.hash.to_string().into());
        json::canonical(&Value::Object(members))
    }

    /// Parses a seal and verifies its hash and form.
    pub fn parse(bytes: &[u8]) -> Result<Self, SealDamaged> {
        let value = json::parse(bytes).map_err(|error| SealDamaged(error.to_string()))?;
        let contents = serde_json::from_value(value).map_err(|error| SealDamaged(error.to_string()))?;
        let seal = Self::new(contents);
        // One comparison checks the schema, the hashes and the form, and rejects fields that this code does not read.
        if seal.to_bytes() != bytes {
            return Err(SealDamaged("its bytes are not those that its contents give".into()));
        }
        Ok(seal)
    }
}

/// Returns the members of the document that the seal's hash covers.
fn unsealed(contents: &SealContents) -> Map<String, Value> {
    let json = serde_json::to_value(contents).expect("a seal has text keys and whole numbers only");
    let Value::Object(mut members) = json else {
        unreachable!("a struct is written as an object");
    };
    members.insert("schema".into(), SEAL_SCHEMA.into());
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
            version: Plan::PLAN_VERSION.into(),
            profile: "team".into(),
            policy_versions: Map::new(),
            packs: Vec::new(),
            tier: "T0".into(),
            gates: vec![lint],
            skipped_gates: vec!["deep".into()],
            scope: GlobList::new(["src/**"]),
            pack_cap: PackCap { cap: None, selected: 0 },
        };
        let settings = GateSettings {
            env: vec!["CI".into()],
            outputs: GlobList::new([".ruff_cache/**"]),
            ..GateSettings::default()
        };
        Seal::new(SealContents {
            run_id: "run-1".into(),
            sealed_at: "2026-03-01T10:00:00Z".into(),
            plan,
            policy_digest: Digest::of(b"policy"),
            root: Digest::of(b"tree"),
            start: None,
            build_outputs: GlobList::new(["target/**"]),
            recognize_outputs: false,
            protected: GlobList::default(),
            grants: GlobList::default(),
            refs: RefsRule::default(),
            gate_settings: BTreeMap::from([("lint".into(), settings)]),
            signature: SignatureRule::Required,
            amend: AmendPolicy::default(),
            enforcement: EnforcementLevel::default(),
            confinement: None,
            intent_id: None,
            agent: None,
            log: None,
        })
    }

    #[test]
    fn what_was_sealed_is_read_back() {
        assert_eq!(Seal::parse(&seal().to_bytes()), Ok(seal()));
    }

    #[test]
    fn a_new_hash_over_changed_contents_is_another_seal() {
        let mut contents = seal().contents().clone();
        contents.plan.scope = GlobList::new(["**"]);
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
            prop_assert_eq!(Seal::parse(&bytes).map_err(|error| error.reason()), Err(ReasonCode::SealDamaged));
        }
    }
}
