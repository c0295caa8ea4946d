//! The binary as a user runs it: on real repositories, with real programs as agents.

#![expect(clippy::print_stdout, reason = "tests say what they did not try, and which seed repeats a failure")]

mod after_a_violation;
mod agents;
mod analyze;
mod catalogue;
mod changes;
mod commits;
mod contract;
mod editor;
mod evidence_always;
mod first_steps;
mod gate_imports;
mod gc;
mod git_material;
mod git_sessions;
mod govern;
mod held_changes;
mod hook;
mod kills;
mod ledger;
mod levels_of_enforcement;
mod logging;
mod mcp;
mod merges;
mod outputs;
mod pipeline;
#[path = "../shared/published_schemas.rs"]
mod published_schemas;
#[path = "../shared/repo.rs"]
mod repo;
mod run_work;
mod schemas;
mod shared_change_words;
mod team;
mod usability;
mod watching;
mod work_counts;
mod working_directory;
mod worktrees;
