//! Holds the parts of a bundle against each other: manifest, seal, recorded changes, summary.
//!
//! The checks of [`checks`](crate::checks) judge a manifest and the digests of its files. These judge what the files
//! say: every fact that a bundle holds twice must be the same in both places, and everything that follows from facts
//! must follow. A forger without a key can still invent a whole run, but not alter one part of it.

use crate::checks::{BundleCheck, CheckFailure, completed_check, failure_unless, skipped_check};
use crate::delta_record::{BundleDocument, DELTA_FILE, DeltaFile, PRUNED_FILE, PrunedFile, RecordedChange};
use crate::manifest_v1::{self, RunStatus};
use crate::{
    AmendPermission, Amendment, EnforcementLevel, GateStatus, LandingState, Manifest, ManifestChange,
    ManifestFinding, RefsRule, SEAL_FILE, SUMMARY_FILE, Seal, SealContents, StoredManifest, summary,
};
use probity_core::{ChangeKind, ReasonCode, json};
use probity_paths::{RepoPath, Scope};
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

type BundleFiles = BTreeMap<Vec<u8>, Vec<u8>>;

/// The parts of a bundle, each readable on its own.
struct BundleParts<'a> {
    value: &'a Value,
    stored: StoredManifest,
    /// The facts of the manifest, with the recorded reasons as given.
    facts: Manifest,
    seal: Seal,
    delta: Option<DeltaFile>,
    summary: &'a [u8],
}

pub(crate) fn part_checks(files: &BundleFiles, bytes: &[u8], value: &Value) -> Vec<BundleCheck> {
    let is_one_form = bytes == [json::canonical(value), b"\n".to_vec()].concat();
    let form = failure_unless(
        is_one_form,
        ReasonCode::EvidenceNotCanonical,
        "a manifest is canonical JSON and one newline",
    );
    let mut checks = vec![completed_check("form", form)];
    match BundleParts::read(files, bytes, value) {
        Ok(parts) => checks.extend(parts.checks()),
        Err(fault) => {
            checks.push(completed_check("parts", vec![fault]));
            checks.push(skipped_check("parts_agree", "a part could not be read"));
        }
    }
    checks
}

#[derive(Deserialize)]
struct RecordedReasons {
    reasons: Vec<ReasonCode>,
}

impl<'a> BundleParts<'a> {
    fn read(files: &'a BundleFiles, bytes: &[u8], value: &'a Value) -> Result<Self, CheckFailure> {
        let unfit = |why: String| CheckFailure::new(ReasonCode::EvidenceSchemaInvalid, &why);
        if value["schema"] != crate::assemble::MANIFEST_SCHEMA {
            return Err(unfit(format!("`schema` is not {}", crate::assemble::MANIFEST_SCHEMA)));
        }
        let stored = StoredManifest::parse(bytes).map_err(|error| unfit(error.to_string()))?;
        let recorded = RecordedReasons::deserialize(value).map_err(|error| unfit(error.to_string()))?;
        let facts = Manifest { other_reasons: recorded.reasons, ..stored.manifest.clone() };
        let part = |name: &str| files.get(name.as_bytes()).map(Vec::as_slice);
        let missing = |name: &str| CheckFailure::new(ReasonCode::EvidencePartMissing, &format!("`{name}`"));
        let seal = Seal::parse(part(SEAL_FILE).ok_or_else(|| missing(SEAL_FILE))?)
            .map_err(|error| CheckFailure::new(error.reason(), &error.to_string()))?;
        let delta = document::<DeltaFile>(DELTA_FILE, part(DELTA_FILE), facts.delta.is_some())?;
        let pruned = document::<PrunedFile>(PRUNED_FILE, part(PRUNED_FILE), facts.details.pruned.is_some())?;
        let n_pruned = pruned.map(|file| file.runs.len() as u64);
        if n_pruned != facts.details.pruned {
            return Err(unfit(format!("`{PRUNED_FILE}` does not list `pruned` bundles")));
        }
        let summary = part(SUMMARY_FILE).ok_or_else(|| missing(SUMMARY_FILE))?;
        Ok(Self { value, stored, facts, seal, delta, summary })
    }

    fn checks(&self) -> [BundleCheck; 10] {
        [
            completed_check("seal_record", self.seal_record()),
            completed_check("delta_record", self.delta_record()),
            completed_check("changes", self.changes()),
            completed_check("exemptions", self.exemptions()),
            completed_check("gate_results", self.gate_results()),
            completed_check("amendments", self.amendments()),
            completed_check("findings", self.findings()),
            completed_check("landing", self.landing()),
            completed_check("derived", self.derived()),
            completed_check("summary", self.summary_page()),
        ]
    }

    fn sealed(&self) -> &SealContents {
        self.seal.contents()
    }

    /// The manifest repeats what the seal fixed before the run began.
    fn seal_record(&self) -> Vec<CheckFailure> {
        let (facts, details, sealed) = (&self.facts, &self.facts.details, self.sealed());
        let is_own_id = facts.run_id == sealed.run_id;
        let agreements = [
            ("seal_hash", details.seal_hash == Some(self.seal.hash())),
            // A run that is judged again gets a new id and keeps its seal.
            ("run_id", is_own_id != details.amended_from.is_some()),
            ("plan", facts.plan == sealed.plan),
            ("started_at", details.started_at.as_ref() == Some(&sealed.sealed_at)),
            ("policy_digest", details.policy_digest == Some(sealed.policy_digest)),
            ("build_outputs", details.build_outputs == sealed.build_outputs),
            ("recognized_outputs", details.recognized_outputs.is_empty() || sealed.recognize_outputs),
            (
                "before_root",
                sealed.start.is_some() || facts.before_root.is_none_or(|root| root == sealed.root),
            ),
            ("start_look", details.start_look == sealed.start_look() && sealed.has_fitting_start()),
            ("enforcement", details.enforcement == sealed.enforcement),
            ("confinement", details.confinement == sealed.confinement),
            ("created_at", is_rfc3339(&facts.created_at)),
        ];
        let different = agreements.into_iter().filter(|(_, agrees)| !agrees).map(|(name, _)| name.as_bytes());
        CheckFailure::for_names(ReasonCode::EvidenceSealMismatch, different).into_iter().collect()
    }

    /// `delta.json` has the changes of the manifest, in its order.
    fn delta_record(&self) -> Vec<CheckFailure> {
        let recorded = self.delta.iter().flat_map(|file| &file.changes).map(|change| ManifestChange {
            path: change.path.clone(),
            change: change.change,
            before: change.before.as_ref().and_then(|side| side.digest),
            after: change.after.as_ref().and_then(|side| side.digest),
            place: change.place.clone(),
        });
        let recorded: Vec<ManifestChange> = recorded.collect();
        let stated = self.facts.delta.as_deref().unwrap_or_default();
        let detail = format!("`{DELTA_FILE}` has other changes than the manifest");
        failure_unless(recorded == stated, ReasonCode::EvidenceDeltaMismatch, &detail)
    }

    /// Every path changed once, and the kind of a change follows from its two sides.
    fn changes(&self) -> Vec<CheckFailure> {
        let moved: BTreeSet<&[u8]> = self.moved_submodules().collect();
        let mut seen = BTreeSet::new();
        // In the working tree only the before side can name a git object, and only it is needed for a revert.
        let has_new_id =
            |change: &RecordedChange| change.after.as_ref().is_some_and(|side| side.git_id.is_some());
        let fits = |change: &RecordedChange| match (change.change, &change.before, &change.after) {
            _ if has_new_id(change) && change.place.is_none() => false,
            (ChangeKind::Added, None, Some(_)) | (ChangeKind::Deleted, Some(_), None) => true,
            (ChangeKind::Modified, Some(before), Some(after)) => {
                let before = crate::RecordedSide { git_id: None, ..before.clone() };
                before != *after || moved.contains(change.path.as_bytes())
            }
            _ => false,
        };
        let changes = self.delta.iter().flat_map(|file| &file.changes);
        let wrong = changes.filter(|change| !seen.insert(&change.path) || !fits(change));
        let wrong: Vec<&[u8]> = wrong.map(|change| change.path.as_bytes()).collect();
        CheckFailure::for_names(ReasonCode::EvidenceChangeMismatch, wrong).into_iter().collect()
    }

    /// Returns the nested repositories whose `HEAD` moved.
    fn moved_submodules(&self) -> impl Iterator<Item = &[u8]> {
        let heads = self.facts.details.refs.iter().filter(|change| change.name.as_bytes() == b"HEAD");
        heads.filter_map(|change| change.repository.as_ref().map(crate::ByteString::as_bytes))
    }

    /// Only what the seal lets a build or a gate write is exempt, and nothing is exempt and judged at once.
    fn exemptions(&self) -> Vec<CheckFailure> {
        let Ok(allowed) = SealedExemptions::of(self) else {
            let detail = "a sealed pattern is invalid";
            return vec![CheckFailure::new(ReasonCode::EvidenceExemptionUnsealed, detail)];
        };
        let delta: BTreeSet<&RepoPath> = self.delta_paths().collect();
        let mut seen = BTreeSet::new();
        let exempt = self.facts.exempt_delta_paths.iter();
        let unsealed =
            exempt.filter(|path| !seen.insert(*path) || delta.contains(path) || !allowed.covers(path));
        let by_gates = self.facts.details.gate_delta_paths.iter().filter(|path| !delta.contains(path));
        let unsealed: Vec<&[u8]> = unsealed.map(RepoPath::as_bytes).collect();
        let unknown: Vec<&[u8]> = by_gates.map(RepoPath::as_bytes).collect();
        [
            CheckFailure::for_names(ReasonCode::EvidenceExemptionUnsealed, unsealed),
            CheckFailure::for_names(ReasonCode::EvidenceDeltaMismatch, unknown),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    fn delta_paths(&self) -> impl Iterator<Item = &RepoPath> {
        self.facts.delta.iter().flatten().map(|change| &change.path)
    }

    /// Each sealed gate has one result, in order, and its status follows from how it ended.
    fn gate_results(&self) -> Vec<CheckFailure> {
        let gates = &self.sealed().plan.gates;
        let results = &self.facts.gate_results;
        let is_each_once = gates.len() == results.len()
            && gates.iter().zip(results).all(|(gate, result)| gate.id == result.gate_id);
        if !is_each_once {
            let detail = "the results are not those of the sealed gates, one each and in order";
            return vec![CheckFailure::new(ReasonCode::EvidenceGateMismatch, detail)];
        }
        let is_contradictory = |(index, result): &(usize, &crate::GateResult)| {
            let has_trouble = || {
                let start = format!("gate `{}`: ", result.gate_id);
                self.all_findings().any(|found| found.text().starts_with(&start))
            };
            let logs = ["stdout", "stderr"].map(|it| crate::log_path(index + 1, &result.gate_id, it));
            let has_logs = result.log_paths == logs;
            !match (result.status, result.exit_code) {
                (GateStatus::Pass, Some(0)) => has_logs,
                (GateStatus::Fail, Some(0)) => has_trouble(),
                (GateStatus::Fail, _) => has_logs || result.log_paths.is_empty(),
                (GateStatus::Skip, None) => result.log_paths.is_empty() && result.duration_ms == 0,
                (GateStatus::Pass | GateStatus::Skip, _) => false,
            }
        };
        let wrong = results.iter().enumerate().filter(is_contradictory);
        let wrong: Vec<&[u8]> = wrong.map(|(_, result)| result.gate_id.as_bytes()).collect();
        CheckFailure::for_names(ReasonCode::EvidenceGateMismatch, wrong).into_iter().collect()
    }

    /// Amendments are complete, in order of time, and of a kind that the seal allows.
    fn amendments(&self) -> Vec<CheckFailure> {
        let (amendments, rule) = (&self.facts.amendments, self.sealed().amend);
        let is_again = self.facts.details.amended_from.is_some();
        let fault = |detail: &str| CheckFailure::new(ReasonCode::EvidenceAmendmentInvalid, detail);
        let mut faults = Vec::new();
        let is_whole = |it: &Amendment| {
            let again = Amendment::new(it.add.clone(), &it.by, &it.why, &it.at);
            is_rfc3339(&it.at) && again.as_ref() == Ok(it)
        };
        if !amendments.iter().all(is_whole) {
            faults.push(fault("one is not complete: patterns, author, reason in words, time"));
        }
        if !amendments.is_sorted_by_key(|it| &it.at) {
            faults.push(fault("they are not in the order of their times"));
        }
        let is_refused = self.all_findings().any(|found| found.code.starts_with("AMEND."));
        let may_grow = match (rule.during, rule.after) {
            (AmendPermission::Allow, _) => true,
            (AmendPermission::Deny, AmendPermission::Allow) => is_again,
            (AmendPermission::Deny, AmendPermission::Deny) => false,
        };
        if !amendments.is_empty() && !may_grow {
            faults.push(fault("the sealed policy allows none"));
        }
        if is_again && !is_refused && (amendments.is_empty() || rule.after == AmendPermission::Deny) {
            faults.push(fault("the run was judged again without an amendment that the seal allows"));
        }
        faults
    }

    /// What landed is in the scope or exempt, and only a bundle that passed lands something; what waits is exactly what
    /// the run changed.
    fn landing(&self) -> Vec<CheckFailure> {
        let details = &self.facts.details;
        let fault = |detail: &str| vec![CheckFailure::new(ReasonCode::EvidenceLandingMismatch, detail)];
        let is_view = self.sealed().enforcement == EnforcementLevel::Overlay && details.reverts.is_none();
        let is_judged = self.facts.delta.is_some() && details.pruned.is_none();
        let Some(record) = &details.landing else {
            let is_missing = details.lands.is_some() || (is_view && is_judged);
            return if is_missing { fault("nothing tells what became of the changes") } else { Vec::new() };
        };
        let has_landed = record.state == LandingState::Landed;
        if has_landed && (details.lands.is_none() || self.facts.status() == RunStatus::Fail) {
            return fault("only a bundle that names its run and passed lands something");
        }
        let known: BTreeSet<&RepoPath> = self.delta_paths().chain(&self.facts.exempt_delta_paths).collect();
        let listed: BTreeSet<&RepoPath> = record.paths.iter().collect();
        let wrong: Vec<&RepoPath> = if details.lands.is_none() {
            known.symmetric_difference(&listed).copied().collect()
        } else if has_landed {
            let scope =
                crate::amended_scope(&self.facts.plan.scope, &self.facts.amendments).unwrap_or_default();
            let exempt = SealedExemptions::of(self);
            let may_land = |path: &RepoPath| {
                scope.contains(path) || exempt.as_ref().is_ok_and(|exempt| exempt.covers(path))
            };
            let unlisted = self.delta_paths().filter(|path| !listed.contains(path));
            listed.iter().copied().filter(|path| !may_land(path)).chain(unlisted).collect()
        } else {
            self.delta_paths().collect()
        };
        let wrong = wrong.into_iter().map(RepoPath::as_bytes);
        CheckFailure::for_names(ReasonCode::EvidenceLandingMismatch, wrong).into_iter().collect()
    }

    fn all_findings(&self) -> impl Iterator<Item = &ManifestFinding> {
        let details = &self.facts.details;
        details.unsafe_entries.iter().chain(&details.protected).chain(&details.findings)
    }

    /// Findings that fail a run are its reasons, and only what may be a note is one.
    fn findings(&self) -> Vec<CheckFailure> {
        let details = &self.facts.details;
        let mut wrong: BTreeSet<String> = BTreeSet::new();
        let family = |code: &str| code.split('.').next().unwrap_or_default().to_owned();
        let lists = [("UNSAFE", &details.unsafe_entries), ("PROTECTED", &details.protected)];
        for (name, list) in lists {
            wrong.extend(list.iter().filter(|it| family(&it.code) != name).map(|it| it.code.clone()));
        }
        let strays =
            details.findings.iter().filter(|it| lists.iter().any(|(name, _)| family(&it.code) == *name));
        wrong.extend(strays.map(|it| it.code.clone()));
        let notes = NoteRules::of(self);
        let false_notes = self.all_findings().filter(|it| it.is_note() && !notes.allow(it));
        wrong.extend(false_notes.map(|it| it.code.clone()));
        let facts = Manifest { other_reasons: Vec::new(), ..self.facts.clone() };
        let following = facts.reasons().into_iter().map(|reason| reason.as_str().to_owned());
        let errors = self.all_findings().filter(|it| !it.is_note()).map(|it| it.code.clone());
        let expected: BTreeSet<String> = following.chain(errors).collect();
        let recorded = self.facts.other_reasons.iter().map(|reason| reason.as_str().to_owned()).collect();
        wrong.extend(expected.symmetric_difference(&recorded).cloned());
        let names = wrong.iter().map(String::as_bytes);
        let mut faults: Vec<CheckFailure> =
            CheckFailure::for_names(ReasonCode::EvidenceFindingMismatch, names).into_iter().collect();
        faults.extend(self.untold(&notes).map(|what| {
            CheckFailure::new(ReasonCode::EvidenceFindingMismatch, &format!("no finding tells of {what}"))
        }));
        faults
    }

    /// Returns what the facts show and no finding tells.
    fn untold(&self, notes: &NoteRules) -> impl Iterator<Item = String> {
        let (facts, details) = (&self.facts, &self.facts.details);
        let told = |code: ReasonCode| -> BTreeSet<&RepoPath> {
            let of_code = self.all_findings().filter(move |it| it.code == code.as_str());
            of_code.filter_map(|it| it.path.as_ref()).collect()
        };
        let is_own_run = details.reverts.is_none() && details.pruned.is_none() && details.lands.is_none();
        let mut untold = Vec::new();
        let untracked = facts.untracked().unwrap_or_default();
        let untracked: BTreeSet<&RepoPath> = untracked.iter().collect();
        // A run that is judged again derives them from the facts; one of Probity's own lists what it could not do instead.
        if is_own_run && details.amended_from.is_none() && told(ReasonCode::ReconUntrackedDelta) != untracked
        {
            untold.push("exactly the paths outside the scope".to_owned());
        }
        let protected = told(ReasonCode::ProtectedChanged);
        let mut changed = self.delta_paths().chain(&facts.exempt_delta_paths);
        if is_own_run && changed.any(|path| notes.protected.contains(path) && !protected.contains(path)) {
            untold.push("a changed path that the seal protects".to_owned());
        }
        let is_refs_protected = self.sealed().refs == RefsRule::Protect;
        let mut own_refs = details.refs.iter().filter(|change| change.repository.is_none());
        if is_refs_protected
            && own_refs.next().is_some()
            && details.protected.iter().all(ManifestFinding::is_note)
        {
            untold.push("a moved reference, which the seal protects".to_owned());
        }
        let ended_well = details.command.as_ref().is_some_and(|command| command.exit_code == Some(0));
        if facts.status() == RunStatus::Pass && !ended_well {
            untold.push("a command that did not end with exit code 0".to_owned());
        }
        untold.into_iter()
    }

    /// Everything that follows from the facts is recorded as it follows.
    fn derived(&self) -> Vec<CheckFailure> {
        let fault = |detail: &str| CheckFailure::new(ReasonCode::EvidenceDerivedMismatch, detail);
        let key_id = self.stored.key_id.clone();
        let is_signed = !self.value["signature"].is_null();
        if key_id.is_some() != is_signed {
            return vec![fault("`key_id` and `signature` do not belong together")];
        }
        let Ok(artifacts) = Vec::<manifest_v1::ManifestArtifact>::deserialize(&self.value["artifact_hashes"])
        else {
            return vec![fault("`artifact_hashes`")];
        };
        if !artifacts.is_sorted_by(|one, next| one.path < next.path) {
            return vec![fault("`artifact_hashes` is not sorted, or names a file twice")];
        }
        let mut again = self.facts.to_json(artifacts, self.stored.prev_run_hash, key_id);
        for outside_of_the_hash in ["run_hash", "signature"] {
            again[outside_of_the_hash] = self.value[outside_of_the_hash].clone();
        }
        match manifest_v1::contains(self.value, &again) {
            Ok(()) => Vec::new(),
            Err(place) => vec![fault(&format!("`{place}` does not follow from the other facts"))],
        }
    }

    /// The page for people says what the manifest says.
    fn summary_page(&self) -> Vec<CheckFailure> {
        let agrees = summary::is_page_of(&self.facts, self.summary);
        failure_unless(agrees, ReasonCode::EvidenceSummaryMismatch, "")
    }
}

/// Reads a part that must exist exactly if the manifest has its counterpart.
fn document<D: BundleDocument>(
    name: &str,
    bytes: Option<&[u8]>,
    is_expected: bool,
) -> Result<Option<D>, CheckFailure> {
    match (bytes, is_expected) {
        (None, false) => Ok(None),
        (Some(bytes), true) => D::parse(bytes)
            .map(Some)
            .map_err(|why| CheckFailure::new(ReasonCode::EvidenceSchemaInvalid, &format!("`{name}`: {why}"))),
        (None, true) => Err(CheckFailure::new(ReasonCode::EvidencePartMissing, &format!("`{name}`"))),
        (Some(_), false) => {
            let detail = format!("`{name}` is there, and the manifest knows nothing of it");
            Err(CheckFailure::new(ReasonCode::EvidenceDeltaMismatch, &detail))
        }
    }
}

/// What the seal lets a build or a gate write.
struct SealedExemptions<'a> {
    parts: &'a BundleParts<'a>,
    build_outputs: Scope,
    gate_outputs: Vec<Scope>,
}

impl<'a> SealedExemptions<'a> {
    fn of(parts: &'a BundleParts<'a>) -> Result<Self, probity_paths::PatternError> {
        let sealed = parts.sealed();
        let gate_outputs = sealed.gate_settings.values().map(|gate| gate.outputs.to_scope());
        Ok(Self {
            parts,
            build_outputs: sealed.build_outputs.to_scope()?,
            gate_outputs: gate_outputs.collect::<Result<_, _>>()?,
        })
    }

    fn covers(&self, path: &RepoPath) -> bool {
        let mut recognized = self.parts.facts.details.recognized_outputs.iter();
        let mut inputs = self.parts.sealed().gate_settings.values().flat_map(|gate| &gate.inputs);
        let is_output = self.build_outputs.contains(path)
            || recognized.any(|output| path.is_covered_by(output.path.as_bytes()));
        // What a gate executes is never a build output, or an agent could change it unseen.
        (is_output && !inputs.any(|input| input.is_covered_by(path.as_bytes())))
            || self.gate_outputs.iter().any(|outputs| outputs.contains(path))
    }
}

/// Which findings may be notes, which fail nothing.
struct NoteRules {
    protected: Scope,
    grants: Scope,
    /// How the findings of required gates begin.
    required_gates: Vec<String>,
    changed: BTreeSet<RepoPath>,
}

/// Findings that always fail a run.
const NEVER_NOTES: [ReasonCode; 8] = [
    ReasonCode::ReconUntrackedDelta,
    ReasonCode::ReconOutsideRoot,
    ReasonCode::ReconSnapshotMissing,
    ReasonCode::RunCommandFailed,
    ReasonCode::RunCommandNotStarted,
    ReasonCode::RunCancelled,
    ReasonCode::RunInterrupted,
    ReasonCode::GateMissing,
];

impl NoteRules {
    fn of(parts: &BundleParts<'_>) -> Self {
        let sealed = parts.sealed();
        // An invalid pattern protects everything and grants nothing.
        let everything = || Scope::parse(&["**"]).unwrap_or_default();
        Self {
            protected: sealed.protected.to_scope().unwrap_or_else(|_| everything()),
            grants: sealed.grants.to_scope().unwrap_or_default(),
            required_gates: sealed.plan.required_gates().map(|id| format!("gate `{id}`: ")).collect(),
            changed: parts.delta_paths().cloned().collect(),
        }
    }

    fn allow(&self, finding: &ManifestFinding) -> bool {
        let code: Option<ReasonCode> = finding.code.parse().ok();
        if code.is_none_or(|code| NEVER_NOTES.contains(&code)) {
            return false;
        }
        let path = finding.path.as_ref();
        if finding.code.starts_with("PROTECTED.") {
            return path.is_some_and(|path| self.grants.contains(path));
        }
        if finding.code.starts_with("UNSAFE.") {
            return path.is_none_or(|path| !self.changed.contains(path));
        }
        !self.required_gates.iter().any(|start| finding.text().starts_with(start))
    }
}

/// Returns whether `text` is a time in UTC as Probity writes it, such as `2026-03-01T10:00:05.123Z`.
fn is_rfc3339(text: &str) -> bool {
    let form: String =
        text.chars().map(|letter| if letter.is_ascii_digit() { '0' } else { letter }).collect();
    matches!(form.as_str(), "0000-00-00T00:00:00Z" | "0000-00-00T00:00:00.000Z")
}
