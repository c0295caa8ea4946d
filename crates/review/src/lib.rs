//! What a reviewer sees and decides: one change against its declaration, who works where, and why a line is there.
//!
//! Owns: the review of runs, intents, commits and uncommitted work; the board; decisions; the origin of a line.
//! May use: analysis, api, changes, core, document-store, documents, evidence, intents, knowledge, ledger, line-diff, merges, paths, quality, runner, scopes, snapshot, storage, workspace.
//! Must not know: any rule of a judgment; how an answer is shown.
//!
//! * [`find_change`]: the change that a name means. [`review`]: everything about it. [`ChangeContents`]: its files.
//! * [`change_findings`]: what a change did to the findings of the tree.
//! * [`tree_status`]: who holds what, and who made which uncommitted changes. [`board`]: who is where. [`log_feed`]: the log in words.
//! * [`line_origin`]: why a line is there.
//! * [`undecided`]: what waits for a person beside changes.
//! * [`lost_intents`]: what merges lost, and decisions about it.
//! * [`settle_contradiction`]: which of two items of the ledger stands.
//! * [`decide`]: carries out what a person decided, through the functions that the command line calls.

mod board;
mod board_map;
mod change_contents;
mod change_name;
mod change_of_content;
mod commit_contents;
mod content_index;
mod contradictions;
mod decide;
mod file_sides;
mod findings;
mod folded_files;
mod intent_review;
mod line_origin;
mod log_feed;
pub mod lost_intents;
mod options;
mod range_review;
mod run_review;
mod tree_status;
mod uncommitted_runs;
mod undecided;
mod worktree_review;

pub use board::{add_needs, board, finished_changes, tree_name};
pub use change_contents::ChangeContents;
pub use change_name::{ChangeName, find_change};
pub use contradictions::{
    ContradictionRequest, LedgerContradiction, contradiction, settle_contradiction, superseding_delta,
};
pub use decide::{DecisionRequest, decide, decisions};
pub use file_sides::{FileSides, is_file};
pub use findings::change_findings;
pub use line_origin::{line_origin, lines_around};
pub use log_feed::{log_feed, log_size};
pub use tree_status::tree_status;
pub use undecided::{UndecidedFacts, undecided};

use probity_api::review::{ChangeReview, ReviewPath};
use probity_core::{Digest, json};
use probity_workspace::{ServiceError, Workspace};

/// Reviews the change that `name` means.
pub fn review(workspace: &Workspace, name: &ChangeName) -> Result<ChangeReview, ServiceError> {
    Ok(review_with_contents(workspace, name)?.0)
}

/// Like [`review`], with the contents of the change for those who show its files.
#[tracing::instrument(name = "review", skip_all)]
pub fn review_with_contents(
    workspace: &Workspace,
    name: &ChangeName,
) -> Result<(ChangeReview, ChangeContents), ServiceError> {
    let (mut review, contents) = match name {
        ChangeName::Run(id) => {
            let (review, run) = run_review::finished_run(workspace, id)?;
            (review, ChangeContents::of_run(run))
        }
        ChangeName::OpenRun(id) => {
            (run_review::open_run(workspace, id)?, ChangeContents::open(workspace, name)?)
        }
        ChangeName::Intent(id) => {
            (intent_review::intent(workspace, id)?, ChangeContents::open(workspace, name)?)
        }
        ChangeName::Range { base, head } => {
            (range_review::range(workspace, base, head)?, ChangeContents::open(workspace, name)?)
        }
        ChangeName::Worktree => {
            (worktree_review::worktree(workspace)?, ChangeContents::open(workspace, name)?)
        }
    };
    review.paths.sort_by(|one, other| one.path.cmp(&other.path));
    review.options = options::options(&review);
    review.shown = digest_of_shown(&review);
    Ok((review, contents))
}

/// The digest of what a decision is about. What grows by itself, such as the place in the log, is no part of it.
fn digest_of_shown(review: &ChangeReview) -> Digest {
    let paths: Vec<&ReviewPath> = review.paths.iter().collect();
    let parts = (&review.change, &review.state, &review.reasons, &review.clauses, paths, &review.amendments);
    let (gates, options) = (&review.gates, &review.options);
    Digest::of(&json::canonical_of(&(parts, gates, options)))
}
