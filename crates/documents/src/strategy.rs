//! The ways in which a policy or a bound group decides a conflict.

probity_core::word_enum! {
    /// A strategy for deciding a conflict.
    pub enum MergeStrategy {
        /// The parent's value.
        Ours = "ours",
        /// The target's value.
        Theirs = "theirs",
        /// The larger of both values.
        Max = "max",
        /// The smaller of both values.
        Min = "min",
        /// The side that has a value, if the other has none.
        Union = "union",
        /// The base plus what each side added to it, for counters.
        Sum = "sum",
        /// The side that wrote there last.
        Newest = "newest",
        /// Ask a person.
        RequireReview = "require_review",
        /// The merge must not be published.
        Refuse = "refuse",
    }
}
