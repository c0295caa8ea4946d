//! The arguments of `probity commits`.

use clap::{Args, Subcommand};
use std::path::PathBuf;

const EXAMPLES: &str = "Examples:\n  probity commits init --schema tickets.schema\n  \
    probity commits put ticket/t1 '{\"title\": \"one\", \"rank\": 0}'\n  \
    probity commits update ticket/t1 rank 3\n  probity commits log\n  probity commits state\n\n\
    A commit is named by its id, a prefix of it, a ref, or `@` for the only head.";

/// Keep typed documents with their history: write, read, merge, sync
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CommitsArgs {
    #[command(flatten)]
    pub(crate) place: StoreArgs,

    #[command(subcommand)]
    pub(crate) command: CommitsCommand,
}

/// Where the store lies.
#[derive(Debug, Args)]
pub(crate) struct StoreArgs {
    /// The file of the store [default: `commits.db` in the state directory of the tree]
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) store: Option<PathBuf>,
}

/// Who makes a commit, and what it is called.
#[derive(Debug, Args)]
pub(crate) struct CommitMetadataArgs {
    /// Who makes it [default: the user]
    #[arg(long, value_name = "NAME")]
    pub(crate) author: Option<String>,

    /// What it is called
    #[arg(long, short = 'm', value_name = "TEXT")]
    pub(crate) label: Option<String>,
}

impl From<CommitMetadataArgs> for probity_document_store::CommitMetadata {
    fn from(signed: CommitMetadataArgs) -> Self {
        Self { author: signed.author, label: signed.label }
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum CommitsCommand {
    /// Make a store
    #[command(after_help = "Examples:\n  probity commits init --schema tickets.schema")]
    Init {
        /// The file [default: as `--store`]
        path: Option<PathBuf>,

        /// The schema, in its readable or its JSON form; `-` for stdin
        #[arg(long, value_name = "FILE")]
        schema: PathBuf,
    },

    /// Show the schema, or give the store a newer one that only adds to it
    #[command(
        after_help = "Examples:\n  probity commits schema\n  probity commits schema --set tickets-2.schema"
    )]
    Schema {
        /// The newer schema; `-` for stdin
        #[arg(long, value_name = "FILE")]
        set: Option<PathBuf>,
    },

    /// Write a whole document
    #[command(after_help = "Examples:\n  probity commits put ticket/t1 '{\"title\": \"one\", \"rank\": 0}'")]
    Put {
        /// The document, as `attachment/key`
        document: String,

        /// The value, in JSON; from stdin when left out
        value: Option<String>,

        /// The commit to build on [default: the only head]
        #[arg(long, value_name = "COMMIT")]
        on: Option<String>,

        #[command(flatten)]
        signed: CommitMetadataArgs,
    },

    /// Write a part of a document, or any opcodes
    #[command(after_help = "Examples:\n  probity commits update ticket/t1 rank 3\n  \
        probity commits update ticket/t1 'votes[\"ann\"]' 1\n  \
        probity commits update ticket/t1 labels '[\"new\"]' --op set_union\n  \
        probity commits update --ops changes.json")]
    Update {
        /// The document, as `attachment/key`
        #[arg(required_unless_present = "ops")]
        document: Option<String>,

        /// The path, as `field`, `list[0]`, `map["key"]`, `array<position>`, `optional?`; `''` for the document
        #[arg(required_unless_present = "ops")]
        path: Option<String>,

        /// The operand, in JSON
        #[arg(required_unless_present = "ops", allow_hyphen_values = true)]
        value: Option<String>,

        /// The opcode
        #[arg(long, value_name = "OPCODE", default_value = "document_update")]
        op: String,

        /// A list of opcodes in JSON instead; `-` for stdin
        #[arg(long, value_name = "FILE", conflicts_with_all = ["document", "path", "value"])]
        ops: Option<PathBuf>,

        /// The commit to build on [default: the only head]
        #[arg(long, value_name = "COMMIT")]
        on: Option<String>,

        #[command(flatten)]
        signed: CommitMetadataArgs,
    },

    /// List commits, newest first
    #[command(
        after_help = "Examples:\n  probity commits log -n 5\n  probity commits log --document ticket/t1"
    )]
    Log {
        /// Only what this commit reaches
        from: Option<String>,

        /// Only what writes this document, as `attachment/key`
        #[arg(long, value_name = "DOCUMENT")]
        document: Option<String>,

        /// How many at most
        #[arg(long, short = 'n', default_value_t = 20, value_name = "N")]
        limit: usize,
    },

    /// Show one commit with its opcodes
    #[command(after_help = "Examples:\n  probity commits show @")]
    Show {
        /// The commit
        #[arg(default_value = "@")]
        commit: String,
    },

    /// List the commits that no other commit builds on
    #[command(after_help = "Examples:\n  probity commits heads")]
    Heads,

    /// Show the opcodes that turn one state into another
    #[command(after_help = "Examples:\n  probity commits diff 3f2a @")]
    Diff {
        /// The one
        from: String,
        /// The other
        to: String,
    },

    /// Show the documents at a commit
    #[command(
        after_help = "Examples:\n  probity commits state\n  probity commits state --document ticket/t1 --why"
    )]
    State {
        /// The commit [default: the only head]
        commit: Option<String>,

        /// Only this document, as `attachment/key`
        #[arg(long, value_name = "DOCUMENT")]
        document: Option<String>,

        /// Say what became of every opcode on that document, and why some had no effect
        #[arg(long, requires = "document")]
        why: bool,
    },

    /// Merge one commit into another, and say what that lost
    #[command(after_help = "Examples:\n  probity commits merge main 3f2a --dry-run")]
    Merge {
        /// The parent
        ours: String,
        /// The target; its opcodes replay last
        theirs: String,

        /// Say what would be lost, and write nothing
        #[arg(long)]
        dry_run: bool,

        #[command(flatten)]
        signed: CommitMetadataArgs,
    },

    /// Merge all heads into one, the same way on every machine, and say what that lost
    #[command(after_help = "Examples:\n  probity commits reduce --dry-run")]
    Reduce {
        /// Say what would be lost, and write nothing
        #[arg(long)]
        dry_run: bool,
    },

    /// Take the effect of a commit away
    #[command(after_help = "Examples:\n  probity commits disable 3f2a -m 'wrong price'")]
    Disable {
        /// The commit
        commit: String,
        /// The commit to build on [default: the only head]
        #[arg(long, value_name = "COMMIT")]
        on: Option<String>,
        #[command(flatten)]
        signed: CommitMetadataArgs,
    },

    /// Give the effect of a commit back
    #[command(after_help = "Examples:\n  probity commits enable 3f2a")]
    Enable {
        /// The commit
        commit: String,
        /// The commit to build on [default: the only head]
        #[arg(long, value_name = "COMMIT")]
        on: Option<String>,
        #[command(flatten)]
        signed: CommitMetadataArgs,
    },

    /// List refs, or let one name a commit
    #[command(after_help = "Examples:\n  probity commits ref\n  probity commits ref main @")]
    Ref {
        /// The ref
        name: Option<String>,
        /// What it names from now on
        #[arg(requires = "name")]
        commit: Option<String>,
        /// Delete it
        #[arg(long, requires = "name", conflicts_with = "commit")]
        delete: bool,
    },

    /// Make this store and another have the same commits; merging is a later step
    #[command(after_help = "Examples:\n  probity commits sync ../replica.db --pull")]
    Sync {
        /// The other store's file
        other: PathBuf,
        /// Only take what the other has
        #[arg(long, conflicts_with = "push")]
        pull: bool,
        /// Only give what this one has
        #[arg(long)]
        push: bool,
    },

    /// Write everything to a bundle
    #[command(after_help = "Examples:\n  probity commits export backup.bundle")]
    Export {
        /// The new file
        file: PathBuf,
    },

    /// Take in a bundle; what is there already is left alone
    #[command(after_help = "Examples:\n  probity commits import backup.bundle")]
    Import {
        /// The bundle
        file: PathBuf,
    },

    /// Make a new store with the state of a commit and no history
    #[command(after_help = "Examples:\n  probity commits flatten @ --into small.db")]
    Flatten {
        /// The commit
        #[arg(default_value = "@")]
        commit: String,
        /// The new store's file
        #[arg(long, value_name = "FILE")]
        into: PathBuf,
        #[command(flatten)]
        signed: CommitMetadataArgs,
    },

    /// Keep a file as a blob, or print one
    #[command(
        after_help = "Examples:\n  probity commits blob picture.png\n  probity commits blob sha256:2c26b46b > picture.png"
    )]
    Blob {
        /// A file, or the digest of a blob (`sha256:…`)
        what: PathBuf,
    },

    /// Read the whole store and compare everything with its hash
    #[command(after_help = "Examples:\n  probity commits check")]
    Check,
}
