//! Finishes a change in one pipeline with a fixed order.
//!
//! resolve → evidence → hygiene → scope check → verify → trail → claims → receipt → release. The first step that
//! stops decides, and the intent keeps its claim. The release is an append that succeeds only while the fencing token
//! is held. The policy is the one recorded at the start, because the agent under judgment may have changed the file
//! since (law 8).

mod changes;
mod committed_aside;
mod context;
mod release;
mod replay;
mod report;
mod verify;

use super::finish_evidence::FinishEvidence;
use super::hygiene_view::HygieneView;
use super::root_mapping::{IntentPlace, RootMapping};
use crate::enforcement::SessionGuard;
use crate::landing;
use crate::registry::{Caller, IntentService, TreeFacts};
use crate::team_context::TeamContext;
use probity_api::change::{
    CommittedElsewhere, Coordination, FinishAnswer, FinishRequest, HealthAdvisory, OverlappingIntent,
};
use probity_contract::finish::PipelineOutcome;
use probity_contract::{ContractReason, ContractStatus, finish_status};
use probity_core::bytes::shell_word;
use probity_core::{Digest, ReasonCode};
use probity_intents::registry::{CommandRefusal, Intent};
use probity_intents::{
    FinishHygiene, IntentId, IntentOwner, IntentStatus, Ownership, ScopeCheckStatus, ScopeEntrySet,
    scope_check,
};
use probity_policy::Policy;
use probity_quality::contract::AnalysisSide;
use probity_workspace::gates::StartPrograms;
use probity_workspace::progress::ProgressStep;
use probity_workspace::refs::RefFacts;
use probity_workspace::workspace::PolicySource;
use probity_workspace::worktree::StartRecord;
use probity_workspace::worktree::{ChangesSinceStart, WorktreeStatus};
use probity_workspace::{ServiceError, Workspace};
use report::FinishReportBuilder;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

#[tracing::instrument(name = "finish", skip_all)]
pub fn finish(
    workspace: &Workspace,
    caller: &Caller,
    request: &FinishRequest,
    progress: &(dyn Fn(ProgressStep) + Sync),
) -> Result<FinishAnswer, ServiceError> {
    let evidence = FinishEvidence::of(request)?;
    let shell = IntentService::open_with(workspace, &request.intent_id)?;
    let owner = shell.owner_of(caller)?;
    let frame = RootMapping::for_workspace(workspace);
    if let Some(answer) = replay::recall(workspace, &shell, &owner, request, &evidence)? {
        return Ok(with_session_guard(workspace, answer));
    }
    let intent = resolve(workspace, &shell, &owner, &request.intent_id, &frame)?;
    shell.touch(&owner)?;
    if intent.status == IntentStatus::Queued {
        let status = finish_status(&PipelineOutcome::Queued, request.auto_clear);
        let notices = shell.registry().notices(&owner);
        return Ok(FinishReportBuilder::default().answer(&intent, &evidence, status, notices));
    }
    let StartFacts { record, policy, refs, programs } = start_of(workspace, &intent)?;
    let handler = FinishHandler {
        team: TeamContext::of(workspace)?,
        workspace,
        shell,
        owner,
        request,
        evidence,
        frame,
        intent,
        record,
        refs,
        programs,
        policy_is_known: policy.is_some(),
        policy: policy.unwrap_or_default(),
    };
    let answer = handler.run(progress)?;
    Ok(with_session_guard(workspace, answer))
}

fn with_session_guard(workspace: &Workspace, answer: FinishAnswer) -> FinishAnswer {
    let SessionGuard { enforcement, unproven_programs } =
        crate::enforcement::of_intent(workspace, &answer.intent_id);
    FinishAnswer { enforcement, unproven_programs, ..answer }
}

/// Returns the intent to finish, if it is the caller's own and belongs to this tree.
fn resolve(
    workspace: &Workspace,
    service: &IntentService,
    owner: &IntentOwner,
    id: &str,
    paths: &RootMapping,
) -> Result<Intent, ServiceError> {
    let intent = service.resolve(id)?;
    let intent_id = intent.id.clone();
    if intent.status.is_closed() {
        return Err(CommandRefusal::wrong_status(intent).into());
    }
    match intent.ownership(owner, &service.command_context()?) {
        Ownership::OwnActive | Ownership::OwnStale => {}
        Ownership::Expired => return Err(CommandRefusal::Expired { intent_id }.into()),
        ownership => {
            // Its handle is kept where it was started: there the same command may simply work.
            let tree = intent.base.tree.as_deref().filter(|tree| *tree != paths.root_name());
            let is_there = |tree: &&str| IntentPlace::find(workspace, tree).is_some();
            if let Some(tree) = tree.filter(is_there).filter(|_| ownership != Ownership::Recoverable) {
                return Err(started_elsewhere(service, workspace, &intent_id, tree));
            }
            let agent = intent.owner.label.clone();
            return Err(CommandRefusal::HeldByOther { intent_id, agent, ownership }.into());
        }
    }
    match &intent.base.tree {
        Some(tree) if *tree != paths.root_name() => {
            Err(started_elsewhere(service, workspace, &intent_id, tree))
        }
        _ => Ok(intent.clone()),
    }
}

fn started_elsewhere(
    service: &IntentService,
    workspace: &Workspace,
    intent_id: &IntentId,
    root_name: &str,
) -> ServiceError {
    let refused = |detail| ServiceError::refused(ReasonCode::IntentElsewhere, detail);
    let id = service.registry().short_id(intent_id);
    match IntentPlace::find(workspace, root_name) {
        Some(place) => {
            let root = place.root.display().to_string();
            let go = shell_word(place.root.as_os_str().as_bytes());
            refused(format!("intent {intent_id} was started in {root}, and is finished there"))
                .with_next_step(format!("`cd {go} && probity finish {id}`"))
        }
        None => refused(format!(
            "intent {intent_id} was started in a working tree that is gone, or that belongs to another clone"
        ))
        .with_next_step(format!(
            "finish it where it was started; if that tree is gone, `probity intent clear {id}` gives it up"
        )),
    }
}

/// What is known of the start of a change, as far as it can be read.
#[derive(Default)]
struct StartFacts {
    record: Option<StartRecord>,
    /// The policy in the tree is no substitute: the judged can write it, and may have removed the record (law 8).
    policy: Option<Policy>,
    /// `None` if they were not kept.
    refs: Option<RefFacts>,
    /// `None` if the policy has no gates, or they were not kept.
    programs: Option<StartPrograms>,
}

fn start_of(workspace: &Workspace, intent: &Intent) -> Result<StartFacts, ServiceError> {
    let objects = workspace.state.objects();
    let kept = |digest: &Digest| objects.get(digest).ok().flatten();
    let record = intent.base.dirty_snapshot.as_ref().and_then(kept);
    let Some(record) = record.and_then(|bytes| StartRecord::parse(&bytes)) else {
        return Ok(StartFacts::default());
    };
    let refs = record.refs.as_ref().map(|digest| kept(digest).and_then(|bytes| RefFacts::parse(&bytes)));
    let programs =
        record.programs.as_ref().map(|digest| kept(digest).and_then(|bytes| StartPrograms::parse(&bytes)));
    let policy = match record.policy {
        // Something that was kept is gone: what it would say cannot be left out.
        _ if refs == Some(None) || programs == Some(None) => None,
        None => Some(Policy::default()),
        Some((is_json, digest)) => match kept(&digest) {
            Some(bytes) => Some(PolicySource { is_json, bytes }.parse(&workspace.root)?),
            None => None,
        },
    };
    Ok(StartFacts { record: Some(record), policy, refs: refs.flatten(), programs: programs.flatten() })
}

struct FinishHandler<'a> {
    workspace: &'a Workspace,
    team: Option<TeamContext>,
    shell: IntentService,
    owner: IntentOwner,
    request: &'a FinishRequest,
    evidence: FinishEvidence,
    frame: RootMapping,
    intent: Intent,
    record: Option<StartRecord>,
    /// The git references at the start, if they were kept.
    refs: Option<RefFacts>,
    /// The programs of the gates at the start, if they were kept.
    programs: Option<StartPrograms>,
    /// The default one if that of the start is lost; then nothing is accepted.
    policy: Policy,
    policy_is_known: bool,
}

struct FinishContext {
    status: WorktreeStatus,
    changes: ChangesSinceStart,
    /// What was committed outside of the scope and the tree does not show.
    aside: Vec<CommittedElsewhere>,
    /// The paths that count as this change, named from the workspace root.
    evidence: ScopeEntrySet,
    hygiene: FinishHygiene,
    tree_run: probity_analysis::RunId,
    before: Option<AnalysisSide>,
    after: Option<AnalysisSide>,
}

impl FinishHandler<'_> {
    fn run(mut self, progress: &(dyn Fn(ProgressStep) + Sync)) -> Result<FinishAnswer, ServiceError> {
        let scene = self.collect_context(progress)?;
        let mut parts = FinishReportBuilder {
            hygiene: Some(self.view(&scene).finish(&scene.hygiene)),
            changes: Self::changes(&scene),
            committed_outside: self.committed_outside(&scene),
            committed_elsewhere: scene.aside.iter().take(self.most_listed()).cloned().collect(),
            ..FinishReportBuilder::default()
        };
        if let Some(why) = scene.hygiene.finish_block_reason {
            return Ok(self.blocked_answer(parts, &PipelineOutcome::HygieneBlocks(why)));
        }
        if !self.policy_is_known {
            let (status, reason) = (ContractStatus::Unverified, Some(ContractReason::StartRecordMissing));
            return Ok(self.blocked_answer(parts, &PipelineOutcome::NotAccepted { status, reason }));
        }
        parts.coordination = self.coordination();
        parts.overlaps = self.overlaps();
        self.land_found()?;
        let moved = self.shell.landed_under(&self.intent, &self.tree_facts(&scene))?;
        if !moved.is_empty() {
            parts.base_moved = self.frame.to_workspace_lacking(&moved);
            let (status, reason) = (ContractStatus::Unverified, Some(ContractReason::BaseMoved));
            return Ok(self.blocked_answer(parts, &PipelineOutcome::NotAccepted { status, reason }));
        }
        let own_scope = self.frame.to_workspace_scope(&self.intent.scope);
        let mut check = scope_check(&own_scope, &scene.evidence);
        let is_other =
            |side: &AnalysisSide| Some(side.report_digest.to_string()) != self.intent.base.report_digest;
        if scene.before.as_ref().is_some_and(is_other) {
            check.status = ScopeCheckStatus::Expired;
            parts.scope_check = Some(check);
            return Ok(self.blocked_answer(parts, &PipelineOutcome::ScopeCheckExpired));
        }
        parts.trail = Some(self.patch_trail(&scene, &check));
        parts.scope_check = Some(check.clone());
        if check.status == ScopeCheckStatus::Violated {
            return Ok(self.blocked_answer(parts, &PipelineOutcome::ScopeCheckViolated));
        }
        let gates = self.gates(&scene, progress)?;
        parts.skipped_gates = self.skipped_gates(&gates);
        if !parts.skipped_gates.is_empty() && !self.policy.change.allow_skip_gates {
            let (status, reason) = (ContractStatus::Unverified, Some(ContractReason::SkipGatesNotAllowed));
            return Ok(self.blocked_answer(parts, &PipelineOutcome::NotAccepted { status, reason }));
        }
        parts.failed_gates = verify::failed_gates(&gates);
        let verified = self.verify(&scene, &check, gates)?;
        parts.failed_gates.extend(verify::failed_structural_gates(&verified));
        let advisory = verified.verdict.health_regression_advisory();
        parts.advisory = advisory.map(|health_delta| HealthAdvisory { health_delta });
        parts.claims = Some(verified.claims_summary().into());
        parts.summary = Some(verify::finish_summary(&verified, &check, self.request));
        let review = verified.review();
        parts.verification = Some(self.verification(&verified, &review).into());
        parts.review = self.review(&review);
        let status = verified.outcome.status;
        if !status.is_accepted() {
            let reason = verified.outcome.reason;
            return Ok(self.blocked_answer(parts, &PipelineOutcome::NotAccepted { status, reason }));
        }
        self.accept(parts, &scene, &verified)
    }

    /// Ends the wait of finished work on the paths of the change that this clone sees on the remote.
    fn land_found(&mut self) -> Result<(), ServiceError> {
        let Some(team) = self.team.as_ref().filter(|_| !self.intent.base.is_uncoordinated) else {
            return Ok(());
        };
        let scope = &self.intent.scope;
        landing::land_found_in(self.workspace, team, &mut self.shell, &self.owner, scope)?;
        Ok(())
    }

    /// Returns what can be asked about the tree, in a team.
    fn tree_facts(&self, scene: &FinishContext) -> TreeFacts {
        let Some(team) = &self.team else { return TreeFacts::default() };
        let base = team.tree_base(self.workspace, &scene.status, &self.frame, &self.intent.scope);
        TreeFacts { base: Some(Arc::new(base)), stale_base: team.stale_base(), ..TreeFacts::default() }
    }

    /// Returns whether the claim bound the others of the team.
    fn coordination(&self) -> Option<Coordination> {
        match (&self.team, self.intent.base.is_uncoordinated) {
            (_, true) => Some(Coordination::None),
            (Some(_), false) => Some(Coordination::Team),
            (None, false) => None,
        }
    }

    /// Returns the intents of other trees that held some of the same paths at the same time.
    fn overlaps(&self) -> Vec<OverlappingIntent> {
        let registry = self.shell.registry();
        let announced = registry.intent(&self.intent.id).map(|intent| &intent.announced);
        let others = announced.into_iter().flatten().filter_map(|id| registry.intent(id));
        others
            .map(|other| OverlappingIntent {
                intent_id: other.id.clone(),
                agent: other.owner.label.clone(),
                host: other.owner.host.clone(),
            })
            .collect()
    }

    fn blocked_answer(&self, parts: FinishReportBuilder, pipeline: &PipelineOutcome) -> FinishAnswer {
        let status = finish_status(pipeline, self.request.auto_clear);
        let notices = self.shell.registry().notices(&self.owner);
        parts.answer(&self.intent, &self.evidence, status, notices)
    }

    fn view<'s>(&'s self, scene: &'s FinishContext) -> HygieneView<'s> {
        HygieneView {
            status: &scene.status,
            paths: &self.frame,
            git_available: self.workspace.git.is_some(),
            detail: self.request.detail_level,
        }
    }
}
