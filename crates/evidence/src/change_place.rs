//! Where a change is that the working tree does not show.

use probity_paths::RepoPath;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where a judged change is found. A change without a place is in the working tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "in", rename_all = "snake_case")]
pub enum ChangePlace {
    /// A commit that the run made reachable.
    Commit {
        /// The id of the commit.
        commit: String,
        /// A git reference that leads to it.
        #[serde(rename = "ref")]
        reference: String,
        /// The submodule or nested repository; absent for the repository of the tree.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        repository: Option<RepoPath>,
    },
    /// Git's index: it is staged.
    Index {
        /// The submodule or nested repository; absent for the repository of the tree.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        repository: Option<RepoPath>,
    },
}
