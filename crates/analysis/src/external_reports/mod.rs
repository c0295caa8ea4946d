//! Joins reports of other tools to a run: findings from SARIF 2.1.0, coverage from lcov or Cobertura.
//!
//! A joined run is a different run: its id is derived from the original id and the digests of the reports.
//! Health does not change. Omitted entries of a report are counted, with the reason. A report that cannot be
//! read completely is rejected completely.

mod coverage;
mod report_paths;
mod sarif;
mod untested;

use crate::facts::count;
use crate::finding;
use crate::run::{AnalysisRun, JoinedReport, LeftOut, ReportFormat, RunId};
use probity_core::Digest;
use probity_paths::RepoPath;
use report_paths::ReportPathResolver;
use serde_json::json;
use std::collections::BTreeMap;

/// Reads the bytes of a file; `None` if it does not exist.
pub type SourceReader<'a> = dyn Fn(&RepoPath) -> Option<Vec<u8>> + 'a;

/// A report of another tool.
#[derive(Debug, Clone, Copy)]
pub struct ExternalReport<'a> {
    /// Name used in errors, such as the file name.
    pub name: &'a str,
    pub kind: ReportKind,
    pub bytes: &'a [u8],
}

/// The expected contents of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportKind {
    /// Findings, as SARIF 2.1.0.
    Findings,
    /// Lines that tests ran, as lcov or Cobertura; detected from the bytes.
    Coverage,
}

/// Why a report cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JoinError {
    #[error("{report}: {size} bytes are more than the {limit} that are read")]
    TooLarge { report: String, size: usize, limit: usize },
    #[error("{report}: it holds more than {limit} {what}")]
    TooMany { report: String, what: &'static str, limit: usize },
    #[error("{report}: {place}: {why}")]
    Malformed {
        report: String,
        /// A line, or a path within the document.
        place: String,
        why: String,
    },
}

/// The context for reading one report.
struct ReportReader<'a> {
    report: ExternalReport<'a>,
    locator: ReportPathResolver<'a>,
    sources: &'a SourceReader<'a>,
}

impl ReportReader<'_> {
    fn limit_size(&self, limit: usize) -> Result<(), JoinError> {
        let size = self.report.bytes.len();
        if size <= limit {
            return Ok(());
        }
        Err(JoinError::TooLarge { report: self.report.name.to_owned(), size, limit })
    }

    fn too_many(&self, what: &'static str, limit: usize) -> JoinError {
        JoinError::TooMany { report: self.report.name.to_owned(), what, limit }
    }

    fn malformed(&self, place: impl Into<String>, why: impl Into<String>) -> JoinError {
        let report = self.report.name.to_owned();
        JoinError::Malformed { report, place: place.into(), why: why.into() }
    }
}

/// Joins reports to a run. `root` is where the tree was when the tools ran: absolute paths below it belong to
/// the tree.
///
/// The order of the reports does not matter, and a report given twice counts once.
pub fn join_reports(
    mut run: AnalysisRun,
    reports: &[ExternalReport<'_>],
    root: &[u8],
    sources: &SourceReader<'_>,
) -> Result<AnalysisRun, JoinError> {
    let mut joined: BTreeMap<Digest, JoinedReport> = BTreeMap::new();
    let mut drafts = Vec::new();
    let mut lines = coverage::LineCoverage::new();
    for &report in reports {
        let content = Digest::of(report.bytes);
        if joined.contains_key(&content) {
            continue;
        }
        let reader = ReportReader { report, locator: ReportPathResolver { root }, sources };
        let taken = match report.kind {
            ReportKind::Findings => reader.findings(&mut drafts)?,
            ReportKind::Coverage => reader.coverage(&run, &mut lines)?,
        };
        joined.insert(content, taken);
    }
    if joined.is_empty() {
        return Ok(run);
    }
    drafts.extend(untested::drafts(&run, &lines));
    run.findings.extend(finding::assign_ids(drafts));
    run.id = RunId(Digest::of_json(&json!({ "run": run.id, "joined": joined.keys().collect::<Vec<_>>() })));
    run.joined = joined.into_values().collect();
    Ok(run)
}

/// Truncates a text to `limit` characters.
fn truncate_chars(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Converts a line number of a report; some tools write line 0 for the whole file.
fn line_number(number: u64) -> u32 {
    count(usize::try_from(number.max(1)).unwrap_or(usize::MAX))
}
