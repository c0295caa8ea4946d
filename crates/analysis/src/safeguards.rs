//! What keeps code safe and can be counted: tests, and handlers of errors.
//!
//! A change may have good reasons to remove a test or a handler, so a loss is told and is no finding.

use crate::corpus::is_test_path;
use crate::facts::{CodeUnit, FileFacts, SafeguardCounts};
use crate::language::Language;
use crate::run::AnalysisRun;
use probity_paths::RepoPath;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

probity_core::word_enum! {
    /// A way in which a tree is guarded less than before.
    pub enum SafeguardLossKind {
        /// There are fewer tests.
        TestsRemoved = "tests_removed",
        /// More tests are skipped.
        TestsSkipped = "tests_skipped",
        /// There are fewer exception handlers.
        HandlersRemoved = "handlers_removed",
        /// More exception handlers do nothing.
        ErrorsSwallowed = "errors_swallowed",
    }
}

/// A loss between two runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SafeguardLoss {
    /// What was lost.
    pub kind: SafeguardLossKind,
    /// How many were lost.
    pub count: u32,
    /// The files in which there are fewer safeguards than before.
    pub paths: Vec<RepoPath>,
}

impl SafeguardLoss {
    /// Describes the loss for people.
    pub fn describe(&self) -> String {
        let (one, many) = match self.kind {
            SafeguardLossKind::TestsRemoved => ("test fewer than before", "tests fewer than before"),
            SafeguardLossKind::TestsSkipped => ("more test is skipped", "more tests are skipped"),
            SafeguardLossKind::HandlersRemoved => {
                ("exception handler fewer than before", "exception handlers fewer than before")
            }
            SafeguardLossKind::ErrorsSwallowed => {
                ("more exception handler does nothing", "more exception handlers do nothing")
            }
        };
        let words = if self.count == 1 { one } else { many };
        let first = self.paths.first().map_or_else(String::new, |path| format!(": {path}"));
        let more = match self.paths.len() {
            0 | 1 => String::new(),
            n => format!(" and {} more", n - 1),
        };
        format!("{} {words}{first}{more}", self.count)
    }
}

/// Counts the safeguards of a file.
pub(crate) fn counts(path: &RepoPath, language: Option<Language>, facts: &FileFacts) -> SafeguardCounts {
    let found = facts.safeguards;
    let (calls, skips) = if is_test_path(path) { (found.n_test_calls, found.n_skip_calls) } else { (0, 0) };
    let tests = facts.units.iter().filter(|unit| is_test(language, unit)).count();
    SafeguardCounts {
        tests: crate::facts::count(tests) + calls,
        skipped_tests: found.n_skip_marks + skips,
        handlers: found.n_handlers,
        silent_handlers: found.n_silent_handlers,
    }
}

fn is_test(language: Option<Language>, unit: &CodeUnit) -> bool {
    let name = unit.name.rsplit('.').next().unwrap_or_default();
    let is_marked = unit.decorated
        && matches!(
            language,
            Some(Language::Rust | Language::Java | Language::Kotlin | Language::CSharp | Language::Php)
        );
    unit.test
        && unit.kind.is_callable()
        && (name.starts_with("test") || name.starts_with("Test") || is_marked)
}

/// Returns what the later run lost. Totals are compared, so that what moved is not lost.
pub(crate) fn losses(before: &AnalysisRun, after: &AnalysisRun) -> Vec<SafeguardLoss> {
    type Measure = fn(&SafeguardCounts) -> i64;
    // Each measure falls with a loss.
    let measures: [(SafeguardLossKind, Measure); 4] = [
        (SafeguardLossKind::TestsRemoved, |counts| i64::from(counts.tests)),
        (SafeguardLossKind::TestsSkipped, |counts| -i64::from(counts.skipped_tests)),
        (SafeguardLossKind::HandlersRemoved, |counts| i64::from(counts.handlers)),
        (SafeguardLossKind::ErrorsSwallowed, |counts| -i64::from(counts.silent_handlers)),
    ];
    let mut files: BTreeMap<&RepoPath, [SafeguardCounts; 2]> = BTreeMap::new();
    for (side, run) in [before, after].into_iter().enumerate() {
        for file in &run.files {
            files.entry(&file.path).or_default()[side] = file.safeguards;
        }
    }
    measures
        .into_iter()
        .filter_map(|(kind, measure)| {
            let loss = |[old, new]: &[SafeguardCounts; 2]| measure(old) - measure(new);
            let count =
                u32::try_from(files.values().map(loss).sum::<i64>()).ok().filter(|count| *count > 0)?;
            let paths = files.iter().filter(|(_, sides)| loss(sides) > 0).map(|(path, _)| (*path).clone());
            Some(SafeguardLoss { kind, count, paths: paths.collect() })
        })
        .collect()
}
