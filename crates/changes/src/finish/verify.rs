//! Judges a change: gives its two analyses, its scope and its claims to the patch contract.

use super::{FinishContext, FinishHandler};
use crate::patch_trail::PatchTrailInputs;
use probity_api::change::{
    ClaimsSummary, DetailLevel, FailedGate, FinishRequest, FinishReview, FinishSummary, PatchTrail,
    RefutedClaim, WorseFinding,
};
use probity_api::quality::FinishVerification;
use probity_contract::claims::{ClaimVerdict, GateFact, GateOutcome};
use probity_contract::outputs::{NewFinding, VerdictSummary};
use probity_contract::receipt::MAX_SHOWN_FINDINGS;
use probity_contract::{DeltaVerdict, EvaluationOutcome, IntentState, PatchIntent};
use probity_intents::hygiene::{DirtyEntry, DirtyStatus};
use probity_intents::{ScopeCheck, ScopeEntrySet, ScopeRelation};
use probity_paths::{RepoPath, Scope};
use probity_quality::analyze;
use probity_quality::contract::policy_gates::{GateAnswers, HeldChange};
use probity_quality::contract::{self as judge, BaselineFile};
use probity_snapshot::git::GITLINK_MODE;
use probity_workspace::gates::HeldChanges;
use probity_workspace::progress::ProgressStep;
use probity_workspace::worktree::StartRecord;
use probity_workspace::worktree::{ChangesSinceStart, WorktreeStatus};
use probity_workspace::{ServiceError, git, own_files};
use std::collections::BTreeSet;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

/// The most new findings in a summary. The first ones count against the change and are the most severe.
const MAX_SUMMARY_FINDINGS: usize = 5;

/// Checks leases several times within the shortest possible lease while gates run.
const LEASE_CHECK_INTERVAL: Duration = Duration::from_secs(10);

impl FinishHandler<'_> {
    pub(super) fn gates(
        &self,
        scene: &FinishContext,
        progress: &(dyn Fn(ProgressStep) + Sync),
    ) -> Result<GateAnswers, ServiceError> {
        let held = self.programs.clone().map(|programs| {
            let since = scene.changes.dirty_paths.values().filter(|dirt| !dirt.is_unchanged_since_start);
            let since: Vec<&DirtyEntry> = since.map(|dirt| &dirt.entry).collect();
            let scope = &self.intent.scope;
            let is_outside = |path: &&RepoPath| {
                let path = self.frame.to_repo_path(path);
                scope.relation(path.as_bytes()) == ScopeRelation::Outside
            };
            let is_added = |entry: &&&DirtyEntry| entry.status == DirtyStatus::Added;
            let paths: BTreeSet<RepoPath> = since.iter().map(|entry| entry.path.clone()).collect();
            let changes = HeldChanges {
                added: since.iter().filter(is_added).map(|entry| entry.path.clone()).collect(),
                undeclared: paths.iter().filter(is_outside).cloned().collect(),
                changed: paths,
                grants: Scope::default(),
            };
            HeldChange { programs: Some(programs), changes }
        });
        let skip = self.request.skip_gates;
        let choice = judge::GateChoice { skip, held, ..judge::GateChoice::default() };
        let changed = changed_paths(&scene.evidence);
        let run = || {
            let (policy, look) = (&self.policy, &scene.status);
            judge::policy_gates::run(self.workspace, policy, &choice, &changed, look, progress)
        };
        // Gates may take longer than a lease. A failed renewal is ignored here: the release notices a lapsed claim.
        run_with_heartbeat(LEASE_CHECK_INTERVAL, || drop(self.shell.touch(&self.owner)), run)
    }

    /// Returns the gates that the caller left out.
    pub(super) fn skipped_gates(&self, gates: &GateAnswers) -> Vec<String> {
        let left_out = gates
            .facts
            .iter()
            .filter(|gate| self.request.skip_gates && gate.required && gate.result == GateOutcome::Skipped);
        left_out.map(|gate| gate.id.clone()).collect()
    }

    /// Returns the baseline at the start: the current one if it is unchanged since, else the one in the start's commit.
    pub(super) fn baseline_then(
        &self,
        look: &WorktreeStatus,
        since: &ChangesSinceStart,
    ) -> Result<Option<BaselineFile>, ServiceError> {
        let path = baseline_path();
        if since.dirty_paths.get(&path).is_none_or(|dirt| dirt.is_unchanged_since_start) {
            return Ok(self.baseline_now(look));
        }
        let Some(record) = &self.record else { return Ok(None) };
        if let Some(entry) = record.dirty.get(&path) {
            return Ok(entry.digest.map(|digest| BaselineFile { digest, bytes: None }));
        }
        Ok(self.committed_content(record, &path)?.map(BaselineFile::new))
    }

    /// Returns the baseline that the snapshot saw, without its bytes if the file has changed since.
    pub(super) fn baseline_now(&self, look: &WorktreeStatus) -> Option<BaselineFile> {
        let digest = look.snapshot.get(&baseline_path()).and_then(|entry| entry.digest())?;
        let found = BaselineFile::of_tree(self.workspace).ok().flatten();
        Some(found.filter(|file| file.digest == digest).unwrap_or(BaselineFile { digest, bytes: None }))
    }

    pub(super) fn committed_content(
        &self,
        record: &StartRecord,
        path: &RepoPath,
    ) -> Result<Option<Vec<u8>>, ServiceError> {
        let Some((git, head)) = self.workspace.git.as_ref().zip(record.head.as_ref()) else {
            return Ok(None);
        };
        let tree = git::tree_of(self.workspace, head)?;
        let Some((_, id)) = tree.get(path).filter(|(mode, _)| *mode != GITLINK_MODE) else { return Ok(None) };
        let id = id.to_string();
        Ok(git::blobs(git, &[(path, id.clone())])?.remove(&id))
    }

    /// Returns true if the change touches the policy so that it demands less of later changes.
    fn is_policy_loosened(&self, changed: &BTreeSet<RepoPath>) -> Result<bool, ServiceError> {
        let is_policy = |path: &RepoPath| {
            [own_files::POLICY_FILE, own_files::JSON_POLICY_FILE]
                .iter()
                .any(|name| name.as_bytes() == path.as_bytes())
        };
        if !changed.iter().any(is_policy) {
            return Ok(false);
        }
        Ok(!judge::tree_verification::policy_loosenings(self.workspace, &self.policy)?.is_empty())
    }

    pub(super) fn verify(
        &self,
        scene: &FinishContext,
        check: &ScopeCheck,
        gates: GateAnswers,
    ) -> Result<judge::ContractResult, ServiceError> {
        let changed = changed_paths(&scene.evidence);
        Ok(judge::verify(&judge::ContractRequest {
            intent: Some(PatchIntent {
                intent_id: self.intent.id.clone(),
                status: IntentState::Active,
                report_digest: self.intent.base.report_digest.clone(),
                scope: self.frame.to_workspace_scope(&self.intent.scope),
            }),
            changed: changed.clone(),
            scope_check: Some(check.clone()),
            before: scene.before.as_ref(),
            after: scene.after.as_ref(),
            tree_run: Some(gates.tree_run.unwrap_or(scene.tree_run)),
            gates: gates.facts,
            claims: self.request.claims.clone(),
            text: self.request.claims_text.as_deref(),
            rules: crate::stricter(self.policy.contract.clone(), self.request.strictness),
            limits: analyze::gate_rules(&self.policy)?,
            policy_loosened: self.is_policy_loosened(&changed)?,
        }))
    }

    pub(super) fn patch_trail(&self, scene: &FinishContext, check: &ScopeCheck) -> PatchTrail {
        let trail = PatchTrailInputs {
            paths: &self.frame,
            scope: &self.intent.scope,
            evidence: &scene.evidence,
            changes: &scene.changes,
            scope_check: check,
            heads: (self.intent.base.head.as_deref(), scene.status.state.head.as_deref()),
        };
        trail.answer(self.request.detail_level)
    }

    /// Returns the verdict without parts that the answer has elsewhere, and in `summary` without long lists.
    pub(super) fn verification(
        &self,
        verified: &judge::ContractResult,
        review: &VerdictSummary,
    ) -> FinishVerification {
        let is_summary = self.request.detail_level == DetailLevel::Summary;
        verified.patch_verdict(review).embedded(is_summary.then_some(MAX_SUMMARY_FINDINGS))
    }

    /// Returns the review for people, with the same number of findings as the document.
    pub(super) fn review(&self, review: &VerdictSummary) -> FinishReview {
        let is_summary = self.request.detail_level == DetailLevel::Summary;
        let shown = if is_summary { MAX_SUMMARY_FINDINGS } else { MAX_SHOWN_FINDINGS };
        let worse = review.findings.iter().take(shown).filter(|finding| finding.is_ours);
        FinishReview {
            worse: worse.map(worse_finding).collect(),
            refuted_claims: review
                .refuted_claims
                .iter()
                .map(|claim| RefutedClaim {
                    verdict: claim.verdict,
                    claimed: claim.sentence.clone().unwrap_or_else(|| claim.claim.as_str().to_owned()),
                    because: claim.objection_summary(),
                })
                .collect(),
        }
    }
}

fn worse_finding(finding: &NewFinding) -> WorseFinding {
    WorseFinding { path: finding.path.clone(), line: finding.lines.0, message: finding.message.clone() }
}

/// Returns the failed gates with the tail of their output.
pub(super) fn failed_gates(gates: &GateAnswers) -> Vec<FailedGate> {
    let tail = |gate: &GateFact| {
        let words = gates.last_words.iter().find(|(id, _)| *id == gate.id);
        words.map_or_else(String::new, |(_, words)| words.clone())
    };
    let failed = gates.facts.iter().filter(|gate| gate.result == GateOutcome::Failed);
    failed
        .map(|gate| FailedGate {
            id: gate.id.clone(),
            required: gate.required,
            started: !gates.not_started.contains(&gate.id),
            detail: gate.detail.clone(),
            log_tail: tail(gate),
        })
        .collect()
}

/// Returns the structural gates that passed before the change and fail after it.
pub(super) fn failed_structural_gates(verified: &judge::ContractResult) -> Vec<FailedGate> {
    let is_caused = verified.verdict.evaluation().is_some_and(|it| it.intent_caused_gate_failure);
    let (before, after) = &verified.structural_gates;
    let failed_before = |gate: &str| before.iter().flat_map(|it| &it.reasons).any(|it| it.gate == gate);
    let failures = after.iter().filter(|_| is_caused).flat_map(|report| &report.reasons);
    failures
        .filter(|failure| !failed_before(failure.gate))
        .map(|failure| FailedGate {
            id: failure.gate.to_owned(),
            required: true,
            started: true,
            detail: failure.message.clone(),
            log_tail: String::new(),
        })
        .collect()
}

/// Runs `work` while another thread calls `again` at every interval.
fn run_with_heartbeat<T>(every: Duration, again: impl Fn() + Send, work: impl FnOnce() -> T) -> T {
    std::thread::scope(|scope| {
        let (working, done) = mpsc::channel::<()>();
        scope.spawn(move || {
            while done.recv_timeout(every) == Err(RecvTimeoutError::Timeout) {
                again();
            }
        });
        let _until_here = working;
        work()
    })
}

fn changed_paths(evidence: &ScopeEntrySet) -> BTreeSet<RepoPath> {
    evidence.iter().filter_map(|entry| RepoPath::parse(entry.as_bytes()).ok()).collect()
}

fn baseline_path() -> RepoPath {
    RepoPath::parse(analyze::BASELINE_FILE.as_bytes()).expect("a plain name is a path")
}

pub(super) fn finish_summary(
    verified: &judge::ContractResult,
    check: &ScopeCheck,
    request: &FinishRequest,
) -> FinishSummary {
    let claims = match (&request.claims_text, request.claims.is_empty(), verified.claims_verdict()) {
        (None, true, _) => ClaimsSummary::SkippedNoClaims,
        (_, _, ClaimVerdict::True) => ClaimsSummary::Valid,
        (_, _, ClaimVerdict::Unverified) => ClaimsSummary::Unverified,
        (_, _, ClaimVerdict::False) => ClaimsSummary::Violated,
    };
    let delta = verified.verdict.evaluation().map(|evaluation| &evaluation.structural_delta);
    FinishSummary {
        scope_status: check.status,
        verification_profile: verified.verdict.profile.profile,
        structural_verdict: match &verified.verdict.evaluated {
            EvaluationOutcome::Nothing => None,
            EvaluationOutcome::NotApplicable => Some(DeltaVerdict::NotApplicable),
            EvaluationOutcome::Fully(evaluation) => Some(evaluation.structural_delta.verdict),
        },
        health_delta: delta.and_then(|delta| delta.health_delta),
        regressions: delta.map_or(0, |delta| delta.regressions.len()),
        claims,
        review_note_present: request.review_text.is_some(),
        receipt: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_done_meanwhile_goes_on_until_the_work_is_done() {
        let (called, calls) = mpsc::channel();
        let again = move || called.send(()).unwrap_or_default();
        let n_calls = run_with_heartbeat(Duration::from_millis(1), again, || calls.iter().take(3).count());
        assert_eq!(n_calls, 3);
        let quick =
            run_with_heartbeat(Duration::from_hours(1), || unreachable!("the work was done at once"), || 7);
        assert_eq!(quick, 7);
    }
}
