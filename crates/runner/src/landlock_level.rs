//! The level `landlock`: a command works in the tree itself, and the kernel refuses its writes outside of the
//! directories of its scope. For machines where no view can be built.
//!
//! Landlock grants whole directories and takes nothing back below them. What is granted beyond the scope is told in the
//! evidence and left to the judgment afterwards, which is as exact as at every level.

use crate::view::{self, HomePlan, SelfTestFailure};
use probity_paths::{RepoPath, Scope};
use probity_policy::{EnforceRules, FIXED_NAMES};
use probity_process::{
    CaptureLimits, Job, JobOutcome, JobReport, NotStarted, ProcessEnvironment, Supervisor, capture,
};
use probity_sandbox::{GRANTS_ROLE, OWN_PROGRAM, PROBE_ROLE, ViewReport, WriteGrants};
use probity_snapshot::{Snapshot, SnapshotEntryKind};
use probity_storage::durable;
use probity_workspace::exemptions::Exemptions;
use probity_workspace::gates::{GateConfinement, PrivateDirectory};
use probity_workspace::{ServiceError, Workspace};
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Directories that all programs use for their temporary files.
const SHARED_DIRECTORIES: [&str; 3] = ["/tmp", "/var/tmp", "/dev/shm"];

/// Caches that are named by a variable, and their names in the private directory: those in the home stay read-only.
const CACHE_VARIABLES: [(&str, &str); 2] = [("XDG_CACHE_HOME", "cache"), ("npm_config_cache", "npm")];

const TEST_LIMITS: CaptureLimits = CaptureLimits { time: Duration::from_mins(1), output_bytes: 64 * 1024 };

/// What every command at this level may write, whatever its scope.
#[derive(Debug)]
pub(crate) struct LandlockLevel {
    /// Receives temporary files and caches, and is removed with the run.
    _private: PrivateDirectory,
    /// Its path without links.
    private_path: PathBuf,
    /// Temporary directories that others use too. None that the tree, git's directory, the state or the home is in.
    shared: Vec<PathBuf>,
    /// The agent's own state, without what decides what the agent executes.
    persist: Vec<PathBuf>,
    /// Variables that are passed on although they lead to services.
    passed_variables: Vec<String>,
}

/// What a command may write in the tree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct TreeGrants {
    directories: Vec<PathBuf>,
    /// Those of them, and of the directories that every command may write, that the scope does not cover.
    pub(crate) beyond_scope: Vec<PathBuf>,
    /// Whether git's directory or Probity's state is in one of them.
    pub(crate) has_own_files: bool,
}

impl LandlockLevel {
    /// Prepares the level for a run.
    pub(crate) fn create(workspace: &Workspace, rules: &EnforceRules) -> Result<Self, ServiceError> {
        let failed = || ServiceError::system("cannot create a directory for temporary files");
        let private = PrivateDirectory::create(&workspace.root, workspace.state.dir()).map_err(failed())?;
        let private_path = private.path().canonicalize().map_err(failed())?;
        for (_, name) in CACHE_VARIABLES {
            std::fs::create_dir(private_path.join(name)).map_err(failed())?;
        }
        let kept_apart = kept_apart(workspace);
        let is_apart = |path: &PathBuf| !kept_apart.iter().any(|kept| kept.starts_with(path));
        let shared = SHARED_DIRECTORIES.iter().filter_map(|path| Path::new(path).canonicalize().ok());
        let home = HomePlan::of(rules, &workspace.root, workspace.state.dir());
        Ok(Self {
            _private: private,
            private_path,
            shared: shared.filter(is_apart).collect(),
            persist: home.persist.iter().flat_map(|path| writable_parts(path)).collect(),
            passed_variables: rules.env.clone(),
        })
    }

    /// Tests in this very process whether Landlock keeps a program of ours from writing elsewhere.
    pub(crate) fn self_test(&self) -> Result<Result<ViewReport, SelfTestFailure>, ServiceError> {
        let [inside, outside] = ["test-inside", "test-outside"].map(|name| self.private_path.join(name));
        for directory in [&inside, &outside] {
            durable::create_dir(directory)?;
        }
        let words = [OWN_PROGRAM.into(), PROBE_ROLE.into(), inside.clone().into(), outside.into()];
        let report_path = self.private_path.join("test-report");
        let argv = confined(&self.private_path.join("test-grants"), &report_path, vec![inside], &words)?;
        let ended = capture(&argv, &ProcessEnvironment::inherited(), Path::new("/"), TEST_LIMITS);
        let report = view::report_at(&report_path);
        Ok(match (report, ended) {
            (Some(ViewReport { failure: Some(failure), .. }), _) => Err(SelfTestFailure {
                cause: failure.to_string(),
                cure: "use Linux 6.2 or later with Landlock, and start the kernel with `lsm=landlock,…`"
                    .into(),
            }),
            (Some(report), Ok(output)) if output.succeeded() => Ok(report),
            (_, Ok(output)) => Err(SelfTestFailure {
                cause: format!(
                    "a confined test could write elsewhere, or not where it may: {}",
                    String::from_utf8_lossy(&output.stderr).trim()
                ),
                cure: "report this to the authors of Probity, with the output of `uname -r`".into(),
            }),
            (_, Err(error)) => Err(SelfTestFailure {
                cause: format!("the test could not be started: {error}"),
                cure: "run `probity doctor` for details".into(),
            }),
        })
    }

    /// Compiles a scope to directories.
    pub(crate) fn tree_grants(
        &self,
        workspace: &Workspace,
        scope: &Scope,
        exemptions: &Exemptions,
        start: &Snapshot,
    ) -> TreeGrants {
        let outputs = output_directories(exemptions, start);
        let granted = granted_directories(scope, start);
        let covered = view::covered_directories(scope, start);
        let is_covered =
            |path: &RepoPath| covered.iter().any(|directory| path.is_covered_by(directory.as_bytes()));
        let place = |path: Option<&RepoPath>| match path {
            Some(path) => workspace.root.join(OsStr::from_bytes(path.as_bytes())),
            None => workspace.root.clone(),
        };
        let directories: BTreeSet<PathBuf> =
            granted.iter().map(Option::as_ref).chain(outputs.iter().map(Some)).map(place).collect();
        let beyond = granted.iter().filter(|path| !path.as_ref().is_some_and(is_covered)).map(Option::as_ref);
        let mut beyond_scope: BTreeSet<PathBuf> = beyond.chain(outputs.iter().map(Some)).map(place).collect();
        beyond_scope.extend(self.shared.iter().chain(&self.persist).cloned());
        let own = own_directories(workspace);
        let has_own_files = directories.iter().any(|granted| own.iter().any(|own| own.starts_with(granted)));
        TreeGrants {
            directories: directories.into_iter().collect(),
            beyond_scope: beyond_scope.into_iter().collect(),
            has_own_files,
        }
    }

    /// Returns whether temporary directories that others use can be written.
    pub(crate) fn has_shared_directories(&self) -> bool {
        !self.shared.is_empty()
    }

    /// Runs the governed command. The open directory of the run receives what the kernel is told and reports.
    pub(crate) fn run(
        &self,
        supervisor: &mut Supervisor,
        grants: &TreeGrants,
        folder: &Path,
        job: Job,
    ) -> Result<JobReport, ServiceError> {
        let mut writable = grants.directories.clone();
        writable.extend(self.persist.iter().cloned());
        let environment = view::without_services(job.environment.clone(), &self.passed_variables);
        self.run_confined(supervisor, writable, folder, Job { environment, ..job })
    }

    fn run_confined(
        &self,
        supervisor: &mut Supervisor,
        mut writable: Vec<PathBuf>,
        folder: &Path,
        job: Job,
    ) -> Result<JobReport, ServiceError> {
        writable.extend(self.shared.iter().cloned());
        writable.push(self.private_path.clone());
        let program = job.argv.first().cloned().unwrap_or_default();
        let report_path = folder.join("confinement-report");
        let argv = confined(&folder.join("write-grants"), &report_path, writable, &job.argv)?;
        let environment = CACHE_VARIABLES.iter().fold(
            job.environment.clone().with("TMPDIR", &self.private_path),
            |environment, (variable, name)| environment.with(variable, self.private_path.join(name)),
        );
        let ended = supervisor.run(&Job { argv, environment, ..job });
        Ok(match view::report_at(&report_path) {
            // A signal may have come first, and then the command did not start either.
            _ if !matches!(ended.outcome, JobOutcome::Exited(_) | JobOutcome::Signalled(_)) => ended,
            Some(ViewReport { failure: None, .. }) => ended,
            Some(ViewReport { failure: Some(failure), .. }) => {
                JobReport { outcome: JobOutcome::NotStarted(view::not_started(&failure, &program)), ..ended }
            }
            None => {
                let why = "nothing reported that Landlock confines it".to_owned();
                JobReport { outcome: JobOutcome::NotStarted(NotStarted::Refused { program, why }), ..ended }
            }
        })
    }
}

/// The gates of a run at this level: they may write in the whole tree, where they are observed, and nowhere else.
#[derive(Debug)]
pub(crate) struct LandlockGates<'a> {
    pub(crate) level: &'a LandlockLevel,
    pub(crate) root: &'a Path,
    pub(crate) folder: &'a Path,
}

impl GateConfinement for LandlockGates<'_> {
    fn run(&self, supervisor: &mut Supervisor, job: Job) -> io::Result<JobReport> {
        let writable = vec![self.root.to_owned()];
        self.level.run_confined(supervisor, writable, self.folder, job).map_err(io::Error::other)
    }

    fn file_root(&self) -> &Path {
        Path::new("/")
    }
}

/// Writes the grants and returns the words of a command that is confined to them.
fn confined(
    grants_path: &Path,
    report: &Path,
    writable: Vec<PathBuf>,
    command: &[OsString],
) -> Result<Vec<OsString>, ServiceError> {
    let grants =
        WriteGrants { writable: writable.into_iter().map(Into::into).collect(), report: report.into() };
    let text = serde_json::to_vec(&grants).map_err(|error| ServiceError::System {
        what: format!("cannot write {}", grants_path.display()),
        source: error.into(),
    })?;
    durable::remove(report)?;
    durable::write_unsynced(grants_path, &text)?;
    let words = [OWN_PROGRAM.into(), GRANTS_ROLE.into(), grants_path.into()];
    Ok(words.into_iter().chain(command.iter().cloned()).collect())
}

/// Returns the directories that a scope needs: the literal directory of each pattern, or the innermost one above it that
/// exists; `None` is the root of the tree. None is inside another.
///
/// A pattern that names one file gets its directory: editors write a new file and rename it.
fn granted_directories(scope: &Scope, start: &Snapshot) -> Vec<Option<RepoPath>> {
    let existing = |text: &[u8]| {
        let mut path = RepoPath::parse(text).ok();
        while let Some(wanted) = &path {
            if is_directory(start, wanted) {
                break;
            }
            path = wanted.parent();
        }
        path
    };
    let let_in = scope.patterns().iter().filter(|pattern| !pattern.excludes());
    let found: BTreeSet<Option<RepoPath>> =
        let_in.map(|pattern| existing(pattern.glob().literal_directory())).collect();
    if found.contains(&None) {
        return vec![None];
    }
    let is_inside = |path: &RepoPath| {
        found.iter().flatten().any(|other| other != path && path.is_covered_by(other.as_bytes()))
    };
    found.iter().flatten().filter(|path| !is_inside(path)).cloned().map(Some).collect()
}

/// Returns the directories of build outputs that exist: they are exempt from the scope.
fn output_directories(exemptions: &Exemptions, start: &Snapshot) -> Vec<RepoPath> {
    let patterns = exemptions.build_outputs.patterns().iter().filter(|pattern| !pattern.excludes());
    let named = patterns.filter_map(|pattern| RepoPath::parse(pattern.glob().literal_directory()).ok());
    let recognized = exemptions.recognized.iter().map(|output| output.path.clone());
    named.chain(recognized).filter(|path| is_directory(start, path)).collect()
}

fn is_directory(start: &Snapshot, path: &RepoPath) -> bool {
    start.get(path).is_some_and(|entry| entry.kind() == SnapshotEntryKind::Directory)
}

/// Returns the directories that must not be granted by being in a temporary one.
fn kept_apart(workspace: &Workspace) -> Vec<PathBuf> {
    let home = std::env::var_os("HOME").and_then(|home| PathBuf::from(home).canonicalize().ok());
    own_directories(workspace).into_iter().chain(home).chain([workspace.root.clone()]).collect()
}

/// Returns git's directory and Probity's state.
fn own_directories(workspace: &Workspace) -> Vec<PathBuf> {
    let git = workspace.git.as_ref().map(|git| git.common_dir.clone());
    git.into_iter().chain([workspace.state.dir().to_owned()]).collect()
}

/// Returns what may be written of an agent's own state. A directory is granted entry by entry, because what decides what
/// the agent executes could not be taken out of it again; new entries can then not be created right in it.
fn writable_parts(path: &Path) -> Vec<PathBuf> {
    if !path.is_dir() {
        return vec![path.to_owned()];
    }
    let is_fixed = |name: &OsStr| FIXED_NAMES.iter().any(|fixed| name == *fixed);
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    let kept = entries.filter(|entry| {
        let is_plain = entry.file_type().is_ok_and(|kind| kind.is_dir() || kind.is_file());
        is_plain && !is_fixed(&entry.file_name())
    });
    kept.map(|entry| entry.path()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use probity_snapshot::SnapshotOptions;

    /// Returns the granted directories as text, `.` for the root.
    fn granted(patterns: &[&str]) -> Vec<String> {
        let tree = tempfile::tempdir().expect("a directory");
        for directory in ["src/auth/deep", "docs"] {
            std::fs::create_dir_all(tree.path().join(directory)).expect("creates");
        }
        std::fs::write(tree.path().join("src/auth/login.sh"), "").expect("writes");
        std::os::unix::fs::symlink("docs", tree.path().join("link")).expect("links");
        let start = Snapshot::take(tree.path(), &SnapshotOptions::default(), None).expect("is seen");
        let scope = Scope::parse(patterns).expect("a scope");
        let text = |path: Option<RepoPath>| path.map_or_else(|| ".".to_owned(), |path| path.to_string());
        granted_directories(&scope, &start).into_iter().map(text).collect()
    }

    #[test]
    fn a_scope_is_granted_by_its_literal_directories() {
        assert_eq!(granted(&["src/auth/**"]), ["src/auth"]);
        assert_eq!(granted(&["src/auth/login.sh"]), ["src/auth"]);
        assert_eq!(granted(&["src/**/*.py"]), ["src"]);
        assert_eq!(granted(&["src/auth/**", "src/auth/deep/*", "docs/*.md"]), ["docs", "src/auth"]);
        assert_eq!(granted(&["src/auth/**", "!src/auth/deep/**"]), ["src/auth"]);
        assert_eq!(granted(&[]), [""; 0]);
    }

    #[test]
    fn what_does_not_exist_is_granted_by_the_directory_above_it() {
        assert_eq!(granted(&["src/auth/new/er/**"]), ["src/auth"]);
        assert_eq!(granted(&["new/**", "src/auth/**"]), ["."]);
        assert_eq!(granted(&["README.md"]), ["."]);
        assert_eq!(granted(&["**"]), ["."]);
    }

    #[test]
    fn a_link_is_no_directory() {
        assert_eq!(granted(&["link/sub/**"]), ["."]);
        assert_eq!(granted(&["src/auth/login.sh/**"]), ["src/auth"]);
    }

    #[test]
    fn what_decides_what_an_agent_executes_stays_read_only() {
        let state = tempfile::tempdir().expect("a directory");
        for name in ["hooks", "projects"] {
            std::fs::create_dir(state.path().join(name)).expect("creates");
        }
        for name in ["settings.json", "history.jsonl"] {
            std::fs::write(state.path().join(name), "").expect("writes");
        }
        std::os::unix::fs::symlink("/", state.path().join("everything")).expect("links");
        let mut parts = writable_parts(state.path());
        parts.sort();
        assert_eq!(parts, ["history.jsonl", "projects"].map(|name| state.path().join(name)));
    }
}
