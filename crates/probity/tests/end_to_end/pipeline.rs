//! `probity ci` finds base and head from what a pipeline says, and the action's own scripts install and call it.

use crate::repo::{Outcome, Repo};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A repository whose branch `change` edits one file, with `main` further on, and clones of it.
struct Forge {
    repo: Repo,
}

impl Forge {
    fn new() -> Self {
        let repo = Repo::new();
        repo.sh("git switch -q -c change && echo '# more' >> docs/d.md && git commit -qam docs \
             && git switch -q main && echo '# other' >> src/b.py && git commit -qam other \
             && git switch -q -c merged && git merge -q --no-edit change && git switch -q main");
        Self { repo }
    }

    /// A clone as a service makes it, at `<name>/repo`.
    fn clone(&self, name: &'static str, options: &str, branch: &str) -> Repo {
        self.repo.sh(&format!(
            "mkdir ../{name} && git clone -q {options} --branch {branch} \"file://$PWD\" ../{name}/repo"
        ));
        Repo::existing(&self.repo, name)
    }

    fn id(&self, name: &str) -> String {
        let id = std::process::Command::new("git")
            .args(["rev-parse", name])
            .current_dir(self.repo.path())
            .output()
            .expect("git starts");
        String::from_utf8_lossy(&id.stdout).trim().to_owned()
    }
}

fn ci(clone: &Repo, variables: &[(&str, &str)]) -> Outcome {
    let mut command = clone.probity(&["ci", "--json"]);
    let output = command.envs(variables.iter().copied()).output().expect("probity starts");
    clone.outcome(&output)
}

fn changed(outcome: &Outcome) -> Vec<&str> {
    let listed = outcome.json["contract"]["changed_files"].as_array().expect("a list");
    listed.iter().filter_map(|path| path.as_str()).collect()
}

#[test]
fn the_merge_of_a_pull_request_is_judged_in_a_clone_of_two_commits() {
    let forge = Forge::new();
    let clone = forge.clone("checkout", "--depth 2", "merged");
    let event = format!(
        "{{\"pull_request\": {{\"base\": {{\"sha\": \"{}\"}}, \"head\": {{\"sha\": \"{}\"}}, \"body\": null}}}}",
        forge.id("main"),
        forge.id("change")
    );
    let path = forge.repo.outside().join("event.json");
    std::fs::write(&path, event).expect("writes");
    let path = path.to_str().expect("text");
    let outcome =
        ci(&clone, &[("GITHUB_ACTIONS", "true"), ("GITHUB_BASE_REF", "main"), ("GITHUB_EVENT_PATH", path)]);
    assert_eq!(outcome.exit_code, Some(0), "{:#}", outcome.json);
    assert_eq!(outcome.json["pipeline"]["base_rule"], "first_parent");
    assert_eq!(outcome.json["pipeline"]["base"].as_str(), Some(forge.id("main").as_str()));
    assert_eq!(changed(&outcome), ["docs/d.md"]);
    assert!(outcome.json["merges"].is_null(), "the history of this clone is cut");
}

#[test]
fn a_branch_is_judged_from_where_it_left_its_target() {
    let forge = Forge::new();
    let clone = forge.clone("checkout", "", "change");
    for variables in [
        &[("GITLAB_CI", "true"), ("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "main")][..],
        &[("JENKINS_URL", "https://ci.example"), ("CHANGE_TARGET", "main")][..],
        // The default branch of `origin`, without any service.
        &[][..],
    ] {
        let outcome = ci(&clone, variables);
        assert_eq!(outcome.exit_code, Some(0), "{:#}", outcome.json);
        assert_eq!(outcome.json["pipeline"]["base_rule"], "merge_base", "{variables:?}");
        // What `main` did since is no change of this branch.
        assert_eq!(changed(&outcome), ["docs/d.md"], "{variables:?}");
    }
}

#[test]
fn a_clone_without_the_history_is_refused_by_name() {
    let forge = Forge::new();
    let clone = forge.clone("checkout", "--depth 1", "change");
    let outcome = ci(&clone, &[("JENKINS_URL", "https://ci.example"), ("CHANGE_TARGET", "main")]);
    assert_eq!((outcome.exit_code, outcome.json["reason"].as_str()), (Some(2), Some("CI.BASE_MISSING")));
}

#[test]
fn an_edit_that_a_merge_of_the_change_lost_fails_it() {
    let forge = Forge::new();
    // The branch takes `main` in and drops what `main` had added.
    forge
        .repo
        .sh("git switch -q change && git merge -q --no-commit main && git checkout -q change -- src/b.py \
         && git commit -q -m 'Take main in' && git switch -q main");
    let clone = forge.clone("checkout", "", "change");
    let outcome = ci(&clone, &[("JENKINS_URL", "https://ci.example"), ("CHANGE_TARGET", "main")]);
    assert_eq!(outcome.exit_code, Some(1), "{:#}", outcome.json);
    assert_eq!(outcome.json["merges"]["outcome"], "lost");
}

/// A release as the action downloads it, with the program under test, below `<outside>/releases`.
fn release(forge: &Forge) -> String {
    let directory = forge.repo.outside().join("releases/v9.9.9");
    let name = format!("probity-9.9.9-{}-unknown-linux-gnu", std::env::consts::ARCH);
    let bin = directory.join(&name).join("bin");
    std::fs::create_dir_all(&bin).expect("creates");
    probity_testkit::copy_program(env!("CARGO_BIN_EXE_probity"), bin.join("probity"));
    let pack =
        format!("tar -I 'gzip -1' -cf {name}.tar.gz {name} && rm -r {name} && sha256sum *.gz > SHA256SUMS");
    let packed = Command::new("sh").args(["-ec", &pack]).current_dir(&directory).status().expect("sh starts");
    assert!(packed.success());
    format!("file://{}", forge.repo.outside().join("releases").display())
}

/// Runs a script of the action in a clone, as a step of a workflow.
fn step(script: &str, clone: &Repo, variables: &[(&str, &str)]) -> Output {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../action").join(script);
    let mut command = Command::new("bash");
    crate::repo::isolate(&mut command, clone.outside());
    command
        .arg(script)
        .current_dir(clone.path())
        .envs(variables.iter().copied())
        .output()
        .expect("bash starts")
}

#[test]
#[cfg(target_os = "linux")]
fn the_action_installs_a_checked_release_and_leaves_the_verdict_to_its_last_step() {
    if Command::new("curl").arg("--version").output().is_err() {
        return probity_testkit::skip!("curl is not installed");
    }
    let forge = Forge::new();
    let releases = release(&forge);
    let clone = forge.clone("checkout", "--depth 1", "change");
    let file = |name: &str| -> PathBuf { clone.outside().join(name) };
    let text = |path: PathBuf| path.to_str().expect("text").to_owned();
    let (tools, path_file, output_file) = (text(file("tools")), text(file("path")), text(file("output")));
    let install = [
        ("PROBITY_VERSION", "9.9.9"),
        ("PROBITY_RELEASES", releases.as_str()),
        ("RUNNER_TOOL_CACHE", &tools),
        ("GITHUB_PATH", &path_file),
    ];
    // A digest that does not fit: nothing is installed.
    let wrong = [&install[..], &[("PROBITY_SHA256", "00")]].concat();
    assert_eq!(step("install.sh", &clone, &wrong).status.code(), Some(2));
    assert!(!file("path").exists());
    let installed = step("install.sh", &clone, &install);
    assert!(installed.status.success(), "{}", String::from_utf8_lossy(&installed.stderr));
    // The shallow clone gets the history that the judgment needs.
    let bin = std::fs::read_to_string(file("path")).expect("a line for the later steps");
    let path = format!("{}:{}", bin.trim(), std::env::var("PATH").expect("a path"));
    let judged = step(
        "judge.sh",
        &clone,
        &[
            ("PATH", &path),
            ("GITHUB_ACTIONS", "true"),
            ("GITHUB_BASE_REF", "main"),
            ("GITHUB_OUTPUT", &output_file),
        ],
    );
    assert!(judged.status.success(), "{}", String::from_utf8_lossy(&judged.stderr));
    assert_eq!(std::fs::read_to_string(file("output")).expect("an output"), "exit-code=0\n");
    let words = String::from_utf8_lossy(&judged.stdout);
    assert!(words.contains("::notice title=Probity::accepted"), "{words}");
    for report in ["probity.sarif", "probity.xml", "probity-summary.md"] {
        assert!(clone.path().join(report).exists(), "no {report}");
    }
}
