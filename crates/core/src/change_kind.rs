//! How a path changed: one vocabulary for snapshots and evidence.

crate::word_enum! {
    /// How a path changed.
    pub enum ChangeKind {
        /// It is new.
        Added = "added",
        /// Its content, type or mode differs.
        Modified = "modified",
        /// It is gone.
        Deleted = "deleted",
    }
}
