//! The review of a governed run, finished or going on.

use crate::file_sides::{FileSides, open_layer_sides};
use probity_api::review::{
    ChangeReview, GateFacts, PathFate, ReviewAmendment, ReviewClause, ReviewPath, ReviewReason, ReviewState,
    ReviewedKind,
};
use probity_core::bytes::{bare_shell_word, escape};
use probity_core::{Digest, ReasonCode};
use probity_evidence::{
    Amendment, ChangeKind, GateStatus, GlobList, LandingState, Manifest, SEAL_FILE, Seal, StoredManifest,
    amended_scope, verify_bundle,
};
use probity_knowledge::ledger;
use probity_paths::{RepoPath, Scope};
use probity_runner::bundles::{self, RevertIndex};
use probity_runner::held;
use probity_runner::log_proofs;
use probity_runner::recorded_contents::{RecordedRun, SideContent};
use probity_storage::durable;
use probity_workspace::{ServiceError, Workspace, run_claims};
use std::collections::{BTreeMap, BTreeSet};

/// Where each clause of a scope comes from, and which one decides about a path.
pub(crate) struct ScopeFacts {
    pub(crate) clauses: Vec<ReviewClause>,
    scope: Option<Scope>,
}

impl ScopeFacts {
    pub(crate) fn of(sealed: &GlobList, amendments: &[Amendment]) -> Self {
        let clause = |pattern: &Vec<u8>, amendment| ReviewClause {
            pattern: escape(pattern),
            excludes: pattern.starts_with(b"!"),
            amendment,
            n_decided: 0,
            owner: None,
        };
        let mut clauses: Vec<ReviewClause> = sealed.as_slice().iter().map(|it| clause(it, None)).collect();
        for (index, amendment) in amendments.iter().enumerate() {
            clauses.extend(amendment.add.as_slice().iter().map(|it| clause(it, Some(index))));
        }
        Self { clauses, scope: amended_scope(sealed, amendments).ok() }
    }

    /// Returns whether the scope lets a path in, and the clause that decided; counts it there.
    pub(crate) fn decide(&mut self, path: &RepoPath) -> (bool, Option<usize>) {
        let Some(scope) = &self.scope else { return (false, None) };
        let clause = scope.decision(path).map(|decision| decision.index);
        if let Some(clause) = clause.and_then(|index| self.clauses.get_mut(index)) {
            clause.n_decided += 1;
        }
        (scope.contains(path), clause)
    }
}

pub(crate) fn reason_facts(reason: ReasonCode) -> ReviewReason {
    ReviewReason {
        code: reason.as_str().into(),
        meaning: reason.meaning().into(),
        next_step: reason.next_step().into(),
    }
}

/// The longest command that stands for a title.
const MAX_TITLE_CHARS: usize = 100;

/// Returns the words of a command on one line, cut to a title.
pub(crate) fn command_words(manifest: &Manifest) -> Option<String> {
    let command = manifest.details.command.as_ref()?;
    let words: Vec<String> =
        command.argv.iter().map(|word| String::from_utf8_lossy(word.as_bytes()).into_owned()).collect();
    let line = words.join(" ").split_whitespace().collect::<Vec<_>>().join(" ");
    let cut: String = line.chars().take(MAX_TITLE_CHARS).collect();
    Some(if cut.len() < line.len() { format!("{cut}\u{2026}") } else { cut })
}

/// Says why a run did not pass, in words.
pub(crate) fn why_not_passed(manifest: &Manifest) -> Option<String> {
    let reason = manifest.reasons().into_iter().next()?;
    let failed = manifest.gate_results.iter().find(|gate| {
        gate.status == GateStatus::Fail && manifest.plan.required_gates().any(|id| id == gate.gate_id)
    });
    Some(match (reason, failed) {
        (ReasonCode::ReconUntrackedDelta, _) => "it changed what its scope does not let in".to_owned(),
        (ReasonCode::GateFailed, Some(gate)) => format!("its gate {} did not pass", gate.gate_id),
        _ => reason.meaning().to_owned(),
    })
}

/// The name that was given to the agent of a run, else that of the program.
pub(crate) fn agent_name(manifest: &Manifest) -> Option<String> {
    manifest.details.agent.clone().or_else(|| program_name(manifest))
}

/// The name of the program that a run governed.
pub(crate) fn program_name(manifest: &Manifest) -> Option<String> {
    let first = manifest.details.command.as_ref()?.argv.first()?;
    let name = first.as_bytes().rsplit(|byte| *byte == b'/').next()?;
    Some(escape(name))
}

pub(crate) fn review_amendments(amendments: &[Amendment]) -> Vec<ReviewAmendment> {
    let one = |amendment: &Amendment| ReviewAmendment {
        by: amendment.by.clone(),
        why: amendment.why.clone(),
        at: amendment.at.clone(),
        added: amendment.add.as_slice().iter().map(|pattern| escape(pattern)).collect(),
    };
    amendments.iter().map(one).collect()
}

/// Reviews a run that ended, with its current judgment.
pub(crate) fn finished_run(
    workspace: &Workspace,
    name: &str,
) -> Result<(ChangeReview, RecordedRun), ServiceError> {
    let (mut run, chained) = RecordedRun::open(workspace, name)?;
    run.read_ahead(workspace);
    let manifest = &run.stored.manifest;
    let mut scope = ScopeFacts::of(&manifest.plan.scope, &manifest.amendments);
    let paths = review_paths(workspace, &run, &mut scope);
    let trust = bundles::own_trust(workspace)?;
    let mut checks = verify_bundle(&run.files, &trust).checks;
    let proof = log_proofs::prove(workspace, &manifest.run_id, None).ok();
    if let Some(check) =
        proof.as_ref().and_then(|proof| bundles::check_proof(&run.files, proof, &trust, None))
    {
        checks.push(check);
    }
    let mut notes = Vec::new();
    if manifest.delta.is_none() {
        notes.push("what the run changed is not known".to_owned());
    }
    let n_lost =
        paths.iter().filter(|path| path.folded.as_deref().is_some_and(|why| why.contains("no copy"))).count();
    if n_lost > 0 {
        let paths = probity_core::text::count(n_lost, "path");
        notes.push(format!("the content of {paths} is no longer kept here, only the digests"));
    }
    let title = command_words(manifest).unwrap_or_else(|| format!("run {}", manifest.run_id));
    let review = ChangeReview {
        agent: agent_name(manifest),
        began_at: manifest.details.started_at.clone(),
        ended_at: Some(manifest.created_at.clone()),
        state: run_state(&run.stored, run.is_held, &chained),
        reasons: manifest.reasons().into_iter().map(reason_facts).collect(),
        enforcement: Some(manifest.details.enforcement.to_string()),
        clauses: scope.clauses,
        paths,
        amendments: review_amendments(&manifest.amendments),
        gates: review_gates(manifest),
        bundle: Some(manifest.run_id.clone()),
        checks,
        log_index: proof.map(|proof| proof.index),
        decisions_cited: cited_items(workspace, &[&run.first_run_id, &manifest.run_id]),
        notes,
        ..ChangeReview::unjudged(run.first_run_id.clone(), ReviewedKind::Run, title)
    };
    Ok((review, run))
}

/// Returns where a run stands, from its own bundle and those that came after it.
pub(crate) fn run_state(run: &StoredManifest, is_held: bool, chained: &[StoredManifest]) -> ReviewState {
    let passed = run.manifest.reasons().is_empty();
    if is_held {
        return if passed { ReviewState::Ready } else { ReviewState::Held };
    }
    let reverted = RevertIndex::of(chained).reverted_by(run);
    if reverted.is_some_and(|revert| revert.left.is_empty()) {
        return ReviewState::Undone;
    }
    let landed = |stored: &&StoredManifest| {
        let landing = stored.manifest.details.landing.as_ref();
        landing.is_some_and(|landing| landing.state == LandingState::Landed)
    };
    let is_landed = landed(&run)
        || chained.iter().filter(|it| it.manifest.details.lands == Some(run.run_hash)).any(|it| landed(&it));
    let own = run.manifest.details.landing.as_ref().map(|landing| landing.state);
    match own {
        _ if is_landed => ReviewState::Landed,
        Some(LandingState::Held | LandingState::Conflict) => ReviewState::Undone,
        _ if passed => ReviewState::Landed,
        _ => ReviewState::Failed,
    }
}

fn review_paths(workspace: &Workspace, run: &RecordedRun, scope: &mut ScopeFacts) -> Vec<ReviewPath> {
    let manifest = &run.stored.manifest;
    let by_gate: BTreeSet<&RepoPath> = manifest.details.gate_delta_paths.iter().collect();
    let mut renamed: BTreeMap<Digest, &RepoPath> = BTreeMap::new();
    for change in run.changes.iter().filter(|change| change.change == ChangeKind::Deleted) {
        if let Some(digest) = change.before.as_ref().and_then(|side| side.digest) {
            renamed.insert(digest, &change.path);
        }
    }
    let mut rows = Vec::new();
    for change in &run.changes {
        let (is_inside, clause) = scope.decide(&change.path);
        let fate = match (by_gate.contains(&change.path), is_inside) {
            (_, false) => PathFate::Outside,
            (true, true) => PathFate::Gate,
            (false, true) => PathFate::Inside,
        };
        let is_new = change.change == ChangeKind::Added;
        let moved = change.after.as_ref().filter(|_| is_new).and_then(|side| renamed.get(&side.digest?));
        let sides = FileSides { before: run.before(workspace, change), after: run.after(workspace, change) };
        let mut row = ReviewPath { clause, ..path_row(change.path.clone(), change.change, fate) };
        row.renamed_from = moved.map(|path| (*path).clone());
        row.in_tree = Some(is_in_tree(workspace, &change.path, &sides.after));
        sides.describe(&mut row);
        rows.push(row);
    }
    let exempt = manifest.exempt_delta_paths.iter();
    rows.extend(exempt.map(|path| path_row(path.clone(), ChangeKind::Modified, PathFate::Exempt)));
    rows
}

fn is_in_tree(workspace: &Workspace, path: &RepoPath, after: &SideContent) -> bool {
    crate::file_sides::present_content(workspace, path) == *after
}

pub(crate) fn path_row(path: RepoPath, change: ChangeKind, fate: PathFate) -> ReviewPath {
    ReviewPath {
        path,
        change,
        fate,
        clause: None,
        renamed_from: None,
        lines_added: 0,
        lines_removed: 0,
        is_binary: false,
        folded: None,
        owner: None,
        in_tree: None,
    }
}

pub(crate) fn review_gates(manifest: &Manifest) -> Vec<GateFacts> {
    let required: BTreeSet<&str> = manifest.plan.required_gates().collect();
    let result = |id: &str| manifest.gate_results.iter().find(|result| result.gate_id == id);
    let mut gates: Vec<GateFacts> = Vec::new();
    for planned in &manifest.plan.gates {
        let id = planned.id.as_str();
        let words: Vec<String> = planned.run.iter().map(|word| bare_shell_word(word.as_bytes())).collect();
        let found = result(id);
        gates.push(GateFacts {
            id: id.to_owned(),
            status: found.map_or_else(|| "not run".to_owned(), |result| result.status.to_string()),
            passed: found.is_some_and(|result| result.status == GateStatus::Pass),
            required: required.contains(id),
            duration_ms: found.map(|result| result.duration_ms),
            exit_code: found.and_then(|result| result.exit_code),
            logs: found.map(|result| result.log_paths.clone()).unwrap_or_default(),
            detail: words.join(" "),
        });
    }
    gates
}

/// Returns the items of the ledger that a change was made under; none if the ledger cannot be read.
pub(crate) fn cited_items(workspace: &Workspace, changes: &[&str]) -> Vec<String> {
    ledger::citations_of_changes(workspace, changes).unwrap_or_default()
}

/// The name of the agent of an open run, from its seal.
pub(crate) fn sealed_agent(workspace: &Workspace, run_id: &str) -> Option<String> {
    let open = workspace.state.open_runs().ok()?;
    let folder = open.into_iter().find(|run| run.run_id == run_id)?.folder;
    let bytes = durable::read(&folder.join(SEAL_FILE)).ok()??;
    Seal::parse(&bytes).ok()?.contents().agent.clone()
}

/// Reviews a run that goes on in a view: its layer against the tree as it is now.
pub(crate) fn open_run(workspace: &Workspace, run_id: &str) -> Result<ChangeReview, ServiceError> {
    let open = run_claims::open_runs(&workspace.state)?;
    let run = open
        .into_iter()
        .find(|run| run.claim.run_id == run_id)
        .ok_or_else(|| ServiceError::NoSuchRun(format!("run {run_id} has ended since")))?;
    let agent = sealed_agent(workspace, run_id);
    let mut scope = ScopeFacts::of(&run.scope, &[]);
    let mut notes = Vec::new();
    let mut rows = Vec::new();
    match held::layer_diff(workspace, run_id, &[]) {
        Ok(diff) => {
            for change in diff.changes {
                let (is_inside, clause) = scope.decide(&change.path);
                let fate = if is_inside { PathFate::Inside } else { PathFate::Outside };
                let mut row = ReviewPath { clause, ..path_row(change.path, change.change, fate) };
                row.renamed_from = change.renamed_from;
                row.in_tree = Some(false);
                open_layer_sides(workspace, run_id, &row.path).describe(&mut row);
                rows.push(row);
            }
        }
        Err(_) => notes.push(
            "the run works in the tree itself, without a view of its own: what it changed is known when it ends".into(),
        ),
    }
    let title = format!("Run {} goes on", probity_core::text::short_id(run_id));
    Ok(ChangeReview {
        agent,
        began_at: Some(run.since),
        state: ReviewState::Editing,
        clauses: scope.clauses,
        paths: rows,
        decisions_cited: cited_items(workspace, &[run_id]),
        notes,
        ..ChangeReview::unjudged(run_id.to_owned(), ReviewedKind::Run, title)
    })
}
