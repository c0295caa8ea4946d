//! Finishing a change: one pipeline in a fixed order.
//!
//! resolve → evidence → hygiene → scope check → verify → trail → claims → receipt → release. The first step that stops
//! decides, and the intent keeps its claim. The release is an append that succeeds only while the fencing token is held.
//! The policy is the one of the start: whoever is judged may have changed the file since (law 8).

use super::answer::FinishAnswer;
use super::dirt::{Look, Since};
use super::evidence::{self, Witness};
use super::frame::Frame;
use super::neighbours::Seen;
use super::record::StartRecord;
use super::request::FinishRequest;
use super::trail::Trail;
use super::view::View;
use crate::analyze::{self, AnalyzeOptions, Progress};
use crate::contract::receipts::{Kept, Receipts};
use crate::contract::{self as judge, BaselineFile, Side};
use crate::registry::{Caller, Shell, TreeFacts};
use crate::runs::{Runs, Stored};
use crate::workspace::PolicySource;
use crate::{Fault, Workspace, before, clock};
use canon::{Digest, Reason};
use contract::finish::{FinishNextStep, Pipeline, ReceiptOutcome};
use contract::receipt::{DeltaEntry, Enforcement, ReceiptIntent};
use contract::{FinishStatus, IntentState, PatchIntent, finish_status, profile};
use intent::hygiene::StartSnapshot;
use intent::registry::{Action, Command, Intent, Notice, Refusal, Seq};
use intent::{
    CommandId, Entries, Entry, FinishHygiene, FinishState, Owner, Ownership, ScopeCheck, ScopeCheckStatus,
    Status, hygiene_finish, scope_check,
};
use paths::RepoPath;
use plan::Policy;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The file of a tree that holds its accepted findings.
const BASELINE: &[u8] = b"probity.baseline.json";
/// How often a tree that moves between look and analysis is looked at again.
const ATTEMPTS: u32 = 3;

/// Finishes a change.
pub fn finish(
    workspace: &Workspace,
    caller: &Caller,
    request: &FinishRequest,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<FinishAnswer, Fault> {
    let shell = Shell::open(workspace)?;
    let owner = caller.owner(shell.host())?;
    let frame = Frame::of(workspace);
    let intent = resolve(&shell, &owner, &request.intent_id, &frame)?;
    shell.touch(&owner)?;
    if intent.status == Status::Queued {
        let status = finish_status(&Pipeline::Queued, request.auto_clear);
        let notices = shell.registry().notices(&owner);
        return Ok(Parts::default().answer(&intent, status, notices));
    }
    let (record, policy) = start_of(workspace, &intent)?;
    Finisher { workspace, shell, owner, request, frame, intent, record, policy }.run(progress)
}

/// The intent that is to be finished, if it is the caller's own and of this tree.
fn resolve(shell: &Shell, owner: &Owner, id: &str, frame: &Frame) -> Result<Intent, Fault> {
    let intent = shell.resolve(id)?;
    let intent_id = intent.id.clone();
    if intent.status.is_closed() {
        return Err(Refusal::WrongStatus { intent_id, status: intent.status }.into());
    }
    match intent.ownership(owner, &shell.circumstances()?) {
        Ownership::OwnActive | Ownership::OwnStale => {}
        Ownership::Expired => return Err(Refusal::Expired { intent_id }.into()),
        ownership => return Err(Refusal::HeldByOther { intent_id, ownership }.into()),
    }
    match &intent.base.tree {
        Some(tree) if *tree != frame.name() => {
            let detail = format!("intent {intent_id} was started in another worktree, or from another root");
            Err(Fault::refused(Reason::IntentInvalid, detail))
        }
        _ => Ok(intent.clone()),
    }
}

/// What was kept at the start, as far as it can be read, and the policy that was in force.
fn start_of(workspace: &Workspace, intent: &Intent) -> Result<(Option<StartRecord>, Policy), Fault> {
    let objects = workspace.state.objects();
    let kept = |digest: &Digest| objects.get(digest).ok().flatten();
    let record = intent.base.dirty_snapshot.as_ref().and_then(kept);
    let record = record.and_then(|bytes| StartRecord::parse(&bytes));
    let source = record.as_ref().and_then(|record| record.policy);
    let source = source.and_then(|(is_json, digest)| Some(PolicySource { is_json, bytes: kept(&digest)? }));
    let policy = match (source, &record) {
        (Some(source), _) => source.parse(&workspace.root)?,
        (None, Some(record)) if record.policy.is_none() => Policy::default(),
        _ => workspace.policy()?,
    };
    Ok((record, policy))
}

/// One finish on its way.
struct Finisher<'a> {
    workspace: &'a Workspace,
    shell: Shell,
    owner: Owner,
    request: &'a FinishRequest,
    frame: Frame,
    intent: Intent,
    record: Option<StartRecord>,
    policy: Policy,
}

/// What the steps have made so far.
#[derive(Default)]
struct Parts {
    hygiene: Option<Value>,
    scope_check: Option<ScopeCheck>,
    verification: Option<Value>,
    trail: Option<Value>,
    claims: Option<Value>,
    receipt: Option<Value>,
    receipt_error: Option<String>,
    advisory: Option<Value>,
    external: Option<Value>,
    summary: Value,
}

/// The tree after the change, and what it says.
struct Scene {
    look: Look,
    since: Since,
    /// What counts as this change, as the caller names it.
    evidence: Entries,
    hygiene: FinishHygiene,
    tree_run: analysis::RunId,
    after: Option<Stored>,
}

impl Finisher<'_> {
    fn run(mut self, progress: &(dyn Fn(Progress) + Sync)) -> Result<FinishAnswer, Fault> {
        let scene = self.scene(progress)?;
        let mut parts = Parts { hygiene: Some(self.view(&scene).finish(&scene.hygiene)), ..Parts::default() };
        if let Some(why) = scene.hygiene.finish_block_reason {
            return Ok(self.stop(parts, &Pipeline::HygieneBlocks(why)));
        }
        let before = self.before_run();
        let own_scope = self.frame.scope_down(&self.intent.scope);
        let mut check = scope_check(&own_scope, &scene.evidence);
        let is_other =
            |stored: &Stored| Some(stored.report_digest.to_string()) != self.intent.base.report_digest;
        if before.as_ref().is_some_and(is_other) {
            check.status = ScopeCheckStatus::Expired;
            parts.scope_check = Some(check);
            return Ok(self.stop(parts, &Pipeline::ScopeCheckExpired));
        }
        parts.trail = Some(self.trail(&scene, &check));
        parts.scope_check = Some(check.clone());
        if check.status == ScopeCheckStatus::Violated {
            return Ok(self.stop(parts, &Pipeline::ScopeCheckViolated));
        }
        let gates = self.gates(&scene, progress)?;
        let before = before.map(|stored| self.side_before(&scene, stored));
        let verified = self.verify(&scene, before.as_ref(), &check, gates)?;
        let document = verified.to_json();
        parts.advisory = Some(document["health_regression_advisory"].clone()).filter(|it| !it.is_null());
        parts.claims = Some(verified.claims_json());
        parts.summary = summary(&verified, &document, &check, self.request);
        parts.verification = Some(self.short(document));
        let status = verified.outcome.status;
        if !status.is_accepted() {
            let reason = verified.outcome.reason.and_then(|blocking| match blocking {
                contract::Blocking::Contract(reason) => Some(reason),
                _ => verified.verdict.reason,
            });
            return Ok(self.stop(parts, &Pipeline::NotAccepted { status, reason }));
        }
        self.accept(parts, &scene, before.as_ref(), &verified)
    }

    /// Looks at the tree; analyses it if the change needs a run and one may be made.
    fn scene(&self, progress: &(dyn Fn(Progress) + Sync)) -> Result<Scene, Fault> {
        let runs = Runs::open(self.workspace);
        for _ in 0..ATTEMPTS {
            let look = Look::take(self.workspace, &self.policy)?;
            let since = self.since(&look);
            let circumstances = self.shell.circumstances()?;
            let seen = Seen {
                registry: self.shell.registry(),
                owner: &self.owner,
                circumstances: &circumstances,
                frame: &self.frame,
            };
            let peers = seen.peers_here(&self.intent.id);
            let witness = Witness {
                workspace: self.workspace,
                look: &look,
                since: &since,
                frame: &self.frame,
                scope: &self.intent.scope,
                peers: &peers,
            };
            let evidence = witness.paths(&self.request.evidence)?;
            let (dirty, start) = evidence::up(&self.frame, &since);
            let hygiene = hygiene_finish(&FinishState {
                scope: self.intent.scope.clone(),
                evidence: self.frame.entries_up(&evidence),
                dirty,
                start_snapshot: self.intent.base.dirty_snapshot.map(|_| start),
                foreign_intents: peers,
                strict: self.request.strict.unwrap_or(false) || self.policy.change.strict,
            });
            let tree_run = analyze::run_id(self.workspace, &look.snapshot)?;
            // A change of nothing is told by its runs: there is no file to have a profile.
            let needed =
                evidence.is_empty() || profile(evidence.iter().map(Entry::as_bytes)).after_run_required;
            let after = match &self.request.after_run_id {
                Some(name) => Some(runs.load(name)?),
                None => runs.recall(tree_run).filter(|_| needed),
            };
            if after.is_some() || !needed || !self.request.analyze || hygiene.blocks_finish() {
                return Ok(Scene { look, since, evidence, hygiene, tree_run, after });
            }
            analyze::analyze(self.workspace, &AnalyzeOptions::default(), progress)?;
        }
        Err(Fault::refused(Reason::TreeUnstable, "the tree changes while it is analysed"))
    }

    fn since(&self, look: &Look) -> Since {
        if let Some(record) = &self.record {
            return look.since(self.workspace, record);
        }
        Since { start: StartSnapshot::Unreadable, ..look.since(self.workspace, &look.state) }
    }

    fn before_run(&self) -> Option<Stored> {
        let id = self.intent.base.run_id.parse().ok().map(analysis::RunId)?;
        Runs::open(self.workspace).recall(id)
    }

    /// Runs the gates of the policy for what was changed.
    fn gates(
        &self,
        scene: &Scene,
        progress: &(dyn Fn(Progress) + Sync),
    ) -> Result<judge::policy_gates::GateAnswers, Fault> {
        let choice = judge::GateChoice { skip: self.request.skip_gates, ..judge::GateChoice::default() };
        let (policy, changed) = (&self.policy, changed(&scene.evidence));
        judge::policy_gates::run(self.workspace, policy, &choice, &changed, &scene.look, progress)
    }

    /// The run before, with the baseline that the tree had at the start.
    fn side_before(&self, scene: &Scene, stored: Stored) -> Side {
        let Stored { run, report_digest } = stored;
        Side { run, report_digest, baseline: self.baseline_then(scene) }
    }

    /// The baseline at the start: as it is now, if it has not moved; else what the commit of the start has.
    fn baseline_then(&self, scene: &Scene) -> Option<BaselineFile> {
        let path = RepoPath::parse(BASELINE).expect("a plain name is a path");
        if scene.since.dirt.get(&path).is_none_or(|dirt| dirt.as_at_start) {
            return baseline_now(self.workspace, scene, &path);
        }
        let record = self.record.as_ref()?;
        if let Some(entry) = record.dirty.get(&path) {
            return entry.digest.map(|digest| BaselineFile { digest, bytes: None });
        }
        self.committed(record, &path).map(BaselineFile::new)
    }

    /// What the commit of the start has at a path.
    fn committed(&self, record: &StartRecord, path: &RepoPath) -> Option<Vec<u8>> {
        let git = self.workspace.git.as_ref()?;
        let id = before::tree_of(self.workspace, record.head.as_ref()?)?.get(path)?.1.to_string();
        before::blob(git, &id)
    }

    fn verify(
        &self,
        scene: &Scene,
        before: Option<&Side>,
        check: &ScopeCheck,
        gates: judge::policy_gates::GateAnswers,
    ) -> Result<judge::Answer, Fault> {
        let path = RepoPath::parse(BASELINE).expect("a plain name is a path");
        let after = scene.after.clone().map(|Stored { run, report_digest }| Side {
            run,
            report_digest,
            baseline: baseline_now(self.workspace, scene, &path),
        });
        Ok(judge::verify(&judge::Request {
            intent: Some(PatchIntent {
                intent_id: self.intent.id.clone(),
                status: IntentState::Active,
                report_digest: self.intent.base.report_digest.clone(),
                scope: self.frame.scope_down(&self.intent.scope),
            }),
            changed: changed(&scene.evidence),
            scope_check: Some(check.clone()),
            before,
            after: after.as_ref(),
            tree_run: Some(gates.tree_run.unwrap_or(scene.tree_run)),
            gates: gates.facts,
            claims: self.request.claims.clone(),
            text: self.request.claims_text.as_deref(),
            rules: super::stricter(self.policy.contract.clone(), self.request.strictness),
            limits: analyze::gate_rules(&self.policy)?,
        }))
    }

    fn trail(&self, scene: &Scene, check: &ScopeCheck) -> Value {
        let trail = Trail {
            frame: &self.frame,
            scope: &self.intent.scope,
            evidence: &scene.evidence,
            since: &scene.since,
            scope_check: check,
            heads: (self.intent.base.head.as_deref(), scene.look.state.head.as_deref()),
        };
        trail.to_json(self.request.detail_level)
    }

    /// The change is accepted: leave the receipt, then give the claim back.
    fn accept(
        &mut self,
        mut parts: Parts,
        scene: &Scene,
        before: Option<&Side>,
        verified: &judge::Answer,
    ) -> Result<FinishAnswer, Fault> {
        let token = self.still_held()?;
        let (outcome, kept) = if self.request.create_receipt {
            match self.receipt(scene, before, verified) {
                Ok(kept) => (ReceiptOutcome::Created, Some(kept)),
                Err(fault) => {
                    parts.receipt_error = Some(fault.to_string());
                    (ReceiptOutcome::Failed, None)
                }
            }
        } else {
            (ReceiptOutcome::Skipped, None)
        };
        parts.receipt = kept.as_ref().map(|kept| {
            json!({ "digest": kept.digest, "number": kept.number, "health": kept.document["health"],
                    "signed": kept.envelope.is_some() })
        });
        let outside: BTreeSet<RepoPath> =
            scene.hygiene.outside_scope().into_iter().map(|path| self.frame.down(path)).collect();
        parts.external = (!outside.is_empty())
            .then(|| json!({ "count": outside.len(), "paths": self.view(scene).list(outside.iter()) }));
        let pipeline = Pipeline::Accepted {
            externally_changed: verified.outcome.status
                == contract::ContractStatus::AcceptedWithExternalChanges,
            receipt: outcome,
            dirty_outside_scope: outside,
        };
        let status = finish_status(&pipeline, self.request.auto_clear);
        let mut notices = self.shell.registry().notices(&self.owner);
        if status.intent_cleared {
            notices = self.release(token, kept.map(|kept| kept.digest))?;
        }
        parts.summary["receipt"] = json!(outcome);
        Ok(parts.answer(&self.intent, status, notices))
    }

    /// The fencing token of the claim, if it is still the one that this finish began with.
    fn still_held(&mut self) -> Result<Seq, Fault> {
        self.shell.refresh()?;
        let intent_id = self.intent.id.clone();
        let Some(token) = self.intent.token else {
            return Err(Refusal::WrongStatus { intent_id, status: self.intent.status }.into());
        };
        let current = self.shell.registry().intent(&intent_id).and_then(|intent| intent.token);
        if current == Some(token) {
            Ok(token)
        } else {
            Err(Refusal::StaleToken { given: token, current }.into())
        }
    }

    fn release(&mut self, token: Seq, receipt: Option<Digest>) -> Result<Vec<Notice>, Fault> {
        let intent_id = self.intent.id.clone();
        let id = self.request.command_id.clone().unwrap_or_else(clock::run_id);
        let id =
            CommandId::parse(id).map_err(|error| Fault::refused(Reason::IntentInvalid, error.to_string()))?;
        let action = Action::Release { intent_id: intent_id.clone(), token, receipt };
        let command = Command { id, by: self.owner.clone(), action };
        let done = self.shell.execute_command(&command, &TreeFacts::default())?;
        Runs::open(self.workspace).unpin(intent_id.as_str())?;
        Ok(done.notices)
    }

    fn receipt(&self, scene: &Scene, before: Option<&Side>, verified: &judge::Answer) -> Result<Kept, Fault> {
        let intent = ReceiptIntent {
            intent_id: self.intent.id.clone(),
            description: self.intent.description.clone(),
            agent: self.intent.owner.label.clone(),
            scope: self.frame.scope_down(&self.intent.scope),
            amendments: self.intent.amendments.clone(),
        };
        let delta: Vec<DeltaEntry> = verified.changed.iter().map(|path| self.delta(scene, path)).collect();
        let circumstances = judge::Circumstances {
            at: self.shell.host().now(),
            intent: Some(&intent),
            delta: &delta,
            hygiene: Some(&scene.hygiene),
            baseline_health: before
                .zip(scene.after.as_ref())
                .and_then(|(before, after)| before.baseline_health(&after.run)),
            enforcement: Enforcement::Observe,
        };
        Receipts::open(self.workspace)
            .append(self.workspace, |previous| verified.receipt(&circumstances, previous))
    }

    /// Both sides of a path. What was not kept at the start is asked of git.
    fn delta(&self, scene: &Scene, path: &RepoPath) -> DeltaEntry {
        let kept = self.record.as_ref().and_then(|record| record.scope.get(path).copied());
        let committed = || {
            let record = self.record.as_ref().filter(|record| !record.dirty.contains_key(path))?;
            self.committed(record, path).map(|bytes| Digest::of(&bytes))
        };
        let is_declared = self.intent.amendments.is_empty();
        DeltaEntry {
            path: path.clone(),
            before: kept.or_else(|| if is_declared { None } else { committed() }),
            after: scene.look.snapshot.get(path).and_then(|entry| entry.digest()),
        }
    }

    fn stop(&self, parts: Parts, pipeline: &Pipeline) -> FinishAnswer {
        let status = finish_status(pipeline, self.request.auto_clear);
        parts.answer(&self.intent, status, self.shell.registry().notices(&self.owner))
    }

    fn view<'s>(&'s self, scene: &'s Scene) -> View<'s> {
        View {
            look: &scene.look,
            frame: &self.frame,
            git_available: self.workspace.git.is_some(),
            detail: self.request.detail_level,
        }
    }

    /// The verdict without what stands elsewhere in the answer, and in `summary` without long lists.
    fn short(&self, mut verification: Value) -> Value {
        let Some(fields) = verification.as_object_mut() else { return verification };
        for elsewhere in ["scope_check", "claims", "intent_id", "changed_files", "mode"] {
            fields.remove(elsewhere);
        }
        if self.request.detail_level == super::DetailLevel::Summary {
            for long in [
                "new_findings",
                "checks",
                "api",
                "checks_performed",
                "gate_results",
                "let_through",
                "findings_let_through",
            ] {
                fields.remove(long);
            }
        }
        verification
    }
}

/// The paths of some evidence.
fn changed(evidence: &Entries) -> BTreeSet<RepoPath> {
    evidence.iter().filter_map(|entry| RepoPath::parse(entry.as_bytes()).ok()).collect()
}

/// The baseline as the look at the tree saw it.
fn baseline_now(workspace: &Workspace, scene: &Scene, path: &RepoPath) -> Option<BaselineFile> {
    let digest = scene.look.snapshot.get(path).and_then(|entry| entry.digest())?;
    let found = BaselineFile::of_tree(workspace).ok().flatten();
    Some(found.filter(|file| file.digest == digest).unwrap_or(BaselineFile { digest, bytes: None }))
}

impl Parts {
    fn answer(self, intent: &Intent, status: FinishStatus, notices: Vec<Notice>) -> FinishAnswer {
        FinishAnswer {
            schema: "probity/finish/v1",
            intent_id: intent.id.clone(),
            status: status.status,
            reason: status.reason,
            next_step: status.next_step,
            message: message(&status),
            user_action_required: !status.intent_cleared && status.next_step.is_some(),
            intent_cleared: status.intent_cleared,
            not_reached: status.not_reached,
            workspace_hygiene_after: self.hygiene,
            scope_check: self.scope_check,
            verification: self.verification,
            patch_trail: self.trail,
            claims: self.claims,
            receipt: self.receipt,
            receipt_error: self.receipt_error,
            external_changes: self.external,
            health_regression_advisory: self.advisory,
            summary: self.summary,
            notices,
            exit_code: status.exit_code,
        }
    }
}

fn summary(verified: &judge::Answer, document: &Value, check: &ScopeCheck, request: &FinishRequest) -> Value {
    let regressions = document["structural_delta"]["regressions"].as_array().map_or(0, Vec::len);
    let claims = match (&request.claims_text, request.claims.is_empty(), verified.judgement.is_valid()) {
        (None, true, _) => "skipped_no_claims",
        (_, _, true) => "valid",
        (_, _, false) => "violated",
    };
    json!({
        "scope_status": check.status,
        "verification_profile": verified.verdict.profile.profile,
        "structural_verdict": document["structural_delta"]["verdict"],
        "health_delta": document["structural_delta"]["health_delta"],
        "regressions": regressions,
        "claims": claims,
        "review_note_present": request.review_text.is_some(),
    })
}

fn message(status: &FinishStatus) -> String {
    let words = match status.next_step {
        Some(FinishNextStep::PromoteThenFinish) => "the intent waits: promote it, edit, then finish",
        Some(FinishNextStep::ListMissingEvidence) => {
            "dirty paths of the scope are not in the evidence: list every path that was created, modified or deleted"
        }
        Some(FinishNextStep::CoordinateWithOwner) => {
            "another live intent holds dirty paths of this scope: coordinate with its owner"
        }
        Some(FinishNextStep::ReconcileUnscopedDirty) => {
            "paths outside the scope changed since the start and nobody claims them: revert them, or widen the scope"
        }
        Some(FinishNextStep::AnalyzeThenStart) => {
            "the ground of the intent is gone: analyse, then start anew"
        }
        Some(FinishNextStep::RevertOrWidenScope) => {
            "paths were changed that the intent does not allow: revert them, or widen the scope with `probity amend`"
        }
        Some(FinishNextStep::AnalyzeThenFinish) => {
            "there is no verdict yet: analyse the tree, then finish again"
        }
        Some(FinishNextStep::FixOrWidenScope) => {
            "the change makes its scope worse: mend it, or widen the scope"
        }
        Some(FinishNextStep::RetryReceipt) => "accepted, but without a receipt: finish again",
        Some(FinishNextStep::ClearIntent) => {
            "accepted; the claim is kept: clear the intent when you are done"
        }
        Some(FinishNextStep::ReportExternalChanges) => {
            "accepted; other paths are dirty outside the scope: name them in the report"
        }
        None => "accepted; the claim is free again",
    };
    words.to_owned()
}
