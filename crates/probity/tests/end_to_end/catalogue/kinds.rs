//! Cases 18–29: renames, types and permission bits.

use crate::repo::{Repo, has};

#[test]
fn a_staged_rename_shows_both_ends() {
    let outcome = Repo::new().run("mkdir evil; git mv src/a.py evil/payload.py");
    outcome.is_out(&["evil/payload.py"]);
    assert_eq!(outcome.delta(), ["evil/payload.py", "src/a.py"]);
}

#[test]
fn an_unstaged_rename_shows_both_ends() {
    let outcome = Repo::new().run("mkdir evil; mv src/a.py evil/payload.py");
    outcome.is_out(&["evil/payload.py"]);
    assert_eq!(outcome.delta(), ["evil/payload.py", "src/a.py"]);
}

#[test]
fn renaming_into_scope_is_a_deletion_outside() {
    Repo::new().run("mv docs/d.md src/a.py").is_out(&["docs/d.md"]);
}

#[test]
fn renaming_within_scope_passes() {
    let outcome = Repo::new().run_with(&["--scope", "src/**"], "mv src/a.py src/c.py");
    outcome.passes();
    assert_eq!(outcome.delta(), ["src/a.py", "src/c.py"]);
}

#[test]
fn a_directory_replaced_by_a_file_shows_every_child() {
    Repo::new().run("rm -r docs; echo x > docs").is_out(&["docs", "docs/d.md"]);
}

#[test]
fn special_files_are_unsafe_even_in_scope() {
    let repo = Repo::new();
    repo.run("rm src/a.py; mkfifo src/a.py").fails_with("UNSAFE.FIFO").finds("UNSAFE.FIFO", "src/a.py");
    Repo::new().run("mkfifo docs/pipe").is_out(&["docs/pipe"]).fails_with("UNSAFE.FIFO");
}

#[test]
fn a_socket_is_unsafe_even_in_scope() {
    if !has("python3") {
        return probity_testkit::skip!("python3 is not installed");
    }
    let listen = "rm src/a.py; python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"src/a.py\")'";
    Repo::new().run(listen).fails_with("UNSAFE.SOCKET");
}

#[test]
fn a_device_is_unsafe_even_in_scope() {
    let place = tempfile::tempdir().expect("a directory");
    let made =
        std::process::Command::new("mknod").arg(place.path().join("null")).args(["c", "1", "3"]).output();
    if !made.is_ok_and(|made| made.status.success()) {
        return probity_testkit::skip!("this user may not make device files");
    }
    Repo::new().run("rm src/a.py; mknod src/a.py c 1 3").fails_with("UNSAFE.DEVICE");
}

#[test]
fn a_directory_replaced_by_a_link_is_a_change() {
    Repo::new().run("rm -r docs; ln -s src docs").is_out(&["docs", "docs/d.md"]);
}

#[test]
fn permission_bits_are_part_of_a_file() {
    Repo::new().run("chmod +x docs/d.md").is_out(&["docs/d.md"]);
}

#[test]
fn git_configuration_does_not_hide_permission_bits() {
    let repo = Repo::new();
    repo.sh("git config core.fileMode false");
    repo.run("chmod +x docs/d.md").is_out(&["docs/d.md"]);
}

#[test]
fn every_permission_bit_counts() {
    let repo = Repo::new();
    repo.run("chmod 600 docs/d.md").is_out(&["docs/d.md"]);
    repo.run("chmod 4600 docs/d.md").is_out(&["docs/d.md"]);
    repo.run("chmod 700 docs").is_out(&["docs"]);
}

#[test]
fn changed_owners_are_recorded() {
    if !rustix::process::geteuid().is_root() {
        return probity_testkit::skip!("only root can give a file to another user");
    }
    touches_without_changing("chown 1:1 docs/d.md", "docs/d.md");
    touches_without_changing("chown 1:1 docs", "docs");
    touches_without_changing("chown -h 1:1 link", "link");
}

#[test]
fn changed_attributes_are_recorded() {
    let dir = tempfile::tempdir().expect("a directory");
    let attribute = "import os, sys; os.setxattr(sys.argv[1], 'user.probity', b'x')";
    let set = |file: &str| format!("python3 -c \"{attribute}\" {file}");
    let works = std::process::Command::new("sh").args(["-c", &set(".")]).current_dir(dir.path()).output();
    if !works.is_ok_and(|output| output.status.success()) {
        return probity_testkit::skip!("python3 is not installed, or the file system has no attributes");
    }
    touches_without_changing(&set("docs/d.md"), "docs/d.md");
}

/// Checks that a script changes nothing that the scope judges, yet is recorded in the answer and in the evidence.
fn touches_without_changing(script: &str, path: &str) {
    let repo = Repo::new();
    repo.sh("ln -s src link");
    let outcome = repo.run(script);
    outcome.passes().finds("TREE.TOUCHED", path);
    assert_eq!(outcome.delta(), [""; 0]);
    let manifest = std::fs::read_to_string(outcome.evidence_dir().join("manifest.json")).expect("a manifest");
    assert!(manifest.contains("TREE.TOUCHED"), "{manifest}");
}

#[test]
fn touching_is_no_finding_where_content_changed() {
    let outcome = Repo::new().run("echo x >> src/a.py; chmod +x src/a.py");
    outcome.passes();
    assert_eq!(outcome.json["findings"], serde_json::json!([]), "{outcome:#?}");
}

#[test]
fn empty_directories_are_entries() {
    let repo = Repo::new();
    repo.run("mkdir empty").is_out(&["empty"]);
    repo.run("rmdir empty").is_out(&["empty"]);
}
