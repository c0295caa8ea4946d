//! The ports on etcd, over its JSON gateway: plain HTTP requests, no async runtime and no generated code.
//!
//! Reads are always linearizable: a member that is cut off answers nothing rather than from the past. Writes carry the
//! caller's command, so that a lost reply is harmless. A watch only wakes a reader up, and leases only show who is alive.
//!
//! * `gateway`: requests, members, deadlines, what was certainly not written. `wire`: their bodies.
//! * `log`, `cut`, `refs`, `leases`: the ports. `layout`: where they keep things.
//! * `checks`: identity, versions, alarms and rights. `credentials`: the secret, and the token that it gives.

mod checks;
mod credentials;
mod cut;
mod gateway;
mod layout;
mod leases;
mod log;
mod refs;
mod wire;

pub use checks::{EtcdIdentity, EtcdMember, EtcdMemberState, EtcdWarning};
pub use credentials::{Credentials, PASSWORD_FILE_VARIABLE, TOKEN_VARIABLE};
pub use gateway::EtcdTimeouts;

use crate::names::encoded_name;
use gateway::Gateway;
use layout::{LogKeys, repository_prefix};
use leases::EtcdLeases;
use log::EtcdLog;
use probity_storage::ports::{EventLog, LeaseStore, ObjectStore, RefStore, StorageEngine};
use probity_storage::{ObjectFiles, StoreError};
use refs::EtcdRefs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// What is needed to reach the store of a team.
#[derive(Debug, Clone)]
pub struct EtcdOptions {
    /// The addresses of the members.
    pub endpoints: Vec<String>,
    /// The authorities that the members' certificates are held against, as PEM; those of the system if there are none.
    pub ca: Option<String>,
    pub namespace: String,
    pub repository: String,
    pub credentials: Credentials,
    /// The cluster that this clone joined, if it did.
    pub cluster: Option<String>,
    /// Where objects are kept: on this machine.
    pub objects: PathBuf,
    pub timeouts: EtcdTimeouts,
}

#[derive(Clone)]
pub struct EtcdStore {
    gateway: Arc<Gateway>,
    namespace: String,
    has_user: bool,
    /// `/probity/<namespace>/<repository>/`
    prefix: String,
    objects: PathBuf,
}

impl EtcdStore {
    /// Prepares the store. Nothing is asked of it yet.
    pub fn open(options: EtcdOptions) -> Result<Self, StoreError> {
        let EtcdOptions { endpoints, ca, namespace, repository, credentials, cluster, objects, timeouts } =
            options;
        let prefix = repository_prefix(&namespace, &repository);
        let has_user = credentials.user().is_some();
        let gateway = Gateway::new(endpoints, ca.as_deref(), credentials, cluster, timeouts)?;
        Ok(Self { gateway: Arc::new(gateway), namespace, has_user, prefix, objects })
    }

    /// Makes the team known to the store, or finds the one that is there.
    pub fn establish(&self) -> Result<EtcdIdentity, StoreError> {
        checks::establish(&self.gateway, &self.namespace)
    }

    /// Returns which team and cluster this is.
    pub fn identify(&self) -> Result<EtcdIdentity, StoreError> {
        checks::identify(&self.gateway, &self.namespace)
    }

    /// Asks every member. A version that is known to lose data is an error.
    pub fn members(&self) -> Result<Vec<EtcdMember>, StoreError> {
        checks::members(&self.gateway)
    }

    /// Returns what an administrator should know.
    pub fn warnings(&self, members: &[EtcdMember]) -> Result<Vec<EtcdWarning>, StoreError> {
        checks::warnings(&self.gateway, &self.namespace, self.has_user, members)
    }

    /// Returns how many requests this process made, and how many bytes their bodies had, for measurements.
    pub fn traffic(&self) -> (u64, u64) {
        let traffic = &self.gateway.traffic;
        (traffic.requests.load(Ordering::Relaxed), traffic.bytes.load(Ordering::Relaxed))
    }
}

impl std::fmt::Debug for EtcdStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EtcdStore").field("prefix", &self.prefix).finish_non_exhaustive()
    }
}

impl StorageEngine for EtcdStore {
    fn log(&self, name: &str) -> Box<dyn EventLog> {
        let keys = LogKeys::new(&self.prefix, name);
        Box::new(EtcdLog { gateway: self.gateway.clone(), keys })
    }

    fn refs(&self, space: &str) -> Box<dyn RefStore> {
        let prefix = format!("{}ref/{}/", self.prefix, encoded_name(space));
        Box::new(EtcdRefs { gateway: self.gateway.clone(), prefix })
    }

    fn leases(&self, space: &str) -> Option<Box<dyn LeaseStore>> {
        let prefix = format!("{}lease/{}/", self.prefix, encoded_name(space));
        Some(Box::new(EtcdLeases { gateway: self.gateway.clone(), prefix }))
    }

    /// Objects stay on this machine: what an intent keeps for its finish is needed only where it was started.
    fn objects(&self) -> Box<dyn ObjectStore> {
        Box::new(ObjectFiles::new(self.objects.clone()))
    }

    fn is_shared(&self) -> bool {
        true
    }
}
