//! Attempts to keep something in an odd place of the git directory.

use crate::repo::Repo;

#[test]
fn a_payload_in_an_odd_place_is_found() {
    let id = "ce013625030ba8dba906f756967f9e9ca394464a";
    for place in [
        "objects/zz/run.sh".to_owned(),
        "objects/ab/run.sh".to_owned(),
        "objects/pack/run.sh".to_owned(),
        "objects/run.sh".to_owned(),
        "logs/x".to_owned(),
        "rr-cache/run.sh".to_owned(),
        format!("rr-cache/{id}/run.sh"),
        "lfs/objects/run.sh".to_owned(),
        "lfs/objects/ab/cd/run.sh".to_owned(),
        "evil_HEAD".to_owned(),
        "x.lock".to_owned(),
        "EVIL_EDITMSG".to_owned(),
        "sharedindex.sh".to_owned(),
        "modules/x/run.sh".to_owned(),
        "worktrees/x/run.sh".to_owned(),
        "worktrees/x/objects/run.sh".to_owned(),
    ] {
        let script = format!("mkdir -p $(dirname .git/{place}); echo evil > .git/{place}");
        Repo::new()
            .run(&script)
            .fails_with("PROTECTED.CHANGED")
            .finds("PROTECTED.CHANGED", &format!(".git/{place}"));
    }
}

#[test]
fn an_executable_or_a_link_among_the_files_of_git_is_found() {
    for place in ["refs/heads/x", "logs/refs/heads/x", "ORIG_HEAD", "lfs/tmp/x", "COMMIT_EDITMSG"] {
        for plant in [
            format!("echo evil > .git/{place}; chmod +x .git/{place}"),
            format!("ln -sf /bin/sh .git/{place}"),
        ] {
            if plant.starts_with("ln") && !place.starts_with("logs") {
                continue;
            }
            let script = format!("mkdir -p $(dirname .git/{place}); {plant}");
            let outcome = Repo::new().run(&script);
            outcome.fails_with("PROTECTED.CHANGED").finds("PROTECTED.CHANGED", &format!(".git/{place}"));
        }
    }
    let outcome = Repo::new().run("chmod +x .git/HEAD; echo evil > .git/ORIG_HEAD; chmod +x .git/ORIG_HEAD");
    outcome.fails_with("PROTECTED.CHANGED").finds("PROTECTED.CHANGED", ".git/HEAD");
}
