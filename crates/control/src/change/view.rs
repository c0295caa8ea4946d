//! Hygiene as an answer shows it: all fields of `FinishHygiene`, with every path for `full` and short lists otherwise.

use super::dirt::Look;
use super::frame::Frame;
use super::request::DetailLevel;
use intent::hygiene::DirtyClass;
use intent::{FinishHygiene, ForeignDirtyOverlap, ScopeRelation, StartDecision};
use paths::RepoPath;
use serde::Serialize;
use serde_json::{Map, Value, json};

/// How many paths a list shows unless everything is asked for.
pub(crate) const LISTED: usize = 20;

/// One look at hygiene on its way to an answer.
pub(crate) struct View<'a> {
    pub(crate) look: &'a Look,
    pub(crate) frame: &'a Frame,
    pub(crate) git_available: bool,
    pub(crate) detail: DetailLevel,
}

impl View<'_> {
    /// Hygiene at a start.
    pub(crate) fn start(&self, decision: &StartDecision) -> Value {
        let dirty = &self.look.state.dirty;
        let mut hygiene = json!({
            "git_available": self.git_available,
            "blocks_edit": decision.blocks_edit,
            "counts": {
                "dirty": dirty.len(),
                "in_scope": decision.dirty_in_allowed.len(),
                "outside_scope": dirty.len() - decision.dirty_in_allowed.len(),
            },
            "dirty_in_allowed": self.paths(decision.dirty_in_allowed.iter()),
            "foreign_dirty_overlaps": self.overlaps(decision.foreign_dirty_overlaps.iter()),
            "dirty_snapshot": self.snapshot(),
            "dirty_snapshot_status": "available",
        });
        if self.detail == DetailLevel::Full {
            hygiene["dirty_paths"] = json!(dirty.keys().collect::<Vec<_>>());
        }
        hygiene
    }

    /// Hygiene at a finish.
    pub(crate) fn finish(&self, hygiene: &FinishHygiene) -> Value {
        let count = |class| hygiene.of_class(class).len();
        let in_allowed =
            |dirt: &intent::hygiene::DirtyAttribution| dirt.scope_relation == ScopeRelation::OwnAllowed;
        let outside = hygiene.outside_scope().len();
        let mut fields = Map::new();
        let mut set = |name: &str, value: Value| drop(fields.insert(name.to_owned(), value));
        set("git_available", json!(self.git_available));
        set("blocks_edit", json!(hygiene.dirty_attribution.iter().any(in_allowed)));
        set("blocks_finish", json!(hygiene.blocks_finish()));
        set("finish_block_reason", json!(hygiene.finish_block_reason));
        set(
            "counts",
            json!({
                "in_scope": hygiene.dirty_attribution.len() - outside,
                "outside_scope": outside,
                "missing_evidence": count(DirtyClass::MissingEvidence),
                "preexisting_unscoped": count(DirtyClass::PreexistingUnscopedDirty),
                "new_unattributed_unscoped": count(DirtyClass::NewUnattributedUnscopedDirty),
                "modified_unattributed_unscoped": count(DirtyClass::ModifiedUnattributedUnscopedDirty),
                "unknown_unattributed_unscoped": count(DirtyClass::UnknownUnattributedUnscopedDirty),
                "foreign_attributed_outside_scope": count(DirtyClass::ForeignAttributedOutsideScope),
            }),
        );
        set("foreign_dirty_overlaps", self.overlaps(hygiene.foreign_dirty_overlaps.iter()));
        set("unacknowledged_dirty_in_scope", self.class(hygiene, DirtyClass::MissingEvidence));
        // Who changed what nobody claims is not known; that it changed is, and so it is named.
        set("unattributed_unscoped_dirty", self.paths(hygiene.unattributed().into_iter()));
        set("own_unscoped_dirty", self.paths(hygiene.unattributed().into_iter()));
        set("dirty_snapshot", self.snapshot());
        set("dirty_snapshot_status", json!(hygiene.dirty_snapshot_status));
        if self.detail == DetailLevel::Full {
            set("preexisting_unscoped_dirty", self.class(hygiene, DirtyClass::PreexistingUnscopedDirty));
            set(
                "new_unattributed_unscoped_dirty",
                self.class(hygiene, DirtyClass::NewUnattributedUnscopedDirty),
            );
            set(
                "modified_unattributed_unscoped_dirty",
                self.class(hygiene, DirtyClass::ModifiedUnattributedUnscopedDirty),
            );
            set(
                "unknown_unattributed_unscoped_dirty",
                self.class(hygiene, DirtyClass::UnknownUnattributedUnscopedDirty),
            );
            set(
                "foreign_attributed_outside_scope",
                self.class(hygiene, DirtyClass::ForeignAttributedOutsideScope),
            );
            set("dirty_attribution", self.attribution(hygiene));
            set("files_for_scope_check", json!(self.frame.entries_down(&hygiene.files_for_scope_check)));
        }
        Value::Object(fields)
    }

    /// Paths as the caller names them; the first few, unless everything is asked for.
    pub(crate) fn paths<'p>(&self, paths: impl Iterator<Item = &'p RepoPath>) -> Value {
        self.list(paths.map(|path| self.frame.down(path)))
    }

    /// A list; the first few, unless everything is asked for. The counts say how many there are.
    pub(crate) fn list<T: Serialize>(&self, items: impl Iterator<Item = T>) -> Value {
        let most = if self.detail == DetailLevel::Full { usize::MAX } else { LISTED };
        json!(items.take(most).collect::<Vec<_>>())
    }

    fn class(&self, hygiene: &FinishHygiene, class: DirtyClass) -> Value {
        self.paths(hygiene.of_class(class).into_iter())
    }

    fn overlaps<'o>(&self, overlaps: impl Iterator<Item = &'o ForeignDirtyOverlap>) -> Value {
        let down =
            |it: &ForeignDirtyOverlap| ForeignDirtyOverlap { path: self.frame.down(&it.path), ..it.clone() };
        self.list(overlaps.map(down))
    }

    fn attribution(&self, hygiene: &FinishHygiene) -> Value {
        let mut all = hygiene.dirty_attribution.clone();
        for dirt in &mut all {
            dirt.path = self.frame.down(&dirt.path);
        }
        json!(all)
    }

    fn snapshot(&self) -> Value {
        let state = &self.look.state;
        let mut snapshot = json!({
            "root": self.look.snapshot.root(),
            "head": state.head,
            "paths_count": state.dirty.len(),
            "aside_count": state.aside.len(),
        });
        if self.detail == DetailLevel::Full {
            snapshot["entries"] = json!(state.dirty.values().collect::<Vec<_>>());
        }
        snapshot
    }
}
