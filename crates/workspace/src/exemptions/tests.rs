//! Which changes are exempt, over tables of changes.

use super::*;
use probity_snapshot::{ChangeKind, EntryState};

fn path(name: &str) -> RepoPath {
    RepoPath::parse(name.as_bytes()).expect("a path")
}

fn scope(patterns: &[&str]) -> Scope {
    Scope::parse(patterns).expect("patterns")
}

fn change(kind: ChangeKind, name: &str) -> TreeChange {
    let side = EntryState { kind: SnapshotEntryKind::File, mode: 0o644, size: 0, digest: None };
    let (before, after) = match kind {
        ChangeKind::Added => (None, Some(side)),
        ChangeKind::Modified => (Some(side), Some(side)),
        ChangeKind::Deleted => (Some(side), None),
    };
    TreeChange { path: path(name), change: kind, before, after }
}

#[test]
fn what_git_tracks_is_never_exempt() {
    let tracked = TrackedPaths::with_directories(&[path("dist/kept.js")]);
    let exemptions = Exemptions { build_outputs: scope(&["dist/**"]), tracked, ..Exemptions::default() };
    assert!(!exemptions.exempts(&change(ChangeKind::Modified, "dist/kept.js"), true));
    assert!(!exemptions.exempts(&change(ChangeKind::Deleted, "dist/kept.js"), true));
    assert!(exemptions.exempts(&change(ChangeKind::Added, "dist/made.js"), true));
    assert!(
        exemptions.is_disposable(&path("dist/made.js")) && !exemptions.is_disposable(&path("dist/kept.js"))
    );
}

#[test]
fn where_git_does_not_answer_whatever_was_there_is_judged() {
    let exemptions = Exemptions {
        build_outputs: scope(&["dist/**"]),
        tracked: TrackedPaths::Unknown,
        ..Exemptions::default()
    };
    assert!(!exemptions.exempts(&change(ChangeKind::Modified, "dist/a"), true));
    assert!(exemptions.exempts(&change(ChangeKind::Added, "dist/b"), true));
}

#[test]
fn what_a_gate_executes_is_never_exempt_nor_is_the_way_to_it() {
    let exemptions = Exemptions {
        build_outputs: scope(&["node_modules/**"]),
        gate_inputs: [("lint".into(), [path("node_modules/.bin/eslint")].into())].into(),
        ..Exemptions::default()
    };
    for (kind, name, exempt) in [
        (ChangeKind::Modified, "node_modules/.bin/eslint", false),
        (ChangeKind::Added, "node_modules/.bin/eslint", false),
        (ChangeKind::Modified, "node_modules/.bin", false),
        (ChangeKind::Modified, "node_modules/.bin/tsc", true),
    ] {
        assert_eq!(exemptions.exempts(&change(kind, name), true), exempt, "{name}");
        assert_eq!(exemptions.exempts(&change(kind, name), false), exempt, "{name} by a gate");
    }
}

#[test]
fn in_an_imported_directory_only_new_packages_are_exempt() {
    let exemptions = Exemptions {
        build_outputs: scope(&["**/node_modules/**", ".venv/**"]),
        gate_imports: [("test".into(), scope(&["**/node_modules", ".venv"]))].into(),
        imported_directories: [
            "node_modules",
            "node_modules/.bin",
            "node_modules/mocha",
            "node_modules/mocha/lib",
            ".venv",
            ".venv/bin",
            ".venv/lib",
            ".venv/lib/python3.12",
            ".venv/lib/python3.12/site-packages",
            ".venv/lib/python3.12/site-packages/pytest",
        ]
        .map(path)
        .into(),
        ..Exemptions::default()
    };
    for (kind, name, exempt) in [
        (ChangeKind::Added, "node_modules/new/index.js", true),
        (ChangeKind::Added, "node_modules/@scope/new/index.js", true),
        (ChangeKind::Added, "node_modules/.bin/new", true),
        (ChangeKind::Modified, "node_modules/.package-lock.json", true),
        (ChangeKind::Modified, "node_modules/.cache/x", true),
        (ChangeKind::Added, "web/node_modules/a/index.js", true),
        (ChangeKind::Modified, "node_modules/mocha/lib/run.js", false),
        (ChangeKind::Deleted, "node_modules/mocha/lib/run.js", false),
        (ChangeKind::Added, "node_modules/mocha/lib/evil.js", false),
        (ChangeKind::Added, "node_modules/mocha/new/evil.js", false),
        (ChangeKind::Modified, "node_modules", false),
        (ChangeKind::Added, ".venv/bin/ruff", true),
        (ChangeKind::Added, ".venv/lib/python3.12/site-packages/ruff/a.py", true),
        (ChangeKind::Added, ".venv/lib/python3.12/site-packages/pytest/__pycache__/a.pyc", true),
        (ChangeKind::Modified, ".venv/lib/python3.12/site-packages/pytest/a.py", false),
        (ChangeKind::Added, ".venv/lib/python3.12/site-packages/pytest/a.pyc", false),
        (ChangeKind::Modified, ".venv/pyvenv.cfg", false),
    ] {
        let covered = name != "node_modules";
        let change = change(kind, name);
        assert_eq!(exemptions.exempts(&change, true), exempt, "{name}");
        assert_eq!(exemptions.exempts(&change, false), covered, "{name} by a gate");
    }
}

#[test]
fn a_recognized_directory_is_exempt_whole() {
    let recognized = vec![RecognizedOutput {
        path: path("env"),
        mark: probity_evidence::DirectoryMarker::VirtualEnvironment,
        because: probity_evidence::RecognizedBecause::ToolName,
    }];
    let exemptions = Exemptions { recognized, ..Exemptions::default() };
    assert!(exemptions.exempts(&change(ChangeKind::Added, "env/bin/python"), true));
    assert!(!exemptions.exempts(&change(ChangeKind::Added, "environment"), true));
}
