//! A log in etcd. An append is one transaction: it compares the head and the command, and writes the event, the command and
//! the head. If it fails, the same transaction brings what was written meanwhile.

use super::cut;
use super::gateway::{Gateway, GatewayFault};
use super::layout::{LogKeys, end_of};
use super::wire::{
    Bytes, Compare, KeyValue, Number, RangeAnswer, RangeQuestion, TxnAnswer, TxnOperation, TxnQuestion,
    WatchLine, WatchQuestion, WatchStart,
};
use probity_storage::StoreError;
use probity_storage::ports::{
    AppendOutcome, CutOutcome, EventLog, EventRecord, EventsSince, LogSnapshot, MAX_EVENTS_PER_READ,
    MAX_NEWS_EVENTS, check_sizes,
};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub(super) const TXN: &str = "/v3/kv/txn";
pub(super) const RANGE: &str = "/v3/kv/range";
const WATCH: &str = "/v3/watch";
/// How long a watch may be silent before the head is read again.
const SILENT_WATCH_TIMEOUT: Duration = Duration::from_secs(30);
/// The pause after a watch that could not be opened.
const WATCH_RETRY_INTERVAL: Duration = Duration::from_millis(100);
/// How many events one range brings at most: with the largest events its answer stays within memory.
const EVENTS_PER_RANGE: usize = 500;
/// The value of a command that must never be carried out, followed by the head at that time.
const VOID: &str = "void ";

pub(super) struct EtcdLog {
    pub(super) gateway: Arc<Gateway>,
    pub(super) keys: LogKeys,
}

/// What the store says about a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CommandMark {
    Event(u64),
    /// Voided when the log had this many events.
    Void(u64),
}

impl CommandMark {
    pub(super) const fn head(self) -> u64 {
        match self {
            Self::Event(seq) | Self::Void(seq) => seq,
        }
    }
}

impl EtcdLog {
    pub(super) fn damaged(&self, why: impl Into<String>) -> StoreError {
        StoreError::Damaged { path: PathBuf::from(self.gateway.name()), why: why.into() }
    }

    pub(super) fn number(&self, found: &[KeyValue]) -> Result<u64, StoreError> {
        let Some(found) = found.first() else { return Ok(0) };
        let number = std::str::from_utf8(&found.value.0).ok().and_then(|text| text.parse().ok());
        number.ok_or_else(|| self.damaged(format!("{} is no number", key_text(found))))
    }

    pub(super) fn mark(&self, found: &KeyValue) -> Result<CommandMark, StoreError> {
        let text = std::str::from_utf8(&found.value.0).unwrap_or_default();
        let mark = match text.strip_prefix(VOID) {
            Some(head) => head.parse().map(CommandMark::Void),
            None => text.parse().map(CommandMark::Event),
        };
        mark.map_err(|_| self.damaged(format!("{} is neither a number nor void", key_text(found))))
    }

    fn range(&self, key: String) -> Result<RangeAnswer, StoreError> {
        self.gateway.read(RANGE, &RangeQuestion { key: key.into(), ..RangeQuestion::default() })
    }

    pub(super) fn events_after(&self, seq: u64, limit: usize) -> RangeQuestion {
        RangeQuestion {
            key: self.keys.event(seq.saturating_add(1)).into(),
            range_end: Some(end_of(&self.keys.events())),
            limit: Some(Number(limit as u64)),
        }
    }

    /// Reads the records of a range that begins behind `seq`. `None` if the log was cut behind it.
    fn records(&self, seq: u64, found: &[KeyValue]) -> Result<Option<Vec<EventRecord>>, StoreError> {
        let mut records = Vec::with_capacity(found.len());
        for (found, expected) in found.iter().zip(seq + 1..) {
            let record = parse_record(found)
                .ok_or_else(|| self.damaged(format!("{} is no event", key_text(found))))?;
            if record.seq != expected {
                return Ok(None);
            }
            records.push(record);
        }
        Ok(Some(records))
    }

    /// Reads events and the pointer to the snapshot as of the same moment.
    fn read_page(&self, seq: u64, limit: usize) -> Result<Vec<EventRecord>, StoreError> {
        let question = TxnQuestion {
            success: vec![
                TxnOperation::Range(self.events_after(seq, limit)),
                TxnOperation::get(self.keys.snapshot()),
            ],
            ..TxnQuestion::default()
        };
        self.page(seq, &self.gateway.read(TXN, &question)?)
    }

    /// Returns the events after `seq` of an answer with them and the pointer to the snapshot.
    fn page(&self, seq: u64, answer: &TxnAnswer) -> Result<Vec<EventRecord>, StoreError> {
        let records = self.records(seq, answer.found(0))?;
        let cut_at = self.parse_pointer(answer.found(1))?.map(|pointer| pointer.at).filter(|at| *at > seq);
        match (records, cut_at) {
            (Some(records), None) => Ok(records),
            (Some(records), Some(_)) if !records.is_empty() => Ok(records),
            (_, Some(at)) => Err(StoreError::Cut { at }),
            (None, None) => Err(self.damaged(format!("event {} is gone", seq + 1))),
        }
    }
}

impl EventLog for EtcdLog {
    fn head(&self) -> Result<u64, StoreError> {
        self.number(&self.range(self.keys.head())?.kvs)
    }

    fn append(&self, expected_head: u64, command: &str, event: &[u8]) -> Result<AppendOutcome, StoreError> {
        check_sizes(command, event)?;
        let seq = expected_head.saturating_add(1);
        let (head, mark) = (self.keys.head(), self.keys.command(command));
        let known = (expected_head > 0).then(|| Bytes::from(expected_head.to_string()));
        let question = TxnQuestion {
            compare: vec![Compare::known(&*head, known), Compare::absent(&*mark)],
            success: vec![
                TxnOperation::put(self.keys.event(seq), record_bytes(command, event)),
                TxnOperation::put(&*mark, seq.to_string()),
                TxnOperation::put(&*head, seq.to_string()),
            ],
            failure: vec![
                TxnOperation::get(&*head),
                TxnOperation::get(&*mark),
                TxnOperation::Range(self.events_after(expected_head, MAX_NEWS_EVENTS)),
            ],
        };
        let answer: TxnAnswer = match self.gateway.once(TXN, &question) {
            Ok(answer) => answer,
            // Also an answer that cannot be read: the next read says what is wrong with it.
            Err(GatewayFault::Unknown(_)) => return Ok(AppendOutcome::Unknown),
            // etcd carries out the write that crosses its quota, and answers that it is full.
            Err(GatewayFault::Refused(full @ StoreError::Full { .. })) => {
                return match self.find(command)? {
                    Some(at) if at == seq => Ok(AppendOutcome::At(seq)),
                    Some(at) => Ok(AppendOutcome::Known { at }),
                    None => Err(full),
                };
            }
            Err(fault) => return Err(fault.into_error()),
        };
        if answer.succeeded {
            return Ok(AppendOutcome::At(seq));
        }
        if let Some(found) = answer.found(1).first()
            && let CommandMark::Event(at) = self.mark(found)?
        {
            return Ok(AppendOutcome::Known { at });
        }
        let news = self.records(expected_head, answer.found(2))?.unwrap_or_default();
        Ok(AppendOutcome::Moved { head: self.number(answer.found(0))?, news })
    }

    fn read_after(&self, seq: u64, limit: usize) -> Result<Vec<EventRecord>, StoreError> {
        let limit = limit.min(MAX_EVENTS_PER_READ);
        let mut records = Vec::new();
        loop {
            let n_wanted = (limit - records.len()).min(EVENTS_PER_RANGE);
            if n_wanted == 0 {
                return Ok(records);
            }
            let after = seq.saturating_add(records.len() as u64);
            let page = match self.read_page(after, n_wanted) {
                // What was read before the cut is true; the reader meets the cut with its next question.
                Err(StoreError::Cut { .. }) if !records.is_empty() => return Ok(records),
                page => page?,
            };
            let is_last = page.len() < n_wanted;
            records.extend(page);
            if is_last {
                return Ok(records);
            }
        }
    }

    /// Compares the command of the known event, which is much shorter than the event.
    fn read_since(&self, seq: u64, command: &str, limit: usize) -> Result<EventsSince, StoreError> {
        let n_wanted = limit.min(EVENTS_PER_RANGE);
        let question = TxnQuestion {
            compare: vec![Compare::value(self.keys.command(command), seq.to_string().into())],
            success: vec![
                TxnOperation::Range(self.events_after(seq, n_wanted)),
                TxnOperation::get(self.keys.snapshot()),
            ],
            ..TxnQuestion::default()
        };
        let answer: TxnAnswer = self.gateway.read(TXN, &question)?;
        if !answer.succeeded {
            return Ok(EventsSince::Including(self.read_after(seq.saturating_sub(1), limit)?));
        }
        let mut records = self.page(seq, &answer)?;
        if records.len() == n_wanted && n_wanted < limit {
            records.extend(self.read_after(seq + n_wanted as u64, limit - n_wanted)?);
        }
        Ok(EventsSince::After(records))
    }

    fn find(&self, command: &str) -> Result<Option<u64>, StoreError> {
        let answer = self.range(self.keys.command(command))?;
        match answer.kvs.first().map(|found| self.mark(found)).transpose()? {
            Some(CommandMark::Event(at)) => Ok(Some(at)),
            _ => Ok(None),
        }
    }

    /// Takes the command's key, which every append compares: a write that is still on its way then fails.
    fn void(&self, command: &str) -> Result<Option<u64>, StoreError> {
        let mark = self.keys.command(command);
        let head = self.head()?;
        let question = TxnQuestion {
            compare: vec![Compare::absent(&*mark)],
            success: vec![TxnOperation::put(&*mark, format!("{VOID}{head}"))],
            failure: vec![TxnOperation::get(&*mark)],
        };
        // Voiding twice is harmless, so a lost reply is asked for again.
        let answer: TxnAnswer = self.gateway.read(TXN, &question)?;
        match answer.found(0).first().map(|found| self.mark(found)).transpose()? {
            Some(CommandMark::Event(at)) => Ok(Some(at)),
            _ => Ok(None),
        }
    }

    /// A watch is only a bell: whatever it says, the head is read.
    fn watch(&self, seq: u64, wait: Duration) -> Result<u64, StoreError> {
        let end = Instant::now() + wait;
        loop {
            let answer = self.range(self.keys.head())?;
            let head = self.number(&answer.kvs)?;
            let left = end.saturating_duration_since(Instant::now());
            if head > seq || left.is_zero() {
                return Ok(head);
            }
            let create_request = WatchStart {
                key: self.keys.head().into(),
                start_revision: Number(answer.header.revision.0 + 1),
            };
            let lasts = left.min(SILENT_WATCH_TIMEOUT);
            match self.gateway.stream(WATCH, &WatchQuestion { create_request }, lasts) {
                Ok(lines) => wait_for_bell(lines),
                Err(_) => std::thread::sleep(WATCH_RETRY_INTERVAL.min(left)),
            }
        }
    }

    fn cut(&self, at: u64, snapshot: &[u8]) -> Result<CutOutcome, StoreError> {
        cut::cut(self, at, snapshot)
    }

    fn snapshot(&self) -> Result<Option<LogSnapshot>, StoreError> {
        cut::snapshot(self)
    }
}

/// Returns when an event comes, the watch is canceled, or the connection ends.
fn wait_for_bell(mut lines: impl std::io::BufRead) {
    let mut line = String::new();
    loop {
        line.clear();
        match lines.read_line(&mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let parsed: WatchLine = serde_json::from_str(&line).unwrap_or_default();
        match parsed.result {
            Some(result) if result.events.is_empty() && !result.canceled => {}
            _ => return,
        }
    }
}

/// The first line is the command as JSON, which has no line break of its own; the rest is the event.
fn record_bytes(command: &str, event: &[u8]) -> Bytes {
    let mut bytes = serde_json::Value::from(command).to_string().into_bytes();
    bytes.push(b'\n');
    bytes.extend_from_slice(event);
    Bytes(bytes)
}

fn parse_record(found: &KeyValue) -> Option<EventRecord> {
    let key = std::str::from_utf8(&found.key.0).ok()?;
    let seq = u64::from_str_radix(key.rsplit('/').next()?, 16).ok()?;
    let end = found.value.0.iter().position(|byte| *byte == b'\n')?;
    let command = serde_json::from_slice(&found.value.0[..end]).ok()?;
    Some(EventRecord { seq, command, event: found.value.0[end + 1..].to_vec() })
}

pub(super) fn key_text(found: &KeyValue) -> String {
    String::from_utf8_lossy(&found.key.0).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_is_read_back() {
        for event in [&b"{}"[..], b"", b"\xff\0", b"two\nlines"] {
            let key = LogKeys::new("/p/", "l").event(77).into();
            let found = KeyValue { key, value: record_bytes("c \n\"1\"", event), lease: Number(0) };
            let record = EventRecord { seq: 77, command: "c \n\"1\"".into(), event: event.to_vec() };
            assert_eq!(parse_record(&found), Some(record));
        }
        let broken = KeyValue { key: "/p/e/zz".into(), ..KeyValue::default() };
        assert_eq!(parse_record(&broken), None);
    }
}
