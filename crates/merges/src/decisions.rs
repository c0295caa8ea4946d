//! Decisions about findings: a loss is accepted, or the edit is put back.
//!
//! A decision that the merge stands closes its finding for good: the id of a finding depends on the four contents alone.
//! The same edit lost in the same way in another merge is another finding, which shows the earlier decision and stays open.

use crate::decision_log::{conflict_id, decision_of, decisions, record, write_decisions};
use crate::policy::{finding_policy, rule_on};
use crate::survival::{SurvivalRequest, restore};
use probity_api::merge_audit::{
    DecisionRequest, FindingChoice, FindingChoices, FindingDecision, FindingPolicy, MergeAuditAnswer,
    MergeDecisionAnswer, MergeFinding, MergeFindingDecisions, MergeReviewAnswer,
};
use probity_api::merges::RulingStatus;
use probity_core::ReasonCode;
use probity_workspace::{ServiceError, Workspace};

/// Tells answers what was decided about their findings, and what the policy says about them.
pub(crate) fn settle<'a>(
    workspace: &Workspace,
    answers: impl Iterator<Item = &'a mut MergeAuditAnswer>,
) -> Result<(), ServiceError> {
    let decided = decisions(workspace)?;
    let policy = finding_policy(workspace)?.policy;
    answers.for_each(|answer| settle_one(answer, &decided, &policy));
    Ok(())
}

fn settle_one(answer: &mut MergeAuditAnswer, decided: &MergeFindingDecisions, policy: &FindingPolicy) {
    for finding in &mut answer.findings {
        finding.ruling = rule_on(policy, finding);
        finding.conflict = conflict_id(finding);
        let newest_first = || decided.decisions.iter().rev();
        finding.decision = newest_first().find(|one| one.finding == finding.id).cloned();
        if finding.decision.is_none() {
            finding.decided_before = newest_first().find(|one| one.conflict == finding.conflict).cloned();
        }
    }
    answer.outcome = MergeAuditAnswer::outcome_of(&answer.findings);
}

/// Puts on record that findings of an audited merge are accepted as they are.
#[tracing::instrument(name = "accept losses", skip_all)]
pub fn accept(
    workspace: &Workspace,
    audit: &MergeAuditAnswer,
    request: &DecisionRequest,
) -> Result<MergeDecisionAnswer, ServiceError> {
    let chosen = chosen_findings(audit, request)?;
    let named = DecisionRequest {
        findings: chosen.iter().map(|finding| finding.id.clone()).collect(),
        repeat: false,
        ..request.clone()
    };
    check_acceptance(audit, &named)?;
    let recorded = record(workspace, audit.merge.as_deref(), chosen, FindingChoice::Merged, request)?;
    let mut audit = audit.clone();
    settle(workspace, std::iter::once(&mut audit))?;
    Ok(MergeDecisionAnswer { recorded, audit })
}

/// Decides about several findings of an audited merge at once: puts edits back in one survival commit, and accepts losses.
#[tracing::instrument(name = "decide findings", skip_all)]
pub fn decide(
    workspace: &Workspace,
    audit: &MergeAuditAnswer,
    choices: &FindingChoices,
) -> Result<MergeReviewAnswer, ServiceError> {
    let (mut accepted, mut restored) = (Vec::new(), Vec::new());
    for (id, choice) in &choices.choices {
        let finding = audit.findings.iter().find(|finding| finding.id == *id);
        let finding =
            finding.ok_or_else(|| ServiceError::Missing(format!("the audit has no finding `{id}`")))?;
        if *choice == FindingChoice::Merged {
            accepted.push(id.clone());
        } else if finding.restoring_choice() == Some(*choice) {
            restored.push(id.clone());
        } else {
            let why = format!("finding {id} has no edit of {choice} to put back");
            return Err(ServiceError::refused(ReasonCode::InputInvalid, why));
        }
    }
    let request = DecisionRequest {
        findings: accepted,
        override_policy: choices.override_policy,
        why: choices.why.clone(),
        by: choices.by.clone(),
        ..DecisionRequest::default()
    };
    // Both are checked before either is written.
    check_acceptance(audit, &request)?;
    let survival = match (&audit.merge, restored.is_empty()) {
        (_, true) => None,
        (None, false) => {
            let why =
                "the merge is not committed yet: put the edits back in the working tree, then commit it";
            return Err(ServiceError::refused(ReasonCode::InputInvalid, why));
        }
        (Some(merge), false) => Some(restore(
            workspace,
            &SurvivalRequest {
                merge: merge.clone(),
                findings: restored,
                subject: choices.subject.clone(),
                why: choices.why.clone(),
                author: choices.by.clone(),
                dry_run: choices.dry_run,
                skip_gates: false,
            },
        )?),
    };
    let chosen = if request.findings.is_empty() { Vec::new() } else { chosen_findings(audit, &request)? };
    let merge = audit.merge.as_deref();
    let recorded: Vec<FindingDecision> = chosen
        .into_iter()
        .map(|finding| decision_of(merge, finding, FindingChoice::Merged, &request))
        .collect();
    if !choices.dry_run {
        write_decisions(workspace, &recorded)?;
    }
    let mut audit = audit.clone();
    settle(workspace, std::iter::once(&mut audit))?;
    Ok(MergeReviewAnswer { survival, recorded, audit })
}

/// Refuses to accept findings without a reason, or against the policy.
fn check_acceptance(audit: &MergeAuditAnswer, request: &DecisionRequest) -> Result<(), ServiceError> {
    if request.why.trim().is_empty() {
        let why = "say why the merge may stand without these edits: `--why TEXT`";
        return Err(ServiceError::refused(ReasonCode::UsageInvalid, why));
    }
    if request.findings.is_empty() && !request.repeat {
        return Ok(());
    }
    let is_refused = |finding: &&MergeFinding| {
        finding.ruling.as_ref().is_some_and(|ruling| ruling.status == RulingStatus::Refused)
    };
    let refused = chosen_findings(audit, request)?.into_iter().find(is_refused);
    match refused.filter(|_| !request.override_policy) {
        Some(finding) => {
            let why = format!(
                "the policy lets nobody accept finding {} in {}: restore the edit, or use `--override-policy`",
                finding.id, finding.path
            );
            Err(ServiceError::refused(ReasonCode::MergeRefused, why))
        }
        None => Ok(()),
    }
}

fn chosen_findings<'a>(
    audit: &'a MergeAuditAnswer,
    request: &DecisionRequest,
) -> Result<Vec<&'a MergeFinding>, ServiceError> {
    if request.repeat {
        let was_accepted = |finding: &&MergeFinding| {
            finding.decided_before.as_ref().is_some_and(|one| one.chosen == FindingChoice::Merged)
        };
        return Ok(audit.findings.iter().filter(was_accepted).collect());
    }
    if request.findings.is_empty() {
        return Ok(audit.findings.iter().filter(|finding| finding.is_open()).collect());
    }
    let named = |name: &String| {
        let mut found = audit.findings.iter().filter(|finding| finding.id.starts_with(name.as_str()));
        match (found.next(), found.next()) {
            (Some(finding), None) => Ok(finding),
            (None, _) => Err(ServiceError::Missing(format!("the audit has no finding `{name}`"))),
            (Some(_), Some(_)) => Err(ServiceError::Missing(format!("several findings begin with `{name}`"))),
        }
    };
    request.findings.iter().map(named).collect()
}
