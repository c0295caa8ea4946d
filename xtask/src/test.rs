//! `cargo xtask test`: what the project promises about itself, in one command; and the long modes.

use crate::test_run::TestRun;
use crate::{ChoreResult, cargo, docs, root, tidy};
use std::path::PathBuf;

/// A step of `cargo xtask test`: its name, and what it does.
type TestStep = (&'static str, fn() -> ChoreResult);

/// Every check, in the order in which they are likely to fail. One that fails does not keep the others from running: all
/// that failed is named at the end.
pub fn test() -> ChoreResult {
    let steps: [TestStep; 7] = [
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
        ("vectors", || {
            let words = ["run", "--quiet", "--package", "probity", "--", "conformance", "conformance"];
            cargo("vectors", &words, &[])
        }),
        ("api docs", || {
            let words = ["doc", "--workspace", "--no-deps", "--quiet"];
            cargo("api docs", &words, &[("RUSTDOCFLAGS", "-D warnings")])
        }),
        ("docs", docs::check),
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

/// The kill test with its long setting: the normal tests run the same code with fewer kills.
pub fn kill() -> ChoreResult {
    cargo(
        "kills",
        &["test", "--package", "probity", "--test", "end_to_end", "kill", "--", "--nocapture"],
        &[("PROBITY_KILLS", "1000")],
    )
}

/// How well copies are found and what is called dead, in the given trees or in the project's own crates.
pub fn quality(trees: &[&str]) -> ChoreResult {
    let own = root().join("crates");
    let trees: Vec<PathBuf> =
        if trees.is_empty() { vec![own] } else { trees.iter().map(PathBuf::from).collect() };
    let mut words = vec!["bench", "--quiet", "--package", "probity-analysis", "--bench", "quality", "--"];
    let trees: Result<Vec<PathBuf>, _> = trees.iter().map(|tree| tree.canonicalize()).collect();
    let trees = trees.map_err(|error| format!("a tree is not there: {error}"))?;
    let trees: Vec<String> = trees.iter().map(|tree| tree.to_string_lossy().into_owned()).collect();
    words.extend(trees.iter().map(String::as_str));
    cargo("quality", &words, &[])
}

/// The simulation of the registry with its long setting, optimised.
pub fn simulate(seeds: &str) -> ChoreResult {
    registry("simulation", "registry::simulation", ("PROBITY_SEEDS", seeds))
}

/// The race of processes for one claim with its long setting: four racers, 2,500 claims each.
pub fn race() -> ChoreResult {
    registry("races", "registry::processes::of_many", ("PROBITY_ROUNDS", "2500"))
}

/// Kills of processes that claim and release, many times: two in each round.
pub fn kill_registry() -> ChoreResult {
    registry("kills of claims", "registry::processes::a_kill", ("PROBITY_KILLS", "300"))
}

fn registry(name: &str, tests: &str, setting: (&str, &str)) -> ChoreResult {
    let arguments =
        ["test", "--release", "--package", "probity-changes", "--lib", tests, "--", "--nocapture"];
    cargo(name, &arguments, &[setting])
}

/// Kills of processes that propose to the ledger, many times.
pub fn kill_ledger() -> ChoreResult {
    cargo(
        "kills of proposals",
        &["test", "--package", "probity", "--test", "end_to_end", "ledger::a_kill", "--", "--nocapture"],
        &[("PROBITY_KILLS", "200")],
    )
}

/// Kills of processes that commit, many times.
pub fn kill_commits() -> ChoreResult {
    cargo(
        "kills of commits",
        &["test", "--package", "probity", "--test", "end_to_end", "commits::a_kill", "--", "--nocapture"],
        &[("PROBITY_COMMIT_KILLS", "200")],
    )
}

/// The engine of commits against the naive model, on 100,000 random histories.
pub fn histories() -> ChoreResult {
    cargo(
        "histories",
        &["test", "--release", "--package", "probity-documents", "--test", "naive"],
        &[("PROBITY_HISTORIES", "100000"), ("PROBITY_FIRST_SEED", "1000000")],
    )
}
