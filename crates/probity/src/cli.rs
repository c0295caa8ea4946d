//! The command line: what can be said, and the help that goes with it. No behaviour lives here.

use crate::commands::change::{FinishArgs, StartArgs, StatusArgs};
use crate::commands::contract::{ClaimsCommand, ContractCommand};
use crate::commands::identity::Identity;
use crate::commands::receipt::ReceiptCommand;
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::ffi::OsString;
use std::path::PathBuf;

/// Change control for AI coding agents.
///
/// Say what a change may touch; Probity seals that, finds out from the tree what really changed, judges it, and
/// leaves evidence that anyone can check.
#[derive(Debug, Parser)]
#[command(
    name = "probity",
    version,
    help_template = crate::help::template(),
    after_help = probity_api::ExitCode::summary(),
    propagate_version = true
)]
pub(crate) struct Cli {
    /// The root of the tree [default: the nearest directory upwards with `.git`, `probity.toml` or `probity.json`, else
    /// the current directory; never `/` or your home directory]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,

    /// One JSON document on stdout; words go to stderr
    #[arg(long, global = true)]
    pub(crate) json: bool,

    /// Log each step to stderr; twice, also git commands and other processes [env: PROBITY_LOG=debug]
    #[arg(long, short, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,

    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a command under a sealed scope, and judge what it changed
    ///
    /// The scope is sealed before the command starts. Afterwards every change of the tree is found by comparing
    /// snapshots, whatever the command says and whatever git ignores; the gates of the sealed policy run; and an
    /// evidence bundle is written, also when the run fails.
    #[command(after_help = "Examples:\n  probity run --scope 'src/auth/**' -- claude -p 'fix the login'\n  \
                            probity run --pack backend --scope '!src/generated/**' -- make fmt")]
    Run {
        #[command(flatten)]
        selection: Selection,

        /// Let the run change a protected path (a pattern); `.git/…` always means the one at the root
        #[arg(long, value_name = "PATTERN")]
        grant: Vec<OsString>,

        #[command(flatten)]
        identity: Identity,

        /// The command and its arguments
        #[arg(last = true, required = true, value_name = "COMMAND")]
        command: Vec<OsString>,
    },

    /// Show what would be sealed, and how much the scope covers
    #[command(
        after_help = "Examples:\n  probity plan --scope 'src/auth/**'\n  probity plan --suggest src/auth/login.py src/auth/token.py\n  probity plan --suggest-from last"
    )]
    Plan {
        #[command(flatten)]
        selection: Selection,

        /// Propose a minimal scope for these paths
        #[arg(long, value_name = "PATH", num_args = 1..)]
        suggest: Vec<OsString>,

        /// Propose a minimal scope for what an earlier run changed
        #[arg(long, value_name = "RUN", conflicts_with = "suggest")]
        suggest_from: Option<String>,
    },

    Start(StartArgs),

    Finish(FinishArgs),

    Status(StatusArgs),

    /// Check the setup: git, state, store, clock, policy and agents
    #[command(after_help = "Examples:\n  probity doctor")]
    Doctor,

    /// Widen the scope of a run or an intent, on the record
    ///
    /// A run that is going on takes the amendment at once. A finished run is judged again with the amended scope, and
    /// the new verdict is a bundle of its own: the old one stays as it is. An intent gains literal paths, if nobody else
    /// holds them.
    #[command(
        after_help = "Examples:\n  probity amend last --add 'docs/**' --why 'the change needs its manual page'\n  probity amend --intent 0199c2 --add src/util.py --why 'the helper moved'"
    )]
    Amend {
        /// The run: its id or the beginning of it, `last`, or `open` for the run that is going on
        #[arg(default_value = "open")]
        run: String,

        /// An intent instead of a run: its id, or the beginning of it
        #[arg(long, value_name = "INTENT", conflicts_with = "run")]
        intent: Option<String>,

        /// A pattern to add to the scope; for an intent a literal path
        #[arg(long, value_name = "GLOB", required_unless_present = "related")]
        add: Vec<OsString>,

        /// For an intent: a path that it may touch along the way
        #[arg(long, value_name = "PATH", requires = "intent")]
        related: Vec<OsString>,

        /// Why the scope must grow
        #[arg(long, value_name = "TEXT")]
        why: String,

        /// Who decides this [default: the user]
        #[arg(long, value_name = "NAME", env = "USER")]
        by: Option<String>,

        #[command(flatten)]
        identity: Identity,
    },

    /// Undo the out-of-scope changes of a run, and nothing else
    #[command(after_help = "Examples:\n  probity revert last --dry-run\n  probity revert last README.md")]
    Revert {
        /// The run: its id or the beginning of it, or `last`
        run: String,

        /// Only these paths
        paths: Vec<OsString>,

        /// Say what would be done, and do nothing
        #[arg(long)]
        dry_run: bool,
    },

    /// Analyze the code: clones, complexity, cycles, dead code, health
    ///
    /// Reads every language it knows, names what it did not read, and keeps the result as a run that any other run
    /// can be compared with. After an edit only what changed is read again.
    #[command(
        after_help = "Examples:\n  probity analyze\n  probity analyze --changed main --markdown summary.md\n  \
                            probity analyze --html report.html"
    )]
    Analyze(crate::commands::analysis::AnalyzeArgs),

    /// List, show and compare stored analyses
    #[command(
        subcommand,
        after_help = "Examples:\n  probity runs list\n  probity runs compare 14d82d39 last"
    )]
    Runs(crate::commands::analysis::RunsCommand),

    /// List, show, renew, recover and clear intents
    #[command(after_help = "Examples:\n  probity intent list\n  probity intent show 0199\n  \
                            probity intent recover 0199 --owner $PROBITY_OWNER")]
    Intent(crate::commands::intent::IntentArgs),

    /// Show the log of intents, checked from its first event
    #[command(after_help = "Examples:\n  probity log\n  probity log --after 100 --json")]
    Log(crate::commands::intent::LogArgs),

    /// List, show, check and export evidence bundles
    #[command(subcommand, after_help = "Examples:\n  probity evidence list\n  probity evidence verify last")]
    Evidence(EvidenceCommand),

    /// Judge a change: did it make the code worse, inside its scope?
    #[command(
        subcommand,
        after_help = "Examples:\n  probity contract verify --base origin/main\n  probity contract budget"
    )]
    Contract(ContractCommand),

    /// Check what an author says about a change
    #[command(subcommand, after_help = "Examples:\n  probity claims check --text review.md")]
    Claims(ClaimsCommand),

    /// List, show and check the receipts of changes
    #[command(subcommand, after_help = "Examples:\n  probity receipt list\n  probity receipt show last")]
    Receipt(ReceiptCommand),

    /// Make and show the key that signs evidence
    #[command(subcommand, after_help = "Examples:\n  probity keys generate\n  probity keys show")]
    Keys(KeysCommand),

    /// Keep what agents know and decided: propose, ingest, ask, export
    #[command(
        subcommand,
        after_help = "Examples:\n  probity ledger ingest session.jsonl\n  probity ledger show\n  probity ledger export --budget 1500"
    )]
    Ledger(crate::commands::ledger::LedgerCommand),

    /// Keep typed documents with their history: write, read, merge, sync
    Commits(crate::commands::commits::CommitsArgs),

    /// Find what a merge of documents lost, and decide about it
    Merge(crate::commands::merge::MergeArgs),

    /// Explain a reason code, or what holds for a path
    #[command(
        after_help = "Examples:\n  probity explain RECON.UNTRACKED_DELTA\n  probity explain src/auth/login.py --run last"
    )]
    Explain {
        /// A reason code, or a path of the tree
        what: OsString,

        /// For a path: the run whose scope and delta are meant
        #[arg(long, default_value = "last", value_name = "RUN")]
        run: String,
    },

    /// Write a policy that fits this tree, or set up an agent
    #[command(
        after_help = "Examples:\n  probity init --dry-run\n  probity init --agent claude\n  probity init --agent claude --uninstall"
    )]
    Init {
        /// Print what would be written, and write nothing
        #[arg(long)]
        dry_run: bool,

        /// Add Probity's MCP server to this agent's configuration of the project, and a short block of instructions to
        /// the file that the agent reads: CLAUDE.md, GEMINI.md or AGENTS.md
        #[arg(long, value_name = "AGENT")]
        agent: Option<crate::commands::init::AgentName>,

        /// Take Probity out of that configuration again
        #[arg(long, requires = "agent")]
        uninstall: bool,
    },

    /// Serve agents over MCP: the same commands as tools
    #[command(
        after_help = "Examples:\n  probity init --agent claude      # then the agent starts the server itself\n  \
                            probity mcp --http 4680          # one server for several agents"
    )]
    Mcp(crate::commands::mcp::McpArgs),

    /// Run conformance vectors against this program
    #[command(after_help = "Examples:\n  probity conformance conformance/")]
    Conformance {
        /// Vector files, or directories of them
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },

    /// Print shell completions
    #[command(
        after_help = "Examples:\n  probity completions bash > ~/.local/share/bash-completion/completions/probity"
    )]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },

    /// Print the manual page
    #[command(after_help = "Examples:\n  probity man > probity.1")]
    Man,
}

/// What the plan is made from.
#[derive(Debug, Args)]
pub(crate) struct Selection {
    /// What may change: a pattern relative to the current directory, or with a leading `/` to the root of the tree; `!` in
    /// front excludes, the last match wins
    #[arg(long, value_name = "GLOB")]
    pub(crate) scope: Vec<OsString>,

    /// The command will create the files of the scope: it need not cover any that exists
    #[arg(long)]
    pub(crate) creates: bool,

    /// Nothing may change: prove that the command leaves the tree as it is
    #[arg(long, conflicts_with_all = ["scope", "pack", "changed", "creates"])]
    pub(crate) no_changes: bool,

    /// A pack of the policy
    #[arg(long, value_name = "ID")]
    pub(crate) pack: Vec<String>,

    /// A path that will change; it chooses the packs that are meant for it
    #[arg(long, value_name = "PATH")]
    pub(crate) changed: Vec<OsString>,

    /// The least tier of gates, as `T1`
    #[arg(long, value_name = "TIER")]
    pub(crate) tier: Option<String>,

    /// The profile of the policy
    #[arg(long, value_name = "ID")]
    pub(crate) profile: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum EvidenceCommand {
    /// List the runs of this repository, newest last
    #[command(after_help = "Examples:\n  probity evidence list")]
    List,

    /// Show one bundle
    #[command(after_help = "Examples:\n  probity evidence show last")]
    Show {
        /// The run: its id or the beginning of it, or `last`
        #[arg(default_value = "last")]
        run: String,
    },

    /// Check a bundle, trusting nothing in it
    ///
    /// Everything that can be recomputed is recomputed. What only the caller can know (required profile, sealed plan,
    /// chain, keys) is checked when `--trust` gives it, and named as skipped otherwise.
    #[command(
        after_help = "Examples:\n  probity evidence verify last\n  probity evidence verify ./bundle --trust trust.json --tree ."
    )]
    Verify {
        /// A bundle's folder, or a run: its id, the beginning of it, or `last`
        bundle: PathBuf,

        /// A trust file (JSON, `probity/trust/v1`): required profile, plan, chain, gates, keys
        #[arg(long, value_name = "FILE")]
        trust: Option<PathBuf>,

        /// Compare this tree with the one that the bundle describes
        #[arg(long, value_name = "DIR")]
        tree: Option<PathBuf>,
    },

    /// Check every bundle of this repository and the chain between them
    #[command(
        after_help = "Examples:\n  probity evidence chain\n  probity evidence chain --trust trust.json"
    )]
    Chain {
        /// A trust file for every bundle
        #[arg(long, value_name = "FILE")]
        trust: Option<PathBuf>,
    },

    /// Print a bundle as an attestation for other tools
    #[command(
        after_help = "Examples:\n  probity evidence export last > run.dsse.json\n  probity evidence export last --format statement"
    )]
    Export {
        /// The run: its id or the beginning of it, or `last`
        #[arg(default_value = "last")]
        run: String,

        /// The form of the attestation
        #[arg(long, value_enum, default_value_t = ExportFormat::Dsse)]
        format: ExportFormat,
    },

    /// Remove old bundles, and before-images that nothing needs any more
    ///
    /// Bundles go from the old end of the chain only, and a new bundle lists them, so that the chain stays whole. With
    /// them goes the way to undo or amend those runs: copy the folders first if they matter.
    #[command(
        group = clap::ArgGroup::new("what stays").required(true).args(["keep", "older_than"]),
        after_help = "Examples:\n  probity evidence gc --older-than 90d --dry-run\n  probity evidence gc --keep 100"
    )]
    Gc {
        /// Keep this many of the newest bundles
        #[arg(long, value_name = "N")]
        keep: Option<usize>,

        /// Remove what is older, as `90d`, `12h`
        #[arg(long, value_name = "TIME", value_parser = age)]
        older_than: Option<std::time::Duration>,

        /// Say what would be removed, and remove nothing
        #[arg(long)]
        dry_run: bool,
    },
}

fn age(text: &str) -> Result<std::time::Duration, String> {
    let ms = probity_policy::duration_ms(text).ok_or("write a whole number and `d`, `h` or `m`, as `90d`")?;
    Ok(std::time::Duration::from_millis(ms))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// An in-toto Statement in a signed DSSE envelope
    Dsse,
    /// The in-toto Statement alone
    Statement,
}

#[derive(Debug, Subcommand)]
pub(crate) enum KeysCommand {
    /// Make a key; from then on runs are signed
    #[command(after_help = "Examples:\n  probity keys generate")]
    Generate,

    /// Print the public key, in the form that trust files use
    #[command(after_help = "Examples:\n  probity keys show")]
    Show,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }
}
