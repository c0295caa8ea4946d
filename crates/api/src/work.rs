//! What a command cost: its steps with their times, and counts of what is dear. Counts are the same on a slow machine.

use crate::document::Answer;
use schemars::JsonSchema;
use serde::Serialize;

/// The cost of one command, as `--timings` reports it on standard error.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct WorkReport {
    /// The steps in the order in which they began.
    pub steps: Vec<WorkStep>,
    pub counts: WorkCounts,
}

impl Answer for WorkReport {
    const SCHEMA: &'static str = "probity/work/v1";
}

/// A step of a command.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct WorkStep {
    pub name: String,
    /// The number of steps that this one is a part of.
    pub depth: usize,
    pub microseconds: u64,
}

/// Declares the counts once, for programs and for people.
macro_rules! work_counts {
    ($($(#[doc = $meaning:literal])+ $name:ident = $words:literal;)+) => {
        /// How often a command did what is dear.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
        pub struct WorkCounts {
            $($(#[doc = $meaning])+ pub $name: u64,)+
        }

        impl WorkCounts {
            /// Adds to the count of this name; returns false if there is none.
            pub fn add(&mut self, name: &str, more: u64) -> bool {
                match name {
                    $(stringify!($name) => self.$name += more,)+
                    _ => return false,
                }
                true
            }

            /// Returns each count with its words.
            pub fn in_words(&self) -> Vec<(&'static str, u64)> {
                vec![$(($words, self.$name),)+]
            }
        }
    };
}

work_counts! {
    /// Walks over all entries of the tree.
    tree_walks = "walks of the tree";
    /// Walks over the layer of a private view.
    layer_walks = "walks of a layer";
    /// Private views that were opened: to test one, for a command or a gate, and to look into one.
    view_launches = "views opened";
    /// Starts of git.
    git_processes = "git processes";
    /// Files and directories that were flushed to the disk one by one. What the database flushes counts as its commits.
    fsyncs = "fsyncs";
    /// Transactions of the database that wrote something.
    database_commits = "database commits";
    /// Moves of this process from one control group to another.
    cgroup_migrations = "cgroup migrations";
    /// Reads of files below `/proc/<pid>`.
    process_reads = "reads below /proc/<pid>";
    /// Questions to the etcd of a team.
    store_requests = "questions to the team's etcd";
    /// Entries of the state directory whose metadata was read, to tell whether a command touched them.
    state_entries = "entries of the state directory";
    /// Bytes written to caches.
    cache_bytes_written = "bytes written to caches";
    /// Source files that were parsed.
    files_parsed = "files parsed";
}
