//! Cases 43–58: hiding from the snapshot.

use crate::repo::{Repo, isolate};

#[test]
fn an_ignored_file_counts() {
    Repo::new().run("mkdir ignored; echo x > ignored/f; echo x > a.log").is_out(&["a.log", "ignored/f"]);
}

#[test]
fn a_directory_that_ignores_itself_counts() {
    let script = "mkdir hidden; echo '*' > hidden/.gitignore; echo x > hidden/payload";
    Repo::new().run(script).is_out(&["hidden/.gitignore", "hidden/payload"]);
}

#[test]
fn exclusion_files_of_git_hide_nothing() {
    let repo = Repo::new();
    repo.sh("git config core.excludesFile \"$HOME/excluded\"; echo 'payload*' > \"$HOME/excluded\"");
    repo.run("echo x > payload1").is_out(&["payload1"]);
    let outcome = repo.run("echo 'payload*' >> .git/info/exclude; echo x > payload2");
    outcome.is_out(&["payload2"]).finds("PROTECTED.CHANGED", ".git/info/exclude");
}

#[test]
fn well_known_cache_directories_count() {
    let names = ["__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".mc", ".motus", ".probity"];
    for name in names {
        Repo::new()
            .run(&format!("mkdir {name}; echo x > {name}/payload"))
            .is_out(&[&format!("{name}/payload")]);
    }
    Repo::new().run("echo x > .DS_Store; echo x > .coverage").is_out(&[".DS_Store", ".coverage"]);
}

#[test]
fn untracked_files_count_whatever_git_shows() {
    let repo = Repo::new();
    repo.sh("git config status.showUntrackedFiles no");
    repo.run("echo x > payload").is_out(&["payload"]);
}

#[test]
fn index_flags_hide_nothing() {
    let repo = Repo::new();
    repo.run("git update-index --assume-unchanged docs/d.md; echo x >> docs/d.md").is_out(&["docs/d.md"]);
    repo.run("git update-index --skip-worktree src/b.py; echo x >> src/b.py").is_out(&["src/b.py"]);
}

#[test]
fn no_program_of_the_repository_is_started() {
    let repo = Repo::new();
    repo.write("../spy.sh", "#!/bin/sh\ntouch \"$HOME/spied\"\necho /\n");
    repo.sh("chmod +x ../spy.sh; git config core.fsmonitor \"$PWD/../spy.sh\"; rm -f \"$HOME/spied\"");
    for key in ["core.sshCommand", "core.pager", "core.editor", "diff.external", "core.gitProxy"] {
        repo.sh(&format!("git -c core.fsmonitor=false config {key} \"$PWD/../spy.sh\""));
    }
    repo.run("echo x >> docs/d.md").is_out(&["docs/d.md"]);
    assert!(!repo.outside().join("spied").exists(), "a program named by the repository was started");
}

#[test]
fn a_clean_filter_hides_nothing_and_is_not_started() {
    let repo = Repo::new();
    repo.write(".gitattributes", "*.md filter=spy\n");
    repo.sh("git config filter.spy.clean 'touch \"$HOME/spied\"; printf \"# D\\n\"'");
    repo.run("printf '# E\\n' > docs/d.md").is_out(&["docs/d.md"]);
    assert!(!repo.outside().join("spied").exists(), "the filter was started");
}

#[test]
fn the_untracked_cache_hides_nothing() {
    let repo = Repo::new();
    repo.sh("git config core.trustctime false; git update-index --untracked-cache; git status -s");
    repo.run("touch -r docs ../aside; echo x > docs/payload; touch -r ../aside docs; rm ../aside")
        .is_out(&["docs/payload"]);
}

#[test]
fn a_restored_time_hides_nothing() {
    let script =
        "touch -r docs/d.md ../aside; printf '# E\\n' > docs/d.md; touch -r ../aside docs/d.md; rm ../aside";
    let repo = Repo::new();
    // The first run fills the cache, which could deceive the second.
    repo.run("true").passes();
    repo.run(script).is_out(&["docs/d.md"]);
}

#[test]
fn git_configuration_does_not_make_times_trusted() {
    let repo = Repo::new();
    repo.sh("git config core.trustctime false");
    repo.run("true").passes();
    let script =
        "touch -r docs/d.md ../aside; printf '# E\\n' > docs/d.md; touch -r ../aside docs/d.md; rm ../aside";
    repo.run(script).is_out(&["docs/d.md"]);
}

#[test]
fn direct_writes_and_holes_are_seen() {
    let repo = Repo::new();
    repo.sh("dd if=/dev/urandom of=big bs=4096 count=4 2>/dev/null; git add big; git commit -qm big");
    let outcome = repo.run(
        "dd if=/dev/zero of=big bs=4096 count=1 seek=1 conv=notrunc oflag=direct 2>/dev/null || \
                            dd if=/dev/zero of=big bs=4096 count=1 seek=1 conv=notrunc 2>/dev/null",
    );
    outcome.is_out(&["big"]);
    repo.sh("git checkout -q big");
    repo.run("fallocate -p -o 0 -l 4096 big || dd if=/dev/zero of=big bs=4096 count=1 conv=notrunc")
        .is_out(&["big"]);
}

#[test]
fn a_huge_file_is_judged() {
    Repo::new().run("truncate -s 3G docs/huge").is_out(&["docs/huge"]);
}

#[test]
fn an_unreadable_path_is_named_and_fails_the_run() {
    let repo = Repo::new();
    if rustix::process::geteuid().is_root() {
        // Root can read everything, so the judge runs as user `nobody`.
        repo.sh("chmod 755 .. ; chown -R nobody . && chmod -R a+rX .");
        let output = as_nobody(&repo, "echo x >> src/a.py; chmod 000 docs");
        let Some(json) = output else {
            return probity_testkit::skip!("this is root, who can read everything, and cannot become nobody");
        };
        assert_eq!(json["status"], "fail", "{json:#}");
        assert!(json["findings"].to_string().contains("TREE.UNAVAILABLE"), "{json:#}");
        assert!(json["findings"].to_string().contains("docs"), "{json:#}");
    } else {
        repo.run("chmod 000 docs").fails_with("TREE.UNAVAILABLE").finds("TREE.UNAVAILABLE", "docs");
        repo.sh("chmod 755 docs");
    }
}

/// Returns the JSON answer of a run that the user `nobody` starts.
fn as_nobody(repo: &Repo, script: &str) -> Option<serde_json::Value> {
    let nobody = ["--reuid=nobody", "--clear-groups", "--regid=nogroup"];
    let probed = std::process::Command::new("setpriv").args(nobody).arg("true").output().ok()?;
    if !probed.status.success() {
        return None;
    }
    // The user `nobody` may not reach the binary where it was built.
    let binary = repo.outside().join("probity");
    probity_testkit::copy_program(env!("CARGO_BIN_EXE_probity"), &binary);
    let mut command = std::process::Command::new("setpriv");
    command.args(nobody).arg(&binary);
    command.args(["run", "--json", "--scope", "src/a.py", "--", "sh", "-ec", script]);
    isolate(&mut command, repo.outside());
    let output = command.current_dir(repo.path()).output().ok()?;
    let json = serde_json::from_slice(&output.stdout);
    Some(json.unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr))))
}

#[test]
fn a_mount_point_inside_the_tree_is_unsafe() {
    let repo = Repo::new();
    repo.sh("mkdir docs/mnt; touch docs/mnt/keep");
    let binary = env!("CARGO_BIN_EXE_probity");
    // The mount is in a private namespace and ends with it.
    let script =
        format!("mount -t tmpfs none docs/mnt && exec '{binary}' run --json --scope src/a.py -- true");
    let mut command = std::process::Command::new("unshare");
    command.args(["--mount", "--map-root-user", "--user", "sh", "-c", &script]);
    let probed = std::process::Command::new("unshare")
        .args(["--mount", "--map-root-user", "--user", "mount", "-t", "tmpfs", "none"])
        .arg(repo.path().join("docs/mnt"))
        .output();
    if !probed.is_ok_and(|probed| probed.status.success()) {
        return probity_testkit::skip!("this system does not let a test mount anything");
    }
    isolate(&mut command, repo.outside());
    let output = command.current_dir(repo.path()).output().expect("unshare starts");
    let json: serde_json::Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    let found = json["findings"].to_string();
    assert!(found.contains("UNSAFE.MOUNT_POINT") && found.contains("docs/mnt"), "{json:#}");
}
