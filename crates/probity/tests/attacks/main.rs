//! Attacks through the binary. A test that passes is an attack that held; `cargo xtask attack` prints one line for each.

mod amendment_channel;
mod change_policy;
mod claims_through_links;
#[path = "../shared/command_list.rs"]
mod command_list;
mod commit_store;
mod commits_and_index;
mod evidence_bundles;
mod gates;
mod git_directory;
mod git_program;
mod held_layers;
mod http_server;
mod ledger;
mod receipts;
#[path = "../shared/repo.rs"]
#[allow(dead_code, reason = "shared with the end-to-end tests, which use more of it")]
mod repo;
mod root_directory;
mod secrets_and_modes;
mod shared_changes;
mod state_directory;
mod stored_bundles;
mod terminal;
mod transparency_log;
