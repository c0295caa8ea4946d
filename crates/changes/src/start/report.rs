//! Builds the answer of a start.

use super::{StartAttempt, StartHandler};
use crate::hygiene_view::{HygieneView, MAX_LISTED_PATHS};
use crate::missing_paths::missing_paths;
use crate::registry::view::format_time;
use crate::uncommitted_work::{self, FinishedWork};
use probity_api::SystemPath;
use probity_api::change::{
    BlastLevel, BlastSummary, ClaimRelationWord, ConcurrentRun, ConcurrentWork, ConstraintInScope,
    Coordination, GateForecast, RelatedIntent, RelatedIntentAction, StartAnswer, StartBudget, StartObstacle,
};
use probity_core::text::short_id;
use probity_intents::registry::OwnerNotice;
use probity_intents::start::{ClaimState, StartNextStep, StartReason, StartStatus};
use probity_intents::{IntentId, IntentScope, LackingWork, Ownership, RelationKind, StartDecision};
use probity_knowledge::ledger;
use probity_paths::RepoPath;
use probity_policy::{Policy, StrictnessProfile};
use probity_quality::analyze;
use probity_quality::contract::AnalysisSide;
use probity_workspace::ServiceError;
use probity_workspace::run_claims::file_test;

/// The start's own intent, if there is one, and the other intents and runs it meets.
struct StartOverlaps<'a> {
    id: Option<&'a IntentId>,
    intents: &'a [IntentId],
    runs: &'a [IntentId],
    overlapping: Vec<&'a RelatedIntent>,
}

impl StartOverlaps<'_> {
    /// Returns whether every intent that blocks the start is finished and waits for its landing.
    fn only_landing_holds(&self) -> bool {
        let is_landing = |id: &IntentId| {
            let mut found = self.overlapping.iter().filter(|other| other.intent_id == *id);
            found.any(|other| other.recommended_action == RelatedIntentAction::WaitForItsLanding)
        };
        !self.intents.is_empty() && self.runs.is_empty() && self.intents.iter().all(is_landing)
    }
}

fn is_expired(other: &RelatedIntent) -> bool {
    other.ownership == Ownership::Expired
}

impl StartHandler<'_> {
    /// Explains the answer and how to resume an interrupted change. Warns if a filter hides whether a file is changed.
    fn message(&self, ask: &StartAttempt<'_>, decision: &StartDecision, met: &StartOverlaps<'_>) -> String {
        let is_meant =
            |path: &RepoPath| decision.dirty_in_allowed.contains(&ask.context.paths.to_repo_path(path));
        let mut message =
            self.finished_work_advice(ask, decision).unwrap_or_else(|| self.advice(decision, met));
        if let Some(note) = ask.context.status.undecided_note(is_meant) {
            message = format!("{message}; {note}");
        }
        if let Some(note) = &ask.context.policy_note {
            message = format!("{message}; {note}");
        }
        for note in self.team_notes(decision, met) {
            message = format!("{message}; {note}");
        }
        message
    }

    /// Says who else works on the same paths by announcement, and which finished work the tree lacks.
    fn team_notes(&self, decision: &StartDecision, met: &StartOverlaps<'_>) -> Vec<String> {
        let is_announced = |other: &&&RelatedIntent| other.claims == Some(ClaimRelationWord::Announced);
        let mut notes: Vec<String> = met
            .overlapping
            .iter()
            .filter(is_announced)
            .map(|other| {
                let host = other.host.as_deref().unwrap_or("another machine");
                format!(
                    "{} on {host} works on some of the same paths ({}): coordinate before you merge",
                    other.agent_label, other.intent
                )
            })
            .collect();
        let is_blocked = decision.reasons.contains(&StartReason::StaleBase);
        for work in decision.lacking.iter().filter(|work| !(is_blocked && work.is_on_line)) {
            notes.push(format!("warning: {}", lacking_words(work)));
        }
        if self.is_uncoordinated && decision.claim != ClaimState::None {
            notes.push("the store of the team was not asked, so nobody else knows of this change".to_owned());
        }
        notes
    }

    /// Advises to commit what another change left in the scope, if that is all that makes the scope dirty.
    fn finished_work_advice(&self, ask: &StartAttempt<'_>, decision: &StartDecision) -> Option<String> {
        if decision.next_step != StartNextStep::CleanDirtyScope {
            return None;
        }
        let frame = &ask.context.paths;
        let mut finished = FinishedWork::of(self.workspace, self.service.registry(), frame);
        let (mut paths, mut by) = (Vec::new(), None);
        for (path, entry) in &ask.context.status.state.dirty {
            if decision.dirty_in_allowed.contains(&frame.to_repo_path(path)) {
                let intent = finished.of_path(entry)?;
                if by.replace(intent).is_some_and(|other| other.id != intent.id) {
                    return None;
                }
                paths.push(path);
            }
        }
        let by = by?;
        let command = uncommitted_work::commit_command(self.workspace, paths.into_iter(), &by.description)?;
        Some(format!(
            "{} finished a change of this scope ({}) that is not committed yet: commit it with `{command}`",
            by.owner.label, by.description
        ))
    }

    fn advice(&self, decision: &StartDecision, met: &StartOverlaps<'_>) -> String {
        let short = |id: &IntentId| self.service.registry().short_id(id).to_owned();
        if decision.status == StartStatus::Blocked {
            let own = met.overlapping.iter().find(|other| other.handle_kept && !is_expired(other));
            if let Some(own) = own {
                let id = short(&own.intent_id);
                return format!(
                    "your own intent {id} ({}) holds paths of this scope, and its handle is kept in this worktree: go on \
                     with it and `probity finish {id}`, or give it up with `probity intent clear {id}`",
                    own.intent
                );
            }
            let gone = met.overlapping.iter().find(|other| {
                other.ownership == Ownership::Recoverable || (is_expired(other) && other.handle_kept)
            });
            if let Some(gone) = gone {
                let id = short(&gone.intent_id);
                return format!(
                    "{}; intent {id} of {} was interrupted ({}): `probity intent recover {id}` takes it over with its \
                     uncommitted changes, `probity intent clear {id}` gives it up",
                    message(decision, met.intents, met.runs),
                    gone.agent_label,
                    gone.intent
                );
            }
        }
        match (decision.next_step, met.id) {
            (StartNextStep::WaitThenPromote, Some(id)) => format!(
                "do not edit yet: you are number {} in the queue; `probity intent promote {}` when those before you have finished",
                decision.queue_position.unwrap_or(1),
                short(id)
            ),
            (StartNextStep::FetchAndRebase, _) => {
                let lacking = decision.lacking.iter().filter(|work| work.is_on_line);
                let words: Vec<String> = lacking.map(lacking_words).collect();
                format!("{}: fetch and rebase first, then start again; do not edit", words.join("; "))
            }
            (StartNextStep::CoordinateWithOwner | StartNextStep::CoordinateWithStaleOwner, _)
                if met.only_landing_holds() =>
            {
                "a finished change of another agent keeps others off these paths until it has landed: wait for its push, \
                 start with `--queue`, or narrow the scope; do not edit"
                    .into()
            }
            (StartNextStep::EditInScope, Some(id)) => {
                format!("edit only the declared paths, then `probity finish {}`", short(id))
            }
            _ => message(decision, met.intents, met.runs),
        }
    }

    pub(super) fn build_answer(
        &self,
        ask: &StartAttempt<'_>,
        decision: &StartDecision,
        id: Option<&IntentId>,
        notices: Vec<OwnerNotice>,
    ) -> Result<StartAnswer, ServiceError> {
        let circumstances = self.service.command_context()?;
        let frame = &ask.context.paths;
        let intent = id.and_then(|id| self.service.registry().intent(id));
        let looked = decision.status != StartStatus::NeedsAnalysis;
        let seen = self.registry_view(&circumstances, frame);
        let view = HygieneView {
            status: &ask.context.status,
            paths: frame,
            git_available: self.workspace.git.is_some(),
            detail: ask.detail,
        };
        let scope = frame.to_workspace_scope(&ask.scope);
        let run = ask.context.analysis.as_ref();
        let shown_run = run.filter(|_| decision.status != StartStatus::Queued);
        let reasons: Vec<StartObstacle> = decision.reasons.iter().copied().map(StartObstacle::Rule).collect();
        let mut workspace = if looked {
            seen.concurrent_work(&ask.scope, &self.place(frame), id, ask.detail)
        } else {
            ConcurrentWork::default()
        };
        if looked && decision.status != StartStatus::Active {
            workspace.concurrent_runs = self.concurrent_runs(ask)?;
        }
        let is_run = |id: &IntentId| workspace.concurrent_runs.iter().any(|run| run.run_id == id.as_str());
        let (runs, intents): (Vec<IntentId>, Vec<IntentId>) =
            decision.blocked_by.iter().cloned().partition(is_run);
        Ok(StartAnswer {
            status: decision.status,
            edit_allowed: decision.edit_allowed,
            intent_id: intent.map(|intent| intent.id.clone()),
            token: intent.and_then(|intent| intent.token),
            claim: decision.claim,
            reason: reasons.first().copied(),
            reasons,
            next_step: decision.next_step,
            message: {
                let overlaps = |other: &&RelatedIntent| other.relation == RelationKind::EditOverlap;
                let overlapping = workspace.workspace_relations.iter().filter(overlaps).collect();
                self.message(
                    ask,
                    decision,
                    &StartOverlaps { id, intents: &intents, runs: &runs, overlapping },
                )
            },
            user_action_required: !decision.edit_allowed,
            idempotent_replay: false,
            run_id: run.map(|side| side.run.id.0.to_string()),
            dirty_scope_policy: ask.policy,
            missing_paths: missing_paths(&ask.context.status, &scope),
            warnings: ask.warnings.clone(),
            blocked_by_runs: runs.iter().map(ToString::to_string).collect(),
            blocked_by: intents,
            queue_position: decision.queue_position,
            lease_expires_at: intent.map(|intent| format_time(intent.lease(&circumstances).ends_at())),
            expires_at: intent.map(|intent| format_time(intent.expires_at)),
            workspace,
            workspace_hygiene: looked.then(|| view.start(decision)),
            blast_radius: shown_run.map(|side| blast(&side.run, &scope, &view)),
            budget: match shown_run {
                Some(side) => Some(budget(&ask.context.policy.policy, side, ask.strictness)?),
                None => None,
            },
            constraints: if decision.claim == ClaimState::None {
                Vec::new()
            } else {
                self.constraints(&scope)?
            },
            implements: Vec::new(),
            line: self.team.as_ref().and_then(|team| team.line.clone()),
            coordination: match (&self.team, self.is_uncoordinated) {
                (_, true) => Some(Coordination::None),
                (Some(_), false) => Some(Coordination::Team),
                (None, false) => None,
            },
            lacking: frame.to_workspace_lacking(&decision.lacking),
            landed: self.landed.clone(),
            scope,
            notices,
            owner: None,
        })
    }

    /// Returns the governed runs that may touch the requested scope.
    fn concurrent_runs(&self, ask: &StartAttempt<'_>) -> Result<Vec<ConcurrentRun>, ServiceError> {
        let is_file = file_test(self.workspace);
        let runs = self.service.open_runs()?.into_iter().filter_map(|run| {
            let contested = run.claim.contested_entries(&ask.scope, &is_file);
            (!contested.is_empty()).then(|| ConcurrentRun {
                overlap: ask.context.paths.to_workspace_entries(&contested),
                root: SystemPath::from(&*run.root),
                run_id: run.claim.run_id,
                scope: run.scope,
                since: run.since,
                recommended_action: RelatedIntentAction::WaitForTheRunOrNarrowScope,
            })
        });
        Ok(runs.collect())
    }

    /// Returns the ledger's constraints on this scope; only the first ones, because agents read all of an answer.
    fn constraints(&self, scope: &IntentScope) -> Result<Vec<ConstraintInScope>, ServiceError> {
        let literals = scope.entries().filter_map(|entry| RepoPath::parse(entry.as_bytes()).ok()).collect();
        let claim = probity_scopes::ScopeClaim { literals, ..probity_scopes::ScopeClaim::default() };
        let touching =
            ledger::constraints_touching(self.workspace, &claim)?.into_iter().take(MAX_LISTED_PATHS);
        let in_scope = touching.map(|it| ConstraintInScope {
            handle: it.handle,
            summary: it.summary,
            hard: it.hard,
            because: it.because,
        });
        Ok(in_scope.collect())
    }
}

/// Says which work a tree lacks.
pub(crate) fn lacking_words(work: &LackingWork) -> String {
    let what = match work.paths.as_slice() {
        [] => "many paths of this scope".to_owned(),
        [only] => format!("`{only}`"),
        [first, rest @ ..] => format!("`{first}` and {} more", rest.len()),
    };
    let whose = format!("{} on {} finished a change of {what}", work.agent, work.host);
    match (&work.commit, &work.branch) {
        (Some(commit), Some(branch)) => {
            let commit = short_id(commit);
            format!("{whose} (commit {commit} on {branch}) that is not here")
        }
        _ => format!("{whose} that is neither here nor, as far as is known, on the remote"),
    }
}

fn budget(
    policy: &Policy,
    side: &AnalysisSide,
    asked: Option<StrictnessProfile>,
) -> Result<StartBudget, ServiceError> {
    let limits = analyze::gate_rules(policy)?;
    let rules = crate::stricter(policy.contract.clone(), asked);
    let budgets = probity_quality::contract::budget(side, &rules, &limits);
    Ok(StartBudget {
        strictness: rules.strictness(),
        gate_preview: GateForecast { would_fail: budgets.gate_fails_already },
        budgets,
    })
}

fn blast(run: &probity_analysis::AnalysisRun, scope: &IntentScope, view: &HygieneView<'_>) -> BlastSummary {
    let paths = scope.entries().filter_map(|entry| RepoPath::parse(entry.as_bytes()).ok()).collect();
    let blast = probity_analysis::blast_radius(run, &paths);
    BlastSummary {
        radius_level: BlastLevel::of(blast.transitive.len()),
        direct_dependents_count: blast.direct.len(),
        transitive_dependents_count: blast.transitive.len(),
        clone_siblings_count: blast.clone_siblings.len(),
        cycles_count: blast.cycles.len(),
        direct_dependents: view.list(blast.direct.iter().cloned()),
        clone_siblings: view.list(blast.clone_siblings.iter().cloned()),
        unknown: view.list(blast.unknown.iter().cloned()),
    }
}

fn message(decision: &StartDecision, intents: &[IntentId], runs: &[IntentId]) -> String {
    if let ([], [run, ..]) = (intents, runs)
        && decision.status == StartStatus::Blocked
    {
        return format!(
            "run {run} works on paths of this scope: wait until it has ended, start with `--queue`, or narrow the scope; do not edit"
        );
    }
    let hold = |whose: (&str, &str)| match intents.len() {
        1 => format!("an intent of {} holds paths of this scope", whose.0),
        n => format!("{n} intents of {} hold paths of this scope", whose.1),
    };
    match decision.next_step {
        StartNextStep::AnalyzeThenStart => {
            "no stored analysis describes the tree as it is: run `probity analyze`, then start again".into()
        }
        StartNextStep::WaitThenPromote => {
            let place = decision.queue_position.unwrap_or(1);
            format!("do not edit yet: you are number {place} in the queue")
        }
        StartNextStep::CoordinateAndClean => format!(
            "{}, and it has uncommitted changes: coordinate, start with `--queue`, or narrow the scope; do not edit",
            hold(("another agent", "other agents"))
        ),
        StartNextStep::CoordinateWithOwner => {
            format!("{}: coordinate, start with `--queue`, or narrow the scope; do not edit", hold(("another agent", "other agents")))
        }
        StartNextStep::CoordinateWithStaleOwner => {
            format!("{}: coordinate, or wait until it is over; do not edit", hold(("an owner who is silent", "owners who are silent")))
        }
        StartNextStep::CleanDirtyScope => {
            "the scope has uncommitted changes: commit, stash or revert them, or start with `--continue-own-wip` if \
             they are yours"
                .into()
        }
        StartNextStep::QueueOrNarrowScope => "others wait for these paths: start with `--queue`, or narrow the scope".into(),
        StartNextStep::FinishOwnIntent => "finish, amend or clear your own intent first".into(),
        StartNextStep::FetchAndRebase => "fetch and rebase first, then start again; do not edit".into(),
        StartNextStep::EditInScope => "edit only the declared paths, then finish".into(),
    }
}
