//! Runs this crate's functions on conformance vectors: `ownership`, `relations`, `hygiene_finish`, `start_decision`.

use crate::hygiene::{FinishState, hygiene_finish as hygiene};
use crate::owner::{IntentOwner, Lease, OwnershipFacts, ProcessProbe, Timestamp, ownership as judge};
use crate::relations::relations as relate;
use crate::scope::IntentScope;
use crate::start::{StartState, start_decision as decide};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

pub fn ownership(given: &Value) -> Result<Value, String> {
    #[derive(Deserialize)]
    struct OwnershipRecord {
        owner: IntentOwner,
        lease_renewed_at: Option<Timestamp>,
        lease_seconds: Option<u64>,
        expires_at: Option<Timestamp>,
    }
    #[derive(Deserialize)]
    struct Given {
        record: OwnershipRecord,
        reader: IntentOwner,
        now: Timestamp,
        probe: Option<ProcessProbe>,
    }
    let Given { record, reader, now, probe } = read(given)?;
    let lease = Lease {
        renewed_at: record.lease_renewed_at.unwrap_or_default(),
        seconds: record.lease_seconds.unwrap_or_default(),
    };
    let held = OwnershipFacts {
        owner: &record.owner,
        lease,
        expires_at: record.expires_at,
        has_session_ended: false,
    };
    Ok(json!({ "ownership": judge(held, &reader, now, probe) }))
}

pub fn relations(given: &Value) -> Result<Value, String> {
    #[derive(Deserialize)]
    struct Given {
        target: IntentScope,
        foreign: IntentScope,
    }
    let Given { target, foreign } = read(given)?;
    Ok(json!(relate(&target, &foreign)))
}

pub fn start_decision(given: &Value) -> Result<Value, String> {
    Ok(json!(decide(&read::<StartState>(given)?)))
}

pub fn hygiene_finish(given: &Value) -> Result<Value, String> {
    Ok(hygiene(&read::<FinishState>(given)?).to_json())
}

fn read<T: DeserializeOwned>(given: &Value) -> Result<T, String> {
    T::deserialize(given).map_err(|error| error.to_string())
}
