//! The verdict on a run, a pure function of what was observed and sealed (law 7).
//!
//! Every change of the tree, of commits and of the index is exactly one of *exempt* (a build output, or a declared gate output that only gates
//! wrote; never what is committed or staged), *in scope*, or *untracked*. Everything else that is wrong becomes a [`RunFinding`]; a run passes exactly
//! when no finding is an error.

use probity_api::govern::run::{FileRename, FindingSeverity, RefMovement, RunFinding};
use probity_core::ReasonCode;
use probity_evidence::{PlannedGate, RecognizedOutput, RefsRule};
use probity_paths::{RepoPath, Scope};
use probity_process::{JobOutcome, JobReport};
use probity_snapshot::{ChangeKind, EntryState, TouchKind, TouchedEntry, TreeChange, TreeFinding};
use probity_workspace::exemptions::Exemptions;
use probity_workspace::gates::GateResult;
use probity_workspace::observe::ZoneChange;
use probity_workspace::outgoing::{OutgoingChanges, PlacedChange};
use probity_workspace::refs::describe_movement;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug)]
pub struct VerdictInputs<'a> {
    pub rules: RunRules<'a>,
    pub tree: ObservedTree<'a>,
    pub execution: ObservedExecution<'a>,
}

/// The limits of a run, as sealed and amended.
#[derive(Debug)]
pub struct RunRules<'a> {
    /// The scope, amendments included.
    pub scope: &'a Scope,
    /// Paths that are not part of the delta.
    pub exemptions: &'a Exemptions,
    /// Content that must not change, whatever the scope.
    pub protected: &'a Scope,
    /// Protected paths that this run may change.
    pub grants: &'a Scope,
    /// The rule for moved git references.
    pub refs: RefsRule,
    pub gates: &'a [PlannedGate],
}

/// The differences between the tree at the start and at the end.
#[derive(Debug)]
pub struct ObservedTree<'a> {
    pub changes: &'a [TreeChange],
    /// Entries that are equal but were touched.
    pub touched: &'a [TouchedEntry],
    /// Paths that had changed when the command ended, before any gate ran.
    pub changed_by_command: &'a BTreeSet<RepoPath>,
    /// Entries that could not be judged safely at the start.
    pub found_at_start: &'a [TreeFinding],
    /// Entries that cannot be judged safely at the end.
    pub found_at_end: &'a [TreeFinding],
    /// Changed protected paths outside the content: git's own files and our state.
    pub zone_changes: &'a [ZoneChange],
    pub ref_movements: &'a [RefMovement],
    /// What happened to the root directory itself.
    pub root_changes: &'a [String],
    /// The `.git` of repositories that were put into the tree.
    pub new_repositories: &'a [RepoPath],
    /// What could leave in commits and in the index.
    pub outgoing: &'a OutgoingChanges,
    /// Paths without a before-image.
    pub not_kept: &'a BTreeSet<RepoPath>,
}

#[derive(Debug)]
pub struct ObservedExecution<'a> {
    /// `None` if the command was withheld because the tree could not be observed.
    pub command: Option<&'a JobReport>,
    /// What is to be told and fails nothing, such as amendments refused while the command ran.
    pub notes: &'a [(ReasonCode, String)],
    pub gate_results: &'a [GateResult],
    /// By gate, only where gates declare outputs.
    pub gate_writes: &'a [GateWrites],
}

/// The paths one gate wrote, and those it may write.
#[derive(Debug, Clone)]
pub struct GateWrites {
    /// The declared outputs.
    pub outputs: Scope,
    /// The paths that changed while it ran.
    pub changed: BTreeSet<RepoPath>,
}

/// The verdict on [`VerdictInputs`].
#[derive(Debug, Default)]
pub struct RunVerdict {
    /// The changes that are judged against the scope.
    pub delta: Vec<TreeChange>,
    /// The changes of the delta that the working tree does not show, or that are judged only because they are committed
    /// or staged.
    pub placed: BTreeMap<RepoPath, PlacedChange>,
    /// Changed paths that are not part of the delta.
    pub exempt: Vec<RepoPath>,
    /// Paths of the delta outside the scope.
    pub untracked: Vec<RepoPath>,
    /// Directories recognized as build outputs by their content.
    pub recognized: Vec<RecognizedOutput>,
    /// Paths of the delta that had not changed before the gates ran.
    pub by_gates: Vec<RepoPath>,
    /// In order: scope, protected paths, unsafe entries, gates, command, refused amendments, touched entries.
    pub findings: Vec<RunFinding>,
    /// The codes of all errors, each once, in the order of the findings.
    pub reasons: Vec<ReasonCode>,
}

impl RunVerdict {
    pub fn passed(&self) -> bool {
        self.reasons.is_empty()
    }
}

#[tracing::instrument(name = "judge", skip_all)]
pub fn judge(case: &VerdictInputs<'_>) -> RunVerdict {
    let mut verdict =
        RunVerdict { recognized: case.rules.exemptions.recognized.clone(), ..RunVerdict::default() };
    let mut outgoing = case.tree.outgoing.changes.clone();
    for change in case.tree.changes {
        let placed = outgoing.remove(&change.path);
        if !is_exempt(case, change) {
            verdict.delta.push(change.clone());
        } else if let Some(placed) =
            placed.or_else(|| case.tree.outgoing.staged_as_in_tree.get(&change.path).cloned())
        {
            // What leaves is judged, whatever the patterns say.
            verdict.delta.push(change.clone());
            verdict.placed.insert(change.path.clone(), placed);
        } else {
            verdict.exempt.push(change.path.clone());
        }
    }
    verdict.delta.extend(outgoing.iter().map(|(path, placed)| placed.to_tree_change(path)));
    verdict.delta.sort_by(|one, other| one.path.cmp(&other.path));
    verdict.placed.extend(outgoing);
    let delta: Vec<RepoPath> = verdict.delta.iter().map(|change| change.path.clone()).collect();
    verdict.untracked = probity_paths::reconcile(case.rules.scope, &delta).untracked;
    verdict.by_gates =
        delta.into_iter().filter(|path| !case.tree.changed_by_command.contains(path)).collect();

    let mut say = FindingCollector::default();
    report_untracked(case, &verdict, &mut say);
    report_protected(case, &verdict, &mut say);
    report_unsafe_entries(case, &verdict, &mut say);
    report_gates(case, &verdict, &mut say);
    report_command(case, &mut say);
    for (reason, detail) in case.execution.notes {
        say.note(*reason, None, detail);
    }
    report_touched(case, &mut say);
    verdict.findings = say.findings;
    for finding in verdict.findings.iter().filter(|finding| finding.severity == FindingSeverity::Error) {
        if !verdict.reasons.contains(&finding.reason) {
            verdict.reasons.push(finding.reason);
        }
    }
    verdict
}

/// Returns the renames in the delta, sorted by target. Only content that left exactly one path and appeared at exactly
/// one is a rename: among several equal files nobody can tell which one went where.
pub fn renames(delta: &[TreeChange]) -> Vec<FileRename> {
    type Paths<'a> = Vec<&'a RepoPath>;
    let mut places: BTreeMap<_, (Paths<'_>, Paths<'_>)> = BTreeMap::new();
    for change in delta {
        let side = |side: Option<EntryState>| side.filter(|side| side.size > 0).and_then(|side| side.digest);
        match change.change {
            ChangeKind::Deleted => {
                if let Some(digest) = side(change.before) {
                    places.entry(digest).or_default().0.push(&change.path);
                }
            }
            ChangeKind::Added => {
                if let Some(digest) = side(change.after) {
                    places.entry(digest).or_default().1.push(&change.path);
                }
            }
            ChangeKind::Modified => {}
        }
    }
    let mut renames: Vec<FileRename> = places
        .into_values()
        .filter_map(|(from, to)| match (&from[..], &to[..]) {
            ([from], [to]) => Some(FileRename { from: (*from).clone(), to: (*to).clone() }),
            _ => None,
        })
        .collect();
    renames.sort_by(|one, other| one.to.cmp(&other.to));
    renames
}

fn is_exempt(case: &VerdictInputs<'_>, change: &TreeChange) -> bool {
    let by_command = case.tree.changed_by_command.contains(&change.path);
    case.rules.exemptions.exempts(change, by_command) || is_gate_output(case, &change.path)
}

/// Returns whether only gates wrote a path, and each of them had declared it.
fn is_gate_output(case: &VerdictInputs<'_>, path: &RepoPath) -> bool {
    let mut writers = case.execution.gate_writes.iter().filter(|gate| gate.changed.contains(path)).peekable();
    !case.tree.changed_by_command.contains(path)
        && writers.peek().is_some()
        && writers.all(|gate| gate.outputs.contains(path))
}

#[derive(Default)]
struct FindingCollector {
    findings: Vec<RunFinding>,
}

impl FindingCollector {
    fn error(&mut self, reason: ReasonCode, path: Option<&RepoPath>, detail: impl Into<String>) {
        self.push(FindingSeverity::Error, reason, path, detail.into());
    }

    fn note(&mut self, reason: ReasonCode, path: Option<&RepoPath>, detail: impl Into<String>) {
        self.push(FindingSeverity::Note, reason, path, detail.into());
    }

    fn push(
        &mut self,
        severity: FindingSeverity,
        reason: ReasonCode,
        path: Option<&RepoPath>,
        detail: String,
    ) {
        self.findings.push(RunFinding { reason, path: path.cloned(), detail, severity });
    }
}

fn report_untracked(case: &VerdictInputs<'_>, verdict: &RunVerdict, say: &mut FindingCollector) {
    let changes: BTreeMap<&RepoPath, &TreeChange> =
        verdict.delta.iter().map(|change| (&change.path, change)).collect();
    let mut packages: BTreeMap<RepoPath, usize> = BTreeMap::new();
    for path in &verdict.untracked {
        let change = changes.get(path);
        let what = change.map_or("changed", |change| change.change.as_str());
        let who = if case.tree.changed_by_command.contains(path) { "" } else { " by a gate" };
        let why = match case.rules.scope.decision(path) {
            Some(decision) => {
                format!("excluded by `{}`", probity_core::bytes::escape(decision.pattern.as_bytes()))
            }
            None => "no pattern of the scope covers it".into(),
        };
        let by_command = case.tree.changed_by_command.contains(path);
        let output = change.and_then(|change| case.rules.exemptions.why_judged(change, by_command));
        let output = output.map_or_else(String::new, |output| format!("; {output}"));
        let place = verdict.placed.get(path);
        let at = place.map_or_else(String::new, |placed| format!(" {}", placed.describe_place()));
        say.error(ReasonCode::ReconUntrackedDelta, Some(path), format!("{what}{at}{who}; {why}{output}"));
        if place.is_some() {
            continue;
        }
        if case.tree.not_kept.contains(path) {
            say.note(
                ReasonCode::RevertNoBeforeImage,
                Some(path),
                "it was too large to keep, or did not rest",
            );
        } else if change.is_some_and(|change| change.before.is_some())
            && case.rules.exemptions.is_disposable(path)
        {
            *packages
                .entry(probity_policy::output_root(path).unwrap_or_else(|| path.clone()))
                .or_default() += 1;
        }
    }
    // One note per package directory: an update changes thousands of files in it.
    for (root, n_changed) in packages {
        let files = probity_core::text::count(n_changed, "changed file");
        let detail = format!("of installed packages no copy is kept ({files}): install them again");
        say.note(ReasonCode::RevertNoBeforeImage, Some(&root), detail);
    }
}

fn report_protected(case: &VerdictInputs<'_>, verdict: &RunVerdict, say: &mut FindingCollector) {
    for change in case.tree.changes {
        if case.rules.protected.contains(&change.path) {
            protected_change(case, say, &change.path, change.change.as_str());
        }
    }
    let is_in_tree = |path: &RepoPath| case.tree.changes.iter().any(|change| change.path == *path);
    for (path, placed) in &verdict.placed {
        if case.rules.protected.contains(path) && !is_in_tree(path) {
            let change = placed.to_tree_change(path).change;
            let detail = format!("{} {}", change.as_str(), placed.describe_place());
            protected_change(case, say, path, &detail);
        }
    }
    for detail in case.tree.root_changes {
        say.error(ReasonCode::ProtectedChanged, None, detail.clone());
    }
    for path in case.tree.new_repositories {
        if case.rules.exemptions.covers(path) {
            say.note(ReasonCode::ProtectedChanged, Some(path), "a repository was created in a build output");
        } else {
            let detail = "a repository was created inside the tree, and commands started there would not find this \
                          tree's policy; for a submodule, allow it with `--grant` and this path";
            protected_change(case, say, path, detail);
        }
    }
    for (path, placed) in &case.tree.outgoing.outside_root {
        let change = placed.to_tree_change(path).change.as_str();
        let detail =
            format!("`{path}` (from the top of the repository) {change} {}", placed.describe_place());
        say.error(ReasonCode::ReconOutsideRoot, None, detail);
    }
    for unreadable in &case.tree.outgoing.unreadable {
        say.error(unreadable.reason, unreadable.path.as_ref(), unreadable.detail.clone());
    }
    for change in case.tree.zone_changes {
        protected_change(case, say, &change.path, &change.detail);
    }
    if case.rules.refs == RefsRule::Protect {
        let is_output = |path: &RepoPath| case.rules.exemptions.covers(path);
        for movement in
            case.tree.ref_movements.iter().filter(|it| !it.repository.as_ref().is_some_and(is_output))
        {
            let detail = format!("a git reference changed: {}", describe_movement(movement));
            say.error(ReasonCode::ProtectedChanged, movement.repository.as_ref(), detail);
        }
    }
}

/// Granted changes are not hidden: they are reported as notes.
fn protected_change(case: &VerdictInputs<'_>, say: &mut FindingCollector, path: &RepoPath, detail: &str) {
    if case.rules.grants.contains(path) {
        say.note(ReasonCode::ProtectedChanged, Some(path), format!("{detail}, as granted"));
    } else {
        say.error(ReasonCode::ProtectedChanged, Some(path), detail);
    }
}

/// Findings that are new or on changed paths fail the run; old ones that stayed are notes.
fn report_unsafe_entries(case: &VerdictInputs<'_>, verdict: &RunVerdict, say: &mut FindingCollector) {
    let known: BTreeSet<_> =
        case.tree.found_at_start.iter().map(|found| (&found.path, found.reason)).collect();
    let changed: BTreeSet<&RepoPath> = verdict.delta.iter().map(|change| &change.path).collect();
    let mut exempt: BTreeMap<ReasonCode, Vec<&RepoPath>> = BTreeMap::new();
    for found in case.tree.found_at_end {
        let is_old = known.contains(&(&found.path, found.reason)) && !changed.contains(&found.path);
        let is_spared = if is_blind(found.reason) {
            case.rules.exemptions.is_disposable(&found.path)
        } else {
            case.rules.exemptions.covers(&found.path)
        };
        let is_expected =
            found.reason == ReasonCode::UnsafeLinkEscapes && probity_policy::is_interpreter_link(&found.path);
        if is_spared && !changed.contains(&found.path) {
            if !is_expected {
                exempt.entry(found.reason).or_default().push(&found.path);
            }
        } else if is_old && !is_blind(found.reason) {
            say.note(found.reason, Some(&found.path), found.detail.clone());
        } else {
            say.error(found.reason, Some(&found.path), found.detail.clone());
        }
    }
    // Summarized, because a virtual environment has many links to its interpreter.
    for (reason, paths) in exempt {
        if let [only] = paths.as_slice() {
            say.note(reason, Some(only), "in a build output");
        } else {
            let (meaning, count, first) = (reason.meaning(), paths.len(), paths[0]);
            let detail = format!("{meaning}: {count} paths in build outputs, the first is {first}");
            say.note(reason, None, detail);
        }
    }
}

/// Returns whether a finding means that something could not be observed, so that even an old one fails the run.
pub fn is_blind(reason: ReasonCode) -> bool {
    matches!(reason, ReasonCode::TreeUnavailable | ReasonCode::TreeUnstable)
}

fn report_gates(case: &VerdictInputs<'_>, verdict: &RunVerdict, say: &mut FindingCollector) {
    for result in case.execution.gate_results {
        let is_required = case.rules.gates.iter().any(|gate| gate.id == result.gate_id && gate.required);
        let severity = if is_required { FindingSeverity::Error } else { FindingSeverity::Note };
        for (reason, detail) in &result.troubles {
            say.push(severity, *reason, None, format!("gate `{}`: {detail}", result.gate_id));
        }
    }
    let answered: BTreeSet<&str> =
        case.execution.gate_results.iter().map(|result| result.gate_id.as_str()).collect();
    for gate in case.rules.gates.iter().filter(|gate| gate.required && !answered.contains(gate.id.as_str())) {
        say.error(ReasonCode::GateMissing, None, format!("gate `{}` has no result", gate.id));
    }
    for gate in case.rules.gates {
        report_gate_inputs(case, verdict, gate, say);
        report_gate_imports(case, verdict, gate, say);
    }
}

/// Inputs that the policy declares must not change. Those that were only found out may change within the scope, because
/// an honest change often touches them, but that is noted.
fn report_gate_inputs(
    case: &VerdictInputs<'_>,
    verdict: &RunVerdict,
    gate: &PlannedGate,
    say: &mut FindingCollector,
) {
    if let Some(declared) = case.rules.exemptions.declared_inputs.get(&gate.id) {
        for change in case.tree.changes.iter().filter(|change| declared.contains(&change.path)) {
            let detail = format!("the policy calls it an input of gate `{}`", gate.id);
            if case.rules.grants.contains(&change.path) {
                say.note(ReasonCode::GateInputChanged, Some(&change.path), format!("{detail}; as granted"));
            } else {
                say.error(ReasonCode::GateInputChanged, Some(&change.path), detail);
            }
        }
    }
    let inputs = case.rules.exemptions.gate_inputs.get(&gate.id);
    let tools = probity_policy::StartedTools::of(&gate.run);
    for change in &verdict.delta {
        let used = tools.use_of(inputs, &change.path, change.before.is_none());
        if let Some(used) = used {
            let detail = format!("gate `{}` {}", gate.id, used.describe());
            say.note(ReasonCode::GateInputChanged, Some(&change.path), detail);
        }
    }
}

/// New packages are exempt, but a gate may import them, so each import directory gets one note.
fn report_gate_imports(
    case: &VerdictInputs<'_>,
    verdict: &RunVerdict,
    gate: &PlannedGate,
    say: &mut FindingCollector,
) {
    let mut counts: BTreeMap<RepoPath, usize> = BTreeMap::new();
    let by_command = verdict.exempt.iter().filter(|path| case.tree.changed_by_command.contains(path));
    for path in by_command {
        let root = case.rules.exemptions.import_root(&gate.id, path);
        if let Some(root) = root.filter(|root| !probity_policy::is_never_imported(root, path)) {
            *counts.entry(root).or_default() += 1;
        }
    }
    for (root, count) in counts {
        let paths = if count == 1 { "path" } else { "paths" };
        let detail =
            format!("gate `{}` may import from it, and the command added {count} {paths} there", gate.id);
        say.note(ReasonCode::GateInputChanged, Some(&root), detail);
    }
}

/// Touched entries listed one by one; further ones are counted. `git checkout` and back touches a whole tree.
const MAX_LISTED_TOUCHED_ENTRIES: usize = 100;

/// Touched entries fail nothing, because the content is the same, but they are noted (law 3).
fn report_touched(case: &VerdictInputs<'_>, say: &mut FindingCollector) {
    let seen: Vec<&TouchedEntry> =
        case.tree.touched.iter().filter(|touched| !case.rules.exemptions.covers(&touched.path)).collect();
    for TouchedEntry { path, touch } in seen.iter().take(MAX_LISTED_TOUCHED_ENTRIES) {
        let detail = match touch {
            TouchKind::Attributes => "its owner, attributes or names changed, or it was moved away and back",
            TouchKind::Written => "it was written and holds the same again, or its times were set",
            TouchKind::Replaced => "it was replaced by an identical one",
        };
        say.note(ReasonCode::TreeTouched, Some(path), detail);
    }
    if let Some(more) = seen.len().checked_sub(MAX_LISTED_TOUCHED_ENTRIES).filter(|more| *more > 0) {
        say.note(ReasonCode::TreeTouched, None, format!("{more} more entries were touched"));
    }
}

/// The signal of Ctrl-C, and the exit code of a program that handled it.
const SIGINT: i32 = 2;
const EXIT_AFTER_CTRL_C: i32 = 130;

fn report_command(case: &VerdictInputs<'_>, say: &mut FindingCollector) {
    let Some(command) = case.execution.command else {
        // Law 6: a command that did not run did not pass, even if the tree can be observed by now.
        return say.error(
            ReasonCode::RunCommandNotStarted,
            None,
            "withheld: the tree could not be seen before",
        );
    };
    match &command.outcome {
        JobOutcome::Exited(0) => {}
        JobOutcome::Exited(EXIT_AFTER_CTRL_C) | JobOutcome::Signalled(SIGINT) => {
            say.error(ReasonCode::RunCancelled, None, "the command was ended by Ctrl-C");
        }
        JobOutcome::Exited(code) => {
            say.error(ReasonCode::RunCommandFailed, None, format!("exit code {code}"));
        }
        JobOutcome::Signalled(signal) => {
            say.error(ReasonCode::RunCommandFailed, None, format!("ended by signal {signal}"));
        }
        JobOutcome::TimedOut | JobOutcome::TooMuchOutput => {
            say.error(ReasonCode::RunCommandFailed, None, "ended by its limits");
        }
        JobOutcome::Cancelled(signal) => {
            say.error(ReasonCode::RunCancelled, None, format!("signal {signal}"));
        }
        JobOutcome::NotStarted(why) => say.error(ReasonCode::RunCommandNotStarted, None, why.to_string()),
    }
    if command.n_survivors > 0 || !command.all_gone {
        let listed: Vec<String> = command
            .survivors
            .iter()
            .map(|survivor| format!("{} ({})", survivor.command, survivor.pid))
            .collect();
        let detail = format!("{} left behind: {}", command.n_survivors, listed.join(", "));
        let severity = if command.all_gone { FindingSeverity::Note } else { FindingSeverity::Error };
        say.push(severity, ReasonCode::RunSurvivors, None, detail);
    }
}

#[cfg(test)]
mod tests;
