//! What on the board waits for a person, in words.

use probity_api::review::{BoardLane, BoardNeed, DecisionAction, LaneState, NeedKind, PathFate};
use probity_core::text::{count, short_id};
use probity_paths::RepoPath;

/// Patterns that are named in a sentence.
const MAX_NAMED_PATTERNS: usize = 2;

/// Returns what each lane needs from a person.
pub(super) fn needs(lanes: &[BoardLane]) -> Vec<BoardNeed> {
    let mut needs: Vec<BoardNeed> = Vec::new();
    for lane in lanes {
        let who = lane.agent.clone().unwrap_or_else(|| format!("run {}", short_id(&lane.change)));
        let need = |kind, sentence: String, paths: Vec<RepoPath>, note: &str| BoardNeed {
            kind,
            change: lane.change.clone(),
            who: who.clone(),
            sentence,
            paths,
            note: note.to_owned(),
            since: lane.since.clone(),
            action: None,
        };
        let outside: Vec<RepoPath> = lane
            .paths
            .iter()
            .filter(|path| path.fate == PathFate::Outside)
            .map(|path| path.path.clone())
            .collect();
        match lane.state {
            LaneState::Held | LaneState::Failed if !outside.is_empty() => {
                let sentence = format!("was to change only {}, and also changed", scope_words(&lane.scope));
                needs.push(need(NeedKind::Outside, sentence, outside, place_words(lane)));
            }
            LaneState::Held | LaneState::Failed => {
                let why = lane.reason_words.clone().unwrap_or_else(|| "it did not pass".to_owned());
                let sentence = format!("did not pass: {why}");
                needs.push(need(NeedKind::Failed, sentence, Vec::new(), place_words(lane)));
            }
            LaneState::Ready => needs.push(BoardNeed {
                action: Some(DecisionAction::Land),
                ..need(
                    NeedKind::Ready,
                    format!("passed and waits to land {}", count(lane.n_paths, "path")),
                    Vec::new(),
                    if lane.base_moved.is_empty() { "nothing in the way" } else { "the tree moved on" },
                )
            }),
            LaneState::Recoverable => needs.push(BoardNeed {
                action: Some(DecisionAction::Recover),
                ..need(
                    NeedKind::Recoverable,
                    "is gone, and its claim is left".into(),
                    Vec::new(),
                    "its process ended",
                )
            }),
            _ => {}
        }
        if !lane.base_moved.is_empty() && lane.state != LaneState::Queued {
            let sentence = match lane.base_behind {
                Some(n) => format!(
                    "is {} behind; others since changed",
                    count(usize::try_from(n).unwrap_or(0), "commit")
                ),
                None => "waits; the tree has since changed at".to_owned(),
            };
            needs.push(need(NeedKind::Stale, sentence, lane.base_moved.clone(), "look before it lands"));
        }
    }
    needs
}

fn scope_words(scope: &[String]) -> String {
    let named: Vec<String> =
        scope.iter().take(MAX_NAMED_PATTERNS).map(|pattern| format!("`{pattern}`")).collect();
    match scope.len().saturating_sub(MAX_NAMED_PATTERNS) {
        0 if named.is_empty() => "nothing".to_owned(),
        0 => named.join(" and "),
        n => format!("{} and {n} more", named.join(", ")),
    }
}

/// Where the changes of a lane are, in words.
const fn place_words(lane: &BoardLane) -> &'static str {
    match (lane.state, lane.n_in_tree) {
        (LaneState::Failed, _) => "it is in the tree",
        (_, 0) => "held, tree untouched",
        (_, _) => "the rest is held",
    }
}
