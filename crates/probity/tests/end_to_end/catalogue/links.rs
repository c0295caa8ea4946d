//! Cases 74–80: links, and ways out of the tree.

use crate::repo::Repo;

#[test]
fn an_in_scope_file_replaced_by_an_escaping_link_is_unsafe() {
    let repo = Repo::new();
    let outcome =
        repo.run("echo x > ../target; rm src/a.py; ln -s ../../target src/a.py; echo y >> src/a.py");
    outcome.fails_with("UNSAFE.LINK_ESCAPES").finds("UNSAFE.LINK_ESCAPES", "src/a.py");
    Repo::new().run("rm src/a.py; ln -s /etc/passwd src/a.py").fails_with("UNSAFE.LINK_ESCAPES");
}

#[test]
fn an_escaping_link_from_before_is_reported_and_refused_in_scope() {
    let repo = Repo::new();
    repo.sh("mkdir ../elsewhere; ln -s ../elsewhere out; git add .; git commit -qm link");
    let outcome = repo.run("echo x >> src/a.py");
    outcome.passes().finds("UNSAFE.LINK_ESCAPES", "out");
    repo.run_with(&["--scope", "**"], "echo x > out/f").refused_with("UNSAFE.LINK_ESCAPES");
    repo.run_with(&["--scope", "**", "--scope", "!out"], "echo x >> src/b.py").passes();
}

#[test]
fn a_write_through_a_link_shows_the_real_path() {
    let repo = Repo::new();
    repo.sh("rm src/a.py; ln -s ../docs/d.md src/a.py; git add .; git commit -qm link");
    repo.run("echo x >> src/a.py").is_out(&["docs/d.md"]);
}

#[test]
fn a_hard_link_to_the_outside_is_unsafe() {
    let outcome = Repo::new().run("echo x > ../target; rm src/a.py; ln ../target src/a.py");
    outcome.fails_with("UNSAFE.HARD_LINK").finds("UNSAFE.HARD_LINK", "src/a.py");
}

/// No watch of a directory tells of it: the file is written through another directory, and has one name again.
#[test]
fn a_write_through_a_name_outside_that_is_gone_again_counts() {
    let script = "ln docs/d.md ../other; echo x >> ../other; rm ../other";
    Repo::new().run_with(&["--enforce", "observe", "--scope", "src/a.py"], script).is_out(&["docs/d.md"]);
}

#[test]
fn a_hard_link_across_the_scope_shows_both_names() {
    let repo = Repo::new();
    repo.sh("ln -f src/a.py docs/d.md");
    let outcome = repo.run("echo x >> src/a.py");
    outcome.is_out(&["docs/d.md"]);
    assert_eq!(outcome.delta(), ["docs/d.md", "src/a.py"]);
}

#[test]
fn a_loop_of_links_is_a_change_and_no_hang() {
    Repo::new().run("ln -s loop docs/loop; ln -s ../docs docs/up").is_out(&["docs/loop", "docs/up"]);
}
