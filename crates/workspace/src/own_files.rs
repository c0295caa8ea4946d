//! The names under which Probity keeps its own files in a tree.

/// The name of the policy file at the root.
pub const POLICY_FILE: &str = "probity.toml";
/// The policy file in the JSON form, for policies that other tools write.
pub const JSON_POLICY_FILE: &str = "probity.json";
/// The state directory of a tree without git.
pub const STATE_DIR_NAME: &str = ".probity";
/// The state directory in git's common directory.
pub const STATE_DIR_NAME_IN_GIT: &str = "probity";
