//! The project's developer tasks. `cargo xtask` lists them.

mod attack;
mod audit;
mod bench;
mod bench_analyze;
mod bench_change;
mod bench_contract;
mod bench_peers;
mod demo;
mod docs;
mod fuzz;
mod mcp;
mod measure;
mod stress;
mod test;
mod test_run;
mod tidy;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

const USAGE: &str = "usage: cargo xtask <chore>

  demo    build Probity and let it govern two example agents
  test    formatting, tidy, lints, every test, the conformance vectors, the docs
  tidy    the rules of the house that no compiler holds: crate graph, cycles, citations, words
          (`tidy --lower` lowers what `xtask/allowances.txt` still lets through)
  stress [rounds]   run the tests beside two busy loops (3 times), niced, and with slow flushes (long)
  docs    write the generated parts of the docs (`docs --check` only compares)
  bench   measure Probity side by side with what one would use instead
          (`bench analyze [TREE…]`: analysis beside merely parsing, at 10,000 to 1,000,000 lines;
          `bench analyze-peers TREE…`: analysis beside other analyzers; `bench contract`: verdicts and claims)
          (`bench change`: start and finish beside codeclone; `bench edit TREE`: a whole governed edit;
          `bench registry`: eight processes that contend for one path)
  quality how well copies are found: seeded changes of real code in the given trees, or in the project's own
  attack [case]   attack the binary, the slow cases included: one line per case, held or broken
  audit   licenses, sources, known holes and unused dependencies of what comes from outside
  kill    kill governed runs at random points, many times (long)
  kill ledger   kill processes that propose to the ledger, 200 times (long)
  kill commits  kill processes that commit, 200 times (long)
  histories     hold the commit engine against a naive model on 100,000 histories (long)
  simulate [seeds]   run the registry of intents under the given number of random schedules (10,000)
  race    let four processes contend for one path, 10,000 claims (long)
  kill registry  kill processes that claim and release, 600 times (long)
  fuzz [seconds [target…]]   run every fuzz target, or those named, for 60 s or as many as are given
";

type ChoreResult = Result<(), String>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match words.as_slice() {
        ["demo"] => demo::demo(),
        ["test"] => test::test(),
        ["tidy"] => tidy::tidy(),
        ["tidy", "--lower"] => tidy::lower_allowances(),
        ["stress"] => stress::stress("3"),
        ["stress", rounds] => stress::stress(rounds),
        ["docs"] => docs::write(),
        ["docs", "--check"] => docs::check(),
        ["bench", "analyze", trees @ ..] => bench_analyze::analyze(trees),
        ["bench", "analyze-peers", trees @ ..] => bench_peers::peers(trees),
        ["bench", "contract"] => bench_contract::contract(),
        ["bench", "change"] => bench_change::change(),
        ["bench", "edit", tree] => bench_change::edit_of(tree),
        ["bench", "registry"] => bench_change::registry(),
        ["bench", which @ ..] => bench::bench(which),
        ["quality", trees @ ..] => test::quality(trees),
        ["attack"] => attack::attack(None),
        ["attack", filter] => attack::attack(Some(filter)),
        ["audit"] => audit::audit(false),
        ["audit", "--offline"] => audit::audit(true),
        ["kill"] => test::kill(),
        ["kill", "ledger"] => test::kill_ledger(),
        ["kill", "commits"] => test::kill_commits(),
        ["kill", "registry"] => test::kill_registry(),
        ["histories"] => test::histories(),
        ["simulate"] => test::simulate("10000"),
        ["simulate", seeds] => test::simulate(seeds),
        ["race"] => test::race(),
        ["fuzz"] => fuzz::fuzz("60", &[]),
        ["fuzz", seconds, targets @ ..] => fuzz::fuzz(seconds, targets),
        _ => {
            eprint!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("xtask: {why}");
            ExitCode::FAILURE
        }
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map_or_else(PathBuf::new, Path::to_owned)
}

/// Runs a cargo command in the project and reports its failure under `name`.
fn cargo(name: &str, arguments: &[&str], environment: &[(&str, &str)]) -> ChoreResult {
    eprintln!("── {name}: cargo {}", arguments.join(" "));
    let status = Command::new(env!("CARGO"))
        .args(arguments)
        .envs(environment.iter().copied())
        .current_dir(root())
        .status()
        .map_err(|error| format!("{name}: cargo could not be started: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{name} failed")) }
}

fn target() -> PathBuf {
    // Cargo resolves a relative directory from where it runs, which is the root, and ignores an empty one.
    let named = std::env::var_os("CARGO_TARGET_DIR").filter(|named| !named.is_empty());
    root().join(named.map_or_else(|| PathBuf::from("target"), PathBuf::from))
}

/// Builds the binary in the given profile and returns its path.
fn build(profile: &str) -> Result<PathBuf, String> {
    cargo("build", &["build", "--quiet", "--package", "probity", "--profile", profile], &[])?;
    Ok(target().join(if profile == "dev" { "debug" } else { profile }).join("probity"))
}
