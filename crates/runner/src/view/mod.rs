//! The private view of a run: its layers, its plan, and commands in it.
//!
//! Everything lies in `layers/<run>` of the state directory, which is hidden in the view:
//!
//! * `upper`, `work`: the overlay on the tree. `upper` is what the command changed.
//! * `git`: the same for a git directory that lies outside of the tree.
//! * `scratch`: the layers of caches in the home, thrown away.
//! * `gates`: the layers of the gates, above `upper`.
//! * `plan`, `report`: what the entrance of the view is told, and tells.

mod gate_view;
mod home;
mod merged_tree;
mod precopy;
mod self_test;

pub(crate) use gate_view::GateView;
pub(crate) use home::HomePlan;
pub(crate) use merged_tree::MergedTree;
pub(crate) use precopy::{PrecopiedDirectories, covered_directories, is_small, literal_directories, precopy};
pub(crate) use self_test::{SelfTestFailure, forget_test, self_test};

use crate::landing::overlay_target;
use probity_policy::{EnforceRules, NetworkRule};
use probity_process::{Job, JobOutcome, JobReport, NotStarted, ProcessEnvironment, Supervisor};
use probity_sandbox::{
    CommandEnd, ENTRANCE_ROLE, LayerBelow, NetworkAccess, OWN_PROGRAM, OverlayMount, ScratchOverlays,
    ViewFailure, ViewPlan, ViewReport,
};
use probity_storage::durable;
use probity_workspace::{ServiceError, Workspace};
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// Directories for temporary files. If the tree is in one, its content is seen in the view, and what the command writes
/// to it is thrown away; otherwise it is empty.
const TEMPORARY_DIRECTORIES: [&str; 2] = ["/tmp", "/var/tmp"];

/// Directories that are private in a view, and empty unless the tree is in them.
const PRIVATE_DIRECTORIES: [&str; 3] = ["/tmp", "/var/tmp", "/run"];

/// The step of the entrance that starts the command: what fails there is no fault of the view.
const START_STEP: &str = "start";

/// Variables that lead to services outside of the view.
const SERVICE_VARIABLES: &[&str] = &[
    "DBUS_SESSION_BUS_ADDRESS",
    "DBUS_SYSTEM_BUS_ADDRESS",
    "DOCKER_HOST",
    "GPG_AGENT_INFO",
    "SSH_AGENT_PID",
    "SSH_AUTH_SOCK",
    "STY",
    "TMUX",
    "TMUX_PANE",
    "WAYLAND_DISPLAY",
    "XDG_RUNTIME_DIR",
];

/// The layers of one run.
#[derive(Debug)]
pub(crate) struct RunView<'a> {
    workspace: &'a Workspace,
    directory: PathBuf,
    home: HomePlan,
    /// Variables that are passed on although they lead to services.
    passed_variables: Vec<String>,
}

/// Which layer of the view a command writes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ViewRole {
    /// The governed command: it writes to the layer that lands.
    Command,
    /// A gate: it sees the layer of the command and writes to one of its own.
    Gate,
}

impl<'a> RunView<'a> {
    /// Creates the layers of a run, empty.
    pub(crate) fn create(
        workspace: &'a Workspace,
        run_id: &str,
        rules: &EnforceRules,
    ) -> Result<Self, ServiceError> {
        let directory = workspace.state.layer(run_id);
        let home = HomePlan::of(rules, overlay_target(workspace), workspace.state.dir());
        let view = Self { workspace, directory, home, passed_variables: rules.env.clone() };
        view.create_layers("")?;
        Ok(view)
    }

    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    pub(crate) fn home(&self) -> &HomePlan {
        &self.home
    }

    /// Returns git's directory if the overlay on the tree does not cover it.
    fn git_outside(&self) -> Option<&Path> {
        let common = &self.workspace.git.as_ref()?.common_dir;
        (!common.starts_with(overlay_target(self.workspace))).then_some(common)
    }

    /// Creates the layers of the overlays on the tree and on git's directory in `place` of the run's directory.
    fn create_layers(&self, place: &str) -> Result<(), ServiceError> {
        let place = Path::new(place);
        self.create_layer(&place.join("upper"), overlay_target(self.workspace))?;
        self.create_plain(&place.join("work"))?;
        if let Some(outside) = self.git_outside() {
            self.create_layer(&place.join("git/upper"), outside)?;
            self.create_plain(&place.join("git/work"))?;
        }
        Ok(())
    }

    /// Creates an upper layer with the permission bits of the directory that it covers, because it shows them.
    fn create_layer(&self, name: &Path, covers: &Path) -> Result<(), ServiceError> {
        let path = self.create_plain(name)?;
        let mode = fs::metadata(covers).map_or(0o755, |facts| facts.permissions().mode() & 0o7777);
        let failed = ServiceError::system(format!("cannot prepare {}", path.display()));
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).map_err(failed)
    }

    fn create_plain(&self, name: &Path) -> Result<PathBuf, ServiceError> {
        let path = self.directory.join(name);
        durable::create_dir(&path)?;
        Ok(path)
    }

    /// Empties the layer of the gates.
    pub(crate) fn reset_gates(&self) -> Result<(), ServiceError> {
        remove_layer(&self.directory.join("gates"))?;
        self.create_layers("gates")
    }

    /// Returns the part of the layer of the gates that belongs to the root of the tree. It need not exist.
    pub(crate) fn gate_upper(&self) -> PathBuf {
        crate::landing::upper_of_root(self.workspace, &self.directory.join("gates"))
    }

    /// Returns the overlays on the tree and on git's directory, with their upper layers in `place` of the run's
    /// directory and the run's own layers below them if `is_above`.
    fn overlays(&self, place: &str, is_above: bool) -> Vec<OverlayMount> {
        let place = self.directory.join(place);
        let overlay = |target: &Path, name: &str| OverlayMount {
            target: target.into(),
            below: is_above.then(|| LayerBelow {
                upper: self.directory.join(name).join("upper").into(),
                work: self.directory.join(name).join("work").into(),
            }),
            upper: place.join(name).join("upper").into(),
            work: place.join(name).join("work").into(),
        };
        let git = self.git_outside().map(|outside| overlay(outside, "git"));
        git.into_iter().chain([overlay(overlay_target(self.workspace), "")]).collect()
    }

    /// Returns the plan for a command in `working_directory`.
    fn plan(
        &self,
        role: ViewRole,
        overlays: Vec<OverlayMount>,
        network: NetworkRule,
        working_directory: &Path,
    ) -> ViewPlan {
        let is_command = role == ViewRole::Command;
        let mut hidden: Vec<OsString> = vec![self.workspace.state.dir().into()];
        hidden.extend(self.home.hidden.iter().map(Into::into));
        let persist = |paths: &[PathBuf]| -> Vec<OsString> {
            paths.iter().filter(|_| is_command).map(Into::into).collect()
        };
        ViewPlan {
            overlays,
            scratch: ScratchOverlays::default(),
            writable: persist(&self.home.persist),
            visible: self.home.visible.iter().map(Into::into).collect(),
            read_only: persist(&self.home.fixed),
            hidden,
            network: network_access(network),
            outside: self.outside_directories().into_iter().map(Into::into).collect(),
            working_directory: self.reachable(working_directory).into(),
            report: self.directory.join("report").into(),
        }
    }

    /// Returns a directory that exists in the view: the wanted one, or the root of the tree.
    fn reachable<'p>(&'p self, wanted: &'p Path) -> &'p Path {
        let is_private = PRIVATE_DIRECTORIES.iter().any(|private| wanted.starts_with(private));
        let is_kept = wanted.starts_with(overlay_target(self.workspace))
            || self.home.visible.iter().any(|visible| wanted.starts_with(visible))
            || self.home.scratch.iter().any(|seen| wanted.starts_with(seen));
        if is_private && !is_kept { &self.workspace.root } else { wanted }
    }

    /// Returns the words of a command that name existing files in directories which are empty in the view.
    pub(crate) fn out_of_sight(&self, command: &[OsString]) -> Vec<PathBuf> {
        let paths = command.iter().map(PathBuf::from);
        paths.filter(|path| path.exists() && self.reachable(path) != path).collect()
    }

    /// Returns the environment of a command in the view.
    pub(crate) fn environment(&self, environment: ProcessEnvironment) -> ProcessEnvironment {
        let mut environment = without_services(environment, &self.passed_variables);
        if environment.get("TMPDIR").is_some() {
            environment = environment.with("TMPDIR", "/tmp");
        }
        self.home.missing_caches().into_iter().fold(environment, |environment, (name, value)| {
            if environment.get(name).is_some() { environment } else { environment.with(name, value) }
        })
    }

    /// Runs a job in the view.
    pub(crate) fn run(
        &self,
        supervisor: &mut Supervisor,
        role: ViewRole,
        network: NetworkRule,
        job: Job,
    ) -> Result<(JobReport, ViewReport), ServiceError> {
        let overlays = match role {
            ViewRole::Command => self.overlays("", false),
            ViewRole::Gate => self.overlays("gates", true),
        };
        let mut plan = self.plan(role, overlays, network, &job.cwd);
        let scratch = Path::new("scratch");
        remove_layer(&self.directory.join(scratch))?;
        plan.scratch = self.home.scratch_overlays(&self.create_plain(scratch)?);
        let program = job.argv.first().cloned().unwrap_or_default();
        let environment = self.environment(job.environment.clone());
        let argv = self.entrance(&plan, "plan", &job.argv)?;
        let ended = supervisor.run(&Job { argv, environment, cwd: self.workspace.root.clone(), ..job });
        let report = read_report(&plan);
        // What stays is removed with the layer.
        let _ = remove_layer(&self.directory.join(scratch));
        if report.as_ref().and_then(|report| report.failure.as_ref()).is_some_and(|it| it.step != START_STEP)
        {
            forget_test(self.workspace);
        }
        Ok((ended_in_view(ended, report.as_ref(), &program), report.unwrap_or_default()))
    }

    /// Writes the plan and returns the words of a command that enters its view.
    fn entrance(
        &self,
        plan: &ViewPlan,
        name: &str,
        command: &[OsString],
    ) -> Result<Vec<OsString>, ServiceError> {
        tracing::trace!(target: "probity::work", view_launches = 1_u64);
        let path = self.directory.join(name);
        let text = serde_json::to_vec(plan).map_err(|error| ServiceError::System {
            what: format!("cannot write {}", path.display()),
            source: error.into(),
        })?;
        durable::remove(Path::new(&plan.report))?;
        durable::write_unsynced(&path, &text)?;
        let words = [OWN_PROGRAM.into(), ENTRANCE_ROLE.into(), path.into()];
        Ok(words.into_iter().chain(command.iter().cloned()).collect())
    }

    /// Returns whether nothing was written in the view, neither to the tree nor to git's directory.
    pub(crate) fn is_untouched(&self) -> bool {
        self.is_empty("upper") && self.is_empty("git/upper")
    }

    fn is_empty(&self, name: &str) -> bool {
        match fs::read_dir(self.directory.join(name)) {
            Ok(mut entries) => entries.next().is_none(),
            Err(error) => error.kind() == std::io::ErrorKind::NotFound,
        }
    }

    /// Returns whether a layer holds anything of a git directory of this worktree, or of what leads to it.
    pub(crate) fn has_git_files(&self) -> bool {
        let Some(git) = &self.workspace.git else { return false };
        let upper = self.directory.join("upper");
        let places = [&git.root.join(".git"), &git.git_dir, &git.common_dir];
        let is_in_layer = |below: &Path| match upper.join(below).symlink_metadata() {
            Ok(_) => true,
            Err(error) => error.kind() != std::io::ErrorKind::NotFound,
        };
        let target = overlay_target(self.workspace);
        let mut below = places.into_iter().filter_map(|path| path.strip_prefix(target).ok());
        below.any(is_in_layer) || !self.is_empty("git/upper")
    }

    /// Removes everything but the layer that may land.
    pub(crate) fn keep_layer_only(&self) {
        for name in ["scratch", "gates", "look", "test"] {
            // Leftovers take space and do no harm.
            let _ = remove_layer(&self.directory.join(name));
        }
        for name in ["plan", "report", "mark"] {
            let _ = fs::remove_file(self.directory.join(name));
        }
    }

    /// Removes all layers.
    pub(crate) fn remove(&self) -> Result<(), ServiceError> {
        remove_layer(&self.directory)
    }
}

/// Returns an environment without the variables that lead to services outside, but for the `passed` ones.
pub(crate) fn without_services(environment: ProcessEnvironment, passed: &[String]) -> ProcessEnvironment {
    let is_passed = |name: &&&str| passed.iter().any(|passed| passed == **name);
    SERVICE_VARIABLES
        .iter()
        .filter(|name| !is_passed(name))
        .fold(environment, probity_process::ProcessEnvironment::without)
}

const fn network_access(rule: NetworkRule) -> NetworkAccess {
    match rule {
        NetworkRule::On => NetworkAccess::On,
        NetworkRule::Off => NetworkAccess::Off,
    }
}

fn read_report(plan: &ViewPlan) -> Option<ViewReport> {
    report_at(Path::new(&plan.report))
}

/// Reads what a role of ours reported, if it did.
pub(crate) fn report_at(path: &Path) -> Option<ViewReport> {
    let bytes = durable::read(path).ok().flatten()?;
    serde_json::from_slice(&bytes).ok()
}

/// Returns how the command ended, from the end of the entrance and its report. The report is trusted: the view cannot
/// reach it.
fn ended_in_view(ended: JobReport, report: Option<&ViewReport>, program: &OsString) -> JobReport {
    if !matches!(ended.outcome, JobOutcome::Exited(_) | JobOutcome::Signalled(_)) {
        return ended;
    }
    let outcome = match report {
        Some(ViewReport { end: Some(CommandEnd::Exited(code)), .. }) => JobOutcome::Exited(*code),
        Some(ViewReport { end: Some(CommandEnd::Signaled(signal)), .. }) => JobOutcome::Signalled(*signal),
        Some(ViewReport { failure: Some(failure), .. }) => {
            JobOutcome::NotStarted(not_started(failure, program))
        }
        // The entrance itself was killed.
        _ => JobOutcome::Signalled(9),
    };
    JobReport { outcome, ..ended }
}

/// Returns why a program was not started, from the step that failed.
pub(crate) fn not_started(failure: &ViewFailure, program: &OsString) -> NotStarted {
    let is_program = failure.step == START_STEP;
    match failure.errno {
        Some(libc_errno::NOT_FOUND) if is_program => NotStarted::NotFound(program.clone()),
        Some(libc_errno::NOT_PERMITTED) if is_program => NotStarted::NotExecutable(program.clone()),
        _ => NotStarted::Refused { program: program.clone(), why: failure.to_string() },
    }
}

/// Error numbers of `exec`.
mod libc_errno {
    pub(super) const NOT_FOUND: i32 = rustix::io::Errno::NOENT.raw_os_error();
    pub(super) const NOT_PERMITTED: i32 = rustix::io::Errno::ACCESS.raw_os_error();
}

/// Removes layers. The kernel leaves a directory without permissions in each work directory.
pub(crate) fn remove_layer(directory: &Path) -> Result<(), ServiceError> {
    let failed = |error| ServiceError::System {
        what: format!("cannot remove {}", directory.display()),
        source: error,
    };
    match fs::remove_dir_all(directory) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(_) => {
            open_directories(directory);
            fs::remove_dir_all(directory).map_err(failed)
        }
    }
}

/// Gives the owner every permission on the directories of a layer, as far as possible.
fn open_directories(directory: &Path) {
    let _ = fs::set_permissions(directory, fs::Permissions::from_mode(0o700));
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            open_directories(&entry.path());
        }
    }
}
