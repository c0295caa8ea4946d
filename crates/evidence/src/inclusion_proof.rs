//! Proofs that a bundle is in a log, for a stranger who has the bundle, the proof and perhaps some keys.

use crate::checkpoint::NoteVerdict;
use crate::{BundleCheck, CheckStatus, SignatureRule, SignedCheckpoint, TrustRequirements};
use probity_core::merkle::{LogLeaf, verify_inclusion};
use probity_core::{Digest, ReasonCode, json};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;

/// The log of evidence bundles: the name of an entry is the run, the event its run hash.
pub const BUNDLE_LOG: &str = "bundles";

const MAX_PROOF_BYTES: usize = 1 << 20;

/// A leaf, its place, the hashes on the way to the root, and the checkpoint with that root.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InclusionProof {
    pub leaf: LogLeaf,
    /// The number of the leaf, from 0.
    pub index: u64,
    /// From the leaf's sibling to the root's child, as in RFC 6962.
    pub hashes: Vec<Digest>,
    /// A signed note (C2SP tlog-checkpoint).
    pub checkpoint: String,
}

impl InclusionProof {
    pub const SCHEMA: &'static str = "probity/log-proof/v1";

    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        if bytes.len() > MAX_PROOF_BYTES {
            return Err("it is too long".into());
        }
        let value = json::parse(bytes).map_err(|error| error.to_string())?;
        if value["schema"] != Self::SCHEMA {
            return Err(format!("its `schema` is not `{}`", Self::SCHEMA));
        }
        Self::deserialize(&value).map_err(|error| error.to_string())
    }

    /// Checks that the run is in the log, and the checkpoint against the caller's requirements. With `expected`, the
    /// proof must lead to exactly that checkpoint.
    pub fn check(
        &self,
        run_id: &str,
        run_hash: &Digest,
        trust: &TrustRequirements,
        expected: Option<&SignedCheckpoint>,
    ) -> BundleCheck {
        let (status, code, detail) = match self.judge(run_id, run_hash, trust, expected) {
            Ok(detail) => (CheckStatus::Passed, None, detail),
            Err((code, detail)) => (CheckStatus::Failed, Some(code), detail),
        };
        let codes = code.map(|code| code.as_str().to_owned()).into_iter().collect();
        BundleCheck { name: "log", status, codes, detail }
    }

    fn judge(
        &self,
        run_id: &str,
        run_hash: &Digest,
        trust: &TrustRequirements,
        expected: Option<&SignedCheckpoint>,
    ) -> Result<String, (ReasonCode, String)> {
        let invalid = |why: &str| (ReasonCode::LogProofInvalid, why.to_owned());
        let LogLeaf { log, name, event, .. } = &self.leaf;
        if (log.as_str(), name.as_str(), event) != (BUNDLE_LOG, run_id, &run_hash.to_string()) {
            return Err(invalid("the proof is about something else than this bundle"));
        }
        let own = SignedCheckpoint::parse(self.checkpoint.as_bytes())
            .map_err(|error| (error.reason(), error.to_string()))?;
        let note = expected.unwrap_or(&own);
        if note.checkpoint() != own.checkpoint() {
            return Err(invalid("the proof leads to another checkpoint than the given one"));
        }
        let checkpoint = own.checkpoint();
        if !verify_inclusion(&self.leaf.hash(), self.index, &checkpoint.head, &self.hashes) {
            return Err(invalid("the hashes do not lead to the root of the checkpoint"));
        }
        let signers = check_signatures(note, trust)?;
        Ok(format!("leaf {} of {} in {}{signers}", self.index, checkpoint.head.size, checkpoint.origin))
    }
}

/// Checks the signatures of a checkpoint: the log's by the trusted keys, the witnesses' by theirs. Returns words about
/// who signed.
pub(crate) fn check_signatures(
    note: &SignedCheckpoint,
    trust: &TrustRequirements,
) -> Result<String, (ReasonCode, String)> {
    let forged = |whose: &str| {
        Err((
            ReasonCode::LogCheckpointInvalid,
            format!("the signature of {whose} does not fit the checkpoint"),
        ))
    };
    let mut words = String::new();
    if trust.signature != SignatureRule::Ignore {
        let verdicts: Vec<NoteVerdict> = trust.keys.values().map(|key| note.log_signature(key)).collect();
        if verdicts.contains(&NoteVerdict::Invalid) {
            return forged("the log");
        }
        if verdicts.contains(&NoteVerdict::Valid) {
            words.push_str(", signed by the log");
        } else if trust.signature == SignatureRule::Required {
            let why = "none of the trusted keys signed the checkpoint".to_owned();
            return Err((ReasonCode::EvidenceSignatureRequired, why));
        }
    }
    let mut n_witnesses = 0;
    for (name, key) in &trust.witnesses {
        match note.cosignature(name, key) {
            NoteVerdict::Valid => n_witnesses += 1,
            NoteVerdict::Invalid => return forged(name),
            NoteVerdict::Absent => {}
        }
    }
    if n_witnesses < trust.required_witnesses {
        let why =
            format!("{n_witnesses} of {} required witnesses countersigned it", trust.required_witnesses);
        return Err((ReasonCode::LogWitnessesMissing, why));
    }
    if n_witnesses > 0 {
        let _ = write!(words, ", countersigned by {n_witnesses}");
    }
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SecretKey, TreeCheckpoint};
    use probity_core::merkle::{TreeHead, leaf_hash, node_hash};

    fn proof(sign: impl FnOnce(SignedCheckpoint) -> SignedCheckpoint) -> (InclusionProof, Digest) {
        let run_hash = Digest::of(b"run");
        let leaf = LogLeaf { log: BUNDLE_LOG.into(), seq: 1, name: "r1".into(), event: run_hash.to_string() };
        let first = leaf_hash(b"begin");
        let head = TreeHead { size: 2, root: node_hash(&first, &leaf.hash()) };
        let note = sign(SignedCheckpoint::unsigned(TreeCheckpoint { origin: "log".into(), head }));
        (InclusionProof { leaf, index: 1, hashes: vec![first], checkpoint: note.to_text() }, run_hash)
    }

    #[test]
    fn a_proof_is_about_one_bundle_one_place_and_one_root() {
        let (good, hash) = proof(|note| note);
        let any = TrustRequirements::default();
        let codes = |proof: &InclusionProof, run: &str| proof.check(run, &hash, &any, None).codes;
        assert!(codes(&good, "r1").is_empty());
        let invalid = [ReasonCode::LogProofInvalid.as_str().to_owned()].into();
        assert_eq!(codes(&good, "r2"), invalid);
        assert_eq!(codes(&InclusionProof { index: 0, ..good.clone() }, "r1"), invalid);
        assert_eq!(codes(&InclusionProof { hashes: Vec::new(), ..good.clone() }, "r1"), invalid);
        let mut wrong = good.clone();
        wrong.leaf.seq = 2;
        assert_eq!(codes(&wrong, "r1"), invalid);
        wrong = good.clone();
        wrong.leaf.log = "receipts".into();
        assert_eq!(codes(&wrong, "r1"), invalid);
        wrong = good;
        wrong.checkpoint = wrong.checkpoint.replace("\n2\n", "\n3\n");
        assert_eq!(codes(&wrong, "r1"), invalid);
    }

    #[test]
    fn the_caller_can_demand_signatures_and_witnesses() {
        let (key, witness) = (SecretKey::from_random(&[7; 32]), SecretKey::from_random(&[8; 32]));
        let mut trust = TrustRequirements {
            signature: SignatureRule::Required,
            keys: [(key.key_id(), key.public())].into(),
            witnesses: [("w".to_owned(), witness.public())].into(),
            ..TrustRequirements::default()
        };
        let codes = |proof: &(InclusionProof, Digest), trust: &TrustRequirements| {
            proof.0.check("r1", &proof.1, trust, None).codes.into_iter().collect::<Vec<_>>()
        };
        assert_eq!(codes(&proof(|note| note), &trust), ["EVIDENCE.SIGNATURE_REQUIRED"]);
        assert!(codes(&proof(|note| note.signed(&key)), &trust).is_empty());
        trust.required_witnesses = 1;
        assert_eq!(codes(&proof(|note| note.signed(&key)), &trust), ["LOG.WITNESSES_MISSING"]);
        let cosigned = proof(|note| {
            let mut note = note.signed(&key);
            note.cosign("w", &witness, 5).expect("signs");
            note
        });
        assert!(codes(&cosigned, &trust).is_empty());
    }
}
