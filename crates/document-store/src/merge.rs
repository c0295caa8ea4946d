//! Finds what a merge lost, applies the store's policy to it, and makes decisions survive.
//!
//! The policy rules before a person is asked, earlier decisions are offered again, and invariants are reported apart
//! from conflicts. Every decision, automatic or not, is recorded in the same write as its survival commit.

use super::{CommitMetadata, commit_of, resolve};
use crate::fault::{IntoFault as _, OrFault as _};
use crate::store::{CommitStore, CommitView};
use probity_api::LeftOutOfLists;
use probity_api::merges::{
    ConflictDecision, ConflictReport, DecisionEntry, DecisionSummary, GroupReport, MergeAnalysisAnswer,
    MergeDecisionsAnswer, MergePolicyAnswer, MergeReconcileAnswer, PolicyRuling, ReconcileResult,
    RulingStatus,
};
use probity_core::ReasonCode;
use probity_documents::{
    Commit, CommitId, CommitOverlay, CommitStamp, ConflictChoice, ConflictVerdict, DecisionIndex,
    DecisionRecord, DocumentEngine, GivenResolution, GroupDecision, InvariantViolation, MergeAnalysis,
    MergeAnalyzer, MergeConflict, MergePolicy, MergeReconciliation, MergeResolution, MergeRulings,
    ReconcileCode, ReconcileError, check_invariants, path_text, reduce_heads,
};
use probity_workspace::{ServiceError, clock};
use serde_json::Value as Json;

/// Selects a merge.
#[derive(Debug, Clone)]
pub enum MergeSelector {
    /// A merge in the store.
    Written(String),
    /// A merge that could be made; nothing is written.
    Virtual {
        ours: String,
        /// The merged commit, whose opcodes replay last.
        theirs: String,
    },
}

/// A merge with its losses, the policy's rulings and earlier decisions.
#[derive(Debug, Clone)]
pub struct AnalyzedMerge {
    pub analysis: MergeAnalysis,
    pub written: bool,
    pub rulings: MergeRulings,
    pub policy: MergePolicy,
    /// The documents that break an invariant in the merged state.
    pub violations: Vec<InvariantViolation>,
    /// Earlier decisions, one entry per conflict.
    pub histories: Vec<ConflictHistory>,
    /// The authors of the commits whose intent was lost, one entry per conflict.
    pub authors: Vec<Vec<String>>,
}

/// Earlier decisions about a conflict.
#[derive(Debug, Clone, Default)]
pub struct ConflictHistory {
    /// The record that decided exactly this conflict.
    pub resolved_by: Option<DecisionRecord>,
    /// The choice made the last time the same values met at the same place.
    pub proposal: Option<ConflictChoice>,
    pub overrides: Vec<DecisionRecord>,
}

impl AnalyzedMerge {
    /// Counts the conflicts that neither the policy nor an earlier decision settles.
    pub fn n_open(&self) -> usize {
        let open = |(ruling, history): (&probity_documents::ConflictRuling, &ConflictHistory)| {
            ruling.group.is_none()
                && ruling.verdict == ConflictVerdict::Review
                && history.resolved_by.is_none()
        };
        let conflicts = self.rulings.conflicts.iter().zip(&self.histories).filter(|pair| open(*pair)).count();
        conflicts
            + self.rulings.groups.iter().filter(|ruling| ruling.verdict == ConflictVerdict::Review).count()
    }

    pub fn to_answer(&self) -> MergeAnalysisAnswer {
        let analysis = &self.analysis;
        let details = self.rulings.conflicts.iter().zip(&self.histories).zip(&self.authors);
        let conflicts = analysis.conflicts().iter().zip(details);
        let conflicts = conflicts.map(|(conflict, ((ruling, history), authors))| ConflictReport {
            conflict: conflict.clone(),
            place: path_text(&conflict.path),
            authors: authors.clone(),
            verdict: policy_ruling(&ruling.verdict),
            rule: ruling.rule,
            group: ruling.group,
            resolved_by: history.resolved_by.as_ref().map(decision_summary),
            proposal: history.proposal.clone(),
            overrides: history.overrides.iter().map(decision_summary).collect(),
        });
        let groups = self.rulings.groups.iter().map(|ruling| GroupReport {
            group: ruling.group,
            attachment: ruling.attachment.to_string(),
            key: ruling.key.to_string(),
            torn: ruling.torn,
            verdict: policy_ruling(&ruling.verdict),
        });
        MergeAnalysisAnswer {
            merge: analysis.merge(),
            ours: analysis.ours(),
            theirs: analysis.theirs(),
            base: analysis.base(),
            two_way: analysis.is_two_way(),
            written: self.written,
            documents: analysis.documents().to_vec(),
            conflicts: conflicts.collect(),
            groups: groups.collect(),
            violations: self.violations.clone(),
            open: self.n_open(),
            refused: self.rulings.is_refused(),
            left_out_of_lists: LeftOutOfLists::default(),
        }
    }
}

fn policy_ruling(verdict: &ConflictVerdict) -> PolicyRuling {
    match verdict {
        ConflictVerdict::Decided(chosen) => {
            PolicyRuling { status: RulingStatus::Decided, choose: Some(chosen.clone()) }
        }
        ConflictVerdict::Review => PolicyRuling { status: RulingStatus::Review, choose: None },
        ConflictVerdict::Refused => PolicyRuling { status: RulingStatus::Refused, choose: None },
    }
}

fn decision_summary(record: &DecisionRecord) -> DecisionSummary {
    DecisionSummary {
        by: record.by.clone(),
        at: clock::text_of_ms(record.at_ms),
        why: record.why.clone(),
        survival: record.survival,
        decisions: record.decisions.len(),
    }
}

/// Finds what a merge lost or would lose.
#[tracing::instrument(name = "analyze merge", skip_all)]
pub fn analyze(store: &CommitStore, which: &MergeSelector) -> Result<AnalyzedMerge, ServiceError> {
    store.read(|view| match which {
        MergeSelector::Written(name) => {
            let id = resolve(view, name)?;
            let analysis = MergeAnalyzer::new(view.schema(), view).analyze_merge(&id).or_fault()?;
            examine(view, view, analysis, true)
        }
        MergeSelector::Virtual { ours, theirs } => {
            let (ours, theirs) = (resolve(view, ours)?, resolve(view, theirs)?);
            let merge = Commit::merge(ours, theirs, CommitMetadata::default().stamp("merge")?);
            let mut overlay = CommitOverlay::new(view);
            let id = overlay.append(merge).map_err(probity_documents::AnalyzeError::from).or_fault()?;
            let analysis = MergeAnalyzer::new(view.schema(), &overlay).analyze_merge(&id).or_fault()?;
            examine(view, &overlay, analysis, false)
        }
    })?
}

/// Finds what reducing the heads to one would lose: one report per merge, each loss in the merge that causes it.
pub fn analyze_heads(store: &CommitStore) -> Result<Vec<AnalyzedMerge>, ServiceError> {
    store.read(|view| {
        let mut heads = Vec::new();
        for id in view.heads().or_fault()? {
            heads.push((&*commit_of(view, &id)?).into());
        }
        let mut overlay = CommitOverlay::new(view);
        let merges = reduce_heads(&heads);
        for merge in &merges {
            overlay.append(merge.clone()).map_err(probity_documents::AnalyzeError::from).or_fault()?;
        }
        let analyzer = MergeAnalyzer::new(view.schema(), &overlay);
        let examined =
            |merge: &Commit| examine(view, &overlay, analyzer.analyze_merge(&merge.id()).or_fault()?, false);
        merges.iter().map(examined).collect()
    })?
}

pub fn analyze_all(store: &CommitStore, merges: &[CommitId]) -> Result<Vec<AnalyzedMerge>, ServiceError> {
    merges.iter().map(|id| analyze(store, &MergeSelector::Written(id.to_string()))).collect()
}

fn examine<C: probity_documents::CommitReader>(
    view: &CommitView<'_>,
    commits: &C,
    analysis: MergeAnalysis,
    written: bool,
) -> Result<AnalyzedMerge, ServiceError> {
    let policy = view.policy().or_fault()?;
    let rulings = MergeAnalyzer::new(view.schema(), commits).apply_policy(&analysis, &policy).or_fault()?;
    let records = view.decisions().or_fault()?;
    let decisions = DecisionIndex::new(&records);
    let history = |conflict: &MergeConflict| ConflictHistory {
        resolved_by: decisions.resolved_by(conflict).cloned(),
        proposal: decisions.proposal(conflict),
        overrides: decisions.overridden(conflict).into_iter().cloned().collect(),
    };
    let histories = analysis.conflicts().iter().map(history).collect();
    let mut authors = Vec::new();
    for conflict in analysis.conflicts() {
        authors.push(authors_of(view, conflict)?);
    }
    let violations = violations(view, commits, &policy, analysis.merge())?;
    Ok(AnalyzedMerge { analysis, written, rulings, policy, violations, histories, authors })
}

fn authors_of(view: &CommitView<'_>, conflict: &MergeConflict) -> Result<Vec<String>, ServiceError> {
    let mut authors = Vec::new();
    for cause in &conflict.causes {
        let author = commit_of(view, cause)?.stamp().author().to_owned();
        if !authors.contains(&author) {
            authors.push(author);
        }
    }
    Ok(authors)
}

/// Returns the invariant violations in the state of a commit. Without invariants, no document is read.
fn violations<C: probity_documents::CommitReader>(
    view: &CommitView<'_>,
    commits: &C,
    policy: &MergePolicy,
    at: CommitId,
) -> Result<Vec<InvariantViolation>, ServiceError> {
    if policy.invariants.is_empty() {
        return Ok(Vec::new());
    }
    let state = DocumentEngine::new(commits).state(&at).or_fault()?;
    check_invariants(view.schema(), &state, &policy.invariants)
        .map_err(|error| ServiceError::refused(ReasonCode::MergePolicyInvalid, error.to_string()))
}

/// Returns the invariant violations that the survival commit, which is not written yet, would leave.
fn violations_after(
    view: &CommitView<'_>,
    policy: &MergePolicy,
    merge: CommitId,
    survival: Option<&Commit>,
) -> Result<Vec<InvariantViolation>, ServiceError> {
    let mut overlay = CommitOverlay::new(view);
    let at = match survival {
        Some(survival) => {
            overlay.append(survival.clone()).map_err(probity_documents::AnalyzeError::from).or_fault()?
        }
        None => merge,
    };
    violations(view, &overlay, policy, at)
}

#[derive(Debug, Clone, Default)]
pub struct ReconcileRequest {
    pub merge: String,
    /// Each is `{"conflict": id, "choose": …}`, or gives the place as `{"attachment", "key", "path", "choose"}`.
    pub resolutions: Vec<GivenResolution>,
    /// The choice for every conflict that nothing else decides.
    pub rest: Option<ConflictChoice>,
    /// Applies an earlier decision about the same values again.
    pub repeat: bool,
    /// Allows decisions on conflicts that the policy refuses.
    pub override_policy: bool,
    /// Reports what would be written, and writes nothing.
    pub dry_run: bool,
    /// The author and label of the survival commit.
    pub by: CommitMetadata,
    pub why: String,
}

#[derive(Debug, Clone)]
pub struct ReconciledMerge {
    pub merge: CommitId,
    /// The survival commit; `None` when the merge needs no change.
    pub survival: Option<CommitId>,
    pub ops: Vec<Json>,
    /// Each decided conflict with the choice and its source.
    pub decided: Vec<(MergeConflict, ConflictChoice, String)>,
    /// The conflicts that nothing decided; they keep the merged value.
    pub open: Vec<MergeConflict>,
    /// The documents that still break an invariant.
    pub violations: Vec<InvariantViolation>,
    /// The identifier of the decision record.
    pub record: Option<probity_core::Digest>,
    pub written: bool,
}

impl ReconciledMerge {
    pub fn to_answer(&self) -> MergeReconcileAnswer {
        let decided = |(conflict, chosen, by): &(MergeConflict, ConflictChoice, String)| ConflictDecision {
            conflict: conflict.id.clone(),
            attachment: conflict.attachment.to_string(),
            key: conflict.key.to_string(),
            place: path_text(&conflict.path),
            choose: chosen.clone(),
            by: by.clone(),
        };
        let is_survival = self.survival.is_some();
        MergeReconcileAnswer {
            merge: self.merge,
            result: if is_survival { ReconcileResult::Survival } else { ReconcileResult::MergeStands },
            survival: self.survival,
            ops: self.ops.clone(),
            decided: self.decided.iter().map(decided).collect(),
            open: self.open.iter().map(|conflict| conflict.id.clone()).collect(),
            violations: self.violations.clone(),
            record: self.record,
            written: self.written,
            left_out_of_lists: LeftOutOfLists::default(),
        }
    }
}

/// Decides the conflicts of a merge: given resolutions first, then the policy, then earlier decisions, then the rest.
#[tracing::instrument(name = "reconcile", skip_all)]
pub fn reconcile(store: &CommitStore, request: &ReconcileRequest) -> Result<ReconciledMerge, ServiceError> {
    let found = analyze(store, &MergeSelector::Written(request.merge.clone()))?;
    let plan = ReconcilePlan::new(&found, request)?;
    let stamp = request.by.stamp("survival of decisions")?;
    let made = store.read(|view| apply_plan(view, &found, &plan, stamp.clone()))??;
    let (outcome, mut reconciled) = made;
    let record = DecisionRecord::new(
        &found.analysis,
        &plan.resolutions(),
        &outcome,
        stamp.author(),
        stamp.timestamp_ms(),
        &request.why,
    );
    if request.dry_run || (record.decisions.is_empty() && outcome.survival.is_none()) {
        return Ok(reconciled);
    }
    store.write(|writing| {
        if let Some(survival) = outcome.survival {
            writing.append(survival)?;
        }
        writing.record(&record)
    })?;
    reconciled.record = Some(record.id());
    reconciled.written = true;
    Ok(reconciled)
}

fn apply_plan(
    view: &CommitView<'_>,
    found: &AnalyzedMerge,
    plan: &ReconcilePlan,
    stamp: CommitStamp,
) -> Result<(MergeReconciliation, ReconciledMerge), ServiceError> {
    let merge = found.analysis.merge();
    let analyzer = MergeAnalyzer::new(view.schema(), view);
    let outcome =
        analyzer.reconcile_groups(&merge, &plan.resolutions(), &plan.groups, stamp).map_err(refusal_error)?;
    let ops = outcome.survival.iter().flat_map(probity_documents::Commit::ops);
    let reconciled = ReconciledMerge {
        merge,
        survival: outcome.survival.as_ref().map(Commit::id),
        ops: ops.map(|op| op.to_json(view.schema())).collect(),
        decided: plan
            .decided
            .iter()
            .map(|(conflict, chosen, by, _)| (conflict.clone(), chosen.clone(), by.clone()))
            .collect(),
        open: plan.open.clone(),
        violations: violations_after(view, &found.policy, merge, outcome.survival.as_ref())?,
        record: None,
        written: false,
    };
    Ok((outcome, reconciled))
}

fn refusal_error(error: ReconcileError) -> ServiceError {
    match error {
        ReconcileError::NotAMerge(_) => ServiceError::refused(ReasonCode::MergeNone, error.to_string()),
        ReconcileError::History(error) => error.into_fault(),
        other => {
            let code = other.code().map_or("", ReconcileCode::as_str);
            ServiceError::refused(ReasonCode::MergeResolutionRefused, format!("{code}: {other}"))
        }
    }
}

struct ReconcilePlan {
    decided: Vec<(MergeConflict, ConflictChoice, String, MergeResolution)>,
    groups: Vec<GroupDecision>,
    open: Vec<MergeConflict>,
}

impl ReconcilePlan {
    fn new(found: &AnalyzedMerge, request: &ReconcileRequest) -> Result<Self, ServiceError> {
        let given = parse_resolutions(found, &request.resolutions)?;
        let mut plan = Self { decided: Vec::new(), groups: Vec::new(), open: Vec::new() };
        let about =
            |conflict: &MergeConflict| given.iter().filter(|one| one.is_about(conflict)).collect::<Vec<_>>();
        let strays = given.iter().filter(|one| !found.analysis.conflicts().iter().any(|c| one.is_about(c)));
        if let Some(stray) = strays.into_iter().next() {
            let why = format!("unknown_conflict: the merge has no conflict at {}", stray.write_assignments());
            return Err(ServiceError::refused(ReasonCode::MergeResolutionRefused, why));
        }
        for (index, conflict) in found.analysis.conflicts().iter().enumerate() {
            let ruling = &found.rulings.conflicts[index];
            let given = about(conflict);
            let is_overridden = request.override_policy && !given.is_empty();
            if ruling.verdict == ConflictVerdict::Refused && !is_overridden {
                let place = format!("{}/{} {}", conflict.attachment, conflict.key, path_text(&conflict.path));
                return Err(ServiceError::refused(
                    ReasonCode::MergeRefused,
                    format!("the policy refuses the merge at {place}"),
                ));
            }
            if !given.is_empty() {
                for one in given {
                    plan.decided.push((conflict.clone(), one.chosen().clone(), "given".into(), one.clone()));
                }
                continue;
            }
            match automatic_choice(found, request, index) {
                Some((chosen, by)) => {
                    let resolution = MergeResolution::new(conflict, chosen.clone());
                    plan.decided.push((conflict.clone(), chosen, by, resolution));
                }
                None => plan.open.push(conflict.clone()),
            }
        }
        plan.groups = found.rulings.group_decisions(&found.policy);
        // If someone decided a part of a group by hand, keeping that group consistent is up to them.
        let is_given = |group: &GroupDecision| {
            plan.decided.iter().any(|(conflict, _, by, _)| {
                by == "given" && (&conflict.attachment, &conflict.key) == (&group.attachment, &group.key)
            })
        };
        let free: Vec<GroupDecision> = plan.groups.iter().filter(|group| !is_given(group)).cloned().collect();
        plan.groups = free;
        Ok(plan)
    }

    fn resolutions(&self) -> Vec<MergeResolution> {
        self.decided.iter().map(|(_, _, _, resolution)| resolution.clone()).collect()
    }
}

/// Returns the choice for a conflict without a given resolution.
fn automatic_choice(
    found: &AnalyzedMerge,
    request: &ReconcileRequest,
    index: usize,
) -> Option<(ConflictChoice, String)> {
    let (ruling, history) = (&found.rulings.conflicts[index], &found.histories[index]);
    if let ConflictVerdict::Decided(chosen) = &ruling.verdict {
        let by = match (ruling.rule, ruling.group) {
            (_, Some(group)) => format!("policy group {group}"),
            (Some(rule), None) => format!("policy rule {rule}"),
            (None, None) => "policy".into(),
        };
        return Some((chosen.clone(), by));
    }
    let repeated =
        history.proposal.clone().filter(|_| request.repeat).map(|chosen| (chosen, "repeated".into()));
    repeated.or_else(|| request.rest.clone().map(|chosen| (chosen, "all".into())))
}

fn parse_resolutions(
    found: &AnalyzedMerge,
    resolutions: &[GivenResolution],
) -> Result<Vec<MergeResolution>, ServiceError> {
    let wrong = |why: String| ServiceError::refused(ReasonCode::MergeResolutionRefused, why);
    let resolution = |given: &GivenResolution| match given {
        GivenResolution::Named { conflict: id, choose } => {
            let mut named = found.analysis.conflicts().iter().filter(|conflict| conflict.id.starts_with(id));
            let conflict = named.next().filter(|_| !id.is_empty() && named.next().is_none());
            let conflict = conflict
                .ok_or_else(|| wrong(format!("unknown_conflict: `{id}` names no conflict, or several")))?;
            Ok(MergeResolution::new(conflict, choose.clone()))
        }
        GivenResolution::Placed(resolution) => Ok(resolution.clone()),
        GivenResolution::Unknown(why) => Err(wrong(format!("invalid_choice: this is no resolution: {why}"))),
    };
    resolutions.iter().map(resolution).collect()
}

#[expect(
    clippy::redundant_closure_for_method_calls,
    reason = "the method is not general enough over its lifetime"
)]
pub fn policy(store: &CommitStore) -> Result<MergePolicyAnswer, ServiceError> {
    Ok(MergePolicyAnswer { policy: store.read(|view| view.policy())?.or_fault()? })
}

/// Sets the merge policy, if it fits the schema.
pub fn set_policy(store: &CommitStore, json: &[u8]) -> Result<MergePolicyAnswer, ServiceError> {
    let invalid = |why: String| ServiceError::refused(ReasonCode::MergePolicyInvalid, why);
    let json = probity_core::json::parse(json).map_err(|error| invalid(error.to_string()))?;
    // Serde would accept a list as the members of an object, in order.
    if !json.is_object() {
        return Err(invalid("a policy is an object".into()));
    }
    let policy: MergePolicy = serde_json::from_value(json).map_err(|error| invalid(error.to_string()))?;
    policy.check(store.schema()).map_err(invalid)?;
    store.write(|writing| writing.set_policy(&policy))?;
    Ok(MergePolicyAnswer { policy })
}

/// Returns the recorded decisions, oldest first, optionally of one merge only.
pub fn decisions(store: &CommitStore, merge: Option<&str>) -> Result<MergeDecisionsAnswer, ServiceError> {
    store.read(|view| {
        let merge = merge.map(|name| resolve(view, name)).transpose()?;
        let records = view.decisions().or_fault()?.into_iter();
        let wanted = records.filter(|record| merge.is_none_or(|merge| record.merge == merge));
        let entry = |record: DecisionRecord| DecisionEntry {
            id: record.id(),
            at: clock::text_of_ms(record.at_ms),
            record,
        };
        Ok(MergeDecisionsAnswer { decisions: wanted.map(entry).collect() })
    })?
}
