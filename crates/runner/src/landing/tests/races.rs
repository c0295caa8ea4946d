//! Several processes land on shared files, and a disk becomes full.

use super::*;
use std::process::{Child, Command, Stdio};

const APPENDS: &str = "PROBITY_TEST_APPENDS";
const FILLS: &str = "PROBITY_TEST_FILLS";
const N_PROCESSES: usize = 4;

fn n_rounds() -> usize {
    std::env::var("PROBITY_LANDING_RACES").ok().and_then(|text| text.parse().ok()).unwrap_or(12)
}

fn child(name: &str) -> Command {
    let mut child = Command::new(std::env::current_exe().expect("this test"));
    child.args(["--nocapture", "--exact", &format!("landing::tests::races::{name}")]);
    child
}

/// Appends a line to the shared file in a layer of its own, again and again, and says which lines landed.
fn append(dir: &Path, who: &str) {
    let fixture = Fixture::at(dir);
    for round in 0..n_rounds() {
        let run_id = format!("{who}-{round}");
        let layer = fixture.workspace.state.layer(&run_id);
        fs::create_dir_all(layer.join("upper")).expect("creates");
        let start = fixture.snapshot();
        let content = fs::read_to_string(fixture.root().join("counter")).expect("reads");
        let upper = Writer(layer.join("upper"));
        upper.file("counter", &format!("{content}{run_id}\n")).file(&format!("made/{run_id}"), "x");
        let after = start.with_layer(&upper.0, fixture.root(), &fixture.options()).expect("is seen");
        let changes = probity_snapshot::delta(&start, &after);
        let plan = LandingPlan { run_id: &run_id, layer, start: &start, changes: &changes };
        let outcome = land(&fixture.workspace, &plan).expect("answers");
        // What was read must be what the snapshot saw; else this landing would itself undo somebody's line.
        let is_landed = matches!(outcome, LandingOutcome::Landed { .. });
        println!("line {run_id} {}", if is_landed { "landed" } else { "refused" });
    }
}

#[test]
fn no_update_is_lost_when_several_processes_land_on_one_file() {
    if let Some(dir) = std::env::var_os(APPENDS) {
        return append(Path::new(&dir), &std::process::id().to_string());
    }
    let dir = tempfile::tempdir().expect("a directory");
    fs::create_dir(dir.path().join("tree")).expect("creates");
    let fixture = Fixture::at(dir.path());
    fixture.in_tree().file("counter", "").directory("made");
    let name = "no_update_is_lost_when_several_processes_land_on_one_file";
    let children: Vec<Child> = (0..N_PROCESSES)
        .map(|_| child(name).env(APPENDS, dir.path()).stdout(Stdio::piped()).spawn().expect("starts"))
        .collect();
    let (mut landed, mut refused) = (Vec::new(), Vec::new());
    for child in children {
        let output = child.wait_with_output().expect("ends");
        assert!(output.status.success());
        let text = String::from_utf8(output.stdout).expect("text");
        for line in text.lines().filter_map(|line| line.strip_prefix("line ")) {
            match line.split_once(' ').expect("two words") {
                (run_id, "landed") => landed.push(run_id.to_owned()),
                (run_id, _) => refused.push(run_id.to_owned()),
            }
        }
    }
    assert_eq!(landed.len() + refused.len(), N_PROCESSES * n_rounds());
    let counter = fs::read_to_string(fixture.root().join("counter")).expect("reads");
    let mut found: Vec<String> = counter.lines().map(str::to_owned).collect();
    found.sort();
    landed.sort();
    assert_eq!(found, landed, "every landed line is there once, and no other");
    for run_id in &refused {
        assert!(!fixture.root().join("made").join(run_id).exists(), "{run_id} was refused");
    }
    println!("{} landed, {} refused, 0 lost", landed.len(), refused.len());
}

/// Lands a layer that is larger than the disk, then a small one.
fn land_on_full_disk(dir: &Path) {
    fs::create_dir(dir.join("tree")).expect("creates");
    let fixture = Fixture::at(dir);
    fixture.in_tree().file("a", "a\n").file("b", "b\n");
    let start = fixture.snapshot();
    // The layer is there once; staging it needs as much again.
    fixture.in_layer().file("a", "edited\n").file("big", &"x".repeat(5 << 20)).gone("b");
    let wanted = fixture.wanted(&start);
    let error = fixture.land_since(&start).expect_err("there is no room");
    assert!(error.to_string().contains("big"), "{error}");
    assert_eq!(fixture.snapshot().root(), start.root());
    assert!(fixture.workspace.state.landings(fixture.root()).expect("lists").is_empty());
    assert_eq!(fixture.wanted(&start).root(), wanted.root(), "the layer is as it was");
    fs::remove_file(fixture.upper().join("big")).expect("removes");
    fixture.land_all(&start);
}

#[test]
fn a_full_disk_leaves_the_tree_and_the_layer_as_they_are() {
    if let Some(dir) = std::env::var_os(FILLS) {
        return land_on_full_disk(Path::new(&dir));
    }
    let dir = tempfile::tempdir().expect("a directory");
    let test = child("a_full_disk_leaves_the_tree_and_the_layer_as_they_are");
    let script = "mount -t tmpfs -o size=8m none \"$1\" || exit 77; shift; exec \"$@\"";
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--mount", "sh", "-c", script, "sh"]).arg(dir.path());
    command.arg(test.get_program()).args(test.get_args()).env(FILLS, dir.path());
    match command.output() {
        Ok(output)
            if output.status.code() == Some(77)
                || output.status.code() == Some(1) && output.stdout.is_empty() =>
        {
            probity_testkit::skip!("a file system cannot be mounted here");
        }
        Ok(output) => {
            let printed = String::from_utf8_lossy(&output.stdout).into_owned()
                + &String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{printed}");
        }
        Err(error) => probity_testkit::skip!("unshare does not start: {error}"),
    }
}
