//! An answer as a document: the fields of seeds 001 and 004, and what they rest on.

use super::Answer;
use contract::claims::CheckedClaim;
use contract::outputs::Review;
use contract::receipt::{MAX_SHOWN_FINDINGS, RunRef, check_outcomes, shown_findings};
use serde_json::{Map, Value, json};

/// The most unchecked sentences that a document lists; their number is always whole.
const MAX_LISTED_SENTENCES: usize = 100;

impl Answer {
    /// The document, without its `schema`.
    pub fn to_json(&self) -> Value {
        self.document(&self.review())
    }

    /// The same for whoever has the review already.
    pub fn document(&self, review: &Review) -> Value {
        let mut document = self.verdict.to_json();
        let checks = check_outcomes(&self.verdict, self.scope_check.as_ref(), &self.gates);
        let profile = &self.verdict.profile;
        let more = json!({
            "mode": "verify",
            "status": self.outcome.status,
            "reason": self.outcome.reason,
            "next_step": self.outcome.reason.map(contract::ContractReason::next_step),
            "verdict": { "status": self.verdict.status, "reason": self.verdict.reason },
            "before": self.before.as_ref().map(run_json),
            "after": self.after.as_ref().map(run_json),
            "intent_id": self.intent_id,
            "changed_files": self.changed,
            "strictness": self.strictness,
            "scope_check": self.scope_check,
            "before_gate": self.structural_gates.0,
            "gate_preview": self.structural_gates.1,
            "gate_results": self.gates,
            "blocking_violations": self.outcome.blocking_violations,
            "let_through": self.outcome.let_through,
            "findings_let_through": self.outcome.findings_let_through,
            "verification_profile": profile.profile,
            "languages": profile.languages,
            "after_run_required": profile.after_run_required,
            "checks_performed": profile.checks_performed,
            "checks_not_applicable": profile.checks_not_applicable,
            "checks": checks.map(|(check, outcome)| json!({ "check": check, "outcome": outcome })),
            "new_findings": shown_findings(&review.findings),
            "new_findings_left_out": review.findings.len().saturating_sub(MAX_SHOWN_FINDINGS),
            "api": self.api,
            "claims": self.claims_json(),
            "claim_validation_recommended": self.claim_validation_recommended(),
        });
        let (Value::Object(all), Value::Object(more)) = (&mut document, more) else {
            unreachable!("both documents are objects")
        };
        all.extend::<Map<String, Value>>(more);
        document
    }

    /// What was claimed, and what is true of it.
    pub fn claims_json(&self) -> Value {
        let not_made: Vec<&str> = contract::claims::Claim::WORDS
            .into_iter()
            .filter(|word| self.claims.iter().all(|checked| checked.claim.word() != *word))
            .collect();
        json!({
            "valid": self.judgement.is_valid(),
            "verdict": self.claims_verdict(),
            "checked": self.claims.iter().map(CheckedClaim::to_json).collect::<Vec<_>>(),
            "violations": self.judgement.violations,
            "warnings": self.judgement.warnings,
            "not_made": not_made,
            "unchecked_sentences": self.unchecked_sentences.len(),
            "unchecked": &self.unchecked_sentences[..self.unchecked_sentences.len().min(MAX_LISTED_SENTENCES)],
        })
    }

    /// Whether what an author writes about this change is worth checking.
    fn claim_validation_recommended(&self) -> bool {
        match self.verdict.evaluation() {
            Some(_) => self.outcome.status.is_accepted(),
            None => self.verdict.profile.after_run_required,
        }
    }
}

fn run_json(run: &RunRef) -> Value {
    json!({ "run_id": super::review::short_id(&run.run_id), "digest": run.run_id, "health": run.health })
}
