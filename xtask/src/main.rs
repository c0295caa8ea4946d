//! The project's developer tasks. `cargo xtask` lists them.

mod agents;
mod attack;
mod audit;
mod bench;
mod bench_analyze;
mod bench_browser;
mod bench_change;
mod bench_contract;
mod bench_enforce;
mod bench_hook;
mod bench_peers;
mod bench_review;
mod book;
mod book_links;
mod check;
mod corpus;
mod demo;
mod dist;
mod docs;
mod fuzz;
mod fuzz_binary;
mod mcp;
mod measure;
mod recording;
mod stress;
mod team;
mod test;
mod test_run;
mod test_tools;
mod tidy;

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

type ChoreResult = Result<(), String>;

/// The developer tasks of the project.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
enum Chore {
    /// Build Probity and let it govern two example agents
    Demo,
    /// Formatting, tidy, lints, every test, the conformance vectors, the docs
    Test,
    /// Formatting, tidy and lints of one crate and of those that use it, and its tests: a minute while writing
    Check {
        /// The crate, such as `runner`
        package: String,
    },
    /// The rules of the house that no compiler holds: crate graph, cycles, citations, words
    Tidy {
        /// Lower what `xtask/allowances.txt` still lets through
        #[arg(long)]
        lower: bool,
    },
    /// Run the tests beside two busy loops, niced, and with slow flushes (long)
    Stress {
        /// How often beside the busy loops
        #[arg(default_value_t = 3)]
        rounds: usize,
    },
    /// Write the generated parts of the docs
    Docs {
        /// Only compare
        #[arg(long)]
        check: bool,
    },
    /// Build the book from the docs, below `target/book` (installs mdBook there the first time)
    Book,
    /// Build the packages of a release below `target/dist`
    Dist {
        /// The cargo profile
        #[arg(long, default_value = "dist")]
        profile: String,
        /// Only the archive and its checksum
        #[arg(long)]
        archive_only: bool,
        /// Make packages of the programs that are built; the governed half of a release
        #[arg(long, hide = true)]
        packages_only: bool,
    },
    /// Install the programs that tests drive, such as a browser and etcd, from Debian's packages (needs root)
    TestTools,
    /// Real members of etcd for the tests of teams
    Team {
        #[command(subcommand)]
        command: TeamChore,
    },
    /// Measure Probity side by side with what one would use instead
    Bench(BenchArgs),
    /// How well copies are found: seeded changes of real code; with `merges`, lost edits
    Quality(QualityArgs),
    /// How often merged commits of real projects are called violated, and why
    Corpus {
        /// Clones of the projects
        #[arg(value_name = "CLONE", required = true)]
        clones: Vec<PathBuf>,
        /// How many commits of each
        #[arg(long, default_value_t = 20)]
        commits: usize,
        /// The profile that the binary is built in
        #[arg(long, default_value = "dev")]
        profile: String,
    },
    /// Attack the binary, the slow cases included: one line per case, held or broken
    Attack {
        /// Only the cases whose name contains this
        case: Option<String>,
    },
    /// Install the real programs of coding agents from npm and put each through a trial (network, long)
    Agents {
        /// Only these agents
        #[arg(value_name = "AGENT")]
        agents: Vec<String>,
        /// The short trial that `cargo xtask test` has: two agents, no waiting
        #[arg(long, conflicts_with = "agents")]
        short: bool,
    },
    /// Licenses, sources, known holes and unused dependencies of what comes from outside
    Audit {
        /// Leave out the known holes, which come from the network
        #[arg(long)]
        offline: bool,
    },
    /// Kill processes at random points, many times (long)
    Kill {
        /// What is killed
        #[arg(value_enum, default_value_t = KillTarget::Runs)]
        target: KillTarget,
    },
    /// Hold the commit engine against a naive model on 100,000 histories (long)
    Histories,
    /// Run the registry of intents under random schedules
    Simulate {
        /// How many schedules
        #[arg(default_value_t = 10_000)]
        seeds: u64,
    },
    /// Let four processes contend for one path, 10,000 claims (long)
    Race,
    /// Run the fuzz targets
    Fuzz {
        /// How long each of them runs
        #[arg(default_value_t = 60)]
        seconds: u32,
        /// Only these targets
        #[arg(value_name = "TARGET")]
        targets: Vec<String>,
    },
    /// Send mutated files of every language through `probity analyze`
    FuzzBinary {
        /// How long it runs
        #[arg(default_value_t = 60)]
        seconds: u32,
        /// Repeats an earlier run, which printed this number
        seed: Option<u64>,
    },
}

#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
struct QualityArgs {
    /// The trees [default: the project's own crates]
    #[arg(value_name = "TREE")]
    trees: Vec<PathBuf>,

    /// The trees are labeled sets: a directory for each pair of copies
    #[arg(long)]
    pairs: bool,

    #[command(subcommand)]
    command: Option<QualityCommand>,
}

#[derive(Subcommand)]
enum QualityCommand {
    /// How well lost edits are found: losses planted in clean merges of real projects
    Merges(MergeCloneArgs),
}

#[derive(Args)]
struct MergeCloneArgs {
    /// Clones of the projects
    #[arg(value_name = "CLONE", required = true)]
    clones: Vec<PathBuf>,

    /// How many merges of each, the newest
    #[arg(long, default_value_t = 2_000)]
    merges: usize,
}

#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
struct BenchArgs {
    /// The benchmarks [default: all but `large`]
    #[arg(value_name = "BENCHMARK")]
    which: Vec<bench::Benchmark>,

    #[command(subcommand)]
    command: Option<BenchCommand>,
}

#[derive(Subcommand)]
enum BenchCommand {
    /// Analysis beside merely parsing
    Analyze {
        /// The trees [default: trees of 10,000 to 1,000,000 lines]
        #[arg(value_name = "TREE")]
        trees: Vec<PathBuf>,
    },
    /// Analysis beside other analyzers
    AnalyzePeers {
        #[arg(value_name = "TREE", required = true)]
        trees: Vec<PathBuf>,
    },
    /// Verdicts and claims
    Contract,
    /// Start and finish beside codeclone
    Change,
    /// A whole governed edit
    Edit {
        /// The tree that is edited, in a copy
        tree: PathBuf,
    },
    /// Eight processes that contend for one path
    Registry,
    /// What confining a command costs, beside `git status` and `bwrap`
    Enforce {
        /// The profile that the binary is built in
        #[arg(long, default_value = "release")]
        profile: String,
    },
    /// The hook beside `/bin/true` and beside scripted hooks
    Hook,
    /// Audits of git merges beside `git log --remerge-diff`
    Merges(MergeCloneArgs),
    /// The review page beside `git diff` and difftastic
    Review {
        /// How many changes were finished before
        #[arg(long, default_value_t = 1_000)]
        receipts: usize,
    },
}

#[derive(Clone, Copy, ValueEnum)]
enum KillTarget {
    /// Governed runs, 1,000 times
    Runs,
    /// Processes that propose to the ledger, 200 times
    Ledger,
    /// Processes that commit, 200 times
    Commits,
    /// Processes that claim and release, 600 times
    Registry,
    /// Processes that land changes, 1,000 times, and 10,000 landings of several at once
    Landing,
}

/// What is done with etcd.
#[derive(Subcommand)]
enum TeamChore {
    /// Install etcd below `target/team`, from Debian's packages; needs no rights
    Install,
    /// Hurt a cluster while claims go on, and judge every history twice (a minute a round)
    Faults {
        /// How often the table is run through
        #[arg(long, default_value_t = 1)]
        rounds: usize,
    },
    /// Break something every few seconds, for as long as it is told to
    Soak {
        /// How long it goes on
        #[arg(long, default_value_t = 60)]
        minutes: u64,
        /// What is broken when
        #[arg(long)]
        seed: Option<u64>,
    },
    /// Measure claims, reads and cold starts beside the embedded store
    Bench,
    /// Simulate teams of up to 1,000 machines with ten agents each: what they ask of their store
    Numbers,
}

fn main() -> ExitCode {
    match run(Chore::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("xtask: {why}");
            ExitCode::FAILURE
        }
    }
}

fn run(chore: Chore) -> ChoreResult {
    match chore {
        Chore::Demo => demo::demo(),
        Chore::TestTools => test_tools::install(),
        Chore::Team { command: TeamChore::Install } => team::install(),
        Chore::Team { command: TeamChore::Faults { rounds } } => team::faults(rounds),
        Chore::Team { command: TeamChore::Soak { minutes, seed } } => team::soak(minutes, seed),
        Chore::Team { command: TeamChore::Bench } => team::bench(),
        Chore::Team { command: TeamChore::Numbers } => team::numbers(),
        Chore::Test => test::test(),
        Chore::Check { package } => check::check(&package),
        Chore::Tidy { lower: false } => tidy::tidy(),
        Chore::Tidy { lower: true } => tidy::lower_allowances(),
        Chore::Stress { rounds } => stress::stress(rounds),
        Chore::Docs { check: false } => docs::write(),
        Chore::Docs { check: true } => docs::check(),
        Chore::Book => book::book(),
        Chore::Dist { profile, archive_only, packages_only } => {
            dist::dist(&dist::ReleaseBuild { profile, archive_only, packages_only })
        }
        Chore::Bench(BenchArgs { command: None, which }) => bench::bench(&which),
        Chore::Bench(BenchArgs { command: Some(command), .. }) => match command {
            BenchCommand::Analyze { trees } => bench_analyze::analyze(&trees),
            BenchCommand::AnalyzePeers { trees } => bench_peers::peers(&trees),
            BenchCommand::Contract => bench_contract::contract(),
            BenchCommand::Change => bench_change::change(),
            BenchCommand::Edit { tree } => bench_change::edit_of(&tree),
            BenchCommand::Registry => bench_change::registry(),
            BenchCommand::Enforce { profile } => bench_enforce::enforce(&profile),
            BenchCommand::Hook => bench_hook::hook(),
            BenchCommand::Review { receipts } => bench_review::review(receipts),
            BenchCommand::Merges(args) => bench::merges(&args.clones, args.merges),
        },
        Chore::Quality(QualityArgs { command: Some(QualityCommand::Merges(args)), .. }) => {
            bench::merge_quality(&args.clones, args.merges)
        }
        Chore::Quality(QualityArgs { trees, pairs, command: None }) => test::quality(trees, pairs),
        Chore::Corpus { clones, commits, profile } => corpus::corpus(&clones, commits, &profile),
        Chore::Attack { case } => attack::attack(case.as_deref()),
        Chore::Agents { short: true, .. } => agents::short_trial(),
        Chore::Agents { agents, short: false } => agents::agents(&agents),
        Chore::Audit { offline } => audit::audit(offline),
        Chore::Kill { target: KillTarget::Runs } => test::kill(),
        Chore::Kill { target: KillTarget::Ledger } => test::kill_ledger(),
        Chore::Kill { target: KillTarget::Commits } => test::kill_commits(),
        Chore::Kill { target: KillTarget::Registry } => test::kill_registry(),
        Chore::Kill { target: KillTarget::Landing } => test::kill_landing(),
        Chore::Histories => test::histories(),
        Chore::Simulate { seeds } => test::simulate(seeds),
        Chore::Race => test::race(),
        Chore::Fuzz { seconds, targets } => fuzz::fuzz(seconds, &targets),
        Chore::FuzzBinary { seconds, seed } => fuzz_binary::fuzz_binary(seconds, seed),
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
    // Naming examples makes cargo choose the features of `cargo test --workspace`, so that both share what they compile.
    let development = ["build", "--quiet", "--workspace", "--bins", "--examples"];
    let optimized = ["build", "--quiet", "--package", "probity", "--profile", profile];
    cargo("build", if profile == "dev" { &development } else { &optimized }, &[])?;
    Ok(target().join(if profile == "dev" { "debug" } else { profile }).join("probity"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_sound() {
        Chore::command().debug_assert();
        for words in [
            "bench",
            "bench run tree",
            "bench analyze-peers a b",
            "kill",
            "kill ledger",
            "kill landing",
            "bench enforce --profile dev",
            "bench review --receipts 10",
            "corpus a b --commits 5",
            "check runner",
            "dist --profile dev --archive-only",
            "stress 10",
            "fuzz 60 paths",
            "fuzz-binary 600 7",
        ] {
            let words = ["xtask"].into_iter().chain(words.split(' '));
            assert!(Chore::try_parse_from(words.clone()).is_ok(), "{words:?}");
        }
        assert!(Chore::try_parse_from(["xtask", "bench", "nothing"]).is_err());
    }
}
