//! Stores receipts on disk: numbered, each naming the one before it, signed if the repository has a key.
//!
//! ```text
//! receipts/00000007.json        the receipt
//! receipts/00000007.dsse.json   the same as an in-toto statement in a signed envelope
//! ```
//!
//! A receipt counts once its file exists. A kill before that leaves at most an envelope, which the next receipt
//! overwrites or removes. It is acknowledged once the log of the repository lists it, so that a missing end is noticed;
//! a kill before that is repaired by the next receipt.

use probity_api::SystemPath;
use probity_api::quality::{
    ReceiptCheckReport, ReceiptCheckStatus, ReceiptListAnswer, ReceiptOutcome, ReceiptReference,
    ReceiptShowAnswer, ReceiptSummary, ReceiptVerifyAnswer,
};
use probity_contract::ContractStatus;
use probity_core::chain::{ChainBreak, check_next};
use probity_core::merkle::TreeHead;
use probity_core::{Digest, ReasonCode, json};
use probity_evidence::receipt::{self, CheckedReceipt, ReceiptCheck, ReceiptError};
use probity_evidence::{CheckStatus, SignatureRule, TrustRequirements};
use probity_intents::Timestamp;
use probity_paths::RepoPath;
use probity_storage::sqlite::SqliteStore;
use probity_storage::{FileLock, StoreError, durable};
use probity_workspace::StateDirectory;
use probity_workspace::signing::signing_key;
use probity_workspace::transparency_log::{self, LogEntry, RECEIPT_LOG};
use probity_workspace::{ServiceError, Workspace};
use serde::Deserialize;
use serde_json::Value;
use std::ffi::OsStr;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

#[derive(Debug, Clone)]
pub struct ReceiptStore {
    state: StateDirectory,
}

/// What a receipt comes after.
#[derive(Debug, Clone, Copy)]
pub struct ReceiptPlace {
    /// The digest of the receipt before it.
    pub previous: Option<Digest>,
    /// The head of the log.
    pub log: Option<TreeHead>,
}

#[derive(Debug, Clone)]
pub struct StoredReceipt {
    /// Starts at 1.
    pub number: u64,
    pub digest: Digest,
    pub document: Value,
    pub head: ReceiptHead,
    pub path: PathBuf,
    /// The signed envelope, if the receipt was signed.
    pub envelope: Option<PathBuf>,
}

/// The members of a receipt that listing, searching and chaining need.
#[derive(Debug, Clone, Deserialize)]
pub struct ReceiptHead {
    /// When the change was finished.
    pub at: Timestamp,
    /// The digest of the receipt before this one.
    pub previous: Option<Digest>,
    /// The head of the log before this receipt; absent in receipts from before the log.
    pub log: Option<TreeHead>,
    intent: Option<IntentHead>,
    outcome: OutcomeHead,
}

#[derive(Debug, Clone, Deserialize)]
struct IntentHead {
    intent_id: String,
}

#[derive(Debug, Clone, Deserialize)]
struct OutcomeHead {
    status: ContractStatus,
}

impl ReceiptHead {
    /// Reads the members of a document; `None` if it is not a receipt of this version.
    fn of(document: &Value) -> Option<Self> {
        Self::deserialize(document).ok()
    }

    pub fn intent_id(&self) -> Option<&str> {
        self.intent.as_ref().map(|intent| intent.intent_id.as_str())
    }

    pub const fn status(&self) -> ContractStatus {
        self.outcome.status
    }
}

impl StoredReceipt {
    fn new(number: u64, digest: Digest, document: Value, path: PathBuf) -> Result<Self, ServiceError> {
        let unreadable = || {
            let detail = format!("{}: it has not the members of a receipt", path.display());
            ServiceError::refused(ReasonCode::EvidenceSchemaInvalid, detail)
        };
        let head = ReceiptHead::of(&document).ok_or_else(unreadable)?;
        Ok(Self { number, digest, document, head, path, envelope: None })
    }

    pub fn reference(&self) -> ReceiptReference {
        ReceiptReference {
            number: self.number,
            digest: self.digest,
            path: SystemPath::from(self.path.as_path()),
            signed: self.envelope.is_some(),
        }
    }

    fn summary(&self) -> ReceiptSummary {
        ReceiptSummary {
            number: self.number,
            digest: self.digest,
            previous: self.head.previous,
            at: self.head.at,
            intent_id: self.head.intent_id().map(str::to_owned),
            status: self.head.status(),
            signed: self.envelope.is_some(),
        }
    }
}

impl ReceiptStore {
    /// Creates nothing on disk; the first receipt does.
    pub fn open(workspace: &Workspace) -> Self {
        Self::of(&workspace.state)
    }

    pub fn of(state: &StateDirectory) -> Self {
        Self { state: state.clone() }
    }

    /// Returns the digest of a receipt by the file name of it or its envelope, if the chain is intact.
    pub fn digest_in_chain(&self, file_name: &str) -> Option<Digest> {
        let number = file_name.strip_suffix(".json")?;
        let number = number.strip_suffix(".dsse").unwrap_or(number).parse().ok()?;
        let kept = self.read(number).ok()?;
        self.is_whole().then_some(kept.digest)
    }

    /// Returns whether every receipt names the one before it, up to the last.
    pub fn is_whole(&self) -> bool {
        self.broken_links().is_ok_and(|broken| broken.is_empty())
    }

    /// Stores the receipt that `make` builds for its place, and lists it in the log.
    pub fn append(
        &self,
        workspace: &Workspace,
        make: impl FnOnce(ReceiptPlace) -> Value,
    ) -> Result<StoredReceipt, ServiceError> {
        let key = signing_key(workspace)?;
        let _turn = FileLock::take(&self.state.receipts_dir().join("lock"))?;
        let store = self.state.store()?;
        let last = self.state.receipts()?.last().copied();
        let previous = last.map(|number| self.read(number)).transpose()?;
        match (&previous, transparency_log::last(&store, RECEIPT_LOG)?) {
            (Some(kept), listed) => self.list_unfinished(&store, kept, listed.as_ref(), workspace)?,
            (None, Some(listed)) => return Err(self.lost(&listed.name).into()),
            (None, None) => {}
        }
        let log = store.log_head()?.map(|head| head.tree);
        let document = make(ReceiptPlace { previous: previous.as_ref().map(|kept| kept.digest), log });
        let digest = receipt::verify(&document).map_err(|error| receipt_error(&error))?;
        let number = last.unwrap_or(0) + 1;
        if let Some(key) = &key {
            let statement = receipt::statement(&document).map_err(|error| receipt_error(&error))?;
            durable::write(
                &self.envelope_path(number),
                &probity_evidence::attest::seal_statement(&statement, key),
            )?;
        }
        if key.is_none() {
            // A kill may have left the envelope of a signed receipt that never was.
            durable::remove(&self.envelope_path(number))?;
        }
        let path = self.path(number);
        durable::write(&path, &[json::canonical(&document), b"\n".to_vec()].concat())?;
        transparency_log::append(&store, RECEIPT_LOG, &number.to_string(), &digest)?;
        let envelope = key.map(|_| self.envelope_path(number));
        Ok(StoredReceipt { envelope, ..StoredReceipt::new(number, digest, document, path)? })
    }

    /// Returns all receipts, oldest first.
    pub fn list(&self) -> Result<Vec<StoredReceipt>, ServiceError> {
        self.state.receipts()?.into_iter().map(|number| self.read(number)).collect()
    }

    /// Finds a receipt by `last`, its number, a prefix of its digest, or its intent.
    pub fn find(&self, name: &str) -> Result<StoredReceipt, ServiceError> {
        let all = self.list()?;
        if name == "last" {
            return all.into_iter().next_back().ok_or_else(|| {
                missing("there is no receipt yet")
                    .with_next_step("`probity finish` writes one for the change that it judges")
            });
        }
        let digits = name.strip_prefix("sha256:").unwrap_or(name);
        let is_meant = |kept: &StoredReceipt| {
            kept.number.to_string() == name
                || digits.len() >= 4 && kept.digest.to_hex().starts_with(digits)
                || kept.head.intent_id() == Some(name)
        };
        let mut meant = all.into_iter().filter(is_meant);
        match (meant.next(), meant.next()) {
            (Some(kept), None) => Ok(kept),
            (None, _) => Err(missing(&format!("no receipt is called `{name}`"))),
            (Some(_), Some(_)) => Err(missing(&format!("`{name}` means several receipts"))),
        }
    }

    /// Reads the receipt with this number, counted from 1.
    pub fn by_number(&self, number: u64) -> Result<StoredReceipt, ServiceError> {
        self.read(number)
    }

    /// Finds the receipt that the log lists with this digest, without reading the others.
    pub fn by_digest(&self, digest: &Digest) -> Result<Option<StoredReceipt>, ServiceError> {
        let Some(store) = self.state.existing_store()? else { return Ok(None) };
        let listed = transparency_log::entries(&store, RECEIPT_LOG, 0)?;
        let number =
            listed.iter().find(|entry| entry.digest == *digest).and_then(|entry| entry.name.parse().ok());
        number.map(|number| self.read(number)).transpose()
    }

    /// Describes what is wrong with the chain of receipts; empty if it is intact.
    pub fn broken_links(&self) -> Result<Vec<String>, ServiceError> {
        let all = self.list()?;
        let mut broken = Vec::new();
        let (mut last, mut before) = (0, None);
        for kept in &all {
            match check_next(last, &before, kept.number, &kept.head.previous) {
                Err(ChainBreak::Gap { last, .. }) => broken.push(format!("receipt {} is missing", last + 1)),
                Err(ChainBreak::Digest { number }) => {
                    broken.push(format!("receipt {number} does not name the one before it"));
                }
                Ok(()) => {}
            }
            (last, before) = (kept.number, Some(kept.digest));
        }
        if let Some(store) = self.state.existing_store()? {
            broken.extend(differences_from_log(&all, &store)?);
        } else if let [first, ..] = all.as_slice() {
            broken.push(format!("no log lists receipt {}", first.number));
        }
        Ok(broken)
    }

    /// Lists the last receipt if its writer was killed before it could. Refuses one that the log has lost, or never had.
    fn list_unfinished(
        &self,
        store: &SqliteStore,
        last: &StoredReceipt,
        listed: Option<&LogEntry>,
        workspace: &Workspace,
    ) -> Result<(), ServiceError> {
        let n_listed = listed.map_or(Ok(0), |entry| entry.name.parse::<u64>()).unwrap_or(0);
        if last.number < n_listed {
            return Err(self.lost(&n_listed.to_string()).into());
        }
        if last.number > n_listed + 1 {
            let why = format!("the log lists {n_listed} receipts, but receipt {} is there", last.number);
            return Err(StoreError::Shortened { path: self.state.database(), why }.into());
        }
        if last.number == n_listed + 1
            && let Some(key) = signing_key(workspace)?
        {
            let trust = TrustRequirements {
                signature: SignatureRule::Required,
                keys: [(key.key_id(), key.public())].into(),
                ..TrustRequirements::default()
            };
            if !receipt::check(&signed_bytes(last)?, &trust, None).passed() {
                let why = format!("receipt {} is not signed with the key of this repository", last.number);
                return Err(StoreError::Inconsistent { path: last.path.clone(), why }.into());
            }
        }
        Ok(transparency_log::append(store, RECEIPT_LOG, &last.number.to_string(), &last.digest)?)
    }

    fn lost(&self, number: &str) -> StoreError {
        let why = format!("the log lists receipt {number}, which is gone");
        StoreError::Shortened { path: self.state.receipts_dir(), why }
    }

    fn read(&self, number: u64) -> Result<StoredReceipt, ServiceError> {
        let path = self.path(number);
        let bytes = durable::read(&path)?.ok_or_else(|| missing(&format!("receipt {number} is gone")))?;
        let document = json::parse(&bytes)
            .map_err(|error| ServiceError::refused(error.reason, format!("{}: {error}", path.display())))?;
        let digest = receipt::verify(&document)
            .map_err(|error| ServiceError::refused(error.reason(), format!("{}: {error}", path.display())))?;
        let envelope = Some(self.envelope_path(number)).filter(|path| path.exists());
        Ok(StoredReceipt { envelope, ..StoredReceipt::new(number, digest, document, path)? })
    }

    fn path(&self, number: u64) -> PathBuf {
        self.state.receipt(number)
    }

    fn envelope_path(&self, number: u64) -> PathBuf {
        self.state.receipts_dir().join(format!("{number:08}.dsse.json"))
    }
}

/// Describes how the receipts differ from those that the log lists, and which of them knows a head that the log has not.
fn differences_from_log(all: &[StoredReceipt], store: &SqliteStore) -> Result<Vec<String>, ServiceError> {
    let listed = transparency_log::entries(store, RECEIPT_LOG, 0)?;
    let mut differences = Vec::new();
    for entry in &listed {
        match all.iter().find(|kept| kept.number.to_string() == entry.name) {
            None => differences.push(format!("receipt {} is missing, but the log lists it", entry.name)),
            Some(kept) if kept.digest != entry.digest => {
                differences.push(format!("receipt {} is not the one that the log lists", entry.name));
            }
            Some(_) => {}
        }
    }
    // The last one may be just being written, or its writer was killed: the next receipt lists it.
    for kept in all.iter().filter(|kept| kept.number > listed.len() as u64 + 1) {
        differences.push(format!("the log does not list receipt {}", kept.number));
    }
    for kept in all {
        let known = kept.head.log.map(|head| store.check_head(&head, &format!("receipt {}", kept.number)));
        differences.extend(known.and_then(Result::err).map(|error| error.to_string()));
    }
    Ok(differences)
}

/// Lists the receipts of a workspace, newest last, and the defects of their chain.
pub fn list_receipts(workspace: &Workspace) -> Result<ReceiptListAnswer, ServiceError> {
    let receipts = ReceiptStore::open(workspace);
    let broken_links = receipts.broken_links()?;
    let receipts = receipts.list()?.iter().map(StoredReceipt::summary).collect();
    Ok(ReceiptListAnswer { receipts, broken_links })
}

/// Returns one receipt, with its attestation if requested.
pub fn show_receipt(
    workspace: &Workspace,
    name: &str,
    with_attestation: bool,
) -> Result<ReceiptShowAnswer, ServiceError> {
    let kept = ReceiptStore::open(workspace).find(name)?;
    let attestation = attestation(&kept)?;
    Ok(ReceiptShowAnswer {
        reference: kept.reference(),
        receipt: kept.document,
        attestation: with_attestation.then_some(attestation),
    })
}

/// Checks the bytes of a receipt or its envelope; with `own` also the chain of its repository.
pub fn verify_receipt(
    bytes: &[u8],
    trust: &TrustRequirements,
    tree: Option<&Path>,
    own: Option<&Workspace>,
) -> Result<ReceiptVerifyAnswer, ServiceError> {
    let mut checked = check(bytes, trust, tree);
    if let Some(workspace) = own {
        checked.checks.push(chain_check(&ReceiptStore::open(workspace))?);
    }
    let status = checked.document.as_ref().and_then(ReceiptHead::of).map(|head| head.status());
    let outcome = if checked.passed() { ReceiptOutcome::Pass } else { ReceiptOutcome::Fail };
    let codes = checked.checks.iter().filter_map(|check| check.code).collect();
    let checks = checked.checks.into_iter().map(check_report).collect();
    Ok(ReceiptVerifyAnswer { outcome, codes, checks, status })
}

fn check_report(check: ReceiptCheck) -> ReceiptCheckReport {
    let status = match check.status {
        CheckStatus::Passed => ReceiptCheckStatus::Passed,
        CheckStatus::Failed => ReceiptCheckStatus::Failed,
        CheckStatus::Skipped => ReceiptCheckStatus::Skipped,
    };
    ReceiptCheckReport { name: check.name, status, code: check.code, detail: check.detail }
}

/// Returns the signed envelope of a receipt, or the bare statement if it is unsigned.
fn attestation(kept: &StoredReceipt) -> Result<Value, ServiceError> {
    match &kept.envelope {
        None => receipt::statement(&kept.document).map_err(|error| receipt_error(&error)),
        Some(_) => json::parse(&signed_bytes(kept)?)
            .map_err(|error| ServiceError::refused(error.reason, format!("its envelope: {error}"))),
    }
}

/// Returns the bytes to check: the envelope if there is one, else the receipt.
pub fn signed_bytes(kept: &StoredReceipt) -> Result<Vec<u8>, ServiceError> {
    let path = kept.envelope.as_ref().unwrap_or(&kept.path);
    durable::read(path)?.ok_or_else(|| missing(&format!("{} is gone", path.display())))
}

fn chain_check(receipts: &ReceiptStore) -> Result<ReceiptCheck, ServiceError> {
    let broken = receipts.broken_links()?;
    Ok(match broken.as_slice() {
        [] => ReceiptCheck::passed("chain", "every receipt names the one before it".into()),
        _ => ReceiptCheck::failed("chain", ReasonCode::EvidenceChainBroken, broken.join("; ")),
    })
}

/// Checks the bytes of a receipt or its envelope, and compares it with a tree if one is given.
fn check(bytes: &[u8], trust: &TrustRequirements, tree: Option<&Path>) -> CheckedReceipt {
    let digest = tree.map(|tree| |path: &RepoPath| digest_of_file(tree, path));
    receipt::check(bytes, trust, digest.as_ref().map(|digest| digest as receipt::DigestOfFile<'_>))
}

/// Reads a receipt or its envelope from a file, at most one byte more than a receipt may have.
pub fn read_file(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let limit = receipt::MAX_RECEIPT_BYTES as u64 + 1;
    std::fs::File::open(path)?.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Returns the digest of a file in a tree; `None` if there is no such file. Does not follow symlinks.
fn digest_of_file(tree: &Path, path: &RepoPath) -> Option<Digest> {
    let file = tree.join(OsStr::from_bytes(path.as_bytes()));
    std::fs::symlink_metadata(&file).ok().filter(std::fs::Metadata::is_file)?;
    std::fs::read(&file).ok().map(|bytes| Digest::of(&bytes))
}

fn receipt_error(error: &ReceiptError) -> ServiceError {
    ServiceError::refused(error.reason(), error.to_string())
}

fn missing(what: &str) -> ServiceError {
    ServiceError::refused(ReasonCode::InputMissing, what)
        .with_next_step("`probity receipt list` shows the receipts of this repository")
}
