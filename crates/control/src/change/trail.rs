//! The trail of a patch: what was declared, what the evidence says, and what really changed (law 1).

use super::dirt::Since;
use super::frame::Frame;
use super::request::DetailLevel;
use canon::Digest;
use intent::{Entries, IntentScope, ScopeCheck, ScopeRelation};
use serde_json::{Value, json};

/// What a trail is made from.
pub(super) struct Trail<'a> {
    pub(super) frame: &'a Frame,
    /// As the registry names it.
    pub(super) scope: &'a IntentScope,
    pub(super) evidence: &'a Entries,
    pub(super) since: &'a Since,
    pub(super) scope_check: &'a ScopeCheck,
    pub(super) heads: (Option<&'a str>, Option<&'a str>),
}

impl Trail<'_> {
    /// Counts and a digest; everything that they stand for in `full`.
    pub(super) fn to_json(&self, detail: DetailLevel) -> Value {
        let changed: Vec<Value> = self
            .since
            .dirt
            .values()
            .filter(|dirt| !dirt.as_at_start)
            .map(|dirt| {
                let path = &dirt.entry.path;
                json!({
                    "path": path,
                    "change": dirt.entry.status,
                    "digest": dirt.entry.digest,
                    "scope_relation": self.scope.relation(self.frame.up(path).as_bytes()),
                    "listed": self.evidence.contains(path.as_bytes()),
                })
            })
            .collect();
        let is_dirty = |path: &[u8]| self.since.dirt.keys().any(|dirty| dirty.as_bytes() == path);
        let unchanged: Vec<_> = self.evidence.iter().filter(|path| !is_dirty(path.as_bytes())).collect();
        let outside = |item: &&Value| item["scope_relation"] == json!(ScopeRelation::Outside);
        let counts = json!({
            "changed_files": self.evidence.len(),
            "changed_since_start": changed.len(),
            "changed_outside_scope": changed.iter().filter(outside).count(),
            "listed_but_unchanged": unchanged.len(),
            "untouched_in_declared": self.scope_check.untouched_in_declared.len(),
        });
        let whole = json!({
            "changed_files": self.evidence,
            "changed_since_start": changed,
            "listed_but_unchanged": unchanged,
            "head_at_start": self.heads.0,
            "head_now": self.heads.1,
        });
        let digest = Digest::of_json(&whole);
        let mut trail =
            json!({ "counts": counts, "listed_but_unchanged": unchanged, "patch_trail_digest": digest });
        if detail == DetailLevel::Full {
            trail["detail"] = whole;
        }
        trail
    }
}
