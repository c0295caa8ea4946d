//! Cases 1–17: the meaning of D ⊆ R without tricks.

use crate::repo::Repo;
use std::time::Instant;

#[test]
fn edit_in_scope_passes() {
    let outcome = Repo::new().run("echo '# more' >> src/a.py");
    outcome.passes();
    assert_eq!(outcome.delta(), ["src/a.py"]);
}

#[test]
fn edit_out_of_scope_fails_and_names_the_path() {
    let outcome = Repo::new().run("echo x >> src/a.py; echo x >> docs/d.md");
    outcome.is_out(&["docs/d.md"]).finds("RECON.UNTRACKED_DELTA", "docs/d.md");
    assert_eq!(outcome.json["reason"], "RECON.UNTRACKED_DELTA");
    assert!(outcome.words.contains("docs/d.md"), "{}", outcome.words);
}

#[test]
fn a_glob_lets_in_what_it_covers() {
    let repo = Repo::new();
    repo.run_with(&["--scope", "src/**"], "echo x >> src/a.py; mkdir src/deep; echo x > src/deep/er.py")
        .passes();
    repo.run_with(&["--scope", "src/*.py"], "mkdir src/other; echo x > src/other/f.py")
        .is_out(&["src/other/f.py"]);
}

#[test]
fn a_double_star_lets_in_any_name() {
    let outcome = Repo::new().run_with(&["--scope", "**"], "echo x > \"$(printf 'a\\nb')\"; echo x > .env");
    outcome.passes();
    assert!(outcome.words.contains("SCOPE.CATCH_ALL"), "{}", outcome.words);
}

#[test]
fn no_change_passes() {
    let outcome = Repo::new().run("true");
    outcome.passes();
    assert!(outcome.delta().is_empty());
}

#[test]
fn deletions_are_judged_like_edits() {
    Repo::new().run("rm src/a.py").passes();
    Repo::new().run("rm docs/d.md").is_out(&["docs/d.md"]);
}

#[test]
fn an_edit_that_was_undone_is_no_change() {
    Repo::new()
        .run("cp docs/d.md ../aside; echo x >> docs/d.md; cat ../aside > docs/d.md; rm ../aside")
        .passes();
}

#[test]
fn dirt_from_before_is_not_in_the_delta() {
    let repo = Repo::new();
    repo.write("docs/d.md", "dirty before\n");
    repo.write("untracked.txt", "there before\n");
    let outcome = repo.run("echo x >> src/a.py");
    outcome.passes();
    assert_eq!(outcome.delta(), ["src/a.py"]);
}

#[test]
fn dirt_from_before_that_changes_again_is() {
    let repo = Repo::new();
    repo.write("docs/d.md", "dirty before\n");
    repo.run("echo more >> docs/d.md").is_out(&["docs/d.md"]);
}

#[test]
fn the_sealed_scope_cannot_be_widened_by_editing_the_policy() {
    let repo = Repo::new();
    repo.write("probity.toml", "[[pack]]\nid = \"P\"\nscope = [\"src/a.py\"]\n");
    let widen = "printf '[[pack]]\\nid = \"P\"\\nscope = [\"**\"]\\n' > probity.toml; echo x >> docs/d.md";
    let outcome = repo.run_with(&["--pack", "P"], widen);
    outcome.is_out(&["docs/d.md", "probity.toml"]).fails_with("PROTECTED.CHANGED");
}

#[test]
fn a_scope_that_could_mean_anything_is_refused() {
    let repo = Repo::new();
    let refusals = [
        ("../x", "SCOPE.LEAVES_ROOT"),
        ("/etc/passwd", "SCOPE.ABSOLUTE"),
        ("src/../x", "SCOPE.DOT_SEGMENT"),
        ("", "SCOPE.EMPTY_PATTERN"),
        ("/", "SCOPE.ABSOLUTE"),
        ("./", "SCOPE.DOT_SEGMENT"),
        ("src/", "SCOPE.TRAILING_SLASH"),
    ];
    for (scope, code) in refusals {
        repo.run_with(&["--scope", scope], "echo x > ran").refused_with(code);
    }
    assert!(!repo.path().join("ran").exists(), "the command ran although its scope was refused");
    // A space is a name, not a wildcard.
    repo.run_with(&["--creates", "--scope", " "], "echo x >> src/a.py").is_out(&["src/a.py"]);
}

#[test]
fn the_last_match_wins() {
    let repo = Repo::new();
    let scope = ["--scope", "src/**", "--scope", "!src/b.py"];
    repo.run_with(&scope, "echo x >> src/a.py").passes();
    repo.run_with(&scope, "echo x >> src/b.py").is_out(&["src/b.py"]);
    let again = ["--scope", "src/**", "--scope", "!src/b.py", "--scope", "src/b.*"];
    repo.run_with(&again, "echo y >> src/b.py").passes();
}

#[test]
fn a_broken_class_is_refused() {
    let repo = Repo::new();
    repo.run_with(&["--scope", "[z-a].py"], "true").refused_with("SCOPE.BAD_RANGE");
    repo.run_with(&["--scope", "src/[ab"], "true").refused_with("SCOPE.UNCLOSED_CLASS");
}

#[test]
fn twelve_stars_are_matched_at_once() {
    // A backtracking matcher needs years for this; a linear one stays far below the bound under any load.
    let began = Instant::now();
    let name = "a".repeat(100);
    let scope = format!("{}b", "*a".repeat(12));
    Repo::new().run_with(&["--creates", "--scope", &scope], &format!("echo x > {name}")).is_out(&[&name]);
    assert!(began.elapsed() < probity_testkit::STUCK_TIMEOUT);
}

#[test]
fn a_new_file_in_a_new_directory_can_be_named() {
    let outcome = Repo::new()
        .run_with(&["--creates", "--scope", "new/deep/f.py"], "mkdir -p new/deep; echo x > new/deep/f.py");
    outcome.passes();
    assert_eq!(outcome.delta(), ["new/deep/f.py"]);
}

#[test]
fn every_file_of_a_new_directory_is_judged() {
    let script = "mkdir -p new/deep; echo x > new/deep/f.py; echo x > new/g.py";
    Repo::new().run_with(&["--creates", "--scope", "new/deep/**"], script).is_out(&["new/g.py"]);
}

#[test]
fn paths_are_recorded_from_the_root_wherever_one_stands() {
    let repo = Repo::new();
    let mut command =
        repo.probity(&["run", "--json", "--scope", "a.py", "--", "sh", "-ec", "echo x >> a.py"]);
    let output = command.current_dir(repo.path().join("src")).output().expect("starts");
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(
        (&json["status"], &json["workspace_delta_paths"][0]),
        (&"pass".into(), &"src/a.py".into()),
        "{json}"
    );
    // A root below git's root is independent of it.
    repo.run_with(&["--root", "src", "--scope", "a.py"], "cd src; echo y >> a.py").passes();
}
