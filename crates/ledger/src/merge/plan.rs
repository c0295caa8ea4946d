//! Plans a merge: its effect, the points that need a choice, and the transaction that performs it.

use super::handle_renames::HandleRenames;
use super::points::{MergePoint, PointKind};
use crate::candidate::DeltaProposal;
use crate::documents::{
    self, ALIAS_ATTACHMENT, ITEM_ATTACHMENT, base_commit, documents_at, named_commits, stamp,
};
use crate::extract::Role;
use crate::item_record::{ItemId, LedgerSeq};
use crate::ledger::Ledger;
use crate::outcome::{CandidateVerdict, MergeCode};
use crate::project_ledger::{ProjectLedger, ProjectLedgerError};
use crate::reconcile::BatchMode;
use crate::vocabulary::ItemKind;
use crate::wire::{self, LedgerEvent};
use probity_documents::{
    AnalyzeError, AppendError, Commit, CommitId, CommitState, DocumentEngine, DocumentSchema, HistoryError,
    LocusReading, MemoryCommits, MergeAnalysis, MergeAnalyzer, MergeConflict, MergeSide, diff,
};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug)]
pub struct MergePlan {
    /// The points that need a choice, with the choices made so far.
    pub points: Vec<MergePoint>,
    /// Renamed handles: in the stream, and in the ledger.
    pub renamed: Vec<(String, String)>,
    /// The number of proposals that are proposed again.
    pub n_proposals: usize,
    /// The losses of the merge of the two streams of commits; `None` if the ledger had not moved on.
    pub analysis: Option<MergeAnalysis>,
    /// All commits of the two streams and their merge, parents first.
    pub commits: Vec<Commit>,
    /// The transaction that merges the stream; it may be logged once every point has its choice.
    pub transaction: Vec<u8>,
}

impl MergePlan {
    pub fn is_decided(&self) -> bool {
        self.points.iter().all(|point| point.chosen.is_some())
    }
}

#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    /// The stream does not exist, or its state was not loaded.
    #[error(transparent)]
    Book(#[from] ProjectLedgerError),
    /// A choice that matches no point, or is not one of that point's choices.
    #[error("`{choice}` decides nothing: {why}")]
    Choice { choice: String, why: String },
    /// The reconciler refuses the delta of a choice.
    #[error("the choice for {point} is refused: {why}")]
    Refused { point: String, why: &'static str },
    /// The commits do not form a valid history.
    #[error(transparent)]
    Commits(#[from] AnalyzeError),
}

impl From<AppendError> for MergeError {
    fn from(error: AppendError) -> Self {
        Self::Commits(error.into())
    }
}

impl From<HistoryError> for MergeError {
    fn from(error: HistoryError) -> Self {
        Self::Commits(error.into())
    }
}

/// Plans the merge of a stream whose state the project ledger keeps. `by` makes the decisions; `choices` are keyed by
/// point id.
pub fn plan(
    book: &ProjectLedger,
    name: &str,
    by: &str,
    choices: &BTreeMap<String, String>,
) -> Result<MergePlan, MergeError> {
    let no_stream = || ProjectLedgerError::NoStream(name.to_owned());
    let stream = book.streams().get(name).ok_or_else(no_stream)?;
    let theirs = stream.ledger().ok_or_else(no_stream)?;
    let sides = MergeSides { name, main: book.main(), theirs, base: stream.base };
    let renaming = HandleRenames::collect(sides.main, theirs, sides.base, name);
    let batches = stream.batches.iter().map(|batch| wire::decode(batch).map_err(ProjectLedgerError::from));
    let batches: Vec<LedgerEvent<'_>> =
        batches.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect();
    let mut trial = MergeTrial::run(sides.main, &batches, &renaming, &BTreeSet::new())?;
    let streams = CommitStreams::build(&sides, &renaming, by)?;
    let mut points = trial.points(&sides);
    points.extend(streams.lost_points(&sides, &trial.ledger));
    apply_choices(&mut points, choices)?;
    let kept_alive: BTreeSet<&str> =
        points.iter().filter(|point| keeps_alive(point)).map(|it| &*it.item).collect();
    if !kept_alive.is_empty() {
        trial = MergeTrial::run(sides.main, &batches, &renaming, &kept_alive)?;
    }
    let turn = format!("merge:{name}:{}", sides.main.head());
    let said = decision_text(name, by, &points);
    let deltas = resolutions(&trial.ledger, &points, &turn);
    let resolved = resolve(&mut trial.ledger, by, &turn, &deltas)?;
    let mut events = vec![LedgerEvent::Turn { id: &turn, role: Role::User, text: &said, pending: false }];
    events.extend(trial.events);
    events.extend(resolved);
    events.push(LedgerEvent::Merged { stream: name });
    Ok(MergePlan {
        n_proposals: trial.n_proposals,
        transaction: wire::encode(&events),
        renamed: renaming.list().map(|(from, to)| (from.to_owned(), to.to_owned())).collect(),
        commits: streams.surviving_commits(&sides, &trial.ledger, by)?,
        analysis: streams.analysis,
        points,
    })
}

struct MergeSides<'a> {
    name: &'a str,
    main: &'a Ledger,
    theirs: &'a Ledger,
    base: LedgerSeq,
}

/// The ledger after the stream's proposals were proposed to it again.
struct MergeTrial<'a> {
    ledger: Ledger,
    events: Vec<LedgerEvent<'a>>,
    n_proposals: usize,
    /// Refusals: the handle, the kind of delta, its text, and the verdict.
    refused: Vec<(String, &'static str, Option<String>, CandidateVerdict)>,
}

impl<'a> MergeTrial<'a> {
    /// Proposes again everything that took effect in the stream, except deltas that would end the items in
    /// `kept_alive`.
    fn run(
        main: &Ledger,
        batches: &'a [LedgerEvent<'a>],
        renaming: &'a HandleRenames,
        kept_alive: &BTreeSet<&str>,
    ) -> Result<Self, MergeError> {
        let mut trial =
            Self { ledger: main.clone(), events: Vec::new(), n_proposals: 0, refused: Vec::new() };
        for batch in batches {
            if let LedgerEvent::Batch { author, proposals, verdicts, .. } = batch {
                let effective = proposals.iter().zip(verdicts).filter(|(_, verdict)| {
                    verdict.took_effect() && **verdict != CandidateVerdict::Merged(MergeCode::Redelivered)
                });
                let again = effective.map(|(proposal, _)| renaming.proposal(proposal.clone()));
                let again = again
                    .filter(|proposal| !proposal.ended_item().is_some_and(|item| kept_alive.contains(item)));
                trial.propose(author, again.collect())?;
            }
        }
        Ok(trial)
    }

    fn propose(&mut self, author: &'a str, proposals: Vec<DeltaProposal<'a>>) -> Result<(), MergeError> {
        let mode = BatchMode::BestEffort;
        let outcomes = self.ledger.reconcile(author, mode, &proposals).map_err(ProjectLedgerError::from)?;
        let verdicts: Vec<_> = outcomes.iter().map(|outcome| outcome.verdict).collect();
        for (proposal, &verdict) in
            proposals.iter().zip(&verdicts).filter(|(_, verdict)| !verdict.took_effect())
        {
            let kind = proposal.kind.map_or("", |kind| kind.as_str());
            self.refused.push((
                proposal.subject_handle().to_owned(),
                kind,
                proposal.main_text().map(str::to_owned),
                verdict,
            ));
        }
        self.n_proposals += proposals.len();
        self.events.push(LedgerEvent::Batch { stream: None, author, mode, proposals, verdicts });
        Ok(())
    }

    /// Returns the refusals and the new contradictions.
    fn points(&self, sides: &MergeSides<'_>) -> Vec<MergePoint> {
        let refused = self.refused.iter().map(|(item, kind, words, verdict)| {
            let ours = self.ledger.find_by_handle(item).map(|item| self.ledger.summary(item).to_owned());
            let mut point =
                MergePoint::new(sides.name, PointKind::Refused, item, kind, [ours, words.clone()], &["drop"]);
            point.code = verdict.code();
            point
        });
        let is_new = |conflict: &&crate::conflicts::ItemConflict| conflict.raised > sides.main.head();
        let contradictions = self.ledger.open_conflicts().filter(is_new).map(|conflict| {
            let [ours, theirs] = [conflict.older, conflict.newer].map(|item| self.ledger.handle(item));
            let said =
                [conflict.older, conflict.newer].map(|item| Some(self.ledger.summary(item).to_owned()));
            MergePoint::new(sides.name, PointKind::Contradiction, ours, theirs, said, &[ours, theirs, "both"])
        });
        refused.chain(contradictions).collect()
    }
}

/// Records the choices; each must match a point and be one of its choices. A point is named by its id or a unique
/// prefix of it.
fn apply_choices(points: &mut [MergePoint], choices: &BTreeMap<String, String>) -> Result<(), MergeError> {
    for (id, choice) in choices {
        let wrong = |why: String| MergeError::Choice { choice: format!("{id}={choice}"), why };
        let mut named = points.iter_mut().filter(|point| point.id.starts_with(id.as_str()) && !id.is_empty());
        let (Some(point), None) = (named.next(), named.next()) else {
            return Err(wrong(format!("`{id}` names no point, or several")));
        };
        if !point.choices.contains(choice) {
            return Err(wrong(format!("the choices are {}", point.choices.join(", "))));
        }
        point.chosen = Some(choice.clone());
    }
    Ok(())
}

/// Returns whether the choice keeps an item in force that the stream ended.
fn keeps_alive(point: &MergePoint) -> bool {
    point.kind == PointKind::Lost && point.about == "status" && point.chosen.as_deref() == Some("ours")
}

/// Describes the choices as text: the turn that the resulting deltas cite.
fn decision_text(stream: &str, by: &str, points: &[MergePoint]) -> String {
    let decided = points.iter().filter_map(|point| Some((point, point.chosen.as_ref()?)));
    let lines =
        decided.map(|(point, chosen)| format!("\n{} {} {}: {chosen}", point.kind, point.item, point.about));
    std::iter::once(format!("{by} merged the stream {stream}.")).chain(lines).collect()
}

/// Returns the deltas that carry out the choices, each with its point.
fn resolutions(ledger: &Ledger, points: &[MergePoint], turn: &str) -> Vec<(String, Value)> {
    let decided = points.iter().filter_map(|point| Some((point, point.chosen.as_deref()?)));
    let deltas = decided.filter_map(|(point, chosen)| {
        let mut delta = match (point.kind, point.about.as_str(), chosen) {
            (PointKind::Lost, "summary", "ours") => reword(ledger, point)?,
            (PointKind::Lost, "confidence", "ours") => {
                json!({ "kind": "confidence_changed", "target": point.item, "confidence": point.ours })
            }
            (PointKind::Contradiction, other, kept) if kept != "both" => {
                let ended = if kept == other { &point.item } else { other };
                let reason = format!("it contradicts {kept}");
                json!({ "kind": "item_superseded", "target": ended, "reason": reason, "by": kept })
            }
            _ => return None,
        };
        delta["sources"] = json!([{ "turn": turn }]);
        Some((point.id.clone(), delta))
    });
    deltas.collect()
}

fn reword(ledger: &Ledger, point: &MergePoint) -> Option<Value> {
    let kind = match ledger.record(ledger.find_by_handle(&point.item)?).kind {
        ItemKind::Decision => "decision_revised",
        ItemKind::Constraint => "constraint_revised",
        _ => return None,
    };
    Some(json!({ "kind": kind, "target": point.item, "summary": point.ours }))
}

/// Proposes the deltas of the choices; a refusal fails the merge.
fn resolve<'d>(
    ledger: &mut Ledger,
    by: &'d str,
    turn: &str,
    deltas: &'d [(String, Value)],
) -> Result<Option<LedgerEvent<'d>>, MergeError> {
    ledger.add_turn(turn);
    if deltas.is_empty() {
        return Ok(None);
    }
    let proposals: Vec<_> = deltas.iter().map(|(_, delta)| DeltaProposal::read(delta)).collect();
    let mode = BatchMode::BestEffort;
    let outcomes = ledger.reconcile(by, mode, &proposals).map_err(ProjectLedgerError::from)?;
    let verdicts: Vec<_> = outcomes.iter().map(|outcome| outcome.verdict).collect();
    for ((point, _), verdict) in deltas.iter().zip(&verdicts) {
        if let CandidateVerdict::Rejected(code) = verdict {
            return Err(MergeError::Refused { point: point.clone(), why: code.meaning() });
        }
    }
    Ok(Some(LedgerEvent::Batch { stream: None, author: by, mode, proposals, verdicts }))
}

/// The two streams as commits, and their merge.
struct CommitStreams {
    schema: DocumentSchema,
    store: MemoryCommits,
    /// The merge, or the end of the only stream that has commits.
    head: CommitId,
    analysis: Option<MergeAnalysis>,
}

impl CommitStreams {
    fn build(sides: &MergeSides<'_>, renaming: &HandleRenames, by: &str) -> Result<Self, MergeError> {
        let schema = documents::schema();
        let mut store = MemoryCommits::new();
        let old: BTreeSet<ItemId> = [sides.main, sides.theirs]
            .into_iter()
            .flat_map(|ledger| ledger.touched_between(sides.base, ledger.head()))
            .filter(|item| sides.main.items.get(item.at()).is_some_and(|record| record.created <= sides.base))
            .collect();
        let state = documents_at(&schema, sides.main, &old, sides.base, &str::to_owned);
        let base = store.append(base_commit(&schema, &state, sides.base))?;
        let naming = |handle: &str| renaming.name(handle).to_owned();
        let mut heads = [base; 2];
        let streams = [
            named_commits(&schema, sides.main, sides.base, base, "main", &str::to_owned),
            named_commits(&schema, sides.theirs, sides.base, base, sides.name, &naming),
        ];
        for (head, commits) in heads.iter_mut().zip(streams) {
            for commit in commits {
                *head = store.append(commit)?;
            }
        }
        let [ours, theirs] = heads;
        if ours == base || theirs == base {
            let head = if ours == base { theirs } else { ours };
            return Ok(Self { schema, store, head, analysis: None });
        }
        let label = format!("merge {}", sides.name);
        let head = store.append(Commit::merge(ours, theirs, stamp(by, &label, sides.main.head())))?;
        let analysis = MergeAnalyzer::new(&schema, &store).analyze_merge(&head)?;
        Ok(Self { schema, store, head, analysis: Some(analysis) })
    }

    /// Returns the statements of the ledger that the merged ledger no longer makes.
    fn lost_points(&self, sides: &MergeSides<'_>, trial: &Ledger) -> Vec<MergePoint> {
        let conflicts = self.analysis.iter().flat_map(MergeAnalysis::conflicts);
        conflicts.filter_map(|conflict| self.lost_at(sides, trial, conflict)).collect()
    }

    fn lost_at(
        &self,
        sides: &MergeSides<'_>,
        trial: &Ledger,
        conflict: &MergeConflict,
    ) -> Option<MergePoint> {
        if *conflict.attachment != *ITEM_ATTACHMENT || !conflict.lost.contains(&MergeSide::Ours) {
            return None;
        }
        let field = conflict.path.get(0)?.get("field")?.as_str()?;
        let item = trial.find_by_handle(&conflict.key)?;
        let served = documents_at(&self.schema, trial, &BTreeSet::from([item]), trial.head(), &str::to_owned);
        let served = served.to_json(&self.schema);
        // A change that the reconciler refused was not made, and the refusal is a point already.
        let ours = text_of(&conflict.ours);
        let stands = field_text(&served[ITEM_ATTACHMENT][&*conflict.key][field]);
        if stands == ours {
            return None;
        }
        let can_be_kept = match field {
            "summary" => matches!(trial.record(item).kind, ItemKind::Decision | ItemKind::Constraint),
            "confidence" | "status" => true,
            _ => false,
        };
        let choices: &[&str] = if can_be_kept { &["ours", "theirs"] } else { &["theirs"] };
        Some(MergePoint::new(sides.name, PointKind::Lost, &conflict.key, field, [ours, stands], choices))
    }

    /// Returns all commits, including the one that makes the commit store agree with the ledger.
    fn surviving_commits(
        &self,
        sides: &MergeSides<'_>,
        trial: &Ledger,
        by: &str,
    ) -> Result<Vec<Commit>, MergeError> {
        let merged = DocumentEngine::new(&self.store).state(&self.head)?;
        let decided = self.decided_state(sides, trial, &merged);
        let ops = diff(&merged, &decided);
        let mut commits: Vec<Commit> = self.store.iter().cloned().collect();
        if !ops.is_empty() {
            let label = format!("survival {}", sides.name);
            let stamp = stamp(by, &label, trial.head());
            commits.push(Commit::mutations(&self.schema, Some(self.head), ops, stamp));
        }
        Ok(commits)
    }

    /// Returns the merged documents as the reconciled ledger has them. A document cannot be deleted, so one that is not
    /// an item of the ledger is superseded by the item it was merged into, or by nothing.
    fn decided_state(&self, sides: &MergeSides<'_>, trial: &Ledger, merged: &CommitState) -> CommitState {
        let mut json = merged.to_json(&self.schema);
        let named = merged.documents().filter_map(|(id, _)| trial.find_by_handle(&id.key));
        let items: BTreeSet<ItemId> =
            named.chain(trial.touched_between(sides.main.head(), trial.head())).collect();
        let served =
            documents_at(&self.schema, trial, &items, trial.head(), &str::to_owned).to_json(&self.schema);
        for (key, document) in
            json.get_mut(ITEM_ATTACHMENT).and_then(Value::as_object_mut).into_iter().flatten()
        {
            if served[ITEM_ATTACHMENT].get(key).is_none() {
                let into =
                    served[ALIAS_ATTACHMENT].get(key).map_or(Value::Null, |into| json!({ "some": into }));
                document["status"] = "superseded".into();
                document["superseded_by"] = into;
            }
        }
        for (attachment, keys) in served.as_object().into_iter().flatten() {
            for (key, document) in keys.as_object().into_iter().flatten() {
                json[attachment.as_str()][key.as_str()] = document.clone();
            }
        }
        CommitState::from_json(&self.schema, &json).expect("documents are made by the schema's own words")
    }
}

fn text_of(reading: &LocusReading) -> Option<String> {
    reading.0.as_ref().and_then(field_text)
}

/// Renders a field as text; `None` if it is absent.
fn field_text(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        Value::Object(members) => members.get("some").and_then(field_text),
        other => Some(other.to_string()),
    }
}
