//! Pointers in etcd, each a key.

use super::gateway::{Gateway, GatewayFault};
use super::layout::end_of;
use super::log::{RANGE, TXN};
use super::wire::{
    Bytes, Compare, Number, PutQuestion, RangeAnswer, RangeQuestion, TxnAnswer, TxnOperation, TxnQuestion,
};
use crate::names::{decoded_name, encoded_name};
use probity_storage::StoreError;
use probity_storage::ports::{RefStore, SwapOutcome, check_sizes};
use std::sync::Arc;

const POINTERS_PER_RANGE: u64 = 500;

pub(super) struct EtcdRefs {
    pub(super) gateway: Arc<Gateway>,
    /// The prefix of the space, with a slash at its end.
    pub(super) prefix: String,
}

impl EtcdRefs {
    fn key(&self, name: &str) -> String {
        format!("{}{}", self.prefix, encoded_name(name))
    }
}

impl RefStore for EtcdRefs {
    fn get(&self, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let question = RangeQuestion { key: self.key(name).into(), ..RangeQuestion::default() };
        let answer: RangeAnswer = self.gateway.read(RANGE, &question)?;
        Ok(answer.kvs.into_iter().next().map(|found| found.value.0))
    }

    fn compare_and_set(
        &self,
        name: &str,
        expected: Option<&[u8]>,
        value: Option<&[u8]>,
    ) -> Result<SwapOutcome, StoreError> {
        check_sizes(name, value.unwrap_or_default())?;
        let key = self.key(name);
        let write = match value {
            Some(value) => TxnOperation::Put(PutQuestion {
                key: key.clone().into(),
                value: Bytes(value.to_vec()),
                lease: None,
            }),
            None => TxnOperation::DeleteRange(RangeQuestion {
                key: key.clone().into(),
                ..RangeQuestion::default()
            }),
        };
        let question = TxnQuestion {
            compare: vec![Compare::known(&*key, expected.map(|value| Bytes(value.to_vec())))],
            success: vec![write],
            failure: vec![TxnOperation::get(&*key)],
        };
        let answer: TxnAnswer = match self.gateway.once(TXN, &question) {
            Ok(answer) => answer,
            Err(GatewayFault::Unknown(_)) => return Ok(SwapOutcome::Unknown),
            // etcd carries out the write that crosses its quota, and answers that it is full.
            Err(GatewayFault::Refused(full @ StoreError::Full { .. })) => {
                let is_set = self.get(name)?.as_deref() == value;
                return if is_set { Ok(SwapOutcome::Done) } else { Err(full) };
            }
            Err(fault) => return Err(fault.into_error()),
        };
        if answer.succeeded {
            return Ok(SwapOutcome::Done);
        }
        let found = answer.found(0).first().map(|found| found.value.0.clone());
        Ok(SwapOutcome::Moved { found })
    }

    fn list(&self) -> Result<Vec<(String, Vec<u8>)>, StoreError> {
        let mut listed = Vec::new();
        for found in range_of(&self.gateway, &self.prefix, POINTERS_PER_RANGE)? {
            if let Some(name) = name_below(&self.prefix, &found.key.0) {
                listed.push((name, found.value.0));
            }
        }
        listed.sort();
        Ok(listed)
    }
}

/// Reads every key that begins with `prefix`.
pub(super) fn range_of(
    gateway: &Gateway,
    prefix: &str,
    per_range: u64,
) -> Result<Vec<super::wire::KeyValue>, StoreError> {
    let mut all = Vec::new();
    let mut from = Bytes::from(prefix);
    loop {
        let question = RangeQuestion {
            key: from.clone(),
            range_end: Some(end_of(prefix)),
            limit: Some(Number(per_range)),
        };
        let answer: RangeAnswer = gateway.read(RANGE, &question)?;
        // A store that does not go on would be asked for ever.
        if answer.more && answer.kvs.last().is_none_or(|last| last.key.0 < from.0) {
            let why = "it says that there are more keys, and does not show them".to_owned();
            return Err(StoreError::Unfit { store: gateway.name(), why });
        }
        all.extend(answer.kvs);
        match all.last() {
            Some(last) if answer.more => {
                from.clone_from(&last.key);
                from.0.push(0);
            }
            _ => return Ok(all),
        }
    }
}

/// Returns the name that a key below `prefix` stands for.
pub(super) fn name_below(prefix: &str, key: &[u8]) -> Option<String> {
    decoded_name(std::str::from_utf8(key).ok()?.strip_prefix(prefix)?)
}
