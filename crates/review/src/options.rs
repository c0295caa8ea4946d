//! What can be decided about a change now, what each decision does, and the command that does the same.

use probity_api::review::{
    BoardLane, ChangeReview, DecisionAction, DecisionOption, LaneState, PathFate, ReviewPath, ReviewState,
    ReviewedKind,
};
use probity_core::bytes::{bare_shell_word, escape};
use probity_core::text::count;
use probity_paths::RepoPath;

/// More patterns than this are not proposed: a person names a directory then.
const MAX_PROPOSED_PATTERNS: usize = 8;

/// Returns the ways on, the usual one first.
pub(crate) fn options(review: &ChangeReview) -> Vec<DecisionOption> {
    match (review.kind, review.state) {
        (ReviewedKind::Run, ReviewState::Held) => held_options(review),
        (ReviewedKind::Run, ReviewState::Ready) => ready_options(review),
        (ReviewedKind::Run, ReviewState::Landed) => landed_options(review),
        (ReviewedKind::Run, ReviewState::Failed) => failed_options(review),
        (ReviewedKind::Run, ReviewState::Editing) => vec![amend(review, &[], "open", "Expand the scope")],
        (ReviewedKind::Intent, ReviewState::Editing) => vec![amend_intent(review), clear(review)],
        (ReviewedKind::Intent, ReviewState::Queued) => vec![promote(review), clear(review)],
        (ReviewedKind::Intent, ReviewState::Recoverable) => vec![recover(review), clear(review)],
        _ => Vec::new(),
    }
}

/// Returns what can be decided about a change on the board, in the order of [`options`], without reading its contents.
pub(crate) fn board_actions(lane: &BoardLane) -> Vec<DecisionAction> {
    use DecisionAction as Action;
    let has_inside = lane.n_paths > lane.n_outside;
    match (lane.kind, lane.state) {
        _ if !lane.is_here => Vec::new(),
        (ReviewedKind::Run, LaneState::Held)
            if has_inside && lane.n_in_tree < lane.n_paths - lane.n_outside =>
        {
            vec![Action::LandInScope, Action::Amend, Action::Discard]
        }
        (ReviewedKind::Run, LaneState::Held) => vec![Action::Amend, Action::Discard],
        (ReviewedKind::Run, LaneState::Failed) if lane.n_outside > 0 => vec![Action::Revert, Action::Amend],
        (ReviewedKind::Run, LaneState::Ready) => vec![Action::Land, Action::Discard],
        (ReviewedKind::Run, LaneState::Editing) => vec![Action::Amend],
        (ReviewedKind::Intent, LaneState::Editing | LaneState::Silent) => vec![Action::Amend, Action::Clear],
        (ReviewedKind::Intent, LaneState::Queued) => vec![Action::Promote, Action::Clear],
        (ReviewedKind::Intent, LaneState::Recoverable) => vec![Action::Recover, Action::Clear],
        _ => Vec::new(),
    }
}

fn paths_with(review: &ChangeReview, fate: impl Fn(PathFate) -> bool) -> Vec<RepoPath> {
    review.paths.iter().filter(|path| fate(path.fate)).map(|path| path.path.clone()).collect()
}

fn option(action: DecisionAction, label: String, command: String) -> DecisionOption {
    DecisionOption {
        action,
        label,
        is_main: false,
        effects: Vec::new(),
        paths: Vec::new(),
        patterns: Vec::new(),
        needs_why: false,
        command,
    }
}

fn judged_again(review: &ChangeReview) -> String {
    if review.gates.is_empty() {
        return "The part is judged as a whole of its own before it lands; no gate is sealed.".into();
    }
    let ms: u64 = review.gates.iter().filter_map(|gate| gate.duration_ms).sum();
    format!(
        "The part is judged as a whole of its own before it lands: {} again, {} s the last time.",
        if review.gates.len() == 1 {
            "1 gate runs".to_owned()
        } else {
            format!("{} gates run", review.gates.len())
        },
        ms.div_ceil(1000)
    )
}

fn stays(n: usize) -> String {
    format!("{} {}", count(n, "path"), if n == 1 { "stays" } else { "stay" })
}

fn reach(n: usize) -> String {
    format!("{} {} the tree, all or none.", count(n, "path"), if n == 1 { "reaches" } else { "reach" })
}

fn held_options(review: &ChangeReview) -> Vec<DecisionOption> {
    let run = &review.change;
    let is_inside = |path: &&ReviewPath| matches!(path.fate, PathFate::Inside | PathFate::Gate);
    let waiting = review.paths.iter().filter(is_inside).filter(|path| path.in_tree != Some(true));
    let inside: Vec<RepoPath> = waiting.map(|path| path.path.clone()).collect();
    let outside = paths_with(review, |fate| fate == PathFate::Outside);
    let mut options = Vec::new();
    if !inside.is_empty() {
        options.push(DecisionOption {
            is_main: true,
            label: format!("Land the {} inside", inside.len()),
            effects: vec![
                reach(inside.len()),
                format!(
                    "{} held, as {}.",
                    stays(outside.len()),
                    if outside.len() == 1 { "it is" } else { "they are" }
                ),
                judged_again(review),
            ],
            paths: inside,
            ..option(DecisionAction::LandInScope, String::new(), format!("probity land {run} --in-scope"))
        });
    }
    options.push(amend(review, &outside, run, "Expand the scope"));
    // A choice among one path is none.
    if review.paths.iter().filter(|path| path.in_tree != Some(true)).count() > 1 {
        options.push(land_only(review));
    }
    options.push(discard(review));
    options
}

fn ready_options(review: &ChangeReview) -> Vec<DecisionOption> {
    let run = &review.change;
    let all: Vec<RepoPath> = review.paths.iter().map(|path| path.path.clone()).collect();
    let land = DecisionOption {
        is_main: true,
        effects: vec![
            reach(all.len()),
            "Gates run again only if the tree changed since they were judged.".into(),
        ],
        paths: all.clone(),
        ..option(
            DecisionAction::Land,
            format!("Land {}", count(all.len(), "path")),
            format!("probity land {run}"),
        )
    };
    let rebase = DecisionOption {
        effects: vec![
            "The changes are merged with those that the tree has since the run began.".into(),
            "What both changed at the same place is a conflict: then nothing lands.".into(),
            judged_again(review),
        ],
        paths: all,
        ..option(DecisionAction::Rebase, "Merge and land".into(), format!("probity land {run} --rebase"))
    };
    vec![land, rebase, land_only(review), discard(review)]
}

fn landed_options(review: &ChangeReview) -> Vec<DecisionOption> {
    let in_tree: Vec<RepoPath> =
        review.paths.iter().filter(|path| path.in_tree == Some(true)).map(|path| path.path.clone()).collect();
    if in_tree.is_empty() {
        return Vec::new();
    }
    vec![revert(review, in_tree, "Undo what it landed")]
}

fn failed_options(review: &ChangeReview) -> Vec<DecisionOption> {
    let outside = paths_with(review, |fate| fate == PathFate::Outside);
    if outside.is_empty() {
        return Vec::new();
    }
    let label = format!("Revert {} outside", outside.len());
    let mut revert = revert(review, outside.clone(), &label);
    revert.is_main = true;
    vec![revert, amend(review, &outside, &review.change, "Expand the scope")]
}

fn revert(review: &ChangeReview, paths: Vec<RepoPath>, label: &str) -> DecisionOption {
    DecisionOption {
        effects: vec![
            format!("{} become as they were before the run.", count(paths.len(), "path")),
            "A path that somebody changed since, or holds, is left alone and named.".into(),
            "The revert leaves evidence of its own; commits and the index are left to you.".into(),
        ],
        paths,
        ..option(DecisionAction::Revert, label.to_owned(), format!("probity revert {}", review.change))
    }
}

fn discard(review: &ChangeReview) -> DecisionOption {
    let n_landed = review.paths.iter().filter(|path| path.in_tree == Some(true)).count();
    let held: Vec<RepoPath> =
        review.paths.iter().filter(|path| path.in_tree != Some(true)).map(|path| path.path.clone()).collect();
    let mut effects = vec![
        format!("What is held of {} is dropped: the tree never had it.", count(held.len(), "path")),
        "The evidence of the run stays.".into(),
        "There is no way back: export the page or the diff first if you may want it.".into(),
    ];
    if n_landed > 0 {
        effects.insert(
            1,
            format!(
                "{} that the tree has already {} as {}.",
                count(n_landed, "path"),
                if n_landed == 1 { "stays" } else { "stay" },
                if n_landed == 1 { "it is" } else { "they are" }
            ),
        );
    }
    let label = if n_landed == 0 { "Discard all" } else { "Discard the rest" };
    DecisionOption {
        effects,
        paths: held,
        ..option(DecisionAction::Discard, label.into(), format!("probity discard {}", review.change))
    }
}

fn land_only(review: &ChangeReview) -> DecisionOption {
    DecisionOption {
        effects: vec![
            "Only the paths that you choose reach the tree; the others stay held.".into(),
            judged_again(review),
        ],
        paths: review.paths.iter().map(|path| path.path.clone()).collect(),
        ..option(
            DecisionAction::LandOnly,
            "Split".into(),
            format!("probity land {} --only PATH …", review.change),
        )
    }
}

/// Returns the patterns that let the paths in, and as few others as possible.
fn proposed_patterns(paths: &[RepoPath]) -> Vec<String> {
    let patterns = probity_scopes::suggest(paths, &[]);
    if patterns.len() > MAX_PROPOSED_PATTERNS {
        return Vec::new();
    }
    patterns.iter().map(|pattern| escape(pattern)).collect()
}

fn amend(review: &ChangeReview, outside: &[RepoPath], run: &str, label: &str) -> DecisionOption {
    let patterns = proposed_patterns(outside);
    let words: Vec<String> =
        patterns.iter().map(|pattern| format!("--add {}", bare_shell_word(pattern.as_bytes()))).collect();
    let words = if words.is_empty() { "--add PATTERN".to_owned() } else { words.join(" ") };
    let mut effects = vec![
        "The patterns are appended to the sealed scope as an amendment; nothing is rewritten.".to_owned(),
    ];
    if review.state == ReviewState::Editing {
        effects.push("The run goes on under the wider scope, if nobody else holds the paths.".into());
    } else {
        effects.push("The run is judged again with the amended scope, as a bundle of its own.".into());
        effects.push("If it passes then, its held changes land.".into());
    }
    DecisionOption {
        effects,
        paths: outside.to_vec(),
        patterns,
        needs_why: true,
        ..option(DecisionAction::Amend, label.to_owned(), format!("probity amend {run} {words} --why '…'"))
    }
}

fn amend_intent(review: &ChangeReview) -> DecisionOption {
    let id = &review.change;
    DecisionOption {
        effects: vec![
            "The paths are added to the scope of the intent, on the record, if nobody else holds them."
                .into(),
            "Only its owner can: the handle of the intent must be kept in this worktree.".into(),
        ],
        needs_why: true,
        ..option(
            DecisionAction::Amend,
            "Expand the scope".into(),
            format!("probity amend --intent {id} --add PATH --why '…'"),
        )
    }
}

fn clear(review: &ChangeReview) -> DecisionOption {
    DecisionOption {
        effects: vec![
            "The intent is given up: its paths are free for others.".into(),
            "Its uncommitted changes stay in the tree; nobody claims them then.".into(),
            "A live owner is not taken from: that is refused.".into(),
        ],
        ..option(DecisionAction::Clear, "Clear".into(), format!("probity intent clear {}", review.change))
    }
}

fn recover(review: &ChangeReview) -> DecisionOption {
    DecisionOption {
        is_main: true,
        effects: vec![
            "The claim becomes yours, with a new lease: its handle is kept in this worktree.".into(),
            "The uncommitted changes of its paths stay, and are yours to finish.".into(),
            "It is refused if the owner is alive after all.".into(),
        ],
        ..option(
            DecisionAction::Recover,
            "Take over".into(),
            format!("probity intent recover {}", review.change),
        )
    }
}

fn promote(review: &ChangeReview) -> DecisionOption {
    DecisionOption {
        is_main: true,
        effects: vec!["The intent gets its claim if nobody holds its paths any more.".into()],
        ..option(
            DecisionAction::Promote,
            "Promote".into(),
            format!("probity intent promote {}", review.change),
        )
    }
}
