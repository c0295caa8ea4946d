//! Turns verdicts into answers, in one form for every surface.

use super::receipts::StoredReceipt;
use super::tree_verification::{TreeVerification, VerifyOptions, budget_of, verify_tree};
use super::{ContractResult, save_receipt};
use probity_analysis::SafeguardLoss;
use probity_api::SystemPath;
use probity_api::quality::{
    CheckedClaims, ClaimsCheckAnswer, ContractBudgetAnswer, ContractMode, ContractRun, ContractVerifyAnswer,
    PatchDetails, PatchFacts, PatchVerdict, VerdictWord,
};
use probity_contract::claims::{CheckedClaim, Claim};
use probity_contract::outputs::VerdictSummary;
use probity_contract::receipt::{MAX_SHOWN_FINDINGS, RunRef, check_results, shown_findings};
use probity_workspace::progress::ProgressStep;
use probity_workspace::{ServiceError, Workspace};

/// The most unchecked sentences that a document lists; their count is always complete.
const MAX_LISTED_SENTENCES: usize = 100;

/// The answer to a verification, with the data that reports are made from.
#[derive(Debug)]
pub struct ContractVerification {
    pub answer: ContractVerifyAnswer,
    pub review: VerdictSummary,
    pub verified: TreeVerification,
}

/// Verifies the tree of a workspace and stores a receipt if requested.
pub fn verify_contract(
    workspace: &Workspace,
    options: &VerifyOptions,
    keeps_receipt: bool,
    progress: &(dyn Fn(ProgressStep) + Sync),
) -> Result<ContractVerification, ServiceError> {
    let verified = verify_tree(workspace, options, progress)?;
    let receipt = keeps_receipt.then(|| save_receipt(workspace, &verified)).transpose()?;
    let review = verified.answer.review();
    let mut notes = verified.notes.clone();
    notes.extend(verified.answer.safeguard_losses().iter().map(SafeguardLoss::describe));
    let answer = ContractVerifyAnswer {
        root: SystemPath::from(workspace.root.as_path()),
        verdict: verified.answer.patch_verdict(&review),
        base: verified.revision.clone(),
        notes,
        receipt: receipt.as_ref().map(StoredReceipt::reference),
        merges: None,
    };
    Ok(ContractVerification { answer, review, verified })
}

#[derive(Debug)]
pub struct ClaimsCheck {
    pub answer: ClaimsCheckAnswer,
    pub claims: Vec<CheckedClaim>,
}

/// Checks an author's claims about the tree of a workspace.
pub fn check_claims(
    workspace: &Workspace,
    options: &VerifyOptions,
    progress: &(dyn Fn(ProgressStep) + Sync),
) -> Result<ClaimsCheck, ServiceError> {
    let TreeVerification { answer, notes, .. } = verify_tree(workspace, options, progress)?;
    let (status, claims) = (answer.verdict.status, answer.claims_summary());
    Ok(ClaimsCheck { answer: ClaimsCheckAnswer { status, claims, notes }, claims: answer.claims })
}

/// Returns the budget of a change that starts from a stored analysis or from the current tree.
pub fn budget_contract(
    workspace: &Workspace,
    run: Option<&str>,
    progress: &(dyn Fn(ProgressStep) + Sync),
) -> Result<ContractBudgetAnswer, ServiceError> {
    let (budget, notes) = budget_of(workspace, run, progress)?;
    Ok(ContractBudgetAnswer { mode: ContractMode::Budget, budget, notes })
}

impl ContractResult {
    pub fn patch_verdict(&self, review: &VerdictSummary) -> PatchVerdict {
        let facts = self.verdict.facts();
        let checks =
            check_results(&self.verdict, &self.outcome.let_through, self.scope_check.as_ref(), &self.gates);
        let profile = self.verdict.profile.with_results(&checks);
        PatchVerdict {
            mode: ContractMode::Verify,
            intent_id: self.intent_id.clone(),
            changed_files: self.changed.clone(),
            scope_check: self.scope_check.clone(),
            claims: self.claims_summary(),
            facts: PatchFacts {
                status: self.outcome.status,
                reason: self.outcome.reason,
                next_step: self.outcome.reason.map(probity_contract::ContractReason::next_step),
                verdict: VerdictWord { status: self.verdict.status, reason: self.verdict.reason },
                before: self.before.as_ref().map(contract_run),
                after: self.after.as_ref().map(contract_run),
                strictness: self.strictness,
                before_gate: self.structural_gates.0.clone(),
                gate_preview: self.structural_gates.1.clone(),
                structural_delta: facts.structural_delta,
                intent_regressions: facts.intent_regressions,
                external_regressions: facts.external_regressions,
                intent_worsened: facts.intent_worsened,
                external_worsened: facts.external_worsened,
                gate_worsened: facts.gate_worsened,
                intent_caused_gate_failure: facts.intent_caused_gate_failure,
                baseline_abuse: facts.baseline_abuse,
                contract_violations: facts.contract_violations,
                health_regression_advisory: facts.health_regression_advisory,
                blocking_violations: self.outcome.blocking_violations.clone(),
                verification_profile: profile.profile,
                languages: profile.languages,
                after_run_required: profile.after_run_required,
                checks_not_applicable: profile.checks_not_applicable,
                new_findings: shown_findings(&review.findings).to_vec(),
                new_findings_left_out: review.findings.len().saturating_sub(MAX_SHOWN_FINDINGS),
                claim_validation_recommended: self.claim_validation_recommended(),
            },
            details: PatchDetails {
                gate_results: self.gates.clone(),
                let_through: self.outcome.let_through.clone(),
                findings_let_through: self.outcome.findings_let_through.clone(),
                checks_performed: profile.checks_performed,
                checks,
                api: self.api.clone(),
                safeguard_losses: self.safeguard_losses().to_vec(),
            },
        }
    }

    /// Returns the tests and error handlers that the change lost.
    fn safeguard_losses(&self) -> &[SafeguardLoss] {
        self.comparison.as_ref().map_or(&[], |comparison| &comparison.safeguards)
    }

    pub fn claims_summary(&self) -> CheckedClaims {
        let is_made = |word: &str| self.claims.iter().any(|checked| checked.claim.as_str() == word);
        CheckedClaims {
            valid: self.judgment.is_valid(),
            verdict: self.claims_verdict(),
            checked: self.claims.iter().map(CheckedClaim::report).collect(),
            violations: self.judgment.violations.clone(),
            warnings: self.judgment.warnings.clone(),
            not_made: Claim::WORDS.into_iter().filter(|word| !is_made(word)).collect(),
            unchecked_sentences: self.unchecked_sentences.len(),
            unchecked: self.unchecked_sentences.iter().take(MAX_LISTED_SENTENCES).cloned().collect(),
        }
    }

    /// Returns whether an author's text about this change is worth checking.
    fn claim_validation_recommended(&self) -> bool {
        match self.verdict.evaluation() {
            Some(_) => self.outcome.status.is_accepted(),
            None => self.verdict.profile.after_run_required,
        }
    }
}

fn contract_run(run: &RunRef) -> ContractRun {
    ContractRun {
        run_id: probity_core::text::short_digest(&run.run_id).to_owned(),
        digest: run.run_id.clone(),
        health: run.health,
    }
}
