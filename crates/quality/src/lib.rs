//! Measures the structure of a tree and judges whether a patch made it worse.
//!
//! Owns: structural analyses of trees and commits, the store of analyses, the patch contract, receipts.
//! May use: analysis, api, contract, core, evidence, intents, paths, policy, process, scopes, snapshot, storage, workspace.
//! Must not know: the registry of intents, governed runs, how an answer is shown.
//!
//! * [`analyze`]: analyzes the structure of the tree. [`analysis_store`]: stores the results.
//! * [`contract`]: the verdict on a patch, its review claims and its receipts.
//! * [`AnalysisFiles`]: the files that analyses write to the state directory.

pub mod analysis_store;
pub mod analyze;
pub mod contract;
pub mod pipeline;
mod state_files;

pub use state_files::AnalysisFiles;
