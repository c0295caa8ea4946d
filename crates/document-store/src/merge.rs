//! What a merge lost, what the policy says about it, and making decisions survive.
//!
//! The policy of the store speaks before a person is asked; what was decided before is shown again; invariants are
//! reported apart from conflicts. Whoever decides, the decision is recorded with the survival commit, in one write.

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

/// Which merge is meant.
#[derive(Debug, Clone)]
pub enum MergeSelector {
    /// One that was written.
    Written(String),
    /// One that could be: nothing is written.
    Virtual {
        /// The parent.
        ours: String,
        /// The target, whose opcodes replay last.
        theirs: String,
    },
}

/// What is known about a merge.
#[derive(Debug, Clone)]
pub struct AnalyzedMerge {
    /// What it lost.
    pub analysis: MergeAnalysis,
    /// Whether it is in the store.
    pub written: bool,
    /// What the policy says.
    pub rulings: MergeRulings,
    /// The policy.
    pub policy: MergePolicy,
    /// The documents that break an invariant in the merged state.
    pub violations: Vec<InvariantViolation>,
    /// For every conflict: what was decided about it, and what it overrides.
    pub histories: Vec<ConflictHistory>,
    /// For every conflict: the authors of the commits whose intent was lost.
    pub authors: Vec<Vec<String>>,
}

/// What was decided about a conflict before.
#[derive(Debug, Clone, Default)]
pub struct ConflictHistory {
    /// The record that decided this very conflict.
    pub resolved_by: Option<DecisionRecord>,
    /// What was decided the last time the same values met there.
    pub proposal: Option<ConflictChoice>,
    /// Records whose decisions this merge has overridden.
    pub overrides: Vec<DecisionRecord>,
}

impl AnalyzedMerge {
    /// How many questions are left for a person: neither the policy nor an earlier decision answers them.
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

    /// The answer for programs.
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

/// Finds what a merge lost, or would lose.
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

/// Finds what reducing the heads to one would lose: one report a merge of the fold, each loss where it happens.
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

/// The reports of merges that were just written.
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

/// What breaks an invariant in the state of a commit. Invariants are about all documents, so without any none is read.
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

/// What would break an invariant with the survival commit, which is not written yet.
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

/// Decisions about a merge.
#[derive(Debug, Clone, Default)]
pub struct ReconcileRequest {
    /// The merge.
    pub merge: String,
    /// Resolutions: `{"conflict": id, "choose": …}`, or the locus as in `{"attachment", "key", "path", "choose"}`.
    pub resolutions: Vec<GivenResolution>,
    /// What is chosen for every conflict that nothing else decides.
    pub rest: Option<ConflictChoice>,
    /// Whether what was decided before about the same values decides again.
    pub repeat: bool,
    /// Whether conflicts that the policy refuses may be decided all the same.
    pub override_policy: bool,
    /// Say what would be written, and write nothing.
    pub dry_run: bool,
    /// Who decides, and what the survival commit is called.
    pub by: CommitMetadata,
    /// Why, in words.
    pub why: String,
}

/// What deciding came to.
#[derive(Debug, Clone)]
pub struct ReconciledMerge {
    /// The merge.
    pub merge: CommitId,
    /// The survival commit; none when the merge stands as it is.
    pub survival: Option<CommitId>,
    /// Its opcodes.
    pub ops: Vec<Json>,
    /// Each conflict that was decided, what was chosen, and by whom.
    pub decided: Vec<(MergeConflict, ConflictChoice, String)>,
    /// The conflicts that nothing decided; they stay as merged.
    pub open: Vec<MergeConflict>,
    /// The documents that break an invariant afterwards.
    pub violations: Vec<InvariantViolation>,
    /// Names the record of the decisions.
    pub record: Option<probity_core::Digest>,
    /// Whether anything was written.
    pub written: bool,
}

impl ReconciledMerge {
    /// The answer for programs.
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

/// Decides conflicts of a merge: what is given first, then the policy, then earlier decisions, then the rest.
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

/// Which conflicts are decided how, and by whom.
struct ReconcilePlan {
    decided: Vec<(MergeConflict, ConflictChoice, String, MergeResolution)>,
    groups: Vec<GroupDecision>,
    open: Vec<MergeConflict>,
}

impl ReconcilePlan {
    fn new(found: &AnalyzedMerge, request: &ReconcileRequest) -> Result<Self, ServiceError> {
        let given = parse_resolutions(found, &request.resolutions)?;
        let mut plan = Self { decided: Vec::new(), groups: Vec::new(), open: Vec::new() };
        // What names no conflict stays in the list: reconciliation says what is wrong with it.
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
        // A group that somebody decided part by part is theirs to keep together.
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

/// What decides a conflict that nobody decided by hand.
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

/// The policy for merges.
#[expect(
    clippy::redundant_closure_for_method_calls,
    reason = "the method is not general enough over its lifetime"
)]
pub fn policy(store: &CommitStore) -> Result<MergePolicyAnswer, ServiceError> {
    Ok(MergePolicyAnswer { policy: store.read(|view| view.policy())?.or_fault()? })
}

/// Sets the policy for merges, if it fits the schema.
pub fn set_policy(store: &CommitStore, json: &[u8]) -> Result<MergePolicyAnswer, ServiceError> {
    let invalid = |why: String| ServiceError::refused(ReasonCode::MergePolicyInvalid, why);
    let json = probity_core::json::parse(json).map_err(|error| invalid(error.to_string()))?;
    // A list would be read as the members of an object, in order.
    if !json.is_object() {
        return Err(invalid("a policy is an object".into()));
    }
    let policy: MergePolicy = serde_json::from_value(json).map_err(|error| invalid(error.to_string()))?;
    policy.check(store.schema()).map_err(invalid)?;
    store.write(|writing| writing.set_policy(&policy))?;
    Ok(MergePolicyAnswer { policy })
}

/// The recorded decisions, oldest first; of one merge where one is named.
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
