//! Landings whose process is killed after each of its steps.
//!
//! `PROBITY_LANDING_KILLS=N` makes the last test kill N processes instead of a few.

use super::super::crash_point::{ABORT_VARIABLE, WRITE_VARIABLE};
use super::*;
use std::process::Command;

/// Names the directory in which a child process lands, or recovers.
const LANDS: &str = "PROBITY_TEST_LANDS";
const RECOVERS: &str = "PROBITY_TEST_RECOVERS";

/// Lands in a child process that aborts at the place `abort`; returns whether it ended by itself.
fn run_child(role: &str, dir: &Path, abort: u64, write: Option<&str>) -> bool {
    let mut child = Command::new(std::env::current_exe().expect("this test"));
    child.args(["--exact", "landing::tests::kills::a_kill_at_any_place_leaves_all_or_nothing"]);
    child.env(role, dir).env(ABORT_VARIABLE, abort.to_string());
    child.envs(write.map(|write| (WRITE_VARIABLE, write)));
    child.output().expect("starts").status.success()
}

/// Does the work of a child process; returns whether this is one.
fn is_child() -> bool {
    if let Some(dir) = std::env::var_os(LANDS) {
        let fixture = Fixture::at(Path::new(&dir));
        fixture.land_since(&fixture.snapshot()).expect("answers");
        return true;
    }
    if let Some(dir) = std::env::var_os(RECOVERS) {
        recover_landings(&Fixture::at(Path::new(&dir)).workspace).expect("recovers");
        return true;
    }
    false
}

/// A tree with its layer, and the two states it may be in.
struct KillCase {
    dir: tempfile::TempDir,
    fixture: Fixture,
    before: Snapshot,
    after: Snapshot,
}

impl KillCase {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        fs::create_dir(dir.path().join("tree")).expect("creates");
        let fixture = Fixture::at(dir.path());
        every_kind_of_change(&fixture.in_tree(), &fixture.in_layer());
        let before = fixture.snapshot();
        let after = fixture.wanted(&before);
        Self { dir, fixture, before, after }
    }

    fn progress(&self) -> Option<LandingProgress> {
        let landings = self.fixture.workspace.state.landings(self.fixture.root()).expect("lists");
        landings.first().map(|(_, directory)| LandingDirectory::at(directory.clone()).progress())
    }

    /// Recovers as the next start does, and requires all or nothing.
    fn recover_and_check(&self) {
        let progress = self.progress();
        let tree = crate::run::take_tree(&self.fixture.workspace, "the next start").expect("is free");
        crate::recover::close_interrupted(&self.fixture.workspace, true).expect("recovers");
        let has_landed = matches!(progress, Some(LandingProgress::Decided | LandingProgress::Landed));
        let expected = if has_landed { &self.after } else { &self.before };
        assert_eq!(probity_snapshot::delta(expected, &self.fixture.snapshot()), [], "{progress:?}");
        let settled = self.progress();
        assert!(settled.is_none() || settled == Some(LandingProgress::Landed), "{settled:?}");
        if !has_landed {
            drop(tree);
            self.fixture.land_all(&self.before);
        }
    }
}

#[test]
fn a_kill_at_any_place_leaves_all_or_nothing() {
    if is_child() {
        return;
    }
    let mut n_kills = 0;
    loop {
        let case = KillCase::new();
        if run_child(LANDS, case.dir.path(), n_kills, None) {
            assert_eq!(case.fixture.snapshot().root(), case.after.root());
            break;
        }
        case.recover_and_check();
        n_kills += 1;
    }
    assert!(n_kills >= 50, "{n_kills} kills");
}

#[test]
fn a_kill_while_a_landing_is_taken_back_leaves_nothing_of_it() {
    let mut n_kills = 0;
    let mut n_conflicts = 0;
    // Somebody writes to a file after it was checked and before it is exchanged.
    for write_after in [18, 24] {
        for abort in write_after + 1.. {
            let case = KillCase::new();
            let write = format!("{write_after} {}", case.fixture.root().join("run.sh").display());
            let ended = run_child(LANDS, case.dir.path(), abort, Some(&write));
            let _tree = crate::run::take_tree(&case.fixture.workspace, "the next start").expect("is free");
            crate::recover::close_interrupted(&case.fixture.workspace, true).expect("recovers");
            let changes = probity_snapshot::delta(&case.before, &case.fixture.snapshot());
            let paths: Vec<String> = changes.iter().map(|change| change.path.to_string()).collect();
            assert_eq!(paths, ["run.sh"], "abort at {abort}");
            let written = fs::read_to_string(case.fixture.root().join("run.sh")).expect("reads");
            assert_eq!(written, "#!\nsomebody else\n", "no update is lost");
            assert_eq!(case.progress(), None);
            if ended {
                n_conflicts += 1;
                break;
            }
            n_kills += 1;
        }
    }
    assert_eq!(n_conflicts, 2);
    assert!(n_kills >= 50, "{n_kills} kills");
}

/// Kills at places that follow from a counter, in landings and in the recoveries after them.
#[test]
fn recoveries_can_be_killed_too() {
    let wanted: u64 =
        std::env::var("PROBITY_LANDING_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(12);
    let (mut n_kills, mut round) = (0, 0);
    while n_kills < wanted {
        let case = KillCase::new();
        n_kills += u64::from(!run_child(LANDS, case.dir.path(), round * 7 % 61, None));
        for attempt in 0..3 {
            n_kills += u64::from(!run_child(RECOVERS, case.dir.path(), (round * 5 + attempt * 3) % 37, None));
        }
        case.recover_and_check();
        round += 1;
    }
    // Shown with `--nocapture`, for the long mode.
    println!("{n_kills} kills in {round} landings, none half-landed");
}
