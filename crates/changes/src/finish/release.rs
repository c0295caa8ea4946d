//! Settles an accepted change: writes the receipt, then releases the claim while its fencing token is held.

use super::report::FinishReportBuilder;
use super::{FinishContext, FinishHandler, replay};
use crate::landing;
use crate::registry::{TreeFacts, pending};
use crate::uncommitted_work;
use probity_api::change::{FinishAnswer, FinishReceipt, LandingHold, LandingWait, ReceiptHealth};
use probity_contract::finish::{FinishNextStep, PipelineOutcome, ReceiptOutcome};
use probity_contract::finish_status;
use probity_contract::receipt::{DeltaEntry, ReceiptIntent};
use probity_core::{Digest, ReasonCode};
use probity_intents::hygiene::DirtyEntry;
use probity_intents::registry::{CommandRefusal, EventSeq, OwnerNotice, RegistryAction, RegistryCommand};
use probity_intents::{CommandId, ReleasedWork};
use probity_paths::RepoPath;
use probity_quality::analysis_store::AnalysisStore;
use probity_quality::contract as judge;
use probity_quality::contract::receipts::{ReceiptStore, StoredReceipt};
use probity_storage::StoreError;
use probity_workspace::{ServiceError, clock};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

/// What a finish says whose claim was given back.
const RELEASED: &str = "the claim is released";
/// What a finish says instead if the release could not be sent.
const RELEASE_WAITS: &str = "the store of the team cannot be reached, so the release waits and is sent with the next command that reaches it";

/// Says what became of the claim. Not every message says that it was released.
fn say_instead_of_release(message: &mut String, what: &str) {
    *message = if message.contains(RELEASED) {
        message.replacen(RELEASED, what, 1)
    } else {
        format!("{what}; {message}")
    };
}

impl FinishHandler<'_> {
    /// Writes the receipt of an accepted change, then releases its claim.
    pub(super) fn accept(
        &mut self,
        mut parts: FinishReportBuilder,
        scene: &FinishContext,
        verified: &judge::ContractResult,
    ) -> Result<FinishAnswer, ServiceError> {
        let token = self.still_held()?;
        let (outcome, kept) = if self.request.create_receipt {
            match self.receipt(scene, verified) {
                Ok(kept) => (ReceiptOutcome::Created, Some(kept)),
                Err(fault) => {
                    parts.receipt_error = Some(fault.to_string());
                    (ReceiptOutcome::Failed, None)
                }
            }
        } else {
            (ReceiptOutcome::Skipped, None)
        };
        parts.receipt = kept.as_ref().map(finish_receipt).transpose()?;
        parts.external = self.external(scene);
        let unfinished =
            parts.external.iter().flat_map(|external| external.changes.iter().chain(&external.unlisted));
        let outside: BTreeSet<RepoPath> = unfinished.map(|change| change.path.clone()).collect();
        let pipeline = PipelineOutcome::Accepted {
            externally_changed: verified.outcome.status
                == probity_contract::ContractStatus::AcceptedWithExternalChanges,
            receipt: outcome,
            dirty_outside_scope: outside,
        };
        let status = finish_status(&pipeline, self.request.auto_clear);
        if let Some(summary) = &mut parts.summary {
            summary.receipt = Some(outcome);
        }
        let is_cleared = status.intent_cleared;
        let notices = self.shell.registry().notices(&self.owner);
        let mut answer = parts.answer(&self.intent, &self.evidence, status, notices);
        if is_cleared {
            let paths = uncommitted_work::of_change(&scene.status, &scene.evidence);
            self.advise_to_commit(&mut answer, &paths);
            uncommitted_work::save_finished_content(self.workspace, &self.intent.id, paths)?;
            replay::keep(self.workspace, &self.intent, (self.request, &self.evidence), &answer)?;
            let work = self.released_work(scene, &verified.changed);
            let hold = work.as_ref().and_then(|work| work.hold_seconds);
            match self.release(token, kept.map(|kept| kept.digest), work)? {
                Some(notices) => {
                    answer.notices = notices;
                    if let Some(seconds) = hold {
                        self.await_landing(&mut answer, seconds)?;
                    }
                }
                None => say_instead_of_release(&mut answer.message, RELEASE_WAITS),
            }
        }
        Ok(answer)
    }

    /// Suggests the command that commits the accepted work; accepted work is safe only once it is committed.
    fn advise_to_commit(&self, answer: &mut FinishAnswer, paths: &BTreeMap<RepoPath, DirtyEntry>) {
        if paths.is_empty() || self.workspace.git.is_none() {
            return;
        }
        answer.commit_command =
            uncommitted_work::commit_command(self.workspace, paths.keys(), &self.intent.description);
        let advice = match &answer.commit_command {
            Some(command) => format!("commit this change now: `{command}`"),
            None if paths.len() == 1 => {
                "commit the only path of this change now, and nothing else".to_owned()
            }
            None => format!("commit the {} paths of this change now, and only those", paths.len()),
        };
        answer.message = format!("{}; {advice}", answer.message);
        answer.next_step.get_or_insert(FinishNextStep::CommitChange);
    }

    /// Returns the claim's fencing token if it is still the one this finish began with.
    pub(super) fn still_held(&mut self) -> Result<EventSeq, ServiceError> {
        // Out of reach, the last known state has to do: the release itself is compared when it is sent.
        if self.shell.offline().is_none() {
            self.shell.refresh()?;
        }
        let intent_id = self.intent.id.clone();
        let Some(token) = self.intent.token else {
            return Err(CommandRefusal::wrong_status(&self.intent).into());
        };
        let current = self.shell.registry().intent(&intent_id).and_then(|intent| intent.token);
        if current == Some(token) {
            Ok(token)
        } else {
            Err(CommandRefusal::StaleToken { given: token, current }.into())
        }
    }

    /// Releases the claim; `None` if the store of the team cannot be reached and the release waits.
    pub(super) fn release(
        &mut self,
        token: EventSeq,
        receipt: Option<Digest>,
        work: Option<ReleasedWork>,
    ) -> Result<Option<Vec<OwnerNotice>>, ServiceError> {
        let intent_id = self.intent.id.clone();
        let id = self.request.command_id.clone().unwrap_or_else(clock::run_id);
        let id = CommandId::parse(id)
            .map_err(|error| ServiceError::refused(ReasonCode::IntentInvalid, error.to_string()))?;
        let action = RegistryAction::Release { intent_id: intent_id.clone(), token, receipt, work };
        let command = RegistryCommand { id, by: self.owner.clone(), action };
        let done = match self.shell.execute_command(&command, &TreeFacts::default()) {
            Err(ServiceError::Store(StoreError::Unreachable { .. })) => {
                pending::keep(&self.workspace.state, &command)?;
                None
            }
            done => Some(done?.notices),
        };
        AnalysisStore::open(self.workspace).unpin(intent_id.as_str())?;
        Ok(done)
    }

    /// Returns what the change leaves for other trees; `None` outside of a team, and if nobody was asked about the change.
    fn released_work(&self, scene: &FinishContext, changed: &BTreeSet<RepoPath>) -> Option<ReleasedWork> {
        let team = self.team.as_ref().filter(|_| !self.intent.base.is_uncoordinated)?;
        let content = |path: &RepoPath| scene.status.snapshot.get(path).and_then(|entry| entry.digest());
        let became: BTreeMap<RepoPath, Option<Digest>> =
            changed.iter().map(|path| (self.frame.to_repo_path(path), content(path))).collect();
        let is_committed = changed.iter().all(|path| !scene.status.state.dirty.contains_key(path));
        let commit = scene.status.state.head.clone().filter(|_| is_committed);
        let hold_seconds = team.hold().map(|(_, seconds)| seconds).filter(|_| !became.is_empty());
        (!became.is_empty()).then(|| ReleasedWork { commit, hold_seconds, ..ReleasedWork::of_paths(became) })
    }

    /// Says what a finished change waits for, unless its work is on the remote already.
    fn await_landing(&mut self, answer: &mut FinishAnswer, seconds: u64) -> Result<(), ServiceError> {
        let Some(team) = &self.team else { return Ok(()) };
        let ids = BTreeSet::from([self.intent.id.clone()]);
        let landed = landing::land_found(self.workspace, team, &mut self.shell, &self.owner, &ids)?;
        if !landed.is_empty() {
            return Ok(());
        }
        let Some((hold, _)) = team.hold() else { return Ok(()) };
        let line = team.line.clone();
        let goal = match (hold, &line) {
            (LandingHold::Merge, Some(line)) => format!("is on {line}"),
            _ => "is pushed".to_owned(),
        };
        let minutes = seconds / 60;
        let waits = format!(
            "the claim keeps others off until the commit {goal}, for {minutes} minutes at most: push it, then `probity team \
             landed`"
        );
        say_instead_of_release(&mut answer.message, &waits);
        answer.landing = Some(LandingWait { hold, line, seconds });
        Ok(())
    }

    fn receipt(
        &self,
        scene: &FinishContext,
        verified: &judge::ContractResult,
    ) -> Result<StoredReceipt, ServiceError> {
        let intent = ReceiptIntent {
            intent_id: self.intent.id.clone(),
            description: self.intent.description.clone(),
            agent: self.intent.owner.label.clone(),
            scope: self.frame.to_workspace_scope(&self.intent.scope),
            amendments: self.intent.amendments.clone(),
            coordination: self.coordination(),
            line: self.intent.base.line.clone(),
            overlaps: self.overlaps(),
        };
        let delta: Vec<DeltaEntry> = verified
            .changed
            .iter()
            .map(|path| self.delta(scene, path))
            .collect::<Result<_, ServiceError>>()?;
        let guard = crate::enforcement::of_intent(self.workspace, &self.intent.id);
        let circumstances = judge::ReceiptContext {
            at: self.shell.host().now(),
            intent: Some(&intent),
            delta: &delta,
            hygiene: Some(&scene.hygiene),
            baseline_health: scene
                .before
                .as_ref()
                .zip(scene.after.as_ref())
                .and_then(|(before, after)| before.baseline_health(&after.run)),
            guard: guard.enforcement,
            unproven_programs: &guard.unproven_programs,
        };
        ReceiptStore::open(self.workspace)
            .append(self.workspace, |place| verified.receipt(&circumstances, place))
    }

    /// Returns both sides of a path. Content that was not recorded at the start comes from Git.
    pub(super) fn delta(&self, scene: &FinishContext, path: &RepoPath) -> Result<DeltaEntry, ServiceError> {
        let kept = self.record.as_ref().and_then(|record| record.scope.get(path).copied());
        let record = self.record.as_ref().filter(|record| !record.dirty.contains_key(path));
        let is_declared = self.intent.amendments.is_empty();
        let before = match (kept, record) {
            (None, Some(record)) if !is_declared => {
                self.committed_content(record, path)?.map(|bytes| Digest::of(&bytes))
            }
            (kept, _) => kept,
        };
        let after = scene.status.snapshot.get(path).and_then(|entry| entry.digest());
        Ok(DeltaEntry { path: path.clone(), before, after })
    }
}

fn finish_receipt(kept: &StoredReceipt) -> Result<FinishReceipt, ServiceError> {
    #[derive(Deserialize)]
    struct ReceiptDocument {
        health: ReceiptHealth,
    }
    let read = ReceiptDocument::deserialize(&kept.document);
    let document =
        read.map_err(|error| ServiceError::Missing(format!("receipt {}: {error}", kept.number)))?;
    Ok(FinishReceipt {
        digest: kept.digest,
        number: kept.number,
        health: document.health,
        signed: kept.envelope.is_some(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_became_of_the_claim_is_said_with_every_message() {
        let mut plain = format!("{RELEASED}; commit this change now");
        say_instead_of_release(&mut plain, "it waits");
        assert_eq!(plain, "it waits; commit this change now");
        let mut other = "mention the changes outside the scope".to_owned();
        say_instead_of_release(&mut other, "it waits");
        assert_eq!(other, "it waits; mention the changes outside the scope");
    }
}
