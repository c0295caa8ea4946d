//! Blobs, refs, decisions and the merge policy, which accompany commits.

use super::append::WriteTransaction;
use super::commit_view::CommitView;
use super::{CommitStore, CommitsError};
use probity_core::Digest;
use probity_documents::{CommitId, CommitReader, DecisionRecord, HistoryError, MergePolicy, RefName};
use serde::de::DeserializeOwned;

/// The largest blob. Larger ones belong outside the store, with their digest in a document.
pub const MAX_BLOB_BYTES: usize = 64 * 1024 * 1024;

impl CommitView<'_> {
    pub fn has_blob(&self, digest: &Digest) -> Result<bool, HistoryError> {
        let found = self.query("SELECT 1 FROM blob WHERE digest = ?1", [digest.as_bytes()], |_| Ok(()))?;
        Ok(found.is_some())
    }

    /// Returns the bytes of a blob, verified against its digest.
    pub fn blob(&self, digest: &Digest) -> Result<Option<Vec<u8>>, HistoryError> {
        let sql = "SELECT bytes FROM blob WHERE digest = ?1";
        let Some(bytes) = self.query(sql, [digest.as_bytes()], |row| row.get::<_, Vec<u8>>(0))? else {
            return Ok(None);
        };
        if Digest::of(&bytes) == *digest {
            Ok(Some(bytes))
        } else {
            Err(self.damaged(format!("the bytes of blob {digest} have another hash")))
        }
    }

    /// Returns the digests of all blobs, sorted.
    pub fn blobs(&self) -> Result<Vec<Digest>, HistoryError> {
        let all: Vec<[u8; 32]> = self.list("SELECT digest FROM blob ORDER BY digest", [])?;
        Ok(all.into_iter().map(Digest::from_bytes).collect())
    }

    /// Returns the commit that a ref names.
    pub fn resolve(&self, name: &RefName) -> Result<Option<CommitId>, HistoryError> {
        let id = self
            .query("SELECT id FROM ref WHERE name = ?1", [name.as_str()], |row| row.get::<_, [u8; 32]>(0))?;
        Ok(id.map(|id| Digest::from_bytes(id).into()))
    }

    /// Returns all refs, sorted by name.
    pub fn refs(&self) -> Result<Vec<(RefName, CommitId)>, HistoryError> {
        let mut refs = Vec::new();
        for name in self.list::<String>("SELECT name FROM ref ORDER BY name", [])? {
            let name: RefName = name.parse().map_err(|_| self.damaged(format!("`{name}` is no ref")))?;
            if let Some(id) = self.resolve(&name)? {
                refs.push((name, id));
            }
        }
        Ok(refs)
    }

    /// Returns the decisions, oldest first.
    pub fn decisions(&self) -> Result<Vec<DecisionRecord>, HistoryError> {
        let all: Vec<Vec<u8>> = self.list("SELECT json FROM decision ORDER BY number", [])?;
        all.iter().map(|bytes| self.record("decision", bytes)).collect()
    }

    /// Returns the merge policy; an empty one if none was ever set.
    pub fn policy(&self) -> Result<MergePolicy, HistoryError> {
        let newest = "SELECT json FROM policy ORDER BY number DESC LIMIT 1";
        match self.query(newest, [], |row| row.get::<_, Vec<u8>>(0))? {
            Some(bytes) => self.record("policy", &bytes),
            None => Ok(MergePolicy::default()),
        }
    }

    fn record<T: DeserializeOwned>(&self, what: &str, bytes: &[u8]) -> Result<T, HistoryError> {
        serde_json::from_slice(bytes).map_err(|error| self.damaged(format!("a {what} of it: {error}")))
    }
}

impl WriteTransaction<'_> {
    /// Stores a blob, and returns the digest by which documents name it.
    pub fn put_blob(&mut self, bytes: &[u8]) -> Result<Digest, CommitsError> {
        if bytes.len() > MAX_BLOB_BYTES {
            let (what, most) = ("a blob", MAX_BLOB_BYTES);
            return Err(probity_storage::StoreError::TooLarge { what, bytes: bytes.len(), most }.into());
        }
        let digest = Digest::of(bytes);
        self.execute("INSERT OR IGNORE INTO blob VALUES (?1, ?2)", (digest.as_bytes(), bytes))?;
        Ok(digest)
    }

    /// Points a ref at another commit or removes it, if it still names the expected one.
    pub fn set_ref(
        &mut self,
        name: &RefName,
        expected: Option<CommitId>,
        to: Option<CommitId>,
    ) -> Result<(), CommitsError> {
        let now = self.view().resolve(name)?;
        if now != expected {
            return Err(CommitsError::RefMoved { name: name.clone(), now });
        }
        match to {
            Some(id) if self.view().find(&id)?.is_none() => Err(HistoryError::Unknown(id).into()),
            Some(id) => {
                let row = (name.as_str(), id.digest().as_bytes());
                self.execute("INSERT OR REPLACE INTO ref VALUES (?1, ?2)", row)
            }
            None => self.execute("DELETE FROM ref WHERE name = ?1", [name.as_str()]),
        }
    }

    pub fn record(&mut self, decision: &DecisionRecord) -> Result<(), CommitsError> {
        let survival = decision.survival.map(|id| *id.digest().as_bytes());
        let row = (*decision.id().as_bytes(), survival, canonical(decision));
        self.execute("INSERT OR IGNORE INTO decision (digest, survival, json) VALUES (?1, ?2, ?3)", row)
    }

    pub fn set_policy(&mut self, policy: &MergePolicy) -> Result<(), CommitsError> {
        self.execute("INSERT INTO policy (json) VALUES (?1)", [canonical(policy)])
    }
}

fn canonical<T: serde::Serialize>(record: &T) -> Vec<u8> {
    let json = serde_json::to_value(record).expect("records are plain data with text keys");
    probity_core::json::canonical(&json)
}

impl CommitStore {
    /// Stores a blob, and returns the digest by which documents name it.
    pub fn put_blob(&self, bytes: &[u8]) -> Result<Digest, CommitsError> {
        self.write(|writing| writing.put_blob(bytes))
    }

    /// Points a ref at another commit or removes it, if it still names the expected one.
    pub fn set_ref(
        &self,
        name: &RefName,
        expected: Option<CommitId>,
        to: Option<CommitId>,
    ) -> Result<(), CommitsError> {
        self.write(|writing| writing.set_ref(name, expected, to))
    }
}
