//! Cases 82–89: time, processes and gates.

use crate::repo::{Outcome, Repo, verify};
use std::fs;

fn with_gate(gate: &str) -> Repo {
    let repo = Repo::new();
    repo.write("probity.toml", &format!("[[gate]]\nid = \"check\"\ntier = \"T0\"\n{gate}\n"));
    repo.sh("git add .; git commit -qm policy");
    repo
}

fn log(outcome: &Outcome, ending: &str) -> String {
    let logs = fs::read_dir(outcome.evidence_dir().join("logs")).expect("logs");
    let mut files = logs.map(|entry| entry.expect("an entry").path());
    let file = files.find(|path| path.to_string_lossy().ends_with(ending)).expect("a log");
    fs::read_to_string(file).expect("reads")
}

#[test]
fn a_gate_that_leaves_a_process_fails() {
    let repo = with_gate(r#"run = ["sh", "-c", "(sleep 3600; echo x > docs/late) & exit 0"]"#);
    let outcome = repo.run("true");
    outcome.fails_with("GATE.FAILED").fails_with("GATE.SURVIVORS");
    assert_eq!(repo.n_processes(), 0, "a survivor could write after the verdict");
}

#[test]
fn survivors_of_the_agent_are_ended_and_reported() {
    let repo = Repo::new();
    let outcome = repo.run("(setsid sh -c 'sleep 3600; echo x > docs/late' &) ; exit 0");
    assert!(outcome.json["findings"].to_string().contains("RUN.SURVIVORS"), "{outcome:#?}");
    assert_eq!(repo.n_processes(), 0, "a survivor could write after the verdict");
}

#[test]
fn the_evidence_binds_the_tree() {
    let repo = Repo::new();
    let outcome = repo.run("echo x >> src/a.py");
    let bundle = outcome.evidence_dir();
    let bundle = bundle.to_str().expect("text");
    let tree = repo.path();
    let tree = tree.to_str().expect("text");
    assert_eq!(repo.ask(&["evidence", "verify", bundle, "--tree", tree]).json["outcome"], "PASS");
    repo.write("docs/d.md", "changed after the evidence was written\n");
    let later = repo.ask(&["evidence", "verify", bundle, "--tree", tree]);
    assert_eq!((later.json["outcome"].as_str(), later.exit_code), (Some("FAIL"), Some(1)), "{later:#?}");
}

#[test]
fn gates_are_judged_too_and_may_have_outputs() {
    let writes = r#"run = ["sh", "-c", "mkdir -p out; echo x > out/report"]"#;
    let outcome = with_gate(writes).run("echo x >> src/a.py");
    outcome.is_out(&["out/report"]);
    assert_eq!(outcome.json["gate_delta_paths"], serde_json::json!(["out/report"]));
    let declared = with_gate(&format!("{writes}\noutputs = [\"out/**\"]"));
    declared.run("echo x >> src/a.py").passes();
    // The outputs of a gate are not allowed to the agent.
    declared.run("echo forged > out/other; echo x >> src/a.py").is_out(&["out/other"]);
}

#[test]
fn the_sealed_gate_runs_not_the_edited_one() {
    let repo = with_gate(r#"run = ["false"]"#);
    let outcome =
        repo.run("printf '[[gate]]\\nid = \"check\"\\ntier = \"T0\"\\nrun = [\"true\"]\\n' > probity.toml");
    outcome.fails_with("GATE.FAILED").fails_with("PROTECTED.CHANGED");
    // A script that the gate names and the change touches is reported, in scope or not.
    let repo = with_gate(r#"run = ["sh", "src/a.py"]"#);
    let outcome = repo.run("echo 'exit 0' > src/a.py");
    outcome.passes().finds("GATE.INPUT_CHANGED", "src/a.py");
}

#[test]
fn a_timeout_keeps_output_and_ends_the_whole_group() {
    let script = "(trap '' TERM; echo begun; sleep 3600; echo x > docs/late) & sleep 3600";
    // On a slow machine the time may run out before the script gets that far; then it gets more.
    for timeout in ["300ms", "3s", "30s", "300s"] {
        let repo = with_gate(&format!("run = [\"sh\", \"-c\", \"{script}\"]\ntimeout = \"{timeout}\""));
        let outcome = repo.run("true");
        outcome.fails_with("GATE.FAILED");
        assert_eq!(outcome.json["gate_results"][0]["exit_code"], -1, "{outcome:#?}");
        assert_eq!(repo.n_processes(), 0, "a grandchild outlived its gate");
        if log(&outcome, "stdout").contains("begun") {
            return;
        }
    }
    panic!("what the gate said is not in its log");
}

#[test]
fn a_failed_gate_skips_the_rest() {
    let repo = Repo::new();
    repo.write("probity.toml", "[[gate]]\nid = \"one\"\ntier = \"T0\"\nrun = [\"false\"]\n\
                                [[gate]]\nid = \"two\"\ntier = \"T0\"\nrun = [\"sh\", \"-c\", \"touch ran\"]\n");
    let outcome = repo.run("true");
    outcome.fails_with("GATE.FAILED");
    assert_eq!(outcome.json["gate_results"][1]["status"], "skip", "{outcome:#?}");
    assert!(!repo.path().join("ran").exists());
}

#[test]
fn gates_see_a_clean_environment() {
    let repo = with_gate(r#"run = ["sh", "-c", "env"]"#);
    let mut command = repo.probity(&["run", "--json", "--scope", "src/a.py", "--", "true"]);
    command.env("SECRET_TOKEN", "leak").env("GIT_DIR", "/nowhere");
    let output = command.output().expect("starts");
    let outcome = repo.outcome(&output);
    let environment = log(&outcome, "stdout");
    assert!(!environment.contains("SECRET_TOKEN") && !environment.contains("GIT_DIR"), "{environment}");
    for name in ["PROBITY_RUN_ID=", "PROBITY_REPO_DIR=", "PROBITY_GATE_ID=check", "PATH="] {
        assert!(environment.contains(name), "{name} is missing in {environment}");
    }
}

#[test]
fn two_runs_in_one_tree_are_one_too_many() {
    let repo = Repo::new();
    let script = "touch ../up; while [ ! -e ../go ]; do sleep 0.02; done";
    let mut first = repo.probity(&["run", "--json", "--scope", "src/a.py", "--", "sh", "-c", script]);
    let first = first
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("starts");
    probity_testkit::wait_until("the command runs", || repo.outside().join("up").exists());
    let second = repo.run("true");
    assert_eq!((second.exit_code, &second.json["reason"]), (Some(5), &"RUN.LOCKED".into()), "{second:#?}");
    repo.write("../go", "");
    let first = first.wait_with_output().expect("ends");
    assert!(first.status.success());
    repo.run("true").passes();
}

/// Returns SIGINT, unless the tests were started with it ignored (as a shell's background job): children inherit that,
/// so they get SIGTERM, which means the same to them.
fn request_to_stop() -> rustix::process::Signal {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    let int = rustix::process::Signal::INT;
    if ignored >> (int.as_raw() - 1) & 1 == 1 { rustix::process::Signal::TERM } else { int }
}

#[test]
fn ctrl_c_ends_the_agent_and_still_leaves_evidence() {
    let repo = Repo::new();
    let mut command = repo.probity(&["run", "--json", "--scope", "src/a.py", "--"]);
    command.args(["sh", "-c", "echo x >> docs/d.md; touch ../up; sleep 3600"]);
    let child = command
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("starts");
    probity_testkit::wait_until("the command runs", || repo.outside().join("up").exists());
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, request_to_stop()).expect("is signalled");
    let output = child.wait_with_output().expect("ends");
    let outcome = repo.outcome(&output);
    outcome.is_out(&["docs/d.md"]).fails_with("RUN.CANCELLED");
    assert_eq!(verify(&outcome.evidence_dir(), None).json["outcome"], "FAIL");
}

#[test]
fn what_was_swapped_away_and_back_is_recorded() {
    let swap = "mv docs/d.md ../aside; echo other > docs/d.md; cat docs/d.md; mv ../aside docs/d.md";
    Repo::new().run(swap).passes().finds("TREE.TOUCHED", "docs/d.md");
    Repo::new()
        .run("cp docs/d.md ../aside; cp ../aside docs/d.md")
        .passes()
        .finds("TREE.TOUCHED", "docs/d.md");
    Repo::new().run("mv docs ../aside; mv ../aside docs").passes().finds("TREE.TOUCHED", "docs");
}

#[test]
fn outputs_are_exempt_gate_by_gate() {
    let policy = |second: &str| {
        format!(
            "[[gate]]\nid = \"one\"\ntier = \"T0\"\nrun = [\"sh\", \"-c\", \"echo 1 > report\"]\noutputs = [\"report\"]\n\
             [[gate]]\nid = \"two\"\ntier = \"T0\"\nrun = [\"sh\", \"-c\", \"{second}\"]\n"
        )
    };
    let repo = Repo::new();
    repo.write("probity.toml", &policy("true"));
    repo.run("true").passes();
    repo.write("probity.toml", &policy("echo 2 > report"));
    repo.run("true").is_out(&["report"]);
}
