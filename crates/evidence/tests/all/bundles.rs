//! Bundles on a real file system: written atomically, read without following links.
#![expect(clippy::disallowed_methods, reason = "these tests work with files and a child process")]

use crate::common::{artifacts, key, manifest, trust};
use probity_evidence::bundle::{BundleError, clean_leftovers, read_bundle, write_bundle};
use probity_evidence::{BundleVerdict, verify};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

type Files = BTreeMap<Vec<u8>, Vec<u8>>;

fn files() -> Files {
    manifest().assemble(artifacts(), None, Some(&key())).expect("a bundle").files
}

fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).expect("lists");
    let mut names: Vec<_> =
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn what_is_written_is_read_back_and_verifies() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = write_bundle(dir.path(), "run-1", &files()).expect("writes");
    assert_eq!(path, dir.path().join("run-1"));
    let read = read_bundle(&path).expect("reads");
    assert_eq!(read, files());
    assert_eq!(verify(&read, &trust()).verdict, BundleVerdict::Pass);
    assert_eq!(names(dir.path()), ["run-1"]);
    assert_eq!(fs::metadata(&path).expect("there").permissions().mode() & 0o077, 0, "for its owner only");
}

#[test]
fn a_bundle_is_never_replaced() {
    let dir = tempfile::tempdir().expect("a directory");
    write_bundle(dir.path(), "run-1", &files()).expect("writes");
    let again = write_bundle(dir.path(), "run-1", &Files::new());
    assert!(matches!(again, Err(BundleError::Exists(_))));
    assert_eq!(read_bundle(&dir.path().join("run-1")).expect("reads"), files());
    assert_eq!(names(dir.path()), ["run-1"], "nothing is left behind");
}

#[test]
fn a_write_that_fails_leaves_nothing() {
    let dir = tempfile::tempdir().expect("a directory");
    let too_long = Files::from([(b"a".to_vec(), b"1".to_vec()), ([b'x'; 300].to_vec(), Vec::new())]);
    assert!(matches!(write_bundle(dir.path(), "run-1", &too_long), Err(BundleError::Io { .. })));
    assert_eq!(names(dir.path()), Vec::<String>::new());
}

#[test]
fn names_that_lead_elsewhere_are_refused() {
    let dir = tempfile::tempdir().expect("a directory");
    for bad in ["", ".", "..", "a/b", "/tmp/x", ".partial-x", "a\0b"] {
        assert!(matches!(write_bundle(dir.path(), bad, &files()), Err(BundleError::BadName(_))), "{bad}");
    }
    let escape = Files::from([(b"../x".to_vec(), Vec::new())]);
    assert!(matches!(write_bundle(dir.path(), "run-1", &escape), Err(BundleError::BadName(_))));
    assert_eq!(names(dir.path()), Vec::<String>::new());
}

#[test]
fn links_and_special_files_are_refused_and_not_followed() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = write_bundle(dir.path(), "run-1", &files()).expect("writes");
    let outside = dir.path().join("outside");
    fs::write(&outside, b"ok\n").expect("writes");
    for target in [outside.as_path(), Path::new("logs"), Path::new("nowhere")] {
        symlink(target, path.join("link")).expect("links");
        let refused = read_bundle(&path).expect_err("should be refused");
        assert_eq!(
            refused.reason().map(probity_core::ReasonCode::as_str),
            Some("EVIDENCE.PATH_TRAVERSAL"),
            "{refused}"
        );
        fs::remove_file(path.join("link")).expect("removes");
    }
    rustix::fs::mkfifoat(rustix::fs::CWD, path.join("logs/pipe"), rustix::fs::Mode::RUSR).expect("a pipe");
    assert!(matches!(read_bundle(&path), Err(BundleError::NotAFile { name }) if name == "logs/pipe"));
}

#[test]
fn folders_have_a_bottom() {
    let dir = tempfile::tempdir().expect("a directory");
    fs::create_dir_all(dir.path().join("a/".repeat(12))).expect("makes directories");
    assert!(matches!(read_bundle(dir.path()), Err(BundleError::TooLarge { .. })));
}

#[test]
fn leftovers_are_removed_and_nothing_else() {
    let dir = tempfile::tempdir().expect("a directory");
    write_bundle(dir.path(), "run-1", &files()).expect("writes");
    fs::create_dir_all(dir.path().join(".partial-run-2.1.0/logs")).expect("makes directories");
    fs::write(dir.path().join(".partial-run-2.1.0/logs/x"), b"half").expect("writes");
    assert_eq!(clean_leftovers(dir.path()).expect("cleans"), 1);
    assert_eq!(names(dir.path()), ["run-1"]);
}

#[test]
fn a_bundle_that_is_being_written_is_no_leftover() {
    let dir = tempfile::tempdir().expect("a directory");
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                clean_leftovers(dir.path()).expect("cleans");
            }
        });
        for index in 0..50 {
            write_bundle(dir.path(), &format!("run-{index}"), &files()).expect("writes");
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    assert_eq!(names(dir.path()).len(), 50);
}

/// Names the directory in which a child process writes bundles until it is killed.
const WRITER: &str = "PROBITY_TEST_WRITE_BUNDLES_TO";

#[test]
fn a_killed_writer_leaves_whole_bundles_or_none() {
    if let Some(dir) = std::env::var_os(WRITER) {
        for index in 0.. {
            write_bundle(Path::new(&dir), &format!("run-{index}"), &files()).expect("writes");
        }
    }
    let n_files = files().len();
    // The kill hits every step of the first bundle and of the second.
    for (n_whole, n_more) in (0..2).flat_map(|n_whole| (0..=n_files).map(move |n_more| (n_whole, n_more))) {
        let dir = tempfile::tempdir().expect("a directory");
        let mut writer = Command::new(std::env::current_exe().expect("this test"))
            .args(["bundles::a_killed_writer_leaves_whole_bundles_or_none", "--exact"])
            .env(WRITER, dir.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("starts");
        probity_testkit::wait_until("the writer has got that far", || {
            assert!(writer.try_wait().expect("asks").is_none(), "the writer ended by itself");
            let (partial, whole): (Vec<_>, Vec<_>) =
                names(dir.path()).into_iter().partition(|name| name.starts_with('.'));
            let n_written = partial.iter().map(|name| n_files_in(&dir.path().join(name))).sum();
            (whole.len(), n_written) >= (n_whole, n_more) && !(whole.is_empty() && partial.is_empty())
        });
        writer.kill().expect("kills");
        writer.wait().expect("waits");
        clean_leftovers(dir.path()).expect("cleans");
        let whole = names(dir.path());
        assert!(whole.len() >= n_whole, "a finished bundle is gone: {whole:?}");
        for name in whole {
            assert_eq!(read_bundle(&dir.path().join(&name)).expect("reads"), files(), "{name}");
        }
    }
}

/// Counts the files at or below `path`; entries that vanish meanwhile do not count.
fn n_files_in(path: &Path) -> usize {
    let Ok(entries) = fs::read_dir(path) else { return usize::from(path.is_file()) };
    entries.map(|entry| entry.map_or(0, |entry| n_files_in(&entry.path()))).sum()
}
