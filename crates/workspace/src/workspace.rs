//! Finds the tree a command works on: its root, its repository and its state.

use crate::StateDirectory;
use crate::own_files::{JSON_POLICY_FILE, POLICY_FILE, STATE_DIR_NAME, STATE_DIR_NAME_IN_GIT};
use crate::root::{FoundRoot, UnusedTree, find_repository, find_root, refuse_nested, user_homes};
use crate::state_safety::check_state_directory;
use crate::{CancellationToken, ProgressMeter, ServiceError};
use probity_core::ReasonCode;
use probity_policy::Policy;
use probity_scopes::WorkingDirectory;
use probity_snapshot::git::GitLayout;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

#[derive(Debug)]
pub struct Workspace {
    /// Every path is relative to it.
    pub root: PathBuf,
    /// The repository that contains the root.
    pub git: Option<GitLayout>,
    pub state: StateDirectory,
    /// The caller's directory in the tree, or the root if the caller is elsewhere. Typed paths are relative to it.
    pub working_directory: WorkingDirectory,
    /// What the caller may have meant instead.
    pub above: Option<UnusedTree>,
    pub progress: ProgressMeter,
    /// Whether the caller still waits.
    pub cancellation: CancellationToken,
}

impl Workspace {
    /// Opens the tree at `root` if given, else at the nearest ancestor of `from` that has `.git` or a policy, else at
    /// `from`. Those of strangers in directories above do not count. `/` and home directories are used only if given explicitly.
    #[tracing::instrument(name = "find root", skip_all)]
    pub fn find(root: Option<&Path>, from: &Path) -> Result<Self, ServiceError> {
        let FoundRoot { root, above } = if let Some(root) = root {
            FoundRoot { root: real_path(root)?, above: None }
        } else {
            let found = find_root(&real_path(from)?, &user_homes())?;
            refuse_nested(&found.root)?;
            found
        };
        if !root.is_dir() {
            return Err(ServiceError::Missing(format!("{} is not a directory", root.display())));
        }
        let git = find_repository(&root);
        let state = match &git {
            Some(git) => git.common_dir.join(STATE_DIR_NAME_IN_GIT),
            None => root.join(STATE_DIR_NAME),
        };
        let state = StateDirectory::at(state);
        check_state_directory(state.dir())?;
        let from = from.canonicalize().unwrap_or_else(|_| from.to_owned());
        let below_root = from.strip_prefix(&root).unwrap_or(Path::new(""));
        Ok(Self {
            working_directory: WorkingDirectory::new(below_root.as_os_str().as_bytes()),
            above,
            progress: ProgressMeter::default(),
            cancellation: CancellationToken::default(),
            state,
            git,
            root,
        })
    }

    /// Refuses where processes cannot be seen: Linux without `/proc`, as in a bare chroot.
    pub fn require_process_table() -> Result<(), ServiceError> {
        if cfg!(target_os = "linux") && !Path::new("/proc/self/fd").exists() {
            return Err(ServiceError::refused(
                ReasonCode::ProcMissing,
                "/proc is not mounted here; nothing ran",
            ));
        }
        Ok(())
    }

    /// Reads the policy from `probity.toml`, else from `probity.json`, else returns the default policy. A command does
    /// this once and passes the policy down, because the file may change while it works (law 8).
    pub fn load_policy(&self) -> Result<LoadedPolicy, ServiceError> {
        let Some(source) = self.policy_source()? else { return Ok(LoadedPolicy::default()) };
        Ok(LoadedPolicy { policy: source.parse(&self.root)?, source: Some(source) })
    }

    /// Reads the text of the policy in the tree, if there is one.
    pub fn policy_source(&self) -> Result<Option<PolicySource>, ServiceError> {
        for name in [POLICY_FILE, JSON_POLICY_FILE] {
            if let Some(bytes) = probity_storage::durable::read_settings(&self.root.join(name))? {
                return Ok(Some(PolicySource { is_json: name == JSON_POLICY_FILE, bytes }));
            }
        }
        Ok(None)
    }

    /// The root relative to the top of git's working tree; empty if they are the same, or without git.
    pub fn below_top(&self) -> Vec<u8> {
        let below = self.git.as_ref().and_then(|git| self.root.strip_prefix(&git.root).ok());
        below.map(|below| below.as_os_str().as_bytes().to_vec()).unwrap_or_default()
    }

    /// The top-level names that belong to Probity and are not content.
    pub fn own_names(&self) -> Vec<Vec<u8>> {
        if self.git.is_some() { Vec::new() } else { vec![STATE_DIR_NAME.into()] }
    }
}

/// A policy with its source text.
#[derive(Debug, Clone, Default)]
pub struct LoadedPolicy {
    pub policy: Policy,
    /// `None` if the tree has no policy file and the default policy applies.
    pub source: Option<PolicySource>,
}

/// The text and format of a policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicySource {
    /// JSON rather than TOML.
    pub is_json: bool,
    pub bytes: Vec<u8>,
}

impl PolicySource {
    /// Parses and checks the policy; errors name the file below `root`.
    pub fn parse(&self, root: &Path) -> Result<Policy, ServiceError> {
        parse_policy(&root.join(self.file_name()), &self.bytes)
    }

    /// Returns the name of the file at the root that has this format.
    pub const fn file_name(&self) -> &'static str {
        if self.is_json { JSON_POLICY_FILE } else { POLICY_FILE }
    }
}

/// Parses a policy in the format given by the file name and checks it. Errors include the line and column.
pub fn parse_policy(path: &Path, bytes: &[u8]) -> Result<Policy, ServiceError> {
    let fault = |reason, detail| ServiceError::Policy { path: path.to_owned(), reason, detail };
    let invalid = |detail| fault(ReasonCode::ConfigInvalid, detail);
    let text = std::str::from_utf8(bytes).map_err(|error| invalid(error.to_string()))?;
    let parse = if path.ends_with(JSON_POLICY_FILE) { from_json } else { from_toml };
    let policy = parse(text).map_err(invalid)?;
    policy.check().map_err(|error| {
        let place = error.place_in(text);
        let place =
            place.map_or_else(String::new, |(line, column)| format!("line {line}, column {column}: "));
        fault(error.reason(), format!("{place}{error}"))
    })?;
    Ok(policy)
}

fn from_toml(text: &str) -> Result<Policy, String> {
    Policy::from_toml(text).map_err(|error| error.to_string())
}

fn from_json(text: &str) -> Result<Policy, String> {
    let value = probity_core::json::parse(text.as_bytes()).map_err(|error| {
        let (line, column) = probity_policy::line_and_column(text, error.at);
        format!("line {line}, column {column}: {error}")
    })?;
    Policy::from_json(&value).map_err(|error| error.to_string())
}

fn real_path(path: &Path) -> Result<PathBuf, ServiceError> {
    path.canonicalize()
        .map_err(|error| ServiceError::Missing(format!("cannot open {}: {error}", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_policy_file_marks_a_root() {
        let dir = tempfile::tempdir().expect("a directory");
        fs::create_dir_all(dir.path().join("tree/src")).expect("creates");
        fs::write(dir.path().join("tree/probity.toml"), "").expect("writes");
        let found = Workspace::find(None, &dir.path().join("tree/src")).expect("is found");
        assert_eq!(found.root, dir.path().canonicalize().expect("is real").join("tree"));
        assert_eq!(found.state.dir(), found.root.join(".probity"));
    }

    #[test]
    fn a_given_root_is_taken_as_it_is() {
        let dir = tempfile::tempdir().expect("a directory");
        fs::create_dir_all(dir.path().join("tree/src")).expect("creates");
        fs::write(dir.path().join("tree/probity.toml"), "").expect("writes");
        let found = Workspace::find(Some(&dir.path().join("tree/src")), Path::new("/")).expect("is found");
        assert!(found.root.ends_with("tree/src"));
    }

    #[test]
    fn the_caller_is_in_a_directory_of_the_tree_or_at_its_root() {
        let dir = tempfile::tempdir().expect("a directory");
        fs::create_dir_all(dir.path().join("tree/src/deep")).expect("creates");
        fs::write(dir.path().join("tree/probity.toml"), "").expect("writes");
        let place = |root: Option<&str>, from: &str| {
            let root = root.map(|root| dir.path().join(root));
            let found = Workspace::find(root.as_deref(), &dir.path().join(from)).expect("is found");
            found.working_directory.to_string()
        };
        assert_eq!(place(None, "tree/src/deep"), "src/deep");
        assert_eq!(place(Some("tree/src"), "tree/src/deep"), "deep");
        assert_eq!(place(None, "tree"), "the root");
        assert_eq!(place(Some("tree/src"), "tree"), "the root", "the caller is outside");
    }

    #[test]
    fn a_policy_may_be_json() {
        let dir = tempfile::tempdir().expect("a directory");
        let policy =
            r#"{"packs": [{"id": "P", "scope": ["src/**"]}], "gates": [], "profiles": [{"id": "p"}]}"#;
        fs::write(dir.path().join("probity.json"), policy).expect("writes");
        let found =
            Workspace::find(None, dir.path()).expect("is found").load_policy().expect("is a policy").policy;
        assert_eq!(found.packs[0].id, "P");
    }

    #[test]
    fn whatever_is_wrong_in_a_policy_has_its_place() {
        for (name, text, place) in [
            (
                "probity.toml",
                "[[pack]]\nid = \"P\"\nscope = [\"a\"]\ngates = [\"nix\"]\n",
                "line 4, column 10",
            ),
            ("probity.toml", "[[pack]]\nid = \"P\"\nscope = [\"a[\"]\n", "line 3, column 10"),
            ("probity.toml", "x = [\n", "line 1, column 6"),
            ("probity.json", "{\n  \"packs\": 3,,\n}", "line 2, column 14"),
        ] {
            let dir = tempfile::tempdir().expect("a directory");
            fs::write(dir.path().join(name), text).expect("writes");
            let fault =
                Workspace::find(None, dir.path()).expect("is found").load_policy().expect_err("is refused");
            assert!(fault.to_string().contains(&format!("{name}: {place}")), "{fault}");
        }
    }

    #[test]
    fn a_policy_that_cannot_be_read_names_its_file() {
        let dir = tempfile::tempdir().expect("a directory");
        fs::write(dir.path().join("probity.toml"), "[worspace]\n").expect("writes");
        let fault =
            Workspace::find(None, dir.path()).expect("is found").load_policy().expect_err("is refused");
        assert_eq!(fault.exit_code(), probity_api::ExitCode::Refused);
        assert!(fault.to_string().contains("probity.toml"), "{fault}");
    }
}
