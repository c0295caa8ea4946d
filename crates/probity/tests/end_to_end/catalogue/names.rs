//! Cases 30–42: names that are hard to read, to write or to tell apart.

use crate::repo::{Repo, os};
use serde_json::json;

#[test]
fn a_newline_in_a_name_is_reported_on_one_line() {
    let outcome = Repo::new().run("echo x > \"$(printf 'docs/a\\nb')\"");
    outcome.is_out(&["docs/a\nb"]);
    assert!(outcome.words.contains("docs/a\\nb"), "{}", outcome.words);
}

#[test]
fn a_newline_in_a_name_can_be_declared() {
    Repo::new()
        .run_with(&["--creates", "--scope", "docs/a\nb"], "echo x > \"$(printf 'docs/a\\nb')\"")
        .passes();
}

#[test]
fn a_name_that_is_no_text_is_reported_without_loss() {
    let repo = Repo::new();
    let script = "echo x > \"$(printf 'docs/\\377')\"";
    let outcome = repo.run(script);
    outcome.fails_with("RECON.UNTRACKED_DELTA");
    assert_eq!(outcome.json["untracked_delta_paths"], json!([{ "bytes_hex": "646f63732fff" }]));
    let declared = Repo::new();
    declared.run_with(&[os(b"--creates"), os(b"--scope"), os(b"docs/\xff")], script).passes();
}

#[test]
fn a_backslash_is_an_ordinary_character() {
    Repo::new().run(r"echo x > 'src\a.py'").is_out(&[r"src\a.py"]);
}

#[test]
fn names_are_never_trimmed() {
    Repo::new().run("echo x > 'src/a.py '").is_out(&["src/a.py "]);
    Repo::new()
        .run("echo x > ' src'; echo x > \"$(printf 'src/a.py\\n.')\"")
        .is_out(&[" src", "src/a.py\n."]);
}

#[test]
fn case_is_never_folded() {
    Repo::new().run("mkdir SRC; echo x > SRC/a.py").is_out(&["SRC/a.py"]);
}

#[test]
fn git_configuration_does_not_fold_case() {
    let repo = Repo::new();
    repo.sh("git config core.ignorecase true");
    repo.run("echo x > src/A.py").is_out(&["src/A.py"]);
}

#[test]
fn bytes_decide_and_a_look_alike_gets_a_hint() {
    let repo = Repo::new();
    repo.write("cafe\u{301}.txt", "x\n");
    let scope = ["--scope", "caf\u{e9}.txt"];
    let refused = repo.run_with(&scope, "true");
    refused.refused_with("SCOPE.COVERS_NOTHING");
    assert!(refused.words.contains("did you mean `cafe\u{301}.txt`"), "{}", refused.words);
    let outcome =
        repo.run_with(&["--creates", scope[0], scope[1]], "echo y >> \"$(printf 'cafe\\314\\201.txt')\"");
    outcome.is_out(&["cafe\u{301}.txt"]);
    assert!(outcome.words.contains("SCOPE.LOOK_ALIKE"), "{}", outcome.words);
}

#[test]
fn names_beyond_ascii_are_ordinary() {
    let repo = Repo::new();
    repo.write("docs/日本.md", "x\n");
    repo.run_with(&["--scope", "docs/日?.md"], "echo y >> docs/日本.md").passes();
}

#[test]
fn look_alikes_of_git_are_unsafe() {
    for name in [".GIT", ".git ", "git~1", ".Git."] {
        let outcome =
            Repo::new().run_with(&["--scope", "**"], &format!("mkdir '{name}'; echo x > '{name}/config'"));
        outcome.fails_with("UNSAFE.GIT_LOOK_ALIKE");
    }
}

#[test]
fn names_cannot_write_to_the_terminal() {
    let outcome = Repo::new().run("echo x > \"$(printf 'docs/\\033[31m\\342\\200\\256')\"");
    outcome.is_out(&["docs/\u{1b}[31m\u{202e}"]);
    assert!(!outcome.words.contains('\u{1b}') && !outcome.words.contains('\u{202e}'), "{:?}", outcome.words);
    let summary = std::fs::read_to_string(outcome.evidence_dir().join("summary.md")).expect("a summary");
    assert!(!summary.contains('\u{1b}') && !summary.contains('\u{202e}'), "{summary:?}");
}

#[test]
fn a_path_longer_than_the_system_allows_is_seen() {
    // A shell fails once the path is too long; a program that descends step by step does not.
    let script = "import os\nfor _ in range(120):\n  os.mkdir('d' * 60); os.chdir('d' * 60)\nopen('deep', 'w').write('x')";
    let outcome = Repo::new().run(&format!("python3 -c \"{script}\""));
    outcome.fails_with("RECON.UNTRACKED_DELTA");
    let delta = outcome.delta();
    assert_eq!((delta.len(), delta[0].len()), (1, 120 * 61 + 4), "{delta:?}");
}
