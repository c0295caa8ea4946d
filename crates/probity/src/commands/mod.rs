//! One module per command: it calls a service and renders the answer.

pub(crate) mod amend;
pub(crate) mod analysis;
pub(crate) mod change;
mod changed_paths;
pub(crate) mod commits;
pub(crate) mod completions;
pub(crate) mod conformance;
pub(crate) mod contract;
pub(crate) mod doctor;
pub(crate) mod evidence;
mod evidence_show;
pub(crate) mod explain;
pub(crate) mod identity;
pub(crate) mod init;
pub(crate) mod intent;
pub(crate) mod keys;
pub(crate) mod land;
pub(crate) mod ledger;
pub(crate) mod log;
pub(crate) mod mcp;
pub(crate) mod merge;
pub(crate) mod plan;
pub(crate) mod receipt;
pub(crate) mod revert;
pub(crate) mod run;
