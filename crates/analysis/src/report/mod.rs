//! A run as documents: SARIF 2.1.0 for tools, Markdown for pull requests, one HTML page for people.
//!
//! Each is a pure function of what it is given: no clock, no host, no order of threads. Lists are bounded, and a list
//! that was cut says how much is missing. Text from the tree is hostile: every writer escapes it for its format.

mod html;
mod markdown;
mod sarif;
mod words;

pub use html::html;
pub use markdown::markdown;
pub use sarif::sarif;

use crate::compare::Comparison;
use crate::corpus::is_test_path;
use crate::finding::FindingId;
use crate::run::{Measured, Run};
use std::collections::BTreeSet;

/// The tree that a report is about, as far as the run does not say it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReportSubject {
    /// What the project is called.
    pub project: Option<String>,
    /// The commit that was checked out.
    pub commit: Option<String>,
    /// Whether the tree differed from that commit.
    pub has_uncommitted_changes: bool,
}

impl ReportSubject {
    /// The commit in words.
    fn commit_words(&self) -> Option<String> {
        let commit = self.commit.as_deref()?;
        let short = commit.get(..12).unwrap_or(commit);
        let changes = if self.has_uncommitted_changes { ", with uncommitted changes" } else { "" };
        Some(format!("Commit {short}{changes}"))
    }
}

/// The callables with many decisions, the hardest first; tests apart, because nobody depends on them.
struct HardCallables<'r> {
    production: Vec<&'r Measured>,
    tests: Vec<&'r Measured>,
}

/// Finds the callables with more than half as many decisions as the limits allow.
fn hard_callables(run: &Run) -> HardCallables<'_> {
    let limits = &run.settings;
    let share = |value: u32, limit: u32| value.saturating_mul(100) / limit.max(1);
    let mut hard: Vec<&Measured> = run
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

/// The ids of findings that a comparison calls new.
fn new_ids(against: Option<&Comparison>) -> BTreeSet<&FindingId> {
    against.iter().flat_map(|comparison| &comparison.regressions).map(|new| &new.finding.id).collect()
}
