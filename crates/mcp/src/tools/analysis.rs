//! Looking at the code: runs, their differences, and who would notice a change.

use super::{Effect, Tool};
use crate::call::Call;
use canon::Reason;
use control::Fault;
use control::analyze::{AnalyzeOptions, analyze, documents, gates, read_baseline};
use control::runs::Runs;
use paths::RepoPath;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeSet;

/// How many findings an answer lists if nobody asks for more: an agent pays for every line.
const LISTED: usize = 10;

/// How many entries a list within a finding shows.
const SHOWN: usize = 3;

/// The tools of this module.
pub(super) fn tools() -> Vec<Tool> {
    vec![
        Tool::new(
            "analyze_repository",
            Effect::Records,
            "Analyse the tree as it is and keep the run: health, findings, gates. Do it before a start and after the edit.",
            analyze_repository,
        ),
        Tool::new(
            "compare_runs",
            Effect::Reads,
            "What got worse and what better between two stored runs.",
            compare_runs,
        ),
        Tool::new(
            "get_blast_radius",
            Effect::Reads,
            "Who would notice a change of these files: dependents, copies, cycles, symbols in use.",
            blast_radius,
        ),
    ]
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Analyze {
    root: Option<String>,
    /// Findings to list, most severe first [10]
    limit: Option<usize>,
}

fn analyze_repository(call: &Call, Analyze { root, limit }: Analyze) -> Result<Value, Fault> {
    let workspace = call.workspace(root.as_deref())?;
    let analyzed = analyze(&workspace, &AnalyzeOptions::default(), &|progress| call.analysis_step(progress))?;
    let baseline = read_baseline(&workspace, &analyzed.run)?;
    let mut document = documents::analyzed(&analyzed, limit.unwrap_or(LISTED));
    document["findings"].as_array_mut().into_iter().flatten().for_each(shorten);
    document["baseline"] = documents::baseline(&baseline);
    document["gates"] = documents::gates(&gates(&workspace, &analyzed.run, &baseline)?);
    Ok(super::named("analyze", document))
}

/// Cuts the lists of a finding: copies may be found in a hundred places, and the run itself names all of them.
fn shorten(finding: &mut Value) {
    let long: Vec<(String, usize)> = finding
        .as_object()
        .into_iter()
        .flatten()
        .filter_map(|(name, value)| Some((name.clone(), value.as_array()?.len())))
        .filter(|(_, len)| *len > SHOWN)
        .collect();
    for (name, len) in long {
        finding[format!("n_{name}")] = len.into();
        finding[name].as_array_mut().into_iter().for_each(|list| list.truncate(SHOWN));
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Compare {
    root: Option<String>,
    /// Run id or a beginning of it
    before: String,
    /// The same [last]
    after: Option<String>,
}

fn compare_runs(call: &Call, Compare { root, before, after }: Compare) -> Result<Value, Fault> {
    let runs = Runs::open(&call.workspace(root.as_deref())?);
    let differing = runs.load_differing(&before, after.as_deref().unwrap_or("last"))?;
    let (before, after) = (&differing.before.run, &differing.after.run);
    Ok(super::named("runs-compare", documents::comparison(before, after, &differing.compare())))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Blast {
    root: Option<String>,
    files: Vec<String>,
}

fn blast_radius(call: &Call, Blast { root, files }: Blast) -> Result<Value, Fault> {
    let workspace = call.workspace(root.as_deref())?;
    let files: BTreeSet<RepoPath> = files
        .iter()
        .map(|file| RepoPath::parse(file.as_bytes()))
        .collect::<Result<_, _>>()
        .map_err(|error| Fault::refused(Reason::PathInvalid, error.to_string()))?;
    let options = AnalyzeOptions::default();
    let run = analyze(&workspace, &options, &|progress| call.analysis_step(progress))?.run;
    let blast = analysis::blast_radius(&run, &files);
    Ok(super::named("blast-radius", documents::blast(&run, &files, &blast)))
}
