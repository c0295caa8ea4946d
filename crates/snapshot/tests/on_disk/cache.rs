//! The cache never changes the result.

use crate::common::{Tree, findings, paths, show};
use probity_snapshot::{ObjectFormat, Options, Snapshot, cache, delta, touched};
use proptest::prelude::*;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, SystemTime};

fn with_ids() -> Options {
    Options { git_ids: Some(ObjectFormat::Sha1), ..Options::default() }
}

fn take(tree: &Tree, options: &Options, known: Option<&Snapshot>) -> Snapshot {
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
    let after = take(&tree, &Options::default(), Some(&before));
    assert_eq!(show(&delta(&before, &after)), ["modified a"]);
}

/// Returns `snapshot` with a false digest for the file `a`.
fn lie(snapshot: &Snapshot) -> Snapshot {
    let truth = snapshot.entries().next().and_then(|entry| entry.digest()).expect("a digest");
    let mut bytes = snapshot.to_bytes();
    let at = bytes.windows(32).position(|bytes| bytes == truth.as_bytes()).expect("it is in there");
    bytes[at] ^= 1;
    sealed(bytes)
}

/// Decodes bytes that were changed by hand, with a matching checksum.
fn sealed(mut bytes: Vec<u8>) -> Snapshot {
    let end = bytes.len() - 32;
    let checksum = *probity_core::Digest::of(&bytes[..end]).as_bytes();
    bytes[end..].copy_from_slice(&checksum);
    Snapshot::from_bytes(&bytes).expect("well-formed")
}

#[test]
fn what_was_written_just_now_or_in_the_future_is_read_again_whatever_the_cache_says() {
    let tree = Tree::with(&[("a", "one")]);
    let truth = tree.see();
    let see = |known: &Snapshot| take(&tree, &Options::default(), Some(known)).root();
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
fn a_cache_without_git_ids_serves_a_snapshot_that_wants_them_and_the_other_way_round() {
    let tree = Tree::with(&[("a", "hello\n"), ("b/c", "")]);
    tree.link("a", "link");
    let plain = tree.see();
    let full = take(&tree, &with_ids(), Some(&believed(&plain)));
    assert_eq!(told(&full), told(&take(&tree, &with_ids(), None)));
    assert_eq!(told(&take(&tree, &Options::default(), Some(&believed(&full)))), told(&plain));
    let sha256 = Options { git_ids: Some(ObjectFormat::Sha256), ..Options::default() };
    assert_eq!(told(&take(&tree, &sha256, Some(&believed(&full)))), told(&take(&tree, &sha256, None)));
    let id = full.entries().next().and_then(|entry| entry.git_id()).expect("an id");
    assert_eq!(id.to_string(), "ce013625030ba8dba906f756967f9e9ca394464a");
}

#[test]
fn a_cache_file_comes_back_as_it_was_and_damage_makes_it_nothing() {
    let tree = Tree::with(&[("a/b", "x"), ("c", "y")]);
    tree.link("../out", "escapes");
    tree.link(tree.path("c"), "absolute");
    let file = tree.outside().join("cache");
    let snapshot = take(&tree, &with_ids(), None);
    cache::store(&file, &snapshot).expect("stored");
    assert_eq!(cache::load(&file), Some(snapshot));
    let bytes = fs::read(&file).expect("the cache");
    for at in (0..bytes.len()).step_by(7) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x10;
        fs::write(&file, damaged).expect("damaged");
        assert_eq!(cache::load(&file), None, "damage at {at}");
        fs::write(&file, &bytes[..at]).expect("cut");
        assert_eq!(cache::load(&file), None, "cut at {at}");
    }
    fs::remove_file(&file).expect("removed");
    assert_eq!(cache::load(&file), None);
    assert!(fs::read_dir(tree.outside()).expect("listed").count() == 1, "no draft is left behind");
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

/// One operation on a small tree.
#[derive(Debug, Clone)]
enum Step {
    Write(u8, u8),
    Remove(u8),
    MakeDir(u8),
    Link(u8, u8),
    Mode(u8, u8),
    Rename(u8, u8),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..12_u8, 0..4_u8).prop_map(|(path, content)| Step::Write(path, content)),
        2 => (0..12_u8).prop_map(Step::Remove),
        1 => (0..12_u8).prop_map(Step::MakeDir),
        1 => (0..12_u8, 0..12_u8).prop_map(|(path, target)| Step::Link(path, target)),
        1 => (0..12_u8, 0..4_u8).prop_map(|(path, mode)| Step::Mode(path, mode)),
        2 => (0..12_u8, 0..12_u8).prop_map(|(from, to)| Step::Rename(from, to)),
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
    };
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
    fn bytes_bring_a_snapshot_back(steps in prop::collection::vec(step(), 0..20)) {
        let tree = Tree::new();
        apply_all(&tree, &steps);
        let snapshot = take(&tree, &with_ids(), None);
        prop_assert_eq!(Snapshot::from_bytes(&snapshot.to_bytes()), Ok(snapshot));
    }

    #[test]
    fn no_bytes_make_it_panic(mut bytes: Vec<u8>, cut in 0..200_usize) {
        let tree = Tree::with(&[("a/b", "x"), ("c", "y")]);
        let good = tree.see().to_bytes();
        bytes.splice(0..0, good[..cut.min(good.len())].iter().copied());
        let checksum = probity_core::Digest::of(&bytes);
        bytes.extend_from_slice(checksum.as_bytes());
        if let Ok(read) = Snapshot::from_bytes(&bytes) {
            prop_assert_eq!(read.to_bytes(), bytes);
        }
    }
}

/// The same snapshot, as if it had started ten seconds later.
fn believed(snapshot: &Snapshot) -> Snapshot {
    let mut bytes = snapshot.to_bytes();
    let later = snapshot.started_ns() + 10_000_000_000;
    bytes[11..19].copy_from_slice(&later.to_le_bytes());
    sealed(bytes)
}

/// Written by version 1: a file, a directory with an escaping link in it, and an empty directory.
const GOLDEN_V1: &str = include_str!("../golden/snapshot-v1.hex");

#[test]
fn a_snapshot_of_version_1_can_still_be_read() {
    let digits: Vec<u8> = GOLDEN_V1.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let bytes = hex::decode(digits).expect("hex");
    let snapshot = Snapshot::from_bytes(&bytes).expect("version 1");
    assert_eq!(paths(&snapshot), ["a", "dir", "dir/link", "empty"]);
    assert_eq!(findings(&snapshot), ["UNSAFE.LINK_ESCAPES dir/link"]);
    assert_eq!(
        snapshot.root().to_string(),
        "sha256:0ef3e2c3bfd4db487c3aa1f7748e47fe02e92359c9e94e84fa5653e3c75da9f4"
    );
    let first = snapshot.entries().next().expect("an entry");
    assert_eq!(first.git_id().expect("an id").to_string(), "ce013625030ba8dba906f756967f9e9ca394464a");
    assert_eq!(snapshot.to_bytes(), bytes);
}
