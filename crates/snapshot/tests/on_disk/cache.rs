//! The cache never changes the result.

use crate::common::{Tree, paths, show};
use probity_paths::RepoPath;
use probity_snapshot::{ObjectFormat, Snapshot, SnapshotOptions, TreeRoot, WalkSelection, delta, touched};
use proptest::prelude::*;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, SystemTime};
use std::{fs, io};

fn with_ids() -> SnapshotOptions {
    SnapshotOptions { git_ids: Some(ObjectFormat::Sha1), ..SnapshotOptions::default() }
}

fn take(tree: &Tree, options: &SnapshotOptions, known: Option<&Snapshot>) -> Snapshot {
    Snapshot::take(&tree.root(), options, known).expect("a snapshot")
}

/// Everything in a snapshot except the time it was taken.
fn told(snapshot: &Snapshot) -> impl PartialEq + std::fmt::Debug + use<> {
    let entries: Vec<_> = snapshot
        .entries()
        .map(|entry| {
            let target = entry.link_target().map(<[u8]>::to_vec);
            let facts = (entry.mode(), entry.size(), entry.mtime_ns(), entry.object(), entry.links());
            (entry.path().clone(), entry.kind(), facts, entry.digest(), target, entry.git_id())
        })
        .collect();
    (snapshot.root(), entries, snapshot.findings().to_vec(), snapshot.notes().to_vec())
}

#[test]
fn an_edit_of_the_same_size_with_its_old_time_is_seen() {
    let tree = Tree::with(&[("a", "one"), ("b", "two")]);
    let old = SystemTime::now() - Duration::from_secs(1000);
    let set_time = || fs::File::options().write(true).open(tree.path("a")).expect("open").set_modified(old);
    set_time().expect("the old time");
    let before = believed(&tree.see());
    tree.next_tick();
    tree.write("a", "ONE");
    set_time().expect("the old time");
    assert_eq!(fs::metadata(tree.path("a")).expect("there").size(), 3);
    let after = take(&tree, &SnapshotOptions::default(), Some(&before));
    assert_eq!(show(&delta(&before, &after)), ["modified a"]);
}

/// Returns `snapshot` with a false digest for the file `a`.
fn lie(snapshot: &Snapshot) -> Snapshot {
    let truth = snapshot.entries().next().and_then(|entry| entry.digest()).expect("a digest");
    let mut bytes = written(snapshot);
    let at = bytes.windows(32).position(|bytes| bytes == truth.as_bytes()).expect("it is in there");
    bytes[at] ^= 1;
    postcard::from_bytes(&bytes).expect("well-formed")
}

fn written(snapshot: &Snapshot) -> Vec<u8> {
    postcard::to_stdvec(snapshot).expect("memory takes every byte")
}

#[test]
fn what_was_written_just_now_or_in_the_future_is_read_again_whatever_the_cache_says() {
    let tree = Tree::with(&[("a", "one")]);
    let truth = tree.see();
    let see = |known: &Snapshot| take(&tree, &SnapshotOptions::default(), Some(known)).root();
    assert_eq!(see(&lie(&truth)), truth.root());
    // The false digest shows where the cache may be trusted.
    assert_ne!(see(&lie(&believed(&truth))), truth.root());
    let future = SystemTime::now() + Duration::from_secs(100_000);
    fs::File::options()
        .write(true)
        .open(tree.path("a"))
        .expect("open")
        .set_modified(future)
        .expect("the time");
    let truth = tree.see();
    assert_eq!(see(&lie(&believed(&truth))), truth.root());
}

#[test]
fn a_directory_whose_known_names_are_gone_is_listed() {
    let tree = Tree::with(&[("dir/name", "one"), ("dir/other", "two")]);
    let truth = tree.see();
    let mut bytes = written(&truth);
    let at = bytes.windows(9).position(|bytes| bytes == b"nameother").expect("it is in there");
    bytes[at] = b'm';
    let lie: Snapshot = postcard::from_bytes(&bytes).expect("well-formed");
    assert_eq!(told(&take(&tree, &SnapshotOptions::default(), Some(&believed(&lie)))), told(&truth));
}

#[test]
fn a_cache_without_git_ids_serves_a_snapshot_that_wants_them_and_the_other_way_round() {
    let tree = Tree::with(&[("a", "hello\n"), ("b/c", "")]);
    tree.link("a", "link");
    let plain = tree.see();
    let full = take(&tree, &with_ids(), Some(&believed(&plain)));
    assert_eq!(told(&full), told(&take(&tree, &with_ids(), None)));
    assert_eq!(told(&take(&tree, &SnapshotOptions::default(), Some(&believed(&full)))), told(&plain));
    let sha256 = SnapshotOptions { git_ids: Some(ObjectFormat::Sha256), ..SnapshotOptions::default() };
    assert_eq!(told(&take(&tree, &sha256, Some(&believed(&full)))), told(&take(&tree, &sha256, None)));
    let id = full.entries().next().and_then(|entry| entry.git_id()).expect("an id");
    assert_eq!(id.to_string(), "ce013625030ba8dba906f756967f9e9ca394464a");
}

#[test]
fn what_was_written_back_is_told_as_touched() {
    let tree = Tree::with(&[("a", "a"), ("b", "b")]);
    let before = tree.see();
    tree.write("a", "A");
    tree.write("a", "a");
    let after = tree.see();
    assert_eq!(delta(&before, &after), []);
    assert_eq!(touched(&before, &after).iter().map(|it| it.path.to_string()).collect::<Vec<_>>(), ["a"]);
}

/// Returns what is known of a tree of which only the file `d/a` was looked at.
fn known_part(tree: &Tree) -> Snapshot {
    let root = TreeRoot::open(&tree.root()).expect("opens");
    let selection = WalkSelection::of_paths(&[RepoPath::parse(b"d/a").expect("a path")]);
    Snapshot::take_selected(&root, &SnapshotOptions::default(), Some(&selection)).expect("a snapshot")
}

/// Returns `part` as if it had all names. It has no git ids, so what follows its time and their absence says so.
fn passed_off_as_whole(part: &Snapshot) -> Snapshot {
    let bytes = written(part);
    let (_, rest): (i64, &[u8]) = postcard::take_from_bytes(&bytes).expect("the start");
    let at = bytes.len() - rest.len() + 1;
    assert_eq!(bytes[at], 0, "it does not have all names");
    let mut bytes = bytes;
    bytes[at] = 1;
    postcard::from_bytes(&bytes).expect("well-formed")
}

#[test]
fn names_are_taken_from_a_whole_snapshot_while_their_directory_is_the_same() {
    let tree = Tree::with(&[("d/a", "a"), ("d/b", "b")]);
    if !TreeRoot::open(&tree.root()).expect("opens").changes_show_in_times() {
        return probity_testkit::skip!("the times of this file system do not tell");
    }
    let see = |known: &Snapshot| paths(&take(&tree, &SnapshotOptions::default(), Some(known)));
    let part = known_part(&tree);
    assert_eq!(see(&believed(&part)), ["d", "d/a", "d/b"], "a part is never believed about names");
    let lie = passed_off_as_whole(&part);
    assert_eq!(see(&lie), ["d", "d/a", "d/b"], "the directory was changed just now");
    // The missing name shows that the directory is not listed.
    assert_eq!(see(&believed(&lie)), ["d", "d/a"]);
    tree.next_tick();
    tree.write("d/c", "c");
    std::fs::remove_file(tree.path("d/c")).expect("removes");
    assert_eq!(see(&believed(&lie)), ["d", "d/a", "d/b"], "the directory changed since");
}

#[test]
fn a_layer_is_not_believed_about_the_names_below_it() {
    let tree = Tree::with(&[("d/a", "a"), ("d/b", "b")]);
    let upper = tree.outside().join("upper");
    fs::create_dir_all(upper.join("d")).expect("creates");
    fs::write(upper.join("d/new"), "new").expect("writes");
    let options = SnapshotOptions::default();
    let merged = tree.see().with_layer(&upper, &tree.root(), &options).expect("is seen");
    assert_eq!(paths(&merged), ["d", "d/a", "d/b", "d/new"]);
    for root in [tree.root(), upper] {
        let with = Snapshot::take(&root, &options, Some(&believed(&merged))).expect("a snapshot");
        assert_eq!(told(&with), told(&Snapshot::take(&root, &options, None).expect("a snapshot")));
    }
}

/// One operation on a small tree.
#[derive(Debug, Clone)]
enum Step {
    Write(u8, u8),
    Remove(u8),
    MakeDir(u8),
    Link(u8, u8),
    Mode(u8, u8),
    Rename(u8, u8),
    /// Two entries change places.
    Exchange(u8, u8),
    /// A file is written through a name outside of the tree that is removed again.
    WriteFromOutside(u8),
    /// The time of the last write is put back.
    OldTime(u8),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..12_u8, 0..4_u8).prop_map(|(path, content)| Step::Write(path, content)),
        2 => (0..12_u8).prop_map(Step::Remove),
        1 => (0..12_u8).prop_map(Step::MakeDir),
        1 => (0..12_u8, 0..12_u8).prop_map(|(path, target)| Step::Link(path, target)),
        1 => (0..12_u8, 0..4_u8).prop_map(|(path, mode)| Step::Mode(path, mode)),
        2 => (0..12_u8, 0..12_u8).prop_map(|(from, to)| Step::Rename(from, to)),
        1 => (0..12_u8, 0..12_u8).prop_map(|(one, other)| Step::Exchange(one, other)),
        1 => (0..12_u8).prop_map(Step::WriteFromOutside),
        1 => (0..12_u8).prop_map(Step::OldTime),
    ]
}

/// Twelve paths on three levels, so that files, directories and links replace each other.
fn name(path: u8) -> String {
    ["a", "a.b", "b", "a/x", "a/y", "b/x", "a/x/p", "a/x/q", "b/x/p", "c", "c/d", "c/d/e"][usize::from(path)]
        .into()
}

/// Performs a step if it is possible.
fn apply(tree: &Tree, step: &Step) {
    let path = |path: &u8| tree.path(&name(*path));
    let _ = match step {
        Step::Write(at, content) => fs::write(path(at), [b'0' + content; 3]),
        Step::Remove(at) => fs::remove_file(path(at)).or_else(|_| fs::remove_dir_all(path(at))),
        Step::MakeDir(at) => fs::create_dir(path(at)),
        Step::Link(at, target) => std::os::unix::fs::symlink(name(*target), path(at)),
        Step::Mode(at, _) if path(at).is_symlink() || !path(at).exists() => Ok(()),
        Step::Mode(at, mode) => {
            tree.mode(&name(*at), 0o700 | u32::from(*mode));
            Ok(())
        }
        Step::Rename(from, to) => fs::rename(path(from), path(to)),
        Step::Exchange(one, other) => exchange(&path(one), &path(other)),
        Step::WriteFromOutside(at) => write_from_outside(tree, &path(at)),
        Step::OldTime(at) => fs::File::open(path(at)).and_then(|it| it.set_modified(SystemTime::UNIX_EPOCH)),
    };
}

fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    Ok(renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE)?)
}

fn write_from_outside(tree: &Tree, file: &Path) -> io::Result<()> {
    let outside = tree.outside().join("other-name");
    if !file.symlink_metadata()?.is_file() {
        return Ok(());
    }
    fs::hard_link(file, &outside)?;
    fs::write(&outside, "out").and(fs::remove_file(&outside))
}

fn apply_all(tree: &Tree, steps: &[Step]) {
    for step in steps {
        apply(tree, step);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// A later edit gets a later time, which the two-second margin guarantees in real use.
    #[test]
    fn a_snapshot_with_a_cache_equals_one_without(before in prop::collection::vec(step(), 0..20),
                                                  after in prop::collection::vec(step(), 0..20)) {
        let tree = Tree::new();
        apply_all(&tree, &before);
        let known = believed(&take(&tree, &with_ids(), None));
        tree.next_tick();
        apply_all(&tree, &after);
        let with = take(&tree, &with_ids(), Some(&known));
        let without = take(&tree, &with_ids(), None);
        prop_assert_eq!(told(&with), told(&without));
        prop_assert_eq!(delta(&known, &with), delta(&known, &without));
    }

    #[test]
    fn roots_are_equal_exactly_when_the_delta_is_empty(before in prop::collection::vec(step(), 0..20),
                                                       after in prop::collection::vec(step(), 0..4)) {
        let tree = Tree::new();
        apply_all(&tree, &before);
        let one = tree.see();
        apply_all(&tree, &after);
        let other = tree.see();
        let differing = delta(&one, &other);
        prop_assert_eq!(one.root() == other.root(), differing.is_empty(), "{:?}", differing);
        // The naive model: compare the two lists of entries.
        let list = |snapshot: &Snapshot| -> Vec<_> {
            snapshot.entries().map(|entry| (entry.path().clone(), entry.kind(), entry.mode(), entry.digest())).collect()
        };
        prop_assert_eq!(one.root() == other.root(), list(&one) == list(&other));
        prop_assert_eq!(paths(&other).len(), other.n_entries());
    }

    #[test]
    fn entries_are_found_by_their_last_name(steps in prop::collection::vec(step(), 0..20)) {
        let tree = Tree::new();
        apply_all(&tree, &steps);
        let snapshot = tree.see();
        for name in [b"a".as_slice(), b"x", b"p", b"none"] {
            let all = snapshot.entries().filter(|entry| entry.path().file_name() == name);
            let all: Vec<_> = all.map(|entry| (entry.path().clone(), entry.kind())).collect();
            let named = snapshot.entries_named(name);
            let named: Vec<_> = named.iter().map(|entry| (entry.path().clone(), entry.kind())).collect();
            prop_assert_eq!(named, all);
        }
    }

    #[test]
    fn bytes_bring_a_snapshot_back(steps in prop::collection::vec(step(), 0..20)) {
        let tree = Tree::new();
        apply_all(&tree, &steps);
        let snapshot = take(&tree, &with_ids(), None);
        prop_assert_eq!(postcard::from_bytes(&written(&snapshot)), Ok(snapshot));
    }

    #[test]
    fn no_bytes_make_it_panic(at in 0..600_usize, to: u8, cut: bool) {
        let tree = Tree::with(&[("a/b", "x"), ("c", "y")]);
        tree.link("c", "d");
        let mut bytes = written(&take(&tree, &with_ids(), None));
        let at = at % bytes.len();
        bytes[at] = to;
        bytes.truncate(if cut { at } else { bytes.len() });
        if let Ok(read) = postcard::from_bytes::<Snapshot>(&bytes) {
            let _ = (told(&read), delta(&read, &tree.see()));
        }
    }
}

/// The same snapshot, as if it had started ten seconds later.
fn believed(snapshot: &Snapshot) -> Snapshot {
    let bytes = written(snapshot);
    let (started_ns, rest): (i64, &[u8]) = postcard::take_from_bytes(&bytes).expect("the start");
    let later = postcard::to_stdvec(&(started_ns + 10_000_000_000)).expect("memory takes every byte");
    postcard::from_bytes(&[&later[..], rest].concat()).expect("well-formed")
}
