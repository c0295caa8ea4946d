//! The output of every command and every tool for people and programs: successful, refused and failed.
//!
//! The texts are under `snapshots/`, one file per case and form. CONTRIBUTING.md says how to review and accept a
//! change.

#[path = "../end_to_end/mcp/client.rs"]
#[allow(dead_code, reason = "shared with the end-to-end tests, which use all of it")]
mod client;
#[path = "../shared/command_list.rs"]
mod command_list;
#[path = "../shared/published_schemas.rs"]
mod published_schemas;
#[path = "../shared/repo.rs"]
#[allow(dead_code, reason = "shared with the end-to-end tests, which use all of it")]
mod repo;

mod change;
mod coverage;
mod documents;
mod general;
mod govern;
mod harness;
mod ledger;
mod quality;
mod redaction;
mod schema_check;
mod setup;
mod tools;

fn repo_file(path: &str) -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(path)
        .canonicalize()
        .expect("is there")
}
