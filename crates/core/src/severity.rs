//! Severity of findings: one scale for analysis, policy and verdicts.

crate::word_enum! {
    #[derive(Default)]
    pub enum Severity {
        Info = "info",
        #[default]
        Warning = "warning",
        Critical = "critical",
    }
}
