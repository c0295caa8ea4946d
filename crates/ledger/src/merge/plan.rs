//! Planning a merge: what would happen, what needs a choice, and the transaction that does it.

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

/// What merging a stream would come to.
#[derive(Debug)]
pub struct MergePlan {
    /// What needs a choice, with the choices that were made.
    pub points: Vec<MergePoint>,
    /// Handles of the stream that are called otherwise in the ledger.
    pub renamed: Vec<(String, String)>,
    /// How many proposals are proposed again.
    pub n_proposals: usize,
    /// What the merge of the two streams of commits lost; `None` when the ledger had not moved on.
    pub analysis: Option<MergeAnalysis>,
    /// All commits of the two streams and their merge, each after those that it names.
    pub commits: Vec<Commit>,
    /// The transaction that merges the stream; it may be logged when every point has its choice.
    pub transaction: Vec<u8>,
}

impl MergePlan {
    /// Whether every point has its choice.
    pub fn is_decided(&self) -> bool {
        self.points.iter().all(|point| point.chosen.is_some())
    }
}

/// Why a merge cannot be planned.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    /// The stream does not exist, or its state was not asked for.
    #[error(transparent)]
    Book(#[from] ProjectLedgerError),
    /// A choice is about no point, or not one of its choices.
    #[error("`{choice}` decides nothing: {why}")]
    Choice {
        /// What was chosen.
        choice: String,
        /// Why it decides nothing.
        why: String,
    },
    /// The reconciler refuses what a choice comes to.
    #[error("the choice for {point} is refused: {why}")]
    Refused {
        /// The point.
        point: String,
        /// Why.
        why: &'static str,
    },
    /// The commits do not hang together.
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

/// Plans the merge of a stream whose state the book keeps. `by` is who decides; `choices` name points by their ids.
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

/// The two that are merged.
struct MergeSides<'a> {
    name: &'a str,
    main: &'a Ledger,
    theirs: &'a Ledger,
    base: LedgerSeq,
}

/// The ledger with the stream's proposals proposed to it again.
struct MergeTrial<'a> {
    ledger: Ledger,
    events: Vec<LedgerEvent<'a>>,
    n_proposals: usize,
    /// What was refused: the handle concerned, the kind of delta, its words, the code.
    refused: Vec<(String, &'static str, Option<String>, CandidateVerdict)>,
}

impl<'a> MergeTrial<'a> {
    /// Proposes everything again that had an effect in the stream, except what would end the items in `kept_alive`.
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

    /// What the reconciler refuses, and what contradicts the ledger now.
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

/// Takes the choices; each must be about a point and be one of its choices. A point is named by its id or by as much of
/// it as is unique.
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

/// Whether it was chosen that an item stays in force although the stream ended it.
fn keeps_alive(point: &MergePoint) -> bool {
    point.kind == PointKind::Lost && point.about == "status" && point.chosen.as_deref() == Some("ours")
}

/// What was decided, in words: the source of the deltas that it comes to.
fn decision_text(stream: &str, by: &str, points: &[MergePoint]) -> String {
    let decided = points.iter().filter_map(|point| Some((point, point.chosen.as_ref()?)));
    let lines =
        decided.map(|(point, chosen)| format!("\n{} {} {}: {chosen}", point.kind, point.item, point.about));
    std::iter::once(format!("{by} merged the stream {stream}.")).chain(lines).collect()
}

/// The deltas that the choices come to, with the points that they are for.
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

/// Proposes what was chosen; a choice that the reconciler refuses decides nothing.
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

    /// What the ledger said and the merged ledger does not.
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
        // What the reconciler refused to change still stands, and the refusal is a point of its own.
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

    /// All commits, with the one that makes the commit store say what the ledger says.
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

    /// The merged documents as the reconciled ledger has them. A document cannot be deleted: what is no item of the
    /// ledger is superseded by the one that it was merged into, or by nothing.
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

/// A field in words: texts as they are, absent ones as nothing.
fn field_text(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        Value::Object(members) => members.get("some").and_then(field_text),
        other => Some(other.to_string()),
    }
}
