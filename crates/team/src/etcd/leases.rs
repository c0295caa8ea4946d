//! Leases by etcd's clock: a key with the promised time, which etcd deletes when its lease ends.
//!
//! A new leader starts all leases afresh, so they may last longer than promised, never shorter.

use super::gateway::Gateway;
use super::log::RANGE;
use super::refs::{name_below, range_of};
use super::wire::{
    KeyValue, LeaseAnswer, LeaseQuestion, Number, PlainAnswer, PutQuestion, RangeAnswer, RangeQuestion,
};
use crate::names::encoded_name;
use probity_storage::StoreError;
use probity_storage::ports::{LeaseStore, check_sizes};
use std::sync::Arc;
use std::time::Duration;

/// A shorter lease could end while a new leader is elected.
const MIN_LEASE_SECONDS: u64 = 10;
const LEASES_PER_RANGE: u64 = 2_000;

pub(super) struct EtcdLeases {
    pub(super) gateway: Arc<Gateway>,
    /// The prefix of the space, with a slash at its end.
    pub(super) prefix: String,
}

impl EtcdLeases {
    fn key(&self, owner: &str) -> String {
        format!("{}{}", self.prefix, encoded_name(owner))
    }

    fn found(&self, owner: &str) -> Result<Option<KeyValue>, StoreError> {
        let question = RangeQuestion { key: self.key(owner).into(), ..RangeQuestion::default() };
        let answer: RangeAnswer = self.gateway.read(RANGE, &question)?;
        Ok(answer.kvs.into_iter().next())
    }

    /// Makes the key of an owner end with a new lease.
    fn grant(&self, owner: &str, seconds: u64) -> Result<(), StoreError> {
        let question = LeaseQuestion { TTL: Some(Number(seconds)), ID: None };
        let granted: LeaseAnswer = self.gateway.read("/v3/lease/grant", &question)?;
        let (key, value) = (self.key(owner).into(), seconds.to_string().into());
        let question = PutQuestion { key, value, lease: Some(granted.ID) };
        let _: PlainAnswer = self.gateway.read("/v3/kv/put", &question)?;
        Ok(())
    }

    fn revoke(&self, lease: Number) -> Result<(), StoreError> {
        let question = LeaseQuestion { ID: Some(lease), TTL: None };
        match self.gateway.read::<PlainAnswer>("/v3/lease/revoke", &question) {
            // It has ended already.
            Ok(_) | Err(StoreError::Unfit { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

fn promised_seconds(lasts: Duration) -> u64 {
    lasts.as_secs().max(MIN_LEASE_SECONDS)
}

/// Returns the promised seconds that a key names.
fn promised(found: &KeyValue) -> Option<u64> {
    std::str::from_utf8(&found.value.0).ok()?.parse().ok()
}

impl LeaseStore for EtcdLeases {
    fn renew(&self, owner: &str, lasts: Duration) -> Result<(), StoreError> {
        check_sizes(owner, &[])?;
        if lasts.is_zero() {
            return self.end(owner);
        }
        let seconds = promised_seconds(lasts);
        let before = self.found(owner)?;
        if let Some(found) = before.as_ref().filter(|found| promised(found) == Some(seconds)) {
            let question = LeaseQuestion { ID: Some(found.lease), TTL: None };
            // Keeping alive needs no agreement of the members. A lease that ended meanwhile is granted again.
            if self.gateway.read::<KeepAliveAnswer>("/v3/lease/keepalive", &question)?.is_alive() {
                return Ok(());
            }
        }
        self.grant(owner, seconds)?;
        match before {
            // The key moved to the new lease, so that nothing ends with the old one.
            Some(found) if found.lease != Number(0) => self.revoke(found.lease),
            _ => Ok(()),
        }
    }

    /// An owner without a lease has none to look for.
    fn begin(&self, owner: &str, lasts: Duration) -> Result<(), StoreError> {
        check_sizes(owner, &[])?;
        if lasts.is_zero() { Ok(()) } else { self.grant(owner, promised_seconds(lasts)) }
    }

    fn end(&self, owner: &str) -> Result<(), StoreError> {
        match self.found(owner)? {
            Some(found) if found.lease != Number(0) => self.revoke(found.lease),
            _ => Ok(()),
        }
    }

    /// The time left is known only lease by lease; what was promised is a bound, and enough for the rules.
    fn running(&self) -> Result<Vec<(String, Duration)>, StoreError> {
        let mut running = Vec::new();
        for found in range_of(&self.gateway, &self.prefix, LEASES_PER_RANGE)? {
            if let (Some(owner), Some(seconds)) = (name_below(&self.prefix, &found.key.0), promised(&found)) {
                running.push((owner, Duration::from_secs(seconds)));
            }
        }
        running.sort();
        Ok(running)
    }
}

/// The gateway wraps this one answer, because it is the first of a stream.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
struct KeepAliveAnswer {
    result: KeepAliveResult,
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
#[expect(non_snake_case, reason = "etcd calls it so")]
struct KeepAliveResult {
    header: super::wire::Header,
    TTL: Number,
}

impl KeepAliveAnswer {
    /// A lease that is not there has no time left.
    fn is_alive(&self) -> bool {
        self.result.TTL > Number(0)
    }
}

impl super::wire::GatewayAnswer for KeepAliveAnswer {
    fn header(&self) -> &super::wire::Header {
        &self.result.header
    }
}
