//! The answer of `probity doctor`.

use crate::document::Answer;
use schemars::JsonSchema;
use serde::Serialize;

probity_core::word_enum! {
    /// The result of a check, from best to worst.
    pub enum CheckupStatus {
        /// No problem.
        Ok = "ok",
        /// It works, but could be better.
        Warning = "warning",
        /// It does not work.
        Failed = "failed",
    }
}

/// Whether the prerequisites for changes under control are met: the answer of `probity doctor`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct DoctorAnswer {
    /// The worst status of the checks.
    pub status: CheckupStatus,
    /// The checks, in a fixed order.
    pub checks: Vec<DoctorCheckup>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct DoctorCheckup {
    pub name: &'static str,
    pub status: CheckupStatus,
    pub detail: String,
    /// What to do, unless the status is `ok`.
    pub next_step: Option<String>,
}

impl DoctorAnswer {
    pub fn new(checks: Vec<DoctorCheckup>) -> Self {
        let status = checks.iter().map(|check| check.status).max().unwrap_or(CheckupStatus::Ok);
        Self { status, checks }
    }
}

impl Answer for DoctorAnswer {
    const SCHEMA: &'static str = "probity/doctor/v1";
}
