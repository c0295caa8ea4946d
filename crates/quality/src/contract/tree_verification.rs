//! Verifies the current tree against a commit or a stored analysis.
//!
//! The tree under judgment has no say in how it is judged: the policy comes from the commit that the change starts
//! from (law 8).

use super::policy_gates::{self, GateAnswers, GateChoice, HeldChange};
use super::{AnalysisSide, BaselineFile, ContractRequest, ContractResult, verify};
use crate::analysis_store::{AnalysisStore, DifferingAnalyses, StoredAnalysis};
use crate::analyze::{self, AnalyzeOptions, BASELINE_FILE};
use probity_analysis::FileNote;
use probity_contract::claims::Claim;
use probity_contract::receipt::DeltaEntry;
use probity_contract::{IntentState, PatchIntent};
use probity_core::{Digest, ReasonCode};
use probity_intents::{IntentId, IntentScope, ScopeEntry, ScopeEntrySet, ScopeRelation};
use probity_paths::{RepoPath, Scope};
use probity_policy::{ContractRules, Policy, Severity, StrictnessProfile};
use probity_snapshot::git::{GITLINK_MODE, HeadTree};
use probity_workspace::gates::HeldChanges;
use probity_workspace::progress::ProgressStep;
use probity_workspace::selection::check_named_paths;
use probity_workspace::worktree::WorktreeStatus;
use probity_workspace::{ServiceError, Workspace, git, judging_policy, own_files};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The most files without analysis that a note names.
const MAX_NAMED_UNREAD: usize = 5;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ComparisonBase {
    Revision(String),
    Run(String),
}

#[derive(Debug, Clone, Default)]
pub struct VerifyOptions {
    /// The last commit if absent.
    pub against: Option<ComparisonBase>,
    /// The commit whose policy judges; that of `against` if absent.
    pub policy_from: Option<String>,
    /// A stored analysis of the tree; it is analyzed now if absent.
    pub after: Option<String>,
    /// The declared scope; if absent, every change counts.
    pub scope: Option<IntentScope>,
    /// Whether other agents work in the tree too: then changes outside the declared scope are not part of this change.
    pub shared: bool,
    /// The required digest of the report that the change was declared on.
    pub report_digest: Option<String>,
    pub claims: Vec<Claim>,
    /// The author's text about the change.
    pub text: Option<String>,
    /// Overrides the policy's strictness.
    pub strictness: Option<StrictnessProfile>,
    /// Overrides the severity below which new findings do not block.
    pub severity_floor: Option<Severity>,
    pub gates: GateChoice,
    /// What the change may alter although gates depend on it.
    pub grants: Vec<Vec<u8>>,
    /// Whether the caller needs all findings, as [`TreeVerification::sarif`] does, and not only the new ones.
    pub all_findings: bool,
}

#[derive(Debug)]
pub struct TreeVerification {
    pub answer: ContractResult,
    pub before: Option<AnalysisSide>,
    /// Complete only if [`VerifyOptions::all_findings`] is set.
    pub after: Option<AnalysisSide>,
    /// The failed gates' ids with the tail of their output.
    pub last_words: Vec<(String, String)>,
    /// D with the content of both sides.
    pub delta: Vec<DeltaEntry>,
    pub scope: Option<IntentScope>,
    /// The commit that the tree is compared with.
    pub revision: Option<String>,
    pub notes: Vec<String>,
}

type ProgressCallback<'a> = &'a (dyn Fn(ProgressStep) + Sync);

pub fn verify_tree(
    workspace: &Workspace,
    options: &VerifyOptions,
    progress: ProgressCallback<'_>,
) -> Result<TreeVerification, ServiceError> {
    let mut context = VerificationContext::find(workspace, options)?;
    let (before, after) = context.analysis_sides(options, progress)?;
    // Observed last, so that any change in the meantime makes the analysis stale and is not missed.
    let worktree = WorktreeStatus::observe(workspace, &context.policy)?;
    context.notes.extend(worktree.notes());
    let tree_run = analyze::run_id(&context.policy, &worktree.snapshot)?;
    let mut changed = context.changed_paths(options, &worktree, before.as_ref(), after.as_ref())?;
    if let Some(scope) = options.scope.as_ref().filter(|_| options.shared) {
        changed.retain(|path| is_mentioned(scope, path));
    }
    let choice = GateChoice { held: Some(context.held_change(options, &changed)?), ..options.gates.clone() };
    let gates = policy_gates::run(workspace, &context.policy, &choice, &changed, &worktree, progress)?;
    context.note_written(&gates);
    context.note_unread(&changed, after.as_ref());
    let entries: ScopeEntrySet = changed.iter().map(ScopeEntry::from).collect();
    let answer = verify(&ContractRequest {
        intent: options.scope.as_ref().map(|scope| declared_intent(scope, options, before.as_ref())),
        scope_check: options.scope.as_ref().map(|scope| probity_intents::scope_check(scope, &entries)),
        changed: changed.clone(),
        before: before.as_ref(),
        after: after.as_ref(),
        tree_run: Some(gates.tree_run.unwrap_or(tree_run)),
        gates: gates.facts,
        claims: options.claims.clone(),
        text: options.text.as_deref(),
        rules: rules(&context.policy, options),
        limits: analyze::gate_rules(&context.policy)?,
        policy_loosened: context.policy_loosened,
    });
    Ok(TreeVerification {
        delta: context.delta(&worktree, &changed)?,
        answer,
        before,
        after,
        last_words: gates.last_words,
        scope: options.scope.clone(),
        revision: context.revision,
        notes: context.notes,
    })
}

impl TreeVerification {
    /// Returns all findings as SARIF, each marked as new or not; none without an analysis of the after side.
    pub fn sarif(&self) -> String {
        let after = self.after.as_ref().map(|side| &side.run);
        after
            .map(|run| probity_analysis::report::sarif(run, self.answer.comparison.as_ref()))
            .unwrap_or_default()
    }

    /// Returns the health in the trusted baseline, which is the one the change started from.
    pub(super) fn baseline_health(&self) -> Option<i64> {
        self.before.as_ref()?.baseline_health(&self.after.as_ref()?.run)
    }
}

/// Returns the budget of a change that starts from a stored analysis or from the current tree, and notes about the policy.
pub fn budget_of(
    workspace: &Workspace,
    run: Option<&str>,
    progress: ProgressCallback<'_>,
) -> Result<(probity_contract::ChangeBudget, Vec<String>), ServiceError> {
    let context = VerificationContext::find(workspace, &VerifyOptions::default())?;
    let stored = match run {
        Some(name) => AnalysisStore::open(workspace).load(name)?,
        None => context.analyze_tree(progress)?,
    };
    let side = AnalysisSide::of(stored, BaselineFile::of_tree(workspace)?);
    let limits = analyze::gate_rules(&context.policy)?;
    Ok((super::budget(&side, &context.policy.contract, &limits), context.notes))
}

struct VerificationContext<'a> {
    workspace: &'a Workspace,
    /// `None` without a repository or a commit.
    revision: Option<String>,
    tree: HeadTree,
    policy: Policy,
    policy_loosened: bool,
    notes: Vec<String>,
}

impl<'a> VerificationContext<'a> {
    fn find(workspace: &'a Workspace, options: &VerifyOptions) -> Result<Self, ServiceError> {
        let revision = match &options.against {
            Some(ComparisonBase::Revision(name)) => Some(git::commit_id(workspace, name)?),
            Some(ComparisonBase::Run(_)) | None => git::head(workspace)?,
        };
        let Some(commit) = &revision else {
            let notes = vec!["there is no commit: the policy of the tree itself was used".to_owned()];
            let policy = workspace.load_policy()?.policy;
            let tree = HeadTree::new();
            return Ok(Self { workspace, revision, tree, policy, policy_loosened: false, notes });
        };
        let tree = git::tree_of(workspace, commit)?;
        let policy = Policy::default();
        let policy_from = options.policy_from.as_deref().filter(|from| *from != commit.as_str());
        let mut context =
            Self { workspace, revision, tree, policy, policy_loosened: false, notes: Vec::new() };
        context.read_policy(policy_from)?;
        Ok(context)
    }

    /// Reads the policy of the commit `from`, or else of the base.
    fn read_policy(&mut self, from: Option<&str>) -> Result<(), ServiceError> {
        let of_base = judging_policy::committed_policy(self.workspace, &self.tree)?;
        let committed = match from {
            Some(commit) => {
                judging_policy::committed_policy(self.workspace, &git::tree_of(self.workspace, commit)?)?
            }
            None => of_base.clone(),
        };
        // A branch that is older than the policy has not loosened it.
        let is_changed = self.workspace.policy_source()? != of_base;
        match &committed {
            Some(source) if self.workspace.policy_source()?.as_ref() != Some(source) => {
                let name = source.file_name();
                self.notes.push(match from {
                    Some(commit) if !is_changed => {
                        let commit = probity_core::text::short_digest(commit);
                        format!("the change is older than the {name} that judges, which is that of {commit}")
                    }
                    _ => format!("{name} differs from the commit; the committed one judges"),
                });
            }
            None if self.workspace.root.join(own_files::POLICY_FILE).exists() => {
                // The patch that brings the policy cannot bring exemptions. What git tracks nowhere is no part of it, so a
                // virtual environment that says what it is need not be counted file by file.
                self.policy.workspace.recognize_outputs = true;
                self.notes.push(format!(
                    "the base commit has no {}, so the default policy applies",
                    own_files::POLICY_FILE
                ));
            }
            _ => {}
        }
        if let Some(source) = committed {
            self.policy = source.parse(Path::new(""))?;
            let ways = if is_changed { policy_loosenings(self.workspace, &self.policy)? } else { Vec::new() };
            self.policy_loosened = !ways.is_empty();
            if self.policy_loosened {
                self.notes.push(format!(
                    "the policy demands less of later changes, which a person decides: {}",
                    ways.join(", ")
                ));
            }
        }
        Ok(())
    }

    /// Returns the analyses of both sides; `None` for one that is unknown.
    fn analysis_sides(
        &self,
        options: &VerifyOptions,
        progress: ProgressCallback<'_>,
    ) -> Result<(Option<AnalysisSide>, Option<AnalysisSide>), ServiceError> {
        let (before, after) = match (&options.against, &options.after) {
            (Some(ComparisonBase::Run(before)), Some(after)) => self.load_stored(before, after, options)?,
            (Some(ComparisonBase::Run(before)), None) => {
                (found_or_none(self.load(before))?, Some(self.analyze_tree(progress)?))
            }
            (_, Some(after)) => (self.analyze_base(progress)?, found_or_none(self.load(after))?),
            // The base comes first: a clone that lacks its contents is refused before anything is analyzed.
            (_, None) => (self.analyze_base(progress)?, Some(self.analyze_tree(progress)?)),
        };
        let now = BaselineFile::of_tree(self.workspace)?;
        // Without a commit the old baseline is unknown and assumed to be unchanged.
        let then = match self.revision {
            Some(_) => judging_policy::committed_file(self.workspace, &self.tree, BASELINE_FILE)?
                .map(BaselineFile::new),
            None => now.clone(),
        };
        Ok((before.map(|it| AnalysisSide::of(it, then)), after.map(|it| AnalysisSide::of(it, now))))
    }

    /// Loads two stored analyses, completely only if more than the differences is needed.
    fn load_stored(
        &self,
        before: &str,
        after: &str,
        options: &VerifyOptions,
    ) -> Result<(Option<StoredAnalysis>, Option<StoredAnalysis>), ServiceError> {
        let limits = analyze::gate_rules(&self.policy)?;
        if !(options.all_findings
            || super::needs_whole_runs(&options.claims, options.text.as_deref(), &limits))
            && let Some(DifferingAnalyses { before, after, .. }) =
                found_or_none(AnalysisStore::open(self.workspace).load_differing(before, after))?
        {
            return Ok((Some(before), Some(after)));
        }
        Ok((found_or_none(self.load(before))?, found_or_none(self.load(after))?))
    }

    fn load(&self, name: &str) -> Result<StoredAnalysis, ServiceError> {
        AnalysisStore::open(self.workspace).load(name)
    }

    fn analyze_tree(&self, progress: ProgressCallback<'_>) -> Result<StoredAnalysis, ServiceError> {
        let options = AnalyzeOptions::default();
        let made = analyze::analyze(self.workspace, &self.policy, &options, progress)?;
        Ok(StoredAnalysis::whole(made.run, made.report_digest))
    }

    /// Analyzes the base commit; `None` without one.
    fn analyze_base(&self, progress: ProgressCallback<'_>) -> Result<Option<StoredAnalysis>, ServiceError> {
        let Some(revision) = &self.revision else { return Ok(None) };
        let options = AnalyzeOptions::default();
        let made = analyze::analyze_commit(self.workspace, revision, &self.policy, &options, progress)?;
        Ok(Some(StoredAnalysis::whole(made.run, made.report_digest)))
    }

    /// Returns D: the paths that differ from the commit, or between two stored analyses.
    fn changed_paths(
        &self,
        options: &VerifyOptions,
        worktree: &WorktreeStatus,
        before: Option<&AnalysisSide>,
        after: Option<&AnalysisSide>,
    ) -> Result<BTreeSet<RepoPath>, ServiceError> {
        if matches!(options.against, Some(ComparisonBase::Run(_))) {
            return Ok(before
                .zip(after)
                .map(|(before, after)| changed_between(before, after))
                .unwrap_or_default());
        }
        let Some(revision) = &self.revision else { return Ok(worktree.dirty_paths()) };
        worktree.differing_from(self.workspace, revision)
    }

    /// Returns what gates must not be judged by: what changed since the base and was neither declared nor granted.
    fn held_change(
        &self,
        options: &VerifyOptions,
        changed: &BTreeSet<RepoPath>,
    ) -> Result<HeldChange, ServiceError> {
        let is_declared = |path: &RepoPath| {
            options.scope.as_ref().is_some_and(|scope| {
                scope.relation(path.as_bytes()) != ScopeRelation::Outside && !scope.forbids(path.as_bytes())
            })
        };
        let held = HeldChanges {
            changed: changed.clone(),
            added: changed.iter().filter(|path| !self.tree.contains_key(*path)).cloned().collect(),
            undeclared: changed.iter().filter(|path| !is_declared(path)).cloned().collect(),
            grants: Scope::parse(&options.grants)?,
        };
        Ok(HeldChange { programs: None, changes: held })
    }

    /// Adds a note about changed source files that were not analyzed because of what they contain: a mark of generated code,
    /// or a NUL byte, must not hide a change unseen (law 6).
    fn note_unread(&mut self, changed: &BTreeSet<RepoPath>, after: Option<&AnalysisSide>) {
        let files = after.map(|side| &side.run.files).into_iter().flatten();
        let unread: Vec<String> = files
            .filter(|file| changed.contains(&file.path))
            .filter_map(|file| {
                let why = file.notes.iter().find(|note| {
                    matches!(
                        note,
                        FileNote::Generated | FileNote::TooLarge | FileNote::Binary | FileNote::TooHard
                    )
                })?;
                Some(format!("`{}` ({})", file.path, why.label()))
            })
            .collect();
        let more = unread.len().saturating_sub(MAX_NAMED_UNREAD);
        if !unread.is_empty() {
            let named = unread[..unread.len() - more].join(", ");
            let more = if more == 0 { String::new() } else { format!(" and {more} more") };
            self.notes.push(format!("changed and not analyzed: {named}{more}; a person has to look at them"));
        }
    }

    /// Adds a note about paths that gates wrote to the tree.
    fn note_written(&mut self, gates: &GateAnswers) {
        if let Some(first) = gates.written.first() {
            let more = gates.written.len() - 1;
            let more = if more == 0 { String::new() } else { format!(" and {more} more paths") };
            self.notes.push(format!(
                "while the gates ran, `{first}`{more} changed; if gates write them, declare them as `outputs`"
            ));
        }
    }

    /// Returns D with the content of both sides.
    fn delta(
        &self,
        worktree: &WorktreeStatus,
        changed: &BTreeSet<RepoPath>,
    ) -> Result<Vec<DeltaEntry>, ServiceError> {
        // A submodule's id names a commit of another repository, so there is no content to get.
        let committed = |path| self.tree.get(path).filter(|(mode, _)| *mode != GITLINK_MODE);
        let wanted: Vec<(&RepoPath, String)> =
            changed.iter().filter_map(|path| Some((path, committed(path)?.1.to_string()))).collect();
        let old = match &self.workspace.git {
            Some(git) => git::blobs(git, &wanted)?,
            None => BTreeMap::new(),
        };
        let entry = |path: &RepoPath| DeltaEntry {
            path: path.clone(),
            before: self.tree.get(path).and_then(|(_, id)| old.get(&id.to_string())).map(|it| Digest::of(it)),
            after: worktree.snapshot.get(path).and_then(|entry| entry.digest()),
        };
        Ok(changed.iter().map(entry).collect())
    }
}

/// Returns in which ways the policy in the tree demands less than the one that judges. One that cannot be read
/// demands nothing that could be compared; the next command that uses it is refused.
pub fn policy_loosenings(workspace: &Workspace, judging: &Policy) -> Result<Vec<String>, ServiceError> {
    let Some(source) = workspace.policy_source()? else { return Ok(judging.loosened_by(&Policy::default())) };
    Ok(source.parse(Path::new("")).map(|policy| judging.loosened_by(&policy)).unwrap_or_default())
}

/// Applies the caller's overrides to the policy's rules.
fn rules(policy: &Policy, options: &VerifyOptions) -> ContractRules {
    let mut rules = policy.contract.clone();
    rules.strictness = options.strictness.unwrap_or(rules.strictness);
    rules.severity_floor = options.severity_floor.or(rules.severity_floor);
    rules
}

/// Turns a missing analysis into `None`.
fn found_or_none<T>(loaded: Result<T, ServiceError>) -> Result<Option<T>, ServiceError> {
    match loaded {
        Ok(stored) => Ok(Some(stored)),
        Err(ServiceError::NoSuchAnalysis(_)) => Ok(None),
        Err(fault) => Err(fault),
    }
}

/// Returns the intent of a change that was declared only on the command line.
fn declared_intent(
    scope: &IntentScope,
    options: &VerifyOptions,
    before: Option<&AnalysisSide>,
) -> PatchIntent {
    PatchIntent {
        intent_id: IntentId::parse("declared").expect("the word is a valid id"),
        status: IntentState::Active,
        report_digest: options
            .report_digest
            .clone()
            .or_else(|| before.map(|side| side.report_digest.to_string())),
        scope: scope.clone(),
    }
}

/// Returns whether a scope allows or forbids a path explicitly.
fn is_mentioned(scope: &IntentScope, path: &RepoPath) -> bool {
    let name = path.as_bytes();
    scope.allowed_files.contains(name) || scope.allowed_related.contains(name) || scope.forbids(name)
}

/// Returns the files that differ between two analyses.
fn changed_between(before: &AnalysisSide, after: &AnalysisSide) -> BTreeSet<RepoPath> {
    let files = |side: &AnalysisSide| -> BTreeSet<(RepoPath, Digest)> {
        let sources = side.run.files.iter().map(|file| (file.path.clone(), file.content));
        let governance = side.run.governance.iter();
        let governance = governance.filter_map(|(name, content)| Some((parse_key(name)?, *content)));
        sources.chain(governance).collect()
    };
    let (old, new) = (files(before), files(after));
    old.symmetric_difference(&new).map(|(path, _)| path.clone()).collect()
}

fn parse_key(name: &str) -> Option<RepoPath> {
    RepoPath::parse(name.as_bytes()).ok()
}

/// Returns the declared scope; `None` if nothing was declared. A pattern among literal paths is refused.
pub fn scope(
    workspace: &Workspace,
    allowed: &[Vec<u8>],
    related: &[Vec<u8>],
    forbidden: &[Vec<u8>],
) -> Result<Option<IntentScope>, ServiceError> {
    if allowed.is_empty() {
        if related.is_empty() && forbidden.is_empty() {
            return Ok(None);
        }
        let detail = "a scope needs at least one allowed file";
        return Err(ServiceError::refused(ReasonCode::ScopeEmptyScope, detail));
    }
    // A path that is also forbidden is a violation, told with the verdict.
    let declared =
        probity_scopes::IntentScope { allowed_files: allowed, allowed_related: related, forbidden: &[] };
    check_named_paths(workspace, declared)?;
    let entries = |list: &[Vec<u8>]| -> ScopeEntrySet { list.iter().map(ScopeEntry::new).collect() };
    Ok(Some(IntentScope {
        allowed_files: entries(allowed),
        allowed_related: entries(related),
        forbidden: entries(forbidden),
    }))
}
