//! Several agents in one tree: crashes, queues, damage, and cases that other systems miss.
//!
//! [`ROWS`] maps each row of the contract for shared trees to the test that reaches it through the binary.

mod crash;
mod damage;
mod handles;
mod misses;
mod queue;
mod rows;
mod runs;
mod time;

use crate::repo::{Outcome, Repo};
use serde_json::json;

/// An agent at the command line, with its handle.
pub(crate) struct Agent<'r> {
    pub(crate) repo: &'r Repo,
    pub(crate) owner: String,
}

impl<'r> Agent<'r> {
    pub(crate) fn new(repo: &'r Repo, name: &str) -> Self {
        Self { repo, owner: format!("handle-of-{name}-0123456789") }
    }

    pub(crate) fn ask(&self, arguments: &[&str]) -> Outcome {
        let mut all = arguments.to_vec();
        all.extend(["--owner", &self.owner]);
        self.repo.ask(&all)
    }

    pub(crate) fn start(&self, path: &str, more: &[&str]) -> Outcome {
        let mut all = vec!["start", path, "--intent", "a change"];
        all.extend(more);
        self.ask(&all)
    }

    /// Starts, expects to be granted, and returns the intent.
    pub(crate) fn begin(&self, path: &str, more: &[&str]) -> String {
        let started = self.start(path, more);
        assert_eq!((&started.json["status"], started.exit_code), (&json!("active"), Some(0)), "{started:#?}");
        assert_eq!(started.json["edit_allowed"], true);
        started.json["intent_id"].as_str().expect("an id").to_owned()
    }

    pub(crate) fn finish(&self, intent: &str, more: &[&str]) -> Outcome {
        let mut all = vec!["finish", intent];
        all.extend(more);
        self.ask(&all)
    }
}

/// Returns the status, the reason and the exit code.
pub(crate) fn verdict(outcome: &Outcome) -> (String, String, i32) {
    let word = |name: &str| outcome.json[name].as_str().unwrap_or_default().to_owned();
    (word("status"), word("reason"), outcome.exit_code.unwrap_or(-1))
}

pub(crate) fn is(status: &str, reason: &str, exit_code: i32) -> (String, String, i32) {
    (status.to_owned(), reason.to_owned(), exit_code)
}

const ROWS: [(&str, &str); 30] = [
    // Who blocks whom.
    ("start: foreign active intent on overlapping scope", "two_agents_want_one_file"),
    ("start: foreign stale intent on overlapping scope", "a_silent_owner_still_holds_its_paths"),
    ("start: dirty file in allowed_files", "a_start_has_four_answers"),
    ("start: dirty file in allowed_files, continue_own_wip", "a_start_has_four_answers"),
    ("start: live foreign dirty overlap", "two_agents_want_one_file"),
    ("finish: missing_evidence", "hygiene_tells_whose_the_dirt_is"),
    ("finish: foreign_dirty_overlap", "a_claim_that_overlaps_all_the_same_blocks_the_finish"),
    ("finish: own_unscoped_dirty under strict", "hygiene_tells_whose_the_dirt_is"),
    ("finish: preexisting_unscoped_dirty", "hygiene_tells_whose_the_dirt_is"),
    ("finish: new_unattributed_unscoped_dirty", "hygiene_tells_whose_the_dirt_is"),
    ("finish: modified_unattributed_unscoped_dirty", "hygiene_tells_whose_the_dirt_is"),
    (
        "finish: unknown_unattributed_unscoped_dirty",
        "what_cannot_be_compared_is_called_unknown_and_nothing_is_made_up",
    ),
    ("finish: foreign_attributed_outside_scope, active owner", "hygiene_tells_whose_the_dirt_is"),
    ("finish: foreign_attributed_outside_scope, stale owner", "dirt_is_attributed_to_the_living_only"),
    ("finish: recoverable, expired and queued attribute nothing", "dirt_is_attributed_to_the_living_only"),
    ("finish: a queued peer does not block", "two_agents_want_one_file"),
    ("hygiene: counts in summary, every path in full", "hygiene_tells_whose_the_dirt_is"),
    // Transitions.
    ("start: needs_analysis", "a_start_has_four_answers"),
    ("start: queued", "two_agents_want_one_file"),
    ("start: queued, then before_run_evicted", "a_promotion_starts_from_the_tree_as_it_is_then"),
    ("start: blocked", "two_agents_want_one_file"),
    ("start: active, with budget", "a_start_has_four_answers"),
    ("finish: accepted", "two_agents_want_one_file"),
    ("finish: accepted_with_external_changes", "hygiene_tells_whose_the_dirt_is"),
    ("finish: unverified, workspace_hygiene", "hygiene_tells_whose_the_dirt_is"),
    ("finish: unverified, after_run_not_new", "the_after_run_describes_the_tree_as_it_is"),
    ("finish: violated by regressions", "a_change_for_the_worse_is_violated_and_can_be_mended"),
    ("finish: violated by scope", "what_was_not_declared_violates_and_the_claim_is_kept"),
    ("finish: expired, the before-run is another", "a_before_run_that_is_another_now_expires_the_change"),
    ("finish: expired, the time is over", "what_is_over_cannot_be_finished"),
];

#[test]
fn every_row_of_the_tables_is_reached_by_a_test() {
    let tests = [
        include_str!("../changes.rs"),
        include_str!("rows.rs"),
        include_str!("queue.rs"),
        include_str!("time.rs"),
    ];
    for (row, test) in ROWS {
        let name = format!("#[test]\nfn {test}()");
        assert!(tests.iter().any(|file| file.contains(&name)), "{row}: there is no test {test}");
    }
}
