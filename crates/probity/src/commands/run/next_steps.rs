//! The commands that a run proposes next.

use crate::caller_location;
use probity_api::govern::run::{NextCommand, WayForward};
use probity_core::ReasonCode;
use probity_evidence::LandingState;
use probity_paths::RepoPath;
use probity_runner::run::RunReport;
use probity_workspace::exemptions::{output_hint, sources_among};
use std::collections::BTreeSet;

/// With more patterns than this, the proposed command says `PATTERN` and refers to `plan --suggest-from`.
const MAX_PROPOSED_PATTERNS: usize = 5;

fn next_command(way: WayForward, command: impl Into<String>) -> NextCommand {
    NextCommand { way, command: command.into() }
}

/// Suggests the next commands after a violation.
pub(super) fn next_steps(report: &RunReport) -> Vec<NextCommand> {
    // Skipped gates are a consequence of another failure, and that is the one to fix.
    let all = report.reasons();
    let reasons = || all.iter();
    let cause = reasons().find(|reason| **reason != ReasonCode::GateSkipped);
    let Some(first) = cause.or_else(|| reasons().next()) else {
        let intent = report.seal.contents().intent_id.iter();
        let finish = |id: &String| format!("{} finish {id}", caller_location::program_prefix());
        return intent.map(|id| next_command(WayForward::Next, finish(id))).collect();
    };
    let id = &report.seal.contents().run_id;
    let is_held = matches!(report.landing.state, LandingState::Held | LandingState::Conflict);
    if report.verdict.untracked.is_empty() {
        // Everything judged is in scope, and an entry that cannot land is among it or in the build outputs.
        let may_land =
            matches!(first, ReasonCode::LandUnsafe | ReasonCode::RunCommandFailed | ReasonCode::RunCancelled);
        let mut steps = Vec::new();
        if *first != ReasonCode::LandUnsafe || !is_held || report.verdict.delta.is_empty() {
            steps.push(next_command(WayForward::Next, next_step_of(*first, id)));
        }
        if may_land && is_held && !report.verdict.delta.is_empty() {
            let part = format!("{} land {id} --in-scope", caller_location::program_prefix());
            steps.push(next_command(WayForward::Part, part));
        }
        steps.extend(held_steps(id, is_held && !report.landing.paths.is_empty()));
        return steps;
    }
    let findings = report.verdict.findings.iter();
    let protected: BTreeSet<&RepoPath> = findings
        .filter(|finding| finding.reason == ReasonCode::ProtectedChanged)
        .filter_map(|finding| finding.path.as_ref())
        .collect();
    // No scope lifts the protection of a path, so only unprotected paths are worth proposing.
    let plain: Vec<RepoPath> =
        report.verdict.untracked.iter().filter(|path| !protected.contains(path)).cloned().collect();
    if is_held {
        let has_part = report.verdict.delta.len() > report.verdict.untracked.len();
        let mut steps = ways_for_held(id, &plain, has_part);
        if plain.is_empty() {
            steps.push(next_command(WayForward::Next, next_step_of(*first, id)));
        }
        return steps;
    }
    if plain.is_empty() {
        let revert = format!("{} revert {id}", caller_location::program_prefix());
        return vec![
            next_command(WayForward::Revert, revert),
            next_command(WayForward::Next, next_step_of(*first, id)),
        ];
    }
    let hint = output_hint(&report.seal, &report.verdict.untracked);
    let init =
        hint.filter(|hint| hint.without_policy).map(|_| next_command(WayForward::Exempt, "probity init"));
    let is_new = |path: &RepoPath| {
        let mut changes = report.verdict.delta.iter();
        changes.any(|change| change.path == *path && change.change == probity_snapshot::ChangeKind::Added)
    };
    ways_forward(id, &plain, is_new).into_iter().chain(init).collect()
}

/// Returns the next step of a reason with the run's id in its commands.
fn next_step_of(reason: ReasonCode, run_id: &str) -> String {
    reason.next_step().replace(" RUN", &format!(" {run_id}"))
}

/// Suggests what to do with a layer that waits.
fn held_steps(id: &str, is_held: bool) -> Vec<NextCommand> {
    let probity = caller_location::program_prefix();
    if !is_held {
        return Vec::new();
    }
    vec![
        next_command(WayForward::Look, format!("{probity} diff {id}")),
        next_command(WayForward::Discard, format!("{probity} discard {id}")),
    ]
}

/// Suggests commands for a layer with changes out of scope, those in `plain` and protected ones; `has_part` if others
/// are in scope.
pub(crate) fn ways_for_held(id: &str, plain: &[RepoPath], has_part: bool) -> Vec<NextCommand> {
    let probity = caller_location::program_prefix();
    let expand = ways_forward(id, plain, |_| false)
        .into_iter()
        .filter(|step| matches!(step.way, WayForward::Expand | WayForward::Suggest) && !plain.is_empty());
    let mut steps: Vec<NextCommand> = expand.collect();
    if has_part {
        steps.push(next_command(WayForward::Part, format!("{probity} land {id} --in-scope")));
    }
    steps.extend(held_steps(id, true));
    steps
}

/// Suggests commands for changes out of scope: widen the scope, revert them, or make them in a separate run.
pub(crate) fn ways_forward(
    id: &str,
    outside: &[RepoPath],
    is_new: impl Fn(&RepoPath) -> bool,
) -> Vec<NextCommand> {
    let probity = caller_location::program_prefix();
    let revert = next_command(WayForward::Revert, format!("{probity} revert {id}"));
    // A scope for caches would allow anything in them; caches belong in the policy's exemptions.
    let (sources, _) = sources_among(outside);
    if sources.is_empty() {
        return vec![revert];
    }
    let patterns = probity_scopes::suggest(&sources, &[]);
    let are_too_many = patterns.len() > MAX_PROPOSED_PATTERNS;
    let suggest = are_too_many
        .then(|| next_command(WayForward::Suggest, format!("{probity} plan --suggest-from {id}")));
    let flags = |flag: &str| {
        if are_too_many {
            return format!("{flag} PATTERN");
        }
        let words: Vec<String> = patterns
            .iter()
            .map(|pattern| format!("{flag} {}", caller_location::typed_word(pattern)))
            .collect();
        words.join(" ")
    };
    // Once the files are reverted, a scope of new files alone matches nothing.
    let creates = if sources.iter().all(is_new) { " --creates" } else { "" };
    let ways = [
        next_command(WayForward::Expand, format!("{probity} amend {id} {} --why '…'", flags("--add"))),
        revert,
        next_command(
            WayForward::Split,
            format!("{probity} revert {id} && {probity} run {}{creates} -- …", flags("--scope")),
        ),
    ];
    suggest.into_iter().chain(ways).collect()
}
