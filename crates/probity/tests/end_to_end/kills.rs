//! Kills the supervisor at random instants of a run, many times (law 10): no bundle is ever half written, the chain
//! never forks, acknowledged evidence stays, and the next start closes whatever was left open.
//!
//! `PROBITY_KILLS` sets the number of kills (`cargo xtask kill` uses many); `PROBITY_SEED` repeats a failure.

use crate::repo::{Repo, verify};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A small random generator: the instants must be repeatable, not good.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % below.max(1)
    }
}

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
fn a_kill_at_any_instant_leaves_no_half_evidence() {
    let kills = setting("PROBITY_KILLS", 200);
    let seed = setting("PROBITY_SEED", 20_261_115);
    println!("{kills} kills, PROBITY_SEED={seed}");
    let mut dice = Dice(seed);
    let repo = Repo::new();
    repo.write("probity.toml", "[[gate]]\nid = \"check\"\ntier = \"T0\"\nrun = [\"true\"]\n");
    repo.run("true").passes();
    let whole = whole_run(&repo);
    // On a machine of any speed, one kill hits a sealed run: here the agent kills its supervisor.
    let mut command = repo.probity(&["run", "--scope", "src/a.py", "--", "sh", "-c", "kill -9 $PPID"]);
    assert!(!command.output().expect("starts").status.success());
    let mut acknowledged = Vec::new();
    let mut killed = 1;
    while killed < kills {
        let mut command = governed(&repo, killed);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("starts");
        let longest = u64::try_from(whole.as_micros()).expect("a short time") * 5 / 4;
        std::thread::sleep(Duration::from_micros(dice.roll(longest)));
        child.kill().expect("is killed");
        let output = child.wait_with_output().expect("ends");
        if output.status.success() {
            let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
            acknowledged.push(json["evidence_dir"].as_str().expect("a directory").to_owned());
        } else {
            killed += 1;
        }
    }
    check(&repo, &acknowledged);
}

/// Measures a run that nobody kills.
fn whole_run(repo: &Repo) -> Duration {
    let began = Instant::now();
    let status = governed(repo, 0).stdout(Stdio::null()).stderr(Stdio::null()).status().expect("runs");
    assert!(status.success());
    began.elapsed()
}

fn governed(repo: &Repo, round: u64) -> Command {
    let mut command = repo.probity(&["run", "--json", "--scope", "src/a.py", "--", "sh", "-c"]);
    command.arg(format!("echo {round} > src/a.py"));
    command
}

fn check(repo: &Repo, acknowledged: &[String]) {
    repo.wait_for_silence();
    // The next start closes open runs.
    repo.run("true").passes();
    let state = repo.path().join(".git/probity");
    let open = std::fs::read_dir(state.join("open")).expect("lists").count();
    assert_eq!(open, 0, "runs were left open");
    for dir in acknowledged {
        assert!(std::path::Path::new(dir).exists(), "acknowledged evidence is gone: {dir}");
    }
    let mut interrupted = 0;
    let mut n_bundles = 0;
    for entry in std::fs::read_dir(state.join("evidence")).expect("lists") {
        let dir = entry.expect("an entry").path();
        let verified = verify(&dir, None);
        let broken: Vec<String> = verified
            .codes()
            .into_iter()
            .filter(|code| code.starts_with("EVIDENCE.") || code.starts_with("JSON."))
            .collect();
        assert!(broken.is_empty(), "{} does not hold together: {broken:?}", dir.display());
        interrupted += usize::from(verified.codes().contains(&"RUN.INTERRUPTED".to_owned()));
        n_bundles += 1;
    }
    let chain = repo.ask(&["evidence", "chain"]);
    assert_eq!(chain.json["outcome"], "PASS", "{chain:#?}");
    assert_eq!(chain.json["links"].as_array().map(Vec::len), Some(n_bundles), "bundles off the chain");
    println!(
        "{n_bundles} bundles, {interrupted} of them closed after a kill, {} acknowledged",
        acknowledged.len()
    );
    assert!(interrupted > 0, "no kill hit a run that was sealed: the test proves nothing");
}

/// Number of kills for commands other than runs, which are short and have few steps.
const FEW: u64 = 40;

/// Starts `command` and kills it within `longest`; returns whether it ended before that.
fn kill_within(mut command: Command, longest: Duration, dice: &mut Dice) -> bool {
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("starts");
    let longest = u64::try_from(longest.as_micros()).expect("a short time");
    std::thread::sleep(Duration::from_micros(dice.roll(longest)));
    let _ = child.kill();
    child.wait().expect("ends").success()
}

#[test]
fn an_amendment_that_is_killed_is_whole_or_not_there() {
    let mut dice = Dice(setting("PROBITY_SEED", 20_261_116));
    let repo = Repo::new();
    let run = repo.run("echo x >> docs/d.md; echo x >> src/b.py");
    let id = run.json["run_id"].as_str().expect("an id").to_owned();
    let amend = || repo.probity(&["amend", &id, "--add", "docs/**", "--why", "docs", "--by", "ann"]);
    let began = Instant::now();
    amend().output().expect("starts");
    let whole = began.elapsed();
    for _ in 0..FEW {
        kill_within(amend(), whole * 5 / 4, &mut dice);
    }
    check_chain_and_open(&repo);
}

#[test]
fn an_amendment_killed_between_bundle_and_chain_is_brought_to_its_end() {
    let repo = Repo::new();
    let run = repo.run("echo x >> docs/d.md");
    let state = repo.path().join(".git/probity");
    let log = ["store.sqlite", "store.sqlite-wal", "log.checkpoint"].map(|name| {
        let path = state.join(name);
        (std::fs::read(&path).expect("a part of the log"), path)
    });
    let amended = repo.ask(&["amend", "last", "--add", "docs/**", "--why", "docs", "--by", "ann"]);
    assert_eq!(amended.exit_code, Some(0), "{amended:#?}");
    // The state that a kill leaves after the bundle was written: the old log, and the directory of the open amendment.
    let id = amended.json["run_id"].as_str().expect("an id");
    let lock =
        std::fs::read_dir(state.join("locks")).expect("lists").next().expect("a lock").expect("an entry");
    let open = format!("{id}.{}", lock.file_name().display());
    std::fs::create_dir_all(state.join("open").join(open)).expect("creates");
    for (bytes, path) in log {
        std::fs::write(path, bytes).expect("writes");
    }
    repo.sh("rm -f .git/probity/store.sqlite-shm");
    repo.run("true").passes();
    let chain = repo.ask(&["evidence", "chain"]);
    assert_eq!(
        (&chain.json["outcome"], chain.json["links"].as_array().map(Vec::len)),
        (&"PASS".into(), Some(3))
    );
    assert_ne!(run.json["run_hash"], amended.json["run_hash"]);
    check_chain_and_open(&repo);
}

#[test]
fn a_revert_that_is_killed_is_closed_at_the_next_start() {
    let mut dice = Dice(setting("PROBITY_SEED", 20_261_117));
    let repo = Repo::new();
    let began = Instant::now();
    repo.run("true").passes();
    let whole = began.elapsed();
    for round in 0..FEW {
        let outcome = repo.run(&format!("echo {round} > payload"));
        let id = outcome.json["run_id"].as_str().expect("an id").to_owned();
        kill_within(repo.probity(&["revert", &id]), whole, &mut dice);
        repo.sh("rm -f payload");
    }
    check_chain_and_open(&repo);
}

#[test]
fn kills_in_several_worktrees_leave_one_chain() {
    let repo = Repo::new();
    repo.sh("git worktree add -q ../one; git worktree add -q ../two");
    let roots = [repo.path(), repo.outside().join("one"), repo.outside().join("two")];
    let whole = whole_run(&repo);
    let commands: Vec<Vec<Command>> = roots
        .iter()
        .map(|root| {
            let command = |round| {
                let mut command = governed(&repo, round);
                command.current_dir(root);
                command
            };
            (0..FEW / 2).map(command).collect()
        })
        .collect();
    std::thread::scope(|scope| {
        for (number, commands) in (1..).zip(commands) {
            let mut dice = Dice(setting("PROBITY_SEED", 20_261_118) * number);
            scope.spawn(move || {
                for command in commands {
                    kill_within(command, whole * 2, &mut dice);
                }
            });
        }
    });
    check_chain_and_open(&repo);
}

#[test]
fn kills_of_starts_finishes_and_proposals_lose_nothing_acknowledged() {
    let mut dice = Dice(setting("PROBITY_SEED", 20_261_119));
    let repo = Repo::new();
    repo.write("../delta.json", "");
    let propose = |handle: &str| {
        let delta = serde_json::json!({
            "kind": "decision_made", "handle": handle, "summary": format!("Use {handle}"), "confidence": "high",
        });
        repo.write("../delta.json", &delta.to_string());
        let mut command = repo.probity(&["ledger", "propose", "--said", "We decided it."]);
        command.stdin(std::fs::File::open(repo.outside().join("delta.json")).expect("opens"));
        command
    };
    let began = Instant::now();
    assert!(propose("first").output().expect("starts").status.success());
    let whole = began.elapsed();
    let mut acknowledged = vec!["first".to_owned()];
    let mut receipts = 0;
    for round in 0..FEW {
        let handle = format!("d{round}");
        if kill_within(propose(&handle), whole * 2, &mut dice) {
            acknowledged.push(handle);
        }
        let path = format!("src/n{round}.py");
        let start = repo.probity(&["start", &path, "--intent", "a change"]);
        if kill_within(start, whole * 3, &mut dice) {
            repo.write(&path, "x = 1\n");
            receipts += usize::from(kill_within(repo.probity(&["finish"]), whole * 3, &mut dice));
            repo.sh("git add src && git commit -q --allow-empty -m change");
        }
    }
    assert!(propose("last").output().expect("starts").status.success());
    let shown = repo.ask(&["ledger", "show"]).json.to_string();
    for handle in &acknowledged {
        assert!(shown.contains(&format!("\"{handle}\"")), "{handle} is gone: {shown}");
    }
    let listed = repo.ask(&["receipt", "list"]);
    assert_eq!(listed.exit_code, Some(0), "{listed:#?}");
    assert!(listed.json["receipts"].as_array().is_some_and(|all| all.len() >= receipts), "{listed:#?}");
    let log = repo.ask(&["log", "show"]);
    assert_eq!(log.exit_code, Some(0), "{log:#?}");
    println!("{} proposals and {receipts} receipts acknowledged", acknowledged.len());
}

/// Checks that after the next start nothing is open, the chain is intact, and every bundle is on it.
fn check_chain_and_open(repo: &Repo) {
    repo.wait_for_silence();
    repo.run("true").passes();
    let state = repo.path().join(".git/probity");
    assert_eq!(std::fs::read_dir(state.join("open")).expect("lists").count(), 0, "something was left open");
    let chain = repo.ask(&["evidence", "chain"]);
    let n_bundles = repo.ask(&["evidence", "list"]).json["runs"].as_array().map(Vec::len);
    assert_eq!(chain.json["outcome"], "PASS", "{chain:#?}");
    assert_eq!(chain.json["links"].as_array().map(Vec::len), n_bundles, "{chain:#?}");
}
