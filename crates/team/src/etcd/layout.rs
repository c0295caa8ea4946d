//! Where everything lies in etcd.
//!
//! ```text
//! /probity/<namespace>/meta                          which team this is; written once
//! /probity/<namespace>/<repository>/log/<name>/h     the number of the last event
//! /probity/<namespace>/<repository>/log/<name>/e/<n> event n, 16 hexadecimal digits, so that ranges are in order
//! /probity/<namespace>/<repository>/log/<name>/c/<c> the number of the event of command c, or that it is void
//! /probity/<namespace>/<repository>/log/<name>/s/…   the snapshot that stands for events that were cut off
//! /probity/<namespace>/<repository>/lease/<space>/…  keys that end with their lease
//! /probity/<namespace>/<repository>/ref/<space>/…    pointers
//! ```

use super::wire::Bytes;
use crate::names::encoded_name;

pub(super) fn meta(namespace: &str) -> String {
    format!("/probity/{namespace}/meta")
}

/// A key that no right of this team covers, if rights are switched on.
pub(super) fn foreign_probe(namespace: &str) -> String {
    format!("/probity/{namespace}-is-not-the-owner/meta")
}

pub(super) fn repository_prefix(namespace: &str, repository: &str) -> String {
    format!("/probity/{namespace}/{repository}/")
}

/// Returns the end of the range of all keys that begin with `prefix`, which ends with a slash.
pub(super) fn end_of(prefix: &str) -> Bytes {
    let mut end = prefix.as_bytes().to_vec();
    if let Some(last) = end.last_mut() {
        *last += 1;
    }
    Bytes(end)
}

/// The keys of one log.
#[derive(Debug, Clone)]
pub(super) struct LogKeys {
    prefix: String,
}

impl LogKeys {
    pub(super) fn new(repository_prefix: &str, name: &str) -> Self {
        Self { prefix: format!("{repository_prefix}log/{}/", encoded_name(name)) }
    }

    pub(super) fn head(&self) -> String {
        format!("{}h", self.prefix)
    }

    pub(super) fn events(&self) -> String {
        format!("{}e/", self.prefix)
    }

    pub(super) fn event(&self, seq: u64) -> String {
        format!("{}e/{seq:016x}", self.prefix)
    }

    pub(super) fn commands(&self) -> String {
        format!("{}c/", self.prefix)
    }

    pub(super) fn command(&self, command: &str) -> String {
        format!("{}c/{}", self.prefix, encoded_name(command))
    }

    /// The key that says which snapshot counts.
    pub(super) fn snapshot(&self) -> String {
        format!("{}s/at", self.prefix)
    }

    pub(super) fn pieces(&self, at: u64, writer: &str) -> String {
        format!("{}s/{at:016x}-{writer}/", self.prefix)
    }

    pub(super) fn piece(&self, at: u64, writer: &str, n: usize) -> String {
        format!("{}{n:08x}", self.pieces(at, writer))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_events_are_in_order_and_within_their_range() {
        let keys = LogKeys::new("/probity/t/r/", "intents");
        assert!(keys.event(9) < keys.event(10) && keys.event(255) < keys.event(256));
        let end = end_of(&keys.events());
        assert!(keys.event(u64::MAX).as_bytes() < &end.0[..]);
        assert!(keys.command("a").as_bytes() < keys.events().as_bytes());
        assert_ne!(LogKeys::new("/p/", "a/e").head(), LogKeys::new("/p/", "a").event(0));
    }
}
