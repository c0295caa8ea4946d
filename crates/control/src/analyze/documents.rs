//! What programs are told about runs: one form for every surface.

use super::{Analyzed, BaselineState, ChangedSince};
use crate::runs::Listed;
use analysis::{Blast, Comparison, Family, Finding, GateReport, Health, Note, Regression, Run, RunFile};
use canon::Digest;
use paths::RepoPath;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// How many files a list of hot spots has.
const HOT_SPOTS: usize = 10;

/// An analysis: the run, and how it was done. At most `limit` findings are listed, the most severe first.
pub fn analyzed(analyzed: &Analyzed, limit: usize) -> Value {
    let mut document = run(&analyzed.run, analyzed.report_digest, limit);
    document["files"]["left_out"] = json!(analyzed.left_out);
    document["files"]["unreadable"] = json!(analyzed.unreadable);
    document["parsed"] = json!(analyzed.n_parsed);
    document["known"] = json!(analyzed.is_known);
    document
}

/// A stored run. At most `limit` findings are listed, the most severe first.
pub fn run(run: &Run, report_digest: Digest, limit: usize) -> Value {
    let (n_analyzed, n_skipped, n_failed) = run.file_counts();
    json!({
        "run_id": run.id.short(),
        "run_digest": run.id,
        "report_digest": report_digest,
        "analyser": run.analyser,
        "health": health(&run.health),
        "n_findings": run.findings.len(),
        "findings_by_family": by_family(run),
        "findings": gravest(run, limit),
        "files": {
            "analyzed": n_analyzed,
            "skipped": n_skipped,
            "failed": n_failed,
            "not_analyzed": not_analyzed(run),
            "noted": noted(run, limit).map(|file| json!({ "path": file.path, "notes": file.notes })).collect::<Vec<_>>(),
        },
        "n_lines": run.files.iter().map(|file| u64::from(file.n_lines)).sum::<u64>(),
        "languages": languages(run),
        "hot_spots": hot_spots(run).into_iter().map(hot_spot).collect::<Vec<_>>(),
        "joined": run.joined,
    })
}

/// Health with its dimensions, in points from 0 to 100 and in thousandths; `null` if nothing was analyzed.
pub fn health(health: &Health) -> Value {
    let dimensions: BTreeMap<String, Value> = health
        .dimensions
        .iter()
        .map(|part| (word(&part.dimension), json!(part.score_milli / 1000)))
        .collect();
    json!({
        "score": health.score(),
        "score_milli": health.known_milli(),
        "grade": health.grade().map(String::from),
        "dimensions": dimensions,
    })
}

/// The word of a value that is one word.
fn word(value: &impl serde::Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|word| word.as_str().map(str::to_owned)).unwrap_or_default()
}

/// How many findings each family has; families without findings are named with 0.
pub fn by_family(run: &Run) -> BTreeMap<&'static str, usize> {
    let mut counts: BTreeMap<&'static str, usize> =
        Family::ALL.iter().map(|family| (family.as_str(), 0)).collect();
    for finding in &run.findings {
        *counts.entry(finding.family.as_str()).or_default() += 1;
    }
    counts
}

/// The most severe findings first, those of equal weight in the order of the run.
pub fn gravest(run: &Run, limit: usize) -> Vec<&Finding> {
    let mut findings: Vec<&Finding> = run.findings.iter().collect();
    findings.sort_by_key(|finding| {
        (std::cmp::Reverse(finding.severity), std::cmp::Reverse(finding.value.unwrap_or(0)))
    });
    findings.truncate(limit);
    findings
}

/// How many files were not analysed, by reason.
pub fn not_analyzed(run: &Run) -> BTreeMap<&'static str, usize> {
    let mut counts = BTreeMap::new();
    for file in run.files.iter().filter(|file| !file.is_analysed()) {
        *counts.entry(file.notes.first().map_or("empty", |note| note.as_str())).or_default() += 1;
    }
    counts
}

/// Files that were not read, or not as they are, with what was noted; at most `limit`, in order of their paths.
pub fn noted(run: &Run, limit: usize) -> impl Iterator<Item = &RunFile> {
    run.files.iter().filter(|file| !file.notes.is_empty()).take(limit)
}

/// The extensions of files whose language is not read, with their number.
pub fn unread_extensions(run: &Run) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for file in run.files.iter().filter(|file| file.notes.contains(&Note::UnknownLanguage)) {
        let name = String::from_utf8_lossy(file.path.file_name()).into_owned();
        let extension = name.rsplit_once('.').map_or(name.as_str(), |(_, extension)| extension);
        *counts.entry(extension.to_owned()).or_default() += 1;
    }
    counts
}

fn languages(run: &Run) -> BTreeMap<&'static str, usize> {
    let mut counts = BTreeMap::new();
    for file in run.files.iter().filter(|file| file.is_analysed()) {
        *counts.entry(file.language.map_or("", |language| language.name())).or_default() += 1;
    }
    counts
}

/// The files whose health is worst, with the number of their findings; tests come last, because nobody depends on them.
pub fn hot_spots(run: &Run) -> Vec<(&RunFile, usize)> {
    let mut n_findings: BTreeMap<&RepoPath, usize> = BTreeMap::new();
    for finding in &run.findings {
        let paths: BTreeSet<&RepoPath> = finding.locations.iter().map(|place| &place.path).collect();
        for path in paths {
            *n_findings.entry(path).or_default() += 1;
        }
    }
    let mut files: Vec<(&RunFile, usize)> = run
        .files
        .iter()
        .filter(|file| file.health_milli.is_some_and(|health| health < 100_000))
        .map(|file| (file, n_findings.get(&file.path).copied().unwrap_or(0)))
        .collect();
    files.sort_by_key(|(file, n_findings)| {
        (analysis::is_test_path(&file.path), file.health_milli, std::cmp::Reverse(*n_findings))
    });
    files.truncate(HOT_SPOTS);
    files
}

fn hot_spot((file, n_findings): (&RunFile, usize)) -> Value {
    json!({
        "path": file.path,
        "health": file.health_milli.map(|milli| milli / 1000),
        "n_lines": file.n_lines,
        "n_findings": n_findings,
    })
}

/// Two runs compared.
pub fn comparison(before: &Run, after: &Run, comparison: &Comparison) -> Value {
    let side =
        |run: &Run| json!({ "run_id": run.id.short(), "run_digest": run.id, "health": run.health.score() });
    let improvements: Vec<_> = comparison.improvements.iter().map(|finding| &finding.id).collect();
    let regressions: Vec<_> = comparison.regressions.iter().map(|new| &new.finding.id).collect();
    json!({
        "before": side(before),
        "after": side(after),
        "verdict": comparison.verdict,
        "incomparable_because": comparison.incomparable_because,
        "same_run": comparison.same_run,
        "health_delta": comparison.health_delta,
        "health_delta_milli": comparison.health_delta_milli,
        "regressions": regressions,
        "improvements": improvements,
        "unchanged": comparison.unchanged,
        "renamed": comparison.renamed,
        "regression_findings": comparison.regressions.iter().map(regression).collect::<Vec<_>>(),
        "improvement_findings": comparison.improvements,
        "worsened_symbols": comparison.worsened,
        "api_breaks": comparison.api_breaks,
    })
}

fn regression(new: &Regression) -> Value {
    let mut finding = json!(new.finding);
    finding["caused_in"] = json!(new.caused_in);
    finding
}

/// What changed since a revision.
pub fn changed_since(since: &ChangedSince, after: &Run) -> Value {
    let mut document = comparison(&since.before.run, after, &since.comparison);
    document["revision"] = json!(since.revision);
    document["changed_files"] = json!(since.changed);
    document
}

/// Who would notice a change.
pub fn blast(run: &Run, paths: &BTreeSet<RepoPath>, blast: &Blast) -> Value {
    json!({
        "run_id": run.id.short(),
        "paths": paths,
        "direct_dependents": blast.direct,
        "transitive_dependents": blast.transitive,
        "clone_siblings": blast.clone_siblings,
        "cycles": blast.cycles,
        "symbols": blast.symbols,
        "unknown": blast.unknown,
    })
}

/// What the gates say.
pub fn gates(report: &GateReport) -> Value {
    json!({ "would_fail": report.would_fail, "reasons": report.reasons, "passed": report.passed })
}

/// What the baseline says.
pub fn baseline(state: &BaselineState) -> Value {
    let mut document = Map::new();
    document.insert("status".into(), state.word().into());
    match state {
        BaselineState::Missing => {}
        BaselineState::Untrusted { why, .. } => {
            document.insert("why".into(), why.as_str().into());
        }
        BaselineState::Held { novelty, .. } => {
            document.insert("new".into(), json!(novelty.new));
            document.insert("n_known".into(), novelty.n_known.into());
            document.insert("n_gone".into(), novelty.n_gone.into());
        }
    }
    if let Some(baseline) = state.baseline() {
        document.insert("digest".into(), json!(baseline.digest()));
        document.insert("history".into(), json!(baseline.history));
    }
    Value::Object(document)
}

/// One line of the list of runs.
pub fn listed(listed: &Listed) -> Value {
    json!({
        "run_id": listed.id.short(),
        "run_digest": listed.id,
        "report_digest": listed.about.report_digest,
        "analyser": listed.about.analyser,
        "health": listed.health(),
        "n_files": listed.about.n_files,
        "n_findings": listed.about.n_findings,
        "saved_at": listed.saved_at(),
        "pinned_by": listed.holders,
    })
}
