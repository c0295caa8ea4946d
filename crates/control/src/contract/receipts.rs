//! Receipts on disk: numbered, each naming the one before it, signed if the repository has a key.
//!
//! ```text
//! receipts/00000007.json        the receipt
//! receipts/00000007.dsse.json   the same as in-toto statement in a signed envelope
//! receipts/head.json            the last one, so that a missing end is noticed
//! ```
//!
//! A receipt counts once its file is there; a kill before that leaves nothing, a kill after it is made good by whoever
//! writes the next one.

use crate::{Fault, Workspace, attest};
use canon::{Digest, Reason, json};
use contract::receipt::{self, ReceiptError};
use evidence::{CheckStatus, SignatureRule, Trust};
use paths::RepoPath;
use serde_json::Value;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use store::{Chain, Link, State, durable};

/// A receipt is a document for people; one that is larger than this is no receipt.
const MAX_RECEIPT_BYTES: usize = 64 << 20;

/// The receipts of a repository.
#[derive(Debug, Clone)]
pub struct Receipts {
    dir: PathBuf,
}

/// A receipt that is kept.
#[derive(Debug, Clone)]
pub struct Kept {
    /// Its number, from 1.
    pub number: u64,
    /// Its digest.
    pub digest: Digest,
    /// The document.
    pub document: Value,
    /// Where it is.
    pub path: PathBuf,
    /// Its signed envelope, if it was signed.
    pub envelope: Option<PathBuf>,
}

impl Receipts {
    /// The receipts of a workspace. Nothing is created until one is kept.
    pub fn open(workspace: &Workspace) -> Self {
        Self::of(&workspace.state)
    }

    /// The receipts of a state directory.
    pub(crate) fn of(state: &State) -> Self {
        Self { dir: state.dir().join("receipts") }
    }

    /// The digest of a receipt by the name of its file or of its envelope, if the chain of receipts is whole.
    pub(crate) fn digest_in_chain(&self, file_name: &str) -> Option<Digest> {
        let number = file_name.strip_suffix(".json")?;
        let number = number.strip_suffix(".dsse").unwrap_or(number).parse().ok()?;
        let kept = self.read(number).ok()?;
        self.is_whole().then_some(kept.digest)
    }

    /// Whether every receipt names the one before it, up to the last.
    pub(crate) fn is_whole(&self) -> bool {
        self.broken_links().is_ok_and(|broken| broken.is_empty())
    }

    /// Keeps the receipt that `make` makes, given the digest of the one before it.
    pub fn append(
        &self,
        workspace: &Workspace,
        make: impl FnOnce(Option<Digest>) -> Value,
    ) -> Result<Kept, Fault> {
        let key = attest::signing_key(workspace)?;
        let mut chain = Chain::lock(self.dir.join("head.json"))?;
        let last = self.numbers()?.last().copied();
        let previous = last.map(|number| self.read(number)).transpose()?;
        let document = make(previous.as_ref().map(|kept| kept.digest));
        let digest = receipt::verify_receipt(&document).map_err(|error| unfit(&error))?;
        let number = last.unwrap_or(0) + 1;
        if let Some(key) = &key {
            let statement = receipt::statement(&document).map_err(|error| unfit(&error))?;
            durable::write(&self.envelope_path(number), &evidence::attest::seal_statement(&statement, key))?;
        }
        let path = self.path(number);
        durable::write(&path, &[json::canonical(&document), b"\n".to_vec()].concat())?;
        chain.advance(&Link { run_id: number.to_string(), run_hash: digest })?;
        Ok(Kept { number, digest, document, path, envelope: key.map(|_| self.envelope_path(number)) })
    }

    /// All receipts, the oldest first.
    pub fn list(&self) -> Result<Vec<Kept>, Fault> {
        self.numbers()?.into_iter().map(|number| self.read(number)).collect()
    }

    /// The receipt that `name` means: `last`, a number, the beginning of a digest, or an intent.
    pub fn find(&self, name: &str) -> Result<Kept, Fault> {
        let all = self.list()?;
        if name == "last" {
            return all.into_iter().next_back().ok_or_else(|| missing("there is no receipt yet"));
        }
        let digits = name.strip_prefix("sha256:").unwrap_or(name);
        let is_meant = |kept: &Kept| {
            kept.number.to_string() == name
                || digits.len() >= 4 && kept.digest.to_hex().starts_with(digits)
                || kept.document["intent"]["intent_id"] == *name
        };
        let mut meant = all.into_iter().filter(is_meant);
        match (meant.next(), meant.next()) {
            (Some(kept), None) => Ok(kept),
            (None, _) => Err(missing(&format!("no receipt is called `{name}`"))),
            (Some(_), Some(_)) => Err(missing(&format!("`{name}` means several receipts"))),
        }
    }

    /// What is wrong with the chain of receipts; nothing, if it is whole.
    pub fn broken_links(&self) -> Result<Vec<String>, Fault> {
        let all = self.list()?;
        let mut broken = Vec::new();
        let mut before: Option<Digest> = None;
        for (index, kept) in all.iter().enumerate() {
            if kept.number != index as u64 + 1 {
                broken.push(format!("receipt {} is missing", index + 1));
            }
            let named = kept.document["previous"].as_str().and_then(|digest| digest.parse().ok());
            if named != before {
                broken.push(format!("receipt {} does not name the one before it", kept.number));
            }
            before = Some(kept.digest);
        }
        if all.is_empty() && !self.dir.join("head.json").exists() {
            return Ok(broken);
        }
        let head = Chain::lock(self.dir.join("head.json"))?.head()?;
        let known = |head: &Link| all.iter().any(|kept| kept.digest == head.run_hash);
        if head.is_some_and(|head| !known(&head)) {
            broken.push("the last receipt is missing".into());
        }
        Ok(broken)
    }

    fn read(&self, number: u64) -> Result<Kept, Fault> {
        let path = self.path(number);
        let bytes = durable::read(&path)?.ok_or_else(|| missing(&format!("receipt {number} is gone")))?;
        let document = json::parse(&bytes)
            .map_err(|error| Fault::refused(error.reason, format!("{}: {error}", path.display())))?;
        let digest = receipt::verify_receipt(&document)
            .map_err(|error| Fault::refused(reason(&error), format!("{}: {error}", path.display())))?;
        let envelope = Some(self.envelope_path(number)).filter(|path| path.exists());
        Ok(Kept { number, digest, document, path, envelope })
    }

    /// The numbers of all receipts, in order.
    fn numbers(&self) -> Result<Vec<u64>, Fault> {
        let entries = match std::fs::read_dir(&self.dir) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(source) => {
                return Err(Fault::System { what: format!("cannot list {}", self.dir.display()), source });
            }
        };
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let mut numbers: Vec<u64> =
            names.filter_map(|name| name.strip_suffix(".json")?.parse().ok()).collect();
        numbers.sort_unstable();
        Ok(numbers)
    }

    fn path(&self, number: u64) -> PathBuf {
        self.dir.join(format!("{number:08}.json"))
    }

    fn envelope_path(&self, number: u64) -> PathBuf {
        self.dir.join(format!("{number:08}.dsse.json"))
    }
}

/// A receipt as an attestation: its signed envelope, or the statement alone if nobody signed it.
pub fn attestation(kept: &Kept) -> Result<Value, Fault> {
    match &kept.envelope {
        None => receipt::statement(&kept.document).map_err(|error| unfit(&error)),
        Some(_) => json::parse(&bytes(kept)?)
            .map_err(|error| Fault::refused(error.reason, format!("its envelope: {error}"))),
    }
}

/// The bytes to check: the envelope if there is one, else the receipt.
pub fn bytes(kept: &Kept) -> Result<Vec<u8>, Fault> {
    let path = kept.envelope.as_ref().unwrap_or(&kept.path);
    durable::read(path)?.ok_or_else(|| missing(&format!("{} is gone", path.display())))
}

/// Whether the receipts of a repository hang together.
pub fn chain_check(receipts: &Receipts) -> Result<ReceiptCheck, Fault> {
    let broken = receipts.broken_links()?;
    Ok(match broken.as_slice() {
        [] => passed("chain", "every receipt names the one before it".into()),
        _ => failed("chain", Reason::EvidenceChainBroken, broken.join("; ")),
    })
}

/// One question that was put to a receipt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceiptCheck {
    /// What was asked.
    pub name: &'static str,
    /// What came of it.
    pub status: CheckStatus,
    /// The code, if it failed.
    pub code: Option<Reason>,
    /// In words.
    pub detail: String,
}

/// What an offline check of a receipt says.
#[derive(Debug, Clone)]
pub struct Checked {
    /// The receipt, if it is one.
    pub document: Option<Value>,
    /// Every question, also those that nobody could answer.
    pub checks: Vec<ReceiptCheck>,
}

impl Checked {
    /// Whether nothing speaks against the receipt.
    pub fn passed(&self) -> bool {
        self.checks.iter().all(|check| check.status != CheckStatus::Failed)
    }
}

/// Checks a receipt or its envelope by its bytes alone, and against a tree if one is given.
pub fn check(bytes: &[u8], trust: &Trust, tree: Option<&Path>) -> Checked {
    let (content, signature) = open(bytes, trust);
    let (document, integrity) = match content.and_then(|document| {
        receipt::verify_receipt(&document)
            .map(|digest| (document, digest))
            .map_err(|error| (reason(&error), error.to_string()))
    }) {
        Ok((document, digest)) => (Some(document), passed("integrity", digest.to_string())),
        Err((code, detail)) => (None, failed("integrity", code, detail)),
    };
    let tree = match (tree, &document) {
        (Some(tree), Some(document)) => tree_check(document, tree),
        _ => skipped("tree", "no tree was given"),
    };
    Checked { document, checks: vec![integrity, signature, tree] }
}

type Content = Result<Value, (Reason, String)>;

/// The receipt that the bytes hold, and what its signature is worth.
fn open(bytes: &[u8], trust: &Trust) -> (Content, ReceiptCheck) {
    let unreadable = |why: String| {
        let check = skipped("signature", "there is nothing to look at");
        (Err((Reason::EvidenceSchemaInvalid, why)), check)
    };
    if bytes.len() > MAX_RECEIPT_BYTES {
        return unreadable(format!("it is larger than {MAX_RECEIPT_BYTES} bytes"));
    }
    let value = match json::parse(bytes) {
        Ok(value) => value,
        Err(error) => return unreadable(error.to_string()),
    };
    if value.get("payloadType").is_none() {
        let check = match trust.signature {
            SignatureRule::Required => {
                failed("signature", Reason::EvidenceSignatureRequired, "it is not signed".into())
            }
            _ => skipped("signature", "this is the receipt alone; its envelope carries the signature"),
        };
        return (Ok(value), check);
    }
    let of_receipt =
        |statement: &Value| receipt::attested(statement).map_err(|error| (reason(&error), error.to_string()));
    match evidence::attest::open_statement(bytes, &trust.keys) {
        Ok((key_id, statement)) => (of_receipt(&statement), passed("signature", format!("by key {key_id}"))),
        Err(error) if trust.signature == SignatureRule::Ignore || trust.keys.is_empty() => {
            let check = match trust.signature {
                SignatureRule::Required => failed("signature", Reason::EvidenceKeyUnknown, error.to_string()),
                _ => skipped("signature", "no trusted key was given"),
            };
            (payload(&value).and_then(|statement| of_receipt(&statement)), check)
        }
        Err(error) => {
            let content = payload(&value).and_then(|statement| of_receipt(&statement));
            (content, failed("signature", Reason::EvidenceSignatureInvalid, error.to_string()))
        }
    }
}

/// The statement of an envelope that nobody vouches for.
fn payload(envelope: &Value) -> Content {
    let unfit = |why: String| (Reason::EvidenceSchemaInvalid, why);
    let bytes = evidence::attest::payload(envelope).map_err(|error| unfit(error.to_string()))?;
    json::parse(&bytes).map_err(|error| unfit(error.to_string()))
}

/// Whether the files of a tree are still those that the change left.
fn tree_check(document: &Value, tree: &Path) -> ReceiptCheck {
    let mut wrong = Vec::new();
    let entries = document["delta"].as_array().map_or(&[][..], Vec::as_slice);
    for entry in entries {
        let Some(path) = canon::bytes::from_json(&entry["path"]).and_then(|it| RepoPath::parse(&it).ok())
        else {
            return failed("tree", Reason::EvidenceSchemaInvalid, "a path of the delta is none".into());
        };
        let stated: Option<Digest> = entry["after"].as_str().and_then(|digest| digest.parse().ok());
        let file = tree.join(OsStr::from_bytes(path.as_bytes()));
        let found = std::fs::symlink_metadata(&file).ok().filter(std::fs::Metadata::is_file);
        let found = found.and_then(|_| std::fs::read(&file).ok()).map(|bytes| Digest::of(&bytes));
        if found != stated {
            wrong.push(path.to_string());
        }
    }
    if wrong.is_empty() {
        return passed("tree", format!("{} files are as the change left them", entries.len()));
    }
    let shown = wrong.iter().take(5).map(String::as_str).collect::<Vec<_>>().join(", ");
    failed(
        "tree",
        Reason::EvidenceTreeMismatch,
        format!("{} of {} differ: {shown}", wrong.len(), entries.len()),
    )
}

fn passed(name: &'static str, detail: String) -> ReceiptCheck {
    ReceiptCheck { name, status: CheckStatus::Passed, code: None, detail }
}

fn failed(name: &'static str, code: Reason, detail: String) -> ReceiptCheck {
    ReceiptCheck { name, status: CheckStatus::Failed, code: Some(code), detail }
}

fn skipped(name: &'static str, why: &str) -> ReceiptCheck {
    ReceiptCheck { name, status: CheckStatus::Skipped, code: None, detail: why.into() }
}

const fn reason(error: &ReceiptError) -> Reason {
    match error {
        ReceiptError::Schema | ReceiptError::NoDigest | ReceiptError::Statement => {
            Reason::EvidenceSchemaInvalid
        }
        ReceiptError::Digest { .. } => Reason::EvidenceRunHashMismatch,
    }
}

fn unfit(error: &ReceiptError) -> Fault {
    Fault::refused(reason(error), error.to_string())
}

fn missing(what: &str) -> Fault {
    Fault::Missing(what.to_owned())
}
