//! Three clones of one remote, each as a machine of its own would have it.

use crate::repo::{Outcome, Repo};
use probity_testkit::etcd_cluster::EtcdCluster;
use probity_testkit::{skip, wait_for};
use std::path::PathBuf;

struct Clones {
    repo: Repo,
}

impl Clones {
    /// Makes a remote, a team on it, and two more clones that join.
    fn new() -> Self {
        Self::on(&["--git", "origin"])
    }

    /// Makes a team on any store.
    fn on(store: &[&str]) -> Self {
        let clones = Self { repo: Repo::new() };
        clones.repo.sh("git clone -q --bare . ../remote.git; git remote add origin ../remote.git");
        let made = clones.repo.ask(&[&["team", "init", "--line", "main"], store].concat());
        assert_eq!(made.exit_code, Some(0), "{made:#?}");
        clones.repo.sh("git add probity.toml; git commit -qm team; git push -q origin HEAD");
        for name in ["two", "three"] {
            clones.repo.sh(&format!("git clone -q ../remote.git ../{name}; cd ../{name}; git config user.name t; git config user.email t@example.org"));
            let early = clones.ask(name, &["start", "src/a.py", "-m", "too early"]);
            early.refused_with("TEAM.NOT_JOINED");
            let joined = clones.ask(name, &["team", "join"]);
            assert_eq!(joined.json["change"], "joined", "{joined:#?}");
        }
        clones
    }

    fn path(&self, name: &str) -> PathBuf {
        if name == "one" { self.repo.path() } else { self.repo.outside().join(name) }
    }

    fn ask(&self, name: &str, arguments: &[&str]) -> Outcome {
        let words = [arguments, &["--json"]].concat();
        let output = self.repo.probity(&words).current_dir(self.path(name)).output().expect("starts");
        self.repo.outcome(&output)
    }

    /// Like [`Self::ask`], for a store that is in reach: members on a busy machine may take longer than a command waits.
    fn ask_in_reach(&self, name: &str, arguments: &[&str]) -> Outcome {
        wait_for("the store answers", || {
            Some(self.ask(name, arguments)).filter(|outcome| outcome.json["reason"] != "TEAM.UNREACHABLE")
        })
    }
}

#[test]
fn clones_see_each_other_before_they_collide() {
    let clones = Clones::new();
    let held =
        clones.ask("one", &["start", "src/a.py", "--task", "issue-911", "-m", "fix it", "--agent", "ann"]);
    assert_eq!(held.json["status"], "active", "{held:#?}");
    let blocked = clones.ask("two", &["start", "src/a.py", "-m", "rename", "--agent", "bo"]);
    assert_eq!(
        (&blocked.json["status"], &blocked.json["reason"]),
        (&"blocked".into(), &"coordination".into()),
        "{blocked:#?}"
    );
    let taken =
        clones.ask("three", &["start", "src/b.py", "--task", "issue-911", "-m", "fix it", "--agent", "cy"]);
    assert_eq!((&taken.json["reason"], taken.exit_code), (&"task_taken".into(), Some(5)), "{taken:#?}");
    let seen = clones.ask("two", &["status"]);
    assert_eq!(seen.json["intents"][0]["agent"], "ann", "{seen:#?}");
    assert_eq!(seen.json["intents"][0]["is_here"], false, "{seen:#?}");
    assert_eq!(seen.json["intents"][0]["line"], "main", "{seen:#?}");
    let here = clones.ask("two", &["status", "--here"]);
    assert_eq!(here.json["intents"].as_array().map(Vec::len), Some(0), "{here:#?}");
    // The claim of another clone explains nothing here, and does not hold up a finish here.
    let other = clones.ask("two", &["start", "src/b.py", "-m", "b", "--agent", "bo"]);
    assert_eq!(other.json["status"], "active", "{other:#?}");
    std::fs::write(clones.path("two").join("src/b.py"), "b = 2\n").expect("writes");
    let finished = clones.ask("two", &["finish", "--agent", "bo"]);
    assert_eq!(finished.json["status"], "accepted", "{finished:#?}");
    let status = clones.ask("three", &["team", "status"]);
    assert_eq!(status.json["team"]["clones"].as_array().map(Vec::len), Some(3), "{status:#?}");
    assert_eq!(status.json["team"]["n_open"], 1, "{status:#?}");
    let cleared = clones.ask("one", &["intent", "clear", held.json["intent_id"].as_str().expect("an id")]);
    assert_eq!(cleared.exit_code, Some(0), "{cleared:#?}");
    let granted = clones.ask("two", &["start", "src/a.py", "-m", "rename", "--agent", "bo"]);
    assert_eq!(granted.json["status"], "active", "{granted:#?}");
}

#[test]
fn one_of_two_clones_is_granted_whoever_is_faster() {
    let clones = Clones::new();
    for round in 0..4 {
        let path = format!("src/{round}.py");
        let command = |name: &str| {
            let words = ["start", path.as_str(), "-m", "race", "--json", "--no-analyze"];
            let mut command = clones.repo.probity(&words);
            command.current_dir(clones.path(name));
            command
        };
        for name in ["one", "two", "three"] {
            std::fs::write(clones.path(name).join(&path), "x = 1\n").expect("writes");
            let ready = clones.ask(name, &["analyze"]);
            assert_eq!(ready.exit_code, Some(0), "{ready:#?}");
        }
        let commands: Vec<_> = ["one", "two", "three"].map(command).into();
        let running: Vec<_> = commands
            .into_iter()
            .map(|mut command| {
                command
                    .arg("--continue-own-wip")
                    .stdout(std::process::Stdio::piped())
                    .stderr(std::process::Stdio::piped())
                    .spawn()
                    .expect("starts")
            })
            .collect();
        let outcomes: Vec<Outcome> = running
            .into_iter()
            .map(|child| clones.repo.outcome(&child.wait_with_output().expect("ends")))
            .collect();
        let n_active = outcomes.iter().filter(|outcome| outcome.json["status"] == "active").count();
        assert_eq!(n_active, 1, "{outcomes:#?}");
    }
}

#[test]
fn without_the_remote_nothing_is_claimed_and_a_finish_is_kept() {
    let clones = Clones::new();
    let held = clones.ask("two", &["start", "src/a.py", "-m", "fix it", "--agent", "bo"]);
    assert_eq!(held.json["status"], "active", "{held:#?}");
    std::fs::write(clones.path("two").join("src/a.py"), "a = 5\n").expect("writes");
    clones.repo.sh("mv ../remote.git ../away.git");
    let refused = clones.ask("two", &["start", "src/b.py", "-m", "b", "--agent", "bo"]);
    assert_eq!(
        (&refused.json["reason"], refused.exit_code),
        (&"TEAM.UNREACHABLE".into(), Some(3)),
        "{refused:#?}"
    );
    let shown = clones.ask("two", &["status"]);
    assert_eq!(shown.json["intents"].as_array().map(Vec::len), Some(1), "{shown:#?}");
    assert!(
        shown.json["offline"].as_str().is_some_and(|why| why.contains("cannot be reached")),
        "{shown:#?}"
    );
    let finished = clones.ask("two", &["finish", "--agent", "bo"]);
    assert_eq!(finished.json["status"], "accepted", "{finished:#?}");
    assert!(
        finished.json["message"].as_str().is_some_and(|words| words.contains("the release waits")),
        "{finished:#?}"
    );
    clones.repo.sh("mv ../away.git ../remote.git");
    let elsewhere = clones.ask("three", &["status"]);
    assert_eq!(elsewhere.json["intents"].as_array().map(Vec::len), Some(1), "not sent yet: {elsewhere:#?}");
    let sent = clones.ask("two", &["team", "status"]);
    assert_eq!(
        (&sent.json["team"]["n_pending"], &sent.json["team"]["n_open"]),
        (&0.into(), &0.into()),
        "{sent:#?}"
    );
    let free = clones.ask("three", &["start", "src/a.py", "-m", "next", "--agent", "cy"]);
    assert_eq!(free.json["status"], "active", "{free:#?}");
}

#[test]
fn a_branch_or_an_edit_cannot_leave_the_team_and_a_copy_is_another_clone() {
    let clones = Clones::new();
    let held = clones.ask("one", &["start", "src/a.py", "-m", "fix it", "--agent", "ann"]);
    assert_eq!(held.json["status"], "active", "{held:#?}");
    std::fs::write(clones.path("two").join("probity.toml"), "").expect("writes");
    let blocked = clones.ask("two", &["start", "src/a.py", "-m", "mine", "--agent", "bo"]);
    assert_eq!(blocked.json["status"], "blocked", "{blocked:#?}");
    clones.repo.sh("cp -r ../three ../copy");
    let copied = clones.ask("copy", &["team", "status"]);
    assert_eq!(copied.json["team"]["clones"].as_array().map(Vec::len), Some(4), "{copied:#?}");
    let busy = clones.ask("one", &["team", "leave"]);
    busy.refused_with("TEAM.BUSY");
    let left = clones.ask("three", &["team", "leave"]);
    assert_eq!(left.json["change"], "left", "{left:#?}");
    let alone = clones.ask("three", &["status"]);
    assert_eq!(alone.json["intents"].as_array().map(Vec::len), Some(0), "{alone:#?}");
}

#[test]
fn a_team_on_etcd_shares_claims_while_members_die() {
    let Some(mut cluster) = EtcdCluster::start(3, &[]) else {
        return skip!("no etcd: `cargo xtask team install` brings it");
    };
    let clones = Clones::on(&["--etcd", &cluster.endpoints().join(",")]);
    let held = clones.ask_in_reach("one", &["start", "src/a.py", "-m", "fix it", "--agent", "ann"]);
    assert_eq!(held.json["status"], "active", "{held:#?}");
    let blocked = clones.ask_in_reach("two", &["start", "src/a.py", "-m", "rename", "--agent", "bo"]);
    assert_eq!(blocked.json["reason"], "coordination", "{blocked:#?}");
    let status = clones.ask("three", &["team", "status"]);
    assert_eq!(status.json["team"]["members"].as_array().map(Vec::len), Some(3), "{status:#?}");
    assert_eq!(status.json["team"]["clones"].as_array().map(Vec::len), Some(3), "{status:#?}");
    let killed = cluster.leader();
    cluster.kill(killed);
    cluster.wait_until_led();
    let still = clones.ask_in_reach("two", &["start", "src/a.py", "-m", "rename", "--agent", "bo"]);
    assert_eq!(still.json["reason"], "coordination", "{still:#?}");
    let granted = clones.ask_in_reach("two", &["start", "src/b.py", "-m", "b", "--agent", "bo"]);
    assert_eq!(granted.json["status"], "active", "{granted:#?}");
    let status = clones.ask("three", &["team", "status"]);
    assert!(status.json["team"]["members"][killed]["silent"].is_string(), "{status:#?}");
    let doctor = clones.ask("three", &["doctor"]);
    let checks = doctor.json["checks"].as_array().expect("checks");
    let team = checks.iter().find(|check| check["name"] == "team").expect("one about the team");
    assert_eq!(team["status"], "warning", "{team:#?}");
    // Without a majority nothing is claimed, what was known is shown, and a finish waits.
    std::fs::write(clones.path("one").join("src/a.py"), "a = 5\n").expect("writes");
    for n in 0..3 {
        cluster.kill(n);
    }
    let refused = clones.ask("two", &["start", "src/c.py", "-m", "c", "--agent", "bo"]);
    assert_eq!(
        (&refused.json["reason"], refused.exit_code),
        (&"TEAM.UNREACHABLE".into(), Some(3)),
        "{refused:#?}"
    );
    let shown = clones.ask("two", &["status"]);
    assert!(shown.json["intents"].as_array().is_some_and(|intents| intents.len() == 2), "{shown:#?}");
    let finished = clones.ask("one", &["finish", "--agent", "ann"]);
    assert_eq!(finished.json["status"], "accepted", "{finished:#?}");
    for n in 0..3 {
        cluster.start_member(n);
    }
    cluster.wait_until_led();
    // The next command that reaches the store sends the release.
    wait_for("nothing waits", || {
        let status = clones.ask("one", &["team", "status"]);
        (status.json["team"]["n_pending"] == 0).then_some(())
    });
    let free = clones.ask_in_reach("three", &["start", "src/a.py", "-m", "rename", "--agent", "cy"]);
    assert_eq!(free.json["status"], "active", "{free:#?}");
}
