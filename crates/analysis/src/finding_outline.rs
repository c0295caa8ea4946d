//! What a summary tells of the findings of a run. It is stored beside the findings, so that a summary of a known run
//! reads only those that it lists.

use crate::facts::count;
use crate::finding::FindingFamily;
use crate::run::AnalysisRun;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// How many of the most severe findings an outline names.
const MAX_OUTLINED_FINDINGS: usize = 100;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FindingOutline {
    pub n_findings: usize,
    /// Number of findings of each family, of those without any as well.
    pub by_family: BTreeMap<FindingFamily, usize>,
    /// Index of each file that findings name, and how many do. Sorted.
    pub by_file: Vec<(u32, u32)>,
    /// Indices of the most severe findings, most severe first.
    pub most_severe: Vec<u32>,
}

impl FindingOutline {
    /// Outlines all findings of a run.
    pub fn of(run: &AnalysisRun) -> Self {
        let mut by_family: BTreeMap<FindingFamily, usize> =
            FindingFamily::ALL.iter().map(|&family| (family, 0)).collect();
        let mut by_file: BTreeMap<u32, u32> = BTreeMap::new();
        for finding in &run.findings {
            *by_family.entry(finding.family).or_default() += 1;
            let index = |path| run.files.binary_search_by(|file| file.path.cmp(path)).ok();
            let mut files: Vec<u32> =
                finding.locations.iter().filter_map(|place| index(&place.path)).map(count).collect();
            files.sort_unstable();
            files.dedup();
            for file in files {
                *by_file.entry(file).or_default() += 1;
            }
        }
        Self {
            n_findings: run.findings.len(),
            by_family,
            by_file: by_file.into_iter().collect(),
            most_severe: run.most_severe_findings(MAX_OUTLINED_FINDINGS),
        }
    }

    /// Returns true if the outline names as many of the most severe findings as there are, up to `limit`.
    pub fn names(&self, limit: usize) -> bool {
        self.most_severe.len() >= limit.min(self.n_findings)
    }
}

impl AnalysisRun {
    /// Returns the indices of findings by severity, then by value, highest first; ties keep the order of the run.
    pub fn most_severe_findings(&self, limit: usize) -> Vec<u32> {
        let mut indices: Vec<u32> = (0..count(self.findings.len())).collect();
        indices.sort_by_key(|&index| {
            let finding = &self.findings[index as usize];
            (Reverse(finding.severity), Reverse(finding.value.unwrap_or(0)))
        });
        indices.truncate(limit);
        indices
    }
}
