//! Checks receipts of finished changes offline: form, digest, signature and, if a tree is given, its files.
//!
//! A receipt is a document `probity/receipt/v1`. Its digest covers everything else in it, so that anyone can
//! check and name it. A signed receipt is the predicate of an in-toto statement in a DSSE envelope.

use crate::verify::{MAX_DOCUMENT_BYTES, is_too_large};
use crate::{CheckStatus, SignatureRule, TrustRequirements, attest};
use probity_core::{Digest, ReasonCode, bytes, json, text};
use probity_paths::RepoPath;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeSet;

pub const RECEIPT_SCHEMA: &str = "probity/receipt/v1";

/// Receipts are documents for people; anything larger is rejected unparsed.
pub const MAX_RECEIPT_BYTES: usize = MAX_DOCUMENT_BYTES;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReceiptError {
    #[error("the document is no {RECEIPT_SCHEMA}")]
    Schema,
    /// The digest is missing or malformed.
    #[error("the receipt has no digest")]
    NoDigest,
    /// The statement does not match the receipt it contains.
    #[error("the statement's subjects are not those of its receipt")]
    Statement,
    /// The receipt was changed after it was made.
    #[error("the receipt names {stated}, but its content is {found}")]
    Digest { stated: Digest, found: Digest },
}

impl ReceiptError {
    pub const fn reason(&self) -> ReasonCode {
        match self {
            Self::Schema | Self::NoDigest | Self::Statement => ReasonCode::EvidenceSchemaInvalid,
            Self::Digest { .. } => ReasonCode::EvidenceRunHashMismatch,
        }
    }
}

/// Checks that `document` is a receipt and has not been changed. Returns its digest.
pub fn verify(document: &Value) -> Result<Digest, ReceiptError> {
    if document.get("schema").and_then(Value::as_str) != Some(RECEIPT_SCHEMA) {
        return Err(ReceiptError::Schema);
    }
    let mut body = document.clone();
    let stated = body.as_object_mut().and_then(|members| members.remove("digest"));
    let stated = stated.and_then(|digest| digest.as_str()?.parse().ok()).ok_or(ReceiptError::NoDigest)?;
    let found = Digest::of_json(&body);
    if stated == found { Ok(found) } else { Err(ReceiptError::Digest { stated, found }) }
}

/// In-toto predicate type of a receipt.
pub const RECEIPT_PREDICATE_TYPE: &str = "https://probity.dev/attestation/receipt/v1";

/// Builds the in-toto statement of a receipt. Its subjects are the receipt itself and every file that the
/// change left behind.
pub fn statement(receipt: &Value) -> Result<Value, ReceiptError> {
    let digest = verify(receipt)?;
    let delta = ReceiptDelta::deserialize(receipt).map_or_else(|_| Vec::new(), |read| read.delta);
    let left =
        delta.into_iter().filter_map(|entry| Some((bytes::escape(entry.path.as_bytes()), entry.after?)));
    let subjects = std::iter::once(("probity-receipt".to_owned(), digest)).chain(left);
    Ok(attest::statement_about(subjects, RECEIPT_PREDICATE_TYPE, receipt))
}

/// What the checks need of a receipt. Anything else in it is covered by its digest.
#[derive(Deserialize)]
struct ReceiptDelta {
    #[serde(default)]
    delta: Vec<DeltaEntry>,
}

#[derive(Deserialize)]
struct DeltaEntry {
    path: RepoPath,
    after: Option<Digest>,
}

/// Returns the receipt in a statement, if rebuilding the statement from that receipt gives the same statement.
pub fn attested(statement: &Value) -> Result<Value, ReceiptError> {
    let receipt = &statement["predicate"];
    if self::statement(receipt)? == *statement { Ok(receipt.clone()) } else { Err(ReceiptError::Statement) }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceiptCheck {
    pub name: &'static str,
    pub status: CheckStatus,
    pub code: Option<ReasonCode>,
    pub detail: String,
}

impl ReceiptCheck {
    pub fn passed(name: &'static str, detail: String) -> Self {
        Self { name, status: CheckStatus::Passed, code: None, detail }
    }

    pub fn failed(name: &'static str, code: ReasonCode, detail: String) -> Self {
        Self { name, status: CheckStatus::Failed, code: Some(code), detail }
    }

    /// Records a check that could not be made (law 6).
    fn skipped(name: &'static str, why: &str) -> Self {
        Self { name, status: CheckStatus::Skipped, code: None, detail: why.into() }
    }
}

/// The result of an offline check of a receipt.
#[derive(Debug, Clone)]
pub struct CheckedReceipt {
    /// The receipt, if it is intact.
    pub document: Option<Value>,
    /// Every check, including those that could not be made.
    pub checks: Vec<ReceiptCheck>,
}

impl CheckedReceipt {
    pub fn passed(&self) -> bool {
        self.checks.iter().all(|check| check.status != CheckStatus::Failed)
    }
}

/// Looks up the digest of a file in the tree that a receipt is compared with; `None` if there is no such file.
pub type DigestOfFile<'a> = &'a dyn Fn(&RepoPath) -> Option<Digest>;

/// Checks a receipt or its envelope on its own, and against a tree if one is given.
pub fn check(bytes: &[u8], trust: &TrustRequirements, tree: Option<DigestOfFile<'_>>) -> CheckedReceipt {
    let (content, signature) = open(bytes, trust);
    let (document, integrity) = match content.and_then(|document| {
        verify(&document)
            .map(|digest| (document, digest))
            .map_err(|error| (error.reason(), error.to_string()))
    }) {
        Ok((document, digest)) => (Some(document), ReceiptCheck::passed("integrity", digest.to_string())),
        Err((code, detail)) => (None, ReceiptCheck::failed("integrity", code, detail)),
    };
    let tree = match (tree, &document) {
        (Some(digest_of_file), Some(document)) => tree_check(document, digest_of_file),
        _ => ReceiptCheck::skipped("tree", "no tree was given"),
    };
    let agreement = match document.as_ref().map(contradictions) {
        None => ReceiptCheck::skipped("agreement", "there is nothing to look at"),
        Some(wrong) if wrong.is_empty() => ReceiptCheck::passed("agreement", "its parts agree".into()),
        Some(wrong) => {
            ReceiptCheck::failed("agreement", ReasonCode::EvidenceDerivedMismatch, wrong.join("; "))
        }
    };
    CheckedReceipt { document, checks: vec![integrity, signature, agreement, tree] }
}

type ReceiptContent = Result<Value, (ReasonCode, String)>;

/// Extracts the receipt and checks its signature.
fn open(bytes: &[u8], trust: &TrustRequirements) -> (ReceiptContent, ReceiptCheck) {
    let unreadable = |why: String| {
        let check = ReceiptCheck::skipped("signature", "there is nothing to look at");
        (Err((ReasonCode::EvidenceSchemaInvalid, why)), check)
    };
    if is_too_large(bytes) {
        let check = ReceiptCheck::skipped("signature", "there is nothing to look at");
        return (Err((ReasonCode::EvidenceTooLarge, "it was not read".into())), check);
    }
    let value = match json::parse(bytes) {
        Ok(value) => value,
        Err(error) => return unreadable(error.to_string()),
    };
    if bytes.strip_suffix(b"\n") != Some(json::canonical(&value).as_slice()) {
        let check = ReceiptCheck::skipped("signature", "there is nothing to look at");
        let why = "a receipt and its envelope are canonical JSON and one newline".into();
        return (Err((ReasonCode::EvidenceNotCanonical, why)), check);
    }
    if value.get("payloadType").is_none() {
        let check = if trust.signature == SignatureRule::Required {
            let why = "it is not signed".into();
            ReceiptCheck::failed("signature", ReasonCode::EvidenceSignatureRequired, why)
        } else {
            let why = "this is the receipt alone; its envelope carries the signature";
            ReceiptCheck::skipped("signature", why)
        };
        return (Ok(value), check);
    }
    let of_receipt =
        |statement: Value| attested(&statement).map_err(|error| (error.reason(), error.to_string()));
    let error = match attest::open_statement(bytes, &trust.keys) {
        Ok((key_id, statement)) => {
            return (of_receipt(statement), ReceiptCheck::passed("signature", format!("by key {key_id}")));
        }
        Err(error) => error.to_string(),
    };
    let is_untrusted = trust.signature == SignatureRule::Ignore || trust.keys.is_empty();
    let failed = |code| ReceiptCheck::failed("signature", code, error.clone());
    let check = match (is_untrusted, trust.signature) {
        (false, _) => failed(ReasonCode::EvidenceSignatureInvalid),
        (true, SignatureRule::Required) => failed(ReasonCode::EvidenceKeyUnknown),
        (true, _) => ReceiptCheck::skipped("signature", "no trusted key was given"),
    };
    (payload(&value).and_then(of_receipt), check)
}

/// Names the parts of a receipt that contradict each other.
fn contradictions(receipt: &Value) -> Vec<String> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let stated = |check: &str| {
        let named = list(&receipt["checks"]).into_iter().find(|it| it["check"] == check);
        named.and_then(|it| Some(it["outcome"].as_str()?.to_owned())).unwrap_or_default()
    };
    let mut wrong = Vec::new();
    let mut seen = BTreeSet::new();
    let delta = list(&receipt["delta"]);
    if delta.iter().any(|it| !seen.insert(it["path"].to_string()) || it["before"] == it["after"]) {
        wrong.push("`delta` has a path twice, or one that did not change".to_owned());
    }
    let scope = &receipt["scope_check"];
    for (check, paths) in [("scope_check", "unexpected_files"), ("forbidden_paths", "forbidden_touched")] {
        let expected = match (scope.is_null(), list(&scope[paths]).is_empty()) {
            (true, _) => "not_applicable",
            (false, true) => "passed",
            (false, false) => "failed",
        };
        if stated(check) != expected {
            wrong.push(format!("the check `{check}` does not follow from `scope_check`"));
        }
    }
    let gates = list(&receipt["gates"]);
    let has_failed = gates.iter().any(|it| it["result"] == "failed" && it["required"] == true);
    let outcome = stated("policy_gates");
    if gates.is_empty() != (outcome == "not_applicable") || has_failed != (outcome == "failed") {
        wrong.push("the check `policy_gates` does not follow from `gates`".to_owned());
    }
    let blocking = list(&receipt["outcome"]["blocking_violations"]);
    let is_violated = receipt["outcome"]["status"] == "violated";
    if blocking.first().is_some_and(|first| !is_violated || *first != receipt["outcome"]["reason"]) {
        wrong.push("`outcome` does not follow from its violations".to_owned());
    }
    wrong
}

/// Returns the statement of an envelope without a verified signature.
fn payload(envelope: &Value) -> ReceiptContent {
    let unfit = |why: String| (ReasonCode::EvidenceSchemaInvalid, why);
    let bytes = attest::payload(envelope).map_err(|error| unfit(error.to_string()))?;
    json::parse(&bytes).map_err(|error| unfit(error.to_string()))
}

/// Checks that the files of a tree are still as the change left them.
fn tree_check(document: &Value, digest_of_file: DigestOfFile<'_>) -> ReceiptCheck {
    let entries = match ReceiptDelta::deserialize(document) {
        Ok(read) => read.delta,
        Err(error) => {
            let detail = format!("its delta cannot be read: {error}");
            return ReceiptCheck::failed("tree", ReasonCode::EvidenceSchemaInvalid, detail);
        }
    };
    let differs = |entry: &&DeltaEntry| digest_of_file(&entry.path) != entry.after;
    let wrong: Vec<String> = entries.iter().filter(differs).map(|entry| entry.path.to_string()).collect();
    let files = text::count(entries.len(), "file");
    if wrong.is_empty() {
        return ReceiptCheck::passed("tree", format!("as the change left it: {files}"));
    }
    ReceiptCheck::failed(
        "tree",
        ReasonCode::EvidenceTreeMismatch,
        format!("{} of {files} changed since: {}", wrong.len(), wrong[..wrong.len().min(5)].join(", ")),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SecretKey;
    use serde_json::json;

    fn receipt() -> Value {
        let checks = ["scope_check", "forbidden_paths", "policy_gates"]
            .map(|check| json!({ "check": check, "outcome": "not_applicable" }));
        let mut document = json!({
            "schema": RECEIPT_SCHEMA,
            "delta": [{ "path": "a.txt", "before": null, "after": Digest::of(b"a") }],
            "checks": checks,
        });
        document["digest"] = json!(Digest::of_json(&document));
        document
    }

    fn bytes(document: &Value) -> Vec<u8> {
        [probity_core::json::canonical(document), b"\n".to_vec()].concat()
    }

    fn statuses(bytes: &[u8], trust: &TrustRequirements, tree: Option<DigestOfFile<'_>>) -> Vec<CheckStatus> {
        check(bytes, trust, tree).checks.iter().map(|check| check.status).collect()
    }

    #[test]
    fn a_receipt_is_held_against_its_digest_its_key_and_the_tree() {
        use CheckStatus::{Failed, Passed, Skipped};
        let key = SecretKey::from_random(&[7; 32]);
        let trust =
            TrustRequirements { keys: [(key.key_id(), key.public())].into(), ..TrustRequirements::default() };
        let envelope = attest::seal_statement(&statement(&receipt()).expect("a statement"), &key);
        let same: DigestOfFile<'_> = &|_| Some(Digest::of(b"a"));
        assert_eq!(statuses(&envelope, &trust, Some(same)), [Passed, Passed, Passed, Passed]);
        assert_eq!(statuses(&envelope, &trust, Some(&|_| None)), [Passed, Passed, Passed, Failed]);
        let stranger = SecretKey::from_random(&[8; 32]);
        let forged = attest::seal_statement(&statement(&receipt()).expect("a statement"), &stranger);
        assert_eq!(statuses(&forged, &trust, None), [Passed, Failed, Passed, Skipped]);
    }

    #[test]
    fn a_receipt_without_a_signature_fails_only_where_one_is_required() {
        use CheckStatus::{Failed, Passed, Skipped};
        let bytes = bytes(&receipt());
        assert_eq!(statuses(&bytes, &TrustRequirements::default(), None), [Passed, Skipped, Passed, Skipped]);
        let strict = TrustRequirements { signature: SignatureRule::Required, ..TrustRequirements::default() };
        assert_eq!(statuses(&bytes, &strict, None), [Passed, Failed, Passed, Skipped]);
    }

    #[test]
    fn a_changed_receipt_is_none() {
        let mut changed = receipt();
        changed["delta"] = json!([]);
        let checked = check(&bytes(&changed), &TrustRequirements::default(), None);
        assert!(checked.document.is_none() && !checked.passed());
        assert_eq!(checked.checks[0].code, Some(ReasonCode::EvidenceRunHashMismatch));
    }
}
