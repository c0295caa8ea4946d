//! The mounts of a view. Runs in the entrance, after it has entered its namespaces.

use crate::mount_table::{MountEntry, mount_entries};
use crate::{OverlayMount, ScratchOverlays, ViewFailure, ViewPlan};
use rustix::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use rustix::fs::{CWD, FileType, Mode, OFlags, StatVfsMountFlags, XattrFlags};
use rustix::io::Errno;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MountFlags, MountPropagationFlags, MoveMountFlags,
    OpenTreeFlags, UnmountFlags,
};
use std::collections::BTreeSet;
use std::ffi::{CStr, OsStr, OsString};
use std::fs;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// An attribute of the kind that the kernel gives to the files of a layer.
const LAYER_ATTRIBUTE: &str = "user.overlay.test";

const MOUNT_TABLE: &str = "/proc/self/mountinfo";

/// Directories that every view has for itself, empty at first.
const PRIVATE_DIRECTORIES: [&str; 3] = ["/tmp", "/var/tmp", "/run"];

/// Parts of `/run` without which names of hosts and users are not found.
const NAME_SERVICES: [&str; 2] = ["/run/systemd/resolve", "/run/nscd"];

/// Devices that every program may use; the others give access to the machine.
const DEVICES: [&str; 6] = ["null", "zero", "full", "random", "urandom", "tty"];

const DEVICE_LINKS: [(&str, &str); 5] = [
    ("pts/ptmx", "/dev/ptmx"),
    ("/proc/self/fd", "/dev/fd"),
    ("fd/0", "/dev/stdin"),
    ("fd/1", "/dev/stdout"),
    ("fd/2", "/dev/stderr"),
];

/// Builds the mounts of the plan and covers `sockets`; returns the number of sockets that were covered.
pub(crate) fn build(plan: &ViewPlan, sockets: &BTreeSet<PathBuf>) -> Result<usize, ViewFailure> {
    let root = Path::new("/");
    rustix::mount::mount_change(root, MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)
        .map_err(ViewFailure::at("make mounts private below", root))?;
    // What stays writable is cloned before everything becomes read-only, and put back afterwards.
    let writable: Vec<DetachedMount> = plan
        .writable
        .iter()
        .map(|path| DetachedMount::clone_of(Path::new(path)))
        .collect::<Result<_, _>>()?;
    // All layers are opened before the first one is mounted: they may be in a target, of any overlay, where a layer below
    // would hide them. The state of a repository is in its git directory, and that of a linked worktree is a target.
    let planned: Vec<OverlayMount> =
        scratch_overlays(&plan.scratch)?.into_iter().chain(plan.overlays.iter().cloned()).collect();
    let layers: Vec<OverlayLayers> = planned.iter().map(OverlayLayers::open).collect::<Result<_, _>>()?;
    let overlays: Vec<DetachedMount> = planned
        .iter()
        .zip(&layers)
        .map(|(overlay, layers)| DetachedMount::overlay(Path::new(&overlay.target), layers))
        .collect::<Result<_, _>>()?;
    let terminal = controlling_terminal();
    make_read_only()?;
    let visible: Vec<DetachedMount> =
        plan.visible.iter().map(|path| DetachedMount::clone_of(Path::new(path))).collect::<Result<_, _>>()?;
    let name_services: Vec<DetachedMount> =
        NAME_SERVICES.iter().filter_map(|path| DetachedMount::clone_of(Path::new(path)).ok()).collect();
    mount_devices(terminal)?;
    for directory in PRIVATE_DIRECTORIES.map(Path::new).into_iter().filter(|directory| directory.is_dir()) {
        mount_empty(directory, MountFlags::empty(), c"mode=1777")?;
    }
    // One over a directory that is private anyway lies below everything else that is mounted in it.
    let is_private =
        |overlay: &DetachedMount| PRIVATE_DIRECTORIES.iter().any(|path| overlay.target == Path::new(path));
    let (around, overlays): (Vec<_>, Vec<_>) = overlays.into_iter().partition(is_private);
    for mount in around.into_iter().chain(name_services).chain(visible).chain(writable).chain(overlays) {
        mount.attach()?;
    }
    for path in plan.read_only.iter().map(Path::new).filter(|path| path.exists()) {
        make_part_read_only(path)?;
    }
    let n_masked_sockets = mask_sockets(sockets)?;
    for path in plan.hidden.iter().map(Path::new) {
        hide(path)?;
    }
    Ok(n_masked_sockets)
}

/// Makes the layers of the scratch overlays, in memory: making and removing them on a disk takes longer than all the rest
/// of a view.
fn scratch_overlays(scratch: &ScratchOverlays) -> Result<Vec<OverlayMount>, ViewFailure> {
    if scratch.targets.is_empty() {
        return Ok(Vec::new());
    }
    let place = Path::new(&scratch.place);
    mount_empty(place, MountFlags::empty(), c"mode=700")?;
    if rustix::fs::setxattr(place, LAYER_ATTRIBUTE, b"y", XattrFlags::empty()).is_err() {
        rustix::mount::unmount(place, UnmountFlags::empty()).map_err(ViewFailure::at("unmount", place))?;
    }
    let overlay = |(index, target): (usize, &OsString)| {
        let [upper, work] = ["upper", "work"].map(|name| place.join(index.to_string()).join(name));
        for directory in [&upper, &work] {
            fs::create_dir_all(directory).map_err(ViewFailure::at("create", directory))?;
        }
        let mode = fs::metadata(target).map_or(0o755, |facts| facts.permissions().mode() & 0o7777);
        // A cache with other permission bits still works for its owner.
        let _ = fs::set_permissions(&upper, fs::Permissions::from_mode(mode));
        Ok(OverlayMount { target: target.clone(), below: None, upper: upper.into(), work: work.into() })
    };
    scratch.targets.iter().enumerate().map(overlay).collect()
}

/// A mount that is not part of the tree yet.
struct DetachedMount {
    mount: OwnedFd,
    target: PathBuf,
    is_directory: bool,
}

impl DetachedMount {
    /// Clones what is mounted at and below `target`.
    fn clone_of(target: &Path) -> Result<Self, ViewFailure> {
        let flags =
            OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC | OpenTreeFlags::AT_RECURSIVE;
        let mount = rustix::mount::open_tree(CWD, target, flags).map_err(ViewFailure::at("keep", target))?;
        Ok(Self { mount, target: target.to_owned(), is_directory: target.is_dir() })
    }

    fn overlay(target: &Path, layers: &OverlayLayers) -> Result<Self, ViewFailure> {
        if let Some(below) = &layers.below {
            // Layers inside of each other cannot be lower layers of one overlay, and the state of a repository lies in
            // its tree. One overlay below the other does the same.
            Self::mount_overlay(target, below, true)?.attach()?;
        }
        Self::mount_overlay(target, &layers.own, false)
    }

    fn mount_overlay(target: &Path, layers: &OpenLayers, is_read_only: bool) -> Result<Self, ViewFailure> {
        let lower = open_layer(target)?;
        // Layers are named by descriptor: a path may hold the separators of mount options or be too long for one.
        let named = |layer: &OwnedFd| format!("/proc/self/fd/{}", layer.as_raw_fd());
        let mounted = |is_volatile: bool| -> rustix::io::Result<OwnedFd> {
            let system = rustix::mount::fsopen("overlay", FsOpenFlags::FSOPEN_CLOEXEC)?;
            rustix::mount::fsconfig_set_string(system.as_fd(), "source", "probity")?;
            rustix::mount::fsconfig_set_flag(system.as_fd(), "userxattr")?;
            // Without an index a layer may be looked at by several views at once.
            rustix::mount::fsconfig_set_string(system.as_fd(), "index", "off")?;
            rustix::mount::fsconfig_set_string(system.as_fd(), "lowerdir", named(&lower).as_str())?;
            rustix::mount::fsconfig_set_string(system.as_fd(), "upperdir", named(&layers.upper).as_str())?;
            rustix::mount::fsconfig_set_string(system.as_fd(), "workdir", named(&layers.work).as_str())?;
            if is_read_only {
                rustix::mount::fsconfig_set_flag(system.as_fd(), "ro")?;
            }
            if is_volatile {
                rustix::mount::fsconfig_set_flag(system.as_fd(), "volatile")?;
            }
            rustix::mount::fsconfig_create(system.as_fd())?;
            let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
            rustix::mount::fsmount(system.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, attributes)
        };
        // Otherwise every file that is copied into the layer is flushed, and at the end the whole file system of the layer.
        // A layer that is kept is flushed by those who keep it. The kernel refuses this where a write to that file system failed before.
        let mount = match mounted(!is_read_only) {
            Err(Errno::IO | Errno::INVAL) if !is_read_only => mounted(false),
            mount => mount,
        };
        let mount = mount.map_err(ViewFailure::at("lay an overlay over", target))?;
        Ok(Self { mount, target: target.to_owned(), is_directory: true })
    }

    /// Puts the mount at its place, which may be in a directory that is empty in the view.
    fn attach(self) -> Result<(), ViewFailure> {
        if self.is_directory {
            fs::create_dir_all(&self.target).map_err(ViewFailure::at("create", &self.target))?;
        } else if !self.target.exists() {
            create_file(&self.target)?;
        }
        let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH;
        rustix::mount::move_mount(self.mount.as_fd(), c"", CWD, &self.target, flags)
            .map_err(ViewFailure::at("mount", &self.target))
    }
}

/// The layers of an overlay, held open.
struct OverlayLayers {
    own: OpenLayers,
    below: Option<OpenLayers>,
}

impl OverlayLayers {
    fn open(overlay: &OverlayMount) -> Result<Self, ViewFailure> {
        let below = overlay.below.as_ref().map(|below| OpenLayers::open(&below.upper, &below.work));
        Ok(Self { own: OpenLayers::open(&overlay.upper, &overlay.work)?, below: below.transpose()? })
    }
}

/// The directories of a layer, held open.
struct OpenLayers {
    upper: OwnedFd,
    work: OwnedFd,
}

impl OpenLayers {
    fn open(upper: &OsStr, work: &OsStr) -> Result<Self, ViewFailure> {
        forget_volatile_mount(Path::new(work))?;
        Ok(Self { upper: open_layer(Path::new(upper))?, work: open_layer(Path::new(work))? })
    }
}

/// Removes the mark that a volatile mount leaves in its work directory. It keeps layers from being mounted again, because
/// they may be incomplete after a power failure; what becomes of a layer of ours is decided by the digests of its files.
fn forget_volatile_mount(work: &Path) -> Result<(), ViewFailure> {
    let mark = work.join("work/incompat");
    match fs::remove_dir_all(&mark) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(ViewFailure::at("prepare", &mark)(error))
        }
        _ => Ok(()),
    }
}

fn open_layer(path: &Path) -> Result<OwnedFd, ViewFailure> {
    rustix::fs::open(path, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
        .map_err(ViewFailure::at("open the layer", path))
}

fn create_file(path: &Path) -> Result<(), ViewFailure> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(ViewFailure::at("create", parent))?;
    }
    fs::write(path, "").map_err(ViewFailure::at("create", path))
}

/// Makes every mount read-only.
fn make_read_only() -> Result<(), ViewFailure> {
    let table = Path::new(MOUNT_TABLE);
    let entries = mount_entries(&fs::read(table).map_err(ViewFailure::at("read", table))?);
    for entry in &entries {
        match remount_read_only(&entry.mount_point, kept_flags(entry)) {
            // Another mount covers this one, so that its path leads elsewhere or nowhere.
            Ok(()) | Err(Errno::NOENT | Errno::INVAL | Errno::NOTDIR | Errno::ACCESS) => {}
            Err(error) => return Err(ViewFailure::at("make read-only", &entry.mount_point)(error)),
        }
    }
    // What could not be changed for another reason is found here.
    for entry in &entries {
        if let Ok(status) = rustix::fs::statvfs(&entry.mount_point)
            && !status.f_flag.contains(StatVfsMountFlags::RDONLY)
        {
            let error = std::io::Error::other("it is still writable");
            return Err(ViewFailure::at("make read-only", &entry.mount_point)(error));
        }
    }
    Ok(())
}

fn remount_read_only(mount_point: &Path, kept: MountFlags) -> rustix::io::Result<()> {
    rustix::mount::mount_remount(mount_point, MountFlags::BIND | MountFlags::RDONLY | kept, c"")
}

/// Returns the options of a mount that must be given again: a namespace may not lose those it inherited.
fn kept_flags(entry: &MountEntry) -> MountFlags {
    entry.options.iter().fold(MountFlags::empty(), |flags, option| {
        flags
            | match option.as_str() {
                "nosuid" => MountFlags::NOSUID,
                "nodev" => MountFlags::NODEV,
                "noexec" => MountFlags::NOEXEC,
                "noatime" => MountFlags::NOATIME,
                "nodiratime" => MountFlags::NODIRATIME,
                "relatime" => MountFlags::RELATIME,
                "nosymfollow" => MountFlags::NOSYMFOLLOW,
                _ => MountFlags::empty(),
            }
    })
}

/// Makes `path`, which is below something writable, read-only.
fn make_part_read_only(path: &Path) -> Result<(), ViewFailure> {
    let made = rustix::mount::mount_bind_recursive(path, path).and_then(|()| {
        let flags = rustix::fs::statvfs(path)?.f_flag;
        let mut kept = MountFlags::empty();
        kept.set(MountFlags::NOSUID, flags.contains(StatVfsMountFlags::NOSUID));
        kept.set(MountFlags::NODEV, flags.contains(StatVfsMountFlags::NODEV));
        kept.set(MountFlags::NOEXEC, flags.contains(StatVfsMountFlags::NOEXEC));
        kept.set(MountFlags::NOATIME, flags.contains(StatVfsMountFlags::NOATIME));
        kept.set(MountFlags::RELATIME, flags.contains(StatVfsMountFlags::RELATIME));
        remount_read_only(path, kept)
    });
    made.map_err(ViewFailure::at("make read-only", path))
}

fn mount_empty(target: &Path, flags: MountFlags, options: &CStr) -> Result<(), ViewFailure> {
    let flags = flags | MountFlags::NOSUID | MountFlags::NODEV;
    rustix::mount::mount("tmpfs", target, "tmpfs", flags, options)
        .map_err(ViewFailure::at("mount an empty directory at", target))
}

/// Clones the terminal of the standard streams, if there is one: in the view its own device would have no name.
fn controlling_terminal() -> Option<DetachedMount> {
    let path = (0..3).find_map(|stream| {
        let path = fs::read_link(format!("/proc/self/fd/{stream}")).ok()?;
        path.starts_with("/dev/pts").then_some(path)
    })?;
    let mount = DetachedMount::clone_of(&path).ok()?;
    Some(DetachedMount { target: PathBuf::from("/dev/console"), ..mount })
}

/// Replaces `/dev` by one that has only harmless devices, terminals of its own and private shared memory.
///
/// A read-only mount does not stop writes to a device, and root would reach disks through it.
fn mount_devices(terminal: Option<DetachedMount>) -> Result<(), ViewFailure> {
    let directory = Path::new("/dev");
    let devices: Vec<DetachedMount> =
        DEVICES.iter().filter_map(|name| DetachedMount::clone_of(&directory.join(name)).ok()).collect();
    rustix::mount::mount("tmpfs", directory, "tmpfs", MountFlags::NOSUID | MountFlags::NOEXEC, c"mode=755")
        .map_err(ViewFailure::at("mount an empty directory at", directory))?;
    for device in devices.into_iter().chain(terminal) {
        device.attach()?;
    }
    let terminals = Path::new("/dev/pts");
    fs::create_dir(terminals).map_err(ViewFailure::at("create", terminals))?;
    let flags = MountFlags::NOSUID | MountFlags::NOEXEC;
    rustix::mount::mount("devpts", terminals, "devpts", flags, c"newinstance,ptmxmode=0666,mode=620")
        .map_err(ViewFailure::at("mount", terminals))?;
    let shared_memory = Path::new("/dev/shm");
    fs::create_dir(shared_memory).map_err(ViewFailure::at("create", shared_memory))?;
    mount_empty(shared_memory, MountFlags::empty(), c"mode=1777")?;
    for (target, link) in DEVICE_LINKS {
        std::os::unix::fs::symlink(target, link).map_err(ViewFailure::at("create", Path::new(link)))?;
    }
    Ok(())
}

/// Covers the sockets: who answers there works outside of the view. A program may have renamed its socket or linked it to
/// another name since it was bound, as ssh does, so that all sockets beside it are covered as well.
fn mask_sockets(sockets: &BTreeSet<PathBuf>) -> Result<usize, ViewFailure> {
    let mut n_masked = 0;
    for path in masked_sockets(sockets) {
        n_masked += usize::from(mask_socket(&path)?);
    }
    Ok(n_masked)
}

/// Returns the sockets to cover: the listed ones that are there, and all beside them.
pub(crate) fn masked_sockets(sockets: &BTreeSet<PathBuf>) -> BTreeSet<PathBuf> {
    let directories: BTreeSet<&Path> = sockets.iter().filter_map(|path| path.parent()).collect();
    // A directory that is not there, or that this user cannot read, is looked at by the listed names alone.
    let beside = directories.into_iter().flat_map(fs::read_dir).flatten().flatten();
    let beside = beside.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_socket()));
    let is_socket = |path: &&PathBuf| {
        rustix::fs::lstat(*path)
            .is_ok_and(|status| FileType::from_raw_mode(status.st_mode) == FileType::Socket)
    };
    let listed = sockets.iter().filter(is_socket).cloned();
    beside.map(|entry| entry.path()).chain(listed).collect()
}

/// Covers a socket; returns false if it is gone.
fn mask_socket(path: &Path) -> Result<bool, ViewFailure> {
    match rustix::mount::mount_bind("/dev/null", path) {
        Err(Errno::NOENT) => Ok(false),
        masked => masked.map(|()| true).map_err(ViewFailure::at("cover", path)),
    }
}

fn hide(path: &Path) -> Result<(), ViewFailure> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(ViewFailure::at("hide", path)(error)),
        Ok(metadata) if metadata.is_dir() => mount_empty(path, MountFlags::RDONLY, c"mode=555"),
        // The mount would cover what the link leads to.
        Ok(metadata) if metadata.is_symlink() => {
            let error = std::io::Error::other("it is a symbolic link");
            Err(ViewFailure::at("hide", path)(error))
        }
        Ok(_) => cover_file(path),
    }
}

fn cover_file(path: &Path) -> Result<(), ViewFailure> {
    rustix::mount::mount_bind("/dev/null", path).map_err(ViewFailure::at("cover", path))
}

/// Mounts the process table of the view; runs in its process 1, whose namespace it shows.
pub(crate) fn mount_process_table() -> Result<(), ViewFailure> {
    let directory = Path::new("/proc");
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    rustix::mount::mount("proc", directory, "proc", flags, None)
        .map_err(ViewFailure::at("mount", directory))?;
    if !rustix::process::geteuid().is_root() {
        return Ok(());
    }
    // Root could change the machine's settings here.
    for name in ["sys", "sysrq-trigger", "irq", "bus"] {
        let path = directory.join(name);
        if path.exists() {
            make_part_read_only(&path)?;
        }
    }
    Ok(())
}
