//! `cargo xtask test`: every check of the project in one command; and the long-running variants of some tests.

use crate::test_run::TestRun;
use crate::{ChoreResult, agents, build, cargo, docs, root, tidy};
use std::path::PathBuf;
use std::process::Command;

type TestStep = (&'static str, fn() -> ChoreResult);

/// Runs every check, those most likely to fail first. A failure does not stop the others: all failures are named at the
/// end.
pub fn test() -> ChoreResult {
    let steps: [TestStep; 8] = [
        ("formatting", || cargo("formatting", &["fmt", "--all", "--check"], &[])),
        ("tidy", tidy::tidy),
        ("lints", || {
            cargo(
                "lints",
                &["clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"],
                &[],
            )
        }),
        ("tests", tests),
        ("vectors", vectors),
        ("api docs", || {
            let words = ["doc", "--workspace", "--no-deps", "--quiet"];
            cargo("api docs", &words, &[("RUSTDOCFLAGS", "-D warnings")])
        }),
        ("docs", docs::check),
        ("agents", || {
            eprintln!("── agents: the guard in front of the real programs");
            agents::short_trial()
        }),
    ];
    let failed: Vec<String> =
        steps.iter().filter_map(|(name, step)| step().err().map(|why| format!("{name}: {why}"))).collect();
    if failed.is_empty() {
        eprintln!("── every step passed");
        return Ok(());
    }
    Err(format!("{} of {} steps failed\n  {}", failed.len(), steps.len(), failed.join("\n  ")))
}

fn tests() -> ChoreResult {
    eprintln!("── tests: cargo test --workspace --no-fail-fast");
    eprintln!(
        "── seed of the property tests: {} (without PROPTEST_RNG_SEED `cargo test` rolls its own)",
        TestRun::seed()
    );
    let run = TestRun::start(&[])?;
    let skipped = run.skipped();
    eprintln!(
        "── tests: {} passed, {} failed, {} skipped",
        run.n_passed(),
        run.failed().len(),
        skipped.len()
    );
    for test in skipped {
        eprintln!("    {test}");
    }
    run.failure().map_or(Ok(()), Err)
}

fn vectors() -> ChoreResult {
    let binary = build("dev")?;
    eprintln!("── vectors: probity conformance conformance");
    let status = Command::new(&binary).args(["conformance", "conformance"]).current_dir(root()).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("`probity conformance` ended with {status}")),
        Err(error) => Err(format!("{}: {error}", binary.display())),
    }
}

/// Runs the kill test with many kills; the normal tests run the same code with fewer.
pub fn kill() -> ChoreResult {
    cargo(
        "kills",
        &["test", "--package", "probity", "--test", "end_to_end", "kill", "--", "--nocapture"],
        &[("PROBITY_KILLS", "1000")],
    )
}

/// Measures clone and dead-code detection, in the given trees or in the project's own crates; or how many pairs of
/// labeled sets are found.
pub fn quality(trees: Vec<PathBuf>, are_pairs: bool) -> ChoreResult {
    let trees = if trees.is_empty() { vec![root().join("crates")] } else { trees };
    let bench = if are_pairs { "pairs" } else { "quality" };
    let mut words = vec!["bench", "--quiet", "--package", "probity-analysis", "--bench", bench, "--"];
    let trees: Result<Vec<PathBuf>, _> = trees.iter().map(|tree| tree.canonicalize()).collect();
    let trees = trees.map_err(|error| format!("a tree is not there: {error}"))?;
    let trees: Vec<String> = trees.iter().map(|tree| tree.to_string_lossy().into_owned()).collect();
    words.extend(trees.iter().map(String::as_str));
    cargo("quality", &words, &[])
}

/// Runs the registry simulation with many seeds, optimized.
pub fn simulate(seeds: u64) -> ChoreResult {
    registry("simulation", "registry::simulation", ("PROBITY_SEEDS", &seeds.to_string()))
}

/// Races processes for one claim: four racers, 2,500 claims each.
pub fn race() -> ChoreResult {
    registry("races", "registry::processes::of_many", ("PROBITY_ROUNDS", "2500"))
}

/// Kills processes that claim and release, two in each round.
pub fn kill_registry() -> ChoreResult {
    registry("kills of claims", "registry::processes::a_kill", ("PROBITY_KILLS", "300"))
}

fn registry(name: &str, tests: &str, setting: (&str, &str)) -> ChoreResult {
    let arguments =
        ["test", "--release", "--package", "probity-changes", "--lib", tests, "--", "--nocapture"];
    cargo(name, &arguments, &[setting])
}

/// Kills processes that propose to the ledger.
pub fn kill_ledger() -> ChoreResult {
    cargo(
        "kills of proposals",
        &["test", "--package", "probity", "--test", "end_to_end", "ledger::a_kill", "--", "--nocapture"],
        &[("PROBITY_KILLS", "200")],
    )
}

/// Kills processes that commit.
pub fn kill_commits() -> ChoreResult {
    cargo(
        "kills of commits",
        &["test", "--package", "probity", "--test", "end_to_end", "commits::a_kill", "--", "--nocapture"],
        &[("PROBITY_COMMIT_KILLS", "200")],
    )
}

/// Kills processes that land changes, and lets several land on the same files.
pub fn kill_landing() -> ChoreResult {
    cargo(
        "kills of landings",
        &["test", "--package", "probity-runner", "--lib", "landing::tests"],
        &[("PROBITY_LANDING_KILLS", "1000"), ("PROBITY_LANDING_RACES", "2500")],
    )
}

/// Compares the commit engine with the naive model on 100,000 random histories.
pub fn histories() -> ChoreResult {
    cargo(
        "histories",
        &["test", "--release", "--package", "probity-documents", "--test", "naive"],
        &[("PROBITY_HISTORIES", "100000"), ("PROBITY_FIRST_SEED", "1000000")],
    )
}
