//! Mistakes of people and programs are answered with a place, a hint and a next step.

use crate::repo::Repo;
use serde_json::json;

#[test]
fn a_wrong_command_line_is_a_refusal_in_json() {
    let repo = Repo::new();
    for arguments in
        [&["rnu"][..], &["run"], &["evidence", "gc"], &["plan", "--scop", "x"], &["amend", "last"]]
    {
        let outcome = repo.ask(arguments);
        outcome.refused_with("USAGE.INVALID");
        assert_eq!(outcome.json["schema"], "probity/refusal/v1");
        assert!(!outcome.json["message"].as_str().expect("words").contains('\n'), "{outcome:#?}");
    }
    assert!(repo.ask(&["rnu"]).json["message"].to_string().contains("run"), "a hint");
    // A `--json` after `--` belongs to the governed command.
    let output = repo.probity(&["run", "--nonsense", "--", "x", "--json"]).output().expect("starts");
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
}

#[test]
fn a_name_that_is_nearly_right_gets_a_hint() {
    let repo = Repo::new();
    repo.write("probity.toml", "[[pack]]\nid = \"BP-PACK-CODE\"\nscope = [\"src/**\"]\n");
    let says = |arguments: &[&str], hint: &str| {
        let outcome = repo.ask(arguments);
        assert_eq!(outcome.exit_code, Some(2), "{outcome:#?}");
        let message = outcome.json["message"].as_str().expect("words").to_owned();
        assert!(message.ends_with(&format!("did you mean `{hint}`?")), "{message}");
    };
    says(&["plan", "--pack", "BP-PACK-COED"], "BP-PACK-CODE");
    says(&["explain", "GATE.FAILD"], "GATE.FAILED");
    let run = repo.run_with(&["--pack", "BP-PACK-CODE"], "true").json["run_id"].clone();
    let id = run.as_str().expect("an id");
    says(&["evidence", "show", &format!("x{}", &id[1..])], id);
    says(&["evidence", "show", "lst"], "last");
}

#[test]
fn evidence_is_shown_in_rows_without_markup() {
    let repo = Repo::new();
    repo.run("echo x >> src/a.py; echo x >> docs/d.md").is_out(&["docs/d.md"]);
    let output = repo.probity(&["evidence", "show"]).output().expect("starts");
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(!text.contains("##") && !text.contains("**"), "{text}");
    for part in
        ["FAIL", "RECON.UNTRACKED_DELTA", "docs/d.md  out of scope", "src/a.py  in scope", "exit code 0"]
    {
        assert!(text.contains(part), "no `{part}` in {text}");
    }
    assert_eq!(repo.ask(&["evidence", "show"]).json["manifest"]["status"], json!("fail"));
}

#[test]
fn every_workflow_example_installs_probity_before_it_calls_it() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/ci");
    let examples: Vec<_> = std::fs::read_dir(folder).expect("there are examples").flatten().collect();
    assert!(!examples.is_empty());
    for example in examples {
        let text = std::fs::read_to_string(example.path()).expect("it is text");
        // The action installs by itself.
        if text.contains("uses: probity-dev/probity@") {
            continue;
        }
        let lines: Vec<&str> =
            text.lines().map(str::trim).filter(|line| !line.starts_with(['#', '/'])).collect();
        let call = lines.iter().position(|line| line.contains("probity ci")).expect("it calls probity");
        let install = lines.iter().position(|line| line.contains("install.sh"));
        assert!(
            install.is_some_and(|install| install < call),
            "{} never installs it",
            example.path().display()
        );
    }
}
