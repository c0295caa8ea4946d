//! Tests in this very process whether a view can be had here: a view of the tree is built, a program of ours tries to
//! write out of it, and must fail.

use super::{PRIVATE_DIRECTORIES, RunView, ViewRole};
use crate::landing::overlay_target;
use probity_policy::NetworkRule;
use probity_process::{CaptureLimits, ProcessEnvironment, capture};
use probity_sandbox::{CommandEnd, OWN_PROGRAM, PROBE_ROLE, ViewFailure, ViewPlan, ViewReport};
use probity_storage::{CacheFile, CacheKind, durable};
use probity_workspace::{ServiceError, Workspace};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The last test that was passed for a tree.
const VIEW_TEST_CACHE: CacheKind = CacheKind { name: "view test", version: 1 };

const TEST_LIMITS: CaptureLimits = CaptureLimits { time: Duration::from_mins(1), output_bytes: 64 * 1024 };

/// Settings of the kernel that keep ordinary users from having namespaces: the file, the value that forbids them, and
/// the cure.
const NAMESPACE_SETTINGS: [(&str, &str, &str); 3] = [
    (
        "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
        "1",
        "sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0",
    ),
    ("/proc/sys/kernel/unprivileged_userns_clone", "0", "sudo sysctl kernel.unprivileged_userns_clone=1"),
    ("/proc/sys/user/max_user_namespaces", "0", "sudo sysctl user.max_user_namespaces=15000"),
];

/// Why there is no view here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SelfTestFailure {
    pub(crate) cause: String,
    /// What to do about it: a command, if one is enough.
    pub(crate) cure: String,
}

/// Tests whether views can be had for the tree of `view`; returns what was reported of one.
///
/// The answer of an earlier run holds as long as nothing that it depends on changed. It only decides what is tried: whether
/// the command can write outside is tested again in its own view, each time, just before it starts.
pub(crate) fn self_test(view: &RunView<'_>) -> Result<Result<ViewReport, SelfTestFailure>, ServiceError> {
    let target = overlay_target(view.workspace);
    if let Some(point) = probity_sandbox::mount_below(target) {
        return Ok(Err(SelfTestFailure {
            cause: format!("{} is mounted inside the tree, and no overlay can cover it", point.display()),
            cure: format!("umount {}", point.display()),
        }));
    }
    if let Some(failure) = foreign_owner_failure(target) {
        return Ok(Err(failure));
    }
    let conditions = TestConditions::of(view);
    let known = test_cache(view.workspace).load::<PassedTest>();
    if let Some(known) = known.filter(|known| Some(&known.conditions) == conditions.as_ref()) {
        return Ok(Ok(known.report()?));
    }
    view.create_layers("test")?;
    let overlays = view.overlays("test", false);
    let plan = ViewPlan {
        report: view.directory.join("test/report").into(),
        ..view.plan(ViewRole::Command, overlays, NetworkRule::On, target)
    };
    let mut command: Vec<OsString> = vec![OWN_PROGRAM.into(), PROBE_ROLE.into(), target.into()];
    command.extend(view.outside_directories().into_iter().map(Into::into));
    let argv = view.entrance(&plan, "test/plan", &command)?;
    let ended = capture(&argv, &ProcessEnvironment::inherited(), Path::new("/"), TEST_LIMITS);
    let report = super::read_report(&plan);
    super::remove_layer(&view.directory.join("test"))?;
    let words = match ended {
        Ok(output) => String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        Err(error) => error.to_string(),
    };
    if let Some(report) = report.as_ref().filter(|report| report.end == Some(CommandEnd::Exited(0)))
        && let Some(conditions) = conditions
    {
        let passed = PassedTest {
            conditions,
            has_landlock_scopes: report.has_landlock_scopes,
            landlock_abi: report.landlock_abi,
        };
        // A test that is not remembered is made again. Open runs would report a file that is new beside theirs.
        view.workspace.state.while_no_run_is_open(|| drop(test_cache(view.workspace).store(&passed)));
    }
    Ok(match report {
        Some(report) if report.end == Some(CommandEnd::Exited(0)) => Ok(report),
        Some(ViewReport { end: Some(end), .. }) => Err(SelfTestFailure {
            cause: format!("a test in the view could write outside of it, or not inside ({end:?})"),
            cure: "report this to the authors of Probity, with the output of `findmnt`".into(),
        }),
        Some(ViewReport { failure: Some(failure), .. }) => Err(explain(&failure)),
        _ => Err(SelfTestFailure {
            cause: format!("the view could not be built: {words}"),
            cure: "run `probity doctor` for details".into(),
        }),
    })
}

/// Returns why the files of a tree cannot be edited in a view: the view of an ordinary user knows one user and one group,
/// and the kernel copies no file of another into its layer (`EOVERFLOW`). The root stands for the files below it.
fn foreign_owner_failure(root: &Path) -> Option<SelfTestFailure> {
    let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
    if user.is_root() {
        return None;
    }
    let facts = std::fs::metadata(root).ok()?;
    // Nobody expects to edit what cannot be written outside of a view either.
    rustix::fs::access(root, rustix::fs::Access::WRITE_OK).ok()?;
    unmapped_owner(root, (facts.uid(), facts.gid()), (user.as_raw(), group.as_raw()))
}

fn unmapped_owner(root: &Path, owner: (u32, u32), own: (u32, u32)) -> Option<SelfTestFailure> {
    let cause = if owner.0 != own.0 {
        format!("user {}, and you are user {}", owner.0, own.0)
    } else if owner.1 != own.1 {
        format!("group {}, and your own group is {}", owner.1, own.1)
    } else {
        return None;
    };
    Some(SelfTestFailure {
        cause: format!("{} belongs to {cause}: no view can copy such files", root.display()),
        cure: format!("sudo chown -R {}:{} {}", own.0, own.1, root.display()),
    })
}

impl RunView<'_> {
    /// Returns directories that must not be writable in the view.
    pub(super) fn outside_directories(&self) -> Vec<PathBuf> {
        let target = overlay_target(self.workspace);
        let is_private = |path: &Path| {
            path.starts_with("/dev/shm")
                || PRIVATE_DIRECTORIES.iter().any(|private| path.starts_with(private))
        };
        let is_opened = |path: &Path| {
            let opened = self.home.persist.iter().chain(&self.home.scratch);
            opened.into_iter().any(|opened| path.starts_with(opened))
        };
        let parent = target.parent().filter(|parent| !is_private(parent));
        let fixed = ["/", "/usr"].map(Path::new);
        let outside = parent.into_iter().chain(fixed).filter(|path| !is_opened(path));
        outside.map(Path::to_owned).collect()
    }
}

/// A test that was passed.
#[derive(Serialize, Deserialize)]
struct PassedTest {
    conditions: TestConditions,
    has_landlock_scopes: bool,
    landlock_abi: Option<u32>,
}

impl PassedTest {
    /// Returns what a test would report now.
    fn report(&self) -> Result<ViewReport, ServiceError> {
        let failed = |failure: ViewFailure| ServiceError::System {
            what: "cannot find the sockets of services".into(),
            source: std::io::Error::other(failure),
        };
        Ok(ViewReport {
            failure: None,
            end: Some(CommandEnd::Exited(0)),
            n_masked_sockets: probity_sandbox::n_masked_sockets().map_err(failed)?,
            has_landlock_scopes: self.has_landlock_scopes,
            landlock_abi: self.landlock_abi,
        })
    }
}

/// What the result of a test depends on, as far as it can change between two runs.
#[derive(PartialEq, Eq, Serialize, Deserialize)]
struct TestConditions {
    /// The kernel, since it started.
    boot_id: String,
    /// The namespaces in which a view is opened.
    namespaces: Vec<PathBuf>,
    /// The values of [`NAMESPACE_SETTINGS`].
    settings: Vec<Option<String>>,
    user: (u32, u32),
    /// Device, inode and change of the program, which is started again in each role.
    program: (u64, u64, i64),
    /// The covered directory and that of the layers, with their devices.
    directories: Vec<(PathBuf, u64)>,
}

impl TestConditions {
    /// Returns the conditions of this moment; `None` if they cannot be determined.
    fn of(view: &RunView<'_>) -> Option<Self> {
        let read = |file: &str| std::fs::read_to_string(file).ok();
        let program = std::fs::metadata(OWN_PROGRAM).ok()?;
        let namespaces =
            ["user", "mnt", "pid"].map(|name| std::fs::read_link(format!("/proc/self/ns/{name}")));
        let covered = [overlay_target(view.workspace), view.workspace.state.dir()];
        let covered = covered.into_iter().chain(view.git_outside());
        let device = |path: &Path| Some((path.to_owned(), std::fs::metadata(path).ok()?.dev()));
        Some(Self {
            boot_id: read("/proc/sys/kernel/random/boot_id")?,
            namespaces: namespaces.into_iter().collect::<Result<_, _>>().ok()?,
            settings: NAMESPACE_SETTINGS.iter().map(|(file, ..)| read(file)).collect(),
            user: (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw()),
            program: (program.dev(), program.ino(), program.ctime()),
            directories: covered.map(device).collect::<Option<_>>()?,
        })
    }
}

fn test_cache(workspace: &Workspace) -> CacheFile {
    CacheFile::new(workspace.state.view_test_cache(&workspace.root), VIEW_TEST_CACHE)
}

/// Forgets that a test was passed: a view could not be built, or was no good.
pub(crate) fn forget_test(workspace: &Workspace) {
    // Caches may be removed at any time.
    let _ = durable::remove(&workspace.state.view_test_cache(&workspace.root));
}

fn explain(failure: &ViewFailure) -> SelfTestFailure {
    let cause = failure.to_string();
    let is_denied = failure.errno == Some(rustix::io::Errno::PERM.raw_os_error())
        || failure.errno == Some(rustix::io::Errno::ACCESS.raw_os_error())
        || failure.errno == Some(rustix::io::Errno::NOSPC.raw_os_error());
    let is_set = |(file, value, _): &&(&str, &str, &str)| {
        std::fs::read_to_string(file).is_ok_and(|text| text.trim() == *value)
    };
    if let Some((file, value, cure)) = NAMESPACE_SETTINGS.iter().find(is_set).filter(|_| is_denied) {
        let setting = file.trim_start_matches("/proc/sys/").replace('/', ".");
        return SelfTestFailure { cause: format!("{cause} ({setting} is {value})"), cure: (*cure).into() };
    }
    let cure = if failure.step.starts_with("lay an overlay") {
        "move the repository to a file system with extended attributes that is no overlay itself, such as ext4, xfs or btrfs"
    } else if is_denied {
        "in a container, allow user namespaces: `--security-opt seccomp=unconfined --security-opt systempaths=unconfined`; \
         Linux refuses them in a chroot, so use a container instead"
    } else {
        "use Linux 5.13 or later with user namespaces and overlayfs"
    };
    SelfTestFailure { cause, cure: cure.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_of_another_group_has_no_view() {
        let root = Path::new("/srv/shop");
        assert_eq!(unmapped_owner(root, (1000, 1000), (1000, 1000)), None);
        let failure = unmapped_owner(root, (1000, 50), (1000, 1000)).expect("another group");
        assert!(failure.cause.contains("belongs to group 50, and your own group is 1000"), "{failure:?}");
        assert_eq!(failure.cure, "sudo chown -R 1000:1000 /srv/shop");
        let failure = unmapped_owner(root, (0, 1000), (1000, 1000)).expect("another user");
        assert!(failure.cause.contains("belongs to user 0, and you are user 1000"), "{failure:?}");
    }
}
