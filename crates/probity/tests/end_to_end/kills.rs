//! Kills the supervisor at random instants of a run, many times (law 10): no bundle is ever half there, the chain never
//! forks, what was acknowledged stays, and the next start closes what was left open.
//!
//! `PROBITY_KILLS` sets how often (`cargo xtask kill` uses many); `PROBITY_SEED` repeats a failure.

use crate::repo::{Repo, verify};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A small generator of its own: the instants must be repeatable, not good.
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
    let mut acknowledged = Vec::new();
    let mut killed = 0;
    while killed < kills {
        let mut command = governed(&repo, killed);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("starts");
        let longest = u64::try_from(whole.as_micros()).expect("a short time") * 5 / 4;
        std::thread::sleep(Duration::from_micros(dice.roll(longest)));
        child.kill().expect("is killed");
        let output = child.wait_with_output().expect("ends");
        if output.status.success() {
            let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
            acknowledged.push(json["evidence_dir"].as_str().expect("a folder").to_owned());
        } else {
            killed += 1;
        }
    }
    check(&repo, &acknowledged);
}

/// How long a run takes that nobody kills.
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
    // An agent that outlived its supervisor may still write for a moment; then one more start closes what is open.
    std::thread::sleep(Duration::from_millis(200));
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
