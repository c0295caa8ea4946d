//! Tests that a tree always gives the same bytes, regardless of caches, location and number of threads.

use super::*;
use probity_workspace::CancellationToken;
use proptest::prelude::*;
use std::fs;
use std::path::{Path, PathBuf};

const FILES: [(&str, &str); 6] = [
    ("pkg/__init__.py", ""),
    ("pkg/a.py", "from pkg import b\n\n\ndef add(x, y):\n    total = x + y\n    return total\n"),
    ("pkg/b.py", "from pkg import a\n\n\ndef _unused():\n    return 1\n"),
    ("web/app.js", "import './missing';\nexport function run(a) { return a ? 1 : 2; }\n"),
    ("tool.swift", "print(1)\n"),
    ("pyproject.toml", "[project]\nname = \"pkg\"\n"),
];

/// Writes `FILES` to a new directory and returns its workspace.
fn tree(dir: &Path, name: &str) -> Workspace {
    let root = dir.join(name);
    for (path, text) in FILES {
        write(&root, path, text);
    }
    Workspace::find(Some(&root), Path::new("/")).expect("is found")
}

fn write(root: &Path, path: &str, text: &str) -> PathBuf {
    let path = root.join(path);
    fs::create_dir_all(path.parent().expect("a parent")).expect("creates");
    fs::write(&path, text).expect("writes");
    path
}

fn policy_of(workspace: &Workspace) -> Policy {
    workspace.load_policy().expect("a policy").policy
}

fn analyzed(workspace: &Workspace, options: AnalyzeOptions) -> AnalysisResult {
    analyze(workspace, &policy_of(workspace), &options, &|_| ()).expect("analyses")
}

fn warm(workspace: &Workspace) -> AnalysisResult {
    analyzed(workspace, AnalyzeOptions::default())
}

#[test]
fn two_checkouts_in_different_folders_give_identical_bytes() {
    let dir = tempfile::tempdir().expect("a directory");
    let [one, other] = ["one", "some/where/else"].map(|name| tree(dir.path(), name));
    write(&other.root, "target/CACHEDIR.TAG", "");
    write(&other.root, "target/out.py", "def f(): pass\n");
    let (first, second) = (warm(&one), analyzed(&other, AnalyzeOptions { n_threads: Some(1), cold: true }));
    assert_eq!(first.run, second.run);
    assert_eq!(first.report_digest, second.report_digest);
    assert_eq!(second.left_out.iter().map(ToString::to_string).collect::<Vec<_>>(), ["target"]);
}

#[test]
fn an_edit_of_one_file_parses_one_file_and_gives_what_a_cold_run_gives() {
    let dir = tempfile::tempdir().expect("a directory");
    let workspace = tree(dir.path(), "tree");
    let first = warm(&workspace);
    assert_eq!((first.n_parsed, first.is_known), (4, false));
    let again = warm(&workspace);
    assert_eq!((again.n_parsed, again.is_known), (0, true));
    assert_eq!(again.run, first.run);
    write(&workspace.root, "pkg/a.py", "def add(x, y, z):\n    return x + y + z\n");
    let edited = warm(&workspace);
    assert_eq!((edited.n_parsed, edited.is_known), (1, false));
    assert_ne!(edited.run.id, first.run.id);
    let cold = analyzed(&workspace, AnalyzeOptions { cold: true, ..AnalyzeOptions::default() });
    assert_eq!(cold.n_parsed, 4);
    assert_eq!(cold.run, edited.run);
}

const EDITED_FILES: [&str; 5] = ["pkg/a.py", "pkg/b.py", "pkg/c.py", "web/app.js", "web/lib.js"];

/// Returns a file made of pieces that copy, import and name each other: what one file says depends on the others.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("from pkg import b\n\n\n"),
        Just("from pkg.c import _helper, gone\n\n\n"),
        Just("import './lib';\n"),
        Just("def _helper(rows):\n    return [row for row in rows if row]\n\n\n"),
        Just("def use(rows):\n    return _helper(rows)\n\n\n"),
        Just(LONG_FUNCTION),
        Just(RENAMED_FUNCTION),
        Just(EDITED_FUNCTION),
        Just(
            "class Shop(Base):\n    def total(self, a, b, c, d, e, f, g):\n        return self.price * a\n\n\n"
        ),
    ];
    proptest::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat())
}

const LONG_FUNCTION: &str = "def collect(items, limit):\n    found = []\n    for item in items:\n        if item.size > limit:\n            found.append(item.name)\n        elif item.parent is not None:\n            found.extend(item.parent.names())\n    found.sort()\n    total = sum(len(name) for name in found)\n    report(total, found[0], found[-1])\n    return found, total\n\n\n";
const RENAMED_FUNCTION: &str = "def gather(entries, most):\n    known = []\n    for entry in entries:\n        if entry.size > most:\n            known.append(entry.name)\n        elif entry.parent is not None:\n            known.extend(entry.parent.names())\n    known.sort()\n    count = sum(len(name) for name in known)\n    report(count, known[0], known[-1])\n    return known, count\n\n\n";
const EDITED_FUNCTION: &str = "def select(items, limit):\n    found = []\n    for item in items:\n        if item.size > limit:\n            found.append(item.name)\n            note(item)\n        elif item.parent is not None:\n            found.extend(item.parent.names())\n    found.sort()\n    total = sum(len(name) for name in found)\n    report(total, found[0], found[-1])\n    return found, total\n\n\n";

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Whatever was edited, removed and put back: caches give the bytes that a cold analysis gives, and only what was
    /// edited is parsed.
    #[test]
    fn after_any_edits_warm_and_cold_give_the_same_bytes(
        steps in proptest::collection::vec((0..EDITED_FILES.len(), proptest::option::weighted(0.85, text())), 1..8),
    ) {
        let dir = tempfile::tempdir().expect("a directory");
        let [edited, cold] = ["edited", "cold"].map(|name| tree(dir.path(), name));
        warm(&edited);
        for (file, text) in steps {
            for workspace in [&edited, &cold] {
                match &text {
                    Some(text) => drop(write(&workspace.root, EDITED_FILES[file], text)),
                    None => drop(fs::remove_file(workspace.root.join(EDITED_FILES[file]))),
                }
            }
            let found = warm(&edited);
            let expected = analyzed(&cold, AnalyzeOptions { cold: true, ..AnalyzeOptions::default() });
            prop_assert!(found.n_parsed <= 1, "{} files parsed", found.n_parsed);
            prop_assert_eq!(&found.run, &expected.run);
            prop_assert_eq!(found.report_digest, expected.report_digest);
            let file = |workspace: &Workspace| fs::read(workspace.state.runs().join(found.run.id.0.to_hex()));
            prop_assert_eq!(file(&edited).expect("is stored"), file(&cold).expect("is stored"));
        }
    }
}

#[test]
fn damaged_caches_and_runs_change_nothing() {
    let dir = tempfile::tempdir().expect("a directory");
    let workspace = tree(dir.path(), "tree");
    let first = warm(&workspace);
    for path in [workspace.state.facts(), workspace.state.runs().join(first.run.id.0.to_hex())] {
        let mut bytes = fs::read(&path).expect("is there");
        let middle = bytes.len() / 2;
        bytes[middle] ^= 0xff;
        fs::write(&path, bytes).expect("writes");
    }
    let again = warm(&workspace);
    assert!(!again.is_known);
    assert_eq!(again.run, first.run);
    assert_eq!(warm(&workspace).report_digest, first.report_digest);
}

#[test]
fn what_is_not_analyzed_says_why() {
    let dir = tempfile::tempdir().expect("a directory");
    let workspace = tree(dir.path(), "tree");
    write(&workspace.root, "probity.toml", "[analysis]\nexclude = [\"old/**\"]\nmax_file_bytes = 200\n");
    write(&workspace.root, "old/x.py", "x = 1\n");
    write(&workspace.root, "big.py", &"x = 1\n".repeat(100));
    let run = warm(&workspace).run;
    let notes: Vec<(String, Vec<FileNote>)> = run
        .files
        .iter()
        .filter(|file| !file.is_analyzed())
        .map(|file| (file.path.to_string(), file.notes.clone()))
        .collect();
    let expected = [
        ("big.py", FileNote::TooLarge),
        ("old/x.py", FileNote::Excluded),
        ("tool.swift", FileNote::UnknownLanguage),
    ];
    assert_eq!(notes, expected.map(|(path, note)| (path.to_owned(), vec![note])));
}

#[test]
fn a_setting_that_makes_no_sense_is_refused() {
    let dir = tempfile::tempdir().expect("a directory");
    let workspace = tree(dir.path(), "tree");
    write(&workspace.root, "probity.toml", "[analysis]\nexclude = [\"a/[\"]\n");
    let fault = analyze(&workspace, &policy_of(&workspace), &AnalyzeOptions::default(), &|_| ())
        .expect_err("is refused");
    assert_eq!(fault.exit_code(), probity_api::ExitCode::Refused);
}

#[test]
fn a_call_that_is_given_up_ends_at_any_step_and_stores_nothing() {
    let dir = tempfile::tempdir().expect("a directory");
    for last in [ProgressStep::Looking, ProgressStep::Reading(1, 5), ProgressStep::Comparing] {
        let is_given_up = Arc::new(std::sync::atomic::AtomicBool::new(false));
        let mut workspace = tree(dir.path(), "tree");
        let asked = Arc::clone(&is_given_up);
        workspace.cancellation = CancellationToken::new("analyze", move || asked.load(Ordering::Relaxed));
        let progress =
            |step| is_given_up.store(step == last || is_given_up.load(Ordering::Relaxed), Ordering::Relaxed);
        let options = AnalyzeOptions { n_threads: Some(1), cold: true };
        let fault =
            analyze(&workspace, &policy_of(&workspace), &options, &progress).expect_err("is given up");
        assert_eq!(fault.code(), ReasonCode::UsageCancelled.as_str(), "{last:?}");
        assert!(AnalysisStore::open(&workspace).digests().is_empty(), "{last:?}");
    }
}
