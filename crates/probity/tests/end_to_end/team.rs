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
    let team = &status.json["team"];
    assert_eq!((&team["n_open"], &team["n_landing"]), (&1.into(), &1.into()), "{status:#?}");
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
    let team = &sent.json["team"];
    assert_eq!(
        (&team["n_pending"], &team["n_open"], &team["n_landing"]),
        (&0.into(), &0.into(), &1.into()),
        "{sent:#?}"
    );
    clones.sh("two", "git commit -qam fix; git push -q origin HEAD");
    clones.sh("three", "git pull -q");
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
    clones.sh("one", "git commit -qam a; git push -q origin HEAD");
    let landed = clones.ask_in_reach("one", &["team", "landed"]);
    assert_eq!(landed.json["landed"][0]["branch"], "main", "found on `origin`: {landed:#?}");
    let stale = clones.ask_in_reach("three", &["start", "src/a.py", "-m", "rename", "--agent", "cy"]);
    assert_eq!(stale.json["reason"], "stale_base", "{stale:#?}");
    clones.sh("three", "git pull -q");
    let free = clones.ask_in_reach("three", &["start", "src/a.py", "-m", "rename", "--agent", "cy"]);
    assert_eq!(free.json["status"], "active", "{free:#?}");
}

impl Clones {
    /// Writes rules of the team, and has every clone take them over.
    fn rules(&self, words: &str) {
        self.repo.sh(&format!(
            "printf '%s\\n' {words} >> probity.toml; git commit -qam rules; git push -q origin HEAD"
        ));
        for name in ["one", "two", "three"] {
            if name != "one" {
                self.sh(name, "git pull -q");
            }
            let joined = self.ask(name, &["team", "join"]);
            assert_eq!(joined.exit_code, Some(0), "{joined:#?}");
        }
    }

    fn sh(&self, name: &str, script: &str) {
        self.repo.sh(&format!("cd '{}'; {script}", self.path(name).display()));
    }

    fn write(&self, name: &str, path: &str, text: &str) {
        std::fs::write(self.path(name).join(path), text).expect("writes");
    }

    /// Starts, edits and finishes a change of `src/a.py`; returns the answer of the finish.
    fn change(&self, name: &str, agent: &str, text: &str) -> Outcome {
        let held = self.ask(name, &["start", "src/a.py", "-m", "fix it", "--agent", agent]);
        assert_eq!(held.json["status"], "active", "{held:#?}");
        self.write(name, "src/a.py", text);
        let finished = self.ask(name, &["finish", "--agent", agent]);
        assert_eq!(finished.json["status"], "accepted", "{finished:#?}");
        finished
    }
}

fn reason(outcome: &Outcome) -> (&serde_json::Value, &serde_json::Value, Option<i32>) {
    (&outcome.json["status"], &outcome.json["reason"], outcome.exit_code)
}

#[test]
fn finished_work_keeps_others_off_until_it_is_pushed_and_then_a_stale_base_is_refused() {
    let clones = Clones::new();
    let finished = clones.change("one", "ann", "a = 11\n");
    assert_eq!(finished.json["landing"]["hold"], "push", "{finished:#?}");
    assert!(
        finished.json["message"].as_str().is_some_and(|words| words.contains("until the commit is pushed"))
    );
    // Not pushed yet: its own tree goes on, others are kept off.
    let blocked = clones.ask("two", &["start", "src/a.py", "-m", "rename", "--agent", "bo"]);
    assert_eq!(reason(&blocked), (&"blocked".into(), &"coordination".into(), Some(2)), "{blocked:#?}");
    assert_eq!(
        blocked.json["workspace"]["concurrent_intents"][0]["recommended_action"], "wait_for_its_landing",
        "{blocked:#?}"
    );
    let waiting = clones.ask("one", &["team", "landed"]);
    assert_eq!(waiting.json["waiting"][0]["is_here"], true, "{waiting:#?}");
    clones.sh("one", "git commit -qam a; git push -q origin HEAD");
    let landed = clones.ask("one", &["team", "landed"]);
    assert_eq!(landed.json["landed"][0]["branch"], "main", "{landed:#?}");
    let again = clones.ask("one", &["team", "landed"]);
    assert_eq!(again.json["landed"], serde_json::json!([]), "landing is once: {again:#?}");
    // Pushed, but the other clone has not fetched it.
    let stale = clones.ask("two", &["start", "src/a.py", "-m", "rename", "--agent", "bo"]);
    assert_eq!(reason(&stale), (&"blocked".into(), &"stale_base".into(), Some(2)), "{stale:#?}");
    assert_eq!(stale.json["next_step"], "fetch_and_rebase", "{stale:#?}");
    assert_eq!(stale.json["lacking"][0]["agent"], "ann", "{stale:#?}");
    let other = clones.ask("two", &["start", "src/b.py", "-m", "b", "--agent", "bo"]);
    assert_eq!(other.json["status"], "active", "other paths are not concerned: {other:#?}");
    clones.sh("two", "git pull -q");
    let fresh = clones.ask("two", &["start", "src/a.py", "-m", "rename", "--agent", "bo"]);
    assert_eq!(fresh.json["status"], "active", "{fresh:#?}");
}

#[test]
fn the_next_start_sees_a_landing_that_nobody_reported() {
    let clones = Clones::new();
    clones.change("one", "ann", "a = 11\n");
    clones.sh("one", "git commit -qam a; git push -q origin HEAD");
    clones.sh("two", "git pull -q");
    let start = clones.ask("two", &["start", "src/a.py", "-m", "rename", "--agent", "bo"]);
    assert_eq!(start.json["status"], "active", "{start:#?}");
    assert_eq!(start.json["landed"].as_array().map(Vec::len), Some(1), "{start:#?}");
}

#[test]
fn a_shallow_clone_compares_contents_and_needs_no_history() {
    let clones = Clones::new();
    clones.change("one", "ann", "a = 11\n");
    clones.sh("one", "git commit -qam a; git push -q origin HEAD");
    let landed = clones.ask("one", &["team", "landed"]);
    assert_eq!(landed.json["landed"][0]["branch"], "main", "{landed:#?}");
    clones.repo.sh("git clone -q --depth 1 file://$(cd ../remote.git; pwd) ../shallow");
    let joined = clones.ask("shallow", &["team", "join"]);
    assert_eq!(joined.json["change"], "joined", "{joined:#?}");
    let same = clones.ask("shallow", &["start", "src/a.py", "-m", "same bytes", "--agent", "di"]);
    assert_eq!(same.json["status"], "active", "{same:#?}");
    let id = same.json["intent_id"].as_str().expect("an id").to_owned();
    clones.ask("shallow", &["intent", "clear", &id]);
    // A later commit of somebody without Probity: the shallow clone has neither the content nor the old commit, but the tip.
    clones.sh("one", "printf 'a = 12\\n' > src/a.py; git commit -qam later; git push -q origin HEAD");
    let stale = clones.ask("two", &["start", "src/a.py", "-m", "stale", "--agent", "bo"]);
    assert_eq!(stale.json["reason"], "stale_base", "{stale:#?}");
    clones.sh("shallow", "git fetch -q --depth 1; git reset -q --hard origin/HEAD");
    let at_tip = clones.ask("shallow", &["start", "src/a.py", "-m", "at the tip", "--agent", "di"]);
    assert_eq!(at_tip.json["status"], "active", "{at_tip:#?}");
}

#[test]
fn an_announced_overlap_is_told_to_both_and_a_moved_base_is_not_accepted() {
    let clones = Clones::new();
    clones.rules("'overlap = \"announce\"' 'exclusive = [\"*.lock\"]'");
    let first = clones.ask("one", &["start", "src/a.py", "x.lock", "-m", "fix it", "--agent", "ann"]);
    assert_eq!(first.json["status"], "active", "{first:#?}");
    let second = clones.ask("two", &["start", "src/a.py", "-m", "rename", "--agent", "bo"]);
    assert_eq!(second.json["status"], "active", "{second:#?}");
    assert!(second.json["message"].as_str().is_some_and(|words| words.contains("ann on ")), "{second:#?}");
    let relation = &second.json["workspace"]["workspace_relations"][0];
    assert_eq!((&relation["claims"], &relation["agent_label"]), (&"announced".into(), &"ann".into()));
    let exclusive = clones.ask("three", &["start", "x.lock", "-m", "lock", "--agent", "cy"]);
    assert_eq!(exclusive.json["reason"], "coordination", "{exclusive:#?}");
    clones.write("one", "src/a.py", "a = 11\n");
    let finished = clones.ask("one", &["finish", "--agent", "ann"]);
    assert_eq!(finished.json["status"], "accepted", "{finished:#?}");
    assert_eq!(finished.json["notices"][0]["kind"]["kind"], "overlap", "{finished:#?}");
    assert_eq!(finished.json["overlaps"][0]["agent"], "bo", "{finished:#?}");
    let receipt = clones.ask("one", &["receipt", "show", "last"]);
    let intent = &receipt.json["receipt"]["intent"];
    assert_eq!(
        (&intent["overlaps"][0]["agent"], &intent["coordination"]),
        (&"bo".into(), &"team".into()),
        "{receipt:#?}"
    );
    clones.sh("one", "git commit -qam a; git push -q origin HEAD");
    let landed = clones.ask("one", &["team", "landed"]);
    assert_eq!(landed.json["landed"].as_array().map(Vec::len), Some(1), "{landed:#?}");
    clones.write("two", "src/a.py", "a = 22\n");
    let moved = clones.ask("two", &["finish", "--agent", "bo"]);
    assert_eq!(reason(&moved), (&"unverified".into(), &"base_moved".into(), Some(3)), "{moved:#?}");
    assert_eq!(moved.json["base_moved"][0]["agent"], "ann", "{moved:#?}");
    let told = clones.ask("two", &["status", "--agent", "bo"]);
    assert!(
        told.json["notices"].to_string().contains("landed_under")
            || moved.json["notices"].to_string().contains("landed_under"),
        "{moved:#?}"
    );
    clones.sh("two", "git commit -qam b; git fetch -q; git merge -q -s ours -m merge origin/HEAD");
    let finished = clones.ask("two", &["finish", "--agent", "bo"]);
    assert_eq!(finished.json["status"], "accepted", "{finished:#?}");
}

#[test]
fn a_finish_sees_a_landing_that_nobody_reported() {
    let clones = Clones::new();
    clones.rules("'overlap = \"announce\"'");
    let started = clones.ask("two", &["start", "src/a.py", "-m", "rename", "--agent", "bo"]);
    assert_eq!(started.json["status"], "active", "{started:#?}");
    clones.change("one", "ann", "a = 11\n");
    clones.sh("one", "git commit -qam a; git push -q origin HEAD");
    clones.sh("two", "git fetch -q");
    clones.write("two", "src/a.py", "a = 22\n");
    let moved = clones.ask("two", &["finish", "--agent", "bo"]);
    assert_eq!(reason(&moved), (&"unverified".into(), &"base_moved".into(), Some(3)), "{moved:#?}");
    assert_eq!(moved.json["next_step"], "rebase_then_finish", "{moved:#?}");
}

#[test]
fn an_offline_start_claims_nothing_and_says_so() {
    let clones = Clones::new();
    clones.repo.sh("mv ../remote.git ../away.git");
    let refused = clones.ask("two", &["start", "src/a.py", "-m", "fix", "--agent", "bo"]);
    assert_eq!(refused.json["reason"], "TEAM.UNREACHABLE", "{refused:#?}");
    let started = clones.ask("two", &["start", "src/a.py", "-m", "fix", "--agent", "bo", "--offline"]);
    assert_eq!(reason(&started), (&"active".into(), &serde_json::Value::Null, Some(0)), "{started:#?}");
    assert_eq!(started.json["coordination"], "none", "{started:#?}");
    let twice = clones.ask("two", &["start", "src/a.py", "-m", "too", "--agent", "cy", "--offline"]);
    assert_eq!(twice.json["reason"], "coordination", "one clone is still one tree: {twice:#?}");
    clones.repo.sh("mv ../away.git ../remote.git");
    let shown = clones.ask("two", &["status"]);
    assert_eq!(shown.json["intents"][0]["coordination"], "none", "{shown:#?}");
    let elsewhere = clones.ask("three", &["status"]);
    assert_eq!(elsewhere.json["intents"], serde_json::json!([]), "nobody else knows of it: {elsewhere:#?}");
    clones.write("two", "src/a.py", "a = 5\n");
    let finished = clones.ask("two", &["finish", "--agent", "bo"]);
    assert_eq!(finished.json["status"], "accepted", "{finished:#?}");
    assert_eq!(finished.json["coordination"], "none", "{finished:#?}");
    let receipt = clones.ask("two", &["receipt", "show", "last"]);
    assert_eq!(receipt.json["receipt"]["intent"]["coordination"], "none", "{receipt:#?}");
}

#[test]
fn a_clone_that_rewrites_its_log_is_found_out_by_the_others() {
    let clones = Clones::new();
    let state = "$(git rev-parse --git-common-dir)/probity";
    let own_log = format!("cp -a {state}/store.sqlite* {state}/log.checkpoint {state}/receipts");
    clones.change("two", "bo", "a = 2\n");
    clones.sh(
        "two",
        &format!("mkdir ../kept; {own_log} ../kept; git commit -qam two; git push -q origin HEAD"),
    );
    let landed = clones.ask("two", &["team", "landed"]);
    assert_eq!(landed.json["landed"].as_array().map(Vec::len), Some(1), "{landed:#?}");
    clones.change("two", "bo", "a = 3\n");
    clones.sh("two", "git commit -qam three; git push -q origin HEAD");
    clones.ask("two", &["team", "landed"]);
    let shown = clones.ask("three", &["team", "status"]);
    assert_eq!(shown.json["team"]["warnings"], serde_json::json!([]), "{shown:#?}");
    // The store and the checkpoint from before agree with each other: this clone alone has nothing to compare them with.
    clones.sh("two", &format!("rm -r {state}/store.sqlite* {state}/receipts; cp -a ../kept/* {state}"));
    let own = clones.ask("two", &["log", "show"]);
    assert_eq!((&own.json["reason"], own.exit_code), (&"LOG.SHORTENED".into(), Some(1)), "{own:#?}");
    // The receipt that takes the place of the lost one has another digest.
    clones.change("two", "bo", "a = 4\n");
    let found = clones.ask("three", &["team", "status"]);
    let what = found.json["team"]["warnings"][0]["what"].as_str().unwrap_or_default().to_owned();
    assert!(what.starts_with("the log of clone ") && what.contains(", by bo"), "{found:#?}");
    let doctor = clones.ask("one", &["doctor"]);
    let team =
        doctor.json["checks"].as_array().and_then(|checks| checks.iter().find(|it| it["name"] == "team"));
    let team = team.expect("a check of the team");
    assert_eq!((&team["status"], &team["detail"]), (&"warning".into(), &what.as_str().into()), "{team:#?}");
    let listed = clones.ask("three", &["log", "show"]);
    assert_eq!(listed.json["clone_breaches"][0], what.as_str(), "{listed:#?}");
    let clone = what.split(' ').nth(4).expect("a name");
    let unknown = clones.ask("three", &["team", "accept-log", "ffffffff", "--why", "none"]);
    assert_ne!(unknown.exit_code, Some(0), "{unknown:#?}");
    let accepted = clones.ask("three", &["team", "accept-log", clone, "--why", "restored from a backup"]);
    assert_eq!(accepted.json["accepted"], what.as_str(), "{accepted:#?}");
    let quiet = clones.ask("one", &["team", "status"]);
    assert_eq!(quiet.json["team"]["warnings"], serde_json::json!([]), "{quiet:#?}");
}
