//! Landings on real trees. A layer is built by hand as the kernel would leave it.

mod kills;
mod properties;
mod races;

use super::*;
use probity_snapshot::SnapshotOptions;
use rustix::fs::{CWD, FileType, Mode, XattrFlags};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

/// A tree with its state, and the layer of one run.
pub(super) struct Fixture {
    _dir: Option<tempfile::TempDir>,
    pub(super) workspace: Workspace,
    pub(super) layer: PathBuf,
}

pub(super) const RUN: &str = "r1";

impl Fixture {
    pub(super) fn new() -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        fs::create_dir(dir.path().join("tree")).expect("creates");
        let fixture = Self::at(dir.path());
        Self { _dir: Some(dir), ..fixture }
    }

    /// The tree in `dir`, whose layer need not exist.
    pub(super) fn at(dir: &Path) -> Self {
        let root = dir.join("tree").canonicalize().expect("is there");
        let workspace = Workspace::find(Some(&root), &root).expect("a tree");
        let layer = workspace.state.layer(RUN);
        fs::create_dir_all(layer.join("upper")).expect("creates");
        Self { _dir: None, workspace, layer }
    }

    pub(super) fn root(&self) -> &Path {
        &self.workspace.root
    }

    pub(super) fn upper(&self) -> PathBuf {
        self.layer.join("upper")
    }

    pub(super) fn snapshot(&self) -> Snapshot {
        Snapshot::take(self.root(), &self.options(), None).expect("is seen")
    }

    fn options(&self) -> SnapshotOptions {
        probity_workspace::observe::content_options(&self.workspace)
    }

    /// The tree as the layer wants it.
    pub(super) fn wanted(&self, start: &Snapshot) -> Snapshot {
        start.with_layer(&self.upper(), self.root(), &self.options()).expect("is seen")
    }

    pub(super) fn land_since(&self, start: &Snapshot) -> Result<LandingOutcome, ServiceError> {
        let changes = probity_snapshot::delta(start, &self.wanted(start));
        self.land_changes(start, &changes)
    }

    fn land_changes(&self, start: &Snapshot, changes: &[TreeChange]) -> Result<LandingOutcome, ServiceError> {
        let _tree = FileLock::share(&self.workspace.state.tree_lock(self.root())).expect("shares");
        land(&self.workspace, &LandingPlan { run_id: RUN, layer: self.layer.clone(), start, changes })
    }

    /// Lands the layer and requires the tree to be what the layer wants.
    fn land_all(&self, start: &Snapshot) -> Vec<RepoPath> {
        let wanted = self.wanted(start);
        let outcome = self.land_since(start).expect("lands");
        assert_eq!(probity_snapshot::delta(&wanted, &self.snapshot()), []);
        match outcome {
            LandingOutcome::Landed { paths } => paths,
            LandingOutcome::Conflict { conflicts } => panic!("{conflicts:?}"),
        }
    }

    /// Requires a landing to be refused at `paths`, and to leave everything as it is.
    fn refused(&self, start: &Snapshot, paths: &[&str]) -> Vec<LandingConflict> {
        let before = self.snapshot();
        let LandingOutcome::Conflict { conflicts } = self.land_since(start).expect("answers") else {
            panic!("it landed")
        };
        let found: Vec<String> = conflicts.iter().map(|conflict| conflict.path.to_string()).collect();
        assert_eq!(found, paths);
        assert_eq!(self.snapshot().root(), before.root());
        assert!(self.workspace.state.landings(self.root()).expect("lists").is_empty());
        conflicts
    }

    fn in_tree(&self) -> Writer {
        Writer(self.root().to_owned())
    }

    fn in_layer(&self) -> Writer {
        Writer(self.upper())
    }
}

/// Writes entries below a directory.
pub(super) struct Writer(pub(super) PathBuf);

impl Writer {
    pub(super) fn file(&self, path: &str, content: &str) -> &Self {
        let path = self.parent(path);
        fs::write(path, content).expect("writes");
        self
    }

    fn mode(&self, path: &str, mode: u32) -> &Self {
        fs::set_permissions(self.0.join(path), fs::Permissions::from_mode(mode)).expect("sets the mode");
        self
    }

    fn directory(&self, path: &str) -> &Self {
        fs::create_dir_all(self.0.join(path)).expect("creates");
        self
    }

    fn link(&self, path: &str, target: &str) -> &Self {
        symlink(target, self.parent(path)).expect("links");
        self
    }

    fn gone(&self, path: &str) -> &Self {
        let path = self.parent(path);
        rustix::fs::mknodat(CWD, &path, FileType::CharacterDevice, Mode::empty(), 0).expect("a whiteout");
        self
    }

    fn opaque(&self, path: &str) -> &Self {
        let path = self.0.join(path);
        rustix::fs::setxattr(path, "user.overlay.opaque", b"y", XattrFlags::empty()).expect("a mark");
        self
    }

    fn parent(&self, path: &str) -> PathBuf {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("creates");
        path
    }
}

/// A layer with every kind of change; the tree it belongs to.
pub(super) fn every_kind_of_change(tree: &Writer, layer: &Writer) {
    tree.file("kept", "kept\n").file("edited", "old\n").file("run.sh", "#!\n").file("gone", "gone\n");
    tree.file("dir/a", "a\n").file("dir/b", "b\n").file("dir/sub/c", "c\n");
    tree.file("becomes-dir", "file\n").file("becomes-file/x", "x\n").file("becomes-file/y/z", "z\n");
    tree.link("link", "kept")
        .directory("empty")
        .directory("closed")
        .mode("closed", 0o755)
        .file("remade/old", "old\n");
    layer.file("edited", "new\n").file("run.sh", "#!\n").mode("run.sh", 0o755).gone("gone");
    layer
        .gone("dir/a")
        .gone("dir/sub")
        .file("dir/new", "new\n")
        .file("new/deep/file", "deep\n")
        .directory("new/empty");
    layer.file("becomes-dir/inside", "inside\n").opaque("becomes-dir").file("becomes-file", "now a file\n");
    layer
        .link("link", "edited")
        .link("new-link", "dir/b")
        .gone("empty")
        .directory("closed")
        .mode("closed", 0o700);
    for name in ["1", "2", "3", "4"] {
        layer.file(&format!("more/{name}"), name);
    }
    layer.directory("remade").opaque("remade").file("remade/fresh", "fresh\n").mode("new/deep", 0o750);
}

#[test]
fn every_kind_of_change_lands() {
    let fixture = Fixture::new();
    every_kind_of_change(&fixture.in_tree(), &fixture.in_layer());
    let start = fixture.snapshot();
    let paths = fixture.land_all(&start);
    assert_eq!(paths.len(), 23, "{paths:?}");
    assert!(!fixture.root().join("dir/sub").exists());
    assert!(fixture.root().join("new/empty").is_dir());
    let mode = fs::metadata(fixture.root().join("new/deep")).expect("is there").permissions().mode();
    assert_eq!(mode & 0o7777, 0o750);
    let landed = &fixture.workspace.state.landings(fixture.root()).expect("lists")[0].1;
    assert_eq!(LandingDirectory::at(landed.clone()).progress(), LandingProgress::Landed);
}

#[test]
fn a_directory_that_was_emptied_and_one_that_was_removed_are_told_apart() {
    let fixture = Fixture::new();
    fixture.in_tree().file("emptied/a", "a").file("removed/b", "b");
    let start = fixture.snapshot();
    fixture.in_layer().gone("emptied/a").gone("removed");
    fixture.land_all(&start);
    assert!(fixture.root().join("emptied").is_dir());
    assert!(!fixture.root().join("removed").exists());
}

#[test]
fn what_changed_since_the_start_is_a_conflict_and_nothing_lands() {
    let fixture = Fixture::new();
    fixture.in_tree().file("a", "a").file("b", "b").file("c", "c").file("dir/d", "d");
    let start = fixture.snapshot();
    fixture
        .in_layer()
        .file("a", "agent")
        .file("b", "agent")
        .gone("c")
        .file("dir/new", "agent")
        .file("made", "agent");
    // An edit, a deletion, a file where a directory was, and a new file of the same name.
    fixture.in_tree().file("a", "person").file("made", "person").file("c", "person");
    fs::remove_dir_all(fixture.root().join("dir")).expect("removes");
    fixture.in_tree().file("dir", "person");
    fixture.refused(&start, &["a", "c", "dir/new", "made"]);
}

#[test]
fn what_is_already_as_wanted_is_no_conflict() {
    let fixture = Fixture::new();
    fixture.in_tree().file("a", "a").file("gone", "x");
    let start = fixture.snapshot();
    fixture.in_layer().file("a", "same").gone("gone").file("new", "same").file("other", "o");
    fixture.in_tree().file("a", "same").file("new", "same");
    fs::remove_file(fixture.root().join("gone")).expect("removes");
    assert_eq!(fixture.land_all(&start).len(), 4);
}

#[test]
fn changes_of_others_elsewhere_stay() {
    let fixture = Fixture::new();
    fixture.in_tree().file("dir/a", "a").file("removed/b", "b");
    let start = fixture.snapshot();
    fixture.in_layer().file("dir/a", "agent").gone("removed").file("new/x", "x");
    fixture.in_tree().file("dir/person", "p").file("removed/person", "p").file("new/y", "y");
    assert!(matches!(fixture.land_since(&start).expect("lands"), LandingOutcome::Landed { .. }));
    let read = |path: &str| fs::read_to_string(fixture.root().join(path)).ok();
    assert_eq!(read("dir/a").as_deref(), Some("agent"));
    assert_eq!(read("removed/b"), None);
    for path in ["dir/person", "removed/person", "new/x", "new/y"] {
        assert!(read(path).is_some(), "{path}");
    }
}

#[test]
fn a_link_above_a_path_is_not_followed() {
    let fixture = Fixture::new();
    let outside = tempfile::tempdir().expect("a directory");
    fs::write(outside.path().join("a"), "a").expect("writes");
    fixture.in_tree().file("dir/a", "a");
    let start = fixture.snapshot();
    fixture.in_layer().file("dir/a", "agent").file("dir/new", "agent");
    fs::remove_dir_all(fixture.root().join("dir")).expect("removes");
    symlink(outside.path(), fixture.root().join("dir")).expect("links");
    fixture.refused(&start, &["dir/a", "dir/new"]);
    assert_eq!(fs::read(outside.path().join("a")).expect("reads"), b"a");
    assert!(!outside.path().join("new").exists());
}

#[test]
fn unsafe_entries_never_land() {
    let fixture = Fixture::new();
    fixture.in_tree().file("a", "a").directory("d");
    let start = fixture.snapshot();
    fixture.in_layer().file("tool", "x").mode("tool", 0o4755).link("out", "../../etc").link("d/up", "../a");
    rustix::fs::mknodat(CWD, fixture.upper().join("pipe"), FileType::Fifo, Mode::from_raw_mode(0o600), 0)
        .expect("a pipe");
    let conflicts = fixture.refused(&start, &["out", "pipe", "tool"]);
    assert!(conflicts.iter().all(|conflict| conflict.reason == ReasonCode::LandUnsafe), "{conflicts:?}");
}

#[test]
fn a_virtual_environment_lands_with_the_links_to_its_interpreter() {
    let machine = tempfile::tempdir().expect("a directory");
    let installed = machine.path().join("python3.12");
    fs::write(&installed, "#!/bin/sh\n").expect("writes");
    fs::set_permissions(&installed, fs::Permissions::from_mode(0o755)).expect("sets");
    let settings = machine.path().join("python-settings");
    fs::write(&settings, "x").expect("writes");
    let (installed, settings) = (installed.display().to_string(), settings.display().to_string());
    let environment = |mark: &str| {
        let fixture = Fixture::new();
        fixture.in_tree().file("a", "a");
        let start = fixture.snapshot();
        fixture
            .in_layer()
            .file(&format!(".venv/{mark}"), "home = /usr/bin\n")
            .link(".venv/bin/python", "python3")
            .link(".venv/bin/python3", &installed);
        (fixture, start)
    };
    let (fixture, start) = environment("pyvenv.cfg");
    fixture.land_all(&start);
    assert_eq!(
        fs::read_link(fixture.root().join(".venv/bin/python3")).expect("a link"),
        Path::new(&installed)
    );
    // Without the mark it is no environment.
    let (fixture, start) = environment("other.cfg");
    fixture.refused(&start, &[".venv/bin/python", ".venv/bin/python3"]);
    // Only a program is an interpreter, and only an interpreter has such links.
    let (fixture, start) = environment("pyvenv.cfg");
    fixture.in_layer().link(".venv/bin/python4", &settings).link(".venv/bin/pip", &installed);
    fixture.refused(&start, &[".venv/bin/pip", ".venv/bin/python4"]);
}

#[test]
fn a_layer_that_is_not_the_judged_one_does_not_land() {
    let fixture = Fixture::new();
    fixture.in_tree().file("a", "a").file("b", "b");
    let start = fixture.snapshot();
    fixture.in_layer().file("a", "judged").file("b", "judged");
    let changes = probity_snapshot::delta(&start, &fixture.wanted(&start));
    fixture.in_layer().file("b", "forged");
    let refused = fixture.land_changes(&start, &changes).expect_err("is refused");
    assert_eq!(refused.code(), "LAYER.CHANGED");
    assert_eq!(fixture.snapshot().root(), start.root());
    assert!(fixture.workspace.state.landings(fixture.root()).expect("lists").is_empty());
}

#[test]
fn a_directory_with_an_empty_one_in_it_becomes_a_file() {
    let fixture = Fixture::new();
    fs::create_dir_all(fixture.root().join("c/a")).expect("creates");
    let start = fixture.snapshot();
    fixture.in_layer().file("c", "x");
    fixture.land_all(&start);
}

#[test]
fn some_changes_can_land_without_the_others() {
    let fixture = Fixture::new();
    fixture.in_tree().file("dir/a", "a").file("dir/b", "b");
    let start = fixture.snapshot();
    fixture.in_layer().gone("dir").file("other/new", "n");
    let mut changes = probity_snapshot::delta(&start, &fixture.wanted(&start));
    changes.retain(|change| change.path.to_string() == "dir/a");
    assert!(matches!(fixture.land_changes(&start, &changes).expect("lands"), LandingOutcome::Landed { .. }));
    assert!(!fixture.root().join("dir/a").exists() && fixture.root().join("dir/b").exists());
    assert!(!fixture.root().join("other").exists());
}

#[test]
fn the_marks_of_the_kernel_do_not_land_and_attributes_of_the_tree_stay() {
    let fixture = Fixture::new();
    fixture.in_tree().file("a", "a");
    let attribute = |path: PathBuf, name: &str| {
        let mut value = [0_u8; 8];
        rustix::fs::getxattr(path, name, &mut value).is_ok()
    };
    let mark = |path: PathBuf, name: &str| {
        rustix::fs::setxattr(path, name, b"v", XattrFlags::empty()).expect("marks");
    };
    mark(fixture.root().join("a"), "user.mine");
    let start = fixture.snapshot();
    fixture.in_layer().file("a", "agent");
    mark(fixture.upper().join("a"), "user.overlay.origin");
    mark(fixture.upper().join("a"), "user.agent");
    fixture.land_all(&start);
    assert!(attribute(fixture.root().join("a"), "user.mine"));
    assert!(!attribute(fixture.root().join("a"), "user.overlay.origin"));
    assert!(!attribute(fixture.root().join("a"), "user.agent"));
}

#[test]
fn a_directory_that_forbids_writing_can_be_opened_by_the_same_change() {
    let fixture = Fixture::new();
    fixture.in_tree().file("d/a", "a").mode("d", 0o555);
    let start = fixture.snapshot();
    fixture.in_layer().file("d/a", "agent").mode("d", 0o755);
    fixture.land_all(&start);
    fixture.in_tree().mode("d", 0o755);
}

#[test]
fn a_landing_is_taken_back_by_its_reversal() {
    let fixture = Fixture::new();
    every_kind_of_change(&fixture.in_tree(), &fixture.in_layer());
    let start = fixture.snapshot();
    fixture.land_all(&start);
    let landed = fixture.snapshot();
    let mut reversal = LandingReversal::find(&fixture.workspace, RUN).expect("reads").expect("it has landed");
    let outcome = reversal.land(&fixture.workspace, "r2", &landed, &[]).expect("answers");
    assert!(matches!(outcome, LandingOutcome::Landed { .. }), "{outcome:?}");
    assert_eq!(probity_snapshot::delta(&start, &fixture.snapshot()), []);
    // The reversal is a landing itself, and can be taken back.
    let mut again = LandingReversal::find(&fixture.workspace, "r2").expect("reads").expect("it has landed");
    again.land(&fixture.workspace, "r3", &fixture.snapshot(), &[]).expect("answers");
    assert_eq!(probity_snapshot::delta(&landed, &fixture.snapshot()), []);
}

/// Compilers link what they made from one directory of their output to another.
#[test]
fn what_a_landing_keeps_has_no_other_name_in_the_tree() {
    let fixture = Fixture::new();
    let tree = fixture.in_tree();
    tree.file("replaced", "old 1\n").file("removed", "old 2\n").file("both", "old 3\n");
    for (name, link) in [("replaced", "kept-1"), ("removed", "kept-2"), ("both", "both-too")] {
        fs::hard_link(fixture.root().join(name), fixture.root().join(link)).expect("links");
    }
    let start = fixture.snapshot();
    fixture.in_layer().file("replaced", "new\n").gone("removed").gone("both").gone("both-too");
    fixture.land_all(&start);
    for (link, content) in [("kept-1", "old 1\n"), ("kept-2", "old 2\n")] {
        let path = fixture.root().join(link);
        assert_eq!(fs::metadata(&path).expect("is there").nlink(), 1, "{link}");
        fs::write(path, "later\n").expect("writes");
        let kept = landed_content(&fixture.workspace, &Digest::of(content.as_bytes()));
        assert_eq!(kept.as_deref(), Some(content.as_bytes()));
    }
    assert_eq!(fixture.snapshot().findings(), []);
}

#[test]
fn a_reversal_does_not_overwrite_later_work() {
    let fixture = Fixture::new();
    fixture.in_tree().file("a", "a").file("b", "b");
    let start = fixture.snapshot();
    fixture.in_layer().file("a", "agent").file("b", "agent");
    fixture.land_all(&start);
    fixture.in_tree().file("b", "person");
    let now = fixture.snapshot();
    let mut reversal = LandingReversal::find(&fixture.workspace, RUN).expect("reads").expect("it has landed");
    let outcome = reversal.land(&fixture.workspace, "r2", &now, &[]).expect("answers");
    assert!(matches!(outcome, LandingOutcome::Conflict { .. }), "{outcome:?}");
    assert_eq!(fixture.snapshot().root(), now.root());
    let only = [RepoPath::parse(b"a").expect("a path")];
    let outcome = reversal.land(&fixture.workspace, "r2", &now, &only).expect("answers");
    assert!(matches!(outcome, LandingOutcome::Landed { .. }), "{outcome:?}");
    assert_eq!(fs::read(fixture.root().join("a")).expect("reads"), b"a");
}
