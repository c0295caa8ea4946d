//! The answer of `probity doctor`.

use crate::document::Answer;
use schemars::JsonSchema;
use serde::Serialize;

probity_core::word_enum! {
    /// How a check ended. The later, the worse.
    pub enum CheckupStatus {
        /// All is well.
        Ok = "ok",
        /// It works, and could be better.
        Warning = "warning",
        /// It does not work.
        Failed = "failed",
    }
}

/// Whether everything is there that changes under control need: the answer of `probity doctor`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct DoctorAnswer {
    /// The worst of the checks.
    pub status: CheckupStatus,
    /// The checks, in a fixed order.
    pub checks: Vec<DoctorCheckup>,
}

/// One check.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct DoctorCheckup {
    /// What was looked at.
    pub name: &'static str,
    /// How it is.
    pub status: CheckupStatus,
    /// What was found.
    pub detail: String,
    /// What to do, unless all is well.
    pub next_step: Option<String>,
}

impl DoctorAnswer {
    /// The answer of these checks.
    pub fn new(checks: Vec<DoctorCheckup>) -> Self {
        let status = checks.iter().map(|check| check.status).max().unwrap_or(CheckupStatus::Ok);
        Self { status, checks }
    }
}

impl Answer for DoctorAnswer {
    const SCHEMA: &'static str = "probity/doctor/v1";
}
