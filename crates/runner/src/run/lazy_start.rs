//! The start of a run in a view without a walk of the tree.
//!
//! A view keeps the tree as it is, so what the command changed can be compared with the tree afterwards, and the cost
//! follows the change. The one risk is that what others change
//! meanwhile could be mistaken for the state at the start. Their changes show in the ctime of
//! entries and directories, which no program can set: whatever has a ctime before the mark, a file that is made before the
//! command starts, is what it was then. The rest is uncertain, is told, and never lands by itself.
//!
//! Everything that must be known of the whole tree beforehand takes the walk: gates, strict profiles, patterns whose files
//! must be searched, and file systems of which it is not known that every change shows in the times.

use super::sealing::StartedRun;
use crate::view::{self, PrecopiedDirectories, RunView};
use probity_core::Digest;
use probity_evidence::{GlobList, LazyStart, SignatureRule};
use probity_paths::{RepoPath, Scope};
use probity_policy::{Policy, StartLookRule, StrictnessProfile};
use probity_snapshot::git::ZoneSnapshot;
use probity_snapshot::{Snapshot, SnapshotEntryKind, TreeRoot, WalkSelection};
use probity_workspace::exemptions::output_markers::OutputRecognizer;
use probity_workspace::exemptions::{Exemptions, plugins};
use probity_workspace::observe::WorkspaceObserver;
use probity_workspace::selection::{PlanSelection, compute_plan};
use probity_workspace::{ServiceError, Workspace, git};
use rustix::time::{ClockId, clock_gettime};
use std::cell::RefCell;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// Trees with a larger index or stat cache, about 5,000 files, are large.
const LARGE_LISTING_BYTES: u64 = 600_000;

/// Entries looked at to find a file that a pattern covers.
const MAX_SEARCHED_ENTRIES: usize = 1_000;

/// The time that clocks of a machine may lose against each other in a second, in nanoseconds: adjusted, not set.
const MAX_CLOCK_DRIFT_NS: i128 = 1_000_000;

/// What is known of the tree before a command starts without a walk.
pub(super) struct LazyLook {
    policy: Policy,
    mark: StartMark,
    /// Files that the scope covers, one for each pattern, and the directories above them.
    pub(super) files: Vec<RepoPath>,
    pub(super) directories: Vec<RepoPath>,
    pub(super) start: LazyStart,
    /// The directories that were copied into the layer, looked at whole before.
    copied: Vec<RepoPath>,
    known: Snapshot,
}

/// What is known of the start when the command has ended.
pub(super) struct LateStart {
    /// The changed entries as they were, with the directories above them.
    pub(super) content: Snapshot,
    /// The same as the view showed it before the command started.
    pub(super) layered: Snapshot,
    pub(super) exemptions: Exemptions,
    pub(super) recognition: Option<RefCell<OutputRecognizer>>,
    /// Changed paths that may have been something else at the start.
    pub(super) uncertain: Vec<RepoPath>,
    /// Git's own files below the layer, if it holds some.
    pub(super) zone: Option<ZoneSnapshot>,
}

/// A moment by the clock of the file system and by those of the machine.
#[derive(Debug, Clone, Copy)]
struct StartMark {
    /// Nanoseconds, like the others.
    file_time: i64,
    clock: i128,
    uptime: i128,
}

impl StartMark {
    /// Makes the mark; `None` if it is on another file system than the tree, or times there are whole seconds.
    fn set(file: &Path, root: &TreeRoot) -> Result<Option<Self>, ServiceError> {
        let failed = ServiceError::system(format!("cannot write {}", file.display()));
        let facts = fs::write(file, b"").and_then(|()| fs::symlink_metadata(file)).map_err(failed)?;
        let is_beside = rustix::fs::fstat(root).is_ok_and(|root| root.st_dev == facts.dev());
        if !is_beside || facts.ctime_nsec() == 0 {
            return Ok(None);
        }
        let (clock_ns, uptime_ns) = clocks();
        let stamp_ns = facts.ctime().saturating_mul(1_000_000_000).saturating_add(facts.ctime_nsec());
        Ok(Some(Self { file_time: stamp_ns, clock: clock_ns, uptime: uptime_ns }))
    }

    /// Returns whether the clock was set back since: then times prove nothing.
    fn clock_was_set_back(&self) -> bool {
        let (clock_ns, uptime_ns) = clocks();
        let passed_ns = uptime_ns - self.uptime;
        let allowed_ns = MAX_CLOCK_DRIFT_NS * (1 + passed_ns / 1_000_000_000);
        clock_ns - self.clock < passed_ns - allowed_ns
    }
}

/// Returns the time of day and the time since the machine started.
fn clocks() -> (i128, i128) {
    let now = |clock| {
        let time = clock_gettime(clock);
        i128::from(time.tv_sec) * 1_000_000_000 + i128::from(time.tv_nsec)
    };
    (now(ClockId::Realtime), now(ClockId::Boottime))
}

impl LazyLook {
    /// Decides whether the tree need not be walked, and looks at what must be known beforehand.
    pub(super) fn choose(
        workspace: &Workspace,
        observer: &WorkspaceObserver<'_>,
        policy: &Policy,
        selection: &PlanSelection,
        view: &RunView<'_>,
    ) -> Result<Option<Self>, ServiceError> {
        let is_wanted = match policy.enforce.start_look {
            StartLookRule::Walk => false,
            StartLookRule::Lazy => true,
            StartLookRule::Auto => is_large(workspace),
        };
        let plan = compute_plan(policy, selection)?;
        let signature = policy.profile(&plan.profile).map(|profile| profile.signature);
        let is_strict = signature == Some(SignatureRule::Required)
            || policy.contract.strictness == StrictnessProfile::Strict;
        let root = observer.root()?;
        if !is_wanted || is_strict || !plan.gates.is_empty() || !root.changes_show_in_times() {
            return Ok(None);
        }
        let Some((files, directories)) = covered_names(&workspace.root, &plan.scope) else { return Ok(None) };
        let Some(identity) = root.identity() else { return Ok(None) };
        let Some(mark) = StartMark::set(&view.directory().join("mark"), root)? else {
            return Ok(None);
        };
        let start = LazyStart {
            head: git::head(workspace)?,
            index: None,
            root_identity: format!("{}:{}", identity.device, identity.inode),
        };
        let (policy, known) = (policy.clone(), observer.unseen());
        Ok(Some(Self { policy, mark, files, directories, start, copied: Vec::new(), known }))
    }

    /// Completes what is sealed.
    pub(super) fn sealed(&self, index: Option<Digest>) -> LazyStart {
        LazyStart { index, ..self.start.clone() }
    }

    /// Copies small directories of the scope into the layer. Returns the tree that is known then, with the layer.
    pub(super) fn precopy(
        &mut self,
        workspace: &Workspace,
        observer: &WorkspaceObserver<'_>,
        upper: &Path,
        scope: &Scope,
    ) -> Result<(Snapshot, PrecopiedDirectories), ServiceError> {
        let (mut small, too_large): (Vec<_>, Vec<_>) = view::literal_directories(scope)
            .into_iter()
            .filter(|path| in_tree(&workspace.root, path).is_dir())
            .partition(|path| view::is_small(&in_tree(&workspace.root, path)));
        if !small.is_empty() {
            self.known = observer.selected(Some(&WalkSelection::of_paths(&small)))?;
            // The way to it may lead through a link.
            let is_directory = |path: &RepoPath| {
                self.known.get(path).map(|it| it.kind()) == Some(SnapshotEntryKind::Directory)
            };
            small.retain(is_directory);
        }
        let mut precopied = view::precopy(&workspace.root, upper, small, &self.known)?;
        precopied.too_large.extend(too_large);
        self.copied.clone_from(&precopied.copied);
        Ok((observer.layered(&self.known, upper)?, precopied))
    }

    /// Looks at what the command changed, in the tree below its layer.
    #[tracing::instrument(name = "look below the layer", skip_all)]
    pub(super) fn complete(
        &self,
        workspace: &Workspace,
        observer: &WorkspaceObserver<'_>,
        begun: &StartedRun<'_>,
        upper: &Path,
    ) -> Result<LateStart, ServiceError> {
        let nothing = |content: Snapshot| LateStart {
            layered: content.clone(),
            content,
            exemptions: Exemptions::default(),
            recognition: None,
            uncertain: Vec::new(),
            zone: None,
        };
        if is_untouched(upper) {
            return Ok(nothing(self.known.clone()));
        }
        let names = observer.layer_names(upper)?;
        let mut below = observer.selected(names.selection.as_ref())?;
        let start_of = |below: &Snapshot| below.united(&self.known, &self.copied);
        let changed = |content: &Snapshot| -> Result<Vec<RepoPath>, ServiceError> {
            let end = observer.layered(content, upper)?;
            Ok(probity_snapshot::delta(content, &end).into_iter().map(|change| change.path).collect())
        };
        let mut content = start_of(&below);
        let paths = changed(&content)?;
        let settings = &self.policy.workspace;
        let can_exempt = settings.recognize_outputs || !settings.build_outputs.is_empty();
        // Where a link leads, and what is a build output, depends on the whole tree.
        let has_links =
            names.has_links || below.entries().any(|entry| entry.kind() == SnapshotEntryKind::Symlink);
        if !paths.is_empty() && (has_links || can_exempt) {
            below = observer.content(None)?;
            content = start_of(&below);
        }
        let root = observer.root()?.identity();
        let root_changed_ns = root.map_or(i64::MAX, |root| root.changed_ns);
        let is_copied =
            |path: &&RepoPath| self.copied.iter().any(|copied| path.is_covered_by(copied.as_bytes()));
        let others = || paths.iter().filter(|path| !is_copied(path));
        let selection = names.selection.as_ref();
        let uncertain = if self.mark.clock_was_set_back() {
            others().cloned().collect()
        } else {
            below.uncertain_since(others(), selection, self.mark.file_time, root_changed_ns)
        };
        let mut late = nothing(content);
        late.uncertain = uncertain;
        if let Some(layered) = &begun.layered_start {
            late.layered = late.content.united(layered, &self.copied);
        }
        if can_exempt && !paths.is_empty() {
            (late.exemptions, late.recognition) =
                self.exemptions(workspace, observer, begun, &below, root_changed_ns)?;
        }
        Ok(late)
    }

    /// Returns the exemptions as they were at the start. What cannot be known any more exempts nothing.
    fn exemptions(
        &self,
        workspace: &Workspace,
        observer: &WorkspaceObserver<'_>,
        begun: &StartedRun<'_>,
        tree: &Snapshot,
        root_changed_ns: i64,
    ) -> Result<(Exemptions, Option<RefCell<OutputRecognizer>>), ServiceError> {
        let is_rule = |path: &RepoPath| {
            let name = path.file_name();
            name == b".gitignore" || probity_evidence::DirectoryMarker::of_file_name(name).is_some()
        };
        let rules: Vec<RepoPath> =
            tree.entries().map(|entry| entry.path().clone()).filter(|path| is_rule(path)).collect();
        let changed = tree.uncertain_since(&rules, None, self.mark.file_time, root_changed_ns);
        let mut policy = self.policy.clone();
        policy.workspace.recognize_outputs &= changed.is_empty() && !self.mark.clock_was_set_back();
        let is_same_git = !begun.start.git_moved(&observer.observe_unseen()?);
        let committed = if is_same_git { git::head_tree(workspace).ok() } else { None };
        let (mut exemptions, recognition) =
            Exemptions::at_start(workspace, &policy, committed.as_ref(), tree)?;
        exemptions.plugin_lists = plugins::plugin_lists(&[&workspace.root], tree);
        Ok((exemptions, recognition.map(RefCell::new)))
    }
}

/// Returns whether nothing was written to a layer.
pub(super) fn is_untouched(upper: &Path) -> bool {
    match fs::read_dir(upper) {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    }
}

/// Returns whether the tree has many files, as far as lists of them show.
fn is_large(workspace: &Workspace) -> bool {
    let index = workspace.git.as_ref().map(|git| git.git_dir.join("index"));
    let lists = [Some(workspace.state.cache(&workspace.root)), index];
    lists.into_iter().flatten().any(|list| fs::metadata(list).is_ok_and(|it| it.len() > LARGE_LISTING_BYTES))
}

fn in_tree(root: &Path, path: &RepoPath) -> std::path::PathBuf {
    root.join(OsStr::from_bytes(path.as_bytes()))
}

/// Returns a file that each including pattern covers, and the directories above it; `None` if one has to be searched.
fn covered_names(root: &Path, scope: &GlobList) -> Option<(Vec<RepoPath>, Vec<RepoPath>)> {
    let (mut files, mut directories) = (Vec::new(), Vec::new());
    for pattern in scope.as_slice().iter().filter(|pattern| !pattern.starts_with(b"!")) {
        let (literal, is_whole) = match pattern.strip_suffix(b"**") {
            Some(above) => (above.strip_suffix(b"/").unwrap_or(above), true),
            None => (&**pattern, false),
        };
        if literal.iter().any(|byte| b"*?[]{}\\".contains(byte)) {
            return None;
        }
        let file = if is_whole {
            file_below(root, literal)?
        } else {
            let path = RepoPath::parse(literal).ok()?;
            fs::symlink_metadata(in_tree(root, &path)).ok().filter(fs::Metadata::is_file)?;
            path
        };
        directories.extend(std::iter::successors(file.parent(), RepoPath::parent));
        files.push(file);
    }
    directories.sort();
    directories.dedup();
    Some((files, directories))
}

/// Finds a file in a directory of the tree; `None` if there is none nearby.
fn file_below(root: &Path, directory: &[u8]) -> Option<RepoPath> {
    let mut waiting = vec![directory.to_vec()];
    let mut n_entries = 0;
    while let Some(directory) = waiting.pop() {
        let place = root.join(OsStr::from_bytes(&directory));
        if !fs::symlink_metadata(&place).ok()?.is_dir() {
            continue;
        }
        for entry in fs::read_dir(place).ok()?.flatten() {
            n_entries += 1;
            if n_entries > MAX_SEARCHED_ENTRIES {
                return None;
            }
            let name = entry.file_name();
            if name.as_bytes().eq_ignore_ascii_case(b".git") {
                continue;
            }
            let path = if directory.is_empty() {
                name.as_bytes().to_vec()
            } else {
                [&*directory, name.as_bytes()].join(&b'/')
            };
            let kind = entry.file_type().ok()?;
            if kind.is_file() {
                return RepoPath::parse(&path).ok();
            }
            if kind.is_dir() {
                waiting.push(path);
            }
        }
    }
    None
}
