//! Gates on restored edits. A supervisor of gates takes care of every child of its process, so these tests have a process of
//! their own and run one after the other.

mod manual_story;

use manual_story::{done, references, restore_lost, story};
use probity_api::merge_audit::GateStatus;
use probity_merges::restore;
use probity_workspace::Workspace;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

static SUPERVISOR: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    SUPERVISOR.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Writes a policy with one gate, a script.
fn write_gate(place: &Path, script: &str) {
    let policy =
        format!("[[gate]]\nid = \"prices\"\nrun = [\"sh\", \"-c\", '{script}']\ntimeout = \"60s\"\n");
    std::fs::write(place.join("probity.toml"), policy).expect("a policy");
}

/// The story with a policy in the merge commit.
fn story_with_gate(command: &str) -> (tempfile::TempDir, Workspace) {
    let (home, workspace) = story();
    let place = home.path();
    write_gate(place, command);
    // The merge commit itself has the policy.
    done(place, "git add probity.toml && git commit -q --amend --no-edit");
    (home, workspace)
}

#[test]
fn the_gates_of_the_project_run_on_the_restored_tree() {
    let _alone = alone();
    let (home, workspace) = story_with_gate("grep -q round shop.py");
    let before = references(home.path());
    let restored = restore(&workspace, &restore_lost(false)).expect("a survival commit");
    let gates: Vec<(&str, GateStatus)> =
        restored.gates.iter().map(|gate| (gate.id.as_str(), gate.status)).collect();
    // The working tree does not have the edit: the gate passes only on the restored tree.
    assert_eq!(gates, [("prices", GateStatus::Pass)]);
    let after = references(home.path());
    assert_eq!(after.lines().filter(|line| !before.contains(line)).count(), 1, "only the branch is new");
}

#[test]
fn edits_that_make_a_gate_fail_are_not_restored() {
    let _alone = alone();
    let (home, workspace) = story_with_gate("! grep round shop.py");
    let before = references(home.path());
    let refused = restore(&workspace, &restore_lost(false)).expect_err("the gate fails").to_string();
    assert!(refused.contains("`prices`") && refused.contains("round(total, 2)"), "{refused}");
    assert!(refused.contains("--skip-gates"), "{refused}");
    assert_eq!(references(home.path()), before, "nothing was written");
    let restored = restore(&workspace, &restore_lost(true)).expect("a survival commit");
    assert!(restored.branch.is_some() && restored.gates.is_empty());
}

#[test]
fn a_gate_that_fails_on_the_merge_too_says_nothing_about_the_edits() {
    let _alone = alone();
    let (_home, workspace) = story_with_gate("false");
    let restored = restore(&workspace, &restore_lost(false)).expect("a survival commit");
    assert!(restored.branch.is_some());
    assert!(restored.gates[0].fails_without, "{:?}", restored.gates);
}

#[test]
fn gates_see_the_tree_as_it_is_committed() {
    let _alone = alone();
    let (home, workspace) = story();
    let place = home.path();
    write_gate(
        place,
        "test -x run.sh && test -L link && test -f deep/below/a && ! test -e loose && ! test -e .git",
    );
    // A filter of the repository would run a program.
    std::fs::write(place.join(".gitattributes"), "*.py filter=evil\n").expect("attributes");
    done(
        place,
        "echo true > run.sh && chmod +x run.sh && ln -s shop.py link && mkdir -p deep/below && echo a > deep/below/a",
    );
    done(place, "git add -A && git commit -q --amend --no-edit && echo loose > loose");
    done(place, "git config filter.evil.smudge 'touch evil; cat' && git config filter.evil.clean cat");
    let restored = restore(&workspace, &restore_lost(false)).expect("a survival commit");
    assert_eq!(restored.gates[0].status, GateStatus::Pass, "{:?}", restored.gates);
    assert!(!place.join("evil").exists());
}
