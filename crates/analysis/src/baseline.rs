//! The baseline: findings that a team has accepted, so that only new ones count.
//!
//! An entry is keyed by the subject and the content of a finding, with its count: a third copy of a known
//! clone is new. It also stores the measured value: a known finding that measures worse is new, too. Every
//! capture says who made it, when and why, and a digest detects manual edits of the file.

use crate::finding::{Finding, FindingFamily, FindingId};
use crate::run::{AnalysisRun, RunId};
use probity_core::Digest;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

pub const BASELINE_SCHEMA: &str = "probity/baseline/v1";

/// A known finding, or several equal ones.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BaselineEntry {
    pub family: FindingFamily,
    /// The id of the finding without its number.
    pub subject: String,
    /// Digest of the code it is about.
    pub content: Digest,
    /// The worst measured value among them.
    pub value: Option<u32>,
    pub count: u32,
}

/// One capture of the baseline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BaselineHistoryEntry {
    /// When it was made, in UTC.
    pub at: String,
    /// Who made it.
    pub by: String,
    /// The reason given.
    pub why: String,
    /// The run whose findings were captured.
    pub run_id: RunId,
    /// The number of findings in the run.
    pub n_findings: u32,
    /// The health of the run, from 0 to 100; absent in captures of earlier versions.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub health: Option<u32>,
    /// Digest of the entries.
    pub entries: Digest,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    schema: String,
    /// The analyzer that found the findings.
    pub analyser: String,
    /// Digest of the settings.
    pub settings: Digest,
    /// Every capture, oldest first.
    pub history: Vec<BaselineHistoryEntry>,
    /// The known findings, sorted.
    pub entries: Vec<BaselineEntry>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BaselineError {
    /// The file is not what `capture` writes.
    #[error("it is not a baseline: {0}")]
    Malformed(String),
    /// The file does not have the digest that it states.
    #[error("its digest is not that of its content: it was changed by hand")]
    Changed,
}

/// The comparison of a run with a baseline.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BaselineComparison {
    /// Findings that are not in the baseline, or measure worse than there. Sorted.
    pub new: Vec<FindingId>,
    /// Number of findings that the baseline knows.
    pub n_known: u32,
    /// Number of baseline findings that are gone.
    pub n_gone: u32,
}

impl Baseline {
    /// Captures the findings of a run, continuing the history of an earlier baseline.
    pub fn capture(run: &AnalysisRun, earlier: Option<&Self>, by: &str, why: &str, at: &str) -> Self {
        let entries = entries(run);
        let mut history = earlier.map_or_else(Vec::new, |earlier| earlier.history.clone());
        history.push(BaselineHistoryEntry {
            at: at.to_owned(),
            by: by.to_owned(),
            why: why.to_owned(),
            run_id: run.id,
            n_findings: crate::facts::count(run.findings.len()),
            health: run.health.score(),
            entries: digest_of(&entries),
        });
        Self {
            schema: BASELINE_SCHEMA.to_owned(),
            analyser: run.analyser.clone(),
            settings: digest_of(&run.settings),
            history,
            entries,
        }
    }

    /// Returns the health at the last capture, if known.
    pub fn health(&self) -> Option<u32> {
        self.history.last().and_then(|capture| capture.health)
    }

    pub fn digest(&self) -> Digest {
        digest_of(self)
    }

    /// Serializes the baseline as JSON that people can read and diffs can show.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut document = json_of(self);
        document["digest"] = json_of(&self.digest());
        let mut bytes = serde_json::to_vec_pretty(&document).expect("text keys and whole numbers only");
        bytes.push(b'\n');
        bytes
    }

    /// Parses the file and checks its digest.
    pub fn parse(bytes: &[u8]) -> Result<Self, BaselineError> {
        let malformed = |error: String| BaselineError::Malformed(error);
        let mut document = probity_core::json::parse(bytes).map_err(|error| malformed(error.to_string()))?;
        let members = document.as_object_mut().ok_or_else(|| malformed("it is no object".to_owned()))?;
        let said = members.remove("digest").unwrap_or_default();
        let baseline: Self =
            serde_json::from_value(document).map_err(|error| malformed(error.to_string()))?;
        if baseline.schema != BASELINE_SCHEMA {
            return Err(malformed(format!("`{}` is not {BASELINE_SCHEMA}", baseline.schema)));
        }
        if json_of(&baseline.digest()) == said { Ok(baseline) } else { Err(BaselineError::Changed) }
    }

    /// Returns true if its findings were found with the same analyzer and settings as those of `run`.
    pub fn fits(&self, run: &AnalysisRun) -> bool {
        self.analyser == run.analyser && self.settings == digest_of(&run.settings)
    }

    /// Finds the new findings of a run: the most certain match first, each entry as often as it counts.
    pub fn compare_with(&self, run: &AnalysisRun) -> BaselineComparison {
        let mut left: Vec<u32> = self.entries.iter().map(|entry| entry.count).collect();
        let mut open: Vec<&Finding> = run.findings.iter().collect();
        // By subject and content; by subject, for edited code; by content, for renamed code.
        let keys: [MatchKeyFn; 3] = [
            |family, subject, content| (family, format!("{subject} {content}")),
            |family, subject, _| (family, subject.to_owned()),
            |family, _, content| (family, content.to_string()),
        ];
        for key in keys {
            let mut index: BTreeMap<(FindingFamily, String), Vec<usize>> = BTreeMap::new();
            for (at, entry) in self.entries.iter().enumerate() {
                index.entry(key(entry.family, &entry.subject, &entry.content)).or_default().push(at);
            }
            open.retain(|finding| {
                let places = index.get(&key(finding.family, subject(finding), &finding.content));
                let is_free = |at: &&usize| left[**at] > 0 && finding.value <= self.entries[**at].value;
                let found = places.into_iter().flatten().find(is_free);
                found.is_none_or(|&at| {
                    left[at] -= 1;
                    false
                })
            });
        }
        let mut new: Vec<FindingId> = open.into_iter().map(|finding| finding.id.clone()).collect();
        new.sort_unstable();
        BaselineComparison {
            n_known: crate::facts::count(run.findings.len() - new.len()),
            new,
            n_gone: left.iter().sum(),
        }
    }
}

/// Builds the key of one way of matching from family, subject and content.
type MatchKeyFn = fn(FindingFamily, &str, &Digest) -> (FindingFamily, String);

fn subject(finding: &Finding) -> &str {
    finding.id.as_str().rsplit_once('#').map_or(finding.id.as_str(), |(subject, _)| subject)
}

fn entries(run: &AnalysisRun) -> Vec<BaselineEntry> {
    let mut counted: BTreeMap<(FindingFamily, String, Digest), (u32, Option<u32>)> = BTreeMap::new();
    for finding in &run.findings {
        let key = (finding.family, subject(finding).to_owned(), finding.content);
        let (count, worst) = counted.entry(key).or_default();
        *count += 1;
        *worst = (*worst).max(finding.value);
    }
    counted
        .into_iter()
        .map(|((family, subject, content), (count, value))| BaselineEntry {
            family,
            subject,
            content,
            value,
            count,
        })
        .collect()
}

fn json_of(value: &impl Serialize) -> Value {
    serde_json::to_value(value).expect("text keys and whole numbers only")
}

fn digest_of(value: &impl Serialize) -> Digest {
    Digest::of_json(&json_of(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AnalysisInput, AnalysisSettings, SourceInput, analyze};
    use probity_paths::RepoPath;

    /// Analyzes Python functions with the given number of decisions each.
    fn run(functions: &[(&str, usize)]) -> AnalysisRun {
        let one = |(name, n): &(&str, usize)| {
            let arms: Vec<String> =
                (0..*n).map(|i| format!("    if x == {i}:\n        y.{name}({i})\n")).collect();
            format!("def {name}(x, y):\n{}    return y\n\n\n", arms.concat())
        };
        let text: String = functions.iter().map(one).collect();
        let path = RepoPath::parse(b"a.py").expect("a path");
        let sources = BTreeMap::from([(path, SourceInput::Bytes(text.as_bytes()))]);
        analyze(&AnalysisInput { sources, ..AnalysisInput::default() }, &AnalysisSettings::default()).run
    }

    fn captured(run: &AnalysisRun) -> Baseline {
        Baseline::capture(run, None, "ann", "start", "2026-01-01T00:00:00.000Z")
    }

    fn new_complexity(baseline: &Baseline, run: &AnalysisRun) -> usize {
        baseline.compare_with(run).new.iter().filter(|id| id.as_str().starts_with("complexity:")).count()
    }

    #[test]
    fn the_captured_run_has_nothing_new() {
        let run = run(&[("f", 30), ("g", 40)]);
        assert!(!run.findings.is_empty());
        let novelty = captured(&run).compare_with(&run);
        assert_eq!((novelty.new.len(), novelty.n_gone), (0, 0));
    }

    #[test]
    fn better_or_moved_is_known_and_worse_or_added_is_new() {
        let baseline = captured(&run(&[("f", 30)]));
        assert_eq!(new_complexity(&baseline, &run(&[("f", 25)])), 0);
        assert_eq!(new_complexity(&baseline, &run(&[("small", 1), ("f", 30)])), 0);
        assert_eq!(new_complexity(&baseline, &run(&[("f", 35)])), 1);
        assert_eq!(new_complexity(&baseline, &run(&[("f", 30), ("g", 30)])), 1);
    }

    #[test]
    fn it_comes_back_from_its_bytes_and_no_change_by_hand_is_believed() {
        let baseline = captured(&run(&[("f", 30)]));
        let bytes = baseline.to_bytes();
        assert_eq!(Baseline::parse(&bytes), Ok(baseline.clone()));
        let text = String::from_utf8(bytes).expect("text").replace("\"start\"", "\"stert\"");
        assert_eq!(Baseline::parse(text.as_bytes()), Err(BaselineError::Changed));
        assert!(matches!(Baseline::parse(b"{}"), Err(BaselineError::Malformed(_))));
        let again =
            Baseline::capture(&run(&[]), Some(&baseline), "bob", "all gone", "2026-01-02T00:00:00.000Z");
        let whys: Vec<&str> = again.history.iter().map(|capture| capture.why.as_str()).collect();
        assert_eq!(whys, ["start", "all gone"]);
    }
}
