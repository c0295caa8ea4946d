//! What a person is told by the commands that govern a run: which words, and what to do next.

use crate::repo::Repo;
use std::process::Output;

/// Everything that was printed, words first.
fn printed(output: &Output) -> String {
    [&output.stderr[..], &output.stdout].map(String::from_utf8_lossy).concat()
}

fn told(repo: &Repo, arguments: &[&str]) -> String {
    printed(&repo.probity(arguments).output().expect("probity starts"))
}

#[test]
fn a_refused_run_names_the_tree_and_no_run() {
    let repo = Repo::new();
    let text = told(&repo, &["run", "--scope", "nowhere/**", "--", "true"]);
    let first = text.lines().next().expect("a line");
    assert_eq!(first, format!("probity run  in {}", repo.path().canonicalize().expect("is real").display()));
    assert!(text.contains("SCOPE.COVERS_NOTHING"), "{text}");
    let refused = repo.run_with(&["--scope", "nowhere/**"], "true");
    refused.refused_with("SCOPE.COVERS_NOTHING");
    assert_eq!(refused.json.get("run_id"), None, "{refused:#?}");
}

#[test]
fn a_failed_gate_shows_the_end_of_its_log_escaped() {
    let repo = Repo::new();
    repo.write(
        "probity.toml",
        "[[gate]]\nid = \"test\"\nrun = [\"sh\", \"-c\", \"seq 1 30; printf '\\\\033[31mred\\\\n' >&2; exit 3\"]\n",
    );
    let text = told(&repo, &["run", "--scope", "src/a.py", "--", "true"]);
    assert!(text.contains("001-test.stdout  the last 10 of 30 lines\n            21\n"), "{text}");
    assert!(text.contains("            30\n") && !text.contains("            20\n"), "{text}");
    assert!(text.contains("001-test.stderr  1 line\n            \\u{1b}[31mred\n"), "{text}");
}
