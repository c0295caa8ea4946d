//! A run as documents: SARIF 2.1.0 for tools, Markdown for pull requests, one HTML page for people.
//!
//! Each is a pure function of its input: no clock, no host, no thread order. Lists are bounded and say how
//! much they omit. Text from the tree is untrusted: every writer escapes it for its format.

mod html;
mod labels;
mod markdown;
mod sarif;

pub use html::html;
pub use labels::format_health_delta;
pub use markdown::markdown;
pub use sarif::sarif;

use crate::compare::AnalysisComparison;
use crate::corpus::is_test_path;
use crate::finding::FindingId;
use crate::run::{AnalysisRun, UnitMeasurements};
use std::collections::BTreeSet;

/// What a report says about the tree beyond the run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReportSubject {
    pub project: Option<String>,
    /// The commit that was checked out.
    pub commit: Option<String>,
    /// True if the tree differs from that commit.
    pub has_uncommitted_changes: bool,
}

impl ReportSubject {
    fn commit_words(&self) -> Option<String> {
        let commit = self.commit.as_deref()?;
        let short = commit.get(..12).unwrap_or(commit);
        let changes = if self.has_uncommitted_changes { ", with uncommitted changes" } else { "" };
        Some(format!("Commit {short}{changes}"))
    }
}

/// The callables with many decisions, hardest first; tests are separate, because no one depends on them.
struct HardCallables<'r> {
    production: Vec<&'r UnitMeasurements>,
    tests: Vec<&'r UnitMeasurements>,
}

/// Returns the callables with more than half the allowed number of decisions.
fn hard_callables(run: &AnalysisRun) -> HardCallables<'_> {
    let limits = &run.settings;
    let share = |value: u32, limit: u32| value.saturating_mul(100) / limit.max(1);
    let mut hard: Vec<&UnitMeasurements> = run
        .units
        .iter()
        .filter(|unit| unit.kind.is_callable())
        .filter(|unit| {
            share(unit.cyclomatic, limits.cyclomatic).max(share(unit.cognitive, limits.cognitive)) > 50
        })
        .collect();
    hard.sort_by_key(|unit| {
        let weight =
            share(unit.cyclomatic, limits.cyclomatic).saturating_add(share(unit.cognitive, limits.cognitive));
        (std::cmp::Reverse(weight), std::cmp::Reverse(unit.lines), unit.file, unit.line)
    });
    let (tests, production) = hard.into_iter().partition(|unit| is_test_path(run.path(unit.file)));
    HardCallables { production, tests }
}

fn new_ids(against: Option<&AnalysisComparison>) -> BTreeSet<&FindingId> {
    against.iter().flat_map(|comparison| &comparison.regressions).map(|new| &new.finding.id).collect()
}
