//! The command-line definition and its help texts. No behavior lives here.

use crate::caller_location::Selection;
use crate::commands::change::{FinishArgs, StartArgs, StatusArgs};
use crate::commands::contract::{ClaimsCommand, ContractCommand};
use crate::commands::evidence::EvidenceCommand;
use crate::commands::identity::IdentityArgs;
use crate::commands::keys::KeysCommand;
use crate::commands::receipt::ReceiptCommand;
use clap::{Parser, Subcommand};
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
    help_template = crate::help::template(&CliCommand::augment_subcommands(clap::Command::new("probity"))),
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

    #[arg(
        long,
        short,
        global = true,
        action = clap::ArgAction::Count,
        help = "Log each step to stderr; twice, also git commands and other processes [env: PROBITY_LOG=debug]"
    )]
    pub(crate) verbose: u8,

    #[command(subcommand)]
    pub(crate) command: CliCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CliCommand {
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
        identity: IdentityArgs,

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
        identity: IdentityArgs,
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

    /// Show the log of intents, checked from its first event; or ask the append-only log of the repository
    #[command(after_help = "Examples:\n  probity log\n  probity log --after 100 --json\n  probity log show")]
    Log(crate::commands::log::LogArgs),

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

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }
}
