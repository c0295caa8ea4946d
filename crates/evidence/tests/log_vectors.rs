//! The published vectors of the log, which another implementation made.

use probity_core::Digest;
use probity_core::merkle::{self, LogLeaf, TreeHead};
use probity_evidence::SignedCheckpoint;
use probity_evidence::checkpoint::NoteVerdict;
use serde_json::Value;
use std::collections::BTreeMap;
use std::convert::Infallible;

fn vectors() -> Value {
    let text = include_str!("../../../docs/vectors/log.json");
    serde_json::from_str(text).expect("JSON")
}

fn digests(value: &Value) -> Vec<Digest> {
    serde_json::from_value(value.clone()).expect("digests")
}

fn number(value: &Value) -> u64 {
    value.as_u64().expect("a number")
}

#[test]
fn roots_and_proofs_are_the_published_ones() {
    let vectors = vectors();
    let leaves = vectors["leaves_hex"].as_array().expect("leaves");
    let leaves: Vec<Digest> = leaves
        .iter()
        .map(|leaf| merkle::leaf_hash(&hex::decode(leaf.as_str().expect("text")).expect("hex")))
        .collect();
    let mut subtrees = BTreeMap::new();
    for (index, leaf) in (0_u64..).zip(&leaves) {
        let Ok(hashes) = merkle::completed_subtrees(index, *leaf, |level, position| {
            Ok::<Digest, Infallible>(subtrees[&(level, position)])
        });
        for (level, hash) in (0_u32..).zip(hashes) {
            subtrees.insert((level, index >> level), hash);
        }
    }
    let subtree = |level, position| Ok::<Digest, Infallible>(subtrees[&(level, position)]);
    let roots = digests(&vectors["roots"]);
    let head = |size: u64| TreeHead { size, root: roots[usize::try_from(size).expect("small")] };
    for size in 0..=8 {
        assert_eq!(merkle::head(size, subtree), Ok(head(size)));
    }
    for case in vectors["inclusion"].as_array().expect("cases") {
        let (index, size, hashes) = (number(&case["index"]), number(&case["size"]), digests(&case["hashes"]));
        assert_eq!(merkle::inclusion_proof(index, size, subtree), Ok(Some(hashes.clone())), "{case}");
        let leaf = &leaves[usize::try_from(index).expect("small")];
        assert!(merkle::verify_inclusion(leaf, index, &head(size), &hashes), "{case}");
    }
    for case in vectors["consistency"].as_array().expect("cases") {
        let (old, new, hashes) = (number(&case["old"]), number(&case["new"]), digests(&case["hashes"]));
        assert_eq!(merkle::consistency_proof(old, new, subtree), Ok(Some(hashes.clone())), "{case}");
        assert!(merkle::verify_consistency(&head(old), &head(new), &hashes), "{case}");
    }
}

#[test]
fn leaves_and_signed_checkpoints_are_the_published_ones() {
    let vectors = vectors();
    let leaf: LogLeaf = serde_json::from_value(vectors["leaf"]["entry"].clone()).expect("a leaf");
    assert_eq!(leaf.hash().to_string(), vectors["leaf"]["hash"]);
    let published = &vectors["checkpoint"];
    let text = published["text"].as_str().expect("text");
    let note = SignedCheckpoint::parse(text.as_bytes()).expect("a checkpoint");
    assert_eq!(note.to_text(), text);
    assert_eq!(note.checkpoint().head.root.to_string(), published["root"]);
    let key = |name: &str| published[name].as_str().expect("text").parse().expect("a key");
    assert_eq!(note.log_signature(&key("log_key")), NoteVerdict::Valid);
    let witness = published["witness"].as_str().expect("text");
    assert_eq!(note.cosignature(witness, &key("witness_key")), NoteVerdict::Valid);
}
