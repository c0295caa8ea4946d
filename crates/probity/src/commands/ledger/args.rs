//! The arguments of `probity ledger`, with their help.

use clap::{Args, Subcommand, ValueEnum};
use probity_knowledge::ledger::ItemFilter;
use probity_ledger::{ItemKind, ItemStatus, LedgerProjection};
use std::path::PathBuf;

/// Keep what agents know and decided: propose, ingest, ask, export
#[derive(Debug, Subcommand)]
#[command(
    after_help = "Examples:\n  probity ledger ingest session.jsonl\n  probity ledger show\n  probity ledger export --budget 1500"
)]
pub(crate) enum LedgerCommand {
    /// Propose changes to the ledger; the reconciler decides about each
    ///
    /// Reads JSON from a file or from stdin: one candidate delta, a list of them, or an object with `turns` and `deltas`.
    /// Every delta must name a known turn as its source; `turns` and `--said` make turns known.
    #[command(after_help = PROPOSE_EXAMPLES)]
    Propose(ProposeArgs),

    /// Take in what was said: session files of Claude Code and Codex, or JSON lines
    ///
    /// Lines are recognized by their shape. Taking in the same file again, or a longer version of it, adds only what is
    /// new. Lines that are not understood are reported, never guessed at.
    #[command(after_help = INGEST_EXAMPLES)]
    Ingest(IngestArgs),

    /// Put on record that a change was made under a decision
    #[command(after_help = "Examples:\n  probity ledger cite 0199c2 use-postgres")]
    Cite {
        /// The change: the id of an intent or a run
        change: String,

        /// Handles or ids of the items that it implements
        #[arg(required = true, value_name = "ITEM")]
        items: Vec<String>,

        /// Who says so [default: the user]
        #[arg(long, value_name = "NAME")]
        author: Option<String>,
    },

    /// Say who may change hard constraints
    ///
    /// Without arguments: show who may. Once there are guardians, only one of them may change that. Authors are names that
    /// callers give, so this keeps honest agents in line and proves nothing about dishonest ones.
    #[command(
        after_help = "Examples:\n  probity ledger guard\n  probity ledger guard ann ben\n  probity ledger guard --everyone"
    )]
    Guard {
        /// The authors who may
        #[arg(value_name = "AUTHOR", conflicts_with = "everyone")]
        authors: Vec<String>,

        /// Everyone may
        #[arg(long)]
        everyone: bool,

        /// Who says so [default: the user]
        #[arg(long, value_name = "NAME")]
        by: Option<String>,
    },

    /// Show what is in force
    #[command(after_help = "Examples:\n  probity ledger show\n  probity ledger show --kind decision --all")]
    Show {
        #[command(flatten)]
        filter: FilterArgs,
    },

    /// Show what changed lately, or after a position
    #[command(after_help = "Examples:\n  probity ledger changed\n  probity ledger changed --since 120")]
    Changed {
        /// The position: the `seq` of an earlier answer [default: 20 positions before the last one]
        #[arg(long, value_name = "SEQ", allow_negative_numbers = true)]
        since: Option<i64>,

        #[command(flatten)]
        stream: StreamArgs,
    },

    /// Say why an item is here: who said it, what replaced it, what contradicts it, what was done under it
    #[command(after_help = "Examples:\n  probity ledger explain use-postgres")]
    Explain {
        /// A handle, or an id such as `decision-12`
        item: String,

        #[command(flatten)]
        stream: StreamArgs,
    },

    /// Show what an item said before, and every input that touched it
    #[command(after_help = "Examples:\n  probity ledger history decision-12")]
    History {
        /// A handle, or an id such as `decision-12`
        item: String,

        #[command(flatten)]
        stream: StreamArgs,
    },

    /// Show the ledger as it was at a position
    #[command(after_help = "Examples:\n  probity ledger as-of 120")]
    AsOf {
        /// The position: the `seq` of an earlier answer
        #[arg(value_name = "SEQ", allow_negative_numbers = true)]
        position: i64,

        #[command(flatten)]
        filter: FilterArgs,
    },

    /// Show what became of every author's proposals
    #[command(after_help = "Examples:\n  probity ledger scores")]
    Scores {
        #[command(flatten)]
        stream: StreamArgs,
    },

    /// Read the whole log again and check that the state follows from it
    #[command(after_help = "Examples:\n  probity ledger replay --since 120")]
    Replay {
        /// List the inputs after this position
        #[arg(long, value_name = "SEQ", allow_negative_numbers = true)]
        since: Option<i64>,
    },

    /// Print a context for the next prompt, within a budget
    #[command(after_help = EXPORT_EXAMPLES)]
    Export(ExportArgs),

    /// Merge a stream into the ledger, or list the streams
    ///
    /// What was proposed to the stream is proposed to the ledger again. Intent that the ledger would lose, proposals that
    /// the reconciler refuses, and contradictions are points: each needs a choice, and nothing happens before.
    #[command(after_help = "Examples:\n  probity ledger merge\n  probity ledger merge codex\n  \
                            probity ledger merge codex --resolve 3f9a01bc=ours")]
    Merge {
        /// The stream
        stream: Option<String>,

        /// A choice for a point, as `ID=CHOICE`; the answer lists points and choices
        #[arg(long, value_name = "ID=CHOICE", value_parser = choice)]
        resolve: Vec<(String, String)>,

        /// Who decides [default: the user]
        #[arg(long, value_name = "NAME")]
        by: Option<String>,

        /// Say what would happen, and do nothing
        #[arg(long)]
        dry_run: bool,
    },

    /// Suggest what to settle, decide, confirm and remember
    #[command(after_help = "Examples:\n  probity ledger suggest")]
    Suggest {
        #[command(flatten)]
        stream: StreamArgs,
    },
}

const PROPOSE_EXAMPLES: &str = "Examples:
  probity ledger propose --said 'We use Postgres for orders.' <<'EOF'
  {\"kind\": \"decision_made\", \"handle\": \"db\", \"confidence\": \"high\",
   \"summary\": \"Use Postgres for orders\"}
  EOF
  probity ledger propose --dry-run deltas.json
  probity ledger propose --stream night-shift --atomic deltas.json";

const INGEST_EXAMPLES: &str = "Examples:
  probity ledger ingest ~/.claude/projects/*/*.jsonl
  probity ledger ingest ~/.codex/sessions/*/*/*/*.jsonl --stream codex
  echo '{\"id\": \"1\", \"role\": \"user\", \"text\": \"Use tabs\"}' | probity ledger ingest";

const EXPORT_EXAMPLES: &str = "Examples:
  probity ledger export --budget 1500 --query 'how do we store sessions?'
  probity ledger export --since 120
  probity ledger export --page decisions";

/// Which ledger is meant.
#[derive(Debug, Args)]
pub(crate) struct StreamArgs {
    /// A stream instead of the ledger itself
    #[arg(long, value_name = "NAME")]
    stream: Option<String>,
}

impl StreamArgs {
    pub(crate) fn name(&self) -> Option<&str> {
        self.stream.as_deref()
    }
}

#[derive(Debug, Args)]
pub(crate) struct ProposeArgs {
    /// A file with the proposal; `-` for stdin
    #[arg(default_value = "-", value_name = "FILE")]
    pub(crate) file: PathBuf,

    /// Who proposes [default: the user]
    #[arg(long, value_name = "NAME")]
    pub(crate) author: Option<String>,

    /// Propose to a stream of one's own; a new name begins one
    #[arg(long, value_name = "NAME")]
    pub(crate) stream: Option<String>,

    /// All or nothing
    #[arg(long)]
    pub(crate) atomic: bool,

    /// Say what would become of it, and do nothing
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// What was said: becomes the source of every delta that names none
    #[arg(long, value_name = "TEXT")]
    pub(crate) said: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct IngestArgs {
    /// Transcripts; `-` or nothing for stdin
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,

    /// Who speaks for the agent [default: the program that wrote the transcript]
    #[arg(long, value_name = "NAME")]
    pub(crate) author: Option<String>,

    /// Who speaks for the user [default: the user]
    #[arg(long, value_name = "NAME")]
    pub(crate) user: Option<String>,

    /// Take it into a stream of its own; a new name begins one
    #[arg(long, value_name = "NAME")]
    pub(crate) stream: Option<String>,

    /// Read the turns that are still pending, instead of stdin
    #[arg(long)]
    pub(crate) pending: bool,

    #[command(flatten)]
    pub(crate) model: super::model::ModelArgs,
}

#[derive(Debug, Args)]
pub(crate) struct FilterArgs {
    /// Only items of this kind
    #[arg(long, value_name = "KIND", value_parser = str::parse::<ItemKind>)]
    kind: Option<ItemKind>,

    /// Only items with this status
    #[arg(long, value_name = "STATUS", value_parser = str::parse::<ItemStatus>)]
    status: Option<ItemStatus>,

    /// Superseded and resolved items too
    #[arg(long)]
    all: bool,

    #[command(flatten)]
    stream: StreamArgs,
}

impl From<FilterArgs> for ItemFilter {
    fn from(arguments: FilterArgs) -> Self {
        let FilterArgs { kind, status, all, stream } = arguments;
        Self { stream: stream.stream, kind, status, all }
    }
}

fn choice(text: &str) -> Result<(String, String), String> {
    let (id, choice) = text.split_once('=').ok_or("it is ID=CHOICE")?;
    Ok((id.to_owned(), choice.to_owned()))
}

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// How many tokens the text may have
    #[arg(long, default_value_t = 2000, value_name = "TOKENS")]
    pub(crate) budget: usize,

    /// What the next prompt is about
    #[arg(long, value_name = "TEXT")]
    pub(crate) query: Option<String>,

    /// Only what changed after this position
    #[arg(long, value_name = "SEQ", allow_negative_numbers = true)]
    pub(crate) since: Option<i64>,

    /// A page for people instead
    #[arg(long, value_enum, conflicts_with_all = ["query", "since"])]
    pub(crate) page: Option<ProjectionArg>,

    #[command(flatten)]
    pub(crate) stream: StreamArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProjectionArg {
    /// Everything in force
    State,
    /// Decisions, with those that were replaced
    Decisions,
    /// Tasks, open and closed
    Tasks,
    /// Constraints, with those that were withdrawn
    Constraints,
}

impl From<ProjectionArg> for LedgerProjection {
    fn from(page: ProjectionArg) -> Self {
        match page {
            ProjectionArg::State => Self::State,
            ProjectionArg::Decisions => Self::Decisions,
            ProjectionArg::Tasks => Self::Tasks,
            ProjectionArg::Constraints => Self::Constraints,
        }
    }
}
