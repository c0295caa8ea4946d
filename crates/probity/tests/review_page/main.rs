//! The review page: what keeps strangers out, and what a person sees and decides in a real browser.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod browser;
mod in_a_browser;
mod lost_intents_and_knowledge;
mod newcomer;
mod strangers;
mod ui_server;

#[expect(dead_code, reason = "each test binary uses its own part of the fixture")]
#[path = "../shared/repo.rs"]
mod repo;
