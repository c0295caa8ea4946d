//! How much a finding matters: one scale for analysis, policy and verdicts.

crate::word_enum! {
    /// How much a finding matters.
    #[derive(Default)]
    pub enum Severity {
        /// Worth knowing.
        Info = "info",
        /// Worth doing something about.
        #[default]
        Warning = "warning",
        /// Broken, or soon to be.
        Critical = "critical",
    }
}
