//! The JSON form of this crate's functions, for conformance vectors of kind `merge`.

use crate::analysis::{AnalyzeError, MergeAnalysis, MergeAnalyzer, MergeConflict};
use crate::commit::{Commit, CommitId, CommitStamp};
use crate::engine::DocumentEngine;
use crate::memory_store::MemoryCommits;
use crate::overlay::CommitOverlay;
use crate::reconcile::{MergeReconciliation, MergeResolution};
use crate::reduce::{TimestampedHead, reduce_heads};
use crate::schema::DocumentSchema;
use probity_core::Digest;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;

/// Answers a vector of kind `merge`.
pub fn merge(given: &Json) -> Result<Json, String> {
    let scenario = MergeScenario::load(given)?;
    let queries = given["queries"].as_array().ok_or("`queries` is no list")?;
    let results: Result<Vec<Json>, String> = queries.iter().map(|query| scenario.answer(query)).collect();
    Ok(json!({ "results": results? }))
}

struct MergeScenario {
    schema: DocumentSchema,
    commits: MemoryCommits,
    ids: BTreeMap<String, CommitId>,
    names: BTreeMap<CommitId, String>,
}

impl MergeScenario {
    fn load(given: &Json) -> Result<Self, String> {
        let schema = DocumentSchema::from_json(&given["schema"]).map_err(|error| error.to_string())?;
        let commits = MemoryCommits::new();
        let mut scenario = Self { schema, commits, ids: BTreeMap::new(), names: BTreeMap::new() };
        for json in given["commits"].as_array().ok_or("`commits` is no list")? {
            scenario.add(json)?;
        }
        Ok(scenario)
    }

    fn add(&mut self, json: &Json) -> Result<(), String> {
        let name = json["name"].as_str().ok_or("a commit has no `name`")?;
        let mut content = json.as_object().cloned().ok_or("a commit is no object")?;
        content.remove("name");
        for edge in ["parent", "target"] {
            if let Some(named) = json[edge].as_str() {
                content.insert(edge.into(), json!(self.id(named)?));
            }
        }
        let commit = Commit::from_json(&self.schema, &Json::Object(content))
            .map_err(|error| format!("commit `{name}`: {error}"))?;
        let id = self.commits.append(commit).map_err(|error| error.to_string())?;
        self.ids.insert(name.to_owned(), id);
        self.names.insert(id, name.to_owned());
        Ok(())
    }

    fn id(&self, name: &str) -> Result<CommitId, String> {
        self.ids.get(name).copied().ok_or_else(|| format!("no commit `{name}`"))
    }

    fn name(&self, id: CommitId) -> &str {
        self.names.get(&id).map_or("", String::as_str)
    }

    fn answer(&self, query: &Json) -> Result<Json, String> {
        let (kind, argument) =
            query.as_object().and_then(|members| members.iter().next()).ok_or("a query is an object")?;
        match kind.as_str() {
            "state" => Ok(json!({ "state": self.state(self.commit_id(argument)?)? })),
            "heads" => Ok(json!({ "heads": self.heads() })),
            "analyze" => self.analyze(self.commit_id(argument)?),
            "reconcile" => self.reconcile(argument),
            "reduce_heads" => self.reduce(),
            other => Err(format!("no query `{other}`")),
        }
    }

    fn commit_id(&self, json: &Json) -> Result<CommitId, String> {
        self.id(json.as_str().ok_or("a commit is named by a text")?)
    }

    fn state(&self, id: CommitId) -> Result<Json, String> {
        let state = DocumentEngine::new(&self.commits).state(&id).map_err(|error| error.to_string())?;
        Ok(state.to_json(&self.schema))
    }

    fn heads(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.commits.heads().into_iter().map(|id| self.name(id)).collect();
        names.sort_unstable();
        names
    }

    fn analyzer(&self) -> MergeAnalyzer<'_, MemoryCommits> {
        MergeAnalyzer::new(&self.schema, &self.commits)
    }

    fn analyze(&self, id: CommitId) -> Result<Json, String> {
        match self.analyzer().analyze_merge(&id) {
            Ok(analysis) => self.analysis(&analysis),
            Err(AnalyzeError::NotAMerge(_)) => Ok(json!({ "error": "not_a_merge" })),
            Err(error) => Err(error.to_string()),
        }
    }

    fn analysis(&self, analysis: &MergeAnalysis) -> Result<Json, String> {
        let conflicts: Result<Vec<Json>, String> =
            analysis.conflicts().iter().map(|conflict| self.conflict(conflict)).collect();
        Ok(json!({
            "base": analysis.base().map(|base| self.name(base)),
            "two_way": analysis.is_two_way(),
            "conflicts": conflicts?,
            "documents": analysis.documents(),
        }))
    }

    /// Returns a conflict with names in place of ids, and without its own id and merge.
    fn conflict(&self, conflict: &MergeConflict) -> Result<Json, String> {
        let mut json = serde_json::to_value(conflict).map_err(|error| error.to_string())?;
        let mut causes: Vec<&str> = conflict.causes.iter().map(|id| self.name(*id)).collect();
        causes.sort_unstable();
        json["causes"] = json!(causes);
        let members = json.as_object_mut().ok_or("a conflict is an object")?;
        members.remove("id");
        members.remove("merge");
        Ok(json)
    }

    fn reconcile(&self, argument: &Json) -> Result<Json, String> {
        let merge = self.commit_id(&argument["merge"])?;
        let list = argument["resolutions"].as_array().ok_or("`resolutions` is no list")?;
        let resolutions: Result<Vec<_>, String> = list.iter().map(|json| self.resolution(json)).collect();
        let stamp = CommitStamp::new("conformance", "survival", 0).map_err(|error| error.to_string())?;
        match self.analyzer().reconcile(&merge, &resolutions?, stamp) {
            Ok(MergeReconciliation { survival: None, .. }) => Ok(json!({ "result": "merge-stands" })),
            Ok(MergeReconciliation { survival: Some(survival), .. }) => {
                let ops: Vec<Json> = survival.ops().iter().map(|op| op.to_json(&self.schema)).collect();
                let mut overlay = CommitOverlay::new(&self.commits);
                let id = overlay.append(survival).map_err(|error| error.to_string())?;
                let state = DocumentEngine::new(&overlay).state(&id).map_err(|error| error.to_string())?;
                Ok(json!({ "result": "survival", "ops": ops, "state": state.to_json(&self.schema) }))
            }
            Err(error) => match error.code() {
                Some(code) => Ok(json!({ "error": code })),
                None => Err(error.to_string()),
            },
        }
    }

    fn resolution(&self, json: &Json) -> Result<MergeResolution, String> {
        let mut json = json.clone();
        if let Some(name) = json["of"].as_str() {
            // A name that no commit has stands for a merge that nobody made: the resolution is refused, not the case.
            let unknown = || CommitId::from(Digest::of(name.as_bytes()));
            json["of"] = json!(self.ids.get(name).copied().unwrap_or_else(unknown));
        }
        serde_json::from_value(json).map_err(|error| error.to_string())
    }

    fn reduce(&self) -> Result<Json, String> {
        let heads = self.commits.heads();
        let stamped: Vec<TimestampedHead> =
            heads.iter().filter_map(|id| self.commits.get(id)).map(TimestampedHead::from).collect();
        let mut overlay = CommitOverlay::new(&self.commits);
        let mut made: BTreeMap<CommitId, String> = BTreeMap::new();
        let mut merges = Vec::new();
        let mut head = heads.first().copied().ok_or("there is no commit")?;
        for (rank, merge) in (1..).zip(reduce_heads(&stamped)) {
            let name = format!("r{rank}");
            let known = |id: Option<CommitId>| {
                id.map(|id| made.get(&id).map_or_else(|| self.name(id), String::as_str))
            };
            merges.push(
                json!({ "name": name, "parent": known(merge.parent()), "target": known(merge.target()) }),
            );
            head = overlay.append(merge).map_err(|error| error.to_string())?;
            made.insert(head, name);
        }
        let state = DocumentEngine::new(&overlay).state(&head).map_err(|error| error.to_string())?;
        let name = made.get(&head).map_or_else(|| self.name(head), String::as_str);
        Ok(json!({ "merges": merges, "head": name, "state": state.to_json(&self.schema) }))
    }
}
